"""LDP-FPMiner: a tree of what people hold, learnt level by level from the top, and mined for its itemsets.

The items by falling frequency give everyone's basket one order. Its first item, its first two, its first three … are
paths of a prefix tree; each level is learnt from a group of its own, among the paths that the level above leaves
likely. Counts of paths add up to counts of itemsets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import log, sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ...privacy import exact
from .. import Protocol
from ..device import MOST_NUMBERS
from ..estimation import Mined, Tree, balanced, balanced_at_random, cut_share
from ..oracle_steps import honest_share, make
from ..study import (
    Ask,
    CandidateList,
    Estimate,
    HowMany,
    Learnt,
    Partition,
    Prefix,
    SizesRound,
    Talk,
    Wanted,
    check_parts,
    size_bins,
)
from .svim import SVIM, SVIMBetter
from .svsm import longest, shrunk

Inference = Literal["none", "printed", "least-squares"]
Balance = Literal["none", "printed", "even"]
_MOST_PATHS = 300_000  # a level: of two items and more, they have to fit into a question that travels to devices
_MOST_LOST = 0.5  # of an itemset's people: no more is taken for lost than the tree has


@dataclass(frozen=True, kw_only=True)
class FPTree(Protocol):
    """Find the most frequent itemsets through a prefix tree.

    Parameters
    ----------
    shares
        Of the people: for the items, for how many of them people hold, and for all levels of the tree together.
    items
        Which protocol finds the items.
    paths
        How many paths a level keeps for every pattern wanted.
    percentile
        The tree is as high as this share of the people needs, and has two levels at least.
    size_oracle, oracle
        How sizes and levels are asked for.
    path_weight
        How much a level's estimates count against the guess from its items (prefix weighted combination): 1 is all.
    inference, inference_rounds, theta
        Whether children are made to agree with their parent: as printed, by least squares (B8), or not; how often; and
        from which share of the parent's guess on that the children left have.
    balance
        What happens to estimates below 0: they become 0, and the rest pays for it unit by unit as printed, or evenly
        (B9), or not at all.
    itemset_weight
        How much mined itemsets count against the guess from their items (itemset weighted combination): 1 is all;
        ``"shrunk"`` weighs by the noise, with nothing to tune (B10).
    corrected
        Whether itemsets are given back what baskets longer than the tree lose: the share of people who are cut before
        an itemset ends, times the guess from its items (B5).
    robust
        Whether liars about sizes are reckoned with: sizes are asked for in few bins, and neither the height of the tree
        nor a padding exceeds what they can drive it to.
    """

    shares: tuple[str, str, str] = ("0.5", "0.1", "0.4")
    items: Literal["svim", "svim-better"] = "svim"
    paths: int = 3
    percentile: str = "0.8"
    size_oracle: str = "adaptive"
    oracle: str = "adaptive"
    path_weight: str = "0.9"
    inference: Inference = "least-squares"
    inference_rounds: int = 7
    theta: str = "0.3"
    balance: Balance = "even"
    itemset_weight: str = "0.7"
    corrected: bool = True
    robust: bool = True

    name: ClassVar[str] = "fp-tree"
    across: ClassVar[bool] = True
    summary: ClassVar[str] = "the most frequent itemsets, by a prefix tree that is learnt level by level"
    citation: ClassVar[str] = "Chen, Wang (LDP-FPMiner)"

    @property
    def finder(self) -> SVIM:
        """What finds the items."""
        return (SVIMBetter if self.items == "svim-better" else SVIM)(robust=self.robust)

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        shares = self.parts
        # Even of a tree with as many levels as there may be patterns, each then has some of the numbers devices draw.
        check_parts(self.name, shares)
        for name, given in (("path_weight", self.path_weight), ("theta", self.theta), ("percentile", self.percentile)):
            if not 0 <= exact(given, name) <= 1:
                raise MisuseError(f"{name} is from 0 to 1; {given} was given.")
        if self.itemset_weight != "shrunk" and not 0 <= exact(self.itemset_weight, "itemset_weight") <= 1:
            raise MisuseError(f"itemset_weight is from 0 to 1, or shrunk; {self.itemset_weight} was given.")
        if self.paths < 1 or not 0 <= self.inference_rounds <= 1000:
            raise MisuseError("paths is 1 or more, and inference_rounds from 0 to 1,000.")
        most = self.paths * wanted.top
        if most > _MOST_PATHS:
            raise MisuseError(
                f"A level asks for up to {_MOST_PATHS:,} paths; paths times top, {self.paths:,} times {wanted.top:,}, "
                "is more: use fewer paths."
            )
        make(self.size_oracle, wanted.epsilon, wanted.top + 1, single=True)
        make(self.oracle, wanted.epsilon, most + 1, single=True)
        self.finder.check(Wanted(items=wanted.items, top=wanted.top, epsilon=wanted.epsilon))

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (first, size, rest) = Partition(), self.parts
        items = yield from self.finder.items(wanted.items, wanted.top, wanted.epsilon, line, first)
        best = [place for place in items.best(wanted.top) if items.values[place] > 0]
        singles = [items.of[place][0] for place in best]
        # As probabilities, kept off 1: a certain item would leave no room for any path around it (B6).
        chances = np.clip(items.values[best], 0.0, 1 - 1e-6)
        learnt = _RankedItems(singles, chances, items.variance[best])
        if len(singles) < 2:
            return learnt.alone()
        of = CandidateList(itemsets=tuple((item,) for item in sorted(singles)))
        many = HowMany.up_to(of, len(singles))
        if self.robust:
            many = HowMany(of, size_bins(len(singles), wanted.epsilon))
        sized = "grr" if self.robust else self.size_oracle
        seen: Estimate = yield Ask.of("how many items", line.next(size), many, sized, wanted.epsilon)
        sizes, percentile = SizesRound.of(seen), exact(self.percentile, "percentile")
        if self.robust:
            percentile = min(percentile, Fraction(honest_share(seen.ask.frequencies)))
        # A tree of one level has single items alone.
        height = max(2, sizes.padding("percentile", percentile))
        tree = Tree(chances)
        facts: dict[str, Any] = {"tree height": height}
        for level in range(1, height + 1):
            # A device reads so many numbers: the items, and for every path its own and one more.
            room = (MOST_NUMBERS - len(singles)) // (level + 1)
            paths = tree.candidates(min(self.paths * wanted.top, room))
            if not paths:
                break
            question = Prefix(tuple(singles), tuple(tuple(singles[rank] for rank in path) for path in paths), level)
            answer: Estimate = yield Ask.of(
                f"paths of {level}", line.next(rest / height), question, self.oracle, wanted.epsilon
            )
            facts[f"level {level} is off by"] = _off(answer)
            tree.add(paths, self._level(answer, tree.guesses(paths)), answer.values[:-1], answer.variance[:-1])
        if self.inference != "none":
            tree.infer(self.inference_rounds, float(exact(self.theta, "theta")), printed=self.inference == "printed")
        related = None if wanted.lineage is None else wanted.lineage.among(singles)
        mined = tree.mine(self.paths * wanted.top, longest(wanted.top, wanted.least), related)
        return learnt.joined(self._weighed(mined, tree, sizes, height), facts)

    def _level(self, answer: Estimate, guesses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the counts of a level's paths: weighed with the guess, and none below 0."""
        values = answer.values
        if self.balance == "even":
            values = balanced(values, 1.0)  # everyone gave one answer, if only none of these
        elif self.balance == "printed":
            values = balanced_at_random(values, answer.people)
        weight = float(exact(self.path_weight, "path_weight"))
        return np.clip(weight * values[:-1] + (1 - weight) * guesses, 0.0, None)

    def _weighed(
        self, mined: list[Mined], tree: Tree, sizes: SizesRound, height: int
    ) -> list[tuple[tuple[int, ...], float, float]]:
        """Return mined itemsets weighed with the guess from their items, each with its variance."""
        if not mined:
            return []
        values, heard, noise = np.array([one[1:] for one in mined]).T
        guess = np.array([np.prod(tree.chances[list(one.ranks)]) for one in mined])
        lost = np.array([cut_share(one.ranks, tree.chances, sizes.kept, height) for one in mined])
        if self.corrected:
            # Scaling up instead would multiply the noise too, most of all that of sets with late items.
            values = values + guess * lost
        if self.itemset_weight == "shrunk":
            values, _ = shrunk(values, noise, guess)
        else:
            weight = float(exact(self.itemset_weight, "itemset_weight"))
            values = weight * values + (1 - weight) * guess
        lost = np.maximum(lost, tree.missing()[[one.ranks[-1] for one in mined]])
        variance = _spread(values, heard, noise, np.maximum(values, guess), lost)
        return [
            (one.ranks, float(value), float(wide)) for one, value, wide in zip(mined, values, variance, strict=True)
        ]


@dataclass(frozen=True)
class _RankedItems:
    """The items by rank: what ranks of the tree stand for."""

    singles: list[int]
    values: NDArray[np.float64]
    variance: NDArray[np.float64] = field(repr=False)

    def alone(self) -> Learnt:
        """Return the items as all there is."""
        note = "Fewer than two items stood out, so there is no tree: the patterns are single items."
        itemsets = tuple((item,) for item in self.singles)
        return Learnt(itemsets=itemsets, values=self.values, variance=self.variance, notes=(note,))

    def joined(self, mined: list[tuple[tuple[int, ...], float, float]], facts: dict[str, Any]) -> Learnt:
        """Return items and mined itemsets together, the most frequent first."""
        sets = [tuple(sorted(self.singles[rank] for rank in ranks)) for ranks, _, _ in mined]
        itemsets = [*((item,) for item in self.singles), *sets]
        values = np.concatenate((self.values, [value for _, value, _ in mined]))
        variance = np.concatenate((self.variance, [wide for _, _, wide in mined]))
        order = np.lexsort((np.array([len(one) for one in itemsets]), -values))
        return Learnt(
            itemsets=tuple(itemsets[place] for place in order),
            values=values[order],
            variance=variance[order],
            facts=facts,
        )


def _spread(
    values: NDArray[np.float64],
    heard: NDArray[np.float64],
    noise: NDArray[np.float64],
    likely: NDArray[np.float64],
    lost: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the variance of estimates that weights, balance and inference have moved away from what was heard.

    What was heard is right on average, among those on paths that were asked for. So an estimate is off by the noise of
    that, and by how far it has been moved; no weight makes it surer than the reports are. Those lost on other paths
    belong to it too: as many as `likely` says, of which, as for any padding, half may be wrong.
    """
    lost = np.clip(lost, 0.0, _MOST_LOST)
    unheard = likely * lost / (1 - lost)
    moved = values - (heard + unheard)
    wide: NDArray[np.float64] = noise + moved**2 + (unheard / 2) ** 2
    return wide


def _off(answer: Estimate, risk: float = 0.05) -> float:
    """Return the fraction of people by which no count of a level is off, but for a small risk (theorem 4.2, B11).

    A report supports a path or does not, with a chance between `p_other` and `p_held`, by how many people are on it.
    That is not known, so the chance that varies the most is taken, and of the bounds of Bernstein and Hoeffding the
    smaller.
    """
    oracle, people = answer.ask.frequencies, max(answer.people, 1)
    spread = log(2 * oracle.size / risk) / people
    held, other = float(oracle.p_held), float(oracle.p_other)
    chance = min(max(0.5, other), held)
    return min(sqrt(2 * chance * (1 - chance) * spread) + 2 * spread / 3, sqrt(spread / 2)) / (held - other)
