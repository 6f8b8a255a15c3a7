"""The law of honest reports for any data, and the largest influence of one report: public numbers of an oracle.

Each report has a *blank* law, which depends on the oracle's numbers alone. No basket makes any report more than `ratio`
times as likely as the blank law does, since the report is private. So an event that is improbable under the blank law
is improbable for each person, for any data. `local/study/screening.md` has the proofs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lgamma, log, log1p
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# For a number n of given values: the probabilities that a report names at least 0, 1, 2 ... n of the values.
Tail: TypeAlias = Callable[[int], NDArray[np.float64]]

SEED_BITS = 63  # an odd multiplier of 32 bits (31 of them free) and an increment of 32 bits


@dataclass(frozen=True, kw_only=True)
class Influence:
    """The largest influence of one report on estimates, for any sender.

    Parameters
    ----------
    people
        The growth of the estimate of one value, in people, by one report that names the value instead of a report that
        says nothing. An honest holder's report adds one person on average.
    values
        The largest number of values, chosen by the sender, that one report can name at once.
    """

    people: Fraction
    values: int

    def harm(self, targets: int) -> float:
        """Return the people that one report adds to each target value, when reports divide the targets evenly."""
        return float(self.people) * min(1.0, self.values / targets)


@dataclass(frozen=True, kw_only=True)
class PairLaw:
    """The probabilities that a report names both of two given values, the first, and the second, for one basket."""

    both: Fraction
    first_value: Fraction
    second_value: Fraction


@dataclass(frozen=True, kw_only=True, eq=False)
class HonestLaw:
    """The law of honest reports, for any basket.

    Parameters
    ----------
    p_other
        The probability that a report names a value outside the basket.
    pair_laws
        The law of two given values, for baskets with no value, one value or both values.
    ratio
        The largest ratio of the probability of a report for a basket to its probability under the blank law.
    tail
        For a number n of given values: the probabilities under the blank law that a report names at least 0, 1, 2 … n
        of the values. None where the law is not known.
    """

    p_other: Fraction
    pair_laws: tuple[PairLaw, ...]
    ratio: Fraction
    tail: Tail | None

    @property
    def excess(self) -> Fraction:
        """The largest mean of (I - q) (J - q), with I and J for "the report names this value" and q = `p_other`.

        It measures how much more often two values are named together than both alone explain: it is nearly 0, or
        negative, for any basket.
        """
        q = self.p_other
        # E (I - q) (J - q) = P(both) - q (P(I) + P(J)) + q^2.
        return max(law.both - q * (law.first_value + law.second_value) + q * q for law in self.pair_laws)

    @property
    def square(self) -> Fraction:
        """The largest mean of (I - q)^2 (J - q)^2, with I, J and q as for `excess`."""
        q = self.p_other
        return max(
            law.both * (1 - q) ** 4
            + (law.first_value + law.second_value - 2 * law.both) * (1 - q) ** 2 * q**2
            + (1 - law.first_value - law.second_value + law.both) * q**4
            for law in self.pair_laws
        )


def independent_pair_laws(p_own: Fraction, p_other: Fraction) -> tuple[PairLaw, ...]:
    """Return the pair laws of an oracle for one value that names all further values independently.

    `own` and `other` are the probabilities that a report names a value in the basket, and a value outside of it.
    """
    return (
        PairLaw(both=p_other * p_other, first_value=p_other, second_value=p_other),
        PairLaw(both=p_own * p_other, first_value=p_own, second_value=p_other),
    )


def independent_tail(chance: Fraction) -> Tail:
    """Return the tails of a binomial law: each value is named independently with the probability `chance`."""

    def tail(value_count: int) -> NDArray[np.float64]:
        log_named, log_unnamed = log(chance), log1p(-float(chance))
        logs = [
            _log_binomial(value_count, name_count) + name_count * log_named + (value_count - name_count) * log_unnamed
            for name_count in range(value_count + 1)
        ]
        return _sum_tails(logs)

    return tail


def tail_without_replacement(symbols: int, sample_size: int) -> Tail:
    """Return the tails of a hypergeometric law: a report names a random subset of `sample_size` symbols."""

    def tail(value_count: int) -> NDArray[np.float64]:
        log_subsets = _log_binomial(symbols, sample_size)
        logs = [
            _log_binomial(value_count, name_count)
            + _log_binomial(symbols - value_count, sample_size - name_count)
            - log_subsets
            for name_count in range(value_count + 1)
        ]
        return _sum_tails(logs)

    return tail


def count_colliding_values(chance: Fraction, bits: int = SEED_BITS) -> int:
    """Return the number of values, chosen by the sender, that some seed of `bits` bits hashes together.

    Each further value meets the first with the probability `chance`. Of 2^bits seeds, one is expected to put n further
    values there as long as 2^bits * chance^n >= 1.
    """
    return 1 + int(bits * log(2) / -log(chance))


def _log_binomial(total: int, subset_size: int) -> float:
    """Return the logarithm of a binomial coefficient; that of 0 is -infinity."""
    if not 0 <= subset_size <= total:
        return -np.inf
    return lgamma(total + 1) - lgamma(subset_size + 1) - lgamma(total - subset_size + 1)


def _sum_tails(logs: list[float]) -> NDArray[np.float64]:
    """Return the sum of probabilities from each position on; rounding must not make a sum larger than 1."""
    tails: NDArray[np.float64] = np.cumsum(np.exp(np.array(logs))[::-1])[::-1]
    return np.minimum(tails, 1.0)
