"""What every command takes, before its name and after it: how much is said, and for how long it may run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from discreet.cli import app
from running import DISCREET, plain, run

RELEASE = ["release", "a.dat", "--top", "1", "--epsilon", "1", "--items", "public"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.dat").write_text("tea milk tea\n" * 50)
    (tmp_path / "a.csv").write_text("label,score\ntea,3\nmilk,1\n")
    return tmp_path


def leaves(command: Any) -> list[Any]:
    inner = getattr(command, "commands", {})
    return [leaf for subcommand in inner.values() for leaf in leaves(subcommand)] if inner else [command]


def test_every_command_has_them() -> None:
    commands = leaves(get_command(app))
    assert len(commands) > 20
    for command in commands:
        options = {option for parameter in command.params for option in parameter.opts}
        expected_options = {"-v", "--verbose", "-q", "--quiet"} | ({"--timeout"} if command.name != "serve" else set())
        assert expected_options <= options, command.name
        assert (command.name == "serve") == ("--timeout" not in options)


@pytest.mark.parametrize("words", [["-v", "mine"], ["mine", "-v"], ["mine", "--verbose"], ["--verbose", "mine"]])
def test_verbose_before_the_command_and_after_it(folder: Path, words: list[str]) -> None:
    completed = run(*words, "a.dat", "--top", "1", cwd=folder)
    assert completed.stderr == "discreet: a.dat: merged 50 repeats of an item in a basket.\n"


def test_between_a_group_and_its_command(folder: Path) -> None:
    run("ledger", "create", "l.db", "--epsilon", "1", cwd=folder, check=True)
    ledger_text = run("ledger", "show", "l.db", cwd=folder, check=True).stdout
    for words in (["ledger", "-q", "show", "l.db"], ["ledger", "--timeout", "60", "show", "l.db"]):
        assert run(*words, cwd=folder, check=True).stdout == ledger_text
    completed = run("ledger", "-q", "show", "l.db", "-v", cwd=folder)
    assert completed.stderr == "discreet: --quiet and --verbose contradict each other: give one of them.\n"


def test_relations_are_not_promised_an_order_by_p() -> None:
    assert "p_adjusted" in run("rules", "--help").stdout
    assert "p_adjusted" not in run("relations", "--help").stdout


@pytest.mark.parametrize("words", [["-q", "mine"], ["mine", "--quiet"]])
def test_quiet_leaves_the_result_and_what_went_wrong(folder: Path, words: list[str]) -> None:
    completed = run(*words, "a.dat", "--top", "1", "-o", "b.csv", cwd=folder, terminal=True)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")
    assert (folder / "b.csv").exists()
    assert "written to" in run("mine", "a.dat", "--top", "1", "-o", "b.csv", cwd=folder).stderr
    completed = run(*words, "b.dat", "--top", "1", cwd=folder)
    assert (completed.returncode, completed.stderr) == (1, "discreet: There is no file b.dat.\n")
    completed = run(*words, "a.dat", "--top", "1", "--format", "json", cwd=folder)
    assert len(json.loads(completed.stdout)["patterns"]) == 1


def test_quiet_and_verbose_contradict_each_other(folder: Path) -> None:
    for words in (["-q", "mine", "-v"], ["mine", "-v", "-q"]):
        completed = run(*words, "a.dat", "--top", "1", cwd=folder)
        assert completed.stderr == "discreet: --quiet and --verbose contradict each other: give one of them.\n"


def test_a_command_is_stopped_when_its_time_is_over(folder: Path) -> None:
    """It waits for standard input, which never ends: in a process, as the last thing it does is to leave."""
    for words in (["mine", "-", "--timeout", "1.5"], ["--timeout", "1.5", "mine", "-"]):
        command = [DISCREET, *words, "--input-format", "fimi", "--top", "1", "-o", "b.csv"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=plain(TMPDIR=str(folder))
        ) as process:
            assert process.wait(60) == 124
            assert process.stderr is not None
            errors = process.stderr.read()
        assert errors == "discreet: stopped after 1.5 seconds (--timeout); no result was written.\n"
        assert not list(folder.glob("b.csv*"))
        assert not list(folder.glob("discreet-*"))


@pytest.mark.parametrize("limit", ["0", "-1", "1e9"])
def test_limits_that_are_none(folder: Path, limit: str) -> None:
    completed = run("mine", "a.dat", "--top", "1", f"--timeout={limit}", cwd=folder)
    assert completed.returncode == 2
    assert "it is a number of seconds over 0" in completed.stderr


RANK = ["rank", "a.csv", "--label", "label", "--score", "score", "--top", "1", "--epsilon", "1"]
RANK += ["--sensitivity", "1", "--labels", "public"]


COUNT = ["count", "a.dat", "--itemsets", "itemsets.txt", "--epsilon", "1", "--really"]
RELEASE_RELATIONS = ["release-relations", "a.dat", "--top", "1", "--epsilon", "1", "--items", "public", "--really"]
PAYING_COMMANDS = {words[0]: words for words in (RELEASE, COUNT, RELEASE_RELATIONS, RANK)}


def test_every_paying_command_is_among_the_payments_without_a_limit() -> None:
    """A command pays if it takes an epsilon, and a ledger that pays it."""
    option_names = {
        command.name: {option for parameter in command.params for option in parameter.opts}
        for command in leaves(get_command(app))
    }
    paying_commands = {name for name, options in option_names.items() if {"--ledger", "--epsilon"} <= options}
    assert paying_commands == set(PAYING_COMMANDS)


@pytest.mark.parametrize("command_name", PAYING_COMMANDS)
def test_from_paying_on_there_is_no_limit(folder: Path, monkeypatch: pytest.MonkeyPatch, command_name: str) -> None:
    """The duration depends on the data, and only paid results may."""
    # internals: every payment passes this function, whichever command pays.
    from discreet.publish import _door

    (folder / "itemsets.txt").write_text("tea\n")
    pay, remaining_seconds = _door.pay, []

    def watch_payment(*arguments: Any) -> Any:
        remaining_seconds.append(signal.getitimer(signal.ITIMER_REAL)[0])
        if remaining_seconds[-1] == 0:
            signal.raise_signal(signal.SIGALRM)  # an alarm that came before its handler ran
        return pay(*arguments)

    monkeypatch.setattr(_door, "pay", watch_payment)
    completed = run(*PAYING_COMMANDS[command_name], "--timeout", "500", cwd=folder)
    assert completed.returncode == 0, completed.stderr
    assert remaining_seconds == [0.0]
    before = run("mine", "a.dat", "--top", "1", "--timeout", "500", cwd=folder)
    assert before.returncode == 0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


COMPARE = ["compare", "a.dat", "--top", "1", "--runs", "1", "--mechanism", "truncated"]


@pytest.mark.parametrize(
    ("arguments", "result_name"),
    [
        (["count", "--help"], None),
        (["mechanisms"], None),
        (["mine", "a.dat", "--min-count", "1", "--report", "page.html"], "page.html"),
        ([*COMPARE, "--report", "page.html"], "page.html"),
    ],
)
def test_whoever_reads_may_have_seen_enough(folder: Path, arguments: list[str], result_name: str | None) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    completed = subprocess.run(
        [DISCREET, *arguments], cwd=folder, env=plain(), stdout=writes, stderr=subprocess.PIPE, text=True
    )
    os.close(writes)
    assert "discreet:" not in completed.stderr.replace("discreet: a.dat", "")
    assert "Traceback" not in completed.stderr
    assert result_name is None or (folder / result_name).exists()
