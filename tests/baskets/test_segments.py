"""The segment of each person, kept beside the baskets by `read(..., by=)`, and releases by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet
from discreet import InputError, MisuseError
from discreet.baskets import Segments, recode_baskets, resample

COLUMNS: dict[str, Any] = {"person": "customer", "item": "product"}
ROWS = [(7, "tea", "north"), (7, "milk", "north"), (3, "tea", "south"), (5, None, "north"), (3, "rice", None)]
FRAME = pd.DataFrame(ROWS, columns=["customer", "product", "region"])


def sources(folder: Path) -> list[Any]:
    """The same table in several forms: typed, text, JSON, and with lists of items."""
    FRAME.to_csv(folder / "sales.csv", index=False)
    FRAME.to_parquet(folder / "sales.parquet")
    records = FRAME.to_dict("records")
    (folder / "sales.jsonl").write_text("".join(json.dumps(row).replace("NaN", "null") + "\n" for row in records))
    held = {7: ["tea", "milk"], 3: ["tea", "rice"], 5: []}
    lists = pa.table({"customer": [7, 3, 5], "product": list(held.values()), "region": ["north", "south", "north"]})
    return [FRAME, lists, *(folder / name for name in ("sales.csv", "sales.parquet", "sales.jsonl"))]


def test_everyone_has_a_segment(tmp_path: Path) -> None:
    for source in sources(tmp_path):
        read = discreet.read(source, **COLUMNS, by="region")
        assert read.segments is not None
        assert read.segments.column == "region"
        assert read.segments.of_people() == ["south", "north", "north"]  # the people 3, 5 and 7
        assert [sorted(basket) for basket in read] == [["rice", "tea"], [], ["milk", "tea"]]
        assert read == discreet.read(FRAME, **COLUMNS, by="region")
        assert read != discreet.read(FRAME, **COLUMNS)
        assert repr(read) == "Baskets(3 people, 3 items, 1.33 per basket, with segments)"


def test_numbers_stay_numbers() -> None:
    table = pa.table({"customer": [1, 2, 3], "product": ["tea"] * 3, "region": [10, 9, 10]})
    read = discreet.read(table, **COLUMNS, by="region")
    assert read.segments == Segments("region", np.array([1, 0, 1], np.int32), discreet.Vocabulary([9, 10]))


def test_segments_go_with_their_people() -> None:
    read = discreet.read(FRAME, **COLUMNS, by="region")
    assert read.segments is not None
    drawn = resample(read, 50, seed=3)
    assert drawn.segments is not None
    empty = [segment for segment, basket in zip(drawn.segments.of_people(), drawn, strict=True) if not basket]
    assert set(empty) == {"north"}
    some = read.rows(np.array([2, 0]))
    assert some.segments is not None
    assert some.segments.of_people() == ["north", "south"]
    for kept in (discreet.read(read, max_items=1), recode_baskets(read, discreet.Vocabulary(["tea", "wine"]))):
        assert kept.segments == read.segments


@pytest.mark.parametrize(
    "regions",
    [["north", "south", "south", "north", None], ["north", "north", None, "north", None]],
    ids=["several", "none"],
)
def test_none_or_several_are_refused(regions: list[Any]) -> None:
    with pytest.raises(InputError) as caught:
        discreet.read(FRAME.assign(region=regions), **COLUMNS, by="region")
    assert str(caught.value) == (
        "The table: everyone must have one value in the column 'region' (by=), not none or several."
    )


def test_by_is_for_tables_with_people() -> None:
    with pytest.raises(MisuseError, match=r"by= needs person=, the column that says whose rows they are\."):
        discreet.read(FRAME, item="product", by="region")
    with pytest.raises(MisuseError, match="Baskets pass through as they are"):
        discreet.read(discreet.read([{"tea"}]), **COLUMNS, by="region")
    with pytest.raises(InputError, match=r"has no column 'area' \(by=\)"):
        discreet.read(FRAME, **COLUMNS, by="area")


def test_a_release_by_name_is_one_by_list() -> None:
    """Epsilon 1 and two people: what is found is noise; what counts is who is asked for which segment."""
    asked: dict[str, Any] = {"epsilon": 1, "items": ["milk", "rice", "tea"], "segments": ["north", "south", "west"]}
    read = discreet.read(FRAME, **COLUMNS, by="region")
    for made in (
        discreet.release_by(read, by="region", top=1, **asked),
        discreet.release_by(FRAME, "region", **COLUMNS, top=1, **asked),
        discreet.count_by(read, [{"tea"}], "region", **asked),
        discreet.release_by(read, by=["south", "north", "north"], top=1, **asked),
    ):
        assert list(made) == ["north", "south", "west"]
    from questions import cases

    one, other = (cases(read, by=by, top=1, **asked) for by in ("region", ["south", "north", "north"]))
    assert [job.baskets.people for job in one.values()] == [2, 1, 0]
    assert all(one[name].baskets == other[name].baskets for name in one)


def test_a_release_of_nobody_by_name_succeeds(tmp_path: Path) -> None:
    (tmp_path / "none.csv").write_text("customer,product,region\n")
    asked: dict[str, Any] = {"epsilon": 1, "items": ["tea"], "segments": ["north"], "top": 1}
    assert list(discreet.release_by(tmp_path / "none.csv", "region", **COLUMNS, **asked)) == ["north"]


def test_baskets_keep_one_column() -> None:
    read = discreet.read(FRAME, **COLUMNS, by="region")
    with pytest.raises(MisuseError) as caught:
        discreet.release_by(read, "area", top=1, epsilon=1, items=["tea"], segments=["north"])
    assert str(caught.value) == (
        "by is 'area', but the baskets were read with the segments 'region' beside them: read them with "
        "discreet.read(…, by='area'), or hand over a segment for each person as a list."
    )
