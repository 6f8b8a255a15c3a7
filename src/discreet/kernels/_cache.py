"""The folder of compiled code between runs. Pickle loads it, so write access to it means running code as the user."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from functools import lru_cache
from pathlib import Path

log = logging.getLogger("discreet")
_UNMAPPED_UID = 65534  # the user id that a container shows for the root of its host (the kernel's overflowuid)


def cache_directory() -> str | None:
    """Return a directory that this user alone can write to, made if missing, or None.

    ``NUMBA_CACHE_DIR`` if set, else the user's cache directory; None for a user without home and name, for example one
    that a container knows by number only.
    """
    folder = _cache_path()
    return None if folder is None else _make_folder(folder)


def find_cache_directory() -> str | None:
    """Return the cache directory for reading, or None; the search makes and writes nothing."""
    folder = _cache_path()
    return str(folder) if folder is not None and folder.is_dir() and _is_safe(folder) else None


def _cache_path() -> Path | None:
    """Return the path of the cache directory by the environment, or None."""
    if setting := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(setting)
    home = os.environ.get("XDG_CACHE_HOME") or _home_cache()
    return Path(home) / "discreet" / "kernels" if home else None


def _home_cache() -> str | None:
    """Return the cache folder in the user's home, or None."""
    try:
        return str(Path("~/.cache").expanduser())
    except RuntimeError:  # neither HOME nor a user entry
        return None


def shared_directory() -> str | None:
    """Return the directory of ``DISCREET_KERNELS``, a read-only source of compiled code, or None.

    It was filled by ``discreet warmup --shared``, perhaps by a second user: only root or this user may be able to write
    there, as its contents are run.
    """
    setting = os.environ.get("DISCREET_KERNELS")
    return _check_shared(Path(setting)) if setting else None


@lru_cache(maxsize=4)
def _check_shared(folder: Path) -> str | None:
    """Return the path of a shared folder, or None with a warning where a third user can change it."""
    try:
        if (open_path := find_writable_path(folder, shared=True)) is None:
            return str(folder)
    except OSError:
        return None  # the folder is missing or unreadable
    log.warning(
        "Compiled code in %s is not used: %s can be changed by others than root and you, and what is kept there is "
        "run. Remove it, and fill it anew as root: discreet warmup --shared %s", folder, open_path, folder,
    )  # fmt: skip
    return None


@lru_cache(maxsize=4)
def _make_folder(folder: Path) -> str | None:
    """Return the path of a folder that is made if missing, private and writable, or None."""
    try:
        for parent in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
            parent.mkdir(mode=0o700, exist_ok=True)  # mkdir applies the umask to the mode, which can only remove rights
        if not _is_safe(folder):
            return None
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):
        return None
    return str(folder)


@lru_cache(maxsize=4)
def _is_safe(folder: Path) -> bool:
    """Return whether only this user can change a folder; a warning names the path that is open."""
    try:
        if (open_path := find_writable_path(folder)) is None:
            return True
    except (OSError, RuntimeError):
        return False
    log.warning(
        "Compiled code is not kept, so that this takes longer: %s can be changed by others, and what is kept "
        "there is run. Remove %s, or name a folder of your own in NUMBA_CACHE_DIR.", open_path, folder,
    )  # fmt: skip
    return False


def find_writable_path(folder: Path, *, shared: bool = False) -> Path | None:
    """Return the first path that a second user could change: of a folder, its contents, or the way to it; None if none.

    A `shared` folder may belong to root, which can change any file anyway.
    """
    if not hasattr(os, "geteuid"):
        return None  # on Windows a mode says nothing about access
    folder = folder.resolve()
    for parent in folder.parents:
        status = parent.stat()
        # In a sticky folder, like /tmp, users can move their own files only.
        if status.st_uid not in (0, os.geteuid(), _UNMAPPED_UID) or (
            _is_writable_by_others(status) and not status.st_mode & stat.S_ISVTX
        ):
            return parent
    owners = (0, os.geteuid(), _UNMAPPED_UID) if shared else (os.geteuid(),)
    mode = folder.stat().st_mode
    content_paths: list[Path] = []
    if mode & 0o077:  # a folder of mode 700 admits no second user
        content_paths = [
            Path(directory) / name
            for directory, folder_names, file_names in os.walk(folder)
            for name in folder_names + file_names
        ]
    for path in (folder, *content_paths):
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue  # a second process replaces a form at this moment
        if status.st_uid not in owners or (_is_writable_by_others(status) and not stat.S_ISLNK(status.st_mode)):
            return path
    return None


def _is_writable_by_others(status: os.stat_result) -> bool:
    """Return whether users other than the owner can write."""
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_own_group(status.st_gid)


@lru_cache(maxsize=64)
def _is_own_group(group_id: int) -> bool:
    """Return whether a group has this user as its only member: many systems make one per user."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(group_id)
    except KeyError:
        return False
    return user.pw_gid == group_id and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
