"""Rules as points: to the right by support, upwards by confidence, stronger in colour by lift; some have numbers.

A number is the place of a rule in the order that they have, as in the table of a page. Numbered are those of the first
ones that do not lie on another one with a number. What the numbers stand for is listed below the picture, so that
nothing is ever written over something else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ..results import Rules
from ._charts import Drawing, digits_of, ticks
from ._graph import NARROW, WIDE, laid_out, lift_legend, shade_of
from ._text import decimals, labels_of, percent, plain_itemset
from .colours import INK, PAPER, QUIET, RULE

POINTS, _NAMED = 400, 8
_FIRST = 20  # rules that may have a number: a table shows as many at least
_CLEAR = 21  # between the middles of two points with numbers
_HIGH, _LEFT, _RIGHT, _TOP, _BELOW = 300, 46, 16, 16, 40
_COLUMNS, _LONGEST = {WIDE: 90, NARROW: 40}, 120  # of a rule in the list, and of one that is pointed at


def scatter(rules: Rules, wide: int = WIDE) -> Drawing:
    """Return the first rules as points; a line through a point is the interval of its confidence."""
    drawn = rules[:POINTS]
    supports, confidences, lifts = (drawn.measure(one).tolist() for one in ("support", "confidence", "lift"))
    across = ticks(0.0, max([support for support in supports if math.isfinite(support)], default=0.0))
    room = wide - _LEFT - _RIGHT

    def place(support: float, confidence: float) -> tuple[float, float]:
        x, y = (min(max(part, 0.0), 1.0) if math.isfinite(part) else 0.0 for part in (support / across[-1], confidence))
        return _LEFT + room * x, _TOP + (_HIGH - _TOP) * (1 - y)

    names = names_of(drawn, _LONGEST)
    told = [
        f"{name}: support {percent(support, 2)}, confidence {percent(confidence)}, lift {lift:,.{decimals(lift, 2)}f}"
        for name, support, confidence, lift in zip(names, supports, confidences, lifts, strict=True)
    ]
    places = [place(*both) for both in zip(supports, confidences, strict=True)]
    numbers = _numbered(places)
    parts = [_axes(across, room)]
    # Those with a number are drawn last, so that others do not cover them.
    for at in sorted(range(len(drawn)), key=lambda at: (at in numbers, -at)):
        x, y = places[at]
        inside = ""
        if drawn.low is not None and drawn.high is not None:
            low, high = (place(supports[at], end)[1] for end in (drawn.low[at], drawn.high[at]))
            inside = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{QUIET}" opacity="0.45"/>'
        inside += _point(x, y, lifts[at], numbers.get(at))
        parts.append(f"<g><title>{escape(told[at])}</title>{inside}</g>")
    legend, rows = laid_out(lift_legend([lift for lift in lifts if not math.isnan(lift)]), wide, _HIGH + _BELOW + 14)
    top = _HIGH + _BELOW + 20 * rows + 16
    most = _COLUMNS.get(wide, _COLUMNS[WIDE])
    shown = names_of(drawn[: max(numbers, default=-1) + 1], most)
    listed = [f"{number}  {shown[at]}" for at, number in numbers.items()]
    parts += [legend, *(f'<text x="6" y="{top + 18 * at}">{escape(line)}</text>' for at, line in enumerate(listed))]
    return Drawing(
        title=f"{rules.kind.capitalize()} by support, confidence and lift",
        said="; ".join(told[:50]),
        inside="".join(parts),
        high=top + 18 * len(listed),
        wide=wide,
    )


def names_of(rules: Rules, most: int) -> list[str]:
    """Return each rule as one line of text."""
    sides = zip(labels_of(rules.antecedents, rules), labels_of(rules.consequents, rules), strict=True)
    return [f"{plain_itemset(left, most * 3 // 5)} → {plain_itemset(right, most * 2 // 5)}" for left, right in sides]


def _axes(across: Sequence[float], room: float) -> str:
    parts = []
    for mark in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _TOP + (_HIGH - _TOP) * (1 - mark)
        parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + room:.0f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{RULE}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{percent(mark, 0)}</text>')
    for mark in across:
        x = _LEFT + room * mark / across[-1]
        anchor = "end" if mark == across[-1] else "middle"
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HIGH}" stroke="{RULE}"/>')
        text = percent(mark, digits_of(across))
        parts.append(f'<text x="{x:.1f}" y="{_HIGH + 15}" text-anchor="{anchor}">{text}</text>')
    parts.append(f'<text x="{_LEFT - 6}" y="10">confidence</text>')
    parts.append(f'<text x="{_LEFT + room:.0f}" y="{_HIGH + 31}" text-anchor="end">support</text>')
    return f'<g fill="{QUIET}" font-size="11">{"".join(parts)}</g>'


def _numbered(places: Sequence[tuple[float, float]]) -> dict[int, int]:
    """Return which of the first points keep clear of each other, and their numbers, counted from 1."""
    found: dict[int, int] = {}
    for at, place in enumerate(places[:_FIRST]):
        if len(found) < _NAMED and all(math.dist(place, places[other]) >= _CLEAR for other in found):
            found[at] = at + 1
    return found


def _point(x: float, y: float, lift: float, number: int | None) -> str:
    colour = shade_of(lift)
    if number is None:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}" fill-opacity="0.85" stroke="{PAPER}"/>'
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8.5" fill="{PAPER}" stroke="{colour}" stroke-width="2.5"/>'
        f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" font-size="11" fill="{INK}">{number}</text>'
    )
