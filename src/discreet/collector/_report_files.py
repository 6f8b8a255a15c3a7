"""Reports in Parquet files, and the round that they answer beside them: for whoever adds them up elsewhere.

A row of the column `words` is any number of packed reports, one after another, as a batch has them (`docs/wire.md`). A
row of the column `report` is one report as a device sent it. A table has one of the two. What is no report of the round
is refused and counted, and costs no other.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..atomic_write import open_replacement
from ..errors import InputError, MisuseError
from ..kernels import in_threads, threads
from ..local import MeanOracle, Oracle, ReportColumns
from ..local.oracle_steps import Words
from ..local.study import Ask, RoundReader, Sums, parse_round
from ._core import AddedUp, added_over, summed_on_card, together_in

T = TypeVar("T")

ROUND = "round.json"
PACKED, SENT = "words", "report"
ROOM = 1 << 30
"""Bytes of all aggregates that reports from files are added to side by side; one there is, however large."""

_ROW = 1 << 16  # bytes of a row of packed reports, about
_ROWS = 256  # that are written and read at a time
_FILE = 1 << 27  # bytes of a file, about
_BLOCK = 1 << 15  # reports that are read at a time
_BYTES, _TEXTS = ("binary", "large_binary", "fixed_size_binary"), ("string", "large_string")  # how Arrow calls them


class ReportTable:
    """Reads batches of a table as columns of good reports, and counts what is none.

    `refused` reports are none of this oracle's for this question; `torn` rows are no whole number of reports.
    """

    def __init__(self, oracle: Oracle | MeanOracle, column: str) -> None:
        self.oracle, self.column = oracle, column
        self.refused = self.torn = 0

    def columns(self, batches: Iterable[Any]) -> Iterator[ReportColumns]:
        """Yield the good reports, a few at a time."""
        found = self._packed(batches) if self.column == PACKED else self._sent(batches)
        return (some for some in found if len(next(iter(some.values()))))

    def _packed(self, batches: Iterable[Any]) -> Iterator[ReportColumns]:
        for words in together_in(self.words(batches)):
            right = self.oracle.codec.find_good_rows(words)
            self.refused += int(len(words) - right.sum())
            yield self.oracle.codec.unpack(words if right.all() else words[right])

    def words(self, batches: Iterable[Any]) -> Iterator[Words]:
        """Yield packed reports as they lie there, good or not; `torn` counts rows that are none."""
        wide = self.oracle.codec.width
        for batch in batches:
            for row in self._bytes(batch):
                content = row.as_buffer()
                if content is None or content.size % (4 * wide):
                    self.torn += 1
                else:
                    yield np.frombuffer(content, "<u4").astype(np.uint32, copy=False).reshape(-1, wide)

    def _sent(self, batches: Iterable[Any]) -> Iterator[ReportColumns]:
        reports = (one or b"" for batch in batches for one in self._bytes(batch).to_pylist())
        while some := list(islice(reports, _BLOCK)):
            read = self.oracle.codec.read(some)
            self.refused += len(read.refused)
            yield read.columns

    def _bytes(self, batch: Any) -> Any:
        """Return what stands in the rows, byte for byte: a text that is no UTF-8 is one bad report."""
        import pyarrow as pa

        return batch.column(self.column).cast(pa.large_binary())


def column_of(names: Iterable[str], where: str) -> str:
    """Return which column of a table has the reports, and how."""
    found = [one for one in (PACKED, SENT) if one in set(names)]
    if len(found) != 1:
        raise InputError(
            f"{where} has the columns {', '.join(names) or '(none)'}; reports are in a column {PACKED!r}, as `discreet "
            f"study reports` writes them, or in a column {SENT!r}, one a row as devices send them."
        )
    return found[0]


def check_torn(torn: int, ask: Ask) -> None:
    """Refuse rows that are no whole number of reports: they are of another round."""
    if torn:
        report_bytes = 4 * ask.oracle.codec.width
        raise InputError(
            f"{torn:,} rows of the column {PACKED!r} are no whole number of reports of {report_bytes} bytes: "
            "these are not the reports of this round."
        )


def save_reports(folder: Path, ask: Ask, blocks: Iterable[Words]) -> int:
    """Write a round and its packed reports into a folder, for its owner alone, and return how many reports there are.

    Parameters
    ----------
    folder
        Is made where there is none; has to be empty.
    ask
        The round.
    blocks
        Its reports, a few at a time.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if any(one.suffix == ".parquet" or one.name == ROUND for one in folder.iterdir()):
            raise MisuseError(f"There are reports in {folder} already: give another folder.")
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be used: {error.strerror}.") from None
    many, rows = 0, _rows(blocks, ask.oracle.codec.width)
    with open_replacement(folder / ROUND, private=True) as stream:
        stream.write(f"{ask.text()}\n".encode())
    for number, first in enumerate(rows):
        with open_replacement(folder / f"reports-{number:05d}.parquet", private=True) as stream:
            many += _save(stream, first, rows)
    return many


def _save(stream: Any, first: Words, rest: Iterator[Words]) -> int:
    """Write one file: a first row, and then of the others as many as it takes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([pa.field(PACKED, pa.binary(), nullable=False)])
    many, size, waiting = 0, 0, [first]
    # Reports are noise: nothing in them repeats, and no smallest or largest of them says anything.
    with pq.ParquetWriter(stream, schema, compression="none", use_dictionary=False, write_statistics=False) as writer:
        while waiting:
            content = [np.ascontiguousarray(one, "<u4").tobytes() for one in waiting]
            writer.write_table(pa.table({PACKED: pa.array(content, pa.binary())}, schema=schema))
            many, size = many + sum(map(len, waiting)), size + sum(map(len, content))
            waiting = list(islice(rest, _ROWS)) if size < _FILE else []
    return many


def _rows(blocks: Iterable[Words], wide: int) -> Iterator[Words]:
    """Yield reports in rows of about the same size."""
    many = max(1, _ROW // (4 * wide))
    for words in together_in(blocks):
        yield from (words[at : at + many] for at in range(0, len(words), many))


def round_of(source: Path | str, question: Path | str | None = None) -> Ask:
    """Return the round that reports answer: of a file, or of the one beside them."""
    place = Path(question) if question is not None else Path(source) / ROUND
    try:
        return parse_round(place.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"{place} cannot be read: {error.strerror}. `discreet study reports` writes the round beside its reports; "
            "name its file with --question where it is elsewhere."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{place} is not UTF-8 text.") from None


def files_of(source: Path | str) -> list[str]:
    """Return the Parquet files of a folder, of a pattern, or the one file."""
    place = os.fspath(source)
    found = sorted(glob.glob(f"{glob.escape(place)}/*.parquet" if Path(place).is_dir() else place))  # noqa: PTH207
    if not found:
        raise InputError(f"There are no Parquet files of reports at {place}.")
    return found


def add_up_files(source: Path | str, ask: Ask, *, screen: bool = True) -> AddedUp:
    """Return what the reports in Parquet files add up to, on this machine.

    Parameters
    ----------
    source
        A folder, a file, or a pattern such as ``reports/*.parquet``.
    ask
        The round that they answer.
    screen
        Whether reports that no honest device is likely to have sent are left out.
    """
    from dataclasses import replace

    refused = 0

    def over(part: Any) -> Any:
        nonlocal refused
        sums, refused = sums_of_files(source, ask, part)
        return sums

    walk: RoundReader = over
    added = added_over(ask, walk, screen=screen)
    return replace(added, refused=refused)


def sums_of_files(source: Path | str, ask: Ask, part: Callable[[Iterable[ReportColumns]], Sums]) -> tuple[Sums, int]:
    """Go through the reports in files: the sums of what `part` gives, and how many are no reports of the round."""
    files = files_of(source)
    columns = [_checked_column(one) for one in files]
    tables: list[ReportTable] = []

    def each() -> Iterator[tuple[ReportTable, str]]:
        tables[:] = [ReportTable(ask.oracle, column) for column in columns]
        return zip(tables, files, strict=True)

    packed = set(columns) == {PACKED}
    found = summed_on_card(part, ask.oracle, lambda: _ahead(each()), _packed_in(files, ask)) if packed else None
    sums, bad = found or (_summed(part, list(each()), ask.oracle), 0)
    check_torn(sum(one.torn for one in tables), ask)
    return sums, sum(one.refused for one in tables) + bad


def _summed(
    part: Callable[[Iterable[ReportColumns]], Sums],
    tables: list[tuple[ReportTable, str]],
    oracle: Oracle | MeanOracle,
) -> Sums:
    """Return what `part` makes of all files: a share of them to each thread, as far as their aggregates have room."""
    many = min(threads(), len(tables))
    shares = threads() if many == threads() else 1
    if shares * (size := oracle.adder.start().nbytes) > ROOM:
        # Where one aggregate is added to on all cores, the others would only take room.
        shares = 1 if oracle.adder.on_all_cores else max(1, ROOM // size)
    readers = -(-many // shares)

    def share(first: int) -> Sums:
        mine = tables[first::shares]
        ahead = [_columns(mine[at::readers]) for at in range(readers)]
        return part(ahead[0] if shares == threads() else side_by_side(ahead))

    if shares == 1:
        return share(0)  # its blocks are shared out instead
    first, *others = in_threads(share, range(shares))
    for other in others:
        for mine, more in zip(first, other, strict=True):
            np.add(mine, more, out=mine)  # in its place: the aggregates of all shares are in memory already
    return first


def _columns(tables: Iterable[tuple[ReportTable, str]]) -> Iterator[ReportColumns]:
    return (some for one, file in tables for some in one.columns(_batches(file)))


def side_by_side(several: Sequence[Iterator[T]]) -> Iterator[T]:
    """Yield what several iterators give, each gone through by a thread of its own and one step ahead."""
    with ThreadPoolExecutor(len(several)) as readers:
        waiting = {readers.submit(next, one, None): one for one in several}
        while waiting:
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                one, some = waiting.pop(done), done.result()
                if some is not None:
                    waiting[readers.submit(next, one, None)] = one
                    yield some


def _checked_column(file: str) -> str:
    """Return which column of a file has the reports; refuse one whose rows are not bytes, or texts of reports."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError):
        raise InputError(f"{file} is no Parquet file that can be read.") from None
    column = column_of(list(schema.names), file)
    kind = schema.field(column).type
    inner = str(kind.value_type if pa.types.is_dictionary(kind) else kind)
    if not inner.startswith(_BYTES) and (column == PACKED or not inner.startswith(_TEXTS)):
        raise InputError(f"The column {column!r} of reports in {file} is binary, and here it is {kind}.")
    return column


def _packed_in(files: list[str], ask: Ask) -> int:
    """Return how many packed reports there are in files, about: hardly anything else is in there."""
    return sum(Path(file).stat().st_size for file in files) // (4 * ask.oracle.codec.width)


def _ahead(tables: Iterable[tuple[ReportTable, str]]) -> Iterator[Words]:
    """Yield packed reports while the next ones are read, so that whoever takes them and the reading go side by side."""
    batches = ((table, batch) for table, file in tables for batch in _batches(file))
    for table, batch in side_by_side([batches]):
        yield from table.words([batch])


def _batches(file: str) -> Iterator[Any]:
    import pyarrow.parquet as pq

    # Arrow would else read the whole file into memory before it gives the first rows.
    with pq.ParquetFile(file, pre_buffer=False) as opened:
        yield from opened.iter_batches(_ROWS)
