"""What executors do to a table on its way to baskets: labels become codes, and the events of a person become a block.

Everything here is a function of batches of Arrow, called by `reading`: nothing knows of Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets.build import Rows, finish
from ..baskets.core import Codes, Offsets, Segments, starts
from ..kernels.truncate import keep_some
from .blocks import CODES, Block, Numbered, written
from .session import TableChangedError

# A person's codes that have not been sorted yet, before repeats among them are merged.
_UNSORTED = 1 << 22
# Labels, or items, that a task keeps before it passes them on: to tell new ones from them, or to find all at once.
_MET = 1 << 20


def occurring(batches: Iterable[Any]) -> Iterator[Any]:
    """Run in an executor: the labels that occur in lists, each once, or a few times where there are very many."""
    import pyarrow as pa
    import pyarrow.compute as pc

    met: list[Any] = []
    for batch in batches:
        values = batch.column(0).flatten()
        values = values.cast(pa.int64()) if pa.types.is_integer(values.type) else values
        met = [pc.unique(pa.concat_arrays([*met, pc.unique(values)]))]
        if len(met[0]) > _MET:
            yield pa.RecordBatch.from_arrays(met, names=["label"])
            met = []
    if met:
        yield pa.RecordBatch.from_arrays(met, names=["label"])


def _labels(written_labels: bytes) -> Any:
    import pyarrow as pa

    with pa.ipc.open_stream(written_labels) as reader:
        return reader.read_all().column(0).combine_chunks()


def _gathered(batches: Iterable[Any], labels: Any) -> Iterator[Any]:
    """Yield batches that have about as many items as there are labels: finding any takes a table of all of these."""
    import pyarrow as pa

    least = min(len(labels), _MET)
    waiting: list[Any] = []
    many = 0
    for batch in batches:
        waiting.append(batch)
        many += max(len(getattr(column, "values", column)) for column in batch.columns)
        if many >= least:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting, many = [], 0
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def _codes_of(values: Any, labels: Any, table: Codes) -> NDArray[np.int32]:
    """Return the code of each value, -1 where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(labels, pa.ChunkedArray):
        labels = pa.concat_arrays([*labels.chunks, pa.array([], labels.type)])
    found = pc.index_in(values.cast(labels.type), value_set=labels)
    if found.null_count != values.null_count:
        raise TableChangedError
    places = found.fill_null(-1).to_numpy(zero_copy_only=False)
    codes: NDArray[np.int32] = np.append(table, np.int32(-1))[places].astype(np.int32)
    return codes


def _unlisted(lists: Any, labels: Any, table: Codes) -> tuple[Offsets, Codes]:
    """Return where the events of each row begin, and their codes; an empty row has one, -1: it exists."""
    import pyarrow.compute as pc

    sizes = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    places = starts(np.maximum(sizes, 1))
    codes = np.full(places[-1], -1, np.int32)
    codes[np.repeat(places[:-1] - starts(sizes)[:-1], sizes) + np.arange(int(sizes.sum()))] = _codes_of(
        lists.flatten(), labels, table
    )
    return places, codes


def coded(
    batches: Iterable[Any], found: bytes, table: Codes, parts: bytes | None = None, places: Codes | None = None
) -> Iterator[Any]:
    """Run in an executor: events as their person and a code, -1 where there is no item.

    Rows without a person are left out; how many they are goes along, as the code of nobody.
    """
    import pyarrow as pa

    labels, segments = _labels(found), None if parts is None else _labels(parts)
    for batch in _gathered(batches, labels):
        nobody = batch.column(0).null_count
        if nobody:
            batch = batch.filter(batch.column(0).is_valid())
        people, items = batch.column(0), batch.column(1)
        marks = np.full(len(batch), -1, np.int32)
        if segments is not None and places is not None:
            marks = _codes_of(batch.column(2), segments, places)
        if pa.types.is_list(items.type) or pa.types.is_large_list(items.type):
            places_of, codes = _unlisted(items, labels, table)
            owners = np.repeat(np.arange(len(items)), np.diff(places_of))
            people, marks = people.take(pa.array(owners)), marks[owners]
        else:
            codes = _codes_of(items, labels, table)
        if nobody:
            people = pa.concat_arrays([people, pa.nulls(1, people.type)])
            codes, marks = np.append(codes, np.int32(nobody)), np.append(marks, np.int32(-1))
        yield pa.RecordBatch.from_arrays(
            [people, pa.array(codes, pa.int32()), pa.array(marks, pa.int32())], names=["person", "code", "segment"]
        )


def built(batches: Iterable[Any], items: int, cap: Any, segmented: bool) -> Iterator[Any]:
    """Run in an executor: events in the order of their people become blocks."""
    return written(_blocks(batches, items, cap, segmented), items)


def _blocks(batches: Iterable[Any], items: int, cap: Any, segmented: bool) -> Iterator[Block]:
    import pyarrow.compute as pc

    left_out, last, waiting = 0, None, 0
    held = _Events.none()
    gathered = [held]
    for batch in batches:
        people = batch.column(0)
        codes, marks = (batch.column(place).to_numpy() for place in (1, 2))
        if people.null_count:
            missing = people.is_null().to_numpy(zero_copy_only=False)
            left_out += int(codes[missing].sum())
            people, codes, marks = people.filter(people.is_valid()), codes[~missing], marks[~missing]
        if not len(people):
            continue
        new = np.ones(len(people), np.bool_)
        if len(people) > 1:
            new[1:] = pc.not_equal(people.slice(1), people.slice(0, len(people) - 1)).to_numpy(zero_copy_only=False)
        new[0] = last is None or people[0].as_py() != last
        last = people[len(people) - 1].as_py()
        gathered.append(_Events(new, codes, marks))
        waiting += len(codes)
        if waiting >= CODES:
            held = _Events.joined(gathered)
            # The last person may go on in the next batch.
            end = int(np.flatnonzero(held.begun)[-1])
            if end:
                yield _block(held.part(0, end), items=items, cap=cap, segmented=segmented)
            rest = held.part(end, len(held.codes))
            gathered = [rest.without_repeats() if len(rest.codes) > _UNSORTED else rest]
            waiting = 0  # what is kept of a long basket is not looked at again before as much more has come
    held = _Events.joined(gathered)
    if len(held.codes) or left_out:
        yield _block(held, items=items, cap=cap, segmented=segmented, left_out=left_out)


@dataclass(frozen=True, eq=False)
class _Events:
    """Events of people, one after the other: which of them is a person's first, its code, and the segment it names."""

    begun: NDArray[np.bool_]
    codes: Codes
    marks: Codes

    @classmethod
    def none(cls) -> _Events:
        return cls(np.empty(0, np.bool_), np.empty(0, np.int32), np.empty(0, np.int32))

    @classmethod
    def joined(cls, several: list[_Events]) -> _Events:
        begun, codes, marks = ([getattr(one, name) for one in several] for name in ("begun", "codes", "marks"))
        return cls(np.concatenate(begun), np.concatenate(codes), np.concatenate(marks))

    def part(self, first: int, last: int) -> _Events:
        return _Events(self.begun[first:last], self.codes[first:last], self.marks[first:last])

    def without_repeats(self) -> _Events:
        """Merge the repeats of one person, of whom there may be more to come: several segments stay several."""
        codes, marks = np.unique(np.stack((self.codes, self.marks)), axis=1)
        begun = np.zeros(len(codes), np.bool_)
        begun[0] = self.begun[0]
        return _Events(begun, codes, marks)


def _block(events: _Events, *, items: int, cap: Any, segmented: bool, left_out: int = 0) -> Block:
    """Make the baskets of people whose events lie end to end; a code of -1 only says that they exist."""
    begun, codes, marks = events.begun, events.codes, events.marks
    at = np.append(np.flatnonzero(begun), len(begun))
    owners = np.repeat(np.arange(len(at) - 1), np.diff(at))
    held = codes >= 0
    sizes = np.bincount(owners[held], minlength=len(at) - 1)
    segments, strange = None, 0
    if segmented:
        low, high = (np.full(len(at) - 1, start, np.int32) for start in (np.iinfo(np.int32).max, -1))
        some = marks >= 0
        np.minimum.at(low, owners[some], marks[some])
        np.maximum.at(high, owners[some], marks[some])
        strange = int((low != high).sum())
        segments = Segments("", np.maximum(high, 0), Numbered(int(high.max(initial=0)) + 1))
    rows = Rows(offsets=starts(sizes), codes=codes[held], vocabulary=Numbered(items), segments=segments)
    baskets = finish(rows, name="")
    if cap is not None:
        most, key, identities = cap
        offsets, kept = keep_some(baskets.offsets, baskets.codes, most, key, identities)
        baskets = replace(baskets, offsets=offsets, codes=kept)
    return Block.of(baskets, left_out=left_out, merged=baskets.merged, strange=strange)


def from_lists(batches: Iterable[Any], found: bytes, table: Codes, items: int, cap: Any) -> Iterator[Any]:
    """Run in an executor: every row is a basket."""
    return written(_listed(batches, _labels(found), table, items, cap), items)


def _listed(batches: Iterable[Any], labels: Any, table: Codes, items: int, cap: Any) -> Iterator[Block]:
    for batch in _gathered(batches, labels):
        lists = batch.column(0)
        places, events = _unlisted(lists, labels, table)
        begun = np.zeros(len(events), np.bool_)
        begun[places[:-1]] = True
        if len(batch):
            yield _block(_Events(begun, events, events), items=items, cap=cap, segmented=False)
