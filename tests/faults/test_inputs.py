"""Files that are almost right, in every format and compression: refused in our words, or read as sound baskets."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import zstandard

import discreet
from discreet.errors import DiscreetError
from faults.mutating import mutants

ROWS = [["tea", "milk"], [], ["milk", "Éclair"], ["oat", "tea"], ["10"]] * 3
PAIRS = [(person, item) for person, row in enumerate(ROWS) for item in (row or [None])]
TABLE = {"person": "person", "item": "item"}
QUERY = {**TABLE, "query": "SELECT person, item FROM sales"}

LONGEST = 1500  # letters of a message: it does not show the file

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def _fimi() -> bytes:
    return "".join(" ".join(row) + "\n" for row in ROWS).encode()


def _table(delimiter: str) -> bytes:
    lines = [("person", "item"), *PAIRS]
    return "".join(delimiter.join("" if cell is None else str(cell) for cell in line) + "\n" for line in lines).encode()


def _make_wide_text() -> bytes:
    return "".join(",".join(row) + "\n" for row in ROWS).encode()


def _lists() -> bytes:
    return "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def _records() -> bytes:
    return "".join(json.dumps({"person": person, "item": item}) + "\n" for person, item in PAIRS).encode()


def _parquet(compression: str) -> Callable[[], bytes]:
    def make_parquet() -> bytes:
        people, items = zip(*PAIRS, strict=True)
        stream = io.BytesIO()
        pq.write_table(pa.table({"person": people, "item": items}), stream, compression=compression)
        return stream.getvalue()

    return make_parquet


def _feather(compression: str) -> bytes:
    people, items = zip(*PAIRS, strict=True)
    stream = io.BytesIO()
    table = pa.table({"person": people, "item": pa.array(items).dictionary_encode()})
    feather.write_feather(table, stream, compression=compression, chunksize=3)
    return stream.getvalue()


def _nested() -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"items": ROWS}), stream)
    return stream.getvalue()


def _database(connect: Callable[[str], Any]) -> Callable[[Path], bytes]:
    def make_database(folder: Path) -> bytes:
        path = folder / "made"
        connection = connect(str(path))
        connection.execute("CREATE TABLE sales (person INTEGER, item VARCHAR)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", PAIRS)
        connection.commit()
        connection.close()
        data = path.read_bytes()
        path.unlink()
        return data

    return make_database


def _excel() -> bytes:
    """Return the least workbook that is one: a zip archive of a few XML files."""
    cells = "".join(
        f'<row r="{row_number}"><c r="A{row_number}" t="inlineStr"><is><t>{person}</t></is></c>'
        f'<c r="B{row_number}" t="inlineStr"><is><t>{item or ""}</t></is></c></row>'
        for row_number, (person, item) in enumerate([("person", "item"), *PAIRS], start=1)
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="sales" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return stream.getvalue()


TEXTS: dict[str, tuple[str, Callable[[], bytes], dict[str, Any]]] = {
    "fimi": (".dat", _fimi, {}),
    "one basket per line": (".csv", _make_wide_text, {"format": "baskets"}),
    "csv": (".csv", lambda: _table(","), TABLE),
    "tsv": (".tsv", lambda: _table("\t"), TABLE),
    "json lists": (".jsonl", _lists, {}),
    "json records": (".json", _records, TABLE),
}
OTHER_FORMS: dict[str, tuple[str, Callable[[Path], bytes], dict[str, Any]]] = {
    "parquet": (".parquet", lambda _: _parquet("none")(), TABLE),
    "parquet, snappy": (".parquet", lambda _: _parquet("snappy")(), TABLE),
    "parquet, zstd": (".parquet", lambda _: _parquet("zstd")(), TABLE),
    "feather": (".feather", lambda _: _feather("uncompressed"), TABLE),
    "feather, zstd": (".feather", lambda _: _feather("zstd"), TABLE),
    "feather, lz4": (".feather", lambda _: _feather("lz4"), TABLE),
    "parquet of lists": (".parquet", lambda _: _nested(), {"item": "items"}),
    "sqlite": (".sqlite", _database(sqlite3.connect), QUERY),
    "duckdb": (".duckdb", _database(duckdb.connect), QUERY),
    "excel": (".xlsx", lambda _: _excel(), TABLE),
}


def sound(baskets: discreet.Baskets) -> None:
    """Check the facts about baskets that every kernel relies on."""
    offsets, codes = np.asarray(baskets.offsets), np.asarray(baskets.codes)
    assert offsets[0] == 0
    assert offsets[-1] == len(codes)
    assert (np.diff(offsets) >= 0).all()
    assert len(codes) == 0 or (codes.min() >= 0 and codes.max() < baskets.items)
    assert len(set(baskets.vocabulary)) == baskets.items == len(baskets.vocabulary)
    for position in range(len(baskets)):
        assert (np.diff(codes[offsets[position] : offsets[position + 1]]) > 0).all()


def outcome(path: Path, options: dict[str, Any]) -> str:
    """Read a file; return the outcome."""
    try:
        baskets = discreet.read(path, **options)
    except DiscreetError as error:
        if len(str(error)) > LONGEST:
            raise RuntimeError(f"a message of {len(str(error))} letters") from error
        return type(error).__name__
    sound(baskets)
    return "read"


def read_mutants(path: Path, forms: list[bytes], options: dict[str, Any]) -> tuple[Counter[str], list[str]]:
    """Return the number of mutants by outcome, and the messages of outcomes that are not allowed."""
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    for number, data in enumerate(forms):
        path.write_bytes(data)
        try:
            outcomes[outcome(path, options)] += 1
        except Exception as error:
            wrong.append(f"{number}: {error!r:.300}")
    return outcomes, wrong


SHORT_RUN, LONG_RUN = 2, 150


SOAK = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(params=[SHORT_RUN, pytest.param(LONG_RUN, marks=SOAK)])
def mutant_count(request) -> int:
    number: int = request.param
    return number


@pytest.mark.parametrize("name", TEXTS)
def test_text(tmp_path, name, mutant_count):
    suffix, make, options = TEXTS[name]
    sound_bytes = make()
    assert outcome(_write_file(tmp_path / f"good{suffix}", sound_bytes), options) == "read"
    forms = list(mutants(sound_bytes, crc32(name.encode()), mutant_count))
    outcomes, wrong = read_mutants(tmp_path / f"baskets{suffix}", forms, options)
    assert wrong == []
    print(f"{name}: {dict(outcomes)}")


# What is unpacked in passing, and what is unpacked into a file first, are enough for every day.
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize(
    ("name", "mutant_count"),
    [("fimi", SHORT_RUN), ("csv", SHORT_RUN), *[pytest.param(name, LONG_RUN, marks=SOAK) for name in TEXTS]],
)
def test_compressed(tmp_path, name, compression, mutant_count):
    """What was changed before it was packed, and what was changed after."""
    suffix, make, options = TEXTS[name]
    pack, sound_bytes, seed = COMPRESSIONS[compression], make(), crc32(f"{name}{compression}".encode())
    assert outcome(_write_file(tmp_path / f"good{suffix}{compression}", pack(sound_bytes)), options) == "read"
    packed_count = max(mutant_count // 6, 1)
    forms = [pack(form) for form in mutants(sound_bytes, seed, packed_count)] + list(
        mutants(pack(sound_bytes), seed, packed_count)
    )
    outcomes, wrong = read_mutants(tmp_path / f"baskets{suffix}{compression}", forms, options)
    assert wrong == []
    print(f"{name}{compression}: {dict(outcomes)}")


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_others(tmp_path, name, mutant_count):
    suffix, make, options = OTHER_FORMS[name]
    sound_bytes = make(tmp_path)
    assert outcome(_write_file(tmp_path / f"good{suffix}", sound_bytes), options) == "read"
    outcomes, wrong = read_mutants(
        tmp_path / f"baskets{suffix}", list(mutants(sound_bytes, crc32(name.encode()), mutant_count)), options
    )
    assert wrong == []
    print(f"{name}: {dict(outcomes)}")


def _write_file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_message_does_not_show_the_whole_header(tmp_path):
    long_path = _write_file(tmp_path / "long.csv", f"{'A' * 5000},item\n1,tea\n".encode())
    many_path = _write_file(
        tmp_path / "many.csv", (",".join(f"column{number}" for number in range(1000)) + "\n").encode()
    )
    for path in (long_path, many_path):
        assert outcome(path, TABLE) == "InputError"
    with pytest.raises(DiscreetError, match=r"column39 and 960 more"):
        discreet.read(many_path, **TABLE)
