"""SVIM: the most frequent items. Prune the list to candidates, learn how many of them people hold, estimate."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ...errors import MisuseError
from ...privacy import exact
from .. import Protocol
from ..study import (
    LONGEST,
    NEAR,
    Ask,
    CandidateList,
    Estimated,
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

_SHARES = "The shares of svim are 0 or 0.0001 and more, add up to 1 at most, and some prune and some estimate."


def padding_bias(padding: Padding | str, sizes: SizeBinning, *, corrected: bool) -> str:
    """Return why estimates with these settings are biased by more than their intervals hold; empty where they are not.

    Of sizes that are asked for one by one, rare large ones stay below the threshold of what is told from noise: the
    correction is too small, and nothing in the reports says by how much (`svim.md`).
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
        Of the people: for basket sizes (where the first padding is learnt), for pruning, for the sizes among the
        candidates, and for estimating them.
    candidates
        How many candidates are kept for every item wanted.
    first_oracle, first_padding
        How the list is pruned. A padding of 1 says nothing about how often, and much about which.
    size_oracle
        How sizes are asked for.
    oracle, padding, percentile
        How candidates are estimated; the padding that this share of the people does not exceed.
    corrected
        Whether estimates are scaled up for what the padding leaves out.
    sizes
        Whether sizes are asked for each by itself, or in bins.
    robust
        Whether what liars can do is weighed: the padding by what one report can add, sizes asked for in few bins, and
        no padding longer than what liars about sizes can drive it to.
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
        """Why estimates are too low: what a padding cuts off is not given back, or not all of it."""
        return padding_bias(self.padding, self.sizes, corrected=self.corrected)

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        shares = self.parts
        check_shares(shares, _SHARES)
        if not shares[1] or not shares[3]:
            raise MisuseError(_SHARES)
        check_padding(self.first_padding, shares[0], "first_padding")
        check_padding(self.padding, shares[2], "padding")
        most = min(wanted.items, self.candidates * wanted.top)
        check_room(2 * most + 1, "candidates")  # the candidates, and as many sizes
        checked(
            self.candidates,
            self.percentile,
            wanted.epsilon,
            size_oracle=self.size_oracle,
            oracles=(self.first_oracle, self.oracle),
            sizes=(wanted.items, max(1, most)),
            counted=max(1, most, min(wanted.items, LONGEST)) + 1,
        )
        if wanted.least > 1:
            raise MisuseError("svim finds single items: use svsm for patterns of two items or more.")

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        found = yield from self.items(wanted.items, wanted.top, wanted.epsilon, Partition(), Fraction(1))
        places = found.best(len(found.of))
        return Learnt(
            itemsets=tuple(found.of[place] for place in places),
            values=found.values[places],
            variance=found.variance[places],
            facts={"padding": found.pad, "correction": found.correction},
        )

    def items(
        self, items: int, top: int, epsilon: Fraction, line: Partition, scale: Fraction
    ) -> Generator[Ask, Any, Estimated]:
        """Ask a part of the people, `scale`, for the most frequent items, and return all candidates estimated."""
        basket, prune, size, last = (share * scale for share in self.parts)
        most, percentile = self.candidates * top, exact(self.percentile, "percentile")
        of, near = CandidateList(items=items), NEAR
        if items > most:
            first = yield from estimating(
                of,
                line,
                (basket, prune),
                epsilon,
                oracles=(self.size_oracle, self.first_oracle),
                padding=self.first_padding,
                percentile=percentile,
                told=self.sizes,
                near=near,
                longest=LONGEST,
                robust=self.robust,
                about="items",
            )
            of = CandidateList(itemsets=tuple((place,) for place in sorted(first.best(most))))
            near = first.least_of(top)
        else:
            # There is nothing to prune: those people answer for the candidates.
            grown = (basket + prune) / (size + last)
            size, last = size * (1 + grown), last * (1 + grown)
        return (
            yield from estimating(
                of,
                line,
                (size, last),
                epsilon,
                oracles=(self.size_oracle, self.oracle),
                padding=self.padding,
                percentile=percentile,
                corrected=self.corrected,
                told=self.sizes,
                near=near,
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
