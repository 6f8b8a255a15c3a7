"""What a result says about its promise, from the plain values that travel with it: one line, rounded against us.

A promise is made in `privacy`, and read from files by whoever shows a result; both write it with the words that stand
here. Numbers that bound something are rounded up, so that "at most" stays true. Nothing is decided by these texts.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from ._provenance import StatedGuarantee

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

_SHORT = 12  # characters of a number that is shown as it is
_MOST_DIGITS = 12  # decimals of a fraction: fewer than the 15 that a float holds


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


def count_end(value: float, to_whole: Callable[[float], int], step: int = 1) -> float:
    """Return the end of an interval for a count in whole steps, rounded outwards; above 0 it stays above 0.

    A pattern whose interval is shown from 0 may be held by nobody, so no other interval is shown like that. A count
    is whole: one that is above 0 is 1 at least.

    Examples
    --------
    >>> from math import ceil, floor
    >>> count_end(37.5, floor), count_end(0.4, floor), count_end(37, floor, 10), count_end(7, floor, 10)
    (37, 1, 30, 7)
    """
    if not isfinite(value):
        return value
    rounded_end = to_whole(value / step) * step
    return rounded_end if rounded_end or value <= 0 else max(1, int(value))


def end_digits(value: float, digits: int, to_whole: Callable[[float], int]) -> int:
    """Return the decimals with which the end of an interval is shown, so that one that is not 0 is not shown as 0.

    Examples
    --------
    >>> from math import floor
    >>> end_digits(0.25, 1, floor), end_digits(0.0037, 1, floor), end_digits(0, 1, floor)
    (1, 3, 1)
    """
    while value and digits < _MOST_DIGITS and not outwards(value, digits, to_whole):
        digits += 1
    return digits


def line(promised: StatedGuarantee) -> str:
    """Return a guarantee in one line."""
    relation = str(promised.neighbours)
    text = f"{promised.model} differential privacy, {RELATIONS.get(relation, relation)}"
    text += f", epsilon = {rounded(promised.epsilon or Fraction(0))}"
    return f"{text}, delta = {rounded(promised.delta)}" if promised.delta else text
