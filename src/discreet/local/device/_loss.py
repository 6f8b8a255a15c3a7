"""What an oracle gives away, computed exactly from its numbers: what a device checks before it answers.

Every oracle's probabilities are integers over a power of two, so the largest ratio between the chances of one report
under two baskets is a fraction. The proof page of each oracle says why the ratio here bounds it. Standard library
only, and no floating point.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

from ._limits import MOST_MET, MOST_POINTS, MOST_REPORT, MOST_SHARE, MOST_SUBSET, MOST_SYMBOLS

WORD = 1 << 32  # chances are out of this many
WIDE = 1 << 64  # weights of places are out of this many

BEYOND = "The question is about more than a device looks at."
_TERMS = 160  # of the series of e^x: they leave out less than 2^-96 of it up to x = 20


def _weight(oracle: Mapping[str, Any]) -> int:
    """Return the weight of a place inside; it travels as digits, as some languages read no number so long exactly."""
    digits = oracle["inside"]
    if not isinstance(digits, str) or not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise ValueError("The question's numbers are not whole.")
    return int(digits)


def whole(value: Any) -> bool:
    """Return whether this is a whole number, and not one that passes for it."""
    return type(value) is int


@lru_cache(maxsize=64)
def grown_at_least(epsilon: Fraction) -> Fraction:
    """Return a number that is at most e to the power of epsilon, by less than 2^-96 of it up to 20."""
    term = total = Fraction(1)
    for count in range(1, _TERMS):
        # Terms are cut, which keeps the sum below, to numbers that stay short.
        term = Fraction(int(term * epsilon / count * (1 << 128)), 1 << 128)
        total += term
    return total


def _placed(weight: int, inside: int, outside: int, sampled: Fraction = Fraction(1)) -> Fraction:
    """Return the largest ratio of the chances of two places, whatever part of `inside` is there.

    Where only `sampled` of the chances go by what the basket holds, the others are those of a place outside.
    """
    rest, places = WIDE - weight * inside, inside + outside
    if min(weight, inside, outside) < 1 or rest < outside:
        raise ValueError("The question's numbers are not probabilities.")
    # With nothing inside all places are alike; the weight outside lies between that and what is left when all is.
    # What does not divide evenly makes some places outside one unit heavier than others.
    heavy = max(-(-rest // outside), -(-WIDE // places) if inside > 1 else 0)
    least = min(weight, rest // outside, WIDE // places if inside > 1 else weight)
    return (sampled * max(weight, heavy) + (1 - sampled) * heavy) / least


def odds(threshold: int) -> Fraction:
    """Return how likely a threshold out of 2^32 makes something, against its opposite."""
    if not 0 < threshold < WORD:
        raise ValueError("The question's numbers are not probabilities.")
    return Fraction(threshold, WORD - threshold)


def ratio(oracle: Mapping[str, Any], losses: Mapping[str, Loss] | None = None) -> Fraction:
    """Return how much likelier some report can be for one basket than for another, exactly, from the numbers alone.

    Parameters
    ----------
    oracle
        The oracle as it travels.
    losses
        The oracles that are known, by name: those of the format where nothing is given.
    """
    name, known = oracle["oracle"], LOSSES if losses is None else losses
    if name not in known:
        raise ValueError(f"This device does not know the oracle {name!r:.40}: it is no part of format 1.")
    return _ratio(json.dumps(oracle), known[name])


@lru_cache(maxsize=64)
def _ratio(text: str, loss: Loss) -> Fraction:
    oracle = json.loads(text)
    numbers = {key: value for key, value in oracle.items() if key not in ("oracle", "inside", "pm", "duchi")}
    if not loss.needs <= oracle.keys() <= loss.needs | loss.may | {"oracle"}:
        raise ValueError("The question is not written as format 1 has it.")
    if not all(map(whole, numbers.values())):
        raise ValueError("The question's numbers are not whole.")
    if (
        not all(0 <= value <= WORD for value in numbers.values())
        or min(oracle.get("size", 1), oracle.get("pad", 1)) < 1
    ):
        raise ValueError("The question's numbers are not probabilities.")
    if (
        oracle.get("size", 1) + oracle.get("dummies", 0) > loss.largest
        or oracle.get("pad", 1) > loss.largest
        or oracle.get("share", 0) > MOST_SHARE
    ):
        raise ValueError(BEYOND)
    if loss.longest is not None and loss.longest(oracle) > MOST_REPORT:
        raise ValueError(f"An answer to the question would be longer than the {MOST_REPORT:,} bytes a device sends.")
    return loss.of(oracle)


def failing(oracle: Mapping[str, Any]) -> Fraction:
    """Return the probability with which the ratio may not hold: 0 but for hashing that counts on sampling."""
    if "share" not in oracle:
        return Fraction(0)
    return min(Fraction(1), Fraction(comb(oracle["pad"], oracle["share"] + 1), oracle["buckets"] ** oracle["share"]))


def _value(oracle: Mapping[str, Any]) -> Fraction:
    pad, dummies = oracle["pad"], oracle["dummies"]
    # One symbol in `pad` is sampled: the sampling hides the rest (Theorem 1), if all dummies differ (A3).
    sampled = Fraction(1, pad) if dummies >= pad else Fraction(1)
    return _placed(_weight(oracle), 1, oracle["size"] + dummies - 1, sampled)


def _published(oracle: Mapping[str, Any], fits: bool) -> None:
    """Refuse published seeds that are no power of two, or that do not fit the other numbers."""
    seeds = oracle.get("seeds", 2)
    if not 2 <= seeds < WORD or seeds & (seeds - 1) or not fits:
        raise ValueError("The question's numbers are not those of published seeds.")


def _hashed(oracle: Mapping[str, Any]) -> Fraction:
    pad = oracle["pad"]
    # The share is about seeds that behave as random ones: of a few that somebody chose, none need.
    _published(oracle, "seeds" not in oracle or "share" not in oracle)
    # With a share of the padding that rarely meets in one bucket (Theorem 5), if all dummies differ: never pure,
    # see `failing` (A14).
    sampled = Fraction(min(oracle.get("share", pad), pad), pad) if oracle["dummies"] >= pad else Fraction(1)
    return _placed(_weight(oracle), 1, oracle["buckets"] - 1, sampled)


def _subset(oracle: Mapping[str, Any]) -> Fraction:
    own = oracle["pad"] if oracle["oracle"] == "privset" else 1
    size, many, few = oracle["size"] + oracle["dummies"], oracle["many"], oracle["dummies"] < own
    if many < 1 or size - own < many or (few and own != 1):
        raise ValueError("The question's numbers are not those of a subset.")
    if many * own > MOST_MET * size:
        raise ValueError(BEYOND)
    missing = comb(size - own, many)
    return both(odds(oracle["hit"]) * Fraction(missing, comb(size, many) - missing))


def _wheel(oracle: Mapping[str, Any]) -> Fraction:
    # Few points are for published seeds, whose reports are added up point by point.
    _published(oracle, ("seeds" in oracle) == ("points" in oracle))
    arcs, points = oracle["pad"] * oracle["arc"], oracle.get("points", WORD)
    return _placed(_weight(oracle), arcs, points - arcs)


def points(field: int, coordinates: int) -> int:
    """Return how many points a projective space has: vectors whose first coordinate that is not 0 is a 1."""
    return (int(field**coordinates) - 1) // (field - 1)


def _point(oracle: Mapping[str, Any]) -> Fraction:
    field, many = oracle["field"], oracle["coordinates"]
    # With two or more values of a coordinate, more coordinates make more points than that.
    if many >= MOST_POINTS.bit_length() or (field > 1 and points(field, many) > MOST_POINTS):
        raise ValueError(BEYOND)
    if min(field, many) < 2 or oracle["size"] + oracle["dummies"] > points(field, many):
        raise ValueError("The question's numbers are not those of a space.")
    return both(odds(oracle["hit"]) * Fraction(field ** (many - 1), points(field, many - 1)))


def _sign(oracle: Mapping[str, Any]) -> Fraction:
    return both(odds(WORD // 2 + oracle["slope"] * oracle["span"]))


def _piece(oracle: Mapping[str, Any]) -> Fraction:
    # The window of every value from -span to span lies within the points.
    if oracle["points"] - oracle["window"] != 2 * oracle["span"] * oracle["step"]:
        raise ValueError("The question's numbers are not those of a window.")
    return _placed(_weight(oracle), oracle["window"], oracle["points"] - oracle["window"])


def _either(oracle: Mapping[str, Any]) -> Fraction:
    pm, duchi = oracle["pm"], oracle["duchi"]
    if (pm["oracle"], duchi["oracle"]) != ("pm", "duchi") or not oracle["span"] == pm["span"] == duchi["span"]:
        raise ValueError("The question's numbers are not those of a choice.")
    return max(ratio(pm), ratio(duchi))


def both(one: Fraction) -> Fraction:
    """Return a ratio the way round in which it is 1 or more."""
    return max(one, 1 / one)


def _many(oracle: Mapping[str, Any]) -> int:
    """Return the bytes of the longest report of a subset: its symbols, as long as the last one, and commas."""
    many: int = oracle["many"]
    return 12 + many * (len(str(oracle["size"] + oracle["dummies"] - 1)) + 1)


class Loss:
    """What a device knows of an oracle before it answers.

    Parameters
    ----------
    of
        What it gives away, computed from its numbers.
    needs, may
        The names of the numbers that it has, and may have.
    largest
        How many candidates and dummies it is for, and how long a padding.
    longest
        The bytes of its longest report, computed from its numbers; None where all reports are short.
    """

    def __init__(
        self,
        of: Callable[[Mapping[str, Any]], Fraction],
        needs: str,
        *,
        may: str = "",
        largest: int = MOST_SYMBOLS,
        longest: Callable[[Mapping[str, Any]], int] | None = None,
    ) -> None:
        self.of, self.needs, self.may = of, frozenset(needs.split()), frozenset(may.split())
        self.largest, self.longest = largest, longest


_SETS = "size pad dummies "
LOSSES: dict[str, Loss] = {
    "grr": Loss(_value, _SETS + "inside"),
    "olh": Loss(_hashed, _SETS + "buckets inside", may="share seeds"),
    "subset": Loss(_subset, _SETS + "many hit", largest=MOST_SUBSET, longest=_many),
    "privset": Loss(_subset, _SETS + "many hit", largest=MOST_SUBSET, longest=_many),
    "wheel": Loss(_wheel, _SETS + "arc inside", may="points seeds"),
    "geometry": Loss(_point, _SETS + "field coordinates hit"),
    "duchi": Loss(_sign, "span slope"),
    "pm": Loss(_piece, "span step window points inside"),
    "hm": Loss(_either, "span choose pm duchi"),
}
