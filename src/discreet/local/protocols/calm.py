"""CALM: relations from small tables. Every group tells, for a few items at once, which of them people hold.

The items are covered by blocks such that every pair is in one. A block of l items has a table of 2^l cells, asked of a
group of its own; what tables have in common is made to agree, and a pair is read from the tables that have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from ...errors import MisuseError
from .. import Protocol
from ..estimation import Values, balanced
from ..oracle_steps import make
from ..study import Ask, CellOfBlock, Estimate, Partition, Talk, Wanted, check_parts
from .pairs import Ranks, Singles, check_relations, found_by

# Blocks, each with a group of its own, grow with the square of the items; cells double with every item of a block. So
# many items of so many fit the digits of a 64-bit number.
MOST_ITEMS = 128
MOST_WIDTH = 8
MOST_TABLES = 3000
MOST_STEPS = 100


@dataclass(frozen=True, kw_only=True)
class CALM(Protocol):
    """Find the most reliable relations through tables of a few items each.

    Parameters
    ----------
    shares
        Of the people: for the items, and for all tables together.
    how
        What makes a relation: a table of items can only tell what is held ``"together"``.
    items, support
        Among how many of the most frequent items, and of how many relations with the largest support.
    finder
        Which protocol finds the items.
    width
        How many items a table has; ``"predicted"`` takes the number that makes the error of a pair least.
    oracle
        How tables are asked for.
    steps
        How often tables are made to agree, with what is below 0 set right in between.
    """

    shares: tuple[str, str] = ("0.3", "0.7")
    how: Literal["together"] = "together"
    items: int = 64
    support: int = 1600
    finder: Literal["svim", "svim-better"] = "svim"
    width: int | Literal["predicted"] = "predicted"
    oracle: str = "adaptive"
    steps: int = 3

    name: ClassVar[str] = "calm"
    summary: ClassVar[str] = "the most reliable relations, from tables of a few items that are made to agree"
    citation: ClassVar[str] = "Zhang, Wang, Li, He, Chen 2018 (CALM); on relations: Dong et al. 2024, section 7"

    @property
    def bias(self) -> str:
        """Why the counts of items are too low: as of the protocol that finds them."""
        return found_by(self.finder).bias

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        shares = self.parts
        check_parts(self.name, shares)
        check_relations(self, wanted, MOST_ITEMS)
        if isinstance(self.width, int) and not 2 <= self.width <= MOST_WIDTH:
            raise MisuseError(f"width is 2 to {MOST_WIDTH} items, or predicted; {self.width} was given.")
        if isinstance(self.width, int) and len(covering(self.items, min(self.width, self.items))) > MOST_TABLES:
            raise MisuseError(
                f"{self.items} items make over {MOST_TABLES:,} tables of {self.width}: give a larger width, or fewer "
                "items."
            )
        if not 1 <= self.steps <= MOST_STEPS:
            raise MisuseError(f"steps is 1 to {MOST_STEPS:,}; {self.steps} was given.")
        make(self.oracle, wanted.epsilon, 4, single=True)
        found_by(self.finder).check(Wanted(items=wanted.items, top=self.items, epsilon=wanted.epsilon))

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (first, rest) = Partition(), self.parts
        found = yield from found_by(self.finder).items(wanted.items, self.items, wanted.epsilon, line, first)
        singles = Singles.of(found, self.items)
        if len(singles.order) < 2:
            return singles.alone()
        blocks = self._blocks(len(singles.order), wanted.epsilon)
        asks = tuple(
            Ask.of(
                f"table {number}",
                line.next(rest / len(blocks)),
                CellOfBlock(tuple(singles.order[rank] for rank in block)),
                self.oracle,
                wanted.epsilon,
            )
            for number, block in enumerate(blocks.tolist(), 1)
        )
        heard: tuple[Estimate, ...] = yield asks
        tables = np.array([one.values for one in heard])
        agreed = agreeing(tables, blocks, self.steps)
        of = singles.relations("together")
        place = {pair: at for at, pair in enumerate(of.of)}
        totals, variance, seen = (np.zeros(len(of)) for _ in range(3))
        for table, block, one in zip(agreed, blocks.tolist(), heard, strict=True):
            noise = float(one.ask.frequencies.variance(0.0, one.people)) * 2 ** (len(block) - 2)
            for low, high in combinations(range(len(block)), 2):
                both = 1 << low | 1 << high
                at = place[tuple(sorted((singles.order[block[low]], singles.order[block[high]])))]
                value = float(table[(np.arange(len(table)) & both) == both].sum())
                totals[at] += value
                variance[at] += noise + min(max(value, 0.0), 1.0) / max(one.people, 1)
                seen[at] += 1
        facts: dict[str, Any] = {"tables": len(blocks), "items a table": int(blocks.shape[1])}
        return singles.learnt(of, totals / seen, variance / seen**2, self.support, wanted.top, facts)

    def _blocks(self, many: int, epsilon: Fraction) -> Ranks:
        """Return the ranks of the items of each table."""
        if isinstance(self.width, int):
            return covering(many, min(self.width, many))
        error: dict[int, float] = {}
        for width in range(2, min(MOST_WIDTH, many, 6) + 1):
            # As many groups as there are tables, and a pair is the sum of the cells that have both.
            noise, tables = (
                float(make(self.oracle, epsilon, 1 << width, single=True).variance(0.0)),
                covering(many, width),
            )
            if len(tables) <= MOST_TABLES:
                error[width] = noise * 2 ** (width - 2) * len(tables)
        return covering(many, min(error, key=lambda width: (error[width], width)))


def covering(many: int, width: int) -> Ranks:
    """Return sets of `width` numbers below `many` such that every two are together in one, found greedily.

    Each set begins with the first two that are not together yet, and takes on whoever has the most left to meet in it.
    """
    missing = ~np.eye(many, dtype=bool)
    blocks = []
    while missing.any():
        one, other = divmod(int(np.argmax(missing)), many)
        block = [one, other]
        meeting = missing[one].astype(np.int64) + missing[other]
        while len(block) < width:
            meeting[block] = -1
            block.append(int(np.argmax(meeting)))
            meeting += missing[block[-1]]
        missing[np.ix_(block, block)] = False
        blocks.append(sorted(block))
    return np.array(blocks, np.int64)


def agreeing(tables: Values, blocks: Ranks, steps: int) -> Values:
    """Return tables that agree on whatever items they have in common, and have next to nothing below 0.

    A table is a sum of parts, one for every set of its items (its Walsh-Hadamard transform); what a table says about
    some items is made of the parts of their subsets alone. So tables agree if and only if equal sets have equal parts,
    and the nearest tables that do have the mean of each. The part of no items is the total, which is 1.
    """
    width, cells = blocks.shape[1], tables.shape[1]
    numbers = np.arange(cells)
    odd = np.array([[(one & other).bit_count() & 1 for other in range(cells)] for one in range(cells)], bool)
    signs = np.where(odd, -1.0, 1.0)
    # A set of items is known by its ranks in ascending order, as digits; 0 is for none.
    digits = np.where(numbers[:, None] >> np.arange(width) & 1, (blocks + 1)[:, None, :], 0)
    known = (np.sort(digits, axis=2) * (MOST_ITEMS + 1) ** np.arange(width)).sum(2)
    same = np.unique(known, return_inverse=True)[1].reshape(known.shape)
    many = np.bincount(same.ravel())
    for step in range(steps):
        parts = tables @ signs
        parts[:, 0] = 1.0
        mean = np.bincount(same.ravel(), parts.ravel()) / many
        tables = mean[same] @ signs / cells
        if step < steps - 1:
            tables = np.array([balanced(table, 1.0) for table in tables])
    return tables
