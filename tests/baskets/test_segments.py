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
    baskets_by_person = {7: ["tea", "milk"], 3: ["tea", "rice"], 5: []}
    lists = pa.table(
        {"customer": [7, 3, 5], "product": list(baskets_by_person.values()), "region": ["north", "south", "north"]}
    )
    return [FRAME, lists, *(folder / name for name in ("sales.csv", "sales.parquet", "sales.jsonl"))]


def test_everyone_has_a_segment(tmp_path: Path) -> None:
    for source in sources(tmp_path):
        baskets = discreet.read(source, **COLUMNS, by="region")
        assert baskets.segments is not None
        assert baskets.segments.column == "region"
        assert baskets.segments.of_people() == ["south", "north", "north"]  # the people 3, 5 and 7
        assert [sorted(basket) for basket in baskets] == [["rice", "tea"], [], ["milk", "tea"]]
        assert baskets == discreet.read(FRAME, **COLUMNS, by="region")
        assert baskets != discreet.read(FRAME, **COLUMNS)
        assert repr(baskets) == "Baskets(3 people, 3 items, 1.33 per basket, with segments)"


def test_numbers_stay_numbers() -> None:
    table = pa.table({"customer": [1, 2, 3], "product": ["tea"] * 3, "region": [10, 9, 10]})
    baskets = discreet.read(table, **COLUMNS, by="region")
    assert baskets.segments == Segments("region", np.array([1, 0, 1], np.int32), discreet.Vocabulary([9, 10]))


def test_segments_go_with_their_people() -> None:
    baskets = discreet.read(FRAME, **COLUMNS, by="region")
    assert baskets.segments is not None
    drawn_baskets = resample(baskets, 50, seed=3)
    assert drawn_baskets.segments is not None
    empty = [
        segment for segment, basket in zip(drawn_baskets.segments.of_people(), drawn_baskets, strict=True) if not basket
    ]
    assert set(empty) == {"north"}
    chosen_baskets = baskets.rows(np.array([2, 0]))
    assert chosen_baskets.segments is not None
    assert chosen_baskets.segments.of_people() == ["north", "south"]
    for converted in (
        discreet.read(baskets, max_items=1),
        recode_baskets(baskets, discreet.Vocabulary(["tea", "wine"])),
    ):
        assert converted.segments == baskets.segments


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
    question: dict[str, Any] = {"epsilon": 1, "items": ["milk", "rice", "tea"], "segments": ["north", "south", "west"]}
    baskets = discreet.read(FRAME, **COLUMNS, by="region")
    for releases in (
        discreet.release_by(baskets, by="region", top=1, **question),
        discreet.release_by(FRAME, "region", **COLUMNS, top=1, **question),
        discreet.count_by(baskets, [{"tea"}], "region", **question),
        discreet.release_by(baskets, by=["south", "north", "north"], top=1, **question),
    ):
        assert list(releases) == ["north", "south", "west"]
    from questions import cases

    cases_by_name, cases_by_list = (
        cases(baskets, by=segments, top=1, **question) for segments in ("region", ["south", "north", "north"])
    )
    assert [job.baskets.people for job in cases_by_name.values()] == [2, 1, 0]
    assert all(cases_by_name[name].baskets == cases_by_list[name].baskets for name in cases_by_name)


def test_a_release_of_nobody_by_name_succeeds(tmp_path: Path) -> None:
    (tmp_path / "none.csv").write_text("customer,product,region\n")
    question: dict[str, Any] = {"epsilon": 1, "items": ["tea"], "segments": ["north"], "top": 1}
    assert list(discreet.release_by(tmp_path / "none.csv", "region", **COLUMNS, **question)) == ["north"]


def test_baskets_keep_one_column() -> None:
    baskets = discreet.read(FRAME, **COLUMNS, by="region")
    with pytest.raises(MisuseError) as caught:
        discreet.release_by(baskets, "area", top=1, epsilon=1, items=["tea"], segments=["north"])
    assert str(caught.value) == (
        "by is 'area', but the baskets were read with the segments 'region' beside them: read them with "
        "discreet.read(…, by='area'), or hand over a segment for each person as a list."
    )
