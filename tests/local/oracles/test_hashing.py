"""What accuracy needs of the hash family: items that nobody holds are not biased, also with consecutive numbers.

The same test is put to two weaker families, which fail it.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from discreet.kernels import count_windows
from discreet.local import Answered
from discreet.local.device import hash_item
from discreet.local.oracle_steps import oracles

PEOPLE = 200_000
FAR = 5.0  # standard deviations: with about 100 numbers a test, once in 17,000 seeds by chance


def multiply_shift(first, second, item):
    return first * np.uint32(item)


def multiply_add(first, second, item):
    return first * np.uint32(item) + second


def mixing(first, second, item):
    value = multiply_add(first, second, item)
    value = (value ^ value >> np.uint32(16)) * np.uint32(0x21F0AAAD)
    value = (value ^ value >> np.uint32(15)) * np.uint32(0xD35A2D97)
    return value ^ value >> np.uint32(15)


def drawn_seeds():
    generator = np.random.default_rng(11)
    first, second = generator.integers(0, 2**32, (2, PEOPLE), np.uint32)
    return first | np.uint32(1), second, generator


def worst_of_buckets(family):
    """Return how far two different items are from meeting in one of four buckets once in four times."""
    first, second, _ = drawn_seeds()
    buckets = [family(first, second, item) >> np.uint32(30) for item in range(10)]
    meetings = [np.mean(buckets[a] == buckets[b]) for a in range(10) for b in range(a)]
    return max(abs(share - 0.25) for share in meetings) / sqrt(0.25 * 0.75 / PEOPLE)


def worst_of_wheel(family, many=5, arc=2**32 // 20, growth=np.e**3):
    """Return how far the share of reports that support an item nobody holds is from an arc's part of the circle."""
    first, second, generator = drawn_seeds()
    starts = [family(first, second, item) for item in range(many)]

    def covered(point):
        return np.any([point - start < np.uint32(arc) for start in starts], axis=0)

    # The union of the arcs, exactly: gaps between sorted starts, where shorter than an arc, are covered whole.
    ordered = np.sort(np.array(starts, np.int64), 0)
    gaps = np.diff(np.vstack([ordered, ordered[:1] + 2**32]), axis=0)
    union = np.minimum(gaps, arc).sum(0) / 2**32
    full = many * arc / 2**32
    total = full * growth + 1 - full
    outside = (total - growth * union) / ((1 - union) * growth)
    point, left = np.zeros(PEOPLE, np.uint32), np.ones(PEOPLE, bool)
    while left.any():
        tried = generator.integers(0, 2**32, PEOPLE, np.uint32)
        kept = left & (generator.random(PEOPLE) < np.where(covered(tried), 1.0, outside))
        point[kept] = tried[kept]
        left &= ~kept
    chance = arc / 2**32
    shares = [np.mean(point - family(first, second, item) < np.uint32(arc)) for item in range(many, 60)]
    return max(abs(share - chance) for share in shares) / sqrt(chance * (1 - chance) / PEOPLE)


def test_this_family_is_the_device_s():
    first, second, _ = drawn_seeds()
    for item in (0, 1, 77, 2**31 - 1):
        assert mixing(first[:50], second[:50], item).tolist() == [
            hash_item(seed, item) for seed in zip(first[:50].tolist(), second[:50].tolist(), strict=True)
        ]


@pytest.mark.statistical
def test_pairs_of_consecutive_items_meet_as_often_as_any():
    assert worst_of_buckets(mixing) < FAR
    assert worst_of_buckets(multiply_shift) > 20


@pytest.mark.statistical
def test_the_wheel_needs_more_than_pairs():
    assert worst_of_wheel(mixing) < FAR
    assert worst_of_wheel(multiply_add) > 2 * FAR
    assert worst_of_wheel(multiply_shift) > 2 * FAR


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["olh", "wheel"])
def test_consecutive_items_that_nobody_holds_are_unbiased(name):
    """The real oracles: everyone holds the first items, and those after them are estimated."""
    oracle = oracles()[name].make(Fraction(2), 60, pad=5)
    offsets = np.arange(0, 5 * PEOPLE + 1, 5)
    held = np.tile(np.arange(5, dtype=np.int32), PEOPLE)
    answered = Answered(offsets=offsets, held=held, people=np.arange(PEOPLE))
    estimates = oracle.estimate(oracle.supports(oracle.reports(answered, 21)), PEOPLE)
    assert (np.abs(estimates[5:]) < FAR * sqrt(oracle.variance(0.0, PEOPLE))).all()
    assert (np.abs(estimates[:5] - 1) < FAR * sqrt(oracle.variance(1.0, PEOPLE))).all()


def test_item_0_is_hashed_like_any_other():
    """Plain multiply-shift sends it to bucket 0 for every seed."""
    columns = [np.full(1000, value, np.uint32) for value in (0, 2**30)]
    first, second, _ = drawn_seeds()
    counts = np.zeros(1, np.int64)
    count_windows(first[:1000], second[:1000], *columns, np.zeros(1, np.uint32), counts)
    assert 150 < counts[0] < 350
