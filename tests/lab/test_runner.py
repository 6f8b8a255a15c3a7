"""The lab runs what changed, keeps what did not, and says what could not be run."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest

from discreet.errors import InputError, MisuseError
from discreet_lab.data import datasets
from discreet_lab.data.own_data import add_line, replace_data
from discreet_lab.pages.page import write_page
from discreet_lab.papers import experiment, experiments, of_paper, titles
from discreet_lab.run import runner
from discreet_lab.run.experiment import Axis, Data, Experiment, Line, Metric
from discreet_lab.run.failures import Failure, list_reasons
from discreet_lab.run.fingerprint import fingerprint
from discreet_lab.run.option_names import check_options
from discreet_lab.run.runner import Results, kept, keys_of, run
from discreet_lab.run.store import Row, Store

MISSED_METRIC = Metric(name="false_negative_rate", label="missed", share=True)
SMALL_EXPERIMENT = Experiment(
    name="small",
    paper="004",
    shows="Figure 0",
    title="a small one",
    says="Nothing.",
    data=(Data(name="made-up-groceries", people=300),),
    lines=(Line(label="exponential", name="exponential"), Line(label="laplace", name="laplace")),
    axis=Axis(of="epsilon", label="epsilon", values=("1", "2", "4", "8", "16")),
    asked={"top": 5, "lengths": 1},
    measure="release",
    metrics=(MISSED_METRIC,),
    repeats=4,
)


@pytest.fixture
def measured_cells(monkeypatch):
    """Count the runs."""
    cells_seen = []

    def note_cell(cell, seed):
        cells_seen.append((cell.line.label, cell.value, seed))
        return {"false_negative_rate": seed / 10}

    monkeypatch.setattr(runner, "measure_cell", note_cell)
    return cells_seen


def test_a_quick_run_has_three_points_and_three_seeds_and_a_full_one_the_rest(measured_cells, tmp_path):
    (quick,) = run([SMALL_EXPERIMENT], tmp_path, quick=True, jobs=1)
    assert len(measured_cells) == 2 * 3 * 3
    assert quick.values == ("1", "4", "16")
    assert quick.numbers(quick.panels[0], "laplace", "4", "false_negative_rate") == [0.0, 0.1, 0.2]
    (full,) = run([SMALL_EXPERIMENT], tmp_path, jobs=1)
    assert len(measured_cells) == 2 * 5 * 4
    assert full.values == ("1", "2", "4", "8", "16")
    repeated_run = run([SMALL_EXPERIMENT], tmp_path, quick=True, jobs=1)
    assert len(measured_cells) == 2 * 5 * 4
    assert repeated_run[0].values == quick.values
    # The file still holds what the full run made.
    assert len(Store(tmp_path).read("small")) == 2 * 5 * 4


def test_what_another_experiment_ran_is_not_run_again(measured_cells, tmp_path):
    run([SMALL_EXPERIMENT], tmp_path, quick=True, jobs=1)
    run_count = len(measured_cells)
    run(
        [replace(SMALL_EXPERIMENT, name="same", lines=(Line(label="other words", name="laplace"),))],
        tmp_path,
        quick=True,
        jobs=1,
    )
    assert len(measured_cells) == run_count


def test_a_changed_mechanism_reruns_its_cells_alone(measured_cells, tmp_path, monkeypatch):
    run([SMALL_EXPERIMENT], tmp_path, quick=True, jobs=1)
    measured_cells.clear()

    def changed(*modules, excluded):
        return fingerprint(*modules, excluded=excluded) + (
            "changed" if any("laplace" in module for module in modules) else ""
        )

    monkeypatch.setattr(runner, "fingerprint", changed)
    run([SMALL_EXPERIMENT], tmp_path, quick=True, jobs=1)
    assert {line for line, _, _ in measured_cells} == {"laplace"}


@pytest.fixture
def mine(tmp_path):
    """Return data of one's own."""
    (tmp_path / "mine.dat").write_text("1 2\n2 3\n" * 20)
    return Data(name=str(tmp_path / "mine.dat"), label="mine.dat")


def test_data_and_lines_of_ones_own_leave_what_is_kept(measured_cells, mine, tmp_path):
    folder = tmp_path / "kept"
    original, own_experiment, extended = (
        SMALL_EXPERIMENT,
        replace_data(SMALL_EXPERIMENT, mine),
        add_line(SMALL_EXPERIMENT, "privbasis"),
    )
    for tested_experiment in (original, own_experiment, extended):
        run([tested_experiment], folder, quick=True, jobs=1)
    cell_count = 2 * 3 * 3
    assert len(measured_cells) == cell_count + cell_count + 3 * 3
    for tested_experiment in (original, own_experiment, extended):
        (result,) = run([tested_experiment], folder, quick=True, jobs=1)
        assert result.missing == 0
    assert len(measured_cells) == cell_count + cell_count + 3 * 3
    # The other way round too: a run of the paper's data leaves that of one's own.
    other_folder = tmp_path / "other"
    for tested_experiment in (own_experiment, original):
        run([tested_experiment], other_folder, quick=True, jobs=1)
    assert [result.missing for result in kept([original, own_experiment], other_folder, quick=True)] == [0, 0]


def test_what_other_code_left_goes_when_it_is_run_again_and_not_before(measured_cells, tmp_path, monkeypatch):
    run([SMALL_EXPERIMENT], tmp_path, jobs=1)
    monkeypatch.setattr(runner, "fingerprint", lambda *modules, excluded: "changed")
    run([SMALL_EXPERIMENT], tmp_path, quick=True, jobs=1)
    rows = Store(tmp_path).read("small")
    assert len(rows) == 2 * 5 * 4
    assert len({(row.line, row.value, row.seed) for row in rows}) == len(rows)


def test_where_nothing_is_wanted_no_share_of_it_is_told():
    def numbers(wanted_count):
        row_fields = {"key": "a", "panel": "p", "line": "laplace", "value": "1", "seed": 0, "seconds": 0.0}
        rows = (
            Row(metric="wanted", number=wanted_count, **row_fields),
            Row(metric=MISSED_METRIC.name, number=0.0, **row_fields),
        )
        return Results(experiment=SMALL_EXPERIMENT, rows=rows).numbers("p", "laplace", "1", MISSED_METRIC.name)

    assert (numbers(0.0), numbers(3.0)) == ([], [0.0])


@pytest.mark.parametrize("jobs", [0, -2])
def test_no_process_is_no_way_to_run(jobs, tmp_path):
    with pytest.raises(MisuseError) as caught:
        run([SMALL_EXPERIMENT], tmp_path, jobs=jobs)
    assert str(caught.value) == f"The number of processes is {jobs}; it must be 1 or more."


def test_an_interrupt_loses_nothing_that_was_done(tmp_path, monkeypatch):
    cells_seen = []

    def note_cell(cell, seed):
        if len(cells_seen) == 7:
            raise KeyboardInterrupt
        cells_seen.append(seed)
        return {"false_negative_rate": 0.0}

    monkeypatch.setattr(runner, "measure_cell", note_cell)
    with pytest.raises(KeyboardInterrupt):
        run([SMALL_EXPERIMENT], tmp_path, quick=True, jobs=1)
    # Six runs are two whole cells; the seventh was in the middle of one.
    assert len(Store(tmp_path).read("small")) == 6


def test_what_cannot_be_run_is_told_and_the_rest_is_run(tmp_path):
    odd = replace(
        SMALL_EXPERIMENT, lines=(*SMALL_EXPERIMENT.lines, Line(label="odd", name="laplace", settings={"nonsense": 1}))
    )
    (results,) = run([odd], tmp_path, quick=True, jobs=1)
    assert len(results.failed) == 3
    assert str(results.failed[0]).startswith(
        "small: odd on made-up-groceries, 300 people at epsilon = 1: laplace has no"
    )
    assert len(results.rows) > 2 * 3 * 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"asked": {"tpo": 5}}, "small asks for 'tpo', which the measure 'release' does not know; it knows "),
        ({"asked": {"top": 5, "length": 1}}, "Did you mean lengths?"),
        ({"asked": {"lengths": 1}}, "small does not ask for top, fraction or min_count, which the measure 'release' "),
        ({"axis": None}, "small does not ask for epsilon, which the measure 'release' needs: add it to asked, or"),
        ({"axis": replace(SMALL_EXPERIMENT.axis, of="epsilom")}, "Did you mean epsilon?"),
        ({"data": (replace(SMALL_EXPERIMENT.data[0], asked={"tops": 5}),)}, "Did you mean top?"),
        ({"measure": "simulation"}, "small asks for 'lengths', which the measure 'simulation' does not know; it knows"),
        ({"measure": "releases"}, "There is no measure 'releases'; there are formula, from-data, overhead, regret"),
        ({"lines": (Line(label="d", name="det-gd", settings={"gama": "19"}),)}, "det-gd does not know; it knows gamma"),
        ({"measure": "formula"}, "There is no formula 'exponential'"),
    ],
)
def test_wrong_names_in_asked_are_refused_before_anything_runs(change, message, measured_cells, tmp_path):
    with pytest.raises(MisuseError) as raised:
        run([SMALL_EXPERIMENT, replace(SMALL_EXPERIMENT, **change)], tmp_path, jobs=1)
    assert message in str(raised.value)
    assert measured_cells == []


def test_every_experiment_asks_what_its_measure_knows():
    for tested_experiment in experiments().values():
        for cell in tested_experiment.cells(quick=False):
            check_options(cell)


def test_one_reason_is_said_once(tmp_path, monkeypatch):
    """Without data, the same sentence stood there for every point of every experiment."""
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "_list_directories", lambda: [tmp_path])
    sets = tuple(Data(name=name) for name in ("retail", "chess"))
    small_experiment = replace(SMALL_EXPERIMENT, data=sets, goals=())
    results = run([small_experiment, replace(small_experiment, name="other")], tmp_path / "kept", quick=True, jobs=1)
    failures = [failure for result in results for failure in result.failed]
    assert len(failures) == 2 * 2 * 2 * 3
    (reason,) = list_reasons(failures)
    assert reason.startswith("24 points of small, other: The files of 2 data sets are not here. Looked in:\n")
    assert reason.count("retail:") == reason.count("chess:") == reason.count("DISCREET_DATA") == 1
    (single_reason,) = list_reasons(results[0].failed[:1])
    assert "The file retail.dat.xz of the data set 'retail' is not here." in single_reason
    alike = [Failure(experiment=f"e{place}", cell=f"cell {place}", reason="no") for place in range(12)]
    names = ", ".join(f"e{place}" for place in range(8))
    assert list_reasons(alike) == [f"12 points of {names} and 4 more experiments, first cell 0: no"]
    assert list_reasons(alike[:1]) == ["cell 0: no"]


def test_processes_give_what_one_gives(tmp_path, monkeypatch):
    small_experiment = replace(SMALL_EXPERIMENT, axis=replace(SMALL_EXPERIMENT.axis, values=("1",)), repeats=2)
    (first_result,) = run([small_experiment], tmp_path / "one", jobs=1)
    monkeypatch.setenv("DISCREET_JIT", "0")  # they start without a compiler, which is most of what they take
    (second_result,) = run([small_experiment], tmp_path / "two", jobs=2)
    key = ("key", "metric", "number")
    assert sorted(tuple(getattr(row, name) for name in key) for row in first_result.rows) == sorted(
        tuple(getattr(row, name) for name in key) for row in second_result.rows
    )


def test_the_key_knows_data_question_and_seed():
    cell = next(SMALL_EXPERIMENT.cells(quick=True))
    other_cell = replace(cell, data=Data(name="made-up-groceries", people=301))
    changed_cell = replace(cell, asked={"top": 6})
    keys = {*keys_of(cell, (0, 1)).values(), *keys_of(other_cell, (0,)).values(), *keys_of(changed_cell, (0,)).values()}
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("module", "reruns"),
    [
        ("discreet.baskets._generate", {"made up"}),
        ("discreet.curator.mechanisms.laplace", {"made up", "curator"}),
        ("discreet.local.protocols.svsm", {"local"}),
        ("discreet.local.study._simulate", {"local"}),
        ("discreet.exact._engine", {"made up", "curator", "local"}),  # exact patterns are what both are measured by
        ("discreet.auditing._exact", set()),
        ("discreet.report._page", set()),
    ],
)
def test_what_changed_reruns_what_depends_on_it_alone(module, reruns, monkeypatch):
    made_up_cell = replace(next(SMALL_EXPERIMENT.cells(quick=True)), line=SMALL_EXPERIMENT.lines[1])
    real_cell = replace(made_up_cell, data=Data(name="mushroom"))
    local = next(
        replace(SMALL_EXPERIMENT, lines=(Line(label="svsm", name="svsm"),), measure="simulation").cells(quick=True)
    )
    cells = {"made up": made_up_cell, "curator": real_cell, "local": replace(local, data=Data(name="mushroom"))}
    before = {label: keys_of(cell, (0,)) for label, cell in cells.items()}
    look = fingerprint.__globals__["_hash_module"]
    monkeypatch.setitem(
        fingerprint.__globals__,
        "_hash_module",
        lambda name: ("changed", look(name)[1]) if name == module else look(name),
    )
    assert {label for label, cell in cells.items() if keys_of(cell, (0,)) != before[label]} == reruns


def test_two_parameters_make_panels(measured_cells, tmp_path):
    second_axis = Axis(of="top", label="K", values=(3, 5))
    (results,) = run([replace(SMALL_EXPERIMENT, over=second_axis)], tmp_path, quick=True, jobs=1)
    name = "made-up-groceries, 300 people"
    assert results.panels == (f"{name}, K = 3", f"{name}, K = 5")


def test_a_setting_can_be_the_axis():
    axis = Axis(of="settings.selecting", label="share", values=("1/4", "1/2"))
    first_cell = next(replace(SMALL_EXPERIMENT, axis=axis).cells(quick=True))
    assert first_cell.line.settings == {"selecting": "1/4"}
    assert "epsilon" not in first_cell.asked


def test_fingerprints_follow_imports_and_ignore_comments(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "theirs.py").write_text("x = 1\n")
    before = fingerprint("theirs")
    fingerprint.__globals__["_hash_module"].cache_clear()
    (tmp_path / "theirs.py").write_text('"""Words."""\nx = 1  # more words\n')
    worded = fingerprint("theirs")
    fingerprint.__globals__["_hash_module"].cache_clear()
    (tmp_path / "theirs.py").write_text("x = 2\n")
    assert fingerprint("theirs") not in (before, worded)
    assert fingerprint("discreet.curator.mechanisms.laplace") != fingerprint("discreet.curator.mechanisms.exponential")


def test_a_file_that_is_no_result_is_refused(tmp_path):
    (tmp_path / "small.parquet").write_text("nonsense")
    with pytest.raises(InputError) as caught:
        Store(tmp_path).read("small")
    path = tmp_path / "small.parquet"
    assert str(caught.value) == (
        f"{path} does not hold results of the lab. Remove it, and run the experiment small again."
    )


def test_what_is_kept_is_read_and_nothing_is_run_or_written(measured_cells, tmp_path):
    (nothing,) = kept([SMALL_EXPERIMENT], tmp_path / "none")
    assert (nothing.rows, nothing.missing) == ((), 2 * 5 * 4)
    assert not (tmp_path / "none").exists()
    (quick,) = run([SMALL_EXPERIMENT], tmp_path, quick=True, jobs=1)
    run_count, stored_bytes = len(measured_cells), Store(tmp_path).path("small").read_bytes()
    (kept_result,) = kept([SMALL_EXPERIMENT], tmp_path, quick=True)
    assert (kept_result.rows, kept_result.missing) == (quick.rows, 0)
    (part,) = kept([SMALL_EXPERIMENT], tmp_path)
    assert (part.rows, part.missing) == (quick.rows, 2 * 5 * 4 - 2 * 3 * 3)
    assert (len(measured_cells), Store(tmp_path).path("small").read_bytes()) == (run_count, stored_bytes)


def test_what_failed_is_missing(tmp_path):
    odd = replace(SMALL_EXPERIMENT, lines=(Line(label="odd", name="laplace", settings={"nonsense": 1}),))
    (results,) = run([odd], tmp_path, quick=True, jobs=1)
    assert (len(results.failed), results.missing) == (3, 9)


def test_experiments_are_found_by_name_and_paper():
    for name, known_experiment in experiments().items():
        assert name == known_experiment.name == experiment(name).name
        assert f"{name}-".startswith(f"{known_experiment.paper}-")
        assert known_experiment in of_paper(known_experiment.paper)
        assert next(known_experiment.cells(quick=True))
    with pytest.raises(MisuseError) as caught:
        of_paper("9")
    assert str(caught.value).startswith("There are no experiments of a paper '9': it is one of 0")


@pytest.fixture
def fresh():
    """Look for experiments anew, before and after."""
    for cached_function in (experiments, titles):
        cached_function.cache_clear()
    yield
    for cached_function in (experiments, titles):
        cached_function.cache_clear()


def theirs(monkeypatch, tmp_path, name, text):
    """Register a module of another package as experiments."""
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint(name="mine", value=name, group="discreet.experiments")
    monkeypatch.setattr("discreet_lab.papers.points", lambda group: [point])


def test_another_package_brings_experiments_along(monkeypatch, tmp_path, fresh):
    text = (
        "from dataclasses import replace\n"
        "from discreet_lab.papers.paper_004 import EXPERIMENTS as KNOWN\n"
        "TITLE = 'Mine'\n"
        "EXPERIMENTS = (replace(KNOWN[-1], name='mine-1', paper='mine'),)\n"
    )
    theirs(monkeypatch, tmp_path, "their_paper", text)
    assert experiment("mine-1").paper == "mine"
    assert list(titles())[-1] == "mine"
    page = write_page("mine", kept(of_paper("mine"), tmp_path), [], tmp_path, quick=False)
    assert page.read_text().startswith("# Mine\n")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "their_untitled",
            "EXPERIMENTS = ()\n",
            "their_untitled has no TITLE: experiments of a paper need both TITLE and EXPERIMENTS.",
        ),
        (
            "their_broken",
            "1 / 0\n",
            "The experiments mine of the package their_broken cannot be loaded (ZeroDivisionError: division by zero): "
            "mend or uninstall that package.",
        ),
        (
            "their_exit",
            "import sys\nsys.exit(0)\n",
            "The experiments mine of the package their_exit cannot be loaded (SystemExit: 0): mend or uninstall that "
            "package.",
        ),
        (
            "their_late_exit",
            "TITLE = 'Mine'\ndef __getattr__(name):\n    raise SystemExit\n",
            "The experiments mine of the package their_late_exit cannot be used (SystemExit): mend or uninstall that "
            "package.",
        ),
        (
            "their_words",
            "TITLE = 'Mine'\nEXPERIMENTS = ('one',)\n",
            "their_words is not experiments of a paper: TITLE is a text, and EXPERIMENTS a tuple of Experiment.",
        ),
    ],
)
def test_experiments_that_cannot_be_used_are_told(name, text, message, monkeypatch, tmp_path, fresh):
    theirs(monkeypatch, tmp_path, name, text)
    with pytest.raises(MisuseError) as caught:
        experiments()
    assert str(caught.value) == message


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(MisuseError) as caught:
        experiment("004-figur-5")
    assert str(caught.value) == (
        "There is no experiment '004-figur-5'. Did you mean 004-figure-5 or 004-figure-7 or 004-figure-4?"
        " `discreet lab list` has all of them."
    )
    with pytest.raises(MisuseError, match=r"^There is no experiment 'zzz'\. `discreet lab list` has all of them\.$"):
        experiment("zzz")


def test_lines_need_different_labels():
    with pytest.raises(MisuseError, match=r"^Two lines of the experiment small have the same label\.$"):
        replace(SMALL_EXPERIMENT, lines=(SMALL_EXPERIMENT.lines[0], SMALL_EXPERIMENT.lines[0]))


def test_results_know_their_order():
    assert Results(experiment=SMALL_EXPERIMENT, rows=()).panels == ()
