"""Long batches: refused before they are read where a study takes none, and expanded a piece at a time."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import weakref
from hashlib import sha256
from pathlib import Path
from struct import pack
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi")

from discreet.collector import (
    ALREADY_COUNTED,
    CODES,
    COUNTED,
    Reason,
    RefusedRequest,
    ReportBatch,
    StudyCollector,
    StudyCore,
    collector_in,
)
from discreet.collector._bodies import WorkLimit
from discreet.collector._service import application
from discreet.collector._uploads import MAX_PART_BYTES, MAX_PART_REPORTS

sys.path.insert(0, str(Path(__file__).parent))
from serving import plan_of, served

REPORTS = 15_000  # of one batch
BATCHES = 10  # at the same time


def post(collector: StudyCollector, path: str, *bodies: bytes) -> list[tuple[int, bytes]]:
    """Return status and body of the answers to bodies that an application is sent at the same time."""
    app = application(collector)

    async def answer(body: bytes) -> tuple[int, bytes]:
        parts = [{"type": "http.request", "body": body, "more_body": False}]
        messages: list[dict] = []
        scope = {
            "type": "http", "method": "POST", "path": path, "raw_path": b"", "query_string": b"", "headers": [],
            "http_version": "1.1", "scheme": "http", "root_path": "", "client": ("127.0.0.1", 1), "server": ("x", 80),
            "state": {}, "app": app,
        }  # fmt: skip

        async def receive() -> dict:
            if not parts:
                await asyncio.sleep(60)
            return parts.pop()

        async def send(message: dict) -> None:
            messages.append(message)

        await app(scope, receive, send)
        return messages[0]["status"], b"".join(message.get("body", b"") for message in messages)

    async def answers() -> list[tuple[int, bytes]]:
        return await asyncio.gather(*map(answer, bodies))

    try:
        return asyncio.run(answers())
    finally:
        app.state.service.batcher.close()


def batch_of(collector: StudyCollector, reports: int, first_token: int = 0) -> bytes:
    """Return a batch of one good report for each of many tokens, which are numbers."""
    ask = StudyCore(collector.plan("study")).asks[0]
    words = ask.oracle.codec.pack(ask.oracle.codec.make_columns([ask.oracle.randomise([1])]))
    tokens = [number.to_bytes(16, "little") for number in range(first_token, first_token + reports)]
    study = bytes.fromhex(collector.record("study").id)
    return ReportBatch.build(study, 0, tokens, tokens, np.repeat(words, reports, axis=0)).encode()


@pytest.fixture
def collector(tmp_path):
    new_collector = collector_in(tmp_path)
    new_collector.open_study(plan_of())
    yield new_collector
    new_collector.store.close()


def test_few_reports_are_expanded_at_a_time_however_many_come(collector, monkeypatch):
    """All of ten batches were expanded at once: 150,000 reports."""
    lock, live, peak = threading.Lock(), 0, 0
    hashed = ReportBatch._hash_secrets

    def change(reports: int) -> None:
        nonlocal live, peak
        with lock:
            live += reports
            peak = max(peak, live)

    def watched(self: ReportBatch, words: Any, codes: Any) -> Any:
        upload = hashed(self, words, codes)
        change(len(upload))
        weakref.finalize(upload, change, -len(upload))
        return upload

    monkeypatch.setattr(ReportBatch, "_hash_secrets", watched)
    monkeypatch.setattr(StudyCollector, "take_reports", lambda self, name, upload: np.zeros(len(upload), np.uint8))
    body = batch_of(collector, REPORTS)

    for status, codes in post(collector, "/v1/studies/study/batches", *[body] * BATCHES):
        assert (status, codes) == (200, bytes([COUNTED]) * REPORTS)
    # Four pieces are expanded at a time; one more may live until its outcome is handed on. Whole batches were 150,000.
    assert peak <= 30_000


def test_pieces_of_a_batch_have_the_outcomes_of_the_whole(collector, monkeypatch):
    """Tokens that come twice, in one piece or in two, are counted once."""
    monkeypatch.setattr("discreet.collector._uploads.MAX_PART_REPORTS", 3)
    tokens = [bytes.fromhex(token) for token in collector.tokens("study", 8)]
    ask = StudyCore(collector.plan("study")).asks[0]
    words = ask.oracle.codec.pack(ask.oracle.codec.make_columns([ask.oracle.randomise([1])] * 12))
    words[4] = 2**32 - 1
    sent_tokens = [*tokens[:3], tokens[0], tokens[3], *tokens[4:7], tokens[4], bytes(16), tokens[7], tokens[3]]
    body = ReportBatch.build(bytes.fromhex(collector.record("study").id), 0, sent_tokens, sent_tokens, words).encode()
    ((status, codes),) = post(collector, "/v1/studies/study/batches", body)
    impossible, unknown = CODES[Reason.REPORT_IMPOSSIBLE], CODES[Reason.TOKEN_UNKNOWN]
    assert status == 200
    assert list(codes) == [0, 0, 0, ALREADY_COUNTED, impossible, 0, 0, 0, ALREADY_COUNTED, unknown, 0, 0]
    assert collector.store.rounds("study")[0].people == 8


def test_a_piece_is_bounded_in_reports_and_in_bytes():
    for words, reports in ((1, 12_000), (4_000, 700)):
        rows = np.zeros((reports, 32 + 4 * words), np.uint8)
        pieces = list(ReportBatch(study=bytes(16), round=0, rows=rows).parts())
        assert sum(len(piece.rows) for piece in pieces) == reports
        assert max(len(piece.rows) for piece in pieces) <= MAX_PART_REPORTS
        assert max(piece.rows.nbytes for piece in pieces) <= MAX_PART_BYTES
    (empty,) = ReportBatch(study=bytes(16), round=0, rows=np.zeros((0, 36), np.uint8)).parts()
    assert len(empty.rows) == 0


def test_whoever_waits_too_long_for_a_turn_is_told_to_come_again():
    async def send() -> None:
        limit = WorkLimit(1, patience=0.01)
        async with limit.turn():
            with pytest.raises(RefusedRequest) as error:
                async with limit.turn():
                    pass
            assert error.value.reason is Reason.BUSY
        async with limit.turn():
            pass

    asyncio.run(send())


@pytest.mark.parametrize("name", ["study", "nowhere"])
def test_a_study_that_takes_no_batch_refuses_it_before_it_comes(tmp_path, name):
    """A batch to a study that had ended was read whole, and each of its tokens was looked up."""
    with served(tmp_path) as service:
        operator = service.operator()
        assert service.ask("/v1/studies", plan_of().to_json().encode(), token=operator)[0] == 200
        study = sha256(service.ask("/v1/studies/study")[1]["study"].encode()).digest()[:16]
        while service.ask("/v1/studies/study/questions")[1]["state"] != "released":
            service.ask("/v1/studies/study/close", {"few": True}, token=operator)
        with socket.create_connection(("127.0.0.1", int(service.address.rpartition(":")[2])), timeout=20) as connection:
            head = f"POST /v1/studies/{name}/batches HTTP/1.1\r\nHost: x\r\nContent-Length: 3600036\r\n\r\n"
            connection.sendall(head.encode())  # and nothing of the body
            text = b""
            while b"}" not in text:
                text += connection.recv(4000)
            refused = json.loads(text.partition(b"\r\n\r\n")[2])
            expected_refusal = (409, "round-closed") if name == "study" else (404, "unknown-study")
            assert (refused["status"], refused["reason"]) == expected_refusal
            # Whoever sends all of it first can read the answer too.
            connection.sendall(pack("<4sI16sIII", b"DSCB", 1, study, 0, 1, 100_000) + bytes(3_600_000))
            connection.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"200" in connection.recv(4000)
