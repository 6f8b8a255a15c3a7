"""Supports of reports, candidate by candidate."""

from __future__ import annotations

from discreet.local.device import hash_item


def windows(firsts, seconds, lows, widths, items):
    reports = list(zip(firsts, seconds, lows, widths, strict=True))
    return [sum((hash_item((a, b), item) - low) % 2**32 < width for a, b, low, width in reports) for item in items]


def bits(rows, size):
    return [sum(row[index // 32] >> index % 32 & 1 for row in rows) for index in range(size)]


def symbols(rows, size):
    return [sum(row.count(symbol) for row in rows) for symbol in range(size)]


def transformed(values):
    return [
        sum(-value if (row & column).bit_count() % 2 else value for row, value in enumerate(values))
        for column in range(len(values))
    ]
