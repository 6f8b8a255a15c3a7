"""Reports of liars, crafted to lift chosen itemsets as far as the wire format allows, or to claim large baskets.

A collector cannot verify a report. This module measures the harm of a share of liars: over known baskets, some of the
people send crafted reports instead of their own. All people are simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle
from math import sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.baskets import Baskets, starts
from discreet.errors import MisuseError
from discreet.local import Oracle, Protocol, ReportColumns, SimulatedAnswers
from discreet.local.oracle_steps import hashes, published_pairs
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    Estimate,
    LiarBounds,
    PrefixQuestion,
    SimulatedPeople,
    SizeQuestion,
    StudyGoal,
    build_patterns,
    converse,
    screen_reports,
    seed_of,
    tail_margin,
)
from discreet.results import Patterns

Attack: TypeAlias = Literal["crafted", "one target", "sizes"]
ATTACKS: tuple[Attack, ...] = ("crafted", "one target", "sizes")
# The number of random seeds from which a liar selects the best. More would help little: the best of a sample grows with
# the logarithm of its size.
_TRIED_SEEDS = 1 << 20
_SEED_TARGETS = 20  # the number of targets that select a seed: as many as the ten pairs of `select_targets` have items
# Reports of one value are spread over this number of targets, and points are repeated this often: fewer would stand
# out in screening, more would lift each target less.
_SPREAD = 10
_BLOCK_PEOPLE = 1 << 15  # the people in one block of reports: bounds the memory
_WORD = 1 << 32


@dataclass(frozen=True, kw_only=True)
class Liars:
    """The liars among the people, and their attack.

    Parameters
    ----------
    share
        The share of liars among the people, from 0 to 1.
    targets
        The itemsets that the attack should make frequent.
    attack
        ``"crafted"``: each report about values names as many targets as the wire format allows; reports about sizes are
        honest. ``"one target"``: liars follow the protocol with a basket of one target. ``"sizes"``: reports about
        sizes name the largest size; all further reports are honest.
    seed
        The seed of the draw of liars.
    """

    share: float
    targets: tuple[tuple[int, ...], ...]
    attack: Attack
    seed: int

    def draw_liars(self, people: int) -> NDArray[np.bool_]:
        """Return whether each of `people` people is a liar."""
        is_liar = np.zeros(people, bool)
        liar_count = round(self.share * people)
        is_liar[np.random.default_rng([self.seed, 1]).permutation(people)[:liar_count]] = True
        return is_liar

    def change_baskets(self, baskets: Baskets) -> Baskets:
        """Return the baskets that people answer for: a liar has one target, if that is the attack."""
        if self.attack != "one target":
            return baskets
        is_liar = self.draw_liars(len(baskets))
        targets = cycle(np.array(target, np.int32) for target in self.targets)
        rows = []
        for person, person_lies in enumerate(is_liar.tolist()):
            if person_lies:
                rows.append(next(targets))
            else:
                rows.append(baskets.codes[baskets.offsets[person] : baskets.offsets[person + 1]])
        return Baskets(
            offsets=starts([len(row) for row in rows]), codes=np.concatenate(rows), vocabulary=baskets.vocabulary
        )

    def select_values(self, ask: Ask) -> list[int]:
        """Return the values of a round that a lie names, the most useful first; none for an honest round."""
        question = ask.question
        if isinstance(question, SizeQuestion):
            return list(range(question.values))[::-1] if self.attack == "sizes" else []
        if self.attack != "crafted":
            return []
        if isinstance(question, CandidateQuestion) and isinstance(question.candidates, CandidateList):
            value_sets = [set(question.candidates[place]) for place in range(len(question.candidates))]
        elif isinstance(question, PrefixQuestion):
            value_sets = [set(path) for path in question.prefixes]
        else:
            return []
        target_sets = [set(target) for target in self.targets]
        if isinstance(question, CandidateQuestion):
            usefulness = [
                max((len(target) for target in target_sets if values <= target), default=0) for values in value_sets
            ]
        else:
            usefulness = [max(len(target & values) for target in target_sets) for values in value_sets]
        order = sorted(range(len(value_sets)), key=lambda place: -usefulness[place])
        return [place for place in order if usefulness[place]]


def craft_reports(
    oracle: Oracle, wanted_values: list[int], report_count: int, generator: np.random.Generator, people: int = 0
) -> ReportColumns:
    """Return `many` crafted reports, each of which names as many wanted values as the oracle allows.

    `people` is the number of all people in the round. For published seeds, each seed is named as often as screening
    permits, the seeds with most wanted values first.
    """
    if getattr(oracle, "seeds", None) is not None:
        return _numbered(oracle, wanted_values, report_count, people)
    makers: dict[str, Callable[..., ReportColumns]] = {
        "grr": _one_value,
        "subset": _subsets,
        "privset": _subsets,
        "olh": _hashed,
        "blh": _hashed,
        "wheel": _points,
        "geometry": _meeting,
        "oue": _bits,
        "sue": _bits,
    }
    if oracle.name not in makers:
        raise MisuseError(f"No crafted reports are known for {oracle.name}; there are {', '.join(makers)}.")
    return makers[oracle.name](oracle, wanted_values, report_count, generator)


def _one_value(
    oracle: Any, wanted_values: list[int], report_count: int, generator: np.random.Generator
) -> ReportColumns:
    """Return reports of one value each, spread over the wanted values."""
    return {"value": generator.choice(np.array(wanted_values[:_SPREAD]), report_count).astype(np.int64)}


def _subsets(oracle: Any, wanted_values: list[int], report_count: int, generator: np.random.Generator) -> ReportColumns:
    """Return reports of subsets: the wanted values first, filled up with random values."""
    values = np.empty((report_count, oracle.many), np.int32)
    named_values = np.array(wanted_values[: oracle.many])
    further_values = np.setdiff1d(np.arange(oracle.symbols_in_all), named_values)
    for row in range(report_count):
        filling = generator.choice(further_values, oracle.many - len(named_values), replace=False)
        values[row] = np.sort(np.concatenate((named_values, filling)))
    return {"values": values}


def _bits(oracle: Any, wanted_values: list[int], report_count: int, generator: np.random.Generator) -> ReportColumns:
    """Return reports of bits: the wanted values set, and each further bit set with its honest probability."""
    is_set = generator.random((report_count, oracle.size)) < float(oracle.p_other)
    is_set[:, wanted_values] = True
    bit_count = (oracle.size + 31) // 32 * 32
    bits = np.zeros((report_count, bit_count), bool)
    bits[:, : oracle.size] = is_set
    return {"bits": np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)}


def _seeds(wanted_values: list[int], generator: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return random seeds as two words each, and the hashes of the wanted values under each seed."""
    firsts = generator.integers(0, _WORD, _TRIED_SEEDS, dtype=np.uint32) | np.uint32(1)
    seconds = generator.integers(0, _WORD, _TRIED_SEEDS, dtype=np.uint32)
    return firsts, seconds, hashes(firsts, seconds, np.array(wanted_values[:_SEED_TARGETS]))


def _best_buckets(oracle: Any, hashes: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the fullest bucket of each seed, and the seeds in falling order of the values in that bucket."""
    buckets = (hashes.astype(np.uint64) * np.uint64(oracle.places)) >> np.uint64(32)
    fullest_bucket, most_values = np.zeros(len(hashes), np.int64), np.zeros(len(hashes), np.int64)
    for bucket in range(oracle.places):
        values_here = (buckets == bucket).sum(1)
        fullest_bucket[values_here > most_values] = bucket
        most_values = np.maximum(most_values, values_here)
    return fullest_bucket, np.argsort(-most_values, kind="stable")


def _hashed(oracle: Any, wanted_values: list[int], report_count: int, generator: np.random.Generator) -> ReportColumns:
    """Return reports of the seeds that hash most wanted values into one bucket."""
    firsts, seconds, hashes = _seeds(wanted_values, generator)
    fullest_bucket, order = _best_buckets(oracle, hashes)
    best_seeds = order[:report_count]
    return {"first": firsts[best_seeds], "second": seconds[best_seeds], "value": fullest_bucket[best_seeds]}


def _numbered(oracle: Any, wanted_values: list[int], report_count: int, people: int) -> ReportColumns:
    """Return reports of published seeds, each as often as screening permits."""
    numbers = np.arange(oracle.seeds, dtype=np.uint32)
    fullest_bucket, order = _best_buckets(
        oracle, hashes(*published_pairs(numbers), np.array(wanted_values[:_SEED_TARGETS]))
    )
    reports_per_seed = people / oracle.seeds
    # With the honest reports of the seed, still below the bound of screening.
    repeats = max(1, int(tail_margin(reports_per_seed, oracle.seeds) - 2 * sqrt(reports_per_seed)))
    seeds = np.resize(np.repeat(order, repeats), report_count)
    return {"seed": numbers[seeds], oracle.place: fullest_bucket[seeds]}


def _points(oracle: Any, wanted_values: list[int], report_count: int, generator: np.random.Generator) -> ReportColumns:
    """Return reports of points that lie in the arcs of most wanted values."""
    firsts, seconds, hashes = _seeds(wanted_values, generator)
    best_point, most_values = np.zeros(_TRIED_SEEDS, np.uint32), np.zeros(_TRIED_SEEDS, np.int64)
    for place in range(hashes.shape[1]):
        # A point lies in each arc that begins at the point, or less than an arc before it.
        values_here = ((hashes[:, place, None] - hashes) < np.uint32(oracle.arc)).sum(1)
        best_point[values_here > most_values] = hashes[values_here > most_values, place]
        most_values = np.maximum(most_values, values_here)
    best_seeds = np.argsort(-most_values, kind="stable")[:report_count]
    return {"first": firsts[best_seeds], "second": seconds[best_seeds], "point": best_point[best_seeds]}


def _meeting(oracle: Any, wanted_values: list[int], report_count: int, generator: np.random.Generator) -> ReportColumns:
    """Return reports of the points that name most wanted values."""
    points = (
        np.arange(oracle.points)
        if oracle.points <= _TRIED_SEEDS
        else generator.integers(0, oracle.points, _TRIED_SEEDS)
    )
    value_count = oracle.match_values({"point": points}, np.array(wanted_values[:_SEED_TARGETS])).sum(1)
    # Many good points, each named about equally often, so that no point stands out.
    best_points = points[np.argsort(-value_count, kind="stable")][: max(1, report_count // _SPREAD)]
    return {"point": np.resize(best_points, report_count)}


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackResult:
    """The result of a protocol with liars.

    Parameters
    ----------
    patterns
        The top patterns, over all people.
    lifted
        The number of targets among the top patterns.
    left_out, honest_left_out
        The number of reports that screening left out in all rounds; the largest number of honest reports among them in
        one round.
    alarms
        The number of rounds with an alarm.
    """

    patterns: Patterns
    lifted: int
    left_out: int
    honest_left_out: int
    alarms: int


def simulate_attack(
    baskets: Baskets,
    plan: Protocol,
    parameters: StudyGoal,
    liars: Liars,
    *,
    seed: int,
    screen: bool,
    malicious: Fraction = Fraction(0),
) -> AttackResult:
    """Run a protocol with liars, report by report; intervals allow for a share `malicious` of liars."""
    changed_baskets, is_liar = liars.change_baskets(baskets), liars.draw_liars(len(baskets))
    numbers = SimulatedPeople(baskets=changed_baskets, seed=seed, speed="person").numbers()
    generator = np.random.default_rng([seed, 7])
    left_out = honest_left_out = alarms = 0

    def hear(ask: Ask) -> Estimate:
        nonlocal left_out, honest_left_out, alarms
        round_people = np.flatnonzero((numbers >= ask.group.start) & (numbers < ask.group.stop))
        lie_values = liars.select_values(ask)
        lies_now = is_liar[round_people] if lie_values else np.zeros(len(round_people), bool)
        honest, oracle, words = round_people[~lies_now], ask.frequencies, seed_of(seed, f"{ask.name}:{ask.group.start}")
        blocks = []
        for people in np.array_split(honest, max(1, -(-len(honest) // _BLOCK_PEOPLE))):
            offsets, held_values = ask.question.answers(changed_baskets, people)
            blocks.append(oracle.reports(SimulatedAnswers(offsets=offsets, values=held_values, people=people), words))
        if lies_now.any():
            blocks.append(craft_reports(oracle, lie_values, int(lies_now.sum()), generator, len(round_people)))
        if not screen:
            aggregate = oracle.adder.start()
            for columns in blocks:
                oracle.adder.add(aggregate, columns)
            return Estimate(ask, len(round_people), oracle.adder.decode(aggregate))
        screening = screen_reports(oracle, lambda: blocks)
        left_out, alarms = left_out + screening.left_out, alarms + bool(screening.alarms)
        honest_left_out = max(honest_left_out, int((screening.places(blocks) < len(honest)).sum()))
        return Estimate(ask, screening.people, screening.supports)

    answer, estimates = converse(plan.ask_rounds(parameters), hear, reports=plan.reports, people=len(baskets))
    bounds = LiarBounds(estimates, malicious) if malicious else None
    patterns = build_patterns(answer, baskets.vocabulary, len(baskets), bounds).where(lengths=(parameters.least, None))[
        : parameters.top
    ]
    pattern_sets = {
        tuple(sorted(patterns.codes[a:b].tolist()))
        for a, b in zip(patterns.offsets, patterns.offsets[1:], strict=False)
    }
    lifted = sum(tuple(sorted(target)) in pattern_sets for target in liars.targets)
    return AttackResult(
        patterns=patterns, lifted=lifted, left_out=left_out, honest_left_out=honest_left_out, alarms=alarms
    )


def select_targets(baskets: Baskets, pair_count: int = 10, first: int = 200) -> tuple[tuple[int, ...], ...]:
    """Return `many` pairs of infrequent items: items from rank `first` on, or the least frequent items."""
    order = np.argsort(-baskets.item_counts, kind="stable")
    codes = order[min(first, len(order) - 2 * pair_count) :][: 2 * pair_count].tolist()
    return tuple(tuple(sorted(codes[place : place + 2])) for place in range(0, 2 * pair_count, 2))
