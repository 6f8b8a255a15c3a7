"""Patterns from the cells of a few bases, as in the article (Li, Qardaji, Su, Cao 2012).

The computation is in `steps.basis_selection`; this module has the parts in which `bases` differs. The proof is in
`privbasis.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import ClassVar

from ...privacy import Meter, Noisy, Way
from .. import Plan, Problem
from ..steps import (
    CELL_STEP,
    ITEM_COUNT_STEP,
    PICK_STEP,
    RANK_SHARE,
    RANK_STEP,
    Basis,
    BasisMechanism,
    BudgetSplit,
    Sums,
    add_cells,
)


@dataclass(frozen=True, kw_only=True)
class PrivBasis(BasisMechanism):
    """Settings of `privbasis`: the settings of :class:`~discreet.curator.steps._basis_selection.BasisMechanism`."""

    name: ClassVar[str] = "privbasis"
    summary: ClassVar[str] = (
        "Picks items and pairs, covers them with small sets of items, and counts with noise who holds which part of "
        "each set."
    )
    citation: ClassVar[str] = (
        "N. Li, W. Qardaji, D. Su, J. Cao. PrivBasis: frequent itemset mining with differential privacy. "
        "Proceedings of the VLDB Endowment 5, 2012."
    )
    item_count_share: ClassVar[Fraction] = Fraction(1, 10)

    def plan(self, problem: Problem) -> Plan:
        """Split as in the article: 1/10 for the number of items, 4/10 for picking, 5/10 for counting.

        Where patterns are single items, no number of items is chosen; without counts, picking takes the whole budget.
        """
        steps = [(ITEM_COUNT_STEP, Fraction(1, 10)), (PICK_STEP, Fraction(4, 10)), (CELL_STEP, Fraction(5, 10))]
        if problem.max_length == 1:
            steps = [(PICK_STEP, Fraction(4, 9)), (CELL_STEP, Fraction(5, 9))]
        if problem.top is None:
            return [(RANK_STEP, RANK_SHARE), *((name, share * (1 - RANK_SHARE)) for name, share in steps)]
        if problem.max_length == 1 and not problem.with_counts:
            return [(PICK_STEP, Fraction(1))]
        return steps

    def selection_method(self, meter: Meter) -> Way:
        """Return the exponential mechanism."""
        return "exponential"

    def widen_item_count(self, item_count: int) -> int:
        """Return the chosen number of items unchanged."""
        return item_count

    def split_budget(self, problem: Problem, top: int, item_count: int, meter: Meter, mark: float = inf) -> BudgetSplit:
        """Return 4/9 of the remaining budget for picking, equal for each pick; few items form one basis."""
        single_basis = item_count <= self.largest
        pair_count = 0 if single_basis else self.count_pairs(problem, top, item_count)
        share_per_pick = Fraction(4, 9) / (item_count + pair_count)
        return BudgetSplit(
            items=item_count * share_per_pick,
            pairs=pair_count * share_per_pick,
            pair_count=pair_count,
            single_basis=single_basis,
        )

    def estimate_counts(self, bases: list[Basis], noisy: Noisy, problem: Problem) -> Sums:
        """Return averages over the bases; the estimates decide the shown patterns."""
        return add_cells(bases, noisy, problem.min_length, self.longest_length(problem))
