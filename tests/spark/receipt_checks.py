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
from comparing import COLUMNS, alike, both, compared_mechanisms, drawn, released, said, shown

import discreet
from discreet.baskets import groceries
from discreet.exact import BasketsEach, Clipped, Held, KthClipped, Sizes, Supports, Truncation, engine_of
from discreet.privacy.ledger import HashedRows
from discreet.registry import mechanisms
from discreet.results import Itemsets

RECEIPTS: dict[str, Any] = COLUMNS | {"basket": "receipt"}


def receipts_of(rows: list[list[Any]], people: int, seed: int = 0, **beside: Callable[[int], Any]) -> pa.Table:
    """Return baskets as events in any order, with repeats: some people have many, most have few, and numbers repeat.

    A basket of nothing has a row that says so. `beside` are columns that the person decides.
    """
    source = random.Random(seed)
    events, receipts = [], dict.fromkeys(range(people), 0)
    for row in rows:
        who = int(people * source.random() ** 3)
        receipts[who] += 1
        events += [(who, receipts[who], item) for item in row or [None]]
    source.shuffle(events)
    events += events[::7]
    columns = {name: [event[place] for event in events] for place, name in enumerate(("who", "receipt", "what"))}
    return pa.table(columns | {name: [one(who) for who in columns["who"]] for name, one in beside.items()})


def same(one: Any, other: Any) -> None:
    """Compare what baskets here and in the cluster are of, and what a ledger knows them by."""
    assert (one.people, len(one), one.unit) == (other.people, len(other), other.unit)
    assert list(one.vocabulary) == list(other.vocabulary)
    assert np.array_equal(one.item_counts, other.item_counts)
    whole = tuple(range(1, 9))
    for query in (BasketsEach(whole), Held(Itemsets.singles(one.items), whole), Sizes(9)):
        assert np.array_equal(engine_of(one).answer(query), engine_of(other).answer(query)), query
    assert HashedRows.of(one, bytes(32)).fingerprint() == HashedRows.of(other, bytes(32)).fingerprint()


def test_every_question_about_people_with_several_baskets(session: Any) -> None:
    local, spread = both(session, receipts_of(drawn(1, 700, 20, 9), 160), **RECEIPTS)
    assert spread.blocks.partitions > 1
    assert spread.merged == local.merged > 0
    same(local, spread)
    assert repr(spread) == f"SparkBaskets({len(local)} baskets of {local.people} people, 20 items)"
    merged = discreet.read(session.createDataFrame(receipts_of(drawn(1, 700, 20, 9), 160)), **COLUMNS)
    assert HashedRows.of(merged, bytes(32)).fingerprint() == HashedRows.of(spread, bytes(32)).fingerprint()
    alike(engine_of(local), engine_of(spread), 5)
    for most, key in ((3, 77), (1, 2**62 + 5)):
        left, right = local.capped(most, key), spread.capped(most, key)
        assert (left.people, len(left)) == (right.people, len(right))
        assert left.people == local.people
        alike(engine_of(left), engine_of(right), 6, some=True)
    # Cut baskets are counted; whose they are is no longer told, here or there.
    cut = Truncation(3, 99)
    here, there = engine_of(local).cut(cut), engine_of(spread).cut(cut)
    pairs = Itemsets.of(np.array(pair, np.int32) for pair in ((0, 1), (1, 2), (2, 5)))
    assert np.array_equal(here.answer(Supports(pairs)), there.answer(Supports(pairs)))
    assert here.above(9, 1, 3, 50).itemsets.same(there.above(9, 1, 3, 50).itemsets)
    for query in (BasketsEach((1,)), Held(pairs, (1,)), Clipped(pairs, 900), KthClipped(Clipped(pairs, 900), 1)):
        told = said(lambda query=query: there.answer(query))
        assert told == said(lambda query=query: here.answer(query))
        assert "is about all baskets of a person, and these were cut" in told


def test_some_of_the_receipts(session: Any) -> None:
    table = receipts_of(drawn(2, 600, 24, 8), 150, region=lambda who: ("north", "south", "east")[who % 3])
    local, spread = both(session, table, **RECEIPTS, by="region")
    assert spread.segment_labels == local.segment_labels == ["east", "north", "south"]
    some = np.array([1], np.int32)
    narrower = np.where(np.arange(24) % 2, np.arange(24) // 2, -1).astype(np.int32)
    vocabulary = discreet.Vocabulary([label for place, label in enumerate(local.vocabulary) if place % 2])
    for step in (
        lambda held: held.within(some).capped(2, 8),
        lambda held: held.holding(np.array([0, 2], np.int32)),
        lambda held: held.recoded(narrower, vocabulary).capped(2, 9).holding(some),
    ):
        left, right = step(local), step(spread)
        assert (left.people, len(left)) == (right.people, len(right))
        alike(engine_of(left), engine_of(right), 7, some=True)
    asked: dict[str, Any] = {"top": 3, "epsilon": "3", "items": "public"}
    with TemporaryDirectory() as folder:
        path = f"{folder}/budget.db"
        discreet.Ledger.create(path, epsilon=20, name="shop")
        discreet.release(discreet.read(table, **COLUMNS), ledger=path, **asked)
        made = discreet.release(spread, ledger=path, **asked)
        assert made.patterns.unit == "baskets"
        made_by = discreet.release_by(
            spread, "region", segments=["north", "south"], ledger=path, max_baskets=2, **asked
        )
        assert {name: one.patterns.unit for name, one in made_by.items()} == {"north": "baskets", "south": "baskets"}
        assert [spend.changed for spend in discreet.Ledger.open(path).spends()] == [False] * 3
    looks = [discreet.preview(held, **asked) for held in (local, spread)]
    assert [(look.people, look.baskets, look.items) for look in looks] == [(local.people, len(local), local.items)] * 2


def test_equal_people_in_many_partitions(session: Any) -> None:
    # Two kinds of people, of whom many are equal; receipts of the same things come in another order, or are in another
    # region. What they keep as a whole, here and in the cluster, is the same, and not the same of all of them.
    bought = [["tea", "milk", "tea"], ["milk", "tea", "tea"], ["jam", "milk", "rice"]]
    events = [
        (who, receipt, item)
        for who in range(240)
        for receipt, item in enumerate(bought[who % 3] if who % 7 else ["tea"])
    ]
    random.Random(5).shuffle(events)
    columns = {name: [event[place] for event in events] for place, name in enumerate(("who", "receipt", "what"))}
    table = pa.table(columns | {"region": [("north", "south")[who % 2] for who in columns["who"]]})
    local = discreet.read(table, **RECEIPTS, by="region")
    spread = discreet.read(session.createDataFrame(table).repartition(7), **RECEIPTS, by="region")
    assert spread.blocks.partitions > 1
    regions = [[0], [1], [0, 1]]
    for most, key in ((1, 3), (2, 2**61 + 1)):
        left, right = local.capped(most, key), spread.capped(most, key)
        assert (left.people, len(left)) == (right.people, len(right))
        for some in (np.array(one, np.int32) for one in regions):
            here, there = left.within(some), right.within(some)
            assert (here.people, len(here)) == (there.people, len(there))
            assert np.array_equal(here.item_counts, there.item_counts)
    # Of 136 equal people who keep one of three baskets, two of them tea: fewer than 60 or more than 120 hold tea in one
    # of a million draws, and the key is fixed.
    counts = dict(zip(left.vocabulary, local.capped(1, 3).item_counts.tolist(), strict=True))
    teas = counts["tea"] - sum(who % 7 == 0 for who in range(240))
    assert 60 < teas < 120


def test_mining_receipts(session: Any) -> None:
    local, spread = both(session, receipts_of(drawn(3, 700, 15, 9), 90), **RECEIPTS)
    for asked in ({"min_count": 12}, {"top": 30}, {"top": 9, "kind": "closed"}, {"min_support": 0.05, "lengths": 2}):
        expected, found = discreet.mine(local, **asked), discreet.mine(spread, **asked)
        assert shown(expected) == shown(found), asked
        assert (expected.people, expected.unit) == (found.people, found.unit) == (700, "baskets")
    left, right = (discreet.rules(held, min_count=12, min_confidence=0.3) for held in (local, spread))
    # P-values are found in one basket of each person, which is drawn on this machine alone.
    assert left.p is not None
    assert right.p is None
    left = replace(left, p=None, p_adjusted=None)
    assert (left.unit, [str(rule) for rule in left]) == (right.unit, [str(rule) for rule in right])
    counted = discreet.count(spread, [{"item 000"}], epsilon=100_000, max_baskets=1_000, really=True)
    assert (counted.patterns.counts.tolist(), counted.patterns.unit) == ([int(local.item_counts[0])], "baskets")


def test_every_release_of_receipts(session: Any) -> None:
    shop = groceries(900, seed=3)
    local, spread = both(session, receipts_of([sorted(basket) for basket in shop], 300), **RECEIPTS)
    first, second = (local.vocabulary.label(code) for code in np.argsort(-local.item_counts)[:2])
    kinds = {"top": {"top": 8}, "threshold": {"min_count": 40}, "itemsets": {"itemsets": [[first], [first, second]]}}
    names = compared_mechanisms()
    tried = 0
    for place, name in enumerate(names):
        kind = mechanisms()[name].kind
        delta = "1e-6" if kind.delta else 0
        for answers, question in kinds.items():
            if answers not in kind.answers or (answers == "itemsets") != (name == "count"):
                continue
            # The cap is given in some, and paid for in the others.
            asked = {"epsilon": "2", "delta": delta, "items": "public", "mechanism": name, **question}
            asked |= {"max_baskets": 2} if place % 2 else {}
            try:
                expected = released(local, 7, **asked)
            except discreet.MisuseError:
                continue
            assert "Counts are of baskets, and the unit of privacy is the person" in expected
            assert released(spread, 7, **asked) == expected, asked
            tried += 1
    assert tried >= len(names)
    for asked in (
        {"top": 5, "delta": "1e-6", "items": None},
        {"top": 5, "items": "public", "contains": [first], "max_baskets": 4},
        {"top": 5, "delta": "1e-6", "items": "public", "neighbours": "replace"},
    ):
        asked = {"epsilon": "2", **asked}
        assert released(spread, 3, **asked) == released(local, 3, **asked), asked


def test_odd_receipts(session: Any) -> None:
    # One person has a hundred thousand receipts, and another one of a hundred thousand items.
    many = np.arange(100_000)
    skewed = pa.table(
        {
            "who": np.repeat([7, 5, 1], [len(many), len(many), 2]),
            "receipt": np.concatenate((many, np.zeros_like(many), [3, 3])),
            "what": np.concatenate((many % 11, many, [1, 1])),
        }
    )
    local, spread = both(session, skewed, **RECEIPTS)
    same(local, spread)
    left, right = local.capped(5, 6), spread.capped(5, 6)
    same(left, right)
    # Lists, receipts of nothing, a person of nothing, what has no person or no receipt, and what is there twice.
    lists = pa.table(
        {
            "who": ["u", "u", "v", "v", "v", None, "w", "w", None],
            "receipt": [1, 2, 1, 1, 2, 1, None, 4, None],
            "what": [["a", "b"], [], ["c", None, "c"], ["c"], None, ["secret"], ["hidden"], [], ["d"]],
        }
    )
    local, spread = both(session, lists, **RECEIPTS, nulls="drop")
    same(local, spread)
    assert (spread.people, len(spread), list(spread.vocabulary)) == (3, 5, ["a", "b", "c"])
    frame = session.createDataFrame(lists)
    assert "2 rows have no person (column 'who')" in said(lambda: discreet.read(frame, **RECEIPTS))
    frame = frame.where("who is not null")
    assert said(lambda: discreet.read(frame, **RECEIPTS)) == (
        "The table: 1 row has no basket (column 'receipt'); nulls=\"drop\" leaves it out."
    )
    alone = frame.where("receipt is null")
    assert (discreet.read(alone, **RECEIPTS, nulls="drop").people, len(discreet.read(alone, **COLUMNS))) == (0, 1)
    capped = RECEIPTS | {"max_items": 2, "seed": 3}
    same(*both(session, receipts_of(drawn(8, 200, 9, 9), 40), **capped))
    # A segment is the person's: each receipt says the same one.
    for marks in (["x", "x", "y"], ["x", None, "x"]):
        table = pa.table({"who": [1, 1, 1], "receipt": [1, 2, 3], "what": ["a", "b", "c"], "by": marks})
        told = said(lambda table=table: both(session, table, **RECEIPTS, by="by"))
        assert told == "The table: everyone must have one value in the column 'by' (by=), not none or several."
        frame = session.createDataFrame(table)
        assert told == said(lambda frame=frame: discreet.read(frame, **RECEIPTS, by="by"))
    table = pa.table({"who": [1, 1, 2], "receipt": [1, 1, 1], "what": ["a", "b", "c"], "by": ["x", None, "y"]})
    local, spread = both(session, table, **RECEIPTS, by="by")
    same(local.within(np.array([0], np.int32)), spread.within(np.array([0], np.int32)))


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
            local, spread = both(session, table, basket=name, nulls="drop")
            assert len(local) < 3 or name == "names"
            same(local, spread)
    finally:
        session.conf.unset("spark.sql.session.timeZone")
    collated = session.createDataFrame(table).selectExpr("who", "what", "names collate UTF8_LCASE as receipt")
    assert len(discreet.read(collated, **RECEIPTS)) == 3
    nested = session.createDataFrame(table).selectExpr("who", "what", "array(names) as receipt")
    assert said(lambda: discreet.read(nested, **RECEIPTS)) == (
        "The table: column 'receipt' (basket=) is of type array<string>; in a cluster baskets are told apart by "
        "numbers, text, dates or times: cast the column to text."
    )
    assert "has no column 'till' (basket=)" in said(lambda: discreet.read(nested, **COLUMNS, basket="till"))


def test_files_of_receipts(session: Any) -> None:
    table = receipts_of(drawn(9, 120, 12, 5), 30)
    local = discreet.read(table, **RECEIPTS)
    with TemporaryDirectory() as folder:
        pyarrow.parquet.write_table(table, f"{folder}/sales.parquet")
        pyarrow.csv.write_csv(table, f"{folder}/sales.csv")
        for name in ("sales.parquet", "sales.csv"):
            same(local, discreet.read(f"{folder}/{name}", engine="spark", **RECEIPTS))
        path = Path(folder, "receipts.json")
        # 1 and 1.0 are written in two ways; an empty name is a name, and null is none.
        numbers, texts = ["1", "1.0", "null", "true", "12345678901234567890", '{"a": 1}'], ['"1"', '""', "null", '"a"']
        for written in (numbers, texts):
            path.write_text("".join(f'{{"who":1,"what":"{n}","receipt":{one}}}\n' for n, one in enumerate(written)))
            here = discreet.read(path, **RECEIPTS, nulls="drop")
            assert len(here) == len(written) - 1
            same(here, discreet.read(str(path), engine="spark", **RECEIPTS, nulls="drop"))
        for one in ("1", "1.5", "true"):  # beside text, which may be written alike
            path.write_text(f'{{"who":1,"what":"a","receipt":{one}}}\n{{"who":1,"what":"b","receipt":"{one}"}}\n')
            told = said(partial(discreet.read, path, **RECEIPTS))
            assert "baskets are all numbers or all names (text)" in told
            assert told == said(partial(discreet.read, str(path), engine="spark", **RECEIPTS))
        path.write_text('{"who":1,"what":"a","receipt":1}\n{"who":1,"what":"b","receipt":1.0}\n')
        same(discreet.read(path, **RECEIPTS), discreet.read(str(path), engine="spark", **RECEIPTS))


CHECKS: dict[str, tuple[Callable[[Any], None], tuple[str, ...]]] = {
    one.__name__: (one, kinds)
    for one, kinds in [
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
