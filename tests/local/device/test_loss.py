"""Refusals of a device: questions that give away more than they state, or that some baskets cannot answer."""

from __future__ import annotations

from fractions import Fraction
from math import e, log

import pytest

from discreet.local import EVERY_ANSWER, EVERY_LOSS
from discreet.local.device import WEIGHT_SCALE, WORD, check, client, compute_delta, compute_ratio, symmetric_ratio
from discreet.local.oracle_steps import means, oracles
from discreet.local.oracles import OLH
from naive.enumerating import law

MORE_MESSAGE = "The question's probabilities give away more than the epsilon it states."
OTHER_MESSAGE = "The question's oracle is made for other answers than the question has."
NOT_PROBABILITIES = "The question's numbers are not probabilities."
LONG_MESSAGE = "An answer to the question would be longer than the 65,536 bytes a device sends."
NOT_WHOLE = "The question's numbers are not whole."
UNWRITTEN = "The question is not written as format 1 has it."


def ask_with(form, epsilon="1", **changes):
    return {"format": 1, "ask": "which", "of": form.get("size", 5), "epsilon": epsilon, "oracle": form, **changes}


# Those kept for comparison are held to the same, though no device answers for them.
ALL_ANSWERS = {"answers": EVERY_ANSWER, "losses": EVERY_LOSS}


def refused(question, **limits):
    limits = {"max_epsilon": 64, **ALL_ANSWERS, **limits}
    with pytest.raises(ValueError) as error:  # noqa: PT011
        client(question, [0, 1], **limits)
    with pytest.raises(ValueError) as empty:  # noqa: PT011
        client(question, [], **limits)
    assert str(empty.value) == str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", oracles())
def test_what_oracles_make_is_answered(name):
    for epsilon in ("0.001", "0.1", "1", "3", "20"):
        for size, pad in ((1, 1), (7, 3), (300, 2)):
            form = oracles()[name].make(Fraction(epsilon), size, pad=pad).form
            check(ask_with(form, epsilon), epsilon, losses=EVERY_LOSS)
        single = oracles()[name].make(Fraction(epsilon), 4, single=True).form
        check(ask_with(single, epsilon, ask="how-many", of=9, bins=[0, 1, 2, 5]), epsilon, losses=EVERY_LOSS)


@pytest.mark.parametrize("name", oracles())
def test_a_smaller_epsilon_than_the_numbers_have_is_caught(name):
    form = oracles()[name].make(Fraction(1), 20, pad=2).form
    assert refused(ask_with(form, "0.999")) == MORE_MESSAGE
    assert refused(ask_with(form, "0")) == refused(ask_with(form, "-100")) == "The question's epsilon is out of range."


@pytest.mark.parametrize(("pad", "loss"), [(2, 1.49), (5, 2.26), (10, 2.90), (20, 3.57)])
def test_a_shared_dummy_is_caught(pad, loss):
    """A3: with one dummy for all of the padding, an empty basket loses all of the enlarged epsilon."""
    form = oracles()["grr"].make(Fraction(1), 40 - pad, pad=pad).form
    assert log(compute_ratio(form)) == pytest.approx(1, abs=1e-9)
    # The same oracle domain of 40 symbols, of which one is the dummy.
    form_of_shared_dummies = {**form, "dummies": 1, "size": 39}
    assert log(compute_ratio(form_of_shared_dummies)) == pytest.approx(loss, abs=0.005)
    assert refused(ask_with(form_of_shared_dummies)) == MORE_MESSAGE
    if pad == 2:
        small_form = {**oracles()["grr"].make(Fraction(1), 2, pad=2).form, "dummies": 1, "size": 3}
        exact = [law(small_form, basket) for basket in ((), (0, 1))]
        largest_ratio = max(exact[0][report] / exact[1][report] for report in exact[0])
        assert largest_ratio == compute_ratio(small_form)


def test_a_shared_dummy_of_privset_is_caught():
    form = {**oracles()["privset"].make(Fraction(1), 20, pad=5).form, "dummies": 1}
    assert refused(ask_with(form)) == "The question's numbers are not those of a subset."


@pytest.mark.parametrize(("epsilon", "loss"), [("1", log(3)), ("0.5", log(2)), ("2", log(8))])
def test_too_many_buckets_with_a_fair_coin_are_caught(epsilon, loss):
    """A4: g = ceil(e^epsilon + 1) and p = 1/2 lose ln(ceil(e^epsilon))."""
    buckets = int(e ** float(epsilon)) + 2
    form = {**oracles()["olh"].make(Fraction(epsilon), 50).form, "buckets": buckets, "inside": str(WEIGHT_SCALE // 2)}
    assert log(compute_ratio(form)) == pytest.approx(loss, abs=1e-9)
    assert refused(ask_with(form, epsilon)) == MORE_MESSAGE


def test_a_wheel_that_is_covered_by_arcs_is_caught():
    form = oracles()["wheel"].make(Fraction(1), 50, pad=4).form
    assert refused(ask_with({**form, "arc": WORD // 4})) == NOT_PROBABILITIES


@pytest.mark.parametrize("name", oracles())
def test_numbers_that_were_tampered_with_are_caught(name):
    form = oracles()[name].make(Fraction(1), 20, pad=2).form
    for key in sorted(form.keys() & {"inside", "keep", "hit"}):
        convert = str if key == "inside" else int
        raised = int(form[key]) + (WORD - form[key] if key != "inside" else int(form[key])) // 4
        assert refused(ask_with({**form, key: convert(raised)})) == MORE_MESSAGE
        assert refused(ask_with({**form, key: convert(0)})) == NOT_PROBABILITIES
        assert refused(ask_with({**form, key: convert(WEIGHT_SCALE)})) == NOT_PROBABILITIES
        assert refused(ask_with({**form, key: float(form[key])})) == NOT_WHOLE
        assert refused(ask_with({**form, key: True})) == NOT_WHOLE
        assert refused(ask_with({**form, key: None})) == NOT_WHOLE
    assert refused(ask_with({**form, "pad": 0})) == NOT_PROBABILITIES
    assert refused(ask_with({**form, "dummies": 2, "oracle": "best"})) == (
        "This device does not know the oracle 'best': it is no part of format 1."
    )
    assert refused(ask_with({key: value for key, value in form.items() if key != "size"}, of=20)) == UNWRITTEN


def test_subsets_that_are_none_are_caught():
    for name in ("subset", "privset"):
        form = oracles()[name].make(Fraction(1), 6, pad=2).form
        for value_count in (0, 8, 20):
            assert (
                refused(ask_with({**form, "many": value_count})) == "The question's numbers are not those of a subset."
            )


@pytest.mark.parametrize("name", oracles())
def test_answers_the_oracle_has_no_place_for_are_caught(name):
    """A value beyond the oracle's size would be reported by its holders alone."""
    form = oracles()[name].make(Fraction(1), 20).form
    single = oracles()[name].make(Fraction(1), 3, single=True).form
    assert refused(ask_with(form, of=21)) == refused(ask_with(form, of=[[1, 2]] * 3)) == OTHER_MESSAGE
    assert refused(ask_with(single, ask="how-many", of=9, bins=[0, 1])) == OTHER_MESSAGE
    assert refused(ask_with(single, ask="how-many", of=9, bins=[1, 2, 3])) == OTHER_MESSAGE  # who holds none has no bin
    assert refused(ask_with(single, ask="how-many", of=9, bins=[0, 2, 1])) == OTHER_MESSAGE
    assert refused(ask_with(single, ask="prefix", of=[[1]], order=[1, 2], length=1)) == OTHER_MESSAGE
    assert refused(ask_with({**single, "pad": 2}, ask="prefix", of=[[1], [2]], order=[1, 2], length=1)) == OTHER_MESSAGE
    if name != "wheel":
        # Without a dummy, the empty-handed could not answer, and that would tell (A7).
        assert refused(ask_with(single, of=3)) == OTHER_MESSAGE


def test_what_only_some_baskets_trip_over_is_caught_before():
    form = oracles()["grr"].make(Fraction(1), 2).form
    assert refused(ask_with(form, of=[[0, [1]], 1])) == UNWRITTEN
    assert refused(ask_with(form, of=[0, "1"])) == NOT_WHOLE
    single = oracles()["grr"].make(Fraction(1), 2, single=True).form
    assert refused(ask_with(single, ask="prefix", of=[[1]], order=[1, None], length=1)) == NOT_WHOLE
    assert refused(ask_with(single, ask="prefix", of=[[1]], order=[1, 2], length="1")) == NOT_WHOLE
    assert refused(ask_with(single, ask="prefix", of=[[1]])) == UNWRITTEN
    assert refused(ask_with(single, ask="how-many", of=5, bins=[])) == UNWRITTEN


def test_mean_oracles_do_not_answer_for_items():
    for kind in means().values():
        assert refused(ask_with(kind.make(Fraction(1)).form)) == UNWRITTEN


def test_tampered_mean_oracles_are_caught():
    duchi, pm, hm = (means()[name].make(Fraction(1), 4).form for name in ("duchi", "pm", "hm"))
    for form in (
        {**duchi, "slope": WORD},
        {**pm, "window": 0},
        {**pm, "step": pm["step"] + 1},
        {**pm, "inside": str(WEIGHT_SCALE)},
        {**hm, "pm": duchi},
        {**hm, "pm": {**pm, "inside": "0"}},
    ):
        with pytest.raises(ValueError, match="The question's numbers are not"):
            compute_ratio(form)
    assert compute_ratio({**hm, "duchi": {**duchi, "slope": duchi["slope"] * 2}}) > 2 * compute_ratio(hm)


def test_limits_of_the_device():
    form = oracles()["olh"].make(Fraction("1.5"), 9).form
    question = ask_with(form, "3/2")
    assert refused(question, max_epsilon=1) == "The question asks for epsilon 1.5, and this device gives at most 1."
    # A fraction is a limit too: Python 3.11 cannot write one with a format of its own.
    half = "The question asks for epsilon 1.5, and this device gives at most 0.5."
    assert refused(question, max_epsilon=Fraction(1, 2)) == half
    question_of_delta = {**question, "delta": "1/100"}
    assert refused(question_of_delta, max_delta=Fraction(1, 1000)) == (
        "The question asks for delta 0.01, and this device gives at most 0.001."
    )
    assert client(question, [3], max_epsilon=1.5)
    assert refused({**question, "format": 2}) == "This device speaks format 1, and the question is in format 2."
    assert refused({}) == "This device speaks format 1, and the question is in format None."
    assert refused({**question, "ask": "why"}) == "This device does not know the question 'why'."
    assert refused({key: value for key, value in question.items() if key != "epsilon"}) == UNWRITTEN


def test_a_probability_of_failing_is_stated_and_allowed_or_refused():
    """A14: hashing that counts on sampling is never pure."""
    oracle = OLH.sampled(Fraction(2), 60, pad=20, delta=Fraction(1, 1000))
    question = ask_with(oracle.form, "2", delta=str(oracle.delta))
    assert 0 < compute_delta(oracle.form) == oracle.delta <= Fraction(1, 1000)
    assert refused(question).startswith("The question asks for delta 0.000")
    assert client(question, [1], max_epsilon=2, max_delta=0.001)
    assert refused(ask_with(oracle.form, "2"), max_delta=0.001) == MORE_MESSAGE  # it hides the probability
    assert refused({**question, "oracle": {**oracle.form, "share": 0}}, max_delta=0.001) == MORE_MESSAGE
    # With one dummy an empty basket puts all of its padding into one bucket, always.
    assert refused({**question, "oracle": {**oracle.form, "dummies": 1}}, max_delta=0.001) == MORE_MESSAGE


def test_counting_on_sampling_needs_all_dummies_to_differ():
    """The law of the empty basket, given a hash function that keeps the dummies apart."""
    oracle = OLH.sampled(Fraction(1), 3, pad=4, delta=Fraction(1, 2))
    assert oracle.share < oracle.pad
    assert oracle.form["dummies"] == 4
    seed = (2654435769, 12345)
    empty = law(oracle.form, (), seed)
    shared_law = law({**oracle.form, "dummies": 1}, (), seed)
    assert max(empty.values()) < max(shared_law.values()) == oracle.p_own


RELATIONS = {"of": [[0, 1], [1, 0], [1, 2]], "pairs": "together"}
WEIGHTS = {"left": [1, 2, 3], "right": [3, 2, 1], "low": 0, "high": 36}
# Every kind of question, and how many values an oracle is made for that it is crossed with.
KINDS = {
    "which": ({"ask": "which", "of": 3}, 3),
    "which itemsets": ({"ask": "which", "of": [1, [0, 2], [1, 2]]}, 3),
    "which relations": ({"ask": "which", **RELATIONS}, 3),
    "how-many": ({"ask": "how-many", "of": 9, "bins": [0, 1, 2]}, 3),
    "how many relations": ({"ask": "how-many", **RELATIONS, "bins": [0, 1, 3]}, 3),
    "prefix": ({"ask": "prefix", "order": [0, 1], "of": [[0], [1]], "length": 1}, 3),
    "cells": ({"ask": "cells", "of": [2, 0]}, 4),
    "valued": ({"ask": "valued", **RELATIONS, "absent": False}, 6),
    "valued with absent keys": ({"ask": "valued", **RELATIONS, "absent": True}, 6),
    "projection": ({"ask": "projection", "of": [0, 1, 2], "pairs": "together", **WEIGHTS}, 3),
    "projection of bonds": ({"ask": "projection", "of": [0, 1, [0, 1]], "pairs": "together", **WEIGHTS}, 3),
    "folded": ({"ask": "projection", "of": 8, "pairs": "folded", **WEIGHTS}, 3),
}
KINDS |= {
    f"{name}, {pair_kind}": ({**question, "pairs": pair_kind}, values)
    for name, (question, values) in KINDS.items()
    for pair_kind in ("after", "given")
    if question.get("pairs") == "together"
}
BASKETS = ([], [0], [2], [0, 1], [0, 1, 2], [7])
PAIRS = ([], [(0, 1)], [(0, 1), (1, 0), (1, 2), (2, 1)], [(7, 0), (0, 7)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*oracles(), *means()])
def test_a_question_is_answered_by_every_basket_alike_or_by_none(name, kind):
    """Crossing every question with every oracle, and with numbers another oracle has: refused, or answered by all."""
    asked_for, size = KINDS[kind]
    forms = [kind.make(Fraction(1)).form for kind in means().values()] if name in means() else []
    if name in oracles():
        pads = ((1, False), (2, False), (1, True))
        forms = [oracles()[name].make(Fraction(1), size, pad=pad, single=is_single).form for pad, is_single in pads]
    answered = False
    for form in forms:
        for changes in ({}, {"span": 10}, {"size": 3, "pad": 1, "dummies": 1}, {"size": 3, "pad": 1, "dummies": 0}):
            question = {"format": 1, "epsilon": "1", **asked_for, "oracle": {**form, **changes}}
            outcomes = set()
            for basket in BASKETS:
                for pairs in PAIRS if question.get("pairs") in ("after", "given") else [()]:
                    try:
                        client(
                            question,
                            basket,
                            max_epsilon=1,
                            **{question.get("pairs", "given"): pairs} if pairs else {},
                            **ALL_ANSWERS,
                        )
                        outcomes.add("")
                    except ValueError as error:
                        outcomes.add(str(error))
            assert len(outcomes) == 1, (form, changes)
            answered |= outcomes == {""}
    assert answered is ((asked_for["ask"] == "projection") is (name in means()))


def test_a_question_says_which_of_its_pairs_a_device_is_asked_for():
    form = means()["duchi"].make(Fraction(1), 1).form
    question = {
        **ask_with(form),
        "ask": "projection",
        "of": [0, 1],
        "left": [1, 0],
        "right": [0, 1],
        "low": 0,
        "high": 1,
    }
    given_pairs, after, words = [(0, 1)], [(1, 0)], bytes([0, 0, 0, 160])
    reports = {
        pair_kind: client(
            {**question, "pairs": pair_kind}, [], given=given_pairs, after=after, max_epsilon=1, take=lambda _: words
        )
        for pair_kind in ("given", "after")
    }
    assert reports == {"given": b'{"sign":1}', "after": b'{"sign":0}'}
    assert refused({**question, "pairs": "own"}) == UNWRITTEN


@pytest.mark.parametrize("name", ["left", "right", "low", "high"])
def test_numbers_that_take_longer_for_those_who_hold_them_are_refused(name):
    question, _ = KINDS["projection"]
    question = {**ask_with(means()["hm"].make(Fraction(1)).form), **question}
    check({**question, "left": [1 << 20, 0, -1 << 20], "low": 1 - (1 << 53), "high": (1 << 53) - 1}, 1)
    sign, limit = (-1 if name == "low" else 1), ((1 << 53) - 1 if name in ("low", "high") else 1 << 20)
    longer = sign * (limit + 1)
    message = refused({**question, name: longer if name in ("low", "high") else [longer, 1, 1]})
    assert message == "The question's weights or range are beyond what a device computes with."


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": "1/0"},
        {"epsilon": float("inf")},
        {"epsilon": 1},
        {"epsilon": "1" * 300},
        {"epsilon": "1e3000000"},
        {"epsilon": "1e-3000000"},
        {"epsilon": "1e0"},
        {"epsilon": " 1"},
        {"epsilon": "1_0"},
        {"of": [{}]},
        {"of": {}},
        {"of": None},
        {"oracle": []},
        {"pairs": "own"},
    ],
    ids=range(14),
)
def test_a_question_that_is_written_otherwise_is_refused_plainly(changes):
    form = oracles()["grr"].make(Fraction(1), 5).form
    assert refused({**ask_with(form), **changes}) in (UNWRITTEN, NOT_WHOLE)


def test_only_format_1_is_spoken():
    form = oracles()["grr"].make(Fraction(1), 5).form
    for spoken in (True, 1.0, "1", None, 2):
        message = f"This device speaks format 1, and the question is in format {spoken}."
        assert refused({**ask_with(form), "format": spoken}) == message
    with pytest.raises(ValueError, match=UNWRITTEN):
        check([], 1)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("olh", {"pad": 1 << 33}),
        ("olh", {"pad": 1 << 30, "share": 1 << 29}),
        ("hr", {"rows": 1 << 33}),
        ("privset", {"dummies": 10**8}),
        ("oue", {"size": 1 << 40}),
    ],
    ids=["olh", "sampled", "hr", "privset", "oue"],
)
def test_numbers_no_device_could_handle_are_refused_at_once(name, changes):
    form = {**oracles()[name].make(Fraction(1), 20, pad=2).form, **changes}
    assert refused(ask_with(form)) in (
        NOT_PROBABILITIES,
        "The question is about more than a device looks at.",
        LONG_MESSAGE,
    )


def test_pairs_may_come_as_lists():
    """As JSON has them: a device that holds some must not stop where one that holds none answers."""
    form = oracles()["grr"].make(Fraction(1), 1).form
    question = {**ask_with(form, of=[[0, 1]]), "pairs": "given"}
    client(question, [], max_epsilon=1, given=[])
    client(question, [0, 1], max_epsilon=1, given=[[0, 1]])


def test_a_ratio_is_the_larger_of_the_two_ways_round():
    assert symmetric_ratio(Fraction(1, 3)) == symmetric_ratio(Fraction(3)) == 3
