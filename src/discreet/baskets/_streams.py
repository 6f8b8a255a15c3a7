"""Files as bytes: opened, decompressed and cut at line ends, with errors that name the file.

Nothing here knows what the bytes mean. Text is handed on in blocks, so that a file of any size passes through the
same few megabytes; engines that must open the file themselves get a decompressed copy in a temporary folder, so
that a damaged archive is found here, and told in one way.
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
from pathlib import Path
from typing import IO, Any, TypeAlias
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LimitError, NobodyError
from ._allowance import MEMORY, Allowance
from ._redaction import public_path

Progress: TypeAlias = Callable[[float], object] | None

COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zip": "zip"}
PACKED = ".gz, .bz2, .xz, .zst or .zip"  # as messages say it
_BLOCK = 1 << 24
_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 30
# How much a packed file may unpack to: one part in so many of the memory allowed, or so many times its size. Data are
# packed to a third or a fiftieth.
_PART, FOLDED = 16, 1_000
_WINDOW = 1 << 30  # bytes that unpacking itself may take; Zstandard has a limit of its own, 128 MiB
_WIDE = re.compile(r"[Mm]emory usage limit|too much memory")  # what is said of what would take more
_MARK = b"\xef\xbb\xbf"
UTF_8 = "utf-8"


def check_file(path: Path) -> None:
    """Say clearly why a path is no file that can be read.

    Only regular files pass: they are opened more than once, which would lose what a pipe has given already.
    """
    named = public_path(path)
    shown = named if len(named) <= 200 else f"{named[:200]}…"
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            _check_contents(path)
            return
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"There is no file {shown}.") from None
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"There is no file {shown!r}: its name has a null character.") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{path} is a folder, where one file is expected.")
    raise InputError(f"{path} is not a regular file but a pipe or a device; write it to a file first.")


def _check_contents(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(len(_MARK) + 1) in (b"", _MARK):
            raise _nothing(path)


def _nothing(path: Path) -> NobodyError:
    return NobodyError(f"{path} is empty; a file of one empty basket has one blank line.")


class _Bounded(io.RawIOBase):
    """What a packed file unpacks to, up to a multiple of it that no honest data reach: a few bytes may fill a disk."""

    def __init__(self, stream: Any, path: Path, allowed: Allowance | None) -> None:
        self._stream, self._path = stream, path
        self._packed = path.stat().st_size
        self._left = self._largest = max((allowed or Allowance.of(MEMORY)).size // _PART, FOLDED * self._packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise LimitError.format(
                "{path} has {packed:,} bytes and unpacks to over {largest:,}, which data hardly do; if it is what "
                'you expect, give more, as in {memory="64GB"}: one part in {part} of it may be unpacked.',
                path=self._path,
                part=_PART,
                packed=self._packed,
                largest=self._largest,
            )
        return count


class _Unpacked(io.RawIOBase):
    """The contents of xz or bzip2 streams, one after another.

    What `lzma.open` and `bz2.open` take for the end, junk too, is looked at.
    """

    def __init__(self, raw: IO[bytes], compression: str) -> None:
        self._raw = raw
        self._new: Callable[[], Any] = bz2.BZ2Decompressor if compression == "bzip2" else _unxz
        self._padding = b"" if compression == "bzip2" else b"\0"
        self._stream = lzma.LZMADecompressor(memlimit=_WINDOW) if compression == "xz" else self._new()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            given = b""
            if self._stream.eof:
                given = self._next_stream()
                if not given:
                    return 0
            elif self._stream.needs_input:
                given = self._raw.read(_CHUNK)
                if not given:
                    raise EOFError
            data = self._stream.decompress(given, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _next_stream(self) -> bytes:
        """Return how the next stream begins, after the zeros that may pad the one before."""
        given: bytes = self._stripped(self._stream.unused_data)
        while not given:
            chunk = self._raw.read(_CHUNK)
            if not chunk:
                return b""
            given = self._stripped(chunk)
        self._stream = self._new()
        return given

    def _stripped(self, given: bytes) -> bytes:
        return given.lstrip(self._padding) if self._padding else given


def _unxz() -> Any:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_WINDOW)


def packed_member(path: Path) -> str:
    """Return the name of the one file that a zip archive holds."""
    with path.open("rb") as raw, _damage_told(path, "zip"), ZipFile(raw) as archive:
        return _member(path, archive).filename


def _member(path: Path, archive: ZipFile) -> ZipInfo:
    """Return the one file in an archive, beside folders and what systems add for themselves."""
    held = [
        one
        for one in archive.infolist()
        if not one.is_dir() and not any(part.startswith((".", "__MACOSX")) for part in Path(one.filename).parts)
    ]
    if len(held) != 1:
        raise InputError(
            f"{path} holds {len(held):,} files; an archive is read if it holds one. Unpack it, and give the folder."
        )
    if held[0].flag_bits & 1:
        raise InputError(f"{path} is locked by a password; unpack it first.")
    return held[0]


class _Recoded(io.RawIOBase):
    """Text of any encoding as UTF-8."""

    def __init__(self, stream: Any, path: Path, encoding: str) -> None:
        self._stream, self._path, self._encoding = stream, path, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._left = b""
        self._done = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left and not self._done:
            given = self._stream.read(_CHUNK)
            self._done = not given
            try:
                self._left = self._decoder.decode(given, self._done).encode()
            except UnicodeError:
                raise InputError.format(
                    "{path} is not {named} text; give another {encoding=}, such as windows-1252 or utf-8.",
                    path=self._path,
                    named=self._encoding,
                ) from None
        taken = self._left[: len(buffer)]
        buffer[: len(taken)] = taken
        self._left = self._left[len(taken) :]
        return len(taken)


@contextmanager
def opened(
    path: Path, compression: str | None, encoding: str = UTF_8, allowed: Allowance | None = None
) -> Iterator[tuple[IO[bytes], Any]]:
    """Open the file; give it as it is and as a stream of its contents, which is UTF-8 whatever the file is."""
    with _unpacking(path, compression, allowed) as (raw, stream):
        yield raw, stream if encoding == UTF_8 else _Recoded(stream, path, encoding)


@contextmanager
def _unpacking(path: Path, compression: str | None, allowed: Allowance | None) -> Iterator[tuple[IO[bytes], Any]]:
    with path.open("rb") as raw, _damage_told(path, compression):
        if compression == "gzip":
            with gzip.open(raw) as unzipped:
                yield raw, _Bounded(unzipped, path, allowed)
        elif compression in ("xz", "bzip2"):
            with _Unpacked(raw, compression) as unpacked:
                yield raw, _Bounded(unpacked, path, allowed)
        elif compression == "zip":
            with ZipFile(raw) as archive, archive.open(_member(path, archive)) as member:
                yield raw, _Bounded(member, path, allowed)
        elif compression == "zstd":
            import pyarrow as pa

            with pa.input_stream(pa.PythonFile(raw, "r"), compression="zstd") as inflated:
                yield raw, _Bounded(inflated, path, allowed)
        else:
            yield raw, raw


@contextmanager
def _damage_told(path: Path, compression: str | None) -> Iterator[None]:
    """Say in one way that a file cannot be read or unpacked."""
    try:
        yield
    except (EOFError, OSError, lzma.LZMAError, zlib.error, BadZipFile, NotImplementedError) as error:
        if compression is None:
            raise InputError(f"{path} cannot be read: {error}.") from None
        if _WIDE.search(str(error)):
            raise LimitError(
                f"{path} takes more memory to unpack than is given for it; if it is what you expect, unpack it "
                "yourself and give the unpacked file."
            ) from None
        raise InputError(
            f"{path} is damaged or cut short: its {compression} data cannot be unpacked; get the file again."
        ) from None


def blocks(
    path: Path,
    compression: str | None,
    allowed: Allowance,
    spread: int,
    progress: Progress = None,
    encoding: str = UTF_8,
) -> Iterator[NDArray[np.uint8]]:
    """Yield the contents in blocks that end at a line end; a block is overwritten when the next is asked for.

    Each byte takes up to `spread` bytes when it is parsed, and neither a block nor a line takes more than is allowed.
    """
    size = path.stat().st_size
    as_it_is = compression is None and encoding == UTF_8
    longest = max(allowed.size // spread, _CHUNK)
    block = min(_BLOCK, longest)
    buffer = bytearray(min(block, size + 1) if as_it_is else block)
    filled = 0
    first = True
    with opened(path, compression, encoding, allowed) as (raw, stream):
        while True:
            if filled == len(buffer):
                if filled > _LONGEST_LINE:
                    raise LimitError(f"{path} has a line longer than a gigabyte; one basket per line is expected.")
                if filled > longest:
                    raise LimitError.format(
                        "{path} has a line of over {longest:,} bytes, too long to be read with {allowed} of "
                        'memory; one basket per line is expected. If it is one, give more, as in {memory="16GB"}.',
                        path=path,
                        longest=longest,
                        allowed=allowed.written,
                    )
                buffer = buffer + bytearray(min(filled, longest + 1 - filled))
            count = stream.readinto(memoryview(buffer)[filled:])
            filled += count
            if count and filled < len(buffer):
                continue
            end = buffer.rfind(b"\n", 0, filled) + 1 if count else filled
            start = len(_MARK) if first and buffer.startswith(_MARK) else 0
            if end > start:
                first = False
                yield np.frombuffer(buffer, np.uint8, end - start, start)
                buffer[: filled - end] = buffer[end:filled]
                filled -= end
                if progress is not None:
                    progress(min(1.0, raw.tell() / size))
            if not count:
                break
    if first:
        raise _nothing(path)


def unpacked(
    path: Path, compression: str | None, folder: Path, encoding: str = UTF_8, allowed: Allowance | None = None
) -> Path:
    """Return a plain copy of a file that is compressed or not UTF-8, made in `folder`; any other as it is."""
    if compression is None and encoding == UTF_8:
        return path
    number = sum(1 for _ in folder.glob("unpacked-*"))
    copy = folder / f"unpacked-{number}{Path(path.stem).suffix if compression else path.suffix}"
    with opened(path, compression, encoding, allowed) as (_, stream), copy.open("wb", buffering=0) as file:
        while chunk := stream.read(1 << 20):
            try:
                rest = memoryview(chunk)
                while rest:
                    rest = rest[file.write(rest) :]
            except OSError as error:
                raise LimitError(
                    f"{path} cannot be unpacked in {folder}: {error.strerror}; set TMPDIR to a folder with enough room."
                ) from None
    if copy.stat().st_size <= len(_MARK) and copy.read_bytes() in (b"", _MARK):
        raise _nothing(path)
    return copy
