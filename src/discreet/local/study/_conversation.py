"""The conversation of a protocol with people: its rounds, its estimates, and its guarantee.

A protocol is a generator. It yields an `Ask`, or several for simultaneous rounds, and receives an `Estimate` for each.
It has no further input: no data, clock, network or randomness. So equal estimates lead to equal rounds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import Lineage
from ...errors import MisuseError
from ...privacy import Charge, Guarantee, Neighbours
from ...registry import proven
from .. import EVERY_LOSS, Counts, MeanOracle, Oracle
from ..device import WORD, check
from ..oracle_steps import make, means
from ._questions import DeviceQuestion

# The patterns of a protocol have to fit into questions to devices: a million numbers (`MOST_NUMBERS`) are ten for each.
MOST_PATTERNS = 100_000


@dataclass(frozen=True, order=True)
class PeopleGroup:
    """The people with a device that drew a number from `start` to `stop` - 1; each device draws one, below 2^32."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop <= WORD:
            raise MisuseError("A round asks some of the people: its share must be over 0, and all shares 1 at most.")


class Partition:
    """All people in a line: each round takes its share from the front, so that no person is in two rounds."""

    def __init__(self) -> None:
        self.taken = Fraction(0)

    def next(self, share: Fraction) -> PeopleGroup:
        """Return the next share of the people."""
        start, self.taken = self.taken, self.taken + share
        return PeopleGroup(int(start * WORD), int(self.taken * WORD))


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One round: a question to a share of the people, answered through an oracle."""

    name: str
    group: PeopleGroup
    question: DeviceQuestion
    oracle: Oracle | MeanOracle

    def __post_init__(self) -> None:
        is_other_kind = isinstance(self.oracle, MeanOracle) is not self.question.number
        has_other_values = self.oracle.size != self.question.values or self.oracle.single != self.question.single
        if is_other_kind or has_other_values:
            raise MisuseError(f"The oracle of the round {self.name!r} is made for another question.")
        try:
            # The guarantee follows from the numbers of the oracle, for every kind of oracle: devices have an equal
            # check.
            check(self.form, self.oracle.epsilon, self.oracle.delta, EVERY_LOSS)
        except ValueError as error:
            raise MisuseError(f"No device would answer the round {self.name!r}: {error}") from None

    @classmethod
    def of(
        cls, name: str, group: PeopleGroup, question: DeviceQuestion, oracle: str, epsilon: Fraction, *, pad: int = 1
    ) -> Self:
        """Return a round with the oracle of a name, made for the question."""
        made_oracle = make(oracle, epsilon, question.values, pad=pad, single=question.single)
        return cls(name=name, group=group, question=question, oracle=made_oracle)

    def expecting(self, people: int) -> Ask:
        """Return the round with the best oracle for its share of `people` people in all."""
        oracle = self.oracle.expecting(people * (self.group.stop - self.group.start) // WORD)
        return self if oracle is self.oracle else replace(self, oracle=oracle)

    @property
    def frequencies(self) -> Oracle:
        """The frequency oracle of the round; a round about a number has none."""
        if isinstance(self.oracle, MeanOracle):
            raise MisuseError(f"The round {self.name!r} is about one number, and not about values.")
        return self.oracle

    @classmethod
    def mean(cls, name: str, group: PeopleGroup, question: DeviceQuestion, oracle: str, epsilon: Fraction) -> Self:
        """Return a round about the mean of one number per person."""
        mean_oracles = means()
        if oracle not in mean_oracles:
            raise MisuseError(f"There is no oracle of means {oracle!r}; there are {', '.join(mean_oracles)}.")
        return cls(name=name, group=group, question=question, oracle=mean_oracles[oracle].make(epsilon))

    @cached_property
    def form(self) -> dict[str, Any]:
        """The question's JSON form, with its oracle, as devices read it."""
        delta = {"delta": str(self.oracle.delta)} if self.oracle.delta else {}
        return {
            "format": 1,
            **self.question.form(),
            "epsilon": str(self.oracle.epsilon),
            **delta,
            "oracle": self.oracle.form,
        }

    def text(self) -> str:
        """Return the round as one line of JSON: equal rounds have equal lines."""
        return self._text

    def as_asked(self, text: str) -> Ask | None:
        """Return the round of a text, if it differs from this round by the rounding of a processor alone; else None.

        The round has an equal oracle, and a question that `DeviceQuestion.as_asked` makes of this question. It may
        be any of the simultaneous rounds. It keeps the seeds, fresh or published, of the text.
        """
        form = json.loads(text)
        try:
            question = self.question.as_asked(form["question"])
            oracle = self.oracle.as_asked(form["question"]["oracle"])
            ask = replace(self, name=form["name"], group=PeopleGroup(*form["who"]), question=question, oracle=oracle)
        except (MisuseError, KeyError, TypeError):
            return None
        return ask if ask.text() == text else None

    @cached_property
    def _text(self) -> str:
        form = {"name": self.name, "who": [self.group.start, self.group.stop], "question": self.form}
        return json.dumps(form, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True, eq=False)
class Estimate:
    """The result of a round.

    Parameters
    ----------
    ask
        The round.
    people
        The number of people with a report.
    supports
        The sum of their reports, such as the number of reports that support each value. Estimates and variances are
        computed from the whole numbers.
    """

    ask: Ask
    people: int
    supports: Counts

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The fraction of the people with each value, or the mean of all numbers; noise can take it out of range."""
        return self.ask.oracle.estimate(self.supports, self.people)

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """The variance of `values`, as estimates for all people; 1 where no person was asked."""
        if not self.people:
            return np.ones(len(self.values))
        return self.ask.oracle.spread(self.values, self.people)


@dataclass(frozen=True, kw_only=True)
class StudyGoal:
    """The goal of a study, in public values.

    Parameters
    ----------
    items
        The number of items of the public list; patterns are made of numbers below it. 0 without a list.
    top
        The number of patterns to find.
    epsilon
        The epsilon of the one report of a person.
    least
        The smallest number of items of a pattern: 1, or 2 to leave single items out.
    lineage
        The items above each item, where devices answer for items above theirs too: no pattern has an item and an item
        above it.
    """

    items: int
    top: int
    epsilon: Fraction
    least: int = 1
    lineage: Lineage | None = None

    def __post_init__(self) -> None:
        if self.top > MOST_PATTERNS:
            raise MisuseError(f"A local protocol finds up to {MOST_PATTERNS:,} patterns; {self.top:,} were wanted.")


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationEstimates:
    """Estimated relations between a `first` and a `second` side.

    Parameters
    ----------
    first, second
        The two sides of each relation, as itemsets: single items, and bonds where relations are built on relations.
    values, variance
        The fraction of the people with each relation, and its variance.
    first_values, first_variance, second_values
        The fraction of the people with each side, and the variance of the first: the confidence of a relation is its
        value over the value of its first side.
    """

    first: tuple[tuple[int, ...], ...]
    second: tuple[tuple[int, ...], ...]
    values: NDArray[np.float64]
    variance: NDArray[np.float64]
    first_values: NDArray[np.float64]
    first_variance: NDArray[np.float64]
    second_values: NDArray[np.float64]

    @classmethod
    def most_reliable(
        cls,
        relations: Sequence[tuple[int, ...]],
        values: NDArray[np.float64],
        variance: NDArray[np.float64],
        first_sides: tuple[NDArray[np.float64], NDArray[np.float64]],
        second_values: NDArray[np.float64],
        top: int,
    ) -> Self:
        """Return the `top` most reliable relations, the most reliable first; of equal ones, the most frequent.

        A confidence is a ratio of two noisy numbers. A relation has no more people than its first side; a first side
        counts as at least the standard deviation of its estimate (D8). `first_sides` has estimates and variances.
        """
        # 1e-6 keeps a first side without people and without noise from a division by 0; no estimate is as small.
        first_values = np.clip(np.maximum(first_sides[0], np.sqrt(first_sides[1])), 1e-6, 1.0)
        confidence = np.clip(values, 0.0, first_values) / first_values
        order = np.lexsort((-values, -confidence))[:top]
        return cls(
            first=tuple(relations[row][:-1] for row in order),
            second=tuple(relations[row][-1:] for row in order),
            values=values[order],
            variance=variance[order],
            first_values=first_values[order],
            first_variance=first_sides[1][order],
            second_values=np.clip(second_values[order], 0.0, 1.0),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ProtocolResult:
    """The result of a conversation: itemsets, the fraction of the people with each, and its variance.

    Parameters
    ----------
    itemsets
        The estimated itemsets, the most frequent first.
    values, variance
        The fraction of the people, and its variance.
    facts, notes
        Further numbers by name, in plain words; and sentences for the reader.
    related
        The relations, the most reliable first, if the protocol is about relations.
    texts
        The text of each item, if no list has the items.
    selected, guessed
        If a protocol selects relations by their estimated support before it asks about each: the selected relations,
        and the relations that the guess of independent items would select.
    """

    itemsets: tuple[tuple[int, ...], ...]
    values: NDArray[np.float64]
    variance: NDArray[np.float64]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    related: RelationEstimates | None = None
    texts: tuple[str, ...] | None = None
    selected: tuple[tuple[int, ...], ...] = ()
    guessed: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def ranked(
        cls,
        itemsets: Sequence[tuple[int, ...]],
        values: NDArray[np.float64],
        variance: NDArray[np.float64],
        facts: Mapping[str, Any],
    ) -> Self:
        """Return itemsets as a result, the most frequent first; of equal ones, subsets come first (A10)."""
        order = np.lexsort((np.array([len(itemset) for itemset in itemsets]), -values))
        ranked_sets = tuple(itemsets[row] for row in order)
        return cls(itemsets=ranked_sets, values=values[order], variance=variance[order], facts=facts)


RoundGenerator: TypeAlias = Generator[Ask | tuple[Ask, ...], Any, ProtocolResult]


class Conversation:
    """A conversation in progress: its open rounds, or its result once it has ended.

    An oracle without a proof page of its own is refused, even if the protocol has a page.

    Parameters
    ----------
    talk
        A protocol that has begun.
    reports
        The largest number of reports of a person: 1, but for forms that are kept for comparison (X4).
    people
        The expected number of people, a public number; None if it is unknown. Oracles with hashing use published seeds
        in rounds with many people.
    """

    def __init__(self, talk: RoundGenerator, *, reports: int = 1, people: int | None = None) -> None:
        self._talk, self._reports, self._people = talk, reports, people
        self._past_estimates: list[Estimate] = []
        self._is_single_round = False
        self._answers: dict[str, Estimate] = {}
        # The latest simultaneous rounds, answered or open; empty once the conversation has ended.
        self.rounds: tuple[Ask, ...] = ()
        self.result: ProtocolResult | None = None
        self._send(None)

    @property
    def open_rounds(self) -> tuple[Ask, ...]:
        """The rounds without an answer; empty once the conversation has ended."""
        return tuple(ask for ask in self.rounds if ask.text() not in self._answers)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates of all answered rounds, in the order of the rounds."""
        answers = (self._answers.get(ask.text()) for ask in self.rounds)
        return (*self._past_estimates, *(answer for answer in answers if answer is not None))

    @property
    def past_round_count(self) -> int:
        """The number of answered rounds before the latest rounds."""
        return len(self._past_estimates)

    def restore_rounds(self, stored: Sequence[str]) -> None:
        """Replace the latest rounds by the stored ones, if they differ by the rounding of a processor alone.

        No two texts of one round may reach people, so a stored text takes precedence over the text that is computed
        here.

        Parameters
        ----------
        stored
            The texts of stored rounds, from the first of the latest rounds on. Texts of later rounds may follow.
        """
        computed = self.rounds
        if all(text == ask.text() for text, ask in zip(stored, computed, strict=False)):
            return
        start, stop = computed[0].group.start, computed[-1].group.stop
        stored_texts = {PeopleGroup(*json.loads(text)["who"]): text for text in stored}
        stored_texts = {
            group: text for group, text in stored_texts.items() if start <= group.start and group.stop <= stop
        }
        edges = [start, *(group.stop for group in stored_texts)]
        # The number of directions is rounded too: stored rounds that fill the whole share are all rounds of the step.
        if edges[-1] == stop and [group.start for group in stored_texts] == edges[:-1]:
            restored = [computed[0].as_asked(text) for text in stored_texts.values()]
        else:
            restored = [ask.as_asked(stored_texts[ask.group]) if ask.group in stored_texts else ask for ask in computed]
        rounds = tuple(ask for ask in restored if ask is not None)
        if len(rounds) == len(restored) and set(self._answers) <= {ask.text() for ask in rounds}:
            self.rounds = rounds
            self._check_report_count()

    def hear(self, estimate: Estimate) -> None:
        """Take the answer to an open round; after the last answer, the protocol asks further rounds or ends."""
        if estimate.ask.text() not in {ask.text() for ask in self.open_rounds}:
            raise MisuseError(f"The round {estimate.ask.name!r} does not wait for an answer.")
        self._answers[estimate.ask.text()] = estimate
        self._continue()

    def _continue(self) -> None:
        if self.result is None and not self.open_rounds:
            answers = self.estimates[len(self._past_estimates) :]
            self._past_estimates += answers
            self._send(answers[0] if self._is_single_round else answers)

    def _send(self, answer: Any) -> None:
        self._answers = {}
        try:
            next_rounds = self._talk.send(answer)
        except StopIteration as end:
            self.rounds, self.result = (), end.value
            return
        self._is_single_round = not isinstance(next_rounds, tuple)
        rounds = next_rounds if isinstance(next_rounds, tuple) else (next_rounds,)
        people = self._people
        self.rounds = rounds if people is None else tuple(ask.expecting(people) for ask in rounds)
        self._check_report_count()
        for ask in self.rounds:
            proven(type(ask.oracle))
        self._continue()  # an empty tuple of rounds has no open round

    def _check_report_count(self) -> None:
        """Check that no person would send more reports than the conversation allows (X4)."""
        asks = [*(estimate.ask for estimate in self._past_estimates), *self.rounds]
        if most_reports(asks) > self._reports:
            raise MisuseError(f"The round {self.rounds[0].name!r} asks people again who have answered already.")


def converse(
    talk: RoundGenerator, hear: Callable[[Ask], Estimate], *, reports: int = 1, people: int | None = None
) -> tuple[ProtocolResult, tuple[Estimate, ...]]:
    """Lead a conversation to its end, and return its result with all estimates in order.

    Parameters
    ----------
    talk
        A protocol that has begun.
    hear
        A function that asks one round and returns its estimate.
    reports, people
        As for :class:`Conversation`.
    """
    conversation = Conversation(talk, reports=reports, people=people)
    while conversation.result is None:
        for ask in conversation.open_rounds:
            conversation.hear(hear(ask))
    return conversation.result, conversation.estimates


def most_reports(asks: Sequence[Ask]) -> int:
    """Return the largest number of reports that a person sends."""
    # A sweep over the numbers of devices: +1 where a round begins, -1 where it ends, ends first.
    edges = sorted([(ask.group.start, 1) for ask in asks] + [(ask.group.stop, -1) for ask in asks])
    return max(accumulate(step for _, step in edges), default=0)


def compute_guarantee(asks: Sequence[Ask], public: tuple[str, ...] = ("the items",)) -> Guarantee:
    """Return the guarantee of every person in a round, computed from the questions.

    Rounds without a common person do not add up: the loss of a person is the loss of the rounds of this person alone.
    """
    largest_epsilon = largest_delta = epsilon = delta = Fraction(0)
    # As in `most_reports`: at each number, rounds end before further rounds begin.
    edges = [(ask.group.start, 1, ask.oracle) for ask in asks] + [(ask.group.stop, -1, ask.oracle) for ask in asks]
    for _, sign, oracle in sorted(edges, key=lambda edge: edge[:2]):
        epsilon, delta = epsilon + sign * oracle.epsilon, delta + sign * oracle.delta
        largest_epsilon, largest_delta = max(largest_epsilon, epsilon), max(largest_delta, delta)
    return Guarantee(
        model="local",
        neighbours=Neighbours.REPLACE,
        epsilon=largest_epsilon,
        delta=largest_delta,
        charges=tuple(Charge.pure(ask.name, ask.oracle.epsilon, ask.oracle.delta) for ask in asks),
        public=public,
    )
