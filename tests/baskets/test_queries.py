"""A query reads and does nothing else, names of columns are only names, and what kernels see is in range."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.baskets import Baskets, Pairs, Segments, Sequences, Vocabulary
from discreet.baskets._redaction import check_query
from discreet.errors import DiscreetError, InputError, MisuseError

SALES = {"customer": [1, 1, 2], "product": ["tea", "milk", "tea"]}
COLUMNS: dict[str, Any] = {"person": "customer", "item": "product"}


@pytest.fixture
def sales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(SALES), "sales.parquet")
    with sqlite3.connect("sales.db") as light:
        light.execute("CREATE TABLE answer (customer INTEGER, product TEXT)")
        light.executemany("INSERT INTO answer VALUES (?, ?)", zip(*SALES.values(), strict=True))
    light.close()
    import duckdb

    with duckdb.connect("sales.duckdb") as connection:
        connection.execute("CREATE SCHEMA workspace; CREATE TABLE source AS SELECT * FROM 'sales.parquet'")
    return tmp_path


WRITING = [
    "SELECT * FROM {sales}; COPY (SELECT 1) TO 'written.csv'",
    "SELECT * FROM {sales}; ; DROP TABLE {sales}",
    "COPY (SELECT 1) TO 'written.csv'",
    "WITH a AS (COPY (SELECT 1) TO 'written.csv') SELECT * FROM {sales}",
    "WITH a AS (SELECT 1) SELECT * FROM {sales}; ATTACH 'written.db' AS b",
    "ATTACH 'written.db'",
    "INSTALL httpfs",
    "PRAGMA user_version = 5",
    "SET threads = 1",
    "EXPORT DATABASE 'written'",
    "CREATE TABLE a AS SELECT 1",
    "DELETE FROM {sales}",
    "WITH a AS (SELECT 1) DELETE FROM {sales}",
]


@pytest.mark.parametrize("query", WRITING)
@pytest.mark.parametrize(
    ("source", "table"), [(None, "'sales.parquet'"), ("sales.duckdb", "source"), ("sales.db", "answer")]
)
def test_a_query_does_not_write(sales: Path, source: str | None, table: str, query: str) -> None:
    before = {path.name: path.read_bytes() for path in sales.iterdir()}
    with pytest.raises(DiscreetError):
        discreet.read(source, query=query.format(sales=table), **COLUMNS)
    assert {path.name: path.read_bytes() for path in sales.iterdir()} == before


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM {sales};",
        "select * from {sales} -- ; DROP TABLE x\n",
        "/* ; */ WITH a AS (SELECT * FROM {sales}) SELECT * FROM a WHERE product <> ';)'",
        "SELECT customer, product AS \"product\" FROM {sales} UNION SELECT 1, ';' WHERE 1 = 0",
    ],
)
def test_a_query_reads(sales: Path, query: str) -> None:
    expected = discreet.read("sales.parquet", **COLUMNS)
    for source, table in ((None, "'sales.parquet'"), ("sales.duckdb", "source"), ("sales.db", "answer")):
        assert discreet.read(source, query=query.format(sales=table), **COLUMNS) == expected, source


def test_what_is_said(sales: Path) -> None:
    allowed_message = 'query is one statement that reads, as in query="SELECT person, item FROM …".'
    for source in (None, "sales.db"):
        with pytest.raises(MisuseError) as error:
            discreet.read(source, query="SELECT 1; SELECT 2", **COLUMNS)
        assert str(error.value) == f"The query has 2 statements; {allowed_message}"
        assert error.value.message.typed.endswith('as in --query "SELECT person, item FROM …".')
        with pytest.raises(MisuseError, match=r"something else than read|begins with ATTACH"):
            discreet.read(source, query="ATTACH 'a.db' AS a", **COLUMNS)


def test_a_name_is_no_variable_of_ours(sales: Path) -> None:
    here = pa.table(SALES)
    with pytest.raises(InputError, match="here does not exist"):
        discreet.read(query="SELECT * FROM here", **COLUMNS)
    assert len(here) == 3


@pytest.mark.parametrize(
    ("kind", "query", "is_allowed"),
    [
        ("postgresql", "SELECT $$;$$, $a$ ; $$ ; $a$, E'\\';', 'a'';'", True),
        ("postgresql", "SELECT 1 /* ; /* ; */ ; */", True),
        ("postgresql", "SELECT 1 /* /* */ */; DROP TABLE a", False),
        ("postgresql", "SELECT 'a\\'; DROP TABLE a --'", False),
        ("postgresql", "SELECT a$b$; DROP TABLE a; SELECT $b$", False),
        ("postgresql", "SELECT 1) TO STDOUT; DROP TABLE a; COPY (SELECT 1", False),
        ("postgresql", "(VALUES (1)) UNION TABLE a;", True),
        ("postgresql", "COPY a TO PROGRAM 'sh'", False),
        ("sqlite", 'SELECT [a;b], `;` FROM "c;"', True),
        ("sqlite", "SELECT 1 /* /* */; DROP TABLE a", False),
        ("sqlite", "SELECT 1) ; ATTACH 'x' AS y; SELECT (1", False),
    ],
)
def test_statements_are_told_apart(kind: Any, query: str, is_allowed: bool) -> None:
    if is_allowed:
        check_query(query, kind)
    else:
        with pytest.raises(MisuseError):
            check_query(query, kind)


def test_postgresql_is_asked_to_read(postgresql: str) -> None:
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(postgresql) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE kept (customer INTEGER, product TEXT)")
        cursor.execute("INSERT INTO kept VALUES (1, 'tea')")
        connection.commit()
    assert len(discreet.read(postgresql, query="SELECT * FROM kept", **COLUMNS)) == 1
    for query in (
        "WITH a AS (DELETE FROM kept RETURNING *) SELECT * FROM a",
        "SELECT * FROM kept; DELETE FROM kept; COMMIT",
        "SELECT nextval('counter'), customer, product FROM kept",
        "DELETE FROM kept RETURNING *",
    ):
        with pytest.raises(DiscreetError):
            discreet.read(postgresql, query=query, **COLUMNS)
    assert len(discreet.read(postgresql, query="SELECT * FROM kept", **COLUMNS)) == 1


ALIASES = ["item of a list", "Item of a List", "item0", "person", "row", "code", "held", "time", "segment", "c0", "w0"]


@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv", "frame", "query"])
def test_a_column_named_like_one_of_ours(tmp_path: Path, form: str) -> None:
    people, item_lists = [1, 1, 2], [["tea"], ["milk"], ["tea"]]
    junk = {name: ["x", "y", "z"] for name in ALIASES[:1] + ALIASES[2:]}
    table = pa.table(
        {"customer": people, "lists": item_lists, "product": [single_item for (single_item,) in item_lists]} | junk
    )
    source: Any = tmp_path / f"a.{form}"
    options: dict[str, Any] = {"person": "customer"}
    if form == "csv":
        import pyarrow.csv

        pyarrow.csv.write_csv(table.drop_columns("lists"), source)
    elif form == "jsonl":
        import json

        source.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        pq.write_table(table, tmp_path / "a.parquet")
        source = {"parquet": source, "frame": table}.get(form)
        if form == "query":
            options["query"] = f"SELECT * FROM '{tmp_path}/a.parquet'"
    for item in ["product"] if form == "csv" else ["product", "lists"]:
        baskets = discreet.read(source, item=item, **options)
        assert list(baskets) == [{"tea", "milk"}, {"tea"}]
    # All of them from one kind of source, a few from each of the others.
    for name in list(junk)[:: 1 if form == "parquet" else 4]:
        assert list(discreet.read(source, item=name, **options)) == [{"x", "y"}, {"z"}]
    if form in ("parquet", "frame"):
        options.pop("person")
        assert list(discreet.read(source, item="lists", **options)) == [{"tea"}, {"milk"}, {"tea"}]


def test_a_list_of_any_case(tmp_path: Path) -> None:
    junk = {ALIASES[1]: ["x", "y"], "item of a list1": ["x", "y"]}
    pq.write_table(pa.table({"customer": [1, 2], "lists": [["tea"], ["milk"]]} | junk), tmp_path / "a.parquet")
    assert list(discreet.read(tmp_path / "a.parquet", person="customer", item="lists")) == [{"tea"}, {"milk"}]


def _list_array(offsets: list[int], values: Any = None) -> pa.Array:
    values = pa.array(["tea", "milk"]) if values is None else values
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32))]
    return pa.Array.from_buffers(pa.list_(values.type), len(offsets) - 1, buffers, children=[values])


def _text_array(offsets: list[int]) -> pa.Array:
    return pa.Array.from_buffers(
        pa.string(), len(offsets) - 1, [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"teamilk")]
    )


@pytest.mark.parametrize(
    "array",
    [
        _list_array([0, 1 << 20, 2]),
        _list_array([0, -5, 2]),
        _list_array([0, 2, 1]),
        _list_array([0, 1, 2], _text_array([0, 1 << 20, 7])),
    ],
)
def test_arrow_with_bad_offsets(array: pa.Array) -> None:
    with pytest.raises(InputError):
        discreet.read(array)
    with pytest.raises(InputError):
        discreet.read(pa.table({"items": array, "who": [1, 2]}), person="who", item="items")


def test_arrow_with_bad_text() -> None:
    with pytest.raises(InputError):
        discreet.read(pa.table({"item": _text_array([0, 1 << 28, 7]), "who": [1, 2]}), person="who", item="item")
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(["tea"]), safe=False)
    with pytest.raises(InputError):
        discreet.read(pa.table({"item": codes, "who": [1, 2]}), person="who", item="item")


def test_a_matrix_with_bad_indices() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix(np.eye(3))
    matrix.indices[1] = 70_000_000
    with pytest.raises(InputError, match="damaged"):
        discreet.read(matrix)


def _baskets(offsets: Any = (0, 1, 2), codes: Any = (0, 1), **fields: Any) -> Baskets:
    return Baskets(np.array(offsets, np.int64), np.array(codes, np.int32), Vocabulary(["milk", "tea"]), **fields)


@pytest.mark.parametrize(
    "arguments",
    [
        {"codes": (0, 2)},
        {"codes": (-1, 1)},
        {"codes": (0, 2**31 - 1)},
        {"offsets": (0, 1, 3)},
        {"offsets": (1, 1, 2)},
        {"offsets": (0, 2, 1, 2)},
        {"offsets": (0, -1, 2)},
        {"offsets": ()},
        {"offsets": (0, 2), "codes": (1, 0)},
        {"offsets": (0, 2), "codes": (1, 1)},
        {"sequences": Sequences(np.array([0, 1, 2]), np.array([0, 2], np.int32))},
        {"sequences": Sequences(np.array([0, 2]), np.array([0, 1], np.int32))},
        {"sequences": Sequences(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.array([1], np.int32))},
        {"pairs": Pairs(np.array([0, 1, 1]), np.array([0], np.int32), np.array([5], np.int32))},
        {"pairs": Pairs(np.array([0, 1, 1]), np.array([0], np.int32), np.array([], np.int32))},
        {"segments": Segments("region", np.array([0, 1], np.int32), Vocabulary(["north"]))},
        {"segments": Segments("region", np.array([0], np.int32), Vocabulary(["north"]))},
    ],
)
def test_baskets_built_by_hand(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        _baskets(**arguments)


def test_baskets_of_another_type() -> None:
    with pytest.raises(InputError):
        Baskets(np.array([0.0, 1.0]), np.array([0], np.int32), Vocabulary(["tea"]))  # type: ignore[arg-type]
    with pytest.raises(InputError):
        Baskets([0, 1], [0], Vocabulary(["tea"]))  # type: ignore[arg-type]
    assert list(_baskets()) == [{"milk"}, {"tea"}]
    assert list(_baskets((0, 0, 2, 2))) == [set(), {"milk", "tea"}, set()]
