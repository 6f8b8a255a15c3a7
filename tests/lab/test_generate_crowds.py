"""Crowds of one marked shape: who holds what is as it was asked for, and a seed decides the rest."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import MisuseError
from discreet_lab.data.generators import bulk_buyers, zipf


def test_popularity_falls_by_a_power_of_the_rank():
    """Counts of 20,000 people beside their law, within five deviations: a false alarm in a million."""
    people, exponent, mean = 20_000, 1.2, 3.0
    counts = zipf(people, 40, exponent=exponent, mean_size=mean, seed=3).item_counts
    weights = np.arange(1, 41) ** -exponent
    expected_shares = 1 - np.exp(-mean * weights / weights.sum())  # Poisson draws of each item are independent
    assert (
        abs(counts - people * expected_shares) < 5 * np.sqrt(people * expected_shares * (1 - expected_shares))
    ).all()


def test_without_a_slope_all_items_are_alike():
    counts = zipf(10_000, 5, exponent=0, mean_size=2, seed=1).item_counts
    assert counts.max() < 1.1 * counts.min()


def test_only_bulk_buyers_hold_what_they_buy():
    baskets = bulk_buyers()
    assert (baskets.people, baskets.items) == (60_400, 1_050)
    assert baskets.item_counts[:50].tolist() == [400] * 50
    assert baskets.sizes.tolist() == [50] * 400 + [1] * 60_000
    assert (baskets.item_counts[50:] > 0).all()


def test_bulk_buyers_may_differ_and_others_may_hold_more():
    baskets = bulk_buyers(3_000, bulk=100, bulk_items=20, bulk_size=5, items=50, mean_size=3, seed=2)
    assert baskets.sizes[:100].tolist() == [5] * 100
    assert len({tuple(sorted(basket)) for basket in list(baskets)[:100]}) > 90
    other_sizes = baskets.sizes[100:]
    assert (other_sizes.min(), 2.5 < other_sizes.mean() < 3) == (1, True)


def test_a_seed_decides_everything():
    for make in (lambda seed: zipf(300, 20, seed=seed), lambda seed: bulk_buyers(300, bulk=20, seed=seed)):
        assert make(4) == make(4)
        assert make(4) != make(5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: zipf(0, 5), "people is 0; it must be a whole number, 1 or more."),
        (lambda: zipf(5, 5, exponent=-1), "exponent is -1; it must be 0 or a positive number."),
        (lambda: zipf(5, 5, mean_size=0), "mean_size is 0; it must be a positive number."),
        (lambda: bulk_buyers(5), "bulk is 400, but there are 5 people: give bulk=5 or fewer."),
        (
            lambda: bulk_buyers(bulk_size=51),
            "bulk_size is 51, but there are 50 items for bulk: give bulk_size=50 or fewer.",
        ),
        (lambda: bulk_buyers(mean_size=0.5), "mean_size is 0.5; it must be 1 or more."),
    ],
)
def test_misuse(make, message):
    with pytest.raises(MisuseError) as caught:
        make()
    assert str(caught.value) == message
