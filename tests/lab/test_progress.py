"""The share of a run that is done goes by time, not by cells."""

from __future__ import annotations

from discreet_lab.run import runner
from discreet_lab.run.experiment import Axis, Experiment, Line, Metric
from discreet_lab.run.progress import Pace
from discreet_lab.run.runner import run
from discreet_lab.run.store import Row

TWO_POINTS = Experiment(
    name="two",
    paper="004",
    shows="Figure 0",
    title="a slow line and a fast one",
    says="",
    lines=(Line(label="slow", name="slow"), Line(label="fast", name="fast")),
    axis=Axis(of="epsilon", label="ε", values=("1", "2")),
    measure="formula",
    metrics=(Metric(name="number", label="number"),),
    repeats=1,
)
WAITING = [(cell, {0: cell.line.label + cell.value}) for cell in TWO_POINTS.cells(quick=False)]


def row(cell, seconds, metric="number"):
    line, value = cell.line.label, cell.value
    return Row(key=line + value, panel="", line=line, value=value, seed=0, metric=metric, number=0.0, seconds=seconds)


def test_cells_weigh_what_runs_like_them_took_before():
    cells = [cell for cell, _ in WAITING]
    before = [[row(cells[0], 9.0)], [row(cells[2], 1.0)], []]
    pace = Pace(WAITING, before)
    # 9 seconds are over; 9 of the slow line and twice 1 of the fast one are to come.
    assert pace.add_cell(cells[0], [row(cells[0], 9.0), row(cells[0], 9.0, "another")]) == 9 / 20
    assert pace.add_cell(cells[1], [row(cells[1], 9.0)]) == 18 / 20
    assert pace.add_cell(cells[2], [row(cells[2], 1.0)]) == 19 / 20
    assert pace.add_cell(cells[3], [row(cells[3], 1.0)]) == 1.0


def test_without_earlier_runs_it_learns_on_the_way_and_never_falls():
    cells = [cell for cell, _ in WAITING]
    pace = Pace(WAITING, [])
    first_cell = pace.add_cell(cells[2], [row(cells[2], 1.0)])
    assert first_cell == 1 / 4
    assert pace.add_cell(cells[0], [row(cells[0], 7.0)]) == 8 / (8 + 7 + 1)
    assert pace.add_cell(cells[1], []) == 8 / 9  # it could not be run
    assert pace.add_cell(cells[3], [row(cells[3], 90.0)]) == 1.0
    slower = Pace(WAITING, [])
    assert slower.add_cell(cells[2], [row(cells[2], 1.0)]) == 1 / 4
    assert slower.add_cell(cells[3], [row(cells[3], 0.0)]) >= 1 / 4


def test_a_run_tells_its_pace(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "check_options", lambda cell: None)
    monkeypatch.setattr(runner, "measure_cell", lambda cell, seed: {"number": 0.0})
    paces = []
    run([TWO_POINTS], tmp_path, jobs=1, progress=paces.append)
    assert paces == sorted(paces)
    assert (len(paces), paces[-1]) == (4, 1.0)
    later_paces = []
    run([TWO_POINTS], tmp_path, jobs=1, progress=later_paces.append)
    assert later_paces == []
