"""Bar charts as functions from values to drawings, and drawings put together into pictures.

Equal values give equal bytes. A drawing is complete in itself: colours and fonts are attributes, not styles, so
it needs no style sheet and passes a policy that forbids inline styles. Horizontal places of bars are percentages: bars
take the width of the page while their letters keep their size, on a telephone as on paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias

from ..results import Picture
from ._text import clean, count_end_text, count_text, percent, percent_end, text_width
from .colours import FULL, INK, PALE, PAPER, QUIET, RULE, night

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

Unit: TypeAlias = Literal["share", "count"]

# The width in pixels of a drawing with a fixed width: on a page, and on a telephone of 390 pixels with its margins.
PAGE_WIDTH, PHONE_WIDTH = 720, 350
# The least width in pixels of a bar chart on a page, and on a telephone. Texts take a tenth less than `text_width`.
PAGE_BARS_WIDTH, PHONE_BARS_WIDTH = 640, 328
_SCALE_HEIGHT, _ROW_HEIGHT = 20, 30
_LABEL_SHARE = 0.84  # of the width of a chart, for labels; the numbers have the remaining width
_TICKS = 5  # about as many marks on a scale as a reader takes in at a glance
# Letters have a white edge, so that lines behind them do not strike them through.
HALO = f'stroke="{PAPER}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A drawing that can be put on a page or into a picture.

    Parameters
    ----------
    title, description
        Its title, and all of its content as text for screen readers.
    inside
        Its SVG elements.
    height, width
        Its size in pixels; None as width for a drawing that takes the width of the page.
    """

    title: str
    description: str
    inside: str
    height: int
    width: int | None = None

    def inline(self, name: str) -> str:
        """Return the drawing as an element of a page, under a name that no other drawing of the page has."""
        size = f'width="100%" height="{self.height}"'
        if self.width is not None:
            size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        return svg(name, self.title, self.description, size, self.inside)


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its value, and the interval of the value, or None.

    A value that was cut to the end of its range says less than the low end of its interval, which stands in its place.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    is_cut: bool = False

    def number(self, unit: Unit, digits: int) -> str:
        """Return the number beside the bar."""
        if self.is_cut and self.low is not None:
            low, floor = self.low, math.floor
            return f"≥ {percent_end(low, digits, floor) if unit == 'share' else count_end_text(low, floor)}"
        return _value_text(self.value, unit, digits)


def draw_bars(
    rows: Sequence[Bar],
    *,
    title: str,
    unit: Unit = "share",
    scale_end: float | None = None,
    with_scale: bool = True,
    min_width: int = PAGE_BARS_WIDTH,
) -> Drawing:
    """Return horizontal bars with whiskers for their intervals, the first row on top.

    Parameters
    ----------
    rows
        The bars. Nothing is drawn below 0: a whisker that goes below is cut, and has no cap on that side.
    title
        The title of the chart, for screen readers.
    unit
        ``"share"`` for fractions, shown in percent, ``"count"`` for numbers.
    scale_end
        The value that the scale must reach, for charts that are compared; by default the largest of the rows.
    with_scale
        Whether the numbers of the scale stand on top; a continued chart has none.
    min_width
        The least width of the chart in pixels: labels are cut to the room that they have there.

    Examples
    --------
    >>> chart = draw_bars([Bar("tea", 0.5, 0.45, 0.55)], title="Supports")
    >>> chart.height, "45.0" in chart.inline("supports")
    (50, True)
    """
    marks = ticks(0.0, reach(rows) if scale_end is None else scale_end, 1.0 if unit == "count" else 0.0)
    end = marks[-1]
    top = _SCALE_HEIGHT if with_scale else 0
    height = top + _ROW_HEIGHT * len(rows)
    digits = digits_of(marks) + 1
    parts = [_axis(marks, end, height, unit if with_scale else None)]
    parts += [_row(row, top + _ROW_HEIGHT * index, end, unit, digits, min_width) for index, row in enumerate(rows)]
    description = f"Horizontal bars, from 0 to {_value_text(end, unit, digits)}. " + "; ".join(
        f"{row.label}: {_bar_text(row, unit, digits)}" for row in rows
    )
    return Drawing(title=title, description=description, inside="".join(parts), height=height)


def reach(rows: Sequence[Bar]) -> float:
    """Return the largest value that bars and whiskers reach."""
    return max(
        (end for row in rows for end in (row.value, row.high) if end is not None and math.isfinite(end)), default=0.0
    )


def ticks(low: float, high: float, least_step: float = 0.0) -> tuple[float, ...]:
    """Return about five round numbers that span low to high.

    Examples
    --------
    >>> ticks(0, 0.57)
    (0.0, 0.2, 0.4, 0.6)
    """
    if not (math.isfinite(high - low) and high > low):
        return (0.0, 1.0)
    rough = max((high - low) / _TICKS, least_step)
    size = 10.0 ** math.floor(math.log10(rough))
    # The small factors keep a step of 0.1 + 0.2 from counting as larger than 0.3.
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * (1 - 1e-9))
    start = math.floor(low / step + 1e-9)
    stop = max(start + 1, math.ceil(high / step - 1e-9))
    return tuple(float(f"{step * place:.12g}") for place in range(start, stop + 1))


def share(part: float) -> str:
    """Return a small bar for a share from 0 to 1; the number belongs beside it."""
    return (
        '<svg width="120" height="10" aria-hidden="true" focusable="false">'
        f'<rect width="100%" height="10" fill="{PALE}"/>'
        f'<rect width="{_place(part, 1)}" height="10" fill="{FULL}"/></svg>'
    )


def svg(name: str, title: str, description: str, size: str, inside: str) -> str:
    """Return an SVG element with a title and a description for screen readers."""
    identifier = escape(name)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        f'aria-labelledby="{identifier}-title {identifier}-said" '
        f'font-family="{FONT}" font-size="12" fill="{INK}"><title id="{identifier}-title">{escape(title)}</title>'
        f'<desc id="{identifier}-said">{escape(description)}</desc>{inside}</svg>'
    )


def _axis(marks: Sequence[float], end: float, height: int, unit: Unit | None) -> str:
    """Return the lines of a scale, with their numbers where a unit is given."""
    parts = []
    for mark in marks:
        x = _place(mark, end)
        begins = _SCALE_HEIGHT - 4 if unit else 0
        parts.append(f'<line x1="{x}" x2="{x}" y1="{begins}" y2="{height}" stroke="{RULE}"/>')
        if unit:
            # The numbers at the two ends stay inside the picture.
            anchor = "start" if mark == 0 else "end" if mark == end else "middle"
            text = _value_text(mark, unit, digits_of(marks))
            parts.append(f'<text x="{x}" y="12" text-anchor="{anchor}" fill="{QUIET}" font-size="11">{text}</text>')
    return "".join(parts)


def _fit_label(label: str, room: float) -> str:
    """Return a label cut to a width in pixels, with an ellipsis at a cut."""
    if text_width(label) <= room:
        return label
    width, shown_letters = text_width("…"), []
    for letter in label:
        width += text_width(letter)
        if width > room:
            break
        shown_letters.append(letter)
    return "".join(shown_letters).rstrip() + "…"


def _row(row: Bar, top: int, end: float, unit: Unit, digits: int, min_width: int) -> str:
    """Return a bar with its label, its whiskers and its number."""
    middle = top + 22
    parts = [
        f"<g><title>{escape(row.label)}: {_bar_text(row, unit, digits)}</title>",
        # The inner picture cuts a label that is longer than estimated before it runs into the number.
        f'<svg width="84%" height="{_ROW_HEIGHT}" y="{top}"><text y="14" {HALO}>'
        f"{escape(_fit_label(row.label, _LABEL_SHARE * min_width))}</text></svg>",
        f'<rect y="{middle - 4}" width="{_place(row.value, end)}" height="8" fill="{FULL}"/>',
    ]
    if row.low is not None and row.high is not None and not math.isnan(row.low + row.high):
        parts.append(_whiskers((row.low, row.high), end, middle))
    # At the right edge: beside its bar a number would stand at a wrong place of the scale.
    number = f'<text x="100%" y="{top + 14}" text-anchor="end" font-size="11" {HALO}>{row.number(unit, digits)}</text>'
    return "".join(parts) + f"{number}</g>"


def _whiskers(bounds: tuple[float, float], end: float, middle: int) -> str:
    low, high = (_place(bound, end) for bound in bounds)
    caps = "".join(
        f'<line x1="{x}" x2="{x}" y1="{middle - 4}" y2="{middle + 4}"/>'
        for x, bound in zip((low, high), bounds, strict=True)
        if 0 <= bound <= end
    )
    line = f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>'
    return f'<g stroke="{INK}" stroke-width="1.5">{line}{caps}</g>'


def _bar_text(row: Bar, unit: Unit, digits: int) -> str:
    """Return the value of a bar and its interval in words."""
    text = row.number(unit, digits)
    if row.low is None or row.high is None:
        return text
    low, high = (_value_text(max(end, 0), unit, digits) for end in (row.low, row.high))
    return f"{text} (from {low} to {high})"


def _place(value: float, end: float) -> str:
    """Return a horizontal place as a percentage, kept inside the picture."""
    part = value / end if math.isfinite(value) else 0.0
    return f"{100 * min(max(part, 0.0), 1.0):.2f}%"


def _value_text(value: float, unit: Unit, digits: int) -> str:
    return percent(value, digits) if unit == "share" else count_text(value)


def digits_of(marks: Sequence[float]) -> int:
    """Return the number of decimals of a percentage that the marks of a scale need."""
    return max(0, -math.floor(math.log10(100 * marks[1]) + 1e-9))


_EDGE, _GAP, _LINE_HEIGHT = 20, 16, 17  # pixels: around a picture, between two drawings, of a line of its notes


def mount_drawings(drawings: Sequence[Drawing], *, heading: str, notes: Sequence[str] = ()) -> Picture:
    """Return drawings in a column as one picture that stands by itself, with its promise.

    A picture travels alone, so it carries its guarantee, and whether it is simulated or not private.

    Parameters
    ----------
    drawings
        The drawings; at least one. The picture is as wide as the widest.
    heading, notes
        The line above, and smaller lines below it, as text.

    Examples
    --------
    >>> mount_drawings([draw_bars([Bar("tea", 0.5)], title="Supports")], heading="Tea").svg.count("<svg")
    3
    """
    parts = [f'<text x="{_EDGE}" y="34" font-size="16" font-weight="600">{escape(clean(heading, 90))}</text>']
    y = 42
    width = max([PAGE_WIDTH, *(drawing.width for drawing in drawings if drawing.width is not None)])
    for note in notes:
        for line in _wrap_text(clean(note, 600), width):
            y += _LINE_HEIGHT
            parts.append(f'<text x="{_EDGE}" y="{y}" fill="{QUIET}">{escape(line)}</text>')
    y += _GAP
    for drawing in drawings:
        view = "" if drawing.width is None else f' viewBox="0 0 {drawing.width} {drawing.height}"'
        size = f'width="{drawing.width or width}" height="{drawing.height}"{view}'
        parts.append(f'<svg x="{_EDGE}" y="{y}" {size}>{drawing.inside}</svg>')
        y += drawing.height + _GAP
    full_width, height = width + 2 * _EDGE, y + 4
    title = ". ".join([heading, *notes, *(drawing.title for drawing in drawings)])
    description = " ".join(drawing.description for drawing in drawings)
    return Picture(
        drawings[0].title,
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full_width} {height}" width="{full_width}" '
        f'height="{height}" role="img" font-family="{FONT}" font-size="12" fill="{INK}"><title>{escape(title)}</title>'
        f"<desc>{escape(description)}</desc><style>{night()}</style>"
        f'<rect width="100%" height="100%" rx="10" fill="{PAPER}"/>{"".join(parts)}</svg>',
    )


def _wrap_text(text: str, width: int) -> list[str]:
    """Return a text in lines of at most a width in pixels."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
