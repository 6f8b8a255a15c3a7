"""The engine of the audit answers as the local one does."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.auditing.neighbours import baskets
from discreet.auditing.small import Engines, Small
from discreet.curator.mechanism import from_tuples, to_tuples
from discreet.exact.engine import LocalEngine
from discreet.exact.query import Cells, Kth, Largest, People, Sizes, Supports, Truncation

ITEMS = 4
BASKETS = st.sets(st.integers(0, ITEMS - 1)).map(lambda items: tuple(sorted(items)))
DATABASES = st.lists(st.tuples(BASKETS, st.integers(1, 5)), max_size=5).map(tuple)
EVERY = from_tuples([(0,), (3,), (0, 2), (1, 2, 3), (0, 1, 2, 3)])


@settings(derandomize=True, max_examples=40, deadline=None)
@given(DATABASES, st.integers(0, 2**62))
def test_the_same_answers(database, key):
    held = baskets(database, ITEMS)
    small, local = Small(held), LocalEngine(held)
    queries = [
        People(),
        Sizes(2),
        Cells(((0, 1), (3,))),
        Supports(EVERY),
        Supports(EVERY, Truncation(2, key)),
        *(Kth(k, least, longest) for k in (1, 2, 7, 15) for least, longest in ((1, 2), (2, 4))),
        *(Kth(k, 3, 4, rank) for k in (1, 3) for rank in (2, 6)),
        *(Largest(size, floor) for size in (1, 2, 5) for floor in (1, 4)),
    ]
    for query in queries:
        for _ in range(2):  # the second answer may come from memory
            assert np.array_equal(small.answer(query), local.answer(query)), query
    for limit, least in ((1, 1), (3, 1), (3, 2), (100, 1)):
        one, other = (engine.above(1, least, 3, limit) for engine in (small, local))
        assert one.bound == other.bound
        assert dict(zip(to_tuples(one.itemsets), one.counts.tolist(), strict=True)) == dict(
            zip(to_tuples(other.itemsets), other.counts.tolist(), strict=True)
        )


def test_one_engine_for_each_data_set():
    engines = Engines()
    one, again = (engines(baskets(database, 3)) for database in ((((0,), 2),), (((0,), 1), ((0,), 1))))
    assert one is again
    assert engines(baskets((((0,), 2),), 2)) is not one
    assert type(engines(baskets((((40,), 1),), 41))) is LocalEngine
