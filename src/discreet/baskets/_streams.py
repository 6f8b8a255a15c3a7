"""Files as bytes: opened, decompressed and cut at line ends, with errors that name the file.

Text is read in blocks, so that a file of any size needs a few megabytes of memory. Libraries that open files themselves
get a decompressed copy in a temporary folder, so that damaged archives raise equal errors for all formats.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from ..errors import EmptyDataError, InputError, LimitError, MisuseError
from ..heavy import pa
from ._redaction import public_path

Progress: TypeAlias = Callable[[float], object] | None

COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zip": "zip"}
COMPRESSION_SUFFIXES = ".gz, .bz2, .xz, .zst or .zip"  # for messages
_BLOCK = 1 << 24  # bytes; larger: more memory, smaller: more calls of the parser per file
_CHUNK = 1 << 16  # bytes
_LONGEST_LINE = 1 << 30  # bytes; no basket has a line of a gigabyte
# A packed file may unpack to 1 / _PART of the limit of memory, or to MAX_EXPANSION times its size. Real data unpack to
# 3 to 50 times their size.
_PART, MAX_EXPANSION = 16, 1_000
_WINDOW = 1 << 30  # bytes of memory of the decompressor; Zstandard has its own limit, 128 MiB
_WINDOW_PROBLEM = re.compile(r"[Mm]emory usage limit|too much memory")  # messages of lzma and zstd about this limit
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_8 = "utf-8"


def check_file(path: Path) -> None:
    """Check that a path is a regular file that can be read, and not empty.

    Readers open a file several times, so a pipe would lose data.
    """
    public = public_path(path)
    shown_path = public if len(public) <= 200 else f"{public[:200]}…"
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            with path.open("rb") as file:
                if file.read(len(_BYTE_ORDER_MARK) + 1) in (b"", _BYTE_ORDER_MARK):
                    raise _build_empty_error(path)
            return
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"There is no file {shown_path}.") from None
    except OSError as error:
        raise InputError(f"{shown_path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"There is no file {shown_path!r}: its name has a null character.") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{path} is a folder, where one file is expected.")
    raise InputError(f"{path} is not a regular file but a pipe or a device; write it to a file first.")


def _build_empty_error(path: Path) -> EmptyDataError:
    return EmptyDataError(f"{path} is empty; a file of one empty basket has one blank line.")


class _Readable(io.RawIOBase):
    def readable(self) -> bool:
        return True


class _Bounded(_Readable):
    """The contents of a packed file, up to a limit that real data do not reach: a few bytes may fill a disk."""

    def __init__(self, stream: Any, path: Path, memory_limit: MemoryLimit | None) -> None:
        self._stream, self._path = stream, path
        self._packed = path.stat().st_size
        limit = (memory_limit or MemoryLimit.parse(MEMORY)).size // _PART
        self._remaining = self._largest = max(limit, MAX_EXPANSION * self._packed)

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._remaining -= count
        if self._remaining < 0:
            raise LimitError.format(
                "{path} has {packed:,} bytes and unpacks to over {largest:,}, which data hardly do; if it is what "
                'you expect, give more, as in {memory="64GB"}: one part in {part} of it may be unpacked.',
                path=self._path,
                part=_PART,
                packed=self._packed,
                largest=self._largest,
            )
        return count


class _Unpacked(_Readable):
    """The contents of xz or bzip2 streams, one after another.

    `lzma.open` and `bz2.open` silently ignore junk behind the first stream; this class raises an error.
    """

    def __init__(self, raw: IO[bytes], compression: str) -> None:
        self._raw = raw
        self._build_decompressor: Callable[[], Any] = bz2.BZ2Decompressor if compression == "bzip2" else _build_xz
        self._padding = b"" if compression == "bzip2" else b"\0"
        self._stream = lzma.LZMADecompressor(memlimit=_WINDOW) if compression == "xz" else self._build_decompressor()

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            packed = b""
            # xz and bzip2 files may be concatenated.
            if self._stream.eof:
                packed = self._open_next_stream()
                if not packed:
                    return 0
            elif self._stream.needs_input:
                packed = self._raw.read(_CHUNK)
                if not packed:
                    raise EOFError
            data = self._stream.decompress(packed, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _open_next_stream(self) -> bytes:
        """Return the first bytes of the next stream, without the zeros that may pad the previous stream."""
        chunk = self._stream.unused_data
        while not (packed := chunk.lstrip(self._padding) if self._padding else chunk):
            chunk = self._raw.read(_CHUNK)
            if not chunk:
                return b""
        self._stream = self._build_decompressor()
        return bytes(packed)


_build_xz = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=_WINDOW)


def find_archive_member(path: Path) -> str:
    """Return the name of the single file of a zip archive."""
    with path.open("rb") as raw, _translate_errors(path, "zip"), ZipFile(raw) as archive:
        return _find_member(path, archive).filename


def _find_member(path: Path, archive: ZipFile) -> ZipInfo:
    """Return the single file of an archive, without folders and the hidden files of operating systems."""
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not any(part.startswith((".", "__MACOSX")) for part in Path(member.filename).parts)
    ]
    if len(members) != 1:
        raise InputError(
            f"{path} holds {len(members):,} files; an archive is read if it holds one. Unpack it, and give the folder."
        )
    if members[0].flag_bits & 1:
        raise InputError(f"{path} is locked by a password; unpack it first.")
    return members[0]


class _Recoded(_Readable):
    """The UTF-8 bytes of text in any encoding."""

    def __init__(self, stream: Any, path: Path, encoding: str) -> None:
        self._stream, self._path, self._encoding = stream, path, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._remaining = b""
        self._is_done = False

    def readinto(self, buffer: Any) -> int:
        while not self._remaining and not self._is_done:
            chunk = self._stream.read(_CHUNK)
            self._is_done = not chunk
            try:
                self._remaining = self._decoder.decode(chunk, self._is_done).encode()
            except UnicodeError:
                raise InputError.format(
                    "{path} is not {named} text; give another {encoding=}, such as windows-1252 or utf-8.",
                    path=self._path,
                    named=self._encoding,
                ) from None
        count = min(len(buffer), len(self._remaining))
        buffer[:count] = self._remaining[:count]
        self._remaining = self._remaining[count:]
        return count


@contextmanager
def open_stream(
    path: Path, compression: str | None, encoding: str = UTF_8, memory_limit: MemoryLimit | None = None
) -> Iterator[tuple[IO[bytes], Any]]:
    """Return the raw file and the stream of its unpacked contents in UTF-8, as a context."""
    with _open_unpacked(path, compression, memory_limit) as (raw, stream):
        yield raw, stream if encoding == UTF_8 else _Recoded(stream, path, encoding)


@contextmanager
def _open_unpacked(
    path: Path, compression: str | None, memory_limit: MemoryLimit | None
) -> Iterator[tuple[IO[bytes], Any]]:
    with path.open("rb") as raw, _translate_errors(path, compression):
        if compression == "gzip":
            with gzip.open(raw) as unzipped:
                yield raw, _Bounded(unzipped, path, memory_limit)
        elif compression in ("xz", "bzip2"):
            with _Unpacked(raw, compression) as unpacked:
                yield raw, _Bounded(unpacked, path, memory_limit)
        elif compression == "zip":
            with ZipFile(raw) as archive, archive.open(_find_member(path, archive)) as member:
                yield raw, _Bounded(member, path, memory_limit)
        elif compression == "zstd":
            with pa.input_stream(pa.PythonFile(raw, "r"), compression="zstd") as inflated:
                yield raw, _Bounded(inflated, path, memory_limit)
        else:
            yield raw, raw


@contextmanager
def _translate_errors(path: Path, compression: str | None) -> Iterator[None]:
    """Raise errors of decompression libraries as errors of ours that name the file."""
    try:
        yield
    except (EOFError, OSError, lzma.LZMAError, zlib.error, BadZipFile, NotImplementedError) as error:
        if compression is None:
            raise InputError(f"{path} cannot be read: {error}.") from None
        # The file is valid, but its dictionary is too large.
        if _WINDOW_PROBLEM.search(str(error)):
            raise LimitError(
                f"{path} takes more memory to unpack than is given for it; if it is what you expect, unpack it "
                "yourself and give the unpacked file."
            ) from None
        raise InputError(
            f"{path} is damaged or cut short: its {compression} data cannot be unpacked; get the file again."
        ) from None


def read_blocks(
    path: Path,
    compression: str | None,
    memory_limit: MemoryLimit,
    spread: int,
    progress: Progress = None,
    encoding: str = UTF_8,
) -> Iterator[NDArray[np.uint8]]:
    """Yield the contents in blocks that end at a line end; the next block overwrites the previous block.

    A byte takes up to `spread` bytes of memory when it is parsed. Parsed blocks and lines stay within the limit of
    memory.
    """
    size = path.stat().st_size
    is_plain = compression is None and encoding == UTF_8
    longest = max(memory_limit.size // spread, _CHUNK)
    block = min(_BLOCK, longest)
    buffer = bytearray(min(block, size + 1) if is_plain else block)
    filled = 0
    is_first = True
    with open_stream(path, compression, encoding, memory_limit) as (raw, stream):
        while True:
            if filled == len(buffer):
                if filled > _LONGEST_LINE:
                    raise LimitError(f"{path} has a line longer than a gigabyte; one basket per line is expected.")
                # A line must fit in memory together with its parsed form.
                if filled > longest:
                    raise LimitError.format(
                        "{path} has a line of over {longest:,} bytes, too long to be read with {allowed} of "
                        'memory; one basket per line is expected. If it is one, give more, as in {memory="16GB"}.',
                        path=path,
                        longest=longest,
                        allowed=memory_limit.text,
                    )
                buffer = buffer + bytearray(min(filled, longest + 1 - filled))
            count = stream.readinto(memoryview(buffer)[filled:])
            filled += count
            if count and filled < len(buffer):
                continue
            # At the end of the file the last line needs no line feed.
            end = buffer.rfind(b"\n", 0, filled) + 1 if count else filled
            start = len(_BYTE_ORDER_MARK) if is_first and buffer.startswith(_BYTE_ORDER_MARK) else 0
            if end > start:
                is_first = False
                yield np.frombuffer(buffer, np.uint8, end - start, start)
                # The incomplete last line moves to the front of the buffer.
                buffer[: filled - end] = buffer[end:filled]
                filled -= end
                if progress is not None:
                    progress(min(1.0, raw.tell() / size))
            if not count:
                break
    if is_first:
        raise _build_empty_error(path)


def unpack_file(
    path: Path, compression: str | None, folder: Path, encoding: str = UTF_8, memory_limit: MemoryLimit | None = None
) -> Path:
    """Return the path of a file in plain UTF-8: the file itself, or an unpacked copy of it in `folder`."""
    if compression is None and encoding == UTF_8:
        return path
    number = sum(1 for _ in folder.glob("unpacked-*"))
    copy = folder / f"unpacked-{number}{Path(path.stem).suffix if compression else path.suffix}"
    # Unbuffered, so that a full disk is noticed at a write, and not when the file is closed.
    with open_stream(path, compression, encoding, memory_limit) as (_, stream), copy.open("wb", buffering=0) as file:
        while chunk := stream.read(1 << 20):
            try:
                # An unbuffered file may take a part of the chunk only.
                unwritten = memoryview(chunk)
                while unwritten:
                    unwritten = unwritten[file.write(unwritten) :]
            except OSError as error:
                raise LimitError(
                    f"{path} cannot be unpacked in {folder}: {error.strerror}; set TMPDIR to a folder with enough room."
                ) from None
    if copy.stat().st_size <= len(_BYTE_ORDER_MARK) and copy.read_bytes() in (b"", _BYTE_ORDER_MARK):
        raise _build_empty_error(path)
    return copy


MEMORY = "2GB"  # the default of `read`: enough for about 200 million items, and less than most machines have
_FORM = re.compile(r"(?=.*[1-9])(\d+(?:\.\d+)?) ?([KMGT])(i?)B", re.IGNORECASE)
_MAX_BYTES = 1 << 50  # bytes; more than any machine has


@dataclass(frozen=True)
class MemoryLimit:
    """A number of bytes, and the text of the option `memory` that named it."""

    text: str
    size: int

    @classmethod
    def parse(cls, memory: object) -> MemoryLimit:
        """Return the limit of a text such as 2GB or 500MB; refuse any other value."""
        match = _FORM.fullmatch(memory) if isinstance(memory, str) else None
        if match is None:
            raise MisuseError.format('{memory} is {given!r}; write it as "2GB" or "500MB".', given=memory)
        power = "KMGT".index(match[2].upper()) + 1
        size = float(match[1]) * (1024 if match[3] else 1000) ** power
        if size > _MAX_BYTES:
            raise MisuseError.format(
                '{memory} is {given!r}, more than any machine has; write it as "8GB".', given=memory
            )
        return cls(match[0], int(size))

    def check(self, name: str, byte_count: int) -> None:
        """Check that the bytes in use for the source `name` are within the limit."""
        if byte_count > self.size:
            raise LimitError.format(
                '{name}: what is read takes more memory than {allowed}; give more, as in {memory="8GB"}.',
                name=name,
                allowed=self.text,
            )
