"""Data, points and lines of one's own: in place of a paper's or beside them, or refused before anything runs."""

from __future__ import annotations

import pytest

from discreet.errors import EmptyDataError, InputError, MisuseError
from discreet_lab.data.own_data import add_line, check_data, replace_data, replace_points
from discreet_lab.measure.measures import measure_cell
from discreet_lab.papers import experiment, experiments
from discreet_lab.run.experiment import Data

FORMULAS = ["000-figure-1", "000-figure-5", "000-table-2", "000-table-3", "002-theorem-3", "004-table-4"]


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """Return data of one's own: 400 baskets of ten items."""
    path = tmp_path_factory.mktemp("own") / "mine.dat"
    path.write_text("1 2 3 4\n1 2 5\n3 4 5 6\n7 8 9 10\n" * 100)
    return Data(name=str(path), label="mine.dat")


@pytest.fixture(scope="module")
def paired(tmp_path_factory):
    """Return a table with pairs and times."""
    path = tmp_path_factory.mktemp("own") / "mine.csv"
    rows = [f"{person},{person % 3},{1 + person % 4},{person}" for person in range(60)]
    path.write_text("\n".join(["who,before,after,when", *rows]))
    return str(path)


def refused(error, change, *arguments):
    with pytest.raises(error) as caught:
        change(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("name", sorted(experiments()))
def test_an_experiment_runs_on_other_data_or_says_why_not(name, mine):
    tested_experiment = experiment(name)
    data_kinds = {"given": "pairs", "after": "the order of items"}
    hows = {line.settings.get("how") for line in tested_experiment.lines} & set(data_kinds)
    if name in FORMULAS:
        message = f"{name} computes a formula and reads no data: run it without data of your own."
        assert refused(MisuseError, replace_data, tested_experiment, mine) == message
    elif hows:
        message = refused(MisuseError, replace_data, tested_experiment, mine)
        assert message.startswith(f"{name} is about {data_kinds[hows.pop()]}, and these data have none: give ")
    else:
        changed = replace_data(tested_experiment, mine)
        cells = list(changed.cells(quick=True))
        assert {cell.data.name for cell in cells} == {mine.name}
        assert all(cell.panel.startswith("mine.dat") for cell in cells)
        # Everything that is asked about a paper's own set is asked here too.
        assert {*cells[0].asked} == {*next(tested_experiment.cells(quick=True)).asked}
        assert all(cell.value for cell in cells) or tested_experiment.axis is None


def test_points_that_stand_with_the_sets_are_all_taken(mine):
    changed = replace_data(experiment("ours-items"), mine)
    assert [cell.value for cell in changed.cells(quick=False)][:6] == [
        "0.005",
        "0.01",
        "0.015",
        "0.02",
        "0.04",
        "0.005",
    ]
    assert measure_cell(next(changed.cells(quick=True)), 0)["wanted"] == 10


def test_what_is_asked_about_one_set_alone_is_in_the_label(mine):
    changed = replace_data(experiment("002-section-4"), mine)
    assert {(cell.panel, cell.asked["fraction"]) for cell in changed.cells(quick=True)} == {
        ("mine.dat (fraction = 0.02)", 0.02)
    }


def test_relations_need_pairs_or_an_order(paired):
    columns = {"person": "who", "pair": ("before", "after")}
    assert replace_data(experiment("003-e1"), Data(name=paired, reading=columns)).data[0].name == paired
    timed = {"person": "who", "item": "after", "time": "when"}
    assert replace_data(experiment("003-e3"), Data(name=paired, reading=timed)).data[0].name == paired
    assert refused(MisuseError, replace_data, experiment("003-e1"), Data(name=paired, reading=timed)) == (
        "003-e1 is about pairs, and these data have none: give pair=, two columns of items."
    )
    assert refused(MisuseError, replace_data, experiment("003-e3"), Data(name=paired, reading=columns)) == (
        "003-e3 is about the order of items, and these data have none: give time=, a column of times, or ordered=True."
    )


def test_devices_with_several_baskets_are_not_compared_with_all_of_them(paired):
    columns = {"person": "before", "basket": "who", "item": "after"}
    assert replace_data(experiment("002-section-4"), Data(name=paired, reading=columns)).data[0].name == paired
    assert refused(MisuseError, replace_data, experiment("001-figure-5"), Data(name=paired, reading=columns)) == (
        "001-figure-5 compares what devices find with the truth, and these people have several baskets each, of which "
        "a device answers for one: read them without basket=."
    )


def test_data_are_read_once_before_anything_runs(tmp_path):
    empty, blank, absent = (Data(name=str(tmp_path / name)) for name in ("empty.dat", "blank.dat", "absent.dat"))
    (tmp_path / "empty.dat").write_text("")
    (tmp_path / "blank.dat").write_text("\n\n")
    assert refused(EmptyDataError, check_data, empty).startswith(f"{empty.name} is empty;")
    assert refused(InputError, check_data, blank) == (
        f"{blank.name} has baskets and no item in any of them: give a file with items."
    )
    assert absent.name in refused(InputError, check_data, absent)


@pytest.mark.parametrize(
    ("name", "texts", "points"),
    [
        ("002-figure-3", ["0.02", "0.01", "0.02"], (0.02, 0.01)),
        ("004-figure-6-top", ["7"], (7,)),
        ("004-figure-5", ["1/2", "3"], ("1/2", "3")),
    ],
)
def test_points_of_ones_own_are_of_the_kind_of_the_papers(name, texts, points, mine):
    for tested_experiment in (experiment(name), replace_data(experiment(name), mine)):
        changed = replace_points(tested_experiment, texts)
        assert changed.axis.values == points
        assert {cell.value for cell in changed.cells(quick=False)} == set(map(str, points))


def test_points_that_are_none():
    assert refused(MisuseError, replace_points, experiment("004-figure-6-top"), ["7", "0.5"]) == (
        "The values of 004-figure-6-top are those of K, such as 10,25; 7,0.5 was given."
    )
    assert refused(MisuseError, replace_points, experiment("002-figure-3"), ["many"]) == (
        "The values of 002-figure-3 are those of threshold, such as 0.005,0.01; many was given."
    )
    assert refused(MisuseError, replace_points, experiment("003-table-3"), ["1"]) == (
        "003-table-3 has no axis: run it without values of your own."
    )


@pytest.mark.parametrize(
    ("name", "other_line", "label", "question"),
    [
        ("004-figure-5", "bases", "bases, add/remove", {}),
        ("004-figure-7", "auto", "auto, add/remove", {"epsilon": "2"}),
        ("ours-top-100", "auto", "auto", {}),
        ("000-figure-4-epsilon", "fp-tree", "fp-tree", {}),
    ],
)
def test_a_line_is_asked_what_all_are_and_its_label_says_the_relation(name, other_line, label, question):
    changed = add_line(experiment(name), other_line)
    assert (changed.lines[-1].label, changed.lines[-1].asked) == (label, question)
    added_twice = add_line(changed, other_line)
    assert added_twice.lines[-1].label == f"{label}, added"


def test_an_added_line_can_be_run(mine):
    changed = add_line(replace_data(experiment("004-figure-7"), mine), "auto")
    cell = next(cell for cell in changed.cells(quick=True) if cell.line.name == "auto")
    assert 0 <= measure_cell(cell, 0)["false_negative_rate"] <= 1


def test_added_protocols_look_for_the_relations_that_the_others_do():
    changed = add_line(experiment("003-e1"), "pairs")
    assert changed.lines[-1].settings == {"how": "given"}


@pytest.mark.parametrize(
    ("name", "other_line", "message"),
    [
        ("000-table-2", "auto", "000-table-2 computes formulas: neither mechanisms nor protocols can be added to it."),
        (
            "004-figure-2",
            "auto",
            "004-figure-2 computes formulas: neither mechanisms nor protocols can be added to it.",
        ),
        (
            "003-e11",
            "auto",
            "auto is a mechanism, and 003-e11 compares protocols: add one of those to it.",
        ),
        (
            "004-figure-5",
            "svsm",
            "svsm is a protocol, and 004-figure-5 compares mechanisms: add one of those to it.",
        ),
        ("003-e1", "svsm", "svsm cannot be added to 003-e1: it finds patterns, and others are wanted."),
        (
            "000-figure-4-top",
            "pairs",
            "pairs cannot be added to 000-figure-4-top: it finds relations, and others are wanted.",
        ),
        (
            "004-figure-5",
            "count",
            "count cannot be added to 004-figure-5: it answers itemsets, and top is asked.",
        ),
        (
            "002-figure-4",
            "threshold",
            "threshold cannot be added to 002-figure-4: it needs a delta, and none is given.",
        ),
        (
            "002-section-4",
            "auto",
            "auto cannot be added to 002-section-4: auto has no setting 'coverage': it has none.",
        ),
    ],
)
def test_lines_that_could_be_run_nowhere_are_refused(name, other_line, message):
    assert refused(MisuseError, add_line, experiment(name), other_line) == message
    with pytest.raises(MisuseError, match=r"^pairs cannot be added to 003-e12: pairs has no setting 'theta': it has "):
        add_line(experiment("003-e12"), "pairs")
    with pytest.raises(MisuseError, match=r"^There is no mechanism 'nonsense'; there are auto, "):
        add_line(experiment("004-figure-5"), "nonsense")


def test_a_line_that_is_compared_under_another_relation_says_so():
    """Of mechanisms under different relations each says its own, in its label or in what differs."""
    for tested_experiment in experiments().values():
        relations = {line.asked.get("neighbours", "add-remove") for line in tested_experiment.lines}
        if tested_experiment.measure == "release" and len(relations) > 1:
            assert "replacing a person" in tested_experiment.differs, tested_experiment.name
            assert "adding or removing one" in tested_experiment.differs, tested_experiment.name
