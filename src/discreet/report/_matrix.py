"""A matrix of pairs: a square for each, in the row of one item and the column of another, its colour stronger for more.

Only what was released is drawn, and items are in the order in which the pairs name them. Of relations and rules it is
the confidence that is shown, of patterns of two items the share of the people who hold both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, pairwise

from ..baskets import Item
from ..results import Itemsets, Patterns, Rules
from ._charts import Drawing
from ._text import clean, columns, labels_of, percent, plain_itemset, wide_of
from .colours import LIFTS, PALE, QUIET, RULE

_ITEMS = 24  # on each side, before the rest is left out
_SQUARE = 24
_NAME = 20  # columns of a label
_SLANT = 0.75  # of the length of a slanted label stands above its column
_ASIDE = 0.67  # and so much of it to the right


@dataclass(frozen=True)
class Square:
    """One square: its row, its column, how strong its colour is from 0 to 1, and what it says.

    Two rows may have the same label, as labels are short: `keys` tell them apart. Without it the labels do.
    """

    row: str
    column: str
    shade: float
    said: str
    keys: tuple[Hashable, Hashable] | None = None

    @property
    def place(self) -> tuple[Hashable, Hashable]:
        """What its row and its column are of."""
        return self.keys or (self.row, self.column)


def matrix(squares: Sequence[Square], *, title: str, same: bool = False) -> Drawing:
    """Return squares as a matrix; those of items that have no room are left out, and counted.

    With `same`, rows and columns are the same items, in the same order, and every pair has two squares.

    Examples
    --------
    >>> matrix([Square("tea", "milk", 0.5, "tea → milk: 50 %")], title="Confidence").said
    'tea → milk: 50 %'
    """
    rows = dict(list({square.place[0]: square.row for square in squares}.items())[:_ITEMS])
    across = rows if same else dict(list({square.place[1]: square.column for square in squares}.items())[:_ITEMS])
    down_at, across_at = ({key: at for at, key in enumerate(held)} for held in (rows, across))
    # Room for the longest name; names of columns lean to the right.
    left = 12 + round(max(map(wide_of, rows.values()), default=0))
    above = 14 + round(_SLANT * max(map(wide_of, across.values()), default=0))
    parts, said = [], []
    for at, row in enumerate(rows.values()):
        parts.append(f'<text x="{left - 6}" y="{above + _SQUARE * at + 16}" text-anchor="end">{escape(row)}</text>')
    for at, column in enumerate(across.values()):
        x = left + _SQUARE * at + 16
        parts.append(f'<text transform="translate({x} {above - 6}) rotate(-48)">{escape(column)}</text>')
    beyond = [_ASIDE * wide_of(one) - _SQUARE * (len(across) - at - 0.7) for at, one in enumerate(across.values())]
    wide = left + _SQUARE * len(across) + max(4, round(max(beyond, default=0)))
    high = above + _SQUARE * len(rows)
    size = f'width="{_SQUARE * len(across)}" height="{high - above}"'
    parts.append(f'<rect x="{left}" y="{above}" {size} fill="{PALE}" stroke="{RULE}"/>')
    for square in squares:
        row_of, column_of = square.place
        if row_of not in down_at or column_of not in across_at:
            continue
        said.append(square.said)
        x, y = left + _SQUARE * across_at[column_of], above + _SQUARE * down_at[row_of]
        shade = min(max(square.shade, 0.05), 1.0)
        parts.append(
            f'<rect x="{x + 1}" y="{y + 1}" width="{_SQUARE - 2}" height="{_SQUARE - 2}" fill="{LIFTS[-1]}" '
            f'fill-opacity="{shade:.2f}"><title>{escape(square.said)}</title></rect>'
        )
    left_out = (len(squares) - len(said)) // (2 if same else 1)
    if left_out:
        high += 20
        wide = max(wide, 230)
        parts.append(f'<text x="0" y="{high - 4}" fill="{QUIET}">Not drawn for want of room: {left_out:,}.</text>')
    return Drawing(title=title, said="; ".join(said), inside="".join(parts), high=high + 2, wide=wide)


def confidences(rules: Rules) -> Drawing:
    """Return rules or relations, the first ones first, as a matrix of their confidences."""
    keys = [_keys(side) for side in rules.sides]
    labels = [labels_of(side, rules) for side in rules.sides]
    names = _names(dict(zip(chain(*keys), chain(*labels), strict=True)))
    squares = []
    told = rules.measure("confidence").tolist()
    for key, left, right, confidence in zip(zip(*keys, strict=True), *labels, told, strict=True):
        said = f"{plain_itemset(left)} → {plain_itemset(right)}: {percent(confidence)}"
        squares.append(Square(names[key[0]], names[key[1]], confidence, said, key))
    return matrix(squares, title=f"Confidence of {rules.kind}")


def pairs(patterns: Patterns) -> Drawing:
    """Return the patterns of two items as a matrix: the stronger a colour, the more people hold both."""
    held = patterns.where(lengths=2)
    most = max(held.supports.tolist(), default=0.0) or 1.0
    keys, labels = _keys(held.itemsets), labels_of(held.itemsets, held)
    names = _names(
        {key: [label] for pair, both in zip(keys, labels, strict=True) for key, label in zip(pair, both, strict=True)}
    )
    squares = []
    for key, (one, other), support in zip(keys, labels, held.supports.tolist(), strict=True):
        told = f"{plain_itemset([one])}, {plain_itemset([other])}" + (f": {percent(support)}" if held.counted else "")
        shade = support / most if held.counted else 0.6
        first, second = (names[item] for item in key)
        squares.append(Square(first, second, shade, told, (key[0], key[1])))
        squares.append(Square(second, first, shade, told, (key[1], key[0])))
    return matrix(squares, title="Items held by the same people", same=True)


def _keys(itemsets: Itemsets) -> list[tuple[int, ...]]:
    """Return the codes of each itemset."""
    codes = itemsets.codes.tolist()
    return [tuple(codes[start:stop]) for start, stop in pairwise(itemsets.offsets.tolist())]


def _names(labels: Mapping[Hashable, Sequence[Item]]) -> dict[Hashable, str]:
    """Return a short name for each; of those that begin alike the end is shown too, and then they are numbered.

    Examples
    --------
    >>> found = _names({1: ["alarm clock bakelike red"], 2: ["alarm clock bakelike green"]})
    >>> [name.strip("\u2068\u2069") for name in found.values()]
    ['alarm clo…kelike red', 'alarm clo…like green']
    """
    short = {key: plain_itemset(items, _NAME) for key, items in labels.items()}
    often = Counter(short.values())
    for key, items in labels.items():
        if often[short[key]] > 1:
            short[key] = plain_itemset([_both_ends(clean(item), max(12, _NAME // len(items))) for item in items])
    seen: Counter[str] = Counter()
    often = Counter(short.values())
    for key, name in short.items():
        if often[name] > 1:
            seen[name] += 1
            short[key] = f"{name} ({seen[name]})"
    return short


def _both_ends(text: str, most: int) -> str:
    """Return the beginning and the end of a text in about so many columns."""
    if columns(text) <= most:
        return text
    begin = clean(text, most // 2)
    end = text
    while columns(end) > most - columns(begin) or not columns(end[0]):
        end = end[1:]
    return begin + end
