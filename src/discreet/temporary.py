"""What lies on the disk only in passing: for its owner alone, locked while its process lives, swept when that is dead.

Copies of private data in temporary folders, and files that are not complete yet, are removed by whoever made them. A
process that is killed cannot do that, so the next one does. What is alive is told by a lock on a file (`flock`), which
ends with its process: a process number says nothing where containers share a folder. Where there are no such locks,
nothing is swept.
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
_OPENED = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def make_temporary_directory(kind: str = "", within: Path | None = None) -> Iterator[Path]:
    """Make a folder that nobody else can look into, and remove it with all that is in it when the block ends.

    It lies among the system's temporary files, or `within` another folder.
    """
    sweep_folders(within)
    folder, lock = _locked_folder(kind, within)
    try:
        yield folder
    finally:
        _removed(folder)
        if lock is not None:
            with suppress(OSError):
                os.close(lock)


def _removed(folder: Path) -> None:
    """Remove a folder; once more if an error that has passed left some of it, as what lies there is private."""
    for _ in range(2):
        with suppress(OSError):
            shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return


def sweep_folders(within: Path | None = None) -> None:
    """Remove the folders that our own dead processes have left behind."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(within or tempfile.gettempdir()) as found:
        for one in found:
            if one.name.startswith(PREFIX) and one.is_dir(follow_symlinks=False) and _ours(Path(one.path)):
                lock = _of_the_dead(Path(one.path) / _LOCK)
                if lock is not None:
                    _removed(Path(one.path))
                    os.close(lock)


def name_partial_file(target: Path) -> Path:
    """Return a new name beside a file for what is to take its place; some 30 bytes more are all that it may take."""
    return target.with_name(f"{_stem(target)}{os.getpid()}-{secrets.token_hex(6)}.part")


def sweep_parts(target: Path) -> None:
    """Remove what our own dead processes have left behind beside a file that they were about to write."""
    if fcntl is None:
        return
    stem = _stem(target)
    with suppress(OSError), os.scandir(target.parent) as found:
        for one in found:
            # Only names that `name_partial_file` gives: files of earlier versions had no lock while they were written.
            process, dash, _ = one.name.removeprefix(stem).partition("-")
            if one.name.startswith(stem) and one.name.endswith(".part") and dash and process.isdecimal():
                lock = _of_the_dead(Path(one.path))
                if lock is not None:
                    with suppress(OSError):
                        os.unlink(one.path)  # noqa: PTH108
                    os.close(lock)


def lock_file(descriptor: int) -> bool:
    """Lock an open file that was just made; False where somebody took it for one of the dead and swept it away."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # there are no locks here, and so nobody sweeps
    return os.fstat(descriptor).st_nlink > 0


def _locked_folder(kind: str, within: Path | None) -> tuple[Path, int | None]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{kind}", dir=within))  # for its owner alone
        if fcntl is None:
            return folder, None
        try:
            descriptor = os.open(folder / _LOCK, _OPENED | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            _removed(folder)
            raise
        if lock_file(descriptor):
            return folder, descriptor
        os.close(descriptor)


def _stem(target: Path) -> str:
    # Of a long name a piece, cut between letters.
    return f".{os.fsencode(target.name)[:100].decode(errors='ignore')}."


def _ours(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.geteuid()
    except OSError:
        return False


def _of_the_dead(path: Path) -> int | None:
    """Return the lock of a file whose process is dead; None where it is alive, not ours, or cannot be told."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None  # opening a pipe could wait for ever
        descriptor = os.open(path, _OPENED | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_nlink:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None
