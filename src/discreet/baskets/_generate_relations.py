"""Generators of synthetic relations, for the unpublished data sets of Dong et al. 2024.

The numbers of items, relations and people follow the article, and so does the skew: few relations are common, most are
rare. All other numbers are guesses, so results on this data are no results of the article. As in :mod:`.generate`, a
seed decides every draw.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ._build import sort_pairs
from ._capping import spawn_seeds
from ._core import Baskets, Sequences, starts
from ._generate import build_from_events, check_counts, draw_background, number_vocabulary

Numbers = NDArray[np.int64]

_SERVICES, _APPLETS = 354, 200
# The share of people with the most common applet, and the power of the rank by which shares fall. Counts of
# installations fall by a power of the rank; both numbers are guesses.
_FIRST_APPLET, _APPLET_POWER = 0.2, 0.7
_MEAN_SERVICES = 2.0  # mean number of services per person beside the services of applets; a guess
_FIRST_CASCADE, _CASCADE_POWER = 0.1, 0.6  # as for applets

_MOVIES = 5_000
_MOVIE_POWER = 0.8  # a guess, as the three numbers below
_MEAN_VIEWINGS = 6.0  # mean number of viewings per person, less 2
_FOLLOWERS, _FOLLOW_PROBABILITY = 4, 0.5


def applets(people: int = 300_000, *, seed: int = 0) -> Baskets:
    """Return baskets with pairs: the applets of people, each a pair of services ("when this happens, do that").

    The 354 services and 200 applets follow the IFTTT set of Dong et al. 2024. A service of a popular applet is in two
    applets, once on each side. A fifth of the people have the most common applet; shares fall by the rank to the power
    0.7. Each person has each applet with its share as the probability, the services of its applets, and on average
    two more services, drawn by the popularity of their applets times a weight per service: so relations of equal
    support differ in confidence.

    Parameters
    ----------
    people
        The number of people, 1 or more.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> applets(1_000, seed=7)
    Baskets(1,000 people, 354 items, 7.11 per basket, with pairs)
    """
    check_counts(people=people)
    table_seed, people_seed = spawn_seeds(seed, 2)
    first, second, weights = _draw_applets(np.random.default_rng(table_seed))
    source = np.random.default_rng(people_seed)
    holders, numbers = _draw_holders(source, people, _compute_shares(_APPLETS, _FIRST_APPLET, _APPLET_POWER))
    return _build_baskets(source, people, holders, first[numbers], second[numbers], weights)


def cascades(people: int = 800_000, *, seed: int = 0) -> Baskets:
    """Return baskets with pairs in which applets start further applets: relations ((a, b), c).

    Services and applets are as in :func:`applets`. A cascade is an applet a → b with an applet b → c. A tenth of the
    people have the most common cascade; shares fall by the rank to the power 0.6, with popular applets first. A person
    with a cascade has both its pairs. Single applets are added half as often as in :func:`applets`.

    Parameters
    ----------
    people
        The number of people, 1 or more.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> cascades(1_000, seed=7)
    Baskets(1,000 people, 354 items, 7.17 per basket, with pairs)
    """
    check_counts(people=people)
    table_seed, people_seed = spawn_seeds(seed, 2)
    first, second, weights = _draw_applets(np.random.default_rng(table_seed))
    # A cascade is a trigger, the applet a → b, and an action, the applet b → c; popular applets come first.
    triggers, actions = np.nonzero((second[:, None] == first) & (first[:, None] != second))
    order = np.argsort((triggers + 1) * (actions + 1), kind="stable")
    triggers, actions = triggers[order], actions[order]
    source = np.random.default_rng(people_seed)
    applet_holders, applet = _draw_holders(source, people, _compute_shares(_APPLETS, _FIRST_APPLET / 2, _APPLET_POWER))
    cascade_holders, cascade = _draw_holders(
        source, people, _compute_shares(len(order), _FIRST_CASCADE, _CASCADE_POWER)
    )
    holders = np.concatenate((applet_holders, cascade_holders, cascade_holders))
    numbers = np.concatenate((applet, triggers[cascade], actions[cascade]))
    return _build_baskets(source, people, holders, first[numbers], second[numbers], weights)


def viewings(people: int = 400_000, *, seed: int = 0) -> Baskets:
    """Return baskets with sequences: the movies of each person in order, for temporal relations ("b after a").

    The 5,000 movies follow the Movie set of Dong et al. 2024. Each person watches two movies or more. With probability
    1/2 the next movie is one of four followers of the previous movie; otherwise it is drawn by popularity, which falls
    by the rank to the power 0.8. A movie may be watched again.

    Parameters
    ----------
    people
        The number of people, 1 or more.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> viewings(1_000, seed=7)
    Baskets(1,000 people, 5,000 items, 7.86 per basket, with order)
    """
    check_counts(people=people)
    table_source, source = map(np.random.default_rng, spawn_seeds(seed, 2))
    popularity = np.cumsum(table_source.permutation(_compute_shares(_MOVIES, 1.0, _MOVIE_POWER)))
    popularity /= popularity[-1]
    followers = np.searchsorted(popularity, table_source.random((_MOVIES, _FOLLOWERS)), side="right")
    lengths = 2 + source.poisson(_MEAN_VIEWINGS, people)
    offsets = starts(lengths)
    watched = np.searchsorted(popularity, source.random(offsets[-1]), side="right").astype(np.int32)
    for step in range(1, int(lengths.max(initial=0))):
        positions = offsets[:-1][lengths > step] + step
        following = positions[source.random(len(positions)) < _FOLLOW_PROBABILITY]
        watched[following] = followers[watched[following - 1], source.integers(_FOLLOWERS, size=len(following))]
    viewers = np.repeat(np.arange(people, dtype=np.int64), lengths)
    baskets = build_from_events(people, viewers, watched.astype(np.int64), number_vocabulary(_MOVIES))
    return replace(baskets, sequences=Sequences(offsets, watched))


def _compute_shares(count: int, first_share: float, power: float) -> NDArray[np.float64]:
    """Return the shares first_share / rank**power of the ranks 1 to `count`."""
    return (first_share / np.arange(1, count + 1) ** power).astype(np.float64)


def _draw_applets(source: np.random.Generator) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
    """Return the first and the second service of each applet, all pairs different, and a weight per service."""
    repeated_count = 2 * _APPLETS - _SERVICES
    services = source.permutation(_SERVICES)
    first, fresh = services[:_APPLETS], services[_APPLETS:]
    # A service of a popular applet is in two applets, once on each side: so one applet can start a second applet. Both
    # applets are drawn: with neighbouring ranks, all chained relations would have equal confidence.
    repeated = source.permutation(first[:repeated_count])
    while (repeated == first[1 : repeated_count + 1]).any():
        repeated = source.permutation(first[:repeated_count])
    return first, np.concatenate((fresh[:1], repeated, fresh[1:])), source.exponential(size=_SERVICES)


def _draw_holders(source: np.random.Generator, people: int, shares: NDArray[np.float64]) -> tuple[Numbers, Numbers]:
    """Return the holders and the numbers of random events; number i has on average `shares[i]` of all people.

    A person has number i a Poisson number of times with the rate -log(1 - share), so once or more with the probability
    `share`.
    """
    rates = -np.log1p(-shares)
    return draw_background(source, people, float(rates.sum()), rates)


def _build_baskets(
    source: np.random.Generator,
    people: int,
    holders: Numbers,
    first: Numbers,
    second: Numbers,
    weights: NDArray[np.float64],
) -> Baskets:
    """Return the baskets of pairs, in any order and with repeats, and of more items drawn by weight and frequency."""
    items = np.concatenate((first, second))
    frequencies = (np.bincount(items, minlength=_SERVICES) + 1).astype(np.float64)
    background_people, background = draw_background(source, people, _MEAN_SERVICES, frequencies * weights)
    all_people = np.concatenate((holders, holders, background_people))
    vocabulary = number_vocabulary(_SERVICES)
    baskets = build_from_events(people, all_people, np.concatenate((items, background)), vocabulary)
    pairs, _ = sort_pairs(people, holders, first.astype(np.int32), second.astype(np.int32))
    return replace(baskets, pairs=pairs)
