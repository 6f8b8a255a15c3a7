"""Bodies of requests: each is read within limits of bytes and time, and all together within a limit of bytes.

The arrays of a long body take several times its bytes. So a batch is expanded in parts, and few parts of all requests
at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from fastapi import Request
from starlette.requests import ClientDisconnect

from ._limits import BODY_SECONDS
from ._reasons import Reason, RefusedRequest

# Bytes of bodies in memory; further requests are refused as busy. Long bodies (a study has up to 64 MiB) have their own
# limit, so that the batches of one sender cannot keep the single reports of other people out.
MAX_LONG_BODIES, MAX_SHORT_BODIES = 128 << 20, 64 << 20

MAX_PARTS = 4  # of batches, expanded at a time: as many reports as go into one transaction, and about 20 MiB
_TURN_SECONDS = 30.0  # for which a part waits; larger: senders wait longer; smaller: more are refused as busy


class WorkLimit:
    """A limit of the number of parts of batches that are expanded at a time, over all senders.

    Parameters
    ----------
    parts
        The number of parts.
    patience
        Seconds for which a part waits for its turn before its sender is refused as busy.
    """

    def __init__(self, parts: int = MAX_PARTS, patience: float = _TURN_SECONDS) -> None:
        self._turns, self._patience = asyncio.Semaphore(parts), patience

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it until the block is left; turns go in the order of arrival."""
        try:
            await asyncio.wait_for(self._turns.acquire(), self._patience)
        except TimeoutError:
            raise RefusedRequest(Reason.BUSY) from None
        try:
            yield
        finally:
            self._turns.release()


class BodyLimit:
    """A limit of the bytes of bodies in memory."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes, self.held_bytes = max_bytes, 0

    @contextmanager
    def count_body(self) -> Iterator[Callable[[int], None]]:
        """Yield a function that adds bytes of one body or refuses them; they are subtracted at the end of the block."""
        body_bytes = 0

        def add(byte_count: int) -> None:
            nonlocal body_bytes
            if self.held_bytes + byte_count > self.max_bytes:
                raise RefusedRequest(Reason.BUSY)
            self.held_bytes += byte_count
            body_bytes += byte_count

        try:
            yield add
        finally:
            self.held_bytes -= body_bytes


class Body:
    """The body of a request, read as far as necessary.

    Parameters
    ----------
    request
        The request.
    max_bytes
        The largest allowed length.
    add
        A function that is called with the length of each chunk, as `BodyLimit.count_body` yields it.
    """

    def __init__(self, request: Request, max_bytes: int, add: Callable[[int], None]) -> None:
        announced = request.headers.get("content-length")
        self.announced_bytes = int(announced) if announced else None
        if self.announced_bytes is not None and self.announced_bytes > max_bytes:
            raise RefusedRequest(Reason.TOO_LARGE)
        self._max_bytes, self._add = max_bytes, add
        self._stream = request.stream()
        self._chunks: list[bytes] = []
        self._byte_count = 0
        self._deadline = asyncio.get_running_loop().time() + BODY_SECONDS

    async def read_head(self, byte_count: int) -> bytes:
        """Return the first bytes of the body, or the whole body if it is shorter."""
        await self._read_up_to(byte_count)
        return b"".join(self._chunks)[:byte_count]

    async def read_all(self) -> bytes:
        """Return the whole body."""
        await self._read_up_to(self._max_bytes + 1)
        self._chunks = [b"".join(self._chunks)]  # the joined chunks are freed at once
        return self._chunks[0]

    async def _read_up_to(self, byte_count: int) -> None:
        try:
            async with asyncio.timeout_at(self._deadline):
                while self._byte_count < byte_count and (chunk := await anext(self._stream, None)) is not None:
                    self._byte_count += len(chunk)
                    if self._byte_count > self._max_bytes:
                        raise RefusedRequest(Reason.TOO_LARGE)
                    self._add(len(chunk))
                    self._chunks.append(chunk)
        except TimeoutError:
            raise RefusedRequest(Reason.TOO_SLOW) from None
        except ClientDisconnect:
            raise RefusedRequest(Reason.TOO_SLOW, "Whoever sent it left before the body had come.") from None
