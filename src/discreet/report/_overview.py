"""The page of several segments: the patterns of each side by side, with links to the report of each segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from ..baskets import Item
from ..results import Patterns, Provenance
from ._charts import draw_bars, reach
from ._contents import contents_of
from ._frame import render_page
from ._page import typical_margin
from ._plots import bars_of
from ._svg import Drawing
from ._tables import TableColumn, table
from ._text import clean, count_text, itemset, percent, plain_itemset

_TABLE_ROWS = 30  # patterns in the table of all segments. More: a longer page; the reports have all
_DRAWN_PATTERNS = 3  # patterns drawn for every segment


@dataclass(frozen=True)
class SegmentPage:
    """One segment: its name, the address of its report, and its released patterns."""

    name: str
    place: str
    patterns: Patterns


def overview(pages: Sequence[SegmentPage], title: str) -> str:
    """Return the page above the reports of several segments (at least one)."""
    patterns = pages[0].patterns
    contents = contents_of(patterns, title)
    # The question of all segments names no segment, and no mechanism that was chosen for one segment.
    question = {name: value for name, value in contents.question.items() if name != "Segment"}
    # The mechanism that `auto` chose may differ from segment to segment, so it is not named.
    mechanism = (patterns.provenance or Provenance()).mechanism or ""
    contents = replace(contents, question=question, mechanism=mechanism)
    counted_pages = [page for page in pages if page.patterns.counted and page.patterns.people > 0]
    return render_page(
        "report/templates/overview.html.jinja",
        title=title,
        figures={
            "Segments": count_text(len(pages)),
            "Patterns": count_text(sum(len(page.patterns) for page in pages)),
        },
        status=contents.status,
        version=contents.version,
        contents=contents,
        guarantee=contents.guarantee,
        charges="",  # the reports of the segments have the tables of their charges
        pages=pages,
        segment_table=_segment_table(pages),
        support_table=_support_table(counted_pages),
        charts=_draw_patterns(counted_pages),
    )


def _segment_table(pages: Sequence[SegmentPage]) -> Markup:
    """Return the table of the segments, with links to their reports."""
    heads = [Markup('<a href="{}">{}</a>').format(page.place, clean(page.name)) for page in pages]
    people = [page.patterns.people for page in pages]
    pattern_counts = [len(page.patterns) for page in pages]
    columns = [
        TableColumn.of(pages[0].patterns.unit.capitalize(), people, count_text),
        TableColumn.of("Patterns", pattern_counts, count_text),
    ]
    margins = [typical_margin(page.patterns) for page in pages]
    if any(margins):
        columns.append(TableColumn("Typical margin", [margin or "–" for margin in margins]))
    caption = "Each segment has a report of its own: follow its name."
    if any(page.patterns.people_within is not None for page in pages):
        caption += f" The numbers of {pages[0].patterns.unit} carry noise too."
    return table("Segment", heads, columns, caption)


def _supports_by_pattern(pages: Sequence[SegmentPage]) -> dict[frozenset[Item], list[float]]:
    """Return the support of each pattern in every segment, nan if it is not listed; the largest sums first."""
    # By itemset and not by code: each segment has its own vocabulary.
    supports: dict[frozenset[Item], list[float]] = {}
    for index, page in enumerate(pages):
        for pattern in page.patterns:
            support = math.nan if pattern.support is None else pattern.support
            supports.setdefault(pattern.items, [math.nan] * len(pages))[index] = support
    return dict(sorted(supports.items(), key=lambda row: -sum(value for value in row[1] if not math.isnan(value))))


def _support_table(pages: Sequence[SegmentPage]) -> Markup | str:
    """Return the table of the supports of the most frequent patterns in all segments."""
    supports = _supports_by_pattern(pages)
    rows = list(supports.items())[:_TABLE_ROWS]
    if not rows or len(pages) < 2:
        return ""
    heads = [itemset(sorted(items, key=str)) for items, _ in rows]
    columns = [
        TableColumn.of(clean(page.name, 24), values, percent)
        for page, values in zip(pages, map(list, zip(*(values for _, values in rows), strict=True)), strict=True)
    ]
    remainder = f" The first {len(rows):,} of {len(supports):,}." if len(supports) > len(rows) else ""
    caption = (
        f"The share of the {pages[0].patterns.unit} of each segment that hold a pattern; a dash where it is not among "
        "the patterns of that segment, which does not say that nobody holds it. Intervals are in the reports of the "
        f"segments.{remainder}"
    )
    return table("Items", heads, columns, caption)


def _draw_patterns(pages: Sequence[SegmentPage]) -> list[tuple[list[Item], Drawing]]:
    """Return the items of the most frequent patterns, each with its bars segment by segment, all on one scale."""
    charts = []
    for items in list(_supports_by_pattern(pages))[:_DRAWN_PATTERNS]:
        bars = []
        for page in pages:
            row = next((row for row, pattern in enumerate(page.patterns) if pattern.items == items), None)
            if row is not None:
                (bar,) = bars_of(page.patterns[row : row + 1])
                bars.append(replace(bar, label=clean(page.name, 60)))
        charts.append((sorted(items, key=str), bars))
    scale_end = reach([bar for _, bars in charts for bar in bars])
    return [
        (
            labels,
            draw_bars(bars, title=f"Share of people who hold {plain_itemset(labels, 80)}", scale_end=scale_end),
        )
        for labels, bars in charts
    ]
