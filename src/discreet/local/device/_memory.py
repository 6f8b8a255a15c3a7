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
from fractions import Fraction
from pathlib import Path
from typing import Any

from ._trust import Limit, number_of, within_total

try:
    import fcntl
except ImportError:  # where there is no such lock, one program at a time is for the owner to see to
    fcntl = None  # type: ignore[assignment]


SPENT = "_spent"  # the record of all studies together; no study has such a name


class Memory:
    """The memory of one device for one study, in a folder of the device's own."""

    def __init__(self, folder: Path | str, name: str) -> None:
        self.folder = whole_path(folder)
        self.place = self.folder / f"{name}.json"
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
            raise self.damaged()
        return known

    def damaged(self) -> ValueError:
        """Return what is raised where the file is not as it was written."""
        return ValueError(f"What this device remembers in {self.place} is damaged: it answers no more.")

    def write(self, known: dict[str, Any]) -> None:
        """Remember this, for good."""
        part = self.place.with_suffix(".part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:  # noqa: PTH123
            # As the client in TypeScript writes it, to the byte.
            stream.write(json.dumps(known, ensure_ascii=False, separators=(",", ":")).encode())
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(self.place)
        if hasattr(os, "O_DIRECTORY"):
            descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


class Spending:
    """What a device gives away in all studies of one folder: the epsilon of each that it answers in."""

    def __init__(self, folder: Path | str) -> None:
        self.memory = Memory(folder, SPENT)

    def check(self, study: str, epsilon: str, most: Limit | None) -> None:
        """Refuse an answer that would be too much in all. Whoever enrols and then refuses shows what it gave before."""
        with self.memory.held() as known:
            self._check(self._spent(known), study, epsilon, most)

    def charge(self, study: str, epsilon: str, most: Limit | None) -> None:
        """Write down what an answer gives away, before it is made; refuse it where that would be too much in all."""
        with self.memory.held() as known:
            spent = self._spent(known)
            self._check(spent, study, epsilon, most)
            known["spent"] = [[name, text] for name, text, _ in spent if name != study] + [[study, epsilon]]
            self.memory.write(known)

    def _check(self, spent: list[tuple[str, str, Fraction]], study: str, epsilon: str, most: Limit | None) -> None:
        others = sum((number for name, _, number in spent if name != study), Fraction(0))
        if most is not None:
            within_total(number_of({"epsilon": epsilon}, "epsilon"), others, most)

    def _spent(self, known: dict[str, Any]) -> list[tuple[str, str, Fraction]]:
        try:
            return [(str(name), text, number_of({"epsilon": text}, "epsilon")) for name, text in known.get("spent", [])]
        except (ValueError, TypeError):
            raise self.memory.damaged() from None


def whole_path(folder: Path | str) -> Path:
    """Return where a folder is: a relative one would be another, and empty, for a program that begins elsewhere."""
    try:
        place = Path(folder).expanduser()
    except RuntimeError:  # nobody's home
        place = Path(folder)
    if not place.is_absolute():
        raise ValueError(
            "The folder in which a device remembers is given by its whole path, such as /home/me/.breakfast or "
            f"~/.breakfast; {str(folder)!r:.80} was given."
        )
    return place
