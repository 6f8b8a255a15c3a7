"""The finished share of a run, by time and not by cells: cells take from a second to some minutes.

The expected time of a cell is the mean time of similar runs, including earlier runs: at its point, of its line on its
data, of its line, of any line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .experiment import Cell
from .store import Row

# The remaining time, a sum over all waiting cells, is computed after each hundredth of them.
_UPDATES = 100

Waiting = Sequence[tuple[Cell, dict[int, str]]]


class Pace:
    """The finished share of the work, by the seconds of runs.

    Parameters
    ----------
    waiting
        The cells to run, with their missing seeds.
    kept
        The rows of earlier runs, also of older code.
    """

    def __init__(self, waiting: Waiting, kept: Iterable[Sequence[Row]]) -> None:
        self._waiting = {_locate(cell): (cell, len(missing)) for cell, missing in waiting}
        self._seconds = self._share = 0.0
        self._cells_since_update = 0
        self._seconds_and_runs: dict[tuple[str, ...], tuple[float, int]] = {}
        for rows in kept:
            if rows:
                self._add_seconds((rows[0].panel, rows[0].line, rows[0].value), rows[0].seconds, 1)

    def add_cell(self, cell: Cell, rows: Sequence[Row]) -> float:
        """Add the seconds of a finished cell, and return the finished share, which never falls."""
        _, run_count = self._waiting.pop(_locate(cell), (cell, 1))
        seconds = sum({row.key: row.seconds for row in rows}.values())
        self._seconds += seconds
        if rows:
            self._add_seconds((cell.panel, cell.line.label, cell.value), seconds, run_count)
        self._cells_since_update += 1
        if self._cells_since_update * _UPDATES > len(self._waiting):
            self._cells_since_update = 0
            to_come = sum(
                run_count * self._expect_seconds(waiting_cell) for waiting_cell, run_count in self._waiting.values()
            )
            if not self._waiting:
                self._share = 1.0
            elif self._seconds + to_come > 0:
                self._share = max(self._share, self._seconds / (self._seconds + to_come))
        return self._share

    def _add_seconds(self, point: tuple[str, str, str], seconds: float, run_count: int) -> None:
        """Add the seconds of some runs to each group of similar runs."""
        for key in _list_keys(*point):
            before, runs = self._seconds_and_runs.get(key, (0.0, 0))
            self._seconds_and_runs[key] = before + seconds, runs + run_count

    def _expect_seconds(self, cell: Cell) -> float:
        """Return the expected seconds of one run of a cell; 1 without similar runs."""
        for key in _list_keys(cell.panel, cell.line.label, cell.value):
            if key in self._seconds_and_runs:
                seconds, runs = self._seconds_and_runs[key]
                return seconds / runs
        return 1.0


def _locate(cell: Cell) -> tuple[str, str, str, str]:
    return cell.experiment.name, cell.panel, cell.line.label, cell.value


def _list_keys(panel: str, line: str, value: str) -> tuple[tuple[str, ...], ...]:
    """Return the groups of runs that a point belongs to, from the most similar."""
    return (panel, line, value), (panel, line), (line,), ()
