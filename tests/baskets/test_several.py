"""Several files as one table, workbooks, and what else people have at hand: read, or told how."""

from __future__ import annotations

import datetime
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import InputError, MisuseError

COLUMNS: dict[str, Any] = {"person": "customer", "item": "product"}
PARTS = [[(7, "tea", "2026-01-02"), (3, "milk", "2026-01-01")], [(7, "rice", "2026-01-01"), (5, None, "2026-01-03")]]
SETS = [["milk"], [], ["rice", "tea"]]


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sets(baskets: discreet.Baskets) -> list[list[Any]]:
    return [sorted(basket, key=str) for basket in baskets]


def frames() -> list[pd.DataFrame]:
    names = ["customer", "product", "day"]
    # The columns stand in another order in the second file.
    return [pd.DataFrame(PARTS[0], columns=names), pd.DataFrame(PARTS[1], columns=names)[names[::-1]]]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "semicolons", "jsonl", "parquet", "xlsx"])
def test_several_files_are_one_table(kind: str) -> None:
    suffix = "csv" if kind == "semicolons" else kind
    Path("sales").mkdir()
    for number, frame in enumerate(frames()):
        path = Path(f"sales/part-{number}.{suffix}")
        if suffix == "jsonl":
            frame.to_json(path, orient="records", lines=True)
        elif suffix == "parquet":
            frame.to_parquet(path)
        elif suffix == "xlsx":
            workbook(path, [list(frame.columns), *frame.astype(object).where(frame.notna(), None).values.tolist()])
        else:
            frame.to_csv(path, index=False, sep=";" if kind == "semicolons" and number else ",")
    assert sets(discreet.read(f"sales/*.{suffix}", **COLUMNS)) == SETS
    timed = discreet.read(f"s*/part-?.{suffix}", **COLUMNS, time="day")
    assert timed.sequences is not None
    assert timed.vocabulary.take(timed.sequences.codes).to_pylist() == ["milk", "rice", "tea"]


def test_types_that_differ_are_refused() -> None:
    pq.write_table(pa.table({"customer": pa.array([1], pa.int32()), "product": ["tea"]}), "a.parquet")
    pq.write_table(pa.table({"customer": pa.array([2**62], pa.uint64()), "product": ["tea"]}), "b.parquet")
    assert discreet.read("*.parquet", **COLUMNS).people == 2
    pq.write_table(pa.table({"customer": ["1"], "product": ["tea"]}), "b.parquet")
    with pytest.raises(InputError) as caught:
        discreet.read("*.parquet", **COLUMNS)
    assert str(caught.value) == (
        "*.parquet: column 'customer' is of type INTEGER in a.parquet, but VARCHAR in b.parquet; make them the same "
        "first."
    )


def test_patterns_that_are_no_table() -> None:
    with pytest.raises(InputError, match=r"There is no file that sales-\*\.csv names\."):
        discreet.read("sales-*.csv", **COLUMNS)
    Path("a.dat").write_text("1 2\n")
    Path("b.dat").write_text("1\n")
    Path("a.csv").write_text("customer,product\n1,tea\n")
    with pytest.raises(MisuseError, match=r"a\.\* names files of the kinds csv, fimi; several files are read as one"):
        discreet.read("a.*", **COLUMNS)
    Path("b.csv").write_text("customer,thing\n1,tea\n")
    with pytest.raises(
        InputError, match=r"b\.csv has no column 'product' \(item=\); its columns are customer, thing\."
    ):
        discreet.read("*.csv", **COLUMNS)
    Path("odd [1].csv").write_text("customer,product\n1,tea\n")
    assert discreet.read("odd [1].csv", **COLUMNS).people == 1


def workbook(path: Path, rows: list[list[Any]]) -> None:
    """Write the smallest workbook there is: numbers, text and empty cells."""
    cells = []
    for number, row in enumerate(rows, 1):
        cells.append(f'<row r="{number}">')
        for letter, value in zip("ABCDEFG", row, strict=False):
            if isinstance(value, str):
                cells.append(f'<c r="{letter}{number}" t="inlineStr"><is><t>{escape(value)}</t></is></c>')
            elif isinstance(value, bool):
                cells.append(f'<c r="{letter}{number}" t="b"><v>{int(value)}</v></c>')
            elif value is not None:
                cells.append(f'<c r="{letter}{number}"><v>{value}</v></c>')
        cells.append("</row>")
    office = "http://schemas.openxmlformats.org"
    sheet = f'<worksheet xmlns="{office}/spreadsheetml/2006/main"><sheetData>{"".join(cells)}</sheetData></worksheet>'
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{office}/spreadsheetml/2006/main" '
        f'xmlns:r="{office}/officeDocument/2006/relationships"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship '
        f'Id="r1" Type="{office}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": sheet,
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def test_a_workbook() -> None:
    head = ["customer", "product", "note"]
    workbook(Path("a.xlsx"), [head, [7, "tea", 1], [3, "milk", "x"], [7, "rice"], [None, None, None], [5]])
    assert sets(discreet.read("a.xlsx", **COLUMNS)) == SETS
    with pytest.raises(MisuseError, match=r"a\.xlsx needs person= and item=.*; its columns are customer, product"):
        discreet.read("a.xlsx")
    with pytest.raises(InputError) as caught:
        discreet.read("a.xlsx", person="customer", item="note")
    assert str(caught.value) == (
        "a.xlsx: column 'note' holds values of several types, or true and false; format it as text in the sheet."
    )
    workbook(Path("a.xlsx"), [head, [2.0**53, "tea"]])
    with pytest.raises(InputError, match="is floating point, and not a whole number below"):
        discreet.read("a.xlsx", **COLUMNS)
    Path("b.xlsx").write_text("not a workbook")
    with pytest.raises(InputError, match=r"b\.xlsx cannot be read as a workbook: "):
        discreet.read("b.xlsx", **COLUMNS)


def test_a_workbook_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    workbook(Path("a.xlsx"), [["customer", "product"], [7, "tea"]])
    with pytest.raises(MisuseError) as caught:
        discreet.read("a.xlsx", **COLUMNS)
    assert str(caught.value) == (
        "Reading a.xlsx needs a package: pip install 'discreet[excel]'; or save the sheet as CSV, and give that."
    )


def test_lazy_frames_are_collected_as_far_as_they_are_needed() -> None:
    lazy = pl.LazyFrame({"customer": [7, 3, 7], "product": ["tea", "milk", "rice"]}).with_columns(
        pl.col("product").map_elements(lambda _: 1 / 0, return_dtype=pl.Int64).alias("never asked for")
    )
    assert sets(discreet.read(lazy, **COLUMNS)) == [["milk"], ["rice", "tea"]]
    assert sets(discreet.read(pl.LazyFrame({"tea": [True, False], "milk": [True, True]}))) == [
        ["milk", "tea"],
        ["milk"],
    ]
    with pytest.raises(InputError, match="has no column 'thing'"):
        discreet.read(lazy.select("customer"), person="customer", item="thing")


def test_true_and_false_of_every_kind() -> None:
    truth_lists = [[True, False], [True, True]]
    answer = [["tea"], ["milk", "tea"]]
    names = ["tea", "milk"]
    frame = pd.DataFrame(truth_lists, columns=names)
    numpys = pd.DataFrame({name: pd.Series(list(frame[name].to_numpy()), dtype=object) for name in names})
    assert isinstance(numpys["tea"][0], np.bool_)
    for source in (
        frame,
        numpys,
        frame.astype("boolean"),
        frame.astype("category"),
        pl.from_pandas(frame),
        pa.table(frame),
    ):
        assert sets(discreet.read(source)) == answer
    assert sets(discreet.read(np.array(truth_lists), labels=names)) == answer
    assert sets(discreet.read(np.array(truth_lists))) == [[0], [0, 1]]
    assert sets(discreet.read(np.array(truth_lists), format="onehot", labels=names)) == answer
    missing = pd.DataFrame(
        {"tea": pd.array([True, None], "boolean"), "milk": pd.Series([np.bool_(1), None], dtype=object)}
    )
    assert sets(discreet.read(missing)) == [["milk", "tea"], []]


def test_columns_of_pandas_of_every_kind() -> None:
    frame = pd.DataFrame({"customer": [7, 3, 7, 5], "product": ["tea", "milk", "rice", None]})
    for kinds in (
        {"customer": "Int64", "product": "string"},
        {"customer": "category", "product": "category"},
        {"customer": "int64[pyarrow]", "product": "string[pyarrow]"},
        {"customer": "UInt8", "product": "object"},
        {"customer": "float32"},
    ):
        assert sets(discreet.read(frame.astype(kinds), **COLUMNS)) == SETS, kinds
    days = pd.to_datetime(pd.Series([datetime.date(2026, 1, day) for day in (2, 1, 1, 1)]))
    assert discreet.read(frame.assign(day=days), **COLUMNS, time="day").sequences is not None
