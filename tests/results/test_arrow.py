"""Results are tables to whoever speaks Arrow, and to us they are no data."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import MisuseError

BASKETS = [{"tea", "milk"}] * 300 + [{"tea"}] * 100
PATTERNS = discreet.mine(BASKETS, min_count=1)
EXAMPLES: dict[str, Any] = {
    "Patterns": PATTERNS,
    "Rules": PATTERNS.rules(),
    "Release": discreet.release(BASKETS, top=2, epsilon=1, items="public"),
    "Outcome": discreet.simulate(BASKETS, "svim", top=2, epsilon=4, seed=1),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_library_takes_a_result_as_it_is(name: str) -> None:
    example = EXAMPLES[name]
    table = getattr(example, "patterns", example).to_arrow()
    assert pa.table(example) == table
    assert pl.DataFrame(example).equals(pl.from_arrow(table))
    assert duckdb.sql("SELECT * FROM example").fetchall() == [tuple(row.values()) for row in table.to_pylist()]
    if hasattr(pd.DataFrame, "from_arrow"):  # from pandas 3 on
        assert list(pd.DataFrame.from_arrow(example).columns) == table.column_names


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_result_is_not_read_as_baskets(name: str) -> None:
    """Its column of lists would pass for one basket per row."""
    for refusing in (discreet.read, lambda made: discreet.mine(made, top=1)):
        with pytest.raises(MisuseError) as refused:
            refusing(EXAMPLES[name])
        article = "an" if name == "Outcome" else "a"
        assert str(refused.value) == (
            f"The source is {article} {name}, which was found in data: give the data, and not what was found in them."
        )
