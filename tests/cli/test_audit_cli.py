"""The audit on the command line."""

from __future__ import annotations

import json

import pytest

import running
from auditing import planted
from discreet import auditing


def run(*arguments: object) -> running.CompletedRun:
    return running.run("audit", *arguments)


@pytest.mark.parametrize(("name", "name_key"), [("svim", "protocol"), ("olh", "oracle")])
def test_a_claim_that_stands(name, name_key):
    completed = run(name, "--epsilon", "1", "--runs", 50)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout.startswith(f"{name} claims epsilon = 1, replace one person.\n")
    assert "The claim stands: nothing that was tried broke it." in completed.stdout
    document = json.loads(run(name, "--runs", 50, "--format", "json").stdout)
    assert (document[name_key], document["stands"]) == (name, True)


def test_json():
    completed = run(
        "count", "--neighbours", "replace", "--delta", "1e-3", "--runs", 50, "--format", "json", "--seed", 3
    )
    assert completed.returncode == 0, completed.stderr
    document = json.loads(completed.stdout)
    assert document["claim"] == {"epsilon": "1", "delta": "1/1000", "neighbours": "replace"}
    assert (document["mechanism"], document["stands"], document["seed"]) == ("count", True, 3)


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_claim_that_is_broken_ends_with_status_1(monkeypatch, form):
    right = auditing.audit
    monkeypatch.setattr(auditing, "audit", lambda name, **given: right(planted.TooLittleSensitivity(), runs=20))
    completed = run("count", "--format", form)
    assert completed.returncode == 1
    assert "one person moves the answer by a sum of 2" in completed.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["count", "--epsilon", "0"], "--epsilon must be over 0, such as 0.5 or 1; 0 was given."),
        (["count", "--set", "way=best"], "count has no setting 'way': it has none."),
        (["count", "--runs", "0"], "--runs is 0, but it must be a whole number, 1 or more."),
    ],
)
def test_what_is_refused(arguments, message):
    completed = run(*arguments)
    assert (completed.returncode, completed.stdout, completed.stderr) == (1, "", f"discreet: {message}\n")


def test_an_unknown_name():
    completed = run("cuont")
    assert completed.returncode == 1
    assert completed.stderr.startswith("discreet: There is no mechanism, protocol or oracle 'cuont'; there are ")
    assert completed.stderr.endswith("Did you mean 'count'?\n")


def test_what_cannot_be_parsed():
    assert run("count", "--set", "way").returncode == 2
    assert run("count", "--neighbours", "both").returncode == 2
    assert run().returncode == 2
