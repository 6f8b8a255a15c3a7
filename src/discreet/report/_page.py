"""The report: one HTML file that a person would send to their manager, findings first.

It needs no network and no font, and it lets none in. What it says is in the values it was given. The frame is that of
every page, the sections are small functions from values to markup.
"""

from __future__ import annotations

from ..results import Patterns, Rules
from . import _sections as sections
from ._contents import ReportContents
from ._frame import Section, document
from ._text import loss, whole


def page(told: ReportContents, *, rules: int = 20, charted: int = 30) -> str:
    """Return the report as one HTML page, complete in itself.

    Parameters
    ----------
    told
        What to tell.
    rules
        How many rules to show at most; 0 for none.
    charted
        How many patterns to draw as bars at most; 0 for none.
    """
    patterns, given = told.patterns, told.rules
    found: list[Section] = []
    if given is not None:
        found += [
            Section("found", "What was found", sections.drawn_rules(given) or sections.given_rules(given)),
            Section("rules", given.kind.capitalize(), sections.given_rules(given) if len(given) else ""),
        ]
    if patterns is not None:
        best = sections.best_rules(patterns) if rules > 0 and given is None else None
        first = best if isinstance(best, Rules) else None
        found += [
            Section("found", "What was found", sections.found(patterns, charted, first)),
            Section("means", "What it means", sections.means(patterns)),
            Section("together", "What goes together", sections.together(patterns)),
            Section("rules", "Rules", sections.rules_of(best, rules)),
        ]
    found += [
        Section("promise", "What is promised", sections.promise(told)),
        Section("asked", "What was asked", sections.asked(told)),
        Section("notes", "Facts and notes", sections.notes(told)),
        Section("cite", "How to cite", sections.cite(told)),
        Section("all", "All patterns", "" if patterns is None else sections.everything(patterns)),
    ]
    result = told.result
    return document(
        found,
        title=told.title,
        lead=sections.headline(result) if isinstance(result, Patterns) else sections.rules_headline(result),
        quiet=sections.made(told),
        figures=_figures(told),
        standing=told.standing,
        up=told.up,
        version=told.version,
    )


def _figures(told: ReportContents) -> dict[str, str]:
    """Return the few numbers to be seen first."""
    result = told.result
    among = "" if result.people_within is None else "about "
    word = "Patterns" if isinstance(result, Patterns) else result.kind.capitalize()
    figures = {word: whole(len(result)), result.unit.capitalize(): f"{among}{whole(result.people)}"}
    typical = sections.typical_margin(result) if isinstance(result, Patterns) else ""
    if typical:
        figures["Typical margin"] = typical
    if told.guarantee is not None:
        figures["Epsilon"] = loss(told.guarantee.epsilon)
    return figures
