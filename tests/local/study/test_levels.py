"""Hierarchies on devices, simulated: questions and answers, against the truth, and refusals of bad input."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet import MisuseError
from discreet.baskets import Baskets, Hierarchy, generalised, groceries, recode_baskets, resolve_public_items
from discreet.local.study import (
    SimulatedPeople,
    StudyGoal,
    converse,
    draw_baskets,
    expected_counts,
    simulate,
    true_patterns,
)
from discreet.local.study._device_baskets import map_baskets
from discreet.registry import protocol as protocol_of, protocols
from running import run

TABLE = """product,category,department
whole milk,dairy,food
butter,dairy,food
parmesan,dairy,food
white bread,bakery,food
bagels,bakery,food
spaghetti,pasta,food
ground coffee,hot drinks,drinks
black tea,hot drinks,drinks
cola,cold drinks,drinks
"""
NAMES, *ROWS = [line.split(",") for line in TABLE.splitlines()]
KNOWN_HIERARCHY = Hierarchy.from_rows(NAMES, ROWS)
SHOP = groceries(8_000, seed=4)
ACROSS = sorted(name for name, entry in protocols().items() if entry.kind.across)


def mixed(items) -> bool:
    return any(ancestor in KNOWN_HIERARCHY.above(str(item)) for item in items for ancestor in items)


def receipts(people: int = 3_000) -> Baskets:
    """People with one to four baskets: those of the shop, dealt out."""
    generator = np.random.default_rng(9)
    owners = np.append(0, np.cumsum(generator.integers(1, 5, people)))
    shop = groceries(int(owners[-1]), seed=4)
    return Baskets(shop.offsets, shop.codes, shop.vocabulary, owners=owners)


def test_these_protocols_go_across_levels():
    assert {"adept", "fp-tree", "svim", "svsm", "svd-fo"} <= set(ACROSS)
    assert not {"calm", "pairs", "relations", "prefixes"} & set(ACROSS)


@pytest.mark.parametrize("name", ACROSS)
@pytest.mark.parametrize("epsilon", [1, 8])
def test_no_item_is_answered_or_asked_about_with_one_above_it(name, epsilon):
    """At either epsilon: the hierarchy keeps them apart, not what is heard."""
    plan = protocol_of(name, None)
    mapped_baskets = map_baskets(SHOP, KNOWN_HIERARCHY, None, plan)
    goal = StudyGoal(items=mapped_baskets.items, top=30, epsilon=Fraction(epsilon), lineage=mapped_baskets.lineage)
    crowd = SimulatedPeople(baskets=mapped_baskets, seed=3, speed="aggregated")
    numbers, asked_forms = crowd.numbers(), []

    def hear(ask):
        asked_forms.append(ask.form)
        return crowd.hear(ask, numbers)

    result, _ = converse(plan.ask_rounds(goal), hear, reports=plan.reports, people=len(mapped_baskets))
    labels = list(mapped_baskets.vocabulary)
    assert len(result.itemsets) > 1
    assert not [itemset for itemset in result.itemsets if mixed([labels[item] for item in itemset])]
    # A prefix is what somebody holds of an order, with what stands above: that is no pattern.
    candidates = [
        candidate
        for form in asked_forms
        if form["ask"] != "prefix" and isinstance(form["of"], list)
        for candidate in form["of"]
    ]
    sets = [itemset for itemset in candidates if isinstance(itemset, list)]
    assert not [itemset for itemset in sets if mixed([labels[item] for item in itemset])]
    if name in ("adept", "svsm", "svsm-better"):
        assert sets


# Every interval holds with a chance of 95 %. Were they independent, 16 or fewer of 24 would hold less than once in
# 100,000 runs; they share sizes and paddings, so fixed seeds matter.
@pytest.mark.parametrize(
    ("name", "level"),
    [("adept", None), ("adept", "category"), ("adept", 0), ("svsm", None), ("svim", None), ("svim", 2)],
)
def test_a_large_epsilon_agrees_with_what_is_true(name, level):
    shop = groceries(40_000, seed=4)
    outcome = simulate(
        shop, name, top=24, epsilon=10, seed=5, hierarchy=KNOWN_HIERARCHY, level=level, speed="aggregated"
    )
    true_counts = expected_counts(map_baskets(shop, KNOWN_HIERARCHY, level, protocol_of(name, None)), outcome.patterns)
    inside = (outcome.patterns.low - 1 <= true_counts) & (true_counts <= outcome.patterns.high + 1)
    assert len(inside) >= min(24, len(outcome.all_patterns))
    assert inside.sum() >= 16 / 24 * len(inside)
    best_items = {
        frozenset(pattern.items)
        for pattern in discreet.mine(shop, top=8, hierarchy=KNOWN_HIERARCHY, level=level, lengths=(1, 1))
    }
    if name != "svsm":
        singles = [frozenset(pattern.items) for pattern in outcome.all_patterns if len(pattern.items) == 1]
        assert len(best_items & set(singles)) >= min(6, len(best_items))


@pytest.mark.parametrize("speed", ["person", "aggregated"])
@pytest.mark.parametrize("level", [None, "category"])
def test_it_is_a_simulation_over_mapped_baskets(level, speed):
    """The same reports as people would send who hold what stands above, to the bit, and the same again."""
    question = {"top": 10, "epsilon": 4, "seed": 11, "speed": speed}
    mapped_outcome = simulate(SHOP, "svim", hierarchy=KNOWN_HIERARCHY, level=level, **question)
    wide_baskets = generalised(
        recode_baskets(SHOP, resolve_public_items(KNOWN_HIERARCHY, "public", SHOP)[0]), KNOWN_HIERARCHY, level
    )
    plain = Baskets(wide_baskets.offsets, wide_baskets.codes, wide_baskets.vocabulary)
    other_outcome = simulate(plain, "svim", **question)
    assert mapped_outcome.patterns.to_dict() == other_outcome.patterns.to_dict()
    assert mapped_outcome.patterns.low.tobytes() == other_outcome.patterns.low.tobytes()
    outcome_again = simulate(
        SHOP, "svim", hierarchy=ROWS if level is None else KNOWN_HIERARCHY, level=level, **question
    )
    assert outcome_again.patterns.to_dict() == mapped_outcome.patterns.to_dict()
    assert (
        simulate(SHOP, "svim", hierarchy=KNOWN_HIERARCHY, level=level, **{**question, "seed": 12}).patterns
        != mapped_outcome.patterns
    )


def test_the_list_has_what_nobody_holds():
    """It is public: that nobody holds a label must not show in what is asked."""
    longer_rows = [*ROWS, ["caviar", "fish", "food"]]
    outcome = simulate(SHOP, "svim", top=5, epsilon=4, seed=1, hierarchy=longer_rows, speed="aggregated")
    assert {"caviar", "fish"} <= set(outcome.patterns.vocabulary)
    level = simulate(
        SHOP, "svim", top=5, epsilon=4, seed=1, hierarchy=Hierarchy.from_rows(NAMES, longer_rows), level="category"
    )
    assert "fish" in set(level.patterns.vocabulary)
    assert not {"caviar", "food", "butter"} & set(level.patterns.vocabulary)


@pytest.mark.parametrize("level", [None, "category"])
def test_scores_compare_with_the_truth_of_that_level(level):
    outcome = simulate(SHOP, "adept", top=6, epsilon=16, seed=2, hierarchy=KNOWN_HIERARCHY, level=level, score=True)
    true_counts = discreet.mine(SHOP, top=6, hierarchy=KNOWN_HIERARCHY, level=level).to_dict()
    hits = len(set(true_counts) & set(outcome.patterns.to_dict()))
    assert outcome.scores["F-score"] == pytest.approx(hits / 6)
    assert hits >= 5
    elsewhere = discreet.mine(SHOP, top=6).to_dict()
    assert len(set(elsewhere) & set(outcome.patterns.to_dict())) < hits


def test_a_device_with_several_baskets_draws_one_and_maps_it():
    """Drawing first and mapping first are the same: each basket is mapped by itself."""
    receipts_of_people = receipts()
    drawn_after_mapping, drawn_before_mapping = (
        draw_baskets(generalised(receipts_of_people, KNOWN_HIERARCHY), 5, 3),
        generalised(draw_baskets(receipts_of_people, 5, 3), KNOWN_HIERARCHY),
    )
    assert drawn_after_mapping.offsets.tobytes() == drawn_before_mapping.offsets.tobytes()
    assert drawn_after_mapping.codes.tobytes() == drawn_before_mapping.codes.tobytes()
    assert list(drawn_after_mapping.vocabulary) == list(drawn_before_mapping.vocabulary)
    assert drawn_after_mapping.lineage == drawn_before_mapping.lineage


@pytest.mark.parametrize("max_baskets", [1, 3])
def test_several_baskets_are_scored_by_what_is_expected_across_levels(max_baskets):
    """By brute force over all patterns; an item and one above it would crowd out others if they were among them."""
    wide_receipts = generalised(receipts(), KNOWN_HIERARCHY)
    every = discreet.mine(wide_receipts, min_count=1, lengths=(1, 3))
    counts = np.sort(expected_counts(wide_receipts, every, max_baskets))[::-1]
    true_counts = true_patterns(wide_receipts, max_baskets, 40, 1)
    assert len(true_counts) == 40
    assert not [items for items in true_counts if mixed(items)]
    assert sorted(true_counts.values(), reverse=True) == pytest.approx(counts[:40].tolist())


def test_several_baskets_with_a_hierarchy():
    receipts_of_people = receipts(12_000)
    question = {"top": 10, "epsilon": 12, "seed": 3, "score": True, "max_baskets": 2}
    outcome = simulate(receipts_of_people, "adept", hierarchy=KNOWN_HIERARCHY, **question)
    true_counts = true_patterns(generalised(receipts_of_people, KNOWN_HIERARCHY), 2, 200, 1)
    # Drawing adds an error of its own, which intervals of a count of people do not hold: ten of its deviations.
    is_near = [
        abs(true_counts.get(items, 0) - count) < 0.05 * 12_000 for items, count in outcome.patterns.to_dict().items()
    ]
    assert all(is_near)
    assert outcome.scores["F-score"] > 0.6
    assert outcome.question["max_baskets"] == 2
    assert outcome.question["hierarchy"] == len(KNOWN_HIERARCHY)
    assert outcome.notes[0].startswith("Counts are of people.")


def test_the_outcome_knows_levels(tmp_path):
    outcome = simulate(SHOP, "adept", top=20, epsilon=8, seed=2, hierarchy=KNOWN_HIERARCHY)
    assert outcome.patterns.hierarchy is not None
    assert {"department", "category"} <= set(outcome.patterns.levels)
    categories = outcome.patterns.where(level="category")
    assert 0 < len(categories) < 20
    assert set(categories.levels) <= {"category", "product"}
    assert outcome.patterns.to_arrow().column_names[-1] == "level"
    assert outcome.plot(level="category").svg != outcome.plot().svg
    assert outcome.rules(0.1).hierarchy is not None
    assert any("stand above others, as declared" in fact for fact in outcome.guarantee.public)
    assert outcome.question["hierarchy"] == len(KNOWN_HIERARCHY)
    assert "level" not in outcome.question
    for name in ("found.json", "found.parquet"):
        outcome.save(tmp_path / name)
        loaded = discreet.load(tmp_path / name)
        assert loaded.levels == outcome.patterns.levels
        assert loaded.where(level="category").to_dict() == categories.to_dict()
    outcome.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "department" in page
    assert "<details" in page
    outcome_of_level = simulate(
        SHOP, "adept", top=5, epsilon=8, seed=2, hierarchy=KNOWN_HIERARCHY, level="category", speed="aggregated"
    )
    assert outcome_of_level.question["level"] == "category"
    assert "mixed" not in outcome_of_level.patterns.levels


def test_relations_on_one_level():
    outcome = simulate(
        SHOP,
        "pairs",
        top=5,
        epsilon=8,
        seed=2,
        hierarchy=KNOWN_HIERARCHY,
        level=1,
        speed="aggregated",
        settings={"how": "together"},
    )
    assert set(outcome.relations.vocabulary) >= {"dairy", "bakery"}
    assert "butter" not in set(outcome.relations.vocabulary)
    assert set(outcome.relations.levels) <= {"product", "category"}


def error_of(**question) -> str:
    with pytest.raises(MisuseError) as caught:
        simulate(SHOP, **{"top": 5, "epsilon": 1, "seed": 1, "hierarchy": KNOWN_HIERARCHY, **question})
    return str(caught.value)


def test_bad_input():
    assert error_of(level="aisle") == (
        "level is one of the levels of the hierarchy, 0 to 2 (product, category, department); 'aisle' was given."
    )
    assert error_of(level=3).endswith("3 was given.")
    assert error_of(hierarchy=None, level=1) == "level is a level of a hierarchy: give hierarchy= too."
    assert error_of(protocol="prefixes") == (
        "prefixes finds out what the items are, so nothing is known of what stands above them: leave hierarchy out."
    )
    assert error_of(protocol="prefixes", level=1) == error_of(protocol="prefixes")
    assert error_of(protocol="calm") == (
        "calm would relate items to those that stand above them: ask for one level with level=, or use another "
        "protocol, such as adept."
    )


def test_a_protocol_that_cannot_go_across_runs_on_one_level():
    outcome = simulate(SHOP, "calm", top=5, epsilon=8, seed=1, hierarchy=KNOWN_HIERARCHY, level="department")
    assert {"food", "drinks"} <= {item for pattern in outcome.patterns for item in pattern.items}


def test_the_command(tmp_path):
    table, data = tmp_path / "products.csv", tmp_path / "sales.csv"
    table.write_text(TABLE)
    rows = [f"{row},{SHOP.vocabulary.label(int(code))}" for row in range(2_000)
            for code in SHOP.codes[SHOP.offsets[row] : SHOP.offsets[row + 1]]]  # fmt: skip
    data.write_text("\n".join(["customer,product", *rows]) + "\n")
    command = ["simulate", str(data), "--person", "customer", "--item", "product", "--top", "8", "--epsilon", "8",
             "--seed", "1", "--hierarchy", str(table)]  # fmt: skip
    completed = run(*command)
    assert completed.returncode == 0, completed.stderr
    assert "dairy" in completed.stdout
    assert "level" in completed.stdout
    document = json.loads(run(*command, "--level", "category", "--format", "json").stdout)
    assert document["asked"]["level"] == "category"
    assert {pattern["level"] for pattern in document["patterns"]} <= {"product", "category"}
    refused = run(*command, "--level", "aisle")
    assert refused.returncode == 1
    assert "--level is one of the levels of the hierarchy" in refused.stderr
    refused = run(*command, "--protocol", "calm")
    assert refused.returncode == 1
    assert "ask for one level with --level" in refused.stderr
