"""What a study does next, decided from what is stored: no clock, no network, no store, no random source.

`StudyCore` holds a study's conversation. It is shown the rounds as they are stored, and says which steps follow from
them; whoever called it carries them out, stores what came of it, and asks again. All steps may be carried out twice,
and by several servers at once: each is stored on the condition that it has not been already. After a restart the
conversation is taken up from the stored rounds, and has to ask the same, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from io import BytesIO
from math import ceil
from typing import Any, TypeAlias

import numpy as np

from ..errors import InputError, MisuseError
from ..local import MeanOracle, Oracle
from ..local.device import WORD
from ..local.oracle_steps import ReportColumns, Words, words_on_card
from ..local.study import (
    Ask,
    Conversation,
    Estimate,
    Outcome,
    Round,
    RoundReader,
    Sums,
    attach_provenance,
    build_outcome,
    screen_round,
    sum_reports,
)
from ._states import RoundState
from ._study_file import StudyPlan

_BLOCK = 1 << 15  # reports that are added up at a time
_HOUR = 3600
_DEVIATIONS = 1.96  # on either side of an interval that holds in 95 of 100 cases, as those of outcomes


@dataclass(frozen=True, kw_only=True)
class StoredRound:
    """A round as it is stored.

    Parameters
    ----------
    number, state
        Its number, from 0, and where it is.
    ask
        What the protocol asks for, as `Ask.text` writes it.
    question, signature
        The signed question, once it is open.
    closes
        When it closes, in seconds of the system's clock, or None.
    people
        How many reports were taken.
    heard
        What they add up to, as `AddedUp.text` writes it, once it is released.
    """

    number: int
    state: RoundState
    ask: str
    question: str | None = None
    signature: str | None = None
    closes: int | None = None
    people: int = 0
    heard: str | None = None


@dataclass(frozen=True, kw_only=True)
class DraftRound:
    """Store a round that the protocol asks for."""

    number: int
    ask: Ask


@dataclass(frozen=True, kw_only=True)
class OpenRound:
    """Sign and publish the question of a round."""

    number: int
    ask: Ask
    closes: int | None


@dataclass(frozen=True, kw_only=True)
class CloseRound:
    """Take no more reports to a round."""

    number: int


@dataclass(frozen=True, kw_only=True)
class AddUp:
    """Add up the reports of a round that is closed, and release it."""

    number: int
    ask: Ask


@dataclass(frozen=True, kw_only=True)
class ScrubRound:
    """Delete the reports of a round that is released."""

    number: int


@dataclass(frozen=True, kw_only=True)
class Conclude:
    """Store what the study ends with."""

    result: str


Step: TypeAlias = DraftRound | OpenRound | CloseRound | AddUp | ScrubRound | Conclude


class StudyCore:
    """One study: its plan, and its conversation as far as it has come."""

    def __init__(self, plan: StudyPlan) -> None:
        self.plan = plan
        self.conversation = Conversation(plan.led.talk(plan.wanted), reports=plan.led.reports, people=plan.people)
        self.asks: list[Ask] = []
        self._heard: dict[int, AddedUp] = {}
        self._stored: list[str] = []
        self._ask_on()

    def steps(self, rounds: Sequence[StoredRound], now: float, *, concluded: bool) -> list[Step]:
        """Return what follows from the rounds that are stored; nothing, where people are waited for.

        Parameters
        ----------
        rounds
            All rounds of the study that are stored, in the order of their numbers.
        now
            The time, in seconds of the system's clock.
        concluded
            Whether the study's result is stored.
        """
        self._take_up(rounds)
        known = {one.number: one for one in rounds}
        steps: list[Step] = [
            DraftRound(number=number, ask=ask) for number, ask in enumerate(self.asks) if number not in known
        ]
        for one in rounds:
            step = self._next(one, now)
            if step is not None:
                steps.append(step)
        if self.conversation.learnt is not None and not concluded:
            steps.append(Conclude(result=self.result()))
        return steps

    def _next(self, one: StoredRound, now: float) -> Step | None:
        ask = self.asks[one.number]
        if one.state is RoundState.DRAFTED:
            hours = self.plan.hours
            closes = None if self.plan.close != "deadline" or hours is None else ceil(now + hours * _HOUR)
            return OpenRound(number=one.number, ask=ask, closes=closes)
        if one.state is RoundState.OPEN:
            full = (quota := self.quota(one.number)) is not None and one.people >= quota
            late = one.closes is not None and now >= one.closes and one.people >= self.minimum(one.number)
            return CloseRound(number=one.number) if full or late else None
        if one.state is RoundState.CLOSED:
            return AddUp(number=one.number, ask=ask)
        if one.state is RoundState.RELEASED and self.plan.scrub == "release":
            return ScrubRound(number=one.number)
        return None

    def quota(self, number: int) -> int | None:
        """Return at how many reports a round closes, where it closes by a quota."""
        who = self.asks[number].who
        return quota_of(self.plan, who.start, who.stop)

    def minimum(self, number: int) -> int:
        """Return the number of reports with fewer of which a round closes by an operator's explicit word only."""
        return minimum_of(self.plan, self.asks[number])

    def _take_up(self, rounds: Sequence[StoredRound]) -> None:
        """Hear what was released; every round has to be the one that the protocol asks for."""
        rounds = sorted(rounds, key=lambda one: one.number)
        self._stored = [one.ask for one in rounds]
        self._ask_on()
        for one in rounds:
            if one.number >= len(self.asks) or self.asks[one.number].text() != one.ask:
                raise InputError(
                    f"Round {one.number + 1} of the study {self.plan.name!r} is not what its protocol asks for after "
                    "the answers that are stored: go on with the settings and the version of discreet that it was "
                    "begun with."
                )
            if one.heard is not None and one.number not in self._heard:
                added = AddedUp.stored(self.asks[one.number], one.heard)
                self.conversation.hear(added.estimate)
                self._heard[one.number] = added
                self._ask_on()

    def _ask_on(self) -> None:
        """Give the rounds that are asked for now their numbers, in the order in which they are.

        Where they are stored already, by this service before it was started anew or by another one, they are asked as
        they stand there, with the directions that were computed then.
        """
        settled = self.conversation.past_round_count
        self.conversation.restore_rounds(self._stored[settled:])
        asked = self.conversation.rounds
        for ask in asked:
            if ask.oracle.epsilon > Fraction(self.plan.epsilon) or ask.oracle.delta > Fraction(self.plan.delta):
                raise MisuseError(
                    f"The round {ask.name!r} asks for epsilon {ask.oracle.epsilon} and delta {ask.oracle.delta}, and "
                    f"the study promises {self.plan.epsilon} and {self.plan.delta}: raise delta, or use other settings."
                )
            if not ask.oracle.live:
                raise MisuseError(f"No device answers through {ask.oracle.name}: use other settings.")
        self.asks[settled:] = asked

    def outcome(self, malicious: Fraction = Fraction(0)) -> Outcome:
        """Return what the study ends with; counts are out of those who took part.

        With `malicious`, intervals hold whatever is in that part of each round's reports.
        """
        plan, learnt, heard = self.plan, self.conversation.learnt, self.conversation.estimates
        if learnt is None:
            raise MisuseError(f"The study {plan.name!r} has not ended: some of its rounds are not released.")
        people = sum(one.people for one in heard)
        added = {one.estimate.ask.text(): one for one in self._heard.values()}
        lines = [
            replace(Round.of(one), left_out=mine.left_out, alarms=mine.alarms)
            for one in heard
            if (mine := added[one.ask.text()])
        ]
        made = build_outcome(
            plan.led,
            plan.wanted,
            learnt,
            heard,
            plan.vocabulary,
            people,
            asked={"study": plan.name} | ({} if plan.hierarchy is None else plan.hierarchy.recorded(plan.level)),
            simulated=plan.simulated,
            rounds=lines,
            malicious=malicious,
            hierarchy=plan.hierarchy,
        )
        return attach_provenance(made)

    def result(self) -> str:
        """Return the result as the text that is stored and handed out: JSON, as `discreet` reads it back."""
        return as_text(self.outcome())


def as_text(outcome: Outcome) -> str:
    """Return an outcome as JSON."""
    from ..results import write

    text = BytesIO()
    write(outcome.found, text, "json")
    return text.getvalue().decode()


def quota_of(plan: StudyPlan, start: int, stop: int) -> int | None:
    """Return at how many reports a round to these devices closes, where the study's rounds close by a quota."""
    if plan.close != "quota" or plan.people is None:
        return None
    return max(1, ceil(plan.people * Fraction(stop - start, WORD)))


def minimum_of(plan: StudyPlan, ask: Ask) -> int:
    """Return the minimum of reports of a round: the study's, or the one that is predicted; its quota, if that is less.

    Where the study says none, it is the fewest reports with which an interval is shorter than the whole range. With
    fewer, an estimate in the middle of the range comes with an interval that holds everything, and says nothing:

        1.96 * sqrt(variance / reports) < range / 2, so reports > (2 * 1.96 / range)**2 * variance
    """
    minimum = plan.minimum
    if minimum is None:
        # A share is from 0 to 1, a mean from -1 to 1.
        middle, width = (0.5, 1.0) if isinstance(ask.oracle, Oracle) else (0.0, 2.0)
        (variance,) = ask.oracle.spread(np.array([middle]), 1).tolist()
        minimum = ceil((2 * _DEVIATIONS / width) ** 2 * variance)
    quota = quota_of(plan, ask.who.start, ask.who.stop)
    return minimum if quota is None else min(minimum, quota)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddedUp:
    """What a round's reports add up to: the estimate, how many screening left out, and what it saw.

    `refused` are those that turned out to be none as they were read: from files, as a service refuses them before.
    """

    estimate: Estimate
    left_out: int = 0
    alarms: tuple[str, ...] = ()
    refused: int = 0

    def text(self) -> str:
        """Return it as text, to be stored."""
        told = {
            "people": self.estimate.people,
            "supports": self.estimate.supports.tolist(),
            "left_out": self.left_out,
            "alarms": list(self.alarms),
        }
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def stored(cls, ask: Ask, text: str) -> AddedUp:
        """Return what a text was made of."""
        told: dict[str, Any] = json.loads(text)
        supports = np.asarray(told["supports"], np.int64)
        if supports.shape != (ask.oracle.aggregate_size,):
            raise InputError(f"What is stored of the round {ask.name!r} is not what such a round adds up to.")
        estimate = Estimate(ask, int(told["people"]), supports)
        return cls(estimate=estimate, left_out=int(told["left_out"]), alarms=tuple(told["alarms"]))


def add_up(ask: Ask, blocks: Callable[[], Iterable[Words]], *, screen: bool = True) -> AddedUp:
    """Return what packed reports add up to; memory stays flat, however many there are.

    Parameters
    ----------
    ask
        The round that was answered.
    blocks
        Gives the reports, a few at a time; screening goes through them more than once.
    screen
        Whether reports that no honest device is likely to have sent are left out.
    """

    def over(part: Callable[[Iterable[ReportColumns]], Sums]) -> Sums:
        found = summed_on_card(part, ask.oracle, blocks)
        return found[0] if found else part(ask.oracle.codec.unpack(words) for words in together_in(blocks()))

    return added_over(ask, over, screen=screen)


def added_over(ask: Ask, over: RoundReader, *, screen: bool = True) -> AddedUp:
    """Return what reports add up to that `over` goes through, wherever they lie."""
    oracle = ask.oracle
    if screen and isinstance(oracle, Oracle):
        seen = screen_round(oracle, over)
        return AddedUp(
            estimate=Estimate(ask, seen.people, seen.supports),
            left_out=seen.left_out,
            alarms=tuple(map(str, seen.alarms)),
        )
    people, aggregate = over(partial(added, oracle=oracle))
    return AddedUp(estimate=Estimate(ask, int(people[0]), oracle.adder.decode(aggregate)))


def added(blocks: Iterable[ReportColumns], oracle: Oracle | MeanOracle) -> Sums:
    """Return how many reports there are, and what they add up to."""
    people, aggregate = np.zeros(1, np.int64), oracle.adder.start()
    for columns in blocks:
        people += len(next(iter(columns.values())))
        oracle.adder.add(aggregate, columns)
    return people, aggregate


def summed_on_card(
    part: Callable[[Iterable[ReportColumns]], Sums],
    oracle: Oracle | MeanOracle,
    words: Callable[[], Iterable[Words]],
    many: int | None = None,
) -> tuple[Sums, int] | None:
    """Return what `added` or `counted` gives of packed reports, and how many are none; None where a card does not."""
    walk = getattr(part, "func", None)
    found = words_on_card(oracle, words, many) if walk in (added, sum_reports) else None
    if found is None:
        return None
    sums: Sums = (np.array([found.people], np.int64), found.aggregate)
    return (sums if walk is added else (*sums, found.cells)), found.refused


def together_in(blocks: Iterable[Words]) -> Iterable[Words]:
    """Yield blocks put together, as many as are added up at a time."""
    waiting: list[Words] = []
    many = 0
    for words in blocks:
        waiting.append(words)
        many += len(words)
        if many >= _BLOCK:
            yield np.concatenate(waiting)
            waiting, many = [], 0
    if waiting:
        yield np.concatenate(waiting)
