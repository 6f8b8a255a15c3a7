"""Lower bounds on the epsilon of every useful algorithm (Zeng, Naughton, Cai 2012, section 3).

An algorithm is *useful* if on every data set, with a probability of at least 1 - doubt, it lists every itemset with a
count over (1 + slack) * threshold, and no itemset with a count below (1 - slack) * threshold. The bounds are for the
worst data set: an algorithm may do better on one data set, but cannot guarantee it. They are for pure epsilon and the
neighbouring relation add-remove.
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

# The definition of useful in the paper's own example.
SLACK, DOUBT = 0.2, 0.5


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The lower bounds on epsilon for a threshold.

    Parameters
    ----------
    threshold
        The smallest count of a pattern, in people or in baskets.
    any_baskets
        The smallest epsilon of a useful algorithm for baskets of any length (lemma 1, theorem 3).
    longest
        The largest number of items of a basket, for `short_baskets` and `enough`.
    short_baskets
        The smallest epsilon of a useful algorithm for short baskets (theorem 6).
    enough
        An epsilon at which noisy counts of single items are useful, for people with one short basket (theorem 5).
    unit
        The unit of a count: people, or baskets if a person may have several. A lower bound for people with one basket
        holds for people with several too.
    """

    threshold: int
    any_baskets: float
    longest: int
    short_baskets: float
    enough: float
    unit: Unit = "people"

    def in_words(self, epsilon: float, *, pure: bool = True, local: bool = False) -> str:
        """Return a text that compares an epsilon with the bounds.

        Parameters
        ----------
        epsilon
            The epsilon of the question.
        pure
            Whether the delta of the question is 0.
        local
            Whether the question is for devices too.
        """
        words = ("person holds", "people hold") if self.unit == "people" else ("basket holds", "baskets hold")
        people = number_of(self.threshold, *words)
        text = (
            f"To show on any data what at least {people}, give or take {SLACK:.0%}, and be right in {1 - DOUBT:.0%} of "
            f"the cases, a pure epsilon of {self.any_baskets:.3g} is needed whatever the algorithm"
        )
        if self.short_baskets < self.any_baskets:
            text += f"; {self.short_baskets:.3g} if no basket has more than {number_of(self.longest, 'item')}"
        # Three cases, since a bound for short baskets may be met where the general one is not.
        if epsilon >= self.any_baskets:
            text += ". There is as much."
        elif epsilon >= self.short_baskets:
            text += ". There is less than the first: of pure mechanisms, only one that cuts baskets may promise it."
        else:
            text += ". There is less: no pure mechanism can promise it."
        # The proofs count data sets that differ in many people; a delta would add up over them.
        if not pure:
            text += " Of mechanisms with a delta the bounds say nothing."
        return text + (" The bounds are for a curator: devices need more still." if local else "")


def bounds(items: int, threshold: int, longest: int, unit: Unit = "people") -> Bounds:
    """Return the bounds for a number of items, a threshold, and a largest number of items of a basket."""
    # A basket is a set: it has no more items than there are.
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
    """Return the smallest epsilon of a useful algorithm: ln((2^n - 1) (1 - doubt) / doubt) / (2 slack threshold + 2).

    It is lemma 1 and theorem 3 of the paper, for n items.

    Parameters
    ----------
    items, threshold
        The number of items, and the smallest count of a pattern.
    slack, doubt
        The definition of useful, each between 0 and 1: the paper's delta and eta.

    Examples
    --------
    >>> round(least_epsilon(3_340, 310), 1)
    18.4
    """
    _check(items, threshold, slack, doubt)
    # ln(2^items - 1); the difference from ln(2^items) vanishes for many items.
    log_outputs = items * log(2) + log1p(-(2.0**-items)) if items < 1_000 else items * log(2)
    return max(0.0, (log_outputs + log((1 - doubt) / doubt)) / _count_added_people(threshold, slack))


def least_epsilon_of_short(
    items: int, threshold: int, longest: int, *, slack: float = SLACK, doubt: float = DOUBT
) -> float:
    """Return the smallest epsilon of a useful algorithm, if baskets have at most `longest` items (theorem 6).

    ln(C(items, size) (1 - doubt)) / ((2 slack threshold + 2) ceil(size / longest)), for the size with the largest
    bound, in the form that the proof of the theorem gives (C14 in docs/errata.md).

    Examples
    --------
    >>> round(least_epsilon_of_short(3_340, 310, 10), 2)
    0.52
    """
    _check(items, threshold, slack, doubt)
    # C(items, size) rises up to half of the items: larger sizes have more parts and no larger bound.
    longest, half = min(parse_positive("longest", longest), items), max(1, items // 2)
    largest, part_count = 0.0, 0
    # The logarithm is concave in the size, so that its share per part rises to the largest one and falls afterwards.
    while part_count * longest < half:
        part_count += 1
        size = min(part_count * longest, half)
        log_outputs = lgamma(items + 1) - lgamma(size + 1) - lgamma(items - size + 1)
        share = (log_outputs + log(1 - doubt)) / part_count
        if 0 < share < largest:
            break
        largest = max(largest, share)
    return largest / _count_added_people(threshold, slack)


def sufficient_epsilon(
    items: int, threshold: int, longest: int, *, slack: float = SLACK, doubt: float = DOUBT
) -> float:
    """Return an epsilon at which noisy counts of single items are useful, for short baskets (theorem 5).

    -longest ln(1 - (1 - doubt)^(1 / items)) / (slack threshold).

    Examples
    --------
    >>> round(sufficient_epsilon(3_340, 310, 10), 2)
    1.37
    """
    _check(items, threshold, slack, doubt)
    miss_probability = -expm1(log(1 - doubt) / items)  # of each item, if all together may miss with `doubt`
    return -float(min(parse_positive("longest", longest), items)) * log(miss_probability) / (slack * threshold)


def _count_added_people(threshold: int, slack: float) -> float:
    """Return an upper bound on the added people that lift an item from below the slack to above it.

    From the last whole count under (1 - slack) threshold to the first over (1 + slack) threshold, the number is
    2 floor(slack threshold) + 2, as in the proof of theorem 6. The proof of lemma 1 rounds up instead; the printed
    2 slack threshold + 2 lies between the two, and is valid for both.
    """
    return float(2 * Fraction(exact(slack, "slack")) * threshold + 2)


def _check(items: int, threshold: int, slack: float, doubt: float) -> None:
    parse_positive("items", items)
    parse_positive("threshold", threshold)
    for name, value in (("slack", slack), ("doubt", doubt)):
        if not 0 < value < 1:
            raise MisuseError(f"{name} lies between 0 and 1; {value!r} was given.")
