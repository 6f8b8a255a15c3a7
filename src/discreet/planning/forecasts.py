"""What several budgets buy: the forecasts of one question at a few epsilons, side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any

from ..errors import MisuseError
from ..privacy.budget import exact, shown
from ..wording import Rendered, number_of, text_of
from .forecast import HEADS, Forecast, Side, most_off, save_forecast, units_of

if TYPE_CHECKING:
    from os import PathLike

    from rich.console import Group
    from rich.table import Table

    from ..results.picture import Picture

# So many lines can be told apart in a picture.
_DRAWN = 6


@dataclass(frozen=True)
class Forecasts(Rendered):
    """What :func:`discreet.plan` returns for a list of epsilons: a forecast for each, the smallest epsilon first.

    Parameters
    ----------
    forecasts
        The forecasts. ``forecasts["0.5"]`` is the one at an epsilon of 0.5.

    Examples
    --------
    >>> import discreet
    >>> shop = {"people": 20_000, "items": 200, "top": 10, "names": ["auto"]}
    >>> bought = discreet.plan(**shop, epsilon=["0.1", 1])
    >>> bought["0.1"]["auto"].interval > bought[1]["auto"].interval
    True
    """

    forecasts: tuple[Forecast, ...]

    def __len__(self) -> int:
        return len(self.forecasts)

    def __iter__(self) -> Iterator[Forecast]:
        return iter(self.forecasts)

    def __getitem__(self, epsilon: Any) -> Forecast:
        wanted = exact(epsilon, "epsilon")
        for one in self.forecasts:
            if Fraction(one.asked["epsilon"]) == wanted:
                return one
        there = ", ".join(one.asked["epsilon"] for one in self.forecasts)
        raise MisuseError(f"There is no forecast at an epsilon of {shown(wanted)}; there are those at {there}.")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"forecasts": [one.to_dict() for one in self.forecasts]}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def plot(self) -> Picture:
        """Return a picture of what a budget buys: what is found at each epsilon, and how far counts are off.

        A notebook shows it, and ``.save("picture.svg")`` writes it. The one to take at the largest epsilon is drawn
        strong. Of very many, those that find the most are drawn.
        """
        from ..report.plots import bought

        sides, left_out = self._sides()
        if not sides:
            raise MisuseError("There is nothing to draw: no mechanism can be forecast for this question.")
        notes = [self.forecasts[-1].stands_beside]
        if left_out:
            notes.append(f"{number_of(left_out, 'other that finds', 'others that find')} less left out.")
        if self.units:
            notes.append(self.units)
        return bought(sides, self._epsilons(), notes=notes)

    def _epsilons(self) -> list[float]:
        return [float(Fraction(one.asked["epsilon"])) for one in self.forecasts]

    def _sides(self) -> tuple[list[tuple[str, str, list[tuple[str, bool, list[float], list[float]]]]], int]:
        """Return what pictures show of each side, and how many have no room there."""
        last, left_out = self.forecasts[-1], 0
        sides: list[tuple[str, str, list[tuple[str, bool, list[float], list[float]]]]] = []
        for side, heading in HEADS.items():
            names = self._names(side, best=True)
            left_out += len(names[_DRAWN:])
            rows = [(name, name == last.recommended.get(side), *self._numbers(name)) for name in names[:_DRAWN]]
            if rows:
                sides.append((heading, last.unit(side), rows))
        return sides, left_out

    def report(self, *, title: str | None = None) -> str:
        """Return a page that says what a budget buys: what to take at each, pictures, all numbers."""
        from ..report.planned import ForecastTable, planned_page
        from ..report.plots import bought_lines
        from ..report.tables import TableColumn

        sides, _ = self._sides()
        tables = []
        for side, heading in HEADS.items():
            names = self._names(side)
            columns = [
                TableColumn(f"Epsilon {one.asked['epsilon']}", [_cell(one, name) for name in names])
                for one in self.forecasts
            ]
            if names:
                told = f"{heading}: found, and {self.forecasts[-1].unit(side)} off by"
                tables.append(ForecastTable(told, "Name", names, columns))
        recommended = self._recommended()
        return planned_page(
            title,
            lead=recommended,
            drawings=bought_lines(sides, self._epsilons()) if sides else [],
            tables=tables,
            notes=[line for line in self.lines() if line not in recommended],
            refused=self.forecasts[-1].refused,
        )

    def save(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write to a ``.json`` file, or to an ``.html`` page with a title."""
        save_forecast(self, path, title)

    @property
    def units(self) -> str:
        """What is counted and what is protected, where people have several baskets; nothing otherwise."""
        return units_of(self.forecasts[-1].asked, (one for row in self.forecasts for one in row.outlooks))

    def _names(self, side: Side, best: bool = False) -> list[str]:
        """Return what is forecast on a side: in the order of the last forecast, or those that find most first."""
        there = [one.name for forecast in reversed(self.forecasts) for one in forecast.outlooks if one.side == side]
        names = list(dict.fromkeys(there))
        if not best:
            return names
        scores = {
            name: [one.score for row in self.forecasts for one in row.outlooks if one.name == name] for name in names
        }
        return sorted((name for name in names if max(scores[name]) >= 0), key=lambda name: -sum(scores[name]))

    def _numbers(self, name: str) -> tuple[list[float], list[float]]:
        """Return what one is expected to find, and how far off its counts are, at each epsilon."""
        there = [next((one for one in row.outlooks if one.name == name), None) for row in self.forecasts]
        found = [nan if one is None or one.recall is None else one.recall for one in there]
        return found, [inf if one is None else one.interval for one in there]

    def __str__(self) -> str:
        return text_of(self) + "\n"

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        # A title of the table itself would be broken where the table ends, which is far narrower than the line.
        tables = [
            part
            for side in HEADS
            if self._names(side)
            for part in (
                Text(f"{HEADS[side]}: found, and {self.forecasts[-1].unit(side)} off by", "bold"),
                self._table(side),
            )
        ]
        return Group(*tables, *(Text(f"\n{line}") for line in self.lines()))

    def lines(self) -> list[str]:
        """Return what there is to say beside the tables: what was asked, what to take, what it rests on."""
        last = self.forecasts[-1]
        said = [last.stands_beside, *([self.units] if self.units else [])]
        return [*said, *self._recommended(), *last.notes]

    def _recommended(self) -> list[str]:
        said = []
        for one in self.forecasts:
            best = " and ".join(one.recommended.values()) or "nothing, as nothing can be told from noise"
            needed = "".join(f" {one.found(*what)}" for what in one.needed.items())
            said.append(f"Recommended at epsilon = {one.asked['epsilon']}: {best}.{needed}")
        return said

    def _table(self, side: Side) -> Table:
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        table.add_column("epsilon")
        for forecast in self.forecasts:
            table.add_column(forecast.asked["epsilon"], justify="right", no_wrap=True)
        for name in self._names(side):
            table.add_row(name, *(_cell(forecast, name) for forecast in self.forecasts))
        return table


def _cell(forecast: Forecast, name: str) -> str:
    one = next((one for one in forecast.outlooks if one.name == name), None)
    if one is None:
        return "–"
    found = "" if one.recall is None else f"{one.recall:.0%} "
    return f"{found}± {most_off(one.interval)}" if isfinite(one.interval) else f"{found}± –"
