"""Reports of devices, added up in a cluster: each task sums its part with the compiled kernels, and sums are summed.

What is summed are whole numbers (`local.oracle_steps.adding`, `local.study.screening`), by the code that sums them on
one machine. So the estimate is the same to the last number, however the reports are partitioned, and a task that is run
twice changes nothing. Reports are random already: no noise is drawn here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..baskets import is_spark_frame
from ..collector import PACKED, AddedUp, ReportTable, added, added_over, check_torn, column_of, save_reports
from ..errors import ClusterError, InputError, MisuseError
from ..local import Counts, MeanOracle, Oracle, ReportColumns
from ..local.oracle_steps import Words
from ..local.study import Ask, Sums, count_pairs, parse_round, sum_left_out, sum_reports
from ..temporary import make_temporary_directory
from ._session import Cluster, check_installed, session_for
from ._sums import AT_ONCE, Result, put_together, slot_here

# Numbers of an array that travel in one piece: a table of published seeds, which has up to 2^27, is cut into many.
_PIECE = 1 << 17
_STEPS: dict[Any, str] = {
    added: "adding up reports",
    sum_reports: "adding up reports",
    count_pairs: "counting values that come together",
    sum_left_out: "looking for reports to leave out",
}


def add_up_reports(
    source: Any,
    question: Ask | str | bytes | Mapping[str, Any],
    *,
    screen: bool = True,
    session: Any = None,
    progress: Callable[[float], object] | None = None,
) -> AddedUp:
    """Return what the reports of a round add up to, summed in a cluster.

    Parameters
    ----------
    source
        A data frame of Spark with a column ``words`` (packed reports, as :meth:`StudyCollector.save_reports` writes
        them) or ``report`` (one a row, as devices send them). Or Parquet files that Spark reads: a folder, a file or a
        pattern.
    question
        The round, or its JSON: as it lies beside reports that were exported, or as it travels to devices.
    screen
        Whether reports that no honest device is likely to have sent are left out.
    session
        The session of Spark that reads files; by default the one that is active, or a new one.
    progress
        Told how far each step is, as a fraction.
    """
    ask = question if isinstance(question, Ask) else parse_round(question)
    if is_spark_frame(source):
        cluster = Cluster(source.sparkSession, progress=progress)
        frame, where = source, "The data frame"
    elif isinstance(source, str) or hasattr(source, "__fspath__"):
        cluster = Cluster(session or session_for(), progress=progress)
        where = os.fspath(source)
        with cluster.step("opening files"):
            # The round lies beside its reports, and is no Parquet file.
            frame = cluster.session.read.parquet(f"{where.rstrip('/')}/*.parquet" if _is_folder(where) else where)
    else:
        raise MisuseError(
            f"Reports are a data frame of Spark, or Parquet files that it reads; {type(source).__name__} was given."
        )
    reports = _Reports(cluster, frame, where, ask)
    found = added_over(ask, reports.over, screen=screen)
    return replace(found, refused=reports.refused)


def _is_folder(place: str) -> bool:
    return Path(place).is_dir() or not (place.endswith(".parquet") or "*" in place)


class _Reports:
    """The reports of a round in a cluster: gone through as often as it takes."""

    def __init__(self, cluster: Cluster, frame: Any, where: str, ask: Ask) -> None:
        from pyspark.sql import functions as sql

        cluster.check()
        self._cluster, self._ask, self.refused = cluster, ask, 0
        with cluster.step("looking at the reports"):
            types = dict(frame.dtypes)
            self._column = column_of(list(types), where)
            if types[self._column] != "binary" and (self._column == PACKED or types[self._column] != "string"):
                raise InputError(f"The column {self._column!r} of reports is binary, and here it is {_kind(types)}.")
            at = frame.select(sql.spark_partition_id().alias("at"))
            asked_for = at.agg(sql.count("at").alias("rows"), sql.count_distinct("at").alias("partitions"))
            told = cluster.collected(asked_for).to_pylist()[0]
        self._rows, self._partitions = int(told["rows"]), int(told["partitions"])
        self._frame = frame.select(self._column)
        tasks = min(cluster.parallelism, self._rows)
        if self._partitions < tasks:
            # Few large files would leave most of the cluster idle: a report is a few bytes, and costs as many
            # evaluations as there are candidates.
            self._frame, self._partitions = self._frame.repartition(tasks), tasks

    def over(self, part: Callable[[Iterable[ReportColumns]], Sums]) -> Sums:
        """Go through all reports: the sums of what `part` gives."""
        whole = *part([]), np.zeros(2, np.int64)
        if self._rows:
            work = partial(_summed, part=part, oracle=self._ask.oracle, column=self._column, piece=_PIECE)
            name = part.func if isinstance(part, partial) else part
            small, large = _cut(whole, _PIECE)
            found = put_together(
                self._cluster, self._frame, self._partitions, work, np.add, _STEPS[name], pieces=len(large)
            )
            total = sum(
                (one for slot, one in found.items() if slot < AT_ONCE), np.zeros(sum(map(len, small)), np.int64)
            )
            for numbers, more in zip(small, np.split(total, np.cumsum([len(one) for one in small])), strict=False):
                numbers += more
            for slot, numbers in enumerate(large, AT_ONCE):
                if slot in found:
                    numbers += found[slot]
        *sums, (refused, torn) = whole
        check_torn(int(torn), self._ask)
        self.refused = int(refused)
        return tuple(sums)


def _kind(types: Mapping[str, str]) -> str:
    return ", ".join(f"{name} of type {kind}" for name, kind in types.items())


def _summed(
    batches: Iterable[Any],
    part: Callable[[Iterable[ReportColumns]], Sums],
    oracle: Oracle | MeanOracle,
    column: str,
    piece: int,
) -> Iterator[Result]:
    """Run in an executor: what the reports of a partition come to, in pieces; what is all zeros adds nothing."""
    table = ReportTable(oracle, column)
    sums = part(table.columns(batches))
    small, large = _cut((*sums, np.array([table.refused, table.torn], np.int64)), piece)
    every = ((slot_here(), np.concatenate(small)), *enumerate(large, AT_ONCE))
    yield from ((slot, numbers) for slot, numbers in every if numbers.any())


def _cut(sums: Sums, piece: int) -> tuple[list[Counts], list[Counts]]:
    """Return the arrays that travel together, and large ones in pieces of so many numbers: all parts of the arrays."""
    flat = [one.reshape(-1) for one in sums]
    large = [one[at : at + piece] for one in flat if len(one) > piece for at in range(0, len(one), piece)]
    return [one for one in flat if len(one) <= piece], large


@dataclass(frozen=True, kw_only=True)
class SparkAdder:
    """Adds up the closed rounds of a collector in a cluster.

    Reports pass through a folder, as Parquet files that are gone when the round is added up, or could not be.

    Parameters
    ----------
    folder
        Where they pass through: a folder that the executors see under the same name. Made where there is none.
    master, remote
        Where Spark runs; it is started for a round, and stopped after it.
    session
        A session to use instead, which goes on.
    """

    folder: Path
    master: str | None = None
    remote: str | None = None
    session: Any = None

    def __post_init__(self) -> None:
        check_installed()  # and not when the first round is closed

    def __call__(self, ask: Ask, blocks: Callable[[], Iterable[Words]], *, screen: bool = True) -> AddedUp:
        """Return what packed reports add up to."""
        folder = self.folder.absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise InputError(f"The folder {folder} cannot be made: {error.strerror}.") from None
        with self._lent() as session, make_temporary_directory("round-", folder) as place:
            many = save_reports(place, ask, blocks())
            if not many:
                return added_over(ask, lambda part: part([]), screen=screen)
            found = add_up_reports(f"{place.as_uri()}/*.parquet", ask, screen=screen, session=session)
        seen = found.estimate.people + found.left_out + found.refused
        if seen != many or found.refused:
            raise ClusterError(
                f"Spark counted {seen - found.refused:,} of the {many:,} reports that were handed to it. Do its "
                f"executors see {folder} as this machine does?"
            )
        return found

    @contextmanager
    def _lent(self) -> Iterator[Any]:
        if self.session is not None:
            yield self.session
            return
        session = session_for(self.master, self.remote, quiet=True)
        try:
            yield session
        finally:
            session.stop()
