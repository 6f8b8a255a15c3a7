"""The audit of released relations stands where the release is right, and finds what is planted."""

from __future__ import annotations

from dataclasses import replace

import pytest

import discreet
from discreet.auditing import _relations as audited
from discreet.exact import engine_of
from discreet.publish import RelationCase, run_relations


@pytest.fixture(autouse=True)
def fewer(monkeypatch):
    """Ask one question: `discreet audit` asks three, which takes half a minute."""
    monkeypatch.setattr(audited, "_QUESTIONS", audited._QUESTIONS[1:2])


@pytest.mark.parametrize("options", [{}, {"neighbours": "replace"}, {"delta": "1/1000"}], ids=str)
def test_the_claim_stands(options):
    verdict = discreet.audit("release-relations", epsilon=1, **options)
    assert verdict.stands, str(verdict)
    assert 0.9 < verdict.attempts[0].loss <= 1
    assert verdict.attempts[0].pairs > 100


def test_a_note_that_depends_on_the_data_is_found(monkeypatch):
    right = run_relations

    def peeking(job, meter, engine=engine_of):
        release = right(job, meter, engine)
        return replace(release, notes=(*release.notes, f"{len(job.baskets)} people"))

    monkeypatch.setattr(audited, "run_relations", peeking)
    verdict = discreet.audit("release-relations", epsilon=1)
    assert not verdict.stands
    assert "notes" in verdict.attempts[0].why


def test_pairs_of_items_that_were_not_released_are_found(monkeypatch):
    """Pairs among the items that are truly the most frequent, and not among those that noise chose."""
    right = RelationCase.pair_baskets

    def exact(job, released_items):
        best_items = (-job.listed.item_counts).argsort(kind="stable")[: len(released_items)]
        best_items.sort()
        return right(job, best_items.astype(released_items.dtype))

    monkeypatch.setattr(RelationCase, "pair_baskets", exact)
    assert not discreet.audit("release-relations", epsilon=1).stands


def test_counting_a_person_twice_is_found(monkeypatch):
    right = run_relations

    def doubled(job, meter, engine=engine_of):
        return right(job, meter, lambda baskets: Twice(engine(baskets)))

    monkeypatch.setattr(audited, "run_relations", doubled)
    assert not discreet.audit("release-relations", epsilon=1).stands


class Twice:
    def __init__(self, engine):
        self.engine, self.items = engine, engine.items

    def answer(self, query):
        return 2 * self.engine.answer(query)

    def above(self, *arguments):
        return self.engine.above(*arguments)
