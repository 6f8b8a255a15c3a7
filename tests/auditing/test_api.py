"""`discreet.audit`: what it takes, what it refuses, what it says."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from fractions import Fraction
from math import inf

import pytest
from rich.console import Console

from auditing import planted
from discreet import MisuseError
from discreet.auditing import Attempt, Verdict, audit
from discreet.curator.mechanisms.count import Count
from discreet.privacy import Neighbours


@pytest.fixture(scope="module")
def standing_verdict() -> Verdict:
    return audit("truncated-items", epsilon="1/2", runs=20, settings={"coverage": "4/5"})


@pytest.fixture(scope="module")
def broken() -> Verdict:
    return audit(planted.TooLittleSensitivity(), runs=100)


def shown_verdict(verdict: Verdict) -> str:
    text = io.StringIO()
    Console(file=text, width=110, color_system=None).print(verdict)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def test_a_claim_that_stands(standing_verdict):
    assert standing_verdict.stands
    assert (standing_verdict.name, standing_verdict.epsilon, standing_verdict.delta) == (
        "truncated-items",
        Fraction(1, 2),
        0,
    )
    assert dict(standing_verdict.settings)["coverage"] == "4/5"
    assert standing_verdict.neighbours is Neighbours.ADD_REMOVE
    assert standing_verdict.worst.loss == pytest.approx(0.5)
    assert standing_verdict.seconds > 0
    assert str(standing_verdict) == (
        "truncated-items: the claim stands (epsilon = 0.5, add or remove one person); the largest loss found is 0.5."
    )
    assert "The claim stands: nothing that was tried broke it." in shown_verdict(standing_verdict)


def test_a_claim_that_is_broken(broken):
    assert not broken.stands
    assert broken.worst.means == "coupled"
    assert str(broken) == (
        "planted: the claim is broken (epsilon = 1, add or remove one person). counting: one person moves the answer "
        "by a sum of 2; the query says 1. Neighbours: nobody else; with and without one person who holds {0, 1}."
    )
    text = shown_verdict(broken)
    assert "The claim is broken.\ncounting: one person moves the answer by a sum of 2; the query says 1.\n" in text
    assert "It was min_count=2, counts=False over 2 items. Neighbours: nobody else; with and without one" in text


def test_the_same_seed_tries_the_same(broken):
    repeated_verdict = audit(planted.TooLittleSensitivity(), runs=100)
    assert [replace(attempt, seconds=0) for attempt in repeated_verdict.attempts] == [
        replace(attempt, seconds=0) for attempt in broken.attempts
    ]


def test_a_verdict_as_plain_values(broken):
    plain = json.loads(broken.to_json())
    assert plain["stands"] is False
    assert plain["claim"] == {"epsilon": "1", "delta": "0", "neighbours": "add-remove"}
    assert [attempt["means"] for attempt in plain["attempts"]] == [
        "coupled",
        "replayed",
        "whole",
        "exact",
        "statistical",
    ]
    assert plain["attempts"][0]["why"] == broken.worst.why
    endless = replace(broken, attempts=(Attempt(means="exact", stands=False, loss=inf, tried="one pair"),))
    assert endless.to_dict()["attempts"][0]["loss"] == "infinite"


def test_a_mechanism_that_needs_a_delta_gets_a_large_one():
    verdict = audit(planted.KeptCounts(), runs=20)
    assert verdict.delta == Fraction(1, 1000)
    assert verdict.claim == "epsilon = 1, delta = 0.001, add or remove one person"


@pytest.mark.parametrize(
    ("audited", "message"),
    [
        ({"epsilon": 0}, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
        ({"neighbours": "both"}, "neighbours is 'add-remove' or 'replace'; 'both' was given."),
        ({"runs": 0}, "runs is 0, but it must be a whole number, 1 or more."),
        ({"seed": -1}, "A seed is a whole number, 0 or more; -1 was given."),
        ({"settings": {"way": "best"}}, "count has no setting 'way': it has none."),
    ],
)
def test_what_is_refused(audited, message):
    with pytest.raises(MisuseError) as caught:
        audit("count", **audited)
    assert str(caught.value) == message


def test_settings_of_an_object_are_in_the_object():
    with pytest.raises(MisuseError) as caught:
        audit(Count(), settings={"way": "best"})
    assert str(caught.value) == "Settings belong to a mechanism given by name: put them into the object instead."


def test_a_mechanism_that_refuses_everything():
    with pytest.raises(MisuseError) as caught:
        audit(planted.KeptCounts(), delta=0)
    assert str(caught.value) == (
        "planted refused every question of the audit, the last one so: planted needs a delta over 0, such as "
        "delta=1e-6."
    )
