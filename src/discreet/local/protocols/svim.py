"""SVIM: the most frequent items. Prune the list to candidates, learn their number per person, estimate each."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ...errors import MisuseError
from ...privacy import exact
from .. import Protocol
from ..study import (
    LARGEST_SIZE,
    TYPICAL_FREQUENCY,
    Ask,
    CandidateEstimates,
    CandidateList,
    Padding,
    Partition,
    RoundGenerator,
    SizeBinning,
    StudyGoal,
    check_candidates,
    check_padding,
    check_room,
    check_shares,
    estimate_candidates,
)

_SHARES = "The shares of svim are 0 or 0.0001 and more, add up to 1 at most, and some prune and some estimate."


def padding_bias(padding: Padding | str, sizes: SizeBinning, *, corrected: bool) -> str:
    """Return the reason for a bias of estimates that their intervals do not hold; empty without a bias.

    Among sizes with a bin each, rare large sizes stay below the significance threshold: the correction is too small,
    by an unknown factor (`svim.md`).
    """
    if padding == "all":
        return ""
    if not corrected:
        return "what a padding cuts off is not given back"
    return (
        "large sizes are lost in the noise, so what a padding cuts off is given back in part" if sizes == "each" else ""
    )


@dataclass(frozen=True, kw_only=True)
class SVIM(Protocol):
    """Find the most frequent items.

    Parameters
    ----------
    shares
        The shares of the people: for basket sizes (from which the first padding is learnt), for pruning, for the number
        of candidates per person, and for the candidates.
    candidates
        The number of candidates per item of the top.
    first_oracle, first_padding
        The oracle and the padding that prune the list. A padding of 1 ranks items well, and estimates them badly.
    size_oracle
        The oracle for sizes.
    oracle, padding, percentile
        The oracle and the padding for candidates; the share of the people within the padding.
    corrected
        Whether estimates are multiplied by the correction of the padding.
    sizes
        Whether each size has a bin, or bins widen.
    robust
        Whether liars are considered: the padding counts the influence of one report as an error, sizes have few bins,
        and the padding is no longer than liars about sizes can make it.
    """

    shares: tuple[str, str, str, str] = ("0", "0.5", "0.1", "0.4")
    candidates: int = 2
    first_oracle: str = "grr-or-olh"
    first_padding: Padding = 1
    size_oracle: str = "olh"
    oracle: str = "grr-or-olh"
    padding: Padding = "percentile"
    percentile: str = "0.9"
    corrected: bool = True
    sizes: SizeBinning = "each"
    robust: bool = False

    name: ClassVar[str] = "svim"
    across: ClassVar[bool] = True
    summary: ClassVar[str] = "the most frequent items: prune, learn sizes, estimate, correct"
    citation: ClassVar[str] = "Wang, Li, Jha 2018, section V-A"

    @property
    def bias(self) -> str:
        """The reason for estimates that are too low: the padding truncates baskets, and not all is restored."""
        return padding_bias(self.padding, self.sizes, corrected=self.corrected)

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        shares = self.parts
        check_shares(shares, _SHARES, (1, 3))
        check_padding(self.first_padding, shares[0], "first_padding")
        check_padding(self.padding, shares[2], "padding")
        candidate_count = min(goal.items, self.candidates * goal.top)
        check_room(2 * candidate_count + 1, "candidates")  # the candidates, and as many sizes
        check_candidates(
            self.candidates,
            self.percentile,
            goal.epsilon,
            size_oracle=self.size_oracle,
            oracles=(self.first_oracle, self.oracle),
            counts=(goal.items, max(1, candidate_count)),
            size_count=max(1, candidate_count, min(goal.items, LARGEST_SIZE)) + 1,
        )
        if goal.least > 1:
            raise MisuseError("svim finds single items: use svsm for patterns of two items or more.")

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        items = yield from self.find_items(goal.items, goal.top, goal.epsilon, Partition(), Fraction(1))
        return items.build_result({"padding": items.pad, "correction": items.correction})

    def find_items(
        self, item_count: int, top: int, epsilon: Fraction, line: Partition, scale: Fraction
    ) -> Generator[Ask, Any, CandidateEstimates]:
        """Ask a share of the people for the most frequent items, and return the estimates of all candidates.

        Parameters
        ----------
        item_count
            The number of items of the list.
        top
            The number of items to find.
        epsilon
            The epsilon of a report.
        line
            The people without a question so far.
        scale
            The share of the people for the questions, which `shares` divides.
        """
        basket_share, prune_share, size_share, last_share = (share * scale for share in self.parts)
        candidate_count, percentile = self.candidates * top, exact(self.percentile, "percentile")
        candidates, frequency = CandidateList(items=item_count), TYPICAL_FREQUENCY
        if item_count > candidate_count:
            pruned = yield from estimate_candidates(
                candidates,
                line,
                (basket_share, prune_share),
                epsilon,
                oracles=(self.size_oracle, self.first_oracle),
                padding=self.first_padding,
                percentile=percentile,
                binning=self.sizes,
                largest_size=LARGEST_SIZE,
                robust=self.robust,
                about="items",
            )
            kept_items = sorted(pruned.select_best(candidate_count))
            candidates, frequency = (
                CandidateList(itemsets=tuple((item,) for item in kept_items)),
                pruned.frequency_at(top),
            )
        else:
            # All items are candidates: the people for pruning join the later rounds.
            growth = 1 + (basket_share + prune_share) / (size_share + last_share)
            size_share, last_share = size_share * growth, last_share * growth
        return (
            yield from estimate_candidates(
                candidates,
                line,
                (size_share, last_share),
                epsilon,
                oracles=(self.size_oracle, self.oracle),
                padding=self.padding,
                percentile=percentile,
                corrected=self.corrected,
                binning=self.sizes,
                frequency=frequency,
                robust=self.robust,
                about="candidates",
            )
        )


@dataclass(frozen=True, kw_only=True)
class SVIMBetter(SVIM):
    """Find the most frequent items with the best oracle at every step, and a first padding near the typical basket."""

    shares: tuple[str, str, str, str] = ("0.05", "0.45", "0.1", "0.4")
    first_oracle: str = "adaptive"
    first_padding: Padding = "predicted"
    size_oracle: str = "adaptive"
    oracle: str = "adaptive"
    padding: Padding = "predicted"
    sizes: SizeBinning = "bins"
    robust: bool = True

    name: ClassVar[str] = "svim-better"
    summary: ClassVar[str] = "svim with the best oracle at every step and a first padding near the typical basket"
    citation: ClassVar[str] = "after Wang, Li, Jha 2018; oracles: Wang et al. 2018 (PrivSet), Wang et al. 2020 (wheel)"
