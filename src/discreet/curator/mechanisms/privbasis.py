"""Patterns from the cells of a few bases, as the article has them (Li, Qardaji, Su, Cao 2012).

What it does is in `steps.basis_selection`; here is what `bases` does otherwise. The proof is in `privbasis.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import ClassVar

from ...privacy.meter import Meter, Noisy, Way
from ..mechanism import Plan, Task
from ..steps.basis_cover import Basis
from ..steps.basis_selection import COUNT, MANY, PICK, RANK, RANK_SHARE, Basing, Split
from ..steps.cell_estimates import Sums, add_up


@dataclass(frozen=True, kw_only=True)
class PrivBasis(Basing):
    """Settings of `privbasis`: those of :class:`~discreet.curator.steps.basis_selection.Basing`."""

    name: ClassVar[str] = "privbasis"
    summary: ClassVar[str] = (
        "Picks items and pairs, covers them with small sets of items, and counts with noise who holds which part of "
        "each set."
    )
    citation: ClassVar[str] = (
        "N. Li, W. Qardaji, D. Su, J. Cao. PrivBasis: frequent itemset mining with differential privacy. "
        "Proceedings of the VLDB Endowment 5, 2012."
    )
    many_share: ClassVar[Fraction] = Fraction(1, 10)

    def plan(self, task: Task) -> Plan:
        """Split as the article does: one tenth for the number of items, four for picking, five for counting.

        Where patterns are single items there is no such number to find, and without counts picking them is all.
        """
        steps = [(MANY, Fraction(1, 10)), (PICK, Fraction(4, 10)), (COUNT, Fraction(5, 10))]
        if task.longest == 1:
            steps = [(PICK, Fraction(4, 9)), (COUNT, Fraction(5, 9))]
        if task.top is None:
            return [(RANK, RANK_SHARE), *((name, share * (1 - RANK_SHARE)) for name, share in steps)]
        if task.longest == 1 and not task.counts:
            return [(PICK, Fraction(1))]
        return steps

    def way(self, meter: Meter) -> Way:
        """Choose by the exponential mechanism."""
        return "exponential"

    def widened(self, many: int) -> int:
        """Pick as many items as were chosen."""
        return many

    def split(self, task: Task, top: int, many: int, meter: Meter, mark: float = inf) -> Split:
        """Spend four ninths of what is left on picking, the same on each pick; few items are one basis."""
        single = many <= self.largest
        others = 0 if single else self.pairs(task, top, many)
        each = Fraction(4, 9) / (many + others)
        return Split(items=many * each, pairs=others * each, many=others, single=single)

    def sums(self, bases: list[Basis], noisy: Noisy, task: Task) -> Sums:
        """Average over the bases; what is shown is decided by the estimates."""
        return add_up(bases, noisy, task.least, self.longest(task))
