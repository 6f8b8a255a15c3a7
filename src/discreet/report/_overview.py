"""The page of several segments: what each found, side by side, with links to the report of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from ..baskets import Item
from ..results import Patterns, Provenance
from . import _sections as sections
from ._charts import Bar, bars, reach
from ._contents import ReportContents, contents_of
from ._frame import Section, document, figure
from ._tables import TableColumn, table
from ._text import clean, html_itemset, number_of, percent, plain_itemset, whole

_COMPARED = 30  # patterns in the table of all segments
_DRAWN = 3  # patterns that are drawn for every segment


@dataclass(frozen=True)
class SegmentPage:
    """One segment: its name, where its report is, and what was released of it."""

    name: str
    place: str
    patterns: Patterns


def overview(pages: Sequence[SegmentPage], title: str) -> str:
    """Return the page above the reports of several segments; there is at least one."""
    told = _of_all(contents_of(pages[0].patterns, title), pages[0].patterns)
    counted = [one for one in pages if one.patterns.counted and one.patterns.people > 0]
    lead = (
        f"{number_of(len(pages), 'segment')}, one release each. Everyone is in one of them, and all of them together "
        "cost as much as one."
    )
    parts = [
        Section("segments", "The segments", _segments(pages)),
        Section("compared", "Side by side", _compared(counted)),
        Section("drawn", "The most frequent", _drawn(counted)),
        Section("promise", "What is promised", sections.promise(told, spent=False)),
        Section("asked", "What was asked", sections.asked(told)),
    ]
    return document(
        parts,
        title=title,
        lead=lead,
        quiet=sections.made(told),
        figures={"Segments": whole(len(pages)), "Patterns": whole(sum(len(one.patterns) for one in pages))},
        standing=told.standing,
        version=told.version,
    )


def _of_all(told: ReportContents, first: Patterns) -> ReportContents:
    """Return what was asked of all segments: without the name of one, and without what was chosen for it."""
    asked = {name: value for name, value in told.asked.items() if name != "Segment"}
    return replace(told, asked=asked, mechanism=(first.provenance or Provenance()).mechanism or "")


def _segments(pages: Sequence[SegmentPage]) -> str:
    heads = [f'<a href="{escape(one.place)}">{escape(clean(one.name))}</a>' for one in pages]
    people = [one.patterns.people for one in pages]
    found = [len(one.patterns) for one in pages]
    columns = [
        TableColumn(pages[0].patterns.unit.capitalize(), [whole(number) for number in people], people),
        TableColumn("Patterns", [whole(number) for number in found], found),
    ]
    margins = [sections.typical_margin(one.patterns) for one in pages]
    if any(margins):
        columns.append(TableColumn("Typical margin", [margin or "–" for margin in margins]))
    said = "Each segment has a report of its own: follow its name."
    if any(one.patterns.people_within is not None for one in pages):
        said += f" The numbers of {pages[0].patterns.unit} carry noise too."
    return table("Segment", heads, columns, said)


def _shares(pages: Sequence[SegmentPage]) -> dict[frozenset[Item], list[float]]:
    """Return the share of each pattern in every segment, nan where it was not released; the largest sums first."""
    found: dict[frozenset[Item], list[float]] = {}
    for at, one in enumerate(pages):
        for pattern in one.patterns:
            share = math.nan if pattern.support is None else pattern.support
            found.setdefault(pattern.items, [math.nan] * len(pages))[at] = share
    return dict(sorted(found.items(), key=lambda row: -sum(share for share in row[1] if not math.isnan(share))))


def _compared(pages: Sequence[SegmentPage]) -> str:
    """Return the patterns of all segments as a table of shares."""
    found = _shares(pages)
    rows = list(found.items())[:_COMPARED]
    if not rows or len(pages) < 2:
        return ""
    heads = [html_itemset(sorted(items, key=str)) for items, _ in rows]
    columns = [
        TableColumn(escape(clean(one.name, 24)), [percent(shares[at]) for _, shares in rows], [s[at] for _, s in rows])
        for at, one in enumerate(pages)
    ]
    more = f" The first {len(rows):,} of {len(found):,}." if len(found) > len(rows) else ""
    said = (
        f"The share of the {pages[0].patterns.unit} of each segment that hold a pattern; a dash where it is not among "
        "the patterns of that segment, which does not say that nobody holds it. Intervals are in the reports of the "
        f"segments.{more}"
    )
    return f'<div class="wide">{table("Items", heads, columns, said)}</div>\n'


def _drawn(pages: Sequence[SegmentPage]) -> str:
    """Return bars of the most frequent patterns, segment by segment, with their intervals, all on one scale."""
    found: dict[frozenset[Item], list[Bar]] = {}
    for items in list(_shares(pages))[:_DRAWN]:
        for one in pages:
            place = next((at for at, pattern in enumerate(one.patterns) if pattern.items == items), None)
            if place is not None:
                (bar,) = sections.bars_of(one.patterns[place : place + 1])
                found.setdefault(items, []).append(Bar(clean(one.name, 60), bar.value, bar.low, bar.high, bar.cut))
    most = reach([bar for rows in found.values() for bar in rows])
    drawn = []
    for number, (items, rows) in enumerate(found.items()):
        labels = sorted(items, key=str)
        chart = bars(rows, title=f"Share of people who hold {plain_itemset(labels, 80)}", most=most)
        drawn.append(f"<h3>{html_itemset(labels)}</h3>\n{figure(chart, f'bars-{number}')}")
    return "".join(drawn)
