"""Rules as points: to the right by support, upwards by confidence, stronger in colour by lift.

Some of the first points have a number, the row of the rule in the table of a page. A point too near to a numbered
point has no number. The rules of the numbers are listed below the picture, so that no text covers another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from ..results import Rules
from ._charts import PAGE_WIDTH, PHONE_WIDTH, digits_of, ticks
from ._graph import lay_out_legend, lift_legend, shade_of
from ._svg import Drawing, circle, element, join, line, text, titled
from ._text import labels_of, lift_text, percent, plain_itemset
from .colours import INK, PAPER, QUIET, RULE

POINTS = 400  # drawn at most. More: a larger page with overlapping points
_NUMBERED_POINTS = 8  # listed below the picture
_NUMBERED_ROWS = 20  # rules that may have a number: a table shows as many at least
_POINT_GAP = 21  # pixels between the middles of two points with numbers
_BOTTOM, _LEFT_EDGE, _RIGHT_EDGE, _TOP, _SCALE_HEIGHT = 300, 46, 16, 16, 40  # pixels
_LIST_COLUMNS, _TIP_COLUMNS = {PAGE_WIDTH: 90, PHONE_WIDTH: 40}, 120  # of a rule in the list, and in a tip


def draw_scatter(rules: Rules, width: int = PAGE_WIDTH) -> Drawing:
    """Return the first rules as points; a line through a point is the interval of its confidence."""
    # The first rules are the surest, as rules are sorted by confidence.
    points = rules[:POINTS]
    supports, confidences, lifts = (points.measure(measure).tolist() for measure in ("support", "confidence", "lift"))
    marks = ticks(0.0, max([support for support in supports if math.isfinite(support)], default=0.0))
    room = width - _LEFT_EDGE - _RIGHT_EDGE

    def place(support: float, confidence: float) -> tuple[float, float]:
        x, y = (min(max(part, 0.0), 1.0) if math.isfinite(part) else 0.0 for part in (support / marks[-1], confidence))
        return _LEFT_EDGE + room * x, _TOP + (_BOTTOM - _TOP) * (1 - y)

    names = rule_texts(points, _TIP_COLUMNS)
    descriptions = [
        f"{name}: support {percent(support, 2)}, confidence {percent(confidence)}, lift {lift_text(lift)}"
        for name, support, confidence, lift in zip(names, supports, confidences, lifts, strict=True)
    ]
    places = [place(*values) for values in zip(supports, confidences, strict=True)]
    numbers = _number_points(places)
    parts = [_axes(marks, room)]
    # Points with a number are drawn last, so that no other point covers them.
    for index in sorted(range(len(points)), key=lambda index: (index in numbers, -index)):
        x, y = places[index]
        inside = []
        if points.low is not None and points.high is not None:
            low, high = (place(supports[index], end)[1] for end in (points.low[index], points.high[index]))
            inside.append(line(x, low, x, high, stroke=QUIET, opacity="0.45"))
        parts.append(titled(descriptions[index], *inside, _point(x, y, lifts[index], numbers.get(index))))
    legend, legend_rows = lay_out_legend(
        lift_legend([lift for lift in lifts if not math.isnan(lift)]), width, _BOTTOM + _SCALE_HEIGHT + 14
    )
    top = _BOTTOM + _SCALE_HEIGHT + 20 * legend_rows + 16
    columns = _LIST_COLUMNS.get(width, _LIST_COLUMNS[PAGE_WIDTH])
    listed_names = rule_texts(points[: max(numbers, default=-1) + 1], columns)
    listed = [f"{number}  {listed_names[index]}" for index, number in numbers.items()]
    parts += [legend, *(text(words, 6, top + 18 * index) for index, words in enumerate(listed))]
    return Drawing(
        title=f"{rules.kind.capitalize()} by support, confidence and lift",
        description="; ".join(descriptions[:50]),
        inside=join(parts),
        height=top + 18 * len(listed),
        width=width,
    )


def rule_texts(rules: Rules, max_columns: int) -> list[str]:
    """Return each rule as one line of text."""
    sides = zip(labels_of(rules.antecedents, rules), labels_of(rules.consequents, rules), strict=True)
    return [
        f"{plain_itemset(left_labels, max_columns * 3 // 5)} → {plain_itemset(right_labels, max_columns * 2 // 5)}"
        for left_labels, right_labels in sides
    ]


def _axes(marks: Sequence[float], room: float) -> Markup:
    """Return the lines of both scales with their numbers and names."""
    right, digits = f"{_LEFT_EDGE + room:.0f}", digits_of(marks)
    parts = []
    for mark in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _TOP + (_BOTTOM - _TOP) * (1 - mark)
        parts.append(line(_LEFT_EDGE, y, right, y, stroke=RULE))
        parts.append(text(percent(mark, 0), _LEFT_EDGE - 6, y + 4, text_anchor="end"))
    for mark in marks:
        x = _LEFT_EDGE + room * mark / marks[-1]
        parts.append(line(x, _TOP, x, _BOTTOM, stroke=RULE))
        anchor = "end" if mark == marks[-1] else "middle"
        parts.append(text(percent(mark, digits), x, _BOTTOM + 15, text_anchor=anchor))
    parts.append(text("confidence", _LEFT_EDGE - 6, 10))
    parts.append(text("support", right, _BOTTOM + 31, text_anchor="end"))
    return element("g", *parts, fill=QUIET, font_size=11)


def _number_points(places: Sequence[tuple[float, float]]) -> dict[int, int]:
    """Return the numbers, from 1 on, of the first points that do not overlap, by their index."""
    numbers: dict[int, int] = {}
    for index, place in enumerate(places[:_NUMBERED_ROWS]):
        if len(numbers) < _NUMBERED_POINTS and all(
            math.dist(place, places[numbered_index]) >= _POINT_GAP for numbered_index in numbers
        ):
            numbers[index] = index + 1
    return numbers


def _point(x: float, y: float, lift: float, number: int | None) -> Markup:
    colour = shade_of(lift)
    if number is None:
        return circle(x, y, 4.5, fill=colour, fill_opacity="0.85", stroke=PAPER)
    ring = circle(x, y, 8.5, fill=PAPER, stroke=colour, stroke_width="2.5")
    return ring + text(number, x, y + 4, text_anchor="middle", font_size=11, fill=INK)
