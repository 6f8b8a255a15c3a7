"""Made-up crowds of one marked shape each: popularity that falls by a power of the rank, and a few who buy in bulk.

Where `discreet.baskets._generate` imitates real baskets, these isolate one thing that makes counting hard.
"""

from __future__ import annotations

import numpy as np

from ..errors import MisuseError
from ._core import Baskets
from ._generate import background, check_counts, from_events, numbers
from ._seeding import seeds


def zipf(people: int, items: int, *, exponent: float = 1.0, mean_size: float = 5.0, seed: int = 0) -> Baskets:
    """Make up baskets of independent items whose popularity falls by a power of their rank.

    Each person makes Poisson many draws. Item i is drawn in proportion to (i + 1) to the power of minus `exponent`, and
    one that is drawn twice is held once.

    Parameters
    ----------
    people, items
        How many of each. Items are the numbers from 0, the most popular first.
    exponent
        How fast popularity falls: 0 or more, where 0 makes all items equally popular.
    mean_size
        The mean number of draws: above 0.
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
    source = np.random.default_rng(*seeds(seed, 1))
    popularity = np.arange(1, items + 1, dtype=np.float64) ** -exponent
    return from_events(people, *background(source, people, mean_size, popularity), numbers(items))


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
    """Make up a crowd in which a few people with long baskets hold what nobody else holds.

    The top of such data is theirs alone, and so is what clipping long baskets takes away. The default is 400 people who
    hold the same 50 items, beside 60,000 with one item each.

    Parameters
    ----------
    people
        How many there are in all.
    bulk
        How many of them buy in bulk.
    bulk_items
        How many items only bulk buyers hold: the numbers from 0.
    bulk_size
        How many of these each bulk buyer holds, drawn at random; all of them without it.
    items
        How many items all others hold: the numbers that follow, all equally popular.
    mean_size
        How many draws all others make: one, and Poisson many beside it. 1 or more.
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
    source = np.random.default_rng(*seeds(seed, 1))
    # The places of the smallest of many random numbers are a set that is drawn at random.
    held = np.argsort(source.random((bulk, bulk_items)), axis=1)[:, :size]
    sizes = 1 + source.poisson(mean_size - 1, people - bulk)
    others = np.repeat(np.arange(bulk, people, dtype=np.int64), sizes)
    holders = np.concatenate([np.repeat(np.arange(bulk, dtype=np.int64), size), others])
    drawn = np.concatenate([held.ravel().astype(np.int64), bulk_items + source.integers(items, size=len(others))])
    return from_events(people, holders, drawn, numbers(bulk_items + items))
