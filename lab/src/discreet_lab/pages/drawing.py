"""Drawings: panels of lines over an axis as SVG text, small enough to be stored beside the pages that show them.

Equal values give equal bytes. Letters are text, marks are defined once, and the elements of one line in several panels
are drawn together, so that a figure of thirteen panels stays under 40 KB. `figures` makes the panels of results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, inf, isfinite, log10
from textwrap import wrap

from markupsafe import Markup

from discreet.report import QUIET, RULE, Drawing, ticks

# Colours for all kinds of colour vision (Okabe and Ito 2008); in print, lines differ by their marks.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
_MARKS = (
    "M-3 0A3 3 0 1 0 3 0A3 3 0 1 0-3 0Z",
    "M-3-3H3V3H-3Z",
    "M0-3.6L3.6 2.8H-3.6Z",
    "M0-4L4 0L0 4L-4 0Z",
    "M0 3.6L3.6-2.8H-3.6Z",
    "M-1.2-3.6H1.2V-1.2H3.6V1.2H1.2V3.6H-1.2V1.2H-3.6V-1.2H-1.2Z",
    "M-3.4-2.1L-2.1-3.4L0-1.3L2.1-3.4L3.4-2.1L1.3 0L3.4 2.1L2.1 3.4L0 1.3L-2.1 3.4L-3.4 2.1L-1.3 0Z",
    "M0-4.2L1.1-1.4L4-1.3L1.7.5L2.5 3.4L0 1.8L-2.5 3.4L-1.7.5L-4-1.3L-1.1-1.4Z",
)
_PANEL_WIDTH, _BOX_HEIGHT = 256, 132  # the panel with its margins; the box of its lines
_LEFT_MARGIN, _RIGHT, _ABOVE, _BELOW = 40, 12, 34, 40
_MARGIN = 20  # for the label of the vertical axis, left of the first panel of a row
_LETTER_WIDTH = 6.0  # the mean width of a letter at 11 points


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line: its label, its number among all lines, and (place, mean, spread) from left to right."""

    label: str
    style: int
    points: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A panel.

    Parameters
    ----------
    title, across, up
        The text above the panel, below it and to its left.
    curves
        Its lines.
    marks
        The numbers below the axis, and their text.
    share
        Whether the vertical axis goes from 0 to 1.
    logarithmic, logarithmic_up
        Whether the horizontal axis, and the vertical axis, is logarithmic.
    joined
        Whether points are joined; points of an axis without numbers are side by side.
    """

    title: str
    across: str
    up: str
    curves: tuple[Curve, ...]
    marks: tuple[tuple[float, str], ...]
    share: bool = False
    logarithmic: bool = False
    logarithmic_up: bool = False
    joined: bool = True

    @property
    def up_marks(self) -> tuple[float, ...]:
        """The numbers left of the vertical axis; all points lie between the first and the last."""
        if self.share:
            return (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
        means = [mean for curve in self.curves for _, mean, _ in curve.points]
        if self.logarithmic_up:
            return decades([mean for mean in means if mean > 0])
        ends = [mean + sign * spread for curve in self.curves for _, mean, spread in curve.points for sign in (-1, 1)]
        # A spread may reach below 0 although no number can: the axis begins at 0.
        low = min(0.0, *ends) if any(mean < 0 for mean in means) else 0.0
        return ticks(low, max(0.0, *ends) if ends else 0.0)


@dataclass(frozen=True, kw_only=True)
class Group:
    """Panels with common lines, and a legend above them."""

    panels: tuple[Panel, ...]
    heading: str = ""

    @property
    def legend(self) -> tuple[tuple[int, str], ...]:
        """The lines of any panel, in order."""
        return tuple(sorted({(curve.style, curve.label) for panel in self.panels for curve in panel.curves}))


@dataclass(frozen=True, kw_only=True)
class FigureChart:
    """A figure: groups from top to bottom. `name` is a word that is unique on a page."""

    name: str
    title: str
    groups: tuple[Group, ...]
    columns: int = 3


def decades(numbers: Sequence[float]) -> tuple[float, ...]:
    """Return powers of ten that span these positive numbers, six at most; 1, 2 and 5 of each where they are few.

    Examples
    --------
    >>> decades([3, 700])
    (1.0, 10.0, 100.0, 1000.0)
    >>> decades([3, 7])
    (2.0, 5.0, 10.0)
    """
    finite_numbers = [number for number in numbers if isfinite(number)]
    if not finite_numbers:
        return (0.1, 1.0)
    first_power, last_power = floor(log10(min(finite_numbers)) + 1e-9), ceil(log10(max(finite_numbers)) - 1e-9)
    if last_power - first_power > 1:
        step = ceil((last_power - first_power) / 5)
        return tuple(10.0**power for power in range(first_power, last_power + step, step))
    steps = [float(f"{factor}e{power}") for power in range(first_power - 1, last_power + 2) for factor in (1, 2, 5)]
    low = max(step for step in steps if step <= min(finite_numbers))
    high = min(step for step in steps if step >= max(finite_numbers) and step > low)
    return tuple(step for step in steps if low <= step <= high)


def draw_svg(chart: FigureChart) -> str:
    """Return a figure as SVG."""
    columns = min(chart.columns, max(len(group.panels) for group in chart.groups))
    width = _MARGIN + columns * _PANEL_WIDTH
    sheet = _Sheet(name=chart.name, width=width)
    for group in chart.groups:
        sheet.draw_group(group, columns)
    titles = [panel.title for group in chart.groups for panel in group.panels if panel.title]
    lines = dict.fromkeys(label for group in chart.groups for _, label in group.legend)
    description = f"Lines: {', '.join(lines)}." + (f" Panels: {'; '.join(titles)}." if titles else "")
    # The sheet escaped its texts.
    inside = Markup("".join(sheet.render_parts()))  # noqa: S704
    drawing = Drawing(title=chart.title, description=description, inside=inside, height=sheet.top, width=width)
    return f"{drawing.inline(chart.name)}\n"


class _Sheet:
    """The drawing of a figure: rules, texts, and the elements of each style together."""

    def __init__(self, *, name: str, width: int) -> None:
        self.name, self.width, self.top = name, width, 6
        self.rules: list[str] = []
        self.texts: list[str] = []
        self.bands: dict[int, list[str]] = {}
        self.lines: dict[int, list[str]] = {}
        self.whiskers: dict[int, list[str]] = {}

    def render_parts(self) -> Iterator[str]:
        """Yield the drawing, from the back to the front."""
        yield f'<rect width="{self.width}" height="{self.top}" fill="#ffffff"/><defs>'
        for style in sorted(self.lines):
            mark = _MARKS[style % len(_MARKS)]
            yield f'<marker id="{self.name_mark(style)}" viewBox="-5 -5 10 10" markerWidth="10" markerHeight="10" '
            yield f'markerUnits="userSpaceOnUse"><path d="{mark}" fill="{_find_colour(style)}" stroke="none"/></marker>'
        yield f'</defs><path d="{"".join(self.rules)}" stroke="{RULE}" fill="none"/>'
        for style, bands in sorted(self.bands.items()):
            yield f'<path fill="{_find_colour(style)}" fill-opacity="0.12" d="{"".join(bands)}"/>'
        for style, whiskers in sorted(self.whiskers.items()):
            yield f'<path stroke="{_find_colour(style)}" d="{"".join(whiskers)}"/>'
        for style, lines in sorted(self.lines.items()):
            mark = f"url(#{self.name_mark(style)})"
            dash = ' stroke-dasharray="4 3"' if style >= len(COLOURS) else ""
            yield f'<g fill="none" stroke="{_find_colour(style)}" stroke-width="1.4"{dash} '
            yield f'marker-start="{mark}" marker-mid="{mark}" marker-end="{mark}">'
            yield "".join(f'<path d="{line}"/>' for line in lines) + "</g>"
        yield f'<g font-size="11">{"".join(self.texts)}</g>'

    def name_mark(self, style: int) -> str:
        """Return the identifier of the mark of a style."""
        return f"{escape(self.name)}-{style}"

    def draw_group(self, group: Group, columns: int) -> None:
        """Draw the legend, and the panels row by row."""
        if group.heading:
            self.add_text(10, self.top + 16, group.heading, 'font-size="13" font-weight="bold"')
            self.top += 24
        left = 14.0
        for style, label in group.legend:
            label_width = 34 + _LETTER_WIDTH * len(label) + 10
            if left > 14 and left + label_width > self.width:
                left, self.top = 14.0, self.top + 18
            self.lines.setdefault(style, []).append(f"M{left:g} {self.top + 10}h11h11")
            self.add_text(left + 30, self.top + 14, label)
            left += label_width
        self.top += 24
        for start in range(0, len(group.panels), columns):
            for column, panel in enumerate(group.panels[start : start + columns]):
                self.draw_panel(panel, _MARGIN + column * _PANEL_WIDTH + _LEFT_MARGIN, self.top + _ABOVE)
            self.top += _ABOVE + _BOX_HEIGHT + _BELOW

    def draw_panel(self, panel: Panel, left: float, top: float) -> None:
        """Draw one panel with its axes; `left` and `top` are the corner of the box of its lines."""
        right, bottom = left + _PANEL_WIDTH - _LEFT_MARGIN - _RIGHT, top + _BOX_HEIGHT
        title = _split_title(panel.title)
        for number, line in enumerate(title):
            self.add_text((left + right) / 2, top - 8 - 13 * (len(title) - 1 - number), line, 'text-anchor="middle"')
        up_marks = panel.up_marks
        up_scale = _Scale(up_marks[0], up_marks[-1], bottom, top, panel.logarithmic_up)
        for mark in up_marks:
            self.rules.append(f"M{left:g} {_round(up_scale(mark))}H{right:g}")
            self.add_text(
                left - 5, up_scale(mark) + 3.5, _format_mark(mark, up_marks), f'text-anchor="end" fill="{QUIET}"'
            )
        places = [place for place, _ in panel.marks] or [0.0]
        side_space = 10 if panel.joined else (right - left) / (2 * len(places))
        across_scale = _Scale(min(places), max(places), left + side_space, right - side_space, panel.logarithmic)
        text_end = -inf
        for place, mark_text in panel.marks:
            center, half_width = across_scale(place), 3.0 * len(mark_text)
            self.rules.append(f"M{_round(center)} {bottom:g}v4")
            if center - half_width > text_end:
                self.add_text(center, bottom + 15, mark_text, f'text-anchor="middle" fill="{QUIET}"')
                text_end = center + half_width + 3
        self.rules.append(f"M{left:g} {bottom:g}H{right:g}")
        self.add_text((left + right) / 2, bottom + 29, panel.across, 'text-anchor="middle"')
        if left == _MARGIN + _LEFT_MARGIN:
            rotation = f'text-anchor="middle" transform="rotate(-90 14 {(top + bottom) / 2:g})"'
            self.add_text(14, (top + bottom) / 2, _shorten(panel.up, _BOX_HEIGHT + _ABOVE), rotation)
        step = min(8.0, 1.6 * side_space / len(panel.curves)) if panel.curves else 0.0
        for number, curve in enumerate(panel.curves):
            offset = 0.0 if panel.joined else step * (number - (len(panel.curves) - 1) / 2)
            points = [
                (across_scale(place) + offset, up_scale(mean), up_scale(mean - spread), up_scale(mean + spread))
                for place, mean, spread in curve.points
                if isfinite(mean) and (mean > 0 or not panel.logarithmic_up)
            ]
            if points:
                self.draw_curve(curve.style, points, panel.joined)

    def draw_curve(self, style: int, points: list[tuple[float, float, float, float]], joined: bool) -> None:
        """Draw one line of one panel: points of place, mean, low and high, in pixels."""
        lines = self.lines.setdefault(style, [])
        if not joined or len(points) == 1:
            lines += [f"M{_round(place)} {_round(mean)}h0" for place, mean, _, _ in points]
            bars = [
                f"M{_round(place)} {_round(low)}V{_round(high)}"
                for place, _, low, high in points
                if _round(low) != _round(high)
            ]
            self.whiskers.setdefault(style, []).extend(bars)
            return
        lines.append("M" + "L".join(f"{_round(place)} {_round(mean)}" for place, mean, _, _ in points))
        if any(_round(low) != _round(high) for _, _, low, high in points):
            upper_edge = [f"{_round(place)} {_round(high)}" for place, _, _, high in points]
            lower_edge = [f"{_round(place)} {_round(low)}" for place, _, low, _ in reversed(points)]
            self.bands.setdefault(style, []).append("M" + "L".join([*upper_edge, *lower_edge]) + "Z")

    def add_text(self, left: float, top: float, text: str, attributes: str = "") -> None:
        """Add text at a position, unless it is empty."""
        if text:
            attributes = attributes and f" {attributes}"
            self.texts.append(
                f'<text x="{_round(left)}" y="{_round(top)}"{attributes}>{escape(text, quote=False)}</text>'
            )


class _Scale:
    """A function from numbers to pixels; numbers outside the range are at its end."""

    def __init__(self, low: float, high: float, begin: float, end: float, logarithmic: bool) -> None:
        self.logarithmic = logarithmic and low > 0
        self.low, self.high = self.transform(low), self.transform(high)
        self.begin, self.end = begin, end

    def transform(self, number: float) -> float:
        """Return a number, or its logarithm on a logarithmic scale."""
        if not self.logarithmic:
            return number
        return log10(number) if number > 0 else -inf

    def __call__(self, number: float) -> float:
        if self.high == self.low:
            return (self.begin + self.end) / 2
        part = min(max((self.transform(number) - self.low) / (self.high - self.low), 0.0), 1.0)
        return self.begin + part * (self.end - self.begin)


def _find_colour(style: int) -> str:
    """Return the colour of a style."""
    return COLOURS[style % len(COLOURS)]


def _round(place: float) -> str:
    """Return a coordinate as text, to a tenth of a pixel."""
    return f"{round(place, 1) + 0.0:g}"


def _format_mark(mark: float, marks: Sequence[float]) -> str:
    """Return a number of an axis as text, in one notation for the whole axis."""
    sizes = [abs(number) for number in marks if number]
    if mark == 0 or (min(sizes) >= 1e-3 and max(sizes) < 1e5):
        return f"{mark:g}"
    power = floor(log10(abs(mark)) + 1e-9)
    return f"{mark / 10.0**power:.3g}e{power}"


def _split_title(title: str) -> list[str]:
    """Return a title on one line, or a long title on two lines of about equal length."""
    if len(title) * _LETTER_WIDTH <= _PANEL_WIDTH - _RIGHT:
        return [title]
    lines = wrap(title, len(title) // 2 + 4)
    return [lines[0], " ".join(lines[1:])]


def _shorten(text: str, width: float) -> str:
    """Return a text, or its part before the first comma if it does not fit."""
    return text if len(text) * _LETTER_WIDTH <= width else text.partition(",")[0]
