"""Checks of hierarchies in a cluster, beside what this machine makes of the same: `suite.py` runs them.

What a basket becomes is a function of that basket and of the hierarchy. And wherever patterns are found (in parts,
beyond borders, in a sample, in baskets that were cut) none has an item and one that stands above it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet
from comparing import COLUMNS, WHOLE, alike, both, drawn, released, said, shown, table_of
from receipt_checks import RECEIPTS, receipts_of

import discreet
from discreet.baskets import Hierarchy, generalised, groceries, restrict_items
from discreet.exact import Truncation, engine_of
from discreet.registry import mechanisms
from discreet.spark import _mining as mining

# Items of `drawn` in kinds and aisles; a few are on no level but their own, and one row has an empty field.
ROWS = [[f"item {one:03d}", f"kind {one // 3}", f"aisle {one // 6}"] for one in range(15)] + [
    ["item 016", "", "aisle 0"]
]
HIERARCHY = Hierarchy.from_rows(("item", "kind", "aisle"), ROWS)
LEVELS = (None, 0, "kind", 2) if WHOLE else (None, "kind")


def mixed(items: Any) -> bool:
    """Say whether an itemset has an item and one that stands above it."""
    return any(above in items for item in items for above in HIERARCHY.above(item))


def test_questions_about_what_stands_above(session: Any) -> None:
    local, spread = both(session, table_of(drawn(21, 400, 18, 8)))
    for level in LEVELS:
        left, right = (generalised(held, HIERARCHY, level) for held in (local, spread))
        assert (left.vocabulary, left.lineage) == (right.vocabulary, right.lineage)
        assert engine_of(left).lineage == engine_of(right).lineage
        assert np.array_equal(left.item_counts, right.item_counts)
        alike(engine_of(left), engine_of(right), 22, some=True)
        cut = Truncation(3, 99)
        alike(engine_of(left).cut(cut), engine_of(right).cut(cut), 23, some=True)
    # Fewer items, of which some stood between others.
    left, right = (generalised(held, HIERARCHY) for held in (local, spread))
    kept = np.flatnonzero(np.arange(left.items) % 3 != 1).astype(np.int32)
    left, right = restrict_items(left, kept), restrict_items(right, kept)
    assert left.lineage == right.lineage is not None
    alike(engine_of(left), engine_of(right), 24, some=True)


def test_mining_across_levels(session: Any) -> None:
    local, spread = both(session, table_of(drawn(25, 500, 18, 7)))
    found = discreet.mine(spread, min_count=12, hierarchy=HIERARCHY)
    assert not [one.items for one in found if mixed(one.items)]
    for level in LEVELS:
        for asked in (
            {"min_count": 12, "lengths": (1, 3)},
            {"top": 40},
            {"top": 9, "kind": "closed"},
            {"min_count": 30, "kind": "closed"},
            {"min_count": 40, "kind": "maximal", "lengths": (1, 3)},
        ):
            asked = {**asked, "hierarchy": HIERARCHY, "level": level}
            assert shown(discreet.mine(spread, **asked)) == shown(discreet.mine(local, **asked)), asked
    for asked in (
        {"min_count": 12, "contains": ["kind 1"], "excludes": ["item 007"]},
        {"min_count": 12, "contains": ["item 004"], "kind": "closed"},
        {"top": 12, "contains": ["aisle 1"]},
        {"itemsets": [{"kind 0", "item 005"}, {"aisle 2"}]},
    ):
        asked = {**asked, "hierarchy": HIERARCHY}
        assert shown(discreet.mine(spread, **asked)) == shown(discreet.mine(local, **asked)), asked
    asked = {"min_count": 30, "min_confidence": 0.3, "hierarchy": HIERARCHY}
    left, right = (discreet.rules(held, **asked) for held in (local, spread))
    assert [str(rule) for rule in left] == [str(rule) for rule in right]
    said_here, said_there = (
        said(lambda held=held: discreet.mine(held, top=3, hierarchy=HIERARCHY, contains=["item 000", "kind 0"]))
        for held in (local, spread)
    )
    assert said_here == said_there


def test_hierarchies_of_baskets_that_are_too_many_to_be_looked_at_together(session: Any) -> None:
    local, spread = both(session, table_of(drawn(26, 500, 18, 8)))
    max_task_codes = mining.Miner.max_task_codes
    mining.Miner.max_task_codes = 900
    try:
        left, right = (generalised(held, HIERARCHY) for held in (local, spread))
        assert engine_of(right)._miner._min_part_count > 2
        alike(engine_of(left), engine_of(right), 27)
        for asked in (
            {"min_count": 2, "lengths": (1, 3)},
            {"top": 60, "lengths": (2, 4)},
            {"min_count": 3, "kind": "closed", "lengths": (1, 3)},
        ):
            assert shown(discreet.mine(right, **asked)) == shown(discreet.mine(left, **asked)), asked
        asked = {"top": 8, "epsilon": "2", "items": "public", "hierarchy": HIERARCHY}
        assert released(spread, 7, **asked) == released(local, 7, **asked)
    finally:
        mining.Miner.max_task_codes = max_task_codes


def test_every_release_with_a_hierarchy(session: Any) -> None:
    shop = groceries(600, seed=3)
    local, spread = both(session, table_of([sorted(basket) for basket in shop]))
    labels = sorted(map(str, local.vocabulary))
    random.Random(5).shuffle(labels)
    above = {label: f"kind {place // 4}" for place, label in enumerate(labels)}
    above |= {f"kind {one}": f"aisle {one // 3}" for one in range(-(-len(labels) // 4))}
    hierarchy = Hierarchy.read(above)
    kinds = {
        "top": {"top": 8},
        "threshold": {"min_count": 40},
        "itemsets": {"itemsets": [["kind 0"], ["aisle 0", "kind 4"]]},
    }
    # Without a hierarchy all are compared; these ask all that depends on one.
    names = ["auto", "clipped", "count", "truncated"] if WHOLE else ["auto", "count"]
    tried = 0
    for name in names:
        kind = mechanisms()[name].kind
        for answers, question in kinds.items():
            if answers not in kind.answers or (answers == "itemsets") != (name == "count"):
                continue
            for more in ({}, {"level": 1})[: 2 if answers == "top" else 1]:
                asked = {"epsilon": "2", "delta": "1e-6" if kind.delta else 0, "mechanism": name, **question, **more}
                asked["hierarchy"] = hierarchy
                try:
                    expected = released(local, 7, **asked)
                except discreet.MisuseError:
                    continue
                assert released(spread, 7, **asked) == expected, asked
                tried += 1
    assert tried >= len(names)
    # What is chosen with little budget is often nothing that was listed, but drawn from all that there could be.
    for asked in (
        {"items": "public"},
        {"items": labels[:9]},
        {"contains": ["kind 2"]},
        {"epsilon": "0.02", "lengths": (2, 3)},
        {"epsilon": "0.02", "mechanism": "exponential", "lengths": (2, 2)},
    ):
        asked = {"epsilon": "2", "top": 5, "hierarchy": hierarchy, **asked}
        assert released(spread, 3, **asked) == released(local, 3, **asked), asked


def test_receipts_and_segments_with_a_hierarchy(session: Any) -> None:
    table = receipts_of(drawn(28, 500, 18, 6), 150, region=lambda who: ("north", "south")[who % 2])
    local = discreet.read(table, **RECEIPTS, by="region")
    spread = discreet.read(session.createDataFrame(table), **RECEIPTS, by="region")
    left, right = (generalised(held, HIERARCHY) for held in (local, spread))
    alike(engine_of(left), engine_of(right), 29, some=True)
    capped = [held.capped(2, 77) for held in (left, right)]
    assert len(capped[0]) == len(capped[1])
    alike(*map(engine_of, capped), 30, some=True)
    some = np.array([1], np.int32)
    alike(engine_of(left.within(some)), engine_of(right.within(some)), 31, some=True)
    asked: dict[str, Any] = {"top": 6, "epsilon": "2", "hierarchy": HIERARCHY, "max_baskets": 2}
    assert released(spread, 7, **asked) == released(local, 7, **asked)


def test_a_ledger_knows_people_whatever_the_level(session: Any) -> None:
    rows = drawn(32, 300, 18, 5)
    local, spread = both(session, table_of(rows))
    with TemporaryDirectory() as folder:
        path = f"{folder}/budget.db"
        discreet.Ledger.create(path, epsilon=9, name="shop")
        asked: dict[str, Any] = {"top": 3, "epsilon": 1, "ledger": path}
        discreet.release(local, items="public", **asked)
        discreet.release(spread, hierarchy=HIERARCHY, **asked)
        discreet.release(spread, hierarchy=HIERARCHY, level="aisle", **asked)
        assert [spend.changed for spend in discreet.Ledger.open(path).spends()] == [False] * 3
        # What cannot be asked is told before anything is paid.
        for wrong in ({"level": "shelf"}, {"contains": ["item 000", "aisle 0"]}):
            said(lambda wrong=wrong: discreet.release(spread, hierarchy=HIERARCHY, **asked, **wrong))
        assert len(discreet.Ledger.open(path).spends()) == 3
        counted = discreet.count(spread, [{"kind 0"}], epsilon=50, hierarchy=HIERARCHY, really=True)
        true = sum(any(item in row for item in ("item 000", "item 001", "item 002")) for row in rows)
        assert abs(counted.patterns.counts[0] - true) <= 2
        # By a file that Spark reads, and a table of the hierarchy beside it.
        pyarrow.parquet.write_table(table_of(rows), f"{folder}/sales.parquet")
        Path(folder, "levels.csv").write_text("\n".join(",".join(row) for row in [["item", "kind", "aisle"], *ROWS]))
        asked = {"top": 9, "hierarchy": f"{folder}/levels.csv", "level": "aisle"}
        read = discreet.read(f"{folder}/sales.parquet", engine="spark", **COLUMNS)
        assert shown(discreet.mine(read, **asked)) == shown(discreet.mine(local, **asked))


CHECKS: dict[str, tuple[Callable[[Any], None], tuple[str, ...]]] = {
    function.__name__: (function, kinds)
    for function, kinds in (
        (test_questions_about_what_stands_above, ("cluster",)),
        (test_mining_across_levels, ("cluster", "connect")),
        (test_hierarchies_of_baskets_that_are_too_many_to_be_looked_at_together, ("cluster",)),
        (test_every_release_with_a_hierarchy, ("cluster",)),
        (test_receipts_and_segments_with_a_hierarchy, ("cluster",)),
        (test_a_ledger_knows_people_whatever_the_level, ("cluster",)),
    )
}
