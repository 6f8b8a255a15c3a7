"""What people get wrong, and the whole message they see."""

from __future__ import annotations

import gzip
import logging
import lzma
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import zstandard
from scipy import sparse

import discreet
from discreet import EmptyDataError, InputError, MisuseError

NAMES = 'labels="names" reads items as names.'
LARGEST = "9,223,372,036,854,775,807"
JUNK = (
    "is not text; a file of baskets is UTF-8 text (a compressed one ends in .gz, .bz2, .xz, .zst or .zip), "
    "or says its encoding=, as windows-1252."
)
QUOTE = (
    'a quote is not closed before the end of its field; write a quote within a name twice (""), and a name on one line.'
)
ENCODING = 'say what it is, as in encoding="windows-1252".'
LINE = 'write one basket per line, as ["tea", "milk"].'


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def message(error: type[Exception], source: Any = None, **options: Any) -> str:
    with pytest.raises(error) as caught:
        discreet.read(source, **options)
    assert type(caught.value) in (error, EmptyDataError if error is InputError else error)
    return str(caught.value)


LINES: dict[tuple[str, bytes], str] = {
    (
        "a.dat",
        b"1 2\n4 five 6\n",
    ): f"line 2: an item is not a whole number, and the first line with items has only numbers; {NAMES}",
    (
        "a.dat",
        b"\n1 2\n4 -5\n",
    ): f"line 3: an item is not a whole number, and the first line with items has only numbers; {NAMES}",
    (
        "a.dat",
        b"1 2\n4 5x 6",
    ): f"line 2: an item is not a whole number, and the first line with items has only numbers; {NAMES}",
    ("a.dat", b"1 2\n3 05\n"): (
        "line 2: an item has a leading zero, which a number would lose, "
        f"and the first line with items has only numbers; {NAMES}"
    ),
    ("a.dat", b"1 2\n9223372036854775808\n"): (
        f"line 2: an item is larger than {LARGEST}, the largest number an item can be, "
        f"and the first line with items has only numbers; {NAMES}"
    ),
    ("a.dat", b"1 2\n3 \x00\n"): f"line 2: byte 0x00 {JUNK}",
    ("a.dat", b"\x89PNG\r\n\x1a\n"): f"line 2: byte 0x1a {JUNK}",
    ("a.dat", b"tea\nmilk \xff\xfe\n"): f"line 2: byte 0xff {JUNK}",
    ("a.dat", b"1 2\n\xff\n"): f"line 2: byte 0xff {JUNK}",
    ("a.dat", b"1 2\r3 4\r"): "line 1: a carriage return stands alone; each line must end in a line feed.",
    (
        "a.csv",
        b"1,2\n\n3,x\n",
    ): f"line 3: an item is not a whole number, and the first line with items has only numbers; {NAMES}",
    ("a.csv", b"1,2,5\n3,99999999999999999999\n"): (
        f"line 2: an item is larger than {LARGEST}, the largest number an item can be, "
        f"and the first line with items has only numbers; {NAMES}"
    ),
    ("a.csv", b'a\nc,"d\ne"\n'): f"line 2: {QUOTE}",
    ("a.csv", b'a,"b"c\n'): f"line 1: {QUOTE}",
    ("a.csv", b'a,"b\x00"\n'): f"line 1: byte 0x00 {JUNK}",
    ("a.csv", b"a\xff,b\n"): f"line 1: byte 0xff {JUNK}",
    ("a.jsonl", b"[1]\n["): f"line 2 is not JSON (Expecting value at column 2); {LINE}",
    ("a.jsonl", b'["\xff"]\n'): f"line 1 is not UTF-8 text; {LINE}",
    ("a.jsonl", b'[1]\n\n["x"]\n'): (
        'line 3: the items are a mixture of numbers and names; labels="names" reads all as names.'
    ),
    ("a.jsonl", b"[1]\n[2.5]\n"): "line 2: items are whole numbers or names (text), not float.",
    ("a.jsonl", b"[99999999999999999999]\n"): f"line 1: an item does not fit 64 bits; {NAMES}",
    ("a.jsonl", b'{"a": 1, "b": 2}\n'): (
        "line 1 has no list \"items\"; its fields are 'a', 'b'. For one record per item, give person= and item=."
    ),
    ("a.jsonl", b"5\n"): (
        'line 1 is neither a list of items, as ["tea", "milk"], nor an object with such a list, '
        'as {"items": ["tea", "milk"]}.'
    ),
    ("a.jsonl", b'{"pairs": [[1]]}\n'): 'line 1: "pairs" is a list of pairs, as in [["tea", "milk"]].',
}


@pytest.mark.parametrize(("name", "content"), LINES)
def test_bad_line(name: str, content: bytes) -> None:
    Path(name).write_bytes(content)
    form = {"format": "baskets"} if name.endswith(".csv") else {}
    assert message(InputError, name, **form) == f"{name}, {LINES[name, content]}"


def test_bad_line_far_down() -> None:
    Path("far.dat").write_bytes(b"1 2\n" * 100_000 + b"3 x\n" + b"4\n" * 100_000)
    start = "far.dat, line 100001: an item is not a whole number, and the first line with items has only numbers; "
    assert message(InputError, "far.dat") == start + NAMES


def test_numbers_asked_for() -> None:
    Path("a.dat").write_text("tea 2\n")
    assert message(InputError, "a.dat", labels="numbers") == f"a.dat, line 1: an item is not a whole number; {NAMES}"
    number_message = (
        'The baskets given: an item is not a whole number that fits 64 bits; labels="names" reads items as names.'
    )
    assert message(InputError, [{"tea"}], labels="numbers") == number_message
    Path("a.dat").write_text("007 7\n")
    assert list(discreet.read("a.dat", labels="numbers").vocabulary) == [7]
    assert list(discreet.read("a.dat").vocabulary) == ["007", "7"]


COMPRESS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gz": ("gzip", gzip.compress),
    "xz": ("xz", lzma.compress),
    "zst": ("zstd", zstandard.compress),
}


@pytest.mark.parametrize("suffix", COMPRESS)
def test_damaged_archive(suffix: str) -> None:
    name, compress = COMPRESS[suffix]
    archive_bytes = compress(b"".join(b"%d %d\n" % (i, i * 7 % 1000) for i in range(20_000)))
    for content in (archive_bytes[: len(archive_bytes) // 2], archive_bytes[:-3], b"not compressed at all"):
        for path, options in ((f"a.dat.{suffix}", {}), (f"a.csv.{suffix}", {"person": "a", "item": "b"})):
            Path(path).write_bytes(content)
            problem = f"is damaged or cut short: its {name} data cannot be unpacked; get the file again."
            assert message(InputError, path, **options) == f"{path} {problem}"
    Path(f"a.dat.{suffix}").write_bytes(compress(b""))
    empty = f"a.dat.{suffix} is empty; a file of one empty basket has one blank line."
    assert message(InputError, f"a.dat.{suffix}") == empty


def test_no_such_file() -> None:
    Path("folder").mkdir()
    Path("a.xyz").write_text("1 2\n")
    Path("a.dat").write_text("")
    Path("a.jsonl").write_text("\n \n")
    assert message(InputError, "nowhere.dat") == "There is no file nowhere.dat."
    assert message(InputError, "folder") == (
        "folder is a folder without any file in it; give one with data, or a file."
    )
    assert message(MisuseError, "a.xyz") == (
        "The suffix of a.xyz does not tell its format; give format= as one of fimi, csv, tsv, baskets, json, parquet, "
        "feather, excel."
    )
    assert message(InputError, "a.dat") == "a.dat is empty; a file of one empty basket has one blank line."
    assert message(InputError, "a.jsonl") == (
        "a.jsonl has no baskets, only blank lines; an empty basket is written as []."
    )
    assert discreet.read("a.xyz", format="fimi").people == 1


COLUMN_OPTIONS = {"person": "person", "item": "item"}
TABLES: dict[tuple[str, bytes], str] = {
    ("a.csv", b"who,item\n1,a\n"): "a.csv has no column 'person' (person=); its columns are who, item.",
    ("a.csv", b"person,what\n1,a\n"): "a.csv has no column 'item' (item=); its columns are person, what.",
    ("a.csv", b"person,item\n1,a\n,b\n2,\n,\n"): (
        "a.csv: 2 of 4 rows have no person (column 'person'); nulls=\"drop\" leaves them out."
    ),
    ("a.csv", b"person,item\n"): "a.csv has no rows.",
    ("a.csv", b"person,item\n1,a\n2,b,c\n"): "a.csv, line 3: Expected Number of Columns: 2 Found: 3.",
    ("a.csv", b"person,item\n1,a\x00b\n"): (
        "a.csv is not text: some items have control characters; a CSV file is UTF-8 text."
    ),
    ("a.csv", b"\xff\xfe\n1,a\n"): ("a.csv is not utf-16 text; give another encoding=, such as windows-1252 or utf-8."),
    ("a.csv", b"person,\xe9t\xe9\n1,a\n"): f"a.csv, line 1 is not UTF-8 text; {ENCODING}",
    ("a.csv", b"person,item\n1,a\n2,\xe9t\xe9\n"): f"a.csv, line 3: it is not UTF-8 text; {ENCODING}",
    ("a.csv", b"person,person\n1,a\n"): ("a.csv has 2 columns 'person' (person=); rename all but one."),
    ("a.jsonl", b'{"person":1,"item":"a"}\n{"person":2,"ite\n{"person":1}\n'): (
        "a.jsonl, line 2 is not a JSON object; write one record per line."
    ),
    ("a.jsonl", b'{"person":1,"item":"a"}\n{"person":2,"item":true}\n'): (
        "a.jsonl: 'item' is true or false in some records; items are whole numbers or names (text), "
        "or lists of these in all records."
    ),
    ("a.jsonl", b"[1]\n"): (
        "a.jsonl has lines that are not objects; with person= and item= each line is an object with these fields."
    ),
    ("a.jsonl", b'{"person":1,"item":18446744073709551615}\n'): (
        f"a.jsonl: column 'item' has numbers that do not fit 64 bits (in 1 row); {NAMES}"
    ),
    ("a.parquet", b"junk" * 100): "a.parquet: Invalid Input Error: No magic bytes found.",
}


@pytest.mark.parametrize(("name", "content"), TABLES)
def test_bad_table(name: str, content: bytes) -> None:
    Path(name).write_bytes(content)
    assert message(InputError, name, **COLUMN_OPTIONS) == TABLES[name, content]


def test_nulls_dropped(caplog: pytest.LogCaptureFixture) -> None:
    Path("a.csv").write_text("person,item\n1,a\n,b\n2,\n,\n")
    with caplog.at_level(logging.INFO, "discreet"):
        baskets = discreet.read("a.csv", **COLUMN_OPTIONS, nulls="drop")
    assert [sorted(basket) for basket in baskets] == [["a"], []]
    assert caplog.messages == ["a.csv: left out 2 rows without a person or a time."]


def test_repeats_are_merged_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "discreet"):
        baskets = discreet.read([["tea", "tea", "milk"], ["tea", "tea", "tea"]])
    assert baskets.merged == 3
    assert caplog.messages == ["The baskets given: merged 3 repeats of an item in a basket."]


def test_times() -> None:
    Path("a.csv").write_text("person,item,time\n1,a,1\n1,b,noon\n")
    assert message(InputError, "a.csv", **COLUMN_OPTIONS, time="time") == (
        "a.csv: column 'time' (time=) has values that are no time (in 1 row); "
        "write numbers, or dates and times as 2026-03-31 17:05:00."
    )
    Path("a.csv").write_text("person,item,time\n1,a,1\n1,b,\n2,,\n")
    assert message(InputError, "a.csv", **COLUMN_OPTIONS, time="time") == (
        "a.csv: 1 of 3 rows has no time (column 'time'); nulls=\"drop\" leaves it out."
    )
    assert [len(basket) for basket in discreet.read("a.csv", **COLUMN_OPTIONS, time="time", nulls="drop")] == [1, 0]


def frame() -> pa.Table:
    return pa.table(
        {
            "person": [1, None, 2],
            "item": ["a", "b", "c"],
            "price": [1.5, 2.0, 3.0],
            "day": pa.array([1, 2, 3], pa.date32()),
            "large": pa.array([1, 2, 2**64 - 1], pa.uint64()),
        }
    )


COLUMNS = "its columns are person, item, price, day, large."
FRAMES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({}, MisuseError, f"The table needs person= and item=, the columns of the people and of what they hold; {COLUMNS}"),
    (
        COLUMN_OPTIONS,
        InputError,
        "The table: 1 of 3 rows has no person (column 'person'); nulls=\"drop\" leaves it out.",
    ),
    ({"person": "who", "item": "item"}, InputError, f"The table has no column 'who' (person=); {COLUMNS}"),
    ({"person": "day", "pair": ("item", "b")}, InputError, f"The table has no column 'b' (pair=); {COLUMNS}"),
    (
        {"person": "day", "item": "price"},
        InputError,
        "The table: column 'price' has numbers that are not whole (in 1 row); "
        "items are whole numbers or names: cast the column to text.",
    ),
    (
        {"person": "person", "item": "day"},
        InputError,
        "The table: column 'day' is of type DATE; items are whole numbers or names: cast the column to text.",
    ),
    (
        {"person": "day", "item": "large"},
        InputError,
        f"The table: column 'large' has numbers that do not fit 64 bits (in 1 row); {NAMES}",
    ),
    ({"person": "day"}, MisuseError, "person= needs item=, the column of the items."),
    ({"time": "day"}, MisuseError, "time= needs person=, the column that says whose rows they are."),
    (
        {"person": "day", "time": "day", "pair": ("a", "b")},
        MisuseError,
        "pair= has no time=: give the person and the pair, and item= for what is held beside it.",
    ),
    (
        {"person": "day", "pair": "ab"},
        MisuseError,
        'pair is \'ab\'; it is two different columns, as in pair=("before", "after").',
    ),
    (
        {"person": "day", "pair": ("a", "a")},
        MisuseError,
        "pair is ('a', 'a'); it is two different columns, as in pair=(\"before\", \"after\").",
    ),
    (
        {"person": "day", "item": "item", "ordered": True},
        MisuseError,
        "ordered=True is for one basket per line; rows of a table are put in order by time=.",
    ),
    ({"person": "day", "item": "item", "nulls": "keep"}, MisuseError, 'nulls is \'keep\'; it is "error" or "drop".'),
    (
        {"person": "day", "item": "item", "labels": "letters"},
        MisuseError,
        'labels is \'letters\'; it is "numbers" or "names".',
    ),
    (
        {"person": "day", "item": "item", "memory": "much"},
        MisuseError,
        'memory is \'much\'; write it as "2GB" or "500MB".',
    ),
    (
        {"person": "day", "item": "item", "max_items": 0},
        MisuseError,
        "max_items is 0; it must be a whole number, 1 or more.",
    ),
    (
        {"person": "day", "item": "item", "labels": ["a"]},
        MisuseError,
        'labels= lists names for a sparse matrix or a one-hot table; here it is "numbers" or "names".',
    ),
    (
        {"format": "xlsx"},
        MisuseError,
        "format is 'xlsx'; it is one of fimi, csv, tsv, baskets, json, parquet, feather, excel, onehot, sqlite, "
        "duckdb.",
    ),
    ({"format": "csv"}, MisuseError, "format='csv' is for files; a data frame is read as it is, or as onehot."),
    (
        {"query": "SELECT 1"},
        MisuseError,
        'The data are in memory, so query="SELECT 1" means nothing here; leave it out.',
    ),
    (
        {"format": "onehot"},
        InputError,
        "The table: column 'item' is of type string; a one-hot column is true/false or 0/1.",
    ),
]


@pytest.mark.parametrize(("options", "error", "text"), FRAMES)
def test_frame(options: dict[str, Any], error: type[Exception], text: str) -> None:
    assert message(error, frame(), **options) == text


def test_large_numbers_as_names() -> None:
    baskets = discreet.read(frame(), person="day", item="large", labels="names")
    assert list(baskets.vocabulary) == ["1", "18446744073709551615", "2"]


MIXTURE = 'the items are a mixture of numbers and names; labels="names" reads all as names.'
BASKET = 'a basket is a set or a list of items, as in discreet.read([{"tea", "milk"}, {"bread"}]).'
LISTS: list[tuple[Any, type[Exception], str]] = [
    ([{1}, {"a"}], InputError, f"Basket 1: {MIXTURE}"),
    ([{1}] * 70_000 + [{"a"}], InputError, f"Basket 70000: {MIXTURE}"),
    ([{1}, {1.5}], InputError, "Basket 1: items are whole numbers or names (text), not float."),
    ([{True}], InputError, "Basket 0: items are whole numbers or names (text), not bool."),
    ([{None}], InputError, "Basket 0: items are whole numbers or names (text), not NoneType."),
    ([{2**63}], InputError, f"Basket 0: an item does not fit 64 bits; {NAMES}"),
    (["tea"], InputError, f"There is no file 'tea'. A list of texts names files; {BASKET}"),
    (iter(["tea"]), InputError, f"Basket 0 is a str; {BASKET}"),
    ([{1}, 5], InputError, f"Basket 1 is an int; {BASKET}"),
    ([{"tea": 2}], InputError, f"Basket 0 is a dict; {BASKET}"),
    (
        5,
        MisuseError,
        "Cannot read baskets from int: give a path, a data frame, a sparse matrix or a list of sets.",
    ),
    (
        b"tea",
        MisuseError,
        "Cannot read baskets from bytes: give a path, a data frame, a sparse matrix or a list of sets.",
    ),
]


@pytest.mark.parametrize(("source", "error", "text"), LISTS)
def test_lists(source: Any, error: type[Exception], text: str) -> None:
    assert message(error, source) == text


def test_columns_and_order_where_there_are_none() -> None:
    Path("a.dat").write_text("1 2\n")
    meaning_message = 'so item="product" means nothing here; leave it out.'
    assert (
        message(MisuseError, [{1}], item="product")
        == f"A list of baskets is neither a table nor a file, {meaning_message}"
    )
    line = "a.dat is read with one basket per line and has no columns, so"
    assert message(MisuseError, "a.dat", item="product") == f'{line} item="product" means nothing here; leave it out.'
    assert (
        message(MisuseError, "a.dat", **COLUMN_OPTIONS) == f'{line} person="person" means nothing here; leave it out.'
    )
    Path("a.csv").write_text("person,item\n")
    assert message(MisuseError, "a.csv", item="item") == (
        "a.csv is read with one basket per line unless person= and item= are given; give both for a table, or neither."
    )
    assert message(MisuseError, [{1}], ordered=True) == (
        "ordered=True, but basket 0 is a set, which has no order; give lists."
    )
    Path("a.jsonl").write_text('{"pairs": [[1, 2]]}\n')
    assert message(MisuseError, "a.jsonl", ordered=True) == (
        "a.jsonl: ordered=True does not go with given pairs, which have no order."
    )


def test_matrix_and_one_hot() -> None:
    matrix = sparse.csr_array(np.eye(3))
    assert message(MisuseError, matrix, labels=["a"]) == (
        "labels has 1 names, but the matrix has 3 columns; give one for each."
    )
    assert message(MisuseError, matrix, labels=["a", "a", "b"]) == (
        "labels names an item twice; give each column a name of its own."
    )
    assert message(MisuseError, matrix, ordered=True) == (
        "A sparse matrix has one row per basket, without order, so ordered=True means nothing here; leave it out."
    )
    assert message(InputError, pd.DataFrame({"a": [1, 2]}), format="onehot") == (
        "The table: column 'a' has values other than 0 and 1; it is not one-hot."
    )
    assert message(InputError, pd.DataFrame({"a": pd.arrays.SparseArray([True, False])})) == (
        "A pandas frame with sparse columns cannot be read as it is: "
        "give frame.sparse.to_coo() and labels=list(frame.columns)."
    )
    assert message(MisuseError, pd.DataFrame({"a": [True]}), ordered=True) == (
        "A one-hot table has one row per basket, without order, so ordered=True means nothing here; leave it out."
    )


def test_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect("s.db") as light:
        light.execute("CREATE TABLE sales (person INTEGER, item TEXT)")
        light.execute("INSERT INTO sales VALUES (1, 'tea')")
    light.close()
    Path("junk.db").write_bytes(b"junk" * 100)
    Path("broken.db").write_bytes(Path("s.db").read_bytes()[:100] + b"x" * 8000)
    everything = "SELECT * FROM sales"
    query_message = 'There must be a query to ask a database: give query="SELECT person, item FROM …".'
    assert message(MisuseError, "s.db") == query_message
    assert message(MisuseError, "postgresql://somewhere/x") == query_message
    assert message(MisuseError) == 'There must be a source or a query: give query="SELECT person, item FROM …".'
    prepare = "INVALID_ARGUMENT: [SQLite] Failed to prepare query:"
    assert message(MisuseError, "s.db", query="SELEC").startswith("The query begins with SELEC; query is one statement")
    assert message(InputError, "s.db", query="SELECT FROM") == f's.db: {prepare} near "FROM": syntax error.'
    assert message(InputError, "s.db", query="SELECT * FROM nowhere") == f"s.db: {prepare} no such table: nowhere."
    assert (
        message(InputError, "broken.db", query=everything) == f"broken.db: {prepare} database disk image is malformed."
    )
    assert message(InputError, "junk.db", query=everything) == "junk.db is neither an SQLite nor a DuckDB database."
    assert message(InputError, "sqlite:///none.db", query=everything) == "There is no file none.db."
    assert message(InputError, "duckdb:///s.db", query=everything) == (
        "s.db is not a database of the kind duckdb, but sqlite."
    )
    assert message(InputError, "s.db", query=everything, person="who", item="item") == (
        "s.db has no column 'who' (person=); its columns are person, item."
    )
    assert message(InputError, query="SELEC 1") == 'The query: Parser Error: syntax error at or near "SELEC".'
    assert message(InputError, query="SELECT * FROM 'none.parquet'") == (
        'The query: IO Error: No files found that match the pattern "none.parquet".'
    )
    assert message(MisuseError, "mysql://me:secret@host/x", query=everything) == (
        "mysql://host/x is not an address discreet reads; those are sqlite:///file.db, "
        "duckdb:///file.duckdb, postgresql://user@host/name, and files at https://, s3://, gs://, az:// and the like."
    )
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite.dbapi", None)
    assert message(MisuseError, "s.db", query=everything) == (
        "Reading from SQLite needs a driver: pip install 'discreet[sql]'."
    )


def test_postgresql_away() -> None:
    pytest.importorskip("adbc_driver_postgresql")
    text = message(InputError, "postgresql://me:secret@127.0.0.1:1/x", query="SELECT 1")
    start = (
        'postgresql://127.0.0.1:1/x: IO: [libpq] Failed to connect: connection to server at "127.0.0.1", port 1 failed'
    )
    assert text.startswith(start)
    assert "secret" not in text


def test_postgresql_bad_query(postgresql: str) -> None:
    text = message(InputError, postgresql, query="SELECT * FROM nowhere")
    assert 'relation "nowhere" does not exist' in text
    assert text.startswith("postgresql://127.0.0.1:")


def test_query_with_a_file() -> None:
    Path("a.csv").write_text("person,item\n1,a\n")
    assert message(MisuseError, "a.csv", query="SELECT 1") == (
        "query= goes with a database or with no source; to query a file, leave the source out and "
        "write query=\"SELECT … FROM 'a.csv'\"."
    )
