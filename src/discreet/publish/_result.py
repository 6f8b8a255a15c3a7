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


# The fields of a release that its provenance has too, with their names there.
_PROVENANCE_NAMES = {
    "mechanism": "mechanism", "chosen": "chosen_mechanism", "asked": "question", "settings": "settings",
    "facts": "facts", "notes": "notes", "citations": "citations", "when": "date",
}  # fmt: skip


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
    mechanism, chosen
        The name of the mechanism that ran, and of the mechanism that it delegated to, if any.
    asked, settings
        The question and the mechanism's settings: public values.
    facts
        Further released numbers from the run, by name.
    notes
        Sentences for the reader: the choices with their reasons, and the promises about the result.
    simulated
        Whether the noise came from a seeded source: then the result is a trial, without any promise.
    when
        The date of the run.
    relations
        The relations from :func:`discreet.release_relations`; `patterns` are then the items of the relations.
    citations, summary
        Citations, that of the delegate first, and a summary of the mechanism in one sentence.

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
        """The facts about the run that accompany the patterns, in files too."""
        fields = {provenance_name: getattr(self, name) for name, provenance_name in _PROVENANCE_NAMES.items()}
        return Provenance(guarantee=self.guarantee.stated(), simulated=self.simulated, **fields)

    def digest(self) -> str:
        """Return a hash of all released values, by which a ledger identifies this release."""
        table = self.patterns.to_arrow()
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

        patterns = load_rows(path)
        provenance = patterns.provenance
        if (
            not isinstance(patterns, Patterns)
            or provenance is None
            or provenance.guarantee is None
            or provenance.mechanism is None
        ):
            raise InputError(f"{path} holds no release: discreet.load() reads other results.")
        values = {name: getattr(provenance, stored_name) for name, stored_name in _PROVENANCE_NAMES.items()}
        return cls(
            patterns=patterns,
            guarantee=Guarantee.from_dict(provenance.guarantee.to_dict()),
            simulated=provenance.simulated,
            summary=described(provenance.mechanism)[0],
            **{name: value for name, value in values.items() if value is not None},
        )
