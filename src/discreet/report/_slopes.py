"""Slopes: where each of several things stood before, and where it stands after, joined by a line.

Names stand beside the lines, whole as long as they fit on a few rows. No two lines have the same one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from ._charts import HALO, Drawing, digits_of, ticks
from ._text import ISOLATED, clean, columns, percent, wide_of
from .colours import INK, LIFTS, QUIET, RULE, WARM_EDGE

_ROW = 14  # from one row of a label to the next
_GAP = 18  # between the middles of two labels of one row
_HEAD, _FOOT = 34, 14
_LEAST = 160
_EDGE = 6  # around a dot
_LEADER = 26  # from a scale to its labels
_VALUE = 42  # for a number in percent
_LETTERS = 11  # the size of them
_ROWS, _MOST_ROWS = 3, 8  # of a label; of one that is like another in fewer
_SHORT = (24, 16, 11, 8)  # columns of names that are too long, tried one after the other


@dataclass(frozen=True)
class Slope:
    """One line: the names of what it is of, its two ends, and whether it goes anywhere beyond noise."""

    names: tuple[str, ...]
    before: float
    after: float
    clear: bool

    @property
    def label(self) -> str:
        """All names, each kept apart from the direction of the others."""
        return ", ".join(map(ISOLATED.format, self.names))


def slopes(rows: Sequence[Slope], *, title: str, names: tuple[str, str], wide: int = 680) -> Drawing:
    """Return lines from one scale to another, with labels that keep clear of each other.

    Parameters
    ----------
    rows
        The lines, the most important first; shares from 0 to 1.
    title
        What they show.
    names
        What the two sides are called.
    wide
        How wide the drawing is.

    Examples
    --------
    >>> drawn = slopes([Slope(("tea",), 0.2, 0.3, True)], title="Supports", names=("March", "April"))
    >>> drawn.inside.count("<circle"), "tea" in drawn.said
    (2, True)
    """
    ends = [end for row in rows for end in (row.before, row.after)]
    marks = ticks(min(ends, default=0.0), max(ends, default=1.0))
    room = max(112, wide * 3 // 8)  # of the names
    left, right = _VALUE + _LEADER, wide - room - _VALUE - _LEADER - 4
    digits = digits_of(marks) + 1 if marks[0] == 0 else 1
    labels = labels_of(rows, room)
    tall = [_GAP + _ROW * (len(label) - 1) for label in labels]
    high = max(_LEAST, round(1.2 * sum(tall))) + _HEAD + _FOOT

    def down(value: float) -> float:
        part = (value - marks[0]) / (marks[-1] - marks[0])
        return high - _FOOT - part * (high - _HEAD - _FOOT)

    parts = [
        f'<line x1="{at}" x2="{at}" y1="{_HEAD - 8}" y2="{high - _FOOT + 6}" stroke="{RULE}"/>' for at in (left, right)
    ]
    parts.append(_heads(names, left, right, wide))
    befores = apart([down(row.before) for row in rows], _HEAD, high - _FOOT)
    afters = apart([down(row.after) for row in rows], _HEAD, high - _FOOT, tall)
    for row, first, last, label in zip(rows, befores, afters, labels, strict=True):
        colour = QUIET if not row.clear else LIFTS[2] if row.after > row.before else WARM_EDGE
        one, other = down(row.before), down(row.after)
        dash = "" if row.clear else ' stroke-dasharray="4 4"'
        told = f"{row.label}: {percent(row.before, digits)} → {percent(row.after, digits)}"
        top = last - _ROW * (len(label) - 1) / 2
        name = "".join(
            f'<text x="{right + _LEADER + _VALUE + 4}" y="{top + _ROW * at + 4:.1f}" font-size="{_LETTERS}" '
            f'fill="{INK}" {HALO}>{escape(line)}</text>'
            for at, line in enumerate(label)
        )
        parts.append(
            f"<g><title>{escape(told)}</title>"
            f'<line x1="{left}" y1="{one:.1f}" x2="{right}" y2="{other:.1f}" stroke="{colour}" stroke-width="2"{dash}/>'
            f'<path d="{_leader(left, one, -1, first)}{_leader(right, other, 1, top)}" stroke="{colour}" fill="none"/>'
            f'<circle cx="{left}" cy="{one:.1f}" r="4" fill="{colour}"/>'
            f'<circle cx="{right}" cy="{other:.1f}" r="4" fill="{colour}"/>'
            f'<text x="{left - _LEADER}" y="{first + 4:.1f}" text-anchor="end" font-size="{_LETTERS}" {HALO}>'
            f"{percent(row.before, digits)}</text>"
            f'<text x="{right + _LEADER + _VALUE}" y="{top + 4:.1f}" text-anchor="end" font-size="{_LETTERS}" {HALO}>'
            f"{percent(row.after, digits)}</text>{name}</g>"
        )
    said = f"Lines from {names[0]} to {names[1]}. " + "; ".join(
        f"{row.label}: {percent(row.before, digits)} to {percent(row.after, digits)}" for row in rows
    )
    return Drawing(title=title, said=said, inside="".join(parts), high=high, wide=wide)


def _heads(names: tuple[str, str], left: int, right: int, wide: int) -> str:
    """Return the names of the two sides above their scales; above the middle where they are too long for that."""
    short = [clean(name, 40) for name in names]
    middle = (left + right) // 2
    centred = all(wide_of(name) < right - left - 8 for name in short) and wide_of(short[0]) < 2 * left
    places = (left, right) if centred else (0, middle + 4)
    anchor = "middle" if centred else "start"
    rooms = (middle - 4, wide - middle - 4)
    return "".join(
        f'<text x="{at}" y="16" text-anchor="{anchor}" fill="{QUIET}">{escape(_cut(name, room))}</text>'
        for at, name, room in zip(places, short, rooms, strict=True)
    )


def _cut(text: str, room: float) -> str:
    """Return a text that is no wider than this."""
    most = columns(text)
    while most > 1 and wide_of(clean(text, most)) > room:
        most -= 1
    return clean(text, most)


def _leader(at: int, dot: float, side: int, label: float) -> str:
    """Return the path from a dot to its label: level beside both, so that it is seen which it leads to."""
    near, far = at + side * _EDGE, at + side * (_LEADER - 3)
    return f"M{near} {dot:.1f}L{near + 3 * side} {dot:.1f}L{far - 3 * side} {label:.1f}L{far} {label:.1f}"


def labels_of(rows: Sequence[Slope], room: float) -> list[list[str]]:
    """Return the label of each line in rows of text of so much room: different ones for different names.

    Examples
    --------
    >>> [" / ".join(label) for label in labels_of([Slope(("tea", "milk"), 0.1, 0.2, True)], 40)]
    ['\u2068tea\u2069, / \u2068milk\u2069']
    """
    found = [_label(row.names, room, _ROWS) for row in rows]
    for most in (_MOST_ROWS, 0):
        times = Counter(map(tuple, found))
        seen: Counter[tuple[str, ...]] = Counter()
        for at, label in enumerate(map(tuple, found)):
            if times[label] > 1:
                seen[label] += 1
                found[at] = _label(rows[at].names, room, most) if most else [*label, f"({seen[label]})"]
    return found


def _label(names: Sequence[str], room: float, most: int) -> list[str]:
    """Return names in so many rows: shorter ones, or the first of them, where they do not fit."""
    whole = _wrapped(names, room)
    if len(whole) <= most:
        return whole
    for short in _SHORT:
        cut = _wrapped([clean(name, short) for name in names], room)
        if len(cut) <= most:
            return cut
    for kept in range(len(names) - 1, 0, -1):
        cut = _wrapped([*(clean(name, _SHORT[-1]) for name in names[:kept]), f"+ {len(names) - kept}"], room)
        if len(cut) <= most:
            return cut
    return whole[:most]


def _wrapped(names: Sequence[str], room: float) -> list[str]:
    """Return names in rows of text, broken between words, and within one that is longer than a row."""
    rows: list[list[tuple[int, str]]] = [[]]
    left = room
    for number, name in enumerate(names):
        end = "," if number < len(names) - 1 and not names[number + 1].startswith("+ ") else ""
        for word in _words(f"{name}{end}", room):
            needed = _long(word) + (_long(" ") if rows[-1] else 0.0)
            if needed > left and rows[-1]:
                rows.append([])
                needed, left = _long(word), room
            rows[-1].append((number, word))
            left -= needed
    return [_row_of(row) for row in rows]


def _words(text: str, room: float) -> list[str]:
    found: list[str] = []
    for word in text.split() or [text]:
        piece = ""
        for letter in word:
            if piece and columns(letter) and _long(piece + letter) > room:
                found.append(piece)
                piece = ""
            piece += letter
        found.append(piece)
    return found


def _row_of(words: Sequence[tuple[int, str]]) -> str:
    """Return a row of text; the words of a name keep the direction of that name, whatever stands beside it."""
    parts: list[str] = []
    for number in dict.fromkeys(number for number, _ in words):
        text = " ".join(word for one, word in words if one == number)
        name = text.removesuffix(",")
        parts.append(ISOLATED.format(name) + text[len(name) :])
    return " ".join(parts)


def _long(text: str) -> float:
    return wide_of(text) * _LETTERS / 12


def apart(places: Sequence[float], first: float, last: float, tall: Sequence[float] | None = None) -> list[float]:
    """Return places for labels: as near to where they belong as they can be, and apart from each other.

    The middles of all rows lie from the first place to the last, where there is room for so many; otherwise they begin
    at the first. Labels are as tall as `tall` says, or one row.

    Examples
    --------
    >>> apart([100.0, 100.0, 40.0], 0, 200)
    [91.0, 109.0, 40.0]
    >>> apart([10.0, 10.0, 198.0], 8.0, 190.0)
    [8.0, 26.0, 190.0]
    """
    sizes = [_GAP] * len(places) if tall is None else tall
    order = sorted(range(len(places)), key=lambda at: (places[at], at))
    # Without what lies between the first one and each, they only have to keep their order: groups that touch share one.
    before = [0.0]
    for one, other in pairwise(order):
        before.append(before[-1] + (sizes[one] + sizes[other]) / 2)
    if order:
        first, last = first + (sizes[order[0]] - _GAP) / 2, last - (sizes[order[-1]] - _GAP) / 2
    groups: list[list[float]] = []
    for at, between in zip(order, before, strict=False):
        groups.append([places[at] - between])
        while len(groups) > 1 and _mean(groups[-1]) < _mean(groups[-2]):
            touching = groups.pop()
            groups[-1] += touching
    shared = [_mean(group) for group in groups for _ in group]
    found = [0.0] * len(places)
    for at, between, place in zip(order, before, shared, strict=False):
        found[at] = max(first, min(place, last - before[-1])) + between
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
