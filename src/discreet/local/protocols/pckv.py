"""PCKV: relations as keys with a value of plus or minus one, padded, sampled, and told with it in one report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import ClassVar, Literal

import numpy as np

from ...errors import MisuseError
from ...exact import How
from ...privacy import exact
from .. import Oracle, Protocol
from ..estimation import BINS, Values
from ..oracle_steps import make
from ..study import (
    Ask,
    AskedValues,
    CandidateList,
    Estimate,
    Items,
    Partition,
    Relations,
    SizesRound,
    Talk,
    Valued,
    Wanted,
    check_parts,
    checked,
    cut_off,
    how_many,
)
from .pairs import Singles, check_relations, found_by

_GRR, _UE = "grr", "pckv-ue"


@dataclass(frozen=True, kw_only=True)
class PCKV(Protocol):
    """Find the most reliable relations as keys with values.

    Parameters
    ----------
    shares
        Of the people: for the items, for how many of the keys people hold, and for the keys.
    how
        What makes a relation: ``"together"`` in a basket, one ``"after"`` the other, or ``"given"`` as data.
    items, support
        Among how many of the most frequent items, and of how many relations with the largest support.
    finder
        Which protocol finds the items.
    keys
        What a key is: a ``"relation"`` that is held, with +1 always; or the ``"first"`` item of a relation, with +1
        where the relation is held and -1 where it is not, so that the mean of a key tells its confidence.
    oracle
        How keys are told: PCKV-UE, or PCKV-GRR, which is `grr` over keys with values; or the better of the two.
    size_oracle, padding, percentile, corrected
        As for `svim`; a padding counts keys.
    """

    shares: tuple[str, str, str] = ("0.3", "0.1", "0.6")
    how: How = "together"
    items: int = 64
    support: int = 1600
    finder: Literal["svim", "svim-better"] = "svim"
    keys: Literal["relation", "first"] = "relation"
    oracle: Literal["adaptive", "pckv-ue", "grr"] = "adaptive"
    size_oracle: str = "adaptive"
    padding: int | Literal["percentile"] = "percentile"
    percentile: str = "0.9"
    corrected: bool = True

    name: ClassVar[str] = "pckv"
    summary: ClassVar[str] = (
        "the most reliable relations, as keys with values: for comparison, simulated only but with oracle=grr"
    )
    live: ClassVar[bool] = False
    citation: ClassVar[str] = "Gu, Li, Cheng, Xiong, Cao 2020 (PCKV); on relations: Dong et al. 2024, section 7"

    @property
    def bias(self) -> str:
        """Why the counts of items are too low: as of the protocol that finds them."""
        return found_by(self.finder).bias

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        check_parts(self.name, self.parts)
        check_relations(self, wanted)
        # Whoever holds all items has a key for every two of them: a longer padding is noise alone.
        most = self.items * (self.items - 1)
        if isinstance(self.padding, int) and not 1 <= self.padding <= most:
            raise MisuseError(
                f"A padding is 1 to {most:,}, the keys that {self.items} items make; {self.padding:,} was given."
            )
        checked(1, self.percentile, wanted.epsilon, size_oracle=self.size_oracle, oracles=(_GRR, _UE))
        found_by(self.finder).check(Wanted(items=wanted.items, top=self.items, epsilon=wanted.epsilon))

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (first, size, last) = Partition(), self.parts
        found = yield from found_by(self.finder).items(wanted.items, self.items, wanted.epsilon, line, first)
        singles = Singles.of(found, self.items)
        if len(singles.order) < 2:
            return singles.alone()
        of = singles.relations(self.how)
        counted: AskedValues = of
        fold = 1
        if self.keys == "first":
            of = Relations(Items(singles.order, self.how), tuple(permutations(sorted(singles.order), 2)))
            # Whoever holds an item has a key for each of the others.
            counted, fold = (
                CandidateList(itemsets=tuple((item,) for item in sorted(singles.order))),
                len(singles.order) - 1,
            )
        bins = tuple(least for least in BINS if least <= len(counted))
        seen: Estimate = yield Ask.of(
            "how many keys", line.next(size), how_many(counted, bins), self.size_oracle, wanted.epsilon
        )
        sizes = SizesRound.of(seen)
        pad = fold * sizes.padding("percentile", exact(self.percentile, "percentile"))
        if isinstance(self.padding, int):
            pad = self.padding
        short = sizes.correction(max(1, pad // fold))
        question = Valued(of, absent=self.keys == "first")
        oracle = self._chosen(wanted.epsilon, question.values, pad)
        answer: Estimate = yield Ask(name="which keys", who=line.next(last), question=question, oracle=oracle)
        scale = short if self.corrected else 1.0
        estimates = answer.values * scale
        variance = answer.variance * scale**2 + cut_off(estimates, short) ** 2
        if self.keys == "first":
            singles = self._with_keys(singles, of, estimates)
        facts = {"item padding": found.pad, "key padding": pad, "key correction": scale, "key oracle": oracle.name}
        return singles.learnt(of, estimates[1::2], variance[1::2], self.support, wanted.top, facts)

    def _chosen(self, epsilon: Fraction, size: int, pad: int) -> Oracle:
        names = (_GRR, _UE) if self.oracle == "adaptive" else (self.oracle,)
        return min((make(name, epsilon, size, pad=pad) for name in names), key=lambda one: float(one.variance(0.0)))

    @staticmethod
    def _with_keys(singles: Singles, of: Relations, estimates: Values) -> Singles:
        """Return the items as frequent as their keys are: all keys of an item have its frequency."""
        ranks = singles.places(of.of)[0]
        held = estimates[0::2] + estimates[1::2]
        return replace(singles, values=np.bincount(ranks, held) / np.bincount(ranks))
