"""The most that one report can add: the public number against every possible report."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import ceil, log

import numpy as np
import pytest

from discreet.local.oracle_steps import (
    BitsField,
    Influence,
    RowField,
    SeedField,
    SubsetField,
    WholeField,
    hashes,
    means,
    oracles,
)
from discreet.local.oracle_steps._honest import count_colliding_values

HASHING = {
    name
    for name, kind in oracles().items()
    if any(isinstance(field, SeedField) for field in kind.make(Fraction(1), 5).fields)
}


def every_value(field):
    """Return all values of a field of a report."""
    if isinstance(field, WholeField):
        return list(range(field.bound))
    if isinstance(field, SubsetField):
        return [list(values) for values in combinations(range(field.bound), field.count)]
    if isinstance(field, RowField):
        return [list(values) for values in product(range(field.bound), repeat=field.count)]
    assert isinstance(field, BitsField), f"say here which values {field.name} has"
    return [f"{bits:02x}" for bits in range(1 << field.count)]


def every_report(oracle):
    """Return all reports of a small oracle that does not hash: those of all values whose fields go together."""
    names = [field.name for field in oracle.fields]
    values = product(*map(every_value, oracle.fields))
    reports = [dict(zip(names, report, strict=True)) for report in values]
    return [report for report in reports if not oracle.codec.find_flaw(report)]


@pytest.mark.parametrize(
    ("epsilon", "size", "pad", "single"), [("1", 6, 2, False), ("3", 5, 1, True), ("1/2", 4, 3, False)]
)
@pytest.mark.parametrize("name", [name for name in oracles() if name not in HASHING])
def test_no_report_adds_more_and_some_report_adds_as_much(name, epsilon, size, pad, single):
    oracle = oracles()[name].make(Fraction(epsilon), size, pad=pad, single=single)
    batch = oracle.codec.read_reports(every_report(oracle))
    assert not batch.refused
    is_named = oracle.match_values(batch.columns, np.arange(size))
    assert is_named.sum(0).tolist() == oracle.supports(batch.columns).tolist()
    assert is_named.sum(1).max() == oracle.influence.values
    # By how much the estimate of one value, in people, grows with a report: exactly, in fractions.
    p_held, p_other = oracle.p_held, oracle.p_other
    worth = {int(support): (int(support) - p_other) / (p_held - p_other) for support in np.unique(is_named)}
    assert max(worth.values()) == oracle.influence.people
    # And so it does in the estimate itself, beside 9 reports that name nothing.
    ten = oracle.estimate(np.array([1, *[0] * (size - 1)]), 10)[0] * 10
    estimate_of_none = oracle.estimate(np.zeros(size, np.int64), 9)[0] * 9
    assert ten - estimate_of_none == pytest.approx(float(oracle.influence.people))


@pytest.mark.parametrize("name", sorted(HASHING))
@pytest.mark.parametrize("bits", [12, 16])
def test_seeds_put_as_many_values_together_as_there_are_seeds_for(name, bits):
    """Of 2^bits seeds some put a few values less together than is said, and none a few more: by chance once in 100."""
    oracle = oracles()[name].make(Fraction(2), 500, pad=1)
    generator = np.random.default_rng(bits)
    multiplier = generator.integers(0, 1 << 32, 1 << bits, dtype=np.uint32) | np.uint32(1)
    increment = generator.integers(0, 1 << 32, 1 << bits, dtype=np.uint32)
    stated_count = count_colliding_values(oracle.p_other, bits)
    margin = ceil(log(100) / -log(oracle.p_other))
    for value_count, possible in ((stated_count - margin, True), (stated_count + margin + 1, False)):
        values = generator.permutation(500)[:value_count]
        hash_values = hashes(multiplier, increment, values)
        window = (1 << 32) // oracle.buckets if name != "wheel" else oracle.arc
        collide = (hash_values // np.uint32(window) == (hash_values // np.uint32(window))[:, :1]).all(1)
        assert collide.any() == possible
    assert oracle.influence.values == min(500, count_colliding_values(oracle.p_other))
    assert oracle.influence.people == (1 - oracle.p_other) / (oracle.p_held - oracle.p_other)


@pytest.mark.parametrize("name", list(means()))
def test_no_report_of_a_mean_is_worth_more(name):
    oracle = means()[name].make(Fraction(1))
    if name == "pm":
        columns = {"point": np.array([0, oracle.points - 1])}
    elif name == "duchi":
        columns = {"sign": np.array([0, 1])}
    else:
        columns = {"kind": np.array([1, 1, 0, 0]), "value": np.array([0, oracle.pm.points - 1, 0, 1])}
    assert max(abs(oracle.worth(columns))) == pytest.approx(float(oracle.influence.people))
    assert oracle.influence.values == 1


def test_harm_is_shared_where_one_report_cannot_name_all_targets():
    assert Influence(people=Fraction(100), values=1).harm(10) == 10
    assert Influence(people=Fraction(20), values=50).harm(10) == 20


def test_the_first_round_of_a_large_study_has_the_numbers_that_the_page_has():
    oracle = oracles()["privset"].make(Fraction(1), 1515, pad=7)
    assert (float(oracle.influence.people), oracle.influence.values) == (pytest.approx(27.6, abs=0.1), 56)
