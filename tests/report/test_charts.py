from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from discreet.report import ticks
from discreet.report._charts import Bar, draw_bars, share
from discreet.report._text import text_width

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [Bar("tea & <milk>", 0.5, 0.45, 0.55), Bar("jam", 0.02, -0.03, 0.07)]


def test_bars_as_they_are_drawn():
    halo = 'stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
    assert draw_bars(ROWS, title="Supports").inline("a") == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="80" role="img" aria-labelledby="a-title a-said" '
        "font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\" "
        'font-size="12" fill="#1a1a1a"><title id="a-title">Supports</title>'
        '<desc id="a-said">Horizontal bars, from 0 to 60.0\u202f%. tea &amp; &lt;milk&gt;: 50.0\u202f% '
        "(from 45.0\u202f% to 55.0\u202f%); jam: 2.0\u202f% (from 0.0\u202f% to 7.0\u202f%)</desc>"
        + "".join(
            f'<line x1="{position}" x2="{position}" y1="16" y2="80" stroke="#dddddd"/>'
            f'<text x="{position}" y="12" text-anchor="{anchor}" '
            f'fill="#555555" font-size="11">{mark}\u202f%</text>'
            for position, anchor, mark in (
                ("0.00%", "start", 0),
                ("33.33%", "middle", 20),
                ("66.67%", "middle", 40),
                ("100.00%", "end", 60),
            )
        )
        + "<g><title>tea &amp; &lt;milk&gt;: 50.0\u202f% (from 45.0\u202f% to 55.0\u202f%)</title>"
        f'<svg width="84%" height="30" y="20"><text y="14" {halo}>tea &amp; &lt;milk&gt;</text></svg>'
        '<rect y="38" width="83.33%" height="8" fill="#7db0cf"/><g stroke="#1a1a1a" stroke-width="1.5">'
        '<line x1="75.00%" x2="91.67%" y1="42" y2="42"/><line x1="75.00%" x2="75.00%" y1="38" y2="46"/>'
        '<line x1="91.67%" x2="91.67%" y1="38" y2="46"/></g>'
        f'<text x="100%" y="34" text-anchor="end" font-size="11" {halo}>50.0\u202f%</text></g>'
        "<g><title>jam: 2.0\u202f% (from 0.0\u202f% to 7.0\u202f%)</title>"
        f'<svg width="84%" height="30" y="50"><text y="14" {halo}>jam</text></svg>'
        '<rect y="68" width="3.33%" height="8" fill="#7db0cf"/><g stroke="#1a1a1a" stroke-width="1.5">'
        # No cap where the interval goes on below 0.
        '<line x1="0.00%" x2="11.67%" y1="72" y2="72"/><line x1="11.67%" x2="11.67%" y1="68" y2="76"/></g>'
        f'<text x="100%" y="64" text-anchor="end" font-size="11" {halo}>2.0\u202f%</text></g></svg>'
    )


def test_share_as_it_is_drawn():
    assert share(0.25) == (
        '<svg width="120" height="10" aria-hidden="true" focusable="false"><rect width="100%" height="10" '
        'fill="#e9eff4"/><rect width="25.00%" height="10" fill="#7db0cf"/></svg>'
    )


def test_charts_side_by_side_share_a_scale():
    whole_bar, small_bar = (
        draw_bars([row], title="", scale_end=2.0, with_scale=marked).inline("a")
        for row, marked in ((ROWS[0], 1), (ROWS[1], 0))
    )
    assert 'width="25.00%"' in whole_bar
    assert 'width="1.00%"' in small_bar
    assert "200" in whole_bar
    assert len(ElementTree.fromstring(small_bar).findall(f"{SVG}text")) == 0


def test_counts_have_whole_marks():
    chart = draw_bars([Bar("a", 3)], title="", unit="count").inline("a")
    assert [node.text for node in ElementTree.fromstring(chart).findall(f"{SVG}text")] == ["0", "1", "2", "3"]
    assert '<desc id="a-said">Horizontal bars, from 0 to 3. a: 3</desc>' in chart


number = st.one_of(st.floats(-2, 2), st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 1e-12, 5e5]))
rows_of = st.lists(st.builds(Bar, st.text(max_size=8).filter(str.isprintable), number, number, number), max_size=6)


@given(rows_of, st.sampled_from(["share", "count"]))
def test_any_bars_are_sound_and_stay_inside(rows, unit):
    chart = draw_bars(rows, title="t", unit=unit).inline("a")
    assert chart == draw_bars(rows, title="t", unit=unit).inline("a")
    tree = ElementTree.fromstring(chart)
    for node in tree.iter():
        for key in ("x", "x1", "x2", "width"):
            if (place := node.get(key, "")).endswith("%"):
                assert 0 <= float(place[:-1]) <= 100
    assert len(tree.findall(f"{SVG}g")) == len(rows)
    assert "style" not in {key for node in tree.iter() for key in node.attrib}


@pytest.mark.parametrize(
    ("max_marks", "marks"),
    [
        (0.57, [0, 0.2, 0.4, 0.6]),
        (0.6, [0, 0.2, 0.4, 0.6]),
        (1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (43_210, [0, 10_000, 20_000, 30_000, 40_000, 50_000]),
        (0.0003, [0, 0.0001, 0.0002, 0.0003]),
        (0, [0, 1]),
        (-3, [0, 1]),
        (math.nan, [0, 1]),
        (math.inf, [0, 1]),
    ],
)
def test_ticks(max_marks, marks):
    assert list(ticks(0, max_marks)) == marks


@given(st.floats(1e-9, 1e12))
def test_ticks_reach_and_are_few(max_marks):
    marks = ticks(0, max_marks)
    assert marks[0] == 0
    assert marks[-1] >= max_marks * (1 - 1e-8)
    assert marks[-2] < max_marks
    assert 3 <= len(marks) <= 7
    assert len(ticks(0, max_marks, 1.0)) <= 7


def test_numbers_stand_in_a_column_and_not_at_a_place_of_the_scale():
    rows = [Bar("tea", value, value / 2, min(1.0, 1.6 * value)) for value in (0.12, 0.5, 1.0)]
    drawn_bars = draw_bars(rows, title="", scale_end=1.0).inside.split("<g><title>")[1:]
    assert all('<text x="100%"' in row and row.count("text-anchor") == 1 for row in drawn_bars)


def test_a_number_that_was_cut_is_the_least_that_it_may_be():
    bars = draw_bars([Bar("tea", 1.0, 0.8727, 1.0, is_cut=True)], title="")
    assert "≥ 87.2\u202f%</text>" in bars.inside
    assert "tea: ≥ 87.2\u202f% (from" in bars.description


def test_a_label_that_has_no_room_is_cut_with_a_sign():
    label = "PACK OF 72 RETROSPOT CAKE CASES, SET OF 3 CAKE TINS PANTRY DESIGN"
    drawings = {
        min_width: draw_bars([Bar(label, 0.5)], title="", min_width=min_width).inside for min_width in (328, 2_000)
    }
    texts = {
        min_width: re.findall(r'<text y="14"[^>]*>([^<]*)</text>', drawing)[0]
        for min_width, drawing in drawings.items()
    }
    assert texts[2_000] == label
    assert texts[328].endswith("…")
    assert label.startswith(texts[328].removesuffix("…"))
    assert text_width(texts[328]) <= 0.84 * 328
    assert f"<title>{label}: 50.0" in drawings[328]  # the whole of it is told
