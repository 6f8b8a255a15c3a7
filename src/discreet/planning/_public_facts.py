"""Public facts about the data, checked and completed to laws of supports, basket sizes and basket counts."""

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
from ._crowd import F64, I64, MAX_SUPPORT, sizes_of, zipf

_DEFAULT_MEAN_SIZE = 5  # items of a basket, if the question has no size; a note of the forecast says so
# The largest numbers of items and people of a forecast, and of baskets of an imagined person.
_MAX_ITEMS, MAX_PEOPLE, _MAX_BASKETS_EACH = 1_000_000, 10**12, 10_000

_ALIKE = "Baskets of one person are imagined to have no more in common than those of two people."
_GEOMETRIC = (
    "How many baskets people have is taken to be geometric around the mean. Typical numbers say it better, as some "
    "people have very many."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicFacts:
    """Public facts about the data, as probability laws.

    Parameters
    ----------
    supports
        The fraction of the baskets that contain each item, the largest first.
    sizes, size_chances
        The numbers of items of a basket, and the probability of each.
    baskets_each
        The numbers of baskets of a person, and the probability of each; None if people have one basket.
    words, notes
        The facts by name, and sentences about the assumptions.
    """

    supports: F64
    sizes: I64
    size_chances: F64
    baskets_each: tuple[I64, F64] | None
    words: dict[str, Any]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, items: Any, sizes: Any, exponent: Any, frequencies: Any, baskets_each: Any) -> PublicFacts:
        """Return the facts in the keywords of :func:`discreet.plan`.

        Parameters
        ----------
        items
            The number of items.
        sizes
            The mean number of items of a basket, a list of typical numbers, or None.
        exponent
            The power of the rank with which supports fall, from 0 to 10; unused with frequencies.
        frequencies
            The supports of items, from 0 to 1, or None.
        baskets_each
            The mean number of baskets of a person, a list of typical numbers, or None for one basket.
        """
        item_count = parse_count("items", items, _MAX_ITEMS)
        # The facts as a saved forecast records them, so that it can be repeated.
        words: dict[str, Any] = {}
        notes = ["Items are imagined to have nothing to do with each other: what goes together is easier to find."]
        basket_counts = None if baskets_each is None else _parse_baskets_each(baskets_each)
        typical_sizes = _parse_typical_sizes(sizes, item_count) if _is_list(sizes) else None
        if frequencies is not None:
            supports = _parse_supports(frequencies, item_count, "people" if basket_counts is None else "baskets")
            words["frequencies"] = "as given"
        else:
            mean = _parse_mean_size(sizes, item_count) if typical_sizes is None else float(typical_sizes.mean())
            if sizes is None:
                notes.append(f"Baskets are taken to have {mean:g} items each on average, as sizes were not given.")
            power = float(exact(exponent, "exponent"))
            if not 0 <= power <= 10:
                raise MisuseError.format(
                    "{exponent} is a number from 0 to 10, such as 1; {given} was given.", given=exponent
                )
            supports = zipf(item_count, mean, power)
            words["exponent"] = power
            notes.append(f"Supports of items are taken to fall with the power {power:g} of their rank (Zipf).")
            capped_count = int((supports >= MAX_SUPPORT).sum())
            if capped_count:
                items_are = number_of(capped_count, "item is", "items are")
                notes.append(
                    f"So {items_are} in nearly every basket. If none is in yours, a smaller exponent is nearer."
                )
        if typical_sizes is not None:
            mean, law = float(typical_sizes.mean()), _compute_shares(typical_sizes)
        else:
            # Frequencies imply a mean size: a basket has each item with the probability of its support.
            mean = float(supports.sum()) if sizes is None else _parse_mean_size(sizes, item_count)
            law = sizes_of(max(mean, 1e-6), supports)
        words["mean size"] = round(mean, 4)
        if basket_counts is not None:
            words["mean baskets each"] = round(float(basket_counts[0] @ basket_counts[1]), 4)
            notes.append(_ALIKE)
            if not _is_list(baskets_each):
                notes.append(_GEOMETRIC)
        return cls(
            supports=supports,
            sizes=law[0],
            size_chances=law[1],
            baskets_each=basket_counts,
            words=words,
            notes=tuple(notes),
        )


def _compute_shares(values: I64) -> tuple[I64, F64]:
    """Return the distinct values of a list, and the share of each."""
    distinct, counts = np.unique(values, return_counts=True)
    return distinct, counts / counts.sum()


def _parse_baskets_each(given: Any) -> tuple[I64, F64]:
    """Return the numbers of baskets of a person and their probabilities, from typical numbers or from the mean."""
    if _is_list(given):
        numbers = list(given)
        if not numbers or not all(is_whole(number) and 1 <= number <= _MAX_BASKETS_EACH for number in numbers):
            raise _baskets_each_error(f"{numbers!r:.80}")
        return _compute_shares(np.array(numbers, np.int64))
    mean = float(exact(given, "baskets_each"))
    if not 1 <= mean <= _MAX_BASKETS_EACH:
        raise _baskets_each_error(given)
    # The law of basket sizes is geometric from 1 on; supports of 0 do not narrow it.
    return sizes_of(mean, np.zeros(1))


def _baskets_each_error(given: Any) -> MisuseError:
    return MisuseError.format(
        "{baskets_each} is how many baskets a person has: the mean, such as 4, or a list of typical numbers, each "
        "from 1 to {many:,}; {given} was given.",
        many=_MAX_BASKETS_EACH,
        given=given,
    )


def parse_max_baskets(max_baskets: Any, facts: PublicFacts) -> int | None:
    """Return the largest number of baskets of a person that take part; None if it was not given."""
    if max_baskets is None:
        return None
    # For people with one basket, a limit would change nothing: the user has probably forgotten a keyword.
    if facts.baskets_each is None:
        raise MisuseError.format(
            "{max_baskets} is for people with several baskets: say how many they have, {baskets_each=4}."
        )
    return parse_count("max_baskets", max_baskets, MOST_BASKETS)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def _parse_typical_sizes(given: Any, item_count: int) -> I64:
    sizes = list(given)
    if not sizes or not all(is_whole(size) and 0 <= size <= item_count for size in sizes) or not any(sizes):
        raise MisuseError.format(
            "{sizes} is the mean size of a basket, such as 5, or a list of sizes from 0 to {many:,}, the number of "
            "items, not all of them 0; {given!r:.80} was given.",
            many=item_count,
            given=sizes,
        )
    return np.array(sizes, np.int64)


def _parse_mean_size(given: Any, item_count: int) -> float:
    if given is None:
        return min(_DEFAULT_MEAN_SIZE, item_count / 2)
    mean = float(exact(given, "sizes"))
    if not 0 < mean < item_count:
        raise MisuseError.format(
            "{sizes} is the mean size of a basket, over 0 and below {many:,}, the number of items; {given} was given.",
            many=item_count,
            given=given,
        )
    return mean


def _parse_supports(given: Any, item_count: int, unit: str) -> F64:
    values = list(given) if _is_list(given) else None
    # True and False are instances of int, but no frequencies.
    are_numbers = values is not None and all(
        isinstance(value, int | float | np.number | Fraction) and not isinstance(value, bool) for value in values
    )
    # An empty array fails the test below; its message covers all cases.
    frequencies = np.array(values, np.float64) if are_numbers else np.empty(0)
    if (
        not len(frequencies)
        or not np.isfinite(frequencies).all()
        or frequencies.min() < 0
        or not 0 < frequencies.max() <= 1
    ):
        raise MisuseError.format(
            "{frequencies} is a list of the fractions of {unit} {that} hold each item, each from 0 to 1, and some "
            "over 0; {given!r:.80} was given.",
            unit=unit,
            that="who" if unit == "people" else "that",
            given=given,
        )
    if len(frequencies) > item_count:
        raise MisuseError(
            f"There are {item_count:,} items, but {len(frequencies):,} frequencies were given: leave some out."
        )
    # Items without a frequency have a support of 0: they are on the public list, and no one holds them.
    supports = np.zeros(item_count)
    supports[: len(frequencies)] = np.sort(frequencies)[::-1]
    return supports


def parse_count(option: str, value: Any, max_count: int) -> int:
    """Return a whole number that a user typed; a number over the largest one of a forecast is an error.

    Parameters
    ----------
    option
        The keyword of the number.
    value
        The typed value.
    max_count
        The largest number that is allowed.
    """
    if parse_positive(option, value) > max_count:
        raise MisuseError.format(
            "{option} is at most {many:,} in a forecast; {given} was given.",
            option=name_options(option),
            many=max_count,
            given=value,
        )
    return int(value)
