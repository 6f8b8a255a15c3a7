"""Where compiled code is kept between runs: loaded by pickle, so that whoever can write there runs code as the user."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from functools import lru_cache
from pathlib import Path

log = logging.getLogger("discreet")
_UNMAPPED = 65534  # whom a container shows for the root of the system around it


def cache_directory() -> str | None:
    """Return a directory that can be written by this user alone, or None.

    ``NUMBA_CACHE_DIR`` if set, else the user's cache directory; none where a user has neither a home nor a name, as one
    that a container was told by its number.
    """
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return _usable(Path(given))
    home = os.environ.get("XDG_CACHE_HOME") or _home()
    return _usable(Path(home) / "discreet" / "kernels") if home else None


def _home() -> str | None:
    try:
        return str(Path("~/.cache").expanduser())
    except RuntimeError:  # nobody knows where it is
        return None


def shared_directory() -> str | None:
    """Return the directory of ``DISCREET_KERNELS``, from which compiled code is run but never written to, or None.

    It was filled by ``discreet warmup --shared``, perhaps by another user: only root or this user may be able to write
    there, as what is kept there is run.
    """
    given = os.environ.get("DISCREET_KERNELS")
    return _readable(Path(given)) if given else None


@lru_cache(maxsize=4)
def _readable(place: Path) -> str | None:
    try:
        if (who := open_to(place, shared=True)) is None:
            return str(place)
    except OSError:
        return None  # it is not there, or nobody may look into it
    log.warning(
        "Compiled code in %s is not used: %s can be changed by others than root and you, and what is kept there is "
        "run. Remove it, and fill it anew as root: discreet warmup --shared %s", place, who, place,
    )  # fmt: skip
    return None


@lru_cache(maxsize=4)
def _usable(place: Path) -> str | None:
    try:
        for folder in reversed([one for one in (place, *place.parents) if not one.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)  # whatever the umask
        if (who := open_to(place)) is not None:
            log.warning(
                "Compiled code is not kept, so that this takes longer: %s can be changed by others, and what is kept "
                "there is run. Remove %s, or name a folder of your own in NUMBA_CACHE_DIR.", who, place,
            )  # fmt: skip
            return None
        with tempfile.TemporaryFile(dir=place):
            pass
    except (OSError, RuntimeError):
        return None
    return str(place)


def open_to(place: Path, *, shared: bool = False) -> Path | None:
    """Return what others could change of a folder and its contents, or of the way to it; None if there is nothing.

    What is `shared` may belong to root, who can do everything anyway.
    """
    if not hasattr(os, "geteuid"):
        return None  # Windows, where a mode says nothing
    place = place.resolve()
    for folder in place.parents:
        found = folder.stat()
        # In a sticky folder, such as /tmp, nobody moves what belongs to another.
        if found.st_uid not in (0, os.geteuid(), _UNMAPPED) or (
            _others_write(found) and not found.st_mode & stat.S_ISVTX
        ):
            return folder
    owners = (0, os.geteuid(), _UNMAPPED) if shared else (os.geteuid(),)
    mode = place.stat().st_mode
    inside: list[Path] = []
    if mode & 0o077:  # else nobody else gets in
        inside = [Path(at) / name for at, folders, files in os.walk(place) for name in folders + files]
    for path in (place, *inside):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue  # another process replaces what it keeps
        if found.st_uid not in owners or (_others_write(found) and not stat.S_ISLNK(found.st_mode)):
            return path
    return None


def _others_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _own_group(found.st_gid)


@lru_cache(maxsize=64)
def _own_group(number: int) -> bool:
    """Say whether a group is this user alone: many systems make one for each, and leave folders open to it."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return user.pw_gid == number and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
