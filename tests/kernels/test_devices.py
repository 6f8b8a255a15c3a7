"""Many devices at once against devices one by one: equal words, equal reports."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from discreet.errors import MisuseError
from discreet.kernels import draw_tickets, sample_sets, sample_symbols
from discreet.local import SimulatedAnswers
from discreet.local.oracle_steps import means, oracles
from discreet.local.oracles import OLH
from naive import devices as naive

SEEDS = st.integers(0, 2**64 - 1)


def one_each(values, people):
    """Return one number per person: the answer."""
    return SimulatedAnswers(offsets=np.arange(len(values) + 1), values=values.astype(np.int32), people=people)


def answered(rows, people):
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    symbols = np.array([value for row in rows for value in row], np.int32)
    return SimulatedAnswers(offsets=offsets, values=symbols, people=np.array(people, np.int64))


def crowd(size, single, random):
    """Return rows of values, the empty and the full one among them, and the numbers of the people."""
    if single:
        rows = [[random.randrange(size)] for _ in range(6)]
    else:
        rows = [[], list(range(min(size, 40))), *(sorted(random.sample(range(size), min(size, 3))) for _ in range(4))]
    return rows, [random.randrange(2**40) for _ in rows]


@pytest.mark.parametrize("name", oracles())
@settings(max_examples=15)
@given(
    st.sampled_from([1, 2, 3, 31, 32, 33, 70]),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from(["0.001", "0.5", "1", "2", "4", "20"]),
    SEEDS,
    st.randoms(use_true_random=False),
)
def test_reports(name, size, pad, single, epsilon, seed, random):
    size, pad = (max(size, 2), 1) if single else (size, pad)
    oracle = oracles()[name].make(Fraction(epsilon), size, pad=pad, single=single)
    rows, people = crowd(size, single, random)
    columns = oracle.reports(answered(rows, people), seed)
    simulated = [oracle.codec.make_report(columns, row) for row in range(len(rows))]
    assert simulated == naive.reports(oracle.form, rows, people, seed)


def test_reports_that_count_on_the_sampling():
    oracle = OLH.sampled(Fraction(2), 50, pad=20, delta=Fraction(1, 1000))
    rows, people = [[], [3], list(range(40))] * 5, list(range(15))
    columns = oracle.reports(answered(rows, people), 9)
    assert [oracle.codec.make_report(columns, row) for row in people] == naive.reports(oracle.form, rows, people, 9)


@pytest.mark.parametrize("name", means())
@settings(max_examples=15)
@given(
    st.sampled_from([1, 64, 1024]), st.sampled_from(["0.1", "0.7", "2", "20"]), SEEDS, st.randoms(use_true_random=False)
)
def test_reports_of_numbers(name, span, epsilon, seed, random):
    oracle = means()[name].make(Fraction(epsilon), span)
    values = [-span, 0, span, -span - 5, 2 * span, *(random.randint(-span, span) for _ in range(7))]
    people = [random.randrange(2**40) for _ in values]
    columns = oracle.reports(one_each(np.array(values), np.array(people)), seed)
    reports = [oracle.codec.make_report(columns, row) for row in range(len(values))]
    assert reports == naive.reports(oracle.form, [[value] for value in values], people, seed)


@settings(max_examples=20)
@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 6), SEEDS, st.randoms(use_true_random=False))
def test_samples(size, pad, dummies, seed, random):
    rows, people = crowd(size, False, random)
    key_bits = answered(rows, people)
    symbols = np.empty(len(rows), np.int64)
    sample_symbols(key_bits.offsets, key_bits.values, key_bits.people, np.uint64(seed), pad, size, dummies, symbols)
    form = {"size": size, "pad": pad, "dummies": dummies}
    assert symbols.tolist() == naive.symbols(form, rows, people, seed)
    counts = np.zeros(size, np.int64)
    sample_sets(key_bits.offsets, key_bits.values, key_bits.people, np.uint64(seed), pad, counts)
    kept_values = [value for row in naive.sample_items(rows, people, seed, pad) for value in row]
    assert counts.tolist() == [kept_values.count(value) for value in range(size)]


@given(SEEDS)
@settings(max_examples=10)
def test_tickets(seed):
    numbers = np.empty(5, np.uint32)
    draw_tickets(np.uint64(seed), numbers)
    assert numbers.tolist() == [naive.words(seed, person, 1)[0] for person in range(5)]


def test_nobody():
    for kind in oracles().values():
        oracle = kind.make(Fraction(1), 5, pad=2)
        assert oracle.supports(oracle.reports(answered([], []), 1)).tolist() == [0] * 5
    for mean in means().values():
        oracle = mean.make(Fraction(1))
        supports = oracle.supports(oracle.reports(one_each(*np.empty((2, 0), np.int64)), 1))
        assert oracle.estimate(supports, 0).tolist() == [0.0]


def test_a_wheel_with_too_many_arcs_is_not_made():
    with pytest.raises(MisuseError, match="leaves no room on the wheel"):
        oracles()["wheel"].make(Fraction(20), 5, pad=100)
