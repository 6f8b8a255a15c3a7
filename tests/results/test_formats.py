"""Every format of rows in the table of formats, whatever there is in it: these tests name none but where one is odd."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.errors import InputError, MisuseError
from discreet.results import FORMATS, ROW_FORMATS, format_of, holds_result, write
from discreet.results._formats import listed_suffixes

EARLIER = Path(__file__).parent / "earlier"
SUFFIXES = [suffix for form in ROW_FORMATS.values() for suffix in form.suffixes]
RESULTS = ["release.json", "private-rules.json", "outcome.json", "relations.json", "exact.json", "rules.json",
           "patterns.csv", "numbers.csv"]  # fmt: skip

suffixes = pytest.mark.parametrize("suffix", SUFFIXES)


def test_each_name_and_suffix_is_there_once():
    assert len({form.name for form in FORMATS}) == len(FORMATS)
    every = [suffix for form in FORMATS for suffix in form.suffixes]
    assert len(set(every)) == len(every)
    assert {"json", "csv", "tsv", "parquet", "arrow", "xlsx"} <= set(ROW_FORMATS)


@suffixes
@pytest.mark.parametrize("name", RESULTS)
def test_results_come_back(name, suffix, tmp_path):
    saved, place = discreet.load(EARLIER / name), tmp_path / f"found{suffix}"
    for result in (saved, saved[:0], saved[:1]):
        if not len(result) and result.provenance is None and format_of(place).has_file_beside:
            continue  # a table of text has no place for the people of an exact result without rows
        result.save(place)
        loaded = discreet.load(place)
        assert (loaded, list(loaded)) == (result, list(result))
        assert loaded.provenance == result.provenance
        assert holds_result(place)


@suffixes
def test_odd_names_and_numbers_come_back(suffix, tmp_path):
    """Names that a spreadsheet would evaluate or cut, and fractions of all digits; the seed of the numbers is fixed."""
    names = ["=1+1", "+a", "@x", "-1", "007", "NA", "http://a.example", "a;b", 'a"b', " y ", "a\tb", "ä", "\u3000z"]
    patterns = discreet.mine([set(names[place:]) for place in range(len(names))], min_count=1, lengths=(1, 2))
    reach = np.random.default_rng(5).uniform(0, 9, len(patterns))
    noisy = replace(patterns, low=patterns.counts - reach, high=patterns.counts + reach * np.pi)
    noisy.save(tmp_path / f"found{suffix}")
    loaded = discreet.load(tmp_path / f"found{suffix}")
    if suffix == ".xlsx":  # a spreadsheet keeps 16 digits, the others all
        np.testing.assert_allclose((loaded.low, loaded.high), (noisy.low, noisy.high), rtol=1e-15)
        loaded = replace(loaded, low=noisy.low, high=noisy.high)
    assert loaded == noisy


@suffixes
def test_the_command_line_writes_reads_and_replaces_it(suffix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("b.dat").write_text("1 2\n1 2 3\n2\n")
    place = f"found{suffix}"
    for _ in range(2):  # what it wrote itself it may replace
        completed = CliRunner().invoke(app, ["mine", "b.dat", "--min-count", "1", "-o", place])
        assert (completed.exit_code, completed.exception) == (0, None)
    assert discreet.load(place) == discreet.mine("b.dat", min_count=1)
    Path(place).write_bytes(Path(place).read_bytes()[:6] + b"of somebody else")
    with pytest.raises(MisuseError, match="holds something that discreet did not write"):
        CliRunner().invoke(app, ["mine", "b.dat", "--min-count", "1", "-o", place], catch_exceptions=False)


@pytest.mark.parametrize("name", ROW_FORMATS)
def test_a_comparison_of_two_results_is_written_in_it(name, tmp_path):
    differences = discreet.diff(EARLIER / "exact.json", EARLIER / "release.json")
    stream = io.BytesIO()
    write(differences, stream, name)
    differences.save(tmp_path / f"found{ROW_FORMATS[name].suffixes[0]}")
    assert len((tmp_path / f"found{ROW_FORMATS[name].suffixes[0]}").read_bytes()) > 100
    assert len(stream.getvalue()) > 100


@pytest.mark.parametrize("name", [name for name, form in ROW_FORMATS.items() if form.magic])
def test_damaged_files_are_refused(name, tmp_path):
    place = tmp_path / f"found{ROW_FORMATS[name].suffixes[0]}"
    discreet.load(EARLIER / "release.json").save(place)
    content = place.read_bytes()
    for damaged in (b"", content[:9], content[: len(content) // 2], content[9:], b"x" * 99):
        place.write_bytes(damaged)
        with pytest.raises(InputError):
            discreet.load(place)


def test_an_arrow_file_with_packed_columns_is_refused(tmp_path):
    """A few of its bytes may stand for gigabytes."""
    place = tmp_path / "found.arrow"
    discreet.load(EARLIER / "release.json").save(place)
    table = pa.ipc.open_file(place).read_all()
    with pa.ipc.new_file(place, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match="has packed columns, which discreet does not write"):
        discreet.load(place)


def test_a_workbook_has_no_formulas_and_says_where_it_comes_from(tmp_path):
    place = tmp_path / "found.xlsx"
    discreet.mine([{"=1+1", "milk"}] * 3, min_count=1).save(place)
    with ZipFile(place) as folder:
        sheet = folder.read("xl/worksheets/sheet1.xml")
        book, texts = folder.read("xl/workbook.xml"), folder.read("xl/sharedStrings.xml")
    assert b"<f>" not in sheet
    assert b'name="rows"' in book
    assert b'name="discreet"' in book
    assert b'>"=1+1"<' in texts or b">&quot;=1+1&quot;<" in texts


def test_a_workbook_without_its_package_is_refused_before_any_work(monkeypatch, tmp_path):
    monkeypatch.setattr("discreet.results._formats.find_spec", lambda package: None)
    completed = CliRunner().invoke(app, ["mine", "nowhere.dat", "--min-count", "1", "-o", str(tmp_path / "found.xlsx")])
    assert str(completed.exception) == (
        "Writing .xlsx files needs a package: pip install 'discreet[excel]'. A .csv file needs none."
    )


def test_what_no_workbook_can_hold_is_refused(tmp_path):
    long_pattern = discreet.mine([{"x" * 33_000}], min_count=1)
    with pytest.raises(MisuseError, match="at most 32,767 characters"):
        long_pattern.save(tmp_path / "found.xlsx")
    assert not (tmp_path / "found.xlsx").exists()


def test_an_unknown_suffix_is_told_all_that_are_known(tmp_path):
    with pytest.raises(MisuseError) as raised:
        format_of("found.doc")
    assert str(raised.value) == f"found.doc ends in .doc, but results are kept in {listed_suffixes('rows')} files."
