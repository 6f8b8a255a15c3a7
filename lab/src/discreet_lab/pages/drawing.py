"""Drawings: panels of lines over an axis as SVG text, small enough to be kept beside the pages that show them.

The same values give the same bytes. Letters are text, marks are defined once, and everything of one line that stands in
several panels is drawn together, so that a figure of thirteen panels stays under 40 KB. What the numbers are is known
to `figures` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, inf, isfinite, log10
from textwrap import wrap

from discreet.report import QUIET, RULE, svg, ticks

# Colours that are told apart by people who see colours differently (Okabe and Ito), and by their marks in print.
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
_WIDE, _HIGH = 256, 132  # a panel from side to side, the box of its lines from top to bottom, and what surrounds that
_LEFT, _RIGHT, _ABOVE, _BELOW = 40, 12, 34, 40
_MARGIN = 20  # for what is said once, left of the first panel of a row
_LETTER = 6.0  # the width of a letter of the usual size, roughly


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line: what it is called, its number among all lines, and (place, mean, spread) from left to right."""

    label: str
    style: int
    points: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One panel.

    Parameters
    ----------
    title, across, up
        What stands above it, below it and to the left of it.
    curves
        Its lines.
    marks
        The numbers below the axis and how they are written.
    share
        Whether it goes from 0 to 1.
    logarithmic, logarithmic_up
        Which axes are.
    joined
        Whether points are joined; those of an axis that is not a number stand side by side.
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
        """The numbers left of the axis: from the first to the last everything is seen."""
        if self.share:
            return (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
        means = [mean for curve in self.curves for _, mean, _ in curve.points]
        if self.logarithmic_up:
            return decades([mean for mean in means if mean > 0])
        ends = [mean + sign * spread for curve in self.curves for _, mean, spread in curve.points for sign in (-1, 1)]
        # A spread reaches below 0 where no number does: nothing is drawn there.
        low = min(0.0, *ends) if any(mean < 0 for mean in means) else 0.0
        return ticks(low, max(0.0, *ends) if ends else 0.0)


@dataclass(frozen=True, kw_only=True)
class Group:
    """Panels that share their lines, with a legend above them."""

    panels: tuple[Panel, ...]
    heading: str = ""

    @property
    def legend(self) -> tuple[tuple[int, str], ...]:
        """The lines that are drawn anywhere in it, in order."""
        return tuple(sorted({(curve.style, curve.label) for panel in self.panels for curve in panel.curves}))


@dataclass(frozen=True, kw_only=True)
class FigureChart:
    """A figure: groups one below the other. `name` is a word that no other figure of a page has."""

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
    there = [number for number in numbers if isfinite(number)]
    if not there:
        return (0.1, 1.0)
    first, last = floor(log10(min(there)) + 1e-9), ceil(log10(max(there)) - 1e-9)
    if last - first > 1:
        step = ceil((last - first) / 5)
        return tuple(10.0**power for power in range(first, last + step, step))
    steps = [float(f"{factor}e{power}") for power in range(first - 1, last + 2) for factor in (1, 2, 5)]
    low = max(step for step in steps if step <= min(there))
    high = min(step for step in steps if step >= max(there) and step > low)
    return tuple(step for step in steps if low <= step <= high)


def draw_svg(chart: FigureChart) -> str:
    """Return a figure as SVG."""
    columns = min(chart.columns, max(len(group.panels) for group in chart.groups))
    width = _MARGIN + columns * _WIDE
    sheet = _Sheet(name=chart.name, width=width)
    for group in chart.groups:
        sheet.group(group, columns)
    names = [panel.title for group in chart.groups for panel in group.panels if panel.title]
    lines = dict.fromkeys(label for group in chart.groups for _, label in group.legend)
    said = f"Lines: {', '.join(lines)}." + (f" Panels: {'; '.join(names)}." if names else "")
    size = f'viewBox="0 0 {width} {sheet.top}" width="{width}" height="{sheet.top}"'
    return svg(chart.name, chart.title, said, size, "".join(sheet.parts())) + "\n"


class _Sheet:
    """Where a figure is drawn: what is behind, the letters, and everything of one style together."""

    def __init__(self, *, name: str, width: int) -> None:
        self.name, self.width, self.top = name, width, 6
        self.rules: list[str] = []
        self.texts: list[str] = []
        self.bands: dict[int, list[str]] = {}
        self.lines: dict[int, list[str]] = {}
        self.whiskers: dict[int, list[str]] = {}

    def parts(self) -> Iterator[str]:
        """Yield the drawing, from the back to the front."""
        yield f'<rect width="{self.width}" height="{self.top}" fill="#ffffff"/><defs>'
        for style in sorted(self.lines):
            mark = _MARKS[style % len(_MARKS)]
            yield f'<marker id="{self.mark(style)}" viewBox="-5 -5 10 10" markerWidth="10" markerHeight="10" '
            yield f'markerUnits="userSpaceOnUse"><path d="{mark}" fill="{_colour(style)}" stroke="none"/></marker>'
        yield f'</defs><path d="{"".join(self.rules)}" stroke="{RULE}" fill="none"/>'
        for style, bands in sorted(self.bands.items()):
            yield f'<path fill="{_colour(style)}" fill-opacity="0.12" d="{"".join(bands)}"/>'
        for style, whiskers in sorted(self.whiskers.items()):
            yield f'<path stroke="{_colour(style)}" d="{"".join(whiskers)}"/>'
        for style, lines in sorted(self.lines.items()):
            mark = f"url(#{self.mark(style)})"
            dash = ' stroke-dasharray="4 3"' if style >= len(COLOURS) else ""
            yield f'<g fill="none" stroke="{_colour(style)}" stroke-width="1.4"{dash} '
            yield f'marker-start="{mark}" marker-mid="{mark}" marker-end="{mark}">'
            yield "".join(f'<path d="{line}"/>' for line in lines) + "</g>"
        yield f'<g font-size="11">{"".join(self.texts)}</g>'

    def mark(self, style: int) -> str:
        return f"{escape(self.name)}-{style}"

    def group(self, group: Group, columns: int) -> None:
        """Draw what lines are called, and the panels row by row."""
        if group.heading:
            self.text(10, self.top + 16, group.heading, 'font-size="13" font-weight="bold"')
            self.top += 24
        left = 14.0
        for style, label in group.legend:
            wide = 34 + _LETTER * len(label) + 10
            if left > 14 and left + wide > self.width:
                left, self.top = 14.0, self.top + 18
            self.lines.setdefault(style, []).append(f"M{left:g} {self.top + 10}h11h11")
            self.text(left + 30, self.top + 14, label)
            left += wide
        self.top += 24
        for first in range(0, len(group.panels), columns):
            for place, panel in enumerate(group.panels[first : first + columns]):
                self.panel(panel, _MARGIN + place * _WIDE + _LEFT, self.top + _ABOVE)
            self.top += _ABOVE + _HIGH + _BELOW

    def panel(self, panel: Panel, left: float, top: float) -> None:
        """Draw one panel with its axes; `left` and `top` are where its lines begin."""
        right, bottom = left + _WIDE - _LEFT - _RIGHT, top + _HIGH
        title = _halved(panel.title)
        for number, line in enumerate(title):
            self.text((left + right) / 2, top - 8 - 13 * (len(title) - 1 - number), line, 'text-anchor="middle"')
        ups = panel.up_marks
        up = _Scale(ups[0], ups[-1], bottom, top, panel.logarithmic_up)
        for mark in ups:
            self.rules.append(f"M{left:g} {_at(up(mark))}H{right:g}")
            self.text(left - 5, up(mark) + 3.5, _written(mark, ups), f'text-anchor="end" fill="{QUIET}"')
        places = [place for place, _ in panel.marks] or [0.0]
        room = 10 if panel.joined else (right - left) / (2 * len(places))
        across = _Scale(min(places), max(places), left + room, right - room, panel.logarithmic)
        reached = -inf
        for place, mark_text in panel.marks:
            at, half = across(place), 3.0 * len(mark_text)
            self.rules.append(f"M{_at(at)} {bottom:g}v4")
            if at - half > reached:
                self.text(at, bottom + 15, mark_text, f'text-anchor="middle" fill="{QUIET}"')
                reached = at + half + 3
        self.rules.append(f"M{left:g} {bottom:g}H{right:g}")
        self.text((left + right) / 2, bottom + 29, panel.across, 'text-anchor="middle"')
        if left == _MARGIN + _LEFT:
            turned = f'text-anchor="middle" transform="rotate(-90 14 {(top + bottom) / 2:g})"'
            self.text(14, (top + bottom) / 2, _short(panel.up, _HIGH + _ABOVE), turned)
        step = min(8.0, 1.6 * room / len(panel.curves)) if panel.curves else 0.0
        for number, curve in enumerate(panel.curves):
            aside = 0.0 if panel.joined else step * (number - (len(panel.curves) - 1) / 2)
            drawn = [
                (across(place) + aside, up(mean), up(mean - spread), up(mean + spread))
                for place, mean, spread in curve.points
                if isfinite(mean) and (mean > 0 or not panel.logarithmic_up)
            ]
            if drawn:
                self.curve(curve.style, drawn, panel.joined)

    def curve(self, style: int, drawn: list[tuple[float, float, float, float]], joined: bool) -> None:
        """Draw one line of one panel: places from the left and of mean, low and high from the top."""
        lines = self.lines.setdefault(style, [])
        if not joined or len(drawn) == 1:
            lines += [f"M{_at(place)} {_at(mean)}h0" for place, mean, _, _ in drawn]
            ends = [f"M{_at(place)} {_at(low)}V{_at(high)}" for place, _, low, high in drawn if _at(low) != _at(high)]
            self.whiskers.setdefault(style, []).extend(ends)
            return
        lines.append("M" + "L".join(f"{_at(place)} {_at(mean)}" for place, mean, _, _ in drawn))
        if any(_at(low) != _at(high) for _, _, low, high in drawn):
            there = [f"{_at(place)} {_at(high)}" for place, _, _, high in drawn]
            back = [f"{_at(place)} {_at(low)}" for place, _, low, _ in reversed(drawn)]
            self.bands.setdefault(style, []).append("M" + "L".join([*there, *back]) + "Z")

    def text(self, left: float, top: float, words: str, how: str = "") -> None:
        if words:
            how = how and f" {how}"
            self.texts.append(f'<text x="{_at(left)}" y="{_at(top)}"{how}>{escape(words, quote=False)}</text>')


class _Scale:
    """From numbers to places; what lies outside stands at the end."""

    def __init__(self, low: float, high: float, begin: float, end: float, logarithmic: bool) -> None:
        self.logarithmic = logarithmic and low > 0
        self.low, self.high = self.of(low), self.of(high)
        self.begin, self.end = begin, end

    def of(self, number: float) -> float:
        if not self.logarithmic:
            return number
        return log10(number) if number > 0 else -inf

    def __call__(self, number: float) -> float:
        if self.high == self.low:
            return (self.begin + self.end) / 2
        part = min(max((self.of(number) - self.low) / (self.high - self.low), 0.0), 1.0)
        return self.begin + part * (self.end - self.begin)


def _colour(style: int) -> str:
    return COLOURS[style % len(COLOURS)]


def _at(place: float) -> str:
    """Return a place to a tenth of a point."""
    return f"{round(place, 1) + 0.0:g}"


def _written(mark: float, marks: Sequence[float]) -> str:
    """Return a number of an axis as it is written: one way for all of them."""
    sizes = [abs(one) for one in marks if one]
    if mark == 0 or (min(sizes) >= 1e-3 and max(sizes) < 1e5):
        return f"{mark:g}"
    power = floor(log10(abs(mark)) + 1e-9)
    return f"{mark / 10.0**power:.3g}e{power}"


def _halved(words: str) -> list[str]:
    """Return a title on one line, or on two of about the same length where it is long."""
    if len(words) * _LETTER <= _WIDE - _RIGHT:
        return [words]
    lines = wrap(words, len(words) // 2 + 4)
    return [lines[0], " ".join(lines[1:])]


def _short(words: str, room: float) -> str:
    """Return words that fit: up to the first comma where all do not."""
    return words if len(words) * _LETTER <= room else words.partition(",")[0]
