"""The outcome of a local protocol: patterns with intervals, the guarantee, and the transcript of its rounds."""

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
from ._conversation import Estimate, ProtocolResult, RelationEstimates, StudyGoal, compute_guarantee, most_reports
from ._liars import LiarBounds
from ._screening import Screened

if TYPE_CHECKING:
    from ...baskets import Hierarchy
    from ...results import Rules
    from .. import Protocol

Values: TypeAlias = NDArray[np.float64]

_DEVIATIONS = 1.959963984540054  # the 0.975 quantile of the normal law: a 95 % interval is that wide to either side
_LIARS_NOTE = (
    "Intervals allow for liars: they hold whatever is in up to {share} of the reports of each round. They are about "
    "the {noun} that are listed. Liars can also bring others onto the list and push some off it, and no interval says "
    "that."
)
_BIAS_NOTE = (
    "Intervals hold noise alone, and may miss the true count: {bias}. So `diff` calls no change clear. The protocols "
    "adept, svim-better and svsm-better correct for it."
)
# Chosen: studies of svim, svsm and adept have at most eight rounds, the matrix protocols hundreds.
_NAMED_ROUNDS = 5  # the rounds that a note names, so that it stays one sentence


@dataclass(frozen=True, kw_only=True)
class Round:
    """One line of the transcript: the question, its people, its oracle; the reports that are left out, and alarms."""

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
    def of(cls, estimate: Estimate, screened: Screened | None = None) -> Round:
        """Return the line of a round, with the result of screening."""
        oracle = estimate.ask.oracle
        return cls(
            name=estimate.ask.name,
            people=estimate.people,
            values=oracle.size,
            oracle=oracle.name,
            pad=oracle.pad,
            bits=oracle.bits,
            epsilon=str(oracle.epsilon),
            left_out=screened.left_out if screened else 0,
            alarms=tuple(map(str, screened.alarms)) if screened else (),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Outcome(PrivateResult):
    """The result of :func:`discreet.simulate`, and of a study.

    Parameters
    ----------
    patterns
        The top patterns: estimated counts out of all people, each with an interval. It holds the true count in 95 of
        100 runs, as far as noise, the drawing of a group and half of the truncated part go. The documentation of
        the local evidence has the measured share. Where estimates have a larger bias, `facts` and `notes` say so.
    all_patterns
        All estimated patterns, with their intervals.
    guarantee
        The guarantee of each person, computed from the questions.
    reports
        The largest number of reports of a person. If it is 1, no person is in two rounds, so that losses do not add up:
        the guarantee is the guarantee of one report.
    protocol
        The name of the protocol.
    question, settings
        The goal with further public values, and the settings of the protocol.
    rounds
        The transcript.
    facts, notes
        Further numbers by name, and sentences for the reader.
    simulated
        Whether the reports came from a seeded source.
    marginal
        Whether some counts were drawn one by one: each has its exact law, but not their joint law.
    relations
        The relations, the most reliable first, if the protocol is about relations; `patterns` are then their items.
    scores
        The distances from the truth, if they were asked for.
    """

    NOUN: ClassVar[str] = "an outcome"

    patterns: Patterns
    all_patterns: Patterns
    guarantee: Guarantee
    protocol: str
    rounds: tuple[Round, ...]
    reports: int = 1
    question: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    simulated: bool = True
    marginal: bool = False
    relations: Rules | None = None
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The protocol in one sentence; empty if no protocol has this name here."""
        return described(self.protocol)[0]

    @property
    def citations(self) -> tuple[str, ...]:
        """The works to cite for the protocol."""
        return described(self.protocol)[1]

    @property
    def provenance(self) -> Provenance:
        """All fields but the patterns, in the form that is saved with the patterns."""
        return Provenance(
            guarantee=self.guarantee.stated(),
            simulated=self.simulated,
            marginal=self.marginal,
            reports=self.reports,
            protocol=self.protocol,
            question=dict(self.question),
            settings={
                name: list(value) if isinstance(value, tuple) else value for name, value in self.settings.items()
            },
            rounds=tuple({**vars(line), "alarms": list(line.alarms)} for line in self.rounds),
            facts=dict(self.facts),
            notes=self.notes,
            # JSON has no NaN: an undefined score, such as an error over no pattern, is null.
            scores={name: None if isnan(value) else value for name, value in self.scores.items()},
        )


def build_rules(
    related: RelationEstimates, vocabulary: Vocabulary, people: int, liars: LiarBounds | None = None
) -> Rules:
    """Return relations as rules: counts out of all people, and an interval of each confidence.

    A confidence is a ratio of two noisy numbers (D8): its variance follows from a small change of both. With `liars`,
    an interval also holds the influence of liars.
    """
    from ...results import Itemsets, Rules

    first_values = np.clip(related.first_values, 1 / max(people, 1), 1.0)
    both = np.minimum(np.clip(related.values, 0.0, 1.0), first_values)
    confidence = both / first_values
    margin = _DEVIATIONS * np.sqrt(related.variance + confidence**2 * related.first_variance) / first_values
    low, high = confidence - margin, confidence + margin
    if liars is not None:
        low, high = _widen(
            low, high, [liars.confidence(*sides) for sides in zip(related.first, related.second, strict=True)]
        )
    counts, antecedents, consequents = (
        np.rint(values * people).astype(np.int64)
        for values in (both, first_values, np.clip(related.second_values, 0, 1))
    )
    return Rules(
        antecedents=Itemsets.of(related.first),
        consequents=Itemsets.of(related.second),
        counts=counts,
        antecedent_counts=antecedents,
        consequent_counts=consequents,
        vocabulary=vocabulary,
        people=people,
        low=np.clip(low, 0.0, 1.0),
        high=np.clip(high, 0.0, 1.0),
        kind="relations",
    )


def build_patterns(
    result: ProtocolResult, vocabulary: Vocabulary, people: int, liars: LiarBounds | None = None
) -> Patterns:
    """Return estimated itemsets as patterns: counts out of all people, with intervals (A9), of which some may lie."""
    margin = _DEVIATIONS * np.sqrt(result.variance)
    low, high = result.values - margin, result.values + margin
    if liars is not None:
        low, high = _widen(low, high, [liars.itemset(itemset) for itemset in result.itemsets])
    counts, low, high = (column * people for column in cut_to_range(result.values, low, high, least=0, most=1))
    return Patterns(
        offsets=starts([len(itemset) for itemset in result.itemsets]),
        codes=np.array([item for itemset in result.itemsets for item in itemset], np.int32),
        counts=np.rint(counts).astype(np.int64),
        vocabulary=vocabulary,
        people=people,
        low=low,
        high=high,
    )


def _widen(low: Values, high: Values, bounds: Sequence[tuple[float, float]]) -> tuple[Values, Values]:
    """Return intervals that contain the bounds too."""
    ends = np.array(bounds, np.float64).reshape(-1, 2)
    return np.minimum(low, ends[:, 0]), np.maximum(high, ends[:, 1])


def build_outcome(
    plan: Protocol,
    goal: StudyGoal,
    result: ProtocolResult,
    estimates: Sequence[Estimate],
    vocabulary: Vocabulary,
    people: int,
    *,
    question: Mapping[str, Any],
    simulated: bool,
    rounds: Sequence[Round] = (),
    malicious: Fraction = Fraction(0),
    hierarchy: Hierarchy | None = None,
) -> Outcome:
    """Return the outcome of a conversation that has ended, with its notes.

    Parameters
    ----------
    plan, goal
        The protocol, and its goal.
    result, estimates
        The result of the conversation, and the estimates of its rounds.
    vocabulary, people
        The items, if a list has them, and the number of people that counts are out of.
    question
        Fields of the question beyond the goal.
    simulated
        Whether the reports came from a seeded source.
    rounds
        The lines of the rounds, if they have the results of screening.
    malicious
        The share of the reports of each round that may be by liars: intervals hold for any reports by liars.
    hierarchy
        The items above each item, if devices mapped their baskets: it is public, and part of the result.
    """
    if result.texts is not None:
        vocabulary = Vocabulary(result.texts)
    liars = LiarBounds(estimates, malicious, result.texts) if malicious else None
    all_patterns = replace(build_patterns(result, vocabulary, people, liars), hierarchy=hierarchy)
    if not people:
        all_patterns = all_patterns[:0]  # counts out of no people are exactly 0, which would look like knowledge
    relations: Rules | None = None
    notes, noun = list(result.notes), "patterns"
    if result.related is None:
        patterns = all_patterns.where(lengths=(goal.least, None))[: goal.top]
        estimated_count = len(patterns)
    else:
        relations = build_rules(result.related, vocabulary, people, liars)
        relations = replace(relations, hierarchy=hierarchy, how=getattr(plan, "how", None))
        relations = relations if people else relations[:0]
        patterns, noun, estimated_count = all_patterns, "relations", len(relations)
    if estimated_count < goal.top:
        notes.append(f"{goal.top:,} {noun} were wanted and {estimated_count:,} were estimated.")
    silent = [repr(estimate.ask.name) for estimate in estimates if not estimate.people]
    if silent:
        further = f" and {len(silent) - _NAMED_ROUNDS:,} rounds more" if len(silent) > _NAMED_ROUNDS else ""
        notes.append(
            f"There are too few people for this protocol: nobody was asked {', '.join(silent[:_NAMED_ROUNDS])}{further}"
            ", and nothing is known of it."
        )
    lines = tuple(rounds) or tuple(map(Round.of, estimates))
    notes += [f"In the round {line.name!r}, {alarm}" for line in lines for alarm in line.alarms]
    if plan.bias:
        notes.append(_BIAS_NOTE.format(bias=plan.bias))
    if liars is not None:
        question = {**question, "assume_malicious": render_percent(malicious)}
        notes.append(_LIARS_NOTE.format(share=render_percent(malicious), noun=noun))
    asks = [estimate.ask for estimate in estimates]
    return Outcome(
        patterns=patterns,
        all_patterns=all_patterns,
        guarantee=compute_guarantee(asks, plan.public if hierarchy is None else (*plan.public, hierarchy.fact())),
        protocol=plan.name,
        question={"top": goal.top, "least": goal.least, "epsilon": str(goal.epsilon), **question},
        settings={setting.name: getattr(plan, setting.name) for setting in fields(plan)},  # type: ignore[arg-type]
        rounds=lines,
        reports=most_reports(asks),
        facts={**result.facts, **({BIAS_FACT: plan.bias} if plan.bias else {})},
        notes=tuple(notes),
        simulated=simulated,
        relations=relations,
    )


def render_percent(share: Fraction) -> str:
    """Return a share as a percentage, as it is typed: 1%."""
    return f"{float(share * 100):g}%"


def attach_provenance(outcome: Outcome) -> Outcome:
    """Return an outcome with its provenance in its patterns and relations, also when they are saved alone."""
    provenance = outcome.provenance
    patterns = replace(outcome.patterns, provenance=provenance)
    if outcome.relations is None:
        return replace(outcome, patterns=patterns)
    items = {"patterns": outcome.patterns.to_arrow().to_pylist()}
    relations = replace(outcome.relations, provenance=replace(provenance, others=items))
    return replace(outcome, patterns=patterns, relations=relations)
