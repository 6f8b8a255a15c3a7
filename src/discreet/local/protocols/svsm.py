"""SVSM: the most frequent itemsets. Find items by SVIM, guess which sets of them are frequent, and estimate those."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import prod, sqrt
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...privacy import exact
from .. import Protocol
from ..device import MOST_NUMBERS
from ..study import (
    CandidateList,
    Learnt,
    Padding,
    Partition,
    SizeBinning,
    Talk,
    Wanted,
    check_padding,
    check_room,
    check_shares,
    checked,
    estimating,
)
from .ldpminer import LDPMiner
from .svim import SVIM, SVIMBetter, padding_bias


@dataclass(frozen=True, kw_only=True)
class SVSM(Protocol):
    """Find the most frequent itemsets.

    Parameters
    ----------
    shares
        Of the people: for the items, for how many of the guessed itemsets people hold, and for estimating those.
    items
        Which protocol finds the items.
    candidates
        How many itemsets are guessed for every pattern wanted.
    size_oracle, oracle, padding, percentile, corrected, sizes
        As for `svim`.
    shrunk
        Whether estimates are pulled to the guess as far as the noise says (empirical Bayes).
    robust
        As for `svim`, here and where the items are found.
    """

    shares: tuple[str, str, str] = ("0.5", "0.1", "0.4")
    items: Literal["svim", "svim-better", "ldpminer"] = "svim"
    candidates: int = 2
    size_oracle: str = "olh"
    oracle: str = "grr-or-olh"
    padding: Padding = "percentile"
    percentile: str = "0.9"
    corrected: bool = True
    sizes: SizeBinning = "each"
    shrunk: bool = False
    robust: bool = False

    name: ClassVar[str] = "svsm"
    across: ClassVar[bool] = True
    summary: ClassVar[str] = "the most frequent itemsets: items by svim, a guess at their sets, and estimates of those"
    citation: ClassVar[str] = "Wang, Li, Jha 2018, section V-B"

    @property
    def finder(self) -> SVIM:
        """What finds the items."""
        kinds: dict[str, type[SVIM]] = {kind.name: kind for kind in (SVIM, SVIMBetter, LDPMiner)}
        return kinds[self.items](robust=self.robust)

    @property
    def bias(self) -> str:
        """Why estimates are too low: of the items, or of the itemsets."""
        return self.finder.bias or padding_bias(self.padding, self.sizes, corrected=self.corrected)

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        shares = self.parts
        check_shares(shares, _SHARES)
        if not shares[0] or not shares[2]:
            raise MisuseError(_SHARES)
        check_padding(self.padding, shares[1], "padding")
        # Pairs at least, and as many sizes; fewer are guessed where longer ones have no room.
        check_room(4 * self.candidates * wanted.top + 1, "candidates")
        checked(
            self.candidates,
            self.percentile,
            wanted.epsilon,
            size_oracle=self.size_oracle,
            oracles=(self.oracle,),
            sizes=(self.candidates * wanted.top,),
            counted=max(1, self.candidates * wanted.top) + 1,
        )
        self.finder.check(Wanted(items=wanted.items, top=wanted.top, epsilon=wanted.epsilon))

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (first, size, last) = Partition(), self.parts
        largest = longest(wanted.top, wanted.least)
        if largest < 2:
            # A pair has two single items that are at least as frequent: it is not among the top two (A10).
            first, size, last = first + size + last, Fraction(0), Fraction(0)
        items = yield from self.finder.items(wanted.items, wanted.top, wanted.epsilon, line, first)
        found = items.best(wanted.top)
        singles = tuple(items.of[place] for place in found)
        values, variance = items.values[found], items.variance[found]
        facts = {"item padding": items.pad, "item correction": items.correction}
        lineage = None if wanted.lineage is None else wanted.lineage.among([item for (item,) in singles])
        guesses = guessed(np.clip(values, 0, None), self.candidates * wanted.top, largest, lineage) if last else []
        if not guesses:
            note = _NO_GUESS if last else _TOO_FEW
            return Learnt(itemsets=singles, values=values, variance=variance, facts=facts, notes=(note,))
        # Numbers of items ascend within a candidate; the guess has them by rank.
        sets = tuple(tuple(sorted(singles[rank][0] for rank in ranks)) for ranks in guesses)
        last_round = yield from estimating(
            CandidateList(itemsets=sets),
            line,
            (size, last),
            wanted.epsilon,
            oracles=(self.size_oracle, self.oracle),
            padding=self.padding,
            percentile=exact(self.percentile, "percentile"),
            corrected=self.corrected,
            told=self.sizes,
            near=items.least_of(wanted.top),
            robust=self.robust,
            about="itemsets",
        )
        estimates, spread = last_round.values, last_round.variance
        if self.shrunk:
            guess, off = np.array([by_chance(ranks, values, variance) for ranks in guesses]).T
            estimates, spread = shrunk(estimates, spread, guess, off)
        everything = (*singles, *sets)
        both, wide = np.concatenate((values, estimates)), np.concatenate((variance, spread))
        # Of equal ones, subsets come first (A10).
        order = np.lexsort((np.array([len(one) for one in everything]), -both))
        return Learnt(
            itemsets=tuple(everything[place] for place in order),
            values=both[order],
            variance=wide[order],
            facts={**facts, "itemset padding": last_round.pad, "itemset correction": last_round.correction},
        )


@dataclass(frozen=True, kw_only=True)
class SVSMBetter(SVSM):
    """Find the most frequent itemsets with the best oracle at every step, pulled to the guess as the noise says."""

    items: Literal["svim", "svim-better", "ldpminer"] = "svim-better"
    size_oracle: str = "adaptive"
    oracle: str = "adaptive"
    padding: Padding = "predicted"
    sizes: SizeBinning = "bins"
    shrunk: bool = True
    robust: bool = True

    name: ClassVar[str] = "svsm-better"
    summary: ClassVar[str] = "svsm over svim-better, with the best oracle at every step, pulled to the guess"
    citation: ClassVar[str] = "after Wang, Li, Jha 2018; oracles: Wang et al. 2018 (PrivSet), Wang et al. 2020 (wheel)"


_SHARES = "The shares of svsm are 0 or 0.0001 and more, and add up to 1 at most; items and itemsets need some."
_TOO_FEW = (
    "Of one or two patterns none has two items, each of which is at least as frequent: everyone was asked about items."
)
_NO_GUESS = "No two items stood out, so no itemset could be guessed: the patterns are single items."


def longest(top: int, least: int) -> int:
    """Return how many items a pattern among the top can have: all its subsets are at least as frequent (A10)."""
    size = 1
    while (2 ** (size + 1) - 1 if least < 2 else 2 ** (size + 1) - 2 - size) <= top:
        size += 1
    return max(size, least)


def guessed(
    values: NDArray[np.float64], many: int, largest: int, related: NDArray[np.bool_] | None = None
) -> list[tuple[int, ...]]:
    """Return the sets of ranks, of two to `largest`, with the largest products of values scaled to 0.9 at most.

    Items nobody seems to hold are in no guess, and estimates below 0 count as 0 (A11). Sets are found from the largest
    product down: each follows from one with a larger product by moving its last member on, or by adding the next. There
    are fewer of them where one question has no room for all. No two members of a set are `related`, as an item is to
    one that stands above it: where the last one is, it is moved on, and nothing is added to it.
    """
    order = [int(rank) for rank in np.argsort(-values, kind="stable") if values[rank] > 0]
    if len(order) < 2:
        return []
    scaled = [0.9 * float(values[rank] / values[order[0]]) for rank in order]
    found: list[tuple[int, ...]] = []
    heap: list[tuple[float, tuple[int, ...]]] = [(-scaled[0], (0,))]
    room = MOST_NUMBERS - 1
    while heap and len(found) < many:
        places = heappop(heap)[1]
        mixed = related is not None and any(related[order[places[-1]], order[place]] for place in places[:-1])
        if len(places) > 1 and not mixed:
            room -= len(places) + 2  # in a question: its items, itself, and one size more
            if room < 0:
                break
            found.append(tuple(order[place] for place in places))
        after = places[-1] + 1
        if after < len(order):
            for further in ((*places[:-1], after), (*places, after))[: 1 + (len(places) < largest and not mixed)]:
                heappush(heap, (-prod(scaled[place] for place in further), further))
    return found


def shrunk(
    values: NDArray[np.float64],
    variance: NDArray[np.float64],
    guess: NDArray[np.float64],
    guess_variance: NDArray[np.float64] | float = 0.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pull estimates to a guess, by as much as their noise is larger than what the guess itself is off.

    How far guesses are off is itself an estimate: the variance that is returned takes it for as large as it may well
    be, so that no interval shrinks to nothing, and adds the noise of what the guess was made of.
    """
    noise = float(variance.mean())
    off = max(0.0, float(((values - guess) ** 2).mean()) - noise)
    weight = off / (off + variance)
    known = max(off, noise * sqrt(2 / len(values)))
    spread = weight**2 * variance + (1 - weight) ** 2 * (known + guess_variance)
    return weight * values + (1 - weight) * guess, spread


def by_chance(
    ranks: tuple[int, ...], values: NDArray[np.float64], variance: NDArray[np.float64]
) -> tuple[float, float]:
    """Return how many would hold these items if they had nothing to do with each other, and its variance."""
    parts = np.clip(values[list(ranks)], 1e-9, 1.0)
    guess = float(np.prod(parts))
    return guess, guess**2 * float((variance[list(ranks)] / parts**2).sum())
