"""What `privbasis` and `bases` share: how many items, which items and pairs, bases that cover them, and their cells.

Instead of paying for every itemset, they pay for some items and pairs, cover them with bases of a few items each, and
count in which cell of each basis people are. The count of every itemset within a basis follows from its cells.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, count
from math import ceil, comb, inf, isqrt, sqrt
from typing import ClassVar

import numpy as np

from ...errors import MisuseError, told
from ...exact.query import LARGEST_BASIS, Cells, Kth, Supports
from ...privacy.budget import Budget, shown
from ...privacy.meter import Meter, Noisy, Way, normal_point
from ...privacy.sealed import SealedAnswer, SealedEngine
from ...report.text import number_of
from ...results.itemsets import Itemsets
from ..mechanism import Answers, Found, Mechanism, Task
from .basis_cover import Basis, cover, groups
from .cell_estimates import F64, I64, NORMAL, Sums
from .clipped_counting import CHOSEN, Tally, falling
from .itemset_choice import check_top
from .winners import recount

# No more items than this are picked: all pairs of them are counted. And no more pairs: covering them takes seconds, and
# of ten times as many hours.
ITEMS = 1_000
PAIRS = 2_000
# A threshold is taken for the count of one of the first so many patterns, told apart in steps of a quarter.
RANKS = 4_096
# Scores are told apart down to where one is chosen about exp(20) times less often than the best could be.
FAR = 20

RANK = "choosing how many patterns"
MANY = "choosing how many items"
PICK = "choosing items and pairs"
PAIR = "choosing how many pairs"
COUNT = "counting the cells"
RANK_SHARE = Fraction(1, 20)
LENGTHENED = (
    "The patterns were chosen by the same noisy counts that are shown: intervals of the last ones are longer for it."
)
# Whatever lies within so many deviations of the last one might have been shown in its place; and a third of the excess
# kurtosis of sums of cells, about.
REACH, TAILS = 4.0, 0.1
# What is shown is counted once more with so much of what is left for the cells, where that leaves less than so large a
# part of the error of sums of cells.
AGAIN, SURER = Fraction(1, 2), 0.8


@dataclass(frozen=True, kw_only=True)
class Split:
    """Shares of what is left: of picking items, of choosing how many pairs, and of picking these; the rest counts.

    `many` is how many pairs are picked where that is not chosen; `single` says that the items are one basis.
    """

    items: Fraction
    single: bool = False
    pairs: Fraction = Fraction(0)
    many: int = 0
    choosing: Fraction = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class Basing(Mechanism):
    """What both mechanisms are but for how they pick, how many items, and how they order what they found.

    Parameters
    ----------
    spare
        Items and pairs are picked for so many times the patterns asked for (the article's eta).
    largest
        How many items a basis has at most, and so a pattern.
    """

    spare: Fraction = Fraction(11, 10)
    largest: int = 12

    answers: ClassVar[tuple[Answers, ...]] = ("top", "threshold")
    # Whether a list of the top is filled up, and estimates are made to agree: the article does neither.
    mends: ClassVar[bool] = False
    # The share of choosing how many items to pick.
    many_share: ClassVar[Fraction]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.spare <= 2:
            raise MisuseError(f"spare lies between 1 and 2; {shown(self.spare)} was given.")
        if not 2 <= self.largest <= LARGEST_BASIS:
            raise MisuseError(f"largest lies between 2 and {LARGEST_BASIS}; {self.largest} was given.")

    @abstractmethod
    def way(self, meter: Meter) -> Way:
        """Return how items, pairs and numbers of them are chosen."""

    @abstractmethod
    def widened(self, many: int) -> int:
        """Return how many items are picked where the choice was so many."""

    @abstractmethod
    def split(self, task: Task, top: int, many: int, meter: Meter, mark: float = inf) -> Split:
        """Return on what is spent what is left once it is known how many items to pick.

        `mark` is about what the last pattern counts; infinite where that is not known.
        """

    @abstractmethod
    def sums(self, bases: list[Basis], noisy: Noisy, task: Task) -> Sums:
        """Return what the cells say about the itemsets of the asked lengths within the bases."""

    def covered(self, task: Task, items: int, pairs: list[tuple[int, int]], power: int) -> list[Basis]:
        """Return bases that hold each of the items 0, 1, 2 … and each of the pairs of them."""
        return cover(items, pairs, self.largest, power)

    def check(self, task: Task, budget: Budget) -> None:
        """Refuse patterns that no basis can hold, and more of them than there are."""
        super().check(task, budget)
        if task.least > self.largest:
            raise MisuseError(
                told(
                    "{name} finds patterns of at most {largest} items, and {lengths} asks for {asked} or more: "
                    "ask for shorter ones, or another mechanism.",
                    name=self.name,
                    largest=self.largest,
                    asked=task.least,
                )
            )
        if task.top is not None:
            check_top(task)

    def run(self, engine: SealedEngine, task: Task, meter: Meter) -> Found:
        """Choose how many items, which items, which pairs; cover them; count the cells; add them up."""
        top = task.top if task.top is not None else self.choose_rank(engine, task, meter, RANK_SHARE)
        many = self.choose_many(engine, task, top, meter, meter.left * self.many_share) if task.longest > 1 else 0
        return self.from_items(engine, task, top, many, meter)

    def longest(self, task: Task) -> int:
        """Return how many items a pattern has at most."""
        return min(task.longest, self.largest)

    def wanted(self, task: Task, top: int) -> int:
        """Return how many patterns the items and pairs are picked for."""
        return max(1, task.universe(self.longest(task)).up_to(ceil(self.spare * top)))

    def choose_rank(self, engine: SealedEngine, task: Task, meter: Meter, share: Fraction) -> int:
        """Choose the rank at which the counts of patterns come closest to the threshold."""
        longest = self.longest(task)
        most = task.universe(longest).up_to(RANKS)
        ranks = [1]
        while ranks[-1] < most:
            ranks.append(min(max(ranks[-1] + 1, ranks[-1] * 5 // 4), most))
        threshold = task.count or 0
        # Where a score is so far below 0 that it is chosen next to never, it makes no difference how far: counts that
        # far below the threshold are taken for more than they are, and need not be mined. The later ranks for a little
        # less, so that where no pattern comes near the threshold, few are chosen.
        rate = meter.rate(1, share, self.way(meter), monotone=False)
        lowest = np.array([max(0, threshold - ceil((FAR + Fraction(place, 2)) / rate)) for place in range(len(ranks))])
        listed = engine.above(int(lowest[-1]), task.least, longest, RANKS)
        # Each count is an order statistic over the public universe, and 0 where fewer occur (E11).
        scores = listed.falling(ranks[-1]).take(np.array(ranks) - 1).at_least(lowest).near(threshold)
        return ranks[meter.choose(RANK, scores, 1, share, self.way(meter))[0]]

    def choose_many(self, engine: SealedEngine, task: Task, top: int, meter: Meter, share: Fraction) -> int:
        """Choose how many items to pick: the rank at which their counts come closest to that of the last pattern.

        So many patterns need so many items at least, and where single items are patterns too, no more than one each.
        """
        mark = self._mark(engine, task, top)
        factor = 1 if task.least == 1 else self.longest(task)
        most = min(task.items, ITEMS, self.wanted(task, top) * factor)
        least = fewest_items(task.least, self.longest(task), top, most)
        scores = _held(engine, task).falling().take(range(least - 1, most)).near(mark)
        chosen = meter.choose(MANY, scores, 1, share, self.way(meter))[0]
        return min(self.widened(least + chosen), task.items)

    def pairs(self, task: Task, top: int, many: int) -> int:
        """Return how many pairs are picked beside so many items.

        Where single items are patterns, as many as patterns are missing, fewer where that is many, as longer patterns
        come with them: the article's number. Where they are not, enough for so many pairs, or for longer patterns that
        share pairs.
        """
        if task.longest == 1:
            return 0
        wanted, most = self.wanted(task, top), min(comb(many, 2), PAIRS)
        if task.least > 1:
            return min((task.least - 1) * wanted, most)
        missing = max(0, wanted - many)
        return min(missing, isqrt(missing * many), most)

    def from_items(
        self, engine: SealedEngine, task: Task, top: int, many: int, meter: Meter, mark: float = inf
    ) -> Found:
        """Pick so many items and pairs of them, and count the cells of bases that cover them, with all that is left.

        Single items are counted in groups; how many of them follows from what was asked. `mark` is about what the last
        pattern counts, where that is known.
        """
        longest = self.longest(task)
        if longest == 1:
            many = top if task.top is not None else self.wanted(task, top)
        split, left, way = self.split(task, top, many, meter, mark), meter.left, self.way(meter)
        alone = longest == 1 and task.top is not None and not task.counts
        share = left if alone else left * split.items
        picked = sorted(meter.choose(PICK, _held(engine, task), many, share, way))
        facts = {"patterns expected": top} if task.top is None else {}
        facts |= {"items picked": many, "pairs picked": 0}
        if alone:
            return Found(itemsets=Itemsets.of([(item,) for item in picked]), estimates=None, facts=facts)
        pairs: list[tuple[int, int]] = []
        every: list[tuple[int, int]] = []
        if split.pairs:
            every = list(combinations(range(many), 2))
            sets = Itemsets.of([(picked[one], picked[other]) for one, other in every])
            apart = np.flatnonzero(task.antichains(sets))
            every, sets = [every[place] for place in apart], sets.take(apart)
        if every:
            counts = engine.answer(Supports(sets))
            others = min(split.many, len(every))
            if split.choosing:
                others = self._choose_pairs(engine, task, top, counts, meter, left * split.choosing)
            chosen = meter.choose(PICK, counts, others, left * split.pairs, way)
            pairs = sorted(every[place] for place in chosen)
            facts["pairs picked"] = others
        power = 2 if meter.pure else 1
        if longest == 1:
            bases = groups(picked, self.largest, power)
        elif split.single:
            bases = [tuple(picked)]
        else:
            bases = [tuple(picked[place] for place in basis) for basis in self.covered(task, many, pairs, power)]
        noisy = meter.count(COUNT, engine, Cells(tuple(bases)), meter.left - self._again(bases, task, top, meter))
        found = self._found(bases, noisy, task, facts | {"bases counted": len(bases)}, engine, meter)
        return _filled(found, self.longest(task), task, meter) if self.mends and task.top is not None else found

    def _again(self, bases: list[Basis], task: Task, top: int, meter: Meter) -> Fraction:
        """Return the share that counts once more, each by itself, what is shown: none where cells are about as sure."""
        again = meter.left * AGAIN
        if not (self.mends and task.counts):
            return Fraction(0)
        cells = Cells(tuple(bases))
        margins = (
            self.sums(bases, Noisy(np.zeros(cells.cells, np.int64), *meter.scale(cells, meter.left)), task)
            .patterns(task)
            .margins
        )
        summed = float(np.median(np.sort(margins)[-top:])) / NORMAL if len(margins) else 0.0
        fresh = sqrt(meter.scale(Supports(Itemsets.singles(max(top, 1))), again)[1])
        return again if fresh < SURER * summed else Fraction(0)

    def _choose_pairs(
        self, engine: SealedEngine, task: Task, top: int, counts: SealedAnswer, meter: Meter, share: Fraction
    ) -> int:
        """Choose how many pairs to pick: the rank at which their counts come closest to that of the last pattern."""
        fewest = comb(fewest_items(task.least, self.longest(task), top, task.items) - 1, 2)
        most = min(len(counts), PAIRS, self.wanted(task, top) * comb(self.longest(task), 2))
        least = min(max(fewest, 1), most)
        scores = counts.falling().take(range(least - 1, most)).near(self._mark(engine, task, top))
        return least + meter.choose(PAIR, scores, 1, share, self.way(meter))[0]

    def _mark(self, engine: SealedEngine, task: Task, top: int) -> int | SealedAnswer:
        """Return the count of the last pattern that is looked for: the threshold, or an order statistic."""
        if task.count is not None:
            return task.count
        return engine.answer(Kth(self.wanted(task, top), task.least, self.longest(task)))

    def _found(
        self,
        bases: list[Basis],
        noisy: Noisy,
        task: Task,
        facts: dict[str, int],
        engine: SealedEngine,
        meter: Meter,
    ) -> Found:
        """Add up the cells, and keep the patterns that were asked for; count them once more with what is left."""
        sums = self.sums(bases, noisy, task).patterns(task)
        order = np.lexsort((sums.itemsets.sizes, -sums.worth))
        if task.top is not None:
            order = order[: task.top]
        elif task.count is not None:
            order = order[: sums.over(order, task.count)]
        kept, values, margins = sums.itemsets.take(order), sums.estimates[order], sums.margins[order]
        notes = [_told(facts)]
        if task.top is not None and len(order) < task.top and not self.mends:
            notes.append(f"No more than {len(order):,} itemsets of the asked lengths lie within the bases.")
        if not task.counts:
            return Found(itemsets=kept, estimates=None, facts=facts, notes=tuple(notes))
        if meter.left:
            spare = Itemsets.of([(item,) for item in bases[0]])
            counted = recount(engine, task, meter, Tally(kept, values, margins / NORMAL), spare)
            return replace(counted, facts=dict(facts), notes=(*notes, *counted.notes))
        notes.append(LENGTHENED if self.mends else CHOSEN)
        if self.mends:
            margins = margins * lengthened(sums.worth, sums.margins / NORMAL, order, pure=noisy.scale is not None)
        # An interval stays where it was: it is that of an estimate that errs to both sides.
        shown = falling(kept, values, float(task.crowd)) if self.mends else values
        return Found(
            itemsets=kept,
            estimates=shown,
            low=np.minimum(values - margins, shown),
            high=np.maximum(values + margins, shown),
            facts=facts,
            notes=tuple(notes),
        )


def lengthened(worth: F64, deviations: F64, shown: I64, *, pure: bool) -> F64:
    """Return how many times longer the margins of those shown have to be, as the noise that is shown chose them.

    What lies far above the last one was shown whatever its noise: nothing is changed there. Of M itemsets within reach
    of the last one R are shown: those have margins of a confidence of 1 - 5 % R / M (Benjamini, Yekutieli 2005). The
    noise of sums of cells is not independent, which they suppose: tests look at ties.
    """
    factors = np.ones(len(shown))
    if not len(shown):
        return factors
    near = np.abs(worth - worth[shown[-1]]) <= REACH * deviations
    reached = near[shown]
    many, chosen = int(near.sum()), int(reached.sum())
    if chosen:
        point = normal_point(0.05 * chosen / many)
        # A sum of some Laplace variables lies further out: by the first term of Cornish and Fisher.
        further = TAILS * (point**3 - 3 * point) / 8 if pure else 0.0
        factors[reached] = max(1.0, (point + further) / NORMAL)
    return factors


def _filled(found: Found, longest: int, task: Task, meter: Meter) -> Found:
    """Return as many patterns as are asked for: where too few lie within the bases, others are drawn.

    Nothing is known about their counts: they are shown as 0, give or take everyone.
    """
    universe = task.universe(longest)
    missing = universe.up_to(task.top or 0) - len(found.itemsets)
    if missing <= 0:
        return found
    listed = found.itemsets.tuples()
    itemsets = Itemsets.of([*listed, *universe.others(listed, missing, meter.below)])
    drawn = number_of(missing, "pattern that lies in no basis was", "patterns that lie in no basis were")
    notes = (*found.notes, f"{drawn} drawn at random.")
    if found.estimates is None or found.low is None or found.high is None:
        return replace(found, itemsets=itemsets, notes=notes)
    nothing, everyone = np.zeros(missing), np.full(missing, float(task.crowd))
    columns = ((found.estimates, nothing), (found.low, nothing), (found.high, everyone))
    estimates, low, high = (np.concatenate(column) for column in columns)
    return replace(found, itemsets=itemsets, estimates=estimates, low=low, high=high, notes=notes)


def fewest_items(least: int, longest: int, top: int, most: int) -> int:
    """Return how many items have so many itemsets at least; no more than `most`."""
    lengths = range(least, longest + 1)
    return next(many for many in count(1) if many >= most or sum(comb(many, size) for size in lengths) >= top)


def _held(engine: SealedEngine, task: Task) -> SealedAnswer:
    """Return how many people hold each item."""
    return engine.answer(Supports(Itemsets.singles(task.items)))


def _told(facts: dict[str, int]) -> str:
    items, pairs, bases = facts["items picked"], facts["pairs picked"], facts["bases counted"]
    also = f" and {number_of(pairs, 'pair')} of them" if pairs else ""
    were = "was" if items == 1 and not pairs else "were"
    return f"{number_of(items, 'item')}{also} {were} picked and covered with {number_of(bases, 'basis', 'bases')}."
