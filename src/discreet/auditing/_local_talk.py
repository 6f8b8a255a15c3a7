"""Trying to break the claim of a protocol: everything around the reports, which must not depend on baskets.

A protocol sees estimates alone, so it is led through small conversations with answers of all kinds: what a made-up
crowd says, and what no crowd would. In each of them everyone must be asked once, and devices must be willing to answer;
in those with a crowd, everyone asked must answer, each from their own basket and words alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..local import EVERY_LOSS, Answered, Protocol, ReportColumns
from ..local.device import Draws, check
from ..local.study import Ask, Estimate, SeededWords, SimulatedPeople, Wanted, compute_guarantee, seed_of
from ..privacy import shown as number
from ._holdings import Holding, as_baskets, crowd, small
from ._local import NAME, DeviceCase, case_of, countable, reported
from ._verdict import Attempt

Heard: TypeAlias = Callable[[Ask], Estimate]

# Of how many items, and how many patterns: with a list to prune, without, and with so many that other oracles are best.
_WANTED = ((5, 2), (3, 3), (60, 8))
_SMALL = 5  # questions about so many items are enumerated, but for those with reports of very many kinds
_PEOPLE = 600
_COMPARED = 60  # people of each round whose reports are made once more, by the device's own code
# Rounds of one kind, with the same oracle and as many values, that are looked into in a conversation. A protocol may
# ask thousands at once that differ in their weights alone; all are asked, and all of their claims are checked.
_ALIKE = 40
_RELATED = 24  # items that are related at most: rounds grow with their square, and are of the same kinds
_SPELT = {"alphabet": "01234", "length": 2}  # of texts, for the same reason


class Broken(Exception):  # noqa: N818
    """Something depends on baskets that must not, or is asked that was not claimed: in words."""


@dataclass(frozen=True)
class Talked:
    """One conversation: what was wanted, what was asked, and the words for where its answers came from."""

    wanted: Wanted
    asks: tuple[Ask, ...]
    answers: str

    def __str__(self) -> str:
        return f"top={self.wanted.top} over {self.wanted.items} items, {self.answers}"


def coupled(protocol: Protocol, epsilon: Fraction, seed: int) -> tuple[Attempt, list[DeviceCase]]:
    """Lead small conversations and look at all but the reports; return also every question that was asked."""
    begun = perf_counter()
    protocol = _narrowed(protocol)
    cases: dict[str, DeviceCase] = {}
    tried, worst, why, where = 0, Fraction(0), "", ""
    for items, top in _WANTED:
        wanted = Wanted(items=0 if protocol.unlisted else items, top=top, epsilon=epsilon)
        protocol.check(wanted)
        people, several = small(items) if items <= _SMALL else [], _Crowd(items, seed)
        for answers, hear in _answers(several, seed):
            talked, told = _led(protocol, wanted, answers, hear)
            tried += 1
            lost = compute_guarantee(list(talked.asks)).epsilon
            if lost > worst:
                worst, where = lost, str(talked)
            for ask in talked.asks if people else ():
                if str(ask.form) not in cases and countable(ask.oracle):
                    cases[str(ask.form)] = case_of(ask, people, epsilon)
            why = why or told or _looked_at(talked, epsilon) or _answered_alike(protocol, talked, hear)
            if why:
                where = str(talked)
                break
    return (
        Attempt(
            means="coupled",
            stands=not why,
            loss=float(worst),
            tried=f"{tried} conversations, {len(cases)} different questions",
            engine=NAME,
            pairs=tried,
            paths=("conversations with a made-up crowd",),
            question=where,
            pair="anyone's basket, or another instead",
            why=why,
            seconds=perf_counter() - begun,
        ),
        list(cases.values()),
    )


def _narrowed(protocol: Protocol) -> Protocol:
    """Return a protocol about relations with fewer items, where it has many, and one about texts with shorter ones."""
    if protocol.unlisted:
        return replace(protocol, **_SPELT)  # type: ignore[type-var]
    smaller = {
        name: _RELATED
        for name in ("items", "cascade")
        if isinstance(many := getattr(protocol, name, None), int) and many > _RELATED
    }
    return replace(protocol, **smaller) if smaller else protocol  # type: ignore[type-var]


def _led(protocol: Protocol, wanted: Wanted, answers: str, hear: Heard) -> tuple[Talked, str]:
    """Lead a conversation to its end, and return it with what went wrong."""
    asks: list[Ask] = []
    answer: object = None
    why = ""
    talk = protocol.talk(wanted)
    try:
        while True:
            asked = talk.send(answer)
            several = asked if isinstance(asked, tuple) else (asked,)
            asks += several
            heard = tuple(hear(one) for one in several)
            answer = heard if isinstance(asked, tuple) else heard[0]
    except StopIteration:
        pass
    except Broken as found:
        why = str(found)
    except Exception as error:
        # People have been asked by then: stopping tells what they answered.
        why = f"After {len(asks)} rounds the protocol stops with {type(error).__name__}: {error}"
    return Talked(wanted, tuple(asks), answers), why


def _looked_at(talked: Talked, epsilon: Fraction) -> str:
    """Return how the questions of a conversation lose more than is claimed, or nothing."""
    lost = compute_guarantee(list(talked.asks)).epsilon
    if lost > epsilon:
        twice = next(
            (one.name, other.name)
            for place, one in enumerate(talked.asks)
            for other in talked.asks[place:]
            if (one is not other and one.who.start < other.who.stop and other.who.start < one.who.stop)
            or one.oracle.epsilon > epsilon
        )
        if twice[0] == twice[1]:
            return f"The round {twice[0]!r} asks for epsilon {number(lost)}."
        return (
            f"The rounds {twice[0]!r} and {twice[1]!r} ask the same people: their reports lose {number(lost)} together "
            "(X4)."
        )
    for ask in talked.asks:
        try:
            check(ask.form, epsilon, losses=EVERY_LOSS)
        except ValueError as refused:
            return f"A device refuses the round {ask.name!r}: {refused}"
    return ""


def _answered_alike(protocol: Protocol, talked: Talked, hear: Heard) -> str:
    """Return how a second conversation with the same answers differs, or nothing."""
    again, told = _led(protocol, talked.wanted, talked.answers, hear)
    if told:
        return told
    if [one.text() for one in again.asks] != [one.text() for one in talked.asks]:
        return "The same answers were followed by other questions: something else than answers decides what is asked."
    return ""


def _answers(crowd: _Crowd, seed: int) -> Iterator[tuple[str, Heard]]:
    """Yield ways in which a conversation may be answered, each the same every time."""
    yield "answered by a made-up crowd", crowd.hear

    def all_of(share: float) -> Heard:
        return lambda ask: Estimate(ask, _PEOPLE, np.full(ask.oracle.aggregate_size, int(share * _PEOPLE), np.int64))

    def drawn(ask: Ask) -> Estimate:
        generator = np.random.default_rng([seed, *ask.text().encode()])
        return Estimate(ask, _PEOPLE, generator.integers(0, _PEOPLE + 1, ask.oracle.aggregate_size, np.int64))

    yield "where no report speaks for anything", all_of(0)
    yield "where every report speaks for everything", all_of(1)
    yield "answered at random", drawn


class _Crowd:
    """A few hundred people who hold all kinds of things, the first of whom holds everything too, instead of nothing."""

    def __init__(self, items: int, seed: int) -> None:
        self._rows = crowd(items, _PEOPLE, seed)
        self._crowds = [
            SimulatedPeople(baskets=as_baskets(rows, items), seed=seed, speed="person")
            for rows in (self._rows, [self._rows[-1], *self._rows[1:]])
        ]
        self._seen: Counter[tuple[str, str, int]] = Counter()

    def hear(self, ask: Ask) -> Estimate:
        """Put a question to both crowds, and return what the first says; see that nothing else tells them apart."""
        first, second = (crowd.numbers() for crowd in self._crowds)
        if not np.array_equal(first, second):
            raise Broken("The numbers that devices draw depend on their baskets: so does who is asked (X4).")
        kind = (ask.question.ask, ask.oracle.name, ask.question.values)
        self._seen[kind] += 1
        if self._seen[kind] > _ALIKE:
            return self._crowds[0].hear(ask, first)
        asked = np.flatnonzero((first >= ask.who.start) & (first < ask.who.stop))
        whole = np.array([0, *asked[asked > 0]], np.int64)  # the one who differs answers in every round here
        both = [self._reports(crowd, ask, whole) for crowd in self._crowds]
        self._compare(ask, whole, both)
        return self._crowds[0].hear(ask, first)

    def _reports(self, crowd: SimulatedPeople, ask: Ask, people: NDArray[np.int64]) -> ReportColumns:
        offsets, values = ask.question.answers(crowd.baskets, people)
        answered = Answered(offsets=offsets, held=values, people=people)
        columns = ask.oracle.reports(answered, seed_of(crowd.seed, f"{ask.name}:{ask.who.start}"))
        for column in columns.values():
            if len(column) != len(people):
                raise Broken(
                    f"The round {ask.name!r} asks {len(people)} people and hears {len(column)}: silence tells that "
                    "somebody holds nothing (A7, X3)."
                )
        return columns

    def _compare(self, ask: Ask, people: NDArray[np.int64], both: list[ReportColumns]) -> None:
        """See that devices send what the simulation says, and that one person's basket moves no other's report."""
        form, seed = ask.form, seed_of(self._crowds[0].seed, f"{ask.name}:{ask.who.start}")
        for row, person in enumerate(people[:_COMPARED].tolist()):
            report, other = (ask.oracle.codec.make_report(columns, row) for columns in both)
            if row and report != other:
                raise Broken(f"In the round {ask.name!r}, somebody's report depends on another person's basket.")
            holding: Holding = self._rows[person]
            sent = reported(form, holding, ask.oracle.epsilon, Draws(SeededWords(seed, person).take))
            if sent != report:
                held = f"In the round {ask.name!r}, a device that holds {holding.shown(form)}"
                if not sent:
                    raise Broken(f"{held} sends nothing: silence tells what it holds (A7, X3).")
                if "stops" in sent:
                    raise Broken(f"{held} stops with {sent['stops']}")
                raise Broken(f"{held} sends another report than the simulation says.")
