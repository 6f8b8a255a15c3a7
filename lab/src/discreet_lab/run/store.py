"""Results on disk: one Parquet file per experiment, one row per number, found by a hash of all dependencies."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from discreet.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Row:
    """A number of a run.

    `key` is a hash of all that the number depends on: the question, the data, the seed and the code.
    """

    key: str
    panel: str
    line: str
    value: str
    seed: int
    metric: str
    number: float
    seconds: float


class Store:
    """A directory of results.

    Parameters
    ----------
    folder
        The path of the directory; it is made with the first result.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Return the path of the file of an experiment."""
        return self.folder / f"{name}.parquet"

    def read(self, name: str) -> list[Row]:
        """Return the rows of an experiment; none if it never ran."""
        path = self.path(name)
        if not path.is_file():
            return []
        import pyarrow as pa
        import pyarrow.parquet as parquet

        try:
            return [Row(**row) for row in parquet.read_table(path).to_pylist()]
        except (pa.ArrowException, TypeError, OSError) as error:
            raise InputError(
                f"{path} does not hold results of the lab. Remove it, and run the experiment {name} again."
            ) from error

    def read_all(self) -> dict[str, list[Row]]:
        """Return the rows of all runs, by key: equal cells of different experiments run once."""
        rows_of_key: dict[str, list[Row]] = {}
        for path in sorted(self.folder.glob("*.parquet")):
            for row in self.read(path.stem):
                rows_of_key.setdefault(row.key, []).append(row)
        return {key: list({row.metric: row for row in rows}.values()) for key, rows in rows_of_key.items()}

    def write(self, name: str, rows: Iterable[Row]) -> None:
        """Write the rows of an experiment in place of the stored rows, all or none."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        columns = {column.name: [] for column in fields(Row)}  # type: dict[str, list[object]]
        for row in rows:
            for column, value in asdict(row).items():
                columns[column].append(value)
        arrow_types = {int: pa.int64(), float: pa.float64()}
        python_types = {"seed": int, "number": float, "seconds": float}
        schema = pa.schema(
            [(column, arrow_types.get(python_types.get(column, str), pa.string())) for column in columns]
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary_path = self.path(name).with_suffix(f".{os.getpid()}.half")
        parquet.write_table(pa.table(columns, schema=schema), temporary_path)
        temporary_path.replace(self.path(name))
