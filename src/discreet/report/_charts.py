"""Bar charts as functions from values to drawings, and drawings put together into pictures.

Horizontal places of bars are percentages: bars take the width of the page while their letters keep their size, on a
telephone as on paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from markupsafe import Markup

from ..results import Picture
from ._svg import HALO, Drawing, element, image, join, line, text, titled
from ._text import clean, count_end_text, count_text, fit_text, percent, percent_end, text_width
from .colours import FULL, INK, PALE, PAPER, QUIET, RULE, night

Unit: TypeAlias = Literal["share", "count"]

# The width in pixels of a drawing with a fixed width: on a page, and on a telephone of 390 pixels with its margins.
PAGE_WIDTH, PHONE_WIDTH = 720, 350
# The least width in pixels of a bar chart on a page, and on a telephone. Texts take a tenth less than `text_width`.
PAGE_BARS_WIDTH, PHONE_BARS_WIDTH = 640, 328
_SCALE_HEIGHT, _ROW_HEIGHT = 20, 30
_LABEL_SHARE = 0.84  # of the width of a chart, for labels; the numbers have the remaining width
_TICKS = 5  # about as many marks on a scale as a reader takes in at a glance


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
    # Counts are whole, so their scale has no step below 1.
    marks = ticks(0.0, reach(rows) if scale_end is None else scale_end, 1.0 if unit == "count" else 0.0)
    end = marks[-1]
    top = _SCALE_HEIGHT if with_scale else 0
    height = top + _ROW_HEIGHT * len(rows)
    digits = digits_of(marks) + 1
    bars = (_row(row, top + _ROW_HEIGHT * index, end, unit, digits, min_width) for index, row in enumerate(rows))
    inside = join([*_axis(marks, end, height, unit if with_scale else None), *bars])
    description = f"Horizontal bars, from 0 to {_value_text(end, unit, digits)}. " + "; ".join(
        f"{row.label}: {_bar_text(row, unit, digits)}" for row in rows
    )
    return Drawing(title=title, description=description, inside=inside, height=height)


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
    # Steps are 1, 2 or 5 times a power of ten: numbers that a reader adds without effort.
    rough = max((high - low) / _TICKS, least_step)
    size = 10.0 ** math.floor(math.log10(rough))
    # The small factors keep a step of 0.1 + 0.2 from counting as larger than 0.3.
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * (1 - 1e-9))
    start = math.floor(low / step + 1e-9)
    stop = max(start + 1, math.ceil(high / step - 1e-9))
    return tuple(float(f"{step * place:.12g}") for place in range(start, stop + 1))


def share(part: float) -> Markup:
    """Return a small bar for a share from 0 to 1; the number belongs beside it."""
    whole = element("rect", width="100%", height=10, fill=PALE)
    bar = element("rect", width=_place(part, 1), height=10, fill=FULL)
    return element("svg", whole, bar, width=120, height=10, aria_hidden="true", focusable="false")


def _axis(marks: Sequence[float], end: float, height: int, unit: Unit | None) -> Iterator[Markup]:
    """Yield the lines of a scale, with their numbers where a unit is given."""
    for mark in marks:
        x = _place(mark, end)
        yield line(x, _SCALE_HEIGHT - 4 if unit else 0, x, height, stroke=RULE)
        if unit:
            # The numbers at the two ends stay inside the picture.
            anchor = "start" if mark == 0 else "end" if mark == end else "middle"
            yield text(_value_text(mark, unit, digits_of(marks)), x, 12, text_anchor=anchor, fill=QUIET, font_size=11)


def _row(row: Bar, top: int, end: float, unit: Unit, digits: int, min_width: int) -> Markup:
    """Return a bar with its label, its whiskers and its number."""
    middle = top + 22
    label = element("text", fit_text(row.label, _LABEL_SHARE * min_width), y=14, **HALO)
    parts = [
        # The inner picture cuts a label that is longer than estimated before it runs into the number.
        element("svg", label, width="84%", height=_ROW_HEIGHT, y=top),
        element("rect", y=middle - 4, width=_place(row.value, end), height=8, fill=FULL),
    ]
    if row.low is not None and row.high is not None and not math.isnan(row.low + row.high):
        parts.append(_whiskers((row.low, row.high), end, middle))
    # At the right edge: beside its bar a number would stand at a wrong place of the scale.
    parts.append(text(row.number(unit, digits), "100%", top + 14, text_anchor="end", font_size=11, **HALO))
    return titled(f"{row.label}: {_bar_text(row, unit, digits)}", *parts)


def _whiskers(bounds: tuple[float, float], end: float, middle: int) -> Markup:
    low, high = (_place(bound, end) for bound in bounds)
    # A cap marks an end of an interval; an end outside of the scale has none, as the interval goes on.
    caps = (
        line(x, middle - 4, x, middle + 4) for x, bound in zip((low, high), bounds, strict=True) if 0 <= bound <= end
    )
    return element("g", line(low, middle, high, middle), *caps, stroke=INK, stroke_width="1.5")


def _bar_text(row: Bar, unit: Unit, digits: int) -> str:
    """Return the value of a bar and its interval in words."""
    text = row.number(unit, digits)
    if row.low is None or row.high is None:
        return text
    low, high = (_value_text(max(end, 0), unit, digits) for end in (row.low, row.high))
    return f"{text} (from {low} to {high})"


def _place(value: float, end: float) -> str:
    """Return a horizontal place as a percentage, kept inside the picture."""
    # A value outside the scale is drawn at its end: beyond it would cover the texts.
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
    parts = [text(clean(heading, 90), _EDGE, 34, font_size=16, font_weight=600)]
    y = 42
    width = max([PAGE_WIDTH, *(drawing.width for drawing in drawings if drawing.width is not None)])
    for note in notes:
        for words in _wrap_text(clean(note, 600), width):
            y += _LINE_HEIGHT
            parts.append(text(words, _EDGE, y, fill=QUIET))
    y += _GAP
    for drawing in drawings:
        view = None if drawing.width is None else f"0 0 {drawing.width} {drawing.height}"
        size = {"width": drawing.width or width, "height": drawing.height, "viewBox": view}
        parts.append(element("svg", drawing.inside, x=_EDGE, y=y, **size))
        y += drawing.height + _GAP
    full_width, height = width + 2 * _EDGE, y + 4
    picture = image(
        element("title", ". ".join([heading, *notes, *(drawing.title for drawing in drawings)])),
        element("desc", " ".join(drawing.description for drawing in drawings)),
        element("style", Markup(night())),  # noqa: S704 - a constant of `colours`
        element("rect", width="100%", height="100%", rx=10, fill=PAPER),
        *parts,
        viewBox=f"0 0 {full_width} {height}",
        width=full_width,
        height=height,
        role="img",
    )
    return Picture(drawings[0].title, str(picture))


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
