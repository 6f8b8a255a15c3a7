"""Made-up people with relations: stand-ins for data that Dong et al. 2024 describe and that cannot be had.

What is known of their sets is kept: how many items, relations and people, and that a few relations are common and most
are rare. Everything else is a guess, so a number measured here is not one of theirs. As in :mod:`.generate`, a seed
decides everything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._core import Baskets, Pairs, Sequences, starts
from ._generate import background, check_counts, from_events, numbers
from ._seeding import seeds

Numbers = NDArray[np.int64]

_SERVICES, _APPLETS = 354, 200
# The most common applet, and how popularity falls with the rank: as counts of installations do, a straight line on
# paper with two logarithmic scales.
_FIRST_APPLET, _APPLET_FALL = 0.2, 0.7
# Services that people have beside those of their applets.
_MEAN_SERVICES = 2.0
_FIRST_CASCADE, _CASCADE_FALL = 0.1, 0.6

_MOVIES = 5_000
_MOVIE_FALL = 0.8
_MEAN_VIEWINGS = 6.0
_FOLLOWERS, _FOLLOWED = 4, 0.5


def applets(people: int = 300_000, *, seed: int = 0) -> Baskets:
    """Make up people who have applets: each is a pair of services, "when this happens, do that".

    There are 354 services and 200 applets, as in the IFTTT set of Dong et al. 2024: services of popular applets are in
    two of them, one of each side. The most common applet is had by a fifth of the people, and popularity falls with the
    rank to the power .7. Everyone has each applet with its probability, the services of these, and two services more on
    average: more often those of popular applets, and each with a weight of its own, so that relations of equal support
    differ in confidence.

    Parameters
    ----------
    people
        How many people.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> applets(1_000, seed=7)
    Baskets(1,000 people, 354 items, 7.11 per basket, with pairs)
    """
    check_counts(people=people)
    table, drawn = seeds(seed, 2)
    first, second, beside = _applet_table(np.random.default_rng(table))
    source = np.random.default_rng(drawn)
    who, which = _had(source, people, _falling(_APPLETS, _FIRST_APPLET, _APPLET_FALL))
    return _related(source, people, who, first[which], second[which], beside)


def cascades(people: int = 800_000, *, seed: int = 0) -> Baskets:
    """Make up people whose applets set off further applets: relations ((a, b), c).

    Services and applets are those of :func:`applets`. A cascade is an applet a → b with another, b → c. All that there
    are can be had, those of popular applets more often: the first by a tenth of the people, and the next ones as the
    rank to the power -.6. Who has a cascade has both its pairs, and single applets come beside it, half as often as in
    :func:`applets`.

    Parameters
    ----------
    people
        How many people.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> cascades(1_000, seed=7)
    Baskets(1,000 people, 354 items, 7.17 per basket, with pairs)
    """
    check_counts(people=people)
    table, drawn = seeds(seed, 2)
    first, second, beside = _applet_table(np.random.default_rng(table))
    begun, ended = np.nonzero((second[:, None] == first) & (first[:, None] != second))
    order = np.argsort((begun + 1) * (ended + 1), kind="stable")
    begun, ended = begun[order], ended[order]
    source = np.random.default_rng(drawn)
    single, applet = _had(source, people, _falling(_APPLETS, _FIRST_APPLET / 2, _APPLET_FALL))
    twice, cascade = _had(source, people, _falling(len(order), _FIRST_CASCADE, _CASCADE_FALL))
    who = np.concatenate((single, twice, twice))
    which = np.concatenate((applet, begun[cascade], ended[cascade]))
    return _related(source, people, who, first[which], second[which], beside)


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
    Baskets(1,000 people, 5,000 items, 7.86 per basket, with order)
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


def _applet_table(source: np.random.Generator) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
    """Return the two services of each applet, all different as pairs, and weights of services beside applets."""
    twice = 2 * _APPLETS - _SERVICES
    services = source.permutation(_SERVICES)
    first, fresh = services[:_APPLETS], services[_APPLETS:]
    # Services of popular applets are in two of them, once on each side: so one applet can set off another. Which two is
    # left to chance: side by side in rank, all these relations would have the same confidence.
    again = source.permutation(first[:twice])
    while (again == first[1 : twice + 1]).any():
        again = source.permutation(first[:twice])
    return first, np.concatenate((fresh[:1], again, fresh[1:])), source.exponential(size=_SERVICES)


def _had(source: np.random.Generator, people: int, shares: NDArray[np.float64]) -> tuple[Numbers, Numbers]:
    """Draw who has what: a Poisson number of repeats of each, of which one or more comes with its share of people."""
    rates = -np.log1p(-shares)
    return background(source, people, float(rates.sum()), rates)


def _related(
    source: np.random.Generator,
    people: int,
    who: Numbers,
    first: Numbers,
    second: Numbers,
    beside: NDArray[np.float64],
) -> Baskets:
    """Make baskets of pairs in any order, repeats included, with a few more items by how common they are in pairs."""
    sides, items = np.concatenate((who, who)), np.concatenate((first, second))
    common = (np.bincount(items, minlength=_SERVICES) + 1).astype(np.float64)
    more, which = background(source, people, _MEAN_SERVICES, common * beside)
    held = from_events(people, np.concatenate((sides, more)), np.concatenate((items, which)), numbers(_SERVICES))
    pairs = np.sort((who * _SERVICES + first) * _SERVICES + second)
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    offsets = np.searchsorted(pairs, np.arange(people + 1, dtype=np.int64) * _SERVICES**2).astype(np.int64, copy=False)
    left, right = np.divmod(pairs % _SERVICES**2, _SERVICES)
    related = Pairs(offsets, left.astype(np.int32), right.astype(np.int32))
    return Baskets(held.offsets, held.codes, held.vocabulary, pairs=related)
