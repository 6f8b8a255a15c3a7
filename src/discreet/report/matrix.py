"""A matrix of pairs: a square for each, in the row of one item and the column of another, its colour stronger for more.

Only what was released is drawn, and items are in the order in which the pairs name them. Of relations and rules it is
the confidence that is shown, of patterns of two items the share of the people who hold both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ..results.patterns import Patterns
from ..results.rules import Rules
from .charts import Drawing
from .colours import LIFTS, PALE, QUIET, RULE
from .text import labels_of, percent, plain_itemset, wide_of

_ITEMS = 24  # on each side, before the rest is left out
_SQUARE, _MOST = 24, 150
_NAME = 20  # columns of a label
_SLANT = 0.75  # of the length of a slanted label stands above its column


@dataclass(frozen=True)
class Square:
    """One square: its row, its column, how strong its colour is from 0 to 1, and what it says."""

    row: str
    column: str
    shade: float
    said: str


def matrix(squares: Sequence[Square], *, title: str, same: bool = False) -> Drawing:
    """Return squares as a matrix; those of items that have no room are left out, and counted.

    With `same`, rows and columns are the same items, in the same order.

    Examples
    --------
    >>> matrix([Square("tea", "milk", 0.5, "tea → milk: 50 %")], title="Confidence").said
    'tea → milk: 50 %'
    """
    rows = list(dict.fromkeys(square.row for square in squares))[:_ITEMS]
    columns = rows if same else list(dict.fromkeys(square.column for square in squares))[:_ITEMS]
    # Room for the longest name, as far as there is any; names of columns lean to the right.
    left = min(_MOST, 12 + round(max(map(wide_of, rows), default=0)))
    above = min(_MOST, 14 + round(_SLANT * max(map(wide_of, columns), default=0)))
    parts, said = [], []
    for at, row in enumerate(rows):
        parts.append(f'<text x="{left - 6}" y="{above + _SQUARE * at + 16}" text-anchor="end">{escape(row)}</text>')
    for at, column in enumerate(columns):
        x = left + _SQUARE * at + 16
        parts.append(f'<text transform="translate({x} {above - 6}) rotate(-48)">{escape(column)}</text>')
    beyond = [0.67 * wide_of(column) - _SQUARE * (len(columns) - at - 0.7) for at, column in enumerate(columns)]
    wide = left + _SQUARE * len(columns) + max(4, round(max(beyond, default=0)))
    high = above + _SQUARE * len(rows)
    size = f'width="{_SQUARE * len(columns)}" height="{high - above}"'
    parts.append(f'<rect x="{left}" y="{above}" {size} fill="{PALE}" stroke="{RULE}"/>')
    for square in squares:
        if square.row not in rows or square.column not in columns:
            continue
        said.append(square.said)
        x, y = left + _SQUARE * columns.index(square.column), above + _SQUARE * rows.index(square.row)
        shade = min(max(square.shade, 0.05), 1.0)
        parts.append(
            f'<rect x="{x + 1}" y="{y + 1}" width="{_SQUARE - 2}" height="{_SQUARE - 2}" fill="{LIFTS[-1]}" '
            f'fill-opacity="{shade:.2f}"><title>{escape(square.said)}</title></rect>'
        )
    left_out = len(squares) - len(said)
    if left_out:
        high += 20
        wide = max(wide, 230)
        parts.append(f'<text x="0" y="{high - 4}" fill="{QUIET}">Not drawn for want of room: {left_out:,}.</text>')
    return Drawing(title=title, said="; ".join(said), inside="".join(parts), high=high + 2, wide=wide)


def confidences(rules: Rules) -> Drawing:
    """Return rules or relations, the first ones first, as a matrix of their confidences."""
    sides = zip(labels_of(rules.antecedents, rules), labels_of(rules.consequents, rules), strict=True)
    squares = []
    for labels, confidence in zip(sides, rules.measure("confidence").tolist(), strict=True):
        left, right = (plain_itemset(side, _NAME) for side in labels)
        squares.append(Square(left, right, confidence, f"{left} → {right}: {percent(confidence)}"))
    return matrix(squares, title=f"Confidence of {rules.kind}")


def pairs(patterns: Patterns) -> Drawing:
    """Return the patterns of two items as a matrix: the stronger a colour, the more people hold both."""
    held = patterns.where(lengths=2)
    most = max(held.supports.tolist(), default=0.0) or 1.0
    squares = []
    for (one, other), support in zip(labels_of(held.itemsets, held), held.supports.tolist(), strict=True):
        first, second = plain_itemset([one], _NAME), plain_itemset([other], _NAME)
        told = f"{first}, {second}" + (f": {percent(support)}" if held.counted else "")
        shade = support / most if held.counted else 0.6
        squares += [Square(first, second, shade, told), Square(second, first, shade, told)]
    return matrix(squares, title="Items held by the same people", same=True)
