"""What collisions cost where devices draw from published seeds, and how many seeds there have to be.

All of it follows from public numbers: people, candidates, epsilon, padding. `olh.md` and `wheel.md` derive it, in their
sections *Published seeds*; `published` reads the tables that it is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, lgamma, log, log1p, sqrt

import numpy as np

LEAST_SEEDS = 1 << 10
MOST_CELLS = 1 << 27
"""Cells of a table that an oracle is chosen for: 1 GiB. Where it would need more, seeds are fresh."""
LOSS = 0.05
"""By how much of its own the variance may grow for seeds that are published."""
WORTH = 16
"""Reports per seed from which on a table is worth having."""
FAR = 3.0
"""Deviations from which on a value counts as frequent."""
WELL = 64
"""Cells for each value that is solved for: the matrix is then within a quarter of the identity."""
PAIRED = 64
"""Values, for each that is held, whose pairs are looked at: the most frequent ones."""
PARTNERS = 1024
"""Seeds for each pair of a value that is taken off: its pairs then add no more than a 1,024th to its variance."""
SURE = 1000
"""Of so many families of seeds, one may have a cell from which a report adds more than is said."""
_MISSED = 4.5  # what values below that leak at most: the largest k^2 P(N < 3 - k), in variances each
_FALSE = 1 / 700  # of all values, that noise alone makes frequent


def takes_pairs(held: int, seeds: int, buckets: int) -> bool:
    """Return whether pairs are taken off a table: where any two values share a bucket for 64 seeds or so."""
    return held > 1 and seeds >= WELL * buckets


@dataclass(frozen=True, kw_only=True)
class Overlaps:
    """What the values of one device that share a bucket leave in a table at most, where all devices hold the same set.

    Both are variances of a frequency, times the number of seeds.

    Parameters
    ----------
    pairs
        Of every two of them by themselves.
    more
        Of three and more.
    """

    pairs: float = 0.0
    more: float = 0.0

    @staticmethod
    @lru_cache(maxsize=64)
    def of(held: int, buckets: int, own: float) -> Overlaps:
        """Return them for so many held values and buckets, and the probability of a bucket that a value is in."""

        def left(many: int) -> float:
            """Return the variance of a cell over all hash functions, less what each value by itself explains."""
            filled = np.zeros(many + 1)
            filled[0] = 1.0
            taken = np.arange(many + 1)
            for _ in range(many):  # one value more falls into a bucket that is taken, or into another one
                stay = filled * taken / buckets
                filled = stay + np.concatenate(([0.0], (filled - stay)[:-1]))
            rest = (1 - taken * own) / (buckets - taken)
            squares = float((filled * (taken * own**2 + (buckets - taken) * rest**2)).sum())
            other = 1 / buckets
            alone = many * ((own - other) / (1 - other)) ** 2 * (1 - other)
            return max(0.0, squares - other - alone) / buckets / (own - other) ** 2

        if held < 2:
            return Overlaps()
        pairs = comb(held, 2) * left(2)
        return Overlaps(pairs=pairs, more=max(0.0, left(held) - pairs))


@dataclass(frozen=True, kw_only=True)
class Collisions:
    """What collisions cost where devices draw from published seeds: parts of the variance of an estimate.

    Parameters
    ----------
    seeds, buckets
        How many there are.
    symbols
        How many there are, dummies among them.
    noise
        The variance of a symbol's frequency that the reports of all people make, for a rare one.
    held
        How many symbols a device answers for at most.
    overlaps
        What those of one device leave in a table that share a bucket.
    """

    seeds: int
    buckets: int
    symbols: int
    noise: float
    held: int = 1
    overlaps: Overlaps = Overlaps()

    @property
    def cells(self) -> float:
        """The cells that can be told apart: what collisions are divided by."""
        return float(self.seeds * (self.buckets - 1))

    @property
    def alone(self) -> float:
        """How many symbols can matter: those with a frequency of two deviations, as all add up to what is held."""
        return min(float(self.symbols), self.held * 0.5 / sqrt(self.noise))

    @property
    def together(self) -> float:
        """How many pairs of symbols can matter; they are told less exactly by as much as they share buckets seldom."""
        if not takes_pairs(self.held, self.seeds, self.buckets):
            return 0.0
        return min(comb(self.symbols, 2), comb(self.held, 2) * 0.5 / sqrt(self.noise * self.buckets))

    @property
    def matter(self) -> float:
        """How many of both can matter at most."""
        return self.alone + self.together

    @property
    def solved(self) -> float:
        """By which part the variance grows as frequent symbols are solved for, and pairs of them."""
        pairs, rough = takes_pairs(self.held, self.seeds, self.buckets), sqrt(self.noise * self.buckets)
        looked = min(self.symbols, PAIRED * self.held, self.held / FAR / rough) if pairs else 0.0
        partners = min(looked, self.seeds / PARTNERS, (self.held - 1) * 0.5 / rough)
        false = self.symbols + looked**2 / 2
        return min(self.matter + false * _FALSE, self.cells / WELL) / self.cells + partners / self.seeds

    @property
    def leaked(self) -> float:
        """By which part of a rare symbol's variance that of all grows, for what is not taken off."""
        most = self.cells / WELL
        few = self.matter > most
        beyond = self.held**2 / (most * self.noise) if few else 0.0
        # Pairs with a value that is not looked at, and those that a value has too many of.
        rest = 1 / PAIRED + (self.held - 1) * PARTNERS / self.seeds if self.together and not few else 1.0
        left = self.overlaps.more + self.overlaps.pairs * min(1.0, rest)
        return (_MISSED * self.matter + beyond) / self.cells + left / (self.seeds * self.noise)


@lru_cache(maxsize=256)
def amplified(seeds: int, buckets: int, symbols: int, held: int = 1) -> Fraction:
    """Return how much more one report can add to a value's estimate than with fresh seeds.

    Solving adds what the report says of other values that are solved for, and of pairs of them, each with a small
    weight of either sign. Given how many of them lie in a cell, that is a sum over seeds of terms of mean 0, whose
    tail Bernstein's inequality bounds. How many lie in a cell is binomial. With hash functions that behave as random
    ones, no cell adds more to any symbol, but for one family of seeds in `SURE`: `wheel.md` proves it.
    """
    cells, rows = buckets - 1, float(seeds)
    chances = log(2 * SURE * seeds * buckets * symbols)
    usual = cells * rows / (WELL * buckets)
    members = usual + sqrt(2 * usual * chances) + chances / 3
    variance = np.array([members / (cells * rows) + 1 / (WELL * cells**2)])
    logs, largest = np.zeros(1), buckets / (cells * rows)
    if takes_pairs(held, seeds, buckets):
        looked, partners = min(symbols, PAIRED * held), seeds // PARTNERS
        inside = np.arange(looked + 1)
        choices = [lgamma(looked + 1) - lgamma(one + 1) - lgamma(looked - one + 1) for one in inside.tolist()]
        logs = np.array(choices) - inside * log(buckets) + (looked - inside) * log1p(-1 / buckets)
        own = np.minimum(inside, partners) * buckets * (buckets / cells) ** 3
        others = inside * np.minimum(np.maximum(inside - 1, 0), partners) / 2
        variance = variance + (own + others * buckets / cells / (1 - 2 / buckets) ** 2) / rows
        largest *= buckets
    variance *= (8 / 7) ** 2
    low, high = 0.0, float(seeds)
    while high > low + 0.001:
        middle = (low + high) / 2
        exceeded = np.logaddexp.reduce(logs - middle**2 / (2 * (variance + largest * middle / 3))) > -chances
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
    """Return how many seeds to publish for so many people, a power of two; None where fresh ones are better.

    Parameters
    ----------
    people, buckets, symbols
        How many there are, dummies among the symbols.
    noise
        The variance of a symbol's frequency that one report makes, for a rare one.
    held, overlaps
        As for `Collisions`.
    loss
        By how much of its own the variance may grow.
    """
    seeds = LEAST_SEEDS
    while seeds * WORTH <= people and seeds * buckets <= MOST_CELLS:
        added = Collisions(
            seeds=seeds,
            buckets=buckets,
            symbols=symbols,
            noise=noise / people,
            held=held,
            overlaps=overlaps or Overlaps(),
        )
        if added.solved + added.leaked <= loss:
            return seeds
        seeds *= 2
    return None
