"""Engines: an engine holds the data and answers exact queries; a mechanism holds only the engine.

The local engine answers on this machine with compiled kernels; remote engines ship queries to the baskets.
`ExactEngine` is their common part: order statistics and lists of frequent itemsets are made of four primitives, and
only these differ. No answer here is private, and no answer here is shown to a user: `privacy` adds noise before
release.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from ..baskets import AnyBaskets, Baskets, Codes, Lineage, starts
from ..checks import MAX_LENGTH
from ..errors import LimitError, MisuseError
from ..kernels import count_cells, count_in_columns, keep_smart, keep_some, number_equal, rows_holding, trim_columns
from ..results import Itemsets
from ._clipping import Family, count_bins
from ._query import (
    MAX_RANKED,
    BasketCount,
    BasketQuery,
    BasketsEach,
    Cells,
    ClippedCounts,
    Kth,
    KthClipped,
    Largest,
    LoadHistogram,
    Query,
    Sizes,
    Supports,
    Truncation,
)
from ._rows import RowLayout
from ._search import FoundArrays, Progress, SearchBounds, count_columns, count_of_rank, count_sets, search

I64 = NDArray[np.int64]

# The number of most frequent items with columns from the first pass on: most later queries are about them. Larger: a
# longer first pass; smaller: more passes for later queries.
_COLUMNS_AHEAD = 128


@dataclass(frozen=True, eq=False)
class FrequentSets:
    """The itemsets with more than `bound` holders, with their counts."""

    itemsets: Itemsets
    counts: I64
    bound: int


class Engine(ABC):
    """An engine that answers exact queries about baskets over a public list of items, numbered from 0."""

    items: int
    # The public lineage of items, if any. Mined itemsets contain no item together with its ancestor.
    lineage: Lineage | None = None

    @abstractmethod
    def answer(self, query: Query) -> I64:
        """Return the answer to a query: its vector, added up over people."""

    @abstractmethod
    def above(self, bound: int, min_length: int, longest: int, limit: int) -> FrequentSets:
        """Return the at most `limit` itemsets of `min_length` to `longest` items with more than `bound` holders.

        With more itemsets, the bound is raised to the count of rank limit + 1. If shorter itemsets are not requested,
        it is also raised to the count of rank max(`MAX_RANKED`, limit) + 1 over all itemsets of 1 to `longest` items.
        Both are order statistics, so that the raised bound changes by at most 1 when a basket is added.
        """

    def cut(self, truncation: Truncation) -> Engine:
        """Return an engine over truncated baskets."""
        raise MisuseError(f"{type(self).__name__} cannot cut baskets.")


class ExactEngine(Engine):
    """An engine over baskets, made of sums over people, mining, the count of a rank, and truncation.

    Truncated baskets of people with several baskets are no longer `by_person`. Equal baskets are truncated differently,
    by their number among equal baskets: one more person then changes the assignment of truncated baskets to people. The
    multiset of truncated baskets only gains the new baskets, so that baskets may be counted, and people may not.
    """

    by_person = True

    def __init__(self, items: int) -> None:
        self.items = items
        # A mechanism asks for the largest count size by size: one search answers all sizes.
        self._largest = lru_cache(maxsize=1)(self._largest_by_size)

    @abstractmethod
    def total(self, query: Query) -> I64:
        """Return the answer to a query that is a sum over people."""

    @abstractmethod
    def search(
        self,
        bounds: SearchBounds,
        *,
        extensions: Codes | None = None,
        prefix: Codes,
        progress: Progress | None = None,
    ) -> FoundArrays:
        """Return patterns of `extensions` among the rows with `prefix`, which every pattern then contains.

        The order: falling count, rising size, then the items compared from the rarest to the most frequent.
        """

    @abstractmethod
    def count_of_rank(self, k: int, min_length: int, longest: int, work: int) -> int:
        """Return the count of rank k, or the count of rank `work` over itemsets of all lengths if larger.

        Rank `work` is taken over all itemsets of 1 to `longest` items.
        """

    def answer(self, query: Query) -> I64:
        """Return the answer to a query: its vector, added up over people, or an order statistic."""
        if not self.by_person and not isinstance(query, BasketQuery):
            raise MisuseError(
                f"{type(query).__name__} is about all baskets of a person, and these were cut: whose they are is no "
                "longer told. Ask before cutting, or about baskets one by one, as Supports does."
            )
        match query:
            case Kth(k, min_length, longest, rank):
                return np.array([self.count_of_rank(k, min_length, longest, max(rank + 1, k))], np.int64)
            case KthClipped(clipped, k):
                return np.append(np.sort(self.answer(clipped))[::-1], np.int64(0))[[min(k - 1, clipped.cells)]]
            case Largest(size, floor, rank):
                largest, otherwise = self._largest(floor, rank)
                return np.array([largest[size] if size < len(largest) else otherwise], np.int64)
            case _:
                return self.total(query)

    def above(self, bound: int, min_length: int, longest: int, limit: int) -> FrequentSets:
        """Return the at most `limit` itemsets of `min_length` to `longest` items with more than `bound` holders."""
        bound = max(bound, 0)
        # The miner visits shorter itemsets too: they count towards its limit.
        work = limit if min_length <= 1 else max(limit, MAX_RANKED)
        bounds = SearchBounds(count=bound + 1, min_length=min_length, max_length=longest, limit=work)
        no_prefix = np.empty(0, np.int32)
        try:
            offsets, codes, counts = self.search(bounds, prefix=no_prefix)
        except LimitError:
            bound = max(bound, self.count_of_rank(limit + 1, min_length, longest, work + 1))
            offsets, codes, counts = self.search(replace(bounds, count=bound + 1), prefix=no_prefix)
        if len(counts) > limit:
            # Counts are in falling order: the count of rank limit + 1 becomes the bound, and ties with it are dropped.
            bound = int(counts[limit])
            kept_count = int(np.searchsorted(-counts, -bound))
            offsets, counts = offsets[: kept_count + 1], counts[:kept_count]
            codes = codes[: offsets[-1]]
        return FrequentSets(Itemsets(offsets, codes), counts, bound)

    def _largest_by_size(self, floor: int, rank: int) -> tuple[list[int], int]:
        """Return the largest count of each size over the bound, and the bound: all sizes in one search."""
        frequent_sets = self.above(floor - 1, 1, MAX_LENGTH, rank)
        bound = max(floor, frequent_sets.bound)
        largest = np.full(int(frequent_sets.itemsets.sizes.max(initial=0)) + 1, bound, np.int64)
        np.maximum.at(largest, frequent_sets.itemsets.sizes, frequent_sets.counts)
        return largest.tolist(), bound


class RemoteBaskets(AnyBaskets):
    """Baskets outside this process, with an engine beside them."""

    @abstractmethod
    def engine(self) -> ExactEngine:
        """Return the engine over the baskets."""


def engine_of(baskets: AnyBaskets) -> ExactEngine:
    """Return the engine of baskets: the local engine, or the engine beside remote baskets."""
    if isinstance(baskets, RemoteBaskets):
        return baskets.engine()
    if isinstance(baskets, Baskets):
        return LocalEngine(baskets)
    raise MisuseError(f"There is no engine for {type(baskets).__name__}.")


class LocalEngine(ExactEngine):
    """The engine on this machine.

    `copies` is the number of equal baskets before each basket, if some of the equal baskets are elsewhere; by default
    it is computed.
    """

    def __init__(self, baskets: Baskets, copies: NDArray[np.int32] | None = None) -> None:
        super().__init__(baskets.items)
        baskets.check()
        self.baskets = baskets
        self.lineage = baskets.lineage
        self._rows = RowLayout.plain(
            baskets.offsets, baskets.codes, baskets.items, ahead=_COLUMNS_AHEAD, lineage=baskets.lineage
        )
        self._given_copies = copies
        # A release asks several queries about one truncation, one numbering of copies and one family.
        self._cut = lru_cache(maxsize=1)(self._truncate)
        self._copies = lru_cache(maxsize=1)(self._number_copies)
        self._family = lru_cache(maxsize=1)(partial(Family, self._rows, baskets.owners))

    def total(self, query: Query) -> I64:
        """Return the answer to a query that is a sum over people."""
        match query:
            case BasketCount():
                return np.array([len(self.baskets)], np.int64)
            case BasketsEach(edges):
                owners = self.baskets.owners
                basket_counts = np.ones(len(self.baskets), np.int64) if owners is None else np.diff(owners)
                return count_bins(edges, basket_counts)
            case Sizes(longest):
                sizes = np.minimum(self.baskets.sizes, longest)
                return np.bincount(sizes, minlength=longest + 1).astype(np.int64)
            case Supports(itemsets, truncation):
                return self._supports(itemsets, truncation)
            case LoadHistogram(itemsets, edges, squares):
                return count_bins(edges, self._family(itemsets, squares).loads)
            case ClippedCounts(itemsets, _, root):
                return self._family(itemsets, root).sums(query.weights)
            case Cells(bases):
                return self._cells(bases)
            case _:
                raise MisuseError(f"This engine cannot answer {type(query).__name__}.")

    def search(
        self,
        bounds: SearchBounds,
        *,
        extensions: Codes | None = None,
        prefix: Codes,
        progress: Progress | None = None,
    ) -> FoundArrays:
        """Return patterns of `extensions` among the rows with `prefix`, which every pattern then contains."""
        # The cached layout has the columns of earlier queries; any restriction needs a layout of its own.
        if extensions is None and not len(prefix):
            return search(self._rows, bounds, progress)
        offsets, codes = self.baskets.offsets, self.baskets.codes
        if len(prefix):
            rows_of_prefix = Itemsets(offsets, codes).take(np.flatnonzero(rows_holding(offsets, codes, prefix)))
            offsets, codes = rows_of_prefix.offsets, rows_of_prefix.codes
        is_allowed = np.ones(self.items, np.bool_) if extensions is None else np.zeros(self.items, np.bool_)
        if extensions is not None:
            is_allowed[extensions] = True
        rows = RowLayout(offsets=offsets, codes=codes, is_allowed=is_allowed, prefix=prefix, lineage=self.lineage)
        return search(rows, bounds, progress)

    def count_of_rank(self, k: int, min_length: int, longest: int, work: int) -> int:
        """Return the count of rank k, or the count of rank `work` over itemsets of all lengths if larger."""
        return count_of_rank(self._rows, k, min_length, longest, work)

    def cut(self, truncation: Truncation) -> LocalEngine:
        """Return an engine over truncated baskets."""
        rows = self._cut(truncation)
        baskets = self.baskets
        engine = type(self)(Baskets(rows.offsets, rows.codes, baskets.vocabulary, lineage=baskets.lineage))
        # Truncation separates equal baskets by their number, which no longer belongs to a person.
        engine.by_person = self.by_person and not baskets.has_receipts
        return engine

    def _cells(self, bases: tuple[tuple[int, ...], ...]) -> I64:
        rows = self._rows
        offsets = starts([len(basis) for basis in bases])
        codes = np.array([code for basis in bases for code in basis], np.int32)
        # Columns answer from bitmaps; without room for them, one pass over the rows counts the cells.
        if not rows.columns.fit(len(codes)):
            return count_cells(rows.offsets, rows.codes, self.items, offsets, codes)[1]
        bitmaps, places = rows.columns.find(codes)
        return count_in_columns(bitmaps, rows.people, offsets, places)

    def _supports(self, itemsets: Itemsets, truncation: Truncation | None) -> I64:
        if truncation is None:
            return count_sets(self._rows, itemsets.offsets, itemsets.codes)
        sets = truncation.sets
        if sets is not None and truncation.scores is not None and sets.same(itemsets):
            # The counted candidates also decide the truncation. A basket with at most `longest` of their items keeps
            # every candidate: only larger baskets have to be truncated, and only items of candidates
            # are read.
            items = np.unique(sets.codes)
            # No basket has more of the items than it may keep: nothing is truncated.
            if len(items) <= truncation.longest:
                return count_sets(self._rows, sets.offsets, sets.codes)
            if sets.sizes[0] > 1 and self._rows.columns.fit(2 * len(items)):
                return self._count_trimmed(truncation, sets, truncation.scores, items)
        return count_sets(self._cut(truncation), itemsets.offsets, itemsets.codes)

    def _count_trimmed(self, truncation: Truncation, sets: Itemsets, scores: I64, items: Codes) -> I64:
        """Return the counts of the candidates of a truncation, from columns without the truncated items."""
        rows, longest, key = self._rows, truncation.longest, truncation.key
        columns, places = rows.columns.find(items)
        trimmed = columns[places]
        trim_columns(
            rows.offsets,
            rows.codes,
            self.items,
            longest,
            key,
            sets.offsets,
            sets.codes,
            scores,
            trimmed,
            self._copies(key),
        )
        return count_columns(trimmed, sets.offsets, np.searchsorted(items, sets.codes).astype(np.int32))

    def _number_copies(self, key: int) -> NDArray[np.int32]:
        """Return the number of equal baskets before each basket: equal baskets keep different items.

        The loss of an item by truncation then averages out over equal baskets.
        """
        if self._given_copies is not None:
            return self._given_copies
        return number_equal(self._rows.offsets, self._rows.codes, key)

    def _truncate(self, truncation: Truncation) -> RowLayout:
        rows, longest, key = self._rows, truncation.longest, truncation.key
        if truncation.sets is None or truncation.scores is None:
            # Codes of items read from the data depend on all people; labels do not.
            names = self.baskets.vocabulary.identities
            offsets, codes = keep_some(rows.offsets, rows.codes, longest, key, names, self._copies(key))
        else:
            sets, scores = truncation.sets, truncation.scores
            offsets, codes = keep_smart(
                rows.offsets, rows.codes, self.items, longest, key, sets.offsets, sets.codes, scores, self._copies(key)
            )
        return RowLayout.plain(offsets, codes, self.items, lineage=self.lineage)
