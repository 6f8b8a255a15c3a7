"""The page of two results, and the picture of them: what changed from one to the other."""

from __future__ import annotations

import math
from html import escape

from .. import __version__
from ..checks import parse_positive
from ..errors import MisuseError
from ..results import NOT_PRIVATE, SIMULATED, Difference, Differences, Picture, points
from ._frame import Section, document, figure
from ._graph import WIDE
from ._mount import mounted
from ._slopes import Slope, slopes
from ._tables import TableColumn, table
from ._text import clean, html_itemset, name, number_of, percent, whole

_ROWS = 2_000  # of the table
_DRAWN = 12


def slopes_of(found: Differences, rows: int = _DRAWN) -> Picture:
    """Return the largest changes as a picture."""
    lines = _lines(found, parse_positive("rows", rows))
    if not lines:
        raise MisuseError("There is nothing to draw: no pattern is on both lists and can be compared.")
    marks = {"simulated": (SIMULATED,), "exact": (NOT_PRIVATE,), "private": ()}[found.standing]
    drawn = slopes(lines, title=_title(found), names=found.names)
    return mounted([drawn], heading=found.headline, notes=(*marks, *found.warnings, *found.notes))


def difference_page(found: Differences, title: str | None = None) -> str:
    """Return the page of two results."""
    parts = [
        Section("changed", "What changed", _changed(found)),
        Section("slopes", "The largest changes", _drawn(found)),
        Section("all", _heading(found), _table(found)),
        Section("promise", "What is promised", "".join(f"<p>{escape(clean(note, 600))}</p>\n" for note in found.notes)),
    ]
    return document(
        parts,
        title=title or f"From {found.names[0]} to {found.names[1]}",
        lead=_lead(found),
        figures={"Patterns": whole(len(found)), "Clear changes": whole(len(found.clear))},
        standing=found.standing,
        version=__version__,
    )


def notebook_table(found: Differences, rows: int) -> str:
    """Return the first rows as HTML for a notebook, with what has to be known of them."""
    left, right = (f' style="text-align: {side}"' for side in ("left", "right"))
    before, after = (f"<th>{escape(clean(called, 40))}</th>" for called in found.names)
    cells = []
    for row in found.rows[:rows]:
        numbers = ["–" if one is None else percent(one, 2) for one in (row.before, row.after)]
        numbers.append("–" if row.difference is None else points(row.difference, 2))
        if found.noisy:
            ends = ((row.low, math.floor), (row.high, math.ceil))
            numbers += ["–" if end is None else points(end, 2, to_whole) for end, to_whole in ends]
        told = "".join(f"<td{right}>{number}</td>" for number in numbers)
        cells.append(f"<tr><td{left}>{_named(row)}</td>{told}<td{left}>{row.words}</td></tr>")
    notes = "".join(f"<br>{escape(clean(note, 600))}" for note in (*found.warnings, *found.notes))
    rest = f"<p>… and {len(found) - rows:,} more</p>" if len(found) > rows else ""
    interval = "<th>from</th><th>to</th>" if found.noisy else ""
    return (
        f"<div><p><strong>{_lead(found)}</strong>{notes}</p><table><thead><tr><th>items</th>{before}{after}"
        f"<th>difference in points</th>{interval}<th>change</th></tr></thead><tbody>"
        f"{''.join(cells)}</tbody></table>{rest}</div>"
    )


def _lead(found: Differences) -> str:
    """Return the headline; each name is kept apart from the direction of what stands beside it."""
    before, after = (f"<bdi>{escape(clean(called))}</bdi>" for called in found.names)
    return f"{escape(found.tally)}, from {before} to {after}."


def _heading(found: Differences) -> str:
    return "All patterns" if len(found) <= _ROWS else f"The first {_ROWS:,} patterns"


def _title(found: Differences) -> str:
    return f"Share of {found.unit}, from {found.names[0]} to {found.names[1]}"


def _lines(found: Differences, many: int) -> list[Slope]:
    both = [row for row in found if row.difference is not None]
    return [
        Slope(tuple(map(name, sorted(row.items, key=str))), row.before or 0.0, row.after or 0.0, row.clear)
        for row in both[:many]
    ]


def _changed(found: Differences) -> str:
    """Say what changed most, and how far a difference is to be trusted."""
    told = []
    for change, words in (("more", "grew most"), ("less", "fell most")):
        first = next((row for row in found.clear if row.change == change), None)
        if first is not None:
            told.append(f"<strong>{_named(first)}</strong> {words}: {_from_to(first)}.")
    told += [escape(clean(warning, 600)) for warning in found.warnings]
    listed = f'<ul class="findings">{"".join(f"<li>{one}</li>" for one in told)}</ul>\n' if told else ""
    if not found.noisy:
        return listed or "<p>No support is another.</p>\n"
    if len(found) and not any(row.change != "incomparable" for row in found):
        return listed
    return listed + (
        "<p>The results carry noise, and a difference carries that of both. The intervals are wide enough to hold all "
        f"at once in {found.sure} of 100 such comparisons, however many patterns are compared. What is not called "
        "more or less may have changed too, by as much as its interval allows.</p>\n"
    )


def _named(row: Difference) -> str:
    return html_itemset(sorted(row.items, key=str))


def _from_to(row: Difference) -> str:
    moved = f"from {percent(row.before or 0.0)} to {percent(row.after or 0.0)}"
    if row.low is None or row.high is None or row.low == row.high:
        return moved
    return f"{moved}, a difference of {points(row.low, 1, math.floor)} to {points(row.high, 1, math.ceil)} points"


def _drawn(found: Differences) -> str:
    lines = _lines(found, _DRAWN)
    if not lines:
        return ""
    drawn, narrow = (slopes(lines, title=_title(found), names=found.names, wide=wide) for wide in (WIDE, 340))
    caption = "Each line is a pattern, from the one result to the other. Dashed and grey where noise may explain it."
    return figure(drawn, "slopes", caption if found.noisy else "", narrow=narrow)


def _table(found: Differences) -> str:
    rows = found.rows[:_ROWS]
    if not rows:
        return "<p>Neither has a pattern.</p>\n"

    def shares(values: list[float | None]) -> TableColumn:
        numbers = [math.nan if value is None else value for value in values]
        return TableColumn("", [percent(number) for number in numbers], numbers)

    columns = [
        TableColumn(escape(clean(called, 24)), column.texts, column.values)
        for called, column in zip(
            found.names, (shares([row.before for row in rows]), shares([row.after for row in rows])), strict=True
        )
    ]
    moved = [math.nan if row.difference is None else row.difference for row in rows]
    columns.append(TableColumn("Difference", ["–" if math.isnan(one) else points(one, 1) for one in moved], moved))
    if found.noisy:
        for head, which, to_whole in (("from", "low", math.floor), ("to", "high", math.ceil)):
            ends = [getattr(row, which) for row in rows]
            texts = ["–" if end is None else points(end, 1, to_whole) for end in ends]
            columns.append(TableColumn(head, texts, [math.nan if end is None else end for end in ends]))
    columns.append(TableColumn("Change", [row.words for row in rows], words=True))
    heads = [_named(row) for row in rows]
    more = (
        f" These are the first {len(rows):,} of {number_of(len(found), 'pattern')}." if len(found) > len(rows) else ""
    )
    said = f"Shares of {found.unit}; differences in points of a percentage.{more}"
    return f'<div class="wide">{table("Items", heads, columns, said)}</div>\n'
