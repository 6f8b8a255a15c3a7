"""Lines over a few public values, such as budgets: what each of several things comes to at each of them.

The places across go with the logarithm of the values, so that each doubling is as wide as any other. Names stand where
lines end, and the one that matters is drawn in strong colour, so that no legend has to be looked up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ._charts import HALO, Drawing
from ._graph import WIDE
from ._slopes import apart
from ._text import percent, whole
from .colours import INK, LIFTS, PAPER, QUIET, RULE

_HEAD, _FOOT, _HIGH = 40, 26, 210
_LEFT, _CLEAR = 58, 34


@dataclass(frozen=True)
class DrawnLine:
    """One line: its label, its value at each place (nothing is drawn where that is not finite), whether it matters."""

    label: str
    values: tuple[float, ...]
    strong: bool = False


def lines(rows: Sequence[DrawnLine], across: Sequence[float], *, title: str, below: str, share: bool) -> Drawing:
    """Return lines from left to right.

    Parameters
    ----------
    rows
        The lines, each with as many values as there are places.
    across
        The places: rising numbers over 0.
    title, below
        What the height shows, and what the places are.
    share
        Whether values are shares from 0 to 1; otherwise they are numbers over 0, and the scale goes by factors.

    Examples
    --------
    >>> drawn = lines([DrawnLine("auto", (0.4, 0.9))], [0.5, 1], title="Found", below="epsilon", share=True)
    >>> drawn.said.replace("\u202f", " ")
    'auto: 40 % at 0.5, 90 % at 1'
    """
    label = max((len(row.label) for row in rows), default=0)
    right = WIDE - max(110, 30 + 7 * label)
    high = max(_HIGH, _HEAD + _FOOT + 18 * len(rows))
    ends = [value for row in rows for value in row.values if math.isfinite(value) and (share or value > 0)]
    marks = (0.0, 0.25, 0.5, 0.75, 1.0) if share else _factors(min(ends, default=1.0), max(ends, default=1.0))
    first, last = math.log(across[0]), math.log(across[-1])

    def x(value: float) -> float:
        return _LEFT + (right - _LEFT) * ((math.log(value) - first) / (last - first) if last > first else 0.5)

    def y(value: float) -> float:
        part = value if share else math.log(max(value, marks[0]) / marks[0]) / math.log(marks[-1] / marks[0])
        return _HEAD + (high - _HEAD - _FOOT) * (1 - part)

    def text(value: float) -> str:
        return percent(value, 0) if share else whole(value)

    parts = [f'<text x="6" y="14" font-weight="600">{escape(title)}</text>']
    parts += [
        f'<line x1="{_LEFT}" x2="{right}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" stroke="{RULE}"/>'
        f'<text x="{_LEFT - 8}" y="{y(mark) + 4:.1f}" text-anchor="end" fill="{QUIET}" font-size="11">'
        f"{text(mark)}</text>"
        for mark in marks
    ]
    parts += [
        f'<text x="{x(value):.1f}" y="{high - 8}" text-anchor="middle" fill="{QUIET}" font-size="11">{value:g}</text>'
        for value in _spaced(across, x)
    ]
    parts.append(f'<text x="{right + 22}" y="{high - 8}" fill="{QUIET}" font-size="11">{escape(below)}</text>')
    drawn = [(row, _points(row, across, share)) for row in rows]
    drawn = [(row, points) for row, points in drawn if points]
    places = apart([y(points[-1][1]) for _, points in drawn], _HEAD - 22, high - _FOOT - 4)
    # The strong ones come last, so that others do not cover them.
    for row, points, place in sorted(
        ((row, points, place) for (row, points), place in zip(drawn, places, strict=True)),
        key=lambda one: one[0].strong,
    ):
        colour, width = (LIFTS[2], 3) if row.strong else (QUIET, 1.5)
        said = "; ".join(f"{value:g}: {text(there)}" for value, there in points)
        path = "L".join(f"{x(value):.1f} {y(there):.1f}" for value, there in points)
        end = points[-1]
        dots = "".join(
            f'<circle cx="{x(value):.1f}" cy="{y(there):.1f}" r="{width + 1}" fill="{colour}" stroke="{PAPER}"/>'
            for value, there in points
        )
        parts.append(
            f"<g><title>{escape(f'{row.label}: {said}')}</title>"
            f'<path d="M{path}" stroke="{colour}" stroke-width="{width}" fill="none" stroke-linejoin="round"/>'
            f'<path d="M{x(end[0]):.1f} {y(end[1]):.1f}L{right + 18} {place:.1f}" stroke="{RULE}" fill="none"/>{dots}'
            f'<text x="{right + 22}" y="{place + 4:.1f}" fill="{INK if row.strong else QUIET}" '
            f'font-weight="{600 if row.strong else 400}" {HALO}>{escape(row.label)}</text></g>'
        )
    told = "; ".join(
        f"{row.label}: " + ", ".join(f"{text(there)} at {value:g}" for value, there in points) for row, points in drawn
    )
    return Drawing(title=title, said=told, inside="".join(parts), high=high, wide=WIDE)


def _points(row: DrawnLine, across: Sequence[float], share: bool) -> list[tuple[float, float]]:
    pairs = zip(across, row.values, strict=True)
    return [(value, there) for value, there in pairs if math.isfinite(there) and (share or there > 0)]


def _spaced(across: Sequence[float], x: object) -> list[float]:
    """Return the places whose numbers have room below them."""
    found: list[float] = []
    for value in across:
        if not found or x(value) - x(found[-1]) >= _CLEAR:  # type: ignore[operator]
            found.append(value)
    return found


def _factors(low: float, high: float) -> tuple[float, ...]:
    """Return round numbers that span low to high, over 0: powers of ten, and some between where these are few.

    Examples
    --------
    >>> _factors(30, 900), _factors(3, 40_000)
    ((20.0, 50.0, 100.0, 200.0, 500.0, 1000.0), (1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0))
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    marks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    under = max((mark for mark in marks if mark <= low), default=marks[0])
    over = min((mark for mark in marks if mark >= high and mark > under), default=10 * marks[-1])
    return tuple(mark for mark in [*marks, 10 * marks[-1]] if under <= mark <= over)
