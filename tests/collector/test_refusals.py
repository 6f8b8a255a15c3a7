"""Requests that a service refuses, or fails at: each gets a problem document, and no client fills the log."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from math import inf, nan
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from discreet.collector import Reason, RefusedRequest, StudyCollector, collector_in, serve
from discreet.collector._service import _MAX_FAILURES, FailureLog, RequestRates, application
from discreet.collector._serving import bind_socket
from discreet.collector.storage import StoreError
from discreet.errors import InputError, MisuseError

sys.path.insert(0, str(Path(__file__).parent))
from asking import ask
from serving import plan_of

from running import run


@pytest.fixture
def collector(tmp_path) -> Iterator[StudyCollector]:
    with collector_in(tmp_path / "service") as opened:
        opened.open_study(plan_of(scrub="hand"))
        yield opened


@pytest.mark.parametrize("name", ["a" * 300 + ".css", "a" * 5000 + ".js", "..", "pages.css/", "%00.css", "\0.css"])
def test_a_style_that_does_not_exist_is_not_found(collector, caplog, name):
    """A long name was an error of the disk: a bare 500, and 6 kB of log with each request."""
    answer = ask(application(collector), f"/static/{name}")
    assert (answer.status, answer.content["reason"]) == (404, "unknown-place")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not caplog.records


def test_an_unforeseen_error_is_a_problem_document_and_one_traceback(collector, caplog, monkeypatch):
    def fail(name: str) -> None:
        raise ZeroDivisionError(f"about {name}")

    monkeypatch.setattr(collector, "progress", fail)
    app = application(collector)
    for number in range(5):
        answer = ask(app, f"/v1/studies/study-{number}/rounds")
        assert (answer.status, answer.content["type"]) == (500, "urn:discreet:failed")
        assert (answer.headers["x-content-type-options"], answer.headers["cache-control"]) == ("nosniff", "no-store")
        assert "about" not in str(answer.content)
    (record,) = caplog.records
    assert "ZeroDivisionError: about study-0" in logging.Formatter().format(record)
    assert app.state.service.requests == {500: 5}


def test_a_store_that_fails_is_logged_once_in_a_while(caplog, monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr("discreet.collector._service.monotonic", lambda: seconds[0])
    failures = FailureLog()
    for _ in range(3):
        failures.note(StoreError("The disk is full."))
        failures.note(StoreError("The store is locked."))
    assert caplog.messages == ["The disk is full.", "The store is locked."]
    seconds[0] += 11
    failures.note(StoreError("The disk is full."))
    assert caplog.messages[2:] == ["The disk is full."]
    for number in range(2 * _MAX_FAILURES):
        failures.note(StoreError(str(number)))
    assert len(failures._times) == _MAX_FAILURES


def test_pages_keep_their_style_with_a_wrong_clock(collector):
    app = application(collector)
    app.state.service.readiness.clock_problem = "The clock is off."
    assert ask(app, "/static/pages.css").status == 200
    assert ask(app, "/v1/studies").content["reason"] == "clock-off"


@pytest.mark.parametrize("rate", [-1, -0.5, inf, nan])
def test_a_rate_is_no_negative_number(tmp_path, rate):
    """A service with it started, and refused every request."""
    message = f"The rate is a number of requests a second from 0, which means any number, got {rate}."
    for make in (RequestRates, lambda rate: serve(tmp_path / "new", port=0, rate=rate)):
        with pytest.raises(MisuseError) as error:
            make(rate)
        assert str(error.value) == message
    assert not (tmp_path / "new").exists()


def test_the_command_refuses_it_too(tmp_path):
    completed = run("serve", str(tmp_path / "new"), "--port", "0", "--rate", "-1")
    assert (completed.returncode, "got -1." in completed.stderr) == (1, True)


def test_an_unknown_host_is_not_called_a_port_in_use():
    with pytest.raises(InputError) as error:
        bind_socket("nonsense.invalid", 0)
    assert str(error.value).startswith("The host 'nonsense.invalid' is none of this machine: ")
    assert str(error.value).endswith(". Give one of its addresses with --host, such as 127.0.0.1, or 0.0.0.0 for all.")


@pytest.mark.parametrize("body", [{"fwe": True}, {"few": False, "yes": 1}, {"few": 1}, [], "few"])
def test_a_misspelt_field_closes_nothing(collector, body):
    token = collector.add_operator(["operate"])
    answer = ask(application(collector), "/v1/studies/study/close", body, token=token)
    assert (answer.status, answer.content["detail"]) == (400, 'Send nothing, or {"few": true}.')
    assert collector.questions("study").state == "open"


def test_the_body_for_tokens_may_be_left_out_as_its_document_says(collector):
    app, token = application(collector), collector.add_operator(["enrol"])
    assert len(ask(app, "/v1/studies/study/tokens", b"", token=token).content["tokens"]) == 1
    assert len(ask(app, "/v1/studies/study/tokens", {"many": 3}, token=token).content["tokens"]) == 3
    assert ask(app, "/v1/studies/study/tokens", {}, token=token).status == 400
    documented = app.openapi()["paths"]["/v1/studies/{name}/tokens"]["post"]
    assert not documented["requestBody"]["required"]
    assert "200" in documented["responses"]


class TestCostlyRequests:
    """One address with new shares of malicious reports, or with enrolments, slowed all others."""

    @pytest.fixture
    def clock(self, monkeypatch) -> list[float]:
        seconds = [1000.0]
        monkeypatch.setattr("discreet.collector._service.monotonic", lambda: seconds[0])
        return seconds

    def test_new_shares_of_one_address_are_limited(self, collector, clock):
        for _ in range(20):
            if collector.questions("study").state != "released":
                collector.close("study")
        app = application(collector, rate=2000)
        paths = (
            "/v1/studies/study/results",
            "/studies/study",
            "/studies/study/report.html",
            "/studies/study/results.csv",
        )
        statuses = [ask(app, f"{path}?assume_malicious=0.00{number}").status for number, path in enumerate(paths, 1)]
        assert statuses == [200] * 4
        for path in paths:
            refused = ask(app, f"{path}?assume_malicious=0.5")
            assert (refused.status, refused.content["reason"]) == (429, "too-many")
            # What is computed costs nothing, in any form; and another address goes on.
            for known_share in ("0", "0.0", "0.001", "0.1%"):
                assert ask(app, f"{path}?assume_malicious={known_share}").status == 200
        assert ask(app, f"{paths[0]}?assume_malicious=0.5", address="192.0.2.2").status == 200
        clock[0] += 0.5
        assert ask(app, f"{paths[0]}?assume_malicious=0.25").status == 200
        assert ask(app, f"{paths[0]}?assume_malicious=0.26").status == 429
        assert ask(app, "/v1/studies/none/results?assume_malicious=0.1", address="192.0.2.3").status == 404

    def test_one_report_is_drawn_for_all_forms_of_a_share(self, collector, monkeypatch):
        for _ in range(20):
            if collector.questions("study").state != "released":
                collector.close("study")
        drawn = []
        monkeypatch.setattr(
            "discreet.collector.pages._markup.render_report", lambda plan, outcome: drawn.append(plan.name) or "drawn"
        )
        app = application(collector)
        for share in ("0.1", "10%", "0.10", "1e-1"):
            assert ask(app, f"/studies/study/report.html?assume_malicious={share}").content == b"drawn"
        assert drawn == ["study"]

    def test_enrolments_of_one_address_are_limited(self, tmp_path, clock):
        with collector_in(tmp_path) as collector:
            collector.open_study(plan_of(name="open", who="anyone"))
            app = application(collector, rate=2000)
            path = "/v1/studies/open/enrol"
            assert [ask(app, path, {}).status for _ in range(41)] == [200] * 40 + [429]
            assert ask(app, path, {}, address="192.0.2.2").status == 200
            clock[0] += 1
            assert [ask(app, path, {}).status for _ in range(21)] == [200] * 20 + [429]
            assert [ask(application(collector, rate=2), path, {}).status for _ in range(1)] == [200]
            unlimited = application(collector)
            assert {ask(unlimited, path, {}).status for _ in range(50)} == {200}


def test_a_full_disk_is_not_ready_while_it_is_full(collector, monkeypatch):
    """There was room for a page and none for a report: the service was ready ten seconds after each failed upload."""
    seconds = [1000.0]
    monkeypatch.setattr("discreet.collector._service.monotonic", lambda: seconds[0])
    readiness = application(collector).state.service.readiness
    store = collector.store
    readiness.check()

    def limit_pages(page_count: int) -> None:
        with store._borrow() as connection:
            connection.execute(f"PRAGMA max_page_count = {page_count}").close()

    with store._borrow() as connection:
        connection.execute("VACUUM").close()
        ((page_count,),) = connection.execute("PRAGMA page_count").fetchall()
    limit_pages(page_count + 4)
    store.count_refused("study", {"malformed": 1})  # a few bytes can be written
    for _ in range(3):
        seconds[0] += 11
        with pytest.raises(RefusedRequest) as refused:
            readiness.check()
        assert refused.value.reason is Reason.STORE_FAILED
    limit_pages(page_count + 100)
    seconds[0] += 11
    readiness.check()
    assert store._rows("SELECT COUNT(*) FROM blocks") == [(0,)]
