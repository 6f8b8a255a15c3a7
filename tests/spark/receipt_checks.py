"""Checks of people with several baskets in a cluster, beside what this machine makes of the same: `suite.py` runs them.

Which baskets of a person stay under a cap, and which people a question about whole people counts, must not depend on
how receipts are partitioned.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from comparing import COLUMNS, alike, compared_mechanisms, draw_baskets, error_text, list_patterns, read_both, released

import discreet
from discreet.baskets import groceries
from discreet.exact import BasketsEach, ClippedCounts, KthClipped, LoadHistogram, Sizes, Supports, Truncation, engine_of
from discreet.privacy.ledger import HashedRows
from discreet.registry import mechanisms
from discreet.results import Itemsets

RECEIPTS: dict[str, Any] = COLUMNS | {"basket": "receipt"}


def receipts_of(rows: list[list[Any]], people: int, seed: int = 0, **values_beside: Callable[[int], Any]) -> pa.Table:
    """Return baskets as events in any order, with repeats: some people have many, most have few, and numbers repeat.

    A basket of nothing has a row that says so. `beside` are columns that the person decides.
    """
    source = random.Random(seed)
    events, receipts = [], dict.fromkeys(range(people), 0)
    for row in rows:
        person = int(people * source.random() ** 3)
        receipts[person] += 1
        events += [(person, receipts[person], item) for item in row or [None]]
    source.shuffle(events)
    events += events[::7]
    columns = {name: [event[place] for event in events] for place, name in enumerate(("who", "receipt", "what"))}
    return pa.table(
        columns | {name: [value_of(person) for person in columns["who"]] for name, value_of in values_beside.items()}
    )


def compare_baskets(local_baskets: Any, spread_baskets: Any) -> None:
    """Compare what baskets here and in the cluster are of, and what a ledger knows them by."""
    assert (local_baskets.people, len(local_baskets), local_baskets.unit) == (
        spread_baskets.people,
        len(spread_baskets),
        spread_baskets.unit,
    )
    assert list(local_baskets.vocabulary) == list(spread_baskets.vocabulary)
    assert np.array_equal(local_baskets.item_counts, spread_baskets.item_counts)
    limits = tuple(range(1, 9))
    for query in (BasketsEach(limits), LoadHistogram(Itemsets.singles(local_baskets.items), limits), Sizes(9)):
        assert np.array_equal(engine_of(local_baskets).answer(query), engine_of(spread_baskets).answer(query)), query
    assert (
        HashedRows.hash_baskets(local_baskets, bytes(32)).fingerprint()
        == HashedRows.hash_baskets(spread_baskets, bytes(32)).fingerprint()
    )


def test_every_question_about_people_with_several_baskets(session: Any) -> None:
    local, spread = read_both(session, receipts_of(draw_baskets(1, 700, 20, 9), 160), **RECEIPTS)
    assert spread.blocks.partitions > 1
    assert spread.merged == local.merged > 0
    compare_baskets(local, spread)
    assert repr(spread) == f"SparkBaskets({len(local)} baskets of {local.people} people, 20 items)"
    merged_baskets = discreet.read(session.createDataFrame(receipts_of(draw_baskets(1, 700, 20, 9), 160)), **COLUMNS)
    assert (
        HashedRows.hash_baskets(merged_baskets, bytes(32)).fingerprint()
        == HashedRows.hash_baskets(spread, bytes(32)).fingerprint()
    )
    alike(engine_of(local), engine_of(spread), 5)
    for max_baskets, key in ((3, 77), (1, 2**62 + 5)):
        local_capped, right = local.capped(max_baskets, key), spread.capped(max_baskets, key)
        assert (local_capped.people, len(local_capped)) == (right.people, len(right))
        assert local_capped.people == local.people
        alike(engine_of(local_capped), engine_of(right), 6, few_questions=True)
    # Cut baskets are counted; whose they are is no longer told, here or there.
    truncation = Truncation(3, 99)
    local_cut, spread_cut = engine_of(local).cut(truncation), engine_of(spread).cut(truncation)
    pairs = Itemsets.of(np.array(pair, np.int32) for pair in ((0, 1), (1, 2), (2, 5)))
    assert np.array_equal(local_cut.answer(Supports(pairs)), spread_cut.answer(Supports(pairs)))
    assert local_cut.above(9, 1, 3, 50).itemsets.same(spread_cut.above(9, 1, 3, 50).itemsets)
    for query in (
        BasketsEach((1,)),
        LoadHistogram(pairs, (1,)),
        ClippedCounts(pairs, 900),
        KthClipped(ClippedCounts(pairs, 900), 1),
    ):
        message = error_text(lambda query=query: spread_cut.answer(query))
        assert message == error_text(lambda query=query: local_cut.answer(query))
        assert "is about all baskets of a person, and these were cut" in message


def test_some_of_the_receipts(session: Any) -> None:
    table = receipts_of(draw_baskets(2, 600, 24, 8), 150, region=lambda who: ("north", "south", "east")[who % 3])
    local, spread = read_both(session, table, **RECEIPTS, by="region")
    assert spread.segment_labels == local.segment_labels == ["east", "north", "south"]
    few_items = np.array([1], np.int32)
    narrower = np.where(np.arange(24) % 2, np.arange(24) // 2, -1).astype(np.int32)
    vocabulary = discreet.Vocabulary([label for place, label in enumerate(local.vocabulary) if place % 2])
    for step in (
        lambda baskets: baskets.select_segments(few_items).capped(2, 8),
        lambda baskets: baskets.select_containing(np.array([0, 2], np.int32)),
        lambda baskets: baskets.recoded(narrower, vocabulary).capped(2, 9).select_containing(few_items),
    ):
        local_step, right = step(local), step(spread)
        assert (local_step.people, len(local_step)) == (right.people, len(right))
        alike(engine_of(local_step), engine_of(right), 7, few_questions=True)
    question: dict[str, Any] = {"top": 3, "epsilon": "3", "items": "public"}
    with TemporaryDirectory() as folder:
        path = f"{folder}/budget.db"
        discreet.Ledger.create(path, epsilon=20, name="shop")
        discreet.release(discreet.read(table, **COLUMNS), ledger=path, **question)
        release = discreet.release(spread, ledger=path, **question)
        assert release.patterns.unit == "baskets"
        made_by = discreet.release_by(
            spread, "region", segments=["north", "south"], ledger=path, max_baskets=2, **question
        )
        assert {name: segment_release.patterns.unit for name, segment_release in made_by.items()} == {
            "north": "baskets",
            "south": "baskets",
        }
        assert [spend.changed for spend in discreet.Ledger.open(path).spends()] == [False] * 3
    looks = [discreet.preview(baskets, **question) for baskets in (local, spread)]
    assert [(look.people, look.baskets, look.items) for look in looks] == [(local.people, len(local), local.items)] * 2


def test_equal_people_in_many_partitions(session: Any) -> None:
    # Two kinds of people, of whom many are equal; receipts of the same things come in another order, or are in another
    # region. What they keep as a whole, here and in the cluster, is the same, and not the same of all of them.
    bought = [["tea", "milk", "tea"], ["milk", "tea", "tea"], ["jam", "milk", "rice"]]
    events = [
        (person, receipt, item)
        for person in range(240)
        for receipt, item in enumerate(bought[person % 3] if person % 7 else ["tea"])
    ]
    random.Random(5).shuffle(events)
    columns = {name: [event[place] for event in events] for place, name in enumerate(("who", "receipt", "what"))}
    table = pa.table(columns | {"region": [("north", "south")[person % 2] for person in columns["who"]]})
    local = discreet.read(table, **RECEIPTS, by="region")
    spread = discreet.read(session.createDataFrame(table).repartition(7), **RECEIPTS, by="region")
    assert spread.blocks.partitions > 1
    regions = [[0], [1], [0, 1]]
    for max_baskets, key in ((1, 3), (2, 2**61 + 1)):
        local_capped, right = local.capped(max_baskets, key), spread.capped(max_baskets, key)
        assert (local_capped.people, len(local_capped)) == (right.people, len(right))
        for region_codes in (np.array(region, np.int32) for region in regions):
            local_region, spread_region = (
                local_capped.select_segments(region_codes),
                right.select_segments(region_codes),
            )
            assert (local_region.people, len(local_region)) == (spread_region.people, len(spread_region))
            assert np.array_equal(local_region.item_counts, spread_region.item_counts)
    # Of 136 equal people who keep one of three baskets, two of them tea: fewer than 60 or more than 120 hold tea in one
    # of a million draws, and the key is fixed.
    counts = dict(zip(local_capped.vocabulary, local.capped(1, 3).item_counts.tolist(), strict=True))
    teas = counts["tea"] - sum(person % 7 == 0 for person in range(240))
    assert 60 < teas < 120


def test_mining_receipts(session: Any) -> None:
    local, spread = read_both(session, receipts_of(draw_baskets(3, 700, 15, 9), 90), **RECEIPTS)
    for question in ({"min_count": 12}, {"top": 30}, {"top": 9, "kind": "closed"}, {"min_support": 0.05, "lengths": 2}):
        expected, patterns = discreet.mine(local, **question), discreet.mine(spread, **question)
        assert list_patterns(expected) == list_patterns(patterns), question
        assert (expected.people, expected.unit) == (patterns.people, patterns.unit) == (700, "baskets")
    local_rules, right = (discreet.rules(baskets, min_count=12, min_confidence=0.3) for baskets in (local, spread))
    # P-values are found in one basket of each person, which is drawn on this machine alone.
    assert local_rules.p is not None
    assert right.p is None
    local_rules = replace(local_rules, p=None, p_adjusted=None)
    assert (local_rules.unit, [str(rule) for rule in local_rules]) == (right.unit, [str(rule) for rule in right])
    tea_counts = discreet.count(spread, [{"item 000"}], epsilon=100_000, max_baskets=1_000, really=True)
    assert (tea_counts.patterns.counts.tolist(), tea_counts.patterns.unit) == ([int(local.item_counts[0])], "baskets")


def test_every_release_of_receipts(session: Any) -> None:
    shop = groceries(900, seed=3)
    local, spread = read_both(session, receipts_of([sorted(basket) for basket in shop], 300), **RECEIPTS)
    frequent_item, second = (local.vocabulary.label(code) for code in np.argsort(-local.item_counts)[:2])
    kinds = {
        "top": {"top": 8},
        "threshold": {"min_count": 40},
        "itemsets": {"itemsets": [[frequent_item], [frequent_item, second]]},
    }
    names = compared_mechanisms()
    release_count = 0
    for place, name in enumerate(names):
        kind = mechanisms()[name].kind
        delta = "1e-6" if kind.delta else 0
        for answers, question in kinds.items():
            if answers not in kind.answers or (answers == "itemsets") != (name == "count"):
                continue
            # The cap is given in some, and paid for in the others.
            release_question = {"epsilon": "2", "delta": delta, "items": "public", "mechanism": name, **question}
            release_question |= {"max_baskets": 2} if place % 2 else {}
            try:
                expected = released(local, 7, **release_question)
            except discreet.MisuseError:
                continue
            assert "Counts are of baskets, and the unit of privacy is the person" in expected
            assert released(spread, 7, **release_question) == expected, release_question
            release_count += 1
    assert release_count >= len(names)
    for release_question in (
        {"top": 5, "delta": "1e-6", "items": None},
        {"top": 5, "items": "public", "contains": [frequent_item], "max_baskets": 4},
        {"top": 5, "delta": "1e-6", "items": "public", "neighbours": "replace"},
    ):
        release_question = {"epsilon": "2", **release_question}
        assert released(spread, 3, **release_question) == released(local, 3, **release_question), release_question


def test_odd_receipts(session: Any) -> None:
    # One person has a hundred thousand receipts, and another one of a hundred thousand items.
    receipt_numbers = np.arange(100_000)
    skewed = pa.table(
        {
            "who": np.repeat([7, 5, 1], [len(receipt_numbers), len(receipt_numbers), 2]),
            "receipt": np.concatenate((receipt_numbers, np.zeros_like(receipt_numbers), [3, 3])),
            "what": np.concatenate((receipt_numbers % 11, receipt_numbers, [1, 1])),
        }
    )
    local, spread = read_both(session, skewed, **RECEIPTS)
    compare_baskets(local, spread)
    local_capped, right = local.capped(5, 6), spread.capped(5, 6)
    compare_baskets(local_capped, right)
    # Lists, receipts of nothing, a person of nothing, what has no person or no receipt, and what is there twice.
    lists = pa.table(
        {
            "who": ["u", "u", "v", "v", "v", None, "w", "w", None],
            "receipt": [1, 2, 1, 1, 2, 1, None, 4, None],
            "what": [["a", "b"], [], ["c", None, "c"], ["c"], None, ["secret"], ["hidden"], [], ["d"]],
        }
    )
    local, spread = read_both(session, lists, **RECEIPTS, nulls="drop")
    compare_baskets(local, spread)
    assert (spread.people, len(spread), list(spread.vocabulary)) == (3, 5, ["a", "b", "c"])
    frame = session.createDataFrame(lists)
    assert "2 rows have no person (column 'who')" in error_text(lambda: discreet.read(frame, **RECEIPTS))
    frame = frame.where("who is not null")
    assert error_text(lambda: discreet.read(frame, **RECEIPTS)) == (
        "The table: 1 row has no basket (column 'receipt'); nulls=\"drop\" leaves it out."
    )
    without_receipt = frame.where("receipt is null")
    assert (
        discreet.read(without_receipt, **RECEIPTS, nulls="drop").people,
        len(discreet.read(without_receipt, **COLUMNS)),
    ) == (0, 1)
    capped = RECEIPTS | {"max_items": 2, "seed": 3}
    compare_baskets(*read_both(session, receipts_of(draw_baskets(8, 200, 9, 9), 40), **capped))
    # A segment is the person's: each receipt says the same one.
    for marks in (["x", "x", "y"], ["x", None, "x"]):
        table = pa.table({"who": [1, 1, 1], "receipt": [1, 2, 3], "what": ["a", "b", "c"], "by": marks})
        message = error_text(lambda table=table: read_both(session, table, **RECEIPTS, by="by"))
        assert message == "The table: everyone must have one value in the column 'by' (by=), not none or several."
        frame = session.createDataFrame(table)
        assert message == error_text(lambda frame=frame: discreet.read(frame, **RECEIPTS, by="by"))
    table = pa.table({"who": [1, 1, 2], "receipt": [1, 1, 1], "what": ["a", "b", "c"], "by": ["x", None, "y"]})
    local, spread = read_both(session, table, **RECEIPTS, by="by")
    compare_baskets(local.select_segments(np.array([0], np.int32)), spread.select_segments(np.array([0], np.int32)))


def test_what_tells_receipts_apart(session: Any) -> None:
    # An hour that clocks in New York show twice, two zeros, a number that is none, and text that differs in case.
    hours = [datetime(2024, 11, 3, hour, 30, tzinfo=UTC) for hour in (5, 6, 6)]
    kinds: dict[str, list[Any]] = {
        "times": hours,
        "days": [date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 2)],
        "fractions": [0.0, -0.0, 0.5],
        "not numbers": [0.5, float("nan"), 1.5],
        "prices": [Decimal("1.50"), Decimal("1.5"), Decimal("1.51")],
        "names": ["A", "a", " a"],
        "yes": [True, False, True],
        "bytes": [b"\x00", b"\x00\x01", b"\x00"],
    }
    columns = {"who": [1, 1, 1], "what": ["a", "b", "c"], **kinds}
    table = pa.table(columns)
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for name in kinds:
            local, spread = read_both(session, table, basket=name, nulls="drop")
            assert len(local) < 3 or name == "names"
            compare_baskets(local, spread)
    finally:
        session.conf.unset("spark.sql.session.timeZone")
    collated = session.createDataFrame(table).selectExpr("who", "what", "names collate UTF8_LCASE as receipt")
    assert len(discreet.read(collated, **RECEIPTS)) == 3
    nested = session.createDataFrame(table).selectExpr("who", "what", "array(names) as receipt")
    assert error_text(lambda: discreet.read(nested, **RECEIPTS)) == (
        "The table: column 'receipt' (basket=) is of type array<string>; in a cluster baskets are told apart by "
        "numbers, text, dates or times: cast the column to text."
    )
    assert "has no column 'till' (basket=)" in error_text(lambda: discreet.read(nested, **COLUMNS, basket="till"))


def test_files_of_receipts(session: Any) -> None:
    table = receipts_of(draw_baskets(9, 120, 12, 5), 30)
    local = discreet.read(table, **RECEIPTS)
    with TemporaryDirectory() as folder:
        pyarrow.parquet.write_table(table, f"{folder}/sales.parquet")
        pyarrow.csv.write_csv(table, f"{folder}/sales.csv")
        for name in ("sales.parquet", "sales.csv"):
            compare_baskets(local, discreet.read(f"{folder}/{name}", engine="spark", **RECEIPTS))
        path = Path(folder, "receipts.json")
        # 1 and 1.0 are written in two ways; an empty name is a name, and null is none.
        numbers, texts = ["1", "1.0", "null", "true", "12345678901234567890", '{"a": 1}'], ['"1"', '""', "null", '"a"']
        for receipt_texts in (numbers, texts):
            path.write_text(
                "".join(
                    f'{{"who":1,"what":"{n}","receipt":{receipt_text}}}\n'
                    for n, receipt_text in enumerate(receipt_texts)
                )
            )
            local_baskets = discreet.read(path, **RECEIPTS, nulls="drop")
            assert len(local_baskets) == len(receipt_texts) - 1
            compare_baskets(local_baskets, discreet.read(str(path), engine="spark", **RECEIPTS, nulls="drop"))
        for receipt_text in ("1", "1.5", "true"):  # beside text, which may be written alike
            path.write_text(
                f'{{"who":1,"what":"a","receipt":{receipt_text}}}\n{{"who":1,"what":"b","receipt":"{receipt_text}"}}\n'
            )
            message = error_text(partial(discreet.read, path, **RECEIPTS))
            assert "baskets are all numbers or all names (text)" in message
            assert message == error_text(partial(discreet.read, str(path), engine="spark", **RECEIPTS))
        path.write_text('{"who":1,"what":"a","receipt":1}\n{"who":1,"what":"b","receipt":1.0}\n')
        compare_baskets(discreet.read(path, **RECEIPTS), discreet.read(str(path), engine="spark", **RECEIPTS))


CHECKS: dict[str, tuple[Callable[[Any], None], tuple[str, ...]]] = {
    check.__name__: (check, kinds)
    for check, kinds in [
        (test_every_question_about_people_with_several_baskets, ("cluster", "connect")),
        (test_some_of_the_receipts, ("cluster",)),
        (test_equal_people_in_many_partitions, ("cluster", "connect")),
        (test_mining_receipts, ("cluster", "connect")),
        (test_every_release_of_receipts, ("cluster", "connect")),
        (test_odd_receipts, ("cluster",)),
        (test_what_tells_receipts_apart, ("cluster", "connect")),
        (test_files_of_receipts, ("cluster",)),
    ]
}
