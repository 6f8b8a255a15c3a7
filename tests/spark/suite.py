"""What holds on every engine, run in a process of its own: one Python has one kind of Spark session for life.

Each check is a function of a session. `python suite.py KIND` starts a session of a kind, runs the checks it is for, and
writes what went wrong with each as JSON on the last line.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import hierarchy_checks
import numpy as np
import psutil
import pyarrow as pa
import reading_checks
import receipt_checks
import report_checks
from comparing import (
    COLUMNS,
    FEW_MECHANISMS,
    WHOLE_SUITE,
    alike,
    compared_mechanisms,
    draw_baskets,
    error_text,
    list_patterns,
    read_both,
    released,
    table_of,
)

import discreet
from discreet.baskets import groceries
from discreet.exact import Kth, Sizes, Supports, Truncation, engine_of
from discreet.privacy.ledger import HashedRows
from discreet.registry import mechanisms
from discreet.results import Itemsets
from discreet.spark import _mining as mining, _reading as reading
from discreet.spark._session import Cluster

# A session in this process is what `make test` has; two executors and Spark Connect take minutes: `make soak`.
KINDS = {"local": "local[2]", "cluster": "local-cluster[2,1,1024]", "connect": "local[2]"}
# Checks of executors that are processes of their own, which a session in this process has none of.
NEED_EXECUTORS = {"test_a_lost_executor_changes_nothing", "test_lines_of_csv_that_are_broken"}
CHECKS: dict[str, tuple[Callable[[Any], None], tuple[str, ...]]] = {}


def check(*kinds: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Let a check run on these kinds of session; on all where none is named."""

    def keep(function: Callable[[Any], None]) -> Callable[[Any], None]:
        CHECKS[function.__name__] = function, kinds or tuple(KINDS)
        return function

    return keep


@check()
def test_every_question(session: Any) -> None:
    rows = draw_baskets(1, 600, 20, 9)
    local, spread = read_both(session, table_of(rows))
    assert spread.vocabulary == local.vocabulary
    assert len(spread) == len(local) == 600
    assert ">600</td>" in spread._repr_html_()
    assert local.vocabulary.label(0) not in spread._repr_html_()
    assert spread.blocks.partitions > 1
    batch = "spark.sql.execution.arrow.maxRecordsPerBatch"
    session.conf.set(batch, "7000")
    alike(engine_of(local), engine_of(spread), 5)
    assert session.conf.get(batch) == "7000"
    session.conf.unset(batch)
    truncation = Truncation(3, 99)
    alike(engine_of(local).cut(truncation), engine_of(spread).cut(truncation), 6, few_questions=True)
    assert np.array_equal(local.item_counts, spread.item_counts)
    assert (
        HashedRows.hash_baskets(local, bytes(32)).fingerprint()
        == HashedRows.hash_baskets(spread, bytes(32)).fingerprint()
    )


@check("cluster")
def test_every_question_of_some_items_and_people(session: Any) -> None:
    rows = draw_baskets(2, 500, 30, 8)
    regions = [("north", "south", "east")[place % 3] for place in range(500)]
    local, spread = read_both(session, table_of(rows, region=regions), by="region")
    assert spread.segment_labels == local.segment_labels == ["east", "north", "south"]
    few_items = np.array([1], np.int32)
    narrower = np.where(np.arange(30) % 2, np.arange(30) // 2, -1).astype(np.int32)
    vocabulary = discreet.Vocabulary([label for place, label in enumerate(local.vocabulary) if place % 2])
    for step in (
        lambda held: held.select_segments(few_items),
        lambda held: held.select_containing(np.array([0, 2], np.int32)),
        lambda held: (
            held.select_segments(np.array([0, 2], np.int32)).select_containing(few_items).recoded(narrower, vocabulary)
        ),
    ):
        local_step, right = step(local), step(spread)
        assert len(local_step) == len(right)
        alike(engine_of(local_step), engine_of(right), 7, few_questions=True)


@check()
def test_mining(session: Any) -> None:
    local, spread = read_both(session, table_of(draw_baskets(3, 800, 15, 9)))
    for question in (
        {"min_count": 12},
        {"min_support": 0.02, "lengths": (2, 3)},
        {"top": 40},
        {"top": 25, "lengths": (2, None)},
        {"top": 9, "kind": "closed"},
        {"min_count": 12, "kind": "closed"},
        {"min_count": 12, "kind": "maximal", "lengths": (1, 3)},
        {"min_count": 6, "contains": ["item 001"], "excludes": ["item 003"]},
        {"min_count": 6, "contains": ["item 001"], "kind": "closed"},
        {"top": 12, "contains": ["item 002"]},
        {"itemsets": [{"item 000", "item 001"}, {"item 014"}]},
    ):
        expected, patterns = discreet.mine(local, **question), discreet.mine(spread, **question)
        assert list_patterns(expected) == list_patterns(patterns), question
        assert expected.people == patterns.people
    local_rules, right = (discreet.rules(baskets, min_count=12, min_confidence=0.3) for baskets in (local, spread))
    assert [str(rule) for rule in local_rules] == [str(rule) for rule in right]


def mine_or_message(baskets: Any, **question: Any) -> list[Any] | str:
    """Return patterns, or how the sentence begins that says that they are too many."""
    try:
        return list_patterns(discreet.mine(baskets, **question))
    except discreet.LimitError as error:
        return str(error)[:25]


@check("cluster")
def test_limits_are_those_of_this_machine(session: Any) -> None:
    # Long baskets that are alike: few closed patterns, and very many others.
    alike_ones = [[f"i{place:02d}" for place in range(12)]] * 30 + draw_baskets(13, 200, 12, 4)
    local, spread = read_both(session, table_of(alike_ones))
    for question in (
        {"min_count": 20, "kind": "closed", "limit": 200},
        {"min_count": 20, "kind": "maximal", "limit": 200},
        {"top": 20, "kind": "closed", "limit": 3_000},
        {"top": 20, "limit": 200},
        {"min_count": 20, "limit": 10**30},
        {"top": 10**30},
        {"min_count": 20, "lengths": (2, 3), "limit": 2**62},
        {"min_count": 20, "limit": 400},
        {"min_count": 20, "kind": "closed", "limit": 3},
    ):
        expected, outcome = (mine_or_message(baskets, **question) for baskets in (local, spread))
        assert outcome == expected, (question, outcome, expected)
    for query in (Kth(2**62, 1, 3), Kth(5, 1, 3, 2**62)):
        assert np.array_equal(engine_of(spread).answer(query), engine_of(local).answer(query))


@check("cluster")
def test_baskets_that_are_too_many_to_be_looked_at_together(session: Any) -> None:
    local, spread = read_both(session, table_of(draw_baskets(14, 500, 20, 9)))
    max_task_codes = mining.Miner.max_task_codes
    mining.Miner.max_task_codes = 700  # codes and people: a few parts
    try:
        assert engine_of(spread)._miner._min_part_count > 2
        alike(engine_of(local), engine_of(spread), 15)
        for question in ({"min_count": 2, "lengths": (1, 3)}, {"top": 40}, {"min_count": 3, "kind": "closed"}):
            assert list_patterns(discreet.mine(spread, **question)) == list_patterns(
                discreet.mine(local, **question)
            ), question
        question = {"top": 8, "epsilon": "2", "items": "public"}
        assert released(spread, 7, **question) == released(local, 7, **question)
    finally:
        mining.Miner.max_task_codes = max_task_codes


@check()
def test_every_release(session: Any) -> None:
    shop = groceries(900, seed=3)
    local, spread = read_both(session, table_of([sorted(basket) for basket in shop]))
    frequent_item, second = (local.vocabulary.label(code) for code in np.argsort(-local.item_counts)[:2])
    kinds = {
        "top": {"top": 8},
        "threshold": {"min_count": 40},
        "itemsets": {"itemsets": [[frequent_item], [frequent_item, second]]},
    }
    names = compared_mechanisms()
    connect = type(session).__module__.startswith("pyspark.sql.connect")
    release_count = 0
    for name in names:
        kind = mechanisms()[name].kind
        delta = "1e-6" if kind.delta else 0
        for answers, question in kinds.items():
            if answers not in kind.answers or (answers == "itemsets") != (name == "count"):
                continue
            release_question = {"epsilon": "2", "delta": delta, "items": "public", "mechanism": name, **question}
            try:
                expected = released(local, 7, **release_question)
            except discreet.MisuseError:
                continue
            assert released(spread, 7, **release_question) == expected, release_question
            release_count += 1
            if connect and name not in FEW_MECHANISMS:
                break  # one question of each is enough there: what differs is how an answer travels
    assert release_count >= len(names)
    # Items that nobody listed, must-haves, and segments.
    for release_question in (
        {"top": 5, "delta": "1e-6", "items": None},
        {"top": 5, "items": "public", "contains": [frequent_item]},
    ):
        release_question = {"epsilon": "2", **release_question}
        assert released(spread, 3, **release_question) == released(local, 3, **release_question), release_question


@check("cluster")
def test_a_ledger_knows_the_data_wherever_they_lie(session: Any) -> None:
    from tempfile import TemporaryDirectory

    regions = [("north", "south")[place % 2] for place in range(300)]
    local, spread = read_both(session, table_of(draw_baskets(4, 300, 9, 5), region=regions), by="region")
    _, other_baskets = read_both(session, table_of([["something else", str(place)] for place in range(300)]))
    with TemporaryDirectory() as folder:
        path = f"{folder}/budget.db"
        discreet.Ledger.create(path, epsilon=9, name="shop")
        question: dict[str, Any] = {"top": 3, "epsilon": 1, "items": "public", "ledger": path}
        discreet.release(local, **question)
        release = discreet.release(spread, **question)
        assert len(release.patterns) == 3
        made_by = discreet.release_by(spread, "region", segments=["north", "south"], **question)
        assert list(made_by) == ["north", "south"]
        assert [spend.changed for spend in discreet.Ledger.open(path).spends()] == [False, False, False]
        assert "ledger of other data" in error_text(lambda: discreet.release(other_baskets, **question))
        assert len(discreet.Ledger.open(path).spends()) == 3
    look = discreet.preview(spread, top=3, epsilon=1, items=["nothing", "either", "neither"])
    assert (look.people, look.listed_items, look.matched_items) == (300, 3, 0)
    item_counts = discreet.count(spread, [{"item 000"}], epsilon=50, really=True)
    expected = int(local.item_counts[0])
    assert abs(item_counts.patterns.counts[0] - expected) <= 2


@check("cluster")
def test_odd_data(session: Any) -> None:
    one_in_all = [["all", *row] for row in draw_baskets(5, 200, 9, 4)]
    one_person = [["a", "b"] * 2_000, ["a"], ["b", "c"], []]
    # One person holds very many items, some of them twice, and another holds two of these.
    long_row = np.arange(1_000_000 if WHOLE_SUITE else 30_000)
    events = np.concatenate((long_row, long_row[::10], [1, 7]))
    long_basket = pa.table({"who": np.repeat([5, 7], [len(events) - 2, 2]), "what": events})
    for table in (*map(table_of, (one_in_all, one_person, [[]] * 7, [["only"]])), long_basket):
        local, spread = read_both(session, table)
        assert spread.vocabulary == local.vocabulary
        assert len(spread) == len(local)
        assert np.array_equal(spread.item_counts, local.item_counts)
        single = Itemsets.of([np.array([item], np.int32) for item in range(min(2, local.items))])
        for query in (Sizes(3), Sizes(2_000_000), Supports(single, Truncation(1, 5))):
            assert np.array_equal(engine_of(spread).answer(query), engine_of(local).answer(query))
        assert (
            HashedRows.hash_baskets(local, bytes(32)).fingerprint()
            == HashedRows.hash_baskets(spread, bytes(32)).fingerprint()
        )
    # A hundred equal baskets are cut apart, as on this machine.
    equal = [[f"i{place}" for place in range(9)]] * 100 + draw_baskets(6, 50, 9, 9)
    local, spread = read_both(session, table_of(equal))
    alike(engine_of(local).cut(Truncation(2, 5)), engine_of(spread).cut(Truncation(2, 5)), 8, few_questions=True)
    # Numbers, and a cap, and many empty partitions.
    numbers = pa.table({"who": list(range(50)) * 4, "what": [place * 10**6 for place in range(200)]})
    capped = COLUMNS | {"max_items": 2, "seed": 3}
    capped_baskets = discreet.read(numbers, **capped)
    spread = discreet.read(session.createDataFrame(numbers).repartition(40 if WHOLE_SUITE else 8), **capped)
    assert spread.vocabulary == capped_baskets.vocabulary
    assert np.array_equal(spread.item_counts, capped_baskets.item_counts)
    named_baskets = discreet.read(session.createDataFrame(numbers), **COLUMNS, labels="names")
    assert list(named_baskets.vocabulary) == list(discreet.read(numbers, **COLUMNS, labels="names").vocabulary)
    # Lists, with people and without, and rows without a person.
    lists = pa.table({"who": ["u", "v", "v", None], "what": [["a", "b"], [], ["c", None, "c"], ["a"]]})
    local, spread = read_both(session, lists, nulls="drop")
    assert np.array_equal(spread.item_counts, local.item_counts)
    assert len(spread) == len(local) == 2
    baskets_of_lists = discreet.read(session.createDataFrame(lists.select(["what"])))
    assert np.array_equal(baskets_of_lists.item_counts, discreet.read(lists.select(["what"])).item_counts)
    assert np.array_equal(engine_of(baskets_of_lists).answer(Sizes(3)), [1, 2, 1, 0])


def refused(session: Any, source: Any, **options: Any) -> str:
    try:
        discreet.read(source, **options)
    except discreet.DiscreetError as error:
        return str(error)
    raise AssertionError("nothing was said")


@check()
def test_bad_input_is_told(session: Any) -> None:
    frame = session.createDataFrame(pa.table({"who": [1.5, 2.0], "what": ["a", "b"], "when": [True, False]}))
    assert refused(session, frame, person="whom", item="what") == (
        "The table has no column 'whom' (person=); its columns are who, what, when."
    )
    assert "people might be taken for one another" in refused(session, frame, person="who", item="what")
    assert "is of type boolean; items are whole numbers or names" in refused(session, frame, person="what", item="when")
    assert "needs person= and item=" in refused(session, frame)
    assert "means nothing here" in refused(session, frame, person="what", item="what", time="when")
    nulls = session.createDataFrame(pa.table({"who": pa.array([1, None, None]), "what": ["a", "b", "c"]}))
    assert "2 rows have no person (column 'who'); nulls=\"drop\" leaves them out" in refused(session, nulls, **COLUMNS)
    two_segments = session.createDataFrame(pa.table({"who": [1, 1], "what": ["a", "b"], "by": ["x", "y"]}))
    assert "everyone must have one value in the column 'by'" in refused(session, two_segments, **COLUMNS, by="by")
    assert "has no rows" in refused(session, two_segments.where("who > 5"), **COLUMNS)
    alike_ids = session.createDataFrame(pa.table({"who": ["7", "7.0"], "what": ["a", "b"]}))
    assert "the same number written in two ways" in refused(session, alike_ids, **COLUMNS)
    assert refused(session, "nowhere/*.parquet", engine="spark", **COLUMNS).startswith("Spark finds no file at")
    single_row = session.createDataFrame(pa.table({"who": [1], "what": ["a"]}))
    assert "give a sample as a file" in error_text(
        lambda: discreet.simulate(single_row, **COLUMNS, top=1, epsilon=1, seed=1)
    )


@check("cluster")
def test_files(session: Any) -> None:
    import tempfile

    import pyarrow.csv
    import pyarrow.parquet

    rows = draw_baskets(9, 120, 12, 5)
    table = table_of(rows)
    with tempfile.TemporaryDirectory() as folder:
        pyarrow.parquet.write_table(table, f"{folder}/sales.parquet")
        pyarrow.csv.write_csv(table, f"{folder}/sales.csv")
        local = discreet.read(table, **COLUMNS)
        for name in ("sales.parquet", "*.parquet", "sales.csv"):
            spread = discreet.read(f"{folder}/{name}", engine="spark", **COLUMNS)
            assert spread.vocabulary == local.vocabulary
            assert len(spread) == len(local)
            assert np.array_equal(spread.item_counts, local.item_counts)
        odd = Path(folder, "odd.csv")
        odd.write_text('who,what\n1,"a ""b"" c"\n2,"two\nlines"\n3,"a\\"\n')
        assert list(discreet.read(str(odd), engine="spark", **COLUMNS).vocabulary) == list(
            discreet.read(odd, **COLUMNS).vocabulary
        )
        odd.write_text("who,what\n1,a\n2\n")
        assert "1 line has more or fewer fields than the heading" in error_text(
            lambda: discreet.read(str(odd), engine="spark", **COLUMNS)
        )


@check("cluster")
def test_what_changes_is_seen(session: Any) -> None:
    import tempfile

    import pyarrow.parquet
    from pyspark.sql import functions as sql

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/sales.parquet"
        for people in (30, 90):  # the same items, and another file of the same name
            pyarrow.parquet.write_table(table_of([["a", "b"]] * people), path)
            first_reading = discreet.read(path, engine="spark", **COLUMNS)
            assert len(first_reading) == people
            assert first_reading.item_counts.tolist() == [people, people]
            second_reading = discreet.read(path, engine="spark", **COLUMNS)
            del second_reading
            assert first_reading.item_counts.tolist() == [people, people]
    random_number = sql.udf(lambda: random.Random().getrandbits(40), "bigint").asNondeterministic()
    moving = session.range(20).select(sql.col("id").alias("who"), random_number().alias("what"))
    assert "The table changed while it was read" in error_text(lambda: discreet.read(moving, **COLUMNS))
    dropped = pa.table({"who": pa.array([1, None, 2]), "what": ["a", "secret", "b"], "by": ["n", "q", "s"]})
    local, spread = read_both(session, dropped, nulls="drop", by="by", labels="names")
    assert spread.vocabulary == local.vocabulary
    assert spread.segment_labels == local.segment_labels


@check("cluster")
def test_a_lost_executor_changes_nothing(session: Any) -> None:
    rows = draw_baskets(10, 2_000, 20, 9)
    local, spread = read_both(session, table_of(rows))
    questions = {"auto": {"top": 6}, "truncated": {"min_count": 200}, "bases": {"top": 6}}
    questions_by_name = {
        name: {"epsilon": 1, "items": "public", "mechanism": name, **further_fields}
        for name, further_fields in questions.items()
    }
    expected = {name: released(local, 5, **question) for name, question in questions_by_name.items()}
    killed: list[int] = []

    def kill() -> None:
        time.sleep(0.4)
        for process in psutil.process_iter(["cmdline"]):
            command = process.info["cmdline"] or []
            if "--executor-id" in command and session.sparkContext.applicationId in command and not killed:
                killed.append(process.pid)
                process.kill()

    thread = Thread(target=kill)
    thread.start()
    for name, expected_release in expected.items():
        assert released(spread, 5, **questions_by_name[name]) == expected_release, name
    thread.join()
    assert killed, "no executor was found"


@check()
def test_the_cluster_forgets_what_nothing_knows_of(session: Any) -> None:
    import gc

    _, spread = read_both(session, table_of([["a", "b"], ["a"]]))
    engine_of(spread).answer(Supports(Itemsets.of([np.array([0], np.int32)]), Truncation(1, 7)))
    frame = spread.blocks.frame
    assert frame.storageLevel.useDisk
    del spread
    gc.collect()
    read_both(session, table_of([["c"]]))
    assert not frame.storageLevel.useDisk


@check("cluster")
def test_the_spark_pages_name_steps_and_nothing_private(session: Any) -> None:
    store = session.sparkContext._jsc.sc().statusStore()
    earlier = store.jobsList(None).size()
    _, spread = read_both(session, table_of([["secret thing", "other"], ["secret thing"]] * 30))
    discreet.mine(spread, top=2)
    jobs = store.jobsList(None)
    names = [jobs.apply(place).description().getOrElse(None) for place in range(jobs.size() - earlier)]
    assert "discreet: listing the items" in names
    assert "discreet: counting items" in names
    assert all(name.startswith("discreet: ") and "secret" not in name for name in names), names
    assert session.sparkContext.getLocalProperty("spark.job.description") is None


@check("cluster")
def test_executors_that_lack_something_are_told_before_anything_is_paid(session: Any) -> None:
    from tempfile import TemporaryDirectory

    context, table = session.sparkContext, table_of(draw_baskets(11, 60, 9, 5))
    question: dict[str, Any] = COLUMNS | {"top": 3, "epsilon": 1, "items": "public"}
    python = context.pythonExec
    # What runs when Python starts: the executors' alone.
    lacks = "import sys\nsys.modules[{0!r}] = None\nimport builtins\n"
    other_version = "import discreet\ndiscreet.__version__ = '0.0.1'\n"
    for begins, sentence in (
        (lacks.format("discreet"), "The executors have no discreet: install discreet there"),
        (lacks.format("numba"), "The executors have no numba, or it is switched off"),
        (other_version, "The executors run other versions: discreet 0.0.1 (the driver has"),
    ):
        with TemporaryDirectory() as folder:
            Path(folder, "sitecustomize.py").write_text(begins)
            wrapper = Path(folder, "python")
            wrapper.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec "{python}" "$@"\n')
            wrapper.chmod(0o755)
            path = f"{folder}/budget.db"
            discreet.Ledger.create(path, epsilon=9, name="shop")
            context.pythonExec = str(wrapper)
            try:
                message = error_text(partial(discreet.release, session.createDataFrame(table), ledger=path, **question))
            finally:
                context.pythonExec = python
            assert sentence in message, message
            assert not discreet.Ledger.open(path).spends()


@check("cluster")
def test_what_was_paid_stays_paid_where_a_job_fails(session: Any) -> None:
    from tempfile import TemporaryDirectory

    from discreet.spark import _engine as engine

    _, spread = read_both(session, table_of(draw_baskets(12, 60, 9, 5)))
    ask_engine = engine.ask_engine
    with TemporaryDirectory() as folder:
        path = f"{folder}/budget.db"
        discreet.Ledger.create(path, epsilon=9, name="shop")
        question: dict[str, Any] = {"top": 3, "epsilon": 1, "items": "public", "ledger": path, "mechanism": "bases"}
        engine.ask_engine = _fails
        try:
            message = error_text(lambda: discreet.release(spread, **question))
        finally:
            engine.ask_engine = ask_engine
        assert "A task failed in an executor (builtins.KeyError)" in message
        assert "What was paid stays paid: spend 1" in message
        assert "secret" not in message
        assert len(discreet.Ledger.open(path).spends()) == 1


def _slowly(batches: Any) -> Any:
    for batch in batches:
        time.sleep(1)
        yield batch


@check()
def test_progress_is_told_while_a_job_runs(session: Any) -> None:
    """Five seconds: Spark Connect tells where it is every two."""
    shares: list[float] = []
    cluster = Cluster(session, progress=shares.append)
    frame = session.range(8, numPartitions=8).mapInArrow(cluster.guard(_slowly), "id long")
    assert len(cluster.collect(frame)) == 8
    share_count = len(shares)
    assert any(0 < share < 1 for share in shares), shares
    assert all(0 <= share <= 1 for share in shares), shares
    cluster.progress = None
    cluster.collect(frame)
    assert len(shares) == share_count  # nobody listens any more


def _hungry(batches: Any) -> Any:
    """Take more memory than there is: the limit is this process's own, and goes before another task has it."""
    import resource

    for batch in batches:
        before = resource.getrlimit(resource.RLIMIT_AS)
        memory = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (memory + (64 << 20), before[1]))
        try:
            np.ones(1 << 27)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
        yield batch


def _killed(batches: Any) -> Any:
    """Be killed, as by a system that has no memory left."""
    import signal

    for batch in batches:
        os.kill(os.getpid(), signal.SIGKILL)
        yield batch


@check("cluster")
def test_executors_without_memory(session: Any) -> None:
    cluster = Cluster(session)
    for work, sentence in (
        (_hungry, "An executor ran out of memory: give executors more"),
        (_killed, "A Python process of an executor died"),
    ):
        frame = session.range(2, numPartitions=1).mapInArrow(cluster.guard(work), "id long")

        def run(frame: Any = frame) -> None:
            with cluster.step("running out of memory"):
                cluster.collect(frame)

        message = error_text(run)
        assert sentence in message, message
    assert len(cluster.collect(session.range(3))) == 3


def _fails(*_: object, **__: object) -> Any:
    raise KeyError("secret")


# Thousands of jobs over a few hundred rows: compiling Java for each of them takes longer than interpreting it.
SMALL_JOBS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.speculation": "false",
}


def session_of(kind: str) -> Any:
    """Start a session: classic with two executors that speculate, or Spark Connect."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.speculation": "true",
        "spark.speculation.multiplier": "1.01",
        "spark.speculation.quantile": "0.1",
        "spark.speculation.minTaskRuntime": "10ms",
        "spark.log.level": "WARN",
    }
    if kind == "local":
        settings |= SMALL_JOBS
    builder = SparkSession.builder.appName("discreet's tests")
    builder = builder.remote(KINDS[kind]) if kind == "connect" else builder.master(KINDS[kind])
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def runs_on(kind: str, name: str, kinds: tuple[str, ...]) -> bool:
    """Return whether a check runs on a kind of session: those of a cluster run in this process too, where they can."""
    return kind in kinds or (kind == "local" and "cluster" in kinds and name not in NEED_EXECUTORS)


def main(kind: str, chosen_checks: list[str]) -> None:
    """Run the checks of a kind, with people spread over several partitions however few they are."""
    mining._MIN_PART_COUNT = 2
    reading._MIN_PARTITION_EVENTS = 40
    session = session_of(kind)
    wrong: dict[str, str] = {}
    checks = CHECKS | reading_checks.CHECKS | receipt_checks.CHECKS | hierarchy_checks.CHECKS | report_checks.CHECKS
    for name, (function, kinds) in checks.items():
        if not runs_on(kind, name, kinds) or (chosen_checks and name not in chosen_checks):
            continue
        began = time.monotonic()
        try:
            function(session)
        except Exception:
            wrong[name] = traceback.format_exc()
        print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    session.stop()
    print(json.dumps(wrong), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
