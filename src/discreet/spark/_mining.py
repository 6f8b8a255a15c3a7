"""Frequent itemsets of baskets in a cluster: each partition is mined by itself, and what all of them found is added up.

An itemset that `count` of n people hold is held, in one partition at least, by that share of its people (Savasere,
Omiecinski, Navathe 1995). So every partition is mined with our own miner, at its share of the threshold, and what none
of them found is not frequent. Each says how many of its own people hold what it found; where all found an itemset, its
count is known by that. Where some did not, they hold it less often than their threshold. That rules out what cannot be
frequent; the others are counted in one more pass. Baskets are never shuffled.

The share of a threshold has to be worth mining at: the lower it is, the fewer and larger the parts, down to one, which
then is the local miner's own answer. Where one part would be too large for a task, `borders` goes on. Where the count
of a rank is wanted, a sample of people says at which threshold to begin; it is lowered until enough is found, so that
the answer is exact whatever the sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, only, starts
from ..checks import MAX_COUNT, MAX_LENGTH
from ..errors import LimitError
from ..exact import FoundArrays, LocalEngine, Progress, SearchBounds, Supports, assemble_sets, too_many
from ..results import Itemsets
from ._baskets import BlockView, Copies, SparkBaskets, reduced
from ._blocks import TOGETHER, as_column, as_itemsets
from ._borders import beyond_borders
from ._sums import AT_ONCE

I64 = NDArray[np.int64]

# A part is mined at no less than so many people, if there are others.
_LEAST = 64
# An itemset that fewer people of a sample hold tells nothing.
_TOLD = 20
# Where the count of a rank is asked for, itemsets of so many times that rank are listed.
_FURTHER = 2
# A part may find so many times the patterns that may be found in all before there are fewer parts.
_ROOM = 4
# Pairs of so many of the most frequent items are counted with what is asked for first.
_AHEAD = 128
# So many itemsets are looked up one by one among those that were listed; more are counted anew.
_LOOKED_UP = 100_000
_ADDED_HERE = 1 << 21  # the limit up to which what a few parts found is added up on the driver
_ROWS = (1 << 31) - 1  # that Spark can be told to stop at
_FOUND = "items binary, over bigint"
_NOTHING = np.empty(0, np.int32)
# Stands for a part that found too much: larger than all thresholds together, so that their sum is negative.
_OVER = 1 << 48


@dataclass(eq=False)
class _Listing:
    """All itemsets of 1 to `most` items that `count` people or more hold, and others of which that is not ruled out.

    Of those that are not `exact`, `counts` are no less than the true ones.
    """

    count: int
    most: int
    itemsets: Itemsets
    counts: I64
    exact: NDArray[np.bool_]

    def doubtful(self, count: int, most: int) -> NDArray[np.int64]:
        """Return the places of those of up to so many items that may be held by so many people, and may be not."""
        return np.flatnonzero(~self.exact & (self.counts >= count) & (self.itemsets.sizes <= most))

    def settle(self, places: NDArray[np.int64], counts: I64) -> None:
        """Note the true counts of some."""
        self.counts[places], self.exact[places] = counts, True
        self.__dict__.pop("by_itemset", None)

    def undecided(self, k: int, within: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the places of those whose true counts the k-th largest of some may depend on."""
        least = self.rank(k, within)
        # Of those that may reach no more than k others do, none moves it.
        return np.flatnonzero(~self.exact & within & (self.counts > least if least else self.counts >= self.count))

    def rank(self, k: int, within: NDArray[np.bool_]) -> int:
        """Return the k-th largest count of some, by those that are exact; 0 where too few of these are listed."""
        sure = self.counts[self.exact & within & (self.counts >= self.count)]
        return int(-np.partition(-sure, k - 1)[k - 1]) if 0 < k <= len(sure) else 0

    def above(self, count: int, most: int) -> tuple[Itemsets, I64]:
        """Return those of up to so many items that so many people hold; none of them is in doubt any more."""
        kept = np.flatnonzero((self.counts >= count) & (self.itemsets.sizes <= most))
        return self.itemsets.take(kept), self.counts[kept]

    @cached_property
    def by_itemset(self) -> dict[bytes, int]:
        """The count of each that is exact."""
        sure = np.flatnonzero(self.exact)
        return dict(zip(_keys(self.itemsets.take(sure)), self.counts[sure].tolist(), strict=True))


class Miner:
    """Finds what is frequent among baskets in a cluster, and keeps it: most questions that follow are about that."""

    together = TOGETHER

    def __init__(self, baskets: SparkBaskets) -> None:
        self.baskets = baskets
        self._listing: _Listing | None = None
        self._ahead: dict[bytes, int] = {}

    def counts(self, itemsets: Itemsets) -> I64:
        """Return how many people hold each itemset; only what is not known yet is counted in the cluster."""
        if (itemsets.sizes == 1).all():
            return self.baskets.item_counts[itemsets.codes]
        if len(itemsets) > _LOOKED_UP:
            return self._counted(itemsets)
        listed = {} if self._listing is None else self._listing.by_itemset
        keys = _keys(itemsets)
        missing = [place for place, key in enumerate(keys) if key not in listed and key not in self._ahead]
        if missing:
            self._counted_ahead(itemsets.take(np.array(missing, np.int64)))
        return np.array([listed[key] if key in listed else self._ahead[key] for key in keys], np.int64)

    def _counted(self, itemsets: Itemsets) -> I64:
        held = self.baskets
        part = partial(_supports_here, itemsets=itemsets)
        return reduced(held.cluster, held.blocks, held.view, part, np.add, "counting Supports")

    def _counted_ahead(self, itemsets: Itemsets) -> I64:
        """Return how many people hold each itemset, and keep that, and the same of pairs that may be asked for next.

        A mechanism that picks one item after the other asks for its pairs with those picked before, each time. A job
        takes about as long for a few pairs as for those of all frequent items.
        """
        keys = _keys(itemsets)
        asked = itemsets
        if not self._ahead or len(itemsets) <= _AHEAD:
            pairs = self._pairs(itemsets)
            known = self._ahead.keys() | set(keys)
            new = [place for place, key in enumerate(_keys(pairs)) if key not in known]
            asked = Itemsets.joined((itemsets, pairs.take(np.array(new, np.int64))))
        self._ahead |= zip(_keys(asked), self._counted(asked).tolist(), strict=True)
        return np.array([self._ahead[key] for key in keys], np.int64)

    def _pairs(self, itemsets: Itemsets) -> Itemsets:
        """Return all pairs of the most frequent items, and of those that pairs are asked for now."""
        frequent = np.argsort(-self.baskets.item_counts, kind="stable")[:_AHEAD]
        pairs = itemsets.take(np.flatnonzero(itemsets.sizes == 2)[:_AHEAD])
        items = np.union1d(frequent, pairs.codes).astype(np.int32)
        first, second = np.triu_indices(len(items), 1)
        codes = np.stack((items[first], items[second]), 1).ravel()
        return Itemsets(2 * np.arange(len(first) + 1, dtype=np.int64), codes)

    def search(
        self, wanted: SearchBounds, allowed: Codes | None, prefix: Codes, progress: Progress | None
    ) -> FoundArrays:
        """Find patterns, as :meth:`ExactEngine.search` says."""
        cluster = self.baskets.cluster
        cluster.progress = progress
        try:
            return self._search(wanted, allowed, prefix)
        finally:
            cluster.progress = None

    def _search(self, wanted: SearchBounds, allowed: Codes | None, prefix: Codes) -> FoundArrays:
        baskets = self.baskets
        inner, within = baskets, self
        if len(prefix):
            inner = inner.holding(prefix)
        if allowed is not None:
            inner = only(inner, allowed)
        if inner is not baskets:
            within = Miner(inner)
        count = wanted.count
        if wanted.top:
            count = max(count, self._guess(wanted, allowed, prefix) or (self._least_told if self._apart else 0))
        # What is closed or maximal shows only beside patterns with one more item.
        most = min(wanted.most, MAX_LENGTH - 1) + (wanted.kind != "all")
        while self._parts_at(count) > 1 or self._apart:
            try:
                itemsets, counts = within.frequent(count, most, wanted.limit)
            except LimitError:
                if wanted.kind == "all" and not wanted.top:
                    raise LimitError(too_many(wanted)) from None
                break  # the local miner has to look at fewer of them
            held = inner.item_counts
            if allowed is not None:
                itemsets = Itemsets(itemsets.offsets, allowed[itemsets.codes])
                wider = np.zeros(baskets.items, np.int64)
                wider[allowed] = held
                held = wider
            right = replace(wanted, count=count)
            found = assemble_sets(itemsets, counts, item_counts=held, people=len(inner), prefix=prefix, bounds=right)
            if len(found[2]) >= wanted.top or count <= wanted.count:
                return found
            count = max(count // 2, wanted.count)  # a sample said that there are more, or too many are not closed
        try:
            alone = partial(_search_here, wanted=wanted, allowed=allowed, prefix=prefix)
            return cast(FoundArrays, self._in_one_part(alone, "mining"))
        except LimitError:
            raise LimitError(too_many(wanted)) from None

    def count_of_rank(self, k: int, least: int, longest: int, work: int) -> int:
        """Return the count of a rank, as :meth:`ExactEngine.count_of_rank` says."""
        if self._listing is not None and (known := self._rank_listed(k, least, longest, work)):
            return known
        wanted = SearchBounds(count=1, least=least, most=longest, limit=work, top=k)
        # Ranks a little further down are likely to be asked for next. Where a sample says too little, what it cannot
        # tell apart is a start.
        further = replace(wanted, top=min(_FURTHER * k, MAX_COUNT))
        listed = min(_FURTHER * max(work, k), MAX_COUNT)
        count = self._guess(further, None, _NOTHING) or self._guess(wanted, None, _NOTHING) or self._least_told
        many, few = 0, None  # at this count there are more than may be looked at, and at that one too few
        while (parts := self._parts_at(count)) > 1:
            try:
                self._list(count, longest, listed, parts)
            except LimitError:
                many = max(many, count)
                if few is None:
                    # The count of the last that may be looked at is what counts then.
                    deepest = SearchBounds(count=1, least=1, most=longest, limit=work, top=work)
                    count = max(2 * count, self._guess(deepest, None, _NOTHING))
            else:
                if found := self._rank_listed(k, least, longest, work):
                    return found
                few = count
                count //= 2
            if many and few is not None:
                count = (many + few) // 2
                if count <= many:
                    break
        if self._apart:
            return self._rank_beyond(wanted, work, count, few or len(self.baskets) + 1)
        alone = partial(_rank_here, k=k, least=least, longest=longest, work=work)
        return int(self._in_one_part(alone, "ranking"))

    def _rank_beyond(self, wanted: SearchBounds, work: int, count: int, few: int) -> int:
        """Return the count of a rank where not all baskets can be looked at together; at `few` there are too few.

        Where more than `work` reach a count, the answer is no less; where too few do for both ranks, it is less.
        """
        reached = 0
        count = max(1, min(count, few - 1))
        while few - reached > 1:
            try:
                self.frequent(count, wanted.most, min(_FURTHER * max(work, wanted.top), MAX_COUNT))
            except LimitError:
                reached = count
                count = min(2 * count, (reached + few) // 2)
            else:
                if found := self._rank_listed(wanted.top, wanted.least, wanted.most, work):
                    return found
                few = count
                count = (reached + few) // 2
        return reached

    def _rank_listed(self, k: int, least: int, longest: int, work: int) -> int:
        """Return the count of a rank where what is listed tells it, and 0 otherwise."""
        known = self._listing
        if known is None or known.most < longest:
            return 0
        sizes = known.itemsets.sizes
        ranks = [(k, (sizes >= least) & (sizes <= longest)), (work, sizes <= longest)]
        if all(int(within.sum()) < rank for rank, within in ranks):
            return 0
        doubtful = np.union1d(*(known.undecided(rank, within) for rank, within in ranks))
        if len(doubtful):
            known.settle(doubtful, self._counted_ahead(known.itemsets.take(doubtful)))
        return max(known.rank(rank, within) for rank, within in ranks)

    def _has_more(self, count: int, most: int, limit: int, parts: int) -> bool:
        """Say whether there certainly are more itemsets than the limit; a part by itself may find more by chance."""
        beyond = SearchBounds(count=1, least=1, most=most, limit=limit, top=min(limit + 1, MAX_COUNT))
        higher = self._guess(beyond, None, _NOTHING)
        if higher <= count:
            return False
        try:
            return len(self._settled(self._list(higher, most, limit, parts), higher, most)[1]) > limit
        except LimitError:
            return False

    @property
    def _needed(self) -> int:
        """Of how many parts none is larger than may be looked at together."""
        return max(1, -(-self._size // self.together))

    @property
    def _size(self) -> int:
        """How many codes and baskets have to be looked at, at most."""
        stored = self.baskets.blocks
        return stored.codes * self.baskets.view.widest + stored.baskets

    @property
    def _apart(self) -> bool:
        """Whether all baskets are more than may be looked at together."""
        return self._needed > 1

    def _parts_at(self, count: int) -> int:
        """Return in how many parts people may be mined so that each has a threshold worth mining at; 1 for none."""
        worth = count // _LEAST
        return max(self._needed, min(self.baskets.blocks.partitions, worth)) if worth >= self._needed else 1

    def _guess(self, wanted: SearchBounds, allowed: Codes | None, prefix: Codes) -> int:
        """Return a count that `wanted.top` patterns are likely to reach, by a sample; 0 where that says too little.

        It decides how long the work takes, and nothing else.
        """
        sample, share = self._sample
        if self.baskets.blocks.partitions <= 1 or not share:
            return 0
        try:
            _, _, counts = sample.search(replace(wanted, count=_TOLD, kind="all"), allowed=allowed, prefix=prefix)
        except LimitError:
            return 0
        if len(counts) < wanted.top:
            return 0
        last = int(counts[wanted.top - 1])
        return max(0, int((last - 3 * last**0.5) / share))

    @property
    def _least_told(self) -> int:
        """How many people a sample tells apart from nobody."""
        share = self._sample[1] if self.baskets.blocks.partitions > 1 else 0.0
        return int(_TOLD / share) if share else 0

    @cached_property
    def _sample(self) -> tuple[LocalEngine, float]:
        """Some of the people, no more than the driver holds easily, and which share of all they are."""
        held = self.baskets
        sizes, codes = held.survey.sizes, held.survey.codes
        sample = Baskets(starts(sizes), codes, held.vocabulary, lineage=held.lineage)
        return LocalEngine(sample), len(sizes) / max(1, len(held))

    def _in_one_part(self, part: Any, what: str) -> Any:
        """Let one task look at everyone."""
        held = self.baskets
        if self._size >= np.iinfo(np.int32).max:
            raise LimitError("All baskets would have to be looked at together, and they are too many for that.")
        with held.cluster.step(what):
            stored = replace(held.blocks, frame=held.blocks.frame.coalesce(1), partitions=1)
        return reduced(held.cluster, stored, held.view, part, _never, what, together=None)

    def frequent(self, count: int, most: int, limit: int) -> tuple[Itemsets, I64]:
        """Return all itemsets of up to so many items that `count` people hold, in any order, with their counts.

        Raises a `LimitError` where there are more than the limit, and nowhere else.
        """
        if most <= 1:
            held = self.baskets.item_counts
            codes = np.flatnonzero(held >= max(count, 1)) if most == 1 else np.empty(0, np.int64)
            found = Itemsets(np.arange(len(codes) + 1, dtype=np.int64), codes.astype(np.int32)), held[codes]
        else:
            found = self._settled(self._listed(count, most, limit), count, most)
        if len(found[1]) > limit:
            raise LimitError(too_many(SearchBounds(count=count, least=1, most=most, limit=limit)))
        return found

    def _settled(self, known: _Listing, count: int, most: int) -> tuple[Itemsets, I64]:
        """Return what is listed and certainly held by so many people, once what is in doubt was counted."""
        doubtful = known.doubtful(count, most)
        if len(doubtful):
            known.settle(doubtful, self._counted(known.itemsets.take(doubtful)))
        return known.above(count, most)

    def _listed(self, count: int, most: int, limit: int) -> _Listing:
        """Return a list as `_list` does, in one way or another, or raise where it certainly has more than the limit."""
        parts = self._parts_at(count)
        while parts > 1:
            try:
                return self._list(count, most, limit, parts)
            except LimitError:
                if self._has_more(count, most, limit, parts):
                    raise
            # Parts that are mined at a larger share of the threshold find less by chance.
            parts = max(parts // 4, self._needed) if parts > self._needed else 1
        wanted = SearchBounds(count=max(count, 1), least=1, most=most, limit=limit)
        if self._apart:
            itemsets, counts = self._mined_beyond(wanted)
        else:
            alone = partial(_search_here, wanted=wanted, allowed=None, prefix=_NOTHING)
            offsets, codes, counts = self._in_one_part(alone, "mining")
            itemsets = Itemsets(offsets, codes)
        self._listing = _Listing(count, most, itemsets, counts, np.ones(len(counts), np.bool_))
        return self._listing

    def _mined_beyond(self, wanted: SearchBounds) -> tuple[Itemsets, I64]:
        """Find what too few people hold for parts: beyond what more people hold."""
        higher = max(wanted.count + 1, _LEAST * max(self._needed, 2))
        known, counts = Itemsets(np.zeros(1, np.int64), _NOTHING), np.empty(0, np.int64)
        while higher <= len(self.baskets):
            try:
                listed = self._list(higher, wanted.most, wanted.limit, self._parts_at(higher))
                known, counts = self._settled(listed, higher, wanted.most)
                break
            except LimitError:
                higher *= 4
        if len(counts) > wanted.limit:
            raise LimitError(too_many(wanted))
        others, more = beyond_borders(self.baskets, known, wanted)
        return Itemsets.joined((known, others)), np.concatenate((counts, more))

    def _list(self, count: int, most: int, limit: int, parts: int) -> _Listing:
        """Return a list that has all itemsets of up to so many items that `count` people hold."""
        known = self._listing
        if known is None or known.count > count or known.most < most:
            known = self._listing = self._mined(count, most, limit, parts)
        return known

    def _mined(self, count: int, most: int, limit: int, parts: int) -> _Listing:
        import pyarrow.compute as pc
        from pyspark.sql import functions as sql

        held = self.baskets
        cluster, stored = held.cluster, held.blocks
        wanted = SearchBounds(count=count, least=1, most=most, limit=limit)
        frame = stored.frame if parts >= stored.partitions else stored.frame.coalesce(parts)
        # What is frequent in a part alone is not looked at: how many hold each item is known.
        items = np.flatnonzero(held.item_counts >= count).astype(np.int32)
        mine = partial(_mine_part, view=held.view, wanted=wanted, people=len(held), allowed=items)
        mine = partial(mine, together=self.together)
        room = _ROOM * limit
        with cluster.step("mining parts"):
            found = frame.mapInArrow(cluster.guarded(mine), _FOUND)
            if parts <= AT_ONCE and limit <= _ADDED_HERE:
                # A shuffle takes longer than adding up here what a few parts found.
                added = cluster.collected(found).group_by("items").aggregate([("over", "sum"), ("over", "count")])
                table = added.rename_columns({"over_sum": "over", "over_count": "parts"})
            else:
                sums = sql.sum("over").alias("over"), sql.count("over").alias("parts")
                added = found.groupBy("items").agg(*sums).coalesce(cluster.parallelism)
                table = cluster.collected(added.limit(room + 2) if room + 2 < _ROWS else added)
        # A part that did not find an itemset has its threshold less one of it, at most: their sum is `below`.
        marks = pc.equal(pc.binary_length(table.column("items")), 0)
        every = table.filter(marks).to_pylist()
        below, all_parts = (int(every[0]["over"]), int(every[0]["parts"])) if every else (0, 0)
        if below < 0 or len(table) > room + 1:
            raise LimitError(too_many(wanted))
        likely = table.filter(pc.and_(pc.invert(marks), pc.greater_equal(table.column("over"), count - below)))
        counts = likely.column("over").to_numpy() + below
        exact = likely.column("parts").to_numpy() == all_parts
        return _Listing(count, most, as_itemsets(likely.column("items")), counts, exact)


def _keys(itemsets: Itemsets) -> list[bytes]:
    """Return itemsets as what a dictionary takes."""
    whole = itemsets.codes.astype(np.int32, copy=False).tobytes()
    return [whole[first:last] for first, last in pairwise((4 * itemsets.offsets).tolist())]


def _supports_here(baskets: Baskets, _: Copies, itemsets: Itemsets) -> I64:
    return LocalEngine(baskets).total(Supports(itemsets))


def _never(one: Any, other: Any) -> Any:
    raise AssertionError("one task has one result")


def _search_here(
    baskets: Baskets, _: Copies, wanted: SearchBounds, allowed: Codes | None, prefix: Codes
) -> FoundArrays:
    return LocalEngine(baskets).search(wanted, allowed=allowed, prefix=prefix)


def _rank_here(baskets: Baskets, _: Copies, k: int, least: int, longest: int, work: int) -> int:
    return LocalEngine(baskets).count_of_rank(k, least, longest, work)


def _mine_part(
    batches: Iterable[Any], view: BlockView, wanted: SearchBounds, people: int, allowed: Codes, together: int
) -> Iterator[Any]:
    """Run in an executor: mine a part at its share of the threshold, and tell how far over it each itemset is."""
    import pyarrow as pa

    schema = pa.schema([("items", pa.binary()), ("over", pa.int64())])
    for baskets, _ in view.parts(batches, together):
        below = -(-wanted.count * len(baskets) // max(people, 1)) - 1 if len(baskets) else 0
        below = max(below, 0)
        found = replace(wanted, count=below + 1, limit=min(_ROOM * wanted.limit, MAX_COUNT))
        try:
            offsets, codes, counts = LocalEngine(baskets).search(found, allowed=allowed, prefix=_NOTHING)
        except LimitError:
            yield pa.RecordBatch.from_pylist([{"items": b"", "over": -_OVER}], schema)
            return
        yield pa.RecordBatch.from_pylist([{"items": b"", "over": below}], schema)
        for first in range(0, len(counts), 1 << 16):
            last = min(first + (1 << 16), len(counts))
            items = as_column(offsets[first : last + 1], codes)
            yield pa.RecordBatch.from_arrays([items, pa.array(counts[first:last] - below)], schema=schema)
