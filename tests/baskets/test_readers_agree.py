"""The same baskets through every reader and every compression give equal `Baskets`."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sqlite3
import zipfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import zstandard
from scipy import sparse

import discreet
from discreet.baskets import Sequences, Vocabulary, resample
from discreet.errors import MisuseError
from discreet.exact import relations

NUMBERS: list[list[Any]] = [[30, 2], [], [2, 2, 700], [100_000, 30, 2, 30], [], [9]]
NAMES: list[list[Any]] = [["tea", "milk"], [], ["milk", "milk", "Éclair"], ["oat bar", "tea", "tea"], [], ["10"]]
DATA = {"numbers": NUMBERS, "names": NAMES}

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
    ".bz2": bz2.compress,
    ".zip": lambda data: zipped({"some baskets": data}),
}


def zipped(files: dict[str, bytes]) -> bytes:
    """Return an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def expected(rows: list[list[Any]]) -> discreet.Baskets:
    """Build the answer by hand."""
    labels = sorted({item for row in rows for item in row})
    sets = [sorted({labels.index(item) for item in row}) for row in rows]
    offsets = np.cumsum([0, *map(len, sets)])
    return discreet.Baskets(offsets, np.array(list(chain.from_iterable(sets)), np.int32), Vocabulary(labels))


def long_rows(rows: list[list[Any]]) -> list[tuple[int, Any]]:
    """One row an item, shuffled; a person with nothing has one row without an item."""
    flat = [(person, item) for person, row in enumerate(rows, 8) for item in (row or [None])]
    return [flat[i] for i in np.random.default_rng(3).permutation(len(flat))]


def fimi(rows: list[list[Any]]) -> str:
    return "".join(" ".join(str(item).replace(" ", "_") for item in row) + "\n" for row in rows)


def write_wide(rows: list[list[Any]], delimiter: str) -> str:
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


def long_text(rows: list[list[Any]], delimiter: str) -> str:
    lines = [("person", "item"), *long_rows(rows)]
    return "".join(delimiter.join("" if cell is None else str(cell) for cell in line) + "\n" for line in lines)


def records(rows: list[list[Any]]) -> str:
    return "".join(json.dumps({"person": person, "item": item}) + "\n" for person, item in long_rows(rows))


COLUMNS = {"person": "person", "item": "item"}
TEXTS: dict[str, tuple[str, Callable[[list[list[Any]]], str], dict[str, Any]]] = {
    "fimi": (".dat", fimi, {}),
    "text": (".txt", lambda rows: fimi(rows).replace("\n", "\r\n"), {}),
    "wide": (".csv", lambda rows: write_wide(rows, ","), {}),
    "wide, no last line end": (".csv", lambda rows: write_wide(rows, ", ").rstrip("\n"), {}),
    "wide, quoted": (".csv", lambda rows: write_wide([[f'"{item}"' for item in row] for row in rows], ","), {}),
    "wide tabs": (".tsv", lambda rows: write_wide(rows, "\t"), {}),
    "wide, byte order mark": (".csv", lambda rows: "\ufeff" + write_wide(rows, ","), {}),
    "wide semicolons": (".csv", lambda rows: write_wide(rows, ";"), {}),
    "wide, declared": (".csv", lambda rows: write_wide(rows, ","), {"format": "baskets"}),
    "long semicolons": (".csv", lambda rows: long_text(rows, ";"), COLUMNS),
    "long bars": (".csv", lambda rows: long_text(rows, "|"), COLUMNS | {"delimiter": "|"}),
    "long": (".csv", lambda rows: long_text(rows, ","), COLUMNS),
    "long tabs": (".tsv", lambda rows: long_text(rows, "\t"), COLUMNS),
    "long, line ends of Windows": (".csv", lambda rows: long_text(rows, ",").replace("\n", "\r\n"), COLUMNS),
    "lists": (".jsonl", lambda rows: "".join(json.dumps(row) + "\n" for row in rows), {}),
    "objects": (".ndjson", lambda rows: "".join(json.dumps({"items": row}) + "\n" for row in rows), {}),
    "records": (".json", records, COLUMNS),
    "one list of records": (".json", lambda rows: "[" + ",\n".join(records(rows).splitlines()) + "]", COLUMNS),
    "records with lists": (
        ".json",
        lambda rows: "".join(json.dumps({"person": i, "item": row}) + "\n" for i, row in enumerate(rows)),
        COLUMNS,
    ),
}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("text", TEXTS)
def test_text(tmp_path: Path, kind: str, compression: str, text: str) -> None:
    rows = DATA[kind]
    suffix, write, options = TEXTS[text]
    path = tmp_path / f"some[1] baskets{suffix}{compression}"
    path.write_bytes(COMPRESSIONS[compression](write(rows).encode()))
    if suffix in (".dat", ".txt"):
        rows = [[item.replace(" ", "_") if isinstance(item, str) else item for item in row] for row in rows]
    baskets = discreet.read(path, **options)
    assert baskets == expected(rows)
    assert baskets.merged == sum(len(row) - len(set(row)) for row in rows)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "windows-1252", "latin-1"])
@pytest.mark.parametrize("text", ["fimi", "wide", "long", "long tabs", "lists", "records"])
def test_encodings(tmp_path: Path, kind: str, encoding: str, text: str) -> None:
    rows = DATA[kind]
    suffix, write, options = TEXTS[text]
    path = tmp_path / f"baskets{suffix}"
    path.write_bytes(write(rows).encode(encoding))
    marked = encoding in ("utf-8-sig", "utf-16")
    if suffix == ".dat":
        rows = [[item.replace(" ", "_") if isinstance(item, str) else item for item in row] for row in rows]
    assert discreet.read(path, **options, **({} if marked else {"encoding": encoding})) == expected(rows)


def table(rows: list[list[Any]]) -> pa.Table:
    people, items = zip(*long_rows(rows), strict=True)
    return pa.table({"person": people, "item": items, "more": [1.5] * len(people)})


def list_table(rows: list[list[Any]]) -> pa.Table:
    return pa.table({"number": range(len(rows)), "items": rows})


def one_hot(rows: list[list[Any]]) -> pd.DataFrame:
    labels = sorted({item for row in rows for item in row}, reverse=True)
    return pd.DataFrame([[label in row for label in labels] for row in rows], columns=labels)


def matrix(rows: list[list[Any]]) -> Any:
    frame = one_hot(rows)
    return sparse.coo_matrix(frame.to_numpy().astype(float))


LONG_SOURCES: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda data: data,
    "batches": lambda data: data.to_reader(max_chunksize=2),
    "pandas": lambda data: data.to_pandas(),
    "pandas, categories": lambda data: data.to_pandas().astype({"item": "category"}),
    "pandas, index": lambda data: data.to_pandas().set_index("person"),
    "polars": pl.from_arrow,
    "polars, lazy": lambda data: pl.from_arrow(data).lazy(),
    "duckdb": lambda data: duckdb.from_arrow(data),
    "dataset": ds.dataset,
    "dictionary": lambda data: data.to_pydict(),
    "dictionary of arrays": lambda data: {name: data[name] for name in data.column_names},
    "records": lambda data: data.to_pylist(),
    "records, one by one": lambda data: iter(data.to_pylist()),
}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("form", LONG_SOURCES)
def test_long_frame(kind: str, form: str) -> None:
    assert discreet.read(LONG_SOURCES[form](table(DATA[kind])), **COLUMNS) == expected(DATA[kind])


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("form", ["pyarrow", "batches", "pandas", "polars", "duckdb"])
def test_frame_of_lists(kind: str, form: str) -> None:
    data = LONG_SOURCES[form](list_table(DATA[kind]))
    assert discreet.read(data) == expected(DATA[kind])
    data = LONG_SOURCES[form](list_table(DATA[kind]))
    assert discreet.read(data, person="number", item="items") == expected(DATA[kind])


@pytest.mark.parametrize("kind", DATA)
def test_memory(kind: str) -> None:
    rows = DATA[kind]
    answer = expected(rows)
    assert discreet.read(rows) == answer
    assert discreet.read(tuple(map(tuple, rows))) == answer
    assert discreet.read(map(set, rows)) == answer
    assert discreet.read(list(map(frozenset, rows))) == answer
    assert discreet.read(iter(row) for row in rows) == answer
    assert discreet.read(np.array(row) for row in rows if row) == expected([row for row in rows if row])
    assert discreet.read(pd.Series(rows)) == answer
    assert discreet.read(pl.Series(rows)) == answer
    assert discreet.read(answer) is answer
    assert discreet.read({f"person {place}": row for place, row in enumerate(rows)}) == answer


@pytest.mark.parametrize("kind", DATA)
def test_columns_as_items(kind: str) -> None:
    rows = DATA[kind]
    answer = expected(rows)
    frame = one_hot(rows)
    labels = list(frame.columns)
    assert discreet.read(frame, labels=labels) == answer
    assert discreet.read(frame.astype("int8"), format="onehot", labels=labels) == answer
    assert discreet.read(frame.set_index(pd.Index(list("abcdef"))), labels=labels) == answer
    assert discreet.read(frame) == answer
    assert discreet.read(matrix(rows), labels=labels) == answer
    assert discreet.read(matrix(rows).tocsc(), labels=labels) == answer
    assert discreet.read(sparse.csr_array(matrix(rows)), labels=labels) == answer
    assert discreet.read(frame.to_numpy(), labels=labels) == answer
    assert discreet.read(frame.to_numpy().astype(int), format="onehot", labels=labels) == answer
    assert discreet.read({str(name): list(frame[name]) for name in labels}, format="onehot", labels=labels) == answer


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "none"])
def test_parquet(tmp_path: Path, kind: str, compression: str) -> None:
    rows = DATA[kind]
    pq.write_table(table(rows), tmp_path / "long.parquet", compression=compression)
    pq.write_table(list_table(rows), tmp_path / "lists.parquet", compression=compression)
    assert discreet.read(tmp_path / "long.parquet", **COLUMNS) == expected(rows)
    assert discreet.read(tmp_path / "lists.parquet") == expected(rows)
    assert discreet.read(str(tmp_path / "lists.parquet"), item="items") == expected(rows)
    query = f"SELECT person, item FROM '{tmp_path}/long*.parquet'"
    assert discreet.read(query=query, **COLUMNS) == expected(rows)
    assert discreet.read(query=f"SELECT items FROM '{tmp_path}/lists.parquet' ORDER BY number") == expected(rows)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "lz4"])
@pytest.mark.parametrize("suffix", ["feather", "arrow"])
def test_feather(tmp_path: Path, kind: str, compression: str, suffix: str) -> None:
    rows = DATA[kind]
    long_path, lists = (tmp_path / f"{name}.{suffix}" for name in ("long", "lists"))
    for path, expected_baskets in ((long_path, table(rows)), (lists, list_table(rows))):
        feather.write_feather(expected_baskets, path, compression=compression, chunksize=2)
    assert discreet.read(long_path, **COLUMNS) == expected(rows)
    assert discreet.read(lists) == expected(rows)
    categories = pa.table({"person": table(rows)["person"], "item": table(rows)["item"].dictionary_encode()})
    with pa.OSFile(str(long_path), "wb") as file, pa.ipc.new_stream(file, categories.schema) as stream:
        stream.write_table(categories, max_chunksize=3)  # a stream that was kept in a file
    assert discreet.read(long_path, **COLUMNS) == expected(rows)


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".csv": lambda part, path: path.write_text(_csv(part, ";")),
    ".csv.bz2": lambda part, path: path.write_bytes(bz2.compress(_csv(part, ",").encode())),
    ".tsv": lambda part, path: path.write_text(_csv(part, "\t")),
    ".json": lambda part, path: path.write_text("".join(json.dumps(row) + "\n" for row in part.to_pylist())),
    ".pq": lambda part, path: pq.write_table(part, path),
    ".feather": lambda part, path: feather.write_feather(part, path),
    ".zip": lambda part, path: path.write_bytes(zipped({"part.csv": _csv(part, ",").encode()})),
}


def _csv(part: pa.Table, delimiter: str) -> str:
    rows = [part.column_names, *zip(*part.to_pydict().values(), strict=True)]
    return "".join(delimiter.join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("suffix", WRITERS)
def test_several_files(tmp_path: Path, kind: str, suffix: str) -> None:
    """A pattern, a folder, lists of files, and a tree of folders that are a column, with people across all of them."""
    rows = DATA[kind]
    whole_table = table(rows).drop_columns("more")
    folder, tree = tmp_path / "sales", tmp_path / "tree"
    for place in (folder / "2025", tree):
        place.mkdir(parents=True)
    (folder / "_SUCCESS").write_text("")
    (folder / ".notes.txt").write_text("hidden")
    paths = [folder / f"part-1{suffix}", folder / "2025" / f"part-2{suffix}", folder / f"part-3{suffix}"]
    for path, part in zip(paths, (whole_table[:4], whole_table[4:5], whole_table[5:]), strict=True):
        WRITERS[suffix](part, path)
    # How files are named hangs on no format: all ways are tried with one of them.
    ways = [str(folder), [str(path) for path in paths], tuple(paths), (path for path in paths)]
    ways += [[folder / "2025", f"{folder}/part-*{suffix}"]]
    for source in (folder, f"{folder}/**/*{suffix}", paths, *(ways if suffix == ".tsv" else ())):
        assert discreet.read(source, **COLUMNS) == expected(rows), source
    for number in set(whole_table["person"].to_pylist()):
        place = tree / "kind=a%20b" / f"person={number}"
        place.mkdir(parents=True)
        WRITERS[suffix](whole_table.filter(pc.field("person") == number).select(["item"]), place / f"all{suffix}")
    for source in (tree, *((f"{tree}/*/*/*{suffix}", f"{tree}/*") if suffix == ".tsv" else ())):
        assert discreet.read(source, **COLUMNS) == expected(rows), source
    segment_baskets = discreet.read(tree, **COLUMNS, by="kind")
    assert segment_baskets.segments is not None
    assert segment_baskets.segment_labels == ["a b"]


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("text", ["fimi", "wide, declared", "lists", "objects"])
def test_several_files_of_baskets(tmp_path: Path, kind: str, text: str) -> None:
    rows = DATA[kind]
    suffix, write, options = TEXTS[text]
    cuts = [rows[:3], rows[3:4], rows[4:]]
    for number, part in enumerate(cuts):
        (tmp_path / f"part-{number}{suffix}").write_text(write(part))
    if suffix == ".dat":
        rows = [[item.replace(" ", "_") if isinstance(item, str) else item for item in row] for row in rows]
    baskets = discreet.read(tmp_path, **options)
    assert baskets == expected(rows)
    assert baskets.merged == sum(len(row) - len(set(row)) for row in rows)
    assert discreet.read(sorted(tmp_path.iterdir()), **options) == expected(rows)


OPENED: dict[str, Callable[[Path], Any]] = {
    "bytes": lambda path: path.open("rb"),
    "without buffer": lambda path: path.open("rb", buffering=0),
    "text": lambda path: path.open(encoding="utf-8", newline=""),
    "in memory": lambda path: io.BytesIO(path.read_bytes()),
    "text in memory": lambda path: io.StringIO(path.read_text(), newline=""),
    "arrow": lambda path: pa.OSFile(str(path)),
    "packed": lambda path: io.BytesIO(bz2.compress(path.read_bytes())),
    "unpacking": lambda path: _pack_file(path),
}


def _pack_file(path: Path) -> Any:
    packed_path = path.with_suffix(f"{path.suffix}.gz")
    packed_path.write_bytes(gzip.compress(path.read_bytes()))
    return gzip.open(packed_path)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("form", OPENED)
@pytest.mark.parametrize("text", ["fimi", "long", "records"])
def test_file_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, form: str, text: str) -> None:
    rows = DATA[kind]
    suffix, write, options = TEXTS[text]
    path = tmp_path / f"given{suffix}"
    path.write_text(write(rows), newline="")
    if suffix == ".dat":
        rows = [[item.replace(" ", "_") if isinstance(item, str) else item for item in row] for row in rows]
    format_ = {".dat": "fimi", ".csv": "csv", ".json": "json"}[suffix]
    with OPENED[form](path) as source:
        assert discreet.read(source, **options, format=format_) == expected(rows)
    if form in ("bytes", "text", "unpacking"):  # these have a name
        with OPENED[form](path) as source:
            assert discreet.read(source, **options) == expected(rows)
    with path.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert discreet.read("-", **options, format=format_) == expected(rows)


@pytest.mark.parametrize("kind", DATA)
def test_databases(tmp_path: Path, kind: str) -> None:
    rows = DATA[kind]
    lines = long_rows(rows)
    type_ = "BIGINT" if kind == "numbers" else "TEXT"
    query = "SELECT who AS person, thing AS item FROM sales;"
    with sqlite3.connect(tmp_path / "some 100% #1.db") as light:
        light.execute(f"CREATE TABLE sales (who INTEGER, thing {type_})")
        light.executemany("INSERT INTO sales VALUES (?, ?)", lines)
    light.close()
    with duckdb.connect(tmp_path / "sales.duckdb") as duck:
        duck.execute(f"CREATE TABLE sales (who INTEGER, thing {type_})")
        duck.executemany("INSERT INTO sales VALUES (?, ?)", lines)
    for source in (
        tmp_path / "some 100% #1.db",
        f"sqlite:///{tmp_path}/some 100% #1.db",
        tmp_path / "sales.duckdb",
        f"duckdb:///{tmp_path}/sales.duckdb",
    ):
        assert discreet.read(source, query=query, **COLUMNS) == expected(rows), source


@pytest.mark.parametrize("kind", DATA)
def test_postgresql(postgresql: str, kind: str) -> None:
    import adbc_driver_postgresql.dbapi as driver

    rows = DATA[kind]
    type_ = "BIGINT" if kind == "numbers" else "TEXT"
    with driver.connect(postgresql) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {kind} (person INTEGER, item {type_})")
        cursor.executemany(f"INSERT INTO {kind} VALUES ($1, $2)", long_rows(rows))
        connection.commit()
    assert discreet.read(postgresql, query=f"SELECT * FROM {kind}", **COLUMNS) == expected(rows)


def test_order_is_kept_alike(tmp_path: Path) -> None:
    rows = NUMBERS
    answer = discreet.read(rows, ordered=True)
    assert answer.sequences is not None
    labels = answer.vocabulary.take(answer.sequences.codes).to_pylist()
    assert labels == list(chain.from_iterable(rows))
    assert answer.sequences.offsets.tolist() == np.cumsum([0, *map(len, rows)]).tolist()
    (tmp_path / "a.dat").write_text(fimi(rows))
    (tmp_path / "a.csv").write_text(write_wide(rows, ","))
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(list_table(rows), tmp_path / "a.parquet")
    with (tmp_path / "long.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["person", "item", "time"])
        events = [
            (p, item, f"2026-01-{t:02d}") for p, row in enumerate(rows) for t, item in enumerate(row or [None], 1)
        ]
        writer.writerows(events[i] for i in np.random.default_rng(5).permutation(len(events)))
    for name in ("a.dat", "a.csv", "a.jsonl", "a.parquet"):
        assert discreet.read(tmp_path / name, ordered=True) == answer, name
    assert discreet.read(tmp_path / "long.csv", **COLUMNS, time="time") == answer


def test_pairs_are_kept_alike(tmp_path: Path) -> None:
    pairs = [[["tea", "milk"], ["milk", "tea"], ["tea", "milk"]], [], [["milk", "rice"]]]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"pairs": row}) + "\n" for row in pairs))
    flat = [(person, *pair) for person, row in enumerate(pairs) for pair in (row or [[None, None]])]
    people, before, after = zip(*flat, strict=True)
    pair_table = pa.table({"person": people, "before": before, "after": after})
    lines = discreet.read(tmp_path / "a.jsonl")
    assert lines == discreet.read(pair_table, person="person", pair=("before", "after"))
    assert [sorted(basket) for basket in lines] == [["milk", "tea"], [], ["milk", "rice"]]
    assert lines.pairs is not None
    assert lines.pairs.offsets.tolist() == [0, 2, 2, 3]
    assert lines.vocabulary.take(lines.pairs.first).to_pylist() == ["milk", "tea", "milk"]
    assert lines.vocabulary.take(lines.pairs.second).to_pylist() == ["tea", "milk", "rice"]
    assert lines.merged == 1


def test_items_stand_beside_pairs(tmp_path: Path) -> None:
    """Someone may hold an item without a relation, or say nothing at all."""
    (tmp_path / "a.jsonl").write_text(
        '{"items": ["tea"], "pairs": [["rice", "milk"]]}\n{"items": ["rice"]}\n{"items": []}\n'
    )
    pair_table = pa.table(
        {
            "person": [0, 0, 1, 2],
            "item": ["tea", None, "rice", None],
            "before": [None, "rice", None, None],
            "after": [None, "milk", None, None],
        }
    )
    baskets = discreet.read(pair_table, person="person", item="item", pair=("before", "after"))
    assert baskets == discreet.read(tmp_path / "a.jsonl")
    assert [sorted(basket) for basket in baskets] == [["milk", "rice", "tea"], ["rice"], []]
    assert baskets.pairs is not None
    assert baskets.pairs.offsets.tolist() == [0, 1, 1, 1]
    lists = pa.table({"person": [0], "item": [["tea"]], "before": ["rice"], "after": ["milk"]})
    with pytest.raises(MisuseError) as refused:
        discreet.read(lists, person="person", item="item", pair=("before", "after"))
    assert str(refused.value) == "item='item' holds lists; beside pair= it is a column of single items."


def test_what_is_at_the_same_time_is_known() -> None:
    """Neither of two events at the same time comes after the other, whichever way they come in, are kept or drawn."""
    events = [(7, "tea", 1), (7, "milk", 1), (7, "bread", 2), (3, "tea", 1), (3, "milk", 2), (3, "rice", 2)]
    person, item, moment = zip(*events, strict=True)
    table = pa.table({"person": person, "item": item, "at": moment})
    baskets = discreet.read(table, person="person", item="item", time="at")
    assert baskets == discreet.read(table.take([5, 3, 1, 4, 2, 0]), person="person", item="item", time="at")
    assert baskets.sequences is not None
    assert baskets.sequences.moments is not None
    assert baskets.sequences.moments.tolist() == [1, 2, 2, 1, 1, 2]
    relations_found = relations(baskets, how="after", support=9, top=9)
    labels = baskets.vocabulary.label
    assert {
        (labels(a), labels(b))
        for a, b in zip(relations_found.antecedents.codes, relations_found.consequents.codes, strict=True)
    } == {
        ("tea", "milk"),
        ("tea", "rice"),
        ("milk", "bread"),
        ("tea", "bread"),
    }
    capped = discreet.read(baskets, max_items=2, seed=1)
    drawn_baskets = resample(capped, 4, seed=2)
    for person_baskets in (capped, drawn_baskets):
        assert person_baskets.sequences is not None
        assert person_baskets.sequences.moments is not None
        assert len(person_baskets.sequences.moments) == len(person_baskets.sequences.codes)
    separate_baskets = discreet.read(
        table.set_column(2, "at", pa.array(range(6))), person="person", item="item", time="at"
    )
    assert separate_baskets.sequences is not None
    assert separate_baskets.sequences.moments is None
    assert separate_baskets != baskets
    untimed, timed = (
        Sequences(np.array([0, 2]), np.array([1, 2], np.int32), moment) for moment in (None, np.array([4, 9]))
    )
    assert untimed == timed
