"""How much of a run is done, in time and not in cells: one cell takes a second, another some minutes.

What a cell will take is what runs like it took, those of earlier times too: at the same point, of the same line on the
same data, of the same line, of any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .experiment import Cell
from .store import Row

# What is left is added up anew after one cell in so many of those that wait: with thousands, each would ask for all.
_OF_LEFT = 100

Waiting = Sequence[tuple[Cell, dict[int, str]]]


class Pace:
    """The share of the work that is done, by the seconds that runs took.

    Parameters
    ----------
    waiting
        Every cell that is to be run, with the seeds that are missing.
    kept
        What earlier runs left, also of code that has changed since.
    """

    def __init__(self, waiting: Waiting, kept: Iterable[Sequence[Row]]) -> None:
        self._left = {_place(cell): (cell, len(missing)) for cell, missing in waiting}
        self._spent = self._share = 0.0
        self._since = 0
        self._seen: dict[tuple[str, ...], tuple[float, int]] = {}
        for rows in kept:
            if rows:
                self._learn((rows[0].panel, rows[0].line, rows[0].value), rows[0].seconds, 1)

    def done(self, cell: Cell, rows: Sequence[Row]) -> float:
        """Note a cell that was run, and return the share that is done; it never falls."""
        _, many = self._left.pop(_place(cell), (cell, 1))
        seconds = sum({row.key: row.seconds for row in rows}.values())
        self._spent += seconds
        if rows:
            self._learn((cell.panel, cell.line.label, cell.value), seconds, many)
        self._since += 1
        if self._since * _OF_LEFT > len(self._left):
            self._since = 0
            to_come = sum(many * self._expected(one) for one, many in self._left.values())
            if not self._left:
                self._share = 1.0
            elif self._spent + to_come > 0:
                self._share = max(self._share, self._spent / (self._spent + to_come))
        return self._share

    def _learn(self, where: tuple[str, str, str], seconds: float, many: int) -> None:
        for like in _like(*where):
            before, runs = self._seen.get(like, (0.0, 0))
            self._seen[like] = before + seconds, runs + many

    def _expected(self, cell: Cell) -> float:
        for like in _like(cell.panel, cell.line.label, cell.value):
            if like in self._seen:
                seconds, runs = self._seen[like]
                return seconds / runs
        return 1.0


def _place(cell: Cell) -> tuple[str, str, str, str]:
    return cell.experiment.name, cell.panel, cell.line.label, cell.value


def _like(panel: str, line: str, value: str) -> tuple[tuple[str, ...], ...]:
    return (panel, line, value), (panel, line), (line,), ()
