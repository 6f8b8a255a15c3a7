"""Small files that unpack to large ones are stopped on the way, in memory and on disk, and honest ones are not."""

# internals: this module lowers the limits of readers.
from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.baskets import (
    MemoryLimit,
    ReadOptions,
    _list_files as list_files,
    _recoding as recoding,
    _streams as streams,
)
from discreet.errors import InputError, LimitError, MisuseError


def _pack_repeated(path: Path, content: bytes, times: int) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content) * times)
    elif path.suffix == ".bz2":
        path.write_bytes(bz2.compress(content) * times)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive, archive.open("a", "w") as member:
            for _ in range(times):
                member.write(content)
    elif path.suffix == ".xz":
        path.write_bytes(lzma.compress(content) * times)
    else:
        with pa.output_stream(path, compression="zstd") as stream:
            for _ in range(times):
                stream.write(content)
    return path


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst", ".zip"])
@pytest.mark.parametrize(
    ("name", "line", "options"),
    [
        ("a.dat", b"1 2\n", {}),
        ("a.jsonl", b"[1, 2]\n", {}),
        ("a.csv", b"who,what\n", {"person": "who", "item": "what"}),
    ],
)
def test_bombs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, name: str, line: bytes, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(streams, "_PART", 2_000)
    monkeypatch.setattr(streams, "MAX_EXPANSION", 100)
    # Members one after another count together: each alone is within what is allowed.
    bomb = _pack_repeated(tmp_path / f"{name}{suffix}", line * ((1 << 19) // len(line)), 16)
    with pytest.raises(LimitError, match="unpacks to over"):
        discreet.read(bomb, **options)
    if name == "a.dat":  # whoever trusts the file may say so
        assert len(discreet.read(bomb, memory="40GB")) == 16 * ((1 << 19) // len(line))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst", ".zip"])
def test_honest_files(tmp_path: Path, suffix: str) -> None:
    path = _pack_repeated(tmp_path / f"a.dat{suffix}", b"1 2\n3\n" * 50_000, 2)
    assert len(discreet.read(path)) == 200_000


def test_a_bomb_as_it_comes(tmp_path: Path) -> None:
    bomb = _pack_repeated(tmp_path / "a.dat.zst", b"1\n" * (1 << 23), 10)
    assert bomb.stat().st_size < 1 << 17
    with pytest.raises(LimitError, match=r'unpacks to over 125,000,000, .* as in memory="64GB": one part in 16 of it'):
        discreet.read(bomb)


def _make_wide_file(form: str) -> bytes:
    """Pack one line, and say that unpacking it takes gigabytes."""
    line = b"1 2\n"
    if form == "zst":  # a frame with a window of 2^31 bytes, and one block as it is
        return b"\x28\xb5\x2f\xfd\x00" + bytes([(31 - 10) << 3]) + (1 | len(line) << 3).to_bytes(3, "little") + line
    compressed = bytearray(lzma.compress(line))
    compressed[16] = 40  # the largest dictionary, 4 GiB
    compressed[20:24] = crc32(compressed[12:20]).to_bytes(4, "little")
    return bytes(compressed)


@pytest.mark.parametrize("form", ["zst", "xz"])
def test_a_window_of_gigabytes(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"a.dat.{form}"
    path.write_bytes(_make_wide_file(form))
    with pytest.raises(LimitError, match="takes more memory to unpack than is given for it"):
        discreet.read(path)


SOURCES: dict[str, tuple[bytes, dict[str, Any]]] = {
    "a.dat": (b"1 2\n", {}),
    "names.dat": (b"tea milk\n", {}),
    "a.csv": (b"tea,milk\nbread\n", {}),
    "a.jsonl": (b"[1, 2]\n", {}),
    "blank.dat": (b"\n", {}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_text_keeps_to_its_memory(tmp_path: Path, name: str) -> None:
    line, options = SOURCES[name]
    path = tmp_path / name
    path.write_bytes(line * 100_000)
    with pytest.raises(LimitError) as refused:
        discreet.read(path, memory="1MB", **options)
    assert str(refused.value) == (f'{path}: what is read takes more memory than 1MB; give more, as in memory="8GB".')
    assert len(discreet.read(path, memory="8MB", **options)) >= 100_000


def test_names_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_bytes(b"".join(b"%060d\n" % number for number in range(10_000)))
    with pytest.raises(LimitError, match="more memory than 1MB"):
        discreet.read(path, memory="1MB", labels="names")


@pytest.mark.parametrize(("name", "first_line"), [("a.dat", b"tea\n"), ("a.csv", b"tea,milk\n"), ("a.jsonl", b"[1]\n")])
def test_a_line_too_long_for_its_memory(tmp_path: Path, name: str, first_line: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(first_line + b"[" * (1 << 20))
    with pytest.raises(LimitError, match=r"has a line of over [\d,]+ bytes, too long to be read with 1MB of memory"):
        discreet.read(path, memory="1MB")


def test_everything_read_keeps_to_its_memory() -> None:
    lists = [[1, 2]] * 100_000
    for source in (lists, (basket for basket in lists), pa.table({"tea": [True] * 100_000})):
        with pytest.raises(LimitError, match="what is read takes more memory than 1MB"):
            discreet.read(source, memory="1MB")
    # DuckDB needs more than that by itself, so here it gets more.
    memory_limit = MemoryLimit("1GB", 1_000_000)
    number = np.arange(200_000)
    table = pa.table({"items": pa.ListArray.from_arrays(np.arange(0, len(number) + 1, 2), number % 7)})
    for source, options in (
        (pa.table({"who": number, "what": number % 7}), {"person": "who", "item": "what"}),
        (table, {}),
    ):
        with pytest.raises(LimitError, match="what is read takes more memory than"):
            ReadOptions(memory_limit=memory_limit, **options).read_rows(source)


def test_parquet_that_unpacks_to_much_more(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    items = pa.ListArray.from_arrays([0, 5_000_000], np.ones(5_000_000, np.int64))
    pq.write_table(pa.table({"items": items}), path, compression="zstd")
    with pytest.raises(LimitError, match=r"has [\d,]+ bytes and unpacks to over 20,000,000.*memory=\"64GB\""):
        discreet.read(path, memory="20MB")
    assert len(discreet.read(path, memory="1GB")) == 1


def _workbook(path: Path, sheet: str) -> Path:
    """Write a workbook of one sheet, given as the inside of its XML."""
    namespace = "http://schemas.openxmlformats.org"
    related = f"{namespace}/officeDocument/2006/relationships"

    def relations(kind: str, target: str) -> str:
        relation = f'<Relationship Id="rId1" Type="{related}/{kind}" Target="{target}"/>'
        return f'<Relationships xmlns="{namespace}/package/2006/relationships">{relation}</Relationships>'

    main = f'xmlns="{namespace}/spreadsheetml/2006/main" xmlns:r="{related}"'
    with ZipFile(path, "w", ZIP_DEFLATED) as folder:
        folder.writestr("_rels/.rels", relations("officeDocument", "xl/workbook.xml"))
        folder.writestr(
            "xl/workbook.xml",
            f'<workbook {main}><sheets><sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>',
        )
        folder.writestr("xl/_rels/workbook.xml.rels", relations("worksheet", "worksheets/sheet1.xml"))
        folder.writestr("xl/worksheets/sheet1.xml", f"<worksheet {main}><sheetData>{sheet}</sheetData></worksheet>")
    return path


def test_a_workbook_with_two_corners(tmp_path: Path) -> None:
    """A thousand bytes for which calamine would ask for 512 GB, and end the process."""
    pytest.importorskip("python_calamine")

    def cell(place: str, text: str) -> str:
        return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'

    columns = {"person": "who", "item": "what"}
    near_corner = f'<row r="1">{cell("A1", "who")}{cell("B1", "what")}</row><row r="2">{cell("A2", "ann")}</row>'
    assert len(discreet.read(_workbook(tmp_path / "near.xlsx", near_corner), **columns)) == 1
    for number, far_corner in enumerate(
        (
            f'<row r="1048576">{cell("XFD1048576", "x")}</row>',
            f"<row r=\"1048576\"><c {' ' * 3_000_000} r='XFD1048576'><v>1</v></c></row>",
            f'<row r="1048576">{"<c><v>1</v></c>" * 16_384}</row>',
        )
    ):
        path = _workbook(tmp_path / f"far{number}.xlsx", near_corner + far_corner)
        with pytest.raises(LimitError, match="what is read takes more memory than 2GB"):
            discreet.read(path, **columns)
    with pytest.raises(LimitError, match="what is read takes more memory than 1MB"):
        discreet.read(_workbook(tmp_path / "wide.xlsx", near_corner + " " * 2_000_000), **columns, memory="1MB")


def test_more_memory_than_there_is() -> None:
    for memory in ("999999999TB", "1e9GB", "9" * 400 + "KB"):
        with pytest.raises(MisuseError, match="memory is"):
            discreet.read([{"tea"}], memory=memory)
    assert len(discreet.read([{"tea"}], memory="512GiB")) == 1


def test_a_list_of_items_without_an_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(list_files, "MAX_LIST_BYTES", 1 << 20)
    (tmp_path / "items.txt").write_bytes(b"tea\n" * (1 << 20))
    with pytest.raises(InputError, match="over 1,048,576 bytes"):
        recoding.read_listed_items(tmp_path / "items.txt", "items")
