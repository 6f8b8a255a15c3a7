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
# The beginning of every program. A call that is seen by its path marks the start of the tested part.
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
    """The end of a process: exit status, output and complaint."""

    status: int
    output: str
    complaint: str

    @property
    def killed(self) -> bool:
        return self.status == -9


def usable() -> str:
    """Return why no faults can be injected here; nothing if they can."""
    if shutil.which("strace") is None:
        return "strace is not installed: apt-get install strace"
    completed = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False)
    return "" if completed.returncode == 0 else "strace may not watch processes here"


def require_strace() -> None:
    """Skip if faults cannot be injected; fail on a forge, which must inject them."""
    reason = usable()
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def calls(code: str, *arguments: object, kinds: Iterable[str], folder_watched: Path | None = None) -> list[Call]:
    """Return the calls of given kinds that a program makes after `begin()`, on files in a folder or on all files."""
    kinds = list(kinds)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        completed = _strace(["-y", "-o", str(log), "-e", f"trace={','.join(['newfstatat', *kinds])}"], code, arguments)
        assert completed.status == 0, completed.complaint
        lines = log.read_text(errors="replace").splitlines()
    call_counts = dict.fromkeys([*kinds, "newfstatat"], 0)
    watched_calls: list[Call] = []
    begun = False
    for line in lines:
        match = re.match(r"(\w+)\(", line)
        if match is None or match[1] not in call_counts:
            continue
        call_counts[match[1]] += 1
        if begun and match[1] in kinds and (folder_watched is None or str(folder_watched) in line):
            watched_calls.append(Call(match[1], call_counts[match[1]]))
        begun = begun or _MARK in line
    assert begun, "the program did not begin"
    return watched_calls


def ended(code: str, *arguments: object, call: Call, fault: str) -> Ended:
    """Run a program with a fault at a call."""
    call_numbers = f"{call.number}+" if fault.startswith(LASTING) else call.number
    # strace counts the calls of one kind from 1 on; with a plus the fault lasts.
    inject = f"inject={call.kind}:{fault.removeprefix(LASTING)}:when={call_numbers}"
    options = ["-o", os.devnull, "-e", f"trace={call.kind}", "-e", inject]
    return _strace(options, code, arguments)


def _strace(options: Sequence[str], code: str, arguments: Sequence[object]) -> Ended:
    command = ["strace", "--quiet=all", *options, sys.executable, "-c", BEGIN + code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    completed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    return Ended(completed.returncode, completed.stdout, completed.stderr)


def sample_calls(candidate_calls: Sequence[Call], max_per_kind: int) -> list[Call]:
    """Return at most `max_per_kind` calls of each kind, spread over all calls, the first and the last included."""
    sampled_calls: list[Call] = []
    for kind in dict.fromkeys(call.kind for call in candidate_calls):
        same_kind = [call for call in candidate_calls if call.kind == kind]
        places = {round(index * (len(same_kind) - 1) / max(max_per_kind - 1, 1)) for index in range(max_per_kind)}
        sampled_calls += [same_kind[index] for index in sorted(places)]
    return sampled_calls
