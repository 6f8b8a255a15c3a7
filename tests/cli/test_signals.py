"""SIGINT, SIGTERM and SIGHUP at several moments: told, cleared away, and ended with the status that a shell expects."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from discreet.privacy.ledger import Ledger
from running import DISCREET, plain

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
INTERRUPTED_MESSAGE = "discreet: interrupted; no result was written.\n"

# Says that a moment has come, and stays there, deaf to everything but its end.
HERE_CODE = """
import sys, time
def here(*_, **__):
    print("here", flush=True)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        time.sleep(0.05)
"""
# The same where every exception is swallowed: as in a callback of the compiler.
DEAF = (
    HERE_CODE
    + """
def deaf(*_, **__):
    try:
        here()
    except BaseException:
        time.sleep(60)
"""
)


def started(
    folder: Path, customs: str, *words: object, stdin: int | None = None, compiled: bool = False
) -> subprocess.Popen[str]:
    """Start the command line with code that Python runs before anything else."""
    (folder / "customs").mkdir()
    (folder / "customs" / "sitecustomize.py").write_text(customs)
    (folder / "tmp").mkdir()
    path = os.pathsep.join([str(folder / "customs"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [DISCREET, *map(str, words)], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=plain(PYTHONPATH=path, TMPDIR=str(folder / "tmp"), DISCREET_JIT=str(int(compiled))),
        preexec_fn=restore_hangups,
    )  # fmt: skip


def restore_hangups() -> None:
    """Restore the default action of SIGHUP, which a test run under nohup ignores, and its children with it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def stopped(process: subprocess.Popen[str], *numbers: int) -> tuple[int, str]:
    """Send signals, and return the status and what was said."""
    try:
        for number in numbers:
            process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    return process.returncode, errors


def wait_until_here(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"


def patch_code(module: str, code: str) -> str:
    """Return code that runs `code` when a module is imported, before the module itself."""
    return f"""
{DEAF}
class Finder:
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(Finder)
            {code}
sys.meta_path.insert(0, Finder)
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_while_it_starts(tmp_path, number):
    process = started(tmp_path, patch_code("typer", "here()"), "--help")
    wait_until_here(process)
    assert stopped(process, number) == (128 + number, INTERRUPTED_MESSAGE)


@pytest.mark.parametrize("number", SIGNALS)
def test_while_standard_input_is_read(tmp_path, number):
    process = started(tmp_path, "", "mine", "-", "--input-format", "fimi", "--min-count", 1, stdin=subprocess.PIPE)
    process.stdin.write("1 2\n" * 100_000)
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("tmp/discreet-*/given")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert stopped(process, number) == (128 + number, INTERRUPTED_MESSAGE)
    assert list((tmp_path / "tmp").iterdir()) == []  # a private copy lay there


def test_several_at_once_are_one(tmp_path):
    # As systemd and shells send them; the second must not break off clearing away.
    process = started(tmp_path, "", "mine", "-", "--input-format", "fimi", "--min-count", 1, stdin=subprocess.PIPE)
    process.stdin.write("1 2\n" * 100_000)
    process.stdin.flush()
    while not list(tmp_path.glob("tmp/discreet-*/given")):
        time.sleep(0.02)
    status, errors = stopped(process, signal.SIGTERM, signal.SIGHUP, signal.SIGTERM, signal.SIGHUP)
    assert (status in (129, 143), errors) == (True, INTERRUPTED_MESSAGE)
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("number", SIGNALS)
def test_after_paying(tmp_path, number):
    ledger = tmp_path / "l.db"
    (tmp_path / "b.dat").write_text("1 2\n1\n" * 50)
    Ledger.create(ledger, epsilon=5)
    patch = patch_code(
        "discreet.publish._door", "import discreet.curator.mechanisms.exponential as e; e.Exponential.run = here"
    )
    process = started(
        tmp_path, patch, "release", tmp_path / "b.dat", "--top", 1, "--epsilon", 1, "--items", "public",
        "--mechanism", "exponential", "--ledger", ledger, "-o", tmp_path / "r.json",
    )  # fmt: skip
    wait_until_here(process)
    status, errors = stopped(process, number)
    assert status == 128 + number
    assert errors.splitlines()[-1] == (
        f"discreet: interrupted; no result was written. What was paid stays paid: spend 1 of {ledger}, epsilon = 1."
    )
    assert not (tmp_path / "r.json").exists()


@pytest.mark.skipif(os.environ.get("DISCREET_JIT") == "0", reason="nothing is compiled")
def test_while_something_is_compiled_that_swallows_interrupts(tmp_path):
    (tmp_path / "b.dat").write_text("1 2\n1\n" * 50)
    patch = patch_code("discreet.kernels._jit", "import numba.core.dispatcher as d; d.Dispatcher.compile = deaf")
    process = started(tmp_path, patch, "mine", tmp_path / "b.dat", "--min-count", 1, compiled=True)
    wait_until_here(process)
    assert stopped(process, signal.SIGINT) == (130, INTERRUPTED_MESSAGE)


def test_an_interrupt_in_a_destructor_is_not_lost(tmp_path):
    patch = patch_code("discreet.baskets._read", "Odd(); here()") + "\nclass Odd:\n    def __del__(self): here()\n"
    (tmp_path / "b.dat").write_text("1 2\n1\n" * 50)
    process = started(tmp_path, patch, "mine", tmp_path / "b.dat", "--min-count", 1)
    wait_until_here(process)
    assert stopped(process, signal.SIGTERM) == (143, INTERRUPTED_MESSAGE)


def test_what_is_ignored_stays_ignored(tmp_path):
    # As under nohup.
    (tmp_path / "b.dat").write_text("1 2\n1\n" * 50)
    patch = patch_code("discreet.baskets._read", "import os, signal; os.kill(os.getpid(), signal.SIGHUP)")
    patch = f"import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n{patch}"
    process = started(tmp_path, patch, "mine", tmp_path / "b.dat", "--min-count", 1, "--format", "csv")
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors, output.count("\n")) == (0, "", 4)


def test_a_library_leaves_signals_alone():
    code = (
        "import signal, discreet, discreet.cli, discreet.cli._app\n"
        "discreet.mine([{1, 2}, {2}], min_count=1)\n"
        "print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL,"
        " signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
    )
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=plain())
    assert completed.stdout == "True True\n"


def test_folders_of_dead_processes_are_swept_when_the_next_starts(tmp_path):
    process = started(tmp_path, "", "mine", "-", "--input-format", "fimi", "--min-count", 1, stdin=subprocess.PIPE)
    process.stdin.write("1 2\n" * 100_000)
    process.stdin.flush()
    while not list(tmp_path.glob("tmp/discreet-*/given")):
        time.sleep(0.02)
    assert stopped(process, signal.SIGKILL)[0] == -signal.SIGKILL
    assert len(list((tmp_path / "tmp").iterdir())) == 1
    subprocess.run([DISCREET, "--version"], env=plain(TMPDIR=str(tmp_path / "tmp")), check=True)
    assert list((tmp_path / "tmp").iterdir()) == []
