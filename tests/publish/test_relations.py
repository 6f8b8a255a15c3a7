"""Relations that are released: against the truth, and against what a release may depend on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet import Baskets
from discreet.errors import BudgetError, LimitError, MisuseError
from discreet.privacy import Budget, Meter
from discreet.privacy.sampling import SimulationSource
from discreet.publish import _relations as door, release_relations, run_relations
from questions import relations_case

ITEMS = 12


def shoppers(people: int, seed: int, **reading) -> discreet.Baskets:
    """Return people who buy a few of twelve things in some order; the thing 1 mostly comes after the thing 0."""
    draws = np.random.default_rng(seed)
    chance = 1 / np.arange(2, ITEMS + 2)
    rows = []
    for _ in range(people):
        row = draws.choice(ITEMS, draws.integers(1, 5), replace=False, p=chance / chance.sum()).tolist()
        if 0 in row and draws.random() < 0.6:
            row = [item for item in row if item != 1] + [1]
        rows.append(row)
    return discreet.read(rows, ordered=True, **reading)


def simulated(baskets, seed=0, **question):
    job = relations_case(baskets, **{"items": ITEMS, "top": 8, "among": 6, "epsilon": 1} | question)
    return run_relations(job, Meter(job.budget, job.neighbours, SimulationSource(seed)))


def by_name(relations):
    return {(*one.antecedent, *one.consequent): one for one in relations}


@pytest.mark.parametrize("how", ["after", "together"])
def test_without_much_noise_it_is_the_truth(how):
    baskets = shoppers(3000, 1)
    made = simulated(baskets, how=how, epsilon=20, people=3000)
    true = by_name(discreet.relations(baskets, how=how, items=6, support=10**6, top=10**6))
    found = by_name(made.relations)
    assert len(found) == 8
    best = sorted(true.values(), key=lambda one: -one.count)[:8]
    assert {(*one.antecedent, *one.consequent) for one in best[:6]} <= found.keys()
    for name, one in found.items():
        assert one.count == pytest.approx(true[name].count, abs=60)
        assert one.confidence == pytest.approx(true[name].confidence, abs=0.06)
    assert made.relations.counts.tolist() == sorted(made.relations.counts.tolist(), reverse=True)


def test_given_pairs():
    rows = {"who": [*range(900)] * 2, "one": ["a"] * 900 + ["b"] * 900, "other": ["b"] * 900 + ["c"] * 900}
    import pyarrow as pa

    baskets = discreet.read(pa.table(rows), person="who", pair=("one", "other"))
    made = simulated(baskets, items=["a", "b", "c", "d"], top=2, among=3, epsilon=10)
    assert {(*one.antecedent, *one.consequent) for one in made.relations} == {("a", "b"), ("b", "c")}
    assert made.asked["how"] == "given"


def test_intervals_hold():
    """Twenty seeded releases of 8 relations: intervals of counts fail in 5 of 100 at most, those of a confidence in 10.

    If they failed as often as that, over 16 of 160 counts, or over 26 confidences, would fail in 1 of 200 such tests.
    """
    baskets = shoppers(2000, 2)
    true = by_name(discreet.relations(baskets, support=10**6, top=10**6))
    missed = {"count": 0, "confidence": 0}
    for seed in range(20):
        relations = simulated(baskets, seed).relations
        for one, low, high in zip(relations, *relations.ends[2], strict=True):
            real = true.get((*one.antecedent, *one.consequent))
            missed["count"] += not low <= (real.count if real else 0) <= high
            missed["confidence"] += not one.low <= (real.confidence if real else 0) <= one.high
    assert missed["count"] <= 16
    assert missed["confidence"] <= 26


def test_the_promise_and_the_ledger(tmp_path):
    baskets = shoppers(500, 3)
    path = tmp_path / "budget.db"
    discreet.Ledger.create(path, epsilon=1)
    made = release_relations(baskets, top=3, among=4, epsilon="0.6", items=ITEMS, ledger=path, who="me")
    assert made.guarantee.epsilon == Fraction(3, 5)
    assert sum(charge.epsilon for charge in made.guarantee.charges) <= Fraction(3, 5)
    assert not made.simulated
    (spend,) = discreet.Ledger.open(path).spends()
    assert (spend.what, spend.epsilon) == ("release-relations", Fraction(3, 5))
    with pytest.raises(BudgetError):
        release_relations(baskets, top=3, among=4, epsilon="0.6", items=ITEMS, ledger=path)
    concentrated = release_relations(baskets, top=3, among=4, epsilon=1, delta="1e-6", items=ITEMS)
    assert concentrated.guarantee.rho is not None
    assert Budget.of(1, "1e-6").rho >= sum(charge.rho for charge in concentrated.guarantee.charges)


def test_files_and_the_report(tmp_path):
    made = simulated(shoppers(500, 4))
    for suffix in ("json", "csv", "parquet"):
        made.save(tmp_path / f"found.{suffix}")
        assert discreet.load(tmp_path / f"found.{suffix}") == made.relations
    page = made.report()
    assert '<h2 id="rules">Relations</h2>' in page
    assert "the 8 that most people have" in page
    assert "the second item comes after the first, in time" in page
    assert len(made) == 8
    assert repr(made).startswith("8 relations of about")
    assert made.digest() != simulated(shoppers(500, 4), seed=1).digest()


@pytest.mark.parametrize("people", [[], [set()], [set(), set()]])
def test_nobody_and_people_with_nothing(people):
    made = release_relations(people, how="together", top=2, among=3, epsilon=1, items=5)
    assert len(made.relations) == 2
    assert np.isfinite(made.relations.measure("confidence")).all()
    assert np.isfinite(made.relations.low).all()


@pytest.mark.parametrize("reading", [{"time": "when"}, {"pair": ("what", "when")}, {}])
def test_what_makes_a_pair_does_not_tell_that_there_is_nobody(reading):
    def asked(rows):
        table = pa.table({name: pa.array(rows[name], pa.string()) for name in ("who", "what", "when")})
        how = {} if "pair" in reading else {"item": "what"}
        made = release_relations(table, person="who", **how, **reading, top=2, among=3, epsilon=1, items=["a", "b"])
        return made.asked, made.guarantee.public

    assert asked({"who": [], "what": [], "when": []}) == asked({"who": ["x"], "what": ["a"], "when": ["1"]})


def test_of_several_baskets_everything_a_person_holds_is_put_together():
    rows = {"who": [1, 1, 1, 2], "which": [1, 2, 2, 1], "what": ["a", "b", "c", "a"]}
    baskets = discreet.read(pa.table(rows), person="who", basket="which", item="what")
    true = discreet.relations(baskets, top=10)
    assert true.people == 2
    assert by_name(true)["a", "b"].count == 1
    assert true == discreet.relations(baskets.merged_people(), top=10)
    made = simulated(baskets, items=["a", "b", "c"], top=2, among=3)
    assert made.notes[0] == "Counts are of people: what all baskets of a person hold was put together."


def test_items_of_the_list_that_nobody_holds_and_others_that_are_not_on_it():
    made = simulated(discreet.read([["x", "a", "b"]] * 900, ordered=True), items=["a", "b", "c"], top=1, among=2)
    assert [(*one.antecedent, *one.consequent) for one in made.relations] == [("a", "b")]
    # Numbers on the list may be names in the data.
    numbers = discreet.read([["1", "2", "tea"]] * 900, ordered=True)
    made = simulated(numbers, items=[1, 2, 3], top=1, among=2)
    assert [(*one.antecedent, *one.consequent) for one in made.relations] == [(1, 2)]


MISTAKES = {
    "no list": (
        {"items": None},
        "Relations need a public list of items: give it with items=, a file with one per line, a list or a number; or "
        "declare with items='public' that the items found in the data are public knowledge.",
    ),
    "one item": ({"items": ["tea"]}, "A relation is of two items: the list must have at least two."),
    "too many": ({"top": 31}, "top is 31, but 6 items have only 30 ordered pairs: ask for fewer, or raise among."),
    "among one": ({"among": 1}, "among is a number of items from 2 to 300; 1 was given."),
    "among all": ({"among": 301, "items": 500}, "among is a number of items from 2 to 300; 301 was given."),
    "not given": ({"how": "given"}, "These data have no pairs: read them with pair=, two columns of items"),
    "small": ({"epsilon": "1e-9"}, "An epsilon below 0.000001 leaves nothing but noise; 1e-9 was given."),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_before_anything_is_spent(mistake):
    question, message = MISTAKES[mistake]
    with pytest.raises(MisuseError) as raised:
        relations_case(shoppers(20, 5), **{"items": ITEMS, "top": 8, "among": 6, "epsilon": 1} | question)
    assert str(raised.value).startswith(message)


def test_more_pairs_than_can_be_counted_are_refused_before_paying(monkeypatch):
    monkeypatch.setattr(door.np, "iinfo", lambda _: type("Limits", (), {"max": 100}))
    with pytest.raises(LimitError, match="more pairs in all than can be counted at once: lower among"):
        relations_case(shoppers(90, 5), items=ITEMS, top=8, among=6, epsilon=1)


def test_several_baskets_of_a_person_are_one_here():
    # The unit is the person: a relation is about all that someone holds, in whatever baskets.
    held = discreet.read([{"tea", "milk"}] * 60)
    apart = Baskets(np.arange(121), np.tile([0, 1], 60).astype(np.int32), held.vocabulary, owners=np.arange(0, 121, 2))
    asked = {"how": "together", "top": 1, "epsilon": 8, "items": ["milk", "tea"], "among": 2}
    assert abs(int(discreet.release_relations(apart, **asked).relations.counts[0]) - 60) < 30
