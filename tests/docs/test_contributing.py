"""The files and commands that CONTRIBUTING.md names are there; `tests/test_drill.py` does what it tells to do."""

from __future__ import annotations

import re

from additions import ROOT, TEXT, steps_of

ADDITIONS = ("a mechanism", "an oracle", "a protocol")
CREATED = {step.path for addition in ADDITIONS for step in steps_of(f"Adding {addition}")} | {
    "tests/curator/mechanisms/test_common_items.py",
    "tests/vectors/declared/keep-or-any.json",
}


def test_every_file_it_names_is_there():
    for path in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w/.-]+\.\w+)`", TEXT):
        assert (ROOT / path).is_file() is (path not in CREATED), path
    commands = re.findall(r"^   \$ .venv/bin/python -m pytest (.*)$", TEXT, re.MULTILINE)
    assert len(commands) > 5
    for command in commands:
        for path in command.partition(" -k ")[0].split():
            assert (ROOT / path).is_file(), path
