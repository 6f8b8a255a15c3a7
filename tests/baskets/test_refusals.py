"""Data and options that cannot be meant, and the whole message they get."""

from __future__ import annotations

import lzma
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import discreet
from discreet import EmptyDataError, InputError, MisuseError
from discreet.baskets import Vocabulary, hide_secrets, public_name, public_path
from running import plain

COLUMN_OPTIONS: dict[str, Any] = {"person": "person", "item": "item"}
NAMES = 'labels="names" reads items as names.'
LARGEST = "an item is larger than 9,223,372,036,854,775,807, the largest number an item can be"
NUMBERS = "and the first line with items has only numbers"
LINE = 'write one basket per line, as ["tea", "milk"].'
BASKET = 'a basket is a set or a list of items, as in discreet.read([{"tea", "milk"}, {"bread"}]).'
NOTHING = "means nothing here; leave it out."


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def message(error: type[Exception], source: Any = None, **options: Any) -> str:
    with pytest.raises(error) as caught:
        discreet.read(source, **options)
    assert type(caught.value) in (error, EmptyDataError if error is InputError else error)
    return str(caught.value)


FILES: list[tuple[str, bytes, dict[str, Any], str]] = [
    ("a.dat", b"1\n" + b"9" * 5000, {}, f", line 2: {LARGEST}, {NUMBERS}; {NAMES}"),
    ("a.csv", b"1\n" + b"9" * 5000, {"format": "baskets"}, f", line 2: {LARGEST}, {NUMBERS}; {NAMES}"),
    ("a.dat", b"1\n" + b"x" * 300, {}, f", line 2: an item is not a whole number, {NUMBERS}; {NAMES}"),
    (
        "a.csv",
        b"1,2\n09223372036854775808",
        {"labels": "numbers"},
        f", line 2: {LARGEST}; {NAMES}",
    ),
    ("a.jsonl", b"[" + b"1" * 5000 + b"]", {}, f", line 1 has a number with too many digits; {LINE}"),
    ("a.jsonl", b"[" * 100_000, {}, f", line 1 has too many lists within lists; {LINE}"),
    ("a.jsonl", b'[]\n["\\ud800"]', {}, ", line 2: an item is not text (it has a lone surrogate)."),
    ("a.dat", b"\xef\xbb\xbf", {}, " is empty; a file of one empty basket has one blank line."),
    ("a.csv", b"\xef\xbb\xbf", COLUMN_OPTIONS, " is empty; a file of one empty basket has one blank line."),
    ("a.csv", b"\nperson,item\n1,a\n", COLUMN_OPTIONS, ", line 1 is blank; it must name the columns."),
    (
        "a.csv",
        b'"' + b"x" * 200_000,
        COLUMN_OPTIONS,
        ", line 1 does not name columns: field larger than field limit (131072).",
    ),
    (
        "a.csv",
        b"person,item\r\n1,a\n2,b\r\n",
        COLUMN_OPTIONS,
        ": it cannot be cut into rows; all its lines must end alike (in a line feed, or all in a carriage return and "
        "a line feed), and each quote must be closed.",
    ),
    ("a.csv", b"person,item,item\n1,a,b\n", COLUMN_OPTIONS, " has 2 columns 'item' (item=); rename all but one."),
    ("a.csv", b",a\n1,a\n", COLUMN_OPTIONS, " has no column 'person' (person=); its columns are '', a."),
    (
        "a.csv",
        b"person,item\n1\x00,a\n",
        COLUMN_OPTIONS,
        " is not text: some people have control characters; a CSV file is UTF-8 text.",
    ),
    ("a.json", b" [ ]\n", COLUMN_OPTIONS, " has no rows."),
    (
        "a.json",
        b"[{}, {}]",
        COLUMN_OPTIONS,
        " has records without fields; each is an object with the fields asked for.",
    ),
    (
        "a.jsonl",
        b'{"person":1,"item":"a","Item":"b"}',
        {"person": "person", "item": "Item"},
        " has columns that differ only in case, item and Item; rename one.",
    ),
    (
        "a.jsonl",
        b'{"person":1,"item":1}\n{"person":1,"item":"a"}',
        COLUMN_OPTIONS,
        ': the items are a mixture of numbers and names; labels="names" reads all as names.',
    ),
    (
        "a.jsonl",
        b'{"person":1,"item":[[1]]}',
        COLUMN_OPTIONS,
        ": 'item' is a list in some records; items are whole numbers or names (text), "
        "or lists of these in all records.",
    ),
    (
        "a.jsonl",
        b'{"person":1,"a":1.5,"b":{}}',
        {"person": "person", "pair": ("a", "b")},
        ": 'a' is a fraction in some records; items are whole numbers or names (text).",
    ),
    (
        "a.jsonl",
        b'{"person":1,"a":1,"b":"x"}',
        {"person": "person", "pair": ("a", "b")},
        ': the items are a mixture of numbers and names; labels="names" reads all as names.',
    ),
    (
        "a.jsonl",
        b'{"person":1,"item":1}\n{"person":"1","item":1}',
        COLUMN_OPTIONS,
        ": 'person' is a number or text, by record; people are all numbers or all names (text).",
    ),
    (
        "a.jsonl",
        b'{"person":1,"basket":1,"item":1}\n{"person":1,"basket":"1","item":2}',
        COLUMN_OPTIONS | {"basket": "basket"},
        ": 'basket' is a number or text, by record; baskets are all numbers or all names (text).",
    ),
    (
        "a.jsonl",
        b'{"person":1,"basket":true,"item":1}\n{"person":1,"basket":"true","item":2}',
        COLUMN_OPTIONS | {"basket": "basket"},
        ": 'basket' is text or true or false, by record; baskets are all numbers or all names (text).",
    ),
    (
        "a.jsonl",
        b'{"person":{"a":1},"item":1}',
        COLUMN_OPTIONS,
        ": 'person' is an object, by record; people are all numbers or all names (text).",
    ),
]


@pytest.mark.parametrize(("name", "content", "options", "text"), FILES)
def test_file(name: str, content: bytes, options: dict[str, Any], text: str) -> None:
    Path(name).write_bytes(content)
    assert message(InputError, name, **options) == name + text


def test_paths() -> None:
    pipe = Path("pipe.dat")
    os.mkfifo(pipe)
    pipes = "is not a regular file but a pipe or a device; write it to a file first."
    assert message(InputError, pipe) == f"pipe.dat {pipes}"
    assert message(InputError, "/dev/null", format="fimi") == f"/dev/null {pipes}"
    assert message(InputError, "x" * 300) == f"{'x' * 200}… cannot be read: File name too long."
    assert message(InputError, "a\0.dat") == "There is no file 'a\\x00.dat': its name has a null character."
    assert message(MisuseError, "") == ('The path is empty; give the name of a file, as in discreet.read("sales.csv").')
    Path("a.dat").write_text("1\n")
    assert message(InputError, "a.dat/b.dat") == "There is no file a.dat/b.dat."


@pytest.mark.parametrize(
    "trailing_bytes", [b"junk", b"\0" + lzma.compress(b"3 4\n")[1:], lzma.compress(b"3 4\n" * 99)[:-5]]
)
def test_what_follows_an_xz_stream(trailing_bytes: bytes) -> None:
    Path("a.dat.xz").write_bytes(lzma.compress(b"1 2\n") + trailing_bytes)
    damage = "a.dat.xz is damaged or cut short: its xz data cannot be unpacked; get the file again."
    assert message(InputError, "a.dat.xz") == damage


def test_no_room_to_unpack(tmp_path: Path) -> None:
    text = "person,item\n" + "1,a\n" * 2_000_000
    Path("a.csv.xz").write_bytes(lzma.compress(text.encode()))
    program = (
        "import resource, discreet\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))\n"
        "try:\n    discreet.read('a.csv.xz', person='person', item='item')\n"
        "except discreet.LimitError as error:\n    print(error)\n"
    )
    environment = plain(TMPDIR=str(tmp_path))
    completed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert completed.stdout.startswith(f"a.csv.xz cannot be unpacked in {tmp_path}/discreet-")
    assert completed.stdout.endswith(": File too large; set TMPDIR to a folder with enough room.\n")


def mixed_frame() -> pd.DataFrame:
    return pd.DataFrame({"person": [1, 2], "item": [1, "a"]})


TYPES_MESSAGE = "holds values of several types, or of one that Arrow does not know; convert it."
OBJECTS: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ([["\ud800"]], {}, InputError, "Basket 0: an item is not text (it has a lone surrogate)."),
    (
        [["09223372036854775808"]],
        {"labels": "numbers"},
        InputError,
        f"The baskets given: an item is not a whole number that fits 64 bits; {NAMES}",
    ),
    ([[10**5000]], {}, InputError, f"Basket 0: an item does not fit 64 bits; {NAMES}"),
    (
        [[10**5000]],
        {"labels": "names"},
        InputError,
        "An item is a number with too many digits; convert it to text first.",
    ),
    (
        np.array(5),
        {},
        MisuseError,
        "Cannot read baskets from ndarray: give a path, a data frame, a sparse matrix or a list of sets.",
    ),
    ([[1], np.array(5)], {}, InputError, f"Basket 1 is a ndarray; {BASKET}"),
    (mixed_frame(), COLUMN_OPTIONS, InputError, f"The table: column 'item' {TYPES_MESSAGE}"),
    (mixed_frame(), {}, InputError, f"The table: column 'item' {TYPES_MESSAGE}"),
    (
        pd.DataFrame([[1, 2, 3]], columns=["person", "item", "item"]),
        COLUMN_OPTIONS,
        InputError,
        "The table has several columns of the same name; rename all but one.",
    ),
    (
        pa.table([[1], ["a"], ["b"]], names=["person", "item", "item"]),
        COLUMN_OPTIONS,
        InputError,
        "The table has 2 columns 'item' (item=); rename all but one.",
    ),
    (
        pa.table([[True], [False]], names=["a", "a"]),
        {},
        InputError,
        "The table has 2 columns 'a'; rename all but one.",
    ),
    (
        pa.table({}),
        {},
        MisuseError,
        "The table needs person= and item=, the columns of the people and of what they hold; it has no columns.",
    ),
    (
        pa.table({"a": [[["x"]]]}),
        {},
        InputError,
        "The table: column 'a' is lists of lists; items are whole numbers or names: cast the column to text.",
    ),
    (
        sparse.coo_array(np.array([1, 0])),
        {},
        InputError,
        "The matrix has no rows and columns (its shape is (2,)); give one with one row per person.",
    ),
    (
        sparse.csr_array(np.eye(2)),
        {"labels": {"a", "b"}},
        MisuseError,
        "labels is a set; give a list with the name of each column, in order.",
    ),
    (
        sparse.csr_array(np.eye(2)),
        {"labels": [None, "x"]},
        InputError,
        "Items are whole numbers or names, not NoneType: convert them to text first.",
    ),
    (
        pa.table({"a": [True], "b": [True]}),
        {"labels": ["x", "x"]},
        MisuseError,
        "labels names an item twice; give each column a name of its own.",
    ),
]


@pytest.mark.parametrize(("source", "options", "error", "text"), OBJECTS)
def test_object(source: Any, options: dict[str, Any], error: type[Exception], text: str) -> None:
    assert message(error, source, **options) == text


def test_labels_from_anything_in_order() -> None:
    matrix = sparse.csr_array(np.eye(2))
    for labels in (iter(["b", "a"]), np.array(["b", "a"]), pa.array(["b", "a"]), pd.Index(["b", "a"])):
        assert [sorted(basket) for basket in discreet.read(matrix, labels=labels)] == [["b"], ["a"]]  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [[2**63], ["\ud800"]])
def test_labels_that_fit_nothing(labels: list[Any]) -> None:
    with pytest.raises(InputError):
        Vocabulary(labels)


def given_options() -> list[tuple[Any, dict[str, Any], str]]:
    baskets = discreet.read([[1, 2]])
    matrix = sparse.csr_array(np.eye(2))
    through = "Baskets pass through as they are"
    list_message = "A list of baskets is neither a table nor a file"
    order = "A sparse matrix has one row per basket, without order"
    line = "a.dat is read with one basket per line and has no columns"
    whole_number_message = "it must be a whole number"
    return [
        (baskets, COLUMN_OPTIONS, f'{through}, so person="person" {NOTHING}'),
        (baskets, {"labels": "names"}, f'{through}, so labels="names" {NOTHING}'),
        (baskets, {"ordered": True}, f"{through}, so ordered=True {NOTHING}"),
        (baskets, {"format": "csv"}, f'{through}, so format="csv" {NOTHING}'),
        ([{1}], {"format": "csv"}, f'{list_message}, so format="csv" {NOTHING}'),
        ([{1}], {"nulls": "drop"}, f'{list_message}, so nulls="drop" {NOTHING}'),
        (matrix, {"format": "csv"}, f'{order}, so format="csv" {NOTHING}'),
        ("a.dat", {"nulls": "drop"}, f'{line}, so nulls="drop" {NOTHING}'),
        ("a.dat", {"memory": "lots"}, 'memory is \'lots\'; write it as "2GB" or "500MB".'),
        ("a.dat", {"memory": "-1GB"}, 'memory is \'-1GB\'; write it as "2GB" or "500MB".'),
        ("a.dat", {"memory": "0GB"}, 'memory is \'0GB\'; write it as "2GB" or "500MB".'),
        (
            "sqlite:///a.db",
            {"format": "csv", "query": "SELECT 1"},
            f'The address tells what it is, so format="csv" {NOTHING}',
        ),
        (
            None,
            {"format": "csv", "query": "SELECT 1"},
            f'A query over files names them itself, so format="csv" {NOTHING}',
        ),
        (None, {"query": " ; "}, 'The query is empty; write query="SELECT person, item FROM …".'),
        (
            pa.table({"items": [[1]]}),
            {"nulls": "drop"},
            f'The table is read with one basket per row, without people, so nulls="drop" {NOTHING}',
        ),
        (pa.array([[1]]), COLUMN_OPTIONS, f'A single column has one basket per row, so person="person" {NOTHING}'),
        ([{1}], {"seed": 1}, "seed= is for the choice that max_items makes; give max_items too, or leave seed= out."),
        ([{1}], {"max_items": 1, "seed": -1}, f"seed is -1; {whole_number_message}, 0 or more."),
        ([{1}], {"max_items": 1, "seed": "a"}, f"seed is 'a'; {whole_number_message}, 0 or more."),
        ([{1}], {"max_items": 1, "seed": 1.5}, f"seed is 1.5; {whole_number_message}, 0 or more."),
        ([{1}], {"max_items": float("nan")}, f"max_items is nan; {whole_number_message}, 1 or more."),
        ([{1}], {"max_items": 1.5}, f"max_items is 1.5; {whole_number_message}, 1 or more."),
        ([{1}], {"max_items": True}, f"max_items is True; {whole_number_message}, 1 or more."),
        (baskets, {"max_items": "2"}, f"max_items is '2'; {whole_number_message}, 1 or more."),
        (
            pa.table({"a": [1]}),
            {"person": "a", "item": ["a", "b"]},
            "item is ['a', 'b']; it is the name of one column, as text.",
        ),
        (
            pa.table({"a": [1]}),
            {"person": "a", "pair": (1, 2)},
            'pair is (1, 2); it is two different columns, as in pair=("before", "after").',
        ),
    ]


@pytest.mark.parametrize(("source", "options", "text"), given_options())
def test_option(source: Any, options: dict[str, Any], text: str) -> None:
    Path("a.dat").write_text("1 2\n")
    assert message(MisuseError, source, **options) == text


def test_names_that_differ_only_in_case() -> None:
    pq.write_table(pa.table({"person": [1], "item": ["a"], "Item": ["b"]}), "a.parquet")
    assert message(InputError, "a.parquet", person="person", item="Item") == (
        "a.parquet has columns that differ only in case, item and Item; rename one."
    )


def test_sqlite() -> None:
    with sqlite3.connect("a.db") as light:
        light.execute("CREATE TABLE mixed (who, thing)")
        light.executemany("INSERT INTO mixed VALUES (?, ?)", [(1, "a"), ("x", 2), (2.5, "b")])
    light.close()
    columns: dict[str, Any] = {"person": "who", "item": "thing"}
    assert message(InputError, "a.db", query="SELECT * FROM mixed", **columns) == (
        "a.db: column 'who' holds values of several types; cast it: SELECT CAST(who AS TEXT) AS who."
    )
    assert message(MisuseError, "a.db", query="SELECT 1; SELECT 2", **columns).startswith("The query has 2 statements;")
    assert message(MisuseError, "a.db", query=";", **columns) == (
        'The query is empty; write query="SELECT person, item FROM …".'
    )
    assert message(MisuseError, "a.db", query="SELECT * FROM mixed") == (
        "a.db needs person= and item=, the columns of the people and of what they hold; its columns are who, thing."
    )
    cast = "SELECT CAST(who AS TEXT) AS who, CAST(thing AS TEXT) AS thing FROM mixed"
    assert list(discreet.read("a.db", query=cast, **columns).vocabulary) == ["2", "a", "b"]


def test_no_suggestions_of_strangers() -> None:
    assert message(InputError, query="SELECT * FROM nowhere") == (
        "The query: Catalog Error: Table with name nowhere does not exist."
    )


@pytest.mark.parametrize(
    ("address", "hidden_address"),
    [
        ("postgresql://me:secret@host:5432/shop", "postgresql://host:5432/shop"),
        ("postgresql://me:sec@ret@host/shop", "postgresql://host/shop"),
        ("postgresql://me:sec/ret@host/shop", "postgresql://host/shop"),
        ("postgresql://host/shop?password=secret", "postgresql://host/shop"),
        ("postgresql://host/shop?password=sec@ret", "postgresql://…"),
        ("postgresql://me:sec?ret@host/shop", "postgresql://…"),
        ("postgresql://me:secret/shop", "postgresql://…"),
        ("postgresql://one:1,two:2/shop", "postgresql://one:1,two:2/shop"),
        ("postgresql://[::1]:5432/shop", "postgresql://[::1]:5432/shop"),
        ("postgresql:///shop", "postgresql:///shop"),
    ],
)
def test_passwords_are_not_shown(address: str, hidden_address: str) -> None:
    assert public_name(address) == hidden_address
    hidden_text = hide_secrets(f'invalid "{address}", "secret", "sec@ret", "sec/ret"', address)
    for part in ("secret", "sec@ret", "sec/ret", "sec?ret"):
        assert part not in address or part not in hidden_text


def test_passwords_are_not_logged() -> None:
    pytest.importorskip("adbc_driver_postgresql")
    address = "postgresql://127.0.0.1:1/x?password=secret&port=secret"
    text = message(InputError, address, query="SELECT 1")
    assert text.startswith("postgresql://127.0.0.1:1/x: ")
    assert "secret" not in text


@pytest.mark.parametrize(
    "address",
    [
        "http://host/s.csv?X-Amz-Signature=SECRET",
        "https://host/s.csv?a=1&sig=SECRET#part",
        "https://host/s.csv?token=S&key=SECRET",
        "https://host/s.csv?SECRET",
        "https://SECRET@host/s.csv",
        "https://user:pw@host/s.csv",
        "s3://SECRET:pw@bucket/s.csv?s3_session_token=SEC RET",
        "postgresql://user:pw@host/shop?sslpassword=SECRET",
        "postgresql://user:p@w@host/shop",
        "sc://host:15002/;token=SECRET;user_id=me",
    ],
)
def test_what_may_be_secret_in_an_address_is_in_no_message(address: str) -> None:
    library_text = (
        f"Could not read {address}: 'https://user:pw@host/s.csv?sig=SECRET' gave 404, SECRET, SEC RET, (pw), "
    )
    hidden_text = hide_secrets(library_text, address)
    assert "pw@" not in hidden_text
    assert "?" not in hidden_text
    assert "404" in hidden_text
    hidden_part = hidden_text.split("gave 404, ")[1]
    for secret in ("SECRET", "SEC RET"):
        assert secret not in hidden_part or secret not in address
    assert (":pw@" in address) == ("(…)" in hidden_text)
    assert hidden_text.startswith(f"Could not read {public_name(address)}: 'https://host/s.csv' gave")


def test_names_of_files_that_are_addresses_have_no_secrets() -> None:
    assert public_path("http:/me:pw@host/s.csv?sig=SECRET") == "http://host/s.csv"
    assert public_path("what?.csv") == "what?.csv"
    assert public_path("C:/what?.csv") == "C:/what?.csv"
    address = "http://me:pw@host/s.csv?sig=SECRET"
    for error_text in (
        message(InputError, Path(address), person="c", item="p"),
        message(InputError, [Path(address), Path("other.csv")], person="c", item="p"),
        message(MisuseError, [address, "other.csv"], person="c", item="p"),
        message(InputError, query=f"SELECT * FROM '{address}'"),
    ):
        assert "SECRET" not in error_text
        assert "pw" not in error_text
