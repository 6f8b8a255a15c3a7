"""A private result that may leave the building: patterns with intervals, and what was promised about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import MisuseError
from ..privacy.guarantee import Guarantee
from ..report.contents import TITLE
from ..results.levels import told_hierarchy
from ..results.patterns import Patterns

if TYPE_CHECKING:
    from os import PathLike

    from rich.console import Group

    from ..results.picture import Picture
    from ..results.rules import Rules
    from ..results.shown import View


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

    def plot(self, kind: str | None = None, rows: int = 30, *, level: int | str | None = None) -> Picture:
        """Return a picture of the patterns: ``"bars"``, ``"graph"``, ``"matrix"`` or ``"sizes"``.

        A notebook shows it, and ``.save("picture.svg")`` writes it; see :meth:`Patterns.plot`.
        """
        return self.patterns.plot(kind, rows, level=level)

    def __rich__(self) -> Group:
        return self.found.__rich__()

    def _repr_html_(self) -> str:
        return self.found._repr_html_()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand what was found to whoever speaks Arrow, as :class:`Patterns` do."""
        return self.found.__arrow_c_stream__(requested_schema)

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
        if self.patterns.hierarchy is not None:
            content["hierarchy"] = told_hierarchy(self.patterns)
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()

    def save(self, path: str | PathLike[str], *, title: str = TITLE) -> None:
        """Write to a ``.csv``, ``.json`` or ``.parquet`` file, or to an ``.html`` report to send on, with a title."""
        from ..results.files import is_page, written

        suffix = Path(path).suffix.lower()
        if is_page(path):
            with written(path) as stream:
                stream.write(self.report(title=title).encode())
            return
        if suffix not in (".csv", ".json", ".parquet"):
            given = f"ends in {suffix}" if suffix else "has no suffix"
            raise MisuseError(
                f"{path} {given}, but a release is kept in .csv, .json or .parquet files, or as an .html report."
            )
        self.found.save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Release:
        """Return a release that :meth:`save` or the command line wrote to a file, with all it promised.

        The file is taken at its word: whoever can change it can change what it says.
        """
        from ..results.files import load_rows

        found = load_rows(path)
        about = dict(found.about or {})
        if (
            not isinstance(found, Patterns)
            or not isinstance(about.get("guarantee"), Mapping)
            or "mechanism" not in about
        ):
            raise MisuseError(f"{path} holds no release: discreet.load() reads other results.")
        told = {name: dict(about.get(name) or {}) for name in ("asked", "settings", "facts")}
        return cls(
            patterns=found,
            guarantee=Guarantee.from_dict(about["guarantee"]),
            mechanism=str(about["mechanism"]),
            chosen=str(about.get("chosen") or ""),
            simulated=bool(about.get("simulated")),
            when=str(about.get("when") or ""),
            summary=summary_of(str(about["mechanism"])),
            notes=tuple(map(str, about.get("notes") or ())),
            citations=tuple(map(str, about.get("citations") or ())),
            asked=told["asked"],
            settings=told["settings"],
            facts=told["facts"],
        )

    def report(self, *, title: str = TITLE, up: tuple[str, str] | None = None) -> str:
        """Return the report as one HTML page that needs nothing else.

        Parameters
        ----------
        title
            What the page is about: a good place for the name of the data.
        up
            Where a page above this one is, and what it is called, for one of several segments.
        """
        from ..report.contents import contents_of
        from ..report.page import page

        held: Patterns | Rules = replace(self.found, about=self.to_dict())
        return page(contents_of(held, title, summary=self.summary, citations=self.citations, up=up))


def summary_of(name: str) -> str:
    """Return what a mechanism or protocol does in one sentence; nothing where none of this name is here."""
    from ..registry import mechanisms, protocols

    entry = {**mechanisms(), **protocols()}.get(name)
    return "" if entry is None else entry.summary
