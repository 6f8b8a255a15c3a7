"""The privacy loss of an oracle, computed exactly from its numbers: the check of a device before it answers.

The probabilities of an oracle are integers over a power of two, so that the largest ratio between the probabilities of
a report for two baskets is a fraction. The proof page of each oracle says why the ratio here bounds it. Standard
library only, and no floating point.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

from ._limits import MOST_MET, MOST_POINTS, MOST_REPORT, MOST_SHARE, MOST_SUBSET, MOST_SYMBOLS

WORD = 1 << 32  # the denominator of thresholds: the number of values of a random word
WEIGHT_SCALE = 1 << 64  # the denominator of the weights of places: two words

BEYOND = "The question is about more than a device looks at."
NOT_WHOLE = "The question's numbers are not whole."
NO_PROBABILITIES = "The question's numbers are not probabilities."
UNWRITTEN = "The question is not written as format 1 has it."
# Terms of the series of e^x. The terms left out are below 2^-96 of the sum up to x = 20, the largest epsilon.
_TERMS = 160


def _parse_weight(oracle: Mapping[str, Any]) -> int:
    """Return the weight of a place inside; it travels as digits, since some languages read no longer number exactly."""
    digits = oracle["inside"]
    if not isinstance(digits, str) or not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise ValueError(NOT_WHOLE)
    return int(digits)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer; a boolean is none."""
    return type(value) is int


@lru_cache(maxsize=64)
def exp_lower_bound(epsilon: Fraction) -> Fraction:
    """Return a lower bound of e^epsilon; up to epsilon 20 its relative error is below 2^-96."""
    term = total = Fraction(1)
    for count in range(1, _TERMS):
        # Each term is rounded down to 128 bits: the sum stays a lower bound, and its numbers stay short.
        term = Fraction(int(term * epsilon / count * (1 << 128)), 1 << 128)
        total += term
    return total


def _place_ratio(weight: int, inside: int, outside: int, sampled: Fraction = Fraction(1)) -> Fraction:
    """Return the largest ratio of the probabilities of two places, for a basket with any part of the places inside.

    Parameters
    ----------
    weight
        The probability of a place inside, times 2^64.
    inside, outside
        The numbers of places, with all values of a basket at different places.
    sampled
        The part of the probability that depends on one value of the basket, from 0 to 1; the remaining part is that of
        a place outside.
    """
    outside_weight, places = WEIGHT_SCALE - weight * inside, inside + outside
    if min(weight, inside, outside) < 1 or outside_weight < outside:
        raise ValueError(NO_PROBABILITIES)
    # With no place inside all places are alike; the weight outside lies between that weight and the weight with all
    # places inside. If the remaining weight does not divide evenly, some places outside are one unit heavier.
    largest_weight = max(-(-outside_weight // outside), -(-WEIGHT_SCALE // places) if inside > 1 else 0)
    least_weight = min(weight, outside_weight // outside, WEIGHT_SCALE // places if inside > 1 else weight)
    return (sampled * max(weight, largest_weight) + (1 - sampled) * largest_weight) / least_weight


def odds(threshold: int) -> Fraction:
    """Return the odds of an event with the probability `threshold` / 2^32: that probability over its complement."""
    if not 0 < threshold < WORD:
        raise ValueError(NO_PROBABILITIES)
    return Fraction(threshold, WORD - threshold)


def compute_ratio(oracle: Mapping[str, Any], losses: Mapping[str, Loss] | None = None) -> Fraction:
    """Return the largest ratio of the probabilities of a report for two baskets, exactly: e^epsilon.

    Parameters
    ----------
    oracle
        The oracle as it travels.
    losses
        The loss of each oracle by name; None for the oracles of format 1.
    """
    name, known_losses = oracle["oracle"], LOSSES if losses is None else losses
    if name not in known_losses:
        raise ValueError(f"This device does not know the oracle {name!r:.40}: it is no part of format 1.")
    return _compute_ratio(json.dumps(oracle), known_losses[name])


@lru_cache(maxsize=64)
def _compute_ratio(oracle_text: str, loss: Loss) -> Fraction:
    oracle = json.loads(oracle_text)
    numbers = {key: value for key, value in oracle.items() if key not in ("oracle", "inside", "pm", "duchi")}
    size, pad = oracle.get("size", 1), oracle.get("pad", 1)
    if not loss.numbers <= oracle.keys() <= loss.numbers | loss.optional | {"oracle"}:
        raise ValueError(UNWRITTEN)
    if not all(map(is_whole, numbers.values())):
        raise ValueError(NOT_WHOLE)
    if not all(0 <= value <= WORD for value in numbers.values()) or min(size, pad) < 1:
        raise ValueError(NO_PROBABILITIES)
    symbols = size + oracle.get("dummies", 0)
    if symbols > loss.largest or pad > loss.largest or oracle.get("share", 0) > MOST_SHARE:
        raise ValueError(BEYOND)
    if loss.longest is not None and loss.longest(oracle) > MOST_REPORT:
        raise ValueError(f"An answer to the question would be longer than the {MOST_REPORT:,} bytes a device sends.")
    return loss.ratio(oracle)


def compute_delta(oracle: Mapping[str, Any]) -> Fraction:
    """Return the probability that the ratio does not hold: 0, except for hashing that counts on sampling.

    It bounds the probability that `share` + 1 of the `pad` values meet in one bucket.
    """
    if "share" not in oracle:
        return Fraction(0)
    return min(Fraction(1), Fraction(comb(oracle["pad"], oracle["share"] + 1), oracle["buckets"] ** oracle["share"]))


def _value_ratio(oracle: Mapping[str, Any]) -> Fraction:
    pad, dummies = oracle["pad"], oracle["dummies"]
    # One symbol in `pad` is sampled: the sampling hides all further symbols (Theorem 1), if all dummies differ (A3).
    sampled = Fraction(1, pad) if dummies >= pad else Fraction(1)
    return _place_ratio(_parse_weight(oracle), 1, oracle["size"] + dummies - 1, sampled)


def _check_published_seeds(oracle: Mapping[str, Any], fits: bool) -> None:
    """Refuse numbers of published seeds that are no power of two, or that do not fit the oracle."""
    seeds = oracle.get("seeds", 2)
    if not 2 <= seeds < WORD or seeds & (seeds - 1) or not fits:
        raise ValueError("The question's numbers are not those of published seeds.")


def _hash_ratio(oracle: Mapping[str, Any]) -> Fraction:
    pad = oracle["pad"]
    # The share assumes seeds that behave as random ones; a collector could choose published seeds that do not.
    _check_published_seeds(oracle, "seeds" not in oracle or "share" not in oracle)
    # With a share of the padding that rarely meets in one bucket (Theorem 5), if all dummies differ: never pure,
    # see `compute_delta` (A14).
    sampled = Fraction(min(oracle.get("share", pad), pad), pad) if oracle["dummies"] >= pad else Fraction(1)
    return _place_ratio(_parse_weight(oracle), 1, oracle["buckets"] - 1, sampled)


def _subset_ratio(oracle: Mapping[str, Any]) -> Fraction:
    own_count = oracle["pad"] if oracle["oracle"] == "privset" else 1
    symbols, subset_size = oracle["size"] + oracle["dummies"], oracle["many"]
    if subset_size < 1 or symbols - own_count < subset_size or (oracle["dummies"] < own_count and own_count != 1):
        raise ValueError("The question's numbers are not those of a subset.")
    if subset_size * own_count > MOST_MET * symbols:
        raise ValueError(BEYOND)
    missing = comb(symbols - own_count, subset_size)  # subsets without an own symbol
    return symmetric_ratio(odds(oracle["hit"]) * Fraction(missing, comb(symbols, subset_size) - missing))


def _wheel_ratio(oracle: Mapping[str, Any]) -> Fraction:
    # A small number of points belongs to published seeds: their reports are added up point by point.
    _check_published_seeds(oracle, ("seeds" in oracle) == ("points" in oracle))
    arcs, points = oracle["pad"] * oracle["arc"], oracle.get("points", WORD)
    return _place_ratio(_parse_weight(oracle), arcs, points - arcs)


def count_space_points(field: int, coordinates: int) -> int:
    """Return the number of points of a projective space: vectors with a 1 as the first coordinate other than 0."""
    return (int(field**coordinates) - 1) // (field - 1)


def _geometry_ratio(oracle: Mapping[str, Any]) -> Fraction:
    field, coordinates = oracle["field"], oracle["coordinates"]
    # A space over two or more values has at least 2^(coordinates - 1) points: the power is not computed beyond that.
    if coordinates >= MOST_POINTS.bit_length() or (field > 1 and count_space_points(field, coordinates) > MOST_POINTS):
        raise ValueError(BEYOND)
    if min(field, coordinates) < 2 or oracle["size"] + oracle["dummies"] > count_space_points(field, coordinates):
        raise ValueError("The question's numbers are not those of a space.")
    misses, hits = field ** (coordinates - 1), count_space_points(field, coordinates - 1)
    return symmetric_ratio(odds(oracle["hit"]) * Fraction(misses, hits))


def _duchi_ratio(oracle: Mapping[str, Any]) -> Fraction:
    return symmetric_ratio(odds(WORD // 2 + oracle["slope"] * oracle["span"]))


def _piecewise_ratio(oracle: Mapping[str, Any]) -> Fraction:
    # The window of every value from -span to span lies within the points.
    if oracle["points"] - oracle["window"] != 2 * oracle["span"] * oracle["step"]:
        raise ValueError("The question's numbers are not those of a window.")
    return _place_ratio(_parse_weight(oracle), oracle["window"], oracle["points"] - oracle["window"])


def _hybrid_ratio(oracle: Mapping[str, Any]) -> Fraction:
    pm, duchi = oracle["pm"], oracle["duchi"]
    if (pm["oracle"], duchi["oracle"]) != ("pm", "duchi") or not oracle["span"] == pm["span"] == duchi["span"]:
        raise ValueError("The question's numbers are not those of a choice.")
    return max(compute_ratio(pm), compute_ratio(duchi))


def symmetric_ratio(ratio: Fraction) -> Fraction:
    """Return a ratio or its inverse, whichever is at least 1."""
    return max(ratio, 1 / ratio)


def _longest_subset_report(oracle: Mapping[str, Any]) -> int:
    """Return the bytes of the longest report of a subset: its symbols, as long as the last one, and commas."""
    subset_size: int = oracle["many"]
    return 12 + subset_size * (len(str(oracle["size"] + oracle["dummies"] - 1)) + 1)


class Loss:
    """The facts about an oracle that a device needs before it answers.

    Parameters
    ----------
    ratio
        The function from the oracle as it travels to its largest ratio of probabilities.
    numbers, optional
        The names of the numbers that the oracle must have and can have, separated by spaces.
    largest
        The largest number of candidates and dummies together, and the largest padding.
    longest
        The function from the oracle to the bytes of its longest report; None if all reports are short.
    """

    def __init__(
        self,
        ratio: Callable[[Mapping[str, Any]], Fraction],
        numbers: str,
        *,
        optional: str = "",
        largest: int = MOST_SYMBOLS,
        longest: Callable[[Mapping[str, Any]], int] | None = None,
    ) -> None:
        self.ratio, self.numbers, self.optional = ratio, frozenset(numbers.split()), frozenset(optional.split())
        self.largest, self.longest = largest, longest


_SETS = "size pad dummies "
_SUBSET = Loss(_subset_ratio, _SETS + "many hit", largest=MOST_SUBSET, longest=_longest_subset_report)
LOSSES: dict[str, Loss] = {
    "grr": Loss(_value_ratio, _SETS + "inside"),
    "olh": Loss(_hash_ratio, _SETS + "buckets inside", optional="share seeds"),
    "subset": _SUBSET,
    "privset": _SUBSET,
    "wheel": Loss(_wheel_ratio, _SETS + "arc inside", optional="points seeds"),
    "geometry": Loss(_geometry_ratio, _SETS + "field coordinates hit"),
    "duchi": Loss(_duchi_ratio, "span slope"),
    "pm": Loss(_piecewise_ratio, "span step window points inside"),
    "hm": Loss(_hybrid_ratio, "span choose pm duchi"),
}
