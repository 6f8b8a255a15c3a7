"""Could a rule be chance: p-values of Fisher's exact test, and what is left of them among many rules.

A rule says that people who hold the antecedent hold the consequent more often than others. If the two had nothing to do
with each other, and n people, a and c of whom hold the sides, were dealt at random, the number who hold both would be
hypergeometric. The p-value is the chance that it is as large as the one found, or larger: one tail, as a rule that is
rarer than chance is no finding. It is Fisher's test and not the chi-squared one, because rules live where expected
counts are small, and there chi-squared is not to be trusted; the tail is summed from its largest term, which takes
few terms where a rule is strong.

What a p-value and its adjustment mean, and what they do not, is on the page `significance` of the documentation.
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

# Tails have about as many terms as the root of the number of people. More than these do not live, and are not tested.
MOST_PEOPLE = 1 << 36
# A p-value below this is shown as this: it is still true that it is no larger.
LEAST = float(np.finfo(np.float64).tiny)
# Rows that are summed at a time, so that they stay in the cache; and terms between two looks at which are done.
_ROWS, _TERMS = 8192, 8
# What the terms that are left out may add at most, as a part of the sum.
_PART = 2.0**-52


def _exact_error(number: int) -> float:
    return lgamma(number + 1) - (number + 0.5) * log(number) + number - log(2 * pi) / 2 if number else 0.0


# The error of Stirling's formula: exact for small numbers, a series for others, whose next term is below 1e-16.
_SMALL = np.array([_exact_error(number) for number in range(16)])
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


def p_values(people: Column | float, antecedent: NDArray[Any], consequent: NDArray[Any], both: NDArray[Any]) -> Column:
    """Return the chance that as many people as `both`, or more, hold both sides if these have nothing in common.

    Parameters
    ----------
    people, antecedent, consequent, both
        How many people there are, who hold each side, and who hold both: whole numbers. Those that cannot be true
        together, as in a file that was changed, are taken for the nearest that can.

    Examples
    --------
    >>> p_values(10, np.array([5.0]), np.array([5.0]), np.array([5.0])).round(6)  # 1 of 252
    array([0.003968])
    """
    n, a, c, b = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in (people, antecedent, consequent, both)))
    a, c = np.clip(a, 0, n), np.clip(c, 0, n)
    # The chance is that of both directions: so are its digits, and rules that are equal by it stay in their order.
    a, c = np.minimum(a, c), np.maximum(a, c)
    columns = n, a, c, np.clip(b, np.maximum(0, a + c - n), np.minimum(a, c))
    found = np.ones(len(b))
    for start in range(0, len(found), _ROWS):
        part = slice(start, start + _ROWS)
        found[part] = _tails(*(np.array(column[part]) for column in columns))
    return found


def worst_p_values(people: tuple[float, float], antecedent: Ends, consequent: Ends, both: Ends) -> Column:
    """Return the largest p-values that intervals of the counts and of the number of people allow.

    The chance falls with the number who hold both and with that of all people, and grows with that of either side. So
    the largest one is at the fewest people, the most who hold each side and the fewest who hold both. Where these
    cannot be true together, or an end is not known, it is 1 or what nearer numbers give, which is no less.
    """
    few = np.ceil(max(0.0, people[0]))
    left, right = (np.floor(_or(side[1], np.inf)) for side in (antecedent, consequent))
    return p_values(few, left, right, np.ceil(_or(both[0], 0.0)))


def adjusted(p: Column, tested: int) -> Column:
    """Return p-values adjusted for how many rules were tested (Benjamini and Hochberg 1995).

    Those that were tested and are not here count with a p-value of 1.

    Examples
    --------
    >>> adjusted(np.array([0.01, 0.04, 0.03]), tested=4)
    array([0.04      , 0.05333333, 0.05333333])
    """
    order = np.argsort(p, kind="stable")
    scaled = p[order] * (max(tested, len(p)) / np.arange(1, len(p) + 1))
    found = np.empty(len(p))
    found[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return found


def family(sizes: NDArray[np.int64], largest: int) -> int:
    """Return how many rules can be tested at most, by how many items the patterns have.

    They are the pairs of different patterns that have together no more items than the longest, and `largest` or fewer
    on the right. That the two may not have an item in common would make them fewer. With a hierarchy, so do items that
    stand above others: :func:`related_pairs` says how many.

    Examples
    --------
    >>> family(np.array([1, 1, 1, 2]), largest=1)  # six pairs of items, and the longest pattern has two
    6
    """
    many = np.bincount(sizes, minlength=1).tolist()
    longest = len(many) - 1
    return sum(
        many[left] * (many[right] - (left == right))
        for right in range(1, min(largest, longest - 1) + 1)
        for left in range(1, longest - right + 1)
    )


def related_pairs(itemsets: Itemsets, largest: int, lineage: Lineage) -> int:
    """Return how many pairs of a family are no rules, as an item of one side stands above one of the other.

    Counted are pairs with one item on a side, which are nearly all; the rest is tested for nothing, which is safe.
    """
    sizes = itemsets.sizes
    longest = int(sizes.max(initial=0))
    if not largest or longest < 2:
        return 0
    alone = np.zeros(len(lineage), np.bool_)
    alone[itemsets.codes[itemsets.offsets[:-1][sizes == 1]]] = True
    related = lineage.many_related(itemsets.offsets, itemsets.codes, alone)
    # One item on the right and any on the left; then, where several may be on the right, the other way round.
    found = int(related[(sizes >= 1) & (sizes < longest)].sum())
    return found + int(related[(sizes > 1) & (sizes < longest) & (sizes <= largest)].sum())


def _tails(n: Column, a: Column, c: Column, b: Column) -> Column:
    """Return the upper tail of each row, by the tail that begins beyond the mean."""
    upper = b > a * c / np.maximum(n, 1)
    first = np.where(upper, b, b - 1)
    found = np.ones(len(n))
    possible = first >= np.maximum(0, a + c - n)  # else nothing lies below, and everything is in the tail
    rows = np.flatnonzero(possible)
    n, a, c, x, up = n[rows], a[rows], c[rows], first[rows], upper[rows]
    logs = _log_chance(n, a, c, x)
    sums = _sum_of_ratios(n, a, c, x, up)
    with np.errstate(under="ignore"):
        tails = np.exp(np.minimum(logs + np.log(sums), 0.0))
    found[rows] = np.where(up, np.maximum(tails, LEAST), np.maximum(1 - tails, LEAST))
    return found


def _sum_of_ratios(n: Column, a: Column, c: Column, x: Column, up: Mask) -> Column:
    """Return the sum of a tail that begins at x, in units of its first term, which is its largest."""
    sums = np.ones(len(x))
    rest = n - a - c
    # Each step multiplies by two numbers that fall over two that grow; downwards the pairs change places.
    falling = np.where(up, a - x, x), np.where(up, c - x, rest + x)
    growing = np.where(up, x + 1, a - x + 1), np.where(up, rest + x + 1, c - x + 1)
    rows, term, total = np.arange(len(x)), np.ones(len(x)), np.ones(len(x))
    (one, other), (under, beneath) = falling, growing
    while len(rows):
        for _ in range(_TERMS):
            ratio = (one * other) / (under * beneath)
            term = term * np.maximum(ratio, 0.0)
            total = total + term
            one, other, under, beneath = one - 1, other - 1, under + 1, beneath + 1
        # Ratios fall, so what is left out is less than a geometric series.
        ratio = np.minimum((np.maximum(one, 0.0) * np.maximum(other, 0.0)) / (under * beneath), 1.0)
        done = (one <= 0) | (other <= 0) | (term * ratio <= _PART * total * (1 - ratio))
        if done.any():
            sums[rows[done]] = total[done]
            kept = ~done
            rows, term, total = rows[kept], term[kept], total[kept]
            one, other, under, beneath = one[kept], other[kept], under[kept], beneath[kept]
    return sums


def _log_chance(n: Column, a: Column, c: Column, x: Column) -> Column:
    """Return the logarithm of the chance that x of the people hold both sides.

    As a quotient of three binomial chances at c / n (Loader 2000), whose logarithms are small where those of factorials
    are large: what rounding takes away stays below 1e-9 for a thousand million people.
    """
    return _log_binomial(x, a, c, n) + _log_binomial(c - x, n - a, c, n) - _log_binomial(c, n, c, n)


def _log_binomial(x: Column, size: Column, part: Column, whole: Column) -> Column:
    """Return the logarithm of the chance of x of `size`, each with the chance `part` / `whole`."""
    rest = size - x
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = (
            _stirling_error(size)
            - _stirling_error(x)
            - _stirling_error(rest)
            - _deviance(x, size * (part / whole))
            - _deviance(rest, size * ((whole - part) / whole))
            - (log(2 * pi) + np.log(x) + np.log(rest) - np.log(size)) / 2
        )
        none = np.where(size == 0, 0.0, size * np.log1p(-part / whole))
        every = size * np.log(part / whole)
    return np.where(x == 0, none, np.where(rest == 0, every, inner))


def _stirling_error(number: Column) -> Column:
    """Return the logarithm of the factorial less that of Stirling's formula."""
    large = np.maximum(number, len(_SMALL))
    square, found = large * large, np.zeros(len(number))
    for factor in reversed(_SERIES):
        found = factor + found / square
    return np.where(number < len(_SMALL), _SMALL[np.minimum(number, len(_SMALL) - 1).astype(np.int64)], found / large)


def _deviance(x: Column, expected: Column) -> Column:
    """Return x log(x / expected) + expected - x, without the loss where the two are close."""
    away = (x - expected) / expected
    return np.where(x == 0, expected, expected * ((1 + away) * np.log1p(away) - away))


def _or(end: Column, otherwise: float) -> Column:
    return np.where(np.isnan(end), otherwise, end)
