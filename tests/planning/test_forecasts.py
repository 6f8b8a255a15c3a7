"""Several budgets in one call, and people with several baskets: what a forecast says of both units."""

# internals: this module measures the drawings of a forecast.
from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest

import discreet
from discreet.errors import MisuseError
from discreet.planning._public_facts import PublicFacts
from discreet.report._lines import DrawnLine, draw_lines
from discreet.report._slopes import spread_labels
from running import run

SHOP = {"people": 6_000, "items": 60, "sizes": 3, "top": 8}
NAMES = ["auto", "count", "svim"]


@pytest.fixture(scope="module")
def bought():
    return discreet.plan(**SHOP, epsilon=[4, "0.1", 1, "1.0"], baskets_each=[1, 2, 6], names=NAMES)


def test_the_smallest_epsilon_comes_first_and_none_comes_twice(bought):
    assert [forecast.asked["epsilon"] for forecast in bought.by_epsilon] == ["0.1", "1", "4"]
    assert bought.epsilons == ("0.1", "1", "4")
    assert len(bought) == 3 * len(NAMES)
    assert bought.at("1/10") is bought.at("0.1") is bought.by_epsilon[0]


def test_each_is_the_forecast_of_its_epsilon(bought):
    single_forecast = discreet.plan(**SHOP, epsilon=1, baskets_each=[1, 2, 6], names=NAMES)
    assert bought.at(1).to_json() == single_forecast.to_json()


def test_an_epsilon_that_is_not_there(bought):
    with pytest.raises(MisuseError) as error:
        bought.at(3)
    assert str(error.value) == "There is no forecast at an epsilon of 3; there are those at 0.1, 1, 4."


def test_json_has_all_of_them(bought):
    document = json.loads(bought.to_json())
    assert [forecast["asked"]["epsilon"] for forecast in document["forecasts"]] == ["0.1", "1", "4"]
    assert {"discreet": "forecast/1", **document["forecasts"][0]} == bought.at("0.1").to_dict()


def test_a_name_alone_does_not_say_at_which_epsilon(bought):
    with pytest.raises(MisuseError) as error:
        bought["auto"]
    assert str(error.value) == (
        "This is a forecast at several epsilons (0.1, 1, 4): say at which one, as in at(0.1)['auto']."
    )


def test_one_epsilon_in_a_list_is_one_forecast():
    single_forecast, listed_forecast = (discreet.plan(**SHOP, epsilon=epsilon, names=["count"]) for epsilon in (1, [1]))
    assert listed_forecast == single_forecast
    assert listed_forecast.at(1) is listed_forecast


def test_both_units_are_said(bought):
    text = " ".join(str(bought).split())
    assert "A curator who holds the baskets: found, and baskets off by epsilon 0.1 1 4 auto" in text
    assert "Devices that keep their baskets: found, and people off by epsilon 0.1 1 4 svim" in text
    assert "These forecasts stand at 6,000 people with about 3 baskets each, 60 items, the top 8." in text
    assert "Devices are counted as people: each answers for one of its baskets, drawn at random." in text
    assert "The unit of privacy is the person, with all their baskets." in text
    assert "Baskets of one person are imagined to have no more in common than those of two people." in text
    assert "geometric" not in text  # typical numbers were given
    assert bought.at(1).bounds.unit == "baskets"
    assert "baskets hold" in "\n".join(bought.at(1).lines())


def test_the_picture_has_a_line_for_each_that_finds_something(bought):
    picture = bought.plot().svg
    ElementTree.fromstring(picture)
    for name in ("auto", "svim"):
        assert f">{name}<" in picture
    assert ">count<" not in picture  # it counts what is named, and finds nothing
    assert "How many baskets a count is off by, at most" in picture
    assert "How many people a count is off by, at most" in picture
    assert "The unit of privacy is the person" in picture


def test_nothing_to_draw():
    with pytest.raises(MisuseError) as error:
        discreet.plan(**SHOP, epsilon=[1, 2], names=["count"]).plot()
    assert str(error.value) == "There is nothing to draw: no mechanism can be forecast for this question."


def test_what_is_needed_by_each_budget():
    forecast = discreet.plan(items=60, sizes=3, min_support=0.05, lengths=1, epsilon=[1, 4], names=["auto"])
    assert forecast.at(1).needed["auto"] > forecast.at(4).needed["auto"]
    needs = [line for line in forecast.lines() if line.startswith("Recommended at")]
    assert needs[0].endswith(f"auto. auto needs about {forecast.at(1).needed['auto']:,} people.")


@pytest.mark.parametrize("cap", [1, 3])
def test_noise_grows_with_the_baskets_that_take_part(cap):
    # Eight counts of baskets share what is left of epsilon; each has Laplace noise of scale 80 times the cap. Intervals
    # cover the draw of baskets too, which is small beside so much noise.
    forecast = discreet.plan(**SHOP, epsilon="0.1", baskets_each=4, max_baskets=cap, names=["count"])
    assert forecast["count"].max_baskets == cap
    least_error = 80 * cap * np.log(20)
    assert least_error <= forecast["count"].interval < 1.6 * least_error
    assert f"A curator counts baskets, {cap} of each person at most: as was asked." in forecast.units


def test_an_empty_basket_may_be_drawn_on_devices():
    forecast = discreet.plan(**SHOP, epsilon=4, baskets_each=2, max_baskets=3, names=["svim"])
    assert forecast.units == (
        "Devices are counted as people: each answers for one of its baskets, drawn at random. Those with fewer than 3 "
        "may draw an empty one. The unit of privacy is the person, with all their baskets."
    )
    assert forecast["svim"].max_baskets == 0


def test_one_basket_each_is_the_forecast_without_the_word():
    assert discreet.plan(**SHOP, epsilon=1, names=["count"]).units == ""


def test_the_mean_is_what_was_said():
    numbers, chances = PublicFacts.of(60, 3, 1, None, 4).baskets_each
    assert numbers.min() == 1
    assert float(numbers @ chances) == pytest.approx(4, rel=0.01)
    facts = PublicFacts.of(60, 3, 1, None, [1, 1, 7])
    assert [law.tolist() for law in facts.baskets_each] == [[1, 7], pytest.approx([2 / 3, 1 / 3])]
    assert facts.words["mean baskets each"] == 3


BASKETS_MESSAGE = (
    "baskets_each is how many baskets a person has: the mean, such as 4, or a list of typical numbers, each from 1 to"
)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"baskets_each": 0.5}, f"{BASKETS_MESSAGE} 10,000; 0.5 was given."),
        ({"baskets_each": []}, f"{BASKETS_MESSAGE} 10,000; [] was given."),
        ({"baskets_each": [0, 1]}, f"{BASKETS_MESSAGE} 10,000; [0, 1] was given."),
        ({"baskets_each": 20_000}, f"{BASKETS_MESSAGE} 10,000; 20000 was given."),
        ({"baskets_each": "some"}, "baskets_each is a number such as 1, 0.5 or 1/3; some was given."),
        (
            {"max_baskets": 3},
            "max_baskets is for people with several baskets: say how many they have, baskets_each=4.",
        ),
        ({"max_baskets": 0, "baskets_each": 2}, "max_baskets is 0, but it must be a whole number, 1 or more."),
        (
            {"max_baskets": 10**9, "baskets_each": 2},
            "max_baskets is at most 1,000,000 in a forecast; 1000000000 was given.",
        ),
        ({"epsilon": []}, "epsilon is an empty list: give one epsilon, or several."),
        ({"epsilon": [1, 0]}, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
        (
            {"baskets_each": 2, "frequencies": [2]},
            "frequencies is a list of the fractions of baskets that hold each item, each from 0 to 1, and some over 0; "
            "[2] was given.",
        ),
    ],
    ids=["half", "nobody", "none", "very many", "word", "one each", "no cap", "cap", "no budget", "zero", "over 1"],
)
def test_mistakes(changed, message):
    with pytest.raises(MisuseError) as error:
        discreet.plan(**(SHOP | {"epsilon": 1, "names": ["count"]} | changed))
    assert str(error.value) == message


def test_from_the_command_line(tmp_path):
    command = ["plan", "--people", "6000", "--items", "60", "--sizes", "3", "--top", "8", "--name", "auto"]
    command_of_several = [*command, "--baskets-each", "1,2,6", "--epsilon", "0.1, 1"]
    completed = run(*command_of_several, "--format", "json")
    assert completed.returncode == 0
    forecasts = json.loads(completed.stdout)["forecasts"]
    assert [forecast["asked"]["epsilon"] for forecast in forecasts] == ["0.1", "1"]
    assert forecasts[0]["asked"]["mean baskets each"] == 3
    picture = tmp_path / "plan.svg"
    assert run(*command_of_several, "-o", str(picture)).returncode == 0
    ElementTree.parse(picture)
    refused = run(*command, "--epsilon", "1", "--baskets-each", "0")
    assert refused.returncode != 0
    assert "--baskets-each is how many baskets a person has" in " ".join(refused.stderr.split())


def test_lines_say_what_they_show():
    rows = [DrawnLine("auto", (0.25, float("nan"), 1.0), strong=True), DrawnLine("<b>", (0.5, 0.5, 0.5))]
    chart = draw_lines(rows, [0.5, 0.51, 2], title="Found", below="epsilon", share=True)
    assert (
        chart.description.replace("\u202f", " ")
        == "auto: 25 % at 0.5, 100 % at 2; <b>: 50 % at 0.5, 50 % at 0.51, 50 % at 2"
    )
    assert "<b>" not in chart.inside
    # The number of a place that is too near to the one before it is not drawn.
    assert ">0.51<" not in chart.inside
    assert ">0.5<" in chart.inside


def test_lines_of_which_nothing_is_finite_are_left_out():
    chart = draw_lines([DrawnLine("auto", (float("inf"),))], [1], title="Off", below="epsilon", share=False)
    assert chart.description == ""


def test_labels_stay_inside_and_apart():
    generator = np.random.default_rng(0)
    for label_count in range(1, 11):
        for _ in range(50):
            places = spread_labels(generator.uniform(0, 220, label_count).tolist(), 18, 180)
            assert min(places) >= 18
            assert max(places) <= 180
            assert np.diff(sorted(places)).min(initial=18) >= 18 - 1e-9
