"""Bodies of requests: read up to a limit and within a time, and all long ones together up to a limit too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastapi import Request
from starlette.requests import ClientDisconnect

from .reasons import Reason, RefusedRequest

MOST_HELD = 256 << 20  # bytes of long bodies at the same time; whoever comes with more is sent away, to come again
_PATIENCE = 30.0  # seconds in which a body has to come


class BodyLimit:
    """How many bytes of long bodies are held at the same time."""

    def __init__(self, most: int = MOST_HELD) -> None:
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
        self._until = asyncio.get_running_loop().time() + _PATIENCE

    async def begin(self, many: int) -> bytes:
        """Return so many bytes of its beginning, or what it has where it is shorter."""
        await self._read(many)
        return b"".join(self._parts)[:many]

    async def whole(self) -> bytes:
        """Return all of it."""
        await self._read(self._most + 1)
        return b"".join(self._parts)

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
