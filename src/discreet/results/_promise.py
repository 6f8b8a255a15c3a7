"""The guarantee of a result in words, from the plain values that travel with it: one line, rounded against the curator.

A guarantee is computed in `privacy`, and read from files; both state it with these words. Numbers that bound a loss are
rounded up, so that "at most" stays true. Nothing is decided by these texts.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from ._provenance import StatedGuarantee

# The neighbour relations as typed and saved, with their words. This module needs no numpy, as the command line offers
# the relations before numpy is loaded.
Relation: TypeAlias = Literal["add-remove", "replace"]
RELATIONS: dict[str, str] = {"add-remove": "add or remove one person", "replace": "replace one person"}

# The mark of a simulation.
SIMULATED = "SIMULATED: not a private release"
# The mark of an exact result.
NOT_PRIVATE = "EXACT: not private"
# The mark of a comparison of mechanisms on the data.
FOR_THE_CURATOR = "NOT PRIVATE: for the curator's eyes"

_SHORT_LENGTH = 12  # characters of a number that is shown unrounded. More: longer lines
_MAX_DECIMALS = 12  # decimals of a fraction: fewer than the 15 that a float holds


def shown(value: Fraction) -> str:
    """Return a fraction as a person would write it: as a decimal number if it has a finite one."""
    # A decimal text is kept only if it is the same number: a rounded budget would state a wrong promise.
    text = f"{float(value):.12g}"
    return text if Fraction(text) == value else str(value)


def rounded(value: Fraction, rounding: str = ROUND_CEILING, digits: int = 6) -> str:
    """Return a short fraction unchanged, and a longer one with a number of digits, rounded up by default."""
    text = shown(value)
    return text if len(text) <= _SHORT_LENGTH else cut(value, rounding, digits)


def cut(value: Fraction, rounding: str = ROUND_CEILING, digits: int = 3) -> str:
    """Return a fraction with a number of digits, rounded up by default.

    Examples
    --------
    >>> cut(Fraction(12214, 10_000))
    '1.23'
    """
    # Decimal rounds in the stated direction; formatting a float would round to the nearest number.
    context = Context(prec=digits, rounding=rounding)
    rounded_value = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{rounded_value:f}" if -digits <= rounded_value.adjusted() < digits else f"{rounded_value:g}"


def outwards(value: float, digits: int, to_whole: Callable[[float], int]) -> float:
    """Return the end of an interval with a number of decimals: floor for the lower, ceil for the upper end.

    Examples
    --------
    >>> from math import ceil, floor
    >>> outwards(0.49996, 3, floor), outwards(0.5001, 3, ceil)
    (0.499, 0.501)
    """
    if not isfinite(value):
        return value
    # A binary fraction may differ from its decimal number by 1e-16: the error must not cause a step.
    return float(round(to_whole(round(value * 10**digits, 6)) / 10**digits, digits))


def count_end(value: float, to_whole: Callable[[float], int], step: int = 1) -> float:
    """Return the end of an interval for a count as a multiple of `step`, rounded outwards; above 0 it stays above 0.

    An interval shown from 0 on states that the pattern may have no holder, so no other interval is shown from 0 on. A
    count is whole: above 0 it is at least 1.

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
    """Return the number of decimals of the end of an interval with which an end above 0 is not shown as 0.

    Examples
    --------
    >>> from math import floor
    >>> end_digits(0.25, 1, floor), end_digits(0.0037, 1, floor), end_digits(0, 1, floor)
    (1, 3, 1)
    """
    # Shown as 0, an end above 0 would state that the pattern may have no holder.
    while value and digits < _MAX_DECIMALS and not outwards(value, digits, to_whole):
        digits += 1
    return digits


def line(promised: StatedGuarantee) -> str:
    """Return a guarantee in one line."""
    relation = str(promised.neighbours)
    text = f"{promised.model} differential privacy, {RELATIONS.get(relation, relation)}"
    text += f", epsilon = {rounded(promised.epsilon or Fraction(0))}"
    return f"{text}, delta = {rounded(promised.delta)}" if promised.delta else text
