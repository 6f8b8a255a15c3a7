"""Screening: the law of honest reports of any data, false alarms, and crafted reports through every oracle."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from discreet.local import Oracle, SimulatedAnswers, client
from discreet.local.oracle_steps import _hashing as hashing, oracles
from discreet.local.oracle_steps._hashing import windows_met
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    PeopleGroup,
    count_pairs,
    screen_reports,
    sum_reports,
    tail_margin,
)
from discreet.local.study._collect import collect
from discreet.local.study._screening import FALSE_ALARM, WATCHED, Alarm, Screen, count_named_pairs
from discreet_lab.measure.liars import craft_reports
from naive.enumerating import law

ENUMERATED = ["grr", "subset", "privset", "geometry", "oue", "sue", "hr", "pckv-ue"]
HASHING = ["olh", "blh", "wheel"]
LIVE = [name for name, kind in oracles().items() if kind.live]


def people(rows, person_count, begin=0):
    """Return `person_count` people who hold the given rows in turn."""
    chosen_rows = [rows[position % len(rows)] for position in range(person_count)]
    offsets = np.cumsum([0, *map(len, chosen_rows)]).astype(np.int64)
    held_values = np.array([value for row in chosen_rows for value in row], np.int32)
    return SimulatedAnswers(offsets=offsets, values=held_values, people=np.arange(begin, begin + person_count))


def chances(oracle, basket):
    """Return every report of a device with a basket, its probability, and which values it names."""
    exact = law(oracle.form, basket)
    batch = oracle.codec.read_reports([json.loads(text) for text in exact])
    assert not batch.refused
    return list(exact.values()), oracle.match_values(batch.columns, np.arange(oracle.size))


@pytest.mark.parametrize(
    ("size", "pad", "single"), [(3, 1, False), (3, 2, False), (4, 2, False), (3, 1, True), (4, 3, False)]
)
@pytest.mark.parametrize("name", ENUMERATED)
def test_what_is_known_of_honest_reports_is_so_for_every_basket(name, size, pad, single):
    """By the device's own functions over all of their choices: two values together, and the ratio to blank reports."""
    oracle = oracles()[name].make(Fraction(1), size, pad=pad, single=single)
    honest, q = oracle.honest, oracle.p_other
    baskets = [(value,) for value in range(size)]
    if not single:
        baskets = [basket for size_of_basket in range(size) for basket in combinations(range(size), size_of_basket)]
    reached = Fraction(-1)
    for basket in baskets:
        weights, named_sets = chances(oracle, basket)
        for left_value, right_value in combinations(range(size), 2):
            if name == "pckv-ue" and left_value // 2 == right_value // 2:
                continue  # the two signs of one key: never together
            parts = [(int(row[left_value]) - q) * (int(row[right_value]) - q) for row in named_sets]
            mean = sum(weight * part for weight, part in zip(weights, parts, strict=True))
            square = sum(weight * part * part for weight, part in zip(weights, parts, strict=True))
            assert mean <= honest.excess
            assert square <= honest.square
            reached = max(reached, mean)
        if honest.tail is not None:
            blank = blank_law(oracle, named_sets)
            assert max(weight / chance for weight, chance in zip(weights, blank, strict=True)) <= honest.ratio
            for value_count in range(1, size + 1):
                counts = named_sets[:, :value_count].sum(1)
                tails = [
                    float(sum(c for c, n in zip(blank, counts, strict=True) if n >= t)) for t in range(value_count + 1)
                ]
                assert honest.tail(value_count) == pytest.approx(tails)
    if pad <= size - 2 or single:
        assert reached == honest.excess  # nothing is wasted: some basket is at the bound


def blank_law(oracle, named_sets):
    """Return the chance of each report under the blank law."""
    if oracle.name in ("oue", "sue"):
        q = oracle.p_other
        return [q ** int(row.sum()) * (1 - q) ** (oracle.size - int(row.sum())) for row in named_sets]
    values_per_report = 1 if oracle.name == "grr" else oracle.many
    assert len(named_sets) == comb(oracle.symbols_in_all, values_per_report)
    return [Fraction(1, len(named_sets))] * len(named_sets)


@pytest.mark.statistical
@pytest.mark.parametrize("held_values", [[], [0], [0, 1]])
@pytest.mark.parametrize("name", HASHING)
def test_hashed_values_come_together_as_if_hashes_were_random(name, held_values):
    """All 45 pairs of ten values within 5 deviations of one of the ways: by chance once in 7,000 for all nine cases."""
    oracle = oracles()[name].make(Fraction(1), 10, pad=2)
    person_count = 60_000
    is_named = oracle.match_values(oracle.reports(people([held_values], person_count), 3), np.arange(10))
    counts = count_named_pairs(is_named)
    for left_value, right_value in combinations(range(10), 2):
        # One value of two that are held is sampled half of the time: then it is between two of the ways.
        ways = [person_count * float(way.both) for way in oracle.honest.pair_laws]
        low, high = min(ways), max(ways)
        assert low - 5 * np.sqrt(low) <= counts[left_value, right_value] <= high + 5 * np.sqrt(high)
        if not {left_value, right_value} & set(held_values):
            assert counts[left_value, right_value] <= low + 5 * np.sqrt(low)
    assert counts[np.arange(10), np.arange(10)].tolist() == is_named.sum(0).tolist()


@pytest.mark.parametrize("name", list(oracles()))
def test_named_values_add_up_to_supports(name):
    oracle = oracles()[name].make(Fraction(1), 37, pad=2)
    columns = oracle.reports(people([[], [3], [3, 36]], 300), 5)
    values = np.array([0, 3, 9, 36])
    assert oracle.match_values(columns, values).sum(0).tolist() == oracle.supports(columns)[values].tolist()
    # The quick ways name what adding every report up by itself names.
    assert (oracle.match_values(columns, values) == Oracle.match_values(oracle, columns, values)).all()


HONEST = {
    "the same basket": [[0, 1, 2, 3, 4]],
    "nothing": [[]],
    "everything": [list(range(60))],
    "pairs that go together": [[2 * number, 2 * number + 1] for number in range(30)],
    "anything": [sorted(np.random.default_rng(number).permutation(60)[: number % 8].tolist()) for number in range(100)],
}


EPSILONS = ["1/10", "1/2", "1", "2", "3", "4", "6", "8"]


@lru_cache
def honest_people(kind, person_count):
    return people(HONEST[kind], person_count)


def honest_rounds(name):
    """Yield rounds of honest people through an oracle: with fresh seeds, and with tables sparse and dense."""
    sizes = [(4000, 60, 3)]
    if name in HASHING:
        sizes += [(20_000, 60, 3), (40_000, 60, 1), (40_000, 300, 5)]
    for epsilon, kind, (person_count, size, pad) in product(EPSILONS, HONEST, sizes):
        oracle = oracles()[name].make(Fraction(epsilon), size, pad=pad).expecting(person_count)
        if person_count == 4000 or oracle.seeds is not None:
            yield oracle, oracle.reports(honest_people(kind, person_count), 11)


@pytest.mark.statistical
@pytest.mark.parametrize("name", list(oracles()))
def test_honest_rounds_are_accused_as_seldom_as_is_said(name):
    """At most as many of all rounds as would be by chance once in 1,000 times, if one in 2,000 were: an exact bound."""
    accused, rounds = [], 0
    for oracle, columns in honest_rounds(name):
        screened = screen_reports(oracle, lambda columns=columns: [columns])
        rounds += 1
        if screened.alarms:
            accused.append((oracle.form, [str(alarm) for alarm in screened.alarms]))
        else:
            assert (screened.people, screened.left_out) == (len(next(iter(columns.values()))), 0)
    tails = [
        1 - float(sum(binomial(rounds, alarm_count, FALSE_ALARM) for alarm_count in range(count))) for count in range(4)
    ]
    assert rounds >= 40
    assert len(accused) < next(count for count, tail in enumerate(tails) if tail < 0.001), accused


def binomial(rounds, accused, chance):
    """Return the probability of a number of accused rounds."""
    return comb(rounds, accused) * chance**accused * (1 - chance) ** (rounds - accused)


def test_bounds_of_all_signs_add_up_to_what_is_said():
    """By Bernstein's inequality, for as many sums as are compared; no sign's share is more than a fifth."""
    for comparisons in (1, 60, comb(WATCHED, 2), 1 << 20):
        for variance in (0.0, 1.0, 400.0, 1e6):
            distance = tail_margin(variance, comparisons)
            chance = np.exp(-(distance**2) / (2 * (variance + distance / 3)))
            assert comparisons * chance <= 1.0001 * FALSE_ALARM / 5


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", ["oue", "sue"])
def test_honest_reports_name_too_many_or_too_few_as_seldom_as_is_said(name, epsilon):
    """Over all of a round's reports, counted exactly: each bit by itself, the own one with another chance."""
    oracle, person_count = oracles()[name].make(Fraction(epsilon), 60, pad=1), 4000
    screen = Screen(oracle, sum_reports([oracle.reports(people([[1]], person_count), 1)], oracle))
    min_named, max_named = screen.named_range
    p_held, p_other = float(oracle.p_held), float(oracle.p_other)
    chances_of_others = [binomial(59, named_count, p_other) for named_count in range(60)] + [0.0]
    chances = [
        p_held * (chances_of_others[named_count - 1] if named_count else 0.0)
        + (1 - p_held) * chances_of_others[named_count]
        for named_count in range(61)
    ]
    assert (
        person_count
        * sum(chance for named_count, chance in enumerate(chances) if not min_named <= named_count <= max_named)
        <= FALSE_ALARM / 5
    )


def test_values_are_looked_at_as_far_as_a_table_has_room():
    """2,048 seeds and 4 buckets have room for 96 values of 300: those that are lifted are among them."""
    oracle = oracles()["olh"].make(Fraction(1), 300, pad=1).numbered(2048)
    targets = list(range(100, 110))
    honest = oracle.reports(people([[3], [4], []], 38_000), 7)
    lies = craft_reports(oracle, targets, 4000, np.random.default_rng(3), 42_000)
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, honest)
    oracle.adder.add(aggregate, lies)
    watched = np.arange(256)
    shared_counts, variance = oracle.adder.read_aggregate(aggregate).table.estimate_pair_excess(watched)
    looked_at = np.flatnonzero(variance.sum(0))
    assert 64 < len(looked_at) <= 96
    assert set(targets) <= set(looked_at.tolist())
    assert not shared_counts[np.ix_(np.setdiff1d(watched, looked_at), watched)].any()
    alarm = screen_reports(oracle, lambda: [honest, lies]).alarms[0]
    assert (alarm.sign, len(set(alarm.values) & set(targets)) > 2) == ("together", True)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["the same basket", "anything"])
@pytest.mark.parametrize("name", ["olh", "wheel", "privset", "subset"])
def test_crafted_reports_are_flagged_and_do_not_lift_their_targets(name, kind):
    """4 of 100 reports name ten targets nobody holds: they are flagged, and three honest reports are lost at most."""
    size, targets = 400, list(range(100, 110))
    oracle = oracles()[name].make(Fraction(1), size, pad=4)
    rows = [[value for value in row if value < 60] for row in HONEST[kind]]
    honest = oracle.reports(people(rows, 28_800), 7)
    lies = craft_reports(oracle, targets, 1200, np.random.default_rng(3))
    screened = screen_reports(oracle, lambda: [honest, lies])
    alarm = screened.alarms[0]
    assert (alarm.sign, set(alarm.values) <= set(targets), len(alarm.values) > 2) == ("together", True, True)
    places = screened.places([honest, lies])
    assert len(places) == screened.left_out
    assert (places < 28_800).sum() <= 3
    assert screened.people == 30_000 - screened.left_out
    plain = oracle.estimate(oracle.supports(honest) + oracle.supports(lies), 30_000)[targets].mean()
    remaining_share = oracle.estimate(screened.supports, screened.people)[targets].mean()
    assert remaining_share < 0.6 * plain
    if name == "privset":
        assert remaining_share < 0.01
        assert (places >= 28_800).sum() > 1000
    # Whoever is not a target is estimated as before.
    other_values = np.setdiff1d(np.arange(size), targets)
    largest_error = 5 * np.sqrt(oracle.variance(0.0, 28_800))
    after, before = (
        oracle.estimate(screened.supports, screened.people),
        oracle.estimate(oracle.supports(honest), 28_800),
    )
    assert np.abs(after - before)[other_values].max() < largest_error


@pytest.mark.statistical
@pytest.mark.parametrize(("name", "pad"), [("olh", 1), ("wheel", 3)])
def test_seeds_that_too_many_name_are_left_out_with_all_of_their_reports(name, pad):
    """Whoever names the one seed that puts the most targets together is left out, and with them one in 1,024."""
    oracle = oracles()[name].make(Fraction(1), 400, pad=pad).numbered(1024)
    targets = list(range(100, 110))
    honest = oracle.reports(people([[3], [4], []], 60_000), 7)
    best_reports = craft_reports(oracle, targets, 1, np.random.default_rng(3))
    lies = {name: np.repeat(column, 600) for name, column in best_reports.items()}
    screened = screen_reports(oracle, lambda: [honest, lies])
    assert [(alarm.sign, alarm.values, alarm.reports) for alarm in screened.alarms] == [
        ("lots", (int(best_reports["seed"][0]),), screened.left_out)
    ]
    assert str(screened.alarms[0]) == (
        f"1 published seeds are named more often than devices draw them; {screened.left_out} reports are left out."
    )
    assert (screened.places([honest, lies]) >= 60_000).sum() == 600
    assert (honest["seed"] == best_reports["seed"][0]).sum() == screened.left_out - 600 < 120
    estimates = oracle.estimate(screened.supports, screened.people)
    assert np.abs(estimates[targets]).max() < 5 * np.sqrt(oracle.variance(0.0, 60_000))


@pytest.mark.statistical
@pytest.mark.parametrize(("name", "pad"), [("olh", 1), ("wheel", 3)])
def test_liars_who_keep_below_what_is_screened_lift_their_targets_less_than_with_fresh_seeds(name, pad):
    """Two in a hundred lie. With fresh seeds, unscreened, a report names more targets than any published one does."""
    plain = oracles()[name].make(Fraction(1), 400, pad=pad)
    oracle, targets = plain.numbered(4096), list(range(100, 110))
    lifted = []
    for tested_oracle in (plain, oracle):
        honest = tested_oracle.reports(people([[3], [4], []], 98_000), 7)
        lies = craft_reports(tested_oracle, targets, 2000, np.random.default_rng(3), 100_000)
        aggregate = tested_oracle.adder.start()
        tested_oracle.adder.add(aggregate, honest)
        tested_oracle.adder.add(aggregate, lies)
        lifted.append(tested_oracle.estimate(tested_oracle.adder.decode(aggregate), 100_000)[targets].mean())
    assert lifted[1] < 0.8 * lifted[0]


def test_bits_that_are_too_many_are_left_out():
    oracle = oracles()["oue"].make(Fraction(1), 64, pad=1)
    honest = oracle.reports(people([[1], [2]], 5000), 2)
    all_ones = {"bits": np.full((40, 2), 0xFFFFFFFF, np.uint32)}
    no_ones = {"bits": np.zeros((40, 2), np.uint32)}
    screened = screen_reports(oracle, lambda: [honest, all_ones, no_ones])
    assert screened.places([honest, all_ones, no_ones]).tolist() == list(range(5000, 5080))
    assert screened.alarms[0] == Alarm(sign="ones", values=(), reports=80) or screened.alarms[1].reports == 80
    assert sum(alarm.reports for alarm in screened.alarms) == 80


def test_a_bucket_that_everybody_names_and_a_value_that_more_than_all_hold_are_said():
    oracle = oracles()["olh"].make(Fraction(1), 20, pad=1)
    columns = oracle.reports(people([[1]], 4000), 2)
    columns["value"][:] = 0
    assert [alarm.sign for alarm in screen_reports(oracle, lambda: [columns]).alarms] == ["cells"]
    grr = oracles()["grr"].make(Fraction(1), 20, pad=1)
    screened = screen_reports(grr, lambda: [{"value": np.full(4000, 3)}])
    (alarm,) = screened.alarms
    assert (alarm.sign, screened.left_out, alarm.values) == ("supports", 0, tuple(range(20)))
    assert str(alarm) == "20 values are named more often than if everybody held them, or less than if nobody did."


def test_an_alarm_says_what_was_done():
    alarm = Alarm(sign="together", values=(1, 2), reports=1200, lowered=30)
    assert str(alarm) == (
        "2 values are named together more often than honest reports do, whatever is held; 1,200 reports are "
        "left out and what up to 30 reports added to each is taken off."
    )


def test_memory_does_not_grow_with_the_reports():
    """Whatever is kept between blocks is as large as what is watched."""
    oracle = oracles()["wheel"].make(Fraction(1), 3000, pad=3)
    columns = oracle.reports(people([[1, 2]], 500), 2)
    sizes = []
    for block_count in (1, 2, 3):
        screen = Screen(oracle, sum_reports([columns] * block_count, oracle))
        screen.set_pair_counts(count_pairs([columns] * block_count, oracle, screen.watched))
        sizes.append(sum(array.nbytes for array in vars(screen).values() if isinstance(array, np.ndarray)))
    assert len(set(sizes)) == 1
    assert len(screen.watched) == WATCHED


def test_a_round_without_reports_and_a_round_of_one_value():
    for name in LIVE:
        oracle = oracles()[name].make(Fraction(1), 1, pad=1)
        screened = screen_reports(oracle, lambda oracle=oracle: [oracle.codec.read_reports([]).columns])
        assert (screened.people, screened.supports.tolist(), screened.alarms) == (0, [0], ())


def test_a_collector_screens_the_bytes_that_were_sent():
    """Places are among all that were sent, the unreadable ones too."""
    ask = Ask.of(
        "which", PeopleGroup(0, 2**32), CandidateQuestion(CandidateList(items=300)), "privset", Fraction(1), pad=3
    )
    oracle = ask.frequencies
    honest = [client(ask.form, [1], max_epsilon=1) for _ in range(1500)]
    lie = {"values": sorted([*range(100, 110), *range(oracle.many - 10)])}
    lies = [json.dumps(lie, separators=(",", ":")).encode()] * 100
    collected = collect(ask, [b"nonsense", *honest, *lies], screen=True)
    assert len(collected.refused) == 1
    assert set(range(1501, 1601)) <= set(collected.left_out)
    assert len(collected.left_out) <= 103
    assert collected.alarms[0].sign == "together"
    plain = collect(ask, [b"nonsense", *honest, *lies])
    assert (plain.left_out, plain.alarms, plain.estimate.people) == ((), (), 1600)


def test_windows_are_met_as_kernels_count_them():
    oracle = oracles()["wheel"].make(Fraction(1), 50, pad=2)
    columns = oracle.reports(people([[1, 2]], 200), 2)
    met = windows_met(columns["first"], columns["second"], *oracle.find_windows(columns), np.arange(50))
    assert met.sum(0).tolist() == oracle.supports(columns).tolist()


@pytest.mark.parametrize("name", HASHING)
@pytest.mark.parametrize("chunk_count", ["1", "3"])
def test_any_number_of_threads_counts_the_same(name, chunk_count, monkeypatch):
    """Candidates are shared out unevenly here, and there are fewer of them than a tile has."""
    oracle = oracles()[name].make(Fraction(1), 100, pad=2)
    columns = oracle.reports(people([[1, 2]], 333), 2)
    supports_by_report = np.array(
        [
            [oracle.supports({key: column[position : position + 1] for key, column in columns.items()})]
            for position in range(333)
        ]
    )
    monkeypatch.setenv("DISCREET_THREADS", chunk_count)
    monkeypatch.setattr(hashing, "_BLOCK_REPORTS", 100)
    monkeypatch.setattr(hashing, "_BLOCK_HASHES", 512)
    is_named = oracle.match_values(columns, np.arange(100))
    assert oracle.supports(columns).tolist() == supports_by_report.sum((0, 1)).tolist()
    assert (is_named == (supports_by_report[:, 0] > 0)).all()
    assert count_named_pairs(is_named).tolist() == (is_named.T.astype(int) @ is_named.astype(int)).tolist()
