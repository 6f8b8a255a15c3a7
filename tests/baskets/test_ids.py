"""Distinct ids stay distinct people, through every source and type; what a type cannot keep apart is refused."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import InputError, MisuseError

COLUMNS: dict[str, Any] = {"person": "person", "item": "item"}
PERSON_COUNT = 1_000
# Consecutive whole numbers: around where floating point ends, of both kinds, where 64 bits end, and beyond.
IDS = {
    "2^24": range(2**24 - 10, 2**24 - 10 + PERSON_COUNT),
    "2^53": range(2**53 - 10, 2**53 - 10 + PERSON_COUNT),
    "2^63": range(2**63 - 10, 2**63 - 10 + PERSON_COUNT),
    "20 digits": range(10**19, 10**19 + PERSON_COUNT),
    "30 digits": range(10**29, 10**29 + PERSON_COUNT),
}
# Names that something careless would take for the same: numbers with zeros, cases, accents, fractions, times.
NAMES = [
    *(name for i in range(100) for name in (f"{i:03d}", str(i + 100), f"{i}.0", f"A{i}", f"a{i}")),
    *(name for i in range(100) for name in (f"e{i}", f"é{i}", f"e\u0301{i}", f"2026-01-01T00:00:00.{i:09d}", f"{i}e0")),
]


def _csv(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    (folder / "a.csv").write_text("person,item\n" + "".join(f"{i},tea\n" for i in ids))
    return folder / "a.csv", COLUMNS


def _json(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    (folder / "a.jsonl").write_text("".join(json.dumps({"person": i, "item": "tea"}) + "\n" for i in ids))
    return folder / "a.jsonl", COLUMNS


def _json_list(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    (folder / "a.json").write_text(json.dumps([{"item": ["tea"], "person": i} for i in ids]))
    return folder / "a.json", COLUMNS


def _parquet(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    pq.write_table(_arrow(ids, folder)[0], folder / "a.parquet")
    return folder / "a.parquet", COLUMNS


def _sqlite(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    with sqlite3.connect(folder / "a.db") as light:
        light.execute("CREATE TABLE sales (person, item)")
        if all(isinstance(i, int) for i in ids):  # as people type it: over 64 bits SQLite makes it a real
            light.execute("INSERT INTO sales VALUES " + ", ".join(f"({i}, 'tea')" for i in ids))
        else:
            light.executemany("INSERT INTO sales VALUES (?, 'tea')", [(i,) for i in ids])
    light.close()
    return folder / "a.db", COLUMNS | {"query": "SELECT * FROM sales"}


def _duckdb(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    kind = "VARCHAR" if isinstance(ids[0], str) else "HUGEINT"
    with duckdb.connect(folder / "a.duckdb") as duck:
        duck.execute(f"CREATE TABLE sales (person {kind}, item VARCHAR)")
        duck.execute("INSERT INTO sales SELECT unnest($1), 'tea'", [[str(i) for i in ids]])
    return folder / "a.duckdb", COLUMNS | {"query": "SELECT * FROM sales"}


def _over_json(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    return None, COLUMNS | {"query": f"SELECT * FROM '{_json(ids, folder)[0]}'"}


def _over_csv(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    return None, COLUMNS | {"query": f"SELECT * FROM read_csv('{_csv(ids, folder)[0]}', all_varchar=true)"}


def _arrow(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    is_large = isinstance(ids[0], int) and max(ids) >= 2**63
    people = pa.array(map(Decimal, ids), pa.decimal128(38, 0)) if is_large else pa.array(ids)
    return pa.table({"person": people, "item": ["tea"] * len(ids)}), COLUMNS


def _unsigned(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    people = pa.array(ids, pa.uint64() if isinstance(ids[0], int) else pa.large_string())
    return pa.table({"person": people, "item": ["tea"] * len(ids)}), COLUMNS


def _pandas(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    return pd.DataFrame({"person": ids, "item": "tea"}), COLUMNS


def _objects(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    return pd.DataFrame({"person": pd.Series(ids, dtype=object), "item": "tea"}), COLUMNS


def _categories(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    return pd.DataFrame({"person": pd.Categorical(ids), "item": pd.Categorical(["tea"] * len(ids))}), COLUMNS


def _nullable(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    kind = "UInt64" if isinstance(ids[0], int) else "string"
    return pd.DataFrame({"person": pd.array([*ids, None], kind), "item": "tea"}), COLUMNS | {"nulls": "drop"}


def _polars(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    return pl.DataFrame({"person": ids, "item": ["tea"] * len(ids)}), COLUMNS


def _lazy(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    return _polars(ids, folder)[0].lazy(), COLUMNS


def _floating(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    people = np.array(ids, np.float64) if isinstance(ids[0], int) else ids
    return pd.DataFrame({"person": people, "item": "tea"}), COLUMNS


def _single(ids: list[Any], folder: Path) -> tuple[Any, dict[str, Any]]:
    people = np.array(ids, np.float32) if isinstance(ids[0], int) else ids
    return pa.table({"person": people, "item": ["tea"] * len(ids)}), COLUMNS


SOURCES: dict[str, Callable[[list[Any], Path], tuple[Any, dict[str, Any]]]] = {
    function.__name__[1:]: function
    for function in (
        _csv, _json, _json_list, _parquet, _sqlite, _duckdb, _over_json, _over_csv, _arrow, _unsigned, _pandas,
        _objects, _categories, _nullable, _polars, _lazy, _floating, _single,
    )
}  # fmt: skip
# Whose ids the source itself cannot hold: it says so before discreet has a word in it.
UNMADE = {
    ("unsigned", "20 digits"),
    ("unsigned", "30 digits"),
    ("nullable", "20 digits"),
    ("nullable", "30 digits"),
}
# What cannot be told apart in the type of the source is refused; everything else must be read.
REFUSED = {
    ("sqlite", "2^63"),
    ("sqlite", "20 digits"),
    ("sqlite", "30 digits"),
    ("over_json", "30 digits"),
    ("pandas", "30 digits"),
    ("objects", "2^63"),
    ("objects", "20 digits"),
    ("objects", "30 digits"),
    ("categories", "30 digits"),
    ("polars", "30 digits"),
    ("lazy", "30 digits"),
    ("floating", "2^53"),
    ("floating", "2^63"),
    ("floating", "20 digits"),
    ("floating", "30 digits"),
    ("single", "2^24"),
    ("single", "2^53"),
    ("single", "2^63"),
    ("single", "20 digits"),
    ("single", "30 digits"),
}


@pytest.mark.parametrize("kind", [*IDS, "names"])
@pytest.mark.parametrize("source", SOURCES)
def test_distinct_ids_stay_distinct(tmp_path: Path, source: str, kind: str) -> None:
    ids = list(IDS.get(kind, NAMES))
    assert len(set(ids)) == PERSON_COUNT
    try:
        data, options = SOURCES[source](ids, tmp_path)
    except (OverflowError, ValueError, TypeError, pa.ArrowInvalid):
        assert (source, kind) in UNMADE
        return
    if (source, kind) in REFUSED:
        with pytest.raises((InputError, MisuseError)):
            discreet.read(data, **options)
    else:
        assert discreet.read(data, **options).people == PERSON_COUNT


def test_the_message_says_what_to_do() -> None:
    frame = pd.DataFrame({"person": [1.0, 2.0**53, 2.5], "item": "tea"})
    with pytest.raises(InputError) as caught:
        discreet.read(frame, **COLUMNS)
    assert str(caught.value) == (
        "The table: column 'person' (person=) is floating point, and not a whole number below "
        "9,007,199,254,740,992 in 2 rows: people might be taken for one another. Keep it as text, or as whole numbers, "
        "where it comes from."
    )


def test_missing_people_turn_ids_into_fractions_that_are_whole() -> None:
    """Pandas makes a column floating point because of a missing id: 1.0 is the person 1 all the same."""
    frame = pd.DataFrame({"person": [3, None, 1], "item": ["tea", "milk", "rice"]})
    assert frame["person"].dtype == float
    baskets = discreet.read(frame, **COLUMNS, nulls="drop")
    assert [sorted(basket) for basket in baskets] == [["rice"], ["tea"]]


def test_items_stay_distinct_too(tmp_path: Path) -> None:
    large_items = [2**53, 2**53 + 1]
    frame = pd.DataFrame({"person": [1, 1], "item": np.array(large_items, np.float64)})
    with pytest.raises(InputError, match=r"column 'item' has numbers that do not fit 64 bits \(in 2 rows\)"):
        discreet.read(frame, **COLUMNS)
    huge = [10**29, 10**29 + 1]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"person": 1, "item": i}) + "\n" for i in huge))
    with pytest.raises(InputError, match="do not fit 64 bits"):
        discreet.read(tmp_path / "a.jsonl", **COLUMNS)
    baskets = discreet.read(tmp_path / "a.jsonl", **COLUMNS, labels="names")
    assert sorted(baskets[0]) == [str(i) for i in huge]


def test_a_number_written_in_two_ways_is_not_two_people(tmp_path):
    """One file of an export has 7, and another, where an id was missing, 7.0."""
    for name, person in (("a1.csv", "7"), ("a2.csv", "7.0"), ("b1.csv", "7"), ("b2.csv", "8.0"), ("b3.csv", "x")):
        (tmp_path / name).write_text(f"who,what\n{person},tea\n-3,milk\n")
    columns = {"person": "who", "item": "what"}
    with pytest.raises(InputError) as refused:
        discreet.read(tmp_path / "a?.csv", **columns)
    assert str(refused.value) == (
        f"{tmp_path / 'a?.csv'}: column 'who' (person=) has the same number written in two ways, with a decimal point "
        "and without, as 7.0 and 7: one person would be taken for two. Write all of them alike."
    )
    assert len(discreet.read(tmp_path / "b?.csv", **columns)) == 4
    table = pa.table({"who": ["7", "7.", "", "x.0"], "what": ["tea"] * 4})
    with pytest.raises(InputError, match="written in two ways"):
        discreet.read(table, **columns)
    assert len(discreet.read(table.slice(2), **columns)) == 2
