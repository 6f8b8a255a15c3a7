"""Fisher's exact test, its adjustment and redundant rules the slow, obvious way."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def p_value(people, antecedent, consequent, joint_count):
    """Return the exact chance that at least `joint_count` people hold two independent sides."""
    max_joint_count = min(antecedent, consequent)
    # The upper tail of the hypergeometric distribution.
    ways = sum(
        comb(antecedent, count) * comb(people - antecedent, consequent - count)
        for count in range(joint_count, max_joint_count + 1)
    )
    return Fraction(ways, comb(people, consequent))


def adjusted(p, tested):
    """Return the p-values adjusted after Benjamini and Hochberg; all further tests count with p = 1."""
    every = sorted([*p, *[1.0] * (tested - len(p))])
    largest = {}
    running = 1.0
    # Step up from the largest p-value: an adjusted value is at most the next one.
    for rank in range(len(every), 0, -1):
        running = min(running, every[rank - 1] * tested / rank)
        largest[every[rank - 1]] = min(largest.get(every[rank - 1], 1.0), running)
    return [largest[value] for value in p]


def redundant(rules, nothing):
    """Return which rules (antecedent, consequent, reached, sure) are no better than a more general one.

    `nothing` says of each whether it is no better than the rule without antecedent.
    """
    return [
        is_no_better
        or any(
            general < antecedent and general_consequent == right and reached <= confidence_bound
            for general, general_consequent, _, confidence_bound in rules
        )
        for (antecedent, right, reached, _), is_no_better in zip(rules, nothing, strict=True)
    ]
