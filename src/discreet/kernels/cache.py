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

    numba would put the cache beside the source file and raise where that is read-only, so the place is chosen here:
    ``NUMBA_CACHE_DIR`` if set, else the user's cache directory.
    """
    given = os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return _usable(Path(given) if given else Path(home) / "discreet" / "kernels")


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


def open_to(place: Path) -> Path | None:
    """Return what others could change of a folder and its contents, or of the way to it; None if there is nothing."""
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
    mode = place.stat().st_mode
    inside: list[Path] = []
    if mode & 0o077:  # else nobody else gets in
        inside = [Path(at) / name for at, folders, files in os.walk(place) for name in folders + files]
    for path in (place, *inside):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue  # another process replaces what it keeps
        if found.st_uid != os.geteuid() or (_others_write(found) and not stat.S_ISLNK(found.st_mode)):
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
