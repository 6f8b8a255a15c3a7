"""Frequent itemsets of baskets in a cluster: each partition is mined by itself, and what all of them found is added up.

An itemset that `count` of n people hold is held, in one partition at least, by that share of its people (Savasere,
Omiecinski, Navathe 1995). So every partition is mined with our own miner, at its share of the threshold, and what none
of them found is not frequent. Each says how many of its own people hold what it found; where all found an itemset, its
count is known by that. Where some did not, they hold it less often than their threshold, which rules most of these out;
the few others are counted in one more pass. Baskets are never shuffled.

The share of a threshold has to be worth mining at: the lower it is, the fewer and larger the parts, down to one, which
then is the local miner's own answer. Where the count of a rank is wanted, a sample of people says which patterns may
have it; counted over everyone, those give a threshold from below, and mining at it gives the answer exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..baskets.core import Baskets, Codes, starts
from ..checks import UNBOUNDED
from ..errors import LimitError
from ..exact.engine import LocalEngine
from ..exact.query import Supports
from ..exact.search import FoundArrays, Progress, SearchBounds, assemble_sets, too_many
from ..results.itemsets import Itemsets
from .baskets import BlockView, Copies, SparkBaskets, StoredBlocks, reduced
from .blocks import read_blocks

I64 = NDArray[np.int64]

# A part is mined at no less than so many people, if there are others.
_LEAST = 64
# How many people a sample has at most, and how many codes.
_SAMPLED, _SAMPLED_CODES = 100_000, 4_000_000
# A part may find so many times the patterns that may be found in all before there are fewer parts.
_ROOM = 4
_FOUND = "items binary, over bigint"
_NOTHING = np.empty(0, np.int32)
# Stands for a part that found too much: larger than all thresholds together, so that their sum is negative.
_OVER = 1 << 48


def search(
    baskets: SparkBaskets, wanted: SearchBounds, allowed: Codes | None, prefix: Codes, progress: Progress | None
) -> FoundArrays:
    """Find patterns, as :meth:`ExactEngine.search` says."""
    baskets.cluster.progress = progress
    try:
        return _search(baskets, wanted, allowed, prefix)
    finally:
        baskets.cluster.progress = None


def _search(baskets: SparkBaskets, wanted: SearchBounds, allowed: Codes | None, prefix: Codes) -> FoundArrays:
    if wanted.top:
        wanted = replace(wanted, count=max(wanted.count, _start(baskets, wanted, allowed, prefix)))
    parts = _parts_at(wanted.count, baskets.blocks)
    inner = baskets.holding(prefix) if len(prefix) else baskets
    if allowed is not None:
        table = np.full(baskets.items, -1, np.int32)
        table[allowed] = np.arange(len(allowed), dtype=np.int32)
        inner = inner.recoded(table, baskets.vocabulary)
    while parts > 1 and not (wanted.top and wanted.kind == "closed"):
        more = replace(
            wanted, least=1, most=min(wanted.most, UNBOUNDED - 1) + (wanted.kind != "all"), top=0, kind="all"
        )
        try:
            itemsets, counts = _frequent(inner, more, parts)
        except LimitError:
            parts //= 4  # parts that are mined at a larger share of the threshold find less by chance
            continue
        if len(counts) > wanted.limit:
            raise LimitError(too_many(wanted))
        held = inner.item_counts
        if allowed is not None:
            itemsets = Itemsets(itemsets.offsets, allowed[itemsets.codes])
            wider = np.zeros(baskets.items, np.int64)
            wider[allowed] = held[: len(allowed)]
            held = wider
        people = len(inner)
        return assemble_sets(itemsets, counts, held=held, people=people, prefix=prefix, wanted=wanted)
    part = partial(_search_here, wanted=wanted, allowed=allowed, prefix=prefix)
    try:
        return cast(FoundArrays, _in_one_part(baskets, part, "mining"))
    except LimitError:
        raise LimitError(too_many(wanted)) from None


def count_of_rank(baskets: SparkBaskets, k: int, least: int, longest: int, work: int) -> int:
    """Return the count of a rank, as :meth:`ExactEngine.count_of_rank` says."""
    wanted = SearchBounds(count=1, least=least, most=longest, limit=work, top=k)
    bound = _start(baskets, wanted, None, _NOTHING)
    alone = partial(_rank_here, k=k, least=least, longest=longest, work=work)
    while True:
        parts = _parts_at(bound + 1, baskets.blocks)
        if parts <= 1:
            return int(_in_one_part(baskets, alone, "ranking"))
        everything = SearchBounds(count=bound + 1, least=1, most=longest, limit=max(2 * work, 4 * k))
        try:
            itemsets, counts = _frequent(baskets, everything, parts)
        except LimitError:
            # More are held by more people than may be looked at: the count of that rank is what counts then.
            whole = SearchBounds(count=1, least=1, most=longest, limit=work, top=work)
            higher = _start(baskets, whole, None, _NOTHING)
            if higher <= bound:
                return int(_in_one_part(baskets, alone, "ranking"))
            bound = higher
            continue
        right = counts[itemsets.sizes >= least]
        return max(bound, _ranked(right, k), _ranked(counts, work))


def _ranked(counts: I64, rank: int) -> int:
    """Return the count of a rank; 0 where there are fewer."""
    return int(-np.partition(-counts, rank - 1)[rank - 1]) if 0 < rank <= len(counts) else 0


def _parts_at(count: int, stored: StoredBlocks) -> int:
    """Return in how many parts people may be mined so that each has a threshold worth mining at."""
    return max(1, min(stored.partitions, count // _LEAST))


def _start(baskets: SparkBaskets, wanted: SearchBounds, allowed: Codes | None, prefix: Codes) -> int:
    """Return a count that at least `wanted.top` patterns reach, or 0: that of the best ones of a sample."""
    if baskets.blocks.partitions <= 1:
        return 0
    sample = _sample(baskets)
    try:
        offsets, codes, _ = LocalEngine(sample).search(
            replace(wanted, count=2, kind="all"), allowed=allowed, prefix=prefix
        )
    except LimitError:
        return 0
    if len(offsets) <= wanted.top:
        return 0
    counts = baskets.engine().answer(Supports(Itemsets(offsets, codes)))
    return int(counts.min())


def _sample(baskets: SparkBaskets) -> Baskets:
    """Return some of the people, no more than the driver holds easily: every so-and-so-many-th of each partition."""
    share = max(1, -(-baskets.blocks.people // _SAMPLED), -(-baskets.blocks.codes // _SAMPLED_CODES))
    part = partial(_sampled, share=share, most=_SAMPLED_CODES // max(1, baskets.blocks.partitions))
    sizes, codes = reduced(baskets.cluster, baskets.blocks, baskets.view, part, _beside, "taking a sample")
    return Baskets(starts(sizes), codes, baskets.vocabulary)


def _sampled(baskets: Baskets, _: Copies, share: int, most: int) -> tuple[Codes, Codes]:
    kept = np.arange(0, len(baskets), share)
    kept = kept[: int(np.searchsorted(np.cumsum(baskets.sizes[kept]), most, side="right"))]
    some = baskets.rows(kept)
    return some.sizes.astype(np.int32), some.codes


def _beside(one: tuple[Codes, Codes], other: tuple[Codes, Codes]) -> tuple[Codes, Codes]:
    # In an order of their own: which partition came first must not decide what is done.
    first, second = sorted((one, other), key=lambda part: (len(part[0]), part[0].tobytes(), part[1].tobytes()))
    return np.concatenate((first[0], second[0])), np.concatenate((first[1], second[1]))


def _in_one_part(baskets: SparkBaskets, part: Any, what: str) -> Any:
    """Let one task look at everyone."""
    stored = replace(baskets.blocks, frame=baskets.blocks.frame.coalesce(1), partitions=1)
    return reduced(baskets.cluster, stored, baskets.view, part, _never, what)


def _never(one: Any, other: Any) -> Any:
    raise AssertionError("one task has one result")


def _search_here(
    baskets: Baskets, _: Copies, wanted: SearchBounds, allowed: Codes | None, prefix: Codes
) -> FoundArrays:
    return LocalEngine(baskets).search(wanted, allowed=allowed, prefix=prefix)


def _rank_here(baskets: Baskets, _: Copies, k: int, least: int, longest: int, work: int) -> int:
    return LocalEngine(baskets).count_of_rank(k, least, longest, work)


def _frequent(baskets: SparkBaskets, wanted: SearchBounds, parts: int) -> tuple[Itemsets, I64]:
    """Return all itemsets that `wanted.count` people hold, in any order, with their counts."""
    from pyspark.sql import functions as sql

    cluster, stored, people = baskets.cluster, baskets.blocks, len(baskets)
    frame = stored.frame if parts >= stored.partitions else stored.frame.coalesce(parts)
    mine = partial(_mine_part, view=baskets.view, wanted=wanted, people=people)
    with cluster.step("mining parts"):
        found = frame.mapInArrow(cluster.guarded(mine), _FOUND)
        sums = sql.sum("over").alias("over"), sql.count("over").alias("parts")
        added = found.groupBy("items").agg(*sums).coalesce(cluster.parallelism).persist()
        try:
            # A part that did not find an itemset has its threshold less one of it, at most: their sum is `below`.
            marks = cluster.collected(added.where(sql.length("items") == 0)).to_pylist()
            below, all_parts = (int(marks[0]["over"]), int(marks[0]["parts"])) if marks else (0, 0)
            if below < 0:
                raise LimitError(too_many(wanted))
            likely = added.where((sql.length("items") > 0) & (sql.col("over") + below >= wanted.count))
            table = cluster.collected(likely)
        finally:
            added.unpersist()
    itemsets = _itemsets(table.column("items"))
    counts = table.column("over").to_numpy() + below
    known = table.column("parts").to_numpy() == all_parts
    doubtful = np.flatnonzero(~known)
    if len(doubtful):
        counts[doubtful] = baskets.engine().answer(Supports(itemsets.take(doubtful)))
    kept = np.flatnonzero(counts >= wanted.count)
    return itemsets.take(kept), counts[kept]


def _itemsets(column: Any) -> Itemsets:
    """Return itemsets that came as bytes."""
    import pyarrow as pa

    whole = pa.concat_arrays([*column.chunks, pa.array([], column.type)]).cast(pa.large_binary())
    ends = np.frombuffer(whole.buffers()[1], np.int64)[whole.offset : whole.offset + len(whole) + 1]
    data = whole.buffers()[2]
    codes = np.frombuffer(data if data is not None else b"", np.uint8)[ends[0] : ends[-1]].view(np.int32)
    return Itemsets((ends - ends[0]) // 4, codes)


def _mine_part(batches: Iterable[Any], view: BlockView, wanted: SearchBounds, people: int) -> Iterator[Any]:
    """Run in an executor: mine a part at its share of the threshold, and tell how far over it each itemset is."""
    import pyarrow as pa

    blocks = list(read_blocks(batches, view.items))
    if not blocks:
        return
    baskets, _ = view.of(blocks)
    below = -(-wanted.count * len(baskets) // max(people, 1)) - 1 if len(baskets) else 0
    below = max(below, 0)
    found = replace(wanted, count=below + 1, limit=_ROOM * wanted.limit)
    schema = pa.schema([("items", pa.binary()), ("over", pa.int64())])
    try:
        offsets, codes, counts = LocalEngine(baskets).search(found, prefix=_NOTHING)
    except LimitError:
        yield pa.RecordBatch.from_pylist([{"items": b"", "over": -_OVER}], schema)
        return
    yield pa.RecordBatch.from_pylist([{"items": b"", "over": below}], schema)
    for first in range(0, len(counts), 1 << 16):
        last = min(first + (1 << 16), len(counts))
        ends = offsets[first : last + 1]
        data = pa.py_buffer(np.ascontiguousarray(codes[ends[0] : ends[-1]]))
        places = pa.py_buffer(((ends - ends[0]) * 4).astype(np.int32))
        items = pa.Array.from_buffers(pa.binary(), last - first, [None, places, data])
        over = pa.array(counts[first:last] - below)
        yield pa.RecordBatch.from_arrays([items, over], schema=schema)
