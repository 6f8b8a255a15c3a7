"""Two pages: the report of a result, findings first, and the page of a forecast.

A report is one HTML file that a person would send to their manager. Every page has one frame, and the sections
are small functions from values to markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from .. import __version__
from ..results import Patterns, Rules
from . import _sections as sections
from ._charts import Drawing
from ._contents import ReportContents
from ._frame import Section, document, figure
from ._tables import TableColumn, render_facts, table
from ._text import clean, count_text, loss_text


def page(contents: ReportContents, *, max_rules: int = 20, max_bars: int = 30) -> str:
    """Return the report as one HTML page, complete in itself.

    Parameters
    ----------
    contents
        The contents of the report.
    max_rules
        The largest number of rules in the table; 0 for no rules.
    max_bars
        The largest number of patterns drawn as bars; 0 for no bars.
    """
    patterns, rules = contents.patterns, contents.rules
    parts: list[Section] = []
    if rules is not None:
        parts += [
            Section("found", "What was found", sections.render_rule_drawings(rules) or sections.render_rules(rules)),
            Section("rules", rules.kind.capitalize(), sections.render_rules(rules) if len(rules) else ""),
        ]
    if patterns is not None:
        best_rules = sections.select_rules(patterns) if max_rules > 0 and rules is None else None
        measured_rules = best_rules if isinstance(best_rules, Rules) else None
        parts += [
            Section("found", "What was found", sections.render_patterns(patterns, max_bars, measured_rules)),
            Section("means", "What it means", sections.explain_intervals(patterns)),
            Section("together", "What goes together", sections.render_graph(patterns)),
            Section("rules", "Rules", sections.render_best_rules(best_rules, max_rules)),
        ]
    parts += [
        Section("promise", "What is promised", sections.render_promise(contents)),
        Section("asked", "What was asked", sections.render_question(contents)),
        Section("notes", "Facts and notes", sections.render_notes(contents)),
        Section("cite", "How to cite", sections.render_citations(contents)),
        Section("all", "All patterns", "" if patterns is None else sections.render_all_patterns(patterns)),
    ]
    result = contents.result
    return document(
        parts,
        title=contents.title,
        lead=sections.pattern_headline(result) if isinstance(result, Patterns) else sections.rule_headline(result),
        quiet=sections.render_origin(contents),
        figures=_figures(contents),
        status=contents.status,
        parent=contents.parent,
        version=contents.version,
    )


def _figures(contents: ReportContents) -> dict[str, str]:
    """Return the few numbers to be seen first, by name."""
    result = contents.result
    about = "" if result.people_within is None else "about "
    name = "Patterns" if isinstance(result, Patterns) else result.kind.capitalize()
    figures = {name: count_text(len(result)), result.unit.capitalize(): f"{about}{count_text(result.people)}"}
    margin = sections.typical_margin(result) if isinstance(result, Patterns) else ""
    if margin:
        figures["Typical margin"] = margin
    if contents.guarantee is not None:
        figures["Epsilon"] = loss_text(contents.guarantee.epsilon)
    return figures


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
    """Return the page of a forecast: the result that a budget buys, before anything is spent.

    Parameters
    ----------
    title
        The title, as text; None for a general one.
    lead
        Sentences on the recommended mechanism and the needed budget, as text.
    drawings, tables
        The pictures, and the numbers.
    notes
        Sentences on the assumptions of the forecast, as text.
    refused
        The reason of each mechanism that cannot answer, by its name, as text.
    """
    advice = "".join(f"<li>{escape(clean(line, 600))}</li>" for line in lead)
    pictures = "".join(
        figure(drawing, f"bought-{number}", scrolls=True)
        if drawing.width is not None  # its title is part of the drawing
        else f"<h3>{escape(drawing.title)}</h3>\n{figure(drawing, f'bought-{number}')}"
        for number, drawing in enumerate(drawings)
    )
    numbers = "".join(
        f"<h3>{escape(part.heading)}</h3>\n"
        + table(part.row_head, [escape(clean(row)) for row in part.rows], list(part.columns), sorts=False)
        for part in tables
    )
    return document(
        [
            Section("take", "What to take", f'<ul class="findings">{advice}</ul>\n' if lead else ""),
            Section("bought", "What to expect", pictures),
            Section("numbers", "All numbers", numbers),
            Section("rests", "What it rests on", "".join(f"<p>{escape(clean(note, 1200))}</p>\n" for note in notes)),
            Section("others", "Who cannot answer", render_facts(refused)),
        ],
        title="What a budget buys" if title is None else title,
        lead="A forecast from public numbers alone. No data were read, and nothing was spent.",
        version=__version__,
    )
