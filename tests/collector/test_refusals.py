"""Requests that a service refuses, or fails at: each gets a problem document, and no client fills the log."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from math import inf, nan
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from discreet.collector import StudyCollector, collector_in, serve
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
