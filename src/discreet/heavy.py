"""Heavy packages, imported by the first use of one of their names.

`import discreet` and `discreet --help` load none of them. Type checkers see the packages themselves.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class LazyModule:
    """A module that the first use of one of its names imports."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        # Nothing is kept here: a test that replaces a name of the package replaces it for us too.
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyspark.sql.functions as sql
    import pyspark.sql.types as sql_types
else:
    duckdb, pa, pc = map(LazyModule, ("duckdb", "pyarrow", "pyarrow.compute"))
    sql, sql_types = map(LazyModule, ("pyspark.sql.functions", "pyspark.sql.types"))

__all__ = ["LazyModule", "duckdb", "pa", "pc", "sql", "sql_types"]
