"""Two other ways to mine in a cluster, for comparison with parts.

*Shards*: baskets are shuffled by the rank of their items (Li et al. 2008). Every shard has the baskets that hold one of
its items, each cut after the rarest of these, and our miner looks there for the patterns whose rarest item is one of
the shard's. No shard needs another, at the price of shipping baskets several times over.

*Sampled*: a sample is mined on the driver at a lower threshold, and what it has is counted among all (Toivonen 1996).
Where something is frequent of what the sample holds too seldom, but all of whose parts it has often enough, more might
be missing, and a lower threshold is tried. Counting looks at every candidate anew; parts have counted on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np

from discreet.baskets import Baskets, starts
from discreet.exact import LocalEngine, SearchBounds, Supports
from discreet.results import Itemsets
from discreet.spark import Block, CodeVocabulary, join_blocks

_COLUMNS = "shard int, sizes binary, codes binary"


def frequent(baskets: Any, support: str) -> int:
    """Return how many itemsets are frequent."""
    count = max(1, ceil(Fraction(support) * len(baskets)))
    held = baskets.item_counts
    labels = np.argsort(-held, kind="stable")[: int((held >= count).sum())]
    ranks = np.full(len(held), -1, np.int32)
    ranks[labels] = np.arange(len(labels))
    shards = 4 * baskets.cluster.parallelism
    # The work below an item grows with how many hold it and how many are more frequent.
    load = np.cumsum(held[labels] * np.arange(1, len(labels) + 1))
    cuts = np.unique(np.searchsorted(load, load[-1] * np.arange(1, shards) / shards))
    cuts = np.concatenate(([0], cuts, [len(labels)])).astype(np.int64)
    view = baskets.view
    split = partial(_split, view=view, ranks=ranks, cuts=cuts)
    mine = partial(_mined, items=len(labels), cuts=cuts, count=count)
    shipped = baskets.blocks.frame.mapInArrow(split, _COLUMNS).repartition(len(cuts) - 1, "shard")
    found = shipped.mapInArrow(mine, "patterns bigint").toArrow()
    return int(sum(found.column(0).to_pylist()))


def sampled(baskets: Any, support: str) -> tuple[int, int]:
    """Return how many itemsets are frequent, and in how many tries that was found."""
    people = len(baskets)
    count = max(1, ceil(Fraction(support) * people))
    survey = baskets.survey
    some = LocalEngine(Baskets.trusted(starts(survey.sample_sizes), survey.sample_codes, baskets.vocabulary))
    expected = count * len(survey.sample_sizes) / people
    for tries in range(1, 9):
        # Two, four, six … standard deviations below what a sample of so many would hold.
        least = max(1, int(expected - 2 * tries * expected**0.5))
        wanted = SearchBounds(count=least, least=1, most=baskets.items, limit=10_000_000)
        offsets, codes, _ = some.search(wanted, prefix=np.empty(0, np.int32))
        candidates = Itemsets(offsets, codes)
        border = _border(candidates, baskets.items)
        counts = baskets.engine().total(Supports(Itemsets.joined((candidates, border))))
        if not (counts[len(candidates) :] >= count).any():
            return int((counts[: len(candidates)] >= count).sum()), tries
    raise RuntimeError("the sample says too little")


def _border(sets: Itemsets, items: int) -> Itemsets:
    """Return the itemsets that are not among some, which are closed under taking parts, while all parts of them are."""
    known = {tuple(row.tolist()) for row in np.split(sets.codes, sets.offsets[1:-1])}
    by_beginning: dict[tuple[int, ...], list[int]] = {}
    for one in known:
        by_beginning.setdefault(one[:-1], []).append(one[-1])
    found = [(item,) for item in range(items) if (item,) not in known]
    for beginning, ends in by_beginning.items():
        for first, second in combinations(sorted(ends), 2):
            joined_up = (*beginning, first, second)
            parts = (joined_up[:place] + joined_up[place + 1 :] for place in range(len(joined_up)))
            if joined_up not in known and all(part in known for part in parts):
                found.append(joined_up)
    return Itemsets.of(np.array(one, np.int32) for one in found)


def _split(batches: Iterable[Any], view: Any, ranks: Any, cuts: Any) -> Iterator[Any]:
    import pyarrow as pa

    schema = pa.schema([("shard", pa.int32()), ("sizes", pa.binary()), ("codes", pa.binary())])
    for read in view.read_baskets(batches):
        baskets = read.recoded(ranks, CodeVocabulary(len(ranks)))
        owners = np.repeat(np.arange(len(baskets)), baskets.sizes)
        for shard in range(len(cuts) - 1):
            inside = (baskets.codes >= cuts[shard]) & (baskets.codes < cuts[shard + 1])
            last = np.full(len(baskets), -1, np.int64)
            np.maximum.at(last, owners[inside], np.flatnonzero(inside))
            kept = np.arange(len(baskets.codes)) <= last[owners]
            sizes = np.bincount(owners[kept], minlength=len(baskets))
            row = {
                "shard": shard,
                "sizes": sizes[sizes > 0].astype(np.int32).tobytes(),
                "codes": baskets.codes[kept].tobytes(),
            }
            yield pa.RecordBatch.from_pylist([row], schema)


def _mined(batches: Iterable[Any], items: int, cuts: Any, count: int) -> Iterator[Any]:
    import pyarrow as pa

    blocks: dict[int, list[Block]] = {}
    none = np.empty(0, np.int32)
    for batch in batches:
        for shard, sizes, codes in zip(*(batch.column(place) for place in range(3)), strict=True):
            rows = Block(*(np.frombuffer(one.as_buffer(), np.int32) for one in (sizes, codes)), none, none, none)
            blocks.setdefault(shard.as_py(), []).append(rows)
    for shard, some in blocks.items():
        found: Baskets = join_blocks(some, CodeVocabulary(items), 0, several=False)[0]
        wanted = SearchBounds(count=count, least=1, most=items, limit=10_000_000)
        offsets, codes, _ = LocalEngine(found).search(wanted, prefix=none)
        rarest = np.maximum.reduceat(codes, offsets[:-1]) if len(codes) else codes
        many = int(((rarest >= cuts[shard]) & (rarest < cuts[shard + 1])).sum())
        yield pa.RecordBatch.from_pylist([{"patterns": many}], pa.schema([("patterns", pa.int64())]))
