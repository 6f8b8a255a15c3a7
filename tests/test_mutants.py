"""What the quick tests catch: a list of small bugs, each planted and found."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mutants import MUTANTS, VARIABLE, Mutant

ROOT = Path(__file__).parents[1]


def test_there_are_enough_of_them_in_every_room():
    assert len(MUTANTS) >= 60
    assert len({(mutant.file, mutant.right, mutant.wrong) for mutant in MUTANTS}) == len(MUTANTS)
    rooms = "auditing baskets cli collector curator exact kernels local planning privacy publish results"
    assert {mutant.file.partition("/")[0] for mutant in MUTANTS} >= set(rooms.split())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: f"{one.file}: {one.wrong.strip()}")
def test_it_can_be_planted(mutant: Mutant):
    assert mutant.path.read_text().count(mutant.right) == 1
    assert mutant.wrong != mutant.right
    assert (ROOT / mutant.tests.split()[0]).is_file()


@pytest.mark.slow  # about six minutes for all of them, five seconds each
@pytest.mark.parametrize("place", range(len(MUTANTS)))
def test_it_is_caught(place: int, tmp_path: Path):
    environment = os.environ | {
        VARIABLE: str(place),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    if MUTANTS[place].file.startswith("kernels/"):
        # What is compiled from this very text, and nothing that was compiled before or stands beside it.
        plain = MUTANTS[place].path.name.startswith("plain_")
        environment |= {"DISCREET_JIT": "0"} if plain else {"DISCREET_JIT": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-p", "mutants", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    completed = subprocess.run(
        [*command, *shlex.split(MUTANTS[place].tests)], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    # A kernel with a bug may write where it should not, and end the whole process: that is seen as well.
    assert completed.returncode == 1 or completed.returncode < 0, completed.stdout[-2000:] + completed.stderr[-2000:]
