"""What the papers compute without data: a function for each line of a table or figure, from its numbers to others."""

from __future__ import annotations


def amplified(epsilon: str, padding: int) -> dict[str, float]:
    """Return the epsilon at which a value drawn from so many may be reported (000, Figure 1)."""
    from math import expm1, log1p

    return {"epsilon": log1p(padding * expm1(float(epsilon)))}


def hashed(epsilon: str, padding: int, delta: str) -> dict[str, float]:
    """Return the epsilon at which a value drawn from so many may be hashed, but for delta (000, Theorem 5)."""
    from fractions import Fraction
    from math import log

    from ..local.oracles.olh import OLH

    oracle = OLH.sampled(Fraction(epsilon), 1000, pad=padding, delta=Fraction(delta))
    return {"epsilon": log(oracle.own / ((1 - oracle.own) / (oracle.buckets - 1)))}


def publishing_threshold(epsilon: str, delta: str, size: int, people: int, longest: int) -> dict[str, float]:
    """Return the frequency over which noisy counts of itemsets of one size may be published (004, Table 4).

    Theorem 1 of Götz et al. with the C(longest, size) itemsets that one basket of at most so many items holds.
    """
    from math import comb, log

    held = comb(longest, size)
    return {"frequency": held * (1 - log(2 * float(delta) / held) / float(epsilon)) / people}


def least_epsilon(items: int, count: int, slack: str, failing: str, longest: int | None = None) -> dict[str, float]:
    """Return the epsilon below which no miner of single items is useful (002, theorem 3; theorem 6 with `longest`).

    Useful is to be right about counts that lie over or under the threshold by a share `slack` of it, but with a
    probability of `failing`. Where baskets have `longest` items at most, the form of C14 with the number of items that
    gives most.
    """
    from math import ceil, lgamma, log

    wrong = float(failing)
    people = 2 * float(slack) * count + 2
    if longest is None:
        return {"epsilon": (items * log(2) + log((1 - wrong) / wrong)) / people}

    def choices(k: int) -> float:
        return lgamma(items + 1) - lgamma(k + 1) - lgamma(items - k + 1)

    # The k items of which baskets are made lie in ceil(k / longest) baskets, each of which is added as often.
    best = max((choices(k) + log(1 - wrong)) / ceil(k / longest) for k in range(1, items + 1))
    return {"epsilon": max(0.0, best) / people}


def enough_epsilon(items: int, count: int, slack: str, failing: str, longest: int) -> dict[str, float]:
    """Return the epsilon at which noisy counts of single items are useful (002, the proof of theorem 5).

    As for `least_epsilon`: each of the items is on the wrong side with a probability below exp(-slack count epsilon /
    longest), and all are right with 1 - `failing`.
    """
    from math import expm1, log, log1p

    wrong = -expm1(log1p(-float(failing)) / items)
    return {"epsilon": -longest * log(wrong) / (float(slack) * count)}
