"""Answers are sent in pieces, at the speed of their readers, within a limit of bytes for all answers together.

A long answer in one piece would lie in the buffer of its connection as a copy, until its reader has read it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ._limits import PIECE_BYTES

# Bytes of answers in memory. Larger: slow readers occupy more memory; smaller: more readers are refused as busy.
MAX_ANSWERS = 256 << 20
_LONG_BYTES = 64 << 10  # answers up to this length are not counted: all connections have 128 MiB of them at most


class AnswerLimit:
    """A limit of the bytes of long answers in memory. Answers that share their bytes are counted once."""

    def __init__(self, max_bytes: int = MAX_ANSWERS) -> None:
        self.max_bytes, self.held_bytes = max_bytes, 0
        self._readers: dict[int, int] = {}  # number of connections, by the identity of a body

    def has_room(self, body: bytes) -> bool:
        """Return whether an answer can be held. A single answer always can, however long it is."""
        return id(body) in self._readers or not self.held_bytes or self.held_bytes + len(body) <= self.max_bytes

    @contextmanager
    def hold(self, body: bytes) -> Iterator[None]:
        """Count the bytes of an answer until the block is left."""
        key = id(body)
        readers = self._readers.get(key, 0)
        self._readers[key] = readers + 1
        self.held_bytes += 0 if readers else len(body)
        try:
            yield
        finally:
            self._readers[key] -= 1
            if not self._readers[key]:
                del self._readers[key]
                self.held_bytes -= len(body)


class BoundedAnswers:
    """Middleware that sends long answers in pieces, and refuses answers beyond a limit.

    Parameters
    ----------
    app
        The application.
    limit
        The limit of all answers.
    refusal
        The answer to a request whose own answer has no room.
    """

    def __init__(self, app: ASGIApp, limit: AnswerLimit, refusal: Response) -> None:
        self._app, self._limit, self._refusal = app, limit, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start: Message | None = None  # waits for the body, as the status depends on its length
        is_refused = False

        async def send_bounded(message: Message) -> None:
            nonlocal start, is_refused
            if message["type"] == "http.response.start":
                start = message
                return
            body = message.get("body", b"")
            is_long = len(body) > _LONG_BYTES
            if start is not None:
                head, start = start, None
                is_refused = is_long and not self._limit.has_room(body)
                await (self._refusal(scope, receive, send) if is_refused else send(head))
            if is_refused:
                return
            if not is_long:
                await send(message)
                return
            with self._limit.hold(body):
                view = memoryview(body)
                for first in range(0, len(body), PIECE_BYTES):
                    piece = {**message, "body": view[first : first + PIECE_BYTES]}
                    is_last = first + PIECE_BYTES >= len(body)
                    await send({**piece, "more_body": message.get("more_body", False) if is_last else True})
                    await asyncio.sleep(0)  # other connections go on, also beside a reader that never waits

        await self._app(scope, receive, send_bounded)
