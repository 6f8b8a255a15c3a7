"""Patterns of few people, in data that are too large for one task.

Partitions are mined at their share of a threshold, which must be worth mining at. Below that threshold, one task would
have to read all baskets. So patterns of many people are found in partitions first. Write a pattern from its rarest item
on: a pattern of fewer people then begins with a frequent pattern (or with nothing) and one more item, with which it
falls below the higher threshold. This beginning is its *border*. A shuffle brings all baskets with a border to one
task, cut down to the items that may follow, and the local miner continues there. A border has fewer people than the
higher threshold, so that no task receives more people than that, for any data.

With a lineage, no pattern has an item and its ancestor. A border then has none either, and no item that follows is an
ancestor or a descendant of an item of the border.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, Lineage, recode_lineage, starts
from ..errors import LimitError
from ..exact import LocalEngine, SearchBounds, by_count, check_subset_count, ranks_of, too_many
from ..heavy import pa
from ..kernels import LEVEL, project
from ..results import Itemsets
from ._baskets import BlockView
from ._blocks import CodeVocabulary, decode_itemsets, encode_rows

if TYPE_CHECKING:
    from ._baskets import SparkBaskets

I64 = NDArray[np.int64]
# Borders as (node, last item), the offsets of the rows of later items, and the codes of later items.
Borders: TypeAlias = tuple[I64, I64, Codes]

_EMPTY = np.empty(0, np.int32)
_PROJECTED = "border bigint, later_items binary"
_PATTERNS = "border bigint, items binary, count bigint"
# The borders and the codes of one batch of a task. Larger: more memory; smaller: more batches.
_BATCH_BORDERS, _BATCH_CODES = 1 << 16, 1 << 20
# Partitions of the shuffle for each partition of the data: people per border vary, and more tasks even them out.
_TASKS_PER_PARTITION = 4
_LIMIT_PASSED = -1  # stands for a border in a task with more patterns than the limit
_MAX_SPARK_ROWS = (1 << 31) - 1  # Spark takes the number of rows of a limit as a 32-bit number


@dataclass(frozen=True, eq=False)
class _PatternTree:
    """Patterns of ranks as a tree, in the layout of `kernels.projecting`; node 0 is the empty pattern.

    `sizes` and `patterns` are the number of items and the pattern of each node.
    """

    heads: I64
    items: Codes
    nodes: Codes
    sizes: Codes
    patterns: Itemsets

    @classmethod
    def build(cls, patterns: Itemsets) -> _PatternTree:
        """Return the tree of patterns, each subset of which is among them too."""
        order = np.argsort(patterns.sizes, kind="stable")
        patterns = Itemsets.joined((Itemsets(np.zeros(2, np.int64), _EMPTY), patterns.take(order)))
        bounds = zip(patterns.offsets[:-1].tolist(), patterns.offsets[1:].tolist(), strict=True)
        keys = [patterns.codes[start:stop][::-1].tobytes() for start, stop in bounds]
        node_of_key = {key: node for node, key in enumerate(keys)}
        # The parent lacks the most frequent item: the last four bytes of the pattern from its rarest item on.
        parents = np.array([node_of_key[key[:-4]] for key in keys[1:]], np.int64)
        last_items = np.array([patterns.codes[start] for start in patterns.offsets[1:-1]], np.int32)
        order = np.lexsort((last_items, parents))
        heads = np.searchsorted(parents[order], np.arange(len(patterns) + 1))
        nodes = (order + 1).astype(np.int32)
        return cls(heads.astype(np.int64), last_items[order], nodes, patterns.sizes.astype(np.int32), patterns)

    @property
    def arrays(self) -> tuple[I64, Codes, Codes]:
        """The tree in the form of the kernel."""
        return self.heads, self.items, self.nodes


def mine_beyond_borders(baskets: SparkBaskets, frequent_sets: Itemsets, bounds: SearchBounds) -> tuple[Itemsets, I64]:
    """Return the further itemsets with at least `bounds.count` people, and their counts.

    `frequent_sets` are all itemsets of up to `bounds.most` items at a higher threshold. Raise a `LimitError` for more
    than `bounds.limit` further itemsets.

    1. Executors cut each basket at its borders: one row for each border in it, with the items that may follow.
    2. A shuffle brings the rows of a border to one task.
    3. The task mines the rows of each border, and adds the border to each pattern.
    """
    item_counts, cluster = baskets.item_counts, baskets.cluster
    if bounds.count <= 1 and baskets.lineage is None:  # with a lineage, not every subset counts
        check_subset_count(int(baskets.survey.sizes.max(initial=0)), bounds)
    labels = by_count(item_counts, np.flatnonzero(item_counts >= max(bounds.count, 1)))
    ranks = ranks_of(labels, len(item_counts))
    rows = np.split(frequent_sets.codes, frequent_sets.offsets[1:-1])
    tree = _PatternTree.build(Itemsets.of(np.sort(ranks[row]) for row in rows if len(row)))
    lineage = recode_lineage(baskets.lineage, ranks, len(labels))
    select = None if lineage is None else partial(_select_antichains, lineage=lineage, patterns=tree.patterns)
    project_blocks = partial(
        _project_blocks,
        view=baskets.view,
        ranks=ranks,
        tree=tree.arrays,
        max_length=bounds.max_length,
        items=len(labels),
        select=select,
    )
    mine = partial(_mine_borders, bounds=bounds, sizes=tree.sizes, items=len(labels), lineage=lineage)
    tasks = _TASKS_PER_PARTITION * max(cluster.parallelism, baskets.blocks.partitions)
    with cluster.step("mining what few people hold"):
        projected = baskets.blocks.frame.mapInArrow(cluster.guard(project_blocks), _PROJECTED)
        grouped = projected.repartition(tasks, "border").sortWithinPartitions("border")
        mined = grouped.mapInArrow(cluster.guard(mine), _PATTERNS)
        # One row over the limit shows that it is passed.
        max_rows = bounds.limit + 1
        table = cluster.collect(mined.limit(max_rows) if max_rows <= _MAX_SPARK_ROWS else mined)
    borders = table.column("border").to_numpy()
    if len(table) > bounds.limit or (borders == _LIMIT_PASSED).any():
        raise LimitError(too_many(bounds))
    # A border is numbered node * items + last item.
    items = max(1, len(labels))
    last_items = Itemsets(np.arange(len(borders) + 1), (borders % items).astype(np.int32))
    patterns = _join_rows(tree.patterns.take(borders // items), last_items, decode_itemsets(table.column("items")))
    codes = labels[patterns.codes]
    pattern_of_codes = np.repeat(np.arange(len(borders)), patterns.sizes)
    sorted_patterns = Itemsets(patterns.offsets, codes[np.lexsort((codes, pattern_of_codes))])
    return sorted_patterns, table.column("count").to_numpy().astype(np.int64)


def _join_rows(*parts: Itemsets) -> Itemsets:
    """Return itemsets with, in row i, the items of row i of all parts."""
    offsets = starts(np.sum([part.sizes for part in parts], axis=0))
    codes = np.empty(offsets[-1], np.int32)
    row_starts = offsets[:-1].copy()
    for part in parts:
        codes[np.repeat(row_starts - part.offsets[:-1], part.sizes) + np.arange(len(part.codes))] = part.codes
        row_starts += part.sizes
    return Itemsets(offsets, codes)


def _select_antichains(borders: I64, ends: I64, later_items: Codes, lineage: Lineage, patterns: Itemsets) -> Borders:
    """Return the borders, and the later items, without an item and its ancestor."""
    last_items = Itemsets(np.arange(len(borders) + 1), borders[:, 1].astype(np.int32))
    begun_patterns = _join_rows(patterns.take(borders[:, 0]), last_items)
    is_antichain = lineage.antichains(begun_patterns.offsets, begun_patterns.codes)
    rows = np.repeat(np.arange(len(borders)), np.diff(ends))
    is_unrelated = lineage.apart(begun_patterns.offsets, begun_patterns.codes, rows, later_items)
    is_kept = is_antichain[rows] & is_unrelated
    sizes = np.bincount(rows[is_kept], minlength=len(borders))
    return borders[is_antichain], starts(sizes[is_antichain]), later_items[is_kept]


def _project_blocks(
    batches: Iterable[Any],
    view: BlockView,
    ranks: Codes,
    tree: tuple[I64, Codes, Codes],
    max_length: int,
    items: int,
    select: Callable[[I64, I64, Codes], Borders] | None,
) -> Iterator[Any]:
    """Run in an executor: yield one row for each border in a basket, with the items that may follow."""
    for selected in view.read_baskets(batches):
        baskets = selected.recoded(ranks, CodeVocabulary(items))
        longest = int(baskets.sizes.max(initial=0))
        # `state` and `path` are where the kernel stopped when its output arrays were full.
        state, path = np.zeros(2, np.int64), np.zeros((longest + 1, 2), np.int64)
        state[LEVEL] = -1
        borders, ends = np.empty((_BATCH_BORDERS, 2), np.int64), np.empty(_BATCH_BORDERS + 1, np.int64)
        later_items = np.empty(max(_BATCH_CODES, longest), np.int32)
        while border_count := project(
            baskets.offsets, baskets.codes, tree, max_length, state, path, borders, ends, later_items
        ):
            batch = borders[:border_count], ends[: border_count + 1], later_items[: ends[border_count]]
            batch_borders, offsets, codes = batch if select is None else select(*batch)
            keys = pa.array(batch_borders[:, 0] * items + batch_borders[:, 1])
            yield pa.RecordBatch.from_arrays([keys, encode_rows(offsets, codes)], names=["border", "later_items"])


def _mine_borders(
    batches: Iterable[Any], bounds: SearchBounds, sizes: Codes, items: int, lineage: Lineage | None
) -> Iterator[Any]:
    """Run in an executor: yield the patterns of rows that are sorted by border, each border first by itself.

    `sizes` is the number of items of each node of the tree.
    """
    schema = pa.schema([("border", pa.int64()), ("items", pa.binary()), ("count", pa.int64())])
    remaining_patterns = bounds.limit
    for border, chunks in _group_rows(batches, bounds.count):
        rows = decode_itemsets(pa.chunked_array(chunks))
        max_length = bounds.max_length - int(sizes[border // items]) - 1
        try:
            offsets, codes, counts = _mine_rows(rows, bounds, max_length, lineage)
            remaining_patterns -= len(counts) + 1
        except LimitError:
            remaining_patterns = -1
        if remaining_patterns < 0:
            # A task that raises would be run again.
            yield pa.RecordBatch.from_pylist([{"border": _LIMIT_PASSED, "items": b"", "count": 0}], schema)
            return
        # The border itself is a pattern: all its people are here.
        counts = np.append(np.int64(len(rows)), counts)
        later_items = encode_rows(np.append(np.int64(0), offsets), codes)
        columns = [pa.array(np.full(len(counts), border)), later_items, pa.array(counts)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _mine_rows(
    rows: Itemsets, bounds: SearchBounds, max_length: int, lineage: Lineage | None
) -> tuple[I64, Codes, I64]:
    """Return the patterns of up to `max_length` items of some rows, as offsets, codes and counts."""
    if max_length < 1 or not len(rows.codes):
        return np.zeros(1, np.int64), _EMPTY, np.empty(0, np.int64)
    # Only the items of these rows: an engine visits all items of its vocabulary.
    present_items, codes = np.unique(rows.codes, return_inverse=True)
    baskets = Baskets.trusted(
        rows.offsets,
        codes.astype(np.int32),
        CodeVocabulary(len(present_items)),
        lineage=None if lineage is None else lineage.only(present_items),
    )
    row_bounds = SearchBounds(count=bounds.count, min_length=1, max_length=max_length, limit=bounds.limit)
    offsets, pattern_codes, counts = LocalEngine(baskets).search(row_bounds, prefix=_EMPTY)
    return offsets, present_items[pattern_codes].astype(np.int32), counts


def _group_rows(batches: Iterable[Any], min_rows: int) -> Iterator[tuple[int, list[Any]]]:
    """Yield each border with at least `min_rows` rows, and its rows as chunks: they are adjacent, across batches."""
    border, row_count = -1, 0
    chunks: list[Any] = []
    for batch in batches:
        keys, rows = batch.column(0).to_numpy(), batch.column(1)
        if not len(keys):
            continue
        stops = np.append(np.flatnonzero(np.diff(keys)) + 1, len(keys))
        group_starts = np.append(0, stops[:-1])
        # Most groups are too small: a Python loop visits large groups, and the two that may cross a batch.
        is_visited = stops - group_starts >= min_rows
        is_visited[[0, -1]] = True
        for start, stop in zip(group_starts[is_visited].tolist(), stops[is_visited].tolist(), strict=True):
            if keys[start] != border:
                if row_count >= min_rows:
                    yield border, chunks
                border, chunks, row_count = int(keys[start]), [], 0
            chunks.append(rows.slice(start, stop - start))
            row_count += stop - start
    if row_count >= min_rows:
        yield border, chunks
