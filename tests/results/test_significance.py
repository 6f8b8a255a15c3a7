from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.baskets import starts
from discreet.errors import InputError, MisuseError
from discreet.results import _redundancy as redundancy
from discreet.results._significance import LEAST_P, adjust_p_values, count_tests, largest_p_values, p_values
from naive import significance as naive
from naive.rules import count_patterns, make_patterns

ABOUT_RELEASE = {"guarantee": {"epsilon": "1", "delta": "0", "model": "central", "neighbours": "add-remove"}}
baskets_of_names = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=15)


@st.composite
def tables(draw, max_people=80):
    people = draw(st.integers(1, max_people))
    antecedent_count, right = draw(st.integers(0, people)), draw(st.integers(0, people))
    return (
        people,
        antecedent_count,
        right,
        draw(st.integers(max(0, antecedent_count + right - people), min(antecedent_count, right))),
    )


def columns(rows):
    return (np.array(column, np.float64) for column in zip(*rows, strict=True))


class TestFisher:
    @given(st.lists(tables(), min_size=1, max_size=20))
    def test_equals_exact_fractions(self, rows):
        true_values = [float(naive.p_value(*row)) for row in rows]
        assert p_values(*columns(rows)).tolist() == pytest.approx(true_values, rel=1e-12)

    @pytest.mark.parametrize("people", [10**4, 10**6, 10**8])
    def test_equals_scipy_for_many_people(self, people):
        from scipy.stats import hypergeom

        draws = np.random.default_rng(people)
        antecedent_counts, right = (draws.integers(1, people // draws.integers(1, 100, 500)) for _ in range(2))
        mean = antecedent_counts * (right / people)
        both_counts = np.rint(mean + np.sqrt(mean) * draws.normal(0, 4, 500)).astype(np.int64)
        both_counts = np.clip(
            both_counts, np.maximum(0, antecedent_counts + right - people), np.minimum(antecedent_counts, right)
        )
        true_values = hypergeom.sf(both_counts - 1, people, antecedent_counts, right)
        assert p_values(people, antecedent_counts, right, both_counts) == pytest.approx(
            true_values, rel=1e-6, abs=1e-290
        )

    def test_a_tail_too_small_to_be_written_is_not_nothing(self):
        assert p_values(10**6, *(np.array([500_000.0]),) * 3).tolist() == [LEAST_P]

    def test_edges(self):
        # Everybody holds a side, nobody does, nobody holds both: it could not be otherwise, or is no finding.
        rows = [(10, 10, 4, 4), (10, 0, 4, 0), (10, 3, 4, 0), (0, 0, 0, 0), (1, 1, 1, 1)]
        assert p_values(*columns(rows)).tolist() == [1.0] * 5

    def test_counts_that_cannot_be_true_are_taken_for_the_nearest(self):
        rows = [(10, 20, 30, 40), (10, 5, 5, 9), (10, 9, 9, 0), (10, -1, 5, 3), (2**36, 2**36, 2**53, 7)]
        assert p_values(*columns(rows)).tolist() == pytest.approx([1, 1 / 252, 1, 1, 1])

    def test_more_people_than_live_are_not_tested(self):
        counts = {frozenset("a"): 60, frozenset("b"): 50, frozenset("ab"): 45}
        assert make_patterns(counts, 2**36).rules(0).p.max() < 1e-300
        assert make_patterns(counts, 2**36 + 1).rules(0).p is None

    @given(tables(12), st.tuples(*[st.integers(0, 3)] * 4), st.tuples(*[st.integers(0, 3)] * 4))
    def test_the_worst_within_intervals_is_no_less_than_any(self, middle, below, above):
        low = [max(0, number - margin_below) for number, margin_below in zip(middle, below, strict=True)]
        high = [number + margin_above for number, margin_above in zip(middle, above, strict=True)]
        ends = [
            (np.array([float(low_end)]), np.array([float(high_end)]))
            for low_end, high_end in zip(low, high, strict=True)
        ]
        largest_value = largest_p_values((low[0], high[0]), *ends[1:])[0]
        possible = [
            naive.p_value(n, a, c, b)
            for n, a, c, b in product(
                *(range(low_end, high_end + 1) for low_end, high_end in zip(low, high, strict=True))
            )
            if max(a, c) <= n and max(0, a + c - n) <= b <= min(a, c)
        ]
        assert largest_value >= float(max(possible)) * (1 - 1e-12)

    def test_what_is_not_known_speaks_against_the_rule(self):
        known_bounds, unknown = (np.array([5.0]), np.array([5.0])), (np.array([np.nan]), np.array([np.nan]))
        assert largest_p_values((10, 10), known_bounds, known_bounds, known_bounds)[0] < 0.01
        for place in range(3):
            ends = [unknown if place == unknown_place else known_bounds for unknown_place in range(3)]
            assert largest_p_values((10, 10), *ends).tolist() == [1.0]


class TestManyRules:
    @given(st.lists(st.floats(0, 1), max_size=12), st.integers(0, 20))
    def test_adjusting_equals_the_definition(self, p, extra_tests):
        adjusted = adjust_p_values(np.array(p), len(p) + extra_tests)
        assert adjusted.tolist() == pytest.approx(naive.adjusted(p, len(p) + extra_tests))

    @given(baskets_of_names, st.sampled_from(["any", "one"]))
    def test_the_family_has_room_for_all_rules_that_could_be_found(self, baskets, consequents):
        counts = count_patterns(baskets, 2)
        patterns = make_patterns(counts, len(baskets))
        longest = max(map(len, counts), default=0)
        possible = [
            (antecedent, right)
            for antecedent in counts
            for right in counts
            if not antecedent & right
            and len(antecedent | right) <= longest
            and (consequents == "any" or len(right) == 1)
        ]
        result = patterns.rules(0, consequents=consequents)
        assert len(result) <= len(possible) <= result.tested
        assert result.tested == count_tests(patterns.sizes, 1 if consequents == "one" else longest)

    @given(baskets_of_names)
    def test_rules_have_both_and_keep_them(self, baskets):
        result = make_patterns(count_patterns(baskets), len(baskets)).rules(0)
        table = zip(result.antecedent_counts, result.consequent_counts, result.counts, strict=True)
        true_values = [float(naive.p_value(len(baskets), *map(int, row))) for row in table]
        assert result.p.tolist() == pytest.approx(true_values, rel=1e-12)
        assert result.p_adjusted.tolist() == pytest.approx(naive.adjusted(result.p.tolist(), result.tested))
        # What is cut, sorted or asked for with more confidence is adjusted for as many as before.
        for part in (result[1:3], result.sort("lift"), result.where(min_confidence=0.5)):
            kept_rules = {(rule.antecedent, rule.consequent): rule.p_adjusted for rule in result}
            assert all(kept_rules[rule.antecedent, rule.consequent] == rule.p_adjusted for rule in part)
            assert part.tested == result.tested
        assert result.sort("p").p.tolist() == sorted(result.p.tolist())
        assert result.top(2, by="p_adjusted").p_adjusted.tolist() == sorted(result.p_adjusted.tolist())[:2]

    def test_nothing_is_found_where_nothing_is_associated(self):
        """Forty items, each held by a coin of its own: nothing goes with anything.

        At a level of 5 %, the chance that any rule of a data set is called significant is at most 5 %. Over 10 of 100
        such sets would be so with a probability below 1.2 %, and the seed is fixed.
        """
        draws = np.random.default_rng(22)
        alarms = 0
        for _ in range(100):
            holdings = draws.random((400, 40)) < draws.uniform(0.02, 0.3, 40)
            people = [set(np.flatnonzero(row).tolist()) for row in holdings]
            found_rules = discreet.rules(people, min_count=8, min_confidence=0, significance=0.05)
            # A confidence that few reach by luck does not make luck less.
            filtered_rules = discreet.rules(people, min_count=8, min_confidence=0.4, significance=0.05)
            assert len(filtered_rules) <= len(found_rules)
            alarms += len(found_rules) > 0
        assert alarms <= 10

    def test_what_is_associated_is_found(self):
        draws = np.random.default_rng(23)
        holdings = draws.random((1000, 40)) < 0.05
        holdings[:, 1] |= holdings[:, 0] & (draws.random(1000) < 0.6)
        people = [set(np.flatnonzero(row).tolist()) for row in holdings]
        found_rules = discreet.rules(people, min_count=10, min_confidence=0, significance=0.05)
        assert {(*rule.antecedent, *rule.consequent) for rule in found_rules} == {(0, 1), (1, 0)}


def receipts(holdings, basket_counts) -> discreet.Baskets:
    """Return baskets of people, of whom each has so many that hold the same."""
    rows = [
        np.flatnonzero(row)
        for row, basket_count in zip(holdings, basket_counts, strict=True)
        for _ in range(basket_count)
    ]
    codes = np.concatenate(rows).astype(np.int32)
    items = discreet.Vocabulary(range(holdings.shape[1]))
    return discreet.Baskets(starts([len(row) for row in rows]), codes, items, owners=starts(basket_counts))


class TestReceipts:
    def test_a_p_value_is_valid_where_people_repeat_themselves(self):
        """Two items that have nothing to do with each other, and people who hold the same in up to thirty baskets.

        A p-value is at most 0.05 in at most 5 % of data sets. Over 33 of 400 would be so with a probability below
        0.3 %, and the seed is fixed. Taking baskets for independent, it is more than a fifth of them.
        """
        draws = np.random.default_rng(24)
        alarms = naively = 0
        for _ in range(400):
            basket_counts = 1 + draws.integers(30, size=200)
            baskets = receipts(draws.random((200, 2)) < 0.4, basket_counts)
            (rule,) = discreet.rules(baskets, min_count=1, min_confidence=0, antecedent=0)
            alarms += rule.p <= 0.05
            naively += p_values(len(baskets), *(np.array([n]) for n in (*baskets.item_counts, rule.count)))[0] <= 0.05
        assert alarms <= 33
        assert naively > 80

    def test_nor_do_equal_people_draw_alike(self):
        # Two kinds of people, each with one basket of every kind: in a drawn one nothing goes with anything. Drawn by
        # what a person holds, all of a kind would draw the same. A chance of 1e-6, and the seed is fixed.
        every = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2, bool)
        rows = np.concatenate([every] * 100 + [every[:4]] * 200)
        baskets = receipts(rows, np.ones(len(rows), int))
        grouped_baskets = discreet.Baskets(
            baskets.offsets, baskets.codes, baskets.vocabulary, owners=starts([8] * 100 + [4] * 200)
        )
        (rule,) = discreet.rules(grouped_baskets, min_count=1, min_confidence=0, antecedent=0)
        assert rule.p > 1e-6

    def test_what_is_associated_is_found_and_who_was_counted_is_said(self):
        draws = np.random.default_rng(25)
        sides = draws.random((300, 2)) < 0.3
        sides[:, 1] |= sides[:, 0] & (draws.random(300) < 0.6)
        baskets = receipts(sides, 1 + draws.integers(9, size=300))
        found_rules = discreet.rules(baskets, min_count=5, min_confidence=0, significance=0.05)
        # Everybody holds the same in all baskets, so whichever is drawn, this is what there is.
        antecedent_count, right, both_count = sides[:, 0].sum(), sides[:, 1].sum(), sides.all(1).sum()
        assert found_rules.p.tolist() == pytest.approx(
            [p_values(300, *(np.array([n]) for n in (antecedent_count, right, both_count)))[0]] * 2
        )
        assert found_rules == discreet.rules(baskets, min_count=5, min_confidence=0, significance=0.05)
        assert found_rules.unit == "baskets"
        assert (
            str(found_rules.show()).splitlines()[1] == "p-values are over people: one basket of each, drawn at random"
        )

    def test_among_patterns_alone_there_is_none(self):
        baskets = receipts(np.ones((3, 2), bool), [2, 2, 2])
        found_rules = discreet.mine(baskets, min_count=1).rules()
        assert (found_rules.p, found_rules.p_adjusted, found_rules.tested) == (None, None, 0)
        with pytest.raises(discreet.MisuseError) as caught:
            found_rules.where(significance=0.05)
        assert str(caught.value) == (
            "where(significance=...) needs p-values, which these rules do not have: baskets of one person are not "
            "independent. Find them with discreet.rules in the baskets themselves."
        )


class TestPrivate:
    def private(self, counts, people, margin, people_range=None):
        order = make_patterns(counts, people)
        return make_patterns(
            counts,
            people,
            low=order.counts - margin,
            high=order.counts + margin,
            about=ABOUT_RELEASE,
            people_within=people_range,
        )

    def test_it_is_the_largest_that_the_intervals_allow(self):
        counts = {frozenset("a"): 60, frozenset("b"): 50, frozenset("ab"): 45}
        sharp = make_patterns(counts, 200).rules(0)
        noisy = self.private(counts, 200, 3, (190, 210)).rules(0)
        assert noisy.p.tolist() == pytest.approx([float(naive.p_value(190, 63, 53, 42))] * 2, rel=1e-9)
        assert (noisy.p > sharp.p).all()
        assert noisy.tested == sharp.tested == 2

    def test_without_intervals_there_is_none(self):
        counts = {frozenset("a"): 60, frozenset("b"): 50, frozenset("ab"): 45}
        result = make_patterns(counts, 200, about=ABOUT_RELEASE).rules(0)
        assert (result.p, result.p_adjusted, result.tested) == (None, None, 0)
        assert "p" not in result.to_arrow().column_names

    def test_where_the_intervals_hold_it_is_no_less_than_the_true_one(self):
        """Seeded releases of people without any association, and of the same with one: at a level of 5 %, at most 25 %
        of the rules without are called significant (5 %, and 20 % for intervals that fail), and never one whose
        intervals hold and that the exact data do not call so.
        """
        from discreet.privacy.sampling import SimulationSource
        from discreet.publish import carry_out
        from questions import case

        draws = np.random.default_rng(5)
        alarms = rules = 0
        for seed in range(12):
            holdings = draws.random((3000, 12)) < draws.uniform(0.05, 0.4, 12)
            holdings[:, 1] |= holdings[:, 0]
            people = discreet.read([set(np.flatnonzero(row).tolist()) for row in holdings])
            job = case(people, top=40, epsilon=1, items=12, lengths=(1, 2))
            released = carry_out(job, SimulationSource(seed)).patterns
            true_counts = discreet.mine(people, itemsets=[pattern.items for pattern in released]).to_dict()
            holds = {p.items: p.low <= true_counts[p.items] <= p.high for p in released}
            fewest, most_people = released.people_within
            for rule in released.rules(0):
                rule_items = rule.antecedent | rule.consequent
                sides = (true_counts[rule.antecedent], true_counts[rule.consequent], true_counts[rule_items])
                exact = p_values(len(people), *(np.array([holdings]) for holdings in sides))[0]
                if (
                    all(map(holds.get, (rule.antecedent, rule.consequent, rule_items)))
                    and fewest <= len(people) <= most_people
                ):
                    assert rule.p >= exact * (1 - 1e-9)
                if not rule_items <= {0, 1}:
                    rules += 1
                    alarms += rule.p <= 0.05
        assert rules > 200
        assert alarms <= 0.25 * rules


class TestRedundancy:
    @given(baskets_of_names, st.sampled_from([0.0, 0.4, 0.7]), st.sampled_from([0, 4096]))
    def test_equals_brute_force(self, baskets, min_confidence, parts):
        result = make_patterns(count_patterns(baskets), len(baskets)).rules(min_confidence)
        rows = [(rule.antecedent, rule.consequent, rule.confidence, rule.confidence) for rule in result]
        true_flags = naive.redundant(rows, [rule.lift <= 1 for rule in result])
        # Long antecedents are compared in another way: where nothing is looked up, all are long.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(redundancy, "_MAX_LOOKUPS", parts)
            kept_rules = result.where(redundant=False)
        expected = [row[:2] for row, useless in zip(rows, true_flags, strict=True) if not useless]
        assert [(rule.antecedent, rule.consequent) for rule in kept_rules] == expected

    @given(baskets_of_names, st.integers(0, 3))
    def test_with_noise_only_what_the_intervals_say(self, baskets, margin):
        patterns = make_patterns(count_patterns(baskets), len(baskets))
        noisy = make_patterns(
            patterns.to_dict(),
            len(baskets),
            low=patterns.counts - margin,
            high=patterns.counts + margin,
            about=ABOUT_RELEASE,
        ).rules(0)
        rows = [(rule.antecedent, rule.consequent, rule.high, rule.low) for rule in noisy]
        true_flags = naive.redundant(rows, (noisy.bounds("lift")[1] <= 1).tolist())
        assert len(noisy.where(redundant=False)) == true_flags.count(False)

    def test_conditions_are_about_the_rules_before_any_of_them(self):
        patterns = make_patterns(count_patterns([set("abc")] * 5 + [set("ab")] * 5 + [set("c")] * 5 + [set()] * 5), 20)
        every = patterns.rules(0)
        assert {"".join(sorted(rule.antecedent)) for rule in every.where(consequent="b")} >= {"a", "ac", "c"}
        # a → b is as good as ac → b, whether or not it is asked for.
        assert len(every.where(antecedent=["a", "c"], consequent="b", redundant=False)) == 0
        assert len(every.where(antecedent=["a", "c"], consequent="b").where(redundant=False)) == 1
        assert len(patterns.rules(0, redundant=False)) == len(every.where(redundant=False))


class TestOrder:
    def test_a_rule_and_the_one_back_have_the_same_p_value_and_keep_their_order(self):
        source = np.random.default_rng(5)
        n = source.integers(50, 5000, 400)
        a, c = source.integers(5, 50, (2, 400))
        b = source.integers(1, np.minimum(a, c) + 1)
        assert np.array_equal(p_values(n, a, c, b), p_values(n, c, a, b))
        baskets = [{"a", "c"}] * 7 + [{"a"}] * 5 + [{"c"}] * 9 + [set()] * 40
        rules_both_ways = make_patterns(count_patterns(baskets), len(baskets)).rules(0)
        assert len(rules_both_ways) == 2
        assert rules_both_ways.sort("p") == rules_both_ways
        assert rules_both_ways[::-1].sort("p") == rules_both_ways[::-1]

    def test_by_what_is_no_measure(self):
        rules = make_patterns({frozenset("a"): 6, frozenset("b"): 5, frozenset("ab"): 4}, 9).rules()
        with pytest.raises(
            MisuseError, match=r"Rules are not sorted by 'size': there are count, support, .*p_adjusted"
        ):
            rules.sort("size")


class TestFiles:
    def test_how_many_were_tested_is_not_known_from_exact_csv(self, tmp_path):
        rules = make_patterns({frozenset("a"): 6, frozenset("b"): 5, frozenset("ab"): 4}, 9).rules()
        rules.save(tmp_path / "rules.csv")
        loaded = discreet.load(tmp_path / "rules.csv")
        assert (rules.tested, loaded.tested) == (2, None)
        assert loaded == rules
        loaded.save(tmp_path / "rules.html")
        assert "adjusted for all rules that could have been found" in (tmp_path / "rules.html").read_text()
        for name in ("again.json", "again.parquet"):
            loaded.save(tmp_path / name)
            assert discreet.load(tmp_path / name).tested is None

    def test_a_column_of_p_values_without_the_other_is_refused(self, tmp_path):
        path = tmp_path / "rules.json"
        make_patterns({frozenset("a"): 6, frozenset("b"): 5, frozenset("ab"): 4}, 9).rules().save(path)
        document = json.loads(path.read_text())
        assert discreet.load(path).tested == document["tested"] == 2
        for spoilt in ({"p": 2.0}, {"p_adjusted": -0.5}, {"p": None}):
            path.write_text(json.dumps(document | {"rules": [rule | spoilt for rule in document["rules"]]}))
            with pytest.raises(InputError, match="'p' and 'p_adjusted' must both be there, and between 0 and 1"):
                discreet.load(path)
        for rule in document["rules"]:
            del rule["p"]
        path.write_text(json.dumps(document))
        with pytest.raises(InputError, match="'p' and 'p_adjusted' must both be there"):
            discreet.load(path)
