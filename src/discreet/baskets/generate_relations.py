"""Made-up people with relations: stand-ins for data that Dong et al. 2024 describe and that cannot be had.

What is known of their sets is kept: how many items, relations and people, and that a few relations are common and most
are rare. Everything else is a guess, so a number measured here is not one of theirs. As in :mod:`.generate`, a seed
decides everything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .core import Baskets, Pairs, Sequences, starts
from .generate import background, check_counts, from_events, numbers, seeds

Numbers = NDArray[np.int64]

_SERVICES, _APPLETS = 354, 200
# The most common applet, and how popularity falls with the rank: as counts of installations do, a straight line on
# paper with two logarithmic scales.
_FIRST_APPLET, _APPLET_FALL = 0.2, 0.7
# Services that people have beside those of their applets.
_MEAN_SERVICES = 2.0
_CASCADES, _FIRST_CASCADE, _CASCADE_FALL = 100, 0.1, 0.6

_MOVIES = 5_000
_MOVIE_FALL = 0.8
_MEAN_VIEWINGS = 6.0
_FOLLOWERS, _FOLLOWED = 4, 0.5


def applets(people: int = 300_000, *, seed: int = 0) -> Baskets:
    """Make up people who have applets: each is a pair of services, "when this happens, do that".

    There are 354 services and 200 applets, as in the IFTTT set of Dong et al. 2024. The most common applet is had by a
    fifth of the people, and popularity falls with the rank to the power .7. Everyone has each applet with its
    probability, the services of these, and a few services more.

    Parameters
    ----------
    people
        How many people.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> applets(1_000, seed=7)
    Baskets(1,000 people, 354 items, 7.06 a basket, with pairs)
    """
    check_counts(people=people)
    table, drawn = seeds(seed, 2)
    first, second = _applet_table(np.random.default_rng(table))
    source = np.random.default_rng(drawn)
    who, which = _had(source, people, _falling(_APPLETS, _FIRST_APPLET, _APPLET_FALL))
    return _related(source, people, who, first[which], second[which])


def cascades(people: int = 800_000, *, seed: int = 0) -> Baskets:
    """Make up people whose applets set off further applets: relations ((a, b), c).

    Services and applets are those of :func:`applets`. A cascade is an applet a → b with one more applet b → c; there
    are a hundred, the first had by a tenth of the people. Who has a cascade has both its pairs, and single applets come
    beside it, half as often as in :func:`applets`.

    Parameters
    ----------
    people
        How many people.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> cascades(1_000, seed=7)
    Baskets(1,000 people, 354 items, 8.63 a basket, with pairs)
    """
    check_counts(people=people)
    table, drawn = seeds(seed, 2)
    maker = np.random.default_rng(table)
    first, second = _applet_table(maker)
    begun = maker.integers(_APPLETS, size=_CASCADES)
    ended = maker.integers(_SERVICES - 2, size=_CASCADES)
    for taken in np.sort(np.stack((first[begun], second[begun])), axis=0):
        ended += ended >= taken  # any service but the two before it
    source = np.random.default_rng(drawn)
    single, applet = _had(source, people, _falling(_APPLETS, _FIRST_APPLET / 2, _APPLET_FALL))
    twice, cascade = _had(source, people, _falling(_CASCADES, _FIRST_CASCADE, _CASCADE_FALL))
    return _related(
        source,
        people,
        np.concatenate((single, twice, twice)),
        np.concatenate((first[applet], first[begun[cascade]], second[begun[cascade]])),
        np.concatenate((second[applet], second[begun[cascade]], ended[cascade])),
    )


def viewings(people: int = 400_000, *, seed: int = 0) -> Baskets:
    """Make up people who watch movies one after the other: temporal relations, "b after a".

    There are 5,000 movies, as in the Movie set of Dong et al. 2024. Everyone watches two or more. Half of the time the
    next one is one of four that go with the one before; otherwise it is drawn by popularity, which falls with the rank
    to the power .8. A movie may be watched again.

    Parameters
    ----------
    people
        How many people.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> viewings(1_000, seed=7)
    Baskets(1,000 people, 5,000 items, 7.86 a basket, with order)
    """
    check_counts(people=people)
    table, drawn = seeds(seed, 2)
    maker, source = np.random.default_rng(table), np.random.default_rng(drawn)
    popular = np.cumsum(maker.permutation(_falling(_MOVIES, 1.0, _MOVIE_FALL)))
    followers = np.searchsorted(popular / popular[-1], maker.random((_MOVIES, _FOLLOWERS)), side="right")
    lengths = 2 + source.poisson(_MEAN_VIEWINGS, people)
    offsets = starts(lengths)
    watched = np.searchsorted(popular / popular[-1], source.random(offsets[-1]), side="right").astype(np.int32)
    for step in range(1, int(lengths.max(initial=0))):
        there = offsets[:-1][lengths > step] + step
        led = there[source.random(len(there)) < _FOLLOWED]
        watched[led] = followers[watched[led - 1], source.integers(_FOLLOWERS, size=len(led))]
    who = np.repeat(np.arange(people, dtype=np.int64), lengths)
    held = from_events(people, who, watched.astype(np.int64), numbers(_MOVIES))
    return Baskets(held.offsets, held.codes, held.vocabulary, sequences=Sequences(offsets, watched))


def _falling(many: int, first: float, power: float) -> NDArray[np.float64]:
    return (first / np.arange(1, many + 1) ** power).astype(np.float64)


def _applet_table(source: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Return the two services of each applet, all different as pairs; every service is in one applet at least."""
    twice = 2 * _APPLETS - _SERVICES
    services = source.permutation(_SERVICES)
    first, fresh = services[:_APPLETS], services[_APPLETS:]
    # Services of popular applets are in two of them, once on each side: so one applet can set off another.
    return first, np.concatenate((fresh[:1], first[:twice], fresh[1:]))


def _had(source: np.random.Generator, people: int, shares: NDArray[np.float64]) -> tuple[Numbers, Numbers]:
    """Draw who has what: a Poisson number of repeats of each, of which one or more comes with its share of people."""
    rates = -np.log1p(-shares)
    return background(source, people, float(rates.sum()), rates)


def _related(source: np.random.Generator, people: int, who: Numbers, first: Numbers, second: Numbers) -> Baskets:
    """Make baskets of pairs in any order, repeats included, with a few more items by how common they are in pairs."""
    sides, items = np.concatenate((who, who)), np.concatenate((first, second))
    common = (np.bincount(items, minlength=_SERVICES) + 1).astype(np.float64)
    more, which = background(source, people, _MEAN_SERVICES, common)
    held = from_events(people, np.concatenate((sides, more)), np.concatenate((items, which)), numbers(_SERVICES))
    pairs = np.sort((who * _SERVICES + first) * _SERVICES + second)
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    offsets = np.searchsorted(pairs, np.arange(people + 1, dtype=np.int64) * _SERVICES**2).astype(np.int64, copy=False)
    left, right = np.divmod(pairs % _SERVICES**2, _SERVICES)
    related = Pairs(offsets, left.astype(np.int32), right.astype(np.int32))
    return Baskets(held.offsets, held.codes, held.vocabulary, pairs=related)
