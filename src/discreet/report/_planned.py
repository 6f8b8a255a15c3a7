"""The page of a forecast: what a budget buys, before anything is spent. It is given plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from .. import __version__
from ._charts import Drawing
from ._frame import Section, document, figure
from ._tables import TableColumn, described, table
from ._text import clean

TITLE = "What a budget buys"


@dataclass(frozen=True)
class ForecastTable:
    """The numbers of one side: its heading, what its rows are, and columns of texts with the numbers they stand for."""

    heading: str
    first: str
    rows: Sequence[str]
    columns: Sequence[TableColumn]


def planned_page(
    title: str | None,
    *,
    lead: Sequence[str],
    drawings: Sequence[Drawing],
    tables: Sequence[ForecastTable],
    notes: Sequence[str],
    refused: Mapping[str, str],
) -> str:
    """Return the page of a forecast; all texts are given as text.

    Parameters
    ----------
    title
        What it is about.
    lead
        What to take and what is needed, in sentences.
    drawings, tables
        The pictures, and the numbers.
    notes
        What it rests on, in sentences.
    refused
        Who cannot answer, and why.
    """
    first = "".join(f"<li>{escape(clean(line, 600))}</li>" for line in lead)
    pictures = "".join(
        figure(drawn, f"bought-{number}", scrolls=True)
        if drawn.wide is not None  # it has its title in it
        else f"<h3>{escape(drawn.title)}</h3>\n{figure(drawn, f'bought-{number}')}"
        for number, drawn in enumerate(drawings)
    )
    numbers = "".join(
        f"<h3>{escape(one.heading)}</h3>\n"
        + table(one.first, [escape(clean(row)) for row in one.rows], list(one.columns), sorts=False)
        for one in tables
    )
    told = "".join(f"<p>{escape(clean(note, 1200))}</p>\n" for note in notes)
    return document(
        [
            Section("take", "What to take", f'<ul class="findings">{first}</ul>\n' if lead else ""),
            Section("bought", "What to expect", pictures),
            Section("numbers", "All numbers", numbers),
            Section("rests", "What it rests on", told),
            Section("others", "Who cannot answer", described(refused)),
        ],
        title=TITLE if title is None else title,
        lead="A forecast from public numbers alone. No data were read, and nothing was spent.",
        version=__version__,
    )
