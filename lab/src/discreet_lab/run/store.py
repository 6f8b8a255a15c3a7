"""Results on disk: one Parquet file per experiment, one row per number, found again by what they depend on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from discreet.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number of one run.

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
    """A folder of results.

    Parameters
    ----------
    folder
        Where they are; it is made when the first result is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Return the file of an experiment."""
        return self.folder / f"{name}.parquet"

    def read(self, name: str) -> list[Row]:
        """Return what is kept of an experiment; nothing where it was never run."""
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

    def everything(self) -> dict[str, list[Row]]:
        """Return all runs that are kept, by key: equal cells of different experiments are run once."""
        found: dict[str, list[Row]] = {}
        for path in sorted(self.folder.glob("*.parquet")):
            for row in self.read(path.stem):
                found.setdefault(row.key, []).append(row)
        return {key: list({row.metric: row for row in rows}.values()) for key, rows in found.items()}

    def keep(self, name: str, rows: Iterable[Row]) -> None:
        """Write the rows of an experiment in place of what was there, all or nothing."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        columns = {one.name: [] for one in fields(Row)}  # type: dict[str, list[object]]
        for row in rows:
            for column, value in asdict(row).items():
                columns[column].append(value)
        kinds = {int: pa.int64(), float: pa.float64()}
        types = {"seed": int, "number": float, "seconds": float}
        schema = pa.schema([(column, kinds.get(types.get(column, str), pa.string())) for column in columns])
        self.folder.mkdir(parents=True, exist_ok=True)
        half = self.path(name).with_suffix(f".{os.getpid()}.half")
        parquet.write_table(pa.table(columns, schema=schema), half)
        half.replace(self.path(name))
