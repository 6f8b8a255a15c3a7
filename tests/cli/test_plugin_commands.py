"""Commands of other packages: listed without being loaded, run like ours, and named where they are broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from strangers import STRANGER, install, program, run

GROUP = {"group": "discreet.commands", "value": "stranger:app", "proof": False}
# A command as somebody else would write it: a group of two, one of which reads and fails as ours do.
SHOP = """
import logging

import typer

from discreet import MisuseError, mine

app = typer.Typer(no_args_is_help=True, help="Two things about a shop.")


@app.command()
def count(file: str) -> None:
    \"\"\"Count the patterns.\"\"\"
    logging.getLogger("shop").info("counting")
    typer.echo(len(mine(file, min_count=1)))


@app.command()
def fail(how: str) -> None:
    \"\"\"Fail in some way.\"\"\"
    if how == "exit":
        raise typer.Exit(7)
    if how == "quit":
        raise SystemExit(0)
    if how == "misuse":
        raise MisuseError("That is not done.")
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "disk":
        raise OSError(28, "No space left on device")
    raise ValueError("secret")
"""
COMMAND_CODE = """
import typer

app = typer.Typer()


@app.command()
def whatever(word: str = "nothing") -> None:
    \"\"\"Say a word.\"\"\"
    typer.echo(word)
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "b.dat").write_text("1 2\n1\n")
    return install(tmp_path, SHOP, name="shop", summary="All about [one] shop", **GROUP)


def test_is_run_like_ours_with_the_options_of_every_command(shop):
    assert run(shop, "shop", "count", "b.dat").stdout == "3\n"
    completed = run(shop, "shop", "count", "b.dat", "--verbose", "--timeout", 60)
    assert (completed.returncode, completed.stderr) == (0, "discreet: counting\n")
    help_text = run(shop, "shop", "--help").stdout
    assert "Two things about a shop." in help_text
    assert "For every command" in run(shop, "shop", "count", "-h").stdout
    assert "--install-completion" not in help_text


def test_an_app_of_one_command_is_that_command(tmp_path):
    install(tmp_path, COMMAND_CODE, name="say", **GROUP)
    assert run(tmp_path, "say", "--word", "tea", "-q").stdout == "tea\n"


def test_help_says_what_its_package_says_and_loads_nothing(shop):
    (shop / "stranger.py").write_text("raise SystemExit('loaded')\n")
    completed = run(shop, "--help")
    assert completed.returncode == 0
    panel = " ".join(completed.stdout.replace("│", " ").partition("Commands of other packages")[2].split())
    assert " shop All about [one] shop (stranger-mechanisms)." in panel
    completed = run(shop, "shop", "count")
    assert (completed.returncode, completed.stderr) == (
        1,
        "discreet: The command shop of the package stranger-mechanisms cannot be loaded (SystemExit: loaded): mend or "
        "uninstall that package.\n",
    )


def test_a_package_that_says_nothing_of_itself_is_listed_by_its_name(tmp_path):
    install(tmp_path, COMMAND_CODE, name="say", **GROUP)
    assert " say Of stranger-mechanisms. " in " ".join(run(tmp_path, "--help").stdout.split())


def test_help_is_shown_whatever_is_wrong_with_other_packages(tmp_path):
    completed = run(install(tmp_path, "", name="mine", **GROUP), "--help")
    assert (completed.returncode, completed.stderr) == (
        0,
        "discreet: There are two commands called mine, one of the package discreet and one of stranger-mechanisms: "
        "rename one, or uninstall its package.\n",
    )
    assert "Commands of other packages" not in completed.stdout
    assert "ledger" in completed.stdout


def test_a_command_of_ours_looks_at_no_other_package(tmp_path):
    install(tmp_path, "", name="mine", **GROUP)
    (tmp_path / "b.dat").write_text("1 2\n1\n")
    completed = run(tmp_path, "mine", "b.dat", "--top", 1, "--format", "csv")
    assert (completed.returncode, completed.stderr) == (0, "")
    code = (
        "import importlib.metadata as metadata, sys\n"
        "metadata.entry_points = None\n"
        "sys.argv = ['discreet', 'ledger', '--help']\n"
        "from discreet.cli import main\n"
        "main()\n"
    )
    assert program(tmp_path, code).returncode == 0


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        (
            {"name": "mine"},
            ["shop"],
            "There are two commands called mine, one of the package discreet and one of stranger-mechanisms: rename "
            "one, or uninstall its package.",
        ),
        (
            {"name": "shop = stranger:other\nshop"},
            ["shop"],
            "There are two commands called shop, one of the package stranger-mechanisms and one of "
            "stranger-mechanisms: rename one, or uninstall its package.",
        ),
        (
            {"name": "shop", "value": "nowhere:app"},
            ["shop", "count"],
            "The command shop of the package stranger-mechanisms cannot be loaded (ModuleNotFoundError: No module "
            "named 'nowhere'): mend or uninstall that package.",
        ),
        (
            {"name": "shop", "value": "stranger:Plain"},
            ["shop"],
            "stranger:Plain of the package stranger-mechanisms is no command: discreet.commands takes an app of typer. "
            "Mend or uninstall that package.",
        ),
        (
            {"name": "shop", "value": "stranger:app", "code": "import typer\napp = typer.Typer()\n"},
            ["shop"],
            "The command shop of the package stranger-mechanisms cannot be used (ValueError: it has no command): mend "
            "or uninstall that package.",
        ),
    ],
    ids=["a name of ours", "twice", "nowhere", "no app", "empty"],
)
def test_are_refused_with_their_name(tmp_path, change, words, message):
    package = {**GROUP, "code": STRANGER, **change}
    completed = run(install(tmp_path, package.pop("code"), **package), *words)
    assert (completed.returncode, completed.stdout, completed.stderr) == (1, "", f"discreet: {message}\n")


@pytest.mark.parametrize(
    ("failure", "status", "message"),
    [
        ("exit", 7, ""),
        (
            "quit",
            1,
            "discreet: Code of another package exited with 0 in the middle of this command. There is no result.\n",
        ),
        ("misuse", 1, "discreet: That is not done.\n"),
        ("interrupt", 130, "discreet: interrupted; no result was written.\n"),
        ("disk", 1, "discreet: No space left on device.\n"),
        (
            "otherwise",
            1,
            "discreet: The command shop of the package stranger-mechanisms failed with an error that should not "
            "happen: ValueError. Set DISCREET_DEBUG=1 to see where, and report it to that package.\n",
        ),
    ],
)
def test_one_that_fails_is_told_as_ours_are_and_named_where_it_is_at_fault(shop, failure, status, message):
    completed = run(shop, "shop", "fail", failure)
    assert (completed.returncode, completed.stdout, completed.stderr) == (status, "", message)


def test_shells_complete_them(shop):
    script = Path(sys.executable).with_name("discreet")
    environment = os.environ | {
        "PYTHONPATH": str(shop), "DISCREET_JIT": "0", "COMP_WORDS": "discreet shop ", "COMP_CWORD": "2",
        f"_{script.name.upper()}_COMPLETE": "complete_bash",  # typer names it by the program
    }  # fmt: skip
    completed = subprocess.run([script], capture_output=True, text=True, env=environment)
    assert completed.stdout.split() == ["count", "fail"], completed.stderr


def test_a_command_that_is_distributed_apart_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.cli._plugin_commands.SEPARATE", {"elsewhere": "discreet-elsewhere"})
    completed = run(tmp_path, "elsewhere", "list")
    assert (completed.returncode, completed.stdout, completed.stderr) == (
        1,
        "",
        "discreet: `discreet elsewhere` is in a package of its own: pip install discreet-elsewhere.\n",
    )


def test_one_that_is_nowhere_is_no_command(tmp_path):
    completed = run(tmp_path, "elsewhere")
    assert completed.returncode == 2
    assert "No such command 'elsewhere'." in completed.stderr
