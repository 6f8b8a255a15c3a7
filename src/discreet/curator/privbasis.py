"""Patterns from the cells of a few bases (Li, Qardaji, Su, Cao 2012).

Instead of paying for every itemset, it pays for some items and pairs, covers them with bases of a few items each, and
counts in which cell of each basis people are. The count of every itemset within a basis follows from its cells. The
proof is in `privbasis.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, count
from math import ceil, comb, isqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import starts
from ..errors import MisuseError
from ..exact.engine import Engine
from ..exact.itemsets import Itemsets
from ..exact.query import LARGEST_BASIS, Cells, Kth, Supports
from ..kernels.cells import supersets
from ..privacy.budget import Budget, exact, shown
from ..privacy.meter import Candidates, Meter, Noisy
from ..report.text import number_of
from .choosing import check_top
from .cover import Basis, cover, groups
from .mechanism import Answers, Asked, Found, Mechanism, Plan, from_tuples
from .universe import Universe

# No more items than this are picked: all pairs of them are counted. And no more pairs: covering them takes seconds, and
# of ten times as many hours.
ITEMS = 1_000
PAIRS = 2_000
# A threshold is taken for the count of one of the first so many patterns, told apart in steps of a quarter.
RANKS = 4_096
# Scores are told apart down to where one is chosen about exp(20) times less often than the best could be.
FAR = 20

_RANK = "choosing how many patterns"
_MANY = "choosing how many items"
_PICK = "choosing items and pairs"
_COUNT = "counting the cells"

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PrivBasis(Mechanism):
    """Settings of `privbasis`.

    Parameters
    ----------
    spare
        Items and pairs are picked for so many times the patterns asked for (the article's eta).
    largest
        How many items a basis has at most, and so a pattern.
    """

    spare: Fraction = Fraction(11, 10)
    largest: int = 12

    name: ClassVar[str] = "privbasis"
    summary: ClassVar[str] = (
        "Picks items and pairs, covers them with small sets of items, and counts with noise who holds which part of "
        "each set."
    )
    citation: ClassVar[str] = (
        "N. Li, W. Qardaji, D. Su, J. Cao. PrivBasis: frequent itemset mining with differential privacy. "
        "Proceedings of the VLDB Endowment 5, 2012."
    )
    answers: ClassVar[tuple[Answers, ...]] = ("top", "threshold")

    def __post_init__(self) -> None:
        object.__setattr__(self, "spare", exact(self.spare, "spare"))
        if not 1 <= self.spare <= 2:
            raise MisuseError(f"spare lies between 1 and 2; {shown(self.spare)} was given.")
        if not 2 <= self.largest <= LARGEST_BASIS:
            raise MisuseError(f"largest lies between 2 and {LARGEST_BASIS}; {self.largest} was given.")

    def check(self, asked: Asked, budget: Budget) -> None:
        """Refuse patterns that no basis can hold, and more of them than there are."""
        super().check(asked, budget)
        if asked.least > self.largest:
            raise MisuseError(
                f"privbasis finds patterns of at most {self.largest} items, and lengths asks for {asked.least} or "
                "more: ask for shorter ones, or another mechanism."
            )
        if asked.top is not None:
            check_top(asked)

    def plan(self, asked: Asked) -> Plan:
        """Split as the article does: one tenth for the number of items, four for picking, five for counting.

        Where patterns are single items there is no such number to find, and without counts picking them is all.
        """
        steps = [(_MANY, Fraction(1, 10)), (_PICK, Fraction(4, 10)), (_COUNT, Fraction(5, 10))]
        if asked.longest == 1:
            steps = [(_PICK, Fraction(4, 9)), (_COUNT, Fraction(5, 9))]
        if asked.top is None:
            rank = Fraction(1, 20)
            return [(_RANK, rank), *((name, share * (1 - rank)) for name, share in steps)]
        if asked.longest == 1 and not asked.counts:
            return [(_PICK, Fraction(1))]
        return steps

    def run(self, engine: Engine, asked: Asked, meter: Meter) -> Found:
        """Choose how many items, which items, which pairs; cover them; count the cells; add them up."""
        shares = dict(self.plan(asked))
        top = asked.top if asked.top is not None else self.choose_rank(engine, asked, meter, shares[_RANK])
        many = self.choose_many(engine, asked, top, meter, shares[_MANY]) if asked.longest > 1 else 0
        return self.from_items(engine, asked, top, many, meter)

    def longest(self, asked: Asked) -> int:
        """Return how many items a pattern has at most."""
        return min(asked.longest, self.largest)

    def wanted(self, asked: Asked, top: int) -> int:
        """Return how many patterns the items and pairs are picked for."""
        return max(1, Universe(asked.items, asked.least, self.longest(asked)).up_to(ceil(self.spare * top)))

    def choose_rank(self, engine: Engine, asked: Asked, meter: Meter, share: Fraction) -> int:
        """Choose the rank at which the counts of patterns come closest to the threshold."""
        longest = self.longest(asked)
        most = Universe(asked.items, asked.least, longest).up_to(RANKS)
        ranks = [1]
        while ranks[-1] < most:
            ranks.append(min(max(ranks[-1] + 1, ranks[-1] * 5 // 4), most))
        threshold = asked.count or 0
        # Where a score is so far below 0 that it is chosen next to never, it makes no difference how far: counts that
        # far below the threshold are taken for more than they are, and need not be mined. The later ranks for a little
        # less, so that where no pattern comes near the threshold, few are chosen.
        rate = meter.rate(1, share, "exponential", monotone=False)
        lowest = np.array([max(0, threshold - ceil((FAR + Fraction(place, 2)) / rate)) for place in range(len(ranks))])
        listed = engine.above(int(lowest[-1]), asked.least, longest, RANKS)
        # Each count is an order statistic over the public universe, and 0 where fewer occur (E11).
        counts = np.full(ranks[-1], listed.bound)
        counts[: len(listed.counts)] = listed.counts
        scores = -np.abs(np.maximum(counts[np.array(ranks) - 1], lowest) - threshold)
        return ranks[meter.choose(_RANK, Candidates(scores, monotone=False), 1, share).candidates[0]]

    def choose_many(self, engine: Engine, asked: Asked, top: int, meter: Meter, share: Fraction) -> int:
        """Choose how many items to pick: the rank at which their counts come closest to that of the last pattern.

        So many patterns need so many items at least, and where single items are patterns too, no more than one each.
        """
        longest = self.longest(asked)
        wanted = self.wanted(asked, top)
        mark = asked.count if asked.count is not None else engine.answer(Kth(wanted, asked.least, longest))[0]
        most = min(asked.items, ITEMS, wanted * (1 if asked.least == 1 else longest))
        lengths = range(asked.least, longest + 1)
        least = next(many for many in count(1) if many >= most or sum(comb(many, size) for size in lengths) >= top)
        falling = np.sort(_held(engine, asked))[::-1]
        scores = -np.abs(falling[least - 1 : most] - mark)
        return least + meter.choose(_MANY, Candidates(scores, monotone=False), 1, share).candidates[0]

    def pairs(self, asked: Asked, top: int, many: int) -> int:
        """Return how many pairs are picked beside so many items.

        Where single items are patterns, as many as patterns are missing, fewer where that is many, as longer patterns
        come with them: the article's number. Where they are not, enough for so many pairs, or for longer patterns that
        share pairs.
        """
        if many <= self.largest or asked.longest == 1:
            return 0
        wanted, most = self.wanted(asked, top), min(comb(many, 2), PAIRS)
        if asked.least > 1:
            return min((asked.least - 1) * wanted, most)
        missing = max(0, wanted - many)
        return min(missing, isqrt(missing * many), most)

    def from_items(self, engine: Engine, asked: Asked, top: int, many: int, meter: Meter) -> Found:
        """Pick so many items and their pairs with four ninths of what is left, and count with the rest.

        Single items are counted in groups; how many of them follows from what was asked.
        """
        longest = self.longest(asked)
        if longest == 1:
            many = top if asked.top is not None else self.wanted(asked, top)
        others = self.pairs(asked, top, many)
        alone = longest == 1 and asked.top is not None and not asked.counts
        each = meter.left * (1 if alone else Fraction(4, 9)) / (many + others)
        held = _held(engine, asked)
        picked = sorted(meter.choose(_PICK, Candidates(held), many, many * each).candidates)
        facts = {"patterns expected": top} if asked.top is None else {}
        facts |= {"items picked": many, "pairs picked": others}
        if alone:
            return Found(itemsets=from_tuples([(item,) for item in picked]), estimates=None, facts=facts)
        pairs: list[tuple[int, int]] = []
        if others:
            every = list(combinations(range(many), 2))
            counts = engine.answer(Supports(from_tuples([(picked[one], picked[other]) for one, other in every])))
            chosen = meter.choose(_PICK, Candidates(counts), others, others * each)
            pairs = sorted(every[place] for place in chosen.candidates)
        power = 2 if meter.pure else 1
        if longest == 1:
            bases = groups(picked, self.largest, power)
        elif many <= self.largest:
            bases = [tuple(picked)]
        else:
            bases = [tuple(picked[place] for place in basis) for basis in cover(many, pairs, self.largest, power)]
        noisy = meter.count(_COUNT, engine, Cells(tuple(bases)), meter.left)
        return _found(bases, noisy, asked, longest, facts | {"bases counted": len(bases)})


def _held(engine: Engine, asked: Asked) -> I64:
    """Return how many people hold each item."""
    return engine.answer(Supports(Itemsets(np.arange(asked.items + 1), np.arange(asked.items, dtype=np.int32))))


def _found(bases: list[Basis], noisy: Noisy, asked: Asked, longest: int, facts: dict[str, int]) -> Found:
    """Add up the cells, and keep the patterns that were asked for."""
    itemsets, estimates, margins = add_up(bases, noisy, asked.least, longest)
    order = np.lexsort((itemsets.sizes, -estimates))
    if asked.top is not None:
        order = order[: asked.top]
    elif asked.count is not None:
        order = order[estimates[order] >= asked.count]
    kept, values, margins = itemsets.take(order), estimates[order], margins[order]
    notes = [_told(facts)]
    if asked.top is not None and len(order) < asked.top:
        notes.append(f"No more than {len(order):,} itemsets of the asked lengths lie within the bases.")
    if not asked.counts:
        return Found(itemsets=kept, estimates=None, facts=facts, notes=tuple(notes))
    notes.append(
        "The patterns were chosen by the same noisy counts that are shown: those of the last ones tend to be too high."
    )
    return Found(
        itemsets=kept, estimates=values, low=values - margins, high=values + margins, facts=facts, notes=tuple(notes)
    )


def _told(facts: dict[str, int]) -> str:
    items, pairs, bases = facts["items picked"], facts["pairs picked"], facts["bases counted"]
    also = f" and {number_of(pairs, 'pair')} of them" if pairs else ""
    were = "was" if items == 1 and not pairs else "were"
    return f"{number_of(items, 'item')}{also} {were} picked and covered with {number_of(bases, 'basis', 'bases')}."


def add_up(bases: list[Basis], noisy: Noisy, least: int, longest: int) -> tuple[Itemsets, F64, F64]:
    """Return all itemsets of these lengths within the bases, their estimated counts and the margins of those.

    `noisy` has the cells of the bases end to end. An itemset that lies in several bases has an estimate from each;
    they are averaged with weights of one over their variances, which go with the number of cells that are added up.
    """
    sums = [supersets(cells) for cells in np.split(noisy.values, np.cumsum([1 << len(basis) for basis in bases])[:-1])]
    codes, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    columns = [np.empty((3, 0))]
    for size in range(least, min(longest, max(map(len, bases))) + 1):
        rows, values, cells = [], [], []
        for basis, of_masks in zip(bases, sums, strict=True):
            places, masks = _subsets(len(basis), size)
            rows.append(np.array(basis, np.int32)[places])
            values.append(of_masks[masks])
            cells.append(np.full(len(masks), 2.0 ** (len(basis) - size)))
        different, where = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
        terms = 1 / np.concatenate(cells)
        weight, weighted, cubes = (
            np.bincount(where.reshape(-1), part) for part in (terms, terms * np.concatenate(values), terms**3)
        )
        codes.append(different.ravel())
        sizes.append(np.full(len(different), size))
        columns.append(np.array((weighted / weight, 1 / weight, cubes / weight**2)))
    estimates, variances, tails = np.concatenate(columns, axis=1)
    # The 95 % point of a sum of few Laplace variables lies further out than that of a normal one: by the first term of
    # Cornish and Fisher, with the excess kurtosis of the sum, 3 for a single one.
    normal = 1.96
    points = normal + (normal**3 - 3 * normal) / 24 * (3 * tails if noisy.scale is not None else 0)
    margins = points * np.sqrt(float(noisy.variance) * variances)
    return Itemsets(starts(np.concatenate(sizes)), np.concatenate(codes)), estimates, margins


@lru_cache(maxsize=256)
def _subsets(many: int, size: int) -> tuple[I64, I64]:
    """Return all choices of `size` places out of `many`, one a row, and the mask of each."""
    places = np.array(list(combinations(range(many), size)), np.int64).reshape(-1, size)
    return places, (1 << places).sum(axis=1)
