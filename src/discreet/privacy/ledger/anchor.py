"""Where the last head of a ledger is kept besides the ledger, so that an older copy of it is found out.

A file, or a command that keeps the head wherever it likes. Neither knows what a ledger is: `ledger` compares, and
decides when to write.
"""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...atomic_write import check_place, written
from ...errors import DiscreetError, InputError, MisuseError
from .chain import is_head

COMMAND = "command:"
_PATIENCE = 60  # seconds for a command
_LONGEST = 1000  # bytes that are read from where one line of 64 is expected


class Anchor(ABC):
    """A place that keeps one head."""

    @property
    @abstractmethod
    def place(self) -> str:
        """What a ledger remembers about it, and messages say: never more of a command than its program."""

    @abstractmethod
    def read(self) -> str | None:
        """Return the head that is kept; None if none is yet."""

    @abstractmethod
    def check(self) -> None:
        """Raise now what :meth:`keep` would raise, as far as can be told before a head is there to be kept."""

    @abstractmethod
    def keep(self, head: str) -> None:
        """Keep a head instead of the one before; return when it is kept for good."""


def anchor_of(given: Any) -> Anchor:
    """Return the anchor for a path, or for ``"command:…"``."""
    if not isinstance(given, str | os.PathLike) or not os.fspath(given):
        raise MisuseError(
            "An anchor is the path of a file, such as '/mnt/other/budget.head', or a command after 'command:'; "
            f"{given!r:.80} was given."
        )
    text = os.fspath(given)
    if not text.isprintable():  # a ledger keeps it, and shows it in a terminal
        raise MisuseError(f"The path or command of an anchor is a text on one line; {text!r:.80} was given.")
    if not isinstance(given, str) or not text.startswith(COMMAND):
        return AnchorFile(Path(text))
    try:
        words = shlex.split(text.removeprefix(COMMAND))
    except ValueError:
        words = []
    if not words:
        raise MisuseError(
            "An anchor is a command after 'command:', with its quotes in pairs, such as 'command:keep-head budget'; "
            f"{text:.80} was given."
        )
    return Command(tuple(words))


@dataclass(frozen=True)
class AnchorFile(Anchor):
    """A file with the head in its one line; it is replaced whole."""

    path: Path

    @property
    def place(self) -> str:
        """The path from the root, which means the same from every folder."""
        return str(self.path.absolute())

    def read(self) -> str | None:
        """Return the head in the file; None if there is no file."""
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise InputError(f"The anchor {self.path} is not a regular file.")
            with self.path.open("rb") as stream:
                return _head_in(stream.read(_LONGEST), f"The anchor {self.path}")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "a file name has no null character"
            raise InputError(f"The anchor {str(self.path)[:200]!r} cannot be read: {reason}.") from None

    def check(self) -> None:
        """Raise unless files can be made beside it."""
        check_place(self.path)

    def keep(self, head: str) -> None:
        """Put a new file in place of the old one, and wait until it is on the disk."""
        try:
            with written(self.path, private=True) as stream:
                stream.write(f"{head}\n".encode())
            with suppress(OSError):  # not every system lets a folder be opened
                folder = os.open(self.path.resolve().parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        except OSError as error:
            raise InputError(f"The anchor {self.path} cannot be written: {error.strerror or error}.") from None
        except DiscreetError as error:
            raise InputError(f"The anchor cannot be written. {error}") from None


@dataclass(frozen=True, repr=False)
class Command(Anchor):
    """A command, run without a shell: it keeps the head on its standard input, if any, and prints the last one."""

    words: tuple[str, ...]

    @property
    def place(self) -> str:
        """The program alone: its arguments may hold a password."""
        return f"{COMMAND}{self.words[0]}"

    def read(self) -> str | None:
        """Run it with nothing on its standard input."""
        return self._run("")

    def check(self) -> None:
        """Nothing can be told: running it with a head keeps the head."""

    def keep(self, head: str) -> None:
        """Run it with the head on its standard input; it must print that head."""
        if self._run(f"{head}\n") != head:
            raise InputError(f"The anchor {self.place} was given a head, and did not print it back.")

    def _run(self, text: str) -> str | None:
        try:
            done = subprocess.run(  # noqa: S603
                self.words, input=text.encode(), stdout=subprocess.PIPE, timeout=_PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"The anchor {self.place} did not answer within {_PATIENCE} seconds.") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it holds a null character"
            raise InputError(f"The anchor {self.place} cannot be run: {reason}.") from None
        if done.returncode:
            raise InputError(f"The anchor {self.place} failed with status {done.returncode}.")
        if not done.stdout.strip():
            return None
        return _head_in(done.stdout, f"What the anchor {self.place} printed")


def _head_in(text: bytes, what: str) -> str:
    head = text.decode("ascii", errors="replace").strip()
    if not is_head(head):
        raise InputError(f"{what} is not a head: one line of 64 hexadecimal digits is expected.")
    return head
