"""The check of a question: well-formed, with a fitting oracle, and within the allowed privacy loss.

A device that stopped because of its data, or sent a report that other devices cannot send, would reveal its data. Every
check is therefore made on the question alone, before the basket is looked at. Standard library only.
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
from ._loss import BEYOND, NOT_WHOLE, UNWRITTEN, Loss, compute_delta, compute_ratio, exp_lower_bound, is_whole

Limit: TypeAlias = int | float | Fraction | Decimal | str

MEANS = ("duchi", "pm", "hm")  # the oracles of means, which answer with one number
# No exponents: a number of a few letters could keep a device busy.
_NUMBER = re.compile(rf"-?[0-9]{{1,{MOST_DIGITS}}}([./][0-9]{{1,{MOST_DIGITS}}})?")
# The owner of a device may write a short exponent.
_OWNER_NUMBER = re.compile(rf"{_NUMBER.pattern}([eE][+-]?[0-9]{{1,2}})?")

_INTEGER_LENGTH = 17  # characters of the largest integer that every language holds, with its sign

OTHERWISE = "The question's oracle is made for other answers than the question has."
NO_PAIRS = "The question's relations are not pairs."
TOO_LONG = "The question is longer than a device reads."


def parse_json(
    text: Mapping[str, Any] | bytes | str, *, most: int = MOST_QUESTION, depth: int | None = None
) -> Mapping[str, Any]:
    """Return the object of a JSON text; an object passes unchanged.

    Parameters
    ----------
    text
        The text of a question, or of a study.
    most
        The largest number of bytes, checked before anything else.
    depth
        The largest number of nested lists and objects; None if a later check bounds it.
    """
    if not isinstance(text, bytes | str):
        return text
    if isinstance(text, str):
        text = text.encode(errors="surrogatepass")  # the limit is in bytes
    if len(text) > most:
        raise ValueError(TOO_LONG)
    try:
        question: Mapping[str, Any] = json.loads(
            text.decode(),
            object_pairs_hook=_object,
            parse_int=_parse_whole,
            parse_float=_refuse,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError):
        raise ValueError(UNWRITTEN) from None
    if depth is not None and _is_deeper(question, depth):
        raise ValueError(UNWRITTEN)
    return question


def _is_deeper(document: Any, depth: int) -> bool:
    """Return whether more than `depth` lists and objects are nested."""
    level: list[Any] = [document]
    for _ in range(depth + 1):
        level = [entry for entry in level if isinstance(entry, (list, dict))]
        if not level:
            return False
        level = [entry for node in level for entry in (node.values() if isinstance(node, dict) else node)]
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object without repeated fields: languages differ about which value counts."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def _parse_whole(digits: str) -> int:
    """Return an integer that every language can hold."""
    if len(digits) > _INTEGER_LENGTH or not -MOST_RANGE <= int(digits) <= MOST_RANGE:
        raise ValueError
    return int(digits)


def _refuse(_: str) -> None:
    raise ValueError  # numbers other than integers


def check(
    question: Mapping[str, Any], max_epsilon: Limit, max_delta: Limit = 0, losses: Mapping[str, Loss] | None = None
) -> None:
    """Check that a question is of format 1, loses no more than it states, and states no more than is allowed.

    Parameters
    ----------
    question
        The question as read from its JSON form.
    max_epsilon, max_delta
        The largest epsilon that this device gives away, over 0, and the largest delta, from 0 to below 1.
    losses
        The loss of each oracle by name; None for the oracles of the format.
    """
    _parse_limits(max_epsilon, max_delta)
    if not isinstance(question, Mapping):
        raise ValueError(UNWRITTEN)
    _check_size(question)
    question_format = question.get("format")
    if not is_whole(question_format) or question_format != 1:
        raise ValueError(f"This device speaks format 1, and the question is in format {question_format!s:.40}.")
    epsilon, delta = parse_budget(question, "epsilon"), parse_budget(question, "delta", "0")
    check_within("question", epsilon, delta, max_epsilon, max_delta)
    try:
        _check_answers(question)
        true_ratio, true_delta = compute_ratio(question["oracle"], losses), compute_delta(question["oracle"])
    except (LookupError, TypeError, AttributeError, ArithmeticError):
        raise ValueError(UNWRITTEN) from None
    if true_ratio > exp_lower_bound(epsilon) or true_delta > delta:
        raise ValueError("The question's probabilities give away more than the epsilon it states.")


def check_within(document: str, epsilon: Fraction, delta: Fraction, max_epsilon: Limit, max_delta: Limit) -> None:
    """Check that the epsilon and delta of a document, "study" or "question", are within the limits of the owner."""
    epsilon_limit, delta_limit = _parse_limits(max_epsilon, max_delta)
    for name, amount, limit in (("epsilon", epsilon, epsilon_limit), ("delta", delta, delta_limit)):
        if amount > limit:
            raise ValueError(
                f"The {document} asks for {name} {float(amount):g}, and this device gives at most {float(limit):g}."
            )


def check_total(epsilon: Fraction, spent: Fraction, max_total_epsilon: Limit) -> None:
    """Check that the epsilon of a question and that spent in other studies are within the owner's total."""
    total_limit = _parse_limit(max_total_epsilon)
    if total_limit is None or total_limit <= 0:
        raise ValueError(
            "max_total_epsilon is the largest epsilon this device gives away in all studies together, a finite number "
            f"over 0 such as 3 or '2.5'; {max_total_epsilon!r:.40} was given."
        )
    if spent + epsilon > total_limit:
        raise ValueError(
            f"The question asks for epsilon {float(epsilon):g}. This device has given {float(spent):g} in other "
            f"studies, and gives at most {float(total_limit):g} in all."
        )


def _parse_limits(max_epsilon: Limit, max_delta: Limit) -> tuple[Fraction, Fraction]:
    """Return the limits of the owner; other values than numbers, which would allow anything or nothing, are refused."""
    epsilon_limit, delta_limit = _parse_limit(max_epsilon), _parse_limit(max_delta)
    if epsilon_limit is None or epsilon_limit <= 0:
        raise ValueError(
            "max_epsilon is the largest epsilon this device gives away, a finite number over 0 such as 1 or '0.5'; "
            f"{max_epsilon!r:.40} was given."
        )
    if delta_limit is None or not 0 <= delta_limit < 1:
        raise ValueError(
            "max_delta is the largest delta this device accepts, a number from 0 to below 1 such as 0 or '1e-6'; "
            f"{max_delta!r:.40} was given."
        )
    return epsilon_limit, delta_limit


def _parse_limit(limit: Any) -> Fraction | None:
    """Return a finite number exactly as written: the float 0.1 is one tenth. None for anything else."""
    if isinstance(limit, Rational) and not isinstance(limit, bool):
        return Fraction(limit)
    if isinstance(limit, Real) and not isinstance(limit, bool):
        limit = repr(float(limit))
    text = str(limit) if isinstance(limit, str | Decimal) else ""
    try:
        return Fraction(text) if _OWNER_NUMBER.fullmatch(text) else None
    except (ValueError, ZeroDivisionError):  # an exponent after a slash, and a zero after one
        return None


def _check_size(question: Mapping[str, Any]) -> None:
    """Check the number of list entries and the nesting of a question, level by level, before its content is read."""
    entries_left: int = MOST_NUMBERS
    level: list[Any] = [question]
    for depth in range(MOST_DEPTH + 1):
        if level and depth == MOST_DEPTH:
            raise ValueError(UNWRITTEN)
        next_level = []
        for node in level:
            entries = node.values() if isinstance(node, Mapping) else node
            entries_left -= len(entries) if isinstance(node, list) else 0
            if entries_left < 0:
                raise ValueError(TOO_LONG)
            next_level += [entry for entry in entries if isinstance(entry, (list, dict))]
        level = next_level


def parse_budget(question: Mapping[str, Any], name: str, default: str | None = None) -> Fraction:
    """Return the "epsilon" or "delta" of a document, which travels as text: a decimal number or a fraction."""
    text = question.get(name, default)
    try:
        if not isinstance(text, str) or _NUMBER.fullmatch(text) is None:
            raise ValueError
        number = Fraction(text)
    except (ValueError, ArithmeticError):
        raise ValueError(UNWRITTEN) from None
    if not (0 < number <= MOST_EPSILON if name == "epsilon" else 0 <= number < 1):
        raise ValueError(f"The question's {name} is out of range.")
    return number


def _check_answers(question: Mapping[str, Any]) -> None:
    """Check that every basket has an answer to the question, and that the oracle is made for its answers."""
    kind, oracle = question["ask"], question["oracle"]
    if kind not in _VALUE_COUNTS:
        raise ValueError(f"This device does not know the question {kind!r:.40}.")
    if "pairs" in question and question["pairs"] not in _PAIRS.get(kind, ()):
        raise ValueError(UNWRITTEN)
    if "texts" in question:
        if kind not in _TEXT_KINDS or "pairs" in question:
            raise ValueError(UNWRITTEN)
        _check_coding(question["texts"])
    value_count = _VALUE_COUNTS[kind](question)
    fits = oracle["oracle"] in MEANS if kind == "projection" else value_count == oracle["size"]
    if kind in ("which", "valued"):
        # A device without any of the values answers with a dummy, or on the wheel without an arc.
        fits = fits and (oracle["dummies"] > 0 or oracle["oracle"] == "wheel")
    elif kind != "projection":
        fits = fits and oracle["pad"] == 1
    if not fits:
        raise ValueError(OTHERWISE)


def _check_coding(coding: Mapping[str, Any]) -> None:
    """Check the coding of texts as numbers: complete, unambiguous and quick."""
    if not isinstance(coding, Mapping) or coding.keys() != {"begin", "alphabet", "step", "length"}:
        raise ValueError(UNWRITTEN)
    begin, alphabet = _as_list(coding["begin"]), coding["alphabet"]
    _check_items([coding["step"], coding["length"]])
    if coding["step"] >= MOST_SYMBOLS.bit_length() or not 0 < coding["length"] <= MOST_TEXT:
        raise ValueError(BEYOND)
    if not isinstance(alphabet, str) or not all(isinstance(text, str) for text in begin):
        raise ValueError(UNWRITTEN)
    # Halves of surrogate pairs are refused: languages cut texts with them differently.
    symbols = set(alphabet)
    if (
        not 0 < len(symbols) == len(alphabet)
        or END in symbols
        or any("\ud800" <= symbol <= "\udfff" for symbol in symbols)
    ):
        raise ValueError(UNWRITTEN)
    stems = [text.removesuffix(END) for text in begin]
    if not 0 < len(set(begin)) == len(begin) or any(set(stem) - symbols for stem in stems):
        raise ValueError(UNWRITTEN)
    # A text is looked up once for every length of a beginning: no beginning is longer than the longest text.
    if any(len(stem) > coding["length"] for stem in stems):
        raise ValueError(BEYOND)
    if len(begin) * (len(symbols) + 1) ** coding["step"] > MOST_SYMBOLS:
        raise ValueError(BEYOND)


def _count_candidates(question: Mapping[str, Any]) -> int:
    candidates = question["of"]
    if is_whole(candidates):
        if "pairs" in question:
            raise ValueError(UNWRITTEN)
        if not 0 < candidates <= MOST_SYMBOLS:
            raise ValueError(BEYOND)
        return int(candidates)
    for candidate in _as_list(candidates):
        if isinstance(candidate, list):
            _check_items(candidate)
        if "pairs" in question and (not isinstance(candidate, list) or len(candidate) < 2):
            raise ValueError(NO_PAIRS)
    _check_items([candidate for candidate in candidates if not isinstance(candidate, list)])
    return len(candidates)


def _count_bins(question: Mapping[str, Any]) -> int:
    _count_candidates(question)
    bins = question["bins"]
    _check_items(bins)
    if bins[0] != 0 or bins != sorted(set(bins)):
        raise ValueError(OTHERWISE)
    return len(bins)


def _count_prefixes(question: Mapping[str, Any]) -> int:
    _check_items(question["order"])
    _check_items([question["length"]])
    for prefix in _as_list(question["of"]):
        _check_items(prefix)
    return len(question["of"]) + 1  # the last value is any other prefix


def _count_cells(question: Mapping[str, Any]) -> int:
    _check_items(question["of"])
    if not 1 <= len(question["of"]) <= MOST_CELLS:
        raise ValueError(OTHERWISE)
    return 1 << len(question["of"])


def _count_valued(question: Mapping[str, Any]) -> int:
    # Every candidate is a relation (a, b); a device may hold a without the relation.
    if "pairs" not in question or is_whole(question["of"]) or type(question["absent"]) is not bool:
        raise ValueError(UNWRITTEN)
    candidates = _count_candidates(question)
    if any(len(pair) != 2 for pair in question["of"]):
        raise ValueError(NO_PAIRS)
    return 2 * candidates


def _count_projections(question: Mapping[str, Any]) -> int:
    entries, left_weights, right_weights = question["of"], _as_list(question["left"]), _as_list(question["right"])
    if question["pairs"] == "folded":
        # Item i is in row i // side and column i % side of a square with a weight for each row and column.
        if (
            not is_whole(entries)
            or not 0 < entries <= len(left_weights) ** 2
            or len(left_weights) != len(right_weights)
        ):
            raise ValueError(UNWRITTEN)
        if entries > MOST_SYMBOLS:
            raise ValueError(BEYOND)
    else:
        chains = [entry if isinstance(entry, list) else [entry] for entry in _as_list(entries)]
        for chain in chains:
            _check_items(chain)
        if not all(chains) or not len(chains) == len(set(map(tuple, chains))) == len(left_weights) == len(
            right_weights
        ):
            raise ValueError(UNWRITTEN)
    low, high = question["low"], question["high"]
    if not all(map(is_whole, [*left_weights, *right_weights, low, high])):
        raise ValueError(NOT_WHOLE)
    if max(map(abs, [*left_weights, *right_weights]), default=0) > MOST_WEIGHT or max(abs(low), abs(high)) > MOST_RANGE:
        raise ValueError("The question's weights or range are beyond what a device computes with.")
    if low > high:
        raise ValueError(OTHERWISE)
    return 1


def _as_list(entries: Any) -> list[Any]:
    """Return a list; an empty text or object, which has no entries either, is refused."""
    if not isinstance(entries, list):
        raise ValueError(UNWRITTEN)
    return entries


def _check_items(items: Any) -> None:
    """Check that a list has integers from 0 to `MOST_ITEM` alone."""
    if not set(map(type, _as_list(items))) <= {int}:
        raise ValueError(NOT_WHOLE)
    if items and not 0 <= min(items) <= max(items) <= MOST_ITEM:
        raise ValueError(BEYOND)


_TEXT_KINDS = ("which", "how-many")
_ITEM_PAIRS = ("together", *OWN)
_PAIRS = {"which": _ITEM_PAIRS, "how-many": _ITEM_PAIRS, "valued": _ITEM_PAIRS, "projection": (*_ITEM_PAIRS, "folded")}
# For each kind of question the check of its lists, which returns the number of values that an answer can have.
_VALUE_COUNTS = {
    "which": _count_candidates,
    "how-many": _count_bins,
    "prefix": _count_prefixes,
    "cells": _count_cells,
    "valued": _count_valued,
    "projection": _count_projections,
}
