"""PCKV: relations as keys with a value of +1 or -1, padded, sampled, and reported with their value in one report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import ClassVar, Literal

import numpy as np

from ...errors import MisuseError
from ...privacy import exact
from .. import Oracle
from ..estimation import BINS, Values
from ..oracle_steps import make
from ..study import (
    Ask,
    CandidateList,
    Estimate,
    KeyQuestion,
    Partition,
    QuestionCandidates,
    RelationItems,
    Relations,
    RoundGenerator,
    SizeQuestion,
    SizesRound,
    StudyGoal,
    check_candidates,
    check_parts,
    truncation_error,
)
from .pairs import RelationProtocol, Singles

_GRR, _UE = "grr", "pckv-ue"


@dataclass(frozen=True, kw_only=True)
class PCKV(RelationProtocol):
    """Find the most reliable relations as keys with values.

    Parameters
    ----------
    shares
        The shares of the people: for the items, for the number of keys per person, and for the keys.
    how
        The kind of relation: ``"together"`` in a basket, one ``"after"`` the other, or ``"given"`` as data.
    items, support
        The number of the most frequent items that are related, and of relations with the largest support.
    finder
        The protocol that finds the items.
    keys
        The meaning of a key: a ``"relation"`` that is held, with the value +1; or the ``"first"`` item of a relation,
        with +1 if the relation is held and -1 if not, so that the mean of a key tells its confidence.
    oracle
        The oracle of keys: PCKV-UE, or PCKV-GRR, which is `grr` over keys with values; or the better of the two.
    size_oracle, padding, percentile, corrected
        As for `svim`; a padding counts keys.
    """

    shares: tuple[str, str, str] = ("0.3", "0.1", "0.6")
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

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        check_parts(self.name, self.parts)
        self.check_items(goal)
        # A person with all items has a key for each two of them: a longer padding adds noise alone.
        key_count = self.items * (self.items - 1)
        if isinstance(self.padding, int) and not 1 <= self.padding <= key_count:
            raise MisuseError(
                f"A padding is 1 to {key_count:,}, the keys that {self.items} items make; {self.padding:,} was given."
            )
        check_candidates(1, self.percentile, goal.epsilon, size_oracle=self.size_oracle, oracles=(_GRR, _UE))

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        line, (items_share, size_share, last_share) = Partition(), self.parts
        item_estimates, singles = yield from self.find_singles(goal, line, items_share)
        if len(singles.order) < 2:
            return singles.result_without_relations()
        relations = singles.relations(self.how)
        size_candidates: QuestionCandidates = relations
        keys_per_candidate = 1
        if self.keys == "first":
            items = sorted(singles.order)
            relations = Relations(RelationItems(singles.order, self.how), tuple(permutations(items, 2)))
            # A person with an item has a key for each of the other items, so that counting items suffices.
            size_candidates, keys_per_candidate = (
                CandidateList(itemsets=tuple((item,) for item in items)),
                len(items) - 1,
            )
        bins = tuple(low for low in BINS if low <= len(size_candidates))
        sizes_answer: Estimate = yield Ask.of(
            "how many keys", line.next(size_share), SizeQuestion(size_candidates, bins), self.size_oracle, goal.epsilon
        )
        sizes = SizesRound.of(sizes_answer)
        pad = keys_per_candidate * sizes.padding("percentile", exact(self.percentile, "percentile"))
        if isinstance(self.padding, int):
            pad = self.padding
        correction = sizes.correction(max(1, pad // keys_per_candidate))
        question = KeyQuestion(relations, absent=self.keys == "first")
        oracle = self._select_oracle(goal.epsilon, question.values, pad)
        answer: Estimate = yield Ask(name="which keys", group=line.next(last_share), question=question, oracle=oracle)
        scale = correction if self.corrected else 1.0
        values = answer.values * scale
        variance = answer.variance * scale**2 + truncation_error(values, correction) ** 2
        if self.keys == "first":
            singles = self._estimate_items(singles, relations, values)
        facts = {
            "item padding": item_estimates.pad,
            "key padding": pad,
            "key correction": scale,
            "key oracle": oracle.name,
        }
        return singles.build_result(relations, values[1::2], variance[1::2], self.support, goal.top, facts)

    def _select_oracle(self, epsilon: Fraction, size: int, pad: int) -> Oracle:
        """Return the oracle with the smaller variance of a key without holders."""
        names = (_GRR, _UE) if self.oracle == "adaptive" else (self.oracle,)
        oracles = [make(name, epsilon, size, pad=pad) for name in names]
        return min(oracles, key=lambda oracle: float(oracle.variance(0.0)))

    @staticmethod
    def _estimate_items(singles: Singles, relations: Relations, values: Values) -> Singles:
        """Return the items with the mean frequency of their keys: all keys of an item have its frequency."""
        ranks = singles.ranks(relations.chains)[0]
        key_frequencies = values[0::2] + values[1::2]
        return replace(singles, values=np.bincount(ranks, key_frequencies) / np.bincount(ranks))
