"""A made-up census table: six attributes, each person with one value of each, as items "attribute=value".

It stands in for the six columns of the UCI Adult set that Agrawal and Haritsa (2005) mine. The attributes, their cells
and the number of people are recalled from their article, which was not at hand; how values are spread and hang together
is a rough sketch of such a table, made of round numbers. So a number measured here is not one of theirs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._core import Baskets, Vocabulary, starts
from ._generate import check_counts
from ._seeding import seeds

ATTRIBUTES = {
    "age": ("to-35", "36-55", "56-75", "over-75"),
    "country": ("other", "united-states"),
    "hours": ("to-20", "21-40", "41-60", "61-80", "over-80"),
    "race": ("asian", "black", "native", "other", "white"),
    "sex": ("female", "male"),
    "weight": ("to-100k", "101k-200k", "201k-300k", "301k-400k", "over-400k"),
}
"""The values of each attribute: 2,000 different records in all."""

_AGE = (0.47, 0.40, 0.12, 0.01)
_SEX = (0.33, 0.67)
_RACE = (0.031, 0.096, 0.010, 0.008, 0.855)
# Of each race, in the order above: the share born abroad.
_ABROAD = (0.70, 0.08, 0.05, 0.60, 0.07)
# Hours by sex, then by age: the young and the old work less, and so do women.
_HOURS = (
    ((0.18, 0.65, 0.155, 0.012, 0.003), (0.10, 0.66, 0.215, 0.02, 0.005)),
    ((0.08, 0.60, 0.28, 0.03, 0.01), (0.03, 0.53, 0.38, 0.05, 0.01)),
)
_OLD_HOURS = (0.27, 0.53, 0.17, 0.02, 0.01)
# The sampling weight, for black people and for all others.
_WEIGHT = ((0.12, 0.37, 0.31, 0.13, 0.07), (0.19, 0.45, 0.25, 0.08, 0.03))


def census(people: int = 48_842, *, seed: int = 0) -> Baskets:
    """Make up a census table of six attributes.

    Age, sex and race are drawn by themselves, the country of birth by race, hours of work by sex and age, and the
    sampling weight by race.

    Parameters
    ----------
    people
        How many people.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> census(1_000, seed=7)
    Baskets(1,000 people, 23 items, 6.00 per basket)
    """
    check_counts(people=people)
    source = np.random.default_rng(seeds(seed, 1)[0])

    def drawn(shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Draw a value for everyone, from one law for all or a row for each."""
        bounds = np.cumsum(np.broadcast_to(shares, (people, shares.shape[-1])), axis=1)
        return np.asarray((source.random((people, 1)) * bounds[:, -1:] >= bounds).sum(axis=1), np.int64)

    age, sex, race = (drawn(np.array(shares)) for shares in (_AGE, _SEX, _RACE))
    abroad = np.array(_ABROAD)[race]
    country = drawn(np.stack([abroad, 1 - abroad], axis=1))
    working = np.array(_HOURS)[sex, np.minimum(age, 1)]
    hours = drawn(np.where((age < 2)[:, None], working, np.array(_OLD_HOURS)))
    weight = drawn(np.array(_WEIGHT)[np.where(race == 1, 0, 1)])
    labels = sorted(f"{name}={value}" for name, values in ATTRIBUTES.items() for value in values)
    code = {label: place for place, label in enumerate(labels)}
    columns = dict(zip(ATTRIBUTES, (age, country, hours, race, sex, weight), strict=True))
    codes = np.stack(
        [np.array([code[f"{name}={one}"] for one in ATTRIBUTES[name]])[held] for name, held in columns.items()], axis=1
    )
    # Attributes come in the order of their names, and so do the labels that begin with them: rows are sorted.
    return Baskets(starts([len(ATTRIBUTES)] * people), codes.astype(np.int32).ravel(), Vocabulary(labels))
