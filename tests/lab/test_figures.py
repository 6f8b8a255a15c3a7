"""Figures: what is drawn where, what it is called, and how large it gets."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from discreet.errors import MisuseError
from discreet.report import ticks
from discreet_lab.measure.spread import compute_mean
from discreet_lab.pages.drawing import Curve, FigureChart, Group, Panel, decades, draw_svg
from discreet_lab.pages.figures import build_panel, draw_metric
from discreet_lab.run.experiment import Axis, Data, Experiment, Line, Metric
from discreet_lab.run.runner import Results
from discreet_lab.run.store import Row

MISSED_METRIC = Metric(name="false_negative_rate", label="missed", share=True)
ERROR = Metric(name="squared_error", label="Var, squared error of hits", logarithmic=True)
SVG = "{http://www.w3.org/2000/svg}"


def make_results(sets=1, lines=2, values=("0.1", "0.5", "1"), number=lambda panel, line, value, seed: 0.5 + seed / 10):
    """Return results that were never run."""
    experiment = Experiment(
        name="made",
        paper="004",
        shows="Figure 0",
        title="made-up numbers",
        says="",
        data=tuple(Data(name=f"set {place}") for place in range(sets)),
        lines=tuple(Line(label=f"`line-{place}`", name="laplace") for place in range(lines)),
        axis=Axis(of="epsilon", label="ε", values=values),
        measure="release",
        metrics=(MISSED_METRIC, ERROR),
    )
    rows = tuple(
        Row(
            key="",
            panel=cell.panel,
            line=cell.line.label,
            value=cell.value,
            seed=seed,
            metric=metric.name,
            number=float(number(cell.panel, cell.line.label, cell.value, seed)),
            seconds=0.0,
        )
        for cell in experiment.cells(quick=False)
        for seed in range(3)
        for metric in (MISSED_METRIC, ERROR)
    )
    return Results(experiment=experiment, rows=rows)


def panel(*points, **options):
    curves = (Curve(label="one", style=0, points=points),)
    marks = tuple((place, f"{place:g}") for place, _, _ in points)
    return Panel(title="", across="ε", up="missed", curves=curves, marks=marks, **options)


def drawn_panels(*panels):
    text = draw_svg(FigureChart(name="c", title="A <title>", groups=(Group(panels=panels),)))
    return ElementTree.fromstring(text)


def lines(tree):
    """Return the lines of a drawing, the legend's apart."""
    return [path.get("d") for group in tree.findall(f"{SVG}g[@marker-mid]") for path in group][1:]


def test_thirteen_panels_of_seven_lines_are_small_and_the_same_every_time(tmp_path):
    results = make_results(sets=13, lines=7)
    path = draw_metric(results, MISSED_METRIC, tmp_path / "new" / "a.svg")
    assert path.stat().st_size < 40_000
    assert path.read_bytes() == draw_metric(results, MISSED_METRIC, tmp_path / "again" / "a.svg").read_bytes()


def test_a_drawing_says_what_it_shows():
    results = make_results(sets=2)
    text = draw_svg(
        FigureChart(
            name="n",
            title="A <title>",
            groups=(Group(panels=(build_panel(results, "set 0", MISSED_METRIC),), heading="H"),),
        )
    )
    tree = ElementTree.fromstring(text)
    assert tree.find(f"{SVG}title").text == "A <title>"
    assert tree.find(f"{SVG}desc").text == "Lines: line-0, line-1. Panels: set 0."
    words = [text_node.text for text_node in tree.iter(f"{SVG}text")]
    assert words[:3] == ["H", "line-0", "line-1"]
    assert {"set 0", "missed", "ε", "0.1", "0.5"} <= set(words)


def test_lines_stand_where_their_numbers_are():
    share = panel((0.0, 0.0, 0.0), (1.0, 1.0, 0.0), share=True)
    (line,) = lines(drawn_panels(share))
    left_end, bottom, right, top = map(float, re.findall(r"[\d.]+", line))
    assert (right - left_end, bottom - top) == (256 - 40 - 12 - 20, 132)


def test_a_spread_beyond_the_panel_is_cut_at_its_edge():
    tree = drawn_panels(panel((0.0, 0.9, 0.4), (1.0, 0.1, 0.4), share=True))
    band = next(path.get("d") for path in tree.iter(f"{SVG}path") if path.get("fill-opacity"))
    heights = [float(point.split()[1]) for point in band.strip("MZ").split("L")]
    assert max(heights) - min(heights) == 132


def test_what_a_logarithm_cannot_show_is_left_out():
    tree = drawn_panels(panel((0.0, 0.0, 0.0), (1.0, 10.0, 20.0), (2.0, 100.0, 0.0), logarithmic_up=True))
    (line,) = lines(tree)
    assert line.count("L") == 1
    assert drawn_panels(panel((0.0, 0.0, 0.0), logarithmic_up=True)) is not None


def test_one_point_is_a_mark_with_a_whisker():
    tree = drawn_panels(panel((1.0, 0.5, 0.1), share=True))
    (line,) = lines(tree)
    assert line.endswith("h0")
    assert any(re.fullmatch(r"M[\d.]+ [\d.]+V[\d.]+", path.get("d")) for path in tree.iter(f"{SVG}path"))


def test_points_of_an_axis_without_numbers_are_not_joined():
    results = make_results(values=("small", "large"))
    labelled_panel = build_panel(results, "set 0", MISSED_METRIC)
    assert (labelled_panel.joined, labelled_panel.logarithmic) == (False, False)
    assert labelled_panel.marks == ((0.0, "small"), (1.0, "large"))
    crowded_panel = build_panel(make_results(lines=10, values=("small", "large")), "set 0", MISSED_METRIC)
    for drawn_panel in (labelled_panel, crowded_panel):
        places = [float(line[1:].split()[0]) for line in lines(drawn_panels(drawn_panel)) if line.endswith("h0")]
        # Side by side, and those of the first point left of those of the second.
        assert len(places) == len(set(places)) == 2 * len(drawn_panel.curves)
        assert max(places[::2]) < min(places[1::2])


def test_a_panel_has_its_own_points_from_small_to_large():
    results = make_results(
        values=("4", "0.5", "1"), number=lambda panel, line, value, seed: {"4": "nan"}.get(value, 0.25)
    )
    chosen_panel = build_panel(results, "set 0", MISSED_METRIC, lines=["`line-1`"], title="other")
    assert chosen_panel.title == "other"
    assert chosen_panel.marks == ((0.5, "0.5"), (1.0, "1"))
    assert chosen_panel.curves == (Curve(label="line-1", style=0, points=((0.5, 0.25, 0.0), (1.0, 0.25, 0.0))),)


def test_many_lines_differ_by_dashes_and_long_titles_take_two_rows():
    results = make_results(lines=9)
    text = draw_svg(
        FigureChart(
            name="n",
            title="t",
            groups=(Group(panels=(build_panel(results, "set 0", MISSED_METRIC, title="a rather long name " * 3),)),),
        )
    )
    assert text.count("stroke-dasharray") == 1
    assert "<text" in text
    assert ">a rather long name a rather long<" in text


def test_labels_that_would_overlap_are_left_out():
    close = panel((0.0, 0.5, 0.0), (0.001, 0.5, 0.0), (1.0, 0.5, 0.0), share=True)
    words = [text_node.text for text_node in drawn_panels(close).iter(f"{SVG}text")]
    assert "0.001" not in words


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [
        (0, 0, (0.0, 1.0)),
        (0, float("inf"), (0.0, 1.0)),
        (0, 7, (0.0, 2.0, 4.0, 6.0, 8.0)),
        (-1, 1, (-1.0, -0.5, 0.0, 0.5, 1.0)),
        (0, 123456, (0.0, 50000.0, 100000.0, 150000.0)),
    ],
)
def test_round_marks(low, high, marks):
    assert ticks(low, high) == marks


@pytest.mark.parametrize(
    ("numbers", "marks"),
    [
        ([], (0.1, 1.0)),
        ([1.0], (1.0, 2.0)),
        ([0.02, 0.3], (0.01, 0.1, 1.0)),
        ([1e-9, 1e9], (1e-9, 1e-5, 0.1, 1e3, 1e7, 1e11)),
    ],
)
def test_marks_of_a_logarithm(numbers, marks):
    assert decades(numbers) == pytest.approx(marks)


def test_large_and_small_numbers_are_written_with_powers():
    words = [
        text_node.text for text_node in drawn_panels(panel((0.0, 150_000.0, 0.0), (1.0, 0.0, 0.0))).iter(f"{SVG}text")
    ]
    assert {"0", "5e4", "1e5", "1.5e5"} <= set(words)


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(MisuseError) as caught:
        draw_metric(make_results(), MISSED_METRIC, tmp_path / "one.gif")
    assert str(caught.value) == "Figures are written as .svg, not as one.gif."


def test_nothing_to_draw_is_an_empty_panel(tmp_path):
    results = replace(make_results(), rows=())
    assert "Lines: ." in draw_metric(results, MISSED_METRIC, tmp_path / "one.svg").read_text()


def test_the_middle_of_what_is_there():
    assert compute_mean([float("nan"), 2.0]) == (2.0, 0.0)
    assert compute_mean([1.0, 3.0]) == (2.0, pytest.approx(2**0.5))
