"""Published seeds where a device answers for a set: its values may share a bucket, and the correction for it.

The law of the estimates is derived in `local/oracles/wheel.md`, section *Published seeds*.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, log, sqrt

import numpy as np
import pytest

from discreet.errors import MisuseError
from discreet.local import SimulatedAnswers
from discreet.local.oracle_steps import SeedTable, _published as reading, hashes, make, published_pairs
from discreet.local.oracle_steps._collisions import LEAST_SEEDS, MOST_CELLS, PARTNERS, WORTH, Overlaps, amplified

ITEMS, PEOPLE, PAD = 400, 300_000, 3
TOLERANCE = 5.0  # standard deviations: once in 1.7 million by chance


def of_rows(rows):
    """Return answers of people with equal numbers of values."""
    people, item_count = rows.shape
    held_values = np.sort(rows, axis=1).astype(np.int32).ravel()
    return SimulatedAnswers(offsets=np.arange(people + 1) * item_count, values=held_values, people=np.arange(people))


def crowd(kind, people=PEOPLE, pad=PAD):
    generator, places = np.random.default_rng(4), np.arange(pad)
    if kind == "one item that everyone holds":
        other_items = 1 + (generator.integers(0, ITEMS - 1, (people, 1)) + 7 * places[1:]) % (ITEMS - 1)
        return of_rows(np.concatenate((np.zeros((people, 1), np.int64), other_items), axis=1))
    if kind == "everyone holds the same":
        return of_rows(np.tile(places, (people, 1)))
    return of_rows(np.arange(people)[:, None] % 3 * pad + places)  # a third holds the same each


CROWDS = ["one item that everyone holds", "everyone holds the same", "a third holds the same each"]


def estimates(oracle, answered, seed):
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, oracle.reports(answered, seed))
    return oracle.estimate(oracle.adder.decode(aggregate), len(answered.people))


@pytest.mark.parametrize(
    ("people", "items", "pad", "epsilon", "seeds", "points"),
    [
        (10_000, 1_000, 5, "1", None, None),
        (10**6, 10**5, 1, "1", 1 << 14, 4),
        (10**6, 10**5, 5, "1", 1 << 14, 23),
        (10**8, 10**5, 5, "1", 1 << 18, 23),
        (10**9, 10**5, 5, "1", 1 << 21, 23),
        (10**8, 10**5, 5, "4", 1 << 17, 282),
        (10**9, 10**5, 1, "1/2", 1 << 19, 3),
        (10**8, 10**5, 8_000, "1", 1 << 11, 37_746),
        (10**9, 10**5, 8_000, "1", None, None),
        (10**9, 10**5, 7, "1", 1 << 21, 33),
    ],
)
def test_seeds_follow_from_public_numbers(people, items, pad, epsilon, seeds, points):
    plain = make("wheel", Fraction(epsilon), items, pad=pad)
    oracle = plain.expecting(people)
    assert oracle.seeds == seeds
    if seeds is None:
        assert oracle is plain
        return
    assert (oracle.points, oracle.arc) == (points, 1)
    # The condition holds, against the finest circle, and would not with half of them.
    fresh = plain.variance(0.0, people)
    assert fresh < oracle.variance(0.0, people) <= 1.05 * fresh
    assert seeds * WORTH <= people
    assert seeds == LEAST_SEEDS or replace(oracle, seeds=seeds // 2).variance(0.0, people) > 1.05 * fresh


def test_what_travels():
    plain = make("wheel", Fraction(1), 10, pad=2)
    oracle = plain.numbered(4096)
    assert oracle.form == {**plain.form, "arc": 1, "inside": oracle.form["inside"], "points": 9, "seeds": 4096}
    assert oracle.bits == 12 + 4
    assert oracle.influence.values < plain.influence.values
    assert list(oracle.randomise([3])) == ["seed", "point"]
    assert oracle.as_asked(plain.form) == plain
    assert plain.as_asked(oracle.form) == oracle
    assert oracle.as_asked(oracle.form) is oracle
    strange = [{"seed": [1, 2], "point": 0}, {"seed": 4096, "point": 0}, {"seed": 0, "point": 9}]
    assert [refusal.reason for refusal in oracle.codec.read_reports(strange).refused] == [
        *["its seed is not a whole number below 4,096"] * 2,
        "its point is not a whole number below 9",
    ]


@pytest.mark.parametrize("change", [{"seeds": None}, {"points": 1 << 32}, {"arc": 2}])
def test_few_points_are_for_published_seeds(change):
    with pytest.raises(MisuseError) as refused:
        replace(make("wheel", Fraction(1), 10, pad=2).numbered(4096), **change)
    assert str(refused.value) == ("A wheel has few points and arcs of one where seeds are published: use numbered.")


@pytest.mark.parametrize(("value_count", "buckets", "p_own"), [(2, 4, 0.4), (3, 5, 0.25), (4, 6, 0.2)])
def test_what_overlaps_leave_is_that_of_all_hash_functions(value_count, buckets, p_own):
    """Every way to put the values into buckets: the variance of a cell, and what single values and pairs explain."""
    ways = list(product(range(buckets), repeat=value_count))
    law = np.empty((len(ways), buckets))
    for row, places in enumerate(ways):
        buckets_taken = set(places)
        law[row] = (1 - len(buckets_taken) * p_own) / (buckets - len(buckets_taken))
        law[row, list(buckets_taken)] = p_own
    names = np.array([[[place == bucket for place in places] for bucket in range(buckets)] for places in ways], float)
    single_columns = (names - 1 / buckets).reshape(-1, value_count)
    pair_columns = np.stack(
        [
            single_columns[:, left_value] * single_columns[:, right_value]
            for left_value, right_value in combinations(range(value_count), 2)
        ],
        axis=1,
    )
    pair_columns = pair_columns.reshape(len(ways), buckets, -1)
    pair_columns = (pair_columns - pair_columns.mean(1, keepdims=True)).reshape(law.size, -1)
    deviations, mean_residuals = law.ravel() - 1 / buckets, []
    for columns in (single_columns, np.concatenate((single_columns, pair_columns), axis=1)):
        residuals = deviations - columns @ np.linalg.lstsq(columns, deviations, rcond=None)[0]
        mean_residuals.append(float((residuals**2).mean()) / (p_own - 1 / buckets) ** 2)
    overlaps = Overlaps.of(value_count, buckets, p_own)
    assert overlaps.pairs + overlaps.more == pytest.approx(mean_residuals[0])
    # Pairs are counted as if others did not matter, which is close.
    assert overlaps.more == pytest.approx(mean_residuals[1], abs=0.1 * mean_residuals[0])
    assert Overlaps.of(1, buckets, p_own) == Overlaps()


@pytest.mark.statistical
@pytest.mark.parametrize("kind", CROWDS)
def test_estimates_are_unbiased_and_vary_as_derived(kind):
    """24 trials of 400 items: the mean square is within 5 %, which is over 3 deviations of it; and no mean is far."""
    answered, trials = crowd(kind), 24
    truth = np.bincount(answered.values, minlength=ITEMS) / PEOPLE
    plain = make("wheel", Fraction(1), ITEMS, pad=PAD)
    oracle = plain.expecting(PEOPLE)
    errors = np.array([estimates(oracle, answered, seed) for seed in range(trials)]) - truth
    fresh = plain.variance(truth, PEOPLE)
    leak_free_variance = replace(oracle, seeds=1 << 30).variance(
        truth, PEOPLE
    )  # so many that nothing leaks: the points alone
    derived = leak_free_variance - (float((truth**2).sum()) - truth**2) / ((oracle.points - 1) * PEOPLE)
    is_rare = truth < 0.3
    assert 0.95 < float((errors**2 / derived)[:, is_rare].mean()) < 1.05
    # As good as with fresh seeds, at the number of seeds that is chosen, and within what is stated.
    assert float((errors**2).mean() / fresh.mean()) <= 1.05
    assert float((errors**2).mean() / oracle.variance(truth, PEOPLE).mean()) <= 1.05
    assert np.abs(errors.mean(0) / np.sqrt(derived / trials)).max() < TOLERANCE


@pytest.mark.parametrize(
    ("epsilon", "people", "last_seeded", "first_fresh"),
    [("1", 10**9, 20, 30), ("2", 10**9, 10, 15), ("4", 10**9, 3, 5), ("2", 10**8, 50, 100), ("4", 10**8, 15, 20)],
)
def test_seeds_are_fresh_where_a_table_has_no_room_and_only_there(epsilon, people, last_seeded, first_fresh):
    """The paddings of the page: the last that has a table, and the first that would need too large a one."""
    for pad, fits in ((last_seeded, True), (first_fresh, False)):
        plain = make("wheel", Fraction(epsilon), 100_000, pad=pad)
        oracle = plain.expecting(people)
        assert (oracle.seeds is not None) is fits
        largest = plain.numbered(1 << (MOST_CELLS // oracle.numbered(2).points).bit_length() - 1)
        ratio = largest.variance(0.0, people) / plain.variance(0.0, people)
        assert (ratio <= 1.05) is fits
        assert ratio < 2.5


@pytest.mark.statistical
@pytest.mark.parametrize("pad", [2, 5])
def test_pairs_that_are_not_taken_off_leak_as_derived(pad, monkeypatch):
    """Few seeds for many people: the variance is what is stated for pairs and more, and next to none with them.

    The squares of 400 items have a deviation of 7 %: a fifth is nearly three, passed once in 200 times by chance.
    """
    people, seeds = 4 * 10**6, 4096
    oracle = make("wheel", Fraction(1), ITEMS, pad=pad).numbered(seeds)
    answered = crowd("everyone holds the same", people, pad)
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, oracle.reports(answered, 3))
    rare_items, overlaps = np.arange(pad, ITEMS), Overlaps.of(pad, oracle.points, float(oracle.p_held))
    noise = oracle.rare_variance(people)
    corrected_error = float((oracle.estimate(oracle.adder.decode(aggregate), people)[rare_items] ** 2).mean())
    assert corrected_error < 1.2 * (noise + overlaps.more / seeds + 0.02 * overlaps.pairs / seeds)
    monkeypatch.setattr(SeedTable, "_find_pairs", lambda *_: reading._NO_PAIRS)
    leaking = float((oracle.estimate(oracle.adder.decode(aggregate), people)[rare_items] ** 2).mean())
    assert leaking == pytest.approx(noise + (overlaps.pairs + overlaps.more) / seeds, rel=0.2)
    assert leaking > 1.5 * corrected_error


def expected_table(oracle, values, reports_per_seed):
    """Return the expected table of people who all hold `values`, with `reports_per_seed` reports for each seed."""
    places = hashes(*published_pairs(np.arange(oracle.seeds, dtype=np.uint32)), values).astype(np.int64)
    is_own = np.zeros((oracle.seeds, oracle.points), bool)
    is_own[np.arange(oracle.seeds)[:, None], places * oracle.points >> 32] = True
    outside = (1 - is_own.sum(1, keepdims=True) * float(oracle.own_chance)) / (
        oracle.points - is_own.sum(1, keepdims=True)
    )
    return np.rint(reports_per_seed * np.where(is_own, float(oracle.own_chance), outside)).astype(np.int64)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("epsilon", "pad", "seeds", "reports_per_seed", "min_ratio"),
    [
        ("2", 5, 2048, 10**6, 0.75),
        ("4", 3, 1024, 10**6, 0.75),
        ("1", 5, 1024, 10**6, 0.75),
        # Pairs are taken off, and what is stated is a bound.
        ("1", 5, 16_384, 10**4, 0.0),
        ("2", 5, 8192, 10**4, 0.0),
        ("1", 8, 8192, 10**4, 0.0),
    ],
)
def test_a_value_that_is_held_with_others_is_off_by_what_is_stated(epsilon, pad, seeds, reports_per_seed, min_ratio):
    """Without noise of reports, 60 baskets that everybody holds: the squares' mean is within a quarter, 3 deviations.

    Published seeds stay as they are, so that a value of one basket is off by as much in every round.
    """
    oracle, generator = make("wheel", Fraction(epsilon), ITEMS, pad=pad).numbered(seeds), np.random.default_rng(1)
    squares = []
    for _ in range(60):
        values = generator.choice(ITEMS, pad, replace=False)
        table = expected_table(oracle, values, reports_per_seed)
        people = int(table.sum())
        squares.append((oracle.estimate(oracle.adder.decode(table), people)[values] - 1) ** 2)
    assert min_ratio < float(np.mean(squares)) / oracle.variance(1.0, people) < 1.25


@pytest.mark.parametrize(("people", "max_ratio"), [(10**5, 1.25), (10**6, 1.25), (10**9, 1.75)])
def test_what_is_said_of_values_that_everybody_holds_with_others(people, max_ratio):
    """The numbers of the page: the variance beside that of fresh seeds, at the seeds that are chosen."""
    ratios = []
    for epsilon, pad in product(("1/10", "1/2", "1", "2", "3", "4", "6", "8"), (2, 3, 5, 7, 10, 20)):
        plain = make("wheel", Fraction(epsilon), 1000, pad=pad)
        oracle = plain.expecting(people)
        if oracle.seeds is not None:
            ratios.append(oracle.variance(1.0, people) / plain.variance(1.0, people))
    assert max_ratio - 0.25 < max(ratios) < max_ratio


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["1/2", "1", "2"])
def test_no_report_adds_more_than_is_said(epsilon):
    """Every cell of a table, one value with as many pairs as any has: what one more report adds to every estimate."""
    plain = make("wheel", Fraction(epsilon), 400, pad=3)
    oracle = plain.numbered(1 << (64 * plain.numbered(2).points - 1).bit_length())
    seeds, points, items = oracle.seeds, oracle.points, np.arange(60)
    multiplier, increment = published_pairs(np.arange(seeds, dtype=np.uint32))
    places = hashes(multiplier, increment, items).astype(np.int64) * points >> 32
    names = (places[:, None, :] == np.arange(points)[None, :, None]).astype(float) - 1 / points
    pairs = [(0, partner) for partner in range(1, 1 + seeds // PARTNERS)] + [
        (value, value + 1) for value in range(20, 59, 2)
    ]
    pair_columns = np.stack(
        [names[:, :, left_value] * names[:, :, right_value] for left_value, right_value in pairs], axis=2
    )
    shared_cells = np.stack(
        [(names[:, :, left_value] > 0) & (names[:, :, right_value] > 0) for left_value, right_value in pairs], axis=2
    )
    pair_columns -= pair_columns.mean(1, keepdims=True)
    single_columns, pair_columns, shared_cells = (
        columns.reshape(seeds * points, -1) for columns in (names, pair_columns, shared_cells.astype(float))
    )
    slope = float(oracle.p_held - oracle.p_other) / (1 - 1 / points)
    solve = np.linalg.inv(single_columns.T @ single_columns) @ single_columns.T
    extra = (shared_cells / (slope * (1 - 1 / points) * (1 - 2 / points) * shared_cells.sum(0))).T
    extra -= (extra @ single_columns) @ solve
    report_weights = solve / slope - (solve @ pair_columns) @ extra
    largest_weight = float(report_weights.max()) * seeds
    alike = float(oracle.influence.people / oracle.amplified)
    assert 1.05 * alike < largest_weight < float(oracle.influence.people)


@pytest.mark.statistical
@pytest.mark.parametrize(("epsilon", "pad", "seeds"), [("1", 3, 4096), ("1", 2, 8192), ("2", 2, 4096)])
def test_no_report_adds_more_where_pairs_are_as_dense_as_may_be(epsilon, pad, seeds):
    """Every cell of a table and 30 values, each with as many partners as it may have: by chance once in 1,000."""
    oracle = make("wheel", Fraction(epsilon), 400, pad=pad).numbered(seeds)
    points, items, max_partners = oracle.points, np.arange(30), seeds // PARTNERS
    places = hashes(*published_pairs(np.arange(seeds, dtype=np.uint32)), items).astype(np.int64) * points >> 32
    names = (places[:, None, :] == np.arange(points)[None, :, None]).astype(np.float32) - np.float32(1 / points)
    met, pairs = np.zeros(30, int), []
    for left_value, right_value in combinations(range(30), 2):
        if max(met[left_value], met[right_value]) < max_partners:
            met[[left_value, right_value]] += 1
            pairs.append((left_value, right_value))
    assert len(pairs) > 0.9 * 30 * max_partners / 2
    pair_columns = np.stack(
        [names[:, :, left_value] * names[:, :, right_value] for left_value, right_value in pairs], axis=2
    )
    shared_cells = np.stack(
        [(names[:, :, left_value] > 0) & (names[:, :, right_value] > 0) for left_value, right_value in pairs], axis=2
    )
    pair_columns -= pair_columns.mean(1, keepdims=True)
    single_columns, pair_columns, shared_cells = (
        columns.reshape(seeds * points, -1) for columns in (names, pair_columns, shared_cells.astype(np.float32))
    )
    slope = float(oracle.p_held - oracle.p_other) / (1 - 1 / points)
    solve = np.linalg.inv(single_columns.T @ single_columns) @ single_columns.T
    through = solve @ pair_columns / (slope * (1 - 1 / points) * (1 - 2 / points) * shared_cells.sum(0))
    report_weights = solve / slope - through @ shared_cells.T + (through @ (shared_cells.T @ single_columns)) @ solve
    alike = float(oracle.influence.people / oracle.amplified)
    assert 1.15 * alike < float(report_weights.max()) * seeds < float(oracle.influence.people)


@pytest.mark.parametrize("points", [5, 6, 9])
def test_what_pairs_take_into_a_value_over_all_hash_functions(points):
    """The means and variances that the page's bound of one report is made of, in exact fractions."""
    even = Fraction(1, points)

    def centered(place):
        return [int(point == place) - even for point in range(points)]

    def through(*places):
        """The value's own deviations times those of a pair, less the mean of the row, over their square."""
        value_deviations, *pair = map(centered, places)
        product = [a * b for a, b in zip(*pair, strict=True)]
        mean = sum(product) * even
        return sum(a * (b - mean) for a, b in zip(value_deviations, product, strict=True)) / (1 - even)

    own_effects = [through(x, x, z) for x in range(points) for z in range(points)]
    assert set(own_effects) == {1 - 2 * even, -(1 - 2 * even) / (points - 1)}
    assert sum(own_effects) == 0
    assert sum(effect * effect for effect in own_effects) / len(own_effects) == (1 - 2 * even) ** 2 / (points - 1)
    other_effects = [through(0, z, point) for z in range(points) for point in range(points)]
    assert sum(other_effects) == 0
    assert sum(effect * effect for effect in other_effects) / len(other_effects) <= even**2 * (1 - even)
    # A report in a shared cell adds so many people to the pair, and one over the slope to the value itself.
    weight_of_report = points / ((1 - even) * (1 - 2 * even))
    assert weight_of_report**2 * (1 - 2 * even) ** 2 / (points - 1) == points * Fraction(points, points - 1) ** 3
    assert weight_of_report**2 * even**2 * (1 - even) == 1 / ((1 - even) * (1 - 2 * even) ** 2)
    assert weight_of_report * (1 - 2 * even) == Fraction(points**2, points - 1)


@pytest.mark.parametrize(("seeds", "buckets", "symbols", "values_held"), [(4096, 14, 400, 3), (16384, 23, 10**5, 5)])
def test_the_bound_of_one_report_is_where_the_tail_is_small_enough(seeds, buckets, symbols, values_held):
    """Counted anew from the page: just below the number the tail is too large, and at the number it is not."""
    t, cells = log(2000 * seeds * buckets * symbols), buckets - 1
    expected_weight = cells * seeds / (64 * buckets)
    values = (expected_weight + sqrt(2 * expected_weight * t) + t / 3) / (cells * seeds) + 1 / (64 * cells**2)
    symbols_solved, partners = min(symbols, 64 * values_held), seeds // 1024

    def tail(u):
        total = 0.0
        for m in range(symbols_solved + 1):
            own_variance = min(m, partners) * buckets / seeds * (buckets / cells) ** 3
            pair_variance = m * min(max(m - 1, 0), partners) / 2 / (seeds * (1 - 1 / buckets) * (1 - 2 / buckets) ** 2)
            variance = (8 / 7) ** 2 * (values + own_variance + pair_variance)
            chance = comb(symbols_solved, m) * buckets**-m * (1 - 1 / buckets) ** (symbols_solved - m)
            total += chance * exp(-(u**2) / 2 / (variance + buckets**2 / (cells * seeds) * u / 3))
        return total

    u = float(amplified(seeds, buckets, symbols, values_held) / Fraction(49, 48)) - 1
    assert tail(u + 0.01) < exp(-t) < tail(u - 0.01)


def test_parts_of_a_round_add_up():
    oracle = make("wheel", Fraction(1), 40, pad=2).numbered(64)
    columns = oracle.reports(of_rows(np.stack((np.arange(3000) % 20, 20 + np.arange(3000) % 20), axis=1)), 9)
    total, parts = oracle.adder.start(), [oracle.adder.start() for _ in range(3)]
    oracle.adder.add(total, columns)
    for number, part in enumerate(parts):
        oracle.adder.add(part, {name: column[number * 1000 : (number + 1) * 1000] for name, column in columns.items()})
    assert (sum(parts) == total).all()
    assert (total.shape, total.sum()) == ((64, oracle.points), 3000)
    assert oracle.adder.decode(sum(parts)).tolist() == oracle.adder.decode(total).tolist()
    oracle.adder.add(total, columns, -1)
    assert oracle.adder.decode(total).tolist() == [0] * 40


def test_supports_of_reports_are_those_of_their_windows():
    """Counted report by report, and as the plain reading of a table."""
    oracle = make("wheel", Fraction(2), 50, pad=2).numbered(256)
    columns = oracle.reports(of_rows(np.tile([3, 4], (2000, 1))), 5)
    is_named = oracle.match_values(columns, np.arange(50))
    supports = oracle.supports(columns)
    assert supports.tolist() == is_named.sum(0).tolist()
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, columns)
    table = oracle.adder.read_aggregate(aggregate).table
    plain = oracle.estimate(supports, 2000)
    assert (
        np.abs(table._first_estimates - plain).max() < sqrt(oracle.rare_variance(2000)) / 64
    )  # what rounding cells may move


def test_both_speeds_of_a_simulation_make_the_same_reports():
    oracle = make("wheel", Fraction(1), 40, pad=2).numbered(64)
    answered = of_rows(np.tile([3, 4], (2000, 1)))
    person, aggregated = oracle.adder.start(), oracle.adder.start()
    oracle.add_drawn(person, answered, 3, None)
    oracle.add_drawn(aggregated, answered, 3, np.random.default_rng(1))
    assert (person == aggregated).all()
    assert oracle.drawn_together
