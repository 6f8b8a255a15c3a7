"""Reports of devices, summed in a cluster: tasks sum parts with the compiled kernels, and the sums are added up.

All sums are whole numbers (`local.oracle_steps.adding`, `local.study.screening`), computed by the code of one machine.
The estimate is therefore the same to the last digit for any partition of the reports, and a task that runs twice
changes nothing. Reports are random already: no noise is drawn here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..baskets import is_spark_frame
from ..collector import (
    PACKED_COLUMN,
    ReportTable,
    RoundTotals,
    add_up_over,
    check_torn,
    find_report_column,
    save_reports,
    sum_blocks,
)
from ..errors import ClusterError, InputError, MisuseError
from ..heavy import sql
from ..local import Counts, MeanOracle, Oracle, ReportColumns
from ..local.oracle_steps import Words
from ..local.study import Ask, Sums, count_pairs, parse_round, sum_left_out, sum_reports
from ..temporary import make_temporary_directory
from ._session import SMALL_SLOTS, Cluster, Result, check_installed, find_slot, merge_results, session_for

# The numbers of an array in one piece, 1 MiB: a table of published seeds, of up to 2**27 numbers, has many pieces, and
# several tasks merge them. Larger: more memory for a merging task; smaller: more rows to shuffle.
_PIECE_NUMBERS = 1 << 17
_STEP_NAMES: dict[Any, str] = {
    sum_blocks: "adding up reports",
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
) -> RoundTotals:
    """Return the sums and the estimate of a round, from its reports in a cluster.

    Parameters
    ----------
    source
        A data frame of Spark with a column ``words`` (packed reports, as :meth:`StudyCollector.save_reports` writes
        them) or ``report`` (one report per row, as devices send them). Or Parquet files that Spark reads: a directory,
        a file or a pattern.
    question
        The round, or its JSON: from the file beside exported reports, or as sent to devices.
    screen
        Whether to leave out reports that honest devices are unlikely to send.
    session
        The session of Spark that reads files; by default the active session, or a new one.
    progress
        Called with the finished share of each step, up to 1.
    """
    ask = question if isinstance(question, Ask) else parse_round(question)
    if is_spark_frame(source):
        cluster = Cluster(source.sparkSession, progress=progress)
        frame, name = source, "The data frame"
    elif isinstance(source, str) or hasattr(source, "__fspath__"):
        cluster = Cluster(session or session_for(), progress=progress)
        name = os.fspath(source)
        is_directory = Path(name).is_dir() or not (name.endswith(".parquet") or "*" in name)
        with cluster.step("opening files"):
            # The directory has the question too, which is not a Parquet file.
            frame = cluster.session.read.parquet(f"{name.rstrip('/')}/*.parquet" if is_directory else name)
    else:
        raise MisuseError(
            f"Reports are a data frame of Spark, or Parquet files that it reads; {type(source).__name__} was given."
        )
    reports = _ClusterReports(cluster, frame, name, ask)
    result = add_up_over(ask, reports.sum_parts, screen=screen)
    return replace(result, refused=reports.refused)


class _ClusterReports:
    """The reports of a round in a cluster, for any number of passes; `refused` reports were invalid in the last."""

    def __init__(self, cluster: Cluster, frame: Any, name: str, ask: Ask) -> None:
        cluster.check()
        self._cluster, self._ask, self.refused = cluster, ask, 0
        with cluster.step("looking at the reports"):
            types = dict(frame.dtypes)
            self._column = find_report_column(list(types), name)
            column_type = types[self._column]
            if column_type != "binary" and (self._column == PACKED_COLUMN or column_type != "string"):
                listing = ", ".join(f"{column} of type {kind}" for column, kind in types.items())
                raise InputError(f"The column {self._column!r} of reports is binary, and here it is {listing}.")
            partition = frame.select(sql.spark_partition_id().alias("partition"))
            counts = sql.count("partition").alias("rows"), sql.count_distinct("partition").alias("partitions")
            row = cluster.collect(partition.agg(*counts)).to_pylist()[0]
        self._row_count, self._partitions = int(row["rows"]), int(row["partitions"])
        self._frame = frame.select(self._column)
        tasks = min(cluster.parallelism, self._row_count)
        if self._partitions < tasks:
            # Few large files would leave most cores idle: a report is a few bytes, and costs one evaluation for each
            # candidate.
            self._frame, self._partitions = self._frame.repartition(tasks), tasks

    def sum_parts(self, part: Callable[[Iterable[ReportColumns]], Sums]) -> Sums:
        """Return the sums of `part` over all reports."""
        # Sums of no reports have the shapes; the last array counts refused and torn reports.
        totals = *part([]), np.zeros(2, np.int64)
        if self._row_count:
            work = partial(_sum_reports, part=part, oracle=self._ask.oracle, column=self._column, piece=_PIECE_NUMBERS)
            step = _STEP_NAMES[part.func if isinstance(part, partial) else part]
            small_arrays, large_pieces = _split_arrays(totals, _PIECE_NUMBERS)
            result_of_slot = merge_results(
                self._cluster, self._frame, self._partitions, work, np.add, step, pieces=len(large_pieces)
            )
            small_sums = [result for slot, result in result_of_slot.items() if slot < SMALL_SLOTS]
            joined_sums = sum(small_sums, np.zeros(sum(map(len, small_arrays)), np.int64))
            # `small_arrays` and `large_pieces` are views: adding to them changes the totals.
            sums_of_arrays = np.split(joined_sums, np.cumsum([len(array) for array in small_arrays]))
            for view, sums in zip(small_arrays, sums_of_arrays, strict=False):
                view += sums
            for slot, view in enumerate(large_pieces, SMALL_SLOTS):
                if slot in result_of_slot:
                    view += result_of_slot[slot]
        *part_totals, (refused, torn) = totals
        check_torn(int(torn), self._ask)
        self.refused = int(refused)
        return tuple(part_totals)


def _sum_reports(
    batches: Iterable[Any],
    part: Callable[[Iterable[ReportColumns]], Sums],
    oracle: Oracle | MeanOracle,
    column: str,
    piece: int,
) -> Iterator[Result]:
    """Run in an executor: yield the sums of a partition in pieces; pieces of zeros are left out."""
    table = ReportTable(oracle, column)
    sums = part(table.columns(batches))
    # The counts of the table are complete only after `part` has read all batches.
    small_arrays, large_pieces = _split_arrays((*sums, np.array([table.refused, table.torn], np.int64)), piece)
    pieces = ((find_slot(), np.concatenate(small_arrays)), *enumerate(large_pieces, SMALL_SLOTS))
    yield from ((slot, numbers) for slot, numbers in pieces if numbers.any())


def _split_arrays(sums: Sums, piece: int) -> tuple[list[Counts], list[Counts]]:
    """Return the small arrays, which travel together, and pieces of the large arrays, of `piece` numbers: all views."""
    small_arrays: list[Counts] = []
    large_pieces: list[Counts] = []
    for array in sums:
        flat = array.reshape(-1)
        if len(flat) <= piece:
            small_arrays.append(flat)
        else:
            large_pieces += [flat[start : start + piece] for start in range(0, len(flat), piece)]
    return small_arrays, large_pieces


@dataclass(frozen=True, kw_only=True)
class SparkAdder:
    """Adds up the closed rounds of a collector in a cluster.

    Reports pass through a directory, as Parquet files that are deleted when the round is added up, or has failed.

    Parameters
    ----------
    folder
        The directory, which the executors see under the same path. Made if it is missing.
    master, remote
        The address of Spark, which is started for a round and stopped after it.
    session
        A session to use instead, which stays open.
    """

    folder: Path
    master: str | None = None
    remote: str | None = None
    session: Any = None

    def __post_init__(self) -> None:
        check_installed()  # here, and not when the first round is closed

    def __call__(self, ask: Ask, blocks: Callable[[], Iterable[Words]], *, screen: bool = True) -> RoundTotals:
        """Return the sums and the estimate of packed reports."""
        folder = self.folder.absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise InputError(f"The folder {folder} cannot be made: {error.strerror}.") from None
        with ExitStack() as stack:
            session = self.session
            if session is None:
                session = session_for(self.master, self.remote, quiet=True)
                stack.callback(session.stop)
            directory = stack.enter_context(make_temporary_directory("round-", folder))
            saved_count = save_reports(directory, ask, blocks())
            if not saved_count:
                return add_up_over(ask, lambda part: part([]), screen=screen)
            result = add_up_reports(f"{directory.as_uri()}/*.parquet", ask, screen=screen, session=session)
        counted_reports = result.estimate.people + result.left_out
        if counted_reports != saved_count or result.refused:
            raise ClusterError(
                f"Spark counted {counted_reports:,} of the {saved_count:,} reports that were handed to it. Do its "
                f"executors see {folder} as this machine does?"
            )
        return result
