"""What a question gives away, computed exactly from its numbers: what a device checks before it answers.

Every oracle's probabilities are integers over a power of two, so the largest ratio between the chances of one report
under two baskets is a fraction. The proof page of each oracle says why the ratio here bounds it. Standard library
only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import comb, log
from typing import Any

WORD = 1 << 32  # chances are out of this many
WIDE = 1 << 64  # weights of places are out of this many


def check(question: Mapping[str, Any], most: float | None = None) -> None:
    """Refuse a question in another format, one that asks for more than `most`, or one that hides what it asks for."""
    if question["format"] != 1:
        raise ValueError(f"This device speaks format 1, and the question is in format {question['format']}.")
    epsilon, delta = Fraction(question["epsilon"]), Fraction(question.get("delta", 0))
    if most is not None and epsilon > most:
        raise ValueError(f"The question asks for epsilon {float(epsilon):g}, and this device gives at most {most:g}.")
    if log(ratio(question["oracle"])) > float(epsilon) + 1e-12 or failing(question["oracle"]) > delta:
        raise ValueError("The question's probabilities give away more than the epsilon it states.")


def _placed(weight: int, inside: int, outside: int) -> Fraction:
    """Return the largest ratio of the chances of two places, whatever part of `inside` is there."""
    rest, places = WIDE - weight * inside, inside + outside
    if min(weight, inside, outside) < 1 or rest < outside:
        raise ValueError("The question's numbers are not probabilities.")
    # With nothing inside all places are alike; the weight outside lies between that and what is left when all is.
    most = max(weight, -(-rest // outside), -(-WIDE // places))
    return Fraction(most, min(weight, rest // outside, WIDE // places))


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
    name, pad = oracle["oracle"], oracle.get("pad", 1)
    if name == "grr":
        plain = _placed(oracle["inside"], 1, oracle["size"] + oracle["dummies"] - 1)
        # One symbol in `pad` is sampled: the sampling hides the rest (Theorem 1), if all dummies differ (A3).
        return 1 + (plain - 1) / pad if oracle["dummies"] >= pad > 1 else plain
    if name in ("olh", "blh"):
        plain = _placed(oracle["inside"], 1, oracle["buckets"] - 1)
        # With a share of the padding that rarely meets in one bucket (Theorem 5): never pure, see `failing` (A14).
        return 1 + (plain - 1) * Fraction(oracle["share"], pad) if "share" in oracle else plain
    if name in ("oue", "sue"):
        return _both(_odds(oracle["keep"]) / _odds(oracle["lie"]))
    if name == "hr":
        return _both(_odds(oracle["keep"]))
    if name in ("subset", "privset"):
        size, many, own = oracle["size"] + oracle["dummies"], oracle["many"], pad if name == "privset" else 1
        missing = comb(size - own, many)
        if missing < 1 or (name == "privset" and oracle["dummies"] < pad):
            raise ValueError("The question's numbers are not those of a subset.")
        return _both(_odds(oracle["hit"]) * Fraction(missing, comb(size, many) - missing))
    if name == "wheel":
        return _placed(oracle["inside"], pad * oracle["arc"], WORD - pad * oracle["arc"])
    if name == "duchi":
        return _both(_odds(WORD // 2 + oracle["slope"] * oracle["span"]))
    if name == "pm":
        if oracle["points"] - oracle["window"] != 2 * oracle["span"] * oracle["step"]:
            raise ValueError("The question's numbers are not those of a window.")
        return _placed(oracle["inside"], oracle["window"], oracle["points"] - oracle["window"])
    if name == "hm":
        return max(ratio(oracle["pm"]), ratio(oracle["duchi"]))
    raise ValueError(f"This device does not know the oracle {name!r}.")


def failing(oracle: Mapping[str, Any]) -> Fraction:
    """Return the probability with which the ratio may not hold: 0 but for hashing that counts on sampling."""
    if "share" not in oracle:
        return Fraction(0)
    return min(Fraction(1), Fraction(comb(oracle["pad"], oracle["share"] + 1), oracle["buckets"] ** oracle["share"]))


def _both(odds: Fraction) -> Fraction:
    return max(odds, 1 / odds)
