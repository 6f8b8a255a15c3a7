"""What users type as numbers, checked once: counts, fractions, lengths. The messages say what to type instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from .errors import Message, MisuseError, build_message, name_options, render_option

# No pattern has more items than this, and nothing is counted beyond the other: bounds where none was given.
MAX_LENGTH = 2**30
MAX_COUNT = 2**62

# Digits as everybody types them: Python would take 1_0 for ten, and digits of other scripts.
_NUMBER = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*", re.ASCII)
_DIGITS = re.compile("[0-9]{1,18}")
_RATIO = re.compile(r"\s*[+-]?[0-9]+\s*/\s*[0-9]+\s*", re.ASCII)

# What numpy calls the types of its truth values, which are no bool of Python.
_NUMPY_SWITCHES = ("bool", "bool_")

_TINY = -40  # the exponent of ten below which a fraction is as good as the smallest


def is_whole(value: Any) -> bool:
    """Say whether something is a whole number; true and false are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def parse_positive(name: str, value: Any) -> int:
    """Return `value` if it is a whole number over 0."""
    if is_whole(value) and value > 0:
        return min(int(value), MAX_COUNT)
    raise MisuseError.format(
        "{option} is {value!r}, but it must be a whole number, 1 or more.", option=name_options(name), value=value
    )


def parse_switch(name: str | Message, value: Any) -> bool:
    """Return `value` if it is true or false: text that says no would count as yes."""
    if isinstance(value, bool) or type(value).__name__ in _NUMPY_SWITCHES:
        return bool(value)
    option = name_options(name) if isinstance(name, str) else name
    raise MisuseError.format("{option} is True or False; {value!r:.80} was given.", option=option, value=value)


def parse_fraction(name: str, value: Any) -> float:
    """Return `value` if it lies between 0 and 1; otherwise say what to type, percentages included."""
    if _is_real(value) and 0 <= value <= 1:
        return float(value)
    hint: str | Message = ""
    if _is_real(value) and 1 < value <= 100:
        less = f"{value / 100:g}"
        hint = build_message(
            " For {value:g} % type {instead}.", value=value, instead=render_option(name, float(less), less)
        )
    raise MisuseError.format(
        "{option} is {value!r}, but it must lie between 0 and 1.{hint}",
        option=name_options(name),
        value=value,
        hint=hint,
    )


def _is_real(value: Any) -> bool:
    """Say whether something is a number of Python or numpy that is no exact fraction."""
    return isinstance(value, Real) and not isinstance(value, Fraction)


def parse_support(value: Any) -> Fraction:
    """Return a fraction of people as the decimal number it was written as: 0.07 is 7/100, not its binary neighbour."""
    exact = _bounded(parse_number(value))
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
    """Return a part of a whole as it was typed, from 0 to below 1: 1% and 0.01 are the same."""
    percent = isinstance(value, str) and len(value) < 100 and value.rstrip().endswith("%")
    exact = _bounded(parse_number(value.rstrip()[:-1] if percent else value))
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
    """Return the finite number that was written, exactly: the float 0.07 is 7/100. None for anything else."""
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
            value = repr(float(value))
        decimal = Decimal(value) if isinstance(value, str | Decimal) else None
    except (ValueError, OverflowError, ZeroDivisionError, InvalidOperation):
        return None
    return decimal if decimal is not None and decimal.is_finite() else None


def _bounded(value: Decimal | Fraction | None) -> Fraction | None:
    """Return a fraction; numbers whose digits would take ages to write out are cut short."""
    if not isinstance(value, Decimal):
        return value
    if value > 0 and value.adjusted() < _TINY:
        return Fraction(1, 10**-_TINY)
    return Fraction(value) if value.adjusted() < -_TINY else Fraction(10**-_TINY)


def is_text(name: str) -> bool:
    """Say whether a name can be written down: half of a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def parse_items(items: Any, name: str) -> list[Any]:
    """Return one item or several as a list."""
    if isinstance(items, str | Integral):
        items = [items]
    held = list(items) if isinstance(items, Iterable) else None
    if held is None or not all(isinstance(item, str | Integral) for item in held):
        raise MisuseError.format(
            "{option} is an item or several items, each a name or a number; {given!r:.80} was given.",
            option=name_options(name),
            given=items,
        )
    if not all(is_text(item) for item in held if isinstance(item, str)):
        raise MisuseError.format(
            "{option} has a name that is not text (a lone surrogate): correct it first.", option=name_options(name)
        )
    # Numbers of numpy become Python's, which every format can write.
    return [int(item) if is_whole(item) else item for item in held]


def parse_lengths(lengths: Any) -> tuple[int, int]:
    """Return the smallest and the largest number of items that `lengths` stands for."""
    if isinstance(lengths, str):
        lengths = _typed_span(lengths)
    least, most = lengths, lengths
    if isinstance(lengths, Sequence) and not isinstance(lengths, str) and len(lengths) == 2:
        least, most = lengths
    most = least if most is None else most
    if not (is_whole(least) and is_whole(most) and 1 <= least <= most):
        raise MisuseError.format(
            "{lengths} is how many items a pattern has: a number such as 3, or the least and the most, such as "
            "{range}, from 1 on; {given!r} was given.",
            range=Message("(2, 4) or (2, None)", "2-4 or 2-"),
            given=lengths,
        )
    endless = not is_whole(lengths) and lengths[1] is None
    return min(int(least), MAX_LENGTH), MAX_LENGTH if endless else min(int(most), MAX_LENGTH)


def _typed_span(text: str) -> Any:
    """Return the lengths that a text such as 3, 2-4 or 2- stands for; other texts as they are."""
    least, dash, most = (part.strip() for part in text.partition("-"))
    if not _DIGITS.fullmatch(least) or (most and not _DIGITS.fullmatch(most)):
        return text
    if not dash:
        return int(least)
    return int(least), int(most) if most else None
