"""A matrix of pairs: a square in the row of one item and the column of a second, its colour stronger for larger values.

Only released pairs are drawn, and items are in the order in which the pairs name them. The value of a rule is its
confidence, the value of a pattern of two items its support.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from ..baskets import Item
from ..results import Itemsets, Patterns, Rules
from ._svg import Drawing, element, join, text
from ._text import clean, count_columns, labels_of, percent, plain_itemset, text_width
from .colours import LIFTS, PALE, QUIET, RULE

_ITEMS = 24  # on each side. More: wider than a page; fewer: more pairs are left out
_SQUARE = 24  # pixels
_NAME_COLUMNS = 20  # of a label
# Height and width of a label slanted by 48 degrees, as shares of its length: sin(48°), cos(48°).
_SLANT_HEIGHT, _SLANT_WIDTH = 0.75, 0.67


@dataclass(frozen=True)
class Square:
    """One square: its row, its column, the strength of its colour from 0 to 1, and its description.

    Two rows may have equal short labels: the keys of the row and the column tell them apart.
    """

    row: str
    column: str
    shade: float
    description: str
    place: tuple[Hashable, Hashable]


def draw_matrix(squares: Sequence[Square], *, title: str, symmetric: bool = False) -> Drawing:
    """Return squares as a matrix; squares of items beyond its limit are left out, and counted.

    Parameters
    ----------
    squares
        The squares, the most important first.
    title
        The title of the drawing.
    symmetric
        Whether rows and columns are equal lists of items, so that every pair has two squares.

    Examples
    --------
    >>> draw_matrix([Square("tea", "milk", 0.5, "tea → milk: 50 %", (1, 2))], title="Confidence").description
    'tea → milk: 50 %'
    """
    row_names = dict(list({square.place[0]: square.row for square in squares}.items())[:_ITEMS])
    across_names = (
        row_names if symmetric else dict(list({square.place[1]: square.column for square in squares}.items())[:_ITEMS])
    )
    down_at, across_at = ({key: index for index, key in enumerate(names)} for names in (row_names, across_names))
    # Room for the longest name; names of columns lean to the right.
    left_edge = 12 + round(max(map(text_width, row_names.values()), default=0))
    top_edge = 14 + round(_SLANT_HEIGHT * max(map(text_width, across_names.values()), default=0))
    descriptions = []
    parts = [
        text(row, left_edge - 6, top_edge + _SQUARE * index + 16, text_anchor="end")
        for index, row in enumerate(row_names.values())
    ]
    for index, column in enumerate(across_names.values()):
        x = left_edge + _SQUARE * index + 16
        parts.append(element("text", column, transform=f"translate({x} {top_edge - 6}) rotate(-48)"))
    overhangs = [
        _SLANT_WIDTH * text_width(name) - _SQUARE * (len(across_names) - index - 0.7)
        for index, name in enumerate(across_names.values())
    ]
    width = left_edge + _SQUARE * len(across_names) + max(4, round(max(overhangs, default=0)))
    height = top_edge + _SQUARE * len(row_names)
    area = {"width": _SQUARE * len(across_names), "height": height - top_edge}
    parts.append(element("rect", x=left_edge, y=top_edge, **area, fill=PALE, stroke=RULE))
    for square in squares:
        row_of, column_of = square.place
        if row_of not in down_at or column_of not in across_at:
            continue
        descriptions.append(square.description)
        x, y = left_edge + _SQUARE * across_at[column_of], top_edge + _SQUARE * down_at[row_of]
        # At least a faint colour: a white square would look like a missing pair.
        shade = min(max(square.shade, 0.05), 1.0)
        tip, size = element("title", square.description), {"width": _SQUARE - 2, "height": _SQUARE - 2}
        parts.append(element("rect", tip, x=x + 1, y=y + 1, **size, fill=LIFTS[-1], fill_opacity=f"{shade:.2f}"))
    omitted_count = (len(squares) - len(descriptions)) // (2 if symmetric else 1)
    if omitted_count:
        height += 20
        width = max(width, 230)
        parts.append(text(f"Not drawn for want of room: {omitted_count:,}.", 0, height - 4, fill=QUIET))
    return Drawing(title=title, description="; ".join(descriptions), inside=join(parts), height=height + 2, width=width)


def draw_confidences(rules: Rules) -> Drawing:
    """Return rules or relations, in their order, as a matrix of their confidences."""
    keys = [_keys(side) for side in rules.sides]
    labels = [labels_of(side, rules) for side in rules.sides]
    names = _names(dict(zip(chain(*keys), chain(*labels), strict=True)))
    squares = []
    values = rules.measure("confidence").tolist()
    for key, left_labels, right_labels, confidence in zip(zip(*keys, strict=True), *labels, values, strict=True):
        description = f"{plain_itemset(left_labels)} → {plain_itemset(right_labels)}: {percent(confidence)}"
        squares.append(Square(names[key[0]], names[key[1]], confidence, description, key))
    return draw_matrix(squares, title=f"Confidence of {rules.kind}")


def draw_pairs(patterns: Patterns) -> Drawing:
    """Return the patterns of two items as a matrix: the stronger a colour, the larger the support."""
    pair_patterns = patterns.where(lengths=2)
    largest_support = max(pair_patterns.supports.tolist(), default=0.0) or 1.0
    keys, labels = _keys(pair_patterns.itemsets), labels_of(pair_patterns.itemsets, pair_patterns)
    names = _names(
        {
            key: [label]
            for pair, pair_labels in zip(keys, labels, strict=True)
            for key, label in zip(pair, pair_labels, strict=True)
        }
    )
    squares = []
    for key, (left_label, right_label), support in zip(keys, labels, pair_patterns.supports.tolist(), strict=True):
        description = f"{plain_itemset([left_label])}, {plain_itemset([right_label])}" + (
            f": {percent(support)}" if pair_patterns.counted else ""
        )
        shade = support / largest_support if pair_patterns.counted else 0.6
        left_name, right_name = (names[item] for item in key)
        squares.append(Square(left_name, right_name, shade, description, (key[0], key[1])))
        squares.append(Square(right_name, left_name, shade, description, (key[1], key[0])))
    return draw_matrix(squares, title="Items held by the same people", symmetric=True)


def _keys(itemsets: Itemsets) -> list[tuple[int, ...]]:
    """Return the codes of each itemset as a tuple."""
    codes = itemsets.codes.tolist()
    return [tuple(codes[start:stop]) for start, stop in pairwise(itemsets.offsets.tolist())]


def _names(labels: Mapping[Hashable, Sequence[Item]]) -> dict[Hashable, str]:
    r"""Return a short name for each key; equal names show their ends too, and still equal names are numbered.

    Examples
    --------
    >>> names = _names({1: ["alarm clock bakelike red"], 2: ["alarm clock bakelike green"]})
    >>> [name.strip("\u2068\u2069") for name in names.values()]
    ['alarm clo…kelike red', 'alarm clo…like green']
    """
    # Cut names may become equal, and equal names would merge two rows.
    short_names = {key: plain_itemset(items, _NAME_COLUMNS) for key, items in labels.items()}
    name_counts = Counter(short_names.values())
    for key, items in labels.items():
        if name_counts[short_names[key]] > 1:
            short_names[key] = plain_itemset(
                [_show_both_ends(clean(item), max(12, _NAME_COLUMNS // len(items))) for item in items]
            )
    numbers: Counter[str] = Counter()
    name_counts = Counter(short_names.values())
    for key, name in short_names.items():
        if name_counts[name] > 1:
            numbers[name] += 1
            short_names[key] = f"{name} ({numbers[name]})"
    return short_names


def _show_both_ends(text: str, max_columns: int) -> str:
    """Return the start and the end of a text, in about a number of columns together."""
    if count_columns(text) <= max_columns:
        return text
    start = clean(text, max_columns // 2)
    end = text
    while count_columns(end) > max_columns - count_columns(start) or not count_columns(end[0]):
        end = end[1:]
    return start + end
