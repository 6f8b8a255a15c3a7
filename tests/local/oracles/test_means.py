"""Mean oracles: exactly linear, exactly unbiased, with the variances of the articles (erratum D4)."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest

from discreet.errors import MisuseError
from discreet.local import SimulatedAnswers, exp_rounded_down
from discreet.local.device import WEIGHT_SCALE, WORD
from discreet.local.oracle_steps import means, oracles
from discreet.local.oracles.hm import HM

EPSILONS = ("0.001", "0.1", "0.5", "0.61", "0.62", "1", "2", "4")
TOLERANCE = 5.0  # standard deviations: passed by chance once in 1.7 million


def one_each(values, people):
    """Return answers of one number per person."""
    return SimulatedAnswers(offsets=np.arange(len(values) + 1), values=values.astype(np.int32), people=people)


def published(name, epsilon, value):
    growth = exp(epsilon)
    root = sqrt(growth)
    duchi = ((growth + 1) / (growth - 1)) ** 2 - value**2
    if name == "duchi" or (name == "hm" and epsilon <= 0.61):
        return duchi
    if name == "pm":
        return value**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    return (root + 3) / (3 * root * (root - 1)) + (growth + 1) ** 2 / (root * (growth - 1) ** 2)


@pytest.mark.parametrize("name", means())
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_variances_are_those_published(name, epsilon):
    oracle = means()[name].make(Fraction(epsilon))
    for value in (Fraction(0), Fraction(-1, 3), Fraction(1)):
        expected = published(name, float(Fraction(epsilon)), float(value))
        # The grid costs little, and most at the smallest epsilon.
        assert float(oracle.variance(value)) == pytest.approx(expected, rel=2e-3 if epsilon == "0.001" else 1e-5)


def test_variances_at_4():
    pm, hm = (means()[name].make(Fraction(4)) for name in ("pm", "hm"))
    assert [f"{float(pm.variance(Fraction(value))):.3f}" for value in (0, 1)] == ["0.085", "0.241"]
    assert [f"{float(hm.variance(Fraction(value))):.3f}" for value in (0, 1)] == ["0.219", "0.219"]


def law_of_a_sign(oracle, value):
    share = Fraction(WORD // 2 + oracle.slope * value, WORD)
    return [(0, 1 - share), (1, share)]


@pytest.mark.parametrize("epsilon", ["0.001", "1", "20"])
def test_a_sign_is_unbiased_exactly(epsilon):
    oracle = means()["duchi"].make(Fraction(epsilon), 4)
    for value in range(-4, 5):
        mean = sum(share * (2 * sign - 1) * oracle._unit for sign, share in law_of_a_sign(oracle, value))
        assert mean == Fraction(value, 4)
        square = sum(share * oracle._unit**2 for _, share in law_of_a_sign(oracle, value))
        assert square - mean**2 == oracle.variance(Fraction(value, 4))


@pytest.mark.parametrize("epsilon", ["0.001", "1", "20"])
def test_a_point_is_unbiased_exactly(epsilon):
    """Sums over all points: those outside share what is left without a rest."""
    oracle = means()["pm"].make(Fraction(epsilon), 4)
    outside = oracle.points - oracle.window
    remaining_weight = WEIGHT_SCALE - oracle.inside * oracle.window
    assert remaining_weight % outside == 0
    inner, outer = Fraction(oracle.inside, WEIGHT_SCALE), Fraction(remaining_weight // outside, WEIGHT_SCALE)
    assert 1 < inner / outer <= exp_rounded_down(Fraction(epsilon))
    middle = Fraction(oracle.points - 1, 2)

    def below(point_count, power):
        """Return the sum of a power of the distances from the middle of the first points."""
        if power == 1:
            return Fraction(point_count * (point_count - 1), 2) - point_count * middle
        squares = Fraction((point_count - 1) * point_count * (2 * point_count - 1), 6)
        return squares - middle * point_count * (point_count - 1) + point_count * middle**2

    for value in range(-4, 5):
        start = (value + 4) * oracle.step
        moments = []
        for power in (1, 2):
            window = below(start + oracle.window, power) - below(start, power)
            moment = inner * window + outer * (below(oracle.points, power) - window)
            moments.append(moment * oracle._unit**power)
        assert moments[0] == Fraction(value, 4)
        assert moments[1] - moments[0] ** 2 == oracle.variance(Fraction(value, 4))


@pytest.mark.statistical
@pytest.mark.parametrize("name", means())
def test_estimates(name):
    """A mean of 200,000 numbers is within 5 deviations, and its stated variance is right or larger."""
    person_count = 200_000
    values = np.random.default_rng(3).integers(-1024, 1025, person_count)
    for epsilon in ("0.5", "2"):
        oracle = means()[name].make(Fraction(epsilon))
        columns = oracle.reports(one_each(values, np.arange(person_count)), 5)
        mean = oracle.estimate(oracle.supports(columns), person_count)
        variance = float(oracle.spread(mean, person_count)[0])
        noise = np.mean([float(oracle.variance(Fraction(int(value), 1024))) for value in values[:500]])
        assert abs(float(mean[0]) - values.mean() / 1024) < TOLERANCE * sqrt(noise / person_count)
        spread = oracle.worth(columns).var() / person_count
        assert spread < variance * 1.02
        if name == "duchi":
            assert spread == pytest.approx(variance, rel=0.01)


def test_numbers_beyond_the_range_count_as_its_ends():
    """D5."""
    for kind in means().values():
        oracle = kind.make(Fraction(1), 8)
        for number, end in ((9, 8), (10**9, 8), (-9, -8)):
            assert oracle.randomise(number, lambda count: b"\x37" * count) == oracle.randomise(
                end, lambda count: b"\x37" * count
            )


@pytest.mark.parametrize("name", means())
def test_reports_round_trip_and_strange_ones_are_refused(name):
    oracle = means()[name].make(Fraction(1), 16)
    columns = oracle.reports(one_each(np.arange(-16, 17), np.arange(33)), 4)
    reports = [oracle.codec.make_report(columns, row) for row in range(33)]
    columns_again = oracle.codec.read_reports(
        [json.dumps(report, separators=(",", ":")).encode() for report in reports]
    ).columns
    assert {key: column.tolist() for key, column in columns_again.items()} == {
        key: column.tolist() for key, column in columns.items()
    }
    no_reports = oracle.supports(oracle.codec.read_reports([]).columns)
    assert oracle.estimate(no_reports, 0).tolist() == [0.0]
    strange = [None, [], {}, {"sign": True}, {"sign": 0.0}, {"sign": 2}, {"point": -1}, {"point": 2**40}, {"more": 1}]
    strange += [{**reports[0], "more": 1}, {"pm": 3}, {"pm": {"sign": 1}}, {"duchi": {"sign": 5}}, {"duchi": None}]
    batch = oracle.codec.read_reports([reports[0], *strange, reports[1]])
    assert batch.positions.tolist() == [0, len(strange) + 1]
    assert [refusal.place for refusal in batch.refused] == list(range(1, len(strange) + 1))
    assert all(0 < len(refusal.reason) < 100 for refusal in batch.refused)


def test_the_coin_of_the_hybrid():
    """D4: above 0.61 the coin falls for pm with 1 - e^(-epsilon / 2); up to there it never does."""
    assert HM.make(Fraction("0.61")).choose == 0
    assert HM.make(Fraction("0.61")).bits == 1
    assert HM.make(Fraction(2)).choose / WORD == pytest.approx(1 - exp(-1), abs=1e-9)
    assert HM.make(Fraction(2)).bits == 22
    assert [kind.make(Fraction(2)).bits for kind in (means()["duchi"], means()["pm"])] == [1, 21]
    assert len(HM.make(Fraction("0.5")).codec.read_reports([{"pm": {"point": 1}}]).refused) == 1


@pytest.mark.parametrize("name", means())
def test_what_cannot_be_made(name):
    kind = means()[name]
    with pytest.raises(MisuseError) as error:
        kind.make(Fraction(21))
    assert str(error.value) == "epsilon of a report is from 0.001 to 20; 21 was given."
    for span in (3, 1 << 17):
        with pytest.raises(MisuseError) as error:
            kind.make(Fraction(1), span)
        assert str(error.value) == f"The span of a mean is a power of two up to 65,536; {span:,} was given."


def test_they_are_not_frequency_oracles():
    assert not oracles().keys() & means().keys()
