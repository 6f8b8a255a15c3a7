"""What a local protocol ends with: patterns with intervals, what was promised, and the transcript of its rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import Vocabulary, starts
from ...privacy import Guarantee
from ...registry import described
from ...results import BIAS_FACT, Patterns, PrivateResult, Provenance, cut_to_range
from ._conversation import Estimate, Learnt, Related, Wanted, most_asked, promised
from ._liars import LiarBounds
from ._screening import Screened

if TYPE_CHECKING:
    from ...baskets import Hierarchy
    from ...results import Rules
    from .. import Protocol

Values: TypeAlias = NDArray[np.float64]

_WIDE = 1.959963984540054  # standard deviations that hold 95 of 100 estimates
_ASSUMED = (
    "Intervals allow for liars: they hold whatever is in up to {share} of the reports of each round. They are about "
    "the {found} that are listed. Liars can also bring others onto the list and push some off it, and no interval says "
    "that."
)
_BIASED = (
    "Intervals hold noise alone, and may miss the true count: {bias}. So `diff` calls no change clear. The protocols "
    "adept, svim-better and svsm-better correct for it."
)
_NAMED = 5  # rounds that a note names one by one


@dataclass(frozen=True, kw_only=True)
class Round:
    """One line of the transcript: what was asked, of how many, through what; how many reports are left out, and why."""

    name: str
    people: int
    values: int
    oracle: str
    pad: int
    bits: float
    epsilon: str
    left_out: int = 0
    alarms: tuple[str, ...] = ()

    @classmethod
    def of(cls, heard: Estimate, seen: Screened | None = None) -> Round:
        """Return the line of a round that was heard, with what screening said of it."""
        oracle = heard.ask.oracle
        return cls(
            name=heard.ask.name,
            people=heard.people,
            values=oracle.size,
            oracle=oracle.name,
            pad=oracle.pad,
            bits=oracle.bits,
            epsilon=str(oracle.epsilon),
            left_out=seen.left_out if seen else 0,
            alarms=tuple(map(str, seen.alarms)) if seen else (),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Outcome(PrivateResult):
    """What :func:`discreet.simulate` returns, and what a study ends with.

    Parameters
    ----------
    patterns
        The top patterns: estimated counts out of all people, each with an interval. It holds the true count in 95 of
        100 runs, as far as noise, the drawing of a group and half of what a padding cuts off go. The documentation of
        the local evidence says how often it did. Where estimates are biased by more, `facts` and `notes` say so.
    learnt
        Everything that was estimated, in the same form.
    guarantee
        What each person is promised, computed from the questions that were put.
    reports
        How many rounds a person answers at the most. Where it is 1 the rounds have nobody in common, so that what they
        lose does not add up: the guarantee is that of one report.
    protocol
        The name of the protocol.
    asked, settings
        What was wanted, and the protocol's settings.
    rounds
        The transcript.
    facts, notes
        Numbers learnt on the way, and sentences for the reader.
    simulated
        Whether the reports came from a seeded source.
    marginal
        Whether some counts were drawn one by one: each has its exact law, but not all of them together.
    relations
        The relations found, the most reliable first, where the protocol is about relations; `patterns` are then the
        items they are of.
    scores
        How near all this is to the truth, where that was asked for.
    """

    NOUN: ClassVar[str] = "an outcome"

    patterns: Patterns
    learnt: Patterns
    guarantee: Guarantee
    protocol: str
    rounds: tuple[Round, ...]
    reports: int = 1
    asked: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    simulated: bool = True
    marginal: bool = False
    relations: Rules | None = None
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """What the protocol does in one sentence; nothing where no protocol of this name is here."""
        return described(self.protocol)[0]

    @property
    def citations(self) -> tuple[str, ...]:
        """What to cite for the protocol."""
        return described(self.protocol)[1]

    @property
    def provenance(self) -> Provenance:
        """All but the patterns: what travels with them, in files too."""
        return Provenance(
            guarantee=self.guarantee.stated(),
            simulated=self.simulated,
            marginal=self.marginal,
            reports=self.reports,
            protocol=self.protocol,
            question=dict(self.asked),
            settings={name: list(one) if isinstance(one, tuple) else one for name, one in self.settings.items()},
            rounds=tuple({**vars(line), "alarms": list(line.alarms)} for line in self.rounds),
            facts=dict(self.facts),
            notes=self.notes,
            # JSON has no number for what is not defined, such as an error over nothing.
            scores={name: None if isnan(value) else value for name, value in self.scores.items()},
        )


def as_rules(related: Related, vocabulary: Vocabulary, people: int, liars: LiarBounds | None = None) -> Rules:
    """Return relations with counts out of all people, and an interval for each confidence.

    A confidence is a ratio of two noisy numbers (D8): its variance is that of a small change of both. With `liars`,
    every interval also holds what they may have done.
    """
    from ...results import Itemsets, Rules

    floor = 1 / max(people, 1)
    first = np.clip(related.first_values, floor, 1.0)
    both = np.minimum(np.clip(related.values, 0.0, 1.0), first)
    confidence = both / first
    margin = _WIDE * np.sqrt(related.variance + confidence**2 * related.first_variance) / first
    low, high = confidence - margin, confidence + margin
    if liars is not None:
        bounds = [liars.confidence(*sides) for sides in zip(related.first, related.second, strict=True)]
        low, high = _both(low, high, bounds)
    count, antecedent, consequent = (
        np.rint(value * people).astype(np.int64) for value in (both, first, np.clip(related.second_values, 0, 1))
    )
    return Rules(
        antecedents=Itemsets.of(related.first),
        consequents=Itemsets.of(related.second),
        counts=count,
        antecedent_counts=antecedent,
        consequent_counts=consequent,
        vocabulary=vocabulary,
        people=people,
        low=np.clip(low, 0.0, 1.0),
        high=np.clip(high, 0.0, 1.0),
        kind="relations",
    )


def as_patterns(learnt: Learnt, vocabulary: Vocabulary, people: int, liars: LiarBounds | None = None) -> Patterns:
    """Return what was learnt as counts out of all people, with intervals (A9), of which liars may be a part."""
    margin = _WIDE * np.sqrt(learnt.variance)
    least, most = learnt.values - margin, learnt.values + margin
    if liars is not None:
        least, most = _both(least, most, [liars.itemset(itemset) for itemset in learnt.itemsets])
    cut = cut_to_range(learnt.values, least, most, least=0, most=1)
    count, low, high = (column * people for column in cut)
    return Patterns(
        offsets=starts([len(itemset) for itemset in learnt.itemsets]),
        codes=np.array([item for itemset in learnt.itemsets for item in itemset], np.int32),
        counts=np.rint(count).astype(np.int64),
        vocabulary=vocabulary,
        people=people,
        low=low,
        high=high,
    )


def _both(low: Values, high: Values, bounds: Sequence[tuple[float, float]]) -> tuple[Values, Values]:
    """Return intervals that hold others too."""
    ends = np.array(bounds, np.float64).reshape(-1, 2)
    return np.minimum(low, ends[:, 0]), np.maximum(high, ends[:, 1])


def concluded(
    plan: Protocol,
    wanted: Wanted,
    learnt: Learnt,
    heard: Sequence[Estimate],
    vocabulary: Vocabulary,
    people: int,
    *,
    asked: Mapping[str, Any],
    simulated: bool,
    rounds: Sequence[Round] = (),
    malicious: Fraction = Fraction(0),
    hierarchy: Hierarchy | None = None,
) -> Outcome:
    """Return the outcome of a conversation that has ended, with what is to be said about it.

    Parameters
    ----------
    plan, wanted
        The protocol, and what was wanted of it.
    learnt, heard
        What it ended with, and all that was heard.
    vocabulary, people
        The items, where there is a list of them, and how many people counts are out of.
    asked
        What was asked for beside what was wanted.
    simulated
        Whether the reports came from a seeded source.
    rounds
        The lines of the rounds, where more is known of them than what was heard: what screening said.
    malicious
        Which part of the reports of each round may be made up: intervals hold whatever is in those.
    hierarchy
        Which items stand above which, where devices mapped their baskets by it: it is public, and the result knows it.
    """
    if learnt.texts is not None:
        vocabulary = Vocabulary(learnt.texts)
    liars = LiarBounds(heard, malicious, learnt.texts) if malicious else None
    everything = replace(as_patterns(learnt, vocabulary, people, liars), hierarchy=hierarchy)
    if not people:
        everything = everything[:0]  # a count of nobody is 0 for sure, and would look as if something were known
    related: Rules | None = None
    notes, found = list(learnt.notes), "patterns"
    if learnt.related is None:
        best = everything.where(lengths=(wanted.least, None))[: wanted.top]
        many = len(best)
    else:
        related = replace(
            as_rules(learnt.related, vocabulary, people, liars), hierarchy=hierarchy, how=getattr(plan, "how", None)
        )
        related = related if people else related[:0]
        best, found = everything, "relations"
        many = len(related)
    if many < wanted.top:
        notes.append(f"{wanted.top:,} {found} were wanted and {many:,} were estimated.")
    silent = [repr(one.ask.name) for one in heard if not one.people]
    if silent:
        more = f" and {len(silent) - _NAMED:,} rounds more" if len(silent) > _NAMED else ""
        notes.append(
            f"There are too few people for this protocol: nobody was asked {', '.join(silent[:_NAMED])}{more}, and "
            "nothing is known of it."
        )
    lines = tuple(rounds) or tuple(map(Round.of, heard))
    notes += [f"In the round {one.name!r}, {alarm}" for one in lines for alarm in one.alarms]
    if plan.bias:
        notes.append(_BIASED.format(bias=plan.bias))
    if liars is not None:
        asked = {**asked, "assume_malicious": percent(malicious)}
        notes.append(_ASSUMED.format(share=percent(malicious), found=found))
    return Outcome(
        patterns=best,
        learnt=everything,
        guarantee=promised(
            [one.ask for one in heard], plan.public if hierarchy is None else (*plan.public, hierarchy.fact())
        ),
        protocol=plan.name,
        asked={"top": wanted.top, "least": wanted.least, "epsilon": str(wanted.epsilon), **asked},
        settings={one.name: getattr(plan, one.name) for one in fields(plan)},  # type: ignore[arg-type]
        rounds=lines,
        reports=most_asked([one.ask for one in heard]),
        facts={**learnt.facts, **({BIAS_FACT: plan.bias} if plan.bias else {})},
        notes=tuple(notes),
        simulated=simulated,
        relations=related,
    )


def percent(share: Fraction) -> str:
    """Return a part of a whole as it is typed: 1%."""
    return f"{float(share * 100):g}%"


def told_with(outcome: Outcome) -> Outcome:
    """Return an outcome whose patterns or relations carry all the rest with them, into files too."""
    provenance = outcome.provenance
    patterns = replace(outcome.patterns, provenance=provenance)
    if outcome.relations is None:
        return replace(outcome, patterns=patterns)
    items = {"patterns": outcome.patterns.to_arrow().to_pylist()}
    relations = replace(outcome.relations, provenance=replace(provenance, others=items))
    return replace(outcome, patterns=patterns, relations=relations)
