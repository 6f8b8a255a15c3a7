"""The contents of a report as plain values, made from a result and its provenance, in memory or from a file.

This room knows nothing of mechanisms, files or ledgers: a result states everything that a report says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import __version__
from ..privacy import Guarantee
from ..results import Patterns, Provenance, Rules
from ._frame import PageStatus

TITLE = "Frequent patterns"
_RELATION_KINDS = {
    "after": "the second item comes after the first, in time",
    "given": "as the data say",
    "together": "both items are in the basket",
}
# The Greek letters of the papers, in people.
_FACT_NAMES = {
    "gamma": "People by which a pattern may fall short of the true top (gamma)",
    "eta": "People by which a count may be off (eta)",
}
# The parts of a question in words: a heading, and a template of the rendered value, the plain value and the unit.
_QUESTION_TEXTS = {
    "top": ("Patterns", "the {text} most frequent"),
    "min_support": ("Patterns", "held by at least {value} of the {unit}"),
    "min_count": ("Patterns", "held by at least {text} {unit}"),
    "itemsets": ("Patterns", "{text} that were named"),
    "relations": ("Relations", "the {text} that most people have"),
    "among": ("Among", "the {text} most frequent items"),
    "how": ("A relation", "{text}"),
    "lengths": ("Items in a pattern", "{text}"),
    "least": ("Items in a pattern, at least", "{text}"),
    "segment": ("Segment", "{value}"),
    "hierarchy": ("Hierarchy", "{text} items, some of which stand above others"),
    "contains": ("Every pattern has", "{text}"),
    "excludes": ("No pattern has", "{text}"),
    "items": ("Items to choose from", "{text}"),
}


@dataclass(frozen=True, kw_only=True)
class ReportContents:
    """The contents of a report.

    Parameters
    ----------
    title
        The title, in one line.
    patterns, rules
        The patterns, with intervals, without counts, or exact; or the rules or relations of the result. One is None.
    guarantee
        The guarantee of the result; None for an exact result.
    question
        The question in words, by the name of its parts.
    mechanism, summary, settings, citations
        The name of the mechanism, one sentence on it, its settings, and the publications that it comes from.
    facts, notes
        Numbers released beside the patterns, and sentences for the reader.
    simulated
        Whether the noise came from a seed, so that no guarantee holds.
    date, version
        The day of the release, and the version of this package.
    parent
        The address of the page of all segments, and its title.
    reports, people_by_round
        Of a local protocol: the largest number of rounds that a person answers, 0 for unknown, and the number
        of people asked in each round.
    """

    title: str
    patterns: Patterns | None
    guarantee: Guarantee | None
    rules: Rules | None = None
    question: Mapping[str, str]
    mechanism: str
    summary: str
    settings: Mapping[str, str]
    citations: Sequence[str]
    facts: Mapping[str, str]
    notes: Sequence[str]
    simulated: bool
    date: str
    version: str
    parent: tuple[str, str] | None = None
    reports: int = 0
    people_by_round: Mapping[str, int] = field(default_factory=dict)

    @property
    def status(self) -> PageStatus:
        """Return the status that the page states."""
        return "simulated" if self.simulated else "exact" if self.guarantee is None else "private"

    @property
    def result(self) -> Patterns | Rules:
        """Return the patterns, or the rules."""
        result = self.patterns if self.patterns is not None else self.rules
        if result is None:
            raise AssertionError("a report tells of patterns or of rules")
        return result


def contents_of(
    result: Patterns | Rules,
    title: str | None = None,
    *,
    summary: str = "",
    citations: Sequence[str] = (),
    parent: tuple[str, str] | None = None,
) -> ReportContents:
    """Return the contents of the report of a result.

    Parameters
    ----------
    result
        Patterns, rules or relations, exact or private, from memory or from a file.
    title
        The title of the page; None for a general one.
    summary, citations
        One sentence on the mechanism and its publications, where the result does not state them.
    parent
        The address of the page of all segments, and its title.
    """
    provenance = result.provenance or Provenance()
    guarantee, chosen_mechanism = provenance.guarantee, provenance.chosen_mechanism
    # The order of an exact result means nothing: the largest counts come first.
    if isinstance(result, Patterns) and guarantee is None and result.counted:
        result = result.sort()
    # A file may have keys of any kind; headings are text.
    question = {str(name): value for name, value in (provenance.question or {}).items()}
    if isinstance(result, Rules) and result.how is not None:
        question = {"how": result.how} | question
    return ReportContents(
        title=TITLE if title is None else title,
        patterns=result if isinstance(result, Patterns) else None,
        rules=None if isinstance(result, Patterns) else result,
        guarantee=None if guarantee is None else Guarantee.from_dict(guarantee.to_dict()),
        question=dict(_question_text(name, value, result.unit) for name, value in question.items()),
        mechanism=f"{provenance.method}, which chose {chosen_mechanism}" if chosen_mechanism else provenance.method,
        summary=summary,
        settings={name.replace("_", " "): _value_text(value) for name, value in (provenance.settings or {}).items()},
        citations=provenance.citations or tuple(citations),
        facts={
            _FACT_NAMES.get(name, name[:1].upper() + name[1:]): _value_text(value)
            for name, value in (provenance.facts or {}).items()
        },
        notes=(*(provenance.notes or ()), *_score_notes(provenance.scores or {})),
        simulated=provenance.simulated,
        date=provenance.date or "",
        version=__version__,
        parent=parent,
        reports=provenance.reports or 0,
        people_by_round=people_by_round(provenance),
    )


def people_by_round(provenance: Provenance) -> dict[str, int]:
    """Return the number of people asked in each round of a local protocol, by the name of the round."""
    rounds = ((str(entry.get("name")), entry.get("people")) for entry in provenance.rounds or ())
    # A file may hold anything: a number of people that is none counts as unknown, 0.
    return {name: people if isinstance(people, int) and people >= 0 else 0 for name, people in rounds}


def _score_notes(scores: Mapping[str, Any]) -> list[str]:
    """Return the note on the scores of a simulation against the truth."""
    numbers = [f"{name} {value:.4g}" for name, value in scores.items() if isinstance(value, int | float)]
    return [f"Against the truth: {'; '.join(numbers)}."] if numbers else []


def _question_text(name: str, value: Any, unit: str) -> tuple[str, str]:
    """Return the heading and the words of one part of a question."""
    text = _value_text(value)
    if name == "how":
        text = _RELATION_KINDS.get(value, str(value))
    elif name == "lengths" and isinstance(value, list) and len(value) == 2:
        text = f"{value[0]} or more" if value[1] is None else f"{value[0]} to {value[1]}"
    heading, template = _QUESTION_TEXTS.get(name, (name.replace("_", " ").capitalize(), "{text}"))
    return heading, template.format(text=text, value=value, unit=unit)


def _value_text(value: Any) -> str:
    """Return a value of a question or of settings for a reader."""
    # Before numbers, as a truth value is an integer in Python.
    if isinstance(value, bool) or value is None:
        return "yes" if value else "no" if value is False else "not set"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value))
    return str(value)
