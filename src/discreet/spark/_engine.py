"""The engine over baskets in a cluster: each query runs beside the baskets, and only sums come back.

The people of a partition are laid out by the local engine, which answers with its kernels. Sums do not depend on the
partition of people, and the driver computes each answer from these sums alone: a task that runs twice, or in a lost
executor, gives equal numbers again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, PeopleOverCap, SegmentOfPeople, Segments, select_baskets, starts
from ..exact import (
    BasketCount,
    ExactEngine,
    FoundArrays,
    LoadHistogram,
    Progress,
    Query,
    SearchBounds,
    Sizes,
    Supports,
    Truncation,
    is_every_item,
)
from ..heavy import pa, sql
from ._baskets import BlockView, StoredBlocks, ask_engine, measure_blocks, reduce_blocks
from ._blocks import BLOCK_CODES, Block, CodeVocabulary, encode_rows, map_to_blocks
from ._mining import Miner

if TYPE_CHECKING:
    from ._baskets import SparkBaskets

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class SparkEngine(ExactEngine):
    """Answers exact queries about baskets in a cluster."""

    def __init__(self, baskets: SparkBaskets) -> None:
        super().__init__(baskets.items)
        self.baskets = baskets
        self.lineage = baskets.lineage
        self._miner = Miner(baskets)
        self._numbered_blocks = lru_cache(maxsize=1)(self._number_copies)

    def total(self, query: Query) -> I64:
        """Return the answer to a query that is a sum over people."""
        baskets = self.baskets
        stored, view = baskets.blocks, baskets.view
        # The survey and the miner have many answers already; a pass over the blocks takes seconds.
        match query:
            case BasketCount() if not view.is_filtered:
                return np.array([stored.baskets], np.int64)
            case Sizes(longest):
                return baskets.survey.count_bins(tuple(range(longest + 1)))
            case LoadHistogram(itemsets, edges) if not baskets.has_receipts and is_every_item(itemsets, self.items):
                return baskets.survey.count_bins(edges)
            case Supports(itemsets, None):
                return self._miner.count_itemsets(itemsets)
            case Supports(_, Truncation() as truncation):
                stored, view = self._numbered_blocks(truncation.longest)
        # Spark's pages show the kind of the query, and none of its values.
        step = f"counting {type(query).__name__}"
        return reduce_blocks(
            baskets.cluster, stored, view, partial(ask_engine, call=methodcaller("total", query)), np.add, step
        )

    def search(
        self,
        bounds: SearchBounds,
        *,
        extensions: Codes | None = None,
        prefix: Codes,
        progress: Progress | None = None,
    ) -> FoundArrays:
        """Return patterns of `extensions` among the people with `prefix`, which every pattern then contains."""
        return self._miner.search(bounds, extensions, prefix, progress)

    def count_of_rank(self, k: int, min_length: int, longest: int, work: int) -> int:
        """Return the count of rank k, or, if larger, of rank `work` over all itemsets of 1 to `longest` items."""
        return self._miner.count_of_rank(k, min_length, longest, work)

    def cut(self, truncation: Truncation) -> SparkEngine:
        """Return an engine over truncated baskets."""
        stored, view = self._numbered_blocks(truncation.longest)
        baskets = self.baskets
        engine = SparkEngine(replace(baskets, blocks=stored, view=replace(view, cut=truncation), has_receipts=False))
        engine.by_person = self.by_person and not baskets.has_receipts
        return engine

    def _number_copies(self, longest: int) -> tuple[StoredBlocks, BlockView]:
        """Return new blocks with the number of equal baskets before each basket of more than `longest` items.

        The result has the same distribution for any assignment of numbers to equal baskets. So baskets of more items
        are grouped by their items, counted, and laid out as often as counted. Shorter baskets stay whole in any
        truncation, and stay in place.
        """
        baskets = self.baskets
        cluster, stored, view = baskets.cluster, baskets.blocks, baskets.view
        with cluster.step("numbering equal baskets"):
            select = partial(_select_short, view=view, longest=longest)
            short_blocks = map_to_blocks(cluster, stored.frame, select, self.items)
            long_rows = stored.frame.mapInArrow(
                cluster.guard(partial(_write_long, view=view, longest=longest)), "row binary"
            )
            counted_rows = long_rows.groupBy("row").agg(sql.count("row").alias("basket_count"))
            counted_rows = counted_rows.coalesce(max(1, stored.partitions))
            repeated = map_to_blocks(cluster, counted_rows, _repeat_rows, self.items)
            frame = short_blocks.union(repeated).persist()
        basket_count = len(baskets)
        numbered = StoredBlocks(
            frame,
            # The numbers are known without a pass over the new blocks.
            # Short and long baskets are in different partitions.
            partitions=2 * stored.partitions,
            people=basket_count,
            baskets=basket_count,
            codes=stored.codes * view.expansion,
        )
        identities = baskets.vocabulary.identities
        return numbered.release_when_unused(), BlockView(
            items=self.items, identities=identities, lineage=baskets.lineage
        )


def _select_short(batches: Iterable[Any], view: BlockView, longest: int) -> Iterator[Block]:
    """Run in an executor: yield the blocks of the baskets of at most `longest` items."""
    for baskets in view.read_baskets(batches):
        short_baskets = replace(baskets.rows(np.flatnonzero(baskets.sizes <= longest)), segments=None, owners=None)
        yield Block.from_baskets(short_baskets)


def _write_long(batches: Iterable[Any], view: BlockView, longest: int) -> Iterator[Any]:
    """Run in an executor: yield the baskets of more items, one row each; rows are equal if the baskets are equal."""
    for baskets in view.read_baskets(batches):
        long_baskets = baskets.rows(np.flatnonzero(baskets.sizes > longest))
        yield pa.RecordBatch.from_arrays([encode_rows(long_baskets.offsets, long_baskets.codes)], names=["row"])


def _repeat_rows(batches: Iterable[Any]) -> Iterator[Block]:
    """Run in an executor: yield blocks with each row as often as it was counted, numbered from 0."""
    pieces: list[tuple[I32, I32, I32]] = []
    code_count = 0
    for batch in batches:
        for row, basket_count in zip(batch.column(0), batch.column(1).to_pylist(), strict=True):
            codes = np.frombuffer(row.as_buffer(), np.int32)
            # A frequent basket is split over blocks: a block has about BLOCK_CODES codes.
            piece_size = max(1, BLOCK_CODES // len(codes))
            for start in range(0, basket_count, piece_size):
                copies: I32 = np.arange(start, min(start + piece_size, basket_count), dtype=np.int32)
                sizes = np.full(len(copies), len(codes), np.int32)
                pieces.append((sizes, np.tile(codes, len(copies)), copies))
                code_count += len(codes) * len(copies)
                if code_count >= BLOCK_CODES:
                    yield _join_pieces(pieces)
                    pieces, code_count = [], 0
    if pieces:
        yield _join_pieces(pieces)


def _join_pieces(pieces: list[tuple[I32, I32, I32]]) -> Block:
    """Return a block of pieces: the size of each basket, the codes end to end, and the copies before each basket."""
    sizes, codes, copies = map(np.concatenate, zip(*pieces, strict=True))
    empty = np.empty(0, np.int32)
    return Block(sizes, codes, empty, copies, empty)


@dataclass(frozen=True, eq=False, kw_only=True)
class CapStep:
    """The largest number of baskets of a person, the key of the draw, and the hashes of items and of segments."""

    max_baskets: int
    key: int
    items: int
    item_identities: NDArray[np.uint64]
    segment_identities: NDArray[np.uint64] | None

    def find_people_over(self, baskets: Baskets) -> PeopleOverCap:
        """Return the people with more baskets than the cap."""
        if baskets.owners is None:
            raise AssertionError("baskets are capped where people may have several")
        return PeopleOverCap.find(
            baskets.owners, baskets.offsets, baskets.codes, self.item_identities, self.max_baskets, self.key
        )


def cap_blocks(baskets: SparkBaskets, max_baskets: int, key: int) -> tuple[StoredBlocks, BlockView]:
    """Return new blocks with at most `max_baskets` baskets of each person, and the view that reads them unchanged."""
    cluster, stored, view = baskets.cluster, baskets.blocks, baskets.view
    segments = baskets.segment_vocabulary
    step = CapStep(
        max_baskets=max_baskets,
        key=key,
        items=baskets.items,
        item_identities=baskets.vocabulary.identities,
        segment_identities=None if segments is None else segments.identities,
    )
    with cluster.step("capping the baskets of people"):
        select = partial(_select_people_under, view=view, step=step)
        blocks_under = map_to_blocks(cluster, stored.frame, select, baskets.items)
        write = partial(_write_people_over, view=view, step=step)
        rows_over = stored.frame.mapInArrow(cluster.guard(write), "row binary")
        # Equal rows are equal people: their number is all that the choice depends on.
        counted_rows = (
            rows_over.groupBy("row").agg(sql.count("row").alias("people")).coalesce(max(1, stored.partitions))
        )
        capped = map_to_blocks(cluster, counted_rows, partial(_cap_people, step=step), baskets.items)
        blocks, _ = measure_blocks(cluster, blocks_under.union(capped).persist(), baskets.items)
    return blocks, BlockView(items=baskets.items, segments=view.segments, has_receipts=True, lineage=baskets.lineage)


def _select_people_under(batches: Iterable[Any], view: BlockView, step: CapStep) -> Iterator[Block]:
    """Run in an executor: yield the blocks of the people with at most the cap of baskets."""
    for baskets in view.read_baskets(batches):
        basket_counts = np.diff(baskets.owners) if baskets.owners is not None else np.empty(0, np.int64)
        rows = np.flatnonzero(np.repeat(basket_counts <= step.max_baskets, basket_counts))
        yield Block.from_baskets(baskets.rows(rows))


def _write_people_over(batches: Iterable[Any], view: BlockView, step: CapStep) -> Iterator[Any]:
    """Run in an executor: yield the people over the cap, one row each; rows are equal if the people are equal."""
    for baskets in view.read_baskets(batches):
        segments = None
        if baskets.segments is not None and baskets.owners is not None:
            segments = baskets.segments.codes[baskets.owners[:-1]]
        offsets, numbers = step.find_people_over(baskets).rows(baskets.offsets, baskets.codes, segments)
        yield pa.RecordBatch.from_arrays([encode_rows(offsets, numbers)], names=["row"])


def _cap_people(batches: Iterable[Any], step: CapStep) -> Iterator[Block]:
    """Run in an executor: yield the blocks of the remaining baskets of people over the cap, numbered if equal."""
    rows: list[NDArray[np.int32]] = []
    copies: list[int] = []
    number_count = 0
    for batch in batches:
        for value, people_count in zip(batch.column(0), batch.column(1).to_pylist(), strict=True):
            row = np.frombuffer(value.as_buffer(), np.int32)
            for copy in range(people_count):
                rows.append(row)
                copies.append(copy)
                number_count += len(row)
                if number_count >= BLOCK_CODES:
                    yield _cap_block(rows, copies, step)
                    rows, copies, number_count = [], [], 0
    if rows:
        yield _cap_block(rows, copies, step)


def _cap_block(rows: list[NDArray[np.int32]], copies: list[int], step: CapStep) -> Block:
    """Return the remaining baskets of people over the cap.

    A row, as `PeopleOverCap.rows` makes it, is the segment, the number of baskets, the size of each basket, and the
    codes end to end.
    """
    sizes = [row[2 : 2 + row[1]] for row in rows]
    codes = np.concatenate([row[2 + row[1] :] for row in rows])
    basket_counts = np.array([row[1] for row in rows], np.int64)
    owners, offsets = starts(basket_counts), starts(np.concatenate(sizes))
    segment_of_people = None
    segments = None
    if step.segment_identities is not None:
        segment_codes = np.array([row[0] for row in rows], np.int32)
        segment_of_people = SegmentOfPeople(segment_codes, step.segment_identities)
        vocabulary = CodeVocabulary(len(step.segment_identities))
        segments = Segments("", np.repeat(segment_codes, basket_counts), vocabulary)
    remaining = select_baskets(
        owners,
        offsets,
        codes,
        step.item_identities,
        step.max_baskets,
        step.key,
        segment_of_people,
        np.array(copies, np.int32),
    )
    baskets = Baskets.trusted(offsets, codes, CodeVocabulary(step.items), segments, owners)
    return Block.from_baskets(baskets.rows(remaining))
