"""Files of Arrow's own format, which are called Feather too: as batches, after a look at what they unpack to.

Arrow believes what such a file says of its own size. So the messages in it are gone through first, without unpacking
any: each packed buffer begins with the bytes that it unpacks to, and each batch says how many rows it has.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError

_FILE, _OLD = b"ARROW1\0\0", b"FEA1"
_DICTIONARY, _BATCH = 2, 3  # kinds of messages that have a body
_A_VALUE = 8  # bytes


def declared(path: Path) -> int:
    """Return how many bytes the contents of a file take when they are unpacked, as it says itself."""
    import pyarrow as pa

    total = 0
    with pa.memory_map(str(path)) as file:
        begins = file.read(len(_FILE))
        if begins[:4] == _OLD:
            raise InputError(f"{path} is a Feather file of version 1; write it again, with any newer library.")
        file.seek(len(_FILE) if begins == _FILE else 0)
        reader = pa.ipc.MessageReader.open_stream(file)
        while True:
            try:
                message = reader.read_next_message()
            except StopIteration:
                return total
            total += _unpacked(message.metadata.to_pybytes(), message.body)


def _unpacked(meta: bytes, body: Any) -> int:
    """Return what the body of one message takes, by its description (a flatbuffer: `Message` of Arrow's format)."""
    message = _Flat(meta, struct.unpack_from("<I", meta, 0)[0])
    kind = message.number(1, "B")
    if kind not in (_DICTIONARY, _BATCH):
        return 0
    batch = message.table(2)
    if kind == _DICTIONARY and batch is not None:
        batch = batch.table(1)
    if batch is None:
        return 0
    packed = batch.table(3) is not None
    total = _A_VALUE * max(batch.number(0, "q"), 0)
    for start, length in batch.pairs(2):
        size = max(length, 0)
        if packed and length >= _A_VALUE:
            size = max(struct.unpack_from("<q", body, start)[0], size)
        total += size
    return total


class _Flat:
    """A table of a flatbuffer: fields by their number, found through a table of offsets before it."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data, self._place = data, place
        self._fields = place - struct.unpack_from("<i", data, place)[0]

    def _field(self, number: int) -> int | None:
        size = struct.unpack_from("<H", self._data, self._fields)[0]
        if 4 + 2 * number >= size:
            return None
        offset: int = struct.unpack_from("<H", self._data, self._fields + 4 + 2 * number)[0]
        return self._place + offset if offset else None

    def number(self, number: int, form: str) -> int:
        place = self._field(number)
        return 0 if place is None else int(struct.unpack_from(f"<{form}", self._data, place)[0])

    def table(self, number: int) -> _Flat | None:
        place = self._field(number)
        return None if place is None else _Flat(self._data, place + struct.unpack_from("<I", self._data, place)[0])

    def pairs(self, number: int) -> Iterator[tuple[int, int]]:
        place = self._field(number)
        if place is not None:
            place += struct.unpack_from("<I", self._data, place)[0]
            for entry in range(struct.unpack_from("<I", self._data, place)[0]):
                yield struct.unpack_from("<qq", self._data, place + 4 + 16 * entry)


def batches(path: Path) -> Any:
    """Return a reader of the batches of a file.

    A file is a stream with a list of its batches at the end. That list is not asked: it might name others than those
    that were gone through.
    """
    import pyarrow as pa

    file = pa.memory_map(str(path))
    file.seek(len(_FILE) if file.read(len(_FILE)) == _FILE else 0)
    return pa.ipc.open_stream(file)
