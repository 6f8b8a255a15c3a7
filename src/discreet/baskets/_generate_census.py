"""Generator of a synthetic census table: items "attribute=value", six per person, one of each attribute.

The table replaces the six columns of the UCI Adult set that Agrawal and Haritsa (2005) mine. The attributes, their
cells and the number of people are from memory of the article; distributions and dependencies are rough, in round
numbers. So results on this table are no results of the article.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._core import Baskets, Vocabulary, starts
from ._generate import check_counts
from ._resample import spawn_seeds

ATTRIBUTES = {
    "age": ("to-35", "36-55", "56-75", "over-75"),
    "country": ("other", "united-states"),
    "hours": ("to-20", "21-40", "41-60", "61-80", "over-80"),
    "race": ("asian", "black", "native", "other", "white"),
    "sex": ("female", "male"),
    "weight": ("to-100k", "101k-200k", "201k-300k", "301k-400k", "over-400k"),
}
"""The values of each attribute: 2,000 possible records."""

_AGE = (0.47, 0.40, 0.12, 0.01)
_SEX = (0.33, 0.67)
_RACE = (0.031, 0.096, 0.010, 0.008, 0.855)
# The share born abroad of each race, in the order of ATTRIBUTES.
_ABROAD_SHARES = (0.70, 0.08, 0.05, 0.60, 0.07)
# Shares of hours by sex, then by age (to 35, 36 to 55); women and the young work fewer hours.
_HOURS = (
    ((0.18, 0.65, 0.155, 0.012, 0.003), (0.10, 0.66, 0.215, 0.02, 0.005)),
    ((0.08, 0.60, 0.28, 0.03, 0.01), (0.03, 0.53, 0.38, 0.05, 0.01)),
)
_OLD_HOURS = (0.27, 0.53, 0.17, 0.02, 0.01)
# Shares of sampling weights: of black people, and of the remaining races.
_WEIGHT = ((0.12, 0.37, 0.31, 0.13, 0.07), (0.19, 0.45, 0.25, 0.08, 0.03))


def census(people: int = 48_842, *, seed: int = 0) -> Baskets:
    """Return baskets of a synthetic census table with six attributes.

    Age, sex and race are drawn independently, the country of birth by race, hours of work by sex and age, and the
    sampling weight by race.

    Parameters
    ----------
    people
        The number of people, 1 or more.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> census(1_000, seed=7)
    Baskets(1,000 people, 23 items, 6.00 per basket)
    """
    check_counts(people=people)
    source = np.random.default_rng(spawn_seeds(seed, 1)[0])

    def draw(shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Draw a value per person, by one distribution for all people or by one row per person."""
        bounds = np.cumsum(np.broadcast_to(shares, (people, shares.shape[-1])), axis=1)
        return np.asarray((source.random((people, 1)) * bounds[:, -1:] >= bounds).sum(axis=1), np.int64)

    age, sex, race = (draw(np.array(shares)) for shares in (_AGE, _SEX, _RACE))
    abroad = np.array(_ABROAD_SHARES)[race]
    country = draw(np.stack([abroad, 1 - abroad], axis=1))
    working = np.array(_HOURS)[sex, np.minimum(age, 1)]
    hours = draw(np.where((age < 2)[:, None], working, np.array(_OLD_HOURS)))
    weight = draw(np.array(_WEIGHT)[np.where(race == 1, 0, 1)])
    labels = sorted(f"{name}={value}" for name, values in ATTRIBUTES.items() for value in values)
    codes_by_label = {label: code for code, label in enumerate(labels)}
    columns = dict(zip(ATTRIBUTES, (age, country, hours, race, sex, weight), strict=True))
    codes = np.stack(
        [
            np.array([codes_by_label[f"{name}={value}"] for value in ATTRIBUTES[name]])[values]
            for name, values in columns.items()
        ],
        axis=1,
    )
    # ATTRIBUTES is sorted by name, and labels begin with the name: so each row of codes is sorted.
    return Baskets(starts([len(ATTRIBUTES)] * people), codes.astype(np.int32).ravel(), Vocabulary(labels))
