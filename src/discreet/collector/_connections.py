"""Connections with limits of bytes, time and number, against all behaviour of clients.

uvicorn's parser (httptools) collects the head of a request without a limit, and uvicorn reads all bytes that follow an
answer. Here bytes are counted before they are parsed, and a request that is too long, too slow or one too many gets a
problem document, as far as an answer is possible, and the end of its connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ._limits import PIECE_BYTES, ConnectionCount, ConnectionLimits, plain_address
from ._reasons import Reason, problem_fields, problem_headers
from ._uploads import MAX_BATCH_BYTES

_MAX_PIPELINE = 8  # requests of one connection that wait for earlier answers; browsers send none so
# Bytes that are discarded after an answer, before the connection is cut: a client that sends them all can then read the
# answer. After the last answer of a connection, and of a body that was answered before it was read.
_DISCARDED_BYTES, _UNREAD_BODY_BYTES = 1 << 20, MAX_BATCH_BYTES

# uvicorn logs a warning for each malformed request: any client could fill the log.
_log = logging.getLogger(__name__)
_log.setLevel(logging.ERROR)


class _AnswerTransport:
    """The transport of an answer: closing it ends the connection as soon as the client could read the answer."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.write, self.is_closing = connection.transport.write, connection.transport.is_closing

    def close(self) -> None:
        """End the connection after its answer."""
        self._connection.end_after_answer()


def bounded_protocol(limits: ConnectionLimits, count: ConnectionCount) -> type[asyncio.Protocol]:
    """Return a protocol class for connections within limits, which `count` counts."""

    class BoundedProtocol(HttpToolsProtocol):
        _address: str | None = None  # of the client, once the connection is counted
        _reading_timer: asyncio.TimerHandle | None = None
        _writing_timer: asyncio.TimerHandle | None = None
        _in_head = True  # between the end of a request and the end of the next head
        _head_bytes = 0  # of the current head
        _head_begun = False  # some bytes of a head have come
        _framing_bytes = 0  # of a body: its bytes without the content
        _ended_request = False  # the bytes that are being parsed contained the end of a request
        _unread_bytes = 0  # of a body, after its answer
        _ending = False  # after the last answer: further bytes are discarded
        _reason = Reason.MALFORMED  # of the current parsing error
        _pending_refusal: Reason | None = None  # is answered after the earlier requests

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.logger = _log
            self._bound_buffers()
            if self.client:
                # The plain address, also for later code that counts or trusts addresses.
                self.client = plain_address(self.client[0]) or self.client[0], self.client[1]
            address = self.client[0] if self.client else ""
            reason = count.enter(address)
            if reason is None:
                self._address = address
                self._start_timer(limits.head_seconds)
            else:
                self._refuse(reason)

        def _bound_buffers(self) -> None:
            """Make the transport wait after each piece of an answer, and the kernel report all progress of a reader.

            The kernel would report room in its buffer, of up to 4 MiB, when a third is free: a slow reader shows no
            progress until then.
            """
            self.transport.set_write_buffer_limits(high=PIECE_BYTES, low=PIECE_BYTES // 4)
            with contextlib.suppress(AttributeError, OSError):  # Linux and macOS have the option
                self.transport.get_extra_info("socket").setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, PIECE_BYTES
                )

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            if self._writing_timer is not None:
                self._writing_timer.cancel()
            if self._address is not None:
                count.leave(self._address)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            start = 0
            while start < len(data) and not self.transport.is_closing():
                if self._ending or self._pending_refusal is not None:
                    self._discard(len(data) - start, _DISCARDED_BYTES)
                    return
                # At most the remaining bytes of a head are parsed, so that the parser never keeps a longer one.
                allowed = limits.head_bytes - self._head_bytes if self._in_head else len(data)
                piece = data[start : start + allowed]
                start += len(piece)
                self._parse(piece)

        def _parse(self, piece: bytes) -> None:
            if self._in_head and self._reading_timer is None and self._is_idle():
                self._start_timer(limits.head_seconds)
            if not self._in_head:
                self._framing_bytes += len(piece)
            self._ended_request = False
            self._unset_keepalive_if_required()
            try:
                remaining = self._feed_parser(piece)
            except httptools.HttpParserError as error:
                self.send_400_response(str(error))
            else:
                if remaining:
                    self._parse(remaining)
                    return
            if self._in_head:
                self._head_bytes += 0 if self._ended_request else len(piece)
                if self._head_bytes >= limits.head_bytes:
                    self._refuse(Reason.HEAD_TOO_LARGE)
            elif self._framing_bytes > limits.head_bytes:
                self._refuse(Reason.MALFORMED)

        def _feed_parser(self, piece: bytes) -> bytes:
            """Parse bytes, and return the bytes behind a head with `Upgrade`, a field that a server may ignore.

            The parser stops after a head with the field (RFC 9110, 7.8), and would take the body as the next request.
            So a new parser reads the head without the field, and its body belongs to its request.
            """
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserUpgrade as upgrade:
                version = self.parser.get_http_version().encode()
                first_line = b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)
                fields = [name + b": " + value for name, value in self.headers if name != b"upgrade"]
                self.parser = httptools.HttpRequestParser(self)
                with contextlib.suppress(AttributeError):  # as uvicorn does; httptools 0.6.3 and newer
                    self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                self.parser.feed_data(b"\r\n".join([first_line, *fields, b"", b""]))
                return piece[upgrade.args[0] :]
            return b""

        def _is_idle(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def on_message_begin(self) -> None:
            if len(self.pipeline) >= _MAX_PIPELINE:
                self._fail(Reason.TOO_MANY)
            self._head_begun = True
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            if not self._in_head:
                self._fail(Reason.MALFORMED)  # trailer fields: no handler reads them
            if len(self.headers) >= limits.head_fields:
                self._fail(Reason.HEAD_TOO_LARGE)
            super().on_header(name, value)

        def on_headers_complete(self) -> None:
            if self.parser.get_method() == b"CONNECT" or httptools.parse_url(self.url).path is None:
                self._fail(Reason.MALFORMED)  # before the head is complete, so that the refusal is answered
            if self.parser.should_upgrade():
                return  # `_feed_parser` parses the head again
            self._in_head, self._head_begun = False, False
            self._head_bytes, self._framing_bytes, self._unread_bytes = 0, 0, 0
            self._stop_timer()
            super().on_headers_complete()
            self.cycle.transport = _AnswerTransport(self)  # type: ignore[assignment]
            self._start_timer(limits.body_seconds + limits.grace_seconds)

        def on_body(self, body: bytes) -> None:
            # Sizes of chunks may take as many bytes as the chunks, and `head_bytes` more.
            self._framing_bytes = max(0, self._framing_bytes - 2 * len(body))
            if self.cycle.response_complete:
                self._discard(len(body), _UNREAD_BODY_BYTES)
            super().on_body(body)

        def on_message_complete(self) -> None:
            if self.parser.should_upgrade():
                return
            self._in_head, self._ended_request = True, True
            self._stop_timer()
            super().on_message_complete()

        def send_400_response(self, msg: str) -> None:
            """Answer a request that cannot be parsed, or that `_fail` refused to parse."""
            self._refuse(self._reason)

        def pause_writing(self) -> None:
            """Wait for the client to read a piece of its answer, for a limited time."""
            super().pause_writing()
            if self._writing_timer is not None:
                self._writing_timer.cancel()
            self._writing_timer = self.loop.call_later(limits.stalled_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            """Continue writing."""
            if self._writing_timer is not None:
                self._writing_timer.cancel()
            super().resume_writing()

        def timeout_keep_alive_handler(self) -> None:
            """End a connection without requests, and cut it if its client does not read the last answer."""
            if not self.transport.is_closing():
                self._start_timer(limits.stalled_seconds)
                self.transport.close()

        def on_response_complete(self) -> None:
            """Continue with the next request; after the last request, answer a pending refusal."""
            if self._ending:
                self.pipeline.clear()  # the answer ended the connection
            is_last = not self.pipeline
            super().on_response_complete()
            if is_last and self._pending_refusal is not None and not (self._ending or self.transport.is_closing()):
                self._answer_refusal(self._pending_refusal)
            elif is_last and self._head_begun and self._reading_timer is None:
                self._start_timer(limits.head_seconds)  # the head came together with an earlier request

        def end_after_answer(self) -> None:
            """End the connection; after an incomplete request, as soon as its sender could read the answer.

            A socket that is closed with unread bytes is reset, and then the answer is lost on the way.
            """
            self._stop_timer()
            if self.transport.is_closing():
                return
            if self._in_head and not self._head_bytes:
                self._start_timer(limits.stalled_seconds)
                self.transport.close()
                return
            self._ending = True
            self._start_timer(limits.grace_seconds)
            self.flow.resume_reading()
            if self.transport.can_write_eof():
                self.transport.write_eof()

        def _discard(self, byte_count: int, max_bytes: int) -> None:
            self._unread_bytes += byte_count
            if self._unread_bytes > max_bytes:
                self.transport.abort()

        def _fail(self, reason: Reason) -> None:
            self._reason = reason
            raise ValueError(str(reason))

        def _refuse(self, reason: Reason) -> None:
            """Answer a request with a refusal, after all earlier answers, and end the connection."""
            if self.transport.is_closing() or self._ending or self._pending_refusal is not None:
                return
            if self._is_idle() and self._in_head:
                self._answer_refusal(reason)
            elif self._is_idle():
                self.end_after_answer()  # the refused bytes belong to a request that has its answer
            elif self._in_head or self.pipeline:
                if not self._in_head:
                    self.pipeline.popleft()  # the refused bytes are the body of the last waiting request
                self._pending_refusal = reason
                self._stop_timer()
            elif self.cycle.response_started:
                self.transport.abort()
            else:
                self.cycle.disconnected = True  # the handler of the request must not answer as well
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
            lines = [f"HTTP/1.1 {reason.status} ", *(f"{name}: {value}" for name, value in headers.items())]
            self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
            self._head_bytes = max(1, self._head_bytes)  # the request was not parsed to its end
            self.end_after_answer()

        def _start_timer(self, seconds: float) -> None:
            self._stop_timer()
            self._reading_timer = self.loop.call_later(seconds, self.transport.abort)

        def _stop_timer(self) -> None:
            if self._reading_timer is not None:
                self._reading_timer.cancel()
                self._reading_timer = None

    return BoundedProtocol
