"""Bodies of requests: read up to a limit and within a time, and all of them together up to a limit too.

What is made of a long body takes several times its bytes. So it is made a piece at a time, and few pieces of all
requests together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from fastapi import Request
from starlette.requests import ClientDisconnect

from ._limits import BODY_SECONDS
from ._reasons import Reason, RefusedRequest

# Bytes of bodies at the same time; whoever comes with more is sent away, to come again. Long ones (a study has 64 MiB)
# leave the others room: batches of one sender shall not keep the single reports of others out.
MOST_LONG_BODIES, MOST_SHORT_BODIES = 128 << 20, 64 << 20

MOST_PIECES = 4  # of batches, expanded at a time: as many reports as go into one transaction, and about 20 MiB
_PATIENCE = 30.0  # seconds for which a piece waits for its turn


class WorkLimit:
    """How many pieces of batches are expanded at a time, whoever sent them.

    Parameters
    ----------
    pieces
        The number of pieces.
    patience
        Seconds for which a piece waits for its turn before its sender is told to come again.
    """

    def __init__(self, pieces: int = MOST_PIECES, patience: float = _PATIENCE) -> None:
        self._turns, self._patience = asyncio.Semaphore(pieces), patience

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it until the block is left; turns are given in the order of those who wait."""
        try:
            await asyncio.wait_for(self._turns.acquire(), self._patience)
        except TimeoutError:
            raise RefusedRequest(Reason.BUSY) from None
        try:
            yield
        finally:
            self._turns.release()


class BodyLimit:
    """How many bytes of bodies are held at the same time."""

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0

    @contextmanager
    def one(self) -> Iterator[Callable[[int], None]]:
        """Give a function that counts bytes of one body, or refuses them; they count until the block is left."""
        mine = 0

        def more(many: int) -> None:
            nonlocal mine
            if self.held + many > self.most:
                raise RefusedRequest(Reason.BUSY)
            self.held += many
            mine += many

        try:
            yield more
        finally:
            self.held -= mine


class Body:
    """The body of a request, read as far as it is wanted.

    Parameters
    ----------
    request
        The request.
    most
        How many bytes it may have.
    more
        Told how many bytes have come, each time.
    """

    def __init__(self, request: Request, most: int, more: Callable[[int], None] | None = None) -> None:
        announced = request.headers.get("content-length")
        self.announced = int(announced) if announced else None
        if self.announced is not None and self.announced > most:
            raise RefusedRequest(Reason.TOO_LARGE)
        self._most, self._more = most, more
        self._stream = request.stream()
        self._parts: list[bytes] = []
        self._long = 0
        self._until = asyncio.get_running_loop().time() + BODY_SECONDS

    async def begin(self, many: int) -> bytes:
        """Return so many bytes of its beginning, or what it has where it is shorter."""
        await self._read(many)
        return b"".join(self._parts)[:many]

    async def whole(self) -> bytes:
        """Return all of it."""
        await self._read(self._most + 1)
        self._parts = [b"".join(self._parts)]  # its parts are held no longer than that takes
        return self._parts[0]

    async def _read(self, many: int) -> None:
        try:
            async with asyncio.timeout_at(self._until):
                while self._long < many and (part := await anext(self._stream, None)) is not None:
                    self._long += len(part)
                    if self._long > self._most:
                        raise RefusedRequest(Reason.TOO_LARGE)
                    if self._more is not None:
                        self._more(len(part))
                    self._parts.append(part)
        except TimeoutError:
            raise RefusedRequest(Reason.TOO_SLOW) from None
        except ClientDisconnect:
            raise RefusedRequest(Reason.TOO_SLOW, "Whoever sent it left before the body had come.") from None
