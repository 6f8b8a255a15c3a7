"""Inputs that people have: what is told where they cannot be read, and what is read of them."""

from __future__ import annotations

import bz2
import csv
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import EmptyDataError, InputError, LimitError, MisuseError
from discreet.baskets import MemoryLimit, _databases as databases
from discreet.baskets._databases import open_address, workspace
from discreet.baskets._places import FileFormat
from discreet.baskets._typed_files import read_feather_size
from running import run

COLUMNS: dict[str, Any] = {"person": "customer", "item": "product"}
TABLE = "customer,product\n7,tea\n7,milk\n3,tea\n"
SETS = [["tea"], ["milk", "tea"]]


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def message(error: type[Exception], source: Any, **options: Any) -> str:
    with pytest.raises(error) as caught:
        discreet.read(source, **options)
    return str(caught.value)


def sets(baskets: discreet.Baskets) -> list[list[Any]]:
    return [sorted(basket) for basket in baskets]


def test_folders_that_say_too_little() -> None:
    Path("a").mkdir()
    assert message(InputError, "a") == "a is a folder without any file in it; give one with data, or a file."
    Path("a/_SUCCESS").write_text("")
    assert message(InputError, Path("a")) == "a is a folder without any file in it; give one with data, or a file."
    Path("a/one.csv").write_text(TABLE)
    assert sets(discreet.read("a", **COLUMNS)) == SETS
    Path("a/README.md").write_text("# Sales\n")
    assert message(MisuseError, "a", **COLUMNS) == (
        "a holds files whose suffix does not tell their format (README.md); name those to read, as in a/*.csv, or give "
        "format=."
    )
    assert sets(discreet.read("a/*.csv", **COLUMNS)) == SETS
    Path("a/README.md").unlink()
    Path("a/two.json").write_text('{"customer": 1, "product": "tea"}\n')
    kinds = "read as one table if all of them are CSV, or all TSV, JSON, Parquet, Feather or Excel."
    assert message(MisuseError, "a", **COLUMNS) == (
        f"a is a folder with files of the kinds csv, json; several files are {kinds}"
    )
    assert message(MisuseError, ["a/one.csv", "a/two.json"], **COLUMNS) == (
        f"The files given are of the kinds csv, json; several files are {kinds}"
    )
    Path("b").mkdir()
    Path("b/one.dat").write_text("1 2\n")
    Path("b/two.dat").write_text("tea\n")
    assert message(InputError, "b") == (
        'b: the items are a mixture of numbers and names; labels="names" reads all as names.'
    )
    assert discreet.read("b", labels="names").people == 2
    Path("b/one.dat").write_text("tea\n")
    Path("b/two.dat").write_text("10\n")
    assert sets(discreet.read("b")) == [["tea"], ["10"]]  # as in one file: the first line with items decides
    assert message(LimitError, "b", memory="0.01KB") == (
        'b/one.dat: what is read takes more memory than 0.01KB; give more, as in memory="8GB".'
    )


def test_lists_of_files() -> None:
    Path("a.csv").write_text(TABLE)
    assert message(InputError, ["a.csv", "b.csv"], **COLUMNS) == (
        "There is no file 'b.csv'. A list of texts names files; a basket is a set or a list of items, as in "
        'discreet.read([{"tea", "milk"}, {"bread"}]).'
    )
    assert message(InputError, [Path("a.csv"), Path("b.csv")], **COLUMNS) == "There is no file b.csv."
    assert message(MisuseError, ["a.csv", "./a.csv"], **COLUMNS) == (
        "a.csv is among the files twice; name each file once."
    )
    for odd in ("-", "", "s3://bucket/a.csv"):
        assert message(MisuseError, ["a.csv", odd], **COLUMNS) == (
            f"A list of files holds {odd!r}; it is of names of files, patterns and folders: read anything else by "
            "itself."
        )
    assert discreet.read([["a.csv"]]).people == 1  # a basket that holds a name


def test_folders_that_are_a_column() -> None:
    for customer, product in (("7", "tea"), ("007", "milk"), ("__HIVE_DEFAULT_PARTITION__", "rice")):
        place = Path("tree") / f"customer={customer}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"product": [product]}), place / "a.parquet")
    baskets = discreet.read("tree", **COLUMNS, nulls="drop")
    assert sets(baskets) == [["milk"], ["tea"]]  # text, as 007 is no number: two people
    assert message(InputError, "tree", **COLUMNS) == (
        "tree: 1 of 3 rows has no person (column 'customer'); nulls=\"drop\" leaves it out."
    )
    # The column of a file is what it says, whatever folder it lies in; and one file alone is read without its folders.
    pq.write_table(pa.table({"customer": ["9"], "product": ["tea"]}), "tree/customer=7/a.parquet")
    pq.write_table(pa.table({"customer": ["9"], "product": ["rice"]}), "tree/customer=007/a.parquet")
    assert sets(discreet.read("tree", **COLUMNS, nulls="drop")) == [["rice", "tea"]]
    assert message(InputError, "tree/customer=__HIVE_DEFAULT_PARTITION__/a.parquet", **COLUMNS).endswith(
        "a.parquet has no column 'customer' (person=); its columns are product."
    )
    Path("tree/b.parquet").write_bytes(Path("tree/customer=__HIVE_DEFAULT_PARTITION__/a.parquet").read_bytes())
    assert message(InputError, "tree", **COLUMNS) == (
        "tree/b.parquet has no column 'customer' (person=); its columns are product."
    )


def archive(files: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        for name, data in files.items():
            zipped.writestr(name, data)
    return archive.getvalue()


def test_archives() -> None:
    Path("a.zip").write_bytes(archive({"__MACOSX/._a.csv": b"x", "in/": b"", "in/a.csv": TABLE.encode()}))
    assert sets(discreet.read("a.zip", **COLUMNS)) == SETS
    several_files_message = "files; an archive is read if it holds one. Unpack it, and give the folder."
    Path("a.zip").write_bytes(archive({"a.csv": b"", "b.csv": b""}))
    assert message(InputError, "a.zip", **COLUMNS) == f"a.zip holds 2 {several_files_message}"
    Path("a.csv.zip").write_bytes(archive({}))
    assert message(InputError, "a.csv.zip", **COLUMNS) == f"a.csv.zip holds 0 {several_files_message}"
    locked = bytearray(archive({"a.csv": TABLE.encode()}))
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    Path("a.zip").write_bytes(locked)
    assert message(InputError, "a.zip", **COLUMNS) == "a.zip is locked by a password; unpack it first."
    damaged = "is damaged or cut short: its zip data cannot be unpacked; get the file again."
    Path("a.zip").write_bytes(archive({"a.csv": TABLE.encode()})[:-30])
    assert message(InputError, "a.zip", **COLUMNS) == f"a.zip {damaged}"
    flipped = bytearray(archive({"a.dat": b"1 2\n"}))
    flipped[flipped.index(b"1 2\n")] = ord("3")
    Path("a.dat.zip").write_bytes(flipped)
    assert message(InputError, "a.dat.zip") == f"a.dat.zip {damaged}"
    Path("a.zip").write_bytes(archive({"a.md": b"x"}))
    assert message(MisuseError, "a.zip").startswith("The suffix of a.zip does not tell its format; give format=")


@pytest.mark.parametrize("trailing_bytes", [b"junk", b"\0" * 10, bz2.compress(b"3 4\n" * 99)[:-5]])
def test_what_follows_a_bzip2_stream(trailing_bytes: bytes) -> None:
    Path("a.dat.bz2").write_bytes(bz2.compress(b"1 2\n") + bz2.compress(b"3\n"))
    assert sets(discreet.read("a.dat.bz2")) == [[1, 2], [3]]
    Path("a.dat.bz2").write_bytes(bz2.compress(b"1 2\n") + trailing_bytes)
    assert message(InputError, "a.dat.bz2") == (
        "a.dat.bz2 is damaged or cut short: its bzip2 data cannot be unpacked; get the file again."
    )


def test_feather_that_is_none_or_too_much() -> None:
    damaged = "is damaged or cut short, or no Feather file: get the file again."
    for content in (b"ARROW1\0\0", b"tea and milk", b"ARROW1\0\0" + b"\xff" * 99):
        Path("a.feather").write_bytes(content)
        assert message(InputError, "a.feather", **COLUMNS) == f"a.feather {damaged}"
    Path("a.feather").write_bytes(b"FEA1" + bytes(99))
    assert message(InputError, "a.feather", **COLUMNS) == (
        "a.feather is a Feather file of version 1; write it again, with any newer library."
    )
    assert message(MisuseError, "a.feather", **COLUMNS, delimiter=";").startswith("a.feather is not text, so delimiter")
    # Zeros take next to nothing: what they unpack to is known before.
    large_table = pa.table({"customer": np.zeros(4_000_000, np.int64), "product": np.zeros(4_000_000, np.int64)})
    feather.write_feather(large_table, "b.feather", compression="zstd", chunksize=4_000_000)
    size = Path("b.feather").stat().st_size
    assert 64_000_000 < read_feather_size(Path("b.feather")) < 100_000_000
    assert message(LimitError, "b.feather", **COLUMNS, memory="1MB") == (
        f"b.feather has {size:,} bytes and unpacks to over {1000 * size:,}, which data hardly do; if it is what "
        'you expect, give more memory, as in memory="64GB".'
    )
    # A file may say more than it holds: Arrow would make room for it first.
    feather.write_feather(large_table[:1000], "c.feather", compression="zstd")
    data = bytearray(Path("c.feather").read_bytes())
    place = data.index(struct.pack("<q", 8000))
    data[place : place + 8] = struct.pack("<q", 1 << 60)
    Path("c.feather").write_bytes(data)
    assert message(LimitError, "c.feather", **COLUMNS).startswith("c.feather has ")


class Odd:
    """Reads as nothing that a file holds."""

    def read(self, size: int) -> Any:
        return size


def test_file_objects_that_say_too_little() -> None:
    formats = "fimi, csv, tsv, baskets, json, parquet, feather, excel."
    no_suffix = f"has no suffix that tells its format: say it by format=, as one of {formats}"
    assert message(MisuseError, io.BytesIO(b"1 2\n")) == f"The file object {no_suffix}"
    assert message(MisuseError, Odd(), format="csv") == (
        "The file object gives int when it is read, neither bytes nor text."
    )
    assert message(InputError, io.BytesIO(TABLE.encode()), person="who", item="product", format="csv") == (
        "The file object has no column 'who' (person=); its columns are customer, product."
    )
    assert message(MisuseError, io.StringIO(TABLE), **COLUMNS, format="csv", encoding="latin-1") == (
        'The file object is text that was decoded already, so encoding="iso8859-1" means nothing here; leave it out.'
    )
    with pytest.raises(EmptyDataError, match="The file object is empty; a file of one empty basket has one blank line"):
        discreet.read(io.BytesIO(), format="fimi")
    Path("a.csv").write_bytes(TABLE.encode() + b"9,caf\xe9\n")
    with Path("a.csv").open(encoding="utf-8") as file:
        assert message(InputError, file, **COLUMNS) == "a.csv cannot be read: its text cannot be decoded."
    with Path("a.csv").open("rb") as file:
        assert sorted(discreet.read(file, **COLUMNS, encoding="latin-1").vocabulary) == ["café", "milk", "tea"]
    assert message(InputError, file, **COLUMNS) == "a.csv cannot be read: read of closed file."
    with Path("a.csv").open() as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", file)
        assert message(MisuseError, "-") == f"Standard input {no_suffix}"
        patch.setattr("sys.stdin", None)
        assert message(InputError, "-", format="csv") == (
            "The source is -, standard input, but nothing is piped into it: give a file, or `cat sales.csv | discreet "
            "…`."
        )


def test_dictionaries() -> None:
    assert sets(discreet.read({"anna": {"tea"}, "bob": ["milk", "tea"]})) == SETS
    columns = {"customer": ["anna", "bob"], "product": ["tea", "milk"]}
    assert message(MisuseError, columns) == (
        "The dictionary looks like a table: all its lists are of one length. Say which of them is the person and which "
        'the item, as in person="customer" and item="product"; or give sets, if each is a basket.'
    )
    assert sets(discreet.read(columns, **COLUMNS)) == [["tea"], ["milk"]]
    assert message(InputError, columns, person="who", item="product") == (
        "The table has no column 'who' (person=); its columns are customer, product."
    )
    assert message(InputError, {"customer": [1, "a"], "product": [1, 2]}, **COLUMNS) == (
        "The table: column 'customer' holds values of several types, or of one that Arrow does not know; convert it."
    )
    assert message(InputError, {"customer": [1], "product": [1, 2]}, **COLUMNS) == (
        "The table: its columns have different lengths (customer: 1, product: 2)."
    )
    records = [
        {"customer": 7, "product": "tea"},
        {"customer": 3},
        {"customer": 7, "product": "milk", "price": object()},
    ]
    assert sets(discreet.read(records, **COLUMNS)) == [[], ["milk", "tea"]]
    assert message(InputError, records, person="who", item="product") == (
        "The table has no column 'who' (person=); its columns are product, customer, price."
    )
    assert message(InputError, [*records, 5], **COLUMNS) == (
        "Record 3 is int, and not a dictionary; all of them name their columns."
    )
    assert sets(discreet.read(csv.DictReader(io.StringIO(TABLE)), **COLUMNS)) == SETS
    assert message(InputError, records).startswith("Basket 0 is a dict; a basket is a set or a list of items")


def test_arrays_of_zeros_and_ones() -> None:
    array = np.array([[0, 1, 1], [1, 0, 0]])
    assert message(MisuseError, array) == (
        'The array has 0 and 1 alone: say format="onehot", if each column is an item, or give lists of items.'
    )
    assert sets(discreet.read(array, format="onehot")) == [[1, 2], [0]]
    assert sets(discreet.read(array + 1)) == [[1, 2], [1, 2]]
    assert message(InputError, array * 2, format="onehot") == (
        "The array has values other than 0 and 1; it is not one-hot."
    )


@pytest.mark.parametrize(
    ("address", "extension"),
    [
        ("https://me:secret@example.com/sales.parquet?X-Signature=hidden", "httpfs"),
        ("s3://bucket/sales/*.parquet", "httpfs"),
        ("gs://bucket/sales.csv", "httpfs"),
        ("abfss://container@account.example/sales.json", "azure"),
    ],
)
def test_files_elsewhere_need_an_extension(address: str, extension: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd()))  # where DuckDB keeps extensions
    complaint = message(MisuseError, address, **COLUMNS)
    assert complaint.endswith(
        f" needs DuckDB's extension {extension}, which is not installed: run `python -c \"import duckdb; "
        f"duckdb.sql('INSTALL {extension}')\"` once, or download the file first."
    )
    assert "secret" not in complaint
    assert "hidden" not in complaint


def answer_404(place: str) -> Any:
    """What DuckDB says, as it says it, of an address that has nothing: with all of it."""
    import duckdb

    raise duckdb.HTTPException(f"HTTP Error: Unable to connect to URL {place!r}: 404 (Not Found).")


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
@pytest.mark.parametrize("options", ["X-Amz-Signature=SECRET", "sig=SECRET", "token=SECRET"])
def test_signatures_are_not_told(form: str, options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extension is not here, so its answer is made up; the way of the message is the real one."""
    address = f"https://me:pw@example.com/s.{form}?{options}"
    monkeypatch.setattr(databases, "_load_extension", lambda *_: None)
    monkeypatch.setattr(databases.Workspace, "do", lambda self, task: answer_404(address))
    assert message(InputError, address, **COLUMNS) == (
        f"https://example.com/s.{form}: HTTP Error: Unable to connect to URL 'https://example.com/s.{form}': 404 (Not "
        "Found)."
    )


@pytest.mark.parametrize("option", ["", "--hierarchy", "-o"])
def test_signatures_are_not_told_on_the_command_line(option: str, tmp_path: Path) -> None:
    address = "http://me:pw@127.0.0.1:9/s.csv?sig=SECRET"
    (tmp_path / "s.csv").write_text("c,p\n1,tea\n")
    source_options = [option, address] if option else [address]
    completed = run(
        "mine", str(tmp_path / "s.csv"), *source_options, "--person", "c", "--item", "p", "--top", "2", "-v"
    )
    assert completed.returncode
    for secret in ("SECRET", "pw", "me:"):
        assert secret not in completed.stderr


def test_what_is_not_read_from_elsewhere() -> None:
    assert message(MisuseError, "https://example.com/sales.csv.gz?key=hidden", **COLUMNS) == (
        "https://example.com/sales.csv.gz is packed; download it first, and give the file."
    )
    for name in ("sales.dat", "sales"):
        assert message(MisuseError, f"s3://bucket/{name}", **COLUMNS) == (
            f"s3://bucket/{name} cannot be read from where it is: that is for tables in Parquet, CSV, TSV and JSON (by "
            "suffix, or by format=). Download it first, and give the file."
        )
    assert message(MisuseError, "s3://bucket/sales.csv", **COLUMNS, encoding="latin-1").startswith(
        "A file elsewhere is a table in UTF-8, so encoding="
    )


@pytest.mark.parametrize("form", ["csv", "tsv", "semicolons", "json", "parquet"])
def test_what_duckdb_reads_elsewhere_is_read_as_here(form: str, tmp_path: Path) -> None:
    """An address of this machine takes the same way, but for the extension."""
    rows = [{"customer": 7, "product": "tea"}, {"customer": 7, "product": "milk"}, {"customer": 3, "product": "tea"}]
    path = tmp_path / "sales.x"
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif form == "json":
        path.write_text("".join(map(json.dumps, rows)))
    else:
        path.write_text(TABLE.replace(",", {"csv": ",", "tsv": "\t", "semicolons": ";"}[form]))
    address = f"file://{path}"
    with workspace(MemoryLimit.parse("1GB")) as work:
        kind = FileFormat("csv" if form == "semicolons" else form, None, ".x")
        table = open_address(work, address, kind, ["customer", "product"], None)
        assert table.name == address
        assert [column.name for column in table.columns] == ["customer", "product"]
        assert work.row("x", f"SELECT count(*) FROM {table.sql}") == (3,)
        if form == "parquet":
            work.memory_limit = MemoryLimit.parse("0.01KB")
            with pytest.raises(LimitError, match=r"sales\.x has a column of over 10 bytes when it is unpacked"):
                open_address(work, address, kind, ["customer", "product"], None)
    assert sets(discreet.read(address, **COLUMNS, format=kind.format)) == SETS
