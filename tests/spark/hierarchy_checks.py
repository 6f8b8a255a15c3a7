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
from comparing import (
    COLUMNS,
    WHOLE_SUITE,
    alike,
    draw_baskets,
    error_text,
    list_patterns,
    read_both,
    released,
    table_of,
)
from receipt_checks import RECEIPTS, receipts_of

import discreet
from discreet.baskets import Hierarchy, generalised, groceries, restrict_items
from discreet.exact import Truncation, engine_of
from discreet.registry import mechanisms
from discreet.spark import _mining as mining

# Items of `drawn` in kinds and aisles; a few are on no level but their own, and one row has an empty field.
ROWS = [
    [f"item {item_number:03d}", f"kind {item_number // 3}", f"aisle {item_number // 6}"] for item_number in range(15)
] + [["item 016", "", "aisle 0"]]
HIERARCHY = Hierarchy.from_rows(("item", "kind", "aisle"), ROWS)
LEVELS = (None, 0, "kind", 2) if WHOLE_SUITE else (None, "kind")


def mixed(items: Any) -> bool:
    """Say whether an itemset has an item and one that stands above it."""
    return any(above in items for item in items for above in HIERARCHY.above(item))


def test_questions_about_what_stands_above(session: Any) -> None:
    local, spread = read_both(session, table_of(draw_baskets(21, 400, 18, 8)))
    for level in LEVELS:
        local_wide, right = (generalised(baskets, HIERARCHY, level) for baskets in (local, spread))
        assert (local_wide.vocabulary, local_wide.lineage) == (right.vocabulary, right.lineage)
        assert engine_of(local_wide).lineage == engine_of(right).lineage
        assert np.array_equal(local_wide.item_counts, right.item_counts)
        alike(engine_of(local_wide), engine_of(right), 22, few_questions=True)
        truncation = Truncation(3, 99)
        alike(engine_of(local_wide).cut(truncation), engine_of(right).cut(truncation), 23, few_questions=True)
    # Fewer items, of which some stood between others.
    local_wide, right = (generalised(baskets, HIERARCHY) for baskets in (local, spread))
    kept_items = np.flatnonzero(np.arange(local_wide.items) % 3 != 1).astype(np.int32)
    local_wide, right = restrict_items(local_wide, kept_items), restrict_items(right, kept_items)
    assert local_wide.lineage == right.lineage is not None
    alike(engine_of(local_wide), engine_of(right), 24, few_questions=True)


def test_mining_across_levels(session: Any) -> None:
    local, spread = read_both(session, table_of(draw_baskets(25, 500, 18, 7)))
    patterns = discreet.mine(spread, min_count=12, hierarchy=HIERARCHY)
    assert not [pattern.items for pattern in patterns if mixed(pattern.items)]
    for level in LEVELS:
        for question in (
            {"min_count": 12, "lengths": (1, 3)},
            {"top": 40},
            {"top": 9, "kind": "closed"},
            {"min_count": 30, "kind": "closed"},
            {"min_count": 40, "kind": "maximal", "lengths": (1, 3)},
        ):
            question = {**question, "hierarchy": HIERARCHY, "level": level}
            assert list_patterns(discreet.mine(spread, **question)) == list_patterns(
                discreet.mine(local, **question)
            ), question
    for question in (
        {"min_count": 12, "contains": ["kind 1"], "excludes": ["item 007"]},
        {"min_count": 12, "contains": ["item 004"], "kind": "closed"},
        {"top": 12, "contains": ["aisle 1"]},
        {"itemsets": [{"kind 0", "item 005"}, {"aisle 2"}]},
    ):
        question = {**question, "hierarchy": HIERARCHY}
        assert list_patterns(discreet.mine(spread, **question)) == list_patterns(discreet.mine(local, **question)), (
            question
        )
    question = {"min_count": 30, "min_confidence": 0.3, "hierarchy": HIERARCHY}
    local_rules, right = (discreet.rules(baskets, **question) for baskets in (local, spread))
    assert [str(rule) for rule in local_rules] == [str(rule) for rule in right]
    said_here, said_there = (
        error_text(
            lambda baskets=baskets: discreet.mine(baskets, top=3, hierarchy=HIERARCHY, contains=["item 000", "kind 0"])
        )
        for baskets in (local, spread)
    )
    assert said_here == said_there


def test_hierarchies_of_baskets_that_are_too_many_to_be_looked_at_together(session: Any) -> None:
    local, spread = read_both(session, table_of(draw_baskets(26, 500, 18, 8)))
    max_task_codes = mining.Miner.max_task_codes
    mining.Miner.max_task_codes = 900
    try:
        local_wide, right = (generalised(baskets, HIERARCHY) for baskets in (local, spread))
        assert engine_of(right)._miner._min_part_count > 2
        alike(engine_of(local_wide), engine_of(right), 27)
        for question in (
            {"min_count": 2, "lengths": (1, 3)},
            {"top": 60, "lengths": (2, 4)},
            {"min_count": 3, "kind": "closed", "lengths": (1, 3)},
        ):
            assert list_patterns(discreet.mine(right, **question)) == list_patterns(
                discreet.mine(local_wide, **question)
            ), question
        question = {"top": 8, "epsilon": "2", "items": "public", "hierarchy": HIERARCHY}
        assert released(spread, 7, **question) == released(local, 7, **question)
    finally:
        mining.Miner.max_task_codes = max_task_codes


def test_every_release_with_a_hierarchy(session: Any) -> None:
    shop = groceries(600, seed=3)
    local, spread = read_both(session, table_of([sorted(basket) for basket in shop]))
    labels = sorted(map(str, local.vocabulary))
    random.Random(5).shuffle(labels)
    above = {label: f"kind {place // 4}" for place, label in enumerate(labels)}
    above |= {f"kind {number}": f"aisle {number // 3}" for number in range(-(-len(labels) // 4))}
    hierarchy = Hierarchy.read(above)
    kinds = {
        "top": {"top": 8},
        "threshold": {"min_count": 40},
        "itemsets": {"itemsets": [["kind 0"], ["aisle 0", "kind 4"]]},
    }
    # Without a hierarchy all are compared; these ask all that depends on one.
    names = ["auto", "clipped", "count", "truncated"] if WHOLE_SUITE else ["auto", "count"]
    release_count = 0
    for name in names:
        kind = mechanisms()[name].kind
        for answers, question in kinds.items():
            if answers not in kind.answers or (answers == "itemsets") != (name == "count"):
                continue
            for level_option in ({}, {"level": 1})[: 2 if answers == "top" else 1]:
                release_question = {
                    "epsilon": "2",
                    "delta": "1e-6" if kind.delta else 0,
                    "mechanism": name,
                    **question,
                    **level_option,
                }
                release_question["hierarchy"] = hierarchy
                try:
                    expected = released(local, 7, **release_question)
                except discreet.MisuseError:
                    continue
                assert released(spread, 7, **release_question) == expected, release_question
                release_count += 1
    assert release_count >= len(names)
    # What is chosen with little budget is often nothing that was listed, but drawn from all that there could be.
    for release_question in (
        {"items": "public"},
        {"items": labels[:9]},
        {"contains": ["kind 2"]},
        {"epsilon": "0.02", "lengths": (2, 3)},
        {"epsilon": "0.02", "mechanism": "exponential", "lengths": (2, 2)},
    ):
        release_question = {"epsilon": "2", "top": 5, "hierarchy": hierarchy, **release_question}
        assert released(spread, 3, **release_question) == released(local, 3, **release_question), release_question


def test_receipts_and_segments_with_a_hierarchy(session: Any) -> None:
    table = receipts_of(draw_baskets(28, 500, 18, 6), 150, region=lambda who: ("north", "south")[who % 2])
    local = discreet.read(table, **RECEIPTS, by="region")
    spread = discreet.read(session.createDataFrame(table), **RECEIPTS, by="region")
    local_wide, right = (generalised(baskets, HIERARCHY) for baskets in (local, spread))
    alike(engine_of(local_wide), engine_of(right), 29, few_questions=True)
    capped = [baskets.capped(2, 77) for baskets in (local_wide, right)]
    assert len(capped[0]) == len(capped[1])
    alike(*map(engine_of, capped), 30, few_questions=True)
    few_items = np.array([1], np.int32)
    alike(
        engine_of(local_wide.select_segments(few_items)),
        engine_of(right.select_segments(few_items)),
        31,
        few_questions=True,
    )
    question: dict[str, Any] = {"top": 6, "epsilon": "2", "hierarchy": HIERARCHY, "max_baskets": 2}
    assert released(spread, 7, **question) == released(local, 7, **question)


def test_a_ledger_knows_people_whatever_the_level(session: Any) -> None:
    rows = draw_baskets(32, 300, 18, 5)
    local, spread = read_both(session, table_of(rows))
    with TemporaryDirectory() as folder:
        path = f"{folder}/budget.db"
        discreet.Ledger.create(path, epsilon=9, name="shop")
        question: dict[str, Any] = {"top": 3, "epsilon": 1, "ledger": path}
        discreet.release(local, items="public", **question)
        discreet.release(spread, hierarchy=HIERARCHY, **question)
        discreet.release(spread, hierarchy=HIERARCHY, level="aisle", **question)
        assert [spend.changed for spend in discreet.Ledger.open(path).spends()] == [False] * 3
        # What cannot be asked is told before anything is paid.
        for wrong in ({"level": "shelf"}, {"contains": ["item 000", "aisle 0"]}):
            error_text(lambda wrong=wrong: discreet.release(spread, hierarchy=HIERARCHY, **question, **wrong))
        assert len(discreet.Ledger.open(path).spends()) == 3
        kind_counts = discreet.count(spread, [{"kind 0"}], epsilon=50, hierarchy=HIERARCHY, really=True)
        true_count = sum(any(item in row for item in ("item 000", "item 001", "item 002")) for row in rows)
        assert abs(kind_counts.patterns.counts[0] - true_count) <= 2
        # By a file that Spark reads, and a table of the hierarchy beside it.
        pyarrow.parquet.write_table(table_of(rows), f"{folder}/sales.parquet")
        Path(folder, "levels.csv").write_text("\n".join(",".join(row) for row in [["item", "kind", "aisle"], *ROWS]))
        question = {"top": 9, "hierarchy": f"{folder}/levels.csv", "level": "aisle"}
        spark_baskets = discreet.read(f"{folder}/sales.parquet", engine="spark", **COLUMNS)
        assert list_patterns(discreet.mine(spark_baskets, **question)) == list_patterns(
            discreet.mine(local, **question)
        )


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
