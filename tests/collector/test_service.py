"""The service as devices, gateways and operators meet it: a real one, in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import sqlite3
import sys
import threading
import time
from collections import Counter
from email.message import Message
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from struct import pack as pack_head
from urllib.parse import quote

import numpy as np
import pytest

from discreet.collector import (
    ALREADY_COUNTED,
    CODES,
    COUNTED,
    TEMPLATE,
    Reason,
    RefusedRequest,
    ReportBatch,
    RoundEvent,
    Signer,
    StudyCore,
    StudyPlan,
    Upload,
    collector_in,
    serve,
)
from discreet.collector._batcher import Batcher
from discreet.collector._bodies import BodyLimit
from discreet.collector._collector import ScrubbedRounds
from discreet.collector._service import application
from discreet.collector._uploads import HEAD_BYTES, MAX_BATCH_BYTES, build_upload
from discreet.errors import InputError
from discreet.local.device import QUESTION, Participant, client, is_signature
from discreet.results import load

sys.path.insert(0, str(Path(__file__).parent))
from serving import Served, attack, plan_of, served

from running import run

QUOTA = {"close": "quota", "people": 40}


def opened(service: Served, **changes: object) -> tuple[StudyPlan, str]:
    """Open a study, and return its plan and an operator's token."""
    plan, token = plan_of(**changes), service.operator()
    status, answer = service.ask("/v1/studies", plan.to_json().encode(), token=token)
    assert status == 200, answer
    return plan, token


def make_words(ask: object, report_count: int) -> np.ndarray:
    reports = [ask.oracle.randomise([number % 3] if not ask.oracle.single else [0]) for number in range(report_count)]
    return ask.oracle.codec.pack(ask.oracle.codec.make_columns(reports))


def batch(service: Served, plan: StudyPlan, tokens: list[str], *, number: int = 0, key: int = 1) -> bytes:
    """Return a batch of good reports to the first round."""
    study = json.loads(service.ask(f"/v1/studies/{plan.name}/questions")[1]["questions"][0]["question"])["study"]
    ask = StudyCore(plan).asks[0]
    keys = [bytes([key]) * 16 for _ in tokens]
    return ReportBatch.build(
        bytes.fromhex(study), number, [bytes.fromhex(token) for token in tokens], keys, make_words(ask, len(tokens))
    ).encode()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with served(tmp_path_factory.mktemp("service") / "studies") as server:
        yield server


class TestAWholeStudy:
    def test_adept_from_the_first_question_to_the_result(self, tmp_path):
        """Thirty devices answer all rounds there are, and the service is killed between two. Takes 8 seconds."""
        with served(tmp_path / "service") as server:
            _, operator = opened(server, protocol="adept", name="whole", who="anyone")
            people = [
                Participant(server.address, "whole", folder=tmp_path / f"device-{number}", max_epsilon=4, pause=0)
                for number in range(30)
            ]
            outcomes: Counter[str] = Counter()
            port = int(server.address.rpartition(":")[2])
            service, waiting = server, dict(enumerate(people))
            for turn in range(30):
                for number, device in list(waiting.items()):
                    outcome = device.take_part([number % 6, (number + 1) % 6])
                    if outcome != "waiting":
                        outcomes[outcome] += 1
                        del waiting[number]
                if service.ask("/v1/studies/whole/questions")[1]["state"] == "released":
                    break
                assert service.ask("/v1/studies/whole/close", {}, token=operator)[0] == 200
                if turn == 0:
                    service.stop(signal.SIGKILL)
                    service = Served(tmp_path / "service", port=port)
            try:
                status, result = service.ask("/v1/studies/whole/results")
                assert status == 200
                assert outcomes["counted"] == sum(asked_round["people"] for asked_round in result["rounds"])
                assert result["guarantee"]["epsilon"] == "4"
                assert result["simulated"] is False
                assert result["reports"] == 1
                (tmp_path / "result.json").write_text(json.dumps(result))
                assert len(load(tmp_path / "result.json")) == 3
                # What liars could have done is asked for beside it; the result itself stays as it was released.
                status, widened = service.ask("/v1/studies/whole/results?assume_malicious=1%25")
                assert (status, widened["asked"]["assume_malicious"]) == (200, "1%")
                for pattern, widened_pattern in zip(result["patterns"], widened["patterns"], strict=True):
                    assert widened_pattern["low"] <= pattern["low"] <= pattern["high"] <= widened_pattern["high"]
                for bad_share in ("one percent", "100%", "-1", "1"):
                    refused = service.ask(f"/v1/studies/whole/results?assume_malicious={quote(bad_share)}")
                    assert (refused[0], refused[1]["reason"]) == (400, "malformed")
                    assert "from 0% to below 100%, such as 1% or 0.01" in refused[1]["detail"]
                assert service.ask("/v1/studies/whole/results")[1] == result
                status, page = service.ask("/studies/whole?assume_malicious=1%25")
                assert status == 200
                assert b"up to 1% of the reports of each round" in page
                assert b"results.csv?assume_malicious=1%25" in page
                assert b"assume_malicious=5%25" in service.ask("/studies/whole")[1]
                assert service.ask("/studies/whole?assume_malicious=all")[0] == 400
                for form in ("results.csv", "report.html"):
                    plain, widened_interval = (
                        service.ask(f"/studies/whole/{form}{end}")[1] for end in ("", "?assume_malicious=0.01")
                    )
                    assert plain != widened_interval
                progress = service.ask("/v1/studies/whole/rounds")[1]
                assert progress["state"] == "released"
                assert {asked_round["state"] for asked_round in progress["rounds"]} == {"scrubbed"}
                # Whoever has answered is told so, without the service; whoever has not, that it is over.
                assert people[0].take_part([1]) in ("already-counted", "not-asked")
            finally:
                service.stop()


class TestReports:
    def test_one_by_one(self, service):
        plan, operator = opened(service, name="single")
        (token,) = service.ask("/v1/studies/single/tokens", {"many": 1}, token=operator)[1]["tokens"]
        report = StudyCore(plan).asks[0].oracle.randomise([1])
        body = {"round": 0, "token": token, "key": "ab" * 16, "report": report}
        assert service.ask("/v1/studies/single/reports", body) == (200, {"outcome": "counted"})
        assert service.ask("/v1/studies/single/reports", body) == (200, {"outcome": "already-counted"})
        for change, status, reason in (
            ({"key": "cd" * 16}, 409, "token-spent"),
            ({"token": "00" * 16}, 403, "token-unknown"),
            ({"round": 77}, 404, "unknown-round"),
            ({"report": {"value": -1}}, 422, "report-impossible"),
            ({"report": [1]}, 422, "report-impossible"),
            ({"token": "xyz"}, 400, "malformed"),
        ):
            answer = service.ask("/v1/studies/single/reports", {**body, **change})
            assert (answer[0], answer[1]["reason"], answer[1]["status"]) == (status, reason, status)
        assert service.ask("/v1/studies/none/reports", body)[1]["reason"] == "unknown-study"
        answer = service.ask("/v1/studies/single/status", token=operator)[1]
        assert answer["rounds"][0]["people"] == 1
        assert answer["tokens"] == {"made": 1, "spent": 1}
        assert answer["refused"] == {"report-impossible": 2, "token-spent": 1, "token-unknown": 1}

    def test_what_is_not_written_as_the_format_says_is_not_counted(self, service):
        plan, operator = opened(service, name="written")
        (token,) = service.ask("/v1/studies/written/tokens", {"many": 1}, token=operator)[1]["tokens"]
        report = StudyCore(plan).asks[0].oracle.randomise([1])
        text = json.dumps({"round": 0, "token": token, "key": "ab" * 16, "report": report})
        for body in (
            text.encode("utf-16"),
            text.encode("utf-32"),
            text.encode("utf-8-sig"),
            f'{{"round": 1, {text[1:]}'.encode(),
            text.replace('"report": {', '"report": {"value": 0, "value": 1, ').encode(),
            text.replace('"round": 0', '"round": 0.0').encode(),
            b"[" * 100_000,
        ):
            status, answer = service.ask("/v1/studies/written/reports", body)
            assert (status, answer["reason"]) == (400, "malformed"), body[:60]
        for path, body in (
            ("/v1/studies/written/tokens", '{"many": 1}'.encode("utf-16")),
            ("/v1/studies/written/tokens", b'{"many": 1, "many": 2}'),
            ("/v1/operators", b'{"scopes": ["watch"], "scopes": ["operate"]}'),
        ):
            assert service.ask(path, body, token=operator)[1]["reason"] == "malformed"
        doubled = plan_of(name="doubled").to_json().replace('"top":3', '"top":3,"top":4')
        for plan_text in (doubled.encode(), plan_of(name="doubled").to_json().encode("utf-16")):
            assert service.ask("/v1/studies", plan_text, token=operator)[1]["reason"] == "plan-refused"
        assert service.ask("/v1/studies/written/rounds")[1]["people"] == 0
        assert service.ask("/v1/studies/written/reports", text.encode()) == (200, {"outcome": "counted"})

    def test_many_at_once(self, service):
        plan, operator = opened(service, name="many")
        tokens = service.ask("/v1/studies/many/tokens", {"many": 50}, token=operator)[1]["tokens"]
        body = batch(service, plan, tokens)
        assert service.ask("/v1/studies/many/batches", body) == (200, bytes([COUNTED]) * 50)
        assert service.ask("/v1/studies/many/batches", body) == (200, bytes([ALREADY_COUNTED]) * 50)
        other_batch = batch(service, plan, tokens[:2], key=2)
        assert service.ask("/v1/studies/many/batches", other_batch)[1] == bytes([CODES[Reason.TOKEN_SPENT]]) * 2
        wrong = body[:8] + bytes(16) + body[24:]
        for text, status, reason in (
            (wrong, 409, "wrong-study"),
            (body[:-1], 400, "malformed"),
            (b"", 400, "malformed"),
            (body[:24] + b"\x09\0\0\0" + body[28:], 404, "unknown-round"),
        ):
            outcomes = service.ask("/v1/studies/many/batches", text)
            assert (outcomes[0], outcomes[1]["reason"]) == (status, reason)
        assert service.ask("/v1/studies/many/rounds")[1]["people"] == 50

    def test_a_closed_round_tells_what_it_took(self, service):
        plan, operator = opened(service, name="closing", **QUOTA)
        tokens = service.ask("/v1/studies/closing/tokens", {"many": 100}, token=operator)[1]["tokens"]
        body, late = batch(service, plan, tokens[:40]), batch(service, plan, tokens[40:42])
        assert set(service.ask("/v1/studies/closing/batches", body)[1]) == {COUNTED}
        deadline = time.monotonic() + 30
        while service.ask("/v1/studies/closing/rounds")[1]["rounds"][0]["state"] != "scrubbed":
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert set(service.ask("/v1/studies/closing/batches", body)[1]) == {ALREADY_COUNTED}
        assert set(service.ask("/v1/studies/closing/batches", late)[1]) == {CODES[Reason.ROUND_CLOSED]}

    def test_tokens_for_anyone_only_where_anyone_may_take_part(self, service):
        opened(service, name="anyone", who="anyone")
        opened(service, name="tokens")
        status, answer = service.ask("/v1/studies/anyone/enrol", {})
        assert (status, len(answer["token"])) == (200, 32)
        assert service.ask("/v1/studies/tokens/enrol", {})[1]["reason"] == "not-for-anyone"

    def test_a_study_that_has_ended_gives_no_tokens(self, service):
        """They were stored, and were of no use to anybody."""
        _, operator = opened(service, name="over", who="anyone")
        while service.ask("/v1/studies/over/questions")[1]["state"] != "released":
            service.ask("/v1/studies/over/close", {"few": True}, token=operator)
        for place, body in (("enrol", {}), ("tokens", {"many": 3})):
            status, answer = service.ask(f"/v1/studies/over/{place}", body, token=operator)
            assert (status, answer["reason"], answer["detail"]) == (409, "round-closed", "The study 'over' has ended.")
        assert service.ask("/v1/studies/over/status", token=operator)[1]["tokens"]["made"] == 0
        for place in ("enrol", "tokens"):
            assert service.ask(f"/v1/studies/nowhere/{place}", {"many": 1}, token=operator)[0] == 404


class TestOperators:
    def test_tokens_have_scopes(self, service):
        opened(service, name="scoped")
        watch, operate = service.operator("watch"), service.operator("operate")
        assert service.ask("/v1/studies/scoped/status", token=watch)[0] == 200
        assert service.ask("/v1/studies/scoped/export", token=watch)[0] == 200
        for path, body, token in (
            ("/v1/studies/scoped/close", {}, watch),
            ("/v1/studies/scoped/scrub", {}, watch),
            ("/v1/studies/scoped/tokens", {"many": 1}, watch),
            ("/v1/studies", {}, watch),
            ("/v1/studies/scoped/status", None, operate),
        ):
            assert service.ask(path, body, token=token)[1]["reason"] == "forbidden"
            assert service.ask(path, body)[1]["reason"] == "unauthorised"
            assert service.ask(path, body, token="0" * 64)[1]["reason"] == "unauthorised"

    def test_a_study_that_is_open_does_not_change(self, service):
        plan, operator = opened(service, name="fixed")
        assert service.ask("/v1/studies", plan.to_json().encode(), token=operator)[0] == 200
        for change in ({"items": list("abcdeg")}, {"epsilon": "2"}, {"close": "quota", "people": 3}):
            other_plan = {**json.loads(plan.to_json()), **change}
            assert service.ask("/v1/studies", other_plan, token=operator)[1]["reason"] == "study-exists"
        bad_plan = {**json.loads(plan.to_json()), "name": "bad", "epsilon": "0"}
        status, answer = service.ask("/v1/studies", bad_plan, token=operator)
        assert (status, answer["reason"]) == (422, "plan-refused")
        assert "epsilon is a number from 0.001 to 20" in answer["detail"]

    def test_a_round_with_too_few_reports_closes_only_if_an_operator_insists(self, service, tmp_path):
        """Nobody has answered: it was closed without a word, and 3 patterns were released with counts [0, 0]."""
        _, operator = opened(service, name="few", minimum=None)
        place = "/v1/studies/few/close"
        minimum = service.ask("/v1/studies/few/rounds")[1]["rounds"][0]["minimum"]
        assert minimum > 4
        for body in ({}, {"few": False}, b""):
            status, answer = service.ask(place, body, token=operator)
            assert (status, answer["reason"]) == (409, "too-few-reports")
            assert answer["detail"] == (
                f"Round 1 of the study 'few' has 0 reports, and its minimum is {minimum}: with fewer, its intervals "
                'would say next to nothing. Wait for more. Or insist, with --yes or {"few": true}: that cannot be '
                "undone."
            )
        for body in ({"few": 1}, [], b"x"):
            assert service.ask(place, body, token=operator)[1]["reason"] == "malformed"
        assert service.ask("/v1/studies/few/rounds")[1]["rounds"][0]["state"] == "open"
        location = ("--at", service.address, "--token", operator)
        completed = run("study", "close", "few", *location)
        assert completed.returncode == 1
        assert "Round 1 of the study 'few' has 0 reports" in completed.stderr
        while service.ask("/v1/studies/few/questions")[1]["state"] != "released":
            assert run("study", "close", "few", *location, "--yes").returncode == 0
        answer = service.ask("/v1/studies/few/results")[1]
        assert answer["patterns"] == []  # a list with intervals [0, 0] would look as if something were known
        assert any("nothing is known of it" in note for note in answer["notes"])

    def test_a_deadline_that_passed_with_too_few_reports_is_told(self, tmp_path):
        clock = [1_000_000.0]
        collector = collector_in(tmp_path)
        collector.now = lambda: clock[0]
        collector.open_study(plan_of(name="late", close="deadline", hours=1, minimum=5))
        clock[0] += 3601
        collector.tick()
        assert collector.store.rounds("late")[0].state == "open"
        assert collector.status("late")["overdue"] == [0]
        collector.store.close()
        completed = run("study", "status", "late", "--at", tmp_path)
        assert "the deadline of round 1 has passed with 0 reports, and its minimum is 5" in completed.stdout
        assert "  1  how many candidates" in completed.stdout

    @pytest.mark.parametrize("people", [0, 2])
    def test_nobody_is_told_to_wait_for_reports_that_cannot_come(self, tmp_path, people):
        """Devices answer no question that has expired, and `study close` said: wait for more."""
        clock = [1_000_000.0]
        collector = collector_in(tmp_path)
        collector.now = lambda: clock[0]
        collector.open_study(plan_of(name="late", close="deadline", hours=1, minimum=5))
        tokens = collector.tokens("late", 3)
        ask = collector.known_ask("late", 0)
        for token in tokens[:people]:
            upload = build_upload(ask, 0, token, "ab" * 16, json.loads(client(ask.form, [1], max_epsilon=4)))
            assert collector.take("late", upload).tolist() == [COUNTED]
        with pytest.raises(RefusedRequest, match=r"would say next to nothing\. Wait for more\. Or insist"):
            collector.close("late")
        clock[0] += 3601
        with pytest.raises(RefusedRequest) as error:
            collector.close("late")
        assert error.value.detail == (
            f"Round 1 of the study 'late' has {people} reports, and its minimum is 5: with fewer, its intervals would "
            "say next to nothing. Its deadline has passed, so no more will come. Close it as it is, with --yes or "
            '{"few": true}, which cannot be undone. Or open the study again under another name, with more hours.'
        )
        assert collector.store.rounds("late")[0].state == "open"
        collector.store.close()

    def test_what_nobody_answered_is_said_when_it_is_closed(self, service):
        """A round without reports was closed, and a study without any ended, as if something had been learnt."""
        plan, operator = opened(service, name="unanswered", minimum=0)
        location = ("--at", service.address, "--token", operator)
        assert run("study", "close", "unanswered", *location).stdout == (
            "Closed 1 round of unanswered.\nRound 1 had no reports: nothing is known from it.\n"
        )
        output = ""
        while service.ask("/v1/studies/unanswered/questions")[1]["state"] != "released":
            output = run("study", "close", "unanswered", *location).stdout
        assert output.endswith(
            "The study unanswered has ended without a single report: its result is empty. Open it again under another "
            "name to ask once more.\n"
        )
        plan, _ = opened(service, name="answered", minimum=0)
        tokens = service.ask("/v1/studies/answered/tokens", {"many": 2}, token=operator)[1]["tokens"]
        assert set(service.ask("/v1/studies/answered/batches", batch(service, plan, tokens))[1]) == {COUNTED}
        answer = service.ask("/v1/studies/answered/close", {}, token=operator)[1]
        assert answer == {"closed": 1, "without_reports": [], "ended_empty": False}
        while service.ask("/v1/studies/answered/questions")[1]["state"] != "released":
            answer = service.ask("/v1/studies/answered/close", {}, token=operator)[1]
        assert (len(answer["without_reports"]), answer["ended_empty"]) == (answer["closed"], False)

    def test_nothing_is_released_before_it_is(self, service):
        opened(service, name="early")
        assert service.ask("/v1/studies/early/results")[1]["reason"] == "not-released"

    def test_reports_may_be_kept_until_an_operator_scrubs(self, service):
        _, operator = opened(service, name="kept", scrub="hand")
        while service.ask("/v1/studies/kept/questions")[1]["state"] != "released":
            service.ask("/v1/studies/kept/close", {}, token=operator)
            time.sleep(0.25)
        rounds = service.ask("/v1/studies/kept/rounds")[1]["rounds"]
        assert {scrubbed_round["state"] for scrubbed_round in rounds} == {"released"}
        assert service.ask("/v1/studies/kept/scrub", {}, token=operator) == (
            200,
            {"scrubbed": len(rounds), "tidy": True},
        )
        assert service.ask("/v1/studies/kept/scrub", {}, token=operator) == (200, {"scrubbed": 0, "tidy": True})

    def test_tokens_are_listed_and_revoked(self, service):
        operate, watch = service.operator("operate"), service.operator("watch")
        lost = service.ask("/v1/operators", {"scopes": ["watch"], "label": "lost"}, token=operate)[1]["token"]
        assert service.ask("/v1/operators", token=watch)[1]["reason"] == "forbidden"
        status, entries = service.ask("/v1/operators", token=operate)
        assert status == 200
        (lost_entry,) = [entry for entry in entries if entry["label"] == "lost"]
        assert lost_entry == {"id": sha256(lost.encode()).hexdigest()[:12], "scopes": ["watch"], "label": "lost"}
        place = f"/v1/operators/{lost_entry['id']}"
        assert service.ask(place, token=watch, method="DELETE")[1]["reason"] == "forbidden"
        opened(service, name="revoked")
        assert service.ask("/v1/studies/revoked/status", token=lost)[0] == 200
        assert service.ask(place, token=operate, method="DELETE") == (200, {"revoked": lost_entry["id"]})
        assert service.ask("/v1/studies/revoked/status", token=lost)[1]["reason"] == "unauthorised"
        assert service.ask(place, token=operate, method="DELETE")[1]["reason"] == "unknown-place"

    @pytest.mark.parametrize(
        "label", ["two\nlines", "tab\t", "nothing\0", "\x1b[2J", "\u202egnol", "\ud800", "x" * 201]
    )
    def test_a_label_is_one_short_line(self, service, label):
        """A line feed forged a row of the list; a zero byte was an error of the database, where that is PostgreSQL."""
        operate = service.operator("operate")
        before = service.ask("/v1/operators", token=operate)[1]
        status, answer = service.ask("/v1/operators", {"scopes": ["watch"], "label": label}, token=operate)
        assert (status, answer["reason"]) == (400, "malformed")
        assert answer["detail"] == 'label is one line of text of up to 200 letters, such as "the night shift".'
        assert service.ask("/v1/operators", token=operate)[1] == before
        if "\0" not in label and label.isascii():
            completed = run("study", "token", "--at", service.directory, "--scope", "watch", "--label", label)
            assert completed.returncode == 1
            assert "label is one line of text of up to 200 letters" in completed.stderr

    def test_signed_texts_are_public_also_those_of_past_rounds(self, service):
        _, operator = opened(service, name="signed")
        service.ask("/v1/studies/signed/close", {}, token=operator)
        texts = service.ask("/v1/studies/signed/texts")[1]
        assert texts["study"] == service.ask("/v1/studies/signed")[1]["study"]
        current_questions = service.ask("/v1/studies/signed/questions")[1]["questions"]
        assert [question["round"] for question in texts["questions"]][:2] == [0, 1]
        assert {
            "question": texts["questions"][1]["question"],
            "signature": texts["questions"][1]["signature"],
        } in current_questions
        for question in texts["questions"]:
            message = QUESTION + question["question"].encode()
            assert is_signature(bytes.fromhex(texts["key"]), message, bytes.fromhex(question["signature"]))

    def test_what_was_refused_is_for_those_who_watch(self, service):
        opened(service, name="refusing")
        body = {"round": 0, "token": "00" * 16, "key": "00" * 16, "report": {"value": -1}}
        assert service.ask("/v1/studies/refusing/reports", body)[0] == 422
        watch = service.operator("watch")
        service.ask("/v1/studies/refusing/status", token=watch)  # which stores the counts
        line = b'discreet_refused_total{study="refusing",reason="report-impossible"} 1'
        assert line in service.ask("/metrics", token=watch)[1]
        for token in ("", service.operator("enrol"), "none"):
            text = service.ask("/metrics", token=token)[1]
            assert b"reason=" not in text
            assert b"impossible" not in text
            assert b"discreet_round_people" in text


class TestAround:
    def test_health_metrics_and_the_document(self, service):
        opened(service, name="around")
        status, answer = service.ask("/v1/health")
        assert (status, answer["status"], answer["store"]) == (200, "ok", "sqlite")
        text = service.ask("/metrics")[1].decode()
        assert 'discreet_round_people{study="around",round="0"} 0' in text
        assert 'discreet_requests_total{status="200"}' in text
        document = service.ask("/openapi.json")[1]
        assert "/v1/studies/{name}/reports" in document["paths"]

    def test_answers_are_neither_kept_nor_guessed_at(self, service):
        opened(service, name="kept-by-nobody")
        for path in (
            "/v1/health",
            "/v1/ready",
            "/v1/studies",
            "/v1/studies/kept-by-nobody/questions",
            "/v1/no",
            "/metrics",
        ):
            with contextlib.closing(HTTPConnection("127.0.0.1", int(service.address.rpartition(":")[2]))) as connection:
                connection.request("GET", path)
                headers = connection.getresponse().headers
            assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == ("nosniff", "no-store")

    def test_what_is_nowhere_is_a_problem_document(self, service):
        assert service.ask("/v1/nothing")[1]["reason"] == "unknown-place"
        status, answer = service.ask("/v1/health", b"", method="DELETE")
        assert (status, answer["status"]) == (405, 405)
        assert service.ask("/v1/studies/NO")[1]["reason"] == "malformed"

    @pytest.mark.parametrize(
        "place", ["/v1/studies/", "/v1/health/", "/studies/slashed/", "/static/", "//example.org/"]
    )
    def test_a_slash_too_many_sends_nobody_elsewhere(self, service, place):
        """It was answered with an address of http, also behind a proxy that speaks HTTPS."""
        opened(service, name="slashed")
        status, headers, body = head_of(service, "GET", place)
        assert (status, json.loads(body)["reason"], headers["Location"]) == (404, "unknown-place", None)

    @pytest.mark.parametrize(
        "place",
        ["/", "/v1/health", "/v1/ready", "/metrics", "/v1/studies", "/v1/studies/headed", "/studies/headed",
         "/openapi.json", "/v1/studies/headed/questions", "/static/pages.css", "/v1/nothing",
         "/v1/studies/headed/status"],
    )  # fmt: skip
    def test_what_answers_get_answers_head_alike_without_a_body(self, service, place):
        opened(service, name="headed")
        (status, headers, body), (status_again, headers_again, empty_body) = (
            head_of(service, method, place) for method in ("GET", "HEAD")
        )
        assert (status_again, empty_body) == (status, b"")
        for name in ("Content-Type", "Cache-Control", "X-Content-Type-Options"):
            assert headers_again[name] == headers[name]
        if place != "/metrics":  # it counts the requests
            assert int(headers_again["Content-Length"]) == len(body)

    def test_places_that_change_something_take_no_head(self, service):
        opened(service, name="unchanged", who="anyone")
        for method, place, allowed_methods in (
            ("HEAD", "/v1/studies/unchanged/enrol", "POST"),
            ("DELETE", "/v1/health", "GET, HEAD"),
            ("DELETE", "/v1/studies", "GET, HEAD, POST"),
        ):
            status, headers, _ = head_of(service, method, place)
            assert (status, headers["Allow"]) == (405, allowed_methods)

    def test_long_bodies_are_not_read(self, service):
        opened(service, name="long")
        assert service.ask("/v1/studies/long/reports", b"x" * 200_000)[1]["reason"] == "too-large"
        with socket.create_connection(("127.0.0.1", int(service.address.rpartition(":")[2]))) as slow:
            slow.sendall(b"POST /v1/studies/long/batches HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
            assert b"413" in slow.recv(1000)

    def test_rates_are_limited(self, tmp_path):
        with served(tmp_path, rate=5) as server:
            statuses = Counter(server.ask("/v1/health")[0] for _ in range(30))
            assert statuses[200] >= 10
            assert statuses[429] >= 5

    def test_a_port_in_use_and_a_directory_in_use_are_told_in_a_line(self, service, tmp_path):
        with pytest.raises(InputError, match=r"Port \d+ of 127.0.0.1 cannot be used: .*\. Choose another port\."):
            serve(tmp_path / "new", port=int(service.address.rpartition(":")[2]))
        assert not (tmp_path / "new").exists()
        with pytest.raises(InputError, match="Another service runs in"):
            serve(service.directory, port=0)


def test_an_attack_on_a_live_service_is_seen_and_left_out(service):
    """One in eleven reports names the same ten rare values, through `privset`: the attack of the poisoning page."""
    operator, liars = service.operator(), attack(service)
    (alarm,) = service.ask("/v1/studies/attacked/status", token=operator)[1]["alarms"]
    assert alarm["round"] == 0
    assert alarm["left_out"] > 0.8 * liars
    assert any("named together more often than honest reports do" in alarm_text for alarm_text in alarm["alarms"])


class TestBodies:
    def connected(self, service: Served) -> socket.socket:
        return socket.create_connection(("127.0.0.1", int(service.address.rpartition(":")[2])), timeout=20)

    @pytest.mark.parametrize(
        ("name", "study", "number", "reason"),
        [
            ("nothere", bytes(16), 0, b"unknown-study"),
            ("begun", bytes(16), 0, b"wrong-study"),
            ("begun", None, 77, b"unknown-round"),
        ],
    )
    def test_a_batch_is_looked_at_from_its_first_bytes(self, service, name, study, number, reason):
        opened(service, name="begun")
        if study is None:
            study = sha256(service.ask("/v1/studies/begun")[1]["study"].encode()).digest()[:16]
        head = pack_head("<4sI16sIII", b"DSCB", 1, study, number, 1, 100_000)
        with self.connected(service) as connection:
            request = f"POST /v1/studies/{name}/batches HTTP/1.1\r\nHost: x\r\nContent-Length: {len(head) + 3_600_000}"
            connection.sendall(request.encode() + b"\r\n\r\n" + head + bytes(1000))  # and no more
            assert reason in answered(connection)

    def test_a_head_that_does_not_fit_the_announced_length_is_refused_at_once(self, service):
        opened(service, name="any")
        head = pack_head("<4sI16sIII", b"DSCB", 1, bytes(16), 0, 1, 5)
        with self.connected(service) as connection:
            connection.sendall(
                b"POST /v1/studies/any/batches HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n" + head
            )
            assert b"malformed" in answered(connection)

    def test_long_bodies_have_a_limit_together(self):
        body_limit = BodyLimit(100)
        with body_limit.count_body() as first_body:
            first_body(60)
            with body_limit.count_body() as second:
                second(40)
                with pytest.raises(RefusedRequest) as error:
                    second(1)
                assert error.value.reason is Reason.BUSY
            first_body(40)
        assert body_limit.held_bytes == 0

    def test_a_slow_body_may_come_again_and_one_that_is_left_is_no_fault(self, tmp_path, monkeypatch, caplog):
        monkeypatch.setattr("discreet.collector._bodies.BODY_SECONDS", 0.2)
        collector = collector_in(tmp_path)
        collector.open_study(plan_of())

        async def post_slowly() -> list[tuple[int, dict]]:
            app = application(collector)
            answers = []
            for last_message in ({"type": "http.disconnect"}, None):
                parts = [{"type": "http.request", "body": b'{"round":', "more_body": True}, last_message]
                messages = []

                async def receive(parts=parts):
                    part = parts.pop(0) if parts else None
                    if part is None:
                        await asyncio.sleep(60)
                    return part

                async def send(message, messages=messages):
                    messages.append(message)

                scope = {
                    "type": "http", "method": "POST", "path": "/v1/studies/study/reports", "raw_path": b"",
                    "query_string": b"", "headers": [], "http_version": "1.1", "scheme": "http", "root_path": "",
                    "client": ("127.0.0.1", 1), "server": ("x", 80), "state": {}, "app": app,
                }  # fmt: skip
                await app(scope, receive, send)
                body = b"".join(message.get("body", b"") for message in messages)
                answers.append((messages[0]["status"], json.loads(body)))
            return answers

        for status, problem in asyncio.run(post_slowly()):
            assert (status, problem["reason"]) == (408, "too-slow")
        assert not caplog.records
        collector.store.close()

    def test_a_batch_of_the_most_reports_is_taken(self):
        """As many as its bytes allow, of one word each, on a service that has nothing to do."""
        report_count = (MAX_BATCH_BYTES - HEAD_BYTES) // 36

        class LargeUpload(Upload):
            def __len__(self) -> int:
                return report_count

        async def take_largest_batch() -> int:
            batcher = Batcher(lambda name, upload: np.zeros(len(upload), np.uint8))
            empty = LargeUpload(
                round=0, tokens=[], keys=[], words=np.zeros((0, 1), np.uint32), codes=np.zeros(0, np.uint8)
            )
            codes = await batcher.add("study", empty)
            batcher.close()
            return len(codes)

        assert asyncio.run(take_largest_batch()) == report_count


def head_of(service: Served, method: str, place: str) -> tuple[int, Message, bytes]:
    """Return status, headers and body of an answer, wherever it sends to."""
    with contextlib.closing(HTTPConnection("127.0.0.1", int(service.address.rpartition(":")[2]))) as connection:
        connection.request(method, place)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def answered(connection: socket.socket) -> bytes:
    """Return a whole answer."""
    text = b""
    while b"}" not in text:
        part = connection.recv(4000)
        if not part:
            break
        text += part
    return text


def test_whoever_asks_about_liars_keeps_few_others_waiting(tmp_path, monkeypatch):
    """Sixty ask at once what takes long: few wait their turn, the others are told to come again at once."""
    collector = collector_in(tmp_path)
    collector.open_study(plan_of())
    while collector.questions("study").state != "released":
        collector.close("study")
    go_on, compute_outcome = threading.Event(), StudyCore.outcome

    def slow(self, malicious=0):
        go_on.wait(20)
        return compute_outcome(self, malicious)

    monkeypatch.setattr(StudyCore, "outcome", slow)
    outcomes: Counter[str] = Counter()
    lock = threading.Lock()

    def ask(number: int) -> None:
        outcome = "answered"
        try:
            collector.result("study", f"{number}/1000")
        except RefusedRequest as error:
            outcome = str(error.reason)
        with lock:
            outcomes[outcome] += 1
            if outcomes["busy"] == 56:
                go_on.set()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(1, 61)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {"busy": 56, "answered": 4}
    monkeypatch.setattr(StudyCore, "outcome", lambda *_: pytest.fail("it is known already"))
    cached_key = next(iter(collector._outcomes))
    assert collector.outcome(*cached_key) is collector._outcomes[cached_key]
    collector.store.close()


class TestKeys:
    def test_a_lost_key_is_told_and_no_other_is_made(self, tmp_path):
        collector = collector_in(tmp_path)
        collector.open_study(plan_of())
        collector.store.close()
        key_text = (tmp_path / "signing.key").read_text()
        (tmp_path / "signing.key").unlink()
        with pytest.raises(
            InputError, match=r"The study 'study' is signed with the key .*, and here there is no key\."
        ):
            serve(tmp_path, port=0)
        collector = collector_in(tmp_path)
        assert not (tmp_path / "signing.key").exists()
        assert collector.progress("study")["state"] == "open"  # it can be read
        with pytest.raises(InputError, match=r"put the signing\.key that the study was opened with"):
            collector.close("study")
        assert [str(stored_round.state) for stored_round in collector.store.rounds("study")] == ["open"]
        collector.store.close()
        (tmp_path / "signing.key").write_text(key_text)
        collector = collector_in(tmp_path)
        assert collector.close("study").rounds == 1
        collector.store.close()

    @pytest.mark.parametrize("content", [b"", b"zz" * 32, b"\xff\xfe" * 9, b"ab" * 31, None])
    def test_a_damaged_key_keeps_nobody_from_reading(self, tmp_path, content):
        """Results could not be read: every command began with the key."""
        collector = collector_in(tmp_path)
        collector.open_study(plan_of(name="done"))
        while collector.questions("done").state != "released":
            collector.close("done")
        collector.open_study(plan_of())
        collector.store.close()
        key = tmp_path / "signing.key"
        key.unlink()
        key.mkdir() if content is None else key.write_bytes(content)
        location = ("--at", tmp_path)
        for command in (
            ("results", "done"), ("status",), ("status", "study"), ("export", "study"), ("scrub", "done"),
            ("token", "--study", "study"), ("token", "--scope", "watch"), ("token", "--list"),
        ):  # fmt: skip
            completed = run("study", *command, *location)
            assert (completed.returncode, completed.stderr) == (0, ""), command
        (tmp_path / "other.toml").write_text(TEMPLATE)
        for command in (("close", "study", "--yes"), ("open", tmp_path / "other.toml")):
            completed = run("study", *command, *location)
            assert completed.returncode == 1
            assert str(key) in completed.stderr
        with pytest.raises(InputError, match=r"signing\.key"):
            serve(tmp_path, port=0)
        collector = collector_in(tmp_path)
        assert [study["name"] for study in collector.studies()] == ["done", "study"]
        assert [str(stored_round.state) for stored_round in collector.store.rounds("study")] == ["open"]
        collector.store.close()

    def test_a_damaged_key_is_told_before_a_first_study(self, tmp_path):
        (tmp_path / "signing.key").write_text("none")
        with pytest.raises(InputError, match="holds no signing key"):
            serve(tmp_path, port=0)

    def test_another_key_is_told_and_opens_nothing(self, tmp_path):
        collector = collector_in(tmp_path)
        collector.open_study(plan_of())
        collector.store.close()
        (tmp_path / "signing.key").write_text("ab" * 32)
        with pytest.raises(InputError, match=r"and here the key is [0-9a-f]{16}…\. Devices refuse"):
            serve(tmp_path, port=0)
        collector = collector_in(tmp_path)
        for act in (lambda: collector.close("study"), lambda: collector.open_study(plan_of(name="other"))):
            with pytest.raises(InputError, match="Services that share a store share the key"):
                act()
        # Closed by somebody else, it is not opened again under this key either.
        collector.store.move("study", 0, RoundEvent.CLOSE)
        with pytest.raises(InputError, match="is signed with the key"):
            collector.advance("study")
        assert [str(stored_round.state) for stored_round in collector.store.rounds("study")][1:] == ["drafted"]
        collector.store.close()


class TestTidying:
    def test_a_service_that_ticks_empties_the_log_that_a_reader_was_in_the_way_of(self, tmp_path):
        with served(tmp_path) as server:
            plan, operator = opened(server, name="tidied", scrub="hand")
            tokens = server.ask("/v1/studies/tidied/tokens", {"many": 4}, token=operator)[1]["tokens"]
            with contextlib.closing(sqlite3.connect(tmp_path / "collector.sqlite", isolation_level=None)) as reader:
                reader.execute("BEGIN")
                reader.execute("SELECT COUNT(*) FROM blocks").fetchall()
                assert set(server.ask("/v1/studies/tidied/batches", batch(server, plan, tokens))[1]) == {COUNTED}
                log = tmp_path / "collector.sqlite-wal"
                assert log.stat().st_size
            deadline = time.monotonic() + 20
            while log.stat().st_size:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def test_a_scrubbing_that_left_something_behind_says_so(self, tmp_path, monkeypatch):
        monkeypatch.setattr("discreet.collector.storage._store._SCRUB_WAIT_SECONDS", 0.1)
        collector = collector_in(tmp_path)
        collector.open_study(plan_of(scrub="hand"))
        collector.close("study")
        with contextlib.closing(sqlite3.connect(tmp_path / "collector.sqlite", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM blocks").fetchall()
            is_done = collector.scrub("study")
            assert is_done.rounds > 0
            assert not is_done.tidy
        assert collector.scrub("study") == ScrubbedRounds(rounds=0, tidy=True)
        collector.store.close()


def test_a_key_that_others_can_read_is_told(tmp_path, caplog):
    Signer.read(tmp_path)
    assert not caplog.records
    (tmp_path / "signing.key").chmod(0o644)
    Signer.read(tmp_path)
    assert "can be read by others than its owner" in caplog.text


def test_a_token_that_was_spent_in_one_round_is_spent_in_the_next(tmp_path):
    """Also with the key that it was spent with: nothing was counted in that round."""
    collector = collector_in(tmp_path)
    collector.open_study(plan_of())
    (token,) = collector.tokens("study", 1)

    def send_report(number: int) -> list[int]:
        ask = collector.known_ask("study", number)
        report = json.loads(client(ask.form, [1], max_epsilon=4))
        return collector.take("study", build_upload(ask, number, token, "ab" * 16, report)).tolist()

    assert send_report(0) == [COUNTED]
    collector.close("study")
    assert send_report(1) == [CODES[Reason.TOKEN_SPENT]]
    assert send_report(0) == [ALREADY_COUNTED]
    assert collector.store.rounds("study")[1].people == 0
    collector.store.close()
