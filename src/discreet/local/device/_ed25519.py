"""The check of an Ed25519 signature (RFC 8032) in plain Python, for devices: the standard library has none.

The module checks signatures and makes none, so it has no secret, and its time reveals nothing. Libraries differ about
points of small order, which no honest signer makes: they are refused. Standard library only.
"""

from __future__ import annotations

from hashlib import sha512
from typing import TypeAlias

Point: TypeAlias = tuple[int, int, int, int]  # x and y over z, and their product: extended coordinates

# The numbers of RFC 8032, section 5.1.
_FIELD = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_CURVE = -121665 * pow(121666, -1, _FIELD) % _FIELD
_ZERO: Point = (0, 1, 1, 0)
_ROOT = pow(2, (_FIELD - 1) // 4, _FIELD)  # a square root of -1
_EIGHTH = 2707385501144840649318225287225658788936804267575313519463743609750303402022
_SMALL_ORDER_Y = (0, 1, _FIELD - 1, _EIGHTH, _FIELD - _EIGHTH)  # y of the points P with 8 P = 0


def is_signature(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether 64 bytes are the signature of a message under a public key of 32 bytes; no input raises an error.

    Examples
    --------
    >>> key = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    >>> signature = bytes.fromhex(
    ...     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
    ...     "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    ... )
    >>> is_signature(key, b"", signature), is_signature(key, b"x", signature)
    (True, False)
    """
    if len(key) != 32 or len(signature) != 64:
        return False
    public_point, nonce_point = _decode_point(key), _decode_point(signature[:32])
    scale = int.from_bytes(signature[32:], "little")
    if public_point is None or nonce_point is None or scale >= _ORDER:
        return False
    challenge = int.from_bytes(sha512(signature[:32] + key + message).digest(), "little") % _ORDER
    # The equation scale * base = nonce + challenge * public, with the last term on the left.
    opposite = (-public_point[0] % _FIELD, public_point[1], 1, -public_point[3] % _FIELD)
    return _is_equal(_add_multiples(scale, _BASE, challenge, opposite), nonce_point)


def _decode_point(text: bytes) -> Point | None:
    """Return the point encoded in 32 bytes, or None for other bytes and for points of small order."""
    number = int.from_bytes(text, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= _FIELD or y in _SMALL_ORDER_Y:
        return None
    square = (y * y - 1) * pow(_CURVE * y * y + 1, -1, _FIELD) % _FIELD
    x = pow(square, (_FIELD + 3) // 8, _FIELD)
    if (x * x - square) % _FIELD:
        x = x * _ROOT % _FIELD
    if (x * x - square) % _FIELD:
        return None
    x = x if x & 1 == sign else _FIELD - x
    return x, y, 1, x * y % _FIELD


def _add(p: Point, q: Point) -> Point:
    # RFC 8032, section 5.1.4: the complete addition in extended coordinates.
    low = (p[1] - p[0]) * (q[1] - q[0]) % _FIELD
    high = (p[1] + p[0]) * (q[1] + q[0]) % _FIELD
    turned, scaled = 2 * p[3] * q[3] * _CURVE % _FIELD, 2 * p[2] * q[2] % _FIELD
    e, f, g, h = high - low, scaled - turned, scaled + turned, high + low
    return e * f % _FIELD, g * h % _FIELD, f * g % _FIELD, e * h % _FIELD


def _add_multiples(a: int, p: Point, b: int, q: Point) -> Point:
    """Return a * p + b * q, doubling from the highest bits down."""
    total, addends = _ZERO, (_ZERO, p, q, _add(p, q))
    for bit in range(max(a, b).bit_length() - 1, -1, -1):
        total = _add(total, total)
        choice = (a >> bit & 1) | (b >> bit & 1) << 1
        if choice:
            total = _add(total, addends[choice])
    return total


def _is_equal(p: Point, q: Point) -> bool:
    return (p[0] * q[2] - q[0] * p[2]) % _FIELD == 0 == (p[1] * q[2] - q[1] * p[2]) % _FIELD


_base = _decode_point((4 * pow(5, -1, _FIELD) % _FIELD).to_bytes(32, "little"))
assert _base is not None  # noqa: S101
_BASE: Point = _base
