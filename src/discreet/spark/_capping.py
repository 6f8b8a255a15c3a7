"""At most so many baskets of each person in a cluster: chosen as on this machine, by the same code.

What a person keeps depends on how many equal people come before (`baskets/_capping.py`), and equal people lie in many
partitions. So the people who have too many baskets are counted by what they have, and laid out as often as they were,
numbered; which of the equal people has which number is of no matter. The others stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, PeopleOverCap, SegmentOfPeople, Segments, kept_baskets, starts
from ._baskets import BlockView, StoredBlocks, measure_blocks
from ._blocks import CODES, SCHEMA, Block, Numbered, read_blocks, written

if TYPE_CHECKING:
    from ._baskets import SparkBaskets


@dataclass(frozen=True, eq=False, kw_only=True)
class CapStep:
    """How many baskets of a person may stay, the key, and what items and segments are marked by."""

    most: int
    key: int
    items: int
    item_names: NDArray[np.uint64]
    segment_names: NDArray[np.uint64] | None

    def people_over(self, baskets: Baskets) -> PeopleOverCap:
        """Return the people with more baskets than may stay."""
        if baskets.owners is None:
            raise AssertionError("baskets are capped where people may have several")
        return PeopleOverCap.of(baskets.owners, baskets.offsets, baskets.codes, self.item_names, self.most, self.key)


def cap_blocks(held: SparkBaskets, most: int, key: int) -> tuple[StoredBlocks, BlockView]:
    """Return new blocks with at most `most` baskets of each person, and the view that takes them as they are."""
    from pyspark.sql import functions as sql

    cluster, stored, view = held.cluster, held.blocks, held.view
    segments = held.segment_vocabulary
    step = CapStep(
        most=most,
        key=key,
        items=held.items,
        item_names=held.vocabulary.identities,
        segment_names=None if segments is None else segments.identities,
    )
    with cluster.step("capping the baskets of people"):
        under = stored.frame.mapInArrow(cluster.guarded(partial(_people_under, view=view, step=step)), SCHEMA)
        over = stored.frame.mapInArrow(cluster.guarded(partial(_people_over, view=view, step=step)), "row binary")
        counted = over.groupBy("row").agg(sql.count("row").alias("people")).coalesce(max(1, stored.partitions))
        capped = counted.mapInArrow(cluster.guarded(partial(_capped_people, step=step)), SCHEMA)
        blocks, _ = measure_blocks(cluster, under.union(capped).persist(), held.items)
    return blocks, BlockView(items=held.items, segments=view.segments, several=True, lineage=held.lineage)


def _people_under(batches: Iterable[Any], view: BlockView, step: CapStep) -> Iterator[Any]:
    """Run in an executor: the people who keep all their baskets, as blocks."""
    for block in read_blocks(batches, view.items):
        baskets, _ = view.of([block])
        counts = np.diff(baskets.owners) if baskets.owners is not None else np.empty(0, np.int64)
        kept = baskets.rows(np.flatnonzero(np.repeat(counts <= step.most, counts)))
        yield from written([Block.of(kept)], step.items)


def _people_over(batches: Iterable[Any], view: BlockView, step: CapStep) -> Iterator[Any]:
    """Run in an executor: the other people, a row each, as bytes that are equal where the people are."""
    import pyarrow as pa

    for block in read_blocks(batches, view.items):
        baskets, _ = view.of([block])
        people = step.people_over(baskets)
        segments = None
        if baskets.segments is not None and baskets.owners is not None:
            segments = baskets.segments.codes[baskets.owners[:-1]]
        offsets, numbers = people.rows(baskets.offsets, baskets.codes, segments)
        places = pa.py_buffer((offsets * 4).astype(np.int32))
        values = pa.py_buffer(numbers.tobytes())
        rows = pa.Array.from_buffers(pa.binary(), len(people.people), [None, places, values])
        yield pa.RecordBatch.from_arrays([rows], names=["row"])


def _capped_people(batches: Iterable[Any], step: CapStep) -> Iterator[Any]:
    """Run in an executor: the baskets that stay of as many people as have just these, numbered, as blocks."""
    for rows, copies in _rows_and_copies(batches):
        yield from written([_capped_block(rows, copies, step)], step.items)


def _rows_and_copies(batches: Iterable[Any]) -> Iterator[tuple[list[NDArray[np.int32]], list[int]]]:
    """Yield the rows of some people and how many equal people come before each: about CODES numbers at a time."""
    rows: list[NDArray[np.int32]] = []
    copies: list[int] = []
    number_count = 0
    for batch in batches:
        for value, people in zip(batch.column(0), batch.column(1).to_pylist(), strict=True):
            row = np.frombuffer(value.as_buffer(), np.int32)
            for copy in range(people):
                rows.append(row)
                copies.append(copy)
                number_count += len(row)
                if number_count >= CODES:
                    yield rows, copies
                    rows, copies, number_count = [], [], 0
    if rows:
        yield rows, copies


def _capped_block(rows: list[NDArray[np.int32]], copies: list[int], step: CapStep) -> Block:
    """Return the baskets that stay of people who are given as the rows of `PeopleOverCap.rows`."""
    sizes = [row[2 : 2 + row[1]] for row in rows]
    codes = np.concatenate([row[2 + row[1] :] for row in rows])
    counts = np.array([row[1] for row in rows], np.int64)
    owners, offsets = starts(counts), starts(np.concatenate(sizes))
    segment_of_people = None
    segments = None
    if step.segment_names is not None:
        marks = np.array([row[0] for row in rows], np.int32)
        segment_of_people = SegmentOfPeople(marks, step.segment_names)
        segments = Segments("", np.repeat(marks, counts), Numbered(len(step.segment_names)))
    copies_before = np.array(copies, np.int32)
    kept = kept_baskets(owners, offsets, codes, step.item_names, step.most, step.key, segment_of_people, copies_before)
    return Block.of(Baskets.trusted(offsets, codes, Numbered(step.items), segments, owners).rows(kept))
