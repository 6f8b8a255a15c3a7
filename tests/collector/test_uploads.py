"""Uploads: batches down to the bytes, one report as JSON, and the reasons of a refusal."""

# internals: this module needs the refusals after which devices stop.
from __future__ import annotations

import contextlib
import json
import re
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.collector import (
    CODES,
    COUNTED,
    TRANSITIONS,
    Reason,
    RefusedRequest,
    ReportBatch,
    RoundEvent,
    RoundState,
)
from discreet.collector._service import problem
from discreet.collector._uploads import MAX_BATCH_BYTES, MAX_REPORT_BYTES, build_upload, parse_report
from discreet.local.device import client
from discreet.local.device._sending import ANOTHER_TOKEN, FINAL
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup
from vectors.reading import cases

PAGE = Path(__file__).parents[2] / "docs" / "wire.md"
ASK = Ask.of("which", PeopleGroup(0, 9), CandidateQuestion(CandidateList(5)), "olh", Fraction(1))


@pytest.mark.parametrize("case", cases("batches"), ids=lambda case: case.get("what", ""))
def test_vectors(case):
    body = bytes.fromhex(case["batch"])
    if "refused" in case:
        with pytest.raises(RefusedRequest) as error:
            ReportBatch.decode(body)
        assert error.value.reason is Reason.MALFORMED
        return
    batch = ReportBatch.decode(body)
    assert (batch.study.hex(), batch.round, len(batch.rows)) == (case["study"], case["round"], len(case["reports"]))
    for row, expected_report in zip(batch.rows, case["reports"], strict=True):
        assert row[:16].tobytes().hex() == expected_report["token"]
        assert row[16:32].tobytes().hex() == expected_report["key"]
        assert np.frombuffer(row[32:].tobytes(), "<u4").tolist() == expected_report["words"]
    assert batch.encode() == body


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body):
    with contextlib.suppress(RefusedRequest):
        assert ReportBatch.decode(b"DSCB" + body).encode() == b"DSCB" + body


def test_each_report_of_a_batch_has_its_own_outcome():
    words = np.array([[3, 4, 0], [2, 4, 0], [3, 4, 9]], np.uint32)
    tokens, keys = [bytes([number]) * 16 for number in range(3)], [bytes([number + 9]) * 16 for number in range(3)]
    upload = ReportBatch.build(bytes(16), 0, tokens, keys, words).upload(ASK)
    impossible_code = CODES[Reason.REPORT_IMPOSSIBLE]
    assert upload.codes.tolist() == [COUNTED, impossible_code, impossible_code]
    assert upload.words.tolist() == words.tolist()
    assert upload.tokens == [sha256(token).digest() for token in tokens]
    assert len(set(upload.keys)) == 3
    with pytest.raises(RefusedRequest, match="A report to this round has 3 words, and the batch has 2"):
        ReportBatch.build(bytes(16), 0, tokens, keys, words[:, :2]).upload(ASK)


def test_one_and_many_are_the_same():
    report = json.loads(client(ASK.form, [1], max_epsilon=1))
    token, key = bytes(range(16)), bytes(range(16, 32))
    body = json.dumps({"round": 4, "token": token.hex(), "key": key.hex(), "report": report}).encode()
    single_upload = build_upload(ASK, *parse_report(body))
    batch_upload = ReportBatch.build(bytes(16), 4, [token], [key], single_upload.words).upload(ASK)
    assert (single_upload.round, single_upload.tokens, single_upload.keys) == (
        batch_upload.round,
        batch_upload.tokens,
        batch_upload.keys,
    )
    assert single_upload.words.tolist() == batch_upload.words.tolist()


def encode_report(**changes: object) -> bytes:
    return json.dumps({"round": 0, "token": "0" * 32, "key": "0" * 32, "report": {}, **changes}).encode()


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b"7", b"\xff", b'{"round":0}', b"[" * 5000, encode_report(token="0" * 31),
     encode_report(key="G" * 32), encode_report(round=True), encode_report(round=-1), encode_report(round=1 << 32),
     encode_report(token=7)],
)  # fmt: skip
def test_what_is_no_report_is_refused(body):
    with pytest.raises(RefusedRequest) as error:
        parse_report(body)
    assert error.value.reason is Reason.MALFORMED


def test_lengths_are_looked_at_first():
    for parse, max_bytes in ((parse_report, MAX_REPORT_BYTES), (ReportBatch.decode, MAX_BATCH_BYTES)):
        with pytest.raises(RefusedRequest) as error:
            parse(b"x" * (max_bytes + 1))
        assert error.value.reason is Reason.TOO_LARGE


def test_impossible_reports_are_refused_with_few_words():
    with pytest.raises(RefusedRequest) as error:
        build_upload(ASK, 0, "0" * 32, "0" * 32, {"seed": [2, 2], "value": 0})
    assert (error.value.reason, str(error.value)) == (
        Reason.REPORT_IMPOSSIBLE,
        "No device makes such a report to this question.",
    )


def test_every_reason_has_an_answer_and_codes_differ():
    assert len(set(CODES.values())) == len(CODES)
    assert not {0, 1} & set(CODES.values())
    assert all(400 <= reason.status < 600 for reason in Reason)


def test_every_reason_is_on_the_page():
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d+) \| (\d*) \|", PAGE.read_text().replace("| |", "|  |"), re.MULTILINE)
    documented_codes = {reason: (int(status), int(code) if code else None) for reason, status, code in rows}
    assert documented_codes == {str(reason): (reason.status, reason.code) for reason in Reason}
    assert f"{MAX_REPORT_BYTES:,} bytes for one report, {MAX_BATCH_BYTES:,} for a batch" in PAGE.read_text()


def test_what_ends_a_report_is_one_list():
    """The page, both clients by their vectors, and what the service says: a new reason has to be decided on."""
    (line,) = re.findall(r"^- These reasons end it: (.*)\.$", PAGE.read_text(), re.MULTILINE)
    assert set(re.findall("`([a-z-]+)`", line)) == FINAL
    assert {str(reason) for reason in Reason} >= {*FINAL, ANOTHER_TOKEN}
    answered = {case["what"]: case for case in cases("answers")}
    for reason in Reason:
        case, expected_problem = answered[reason], problem(reason)
        assert (case["status"], json.loads(case["body"])) == (
            expected_problem.status_code,
            json.loads(bytes(expected_problem.body)),
        )
        ends = "refused" if reason in FINAL else "another-token" if reason == ANOTHER_TOKEN else "again"
        assert case["fate"] == ends
        # What ends a report is said of this one, and not of the moment.
        assert ends == "again" or CODES.get(reason) is not None


def test_rounds_go_one_way():
    order = [RoundState.DRAFTED, RoundState.OPEN, RoundState.CLOSED, RoundState.RELEASED, RoundState.SCRUBBED]
    assert list(RoundState) == order
    assert list(TRANSITIONS) == list(RoundEvent)
    assert list(TRANSITIONS.values()) == list(pairwise(order))
