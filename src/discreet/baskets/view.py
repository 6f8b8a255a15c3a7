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
    from .core import Baskets

_NUMBER = "text-align: right; font-variant-numeric: tabular-nums"


def html(baskets: Baskets) -> str:
    """Return a small table of sizes and counts."""
    rows = [("people", f"{baskets.people:,}"), ("items", f"{baskets.items:,}")]
    if baskets.several:
        rows.insert(1, ("baskets", f"{len(baskets):,}"))
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
    if baskets.segments is not None:
        column = escape(printable(baskets.segments.column))
        rows.append((f"segments ({column})", f"{len(baskets.segments.vocabulary):,}"))
    cells = "".join(
        f'<tr><th scope="row" style="text-align: left">{name}</th><td style="{_NUMBER}">{value}</td></tr>'
        for name, value in rows
    )
    return (
        f"<table><caption>Baskets</caption><tbody>{cells}</tbody></table>"
        "<p>Exact figures about these people: not private.</p>"
    )
