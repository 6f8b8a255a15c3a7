"""Patterns from the cells of a few bases, improved: fewer wasted picks, consistent cells, and a better order.

The part shared with `privbasis` is in `steps.basis_selection`. The proof is in `bases.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, inf
from typing import ClassVar

from ...exact import LARGEST_BASIS, Cells
from ...privacy import Meter, Noisy, Way
from .. import Plan, Problem
from ..steps import (
    ITEM_COUNT_STEP,
    RANK_SHARE,
    RANK_STEP,
    Basis,
    BasisMechanism,
    BudgetSplit,
    Sums,
    cover_all_pairs,
    fit_cells,
)

# The constants below were fitted on the data sets that `docs/flagships.md` names; `bases.md` has the measurements.
# Below FEW_ITEMS items, one more item than chosen is picked: an extra item costs little there, a missing one a lot.
FEW_ITEMS = 10
# With PATTERNS_PER_ITEM times more patterns than items, people hold most items together. If picks separate pairs only
# where counts differ by 1 / PICK_PRECISION of the people, one basis of as many items as possible beats several smaller
# bases; but not where fewer than CROWDED_PART of the people hold the last pattern, as many cells add much noise.
PATTERNS_PER_ITEM = 5
PICK_PRECISION = 50
CROWDED_PART = Fraction(3, 4)
# Noise is large where the deviation of a count exceeds 1 / NOISE_PRECISION of the people.
NOISE_PRECISION = 1_000
# From this part of all possible pairs on, and for pairs only, blocks that cover all pairs are used.
PAIR_PART_FOR_BLOCKS = Fraction(3, 5)
# Shares of the budget after the number of items is chosen: picking the items of one basis; picking items and pairs of
# several bases; and, where single items are no patterns, items, number of pairs, and pairs.
SINGLE_BASIS_SHARE = Fraction(2, 5)
SEVERAL_BASES_SHARE = Fraction(3, 5)
LONGER_PAIRS_SPLIT = BudgetSplit(items=Fraction(1, 5), pair_count_share=Fraction(1, 20), pairs=Fraction(2, 5))

_FIND_STEP = "picking items and pairs and counting cells"


@dataclass(frozen=True, kw_only=True)
class Bases(BasisMechanism):
    """Settings of `bases`.

    Parameters
    ----------
    spare
        The factor between the number of requested patterns and the number that picks aim at.
    largest
        The largest number of items of a pattern, and of each basis where several bases are used.
    """

    spare: Fraction = Fraction(21, 20)

    name: ClassVar[str] = "bases"
    summary: ClassVar[str] = (
        "Picks items and pairs, covers them with small sets of items, counts with noise who holds which part of each "
        "set, and fits these counts to each other."
    )
    citation: ClassVar[str] = (
        "discreet's own, after N. Li, W. Qardaji, D. Su, J. Cao. PrivBasis: frequent itemset mining with differential "
        "privacy. Proceedings of the VLDB Endowment 5, 2012; and R. McKenna, D. Sheldon. Permute-and-flip: a new "
        "mechanism for differentially private selection. NeurIPS 2020."
    )
    repairs_results: ClassVar[bool] = True
    item_count_share: ClassVar[Fraction] = Fraction(1, 20)

    def plan(self, problem: Problem) -> Plan:
        """Choose the number of patterns and of items with 1/20 each, and find the patterns with the remainder.

        The division between picking and counting depends on the number of items.
        """
        steps = [(RANK_STEP, RANK_SHARE)] if problem.top is None else []
        remaining_share = 1 - sum((share for _, share in steps), Fraction(0))
        if problem.max_length > 1:
            steps.append((ITEM_COUNT_STEP, remaining_share * self.item_count_share))
            remaining_share -= steps[-1][1]
        return [*steps, (_FIND_STEP, remaining_share)]

    def selection_method(self, meter: Meter) -> Way:
        """Return permute-and-flip, which errs less; under zCDP it costs four times as much, so exponential there."""
        return "permute-and-flip" if meter.pure else "exponential"

    def widen_item_count(self, item_count: int) -> int:
        """Return one item more than chosen where the number is small."""
        return item_count + (item_count < FEW_ITEMS)

    def split_budget(self, problem: Problem, top: int, item_count: int, meter: Meter, mark: float = inf) -> BudgetSplit:
        """Return a larger picking share where pairs are picked, and a share for an unknown number of pairs."""
        pair_count = self.count_pairs(problem, top, item_count)
        pick_rate = meter.rate(item_count + pair_count, meter.left * SEVERAL_BASES_SHARE, self.selection_method(meter))
        items_are_common = (
            self.count_wanted_patterns(problem, top) >= PATTERNS_PER_ITEM * item_count
            and mark >= CROWDED_PART * problem.people
        )
        is_dense = items_are_common and problem.people * pick_rate < PICK_PRECISION
        # Where single items are all that is expected, their basis is split if small ones have less noise.
        split_items = not is_dense and not pair_count and _is_noisy_in_one_basis(problem, item_count, meter)
        if not split_items and item_count <= (max(self.largest, LARGEST_BASIS) if is_dense else self.largest):
            return BudgetSplit(items=SINGLE_BASIS_SHARE, single_basis=True)
        if problem.min_length > 1 and problem.max_length > 2:
            return LONGER_PAIRS_SPLIT
        share_per_pick = SEVERAL_BASES_SHARE / (item_count + pair_count)
        return BudgetSplit(items=item_count * share_per_pick, pairs=pair_count * share_per_pick, pair_count=pair_count)

    def cover_pairs(self, problem: Problem, items: int, pairs: list[tuple[int, int]], power: int) -> list[Basis]:
        """Return blocks where most pairs were picked; not for longer patterns, many of which lie in no block."""
        if self.longest_length(problem) == 2 and len(pairs) >= PAIR_PART_FOR_BLOCKS * comb(items, 2):
            return cover_all_pairs(items, pairs, self.largest, power)
        return super().cover_pairs(problem, items, pairs, power)

    def estimate_counts(self, bases: list[Basis], noisy: Noisy, problem: Problem) -> Sums:
        """Fit all cells together, and to the number of people, where this number counts the people in the cells."""
        return fit_cells(bases, noisy, problem.min_length, self.longest_length(problem), problem.engine_people)


def _is_noisy_in_one_basis(problem: Problem, item_count: int, meter: Meter) -> bool:
    """Return whether items have much noise in one basis of all items, and less in small bases of three items.

    An item is a sum over half of the cells of its basis. The deviation is proportional to (number of bases) / (share of
    the budget); under zCDP the variance is.
    """
    variance = (1 << item_count - 1) * meter.scale(Cells(((0,),)), meter.left * (1 - SINGLE_BASIS_SHARE))[1]
    power = 2 if meter.pure else 1
    single_variance = Fraction(1 << item_count - 1) / (1 - SINGLE_BASIS_SHARE) ** power
    return (
        variance * NOISE_PRECISION**2 > problem.people**2
        and single_variance > 4 * (ceil(item_count / 3) / (1 - SEVERAL_BASES_SHARE)) ** power
    )
