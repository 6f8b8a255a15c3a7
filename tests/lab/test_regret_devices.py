"""Regret among devices: what is measured of an outcome, the reference that cheats, and how questions are chosen."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from discreet.errors import MisuseError
from discreet.exact import ListedPatterns, WantedPatterns
from discreet.local.study import simulate
from discreet.registry import protocols
from discreet_lab.data.own_data import add_line, replace_data, replace_points
from discreet_lab.data.set_aside import FOR_DEVICES
from discreet_lab.measure.measures import Run, comparators, load_baskets, measure_cell
from discreet_lab.measure.order import find_best
from discreet_lab.measure.regret_devices import build_reference, compute_cumulative_rank, judge_devices, measure_regret
from discreet_lab.measure.regrets import rows
from discreet_lab.pages.page import write_page
from discreet_lab.pages.tables import render_table
from discreet_lab.papers import experiment, of_paper
from discreet_lab.papers.paper_regret_devices import FITTED, PROTOCOLS, REGRET_DEVICES
from discreet_lab.run.experiment import Data, Line
from discreet_lab.run.questions import SimulationQuestion, list_simulations, select_simulations
from discreet_lab.run.runner import Results, run
from discreet_lab.run.store import Row

GROCERIES = Data(name="made-up-groceries", people=4_000)
CHEATS = "the true top, asked once"


def test_a_question_is_read_back():
    for text in (*list_simulations(), "top=30 epsilon=1/3"):
        assert str(SimulationQuestion.parse(text)) == text


@pytest.mark.parametrize("text", ["", "top=5", "top=0 epsilon=1", "top=5 least=3 epsilon=1", "top=5 epsilon=0", "x=1"])
def test_what_is_no_question_says_how_one_is_written(text):
    with pytest.raises(MisuseError) as caught:
        SimulationQuestion.parse(text)
    assert str(caught.value) == (
        "A question to devices is written like top=64 least=2 epsilon=1, where least is 1 or 2 and may be left out; "
        f"{text!r} was given."
    )


@pytest.mark.parametrize("turn", range(4))
def test_lengths_meet_everything_and_two_turns_have_every_top_with_every_epsilon(turn):
    questions = [SimulationQuestion.parse(question) for question in select_simulations(turn)]
    assert len({*questions}) == 10
    assert {(question.top, question.least) for question in questions} == {*product((8, 16, 32, 64, 128), (1, 2))}
    assert {(question.epsilon, question.least) for question in questions} == {*product(("0.5", "1", "2", "4"), (1, 2))}
    both_turns = questions + [SimulationQuestion.parse(question) for question in select_simulations(turn + 1)]
    assert {(question.top, question.epsilon) for question in both_turns} == {
        *product((8, 16, 32, 64, 128), ("0.5", "1", "2", "4"))
    }


def test_four_turns_are_the_whole_grid():
    assert {question for turn in range(4) for question in select_simulations(turn)} == set(list_simulations())
    assert len(set(list_simulations())) == 40


def test_all_of_it_is_run_only_by_its_name_and_nothing_set_aside_is_fitted_on():
    assert all(device_experiment.by_name for device_experiment in of_paper("regret-devices"))
    assert not {data.name for data in FITTED} & set(FOR_DEVICES)
    with pytest.raises(MisuseError) as caught:
        replace_data(REGRET_DEVICES, Data(name="aside-devices-shop"))
    assert str(caught.value) == (
        "aside-devices-shop is set aside until constants are frozen: only regret-devices-aside runs it, once."
    )


def test_who_cheats_is_known_to_the_lab_alone():
    assert "reference" in comparators()
    assert "reference" not in protocols()
    assert {*PROTOCOLS} <= {*protocols()}


def test_who_cheats_is_shown_in_the_local_tables_of_ours_and_is_the_best_nowhere():
    ours = experiment("ours-local-64-longer")
    assert [line.name for line in ours.lines if line.cheats] == ["reference"]
    local_experiment = replace(ours, data=(GROCERIES,), lines=(ours.lines[-2], ours.lines[-1]), axis=None, asked={})
    numbers = {"`adept`": 0.5, CHEATS: 0.9}
    result_rows = tuple(
        Row(
            key=line,
            panel=GROCERIES.shown,
            line=line,
            value="",
            seed=0,
            metric="cumulative_rank",
            number=number,
            seconds=0,
        )
        for line, number in numbers.items()
    )
    summary = Results(experiment=local_experiment, rows=result_rows)
    assert "0.90" in "\n".join(render_table(summary, ours.metrics[0]))
    assert find_best(summary, ours.metrics[0], GROCERIES.shown, "") == frozenset()


def list_patterns(*patterns):
    """Return patterns of an outcome: itemset, estimated count, true count; intervals are 3 people to both sides."""
    itemsets, released_counts, true_counts = zip(*patterns, strict=True) if patterns else ((), (), ())
    counts = np.array(released_counts, np.float64)
    return ListedPatterns(
        itemsets=itemsets,
        released_counts=counts,
        low=counts - 3,
        high=counts + 3,
        true_counts=np.array(true_counts, np.float64),
    )


TOP = WantedPatterns(many=4, last=20, counts={(0,): 100, (1,): 50, (0, 1): 50}, threshold=False)


def test_the_cumulative_rank_holds_ties_against_nobody():
    # Worth 4, then 2.5 each of the two that tie, then 1 for any one of those that tie for the last place.
    assert compute_cumulative_rank(list_patterns(((0,), 90, 100)), TOP) == pytest.approx(4 / 10)
    assert compute_cumulative_rank(list_patterns(((1,), 90, 50)), TOP) == pytest.approx(2.5 / 10)
    assert compute_cumulative_rank(list_patterns(((0, 1), 90, 50)), TOP) == pytest.approx(2.5 / 10)
    assert compute_cumulative_rank(list_patterns(((7,), 90, 20), ((8,), 80, 20)), TOP) == pytest.approx(1 / 10)
    listed_patterns = list_patterns(((0,), 1, 100), ((1,), 1, 50), ((0, 1), 1, 50), ((9,), 1, 20))
    assert compute_cumulative_rank(listed_patterns, TOP) == pytest.approx(1)
    assert compute_cumulative_rank(list_patterns(((9,), 90, 19)), TOP) == 0


def test_errors_are_told_of_every_wanted_pattern_that_was_found():
    numbers = judge_devices(list_patterns(((0,), 90, 100), ((0, 1), 50, 50), ((7,), 30, 20), ((8,), 30, 5)), TOP)
    errors = {name: number for name, number in numbers.items() if name.startswith("error of ")}
    # Less than one person counts as one; what ties for the last place and what is wrong are nobody's hits.
    assert errors == {"error of 0": pytest.approx(0.1), "error of 2": pytest.approx(1 / 50)}
    assert numbers["covered"] == 0.25
    assert numbers["missed"] == pytest.approx(1 - (4 + 2.5 + 1) / 10)


def test_the_reference_asks_everybody_about_the_true_top_and_nothing_else():
    question = SimulationQuestion(top=8, least=2, epsilon="8")
    key = ("made-up-groceries", 4_000, ())
    plan = build_reference(key, question)
    baskets = load_baskets(*key)
    outcome = simulate(baskets, plan, top=8, least=2, epsilon=8, seed=1, speed="aggregated", score=True)
    assert len(plan.itemsets) == 16
    assert all(len(itemset) > 1 for itemset in plan.itemsets)
    assert sum(itemset.people for itemset in outcome.rounds) == baskets.people
    assert [itemset.values for itemset in outcome.rounds][-1] == 16
    assert outcome.reports == 1
    assert outcome.scores["normalised cumulative rank"] > 0.6
    with pytest.raises(MisuseError, match="nothing was told"):
        simulate(baskets, replace(plan, itemsets=()), top=8, epsilon=1, seed=1)


def test_every_line_runs_and_the_same_seed_gives_the_same():
    def numbers(name, question="top=8 epsilon=4"):
        question_fields = {"question": question}
        return measure_regret(Run(line=Line(label=name, name=name), asked=question_fields, data=GROCERIES, seed=1))

    for line in REGRET_DEVICES.lines:
        line_numbers = numbers(line.name)
        assert line_numbers == numbers(line.name)
        assert {"answered", "found", "missed"} <= set(line_numbers)
    assert numbers("svim", "top=8 least=2 epsilon=1") == {"answered": 0.0}
    with pytest.raises(MisuseError):
        numbers("adept", "top=8 epsilon=1e-9")


def results(numbers, **fields):
    """Return results of the experiment, with the numbers of both runs by line."""
    result_experiment = replace_points(replace_data(REGRET_DEVICES, replace(GROCERIES, label="tea")), [*numbers])
    result_rows = [
        Row(
            key=f"{question} {line} {seed}",
            panel=next(result_experiment.cells(quick=False)).panel,
            line=line,
            value=question,
            seed=seed,
            metric=metric,
            number=float(number),
            seconds=0.1,
        )
        for question, lines in numbers.items()
        for line, metrics in lines.items()
        for metric, number in ({"answered": 1, "found": 10} | metrics).items()
        for seed in range(2)
    ]
    return Results(experiment=result_experiment, rows=tuple(result_rows), **fields)


def errors(*error_numbers):
    return {f"error of {place}": error for place, error in enumerate(error_numbers) if error is not None}


SIMULATION = "top=8 least=2 epsilon=1"
NUMBERS = {
    SIMULATION: {
        "`adept`": {"missed": 0.3, "covered": 0.8} | errors(0.2, 0.2, 0.2, 0.2, 0.9),
        "`svsm`": {"missed": 0.4, "covered": 1} | errors(0.1, 0.1, 0.1, 0.1),
        "`svsm-better`": {"missed": 0.25, "covered": 1} | errors(0.4, 0.4, 0.4, 0.4, None, 0.01),
        "`fp-tree`": {"missed": 0.9, "covered": 1} | errors(0.001),
        CHEATS: {"missed": 0.1, "covered": 1} | errors(*[0.001] * 8),
    }
}


def test_a_row_compares_what_two_find_and_who_cheats_is_nobodys_rival():
    (row,) = rows(results(NUMBERS))
    assert str(row.question) == SIMULATION
    assert (row.missed.by, row.missed.line) == (pytest.approx(0.05), "`svsm-better`")
    # Of `svsm` four are found by both; one common hit of `fp-tree` says nothing.
    assert (row.common.by, row.common.line) == (pytest.approx(2), "`svsm`")
    assert (row.common.ours, row.common.best) == (pytest.approx(0.2), pytest.approx(0.1))
    assert row.reference == pytest.approx(0.1)
    assert (row.covered, row.intervals) == (0.8, 20)


def test_where_nobody_is_nearer_there_is_no_regret_in_errors():
    lines = NUMBERS[SIMULATION]
    fewer = {name: metrics | (errors(*[0.5] * 4) if name == "`svsm`" else {}) for name, metrics in lines.items()}
    (row,) = rows(results({SIMULATION: fewer}))
    assert (row.common.by, row.common.line) == (1, "`adept`")
    assert row.common.best == pytest.approx(0.4)
    metrics_left = {
        name: {metric_name: metrics[metric_name] for metric_name in ("missed", "covered")}
        for name, metrics in lines.items()
    }
    (row,) = rows(results({SIMULATION: metrics_left}))
    assert row.common is None


def test_the_page_has_the_reference_in_its_tables(tmp_path):
    aside = Results(experiment=experiment("regret-devices-aside"), rows=(), missing=9)
    page = write_page("regret-devices", [results(NUMBERS), aside], [], tmp_path, quick=False).read_text()
    assert page.startswith("# Regret among devices: the default beside the best protocol\n")
    assert "| regret in NCR, mean | at most 0.01 | 0.050 | 0.050 | 0.040 over |" in page
    assert "| error on common hits, times the best's, worst | at most 1 | 2.00 |  | over in 1 of 1 rows" in page
    below = "NCR below the reference at an epsilon of 1 and more, on the worst data set"
    assert f"| {below} | at most 0 | 0.20 |  | over on 1 of 1; mean 0.200 |" in page
    assert "| tea, 4,000 people | 0.70 / 0.90 |" in page
    assert f"| tea, 4,000 people | `{SIMULATION}` | 0.700 | 0.750 | `svsm-better` | 0.050 ± 0.000 | 0.900 |" in page
    assert f"| tea, 4,000 people | `{SIMULATION}` | 0.2000 | 0.1000 | `svsm` | 2 (×/÷ 1.00) |" in page
    assert "**Intervals of every protocol:**" in page
    assert "*Not run yet*: data that are set aside" in page
    assert re.findall("^## ([A-Z]\\w+)", page, re.MULTILINE) == ["Regret", "Regret", "Definitions"]


def test_it_runs_from_python_and_a_protocol_can_be_added(tmp_path):
    tiny = replace_points(replace_data(REGRET_DEVICES, GROCERIES), ["top=8 epsilon=4"])
    (result,) = run([tiny], tmp_path, quick=True, jobs=1)
    assert (result.failed, result.missing) == ((), 0)
    (row,) = rows(result)
    assert 0 <= row.missed.ours <= 1
    added_line = add_line(tiny, "svim")
    assert added_line.lines[-1].label == "svim"
    assert measure_cell([*added_line.cells(quick=True)][-1], 0)["answered"] == 1
    with pytest.raises(MisuseError, match="it finds relations"):
        add_line(tiny, "pairs")
