"""The graph of items that occur together: items as circles, released pairs as lines, released triples as triangles.

Only released patterns are drawn: no line is inferred from a triple, and an item without a released count has an empty
circle. One drawing is for a page and a narrower one for a telephone; no two labels touch in either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ..results import Patterns
from ._charts import PAGE_WIDTH, PHONE_WIDTH
from ._layout import separate_boxes, settle_nodes
from ._svg import HALO, Drawing, circle, element, join, line, text
from ._text import clean, count_text, item_text, labels_of, lift_text, percent, plain_itemset, text_width
from .colours import INK, LIFTS, PALE, PAPER, QUIET, WARM, WARM_EDGE

# The largest numbers of items, pairs and triples. More: lines overlap; fewer: less of the result is seen.
_ITEMS, _PAIRS, _TRIPLES = 26, 45, 8
_LABEL_COLUMNS = {PAGE_WIDTH: 24, PHONE_WIDTH: 17}
_RING = 3  # pixels from a circle to the ring around it, and between two rings
_LABEL_HEIGHT, _EDGE = 15, 6  # pixels of a label, and of the free margin at the sides
# The area of a picture by the area of its circles and labels. Larger: longer lines; smaller: more collisions.
_AREA_FACTOR = 2.6
# Lines by lift: the end of its range, the colour, and its name in the legend. Lines below 1 are dashed as well.
SHADES = (
    (1.0, LIFTS[0], "under 1"),
    (2.0, LIFTS[1], "1 to 2"),
    (5.0, LIFTS[2], "2 to 5"),
    (math.inf, LIFTS[3], "over 5"),
)


def shade_of(lift: float) -> str:
    """Return the colour of a lift."""
    return next((colour for range_end, colour, _ in SHADES if lift < range_end), SHADES[-1][1])


@dataclass(frozen=True, eq=False)
class GraphPicture:
    """The parts of a graph: codes of items, rows of the patterns of two and three items, and the number left out."""

    patterns: Patterns
    items: tuple[int, ...]
    pairs: tuple[int, ...]
    triples: tuple[int, ...]
    left_out: int

    @classmethod
    def of(cls, patterns: Patterns) -> GraphPicture:
        """Return the most frequent pairs and triples up to the limits."""
        sizes = patterns.sizes
        limits = {2: _PAIRS, 3: _TRIPLES}
        # A dictionary keeps the order of discovery: the most frequent items have the smallest numbers.
        items: dict[int, None] = {}
        chosen_rows: dict[int, list[int]] = {2: [], 3: []}
        for row in np.argsort(-patterns.counts, kind="stable").tolist():
            size = int(sizes[row])
            if size in chosen_rows and len(chosen_rows[size]) < limits[size]:
                with_pattern = items | dict.fromkeys(_codes(patterns, row))
                if len(with_pattern) <= _ITEMS:
                    items = with_pattern
                    chosen_rows[size].append(row)
        possible = int(np.isin(sizes, (2, 3)).sum())
        pairs, triples = tuple(chosen_rows[2]), tuple(chosen_rows[3])
        return cls(patterns, tuple(items), pairs, triples, possible - len(pairs) - len(triples))

    @cached_property
    def single(self) -> dict[int, int]:
        """Return the count of each item alone, by its code, for items among the patterns."""
        rows = np.flatnonzero(self.patterns.sizes == 1) if self.patterns.counted else np.empty(0, np.int64)
        codes = self.patterns.codes[self.patterns.offsets[rows]].tolist()
        counts = dict(zip(codes, self.patterns.counts[rows].tolist(), strict=True))
        return {code: counts[code] for code in self.items if code in counts}

    @cached_property
    def radii(self) -> NDArray[np.float64]:
        """Return the radius in pixels of each item's circle: its area grows with the count."""
        largest_count = max(self.single.values(), default=1)
        # Noisy counts may be negative, and a circle has no negative area.
        parts = [max(self.single.get(code, 0), 0) / max(largest_count, 1) for code in self.items]
        return np.array([5 + 13 * math.sqrt(part) for part in parts])

    @cached_property
    def rings(self) -> list[int]:
        """Return the level of each item, drawn as rings around its circle; zeros where all are on one level."""
        hierarchy = self.patterns.hierarchy
        if hierarchy is None or not self.items:
            return [0] * len(self.items)
        labels = self.patterns.vocabulary.take(np.array(self.items, np.int32)).to_pylist()
        levels = [hierarchy.heights.get(str(label), 0) for label in labels]
        return levels if len(set(levels)) > 1 else [0] * len(levels)

    @cached_property
    def reach(self) -> NDArray[np.float64]:
        """Return the radius in pixels of each circle with its rings."""
        reach: NDArray[np.float64] = self.radii + _RING * np.array(self.rings)
        return reach

    def labels(self, max_columns: int) -> list[str]:
        """Return the name of each item, cut to a number of columns."""
        labels = self.patterns.vocabulary.take(np.array(self.items, np.int32)).to_pylist()
        return [clean(item_text(label), max_columns) for label in labels]

    def nodes(self, row: int) -> list[int]:
        """Return the numbers of the circles that a pattern joins."""
        return [self.items.index(code) for code in _codes(self.patterns, row)]

    def lift(self, row: int) -> float | None:
        """Return the lift of a pair: its count by the count of independent items; None where an item has no count."""
        left_count, right_count = (self.single.get(code, 0) for code in _codes(self.patterns, row))
        if left_count <= 0 or right_count <= 0 or self.patterns.people <= 0:
            return None
        return self.patterns.people * int(self.patterns.counts[row]) / (left_count * right_count)

    @cached_property
    def lifts(self) -> list[float]:
        """Return the known lifts of the drawn pairs."""
        return [lift for lift in map(self.lift, self.pairs) if lift is not None]

    def describe(self, row: int) -> str:
        """Return a pattern in words, with its count and the lift of a pair."""
        pattern = self.patterns[row : row + 1]
        name = plain_itemset(labels_of(pattern.itemsets, pattern)[0])
        if not self.patterns.counted:
            return name
        lift = self.lift(row) if len(pattern.codes) == 2 else None
        lift_part = "" if lift is None else f", lift {lift_text(lift)}"
        return f"{name}: {_count(int(pattern.counts[0]), self.patterns.people)}{lift_part}"


def draw_graph(picture: GraphPicture, width: int = PAGE_WIDTH) -> Drawing:
    """Return the graph with a width in pixels, and the height that it needs; it has at least one pair or triple."""
    node_lists = [picture.nodes(row) for row in (*picture.pairs, *picture.triples)]
    links = sorted({(min(a, b), max(a, b)) for nodes in node_lists for a in nodes for b in nodes if a != b})
    labels = picture.labels(_LABEL_COLUMNS.get(width, _LABEL_COLUMNS[PAGE_WIDTH]))
    # A circle and the label below it are one box, which no other box touches.
    half = np.maximum(picture.reach, [text_width(label) / 2 for label in labels])
    boxes = np.column_stack([half, picture.reach, picture.reach + _LABEL_HEIGHT])
    room = width - 2.0 * _EDGE
    # The area follows from the boxes, so that few items make a small picture and many a large one.
    area = _AREA_FACTOR * float((2 * half * (boxes[:, 1] + boxes[:, 2])).sum())
    used_width = min(room, 1.35 * math.sqrt(area))
    margin = (room - used_width) / 2
    frame = (margin + half.mean(), 0.0, room - margin - half.mean(), max(60.0, area / used_width - 40))
    places, depth = separate_boxes(settle_nodes(len(picture.items), links, frame), boxes, room)
    points = (places + _EDGE).round(1).tolist()
    parts = [
        _triangle(nodes, [points[node] for node in nodes], picture.describe(row))
        for row, nodes in ((row, picture.nodes(row)) for row in picture.triples)
    ]
    parts += [_line(picture, row, points) for row in picture.pairs]
    parts += [_circle(picture, node, point, labels[node]) for node, point in enumerate(points)]
    parts += [
        text(labels[node], x, y + picture.reach[node] + 12, data_n=node, text_anchor="middle", **HALO)
        for node, (x, y) in enumerate(points)
    ]
    legend, legend_rows = _legend(picture, width, round(depth) + 2 * _EDGE + 18)
    description = "; ".join(picture.describe(row) for row in (*picture.pairs, *picture.triples))
    height = round(depth) + 2 * _EDGE + (8 + 20 * legend_rows if legend_rows else 0)
    return Drawing(
        title="Items that were found together",
        description=description,
        inside=join([*parts, legend]),
        height=height,
        width=width,
    )


def _triangle(nodes: Sequence[int], points: Sequence[Sequence[float]], description: str) -> Markup:
    """Return the shaded triangle of a triple."""
    return element(
        "polygon",
        element("title", description),
        data_n=_node_names(nodes),
        points=" ".join(f"{x},{y}" for x, y in points),
        fill=WARM,
        fill_opacity="0.22",
        stroke=WARM_EDGE,
        stroke_opacity="0.5",
        stroke_dasharray="2 4",
        stroke_linejoin="round",
    )


def _line(picture: GraphPicture, row: int, points: Sequence[Sequence[float]]) -> Markup:
    """Return the line of a pair: the thicker, the larger its count."""
    nodes = picture.nodes(row)
    lift = picture.lift(row)
    largest_count = max(int(picture.patterns.counts[picture.pairs[0]]), 1)
    start, stop = (points[node] for node in nodes)
    return line(
        *start,
        *stop,
        element("title", picture.describe(row)),
        data_n=_node_names(nodes),
        stroke=QUIET if lift is None else shade_of(lift),
        stroke_width=1.2 + 6 * max(int(picture.patterns.counts[row]), 0) / largest_count,
        stroke_dasharray="6 4" if lift is not None and lift < 1 else None,
        stroke_linecap="round",
    )


def _circle(picture: GraphPicture, node: int, point: Sequence[float], label: str) -> Markup:
    """Return the circle of an item with its rings."""
    count = picture.single.get(picture.items[node])
    description = "its own count is not among the patterns" if count is None else _count(count, picture.patterns.people)
    style = {"data_n": node, "stroke": INK, "stroke_width": "1.2"}
    rings = [
        circle(*point, picture.radii[node] + _RING * ring, fill=PAPER, **style)
        for ring in range(picture.rings[node], 0, -1)
    ]
    title = element("title", f"{label}: {description}")
    return join([*rings, circle(*point, picture.radii[node], title, fill=PAPER if count is None else PALE, **style)])


def _node_names(nodes: Sequence[int]) -> str:
    return " ".join(map(str, nodes))


def lift_legend(lifts: Sequence[float]) -> list[tuple[Markup, str]]:
    """Return the legend entries, as marks and labels, of the lifts that occur."""
    range_start = -math.inf
    entries: list[tuple[Markup, str]] = []
    for range_end, colour, label in SHADES:
        if any(range_start <= lift < range_end or (range_end == math.inf and lift >= range_start) for lift in lifts):
            dashes = "6 4" if range_end <= 1 else None
            mark = line(0, -4, 24, -4, stroke=colour, stroke_width=4, stroke_dasharray=dashes)
            entries.append((mark, label if entries else f"lift {label}"))
        range_start = range_end
    return entries


def lay_out_legend(entries: Sequence[tuple[Markup, str]], width: int, top: int) -> tuple[Markup, int]:
    """Return a legend as markup, in rows of a width, and the number of rows."""
    parts, x, rows = [], _EDGE * 1.0, 0
    for mark, label in entries:
        entry_width = 30 + text_width(label) + 14
        if not rows or x + entry_width > width:
            x, rows = _EDGE * 1.0, rows + 1
        place = f"translate({x:.0f} {top + 20 * (rows - 1)})"
        parts.append(element("g", mark, element("text", label, x=30), transform=place))
        x += entry_width
    return (element("g", *parts, font_size=12, fill=QUIET) if parts else Markup()), rows


def _legend(picture: GraphPicture, width: int, top: int) -> tuple[Markup, int]:
    """Return the legend of circles, lines and colours that occur in the picture."""
    entries = lift_legend(picture.lifts)
    if picture.triples:
        area = element("rect", width=24, height=10, y=-9, fill=WARM, fill_opacity="0.35")
        entries.append((area, "three items"))
    if len(picture.single) < len(picture.items) and picture.patterns.counted:
        entries.append((circle(12, -4, 5, fill=PAPER, stroke=INK), "own count not listed"))
    hierarchy = picture.patterns.hierarchy
    for level in sorted(set(picture.rings)):
        if hierarchy is None or not any(picture.rings):
            break
        circles = (circle(12, -4, 3 + 2 * ring, fill="none", stroke=INK) for ring in range(level + 1))
        entries.append((join(circles), clean(hierarchy.level_name(level), _LABEL_COLUMNS[PHONE_WIDTH])))
    return lay_out_legend(entries, width, top)


def _codes(patterns: Patterns, row: int) -> list[int]:
    codes: list[int] = patterns.codes[patterns.offsets[row] : patterns.offsets[row + 1]].tolist()
    return codes


def _count(count: int, people: int) -> str:
    return count_text(count) + (f" ({percent(min(count / people, 1))})" if people > 0 else "")
