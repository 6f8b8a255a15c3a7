"""Fisher's exact test, its adjustment and redundant rules the slow, obvious way."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def p_value(people, antecedent, consequent, both):
    """Return the exact chance that at least `both` people hold two sides that have nothing to do with each other."""
    most = min(antecedent, consequent)
    ways = sum(comb(antecedent, held) * comb(people - antecedent, consequent - held) for held in range(both, most + 1))
    return Fraction(ways, comb(people, consequent))


def adjusted(p, tested):
    """Return what Benjamini and Hochberg make of these p-values and of ones for all others that were tested."""
    every = sorted([*p, *[1.0] * (tested - len(p))])
    largest = {}
    running = 1.0
    for rank in range(len(every), 0, -1):
        running = min(running, every[rank - 1] * tested / rank)
        largest[every[rank - 1]] = min(largest.get(every[rank - 1], 1.0), running)
    return [largest[one] for one in p]


def redundant(rules, nothing):
    """Return which rules (antecedent, consequent, reached, sure) are no better than a more general one.

    `nothing` says of each whether it is no better than the rule without antecedent.
    """
    return [
        none or any(other < left and then == right and reached <= held for other, then, _, held in rules)
        for (left, right, reached, _), none in zip(rules, nothing, strict=True)
    ]
