"""Running experiments: in parallel, again only what changed, and taken up where it stopped."""

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

from ..measure.measures import measured, modules
from .asked_names import check_asked
from .experiment import Cell, Data, Experiment
from .failures import Failure
from .fingerprint import fingerprint
from .progress import Pace
from .store import Row, Store

# Results are written after so many seconds of work, so that an interrupt loses little; and where there are so many that
# writing takes long itself, after so many times as long, so that it stays a small part of the work.
_OFTEN, _TIMES = 10.0, 20

# What says nothing where there was nothing to find.
_OF_WANTED = frozenset({"false_negative_rate", "precision", "recall", "f_score", "cumulative_rank"})

Progress = Callable[[float], object]


@dataclass(frozen=True, kw_only=True)
class Results:
    """What an experiment gave.

    Parameters
    ----------
    experiment
        Which one.
    rows
        One for every number of every run.
    failed
        What could not be run, and why.
    missing
        How many runs were asked for and are not there.
    """

    experiment: Experiment
    rows: tuple[Row, ...]
    failed: tuple[Failure, ...] = ()
    missing: int = 0

    def numbers(self, panel: str, line: str, value: str, metric: str) -> list[float]:
        """Return one number of all repeats, by their seeds; where nothing is wanted, no share of it."""
        return self._found.get((panel, line, value, metric), [])

    @cached_property
    def _found(self) -> dict[tuple[str, str, str, str], list[float]]:
        found: dict[tuple[str, str, str, str], list[float]] = {}
        empty = {row.key for row in self.rows if row.metric == "wanted" and not row.number}
        for row in sorted(self.rows, key=lambda row: row.seed):
            if row.key in empty and row.metric in _OF_WANTED:
                continue
            found.setdefault((row.panel, row.line, row.value, row.metric), []).append(row.number)
        return found

    @property
    def panels(self) -> tuple[str, ...]:
        """The panels that were run: a data set each, or a value of the second parameter."""
        ran = {row.panel for row in self.rows}
        return tuple(dict.fromkeys(cell.panel for cell in self.experiment.cells(quick=False) if cell.panel in ran))

    @property
    def values(self) -> tuple[str, ...]:
        """The points of the axis that were run, as text, in order."""
        ran = {row.value for row in self.rows}
        return tuple(dict.fromkeys(cell.value for cell in self.experiment.cells(quick=False) if cell.value in ran))


def run(
    experiments: Sequence[Experiment],
    folder: str | os.PathLike[str],
    *,
    quick: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Results]:
    """Run experiments, and return what they gave.

    Runs whose code, data and question did not change since they were kept in `folder` are not run again.

    Parameters
    ----------
    experiments
        What is to be run.
    folder
        Where results are kept, one Parquet file per experiment.
    quick
        Three repeats and three points of an axis, instead of all.
    jobs
        How many processes; as many as there are cores if it is not given.
    progress
        Told the share of the work that is done, by the time it takes.
    """
    if jobs is not None and jobs < 1:
        raise MisuseError(f"The number of processes is {jobs}; it must be 1 or more.")
    for one in experiments:
        for cell in one.cells(quick=False):
            check_asked(cell)
    store = Store(Path(folder))
    before = store.everything()
    asked = [_Asked(one, before, quick) for one in experiments]
    by_name = {one.experiment.name: one for one in asked}
    waiting = [cell for one in asked for cell in one.waiting]
    pace = Pace(waiting, before.values())
    written, waits = time.monotonic(), _OFTEN
    changed: set[str] = set(by_name)

    def take(cell: Cell, outcome: list[Row] | str) -> None:
        nonlocal written, waits
        one = by_name[cell.experiment.name]
        if isinstance(outcome, str):
            one.failed.append(
                Failure(
                    experiment=cell.experiment.name, cell=str(cell), reason=outcome, missing_data=_missing_data(cell)
                )
            )
        else:
            for row in outcome:
                one.rows.setdefault(row.key, []).append(row)
            changed.add(cell.experiment.name)
        share = pace.done(cell, [] if isinstance(outcome, str) else outcome)
        if progress is not None:
            progress(share)
        if (begun := time.monotonic()) - written > waits:
            _keep(store, by_name, changed)
            written = time.monotonic()
            waits = max(_OFTEN, _TIMES * (written - begun))

    try:
        _work(waiting, jobs, take)
    finally:
        _keep(store, by_name, changed)
    return [one.results() for one in asked]


def kept(experiments: Sequence[Experiment], folder: str | os.PathLike[str], *, quick: bool = False) -> list[Results]:
    """Return what is kept of experiments, without running anything; `missing` says how much is not there.

    Parameters
    ----------
    experiments, folder, quick
        As for :func:`run`.
    """
    before = Store(Path(folder)).everything()
    return [_Asked(one, before, quick).results() for one in experiments]


class _Asked:
    """What is asked of one experiment: what is there already, what waits, and what could not be run."""

    def __init__(self, experiment: Experiment, before: Mapping[str, list[Row]], quick: bool) -> None:
        self.experiment = experiment
        self.rows: dict[str, list[Row]] = {}
        self.waiting: list[tuple[Cell, dict[int, str]]] = []
        self.failed: list[Failure] = []
        self._wanted: set[str] = set()
        asked = {(cell.panel, cell.line.label, cell.value): cell.seeds for cell in experiment.cells(quick)}
        known: dict[Any, Any] = {}
        # What a full run kept stays in the file, though a quick one does not ask for it.
        for cell in experiment.cells(quick=False):
            keys = keys_of(cell, cell.seeds, known)
            for key in keys.values():
                if key in before:
                    self.rows[key] = [_named(row, cell) for row in before[key]]
            seeds = asked.get((cell.panel, cell.line.label, cell.value), range(0))
            self._wanted |= {keys[seed] for seed in seeds}
            missing = {seed: keys[seed] for seed in seeds if keys[seed] not in before}
            if missing:
                self.waiting.append((cell, missing))

    def results(self) -> Results:
        """Return what there is now of what was asked for."""
        rows = tuple(row for key, several in self.rows.items() if key in self._wanted for row in several)
        missing = len(self._wanted - set(self.rows))
        return Results(experiment=self.experiment, rows=rows, failed=tuple(self.failed), missing=missing)


def _work(
    waiting: list[tuple[Cell, dict[int, str]]], jobs: int | None, take: Callable[[Cell, list[Row] | str], None]
) -> None:
    many = max(1, min(len(waiting), jobs or os.cpu_count() or 1))
    if many == 1:
        for cell, missing in waiting:
            take(cell, work(cell, missing))
        return
    context = get_context("spawn")  # compiled threads do not survive a fork
    others = set(active_children())
    with ProcessPoolExecutor(many, mp_context=context, initializer=_alone) as pool:
        running: dict[Future[list[Row] | str], Cell] = {}
        left = iter(waiting)
        try:
            while True:
                while len(running) < 2 * many and (one := next(left, None)) is not None:
                    running[pool.submit(work, *one)] = one[0]
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    take(running.pop(future), future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - others:
                process.terminate()  # a cell may take minutes, and what it would give is lost anyway
            raise


def _alone() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to everyone; who waits for the results decides
    os.environ["DISCREET_THREADS"] = "1"  # cores are shared out by cells


def work(cell: Cell, missing: Mapping[int, str]) -> list[Row] | str:
    """Run one cell for some seeds; what cannot be run says why."""
    found: list[Row] = []
    for seed, key in missing.items():
        begun = time.perf_counter()
        try:
            numbers = measured(cell, seed)
        except DiscreetError as error:
            return str(error)
        seconds = time.perf_counter() - begun
        found += [
            _named(
                Row(key=key, panel="", line="", value="", seed=seed, metric=metric, number=number, seconds=seconds),
                cell,
            )
            for metric, number in numbers.items()
        ]
    return found


def keys_of(cell: Cell, seeds: Iterable[int], known: dict[Any, Any] | None = None) -> dict[int, str]:
    """Return a hash of everything that the numbers of each run of a cell depend on, by seed.

    In `known` is kept what many cells of an experiment have in common: their code and their data.
    """
    known = {} if known is None else known
    data, code = (cell.data,), (cell.experiment.measure, cell.line.name)
    if data not in known:
        known[data] = None if cell.data is None else _identity(cell.data)
    if code not in known:
        depends, apart = modules(cell)
        known[code] = fingerprint(*depends, apart=apart)
    about = {
        "measure": cell.experiment.measure,
        "data": known[data],
        "line": [cell.line.name, dict(cell.line.settings)],
        "asked": dict(cell.asked),
        "code": known[code],
    }
    texts = {seed: json.dumps(about | {"seed": seed}, sort_keys=True, default=str) for seed in seeds}
    return {seed: hashlib.sha256(text.encode()).hexdigest() for seed, text in texts.items()}


def _missing_data(cell: Cell) -> str | None:
    """Return the name of the data set of a cell, where that is one of ours and its file is not here."""
    from ..data.datasets import is_here, names

    if cell.data is None or cell.data.name not in names() or is_here(cell.data.name):
        return None
    return cell.data.name


def _identity(data: Data) -> list[Any]:
    """Return what tells data sets apart: the name and the origin of one of ours, the bytes of a file."""
    from ..data.datasets import names, origin

    if data.name in names():
        return [data.name, data.people, origin(data.name)]
    return [hashlib.sha256(Path(data.name).read_bytes()).hexdigest(), data.people, sorted(data.reading.items())]


def _keep(store: Store, asked: Mapping[str, _Asked], changed: set[str]) -> None:
    """Write what there is of these experiments beside what was kept of them on other data, with other lines or before.

    What a run of other code left at the same place goes, so that files do not grow with every change.
    """
    for name in sorted(changed):
        rows = [row for several in asked[name].rows.values() for row in several]
        keys, places = {row.key for row in rows}, {_place(row) for row in rows}
        others = (row for row in store.read(name) if row.key not in keys and _place(row) not in places)
        store.keep(name, [*others, *rows])
    changed.clear()


def _place(row: Row) -> tuple[str, str, str, int]:
    return row.panel, row.line, row.value, row.seed


def _named(row: Row, cell: Cell) -> Row:
    """Return a row under the names of a cell."""
    return replace(row, panel=cell.panel, line=cell.line.label, value=cell.value)
