"""The layout of baskets in a cluster: one row of a data frame is a block of many people, as bytes that kernels read.

Spark would convert a row for each person to objects and back for every question. A block is a few arrays end to end, of
about a million codes, that pass through unchanged. Codes take two bytes each if the items are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, Lineage, Offsets, Segments, Vocabulary, starts
from ..heavy import pa
from ..results import Itemsets
from ._session import Cluster

# The columns of a data frame of blocks: numbers, then arrays as bytes.
COUNTS = (
    "people_count",
    "basket_count",
    "rows_without_person",
    "rows_without_basket",
    "merged",
    "people_without_segment",
)
_ARRAYS = ("sizes", "codes", "segments", "copies", "baskets_each")
_SCHEMA = ", ".join([*(f"{name} bigint" for name in COUNTS), *(f"{name} binary" for name in _ARRAYS)])
# A block ends with the person that brings it to this number of codes, so that no person is in two blocks. Larger: more
# memory for each task; smaller: more rows for Spark to handle.
BLOCK_CODES = 1 << 20
# The largest number of codes and people that a task lays out at once: 1 GiB of codes, and a few times as much beside
# them. Larger: tasks run out of memory; smaller: parts have lower thresholds, and list more candidates.
MAX_TASK_CODES = 1 << 28
# Codes take two bytes up to this number of items.
MAX_SHORT_ITEMS = 1 << 16
_EMPTY = np.empty(0, np.int32)


class CodeVocabulary(Vocabulary):
    """A vocabulary of codes alone: labels stay on the driver. `identities` are hashes of the labels, where needed."""

    def __init__(self, items: int, identities: NDArray[np.uint64] | None = None) -> None:
        super().__init__(pa.array(np.arange(items, dtype=np.int64)))
        if identities is not None:
            self.identities = identities

    def __reduce__(self) -> tuple[Any, ...]:
        # The codes are not sent to executors: they are made again there.
        return CodeVocabulary, (len(self), self.__dict__.get("identities"))


@dataclass(frozen=True, eq=False)
class Block:
    """The baskets of some people: the sizes of the baskets, and their codes end to end.

    Parameters
    ----------
    sizes, codes
        The number of items of each basket; the codes of all baskets, end to end.
    segments
        The segment of each basket; empty without segments.
    copies
        The number of equal baskets before each basket; empty if unknown.
    baskets_each
        The number of baskets of each person, which lie together; empty if each person has one.
    rows_without_person, rows_without_basket
        The number of rows left out because their person, or their basket, is missing.
    merged
        The number of repeated items in a basket.
    people_without_segment
        The number of people without a segment, or with several.
    """

    sizes: NDArray[np.int32]
    codes: NDArray[Any]
    segments: Codes
    copies: NDArray[np.int32]
    baskets_each: NDArray[np.int32]
    rows_without_person: int = 0
    rows_without_basket: int = 0
    merged: int = 0
    people_without_segment: int = 0

    @classmethod
    def from_baskets(cls, baskets: Baskets, **counts: int) -> Block:
        """Return baskets as a block, with the `counts` of rows that were left out or merged."""
        segments = _EMPTY if baskets.segments is None else baskets.segments.codes
        baskets_each = _EMPTY if baskets.owners is None else np.diff(baskets.owners).astype(np.int32)
        sizes = baskets.sizes.astype(np.int32)
        return cls(sizes, baskets.codes, segments, _EMPTY, baskets_each, **counts)

    def to_row(self, items: int) -> dict[str, Any]:
        """Return the block as a row of a data frame; `items` is the number of items of the vocabulary."""
        codes = self.codes.astype(np.uint16) if items <= MAX_SHORT_ITEMS else self.codes
        counts = {name: getattr(self, name) for name in COUNTS}
        arrays = {name: codes if name == "codes" else getattr(self, name) for name in _ARRAYS}
        return counts | {name: array.tobytes() for name, array in arrays.items()}

    @property
    def basket_count(self) -> int:
        """The number of baskets."""
        return len(self.sizes)

    @property
    def people_count(self) -> int:
        """The number of people."""
        return len(self.baskets_each) or len(self.sizes)


def map_to_blocks(cluster: Cluster, frame: Any, build: Callable[[Iterable[Any]], Iterator[Block]], items: int) -> Any:
    """Return a data frame of the blocks that `build` yields from the batches of each partition, in executors."""
    return frame.mapInArrow(cluster.guard(partial(_run_build, build=build, items=items)), _SCHEMA)


def _run_build(batches: Iterable[Any], build: Callable[[Iterable[Any]], Iterator[Block]], items: int) -> Iterator[Any]:
    return write_blocks(build(batches), items)


def write_blocks(blocks: Iterable[Block], items: int) -> Iterator[Any]:
    """Yield blocks as Arrow batches of one row each."""
    arrow_types = {"bigint": pa.int64(), "binary": pa.binary()}
    schema = pa.schema([(name, arrow_types[kind]) for name, kind in map(str.split, _SCHEMA.split(", "))])
    for block in blocks:
        yield pa.RecordBatch.from_pylist([block.to_row(items)], schema)


def read_blocks(batches: Iterable[Any], items: int) -> Iterator[Block]:
    """Yield the blocks of Arrow batches without copying an array: codes may have two bytes each."""
    for batch in batches:
        for row in range(len(batch)):
            arrays: dict[str, Any] = {name: batch.column(name)[row].as_buffer() for name in _ARRAYS}
            codes = np.frombuffer(arrays.pop("codes"), np.uint16 if items <= MAX_SHORT_ITEMS else np.int32)
            sizes, segments, copies, baskets_each = (np.frombuffer(buffer, np.int32) for buffer in arrays.values())
            yield Block(sizes, codes, segments, copies, baskets_each)


def group_blocks(blocks: Iterable[Block], max_codes: int | None) -> Iterator[list[Block]]:
    """Yield groups of the blocks of a partition: at most about `max_codes` codes and baskets each, or all in one group.

    Spark splits files by their bytes, and a small file may have many equal baskets.
    """
    group: list[Block] = []
    code_count = 0
    for block in blocks:
        block_codes = len(block.codes) + len(block.sizes)
        if group and max_codes is not None and code_count + block_codes > max_codes:
            yield group
            group, code_count = [], 0
        group.append(block)
        code_count += block_codes
    if group:
        yield group


def decode_itemsets(column: Any) -> Itemsets:
    """Return the itemsets of an Arrow column of bytes, as :func:`encode_rows` makes it."""
    # Arrow cannot join zero chunks, hence the empty array behind them.
    array = pa.concat_arrays([*column.chunks, pa.array([], column.type)]).cast(pa.large_binary())
    ends = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    data = array.buffers()[2]
    # Arrow has no buffer for a column of empty values.
    codes = np.frombuffer(data if data is not None else b"", np.uint8)[ends[0] : ends[-1]].view(np.int32)
    return Itemsets((ends - ends[0]) // 4, codes)


def encode_rows(offsets: Offsets, codes: NDArray[np.int32]) -> Any:
    """Return rows of 32-bit numbers as an Arrow column of bytes, equal where the rows are; less than 2 GiB in all."""
    data = pa.py_buffer(np.ascontiguousarray(codes[offsets[0] : offsets[-1]]))
    byte_offsets = pa.py_buffer(((offsets - offsets[0]) * 4).astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, byte_offsets, data])


def join_blocks(
    blocks: list[Block], vocabulary: Vocabulary, segments: int, has_receipts: bool, lineage: Lineage | None = None
) -> tuple[Baskets, NDArray[np.int32] | None]:
    """Return the baskets of all blocks, and the number of equal baskets before each basket, if known.

    `segments` is the number of segments, 0 for none; with `has_receipts` people may have several baskets.
    """
    sizes = _concatenate([block.sizes for block in blocks])
    codes = _concatenate([block.codes for block in blocks])
    segment_codes = _concatenate([block.segments for block in blocks])
    joined_segments = Segments("", segment_codes, CodeVocabulary(segments)) if segments else None
    copies = None
    if any(len(block.copies) for block in blocks):
        # Blocks of short baskets have no copies and need none: truncation leaves short baskets whole.
        copies = _concatenate([block.copies if len(block.copies) else np.zeros_like(block.sizes) for block in blocks])
    owners = starts(_concatenate([block.baskets_each for block in blocks])) if has_receipts else None
    return Baskets.trusted(starts(sizes), codes, vocabulary, joined_segments, owners, lineage), copies


def _concatenate(arrays: list[NDArray[Any]]) -> NDArray[np.int32]:
    if len(arrays) == 1:
        return arrays[0].astype(np.int32, copy=False)
    return np.concatenate([_EMPTY, *arrays], dtype=np.int32)
