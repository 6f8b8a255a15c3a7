"""An outcome with relations: its look, its files, and that it comes back."""

# internals: this module shows an outcome as the command does.
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import discreet
from discreet.cli import _simulate as command
from discreet.cli._groups import Writing
from discreet.local import Protocol
from discreet.local.study import (
    Ask,
    CandidateQuestion,
    Estimate,
    Partition,
    ProtocolResult,
    RelationEstimates,
    RelationItems,
    Relations,
    RoundGenerator,
    StudyGoal,
)

BASKETS = discreet.read([["tea", "milk"]] * 3000 + [["tea"]] * 1000)


@dataclass(frozen=True, kw_only=True)
class OneRelation(Protocol):
    """Ask everybody whether they hold the first two items together."""

    shares: tuple[str, str] = ("1", "0")

    name: ClassVar[str] = "one-relation"
    proof: ClassVar[str] = "one-relation.md"
    summary: ClassVar[str] = "one relation"
    citation: ClassVar[str] = "none"

    def check(self, goal: StudyGoal) -> None:
        """Refuse nothing."""

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Ask once; what holds for the items is made up."""
        question = CandidateQuestion(Relations(RelationItems((0, 1), "together"), ((1, 0), (0, 1))))
        estimate: Estimate = yield Ask.of("both", Partition().next(1), question, "grr", goal.epsilon, pad=2)
        sides = np.array([1.0, 0.75]), np.full(2, 1e-6)
        related = RelationEstimates(
            first=((1,), (0,)),
            second=((0,), (1,)),
            values=estimate.values,
            variance=estimate.variance,
            first_values=sides[0],
            first_variance=sides[1],
            second_values=sides[0][::-1],
        )
        return ProtocolResult(itemsets=((1,), (0,)), values=sides[0], variance=sides[1], related=related)


@pytest.fixture(scope="module")
def outcome():
    return discreet.simulate(BASKETS, OneRelation(), top=2, epsilon=8, seed=3)


def test_it_is_shown_as_relations(outcome):
    assert outcome.found is outcome.relations
    assert len(outcome) == 2
    lines = repr(outcome).splitlines()
    assert lines[:3] == [
        "2 relations of 4,000 people",
        "local differential privacy, replace one person, epsilon = 8",
        "SIMULATED: not a private release",
    ]
    assert lines[3].split() == ["relation", "count", "support", "confidence", "low", "high", "lift"]
    assert lines[5].split()[:3] == ["tea", "→", "milk"]
    assert "relation</th>" in outcome._repr_html_()


def test_intervals_hold_confidences(outcome):
    for rule, true_confidence in zip(outcome.relations, (0.75, 1.0), strict=True):
        assert rule.low <= true_confidence <= rule.high


@pytest.mark.parametrize("suffix", ["json", "parquet", "csv"])
def test_it_comes_back_as_rules(outcome, tmp_path, suffix):
    place = tmp_path / f"found.{suffix}"
    outcome.save(place)
    back = discreet.load(place)
    assert isinstance(back, type(outcome.relations))
    assert (back.kind, back[:1].kind) == ("relations", "relations")
    back.save(tmp_path / f"again.{suffix}")
    assert discreet.load(tmp_path / f"again.{suffix}") == back
    if suffix == "csv":  # a table has no place for everything a result knows
        assert back.counts.tolist() == outcome.relations.counts.tolist()
    else:
        assert back == outcome.relations


def test_json_has_relations_and_the_items_they_are_of(outcome, tmp_path):
    outcome.save(tmp_path / "found.json")
    document = json.loads((tmp_path / "found.json").read_text())
    assert document["discreet"] == "relations/1"
    assert [(relation["antecedent"], relation["consequent"]) for relation in document["relations"]] == [
        (["tea"], ["milk"]),
        (["milk"], ["tea"]),
    ]
    assert {"support", "confidence", "confidence_low", "confidence_high"} <= set(document["relations"][0])
    assert [pattern["items"] for pattern in document["patterns"]] == [["tea"], ["milk"]]
    assert (document["simulated"], document["guarantee"]["model"]) == (True, "local")


def test_the_command_line_writes_them(outcome, tmp_path, capsys):
    place = tmp_path / "found.json"
    command._write_outcome(outcome, Writing(output=place), is_seed_drawn=False)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"2 relations written to {place}\n")
    assert discreet.load(place) == outcome.relations
    command._write_outcome(outcome, Writing(), is_seed_drawn=False)
    assert capsys.readouterr().out.lstrip().startswith("2 relations of 4,000 people\n")


def test_a_score_that_is_not_defined_is_null_in_json(tmp_path):
    """Nothing wanted was found, so there is no error over what was found; strict readers of JSON know no NaN."""
    rows = [["tea", "milk"], ["sugar", "salt"], ["sugar", "salt"]]
    question = {"top": 1, "epsilon": "0.1", "settings": {"items": 4}, "score": True}
    outcome = next(
        simulated
        for seed in range(20)
        if not (simulated := discreet.simulate(rows, "pairs", seed=seed, **question)).scores["F-score"]
    )
    assert np.isnan(outcome.scores["confidence error of those found"])
    outcome.save(tmp_path / "found.json")
    text = (tmp_path / "found.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail)["scores"]["confidence error of those found"] is None
    assert discreet.load(tmp_path / "found.json") == outcome.relations


def test_rounds_that_nobody_was_asked_are_named_up_to_five():
    outcome = discreet.simulate([["tea", "milk"]], "relations", top=1, epsilon=1, seed=1, settings={"items": 2})
    silent = [repr(line.name) for line in outcome.rounds if not line.people]
    assert len(silent) > 6
    assert (
        f"There are too few people for this protocol: nobody was asked {', '.join(silent[:5])} and "
        f"{len(silent) - 5} rounds more, and nothing is known of it."
    ) in outcome.notes
