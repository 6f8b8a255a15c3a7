"""What is stated about data instead of reading them: how many items there are, how long baskets are, what is popular.

These are public numbers or guesses, checked here and turned into supports and sizes of baskets, from which a crowd is
imagined.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..checks import is_whole, positive
from ..errors import MisuseError, named, told
from ..privacy.budget import exact
from ..wording import number_of
from .crowd import F64, I64, MOST, sizes_of, zipf

# What a basket is taken to hold where nothing is said about it.
_USUAL = 5
# The most of each that a crowd is imagined for.
_ITEMS, MOST_PEOPLE = 1_000_000, 10**12


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownData:
    """What was said about the data, checked."""

    supports: F64
    sizes: I64
    chances: F64
    words: dict[str, Any]
    notes: tuple[str, ...]


def known_data(items: Any, sizes: Any, exponent: Any, frequencies: Any) -> KnownData:
    """Check what was said about the data, and turn it into supports and sizes."""
    many = at_most("items", items, _ITEMS)
    words: dict[str, Any] = {}
    notes = ["Items are imagined to have nothing to do with each other: what goes together is easier to find."]
    typical = None if sizes is None or not _several(sizes) else _typical(sizes, many)
    if frequencies is not None:
        supports = _supports(frequencies, many)
        words["frequencies"] = "as given"
    else:
        mean = _mean_size(sizes, many) if typical is None else float(typical.mean())
        if sizes is None:
            notes.append(f"Baskets are taken to have {mean:g} items each on average, as sizes were not given.")
        power = float(exact(exponent, "exponent"))
        if not 0 <= power <= 10:
            raise MisuseError(
                told("{exponent} is a number from 0 to 10, such as 1; {given} was given.", given=exponent)
            )
        supports = zipf(many, mean, power)
        words["exponent"] = power
        notes.append(f"Supports of items are taken to fall with the power {power:g} of their rank (Zipf).")
        everywhere = int((supports >= MOST).sum())
        if everywhere:
            items_are = number_of(everywhere, "item is", "items are")
            notes.append(f"So {items_are} in nearly every basket. If none is in yours, a smaller exponent is nearer.")
    if typical is not None:
        lengths, counts = np.unique(typical, return_counts=True)
        law: tuple[I64, F64] = lengths, counts / counts.sum()
        mean = float(typical.mean())
    else:
        mean = float(supports.sum()) if sizes is None else _mean_size(sizes, many)
        law = sizes_of(max(mean, 1e-6), supports)
    words["mean size"] = round(mean, 4)
    return KnownData(supports=supports, sizes=law[0], chances=law[1], words=words, notes=tuple(notes))


def _several(sizes: Any) -> bool:
    return isinstance(sizes, Iterable) and not isinstance(sizes, str)


def _typical(sizes: Any, items: int) -> I64:
    listed = list(sizes)
    if not listed or not all(is_whole(size) and 0 <= size <= items for size in listed) or not any(listed):
        raise MisuseError(
            told(
                "{sizes} is the mean size of a basket, such as 5, or a list of sizes from 0 to {many:,}, the number of "
                "items, not all of them 0; {given!r:.80} was given.",
                many=items,
                given=listed,
            )
        )
    return np.array(listed, np.int64)


def _mean_size(sizes: Any, items: int) -> float:
    if sizes is None:
        return min(_USUAL, items / 2)
    mean = float(exact(sizes, "sizes"))
    if not 0 < mean < items:
        raise MisuseError(
            told(
                "{sizes} is the mean size of a basket, over 0 and below {many:,}, the number of items; {given} was "
                "given.",
                many=items,
                given=sizes,
            )
        )
    return mean


def _supports(frequencies: Any, items: int) -> F64:
    listed = list(frequencies) if _several(frequencies) else None
    numbers = listed is not None and all(
        isinstance(one, int | float | np.number | Fraction) and not isinstance(one, bool) for one in listed
    )
    given = np.array(listed, np.float64) if numbers else np.empty(0)
    if not len(given) or not np.isfinite(given).all() or given.min() < 0 or not 0 < given.max() <= 1:
        raise MisuseError(
            told(
                "{frequencies} is a list of the fractions of people who hold each item, each from 0 to 1, and some "
                "over "
                "0; {given!r:.80} was given.",
                given=frequencies,
            )
        )
    if len(given) > items:
        raise MisuseError(f"There are {items:,} items, but {len(given):,} frequencies were given: leave some out.")
    supports = np.zeros(items)
    supports[: len(given)] = np.sort(given)[::-1]
    return supports


def at_most(name: str, value: Any, most: int) -> int:
    """Return a number that is no larger than a forecast takes."""
    if positive(name, value) > most:
        raise MisuseError(
            told(
                "{option} is at most {many:,} in a forecast; {given} was given.",
                option=named(name),
                many=most,
                given=value,
            )
        )
    return int(value)
