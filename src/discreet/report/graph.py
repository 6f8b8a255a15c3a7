"""The picture of what goes together: items as circles, released pairs as lines, released triples as shaded triangles.

Only what was released is drawn: no line is inferred from a triple, and an item whose own count was not released has an
empty circle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np
from numpy.typing import NDArray

from ..results.patterns import Patterns
from .charts import INK, PALE, QUIET, svg
from .layout import beside, settle
from .text import clean, columns, decimals, labels_of, name, percent, plain_itemset, whole

_WIDE, _HIGH, _LEGEND = 720, 520, 44
_ITEMS, _PAIRS, _TRIPLES = 26, 45, 8
_NAME = 24  # columns of a label
_LETTER, _LINE = 6.6, 14  # the size of a letter
# Lines by lift: up to which, the colour, and how it is called. Under 1 they are dashed as well.
_SHADES = (
    (1.0, "#9a9a9a", "under 1"),
    (2.0, "#9cbdd2", "1 to 2"),
    (5.0, "#3d7ea6", "2 to 5"),
    (math.inf, "#123f5a", "over 5"),
)


@dataclass(frozen=True, eq=False)
class GraphPicture:
    """What is drawn of some patterns: codes of items, positions of pairs and triples, and how many had no room."""

    patterns: Patterns
    items: tuple[int, ...]
    pairs: tuple[int, ...]
    triples: tuple[int, ...]
    left_out: int

    @classmethod
    def of(cls, patterns: Patterns) -> GraphPicture:
        """Return the most frequent pairs and triples, as far as they fit."""
        sizes = patterns.sizes
        rooms = {2: _PAIRS, 3: _TRIPLES}
        items: dict[int, None] = {}
        kept: dict[int, list[int]] = {2: [], 3: []}
        for place in np.argsort(-patterns.counts, kind="stable").tolist():
            size = int(sizes[place])
            if size in kept and len(kept[size]) < rooms[size]:
                more = items | dict.fromkeys(_codes(patterns, place))
                if len(more) <= _ITEMS:
                    items = more
                    kept[size].append(place)
        possible = int(np.isin(sizes, (2, 3)).sum())
        pairs, triples = tuple(kept[2]), tuple(kept[3])
        return cls(patterns, tuple(items), pairs, triples, possible - len(pairs) - len(triples))

    @cached_property
    def single(self) -> dict[int, int]:
        """The released count of each item alone."""
        alone = np.flatnonzero(self.patterns.sizes == 1) if self.patterns.counted else np.empty(0, np.int64)
        codes = self.patterns.codes[self.patterns.offsets[alone]].tolist()
        counts = dict(zip(codes, self.patterns.counts[alone].tolist(), strict=True))
        return {code: counts[code] for code in self.items if code in counts}

    @cached_property
    def radii(self) -> NDArray[np.float64]:
        """The radius of each item's circle: its area grows with the count."""
        most = max(self.single.values(), default=1)
        parts = [max(self.single.get(code, 0), 0) / max(most, 1) for code in self.items]
        return np.array([5 + 15 * math.sqrt(part) for part in parts])

    @cached_property
    def labels(self) -> list[str]:
        """The name of each item, short enough for the picture."""
        held = self.patterns.vocabulary.take(np.array(self.items, np.int32)).to_pylist()
        return [clean(name(label), _NAME) for label in held]

    @property
    def high(self) -> int:
        """How high the picture is: few items need little of it."""
        return min(_HIGH, 190 + _LEGEND + 14 * len(self.items))

    def nodes(self, place: int) -> list[int]:
        """Return which circles a pattern joins."""
        return [self.items.index(code) for code in _codes(self.patterns, place)]

    def lift(self, place: int) -> float | None:
        """Return how much more often a pair was found than chance would have it, where its items were counted too."""
        one, other = (self.single.get(code, 0) for code in _codes(self.patterns, place))
        if one <= 0 or other <= 0 or self.patterns.people <= 0:
            return None
        return self.patterns.people * int(self.patterns.counts[place]) / (one * other)

    def said(self, place: int) -> str:
        """Return a pattern in words."""
        held = self.patterns[place : place + 1]
        text = plain_itemset(labels_of(held.itemsets, held)[0])
        if not self.patterns.counted:
            return text
        text += f": {_count(int(held.counts[0]), self.patterns.people)}"
        lift = self.lift(place) if len(held.codes) == 2 else None
        return text if lift is None else f"{text}, lift {lift:,.{decimals(lift, 2)}f}"


def graph(picture: GraphPicture, *, named: str = "graph") -> str:
    """Return the picture as SVG; it has at least one pair or triple."""
    joined = [picture.nodes(place) for place in (*picture.pairs, *picture.triples)]
    links = sorted({(min(a, b), max(a, b)) for nodes in joined for a in nodes for b in nodes if a != b})
    bottom = float(picture.high - _LEGEND)
    # Room for half a label at the sides and for one above and below; few items do not run to the far corners.
    aside = max(60.0, _WIDE / 2 - 45.0 * len(picture.items))
    frame = (aside, 30.0, _WIDE - aside, bottom - 30)
    at = settle(len(picture.items), links, picture.radii, frame)
    points = at.round(1).tolist()
    parts = [
        _triangle([points[node] for node in picture.nodes(place)], picture.said(place)) for place in picture.triples
    ]
    parts += [_line(picture, place, [points[node] for node in picture.nodes(place)]) for place in picture.pairs]
    parts += [_circle(picture, node, point) for node, point in enumerate(points)]
    sizes = [(_LETTER * columns(label), float(_LINE)) for label in picture.labels]
    middles = beside(at, picture.radii, links, sizes, (4.0, 4.0, _WIDE - 4.0, bottom))
    parts += [
        f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" stroke="#ffffff" stroke-width="3.5" '
        f'stroke-linejoin="round" paint-order="stroke">{escape(label)}</text>'
        for label, (x, y) in zip(picture.labels, middles, strict=True)
    ]
    parts.append(_legend(picture))
    said = "; ".join(picture.said(place) for place in (*picture.pairs, *picture.triples))
    size = f'viewBox="0 0 {_WIDE} {picture.high}" width="100%"'
    return svg(named, "Items that were found together", said, size, "".join(parts))


def _triangle(points: Sequence[Sequence[float]], said: str) -> str:
    corners = " ".join(f"{x},{y}" for x, y in points)
    return (
        f'<polygon points="{corners}" fill="#e8a33d" fill-opacity="0.22" stroke="#b87a1d" stroke-opacity="0.5" '
        f'stroke-dasharray="2 4" stroke-linejoin="round"><title>{escape(said)}</title></polygon>'
    )


def _line(picture: GraphPicture, place: int, ends: Sequence[Sequence[float]]) -> str:
    (left, top), (right, bottom) = ends
    lift = picture.lift(place)
    colour = QUIET if lift is None else next(shade for most, shade, _ in _SHADES if lift < most or most == math.inf)
    dashed = ' stroke-dasharray="6 4"' if lift is not None and lift < 1 else ""
    most = max(int(picture.patterns.counts[picture.pairs[0]]), 1)
    wide = 1.2 + 6 * max(int(picture.patterns.counts[place]), 0) / most
    return (
        f'<line x1="{left}" y1="{top}" x2="{right}" y2="{bottom}" stroke="{colour}" stroke-width="{wide:.1f}"{dashed} '
        f'stroke-linecap="round"><title>{escape(picture.said(place))}</title></line>'
    )


def _circle(picture: GraphPicture, node: int, point: Sequence[float]) -> str:
    count = picture.single.get(picture.items[node])
    told = "its own count was not released" if count is None else _count(count, picture.patterns.people)
    fill = "#ffffff" if count is None else PALE
    return (
        f'<circle cx="{point[0]}" cy="{point[1]}" r="{picture.radii[node]:.1f}" fill="{fill}" stroke="{INK}" '
        f'stroke-width="1.2"><title>{escape(picture.labels[node])}: {told}</title></circle>'
    )


def _legend(picture: GraphPicture) -> str:
    """Say what circles, lines and colours mean; only what occurs in the picture."""
    lifts = [lift for lift in map(picture.lift, picture.pairs) if lift is not None]
    least = -math.inf
    entries = []
    for most, colour, called in _SHADES:
        if any(least <= lift < most or (most == math.inf and lift >= least) for lift in lifts):
            dashed = ' stroke-dasharray="6 4"' if most <= 1 else ""
            entries.append(
                (f'<line x1="0" x2="24" y1="-4" y2="-4" stroke="{colour}" stroke-width="4"{dashed}/>', called)
            )
        least = most
    if entries:
        mark, called = entries[0]
        entries[0] = (mark, f"lift {called}")
    if picture.triples:
        entries.append(('<rect width="24" height="10" y="-9" fill="#e8a33d" fill-opacity="0.35"/>', "three items"))
    if len(picture.single) < len(picture.items) and picture.patterns.counted:
        entries.append((f'<circle cx="12" cy="-4" r="5" fill="#ffffff" stroke="{INK}"/>', "own count not released"))
    parts, across = [], 10.0
    for mark, called in entries:
        parts.append(
            f'<g transform="translate({across:.0f} {picture.high - 14})">{mark}<text x="30">{called}</text></g>'
        )
        across += 30 + _LETTER * len(called) + 18
    return f'<g font-size="12" fill="{QUIET}">{"".join(parts)}</g>'


def _codes(patterns: Patterns, place: int) -> list[int]:
    codes: list[int] = patterns.codes[patterns.offsets[place] : patterns.offsets[place + 1]].tolist()
    return codes


def _count(count: int, people: int) -> str:
    return whole(count) + (f" ({percent(min(count / people, 1))})" if people > 0 else "")
