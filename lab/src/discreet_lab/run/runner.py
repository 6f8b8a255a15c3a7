"""Experiments run in parallel; a stopped run continues, and only changed cells run again."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, MisuseError

from ..measure.measures import list_modules, measure_cell
from .experiment import Cell, Data, Experiment
from .failures import Failure
from .fingerprint import fingerprint
from .option_names import check_options
from .progress import Pace
from .store import Row, Store

# Results are written after at least this number of seconds, and after at least this multiple of the time that the last
# write took. Larger: an interrupt loses more work; smaller: writing takes a larger share of the time, now under 5 %.
_WRITE_SECONDS, _WRITE_RATIO = 10.0, 20

# Shares of the wanted patterns: undefined if no pattern is wanted.
_SHARES_OF_WANTED = frozenset({"false_negative_rate", "precision", "recall", "f_score", "cumulative_rank"})

Progress = Callable[[float], object]


@dataclass(frozen=True, kw_only=True)
class Results:
    """The results of an experiment.

    Parameters
    ----------
    experiment
        The experiment.
    rows
        One row for each number of each run.
    failed
        The cells that could not run, with reasons.
    missing
        The number of requested runs without a result.
    """

    experiment: Experiment
    rows: tuple[Row, ...]
    failed: tuple[Failure, ...] = ()
    missing: int = 0

    def numbers(self, panel: str, line: str, value: str, metric: str) -> list[float]:
        """Return a metric of all repeats at one point, by seed; shares are left out if no pattern is wanted."""
        return self._numbers.get((panel, line, value, metric), [])

    @cached_property
    def _numbers(self) -> dict[tuple[str, str, str, str], list[float]]:
        numbers_of_point: dict[tuple[str, str, str, str], list[float]] = {}
        keys_without_wanted = {row.key for row in self.rows if row.metric == "wanted" and not row.number}
        for row in sorted(self.rows, key=lambda row: row.seed):
            if row.key in keys_without_wanted and row.metric in _SHARES_OF_WANTED:
                continue
            numbers_of_point.setdefault((row.panel, row.line, row.value, row.metric), []).append(row.number)
        return numbers_of_point

    @property
    def panels(self) -> tuple[str, ...]:
        """The panels with results: one for each data set, or for each value of the second parameter."""
        panels = {row.panel for row in self.rows}
        return tuple(dict.fromkeys(cell.panel for cell in self.experiment.cells(quick=False) if cell.panel in panels))

    @property
    def values(self) -> tuple[str, ...]:
        """The points of the axis with results, as text, in order."""
        values = {row.value for row in self.rows}
        return tuple(dict.fromkeys(cell.value for cell in self.experiment.cells(quick=False) if cell.value in values))


def run(
    experiments: Sequence[Experiment],
    folder: str | os.PathLike[str],
    *,
    quick: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Results]:
    """Run experiments, and return their results.

    A run does not repeat if its code, data and question equal the stored ones of its result in `folder`.

    Parameters
    ----------
    experiments
        The experiments.
    folder
        The directory of results, one Parquet file per experiment.
    quick
        Three repeats and three points of an axis.
    jobs
        The number of processes; by default the number of cores.
    progress
        Called with the finished share of the work, by time.
    """
    if jobs is not None and jobs < 1:
        raise MisuseError(f"The number of processes is {jobs}; it must be 1 or more.")
    for experiment in experiments:
        for cell in experiment.cells(quick=False):
            check_options(cell)
    store = Store(Path(folder))
    before = store.read_all()
    plans = [_Plan(experiment, before, quick) for experiment in experiments]
    plan_of_name = {plan.experiment.name: plan for plan in plans}
    waiting = [cell for plan in plans for cell in plan.waiting]
    pace = Pace(waiting, before.values())
    last_write, pause = time.monotonic(), _WRITE_SECONDS
    changed: set[str] = set(plan_of_name)

    def take(cell: Cell, outcome: list[Row] | str) -> None:
        nonlocal last_write, pause
        plan = plan_of_name[cell.experiment.name]
        if isinstance(outcome, str):
            plan.failed.append(
                Failure(
                    experiment=cell.experiment.name,
                    cell=str(cell),
                    reason=outcome,
                    missing_data=_find_missing_data(cell),
                )
            )
        else:
            for row in outcome:
                plan.rows.setdefault(row.key, []).append(row)
            changed.add(cell.experiment.name)
        share = pace.add_cell(cell, [] if isinstance(outcome, str) else outcome)
        if progress is not None:
            progress(share)
        if (begun := time.monotonic()) - last_write > pause:
            _save_results(store, plan_of_name, changed)
            last_write = time.monotonic()
            pause = max(_WRITE_SECONDS, _WRITE_RATIO * (last_write - begun))

    try:
        _run_cells(waiting, jobs, take)
    finally:
        _save_results(store, plan_of_name, changed)
    return [plan.build_results() for plan in plans]


def kept(experiments: Sequence[Experiment], folder: str | os.PathLike[str], *, quick: bool = False) -> list[Results]:
    """Return the stored results of experiments, without a run; `missing` counts the absent runs.

    Parameters
    ----------
    experiments, folder, quick
        As for :func:`run`.
    """
    before = Store(Path(folder)).read_all()
    return [_Plan(experiment, before, quick).build_results() for experiment in experiments]


class _Plan:
    """The rows of one experiment that are stored, the cells that have to run, and the failures."""

    def __init__(self, experiment: Experiment, before: Mapping[str, list[Row]], quick: bool) -> None:
        self.experiment = experiment
        self.rows: dict[str, list[Row]] = {}
        self.waiting: list[tuple[Cell, dict[int, str]]] = []
        self.failed: list[Failure] = []
        self._requested_keys: set[str] = set()
        requested_seeds = {(cell.panel, cell.line.label, cell.value): cell.seeds for cell in experiment.cells(quick)}
        cache: dict[Any, Any] = {}
        # Rows of a full run stay in the file after a quick run.
        for cell in experiment.cells(quick=False):
            keys = keys_of(cell, cell.seeds, cache)
            for key in keys.values():
                if key in before:
                    self.rows[key] = [_label_row(row, cell) for row in before[key]]
            seeds = requested_seeds.get((cell.panel, cell.line.label, cell.value), range(0))
            self._requested_keys |= {keys[seed] for seed in seeds}
            missing = {seed: keys[seed] for seed in seeds if keys[seed] not in before}
            if missing:
                self.waiting.append((cell, missing))

    def build_results(self) -> Results:
        """Return the results of the requested runs so far."""
        rows = tuple(row for key, rows in self.rows.items() if key in self._requested_keys for row in rows)
        missing = len(self._requested_keys - set(self.rows))
        return Results(experiment=self.experiment, rows=rows, failed=tuple(self.failed), missing=missing)


def _run_cells(
    waiting: list[tuple[Cell, dict[int, str]]], jobs: int | None, take: Callable[[Cell, list[Row] | str], None]
) -> None:
    process_count = max(1, min(len(waiting), jobs or os.cpu_count() or 1))
    if process_count == 1:
        for cell, missing in waiting:
            take(cell, run_cell(cell, missing))
        return
    context = get_context("spawn")  # a fork does not copy compiled threads
    earlier_children = set(active_children())
    with ProcessPoolExecutor(process_count, mp_context=context, initializer=_prepare_process) as pool:
        running: dict[Future[list[Row] | str], Cell] = {}
        queue = iter(waiting)
        try:
            while True:
                while len(running) < 2 * process_count and (next_cell := next(queue, None)) is not None:
                    running[pool.submit(run_cell, *next_cell)] = next_cell[0]
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    take(running.pop(future), future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - earlier_children:
                process.terminate()  # a cell may take minutes, and its result is lost anyway
            raise


def _prepare_process() -> None:
    """Prepare a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all processes; the parent decides
    os.environ["DISCREET_THREADS"] = "1"  # each core has a cell of its own


def run_cell(cell: Cell, missing: Mapping[int, str]) -> list[Row] | str:
    """Return the rows of a cell for some seeds, or the reason why it cannot run."""
    rows: list[Row] = []
    for seed, key in missing.items():
        begun = time.perf_counter()
        try:
            numbers = measure_cell(cell, seed)
        except DiscreetError as error:
            return str(error)
        seconds = time.perf_counter() - begun
        rows += [
            _label_row(
                Row(key=key, panel="", line="", value="", seed=seed, metric=metric, number=number, seconds=seconds),
                cell,
            )
            for metric, number in numbers.items()
        ]
    return rows


def keys_of(cell: Cell, seeds: Iterable[int], identities: dict[Any, Any] | None = None) -> dict[int, str]:
    """Return a hash of all that the numbers of each run of a cell depend on, by seed.

    `known` caches the identities of data and code, which the cells of an experiment share.
    """
    identities = {} if identities is None else identities
    data, code = (cell.data,), (cell.experiment.measure, cell.line.name)
    if data not in identities:
        identities[data] = None if cell.data is None else _identify_data(cell.data)
    if code not in identities:
        used_modules, excluded_modules = list_modules(cell)
        identities[code] = fingerprint(*used_modules, excluded=excluded_modules)
    dependencies = {
        "measure": cell.experiment.measure,
        "data": identities[data],
        "line": [cell.line.name, dict(cell.line.settings)],
        "asked": dict(cell.asked),
        "code": identities[code],
    }
    dependency_texts = {seed: json.dumps(dependencies | {"seed": seed}, sort_keys=True, default=str) for seed in seeds}
    return {seed: hashlib.sha256(text.encode()).hexdigest() for seed, text in dependency_texts.items()}


def _find_missing_data(cell: Cell) -> str | None:
    """Return the name of the data set of a cell if it is one of ours and its file is missing."""
    from ..data.datasets import is_here, names

    if cell.data is None or cell.data.name not in names() or is_here(cell.data.name):
        return None
    return cell.data.name


def _identify_data(data: Data) -> list[Any]:
    """Return the identity of a data set: the name and origin of one of ours, the hash of a file."""
    from ..data.datasets import names, origin

    if data.name in names():
        return [data.name, data.people, origin(data.name)]
    return [hashlib.sha256(Path(data.name).read_bytes()).hexdigest(), data.people, sorted(data.reading.items())]


def _save_results(store: Store, plans: Mapping[str, _Plan], changed: set[str]) -> None:
    """Write the rows of the changed experiments, beside stored rows of other data, lines or points.

    Stored rows of older code at an equal point are dropped, so that files do not grow with each change.
    """
    for name in sorted(changed):
        rows = [row for rows_of_key in plans[name].rows.values() for row in rows_of_key]
        keys, points = {row.key for row in rows}, {_locate_row(row) for row in rows}
        stored_rows = (row for row in store.read(name) if row.key not in keys and _locate_row(row) not in points)
        store.write(name, [*stored_rows, *rows])
    changed.clear()


def _locate_row(row: Row) -> tuple[str, str, str, int]:
    """Return the point and the seed of a row."""
    return row.panel, row.line, row.value, row.seed


def _label_row(row: Row, cell: Cell) -> Row:
    """Return a row with the panel, line and value of a cell."""
    return replace(row, panel=cell.panel, line=cell.line.label, value=cell.value)
