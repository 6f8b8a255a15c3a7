"""Lines over a few public values, mostly budgets: the expected value of each mechanism at each budget.

The horizontal scale is logarithmic, so that each doubling is equally wide. Names stand at the ends of the lines, and
the important line has the strong colour, so that no legend is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._charts import PAGE_WIDTH
from ._slopes import spread_labels
from ._svg import HALO, Drawing, circle, element, join, line, text, titled
from ._text import count_text, percent
from .colours import INK, LIFTS, PAPER, QUIET, RULE

# Pixels: above and below the lines, the least height of the drawing, its left edge, and between two marks of the scale.
_HEAD, _FOOT, _MIN_HEIGHT = 40, 26, 210
_LEFT_EDGE, _MARK_GAP = 58, 34


@dataclass(frozen=True)
class DrawnLine:
    """One line: its label, its value at each budget (drawn only if finite), and whether it is important."""

    label: str
    values: tuple[float, ...]
    strong: bool = False


def draw_lines(rows: Sequence[DrawnLine], budgets: Sequence[float], *, title: str, below: str, share: bool) -> Drawing:
    r"""Return lines from left to right, one for each row.

    Parameters
    ----------
    rows
        The lines, each with one value per budget.
    budgets
        The places on the horizontal scale: rising numbers above 0.
    title, below
        The name of the vertical scale, and of the horizontal one.
    share
        Whether values are shares from 0 to 1; otherwise they are numbers above 0, on a logarithmic scale.

    Examples
    --------
    >>> drawing = draw_lines([DrawnLine("auto", (0.4, 0.9))], [0.5, 1], title="Found", below="epsilon", share=True)
    >>> drawing.description.replace("\u202f", " ")
    'auto: 40 % at 0.5, 90 % at 1'
    """
    label = max((len(row.label) for row in rows), default=0)
    right = PAGE_WIDTH - max(110, 30 + 7 * label)
    # Each label needs a row, so the drawing grows with the number of lines.
    height = max(_MIN_HEIGHT, _HEAD + _FOOT + 18 * len(rows))
    ends = [value for row in rows for value in row.values if math.isfinite(value) and (share or value > 0)]
    marks = (0.0, 0.25, 0.5, 0.75, 1.0) if share else _factors(min(ends, default=1.0), max(ends, default=1.0))
    log_start, log_stop = math.log(budgets[0]), math.log(budgets[-1])

    def x(value: float) -> float:
        return _LEFT_EDGE + (right - _LEFT_EDGE) * (
            (math.log(value) - log_start) / (log_stop - log_start) if log_stop > log_start else 0.5
        )

    def y(value: float) -> float:
        part = value if share else math.log(max(value, marks[0]) / marks[0]) / math.log(marks[-1] / marks[0])
        return _HEAD + (height - _HEAD - _FOOT) * (1 - part)

    def value_text(value: float) -> str:
        return percent(value, 0) if share else count_text(value)

    small = {"fill": QUIET, "font_size": 11}
    parts = [text(title, 6, 14, font_weight=600)]
    for mark in marks:
        parts.append(line(_LEFT_EDGE, y(mark), right, y(mark), stroke=RULE))
        parts.append(text(value_text(mark), _LEFT_EDGE - 8, y(mark) + 4, text_anchor="end", **small))
    for value in _select_marks(budgets, x):
        parts.append(text(f"{value:g}", x(value), height - 8, text_anchor="middle", **small))
    parts.append(text(below, right + 22, height - 8, **small))
    lines_drawn = [(row, _select_points(row, budgets, share)) for row in rows]
    lines_drawn = [(row, points) for row, points in lines_drawn if points]
    places = spread_labels([y(points[-1][1]) for _, points in lines_drawn], _HEAD - 22, height - _FOOT - 4)
    # Strong lines are drawn last, so that no weak line covers them.
    for row, points, place in sorted(
        ((row, points, place) for (row, points), place in zip(lines_drawn, places, strict=True)),
        key=lambda line: line[0].strong,
    ):
        colour, width = (LIFTS[2], "3") if row.strong else (QUIET, "1.5")
        point_texts = "; ".join(f"{value:g}: {value_text(height_value)}" for value, height_value in points)
        corners = [(x(value), y(height_value)) for value, height_value in points]
        route = "L".join(f"{corner_x:.1f} {corner_y:.1f}" for corner_x, corner_y in corners)
        leader = f"M{corners[-1][0]:.1f} {corners[-1][1]:.1f}L{right + 18} {place:.1f}"
        name_style = {"fill": INK, "font_weight": 600} if row.strong else {"fill": QUIET, "font_weight": 400}
        parts.append(
            titled(
                f"{row.label}: {point_texts}",
                element("path", d=f"M{route}", stroke=colour, stroke_width=width, fill="none", stroke_linejoin="round"),
                element("path", d=leader, stroke=RULE, fill="none"),
                *(circle(*corner, float(width) + 1, fill=colour, stroke=PAPER) for corner in corners),
                text(row.label, right + 22, place + 4, **name_style, **HALO),
            )
        )
    description = "; ".join(
        f"{row.label}: " + ", ".join(f"{value_text(height_value)} at {value:g}" for value, height_value in points)
        for row, points in lines_drawn
    )
    return Drawing(title=title, description=description, inside=join(parts), height=height, width=PAGE_WIDTH)


def _select_points(row: DrawnLine, budgets: Sequence[float], share: bool) -> list[tuple[float, float]]:
    pairs = zip(budgets, row.values, strict=True)
    return [(value, result) for value, result in pairs if math.isfinite(result) and (share or result > 0)]


def _select_marks(budgets: Sequence[float], x: Callable[[float], float]) -> list[float]:
    """Return the budgets with room for their numbers below the drawing."""
    # Budgets may lie close together on the scale, and overlapping numbers cannot be read.
    marks: list[float] = []
    for value in budgets:
        if not marks or x(value) - x(marks[-1]) >= _MARK_GAP:
            marks.append(value)
    return marks


def _factors(low: float, high: float) -> tuple[float, ...]:
    """Return round numbers above 0 that span low to high: powers of ten, over a short range also times 2 and 5.

    Examples
    --------
    >>> _factors(30, 900), _factors(3, 40_000)
    ((20.0, 50.0, 100.0, 200.0, 500.0, 1000.0), (1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0))
    """
    low_power, high_power = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if high_power - low_power <= 2 else (1,)
    marks = [step * 10.0**power for power in range(low_power, high_power + 1) for step in steps]
    start = max((mark for mark in marks if mark <= low), default=marks[0])
    stop = min((mark for mark in marks if mark >= high and mark > start), default=10 * marks[-1])
    return tuple(mark for mark in [*marks, 10 * marks[-1]] if start <= mark <= stop)
