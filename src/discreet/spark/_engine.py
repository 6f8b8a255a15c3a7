"""The engine over baskets in a cluster: each question goes to where the baskets lie, and only sums come back.

A partition's people are laid out as the local engine lays them out, by its own code, and answer with its kernels. What
is added up does not depend on how people are partitioned, and what decides an answer is computed on the driver from
these sums alone: a task that is run twice, or whose executor is lost, gives the same numbers again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes
from ..exact import (
    BasketCount,
    ExactEngine,
    FoundArrays,
    Held,
    LocalEngine,
    Progress,
    Query,
    SearchBounds,
    Sizes,
    Supports,
    Truncation,
    is_every_item,
)
from ._baskets import BlockView, Copies, StoredBlocks, reduced
from ._blocks import CODES, SCHEMA, Block, read_blocks, written
from ._mining import Miner

if TYPE_CHECKING:
    from ._baskets import SparkBaskets

I64 = NDArray[np.int64]


class SparkEngine(ExactEngine):
    """Answers exact questions about baskets in a cluster."""

    def __init__(self, baskets: SparkBaskets) -> None:
        super().__init__(baskets.items)
        self.baskets = baskets
        self.lineage = baskets.lineage
        self._miner = Miner(baskets)
        self._numbered = lru_cache(maxsize=1)(self._with_copies)

    def total(self, query: Query) -> I64:
        """Return the vector of a query that is a sum over people."""
        held = self.baskets
        stored, view = held.blocks, held.view
        if isinstance(query, BasketCount) and not held.filtered:
            return np.array([held.blocks.baskets], np.int64)
        match query:
            case Sizes(longest):
                return held.survey.binned(tuple(range(longest + 1)))
            case Held(itemsets, edges) if not held.several and is_every_item(itemsets, self.items):
                return held.survey.binned(edges)
            case Supports(itemsets, None):
                return self._miner.counts(itemsets)
            case Supports(_, Truncation() as truncation):
                stored, view = self._numbered(truncation.longest)
        return reduced(held.cluster, stored, view, partial(_answer, query=query), np.add, _named(query))

    def search(
        self, wanted: SearchBounds, *, allowed: Codes | None = None, prefix: Codes, progress: Progress | None = None
    ) -> FoundArrays:
        """Find patterns of the codes that are `allowed` among those who hold `prefix`, which every pattern then has."""
        return self._miner.search(wanted, allowed, prefix, progress)

    def count_of_rank(self, k: int, least: int, longest: int, work: int) -> int:
        """Return the count of rank k, or of rank `work` over all itemsets of 1 to `longest` items if that is more."""
        return self._miner.count_of_rank(k, least, longest, work)

    def cut(self, truncation: Truncation) -> SparkEngine:
        """Return an engine over the same baskets, each of them cut first."""
        stored, view = self._numbered(truncation.longest)
        held = self.baskets
        cut = SparkEngine(replace(held, blocks=stored, view=replace(view, cut=truncation), several=False))
        cut.by_person = self.by_person and not held.several
        return cut

    def _with_copies(self, longest: int) -> tuple[StoredBlocks, BlockView]:
        """Lay out the baskets anew, with how many equal ones come before each of those that are longer than this.

        Which of the equal baskets has which number is of no matter: so those that are longer are counted by what they
        hold, and laid out as often as they were. Shorter ones are kept whole by any cut, and stay where they are.
        """
        from pyspark.sql import functions as sql

        held = self.baskets
        cluster, stored, view = held.cluster, held.blocks, held.view
        with cluster.step("numbering equal baskets"):
            short = stored.frame.mapInArrow(cluster.guarded(partial(_short, view=view, longest=longest)), SCHEMA)
            long = stored.frame.mapInArrow(cluster.guarded(partial(_long, view=view, longest=longest)), "row binary")
            counted = long.groupBy("row").agg(sql.count("row").alias("many")).coalesce(max(1, stored.partitions))
            laid = counted.mapInArrow(cluster.guarded(partial(_laid_out, items=self.items)), SCHEMA)
            frame = short.union(laid).persist()
        identities = held.vocabulary.identities
        # Twice as many partitions may hold somebody, as short and long baskets lie apart.
        many = len(held)
        codes = stored.codes * view.widest
        again = replace(stored, frame=frame, partitions=2 * stored.partitions, people=many, baskets=many, codes=codes)
        return again.kept(), BlockView(items=self.items, identities=identities, lineage=held.lineage)


def _named(query: Query) -> str:
    """Say what is counted in the words of Spark's pages: the kind of question, and nothing of what it is about."""
    return f"counting {type(query).__name__}"


def _answer(baskets: Baskets, copies: Copies, query: Query) -> I64:
    return LocalEngine(baskets, copies).total(query)


def _short(batches: Iterable[Any], view: BlockView, longest: int) -> Iterator[Any]:
    """Run in an executor: the baskets of up to so many items, as blocks."""
    for block in read_blocks(batches, view.items):
        baskets, _ = view.of([block])
        kept = replace(baskets.rows(np.flatnonzero(baskets.sizes <= longest)), segments=None, owners=None)
        yield from written([Block.of(kept)], baskets.items)


def _long(batches: Iterable[Any], view: BlockView, longest: int) -> Iterator[Any]:
    """Run in an executor: the baskets of more items, a row each, as bytes that are equal where the baskets are."""
    import pyarrow as pa

    for block in read_blocks(batches, view.items):
        baskets, _ = view.of([block])
        kept = baskets.rows(np.flatnonzero(baskets.sizes > longest))
        places = pa.py_buffer((kept.offsets * 4).astype(np.int32))
        rows = pa.Array.from_buffers(pa.binary(), len(kept), [None, places, pa.py_buffer(kept.codes.tobytes())])
        yield pa.RecordBatch.from_arrays([rows], names=["row"])


def _laid_out(batches: Iterable[Any], items: int) -> Iterator[Any]:
    """Run in an executor: each row as often as there are people who hold just that, numbered."""
    return written(_repeated(batches), items)


def _repeated(batches: Iterable[Any]) -> Iterator[Block]:
    sizes: list[Any] = []
    codes: list[Any] = []
    copies: list[Any] = []
    waiting = 0
    for batch in batches:
        for row, many in zip(batch.column(0), batch.column(1).to_pylist(), strict=True):
            held = np.frombuffer(row.as_buffer(), np.int32)
            for first in range(0, many, max(1, CODES // len(held))):
                numbers = np.arange(first, min(first + max(1, CODES // len(held)), many), dtype=np.int32)
                sizes.append(np.full(len(numbers), len(held), np.int32))
                codes.append(np.tile(held, len(numbers)))
                copies.append(numbers)
                waiting += len(codes[-1])
                if waiting >= CODES:
                    yield _block(sizes, codes, copies)
                    sizes, codes, copies, waiting = [], [], [], 0
    if waiting:
        yield _block(sizes, codes, copies)


def _block(sizes: list[Any], codes: list[Any], copies: list[Any]) -> Block:
    none = np.empty(0, np.int32)
    return Block(np.concatenate(sizes), np.concatenate(codes), none, np.concatenate(copies), none)
