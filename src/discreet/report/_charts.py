"""Charts as functions from values to drawings, for reports, for the collector's pages and for the documentation.

The same values give the same bytes. A drawing is complete in itself: colours and fonts are attributes, not styles, so
it needs no style sheet and passes a policy that forbids inline styles. Horizontal places of bars are percentages, so
they take the width they are given while their letters keep their size, on a telephone as on paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias

from ._text import counts_end, percent, percent_end, whole, wide_of
from .colours import FULL, INK, PALE, PAPER, QUIET, RULE

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

Unit: TypeAlias = Literal["share", "count"]

# Pixels that a chart has on a page: on a telephone, and elsewhere. Texts are taken for a tenth wider than they are.
NARROW_LEAST, BROAD = 328, 640
_HEAD, _ROW = 20, 30
_NAMED = 0.84  # of the width, for labels
_TICKS = 5
# Letters keep a white edge, so that lines behind them do not strike them through.
HALO = f'stroke="{PAPER}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """What is drawn, before it is known where it is shown.

    Parameters
    ----------
    title, said
        What it shows, and all of that in words, for those who do not see it.
    inside
        The elements of the drawing.
    high, wide
        Its size; without a width it takes the one that it is given.
    """

    title: str
    said: str
    inside: str
    high: int
    wide: int | None = None

    def inline(self, name: str) -> str:
        """Return it as an element of a page, under a name that no other drawing of the page has."""
        size = f'width="100%" height="{self.high}"'
        if self.wide is not None:
            size = f'viewBox="0 0 {self.wide} {self.high}" width="{self.wide}" height="{self.high}"'
        return svg(name, self.title, self.said, size, self.inside)


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its value, and the interval around it where there is one.

    A value that was cut to the largest there can be says less than the low end of its interval, which then stands
    for it.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    cut: bool = False

    def number(self, unit: Unit, digits: int) -> str:
        """Return the number that stands beside the bar."""
        if self.cut and self.low is not None:
            low, floor = self.low, math.floor
            return f"≥ {percent_end(low, digits, floor) if unit == 'share' else counts_end(low, floor)}"
        return _text(self.value, unit, digits)


def bars(
    rows: Sequence[Bar],
    *,
    title: str,
    unit: Unit = "share",
    most: float | None = None,
    marked: bool = True,
    least: int = BROAD,
) -> Drawing:
    """Return horizontal bars with whiskers for their intervals, the first row on top.

    Parameters
    ----------
    rows
        The bars. Nothing is drawn below 0: a whisker that goes there is cut, and has no cap on that side.
    title
        What the chart shows, for those who do not see it.
    unit
        ``"share"`` for fractions, shown in percent, ``"count"`` for numbers.
    most
        What the scale must reach, for several charts that are to be compared; by default what these rows need.
    marked
        Whether the numbers of the scale stand on top; a chart that continues another goes without.
    least
        How wide it will be at least, in pixels: labels are cut to what fits there, and numbers stand behind them.

    Examples
    --------
    >>> chart = bars([Bar("tea", 0.5, 0.45, 0.55)], title="Supports")
    >>> chart.high, "45.0" in chart.inline("supports")
    (50, True)
    """
    marks = ticks(0.0, reach(rows) if most is None else most, 1.0 if unit == "count" else 0.0)
    end = marks[-1]
    top = _HEAD if marked else 0
    height = top + _ROW * len(rows)
    digits = digits_of(marks) + 1
    parts = [_axis(marks, end, height, unit if marked else None)]
    parts += [_row(row, top + _ROW * place, end, unit, digits, least) for place, row in enumerate(rows)]
    said = f"Horizontal bars, from 0 to {_text(end, unit, digits)}. " + "; ".join(
        f"{row.label}: {_told(row, unit, digits)}" for row in rows
    )
    return Drawing(title=title, said=said, inside="".join(parts), high=height)


def reach(rows: Sequence[Bar]) -> float:
    """Return the largest value that bars and whiskers reach."""
    return max(
        (end for row in rows for end in (row.value, row.high) if end is not None and math.isfinite(end)), default=0.0
    )


def ticks(low: float, high: float, least_step: float = 0.0) -> tuple[float, ...]:
    """Return a handful of round numbers that span low to high.

    Examples
    --------
    >>> ticks(0, 0.57)
    (0.0, 0.2, 0.4, 0.6)
    """
    if not (math.isfinite(high - low) and high > low):
        return (0.0, 1.0)
    rough = max((high - low) / _TICKS, least_step)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * (1 - 1e-9))
    first = math.floor(low / step + 1e-9)
    last = max(first + 1, math.ceil(high / step - 1e-9))
    return tuple(float(f"{step * place:.12g}") for place in range(first, last + 1))


def share(part: float) -> str:
    """Return a small bar for a part of a whole; the number belongs beside it."""
    wide = _place(part, 1)
    return (
        '<svg width="120" height="10" aria-hidden="true" focusable="false">'
        f'<rect width="100%" height="10" fill="{PALE}"/><rect width="{wide}" height="10" fill="{FULL}"/></svg>'
    )


def svg(name: str, title: str, said: str, size: str, inside: str) -> str:
    """Return an SVG element with a title and a description for screen readers."""
    known = escape(name)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{known}-title {known}-said" '
        f'font-family="{FONT}" font-size="12" fill="{INK}">'
        f'<title id="{known}-title">{escape(title)}</title><desc id="{known}-said">{escape(said)}</desc>{inside}</svg>'
    )


def _axis(marks: Sequence[float], end: float, height: int, unit: Unit | None) -> str:
    parts = []
    for mark in marks:
        at = _place(mark, end)
        begins = _HEAD - 4 if unit else 0
        parts.append(f'<line x1="{at}" x2="{at}" y1="{begins}" y2="{height}" stroke="{RULE}"/>')
        if unit:
            # The numbers at the two ends stay inside the picture.
            anchor = "start" if mark == 0 else "end" if mark == end else "middle"
            text = _text(mark, unit, digits_of(marks))
            parts.append(f'<text x="{at}" y="12" text-anchor="{anchor}" fill="{QUIET}" font-size="11">{text}</text>')
    return "".join(parts)


def _fitted(label: str, room: float) -> str:
    """Return a label cut to what fits into so many pixels, with a sign that it was cut."""
    if wide_of(label) <= room:
        return label
    left, kept = room - wide_of("…"), []
    for letter in label:
        left -= wide_of(letter)
        if left < 0:
            break
        kept.append(letter)
    return "".join(kept).rstrip() + "…"


def _row(row: Bar, top: int, end: float, unit: Unit, digits: int, least: int) -> str:
    middle = top + 22
    bounds = None if row.low is None or row.high is None or math.isnan(row.low + row.high) else (row.low, row.high)
    parts = [
        f"<g><title>{escape(row.label)}: {_told(row, unit, digits)}</title>",
        # The inner picture cuts what is longer than it was taken for before it runs into the number.
        f'<svg width="84%" height="{_ROW}" y="{top}"><text y="14" {HALO}>'
        f"{escape(_fitted(row.label, _NAMED * least))}</text></svg>",
        f'<rect y="{middle - 4}" width="{_place(row.value, end)}" height="8" fill="{FULL}"/>',
    ]
    if bounds is not None:
        parts.append(_whiskers(bounds, end, middle))
    # Beside its bar, or behind the whisker, a number would stand at a place of the scale that is another number's.
    number = f'<text x="100%" y="{top + 14}" text-anchor="end" font-size="11" {HALO}>{row.number(unit, digits)}</text>'
    return "".join(parts) + f"{number}</g>"


def _whiskers(bounds: tuple[float, float], end: float, middle: int) -> str:
    low, high = (_place(bound, end) for bound in bounds)
    caps = "".join(
        f'<line x1="{at}" x2="{at}" y1="{middle - 4}" y2="{middle + 4}"/>'
        for at, bound in zip((low, high), bounds, strict=True)
        if 0 <= bound <= end
    )
    line = f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>'
    return f'<g stroke="{INK}" stroke-width="1.5">{line}{caps}</g>'


def _told(row: Bar, unit: Unit, digits: int) -> str:
    text = row.number(unit, digits)
    if row.low is None or row.high is None:
        return text
    return f"{text} (from {_text(max(row.low, 0), unit, digits)} to {_text(max(row.high, 0), unit, digits)})"


def _place(value: float, end: float) -> str:
    """Return a horizontal place, kept inside the picture."""
    part = value / end if math.isfinite(value) else 0.0
    return f"{100 * min(max(part, 0.0), 1.0):.2f}%"


def _text(value: float, unit: Unit, digits: int) -> str:
    return percent(value, digits) if unit == "share" else whole(value)


def digits_of(marks: Sequence[float]) -> int:
    """Return how many decimals of a percentage the marks of this scale have."""
    return max(0, -math.floor(math.log10(100 * marks[1]) + 1e-9))
