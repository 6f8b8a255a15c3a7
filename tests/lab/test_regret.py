"""Regret: what is measured of a release, who is the best, and how the questions are chosen."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, product
from math import exp, inf, isnan, log

import numpy as np
import pytest

from discreet.baskets import read
from discreet.errors import MisuseError
from discreet.exact import ListedPatterns, LocalEngine, WantedPatterns, judged
from discreet.planning import ratio_of, regret_of, trial
from discreet.registry import mechanisms
from discreet_lab.data.generators import bulk_buyers
from discreet_lab.data.own_data import add_line, replace_data, replace_points
from discreet_lab.data.set_aside import DIGESTS, FOR_DEVICES, FOR_THE_CURATOR
from discreet_lab.measure import regret as measure
from discreet_lab.measure.measures import Run, measure_cell
from discreet_lab.measure.regrets import coverages, rows
from discreet_lab.pages.page import write_page
from discreet_lab.papers import experiment, experiments, of_paper
from discreet_lab.papers.paper_regret import FITTED, MECHANISMS, REGRET
from discreet_lab.run.experiment import Data, Line
from discreet_lab.run.failures import Failure
from discreet_lab.run.questions import ReleaseQuestion, list_questions, select_questions
from discreet_lab.run.runner import Results, run
from discreet_lab.run.store import Row


def test_a_question_is_read_back():
    for text in (*list_questions(), "top=30 epsilon=1/3", "over=7 lengths=2 epsilon=4 delta=1e-9"):
        assert str(ReleaseQuestion.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["", "top=5", "top=0 epsilon=1", "epsilon=1", "top=5 over=5 epsilon=1", "top=5 epsilon=-1", "top 5", "x=1"]
)
def test_what_is_no_question_says_how_one_is_written(text):
    with pytest.raises(MisuseError) as caught:
        ReleaseQuestion.parse(text)
    assert str(caught.value) == (
        "A question is written like top=10 lengths=2 epsilon=0.5 delta=1e-6, or with over=100 in the place of top: all "
        f"patterns as frequent as that of rank 100. lengths and delta may be left out; {text!r} was given."
    )


@pytest.mark.parametrize("turn", range(8))
def test_every_two_levels_meet_in_an_eighth_of_the_grid(turn):
    def pairs(questions):
        return {
            pair
            for question in map(ReleaseQuestion.parse, questions)
            for pair in combinations(
                (
                    ("wanted", question.target),
                    ("lengths", question.lengths),
                    ("epsilon", question.epsilon),
                    ("delta", question.delta),
                ),
                2,
            )
        }

    assert len(select_questions(turn)) == 40
    assert pairs(select_questions(turn)) == pairs(list_questions())


def test_eight_turns_are_the_whole_grid():
    assert {question for turn in range(8) for question in select_questions(turn)} == set(list_questions())
    assert len(set(list_questions())) == 7 * 4 * 4 * 2 + 3 * 4 * 4 * 2


def test_every_mechanism_that_finds_patterns_is_a_line():
    ours = {name for name, entry in mechanisms().items() if entry.package == "discreet"}
    assert set(MECHANISMS) == {name for name in ours if {"top", "threshold"} & set(mechanisms()[name].answers)}


def test_what_is_set_aside_is_asked_by_one_experiment_alone_and_only_by_its_name():
    using = {
        tested_experiment.name
        for tested_experiment in experiments().values()
        if {data.name for data in tested_experiment.data} & set(DIGESTS)
    }
    assert using == {"regret-aside", "regret-devices-aside"}
    assert [data.name for data in experiment("regret-aside").data] == [*FOR_THE_CURATOR]
    assert [data.name for data in experiment("regret-devices-aside").data] == [*FOR_DEVICES]
    assert all(tested_experiment.by_name for tested_experiment in of_paper("regret"))
    assert not {data.name for data in FITTED} & set(DIGESTS)
    with pytest.raises(MisuseError) as caught:
        replace_data(REGRET, Data(name="aside-till"))
    assert str(caught.value) == ("aside-till is set aside until constants are frozen: only regret-aside runs it, once.")


def list_patterns(*patterns):
    """Return patterns of a release: itemset, released count, true count; intervals are 3 people to both sides."""
    itemsets, released_counts, true_counts = zip(*patterns, strict=True) if patterns else ((), (), ())
    counts = np.array(released_counts, np.float64)
    return ListedPatterns(
        itemsets=itemsets,
        released_counts=counts,
        low=counts - 3,
        high=counts + 3,
        true_counts=np.array(true_counts, np.float64),
    )


TOP = WantedPatterns(many=4, last=20, counts={(0,): 100, (1,): 50, (0, 1): 40}, threshold=False)


def test_ties_are_held_against_nobody():
    # (2,) and (3,) both have 20, and one of them fits.
    for tied in ((2,), (3,)):
        listed_patterns = list_patterns(((0,), 100, 100), ((1,), 50, 50), ((0, 1), 40, 40), (tied, 20, 20))
        assert judged(listed_patterns, TOP, rules=True)["missed"] == 0
    two_singles = list_patterns(((0,), 100, 100), ((1,), 50, 50), ((2,), 21, 20), ((3,), 20, 20))
    assert judged(two_singles, TOP, rules=True)["missed"] == 0
    assert judged(list_patterns(((0,), 100, 100), ((4,), 30, 19)), TOP, rules=True)["missed"] == 0.75


def test_over_a_threshold_what_is_wrong_counts_too():
    wanted_patterns = WantedPatterns(many=2, last=40, counts={(0,): 100, (1,): 50}, threshold=True)
    listed_patterns = list_patterns(((0,), 90, 100), ((2,), 45, 10), ((3,), 44, 10))
    assert judged(listed_patterns, wanted_patterns, rules=False)["missed"] == 1 - 2 * 1 / 5
    assert judged(list_patterns(), wanted_patterns, rules=False)["missed"] == 1


def test_errors_are_over_what_is_wanted_and_a_missed_one_counts_as_the_last_one_listed():
    listed_patterns = list_patterns(((0,), 90, 100), ((1,), 55, 50), ((7,), 30, 5))
    # .1, .1, (0, 1) said to be at most 30 of 40: .25, and the tie of 20 said to be 30: .5.
    numbers = judged(listed_patterns, TOP, rules=False)
    assert numbers["median_error"] == pytest.approx((0.1 + 0.25) / 2)
    assert numbers["high_error"] == pytest.approx(np.quantile([0.1, 0.1, 0.25, 0.5], 0.9))
    # Whoever lists nothing says that nobody holds anything.
    assert judged(list_patterns(), TOP, rules=False)["median_error"] == 1
    # Whoever lists the easy one alone, and precisely, does not look precise.
    easy = judged(list_patterns(((0,), 100, 100)), TOP, rules=False)
    assert easy["median_error"] > numbers["median_error"]


def test_over_a_threshold_a_missed_one_counts_as_the_threshold():
    wanted_patterns = WantedPatterns(many=2, last=40, counts={(0,): 100, (1,): 50}, threshold=True)
    assert judged(list_patterns(((0,), 100, 100)), wanted_patterns, rules=False)["median_error"] == pytest.approx(
        (0.01 + 0.2) / 2
    )
    assert judged(list_patterns(), wanted_patterns, rules=False)["median_error"] == pytest.approx((0.6 + 0.2) / 2)


def test_less_than_one_person_counts_as_one():
    listed_patterns = list_patterns(((0,), 100, 100), ((1,), 50, 50), ((0, 1), 40, 40), ((2,), 20, 20))
    assert judged(listed_patterns, TOP, rules=False)["median_error"] == pytest.approx((0.02 + 0.025) / 2)


def test_confidences_of_rules_and_those_that_cannot_be_read():
    # 0 -> 1 is .4 and 1 -> 0 is .8; released are 45 of 90 and 45 of 50.
    listed_sides = list_patterns(((0,), 90, 100), ((1,), 50, 50), ((0, 1), 45, 40))
    assert judged(listed_sides, TOP, rules=True)["confidence_error"] == pytest.approx((0.1 + 0.1) / 2)
    listed_side = list_patterns(((0,), 90, 100), ((0, 1), 45, 40))
    assert judged(listed_side, TOP, rules=True)["confidence_error"] == pytest.approx((0.1 + 0.8) / 2)
    assert judged(list_patterns(), TOP, rules=True)["confidence_error"] == pytest.approx((0.4 + 0.8) / 2)
    assert "confidence_error" not in judged(listed_sides, TOP, rules=False)
    # A confidence over 1 is nobody's.
    odd = list_patterns(((0,), 30, 100), ((1,), 50, 50), ((0, 1), 45, 40))
    assert judged(odd, TOP, rules=True)["confidence_error"] == pytest.approx((0.6 + 0.1) / 2)


def test_intervals_of_all_that_is_listed_are_counted():
    listed_patterns = list_patterns(((0,), 97, 100), ((1,), 46, 50), ((5,), 9, 6), ((6,), 9, 5))
    assert judged(listed_patterns, TOP, rules=False)["covered"] == 0.5
    assert "covered" not in judged(list_patterns(), TOP, rules=False)


@pytest.fixture
def select_wanted_patterns(tmp_path):
    """Return what questions ask for, in given baskets."""

    def select_from(baskets, question):
        path = tmp_path / "mine.dat"
        path.write_text("\n".join(" ".join(map(str, sorted(basket))) for basket in baskets) + "\n")
        measure.mine_top.cache_clear()
        measure.load_baskets.cache_clear()
        wanted_patterns = measure.select_wanted((str(path), None, ()), ReleaseQuestion.parse(question))
        if wanted_patterns is None:
            return None
        codes = read(path).vocabulary
        return (
            wanted_patterns.many,
            wanted_patterns.last,
            {frozenset(map(codes.label, itemset)): n for itemset, n in wanted_patterns.counts.items()},
        )

    return select_from


def test_what_is_wanted_is_what_is_mined(select_wanted_patterns):
    baskets = [{1, 2}] * 5 + [{1}] * 3 + [{3}] * 5 + [{4}]
    first_item, second_item, item_pair, third_item = frozenset({1}), frozenset({2}), frozenset({1, 2}), frozenset({3})
    assert select_wanted_patterns(baskets, "top=1 epsilon=1") == (1, 8, {})
    assert select_wanted_patterns(baskets, "top=2 epsilon=1") == (2, 5, {first_item: 8})
    assert select_wanted_patterns(baskets, "top=40 epsilon=1") == (
        5,
        1,
        {first_item: 8, second_item: 5, item_pair: 5, third_item: 5},
    )
    assert select_wanted_patterns(baskets, "over=2 epsilon=1") == (
        4,
        5,
        {first_item: 8, second_item: 5, item_pair: 5, third_item: 5},
    )
    assert select_wanted_patterns(baskets, "over=2 lengths=2 epsilon=1") == (1, 5, {item_pair: 5})
    assert select_wanted_patterns(baskets, "top=2 lengths=3 epsilon=1") is None
    assert select_wanted_patterns(baskets, "over=2 lengths=3 epsilon=1") is None


def test_thresholds_that_patterns_without_number_pass_are_not_asked(select_wanted_patterns):
    baskets = [*bulk_buyers(60, bulk=20, bulk_items=14, items=5)]
    assert select_wanted_patterns(baskets, "over=20 epsilon=1") is None
    assert select_wanted_patterns(baskets, "top=20 epsilon=1") == (20, 20, {})
    further_baskets = [*baskets, {0}, {1}]
    assert select_wanted_patterns(further_baskets, "over=20 epsilon=1") == (
        2,
        21,
        {frozenset({0}): 21, frozenset({1}): 21},
    )


def test_an_engine_that_is_kept_changes_nothing():
    baskets = read([{"tea", "milk"}] * 60 + [{"tea", "bread"}] * 30 + [{"eggs"}] * 20)
    kept_engine = LocalEngine(baskets)
    for seed, name in product(range(2), ("auto", "bases", "clipped", "peeling")):
        question = {"top": 3, "epsilon": 1, "items": "public", "mechanism": name, "seed": seed}
        assert trial(baskets, engine=lambda _: kept_engine, **question).patterns == trial(baskets, **question).patterns


def test_mechanisms_that_do_not_answer_are_told_from_those_that_fail():
    def numbers(name, question):
        question_fields = {"question": question}
        return measure.measure_regret(
            Run(
                line=Line(label=name, name=name),
                asked=question_fields,
                data=Data(name="made-up-groceries", people=300),
                seed=1,
            )
        )

    assert numbers("truncated", "top=5 epsilon=1") == {"answered": 0.0}
    assert numbers("threshold", "top=5 epsilon=1") == {"answered": 0.0}
    assert numbers("threshold", "top=5 epsilon=1 delta=1e-6")["answered"] == 1
    numbers_of_auto = numbers("auto", "top=5 epsilon=1")
    assert numbers_of_auto == numbers("auto", "top=5 epsilon=1")
    assert {"missed", "median_error", "high_error", "covered", "found"} < set(numbers_of_auto)
    with pytest.raises(MisuseError, match=r"epsilon below 0\.000001"):
        numbers("auto", "top=5 epsilon=1e-9")


def test_half_of_the_runs_choose_and_the_other_half_tell():
    # By the even seeds `a` is the best, by the odd ones `b`: neither is by the runs that tell.
    regret = regret_of({"auto": [1, 1, 1, 1], "a": [0, 2, 0, 2], "b": [2, 0.5, 2, 0.5]}, "auto")
    assert regret.by == pytest.approx((-1 - 1 - 1 - 1) / 4)
    assert (regret.ours, regret.best, regret.line) == (1, 1, "auto")
    assert regret_of({"auto": [1, 1], "a": [1, 1]}, "auto").line == "auto"
    always = regret_of({"auto": [3, 4, 3, 4], "a": [1, 2, 1, 2]}, "auto")
    assert (always.by, always.doubt, always.line) == (2, 0, "a")
    single_regret = regret_of({"auto": [3.0], "a": [1.0]}, "auto")
    assert (single_regret.by, single_regret.doubt) == (2, inf)


def test_ratios_have_geometric_means():
    ratio = ratio_of({"auto": [2, 8], "a": [1, 1]}, "auto")
    assert ratio.by == pytest.approx(4)
    assert ratio.ours == pytest.approx(4)
    assert ratio.doubt == pytest.approx(log(4) / 2)


def results(numbers, **fields):
    """Return results of the experiment, with numbers by question, line and metric: one of each seed."""
    result_experiment = replace_data(REGRET, Data(name="made-up-groceries", people=300, label="tea"))
    result_experiment = replace_points(result_experiment, [question for question, _, _ in numbers])
    lines = {f"`{line}`" for _, line, _ in numbers}
    result_experiment = replace(
        result_experiment,
        lines=tuple(line for line in result_experiment.lines if line.label in lines or line.name == "auto"),
    )
    result_rows = [
        Row(
            key=f"{question} {line} {seed}",
            panel=next(result_experiment.cells(quick=False)).panel,
            line=f"`{line}`",
            value=question,
            seed=seed,
            metric=metric,
            number=float(number),
            seconds=0.1,
        )
        for (question, line, metric), run_numbers in numbers.items()
        for seed, number in enumerate(run_numbers)
    ]
    return Results(experiment=result_experiment, rows=tuple(result_rows), **fields)


def numbers_of(question, **lines):
    """Return the numbers of two runs: by line what is missed, the median error, the intervals that hold."""
    return {
        (question, line.replace("_", "-"), metric): [number] * 2
        for line, line_numbers in lines.items()
        for metric, number in zip(
            ("answered", "found", "missed", "median_error", "high_error", "covered"),
            (1, 10, *line_numbers),
            strict=True,
        )
    }


EASY, HARD = "top=10 epsilon=1", "over=20 lengths=2 epsilon=0.1 delta=1e-6"
NUMBERS = {
    **numbers_of(
        EASY, auto=(0.2, 0.06, 0.1, 0.8), bases=(0.1, 0.02, 0.05, 1.0), truncated_items=(0.9, 0.001, 0.001, 1.0)
    ),
    **numbers_of(HARD, auto=(0.9, 5.0, 9.0, 1.0), bases=(0.95, 1.0, 1.0, 0.9)),
    (HARD, "truncated-items", "answered"): [0, 0],
}


def test_rows_tell_the_best_of_each_number():
    easy, hard = rows(results(NUMBERS))
    assert str(easy.question) == EASY
    assert (easy.missed.by, easy.missed.line) == (pytest.approx(0.1), "`bases`")
    # Who misses nearly everything is no rival in counts.
    assert (easy.median.by, easy.median.line) == (pytest.approx(3), "`bases`")
    assert (easy.high.by, easy.covered, easy.intervals) == (pytest.approx(2), 0.8, 20)
    assert easy.confidence is None
    # Where everybody misses more than half, counts are not compared.
    assert (hard.missed.by, hard.missed.line, hard.median, hard.high) == (0, "`auto`", None, None)


def test_where_some_are_still_to_be_run_the_best_is_not_known():
    part = {
        place: run_numbers[:1] if place == (EASY, "bases", "answered") else run_numbers
        for place, run_numbers in NUMBERS.items()
    }
    assert [str(row.question) for row in rows(results(part))] == [HARD]
    assert rows(results({place: run_numbers for place, run_numbers in NUMBERS.items() if place[1] != "auto"})) == []
    empty = {place: run_numbers for place, run_numbers in NUMBERS.items() if place[2] != "covered"}
    assert isnan(rows(results(empty))[0].covered)


def test_intervals_of_every_mechanism():
    shares = coverages(results(NUMBERS))
    assert shares["`auto`"] == (40, pytest.approx(0.9), pytest.approx(0.8))
    assert shares["`bases`"] == (40, pytest.approx(0.95), pytest.approx(0.9))


def test_the_page_has_goals_groups_and_the_worst(tmp_path):
    complete_results = results(
        NUMBERS, missing=3, failed=(Failure(experiment="regret", cell="regret: `auto` on tea", reason="no"),)
    )
    full = replace(
        complete_results,
        experiment=replace(complete_results.experiment, name="regret-full", shows="All", title="all of it"),
    )
    aside = Results(experiment=experiment("regret-aside"), rows=(), missing=9)
    page = write_page("regret", [complete_results, full, aside], [], tmp_path, quick=False).read_text()
    assert page.startswith("# Regret: the default beside the best choice\n")
    assert "| regret in misses, mean | at most 0.01 | 0.050 | 0.050 | 0.040 over |" in page
    assert "| regret in misses, worst | at most 0.04 | 0.10 |  | over in 1 of 2 rows, beyond doubt in 1 |" in page
    median = "median error of counts, times the best's, geometric mean"
    assert f"| {median} | at most 1.2 | 3.000 | 3.000 | 1.800 over |" in page
    assert (
        "| 90th percentile of errors of counts, times the best's, worst | at most 2 | 2.00 |  | **reached** |" in page
    )
    assert "| at least 0.93 | 0.80 |  | below in 1 of 2 rows, beyond chance in 0 |" in page
    assert "| tea, 300 people | `top=10 epsilon=1` | 0.0600 | 0.0200 | `bases` | 3 (×/÷ 1.00) |" in page
    assert "| top=10 | 1 | 0.100 | 0.10 | 3.00 | 3.00 | 2.00 | 2.00 |  | 0.800 | 0.80 |" in page
    assert "| over=20 | 1 | 0.000 | 0.00 |  |  |  |  |  | 1.000 | 1.00 |" in page
    assert "**Every row that does not meet a goal**: 1 of 2." in page
    assert "| tea, 300 people | `top=10 epsilon=1` | 0.100 ± 0.000 | 3 (×/÷ 1.00) |  | 0.800 |" in page
    assert "3 runs are missing here: `discreet lab run regret` runs them, or says why they cannot be." in page
    assert "*Not run*: regret: `auto` on tea: no" in page
    assert "*Not run yet*: data that are set aside" in page
    # What another experiment shows already is not shown again.
    assert "*Not run yet*: all of it" in page
    assert re.findall("^## ([A-Z]\\w+)", page, re.MULTILINE) == ["Regret", "All", "Regret", "Definitions"]


def test_chance_is_that_of_a_binomial():
    from discreet_lab.pages.regret import _compute_chance

    easy, hard = rows(results(NUMBERS))
    tail_chance = sum(
        exp(log(c) + k * log(0.07) + (20 - k) * log(0.93)) for k, c in ((0, 1), (1, 20), (2, 190), (3, 1140))
    )
    assert _compute_chance(easy) == pytest.approx(1 - tail_chance)
    assert _compute_chance(hard) == pytest.approx(1)


TINY = replace_points(
    replace_data(REGRET, Data(name="made-up-groceries", people=300)), ["top=3 epsilon=2", "over=5 epsilon=2"]
)


def test_it_runs_from_python_and_is_taken_up_where_it_stopped(tmp_path, monkeypatch):
    from discreet_lab.run import runner

    (result,) = run([TINY], tmp_path, quick=True, jobs=1)
    assert (result.failed, result.missing) == ((), 0)
    first_row, second = rows(result)
    assert first_row.missed.ours <= 1
    assert second.intervals > 0
    later_progress = []
    monkeypatch.setattr(
        runner, "measure_cell", lambda cell, seed: later_progress.append((cell, seed)) or measure_cell(cell, seed)
    )
    (repeated_result,) = run([TINY], tmp_path, quick=True, jobs=1)
    assert (later_progress, rows(repeated_result)) == ([], [first_row, second])


def test_a_mechanism_can_be_added():
    assert add_line(TINY, "bases").lines[-1].label == "bases"
    with pytest.raises(MisuseError) as caught:
        add_line(TINY, "count")
    assert str(caught.value) == "count cannot be added to regret: it answers itemsets, and top or threshold is asked."


def test_a_data_set_of_the_experiment_is_asked_its_own_questions():
    data_experiment = replace_data(REGRET, Data(name="kosarak_100k", label="kosarak_100k"))
    assert [data.shown for data in data_experiment.data] == ["kosarak (first 100,000)"]
    assert data_experiment.data[0].values == select_questions(3)
