"""Output files appear whole or not at all.

Whatever writes a file for the user goes through :func:`written`: an interrupted or failing run leaves the
earlier file as it was and nothing beside it.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import DiscreetError, MisuseError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`, which takes its place when the block ends without an exception.

    The temporary file is flushed to the disk before it is renamed; on any exception, an interrupt included,
    it is removed. Pipes and devices, which nothing can be renamed onto, are written directly.

    Parameters
    ----------
    path
        The file to make or replace. Its directory must exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written(f"{folder}/note.txt") as file:
    ...         _ = file.write(b"done")
    ...     (Path(folder) / "note.txt").read_text()
    'done'
    """
    shown = Path(path)
    if _is_special(shown):
        with _told(shown), shown.open("wb") as direct:
            yield direct
        return
    target = shown.resolve()
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    stream = _created(beside, shown)
    try:
        with _told(shown):
            with stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if target.exists():
                beside.chmod(target.stat().st_mode & 0o777)
            beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


@contextmanager
def _told(shown: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DiscreetError(f"Cannot write {shown}: {error.strerror}. Nothing was changed.") from error
        raise


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise now what :func:`written` would raise later, so that nothing is computed in vain."""
    shown = Path(path)
    if not _is_special(shown):
        target = shown.resolve()
        beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
        _created(beside, shown).close()
        beside.unlink()


def _is_special(shown: Path) -> bool:
    """Say whether a path is a pipe or a device; complain if it cannot be a file at all."""
    try:
        if shown.is_dir():
            raise MisuseError(f"Cannot write {shown}: it is a directory; add a file name.")
        return shown.exists() and not shown.is_file()
    except OSError as error:
        raise MisuseError(f"Cannot write {str(shown)[:60]}: {error.strerror}.") from None


def _created(beside: Path, shown: Path) -> BinaryIO:
    try:
        # Not through tempfile, whose files nobody else may read: the user's umask decides.
        return beside.open("xb")
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
