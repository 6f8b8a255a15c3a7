"""Output files appear whole or not at all.

Whatever writes a file for the user goes through :func:`open_replacement`: an interrupted or failing run leaves the
earlier file as it was and nothing beside it. What a killed one leaves is removed by the next that writes the same file.
Until a file is complete nobody but its owner can read it, whoever may read it then.

Files of a service and ledgers are never replaced (`protected`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import DiscreetError, MisuseError
from .protected import check_unprotected
from .temporary import lock_file, name_partial_file, sweep_parts

_MADE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def open_replacement(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`, which takes its place when the block ends without an exception.

    The temporary file is flushed to the disk before it is renamed; on any exception, an interrupt included,
    it is removed. Pipes and devices, which nothing can be renamed onto, are written directly.

    Parameters
    ----------
    path
        The file to make or replace. Its directory must exist. One that is replaced keeps its mode.
    private
        Leave a new file to its owner alone, instead of to whom the user's umask says.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_replacement(f"{folder}/note.txt") as file:
    ...         _ = file.write(b"done")
    ...     (Path(folder) / "note.txt").read_text()
    'done'
    """
    shown = Path(path)
    if is_special(shown):
        with _told(shown), shown.open("wb") as direct:
            yield direct
        return
    check_unprotected(shown)
    target = shown.resolve()
    mode = _mode_of(target, shown, private)
    with _part(target, shown) as (beside, stream), _told(shown):
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        beside.chmod(mode)
        beside.replace(target)


@contextmanager
def _told(shown: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise _unwritten(shown, error) from error
        raise


def _unwritten(shown: Path, error: OSError) -> DiscreetError:
    return DiscreetError(f"Cannot write {shown}: {error.strerror}. Nothing was changed.")


def check_output_path(path: str | os.PathLike[str]) -> None:
    """Raise now what :func:`open_replacement` would raise later, so that nothing is computed in vain."""
    shown = Path(path)
    if not is_special(shown):
        check_unprotected(shown)
        _tried(shown.resolve(), shown)


def is_special(shown: Path) -> bool:
    """Say whether a path is a pipe or a device; complain if it cannot be a file at all."""
    try:
        if shown.is_dir():
            raise MisuseError(f"Cannot write {shown}: it is a directory; add a file name.")
        return shown.exists() and not shown.is_file()
    except OSError as error:
        raise MisuseError(f"Cannot write {str(shown)[:60]}: {error.strerror}.") from None


def _mode_of(target: Path, shown: Path, private: bool) -> int:
    """Return the mode a file is to have: that of the one it replaces, or what a new one gets here."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        if private:
            return 0o600
    # An empty file tells, as folders may have rules of their own beside the umask. It is not the one that is written:
    # whoever had opened that while it was empty could read it to its end.
    return _tried(target, shown, 0o666)


def _tried(target: Path, shown: Path, mode: int = 0o600) -> int:
    """Make an empty file beside another, and remove it; return the mode that it got."""
    try:
        with _part(target, shown, mode) as (_, stream), stream:
            return os.fstat(stream.fileno()).st_mode & 0o777
    except OSError as error:  # whatever it is, also an interrupted call: nothing has been written yet
        raise _unwritten(shown, error) from error


@contextmanager
def _part(target: Path, shown: Path, mode: int = 0o600) -> Iterator[tuple[Path, BinaryIO]]:
    """Make a file beside another: its path, and the file. It is gone when the block ends, unless it was renamed.

    An interrupt may come between any two steps, so the name is known before there is a file. Until the end a lock keeps
    the file from being swept, also when it is closed.
    """
    sweep_parts(target)
    beside, held = name_partial_file(target), -1
    stream: BinaryIO | None = None
    try:
        with _named(shown):
            descriptor = os.open(beside, _MADE, mode)
            while not lock_file(descriptor):
                os.close(descriptor)
                beside = name_partial_file(target)
                descriptor = os.open(beside, _MADE, mode)
            stream = open(descriptor, "wb")  # noqa: PTH123, SIM115
            held = os.dup(descriptor)
        yield beside, stream
        if beside.exists():
            beside.unlink()
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        if stream is not None:
            with suppress(OSError):
                stream.close()
        raise
    finally:
        if held >= 0:
            with suppress(OSError):  # the file is in its place, or what went wrong is on its way already
                os.close(held)


@contextmanager
def _named(shown: Path) -> Iterator[None]:
    """Say which file it is that cannot be made, and why."""
    try:
        yield
    except FileNotFoundError:
        raise MisuseError(
            f"Cannot write {shown}: there is no directory {shown.parent}; make it first, or write elsewhere."
        ) from None
    except NotADirectoryError:
        raise MisuseError(f"Cannot write {shown}: {shown.parent} is a file, not a directory.") from None
    except PermissionError:
        raise MisuseError(
            f"Cannot write {shown}: no permission to make files in {shown.parent}; write elsewhere."
        ) from None
    except OSError as error:
        raise MisuseError(f"Cannot write {shown}: {error.strerror}.") from None
