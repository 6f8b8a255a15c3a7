"""What a device remembers of a study: one small file, written whole or not at all, before anything is sent.

A write goes to a file beside it, is forced to the disk, and takes the place of what was there; then the folder is
forced too. So after a crash at any moment there is either what was remembered before or what is remembered now. Two
programs of one device take turns. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # where there is no such lock, one program at a time is for the owner to see to
    fcntl = None  # type: ignore[assignment]


class Memory:
    """The memory of one device for one study, in a folder of the device's own."""

    def __init__(self, folder: Path | str, name: str) -> None:
        self.folder, self.place = Path(folder), Path(folder) / f"{name}.json"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextlib.contextmanager
    def held(self) -> Iterator[dict[str, Any]]:
        """Lock the memory, and yield what is in it: nothing, for a study that is new."""
        with open(self.place.with_suffix(".lock"), "w") as lock:  # noqa: PTH123
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.read()

    def read(self) -> dict[str, Any]:
        """Return what is remembered; a file that is damaged is refused, as answering again would tell more."""
        try:
            known = json.loads(self.place.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError:
            known = None
        if not isinstance(known, dict):
            raise ValueError(f"What this device remembers of the study in {self.place} is damaged: it answers no more.")
        return known

    def write(self, known: dict[str, Any]) -> None:
        """Remember this, for good."""
        part = self.place.with_suffix(".part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:  # noqa: PTH123
            stream.write(json.dumps(known, separators=(",", ":")).encode())
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(self.place)
        if hasattr(os, "O_DIRECTORY"):
            descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
