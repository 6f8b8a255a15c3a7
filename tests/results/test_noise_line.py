"""Where a result says that patterns may be noise, and how it shows numbers that nobody could believe."""

# internals: this module shows patterns as the command does.
from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stderr
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

import discreet
from discreet import Patterns, Vocabulary
from discreet.cli import app
from discreet.cli._output import emit
from discreet.results import Provenance, StatedGuarantee
from discreet.results._show import NOISE_LINE

NAMES = ["bread", "milk", "salt", "tea"]


def private(counts=(500, 90, 60, 20), margin=40, people=1_000, **fields) -> Patterns:
    """Return single items with private counts, and the interval of each from 0 on."""
    count_array = np.array(counts, np.int64)
    return Patterns(
        offsets=np.arange(len(count_array) + 1),
        codes=np.arange(len(count_array), dtype=np.int32),
        counts=count_array,
        vocabulary=Vocabulary(NAMES[: len(count_array)]),
        people=people,
        low=np.maximum(count_array - margin, 0.0),
        high=count_array + float(margin),
        provenance=Provenance(guarantee=StatedGuarantee(model="central", neighbours="add-remove", epsilon=Fraction(1))),
        **fields,
    )


def test_the_line_stands_before_the_first_pattern_that_may_be_noise():
    patterns = private()
    assert (patterns.noise_from, patterns.may_be_noise.tolist()) == (3, [False, False, False, True])
    lines = repr(patterns).splitlines()
    assert lines[0] == "4 patterns of 1,000 people; 1 may be held by nobody, from number 4 on"
    assert lines[-3].startswith("– may be noise from here on –")
    assert lines[-2].split()[:2] == ["tea", "20"]
    assert lines[-1] == "A pattern whose low is 0 may be held by nobody."
    html = patterns._repr_html_()
    assert html.index("salt") < html.index(NOISE_LINE) < html.index("tea")
    page = patterns.report()
    assert page.count('<tr class="noise"><th scope="row">') == 1
    assert "From number 4 on, marked by a line, a pattern whose interval reaches down to 0 may be held" in page
    # A line that is not among the rows that are shown is not drawn.
    assert NOISE_LINE not in repr(patterns.show(2))


@pytest.mark.parametrize("people", [1_000_000, 30_000_000])
def test_no_interval_is_shown_from_0_but_those_that_are_said_to_be(people):
    """Low ends of 0.4 and 3 people were shown as 0, and as 0.0 % of a million, under "1 may be held by nobody"."""
    patterns = replace(
        private(counts=(50_000, 900, 60, 20), people=people),
        low=np.array([37.0, 3.0, 0.4, 0.0]),
        high=np.array([99_963.0, 1_797.0, 119.6, 80.0]),
    )
    assert repr(patterns).startswith("4 patterns")
    assert "; 1 may be held by nobody" in repr(patterns)
    shown_ends = [line.split()[3] for line in repr(patterns).splitlines() if line.split()[0] in NAMES]
    assert shown_ends == ["37", "3", "1", "0"]
    rows = re.findall("<tr[^>]*><th.*?</tr>", patterns.report())
    cells = [re.findall("<td[^>]*>(.*?)</td>", row) for row in rows]
    nothing = {"0", "0.0\u202f%", "0.00\u202f%", "0.000\u202f%", "0.0000\u202f%"}
    of_patterns = [row for row in cells if len(row) == 6]
    assert [(row[1] in nothing, row[4] in nothing) for row in of_patterns] == [(False, False)] * 3 + [(True, True)]


def test_there_is_no_line_where_nothing_is_in_doubt():
    exact = discreet.mine([{"tea"}] * 3, min_count=1)
    uncounted = Patterns(
        offsets=np.array([0, 1]), codes=np.zeros(1, np.int32), counts=np.zeros(1, np.int64),
        vocabulary=Vocabulary(["tea"]), people=3, counted=False,
    )  # fmt: skip
    for patterns in (private()[:2], exact, uncounted):
        assert patterns.noise_from is None
        assert NOISE_LINE not in repr(patterns) + patterns._repr_html_()
        assert "held by nobody" not in repr(patterns)
        assert '<tr class="noise">' not in patterns.report()


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_files_say_from_where_on(tmp_path, suffix):
    place = tmp_path / f"found.{suffix}"
    private().save(place)
    assert discreet.load(place) == private()
    if suffix == "json":
        assert json.loads(place.read_text())["noise_from"] == 3
        private()[:2].save(place)
        assert json.loads(place.read_text())["noise_from"] is None


def test_what_goes_to_a_file_is_said_on_the_terminal(tmp_path):
    stream = io.StringIO()
    with redirect_stderr(stream):
        emit(private(), "json", tmp_path / "found.json")
    assert stream.getvalue().endswith("found.json; 1 may be held by nobody, from number 4 on\n")


def test_a_support_that_was_cut_shows_the_least_that_it_may_be():
    patterns = private((1_000, 90), people_within=(900, 1_100))
    assert patterns.cut_supports.tolist() == [True, False]
    assert repr(patterns).splitlines()[-2].split()[:3] == ["bread", "1,000", "≥"]
    assert "≥ 0.8727" in repr(patterns)
    assert "≥ 0.8727" in patterns._repr_html_()
    # In the table, and beside its bar.
    assert patterns.report().count("≥ 87.2\u202f%") + patterns.report().count("≥ 87.2 %") >= 2
    exact = discreet.mine([{"tea"}] * 3, min_count=1)
    assert "≥" not in repr(exact)


def test_a_pipe_has_no_edge(tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    name = "a name of an item that is much longer than eighty columns, as names of products are, and more " * 2
    data = tmp_path / "baskets.jsonl"
    data.write_text((json.dumps([name.strip(), "tea"]) + "\n") * 5)
    table_text = CliRunner().invoke(app, ["mine", str(data), "--min-count", "1"]).stdout
    assert name.strip() in table_text
    assert "…" not in table_text
    monkeypatch.setenv("COLUMNS", "60")
    assert "…" in CliRunner().invoke(app, ["mine", str(data), "--min-count", "1"]).stdout


def test_pictures_of_receipts_count_baskets():
    assert (
        "of about 18,440 baskets" in private(people=18_440, unit="baskets", people_within=(18_000, 19_000)).plot().svg
    )
    assert "2 patterns of 1 person" in private((1, 1), people=1)[:2].plot().svg


def test_a_guarantee_shows_itself_in_words():
    release = discreet.release([{"tea"}] * 500, top=1, epsilon=1, items=["tea"])
    assert repr(release.guarantee) == (
        "<Guarantee: central differential privacy, add or remove one person, epsilon = 1>"
    )
    assert "Fraction" not in release.guarantee._repr_html_()
    assert "at most 2.72 times larger or smaller" in release.guarantee._repr_html_()


def test_forecasts_are_tables_in_a_notebook():
    html = discreet.plan(people=2_000, items=20, top=3, epsilon=1)._repr_html_()
    assert html.count("<table>") == 2
    assert "<pre" not in html
    html_of_several = discreet.plan(people=2_000, items=20, top=3, epsilon=["0.5", 1])._repr_html_()
    assert "<pre" not in html_of_several
    assert "<table>" in html_of_several


def test_a_page_singles_out_no_rule_that_chance_explains():
    patterns = discreet.mine([{"milk", "tea"}] * 2 + [{"milk"}, {"tea"}], min_count=1)
    assert set(patterns.rules(0.0).p_adjusted.tolist()) == {1.0}
    assert "The surest rule" not in patterns.report()
    rule_report = patterns.rules(0.0).report()
    assert "The surest rule" not in rule_report
    assert "By their adjusted p-values, chance may explain each of them." in rule_report
    clear_patterns = discreet.mine([{"milk", "tea"}] * 40 + [{"bread"}] * 40, min_count=1)
    assert "The surest rule" in clear_patterns.report()
