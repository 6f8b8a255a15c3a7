"""Results in spreadsheets: one cell per itemset, provenance beside the table, and all of it back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet
import running
from discreet import InputError, Vocabulary
from discreet.planning import trial
from discreet.results import FORMULA_MARKS, Patterns
from discreet.results._cells import cell_text, parse_cell

EARLIER = Path(__file__).parent / "earlier"
BASKETS = [{"milk", "tea"}, {"milk", "tea; green"}, {"3", "milk"}, {"=tea", "milk", "tea"}, {"[x]", "NA"}] * 40
ABOVE = {"milk": "=dairy", "tea": "drinks", "tea; green": "drinks"}


@pytest.fixture
def released():
    return trial(discreet.read(BASKETS), seed=1, top=12, epsilon=9, items="public", hierarchy=ABOVE).patterns


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def test_a_table_is_for_spreadsheets(released, tmp_path):
    path = tmp_path / "patterns.csv"
    released.save(path)
    heading, *rows = rows_of(path)
    table = [dict(zip(heading, row, strict=True)) for row in rows]
    assert "milk; tea" in [row["items"] for row in table]
    assert '"tea; green"' in [row["items"] for row in table]
    assert not any(cell.startswith(("[", "{", *FORMULA_MARKS)) for row in rows for cell in row)
    assert max(len(cell) for row in rows for cell in row) < 80
    assert table[0]["about"].startswith("patterns.csv.about.json sha256:")
    assert {row["about"] for row in table[1:]} == {""}
    assert json.loads((tmp_path / "patterns.csv.about.json").read_text())["guarantee"]["epsilon"] == "9"
    assert discreet.load(path) == released


def test_relations_and_empty_results_come_back(tmp_path):
    relations = discreet.relations(discreet.read([["a", "b"], ["b", "c"]] * 9, ordered=True), how="after", top=3)
    relations.save(tmp_path / "r.csv")
    assert discreet.load(tmp_path / "r.csv") == relations
    nothing = trial(discreet.read(BASKETS), seed=1, min_count=190, epsilon=50, items=["nails"]).patterns
    assert len(nothing) == 0
    nothing.save(tmp_path / "n.csv")
    assert discreet.load(tmp_path / "n.csv") == nothing


@pytest.mark.parametrize("name", ["patterns", "exact", "rules", "numbers"])
def test_files_of_earlier_versions_are_read(name, tmp_path):
    """They have JSON arrays for itemsets, and all that is known in the first cell of `about`."""
    earlier = EARLIER / f"{name}.csv"
    assert rows_of(earlier)[1][0].startswith("[")
    result = discreet.load(earlier)
    assert len(result) == len(rows_of(earlier)) - 1
    assert (result.hierarchy is not None) == (result.about is not None) == (name == "patterns")
    result.save(tmp_path / "again.csv")
    assert discreet.load(tmp_path / "again.csv") == result
    assert discreet.load(tmp_path / "again.csv").about == result.about


@settings(max_examples=200)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6), min_size=1, max_size=4))
def test_every_name_comes_back_and_none_is_a_formula(names):
    cell = "; ".join(map(cell_text, names))
    assert parse_cell(cell) == names
    assert cell.lstrip()[:1] not in FORMULA_MARKS
    assert cell[:1] not in "\t\r\n "


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4))
def test_numbers_come_back_as_numbers(numbers):
    assert parse_cell("; ".join(map(cell_text, numbers))) == numbers


@settings(max_examples=30)
@given(
    st.sets(
        st.sampled_from(["NA", "null", "3", "-1", "007", 'a"b', "a;b", "a\\b", "=1+1", "@x", " y ", "ä", "\u3000z"]),
        min_size=1,
    )
)
def test_odd_names_in_files(tmp_path_factory, names):
    labels = sorted(names)
    size = len(labels)
    patterns = Patterns(
        offsets=np.arange(size + 1), codes=np.arange(size, dtype=np.int32), counts=np.full(size, 2),
        vocabulary=Vocabulary(labels), people=3,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("odd") / "p.csv"
    patterns.save(path)
    assert discreet.load(path) == patterns


@pytest.mark.parametrize("cell", ["", ";", "milk;", "milk;;tea", '"milk', '"milk" tea', '"milk"x', "; milk"])
def test_what_is_no_cell(cell):
    with pytest.raises(ValueError):  # noqa: PT011
        parse_cell(cell)


class TestTheFileBeside:
    @pytest.fixture
    def path(self, released, tmp_path):
        released.save(tmp_path / "patterns.csv")
        return tmp_path / "patterns.csv"

    def test_both_may_be_renamed(self, path, released):
        path.rename(path.with_name("other.csv"))
        assert discreet.load(path.with_name("other.csv")) == released
        path.with_name("patterns.csv.about.json").rename(path.with_name("other.csv.about.json"))
        assert discreet.load(path.with_name("other.csv")) == released

    def test_without_it_the_columns_hold(self, path, released):
        path.with_name("patterns.csv.about.json").unlink()
        result = discreet.load(path)
        assert result.about == {
            "guarantee": {"model": "central", "neighbours": "add-remove", "epsilon": "9", "delta": "0"},
            "simulated": True,
        }
        assert list(result.counts) == list(released.counts)

    def test_columns_that_say_something_else_are_refused(self, path):
        text = path.read_text()
        assert ',"9","0",' in text
        path.write_text(text.replace(',"9","0",', ',"1","0",'))
        with pytest.raises(InputError) as raised:
            discreet.load(path)
        about_path = f"{path}.about.json"
        assert str(raised.value) == f"{path}: its columns say something else than {about_path}: it was changed by hand."

    def test_that_of_another_table_is_refused(self, path):
        about_path = path.with_name("patterns.csv.about.json")
        about_path.write_bytes(about_path.read_bytes().replace(b'"9"', b'"1"'))
        with pytest.raises(InputError) as raised:
            discreet.load(path)
        assert str(raised.value) == (
            f"{about_path} is not the file that was written with {path}: put that back, or remove it to read what the "
            "table says alone."
        )

    @pytest.mark.parametrize(
        "pointer", ["nonsense", "../x.about.json sha256:0123456789abcdef", "/x.about.json sha256:0"]
    )
    def test_a_pointer_leads_to_the_same_folder_alone(self, path, pointer):
        file_digest = rows_of(path)[1][-1]
        path.write_text(path.read_text().replace(file_digest, pointer))
        with pytest.raises(InputError, match="the column 'about' does not hold what discreet wrote there"):
            discreet.load(path)

    def test_an_exact_table_has_none_and_removes_that_of_the_one_before(self, path):
        discreet.mine(BASKETS, top=3).save(path)
        assert [file.name for file in path.parent.iterdir()] == ["patterns.csv"]
        assert discreet.load(path).about is None

    def test_from_the_command_line(self, tmp_path):
        (tmp_path / "b.txt").write_text("tea,milk\n" * 300)
        command = ["release", "b.txt", "--top", 1, "--epsilon", 1, "--items", "public", "--input-format", "baskets"]
        completed = running.run(*command, "--one-row-a-person", "-o", "p.csv", cwd=tmp_path)
        assert completed.returncode == 0, completed.stderr
        assert discreet.load(tmp_path / "p.csv").about["mechanism"]
        (tmp_path / "q.csv.about.json").mkdir()
        completed = running.run(*command, "--one-row-a-person", "-o", "q.csv", cwd=tmp_path)
        assert (completed.returncode, completed.stderr) == (
            1, "discreet: Cannot write q.csv.about.json: it is a directory; add a file name.\n"
        )  # fmt: skip
