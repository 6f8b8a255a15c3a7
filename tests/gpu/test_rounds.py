"""Rounds that a card adds up: reports that are streamed to it, and reports that it makes."""

# internals: this module replaces the choice between card and cores.
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from discreet.gpu import CardRound, add_words
from discreet.gpu._card import Card
from discreet.gpu._rounds import add_drawn, can_add
from discreet.local import SimulatedAnswers
from discreet.local.oracle_steps import oracles
from gpu.shim import ShimDriver

FEW_EXAMPLES = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
NAMES = ["olh", "blh", "wheel", "olh, published", "blh, published"]


def make_oracle(name, size, pad, epsilon, seeds=64):
    kind, _, published = name.partition(", ")
    oracle = oracles()[kind].make(Fraction(epsilon), size, pad=pad)
    return replace(oracle, seeds=seeds) if published else oracle


def answered_by(generator, size, person_count):
    rows = [
        np.sort(generator.choice(size, generator.integers(0, size + 1), replace=False)) for _ in range(person_count)
    ]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    people = generator.integers(0, 1 << 40, person_count)
    return SimulatedAnswers(offsets=offsets, values=np.concatenate([[], *rows]).astype(np.int32), people=people)


@pytest.mark.parametrize("name", ["olh", "wheel", "olh, published"])
@FEW_EXAMPLES
@given(st.sampled_from([1, 300]), st.sampled_from(["0.5", "4"]), st.integers(24, 400), st.integers(0, 99))
def test_reports_are_streamed(driver, name, size, epsilon, hosted, seed):
    generator = np.random.default_rng(seed)
    oracle = make_oracle(name, size, 1, epsilon)
    words = generator.integers(0, 1 << 32, (60, oracle.codec.width), dtype=np.uint32)
    words[::2] |= np.uint32(1)
    bounds = (oracle.seeds + 3, oracle.buckets + 1) if "published" in name else (1 << 32, 1 << 32, 1 << 32)
    words %= np.array(bounds, np.uint64).astype(np.uint64)  # some are no reports
    words = words.astype(np.uint32)
    if name == "olh":
        words[:, 2] %= oracle.buckets + 1
    right = oracle.codec.find_good_rows(words)
    columns, expected_sums = oracle.codec.unpack(words[right]), oracle.adder.start()
    oracle.adder.add(expected_sums, columns)
    running = CardRound(Card(driver=driver), oracle, hosted)
    for part in np.array_split(words, 4):
        running.add_words(part)
    sums = running.total()
    assert (sums.people, sums.refused) == (right.sum(), len(words) - right.sum())
    assert (sums.aggregate == expected_sums).all()
    assert sums.aggregate.shape == oracle.adder.start().shape
    cells = oracle.cells(columns)
    assert sums.cells.tolist() == ([] if cells is None else cells.tolist())


@pytest.mark.parametrize("name", NAMES)
@FEW_EXAMPLES
@given(
    st.sampled_from([1, 5, 30]),
    st.integers(1, 4),
    st.sampled_from(["0.5", "4", "20"]),
    st.integers(200, 900),
    st.integers(0, 2**64 - 1),
)
def test_reports_are_made(driver, name, size, pad, epsilon, hosted, seed):
    if "published" in name:
        epsilon = str(min(int(float(epsilon)) or 1, 6))  # a table has a column per bucket
    oracle = make_oracle(name, size, pad, epsilon)
    answered = answered_by(np.random.default_rng(seed), size, 20)
    columns, expected_sums = oracle.reports(answered, seed), oracle.adder.start()
    oracle.adder.add(expected_sums, columns)
    running = CardRound(Card(driver=driver), oracle, hosted)
    # A device of blh packs as one of olh does.
    packed_words = make_oracle(name.replace("blh", "olh"), size, pad, epsilon).codec.pack(columns)
    assert (running.make_reports(answered, seed) == packed_words).all()
    assert not running.total().aggregate.any()
    running.add_drawn(answered, seed)
    sums = running.total()
    assert (sums.people, sums.refused) == (20, 0)
    assert (sums.aggregate == expected_sums).all()


def test_a_round_in_one_call(driver):
    oracle = make_oracle("olh", 40, 2, "1")
    answered = answered_by(np.random.default_rng(1), 40, 12)
    columns, expected_sums = oracle.reports(answered, 7), oracle.adder.start()
    oracle.adder.add(expected_sums, columns)
    card = Card(driver=driver)
    assert (add_drawn(card, oracle, [answered], 7) == expected_sums).all()
    assert (add_words(card, oracle, [oracle.codec.pack(columns)]).aggregate == expected_sums).all()
    assert add_words(card, oracle, []).people == 0


@pytest.mark.parametrize("name", ["grr", "privset", "oue", "hr"])
def test_other_oracles_stay_on_the_cores(driver, name):
    oracle = oracles()[name].make(Fraction(1), 40)
    assert not can_add(oracle)
    assert add_words(Card(driver=driver), oracle, []) is None
    assert add_drawn(Card(driver=driver), oracle, [], 7) is None


def test_the_benchmark_finds_what_is_wrong_with_a_card(library, monkeypatch, capsys):
    from benchmarks.gpu import Lines, checks, measure_card

    from discreet.local.oracle_steps import on_card

    card = Card(driver=ShimDriver(library))
    monkeypatch.setattr(on_card, "_find_card", lambda process: card)
    lines = Lines()
    measure_card(lines, card, 2e-5, {})
    output = capsys.readouterr().out
    assert lines.bad == 0, output
    assert output.count("the same, bit for bit") == len(checks(2e-5))
    assert "simulated: 20,000 reports made and added" in output
    monkeypatch.setattr(Card, "count_supports", lambda *arguments: np.zeros(50, np.int64))
    lines.checked(card, {}, 2e-5)
    assert lines.bad == 1
    assert "check: reports of any window" in (output := capsys.readouterr().out)
    assert output.count("DIFFERENT") == 1
