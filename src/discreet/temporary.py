"""Temporary directories and partial files: readable by their owner alone, and removed even after a killed process.

A process removes the copies of private data and the partial files that it created. A killed process cannot, so the
next process sweeps them. A lock on a file (`flock`) ends with its process, and so marks the living: process numbers are
not unique where containers share a directory. On systems without locks nothing is swept.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX = "discreet-"
_LOCK = ".lock"
_OPEN_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def make_temporary_directory(kind: str = "", parent: Path | None = None) -> Iterator[Path]:
    """Make a directory that its owner alone can read, and remove it with its contents at the end of the block.

    Parameters
    ----------
    kind
        A part of the name, like ``demo-``.
    parent
        The parent directory; None for the system's directory of temporary files.
    """
    sweep_folders(parent)
    folder, descriptor = _make_locked_folder(kind, parent)
    try:
        yield folder
    finally:
        _remove_folder(folder)
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)


def _remove_folder(folder: Path) -> None:
    """Remove a directory, with a second attempt after a passing error: its contents are private."""
    # Twice: a file that a second thread writes meanwhile makes the first attempt fail.
    for _ in range(2):
        with suppress(OSError):
            shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return


def sweep_folders(parent: Path | None = None) -> None:
    """Remove the directories that dead processes of this user have left behind."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(parent or tempfile.gettempdir()) as entries:
        for entry in entries:
            path = Path(entry.path)
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False) and _is_own(path):
                descriptor = _lock_dead_file(path / _LOCK)
                if descriptor is not None:
                    _remove_folder(path)
                    os.close(descriptor)


def name_partial_file(target: Path) -> Path:
    """Return a new path for the partial file of a target, beside it; its name has at most 130 bytes."""
    return target.with_name(f"{_name_prefix(target)}{os.getpid()}-{secrets.token_hex(6)}.part")


def sweep_parts(target: Path) -> None:
    """Remove the partial files of a target that dead processes of this user have left behind."""
    if fcntl is None:
        return
    prefix = _name_prefix(target)
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            # Names of `name_partial_file` alone: files of earlier versions had no lock while they were written.
            process, dash, _ = entry.name.removeprefix(prefix).partition("-")
            if entry.name.startswith(prefix) and entry.name.endswith(".part") and dash and process.isdecimal():
                descriptor = _lock_dead_file(Path(entry.path))
                if descriptor is not None:
                    with suppress(OSError):
                        os.unlink(entry.path)  # noqa: PTH108
                    os.close(descriptor)


def lock_file(descriptor: int) -> bool:
    """Lock a file that was just created; return False if a second process swept it before the lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks, where no process sweeps
    return os.fstat(descriptor).st_nlink > 0


def _make_locked_folder(kind: str, parent: Path | None) -> tuple[Path, int | None]:
    """Return a new directory and the descriptor of its lock, None on systems without locks."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{kind}", dir=parent))  # mkdtemp gives mode 0o700
        if fcntl is None:
            return folder, None
        try:
            descriptor = os.open(folder / _LOCK, _OPEN_FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            _remove_folder(folder)
            raise
        if lock_file(descriptor):
            return folder, descriptor
        os.close(descriptor)


def _name_prefix(target: Path) -> str:
    # 100 bytes of a long name, cut between letters: with the process, the digits and .part they fit into 255.
    return f".{os.fsencode(target.name)[:100].decode(errors='ignore')}."


def _is_own(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.geteuid()
    except OSError:
        return False


def _lock_dead_file(path: Path) -> int | None:
    """Lock a file of a dead process of this user and return its descriptor; None for any further file."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None  # opening a pipe would wait for a writer
        descriptor = os.open(path, _OPEN_FLAGS | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        # Checked again on the open file: a second process may have replaced the path since lstat.
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None
