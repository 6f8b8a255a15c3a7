"""The declared size of a Parquet file: repeated values are packed, so a few bytes may unpack to gigabytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_VALUE_BYTES = 8


def read_declared_size(connection: Any, path: Path | str) -> int:
    """Return the unpacked size of the largest column in bytes, as DuckDB reads it from the metadata.

    For a damaged file Arrow would end the process instead of raising an exception.
    """
    query = (
        f"SELECT max(taken) FROM (SELECT greatest({_VALUE_BYTES} * sum(greatest(num_values, 0)), "  # noqa: S608
        "sum(greatest(total_uncompressed_size, 0))) AS taken FROM parquet_metadata(?) GROUP BY column_id)"
    )
    return int(connection.execute(query, [str(path)]).fetchall()[0][0] or 0)
