"""Trials of mechanisms on data: what is measured, what is recommended, and that it says what it is."""

# internals: this module counts how often the truth is mined.
from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import discreet
import strangers
from discreet import InputError, MisuseError
from discreet.baskets import groceries, quest
from discreet.exact import LocalEngine, _metrics as metrics, judged, listed_patterns
from discreet.planning import trial
from discreet.planning._advising import LEVEL, advise
from discreet.planning._measuring import mine_wanted_patterns
from discreet.planning._regret import adjust_p_values, compute_p_value, count_runs_needed
from discreet.results import Comparison, Trial, Trials
from discreet_lab.data.generators import bulk_buyers, zipf
from questions import case

SHOP = groceries(2_000, seed=7)
HALF = Fraction(1, 2)


def trials(name: str, found_share, error=0.1, choice="") -> Trials:
    """Return ten runs at an epsilon of 1/2; a number stands for all of them."""
    shares, errors = (np.broadcast_to(value, 10).tolist() for value in (found_share, error))
    return Trials(
        mechanism=name,
        epsilon=HALF,
        runs=tuple(
            Trial(found=value, error=run_error, listed=20, held=19, margin=9.0, seconds=0.1, chosen=choice)
            for value, run_error in zip(shares, errors, strict=True)
        ),
    )


class TestTests:
    @pytest.mark.parametrize("differences", [[1.0, 2.0, -0.5], [0.0, 0.0], [1.0] * 10, [-1.0, 0.3, 0.3, 0.4]])
    def test_every_way_of_giving_signs_is_counted(self, differences):
        ways = [
            sum(sign * difference for sign, difference in zip(signs, differences, strict=True))
            for signs in product((1, -1), repeat=len(differences))
        ]
        assert compute_p_value(differences) == pytest.approx(np.mean([way >= sum(differences) - 1e-9 for way in ways]))

    def test_it_keeps_its_level(self):
        # 2,000 comparisons of equals, 6 tests each: 5 of 100 at most are called clear. With just 5 of 100, more than
        # 130 of 2,000 come once in 1,000 such tests.
        source = np.random.default_rng(7)
        wrong = sum(
            min(adjust_p_values(dict(enumerate(map(compute_p_value, source.normal(size=(6, 10)))))).values()) <= LEVEL
            for _ in range(2_000)
        )
        assert 30 < wrong <= 130

    def test_many_runs_are_drawn_and_keep_it_too(self):
        source = np.random.default_rng(8)
        assert compute_p_value([0.1] * 40) == pytest.approx(1 / 65_536)
        p_values = [compute_p_value(source.normal(size=20)) for _ in range(100)]
        # Uniform: 5 of 100 below 0.05; over 13 once in 2,000.
        assert sum(p <= 0.05 for p in p_values) <= 13

    def test_how_many_runs_it_takes(self):
        assert count_runs_needed(14, LEVEL) == 9  # 14 / 2^9 < 0.05 < 14 / 2^8
        assert min(adjust_p_values(dict.fromkeys(range(14), 2.0 ** (-9))).values()) <= LEVEL
        assert min(adjust_p_values(dict.fromkeys(range(14), 2.0 ** (-8))).values()) > LEVEL


class TestAdvice:
    def test_the_default_stays_where_nobody_is_clearly_better(self):
        advice = advise([trials("auto", 0.9, choice="clipped"), trials("bases", [0.95, 0.85] * 5)], HALF)
        assert (advice.recommended, advice.reason, advice.agrees) == ("auto", "level", True)
        assert advice.lines()[:2] == [
            "At epsilon 0.5 take auto: none of the others is better beyond the doubt of the runs.",
            "auto took clipped in 10 of 10 runs.",
        ]

    def test_who_finds_more_beyond_doubt_is_named(self):
        advice = advise(
            [trials("auto", 0.6, choice="clipped"), trials("bases", [0.8, 0.9] * 5), trials("x", 0.7)], HALF
        )
        assert (advice.recommended, advice.reason, advice.agrees) == ("bases", "found", False)
        assert advice.lines()[0] == ("At epsilon 0.5 take bases: it finds 85 %, auto 60 %, beyond doubt (p = 0.0039).")
        assert (advice.best, advice.regret) == ("bases", pytest.approx(0.25))
        assert {advantage.mechanism for advantage in advice.better} == {"bases", "x"}

    def test_one_that_auto_chose_itself_agrees(self):
        advice = advise([trials("auto", 0.8, 0.2, choice="bases"), trials("bases", 0.8, 0.1)], HALF)
        assert (advice.recommended, advice.reason, advice.agrees) == ("bases", "counts", True)
        assert "So the two agree; naming it saves what auto spends on choosing." in advice.lines()

    def test_counts_are_compared_among_those_that_find_as_much_alone(self):
        advice = advise([trials("auto", 0.9, 0.2), trials("few", 0.7, 0.01), trials("other", 0.92, 0.2)], HALF)
        assert advice.recommended == "auto"
        assert [advantage.what for advantage in advice.better] == ["counts"]
        assert advice.nearest == "auto"

    def test_sentences_say_what_the_table_says(self):
        # By halves auto is ahead of whom other runs call best; by the means of all runs it is behind.
        lucky = [0.97, 0.83] * 4 + [0.97, 0.93]
        rows = [trials("auto", 0.88, [0.001] * 5 + [0.0174] * 5), trials("bases", lucky, 0.0081)]
        text = " ".join(advise(rows, HALF).lines())
        assert rows[1].found.mean > rows[0].found.mean
        assert "What auto finds is behind the best by 3.0 points on average (bases)." in text
        assert "Where other runs choose the best, it is" in text
        assert "Its counts are off by 0.92 %, the nearest of those that find about as much by 0.81 % (bases)." in text
        # A ratio of geometric means by halves says something else, which no reader of the table could see.
        assert advise(rows, HALF).ratio <= 1
        assert "times as far" not in text

    @pytest.mark.parametrize(
        ("found_share", "sentence"),
        [
            (
                [0.94, 0.84] * 5,
                "behind the best by 1.0 points on average (bases). Where other runs choose the best, it",
            ),
            (0.8803, "What auto finds is behind the best by less than 0.1 points on average (bases)."),
            (0.88, "By these runs none finds more than auto."),
            (0.7, "By these runs none finds more than auto."),
        ],
    )
    def test_how_far_the_default_is_from_the_best(self, found_share, sentence):
        advice = advise([trials("auto", 0.88), trials("bases", found_share)], HALF)
        text = " ".join(advice.lines())
        assert sentence in text
        assert "\u2212" not in text
        assert "Of those that find about as much, none has nearer counts." in text

    def test_a_lead_that_other_runs_do_not_confirm_is_none(self):
        share_lists = [0.98, 0.80] * 5, [0.80, 0.985] * 5
        advice = advise([trials("auto", 0.88), *map(trials, "xy", share_lists)], HALF)
        assert advice.regret < 0
        assert "behind the best by 1.2 points on average (y). Where other runs choose the best, it is not." in " ".join(
            advice.lines()
        )

    def test_counts_that_are_nearer_but_for_a_run_that_failed(self):
        rows = [trials("auto", 0.9, 0.2), trials("bases", 0.9, [0.005] * 9 + [2.5])]
        advice = advise(rows, HALF)
        assert rows[1].error.mean > rows[0].error.mean
        assert advice.reason == "counts"
        assert "its counts are nearer in a typical run, beyond doubt" in advice.lines()[0]

    def test_a_trifle_is_no_reason(self):
        assert advise([trials("auto", 0.9, 0.11), trials("bases", 0.915, 0.1)], HALF).recommended == "auto"

    def test_too_few_runs_are_told(self):
        rows = [
            replace(mechanism_trials, runs=mechanism_trials.runs[:3])
            for mechanism_trials in (trials("auto", 0.1), trials("bases", 0.9))
        ]
        advice = advise(rows, HALF)
        assert advice.recommended == "auto"
        assert advice.lines()[0].endswith("with 3 runs nobody can be told to be better; that takes 6 at least.")
        assert "None finds half" not in " ".join(advice.lines())

    def test_where_nobody_finds_half_that_is_told(self):
        advice = advise([trials("auto", 0.2, 0.9), trials("bases", 0.21, 0.1)], HALF)
        assert advice.recommended == "auto"
        assert advice.lines()[-1].startswith("None finds half of the patterns here: 21 % at most.")

    def test_alone_and_without_the_default(self):
        assert advise([trials("auto", 0.9)], HALF).reason == "alone"
        advice_without_default = advise([trials("bases", 0.8), trials("clipped", 0.9)], HALF)
        assert (advice_without_default.recommended, advice_without_default.reason) == ("clipped", "without auto")


class TestOnData:
    # Each takes some seconds: eight mechanisms or more with ten runs, which it takes before anybody can be told better.
    @pytest.mark.parametrize(
        ("baskets", "question"),
        [
            (groceries(20_000, seed=7), {"top": 20, "epsilon": ["0.5", 1]}),
            (zipf(20_000, 300, seed=5), {"top": 100, "epsilon": 1}),
            (zipf(20_000, 300, seed=5), {"min_support": "0.02", "epsilon": 1, "delta": "1e-6", "items": "public"}),
            (quest(20_000, 500, mean_size=8, mean_pattern=4, seed=1), {"top": 20, "epsilon": 1}),
            (bulk_buyers(), {"top": 20, "epsilon": 1, "delta": "1e-6", "items": "public"}),
        ],
        ids=["a shop", "independent items", "a threshold", "made of patterns", "long baskets"],
    )
    def test_the_recommendation_and_auto_agree(self, baskets, question):
        comparison = discreet.compare(baskets, **question, seed=7)
        for advice in comparison.advice:
            assert advice.agrees, advice.lines()
            assert sum(advice.chosen.values()) == comparison.runs

    def test_where_another_is_better_it_is_named(self):
        # What docs/regret.md tells of these data: clipping hides what only people with long baskets hold.
        comparison = discreet.compare(bulk_buyers(), top=20, epsilon="0.1", delta="1e-6", items="public", seed=7)
        (advice,) = comparison.advice
        assert (advice.recommended, advice.reason, advice.agrees) == ("bases", "found", False)
        assert advice.regret > 0.3

    def test_what_is_measured_is_what_a_release_gives(self):
        comparison = discreet.compare(SHOP, top=10, epsilon=1, mechanisms=["bases"], runs=2, seed=7)
        job = case(SHOP, top=10, epsilon=1, items="public")
        expected_patterns = mine_wanted_patterns(job)
        release = trial(SHOP, seed=3, top=10, epsilon=1, items="public", mechanism="bases")
        true_patterns = discreet.mine(SHOP, top=10)
        numbers = judged(listed_patterns(LocalEngine(SHOP), release.patterns), expected_patterns, rules=False)
        assert 1 - numbers["missed"] == pytest.approx(
            metrics.recall(release.patterns.to_dict(), true_patterns.to_dict())
        )
        assert (expected_patterns.many, expected_patterns.last) == (10, true_patterns[9].count)
        assert all(0 <= run.found <= 1 and run.listed == 10 for row in comparison for run in row.runs)

    def test_a_threshold_is_scored_by_the_f_score(self):
        job = case(SHOP, min_support="0.1", epsilon=1, items="public")
        release = trial(SHOP, seed=3, min_support="0.1", epsilon=1, items="public", mechanism="bases")
        numbers = judged(listed_patterns(LocalEngine(SHOP), release.patterns), mine_wanted_patterns(job), rules=False)
        true_counts = discreet.mine(SHOP, min_support="0.1").to_dict()
        assert 1 - numbers["missed"] == pytest.approx(metrics.f_score(release.patterns.to_dict(), true_counts))

    def test_the_truth_has_the_same_bounds_as_the_question(self):
        item, other_item = (SHOP.vocabulary.labels[place].as_py() for place in np.argsort(-SHOP.item_counts)[:2])
        question = {"top": 5, "lengths": (2, 3), "contains": [item], "excludes": [other_item]}
        comparison = discreet.compare(SHOP, **question, epsilon=8, mechanisms=["peeling"], runs=2, seed=7)
        assert comparison.truth["last"] == discreet.mine(SHOP, **question)[4].count
        assert comparison[0].found.mean > 0.5

    def test_the_same_seed_gives_the_same_trials(self):
        def numbers(seed):
            rows = discreet.compare(SHOP, top=5, epsilon=1, mechanisms=["bases"], runs=3, seed=seed)
            return [(run.found, run.error, run.margin) for row in rows for run in row.runs]

        assert numbers(7) == numbers(7) != numbers(8)

    def test_items_that_are_found_privately(self):
        comparison = discreet.compare(SHOP, top=5, epsilon=2, delta="1e-6", mechanisms=["threshold"], runs=2, seed=7)
        assert {row.mechanism for row in comparison} == {"auto", "threshold"}
        assert comparison.asked["items"] == "found privately"
        assert comparison[0].found.mean > 0.5
        assert "for a public list" not in " ".join(comparison.notes)

    def test_intervals_of_several_baskets_hold_for_weighed_counts(self):
        source = np.random.default_rng(7)
        rows = [(person, f"{person}-{basket}", f"item {item}")
                for person in range(800) for basket in range(6) for item in source.permutation(8)[:3]]  # fmt: skip
        table = pa.table(dict(zip(("who", "when", "what"), map(list, zip(*rows, strict=True)), strict=True)))
        baskets = discreet.read(table, person="who", basket="when", item="what")
        comparison = discreet.compare(baskets, top=5, epsilon=4, mechanisms=["bases"], max_baskets=2, runs=4, seed=7)
        # Two of six baskets take part: each weighs a third, and 40 intervals are for the sum of these weights. Of 40,
        # fewer than 30 hold once in 10,000.
        assert comparison.unit == "baskets"
        assert sum(run.held for row in comparison for run in row.runs) >= 30
        assert all(row.error.mean > 0.5 for row in comparison)
        assert "the baskets of a person weigh as much as may take part" in comparison.notes[-3]

    def test_people_drawn_from_the_data(self):
        comparison = discreet.compare(SHOP, top=5, epsilon=1, mechanisms=["bases"], crowd=300, runs=2, seed=7)
        assert (comparison.on, comparison.truth["people"], comparison.standing) == ("drawn", 300, "not private")

    def test_nothing_is_read_of_a_made_up_crowd(self):
        comparison = discreet.compare(
            people=1_000_000, items=60, sizes=3, top=10, epsilon=1, mechanisms=["bases"], runs=2, seed=7
        )
        assert (comparison.on, comparison.private, comparison.standing) == ("imagined", True, "simulated")
        assert comparison.truth["people"] == 1_000_000
        assert comparison[0].found.mean == 1
        assert comparison.warning.startswith("SIMULATED: not a private release. No data were read")

    def test_mechanisms_of_other_packages_are_tried(self, tmp_path):
        with strangers.installed(strangers.install(tmp_path)):
            comparison = discreet.compare(SHOP, min_support="0.1", lengths=1, epsilon=1, runs=2, seed=7)
            assert "plain" in {row.mechanism for row in comparison}
            refused = discreet.compare(SHOP, top=5, epsilon=1, runs=1, seed=7).refused
            assert str(refused["plain"]).startswith("plain finds patterns over a threshold")

    @pytest.mark.parametrize(
        ("code", "proof", "message"),
        [
            (strangers.STRANGER, False, "The mechanism plain of the package stranger-mechanisms has no proof page"),
            (
                strangers.STRANGER.replace("every = Itemsets", "raise KeyError('tea')\n        every = Itemsets"),
                True,
                "plain of the package stranger-mechanisms cannot be tried (KeyError: 'tea')",
            ),
        ],
        ids=["unproven", "broken"],
    )
    def test_one_that_cannot_be_used_is_listed_with_the_reason(self, tmp_path, code, proof, message):
        with strangers.installed(strangers.install(tmp_path, code, proof=proof)):
            comparison = discreet.compare(SHOP, min_support="0.1", lengths=1, epsilon=1, runs=2, seed=7)
        assert str(comparison.refused["plain"]).startswith(message)
        assert "plain" not in {row.mechanism for row in comparison}
        assert {row.mechanism for row in comparison} >= {"auto", "clipped"}


class TestHandedOn:
    COMPARISON = discreet.compare(SHOP, top=5, epsilon=["0.5", 1], mechanisms=["bases", "truncated"], runs=3, seed=7)

    def test_it_says_first_that_it_is_not_private(self):
        assert not self.COMPARISON.private
        assert str(self.COMPARISON).startswith("NOT PRIVATE: for the curator's eyes.")
        assert list(self.COMPARISON.to_dict())[:3] == ["discreet", "standing", "warning"]
        assert self.COMPARISON.to_dict()["warning"].startswith("NOT PRIVATE: for the curator's eyes.")
        assert set(self.COMPARISON.to_arrow()["standing"].to_pylist()) == {"not private"}
        assert self.COMPARISON.to_arrow().column_names[0] == "standing"
        page = self.COMPARISON.report()
        assert page.index("NOT PRIVATE: for the curator&#39;s eyes</p>") < page.index("<h1>")
        assert "NOT PRIVATE" in self.COMPARISON.plot().svg
        assert "NOT PRIVATE" in self.COMPARISON._repr_html_()

    def test_a_file_comes_back(self, tmp_path):
        for suffix in ("csv", "json", "parquet", "html"):
            self.COMPARISON.save(tmp_path / f"found.{suffix}")
        loaded = Comparison.load(tmp_path / "found.json")
        assert (loaded.rows, loaded.advice) == (self.COMPARISON.rows, self.COMPARISON.advice)
        assert loaded.to_dict() == self.COMPARISON.to_dict()
        assert (tmp_path / "found.csv").read_text().startswith('"standing","mechanism","epsilon"')

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"discreet": "patterns/1"}, "'patterns' must be a list of objects."),
            ({"on": "nowhere"}, "cannot be read as a comparison: 'nowhere' is none of data, drawn, imagined."),
            ({"trials": [{"mechanism": "auto", "epsilon": "1", "runs": []}]}, "it has a mechanism without a run."),
            ({"advice": 3}, "cannot be read as a comparison: 'int' object is not iterable."),
        ],
    )
    def test_a_changed_file_is_refused(self, tmp_path, change, message):
        place = tmp_path / "found.json"
        place.write_text(json.dumps(self.COMPARISON.to_dict() | change))
        with pytest.raises(InputError) as caught:
            Comparison.load(place)
        assert str(caught.value).endswith(message)

    def test_rows_by_epsilon(self):
        assert [row.mechanism for row in self.COMPARISON.at("0.5")] != []
        with pytest.raises(MisuseError, match=r"There is no trial at an epsilon of 3; there are 0\.5, 1\."):
            self.COMPARISON.at(3)

    def test_tables_and_pictures(self):
        assert len(self.COMPARISON.to_pandas()) == len(self.COMPARISON.to_polars()) == len(self.COMPARISON) == 4
        for kind in ("found", "counts", "intervals"):
            assert "recommended" in self.COMPARISON.plot(kind).svg
        with pytest.raises(MisuseError, match="A comparison is drawn as 'found' or 'counts' or 'intervals'"):
            self.COMPARISON.plot("seconds")
        assert "truncated finds patterns over a threshold" in self.COMPARISON.report(title="<b>")
        assert "<b>" not in self.COMPARISON.report(title="<b>")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "Say which patterns are wanted by exactly one of top"),
        ({"top": 3, "mechanisms": "bases"}, "mechanisms is a list of names, such as ['bases', 'clipped']; 'bases' was"),
        ({"top": 3, "mechanisms": ["svim"]}, "There is no mechanism 'svim'; there are auto, bases"),
        ({"top": 3, "epsilon": []}, "Say what may be spent: one epsilon or several, such as 0.5 and 1."),
        ({"top": 3, "epsilon": 0}, "epsilon"),
        ({"top": 3, "runs": 0}, "runs is 0, but it must be a whole number, 1 or more."),
        ({"top": 3, "seed": -1}, "seed is a whole number, 0 or more; -1 was given."),
        ({"top": 3, "sizes": 4}, "sizes says what a made-up crowd is like: leave it out, or leave the data out."),
        ({"min_count": 1_990}, "Nobody in these data holds such a pattern"),
        ({"k": 3}, "There is no k: how many patterns are wanted is top=100 here."),
    ],
)
def test_mistakes(question, message):
    with pytest.raises(MisuseError) as caught:
        discreet.compare(SHOP, **question)
    assert message in str(caught.value)


def test_mistakes_without_data():
    with pytest.raises(MisuseError) as caught:
        discreet.compare(top=3)
    assert str(caught.value) == (
        "Give the data to try on; or say how many people= and items= there are, two numbers, and a crowd is made up."
    )
    with pytest.raises(MisuseError, match="crowd is about data, and none were given: give them, or leave it out"):
        discreet.compare(top=3, people=100, items=9, crowd=30)
