"""The next steps of a study, decided from its stored rounds: without clock, network, store or random source.

`StudyCore` holds the conversation of a study. It reads the stored rounds and returns the steps that follow from them;
its caller carries the steps out, stores their results, and asks again. A step may be carried out twice, also by several
servers at once: each is stored on the condition that it has not been before. After a restart the conversation resumes
from the stored rounds, and must ask identical questions, byte for byte.
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
from ._states import RoundEvent, RoundState
from ._study_file import StudyPlan

# Reports that are added up at a time. Larger: more memory; smaller: more calls of the compiled loops.
_REPORTS_PER_BLOCK = 1 << 15
_SECONDS_PER_HOUR = 3600
_NORMAL_QUANTILE = 1.96  # of a two-sided interval of 95 %, as in the outcomes of `local.study`


@dataclass(frozen=True, kw_only=True)
class StoredRound:
    """The stored record of a round.

    Parameters
    ----------
    number, state
        The number of the round, from 0, and its state.
    ask
        The round as the protocol asks it: the text of `Ask.text`.
    question, signature
        The signed question, from the state `open` on.
    closes
        The deadline in seconds of the store's clock, or None.
    people
        The number of reports that were taken.
    heard
        The sums of the reports: the text of `RoundTotals.text`, from the state `released` on.
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
    """The step that stores a round of the protocol."""

    number: int
    ask: Ask


@dataclass(frozen=True, kw_only=True)
class MoveRound:
    """The step that moves a stored round by an event.

    To open a round is to sign and publish its question; to release it is to add up its reports and store their sums.
    `closes` is the deadline of a round that is opened, in seconds of the store's clock, or None.
    """

    number: int
    ask: Ask
    event: RoundEvent
    closes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Conclude:
    """The step that stores the result of a study, as JSON."""

    result: str


Step: TypeAlias = DraftRound | MoveRound | Conclude


class StudyCore:
    """One study: its plan, and its conversation up to the last released round."""

    def __init__(self, plan: StudyPlan) -> None:
        self.plan = plan
        self.conversation = Conversation(
            plan.protocol_instance.ask_rounds(plan.goal), reports=plan.protocol_instance.reports, people=plan.people
        )
        self.asks: list[Ask] = []
        self._sums: dict[int, RoundTotals] = {}
        self._stored_asks: list[str] = []
        self._number_asks()

    def steps(self, rounds: Sequence[StoredRound], now: float, *, concluded: bool) -> list[Step]:
        """Return the steps that follow from the stored rounds; none while the study waits for reports.

        Parameters
        ----------
        rounds
            All stored rounds of the study, in the order of their numbers.
        now
            The time in seconds of the store's clock.
        concluded
            Whether the result of the study is stored.
        """
        self.resume(rounds)
        # Drafts first: a stored draft settles the form of a round before any service signs its question.
        steps: list[Step] = [
            DraftRound(number=number, ask=self.asks[number])
            for number in sorted(set(range(len(self.asks))) - {stored.number for stored in rounds})
        ]
        steps += [move for stored in rounds if (move := self._next_move(stored, now)) is not None]
        if self.conversation.result is not None and not concluded:
            steps.append(Conclude(result=render_outcome(self.outcome())))
        return steps

    def _next_move(self, stored: StoredRound, now: float) -> MoveRound | None:
        closes, event = None, None
        if stored.state is RoundState.DRAFTED:
            event, hours = RoundEvent.OPEN, self.plan.hours
            # Rounded up to whole seconds, so that no device loses part of the promised time.
            if self.plan.close == "deadline" and hours is not None:
                closes = ceil(now + hours * _SECONDS_PER_HOUR)
        elif stored.state is RoundState.OPEN:
            is_full = (quota := self.quota(stored.number)) is not None and stored.people >= quota
            is_late = stored.closes is not None and now >= stored.closes
            # After a deadline with too few reports, an operator decides: a result from them would say nothing.
            if is_full or (is_late and stored.people >= self.minimum(stored.number)):
                event = RoundEvent.CLOSE
        elif stored.state is RoundState.CLOSED:
            event = RoundEvent.RELEASE
        elif stored.state is RoundState.RELEASED and self.plan.scrub == "release":
            event = RoundEvent.SCRUB
        if event is None:
            return None
        return MoveRound(number=stored.number, ask=self.asks[stored.number], event=event, closes=closes)

    def quota(self, number: int) -> int | None:
        """Return the number of reports that closes a round, or None where rounds do not close by a quota."""
        devices = self.asks[number].group
        return round_quota(self.plan, devices.start, devices.stop)

    def minimum(self, number: int) -> int:
        """Return the number of reports below which a round closes only if an operator insists."""
        return round_minimum(self.plan, self.asks[number])

    def resume(self, rounds: Sequence[StoredRound]) -> None:
        """Pass the released sums to the conversation, and check that the protocol asks every stored round."""
        rounds = sorted(rounds, key=lambda stored: stored.number)
        self._stored_asks = [stored.ask for stored in rounds]
        self._number_asks()
        for stored in rounds:
            # Reports to a different question would be decoded into wrong counts, so the study stops instead.
            if stored.number >= len(self.asks) or self.asks[stored.number].text() != stored.ask:
                raise InputError(
                    f"Round {stored.number + 1} of the study {self.plan.name!r} is not what its protocol asks for "
                    "after the answers that are stored: go on with the settings and the version of discreet that it "
                    "was begun with."
                )
            # Each released round is passed on once: the conversation keeps its estimate.
            if stored.heard is not None and stored.number not in self._sums:
                sums = RoundTotals.parse(self.asks[stored.number], stored.heard)
                self.conversation.hear(sums.estimate)
                self._sums[stored.number] = sums
                self._number_asks()

    def _number_asks(self) -> None:
        """Assign numbers to the rounds of the conversation, in their order.

        A round that is stored already, by this service before a restart or by a second service, keeps its stored
        form: its directions were computed on a machine that may round differently.
        """
        settled = self.conversation.past_round_count
        self.conversation.restore_rounds(self._stored_asks[settled:])
        asks = self.conversation.rounds
        for ask in asks:
            # The signed promise bounds every later question, also if a protocol asks beyond its own settings.
            if ask.oracle.epsilon > Fraction(self.plan.epsilon) or ask.oracle.delta > Fraction(self.plan.delta):
                raise MisuseError(
                    f"The round {ask.name!r} asks for epsilon {ask.oracle.epsilon} and delta {ask.oracle.delta}, and "
                    f"the study promises {self.plan.epsilon} and {self.plan.delta}: raise delta, or use other settings."
                )
            if not ask.oracle.live:
                raise MisuseError(f"No device answers through {ask.oracle.name}: use other settings.")
        self.asks[settled:] = asks

    def outcome(self, malicious: Fraction = Fraction(0)) -> Outcome:
        """Return the outcome of a study that has ended; counts are out of the people with a report.

        With `malicious`, a share from 0 to 1, intervals allow for any content of this share of each round's reports.
        """
        plan, knowledge, estimates = self.plan, self.conversation.result, self.conversation.estimates
        if knowledge is None:
            raise MisuseError(f"The study {plan.name!r} has not ended: some of its rounds are not released.")
        # The conversation orders estimates by its own steps, so rounds are matched by their text.
        sums_by_ask = {sums.estimate.ask.text(): sums for sums in self._sums.values()}
        rounds = []
        for estimate in estimates:
            sums = sums_by_ask[estimate.ask.text()]
            rounds.append(replace(Round.of(estimate), left_out=sums.left_out, alarms=sums.alarms))
        outcome = build_outcome(
            plan.protocol_instance,
            plan.goal,
            knowledge,
            estimates,
            plan.vocabulary,
            sum(estimate.people for estimate in estimates),
            question={"study": plan.name} | ({} if plan.hierarchy is None else plan.hierarchy.recorded(plan.level)),
            simulated=plan.simulated,
            rounds=rounds,
            malicious=malicious,
            hierarchy=plan.hierarchy,
        )
        return attach_provenance(outcome)


def render_outcome(outcome: Outcome) -> str:
    """Return an outcome as JSON, in the format of saved results."""
    from ..results import write

    stream = BytesIO()
    write(outcome.found, stream, "json")
    return stream.getvalue().decode()


def round_quota(plan: StudyPlan, start: int, stop: int) -> int | None:
    """Return the number of reports that closes a round to the devices from `start` to `stop` (of 2**32), or None."""
    if plan.close != "quota" or plan.people is None:
        return None
    return max(1, ceil(plan.people * Fraction(stop - start, WORD)))


def round_minimum(plan: StudyPlan, ask: Ask) -> int:
    """Return the minimum number of reports of a round: of the plan or predicted, and at most the quota of the round.

    The predicted minimum is the smallest number of reports with an interval shorter than the whole range. With fewer
    reports, an estimate in the middle of the range has an interval that covers the range, and says nothing:

        1.96 * sqrt(variance / reports) < range / 2, so reports > (2 * 1.96 / range)**2 * variance
    """
    minimum = plan.minimum
    if minimum is None:
        # A share is from 0 to 1, a mean from -1 to 1.
        middle, value_range = (0.5, 1.0) if isinstance(ask.oracle, Oracle) else (0.0, 2.0)
        (variance,) = ask.oracle.spread(np.array([middle]), 1).tolist()
        minimum = ceil((2 * _NORMAL_QUANTILE / value_range) ** 2 * variance)
    # An operator who asks for fewer people has accepted wide intervals.
    quota = round_quota(plan, ask.group.start, ask.group.stop)
    return minimum if quota is None else min(minimum, quota)


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundTotals:
    """The sums of a round's reports.

    Parameters
    ----------
    estimate
        The number of reports that count, and the support of each value.
    left_out
        The number of reports that screening left out.
    alarms
        The alarms of screening, as sentences.
    refused
        The number of rows in files that are no reports of the round; a service refuses them earlier, and has 0.
    """

    estimate: Estimate
    left_out: int = 0
    alarms: tuple[str, ...] = ()
    refused: int = 0

    def text(self) -> str:
        """Return the sums as JSON, in the form of the store."""
        fields = {
            "people": self.estimate.people,
            "supports": self.estimate.supports.tolist(),
            "left_out": self.left_out,
            "alarms": list(self.alarms),
        }
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def parse(cls, ask: Ask, text: str) -> RoundTotals:
        """Return the sums of a round from their text."""
        fields: dict[str, Any] = json.loads(text)
        supports = np.asarray(fields["supports"], np.int64)
        # A store that was edited by hand, or filled by a different version, must not shift counts between values.
        if supports.shape != (ask.oracle.aggregate_size,):
            raise InputError(f"What is stored of the round {ask.name!r} is not what such a round adds up to.")
        estimate = Estimate(ask, int(fields["people"]), supports)
        return cls(estimate=estimate, left_out=int(fields["left_out"]), alarms=tuple(fields["alarms"]))


def add_up(ask: Ask, blocks: Callable[[], Iterable[Words]], *, screen: bool = True) -> RoundTotals:
    """Return the sums of packed reports; the memory in use does not grow with their number.

    Parameters
    ----------
    ask
        The round that the reports answer.
    blocks
        A function that returns an iterator over blocks of reports; screening calls it more than once.
    screen
        Whether to leave out reports that an honest device is unlikely to send.
    """

    def sum_over(summing: Callable[[Iterable[ReportColumns]], Sums]) -> Sums:
        # A card sums the packed words; the compiled loops of the processor need them unpacked into columns.
        card_sums = sum_on_card(summing, ask.oracle, blocks)
        return card_sums[0] if card_sums else summing(ask.oracle.codec.unpack(words) for words in join_blocks(blocks()))

    return add_up_over(ask, sum_over, screen=screen)


def add_up_over(ask: Ask, sum_over: RoundReader, *, screen: bool = True) -> RoundTotals:
    """Return the sums of reports, wherever they are stored.

    Parameters
    ----------
    ask, screen
        As for `add_up`.
    sum_over
        A function that applies a summing function to all reports, in one part or in several, and adds the parts.
    """
    oracle = ask.oracle
    # Screening compares the supports of values; a mean has none.
    if screen and isinstance(oracle, Oracle):
        screened = screen_round(oracle, sum_over)
        return RoundTotals(
            estimate=Estimate(ask, screened.people, screened.supports),
            left_out=screened.left_out,
            alarms=tuple(map(str, screened.alarms)),
        )
    people, aggregate = sum_over(partial(sum_blocks, oracle=oracle))
    return RoundTotals(estimate=Estimate(ask, int(people[0]), oracle.adder.decode(aggregate)))


def sum_blocks(blocks: Iterable[ReportColumns], oracle: Oracle | MeanOracle) -> Sums:
    """Return the number of reports, as an array of one number, and their aggregate."""
    people, aggregate = np.zeros(1, np.int64), oracle.adder.start()
    for columns in blocks:
        people += len(next(iter(columns.values())))
        oracle.adder.add(aggregate, columns)
    return people, aggregate


def sum_on_card(
    summing: Callable[[Iterable[ReportColumns]], Sums],
    oracle: Oracle | MeanOracle,
    blocks: Callable[[], Iterable[Words]],
    report_count: int | None = None,
) -> tuple[Sums, int] | None:
    """Return the sums of packed reports and the number of refused ones, from a graphics card; None without a card.

    A card computes the sums of `sum_blocks` and `local.study.sum_reports` alone. `report_count` is the expected
    number of reports, or None: a card does not pay for small rounds.
    """
    function = getattr(summing, "func", None)
    card = words_on_card(oracle, blocks, report_count) if function in (sum_blocks, sum_reports) else None
    if card is None:
        return None
    sums: Sums = (np.array([card.people], np.int64), card.aggregate)
    return (sums if function is sum_blocks else (*sums, card.cells)), card.refused


def join_blocks(blocks: Iterable[Words]) -> Iterable[Words]:
    """Yield blocks of reports joined to the size that is added up at a time."""
    waiting: list[Words] = []
    report_count = 0
    for words in blocks:
        waiting.append(words)
        report_count += len(words)
        if report_count >= _REPORTS_PER_BLOCK:
            yield np.concatenate(waiting)
            waiting, report_count = [], 0
    if waiting:
        yield np.concatenate(waiting)
