"""Atomic writes: an output file is complete or absent.

Every output file is written by :func:`open_replacement`. A run that fails or is interrupted leaves the earlier file
unchanged and no temporary file. The temporary file of a killed run is removed by the next write to the path. Until a
file is complete, its owner alone can read it.

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

# Flags that fail if the file exists: no process can place a link under the name in between.
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Errors of a disk that is full or fails, which leave the earlier file unchanged.
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def open_replacement(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`, and rename it to `path` at the end of the block.

    The temporary file is flushed to the disk before it is renamed; on any exception, an interrupt included,
    it is removed. Pipes and devices, onto which no file can be renamed, are written directly.

    Parameters
    ----------
    path
        The path of the output. Its directory must exist. A replaced file keeps its mode.
    private
        Whether a new file is readable by its owner alone, instead of as the umask of the user permits.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_replacement(f"{folder}/note.txt") as file:
    ...         _ = file.write(b"done")
    ...     (Path(folder) / "note.txt").read_text()
    'done'
    """
    typed_path = Path(path)
    if is_special(typed_path):
        with _explain_disk_errors(typed_path), typed_path.open("wb") as direct:
            yield direct
        return
    check_unprotected(typed_path)
    target = typed_path.resolve()
    mode = _find_mode(target, typed_path, private)
    with _open_partial_file(target, typed_path) as (partial, stream), _explain_disk_errors(typed_path):
        with stream:
            yield stream
            # To the disk before the rename: after a crash the name must not stand for an empty file.
            stream.flush()
            os.fsync(stream.fileno())
        partial.chmod(mode)
        partial.replace(target)


@contextmanager
def _explain_disk_errors(typed_path: Path) -> Iterator[None]:
    """Turn an error of the disk into a message; `typed_path` is the path as the user wrote it."""
    try:
        yield
    except OSError as error:
        # Further errors are of the caller's own block, and pass unchanged.
        if error.errno in _DISK_ERRORS:
            raise _build_write_error(typed_path, error) from error
        raise


def _build_write_error(typed_path: Path, error: OSError) -> DiscreetError:
    return DiscreetError(f"Cannot write {typed_path}: {error.strerror}. Nothing was changed.")


def check_output_path(path: str | os.PathLike[str]) -> None:
    """Raise the error that :func:`open_replacement` would raise for a path, before any work is done."""
    typed_path = Path(path)
    if not is_special(typed_path):
        check_unprotected(typed_path)
        _try_path(typed_path.resolve(), typed_path)


def is_special(typed_path: Path) -> bool:
    """Return whether a path is a pipe or a device; raise MisuseError for a directory or an invalid path."""
    try:
        if typed_path.is_dir():
            raise MisuseError(f"Cannot write {typed_path}: it is a directory; add a file name.")
        return typed_path.exists() and not typed_path.is_file()
    except OSError as error:
        raise MisuseError(f"Cannot write {str(typed_path)[:60]}: {error.strerror}.") from None


def _find_mode(target: Path, typed_path: Path, private: bool) -> int:
    """Return the mode of the output: the mode of the replaced file, or of a new file in the directory."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        if private:
            return 0o600
    # Directories may have rules beside the umask, so an empty file is created to learn the mode. The output is written
    # to a second file: a process that opens the empty file keeps the permission to read it.
    return _try_path(target, typed_path, 0o666)


def _try_path(target: Path, typed_path: Path, mode: int = 0o600) -> int:
    """Create and remove an empty file beside the target; return the mode that it received."""
    try:
        with _open_partial_file(target, typed_path, mode) as (_, stream), stream:
            return os.fstat(stream.fileno()).st_mode & 0o777
    except OSError as error:  # of any kind: nothing has been written yet
        raise _build_write_error(typed_path, error) from error


@contextmanager
def _open_partial_file(target: Path, typed_path: Path, mode: int = 0o600) -> Iterator[tuple[Path, BinaryIO]]:
    """Create a temporary file beside the target, and yield its path and the open file; remove it unless it was renamed.

    The name is chosen before the file exists, since an interrupt may come between any two steps. A lock keeps other
    processes from sweeping the file until the block ends, also after the file is closed.
    """
    sweep_parts(target)
    partial, lock_descriptor = name_partial_file(target), -1
    stream: BinaryIO | None = None
    try:
        with _explain_open_errors(typed_path):
            descriptor = os.open(partial, _CREATE_FLAGS, mode)
            while not lock_file(descriptor):
                os.close(descriptor)
                partial = name_partial_file(target)
                descriptor = os.open(partial, _CREATE_FLAGS, mode)
            stream = open(descriptor, "wb")  # noqa: PTH123, SIM115
            lock_descriptor = os.dup(descriptor)  # the lock lives as long as any copy of the descriptor
        yield partial, stream
        if partial.exists():
            partial.unlink()
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        if stream is not None:
            with suppress(OSError):
                stream.close()
        raise
    finally:
        if lock_descriptor >= 0:
            with suppress(OSError):  # the file is complete, or an error is raised already
                os.close(lock_descriptor)


@contextmanager
def _explain_open_errors(typed_path: Path) -> Iterator[None]:
    """Turn an error of os.open into a message with the path and the reason."""
    try:
        yield
    except FileNotFoundError:
        raise MisuseError(
            f"Cannot write {typed_path}: there is no directory {typed_path.parent}; make it first, or write elsewhere."
        ) from None
    except NotADirectoryError:
        raise MisuseError(f"Cannot write {typed_path}: {typed_path.parent} is a file, not a directory.") from None
    except PermissionError:
        raise MisuseError(
            f"Cannot write {typed_path}: no permission to make files in {typed_path.parent}; write elsewhere."
        ) from None
    except OSError as error:
        raise MisuseError(f"Cannot write {typed_path}: {error.strerror}.") from None
