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
    Clipped,
    Engine,
    Held,
    Kth,
    KthClipped,
    Largest,
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
WHOLE = bool(os.environ.get("WHOLE_SUITE"))
# The mechanisms that every run compares: between them they ask all kinds of queries, and the others take minutes more.
FEW_MECHANISMS = ["auto", "truncated"]
# Stands in a line that cannot be read: it must be in no message and in no log.
SECRET = "quincunx"


def compared_mechanisms() -> list[str]:
    """Return the names of the mechanisms whose releases are compared: all of them in `make soak`."""
    return sorted(mechanisms()) if WHOLE else FEW_MECHANISMS


def table_of(rows: list[list[Any]], seed: int = 0, **beside: list[Any]) -> pa.Table:
    """Return baskets as events in any order, with repeats; who holds nothing has a row that says so."""
    events = [(place, item) for place, row in enumerate(rows) for item in (list(row) or [None])]
    random.Random(seed).shuffle(events)
    events += events[::7]
    columns: dict[str, Any] = {"who": [who for who, _ in events], "what": [what for _, what in events]}
    if all(what is None for what in columns["what"]):
        columns["what"] = pa.array(columns["what"], pa.string())
    return pa.table(columns | {name: [values[who] for who, _ in events] for name, values in beside.items()})


def both(session: Any, table: pa.Table, **options: Any) -> tuple[Baskets, Any]:
    """Return the same data on this machine and in the cluster."""
    options = COLUMNS | options
    return discreet.read(table, **options), discreet.read(session.createDataFrame(table), **options)


def drawn(seed: int, people: int, items: int, longest: int) -> list[list[str]]:
    """Return random baskets whose items are not equally frequent."""
    source = random.Random(seed)
    weights = [1 / (place + 1) for place in range(items)]
    rows = []
    for _ in range(people):
        some = source.choices(range(items), weights, k=source.randint(0, longest))
        rows.append(sorted({f"item {one:03d}" for one in some}))
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
        Held(sets, (1, 2, 5)),
        Held(sets, (1, 4, 9, 30), squares=True),
        Held(single, (1, 3, 8, 20)),
        Clipped(sets, 3_000),
        Clipped(single, 2_048, root=True),
        Cells(((0, 1, 2), (3, 5), (4,))),
        Kth(3, 1, 3),
        Kth(40, 2, 4),
        Kth(10**6, 1, 2),
        KthClipped(Clipped(sets, 2_000), 4),
        Largest(2, 3),
        Largest(9, 3),
    ]


def alike(one: Engine, other: Engine, seed: int, some: bool = False) -> None:
    """Ask two engines everything, or some questions of each kind."""
    for query in questions(seed, one.items)[:: 3 if some else 1]:
        expected, found = one.answer(query), other.answer(query)
        assert np.array_equal(expected, found), (query, expected, found)
    for bound, least, longest, limit in [(3, 2, 3, 15), (5, 1, 4, 1_000), (0, 1, 2, 30), (10**9, 1, 2, 5)][
        : 1 if some else 4
    ]:
        left, right = one.above(bound, least, longest, limit), other.above(bound, least, longest, limit)
        assert left.bound == right.bound, (bound, left.bound, right.bound)
        assert np.array_equal(left.counts, right.counts)
        assert left.itemsets.same(right.itemsets)


def shown(patterns: Any) -> list[Any]:
    """Return patterns as plain values, in their order."""
    return [(sorted(one.items), one.count) for one in patterns]


def released(held: Any, seed: int, **asked: Any) -> str:
    """Return all of a release that noise from a seed makes."""
    return json.dumps(replace(trial(held, seed=seed, **asked), when="").to_dict(), sort_keys=True, default=str)


def said(call: Callable[[], object]) -> str:
    """Return what an error of ours says."""
    try:
        call()
    except discreet.DiscreetError as error:
        return str(error)
    raise AssertionError("nothing was said")
