"""Relations asked for directly: the most frequent items, and then all pairs of them at once.

Each pair of the items is a candidate; a device answers for all pairs that it holds through the best oracle for sets,
and estimates are shrunk to the frequencies of independent items. No pair is excluded before it was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    MIN_SHARE,
    CandidateEstimates,
    Items,
    Learnt,
    Padding,
    Partition,
    RelationEstimates,
    Relations,
    SizeBinning,
    Talk,
    Wanted,
    check_candidates,
    check_padding,
    estimate_candidates,
    frequency_at,
    truncation_error,
)
from .svim import SVIM, SVIMBetter
from .svsm import shrink_to_guess

Ranks: TypeAlias = NDArray[np.int64]
# The prior of estimates around the frequencies of independent items: of two kinds of pairs, of one kind, or no prior.
Prior: TypeAlias = Literal["two-part", "normal", "none"]

# A list of relations travels to every device that is asked: 256 items are 65,280 ordered pairs.
MOST_ITEMS = 256


@dataclass(frozen=True, kw_only=True)
class PairsProtocol(Protocol):
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
    how: How = "together"
    items: int = 64
    support: int = 1600
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

    @property
    def bias(self) -> str:
        """The reason for counts of items that are too low: the bias of the protocol that finds them."""
        return item_finder(self.finder).bias

    def check(self, goal: Wanted) -> None:
        """Check the settings for a goal."""
        shares = self.parts
        has_bad_share = any(share < 0 or 0 < share < MIN_SHARE for share in shares) or sum(shares) > 1
        if has_bad_share or not shares[0] or not shares[2]:
            raise MisuseError(
                f"The shares of {self.name} are 0, or 0.0001 or more each, and add up to 1 at most; items and "
                "relations need some."
            )
        check_relations(self, goal)
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
        item_finder(self.finder).check(Wanted(items=goal.items, top=self.items, epsilon=goal.epsilon))

    @property
    def _guess_count(self) -> int:
        """The number of guessed relations; a pair held `together` counts as a relation both ways."""
        return -(-self.support // 2) if self.how == "together" else self.support

    def talk(self, goal: Wanted) -> Talk:
        """Lead the conversation."""
        line, (items_share, size_share, last_share) = Partition(), self.parts
        item_estimates = yield from item_finder(self.finder).find_items(
            goal.items, self.items, goal.epsilon, line, items_share
        )
        singles = Singles.of(item_estimates, self.items)
        if len(singles.order) < 2:
            return singles.result_without_relations()
        relations = singles.relations(self.how)
        frequencies = singles.independent_frequencies(relations.of)
        if self.guessed:
            best = sorted(np.argsort(-frequencies, kind="stable")[: self._guess_count].tolist())
            relations = Relations(relations.items, tuple(relations[position] for position in best))
            frequencies = frequencies[best]
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
        pairs = relations_of(estimates).of
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


def relations_of(estimates: CandidateEstimates) -> Relations:
    """Return the candidates of estimates, which are relations."""
    assert isinstance(estimates.candidates, Relations)  # noqa: S101
    return estimates.candidates


def item_finder(name: str) -> SVIM:
    """Return the protocol that finds the items of relations."""
    # The evidence about relations was measured without regard to liars.
    return SVIMBetter(robust=False) if name == "svim-better" else SVIM()


def check_relations(plan: Any, goal: Wanted, max_items: int = MOST_ITEMS) -> None:
    """Check the settings `items` and `support` of a protocol about relations."""
    if not 2 <= plan.items <= max_items:
        raise MisuseError(f"{plan.name} relates 2 to {max_items} items; {plan.items} were given.")
    if plan.support < 1:
        raise MisuseError(f"support is a number of relations, 1 or more; {plan.support} was given.")
    if goal.top > plan.support:
        raise MisuseError.format(
            "The {wanted:,} most reliable relations are wanted of the {support:,} most frequent: give a larger "
            "support, or a smaller {top}.",
            wanted=goal.top,
            support=plan.support,
        )
    if goal.least > 1:
        raise MisuseError.format("{name} finds relations of two items: leave {least} out.", name=plan.name)


def confidence_base(values: Values, variance: Values) -> Values:
    """Return the denominators of confidences: the frequency of a first side, or its noise if that is larger (D8)."""
    return np.clip(np.maximum(values, np.sqrt(variance)), 1e-6, 1.0)


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
        best = estimates.select_best(count)
        order = tuple(estimates.candidates[position][0] for position in best)
        rank = {item: position for position, item in enumerate(order)}
        return cls(order=order, values=estimates.values[best], variance=estimates.variance[best], rank=rank)

    @property
    def frequencies(self) -> Values:
        """The estimates, clipped to the range of a frequency."""
        return np.clip(self.values, 0.0, 1.0)

    def relations(self, how: How) -> Relations:
        """Return all pairs of the items: in both orders, unless the pairs are held `together`."""
        items = sorted(self.order)
        pairs = combinations(items, 2) if how == "together" else permutations(items, 2)
        return Relations(Items(self.order, how), tuple(pairs))

    def ranks(self, pairs: tuple[tuple[int, ...], ...]) -> tuple[Ranks, Ranks]:
        """Return the ranks of the first and of the second items."""
        ranks = np.array([[self.rank[item] for item in pair] for pair in pairs], np.int64).reshape(-1, 2)
        return ranks[:, 0], ranks[:, 1]

    def independent_frequencies(self, pairs: tuple[tuple[int, ...], ...]) -> Values:
        """Return the frequency of each pair if items are independent."""
        first, second = self.ranks(pairs)
        product: Values = self.frequencies[first] * self.frequencies[second]
        return product

    def guess(self, pairs: tuple[tuple[int, ...], ...]) -> ItemsetGuess:
        """Return the frequencies of independent items as a guess, with the variance and the cap of each pair."""
        first, second = self.ranks(pairs)
        upper = self.frequencies + np.sqrt(self.variance)
        return ItemsetGuess(
            means=self.frequencies[first] * self.frequencies[second],
            variance=self.frequencies[first] ** 2 * self.variance[second]
            + self.frequencies[second] ** 2 * self.variance[first],
            cap=np.minimum(upper[first], upper[second]),
        )

    def result_without_relations(self) -> Learnt:
        """Return the items as a result without relations."""
        empty = np.zeros(0)
        related = RelationEstimates(
            first=(),
            second=(),
            values=empty,
            variance=empty,
            first_values=empty,
            first_variance=empty,
            second_values=empty,
        )
        return self._result(related, {}, (_NO_RELATIONS,))

    def build_result(
        self, relations: Relations, values: Values, variance: Values, support: int, top: int, facts: dict[str, Any]
    ) -> Learnt:
        """Return the `top` most reliable of the `support` most frequent relations, the most reliable first.

        A pair held `together` is a relation both ways. A confidence is a ratio of two noisy numbers: a frequency above
        that of its first side counts as that, and `confidence_base` bounds the first side.
        """
        pairs = relations.of
        if relations.items.how == "together":
            asked = set(pairs)
            turned = [position for position, pair in enumerate(pairs) if pair[::-1] not in asked]
            pairs = (*pairs, *(pairs[position][::-1] for position in turned))
            values, variance = (np.concatenate((column, column[turned])) for column in (values, variance))
        first, second = self.ranks(pairs)
        base = confidence_base(self.values, self.variance)
        frequent = np.lexsort((second, first, -values))[:support]  # ties by the ranks of their items
        confidence = np.clip(values, 0.0, base[first])[frequent] / base[first][frequent]
        best = frequent[np.lexsort((-values[frequent], -confidence))[:top]]
        related = RelationEstimates(
            first=tuple((pairs[position][0],) for position in best),
            second=tuple((pairs[position][1],) for position in best),
            values=values[best],
            variance=variance[best],
            first_values=base[first[best]],
            first_variance=self.variance[first[best]],
            second_values=self.frequencies[second[best]],
        )
        return self._result(related, facts, ())

    def _result(self, related: RelationEstimates, facts: dict[str, Any], notes: tuple[str, ...]) -> Learnt:
        return Learnt(
            itemsets=tuple((item,) for item in self.order),
            values=self.values,
            variance=self.variance,
            facts=facts,
            notes=notes,
            related=related,
        )
