"""Relations asked for directly: the most frequent items, and then all pairs of them at once.

Every pair of the items is a candidate; a device answers for all pairs it holds through the best oracle for sets, and
the estimates are pulled to what chance would have. Nothing is guessed away before it was asked about.
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
    LEAST_SHARE,
    Estimated,
    Items,
    Learnt,
    Padding,
    Partition,
    Related,
    Relations,
    SizeBinning,
    Talk,
    Wanted,
    check_padding,
    checked,
    cut_off,
    estimating,
    last_of,
)
from .svim import SVIM, SVIMBetter
from .svsm import shrunk

Ranks: TypeAlias = NDArray[np.int64]
# How estimates are pulled to what chance would have: by two kinds of pairs, by one, or not at all.
Prior: TypeAlias = Literal["two-part", "normal", "none"]

# A list of relations travels to every device that is asked.
MOST_ITEMS = 256


@dataclass(frozen=True, kw_only=True)
class PairsProtocol(Protocol):
    """Find the most reliable relations by asking about all pairs of the most frequent items.

    Parameters
    ----------
    shares
        Of the people: for the items, for how many of the pairs people hold, and for estimating those.
    how
        What makes a relation: ``"together"`` in a basket, one ``"after"`` the other, or ``"given"`` as data.
    items
        Among how many of the most frequent items.
    support
        Of how many relations with the largest support.
    finder
        Which protocol finds the items.
    size_oracle, oracle, padding, percentile, corrected, sizes
        As for `svim`.
    prior
        How estimates are pulled to what chance would have.
    guessed
        Whether only the `support` relations that are the likeliest by chance are asked about, as `svsm` would.
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
        """Why the counts of items are too low: as of the protocol that finds them."""
        return found_by(self.finder).bias

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        shares = self.parts
        if (
            any(share < 0 or 0 < share < LEAST_SHARE for share in shares)
            or sum(shares) > 1
            or not shares[0]
            or not shares[2]
        ):
            raise MisuseError(
                f"The shares of {self.name} are 0, or 0.0001 or more each, and add up to 1 at most; items and "
                "relations need some."
            )
        check_relations(self, wanted)
        check_padding(self.padding, shares[1], "padding")
        oracles, sizes = (self.oracle,), (self._most(min(self.items, max(wanted.items, 2))),)
        checked(1, self.percentile, wanted.epsilon, size_oracle=self.size_oracle, oracles=oracles, sizes=sizes)
        found_by(self.finder).check(Wanted(items=wanted.items, top=self.items, epsilon=wanted.epsilon))

    def _most(self, items: int) -> int:
        """Return about how many relations of so many items are asked at most."""
        ordered = self.how != "together"
        every = items * (items - 1) // (1 if ordered else 2)
        return min(every, self._likeliest) if self.guessed else every

    @property
    def _likeliest(self) -> int:
        """How many relations are asked about where guessed; of two items together, one is a relation both ways."""
        return -(-self.support // 2) if self.how == "together" else self.support

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (first, size, last) = Partition(), self.parts
        found = yield from found_by(self.finder).items(wanted.items, self.items, wanted.epsilon, line, first)
        singles = Singles.of(found, self.items)
        if len(singles.order) < 2:
            return singles.alone()
        of = singles.relations(self.how)
        guess = singles.by_chance(of)
        if self.guessed:
            likeliest = sorted(np.argsort(-guess, kind="stable")[: self._likeliest].tolist())
            of, guess = Relations(of.items, tuple(of[place] for place in likeliest)), guess[likeliest]
        answer = yield from estimating(
            of,
            line,
            (size, last),
            wanted.epsilon,
            oracles=(self.size_oracle, self.oracle),
            padding=self.padding,
            percentile=exact(self.percentile, "percentile"),
            corrected=self.corrected,
            told=self.sizes,
            near=last_of(guess, wanted.top),
            about="relations",
        )
        of = answer.of if isinstance(answer.of, Relations) else of
        values, variance = answer.values, answer.variance
        if self.prior == "two-part":
            values, variance = shrink_estimates(Evidence.noisy(values, variance), singles.guessed(of))
            # All estimates are scaled up alike: where that is wrong it is so for all, and no prior that is learnt from
            # them makes up for it.
            variance = variance + cut_off(values, answer.correction) ** 2
        elif self.prior == "normal":
            values, variance = shrunk(values, variance, singles.by_chance(of))
        facts = {"item padding": found.pad, "relation padding": answer.pad, "relation correction": answer.correction}
        return singles.learnt(of, values, variance, self.support, wanted.top, facts)


def found_by(name: str) -> SVIM:
    """Return what finds the items."""
    # Relations are asked for as they were measured: without regard to liars.
    return SVIMBetter(robust=False) if name == "svim-better" else SVIM()


def check_relations(plan: Any, wanted: Wanted, most: int = MOST_ITEMS) -> None:
    """Refuse numbers of items and relations that make no sense together: settings `items` and `support`."""
    if not 2 <= plan.items <= most:
        raise MisuseError(f"{plan.name} relates 2 to {most} items; {plan.items} were given.")
    if plan.support < 1:
        raise MisuseError(f"support is a number of relations, 1 or more; {plan.support} was given.")
    if wanted.top > plan.support:
        raise MisuseError.format(
            "The {wanted:,} most reliable relations are wanted of the {support:,} most frequent: give a larger "
            "support, or a smaller {top}.",
            wanted=wanted.top,
            support=plan.support,
        )
    if wanted.least > 1:
        raise MisuseError.format("{name} finds relations of two items: leave {least} out.", name=plan.name)


def relied_on(values: Values, variance: Values) -> Values:
    """Return what confidences are taken over: how many hold a first side, or its noise where that is more (D8)."""
    return np.clip(np.maximum(values, np.sqrt(variance)), 1e-6, 1.0)


_ALONE = "Fewer than two items were there to relate, so there are no relations."


@dataclass(frozen=True, kw_only=True, eq=False)
class Singles:
    """The items that are related: their numbers, the most frequent first, and which fraction of people holds each."""

    order: tuple[int, ...]
    values: Values
    variance: Values
    rank: dict[int, int]

    @classmethod
    def of(cls, found: Estimated, many: int) -> Singles:
        """Return the most frequent of the items found."""
        places = found.best(many)
        order = tuple(found.of[place][0] for place in places)
        rank = {item: at for at, item in enumerate(order)}
        return cls(order=order, values=found.values[places], variance=found.variance[places], rank=rank)

    @property
    def chances(self) -> Values:
        """The fractions as probabilities."""
        return np.clip(self.values, 0.0, 1.0)

    def relations(self, how: How) -> Relations:
        """Return all pairs of the items: in both orders, unless a pair is simply of two items that come together."""
        if how == "together":
            return Relations(Items(self.order, how), tuple(combinations(sorted(self.order), 2)))
        return Relations(Items(self.order, how), tuple(permutations(sorted(self.order), 2)))

    def places(self, pairs: tuple[tuple[int, ...], ...]) -> tuple[Ranks, Ranks]:
        """Return the ranks of the first and of the second items."""
        ranks = np.array([[self.rank[item] for item in pair] for pair in pairs], np.int64).reshape(-1, 2)
        return ranks[:, 0], ranks[:, 1]

    def by_chance(self, of: Relations) -> Values:
        """Return how frequent each pair would be if items had nothing to do with each other."""
        first, second = self.places(of.of)
        product: Values = self.chances[first] * self.chances[second]
        return product

    def guessed(self, of: Relations) -> ItemsetGuess:
        """Return what each pair would be by chance, how far that is off, and how frequent it can be at most."""
        first, second = self.places(of.of)
        held = self.chances + np.sqrt(self.variance)
        one, other = self.chances[first], self.chances[second]
        unsure = one**2 * self.variance[second] + other**2 * self.variance[first]
        return ItemsetGuess(means=one * other, variance=unsure, cap=np.minimum(held[first], held[second]))

    def alone(self) -> Learnt:
        """Return the items as all there is."""
        empty = np.zeros(0)
        related = Related(
            first=(),
            second=(),
            values=empty,
            variance=empty,
            first_values=empty,
            first_variance=empty,
            second_values=empty,
        )
        return self._learnt(related, {}, (_ALONE,))

    def learnt(
        self, of: Relations, values: Values, variance: Values, support: int, top: int, facts: dict[str, Any]
    ) -> Learnt:
        """Return the most reliable of the most frequent relations, the most reliable first.

        Where pairs have no order, one that was asked about is a relation both ways. A confidence is a ratio of two
        noisy numbers: what is larger than its first side counts as that, and a first side is what `relied_on` says.
        """
        pairs = of.of
        if of.items.how == "together":
            asked = set(pairs)
            turned = [at for at, pair in enumerate(pairs) if pair[::-1] not in asked]
            pairs = (*pairs, *(pairs[at][::-1] for at in turned))
            values, variance = (np.concatenate((some, some[turned])) for some in (values, variance))
        first, second = self.places(pairs)
        held = relied_on(self.values, self.variance)
        # Equal ones go by the ranks of their items.
        kept = np.lexsort((second, first, -values))[:support]
        confidence = np.clip(values, 0.0, held[first])[kept] / held[first][kept]
        best = kept[np.lexsort((-values[kept], -confidence))[:top]]
        ranks, others = first[best], second[best]
        related = Related(
            first=tuple((pairs[place][0],) for place in best),
            second=tuple((pairs[place][1],) for place in best),
            values=values[best],
            variance=variance[best],
            first_values=held[ranks],
            first_variance=self.variance[ranks],
            second_values=self.chances[others],
        )
        return self._learnt(related, facts, ())

    def _learnt(self, related: Related, facts: dict[str, Any], notes: tuple[str, ...]) -> Learnt:
        return Learnt(
            itemsets=tuple((item,) for item in self.order),
            values=self.values,
            variance=self.variance,
            facts=facts,
            notes=notes,
            related=related,
        )
