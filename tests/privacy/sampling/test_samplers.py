"""Samplers against the probabilities they claim, and against OpenDP's."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, isqrt, sqrt

import numpy as np
import pytest
from scipy import stats

from discreet import MisuseError
from discreet.privacy.sampling import (
    SimulationSource,
    Source,
    SystemSource,
    _samplers as samplers,
    discrete_gaussian,
    discrete_laplace,
    shorten_fraction,
)
from discreet.privacy.sampling._samplers import coin

# Seeds are fixed; every chi-square test below raises a false alarm once in a million.
ALARM = 1e-6


def agrees(sample: np.ndarray, weight, reach: int) -> bool:
    """Compare draws with weights on -reach..reach and the two tails together."""
    inside = np.arange(-reach, reach + 1)
    far_values = np.arange(reach + 1, reach + 4000)
    weights = np.array([weight(int(x)) for x in inside])
    tail = 2 * sum(weight(int(x)) for x in far_values)
    expected = np.append(weights, tail) / (weights.sum() + tail) * len(sample)
    observed = np.array([np.count_nonzero(sample == x) for x in inside] + [np.count_nonzero(np.abs(sample) > reach)])
    return stats.chisquare(observed, expected).pvalue > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(20)])
def test_discrete_laplace_has_its_law(scale):
    sample = discrete_laplace(SimulationSource(1), scale, 200_000)
    assert agrees(sample, lambda x: exp(-abs(x) / scale), max(2, int(3 * scale)))


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1, 3), Fraction(1), Fraction(2), Fraction(50, 3)])
def test_discrete_gaussian_has_its_law(variance):
    sample = discrete_gaussian(SimulationSource(2), variance, 100_000)
    assert agrees(sample, lambda x: exp(-x * x / (2 * variance)), max(1, int(2 * sqrt(variance))))


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [Fraction(1234, 7), Fraction(10**6), Fraction(10**18 + 1, 10**9)])
def test_wide_discrete_gaussian_has_its_law(variance):
    """In twenty bins of about equal probability."""
    sample = discrete_gaussian(SimulationSource(4), variance, 100_000)
    edges = np.floor(stats.norm.ppf(np.arange(1, 20) / 20) * sqrt(variance)) + 0.5
    inside = np.arange(-12 * isqrt(int(variance)), 12 * isqrt(int(variance)) + 1)
    weights = np.exp(-(inside.astype(np.float64) ** 2) / (2 * float(variance)))
    expected = np.bincount(np.searchsorted(edges, inside), weights)
    observed = np.bincount(np.searchsorted(edges, sample), minlength=20)
    assert stats.chisquare(observed, expected / expected.sum() * len(sample)).pvalue > ALARM


@pytest.mark.statistical
def test_batches_change_nothing(monkeypatch):
    monkeypatch.setattr(samplers, "_AT_ONCE", 50)
    gaussian = discrete_gaussian(SimulationSource(5), Fraction(3), 3_000)
    assert agrees(gaussian, lambda x: exp(-x * x / 6), 3)
    laplace = discrete_laplace(SimulationSource(5), Fraction(3), 3_000)
    assert agrees(laplace, lambda x: exp(-abs(x) / 3), 6)


class SeparateSource(SimulationSource):
    """A source whose single bits come from elsewhere, so that drawing them does not move the words."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.elsewhere = SimulationSource(seed + 1)

    def bits(self, count: int) -> int:
        return self.elsewhere.bits(count)


@pytest.mark.parametrize(
    "variance", [Fraction(1, 10**9), Fraction(1, 3), Fraction(2), Fraction(10**30 + 7, 10**29), Fraction(10**9)]
)
def test_floating_point_decides_as_exact_arithmetic_does(monkeypatch, variance):
    """With a margin of 1 every proposal is looked at exactly; the same words give the same draws."""
    exactly = []
    decays = samplers._is_below_exponential
    monkeypatch.setattr(samplers, "_is_below_exponential", lambda *given: exactly.append(1) or decays(*given))
    quickly = discrete_gaussian(SeparateSource(6), variance, 400)
    assert len(exactly) == 0  # it happens twice in a thousand million proposals
    monkeypatch.setattr(samplers, "_MARGIN", 1.0)
    assert discrete_gaussian(SeparateSource(6), variance, 400).tolist() == quickly.tolist()
    assert len(exactly) >= 400


class ScriptedSource(Source):
    """A source of given words, followed by bits that are all alike."""

    simulated = True

    def __init__(self, scripted_words: list[int], bit: int) -> None:
        super().__init__()
        self.word_array, self.bit = np.array(scripted_words, np.uint64), bit

    def words(self, count: int) -> np.ndarray:
        assert count == len(self.word_array)
        return self.word_array

    def bits(self, count: int) -> int:
        return self.bit * (2**count - 1)


def chance(variance: Fraction, proposal: int) -> Fraction:
    """Return the probability of keeping a proposal, to 60 digits."""
    scale = isqrt(int(variance)) + 1
    exponent = (abs(proposal) - variance / scale) ** 2 / (2 * variance)
    with localcontext(prec=60):
        return Fraction((-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


WIDTHS = [
    Fraction(1, 2**100),
    Fraction(1, 3),
    Fraction(2),
    Fraction(999_999),
    Fraction(10**30 + 1, 10**29),
    Fraction(2**105 - 3, 5),
]


@pytest.mark.parametrize("variance", WIDTHS)
def test_numbers_at_the_edge_are_looked_at_closely(variance):
    """A word right at the probability leaves it to the bits that follow; its neighbours do not."""
    scale = isqrt(int(variance)) + 1
    proposals = np.array([0, scale, -scale, 2 * scale + 1], np.int64)
    edge = [int(chance(variance, int(y)) * 2**64) for y in proposals]
    inside = [0 < word < 2**64 - 1 for word in edge]
    for bit in (0, 1):
        for step, is_accepted in ((-1, True), (0, bit == 0), (1, False)):
            words = [word + step if use else 2**63 for word, use in zip(edge, inside, strict=True)]
            accepted = samplers._accept_proposals(ScriptedSource(words, bit), proposals, variance, scale)
            assert (accepted == is_accepted)[inside].all()


@pytest.mark.parametrize("variance", WIDTHS)
def test_floating_point_errs_by_less_than_the_proof_says(monkeypatch, variance):
    """A margin a thousand times narrower would do: words 2e-12 beside the probability are told apart without help."""
    monkeypatch.setattr(samplers, "_MARGIN", 1e-12)
    monkeypatch.setattr(samplers, "_is_below_exponential", lambda *given: pytest.fail("it should not be close"))
    scale = isqrt(int(variance)) + 1
    generator = np.random.default_rng(8)
    proposals = np.floor(generator.standard_exponential(1003) * generator.choice([0.5, 2, 6], 1003) * scale)
    proposals = proposals.astype(np.int64) * generator.choice([-1, 1], 1003)
    for side in (-1, 1):
        near_words = [(y, int((chance(variance, y) + side * Fraction(2, 10**12)) * 2**64)) for y in proposals.tolist()]
        near_words = [(y, word) for y, word in near_words if 0 < word < 2**64]
        assert near_words
        proposed, words = map(list, zip(*near_words, strict=True))
        accepted = samplers._accept_proposals(ScriptedSource(words, 0), np.array(proposed, np.int64), variance, scale)
        assert accepted.all() if side < 0 else not accepted.any()


@pytest.mark.statistical
@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(12, 5)])
def test_coins_have_their_probability(exponent):
    source = SimulationSource(3)
    heads = sum(coin(source, exponent) for _ in range(20_000))
    assert stats.binomtest(heads, 20_000, exp(-exponent)).pvalue > ALARM


def alike(theirs: np.ndarray, ours: np.ndarray) -> bool:
    """Compare two samples; both are drawn anew each time, so this raises a false alarm once in a thousand million."""
    edges = np.arange(-8, 9)
    table = [[np.count_nonzero(np.clip(x, -8, 8) == edge) for edge in edges] for x in (theirs, ours)]
    return stats.chi2_contingency(table).pvalue > 1e-9


@pytest.mark.statistical
def test_like_opendp():
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l1_distance(T=int)
    theirs = np.array((space >> opendp.m.then_laplace(2.5))([0] * 20_000))
    ours = discrete_laplace(SystemSource(), Fraction(5, 2), 20_000)
    assert alike(theirs, ours)
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l2_distance(T=float)
    theirs = np.array((space >> opendp.m.then_gaussian(2.5))([0] * 20_000))
    assert alike(theirs, discrete_gaussian(SystemSource(), Fraction(25, 4), 20_000))


def test_no_noise_and_no_draws():
    source = SystemSource()
    assert discrete_laplace(source, Fraction(0), 3).tolist() == [0, 0, 0]
    assert discrete_gaussian(source, Fraction(0), 2).tolist() == [0, 0]
    assert len(discrete_laplace(source, Fraction(1), 0)) == 0
    assert len(discrete_gaussian(source, Fraction(1), 0)) == 0


def test_long_scales_are_rounded_up():
    long_scale = Fraction(10**30 + 1, 10**29)
    assert shorten_fraction(long_scale) >= long_scale
    assert shorten_fraction(long_scale) - long_scale < Fraction(1, 2**19)
    assert shorten_fraction(Fraction(7, 3)) == Fraction(7, 3)
    huge = Fraction(10**40 + 1, 10**25)
    assert shorten_fraction(huge) >= huge
    with pytest.raises(MisuseError, match="epsilon is too small"):
        shorten_fraction(Fraction(2**60))


def test_long_variances_are_rounded_up():
    for long_variance in (Fraction(10**60 + 1, 10**59), Fraction(10**40 + 1, 10**33 + 7), Fraction(10**60 + 1, 10**30)):
        rounded = shorten_fraction(long_variance, samplers._LONGEST_VARIANCE)
        assert rounded >= long_variance
        assert rounded - long_variance < 1 if long_variance > 2**80 else rounded - long_variance <= Fraction(1, 2**20)
        assert max(rounded.numerator, rounded.denominator) < 2**106
    exact = Fraction(10**30 + 1, 10**29)
    assert shorten_fraction(exact, samplers._LONGEST_VARIANCE) == exact
    # What would round to no noise at all rounds to hardly any.
    assert shorten_fraction(Fraction(1, 10**60), samplers._LONGEST_VARIANCE) == Fraction(1, 2**20)
    with pytest.raises(MisuseError) as error:
        discrete_gaussian(SystemSource(), Fraction(2**106), 1)
    assert str(error.value) == ("The noise asked for is larger than any count: epsilon is too small for these baskets.")


def test_huge_and_tiny_variances():
    source = SimulationSource(9)
    assert not discrete_gaussian(source, Fraction(1, 10**60), 1000).any()
    wide_sample = discrete_gaussian(source, Fraction(2**105), 1000)
    # The largest of 1000 draws lies between two and seven deviations, but for once in a hundred million.
    assert 2 < np.abs(wide_sample / 2**52.5).max() < 7


def test_misuse():
    for draw in (discrete_laplace, discrete_gaussian):
        with pytest.raises(MisuseError, match="are 0 or more; -1 and 2 were given"):
            draw(SystemSource(), Fraction(-1), 2)
