"""Kernels of rows as whole-array operations: what runs where they are not compiled.

Each does what the kernel of its name does, to the bit, in a few passes of numpy instead of one of a loop. Where a text
is not as expected, the loop itself is run as plain Python: it knows best where to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Codes = NDArray[np.int32]
Offsets = NDArray[np.int64]
Places = NDArray[np.intp]
Bool = NDArray[np.bool_]

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE, _DELETE = 9, 10, 13, 32, 34, 127
_DIGITS = 18  # so many fit 64 bits, whatever they are


def _loop(name: str) -> Callable[..., Any]:
    """Return the function that a kernel is compiled from."""
    from . import rows

    function: Callable[..., Any] = getattr(rows, name).function
    return function


def _places(found: Bool) -> Places:
    return np.flatnonzero(found)


def _returns_alone(text: Bytes) -> Bool:
    """Say which carriage returns are no part of a line end."""
    alone: Bool = text == _RETURN
    alone[:-1] &= text[1:] != _NEWLINE
    alone[-1:] = False
    return alone


def _per_line(text: Bytes, starts: Places, stop: int, sizes: Codes) -> int:
    """Write how many of the things that begin at `starts` each line before `stop` has; return how many lines."""
    lines = _places(text[:stop] == _NEWLINE)
    through = np.searchsorted(starts, lines)
    many = len(lines)
    sizes[:many] = np.diff(through, prepend=0)
    if stop == len(text) and stop > 0 and text[stop - 1] != _NEWLINE:
        sizes[many] = len(starts) - (through[-1] if many else 0)
        many += 1
    return many


def parse_numbers(text: Bytes, limit: int, plain: bool, values: NDArray[Any], sizes: Codes) -> tuple[int, int, int]:
    digit = (text - np.uint8(48)) < 10
    edges = _places(np.diff(digit, prepend=False, append=False))
    starts, ends = edges[0::2], edges[1::2]
    lengths = ends - starts
    longest = int(lengths.max(initial=0))
    if longest > _DIGITS:
        result: tuple[int, int, int] = _loop("parse_numbers")(text, limit, plain, values, sizes)
        return result
    read = np.zeros(len(starts), np.int64)
    for place in range(longest):
        longer = lengths > place
        if longer.all():
            read *= 10
            read += text[starts + place] - np.uint8(48)
        else:
            read[longer] = read[longer] * 10 + (text[starts[longer] + place] - np.uint8(48))
    wrong = read > limit
    if plain:
        wrong |= (lengths > 1) & (text[starts] == 48)
    other = ~digit & (text != _SPACE) & (text != _NEWLINE) & (text != _TAB) & (text != _RETURN)
    stop = len(text)
    if wrong.any():
        stop = int(starts[np.argmax(wrong)])
    for junk in (other, _returns_alone(text)):
        if junk.any():
            at = int(np.argmax(junk))
            if junk is other and at > 0 and digit[at - 1]:
                at = int(starts[np.searchsorted(starts, at) - 1])  # the number that does not end there
            stop = min(stop, at)
    count = int(np.searchsorted(starts, stop))
    values[:count] = read[:count]
    return count, _per_line(text, starts[:count], stop, sizes), stop if stop < len(text) else -1


def split_fields(text: Bytes, delimiter: int, data: Bytes, ends: Codes, sizes: Codes) -> tuple[int, int, int, int]:
    spaced = delimiter == _SPACE
    blank = (text == _TAB) | (text == _RETURN)
    control = ((text < _SPACE) & (text != _NEWLINE) & ~blank) | (text == _DELETE) | _returns_alone(text)
    if delimiter != _TAB:
        blank |= text == _SPACE
    else:
        blank = (text == _SPACE) | (text == _RETURN)
    if control.any() or (not spaced and (text == _QUOTE).any()):
        result: tuple[int, int, int, int] = _loop("split_fields")(text, delimiter, data, ends, sizes)
        return result
    apart = text == _NEWLINE
    if spaced:
        apart |= blank
    else:
        apart |= text == delimiter
    # A field is from the first to the last byte that is no blank between two places that set fields apart.
    solid = _places(~(apart | blank))
    bounds = np.concatenate((_places(apart), [len(text)]))
    low = np.searchsorted(solid, np.concatenate(([0], bounds[:-1])))
    high = np.searchsorted(solid, bounds)
    full = high > low
    starts, stops = solid[low[full]], solid[high[full] - 1] + 1
    fields = len(starts)
    ends[0] = 0
    np.cumsum(stops - starts, out=ends[1 : fields + 1])
    used = int(ends[fields])
    inside = np.zeros(len(text) + 1, np.int8)
    inside[starts] += 1
    inside[stops] -= 1
    data[:used] = text[np.cumsum(inside[:-1], dtype=np.int8).view(np.bool_)]
    return fields, _per_line(text, starts, len(text), sizes), used, -1


def mark(values: NDArray[Any], present: Bool) -> None:
    present[values] = True


def translate(values: NDArray[Any], table: Codes, out: Codes) -> None:
    np.take(table, values, out=out)


def scatter(rows: Offsets, codes: Codes, cursor: Offsets, out: Codes) -> None:
    if len(rows) == 0:
        return
    if (rows[1:] >= rows[:-1]).all():
        order: Any = slice(None)
        grouped = rows
    else:
        order = np.argsort(rows, kind="stable")
        grouped = rows[order]
    many = np.bincount(grouped, minlength=len(cursor))
    first = np.cumsum(many) - many
    out[cursor[grouped] + np.arange(len(rows)) - first[grouped]] = codes[order]
    cursor += many


def sort_rows(offsets: Offsets, codes: Codes, first: int, last: int, sizes: Codes) -> None:
    if last <= first:
        return
    base = offsets[first]
    here = codes[base : offsets[last]]
    starts = offsets[first : last + 1] - base
    many = np.diff(starts)
    begins = np.zeros(len(here) + 1, np.bool_)
    begins[starts] = True
    rising = begins[1:-1] | (here[1:] > here[:-1])
    if not rising.all():
        rows = np.repeat(np.arange(last - first), many)
        keys = rows << 32 | here
        keys.sort()
        here[:] = keys & 0xFFFFFFFF
        fresh = np.ones(len(here), np.bool_)
        fresh[1:] = begins[1:-1] | (here[1:] != here[:-1])
        kept = np.add.reduceat(np.append(fresh, False), np.minimum(starts[:-1], len(here)), dtype=np.int64)
        many = np.where(many > 0, kept, 0)
        found = here[fresh]
        place = np.arange(len(found)) - np.repeat(np.cumsum(many) - many, many)
        here[np.repeat(starts[:-1], many) + place] = found
    sizes[first:last] = many


def close_gaps(offsets: Offsets, codes: Codes, sizes: Codes) -> None:
    starts = offsets[:-1].copy()
    offsets[0] = 0
    np.cumsum(sizes, out=offsets[1:])
    place = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
    codes[: offsets[-1]] = codes[place]


def count_codes(codes: Codes, tally: Offsets) -> None:
    tally += np.bincount(codes, minlength=len(tally))


def codes_between(offsets: Offsets, codes: Codes, first: int, last: int, *_: object) -> float:
    """Return how many codes the rows from `first` to before `last` have."""
    return float(offsets[last] - offsets[first])


def codes_of_some(offsets: Offsets, codes: Codes, rank: object, first: int, last: int, *_: object) -> float:
    """Return the same where a table of ranks comes before the rows."""
    return float(offsets[last] - offsets[first])


def members(offsets: Offsets, first: int, last: int) -> NDArray[np.int64]:
    """Return the row of each code, counted from the first."""
    return np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))


def fill_bitmaps(
    offsets: Offsets, codes: Codes, rank: NDArray[Any], first: int, last: int, bitmaps: NDArray[np.uint64]
) -> None:
    rows = members(offsets, first, last) + first
    ranks = rank[codes[offsets[first] : offsets[last]]].astype(np.int64)
    flat = bitmaps.reshape(-1)
    places = ranks * bitmaps.shape[1] + (rows >> 6)
    np.bitwise_or.at(flat, places, np.uint64(1) << (rows & 63).astype(np.uint64))


def rank_rows(
    offsets: Offsets, codes: Codes, rank: NDArray[Any], first: int, last: int, flat: NDArray[Any], base: int
) -> int:
    ranks = rank[codes[offsets[first] : offsets[last]]].astype(np.int64)
    keys = (members(offsets, first, last) << 32 | ranks)[ranks >= 0]
    if not len(keys):
        return base
    keys.sort()
    begins = np.diff(keys >> 32, prepend=-1) != 0
    before = np.cumsum(begins)  # sentinels up to here
    places = base + np.arange(len(keys)) + before
    flat[places] = keys & 0xFFFFFFFF
    flat[places[begins] - 1] = -1
    return int(places[-1]) + 1


def _follows(flat: NDArray[Any], first: int, last: int) -> Places:
    """Return the positions that have a predecessor in their row."""
    here = flat[first:last] >= 0
    return _places(here[1:] & here[:-1]) + first + 1


def count_positions(flat: NDArray[Any], first: int, last: int, tally: Offsets) -> None:
    tally += np.bincount(flat[_follows(flat, first, last)], minlength=len(tally))


def fill_positions(flat: NDArray[Any], first: int, last: int, cursor: Offsets, positions: Codes) -> None:
    found = _follows(flat, first, last)
    order = np.argsort(flat[found], kind="stable")
    ranks, found = flat[found[order]], found[order]
    many = np.bincount(ranks, minlength=len(cursor))
    within = np.arange(len(ranks)) - np.repeat(np.cumsum(many) - many, many)
    positions[cursor[ranks] + within] = found
    cursor += many


def between(flat: NDArray[Any], first: int, last: int, *_: object) -> float:
    """Return how many positions there are to go through."""
    return float(last - first)
