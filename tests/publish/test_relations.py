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


def shoppers(people: int, seed: int, **read_options) -> discreet.Baskets:
    """Return people who buy a few of twelve things in some order; the thing 1 mostly comes after the thing 0."""
    draws = np.random.default_rng(seed)
    chance = 1 / np.arange(2, ITEMS + 2)
    rows = []
    for _ in range(people):
        row = draws.choice(ITEMS, draws.integers(1, 5), replace=False, p=chance / chance.sum()).tolist()
        if 0 in row and draws.random() < 0.6:
            row = [item for item in row if item != 1] + [1]
        rows.append(row)
    return discreet.read(rows, ordered=True, **read_options)


def simulated(baskets, seed=0, **question):
    job = relations_case(baskets, **{"items": ITEMS, "top": 8, "among": 6, "epsilon": 1} | question)
    return run_relations(job, Meter(job.budget, job.neighbours, SimulationSource(seed)))


def by_name(relations):
    return {(*relation.antecedent, *relation.consequent): relation for relation in relations}


@pytest.mark.parametrize("pair_kind", ["after", "together"])
def test_without_much_noise_it_is_the_truth(pair_kind):
    baskets = shoppers(3000, 1)
    simulation = simulated(baskets, how=pair_kind, epsilon=20, people=3000)
    true_relations = by_name(discreet.relations(baskets, how=pair_kind, items=6, support=10**6, top=10**6))
    found_relations = by_name(simulation.relations)
    assert len(found_relations) == 8
    best_relations = sorted(true_relations.values(), key=lambda relation: -relation.count)[:8]
    assert {(*relation.antecedent, *relation.consequent) for relation in best_relations[:6]} <= found_relations.keys()
    for name, relation in found_relations.items():
        assert relation.count == pytest.approx(true_relations[name].count, abs=60)
        assert relation.confidence == pytest.approx(true_relations[name].confidence, abs=0.06)
    assert simulation.relations.counts.tolist() == sorted(simulation.relations.counts.tolist(), reverse=True)


def test_given_pairs():
    rows = {"who": [*range(900)] * 2, "one": ["a"] * 900 + ["b"] * 900, "other": ["b"] * 900 + ["c"] * 900}
    import pyarrow as pa

    baskets = discreet.read(pa.table(rows), person="who", pair=("one", "other"))
    simulation = simulated(baskets, items=["a", "b", "c", "d"], top=2, among=3, epsilon=10)
    assert {(*relation.antecedent, *relation.consequent) for relation in simulation.relations} == {
        ("a", "b"),
        ("b", "c"),
    }
    assert simulation.question["how"] == "given"


def test_intervals_hold():
    """Twenty seeded releases of 8 relations: intervals of counts fail in 5 of 100 at most, those of a confidence in 10.

    If they failed as often as that, over 16 of 160 counts, or over 26 confidences, would fail in 1 of 200 such tests.
    """
    baskets = shoppers(2000, 2)
    true_relations = by_name(discreet.relations(baskets, support=10**6, top=10**6))
    missed_counts = {"count": 0, "confidence": 0}
    for seed in range(20):
        relations = simulated(baskets, seed).relations
        for relation, low, high in zip(relations, *relations.ends[2], strict=True):
            true_relation = true_relations.get((*relation.antecedent, *relation.consequent))
            missed_counts["count"] += not low <= (true_relation.count if true_relation else 0) <= high
            missed_counts["confidence"] += (
                not relation.low <= (true_relation.confidence if true_relation else 0) <= relation.high
            )
    assert missed_counts["count"] <= 16
    assert missed_counts["confidence"] <= 26


def test_the_promise_and_the_ledger(tmp_path):
    baskets = shoppers(500, 3)
    path = tmp_path / "budget.db"
    discreet.Ledger.create(path, epsilon=1)
    outcome = release_relations(baskets, top=3, among=4, epsilon="0.6", items=ITEMS, ledger=path, who="me")
    assert outcome.guarantee.epsilon == Fraction(3, 5)
    assert sum(charge.epsilon for charge in outcome.guarantee.charges) <= Fraction(3, 5)
    assert not outcome.simulated
    (spend,) = discreet.Ledger.open(path).spends()
    assert (spend.what, spend.epsilon) == ("release-relations", Fraction(3, 5))
    with pytest.raises(BudgetError):
        release_relations(baskets, top=3, among=4, epsilon="0.6", items=ITEMS, ledger=path)
    concentrated = release_relations(baskets, top=3, among=4, epsilon=1, delta="1e-6", items=ITEMS)
    assert concentrated.guarantee.rho is not None
    assert Budget.of(1, "1e-6").rho >= sum(charge.rho for charge in concentrated.guarantee.charges)


def test_files_and_the_report(tmp_path):
    simulation = simulated(shoppers(500, 4))
    for suffix in ("json", "csv", "parquet"):
        simulation.save(tmp_path / f"found.{suffix}")
        assert discreet.load(tmp_path / f"found.{suffix}") == simulation.relations
    page = simulation.report()
    assert '<h2 id="rules">Relations</h2>' in page
    assert "the 8 that most people have" in page
    assert "the second item comes after the first, in time" in page
    assert len(simulation) == 8
    assert repr(simulation).startswith("8 relations of about")
    assert simulation.digest() != simulated(shoppers(500, 4), seed=1).digest()


@pytest.mark.parametrize("people", [[], [set()], [set(), set()]])
def test_nobody_and_people_with_nothing(people):
    outcome = release_relations(people, how="together", top=2, among=3, epsilon=1, items=5)
    assert len(outcome.relations) == 2
    assert np.isfinite(outcome.relations.measure("confidence")).all()
    assert np.isfinite(outcome.relations.low).all()


@pytest.mark.parametrize("read_options", [{"time": "when"}, {"pair": ("what", "when")}, {}])
def test_what_makes_a_pair_does_not_tell_that_there_is_nobody(read_options):
    def release_rows(rows):
        table = pa.table({name: pa.array(rows[name], pa.string()) for name in ("who", "what", "when")})
        item_option = {} if "pair" in read_options else {"item": "what"}
        outcome = release_relations(
            table, person="who", **item_option, **read_options, top=2, among=3, epsilon=1, items=["a", "b"]
        )
        return outcome.question, outcome.guarantee.public

    assert release_rows({"who": [], "what": [], "when": []}) == release_rows(
        {"who": ["x"], "what": ["a"], "when": ["1"]}
    )


def test_of_several_baskets_everything_a_person_holds_is_put_together():
    rows = {"who": [1, 1, 1, 2], "which": [1, 2, 2, 1], "what": ["a", "b", "c", "a"]}
    baskets = discreet.read(pa.table(rows), person="who", basket="which", item="what")
    true_relations = discreet.relations(baskets, top=10)
    assert true_relations.people == 2
    assert by_name(true_relations)["a", "b"].count == 1
    assert true_relations == discreet.relations(baskets.merged_people(), top=10)
    simulation = simulated(baskets, items=["a", "b", "c"], top=2, among=3)
    assert simulation.notes[0] == "Counts are of people: what all baskets of a person hold was put together."


def test_items_of_the_list_that_nobody_holds_and_others_that_are_not_on_it():
    simulation = simulated(discreet.read([["x", "a", "b"]] * 900, ordered=True), items=["a", "b", "c"], top=1, among=2)
    assert [(*relation.antecedent, *relation.consequent) for relation in simulation.relations] == [("a", "b")]
    # Numbers on the list may be names in the data.
    numbers = discreet.read([["1", "2", "tea"]] * 900, ordered=True)
    simulation = simulated(numbers, items=[1, 2, 3], top=1, among=2)
    assert [(*relation.antecedent, *relation.consequent) for relation in simulation.relations] == [(1, 2)]


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
    baskets = discreet.read([{"tea", "milk"}] * 60)
    separate_baskets = Baskets(
        np.arange(121), np.tile([0, 1], 60).astype(np.int32), baskets.vocabulary, owners=np.arange(0, 121, 2)
    )
    question = {"how": "together", "top": 1, "epsilon": 8, "items": ["milk", "tea"], "among": 2}
    assert abs(int(discreet.release_relations(separate_baskets, **question).relations.counts[0]) - 60) < 30
