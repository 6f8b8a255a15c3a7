"""A private result that may be published: patterns with intervals, and the guarantee of the run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..errors import InputError
from ..privacy import Guarantee
from ..results import Patterns, PrivateResult, Provenance

if TYPE_CHECKING:
    from os import PathLike

    from ..results import Rules


# The fields that a release and its provenance share.
_SHARED_FIELDS = ("mechanism", "chosen_mechanism", "question", "settings", "facts", "notes", "citations", "date")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release(PrivateResult):
    """The result of :func:`discreet.release`.

    Parameters
    ----------
    patterns
        The patterns with their noisy counts, each with an interval from `low` to `high`. The interval contains the true
        count in 95 of 100 releases, as far as released facts tell.
    guarantee
        The promise: the budget that was paid for. The noise that was really added keeps within it.
    mechanism, chosen_mechanism
        The name of the mechanism that ran, and of the mechanism that it delegated to, if any.
    question, settings
        The question and the mechanism's settings: public values.
    facts
        Further released numbers from the run, by name.
    notes
        Sentences for the reader: the choices with their reasons, and the promises about the result.
    simulated
        Whether the noise came from a seeded source: then the result is a trial, without any promise.
    date
        The date of the run.
    relations
        The relations from :func:`discreet.release_relations`; `patterns` are then the items of the relations.
    citations, summary
        Citations, the delegate's first, and a summary of the mechanism in one sentence.

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
    question: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    simulated: bool = False
    date: str = ""
    citations: tuple[str, ...] = ()
    summary: str = ""
    chosen_mechanism: str = ""
    relations: Rules | None = None

    @property
    def provenance(self) -> Provenance:
        """The facts about the run that accompany the patterns, in files too."""
        fields = {name: getattr(self, name) for name in _SHARED_FIELDS}
        return Provenance(guarantee=self.guarantee.stated(), simulated=self.simulated, **fields)

    def digest(self) -> str:
        """Return a hash of all released values, by which a ledger identifies this release."""
        table = self.patterns.to_arrow()
        # All that is published: a file that was edited has a different digest.
        content = {
            "about": self.provenance.to_dict(),
            "people": [self.people, self.patterns.people_within],
            "patterns": table.to_pylist(),
        }
        if self.relations is not None:
            content["relations"] = self.relations.to_arrow().to_pylist()
        if self.patterns.hierarchy is not None:
            content["hierarchy"] = self.patterns.hierarchy_values
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Return a release, with its guarantee, from a file that :meth:`save` or the command line wrote.

        The file is trusted: a changed file is not recognised.
        """
        from ..registry import described
        from ..results import load_rows

        # A release is stored as its table of patterns, with the release in the provenance.
        patterns = load_rows(path)
        provenance = patterns.provenance
        if (
            not isinstance(patterns, Patterns)
            or provenance is None
            or provenance.guarantee is None
            or provenance.mechanism is None
        ):
            raise InputError(f"{path} holds no release: discreet.load() reads other results.")
        values = {name: value for name in _SHARED_FIELDS if (value := getattr(provenance, name)) is not None}
        return cls(
            patterns=patterns,
            guarantee=Guarantee.from_dict(provenance.guarantee.to_dict()),
            simulated=provenance.simulated,
            # Looked up again, as summaries improve with versions and promise nothing.
            summary=described(provenance.mechanism)[0],
            **values,
        )
