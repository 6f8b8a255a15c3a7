"""Files as bytes: opened, decompressed and cut at line ends, with errors that name the file.

Nothing here knows what the bytes mean. Text is handed on in blocks, so that a file of any size passes through the
same few megabytes; engines that must open the file themselves get a decompressed copy in a temporary folder, so
that a damaged archive is found here, and told in one way.
"""

from __future__ import annotations

import gzip
import lzma
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LimitError

Progress: TypeAlias = Callable[[float], object] | None

COMPRESSIONS = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}
_BLOCK = 1 << 24
_LONGEST_LINE = 1 << 30
_MARK = b"\xef\xbb\xbf"


def check_file(path: Path) -> None:
    """Say clearly why a path is no file that can be read."""
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; give one file, or read several with query=\"SELECT … FROM '{path}/*.parquet'\"."  # noqa: S608
        )
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    if empty:
        raise _nothing(path)


def _nothing(path: Path) -> InputError:
    return InputError(f"{path} is empty; a file of one empty basket has one blank line.")


@contextmanager
def _opened(path: Path, compression: str | None) -> Iterator[tuple[IO[bytes], Any]]:
    """Open the file; give it as it is and as a stream of its contents."""
    with path.open("rb") as raw:
        try:
            if compression == "gzip":
                with gzip.open(raw) as unzipped:
                    yield raw, unzipped
            elif compression == "xz":
                with lzma.open(raw) as unpacked:
                    yield raw, unpacked
            elif compression == "zstd":
                import pyarrow as pa

                with pa.input_stream(pa.PythonFile(raw, "r"), compression="zstd") as inflated:
                    yield raw, inflated
            else:
                yield raw, raw
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            if compression is None:
                raise InputError(f"{path} cannot be read: {error}.") from None
            raise InputError(
                f"{path} is damaged or cut short: its {compression} data cannot be unpacked; get the file again."
            ) from None


def blocks(path: Path, compression: str | None, progress: Progress = None) -> Iterator[NDArray[np.uint8]]:
    """Yield the contents in blocks that end at a line end; a block is overwritten when the next is asked for."""
    check_file(path)
    size = path.stat().st_size
    buffer = bytearray(min(_BLOCK, size + 1) if compression is None else _BLOCK)
    filled = 0
    first = True
    with _opened(path, compression) as (raw, stream):
        while True:
            if filled == len(buffer):
                if filled > _LONGEST_LINE:
                    raise LimitError(f"{path} has a line longer than a gigabyte; one basket a line is expected.")
                buffer = buffer + bytearray(filled)
            count = stream.readinto(memoryview(buffer)[filled:])
            filled += count
            if count and filled < len(buffer):
                continue
            end = buffer.rfind(b"\n", 0, filled) + 1 if count else filled
            if end:
                start = len(_MARK) if first and buffer.startswith(_MARK) else 0
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


def unpacked(path: Path, compression: str | None, folder: Path) -> Path:
    """Return a plain copy of a compressed file, made in `folder`; a plain file is returned as it is."""
    check_file(path)
    if compression is None:
        return path
    copy = folder / path.stem
    with _opened(path, compression) as (_, stream), copy.open("wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
    if not copy.stat().st_size:
        raise _nothing(path)
    return copy
