"""The cost of collisions under published seeds, and the number of seeds to publish.

Both follow from public numbers: people, candidates, epsilon, padding. `olh.md` and `wheel.md` derive the formulas, in
their sections *Published seeds*; `published` reads the tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, lgamma, log, log1p, sqrt
from typing import Any

import numpy as np

# The derivations of the bounds below, and their measurements, are in `olh.md` and `wheel.md`. With `WORTH`
# reports per seed, the least number of seeds is reached at 16,384 people.
LEAST_SEEDS = 1 << 10
# The largest number of cells of a table: 1 GiB. Where a table would need more, seeds are fresh.
MOST_CELLS = 1 << 27
# The largest relative growth of the variance of a symbol outside all baskets, for seeds that are published.
LOSS = 0.05
# The least number of reports per seed for which a table is cheaper than single reports: reading a table costs about
# three times seeds times candidates (`wheel.md`), reading reports costs people times candidates.
WORTH = 16
# The least number of standard deviations of a frequent value. Noise alone makes one value in 741 frequent: at half of
# it one in 15, at double of it none, and values below it leak 4.5 variances each (`_MISSED_VARIANCE`).
FAR = 3.0
# The least number of cells for each value that is solved for: the matrix is then within a quarter of the identity.
WELL = 64
# The number of most frequent values, per value of a basket, with their pairs considered. A value outside is held by at
# most 1/64 of the people (`wheel.md`): half doubles that leak, double quadruples the time for pairs.
PAIRED = 64
# The least seeds for each subtracted pair of a value: its pairs add at most 1 / 1,024 to its variance.
PARTNERS = 1024
# One of this number of families of seeds may have a cell through which a report adds more than `amplified` says.
SURE = 1000
_MISSED_VARIANCE = 4.5  # of a value below `FAR` deviations, in variances: the largest k^2 P(N < 3 - k), N normal
_FALSE_FREQUENT = 1 / 700  # the share of values that noise alone makes frequent: P(N > 3) = 1 / 741


def takes_pairs(held: int, seeds: int, buckets: int) -> bool:
    """Return whether pairs are subtracted from a table: if any two values share a bucket for about `WELL` seeds."""
    return held > 1 and seeds >= WELL * buckets


@dataclass(frozen=True, kw_only=True)
class Overlaps:
    """The variance from values of one device in one bucket, in the worst case: equal baskets of all devices.

    Each number is a variance of a frequency, times the number of seeds.

    Parameters
    ----------
    pairs
        Of a value outside the basket: from two values of the basket in one bucket.
    more
        Of a value outside the basket: from three and more.
    company
        Of a value of the basket.
    crowded_company
        Of a value of the basket after pairs were subtracted: from three and more.
    """

    pairs: float = 0.0
    more: float = 0.0
    company: float = 0.0
    crowded_company: float = 0.0

    @staticmethod
    @lru_cache(maxsize=64)
    def of(held: int, buckets: int, own_chance: float) -> Overlaps:
        """Return the variances for a basket of `held` values; `own` is the probability of a bucket of the basket."""

        def unexplained_variance(value_count: int) -> float:
            """Return the variance of a cell over all hash functions, less the part that single values explain."""
            filled = np.zeros(value_count + 1)
            filled[0] = 1.0
            # The law of the number of filled buckets: one value at a time falls into a filled bucket or a new one.
            filled_counts = np.arange(value_count + 1)
            for _ in range(value_count):
                stay = filled * filled_counts / buckets
                filled = stay + np.concatenate(([0.0], (filled - stay)[:-1]))
            empty_chance = (1 - filled_counts * own_chance) / (buckets - filled_counts)
            squares = float(
                (filled * (filled_counts * own_chance**2 + (buckets - filled_counts) * empty_chance**2)).sum()
            )
            uniform = 1 / buckets
            single_values = value_count * ((own_chance - uniform) / (1 - uniform)) ** 2 * (1 - uniform)
            return max(0.0, squares - uniform - single_values) / buckets / (own_chance - uniform) ** 2

        if held < 2:
            return Overlaps()
        pairs = comb(held, 2) * unexplained_variance(2)
        # N further values in the bucket of a value, binomial, make it no likelier, and N of them explain that. Pairs
        # explain 1 + (held - 2) / buckets for each of N (N + 1) / 2, as the two of a pair meet further values too.
        companions = np.arange(held)
        logs = [lgamma(held) - lgamma(count + 1) - lgamma(held - count) for count in companions.tolist()]
        chances = np.exp(np.array(logs) + companions * log(1 / buckets) + (held - 1 - companions) * log1p(-1 / buckets))
        excess = (1 + (held - 2) / buckets) * companions * (companions + 1) / 2 - companions
        crowded_variance = float(chances @ excess**2 - (chances @ excess) ** 2) * (buckets / (buckets - 1)) ** 2
        return Overlaps(
            pairs=pairs,
            more=max(0.0, unexplained_variance(held) - pairs),
            company=(held - 1) / (buckets - 1),
            crowded_company=crowded_variance,
        )


@dataclass(frozen=True, kw_only=True)
class Collisions:
    """The cost of collisions under published seeds, as parts of the variance of an estimate.

    Parameters
    ----------
    seeds, buckets
        The number of published seeds, and of buckets of each.
    symbols
        The number of symbols, with the dummies.
    noise
        The variance of a rare symbol's frequency from the reports of all people.
    held
        The largest number of symbols that a device answers for.
    overlaps
        The variance from symbols of one device in one bucket.
    """

    seeds: int
    buckets: int
    symbols: int
    noise: float
    held: int = 1
    overlaps: Overlaps = Overlaps()

    @property
    def cells(self) -> float:
        """The number of independent cells: the cells of a seed add up to its reports."""
        return float(self.seeds * (self.buckets - 1))

    @property
    def relevant_symbols(self) -> float:
        """The largest number of symbols with a frequency of two deviations: all frequencies add up to `held`."""
        return min(float(self.symbols), self.held * 0.5 / sqrt(self.noise))

    @property
    def relevant_pairs(self) -> float:
        """The largest number of pairs with a frequency of two deviations; a pair is seen in one of `buckets` rows."""
        if not takes_pairs(self.held, self.seeds, self.buckets):
            return 0.0
        return min(comb(self.symbols, 2), comb(self.held, 2) * 0.5 / sqrt(self.noise * self.buckets))

    @property
    def relevant(self) -> float:
        """The largest number of symbols and pairs with a frequency of two deviations."""
        return self.relevant_symbols + self.relevant_pairs

    @property
    def solved(self) -> float:
        """The relative growth of the variance by solving for frequent symbols, and for pairs of them."""
        pairs, pair_deviation = takes_pairs(self.held, self.seeds, self.buckets), sqrt(self.noise * self.buckets)
        paired_symbols = min(self.symbols, PAIRED * self.held, self.held / FAR / pair_deviation) if pairs else 0.0
        partners = min(paired_symbols, self.seeds / PARTNERS, (self.held - 1) * 0.5 / pair_deviation)
        tests = self.symbols + paired_symbols**2 / 2
        return min(self.relevant + tests * _FALSE_FREQUENT, self.cells / WELL) / self.cells + partners / self.seeds

    @property
    def _exceeds_room(self) -> bool:
        return self.relevant > self.cells / WELL

    @property
    def leaked(self) -> float:
        """The growth of all variances by all that is not subtracted, as a part of a rare symbol's variance."""
        unsolved = self.held**2 * WELL / (self.cells * self.noise) if self._exceeds_room else 0.0
        # Pairs with a value below the most frequent ones, and the pairs of a value beyond its allowance.
        subtracts_pairs = self.relevant_pairs and not self._exceeds_room
        unsubtracted = 1 / PAIRED + (self.held - 1) * PARTNERS / self.seeds if subtracts_pairs else 1.0
        overlap_variance = self.overlaps.more + self.overlaps.pairs * min(1.0, unsubtracted)
        return (_MISSED_VARIANCE * self.relevant + unsolved) / self.cells + overlap_variance / (self.seeds * self.noise)

    def leaked_by_company(self, frequency: Any) -> Any:
        """Return the largest variance of a symbol's frequency from the further symbols of its holders.

        Where one of these shares a bucket with the symbol, the bucket is no likelier, so that the symbol seems rarer
        over the seeds that have it so. `wheel.md` derives it, from the squares of how many people hold both.
        """
        variance = self.overlaps.company * frequency**2
        if self.relevant_pairs and not self._exceeds_room:
            company = (self.held - 1) * frequency
            unpaired = np.minimum(company / PAIRED, self.held / (4 * PAIRED))
            excess_partners = company**2 * PARTNERS / (4 * self.seeds)
            missed_pairs = _MISSED_VARIANCE / 2 * company * sqrt(self.noise * self.buckets)
            # Pairs are subtracted but for three kinds: with a rare partner, beyond the allowance, and too weak to see.
            remainder = (unpaired + excess_partners + missed_pairs) / (self.buckets - 1)
            variance = np.minimum(variance, remainder + self.overlaps.crowded_company * frequency**2)
        return (variance if np.ndim(frequency) else float(variance)) / self.seeds


@lru_cache(maxsize=256)
def amplified(seeds: int, buckets: int, symbols: int, held: int = 1) -> Fraction:
    """Return the largest influence of one report on a value's estimate, relative to the influence with fresh seeds.

    Solving adds the report's evidence about all values and pairs that are solved for, each with a small weight of
    either sign.

    1. Given the number of them in a cell, the sum over seeds has terms of mean 0: Bernstein's inequality bounds its
       tail.
    2. The number in a cell is binomial.

    With hash functions that behave as random functions, no cell adds more to any symbol, but for one family of seeds in
    `SURE`: `wheel.md` proves it.
    """
    cells, rows = buckets - 1, float(seeds)
    log_cases = log(2 * SURE * seeds * buckets * symbols)  # a union bound over all cells and symbols, both signs
    mean_members = cells * rows / (WELL * buckets)
    members = mean_members + sqrt(2 * mean_members * log_cases) + log_cases / 3
    variance = np.array([members / (cells * rows) + 1 / (WELL * cells**2)])
    logs, largest = np.zeros(1), buckets / (cells * rows)
    if takes_pairs(held, seeds, buckets):
        paired_symbols, partners = min(symbols, PAIRED * held), seeds // PARTNERS
        inside = np.arange(paired_symbols + 1)
        choices = [
            lgamma(paired_symbols + 1) - lgamma(count + 1) - lgamma(paired_symbols - count + 1)
            for count in inside.tolist()
        ]
        logs = np.array(choices) - inside * log(buckets) + (paired_symbols - inside) * log1p(-1 / buckets)
        own_pairs = np.minimum(inside, partners) * buckets * (buckets / cells) ** 3
        further_pairs = inside * np.minimum(np.maximum(inside - 1, 0), partners) / 2
        variance = variance + (own_pairs + further_pairs * buckets / cells / (1 - 2 / buckets) ** 2) / rows
        largest *= buckets
    variance *= (8 / 7) ** 2
    low, high = 0.0, float(seeds)
    while high > low + 0.001:
        middle = (low + high) / 2
        exceeded = np.logaddexp.reduce(logs - middle**2 / (2 * (variance + largest * middle / 3))) > -log_cases
        low, high = (middle, high) if exceeded else (low, middle)
    return Fraction(49, 48) * (1 + Fraction(high).limit_denominator(1000))


def seeds_for(
    people: int,
    buckets: int,
    symbols: int,
    noise: float,
    held: int = 1,
    overlaps: Overlaps | None = None,
    loss: float = LOSS,
) -> int | None:
    """Return the number of seeds to publish, the least sufficient power of two; None where fresh seeds are better.

    Parameters
    ----------
    people, buckets, symbols
        The number of people, of buckets, and of symbols with the dummies.
    noise
        The variance of a rare symbol's frequency from one report.
    held, overlaps
        As for `Collisions`.
    loss
        The largest relative growth of the variance of a symbol outside all baskets.
    """
    seeds = LEAST_SEEDS
    while seeds * WORTH <= people and seeds * buckets <= MOST_CELLS:
        collisions = Collisions(
            seeds=seeds,
            buckets=buckets,
            symbols=symbols,
            noise=noise / people,
            held=held,
            overlaps=overlaps or Overlaps(),
        )
        if collisions.solved + collisions.leaked <= loss:
            return seeds
        seeds *= 2
    return None
