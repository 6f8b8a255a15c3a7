"""What a question gives away, computed exactly from its numbers: what a device checks before it answers.

Every oracle's probabilities are integers over a power of two, so the largest ratio between the chances of one report
under two baskets is a fraction. The proof page of each oracle says why the ratio here bounds it. Standard library
only, and no floating point.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

WORD = 1 << 32  # chances are out of this many
WIDE = 1 << 64  # weights of places are out of this many

_TERMS = 160  # of the series of e^x: they leave out less than 2^-96 of it up to x = 20


def check(question: Mapping[str, Any], most: float | Fraction | None = None, fail: float | Fraction = 0) -> None:
    """Refuse a question in another format, one that asks for more than is given, or one that hides what it asks for.

    Parameters
    ----------
    question
        The question as read from its JSON form.
    most, fail
        The most epsilon this device gives away, and the largest probability of giving away more (delta).
    """
    if question.get("format") != 1:
        raise ValueError(f"This device speaks format 1, and the question is in format {question.get('format')}.")
    try:
        epsilon, delta = Fraction(question["epsilon"]), Fraction(question.get("delta", 0))
        if most is not None and epsilon > most:
            raise ValueError(
                f"The question asks for epsilon {float(epsilon):g}, and this device gives at most {float(most):g}."
            )
        if delta > fail:
            raise ValueError(
                f"The question asks for delta {float(delta):g}, and this device gives at most {float(fail):g}."
            )
        _check_values(question)
        lost, failed = ratio(question["oracle"]), failing(question["oracle"])
    except (KeyError, TypeError, AttributeError, IndexError):
        # Nothing of the basket was looked at yet, so stopping here tells nothing.
        raise ValueError("The question is not written as format 1 has it.") from None
    if epsilon <= 0 or lost > grown_at_least(epsilon) or failed > delta:
        raise ValueError("The question's probabilities give away more than the epsilon it states.")


def _check_values(question: Mapping[str, Any]) -> None:
    """Refuse a question that stops some baskets from answering, or has answers its oracle has no place for.

    A device that stops, or reports what nobody else can, tells what it holds.
    """
    ask, of, oracle = question["ask"], question["of"], question["oracle"]
    if ask == "projection":
        _check_projection(question)
        return
    values, more, fits = of, [], oracle["pad"] == 1
    if question.get("pairs", "together") not in ("together", "own") or ("pairs" in question and ask == "prefix"):
        raise ValueError("The question is not written as format 1 has it.")
    if "pairs" in question and any(len(one) != 2 for one in of):
        raise ValueError("The question's relations are not pairs.")
    if ask == "which":
        # Whoever holds none of them answers with a dummy, or with no arc of the wheel at all.
        fits = oracle["dummies"] > 0 or oracle["oracle"] == "wheel"
    elif ask == "how-many":
        values = more = question["bins"]
        fits = fits and more[0] == 0 and more == sorted(set(more))
    elif ask == "prefix":
        values, more = [*of, []], [*question["order"], question["length"]]
    else:
        raise ValueError(f"This device does not know the question {ask!r}.")
    if not all(map(_whole, more)) or not (_whole(of) or all(_whole(one) or all(map(_whole, one)) for one in of)):
        raise ValueError("The question's numbers are not whole.")
    if not fits or (values if isinstance(values, int) else len(values)) != oracle["size"]:
        raise ValueError("The question's oracle is made for other answers than the question has.")


def _check_projection(question: Mapping[str, Any]) -> None:
    of, left, right, low, high = (question[name] for name in ("of", "left", "right", "low", "high"))
    if question["pairs"] not in ("together", "own") or not len(of) == len(left) == len(right) == len(set(of)):
        raise ValueError("The question is not written as format 1 has it.")
    if not all(map(_whole, [*of, *left, *right, low, high])):
        raise ValueError("The question's numbers are not whole.")
    if low > high or "span" not in question["oracle"]:
        raise ValueError("The question's oracle is made for other answers than the question has.")


def _weight(oracle: Mapping[str, Any]) -> int:
    """Return the weight of a place inside; it travels as digits, as some languages read no number so long exactly."""
    digits = oracle["inside"]
    if not isinstance(digits, str) or not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise ValueError("The question's numbers are not whole.")
    return int(digits)


def _whole(value: object) -> bool:
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


def _odds(threshold: int) -> Fraction:
    if not 0 < threshold < WORD:
        raise ValueError("The question's numbers are not probabilities.")
    return Fraction(threshold, WORD - threshold)


def ratio(oracle: Mapping[str, Any]) -> Fraction:
    """Return how much likelier some report can be for one basket than for another, exactly, from the numbers alone."""
    return _ratio(json.dumps(oracle))


@lru_cache(maxsize=64)
def _ratio(text: str) -> Fraction:
    oracle = json.loads(text)
    name, pad, dummies = oracle["oracle"], oracle.get("pad", 1), oracle.get("dummies", 0)
    if not all(_whole(value) for key, value in oracle.items() if key not in ("oracle", "inside", "pm", "duchi")):
        raise ValueError("The question's numbers are not whole.")
    if pad < 1 or dummies < 0 or oracle.get("size", 1) < 1:
        raise ValueError("The question's numbers are not probabilities.")
    if name == "grr":
        # One symbol in `pad` is sampled: the sampling hides the rest (Theorem 1), if all dummies differ (A3).
        sampled = Fraction(1, pad) if dummies >= pad else Fraction(1)
        return _placed(_weight(oracle), 1, oracle["size"] + dummies - 1, sampled)
    if name in ("olh", "blh"):
        # With a share of the padding that rarely meets in one bucket (Theorem 5), if all dummies differ: never pure,
        # see `failing` (A14).
        sampled = Fraction(min(oracle.get("share", pad), pad), pad) if dummies >= pad else Fraction(1)
        return _placed(_weight(oracle), 1, oracle["buckets"] - 1, sampled)
    if name in ("oue", "sue"):
        # Two bits may differ, each kept or told wrong: that of the one symbol and that of the other.
        return _both(_odds(oracle["keep"]) / _odds(oracle["lie"]))
    if name == "hr":
        return _both(_odds(oracle["keep"]))
    if name in ("subset", "privset"):
        size, many, own = oracle["size"] + dummies, oracle["many"], pad if name == "privset" else 1
        if many < 1 or size - own < many or (name == "privset" and dummies < pad and (dummies, pad) != (0, 1)):
            raise ValueError("The question's numbers are not those of a subset.")
        missing = comb(size - own, many)
        return _both(_odds(oracle["hit"]) * Fraction(missing, comb(size, many) - missing))
    if name == "wheel":
        return _placed(_weight(oracle), pad * oracle["arc"], WORD - pad * oracle["arc"])
    if name == "duchi":
        return _both(_odds(WORD // 2 + oracle["slope"] * oracle["span"]))
    if name == "pm":
        # The window of every value from -span to span lies within the points.
        if oracle["points"] - oracle["window"] != 2 * oracle["span"] * oracle["step"]:
            raise ValueError("The question's numbers are not those of a window.")
        return _placed(_weight(oracle), oracle["window"], oracle["points"] - oracle["window"])
    if name == "hm":
        if (oracle["pm"]["oracle"], oracle["duchi"]["oracle"]) != ("pm", "duchi"):
            raise ValueError("The question's numbers are not those of a choice.")
        return max(ratio(oracle["pm"]), ratio(oracle["duchi"]))
    raise ValueError(f"This device does not know the oracle {name!r}.")


def failing(oracle: Mapping[str, Any]) -> Fraction:
    """Return the probability with which the ratio may not hold: 0 but for hashing that counts on sampling."""
    if "share" not in oracle:
        return Fraction(0)
    return min(Fraction(1), Fraction(comb(oracle["pad"], oracle["share"] + 1), oracle["buckets"] ** oracle["share"]))


def _both(odds: Fraction) -> Fraction:
    return max(odds, 1 / odds)
