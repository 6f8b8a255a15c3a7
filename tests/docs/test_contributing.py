"""What CONTRIBUTING.md tells a newcomer to do works as it is written."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
STEP = re.compile(r"^\d\. `([\w/.-]+)`: .*?^   ```(?:python|markdown)\n(.*?)^   ```$", re.MULTILINE | re.DOTALL)


def test_a_mechanism_is_one_file_and_one_page(tmp_path):
    # The two are written as told, and found as if they lay in the room of mechanisms.
    written = {path: textwrap.dedent(text) for path, text in STEP.findall(TEXT)}
    assert list(written) == [
        "src/discreet/curator/mechanisms/common_items.py",
        "src/discreet/curator/mechanisms/common-items.md",
    ]
    for path, text in written.items():
        (tmp_path / Path(path).name).write_text(text)
    code = (
        "import discreet, discreet.curator.mechanisms as room\n"
        f"room.__path__ = [*room.__path__, {str(tmp_path)!r}]\n"
        "people = [{'tea', 'milk'}] * 900 + [{'bread'}] * 500\n"
        "made = discreet.release(people, top=2, epsilon=1, items='public', mechanism='common-items')\n"
        "print(sorted(item for one in made.patterns for item in one.items), made.guarantee.epsilon)\n"
        "print(discreet.audit('common-items', epsilon=1, runs=20).stands)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.stdout == "['milk', 'tea'] 1\nTrue\n", done.stderr


def test_every_file_it_names_is_there():
    made = {"common_items.py", "common-items.md", "test_common_items.py"}
    for path in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w/.-]+\.\w+)`", TEXT):
        assert (ROOT / path).is_file() or Path(path).name in made, path
    for line in re.findall(r"^   \$ .venv/bin/python -m pytest (.*)$", TEXT, re.MULTILINE):
        for path in line.partition(" -k ")[0].split():
            assert (ROOT / path).is_file(), path
