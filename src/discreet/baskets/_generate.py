"""Generators of synthetic baskets: the Quest process and a grocery shop.

A seed decides every draw: equal arguments give equal baskets for any number of threads. No draw is private
noise.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import is_whole
from ..errors import MisuseError
from ..heavy import pa
from ._arrow import as_arrow
from ._capping import spawn_seeds
from ._core import Baskets, Codes, Offsets, Vocabulary, starts

# People are drawn in blocks, each with its own stream. Larger: more memory per thread. Another size: other baskets.
_BLOCK = 65_536
_CORRUPTION_VARIANCE = 0.1  # Agrawal and Srikant 1994, section 3


def quest(
    people: int,
    items: int,
    mean_size: float,
    mean_pattern: float,
    *,
    patterns: int = 2_000,
    correlation: float = 0.5,
    corruption: float = 0.5,
    seed: int = 0,
) -> Baskets:
    """Return baskets drawn by the Quest process of Agrawal and Srikant (VLDB 1994, section 3).

    1. Draw a table of patterns. Sizes are Poisson. Each pattern takes a share of its items from the previous pattern
       (exponential, with mean `correlation`) and draws the remaining items at random.
    2. Fill baskets of Poisson size with patterns drawn by exponential weights. A drawn pattern loses items one by one
       with its own probability, its corruption level, which is normal with mean `corruption` and variance 0.1. A
       pattern that does not fit is added with probability 1/2, and otherwise kept for the next basket.

    Three details are not in the article and follow the file T10I4D100K: items have exponential weights when patterns
    are drawn (870 of 1,000 items occur in the file), sizes are one plus Poisson, and a basket is empty only if a
    thousand patterns in a row lose all their items.

    Parameters
    ----------
    people, items
        The number of baskets and the number of items, 1 or more. Items are the numbers from 0; some may be in no
        basket.
    mean_size, mean_pattern
        The mean sizes of baskets and of patterns in items, at least 1 and at most a fifth of `items`.
    patterns
        The number of patterns, 1 or more.
    correlation, corruption
        The mean share of items from the previous pattern, and the mean corruption level; from 0 to 1.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> quest(1_000, 100, mean_size=5, mean_pattern=2, seed=7).people
    1000
    """
    check_counts(people=people, items=items, patterns=patterns)
    for name, mean in (("mean_size", mean_size), ("mean_pattern", mean_pattern)):
        if not 1 <= mean <= items / 5:
            raise MisuseError(
                f"{name} is {mean:g}; it must be between 1 and a fifth of the items ({items / 5:g}):"
                f" give more items or a smaller {name}."
            )
    check_shares(correlation=correlation, corruption=corruption)
    table_seed, baskets_seed = spawn_seeds(seed, 2)
    source = np.random.default_rng(table_seed)
    offsets, members = _draw_quest_patterns(source, items, mean_pattern, patterns, correlation)
    # Patterns are drawn by binary search in the cumulative weights.
    weights = np.cumsum(source.exponential(size=patterns))
    levels = np.clip(source.normal(corruption, np.sqrt(_CORRUPTION_VARIANCE), patterns), 0, 1)
    table = (offsets, members, weights / weights[-1], levels)
    return _draw_quest_baskets(baskets_seed, people, items, mean_size, table)


def _draw_quest_patterns(
    source: np.random.Generator, items: int, mean_pattern: float, patterns: int, correlation: float
) -> tuple[Offsets, Codes]:
    cumulative = np.cumsum(source.exponential(size=items))
    cumulative /= cumulative[-1]
    sizes = np.minimum(1 + source.poisson(mean_pattern - 1, patterns), items)
    shares = np.minimum(source.exponential(correlation, patterns), 1)
    previous: list[int] = []
    members: list[int] = []
    for size, share in zip(sizes.tolist(), shares.tolist(), strict=True):
        shared_count = min(len(previous), int(share * size + 0.5))
        pattern = dict.fromkeys(source.permutation(previous)[:shared_count].tolist() if shared_count else ())
        while len(pattern) < size:
            items_drawn = np.searchsorted(cumulative, source.random(size - len(pattern)), side="right")
            pattern.update(dict.fromkeys(items_drawn.tolist()))
        previous = list(pattern)
        members.extend(previous)
    return starts(sizes), np.array(members, dtype=np.int32)


def _draw_quest_baskets(
    seed: np.random.SeedSequence,
    people: int,
    items: int,
    mean_size: float,
    table: tuple[Offsets, Codes, NDArray[np.float64], NDArray[np.float64]],
) -> Baskets:
    from ..kernels import fill_baskets, in_threads

    longest = int(np.diff(table[0]).max())

    def fill(block: tuple[int, np.random.SeedSequence]) -> tuple[NDArray[np.int64], Codes]:
        size, block_seed = block
        source = np.random.default_rng(block_seed)
        targets = np.minimum(1 + source.poisson(mean_size - 1, size), items).astype(np.int64)
        codes = np.empty(int(targets.sum()) + size * longest, dtype=np.int32)
        ends = fill_baskets(source, targets, *table, np.full(items, -1, dtype=np.int64), codes)
        return np.diff(ends), codes[: ends[-1]].copy()

    # One seed per block, so the baskets do not depend on the number of threads.
    sizes = [min(_BLOCK, people - start) for start in range(0, people, _BLOCK)]
    blocks = in_threads(fill, zip(sizes, seed.spawn(len(sizes)), strict=True))
    offsets = starts(np.concatenate([block[0] for block in blocks]))
    return Baskets(offsets, np.concatenate([block[1] for block in blocks]), number_vocabulary(items))


_FIRST_LIKING, _LIKING_DECAY = 0.82, 0.8  # probability of the first product of a habit, and its factor per product
_MEAN_BACKGROUND = 1.7  # mean number of products beside habits
_EMPTY_SHARE = 0.01  # of the people, with an empty basket


def groceries_catalogue() -> tuple[str, ...]:
    """Return the names of all products of the synthetic grocery shop, in the order of their text. They are public.

    Examples
    --------
    >>> len(groceries_catalogue())
    188
    >>> groceries_catalogue()[0]
    'almonds'
    """
    return tuple(sorted(product for products in read_shop()["departments"].values() for product in products))


@cache
def read_shop() -> dict[str, Any]:
    """Return the departments and the habits of the synthetic grocery shop."""
    return tomllib.loads(files(__package__).joinpath("_groceries.toml").read_text(encoding="utf-8"))


def groceries(people: int = 10_000, *, seed: int = 0) -> Baskets:
    """Return baskets of a synthetic grocery shop, drawn by habits, for example pasta night.

    Each person has each habit with its own probability and then holds most of its products. A few more products are
    drawn by popularity, which falls as one over the rank. About two people in a hundred have an empty basket. The
    vocabulary is the entire :func:`groceries_catalogue`, so a product without holders has the count 0.

    Examples
    --------
    >>> baskets = groceries(1_000, seed=7)
    >>> baskets.people, baskets.items
    (1000, 188)
    """
    check_counts(people=people)
    source = np.random.default_rng(*spawn_seeds(seed, 1))
    vocabulary = Vocabulary(groceries_catalogue())
    is_buying = source.random(people) >= _EMPTY_SHARE
    holders, products = [], []
    for habit in read_shop()["habits"]:
        habit_people = np.flatnonzero(is_buying & (source.random(people) < habit["share"]))
        for rank, product in enumerate(vocabulary.codes(habit["products"]).tolist()):
            buyers = habit_people[source.random(len(habit_people)) < _FIRST_LIKING * _LIKING_DECAY**rank]
            holders.append(buyers)
            products.append(np.full(len(buyers), product, dtype=np.int64))
    background_people, background_products = draw_background(
        source, people, _MEAN_BACKGROUND, _rank_popularity(vocabulary)
    )
    is_bought = is_buying[background_people]
    holders.append(background_people[is_bought])
    products.append(background_products[is_bought])
    return build_from_events(people, np.concatenate(holders), np.concatenate(products), vocabulary)


def _rank_popularity(vocabulary: Vocabulary) -> NDArray[np.float64]:
    """Return the weight of each product, 1 / (4 + rank): the best sellers of all departments first, then the next.

    The 4 keeps the first product from being in nearly every basket.
    """
    departments = read_shop()["departments"].values()
    ranking = [product for rank in zip_longest(*departments) for product in rank if product is not None]
    weights = np.empty(len(vocabulary))
    weights[vocabulary.codes(ranking)] = 1 / np.arange(5, 5 + len(ranking))
    return weights


def groceries_rows(people: int = 10_000, *, seed: int = 0) -> pa.Table:
    """Return the baskets of :func:`groceries` as a table with one row per purchase, in the order of time.

    The columns are `customer` (numbers from 1), `product` and `time`. Each person shops up to three times in
    four weeks. People with an empty basket have no row.

    Examples
    --------
    >>> groceries_rows(100, seed=7).column_names
    ['customer', 'product', 'time']
    """
    baskets = groceries(people, seed=seed)
    source = np.random.default_rng(spawn_seeds(seed, 2)[1])
    person = np.repeat(np.arange(people, dtype=np.int64), baskets.sizes)
    # Three visits per person, at a random minute of twelve hours of a random day.
    visits = np.datetime64("2026-03-02T08:00", "m") + (
        source.integers(28, size=(people, 3)) * (24 * 60) + source.integers(12 * 60, size=(people, 3))
    )
    time = visits[person, source.integers(3, size=len(person))]
    order = np.lexsort((baskets.codes, person, time))
    return pa.table(
        {
            "customer": as_arrow(person[order] + 1),
            "product": baskets.vocabulary.take(baskets.codes[order]),
            "time": pa.array(time[order].astype("datetime64[s]")),
        }
    )


def draw_background(
    source: np.random.Generator, people: int, mean: float, popularity: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the people and the items of random events: a Poisson number per person, with items drawn by popularity."""
    sizes = source.poisson(mean, people)
    cumulative = np.cumsum(popularity)
    items = np.searchsorted(cumulative / cumulative[-1], source.random(int(sizes.sum())), side="right")
    return np.repeat(np.arange(people, dtype=np.int64), sizes), items


def build_from_events(
    people: int, holders: NDArray[np.int64], items: NDArray[np.int64], vocabulary: Vocabulary
) -> Baskets:
    """Return the baskets of events (holder, item code), in any order and with repeats."""
    # One number per event, so that a single sort orders people and items.
    events = np.unique(holders * len(vocabulary) + items)
    offsets = np.searchsorted(events, np.arange(people + 1, dtype=np.int64) * len(vocabulary))
    return Baskets(offsets.astype(np.int64, copy=False), (events % len(vocabulary)).astype(np.int32), vocabulary)


def number_vocabulary(items: int) -> Vocabulary:
    """Return the vocabulary of the numbers 0 to `items` - 1."""
    return Vocabulary(as_arrow(np.arange(items, dtype=np.int64)))


def check_counts(**counts: int) -> None:
    """Check that each argument is a whole number, 1 or more; messages name the argument."""
    for name, value in counts.items():
        if not is_whole(value) or value < 1:
            raise MisuseError(f"{name} is {value!r}; it must be a whole number, 1 or more.")


def check_shares(**shares: float) -> None:
    """Check that each argument is from 0 to 1; messages name the argument."""
    for name, value in shares.items():
        if not 0 <= value <= 1:
            raise MisuseError(f"{name} is {value:g}; it must be between 0 and 1.")
