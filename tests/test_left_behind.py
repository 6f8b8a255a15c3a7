"""What a command leaves behind in every place it can write to does not depend on one person.

Neighbouring data on both sides of the numbers at which the code goes another way: files and folders, their names,
sizes and contents are the same. Commands are processes of their own, with an empty home.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

# The process in the background is not started but written down: where it would be, and with what arguments.
COMMAND = """
import subprocess, sys
from pathlib import Path
def started(command, **how):
    class Process:
        def wait(self): return 0
    with Path("started.txt").open("a") as file:
        print(command[1:], sorted(how), how["cwd"], file=file)
    return Process()
subprocess.Popen = started
from discreet.cli import main
main()
"""

# People with four items each, on both sides of: nobody; 2^16 elements, the size of a batch; 0.02 seconds at 4e-7 and at
# 3e-8 per element, from where compiled code may be the better choice (kernels/_tiers.py); and 2^20 elements, from where
# rows are laid out in another way (exact/_rows.py), by kernels that smaller data never call.
EDGES = [1, 1 << 14, 12_501, 166_667, 1 << 18]
RELEASE = ("release", "data.dat", "--one-row-a-person", "--top", "3", "--epsilon", "1", "--items", "items.txt")


def left_behind(folder: Path, people: int, *command: str, **environment: str) -> dict[str, tuple[int, str]]:
    """Run a command on so many people; return what lies in its home, temporary and working folders then."""
    places = {name: folder / f"{people}" / name for name in ("home", "tmp", "work")}
    for place in places.values():
        place.mkdir(parents=True)
    (places["work"] / "data.dat").write_text("1 2 3 4\n" * people)
    (places["work"] / "items.txt").write_text("1\n2\n3\n4\n5\n")
    inherited = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    completed = subprocess.run(
        [sys.executable, "-c", COMMAND, *command],
        cwd=places["work"],
        env={**inherited, "HOME": str(places["home"]), "TMPDIR": str(places["tmp"]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    contents = {}
    for path in sorted((folder / f"{people}").rglob("*")):
        if path.name not in ("data.dat",) and "result" not in path.name:
            text = path.read_bytes().replace(f"/{people}/".encode(), b"/") if path.is_file() else b""
            name = str(path.relative_to(folder / f"{people}"))
            contents[name] = path.stat().st_mode, hashlib.sha256(text).hexdigest()
    return contents


@pytest.mark.parametrize("people", EDGES)
def test_a_release_leaves_the_same_behind(tmp_path, people):
    # About six seconds each, as both are processes: the largest compile in memory.
    first_files, second_files = (left_behind(tmp_path, person_count, *RELEASE) for person_count in (people - 1, people))
    assert first_files == second_files
    assert "work/started.txt" in first_files
    assert sorted(name for name in first_files if name.startswith("home")) == [
        "home", "home/.cache", "home/.cache/discreet", "home/.cache/discreet/kernels",
    ]  # fmt: skip
    assert [name for name in first_files if name.startswith("tmp")] == ["tmp"]


@pytest.mark.parametrize("people", [12_501, 1 << 18])
def test_a_program_leaves_nothing_behind(tmp_path, people):
    first_files, second_files = (
        left_behind(tmp_path, person_count, *RELEASE, DISCREET_PREPARE="0") for person_count in (people - 1, people)
    )
    assert first_files == second_files
    assert sorted(first_files) == ["home", "tmp", "work", "work/items.txt"]
