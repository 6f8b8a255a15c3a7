"""Which questions a device answers: well-formed ones, whose oracle fits, that give away no more than is allowed.

A device that stopped, or reported what nobody else can, because of what it holds would tell it. So everything that
could go wrong is looked for here, in the question alone, before the basket is. Standard library only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, TypeAlias

from ._answering import END, OWN
from ._limits import (
    MOST_CELLS,
    MOST_DEPTH,
    MOST_DIGITS,
    MOST_EPSILON,
    MOST_ITEM,
    MOST_NUMBERS,
    MOST_QUESTION,
    MOST_RANGE,
    MOST_SYMBOLS,
    MOST_TEXT,
    MOST_WEIGHT,
)
from ._loss import BEYOND, Loss, failing, grown_at_least, ratio, whole

Limit: TypeAlias = int | float | Fraction | Decimal | str

MEANS = ("duchi", "pm", "hm")
# No exponents: a few letters of them would make numbers that keep a device busy.
_WRITTEN = re.compile(rf"-?[0-9]{{1,{MOST_DIGITS}}}([./][0-9]{{1,{MOST_DIGITS}}})?")
# What the owner of a device writes may have a short one.
_OWNED = re.compile(rf"{_WRITTEN.pattern}([eE][+-]?[0-9]{{1,2}})?")

_DIGITS = 17  # of the largest whole number that every language holds, and its sign

UNWRITTEN = "The question is not written as format 1 has it."
OTHERWISE = "The question's oracle is made for other answers than the question has."
NO_PAIRS = "The question's relations are not pairs."
TOO_LONG = "The question is longer than a device reads."


def parsed(
    text: Mapping[str, Any] | bytes | str, *, most: int = MOST_QUESTION, depth: int | None = None
) -> Mapping[str, Any]:
    """Return a question as read from the text that came; its length is looked at before anything else.

    `depth` is how many lists and objects may be within each other, where that is not looked at later.
    """
    if not isinstance(text, bytes | str):
        return text
    if isinstance(text, str):
        text = text.encode(errors="surrogatepass")  # it is bytes that are counted
    if len(text) > most:
        raise ValueError(TOO_LONG)
    try:
        question: Mapping[str, Any] = json.loads(
            text.decode(), object_pairs_hook=_object, parse_int=_whole, parse_float=_refused, parse_constant=_refused
        )
    except (ValueError, RecursionError):
        raise ValueError(UNWRITTEN) from None
    if depth is not None and _deeper(question, depth):
        raise ValueError(UNWRITTEN)
    return question


def _deeper(told: Any, depth: int) -> bool:
    """Return whether more lists and objects are within each other."""
    level: list[Any] = [told]
    for _ in range(depth + 1):
        level = [one for one in level if isinstance(one, (list, dict))]
        if not level:
            return False
        level = [entry for one in level for entry in (one.values() if isinstance(one, dict) else one)]
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of a field that is there twice, languages take one or the other."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def _whole(digits: str) -> int:
    """Return a whole number that every language can hold."""
    if len(digits) > _DIGITS or not -MOST_RANGE <= int(digits) <= MOST_RANGE:
        raise ValueError
    return int(digits)


def _refused(_: str) -> None:
    raise ValueError  # whole numbers only


def check(
    question: Mapping[str, Any], max_epsilon: Limit, max_delta: Limit = 0, losses: Mapping[str, Loss] | None = None
) -> None:
    """Refuse a question in another format, one that asks for more than is given, or one that hides what it asks for.

    Parameters
    ----------
    question
        The question as read from its JSON form.
    max_epsilon, max_delta
        The most epsilon this device gives away, and the largest probability of giving away more (delta).
    losses
        The oracles that are known, by name: those of the format where nothing is given.
    """
    _limits(max_epsilon, max_delta)
    if not isinstance(question, Mapping):
        raise ValueError(UNWRITTEN)
    _check_size(question)
    spoken = question.get("format")
    if not whole(spoken) or spoken != 1:
        raise ValueError(f"This device speaks format 1, and the question is in format {spoken!s:.40}.")
    epsilon, delta = number_of(question, "epsilon"), number_of(question, "delta", "0")
    within("question", epsilon, delta, max_epsilon, max_delta)
    try:
        _check_answers(question)
        lost, failed = ratio(question["oracle"], losses), failing(question["oracle"])
    except (LookupError, TypeError, AttributeError, ArithmeticError):
        raise ValueError(UNWRITTEN) from None
    if lost > grown_at_least(epsilon) or failed > delta:
        raise ValueError("The question's probabilities give away more than the epsilon it states.")


def within(what: str, epsilon: Fraction, delta: Fraction, max_epsilon: Limit, max_delta: Limit) -> None:
    """Refuse what asks for more than the owner of the device gives."""
    allowed, failing_allowed = _limits(max_epsilon, max_delta)
    if epsilon > allowed:
        raise ValueError(_refusal(what, "epsilon", epsilon, allowed))
    if delta > failing_allowed:
        raise ValueError(_refusal(what, "delta", delta, failing_allowed))


def within_total(epsilon: Fraction, spent: Fraction, max_total_epsilon: Limit) -> None:
    """Refuse what asks for more than the owner of the device gives in all studies together."""
    allowed = _exact(max_total_epsilon)
    if allowed is None or allowed <= 0:
        raise ValueError(
            "max_total_epsilon is the largest epsilon this device gives away in all studies together, a finite number "
            f"over 0 such as 3 or '2.5'; {max_total_epsilon!r:.40} was given."
        )
    if spent + epsilon > allowed:
        raise ValueError(
            f"The question asks for epsilon {float(epsilon):g}. This device has given {float(spent):g} in other "
            f"studies, and gives at most {float(allowed):g} in all."
        )


def _limits(max_epsilon: Limit, max_delta: Limit) -> tuple[Fraction, Fraction]:
    """Return what the owner of the device allows; what is no such number would allow anything, or nothing."""
    allowed, failing_allowed = _exact(max_epsilon), _exact(max_delta)
    if allowed is None or allowed <= 0:
        raise ValueError(
            "max_epsilon is the largest epsilon this device gives away, a finite number over 0 such as 1 or '0.5'; "
            f"{max_epsilon!r:.40} was given."
        )
    if failing_allowed is None or not 0 <= failing_allowed < 1:
        raise ValueError(
            "max_delta is the largest delta this device accepts, a number from 0 to below 1 such as 0 or '1e-6'; "
            f"{max_delta!r:.40} was given."
        )
    return allowed, failing_allowed


def _exact(given: Any) -> Fraction | None:
    """Return the finite number that was written, exactly: the float 0.1 is one tenth. None for anything else."""
    if isinstance(given, Rational) and not isinstance(given, bool):
        return Fraction(given)
    if isinstance(given, Real) and not isinstance(given, bool):
        given = repr(float(given))
    text = str(given) if isinstance(given, str | Decimal) else ""
    try:
        return Fraction(text) if _OWNED.fullmatch(text) else None
    except (ValueError, ZeroDivisionError):  # an exponent after a slash, and nothing after one
        return None


def _check_size(question: Mapping[str, Any]) -> None:
    """Refuse a question with more in it than a device looks at: its lists are counted before they are gone through."""
    left: int = MOST_NUMBERS
    level: list[Any] = [question]
    for depth in range(MOST_DEPTH + 1):
        if level and depth == MOST_DEPTH:
            raise ValueError(UNWRITTEN)
        inner = []
        for one in level:
            entries = one.values() if isinstance(one, Mapping) else one
            left -= len(entries) if isinstance(one, list) else 0
            if left < 0:
                raise ValueError(TOO_LONG)
            inner += [entry for entry in entries if isinstance(entry, (list, dict))]
        level = inner


def _refusal(what: str, name: str, asked: Fraction, given: Fraction) -> str:
    return f"The {what} asks for {name} {float(asked):g}, and this device gives at most {float(given):g}."


def number_of(question: Mapping[str, Any], name: str, default: str | None = None) -> Fraction:
    """Return epsilon or delta, which travel as text: a decimal number or a fraction."""
    text = question.get(name, default)
    try:
        if not isinstance(text, str) or _WRITTEN.fullmatch(text) is None:
            raise ValueError
        number = Fraction(text)
    except (ValueError, ArithmeticError):
        raise ValueError(UNWRITTEN) from None
    if not (0 < number <= MOST_EPSILON if name == "epsilon" else 0 <= number < 1):
        raise ValueError(f"The question's {name} is out of range.")
    return number


def _check_answers(question: Mapping[str, Any]) -> None:
    """Refuse a question that stops some baskets from answering, or has answers its oracle has no place for."""
    ask, oracle = question["ask"], question["oracle"]
    if ask not in _KINDS:
        raise ValueError(f"This device does not know the question {ask!r:.40}.")
    if "pairs" in question and question["pairs"] not in _PAIRS.get(ask, ()):
        raise ValueError(UNWRITTEN)
    if "texts" in question:
        if ask not in _OF_TEXTS or "pairs" in question:
            raise ValueError(UNWRITTEN)
        _check_texts(question["texts"])
    values = _KINDS[ask](question)
    fits = oracle["oracle"] in MEANS if ask == "projection" else values == oracle["size"]
    if ask in ("which", "valued"):
        # Whoever holds none of them answers with a dummy, or with no arc of the wheel at all.
        fits = fits and (oracle["dummies"] > 0 or oracle["oracle"] == "wheel")
    elif ask != "projection":
        fits = fits and oracle["pad"] == 1
    if not fits:
        raise ValueError(OTHERWISE)


def _check_texts(told: Mapping[str, Any]) -> None:
    """Refuse what texts cannot be numbered by: all there is to say, and nothing that takes long."""
    if not isinstance(told, Mapping) or told.keys() != {"begin", "alphabet", "step", "length"}:
        raise ValueError(UNWRITTEN)
    begin, alphabet = _list(told["begin"]), told["alphabet"]
    _items([told["step"], told["length"]])
    if told["step"] >= MOST_SYMBOLS.bit_length() or not 0 < told["length"] <= MOST_TEXT:
        raise ValueError(BEYOND)
    if not isinstance(alphabet, str) or not all(isinstance(one, str) for one in begin):
        raise ValueError(UNWRITTEN)
    # Half of a character is none: languages cut such texts otherwise.
    symbols = set(alphabet)
    if not 0 < len(symbols) == len(alphabet) or END in symbols or any("\ud800" <= one <= "\udfff" for one in symbols):
        raise ValueError(UNWRITTEN)
    begins = [one.removesuffix(END) for one in begin]
    if not 0 < len(set(begin)) == len(begin) or any(set(one) - symbols for one in begins):
        raise ValueError(UNWRITTEN)
    # A text is compared once for every length of a beginning: none is longer than the longest text.
    if any(len(one) > told["length"] for one in begins):
        raise ValueError(BEYOND)
    if len(begin) * (len(symbols) + 1) ** told["step"] > MOST_SYMBOLS:
        raise ValueError(BEYOND)


def _candidates(question: Mapping[str, Any]) -> int:
    of = question["of"]
    if whole(of):
        if "pairs" in question:
            raise ValueError(UNWRITTEN)
        if not 0 < of <= MOST_SYMBOLS:
            raise ValueError(BEYOND)
        return int(of)
    for one in _list(of):
        if isinstance(one, list):
            _items(one)
        if "pairs" in question and (not isinstance(one, list) or len(one) < 2):
            raise ValueError(NO_PAIRS)
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
    _items(question["order"])
    _items([question["length"]])
    for one in _list(question["of"]):
        _items(one)
    return len(question["of"]) + 1


def _cells(question: Mapping[str, Any]) -> int:
    _items(question["of"])
    if not 1 <= len(question["of"]) <= MOST_CELLS:
        raise ValueError(OTHERWISE)
    return 1 << len(question["of"])


def _valued(question: Mapping[str, Any]) -> int:
    # Every relation is a pair, whose first item may be held without it.
    if "pairs" not in question or whole(question["of"]) or type(question["absent"]) is not bool:
        raise ValueError(UNWRITTEN)
    candidates = _candidates(question)
    if any(len(one) != 2 for one in question["of"]):
        raise ValueError(NO_PAIRS)
    return 2 * candidates


def _projection(question: Mapping[str, Any]) -> int:
    of, left, right = question["of"], question["left"], question["right"]
    for weights in (left, right):
        _list(weights)
    if question["pairs"] == "folded":
        # Items in rows of as many as there are weights: all of them have a place.
        if not whole(of) or not 0 < of <= len(left) ** 2 or len(left) != len(right):
            raise ValueError(UNWRITTEN)
        if of > MOST_SYMBOLS:
            raise ValueError(BEYOND)
    else:
        chains = [one if isinstance(one, list) else [one] for one in _list(of)]
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


def _list(entries: Any) -> list[Any]:
    """Return a list; an empty text or object would pass for an empty one."""
    if not isinstance(entries, list):
        raise ValueError(UNWRITTEN)
    return entries


def _items(items: Any) -> None:
    if not set(map(type, _list(items))) <= {int}:
        raise ValueError("The question's numbers are not whole.")
    if items and not 0 <= min(items) <= max(items) <= MOST_ITEM:
        raise ValueError(BEYOND)


_OF_TEXTS = ("which", "how-many")
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
