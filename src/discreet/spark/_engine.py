"""The engine over baskets in a cluster: each query runs beside the baskets, and only sums come back.

The people of a partition are laid out by the local engine, which answers with its kernels. Sums do not depend on the
partition of people, and the driver computes each answer from these sums alone: a task that runs twice, or in a lost
executor, gives equal numbers again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Codes
from ..exact import (
    BasketCount,
    ExactEngine,
    FoundArrays,
    Held,
    Progress,
    Query,
    SearchBounds,
    Sizes,
    Supports,
    Truncation,
    is_every_item,
)
from ._baskets import BlockView, StoredBlocks, ask_engine, reduce_blocks
from ._blocks import BLOCK_CODES, Block, encode_rows, map_to_blocks
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
            case Held(itemsets, edges) if not baskets.several and is_every_item(itemsets, self.items):
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
        self, bounds: SearchBounds, *, allowed: Codes | None = None, prefix: Codes, progress: Progress | None = None
    ) -> FoundArrays:
        """Return patterns of `allowed` codes among the people with `prefix`, which every pattern then contains."""
        return self._miner.search(bounds, allowed, prefix, progress)

    def count_of_rank(self, k: int, least: int, longest: int, work: int) -> int:
        """Return the count of rank k, or, if larger, of rank `work` over all itemsets of 1 to `longest` items."""
        return self._miner.count_of_rank(k, least, longest, work)

    def cut(self, truncation: Truncation) -> SparkEngine:
        """Return an engine over truncated baskets."""
        stored, view = self._numbered_blocks(truncation.longest)
        baskets = self.baskets
        engine = SparkEngine(replace(baskets, blocks=stored, view=replace(view, cut=truncation), several=False))
        engine.by_person = self.by_person and not baskets.several
        return engine

    def _number_copies(self, longest: int) -> tuple[StoredBlocks, BlockView]:
        """Return new blocks with the number of equal baskets before each basket of more than `longest` items.

        The result has the same distribution for any assignment of numbers to equal baskets. So baskets of more items
        are grouped by their items, counted, and laid out as often as counted. Shorter baskets stay whole in any
        truncation, and stay in place.
        """
        from pyspark.sql import functions as sql

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
    import pyarrow as pa

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
