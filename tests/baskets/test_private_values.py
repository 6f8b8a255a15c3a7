"""What a reader says of a bad cell names the file, the row and what was expected, and never what stands in the cell."""

from __future__ import annotations

import json
import logging
import sqlite3
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

import discreet
from discreet import DiscreetError
from discreet.baskets._redaction import build_read_error
from discreet.cli import app

SECRET = "HIVtest"
TABLE: dict[str, Any] = {"person": "who", "item": "what"}
NUMBERS: dict[str, Any] = {**TABLE, "labels": "numbers"}
INVALID_COLUMNS = {"who": ["1", "2"], "what": ["3", SECRET]}
CLOCK = {"who": ["1", "2"], "what": ["3", "4"], "when": ["1", SECRET]}

# The content of each file that has a bad cell, and the options that it is read with.
TEXTS: dict[str, tuple[str, dict[str, Any]]] = {
    "fimi.dat": (f"1 2\n3 {SECRET} 4\n", {}),
    "far.dat": ("1 2\n" * 60_000 + f"3 {SECRET} 4\n", {}),
    "asked.dat": (f"{SECRET} 4\n", {"labels": "numbers"}),
    "baskets.csv": (f"1,2\n3,{SECRET}\n", {"format": "baskets"}),
    "junk.dat": (f"a b\n{SECRET}\x00\n", {}),
    "table.csv": (f"who,what\n1,2\n7,{SECRET}\n", NUMBERS),
    "clock.csv": (f"who,what,when\n1,2,2026-01-01\n1,3,{SECRET}\n", {**TABLE, "time": "when"}),
    "wide.csv": (f"who,what\n1,2\n7,3,{SECRET}\n", TABLE),
    "quote.csv": (f'who,what\n1,2\n7,"{SECRET}\n', TABLE),
    "pairs.csv": (
        f"who,old,new\n1,2,3\n1,2,{SECRET}\n",
        {"person": "who", "pair": ("old", "new"), "labels": "numbers"},
    ),
    "lists.jsonl": (f'["1"]\n["{SECRET}"]\n', {"labels": "numbers"}),
    "mixed.jsonl": (f'[1]\n["{SECRET}"]\n', {}),
    "half.jsonl": (f'["a"]\n["{SECRET}\\ud800"]\n', {}),
    "cut.jsonl": (f'["a"]\n["{SECRET}\n', {}),
    "records.jsonl": (f'{{"who": 1, "what": "2"}}\n{{"who": 2, "what": "{SECRET}"}}\n', NUMBERS),
    "person.jsonl": (f'{{"who": 1, "what": 2}}\n{{"who": "{SECRET}", "what": 2}}\n', TABLE),
    "object.jsonl": (f'{{"who": 1, "what": 2}}\n{{"who": 2, "what": {{"{SECRET}": 2}}}}\n', TABLE),
    "damaged.jsonl": (f'{{"who": 1, "what": 2}}\n{{"who": 2, "what": {SECRET}}}\n', TABLE),
    "array.json": (json.dumps([{"who": 1, "what": "2"}, {"who": 2, "what": SECRET}]), NUMBERS),
}


def excel(path: Path) -> Path:
    pd.DataFrame({"who": [1, 2], "what": [3, SECRET]}).to_excel(path, index=False)
    return path


def sqlite(path: Path) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (who INTEGER, what INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, 2)] * 3_000 + [(2, SECRET)])
    connection.close()
    return path


def duck(path: Path) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS who, ? AS what", [SECRET])
    return path


def write_table(write: Callable[[pa.Table, Path], object], path: Path, columns: dict[str, list[str]]) -> Path:
    write(pa.table(columns), path)
    return path


# Each source is made in a folder, and read with options.
SOURCES: dict[str, tuple[Callable[[Path], Any], dict[str, Any]]] = {
    "parquet": (lambda folder: write_table(parquet.write_table, folder / "a.parquet", INVALID_COLUMNS), NUMBERS),
    "parquet, times": (
        lambda folder: write_table(parquet.write_table, folder / "b.parquet", CLOCK),
        {**TABLE, "time": "when"},
    ),
    "feather": (lambda folder: write_table(feather.write_feather, folder / "a.arrow", INVALID_COLUMNS), NUMBERS),
    "arrow": (lambda folder: pa.table(INVALID_COLUMNS), NUMBERS),
    "pandas": (lambda folder: pd.DataFrame(INVALID_COLUMNS), NUMBERS),
    "pandas, mixed": (lambda folder: pd.DataFrame({"who": [1, 2], "what": [3, SECRET]}), TABLE),
    "pandas, people": (lambda folder: pd.DataFrame({"who": [1, SECRET], "what": [3, 4]}), TABLE),
    "polars": (lambda folder: pl.DataFrame(INVALID_COLUMNS), NUMBERS),
    "polars, lists": (lambda folder: pl.DataFrame({"what": [["3", SECRET]]}), {"item": "what", "labels": "numbers"}),
    "excel": (lambda folder: excel(folder / "a.xlsx"), TABLE),
    "sqlite": (lambda folder: sqlite(folder / "a.db"), {**TABLE, "query": "SELECT who, what FROM t"}),
    "duckdb": (
        lambda folder: duck(folder / "a.duckdb"),
        {**TABLE, "query": "SELECT who, CAST(what AS INTEGER) AS what FROM t"},
    ),
    "duckdb, errors": (
        lambda folder: duck(folder / "a.duckdb"),
        {**TABLE, "query": "SELECT who, error(what) AS what FROM t"},
    ),
    "lists": (lambda folder: [["1"], [SECRET]], {"labels": "numbers"}),
    "lists, mixed": (lambda folder: [[1], [SECRET]], {}),
    "lists, half a character": (lambda folder: [["a"], [f"\ud800{SECRET}"]], {}),
    "lists, a text": (lambda folder: [["a"], SECRET], {}),
    "lists, a mapping": (lambda folder: [["a"], {SECRET: 1}], {}),
    "lists, nested": (lambda folder: [["a"], [[SECRET]]], {}),
    "no name": (lambda folder: [["1"], [SECRET]], {"names": {"1": SECRET}}),
    **{
        name: (lambda folder, name=name: folder / name, options)  # type: ignore[misc]
        for name, (_, options) in TEXTS.items()
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, (text, _) in TEXTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", SOURCES)
def test_no_reader_tells_what_stands_in_a_cell(name, folder, caplog):
    make, options = SOURCES[name]
    with caplog.at_level(logging.DEBUG), pytest.raises(DiscreetError) as caught:
        discreet.read(make(folder), **options)
    # What is shown of an error that nobody catches: its message and those of the errors behind it, not the code.
    error_texts = "".join("".join(part.format_exception_only()) for part in _chain(caught.value))
    assert SECRET not in error_texts + repr(caught.value) + caplog.text


def _chain(error: BaseException) -> list[traceback.TracebackException]:
    part: traceback.TracebackException | None = traceback.TracebackException.from_exception(error)
    chain = []
    while part is not None:
        chain.append(part)
        part = part.__cause__ or (None if part.__suppress_context__ else part.__context__)
    return chain


@pytest.mark.parametrize("name", TEXTS)
def test_nor_does_the_command_line(name, folder):
    options = TEXTS[name][1]
    words = ["mine", str(folder / name), "--top", "3"]
    for option, value in options.items():
        if option == "pair":
            return  # of `discreet relations`
        words += [f"--{option}", str(value)]
    completed = CliRunner().invoke(app, words)
    assert completed.exit_code != 0
    assert SECRET not in completed.output + completed.stderr + repr(completed.exception)


@pytest.mark.parametrize("value", ["98765432109876543210", "-7771", "007771"])
def test_numbers_are_not_shown_either(value, tmp_path):
    (tmp_path / "a.dat").write_text(f"1 2\n3 {value}\n")
    (tmp_path / "a.jsonl").write_text("[1]\n[98765432109876543210]\n")
    for source in (tmp_path / "a.dat", tmp_path / "a.jsonl", [[1], [98765432109876543210]]):
        with pytest.raises(discreet.InputError) as caught:
            discreet.read(source)
        assert value.lstrip("-0") not in str(caught.value)


@pytest.mark.parametrize(
    "message",
    [
        f'ERROR: invalid input syntax for type integer: "{SECRET}". Query: SELECT 1',
        f'ERROR: date/time field value out of range: "{SECRET}"',
        f"Conversion Error: Could not convert string '{SECRET}' to INT32 when casting from source column what",
    ],
)
def test_what_databases_say_of_values_is_not_passed_on(message):
    text = build_read_error("sales", message).message
    assert SECRET not in text.python + text.typed
    assert text.python.startswith("sales: a value cannot be read as the query or its column asks.")
