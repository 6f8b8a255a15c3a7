"""Adept: the most frequent itemsets, by asking again only where it is uncertain what is among the top."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import hypot, sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...privacy import exact
from .. import Oracle, Protocol
from ..estimation import BINS, TYPICAL_SIZE, ErrorShare, Evidence, HeldSizes, Itemset, PatternBeliefs
from ..oracle_steps import LIARS, adaptive, error, grr_or_olh, honest_share
from ..study import (
    Ask,
    CandidateList,
    Estimate,
    HowMany,
    Learnt,
    Partition,
    Talk,
    Wanted,
    Which,
    check_padding,
    check_parts,
    size_bins,
)
from .svsm import longest

LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35, 40)
"""Paddings that are compared."""
FIRST_NEAR, FIRST_FREQUENCY = 0.03, 0.02
"""How frequent the last of the top is taken to be before anything is known, and an item that is to be told from it."""
FIRST_HELD = (8.0, 1.5)
"""How many items people hold before anything is known, and how far that may be off: one deviation of its logarithm."""
HELD_OFF = 0.7
"""By how much the number of patterns that people are expected to hold may be off: one deviation of its logarithm."""
LEAST_HELD = 0.2
"""How many they are expected to hold at least."""
LEAST_LENGTH = 5
"""Up to which paddings are compared, however little people seem to hold who cannot be lying: noise bears so much."""
CUT_OFF = 0.5
"""Which part of what a padding cuts off counts as an error when paddings are compared."""
UNCORRECTED = 0.15
"""By which part of itself, times the root of the share that a padding cut off, an estimate may be off after that was
given back: candidates differ in whether large baskets hold them. This is each pattern's own."""
SHARED = 0.5
"""How large, as a part of that, the error is that all patterns of a round have in common. It comes on top."""
DENSE = 0.15
"""By which part of itself a pattern that all hold may be off, and by the root of its frequency of that any other: where
nearly everyone holds one, everyone holds many, and bins hardly say how many."""
MOST_ASKED = 20_000
"""How many patterns a round asks about at most, the most uncertain of them."""
MOST_HELD = 20
"""How many of what a later round asks about a person is expected to hold at most: half of the longest padding, so that
who holds twice as many still has a place for each."""
CHANCES = (0.001, 0.01, 0.03)
"""From which chance on to be among the top, and up to one minus which, a pattern is asked about in later rounds."""
LIKELIEST = 4
"""How many patterns are asked about for every one wanted where later rounds do not look at what is uncertain."""
VAGUE = 0.261
"""The variance of a frequency of which nothing is known: an interval of 1.96 deviations is as wide as all there is."""
MOSTLY_TRUE = 2.0
"""From where on the noise of an estimate goes by what is true: by how many times it may be over that of what nobody
holds. Reports are few there, and most of them true."""
LEARNT = 2
"""How many numbers of a prior are learnt from what was heard of its level: where it lies, and how wide it is."""


@dataclass(frozen=True, kw_only=True)
class Adept(Protocol):
    """Find the most frequent itemsets.

    Parameters
    ----------
    shares
        Of the people, for the four rounds: all items, then three times what is uncertain.
    sizes
        Of the people of a round, the share that tells how many candidates it holds.
    oracle
        How candidates are asked for: by the best oracle, or by one item of the basket each, as for `svim`.
    first_padding
        That of the first round: the one of the least predicted error, near the typical basket, or a number.
    prior
        Whether an estimate is pulled to what all of them suggest. If not, it is believed as it is, and a pattern nobody
        was asked about as its parts suggest.
    later
        What later rounds ask about: the patterns of which it is uncertain whether they are among the top, or
        the likeliest, four for every pattern wanted.
    merged
        Whether all rounds count that asked about a pattern, by their precision, or only the newest.
    robust
        Whether what liars can do is weighed: oracles and paddings by what one report can add, sizes asked for in few
        bins, and no padding longer than what they can drive it to.

    The defaults are what is best; the others show what each part is for.
    """

    shares: tuple[str, str, str, str] = ("0.5", "0.25", "0.15", "0.1")
    sizes: str = "0.08"
    oracle: Literal["adaptive", "grr-or-olh"] = "adaptive"
    first_padding: int | Literal["predicted"] = "predicted"
    prior: bool = True
    later: Literal["uncertain", "likeliest"] = "uncertain"
    merged: bool = True
    robust: bool = True

    name: ClassVar[str] = "adept"
    across: ClassVar[bool] = True
    summary: ClassVar[str] = "the most frequent itemsets: asks again where it is uncertain what is among the top"
    citation: ClassVar[str] = "ours; oracles: Wang et al. 2018 (PrivSet), Wang et al. 2020 (wheel), Ye, Barg 2018"

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        shares, size = self.parts, exact(self.sizes, "sizes")
        check_parts(self.name, shares)
        if not Fraction(1, 1000) <= size <= Fraction(1, 2):
            raise MisuseError(f"sizes is from 0.001 to 0.5 of each round; {self.sizes} was given.")
        check_padding(self.first_padding, size, "first_padding")
        # What people answer must not decide who is refused.
        for many, pad in ((wanted.items, self.first_lengths(wanted.items)[0]), (MOST_ASKED, 1)):
            made(self.oracle, wanted.epsilon, many, pad, 0.0)

    def first_lengths(self, items: int) -> tuple[int, ...]:
        """Return the paddings that are compared for the first round; nobody holds more than there is."""
        return (min(self.first_padding, items),) if isinstance(self.first_padding, int) else LENGTHS

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        return (yield from self.patterns(CandidateList(items=wanted.items), wanted, Partition(), Fraction(1)))

    def patterns(self, of: CandidateList, wanted: Wanted, line: Partition, scale: Fraction) -> Talk:
        """Ask a part of the people, `scale`, for the most frequent itemsets of all items below a number."""
        texts, (share, *later) = of.texts, [part * scale for part in self.parts]
        near = (FIRST_NEAR, FIRST_FREQUENCY)
        told = yield from self.ask_round(of, line, share, wanted, near, "items", self.first_lengths(wanted.items))
        largest = longest(wanted.top, wanted.least)
        picture = PatternBeliefs(
            told.evidence,
            told.doubt,
            told.error_share,
            top=wanted.top,
            least=wanted.least,
            largest=largest,
            prior=self.prior,
            merged=self.merged,
            lineage=wanted.lineage,
        )
        facts = told.facts("items")
        for number, (share, chance) in enumerate(zip(later, CHANCES, strict=True), 2):
            asked = self._asked(picture, chance)
            near, about = (picture.target_frequency, picture.target_frequency), f"patterns {number}"
            of, expected = CandidateList(itemsets=tuple(asked), texts=texts), picture.expected_held(asked)
            told = yield from self.ask_round(of, line, share, wanted, near, about, expected=expected)
            picture.add(asked, told.evidence, told.doubt, told.error_share)
            facts |= told.facts(about)
        return learnt(picture, facts)

    def _asked(self, picture: PatternBeliefs, chance: float) -> list[Itemset]:
        """Return what a later round asks about."""
        if self.later == "likeliest":
            return picture.most_frequent(min(LIKELIEST * picture.top, MOST_ASKED))
        # Where nothing is uncertain any more, the top itself is asked about, for its counts.
        return picture.uncertain_patterns(chance, MOST_ASKED, MOST_HELD) or picture.most_frequent(
            min(picture.top, MOST_ASKED), MOST_HELD
        )

    def ask_round(
        self,
        of: CandidateList,
        line: Partition,
        share: Fraction,
        wanted: Wanted,
        near: tuple[float, float],
        about: str,
        lengths: tuple[int, ...] = LENGTHS,
        expected: Mapping[int, float] | None = None,
    ) -> Generator[Ask, Any, RoundEstimate]:
        """Ask how many of the candidates people hold, and then which; `expected` is what is known of it by length."""
        size = exact(self.sizes, "sizes")
        bins = tuple(first for first in BINS if first <= len(of))
        bins = size_bins(len(of), wanted.epsilon) if self.robust else bins
        question = HowMany(of, bins)
        sized = "grr" if self.robust else "adaptive"
        numbers: Estimate = yield Ask.of(f"how many {about}", line.next(share * size), question, sized, wanted.epsilon)
        typical = FIRST_HELD if of.items else TYPICAL_SIZE
        if expected:
            typical = max(sum(expected.values()), LEAST_HELD), HELD_OFF
        held = HeldSizes.fit(numbers, bins, len(of), typical)
        people = max(1, round(numbers.people * float((1 - size) / size)))
        liars = 0.0
        if self.robust:
            liars, most = LIARS, max(LEAST_LENGTH, held.size_quantile(honest_share(numbers.ask.frequencies)))
            lengths = tuple(length for length in lengths if length <= most) or lengths[:1]
        oracle = best_oracle(
            held, wanted.epsilon, len(of), people, near, lengths=lengths, oracle=self.oracle, liars=liars
        )
        answer: Estimate = yield Ask(
            name=f"which {about}", who=line.next(share * (1 - size)), question=Which(of), oracle=oracle
        )
        return RoundEstimate.of(answer, held, expected or {})


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundEstimate:
    """What a round told of its candidates."""

    evidence: Evidence
    doubt: float
    error_share: ErrorShare
    pad: int
    correction: float

    @classmethod
    def of(cls, answer: Estimate, held: HeldSizes, expected: Mapping[int, float] | None = None) -> RoundEstimate:
        """Give back what the padding cut off, to patterns of every length by how many are `expected` to be held."""
        pad = answer.ask.frequencies.pad
        values, slope = held.restore_frequencies(answer.values, pad)
        nothing = np.zeros(len(values))
        steep = held.restore_frequencies(nothing, pad)[1]
        ratio = held.ratio(answer.values, pad)
        if expected and isinstance(question := answer.ask.question, Which):
            lengths = np.array([len(one) for one in question.of.itemsets])
            for length, of_length in held.by_length(expected).items():
                at = lengths == length
                values[at], slope[at] = of_length.restore_frequencies(answer.values[at], pad)
                steep[at] = of_length.restore_frequencies(nothing[at], pad)[1]
                ratio[at] = of_length.ratio(answer.values[at], pad)
        off = UNCORRECTED**2 * np.maximum(1 - 1 / ratio, 0.0)
        noise, growth = answer.variance * slope**2, nothing
        oracle, people = answer.ask.frequencies, max(answer.people, 1)
        if float(answer.variance.max(initial=0.0)) > MOSTLY_TRUE * float(oracle.spread(np.zeros(1), people)[0]):
            # Were one report more of each: of nothing that was heard it is not sure that there is nothing.
            more = 1 / (people * float(oracle.p_held - oracle.p_other))
            noise = oracle.spread(np.maximum(answer.values, 0.0) + more, people) * slope**2
            growth = (noise - oracle.spread(nothing + more, people) * steep**2) / np.maximum(values, more)
        return cls(
            evidence=Evidence(values=values, noise=noise, relative=off, growth=growth),
            doubt=hypot(held.doubt(pad), SHARED * UNCORRECTED * sqrt(1 - 1 / held.correction(pad))),
            error_share=partial(held.error_share, pad),
            pad=pad,
            correction=held.correction(pad),
        )

    def facts(self, about: str) -> dict[str, Any]:
        """Return what to tell of the round."""
        return {f"{about} padding": self.pad, f"{about} correction": self.correction}


def best_oracle(
    held: HeldSizes,
    epsilon: Fraction,
    size: int,
    people: int,
    near: tuple[float, float],
    *,
    lengths: tuple[int, ...] = LENGTHS,
    oracle: Literal["adaptive", "grr-or-olh"] = "adaptive",
    liars: float = 0.0,
) -> Oracle:
    """Return the oracle and padding with the least predicted error of a candidate as frequent as `near`.

    With a share of `liars`, what they could add counts as an error.
    """
    last, frequency = near
    found: list[tuple[float, int, Oracle]] = []
    for pad in (length for length in lengths if length <= size):
        grows = held.ratio_at(last, pad)
        try:
            one = made(oracle, epsilon, size, pad, frequency / grows, people, liars)
        except MisuseError:
            break  # no room for so long a padding
        noise = grows**2 * error(one, frequency / grows, people, liars)
        found.append((noise + (CUT_OFF * last * (1 - 1 / grows)) ** 2, pad, one))
    return min(found, key=lambda one: one[:2])[2]


def made(
    oracle: Literal["adaptive", "grr-or-olh"],
    epsilon: Fraction,
    size: int,
    pad: int,
    frequency: float,
    people: int = 1,
    liars: float = 0.0,
) -> Oracle:
    """Return the oracle for a candidate that so many hold, of so many people of whom a share may lie."""
    if oracle == "grr-or-olh":
        return grr_or_olh(epsilon, size, pad=pad)
    return adaptive(epsilon, size, pad=pad, frequency=frequency, people=people, liars=liars)


def learnt(picture: PatternBeliefs, facts: dict[str, Any]) -> Learnt:
    """Return everything that is believed, the most frequent first; of equal ones subsets come first (A10)."""
    sets = [one for level in picture.levels for one in level.sets]
    values = np.concatenate([level.means for level in picture.levels])
    variance = np.concatenate(_variances(picture)) + (picture.doubt * picture.error_share(values) * values) ** 2
    variance += DENSE**2 * np.clip(values, 0.0, 1.0) ** 3
    order = np.lexsort((np.array([len(one) for one in sets]), -values))
    return Learnt(itemsets=tuple(sets[at] for at in order), values=values[order], variance=variance[order], facts=facts)


def _variances(picture: PatternBeliefs) -> list[NDArray[np.float64]]:
    """Return the variances of every level, with what is not known of the prior that was learnt from it.

    All that was heard of a level together says where its prior lies; a pattern takes from it what its own reports do
    not say. Of thousands of candidates that is next to nothing; of two items and ten people it is nearly all. How far
    the frequent lie over the others is as unsure as that, relative to what all items have in the mean.
    """
    unsure, found = VAGUE, []
    for size, level in enumerate(picture.levels, 1):
        if size == 1:
            noise = picture.items.noise[picture.item_positions(np.array([item for (item,) in level.sets], np.int64))]
            heard = picture.precision_of_items
        else:
            noise = picture.table.evidence_of(level.sets).noise
            heard = float((1 / noise).sum())
        unsure = min(VAGUE, LEARNT / heard) if heard > 0 else unsure
        relies = 1 - np.minimum(1.0, level.belief.variance / noise)
        over = np.maximum(1.0, level.means / picture.law.mean) if size == 1 and picture.law is not None else 1.0
        found.append(level.belief.variance + relies**2 * np.minimum(unsure * over**2, VAGUE))
    return found
