"""Checking an Ed25519 signature (RFC 8032) in plain Python, for devices: the standard library has none.

It checks and does nothing else: there is no secret here, so how long it takes tells nothing. Libraries differ about
points of small order; no honest signer makes one, so they are refused. Standard library only.
"""

from __future__ import annotations

from hashlib import sha512
from typing import TypeAlias

Point: TypeAlias = tuple[int, int, int, int]  # x and y over z, and their product: extended coordinates

_FIELD = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_CURVE = -121665 * pow(121666, -1, _FIELD) % _FIELD
_ZERO: Point = (0, 1, 1, 0)
_ROOT = pow(2, (_FIELD - 1) // 4, _FIELD)  # of minus one
_EIGHTH = 2707385501144840649318225287225658788936804267575313519463743609750303402022
_SMALL = (0, 1, _FIELD - 1, _EIGHTH, _FIELD - _EIGHTH)  # y of the points that eight times are nothing


def verified(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether this is the signature of a message under a public key; nothing is raised, whatever is given.

    Examples
    --------
    >>> key = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    >>> signature = bytes.fromhex(
    ...     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
    ...     "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    ... )
    >>> verified(key, b"", signature), verified(key, b"x", signature)
    (True, False)
    """
    if len(key) != 32 or len(signature) != 64:
        return False
    public, first = _point(key), _point(signature[:32])
    scale = int.from_bytes(signature[32:], "little")
    if public is None or first is None or scale >= _ORDER:
        return False
    challenge = int.from_bytes(sha512(signature[:32] + key + message).digest(), "little") % _ORDER
    opposite = (-public[0] % _FIELD, public[1], 1, -public[3] % _FIELD)
    return _same(_combined(scale, _BASE, challenge, opposite), first)


def _point(text: bytes) -> Point | None:
    """Return the point that 32 bytes stand for, or None; those of small order are none."""
    number = int.from_bytes(text, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= _FIELD or y in _SMALL:
        return None
    square = (y * y - 1) * pow(_CURVE * y * y + 1, -1, _FIELD) % _FIELD
    x = pow(square, (_FIELD + 3) // 8, _FIELD)
    if (x * x - square) % _FIELD:
        x = x * _ROOT % _FIELD
    if (x * x - square) % _FIELD:
        return None
    x = x if x & 1 == sign else _FIELD - x
    return x, y, 1, x * y % _FIELD


def _sum(one: Point, other: Point) -> Point:
    low = (one[1] - one[0]) * (other[1] - other[0]) % _FIELD
    high = (one[1] + one[0]) * (other[1] + other[0]) % _FIELD
    turned, scaled = 2 * one[3] * other[3] * _CURVE % _FIELD, 2 * one[2] * other[2] % _FIELD
    e, f, g, h = high - low, scaled - turned, scaled + turned, high + low
    return e * f % _FIELD, g * h % _FIELD, f * g % _FIELD, e * h % _FIELD


def _combined(scale: int, point: Point, other_scale: int, other: Point) -> Point:
    """Return scale × point + other scale × other point, from the highest bits down."""
    total, both = _ZERO, _sum(point, other)
    for bit in range(max(scale, other_scale).bit_length() - 1, -1, -1):
        total = _sum(total, total)
        chosen = (scale >> bit & 1) | (other_scale >> bit & 1) << 1
        if chosen:
            total = _sum(total, (point, other, both)[chosen - 1])
    return total


def _same(one: Point, other: Point) -> bool:
    return (one[0] * other[2] - other[0] * one[2]) % _FIELD == 0 == (one[1] * other[2] - other[1] * one[2]) % _FIELD


_base = _point((4 * pow(5, -1, _FIELD) % _FIELD).to_bytes(32, "little"))
assert _base is not None  # noqa: S101
_BASE: Point = _base
