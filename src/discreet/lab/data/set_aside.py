"""Data sets that nobody has looked at: they are run once, after the constants of a mechanism are frozen.

Halves and resamples of real sets, and families that are made up. Each has a name and a seed of its own, so that it is
the same for everyone, and a digest that says so. What a constant is fitted to is no longer set aside.
`discreet.lab.data.datasets` loads them as it loads all others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...baskets.core import Baskets

FIRST_SEED = 20_261_116
"""Seeds of these sets begin here, so that none of them is one that was drawn before."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A set aside that is drawn from a real one.

    Parameters
    ----------
    of
        The data set in a file that it is drawn from.
    people
        How many people are drawn, with replacement; None draws half of them without replacement.
    """

    of: str
    people: int | None = None


DRAWN: Mapping[str, Drawn] = {
    "aside-pages": Drawn(of="msnbc_seq"),
    "aside-movies": Drawn(of="ml-latest-small", people=10_000),
    "aside-movies-few": Drawn(of="ml-latest-small"),
    "aside-customers": Drawn(of="OnlineRetail_events"),
    "aside-clicks": Drawn(of="BMS-WebView-1", people=500_000),
    "aside-clicks-few": Drawn(of="BMS-WebView-2"),
    "aside-groceries": Drawn(of="groceries", people=180_000),
    "aside-till": Drawn(of="BMS-POS_275k"),
    "aside-news": Drawn(of="kosarak_100k"),
    "aside-invoices": Drawn(of="OnlineRetail_baskets", people=60_000),
    "aside-accidents": Drawn(of="accidents_reduced"),
}
"""The sets aside that are drawn from real ones."""

DIGESTS: Mapping[str, str] = {
    "aside-pages": "29683ccff5be8b41",
    "aside-movies": "f02021f99edaf09d",
    "aside-movies-few": "db20d6623183c1cd",
    "aside-customers": "9302ec5f7c08412a",
    "aside-clicks": "204f751092f444f1",
    "aside-clicks-few": "ca9ed6c204975231",
    "aside-groceries": "b3712f6a274a982e",
    "aside-till": "78fc328cab89f2f3",
    "aside-news": "fef9deff24374dd2",
    "aside-invoices": "457ad13eb0c7e0f2",
    "aside-accidents": "fa1377fd92315d1e",
    "aside-zipf-flat": "1bdfbe16af200102",
    "aside-zipf-steep": "2e339ca1aa98b781",
    "aside-quest-short": "8878557ccb31f05d",
    "aside-quest-long": "d1fd82f9e6314534",
    "aside-groups-few": "f9fc2a40c5faf8c2",
    "aside-groups-many": "a83454f7221977d6",
    "aside-bulk-alike": "977650cc5851f8b0",
    "aside-bulk-mixed": "ae5c722c9bfc160c",
}
"""What :func:`digest` gives of each."""


def made() -> dict[str, Callable[..., Baskets]]:
    """Return what makes up the sets aside that are drawn from no real one."""
    from ...baskets.generate import latent_groups, quest
    from ...baskets.generate_crowds import bulk_buyers, zipf

    return {
        "aside-zipf-flat": partial(zipf, people=50_000, items=2_000, exponent=0.7, mean_size=5.0),
        "aside-zipf-steep": partial(zipf, people=200_000, items=10_000, exponent=1.3, mean_size=8.0),
        "aside-quest-short": partial(quest, people=80_000, items=2_000, mean_size=6, mean_pattern=3, patterns=500),
        "aside-quest-long": partial(quest, people=30_000, items=500, mean_size=20, mean_pattern=6, patterns=200),
        "aside-groups-few": partial(
            latent_groups, people=60_000, items=1_000, groups=10, memberships=2, liked=12, liking=0.5
        ),
        "aside-groups-many": partial(latent_groups, people=150_000, items=5_000, groups=200, liked=5, liking=0.7),
        "aside-bulk-alike": partial(bulk_buyers, people=20_000, bulk=1_000, bulk_items=30, items=300),
        "aside-bulk-mixed": partial(
            bulk_buyers, people=90_000, bulk=800, bulk_items=100, bulk_size=60, items=3_000, mean_size=2.5
        ),
    }


def half(baskets: Baskets, seed: int) -> Baskets:
    """Return half of the people, drawn without replacement and in their order; what they hold is a set."""
    from ...baskets.recoding import rows
    from ...baskets.seeding import seeds

    source = np.random.default_rng(*seeds(seed, 1))
    return rows(baskets, np.sort(source.permutation(len(baskets))[: len(baskets) // 2]))


def digest(baskets: Baskets) -> str:
    """Return a short hash of who holds which code."""
    found = hashlib.sha256(baskets.offsets.astype("<i8").tobytes())
    found.update(baskets.codes.astype("<i4").tobytes())
    return found.hexdigest()[:16]
