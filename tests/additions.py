"""What CONTRIBUTING.md adds to the house, read from its own blocks of code, and a copy of the house to add it to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
INDENT = "   "  # of what belongs to a numbered step
GENERATED_FOLDERS = {"__pycache__", "node_modules", "_build", ".venv", ".hypothesis"}
STEP = re.compile(r"^\d\. `([\w/.-]+)`: .*?^   ```(python|markdown|diff)\n(.*?)^   ```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """One numbered step: a file to write, or a change of a file, as it stands in CONTRIBUTING.md."""

    path: str
    language: str
    block: str

    def carry_out(self, tree: Path) -> None:
        """Write the file into a tree, or change the file there."""
        place = tree / self.path
        if self.language != "diff":
            assert not place.exists(), self.path
            place.write_text(self.block)
            return
        before = "".join(line[1:] or "\n" for line in self.lines if line[0] != "+")
        after = "".join(line[1:] or "\n" for line in self.lines if line[0] != "-")
        text = place.read_text()
        assert text.count(before) == 1, f"{self.path} has no such lines any more:\n{before}"
        place.write_text(text.replace(before, after))

    @property
    def lines(self) -> list[str]:
        """Return the lines of a change, each with its mark; an empty line is one that stays."""
        return [line if line.strip() else " \n" for line in self.block.splitlines(keepends=True)]


def steps_of(heading: str) -> list[Step]:
    """Return the steps under a heading of CONTRIBUTING.md."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    matches = STEP.findall(section)
    return [
        Step(path, language, re.sub(f"^{INDENT}", "", block, flags=re.MULTILINE)) for path, language, block in matches
    ]


def copy_tree(tree: Path) -> None:
    """Copy the files of the repository, as they are now and without what is made of them, to a folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if completed.returncode:  # an sdist is no repository, and has nothing but its files
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if not GENERATED_FOLDERS & {*path.parts}]
    else:
        names = completed.stdout.split("\0")
    for name in names:
        source, place = ROOT / name, tree / name
        if name and source.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place)


def run_there(tree: Path, *command: str) -> str:
    """Run Python with the packages of a tree in place of those that are installed, and return what it prints."""
    places = [tree / "src", tree / "lab" / "src", tree / "tests", tree]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places)), "DISCREET_JIT": "1", "NO_COLOR": "1"}
    data = ROOT.parent / "shared" / "data"  # beside the checkout, and not beside a copy of it
    if data.is_dir():
        environment.setdefault("DISCREET_DATA", str(data))
    for name in [name for name in environment if name.startswith(("PYTEST_", "COV_", "COVERAGE_"))]:
        del environment[name]  # of the run that this one is a part of
    completed = subprocess.run(
        [sys.executable, *command], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout
