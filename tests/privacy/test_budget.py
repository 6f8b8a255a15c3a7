from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from discreet import MisuseError
from discreet.privacy import Budget, Charge, compose, epsilon_for, exact, rho_for, rounded_up, shown


@pytest.mark.parametrize("text", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10), np.float64(0.1), "1e-1"])
def test_a_tenth_is_a_tenth(text):
    assert exact(text, "epsilon") == Fraction(1, 10)


@pytest.mark.parametrize("text", ["1e999999999", "1e-300", "-1e61"])
def test_numbers_beyond_all_reason_are_told_the_range(text):
    with pytest.raises(MisuseError) as caught:
        Budget.of(text)
    assert str(caught.value) == f"epsilon is a number between 10^-60 and 10^60; {text} was given."
    assert Budget.of(1, "0e-99").delta == 0


@pytest.mark.parametrize("text", ["nan", float("nan"), float("inf"), "", "one", None, True, "1/0", [1]])
def test_what_is_not_a_number(text):
    with pytest.raises(MisuseError, match=r"epsilon is a number such as 1, 0.5 or 1/3; .* was given"):
        Budget.of(text)


@pytest.mark.parametrize(
    ("epsilon", "delta", "message"),
    [
        (0, 0, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
        ("-0.5", 0, "epsilon must be over 0, such as 0.5 or 1; -0.5 was given."),
        (
            1,
            1,
            "delta must be 0 or more and below 1, such as 1e-6, far below one over the number of people; 1 was given.",
        ),
        (
            1,
            -1,
            "delta must be 0 or more and below 1, such as 1e-6, far below one over the number of people; -1 was given.",
        ),
    ],
)
def test_budgets_out_of_range(epsilon, delta, message):
    with pytest.raises(MisuseError) as raised:
        Budget.of(epsilon, delta)
    assert str(raised.value) == message


@pytest.mark.parametrize("epsilon", ["0.01", "0.05", "0.5", "1", "8"])
def test_parts_of_a_pure_budget_add_up_exactly(epsilon):
    total_epsilon = Budget.of(epsilon).epsilon
    parts = [Charge.pure("part", total_epsilon * share) for share in (Fraction(1, 3), Fraction(1, 6), Fraction(1, 2))]
    assert compose(parts) == (total_epsilon, 0)


def test_gaussian_noise_has_no_pure_loss():
    with pytest.raises(MisuseError) as raised:
        compose([Charge.pure("a count", Fraction(1)), Charge.gaussian("noise on cells", Fraction(1, 10))])
    assert str(raised.value) == "noise on cells has no pure loss: it can only be accounted with a delta."


def test_own_deltas_come_on_top():
    tiny = Fraction(1, 10**9)
    _, delta = compose([Charge.pure("threshold", Fraction(1), tiny)], Fraction(1, 10**6))
    assert delta == Fraction(1, 10**6) + tiny
    assert compose([Charge.pure("threshold", Fraction(1), tiny)]) == (1, tiny)


class TestConversion:
    @pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(5)])
    @pytest.mark.parametrize("delta", [Fraction(1, 10**4), Fraction(1, 10**6), Fraction(1, 10**12)])
    def test_valid_and_no_worse_than_the_textbook(self, rho, delta):
        epsilon = float(epsilon_for(rho, delta))
        textbook = float(rho) + 2 * sqrt(float(rho) * log(1 / float(delta)))
        assert epsilon <= textbook
        # No (epsilon, delta) can be claimed that Gaussian noise of this rho does not have.
        assert epsilon >= self.gaussian(float(rho), float(delta)) - 1e-9

    @pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 10), Fraction(5)])
    def test_it_is_the_least_of_the_formula(self, rho):
        from scipy.optimize import minimize_scalar

        delta = Fraction(1, 10**6)

        def formula(power: float) -> float:
            alpha = 1 + exp(power)
            return alpha * rho - log(alpha * delta) / (alpha - 1) + log(1 - 1 / alpha)

        least_epsilon = minimize_scalar(formula, bounds=(-6, 12), method="bounded", options={"xatol": 1e-9}).fun
        assert float(epsilon_for(rho, delta)) == pytest.approx(least_epsilon, rel=1e-7)

    @staticmethod
    def gaussian(rho: float, delta: float) -> float:
        """The exact epsilon of Gaussian noise (Balle, Wang 2018), found by bisection."""
        from scipy.stats import norm

        sigma = 1 / sqrt(2 * rho)
        low, high = 0.0, 200.0
        for _ in range(200):
            middle = (low + high) / 2
            a, b = 1 / (2 * sigma) - middle * sigma, -1 / (2 * sigma) - middle * sigma
            if norm.cdf(a) - exp(middle) * norm.cdf(b) > delta:
                low = middle
            else:
                high = middle
        return high

    @settings(max_examples=25)
    @given(st.fractions(Fraction(1, 100), 8), st.integers(3, 15))
    def test_rho_fits_and_fills_its_budget(self, epsilon, digits):
        delta = Fraction(1, 10**digits)
        rho = rho_for(epsilon, delta)
        assert epsilon_for(rho, delta) <= epsilon
        assert epsilon_for(rho * Fraction(1001, 1000) + Fraction(1, 10**11), delta) > epsilon
        assert Budget(epsilon=epsilon, delta=delta).rho == rho

    def test_nothing_costs_nothing(self):
        assert epsilon_for(Fraction(0), Fraction(1, 10)) == 0

    def test_pure_budgets_have_no_rho(self):
        with pytest.raises(MisuseError, match="give delta= to account by zCDP"):
            _ = Budget.of(1).rho

    def test_bad_delta(self):
        with pytest.raises(MisuseError, match="delta must lie between 0 and 1; 0 was given"):
            epsilon_for(Fraction(1), Fraction(0))


def test_bounds_are_rounded_up():
    assert rounded_up(Fraction(1, 3)) - Fraction(1, 3) < Fraction(1, 10**12)
    assert rounded_up(Fraction(1, 3)) > Fraction(1, 3)
    assert rounded_up(Fraction(1, 2)) == Fraction(1, 2)


def test_what_charges_cost_by_zcdp():
    half = Fraction(1, 2)
    assert Charge.pure("noise", half).rho == Fraction(1, 8)
    assert Charge.bounded_range("a choice", half).rho == Fraction(1, 32)
    assert Charge.gaussian("noise", half).rho == half


def test_charges_are_not_negative():
    with pytest.raises(MisuseError, match="the one for a gift is"):
        Charge.pure("a gift", Fraction(-1))


def test_fractions_are_shown_as_written():
    assert [shown(exact(text, "x")) for text in ("0.5", "1", "1/3", "1e-6")] == ["0.5", "1", "1/3", "1e-06"]
