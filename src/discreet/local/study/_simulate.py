"""A simulation of a protocol over given baskets: its conversation, with reports from a seeded source.

It has two speeds. *Per person* makes the reports of devices and adds them up. *Aggregated* draws the sums of
reports: from their exact joint law for oracles that have one, else each count from its own exact law. The outcome then
says that it is marginal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import Baskets, Hierarchy, require_local_baskets, resolve_basket_cap, starts
from ...checks import parse_positive, parse_share
from ...errors import InputError, MisuseError
from ...exact import checked_how
from ...kernels import draw_tickets, in_threads, threads
from ...privacy import Budget
from ...registry import protocol as protocol_of
from ...wording import hint_keywords
from .. import Counts, MeanOracle, Oracle, Protocol, ReportColumns, SimulatedAnswers
from ..oracle_steps import Device, drawn_on_card, using
from ._conversation import Ask, Estimate, StudyGoal, converse
from ._device_baskets import draw_baskets, map_baskets, render_drawing_note
from ._outcome import Outcome, Round, attach_provenance, build_outcome
from ._screening import Screened, screen_reports
from ._seeded_words import seed_of

Speed: TypeAlias = Literal["person", "aggregated"]
Progress: TypeAlias = Callable[[float], object]

_BLOCK = 1 << 15  # people per block of reports: larger takes more memory, smaller more calls
# Chosen: a quarter of a GiB fits beside the baskets on every machine; half and double only move the change of speed.
_MAX_KEPT_BYTES = 1 << 28  # larger rounds are made again for each pass of screening: slower, and within this memory


@dataclass(frozen=True, kw_only=True)
class SimulatedPeople:
    """People with baskets that answer questions, each with a stream of random words of their own.

    Parameters
    ----------
    baskets
        The basket of each person.
    seed
        The seed of all streams.
    speed
        Whether reports are made (`person`), or their sums are drawn (`aggregated`).
    progress
        Called with the name of a round and the finished share of its people.
    screen
        Whether reports are screened.
    """

    baskets: Baskets
    seed: int
    speed: Speed
    progress: Callable[[str, float], object] | None = None
    screen: bool = False

    def numbers(self) -> NDArray[np.uint32]:
        """Return the number that each device draws once: it selects the rounds of the device."""
        tickets = np.empty(len(self.baskets), np.uint32)
        draw_tickets(np.uint64(seed_of(self.seed, "number")), tickets)
        return tickets

    def _block_size(self, oracle: Oracle | MeanOracle) -> int:
        """Return the number of people of a block."""
        if self.speed == "person" or not isinstance(oracle, Oracle) or oracle.adder.quick:
            return _BLOCK
        return max(
            _BLOCK, oracle.aggregate_size
        )  # to draw the sums of a block costs a step per sum, for any number of people

    def hear(self, ask: Ask, numbers: NDArray[np.uint32]) -> Estimate:
        """Return the estimate of a round, asked of the people with its numbers."""
        return self.hear_and_screen(ask, numbers)[0]

    def hear_and_screen(self, ask: Ask, numbers: NDArray[np.uint32]) -> tuple[Estimate, Screened | None]:
        """Return the estimate of a round and the result of screening, which is None if no report was made."""
        oracle = ask.oracle
        people = np.flatnonzero((numbers >= ask.group.start) & (numbers < ask.group.stop))
        seed = seed_of(self.seed, f"{ask.name}:{ask.group.start}")
        block_count = max(1, -(-len(people) // self._block_size(oracle)))
        edges = starts([len(block) for block in np.array_split(people, block_count)])

        def answer(block: int) -> SimulatedAnswers:
            persons = people[edges[block] : edges[block + 1]]
            offsets, values = ask.question.answers(self.baskets, persons)
            return SimulatedAnswers(offsets=offsets, values=values, people=persons)

        aggregates: deque[Counts] = deque()  # one per thread at most: each block adds to an aggregate that is free

        def add_block(block: int) -> None:
            generator = None if self.speed == "person" else np.random.default_rng([seed, block])
            try:
                aggregate = aggregates.pop()
            except IndexError:
                aggregate = oracle.adder.start()
            oracle.add_drawn(aggregate, answer(block), seed, generator)
            aggregates.append(aggregate)

        progress = None if self.progress is None else partial(self.progress, ask.name)
        blocks = range(block_count)
        if self.screen and self.speed == "person" and isinstance(oracle, Oracle):
            make_blocks = repeat_blocks(lambda block: oracle.reports(answer(block), seed), blocks, progress)
            screened = screen_reports(oracle, make_blocks)
            return Estimate(ask, screened.people, screened.supports), screened
        total: Counts | None = None
        if self.speed == "person" or getattr(oracle, "drawn_together", False):
            total = drawn_on_card(oracle, len(people), lambda: make_ahead(answer, blocks, progress), seed)
        if total is None:
            in_threads(add_block, blocks, progress)
            total = sum(aggregates, oracle.adder.start())
        return Estimate(ask, len(people), oracle.adder.decode(total)), None


def make_ahead(
    make: Callable[[int], SimulatedAnswers], blocks: range, progress: Progress | None
) -> Iterator[SimulatedAnswers]:
    """Yield the answers of each block; as many blocks as threads are made at a time."""
    for start in range(0, len(blocks), threads()):
        yield from in_threads(make, blocks[start : start + threads()])
        if progress is not None:
            progress(min(1.0, (start + threads()) / len(blocks)))


def repeat_blocks(
    make: Callable[[int], ReportColumns], blocks: range, progress: Progress | None = None
) -> Callable[[], Iterable[ReportColumns]]:
    """Return a function that returns the reports of a round, block by block, at each call.

    Small rounds are kept; large rounds are made again, equal because of the seed.
    """
    first_block = make(blocks[0])
    if sum(column.nbytes for column in first_block.values()) * len(blocks) > _MAX_KEPT_BYTES:
        return lambda: map(make, blocks)
    further_blocks = in_threads(make, blocks[1:], progress)
    if progress is not None:
        progress(1.0)
    return lambda: [first_block, *further_blocks]


@hint_keywords
def simulate(
    baskets: Any,
    protocol: str | Protocol = "adept",
    *,
    top: int,
    epsilon: Any,
    seed: int,
    least: int = 1,
    speed: Speed = "person",
    score: bool = False,
    screen: bool = True,
    assume_malicious: Any = 0,
    max_baskets: int | None = None,
    hierarchy: Any = None,
    level: Any = None,
    settings: Mapping[str, Any] | None = None,
    device: Device | None = None,
    progress: Callable[[str, float], object] | None = None,
    transcript: Callable[[Round], object] | None = None,
    **reading: Any,
) -> Outcome:
    """Run a local protocol over given data, as a study with these people would have gone.

    Privacy: none is needed or given to the data at hand; the outcome shows the knowledge of a collector without the
    data, at this epsilon. Each person sends one report.

    Parameters
    ----------
    baskets
        The data: `Baskets`, or a source for :func:`discreet.read`, with its options in `reading`. Read with
        ``basket=``, a person may have several baskets: each device answers for one basket, drawn at random.
    protocol
        The name of a protocol, or a protocol; ``"adept"`` finds the most at equal epsilon.
    top, least
        The number of patterns, and the smallest number of their items (1 or 2).
    epsilon
        The epsilon of one report.
    seed
        The seed of the simulation: equal seeds give equal outcomes.
    speed
        ``"person"``: every report is made. ``"aggregated"``: the sums of reports are drawn.
    score
        Whether to compare the outcome with the truth.
    screen
        Whether reports that honest devices hardly ever send are left out, as a collector would do. Only reports that
        are made can be screened: at the speed ``"aggregated"`` none is.
    assume_malicious
        The share of the reports of every round that may be made up, such as ``"1%"`` or 0.01: intervals then hold
        for any content of them. No report of the simulation itself is made up.
    max_baskets
        The largest weight of a person with several baskets, in people with one. A device with fewer baskets draws an
        empty basket for each missing one. 1 by default: all people have equal weight.
    hierarchy, level
        The items above each item, as for :func:`discreet.mine`: before it answers, each device adds the items above
        the items of its basket, or replaces its items by items of one level. See :doc:`/hierarchies`.
    settings
        Settings of the protocol by name.
    device
        ``"gpu"`` makes and adds up reports on a graphics card, ``"cpu"`` on the cores, and ``"auto"`` on the faster of
        both; the outcome is equal. The default is the variable ``DISCREET_DEVICE``.
    progress
        Called with the name of a round and its finished share.
    transcript
        Called with each round after its estimate.

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 6000 + [{"bread"}] * 3000
    >>> outcome = discreet.simulate(baskets, top=3, epsilon=4, seed=7)
    >>> print(outcome.guarantee)
    local differential privacy, replace one person, epsilon = 4
    """
    if not isinstance(baskets, Baskets):
        from ...baskets import read

        baskets = require_local_baskets(read(baskets, **reading), "simulate()")
    elif reading:
        raise MisuseError(
            f"simulate() takes no {next(iter(reading))!r} with Baskets: they are read already. Options of reading go "
            "with what is still to be read."
        )
    plan: Protocol = protocol_of(protocol, settings)
    read_hierarchy = None if hierarchy is None else Hierarchy.read(hierarchy)
    baskets = map_baskets(baskets, read_hierarchy, level, plan)
    malicious = parse_share("assume_malicious", assume_malicious)
    goal = StudyGoal(
        items=0 if plan.unlisted else baskets.items,  # the number of different texts is not public
        top=parse_positive("top", top),
        epsilon=Budget.of(epsilon).epsilon,
        least=_check_least(least),
        lineage=baskets.lineage,
    )
    if speed not in ("person", "aggregated"):
        raise MisuseError.format("{speed} is 'person' or 'aggregated'; {given!r} was given.", given=speed)
    if not baskets.items:
        raise InputError("Nobody holds anything and no items are listed: there is nothing to ask about.")
    plan.check(goal)
    if hasattr(plan, "how"):
        checked_how(plan.how, baskets)
    basket_cap = resolve_basket_cap(max_baskets, baskets) or 1
    if score and baskets.has_receipts and hasattr(plan, "how"):
        raise MisuseError.format(
            "Relations are not compared with the truth where devices answer for one of several baskets: leave "
            "{score} out."
        )
    device_baskets = draw_baskets(baskets, _check_seed(seed), basket_cap)
    people = SimulatedPeople(baskets=device_baskets, seed=seed, speed=speed, progress=progress, screen=screen)
    numbers, rounds = people.numbers(), list[Round]()

    def hear(ask: Ask) -> Estimate:
        estimate, screened = people.hear_and_screen(ask, numbers)
        rounds.append(Round.of(estimate, screened))
        if transcript is not None:
            transcript(rounds[-1])
        return estimate

    with using(device):
        result, estimates = converse(plan.ask_rounds(goal), hear, reports=plan.reports, people=len(device_baskets))
    question: dict[str, Any] = {"seed": seed, "speed": speed, "screen": screen and speed == "person"}
    if baskets.has_receipts:
        question["max_baskets"] = basket_cap
    if read_hierarchy is not None:
        question |= read_hierarchy.recorded(level)
    outcome = build_outcome(
        plan,
        goal,
        result,
        estimates,
        baskets.vocabulary,
        len(device_baskets),
        question=question,
        simulated=True,
        rounds=rounds,
        malicious=malicious,
        hierarchy=read_hierarchy,
    )
    notes = [render_drawing_note(basket_cap)] if baskets.has_receipts else []
    notes += outcome.notes
    oracles = [estimate.ask.oracle for estimate in estimates]
    names = sorted({oracle.name for oracle in oracles if not oracle.live})
    if names:
        notes.append(
            f"No device answers through {' or '.join(names)}, kept for comparison: with these settings the protocol "
            "is simulated only, and no study can run it."
        )
    scores: dict[str, float] = {}
    if score:
        from ._scores import score_outcome

        scores = score_outcome(baskets, plan, outcome, result, goal, basket_cap)
    marginal = speed == "aggregated" and not all(oracle.drawn_together for oracle in oracles)
    return attach_provenance(replace(outcome, notes=tuple(notes), marginal=marginal, scores=scores))


def _check_least(least: Any) -> int:
    if least not in (1, 2):
        raise MisuseError.format("{least} is 1, or 2 to leave single items out; {given!r} was given.", given=least)
    return int(least)


def _check_seed(seed: Any) -> int:
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise MisuseError.format("{seed} is a whole number from 0 on; {given!r} was given.", given=seed)
    return seed
