"""Two other ways to mine in a cluster, for comparison with parts.

*Shards*: baskets are shuffled by the rank of their items (Li et al. 2008). Every shard has the baskets with one of
its items, each cut after the rarest item of the shard, and our miner finds the patterns with a rarest item of the
shard. Shards are independent, at the price of shipping baskets several times over.

*Sampled*: a sample is mined on the driver at a lower threshold, and its patterns are counted in all data (Toivonen
1996). A frequent itemset that is infrequent in the sample, with all its subsets frequent there, may have frequent
supersets: then a lower threshold is tried. Counting looks at every candidate anew; parts have counted on the way.
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
    """Return the number of frequent itemsets."""
    count = max(1, ceil(Fraction(support) * len(baskets)))
    item_counts = baskets.item_counts
    labels = np.argsort(-item_counts, kind="stable")[: int((item_counts >= count).sum())]
    ranks = np.full(len(item_counts), -1, np.int32)
    ranks[labels] = np.arange(len(labels))
    shards = 4 * baskets.cluster.parallelism
    # The work below an item grows with its count and with the number of more frequent items.
    load = np.cumsum(item_counts[labels] * np.arange(1, len(labels) + 1))
    cuts = np.unique(np.searchsorted(load, load[-1] * np.arange(1, shards) / shards))
    cuts = np.concatenate(([0], cuts, [len(labels)])).astype(np.int64)
    view = baskets.view
    split_batches = partial(_split_baskets, view=view, ranks=ranks, cuts=cuts)
    mine = partial(_mined, items=len(labels), cuts=cuts, count=count)
    shipped = baskets.blocks.frame.mapInArrow(split_batches, _COLUMNS).repartition(len(cuts) - 1, "shard")
    shard_table = shipped.mapInArrow(mine, "patterns bigint").toArrow()
    return int(sum(shard_table.column(0).to_pylist()))


def sampled(baskets: Any, support: str) -> tuple[int, int]:
    """Return the number of frequent itemsets, and the number of tries."""
    people = len(baskets)
    count = max(1, ceil(Fraction(support) * people))
    survey = baskets.survey
    sample_engine = LocalEngine(Baskets.trusted(starts(survey.sample_sizes), survey.sample_codes, baskets.vocabulary))
    expected = count * len(survey.sample_sizes) / people
    for tries in range(1, 9):
        # Two, four, six … standard deviations below the expected count in a sample of this size.
        min_count = max(1, int(expected - 2 * tries * expected**0.5))
        bounds = SearchBounds(count=min_count, min_length=1, max_length=baskets.items, limit=10_000_000)
        offsets, codes, _ = sample_engine.search(bounds, prefix=np.empty(0, np.int32))
        candidates = Itemsets(offsets, codes)
        border = _border(candidates, baskets.items)
        counts = baskets.engine().total(Supports(Itemsets.joined((candidates, border))))
        if not (counts[len(candidates) :] >= count).any():
            return int((counts[: len(candidates)] >= count).sum()), tries
    raise RuntimeError("the sample says too little")


def _border(sets: Itemsets, items: int) -> Itemsets:
    """Return the itemsets outside a family closed under subsets with all their subsets inside the family."""
    known_itemsets = {tuple(row.tolist()) for row in np.split(sets.codes, sets.offsets[1:-1])}
    by_beginning: dict[tuple[int, ...], list[int]] = {}
    for itemset in known_itemsets:
        by_beginning.setdefault(itemset[:-1], []).append(itemset[-1])
    border_itemsets = [(item,) for item in range(items) if (item,) not in known_itemsets]
    for beginning, ends in by_beginning.items():
        for first_item, second in combinations(sorted(ends), 2):
            joined_up = (*beginning, first_item, second)
            parts = (joined_up[:place] + joined_up[place + 1 :] for place in range(len(joined_up)))
            if joined_up not in known_itemsets and all(part in known_itemsets for part in parts):
                border_itemsets.append(joined_up)
    return Itemsets.of(np.array(itemset, np.int32) for itemset in border_itemsets)


def _split_baskets(batches: Iterable[Any], view: Any, ranks: Any, cuts: Any) -> Iterator[Any]:
    import pyarrow as pa

    schema = pa.schema([("shard", pa.int32()), ("sizes", pa.binary()), ("codes", pa.binary())])
    for row_blocks in view.read_baskets(batches):
        baskets = row_blocks.recoded(ranks, CodeVocabulary(len(ranks)))
        owners = np.repeat(np.arange(len(baskets)), baskets.sizes)
        for shard in range(len(cuts) - 1):
            inside = (baskets.codes >= cuts[shard]) & (baskets.codes < cuts[shard + 1])
            last_places = np.full(len(baskets), -1, np.int64)
            np.maximum.at(last_places, owners[inside], np.flatnonzero(inside))
            is_kept = np.arange(len(baskets.codes)) <= last_places[owners]
            sizes = np.bincount(owners[is_kept], minlength=len(baskets))
            row = {
                "shard": shard,
                "sizes": sizes[sizes > 0].astype(np.int32).tobytes(),
                "codes": baskets.codes[is_kept].tobytes(),
            }
            yield pa.RecordBatch.from_pylist([row], schema)


def _mined(batches: Iterable[Any], items: int, cuts: Any, count: int) -> Iterator[Any]:
    import pyarrow as pa

    blocks: dict[int, list[Block]] = {}
    no_codes = np.empty(0, np.int32)
    for batch in batches:
        for shard, sizes, codes in zip(*(batch.column(place) for place in range(3)), strict=True):
            rows = Block(
                *(np.frombuffer(buffer.as_buffer(), np.int32) for buffer in (sizes, codes)),
                no_codes,
                no_codes,
                no_codes,
            )
            blocks.setdefault(shard.as_py(), []).append(rows)
    for shard, shard_blocks in blocks.items():
        baskets: Baskets = join_blocks(shard_blocks, CodeVocabulary(items), 0, several=False)[0]
        bounds = SearchBounds(count=count, min_length=1, max_length=items, limit=10_000_000)
        offsets, codes, _ = LocalEngine(baskets).search(bounds, prefix=no_codes)
        rarest = np.maximum.reduceat(codes, offsets[:-1]) if len(codes) else codes
        pattern_count = int(((rarest >= cuts[shard]) & (rarest < cuts[shard + 1])).sum())
        yield pa.RecordBatch.from_pylist([{"patterns": pattern_count}], pa.schema([("patterns", pa.int64())]))
