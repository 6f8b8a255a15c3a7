"""Random real numbers, known as precisely as a comparison needs.

A uniform number is an infinite string of fair bits; a comparison draws as many bits as separate two numbers, which are
different almost surely. Every value is an interval that certainly contains the number: Python's decimal module rounds
`exp` and `ln` correctly, with an error of at most half a unit in the last place, and the interval ends are moved
outwards by a whole unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._sources import Source


Interval = tuple[Decimal, Decimal]

FIRST_BITS = 96  # a first look at 96 bits is ambiguous with probability near 2^-96 for each pair; not sensitive


@lru_cache(maxsize=64)
def contexts(digits: int) -> tuple[Context, Context]:
    """Return a decimal context that rounds down and a context that rounds up."""
    # The exponents of exp(-rate * score) reach the size of a score: decimals must not underflow there.
    exponent_limit = 10**9
    return (
        Context(prec=digits, rounding=ROUND_FLOOR, Emin=-exponent_limit, Emax=exponent_limit),
        Context(prec=digits, rounding=ROUND_CEILING, Emin=-exponent_limit, Emax=exponent_limit),
    )


def digits_for(bits: int) -> int:
    """Return a number of decimal digits that represents `bits` bits, with 15 digits to spare."""
    return bits * 3 // 10 + 15  # log10(2) = 0.30103; the 15 digits cover the difference for up to 10^4 bits


def exp(value: Interval, digits: int) -> Interval:
    """Return an interval that contains exp(value)."""
    floor_context, ceiling_context = contexts(digits)
    low, high = floor_context.exp(value[0]), ceiling_context.exp(value[1])
    # `Decimal.exp` rounds to nearest and ignores the rounding of the context: one step outwards makes a bound.
    return floor_context.next_minus(low), ceiling_context.next_plus(high)


def ln(value: Interval, digits: int) -> Interval:
    """Return an interval that contains ln(value); the lower end may be minus infinity."""
    floor_context, ceiling_context = contexts(digits)
    low = Decimal("-Infinity") if value[0] <= 0 else floor_context.next_minus(floor_context.ln(value[0]))
    return low, ceiling_context.next_plus(ceiling_context.ln(value[1]))


def ratio(number: Fraction, digits: int) -> Interval:
    """Return an interval that contains an exact fraction."""
    floor_context, ceiling_context = contexts(digits)
    numerator, denominator = Decimal(number.numerator), Decimal(number.denominator)
    return floor_context.divide(numerator, denominator), ceiling_context.divide(numerator, denominator)


def add(first_term: Interval, second_term: Interval, digits: int) -> Interval:
    """Return an interval that contains the sum of two numbers."""
    floor_context, ceiling_context = contexts(digits)
    return floor_context.add(first_term[0], second_term[0]), ceiling_context.add(first_term[1], second_term[1])


def multiply(value: Interval, factor: Interval, digits: int) -> Interval:
    """Return an interval that contains value * factor, for a factor of 0 or more."""
    floor_context, ceiling_context = contexts(digits)
    # The lower end of a negative number takes the larger factor: the sign of the end decides which factor bounds it.
    low = floor_context.multiply(value[0], factor[0] if value[0] >= 0 else factor[1])
    high = ceiling_context.multiply(value[1], factor[1] if value[1] >= 0 else factor[0])
    return low, high


def divide(value: Interval, divisor: Interval, digits: int) -> Interval:
    """Return an interval that contains value / divisor, for a divisor over 0."""
    floor_context, ceiling_context = contexts(digits)
    low = floor_context.divide(value[0], divisor[1] if value[0] >= 0 else divisor[0])
    high = ceiling_context.divide(value[1], divisor[0] if value[1] >= 0 else divisor[1])
    return low, high


def negate(value: Interval) -> Interval:
    """Return an interval that contains -value."""
    return value[1].copy_negate(), value[0].copy_negate()


def one_minus(value: Interval, digits: int) -> Interval:
    """Return an interval that contains 1 - value."""
    floor_context, ceiling_context = contexts(digits)
    unit = Decimal(1)
    return floor_context.subtract(unit, value[1]), ceiling_context.subtract(unit, value[0])


@dataclass
class Uniform:
    """A uniform number between 0 and 1 with `known_bits` first bits drawn, held as the integer `bits`."""

    source: Source
    bits: int = 0
    known_bits: int = 0

    def narrow_to(self, bits: int) -> Interval:
        """Return the interval of the number given its first `bits` bits; missing bits are drawn from the source."""
        if bits > self.known_bits:
            self.bits = self.bits << (bits - self.known_bits) | self.source.bits(bits - self.known_bits)
            self.known_bits = bits
        # Bits that an earlier comparison drew are kept: they narrow the interval at no cost.
        digits = digits_for(self.known_bits)
        floor_context, ceiling_context = contexts(digits)
        unit = Decimal(2) ** self.known_bits if self.known_bits < 64 else Decimal(1 << self.known_bits)
        return floor_context.divide(Decimal(self.bits), unit), ceiling_context.divide(Decimal(self.bits + 1), unit)


@dataclass
class Lazy:
    """A real number made of uniform numbers: `value(bits)` is its interval given `bits` bits of each uniform number."""

    value: Callable[[int], Interval]
    bits: int = field(default_factory=lambda: FIRST_BITS)
    interval: Interval = field(init=False)

    def __post_init__(self) -> None:
        self.interval = self.value(self.bits)

    def refine(self) -> None:
        """Double the number of bits and narrow the interval."""
        self.bits *= 2
        self.interval = self.value(self.bits)


def is_smaller(left_number: Lazy, right_number: Lazy) -> bool:
    """Return whether the left number is smaller than the right one, refining intervals until they are disjoint."""
    while True:
        if left_number.interval[1] < right_number.interval[0]:
            return True
        if right_number.interval[1] < left_number.interval[0]:
            return False
        coarser_number = left_number if left_number.bits <= right_number.bits else right_number
        coarser_number.refine()
