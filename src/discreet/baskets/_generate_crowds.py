"""Generators of synthetic baskets with one property that makes counting hard: power-law popularity, or bulk buyers."""

from __future__ import annotations

import numpy as np

from ..errors import MisuseError
from ._core import Baskets
from ._generate import build_from_events, check_counts, draw_background, number_vocabulary
from ._resample import spawn_seeds


def zipf(people: int, items: int, *, exponent: float = 1.0, mean_size: float = 5.0, seed: int = 0) -> Baskets:
    """Return baskets of independent items with a popularity that falls by a power of the rank.

    Each person draws a Poisson number of items. Item i has the weight (i + 1) ** -exponent; repeated draws of an item
    are merged.

    Parameters
    ----------
    people, items
        The numbers of people and of items, 1 or more. Items are the numbers from 0, the most popular first.
    exponent
        The power of the rank, 0 or more; with 0 all items are equally popular.
    mean_size
        The mean number of draws per person, above 0.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> zipf(1_000, 50, seed=7)
    Baskets(1,000 people, 50 items, 4.23 per basket)
    """
    check_counts(people=people, items=items)
    if not 0 <= exponent < np.inf:
        raise MisuseError.format("{exponent} is {given:g}; it must be 0 or a positive number.", given=exponent)
    if not 0 < mean_size < np.inf:
        raise MisuseError(f"mean_size is {mean_size:g}; it must be a positive number.")
    source = np.random.default_rng(*spawn_seeds(seed, 1))
    popularity = np.arange(1, items + 1, dtype=np.float64) ** -exponent
    return build_from_events(people, *draw_background(source, people, mean_size, popularity), number_vocabulary(items))


def bulk_buyers(
    people: int = 60_400,
    *,
    bulk: int = 400,
    bulk_items: int = 50,
    bulk_size: int | None = None,
    items: int = 1_000,
    mean_size: float = 1.0,
    seed: int = 0,
) -> Baskets:
    """Return baskets of a crowd and of a few bulk buyers, with long baskets of items that the crowd does not hold.

    Only bulk buyers hold the most frequent patterns, and only their baskets are clipped. The default is 400 people with
    50 common items, and 60,000 people with one item each.

    Parameters
    ----------
    people
        The number of all people, 1 or more.
    bulk
        The number of bulk buyers, at most `people`.
    bulk_items
        The number of items of bulk buyers: the numbers from 0.
    bulk_size
        The number of bulk items that each bulk buyer holds, drawn at random; None for all.
    items
        The number of items of the crowd: the numbers from `bulk_items`, equally popular.
    mean_size
        The mean number of draws per person of the crowd, 1 plus a Poisson number. 1 or more.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> bulk_buyers(1_000, bulk=20, bulk_items=30, seed=7)
    Baskets(1,000 people, 1,030 items, 1.58 per basket)
    """
    size = bulk_items if bulk_size is None else bulk_size
    check_counts(people=people, bulk=bulk, bulk_items=bulk_items, bulk_size=size, items=items)
    if bulk > people:
        raise MisuseError(f"bulk is {bulk:,}, but there are {people:,} people: give bulk={people} or fewer.")
    if size > bulk_items:
        raise MisuseError(
            f"bulk_size is {size:,}, but there are {bulk_items:,} items for bulk: give bulk_size={bulk_items} or fewer."
        )
    if not 1 <= mean_size < np.inf:
        raise MisuseError(f"mean_size is {mean_size:g}; it must be 1 or more.")
    source = np.random.default_rng(*spawn_seeds(seed, 1))
    # The positions of the `size` smallest random numbers are a uniform random set.
    bulk_baskets = np.argsort(source.random((bulk, bulk_items)), axis=1)[:, :size]
    sizes = 1 + source.poisson(mean_size - 1, people - bulk)
    crowd = np.repeat(np.arange(bulk, people, dtype=np.int64), sizes)
    holders = np.concatenate([np.repeat(np.arange(bulk, dtype=np.int64), size), crowd])
    crowd_items = bulk_items + source.integers(items, size=len(crowd))
    all_items = np.concatenate([bulk_baskets.ravel().astype(np.int64), crowd_items])
    return build_from_events(people, holders, all_items, number_vocabulary(bulk_items + items))
