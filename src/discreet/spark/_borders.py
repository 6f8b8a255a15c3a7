"""What few people hold, found where all baskets together are more than one task can look at.

Parts are mined at their share of a threshold, which has to be worth mining at. Below that, all baskets would have to be
looked at together. So what many people hold is found in parts first. A pattern of fewer people, written from its rarest
item on, then begins with one of these (or with nothing) and one item more, where it passes to fewer people: its
*border*. Baskets that hold a border meet in one task, cut down to what may follow, and are mined there by our own
miner. They are fewer people than parts can tell: no task has to hold more, whatever the data.

Where items stand above others, no pattern has two such items. So a border has none, and what follows it is neither
above nor below any item of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, Lineage, recoded, starts
from ..errors import LimitError
from ..exact import LocalEngine, SearchBounds, by_count, ranks_of, too_many
from ..kernels import LEVEL, project
from ..results import Itemsets
from ._baskets import BlockView
from ._blocks import Numbered, as_column, as_itemsets, read_blocks

if TYPE_CHECKING:
    from ._baskets import SparkBaskets

I64 = NDArray[np.int64]
# Nodes and last items, where what is kept of each row ends, and that.
Borders: TypeAlias = tuple[I64, I64, Codes]

_NOTHING = np.empty(0, np.int32)
_PROJECTED = "border bigint, held binary"
_FOUND = "border bigint, items binary, count bigint"
# Borders and codes that a task writes at a time.
_BORDERS, _CODES = 1 << 16, 1 << 20
_TOO_MUCH = -1  # the border that says that there are more patterns than the limit


@dataclass(frozen=True, eq=False)
class _Tree:
    """Patterns of ranks as `kernels.projecting` has them; `sizes` of the nodes, the empty pattern first."""

    heads: I64
    items: Codes
    nodes: Codes
    sizes: Codes
    patterns: Itemsets

    @classmethod
    def of(cls, patterns: Itemsets) -> _Tree:
        """Return the tree of patterns whose subsets are all among them."""
        order = np.argsort(patterns.sizes, kind="stable")
        patterns = Itemsets.joined((Itemsets(np.zeros(2, np.int64), _NOTHING), patterns.take(order)))
        falling = [patterns.codes[first:last][::-1].tobytes() for first, last in zip(*_ends(patterns), strict=True)]
        places = {key: place for place, key in enumerate(falling)}
        parents = np.array([places[key[:-4]] for key in falling[1:]], np.int64)
        last = np.array([patterns.codes[first] for first in patterns.offsets[1:-1]], np.int32)
        order = np.lexsort((last, parents))
        heads = np.searchsorted(parents[order], np.arange(len(patterns) + 1))
        nodes = (order + 1).astype(np.int32)
        return cls(heads.astype(np.int64), last[order], nodes, patterns.sizes.astype(np.int32), patterns)

    @property
    def arrays(self) -> tuple[I64, Codes, Codes]:
        """The tree as the kernel takes it."""
        return self.heads, self.items, self.nodes


def _ends(itemsets: Itemsets) -> tuple[list[int], list[int]]:
    return itemsets.offsets[:-1].tolist(), itemsets.offsets[1:].tolist()


def beyond_borders(baskets: SparkBaskets, known: Itemsets, wanted: SearchBounds) -> tuple[Itemsets, I64]:
    """Return the itemsets that `wanted.count` people hold and that are not `known`, with their counts.

    Known are all those of up to `wanted.most` items that some larger number of people hold. Raises where more than
    `wanted.limit` are found.
    """
    held, cluster = baskets.item_counts, baskets.cluster
    if wanted.count <= 1 and baskets.lineage is None:  # where items stand above others, not every subset counts
        _check_longest(int(baskets.survey.lengths.max(initial=0)), wanted)
    labels = by_count(held, np.flatnonzero(held >= max(wanted.count, 1)))
    ranks = ranks_of(labels, len(held))
    ranked = Itemsets.of(np.sort(ranks[row]) for row in np.split(known.codes, known.offsets[1:-1]) if len(row))
    tree = _Tree.of(ranked)
    lineage = recoded(baskets.lineage, ranks, len(labels))
    apart = None if lineage is None else partial(_apart, lineage=lineage, begun=tree.patterns)
    cut = partial(_projected, view=baskets.view, ranks=ranks, tree=tree.arrays, most=wanted.most, apart=apart)
    mine = partial(_mined, wanted=wanted, sizes=tree.sizes, items=len(labels), lineage=lineage)
    tasks = 4 * max(cluster.parallelism, baskets.blocks.partitions)
    with cluster.step("mining what few people hold"):
        met = baskets.blocks.frame.mapInArrow(cluster.guarded(partial(cut, items=len(labels))), _PROJECTED)
        together = met.repartition(tasks, "border").sortWithinPartitions("border")
        found = together.mapInArrow(cluster.guarded(mine), _FOUND)
        most = wanted.limit + 1
        table = cluster.collected(found.limit(most) if most < 1 << 31 else found)
    borders = table.column("border").to_numpy()
    if len(table) > wanted.limit or (borders == _TOO_MUCH).any():
        raise LimitError(too_many(wanted))
    items = max(1, len(labels))
    begun = tree.patterns.take(borders // items)
    last = Itemsets(np.arange(len(borders) + 1), (borders % items).astype(np.int32))
    together = _beside(begun, last, as_itemsets(table.column("items")))
    codes = labels[together.codes]
    rows = np.repeat(np.arange(len(borders)), together.sizes)
    found_sets = Itemsets(together.offsets, codes[np.lexsort((codes, rows))])
    return found_sets, table.column("count").to_numpy().astype(np.int64)


def _check_longest(longest: int, wanted: SearchBounds) -> None:
    """Stop before the work begins where one basket alone has too many subsets, each of which counts."""
    subsets = 0
    for size in range(1, min(wanted.most, longest) + 1):
        subsets += comb(longest, size)
        if subsets > wanted.limit:
            raise LimitError(too_many(wanted))


def _beside(*several: Itemsets) -> Itemsets:
    """Return itemsets of which each has the items of its namesakes in all of several."""
    offsets = starts(np.sum([one.sizes for one in several], axis=0))
    codes = np.empty(offsets[-1], np.int32)
    begin = offsets[:-1].copy()
    for one in several:
        codes[np.repeat(begin - one.offsets[:-1], one.sizes) + np.arange(len(one.codes))] = one.codes
        begin += one.sizes
    return Itemsets(offsets, codes)


def _apart(border: I64, ends: I64, kept: Codes, lineage: Lineage, begun: Itemsets) -> Borders:
    """Leave of borders, and of what lies beyond them, what has no item above another."""
    last = Itemsets(np.arange(len(border) + 1), border[:, 1].astype(np.int32))
    patterns = _beside(begun.take(border[:, 0]), last)
    good = lineage.antichains(patterns.offsets, patterns.codes)
    rows = np.repeat(np.arange(len(border)), np.diff(ends))
    free = good[rows] & lineage.apart(patterns.offsets, patterns.codes, rows, kept)
    sizes = np.bincount(rows[free], minlength=len(border))
    return border[good], starts(sizes[good]), kept[free]


def _projected(
    batches: Iterable[Any],
    view: BlockView,
    ranks: Codes,
    tree: tuple[I64, Codes, Codes],
    most: int,
    items: int,
    apart: Callable[[I64, I64, Codes], Borders] | None,
) -> Iterator[Any]:
    """Run in an executor: what baskets hold beyond each border, a row each."""
    import pyarrow as pa

    for block in read_blocks(batches, view.items):
        baskets = view.of([block])[0].recoded(ranks, Numbered(items))
        longest = int(baskets.sizes.max(initial=0))
        state, path = np.zeros(2, np.int64), np.zeros((longest + 1, 2), np.int64)
        state[LEVEL] = -1
        border, ends = np.empty((_BORDERS, 2), np.int64), np.empty(_BORDERS + 1, np.int64)
        kept = np.empty(max(_CODES, longest), np.int32)
        while many := project(baskets.offsets, baskets.codes, tree, most, state, path, border, ends, kept):
            at, places, beyond = border[:many], ends[: many + 1], kept[: ends[many]]
            if apart is not None:
                at, places, beyond = apart(at, places, beyond)
            keys = pa.array(at[:, 0] * items + at[:, 1])
            yield pa.RecordBatch.from_arrays([keys, as_column(places, beyond)], names=["border", "held"])


def _mined(
    batches: Iterable[Any], wanted: SearchBounds, sizes: Codes, items: int, lineage: Lineage | None
) -> Iterator[Any]:
    """Run in an executor: what enough people hold beyond each border, who come one after the other."""
    import pyarrow as pa

    schema = pa.schema([("border", pa.int64()), ("items", pa.binary()), ("count", pa.int64())])
    left = wanted.limit
    for border, chunks in _groups(batches, wanted.count):
        rows = as_itemsets(pa.chunked_array(chunks))
        try:
            offsets, codes, counts = _mined_here(rows, wanted, wanted.most - int(sizes[border // items]) - 1, lineage)
            left -= len(counts) + 1
        except LimitError:
            left = -1
        if left < 0:
            yield pa.RecordBatch.from_pylist([{"border": _TOO_MUCH, "items": b"", "count": 0}], schema)
            return
        counts = np.append(np.int64(len(rows)), counts)
        column = as_column(np.append(np.int64(0), offsets), codes)
        columns = [pa.array(np.full(len(counts), border)), column, pa.array(counts)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _mined_here(rows: Itemsets, wanted: SearchBounds, most: int, lineage: Lineage | None) -> tuple[I64, Codes, I64]:
    if most < 1 or not len(rows.codes):
        return np.zeros(1, np.int64), _NOTHING, np.empty(0, np.int64)
    # As few items as these people hold: an engine goes through all that there are.
    there, codes = np.unique(rows.codes, return_inverse=True)
    among = None if lineage is None else lineage.only(there)
    held = Baskets.trusted(rows.offsets, codes.astype(np.int32), Numbered(len(there)), lineage=among)
    bounds = SearchBounds(count=wanted.count, least=1, most=most, limit=wanted.limit)
    offsets, found, counts = LocalEngine(held).search(bounds, prefix=_NOTHING)
    return offsets, there[found].astype(np.int32), counts


def _groups(batches: Iterable[Any], least: int) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of each border that has so many: they lie together, perhaps in several batches."""
    border, many = -1, 0
    waiting: list[Any] = []
    for batch in batches:
        keys, rows = batch.column(0).to_numpy(), batch.column(1)
        if not len(keys):
            continue
        ends = np.append(np.flatnonzero(np.diff(keys)) + 1, len(keys))
        begun = np.append(0, ends[:-1])
        # Of those that neither begin before the batch nor may go on after it, most are too few to be looked at.
        looked_at = ends - begun >= least
        looked_at[[0, -1]] = True
        for first, last in zip(begun[looked_at].tolist(), ends[looked_at].tolist(), strict=True):
            if keys[first] != border:
                if many >= least:
                    yield border, waiting
                border, waiting, many = int(keys[first]), [], 0
            waiting.append(rows.slice(first, last - first))
            many += last - first
    if many >= least:
        yield border, waiting
