"""Long answers: sent in pieces as their readers take them, shared by their readers, and bounded in bytes together."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
import uvicorn
from starlette.responses import Response

from discreet.collector import ConnectionLimits, Reason, collector_in
from discreet.collector._answers import AnswerLimit, BoundedAnswers
from discreet.collector._connections import bounded_protocol
from discreet.collector._limits import PIECE_BYTES, ConnectionCount
from discreet.collector._service import Service, application, problem

sys.path.insert(0, str(Path(__file__).parent))
from serving import plan_of

MEBIBYTE = 1 << 20
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
KEPT_REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class OneAnswer:
    """An application with one answer, or with a copy of it for each request."""

    def __init__(self, body: bytes, *, shared: bool = True) -> None:
        self.body, self.shared = body, shared

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = self.body if self.shared else bytes(bytearray(self.body))
        await Response(body)(scope, receive, send)


class Running:
    """A server that runs in this process, and the connections to it."""

    def __init__(self, server: uvicorn.Server) -> None:
        self.server, self.opened = server, contextlib.ExitStack()
        self.protocols = server.server_state.connections

    async def connect(self, request: bytes = REQUEST, buffer_bytes: int = 4096) -> socket.socket:
        """Return a connection that has sent a request, and buffers few bytes of its answer."""
        connection = self.opened.enter_context(socket.socket())
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connection, self.server.servers[0].sockets[0].getsockname())
        await loop.sock_sendall(connection, request)
        return connection


@contextlib.asynccontextmanager
async def running(app: Any, **limits: Any) -> AsyncIterator[Running]:
    """Run an application within limits, on a port of its own."""
    bounds = ConnectionLimits(**limits)
    http = bounded_protocol(bounds, ConnectionCount(bounds))
    config = uvicorn.Config(
        app, port=0, http=http, lifespan="off", log_config=None, timeout_keep_alive=1, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    service = Running(server)
    try:
        yield service
    finally:
        service.opened.close()
        server.should_exit = True
        await task


async def read_all(connection: socket.socket, pause: float = 0, piece: int = 1 << 16) -> bytes:
    """Return all bytes until the end of a connection, read with pauses."""
    content = b""
    with contextlib.suppress(ConnectionError):
        while part := await asyncio.get_running_loop().sock_recv(connection, piece):
            content += part
            await asyncio.sleep(pause)
    return content


async def wait_until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_true():
            await asyncio.sleep(0.01)


def bounded(answer: OneAnswer, max_bytes: int = 100 * MEBIBYTE) -> tuple[BoundedAnswers, AnswerLimit]:
    limit = AnswerLimit(max_bytes)
    return BoundedAnswers(answer, limit, problem(Reason.BUSY)), limit


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())


def test_an_unread_answer_is_buffered_in_part_and_counted_once():
    """Forty connections that read nothing took 676 MiB, for an answer of 9 MB."""

    async def check() -> None:
        app, limit = bounded(OneAnswer(bytes(8 * MEBIBYTE)))
        async with running(app) as service:
            connections = [await service.connect() for _ in range(20)]
            await wait_until(lambda: len(service.protocols) == 20 and limit.held_bytes > 0)
            await asyncio.sleep(0.1)
            buffered = [protocol.transport.get_write_buffer_size() for protocol in service.protocols]
            assert 0 < max(buffered) <= 2 * PIECE_BYTES
            assert limit.held_bytes == 8 * MEBIBYTE
            for connection in connections:
                connection.close()
            await wait_until(lambda: not limit.held_bytes)

    run(check)


def test_answers_beyond_the_limit_are_refused_and_later_ones_are_not():
    async def check() -> None:
        app, limit = bounded(OneAnswer(bytes(MEBIBYTE), shared=False), max_bytes=3 * MEBIBYTE)
        async with running(app) as service:
            connections = []
            for number in range(1, 4):
                connections.append(await service.connect())
                await wait_until(lambda number=number: limit.held_bytes == number * MEBIBYTE)
            head, _, body = (await read_all(await service.connect())).partition(b"\r\n\r\n")
            assert head.split()[1] == b"503"
            assert b"retry-after: 1" in head
            assert json.loads(body)["reason"] == "busy"
            connections.pop().close()
            await wait_until(lambda: limit.held_bytes == 2 * MEBIBYTE)
            head, _, body = (await read_all(await service.connect())).partition(b"\r\n\r\n")
            assert (head.split()[1], len(body)) == (b"200", MEBIBYTE)

    run(check)


def test_an_answer_longer_than_the_limit_is_sent_alone():
    async def check() -> None:
        app, _ = bounded(OneAnswer(bytes(range(256)) * 4096), max_bytes=1)
        async with running(app) as service:
            content = await read_all(await service.connect())
            assert content.partition(b"\r\n\r\n")[2] == bytes(range(256)) * 4096

    run(check)


def test_a_slow_reader_gets_its_answer():
    """A device that read 150 kB/s without a pause was cut after 30 s. The times here are 60 times shorter."""

    async def check() -> None:
        app, _ = bounded(OneAnswer(bytes(4 * MEBIBYTE)))
        async with running(app, stalled_seconds=0.5) as service:
            begun = time.monotonic()
            content = await read_all(await service.connect(buffer_bytes=1 << 16), pause=0.02)
            assert time.monotonic() - begun > 1
            assert len(content.partition(b"\r\n\r\n")[2]) == 4 * MEBIBYTE

    run(check)


@pytest.mark.parametrize("size", [4 * MEBIBYTE, MEBIBYTE // 2])
@pytest.mark.parametrize("request_text", [REQUEST, KEPT_REQUEST])
@pytest.mark.parametrize("pause", [None, 0.1])
def test_a_reader_of_next_to_nothing_is_cut(size, request_text, pause):
    """Also between requests: a connection that was kept alive waited for its reader for ever."""

    async def check() -> None:
        app, limit = bounded(OneAnswer(bytes(size)))
        async with running(app, stalled_seconds=0.5) as service:
            connection = await service.connect(request_text)
            await wait_until(lambda: bool(service.protocols))
            reading = asyncio.create_task(asyncio.sleep(60) if pause is None else read_all(connection, pause, 100))
            # The bytes are given back by the task of the answer, a moment after the connection has ended.
            await wait_until(lambda: not service.protocols and not limit.held_bytes)
            reading.cancel()

    run(check)


def test_a_study_and_its_texts_are_shared(tmp_path):
    with collector_in(tmp_path) as collector:
        collector.open_study(plan_of())
        service: Service = application(collector).state.service
        assert service.study("study") is service.study("study")
        assert json.loads(service.study("study")) == collector.signed("study")
        before = service.texts("study")
        assert before is service.texts("study")
        assert json.loads(before) == collector.texts("study")
        collector.close("study")
        assert json.loads(service.texts("study")) == collector.texts("study")
        assert service.texts("study") != before
        assert service.study("study") is service.study("study")
        assert json.loads(asyncio.run(service.questions("study")))["state"] == collector.questions("study").state
