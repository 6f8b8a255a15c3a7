"""What is known in public about the data, checked and made a law: supports of items, sizes of baskets, baskets each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..baskets import MOST_BASKETS
from ..checks import is_whole, parse_positive
from ..errors import MisuseError, name_options
from ..privacy import exact
from ..wording import number_of
from ._crowd import F64, I64, MOST, sizes_of, zipf

# What a basket is taken to hold where nothing is said about it.
_USUAL = 5
# The most of each that a crowd is imagined for, and the most baskets that somebody has in it.
_ITEMS, MOST_PEOPLE, _EACH = 1_000_000, 10**12, 10_000

_ALIKE = "Baskets of one person are imagined to have no more in common than those of two people."
_GEOMETRIC = (
    "How many baskets people have is taken to be geometric around the mean. Typical numbers say it better, as some "
    "people have very many."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What was said about the data, checked.

    Parameters
    ----------
    supports
        Which fraction of the baskets holds each item.
    sizes, chances
        How many items a basket has, and how likely that is.
    each
        How many baskets a person has, and how likely that is; None where everybody has one.
    words, notes
        The same by name, and sentences about what was assumed.
    """

    supports: F64
    sizes: I64
    chances: F64
    each: tuple[I64, F64] | None
    words: dict[str, Any]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, items: Any, sizes: Any, exponent: Any, frequencies: Any, baskets_each: Any) -> Known:
        """Check what was said, and turn it into laws."""
        return _known(items, sizes, exponent, frequencies, baskets_each)


def _known(items: Any, sizes: Any, exponent: Any, frequencies: Any, baskets_each: Any) -> Known:
    many = at_most("items", items, _ITEMS)
    words: dict[str, Any] = {}
    notes = ["Items are imagined to have nothing to do with each other: what goes together is easier to find."]
    each = None if baskets_each is None else _each(baskets_each)
    typical = None if sizes is None or not _several(sizes) else _typical(sizes, many)
    if frequencies is not None:
        supports = _supports(frequencies, many, "people" if each is None else "baskets")
        words["frequencies"] = "as given"
    else:
        mean = _mean_size(sizes, many) if typical is None else float(typical.mean())
        if sizes is None:
            notes.append(f"Baskets are taken to have {mean:g} items each on average, as sizes were not given.")
        power = float(exact(exponent, "exponent"))
        if not 0 <= power <= 10:
            raise MisuseError.format(
                "{exponent} is a number from 0 to 10, such as 1; {given} was given.", given=exponent
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
    if each is not None:
        words["mean baskets each"] = round(float(each[0] @ each[1]), 4)
        notes.append(_ALIKE)
        if not _several(baskets_each):
            notes.append(_GEOMETRIC)
    return Known(supports=supports, sizes=law[0], chances=law[1], each=each, words=words, notes=tuple(notes))


def _each(given: Any) -> tuple[I64, F64]:
    """Return how many baskets people have and how likely that is, from typical numbers or from their mean."""
    if _several(given):
        listed = list(given)
        if not listed or not all(is_whole(many) and 1 <= many <= _EACH for many in listed):
            raise _not_each(f"{listed!r:.80}")
        numbers, counts = np.unique(np.array(listed, np.int64), return_counts=True)
        return numbers, counts / counts.sum()
    mean = float(exact(given, "baskets_each"))
    if not 1 <= mean <= _EACH:
        raise _not_each(given)
    # Few have many: a geometric law, as that of sizes, and nobody is without a basket.
    return sizes_of(mean, np.zeros(1))


def _not_each(given: Any) -> MisuseError:
    return MisuseError.format(
        "{baskets_each} is how many baskets a person has: the mean, such as 4, or a list of typical numbers, each "
        "from 1 to {many:,}; {given} was given.",
        many=_EACH,
        given=given,
    )


def cap_of(max_baskets: Any, known: Known) -> int | None:
    """Return how many baskets of each person take part, where that was said and there are several."""
    if max_baskets is None:
        return None
    if known.each is None:
        raise MisuseError.format(
            "{max_baskets} is for people with several baskets: say how many they have, {baskets_each=4}."
        )
    return at_most("max_baskets", max_baskets, MOST_BASKETS)


def _several(sizes: Any) -> bool:
    return isinstance(sizes, Iterable) and not isinstance(sizes, str)


def _typical(sizes: Any, items: int) -> I64:
    listed = list(sizes)
    if not listed or not all(is_whole(size) and 0 <= size <= items for size in listed) or not any(listed):
        raise MisuseError.format(
            "{sizes} is the mean size of a basket, such as 5, or a list of sizes from 0 to {many:,}, the number of "
            "items, not all of them 0; {given!r:.80} was given.",
            many=items,
            given=listed,
        )
    return np.array(listed, np.int64)


def _mean_size(sizes: Any, items: int) -> float:
    if sizes is None:
        return min(_USUAL, items / 2)
    mean = float(exact(sizes, "sizes"))
    if not 0 < mean < items:
        raise MisuseError.format(
            "{sizes} is the mean size of a basket, over 0 and below {many:,}, the number of items; {given} was given.",
            many=items,
            given=sizes,
        )
    return mean


def _supports(frequencies: Any, items: int, unit: str) -> F64:
    listed = list(frequencies) if _several(frequencies) else None
    numbers = listed is not None and all(
        isinstance(one, int | float | np.number | Fraction) and not isinstance(one, bool) for one in listed
    )
    given = np.array(listed, np.float64) if numbers else np.empty(0)
    if not len(given) or not np.isfinite(given).all() or given.min() < 0 or not 0 < given.max() <= 1:
        raise MisuseError.format(
            "{frequencies} is a list of the fractions of {unit} {that} hold each item, each from 0 to 1, and some "
            "over 0; {given!r:.80} was given.",
            unit=unit,
            that="who" if unit == "people" else "that",
            given=frequencies,
        )
    if len(given) > items:
        raise MisuseError(f"There are {items:,} items, but {len(given):,} frequencies were given: leave some out.")
    supports = np.zeros(items)
    supports[: len(given)] = np.sort(given)[::-1]
    return supports


def at_most(name: str, value: Any, most: int) -> int:
    """Return a whole number that somebody typed, if a forecast is made for so much."""
    if parse_positive(name, value) > most:
        raise MisuseError.format(
            "{option} is at most {many:,} in a forecast; {given} was given.",
            option=name_options(name),
            many=most,
            given=value,
        )
    return int(value)
