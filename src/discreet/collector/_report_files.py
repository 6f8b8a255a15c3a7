"""Reports in Parquet files, with the round that they answer beside them, for adding up on other machines.

A row of the column `words` is any number of packed reports in sequence, as in a batch (`docs/wire.md`). A row of the
column `report` is one report as a device sent it. A table has one of the two columns. A row that is no report of the
round is refused and counted, and affects no other row.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..atomic_write import open_replacement
from ..errors import InputError, MisuseError
from ..kernels import in_threads, threads
from ..local import MeanOracle, Oracle, ReportColumns
from ..local.oracle_steps import Words
from ..local.study import Ask, Sums, parse_round
from ._core import RoundTotals, add_up_over, join_blocks, sum_on_card

T = TypeVar("T")

ROUND_FILE = "round.json"
PACKED_COLUMN, SENT_COLUMN = "words", "report"
MAX_AGGREGATE_BYTES = 1 << 30
"""Bytes of all aggregates that threads fill side by side; one aggregate is always allowed. Larger: more memory;
smaller: fewer threads add up the large aggregates of long item lists."""

_ROW_BYTES = 1 << 16  # of packed reports; larger: more memory per row; smaller: more overhead of Parquet
_ROWS_PER_READ = 256  # rows that are written or read at a time: 16 MiB of packed reports
_FILE_BYTES = 1 << 27  # Spark reads 128 MiB as one partition by default (spark.sql.files.maxPartitionBytes)
_REPORTS_PER_READ = 1 << 15  # of the column `report`; larger: more memory; smaller: more calls of the compiled loops
_BINARY_TYPES = ("binary", "large_binary", "fixed_size_binary")  # Arrow's names of types
_TEXT_TYPES = ("string", "large_string")


class ReportTable:
    """A reader of report batches from a table, which yields the good reports and counts the bad rows.

    Attributes
    ----------
    refused
        The number of reports that the oracle of the round never makes.
    torn
        The number of rows that are no whole number of reports.
    """

    def __init__(self, oracle: Oracle | MeanOracle, column: str) -> None:
        self.oracle, self.column = oracle, column
        self.refused = self.torn = 0

    def columns(self, batches: Iterable[Any]) -> Iterator[ReportColumns]:
        """Yield the good reports of Arrow batches, in blocks."""
        blocks = self._unpack(batches) if self.column == PACKED_COLUMN else self._parse(batches)
        return (columns for columns in blocks if len(next(iter(columns.values()))))

    def _unpack(self, batches: Iterable[Any]) -> Iterator[ReportColumns]:
        for words in join_blocks(self.words(batches)):
            is_good = self.oracle.codec.find_good_rows(words)
            self.refused += int(len(words) - is_good.sum())
            yield self.oracle.codec.unpack(words if is_good.all() else words[is_good])

    def words(self, batches: Iterable[Any]) -> Iterator[Words]:
        """Yield packed reports of Arrow batches, good and bad; `torn` counts rows of a wrong length."""
        word_count = self.oracle.codec.width
        for batch in batches:
            for row in self._binary_rows(batch):
                content = row.as_buffer()
                if content is None or content.size % (4 * word_count):
                    self.torn += 1
                else:
                    yield np.frombuffer(content, "<u4").astype(np.uint32, copy=False).reshape(-1, word_count)

    def _parse(self, batches: Iterable[Any]) -> Iterator[ReportColumns]:
        reports = (report or b"" for batch in batches for report in self._binary_rows(batch).to_pylist())
        while block := list(islice(reports, _REPORTS_PER_READ)):
            parsed = self.oracle.codec.read_reports(block)
            self.refused += len(parsed.refused)
            yield parsed.columns

    def _binary_rows(self, batch: Any) -> Any:
        """Return the rows as bytes: a text that is no UTF-8 is one bad report, and no error of the whole file."""
        import pyarrow as pa

        return batch.column(self.column).cast(pa.large_binary())


def find_report_column(names: Iterable[str], source: str) -> str:
    """Return the column of a table with the reports; `source` names the table in messages."""
    columns = [column for column in (PACKED_COLUMN, SENT_COLUMN) if column in set(names)]
    if len(columns) != 1:
        raise InputError(
            f"{source} has the columns {', '.join(names) or '(none)'}; reports are in a column {PACKED_COLUMN!r}, as "
            f"`discreet study reports` writes them, or in a column {SENT_COLUMN!r}, one a row as devices send them."
        )
    return columns[0]


def check_torn(torn: int, ask: Ask) -> None:
    """Check that all rows are whole numbers of reports: other rows belong to a different round."""
    if torn:
        report_bytes = 4 * ask.oracle.codec.width
        raise InputError(
            f"{torn:,} rows of the column {PACKED_COLUMN!r} are no whole number of reports of {report_bytes} bytes: "
            "these are not the reports of this round."
        )


def save_reports(directory: Path, ask: Ask, blocks: Iterable[Words]) -> int:
    """Write a round and its packed reports into a directory, and return the number of reports.

    The files are readable by their owner alone.

    Parameters
    ----------
    directory
        An empty directory; it is made if necessary.
    ask
        The round.
    blocks
        The packed reports, in blocks.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if any(path.suffix == ".parquet" or path.name == ROUND_FILE for path in directory.iterdir()):
            raise MisuseError(f"There are reports in {directory} already: give another folder.")
    except OSError as error:
        raise InputError(f"The folder {directory} cannot be used: {error.strerror}.") from None
    report_count, rows = 0, _cut_rows(blocks, ask.oracle.codec.width)
    with open_replacement(directory / ROUND_FILE, private=True) as stream:
        stream.write(f"{ask.text()}\n".encode())
    for number, row in enumerate(rows):
        with open_replacement(directory / f"reports-{number:05d}.parquet", private=True) as stream:
            report_count += _write_file(stream, row, rows)
    return report_count


def _write_file(stream: Any, row: Words, more_rows: Iterator[Words]) -> int:
    """Write one file with a row and as many more rows as fit, and return the number of reports."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([pa.field(PACKED_COLUMN, pa.binary(), nullable=False)])
    report_count, file_bytes, rows = 0, 0, [row]
    # Reports are noise: compression and dictionaries gain nothing, and a smallest or largest report says nothing.
    with pq.ParquetWriter(stream, schema, compression="none", use_dictionary=False, write_statistics=False) as writer:
        while rows:
            content = [np.ascontiguousarray(words, "<u4").tobytes() for words in rows]
            writer.write_table(pa.table({PACKED_COLUMN: pa.array(content, pa.binary())}, schema=schema))
            report_count += sum(map(len, rows))
            file_bytes += sum(map(len, content))
            rows = list(islice(more_rows, _ROWS_PER_READ)) if file_bytes < _FILE_BYTES else []
    return report_count


def _cut_rows(blocks: Iterable[Words], word_count: int) -> Iterator[Words]:
    """Yield packed reports in rows of about `_ROW_BYTES`."""
    step = max(1, _ROW_BYTES // (4 * word_count))
    for words in join_blocks(blocks):
        yield from (words[start : start + step] for start in range(0, len(words), step))


def read_round(source: Path | str, question: Path | str | None = None) -> Ask:
    """Return the round that reports answer, from the file `question` or from the round file beside the reports."""
    path = Path(question) if question is not None else Path(source) / ROUND_FILE
    try:
        return parse_round(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}. `discreet study reports` writes the round beside its reports; "
            "name its file with --question where it is elsewhere."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.") from None


def list_report_files(source: Path | str) -> list[str]:
    """Return the paths of the Parquet files of a directory, a pattern or a single file, sorted."""
    pattern = os.fspath(source)
    files = sorted(glob.glob(f"{glob.escape(pattern)}/*.parquet" if Path(pattern).is_dir() else pattern))  # noqa: PTH207
    if not files:
        raise InputError(f"There are no Parquet files of reports at {pattern}.")
    return files


def add_up_files(source: Path | str, ask: Ask, *, screen: bool = True) -> RoundTotals:
    """Return the totals of the reports in Parquet files, added up on this machine.

    Parameters
    ----------
    source
        A directory, a file, or a pattern like ``reports/*.parquet``.
    ask
        The round that the reports answer.
    screen
        Whether to leave out reports that an honest device is unlikely to send.
    """
    refused = 0

    def sum_over(summing: Callable[[Iterable[ReportColumns]], Sums]) -> Sums:
        nonlocal refused
        sums, refused = sum_files(source, ask, summing)
        return sums

    totals = add_up_over(ask, sum_over, screen=screen)
    return replace(totals, refused=refused)


def sum_files(source: Path | str, ask: Ask, summing: Callable[[Iterable[ReportColumns]], Sums]) -> tuple[Sums, int]:
    """Return the sums of the reports in files by a summing function, and the number of refused reports."""
    files = list_report_files(source)
    columns = [_find_column(file) for file in files]
    tables: list[ReportTable] = []

    def open_tables() -> Iterator[tuple[ReportTable, str]]:
        tables[:] = [ReportTable(ask.oracle, column) for column in columns]
        return zip(tables, files, strict=True)

    card_sums = None
    if set(columns) == {PACKED_COLUMN}:
        # Packed files are little else than reports, so their size gives the number of reports.
        report_count = sum(Path(file).stat().st_size for file in files) // (4 * ask.oracle.codec.width)
        card_sums = sum_on_card(summing, ask.oracle, lambda: _read_ahead(open_tables()), report_count)
    sums, refused = card_sums or (_sum_in_threads(summing, list(open_tables()), ask.oracle), 0)
    check_torn(sum(table.torn for table in tables), ask)
    return sums, sum(table.refused for table in tables) + refused


def _sum_in_threads(
    summing: Callable[[Iterable[ReportColumns]], Sums],
    tables: list[tuple[ReportTable, str]],
    oracle: Oracle | MeanOracle,
) -> Sums:
    """Return the sums of all files: each thread sums a share of the files, as far as the aggregates fit into memory."""
    readers = min(threads(), len(tables))
    shares = threads() if readers == threads() else 1
    if shares * (aggregate_bytes := oracle.adder.start().nbytes) > MAX_AGGREGATE_BYTES:
        # Some adders fill one aggregate on all cores: then more aggregates would only take memory.
        shares = 1 if oracle.adder.on_all_cores else max(1, MAX_AGGREGATE_BYTES // aggregate_bytes)
    readers_per_share = -(-readers // shares)

    def sum_share(share: int) -> Sums:
        share_tables = tables[share::shares]
        blocks = [_read_columns(share_tables[reader::readers_per_share]) for reader in range(readers_per_share)]
        return summing(blocks[0] if shares == threads() else interleave(blocks))

    if shares == 1:
        return sum_share(0)
    totals, *share_sums = in_threads(sum_share, range(shares))
    for sums in share_sums:
        for total, addend in zip(totals, sums, strict=True):
            np.add(total, addend, out=total)  # in place: the aggregates of all shares are in memory already
    return totals


def _read_columns(tables: Iterable[tuple[ReportTable, str]]) -> Iterator[ReportColumns]:
    return (columns for table, file in tables for columns in table.columns(_read_batches(file)))


def interleave(iterators: Sequence[Iterator[T]]) -> Iterator[T]:
    """Yield the values of several iterators as soon as each is ready; a thread runs every iterator one value ahead."""
    with ThreadPoolExecutor(len(iterators)) as readers:
        waiting = {readers.submit(next, iterator, None): iterator for iterator in iterators}
        while waiting:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                iterator, value = waiting.pop(future), future.result()
                if value is not None:
                    waiting[readers.submit(next, iterator, None)] = iterator
                    yield value


def _find_column(file: str) -> str:
    """Return the column of a file with the reports; refuse a column that has neither bytes nor texts of reports."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError):
        raise InputError(f"{file} is no Parquet file that can be read.") from None
    column = find_report_column(list(schema.names), file)
    column_type = schema.field(column).type
    value_type = str(column_type.value_type if pa.types.is_dictionary(column_type) else column_type)
    if not value_type.startswith(_BINARY_TYPES if column == PACKED_COLUMN else _BINARY_TYPES + _TEXT_TYPES):
        raise InputError(f"The column {column!r} of reports in {file} is binary, and here it is {column_type}.")
    return column


def _read_ahead(tables: Iterable[tuple[ReportTable, str]]) -> Iterator[Words]:
    """Yield packed reports of files while a thread reads the next ones."""
    batches = ((table, batch) for table, file in tables for batch in _read_batches(file))
    for table, batch in interleave([batches]):
        yield from table.words([batch])


def _read_batches(file: str) -> Iterator[Any]:
    import pyarrow.parquet as pq

    # With pre_buffer, Arrow reads the whole file into memory before the first rows.
    with pq.ParquetFile(file, pre_buffer=False) as parquet:
        yield from parquet.iter_batches(_ROWS_PER_READ)
