"""A device that holds several baskets: which one it answers for, from given bytes, and that this gives nothing away."""

# internals: this module compares the draw of a device with the draw of a curator and its law.
from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest

from discreet.auditing._local_laws import law as followed
from discreet.baskets import _capping as capping
from discreet.local.device import ANSWERS, Draws, _choosing as choosing, client, draw_basket, draw_position
from discreet.local.oracle_steps import oracles
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup
from local.oracles.test_exact_privacy import EPSILONS, baskets, largest, ratio
from naive.enumerating import law
from vectors.reading import Bytes, cases


@pytest.mark.parametrize("number", range(len(cases("chosen"))))
def test_devices_choose_as_every_case_says(number):
    case = cases("chosen")[number]
    source = Bytes(case.get("random", ""))
    options = {"max_baskets": case["max_baskets"], "take": source.take}
    if "refused" in case:
        with pytest.raises(ValueError, match=r".") as caught:
            draw_basket(case["baskets"], **options)
        assert str(caught.value) == case["refused"]
    else:
        assert draw_basket(case["baskets"], **options) == case["chosen"]
    assert source.left == b""


def test_the_cap_is_the_curators():
    assert choosing.MOST_BASKETS == capping.MOST_BASKETS


@pytest.mark.parametrize("wrong", [True, 1.0, "2", None])
def test_a_cap_that_is_none(wrong):
    with pytest.raises(ValueError, match=r"max_baskets is a whole number from 1 to 1,000,000; .* was given\."):
        draw_basket([[1]], max_baskets=wrong)


def chances(basket_count, max_baskets):
    """Return how likely each basket is to be drawn, and last of all an empty one: every way is followed."""
    chances_by_position = Counter()
    for report, share in followed(lambda draws: draw_position(basket_count, max_baskets, draws)).single.items():
        chances_by_position[int(report)] += share
    return [chances_by_position[position] for position in range(basket_count + 1)]


@pytest.mark.parametrize(
    ("basket_count", "max_baskets"), [(0, 1), (1, 1), (3, 1), (0, 4), (1, 4), (3, 4), (4, 4), (6, 4)]
)
def test_every_basket_has_the_chance_that_is_stated(basket_count, max_baskets):
    share_of_basket = Fraction(1, max(basket_count, max_baskets))
    assert chances(basket_count, max_baskets) == [share_of_basket] * basket_count + [1 - basket_count * share_of_basket]


@pytest.mark.parametrize("max_baskets", [1, 3])
@pytest.mark.parametrize("name", ["grr", "privset", "subset", "olh"])
def test_no_report_is_likelier_than_promised_whatever_baskets_there_are(name, max_baskets):
    """All people with up to three of all baskets of two items, in exact fractions: the law of a report is a mixture."""
    for epsilon in EPSILONS[1:4]:
        oracle = oracles()[name].make(epsilon, 2, pad=1)
        single = {basket: law(oracle.form, basket) for basket in baskets(2, False)}
        laws = []
        for basket_count in range(4):
            shares = chances(basket_count, max_baskets)
            for person in combinations_with_replacement(single, basket_count):
                mixed = Counter()
                for basket, share in zip((*person, ()), shares, strict=True):
                    for report, chance in single[basket].items():
                        mixed[report] += share * chance
                laws.append(dict(mixed))
        assert largest(laws) <= ratio(oracle.form)
        assert largest(laws) == largest(list(single.values()))  # and nothing is gained either, for who has one


def test_the_whole_device_is_followed():
    """From its baskets to the bytes that it sends: the device's own code, over all of its choices."""
    ask = Ask.of("", PeopleGroup(0, 1 << 32), CandidateQuestion(CandidateList(items=3)), "grr", Fraction(1))

    def device(person_baskets):
        def run(draws):
            answers = {"grr": lambda oracle, values, _: ANSWERS["grr"](oracle, values, draws)}
            basket = (
                person_baskets[position]
                if (position := draw_position(len(person_baskets), 2, draws)) < len(person_baskets)
                else []
            )
            return client(ask.form, basket, max_epsilon=1, answers=answers).decode()

        return followed(run).single

    laws = [device(person_baskets) for person_baskets in ([], [[0]], [[0], [0, 1, 2]], [[1], [2], []], [[0, 1]] * 3)]
    assert largest(laws) <= ratio(ask.oracle.form)


def test_the_bytes_of_a_choice_come_before_those_of_the_report():
    """With one stream for both, as a device has: the choice takes the first word, and the report those after it."""
    ask = Ask.of("", PeopleGroup(0, 1 << 32), CandidateQuestion(CandidateList(items=3)), "grr", Fraction(1))
    words = b"".join(word.to_bytes(4, "little") for word in (1, 7, 9, 11, 13))
    source, report_source = Bytes(words.hex()), Bytes(words[4:].hex())
    report = client(ask.form, draw_basket([[0], [1]], take=source.take), max_epsilon=1, take=source.take)
    assert report == client(ask.form, [1], max_epsilon=1, take=report_source.take)
    assert source.left == report_source.left


def test_nothing_is_drawn_of_one_basket():
    def never(count):
        raise AssertionError

    assert draw_basket([[3, 1]], take=never) == [3, 1]
    assert draw_basket([], take=never) == []
    assert Draws(never).below(1) == 0
