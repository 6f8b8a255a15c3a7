"""Samplers against the probabilities they claim, and against OpenDP's."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest
from scipy import stats

from discreet import MisuseError
from discreet.privacy.noise import coin, discrete_gaussian, discrete_laplace, short
from discreet.privacy.source import SimulationSource, SystemSource

# Seeds are fixed; every chi-square test below raises a false alarm once in a million.
ALARM = 1e-6


def agrees(drawn: np.ndarray, weight, reach: int) -> bool:
    """Compare draws with weights on -reach..reach and the two tails together."""
    inside = np.arange(-reach, reach + 1)
    far = np.arange(reach + 1, reach + 4000)
    weights = np.array([weight(int(x)) for x in inside])
    tail = 2 * sum(weight(int(x)) for x in far)
    expected = np.append(weights, tail) / (weights.sum() + tail) * len(drawn)
    seen = np.array([np.count_nonzero(drawn == x) for x in inside] + [np.count_nonzero(np.abs(drawn) > reach)])
    return stats.chisquare(seen, expected).pvalue > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(20)])
def test_discrete_laplace_has_its_law(scale):
    drawn = discrete_laplace(SimulationSource(1), scale, 200_000)
    assert agrees(drawn, lambda x: exp(-abs(x) / scale), max(2, int(3 * scale)))


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(2), Fraction(50, 3)])
def test_discrete_gaussian_has_its_law(variance):
    drawn = discrete_gaussian(SimulationSource(2), variance, 20_000)
    assert agrees(drawn, lambda x: exp(-x * x / (2 * variance)), max(1, int(2 * sqrt(variance))))


@pytest.mark.statistical
@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(12, 5)])
def test_coins_have_their_probability(exponent):
    source = SimulationSource(3)
    heads = sum(coin(source, exponent) for _ in range(20_000))
    assert stats.binomtest(heads, 20_000, exp(-exponent)).pvalue > ALARM


@pytest.mark.statistical
def test_like_opendp():
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l1_distance(T=int)
    theirs = np.array((space >> opendp.m.then_laplace(2.5))([0] * 20_000))
    ours = discrete_laplace(SystemSource(), Fraction(5, 2), 20_000)
    # Both sides are drawn anew each time; the test raises a false alarm once in a thousand million runs.
    edges = np.arange(-8, 9)
    table = [[np.count_nonzero(np.clip(x, -8, 8) == edge) for edge in edges] for x in (theirs, ours)]
    assert stats.chi2_contingency(table).pvalue > 1e-9


def test_no_noise_and_no_draws():
    source = SystemSource()
    assert discrete_laplace(source, Fraction(0), 3).tolist() == [0, 0, 0]
    assert discrete_gaussian(source, Fraction(0), 2).tolist() == [0, 0]
    assert len(discrete_laplace(source, Fraction(1), 0)) == 0


def test_long_scales_are_rounded_up():
    long = Fraction(10**30 + 1, 10**29)
    assert short(long) >= long
    assert short(long) - long < Fraction(1, 2**19)
    assert short(Fraction(7, 3)) == Fraction(7, 3)
    huge = Fraction(10**40 + 1, 10**25)
    assert short(huge) >= huge
    with pytest.raises(MisuseError, match="epsilon is too small"):
        short(Fraction(2**60))


def test_misuse():
    for draw in (discrete_laplace, discrete_gaussian):
        with pytest.raises(MisuseError, match="are 0 or more; -1 and 2 were given"):
            draw(SystemSource(), Fraction(-1), 2)
