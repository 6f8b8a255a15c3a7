"""Formulas of the papers without data: one function for each line of a table or figure, from numbers to numbers."""

from __future__ import annotations


def amplified(epsilon: str, padding: int) -> dict[str, float]:
    """Return the epsilon of a report about one value, drawn from `padding` values (000, Figure 1)."""
    from math import expm1, log1p

    return {"epsilon": log1p(padding * expm1(float(epsilon)))}


def hashed(epsilon: str, padding: int, delta: str) -> dict[str, float]:
    """Return the epsilon of a hashed report about one of `padding` values, except with delta (000, Theorem 5)."""
    from fractions import Fraction
    from math import log

    from discreet.local.oracles import OLH

    oracle = OLH.sampled(Fraction(epsilon), 1000, pad=padding, delta=Fraction(delta))
    return {"epsilon": log(oracle.p_own / ((1 - oracle.p_own) / (oracle.buckets - 1)))}


def publishing_threshold(epsilon: str, delta: str, size: int, people: int, longest: int) -> dict[str, float]:
    """Return the frequency above which noisy counts of itemsets of one size may be published (004, Table 4).

    Theorem 1 of Götz et al. with C(longest, size), the number of itemsets within a basket of `longest` items.
    """
    from math import comb, log

    itemset_count = comb(longest, size)
    return {"frequency": itemset_count * (1 - log(2 * float(delta) / itemset_count) / float(epsilon)) / people}


def least_epsilon(items: int, count: int, slack: str, failing: str, longest: int | None = None) -> dict[str, float]:
    """Return the epsilon below which no miner of single items is useful (002, theorem 3; theorem 6 with `longest`).

    Useful: right about counts that differ from the threshold by a share `slack` of it, except with probability
    `failing`; the definition of a forecast.
    """
    from discreet.planning import least_epsilon, least_epsilon_of_short

    useful = {"slack": float(slack), "doubt": float(failing)}
    if longest is None:
        return {"epsilon": least_epsilon(items, count, **useful)}
    return {"epsilon": least_epsilon_of_short(items, count, longest, **useful)}


def enough_epsilon(items: int, count: int, slack: str, failing: str, longest: int) -> dict[str, float]:
    """Return the epsilon at which noisy counts of single items are useful, as for `least_epsilon` (002, theorem 5)."""
    from discreet.planning import sufficient_epsilon

    return {"epsilon": sufficient_epsilon(items, count, longest, slack=float(slack), doubt=float(failing))}
