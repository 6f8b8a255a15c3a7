"""Releases with a hierarchy: what comes out, what is promised, and what the account remembers."""

from __future__ import annotations

import json

import pytest

import discreet
from discreet import MisuseError
from discreet.baskets import groceries
from discreet.privacy.sampling import SimulationSource
from discreet.publish import carry_out
from discreet.registry import mechanisms
from questions import cases
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
ROWS = [line.split(",") for line in TABLE.splitlines()[1:]]
ABOVE = {row[0]: set(row[1:]) for row in ROWS} | {row[1]: {row[2]} for row in ROWS}
SHOP = groceries(2_000, seed=4)


def simulated(baskets=SHOP, seed=1, **question):
    (job,) = cases(baskets, **{"epsilon": 2, "hierarchy": ROWS, **question}).values()
    return carry_out(job, SimulationSource(seed))


def mixed(items) -> bool:
    return any(other_item in ABOVE.get(item, ()) for item in items for other_item in items)


@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_every_mechanism_leaves_out_what_the_hierarchy_says(name):
    kind = mechanisms()[name].kind
    question = {"itemsets": [["dairy", "cola"], ["whole milk"]]} if name == "count" else {"top": 12}
    if kind.delta:
        question["delta"] = "1e-6"
    if name == "threshold":
        question = {"min_support": "0.02"} | {key: value for key, value in question.items() if key != "top"}
    try:
        simulation = simulated(mechanism=name, **question)
    except MisuseError as error:
        pytest.skip(f"{name} answers other questions: {error}")
    assert len(simulation.patterns)
    assert not [pattern.items for pattern in simulation.patterns if mixed(pattern.items)]
    assert any("stand above others, as declared" in fact for fact in simulation.guarantee.public)


def test_a_large_budget_finds_what_is_true_across_levels():
    simulation = simulated(epsilon=19, top=20)
    true_patterns = discreet.mine(SHOP, top=20, hierarchy=ROWS)
    listed_items = set(simulation.patterns.vocabulary)
    true_listed = {frozenset(pattern.items) for pattern in discreet.mine(
        SHOP, min_count=1, hierarchy=ROWS, lengths=(1, 2)
    ) if set(pattern.items) <= listed_items}  # fmt: skip
    found_itemsets = {frozenset(pattern.items) for pattern in simulation.patterns}
    assert found_itemsets & {frozenset(pattern.items) for pattern in true_patterns}
    assert {pattern for pattern in found_itemsets if len(pattern) < 3} <= true_listed


def test_the_items_of_the_hierarchy_are_the_public_list():
    simulation = simulated(top=5)
    assert {item for pattern in simulation.patterns for item in pattern.items} <= {
        label for row in ROWS for label in row
    }
    wide_simulation = simulated(top=40, epsilon=19, items="public")
    assert "bananas" in {item for pattern in wide_simulation.patterns for item in pattern.items}
    listed_simulation = simulated(top=5, items=["whole milk", "cola", "bananas"])
    # What stands above a listed item is as public as both.
    assert {item for pattern in listed_simulation.patterns for item in pattern.items} <= {
        "whole milk", "cola", "bananas", "dairy", "food", "cold drinks", "drinks",
    }  # fmt: skip


def test_one_level():
    simulation = simulated(top=4, level=1)
    assert {item for pattern in simulation.patterns for item in pattern.items} <= {row[1] for row in ROWS}
    assert simulation.question["level"] == "level 1"
    assert simulation.question["hierarchy"] == 16


def test_counts_are_those_of_the_wide_baskets():
    simulation = simulated(itemsets=[["dairy", "cola"]], mechanism="count", epsilon=19)
    (pattern,) = simulation.patterns
    true_count = sum(bool({"whole milk", "butter", "parmesan"} & set(basket) and "cola" in basket) for basket in SHOP)
    assert abs(pattern.count - true_count) <= 5


def test_the_list_of_a_hierarchy_was_not_found_privately():
    listed_count = len({label for row in ROWS for label in row})
    assert simulated(top=2).question["items"] == listed_count
    assert simulated(itemsets=[["dairy"]], mechanism="count").question["items"] == listed_count
    public = simulated(top=2, items="public").guarantee.public
    assert public[0].endswith(f"as found in the data, and the {listed_count} of the hierarchy")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"items": ["food"], "level": 1}, "All items of the list stand above that level: nothing is left to count."),
        ({"hierarchy": {"a": "Z", "b": "Z"}, "contains": "Z"}, "No item is left that a pattern could have"),
        ({"contains": "soap"}, "'soap' is not in the hierarchy: add it there, list the items by items=, or leave it"),
        ({"contains": "cola", "level": 1}, "'cola' is not on that level: ask for 'cold drinks', or for another level."),
        ({"contains": "food", "level": 1}, "'food' is not on that level: leave it out, or ask for another level."),
        ({"contains": "soap", "items": ["cola"]}, "'soap' is not on the list of items that was given"),
    ],
)
def test_what_leaves_nothing_or_is_not_listed_is_refused_before_anything_is_spent(question, message, tmp_path):
    ledger = discreet.Ledger.create(tmp_path / "budget.db", epsilon=2)
    with pytest.raises(MisuseError) as caught:
        discreet.release(SHOP, **{"top": 2, "epsilon": 1, "hierarchy": ROWS, "ledger": ledger, **question})
    assert str(caught.value).startswith(message)
    assert not ledger.state().spends


def test_nobody_in_the_data_is_no_reason_to_refuse():
    release = discreet.release([], top=2, epsilon=1, items="public", hierarchy=ROWS, level=1)
    assert len(release) <= 2


def test_what_is_asked_for_never_has_an_item_and_one_above_it():
    with pytest.raises(MisuseError, match=r"'butter' and 'dairy', which stands above it"):
        discreet.release(SHOP, top=3, epsilon=1, hierarchy=ROWS, contains=["dairy", "butter"])
    with pytest.raises(MisuseError, match=r"give hierarchy= too"):
        discreet.release(SHOP, top=3, epsilon=1, level=1, items="public")


class TestCommands:
    @pytest.fixture
    def shop(self, tmp_path):
        (tmp_path / "products.csv").write_text(TABLE)
        rows = [f"{person},{item}" for person, basket in enumerate(SHOP) for item in sorted(basket)]
        (tmp_path / "sales.csv").write_text("\n".join(["customer,product", *rows]) + "\n")
        return tmp_path

    COLUMNS = ("--person", "customer", "--item", "product", "--hierarchy", "products.csv")

    def test_mine_and_rules(self, shop):
        completed = run("mine", "sales.csv", *self.COLUMNS, "--top", 30, "--format", "json", cwd=shop, check=True)
        itemsets = [pattern["items"] for pattern in json.loads(completed.stdout)["patterns"]]
        assert len(itemsets) == 30
        assert not [items for items in itemsets if mixed(items)]
        completed = run("mine", "sales.csv", *self.COLUMNS, "--top", 5, "--level", "department", cwd=shop, check=True)
        assert "food" in completed.stdout
        completed = run("rules", "sales.csv", *self.COLUMNS, "--min-support", "0.05", cwd=shop, check=True)
        assert "dairy" in completed.stdout

    def test_release_pays_from_one_account_whatever_the_level(self, shop):
        """What a ledger knows the data by is what people hold, and not what stands above that."""
        run("ledger", "create", "shop.ledger", "--epsilon", 5, cwd=shop, check=True)
        budget_options = ("--epsilon", 1, "--ledger", "shop.ledger", "--top", 5)
        for level in [(), ("--level", "category")]:
            completed = run("release", "sales.csv", *self.COLUMNS, *budget_options, *level, cwd=shop)
            assert completed.returncode == 0, completed.stderr
        completed = run("ledger", "show", "shop.ledger", cwd=shop, check=True)
        assert "3" in completed.stdout

    def test_mistakes(self, shop):
        completed = run("mine", "sales.csv", *self.COLUMNS, "--top", 3, "--level", "aisle", cwd=shop)
        assert completed.returncode == 1
        assert (
            "--level is one of the levels of the hierarchy, 0 to 2 (product, category, department)" in completed.stderr
        )
        completed = run("mine", "sales.csv", *self.COLUMNS[:-1], "nowhere.csv", "--top", 3, cwd=shop)
        assert completed.returncode != 0
        assert "There is no file nowhere.csv with a hierarchy." in completed.stderr
