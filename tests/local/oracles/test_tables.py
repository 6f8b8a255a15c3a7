"""The tables of Wang, Li, Jha 2018, and the variances of the oracles in numbers."""

from __future__ import annotations

from fractions import Fraction
from math import e, exp, log

import pytest

from discreet.local import exp_rounded_down
from discreet.local.oracle_steps import grr_or_olh, make, oracles
from discreet.local.oracles import OLH
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup, compute_guarantee

PADS = (2, 5, 10, 20, 50, 100)
TABLE_II = {
    "0.1": "0.19 0.42 0.72 1.13 1.83 2.44",
    "0.5": "0.83 1.45 2.01 2.64 3.51 4.19",
    "1": "1.49 2.26 2.90 3.57 4.46 5.15",
    "2": "2.62 3.49 4.17 4.86 5.77 6.46",
    "4": "4.68 5.59 6.29 6.98 7.89 8.59",
}
TABLE_III = {
    ("1/1000", "0.1"): "0.10 0.10 0.11 0.13 0.15 0.15",
    ("1/1000", "0.5"): "0.50 0.50 0.54 0.62 0.68 0.80",
    ("1/1000", "1"): "1.00 1.00 1.24 1.35 1.59 1.73",
    ("1/1000", "2"): "2.00 2.20 2.62 3.10 3.71 4.28",
    ("1/1000", "4"): "4.00 4.50 5.19 5.88 6.80 7.20",
    ("1/1000000000", "0.1"): "0.10 0.10 0.10 0.10 0.12 0.14",
    ("1/1000000000", "0.5"): "0.50 0.50 0.50 0.52 0.59 0.65",
    ("1/1000000000", "1"): "1.00 1.00 1.00 1.07 1.30 1.51",
    ("1/1000000000", "2"): "2.00 2.00 2.00 2.38 2.93 3.49",
    ("1/1000000000", "4"): "4.00 4.00 4.50 5.04 5.82 6.51",
}
# What Theorem 5 gives where the print has something else, always less: (delta, epsilon, padding) → epsilon'.
DIFFERENT = {
    ("1/1000", "0.5", 50): "0.77",
    ("1/1000", "1", 20): "1.42",
    ("1/1000", "1", 50): "1.67",
    ("1/1000", "1", 100): "1.83",
    ("1/1000", "2", 50): "3.84",
    ("1/1000", "2", 100): "4.39",
    ("1/1000", "4", 5): "4.91",
    ("1/1000", "4", 100): "7.49",
    ("1/1000000000", "0.5", 100): "0.72",
    ("1/1000000000", "1", 20): "1.11",
    ("1/1000000000", "2", 10): "2.09",
    ("1/1000000000", "2", 50): "2.99",
    ("1/1000000000", "4", 50): "5.95",
}


def enlarged(p_own, p_other):
    """Return the epsilon of randomised response with two chances."""
    return log(p_own / p_other)


@pytest.mark.parametrize("epsilon", TABLE_II)
def test_table_2(epsilon):
    printed_epsilons = []
    for pad in PADS:
        oracle = oracles()["grr"].make(Fraction(epsilon), 1000, pad=pad)
        printed_epsilons.append(f"{enlarged(oracle.p_own, oracle.p_other):.2f}")
    assert " ".join(printed_epsilons) == TABLE_II[epsilon]


def test_table_3():
    different = {}
    for (delta, epsilon), printed in TABLE_III.items():
        for pad, printed_epsilon in zip(PADS, printed.split(), strict=True):
            oracle = OLH.sampled(Fraction(epsilon), 1000, pad=pad, delta=Fraction(delta))
            assert oracle.delta <= Fraction(delta)
            assert oracle.ratio <= exp_rounded_down(Fraction(epsilon))
            computed_epsilon = f"{enlarged(oracle.p_own, (1 - oracle.p_own) / (oracle.buckets - 1)):.2f}"
            if computed_epsilon != printed_epsilon:
                assert computed_epsilon > printed_epsilon
                different[delta, epsilon, pad] = computed_epsilon
    assert different == DIFFERENT


def test_counting_on_sampling_is_never_called_pure():
    oracle = OLH.sampled(Fraction(2), 500, pad=20, delta=Fraction(1, 10**9))
    assert oracle.delta > 0
    ask = Ask(name="which", group=PeopleGroup(0, 100), question=CandidateQuestion(CandidateList(500)), oracle=oracle)
    assert compute_guarantee([ask]).delta == oracle.delta
    assert Fraction(ask.form["delta"]) == oracle.delta
    assert "share" in oracle.form
    assert not any("share" in make(name, Fraction(2), 500, pad=20).form for name in (*oracles(), "adaptive"))


def test_the_smallest_share_that_allows_it_is_taken():
    oracle = OLH.sampled(Fraction(1), 100, pad=10, delta=Fraction(1, 1000))
    assert OLH.sampled(Fraction(1), 100, pad=10, delta=oracle.delta).share == oracle.share
    assert OLH.sampled(Fraction(1), 100, pad=10, delta=oracle.delta * Fraction(999, 1000)).share == oracle.share + 1
    assert OLH.sampled(Fraction(1), 100, pad=2, delta=Fraction(1, 10**12)).delta == 0  # all may meet: it is plain olh


@pytest.mark.parametrize(("epsilon", "low"), [("1", 1.5), ("2", 2.8), ("4", 15)])
def test_exact_variance_of_sampled_randomised_response(epsilon, low):
    """A13: for frequent items the sampling counts, which Theorem 4 leaves out."""
    oracle, pad, frequency = oracles()["grr"].make(Fraction(epsilon), 128, pad=5), 5, 0.3
    growth = pad * (exp(float(epsilon)) - 1) + 1
    p, q = growth / (growth + 132), 1 / (growth + 132)
    kept_share = p / pad + (1 - 1 / pad) * q
    exact = pad**2 / (p - q) ** 2 * (frequency * kept_share * (1 - kept_share) + (1 - frequency) * q * (1 - q))
    assert oracle.variance(frequency) == pytest.approx(exact, rel=1e-9)
    assert oracle.variance(frequency) / oracle.variance(0.0) == pytest.approx(low, rel=0.04)


# Epsilon, padding, candidates, then the variances of a candidate that nobody holds by the formulas of the articles.
# That of olh is the ideal one, for e^epsilon + 1 buckets; a whole number of buckets is worse by little.
SETS = [
    ("0.5", 5, 128, "391.8", "321.4", "108.1", "86.9"),
    ("1", 3, 128, "33.1", "45.8", "13.4", "11.5"),
    ("1", 5, 128, "92.1", "47.6", "23.0", "18.8"),
    ("1", 10, 128, "368.3", "52.2", "46.9", "34.7"),
    ("2", 5, 128, "18.1", "4.02", "3.98", "3.12"),
    ("4", 5, 128, "1.90", "0.14", "0.39", "0.14"),
    ("1", 8, 40000, "235.7", "13555", "37.4", None),
    ("4", 8, 40000, "4.87", "14.1", "0.62", None),
]


@pytest.mark.parametrize("row", SETS, ids=lambda row: "-".join(map(str, row[:3])))
def test_variances_for_sets(row):
    epsilon, pad, size, *printed_variances = row
    for name, digits in zip(("olh", "grr", "wheel", "privset"), printed_variances, strict=True):
        if digits is None:
            continue
        variance = oracles()[name].make(Fraction(epsilon), size, pad=pad).variance(0.0)
        if name == "olh":
            ideal = pad**2 * 4 * exp(float(epsilon)) / (exp(float(epsilon)) - 1) ** 2
            places = len(digits.partition(".")[2])
            assert f"{ideal:.{places}f}" == digits
            assert ideal * 0.999999 <= variance <= ideal * 1.06
        else:
            assert f"{variance:.{len(digits.partition('.')[2])}f}" == digits


@pytest.mark.parametrize(
    ("size", "epsilon", "subset", "grr", "hashed"),
    [(129, "4", "0.059", "0.063", "0.076"), (10, "1", "2.82", "3.63", "3.68")],
)
def test_variances_for_one_value(size, epsilon, subset, grr, hashed):
    for name, digits in (("subset", subset), ("grr", grr)):
        variance = oracles()[name].make(Fraction(epsilon), size, single=True).variance(0.0)
        assert f"{variance:.{len(digits.partition('.')[2])}f}" == digits
    ideal = 4 * exp(float(epsilon)) / (exp(float(epsilon)) - 1) ** 2
    assert f"{ideal:.{len(hashed.partition('.')[2])}f}" == hashed
    assert oracles()["oue"].make(Fraction(epsilon), size, single=True).variance(0.0) == pytest.approx(ideal, rel=1e-6)


def test_variance_of_the_hadamard_response():
    assert f"{oracles()['hr'].make(Fraction(2), 100, single=True).variance(0.0):.2f}" == "1.72"


@pytest.mark.parametrize("epsilon", ["0.1", "1", "2", "4", "8"])
def test_closed_forms(epsilon):
    growth = exp(float(epsilon))
    for pad in (1, 2, 7):
        wheel = (pad * (growth + 2) - 2) * (2 * pad * growth + pad - 1) ** 2
        wheel /= (growth - 1) ** 2 * (pad * growth + pad - 1) ** 2
        assert oracles()["wheel"].make(Fraction(epsilon), 50, pad=pad).variance(0.0) == pytest.approx(wheel, rel=1e-4)
        grr = (pad * growth + 99) / (growth - 1) ** 2
        assert oracles()["grr"].make(Fraction(epsilon), 100, pad=pad).variance(0.0) == pytest.approx(grr, rel=1e-9)
        sets = [oracles()[name].make(Fraction(epsilon), 100, pad=pad).variance(0.0) for name in ("privset", "grr")]
        assert sets[0] <= sets[1] * 1.000001  # privset of one symbol per report is grr
    root = growth**0.5
    sue = oracles()["sue"].make(Fraction(epsilon), 100, single=True).variance(0.0)
    assert sue == pytest.approx(root / (root - 1) ** 2, rel=1e-6)


def test_rule_8():
    """A2: randomised response where there are less than l (4 l - 1) e^epsilon + 1 candidates."""
    for pad in (1, 3, 8):
        edge = int(pad * (4 * pad - 1) * e + 1)
        assert grr_or_olh(Fraction(1), edge, pad=pad).name == "grr"
        assert grr_or_olh(Fraction(1), edge + 1, pad=pad).name == "olh"
    edge = int(3 * e + 2)
    assert grr_or_olh(Fraction(1), edge, single=True).name == "grr"
    assert grr_or_olh(Fraction(1), edge + 1, single=True).name == "olh"
