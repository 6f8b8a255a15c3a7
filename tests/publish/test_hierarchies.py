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


def simulated(baskets=SHOP, seed=1, **asked):
    (job,) = cases(baskets, **{"epsilon": 2, "hierarchy": ROWS, **asked}).values()
    return carry_out(job, SimulationSource(seed))


def mixed(items) -> bool:
    return any(other in ABOVE.get(one, ()) for one in items for other in items)


@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_every_mechanism_leaves_out_what_the_hierarchy_says(name):
    kind = mechanisms()[name].kind
    asked = {"itemsets": [["dairy", "cola"], ["whole milk"]]} if name == "count" else {"top": 12}
    if kind.delta:
        asked["delta"] = "1e-6"
    if name == "threshold":
        asked = {"min_support": "0.02"} | {key: value for key, value in asked.items() if key != "top"}
    try:
        made = simulated(mechanism=name, **asked)
    except MisuseError as error:
        pytest.skip(f"{name} answers other questions: {error}")
    assert len(made.patterns)
    assert not [one.items for one in made.patterns if mixed(one.items)]
    assert any("stand above others, as declared" in fact for fact in made.guarantee.public)


def test_a_large_budget_finds_what_is_true_across_levels():
    made = simulated(epsilon=19, top=20)
    true = discreet.mine(SHOP, top=20, hierarchy=ROWS)
    listed = set(made.patterns.vocabulary)
    true_listed = {frozenset(one.items) for one in discreet.mine(
        SHOP, min_count=1, hierarchy=ROWS, lengths=(1, 2)
    ) if set(one.items) <= listed}  # fmt: skip
    found = {frozenset(one.items) for one in made.patterns}
    assert found & {frozenset(one.items) for one in true}
    assert {one for one in found if len(one) < 3} <= true_listed


def test_the_items_of_the_hierarchy_are_the_public_list():
    made = simulated(top=5)
    assert {item for one in made.patterns for item in one.items} <= {label for row in ROWS for label in row}
    wide = simulated(top=40, epsilon=19, items="public")
    assert "bananas" in {item for one in wide.patterns for item in one.items}
    given = simulated(top=5, items=["whole milk", "cola", "bananas"])
    # What stands above a listed item is as public as both.
    assert {item for one in given.patterns for item in one.items} <= {
        "whole milk", "cola", "bananas", "dairy", "food", "cold drinks", "drinks",
    }  # fmt: skip


def test_one_level():
    made = simulated(top=4, level=1)
    assert {item for one in made.patterns for item in one.items} <= {row[1] for row in ROWS}
    assert made.asked["level"] == "level 1"
    assert made.asked["hierarchy"] == 16


def test_counts_are_those_of_the_wide_baskets():
    made = simulated(itemsets=[["dairy", "cola"]], mechanism="count", epsilon=19)
    (one,) = made.patterns
    true = sum(bool({"whole milk", "butter", "parmesan"} & set(basket) and "cola" in basket) for basket in SHOP)
    assert abs(one.count - true) <= 5


def test_the_list_of_a_hierarchy_was_not_found_privately():
    listed = len({label for row in ROWS for label in row})
    assert simulated(top=2).asked["items"] == listed
    assert simulated(itemsets=[["dairy"]], mechanism="count").asked["items"] == listed
    public = simulated(top=2, items="public").guarantee.public
    assert public[0].endswith(f"as found in the data, and the {listed} of the hierarchy")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"items": ["food"], "level": 1}, "All items of the list stand above that level: nothing is left to count."),
        ({"hierarchy": {"a": "Z", "b": "Z"}, "contains": "Z"}, "No item is left that a pattern could have"),
        ({"contains": "soap"}, "'soap' is not in the hierarchy: add it there, list the items by items=, or leave it"),
        ({"contains": "cola", "level": 1}, "'cola' is not on that level: ask for 'cold drinks', or for another level."),
        ({"contains": "food", "level": 1}, "'food' is not on that level: leave it out, or ask for another level."),
        ({"contains": "soap", "items": ["cola"]}, "'soap' is not on the list of items that was given"),
    ],
)
def test_what_leaves_nothing_or_is_not_listed_is_refused_before_anything_is_spent(asked, message, tmp_path):
    ledger = discreet.Ledger.create(tmp_path / "budget.db", epsilon=2)
    with pytest.raises(MisuseError) as caught:
        discreet.release(SHOP, **{"top": 2, "epsilon": 1, "hierarchy": ROWS, "ledger": ledger, **asked})
    assert str(caught.value).startswith(message)
    assert not ledger.state().spends


def test_nobody_in_the_data_is_no_reason_to_refuse():
    made = discreet.release([], top=2, epsilon=1, items="public", hierarchy=ROWS, level=1)
    assert len(made) <= 2


def test_what_is_asked_for_never_has_an_item_and_one_above_it():
    with pytest.raises(MisuseError, match=r"'butter' and 'dairy', which stands above it"):
        discreet.release(SHOP, top=3, epsilon=1, hierarchy=ROWS, contains=["dairy", "butter"])
    with pytest.raises(MisuseError, match=r"give hierarchy= too"):
        discreet.release(SHOP, top=3, epsilon=1, level=1, items="public")


class TestCommands:
    @pytest.fixture
    def shop(self, tmp_path):
        (tmp_path / "products.csv").write_text(TABLE)
        rows = [f"{who},{item}" for who, basket in enumerate(SHOP) for item in sorted(basket)]
        (tmp_path / "sales.csv").write_text("\n".join(["customer,product", *rows]) + "\n")
        return tmp_path

    COLUMNS = ("--person", "customer", "--item", "product", "--hierarchy", "products.csv")

    def test_mine_and_rules(self, shop):
        done = run("mine", "sales.csv", *self.COLUMNS, "--top", 30, "--format", "json", cwd=shop, check=True)
        found = [one["items"] for one in json.loads(done.stdout)["patterns"]]
        assert len(found) == 30
        assert not [items for items in found if mixed(items)]
        done = run("mine", "sales.csv", *self.COLUMNS, "--top", 5, "--level", "department", cwd=shop, check=True)
        assert "food" in done.stdout
        done = run("rules", "sales.csv", *self.COLUMNS, "--min-support", "0.05", cwd=shop, check=True)
        assert "dairy" in done.stdout

    def test_release_pays_from_one_account_whatever_the_level(self, shop):
        """What a ledger knows the data by is what people hold, and not what stands above that."""
        run("ledger", "create", "shop.ledger", "--epsilon", 5, cwd=shop, check=True)
        paid = ("--epsilon", 1, "--ledger", "shop.ledger", "--top", 5)
        for level in [(), ("--level", "category")]:
            done = run("release", "sales.csv", *self.COLUMNS, *paid, *level, cwd=shop)
            assert done.returncode == 0, done.stderr
        done = run("ledger", "show", "shop.ledger", cwd=shop, check=True)
        assert "3" in done.stdout

    def test_mistakes(self, shop):
        done = run("mine", "sales.csv", *self.COLUMNS, "--top", 3, "--level", "aisle", cwd=shop)
        assert done.returncode == 1
        assert "--level is one of the levels of the hierarchy, 0 to 2 (product, category, department)" in done.stderr
        done = run("mine", "sales.csv", *self.COLUMNS[:-1], "nowhere.csv", "--top", 3, cwd=shop)
        assert done.returncode != 0
        assert "There is no file nowhere.csv with a hierarchy." in done.stderr
