"""The audit of a served study: the study passes, and a planted bug is found."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.collector import StudyCore, StudyPlan, _collector as collector, question_document
from discreet.collector._auditing import audit_conversation
from discreet.collector._documents import QUESTION, SignedText
from discreet.local.study import Ask, PeopleGroup
from running import run

PLAN = StudyPlan(
    name="audited", title="A study", asks="What?", protocol="svim", top=2, epsilon="1", items=tuple("abcde")
)


@pytest.mark.parametrize("name", ["svim", "adept"])
def test_a_study_stands(name):
    attempt = audit_conversation(replace(PLAN, protocol=name), 1)
    assert attempt.why == ""
    assert attempt.stands
    assert 0.5 < attempt.loss <= 1.0
    assert "as served to 150 devices" in attempt.tried


def test_a_study_without_a_list_stands():
    settings = {"alphabet": "0123456789", "length": 2, "oracle": "olh"}
    attempt = audit_conversation(replace(PLAN, protocol="prefixes", items=(), settings=settings), 1)
    assert (attempt.why, attempt.stands) == ("", True)


def planted(monkeypatch, change):
    def changed(ask, study, number, expires, signer):
        document = question_document(ask, study, number, expires, signer)
        text = json.dumps(change(json.loads(document.text)), separators=(",", ":"))
        return SignedText.sign(QUESTION, text, signer)

    monkeypatch.setattr(collector, "question_document", changed)
    return audit_conversation(PLAN, 1)


def test_rounds_that_overlap_are_found(monkeypatch):
    attempt = planted(monkeypatch, lambda question: {**question, "who": [0, 1 << 32]})
    assert (attempt.stands, attempt.why) == (
        False,
        "A device refuses what is served: Two rounds of the study ask the same people.",
    )


def test_a_question_that_asks_for_more_is_found(monkeypatch):
    attempt = planted(monkeypatch, lambda question: {**question, "question": {**question["question"], "epsilon": "2"}})
    assert attempt.why == "A device refuses what is served: The question asks for more than its study says."


def test_a_question_that_hides_what_it_asks_is_found(monkeypatch):
    louder = Ask.of("", PeopleGroup(0, 9), StudyCore(PLAN).asks[0].question, "grr", Fraction(3)).form["oracle"]

    def change(question):
        return (
            {**question, "question": {**question["question"], "oracle": louder}} if question["round"] == 0 else question
        )

    attempt = planted(monkeypatch, change)
    assert attempt.why == (
        "A device refuses what is served: The question's probabilities give away more than the epsilon it states."
    )


def test_the_command(tmp_path):
    (tmp_path / "study.toml").write_text(
        'name = "audited"\ntitle = "A study"\nasks = "What?"\nprotocol = "svim"\ntop = 2\nepsilon = "1"\n'
        'items = ["a", "b", "c"]\n'
    )
    completed = run("audit", "--study", "study.toml", "--runs", 20, "--format", "json", cwd=tmp_path)
    assert completed.returncode == 0, completed.stderr
    document = json.loads(completed.stdout)
    assert "as served to" in document["attempts"][-1]["tried"]
    for arguments in (["audit"], ["audit", "svim", "--study", "study.toml"]):
        assert run(*arguments, cwd=tmp_path).returncode == 2
