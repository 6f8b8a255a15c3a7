"""Patterns that may be among the top, level by level: the evidence about each pattern, and the belief about it.

Items are believed first, then all pairs of the most frequent items, then larger sets with every part likely to be among
the top. The guess of each level comes from the level below. Nothing in this module sends a question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from math import exp, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets import Lineage
from ._beliefs import Belief, Evidence, ItemLaw, Values, belief_without_prior, log_scaled_cdf
from ._priors import LARGER, PAIRS, ItemsetGuess, ItemsetPrior, fit_prior

Itemset: TypeAlias = tuple[int, ...]
# From the frequency of patterns to the share of the common error of a round that their estimates have.
ErrorShare: TypeAlias = Callable[[Values], Values]

# Chosen as `local/protocols/adept.md` says, in its section "Constants". What half and double of the numbers change is
# printed by `python -m benchmarks.constants`; figures below are NCR at half, at the value and at double, of four runs.
# The number of items that are considered for each pattern of the top.
ITEMS_PER_PATTERN = 3
# The least and the largest number of items that are paired.
MIN_PAIRED_ITEMS, MAX_PAIRED_ITEMS = 200, 400
# The largest number of items that are considered, unless the top is larger.
MAX_ITEMS = 20_000
# The number of items that are kept after the first round, those with the largest estimates: more than are ever
# considered. Further items count in the law of item frequencies alone.
MAX_KEPT_ITEMS = 1 << 17
# The least probability to be among the top that a set needs to be joined to a larger set.
PLAUSIBLE = 0.003
# The number of sets of a level, the likeliest among the top, that are joined to larger sets.
MAX_JOINED_SETS = 1500
# Arithmetic alone: far below one person in any study, so that logarithms and ratios are finite.
_MIN_MEAN = 1e-9
_MIN_THRESHOLD = 1e-6
_MAX_ERROR = 0.75  # the largest common error of a round, relative to the frequencies
_ERROR_STEP = 0.005  # of the grid of common errors: a thirtieth of the independent error of a pattern
_INFORMATIVE_DEVIATIONS = 2.0  # below 1: nearer to 1, an estimate bears on the question of whether all are too large
_NEGLIGIBLE_PROBABILITY = 1e-5  # of 20,000 patterns, all below it together are a fifth of a pattern
_THRESHOLD_PRECISION = 0.002  # of the logarithm of a threshold


class EvidenceTable:
    """The evidence of all rounds about itemsets.

    Parameters
    ----------
    prior
        Whether an estimate is shrunk to the prior learnt from all estimates, or believed unchanged.
    merged
        Whether all rounds count, by their precision, or only the newest.
    """

    def __init__(self, *, prior: bool = True, merged: bool = True) -> None:
        self.prior, self.merged = prior, merged
        self.rows: dict[Itemset, tuple[float, float, float, float]] = {}

    def add(self, sets: list[Itemset], evidence: Evidence, frequencies: Values) -> None:
        """Add a round's evidence about sets that are believed to have about the given frequencies."""
        self._put(sets, self.merge(self.evidence_of(sets), evidence, frequencies))

    def merge(self, earlier: Evidence, newer: Evidence, frequencies: Values) -> Evidence:
        """Return the evidence of earlier rounds and of a new one together, weighted for the given frequencies."""
        return earlier.merge(newer, frequencies) if self.merged else newer

    def remove_error(self, error: float, error_share: ErrorShare) -> None:
        """Take a common error out of all evidence."""
        sets = list(self.rows)
        self._put(sets, remove_common_error(self.evidence_of(sets), error, error_share))

    def _put(self, sets: list[Itemset], evidence: Evidence) -> None:
        rows = zip(*(column.tolist() for column in evidence.columns), strict=True)
        self.rows.update(zip(sets, rows, strict=True))

    def evidence_of(self, sets: list[Itemset]) -> Evidence:
        """Return the evidence about each set; infinite noise for a set that was not measured."""
        unmeasured = (0.0, np.inf, 0.0, 0.0)
        return Evidence(*np.array([self.rows.get(itemset, unmeasured) for itemset in sets]).reshape(-1, 4).T)

    def believe(self, sets: list[Itemset], guess: ItemsetGuess, default: ItemsetPrior) -> Belief:
        """Return the posterior of sets, by the evidence about them and by the guess from their parts."""
        evidence = self.evidence_of(sets)
        if self.prior:
            return fit_prior(default, evidence, guess).posterior(evidence, guess)
        variance = guess.variance + default.spread * guess.means**2
        by_parts = Evidence.noisy(guess.means, variance)
        is_unmeasured = np.isinf(evidence.noise)
        return belief_without_prior(evidence.put(is_unmeasured, by_parts.take(is_unmeasured)))


def share_error_fully(frequencies: Values) -> Values:
    """Return 1 for each frequency: the estimate has all of the common error of its round."""
    return np.ones(len(frequencies))


def remove_common_error(evidence: Evidence, error: float, error_share: ErrorShare) -> Evidence:
    """Return the evidence less a common error, relative to the frequency and times each estimate's share of it."""
    return evidence.scale(1 - error * error_share(np.clip(evidence.values, 0.0, 1.0)))


@dataclass(eq=False)
class PatternLevel:
    """Sets of one size, and the belief about each."""

    sets: list[Itemset]
    means: Values
    belief: Belief
    positions: dict[Itemset, int]

    @classmethod
    def build(cls, sets: list[Itemset], belief: Belief, cap: Values | float = 1.0) -> PatternLevel:
        """Return a level with no set more frequent than its parts."""
        means = np.clip(belief.means, 0.0, cap)
        return cls(sets, means, belief, {itemset: position for position, itemset in enumerate(sets)})

    def positions_of(self, sets: Iterable[Itemset]) -> NDArray[np.int64]:
        """Return the position of each set in the level."""
        return np.array([self.positions[itemset] for itemset in sets], np.int64)


def select_items(
    law: ItemLaw | None, evidence: Evidence, count: int, item_codes: NDArray[np.int64] | None = None
) -> PatternLevel:
    """Return the `count` items of largest posterior mean, in falling order; without a law, of largest estimate.

    `item_codes` are the codes of the items that the evidence is about, unless it is about all items.
    """
    selected = np.argsort(-(law.posterior_means(evidence) if law else evidence.values), kind="stable")[:count]
    selected_evidence, codes = evidence.take(selected), selected if item_codes is None else item_codes[selected]
    return PatternLevel.build(
        [(int(item),) for item in codes],
        law.posterior(selected_evidence) if law else belief_without_prior(selected_evidence),
    )


def build_pairs(
    items: PatternLevel, table: EvidenceTable, max_items: int = MAX_PAIRED_ITEMS, lineage: Lineage | None = None
) -> PatternLevel:
    """Return all pairs of the first `max_items` items, each with the product of its items' frequencies as its guess.

    Where items stand above other items, an item and one above it are no pair. They are in no larger set either, as each
    part of a larger set is a pair.
    """
    rows, columns = np.triu_indices(min(len(items.sets), max_items), 1)
    item_codes = np.array([item for (item,) in items.sets], np.int64)
    if lineage is not None:
        unrelated = ~lineage.find_related_pairs(item_codes[:max_items].tolist())[rows, columns]
        rows, columns = rows[unrelated], columns[unrelated]
    low, high = np.minimum(item_codes[rows], item_codes[columns]), np.maximum(item_codes[rows], item_codes[columns])
    sets: list[Itemset] = list(zip(low.tolist(), high.tolist(), strict=True))
    means = np.maximum(items.means, _MIN_MEAN)
    product, relative = means[rows] * means[columns], items.belief.variance / means**2
    # Relative variances of a product add up; a guess that is off by more than itself says nothing more.
    product_variance = product**2 * np.minimum(relative[rows] + relative[columns], 1.0)
    cap = np.minimum(means[rows], means[columns])
    variance = items.belief.variance
    # Inclusion-exclusion: P(A and B) >= P(A) + P(B) - 1.
    floor = _floor(means[rows] + means[columns] - 1, variance[rows] + variance[columns], product)
    belief = table.believe(sets, ItemsetGuess(means=product, variance=product_variance, cap=cap, floor=floor), PAIRS)
    return PatternLevel.build(sets, belief, np.minimum(items.means[rows], items.means[columns]))


def build_larger_sets(
    levels: list[PatternLevel], top_probabilities: Values, table: EvidenceTable
) -> PatternLevel | None:
    """Return the sets of one item more with every part likely enough to be among the top, or None without such sets.

    For two members a and b of a set and its remaining members r, P(a, b, r) = P(a, r) P(b, r) / P(r) if a and b are
    independent given r. The guess is the geometric mean of that over all pairs of members.
    """
    level, level_below = levels[-1], levels[-2]
    plausible = np.flatnonzero(top_probabilities > PLAUSIBLE)
    plausible = plausible[np.argsort(-top_probabilities[plausible], kind="stable")][:MAX_JOINED_SETS]
    sets = _join_sets([level.sets[position] for position in plausible])
    if not sets:
        return None
    size = len(sets[0])
    part_positions = [
        level.positions_of(itemset[:member] + itemset[member + 1 :] for itemset in sets) for member in range(size)
    ]
    part_means = np.array([level.means[positions] for positions in part_positions])
    parts = np.maximum(part_means, _MIN_MEAN)
    relative = np.array([level.belief.variance[positions] for positions in part_positions]) / parts**2
    inner_means = np.array(
        [
            level_below.means[
                level_below.positions_of(
                    itemset[:first_member] + itemset[first_member + 1 : second_member] + itemset[second_member + 1 :]
                    for itemset in sets
                )
            ]
            for first_member, second_member in combinations(range(size), 2)
        ]
    )
    # Each part is in size - 1 of the size (size - 1) / 2 pairs of members: the mean has it with the factor 2 / size.
    logs = 2 / size * np.log(parts).sum(0) - np.log(np.maximum(inner_means, _MIN_MEAN)).mean(0)
    cap = parts.min(0)
    guess = np.minimum(np.exp(logs), cap)
    guess_variance = guess**2 * np.minimum(4 / size**2 * relative.sum(0), 1.0)
    # Inclusion-exclusion among the holders of r: P(a, b, r) >= P(a, r) + P(b, r) - P(r).
    bound = 2 / size * part_means.sum(0) - inner_means.mean(0)
    floor = _floor(bound, 4 / size**2 * (relative * parts**2).sum(0), guess)
    belief = table.believe(sets, ItemsetGuess(means=guess, variance=guess_variance, cap=cap, floor=floor), LARGER)
    return PatternLevel.build(sets, belief, part_means.min(0))


def _floor(bound: Values, variance: Values, guess: Values) -> Values:
    """Return the least frequency of each set: its bound less one standard deviation, and at most its guess."""
    return np.clip(bound - np.sqrt(variance), 0.0, guess)


def _join_sets(sets: list[Itemset]) -> list[Itemset]:
    """Return the sets of one item more that have all of their parts in `sets` (the join and the pruning of Apriori)."""
    present, by_start = set(sets), dict[Itemset, list[int]]()
    for itemset in sorted(sets):
        by_start.setdefault(itemset[:-1], []).append(itemset[-1])
    joined_sets = []
    for start, ends in by_start.items():
        for low_end, high_end in combinations(ends, 2):
            joined_set = (*start, low_end, high_end)
            if all(joined_set[:member] + joined_set[member + 1 :] in present for member in range(len(start))):
                joined_sets.append(joined_set)
    return joined_sets


class PatternBeliefs:
    """The evidence and the belief about all patterns, and the frequency that separates the top from all else.

    Parameters
    ----------
    items, doubt
        The evidence of the first round about each item, and the standard deviation of its common error, relative to
        the frequencies.
    error_share
        From the frequency of items to their share of the common error of the first round.
    top, least
        The number of patterns in the top, and the least number of items in a pattern.
    largest
        The largest number of items in a pattern.
    prior, merged
        As for `EvidenceTable`, and of items too.
    lineage
        The items that stand above each item, where a study has a hierarchy.
    """

    def __init__(
        self,
        items: Evidence,
        doubt: float,
        error_share: ErrorShare = share_error_fully,
        *,
        top: int,
        least: int,
        largest: int,
        prior: bool = True,
        merged: bool = True,
        lineage: Lineage | None = None,
    ) -> None:
        # All estimates have equal noise, so that the order of the estimates is their order under any law.
        self.item_codes = np.sort(np.argsort(-items.values, kind="stable")[:MAX_KEPT_ITEMS])
        kept_items = items.take(self.item_codes)
        self.precision_of_dropped_items = float((1 / items.noise).sum() - (1 / kept_items.noise).sum())
        self.items = remove_common_error(kept_items, _common_excess(kept_items, doubt, error_share), error_share)
        self.doubt, self.error_share = doubt, error_share
        self.top, self.least, self.largest, self.lineage = top, least, largest, lineage
        # The law is learnt from all items: without the dropped ones it would have no small frequencies.
        self.law = ItemLaw.learn(items) if prior else None
        self.table = EvidenceTable(prior=prior, merged=merged)
        self.update()

    def item_positions(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of items among the kept items."""
        return np.searchsorted(self.item_codes, items)

    @property
    def precision_of_items(self) -> float:
        """The precision of all items together: the sum of 1 / variance over their estimates."""
        return float((1 / self.items.noise).sum()) + self.precision_of_dropped_items

    def update(self) -> None:
        """Compute all beliefs anew: of items, of pairs of the most frequent items, and of plausible larger sets."""
        item_count = max(MIN_PAIRED_ITEMS, ITEMS_PER_PATTERN * self.top)
        self.levels = [select_items(self.law, self.items, max(self.top, min(item_count, MAX_ITEMS)), self.item_codes)]
        if self.largest > 1 and len(self.levels[0].sets) > 1:
            pairs = build_pairs(self.levels[0], self.table, min(item_count, MAX_PAIRED_ITEMS), self.lineage)
            self.levels += [pairs] if pairs.sets else []
        self.threshold = _find_threshold(self.levels[self.least - 1 :], self.top, _MIN_THRESHOLD)
        while 2 <= len(self.levels) < self.largest:
            top_probabilities = self.levels[-1].belief.probability_above(self.threshold)
            level = build_larger_sets(self.levels, top_probabilities, self.table)
            if level is None:
                break
            self.levels.append(level)
            # More patterns can only make the last pattern of the top more frequent.
            self.threshold = _find_threshold(self.levels[self.least - 1 :], self.top, self.threshold)

    def uncertain_patterns(self, probability: float, max_patterns: int, max_held: float = np.inf) -> list[Itemset]:
        """Return the patterns that are neither surely above the threshold nor surely below it.

        The patterns are sorted by size and codes, so that a question looks alike for any order of discovery.

        Parameters
        ----------
        probability
            A pattern is uncertain if its probability to be above the threshold is above `probability` and below
            1 - `probability`.
        max_patterns
            The largest number of patterns; the most uncertain patterns are kept.
        max_held
            The largest expected number of these patterns in a basket. The most uncertain pattern is always kept.
        """
        sets = [itemset for level in self.levels for itemset in level.sets]
        top_probabilities = np.concatenate([level.belief.probability_above(self.threshold) for level in self.levels])
        uncertain = np.flatnonzero((top_probabilities > probability) & (top_probabilities < 1 - probability))
        order = uncertain[np.argsort(np.abs(top_probabilities[uncertain] - 0.5), kind="stable")][:max_patterns]
        means = np.concatenate([level.means for level in self.levels])
        return sorted((sets[position] for position in _limit_held(order, means, max_held)), key=_size_and_codes)

    def expected_held(self, patterns: list[Itemset]) -> dict[int, float]:
        """Return, by length, the expected number of the patterns in a basket."""
        held_by_length: dict[int, float] = {}
        for itemset in patterns:
            level = self.levels[len(itemset) - 1]
            expected = held_by_length.get(len(itemset), 0.0) + float(level.means[level.positions[itemset]])
            held_by_length[len(itemset)] = expected
        return held_by_length

    @property
    def target_frequency(self) -> float:
        """The frequency at which the next round should have its least error.

        It is the threshold, or the mean of the last pattern of the top if that is larger. If all patterns fit into the
        top, no pattern is at its border: then it is the mean frequency of all patterns.
        """
        means = np.concatenate([level.means for level in self.levels[self.least - 1 :] or self.levels])
        if len(means) <= self.top:
            return max(self.threshold, float(means.mean()))
        return max(self.threshold, float(np.partition(means, -self.top)[-self.top]))

    def most_frequent(self, count: int, max_held: float = np.inf) -> list[Itemset]:
        """Return the `count` patterns of largest mean, within `max_held` as for `uncertain_patterns`."""
        levels = self.levels[self.least - 1 :] or self.levels
        sets = [itemset for level in levels for itemset in level.sets]
        means = np.concatenate([level.means for level in levels])
        order = np.argsort(-means, kind="stable")[:count]
        return sorted((sets[position] for position in _limit_held(order, means, max_held)), key=_size_and_codes)

    def add(
        self, patterns: list[Itemset], evidence: Evidence, doubt: float, error_share: ErrorShare = share_error_fully
    ) -> None:
        """Add a round's evidence about the patterns that it asked for, and compute all beliefs anew.

        Parameters
        ----------
        patterns
            The patterns, as `uncertain_patterns` returned them.
        evidence
            The evidence of the round's reports about each pattern.
        doubt
            The standard deviation of the common error of the round, relative to the frequencies.
        error_share
            From the frequency of patterns to their share of that error.
        """
        by_size = [[itemset for itemset in patterns if len(itemset) == size] for size in range(1, len(self.levels) + 1)]
        positions = [level.positions_of(sets) for level, sets in zip(self.levels, by_size, strict=True)]
        means = np.concatenate([level.means[rows] for level, rows in zip(self.levels, positions, strict=True)])
        variance = np.concatenate(
            [level.belief.variance[rows] for level, rows in zip(self.levels, positions, strict=True)]
        )
        items = np.array([item for (item,) in by_size[0]], np.int64)
        is_item = np.arange(len(patterns)) < len(items)  # patterns are sorted by size
        sets = patterns[len(items) :]
        was_measured = np.isfinite(self.table.evidence_of(sets).noise)
        repeated = np.concatenate((np.flatnonzero(is_item), len(items) + np.flatnonzero(was_measured)))
        errors = CommonErrors.estimate(
            evidence.take(repeated),
            (means[repeated], variance[repeated]),
            (self.doubt, doubt),
            (self.error_share(means[repeated]), error_share(means[repeated])),
        )
        # The common error of all earlier rounds is taken out of their evidence and of the law learnt from it; its
        # remaining deviation is the doubt from here on. The error of this round is taken out of its evidence; the
        # remaining difference between both errors stays with this round, as relative variance. Only then do they merge.
        self.items, self.doubt = remove_common_error(self.items, errors.earlier, self.error_share), errors.doubt
        self.table.remove_error(errors.earlier, self.error_share)
        if self.law:
            self.law = self.law.scale(1 - errors.earlier * self.error_share(self.law.centres))
        shares = error_share(np.clip(evidence.values, 0.0, 1.0))
        evidence = evidence.scale(1 / (1 + errors.newer * shares), errors.spare * shares**2)
        item_positions = self.item_positions(items)
        merged_items = self.table.merge(self.items.take(item_positions), evidence.take(is_item), means[is_item])
        self.items = self.items.put(item_positions, merged_items)
        self.table.add(sets, evidence.take(~is_item), means[~is_item])
        self.update()


def _common_excess(evidence: Evidence, doubt: float, error_share: ErrorShare) -> float:
    """Return the common error by which all estimates of a round are too large, as no true frequency is above 1.

    The likeliest error of a grid: estimates less the error are at most 1 but for their noise, and the error has a
    normal prior with the deviation `doubt`.
    """
    high = evidence.take(evidence.values + _INFORMATIVE_DEVIATIONS * np.sqrt(evidence.noise) > 1)
    if not len(high.values) or doubt <= 0:
        return 0.0
    errors = np.arange(0.0, _MAX_ERROR, _ERROR_STEP)
    reduced_values = high.values * (1 - errors[:, None] * error_share(np.clip(high.values, 0.0, 1.0)))
    z = (1 - reduced_values) / np.sqrt(high.noise)
    logs = (log_scaled_cdf(z) - z**2 / 2).sum(1) - (errors / doubt) ** 2 / 2
    return float(errors[np.argmax(logs)])


@dataclass(frozen=True, kw_only=True)
class CommonErrors:
    """The estimates of two errors: the common error of all earlier rounds, and the common error of a new round.

    Parameters
    ----------
    earlier, newer
        The excess of the earlier evidence and of the new evidence over the true frequencies, relative to the earlier
        means.
    doubt
        The standard deviation of the remaining error of the earlier rounds.
    spare
        The variance of the remaining difference between both errors.
    """

    earlier: float
    newer: float
    doubt: float
    spare: float

    @classmethod
    def estimate(
        cls,
        evidence: Evidence,
        earlier_belief: tuple[Values, Values],
        doubts: tuple[float, float],
        error_shares: tuple[Values, Values],
    ) -> CommonErrors:
        """Compare a round's evidence with the earlier means and variances of its patterns.

        With the errors b of earlier rounds and n of the new one, the true frequency is (1 - b s) m for the earlier mean
        m, and the new estimate is (1 - b s + n t) m; s and t are the pattern's shares of both errors. That is a linear
        regression in b and n, with normal priors of the deviations `doubts`; each pattern is weighted by its precision.
        """
        means, variance = earlier_belief
        if not len(means):
            return cls(earlier=0.0, newer=0.0, doubt=doubts[0], spare=0.0)
        rows = np.stack((-means * error_shares[0], means * error_shares[1]))
        weighted_rows = rows / (evidence.noise_at(means) + variance + evidence.relative * means**2)
        prior = np.diag(np.square(doubts))
        # prior (1 + rows W rows' prior)^-1 is the posterior covariance, also for a prior of 0 that has no inverse.
        covariance = prior @ np.linalg.inv(np.eye(2) + weighted_rows @ rows.T @ prior)
        earlier, newer = np.clip(
            covariance @ weighted_rows @ (evidence.values - means), -_MAX_ERROR, _MAX_ERROR
        ).tolist()
        difference_variance = covariance[0, 0] + covariance[1, 1] - covariance[0, 1] - covariance[1, 0]
        return cls(
            earlier=earlier,
            newer=newer,
            doubt=sqrt(max(covariance[0, 0], 0.0)),
            spare=max(float(difference_variance), 0.0),
        )


def _size_and_codes(itemset: Itemset) -> tuple[int, Itemset]:
    return len(itemset), itemset


def _limit_held(order: NDArray[np.int64], means: Values, max_held: float) -> NDArray[np.int64]:
    """Return the start of an order with an expected number in a basket of at most `max_held`; one pattern at least."""
    return order[: max(1, int(np.searchsorted(np.cumsum(means[order]), max_held, "right")))]


def _find_threshold(levels: list[PatternLevel], top: int, min_threshold: float) -> float:
    """Return the frequency, at least `min_threshold`, that an expected number of `top` patterns exceeds.

    The last of the `top` largest means would be far too low where little is known: the means of patterns that are not
    known to be frequent are near 0. Found by bisection of the logarithm.
    """
    low, high, beliefs = log(min_threshold), 0.0, [level.belief for level in levels]
    while high - low > _THRESHOLD_PRECISION:
        middle = (low + high) / 2
        probabilities = [belief.probability_above(exp(middle)) for belief in beliefs]
        if sum(float(column.sum()) for column in probabilities) > top:
            low = middle
            # A pattern with a negligible probability here has a smaller one at any higher threshold.
            beliefs = [
                belief.take(column > _NEGLIGIBLE_PROBABILITY)
                for belief, column in zip(beliefs, probabilities, strict=True)
            ]
        else:
            high = middle
    return exp(high)
