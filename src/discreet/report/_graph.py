"""The picture of what goes together: items as circles, released pairs as lines, released triples as shaded triangles.

Only what was released is drawn: no line is inferred from a triple, and an item whose own count was not has an empty
circle. There is a drawing for a page and a narrower one for a telephone; in neither do two labels touch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np
from numpy.typing import NDArray

from ..results import Patterns
from ._charts import HALO, Drawing
from ._layout import settle, spaced
from ._text import clean, decimals, labels_of, name, percent, plain_itemset, whole, wide_of
from .colours import INK, LIFTS, PALE, PAPER, QUIET, WARM, WARM_EDGE

WIDE, NARROW = 720, 350
_ITEMS, _PAIRS, _TRIPLES = 26, 45, 8
_NAMES = {WIDE: 24, NARROW: 17}  # columns of a label
_RING = 3  # from a circle to the ring around it, and between two rings
_LINE, _EDGE = 15, 6  # how high a label is, and what stays free at the sides
_ROOMY = 2.6  # times the area of all circles and labels that a picture has
# Lines by lift: up to which, the colour, and how it is called. Under 1 they are dashed as well.
SHADES = (
    (1.0, LIFTS[0], "under 1"),
    (2.0, LIFTS[1], "1 to 2"),
    (5.0, LIFTS[2], "2 to 5"),
    (math.inf, LIFTS[3], "over 5"),
)


def shade_of(lift: float) -> str:
    """Return the colour of a lift."""
    return next((colour for most, colour, _ in SHADES if lift < most), SHADES[-1][1])


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
        """The count of each item alone, where it is among the patterns."""
        alone = np.flatnonzero(self.patterns.sizes == 1) if self.patterns.counted else np.empty(0, np.int64)
        codes = self.patterns.codes[self.patterns.offsets[alone]].tolist()
        counts = dict(zip(codes, self.patterns.counts[alone].tolist(), strict=True))
        return {code: counts[code] for code in self.items if code in counts}

    @cached_property
    def radii(self) -> NDArray[np.float64]:
        """The radius of each item's circle: its area grows with the count."""
        most = max(self.single.values(), default=1)
        parts = [max(self.single.get(code, 0), 0) / max(most, 1) for code in self.items]
        return np.array([5 + 13 * math.sqrt(part) for part in parts])

    @cached_property
    def rings(self) -> list[int]:
        """The level of each item, as rings around its circle; none where all are on one."""
        hierarchy = self.patterns.hierarchy
        if hierarchy is None or not self.items:
            return [0] * len(self.items)
        held = self.patterns.vocabulary.take(np.array(self.items, np.int32)).to_pylist()
        levels = [hierarchy.heights.get(str(label), 0) for label in held]
        return levels if len(set(levels)) > 1 else [0] * len(levels)

    @cached_property
    def reach(self) -> NDArray[np.float64]:
        """How far each circle reaches, with its rings."""
        reach: NDArray[np.float64] = self.radii + _RING * np.array(self.rings)
        return reach

    def labels(self, most: int) -> list[str]:
        """Return the name of each item, in so many columns."""
        held = self.patterns.vocabulary.take(np.array(self.items, np.int32)).to_pylist()
        return [clean(name(label), most) for label in held]

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


def graph(picture: GraphPicture, wide: int = WIDE) -> Drawing:
    """Return the picture, so wide and as high as it needs to be; it has at least one pair or triple."""
    joined = [picture.nodes(place) for place in (*picture.pairs, *picture.triples)]
    links = sorted({(min(a, b), max(a, b)) for nodes in joined for a in nodes for b in nodes if a != b})
    labels = picture.labels(_NAMES.get(wide, _NAMES[WIDE]))
    # A circle and the label below it are one box, which no other box touches.
    half = np.maximum(picture.reach, [wide_of(label) / 2 for label in labels])
    boxes = np.column_stack([half, picture.reach, picture.reach + _LINE])
    room = wide - 2.0 * _EDGE
    area = _ROOMY * float((2 * half * (boxes[:, 1] + boxes[:, 2])).sum())
    across = min(room, 1.35 * math.sqrt(area))
    aside = (room - across) / 2
    frame = (aside + half.mean(), 0.0, room - aside - half.mean(), max(60.0, area / across - 40))
    at, deep = spaced(settle(len(picture.items), links, frame), boxes, room)
    points = (at + _EDGE).round(1).tolist()
    parts = [
        _triangle(nodes, [points[node] for node in nodes], picture.said(place))
        for place, nodes in ((place, picture.nodes(place)) for place in picture.triples)
    ]
    parts += [_line(picture, place, points) for place in picture.pairs]
    parts += [_circle(picture, node, point, labels[node]) for node, point in enumerate(points)]
    parts += [
        f'<text data-n="{node}" x="{x}" y="{y + picture.reach[node] + 12:.1f}" text-anchor="middle" {HALO}>'
        f"{escape(labels[node])}</text>"
        for node, (x, y) in enumerate(points)
    ]
    legend, rows = _legend(picture, wide, round(deep) + 2 * _EDGE + 18)
    said = "; ".join(picture.said(place) for place in (*picture.pairs, *picture.triples))
    high = round(deep) + 2 * _EDGE + (8 + 20 * rows if rows else 0)
    return Drawing(
        title="Items that were found together", said=said, inside="".join(parts) + legend, high=high, wide=wide
    )


def _triangle(nodes: Sequence[int], points: Sequence[Sequence[float]], said: str) -> str:
    corners = " ".join(f"{x},{y}" for x, y in points)
    return (
        f'<polygon data-n="{_named(nodes)}" points="{corners}" fill="{WARM}" fill-opacity="0.22" stroke="{WARM_EDGE}" '
        f'stroke-opacity="0.5" stroke-dasharray="2 4" stroke-linejoin="round"><title>{escape(said)}</title></polygon>'
    )


def _line(picture: GraphPicture, place: int, points: Sequence[Sequence[float]]) -> str:
    nodes = picture.nodes(place)
    (left, top), (right, bottom) = (points[node] for node in nodes)
    lift = picture.lift(place)
    colour = QUIET if lift is None else shade_of(lift)
    dashed = ' stroke-dasharray="6 4"' if lift is not None and lift < 1 else ""
    most = max(int(picture.patterns.counts[picture.pairs[0]]), 1)
    wide = 1.2 + 6 * max(int(picture.patterns.counts[place]), 0) / most
    return (
        f'<line data-n="{_named(nodes)}" x1="{left}" y1="{top}" x2="{right}" y2="{bottom}" stroke="{colour}" '
        f'stroke-width="{wide:.1f}"{dashed} stroke-linecap="round"><title>{escape(picture.said(place))}</title></line>'
    )


def _circle(picture: GraphPicture, node: int, point: Sequence[float], label: str) -> str:
    count = picture.single.get(picture.items[node])
    told = "its own count is not among the patterns" if count is None else _count(count, picture.patterns.people)
    fill = PAPER if count is None else PALE
    rings = "".join(
        f'<circle data-n="{node}" cx="{point[0]}" cy="{point[1]}" r="{picture.radii[node] + _RING * ring:.1f}" '
        f'fill="{PAPER}" stroke="{INK}" stroke-width="1.2"/>'
        for ring in range(picture.rings[node], 0, -1)
    )
    return rings + (
        f'<circle data-n="{node}" cx="{point[0]}" cy="{point[1]}" r="{picture.radii[node]:.1f}" fill="{fill}" '
        f'stroke="{INK}" stroke-width="1.2"><title>{escape(label)}: {told}</title></circle>'
    )


def _named(nodes: Sequence[int]) -> str:
    return " ".join(map(str, nodes))


def lift_legend(lifts: Sequence[float]) -> list[tuple[str, str]]:
    """Return marks and names of the lifts that occur."""
    least = -math.inf
    entries = []
    for most, colour, called in SHADES:
        if any(least <= lift < most or (most == math.inf and lift >= least) for lift in lifts):
            dashed = ' stroke-dasharray="6 4"' if most <= 1 else ""
            entries.append(
                (f'<line x1="0" x2="24" y1="-4" y2="-4" stroke="{colour}" stroke-width="4"{dashed}/>', called)
            )
        least = most
    if entries:
        mark, called = entries[0]
        entries[0] = (mark, f"lift {called}")
    return entries


def laid_out(entries: Sequence[tuple[str, str]], wide: int, top: int) -> tuple[str, int]:
    """Return a legend in as many rows as it needs, and how many these are."""
    parts, across, rows = [], _EDGE * 1.0, 0
    for mark, called in entries:
        taken = 30 + wide_of(called) + 14
        if not rows or across + taken > wide:
            across, rows = _EDGE * 1.0, rows + 1
        place = f"translate({across:.0f} {top + 20 * (rows - 1)})"
        parts.append(f'<g transform="{place}">{mark}<text x="30">{escape(called)}</text></g>')
        across += taken
    return (f'<g font-size="12" fill="{QUIET}">{"".join(parts)}</g>' if parts else ""), rows


def _legend(picture: GraphPicture, wide: int, top: int) -> tuple[str, int]:
    """Say what circles, lines and colours mean; only what occurs in the picture."""
    entries = lift_legend([lift for lift in map(picture.lift, picture.pairs) if lift is not None])
    if picture.triples:
        entries.append((f'<rect width="24" height="10" y="-9" fill="{WARM}" fill-opacity="0.35"/>', "three items"))
    if len(picture.single) < len(picture.items) and picture.patterns.counted:
        mark = f'<circle cx="12" cy="-4" r="5" fill="{PAPER}" stroke="{INK}"/>'
        entries.append((mark, "own count not listed"))
    hierarchy = picture.patterns.hierarchy
    for level in sorted(set(picture.rings)):
        if hierarchy is None or not any(picture.rings):
            break
        drawn = (
            f'<circle cx="12" cy="-4" r="{3 + 2 * ring}" fill="none" stroke="{INK}"/>' for ring in range(level + 1)
        )
        entries.append(("".join(drawn), clean(hierarchy.level_name(level), _NAMES[NARROW])))
    return laid_out(entries, wide, top)


def _codes(patterns: Patterns, place: int) -> list[int]:
    codes: list[int] = patterns.codes[patterns.offsets[place] : patterns.offsets[place + 1]].tolist()
    return codes


def _count(count: int, people: int) -> str:
    return whole(count) + (f" ({percent(min(count / people, 1))})" if people > 0 else "")
