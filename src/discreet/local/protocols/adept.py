"""Adept: the most frequent itemsets, by asking again only where it is uncertain what is among the top."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from math import hypot, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...privacy.budget import exact
from ..asking import Ask, Estimate, Learnt, Line, Talk, Wanted
from ..oracles.known import adaptive
from ..oracles.oracle import Oracle
from ..questions import Candidates, HowMany, Which
from .beliefs import Evidence
from .growing import Picture
from .held_sizes import BINS, HeldSizes
from .protocol import Protocol
from .rounds import LEAST_SHARE
from .svsm import longest

LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35, 40)
"""Paddings that are compared."""
FIRST_NEAR, FIRST_FREQUENCY = 0.03, 0.02
"""How frequent the last of the top is taken to be before anything is known, and an item that is to be told from it."""
CUT_OFF = 0.5
"""Which part of what a padding cuts off counts as an error when paddings are compared."""
UNCORRECTED = 0.15
"""By which part of itself, times the root of the share that a padding cut off, an estimate may be off after that was
given back: candidates differ in whether large baskets hold them."""
SHARED = 0.5
"""Which part of that all patterns of a round have in common."""
MOST_ASKED = 20_000
"""How many patterns a round asks about at most, the most uncertain of them."""
DOUBT = (0.001, 0.01, 0.03)
"""From which chance on to be among the top, and up to one minus which, a pattern is asked about in later rounds."""

VAGUE = 0.25
"""The variance of a frequency of which nothing is known, at most."""


@dataclass(frozen=True, kw_only=True)
class Adept(Protocol):
    """Find the most frequent itemsets.

    Parameters
    ----------
    shares
        Of the people, for the four rounds: all items, then three times what is uncertain.
    sizes
        Of the people of a round, the share that tells how many candidates it holds.
    """

    shares: tuple[str, str, str, str] = ("0.5", "0.25", "0.15", "0.1")
    sizes: str = "0.08"

    name: ClassVar[str] = "adept"
    summary: ClassVar[str] = "the most frequent itemsets: asks again where it is uncertain what is among the top"
    citation: ClassVar[str] = "ours; oracles: Wang et al. 2018 (PrivSet), Wang et al. 2020 (wheel), Ye, Barg 2018"

    def check(self, wanted: Wanted) -> None:
        """Refuse shares that do not add up."""
        shares, size = self.parts, exact(self.sizes, "sizes")
        if any(share < LEAST_SHARE for share in shares) or sum(shares) > 1:
            raise MisuseError("The shares of adept are 0.0001 or more each, and add up to 1 at most.")
        if not Fraction(1, 1000) <= size <= Fraction(1, 2):
            raise MisuseError(f"sizes is from 0.001 to 0.5 of each round; {self.sizes} was given.")
        adaptive(wanted.epsilon, wanted.items)

    @property
    def parts(self) -> list[Fraction]:
        """The shares as numbers."""
        return [exact(share, "a share") for share in self.shares]

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (share, *later) = Line(), self.parts
        near = (FIRST_NEAR, FIRST_FREQUENCY)
        told = yield from self._round(Candidates(items=wanted.items), line, share, wanted, near, "items")
        largest = longest(wanted.top, wanted.least)
        picture = Picture(told.evidence, told.doubt, top=wanted.top, least=wanted.least, largest=largest)
        facts = told.facts("items")
        for number, (share, doubt) in enumerate(zip(later, DOUBT, strict=True), 2):
            # Where nothing is uncertain any more, the top itself is asked about, for its counts.
            asked = picture.uncertain(doubt, MOST_ASKED) or picture.best()[:MOST_ASKED]
            near, about = (picture.threshold, picture.threshold), f"patterns {number}"
            told = yield from self._round(Candidates(itemsets=tuple(asked)), line, share, wanted, near, about)
            picture.add(asked, told.evidence, told.doubt)
            facts |= told.facts(about)
        return learnt(picture, facts)

    def _round(
        self, of: Candidates, line: Line, share: Fraction, wanted: Wanted, near: tuple[float, float], about: str
    ) -> Generator[Ask, Any, Told]:
        """Ask how many of the candidates people hold, and then which."""
        size = exact(self.sizes, "sizes")
        bins = tuple(first for first in BINS if first <= len(of))
        question = HowMany(of, bins)
        seen: Estimate = yield Ask.of(
            f"how many {about}", line.next(share * size), question, "adaptive", wanted.epsilon
        )
        held = HeldSizes.of(seen, bins, len(of))
        people = max(1, round(seen.people * float((1 - size) / size)))
        oracle = best_oracle(held, wanted.epsilon, len(of), people, near)
        answer: Estimate = yield Ask(
            name=f"which {about}", who=line.next(share * (1 - size)), question=Which(of), oracle=oracle
        )
        return Told.of(answer, held)


@dataclass(frozen=True, kw_only=True, eq=False)
class Told:
    """What a round told of its candidates."""

    evidence: Evidence
    doubt: float
    pad: int
    correction: float

    @classmethod
    def of(cls, answer: Estimate, held: HeldSizes) -> Told:
        """Give back what the padding cut off."""
        pad = answer.ask.frequencies.pad
        values, slope = held.restored(answer.values, pad)
        cut = 1 - np.clip(answer.values, 1e-12, None) / np.maximum(values, 1e-12)
        off = UNCORRECTED**2 * np.clip(cut, 0.0, 1.0)
        return cls(
            evidence=Evidence(values=values, noise=answer.variance * slope**2, relative=off),
            doubt=hypot(held.doubt(pad), SHARED * UNCORRECTED * sqrt(1 - 1 / held.correction(pad))),
            pad=pad,
            correction=held.correction(pad),
        )

    def facts(self, about: str) -> dict[str, Any]:
        """Return what to tell of the round."""
        return {f"{about} padding": self.pad, f"{about} correction": self.correction}


def best_oracle(held: HeldSizes, epsilon: Fraction, size: int, people: int, near: tuple[float, float]) -> Oracle:
    """Return the oracle and padding with the least predicted error of a candidate as frequent as `near`."""
    last, frequency = near
    found: list[tuple[float, int, Oracle]] = []
    for pad in (length for length in LENGTHS if length <= size):
        grows = held.grows(last, pad)
        try:
            oracle = adaptive(epsilon, size, pad=pad, frequency=frequency / grows)
        except MisuseError:
            break  # no room for so long a padding
        noise = grows**2 * float(oracle.variance(frequency / grows, people))
        found.append((noise + (CUT_OFF * last * (1 - 1 / grows)) ** 2, pad, oracle))
    return min(found, key=lambda one: one[:2])[2]


def learnt(picture: Picture, facts: dict[str, Any]) -> Learnt:
    """Return everything that is believed, the most frequent first; of equal ones subsets come first (A10)."""
    sets = [one for level in picture.levels for one in level.sets]
    values = np.concatenate([level.means for level in picture.levels])
    variance = np.concatenate(_variances(picture)) + (picture.doubt * values) ** 2
    order = np.lexsort((np.array([len(one) for one in sets]), -values))
    return Learnt(itemsets=tuple(sets[at] for at in order), values=values[order], variance=variance[order], facts=facts)


def _variances(picture: Picture) -> list[NDArray[np.float64]]:
    """Return the variances of every level, with what is not known of the prior that was learnt from it.

    All that was heard of a level together says where its prior lies; a pattern takes from it what its own reports do
    not say. Of thousands of candidates that is next to nothing; of two items and ten people it is nearly all.
    """
    unsure, found = VAGUE, []
    for size, level in enumerate(picture.levels, 1):
        if size == 1:
            noise = picture.items.noise[[item for (item,) in level.sets]]
            heard = float((1 / picture.items.noise).sum())
        else:
            noise = picture.measured.of(level.sets).noise
            heard = float((1 / noise).sum())
        # Both where the prior lies and how wide it is are learnt.
        unsure = min(VAGUE, 2 / heard) if heard > 0 else unsure
        relies = 1 - np.minimum(1.0, level.belief.variance / noise)
        found.append(level.belief.variance + relies**2 * unsure)
    return found
