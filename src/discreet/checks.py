"""Parsers of the numbers, lengths and items of a user: each returns the checked value, or raises MisuseError."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from .errors import Message, MisuseError, build_message, name_options, render_option

# MAX_LENGTH stands for no upper length: a pattern of 2^30 items does not fit into memory. MAX_COUNT stands for no upper
# count: sums of two counts below it still fit into a signed integer of 64 bits.
MAX_LENGTH = 2**30
MAX_COUNT = 2**62

# ASCII digits alone: Python would take 1_0 for ten, and digits of further scripts.
_NUMBER = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*", re.ASCII)
_DIGITS = re.compile("[0-9]{1,18}")
_RATIO = re.compile(r"\s*[+-]?[0-9]+\s*/\s*[0-9]+\s*", re.ASCII)

# The class names of numpy booleans, which are no instances of bool; by name, so that numpy is not imported.
_NUMPY_BOOLEANS = ("bool", "bool_")

# Decimal exponents beyond -40 to 40 are cut: 1e-999999999 as a fraction would have a billion digits, and no support or
# share of people is below 10^-40.
_MIN_EXPONENT = -40


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer of Python or numpy; booleans are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def parse_positive(name: str, value: Any) -> int:
    """Return the value of an option as an integer from 1 to MAX_COUNT."""
    if is_whole(value) and value > 0:
        # Cut, not refused: no count is larger, and compiled code takes 64 bits.
        return min(int(value), MAX_COUNT)
    raise MisuseError.format(
        "{option} is {value!r}, but it must be a whole number, 1 or more.", option=name_options(name), value=value
    )


def parse_switch(name: str | Message, value: Any) -> bool:
    """Return the value of an option as a bool; text is refused, as "no" would be true."""
    if isinstance(value, bool) or type(value).__name__ in _NUMPY_BOOLEANS:
        return bool(value)
    option = name_options(name) if isinstance(name, str) else name
    raise MisuseError.format("{option} is True or False; {value!r:.80} was given.", option=option, value=value)


def parse_fraction(name: str, value: Any) -> float:
    """Return the value of an option as a float from 0 to 1; the message of a refusal explains percentages."""
    if _is_real(value) and 0 <= value <= 1:
        return float(value)
    hint: str | Message = ""
    # The most frequent slip: 5 for 5 %.
    if _is_real(value) and 1 < value <= 100:
        literal = f"{value / 100:g}"
        instead = render_option(name, float(literal), literal)
        hint = build_message(" For {value:g} % type {instead}.", value=value, instead=instead)
    raise MisuseError.format(
        "{option} is {value!r}, but it must lie between 0 and 1.{hint}",
        option=name_options(name),
        value=value,
        hint=hint,
    )


def _is_real(value: Any) -> bool:
    """Return whether a value is a number of Python or numpy other than a Fraction."""
    return isinstance(value, Real) and not isinstance(value, Fraction)


def parse_support(value: Any) -> Fraction:
    """Return a support in (0, 1] as the exact decimal number of its text: 0.07 is 7/100, not its binary neighbour."""
    exact = _bound_exponent(parse_number(value))
    if exact is None:
        raise MisuseError.format(
            "{min_support} is a fraction of people, over 0 and at most 1, such as 0.01; {value!r} was given.",
            value=value,
        )
    if exact > 1:
        percent = f"For {value} % write {float(exact / 100):g}; for" if exact <= 100 else "For"
        raise MisuseError.format(
            "{min_support} is a fraction of people, over 0 and at most 1; {value} was given. "
            "{percent} a number of people use {min_count}.",
            value=value,
            percent=percent,
        )
    if exact <= 0:
        raise MisuseError.format(
            "{min_support} is a fraction of people, over 0 and at most 1; {value} was given. "
            "For every pattern that occurs at all use {min_count=1}.",
            value=value,
        )
    return exact


def parse_share(name: str, value: Any) -> Fraction:
    """Return a share in [0, 1) as an exact fraction; the texts 1% and 0.01 are equal."""
    # Bounded in length, as text of a user is scanned.
    percent = isinstance(value, str) and len(value) < 100 and value.rstrip().endswith("%")
    exact = _bound_exponent(parse_number(value.rstrip()[:-1] if percent else value))
    if exact is not None and percent:
        exact /= 100
    if exact is not None and 0 <= exact < 1:
        return exact
    hint: str | Message = ""
    if exact is not None and not percent and 1 <= exact < 100:
        hint = build_message(" For {value} % type {instead}.", value=value, instead=render_option(name, f"{value}%"))
    raise MisuseError.format(
        "{option} is a part of all, from 0% to below 100%, such as 1% or 0.01; {value!r:.80} was given.{hint}",
        option=name_options(name),
        value=value,
        hint=hint,
    )


def parse_number(value: Any) -> Decimal | Fraction | None:
    """Return a finite number exactly as its text: the float 0.07 is 7/100; None for any further value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Fraction | Integral):
        return Fraction(value)
    try:
        if isinstance(value, str):
            if "/" in value and len(value) < 100 and _RATIO.fullmatch(value):
                return Fraction(value.replace(" ", ""))
            value = value if _NUMBER.fullmatch(value) else None
        if isinstance(value, Real):
            # The shortest text of a float, as the user sees it: 0.07 and not its binary neighbour.
            value = repr(float(value))
        decimal = Decimal(value) if isinstance(value, str | Decimal) else None
    except (ValueError, OverflowError, ZeroDivisionError, InvalidOperation):
        return None
    return decimal if decimal is not None and decimal.is_finite() else None


def _bound_exponent(value: Decimal | Fraction | None) -> Fraction | None:
    """Return a number as a fraction, with its decimal exponent cut to 40."""
    if not isinstance(value, Decimal):
        return value
    if value > 0 and value.adjusted() < _MIN_EXPONENT:
        return Fraction(1, 10**-_MIN_EXPONENT)
    return Fraction(value) if value.adjusted() < -_MIN_EXPONENT else Fraction(10**-_MIN_EXPONENT)


def is_text(name: str) -> bool:
    """Return whether a name can be encoded: half of a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def parse_items(items: Any, name: str) -> list[Any]:
    """Return an item, or several items, as a list; `name` is the option for the message of a refusal."""
    if isinstance(items, str | Integral):
        items = [items]
    item_list = list(items) if isinstance(items, Iterable) else None
    if item_list is None or not all(isinstance(item, str | Integral) for item in item_list):
        raise MisuseError.format(
            "{option} is an item or several items, each a name or a number; {given!r:.80} was given.",
            option=name_options(name),
            given=items,
        )
    # A lone surrogate could not be written into any file, which would be found out after payment.
    if not all(is_text(item) for item in item_list if isinstance(item, str)):
        raise MisuseError.format(
            "{option} has a name that is not text (a lone surrogate): correct it first.", option=name_options(name)
        )
    # Numbers of numpy become Python's, which every format can write.
    return [int(item) if is_whole(item) else item for item in item_list]


def parse_lengths(lengths: Any) -> tuple[int, int]:
    """Return the smallest and the largest length of patterns, from a number, a pair or a text like 2-4 or 2-."""
    if isinstance(lengths, str):
        lengths = _parse_length_text(lengths)
    low, high = lengths, lengths
    if isinstance(lengths, Sequence) and not isinstance(lengths, str) and len(lengths) == 2:
        low, high = lengths
    high = low if high is None else high
    if not (is_whole(low) and is_whole(high) and 1 <= low <= high):
        raise MisuseError.format(
            "{lengths} is how many items a pattern has: a number such as 3, or the least and the most, such as "
            "{range}, from 1 on; {given!r} was given.",
            range=Message("(2, 4) or (2, None)", "2-4 or 2-"),
            given=lengths,
        )
    has_no_end = not is_whole(lengths) and lengths[1] is None
    return min(int(low), MAX_LENGTH), MAX_LENGTH if has_no_end else min(int(high), MAX_LENGTH)


def _parse_length_text(text: str) -> Any:
    """Return a length, or a pair of lengths, from a text like 3, 2-4 or 2-; any further text unchanged."""
    low, dash, high = (part.strip() for part in text.partition("-"))
    if not _DIGITS.fullmatch(low) or (high and not _DIGITS.fullmatch(high)):
        return text
    if not dash:
        return int(low)
    return int(low), int(high) if high else None
