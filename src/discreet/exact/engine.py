"""Who answers exact questions: an engine holds the data, a mechanism holds only the engine.

The local engine answers on this machine with compiled kernels; others ship the same questions to where the baskets lie.
What they have in common is in `ExactEngine`: order statistics of counts and lists of frequent itemsets are made of four
primitives, and only those differ. Nothing here is private, and nothing here is shown to anyone: `privacy` adds noise
before a number leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import AnyBaskets, Baskets, Codes, starts
from ..baskets.lineage import Lineage
from ..checks import UNBOUNDED
from ..errors import LimitError, MisuseError
from ..kernels.cells import count_cells, count_in_columns
from ..kernels.counting import rows_holding
from ..kernels.truncate import keep_some, number_equal
from ..kernels.truncate_smart import keep_smart, trim_columns
from ..results.itemsets import Itemsets
from .clipping import Family, counted_from
from .query import (
    LOOKED_AT,
    BasketCount,
    BasketQuery,
    BasketsEach,
    Cells,
    Clipped,
    Held,
    Kth,
    KthClipped,
    Largest,
    Query,
    Sizes,
    Supports,
    Truncation,
)
from .rows import RowLayout
from .search import FoundArrays, Progress, SearchBounds, count_columns, count_of_rank, count_sets, search

I64 = NDArray[np.int64]

# The most frequent items have columns from the first pass on: most questions that follow are about them.
_AHEAD = 128


@dataclass(frozen=True, eq=False)
class Listed:
    """The itemsets that more than `bound` baskets hold, and how many hold each."""

    itemsets: Itemsets
    counts: I64
    bound: int


class Engine(ABC):
    """Answers exact questions about baskets over a public list of items, numbered from 0."""

    items: int
    # Which items stand above which, where some do: public. Itemsets that are mined have no two such items.
    lineage: Lineage | None = None

    @abstractmethod
    def answer(self, query: Query) -> I64:
        """Return the answer to a query: its vector, added up over people."""

    @abstractmethod
    def above(self, bound: int, least: int, longest: int, limit: int) -> Listed:
        """Return the itemsets of `least` to `longest` items that more than `bound` baskets hold, at most `limit`.

        Where there are more, the bound is raised to the count of rank limit + 1; and where shorter itemsets are not
        asked for, also to the count of rank `LOOKED_AT` + 1 (or limit + 1 where that is more) over all itemsets of 1 to
        `longest` items. These are order statistics, so the raised bound moves by at most 1 when a basket is added, as
        the given one does.
        """

    def cut(self, truncation: Truncation) -> Engine:
        """Return an engine over the same baskets, each of them cut first."""
        raise MisuseError(f"{type(self).__name__} cannot cut baskets.")


class ExactEngine(Engine):
    """An engine over baskets, made of sums over people, mining, the count of a rank, and cutting.

    Baskets of people who have several are no longer `by_person` once they were cut. Equal baskets are cut apart, as
    they are numbered: one more person then changes which of the others has which cut basket. All of them together stay
    the same but for the new ones, so they may be counted, and people may not.
    """

    by_person = True

    def __init__(self, items: int) -> None:
        self.items = items
        self._largest = lru_cache(maxsize=1)(self._largest_by_size)

    @abstractmethod
    def total(self, query: Query) -> I64:
        """Return the vector of a query that is a sum over people."""

    @abstractmethod
    def search(
        self, wanted: SearchBounds, *, allowed: Codes | None = None, prefix: Codes, progress: Progress | None = None
    ) -> FoundArrays:
        """Find patterns of the codes that are `allowed` among those who hold `prefix`, which every pattern then has.

        Their order: falling count, rising size, then the items compared from the rarest to the most frequent.
        """

    @abstractmethod
    def count_of_rank(self, k: int, least: int, longest: int, work: int) -> int:
        """Return the count of rank k, or of rank `work` over all itemsets of 1 to `longest` items if that is more."""

    def answer(self, query: Query) -> I64:
        """Return the answer to a query: its vector, added up over people, or an order statistic of such."""
        if not self.by_person and not isinstance(query, BasketQuery):
            raise MisuseError(
                f"{type(query).__name__} is about all baskets of a person, and these were cut: whose they are is no "
                "longer told. Ask before cutting, or about baskets one by one, as Supports does."
            )
        match query:
            case Kth(k, least, longest, rank):
                return np.array([self.count_of_rank(k, least, longest, max(rank + 1, k))], np.int64)
            case KthClipped(clipped, k):
                return np.append(np.sort(self.answer(clipped))[::-1], np.int64(0))[[min(k - 1, clipped.cells)]]
            case Largest(size, floor, rank):
                largest, otherwise = self._largest(floor, rank)
                return np.array([largest[size] if size < len(largest) else otherwise], np.int64)
            case _:
                return self.total(query)

    def above(self, bound: int, least: int, longest: int, limit: int) -> Listed:
        """Return the itemsets of `least` to `longest` items that more than `bound` people hold, at most `limit`."""
        bound = max(bound, 0)
        # The miner finds shorter itemsets on the way: they count towards its limit.
        work = limit if least <= 1 else max(limit, LOOKED_AT)
        wanted = SearchBounds(count=bound + 1, least=least, most=longest, limit=work)
        nothing = np.empty(0, np.int32)
        try:
            offsets, codes, counts = self.search(wanted, prefix=nothing)
        except LimitError:
            bound = max(bound, self.count_of_rank(limit + 1, least, longest, work + 1))
            offsets, codes, counts = self.search(replace(wanted, count=bound + 1), prefix=nothing)
        if len(counts) > limit:
            bound = int(counts[limit])
            many = int(np.searchsorted(-counts, -bound))
            offsets, counts = offsets[: many + 1], counts[:many]
            codes = codes[: offsets[-1]]
        return Listed(Itemsets(offsets, codes), counts, bound)

    def _largest_by_size(self, floor: int, rank: int) -> tuple[list[int], int]:
        """Return the largest count of each size that has one over the bound, and the bound: all sizes in one search."""
        listed = self.above(floor - 1, 1, UNBOUNDED, rank)
        bound = max(floor, listed.bound)
        largest = np.full(int(listed.itemsets.sizes.max(initial=0)) + 1, bound, np.int64)
        np.maximum.at(largest, listed.itemsets.sizes, listed.counts)
        return largest.tolist(), bound


class RemoteBaskets(AnyBaskets):
    """Baskets that lie elsewhere, and know who answers questions about them there."""

    @abstractmethod
    def engine(self) -> ExactEngine:
        """Return the engine over these baskets."""


def engine_of(baskets: AnyBaskets) -> ExactEngine:
    """Return the engine that answers questions about baskets: this machine's, or the one where they lie."""
    if isinstance(baskets, RemoteBaskets):
        return baskets.engine()
    if isinstance(baskets, Baskets):
        return LocalEngine(baskets)
    raise MisuseError(f"There is no engine for {type(baskets).__name__}.")


class LocalEngine(ExactEngine):
    """The engine on this machine.

    `copies` says of each basket how many equal ones come before it, where not all of these are here; otherwise they are
    counted.
    """

    def __init__(self, baskets: Baskets, copies: NDArray[np.int32] | None = None) -> None:
        super().__init__(baskets.items)
        baskets.check()
        self.baskets = baskets
        self.lineage = baskets.lineage
        self._rows = RowLayout.plain(
            baskets.offsets, baskets.codes, baskets.items, ahead=_AHEAD, lineage=baskets.lineage
        )
        self._given_copies = copies
        self._cut = lru_cache(maxsize=1)(self._truncated)
        self._copies = lru_cache(maxsize=1)(self._numbered)
        self._family = lru_cache(maxsize=1)(partial(Family, self._rows, baskets.owners))

    def total(self, query: Query) -> I64:
        """Return the vector of a query that is a sum over people."""
        match query:
            case BasketCount():
                return np.array([len(self.baskets)], np.int64)
            case BasketsEach(edges):
                owners = self.baskets.owners
                each = np.ones(len(self.baskets), np.int64) if owners is None else np.diff(owners)
                return counted_from(edges, each)
            case Sizes(longest):
                sizes = np.minimum(self.baskets.sizes, longest)
                return np.bincount(sizes, minlength=longest + 1).astype(np.int64)
            case Supports(itemsets, truncation):
                return self._supports(itemsets, truncation)
            case Held(itemsets, edges, squares):
                return counted_from(edges, self._family(itemsets, squares).loads)
            case Clipped(itemsets, _, root):
                return self._family(itemsets, root).sums(query.weights)
            case Cells(bases):
                return self._cells(bases)
            case _:
                raise MisuseError(f"This engine cannot answer {type(query).__name__}.")

    def search(
        self, wanted: SearchBounds, *, allowed: Codes | None = None, prefix: Codes, progress: Progress | None = None
    ) -> FoundArrays:
        """Find patterns of the codes that are `allowed` among those who hold `prefix`, which every pattern then has."""
        if allowed is None and not len(prefix):
            return search(self._rows, wanted, progress)
        offsets, codes = self.baskets.offsets, self.baskets.codes
        if len(prefix):
            kept = Itemsets(offsets, codes).take(np.flatnonzero(rows_holding(offsets, codes, prefix)))
            offsets, codes = kept.offsets, kept.codes
        free = np.ones(self.items, np.bool_) if allowed is None else np.zeros(self.items, np.bool_)
        if allowed is not None:
            free[allowed] = True
        rows = RowLayout(offsets=offsets, codes=codes, allowed=free, prefix=prefix, lineage=self.lineage)
        return search(rows, wanted, progress)

    def count_of_rank(self, k: int, least: int, longest: int, work: int) -> int:
        """Return the count of rank k, or of rank `work` over all itemsets of 1 to `longest` items if that is more."""
        return count_of_rank(self._rows, k, least, longest, work)

    def cut(self, truncation: Truncation) -> LocalEngine:
        """Return an engine over the same baskets, each of them cut first."""
        rows = self._cut(truncation)
        held = self.baskets
        cut = type(self)(Baskets(rows.offsets, rows.codes, held.vocabulary, lineage=held.lineage))
        cut.by_person = self.by_person and not held.several
        return cut

    def _cells(self, bases: tuple[tuple[int, ...], ...]) -> I64:
        rows = self._rows
        offsets = starts([len(basis) for basis in bases])
        codes = np.array([code for basis in bases for code in basis], np.int32)
        if not rows.columns.fit(len(codes)):
            return count_cells(rows.offsets, rows.codes, self.items, offsets, codes)[1]
        bitmaps, places = rows.columns.of(codes)
        return count_in_columns(bitmaps, rows.people, offsets, places)

    def _supports(self, itemsets: Itemsets, truncation: Truncation | None) -> I64:
        if truncation is None:
            return count_sets(self._rows, itemsets.offsets, itemsets.codes)
        sets = truncation.sets
        if sets is not None and truncation.scores is not None and sets.same(itemsets):
            # Counted are the very candidates that decide what stays. A basket with no more of their items than it may
            # keep keeps every candidate it holds: only the others have to be cut, and only these items looked at.
            items = np.unique(sets.codes)
            if len(items) <= truncation.longest:
                return count_sets(self._rows, sets.offsets, sets.codes)
            if sets.sizes[0] > 1 and self._rows.columns.fit(2 * len(items)):
                return self._trimmed(truncation, sets, truncation.scores, items)
        return count_sets(self._cut(truncation), itemsets.offsets, itemsets.codes)

    def _trimmed(self, truncation: Truncation, sets: Itemsets, scores: I64, items: Codes) -> I64:
        """Count the candidates of a truncation by columns from which the items that are cut off were taken out."""
        rows, longest, key = self._rows, truncation.longest, truncation.key
        columns, places = rows.columns.of(items)
        kept = columns[places]
        trim_columns(
            rows.offsets,
            rows.codes,
            self.items,
            longest,
            key,
            sets.offsets,
            sets.codes,
            scores,
            kept,
            self._copies(key),
        )
        return count_columns(kept, sets.offsets, np.searchsorted(items, sets.codes).astype(np.int32))

    def _numbered(self, key: int) -> NDArray[np.int32]:
        """Say of each basket how many equal ones come before it: they keep different items then.

        So what cutting loses of an item averages out over them.
        """
        if self._given_copies is not None:
            return self._given_copies
        return number_equal(self._rows.offsets, self._rows.codes, key)

    def _truncated(self, truncation: Truncation) -> RowLayout:
        rows, longest, key = self._rows, truncation.longest, truncation.key
        if truncation.sets is None or truncation.scores is None:
            # The numbering of items that were read from the data depends on everyone: their labels do not.
            names = self.baskets.vocabulary.identities
            offsets, codes = keep_some(rows.offsets, rows.codes, longest, key, names, self._copies(key))
        else:
            sets, scores = truncation.sets, truncation.scores
            offsets, codes = keep_smart(
                rows.offsets, rows.codes, self.items, longest, key, sets.offsets, sets.codes, scores, self._copies(key)
            )
        return RowLayout.plain(offsets, codes, self.items, lineage=self.lineage)
