"""Results of hierarchies: levels of patterns and rules, files, and rules across levels against brute force."""

import json
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.baskets import Hierarchy
from discreet.errors import InputError, MisuseError
from discreet.results import _redundancy as redundancy

PRODUCTS = [
    ("milk", "dairy", "food"),
    ("cheese", "dairy", "food"),
    ("bread", "bakery", "food"),
    ("rolls", "bakery", "food"),
    ("tea", "hot drinks", "drinks"),
]
HIERARCHY = Hierarchy.from_rows(["product", "category", "department"], PRODUCTS)
BASKETS = [
    {"milk", "bread"},
    {"milk", "rolls", "tea"},
    {"cheese", "bread"},
    {"cheese", "tea", "loose"},
    {"bread", "tea", "loose"},
    {"milk", "cheese", "bread", "tea"},
    {"rolls"},
]
baskets_of_products = st.lists(
    st.frozensets(st.sampled_from(["milk", "cheese", "bread", "rolls", "tea", "loose"])), min_size=1, max_size=12
)


def sets(patterns):
    return {pattern.items: pattern.count for pattern in patterns}


def above(label):
    return {label, *HIERARCHY.above(label)}


class TestLevels:
    @given(baskets_of_products)
    def test_of_a_level_are_just_those_that_are_mined_there(self, baskets):
        across = discreet.mine(baskets, min_count=1, hierarchy=HIERARCHY)
        for level, name in enumerate(HIERARCHY.names):
            level_patterns = discreet.mine(baskets, min_count=1, hierarchy=HIERARCHY, level=level)
            assert sets(across.where(level=level)) == sets(across.where(level=name)) == sets(level_patterns)

    def test_each_pattern_has_the_lowest_level_of_all_its_items(self):
        across = discreet.mine(BASKETS, min_count=1, hierarchy=HIERARCHY)
        levels = dict(zip((pattern.items for pattern in across), across.levels, strict=True))
        assert levels[frozenset({"milk", "bread"})] == "product"
        assert levels[frozenset({"dairy", "bakery"})] == "category"
        assert levels[frozenset({"dairy", "tea"})] == "mixed"
        # An item without anything above it stands for itself on every level.
        assert levels[frozenset({"loose"})] == "product"
        assert levels[frozenset({"loose", "dairy"})] == "category"
        assert across.to_arrow()["level"].to_pylist() == list(across.levels)
        assert list(across.to_pandas()["level"]) == list(across.levels)
        assert set(across.where(level="mixed").levels) == {"mixed"}

    def test_levels_without_names_have_numbers(self):
        pairs = {"milk": "dairy", "dairy": "food", "bread": "food"}
        across = discreet.mine([{"milk", "bread"}], min_count=1, hierarchy=pairs)
        assert set(across.levels) == {"level 0", "level 1", "level 2"}
        assert sets(across.where(level="level 1")) == sets(across.where(level=1))

    def test_without_a_hierarchy_there_are_none(self):
        plain = discreet.mine(BASKETS, min_count=1)
        assert plain.levels == ()
        assert "level" not in plain.to_arrow().column_names
        with pytest.raises(MisuseError) as error:
            plain.where(level="category")
        assert str(error.value) == (
            "level is a level of a hierarchy, and these were found without one: give hierarchy= there."
        )
        with pytest.raises(MisuseError, match="0 to 2 \\(product, category, department\\); 'shelf' was given"):
            discreet.mine(BASKETS, min_count=1, hierarchy=HIERARCHY).where(level="shelf")

    def test_numbers_for_items(self):
        across = discreet.mine([{1, 2}, {1}], min_count=1, hierarchy={1: 10, 2: 10})
        assert dict(zip((tuple(p.items) for p in across), across.levels, strict=True))[(10,)] == "level 1"


class TestFiles:
    @pytest.mark.parametrize("form", ["json", "csv", "parquet"])
    def test_come_back(self, tmp_path, form):
        across = discreet.mine(BASKETS, min_count=1, hierarchy=HIERARCHY)
        for number, result in enumerate([across, across[3:5], across.rules(0), across.where(level="category")]):
            result.save(tmp_path / f"{number}.{form}")
            loaded = discreet.load(tmp_path / f"{number}.{form}")
            assert loaded == result
            assert loaded.levels == result.levels
            assert loaded.where(level="mixed") == result.where(level="mixed")
        assert discreet.load(tmp_path / f"2.{form}").where(redundant=False) == across.rules(0, redundant=False)

    def test_only_what_occurs_and_what_stands_above_it(self, tmp_path):
        across = discreet.mine(BASKETS, min_count=1, hierarchy=HIERARCHY)
        across.where(contains="tea", lengths=1).save(tmp_path / "tea.json")
        document = json.loads((tmp_path / "tea.json").read_text())
        assert document["hierarchy"] == {
            "levels": ["product", "category", "department"],
            "heights": {"drinks": 2, "hot drinks": 1, "tea": 0},
            "parents": {"hot drinks": "drinks", "tea": "hot drinks"},
        }
        assert document["patterns"][0]["level"] == "product"

    def test_a_release(self, tmp_path):
        release = discreet.release(BASKETS * 50, top=12, epsilon=20, hierarchy=HIERARCHY)
        release.save(tmp_path / "release.json")
        loaded = discreet.Release.load(tmp_path / "release.json")
        assert loaded.patterns == release.patterns
        assert loaded.digest() == release.digest()
        assert loaded.patterns.levels == release.patterns.levels
        assert loaded.rules(0, redundant=False) == release.rules(0, redundant=False)

    @pytest.mark.parametrize(
        "changed",
        [
            3,
            {},
            {"levels": [], "heights": {}, "parents": {}},
            {"levels": ["a", "a"], "heights": {}, "parents": {}},
            {"levels": ["a"], "heights": {"x": 1}, "parents": {}},
            {"levels": ["a", "b"], "heights": {"x": 0, "y": 0}, "parents": {"x": "y"}},
            {"levels": ["a", "b"], "heights": {"x": 0}, "parents": {"x": "y"}},
            {"levels": ["a", "b"], "heights": {"x": 0, "y": 1}, "parents": {"x": "y", "y": "x"}},
            {"levels": ["a", "b"], "heights": [1], "parents": {}},
        ],
    )
    def test_damaged(self, tmp_path, changed):
        path = tmp_path / "patterns.json"
        discreet.mine(BASKETS, min_count=1, hierarchy=HIERARCHY).save(path)
        path.write_text(json.dumps({**json.loads(path.read_text()), "hierarchy": changed}))
        with pytest.raises(InputError) as error:
            discreet.load(path)
        assert str(error.value) == (
            f"{path}: Its hierarchy does not say on which level each item is, and what stands above it."
        )

    def test_differences_across_levels(self):
        numbers = [{1, 2}, {1}, {3}]
        before = discreet.mine(numbers, min_count=1)
        after = discreet.mine(numbers, min_count=1, hierarchy={"1": "one", "2": "one"})
        changes = {tuple(sorted(map(str, row.items))): row.change for row in discreet.diff(before, after)}
        assert changes[("1",)] == "same"
        assert changes[("one",)] == "unlisted"
        assert changes[("1", "2")] == "same"


class TestRules:
    @given(baskets_of_products, st.sampled_from([0.0, 0.5]), st.sampled_from([0, 4096]))
    def test_redundant_by_brute_force(self, baskets, min_confidence, looked_up):
        # Every two rules are looked at, so patterns are kept short: there are thousands of rules otherwise.
        rules = discreet.mine(baskets, min_count=1, lengths=(1, 3), hierarchy=HIERARCHY).rules(min_confidence)
        rows = list(rules)
        alike = defaultdict(list)
        for rule in rows:
            alike[rule.consequent].append(rule)
        expected = []
        for rule in rows:
            useless = rule.lift <= 1
            ancestors = set().union(*map(above, rule.antecedent))
            for other_rule in alike[rule.consequent]:
                general = other_rule.antecedent != rule.antecedent and ancestors.issuperset(other_rule.antecedent)
                useless |= general and other_rule.confidence >= rule.confidence
            if not useless:
                expected.append((rule.antecedent, rule.consequent))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(redundancy, "_MAX_LOOKUPS", looked_up)
            kept_rules = rules.where(redundant=False)
        assert [(rule.antecedent, rule.consequent) for rule in kept_rules] == expected

    def test_with_noise_only_what_the_intervals_say(self):
        release = discreet.release(BASKETS * 200, top=30, epsilon=20, hierarchy=HIERARCHY)
        rules = release.rules(0)
        highest = rules.bounds("lift")[1]
        rows = list(rules)
        expected_flags = []
        for rule, lift in zip(rows, highest, strict=True):
            useless = lift <= 1
            for other_rule in rows:
                covered = all(
                    any(item in above(item_below) for item_below in rule.antecedent) for item in other_rule.antecedent
                )
                has_same_consequent = (
                    other_rule.consequent == rule.consequent and other_rule.antecedent != rule.antecedent
                )
                useless |= has_same_consequent and covered and other_rule.low >= rule.high
            expected_flags.append(not useless)
        assert len(rules.where(redundant=False)) == sum(expected_flags) < len(rules)

    @given(baskets_of_products, st.sampled_from(["any", "one"]))
    def test_tested_are_pairs_without_an_item_above_another(self, baskets, consequents):
        patterns = discreet.mine(baskets, min_count=1, lengths=(1, 3), hierarchy=HIERARCHY)
        rules = patterns.rules(0, consequents=consequents)
        longest = int(patterns.sizes.max(initial=0))
        tested = 0
        for first_itemset, second_itemset in product([pattern.items for pattern in patterns], repeat=2):
            fits = (
                first_itemset != second_itemset
                and len(first_itemset) + len(second_itemset) <= longest
                and (consequents == "any" or len(second_itemset) == 1)
            )
            related = any(a != b and (a in above(b) or b in above(a)) for a in first_itemset for b in second_itemset)
            tested += fits and not related
        assert rules.tested == tested
        assert len(rules) + rules.omitted <= tested
        for rule in rules:
            assert not any(a in above(b) or b in above(a) for a in rule.antecedent for b in rule.consequent)

    def test_levels_of_rules(self):
        rules = discreet.mine(BASKETS, min_count=1, hierarchy=HIERARCHY).rules(0)
        category_rules = discreet.mine(BASKETS, min_count=1, hierarchy=HIERARCHY, level="category").rules(0)
        pairs = {(rule.antecedent, rule.consequent) for rule in rules.where(level="category")}
        assert pairs == {(rule.antecedent, rule.consequent) for rule in category_rules}
        assert rules.to_arrow()["level"].to_pylist() == list(rules.levels)
        assert np.isin(rules.where(level="mixed").levels, ["mixed"]).all()
