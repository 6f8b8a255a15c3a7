"""Patterns over a threshold, length by length: the shared parts of `truncated-naive` and `truncated`.

1. Estimate the longest length, unless the user sets it; count the basket sizes.
2. Count single items, then pairs of the hopeful items, and so on up to the longest length. Each length has its share of
the budget and its own noise.
3. Where the lengths end early, the remaining budget counts the hopeful candidates again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from ...exact import Largest, Sizes, Truncation
from ...privacy import Budget, Meter, Noisy, SealedEngine
from ...results import Itemsets
from .. import Answers, Found, Mechanism, Plan, Problem
from ._candidate_join import join_candidates, rows
from ._truncation import (
    CITATION,
    F64,
    I64,
    SIZES,
    Bound,
    SizeHistogram,
    check_choice,
    check_numbers,
    check_shares,
    size_share,
    supports,
)

LONGEST_STEP = "estimating the longest pattern"
ITEMSETS = "counting the itemsets"

# Counts that noise lifts over the threshold with a smaller probability than this are raised to a public floor.
_LIFT_PROBABILITY = 0.01
# Counts in scores are capped beyond any number of people: so sums of counts fit 64 bits under any noise.
_MAX_SCORE = 2**40


@dataclass(frozen=True, eq=False)
class Level:
    """The candidates of one length with their noisy counts in cut baskets.

    `scores` are the frequency scores of the candidates, `kept_share` is the share of people that the cut is taken to
    leave, and `kept_by_size` is the kept probability per basket size.
    """

    itemsets: Itemsets
    scores: I64
    noisy: Noisy
    longest: int
    kept_share: float
    kept_by_size: F64

    def take(self, positions: I64) -> Level:
        """Return the candidates at the given positions."""
        noisy = replace(self.noisy, values=self.noisy.values[positions])
        return replace(self, itemsets=self.itemsets.take(positions), scores=self.scores[positions], noisy=noisy)

    def merge_counts(self, second_level: Level) -> Level:
        """Return the candidates with both noisy counts merged, weighted by inverse variance."""
        first_variance, second_variance = self.noisy.variance, second_level.noisy.variance
        weight = (
            second_variance / (first_variance + second_variance) if first_variance + second_variance else Fraction(1, 2)
        )
        share = float(weight)

        # Weights are inverse to the variances: the weighted mean of least variance.
        variance = weight**2 * first_variance + (1 - weight) ** 2 * second_variance
        # The sum of two Laplace variables has lighter tails than one variable of equal variance: the margin is
        # valid.
        scale = None if self.noisy.scale is None else Fraction(sqrt(variance / 2))
        values = np.rint(share * self.noisy.values + (1 - share) * second_level.noisy.values).astype(np.int64)
        return replace(
            self,
            noisy=Noisy(values, scale, variance),
            kept_share=share * self.kept_share + (1 - share) * second_level.kept_share,
            kept_by_size=share * self.kept_by_size + (1 - share) * second_level.kept_by_size,
        )


@dataclass(frozen=True, kw_only=True)
class ThresholdLevels(Mechanism):
    """Settings of mining level by level.

    Parameters
    ----------
    longest
        The largest number of items of a pattern; None to estimate it (algorithm 9).
    upper
        The largest result of this estimate.
    coverage
        Baskets are cut to the length that this share of people does not exceed.
    longest_size
        The largest counted basket size.
    bound
        The bound on the candidates within one basket: by the number of candidates of each item (``"degrees"``), or by
        the number of subsets alone, as printed (``"binomial"``).
    candidates
        The largest number of candidates of one length; the best by the noisy counts of their subsets are counted.
    """

    longest: int | None = None
    upper: int = 32
    coverage: Fraction = Fraction(17, 20)
    longest_size: int = 64
    bound: Bound = "degrees"
    candidates: int = 20_000

    citation: ClassVar[str] = CITATION
    answers: ClassVar[tuple[Answers, ...]] = ("threshold",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self, "coverage")
        check_numbers(self, "upper", "longest_size", "candidates", *([] if self.longest is None else ["longest"]))
        check_choice("bound", self.bound, Bound)

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse patterns that are longer than the settings allow."""
        super().check(problem, budget)
        name, max_length = ("upper", self.upper) if self.longest is None else ("longest", self.longest)
        if problem.min_length > max_length:
            raise MisuseError(
                f"Patterns of at least {problem.min_length} items were asked for, but the setting {name} of "
                f"{self.name} is {max_length}: set it to {problem.min_length} or more."
            )

    def plan(self, problem: Problem) -> Plan:
        """Estimate the longest length unless it is set, count sizes, and count itemsets with the remainder.

        Unused parts of the first shares go to the last step.
        """
        steps: Plan = []
        remaining_share = Fraction(1)
        min_length, max_length = self._length_range(problem)
        if min_length < max_length:
            steps.append((LONGEST_STEP, _estimation_share(problem)))
            remaining_share -= _estimation_share(problem)
        sizes_share = size_share(problem, remaining_share)
        return [*steps, (SIZES, sizes_share), (ITEMSETS, remaining_share - sizes_share)]

    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Count the itemsets of each length, in rising order."""
        min_length, max_length = self._length_range(problem)
        longest = max_length
        if min_length < max_length:
            longest = estimate_longest_length(
                engine, problem.threshold or 1, meter, _estimation_share(problem), min_length, max_length
            )
        level_share = meter.left / longest
        sizes_share = size_share(problem, level_share)
        noisy_sizes = meter.count(SIZES, engine, Sizes(min(self.longest_size, problem.item_count)), sizes_share)
        # The length comes from the noisy histogram only: the longest remaining basket would be private (C3).
        size_histogram = SizeHistogram.of(noisy_sizes, problem.item_count)
        mining_run = MiningRun(
            engine=engine,
            problem=problem,
            meter=meter,
            size_histogram=size_histogram,
            first_truncation=Truncation(size_histogram.covering_length(self.coverage), meter.secret()),
        )
        # The first candidates are all items of the public list, also items that no person holds.
        sets = rows(np.arange(problem.item_count, dtype=np.int32)[:, None])
        scores = np.zeros(problem.item_count, np.int64)
        levels: list[Level] = []
        candidate_count = 0
        for size in range(1, longest + 1):
            share = meter.left if size == longest else level_share - sizes_share if size == 1 else level_share
            level = self._count_level(mining_run, size, sets, scores, share)
            levels.append(level)
            candidate_count += len(sets)
            if size == longest:
                break
            # Candidates need all subsets within this level, so it uses the upper estimates, not the estimates.
            hopeful_level = level.take(np.flatnonzero(self.ceilings(level) >= mining_run.count))
            promise_scores = np.clip(hopeful_level.noisy.values, 0, _MAX_SCORE)
            sets, scores = join_candidates(hopeful_level.itemsets, promise_scores, self.candidates, problem.lineage)
            # Either no candidate is left, or cut baskets cannot hold longer itemsets: the budget counts again.
            if not len(sets) or size == self._longest_countable(mining_run):
                levels = self._count_again(mining_run, levels)
                break
        return self._collect_patterns(mining_run, longest, levels, candidate_count)

    def _length_range(self, problem: Problem) -> tuple[int, int]:
        """Return the range of the longest length; both ends are equal where the length is set."""
        max_length = min(self.upper if self.longest is None else self.longest, problem.max_length, problem.item_count)
        max_length = max(max_length, problem.min_length)
        return (problem.min_length if self.longest is None else max_length), max_length

    def _longest_countable(self, mining_run: MiningRun) -> int:
        """Return the size of the longest itemset that cut baskets can hold."""
        return mining_run.problem.item_count

    def _count_level(self, mining_run: MiningRun, size: int, sets: Itemsets, scores: I64, share: Fraction) -> Level:
        """Cut the baskets, count the candidates of one length, and estimate the loss by the cut."""
        truncation = self.truncation(mining_run, size, sets, scores, share)
        query = supports(self.bound, sets, truncation)
        noisy = mining_run.meter.count(ITEMSETS, mining_run.engine, query, share)
        size_histogram = mining_run.size_histogram
        return Level(
            itemsets=sets,
            scores=scores,
            noisy=noisy,
            longest=truncation.longest,
            kept_share=self.kept_share(size_histogram, size, min(truncation.longest, size_histogram.longest)),
            kept_by_size=size_histogram.kept_by_size(size, truncation.longest),
        )

    def _count_again(self, mining_run: MiningRun, levels: list[Level]) -> list[Level]:
        """Count the hopeful candidates again with the remaining budget; all items where no candidate is hopeful."""
        hopeful_levels = [level.take(np.flatnonzero(self.ceilings(level) >= mining_run.count)) for level in levels]
        hopeful_levels = [level for level in hopeful_levels if len(level.itemsets)] or levels[:1]
        merged_levels = []
        for level_number, level in enumerate(hopeful_levels):
            # Equal parts: each level takes its part of the budget that is left at its turn.
            share = mining_run.meter.left / (len(hopeful_levels) - level_number)
            size = int(level.itemsets.sizes[0])
            merged_levels.append(
                level.merge_counts(self._count_level(mining_run, size, level.itemsets, level.scores, share))
            )
        return merged_levels

    def _collect_patterns(
        self, mining_run: MiningRun, longest: int, levels: Sequence[Level], candidate_count: int
    ) -> Found:
        """Return the patterns of all levels with estimates at the threshold or above."""
        problem = mining_run.problem
        level_itemsets, columns = [], [[np.empty(0)] for _ in range(3)]
        for level in levels:
            if int(level.itemsets.sizes[0]) < problem.min_length:
                continue
            estimates = self.estimates(level)
            low, high = mining_run.size_histogram.interval(level.noisy, level.kept_by_size)
            positions = np.flatnonzero(estimates >= mining_run.count)
            level_itemsets.append(level.itemsets.take(positions))
            for column, values in zip(
                columns, (estimates, np.minimum(low, estimates), np.maximum(high, estimates)), strict=True
            ):
                column.append(values[positions])
        estimates, low, high = map(np.concatenate, columns)
        return Found(
            itemsets=Itemsets.joined(level_itemsets),
            estimates=estimates if problem.with_counts else None,
            low=problem.lower_ends(estimates, low, candidate_count) if problem.with_counts else None,
            high=high if problem.with_counts else None,
            facts={
                "longest pattern looked for": longest,
                "sizes of patterns counted": [int(level.itemsets.sizes[0]) for level in levels],
                "candidates counted": [len(level.itemsets) for level in levels],
                "lengths baskets were cut to": [level.longest for level in levels],
            },
            notes=self._describe_cuts(longest, levels),
        )

    def _describe_cuts(self, longest: int, levels: Sequence[Level]) -> tuple[str, ...]:
        """Return the notes on pattern lengths, cut lengths and omitted candidates."""
        cut_list = ", ".join(f"{level.longest} ({int(level.itemsets.sizes[0])})" for level in levels)
        notes = [
            f"Patterns of up to {longest} items were looked for. Before they were counted, baskets were cut to at most "
            f"this many items (for patterns of so many): {cut_list}."
        ]
        if any(len(level.itemsets) == self.candidates and level.itemsets.sizes[0] > 1 for level in levels):
            notes.append(
                f"Of one length, only the {self.candidates:,} most promising candidates were counted: the setting "
                "candidates allows for more."
            )
        return tuple(notes)

    @abstractmethod
    def truncation(self, mining_run: MiningRun, size: int, sets: Itemsets, scores: I64, share: Fraction) -> Truncation:
        """Return the cut of the baskets for the candidates."""

    @abstractmethod
    def kept_share(self, size_histogram: SizeHistogram, size: int, longest: int) -> float:
        """Return the share of the people of an itemset that the cut is taken to leave."""

    @abstractmethod
    def estimates(self, level: Level) -> F64:
        """Return the estimates of the true counts, which decide the frequent itemsets."""

    @abstractmethod
    def ceilings(self, level: Level) -> F64:
        """Return upper estimates of the true counts, which decide the hopeful itemsets."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MiningRun:
    """The shared values of all levels of one run; `first_truncation` is the cut for single items."""

    engine: SealedEngine
    problem: Problem
    meter: Meter
    size_histogram: SizeHistogram
    first_truncation: Truncation

    @property
    def count(self) -> int:
        """The threshold in people, never a fraction of an exact number (C4)."""
        return self.problem.threshold or 1


def _estimation_share(problem: Problem) -> Fraction:
    """Return the share of the longest length: a twentieth, or an epsilon of 0.05 up to a tenth (C8)."""
    min_share = Fraction(1, 20)
    return min(max(min_share, min_share / problem.epsilon), Fraction(1, 10)) if problem.epsilon else min_share


def estimate_longest_length(
    engine: SealedEngine, threshold_count: int, meter: Meter, share: Fraction, min_length: int, max_length: int
) -> int:
    """Return the approximate length of the longest pattern over a threshold, between two public lengths (algorithm 9).

    Measures the largest count of any itemset of the middle length and halves the range, at most ceil(log2(max_length -
    min_length + 1)) times (C2). The range always shrinks, as the middle is above its lower end. Counts below a public
    floor are raised to it (C1): a twentieth of the threshold, or a count that noise hardly lifts over the threshold.
    """
    # ceil(log2(max_length - min_length + 1)) comparisons halve the range to one length (C2).
    comparisons = (max_length - min_length).bit_length()
    comparison_share = share / comparisons
    scale, variance = meter.scale(Largest(min_length, 0), comparison_share)
    # Two-sided margin at 1 - 2 p, so that noise exceeds it upwards with probability p.
    margin = Noisy(np.empty(0, np.int64), scale, variance).margin(1 - 2 * _LIFT_PROBABILITY)
    floor = max(-(-threshold_count // 20), threshold_count - margin)
    while min_length < max_length:
        middle = (min_length + max_length + 1) // 2
        largest_count = meter.count(LONGEST_STEP, engine, Largest(middle, floor), comparison_share)
        if largest_count.values[0] >= threshold_count:
            min_length = middle
        else:
            max_length = middle - 1
    return min_length
