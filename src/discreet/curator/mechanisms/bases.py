"""Patterns from the cells of a few bases, repaired: fewer picks wasted, cells that agree, and a better order.

What it shares with `privbasis` is in `steps.basis_selection`. The proof is in `bases.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, inf
from typing import ClassVar

from ...exact.query import LARGEST_BASIS, Cells
from ...privacy.meter import Meter, Noisy, Way
from ..mechanism import Plan, Task
from ..steps.basis_cover import Basis, blocks
from ..steps.basis_selection import MANY, RANK, RANK_SHARE, Basing, Split
from ..steps.cell_estimates import Sums, fit_up

# Fitted on the data sets that `docs/flagships.md` names; `bases.md` has the measurements.
# Fewer items than this are picked one more than chosen: an item too many costs little there, one too few a lot.
SMALL = 10
# Where so many times more patterns than items are looked for, people hold most items together. If picks tell pairs
# apart only where their counts differ by a fiftieth of the people, one basis of as many items as can be counted is
# better than several of fewer. Not where the last pattern is known to be held by less than this part of the people:
# many cells have much noise.
TOGETHER = 5
TELLING = 50
CROWDED = Fraction(3, 4)
# Noise on a count is much where its deviation is more than one in so many people.
MUCH = 1_000
# Where so large a part of all pairs was picked, and nothing longer is wanted, all of them are covered.
NEARLY = Fraction(3, 5)
# What is left once the number of items is known: for picking the items of one basis; items and pairs of several; where
# single items are no patterns, items, how many pairs, and pairs.
ONE = Fraction(2, 5)
SEVERAL = Fraction(3, 5)
ALONE = Split(items=Fraction(1, 5), choosing=Fraction(1, 20), pairs=Fraction(2, 5))

_FIND = "picking items and pairs and counting cells"


@dataclass(frozen=True, kw_only=True)
class Bases(Basing):
    """Settings of `bases`.

    Parameters
    ----------
    spare
        Items and pairs are picked for so many times the patterns asked for.
    largest
        How many items a pattern has at most, and one of several bases.
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
    mends: ClassVar[bool] = True
    many_share: ClassVar[Fraction] = Fraction(1, 20)

    def plan(self, task: Task) -> Plan:
        """Choose how many patterns and items with a twentieth each, and find them with the rest.

        How that is split between picking and counting depends on how many items there are.
        """
        steps = [(RANK, RANK_SHARE)] if task.top is None else []
        left = 1 - sum((share for _, share in steps), Fraction(0))
        if task.longest > 1:
            steps.append((MANY, left * self.many_share))
            left -= steps[-1][1]
        return [*steps, (_FIND, left)]

    def way(self, meter: Meter) -> Way:
        """Choose by permute-and-flip, which errs less; not under zCDP, where it would cost four times as much."""
        return "permute-and-flip" if meter.pure else "exponential"

    def widened(self, many: int) -> int:
        """Pick one more where there are few."""
        return many + (many < SMALL)

    def split(self, task: Task, top: int, many: int, meter: Meter, mark: float = inf) -> Split:
        """Spend more on picking where there are pairs to pick; on how many, where nothing else tells."""
        others = self.pairs(task, top, many)
        picks = meter.rate(many + others, meter.left * SEVERAL, self.way(meter))
        together = self.wanted(task, top) >= TOGETHER * many and mark >= CROWDED * task.people
        dense = together and task.people * picks < TELLING
        # Where single items are all that is expected, their basis is split if small ones have less noise.
        apart = not dense and not others and _noisy_in_one(task, many, meter)
        if not apart and many <= (max(self.largest, LARGEST_BASIS) if dense else self.largest):
            return Split(items=ONE, single=True)
        if task.least > 1 and task.longest > 2:
            return ALONE
        each = SEVERAL / (many + others)
        return Split(items=many * each, pairs=others * each, many=others)

    def covered(self, task: Task, items: int, pairs: list[tuple[int, int]], power: int) -> list[Basis]:
        """Cover in blocks where most pairs were picked; not for longer patterns, many of which lie in no block."""
        if self.longest(task) == 2 and len(pairs) >= NEARLY * comb(items, 2):
            return blocks(items, pairs, self.largest, power)
        return super().covered(task, items, pairs, power)

    def sums(self, bases: list[Basis], noisy: Noisy, task: Task) -> Sums:
        """Fit the cells to each other and to the number of people, where it is that of the people in the cells."""
        return fit_up(bases, noisy, task.least, self.longest(task), task.known_people)


def _noisy_in_one(task: Task, many: int, meter: Meter) -> bool:
    """Say whether items have much noise in one basis of all of them, and less in small ones, of about three each.

    An item is a sum over half of the cells of its basis. Noise goes with the number of bases and with one over the
    share of the budget; its square does under zCDP.
    """
    variance = (1 << many - 1) * meter.scale(Cells(((0,),)), meter.left * (1 - ONE))[1]
    power = 2 if meter.pure else 1
    one = Fraction(1 << many - 1) / (1 - ONE) ** power
    return variance * MUCH**2 > task.people**2 and one > 4 * (ceil(many / 3) / (1 - SEVERAL)) ** power
