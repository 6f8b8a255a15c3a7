"""The page and the picture of the differences of two results."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from ..checks import parse_positive
from ..errors import MisuseError
from ..results import NOT_PRIVATE, SIMULATED, Difference, Differences, Picture, points
from ._charts import PAGE_WIDTH, mount_drawings
from ._frame import render_page
from ._slopes import Slope, draw_slopes
from ._svg import Drawing
from ._tables import TableColumn, interval_columns, table
from ._templates import render
from ._text import clean, count_text, item_text, itemset, number_of, percent

_ROWS = 2_000  # of the table. More: a page that telephones open slowly
_SLOPES = 12  # of the picture. More: labels no longer fit beside the lines
_PICTURE_WIDTH, _PHONE_SLOPES_WIDTH = 680, 340  # pixels


def difference_picture(differences: Differences, rows: int = _SLOPES) -> Picture:
    """Return the largest changes as a picture."""
    drawings = _draw_slopes(differences, parse_positive("rows", rows), _PICTURE_WIDTH)
    if not drawings:
        raise MisuseError("There is nothing to draw: no pattern is on both lists and can be compared.")
    # A picture travels without its page, so it carries the status itself.
    marks = {"simulated": (SIMULATED,), "exact": (NOT_PRIVATE,), "private": ()}[differences.standing]
    notes = (*marks, *differences.warnings, *differences.notes)
    return mount_drawings(drawings, heading=differences.headline, notes=notes)


def difference_page(differences: Differences, title: str | None = None) -> str:
    """Return the page of the differences of two results."""
    return render_page(
        "report/templates/differences.html.jinja",
        title=title or f"From {differences.names[0]} to {differences.names[1]}",
        figures={"Patterns": count_text(len(differences)), "Clear changes": count_text(len(differences.clear))},
        status=differences.standing,
        differences=differences,
        headline=_headline(differences),
        clearest=_largest_changes(differences),
        itemset_of=_itemset,
        change_text=_change_text,
        drawings=_draw_slopes(differences, _SLOPES, PAGE_WIDTH, _PHONE_SLOPES_WIDTH),
        table=_table(differences),
        max_rows=_ROWS,
    )


def difference_rows(differences: Differences, row_count: int) -> Markup:
    """Return the first rows as a table for a notebook, with the warnings and notes."""
    rows = []
    for row in differences.rows[:row_count]:
        numbers = ["–" if value is None else percent(value, 2) for value in (row.before, row.after)]
        numbers.append("–" if row.difference is None else points(row.difference, 2))
        if differences.noisy:
            ends = ((row.low, math.floor), (row.high, math.ceil))
            numbers += ["–" if end is None else points(end, 2, to_whole) for end, to_whole in ends]
        rows.append([_itemset(row), *numbers, row.words])
    names = [clean(name, 40) for name in differences.names]
    return notebook_table(
        ["items", *names, "difference in points", *(["from", "to"] if differences.noisy else []), "change"],
        rows,
        headline=_headline(differences),
        notes=[clean(note, 600) for note in (*differences.warnings, *differences.notes)],
        remainder=max(0, len(differences) - row_count),
    )


def notebook_table(
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    headline: str,
    notes: Sequence[str],
    remainder: int,
    noise_row: int | None = None,
    noise_line: str = "",
) -> Markup:
    """Return rows as a table for a notebook.

    Parameters
    ----------
    names, rows
        The name of each column, and the cells of each row. The first column is set to the left; the last too if it is a
        change.
    headline, notes
        The line above, and smaller lines below it.
    remainder
        The number of the remaining rows.
    noise_row, noise_line
        The row above which the line of noise stands, and the line; None for no line.
    """
    return render(
        "report/templates/notebook.html.jinja",
        names=names,
        rows=rows,
        headline=headline,
        notes=notes,
        remainder=remainder,
        noise_row=noise_row,
        noise_line=noise_line,
        left_columns=(0, len(names) - 1) if names[-1] == "change" else (0,),
    )


def _headline(differences: Differences) -> Markup:
    """Return the headline, with the writing direction of each name isolated."""
    names = (clean(name) for name in differences.names)
    return Markup("{}, from <bdi>{}</bdi> to <bdi>{}</bdi>.").format(differences.tally, *names)


def _title(differences: Differences) -> str:
    return f"Share of {differences.unit}, from {differences.names[0]} to {differences.names[1]}"


def _draw_slopes(differences: Differences, row_count: int, *widths: int) -> list[Drawing]:
    """Return the slopes of the first patterns that can be compared, in each width; nothing if none can."""
    slopes = [
        Slope(tuple(map(item_text, sorted(row.items, key=str))), row.before or 0.0, row.after or 0.0, row.clear)
        for row in [row for row in differences if row.difference is not None][:row_count]
    ]
    title, names = _title(differences), differences.names
    return [draw_slopes(slopes, title=title, names=names, width=width) for width in widths if slopes]


def _largest_changes(differences: Differences) -> list[tuple[Difference, str]]:
    """Return the pattern that grew most and the pattern that fell most, with the words."""
    # Clear changes come first in the order of their size, so the first of each direction is the largest.
    words = {"more": "grew most", "less": "fell most"}
    rows = ((next((row for row in differences.clear if row.change == change), None), words[change]) for change in words)
    return [(row, text) for row, text in rows if row is not None]


def _itemset(row: Difference) -> Markup:
    return itemset(sorted(row.items, key=str))


def _change_text(row: Difference) -> str:
    text = f"from {percent(row.before or 0.0)} to {percent(row.after or 0.0)}"
    if row.low is None or row.high is None or row.low == row.high:
        return text
    return f"{text}, a difference of {points(row.low, 1, math.floor)} to {points(row.high, 1, math.ceil)} points"


def _table(differences: Differences) -> Markup | str:
    """Return the table of the first patterns: supports, differences, intervals and changes."""
    rows = differences.rows[:_ROWS]
    if not rows:
        return ""
    columns = []
    for name, supports in zip(
        differences.names, ([row.before for row in rows], [row.after for row in rows]), strict=True
    ):
        columns.append(TableColumn.of(clean(name, 24), _numbers(supports), percent))
    changes = _numbers([row.difference for row in rows])
    columns.append(TableColumn.of("Difference", changes, lambda value: "–" if math.isnan(value) else points(value, 1)))
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
    return table("Items", [_itemset(row) for row in rows], columns, caption)


def _numbers(values: list[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]
