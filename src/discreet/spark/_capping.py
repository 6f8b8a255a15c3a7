"""At most a number of baskets of each person in a cluster, chosen by the code that chooses on this machine.

The choice for a person depends on the number of equal people before the person (`baskets/_capping.py`), and equal
people lie in many partitions. People over the cap are therefore grouped by their baskets, counted, and laid out again
as often as counted, numbered. Any assignment of the numbers to equal people gives an equal distribution of choices.
People under the cap stay in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, PeopleOverCap, SegmentOfPeople, Segments, select_baskets, starts
from ._baskets import BlockView, StoredBlocks, measure_blocks
from ._blocks import BLOCK_CODES, Block, CodeVocabulary, encode_rows, map_to_blocks

if TYPE_CHECKING:
    from ._baskets import SparkBaskets


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
    from pyspark.sql import functions as sql

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
    return blocks, BlockView(items=baskets.items, segments=view.segments, several=True, lineage=baskets.lineage)


def _select_people_under(batches: Iterable[Any], view: BlockView, step: CapStep) -> Iterator[Block]:
    """Run in an executor: yield the blocks of the people with at most the cap of baskets."""
    for baskets in view.read_baskets(batches):
        basket_counts = np.diff(baskets.owners) if baskets.owners is not None else np.empty(0, np.int64)
        rows = np.flatnonzero(np.repeat(basket_counts <= step.max_baskets, basket_counts))
        yield Block.from_baskets(baskets.rows(rows))


def _write_people_over(batches: Iterable[Any], view: BlockView, step: CapStep) -> Iterator[Any]:
    """Run in an executor: yield the people over the cap, one row each; rows are equal if the people are equal."""
    import pyarrow as pa

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
