"""Running experiments: in parallel, again only what changed, and taken up where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ..errors import DiscreetError
from .experiment import Cell, Data, Experiment
from .fingerprint import fingerprint
from .measures import measured, modules
from .store import Row, Store

# Results are written after so many seconds of work, so that an interrupt loses little.
_OFTEN = 10.0

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
    """

    experiment: Experiment
    rows: tuple[Row, ...]
    failed: tuple[str, ...] = ()

    def numbers(self, panel: str, line: str, value: str, metric: str) -> list[float]:
        """Return one number of all repeats, in the order of their seeds."""
        return self._found.get((panel, line, value, metric), [])

    @cached_property
    def _found(self) -> dict[tuple[str, str, str, str], list[float]]:
        found: dict[tuple[str, str, str, str], list[float]] = {}
        for row in sorted(self.rows, key=lambda row: row.seed):
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
        Where results are kept, one Parquet file an experiment.
    quick
        Three repeats and three points of an axis, instead of all.
    jobs
        How many processes; as many as there are cores if it is not given.
    progress
        Told the share of the cells that is done.
    """
    store = Store(Path(folder))
    kept = store.everything()
    rows: dict[str, dict[str, list[Row]]] = {one.name: {} for one in experiments}
    waiting: list[tuple[Cell, dict[int, str]]] = []
    wanted: dict[str, set[str]] = {one.name: set() for one in experiments}
    total = 0
    for experiment in experiments:
        asked = {(cell.panel, cell.line.label, cell.value): cell.seeds for cell in experiment.cells(quick)}
        # What a full run kept stays in the file, though a quick one does not ask for it.
        for cell in experiment.cells(quick=False):
            keys = {seed: key_of(cell, seed) for seed in cell.seeds}
            for key in keys.values():
                if key in kept:
                    rows[experiment.name][key] = [_named(row, cell) for row in kept[key]]
            seeds = asked.get((cell.panel, cell.line.label, cell.value), range(0))
            total += bool(seeds)
            wanted[experiment.name] |= {keys[seed] for seed in seeds}
            missing = {seed: keys[seed] for seed in seeds if keys[seed] not in kept}
            if missing:
                waiting.append((cell, missing))
    failed: dict[str, list[str]] = {one.name: [] for one in experiments}
    written = time.monotonic()
    changed: set[str] = set(rows)

    def take(cell: Cell, outcome: list[Row] | str, done: int) -> None:
        nonlocal written
        name = cell.experiment.name
        if isinstance(outcome, str):
            failed[name].append(f"{cell}: {outcome}")
        else:
            for row in outcome:
                rows[name].setdefault(row.key, []).append(row)
            changed.add(name)
        if progress is not None:
            progress(done / total)
        if time.monotonic() - written > _OFTEN:
            _keep(store, rows, changed)
            written = time.monotonic()

    try:
        _work(waiting, total, jobs, take)
    finally:
        _keep(store, rows, changed)
    return [
        Results(
            experiment=one,
            rows=tuple(row for key, several in rows[one.name].items() if key in wanted[one.name] for row in several),
            failed=tuple(failed[one.name]),
        )
        for one in experiments
    ]


def _work(
    waiting: list[tuple[Cell, dict[int, str]]], total: int, jobs: int | None, take: Callable[[Cell, Any, int], None]
) -> None:
    done = total - len(waiting)
    many = max(1, min(len(waiting), jobs or os.cpu_count() or 1))
    if many == 1:
        for cell, missing in waiting:
            done += 1
            take(cell, work(cell, missing), done)
        return
    context = get_context("spawn")  # compiled threads do not survive a fork
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
                    done += 1
                    take(running.pop(future), future.result(), done)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _alone() -> None:
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


def key_of(cell: Cell, seed: int) -> str:
    """Return a hash of everything that the numbers of one run depend on."""
    about = {
        "measure": cell.experiment.measure,
        "data": None if cell.data is None else _identity(cell.data),
        "line": [cell.line.name, dict(cell.line.settings)],
        "asked": dict(cell.asked),
        "seed": seed,
        "code": fingerprint(*modules(cell)),
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()


def _identity(data: Data) -> list[Any]:
    """Return what tells data sets apart: the name and the text of one of ours, the bytes of a file."""
    from .datasets import DATA_SETS, names

    if data.name in names():
        known = DATA_SETS.get(data.name)
        return [data.name, data.people, None if known is None else known.sha256]
    return [hashlib.sha256(Path(data.name).read_bytes()).hexdigest(), data.people, sorted(data.reading.items())]


def _keep(store: Store, rows: Mapping[str, Mapping[str, list[Row]]], changed: set[str]) -> None:
    for name in sorted(changed):
        store.keep(name, (row for several in rows[name].values() for row in several))
    changed.clear()


def _named(row: Row, cell: Cell) -> Row:
    """Return a row under the names of a cell."""
    return replace(row, panel=cell.panel, line=cell.line.label, value=cell.value)
