"""Shared parts of `privbasis` and `bases`: choose the number of items, the items and pairs, the bases, and count cells.

Both mechanisms pick some items and pairs instead of paying for each itemset. They cover the picks with bases of a few
items each, and count the people in each cell of each basis. The count of an itemset within a basis is a sum of cells.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, count
from math import ceil, comb, inf, isqrt, sqrt
from typing import ClassVar

import numpy as np

from ...errors import MisuseError
from ...exact import LARGEST_BASIS, Cells, Kth, Supports
from ...privacy import Budget, Meter, Noisy, SealedAnswer, SealedEngine, Way, normal_point, shown
from ...report import number_of
from ...results import Itemsets
from .. import Answers, Found, Mechanism, Problem
from ._basis_cover import Basis, cover, group_items
from ._cell_estimates import F64, I64, NORMAL, Sums
from ._clipped_counting import BIASED_NOTE, Tally, average_monotone
from ._itemset_choice import check_top
from ._winners import recount

# At most MAX_ITEMS items are picked, as all their pairs are counted; and at most MAX_PAIRS pairs: covering 2,000 pairs
# takes seconds, covering ten times as many takes hours.
MAX_ITEMS = 1_000
MAX_PAIRS = 2_000
# A threshold is translated into one of the first MAX_RANK ranks, in steps of a quarter of the rank.
MAX_RANK = 4_096
# Scores are compared down to SCORE_REACH / rate below the best: a lower score is chosen exp(20) times less often.
SCORE_REACH = 20

RANK_STEP = "choosing how many patterns"
ITEM_COUNT_STEP = "choosing how many items"
PICK_STEP = "choosing items and pairs"
PAIR_COUNT_STEP = "choosing how many pairs"
CELL_STEP = "counting the cells"
RANK_SHARE = Fraction(1, 20)
WIDENED_NOTE = (
    "The patterns were chosen by the same noisy counts that are shown: intervals of the last ones are longer for it."
)
WIDER_NOTE = "Intervals of the last ones are longer for it."
# An itemset within REACH_STDS deviations of the last shown one might have been shown instead. TAIL_KURTOSIS is about a
# third of the excess kurtosis of sums of cells.
REACH_STDS, TAIL_KURTOSIS = 4.0, 0.1
# The shown patterns are counted again with RECOUNT_SHARE of the budget of the cells, where the fresh deviation is below
# RECOUNT_GAIN times the deviation of sums of cells.
RECOUNT_SHARE, RECOUNT_GAIN = Fraction(1, 2), 0.8


@dataclass(frozen=True, kw_only=True)
class BudgetSplit:
    """Shares of the remaining budget for picking items and pairs; the remainder counts cells.

    Parameters
    ----------
    items
        The share that picks items.
    single_basis
        Whether all picked items form one basis.
    pairs
        The share that picks pairs.
    pair_count
        The number of pairs to pick, where the number is not chosen with noise.
    pair_count_share
        The share that chooses the number of pairs.
    """

    items: Fraction
    single_basis: bool = False
    pairs: Fraction = Fraction(0)
    pair_count: int = 0
    pair_count_share: Fraction = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class BasisMechanism(Mechanism):
    """The shared computation of both mechanisms; subclasses decide selection, budget split and estimation.

    Parameters
    ----------
    spare
        The factor between the number of requested patterns and the number that picks aim at (eta of the article).
    largest
        The largest number of items of a basis, and so of a pattern.
    """

    spare: Fraction = Fraction(11, 10)
    largest: int = 12

    answers: ClassVar[tuple[Answers, ...]] = ("top", "threshold")
    # Whether a short list is filled up to the top, and estimates are made consistent: the article does neither.
    repairs_results: ClassVar[bool] = False
    # The share of the budget that chooses the number of items.
    item_count_share: ClassVar[Fraction]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.spare <= 2:
            raise MisuseError(f"spare lies between 1 and 2; {shown(self.spare)} was given.")
        if not 2 <= self.largest <= LARGEST_BASIS:
            raise MisuseError(f"largest lies between 2 and {LARGEST_BASIS}; {self.largest} was given.")

    @abstractmethod
    def selection_method(self, meter: Meter) -> Way:
        """Return the selection method of items, pairs and their numbers."""

    @abstractmethod
    def widen_item_count(self, item_count: int) -> int:
        """Return the number of items to pick, given the chosen number."""

    @abstractmethod
    def split_budget(self, problem: Problem, top: int, item_count: int, meter: Meter, mark: float = inf) -> BudgetSplit:
        """Return the shares of the remaining budget, given the number of items to pick.

        `mark` is the approximate count of the last pattern; infinite where this count is unknown.
        """

    @abstractmethod
    def estimate_counts(self, bases: list[Basis], noisy: Noisy, problem: Problem) -> Sums:
        """Return estimates for the itemsets of the requested lengths within the bases, from the noisy cells."""

    def cover_pairs(self, problem: Problem, items: int, pairs: list[tuple[int, int]], power: int) -> list[Basis]:
        """Return bases that hold each of the items 0 to `items - 1` and each of the pairs."""
        return cover(items, pairs, self.largest, power)

    def check(self, problem: Problem, budget: Budget) -> None:
        """Refuse patterns longer than a basis, and a top beyond the number of possible patterns."""
        super().check(problem, budget)
        if problem.min_length > self.largest:
            raise MisuseError.format(
                "{name} finds patterns of at most {largest} items, and {lengths} asks for {asked} or more: "
                "ask for shorter ones, or another mechanism.",
                name=self.name,
                largest=self.largest,
                asked=problem.min_length,
            )
        if problem.top is not None:
            check_top(problem)

    def run(self, engine: SealedEngine, problem: Problem, meter: Meter) -> Found:
        """Choose the number of items, the items and the pairs; cover them with bases; count and add up the cells."""
        top = problem.top if problem.top is not None else self.choose_rank(engine, problem, meter, RANK_SHARE)
        item_count = 0
        if problem.max_length > 1:
            item_count = self.choose_item_count(engine, problem, top, meter, meter.left * self.item_count_share)
        return self.from_items(engine, problem, top, item_count, meter)

    def longest_length(self, problem: Problem) -> int:
        """Return the largest number of items of a pattern."""
        return min(problem.max_length, self.largest)

    def count_wanted_patterns(self, problem: Problem, top: int) -> int:
        """Return the number of patterns that the picks aim at."""
        return max(1, problem.universe(self.longest_length(problem)).up_to(ceil(self.spare * top)))

    def choose_rank(self, engine: SealedEngine, problem: Problem, meter: Meter, share: Fraction) -> int:
        """Choose the rank where the pattern count is closest to the threshold."""
        longest = self.longest_length(problem)
        max_rank = problem.universe(longest).up_to(MAX_RANK)
        ranks = [1]
        while ranks[-1] < max_rank:
            ranks.append(min(max(ranks[-1] + 1, ranks[-1] * 5 // 4), max_rank))
        threshold = problem.threshold or 0
        # A score far below 0 is chosen with negligible probability, so counts far below the threshold need not be
        # mined: they are raised to a public floor. The floor is slightly lower for later ranks, so that few patterns
        # are chosen where no count comes near the threshold.
        rate = meter.rate(1, share, self.selection_method(meter), monotone=False)
        lowest = np.array(
            [max(0, threshold - ceil((SCORE_REACH + Fraction(position, 2)) / rate)) for position in range(len(ranks))]
        )
        listed_counts = engine.above(int(lowest[-1]), problem.min_length, longest, MAX_RANK)
        # Each count is an order statistic over the public universe, and 0 where fewer occur (E11).
        scores = listed_counts.falling(ranks[-1]).take(np.array(ranks) - 1).at_least(lowest).negate_distance(threshold)
        return ranks[meter.choose(RANK_STEP, scores, 1, share, self.selection_method(meter))[0]]

    def choose_item_count(self, engine: SealedEngine, problem: Problem, top: int, meter: Meter, share: Fraction) -> int:
        """Choose the number of items: the rank where the item count is closest to the count of the last pattern.

        The number lies between the fewest items with enough itemsets and, where single items are patterns, one item per
        pattern.
        """
        mark = self._find_last_count(engine, problem, top)
        factor = 1 if problem.min_length == 1 else self.longest_length(problem)
        max_items = min(problem.item_count, MAX_ITEMS, self.count_wanted_patterns(problem, top) * factor)
        min_items = min_item_count(problem.min_length, self.longest_length(problem), top, max_items)
        scores = _count_items(engine, problem).falling().take(range(min_items - 1, max_items)).negate_distance(mark)
        chosen_position = meter.choose(ITEM_COUNT_STEP, scores, 1, share, self.selection_method(meter))[0]
        return min(self.widen_item_count(min_items + chosen_position), problem.item_count)

    def count_pairs(self, problem: Problem, top: int, item_count: int) -> int:
        """Return the number of pairs to pick beside `item_count` items.

        Where single items are patterns, the number is the number of missing patterns, but at most sqrt(missing *
        items):
        longer patterns come with the pairs (the article's number). Otherwise the number covers all wanted pairs, or the
        pairs within wanted longer patterns.
        """
        if problem.max_length == 1:
            return 0
        wanted_patterns, max_pairs = self.count_wanted_patterns(problem, top), min(comb(item_count, 2), MAX_PAIRS)
        if problem.min_length > 1:
            return min((problem.min_length - 1) * wanted_patterns, max_pairs)
        missing_patterns = max(0, wanted_patterns - item_count)
        return min(missing_patterns, isqrt(missing_patterns * item_count), max_pairs)

    def from_items(
        self, engine: SealedEngine, problem: Problem, top: int, item_count: int, meter: Meter, mark: float = inf
    ) -> Found:
        """Pick items and pairs, and count the cells of covering bases, with the whole remaining budget.

        Single items are counted in groups; their number follows from the question. `mark` is the approximate count of
        the last pattern, where this count is known.
        """
        longest = self.longest_length(problem)
        if longest == 1:
            item_count = top if problem.top is not None else self.count_wanted_patterns(problem, top)
        split, remaining_budget, method = (
            self.split_budget(problem, top, item_count, meter, mark),
            meter.left,
            self.selection_method(meter),
        )
        items_only = longest == 1 and problem.top is not None and not problem.with_counts
        share = remaining_budget if items_only else remaining_budget * split.items
        # Sorted by code: the cover numbers items by position, and a basis lists its codes in rising order.
        picked_items = sorted(meter.choose(PICK_STEP, _count_items(engine, problem), item_count, share, method))
        facts = {"patterns expected": top} if problem.top is None else {}
        facts |= {"items picked": item_count, "pairs picked": 0}
        # The picks alone answer the question, so they take the whole budget and no cell is counted.
        if items_only:
            return Found(itemsets=Itemsets.of([(item,) for item in picked_items]), estimates=None, facts=facts)
        pairs: list[tuple[int, int]] = []
        candidate_pairs: list[tuple[int, int]] = []
        if split.pairs:
            candidate_pairs = list(combinations(range(item_count), 2))
            sets = Itemsets.of([(picked_items[first], picked_items[second]) for first, second in candidate_pairs])
            # A pair of an item and its ancestor is no pattern, so it is no candidate.
            antichain_positions = np.flatnonzero(problem.mark_antichains(sets))
            candidate_pairs, sets = (
                [candidate_pairs[position] for position in antichain_positions],
                sets.take(antichain_positions),
            )
        if candidate_pairs:
            counts = engine.answer(Supports(sets))
            pair_count = min(split.pair_count, len(candidate_pairs))
            if split.pair_count_share:
                pair_count = self._choose_pair_count(
                    engine, problem, top, counts, meter, remaining_budget * split.pair_count_share
                )
            chosen_positions = meter.choose(PICK_STEP, counts, pair_count, remaining_budget * split.pairs, method)
            pairs = sorted(candidate_pairs[position] for position in chosen_positions)
            facts["pairs picked"] = pair_count
        # Var of a cell grows with w^2 for Laplace noise of scale w / epsilon, and with w for Gaussian noise.
        power = 2 if meter.pure else 1
        if longest == 1:
            bases = group_items(picked_items, self.largest, power)
        elif split.single_basis:
            bases = [tuple(picked_items)]
        else:
            bases = [
                tuple(picked_items[position] for position in basis)
                for basis in self.cover_pairs(problem, item_count, pairs, power)
            ]
        noisy = meter.count(
            CELL_STEP, engine, Cells(tuple(bases)), meter.left - self._choose_recount_share(bases, problem, top, meter)
        )
        patterns = self._collect_patterns(bases, noisy, problem, facts | {"bases counted": len(bases)}, engine, meter)
        if self.repairs_results and problem.top is not None:
            patterns = _fill_top(patterns, self.longest_length(problem), problem, meter)
        return patterns

    def _choose_recount_share(self, bases: list[Basis], problem: Problem, top: int, meter: Meter) -> Fraction:
        """Return the share that counts each shown pattern again; 0 where the cells are about as precise."""
        recount_share = meter.left * RECOUNT_SHARE
        if not (self.repairs_results and problem.with_counts):
            return Fraction(0)
        cells = Cells(tuple(bases))
        margins = (
            self.estimate_counts(
                bases, Noisy(np.zeros(cells.cells, np.int64), *meter.scale(cells, meter.left)), problem
            )
            .patterns(problem)
            .margins
        )
        sum_deviation = float(np.median(np.sort(margins)[-top:])) / NORMAL if len(margins) else 0.0
        fresh_deviation = sqrt(meter.scale(Supports(Itemsets.singles(max(top, 1))), recount_share)[1])
        return recount_share if fresh_deviation < RECOUNT_GAIN * sum_deviation else Fraction(0)

    def _choose_pair_count(
        self, engine: SealedEngine, problem: Problem, top: int, counts: SealedAnswer, meter: Meter, share: Fraction
    ) -> int:
        """Choose the number of pairs: the rank where the pair count is closest to the count of the last pattern."""
        # K itemsets contain at least C(m - 1, 2) pairs, m the fewest items with K itemsets (Kruskal, Katona).
        min_pairs = comb(
            min_item_count(problem.min_length, self.longest_length(problem), top, problem.item_count) - 1, 2
        )
        max_pairs = min(
            len(counts), MAX_PAIRS, self.count_wanted_patterns(problem, top) * comb(self.longest_length(problem), 2)
        )
        first_rank = min(max(min_pairs, 1), max_pairs)
        scores = (
            counts.falling()
            .take(range(first_rank - 1, max_pairs))
            .negate_distance(self._find_last_count(engine, problem, top))
        )
        return first_rank + meter.choose(PAIR_COUNT_STEP, scores, 1, share, self.selection_method(meter))[0]

    def _find_last_count(self, engine: SealedEngine, problem: Problem, top: int) -> int | SealedAnswer:
        """Return the count of the last wanted pattern: the threshold, or an order statistic (sealed)."""
        if problem.threshold is not None:
            return problem.threshold
        return engine.answer(
            Kth(self.count_wanted_patterns(problem, top), problem.min_length, self.longest_length(problem))
        )

    def _collect_patterns(
        self,
        bases: list[Basis],
        noisy: Noisy,
        problem: Problem,
        facts: dict[str, int],
        engine: SealedEngine,
        meter: Meter,
    ) -> Found:
        """Add up the cells, keep the requested patterns, and count them again with any remaining budget."""
        sums = self.estimate_counts(bases, noisy, problem).patterns(problem)
        order = np.lexsort((sums.itemsets.sizes, -sums.worth))
        if problem.top is not None:
            order = order[: problem.top]
        elif problem.threshold is not None:
            order = order[: sums.count_over(order, problem.threshold)]
        itemsets, values, margins = sums.itemsets.take(order), sums.estimates[order], sums.margins[order]
        notes = [_describe_bases(facts)]
        if problem.top is not None and len(order) < problem.top and not self.repairs_results:
            notes.append(f"No more than {len(order):,} itemsets of the asked lengths lie within the bases.")
        if not problem.with_counts:
            return Found(itemsets=itemsets, estimates=None, facts=facts, notes=tuple(notes))
        if meter.left:
            spare = Itemsets.of([(item,) for item in bases[0]])
            recounted = recount(engine, problem, meter, Tally(itemsets, values, margins / NORMAL), spare)
            return replace(recounted, facts=dict(facts), notes=(*notes, *recounted.notes))
        # The article keeps the estimates of the chosen patterns, which the choice biases: a note says so.
        notes.append(WIDENED_NOTE if self.repairs_results else f"{BIASED_NOTE} {WIDER_NOTE}")
        margins = margins * widen_margins(sums.worth, sums.margins / NORMAL, order, pure=noisy.scale is not None)
        # An interval keeps its centre: it belongs to the unbiased estimate, not to the monotone one.
        shown_estimates = (
            average_monotone(itemsets, values, float(problem.max_people)) if self.repairs_results else values
        )
        return Found(
            itemsets=itemsets,
            estimates=shown_estimates,
            low=np.minimum(problem.lower_ends(values, values - margins, len(sums.itemsets)), shown_estimates),
            high=np.maximum(values + margins, shown_estimates),
            facts=facts,
            notes=tuple(notes),
        )


def widen_margins(worth: F64, deviations: F64, shown_positions: I64, *, pure: bool) -> F64:
    """Return the factors that widen the margins of the shown itemsets, as the shown noise selected them.

    An itemset far above the last shown one is shown under any noise, so its factor is 1. Of M itemsets within reach of
    the last one, R are shown; their margins have confidence 1 - 0.05 R / M (Benjamini, Yekutieli 2005). The theorem
    supposes independent noise, and sums of cells share noise: tests check the coverage on ties.
    """
    factors = np.ones(len(shown_positions))
    if not len(shown_positions):
        return factors
    # Only itemsets within reach of the last shown one compete with it; the noise selects among them.
    is_near = np.abs(worth - worth[shown_positions[-1]]) <= REACH_STDS * deviations
    is_reached = is_near[shown_positions]
    near_count, reached_count = int(is_near.sum()), int(is_reached.sum())
    if reached_count:
        point = normal_point(0.05 * reached_count / near_count)
        # The tail of a sum of Laplace variables is longer than a normal tail: first term of the Cornish-Fisher
        # expansion.
        tail_correction = TAIL_KURTOSIS * (point**3 - 3 * point) / 8 if pure else 0.0
        factors[is_reached] = max(1.0, (point + tail_correction) / NORMAL)
    return factors


def _fill_top(patterns: Found, longest: int, problem: Problem, meter: Meter) -> Found:
    """Return as many patterns as requested: where the bases hold too few, the missing ones are drawn at random.

    A drawn pattern has the estimate 0 and an interval up to the number of people.
    """
    universe = problem.universe(longest)
    missing_patterns = universe.up_to(problem.top or 0) - len(patterns.itemsets)
    if missing_patterns <= 0:
        return patterns
    # A top has the requested length on every path, also where the bases hold fewer itemsets.
    known_tuples = patterns.itemsets.tuples()
    itemsets = Itemsets.of([*known_tuples, *universe.others(known_tuples, missing_patterns, meter.below)])
    drawn_note = number_of(missing_patterns, "pattern that lies in no basis was", "patterns that lie in no basis were")
    notes = (*patterns.notes, f"{drawn_note} drawn at random.")
    if patterns.estimates is None or patterns.low is None or patterns.high is None:
        return replace(patterns, itemsets=itemsets, notes=notes)
    zero_counts, max_counts = np.zeros(missing_patterns), np.full(missing_patterns, float(problem.max_people))
    columns = ((patterns.estimates, zero_counts), (patterns.low, zero_counts), (patterns.high, max_counts))
    estimates, low, high = (np.concatenate(column) for column in columns)
    return replace(patterns, itemsets=itemsets, estimates=estimates, low=low, high=high, notes=notes)


def min_item_count(min_length: int, max_length: int, top: int, max_items: int) -> int:
    """Return the smallest number of items with at least `top` itemsets of the lengths; at most `max_items`."""
    lengths = range(min_length, max_length + 1)
    return next(
        item_count
        for item_count in count(1)
        if item_count >= max_items or sum(comb(item_count, size) for size in lengths) >= top
    )


def _count_items(engine: SealedEngine, problem: Problem) -> SealedAnswer:
    """Return the sealed number of holders of each item."""
    return engine.answer(Supports(Itemsets.singles(problem.item_count)))


def _describe_bases(facts: dict[str, int]) -> str:
    """Return the note on the numbers of items, pairs and bases."""
    items, pairs, bases = facts["items picked"], facts["pairs picked"], facts["bases counted"]
    pair_phrase = f" and {number_of(pairs, 'pair')} of them" if pairs else ""
    verb = "was" if items == 1 and not pairs else "were"
    return (
        f"{number_of(items, 'item')}{pair_phrase} {verb} picked and covered with {number_of(bases, 'basis', 'bases')}."
    )
