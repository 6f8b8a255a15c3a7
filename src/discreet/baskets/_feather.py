"""Files in Arrow's own format, also called Feather: their batches, and their size after unpacking.

Arrow allocates the size that a file declares. So the declared sizes are read first, without unpacking: each packed
buffer begins with its unpacked size, and each batch has its number of rows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError

_FILE, _OLD = b"ARROW1\0\0", b"FEA1"
_DICTIONARY, _BATCH = 2, 3  # the types of messages with a body
_VALUE_BYTES = 8


def read_declared_size(path: Path) -> int:
    """Return the unpacked size of a file in bytes, as the file declares it."""
    import pyarrow as pa

    total = 0
    with pa.memory_map(str(path)) as file:
        signature = file.read(len(_FILE))
        if signature[:4] == _OLD:
            raise InputError(f"{path} is a Feather file of version 1; write it again, with any newer library.")
        file.seek(len(_FILE) if signature == _FILE else 0)
        reader = pa.ipc.MessageReader.open_stream(file)
        while True:
            try:
                message = reader.read_next_message()
            except StopIteration:
                return total
            total += _compute_unpacked_size(message.metadata.to_pybytes(), message.body)


def _compute_unpacked_size(meta: bytes, body: Any) -> int:
    """Return the unpacked size of the body of a message, by its metadata (the flatbuffer `Message` of Arrow)."""
    message = _Flat(meta, struct.unpack_from("<I", meta, 0)[0])
    kind = message.number(1, "B")
    if kind not in (_DICTIONARY, _BATCH):
        return 0
    batch = message.table(2)
    if kind == _DICTIONARY and batch is not None:
        batch = batch.table(1)
    if batch is None:
        return 0
    is_packed = batch.table(3) is not None
    total = _VALUE_BYTES * max(batch.number(0, "q"), 0)
    for start, length in batch.pairs(2):
        size = max(length, 0)
        # A packed buffer begins with its unpacked size, a whole number of 64 bits.
        if is_packed and length >= _VALUE_BYTES:
            size = max(struct.unpack_from("<q", body, start)[0], size)
        total += size
    return total


class _Flat:
    """A table of a flatbuffer, with fields by number."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data, self._position = data, position
        self._fields = position - struct.unpack_from("<i", data, position)[0]

    def _locate_field(self, number: int) -> int | None:
        size = struct.unpack_from("<H", self._data, self._fields)[0]
        if 4 + 2 * number >= size:
            return None
        offset: int = struct.unpack_from("<H", self._data, self._fields + 4 + 2 * number)[0]
        return self._position + offset if offset else None

    def number(self, number: int, form: str) -> int:
        position = self._locate_field(number)
        return 0 if position is None else int(struct.unpack_from(f"<{form}", self._data, position)[0])

    def table(self, number: int) -> _Flat | None:
        position = self._locate_field(number)
        if position is None:
            return None
        return _Flat(self._data, position + struct.unpack_from("<I", self._data, position)[0])

    def pairs(self, number: int) -> Iterator[tuple[int, int]]:
        position = self._locate_field(number)
        if position is not None:
            position += struct.unpack_from("<I", self._data, position)[0]
            for entry in range(struct.unpack_from("<I", self._data, position)[0]):
                yield struct.unpack_from("<qq", self._data, position + 4 + 16 * entry)


def batches(path: Path) -> Any:
    """Return a reader of the batches of a file.

    The file is read as a stream, without the list of batches at its end, which might have other batches than the
    stream that `read_declared_size` examined.
    """
    import pyarrow as pa

    file = pa.memory_map(str(path))
    file.seek(len(_FILE) if file.read(len(_FILE)) == _FILE else 0)
    return pa.ipc.open_stream(file)
