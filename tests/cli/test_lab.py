"""`discreet lab` from the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.lab.papers import experiments

DATA = "1 2 3 4\n1 2 5\n3 4 5 6\n2 6\n" * 50


def invoke(*words):
    return CliRunner().invoke(app, ["lab", *words])


def test_list_names_every_experiment():
    shown = invoke("list")
    assert shown.exit_code == 0
    for name in experiments():
        assert name in shown.output


def test_run_on_data_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.dat").write_text(DATA)
    done = invoke("run", "004-figure-5", "--quick", "--jobs", "1", "--data", "mine.dat", "--with", "privbasis")
    assert done.exit_code == 0, done.output
    assert "privbasis" in done.output
    assert (tmp_path / "lab-results" / "004-figure-5.parquet").is_file()


def test_run_on_a_table_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{person},{item}" for person, line in enumerate(DATA.split("\n")) for item in line.split()]
    (tmp_path / "mine.csv").write_text("\n".join(["who,what", *rows]))
    words = ("--data", "mine.csv", "--person", "who", "--item", "what")
    done = invoke("run", "004-figure-5", "--quick", "--jobs", "1", *words)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "Say what to run: names from `discreet lab list`, --paper 000, or --all."),
        (["run", "004-figure-5", "--all"], "Say what to run: names from `discreet lab list`, --paper 000, or --all."),
        (["run", "009"], "There is no experiment '009': try one of"),
        (["page", "--paper", "9"], "There are no experiments of a paper '9': it is one of"),
    ],
)
def test_mistakes(words, said):
    failed = invoke(*words)
    assert failed.exit_code == 1
    assert str(failed.exception).startswith(said)
