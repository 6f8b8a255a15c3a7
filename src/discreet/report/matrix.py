"""The picture of relations: a square for each, from the item of its row to the item of its column.

The darker a square, the larger the confidence. Only what was released is drawn, and items are in the order in which the
relations name them.
"""

from __future__ import annotations

from html import escape

from ..results.rules import Rules
from .charts import PALE, QUIET, RULE, svg
from .text import labels_of, percent, plain_itemset

_ITEMS = 24  # on each side, before the rest is left out
_SQUARE, _LABEL = 24, 150
_NAME = 20  # columns of a label


def matrix(relations: Rules) -> str:
    """Return the first relations as a matrix of their confidences.

    Parameters
    ----------
    relations
        Relations, the most reliable first; those of items that have no room are left out.
    """
    sides = zip(labels_of(relations.antecedents, relations), labels_of(relations.consequents, relations), strict=True)
    pairs = [(plain_itemset(left, _NAME), plain_itemset(right, _NAME)) for left, right in sides]
    rows = list(dict.fromkeys(left for left, _ in pairs))[:_ITEMS]
    columns = list(dict.fromkeys(right for _, right in pairs))[:_ITEMS]
    parts, said = [], []
    for at, row in enumerate(rows):
        y = _LABEL + _SQUARE * at
        parts.append(f'<text x="{_LABEL - 6}" y="{y + 16}" text-anchor="end">{escape(row)}</text>')
    for at, column in enumerate(columns):
        x = _LABEL + _SQUARE * at + 16
        parts.append(f'<text transform="translate({x} {_LABEL - 6}) rotate(-90)">{escape(column)}</text>')
    wide, high = _LABEL + _SQUARE * len(columns), _LABEL + _SQUARE * len(rows)
    size = f'width="{wide - _LABEL}" height="{high - _LABEL}"'
    parts.append(f'<rect x="{_LABEL}" y="{_LABEL}" {size} fill="{PALE}" stroke="{RULE}"/>')
    for (left, right), confidence in zip(pairs, relations.measure("confidence").tolist(), strict=True):
        if left not in rows or right not in columns:
            continue
        told = f"{left} → {right}: {percent(confidence)}"
        said.append(told)
        x, y = _LABEL + _SQUARE * columns.index(right), _LABEL + _SQUARE * rows.index(left)
        shade = min(max(confidence, 0.05), 1.0)
        parts.append(
            f'<rect x="{x + 1}" y="{y + 1}" width="{_SQUARE - 2}" height="{_SQUARE - 2}" fill="#123f5a" '
            f'fill-opacity="{shade:.2f}"><title>{escape(told)}</title></rect>'
        )
    left_out = len(pairs) - len(said)
    if left_out:
        high += 20
        parts.append(f'<text x="0" y="{high - 4}" fill="{QUIET}">Not drawn for want of room: {left_out:,}.</text>')
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
    return svg("matrix", "Confidence of relations", "; ".join(said), size, "".join(parts))
