"""The promise of `laplace`: the tail of discrete Laplace noise against the gamma that is stated."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from discreet.curator.steps import slack


def exceedance(rate: float, smallest_noise: int) -> float:
    """Return the probability of noise of at least this size, by adding up its law."""
    law = np.exp(-rate * np.abs(np.arange(-4000, 4001)))
    law /= law.sum()
    return float(law[np.abs(np.arange(-4000, 4001)) >= smallest_noise].sum())


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0, 2.0, 7.0])
@pytest.mark.parametrize("smallest_noise", [1, 2, 5, 9])
def test_the_tail_has_two_over_one_plus_q(rate, smallest_noise):
    assert exceedance(rate, smallest_noise) == pytest.approx(
        2 * exp(-rate * smallest_noise) / (1 + exp(-rate)), rel=1e-9
    )


@settings(max_examples=300)
@given(
    count_number=st.integers(1, 10**13),
    doubt=st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1, 1000)]),
    rate=st.fractions(Fraction(1, 100), 10, max_denominator=1000),
)
def test_all_noises_together_fail_as_seldom_as_is_promised(count_number, doubt, rate):
    gamma = slack("laplace", 1, count_number, doubt, rate)
    decay = exp(-rate)
    assert count_number * 2 * decay ** (gamma // 2 + 1) / (1 + decay) <= doubt * (1 + 1e-9)


def test_the_half_step_is_needed():
    # Without it the factor 2 / (1 + q) would break the promise: at gamma / 2 itself the tail may be over rho / M.
    assert any(
        count_number * exceedance(2.0, slack("laplace", 1, count_number, Fraction(1, 10), Fraction(2)) // 2) > 0.1
        for count_number in range(1, 200)
    )
