"""Forecasts: from public numbers alone, near to what comes out, and open to mechanisms of other packages."""

# internals: this module registers a mechanism for the time of a test.
from __future__ import annotations

import builtins
import json
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from statistics import mean, median
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
import pytest

import discreet
from discreet import registry
from discreet.baskets import groceries
from discreet.curator import Answers, Found, Mechanism
from discreet.errors import LimitError, MisuseError
from discreet.exact import LocalEngine, Supports
from discreet.local.study import ProtocolResult
from discreet.planning import (
    CrowdRun,
    Forecast,
    ForecastTask,
    ImaginedCrowd,
    compute_margin,
    estimate_visible_support,
    judge_patterns,
    mine_truth,
    trial,
)
from discreet.planning._bounds import bounds
from discreet.planning._crowd import imagine
from discreet.planning._forecast import Outlook
from discreet.planning._planner import _entries
from discreet.planning._trying import CrowdTruth, _count_itemsets, _crowd_itemsets, itemsets_of
from discreet.privacy import Budget, Neighbours
from discreet.registry import Entry, _entries as entries
from discreet.results import Itemsets

SMALL_QUESTION = {"people": 40_000, "items": 60, "sizes": 3, "top": 10, "epsilon": 1}
NAMES = ["auto", "exponential", "count", "svim", "svsm"]


@pytest.fixture(scope="module")
def small_forecast():
    return discreet.plan(**SMALL_QUESTION, names=NAMES)


def test_texts_that_no_list_has_are_forecast_where_they_are_named():
    """Takes 5 s, as a round has two million candidates. Many people find what few do not."""
    question = {"items": 300, "sizes": 1, "top": 5, "epsilon": 4}
    large_forecast = discreet.plan(people=20_000_000, **question, names=["prefixes", "svim"])
    outlook = large_forecast["prefixes"]
    assert (outlook.side, outlook.recall, outlook.precision) == ("local", 1.0, 1.0)
    assert outlook.rounds > large_forecast["svim"].rounds
    assert outlook.interval > large_forecast["svim"].interval
    assert large_forecast.notes[-1] == (
        "For prefixes the items are texts that no list has, imagined to have 24 symbols each and to begin differently: "
        "shorter ones, and those that begin alike, are easier to find."
    )
    assert "prefixes" not in {entry.name for entry in _entries(None, "both")}
    outlook_of_few = discreet.plan(people=2_000, **question, names=["prefixes"])["prefixes"]
    assert outlook_of_few.recall < 0.5


def test_texts_by_the_numbers_of_a_crowd():
    crowd = imagine(np.array([0.5, 0.3, 0.2]), np.array([1]), np.array([1.0]), 1000).spelt("ab", 12)
    texts = list(crowd.baskets.vocabulary)
    assert all(len(text) == 12 and set(text) <= set("ab") for text in texts)
    nothing = np.zeros(3)
    outcome = ProtocolResult(
        itemsets=((0,), (1,), (0, 2)), values=nothing, variance=nothing, texts=(texts[2], "nobody's", texts[0])
    )
    named_itemsets = _crowd_itemsets(outcome, crowd)
    assert named_itemsets == ((2,), (4,), (0, 2))
    counts = _count_itemsets(crowd, list(named_itemsets))
    assert counts[0] == pytest.approx(200, rel=0.3)
    assert counts[1:].tolist() == [0, 0]  # nobody holds a text that is no item of the crowd, nor two of them at once


def test_a_forecast_has_both_sides(small_forecast):
    assert {outlook.name for outlook in small_forecast.outlooks} == set(NAMES)
    assert set(small_forecast.recommended) == {"curator", "local"}
    assert small_forecast.recommended["curator"] in ("auto", "exponential")
    local = small_forecast["svim"]
    assert (local.side, local.rounds, local.questions, local.report_bytes > 0) == ("local", 3, 0, True)
    assert 0 < local.shuffled < 1
    central = small_forecast["auto"]
    assert (central.rounds, central.questions > 0, central.shuffled, central.chosen != "") == (0, True, None, True)
    # A curator sees more than devices tell at the same epsilon.
    assert central.precision > local.precision
    assert central.interval < local.interval


def test_the_best_comes_first_and_counts_of_named_patterns_last(small_forecast):
    scores = [outlook.score for outlook in small_forecast.outlooks]
    assert scores == sorted(scores, reverse=True)
    assert small_forecast.outlooks[-1].name == "count"
    assert small_forecast["count"].precision is None


def test_the_interval_is_that_of_the_noise_that_would_be_added(small_forecast):
    # Ten counts, all of epsilon: Laplace noise of scale 10, within 10 ln(20) of 0 in 95 of 100 cases.
    assert small_forecast["count"].interval == pytest.approx(10 * np.log(20), rel=0.05)


def test_the_same_numbers_give_the_same_forecast(small_forecast):
    assert discreet.plan(**SMALL_QUESTION, names=NAMES).to_json() == small_forecast.to_json()


def test_no_file_is_opened(monkeypatch, small_forecast):
    def refuse(*arguments, **options):
        raise AssertionError(f"{arguments} was opened")

    monkeypatch.setattr(builtins, "open", refuse)
    assert discreet.plan(**SMALL_QUESTION, names=["exponential"])["exponential"] == small_forecast["exponential"]


def test_more_epsilon_and_more_people_are_better():
    def right(**changed):
        return discreet.plan(**(SMALL_QUESTION | changed), names=["svim"])["svim"].precision

    assert right(epsilon="0.2") < right(epsilon=4)
    assert right(people=2_000) < right(people=4_000_000)


def test_what_cannot_answer_says_why(small_forecast):
    forecast = discreet.plan(**SMALL_QUESTION, names=["auto", "threshold"])
    assert forecast.refused == {"threshold": "threshold needs a delta over 0, such as delta=1e-6."}
    with pytest.raises(MisuseError) as error:
        forecast["threshold"]
    assert str(error.value) == (
        "There is no forecast for 'threshold' (threshold needs a delta over 0, such as delta=1e-6.); there are auto."
    )
    with pytest.raises(MisuseError) as error:
        discreet.plan(**SMALL_QUESTION, names=["threshold"])
    assert str(error.value) == (
        "None of them can answer this question. threshold needs a delta over 0, such as delta=1e-6."
    )


def test_json_and_picture(small_forecast):
    document = json.loads(small_forecast.to_json())
    assert document["asked"]["people"] == 40_000
    assert document["recommended"] == small_forecast.recommended
    assert {outlook["name"] for outlook in document["forecasts"]} == set(NAMES)
    assert set(document["bounds"]) == {"threshold", "any_baskets", "longest", "short_baskets", "enough", "unit"}
    picture = small_forecast.plot().svg
    ElementTree.fromstring(picture)
    assert "svsm (devices, counts ± " in picture
    assert "count (curator" not in picture
    assert f">{small_forecast.caption}<" in picture


def test_the_table_says_what_to_take(small_forecast):
    text = str(small_forecast)
    assert "A curator who holds the baskets" in text
    assert "This forecast stands at epsilon = 1, 40,000 people, 60 items, the top 10." in text
    assert "Devices that keep their baskets" in text
    assert f"Recommended for devices: {small_forecast.recommended['local']}, " in text
    assert f"auto ({small_forecast['auto'].chosen})" in text
    assert "Supports of items are taken to fall with the power 1 of their rank (Zipf)." in text


@pytest.mark.parametrize(
    ("looked_for", "given_numbers", "name"),
    [("epsilon", {"people": 100_000}, "auto"), ("people", {"epsilon": 1}, "svim")],
)
def test_what_is_needed(looked_for, given_numbers, name):
    question = {"items": 60, "sizes": 3, "min_support": 0.05, "lengths": 1, "names": [name]}
    forecast = discreet.plan(**question, **given_numbers)
    needed_value = forecast.needed[name]
    used_value = int(forecast.asked["people"]) if looked_for == "people" else float(Fraction(forecast.asked["epsilon"]))
    assert used_value == pytest.approx(needed_value)
    # Enough, give or take the spread of a run; and a quarter of it is not.
    assert forecast[name].recall >= 0.7
    quarter = needed_value // 4 if looked_for == "people" else f"{needed_value / 4:.4g}"
    outlook = discreet.plan(**question, **given_numbers, **{looked_for: quarter})[name]
    largest_interval = 0.05 * (quarter if looked_for == "people" else given_numbers["people"])
    assert outlook.recall < forecast[name].recall or outlook.interval > largest_interval


def test_what_cannot_be_reached_is_said():
    # The second of all pairs is as frequent as the third: devices with next to no people find neither.
    forecast = discreet.plan(people=150, items=400, sizes=2, top=40, names=["svim"])
    assert forecast.needed == {"svim": None}
    assert forecast.lines()[:2] == [
        "No epsilon that was tried is enough for svim.",
        "This forecast stands at epsilon = 20, 150 people, 400 items, the top 40; that is the most that was tried.",
    ]


def test_supports_and_sizes_can_be_supplied():
    supports = [0.5, 0.4, 0.3]
    forecast = discreet.plan(
        people=50_000, items=30, epsilon=1, min_support=0.2, frequencies=supports, sizes=[0, 1, 2], names=["auto"]
    )
    assert forecast.asked["frequencies"] == "as given"
    assert forecast.asked["mean size"] == 1.0
    # Three single items are held by a fifth or more, and no pair is.
    assert forecast["auto"].recall == 1.0


def test_replacing_a_person_changes_no_noise_of_counts():
    added_forecast, replaced = (
        discreet.plan(**SMALL_QUESTION, names=["count"], neighbours=relation)["count"].interval
        for relation in ("add-remove", "replace")
    )
    assert replaced == added_forecast


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_relation_is_among_what_was_asked(neighbours):
    question = discreet.plan(**SMALL_QUESTION, names=["count"], neighbours=neighbours).to_dict()["asked"]
    assert question["neighbours"] == Neighbours.parse_typed(neighbours).value


@pytest.mark.parametrize(
    ("changed", "end"),
    [
        ({"names": ["peeling"]}, "no pure mechanism can promise it."),
        (
            {"names": ["peeling"], "delta": "1e-6"},
            "no pure mechanism can promise it. Of mechanisms with a delta the bounds say nothing.",
        ),
        (
            {"names": ["svim"], "delta": "1e-6"},
            "no pure mechanism can promise it. The bounds are for a curator: devices need more still.",
        ),
    ],
    ids=["pure", "delta", "devices"],
)
def test_bounds_are_said_to_be_for_what_they_are_for(changed, end):
    forecast = discreet.plan(people=2_000, items=1_000, epsilon="0.05", top=10, lengths=1, **changed)
    (line,) = [line for line in forecast.lines() if line.startswith("To show")]
    assert line.endswith(f". There is less: {end}")


def test_a_shop_whose_first_item_everyone_buys():
    # Baskets of 6.5 items are mostly longer than 2, and the tenth item is held by 11 % (it was 1 % once).
    forecast = discreet.plan(people=20_000, items=188, sizes="6.5", epsilon=4, top=10, lengths=1, names=["count"])
    assert forecast.bounds.longest > 6
    assert 0.1 < forecast.bounds.threshold / 20_000 < 0.13
    warning = "So 1 item is in nearly every basket. If none is in yours, a smaller exponent is nearer."
    assert forecast.notes[-1] == warning
    flatter = discreet.plan(
        people=20_000, items=188, sizes="6.5", exponent="0.7", epsilon=4, top=10, lengths=1, names=["count"]
    )
    assert flatter.notes == (
        forecast.notes[0],
        "Supports of items are taken to fall with the power 0.7 of their rank (Zipf).",
    )
    dense_forecast = discreet.plan(people=20_000, items=188, sizes=20, epsilon=4, top=10, lengths=1, names=["count"])
    assert dense_forecast.notes[-1] == warning.replace("1 item is", "4 items are")


@pytest.mark.parametrize("name", ["pairs", "pckv"])
def test_relations_are_forecast_where_they_are_named(name):
    forecast = discreet.plan(people=20_000, items=30, sizes=3, top=5, epsilon=4, names=[name])
    assert 0 <= forecast[name].precision <= 1
    assert name not in {entry.name for entry in _entries(None, "both")}


@dataclass(frozen=True, kw_only=True)
class Everything(Mechanism):
    """Counts every item with all of its budget."""

    name: ClassVar[str] = "everything"
    summary: ClassVar[str] = "Counts every item."
    citation: ClassVar[str] = "Nobody."
    answers: ClassVar[tuple[Answers, ...]] = ("top",)

    def plan(self, problem):
        return [("counting the items", Fraction(1))]

    def run(self, engine, problem, meter):
        every = Itemsets.of([(item,) for item in range(problem.item_count)])
        noisy = meter.count("counting the items", engine, Supports(every), Fraction(1))
        best_places = np.argsort(-noisy.values)[: problem.top]
        values, margin = noisy.values[best_places].astype(np.float64), noisy.margin()
        return Found(itemsets=every.take(best_places), estimates=values, low=values - margin, high=values + margin)


def test_a_mechanism_of_another_package_is_forecast_as_it_is(monkeypatch, tmp_path):
    page = tmp_path / "everything.md"
    page.write_text("# everything")
    theirs = Entry(name="everything", category="mechanism", kind=Everything, proof=page, package="theirs")
    known_mechanisms = {**registry.mechanisms(), "everything": theirs}
    monkeypatch.setitem(entries._TABLES, "mechanism", lambda: known_mechanisms)
    forecast = discreet.plan(**(SMALL_QUESTION | {"lengths": 1}), names=["everything", "exponential"])
    assert forecast["everything"].precision > 0.9
    # Sixty counts at epsilon 1: Laplace noise of scale 60.
    assert forecast["everything"].interval == pytest.approx(60 * np.log(20), rel=0.05)


def outlook(name, side, score, interval=1.0, visible=0.1):
    return Outlook(
        name=name, side=side, precision=score, recall=score, interval=interval, visible=visible, complete=False
    )


@pytest.mark.parametrize(
    ("outlooks", "best_names"),
    [
        ([outlook("laplace", "curator", 0.9), outlook("auto", "curator", 0.88)], {"curator": "auto"}),
        ([outlook("laplace", "curator", 0.9), outlook("auto", "curator", 0.8)], {"curator": "laplace"}),
        ([outlook("svsm", "local", 0.9, 5.0), outlook("svim", "local", 0.89, 2.0)], {"local": "svim"}),
        ([outlook("svsm-better", "local", 0.9), outlook("adept", "local", 0.9, 1.5)], {"local": "adept"}),
        ([outlook("svsm", "local", 0.9), outlook("adept", "local", 0.9, 2.5)], {"local": "svsm"}),
        ([outlook("svim", "local", 0.0)], {}),
        ([outlook("svim", "local", 0.5, visible=3.0)], {}),
    ],
    ids=["choosers", "better", "narrower", "adept", "wider", "nothing", "by chance"],
)
def test_what_is_recommended(outlooks, best_names):
    forecast = Forecast(asked={}, outlooks=tuple(outlooks), bounds=bounds(10, 10, 2), delta=Fraction(1, 10**8))
    assert forecast.recommended == best_names


def test_what_is_visible():
    truth = CrowdTruth(
        itemsets=[(0,), (1,), (2,), (0, 1)], counts=np.array([50.0, 40.0, 20.0, 10.0]), min_count=10, people=100
    )

    def visible_support(*found_flags, interval=1.0):
        return estimate_visible_support(
            [CrowdRun(precision=1, recall=1, interval=interval, found_flags=found_flags)], truth
        )

    assert visible_support(True, True, True, True) == 0.1
    assert visible_support(True, True, False, True) == 0.1
    # What finds no pairs is judged by single items.
    assert visible_support(True, True, False, False) == 0.4
    assert visible_support(True, True, True, True, interval=30.0) == 0.3
    assert visible_support(False, False, False, False) == inf


def test_ties_are_not_held_against_anyone():
    truth = CrowdTruth(itemsets=[(0,), (1,)], counts=np.array([9.0, 5.0]), min_count=5.0, people=10)
    assert judge_patterns([(0,), (2,)], np.array([9.0, 5.0]), truth) == (1.0, 1.0, (True, False))
    assert judge_patterns([], np.empty(0), truth)[:2] == (0.0, 0.0)


@pytest.mark.parametrize("name", ["auto", "exponential", "privbasis"])
def test_forecasts_are_within_a_factor_of_two_of_what_comes_out(name):
    # On made-up groceries, which nothing was fitted to; fixed seeds, so that there is no false alarm.
    baskets = groceries(20_000, seed=11)
    numbered = discreet.Baskets(baskets.offsets, baskets.codes, discreet.Vocabulary(range(baskets.items)))
    typical_sizes = np.sort(numbered.sizes)[500::1_000].tolist()
    expected = discreet.plan(
        people=len(numbered), items=numbered.items, epsilon=1, top=20, sizes=typical_sizes, names=[name],
        frequencies=numbered.item_counts / len(numbered),
    )[name]  # fmt: skip
    task = ForecastTask(
        top=20, min_support=None, min_length=1, max_length=None, budget=Budget.of(1), neighbours=Neighbours.ADD_REMOVE
    )
    truth = mine_truth(ImaginedCrowd(baskets=numbered, people=len(numbered)), task)
    runs = []
    for seed in range(3):
        patterns = trial(
            numbered, seed=seed, top=20, epsilon=1, items="public", people=len(numbered), mechanism=name
        ).patterns
        itemsets = itemsets_of(patterns)
        counts = LocalEngine(numbered).answer(Supports(Itemsets.of(itemsets))).astype(np.float64)
        precision, recall, found_flags = judge_patterns(itemsets, counts, truth)
        runs.append(
            CrowdRun(precision=precision, recall=recall, interval=compute_margin(patterns), found_flags=found_flags)
        )
    pairs = [
        (expected.interval, median(run.interval for run in runs)),
        (expected.visible, estimate_visible_support(runs, truth)),
        (expected.precision, mean(run.precision for run in runs)),
    ]
    for forecast_value, measured_value in pairs:
        assert 0.5 <= forecast_value / measured_value <= 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"epsilon": None, "people": None},
            "Leave out epsilon or people, the one that is looked for, but not both.",
        ),
        (
            {"min_support": 0.1},
            "Say which patterns are wanted by exactly one of top (how many patterns) or min_support (a fraction of "
            "people); both were given.",
        ),
        ({"side": "both sides"}, "side is 'curator', 'local' or 'both'; 'both sides' was given."),
        ({"people": 0}, "people is 0, but it must be a whole number, 1 or more."),
        ({"people": 10**13}, "people is at most 1,000,000,000,000 in a forecast; 10000000000000 was given."),
        ({"items": 2.5}, "items is 2.5, but it must be a whole number, 1 or more."),
        ({"top": 20_000}, "top is at most 10,000 in a forecast; 20000 was given."),
        (
            {"items": 3, "sizes": 1},
            "top is 10, but there are only 7 patterns of these items: ask for fewer.",
        ),
        (
            {"items": 12, "lengths": 13},
            "lengths asks for patterns of 13 items or more, but there are only 12.",
        ),
        (
            {"sizes": 60},
            "sizes is the mean size of a basket, over 0 and below 60, the number of items; 60 was given.",
        ),
        (
            {"sizes": [0, 0]},
            "sizes is the mean size of a basket, such as 5, or a list of sizes from 0 to 60, the number of items, not "
            "all of them 0; [0, 0] was given.",
        ),
        ({"exponent": 11}, "exponent is a number from 0 to 10, such as 1; 11 was given."),
        (
            {"frequencies": [0.5, 1.5]},
            "frequencies is a list of the fractions of people who hold each item, each from 0 to 1, and some over 0; "
            "[0.5, 1.5] was given.",
        ),
        (
            {"frequencies": [0.1] * 61},
            "There are 60 items, but 61 frequencies were given: leave some out.",
        ),
        (
            {"top": None, "min_support": 0.9, "exponent": 0},
            "Under this curve no pattern is as frequent as that: the most frequent item is held by 0.05 of the people. "
            "Ask for a smaller min_support, or state another curve.",
        ),
        (
            {"top": None, "min_support": 2},
            "min_support is a fraction of people, over 0 and at most 1, such as 0.01; 2 was given. For 2 % write 0.02.",
        ),
        (
            {"top": None, "min_support": 0},
            "min_support is a fraction of people, over 0 and at most 1, such as 0.01; 0 was given.",
        ),
        (
            {"top": None, "min_support": "some"},
            "min_support is a fraction of people, over 0 and at most 1, such as 0.01; 'some' was given.",
        ),
        ({"names": "auto"}, "names is a list of names, such as ['auto', 'svsm']; 'auto' was given."),
        ({"names": ["olh"]}, "olh is an oracle: name a mechanism or a protocol that uses it."),
        ({"epsilon": 0}, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
        ({"neighbours": "any"}, "neighbours is 'add-remove' or 'replace'; 'any' was given."),
    ],
    ids=[
        "nothing", "both", "side", "nobody", "too many people", "half an item", "too many patterns", "few patterns",
        "too long", "everything held", "empty", "steep", "over 1", "too many supports", "rare", "percent", "none",
        "no number", "one name", "oracle", "epsilon", "neighbours",
    ],
)  # fmt: skip
def test_mistakes(changed, message):
    with pytest.raises(MisuseError) as error:
        discreet.plan(**(SMALL_QUESTION | {"names": ["count"]} | changed))
    assert str(error.value) == message


def test_too_many_patterns_are_refused_in_words_of_a_forecast():
    with pytest.raises(LimitError) as error:
        discreet.plan(people=20_000, items=188, sizes="6.5", min_support="1e-5", epsilon=1, names=["count"])
    assert str(error.value) == (
        "Under this curve more than 1,000,000 patterns are as frequent as that. Ask for a larger min_support, for "
        "shorter ones (lengths=), or for the first of them (top=)."
    )
