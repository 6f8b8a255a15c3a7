"""When no mechanism can help: lower bounds on epsilon, whatever the algorithm (Zeng, Naughton, Cai 2012, section 3).

An algorithm is *useful* if on every data set, with a probability of at least 1 - doubt, it shows every itemset held by
over (1 + slack) times the threshold, and none held by less than (1 - slack) times it. The bounds are about the worst
data set: one algorithm may do better on yours, and none can promise to. They are for pure epsilon, the unit being a
person who is added or removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import expm1, lgamma, log, log1p

from ..baskets import Unit
from ..checks import parse_positive
from ..errors import MisuseError
from ..privacy import exact
from ..wording import number_of

# What is called useful where nothing else is said: the numbers of the paper's own example.
SLACK, DOUBT = 0.2, 0.5


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What no algorithm can go below, for one threshold.

    Parameters
    ----------
    threshold
        The number of people, or baskets, a pattern must be held by.
    any_baskets
        The epsilon under which no algorithm is useful if baskets may be as long as they like (lemma 1, theorem 3).
    longest
        How many items a basket has at most in the two others.
    short_baskets
        The same if every basket has at most so many items (theorem 6).
    enough
        An epsilon at which counting single items with noise is useful then, for people with one basket (theorem 5).
    unit
        What holds a pattern: people, or baskets where a person may have several. What no algorithm can go below where
        everybody has one basket, none can where some have more.
    """

    threshold: int
    any_baskets: float
    longest: int
    short_baskets: float
    enough: float
    unit: Unit = "people"

    def in_words(self, epsilon: float, *, pure: bool = True, local: bool = False) -> str:
        """Say what the bounds mean for an epsilon, with no delta or with one, and for devices if they are meant too."""
        words = ("person holds", "people hold") if self.unit == "people" else ("basket holds", "baskets hold")
        people = number_of(self.threshold, *words)
        said = (
            f"To show on any data what at least {people}, give or take {SLACK:.0%}, and be right in {1 - DOUBT:.0%} of "
            f"the cases, a pure epsilon of {self.any_baskets:.3g} is needed whatever the algorithm"
        )
        if self.short_baskets < self.any_baskets:
            said += f"; {self.short_baskets:.3g} if no basket has more than {number_of(self.longest, 'item')}"
        if epsilon >= self.any_baskets:
            said += ". There is as much."
        elif epsilon >= self.short_baskets:
            said += ". There is less than the first: of pure mechanisms, only one that cuts baskets may promise it."
        else:
            said += ". There is less: no pure mechanism can promise it."
        if not pure:
            said += " Of mechanisms with a delta the bounds say nothing."
        return said + (" The bounds are for a curator: devices need more still." if local else "")


def bounds(items: int, threshold: int, longest: int, unit: Unit = "people") -> Bounds:
    """Return what no algorithm can go below for these numbers of items, people and items a basket."""
    longest = min(longest, items)
    return Bounds(
        threshold=threshold,
        any_baskets=least_epsilon(items, threshold),
        longest=longest,
        short_baskets=least_epsilon_of_short(items, threshold, longest),
        enough=sufficient_epsilon(items, threshold, longest),
        unit=unit,
    )


def least_epsilon(items: int, threshold: int, *, slack: float = SLACK, doubt: float = DOUBT) -> float:
    """Return the epsilon that every useful algorithm needs at least (lemma 1 and theorem 3).

    ln((2^items - 1) (1 - doubt) / doubt) over 2 slack threshold + 2, as printed.

    Parameters
    ----------
    items, threshold
        How many items there are, and how many people must hold a pattern.
    slack, doubt
        What useful means: the paper's delta and eta.

    Examples
    --------
    >>> round(least_epsilon(3_340, 310), 1)
    18.4
    """
    _check(items, threshold, slack, doubt)
    outputs = items * log(2) + log1p(-(2.0**-items)) if items < 1_000 else items * log(2)
    return max(0.0, (outputs + log((1 - doubt) / doubt)) / _added(threshold, slack))


def least_epsilon_of_short(
    items: int, threshold: int, longest: int, *, slack: float = SLACK, doubt: float = DOUBT
) -> float:
    """Return the same where no basket has more than `longest` items (theorem 6 as its proof gives it, C14).

    ln(C(items, size) (1 - doubt)) over (2 slack threshold + 2) ceil(size / longest), for the best size of a set.

    Examples
    --------
    >>> round(least_epsilon_of_short(3_340, 310, 10), 2)
    0.52
    """
    _check(items, threshold, slack, doubt)
    longest, half = min(parse_positive("longest", longest), items), max(1, items // 2)
    best, parts = 0.0, 0
    # The logarithm is concave in the size, so its share of one part rises to the best one and falls from there on.
    while parts * longest < half:
        parts += 1
        size = min(parts * longest, half)
        outputs = lgamma(items + 1) - lgamma(size + 1) - lgamma(items - size + 1)
        found = (outputs + log(1 - doubt)) / parts
        if 0 < found < best:
            break
        best = max(best, found)
    return best / _added(threshold, slack)


def sufficient_epsilon(
    items: int, threshold: int, longest: int, *, slack: float = SLACK, doubt: float = DOUBT
) -> float:
    """Return an epsilon at which noise on the counts of all single items is useful (theorem 5).

    longest times -ln(1 - (1 - doubt)^(1 / items)), over slack threshold; no basket has more than `longest` items.

    Examples
    --------
    >>> round(sufficient_epsilon(3_340, 310, 10), 2)
    1.37
    """
    _check(items, threshold, slack, doubt)
    missed = -expm1(log(1 - doubt) / items)
    return -float(min(parse_positive("longest", longest), items)) * log(missed) / (slack * threshold)


def _added(threshold: int, slack: float) -> float:
    """Return how many people lift an item from below the slack to above it, or a little more.

    From the last count under (1 - slack) threshold to the first one over (1 + slack) threshold, both whole, it is 2
    floor(slack threshold) + 2, as in the proof of theorem 6. The proof of lemma 1 rounds up, which is more than it
    needs; the number that the paper prints lies between the two, so what it prints holds.
    """
    return float(2 * Fraction(exact(slack, "slack")) * threshold + 2)


def _check(items: int, threshold: int, slack: float, doubt: float) -> None:
    parse_positive("items", items)
    parse_positive("threshold", threshold)
    for name, value in (("slack", slack), ("doubt", doubt)):
        if not 0 < value < 1:
            raise MisuseError(f"{name} lies between 0 and 1; {value!r} was given.")
