"""How baskets show themselves in a notebook: how many and how large, and never what is in one of them.

It sets no colours, so that it is read on a light page and on a dark one. The figures are exact ones, for whoever holds
the data: a notebook that is sent on carries them with it, which is said.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..wording import number_of, printable

if TYPE_CHECKING:
    from ._core import AnyBaskets, Baskets

_NUMBER = "text-align: right; font-variant-numeric: tabular-nums"


def html(baskets: Baskets) -> str:
    """Return a small table of sizes and counts."""
    rows = _how_many(baskets)
    if len(baskets):
        sizes = baskets.sizes
        rows += [
            ("items per basket, mean", f"{len(baskets.codes) / len(baskets):,.2f}"),
            ("median", f"{float(np.median(sizes)):,.4g}"),
            ("largest", f"{int(sizes.max()):,}"),
            ("empty baskets", f"{int((sizes == 0).sum()):,}"),
        ]
    if baskets.merged:
        rows.append(("repeats merged", f"{baskets.merged:,}"))
    if baskets.sequences is not None:
        rows.append(("in order", number_of(len(baskets.sequences.codes), "event")))
    if baskets.pairs is not None:
        rows.append(("pairs", f"{len(baskets.pairs.first):,}"))
    return _table(rows + _segments(baskets))


def html_elsewhere(baskets: AnyBaskets) -> str:
    """Return a small table of what is known of baskets in a cluster without reading them all."""
    return _table(_how_many(baskets) + _segments(baskets))


def _how_many(baskets: AnyBaskets) -> list[tuple[str, str]]:
    several = [("baskets", f"{len(baskets):,}")] if baskets.several else []
    return [("people", f"{baskets.people:,}"), *several, ("items", f"{baskets.items:,}")]


def _segments(baskets: AnyBaskets) -> list[tuple[str, str]]:
    if baskets.segment_column is None:
        return []
    return [(f"segments ({escape(printable(baskets.segment_column))})", f"{len(baskets.segment_labels):,}")]


def _table(rows: list[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><th scope="row" style="text-align: left">{name}</th><td style="{_NUMBER}">{value}</td></tr>'
        for name, value in rows
    )
    return (
        f"<table><caption>Baskets</caption><tbody>{cells}</tbody></table>"
        "<p>Exact figures about these people: not private.</p>"
    )
