"""The HTML of baskets in a notebook: numbers and sizes, never the contents of a basket.

Without colours, it is readable on light and dark pages. The figures are exact, and the HTML says that they are not
private, because notebooks are sent to third parties.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..wording import number_of, printable

if TYPE_CHECKING:
    from ._core import AnyBaskets, Baskets

_NUMBER = "text-align: right; font-variant-numeric: tabular-nums"


def render_html(baskets: Baskets) -> str:
    """Return an HTML table of sizes and counts."""
    rows = _count_rows(baskets)
    # The mean, median and maximum of no baskets are undefined.
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
    return _render_table(rows + _segment_rows(baskets))


def render_cluster_html(baskets: AnyBaskets) -> str:
    """Return an HTML table of the counts of baskets in a cluster that need no scan."""
    return _render_table(_count_rows(baskets) + _segment_rows(baskets))


def _count_rows(baskets: AnyBaskets) -> list[tuple[str, str]]:
    # The number of baskets repeats the number of people unless people may have several.
    basket_rows = [("baskets", f"{len(baskets):,}")] if baskets.has_receipts else []
    return [("people", f"{baskets.people:,}"), *basket_rows, ("items", f"{baskets.items:,}")]


def _segment_rows(baskets: AnyBaskets) -> list[tuple[str, str]]:
    if baskets.segment_column is None:
        return []
    return [(f"segments ({escape(printable(baskets.segment_column))})", f"{len(baskets.segment_labels):,}")]


def _render_table(rows: list[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><th scope="row" style="text-align: left">{name}</th><td style="{_NUMBER}">{value}</td></tr>'
        for name, value in rows
    )
    return (
        f"<table><caption>Baskets</caption><tbody>{cells}</tbody></table>"
        "<p>Exact figures about these people: not private.</p>"
    )
