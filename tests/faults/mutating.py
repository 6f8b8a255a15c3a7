"""Bytes that are almost right: a few seeded changes, of the kinds that disks, networks and people make."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

# What is rare in good files and has broken readers: long numbers, quotes, nulls, other encodings, nesting.
WORDS = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b'"', b"'", b"\r", b"\n\n", b"\t", b",", b";", b"\\",
    b"\\u0000", b"-1", b"0", b"1e999", b"NaN", b"null", b"true", b"{", b"}", b"[", b"]", b"[[[[[[[[", b'{"items":',
    b"9" * 19, b"9" * 20, b"9" * 400, b"18446744073709551616", b"\xf0\x9f\x8d\xb5", b"\x1b[31m", b"=1+1", b"A" * 5000,
)  # fmt: skip


def mutants(sound: bytes, seed: int, mutant_count: int) -> Iterator[bytes]:
    """Yield `mutant_count` different changes of some bytes; equal seeds give equal changes."""
    chance = Random(seed)
    for _ in range(mutant_count):
        data = bytearray(sound)
        for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
            _change(data, chance)
        yield bytes(data)


def _change(data: bytearray, chance: Random) -> None:
    place = chance.randrange(len(data) + 1)
    end = min(len(data), place + chance.choice((1, 2, 4, 8, 64, 1024)))
    kind = chance.randrange(8)
    if kind == 0 and place < len(data):
        data[place] ^= 1 << chance.randrange(8)
    elif kind == 1:
        data[place:end] = chance.randbytes(end - place)
    elif kind == 2:
        data[place:end] = bytes([chance.choice((0, 255))]) * (end - place)
    elif kind == 3:
        del data[place:end]
    elif kind == 4:
        del data[place:]  # cut short
    elif kind == 5:
        data[place:place] = data[place:end] * chance.choice((1, 2, 50))
    elif kind == 6:
        data[place:place] = chance.choice(WORDS)
    else:
        source_place = chance.randrange(len(data) + 1)
        data[place:end], data[source_place:source_place] = (
            data[source_place : source_place + end - place],
            data[place:end],
        )


def flips(sound: bytes, seed: int, mutant_count: int) -> Iterator[bytes]:
    """Yield `mutant_count` copies with one bit turned over each, at places spread over all bits."""
    chance = Random(seed)
    for number in range(mutant_count):
        data = bytearray(sound)
        low, high = (
            number * len(data) // mutant_count,
            max((number + 1) * len(data) // mutant_count, number * len(data) // mutant_count + 1),
        )
        data[chance.randrange(low, high)] ^= 1 << chance.randrange(8)
        yield bytes(data)
