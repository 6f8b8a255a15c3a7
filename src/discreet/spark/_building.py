"""What executors do to a table on its way to baskets: labels become codes, and the events of people become blocks.

Everything here is a function of batches of Arrow, called by `reading`: nothing knows of Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Codes, Offsets, Rows, Segments, finish, starts
from ..kernels import keep_some
from ._blocks import CODES, Block, Numbered, written
from ._session import TableChangedError

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
    batches: Iterable[Any], several: bool, found: bytes, table: Codes, parts: bytes | None, places: Codes
) -> Iterator[Any]:
    """Run in an executor: events as their person, perhaps their basket, and a code, -1 where there is no item.

    Rows without a person, or without a basket where people have `several`, are left out. How many they are goes along
    as the code of nobody, and as the segment of nobody.
    """
    import pyarrow as pa

    labels, segments = _labels(found), None if parts is None else _labels(parts)
    for batch in _gathered(batches, labels):
        whose = batch.columns[: 2 if several else 1]
        nobody = whose[0].null_count
        if nobody:
            batch = batch.filter(whose[0].is_valid())
            whose = batch.columns[: len(whose)]
        loose = whose[-1].null_count
        if loose:
            batch = batch.filter(whose[-1].is_valid())
            whose = batch.columns[: len(whose)]
        items = batch.column("item")
        marks = np.full(len(batch), -1, np.int32)
        if segments is not None:
            marks = _codes_of(batch.column("segment"), segments, places)
        if pa.types.is_list(items.type) or pa.types.is_large_list(items.type):
            places_of, codes = _unlisted(items, labels, table)
            rows = np.repeat(np.arange(len(items)), np.diff(places_of))
            whose, marks = [one.take(pa.array(rows)) for one in whose], marks[rows]
        else:
            codes = _codes_of(items, labels, table)
        if nobody or loose:
            whose = [pa.concat_arrays([one, pa.nulls(1, one.type)]) for one in whose]
            codes, marks = np.append(codes, np.int32(nobody)), np.append(marks, np.int32(loose))
        columns = [*whose, pa.array(codes, pa.int32()), pa.array(marks, pa.int32())]
        names = ["person", *(["basket"] if several else []), "code", "segment"]
        yield pa.RecordBatch.from_arrays(columns, names=names)


def built(batches: Iterable[Any], several: bool, items: int, cap: Any, segmented: bool) -> Iterator[Any]:
    """Run in an executor: events in the order of their people, and of the baskets of each, become blocks."""
    make = partial(_block, several=several, items=items, cap=cap, segmented=segmented)
    return written(_blocks(batches, several, make), items)


def _blocks(batches: Iterable[Any], several: bool, make: Callable[..., Block]) -> Iterator[Block]:
    left_out = loose = waiting = 0
    person, basket = _Changes(), _Changes()
    gathered = [_Events.none()]
    for batch in batches:
        if batch.column(0).null_count:
            counts = batch.filter(batch.column(0).is_null())
            left_out += int(counts.column("code").to_numpy().sum())
            loose += int(counts.column("segment").to_numpy().sum())
            batch = batch.filter(batch.column(0).is_valid())
        if not len(batch):
            continue
        begun = person.seen(batch.column(0))
        opened = begun | basket.seen(batch.column(1)) if several else begun
        codes, marks = (batch.column(name).to_numpy() for name in ("code", "segment"))
        gathered.append(_Events(begun, opened, codes, marks))
        waiting += len(codes)
        if waiting >= CODES:
            held = _Events.joined(gathered)
            # The last person may go on in the next batch.
            end = int(np.flatnonzero(held.begun)[-1])
            if end:
                yield make(held.part(0, end))
            rest = held.part(end, len(held.codes))
            gathered = [rest.without_repeats() if len(rest.codes) > _UNSORTED else rest]
            waiting = 0  # what is kept of a long basket is not looked at again before as much more has come
    held = _Events.joined(gathered)
    if len(held.codes) or left_out or loose:
        yield make(held, left_out=left_out, loose=loose)


class _Changes:
    """Says of values that come in batches which differ from the one before."""

    def __init__(self) -> None:
        self._last: Any = None

    def seen(self, values: Any) -> NDArray[np.bool_]:
        """Return which of the next values are new; none of them is null, and there is one at least."""
        import pyarrow.compute as pc

        new = np.ones(len(values), np.bool_)
        if len(values) > 1:
            new[1:] = pc.not_equal(values.slice(1), values.slice(0, len(values) - 1)).to_numpy(zero_copy_only=False)
        new[0] = self._last is None or values[0].as_py() != self._last
        self._last = values[len(values) - 1].as_py()
        return new


@dataclass(frozen=True, eq=False)
class _Events:
    """Events of people, one after the other: which is a person's first, and which a basket's; codes, and segments."""

    begun: NDArray[np.bool_]
    opened: NDArray[np.bool_]
    codes: Codes
    marks: Codes

    @classmethod
    def none(cls) -> _Events:
        return cls(np.empty(0, np.bool_), np.empty(0, np.bool_), np.empty(0, np.int32), np.empty(0, np.int32))

    @classmethod
    def joined(cls, several: list[_Events]) -> _Events:
        columns = zip(*((one.begun, one.opened, one.codes, one.marks) for one in several), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def part(self, first: int, last: int) -> _Events:
        some = slice(first, last)
        return _Events(self.begun[some], self.opened[some], self.codes[some], self.marks[some])

    def without_repeats(self) -> _Events:
        """Merge the repeats of one person, of whom there may be more to come: several segments stay several."""
        columns = np.stack((np.cumsum(self.opened), self.codes, self.marks))
        columns = columns[:, np.lexsort(columns[::-1])]
        columns = columns[:, np.append(True, (np.diff(columns) != 0).any(axis=0))]
        begun, opened = np.zeros((2, columns.shape[1]), np.bool_)
        opened[1:] = np.diff(columns[0]) != 0
        begun[0], opened[0] = self.begun[0], self.opened[0]
        return _Events(begun, opened, *columns[1:].astype(np.int32))


def _block(
    events: _Events, *, several: bool, items: int, cap: Any, segmented: bool, left_out: int = 0, loose: int = 0
) -> Block:
    """Make the baskets of people whose events lie end to end; a code of -1 only says that they exist."""
    begun, codes, marks = events.begun, events.codes, events.marks
    at = np.append(np.flatnonzero(events.opened), len(begun))
    baskets_of = np.repeat(np.arange(len(at) - 1), np.diff(at))
    held = codes >= 0
    sizes = np.bincount(baskets_of[held], minlength=len(at) - 1)
    owners = np.append(np.flatnonzero(begun[at[:-1]]), len(at) - 1)
    segments, strange = None, 0
    if segmented:
        low, high = (np.full(len(at) - 1, start, np.int32) for start in (np.iinfo(np.int32).max, -1))
        some = marks >= 0
        np.minimum.at(low, baskets_of[some], marks[some])
        np.maximum.at(high, baskets_of[some], marks[some])
        strange = int((low != high).sum())
        if len(owners) > 1:
            strange += int((np.minimum.reduceat(low, owners[:-1]) != np.maximum.reduceat(high, owners[:-1])).sum())
            # Baskets refuse a person in two segments. The driver refuses the whole table by `strange`, in words that
            # name the column; until then, the segment of a person's first basket stands for all of them.
            high = np.repeat(high[owners[:-1]], np.diff(owners))
        segments = Segments("", np.maximum(high, 0), Numbered(int(high.max(initial=0)) + 1))
    rows = Rows(
        offsets=starts(sizes),
        codes=codes[held],
        vocabulary=Numbered(items),
        segments=segments,
        owners=owners if several else None,
    )
    baskets = finish(rows, name="")
    if cap is not None:
        most, key, identities = cap
        offsets, kept = keep_some(baskets.offsets, baskets.codes, most, key, identities)
        baskets = replace(baskets, offsets=offsets, codes=kept)
    return Block.of(baskets, left_out=left_out, loose=loose, merged=baskets.merged, strange=strange)


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
            yield _block(_Events(begun, begun, events, events), several=False, items=items, cap=cap, segmented=False)
