"""Which questions a device answers: well-formed ones, whose oracle fits, that give away no more than is allowed.

A device that stopped, or reported what nobody else can, because of what it holds would tell it. So everything that
could go wrong is looked for here, in the question alone, before the basket is. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .holding import OWN
from .loss import failing, grown_at_least, ratio, whole

MEANS = ("duchi", "pm", "hm")
_LARGEST = 1 << 31
MOST_BITS = 16  # items whose cells are asked for: each one more doubles them
# The weights and the range of a number: sums and products of them take the same time whatever is held.
MOST_WEIGHT = 1 << 20
MOST_RANGE = 1 << 53
# No exponents: a few letters of them would make numbers that keep a device busy.
_WRITTEN = re.compile(r"-?[0-9]{1,100}([./][0-9]{1,100})?")

UNWRITTEN = "The question is not written as format 1 has it."
OTHERWISE = "The question's oracle is made for other answers than the question has."


def check(question: Mapping[str, Any], most: float | Fraction | None = None, fail: float | Fraction = 0) -> None:
    """Refuse a question in another format, one that asks for more than is given, or one that hides what it asks for.

    Parameters
    ----------
    question
        The question as read from its JSON form.
    most, fail
        The most epsilon this device gives away, and the largest probability of giving away more (delta).
    """
    if not isinstance(question, Mapping):
        raise ValueError(UNWRITTEN)
    spoken = question.get("format")
    if not whole(spoken) or spoken != 1:
        raise ValueError(f"This device speaks format 1, and the question is in format {spoken}.")
    epsilon, delta = _number(question, "epsilon"), _number(question, "delta", "0")
    if most is not None and epsilon > most:
        raise ValueError(_refusal("epsilon", epsilon, most))
    if delta > fail:
        raise ValueError(_refusal("delta", delta, fail))
    try:
        _check_answers(question)
        lost, failed = ratio(question["oracle"]), failing(question["oracle"])
    except (LookupError, TypeError, AttributeError, ArithmeticError):
        raise ValueError(UNWRITTEN) from None
    if lost > grown_at_least(epsilon) or failed > delta:
        raise ValueError("The question's probabilities give away more than the epsilon it states.")


def _refusal(name: str, asked: Fraction, given: float | Fraction) -> str:
    return f"The question asks for {name} {float(asked):g}, and this device gives at most {float(given):g}."


def _number(question: Mapping[str, Any], name: str, default: str | None = None) -> Fraction:
    """Return epsilon or delta, which travel as text: a decimal number or a fraction."""
    text = question.get(name, default)
    try:
        if not isinstance(text, str) or _WRITTEN.fullmatch(text) is None:
            raise ValueError
        number = Fraction(text)
    except (ValueError, ArithmeticError):
        raise ValueError(UNWRITTEN) from None
    if not (0 < number <= 64 if name == "epsilon" else 0 <= number < 1):
        raise ValueError(f"The question's {name} is out of range.")
    return number


def _check_answers(question: Mapping[str, Any]) -> None:
    """Refuse a question that stops some baskets from answering, or has answers its oracle has no place for."""
    ask, oracle = question["ask"], question["oracle"]
    if ask not in _KINDS:
        raise ValueError(f"This device does not know the question {ask!r}.")
    if "pairs" in question and question["pairs"] not in _PAIRS.get(ask, ()):
        raise ValueError(UNWRITTEN)
    values = _KINDS[ask](question)
    fits = oracle["oracle"] in MEANS if ask == "projection" else values == oracle["size"]
    if ask in ("which", "valued"):
        # Whoever holds none of them answers with a dummy, or with no arc of the wheel at all.
        fits = fits and (oracle["dummies"] > 0 or oracle["oracle"] == "wheel")
    elif ask != "projection":
        fits = fits and oracle["pad"] == 1
    if not fits:
        raise ValueError(OTHERWISE)


def _candidates(question: Mapping[str, Any]) -> int:
    of = question["of"]
    if whole(of):
        if "pairs" in question:
            raise ValueError(UNWRITTEN)
        return int(of)
    if not isinstance(of, list):
        raise ValueError(UNWRITTEN)
    for one in of:
        if isinstance(one, list):
            _items(one)
        if "pairs" in question and (not isinstance(one, list) or len(one) < 2):
            raise ValueError("The question's relations are not pairs.")
    _items([one for one in of if not isinstance(one, list)])
    return len(of)


def _bins(question: Mapping[str, Any]) -> int:
    _candidates(question)
    bins = question["bins"]
    _items(bins)
    if bins[0] != 0 or bins != sorted(set(bins)):
        raise ValueError(OTHERWISE)
    return len(bins)


def _prefixes(question: Mapping[str, Any]) -> int:
    _items([*question["order"], question["length"]])
    for one in question["of"]:
        _items(one)
    return len(question["of"]) + 1


def _cells(question: Mapping[str, Any]) -> int:
    _items(question["of"])
    if not 1 <= len(question["of"]) <= MOST_BITS:
        raise ValueError(OTHERWISE)
    return 1 << len(question["of"])


def _valued(question: Mapping[str, Any]) -> int:
    # Every relation is a pair, whose first item may be held without it.
    if "pairs" not in question or whole(question["of"]) or type(question["absent"]) is not bool:
        raise ValueError(UNWRITTEN)
    return 2 * _candidates(question)


def _projection(question: Mapping[str, Any]) -> int:
    of, left, right = question["of"], question["left"], question["right"]
    if not isinstance(left, list) or not isinstance(right, list):
        raise ValueError(UNWRITTEN)
    if question["pairs"] == "folded":
        # Items in rows of as many as there are weights: all of them have a place.
        if not whole(of) or not 0 < of <= len(left) ** 2 or len(left) != len(right):
            raise ValueError(UNWRITTEN)
    else:
        chains = [one if isinstance(one, list) else [one] for one in of]
        for chain in chains:
            _items(chain)
        if not all(chains) or not len(chains) == len(set(map(tuple, chains))) == len(left) == len(right):
            raise ValueError(UNWRITTEN)
    if "pairs" not in question or not all(map(whole, [*left, *right, question["low"], question["high"]])):
        raise ValueError("The question's numbers are not whole.")
    low, high = question["low"], question["high"]
    if max(map(abs, [*left, *right]), default=0) > MOST_WEIGHT or max(abs(low), abs(high)) > MOST_RANGE:
        raise ValueError("The question's weights or range are beyond what a device computes with.")
    if low > high:
        raise ValueError(OTHERWISE)
    return 1


def _items(items: Any) -> None:
    if not isinstance(items, list):
        raise ValueError(UNWRITTEN)
    if not all(whole(item) and 0 <= item < _LARGEST for item in items):
        raise ValueError("The question's numbers are not whole.")


_PAIRS = {
    "which": ("together", *OWN),
    "how-many": ("together", *OWN),
    "valued": ("together", *OWN),
    "projection": ("together", *OWN, "folded"),
}
_KINDS = {
    "which": _candidates,
    "how-many": _bins,
    "prefix": _prefixes,
    "cells": _cells,
    "valued": _valued,
    "projection": _projection,
}
