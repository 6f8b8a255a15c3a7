"""What several budgets buy: the forecasts of one question at a few epsilons, side by side.

A forecast at several epsilons has the fields of the largest one: what all of them have in common is taken from there.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, TypeAlias

from ..errors import MisuseError
from ..wording import number_of
from ._outlook import HEADS, Side, most_off

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from ..results import Picture
    from ._forecast import Forecast

# So many lines can be told apart in a picture.
_DRAWN = 6
NOTHING_TO_DRAW = "There is nothing to draw: no mechanism can be forecast for this question."
# Of one name: whether it is the one to take, which share it finds at each epsilon, and half an interval of a count.
_Line: TypeAlias = tuple[str, bool, list[float], list[float]]


def picture_of(made: Forecast) -> Picture:
    """Return what is found at each epsilon, and how far counts are off."""
    from ..report import draw_budgets

    sides, left_out = _sides(made)
    if not sides:
        raise MisuseError(NOTHING_TO_DRAW)
    notes = [made.stands_beside]
    if left_out:
        notes.append(f"{number_of(left_out, 'other that finds', 'others that find')} less left out.")
    return draw_budgets(sides, _epsilons(made), notes=[*notes, *([made.units] if made.units else [])])


def page_of(made: Forecast, title: str | None) -> str:
    """Return a page that says what a budget buys: what to take at each, pictures, all numbers."""
    from ..report import ForecastTable, TableColumn, draw_budget_lines, forecast_page

    sides, _ = _sides(made)
    tables = []
    for side, heading in HEADS.items():
        names = _names(made, side)
        columns = [
            TableColumn(f"Epsilon {one.asked['epsilon']}", [_cell(one, name) for name in names])
            for one in made.by_epsilon
        ]
        if names:
            told = f"{heading}: found, and {made.unit(side)} off by"
            tables.append(ForecastTable(told, "Name", names, columns))
    recommended = _recommended(made)
    return forecast_page(
        title,
        lead=recommended,
        drawings=draw_budget_lines(sides, _epsilons(made)) if sides else [],
        tables=tables,
        notes=[line for line in lines_of(made) if line not in recommended],
        refused=made.refused,
    )


def lines_of(made: Forecast) -> list[str]:
    """Return what there is to say beside the tables: what was asked, what to take, what it rests on."""
    return [made.stands_beside, *([made.units] if made.units else []), *_recommended(made), *made.notes]


def tables_of(made: Forecast, rows: int | None) -> list[RenderableType]:
    """Return a table of each side under its title, with a column for each epsilon."""
    from rich.text import Text

    # A title of the table itself would be broken where the table ends, which is far narrower than the line.
    return [
        part
        for side in HEADS
        if _names(made, side)
        for part in (
            Text(f"{HEADS[side]}: found, and {made.unit(side)} off by", "bold"),
            _table(made, side, rows),
        )
    ]


def _epsilons(made: Forecast) -> list[float]:
    return [float(Fraction(one.asked["epsilon"])) for one in made.by_epsilon]


def _sides(made: Forecast) -> tuple[list[tuple[str, str, list[_Line]]], int]:
    """Return what pictures show of each side, and how many names have no room there."""
    last, left_out = made, 0
    sides: list[tuple[str, str, list[_Line]]] = []
    for side, heading in HEADS.items():
        names = _names(made, side, best=True)
        left_out += len(names[_DRAWN:])
        rows = [(name, name == last.recommended.get(side), *_numbers(made, name)) for name in names[:_DRAWN]]
        if rows:
            sides.append((heading, last.unit(side), rows))
    return sides, left_out


def _names(made: Forecast, side: Side, best: bool = False) -> list[str]:
    """Return what is forecast on a side: in the order of the last forecast, or those that find most first."""
    there = [one.name for forecast in reversed(made.by_epsilon) for one in forecast.outlooks if one.side == side]
    names = list(dict.fromkeys(there))
    if not best:
        return names
    scores = {
        name: [one.score for row in made.by_epsilon for one in row.outlooks if one.name == name] for name in names
    }
    return sorted((name for name in names if max(scores[name]) >= 0), key=lambda name: -sum(scores[name]))


def _numbers(made: Forecast, name: str) -> tuple[list[float], list[float]]:
    """Return what one is expected to find, and how far off its counts are, at each epsilon."""
    there = [next((one for one in row.outlooks if one.name == name), None) for row in made.by_epsilon]
    found = [nan if one is None or one.recall is None else one.recall for one in there]
    return found, [inf if one is None else one.interval for one in there]


def _recommended(made: Forecast) -> list[str]:
    said = []
    for one in made.by_epsilon:
        best = " and ".join(one.recommended.values()) or "nothing, as nothing can be told from noise"
        needed = "".join(f" {one.found(*what)}" for what in one.needed.items())
        said.append(f"Recommended at epsilon = {one.asked['epsilon']}: {best}.{needed}")
    return said


def _table(made: Forecast, side: Side, rows: int | None) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("epsilon")
    for forecast in made.by_epsilon:
        table.add_column(forecast.asked["epsilon"], justify="right", no_wrap=True)
    for name in _names(made, side)[:rows]:
        table.add_row(name, *(_cell(forecast, name) for forecast in made.by_epsilon))
    return table


def _cell(forecast: Forecast, name: str) -> str:
    one = next((one for one in forecast.outlooks if one.name == name), None)
    if one is None:
        return "–"
    found = "" if one.recall is None else f"{one.recall:.0%} "
    return f"{found}± {most_off(one.interval)}" if isfinite(one.interval) else f"{found}± –"
