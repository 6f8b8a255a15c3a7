"""How baskets lie in a cluster: many people in one row of a data frame, as bytes that kernels read where they are.

A row for each person would be made into objects and back by Spark for every question. A block is a few arrays end to
end, of about a million codes, that pass through as they are. Codes take two bytes each where there are few items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, Lineage, Offsets, Segments, Vocabulary, starts
from ..results import Itemsets

# Columns of a data frame of blocks.
_ARRAYS = ("sizes", "codes", "segments", "copies", "each")
COUNTS = ("people", "baskets", "left_out", "loose", "merged", "strange")
SCHEMA = ", ".join([*(f"{name} bigint" for name in COUNTS), *(f"{name} binary" for name in _ARRAYS)])
# A block ends with the person who brings it to so many codes: nobody is in two.
CODES = 1 << 20
# So many codes and people are looked at together, at most: what a task lays out beside them is a few times as large.
TOGETHER = 1 << 28
# Codes take two bytes where there are no more items than this.
NARROW = 1 << 16
_NONE = np.empty(0, np.int32)


class Numbered(Vocabulary):
    """A vocabulary of codes alone: labels stay on the driver. `identities` are those of the labels, where needed."""

    def __init__(self, items: int, identities: NDArray[np.uint64] | None = None) -> None:
        import pyarrow as pa

        super().__init__(pa.array(np.arange(items, dtype=np.int64)))
        if identities is not None:
            self.identities = identities


@dataclass(frozen=True, eq=False)
class Block:
    """Some people: how many items each basket has, their codes end to end, and what goes with them.

    `segments`, `copies` (how many equal baskets come before each) and `each` (how many baskets each person has, which
    lie together) are empty where there are none; `left_out` rows had no person and `loose` ones no basket, `merged`
    were repeats, and `strange` people have no segment, or several.
    """

    sizes: NDArray[np.int32]
    codes: NDArray[Any]
    segments: Codes
    copies: NDArray[np.int32]
    each: NDArray[np.int32]
    left_out: int = 0
    loose: int = 0
    merged: int = 0
    strange: int = 0

    @classmethod
    def of(cls, baskets: Baskets, copies: NDArray[np.int32] | None = None, **beside: int) -> Block:
        """Return baskets as a block."""
        segments = _NONE if baskets.segments is None else baskets.segments.codes
        each = _NONE if baskets.owners is None else np.diff(baskets.owners).astype(np.int32)
        sizes = baskets.sizes.astype(np.int32)
        return cls(sizes, baskets.codes, segments, _NONE if copies is None else copies, each, **beside)

    def row(self, items: int) -> dict[str, Any]:
        """Return the block as a row of a data frame, over so many items."""
        codes = self.codes.astype(np.uint16) if items <= NARROW else self.codes
        counts = {name: getattr(self, name) for name in COUNTS}
        arrays = {name: codes if name == "codes" else getattr(self, name) for name in _ARRAYS}
        return counts | {name: array.tobytes() for name, array in arrays.items()}

    @property
    def baskets(self) -> int:
        """How many baskets they are."""
        return len(self.sizes)

    @property
    def people(self) -> int:
        """Whose: how many people have them."""
        return len(self.each) or len(self.sizes)


def written(blocks: Iterable[Block], items: int) -> Iterator[Any]:
    """Yield blocks as batches of one row each."""
    import pyarrow as pa

    kinds = {"bigint": pa.int64(), "binary": pa.binary()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in (column.split() for column in SCHEMA.split(", "))])
    for block in blocks:
        yield pa.RecordBatch.from_pylist([block.row(items)], schema)


def read_blocks(batches: Iterable[Any], items: int) -> Iterator[Block]:
    """Yield the blocks of batches, without copying anything: codes may have two bytes each."""
    for batch in batches:
        columns = {name: batch.column(place) for place, name in enumerate(batch.schema.names)}
        for row in range(len(batch)):
            arrays: dict[str, Any] = {name: columns[name][row].as_buffer() for name in _ARRAYS}
            codes = np.frombuffer(arrays.pop("codes"), np.uint16 if items <= NARROW else np.int32)
            sizes, segments, copies, each = (np.frombuffer(held, np.int32) for held in arrays.values())
            yield Block(sizes, codes, segments, copies, each)


def gathered(blocks: Iterable[Block], together: int | None) -> Iterator[list[Block]]:
    """Yield the blocks of a partition, so many as may be looked at together: about so many codes, or all.

    Spark cuts files by what they take, and a small one may hold many baskets that are alike.
    """
    some: list[Block] = []
    many = 0
    for block in blocks:
        if some and together is not None and many + len(block.codes) + len(block.sizes) > together:
            yield some
            some, many = [], 0
        some.append(block)
        many += len(block.codes) + len(block.sizes)
    if some:
        yield some


def as_itemsets(column: Any) -> Itemsets:
    """Return itemsets that came as bytes."""
    import pyarrow as pa

    whole = pa.concat_arrays([*column.chunks, pa.array([], column.type)]).cast(pa.large_binary())
    ends = np.frombuffer(whole.buffers()[1], np.int64)[whole.offset : whole.offset + len(whole) + 1]
    data = whole.buffers()[2]
    codes = np.frombuffer(data if data is not None else b"", np.uint8)[ends[0] : ends[-1]].view(np.int32)
    return Itemsets((ends - ends[0]) // 4, codes)


def as_column(offsets: Offsets, codes: Codes) -> Any:
    """Return rows of codes as a column of bytes; they take less than 2 GiB."""
    import pyarrow as pa

    data = pa.py_buffer(np.ascontiguousarray(codes[offsets[0] : offsets[-1]]))
    places = pa.py_buffer(((offsets - offsets[0]) * 4).astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, places, data])


def joined(
    blocks: list[Block], vocabulary: Vocabulary, segments: int, several: bool, lineage: Lineage | None = None
) -> tuple[Baskets, NDArray[np.int32] | None]:
    """Put blocks together: the baskets of their people, who may have `several`, and copies where there are any."""
    sizes = _end_to_end([block.sizes for block in blocks])
    codes = _end_to_end([block.codes for block in blocks])
    marks = _end_to_end([block.segments for block in blocks])
    beside = Segments("", marks, Numbered(segments)) if segments else None
    copies = None
    if any(len(block.copies) for block in blocks):
        # Blocks of short baskets have no copies, and need none: nothing is cut from them.
        copies = _end_to_end([block.copies if len(block.copies) else np.zeros_like(block.sizes) for block in blocks])
    owners = starts(_end_to_end([block.each for block in blocks])) if several else None
    return Baskets.trusted(starts(sizes), codes, vocabulary, beside, owners, lineage), copies


def _end_to_end(arrays: list[NDArray[Any]]) -> NDArray[np.int32]:
    if len(arrays) == 1:
        return arrays[0].astype(np.int32, copy=False)
    return np.concatenate([np.empty(0, np.int32), *arrays], dtype=np.int32)
