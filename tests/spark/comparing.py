"""The same data and the same questions on this machine and in a cluster: what the checks of `suite.py` share."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

import discreet
from discreet.baskets import Baskets
from discreet.exact import (
    BasketCount,
    BasketsEach,
    Cells,
    ClippedCounts,
    Engine,
    Kth,
    KthClipped,
    Largest,
    LoadHistogram,
    Query,
    Sizes,
    Supports,
    Truncation,
)
from discreet.planning import trial
from discreet.registry import mechanisms
from discreet.results import Itemsets

COLUMNS: dict[str, Any] = {"person": "who", "item": "what"}
# Whether everything is compared, at full size, as `make soak` does.
WHOLE_SUITE = bool(os.environ.get("WHOLE_SUITE"))
# The mechanisms that every run compares: between them they ask all kinds of queries, and the others take minutes more.
FEW_MECHANISMS = ["auto", "truncated"]
# Stands in a line that cannot be read: it must be in no message and in no log.
SECRET = "quincunx"


def compared_mechanisms() -> list[str]:
    """Return the names of the mechanisms whose releases are compared: all of them in `make soak`."""
    return sorted(mechanisms()) if WHOLE_SUITE else FEW_MECHANISMS


def table_of(rows: list[list[Any]], seed: int = 0, **columns_beside: list[Any]) -> pa.Table:
    """Return baskets as events in any order, with repeats; who holds nothing has a row that says so."""
    events = [(place, item) for place, row in enumerate(rows) for item in (list(row) or [None])]
    random.Random(seed).shuffle(events)
    events += events[::7]
    columns: dict[str, Any] = {
        "who": [person for person, _ in events],
        "what": [event_item for _, event_item in events],
    }
    if all(event_item is None for event_item in columns["what"]):
        columns["what"] = pa.array(columns["what"], pa.string())
    return pa.table(
        columns | {name: [values[person] for person, _ in events] for name, values in columns_beside.items()}
    )


def read_both(session: Any, table: pa.Table, **options: Any) -> tuple[Baskets, Any]:
    """Return the same data on this machine and in the cluster."""
    options = COLUMNS | options
    return discreet.read(table, **options), discreet.read(session.createDataFrame(table), **options)


def draw_baskets(seed: int, people: int, items: int, longest: int) -> list[list[str]]:
    """Return random baskets whose items are not equally frequent."""
    source = random.Random(seed)
    weights = [1 / (place + 1) for place in range(items)]
    rows = []
    for _ in range(people):
        item_numbers = source.choices(range(items), weights, k=source.randint(0, longest))
        rows.append(sorted({f"item {number:03d}" for number in item_numbers}))
    return rows


def questions(seed: int, items: int) -> list[Query]:
    """Return a query of every kind."""
    source = np.random.default_rng(seed)
    sizes = source.integers(1, 4, 40)
    sets = Itemsets.of(np.sort(source.choice(items, size, replace=False)).astype(np.int32) for size in sizes)
    pairs = Itemsets.of(np.sort(source.choice(items, 2, replace=False)).astype(np.int32) for _ in range(20))
    single = Itemsets.of(np.array([item], np.int32) for item in range(items))
    scores = np.arange(1, len(pairs) + 1, dtype=np.int64)
    return [
        BasketCount(),
        BasketsEach((1, 2, 4)),
        Sizes(4),
        Supports(sets),
        Supports(sets, Truncation(2, 2**63 + 11)),
        Supports(pairs, Truncation(3, 12_345, pairs, scores)),
        LoadHistogram(sets, (1, 2, 5)),
        LoadHistogram(sets, (1, 4, 9, 30), squares=True),
        LoadHistogram(single, (1, 3, 8, 20)),
        ClippedCounts(sets, 3_000),
        ClippedCounts(single, 2_048, root=True),
        Cells(((0, 1, 2), (3, 5), (4,))),
        Kth(3, 1, 3),
        Kth(40, 2, 4),
        Kth(10**6, 1, 2),
        KthClipped(ClippedCounts(sets, 2_000), 4),
        Largest(2, 3),
        Largest(9, 3),
    ]


def alike(local_engine: Engine, spread_engine: Engine, seed: int, few_questions: bool = False) -> None:
    """Ask two engines everything, or some questions of each kind."""
    for query in questions(seed, local_engine.items)[:: 3 if few_questions else 1]:
        expected, answer = local_engine.answer(query), spread_engine.answer(query)
        assert np.array_equal(expected, answer), (query, expected, answer)
    for bound, smallest, longest, limit in [(3, 2, 3, 15), (5, 1, 4, 1_000), (0, 1, 2, 30), (10**9, 1, 2, 5)][
        : 1 if few_questions else 4
    ]:
        local_list, right = (
            local_engine.above(bound, smallest, longest, limit),
            spread_engine.above(bound, smallest, longest, limit),
        )
        assert local_list.bound == right.bound, (bound, local_list.bound, right.bound)
        assert np.array_equal(local_list.counts, right.counts)
        assert local_list.itemsets.same(right.itemsets)


def list_patterns(patterns: Any) -> list[Any]:
    """Return patterns as plain values, in their order."""
    return [(sorted(pattern.items), pattern.count) for pattern in patterns]


def released(baskets: Any, seed: int, **question: Any) -> str:
    """Return all of a release that noise from a seed makes."""
    return json.dumps(replace(trial(baskets, seed=seed, **question), date="").to_dict(), sort_keys=True, default=str)


def error_text(call: Callable[[], object]) -> str:
    """Return what an error of ours says."""
    try:
        call()
    except discreet.DiscreetError as error:
        return str(error)
    raise AssertionError("nothing was said")
