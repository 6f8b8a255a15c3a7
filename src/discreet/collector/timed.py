"""A connection that sends the head of a request slowly, or not at all, is let go after a while."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


def protocol(seconds: float) -> type[asyncio.Protocol]:
    """Return how connections are handled, with so many seconds for the head of each request."""

    class TimedProtocol(HttpToolsProtocol):
        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            if self._patience is None and (self.cycle is None or self.cycle.response_complete):
                self._wait()
            super().data_received(data)

        def on_headers_complete(self) -> None:
            self._rest()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            super().connection_lost(exc)

        def _wait(self) -> None:
            self._patience = self.loop.call_later(seconds, self.transport.close)

        def _rest(self) -> None:
            if self._patience is not None:
                self._patience.cancel()
                self._patience = None

    return TimedProtocol
