"""The memory of a device: one small file per study, written whole or not at all, before anything is sent.

A write goes to a file beside the old one, is forced to the disk, and replaces the old one; then the directory is
forced to the disk too. A crash at any moment therefore leaves either the old memory or the new one. Two
programs of one device take turns. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from ._trust import Limit, check_total, parse_budget

try:
    import fcntl
except ImportError:  # without this kind of lock, the owner has to run one program at a time
    fcntl = None  # type: ignore[assignment]


SPENT = "_spent"  # the record of all studies together; the name of a study has no underscore


class Memory:
    """The memory of one device for one study, in a directory of the device's own."""

    def __init__(self, folder: Path | str, name: str) -> None:
        self.folder = expand_directory(folder)
        self.path = self.folder / f"{name}.json"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextlib.contextmanager
    def lock(self) -> Iterator[dict[str, Any]]:
        """Lock the memory, and yield its fields: none for a new study."""
        with open(self.path.with_suffix(".lock"), "w") as lock:  # noqa: PTH123
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.read()

    def read(self) -> dict[str, Any]:
        """Return the fields; a damaged file is refused, since a second report would lose more privacy."""
        try:
            fields = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            raise self.build_damage_error()
        return fields

    def build_damage_error(self) -> ValueError:
        """Return the error about a file with a content that no device writes."""
        return ValueError(f"What this device remembers in {self.path} is damaged: it answers no more.")

    def write(self, fields: dict[str, Any]) -> None:
        """Write the fields for good."""
        # Readable by the owner alone: with the token, anyone could send a report in its place.
        part_path = self.path.with_suffix(".part")
        with open(os.open(part_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:  # noqa: PTH123
            # Equal to the bytes of the client in TypeScript, so that either client reads the memory.
            stream.write(json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode())
            stream.flush()
            os.fsync(stream.fileno())
        part_path.replace(self.path)
        if hasattr(os, "O_DIRECTORY"):
            descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


class Spending:
    """The account of a device: the epsilon of each study that it answered in, for all studies of one directory."""

    def __init__(self, folder: Path | str) -> None:
        self.memory = Memory(folder, SPENT)

    def check(self, study: str, epsilon: str, limit: Limit | None) -> None:
        """Check the total before the device enrols: enrolling and then refusing would reveal earlier spending."""
        with self.memory.lock() as fields:
            self._read_other_spends(fields, study, epsilon, limit)

    def charge(self, study: str, epsilon: str, limit: Limit | None) -> None:
        """Write the epsilon of an answer down before it is made, or refuse it if the total would exceed the limit."""
        with self.memory.lock() as fields:
            fields["spent"] = [*self._read_other_spends(fields, study, epsilon, limit), [study, epsilon]]
            self.memory.write(fields)

    def _read_other_spends(
        self, fields: dict[str, Any], study: str, epsilon: str, limit: Limit | None
    ) -> list[list[str]]:
        """Return the spends of other studies, after a check of their sum with epsilon; None is no limit."""
        try:
            spends = [
                (str(name), text, parse_budget({"epsilon": text}, "epsilon")) for name, text in fields.get("spent", [])
            ]
        except (ValueError, TypeError):
            raise self.memory.build_damage_error() from None
        other_spends = [spend for spend in spends if spend[0] != study]
        if limit is not None:
            spent_epsilon = sum((number for _, _, number in other_spends), Fraction(0))
            check_total(parse_budget({"epsilon": epsilon}, "epsilon"), spent_epsilon, limit)
        return [[name, text] for name, text, _ in other_spends]


def expand_directory(folder: Path | str) -> Path:
    """Return an absolute path: a relative path would change with the place where a program starts."""
    try:
        path = Path(folder).expanduser()
    except RuntimeError:  # a user without a home directory
        path = Path(folder)
    if not path.is_absolute():
        raise ValueError(
            "The folder in which a device remembers is given by its whole path, such as /home/me/.breakfast or "
            f"~/.breakfast; {str(folder)!r:.80} was given."
        )
    return path
