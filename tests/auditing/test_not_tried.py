"""Where nothing was tried, no attempt and no verdict says that a claim stands."""

# internals: this module removes the attempts of each audit, study audits included.
from __future__ import annotations

import io
import json
from fractions import Fraction

import pytest
from rich.console import Console

import running
from auditing import planted
from discreet import auditing
from discreet.auditing import (
    Attempt,
    Verdict,
    _coupled as coupled,
    _exact as enumerating,
    _local as local,
    _local_talk as local_talk,
    _relations as relations,
    audit,
)
from discreet.auditing._replayed import replayed
from discreet.auditing._statistical import statistical
from discreet.auditing._whole import whole
from discreet.collector import StudyPlan, _auditing as study_audit
from discreet.curator.mechanisms import ClippedCounting
from discreet.curator.mechanisms.count import Count
from discreet.errors import MisuseError
from discreet.privacy import Budget, Neighbours

UNIT_BUDGET, ADD_REMOVE = Budget.of(1), Neighbours.ADD_REMOVE
NOTHING = Attempt(means="exact", stands=True, loss=0.0, tried="nothing")
SOMETHING = Attempt(means="coupled", stands=True, loss=0.5, tried="one pair", pairs=1)
BROKEN = Attempt(means="coupled", stands=False, loss=2.0, tried="nothing", why="It is broken.")


def verdict(*attempts: Attempt) -> Verdict:
    return Verdict(
        name="some", neighbours=ADD_REMOVE, epsilon=Fraction(1), delta=Fraction(0), attempts=tuple(attempts), seed=1
    )


def shown_verdict(verdict: Verdict) -> str:
    text = io.StringIO()
    Console(file=text, width=110, color_system=None).print(verdict)
    return text.getvalue()


@pytest.mark.parametrize("attempts", [(), (NOTHING,), (NOTHING, NOTHING)])
def test_a_verdict_of_nothing(attempts):
    nothing = verdict(*attempts)
    assert (nothing.stands, nothing.outcome) == (False, "not tried")
    assert str(nothing) == (
        "some: nothing was tried, so nothing is known about the claim (epsilon = 1, add or remove one person)."
    )
    assert "Nothing was tried, so nothing is known about the claim." in shown_verdict(nothing)
    assert "stands" not in shown_verdict(nothing)
    plain = json.loads(nothing.to_json())
    assert (plain["stands"], plain["outcome"]) == (False, "not tried")
    assert [attempt["stands"] for attempt in plain["attempts"]] == [None] * len(attempts)


def test_an_attempt_of_nothing_beside_others():
    assert (NOTHING.stands, NOTHING.outcome) == (None, "not tried")
    assert verdict(NOTHING, SOMETHING).outcome == "stands"
    assert verdict(NOTHING, SOMETHING).stands
    assert verdict(NOTHING, BROKEN, SOMETHING).outcome == "broken"
    assert verdict(NOTHING, BROKEN).worst is BROKEN


def test_every_question_is_refused():
    refusing = planted.KeptCounts()  # it needs a delta
    assert whole(refusing, UNIT_BUDGET, ADD_REMOVE, 1).outcome == "not tried"
    assert replayed(refusing, UNIT_BUDGET, ADD_REMOVE, 1, scripts=10).outcome == "not tried"
    for attempt in (
        lambda: coupled.coupled(refusing, UNIT_BUDGET, ADD_REMOVE, 1),
        lambda: statistical(refusing, UNIT_BUDGET, ADD_REMOVE, 10, 1),
    ):
        with pytest.raises(MisuseError, match="refused every question"):
            attempt()


def test_too_many_results():
    attempt = enumerating.exact(ClippedCounting(), UNIT_BUDGET, ADD_REMOVE)
    assert (attempt.outcome, attempt.tried) == ("not tried", "nothing: it has too many results")


def test_no_pairs_of_neighbours(monkeypatch):
    monkeypatch.setattr(coupled, "generate_pairs", lambda *given: iter(()))
    assert coupled.coupled(Count(), UNIT_BUDGET, ADD_REMOVE, 1).outcome == "not tried"
    monkeypatch.setattr(relations, "_list_ordered_pairs", lambda *given: iter(()))
    assert coupled.coupled(relations.RelationAudit(), UNIT_BUDGET, ADD_REMOVE, 1).outcome == "not tried"


def test_no_questions_for_devices(monkeypatch):
    assert local.exact([])[0].outcome == "not tried"
    assert local.statistical([], [], 10, 1).outcome == "not tried"
    monkeypatch.setattr(local_talk, "_list_answer_functions", lambda *given: iter(()))
    assert audit("svim", runs=10).outcome == "not tried"
    monkeypatch.setattr(local, "build_cases", lambda *given: [])
    assert audit("olh", runs=10).outcome == "not tried"


def test_a_study_that_serves_nothing(monkeypatch):
    plan = StudyPlan(
        name="quiet", title="A study", asks="What?", protocol="svim", top=2, epsilon="1", items=tuple("abc")
    )

    class Silent:
        texts: tuple[str, ...] = ()
        loss, flaw, answered = 0.0, "", 0

        def __init__(self, *arguments: object) -> None: ...

    monkeypatch.setattr(study_audit, "_AuditedStudy", Silent)
    assert study_audit.audit_conversation(plan, 1).outcome == "not tried"


def test_the_command_ends_with_status_1(monkeypatch):
    monkeypatch.setattr(auditing, "audit", lambda *given, **more: verdict(NOTHING))
    completed = running.run("audit", "count")
    assert completed.returncode == 1
    assert "Nothing was tried" in completed.stdout
    assert json.loads(running.run("audit", "count", "--format", "json").stdout)["outcome"] == "not tried"
