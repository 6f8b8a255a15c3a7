"""What accuracy needs of the hash family: items that nobody holds are not biased, also with consecutive numbers.

The same test is put to two weaker families, which fail it.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from discreet.kernels import count_windows
from discreet.local import SimulatedAnswers
from discreet.local.device import hash_item
from discreet.local.oracle_steps import oracles

PEOPLE = 200_000
TOLERANCE = 5.0  # standard deviations: with about 100 numbers a test, once in 17,000 seeds by chance


def multiply_shift(multiplier, increment, item):
    return multiplier * np.uint32(item)


def multiply_add(multiplier, increment, item):
    return multiplier * np.uint32(item) + increment


def mixing(multiplier, increment, item):
    value = multiply_add(multiplier, increment, item)
    value = (value ^ value >> np.uint32(16)) * np.uint32(0x21F0AAAD)
    value = (value ^ value >> np.uint32(15)) * np.uint32(0xD35A2D97)
    return value ^ value >> np.uint32(15)


def drawn_seeds():
    generator = np.random.default_rng(11)
    multiplier, increment = generator.integers(0, 2**32, (2, PEOPLE), np.uint32)
    return multiplier | np.uint32(1), increment, generator


def worst_of_buckets(family):
    """Return the deviation of the share of meetings of two items in one of four buckets from one in four."""
    multiplier, increment, _ = drawn_seeds()
    buckets = [family(multiplier, increment, item) >> np.uint32(30) for item in range(10)]
    meetings = [np.mean(buckets[a] == buckets[b]) for a in range(10) for b in range(a)]
    return max(abs(share - 0.25) for share in meetings) / sqrt(0.25 * 0.75 / PEOPLE)


def worst_of_wheel(family, value_count=5, arc=2**32 // 20, growth=np.e**3):
    """Return the deviation of the support of an item without holders from an arc's part of the circle."""
    multiplier, increment, generator = drawn_seeds()
    starts = [family(multiplier, increment, item) for item in range(value_count)]

    def covered(point):
        return np.any([point - start < np.uint32(arc) for start in starts], axis=0)

    # The union of the arcs, exactly: gaps between sorted starts, where shorter than an arc, are covered whole.
    ordered = np.sort(np.array(starts, np.int64), 0)
    gaps = np.diff(np.vstack([ordered, ordered[:1] + 2**32]), axis=0)
    union = np.minimum(gaps, arc).sum(0) / 2**32
    full = value_count * arc / 2**32
    total = full * growth + 1 - full
    outside = (total - growth * union) / ((1 - union) * growth)
    point, is_open = np.zeros(PEOPLE, np.uint32), np.ones(PEOPLE, bool)
    while is_open.any():
        candidates = generator.integers(0, 2**32, PEOPLE, np.uint32)
        is_accepted = is_open & (generator.random(PEOPLE) < np.where(covered(candidates), 1.0, outside))
        point[is_accepted] = candidates[is_accepted]
        is_open &= ~is_accepted
    chance = arc / 2**32
    shares = [np.mean(point - family(multiplier, increment, item) < np.uint32(arc)) for item in range(value_count, 60)]
    return max(abs(share - chance) for share in shares) / sqrt(chance * (1 - chance) / PEOPLE)


def test_this_family_is_the_device_s():
    multiplier, increment, _ = drawn_seeds()
    for item in (0, 1, 77, 2**31 - 1):
        assert mixing(multiplier[:50], increment[:50], item).tolist() == [
            hash_item(seed, item) for seed in zip(multiplier[:50].tolist(), increment[:50].tolist(), strict=True)
        ]


@pytest.mark.statistical
def test_pairs_of_consecutive_items_meet_as_often_as_any():
    assert worst_of_buckets(mixing) < TOLERANCE
    assert worst_of_buckets(multiply_shift) > 20


@pytest.mark.statistical
def test_the_wheel_needs_more_than_pairs():
    assert worst_of_wheel(mixing) < TOLERANCE
    assert worst_of_wheel(multiply_add) > 2 * TOLERANCE
    assert worst_of_wheel(multiply_shift) > 2 * TOLERANCE


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["olh", "wheel"])
def test_consecutive_items_that_nobody_holds_are_unbiased(name):
    """The real oracles: everyone holds the first items, and those after them are estimated."""
    oracle = oracles()[name].make(Fraction(2), 60, pad=5)
    offsets = np.arange(0, 5 * PEOPLE + 1, 5)
    held_values = np.tile(np.arange(5, dtype=np.int32), PEOPLE)
    answered = SimulatedAnswers(offsets=offsets, values=held_values, people=np.arange(PEOPLE))
    estimates = oracle.estimate(oracle.supports(oracle.reports(answered, 21)), PEOPLE)
    assert (np.abs(estimates[5:]) < TOLERANCE * sqrt(oracle.variance(0.0, PEOPLE))).all()
    assert (np.abs(estimates[:5] - 1) < TOLERANCE * sqrt(oracle.variance(1.0, PEOPLE))).all()


def test_item_0_is_hashed_like_any_other():
    """Plain multiply-shift sends it to bucket 0 for every seed."""
    columns = [np.full(1000, value, np.uint32) for value in (0, 2**30)]
    multiplier, increment, _ = drawn_seeds()
    counts = np.zeros(1, np.int64)
    count_windows(multiplier[:1000], increment[:1000], *columns, np.zeros(1, np.uint32), counts)
    assert 150 < counts[0] < 350
