"""Frequent itemsets of baskets in a cluster: each partition is mined by itself, and the results are added up.

An itemset with `count` of n people has at least that share of the people of some partition (Savasere, Omiecinski,
Navathe 1995). So the local miner mines each partition at its share of the threshold, and an itemset that no partition
lists is not frequent. Each partition reports the counts of its own people. The count of an itemset is exact if all
partitions list it. In a partition that does not list it, it is below the threshold of the partition: this bounds its
count from above. Itemsets that may be frequent are counted in one more pass. Baskets are never shuffled.

A partition's share of a threshold must be worth mining at: for a lower threshold, partitions are merged into fewer and
larger parts, down to one part, which is the answer of the local miner. If one part is too large for a task, `borders`
continues. For the count of a rank, a sample gives the first threshold, which is lowered until the list is long enough:
the answer is exact for any sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from operator import methodcaller
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, restrict_items, starts
from ..checks import MAX_COUNT, MAX_LENGTH
from ..errors import LimitError
from ..exact import FoundArrays, LocalEngine, Progress, SearchBounds, Supports, assemble_sets, too_many
from ..heavy import pa, pc, sql
from ..results import Itemsets
from ._baskets import BlockView, SparkBaskets, ask_engine, reduce_blocks
from ._blocks import MAX_TASK_CODES, decode_itemsets, encode_rows
from ._borders import mine_beyond_borders
from ._session import SMALL_SLOTS

I64 = NDArray[np.int64]

# The constants below change the time of an answer, and never the answer.

# The smallest share of a threshold that a part is mined at. Smaller: parts list itemsets that are frequent by chance;
# larger: fewer parts, and so fewer tasks at a time.
_MIN_PART_COUNT = 64
# The smallest count in a sample that says something about the count of all people: its relative deviation is 22 %.
_MIN_SAMPLE_COUNT = 20
# A list for a rank reaches down to this multiple of the rank: a mechanism tends to ask for later ranks next.
_LISTED_PER_RANK = 2
# A part may list this multiple of the limit on all itemsets before it gives up: itemsets differ between parts.
_PART_LIMIT_FACTOR = 4
# With the first count, all pairs of this number of most frequent items are counted too.
_PAIRED_ITEMS = 128
# Up to this number, itemsets are looked up among the counts at hand; more itemsets are counted again, in one job.
_MAX_LOOKUPS = 100_000
# The largest limit with which the lists of a few parts are added up on the driver: a shuffle takes longer.
_MAX_DRIVER_LIMIT = 1 << 21
_MAX_SPARK_ROWS = (1 << 31) - 1  # Spark takes the number of rows of a limit as a 32-bit number
_PART_LISTS = "items binary, excess bigint"
_EMPTY = np.empty(0, np.int32)
# Marks a part with more itemsets than its limit: larger than all thresholds together, so that the sum is negative.
_LIMIT_PASSED = 1 << 48


@dataclass(eq=False)
class _CandidateList:
    """All itemsets of 1 to `longest` items with at least `threshold` people, and further candidates.

    `counts` are upper bounds; a count is exact where `is_exact`.
    """

    threshold: int
    longest: int
    itemsets: Itemsets
    counts: I64
    is_exact: NDArray[np.bool_]

    def find_uncertain(self, threshold: int, longest: int) -> I64:
        """Return the places of the itemsets of at most `longest` items that may have `threshold` people, or fewer."""
        is_candidate = (self.counts >= threshold) & (self.itemsets.sizes <= longest)
        return np.flatnonzero(~self.is_exact & is_candidate)

    def set_counts(self, places: I64, counts: I64) -> None:
        """Store the exact counts of some itemsets."""
        self.counts[places], self.is_exact[places] = counts, True
        self.__dict__.pop("count_of_key", None)

    def find_undecided(self, rank: int, is_ranked: NDArray[np.bool_]) -> I64:
        """Return the places of inexact counts on which the count of a rank, among the ranked itemsets, may depend."""
        exact_count = self.count_of_rank(rank, is_ranked)
        # An upper bound of at most the count of the rank cannot raise it.
        may_count = self.counts > exact_count if exact_count else self.counts >= self.threshold
        return np.flatnonzero(~self.is_exact & is_ranked & may_count)

    def count_of_rank(self, rank: int, is_ranked: NDArray[np.bool_]) -> int:
        """Return the `rank`-th largest exact count of the ranked itemsets; 0 if fewer are listed."""
        exact_counts = self.counts[self.is_exact & is_ranked & (self.counts >= self.threshold)]
        return int(-np.partition(-exact_counts, rank - 1)[rank - 1]) if 0 < rank <= len(exact_counts) else 0

    def select_frequent(self, threshold: int, longest: int) -> tuple[Itemsets, I64]:
        """Return the itemsets of at most `longest` items at a threshold; their counts must be exact by now."""
        places = np.flatnonzero((self.counts >= threshold) & (self.itemsets.sizes <= longest))
        return self.itemsets.take(places), self.counts[places]

    @cached_property
    def count_of_key(self) -> dict[bytes, int]:
        """The exact counts, by key of the itemset."""
        places = np.flatnonzero(self.is_exact)
        return dict(zip(_encode_keys(self.itemsets.take(places)), self.counts[places].tolist(), strict=True))


class Miner:
    """Finds frequent itemsets of baskets in a cluster, and keeps them: most later queries are about them."""

    # The largest number of codes and baskets of one task; tests lower it.
    max_task_codes = MAX_TASK_CODES

    def __init__(self, baskets: SparkBaskets) -> None:
        self.baskets = baskets
        self._list: _CandidateList | None = None
        self._count_of_key: dict[bytes, int] = {}

    def count_itemsets(self, itemsets: Itemsets) -> I64:
        """Return the number of people with each itemset; only unknown counts are counted in the cluster."""
        if (itemsets.sizes == 1).all():
            return self.baskets.item_counts[itemsets.codes]
        if len(itemsets) > _MAX_LOOKUPS:
            return self._count_in_cluster(itemsets)
        listed_counts = {} if self._list is None else self._list.count_of_key
        keys = _encode_keys(itemsets)
        is_missing = [key not in listed_counts and key not in self._count_of_key for key in keys]
        if any(is_missing):
            self._count_with_pairs(itemsets.take(np.flatnonzero(is_missing)))
        return np.array(
            [listed_counts[key] if key in listed_counts else self._count_of_key[key] for key in keys], np.int64
        )

    def _count_in_cluster(self, itemsets: Itemsets) -> I64:
        baskets = self.baskets
        part = partial(ask_engine, call=methodcaller("total", Supports(itemsets)))
        return reduce_blocks(baskets.cluster, baskets.blocks, baskets.view, part, np.add, "counting Supports")

    def _count_with_pairs(self, itemsets: Itemsets) -> I64:
        """Return the number of people with each itemset; keep it, and the counts of likely pairs of later queries.

        A mechanism that selects one item after the other asks each time for the pairs of the new item and all items
        before it. A job takes about as long for a few pairs as for the pairs of all frequent items.
        """
        keys = _encode_keys(itemsets)
        counted_sets = itemsets
        if not self._count_of_key or len(itemsets) <= _PAIRED_ITEMS:
            pairs = self._list_likely_pairs(itemsets)
            known_keys = self._count_of_key.keys() | set(keys)
            is_new = [key not in known_keys for key in _encode_keys(pairs)]
            counted_sets = Itemsets.joined((itemsets, pairs.take(np.flatnonzero(is_new))))
        self._count_of_key |= zip(
            _encode_keys(counted_sets), self._count_in_cluster(counted_sets).tolist(), strict=True
        )
        return np.array([self._count_of_key[key] for key in keys], np.int64)

    def _list_likely_pairs(self, itemsets: Itemsets) -> Itemsets:
        """Return all pairs of the most frequent items and of the items of the pairs among the itemsets."""
        frequent_items = np.argsort(-self.baskets.item_counts, kind="stable")[:_PAIRED_ITEMS]
        pairs = itemsets.take(np.flatnonzero(itemsets.sizes == 2)[:_PAIRED_ITEMS])
        items = np.union1d(frequent_items, pairs.codes).astype(np.int32)
        left_places, right_places = np.triu_indices(len(items), 1)
        codes = np.stack((items[left_places], items[right_places]), 1).ravel()
        return Itemsets(2 * np.arange(len(left_places) + 1, dtype=np.int64), codes)

    def search(
        self, bounds: SearchBounds, extensions: Codes | None, prefix: Codes, progress: Progress | None
    ) -> FoundArrays:
        """Return patterns, as :meth:`ExactEngine.search`."""
        cluster = self.baskets.cluster
        cluster.progress = progress
        try:
            return self._search(bounds, extensions, prefix)
        finally:
            cluster.progress = None

    def _search(self, bounds: SearchBounds, extensions: Codes | None, prefix: Codes) -> FoundArrays:
        """Return patterns from the list of frequent itemsets, lowering the threshold until the top is complete."""
        baskets = self.baskets
        selected = baskets.select_containing(prefix) if len(prefix) else baskets
        if extensions is not None:
            selected = restrict_items(selected, extensions)
        miner = self if selected is baskets else Miner(selected)
        threshold = bounds.count
        if bounds.top:
            fallback = self._smallest_sampled_count if self._exceeds_task else 0
            threshold = max(threshold, self._guess_threshold(bounds, extensions, prefix) or fallback)
        # A pattern is closed or maximal in comparison with patterns of one more item.
        longest = min(bounds.max_length, MAX_LENGTH - 1) + (bounds.kind != "all")
        while self._choose_part_count(threshold) > 1 or self._exceeds_task:
            try:
                itemsets, counts = miner.list_frequent(threshold, longest, bounds.limit)
            except LimitError:
                if bounds.kind == "all" and not bounds.top:
                    raise LimitError(too_many(bounds)) from None
                break  # the local miner visits fewer candidates for closed patterns and for a top
            item_counts = selected.item_counts
            if extensions is not None:
                # Back from the codes among the allowed items to the codes of the vocabulary.
                itemsets = Itemsets(itemsets.offsets, extensions[itemsets.codes])
                item_counts = np.zeros(baskets.items, np.int64)
                item_counts[extensions] = selected.item_counts
            patterns = assemble_sets(
                itemsets,
                counts,
                item_counts=item_counts,
                people=len(selected),
                prefix=prefix,
                bounds=replace(bounds, count=threshold),
            )
            if len(patterns[2]) >= bounds.top or threshold <= bounds.count:
                return patterns
            # The guess was too high, or too many of the itemsets are not closed.
            threshold = max(threshold // 2, bounds.count)
        try:
            search = methodcaller("search", bounds, extensions=extensions, prefix=prefix)
            return cast(FoundArrays, self._run_in_one_task(search, "mining"))
        except LimitError:
            raise LimitError(too_many(bounds)) from None

    def count_of_rank(self, k: int, min_length: int, longest: int, work: int) -> int:
        """Return the count of a rank, as :meth:`ExactEngine.count_of_rank`.

        1. Guess a threshold from the sample, for a list that reaches a little below the rank.
        2. List the itemsets at the threshold. Too few: lower it. Too many: raise it, or bisect between the two.
        3. If no threshold is worth mining parts at, let one task answer, or bisect with `borders`.
        """
        if count := self._find_listed_rank(k, min_length, longest, work):
            return count
        bounds = SearchBounds(count=1, min_length=min_length, max_length=longest, limit=work, top=k)
        further_bounds = replace(bounds, top=min(_LISTED_PER_RANK * k, MAX_COUNT))
        list_limit = min(_LISTED_PER_RANK * max(work, k), MAX_COUNT)
        threshold = (
            self._guess_threshold(further_bounds, None, _EMPTY)
            or self._guess_threshold(bounds, None, _EMPTY)
            or self._smallest_sampled_count
        )
        # The largest threshold with a list over the limit, and the smallest with too short a list.
        over_limit: int = 0
        too_short: int | None = None
        while (part_count := self._choose_part_count(threshold)) > 1:
            try:
                self._list_candidates(threshold, longest, list_limit, part_count)
            except LimitError:
                over_limit = max(over_limit, threshold)
                if too_short is None:
                    # The count of rank `work` decides then: guess that count instead.
                    deepest = SearchBounds(count=1, min_length=1, max_length=longest, limit=work, top=work)
                    threshold = max(2 * threshold, self._guess_threshold(deepest, None, _EMPTY))
            else:
                if count := self._find_listed_rank(k, min_length, longest, work):
                    return count
                too_short = threshold
                threshold //= 2
            if over_limit and too_short is not None:
                threshold = (over_limit + too_short) // 2
                if threshold <= over_limit:
                    break
        if self._exceeds_task:
            return self._bisect_rank(bounds, work, threshold, too_short or len(self.baskets) + 1)
        return int(self._run_in_one_task(methodcaller("count_of_rank", k, min_length, longest, work), "ranking"))

    def _bisect_rank(self, bounds: SearchBounds, work: int, threshold: int, too_short: int) -> int:
        """Return the count of a rank in data too large for one task; a list at `too_short` is too short.

        If more than `work` itemsets reach a threshold, the answer is at least the threshold. If too few itemsets reach
        it for both ranks, the answer is below it.
        """
        reached = 0
        threshold = max(1, min(threshold, too_short - 1))
        while too_short - reached > 1:
            try:
                self.list_frequent(
                    threshold, bounds.max_length, min(_LISTED_PER_RANK * max(work, bounds.top), MAX_COUNT)
                )
            except LimitError:
                reached = threshold
                threshold = min(2 * threshold, (reached + too_short) // 2)
            else:
                if count := self._find_listed_rank(bounds.top, bounds.min_length, bounds.max_length, work):
                    return count
                too_short = threshold
                threshold = (reached + too_short) // 2
        return reached

    def _find_listed_rank(self, k: int, min_length: int, longest: int, work: int) -> int:
        """Return the count of a rank from the list; 0 if the list is too short."""
        candidates = self._list
        if candidates is None or candidates.longest < longest:
            return 0
        sizes = candidates.itemsets.sizes
        ranks = [(k, (sizes >= min_length) & (sizes <= longest)), (work, sizes <= longest)]
        if all(int(is_ranked.sum()) < rank for rank, is_ranked in ranks):
            return 0
        undecided = np.union1d(*(candidates.find_undecided(rank, is_ranked) for rank, is_ranked in ranks))
        if len(undecided):
            candidates.set_counts(undecided, self._count_with_pairs(candidates.itemsets.take(undecided)))
        return max(candidates.count_of_rank(rank, is_ranked) for rank, is_ranked in ranks)

    def _is_over_limit(self, threshold: int, longest: int, limit: int, part_count: int) -> bool:
        """Return whether more itemsets than the limit are certain; one part may list more by chance."""
        beyond = SearchBounds(count=1, min_length=1, max_length=longest, limit=limit, top=min(limit + 1, MAX_COUNT))
        higher = self._guess_threshold(beyond, None, _EMPTY)
        if higher <= threshold:
            return False
        try:
            candidates = self._list_candidates(higher, longest, limit, part_count)
            return len(self._settle_counts(candidates, higher, longest)[1]) > limit
        except LimitError:
            return False

    @property
    def _min_part_count(self) -> int:
        """The smallest number of parts with which each part fits one task."""
        return max(1, -(-self._code_count // self.max_task_codes))

    @property
    def _code_count(self) -> int:
        """An upper bound of the number of codes and baskets to lay out."""
        stored = self.baskets.blocks
        return stored.codes * self.baskets.view.expansion + stored.baskets

    @property
    def _exceeds_task(self) -> bool:
        """Whether all baskets are too large for one task."""
        return self._min_part_count > 1

    def _choose_part_count(self, threshold: int) -> int:
        """Return the number of parts with a share of the threshold worth mining at; 1 if parts are not worth it."""
        worth_mining = threshold // _MIN_PART_COUNT
        if worth_mining < self._min_part_count:
            return 1
        return max(self._min_part_count, min(self.baskets.blocks.partitions, worth_mining))

    def _guess_threshold(self, bounds: SearchBounds, extensions: Codes | None, prefix: Codes) -> int:
        """Return a threshold that `bounds.top` patterns are likely to reach, from a sample; 0 if it says too little.

        The guess decides the time of an answer, and not the answer.
        """
        sample, share = self._sample
        if not share:
            return 0
        try:
            sample_bounds = replace(bounds, count=_MIN_SAMPLE_COUNT, kind="all")
            _, _, counts = sample.search(sample_bounds, extensions=extensions, prefix=prefix)
        except LimitError:
            return 0
        if len(counts) < bounds.top:
            return 0
        last_count = int(counts[bounds.top - 1])
        # Three standard deviations below the estimate, by the Poisson law of a small share.
        return max(0, int((last_count - 3 * last_count**0.5) / share))

    @property
    def _smallest_sampled_count(self) -> int:
        """The smallest count of all people that the sample distinguishes from 0; 0 without a sample."""
        share = self._sample[1]
        return int(_MIN_SAMPLE_COUNT / share) if share else 0

    @cached_property
    def _sample(self) -> tuple[LocalEngine, float]:
        """An engine over a sample of people, and its share of all people; the share is 0 for a single partition."""
        baskets = self.baskets
        sizes, codes = baskets.survey.sample_sizes, baskets.survey.sample_codes
        sample = Baskets(starts(sizes), codes, baskets.vocabulary, lineage=baskets.lineage)
        # One partition is mined as one part in any case: no threshold has to be guessed.
        share = len(sizes) / max(1, len(baskets)) if baskets.blocks.partitions > 1 else 0.0
        return LocalEngine(sample), share

    def _run_in_one_task(self, call: Callable[[LocalEngine], Any], step: str) -> Any:
        """Return the result of a call of the engine over all baskets, in one task."""
        baskets = self.baskets
        if self._code_count >= np.iinfo(np.int32).max:
            raise LimitError("All baskets would have to be looked at together, and they are too many for that.")
        with baskets.cluster.step(step):
            stored = replace(baskets.blocks, frame=baskets.blocks.frame.coalesce(1), partitions=1)
        part = partial(ask_engine, call=call)
        return reduce_blocks(baskets.cluster, stored, baskets.view, part, _refuse_merge, step, max_codes=None)

    def list_frequent(self, threshold: int, longest: int, limit: int) -> tuple[Itemsets, I64]:
        """Return all itemsets of at most `longest` items at a threshold, in any order, and their counts.

        Raise a `LimitError` if, and only if, they are more than `limit`.
        """
        if longest <= 1:
            item_counts = self.baskets.item_counts
            codes = np.flatnonzero(item_counts >= max(threshold, 1)) if longest == 1 else np.empty(0, np.int64)
            itemsets = Itemsets(np.arange(len(codes) + 1, dtype=np.int64), codes.astype(np.int32))
            counts = item_counts[codes]
        else:
            candidates = self._list_at_any_cost(threshold, longest, limit)
            itemsets, counts = self._settle_counts(candidates, threshold, longest)
        if len(counts) > limit:
            raise LimitError(too_many(SearchBounds(count=threshold, min_length=1, max_length=longest, limit=limit)))
        return itemsets, counts

    def _settle_counts(self, candidates: _CandidateList, threshold: int, longest: int) -> tuple[Itemsets, I64]:
        """Return the frequent itemsets of a list, after counting the uncertain ones."""
        uncertain = candidates.find_uncertain(threshold, longest)
        if len(uncertain):
            candidates.set_counts(uncertain, self._count_in_cluster(candidates.itemsets.take(uncertain)))
        return candidates.select_frequent(threshold, longest)

    def _list_at_any_cost(self, threshold: int, longest: int, limit: int) -> _CandidateList:
        """Return a list of candidates: from many parts, from fewer parts, from borders, or from one task.

        Raise a `LimitError` only if more itemsets than the limit are certain.
        """
        part_count = self._choose_part_count(threshold)
        while part_count > 1:
            try:
                return self._list_candidates(threshold, longest, limit, part_count)
            except LimitError:
                if self._is_over_limit(threshold, longest, limit, part_count):
                    raise
            # Larger parts list fewer itemsets by chance.
            at_minimum = part_count <= self._min_part_count
            part_count = 1 if at_minimum else max(part_count // 4, self._min_part_count)
        bounds = SearchBounds(count=max(threshold, 1), min_length=1, max_length=longest, limit=limit)
        if self._exceeds_task:
            itemsets, counts = self._mine_with_borders(bounds)
        else:
            search = methodcaller("search", bounds, prefix=_EMPTY)
            offsets, codes, counts = self._run_in_one_task(search, "mining")
            itemsets = Itemsets(offsets, codes)
        self._list = _CandidateList(threshold, longest, itemsets, counts, np.ones(len(counts), np.bool_))
        return self._list

    def _mine_with_borders(self, bounds: SearchBounds) -> tuple[Itemsets, I64]:
        """Return the itemsets at a threshold below that of parts: frequent ones first, then those beyond borders."""
        higher = max(bounds.count + 1, _MIN_PART_COUNT * max(self._min_part_count, 2))
        itemsets, counts = Itemsets(np.zeros(1, np.int64), _EMPTY), np.empty(0, np.int64)
        while higher <= len(self.baskets):
            try:
                candidates = self._list_candidates(
                    higher, bounds.max_length, bounds.limit, self._choose_part_count(higher)
                )
                itemsets, counts = self._settle_counts(candidates, higher, bounds.max_length)
                break
            except LimitError:
                higher *= 4
        if len(counts) > bounds.limit:
            raise LimitError(too_many(bounds))
        further_itemsets, further_counts = mine_beyond_borders(self.baskets, itemsets, bounds)
        return Itemsets.joined((itemsets, further_itemsets)), np.concatenate((counts, further_counts))

    def _list_candidates(self, threshold: int, longest: int, limit: int, part_count: int) -> _CandidateList:
        """Return a list with all itemsets of at most `longest` items at a threshold: the stored list if it reaches."""
        candidates = self._list
        if candidates is None or candidates.threshold > threshold or candidates.longest < longest:
            candidates = self._list = self._mine_parts(threshold, longest, limit, part_count)
        return candidates

    def _mine_parts(self, threshold: int, longest: int, limit: int, part_count: int) -> _CandidateList:
        """Return the candidates of all parts, with their counts or upper bounds."""
        baskets = self.baskets
        cluster, stored = baskets.cluster, baskets.blocks
        bounds = SearchBounds(count=threshold, min_length=1, max_length=longest, limit=limit)
        frame = stored.frame if part_count >= stored.partitions else stored.frame.coalesce(part_count)
        # The counts of items are known: items that are frequent in a part by chance are left out.
        items = np.flatnonzero(baskets.item_counts >= threshold).astype(np.int32)
        mine = partial(
            _mine_part,
            view=baskets.view,
            bounds=bounds,
            people=len(baskets),
            extensions=items,
            max_codes=self.max_task_codes,
        )
        max_rows = _PART_LIMIT_FACTOR * limit + 1
        with cluster.step("mining parts"):
            lists = frame.mapInArrow(cluster.guard(mine), _PART_LISTS)
            if part_count <= SMALL_SLOTS and limit <= _MAX_DRIVER_LIMIT:
                sums = cluster.collect(lists).group_by("items").aggregate([("excess", "sum"), ("excess", "count")])
                table = sums.rename_columns({"excess_sum": "excess", "excess_count": "parts"})
            else:
                columns = sql.sum("excess").alias("excess"), sql.count("excess").alias("parts")
                grouped = lists.groupBy("items").agg(*columns).coalesce(cluster.parallelism)
                table = cluster.collect(grouped.limit(max_rows + 1) if max_rows < _MAX_SPARK_ROWS else grouped)
        # The row without items has the sum over parts of (threshold of the part - 1), and the number of parts.
        is_total = pc.equal(pc.binary_length(table.column("items")), 0)
        totals = table.filter(is_total).to_pylist()
        below, all_parts = (int(totals[0]["excess"]), int(totals[0]["parts"])) if totals else (0, 0)
        if below < 0 or len(table) > max_rows:
            raise LimitError(too_many(bounds))
        # A part without the itemset has at most (its threshold - 1) people with it: count <= excess + below, with
        # equality if all parts list it.
        may_be_frequent = pc.and_(pc.invert(is_total), pc.greater_equal(table.column("excess"), threshold - below))
        kept_rows = table.filter(may_be_frequent)
        counts = kept_rows.column("excess").to_numpy() + below
        is_exact = kept_rows.column("parts").to_numpy() == all_parts
        return _CandidateList(threshold, longest, decode_itemsets(kept_rows.column("items")), counts, is_exact)


def _encode_keys(itemsets: Itemsets) -> list[bytes]:
    """Return the codes of each itemset as bytes, for dictionaries."""
    codes = itemsets.codes.astype(np.int32, copy=False).tobytes()
    return [codes[start:stop] for start, stop in pairwise((4 * itemsets.offsets).tolist())]


def _refuse_merge(left_places: Any, right_places: Any) -> Any:
    raise AssertionError("one task has one result")


def _mine_part(
    batches: Iterable[Any], view: BlockView, bounds: SearchBounds, people: int, extensions: Codes, max_codes: int
) -> Iterator[Any]:
    """Run in an executor: yield the itemsets of a part at its share of the threshold, with count - share + 1.

    A row without items has share - 1, or the mark of a passed limit.
    """
    schema = pa.schema([("items", pa.binary()), ("excess", pa.int64())])
    for baskets, _ in view.build_parts(batches, max_codes):
        # Shares are rounded up: an itemset below all shares has fewer than the threshold in all.
        below = -(-bounds.count * len(baskets) // max(people, 1)) - 1 if len(baskets) else 0
        below = max(below, 0)
        part_bounds = replace(bounds, count=below + 1, limit=min(_PART_LIMIT_FACTOR * bounds.limit, MAX_COUNT))
        try:
            offsets, codes, counts = LocalEngine(baskets).search(part_bounds, extensions=extensions, prefix=_EMPTY)
        except LimitError:
            yield pa.RecordBatch.from_pylist([{"items": b"", "excess": -_LIMIT_PASSED}], schema)
            return
        yield pa.RecordBatch.from_pylist([{"items": b"", "excess": below}], schema)
        for start in range(0, len(counts), 1 << 16):
            stop = min(start + (1 << 16), len(counts))
            items = encode_rows(offsets[start : stop + 1], codes)
            yield pa.RecordBatch.from_arrays([items, pa.array(counts[start:stop] - below)], schema=schema)
