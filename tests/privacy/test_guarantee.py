from __future__ import annotations

import json
import re
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from math import exp
from typing import get_args

import pytest
from scipy.stats import norm

from discreet import InputError, MisuseError
from discreet.privacy import Budget, Charge, Guarantee, Neighbours, Relation, serious
from discreet.results import RELATIONS

CHARGES = (Charge.pure("noise on 3 counts", Fraction(1, 3)), Charge.bounded_range("100 picks", Fraction(2, 3)))


def promise(epsilon=1, delta=0, charges=(), **options):
    return Guarantee.of(Budget.of(epsilon, delta), charges, **options)


def test_the_cap_is_stated_and_not_what_was_spent():
    for charges in ((), CHARGES[:1], CHARGES):
        guarantee = promise(charges=charges)
        assert (guarantee.epsilon, guarantee.delta, guarantee.rho) == (1, 0, None)
        assert str(guarantee) == "central differential privacy, add or remove one person, epsilon = 1"
        guarantee = promise(delta="1e-6", charges=(Charge.gaussian("cells", Fraction(1, 50)),) if charges else ())
        assert (guarantee.epsilon, guarantee.delta) == (1, Fraction(1, 10**6))
        assert guarantee.rho == Budget.of(1, "1e-6").rho
        assert str(guarantee).endswith("epsilon = 1, delta = 1e-06")


@pytest.mark.parametrize(
    ("budget", "charges", "own_deltas"),
    [
        (Budget.of("0.99"), CHARGES, 0),
        (Budget.of(1, "1e-6"), [Charge.gaussian("cells", Budget.of(1, "1e-6").rho + Fraction(1, 10**12))], 0),
        (Budget.of(1, "1e-6"), [Charge.pure("found", Fraction(1, 2), Fraction(2, 10**6))], Fraction(1, 10**6)),
    ],
)
def test_more_than_the_cap_is_no_promise(budget, charges, own_deltas):
    with pytest.raises(AssertionError, match="a release has cost more than its budget"):
        Guarantee.of(budget, charges, discovery_delta=Fraction(own_deltas))


def test_in_words():
    guarantee = promise(charges=CHARGES, public=("the list of items",), assumed=("one person has one row",))
    assert guarantee.in_words() == (
        "Whatever anyone concludes from this result about one person, they would have concluded with a probability at "
        "most 2.72 times larger or smaller had that person's data not been there. It rests on what was declared: one "
        "person has one row. Taken for public knowledge, and not protected: the list of items."
    )
    other_guarantee = promise(delta="0.001", neighbours=Neighbours.REPLACE)
    assert other_guarantee.in_words(curve=False) == (
        "Take any conclusion about one person that anyone may draw from this result. The probability that they draw it "
        "is at most 2.72 times the probability had that person's data been anything else, plus 0.001; and the same the "
        "other way round. Losses were added up by zero-concentrated differential privacy, rho = 0.0593903."
    )
    assert other_guarantee.in_words().endswith(
        "; at other deltas epsilon is 1.44 at 1e-05, 1.78 at 1e-07, 2.07 at 1e-09, 2.43 at 1e-12."
    )
    assert other_guarantee.in_words(simulated=True).startswith(
        "This result protects nobody. A study that went like it promises: take any conclusion about one person that "
        "anyone may draw from it."
    )


@pytest.mark.parametrize("epsilon", ["0.2", "0.1", "1/3", "1", "2", "3.3", "20"])
def test_at_most_is_rounded_up(epsilon):
    match = re.search(r"at most (\S+) times", promise(epsilon).in_words())
    assert match is not None
    assert exp(float(Fraction(epsilon))) <= Decimal(match[1]) <= Decimal(exp(float(Fraction(epsilon))) * 1.01)


def test_numbers_of_the_promise_are_rounded_up():
    third = promise("0.333333333333333333", "0.000000333333333333333333")
    match = re.fullmatch(r".*epsilon = (\S+), delta = (\S+)", str(third))
    assert match is not None
    assert Fraction(match[1]) >= third.epsilon
    assert Fraction(match[2]) >= third.delta


def excess(sigma, epsilon):
    """Return the exact delta of Gaussian noise on a count at an epsilon (Balle, Wang 2018)."""
    upper, lower = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
    return norm.cdf(upper) - exp(epsilon) * norm.cdf(lower)


def test_the_sentence_about_delta_is_true_where_the_former_was_not():
    # "Except with a probability of delta" is false of Gaussian noise; "plus delta" is what is proved, at every delta.
    guarantee = promise(1, "1e-6")
    sigma = float(1 / (2 * guarantee.rho)) ** 0.5
    more_than_epsilon = norm.sf(sigma - 1 / (2 * sigma))  # of the privacy loss, under the data set with the person
    assert more_than_epsilon > 2e-6
    for delta, epsilon in guarantee.curve():
        assert excess(sigma, float(epsilon)) <= float(delta)
    assert [delta for delta, _ in guarantee.curve()] == [Fraction(1, 10**power) for power in (3, 5, 6, 7, 9, 12)]


def test_epsilon_at_other_deltas():
    guarantee = promise(1, "1e-6", discovery_delta=Fraction(1, 2 * 10**6))
    assert guarantee.epsilon_at(Fraction(1, 10**6)) <= 1
    with pytest.raises(MisuseError, match="holds for a delta over 5e-07 and below 1"):
        guarantee.epsilon_at(Fraction(1, 10**7))
    pure = promise(1)
    assert pure.epsilon_at(Fraction(1, 10**9)) == 1
    assert pure.curve() == []


def test_as_plain_values_it_is_whole_and_exact():
    for guarantee in (
        promise(charges=CHARGES, public=("n",), assumed=("that",)),
        promise(1, "1e-5", [Charge.gaussian("cells", Fraction(1, 70))], model="local"),
        promise(1, "1e-5", discovery_delta=Fraction(1, 10**6)),
        promise(neighbours=Neighbours.REPLACE),
    ):
        document = json.loads(json.dumps(guarantee.to_dict()))
        assert document.keys() == {field.name for field in fields(Guarantee)}
        assert (document["model"], document["unit"], document["neighbours"]) == (
            guarantee.model,
            "person",
            str(guarantee.neighbours),
        )
        assert (tuple(document["public"]), tuple(document["assumed"])) == (guarantee.public, guarantee.assumed)
        for name in ("epsilon", "delta", "discovery_delta"):
            assert Fraction(document[name]) == getattr(guarantee, name)
        assert (document["rho"] and Fraction(document["rho"])) == guarantee.rho
        assert [
            Charge(
                what=charge["what"],
                epsilon=charge["epsilon"] and Fraction(charge["epsilon"]),
                rho=Fraction(charge["rho"]),
                delta=Fraction(charge["delta"]),
            )
            for charge in document["charges"]
        ] == list(guarantee.charges)


def test_the_relation_is_kept_by_its_name_and_not_by_its_words():
    assert promise(neighbours=Neighbours.REPLACE).to_dict()["neighbours"] == "replace"
    assert Neighbours.parse_stored("replace one person") is Neighbours.REPLACE


def test_the_relations_are_those_that_are_typed_and_said():
    assert tuple(Neighbours) == get_args(Relation) == tuple(RELATIONS)


@pytest.mark.parametrize(
    ("epsilon", "delta", "people", "message"),
    [
        (
            "20.1",
            0,
            None,
            "epsilon is at most 20: an epsilon of 20.1 lets one person's data make a result",
        ),
        (1, "0.0011", None, "delta is at most 0.001: with a delta of 0.0011, giving away the whole basket"),
        (1, "0.0009", 2000, "delta is at most one over the number of people, 2,000: with a delta of 0.0009"),
    ],
)
def test_absurd_promises_are_made_only_for_who_says_so(epsilon, delta, people, message):
    budget = Budget.of(epsilon, delta)
    with pytest.raises(MisuseError) as raised:
        serious(budget, False, people)
    assert str(raised.value).startswith(message)
    assert str(raised.value).endswith("If it is really meant, say so with really=True.")
    assert serious(budget, True, people) is budget


def test_serious_promises_are_made():
    for epsilon, delta, people in ((20, 0, None), (1, "0.001", None), (1, "0.0005", 2000), ("0.01", "1e-9", 10**8)):
        assert serious(Budget.of(epsilon, delta), False, people).epsilon == Fraction(epsilon)


@pytest.mark.parametrize("number", ["1_0", "1_0/3", "1/1_0", "٣", "1e1_0", "0x1", "", " ", "1 0", "²", "½"])
def test_what_is_no_number(number):
    with pytest.raises(MisuseError, match=r"epsilon is a number such as 1, 0\.5 or 1/3"):
        Budget.of(number)


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (" 1 ", 1),
        ("1/3", Fraction(1, 3)),
        ("1 / 3", Fraction(1, 3)),
        (".5", Fraction(1, 2)),
        ("1.", 1),
        ("5e-1", Fraction(1, 2)),
        ("+2", 2),
    ],
)
def test_what_is_a_number(number, value):
    assert Budget.of(number).epsilon == value


def test_a_huge_epsilon_is_not_made_smaller():
    assert "at most e^1000 times" in promise(1000).in_words()


def test_where_finding_takes_part_of_delta_other_deltas_are_told_too():
    half = Fraction(1, 2000)
    guarantee = promise(1, "0.001", discovery_delta=half)
    assert "at other deltas epsilon is ." not in guarantee.in_words()
    assert all(delta > half for delta, _ in guarantee.curve())
    assert len(guarantee.curve()) > 3


def test_losses_are_written_as_numbers():
    assert "epsilon = 20" in str(promise("19.9999999999999"))


@pytest.mark.parametrize(
    "guarantee",
    [
        Guarantee.of(Budget.of("1/3"), [Charge.pure("a", Fraction(1, 3))], public=("items",), assumed=("trust",)),
        Guarantee.of(Budget.of(1, "1e-6"), [Charge.gaussian("b", Fraction(1, 50))]),
        Guarantee.of(Budget.of(2), [], neighbours=Neighbours.REPLACE, model="local"),
    ],
)
def test_a_promise_is_read_as_it_was_written(guarantee):
    assert Guarantee.from_dict(json.loads(json.dumps(guarantee.to_dict()))) == guarantee


def test_a_promise_of_a_file_that_names_no_steps():
    document = {"model": "central", "neighbours": "add-remove", "epsilon": "1/2"}
    (charge,) = Guarantee.from_dict(document).charges
    assert (charge.what, charge.epsilon) == ("steps that the file does not name", Fraction(1, 2))


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "-1"},
        {"epsilon": "1e999999999"},
        {"epsilon": None},
        {"delta": "1"},
        {"model": "any"},
        {"neighbours": "none"},
        {"charges": 3},
        {"charges": [{"what": "a", "epsilon": "x", "rho": "0"}]},
        {"rho": [1]},
    ],
)
def test_a_damaged_promise_is_refused(change):
    document = {"model": "central", "neighbours": "add-remove", "epsilon": "1", "delta": "0"} | change
    with pytest.raises(InputError, match=r"^The guarantee of this result cannot be read: it was changed or damaged\.$"):
        Guarantee.from_dict(document)
