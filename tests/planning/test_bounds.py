"""The lower bounds of paper 002: its own numbers, and what must hold between them."""

from __future__ import annotations

from math import ceil, comb, exp, inf, log

import pytest

from discreet.errors import MisuseError
from discreet.planning import least_epsilon, least_epsilon_of_short, sufficient_epsilon
from discreet.planning._bounds import bounds


def test_the_example_of_the_paper():
    # Section 3.2: BMS-WebView-2 has 3,340 items; a threshold of 310, a slack of 0.2 and a doubt of 0.5 give 18.4.
    assert least_epsilon(3_340, 310, slack=0.2, doubt=0.5) == pytest.approx(18.4, abs=0.05)


def test_few_items_by_hand():
    # 2 * 0.25 * 10 + 2 = 7 people are enough to turn one answer into another; 2^2 - 1 = 3 answers are not empty.
    assert least_epsilon(2, 10, slack=0.25, doubt=0.25) == pytest.approx(log(3 * 3) / 7)
    # Sets of 1 or 2 of 3 items, in baskets of one item each.
    expected = max(log(3 * 0.9) / 7, log(3 * 0.9) / 14)
    assert least_epsilon_of_short(3, 10, 1, slack=0.25, doubt=0.1) == pytest.approx(expected)


def test_slack_is_the_number_that_was_written():
    # 0.07 * 100 is a little over 7 in binary, and exactly 7 as it is written.
    assert least_epsilon(10, 100, slack=0.07, doubt=0.5) == pytest.approx(log(1023) / 16)


def test_what_is_printed_is_no_less_than_what_is_enough():
    # From the last count under 0.8 * 7, which is 5, to the first over 1.2 * 7, which is 9, 4 people are enough; what is
    # printed, 2 * 0.2 * 7 + 2 = 4.8, is no less, so it holds. Rounded up it is 6, and gives 386.
    assert least_epsilon(3_340, 7) == pytest.approx(482.3, abs=0.1)


@pytest.mark.parametrize("items", [1, 2, 5, 30, 101])
@pytest.mark.parametrize("doubt", [0.01, 0.5, 0.999])
def test_the_best_size_is_the_best_of_all(items, doubt):
    for longest in range(1, items + 1):
        every = [(log(comb(items, size)) + log(1 - doubt)) / (6 * ceil(size / longest)) for size in range(1, items + 1)]
        least_epsilon = least_epsilon_of_short(items, 10, longest, slack=0.2, doubt=doubt)
        assert least_epsilon == pytest.approx(max(0.0, *every), abs=1e-12)


@pytest.mark.parametrize("longest", [1, 5, 40])
def test_short_baskets_need_less_and_what_is_enough_is_more(longest):
    items, threshold = 1_000, 200
    least_of_short = least_epsilon_of_short(items, threshold, longest)
    assert 0 < least_of_short <= least_epsilon(items, threshold)
    assert sufficient_epsilon(items, threshold, longest) > least_of_short


def test_what_is_enough_solves_its_equation():
    # (1 - e^(-slack threshold epsilon / longest))^items = 1 - doubt.
    epsilon = sufficient_epsilon(500, 50, 4, slack=0.2, doubt=0.3)
    assert (1 - exp(-0.2 * 50 * epsilon / 4)) ** 500 == pytest.approx(0.7)


def test_bounds_are_never_negative():
    assert least_epsilon(1, 10, doubt=0.9) == 0
    assert least_epsilon_of_short(1, 10, 1) == 0
    assert least_epsilon(10**6, 1) < inf


CUT_NOTE = ". There is less than the first: of pure mechanisms, only one that cuts baskets may promise it."


@pytest.mark.parametrize(
    ("epsilon", "options", "end"),
    [
        (20, {}, ". There is as much."),
        (1, {}, CUT_NOTE),
        (0.1, {}, ". There is less: no pure mechanism can promise it."),
        (1, {"pure": False}, f"{CUT_NOTE} Of mechanisms with a delta the bounds say nothing."),
        (
            0.1,
            {"local": True},
            ". There is less: no pure mechanism can promise it. The bounds are for a curator: devices need more still.",
        ),
    ],
    ids=["enough", "cut", "less", "delta", "devices"],
)
def test_what_they_say_of_an_epsilon(epsilon, options, end):
    assert bounds(3_340, 310, 10).in_words(epsilon, **options) == (
        "To show on any data what at least 310 people hold, give or take 20%, and be right in 50% of the cases, a pure "
        "epsilon of 18.4 is needed whatever the algorithm; 0.518 if no basket has more than 10 items" + end
    )


def test_one_person_holds_one_item():
    assert bounds(3_340, 1, 1).in_words(1000) == (
        "To show on any data what at least 1 person holds, give or take 20%, and be right in 50% of the cases, a pure "
        "epsilon of 965 is needed whatever the algorithm; 3.09 if no basket has more than 1 item. There is as much."
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"items": 0}, "items is 0, but it must be a whole number, 1 or more."),
        ({"threshold": 0}, "threshold is 0, but it must be a whole number, 1 or more."),
        ({"slack": 1}, "slack lies between 0 and 1; 1 was given."),
        ({"doubt": 0}, "doubt lies between 0 and 1; 0 was given."),
    ],
)
def test_what_is_refused(changed, message):
    question = {"items": 10, "threshold": 10} | changed
    with pytest.raises(MisuseError) as error:
        least_epsilon(**question)
    assert str(error.value) == message
