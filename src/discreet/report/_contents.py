"""What a report tells, as plain values: made from a result and what travels with it, in memory or from a file alike.

This room knows nothing of mechanisms, files or ledgers: all it has is what a result says of itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import __version__
from ..privacy import Guarantee
from ..results import Patterns, Provenance, Rules
from ._style import Standing

TITLE = "What people hold together"
# What makes a relation.
_HOW = {
    "after": "the second item comes after the first, in time",
    "given": "as the data say",
    "together": "both items are in the basket",
}
# What the letters of the papers stand for, in people.
_FACTS = {
    "gamma": "People by which a pattern may fall short of the true top (gamma)",
    "eta": "People by which a count may be off (eta)",
}


@dataclass(frozen=True, kw_only=True)
class ReportContents:
    """What a report tells.

    Parameters
    ----------
    title
        What it is about, in one line.
    patterns, rules
        The patterns, with intervals, without counts, or exact; and rules or relations, where these are what was found.
        One of the two is there.
    guarantee
        What is promised about them; None where they are exact.
    asked
        The question in plain words, by name.
    mechanism, summary, settings, citations
        The name of the mechanism, what it does, the settings it ran with, and the publications it comes from.
    facts, notes
        What was released beside the patterns, and sentences for the reader.
    simulated
        Whether the noise came from a seed, so that nothing was promised to anyone.
    when, version
        The day, and the version of this package.
    up
        Where the page of all segments is, and what it is called.
    reports, asked_in
        Of devices: how many rounds a person answers at most, 0 where that is not known, and how many people were asked
        in each round.
    """

    title: str
    patterns: Patterns | None
    guarantee: Guarantee | None
    rules: Rules | None = None
    asked: Mapping[str, str]
    mechanism: str
    summary: str
    settings: Mapping[str, str]
    citations: Sequence[str]
    facts: Mapping[str, str]
    notes: Sequence[str]
    simulated: bool
    when: str
    version: str
    up: tuple[str, str] | None = None
    reports: int = 0
    asked_in: Mapping[str, int] = field(default_factory=dict)

    @property
    def standing(self) -> Standing:
        """What the page may be taken for."""
        return "simulated" if self.simulated else "exact" if self.guarantee is None else "private"

    @property
    def result(self) -> Patterns | Rules:
        """What was found."""
        found = self.patterns if self.patterns is not None else self.rules
        if found is None:
            raise AssertionError("a report tells of patterns or of rules")
        return found


def contents_of(
    result: Patterns | Rules,
    title: str | None = None,
    *,
    summary: str = "",
    citations: Sequence[str] = (),
    up: tuple[str, str] | None = None,
) -> ReportContents:
    """Return what a report tells of a result, from what travels with it.

    Parameters
    ----------
    result
        Patterns, rules or relations, exact or private, as they were made or as a file has them.
    title
        What the page is about.
    summary, citations
        What the mechanism does and what to cite, where the result does not say so itself.
    up
        Where the page of all segments is, and what it is called.
    """
    provenance = result.provenance or Provenance()
    promised, chosen = provenance.guarantee, provenance.chosen_mechanism
    # An exact result has no order that says anything: the largest counts come first.
    if isinstance(result, Patterns) and promised is None and result.counted:
        result = result.sort()
    return ReportContents(
        title=TITLE if title is None else title,
        patterns=result if isinstance(result, Patterns) else None,
        rules=None if isinstance(result, Patterns) else result,
        guarantee=None if promised is None else Guarantee.from_dict(promised.to_dict()),
        asked=_made_of(result)
        | dict(_put(str(word), value, result.unit) for word, value in (provenance.question or {}).items()),
        mechanism=f"{provenance.method}, which chose {chosen}" if chosen else provenance.method,
        summary=summary,
        settings={word.replace("_", " "): _shown(value) for word, value in (provenance.settings or {}).items()},
        citations=provenance.citations or tuple(citations),
        facts={
            _FACTS.get(word, word[:1].upper() + word[1:]): _shown(value)
            for word, value in (provenance.facts or {}).items()
        },
        notes=(*(provenance.notes or ()), *_scored(provenance.scores or {})),
        simulated=provenance.simulated,
        when=provenance.date or "",
        version=__version__,
        up=up,
        reports=provenance.reports or 0,
        asked_in=asked_in(provenance),
    )


def asked_in(provenance: Provenance) -> dict[str, int]:
    """Return how many people were asked in each round, of what devices answered."""
    return {str(one.get("name")): _number(one.get("people")) for one in provenance.rounds or ()}


def _made_of(result: Patterns | Rules) -> dict[str, str]:
    """Say what makes a relation, of those whose question does not travel with them too."""
    return {} if isinstance(result, Patterns) or result.how is None else dict([_put("how", result.how, result.unit)])


def _number(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _scored(scores: Mapping[str, Any]) -> list[str]:
    """Say how near a simulation came to the truth."""
    told = "; ".join(f"{name} {value:.4g}" for name, value in scores.items() if isinstance(value, int | float))
    return [f"Against the truth: {told}."] if told else []


def _put(name: str, value: Any, unit: str) -> tuple[str, str]:
    """Return a part of the question in plain words."""
    match name:
        case "top":
            return "Patterns", f"the {_shown(value)} most frequent"
        case "min_support":
            return "Patterns", f"held by at least {value} of the {unit}"
        case "min_count":
            return "Patterns", f"held by at least {_shown(value)} {unit}"
        case "itemsets":
            return "Patterns", f"{_shown(value)} that were named"
        case "relations":
            return "Relations", f"the {_shown(value)} that most people have"
        case "among":
            return "Among", f"the {_shown(value)} most frequent items"
        case "how":
            return "A relation", _HOW.get(value, str(value))
        case "lengths":
            return "Items in a pattern", _lengths(value)
        case "least":
            return "Items in a pattern, at least", _shown(value)
        case "segment":
            return "Segment", str(value)
        case "hierarchy":
            return "Hierarchy", f"{_shown(value)} items, some of which stand above others"
    plain = {"contains": "Every pattern has", "excludes": "No pattern has", "items": "Items to choose from"}
    return plain.get(name, name.replace("_", " ").capitalize()), _shown(value)


def _lengths(value: Any) -> str:
    if not isinstance(value, list) or len(value) != 2:
        return _shown(value)
    return f"{value[0]} or more" if value[1] is None else f"{value[0]} to {value[1]}"


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "yes" if value else "no" if value is False else "not set"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return str(value)
