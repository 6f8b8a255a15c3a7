"""Processes that are killed, or told of an error, at one chosen system call: by strace, which sits between the two.

A program of ours is run twice. The first run is only watched, and says which system calls it makes from the moment it
calls `begin()`. In the second, one of them kills the process as it is made, or fails with an error that the disk or the
system could have given.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

KILLED = "signal=KILL"
ERRORS = ("error=EIO", "error=ENOSPC", "error=EINTR")
LASTING = "lasting "  # before an error: it is given from that call on, as by a disk that is gone for good
_MARK = "/discreet-begins-here"
# What every program begins with. A call that is seen by its path marks where what is tested begins.
BEGIN = f"""
import os, sys
def begin():
    try:
        os.stat({_MARK!r})
    except OSError:
        pass
"""


@dataclass(frozen=True)
class Call:
    """The so-manieth system call of a kind in a process."""

    kind: str
    number: int


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it said."""

    status: int
    out: str
    complaint: str

    @property
    def killed(self) -> bool:
        return self.status == -9


def usable() -> str:
    """Return why no faults can be injected here; nothing if they can."""
    if shutil.which("strace") is None:
        return "strace is not installed: apt-get install strace"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "strace may not watch processes here"


def needed() -> None:
    """Skip where faults cannot be injected; fail where they must be."""
    why = usable()
    if why and os.environ.get("CI"):
        pytest.fail(why)
    if why:
        pytest.skip(why)


def calls(code: str, *arguments: object, kinds: Iterable[str], within: Path | None = None) -> list[Call]:
    """Return the calls of these kinds that a program makes after `begin()`, on files in a folder or on all."""
    kinds = list(kinds)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        done = _strace(["-y", "-o", str(log), "-e", f"trace={','.join(['newfstatat', *kinds])}"], code, arguments)
        assert done.status == 0, done.complaint
        lines = log.read_text(errors="replace").splitlines()
    counted = dict.fromkeys([*kinds, "newfstatat"], 0)
    found: list[Call] = []
    begun = False
    for line in lines:
        match = re.match(r"(\w+)\(", line)
        if match is None or match[1] not in counted:
            continue
        counted[match[1]] += 1
        if begun and match[1] in kinds and (within is None or str(within) in line):
            found.append(Call(match[1], counted[match[1]]))
        begun = begun or _MARK in line
    assert begun, "the program did not begin"
    return found


def ended(code: str, *arguments: object, call: Call, fault: str) -> Ended:
    """Run a program with a fault at a call."""
    when = f"{call.number}+" if fault.startswith(LASTING) else call.number
    inject = f"inject={call.kind}:{fault.removeprefix(LASTING)}:when={when}"
    options = ["-o", os.devnull, "-e", f"trace={call.kind}", "-e", inject]
    return _strace(options, code, arguments)


def _strace(options: Sequence[str], code: str, arguments: Sequence[object]) -> Ended:
    command = ["strace", "--quiet=all", *options, sys.executable, "-c", BEGIN + code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    return Ended(done.returncode, done.stdout, done.stderr)


def few(found: Sequence[Call], most: int) -> list[Call]:
    """Return at most so many of each kind, spread over all of them, the first and the last included."""
    chosen: list[Call] = []
    for kind in dict.fromkeys(call.kind for call in found):
        same = [call for call in found if call.kind == kind]
        places = {round(at * (len(same) - 1) / max(most - 1, 1)) for at in range(most)}
        chosen += [same[at] for at in sorted(places)]
    return chosen
