"""Published seeds: how many there are, what a table of them says, and how exactly.

The law of the estimates is derived in `local/oracles/olh.md`, section *Published seeds*.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import log2, sqrt

import numpy as np
import pytest

from discreet.errors import MisuseError
from discreet.local import SimulatedAnswers
from discreet.local.device import derive_seed
from discreet.local.oracle_steps import SeedTable, _published as reading, hashes, make, published_pairs
from discreet.local.oracle_steps._collisions import LEAST_SEEDS, LOSS, WORTH, Collisions, seeds_for
from discreet.local.oracles import OLH

ITEMS, PEOPLE = 400, 200_000
TOLERANCE = 5.0  # standard deviations: once in 1.7 million by chance


def one_each(items):
    item_count = len(items)
    return SimulatedAnswers(
        offsets=np.arange(item_count + 1), values=items.astype(np.int32), people=np.arange(item_count)
    )


def crowd(kind, items=ITEMS, people=PEOPLE):
    generator = np.random.default_rng(4)
    if kind == "one item that everyone holds":
        return np.zeros(people, np.int64)
    if kind == "one item that half hold":
        return np.where(generator.random(people) < 0.5, 7, generator.integers(0, items, people))
    law = 1 / np.arange(1, items + 1)
    return generator.choice(items, people, p=law / law.sum())


def estimates(oracle, answered_people, seed):
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, oracle.reports(one_each(answered_people), seed))
    return oracle.estimate(oracle.adder.decode(aggregate), len(answered_people))


@pytest.mark.parametrize(
    ("people", "items", "epsilon", "seeds"),
    [
        (1_000, 1_000, "1", None),
        (50_000, 1_000, "1", None),
        (200_000, 400, "1", 8192),
        (10**6, 10**5, "1", 1 << 14),
        (10**8, 10**5, "1", 1 << 17),
        (10**9, 10**5, "1", 1 << 19),
        (10**9, 10**7, "1", 1 << 19),
        (10**9, 100, "1", 1 << 12),
        (10**8, 10**4, "4", 1 << 15),
        (10**15, 10**6, "1", None),
    ],
)
def test_seeds_follow_from_public_numbers(people, items, epsilon, seeds):
    oracle = make("olh", Fraction(epsilon), items)
    assert oracle.expecting(people).seeds == seeds
    if seeds is None:
        assert oracle.expecting(people) is oracle
        return
    # The condition holds, and would not with half of them.
    fresh = oracle.variance(0.0, people)
    assert fresh < oracle.expecting(people).variance(0.0, people) <= 1.05 * fresh
    assert seeds * WORTH <= people
    assert seeds == LEAST_SEEDS or replace(oracle, seeds=seeds // 2).variance(0.0, people) > 1.05 * fresh


@pytest.mark.parametrize("epsilon", ["1/10", "1", "2", "4", "6", "8"])
@pytest.mark.parametrize("name", ["olh", "wheel"])
def test_rounding_the_cells_of_a_table_moves_no_estimate_by_what_could_be_seen(name, epsilon):
    """With few reports in a cell all cells are rounded alike: an estimate moves by 1/64 of its deviation at most."""
    people = 40_000
    oracle = make(name, Fraction(epsilon), 60, pad=1 if name == "olh" else 3).numbered(1024)
    columns = oracle.reports(one_each(np.arange(people) % 5), 3)
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, columns)
    exact = (oracle.supports(columns) / people - 1 / oracle.places) / (float(oracle.own_chance) - 1 / oracle.places)
    moved = oracle.adder.read_aggregate(aggregate).table._first_estimates[:60] - exact
    assert np.abs(moved).max() < sqrt(oracle.rare_variance(people)) / 64


def test_an_oracle_that_is_expecting_people_stays_as_it_is():
    oracle = make("olh", Fraction(1), 100).expecting(10**6)
    assert oracle.expecting(10**9) is oracle
    sampled = OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100))
    assert sampled.expecting(10**9) is sampled
    assert make("grr", Fraction(1), 5).expecting(10**9).form == make("grr", Fraction(1), 5).form
    assert make("blh", Fraction(1), 100).expecting(10**8).seeds == 1 << 14


def test_what_travels():
    plain = make("olh", Fraction(1), 10)
    oracle = replace(plain, seeds=4096)
    assert oracle.form == {**plain.form, "seeds": 4096}
    assert oracle.ratio == plain.ratio
    assert oracle.bits == log2(4096) + 2
    assert oracle.influence.values < plain.influence.values
    report = oracle.randomise([3])
    assert list(report) == ["seed", "value"]
    assert len(json.dumps(report)) < len(json.dumps(plain.randomise([3])))
    assert oracle.as_asked(plain.form) == plain
    assert plain.as_asked(oracle.form) == oracle
    strange = [{"seed": [1, 2], "value": 0}, {"seed": 4096, "value": 0}, {"seed": -1, "value": 0}]
    assert [refusal.reason for refusal in oracle.codec.read_reports([*strange, {"seed": 0, "value": 4}]).refused] == [
        *["its seed is not a whole number below 4,096"] * 3,
        "its value is not a whole number below 4",
    ]


@pytest.mark.parametrize("seeds", [0, 1, 3, 1000, 1 << 32])
def test_seeds_are_a_power_of_two(seeds):
    with pytest.raises(MisuseError) as refused:
        replace(make("olh", Fraction(1), 10), seeds=seeds)
    assert str(refused.value) == (f"Published seeds are a power of two from 2 to 2,147,483,648; {seeds:,} were given.")


def test_the_sampling_is_not_counted_on_with_published_seeds():
    """The delta of a share is that of random hash functions: of a family somebody chose, all may be bad ones."""
    with pytest.raises(MisuseError) as refused:
        replace(OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100)), seeds=4096)
    assert str(refused.value) == "An oracle that counts on the sampling draws fresh seeds: leave seeds out."


@pytest.mark.statistical
@pytest.mark.parametrize(
    "kind", ["one item that everyone holds", "one item that half hold", "items that fall off slowly"]
)
def test_estimates_are_unbiased_and_vary_as_derived(kind):
    """24 trials of 400 items: the mean square is within 5 %, which is over 3 deviations of it; and no mean is far."""
    answered_people, trials = crowd(kind), 24
    truth = np.bincount(answered_people, minlength=ITEMS) / PEOPLE
    plain = make("olh", Fraction(1), ITEMS)
    oracle = plain.expecting(PEOPLE)
    errors = np.array([estimates(oracle, answered_people, seed) for seed in range(trials)]) - truth
    fresh, squares = plain.variance(truth, PEOPLE), float((truth**2).sum())
    derived = fresh - (squares - truth**2) / ((plain.buckets - 1) * PEOPLE)
    is_rare = np.arange(ITEMS) != np.argmax(truth)
    ratio = float((errors**2 / derived)[:, is_rare].mean())
    max_leak = (1 + oracle_loss(oracle)) if kind.startswith("items") else 1.0
    assert 0.95 < ratio < 1.05 * max_leak
    # As good as with fresh seeds, at the number of seeds that is chosen, and within what is stated.
    assert float((errors**2).mean() / fresh.mean()) <= 1.05
    assert float((errors**2).mean() / oracle.variance(truth, PEOPLE).mean()) <= 1.05
    assert np.abs(errors.mean(0) / np.sqrt(derived / trials)).max() < TOLERANCE


def oracle_loss(oracle):
    plain = replace(oracle, seeds=None)
    return oracle.variance(0.0, PEOPLE) / plain.variance(0.0, PEOPLE) - 1


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["1/2", "4"])
def test_other_numbers_of_buckets(epsilon):
    """Two buckets, and over fifty: few cells are compared with, and many are looked up."""
    answered_people = crowd("one item that half hold")
    truth = np.bincount(answered_people, minlength=ITEMS) / PEOPLE
    plain = make("olh", Fraction(epsilon), ITEMS)
    seeds = seeds_for(10**7, plain.buckets, ITEMS + 1, 1.0) or 4096
    oracle = replace(plain, seeds=seeds)
    errors = np.array([estimates(oracle, answered_people, seed) for seed in range(10)]) - truth
    assert 0.9 < float((errors**2).mean() / plain.variance(truth, PEOPLE).mean()) < 1.1


@pytest.mark.statistical
def test_people_who_hold_nothing_leak_into_nobody():
    """Nine in ten sample the dummy: it is as frequent as an item that nearly everybody holds."""
    oracle = replace(make("olh", Fraction(1), 50, pad=2), seeds=2048)
    offsets = np.zeros(PEOPLE + 1, np.int64)
    offsets[1:] = np.cumsum(np.arange(PEOPLE) % 10 == 0)
    answered = SimulatedAnswers(offsets=offsets, values=np.full(offsets[-1], 3, np.int32), people=np.arange(PEOPLE))
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, oracle.reports(answered, 5))
    estimates = oracle.estimate(oracle.adder.decode(aggregate), PEOPLE)
    truth = np.where(np.arange(50) == 3, 0.1, 0.0)
    assert np.abs(estimates - truth).max() < TOLERANCE * sqrt(oracle.variance(0.1, PEOPLE))
    # Read plainly, report by report, it is far more off.
    plain = oracle.estimate(oracle.supports(oracle.reports(answered, 5)), PEOPLE)
    assert ((plain - truth) ** 2).mean() > 5 * ((estimates - truth) ** 2).mean()


@pytest.mark.statistical
@pytest.mark.parametrize("seeds", [2, 16, 256])
def test_too_few_seeds_are_said_and_nothing_diverges(seeds):
    """What is stated grows as seeds get fewer than the condition asks for; what comes out stays within it."""
    answered_people = crowd("one item that half hold")
    truth = np.bincount(answered_people, minlength=ITEMS) / PEOPLE
    oracle = replace(make("olh", Fraction(1), ITEMS), seeds=seeds)
    collisions = Collisions(seeds=seeds, buckets=oracle.buckets, symbols=ITEMS + 1, noise=3.7 / PEOPLE)
    assert collisions.solved + collisions.leaked > LOSS
    error = estimates(oracle, answered_people, 3) - truth
    assert (error**2).mean() < oracle.variance(0.0, PEOPLE)
    assert np.abs(error).max() < 1.5


def test_frequencies_are_those_of_least_squares():
    """The conjugate gradients against the normal equations, written out for a few symbols."""
    generator = np.random.default_rng(2)
    table = generator.integers(50, 150, (1024, 4))
    seed_table = SeedTable(table=table, symbols=30, own_chance=0.5)
    items = np.array([3, 8, 21])
    buckets = hashes(*published_pairs(np.arange(1024, dtype=np.uint32)), items).astype(np.int64) * 4 >> 32
    weights = table.sum(1) / table.sum()
    meeting = [
        [(weights * (buckets[:, left_item] == buckets[:, right_item])).sum() for right_item in range(3)]
        for left_item in range(3)
    ]
    matrix = (np.array(meeting) - 0.25) / 0.75
    frequencies = np.array([0.5, 0.1, 0.02])
    assert seed_table._meet(items, frequencies) == pytest.approx(matrix @ frequencies)
    assert seed_table._solve(items, matrix @ frequencies, np.zeros(3)) == pytest.approx(frequencies, abs=1e-4)
    # What is left of the symbols that are solved for is nothing.
    plain = seed_table._read(np.zeros(0, np.int64), np.zeros(0))
    solved = seed_table._solve(items, plain[items], np.zeros(3))
    assert np.abs(seed_table._read(items, solved)[items]).max() < 1e-4


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_no_report_adds_more_than_is_said(epsilon):
    """Every cell of a table, with as many values solved for as ever are: what one more report there adds to each."""
    oracle = replace(make("olh", Fraction(epsilon), 400), seeds=1024)
    multiplier, increment = published_pairs(np.arange(1024, dtype=np.uint32))
    items = np.arange(1024 * (oracle.buckets - 1) // 64)
    places = hashes(multiplier, increment, items).astype(np.int64) * oracle.buckets >> 32
    inside = (places[:, None, :] == np.arange(oracle.buckets)[None, :, None]).astype(float) - 1 / oracle.buckets
    cells = inside.reshape(-1, len(items))
    report_weights = cells @ np.linalg.inv(cells.T @ cells / (1024 * (1 - 1 / oracle.buckets)))
    largest_weight = float(report_weights.max() / (oracle.p_own - oracle.p_other))
    fresh = float(replace(oracle, seeds=None).influence.people)
    assert 1.05 * fresh < largest_weight < float(oracle.influence.people)


def test_parts_of_a_round_add_up():
    oracle = replace(make("olh", Fraction(1), 40), seeds=64)
    columns = oracle.reports(one_each(np.arange(3000) % 40), 9)
    total, parts = oracle.adder.start(), [oracle.adder.start() for _ in range(3)]
    oracle.adder.add(total, columns)
    for number, part in enumerate(parts):
        oracle.adder.add(part, {name: column[number * 1000 : (number + 1) * 1000] for name, column in columns.items()})
    assert (sum(parts) == total).all()
    assert total.sum() == 3000
    assert oracle.adder.decode(sum(parts)).tolist() == oracle.adder.decode(total).tolist()
    oracle.adder.add(total, columns, -1)
    assert not total.any()
    assert oracle.adder.decode(total).tolist() == [0] * 40


def test_what_is_left_is_read_in_pieces_of_any_size(monkeypatch):
    """Sums of blocks are those of the whole, and a seed that very many name does not overflow."""
    oracle = replace(make("olh", Fraction(1), 40), seeds=64)
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, oracle.reports(one_each(np.arange(3000) % 40), 9))
    expected = oracle.adder.decode(aggregate).tolist()
    monkeypatch.setattr(reading, "_ROWS", 5)
    monkeypatch.setattr(reading, "_BLOCK_ROWS", 13)
    assert oracle.adder.decode(aggregate).tolist() == expected
    aggregate[:] = 10**9
    assert np.abs(oracle.estimate(oracle.adder.decode(aggregate), int(aggregate.sum()))).max() < 1e-6


def test_both_speeds_of_a_simulation_make_the_same_reports():
    oracle = replace(make("olh", Fraction(1), 40), seeds=64)
    assert oracle.drawn_together
    assert not make("olh", Fraction(1), 40).drawn_together
    answered = one_each(np.arange(3000) % 40)
    person, aggregated = oracle.adder.start(), oracle.adder.start()
    oracle.add_drawn(person, answered, 3, None)
    oracle.add_drawn(aggregated, answered, 3, np.random.default_rng(1))
    assert (person == aggregated).all()


@pytest.mark.statistical
def test_any_two_items_share_buckets_as_seldom_as_with_random_seeds():
    """Over 4,096 seeds and 4 buckets, two items meet in 1,024 ± 28; the squares of 45 pairs each have their law."""
    multiplier, increment = published_pairs(np.arange(4096, dtype=np.uint32))
    assert len(set(zip(multiplier.tolist(), increment.tolist(), strict=True))) == 4096
    assert [(int(a), int(b)) for a, b in zip(multiplier[:9], increment[:9], strict=True)] == [
        derive_seed(number) for number in range(9)
    ]
    for items in (np.arange(10), np.arange(10) * 1000 + 7, 1 << np.arange(10, 20)):
        buckets = hashes(multiplier, increment, items) >> np.uint32(30)
        deviations = [
            ((buckets[:, a] == buckets[:, b]).sum() - 1024) / sqrt(4096 * 0.25 * 0.75)
            for a in range(10)
            for b in range(a)
        ]
        assert max(map(abs, deviations)) < TOLERANCE
        assert abs(float(np.square(deviations).mean()) - 1) < TOLERANCE * sqrt(2 / 45)
