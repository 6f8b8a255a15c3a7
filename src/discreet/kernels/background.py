"""Compiling for the next command, in a background process that no caller waits for.

The process compiles all kernels or none: the set of kept forms outlives a release, so it must not follow from data.
The first process that imports kernels starts it. It compiles all that `discreet warmup` would, leaves a mark when it is
done, and ends. It has the lowest priority, its own session, and no terminal, pipe or file of its parent. A lock admits
one process at a time. Killed, it leaves nothing half done: a compiled form is written whole or not at all, and the
next command goes on.

Only commands and people at a prompt or in a notebook start one, when they import kernels, before any data are read.
Programs, services, tests and builds (`CI`) do not, unless ``DISCREET_PREPARE=1`` says so; ``DISCREET_PREPARE=0``
forbids it in all cases. Without a writable cache no process starts. In a container it ends with the main process, like
all processes; an image has everything compiled ahead (`discreet warmup --shared`), and starts none.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment,unused-ignore]

_LOCK = "preparing.lock"
_MAX_SECONDS = 900.0  # seconds after which the process ends even with forms missing; an idle core needs some 40
_is_command = False
_announce_start: Callable[[], None] | None = None


def note_command(is_command: bool = True, announce_start: Callable[[], None] | None = None) -> None:
    """Note that this process is a typed command: it may start the background process for the next command.

    `announce_start` is called when that process starts.
    """
    global _is_command, _announce_start
    _is_command, _announce_start = is_command, announce_start


def can_start() -> bool:
    """Return whether this process may start the background process."""
    setting = os.environ.get("DISCREET_PREPARE", "")
    if setting in ("0", "1"):
        return setting == "1" and fcntl is not None
    at_a_prompt = hasattr(sys, "ps1") or "ipykernel" in sys.modules
    return (_is_command or at_a_prompt) and not os.environ.get("CI") and fcntl is not None


def start_if_allowed() -> None:
    """Start the background process, if it is allowed, has a cache to write to, and did not finish before."""
    if not can_start():
        return
    from ._cache import cache_directory

    folder = cache_directory()
    if folder is not None and not is_prepared(folder):
        with contextlib.suppress(OSError):
            _start_process(folder)
            if _announce_start is not None:
                _announce_start()


def is_prepared(folder: str) -> bool:
    """Return whether all kernels of this version were compiled for this machine."""
    return _mark_path(folder).exists()


def _mark_path(folder: str) -> Path:
    """Return the path of the mark that says that all kernels are compiled."""
    from ._compiler import name_all_forms

    return Path(folder) / f"prepared-{name_all_forms()}"


def _start_process(folder: str) -> None:
    """Start the background process, with the cache folder as its argument."""
    import subprocess
    from threading import Thread

    package = str(Path(__file__).parents[2])
    code = (
        "import os, sys; os.nice(19); sys.path.append(sys.argv[1]); "
        "from discreet.cli._warmup import compile_in_background; compile_in_background(sys.argv[2])"
    )
    environment = {**os.environ, "DISCREET_PREPARE": "0", "NUMBA_CACHE_DIR": folder}
    process = subprocess.Popen(  # noqa: S603  # ourselves
        [sys.executable, "-P", "-c", code, package, folder],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    Thread(
        target=process.wait, name="discreet-prepares", daemon=True
    ).start()  # a process that is never waited for stays as a zombie


def compile_missing(folder: str, list_missing: Callable[[], list[tuple[str, str, str]]]) -> None:
    """Compile all missing forms; the whole life of the background process."""
    with contextlib.suppress(OSError, AttributeError):
        # Idle scheduling on top of the lowest priority: any other process goes first.
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    end_time = monotonic() + _MAX_SECONDS
    lock = os.open(Path(folder) / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return  # a second process is compiling already
    if is_prepared(folder):
        return
    for form in list_missing():
        if monotonic() > end_time:
            return
        with contextlib.suppress(Exception):  # the process has no reader for an error
            compile_one(*form)
    _mark_path(folder).touch(mode=0o600)


def compile_one(module: str, name: str, types: str) -> None:
    """Compile the named kernel for arguments of the given types."""
    import importlib

    from ._tiers import Kernel

    kernel = getattr(importlib.import_module(module), name)
    if isinstance(kernel, Kernel):
        kernel.prepare(types)
