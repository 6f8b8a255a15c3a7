"""Slopes: where each of several things stood before, and where it stands after, joined by a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .charts import HALO, Drawing, digits_of, ticks
from .colours import INK, LIFTS, QUIET, RULE, WARM_EDGE
from .text import clean, percent

_GAP = 18  # between the middles of two labels
_HEAD, _FOOT = 34, 14
_LEAST = 160


@dataclass(frozen=True)
class Slope:
    """One line: its label, short enough for its place, its two ends, and whether it goes anywhere beyond noise."""

    label: str
    before: float
    after: float
    clear: bool


def beside(wide: int) -> int:
    """Return how much room there is for labels beside the lines, in a drawing of so wide."""
    return max(170, wide * 2 // 5)


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
    >>> drawn = slopes([Slope("tea", 0.2, 0.3, True)], title="Supports", names=("March", "April"))
    >>> drawn.inside.count("<circle"), "tea" in drawn.said
    (2, True)
    """
    ends = [end for row in rows for end in (row.before, row.after)]
    marks = ticks(min(ends, default=0.0), max(ends, default=1.0))
    high = max(_LEAST, (_GAP + 4) * len(rows)) + _HEAD + _FOOT
    left, right = 74, wide - beside(wide)
    digits = digits_of(marks) + 1 if marks[0] == 0 else 1

    def down(value: float) -> float:
        part = (value - marks[0]) / (marks[-1] - marks[0])
        return high - _FOOT - part * (high - _HEAD - _FOOT)

    parts = [
        f'<line x1="{at}" x2="{at}" y1="{_HEAD - 8}" y2="{high - _FOOT + 6}" stroke="{RULE}"/>'
        f'<text x="{at}" y="16" text-anchor="middle" fill="{QUIET}">{escape(clean(name, 24))}</text>'
        for at, name in zip((left, right), names, strict=True)
    ]
    befores = apart([down(row.before) for row in rows], 0, high - _FOOT)
    afters = apart([down(row.after) for row in rows], 0, high - _FOOT)
    for row, first, last in zip(rows, befores, afters, strict=True):
        colour = QUIET if not row.clear else LIFTS[2] if row.after > row.before else WARM_EDGE
        one, other = down(row.before), down(row.after)
        dash = "" if row.clear else ' stroke-dasharray="4 4"'
        told = f"{row.label}: {percent(row.before, digits)} → {percent(row.after, digits)}"
        parts.append(
            f"<g><title>{escape(told)}</title>"
            f'<line x1="{left}" y1="{one:.1f}" x2="{right}" y2="{other:.1f}" stroke="{colour}" stroke-width="2"{dash}/>'
            f'<path d="M{left - 8} {first:.1f}L{left} {one:.1f}M{right + 8} {last:.1f}L{right} {other:.1f}" '
            f'stroke="{RULE}" fill="none"/>'
            f'<circle cx="{left}" cy="{one:.1f}" r="4" fill="{colour}"/>'
            f'<circle cx="{right}" cy="{other:.1f}" r="4" fill="{colour}"/>'
            f'<text x="{left - 10}" y="{first + 4:.1f}" text-anchor="end" font-size="11" {HALO}>'
            f"{percent(row.before, digits)}</text>"
            f'<text x="{right + 10}" y="{last + 4:.1f}" fill="{INK}" {HALO}>{percent(row.after, digits)} '
            f"{escape(row.label)}</text></g>"
        )
    said = f"Lines from {names[0]} to {names[1]}. " + "; ".join(
        f"{row.label}: {percent(row.before, digits)} to {percent(row.after, digits)}" for row in rows
    )
    return Drawing(title=title, said=said, inside="".join(parts), high=high, wide=wide)


def apart(places: Sequence[float], first: float, last: float) -> list[float]:
    """Return places for labels: as near to where they belong as they can be, and a gap from each other.

    All lie from the first place to the last, where there is room for so many; otherwise they begin at the first.

    Examples
    --------
    >>> apart([100.0, 100.0, 40.0], 0, 200)
    [91.0, 109.0, 40.0]
    >>> apart([10.0, 10.0, 198.0], 8.0, 190.0)
    [8.0, 26.0, 190.0]
    """
    order = sorted(range(len(places)), key=lambda at: (places[at], at))
    groups: list[list[float]] = []  # of labels that touch: where they belong

    def begins(group: list[float]) -> float:
        long = _GAP * (len(group) - 1)
        return max(first, min(sum(group) / len(group) - long / 2, last - long))

    for at in order:
        groups.append([places[at]])
        while len(groups) > 1 and begins(groups[-1]) < begins(groups[-2]) + _GAP * len(groups[-2]):
            touching = groups.pop()
            groups[-1] += touching
    found = [0.0] * len(places)
    slots = [begins(group) + _GAP * number for group in groups for number in range(len(group))]
    for at, slot in zip(order, slots, strict=True):
        found[at] = slot
    return found
