"""The promise of `laplace`: the tail of discrete Laplace noise against the gamma that is stated."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from discreet.curator.steps import slack


def beyond(rate: float, least: int) -> float:
    """The probability of noise at least so far from 0, by adding up its law."""
    law = np.exp(-rate * np.abs(np.arange(-4000, 4001)))
    law /= law.sum()
    return float(law[np.abs(np.arange(-4000, 4001)) >= least].sum())


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0, 2.0, 7.0])
@pytest.mark.parametrize("least", [1, 2, 5, 9])
def test_the_tail_has_two_over_one_plus_q(rate, least):
    assert beyond(rate, least) == pytest.approx(2 * exp(-rate * least) / (1 + exp(-rate)), rel=1e-9)


@settings(max_examples=300)
@given(
    many=st.integers(1, 10**13),
    doubt=st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1, 1000)]),
    rate=st.fractions(Fraction(1, 100), 10, max_denominator=1000),
)
def test_all_noises_together_fail_as_seldom_as_is_promised(many, doubt, rate):
    gamma = slack("laplace", 1, many, doubt, rate)
    decay = exp(-rate)
    assert many * 2 * decay ** (gamma // 2 + 1) / (1 + decay) <= doubt * (1 + 1e-9)


def test_the_half_step_is_needed():
    # Without it the factor 2 / (1 + q) would break the promise: at gamma / 2 itself the tail may be over rho / M.
    assert any(
        many * beyond(2.0, slack("laplace", 1, many, Fraction(1, 10), Fraction(2)) // 2) > 0.1 for many in range(1, 200)
    )
