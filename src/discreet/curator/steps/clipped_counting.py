"""Clipped counting: a whole family of itemsets at once, each basket scaled down to a total that was chosen with noise.

Noise grows with the most that one basket adds. So a basket that holds r members of the family adds c / r to each where
r is more than c, and c is read from a noisy histogram of r: where what clipping leaves unsure and what noise does are
least together. Everything here is made of released numbers and public ones but for the two queries, which the meter
asks and charges. The proof is in `clipped.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import hypot, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets.core import starts
from ...exact.query import PARTS, Clipped, Held
from ...privacy.meter import Meter, Noisy
from ...privacy.sealed import SealedEngine
from ...results.itemsets import Itemsets
from .truncation import rising

F64: TypeAlias = NDArray[np.float64]
I64: TypeAlias = NDArray[np.int64]

LAST = "measuring the count of the last pattern"
HOLDING = "counting how many candidates baskets hold"
CHOSEN = "The patterns were chosen by the same noisy counts that are shown: those of the last ones tend to be too high."

# The numbers below were fitted to five data sets; `clipped.md` says to which, and what others give.
# The part of each count that the histogram is paid from.
LOOKING = Fraction(1, 8)
# What clipping leaves of an itemset's people differs among itemsets by about this part of what it loses on average.
DIFFERING = 0.5
# The bins of the histogram: as wide as a number over this allows, and the last one begins here at most.
FINE = 4
WIDEST = 1_024
# The numbers within a bin are stood for by so many of them, evenly spaced, the first and the last among them.
POINTS = 5
# How many deviations a number of people has to stand out of the noise.
STANDS_OUT = 2.5
# Beyond, it falls as a power of how much is held: faster by this factor than it did before, and within these bounds;
# by the last number where nothing stood out.
STEEPER = 1.4
FLATTEST, STEEPEST = 1.7, 20.0
USUAL = 2.0
# Within how many deviations of an estimate an interval reaches: what 95 % of single Laplace variables need.
DEVIATIONS = 2.12
# Noise of a larger variance, in parts, is not drawn: a basket is clipped further instead.
LOUDEST = 2**100


@dataclass(frozen=True, eq=False)
class Tally:
    """Itemsets, estimates of their counts, and the deviations of these: of noise and of what clipping left unsure."""

    itemsets: Itemsets
    estimates: F64
    deviations: F64

    def __len__(self) -> int:
        return len(self.itemsets)

    def take(self, places: I64) -> Tally:
        """Return the itemsets at these places."""
        return Tally(self.itemsets.take(places), self.estimates[places], self.deviations[places])

    def best(self, many: int) -> Tally:
        """Return so many itemsets with the largest estimates, the largest first."""
        return self.take(np.argsort(-self.estimates, kind="stable")[:many])

    def merged(self, places: I64, again: Tally) -> Tally:
        """Return the tally with those at some places counted once more: the surer count weighs more."""
        one, other = self.deviations[places] ** 2, again.deviations**2
        both = one + other
        weight = np.divide(other, both, out=np.full(len(both), 0.5), where=both > 0)
        estimates, deviations = self.estimates.copy(), self.deviations.copy()
        estimates[places] = weight * self.estimates[places] + (1 - weight) * again.estimates
        deviations[places] = np.sqrt(weight**2 * one + (1 - weight) ** 2 * other)
        return Tally(self.itemsets, estimates, deviations)

    def lowered(self, people: float) -> Tally:
        """Return the tally with no itemset above one of its parts that is in it, and none above a number of people.

        Parts are not raised: among very many candidates the largest noise would decide.
        """
        names = self.itemsets.tuples()
        known = _lowered(names, np.minimum(self.estimates, people))
        return Tally(self.itemsets, np.array([known[name] for name in names]), self.deviations)


def falling(itemsets: Itemsets, estimates: F64, people: float) -> F64:
    """Return estimates with none above that of a part with one item less, where it is there: fewer people hold more.

    Halfway between lowering itemsets to their parts and raising parts to what contains them: either alone would err to
    one side. And none is above a number of people.

    Examples
    --------
    >>> falling(Itemsets(np.array([0, 1, 3]), np.array([4, 4, 7], np.int32)), np.array([5.0, 6.0]), 9.0).tolist()
    [5.5, 5.5]
    """
    names = itemsets.tuples()
    lowered, raised = _lowered(names, estimates), dict(zip(names, estimates.tolist(), strict=True))
    for name in sorted(names, key=len, reverse=True):
        for part in combinations(name, len(name) - 1):
            if part in raised:
                raised[part] = max(raised[part], raised[name])
    halfway: F64 = np.minimum([(lowered[name] + raised[name]) / 2 for name in names], people)
    return halfway


def _lowered(names: list[tuple[int, ...]], estimates: F64) -> dict[tuple[int, ...], float]:
    known = dict(zip(names, estimates.tolist(), strict=True))
    for name in sorted(names, key=len):
        known[name] = min(known[name], *(known.get(part, np.inf) for part in combinations(name, len(name) - 1)))
    return known


def end_to_end(tallies: Sequence[Tally]) -> Tally:
    """Return several tallies as one."""
    sizes = np.concatenate([np.empty(0, np.int64), *(one.itemsets.sizes for one in tallies)])
    codes = np.concatenate([np.empty(0, np.int32), *(one.itemsets.codes for one in tallies)])
    estimates, deviations = (
        np.concatenate([np.empty(0), *columns])
        for columns in ([one.estimates for one in tallies], [one.deviations for one in tallies])
    )
    return Tally(Itemsets(starts(sizes), codes), estimates, deviations)


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many people hold about how many members of a family, as far as released numbers say."""

    held: F64
    people: F64

    @classmethod
    def of(cls, edges: tuple[int, ...], people: F64, many: int) -> Histogram:
        """Spread the people of each bin over its numbers; the last bin is half as wide as far, or ends at `many`."""
        bounds = (*edges, min(edges[-1] + max(edges[-1] // 2, 1), many + 1))
        held = [np.unique(np.rint(np.linspace(low, high - 1, POINTS))) for low, high in pairwise(bounds)]
        sizes = np.array([len(points) for points in held])
        return cls(np.concatenate(held), np.repeat(people / sizes, sizes))

    def keep(self, total: int, pure: bool) -> float:
        """Return the share of the people of an itemset that clipping to a total leaves; 1 where nobody is seen.

        The more members people hold, the more often they hold it: over all members together that is exact.
        """
        weights = self.people * self.held
        if not weights.sum() > 0:
            return 1.0
        kept = np.minimum(1.0, total / PARTS / self.held)
        return float((weights * (kept if pure else np.sqrt(kept))).sum() / weights.sum())


def count_clipped(
    what: str, engine: SealedEngine, meter: Meter, itemsets: Itemsets, share: Fraction, mark: float
) -> tuple[Tally, float]:
    """Count itemsets with a share of the budget, so that counts near `mark` come out best.

    Parameters
    ----------
    what
        Under which name the counts are charged; the histogram has a name of its own.
    engine, meter
        Who counts, and who adds the noise.
    itemsets
        A family made of released values, one member or more.
    share
        How much of what the meter has is spent.
    mark
        The count that matters most, a released or a public number.

    Returns
    -------
    The estimates, and the most that a basket added in all, in people.
    """
    edges = edges_up_to(len(itemsets))
    # Of a single itemset nobody holds more than one: nothing is clipped.
    looking = share * LOOKING if len(itemsets) > 1 else Fraction(0)
    people = np.zeros(len(edges))
    if looking:
        people = cleaned(meter.count(HOLDING, engine, Held(itemsets, edges), looking), edges)
    histogram = Histogram.of(edges, people, len(itemsets))
    total = choose_total(itemsets, histogram, meter, share - looking, mark)
    noisy = meter.count(what, engine, Clipped(itemsets, total, not meter.pure), share - looking)
    keep = histogram.keep(total, meter.pure)
    estimates = noisy.values / (PARTS * keep)
    unsure = DIFFERING * (1 - keep) * np.maximum(estimates, 0.0)
    return Tally(itemsets, estimates, np.hypot(noisy.deviation / (PARTS * keep), unsure)), total / PARTS


def choose_total(itemsets: Itemsets, histogram: Histogram, meter: Meter, share: Fraction, mark: float) -> int:
    """Return the most that a basket may add, in parts: where the error of a count of `mark` people is least."""
    best, least = PARTS, np.inf
    for total in totals_up_to(len(itemsets)):
        keep = histogram.keep(total, meter.pure)
        variance = meter.scale(Clipped(itemsets, total, not meter.pure), share)[1]
        if variance >= LOUDEST:
            break
        error = hypot(sqrt(variance) / (PARTS * keep), DIFFERING * (1 - keep) * mark)
        if error < least:
            best, least = total, error
        if keep == 1.0:
            break
    return best


def edges_up_to(many: int) -> tuple[int, ...]:
    """Return where the bins of the histogram begin: each number at first, then two to a doubling.

    They go on to the size of the family, never to the most that anyone holds; the last bin is open.
    """
    edges, step = [1], 1
    while edges[-1] + step <= min(many, WIDEST):
        edges.append(edges[-1] + step)
        if edges[-1] >= FINE * step:
            step *= 2
    return tuple(edges)


def totals_up_to(many: int) -> list[int]:
    """Return the totals a basket may be clipped to, in parts: from 1 person on four to a doubling, up to `many`."""
    totals = [PARTS]
    while totals[-1] < many * PARTS:
        step = PARTS * 2 ** ((totals[-1] // PARTS).bit_length() - 1) // 4
        totals.append(min(totals[-1] + step, many * PARTS))
    return totals


def cleaned(noisy: Noisy, edges: tuple[int, ...]) -> F64:
    """Return numbers of people by bin with the noise taken out.

    How many hold so many members or more is told apart from noise up to some edge only. Up to there it never rises;
    from there on it is taken to fall as a power, somewhat faster than over the last doubling, but not to be more than
    noise may hide. A phantom far out would weigh as much as the many members it is said to hold, and nobody at all
    would leave out those who are there.
    """
    values = noisy.values.astype(np.float64)
    beyond = np.cumsum(values[::-1])[::-1]
    hidden = STANDS_OUT * noisy.deviation * np.sqrt(np.arange(len(values), 0, -1))
    unclear = beyond <= hidden
    clear = max(1, int(np.argmax(unclear)) if unclear.any() else len(values))
    many = np.maximum(-rising(-beyond), 0.0)
    last, first = clear - 1, int(np.searchsorted(edges, edges[clear - 1] / 2, side="right")) - 1
    power = USUAL
    if first >= 0 and many[last] > 0:
        power = STEEPER * float(np.log(many[first] / many[last]) / np.log(edges[last] / edges[first]))
        power = min(max(power, FLATTEST), STEEPEST)
    falls = many[last] * (np.array(edges[clear:]) / edges[last]) ** -power
    many[clear:] = np.minimum(falls, np.maximum(beyond[clear:], 0.0) + hidden[clear:])
    found: F64 = -np.diff(np.minimum.accumulate(many), append=0.0)
    return found
