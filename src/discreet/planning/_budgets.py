"""A forecast at several epsilons: a picture, a page and tables with an epsilon per column.

It has the fields of its largest epsilon; fields that do not depend on epsilon are taken from there.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, TypeAlias

from ..errors import MisuseError
from ..wording import number_of
from ._outlook import HEADINGS, Outlook, Side, render_margin

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from ..results import Picture
    from ._forecast import Forecast

_MAX_LINES = 6  # of a picture: the number of colours and dashes that can be distinguished
NOTHING_TO_DRAW = "There is nothing to draw: no mechanism can be forecast for this question."
# The line of a mechanism: its name, whether it is recommended, and at each epsilon its recall and its margin.
_Line: TypeAlias = tuple[str, bool, list[float], list[float]]


def draw_picture(forecast: Forecast) -> Picture:
    """Return a picture of the recall and the margin at each epsilon."""
    from ..report import draw_budgets

    sides, left_out_count = _build_sides(forecast)
    if not sides:
        raise MisuseError(NOTHING_TO_DRAW)
    notes = [forecast.shared_caption]
    if left_out_count:
        notes.append(f"{number_of(left_out_count, 'other that finds', 'others that find')} less left out.")
    return draw_budgets(sides, _epsilons(forecast), notes=[*notes, *([forecast.units] if forecast.units else [])])


def render_page(forecast: Forecast, title: str | None) -> str:
    """Return an HTML page with the recommendation at each epsilon, pictures and tables."""
    from ..report import ForecastTable, TableColumn, draw_budget_lines, forecast_page

    sides, _ = _build_sides(forecast)
    tables = []
    for side in HEADINGS:
        names = _names(forecast, side)
        columns = [
            TableColumn(f"Epsilon {part.asked['epsilon']}", [_render_cell(part, name) for name in names])
            for part in forecast.by_epsilon
        ]
        if names:
            tables.append(ForecastTable(_render_heading(forecast, side), "Name", names, columns))
    recommended = _render_recommended(forecast)
    return forecast_page(
        title,
        lead=recommended,
        drawings=draw_budget_lines(sides, _epsilons(forecast)) if sides else [],
        tables=tables,
        notes=[line for line in render_lines(forecast) if line not in recommended],
        refused=forecast.refused,
    )


def render_lines(forecast: Forecast) -> list[str]:
    """Return the lines below the tables: the question, the recommendations and the notes."""
    units = [forecast.units] if forecast.units else []
    return [forecast.shared_caption, *units, *_render_recommended(forecast), *forecast.notes]


def render_tables(forecast: Forecast, max_rows: int | None) -> list[RenderableType]:
    """Return a heading and a table for each side, with a column for each epsilon."""
    from rich.text import Text

    # The title of a rich table is broken at the width of the table, which is far narrower than the terminal.
    return [
        part
        for side in HEADINGS
        if _names(forecast, side)
        for part in (Text(_render_heading(forecast, side), "bold"), _build_table(forecast, side, max_rows))
    ]


def _render_heading(forecast: Forecast, side: Side) -> str:
    return f"{HEADINGS[side]}: found, and {forecast.unit(side)} off by"


def _epsilons(forecast: Forecast) -> list[float]:
    return [float(Fraction(part.asked["epsilon"])) for part in forecast.by_epsilon]


def _build_sides(forecast: Forecast) -> tuple[list[tuple[str, str, list[_Line]]], int]:
    """Return heading, unit and lines of each side of a picture, and the number of names that are left out."""
    left_out_count = 0
    sides: list[tuple[str, str, list[_Line]]] = []
    for side, heading in HEADINGS.items():
        names = _rank_names(forecast, side)
        left_out_count += len(names[_MAX_LINES:])
        recommended = forecast.recommended.get(side)
        lines = [(name, name == recommended, *_numbers(forecast, name)) for name in names[:_MAX_LINES]]
        if lines:
            sides.append((heading, forecast.unit(side), lines))
    return sides, left_out_count


def _names(forecast: Forecast, side: Side) -> list[str]:
    """Return the names on a side, in the order of the largest epsilon."""
    # A mechanism may be forecast at some epsilons only: names beyond the largest epsilon come last.
    names = [
        outlook.name for part in reversed(forecast.by_epsilon) for outlook in part.outlooks if outlook.side == side
    ]
    return list(dict.fromkeys(names))


def _rank_names(forecast: Forecast, side: Side) -> list[str]:
    """Return the names on a side that have a score, the largest sum of scores first."""
    scores = {
        name: [outlook.score for outlook in _find_outlooks(forecast, name) if outlook is not None]
        for name in _names(forecast, side)
    }
    return sorted((name for name in scores if max(scores[name]) >= 0), key=lambda name: -sum(scores[name]))


def _find_outlook(forecast: Forecast, name: str) -> Outlook | None:
    return next((outlook for outlook in forecast.outlooks if outlook.name == name), None)


def _find_outlooks(forecast: Forecast, name: str) -> list[Outlook | None]:
    """Return the outlook of a name at each epsilon: None at an epsilon at which it cannot answer."""
    return [_find_outlook(part, name) for part in forecast.by_epsilon]


def _numbers(forecast: Forecast, name: str) -> tuple[list[float], list[float]]:
    """Return the recall and the margin of a name at each epsilon."""
    outlooks = _find_outlooks(forecast, name)
    recalls = [nan if outlook is None or outlook.recall is None else outlook.recall for outlook in outlooks]
    return recalls, [inf if outlook is None else outlook.interval for outlook in outlooks]


def _render_recommended(forecast: Forecast) -> list[str]:
    lines = []
    for part in forecast.by_epsilon:
        names = " and ".join(part.recommended.values()) or "nothing, as nothing can be told from noise"
        search = "".join(f" {part.render_needed(name, value)}" for name, value in part.needed.items())
        lines.append(f"Recommended at epsilon = {part.asked['epsilon']}: {names}.{search}")
    return lines


def _build_table(forecast: Forecast, side: Side, max_rows: int | None) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("epsilon")
    for part in forecast.by_epsilon:
        table.add_column(part.asked["epsilon"], justify="right", no_wrap=True)
    for name in _names(forecast, side)[:max_rows]:
        table.add_row(name, *(_render_cell(part, name) for part in forecast.by_epsilon))
    return table


def _render_cell(forecast: Forecast, name: str) -> str:
    outlook = _find_outlook(forecast, name)
    if outlook is None:
        return "–"
    recall = "" if outlook.recall is None else f"{outlook.recall:.0%} "
    # Without a found pattern there can be no margin, though the recall of 0 is a number.
    return f"{recall}± {render_margin(outlook.interval)}" if isfinite(outlook.interval) else f"{recall}± –"
