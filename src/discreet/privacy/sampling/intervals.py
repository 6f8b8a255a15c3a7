"""Random real numbers that are known as precisely as a comparison needs.

A uniform number is a string of fair bits that never ends; so many are drawn as are needed to tell two numbers apart,
which they almost surely are. Every value is an interval that certainly holds it: Python's decimal module rounds
`exp` and `ln` correctly, so their error is half a unit in the last place, and bounds are moved outwards by more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from .sources import Source

Interval = tuple[Decimal, Decimal]

FIRST_BITS = 96


@lru_cache(maxsize=64)
def contexts(digits: int) -> tuple[Context, Context]:
    """Return arithmetic that rounds down and arithmetic that rounds up."""
    far = 10**9
    return (
        Context(prec=digits, rounding=ROUND_FLOOR, Emin=-far, Emax=far),
        Context(prec=digits, rounding=ROUND_CEILING, Emin=-far, Emax=far),
    )


def digits_for(bits: int) -> int:
    """Return how many digits hold so many bits, with some to spare."""
    return bits * 3 // 10 + 15


def exp(value: Interval, digits: int) -> Interval:
    """Return the interval of e to the power of `value`."""
    down, up = contexts(digits)
    low, high = down.exp(value[0]), up.exp(value[1])
    # `exp` rounds to nearest whatever the context says: one step outwards makes a bound of it.
    return down.next_minus(low), up.next_plus(high)


def ln(value: Interval, digits: int) -> Interval:
    """Return the interval of the logarithm; the lower end may be minus infinity."""
    down, up = contexts(digits)
    low = Decimal("-Infinity") if value[0] <= 0 else down.next_minus(down.ln(value[0]))
    return low, up.next_plus(up.ln(value[1]))


def ratio(number: Fraction, digits: int) -> Interval:
    """Return the interval of an exact fraction."""
    down, up = contexts(digits)
    above, beneath = Decimal(number.numerator), Decimal(number.denominator)
    return down.divide(above, beneath), up.divide(above, beneath)


def add(one: Interval, other: Interval, digits: int) -> Interval:
    """Return the interval of a sum."""
    down, up = contexts(digits)
    return down.add(one[0], other[0]), up.add(one[1], other[1])


def times(value: Interval, factor: Interval, digits: int) -> Interval:
    """Return the interval of a product of which the factor is not negative."""
    down, up = contexts(digits)
    low = down.multiply(value[0], factor[0] if value[0] >= 0 else factor[1])
    high = up.multiply(value[1], factor[1] if value[1] >= 0 else factor[0])
    return low, high


def over(value: Interval, divisor: Interval, digits: int) -> Interval:
    """Return the interval of a quotient of which the divisor is positive."""
    down, up = contexts(digits)
    low = down.divide(value[0], divisor[1] if value[0] >= 0 else divisor[0])
    high = up.divide(value[1], divisor[0] if value[1] >= 0 else divisor[1])
    return low, high


def negative(value: Interval) -> Interval:
    """Return the interval of the opposite number."""
    return value[1].copy_negate(), value[0].copy_negate()


def one_minus(value: Interval, digits: int) -> Interval:
    """Return the interval of 1 - value."""
    down, up = contexts(digits)
    one = Decimal(1)
    return down.subtract(one, value[1]), up.subtract(one, value[0])


@dataclass
class Uniform:
    """A uniform number between 0 and 1, of which the first bits are known."""

    source: Source
    bits: int = 0
    known: int = 0

    def within(self, bits: int) -> Interval:
        """Return the interval that so many bits leave open."""
        if bits > self.known:
            self.bits = self.bits << (bits - self.known) | self.source.bits(bits - self.known)
            self.known = bits
        digits = digits_for(self.known)
        down, up = contexts(digits)
        unit = Decimal(2) ** self.known if self.known < 64 else Decimal(1 << self.known)
        return down.divide(Decimal(self.bits), unit), up.divide(Decimal(self.bits + 1), unit)


@dataclass
class Lazy:
    """A real number made of uniform ones: `value(bits)` is its interval when so many bits of each are looked at."""

    value: Callable[[int], Interval]
    bits: int = field(default_factory=lambda: FIRST_BITS)
    interval: Interval = field(init=False)

    def __post_init__(self) -> None:
        self.interval = self.value(self.bits)

    def refine(self) -> None:
        """Look at twice as many bits."""
        self.bits *= 2
        self.interval = self.value(self.bits)


def smaller(one: Lazy, other: Lazy) -> bool:
    """Say which of two different numbers is the smaller one, looking as closely as it takes."""
    while True:
        if one.interval[1] < other.interval[0]:
            return True
        if other.interval[1] < one.interval[0]:
            return False
        worse = one if one.bits <= other.bits else other
        worse.refine()
