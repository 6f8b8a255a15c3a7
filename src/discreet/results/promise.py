"""What a result says about its promise, from the plain values that travel with it: one line, rounded against us.

A promise is made in `privacy`, and read from files by whoever shows a result; both write it with the words that stand
here. Numbers that bound something are rounded up, so that "at most" stays true. Nothing is decided by these texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, Literal, TypeAlias

from .untrusted import exact_number

# The relations of neighbours as users type them, and as files and ledgers keep them; and how they are said. They stand
# in a module that needs no numpy, as the command line offers them before it has loaded it.
Relation: TypeAlias = Literal["add-remove", "replace"]
RELATIONS: dict[str, str] = {"add-remove": "add or remove one person", "replace": "replace one person"}

# What stands on a result that was only tried out.
SIMULATED = "SIMULATED: not a private release"
# And on a page that tells the truth about the people in the data.
NOT_PRIVATE = "EXACT: not private"
# And on what was tried on the data themselves, to choose by.
FOR_THE_CURATOR = "NOT PRIVATE: for the curator's eyes"

_LONGEST = 40  # characters of what should be a number, and is none
_SHORT = 12  # characters of a number that is shown as it is


def shown(value: Fraction) -> str:
    """Return a fraction as a person would write it: a decimal number where it has one."""
    text = f"{float(value):.12g}"
    return text if Fraction(text) == value else str(value)


def rounded(value: Fraction, rounding: str = ROUND_CEILING, digits: int = 6) -> str:
    """Return a fraction as it is where that is short, else with so many digits, rounded against whoever spends."""
    text = shown(value)
    return text if len(text) <= _SHORT else cut(value, rounding, digits)


def cut(value: Fraction, rounding: str = ROUND_CEILING, digits: int = 3) -> str:
    """Return a fraction with so many digits, rounded up unless told otherwise.

    Examples
    --------
    >>> cut(Fraction(12214, 10_000))
    '1.23'
    """
    context = Context(prec=digits, rounding=rounding)
    short = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{short:f}" if -digits <= short.adjusted() < digits else f"{short:g}"


def outwards(value: float, digits: int, to_whole: Callable[[float], int]) -> float:
    """Return the end of an interval with so many decimals: floor for the lower, ceil for the upper end.

    Examples
    --------
    >>> from math import ceil, floor
    >>> outwards(0.49996, 3, floor), outwards(0.5001, 3, ceil)
    (0.499, 0.501)
    """
    if not isfinite(value):
        return value
    # What only binary fractions make of a decimal number is no reason for another step.
    return float(round(to_whole(round(value * 10**digits, 6)) / 10**digits, digits))


def line(promised: Mapping[str, Any]) -> str:
    """Return a guarantee, given as plain values, in one line."""
    relation = str(promised.get("neighbours"))
    said = f"{promised.get('model')} differential privacy, {RELATIONS.get(relation, relation)}"
    said += f", epsilon = {_number(promised.get('epsilon', 0))}"
    delta = _number(promised.get("delta", 0))
    return said if delta == "0" else f"{said}, delta = {delta}"


def _number(number: object) -> str:
    """Return an exact number, kept as the text of a fraction; what is none comes back as it is."""
    try:
        return rounded(exact_number(number))
    except (ValueError, ZeroDivisionError, OverflowError):
        return str(number)[:_LONGEST]
