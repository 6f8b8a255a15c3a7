"""The significance of rules: p-values of Fisher's exact test, adjusted for the number of tests.

A rule states that holders of the antecedent hold the consequent more often than other people. If the two were
independent, the number of holders of both, among n people of whom a and c hold the sides, would be hypergeometric. The
p-value is the probability of at least the observed number: one tail, as a rule that is rarer than chance is no finding.
Fisher's test is exact for small expected counts, which rules often have, and where the chi-squared test is unreliable.
The tail is summed from its largest term on, which takes few terms for a strong rule.

The page `significance` of the documentation explains p-values and their adjustment.
"""

from __future__ import annotations

from math import lgamma, log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Lineage
from ._itemsets import Itemsets, Mask
from ._measures import Ends

Column = NDArray[np.float64]

# A tail has about as many terms as the square root of the number of people. Eight times the people on Earth: no real
# table is larger.
MAX_PEOPLE = 1 << 36
# The smallest p-value: a smaller one is replaced by this upper bound.
LEAST_P = float(np.finfo(np.float64).tiny)
# Rows summed at once, so that they stay in the cache; and terms summed between two checks for finished rows.
_ROWS, _TERMS = 8192, 8
# The largest part of a sum that omitted terms may add: the rounding error of a float.
_TOLERANCE = 2.0**-52


def _exact_stirling_error(number: int) -> float:
    return lgamma(number + 1) - (number + 0.5) * log(number) + number - log(2 * pi) / 2 if number else 0.0


# The error of Stirling's formula: exact below 16, and beyond a series, whose next term is below 1e-16.
_SMALL_ERRORS = np.array([_exact_stirling_error(number) for number in range(16)])
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


def p_values(people: Column | float, antecedent: NDArray[Any], consequent: NDArray[Any], joint: NDArray[Any]) -> Column:
    """Return the probability that at least `joint` people hold both sides, if the sides are independent.

    Parameters
    ----------
    people, antecedent, consequent, joint
        The numbers of people, of holders of each side, and of holders of both: whole numbers. Contradictory numbers,
        from a changed file for example, are replaced by the nearest possible ones.

    Examples
    --------
    >>> p_values(10, np.array([5.0]), np.array([5.0]), np.array([5.0])).round(6)  # 1 of 252
    array([0.003968])
    """
    n, a, c, b = np.broadcast_arrays(
        *(np.asarray(column, np.float64) for column in (people, antecedent, consequent, joint))
    )
    a, c = np.clip(a, 0, n), np.clip(c, 0, n)
    # The probability is symmetric in the sides: computed in one order, its digits are equal for both directions.
    a, c = np.minimum(a, c), np.maximum(a, c)
    columns = n, a, c, np.clip(b, np.maximum(0, a + c - n), np.minimum(a, c))
    p = np.ones(len(b))
    for start in range(0, len(p), _ROWS):
        part = slice(start, start + _ROWS)
        p[part] = _tails(*(np.array(column[part]) for column in columns))
    return p


def largest_p_values(people: tuple[float, float], antecedent: Ends, consequent: Ends, joint: Ends) -> Column:
    """Return the largest p-values that intervals of the counts and of the number of people allow.

    The p-value falls with the number of holders of both sides and with the number of people, and grows with the holders
    of either side. So it is largest at the fewest people, the most holders of each side and the fewest holders of both.
    For a contradiction of these numbers or an unknown end, it is 1, or the p-value of nearer numbers, no smaller.
    """
    # Rounded towards the larger p-value: an end of an interval need not be whole.
    min_people = np.ceil(max(0.0, people[0]))
    antecedent_counts, consequent_counts = (
        np.floor(_replace_nan(side[1], np.inf)) for side in (antecedent, consequent)
    )
    return p_values(min_people, antecedent_counts, consequent_counts, np.ceil(_replace_nan(joint[0], 0.0)))


def adjust_p_values(p: Column, tested: int) -> Column:
    """Return p-values adjusted for the number of tested rules (Benjamini and Hochberg 1995).

    A tested rule without a p-value here counts with a p-value of 1.

    Examples
    --------
    >>> adjust_p_values(np.array([0.01, 0.04, 0.03]), tested=4)
    array([0.04      , 0.05333333, 0.05333333])
    """
    # A running minimum from the largest p-value down keeps the adjusted values in the order of the p-values.
    order = np.argsort(p, kind="stable")
    scaled = p[order] * (max(tested, len(p)) / np.arange(1, len(p) + 1))
    result = np.empty(len(p))
    result[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return result


def count_tests(sizes: NDArray[np.int64], largest: int) -> int:
    """Return the largest possible number of tested rules, from the number of items of each pattern.

    Counted are the pairs of different patterns with together no more items than the longest pattern, and at most
    `largest` items on the right. Pairs with a shared item are no rules, but are counted: a larger family is safe. With
    a hierarchy, :func:`related_pairs` counts the pairs that are no rules.

    Examples
    --------
    >>> count_tests(np.array([1, 1, 1, 2]), largest=1)  # six pairs of items, and the longest pattern has two
    6
    """
    size_counts = np.bincount(sizes, minlength=1).tolist()
    longest = len(size_counts) - 1
    return sum(
        size_counts[antecedent_size] * (size_counts[consequent_size] - (antecedent_size == consequent_size))
        for consequent_size in range(1, min(largest, longest - 1) + 1)
        for antecedent_size in range(1, longest - consequent_size + 1)
    )


def related_pairs(itemsets: Itemsets, largest: int, lineage: Lineage) -> int:
    """Return the number of pairs of a family that are no rules, as an item of one side is above an item of the other.

    Counted are pairs with a single item on a side, nearly all of these pairs; a larger family is safe.
    """
    sizes = itemsets.sizes
    longest = int(sizes.max(initial=0))
    if not largest or longest < 2:
        return 0
    single_items = np.zeros(len(lineage), np.bool_)
    single_items[itemsets.codes[itemsets.offsets[:-1][sizes == 1]]] = True
    related = lineage.count_related(itemsets.offsets, itemsets.codes, single_items)
    # A single item on the right and any number on the left; then a single item on the left.
    pair_count = int(related[(sizes >= 1) & (sizes < longest)].sum())
    return pair_count + int(related[(sizes > 1) & (sizes < longest) & (sizes <= largest)].sum())


def _tails(n: Column, a: Column, c: Column, b: Column) -> Column:
    """Return the upper tail of each row, computed from the tail on the far side of the mean."""
    # From the mean outwards terms fall, so that a few suffice; the remaining tail is the complement.
    upper_tail = b > a * c / np.maximum(n, 1)
    x_start = np.where(upper_tail, b, b - 1)
    # Computed in float logarithms: binomial coefficients of many people exceed all number types.
    result = np.ones(len(n))
    possible = x_start >= np.maximum(0, a + c - n)  # otherwise the tail is the whole distribution
    rows = np.flatnonzero(possible)
    n, a, c, x, is_upper = n[rows], a[rows], c[rows], x_start[rows], upper_tail[rows]
    logs = _log_chance(n, a, c, x)
    sums = _sum_of_ratios(n, a, c, x, is_upper)
    with np.errstate(under="ignore"):
        tails = np.exp(np.minimum(logs + np.log(sums), 0.0))
    result[rows] = np.where(is_upper, np.maximum(tails, LEAST_P), np.maximum(1 - tails, LEAST_P))
    return result


def _sum_of_ratios(n: Column, a: Column, c: Column, x: Column, is_upper: Mask) -> Column:
    """Return the sum of a tail from x on, divided by its first term, which is its largest."""
    sums = np.ones(len(x))
    remainder = n - a - c
    # Each step multiplies by two falling factors over two growing ones; in the lower tail the pairs change places.
    factors = np.where(is_upper, (a - x, c - x), (x, remainder + x))
    divisors = np.where(is_upper, (x + 1, remainder + x + 1), (a - x + 1, c - x + 1))
    rows, term, total = np.arange(len(x)), np.ones(len(x)), np.ones(len(x))
    while len(rows):
        for _ in range(_TERMS):
            term = term * np.maximum((factors[0] * factors[1]) / (divisors[0] * divisors[1]), 0.0)
            total = total + term
            factors, divisors = factors - 1, divisors + 1
        # Ratios fall, so the omitted terms add less than a geometric series.
        positive = np.maximum(factors, 0.0)
        ratio = np.minimum((positive[0] * positive[1]) / (divisors[0] * divisors[1]), 1.0)
        finished = (positive == 0).any(0) | (term * ratio <= _TOLERANCE * total * (1 - ratio))
        # Most rows finish early: the loop goes on with the unfinished rows alone.
        if finished.any():
            sums[rows[finished]] = total[finished]
            rows, term, total = rows[~finished], term[~finished], total[~finished]
            factors, divisors = factors[:, ~finished], divisors[:, ~finished]
    return sums


def _log_chance(n: Column, a: Column, c: Column, x: Column) -> Column:
    """Return the logarithm of the hypergeometric probability that x people hold both sides.

    It is a quotient of three binomial probabilities at c / n (Loader 2000), with small logarithms where factorials have
    large ones: the rounding error is below 1e-9 for 10^9 people.
    """
    return _log_binomial(x, a, c, n) + _log_binomial(c - x, n - a, c, n) - _log_binomial(c, n, c, n)


def _log_binomial(x: Column, size: Column, part: Column, total: Column) -> Column:
    """Return the logarithm of the binomial probability of x among `size`, at a rate of `part` / `total`."""
    failures = size - x
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = (
            _stirling_error(size)
            - _stirling_error(x)
            - _stirling_error(failures)
            - _deviance(x, size * (part / total))
            - _deviance(failures, size * ((total - part) / total))
            - (log(2 * pi) + np.log(x) + np.log(failures) - np.log(size)) / 2
        )
        no_success = np.where(size == 0, 0.0, size * np.log1p(-part / total))
        all_success = size * np.log(part / total)
    return np.where(x == 0, no_success, np.where(failures == 0, all_success, inner))


def _stirling_error(number: Column) -> Column:
    """Return the logarithm of a factorial minus the logarithm of Stirling's formula."""
    argument = np.maximum(number, len(_SMALL_ERRORS))
    square, series = argument * argument, np.zeros(len(number))
    for factor in reversed(_SERIES):
        series = factor + series / square
    return np.where(
        number < len(_SMALL_ERRORS),
        _SMALL_ERRORS[np.minimum(number, len(_SMALL_ERRORS) - 1).astype(np.int64)],
        series / argument,
    )


def _deviance(x: Column, expected: Column) -> Column:
    """Return x log(x / expected) + expected - x, without loss of digits for close numbers."""
    relative = (x - expected) / expected
    return np.where(x == 0, expected, expected * ((1 + relative) * np.log1p(relative) - relative))


def _replace_nan(end: Column, otherwise: float) -> Column:
    """Return a column with a number for nan."""
    return np.where(np.isnan(end), otherwise, end)
