"""The audit of released relations stands where the release is right, and finds what is planted."""

# internals: this module plants breaches between the release and the audit, and in the sampler.
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import discreet
from discreet.auditing import _relations as audited, _runs as runs
from discreet.auditing._coupled import coupled
from discreet.auditing._replayed import replayed
from discreet.auditing._statistical import statistical
from discreet.exact import engine_of
from discreet.privacy import Budget, Neighbours, _meter
from discreet.publish import RelationCase, run_relations

UNIT_BUDGET, ADD_REMOVE = Budget.of(1), Neighbours.ADD_REMOVE


@pytest.fixture(autouse=True)
def fewer(monkeypatch):
    """Ask one question: `discreet audit` asks three, which takes half a minute."""
    monkeypatch.setattr(audited, "_QUESTIONS", audited._QUESTIONS[1:2])


@pytest.mark.parametrize("options", [{}, {"neighbours": "replace"}, {"delta": "1/1000"}], ids=str)
def test_the_claim_stands(options):
    verdict = discreet.audit("release-relations", epsilon=1, runs=150, **options)
    assert verdict.stands, str(verdict)
    assert [attempt.means for attempt in verdict.attempts] == ["coupled", "replayed", "statistical"]
    assert 0.9 < verdict.attempts[0].loss <= 1
    assert verdict.attempts[0].pairs > 100


def test_a_note_that_depends_on_the_data_is_found(monkeypatch):
    right = run_relations

    def peeking(job, meter, engine=engine_of):
        release = right(job, meter, engine)
        return replace(release, notes=(*release.notes, f"{len(job.baskets)} people"))

    monkeypatch.setattr(runs, "run_relations", peeking)
    attempt = coupled(audited.RelationAudit(), UNIT_BUDGET, ADD_REMOVE, 1)
    assert attempt.outcome == "broken"
    assert "notes" in attempt.why


def test_pairs_of_items_that_were_not_released_are_found(monkeypatch):
    """Pairs among the items that are truly the most frequent, and not among those that noise chose."""
    right = RelationCase.pair_baskets

    def exact(job, released_items):
        best_items = (-job.listed.item_counts).argsort(kind="stable")[: len(released_items)]
        best_items.sort()
        return right(job, best_items.astype(released_items.dtype))

    monkeypatch.setattr(RelationCase, "pair_baskets", exact)
    assert coupled(audited.RelationAudit(), UNIT_BUDGET, ADD_REMOVE, 1).outcome == "broken"


def test_counting_a_person_twice_is_found(monkeypatch):
    right = run_relations

    def doubled(job, meter, engine=engine_of):
        return right(job, meter, lambda baskets: Twice(engine(baskets)))

    monkeypatch.setattr(runs, "run_relations", doubled)
    assert coupled(audited.RelationAudit(), UNIT_BUDGET, ADD_REMOVE, 1).outcome == "broken"


@pytest.mark.parametrize("limit", [40, 300, 700])
def test_a_decision_by_the_exact_number_of_people_is_found(limit, monkeypatch):
    right = run_relations

    def deciding(job, meter, engine=engine_of):
        release = right(job, meter, engine)
        return replace(release, notes=(*release.notes, "a large shop")) if len(job.baskets) > limit else release

    monkeypatch.setattr(runs, "run_relations", deciding)
    assert replayed(audited.RelationAudit(), UNIT_BUDGET, ADD_REMOVE, 1, scripts=20).outcome == "broken"


@pytest.mark.statistical
def test_half_the_noise_is_found(monkeypatch):
    # Seeds are fixed. 4,000 first draws with half the noise miss the bound on their size with a chance below 10^-9.
    draw = _meter.discrete_laplace
    monkeypatch.setattr(
        _meter, "discrete_laplace", lambda source, scale, count: draw(source, Fraction(scale) / 2, count)
    )
    attempt = statistical(audited.RelationAudit(), UNIT_BUDGET, ADD_REMOVE, 400, 1)
    assert attempt.outcome == "broken"
    assert "its stated law allows" in attempt.why


class Twice:
    def __init__(self, engine):
        self.engine, self.items = engine, engine.items

    def answer(self, query):
        return 2 * self.engine.answer(query)

    def above(self, *arguments):
        return self.engine.above(*arguments)
