"""Connections of a service: bounded in bytes, in time and in number, whoever is at the other end.

uvicorn's parser (httptools) collects the head of a request without a limit, and uvicorn reads whatever comes after an
answer. Here bytes are counted before they are parsed, and what is too long, too slow or too many is answered with a
problem document, as far as an answer can be given, and ended.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ._limits import ConnectionCount, ConnectionLimits, plain_address
from ._reasons import REFUSALS, Reason, problem_fields, problem_headers
from ._uploads import MAX_BATCH_BYTES

_WAITING_REQUESTS = 8  # of one connection, sent before their forerunners were answered; browsers send none so
# What still comes after an answer, before the connection is cut: whoever sends it whole can then read the answer.
_DISCARDED_BYTES = 1 << 20  # where the connection ends with the answer
_UNREAD_BODY_BYTES = MAX_BATCH_BYTES  # of a body that was answered before it was read

# uvicorn writes a warning for whatever cannot be parsed: anybody could fill the log.
_log = logging.getLogger(__name__)
_log.setLevel(logging.ERROR)


class _AnswerTransport:
    """What an answer is written to: to close it ends the connection once the answer can be read."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.write, self.is_closing = connection.transport.write, connection.transport.is_closing

    def close(self) -> None:
        """End the connection after its answer."""
        self._connection.end_after_answer()


def bounded_protocol(limits: ConnectionLimits, count: ConnectionCount) -> type[asyncio.Protocol]:
    """Return the class that handles one connection within the limits."""

    class BoundedProtocol(HttpToolsProtocol):
        _address: str | None = None  # counted, once it is known
        _reading_timer: asyncio.TimerHandle | None = None
        _writing_timer: asyncio.TimerHandle | None = None
        _in_head = True  # between the end of one request and the end of the next one's head
        _head_bytes = 0  # of that, as far as it has come
        _head_begun = False  # something of it has come
        _framing_bytes = 0  # of a body, beside what was sent in it
        _ended_request = False  # by the bytes that are being parsed
        _unread_bytes = 0  # of a body, that came after its answer
        _ending = False  # the answer was given: what still comes is thrown away
        _reason = Reason.MALFORMED  # why parsing fails
        _pending_refusal: Reason | None = None  # is answered after the requests that came before it

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.logger = _log
            if self.client:
                # For whoever counts or trusts addresses after this too.
                self.client = plain_address(self.client[0]) or self.client[0], self.client[1]
            address = self.client[0] if self.client else ""
            reason = count.enter(address)
            if reason is None:
                self._address = address
                self._wait(limits.head_seconds)
            else:
                self._refuse(reason)

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            if self._writing_timer is not None:
                self._writing_timer.cancel()
            if self._address is not None:
                count.leave(self._address)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            at = 0
            while at < len(data) and not self.transport.is_closing():
                if self._ending or self._pending_refusal is not None:
                    self._discard(len(data) - at, _DISCARDED_BYTES)
                    return
                # Of a head no more is parsed than may still come, so that none is kept that is longer.
                allowed = limits.head_bytes - self._head_bytes if self._in_head else len(data)
                piece = data[at : at + allowed]
                at += len(piece)
                self._parse(piece)

        def _parse(self, piece: bytes) -> None:
            if self._in_head and self._reading_timer is None and self._is_idle():
                self._wait(limits.head_seconds)
            if not self._in_head:
                self._framing_bytes += len(piece)
            self._ended_request = False
            super().data_received(piece)
            if self._in_head:
                self._head_bytes += 0 if self._ended_request else len(piece)
                if self._head_bytes >= limits.head_bytes:
                    self._refuse(Reason.HEAD_TOO_LARGE)
            elif self._framing_bytes > limits.head_bytes:
                self._refuse(Reason.MALFORMED)

        def _is_idle(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def on_message_begin(self) -> None:
            if len(self.pipeline) >= _WAITING_REQUESTS:
                self._fail(Reason.TOO_MANY)
            self._head_begun = True
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            if not self._in_head:
                self._fail(Reason.MALFORMED)  # fields after a body: nobody reads them
            if len(self.headers) >= limits.head_fields:
                self._fail(Reason.HEAD_TOO_LARGE)
            super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self._in_head, self._head_begun = False, False
            self._head_bytes, self._framing_bytes, self._unread_bytes = 0, 0, 0
            self._rest()
            super().on_headers_complete()
            self.cycle.transport = _AnswerTransport(self)  # type: ignore[assignment]
            self._wait(limits.body_seconds + limits.grace_seconds)

        def on_body(self, body: bytes) -> None:
            # Chunks may take as many bytes for their sizes as for what is in them, and some more.
            self._framing_bytes = max(0, self._framing_bytes - 2 * len(body))
            if self.cycle.response_complete:
                self._discard(len(body), _UNREAD_BODY_BYTES)
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._in_head, self._ended_request = True, True
            self._rest()
            super().on_message_complete()

        def send_400_response(self, msg: str) -> None:
            """Answer that what came cannot be parsed, or why it was not parsed on."""
            self._refuse(self._reason)

        def pause_writing(self) -> None:
            """Wait for whoever asked to read, for a while."""
            super().pause_writing()
            self._writing_timer = self.loop.call_later(limits.stalled_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            """Go on writing."""
            if self._writing_timer is not None:
                self._writing_timer.cancel()
            super().resume_writing()

        def on_response_complete(self) -> None:
            """Go on with the request that waits; after the last one, refuse what came behind it."""
            if self._ending:
                self.pipeline.clear()  # the answer ended the connection
            is_last = not self.pipeline
            super().on_response_complete()
            if is_last and self._pending_refusal is not None and not (self._ending or self.transport.is_closing()):
                self._answer_refusal(self._pending_refusal)
            elif is_last and self._head_begun and self._reading_timer is None:
                self._wait(limits.head_seconds)  # it came together with a request before it

        def end_after_answer(self) -> None:
            """End the connection; where a request has not come whole, once its sender could read the answer.

            A socket that is closed with bytes unread is reset, and then the answer is lost on the way.
            """
            self._rest()
            if self.transport.is_closing():
                return
            if self._in_head and not self._head_bytes:
                self._wait(limits.stalled_seconds)
                self.transport.close()
                return
            self._ending = True
            self._wait(limits.grace_seconds)
            self.flow.resume_reading()
            if self.transport.can_write_eof():
                self.transport.write_eof()

        def _discard(self, byte_count: int, most_bytes: int) -> None:
            self._unread_bytes += byte_count
            if self._unread_bytes > most_bytes:
                self.transport.abort()

        def _fail(self, reason: Reason) -> None:
            self._reason = reason
            raise ValueError(str(reason))

        def _refuse(self, reason: Reason) -> None:
            """Answer why a request is not taken, after all that came before it, and end the connection."""
            if self.transport.is_closing() or self._ending or self._pending_refusal is not None:
                return
            if self._is_idle() and self._in_head:
                self._answer_refusal(reason)
            elif self._is_idle():
                self.end_after_answer()  # what is refused is the rest of a request that has its answer
            elif self._in_head or self.pipeline:
                if not self._in_head:
                    self.pipeline.popleft()  # it is the body of the last that waits which is refused
                self._pending_refusal = reason
                self._rest()
            elif self.cycle.response_started:
                self.transport.abort()
            else:
                self.cycle.disconnected = True  # whoever answers has nobody to answer any more
                self.cycle.message_event.set()
                self._answer_refusal(reason)

        def _answer_refusal(self, reason: Reason) -> None:
            body = json.dumps(problem_fields(reason)).encode()
            headers = {
                "Content-Type": "application/problem+json",
                "Content-Length": str(len(body)),
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
                **problem_headers(reason),
                "Connection": "close",
            }
            lines = [f"HTTP/1.1 {REFUSALS[reason].status} ", *(f"{name}: {value}" for name, value in headers.items())]
            self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
            self._head_bytes = max(1, self._head_bytes)  # what came was not parsed to its end
            self.end_after_answer()

        def _wait(self, seconds: float) -> None:
            self._rest()
            self._reading_timer = self.loop.call_later(seconds, self.transport.abort)

        def _rest(self) -> None:
            if self._reading_timer is not None:
                self._reading_timer.cancel()
                self._reading_timer = None

    return BoundedProtocol
