"""What few people hold, where not all baskets can be looked at together: the steps of tasks, without a cluster."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from csr import csr
from discreet.baskets import Baskets, Lineage
from discreet.errors import LimitError
from discreet.exact import LocalEngine, SearchBounds
from discreet.kernels import LEVEL, project
from discreet.results import Itemsets
from discreet.spark import Block, CodeVocabulary, _borders as borders
from discreet.spark._baskets import BlockView, _drop_copies, _reduce_partition
from discreet.spark._blocks import write_blocks
from naive import projecting as naive
from strategies import forests

ITEMS = 8
ROWS = st.lists(st.sets(st.integers(0, ITEMS - 1)).map(sorted), max_size=25)


class Frame:
    """Stands for a data frame: a list of batches, which a shuffle puts in the order of a column."""

    def __init__(self, batches):
        self.batches = batches

    def mapInArrow(self, work, _):
        return Frame(list(work(self.batches)))

    def repartition(self, *_):
        return self

    def sortWithinPartitions(self, column):
        # In batches of three rows, so that groups go on in the next one.
        if not self.batches:
            return self
        return Frame(pa.Table.from_batches(self.batches).sort_by(column).to_batches(max_chunksize=3))

    def limit(self, _):
        return self

    def toArrow(self):
        schema = pa.schema([("border", pa.int64()), ("items", pa.binary()), ("count", pa.int64())])
        return pa.Table.from_batches(self.batches, schema)


class LocalCluster:
    """Stands for a cluster."""

    parallelism = 1

    def step(self, _):
        return nullcontext()

    def guard(self, work):
        return work

    def collect(self, frame):
        return frame.toArrow()


def held_by(rows, lineage=None):
    offsets, codes = csr(rows)
    return Baskets.trusted(offsets, codes.astype(np.int32), CodeVocabulary(ITEMS), lineage=lineage)


def searched(baskets, count, max_size):
    bounds = SearchBounds(count=count, min_length=1, max_length=max_size, limit=10**6)
    offsets, codes, counts = LocalEngine(baskets).search(bounds, prefix=np.empty(0, np.int32))
    return Itemsets(offsets, codes), counts


def as_dict(itemsets, counts):
    return dict(zip(map(frozenset, np.split(itemsets.codes, itemsets.offsets[1:-1])), counts.tolist(), strict=False))


def remote(baskets, rows_a_block=4):
    pieces = [
        baskets.rows(np.arange(start, min(start + rows_a_block, len(baskets))))
        for start in range(0, len(baskets), rows_a_block)
    ]
    frame = Frame(list(write_blocks([Block.from_baskets(piece) for piece in pieces], ITEMS)))
    lengths = np.unique(baskets.sizes)
    return SimpleNamespace(
        item_counts=baskets.item_counts,
        cluster=LocalCluster(),
        survey=SimpleNamespace(sizes=lengths),
        view=BlockView(items=ITEMS, lineage=baskets.lineage),
        lineage=baskets.lineage,
        blocks=SimpleNamespace(frame=frame, partitions=1),
    )


FORESTS = st.none() | forests(ITEMS).map(lambda above: above + [-1] * (ITEMS - len(above)))


@given(ROWS, FORESTS, st.integers(1, 6), st.integers(1, 12), st.integers(2, 4))
def test_what_lies_beyond_borders_is_all_that_fewer_people_hold(rows, above, count, further_count, max_size):
    baskets = held_by(rows, None if above is None else Lineage(np.array(above, np.int32)))
    known_itemsets, counts = searched(baskets, count + further_count, max_size)
    expected = as_dict(*searched(baskets, count, max_size))
    bounds = SearchBounds(count=count, min_length=1, max_length=max_size, limit=10**6)
    further_itemsets, fewer = borders.mine_beyond_borders(remote(baskets), known_itemsets, bounds)
    found_counts = as_dict(known_itemsets, counts) | as_dict(further_itemsets, fewer)
    assert found_counts == expected
    assert len(known_itemsets) + len(further_itemsets) == len(expected)
    if len(further_itemsets):
        with pytest.raises(LimitError):
            borders.mine_beyond_borders(
                remote(baskets),
                known_itemsets,
                SearchBounds(count=count, min_length=1, max_length=max_size, limit=len(further_itemsets) - 1),
            )


@given(ROWS, st.integers(1, 9), st.integers(1, 4), st.integers(1, 5))
def test_borders_are_those_of_the_slow_twin(rows, count, max_size, room):
    known_itemsets, _ = searched(held_by(rows), count, max_size)
    tree = borders._PatternTree.build(known_itemsets)
    patterns = {
        tuple(sorted(itemset, reverse=True)) for itemset in as_dict(known_itemsets, np.zeros(len(known_itemsets)))
    } - {()}
    offsets, codes = csr(rows)
    state, path = np.array([0, -1]), np.zeros((ITEMS + 1, 2), np.int64)
    border, ends, kept_codes = np.empty((room, 2), np.int64), np.empty(room + 1, np.int64), np.empty(ITEMS, np.int32)
    found_borders = []
    while border_count := project(
        offsets, codes.astype(np.int32), tree.arrays, max_size, state, path, border, ends, kept_codes
    ):
        for place in range(border_count):
            node, item = border[place]
            begun = tree.patterns.take(np.array([node])).codes[::-1].tolist()
            found_borders.append(((*begun, int(item)), kept_codes[ends[place] : ends[place + 1]].tolist()))
    assert state[LEVEL] == -1
    expected = [itemset for row in rows for itemset in naive.borders(row, patterns, max_size)]
    assert sorted(found_borders) == sorted(expected)


@given(ROWS, st.integers(1, 40))
def test_a_partition_may_be_looked_at_in_several_goes(rows, rows_at_once):
    baskets = held_by(rows)
    batches = remote(baskets, rows_a_block=3).blocks.frame.batches
    part = partial(_drop_copies, part=lambda some: some.item_counts)
    results = list(_reduce_partition(batches, BlockView(items=ITEMS), part, np.add, rows_at_once))
    assert len(results) == bool(rows)
    for _, counts in results:
        assert np.array_equal(counts, baskets.item_counts)
