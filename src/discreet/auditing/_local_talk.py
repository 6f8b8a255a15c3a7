"""Audits of a protocol's conversation: all behaviour around the reports, which must not depend on baskets.

A protocol receives estimates alone, so it is led through small conversations with answers of all kinds: of a made-up
crowd, and of no possible crowd. In each conversation each person must be asked once, and devices must accept the
questions; with a crowd, each person who is asked must answer, from the own basket and random words alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..local import EVERY_LOSS, Protocol, ReportColumns, SimulatedAnswers
from ..local.device import Draws, check
from ..local.study import Ask, Estimate, SeededWords, SimulatedPeople, StudyGoal, compute_guarantee, seed_of
from ..privacy import shown as number
from ._attack import Attack
from ._holdings import Holding, build_baskets, crowd, list_small_holdings
from ._local import DEVICE_NAME, DeviceCase, case_of, countable, reported
from ._verdict import Attempt

AnswerFunction: TypeAlias = Callable[[Ask], Estimate]

# (items, patterns): with a list to prune, without one, and large enough for oracles of large domains.
_PROBLEMS = ((5, 2), (3, 3), (60, 8))
_MAX_ENUMERATED_ITEMS = 5  # items: questions about more have too many baskets and reports to enumerate
_PEOPLE = 600
_COMPARED_PEOPLE = 60  # people per round with a second report, from the device's own code
# Rounds of one kind, with the same oracle and as many values, that are looked into in a conversation. A protocol may
# ask thousands at once that differ in their weights alone; all are asked, and all of their claims are checked.
_MAX_ALIKE_ROUNDS = 40
_MAX_RELATED_ITEMS = 24  # the number of rounds grows with its square, without new kinds of rounds
_SHORT_TEXTS = {"alphabet": "01234", "length": 2}  # of text questions, for this reason too


class Broken(Exception):  # noqa: N818
    """A forbidden dependence on baskets, or a question beyond the claim, in words."""


@dataclass(frozen=True)
class Talked:
    """One conversation: the request, the questions, and the origin of its answers in words."""

    goal: StudyGoal
    asks: tuple[Ask, ...]
    answers: str

    def __str__(self) -> str:
        return f"top={self.goal.top} over {self.goal.items} items, {self.answers}"


def coupled(protocol: Protocol, epsilon: Fraction, seed: int) -> tuple[Attempt, list[DeviceCase]]:
    """Return the attempt on all behaviour around the reports, and a case for every question of the conversations."""
    attack = Attack("coupled", engine=DEVICE_NAME, paths=("conversations with a made-up crowd",))
    protocol = _shrink_protocol(protocol)
    cases: dict[str, DeviceCase] = {}
    for items, top in _PROBLEMS:
        goal = StudyGoal(items=0 if protocol.unlisted else items, top=top, epsilon=epsilon)
        protocol.check(goal)
        people, crowds = list_small_holdings(items) if items <= _MAX_ENUMERATED_ITEMS else [], _Crowd(items, seed)
        for answers, hear in _list_answer_functions(crowds, seed):
            talked, flaw = _hold_conversation(protocol, goal, answers, hear)
            for ask in talked.asks if people else ():
                if str(ask.form) not in cases and countable(ask.oracle):
                    cases[str(ask.form)] = case_of(ask, people, epsilon)
            flaw = flaw or _find_overspend(talked, epsilon) or _find_difference(protocol, talked, hear)
            spent_epsilon = float(compute_guarantee(list(talked.asks)).epsilon)
            attack.add("anyone's basket, or another instead", talked, spent_epsilon, breach=flaw)
            if flaw:
                break
    return (
        attack.attempt(f"{attack.pairs} conversations, {len(cases)} different questions"),
        list(cases.values()),
    )


def _shrink_protocol(protocol: Protocol) -> Protocol:
    """Return the protocol with fewer items (relations) or shorter texts, if it has many."""
    if protocol.unlisted:
        return replace(protocol, **_SHORT_TEXTS)  # type: ignore[type-var]
    smaller = {
        name: _MAX_RELATED_ITEMS
        for name in ("items", "cascade")
        if isinstance(limit := getattr(protocol, name, None), int) and limit > _MAX_RELATED_ITEMS
    }
    return replace(protocol, **smaller) if smaller else protocol  # type: ignore[type-var]


def _hold_conversation(protocol: Protocol, goal: StudyGoal, answers: str, hear: AnswerFunction) -> tuple[Talked, str]:
    """Return a whole conversation, and the flaw that ended it; "" without a flaw."""
    asks: list[Ask] = []
    answer: object = None
    flaw = ""
    talk = protocol.ask_rounds(goal)
    try:
        while True:
            asked_step = talk.send(answer)
            step_asks = asked_step if isinstance(asked_step, tuple) else (asked_step,)
            asks += step_asks
            estimates = tuple(hear(ask) for ask in step_asks)
            answer = estimates if isinstance(asked_step, tuple) else estimates[0]
    except StopIteration:
        pass
    except Broken as found:
        flaw = str(found)
    except Exception as error:
        # People have answered by then, so the error may depend on their answers.
        flaw = f"After {len(asks)} rounds the protocol stops with {type(error).__name__}: {error}"
    return Talked(goal, tuple(asks), answers), flaw


def _find_overspend(talked: Talked, epsilon: Fraction) -> str:
    """Return the message that questions lose more than the claim; "" if they do not."""
    spent_epsilon = compute_guarantee(list(talked.asks)).epsilon
    if spent_epsilon > epsilon:
        twice = next(
            (ask.name, other_ask.name)
            for place, ask in enumerate(talked.asks)
            for other_ask in talked.asks[place:]
            if (
                ask is not other_ask
                and ask.group.start < other_ask.group.stop
                and other_ask.group.start < ask.group.stop
            )
            or ask.oracle.epsilon > epsilon
        )
        if twice[0] == twice[1]:
            return f"The round {twice[0]!r} asks for epsilon {number(spent_epsilon)}."
        return (
            f"The rounds {twice[0]!r} and {twice[1]!r} ask the same people: their reports lose {number(spent_epsilon)} "
            "together (X4)."
        )
    for ask in talked.asks:
        try:
            check(ask.form, epsilon, losses=EVERY_LOSS)
        except ValueError as refused:
            return f"A device refuses the round {ask.name!r}: {refused}"
    return ""


def _find_difference(protocol: Protocol, talked: Talked, hear: AnswerFunction) -> str:
    """Return the message that a second conversation with equal answers differs; "" if it does not."""
    second_talk, talk_flaw = _hold_conversation(protocol, talked.goal, talked.answers, hear)
    if talk_flaw:
        return talk_flaw
    if [ask.text() for ask in second_talk.asks] != [ask.text() for ask in talked.asks]:
        return "The same answers were followed by other questions: something else than answers decides what is asked."
    return ""


def _list_answer_functions(crowd: _Crowd, seed: int) -> Iterator[tuple[str, AnswerFunction]]:
    """Yield deterministic ways to answer a conversation, each with its name."""
    yield "answered by a made-up crowd", crowd.hear

    def all_of(share: float) -> AnswerFunction:
        return lambda ask: Estimate(ask, _PEOPLE, np.full(ask.oracle.aggregate_size, int(share * _PEOPLE), np.int64))

    def draw_answer(ask: Ask) -> Estimate:
        generator = np.random.default_rng([seed, *ask.text().encode()])
        return Estimate(ask, _PEOPLE, generator.integers(0, _PEOPLE + 1, ask.oracle.aggregate_size, np.int64))

    yield "where no report speaks for anything", all_of(0)
    yield "where every report speaks for everything", all_of(1)
    yield "answered at random", draw_answer


class _Crowd:
    """A few hundred made-up people, twice: with an empty basket of the first person, and with a full one."""

    def __init__(self, items: int, seed: int) -> None:
        self._rows = crowd(items, _PEOPLE, seed)
        self._peoples = [
            SimulatedPeople(baskets=build_baskets(rows, items), seed=seed, speed="person")
            for rows in (self._rows, [self._rows[-1], *self._rows[1:]])
        ]
        self._seen: Counter[tuple[str, str, int]] = Counter()

    def hear(self, ask: Ask) -> Estimate:
        """Return the estimate of the first crowd; check that both crowds differ in the first person's report alone."""
        numbers, other_numbers = (crowd.numbers() for crowd in self._peoples)
        if not np.array_equal(numbers, other_numbers):
            raise Broken("The numbers that devices draw depend on their baskets: so does who is asked (X4).")
        kind = (ask.question.ask, ask.oracle.name, ask.question.values)
        self._seen[kind] += 1
        if self._seen[kind] > _MAX_ALIKE_ROUNDS:
            return self._peoples[0].hear(ask, numbers)
        places = np.flatnonzero((numbers >= ask.group.start) & (numbers < ask.group.stop))
        round_people = np.array(
            [0, *places[places > 0]], np.int64
        )  # the first person differs, and answers in every round of the audit
        column_sets = [self._reports(crowd, ask, round_people) for crowd in self._peoples]
        self._compare(ask, round_people, column_sets)
        return self._peoples[0].hear(ask, numbers)

    def _reports(self, crowd: SimulatedPeople, ask: Ask, people: NDArray[np.int64]) -> ReportColumns:
        offsets, values = ask.question.answers(crowd.baskets, people)
        answered = SimulatedAnswers(offsets=offsets, values=values, people=people)
        columns = ask.oracle.reports(answered, seed_of(crowd.seed, f"{ask.name}:{ask.group.start}"))
        for column in columns.values():
            if len(column) != len(people):
                raise Broken(
                    f"The round {ask.name!r} asks {len(people)} people and hears {len(column)}: silence tells that "
                    "somebody holds nothing (A7, X3)."
                )
        return columns

    def _compare(self, ask: Ask, people: NDArray[np.int64], column_sets: list[ReportColumns]) -> None:
        """Check that devices send the simulated reports, and that one basket changes no other person's report."""
        form, seed = ask.form, seed_of(self._peoples[0].seed, f"{ask.name}:{ask.group.start}")
        for row, person in enumerate(people[:_COMPARED_PEOPLE].tolist()):
            report, other_report = (ask.oracle.codec.make_report(columns, row) for columns in column_sets)
            if row and report != other_report:
                raise Broken(f"In the round {ask.name!r}, somebody's report depends on another person's basket.")
            person_holding: Holding = self._rows[person]
            device_report = reported(form, person_holding, ask.oracle.epsilon, Draws(SeededWords(seed, person).take))
            if device_report != report:
                device_text = f"In the round {ask.name!r}, a device that holds {person_holding.render(form)}"
                if not device_report:
                    raise Broken(f"{device_text} sends nothing: silence tells what it holds (A7, X3).")
                if "stops" in device_report:
                    raise Broken(f"{device_text} stops with {device_report['stops']}")
                raise Broken(f"{device_text} sends another report than the simulation says.")
