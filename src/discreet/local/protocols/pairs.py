"""Relations asked for directly: the most frequent items, and then all pairs of them at once.

Each pair of the items is a candidate; a device answers for all pairs that it holds through the best oracle for sets,
and estimates are shrunk to the frequencies of independent items. No pair is excluded before it was asked for.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...exact import How
from ...privacy import exact
from .. import Protocol
from ..estimation import Evidence, ItemsetGuess, Values, shrink_estimates
from ..study import (
    Ask,
    CandidateEstimates,
    Padding,
    Partition,
    ProtocolResult,
    RelationEstimates,
    RelationItems,
    Relations,
    RoundGenerator,
    SizeBinning,
    StudyGoal,
    check_candidates,
    check_padding,
    check_shares,
    estimate_candidates,
    frequency_at,
    truncation_error,
)
from .svim import SVIM, SVIMBetter
from .svsm import shrink_to_guess

Ranks: TypeAlias = NDArray[np.int64]
# The prior of estimates around the frequencies of independent items: of two kinds of pairs, of one kind, or no prior.
Prior: TypeAlias = Literal["two-part", "normal", "none"]


@dataclass(frozen=True, kw_only=True)
class RelationProtocol(Protocol):
    """A protocol that finds the most frequent items, and then relations between them.

    Parameters
    ----------
    shares
        The shares of the people, first for the items.
    how
        The kind of relation: ``"together"`` in a basket, one ``"after"`` the other, or ``"given"`` as data.
    items, support
        The number of the most frequent items that are related, and of relations with the largest support, of which the
        most reliable are the result.
    finder
        The protocol that finds the items.
    """

    shares: tuple[str, ...]
    how: How = "together"
    items: int = 64
    support: int = 1600
    finder: str = "svim"

    # A list of relations travels to every device that is asked: 256 items are 65,280 ordered pairs.
    max_items: ClassVar[int] = 256

    @property
    def item_protocol(self) -> SVIM:
        """The protocol that finds the items."""
        return make_item_protocol(self.finder)

    @property
    def bias(self) -> str:
        """The reason for counts of items that are too low: the bias of the protocol that finds them."""
        return self.item_protocol.bias

    def check_items(self, goal: StudyGoal) -> None:
        """Check the settings `items`, `support` and `finder` for a goal."""
        if not 2 <= self.items <= self.max_items:
            raise MisuseError(f"{self.name} relates 2 to {self.max_items} items; {self.items} were given.")
        if self.support < 1:
            raise MisuseError(f"support is a number of relations, 1 or more; {self.support} was given.")
        if goal.top > self.support:
            raise MisuseError.format(
                "The {wanted:,} most reliable relations are wanted of the {support:,} most frequent: give a larger "
                "support, or a smaller {top}.",
                wanted=goal.top,
                support=self.support,
            )
        if goal.least > 1:
            raise MisuseError.format("{name} finds relations of two items: leave {least} out.", name=self.name)
        self.item_protocol.check(StudyGoal(items=goal.items, top=self.items, epsilon=goal.epsilon))

    def find_singles(
        self, goal: StudyGoal, line: Partition, share: Fraction
    ) -> Generator[Ask, Any, tuple[CandidateEstimates, Singles]]:
        """Ask a share of the people for items; return the estimates of all candidates, and the items to relate."""
        estimates = yield from self.item_protocol.find_items(goal.items, self.items, goal.epsilon, line, share)
        return estimates, Singles.of(estimates, self.items)


@dataclass(frozen=True, kw_only=True)
class PairsProtocol(RelationProtocol):
    """Find the most reliable relations by asking for all pairs of the most frequent items.

    Parameters
    ----------
    shares
        The shares of the people: for the items, for the number of pairs per person, and for the pairs.
    how
        The kind of relation: ``"together"`` in a basket, one ``"after"`` the other, or ``"given"`` as data.
    items
        The number of the most frequent items that are related.
    support
        The number of relations with the largest support, of which the most reliable are the result.
    finder
        The protocol that finds the items.
    size_oracle, oracle, padding, percentile, corrected, sizes
        As for `svim`.
    prior
        The prior that estimates are shrunk to.
    guessed
        Whether only `support` relations are asked for, those of the largest frequencies if items are independent, as
        `svsm` does.
    """

    shares: tuple[str, str, str] = ("0.3", "0.1", "0.6")
    finder: Literal["svim", "svim-better"] = "svim-better"
    size_oracle: str = "adaptive"
    oracle: str = "adaptive"
    padding: Padding = "predicted"
    percentile: str = "0.9"
    corrected: bool = True
    sizes: SizeBinning = "bins"
    prior: Prior = "two-part"
    guessed: bool = False

    name: ClassVar[str] = "pairs"
    summary: ClassVar[str] = "the most reliable relations: items by svim-better, then all pairs of them at once"
    citation: ClassVar[str] = "after Dong et al. 2024 and Wang, Li, Jha 2018; oracles: Wang et al. 2018 (PrivSet)"

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        shares = self.parts
        check_shares(
            shares,
            f"The shares of {self.name} are 0, or 0.0001 or more each, and add up to 1 at most; items and "
            "relations need some.",
            (0, 2),
        )
        self.check_items(goal)
        check_padding(self.padding, shares[1], "padding")
        item_count = min(self.items, max(goal.items, 2))
        pair_count = item_count * (item_count - 1) // (2 if self.how == "together" else 1)
        check_candidates(
            1,
            self.percentile,
            goal.epsilon,
            size_oracle=self.size_oracle,
            oracles=(self.oracle,),
            counts=(min(pair_count, self._guess_count) if self.guessed else pair_count,),
        )

    @property
    def _guess_count(self) -> int:
        """The number of guessed relations; a pair held `together` counts as a relation both ways."""
        return -(-self.support // 2) if self.how == "together" else self.support

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        line, (items_share, size_share, last_share) = Partition(), self.parts
        item_estimates, singles = yield from self.find_singles(goal, line, items_share)
        if len(singles.order) < 2:
            return singles.result_without_relations()
        relations = singles.relations(self.how)
        frequencies = singles.independent_frequencies(relations.chains)
        if self.guessed:
            positions = sorted(np.argsort(-frequencies, kind="stable")[: self._guess_count].tolist())
            relations = Relations(relations.items, tuple(relations[position] for position in positions))
            frequencies = frequencies[positions]
        estimates = yield from estimate_candidates(
            relations,
            line,
            (size_share, last_share),
            goal.epsilon,
            oracles=(self.size_oracle, self.oracle),
            padding=self.padding,
            percentile=exact(self.percentile, "percentile"),
            corrected=self.corrected,
            binning=self.sizes,
            frequency=frequency_at(frequencies, goal.top),
            about="relations",
        )
        pairs = relations_of(estimates).chains
        values, variance = estimates.values, estimates.variance
        if self.prior == "two-part":
            values, variance = shrink_estimates(Evidence.noisy(values, variance), singles.guess(pairs))
            # All estimates have one correction: its error is common to all, and a prior learnt from them has it too.
            variance = variance + truncation_error(values, estimates.correction) ** 2
        elif self.prior == "normal":
            values, variance = shrink_to_guess(values, variance, singles.independent_frequencies(pairs))
        facts = {
            "item padding": item_estimates.pad,
            "relation padding": estimates.pad,
            "relation correction": estimates.correction,
        }
        return singles.build_result(relations_of(estimates), values, variance, self.support, goal.top, facts)


def make_item_protocol(name: str) -> SVIM:
    """Return the protocol of a name that finds the items of relations."""
    # The evidence about relations was measured without regard to liars.
    return SVIMBetter(robust=False) if name == "svim-better" else SVIM()


def relations_of(estimates: CandidateEstimates) -> Relations:
    """Return the candidates of estimates, which are relations."""
    assert isinstance(estimates.candidates, Relations)  # noqa: S101
    return estimates.candidates


_NO_RELATIONS = "Fewer than two items were there to relate, so there are no relations."


@dataclass(frozen=True, kw_only=True, eq=False)
class Singles:
    """The items that are related.

    Parameters
    ----------
    order
        The items, the most frequent first.
    values, variance
        The fraction of the people who hold each item, and its variance.
    rank
        The position of each item in `order`.
    """

    order: tuple[int, ...]
    values: Values
    variance: Values
    rank: dict[int, int]

    @classmethod
    def of(cls, estimates: CandidateEstimates, count: int) -> Singles:
        """Return the `count` most frequent items."""
        positions = estimates.select_best(count)
        order = tuple(estimates.candidates[position][0] for position in positions)
        rank = {item: position for position, item in enumerate(order)}
        return cls(order=order, values=estimates.values[positions], variance=estimates.variance[positions], rank=rank)

    @property
    def frequencies(self) -> Values:
        """The estimates, clipped to the range of a frequency."""
        return np.clip(self.values, 0.0, 1.0)

    def relations(self, how: How) -> Relations:
        """Return all pairs of the items: in both orders, unless the pairs are held `together`."""
        items = sorted(self.order)
        pairs = combinations(items, 2) if how == "together" else permutations(items, 2)
        return Relations(RelationItems(self.order, how), tuple(pairs))

    def ranks(self, pairs: tuple[tuple[int, ...], ...]) -> tuple[Ranks, Ranks]:
        """Return the ranks of the first and of the second items."""
        ranks = np.array([[self.rank[item] for item in pair] for pair in pairs], np.int64).reshape(-1, 2)
        return ranks[:, 0], ranks[:, 1]

    def independent_frequencies(self, pairs: tuple[tuple[int, ...], ...]) -> Values:
        """Return the frequency of each pair if items are independent."""
        first_ranks, second_ranks = self.ranks(pairs)
        product: Values = self.frequencies[first_ranks] * self.frequencies[second_ranks]
        return product

    def guess(self, pairs: tuple[tuple[int, ...], ...]) -> ItemsetGuess:
        """Return the frequencies of independent items as a guess, with the variance and the cap of each pair."""
        first_ranks, second_ranks = self.ranks(pairs)
        upper = self.frequencies + np.sqrt(self.variance)
        return ItemsetGuess(
            means=self.frequencies[first_ranks] * self.frequencies[second_ranks],
            variance=self.frequencies[first_ranks] ** 2 * self.variance[second_ranks]
            + self.frequencies[second_ranks] ** 2 * self.variance[first_ranks],
            cap=np.minimum(upper[first_ranks], upper[second_ranks]),
        )

    def result_without_relations(self) -> ProtocolResult:
        """Return the items as a result without relations."""
        empty = np.zeros(0)
        return self._result(
            RelationEstimates.most_reliable((), empty, empty, (empty, empty), empty, 0), {}, (_NO_RELATIONS,)
        )

    def build_result(
        self, relations: Relations, values: Values, variance: Values, support: int, top: int, facts: dict[str, Any]
    ) -> ProtocolResult:
        """Return the `top` most reliable of the `support` most frequent relations, the most reliable first.

        A pair held `together` is a relation both ways.
        """
        pairs = relations.chains
        if relations.items.how == "together":
            listed_pairs = set(pairs)
            turned = [position for position, pair in enumerate(pairs) if pair[::-1] not in listed_pairs]
            pairs = (*pairs, *(pairs[position][::-1] for position in turned))
            values, variance = (np.concatenate((column, column[turned])) for column in (values, variance))
        first_ranks, second_ranks = self.ranks(pairs)
        frequent = np.lexsort((second_ranks, first_ranks, -values))[:support]  # ties by the ranks of their items
        first_ranks, second_ranks = first_ranks[frequent], second_ranks[frequent]
        related = RelationEstimates.most_reliable(
            [pairs[position] for position in frequent],
            values[frequent],
            variance[frequent],
            (self.values[first_ranks], self.variance[first_ranks]),
            self.values[second_ranks],
            top,
        )
        return self._result(related, facts, ())

    def _result(self, related: RelationEstimates, facts: dict[str, Any], notes: tuple[str, ...]) -> ProtocolResult:
        return ProtocolResult(
            itemsets=tuple((item,) for item in self.order),
            values=self.values,
            variance=self.variance,
            facts=facts,
            notes=notes,
            related=related,
        )
