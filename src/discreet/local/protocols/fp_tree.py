"""LDP-FPMiner: a prefix tree of baskets, learnt level by level from the top, and mined for its itemsets.

The items by falling frequency give each basket one order. Its first item, its first two, its first three … are paths of
a prefix tree. Each level is learnt from a group of people of its own, among the paths that the level above leaves
likely. Counts of paths add up to counts of itemsets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import log, sqrt
from typing import Any, ClassVar, Literal

import numpy as np

from ...errors import MisuseError
from ...privacy import exact
from .. import Protocol
from ..device import MOST_NUMBERS
from ..estimation import MinedTree, Tree, Values, balanced, balanced_at_random, cut_share
from ..oracle_steps import honest_share, make
from ..study import (
    Ask,
    CandidateList,
    Estimate,
    Partition,
    PrefixQuestion,
    ProtocolResult,
    RoundGenerator,
    SizeQuestion,
    SizesRound,
    StudyGoal,
    check_parts,
    size_bins,
)
from .svim import SVIM, SVIMBetter
from .svsm import longest_pattern, shrink_to_guess

Inference = Literal["none", "printed", "least-squares"]
Balance = Literal["none", "printed", "even"]
_MAX_PATHS = 300_000  # paths of a level: with two items and more each, they fit into a question to devices
_MAX_LOST_SHARE = 0.5  # of an itemset's holders: the people taken for lost are never more than those in the tree


@dataclass(frozen=True, kw_only=True)
class FPTree(Protocol):
    """Find the most frequent itemsets through a prefix tree.

    Parameters
    ----------
    shares
        The shares of the people: for the items, for the number of items per person, and for all levels of the tree.
    items
        The protocol that finds the items.
    paths
        The number of paths of a level per pattern of the top.
    percentile
        The share of the people whose baskets the tree holds whole, which sets its height; it has at least two levels.
    size_oracle, oracle
        The oracles of sizes and of levels.
    path_weight
        The weight of a level's estimates against the guess from its items (prefix weighted combination), from 0 to 1.
    inference, inference_rounds, theta
        The method that makes children consistent with their parent: as printed, by least squares (B8), or none; its
        number of rounds; and the share of the parent's guess from which on children are kept.
    balance
        The treatment of estimates below 0: they become 0, and other estimates are lowered in exchange, by units as
        printed or evenly (B9); or none.
    itemset_weight
        The weight of mined itemsets against the guess from their items (itemset weighted combination), from 0 to 1;
        ``"shrunk"`` weighs by the noise, with nothing to tune (B10).
    corrected
        Whether itemsets regain the part of baskets longer than the tree: the share of people whose basket is cut before
        the itemset ends, times the guess from its items (B5).
    robust
        Whether liars about sizes are considered: sizes have few bins, and neither the height of the tree nor a padding
        is larger than liars can make it.
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
        """The protocol that finds the items."""
        return (SVIMBetter if self.items == "svim-better" else SVIM)(robust=self.robust)

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        # With a share of 0.0001, each level has people even if the tree is as high as there are patterns.
        check_parts(self.name, self.parts)
        for name in ("path_weight", "theta", "percentile"):
            value = getattr(self, name)
            if not 0 <= exact(value, name) <= 1:
                raise MisuseError(f"{name} is from 0 to 1; {value} was given.")
        if self.itemset_weight != "shrunk" and not 0 <= exact(self.itemset_weight, "itemset_weight") <= 1:
            raise MisuseError(f"itemset_weight is from 0 to 1, or shrunk; {self.itemset_weight} was given.")
        if self.paths < 1 or not 0 <= self.inference_rounds <= 1000:
            raise MisuseError("paths is 1 or more, and inference_rounds from 0 to 1,000.")
        path_count = self.paths * goal.top
        if path_count > _MAX_PATHS:
            raise MisuseError(
                f"A level asks for up to {_MAX_PATHS:,} paths; paths times top, {self.paths:,} times {goal.top:,}, "
                "is more: use fewer paths."
            )
        make(self.size_oracle, goal.epsilon, goal.top + 1, single=True)
        make(self.oracle, goal.epsilon, path_count + 1, single=True)
        self.finder.check(StudyGoal(items=goal.items, top=goal.top, epsilon=goal.epsilon))

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        line, (items_share, size_share, levels_share) = Partition(), self.parts
        estimates = yield from self.finder.find_items(goal.items, goal.top, goal.epsilon, line, items_share)
        positions = [position for position in estimates.select_best(goal.top) if estimates.values[position] > 0]
        items = [estimates.candidates[position][0] for position in positions]
        # Below 1: a certain item would leave no room for any path without it (B6).
        frequencies = np.clip(estimates.values[positions], 0.0, 1 - 1e-6)
        ranked_items = _RankedItems(items, frequencies, estimates.variance[positions])
        if len(items) < 2:
            return ranked_items.result_without_tree()
        candidates = CandidateList(itemsets=tuple((item,) for item in sorted(items)))
        size_question = SizeQuestion.up_to(candidates, len(items))
        if self.robust:
            size_question = SizeQuestion(candidates, size_bins(len(items), goal.epsilon))
        size_oracle = "grr" if self.robust else self.size_oracle
        sizes_answer: Estimate = yield Ask.of(
            "how many items", line.next(size_share), size_question, size_oracle, goal.epsilon
        )
        sizes, percentile = SizesRound.of(sizes_answer), exact(self.percentile, "percentile")
        if self.robust:
            percentile = min(percentile, Fraction(honest_share(sizes_answer.ask.frequencies)))
        # A tree of one level has single items alone.
        height = max(2, sizes.padding("percentile", percentile))
        tree = Tree(frequencies)
        facts: dict[str, Any] = {"tree height": height}
        for level in range(1, height + 1):
            # The numbers of a question: the items, and the items of each path and one more.
            room = (MOST_NUMBERS - len(items)) // (level + 1)
            paths = tree.candidates(min(self.paths * goal.top, room))
            if not paths:
                break
            prefixes = tuple(tuple(items[rank] for rank in path) for path in paths)
            question = PrefixQuestion(tuple(items), prefixes, level)
            answer: Estimate = yield Ask.of(
                f"paths of {level}", line.next(levels_share / height), question, self.oracle, goal.epsilon
            )
            facts[f"level {level} is off by"] = _error_bound(answer)
            tree.add(paths, self._combine(answer, tree.guesses(paths)), answer.values[:-1], answer.variance[:-1])
        if self.inference != "none":
            tree.infer(self.inference_rounds, float(exact(self.theta, "theta")), printed=self.inference == "printed")
        related = None if goal.lineage is None else goal.lineage.find_related_pairs(items)
        mined = tree.mine(self.paths * goal.top, longest_pattern(goal.top, goal.least), related)
        return ranked_items.build_result(mined, *self._estimate_itemsets(mined, tree, sizes, height), facts)

    def _combine(self, answer: Estimate, guesses: Values) -> Values:
        """Return the frequencies of a level's paths: estimates combined with guesses, none below 0."""
        values = answer.values
        if self.balance == "even":
            values = balanced(values, 1.0)  # the total is 1: each person has one path, or no path of the question
        elif self.balance == "printed":
            values = balanced_at_random(values, answer.people)
        weight = float(exact(self.path_weight, "path_weight"))
        return np.clip(weight * values[:-1] + (1 - weight) * guesses, 0.0, None)

    def _estimate_itemsets(
        self, mined: list[MinedTree], tree: Tree, sizes: SizesRound, height: int
    ) -> tuple[Values, Values]:
        """Return the frequency of each mined itemset, combined with the guess from its items, and its variance."""
        if not mined:
            return np.zeros(0), np.zeros(0)
        values, reported_values, noise = np.array([itemset[1:] for itemset in mined]).T
        guess = np.array([np.prod(tree.chances[list(itemset.ranks)]) for itemset in mined])
        lost = np.array([cut_share(itemset.ranks, tree.chances, sizes.fractions, height) for itemset in mined])
        if self.corrected:
            # A factor instead of a sum would multiply the noise too, most of all for itemsets with rare items.
            values = values + guess * lost
        if self.itemset_weight == "shrunk":
            values, _ = shrink_to_guess(values, noise, guess)
        else:
            weight = float(exact(self.itemset_weight, "itemset_weight"))
            values = weight * values + (1 - weight) * guess
        lost = np.maximum(lost, tree.missing()[[itemset.ranks[-1] for itemset in mined]])
        return values, _itemset_variance(values, reported_values, noise, np.maximum(values, guess), lost)


@dataclass(frozen=True)
class _RankedItems:
    """The items by rank, with the frequency of each and its variance."""

    items: list[int]
    values: Values
    variance: Values = field(repr=False)

    def result_without_tree(self) -> ProtocolResult:
        """Return the items as a result without itemsets."""
        note = "Fewer than two items stood out, so there is no tree: the patterns are single items."
        itemsets = tuple((item,) for item in self.items)
        return ProtocolResult(itemsets=itemsets, values=self.values, variance=self.variance, notes=(note,))

    def build_result(
        self, mined: list[MinedTree], values: Values, variance: Values, facts: dict[str, Any]
    ) -> ProtocolResult:
        """Return items and mined itemsets as one result, the most frequent first."""
        itemsets = tuple(tuple(sorted(self.items[rank] for rank in itemset.ranks)) for itemset in mined)
        patterns = (*((item,) for item in self.items), *itemsets)
        both_values, both_variances = np.concatenate((self.values, values)), np.concatenate((self.variance, variance))
        return ProtocolResult.ranked(patterns, both_values, both_variances, facts)


def _itemset_variance(values: Values, reported_values: Values, noise: Values, upper: Values, lost: Values) -> Values:
    """Return the variance of mined itemsets after weights, balance and inference.

    The measured frequency is unbiased for the people on paths of the questions. So the error of an estimate is its
    noise, and its distance from the measured frequency: no weight makes it more certain than the reports are. People on
    other paths belong to it too: a share `lost` of the frequency `upper`. Half of that may be wrong, as for a padding.

    Parameters
    ----------
    values
        The estimates.
    reported_values, noise
        The frequencies by the reports alone, and their variance.
    upper
        The larger of an estimate and its guess.
    lost
        The share of the holders of an itemset who are on paths without a question.
    """
    lost = np.clip(lost, 0.0, _MAX_LOST_SHARE)
    unmeasured = upper * lost / (1 - lost)
    shift = values - (reported_values + unmeasured)
    variance: Values = noise + shift**2 + (unmeasured / 2) ** 2
    return variance


def _error_bound(answer: Estimate, risk: float = 0.05) -> float:
    """Return a bound on the errors of a level's frequencies, which fails with probability `risk` (theorem 4.2, B11).

    The probability that a report supports a path lies between `p_other` and `p_held`, by the number of people on it.
    That is unknown, so the probability of the largest variance is used, in the smaller of the bounds of Bernstein and
    of Hoeffding.
    """
    oracle, people = answer.ask.frequencies, max(answer.people, 1)
    log_risk = log(2 * oracle.size / risk) / people
    p, q = float(oracle.p_held), float(oracle.p_other)
    probability = min(max(0.5, q), p)
    bernstein = sqrt(2 * probability * (1 - probability) * log_risk) + 2 * log_risk / 3
    return min(bernstein, sqrt(log_risk / 2)) / (p - q)
