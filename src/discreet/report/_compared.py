"""The page and the picture of the differences of two results."""

from __future__ import annotations

import math
from html import escape

from .. import __version__
from ..checks import parse_positive
from ..errors import MisuseError
from ..results import NOT_PRIVATE, SIMULATED, Difference, Differences, Picture, points
from ._charts import PAGE_WIDTH, mount_drawings
from ._frame import Section, document, figure
from ._slopes import Slope, draw_slopes
from ._tables import TableColumn, interval_columns, table
from ._text import clean, count_text, html_itemset, item_text, number_of, percent

_ROWS = 2_000  # of the table. More: a page that telephones open slowly
_SLOPES = 12  # of the picture. More: labels no longer fit beside the lines
_PHONE_SLOPES_WIDTH = 340  # pixels


def difference_picture(differences: Differences, rows: int = _SLOPES) -> Picture:
    """Return the largest changes as a picture."""
    slopes = _slopes_of(differences, parse_positive("rows", rows))
    if not slopes:
        raise MisuseError("There is nothing to draw: no pattern is on both lists and can be compared.")
    marks = {"simulated": (SIMULATED,), "exact": (NOT_PRIVATE,), "private": ()}[differences.standing]
    drawing = draw_slopes(slopes, title=_title(differences), names=differences.names)
    notes = (*marks, *differences.warnings, *differences.notes)
    return mount_drawings([drawing], heading=differences.headline, notes=notes)


def difference_page(differences: Differences, title: str | None = None) -> str:
    """Return the page of the differences of two results."""
    before, after = differences.names
    notes = "".join(f"<p>{escape(clean(note, 600))}</p>\n" for note in differences.notes)
    is_complete = len(differences) <= _ROWS
    return document(
        [
            Section("changed", "What changed", _render_changes(differences)),
            Section("slopes", "The largest changes", _slope_figure(differences)),
            Section("all", "All patterns" if is_complete else f"The first {_ROWS:,} patterns", _table(differences)),
            Section("promise", "What is promised", notes),
        ],
        title=title or f"From {before} to {after}",
        lead=_lead(differences),
        figures={"Patterns": count_text(len(differences)), "Clear changes": count_text(len(differences.clear))},
        status=differences.standing,
        version=__version__,
    )


def difference_rows(differences: Differences, row_count: int) -> str:
    """Return the first rows as an HTML table for a notebook, with the warnings and notes."""
    left, right = (f' style="text-align: {side}"' for side in ("left", "right"))
    before, after = (f"<th>{escape(clean(name, 40))}</th>" for name in differences.names)
    rows = ""
    for row in differences.rows[:row_count]:
        numbers = ["–" if value is None else percent(value, 2) for value in (row.before, row.after)]
        numbers.append("–" if row.difference is None else points(row.difference, 2))
        if differences.noisy:
            ends = ((row.low, math.floor), (row.high, math.ceil))
            numbers += ["–" if end is None else points(end, 2, to_whole) for end, to_whole in ends]
        cells = "".join(f"<td{right}>{number}</td>" for number in numbers)
        rows += f"<tr><td{left}>{_itemset(row)}</td>{cells}<td{left}>{row.words}</td></tr>"
    notes = "".join(f"<br>{escape(clean(note, 600))}" for note in (*differences.warnings, *differences.notes))
    remainder = f"<p>… and {len(differences) - row_count:,} more</p>" if len(differences) > row_count else ""
    interval = "<th>from</th><th>to</th>" if differences.noisy else ""
    return (
        f"<div><p><strong>{_lead(differences)}</strong>{notes}</p><table><thead><tr><th>items</th>{before}{after}"
        f"<th>difference in points</th>{interval}<th>change</th></tr></thead><tbody>"
        f"{rows}</tbody></table>{remainder}</div>"
    )


def _lead(differences: Differences) -> str:
    """Return the headline as markup, with the writing direction of each name isolated."""
    before, after = (f"<bdi>{escape(clean(name))}</bdi>" for name in differences.names)
    return f"{escape(differences.tally)}, from {before} to {after}."


def _title(differences: Differences) -> str:
    return f"Share of {differences.unit}, from {differences.names[0]} to {differences.names[1]}"


def _slopes_of(differences: Differences, row_count: int) -> list[Slope]:
    """Return the slopes of the first patterns that can be compared."""
    compared = [row for row in differences if row.difference is not None]
    return [
        Slope(tuple(map(item_text, sorted(row.items, key=str))), row.before or 0.0, row.after or 0.0, row.clear)
        for row in compared[:row_count]
    ]


def _render_changes(differences: Differences) -> str:
    """Return the largest changes in words, the warnings, and the meaning of an interval."""
    findings = []
    for change, words in (("more", "grew most"), ("less", "fell most")):
        row = next((row for row in differences.clear if row.change == change), None)
        if row is not None:
            findings.append(f"<strong>{_itemset(row)}</strong> {words}: {_change_text(row)}.")
    findings += [escape(clean(warning, 600)) for warning in differences.warnings]
    items = "".join(f"<li>{finding}</li>" for finding in findings)
    listed = f'<ul class="findings">{items}</ul>\n' if findings else ""
    if not differences.noisy:
        return listed or "<p>No support is another.</p>\n"
    if len(differences) and all(row.change == "incomparable" for row in differences):
        return listed
    return listed + (
        "<p>The results carry noise, and a difference carries that of both. The intervals are wide enough to hold all "
        f"at once in {differences.sure} of 100 such comparisons, however many patterns are compared. What is not "
        "called more or less may have changed too, by as much as its interval allows.</p>\n"
    )


def _itemset(row: Difference) -> str:
    return html_itemset(sorted(row.items, key=str))


def _change_text(row: Difference) -> str:
    text = f"from {percent(row.before or 0.0)} to {percent(row.after or 0.0)}"
    if row.low is None or row.high is None or row.low == row.high:
        return text
    return f"{text}, a difference of {points(row.low, 1, math.floor)} to {points(row.high, 1, math.ceil)} points"


def _slope_figure(differences: Differences) -> str:
    slopes = _slopes_of(differences, _SLOPES)
    if not slopes:
        return ""
    drawing, phone_drawing = (
        draw_slopes(slopes, title=_title(differences), names=differences.names, width=width)
        for width in (PAGE_WIDTH, _PHONE_SLOPES_WIDTH)
    )
    caption = "Each line is a pattern, from the one result to the other. Dashed and grey where noise may explain it."
    return figure(drawing, "slopes", caption if differences.noisy else "", narrow=phone_drawing)


def _table(differences: Differences) -> str:
    """Return the table of the first patterns: supports, differences, intervals and changes."""
    rows = differences.rows[:_ROWS]
    if not rows:
        return "<p>Neither has a pattern.</p>\n"
    columns = []
    for name, supports in zip(
        differences.names, ([row.before for row in rows], [row.after for row in rows]), strict=True
    ):
        values = _numbers(supports)
        columns.append(TableColumn(escape(clean(name, 24)), [percent(value) for value in values], values))
    changes = _numbers([row.difference for row in rows])
    texts = ["–" if math.isnan(value) else points(value, 1) for value in changes]
    columns.append(TableColumn("Difference", texts, changes))
    if differences.noisy:
        low, high = _numbers([row.low for row in rows]), _numbers([row.high for row in rows])
        columns += interval_columns(
            low, high, lambda end, to_whole: "–" if math.isnan(end) else points(end, 1, to_whole)
        )
    columns.append(TableColumn("Change", [row.words for row in rows], words=True))
    remainder = (
        f" These are the first {len(rows):,} of {number_of(len(differences), 'pattern')}."
        if len(differences) > len(rows)
        else ""
    )
    caption = f"Shares of {differences.unit}; differences in points of a percentage.{remainder}"
    return f'<div class="wide">{table("Items", [_itemset(row) for row in rows], columns, caption)}</div>\n'


def _numbers(values: list[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]
