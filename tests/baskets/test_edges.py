"""Data at the edge of what can be read: it must be read as it stands, without an item lost or changed."""

from __future__ import annotations

import gzip
import json
import lzma
import signal
import sqlite3
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from running import plain

COLUMN_OPTIONS: dict[str, Any] = {"person": "person", "item": "item"}


def sets(baskets: discreet.Baskets) -> list[list[Any]]:
    return [sorted(basket) for basket in baskets]


def test_a_folder_does_not_take_the_place_of_a_column(tmp_path: Path) -> None:
    folder = tmp_path / "person=5"
    folder.mkdir()
    pq.write_table(pa.table({"person": [1, 2], "item": ["a", "b"]}), folder / "a.parquet")
    (folder / "a.csv").write_text("person,item\n1,a\n2,b\n")
    (folder / "a.jsonl").write_text('{"person": 1, "item": "a"}\n{"person": 2, "item": "b"}\n')
    for name in ("a.parquet", "a.csv", "a.jsonl"):
        assert sets(discreet.read(folder / name, **COLUMN_OPTIONS)) == [["a"], ["b"]], name


@pytest.mark.parametrize(
    ("items", "labels", "expected_baskets"),
    [
        (pa.array([Decimal("12345678901234567"), None]), None, [12345678901234567]),
        (pa.array([1.0, float("nan")]), None, [1]),
        (pa.array([1.0, float("nan")]), "names", ["1"]),
        (pa.array([2**64 - 1, 1], pa.uint64()), "names", ["1", "18446744073709551615"]),
        (pa.array([2.0, None], pa.float16()), None, [2]),
        (pa.array(["02", "1"]), "numbers", [1, 2]),
        (pa.array([5, 7]).dictionary_encode(), None, [5, 7]),
        (pa.array([None, None]), None, []),
    ],
)
def test_items_in_lists_are_those_in_rows(items: pa.Array, labels: Any, expected_baskets: list[Any]) -> None:
    rows = pa.table({"person": [1, 1], "item": items})
    lists = pa.table({"items": pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), items)})
    for baskets in (discreet.read(rows, **COLUMN_OPTIONS, labels=labels), discreet.read(lists, labels=labels)):
        assert list(baskets.vocabulary) == expected_baskets
        assert sets(baskets) == [expected_baskets]


def test_nobody_and_nothing() -> None:
    for source in ([], pl.Series([], dtype=pl.List(pl.String)), pa.array([], pa.list_(pa.string()))):
        assert discreet.read(source).people == 0
    for empty in (pa.table({"items": [[], []]}), pl.Series([[], []], dtype=pl.List(pl.Null)), [[], []]):
        baskets = discreet.read(empty)
        assert (baskets.people, baskets.items, baskets.vocabulary.numeric) == (2, 0, True)
    table_of_nobody = pa.table({"person": pa.array([None], pa.int64()), "item": ["a"]})
    assert discreet.read(table_of_nobody, **COLUMN_OPTIONS, nulls="drop").people == 0


def test_a_single_column_of_lists() -> None:
    rows = [["a", "b", "a"], None, [], ["c", None]]
    expected = [["a", "b"], [], [], ["c"]]
    list_array = pa.array(rows, pa.list_(pa.string()))
    for column in (
        list_array,
        pa.chunked_array([list_array]),
        pl.Series(rows),
        pd.Series(rows),
        pa.array([{"items": rows[0]}]),
    ):
        baskets = discreet.read(column, ordered=True)
        assert sets(baskets) == expected[: len(column)]
        assert baskets.sequences is not None
        assert baskets.vocabulary.take(baskets.sequences.codes).to_pylist()[:3] == ["a", "b", "a"]


def test_who_had_an_event_without_time_stays() -> None:
    data = pa.table({"person": [1, 1, 2], "item": ["a", "b", "c"], "time": [5, None, None]})
    baskets = discreet.read(data, **COLUMN_OPTIONS, time="time", nulls="drop")
    assert sets(baskets) == [["a"], []]
    assert baskets.sequences is not None
    assert baskets.sequences.offsets.tolist() == [0, 1, 1]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize(
    ("text", "expected_baskets"),
    [
        ("person,item\r1,a\r2,b\r", [["a"], ["b"]]),
        ('"person","some\nthing",item\n1,2,a\n', [["a"]]),
        (",person,item\n0,1,a\n1,2,b\n", [["a"], ["b"]]),
        ("z,person,Z,z,item\n0,1,2,3,a\n", [["a"]]),
        ('person,item\n1,\ta \n1," b"\n1, c\n', [["a", "b", "c"]]),
        ("person,item\n 1\t,\u00a0a\n1,\u00a0a\n", [["\u00a0a"]]),
        ("person,item\n1, 5\t\n1,  \n2,6\n", [[5], [6]]),
    ],
)
def test_csv_table(tmp_path: Path, suffix: str, text: str, expected_baskets: list[Any]) -> None:
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix else text.encode())
    assert sets(discreet.read(path, **COLUMN_OPTIONS)) == expected_baskets


def test_what_pandas_writes(tmp_path: Path) -> None:
    frame = pd.DataFrame({"person": [1, 1, 2], "item": ["a", "b", "a"]})
    frame.to_csv(tmp_path / "a.csv")
    assert sets(discreet.read(tmp_path / "a.csv", **COLUMN_OPTIONS)) == [["a", "b"], ["a"]]


def test_other_columns_of_a_frame_do_not_matter() -> None:
    frame = pd.DataFrame([[1, "a", 1, "x", 7]], columns=["person", "item", "z", "z", "Item"])
    frame["mixed"] = pd.Series([{1}], dtype=object)
    assert sets(discreet.read(frame, **COLUMN_OPTIONS)) == [["a"]]
    assert sets(discreet.read(frame.set_index("person"), **COLUMN_OPTIONS)) == [["a"]]
    case = pa.table({"person": [1], "item": ["a"], "Item": ["b"]})
    assert sets(discreet.read(case, person="person", item="Item")) == [["b"]]
    lists = pa.table({"item": [["a", "b"], ["a"]]})
    assert sets(discreet.read(lists, person="item", item="item")) == [["a"], ["a", "b"]]


@pytest.mark.parametrize(
    ("name", "content", "expected_baskets"),
    [
        ("a.csv", b'""\ntea,milk\n', [[], ["milk", "tea"]]),
        ("a.csv", b'"",\n,,\n1,2\n', [[], [], [1, 2]]),
        ("a.dat", b",\n1 2\n", [[","], ["1", "2"]]),
        ("a.dat.xz", lzma.compress(b"1 2\n") + b"\0" * 8 + lzma.compress(b"3\n"), [[1, 2], [3]]),
    ],
)
def test_a_basket_a_line(tmp_path: Path, name: str, content: bytes, expected_baskets: list[Any]) -> None:
    (tmp_path / name).write_bytes(content)
    assert sets(discreet.read(tmp_path / name)) == expected_baskets


def test_large_xz_in_small_pieces(tmp_path: Path) -> None:
    text = b"".join(b"%d %d\n" % (i % 977, i % 1009) for i in range(200_000))
    parts = [text[start : start + 300_000] for start in range(0, len(text), 300_000)]
    (tmp_path / "a.dat").write_bytes(text)
    (tmp_path / "a.dat.xz").write_bytes(b"".join(map(lzma.compress, parts)))
    assert discreet.read(tmp_path / "a.dat.xz") == discreet.read(tmp_path / "a.dat")


def test_json_people(tmp_path: Path) -> None:
    records = [{"person": person, "item": "a"} for person in (1, 1.0, 2.0, None)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert discreet.read(tmp_path / "a.jsonl", **COLUMN_OPTIONS, nulls="drop").people == 2
    mixed = [{"person": 1, "item": 1}, {"person": 1, "item": "a"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in mixed))
    assert sets(discreet.read(tmp_path / "a.jsonl", **COLUMN_OPTIONS, labels="names")) == [["1", "a"]]


def test_sqlite_types_show_late(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as light:
        light.execute("CREATE TABLE sales (person, item TEXT, time)")
        light.executemany("INSERT INTO sales VALUES (?, NULL, ?)", [(i, i) for i in range(70_000)])
        light.execute("INSERT INTO sales VALUES (5, 'tea', 2.5)")
    light.close()
    baskets = discreet.read(tmp_path / "a.db", query="SELECT * FROM sales -- all\n;", **COLUMN_OPTIONS, time="time")
    assert (baskets.people, sets(baskets)[5], len(baskets.codes)) == (70_000, ["tea"], 1)


def test_order_and_pairs_cannot_be_changed() -> None:
    ordered = discreet.read([["b", "a"]], ordered=True)
    pairs = discreet.read(pa.table({"person": [1], "a": ["x"], "b": ["y"]}), person="person", pair=("a", "b"))
    assert ordered.sequences is not None
    assert pairs.pairs is not None
    arrays = [ordered.sequences.offsets, ordered.sequences.codes]
    for array in [*arrays, pairs.pairs.offsets, pairs.pairs.first, pairs.pairs.second]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert discreet.read(pairs, max_items=np.int64(1), seed=3).sizes.tolist() == [1]


# The program waits within DuckDB, on a query that takes hours, until it is interrupted.
PROGRAM = """
import discreet, pyarrow, sys
print("ready", flush=True)
numbers = "SELECT max(hash(i)) AS person, 1 AS item FROM range(1000000000000) t(i)"
def forever():
    while True:
        yield pyarrow.record_batch({"person": [1] * 1000, "item": [2] * 1000})
schema = pyarrow.schema([("person", pyarrow.int64()), ("item", pyarrow.int64())])
stream = pyarrow.RecordBatchReader.from_batches(schema, forever())
source = {"source": stream} if sys.argv[1] == "stream" else {"query": numbers}
try:
    discreet.read(**source, person="person", item="item")
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("source", ["query", "stream"])
def test_an_interrupt_is_an_interrupt(tmp_path: Path, source: str) -> None:
    environment = plain(TMPDIR=str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 20
        while not list(tmp_path.glob("discreet-*/workspace.duckdb")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        _, complaint = running.communicate(timeout=60)
    assert (running.returncode, complaint.decode()) == (130, "")
    assert not list(tmp_path.glob("discreet-*"))
