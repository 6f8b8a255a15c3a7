"""Data sets aside: they are used once, after the constants of a mechanism are frozen.

Halves and resamples of real sets, and generated families. Each has a name, a seed of its own and a digest, so that it
is reproducible. A set to which a constant was fitted is no longer set aside. `discreet_lab.data.datasets` loads them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet.baskets import Baskets

FIRST_SEED = 20_261_116
"""The first seed of these sets, far from the seeds of all earlier draws."""
DEVICES = "aside-devices-"
"""The prefix of the names of sets for local protocols; all further sets are for the curator."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A set aside that is drawn from a real set.

    Parameters
    ----------
    of
        The name of the real set.
    people
        The number of people to draw with replacement; None draws half of the people without replacement.
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
    "aside-devices-shop": Drawn(of="groceries", people=300_000),
    "aside-devices-clicks": Drawn(of="BMS-WebView-1", people=400_000),
    "aside-devices-customers": Drawn(of="OnlineRetail_events", people=250_000),
    "aside-devices-movies": Drawn(of="ml-latest-small", people=150_000),
    "aside-devices-accidents": Drawn(of="accidents_reduced", people=200_000),
}
"""The sets aside that are drawn from real sets."""

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
    "aside-devices-shop": "d45f3638c324e7cf",
    "aside-devices-clicks": "383a11013fe0ced5",
    "aside-devices-customers": "b25ca88a35c57ce1",
    "aside-devices-movies": "e8bf548f95ea1c89",
    "aside-devices-accidents": "bf180c657d37f4a6",
    "aside-zipf-flat": "1bdfbe16af200102",
    "aside-zipf-steep": "2e339ca1aa98b781",
    "aside-quest-short": "8878557ccb31f05d",
    "aside-quest-long": "d1fd82f9e6314534",
    "aside-groups-few": "f9fc2a40c5faf8c2",
    "aside-groups-many": "a83454f7221977d6",
    "aside-bulk-alike": "977650cc5851f8b0",
    "aside-bulk-mixed": "ae5c722c9bfc160c",
    "aside-devices-zipf-flat": "2d976a9a53e00972",
    "aside-devices-zipf-steep": "bf0660af45608a0b",
    "aside-devices-quest-short": "99e039d8318a553b",
    "aside-devices-quest-long": "73a8b7d760cf7eeb",
    "aside-devices-groups-few": "2cce05f298c2ce4d",
    "aside-devices-groups-many": "e801584afd10c9d7",
    "aside-devices-bulk": "a31535a493c7e4e3",
}
"""The digest of each set, as :func:`compute_digest` returns it."""
FOR_DEVICES = tuple(name for name in DIGESTS if name.startswith(DEVICES))
FOR_THE_CURATOR = tuple(name for name in DIGESTS if name not in FOR_DEVICES)


def generators() -> dict[str, Callable[..., Baskets]]:
    """Return the functions that generate sets aside, by name."""
    from discreet.baskets import quest

    from .generators import bulk_buyers, latent_groups, zipf

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
        "aside-devices-zipf-flat": partial(zipf, people=300_000, items=1_000, exponent=0.6, mean_size=6.0),
        "aside-devices-zipf-steep": partial(zipf, people=600_000, items=8_000, exponent=1.2, mean_size=5.0),
        "aside-devices-quest-short": partial(
            quest, people=400_000, items=1_000, mean_size=7, mean_pattern=3, patterns=300
        ),
        "aside-devices-quest-long": partial(
            quest, people=200_000, items=400, mean_size=18, mean_pattern=7, patterns=150
        ),
        "aside-devices-groups-few": partial(
            latent_groups, people=250_000, items=800, groups=12, memberships=2, liked=10, liking=0.5
        ),
        "aside-devices-groups-many": partial(
            latent_groups, people=500_000, items=3_000, groups=150, liked=6, liking=0.6
        ),
        "aside-devices-bulk": partial(
            bulk_buyers, people=200_000, bulk=4_000, bulk_items=80, bulk_size=50, items=2_000, mean_size=3.0
        ),
    }


def find_first_seed(name: str) -> int:
    """Return the first seed of a set aside; sets for local protocols differ from sets for the curator."""
    return FIRST_SEED + name.startswith(DEVICES)


def draw_half(baskets: Baskets, seed: int) -> Baskets:
    """Return half of the people, drawn without replacement, in their order; order within baskets is dropped."""
    from discreet.baskets import spawn_seeds

    source = np.random.default_rng(*spawn_seeds(seed, 1))
    return baskets.rows(np.sort(source.permutation(len(baskets))[: len(baskets) // 2]))


def compute_digest(baskets: Baskets) -> str:
    """Return a short hash of the baskets, as codes."""
    digest = hashlib.sha256(baskets.offsets.astype("<i8").tobytes())
    digest.update(baskets.codes.astype("<i4").tobytes())
    return digest.hexdigest()[:16]
