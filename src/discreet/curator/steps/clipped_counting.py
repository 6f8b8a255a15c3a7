"""Clipped counting: a whole family of itemsets at once, each person scaled down to a total that was chosen with noise.

Noise grows with the most that one person adds. So a person who holds r members of the family, all baskets together,
adds c / r to each where r is more than c, and c is read from a noisy histogram of r: where what clipping leaves unsure
and what noise does are least together. Everything here is made of released numbers and public ones but for the two
queries, which the meter asks and charges. The proof is in `clipped.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from math import hypot, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets.core import starts
from ...exact.query import PARTS, Clipped, Held
from ...privacy.meter import CONFIDENCE, Meter, Noisy
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
FINE = 8
# From `FAR` on, and where a total is chosen by bounds that hold for sure, bins are wider: sums of noise over many of
# them would be large.
COARSE, FAR = 4, 64
WIDEST = 1_024
# The numbers within a bin are stood for by so many of them, evenly spaced, the first and the last among them.
POINTS = 5
# How many deviations a number of people has to stand out of the noise, and how many more than it are supposed where it
# does not.
STANDS_OUT, HIDES = 2.5, 0.25
# Beyond, it falls as a power of how much is held: faster by this factor than it did before, and within these bounds;
# by the last number where nothing stood out.
STEEPER = 1.4
FLATTEST, STEEPEST = 1.7, 20.0
USUAL = 2.0
# The chance that some bound which comes from the histogram does not hold.
ODDS = 0.005
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
    """How many people hold about how many members of a family, as far as released numbers say.

    Parameters
    ----------
    held, people
        Loads (see `exact.query.Held`), and how many people have such, about.
    edges, beyond
        From which loads on, how many people have so much or more at most, but for a chance of `ODDS`.
    baskets
        How many baskets a person has at most.
    """

    held: F64
    people: F64
    edges: tuple[int, ...] = ()
    beyond: F64 = field(default_factory=lambda: np.zeros(0))
    baskets: int = 1

    @classmethod
    def of(
        cls, edges: tuple[int, ...], people: F64, most: int, beyond: F64 | None = None, baskets: int = 1
    ) -> Histogram:
        """Spread the people of each bin over its loads; the last bin is half as wide as far, or ends at `most`."""
        bounds = (*edges, min(edges[-1] + max(edges[-1] // 2, 1), most + 1))
        held = [np.unique(np.rint(np.linspace(low, high - 1, POINTS))) for low, high in pairwise(bounds)]
        sizes = np.array([len(points) for points in held])
        spread = np.repeat(people / sizes, sizes)
        return cls(np.concatenate(held), spread, edges, np.zeros(0) if beyond is None else beyond, baskets)

    def keep(self, total: int, pure: bool) -> float:
        """Return the share of the people of an itemset that clipping to a total leaves; 1 where nobody is seen.

        The more members people hold, the more often they hold it: over all members together that is exact.
        """
        weights = self.people * self.held
        if not weights.sum() > 0:
            return 1.0
        kept = np.minimum(1.0, total / PARTS / self.held)
        return float((weights * (kept if pure else np.sqrt(kept))).sum() / weights.sum())

    def usual(self, mark: float, many: int, items: int) -> float:
        """Return about what `many` of all items count of which the last counts `mark`.

        Of all items together the mean is known. The fewer they are, the less it says about them.
        """
        mean, part = float((self.people * self.held).sum()) / items, min(many / items, 1.0)
        return float(mark * (max(mark, mean) / mark) ** part)

    def most(self, sums: F64, query: Clipped) -> F64:
        """Return how many baskets can hold itemsets with these clipped sums at most, whosever they are.

        Those with the largest loads add the least for a basket. So the most baskets there can be are all that these may
        have, as many people as the histogram allows, then those of smaller loads, until their parts add up to the sum.
        Who holds so much that nothing is left of a part may always be among them.
        """
        lasts = np.array([*(edge - 1 for edge in self.edges[1:]), most_load(query.cells, self.baskets, query.root)])
        each = np.minimum(np.floor(np.sqrt(lasts)) if query.root else lasts, self.baskets)
        weights = query.weights(lasts[::-1]) / PARTS
        baskets = np.diff(self.beyond[::-1], prepend=0.0) * each[::-1]
        unseen = float(baskets[weights == 0].sum())
        baskets, weights = baskets[weights > 0], weights[weights > 0]
        reached, crowd = (np.concatenate(([0.0], np.cumsum(column))) for column in (baskets * weights, baskets))
        over = np.maximum(sums - reached[-1], 0.0)
        most: F64 = unseen + np.interp(sums, reached, crowd) + over
        return most


NOTHING_HELD = Histogram(np.ones(1), np.zeros(1), (1,), np.zeros(1))


@dataclass(frozen=True, eq=False)
class ClippedCount:
    """Clipped counts: estimates, the most that a person added in all, and what bounds are made of."""

    tally: Tally
    total: float
    noisy: Noisy
    query: Clipped
    histogram: Histogram

    def bounds(self, confidence: float = CONFIDENCE) -> tuple[F64, F64]:
        """Return an interval for each count that holds whatever the data are, with this confidence."""
        odds = min(ODDS, (1 - confidence) / 10)
        sums, margin = self.noisy.values / PARTS, self.noisy.margin(confidence + odds) / PARTS
        return sums - margin, self.histogram.most(sums + margin, self.query)


def held_histogram(
    engine: SealedEngine, meter: Meter, itemsets: Itemsets, share: Fraction, fine: int = FINE
) -> Histogram:
    """Measure how many people hold how many members of a family, where someone may hold more than one."""
    if not looked_at(itemsets, meter):
        return NOTHING_HELD
    most = most_load(len(itemsets), meter.max_baskets, not meter.pure)
    edges = edges_up_to(most, fine)
    noisy = meter.count(HOLDING, engine, Held(itemsets, edges, not meter.pure), share)
    return Histogram.of(edges, cleaned(noisy, edges), most, surely_beyond(noisy), meter.max_baskets)


def looked_at(itemsets: Itemsets, meter: Meter) -> bool:
    """Say whether a person may hold more than one member of a family: nobody does of a single one, in one basket."""
    return len(itemsets) > 1 or meter.max_baskets > 1


def most_load(members: int, baskets: int, squares: bool) -> int:
    """Return the largest load there can be, of a person with so many baskets that hold all of so many members."""
    return members * (baskets**2 if squares else baskets)


def surely_beyond(noisy: Noisy) -> F64:
    """Return how many people are in each bin or a later one at most, but for a chance of `ODDS` that any is more."""
    values = noisy.values.astype(np.float64)
    terms = np.arange(len(values), 0, -1)
    beyond = np.cumsum(values[::-1])[::-1] + sum_margin(noisy, terms, ODDS / len(values))
    most: F64 = np.maximum(np.minimum.accumulate(beyond), 0.0)
    return most


def sum_margin(noisy: Noisy, terms: I64, odds: float) -> F64:
    """Return what sums of so many noise variables exceed with at most a probability, by Chernoff's bound.

    For Gaussian noise of variance v, exp(-x^2 / 2vn). For Laplace noise of scale b the n-th power of 1 / (1 - (tb)^2)
    times exp(-tx), at the best t.
    """
    many, level = terms.astype(np.float64), -log(odds)
    if noisy.scale is None:
        return noisy.deviation * np.sqrt(2 * level * many)
    rates = np.linspace(0.01, 0.99, 99)[:, None]
    margins: F64 = float(noisy.scale) * ((level - many * np.log1p(-(rates**2))) / rates).min(axis=0)
    return margins


def count_clipped(
    what: str,
    engine: SealedEngine,
    meter: Meter,
    itemsets: Itemsets,
    share: Fraction,
    mark: float,
    histogram: Histogram | None = None,
    total: int | None = None,
) -> ClippedCount:
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
    histogram
        How many people hold how many of them; where it is not given, a part of the share measures it.
    total
        The most that a person adds, in parts; where it is not given, the one with the least error at the mark.
    """
    if histogram is None:
        looking = share * LOOKING if looked_at(itemsets, meter) else Fraction(0)
        histogram = held_histogram(engine, meter, itemsets, looking)
        share -= looking
    if total is None:
        total, _ = choose_total(itemsets, histogram, meter, share, mark)
    query = Clipped(itemsets, total, not meter.pure)
    noisy = meter.count(what, engine, query, share)
    keep = histogram.keep(total, meter.pure)
    estimates = noisy.values / (PARTS * keep)
    unsure = DIFFERING * (1 - keep) * np.maximum(estimates, 0.0)
    tally = Tally(itemsets, estimates, np.hypot(noisy.deviation / (PARTS * keep), unsure))
    return ClippedCount(tally, total / PARTS, noisy, query, histogram)


def choose_total(
    itemsets: Itemsets, histogram: Histogram, meter: Meter, share: Fraction, mark: float, usual: float | None = None
) -> tuple[int, float]:
    """Return the most that a person may add, in parts, where the error of a count of `mark` people is least; and it.

    Where most counts are known to be larger, the relative error of such a `usual` one weighs as much. Beyond 1 that of
    the mark does not matter: then nothing tells it from 0.
    """
    best, least, found = PARTS, np.inf, np.inf
    for total in totals_up_to(len(itemsets) * meter.max_baskets):
        keep = histogram.keep(total, meter.pure)
        variance = meter.scale(Clipped(itemsets, total, not meter.pure), share)[1]
        if variance >= LOUDEST:
            break
        noise, unsure = sqrt(variance) / (PARTS * keep), DIFFERING * (1 - keep)
        error = hypot(noise, unsure * mark)
        loss = error if usual is None else min(error / mark, 1.0) + hypot(noise / usual, unsure)
        if loss < least:
            best, least, found = total, loss, error
        if keep == 1.0:
            break
    return best, found


def choose_sure_total(
    itemsets: Itemsets, histogram: Histogram, meter: Meter, share: Fraction, mark: float
) -> tuple[int, float]:
    """Return the most that a person may add, in parts, where the interval of a count of `mark` people is shortest.

    And half its length.
    """
    best, least = PARTS, np.inf
    for total in totals_up_to(len(itemsets) * meter.max_baskets):
        keep, query = histogram.keep(total, meter.pure), Clipped(itemsets, total, not meter.pure)
        scale, variance = meter.scale(query, share)
        if variance >= LOUDEST:
            break
        margin = Noisy(np.zeros(1, np.int64), scale, variance).margin(CONFIDENCE + ODDS) / PARTS
        most = histogram.most(np.array([keep * mark + margin]), query)
        length = (float(most[0]) - keep * mark + margin) / 2
        if length < least:
            best, least = total, length
        if keep == 1.0:
            break
    return best, least


def edges_up_to(many: int, fine: int = FINE) -> tuple[int, ...]:
    """Return where the bins of the histogram begin: each number up to `fine`, then half as many to a doubling.

    They go on to the most that anyone could hold, never to the most that anyone does; the last bin is open.
    """
    edges, step = [1], 1
    while edges[-1] + step <= min(many, WIDEST):
        edges.append(edges[-1] + step)
        while edges[-1] >= (fine if edges[-1] < FAR else COARSE) * step:
            step *= 2
    return tuple(edges)


def totals_up_to(many: int) -> list[int]:
    """Return the totals a person may be clipped to, in parts: from 1 basket on four to a doubling, up to `many`."""
    totals = [PARTS]
    while totals[-1] < many * PARTS:
        step = PARTS * 2 ** ((totals[-1] // PARTS).bit_length() - 1) // 4
        totals.append(min(totals[-1] + step, many * PARTS))
    return totals


def cleaned(noisy: Noisy, edges: tuple[int, ...]) -> F64:
    """Return numbers of people by bin with the noise taken out.

    How many hold so many members or more is told apart from noise up to some edge only. Up to there it never rises;
    from there on it is taken to fall as a power, somewhat faster than over the last doubling, but not to be more than
    the noisy number and a little. A phantom far out would weigh as much as the many members it is said to hold, and
    nobody at all would leave out those who are there.
    """
    values = noisy.values.astype(np.float64)
    beyond = np.cumsum(values[::-1])[::-1]
    spread = noisy.deviation * np.sqrt(np.arange(len(values), 0, -1))
    unclear = beyond <= STANDS_OUT * spread
    clear = max(1, int(np.argmax(unclear)) if unclear.any() else len(values))
    many = np.maximum(-rising(-beyond), 0.0)
    last, first = clear - 1, int(np.searchsorted(edges, edges[clear - 1] / 2, side="right")) - 1
    power = USUAL
    if first >= 0 and many[last] > 0:
        power = STEEPER * float(np.log(many[first] / many[last]) / np.log(edges[last] / edges[first]))
        power = min(max(power, FLATTEST), STEEPEST)
    falls = many[last] * (np.array(edges[clear:]) / edges[last]) ** -power
    many[clear:] = np.minimum(falls, np.maximum(beyond[clear:], 0.0) + HIDES * spread[clear:])
    found: F64 = -np.diff(np.minimum.accumulate(many), append=0.0)
    return found
