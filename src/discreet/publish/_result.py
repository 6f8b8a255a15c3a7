"""A private result that may leave the building: patterns with intervals, and what was promised about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..errors import InputError
from ..privacy import Guarantee
from ..results import Patterns, PrivateResult, Provenance, told_hierarchy

if TYPE_CHECKING:
    from os import PathLike

    from ..results import Rules


# What of a release its provenance keeps, and under which name.
_KEPT = {
    "mechanism": "mechanism", "chosen": "chosen_mechanism", "asked": "question", "settings": "settings",
    "facts": "facts", "notes": "notes", "citations": "citations", "when": "date",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release(PrivateResult):
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

    NOUN: ClassVar[str] = "a release"

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

    @property
    def provenance(self) -> Provenance:
        """All but the patterns: what travels with them, in files too."""
        kept = {kept_name: getattr(self, name) for name, kept_name in _KEPT.items()}
        return Provenance(guarantee=self.guarantee.stated(), simulated=self.simulated, **kept)

    def digest(self) -> str:
        """Return a hash of everything that is released, by which a ledger knows this release."""
        table = self.patterns.to_arrow()
        content = {
            "about": self.provenance.to_dict(),
            "people": [self.people, self.patterns.people_within],
            "patterns": table.to_pylist(),
        }
        if self.relations is not None:
            content["relations"] = self.relations.to_arrow().to_pylist()
        if self.patterns.hierarchy is not None:
            content["hierarchy"] = told_hierarchy(self.patterns)
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Return a release that :meth:`save` or the command line wrote to a file, with all it promised.

        The file is taken at its word: whoever can change it can change what it says.
        """
        from ..registry import described
        from ..results import load_rows

        found = load_rows(path)
        told = found.provenance
        if not isinstance(found, Patterns) or told is None or told.guarantee is None or told.mechanism is None:
            raise InputError(f"{path} holds no release: discreet.load() reads other results.")
        kept = {name: getattr(told, kept_name) for name, kept_name in _KEPT.items()}
        return cls(
            patterns=found,
            guarantee=Guarantee.from_dict(told.guarantee.to_dict()),
            simulated=told.simulated,
            summary=described(told.mechanism)[0],
            **{name: value for name, value in kept.items() if value is not None},
        )
