"""Driving a protocol over known baskets: the conversation as it would be, with reports from a seeded source.

There are two speeds. *Per person* makes the very reports devices would send and adds them up. *Aggregated* draws what
those reports would add up to: from their exact joint law where there is one, otherwise each count from its own exact
law, and then the outcome says it is marginal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import Baskets, Hierarchy, checked_cap, on_this_machine, starts
from ...checks import parse_positive, parse_share
from ...errors import InputError, MisuseError
from ...exact import checked_how
from ...kernels import draw_tickets, in_threads, threads
from ...privacy import Budget
from ...registry import protocol as protocol_of
from ...wording import hint_keywords
from .. import Answered, Counts, Oracle, Protocol, ReportColumns
from ..oracle_steps import Device, drawn_on_card, using
from ._conversation import Ask, Estimate, Learnt, Wanted, converse
from ._levels import on_levels
from ._one_basket import drawn, said, true_patterns
from ._outcome import Outcome, Round, concluded, told_with
from ._screening import Screened, screened
from ._seeded_words import seed_of

Speed: TypeAlias = Literal["person", "aggregated"]

_BLOCK = 1 << 15  # people whose reports are made at a time
_KEPT = 1 << 28  # bytes of reports that are kept while a round is screened


@dataclass(frozen=True, kw_only=True)
class SimulatedPeople:
    """People who hold baskets and answer questions, each from a stream of words of their own."""

    baskets: Baskets
    seed: int
    speed: Speed
    progress: Callable[[str, float], object] | None = None
    screen: bool = False

    def numbers(self) -> NDArray[np.uint32]:
        """Return the number that each device draws once: the rounds go by it."""
        drawn = np.empty(len(self.baskets), np.uint32)
        draw_tickets(np.uint64(seed_of(self.seed, "number")), drawn)
        return drawn

    def _at_once(self, ask: Ask) -> int:
        """Return how many people make a block; where sums are drawn, as many as there are sums."""
        oracle = ask.oracle
        made = self.speed == "person" or not isinstance(oracle, Oracle) or oracle.adder.quick
        return _BLOCK if made else max(_BLOCK, oracle.aggregate_size)

    def hear(self, ask: Ask, numbers: NDArray[np.uint32]) -> Estimate:
        """Put a question to those whose number it names."""
        return self.heard(ask, numbers)[0]

    def heard(self, ask: Ask, numbers: NDArray[np.uint32]) -> tuple[Estimate, Screened | None]:
        """Put a question to those whose number it names; with what screening said, where reports were made."""
        asked = np.flatnonzero((numbers >= ask.who.start) & (numbers < ask.who.stop))
        seed = seed_of(self.seed, f"{ask.name}:{ask.who.start}")
        edges = starts([len(part) for part in np.array_split(asked, max(1, -(-len(asked) // self._at_once(ask))))])

        def answered(block: int) -> Answered:
            people = asked[edges[block] : edges[block + 1]]
            offsets, held = ask.question.answers(self.baskets, people)
            return Answered(offsets=offsets, held=held, people=people)

        parts: deque[Counts] = deque()  # aggregates of parts of the round, one for each thread, and added up at the end

        def count(block: int) -> None:
            generator = None if self.speed == "person" else np.random.default_rng([seed, block])
            try:
                aggregate = parts.pop()
            except IndexError:
                aggregate = ask.oracle.adder.start()
            ask.oracle.add_drawn(aggregate, answered(block), seed, generator)
            parts.append(aggregate)

        progress = None if self.progress is None else lambda done: self.progress(ask.name, done)  # type: ignore[misc]
        blocks = range(len(edges) - 1)
        if self.screen and self.speed == "person" and isinstance(ask.oracle, Oracle):
            oracle = ask.oracle
            seen = screened(oracle, made_again(lambda block: oracle.reports(answered(block), seed), blocks, progress))
            return Estimate(ask, seen.people, seen.supports), seen
        total: Counts | None = None
        if self.speed == "person" or getattr(ask.oracle, "drawn_together", False):
            total = drawn_on_card(ask.oracle, len(asked), lambda: made_ahead(answered, blocks, progress), seed)
        if total is None:
            in_threads(count, blocks, progress)
            total = sum(parts, ask.oracle.adder.start())
        return Estimate(ask, len(asked), ask.oracle.adder.decode(total)), None


def made_ahead(
    make: Callable[[int], Answered], blocks: range, progress: Callable[[float], object] | None
) -> Iterator[Answered]:
    """Yield what people answer block by block; as many blocks are made at a time as there are threads."""
    for at in range(0, len(blocks), threads()):
        yield from in_threads(make, blocks[at : at + threads()])
        if progress is not None:
            progress(min(1.0, (at + threads()) / len(blocks)))


def made_again(
    make: Callable[[int], ReportColumns], blocks: range, progress: Callable[[float], object] | None = None
) -> Callable[[], Iterable[ReportColumns]]:
    """Return what gives the reports of a round block by block, as often as it is called.

    They are kept where they are small, and otherwise made again: the same seed makes the same.
    """
    first = make(blocks[0])
    if sum(column.nbytes for column in first.values()) * len(blocks) > _KEPT:
        return lambda: map(make, blocks)
    rest = in_threads(make, blocks[1:], progress)
    if progress is not None:
        progress(1.0)
    return lambda: [first, *rest]


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
    """Run a local protocol over data that are known, as a study with these people would have gone.

    Privacy: none is needed or given to the data at hand; the outcome shows what a collector who never sees them learns
    at this epsilon. Everyone sends one report.

    Parameters
    ----------
    baskets
        The data: `Baskets`, or anything that :func:`discreet.read` reads, with its options in `reading`. Read with
        ``basket=``, a person may have several baskets: each device answers for one of them, drawn at random.
    protocol
        The name of a protocol, or a protocol; ``"adept"`` finds the most at the same epsilon.
    top, least
        How many patterns, and of how many items at least (1 or 2).
    epsilon
        What one report may give away.
    seed
        The same seed gives the same outcome.
    speed
        ``"person"``: every report is made. ``"aggregated"``: what they add up to is drawn.
    score
        Whether to compare with the truth.
    screen
        Whether reports that no honest device is likely to have sent are left out, as a collector would do. Only reports
        that are made can be: at the speed ``"aggregated"`` nothing is screened.
    assume_malicious
        Which part of the reports of every round may be made up, such as ``"1%"`` or 0.01: intervals then hold whatever
        is in those. Nobody lies in the simulation itself.
    max_baskets
        Where a person may have several baskets: up to how many of them a person counts for more than who has one. A
        device with fewer than so many draws an empty basket for those that are missing. 1, unless you say otherwise:
        everybody counts the same.
    hierarchy, level
        Which items stand above which, as for :func:`discreet.mine`: each device adds what stands above the items of
        its basket, or puts what they are on one level in their place, before it answers. See :doc:`/hierarchies`.
    settings
        Settings of the protocol by name.
    device
        ``"gpu"`` makes and adds up reports on a graphics card, ``"cpu"`` on the cores, and ``"auto"`` where that is
        quicker; the outcome is the same. By default what the variable ``DISCREET_DEVICE`` says.
    progress
        Told the name of the round and the share of it that is done.
    transcript
        Told each round when it has been heard.

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

        baskets = on_this_machine(read(baskets, **reading), "simulate()")
    elif reading:
        raise MisuseError(
            f"simulate() takes no {next(iter(reading))!r} with Baskets: they are read already. Options of reading go "
            "with what is still to be read."
        )
    plan: Protocol = protocol_of(protocol, settings)
    known = None if hierarchy is None else Hierarchy.read(hierarchy)
    baskets = on_levels(baskets, known, level, plan)
    malicious = parse_share("assume_malicious", assume_malicious)
    listed = 0 if plan.unlisted else baskets.items  # how many different texts there are is nobody's to know
    wanted = Wanted(
        items=listed,
        top=parse_positive("top", top),
        epsilon=_epsilon(epsilon),
        least=_least(least),
        lineage=baskets.lineage,
    )
    if speed not in ("person", "aggregated"):
        raise MisuseError.format("{speed} is 'person' or 'aggregated'; {given!r} was given.", given=speed)
    if not baskets.items:
        raise InputError("Nobody holds anything and no items are listed: there is nothing to ask about.")
    plan.check(wanted)
    if hasattr(plan, "how"):
        checked_how(plan.how, baskets)
    most = checked_cap(max_baskets, baskets) or 1
    if score and baskets.several and hasattr(plan, "how"):
        raise MisuseError.format(
            "Relations are not compared with the truth where devices answer for one of several baskets: leave "
            "{score} out."
        )
    held = drawn(baskets, _seed(seed), most)
    crowd = SimulatedPeople(baskets=held, seed=_seed(seed), speed=speed, progress=progress, screen=screen)
    numbers, rounds = crowd.numbers(), list[Round]()

    def hear(ask: Ask) -> Estimate:
        one, seen = crowd.heard(ask, numbers)
        rounds.append(Round.of(one, seen))
        if transcript is not None:
            transcript(rounds[-1])
        return one

    with using(device):
        learnt, heard = converse(plan.talk(wanted), hear, reports=plan.reports, people=len(held))
    outcome = concluded(
        plan,
        wanted,
        learnt,
        heard,
        baskets.vocabulary,
        len(held),
        asked={"seed": seed, "speed": speed, "screen": screen and speed == "person"}
        | ({"max_baskets": most} if baskets.several else {})
        | ({} if known is None else known.recorded(level)),
        simulated=True,
        rounds=rounds,
        malicious=malicious,
        hierarchy=known,
    )
    compared = sorted({one.ask.oracle.name for one in heard if not one.ask.oracle.live})
    if compared:
        note = (
            f"No device answers through {' or '.join(compared)}, kept for comparison: with these settings the protocol "
            "is simulated only, and no study can run it."
        )
        outcome = replace(outcome, notes=(*outcome.notes, note))
    if baskets.several:
        outcome = replace(outcome, notes=(said(most), *outcome.notes))
    scores = {}
    if score:
        scores = _scores(baskets, plan, outcome, wanted, most)
        scores |= _filtered(baskets, plan, learnt)
    marginal = speed == "aggregated" and not all(one.ask.oracle.drawn_together for one in heard)
    return told_with(replace(outcome, marginal=marginal, scores=scores))


def _scores(baskets: Baskets, plan: Protocol, outcome: Outcome, wanted: Wanted, most: int) -> dict[str, float]:
    if outcome.relations is not None:
        return scored_relations(baskets, plan, outcome.relations, wanted)
    found = scored(baskets, outcome.patterns, wanted, most)
    longer = outcome.learnt.where(lengths=(2, None))[: wanted.top]
    if wanted.least == 1 and len(longer):
        # A12: single items are easier to find, so the ranking of the others is scored apart as well.
        apart = scored(baskets, longer, replace(wanted, least=2), most)
        found |= {f"{name}, 2 items or more": apart[name] for name in ("normalised cumulative rank", "F-score")}
    return found


def _filtered(baskets: Baskets, plan: Any, learnt: Learnt) -> dict[str, float]:
    from ._relation_filter import frequent_kept

    return frequent_kept(baskets, learnt, plan.how) if learnt.kept else {}


def scored_relations(baskets: Baskets, plan: Any, found: Any, wanted: Wanted) -> dict[str, float]:
    """Return how near relations are to those wanted: the most reliable of the protocol's number of frequent ones."""
    from ...exact import relations, score_relations

    longest, ordered = 3 if getattr(plan, "cascade", 0) else 2, plan.how != "together"
    truth = relations(baskets, how=plan.how, items=plan.items, support=plan.support, top=wanted.top, longest=longest)
    score = score_relations(found, truth, ordered=ordered)
    scores = {
        "normalised cumulative rank": score.cumulative_rank,
        "F-score": score.f_score,
        "confidence error": score.confidence_error,
        "confidence error of those found": score.found_confidence_error,
    }
    if longest == 3:
        apart = score_relations(found.where(lengths=3), truth.where(lengths=3), ordered=ordered)
        scores |= {"normalised cumulative rank, 3 items": apart.cumulative_rank, "F-score, 3 items": apart.f_score}
    return scores


def scored(baskets: Baskets, patterns: Any, wanted: Wanted, most: int = 1) -> dict[str, float]:
    """Return how near the patterns are to the truth: of people with several baskets, what is expected of the drawn."""
    from ...exact import cumulative_rank, f_score, mine, squared_error

    truth = (
        true_patterns(baskets, most, wanted.top, wanted.least)
        if baskets.several
        else mine(baskets, top=wanted.top, lengths=(wanted.least, None))
    )
    return {
        "normalised cumulative rank": cumulative_rank(patterns, truth, top=wanted.top),
        "F-score": f_score(patterns, truth),
        "squared error": squared_error(patterns, truth),
    }


def _epsilon(given: Any) -> Fraction:
    return Budget.of(given).epsilon


def _least(least: Any) -> int:
    if least not in (1, 2):
        raise MisuseError.format("{least} is 1, or 2 to leave single items out; {given!r} was given.", given=least)
    return int(least)


def _seed(seed: Any) -> int:
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise MisuseError.format("{seed} is a whole number from 0 on; {given!r} was given.", given=seed)
    return seed
