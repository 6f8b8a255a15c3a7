"""The subset of a number, out of all of one size: so that any of them can be drawn and none is written down."""

from __future__ import annotations

from math import comb

# Up to so many items for each one of a subset, its codes are found by going down from the last; beyond, by bisection.
_DENSE = 64


def subset(number: int, length: int, items: int) -> tuple[int, ...]:
    """Return the subset of a number in the combinatorial number system: the sum of C(code, place)."""
    codes: list[int] = []
    if not length:
        return ()
    if items > _DENSE * length:
        for place in range(length, 0, -1):
            code = _largest(number, place)
            number -= comb(code, place)
            codes.append(code)
        return tuple(codes[::-1])
    code, many = items - 1, comb(items - 1, length)  # many is C(code, place) all the way down
    while length:
        if many <= number:
            codes.append(code)
            number -= many
            many = many * length // max(code, 1)
            length -= 1
        else:
            many = many * (code - length) // code
        code -= 1
    return tuple(codes[::-1])


def _largest(number: int, place: int) -> int:
    """Return the largest code for which C(code, place) is at most the number."""
    low, high = place - 1, place
    while comb(high, place) <= number:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if comb(middle, place) <= number:
            low = middle
        else:
            high = middle
    return low
