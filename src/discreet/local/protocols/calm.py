"""CALM: relations from small tables. Each group of people reports the subset of a few items that a person holds.

Blocks of items cover every pair of items. A block of l items has a table of 2**l cells, with a group of people of its
own. Tables are made consistent on their common items, and a pair is read from all tables that have both of its items.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from ...errors import MisuseError
from ..estimation import Values, balanced
from ..oracle_steps import make
from ..study import Ask, CellQuestion, Estimate, Partition, RoundGenerator, StudyGoal, check_parts
from .pairs import Ranks, RelationProtocol

# A set of up to 8 of 128 items fits into the digits of a 64-bit number (base 129), by which tables are matched.
MOST_ITEMS = 128
MOST_WIDTH = 8
_MAX_PREDICTED_WIDTH = 6  # wider: fewer groups, and the cells of each table double per item; 7 and 8 only if asked for
MOST_TABLES = 3000  # a group each: with more, groups are too small, and rounds too many
# A limit of the setting `steps`, 3 by default: each step costs two transforms of every table.
MOST_STEPS = 100


@dataclass(frozen=True, kw_only=True)
class CALM(RelationProtocol):
    """Find the most reliable relations through tables of a few items each.

    Parameters
    ----------
    shares
        The shares of the people: for the items, and for all tables.
    how
        The kind of relation: a table of items tells only pairs that are held ``"together"``.
    items, support
        The number of the most frequent items that are related, and of relations with the largest support.
    finder
        The protocol that finds the items.
    width
        The number of items of a table; ``"predicted"`` is the number with the least error of a pair.
    oracle
        The oracle of tables.
    steps
        The number of times that tables are made consistent; values below 0 are removed between two times.
    """

    shares: tuple[str, str] = ("0.3", "0.7")
    how: Literal["together"] = "together"
    finder: Literal["svim", "svim-better"] = "svim"
    width: int | Literal["predicted"] = "predicted"
    oracle: str = "adaptive"
    steps: int = 3

    name: ClassVar[str] = "calm"
    summary: ClassVar[str] = "the most reliable relations, from tables of a few items that are made to agree"
    max_items: ClassVar[int] = MOST_ITEMS
    citation: ClassVar[str] = "Zhang, Wang, Li, He, Chen 2018 (CALM); on relations: Dong et al. 2024, section 7"

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        check_parts(self.name, self.parts)
        self.check_items(goal)
        if isinstance(self.width, int):
            if not 2 <= self.width <= MOST_WIDTH:
                raise MisuseError(f"width is 2 to {MOST_WIDTH} items, or predicted; {self.width} was given.")
            if len(cover_pairs(self.items, min(self.width, self.items))) > MOST_TABLES:
                raise MisuseError(
                    f"{self.items} items make over {MOST_TABLES:,} tables of {self.width}: give a larger width, or "
                    "fewer items."
                )
        if not 1 <= self.steps <= MOST_STEPS:
            raise MisuseError(f"steps is 1 to {MOST_STEPS:,}; {self.steps} was given.")
        make(self.oracle, goal.epsilon, 4, single=True)

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        line, (items_share, tables_share) = Partition(), self.parts
        _, singles = yield from self.find_singles(goal, line, items_share)
        if len(singles.order) < 2:
            return singles.result_without_relations()
        blocks = self._select_blocks(len(singles.order), goal.epsilon)
        asks = tuple(
            Ask.of(
                f"table {number}",
                line.next(tables_share / len(blocks)),
                CellQuestion(tuple(singles.order[rank] for rank in block)),
                self.oracle,
                goal.epsilon,
            )
            for number, block in enumerate(blocks.tolist(), 1)
        )
        answers: tuple[Estimate, ...] = yield asks
        tables = make_consistent(np.array([answer.values for answer in answers]), blocks, self.steps)
        relations = singles.relations("together")
        positions = {pair: position for position, pair in enumerate(relations.chains)}
        totals, variance, table_counts = (np.zeros(len(relations)) for _ in range(3))
        for table, block, answer in zip(tables, blocks.tolist(), answers, strict=True):
            # A pair is the sum of the cells with both items: a quarter of all cells.
            noise = float(answer.ask.frequencies.variance(0.0, answer.people)) * 2 ** (len(block) - 2)
            for low, high in combinations(range(len(block)), 2):
                both_bits = 1 << low | 1 << high
                low_item, high_item = sorted((singles.order[block[low]], singles.order[block[high]]))
                position = positions[low_item, high_item]
                value = float(table[(np.arange(len(table)) & both_bits) == both_bits].sum())
                totals[position] += value
                variance[position] += noise + min(max(value, 0.0), 1.0) / max(answer.people, 1)
                table_counts[position] += 1
        facts: dict[str, Any] = {"tables": len(blocks), "items a table": int(blocks.shape[1])}
        values = totals / table_counts
        return singles.build_result(relations, values, variance / table_counts**2, self.support, goal.top, facts)

    def _select_blocks(self, item_count: int, epsilon: Fraction) -> Ranks:
        """Return the ranks of the items of each table."""
        if isinstance(self.width, int):
            return cover_pairs(item_count, min(self.width, item_count))
        errors: dict[int, float] = {}
        for width in range(2, min(item_count, _MAX_PREDICTED_WIDTH) + 1):
            blocks = cover_pairs(item_count, width)
            if len(blocks) <= MOST_TABLES:
                # Each table has a group of 1 / len(blocks) of the people; a pair is the sum of a quarter of its cells.
                noise = float(make(self.oracle, epsilon, 1 << width, single=True).variance(0.0))
                errors[width] = noise * 2 ** (width - 2) * len(blocks)
        return cover_pairs(item_count, min(errors, key=lambda width: (errors[width], width)))


def cover_pairs(item_count: int, width: int) -> Ranks:
    """Return blocks of `width` numbers below `item_count` such that every pair of numbers is in a block, greedily.

    Each block begins with the first pair that is in no block yet, and grows by the number with the most such pairs.
    """
    is_missing = ~np.eye(item_count, dtype=bool)
    blocks = []
    while is_missing.any():
        low_number, high_number = divmod(int(np.argmax(is_missing)), item_count)
        block = [low_number, high_number]
        new_pairs = is_missing[low_number].astype(np.int64) + is_missing[high_number]
        while len(block) < width:
            new_pairs[block] = -1
            block.append(int(np.argmax(new_pairs)))
            new_pairs += is_missing[block[-1]]
        is_missing[np.ix_(block, block)] = False
        blocks.append(sorted(block))
    return np.array(blocks, np.int64)


def make_consistent(tables: Values, blocks: Ranks, steps: int) -> Values:
    """Return tables that agree on their common items, with next to no values below 0.

    A table is a sum of parts, one for each subset of its items (its Walsh-Hadamard transform); its marginal table of
    some items is made of the parts of their subsets alone. So tables agree if and only if equal subsets have equal
    parts, and the nearest tables that agree have the mean of each part. The part of the empty subset is the total, 1.

    Parameters
    ----------
    tables
        The tables, one row each.
    blocks
        The ranks of the items of each table, ascending.
    steps
        The number of times that tables are made consistent.
    """
    width, cell_count = blocks.shape[1], tables.shape[1]
    subsets = np.arange(cell_count)
    signs = np.where(np.bitwise_count(subsets[:, None] & subsets) & 1, -1.0, 1.0)
    # The key of a subset: its ranks in ascending order, as digits in base MOST_ITEMS + 1; 0 is for no item.
    digits = np.where(subsets[:, None] >> np.arange(width) & 1, (blocks + 1)[:, None, :], 0)
    keys = (np.sort(digits, axis=2) * (MOST_ITEMS + 1) ** np.arange(width)).sum(2)
    groups = np.unique(keys, return_inverse=True)[1].reshape(keys.shape)
    group_sizes = np.bincount(groups.ravel())
    for step in range(steps):
        parts = tables @ signs
        parts[:, 0] = 1.0
        mean_parts = np.bincount(groups.ravel(), parts.ravel()) / group_sizes
        tables = mean_parts[groups] @ signs / cell_count
        if step < steps - 1:
            tables = np.array([balanced(table, 1.0) for table in tables])
    return tables
