"""The words of a conversation: what a protocol asks, of whom, and what it hears.

A protocol is a generator. It yields an `Ask`, or several at once, and is sent an `Estimate` for each. It sees nothing
else: no data, clock, network or randomness, so the same estimates make it ask the same things.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import Lineage
from ...errors import InputError, MisuseError
from ...privacy import Charge, Guarantee, Neighbours
from ...registry import proven
from .. import EVERY_LOSS, Counts, MeanOracle, Oracle
from ..device import WORD, check
from ..oracle_steps import make, means
from ._questions import DeviceQuestion

# What is wanted has to fit into questions that travel to devices.
MOST_PATTERNS = 100_000


@dataclass(frozen=True, order=True)
class Who:
    """The devices whose number, drawn once from 0 to before 2^32, lies from `start` to before `stop`."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop <= WORD:
            raise MisuseError("A round asks some of the people: its share must be over 0, and all shares 1 at most.")


class Partition:
    """Everybody in line: rounds take their share from the front, so that no two have anyone in common."""

    def __init__(self) -> None:
        self.taken = Fraction(0)

    def next(self, share: Fraction) -> Who:
        """Return the next share of the people."""
        start, self.taken = self.taken, self.taken + share
        return Who(int(start * WORD), int(self.taken * WORD))


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One round: a question to some of the people, answered through an oracle."""

    name: str
    who: Who
    question: DeviceQuestion
    oracle: Oracle | MeanOracle

    def __post_init__(self) -> None:
        other = isinstance(self.oracle, MeanOracle) is not self.question.number
        if other or self.oracle.size != self.question.values or self.oracle.single != self.question.single:
            raise MisuseError(f"The oracle of the round {self.name!r} is made for another question.")
        try:
            # What is promised is what the numbers say, whoever made the oracle: devices check the same.
            check(self.form, self.oracle.epsilon, self.oracle.delta, EVERY_LOSS)
        except ValueError as error:
            raise MisuseError(f"No device would answer the round {self.name!r}: {error}") from None

    @classmethod
    def of(cls, name: str, who: Who, question: DeviceQuestion, oracle: str, epsilon: Fraction, *, pad: int = 1) -> Self:
        """Return a round with the oracle of that name made for its question."""
        made = make(oracle, epsilon, question.values, pad=pad, single=question.single)
        return cls(name=name, who=who, question=question, oracle=made)

    def expecting(self, people: int) -> Ask:
        """Return the round as it is best asked of its share of so many people."""
        oracle = self.oracle.expecting(people * (self.who.stop - self.who.start) // WORD)
        return self if oracle is self.oracle else replace(self, oracle=oracle)

    @property
    def frequencies(self) -> Oracle:
        """The oracle of a round about values; a round about a number has none."""
        if isinstance(self.oracle, MeanOracle):
            raise MisuseError(f"The round {self.name!r} is about one number, and not about values.")
        return self.oracle

    @classmethod
    def mean(cls, name: str, who: Who, question: DeviceQuestion, oracle: str, epsilon: Fraction) -> Self:
        """Return a round about one number of everyone's."""
        known = means()
        if oracle not in known:
            raise MisuseError(f"There is no oracle of means {oracle!r}; there are {', '.join(known)}.")
        return cls(name=name, who=who, question=question, oracle=known[oracle].make(epsilon))

    @cached_property
    def form(self) -> dict[str, Any]:
        """The question as it travels to devices."""
        delta = {"delta": str(self.oracle.delta)} if self.oracle.delta else {}
        return {
            "format": 1,
            **self.question.form(),
            "epsilon": str(self.oracle.epsilon),
            **delta,
            "oracle": self.oracle.form,
        }

    def text(self) -> str:
        """Return everything about the round as one line, by which a replay knows it."""
        return self._text

    def as_asked(self, text: str) -> Ask | None:
        """Return the round of a text, where that differs from this by what floating point makes of it alone.

        That is a round through the same oracle, with a question that `DeviceQuestion.as_asked` makes of this one; it
        may be another of the rounds that are asked at once. Its seeds are fresh or published as they were then.
        """
        told = json.loads(text)
        try:
            question = self.question.as_asked(told["question"])
            oracle = self.oracle.as_asked(told["question"]["oracle"])
            one = replace(self, name=told["name"], who=Who(*told["who"]), question=question, oracle=oracle)
        except (MisuseError, KeyError, TypeError):
            return None
        return one if one.text() == text else None

    @cached_property
    def _text(self) -> str:
        told = {"name": self.name, "who": [self.who.start, self.who.stop], "question": self.form}
        return json.dumps(told, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a round's reports say: how many people sent one, and what they add up to, such as the supports of values.

    Everything else is computed from these whole numbers.
    """

    ask: Ask
    people: int
    supports: Counts

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Which fraction of the people answers with each value, or the mean of all; noise takes it beyond its range."""
        return self.ask.oracle.estimate(self.supports, self.people)

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """How far those are off, as estimates for everybody. Where nobody was asked, anything may be."""
        if not self.people:
            return np.ones(len(self.values))
        return self.ask.oracle.spread(self.values, self.people)

    def stored(self) -> dict[str, Any]:
        """Return the round and what was heard as plain values, from which `replay` takes a conversation up again."""
        return {"ask": self.ask.text(), "people": self.people, "supports": self.supports.tolist()}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a collector wants to know: public values.

    Parameters
    ----------
    items
        How many items the public list has; patterns are of numbers below it. 0 where there is no list.
    top
        How many patterns.
    epsilon
        What one person's one report may give away.
    least
        The fewest items of a pattern: 1, or 2 to leave single items out.
    lineage
        Which items stand above which, where devices answer for those above too: no pattern has an item and one above
        it.
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
class Related:
    """Relations that were learnt: what people hold of `first` and `second` together, and of each alone.

    Parameters
    ----------
    first, second
        The two sides of each relation, as itemsets: single items, and more where relations are built on relations.
    values, variance
        Which fraction of the people has the relation, and how far that may be off.
    first_values, first_variance, second_values
        The same for the sides: confidence is the value of a relation over that of its first side.
    """

    first: tuple[tuple[int, ...], ...]
    second: tuple[tuple[int, ...], ...]
    values: NDArray[np.float64]
    variance: NDArray[np.float64]
    first_values: NDArray[np.float64]
    first_variance: NDArray[np.float64]
    second_values: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Learnt:
    """What a conversation ends with: itemsets, which fraction of the people holds each, and its variance.

    Parameters
    ----------
    itemsets
        Everything that was estimated, the most frequent first.
    values, variance
        The fraction of people, and how far it may be off.
    facts, notes
        Numbers learnt on the way, by name in plain words, and sentences for the reader.
    related
        The relations wanted, the most reliable first, where the protocol is about relations.
    texts
        What the items are, by number, where no list has them.
    kept, guessed
        The relations that a protocol kept for their support before it asked about each, and those that the independence
        guess alone would have kept, where there was such a step.
    """

    itemsets: tuple[tuple[int, ...], ...]
    values: NDArray[np.float64]
    variance: NDArray[np.float64]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    related: Related | None = None
    texts: tuple[str, ...] | None = None
    kept: tuple[tuple[int, ...], ...] = ()
    guessed: tuple[tuple[int, ...], ...] = ()


Talk: TypeAlias = Generator[Ask | tuple[Ask, ...], Any, Learnt]


class Conversation:
    """A conversation that is alive: which rounds wait for an answer, and what was learnt where none does.

    An oracle without a proof page of its own is not asked through, whatever the protocol's page says of it.

    Parameters
    ----------
    talk
        A protocol that has begun.
    reports
        How many questions a person may be asked. One, but for forms kept for comparison (X4).
    people
        How many people are expected, where that is known: a public number. Rounds to many of them are asked with
        published seeds, through oracles that hash.
    """

    def __init__(self, talk: Talk, *, reports: int = 1, people: int | None = None) -> None:
        self._talk, self._reports, self._people = talk, reports, people
        self._before: list[Estimate] = []
        self._asked: Ask | tuple[Ask, ...] = ()
        self._answers: dict[str, Estimate] = {}
        self.learnt: Learnt | None = None
        self._send(None)

    @property
    def open(self) -> tuple[Ask, ...]:
        """The rounds that wait for an answer; none where the conversation has ended."""
        return tuple(one for one in _as_tuple(self._asked) if one.text() not in self._answers)

    @property
    def heard(self) -> tuple[Estimate, ...]:
        """The rounds that were answered, in the order in which they were asked."""
        now = (self._answers.get(one.text()) for one in _as_tuple(self._asked))
        return (*self._before, *(one for one in now if one is not None))

    @property
    def settled(self) -> int:
        """How many rounds were asked before those of now; all of them are answered."""
        return len(self._before)

    @property
    def asked(self) -> tuple[Ask, ...]:
        """The rounds that were asked at once the last time, answered or not; none where the conversation has ended."""
        return _as_tuple(self._asked)

    def ask_as_before(self, stored: Sequence[str]) -> None:
        """Ask what is asked now as it was before, where the processor alone makes the difference.

        Nobody may be asked two texts of one round. So what was stored of it counts, and not what comes out here.

        Parameters
        ----------
        stored
            The texts of rounds that were stored, from the first of those on that are asked now. Later ones may follow.
        """
        mine = self.asked
        if all(text == one.text() for text, one in zip(stored, mine, strict=False)):
            return
        start, stop = mine[0].who.start, mine[-1].who.stop
        told = [(text, Who(*json.loads(text)["who"])) for text in stored]
        before = {who: text for text, who in told if start <= who.start and who.stop <= stop}
        edges = [start, *(who.stop for who in before)]
        # How many directions there are is rounded too: where all of a step are stored, they are all there are.
        whole = edges[-1] == stop and [who.start for who in before] == edges[:-1]
        if whole:
            found = [mine[0].as_asked(text) for text in before.values()]
        else:
            found = [one.as_asked(before[one.who]) if one.who in before else one for one in mine]
        several = tuple(one for one in found if one is not None)
        if len(several) == len(found) and set(self._answers) <= {one.text() for one in several}:
            self._asked = several if isinstance(self._asked, tuple) else several[0]
            _several(self._asked, self._before, self._reports)

    def hear(self, estimate: Estimate) -> None:
        """Take the answer to a round that waits for it; with the last of those, the protocol asks on, or ends."""
        if estimate.ask.text() not in {one.text() for one in self.open}:
            raise MisuseError(f"The round {estimate.ask.name!r} does not wait for an answer.")
        self._answers[estimate.ask.text()] = estimate
        self._go_on()

    def _go_on(self) -> None:
        if self.learnt is None and not self.open:
            answers = self.heard[len(self._before) :]
            self._before += answers
            self._send(answers if isinstance(self._asked, tuple) else answers[0])

    def _send(self, answer: Any) -> None:
        self._answers = {}
        try:
            self._asked = _expecting(self._talk.send(answer), self._people)
        except StopIteration as end:
            self._asked, self.learnt = (), end.value
            return
        for one in _several(self._asked, self._before, self._reports):
            proven(type(one.oracle))
        self._go_on()  # where nothing is asked, nothing is waited for


def converse(
    talk: Talk, hear: Callable[[Ask], Estimate], *, reports: int = 1, people: int | None = None
) -> tuple[Learnt, tuple[Estimate, ...]]:
    """Lead a conversation to its end, and return what was learnt with all estimates in order.

    Parameters
    ----------
    talk
        A protocol that has begun.
    hear
        Puts one question to the people and returns what their reports say.
    reports, people
        As for :class:`Conversation`.
    """
    led = Conversation(talk, reports=reports, people=people)
    while led.learnt is None:
        for one in led.open:
            led.hear(hear(one))
    return led.learnt, led.heard


def replay(
    talk: Talk, stored: Iterable[Mapping[str, Any]], *, reports: int = 1, people: int | None = None
) -> Conversation:
    """Take a conversation up again from the answers that were stored, and return it as far as it has come.

    The same estimates make a protocol ask the same things, byte for byte, but for directions and lists that another
    processor rounds otherwise: those are asked as they were. Where it asks anything else than what was answered, it is
    not the protocol that was begun, and nobody may be asked on its behalf: an `InputError` says so.

    Parameters
    ----------
    talk
        The protocol, begun anew.
    stored
        What :meth:`Estimate.stored` gave for each round that was answered, in any order.
    reports, people
        As for :class:`Conversation`.
    """
    left = {one["ask"]: one for one in stored}
    led = Conversation(talk, reports=reports, people=people)
    while known := _known(led, left):
        for one in known:
            led.hear(_told(one, left.pop(one.text())))
    _used_up(left)
    return led


def _known(led: Conversation, left: Mapping[str, Any]) -> list[Ask]:
    """Return the rounds that wait and have an answer, asked as they were where that differs."""
    known = [one for one in led.open if one.text() in left]
    if not known and left:
        led.ask_as_before(sorted(left, key=lambda text: json.loads(text)["who"]))
        known = [one for one in led.open if one.text() in left]
    return known


def _expecting(asked: Ask | tuple[Ask, ...], people: int | None) -> Ask | tuple[Ask, ...]:
    """Return rounds as they are best asked of so many people, where it is known how many."""
    if people is None:
        return asked
    return tuple(one.expecting(people) for one in asked) if isinstance(asked, tuple) else asked.expecting(people)


def _as_tuple(asked: Ask | tuple[Ask, ...]) -> tuple[Ask, ...]:
    return asked if isinstance(asked, tuple) else (asked,)


def _several(asked: Ask | tuple[Ask, ...], heard: Sequence[Estimate], reports: int) -> tuple[Ask, ...]:
    """Return the rounds that are asked at once; a person who would be asked too often stops the conversation (X4)."""
    several = _as_tuple(asked)
    if most_asked([*(one.ask for one in heard), *several]) > reports:
        raise MisuseError(f"The round {several[0].name!r} asks people again who have answered already.")
    return several


def _told(ask: Ask, stored: Mapping[str, Any]) -> Estimate:
    supports = np.asarray(stored["supports"], np.int64)
    if supports.shape != (ask.oracle.aggregate_size,):
        raise InputError(
            f"The stored answer to the round {ask.name!r} has not the numbers that such a round adds up to."
        )
    return Estimate(ask, int(stored["people"]), supports)


def _used_up(left: Mapping[str, Mapping[str, Any]]) -> None:
    if left:
        name = json.loads(next(iter(left)))["name"]
        raise InputError(
            f"The round {name!r} was answered, but is not what this protocol asks for after those answers: go on with "
            "the protocol, the settings and the version of discreet that the conversation was begun with."
        )


def most_asked(asks: list[Ask]) -> int:
    """Return how many questions the person who is asked the most is asked."""
    # Along the line of numbers: one more where a round begins, one less where it ends, ends first.
    edges = sorted([(ask.who.start, 1) for ask in asks] + [(ask.who.stop, -1) for ask in asks])
    return max(accumulate(step for _, step in edges), default=0)


def promised(asks: list[Ask], public: tuple[str, ...] = ("the items",)) -> Guarantee:
    """Return what everyone who was asked is promised, computed from the questions that were put.

    Shares that have nobody in common do not add up: a person's loss is that of the questions put to them alone.
    """
    epsilon = delta = Fraction(0)
    lost = failed = Fraction(0)
    # From the first number to the last: whoever a round stops with is let go before the next round's are met.
    begins = [(ask.who.start, 1, ask.oracle) for ask in asks]
    for _, sign, oracle in sorted(
        [*begins, *((ask.who.stop, -1, ask.oracle) for ask in asks)], key=lambda one: one[:2]
    ):
        lost, failed = lost + sign * oracle.epsilon, failed + sign * oracle.delta
        epsilon, delta = max(epsilon, lost), max(delta, failed)
    charges = tuple(Charge.pure(ask.name, ask.oracle.epsilon, ask.oracle.delta) for ask in asks)
    return Guarantee(
        model="local",
        neighbours=Neighbours.REPLACE,
        epsilon=epsilon,
        delta=delta,
        charges=charges,
        public=public,
    )
