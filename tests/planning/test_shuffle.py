"""What shuffling gives: the bound holds where both laws can be enumerated, and is rounded up."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.errors import MisuseError
from discreet.planning import shuffled


def law_of_ones(holders: int, people: int, keep: float) -> np.ndarray:
    """Return the law of how many of these people's reports say 1: all that a shuffled batch of two values shows."""
    law = np.ones(1)
    for chance in [keep] * holders + [1 - keep] * (people - holders):
        law = np.convolve(law, [1 - chance, chance])
    return law


def divergence(first_law: np.ndarray, second_law: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(first_law - exp(epsilon) * second_law, 0).sum())


def test_the_law_of_a_batch_is_that_of_its_reports_in_any_order():
    keep = exp(1) / (1 + exp(1))
    law = np.zeros(4)
    for reports in product((0, 1), repeat=3):
        chances = [keep if report == bit else 1 - keep for report, bit in zip(reports, (1, 0, 0), strict=True)]
        law[sum(reports)] += np.prod(chances)
    assert np.allclose(law, law_of_ones(1, 3, keep))


@pytest.mark.parametrize(
    ("epsilon", "people", "delta"),
    [("0.1", 60, "0.1"), ("0.5", 100, "0.1"), ("0.5", 300, "0.001"), ("1", 400, "0.01"), ("2", 800, "0.01")],
)
def test_randomised_response_keeps_what_the_bound_says(epsilon, people, delta):
    bound = shuffled(epsilon, people=people, delta=delta)
    assert bound <= Fraction(epsilon)
    keep = exp(float(epsilon)) / (1 + exp(float(epsilon)))
    worst_divergence = 0.0
    for holders in range(0, people, max(1, people // 16)):
        before, after = law_of_ones(holders, people, keep), law_of_ones(holders + 1, people, keep)
        worst_divergence = max(
            worst_divergence, divergence(before, after, float(bound)), divergence(after, before, float(bound))
        )
    assert worst_divergence <= float(delta)
    # Shuffling tells something in the end: no bound of 0 would do.
    assert max(divergence(law_of_ones(0, people, keep), law_of_ones(1, people, keep), 0.0), worst_divergence) > 0


@given(st.fractions("1/100", 6, max_denominator=100), st.integers(1, 10**9), st.integers(1, 12))
def test_it_is_the_formula_rounded_up(epsilon, people, digits):
    delta = Fraction(1, 10**digits)
    bound = shuffled(epsilon, people=people, delta=delta)
    with localcontext() as context:
        context.prec = 90
        local, people_count = Decimal(epsilon.numerator) / Decimal(epsilon.denominator), Decimal(people)
        growth, tolerance = local.exp(), Decimal(1) / 10**digits
        if growth * 16 * (2 / tolerance).ln() > people_count:
            assert bound == epsilon
            return
        shuffled_epsilon = 8 * (growth * (4 / tolerance).ln() / people_count).sqrt() + 8 * growth / people_count
        exact = min(local, (1 + (growth - 1) / (growth + 1) * shuffled_epsilon).ln())
        excess = Decimal(bound.numerator) / Decimal(bound.denominator) - exact
        assert Decimal(0) <= excess <= Decimal("1.01e-12")


@pytest.mark.parametrize(
    ("epsilon", "people", "central"),
    [
        (1, 50_000, 0.115),
        (2, 50_000, 0.286),
        (4, 50_000, 0.762),
        (1, 10**6, 0.027),
        (2, 10**6, 0.071),
        (4, 10**6, 0.226),
    ],
)
def test_numbers_that_were_computed_elsewhere(epsilon, people, central):
    assert float(shuffled(epsilon, people=people, delta="1e-8")) == pytest.approx(central, abs=5e-4)


def test_where_it_says_nothing_the_report_alone_counts():
    assert shuffled(5, people=10, delta="1e-6") == 5
    assert shuffled("1/3", people=1, delta="1e-6") == Fraction(1, 3)
    assert shuffled(10**6, people=10**9, delta="1e-6") == 10**6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"people": 100, "delta": 0}, "Shuffling gives an epsilon at a delta over 0, such as delta=1e-8; 0 was given."),
        ({"people": 0, "delta": "1e-8"}, "people is 0, but it must be a whole number, 1 or more."),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(MisuseError) as error:
        shuffled(1, **arguments)
    assert str(error.value) == message
