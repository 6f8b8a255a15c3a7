"""SVSM: the most frequent itemsets. Find items by SVIM, guess their frequent itemsets, and estimate those."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import prod, sqrt
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...privacy import exact
from .. import Protocol
from ..device import MOST_NUMBERS
from ..estimation import Values
from ..study import (
    CandidateList,
    Padding,
    Partition,
    ProtocolResult,
    RoundGenerator,
    SizeBinning,
    StudyGoal,
    check_candidates,
    check_padding,
    check_room,
    check_shares,
    estimate_candidates,
)
from .ldpminer import LDPMiner
from .svim import SVIM, SVIMBetter, padding_bias


@dataclass(frozen=True, kw_only=True)
class SVSM(Protocol):
    """Find the most frequent itemsets.

    Parameters
    ----------
    shares
        The shares of the people: for the items, for the number of guessed itemsets per person, and for the itemsets.
    items
        The protocol that finds the items.
    candidates
        The number of guessed itemsets per pattern of the top.
    size_oracle, oracle, padding, percentile, corrected, sizes
        As for `svim`.
    shrunk
        Whether estimates are shrunk to the guess, as far as the noise says (empirical Bayes).
    robust
        As for `svim`, here and for the items.
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
        """The protocol that finds the items."""
        kinds: dict[str, type[SVIM]] = {kind.name: kind for kind in (SVIM, SVIMBetter, LDPMiner)}
        return kinds[self.items](robust=self.robust)

    @property
    def bias(self) -> str:
        """The reason for estimates that are too low: of the items, or of the itemsets."""
        return self.finder.bias or padding_bias(self.padding, self.sizes, corrected=self.corrected)

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        shares = self.parts
        check_shares(shares, _SHARES, (0, 2))
        check_padding(self.padding, shares[1], "padding")
        candidate_count = self.candidates * goal.top
        # Pairs, and as many sizes; longer itemsets are guessed as far as there is room.
        check_room(4 * candidate_count + 1, "candidates")
        check_candidates(
            self.candidates,
            self.percentile,
            goal.epsilon,
            size_oracle=self.size_oracle,
            oracles=(self.oracle,),
            counts=(candidate_count,),
            size_count=max(1, candidate_count) + 1,
        )
        self.finder.check(StudyGoal(items=goal.items, top=goal.top, epsilon=goal.epsilon))

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        line, (items_share, size_share, last_share) = Partition(), self.parts
        max_length = longest_pattern(goal.top, goal.least)
        if max_length < 2:
            # A pair has two single items that are at least as frequent: it is not among the top two (A10).
            items_share, size_share, last_share = items_share + size_share + last_share, Fraction(0), Fraction(0)
        items = yield from self.finder.find_items(goal.items, goal.top, goal.epsilon, line, items_share)
        positions = items.select_best(goal.top)
        singles = tuple(items.candidates[position] for position in positions)
        values, variance = items.values[positions], items.variance[positions]
        facts = {"item padding": items.pad, "item correction": items.correction}
        lineage = None if goal.lineage is None else goal.lineage.find_related_pairs([item for (item,) in singles])
        guesses = (
            guess_itemsets(np.clip(values, 0, None), self.candidates * goal.top, max_length, lineage)
            if last_share
            else []
        )
        if not guesses:
            note = _NO_GUESS if last_share else _TOO_FEW
            return ProtocolResult(itemsets=singles, values=values, variance=variance, facts=facts, notes=(note,))
        # Guesses have ranks of items by frequency; a candidate has ascending item numbers.
        itemsets = tuple(tuple(sorted(singles[rank][0] for rank in ranks)) for ranks in guesses)
        estimates = yield from estimate_candidates(
            CandidateList(itemsets=itemsets),
            line,
            (size_share, last_share),
            goal.epsilon,
            oracles=(self.size_oracle, self.oracle),
            padding=self.padding,
            percentile=exact(self.percentile, "percentile"),
            corrected=self.corrected,
            binning=self.sizes,
            frequency=items.frequency_at(goal.top),
            robust=self.robust,
            about="itemsets",
        )
        itemset_values, itemset_variance = estimates.values, estimates.variance
        if self.shrunk:
            guess, guess_variance = np.array([independent_frequency(ranks, values, variance) for ranks in guesses]).T
            itemset_values, itemset_variance = shrink_to_guess(itemset_values, itemset_variance, guess, guess_variance)
        return ProtocolResult.ranked(
            (*singles, *itemsets),
            np.concatenate((values, itemset_values)),
            np.concatenate((variance, itemset_variance)),
            {**facts, "itemset padding": estimates.pad, "itemset correction": estimates.correction},
        )


@dataclass(frozen=True, kw_only=True)
class SVSMBetter(SVSM):
    """Find the most frequent itemsets with the best oracle at every step, shrunk to the guess as the noise says."""

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
# At 1, a set with the most frequent item would be as frequent as the set without it, and guesses would only grow.
_LARGEST_SCALED = 0.9  # the most frequent item's value in a guess, as Wang, Li, Jha 2018 scale them


def longest_pattern(top: int, least: int) -> int:
    """Return the largest number of items of a pattern of the top: its subsets are at least as frequent (A10)."""
    length = 1
    while (2 ** (length + 1) - 1 if least < 2 else 2 ** (length + 1) - 2 - length) <= top:
        length += 1
    return max(length, least)


def guess_itemsets(
    values: Values, count: int, max_length: int, related: NDArray[np.bool_] | None = None
) -> list[tuple[int, ...]]:
    """Return the sets of 2 to `max_length` ranks with the largest products of values, scaled to 0.9 at most.

    Items without positive estimates are in no guess (A11). A heap yields sets from the largest product down: each set
    follows from one with a larger product, by replacing its last member by the next or by adding the next. Fewer than
    `count` sets are returned if one question has no room for all.

    Parameters
    ----------
    values
        The estimates of the items.
    count
        The number of sets.
    max_length
        The largest number of items of a set.
    related
        Whether an item is above another, for each two items: no set has two related members.
    """
    order = [int(rank) for rank in np.argsort(-values, kind="stable") if values[rank] > 0]
    if len(order) < 2:
        return []
    scaled = [_LARGEST_SCALED * float(values[rank] / values[order[0]]) for rank in order]
    guesses: list[tuple[int, ...]] = []
    heap: list[tuple[float, tuple[int, ...]]] = [(-scaled[0], (0,))]
    room = MOST_NUMBERS - 1
    while heap and len(guesses) < count:
        members = heappop(heap)[1]
        has_related = related is not None and any(related[order[members[-1]], order[member]] for member in members[:-1])
        if len(members) > 1 and not has_related:
            room -= len(members) + 2  # numbers of a question: the items, the itemset, and one size more
            if room < 0:
                break
            guesses.append(tuple(order[member] for member in members))
        following = members[-1] + 1
        if following < len(order):
            # A set with related members is not extended: each of its supersets has them too.
            can_grow = len(members) < max_length and not has_related
            successors = ((*members[:-1], following), (*members, following))[: 1 + can_grow]
            for successor in successors:
                heappush(heap, (-prod(scaled[member] for member in successor), successor))
    return guesses


def shrink_to_guess(
    values: Values, variance: Values, guess: Values, guess_variance: Values | float = 0.0
) -> tuple[Values, Values]:
    """Return estimates shrunk to a guess, and their variance: by the noise relative to the error of the guess.

    The error of the guess is estimated from the estimates themselves. The variance uses an upper value of it, so that
    no interval shrinks to nothing, and adds the variance that the guess was made with.
    """
    noise = float(variance.mean())
    guess_error = max(0.0, float(((values - guess) ** 2).mean()) - noise)
    weight = guess_error / (guess_error + variance)
    upper_error = max(guess_error, noise * sqrt(2 / len(values)))
    shrunk_variance = weight**2 * variance + (1 - weight) ** 2 * (upper_error + guess_variance)
    return weight * values + (1 - weight) * guess, shrunk_variance


def independent_frequency(ranks: tuple[int, ...], values: Values, variance: Values) -> tuple[float, float]:
    """Return the frequency of an itemset if its items are independent, and its variance."""
    frequencies = np.clip(values[list(ranks)], 1e-9, 1.0)
    product = float(np.prod(frequencies))
    return product, product**2 * float((variance[list(ranks)] / frequencies**2).sum())
