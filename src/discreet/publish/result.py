"""A private result that may leave the building: patterns with intervals, and what was promised about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..checks import positive
from ..errors import MisuseError
from ..privacy.guarantee import Guarantee
from ..results.patterns import Patterns

if TYPE_CHECKING:
    from os import PathLike

    from rich.console import Group

    from ..report.charts import Chart
    from ..results.rules import Rules
    from ..results.shown import View


TITLE = "What people hold together"
# What the letters of the papers stand for, in people.
_FACTS = {
    "gamma": "People by which a pattern may fall short of the true top (gamma)",
    "eta": "People by which a count may be off (eta)",
}

# What makes a relation.
_HOW = {
    "after": "the second item comes after the first, in time",
    "given": "as the data say",
    "together": "both items are in the basket",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """What :func:`discreet.release` returns.

    Parameters
    ----------
    patterns
        The patterns with their noisy counts, each with an interval from `low` to `high`. The true count lies in it in
        95 of 100 releases, as far as released facts tell.
    guarantee
        What is promised: the budget that was paid for, which the noise that was really added keeps within.
    mechanism, chosen
        The name of the mechanism that ran, and of the one it chose to do the work, if any.
    asked, settings
        The question and the mechanism's settings: public values.
    facts
        Numbers found on the way that were released too, by name.
    notes
        Sentences for the reader: what was chosen and why, and what the result promises.
    simulated
        Whether the noise came from a seeded source: then this is a trial, and nothing was promised to anyone.
    when
        The day it was made.
    relations
        The relations, where :func:`discreet.release_relations` found them; `patterns` are the items they are among.
    citations, summary
        What to cite, the mechanism that did the work first, and what the mechanism does in one sentence.

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 300 + [{"bread"}] * 200
    >>> release = discreet.release(baskets, top=2, epsilon=1, items="public")
    >>> print(release.guarantee)
    central differential privacy, add or remove one person, epsilon = 1
    """

    patterns: Patterns
    guarantee: Guarantee
    mechanism: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    simulated: bool = False
    when: str = ""
    citations: tuple[str, ...] = ()
    summary: str = ""
    chosen: str = ""
    relations: Rules | None = None

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        return repr(self.found)

    @property
    def found(self) -> Patterns | Rules:
        """What was asked for: the relations, where these were, otherwise the patterns."""
        return self.patterns if self.relations is None else self.relations

    def show(self, rows: int = 30) -> View:
        """Return the first rows as a table, as :meth:`Patterns.show` does."""
        return self.found.show(rows)

    def chart(self, rows: int = 30) -> Chart:
        """Return an SVG chart of the first patterns with their intervals; a notebook shows it."""
        from ..report.page import chart

        return chart(self.patterns, positive("rows", rows))

    def __rich__(self) -> Group:
        return self.found.__rich__()

    def _repr_html_(self) -> str:
        return self.found._repr_html_()

    @property
    def people(self) -> int:
        """The number of people: public, or with noise; then `patterns.people_within` is its interval."""
        return self.patterns.people

    def rules(
        self,
        min_confidence: float = 0.5,
        *,
        min_lift: float = 0.0,
        consequents: Literal["any", "one"] = "any",
        significance: float | None = None,
        redundant: bool = True,
    ) -> Rules:
        """Return the association rules among the released patterns, with an interval for each confidence.

        Privacy: costs nothing more, as only released counts are looked at.
        """
        return self.patterns.rules(
            min_confidence,
            min_lift=min_lift,
            consequents=consequents,
            significance=significance,
            redundant=redundant,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all but the patterns as plain values: what travels with them in files."""
        return {
            "guarantee": self.guarantee.to_dict(),
            "simulated": self.simulated,
            "mechanism": self.mechanism,
            "chosen": self.chosen,
            "asked": dict(self.asked),
            "settings": dict(self.settings),
            "facts": dict(self.facts),
            "notes": list(self.notes),
            "citations": list(self.citations),
            "when": self.when,
        }

    def digest(self) -> str:
        """Return a hash of everything that is released, by which a ledger knows this release."""
        table = self.patterns.to_arrow()
        content = {
            "about": self.to_dict(),
            "people": [self.people, self.patterns.people_within],
            "patterns": table.to_pylist(),
        }
        if self.relations is not None:
            content["relations"] = self.relations.to_arrow().to_pylist()
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()

    def save(self, path: str | PathLike[str], *, title: str = TITLE) -> None:
        """Write to a ``.csv``, ``.json`` or ``.parquet`` file, or to an ``.html`` report to send on, with a title."""
        from pathlib import Path

        from ..atomic_write import written

        suffix = Path(path).suffix.lower()
        if suffix not in (".html", ".htm"):
            if suffix not in (".csv", ".json", ".parquet"):
                given = f"ends in {suffix}" if suffix else "has no suffix"
                raise MisuseError(
                    f"{path} {given}, but a release is kept in .csv, .json or .parquet files, or as an .html report."
                )
            self.found.save(path)
            return
        with written(path) as stream:
            stream.write(self.report(title=title).encode())

    def report(self, *, title: str = TITLE) -> str:
        """Return the report as one HTML page that needs nothing else.

        Parameters
        ----------
        title
            What the page is about: a good place for the name of the data.
        """
        from .. import __version__
        from ..report.page import ReportContents, page

        told = ReportContents(
            title=title,
            patterns=self.patterns,
            relations=self.relations,
            guarantee=self.guarantee,
            asked=_question(self.asked),
            mechanism=f"{self.mechanism}, which chose {self.chosen}" if self.chosen else self.mechanism,
            summary=self.summary,
            settings={name.replace("_", " "): _shown(value) for name, value in self.settings.items()},
            citations=self.citations,
            facts={_FACTS.get(name, name[:1].upper() + name[1:]): _shown(value) for name, value in self.facts.items()},
            notes=self.notes,
            simulated=self.simulated,
            when=self.when,
            version=__version__,
        )
        return page(told)


def _question(asked: Mapping[str, Any]) -> dict[str, str]:
    """Return what was asked in plain words."""
    return dict(_put(name, value) for name, value in asked.items())


def _put(name: str, value: Any) -> tuple[str, str]:
    match name:
        case "top":
            return "Patterns", f"the {value:,} most frequent"
        case "min_support":
            return "Patterns", f"held by at least {value} of the people"
        case "min_count":
            return "Patterns", f"held by at least {value:,} people"
        case "itemsets":
            return "Patterns", f"{value:,} that were named"
        case "lengths":
            return "Items in a pattern", _lengths(value)
        case "relations":
            return "Relations", f"the {value:,} that most people have"
        case "among":
            return "Among", f"the {value:,} most frequent items"
        case "how":
            return "A relation", _HOW.get(value, str(value))
        case "segment":
            return "Segment", str(value)
    plain = {"contains": "Every pattern has", "excludes": "No pattern has", "items": "Items to choose from"}
    return plain.get(name, name.capitalize()), _shown(value)


def _lengths(value: Any) -> str:
    if not isinstance(value, list):
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
