"""The page of a forecast: the results that a budget buys, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ._frame import render_page
from ._svg import Drawing
from ._tables import TableColumn, table
from ._text import clean


@dataclass(frozen=True)
class ForecastTable:
    """A table of a forecast: its heading, the heading and the names of its rows, as text, and its columns."""

    heading: str
    row_head: str
    rows: Sequence[str]
    columns: Sequence[TableColumn]


def forecast_page(
    title: str | None,
    *,
    lead: Sequence[str],
    drawings: Sequence[Drawing],
    tables: Sequence[ForecastTable],
    notes: Sequence[str],
    refused: Mapping[str, str],
) -> str:
    """Return the page of a forecast.

    Parameters
    ----------
    title
        The title; None for a general one.
    lead
        Sentences on the recommended mechanism and the needed budget.
    drawings, tables
        The pictures, and the numbers.
    notes
        Sentences on the assumptions of the forecast.
    refused
        The reason of each mechanism that cannot answer, by its name.
    """
    return render_page(
        "report/templates/forecast.html.jinja",
        title="What a budget buys" if title is None else title,
        advice=lead,
        drawings=drawings,
        tables=[
            (part.heading, table(part.row_head, list(map(clean, part.rows)), part.columns, sorts=False))
            for part in tables
        ],
        notes=notes,
        refused=refused,
    )
