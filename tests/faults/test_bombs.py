"""Small files that unpack to large ones are stopped on the way, in memory and on disk, and honest ones are not."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.baskets import streams
from discreet.curator import public
from discreet.errors import InputError, LimitError, MisuseError


def _packed(path: Path, content: bytes, times: int) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content) * times)
    elif path.suffix == ".xz":
        path.write_bytes(lzma.compress(content) * times)
    else:
        with pa.output_stream(path, compression="zstd") as stream:
            for _ in range(times):
                stream.write(content)
    return path


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
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
    monkeypatch.setattr(streams, "_SMALL", 1 << 20)
    monkeypatch.setattr(streams, "_FOLDED", 100)
    # Members one after another count together: each alone is within what is allowed.
    bomb = _packed(tmp_path / f"{name}{suffix}", line * ((1 << 19) // len(line)), 16)
    with pytest.raises(LimitError, match="unpacks to over"):
        discreet.read(bomb, **options)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_honest_files(tmp_path: Path, suffix: str) -> None:
    path = _packed(tmp_path / f"a.dat{suffix}", b"1 2\n3\n" * 50_000, 2)
    assert len(discreet.read(path)) == 200_000


def test_a_bomb_as_it_comes(tmp_path: Path) -> None:
    bomb = _packed(tmp_path / "a.dat.zst", b"1\n" * (1 << 23), 10)
    assert bomb.stat().st_size < 1 << 17
    with pytest.raises(LimitError, match="unpack it yourself"):
        discreet.read(bomb)


def test_more_memory_than_there_is() -> None:
    for memory in ("999999999TB", "1e9GB", "9" * 400 + "KB"):
        with pytest.raises(MisuseError, match="memory is"):
            discreet.read([{"tea"}], memory=memory)
    assert len(discreet.read([{"tea"}], memory="512GiB")) == 1


def test_a_list_of_items_without_an_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(public, "_LARGEST", 1 << 20)
    (tmp_path / "items.txt").write_bytes(b"tea\n" * (1 << 20))
    with pytest.raises(InputError, match="over 1,048,576 bytes"):
        public.from_file(tmp_path / "items.txt", "items")
