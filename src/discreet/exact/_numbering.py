"""Numbering of subsets of one size, so that a subset can be drawn by its number and no list is made."""

from __future__ import annotations

from math import comb

# Up to this number of items per code, a descent over all codes finds a subset; beyond, bisection. Changes speed only.
_MAX_DENSE_RATIO = 64


def subset(number: int, length: int, items: int) -> tuple[int, ...]:
    """Return the subset with a number in the combinatorial number system: number = sum of C(code, place)."""
    codes: list[int] = []
    if not length:
        return ()
    if items > _MAX_DENSE_RATIO * length:
        for place in range(length, 0, -1):
            code = _find_largest_code(number, place)
            number -= comb(code, place)
            codes.append(code)
        return tuple(codes[::-1])
    code, binomial = items - 1, comb(items - 1, length)  # binomial = C(code, length) in each step
    while length:
        if binomial <= number:
            codes.append(code)
            number -= binomial
            binomial = binomial * length // max(code, 1)
            length -= 1
        else:
            binomial = binomial * (code - length) // code
        code -= 1
    return tuple(codes[::-1])


def _find_largest_code(number: int, place: int) -> int:
    """Return the largest code with C(code, place) <= number."""
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
