"""The work of executors on a table on its way to baskets: labels become codes, and events become blocks.

All functions take batches of Arrow and are called by `reading`: they do not use Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import Codes, Offsets, Rows, Segments, build_baskets, starts
from ..heavy import pa, pc
from ..kernels import keep_some
from ._blocks import BLOCK_CODES, Block, CodeVocabulary
from ._session import TableChangedError

# The number of unsorted codes of one person at which repeats are merged. Larger: more memory for the largest person;
# smaller: more sorting.
_MAX_UNSORTED_CODES = 1 << 22
# The number of labels, or of items, that a task collects before it passes them on. Larger: more memory; smaller: labels
# are listed repeatedly, and each lookup builds its hash table for fewer items.
_MAX_COLLECTED = 1 << 20


def list_labels(batches: Iterable[Any]) -> Iterator[Any]:
    """Run in an executor: yield the distinct entries of lists; an entry may repeat if the entries are many."""
    labels: list[Any] = []
    for batch in batches:
        values = batch.column(0).flatten()
        values = values.cast(pa.int64()) if pa.types.is_integer(values.type) else values
        labels = [pc.unique(pa.concat_arrays([*labels, pc.unique(values)]))]
        if len(labels[0]) > _MAX_COLLECTED:
            yield pa.RecordBatch.from_arrays(labels, names=["label"])
            labels = []
    if labels:
        yield pa.RecordBatch.from_arrays(labels, names=["label"])


@dataclass(frozen=True, eq=False)
class LabelCodes:
    """The labels of a column, as a stream of Arrow, and the code of each label."""

    stream: bytes
    codes: Codes

    def read_labels(self) -> Any:
        """Return the labels as an Arrow array."""
        with pa.ipc.open_stream(self.stream) as reader:
            return reader.read_next_batch().column(0)


def _group_batches(batches: Iterable[Any], label_count: int) -> Iterator[Any]:
    """Yield batches with about as many items as labels: each lookup builds a hash table of all labels."""
    min_items = min(label_count, _MAX_COLLECTED)
    group: list[Any] = []
    item_count = 0
    for batch in batches:
        group.append(batch)
        item_count += max(len(getattr(column, "values", column)) for column in batch.columns)
        if item_count >= min_items:
            yield from pa.Table.from_batches(group).combine_chunks().to_batches()
            group, item_count = [], 0
    if group:
        yield from pa.Table.from_batches(group).combine_chunks().to_batches()


def _find_codes(values: Any, labels: Any, codes: Codes) -> NDArray[np.int32]:
    """Return the code of each value, -1 for a null; raise if a value is no label."""
    places = pc.index_in(values.cast(labels.type), value_set=labels)
    if places.null_count != values.null_count:
        raise TableChangedError
    # Nulls have place -1: the last entry, which is -1.
    value_codes: NDArray[np.int32] = np.append(codes, np.int32(-1))[
        places.fill_null(-1).to_numpy(zero_copy_only=False)
    ].astype(np.int32)
    return value_codes


def _flatten_lists(lists: Any, labels: Any, codes: Codes) -> tuple[Offsets, Codes]:
    """Return the offsets of the events of each row, and their codes; an empty row has one event of code -1."""
    sizes = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    offsets = starts(np.maximum(sizes, 1))
    event_codes = np.full(offsets[-1], -1, np.int32)
    event_codes[np.repeat(offsets[:-1] - starts(sizes)[:-1], sizes) + np.arange(int(sizes.sum()))] = _find_codes(
        lists.flatten(), labels, codes
    )
    return offsets, event_codes


def encode_events(
    batches: Iterable[Any], has_receipts: bool, items: LabelCodes, segments: LabelCodes | None
) -> Iterator[Any]:
    """Run in an executor: yield events as person, basket (with `has_receipts`), item and segment code; -1 for none.

    Rows without a person, or without a basket, are left out. Their numbers travel in a row without a person: the rows
    without a person as its item code, the rows without a basket as its segment code.
    """
    labels, segment_labels = items.read_labels(), None if segments is None else segments.read_labels()
    key_count = 2 if has_receipts else 1
    for batch in _group_batches(batches, len(labels)):
        rows_without_person = batch.column(0).null_count
        if rows_without_person:
            batch = batch.filter(batch.column(0).is_valid())
        rows_without_basket = batch.column(key_count - 1).null_count
        if rows_without_basket:
            batch = batch.filter(batch.column(key_count - 1).is_valid())
        keys = batch.columns[:key_count]
        item_column = batch.column("item")
        segment_codes = np.full(len(batch), -1, np.int32)
        if segments is not None:
            segment_codes = _find_codes(batch.column("segment"), segment_labels, segments.codes)
        if pa.types.is_list(item_column.type) or pa.types.is_large_list(item_column.type):
            offsets, item_codes = _flatten_lists(item_column, labels, items.codes)
            rows = np.repeat(np.arange(len(item_column)), np.diff(offsets))
            keys, segment_codes = [key.take(pa.array(rows)) for key in keys], segment_codes[rows]
        else:
            item_codes = _find_codes(item_column, labels, items.codes)
        if rows_without_person or rows_without_basket:
            keys = [pa.concat_arrays([key, pa.nulls(1, key.type)]) for key in keys]
            item_codes = np.append(item_codes, np.int32(rows_without_person))
            segment_codes = np.append(segment_codes, np.int32(rows_without_basket))
        columns = [*keys, pa.array(item_codes, pa.int32()), pa.array(segment_codes, pa.int32())]
        names = ["person", *(["basket"] if has_receipts else []), "code", "segment"]
        yield pa.RecordBatch.from_arrays(columns, names=names)


def build_blocks(
    batches: Iterable[Any], has_receipts: bool, items: int, cap: Any, has_segments: bool
) -> Iterator[Block]:
    """Run in an executor: yield the blocks of events that are sorted by person, and by basket of a person."""
    build = partial(_build_block, has_receipts=has_receipts, items=items, cap=cap, has_segments=has_segments)
    rows_without_person = rows_without_basket = event_count = 0
    person_changes, basket_changes = _ChangeFinder(), _ChangeFinder()
    collected: list[_Events] = []
    for batch in batches:
        if batch.column(0).null_count:
            counts = batch.filter(batch.column(0).is_null())
            rows_without_person += int(counts.column("code").to_numpy().sum())
            rows_without_basket += int(counts.column("segment").to_numpy().sum())
            batch = batch.filter(batch.column(0).is_valid())
        if not len(batch):
            continue
        starts_person = person_changes.find(batch.column(0))
        starts_basket = starts_person | basket_changes.find(batch.column(1)) if has_receipts else starts_person
        codes, segments = (batch.column(name).to_numpy() for name in ("code", "segment"))
        collected.append(_Events(starts_person, starts_basket, codes, segments))
        event_count += len(codes)
        if event_count >= BLOCK_CODES:
            events = _Events.concatenate(collected)
            # The last person may continue in the next batch.
            end = int(np.flatnonzero(events.starts_person)[-1])
            if end:
                yield build(events.slice(0, end))
            last_person = events.slice(end, len(events.codes))
            collected = [last_person.without_repeats() if len(last_person.codes) > _MAX_UNSORTED_CODES else last_person]
            event_count = 0  # a long basket is examined again only after as many further events
    events = _Events.concatenate(collected)
    if len(events.codes) or rows_without_person or rows_without_basket:
        yield build(events, rows_without_person=rows_without_person, rows_without_basket=rows_without_basket)


class _ChangeFinder:
    """Finds the values that differ from the value before them, across batches."""

    def __init__(self) -> None:
        self._last: Any = None

    def find(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each of the next values, at least one and none null, differs from the value before it."""
        is_new = np.ones(len(values), np.bool_)
        if len(values) > 1:
            is_new[1:] = pc.not_equal(values.slice(1), values.slice(0, len(values) - 1)).to_numpy(zero_copy_only=False)
        is_new[0] = self._last is None or values[0].as_py() != self._last
        self._last = values[len(values) - 1].as_py()
        return is_new


@dataclass(frozen=True, eq=False)
class _Events:
    """Events sorted by person: whether each is the first of its person and of its basket; item and segment codes."""

    starts_person: NDArray[np.bool_]
    starts_basket: NDArray[np.bool_]
    codes: Codes
    segments: Codes

    @classmethod
    def concatenate(cls, parts: list[_Events]) -> _Events:
        types = {"starts_person": np.bool_, "starts_basket": np.bool_, "codes": np.int32, "segments": np.int32}
        columns = ([np.empty(0, kind), *(getattr(part, name) for part in parts)] for name, kind in types.items())
        return cls(*map(np.concatenate, columns))

    def slice(self, start: int, stop: int) -> _Events:
        rows = slice(start, stop)
        return _Events(self.starts_person[rows], self.starts_basket[rows], self.codes[rows], self.segments[rows])

    def without_repeats(self) -> _Events:
        """Return the distinct events of one person; several segments remain several."""
        columns = np.stack((np.cumsum(self.starts_basket), self.codes, self.segments))
        columns = columns[:, np.lexsort(columns[::-1])]
        columns = columns[:, np.append(True, (np.diff(columns) != 0).any(axis=0))]
        starts_person, starts_basket = np.zeros((2, columns.shape[1]), np.bool_)
        starts_basket[1:] = np.diff(columns[0]) != 0
        # The person may have begun in an earlier slice.
        starts_person[0], starts_basket[0] = self.starts_person[0], self.starts_basket[0]
        return _Events(starts_person, starts_basket, *columns[1:].astype(np.int32))


def _build_block(
    events: _Events, *, has_receipts: bool, items: int, cap: Any, has_segments: bool, **counts: int
) -> Block:
    """Return the block of the people of some events; an event of code -1 only says that its person exists."""
    basket_starts = np.append(np.flatnonzero(events.starts_basket), len(events.codes))
    basket_count = len(basket_starts) - 1
    baskets_of_events = np.repeat(np.arange(basket_count), np.diff(basket_starts))
    has_item = events.codes >= 0
    sizes = np.bincount(baskets_of_events[has_item], minlength=basket_count)
    owners = np.append(np.flatnonzero(events.starts_person[basket_starts[:-1]]), basket_count)
    segments, people_without_segment = None, 0
    if has_segments:
        # A basket has one segment if the least and the largest segment code of its events are equal.
        low, high = (np.full(basket_count, start, np.int32) for start in (np.iinfo(np.int32).max, -1))
        has_code = events.segments >= 0
        np.minimum.at(low, baskets_of_events[has_code], events.segments[has_code])
        np.maximum.at(high, baskets_of_events[has_code], events.segments[has_code])
        people_without_segment = int((low != high).sum())
        if len(owners) > 1:
            lowest, highest = np.minimum.reduceat(low, owners[:-1]), np.maximum.reduceat(high, owners[:-1])
            people_without_segment += int((lowest != highest).sum())
            # `Baskets` refuses a person with two segments, in words that do not name the column. The driver refuses
            # the whole table by `people_without_segment`; until then, the first basket decides the segment.
            high = np.repeat(high[owners[:-1]], np.diff(owners))
        segments = Segments("", np.maximum(high, 0), CodeVocabulary(int(high.max(initial=0)) + 1))
    rows = Rows(
        offsets=starts(sizes),
        codes=events.codes[has_item],
        vocabulary=CodeVocabulary(items),
        segments=segments,
        owners=owners if has_receipts else None,
    )
    baskets = build_baskets(rows, name="")
    if cap is not None:
        max_items, key, identities = cap
        offsets, codes = keep_some(baskets.offsets, baskets.codes, max_items, key, identities)
        baskets = replace(baskets, offsets=offsets, codes=codes)
    return Block.from_baskets(baskets, merged=baskets.merged, people_without_segment=people_without_segment, **counts)


def build_list_blocks(batches: Iterable[Any], label_codes: LabelCodes, items: int, cap: Any) -> Iterator[Block]:
    """Run in an executor: yield the blocks of a column of lists, each of which is the basket of one person."""
    labels = label_codes.read_labels()
    for batch in _group_batches(batches, len(labels)):
        offsets, codes = _flatten_lists(batch.column(0), labels, label_codes.codes)
        starts_person = np.zeros(len(codes), np.bool_)
        starts_person[offsets[:-1]] = True
        if len(batch):
            # Without segments, the segment codes are not read.
            events = _Events(starts_person, starts_person, codes, segments=codes)
            yield _build_block(events, has_receipts=False, items=items, cap=cap, has_segments=False)
