"""Compiling for the next time, by a process of its own that nobody waits for.

A command that ran something slow in its plain form leaves a note of it in the cache and starts this process, which
compiles what notes ask for, keeps it, and ends. It has the lowest priority, its own session, and no terminal, pipe or
file of the one that started it. A lock sees to it that there is one at a time; whoever comes second ends at once, as
the first one finds its notes. Killed, it leaves nothing half done: a compiled form is written whole or not at all.

Only commands and people at a prompt or in a notebook start one. Programs, services, tests and builds (`CI`) do not,
unless ``DISCREET_PREPARE=1`` says so; ``DISCREET_PREPARE=0`` forbids it to all. Where no cache can be written, there
is none. A note names a kernel and the types of its arguments, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from time import monotonic
from types import FunctionType

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment,unused-ignore]

_NOTE = ".wanted"
_LOCK = "preparing.lock"
_LONGEST = 900.0  # seconds after which the process ends, whatever is left to do
_asked: set[tuple[FunctionType, str]] = set()
_wanted = False


def from_a_command(yes: bool = True) -> None:
    """Say that this process is a command somebody typed: it may have things compiled for the next one."""
    global _wanted
    _wanted = yes


def allowed() -> bool:
    """Say whether this process may start another that compiles."""
    given = os.environ.get("DISCREET_PREPARE", "")
    if given in ("0", "1"):
        return given == "1" and fcntl is not None
    at_a_prompt = hasattr(sys, "ps1") or "ipykernel" in sys.modules
    return (_wanted or at_a_prompt) and not os.environ.get("CI") and fcntl is not None


def ask(function: FunctionType, types: str) -> None:
    """Have a kernel compiled for arguments of these types, where that is allowed and can be kept."""
    if (function, types) in _asked or not allowed():
        return
    import hashlib

    from .cache import cache_directory

    _asked.add((function, types))
    place = cache_directory()
    if place is None or "<locals>" in function.__qualname__:
        return
    note = f"{function.__module__}\n{function.__qualname__}\n{types}\n"
    path = Path(place) / f"{hashlib.sha256(note.encode()).hexdigest()[:24]}{_NOTE}"
    with contextlib.suppress(OSError):
        path.write_text(note)
        _start(place)


def _start(place: str) -> None:
    import subprocess
    from threading import Thread

    package = str(Path(__file__).parents[2])
    code = (
        "import os, sys; os.nice(19); sys.path.append(sys.argv[1]); "
        "from discreet.kernels.background import work; work(sys.argv[2])"
    )
    environment = {**os.environ, "DISCREET_JIT": "1", "DISCREET_PREPARE": "0", "NUMBA_CACHE_DIR": place}
    process = subprocess.Popen(  # noqa: S603  # ourselves
        [sys.executable, "-P", "-c", code, package, place],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=place,
        env=environment,
        start_new_session=True,
    )
    Thread(target=process.wait, name="discreet-prepares", daemon=True).start()  # so that nothing is left when it ends


def work(place: str) -> None:
    """Compile all that notes ask for; the whole life of the process."""
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    ends = monotonic() + _LONGEST
    lock = os.open(Path(place) / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return  # another one is at it
    while monotonic() < ends and (notes := sorted(Path(place).glob(f"*{_NOTE}"))):
        for note in notes:
            with contextlib.suppress(OSError):
                text = note.read_text()
                note.unlink()  # before, so that what cannot be compiled is not tried for ever
                with contextlib.suppress(Exception):  # nobody is there to hear of it
                    compile_one(*text.splitlines())


def compile_one(module: str, name: str, types: str) -> None:
    """Compile a kernel that is named, for arguments of these types."""
    import importlib

    from .tiers import Kernel

    kernel = getattr(importlib.import_module(module), name)
    if isinstance(kernel, Kernel):
        kernel.prepare(types)
