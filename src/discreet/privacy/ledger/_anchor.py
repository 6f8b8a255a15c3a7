"""A second place for the last head of a ledger, so that an older copy of the ledger is detected.

The place is a file, or a command that stores the head. Neither knows the ledger: `ledger` compares heads, and decides
when to write.
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

from ...atomic_write import check_output_path, open_replacement
from ...errors import DiscreetError, InputError, MisuseError
from ._chain import is_head

COMMAND = "command:"
# Seconds for a command. Chosen: a command that stores a line answers in a moment, also over a network. A release waits
# for it, and is not shown if the command is later.
_TIMEOUT_SECONDS = 60
# Bytes that are read from a file with one line of 64 digits. Chosen: any number above 66 does, and a bound keeps a
# wrong path from filling the memory.
_MAX_BYTES = 1000


class Anchor(ABC):
    """A place that keeps one head."""

    @property
    @abstractmethod
    def place(self) -> str:
        """The text that a ledger remembers and messages show: of a command, only the program."""

    @abstractmethod
    def read_head(self) -> str | None:
        """Return the stored head; None if no head is stored yet."""

    @abstractmethod
    def check(self) -> None:
        """Check now, as far as possible without a head, that :meth:`keep` would succeed."""

    @abstractmethod
    def keep(self, head: str) -> None:
        """Replace the stored head; return once the new head is stored for good."""


def anchor_of(place: Any) -> Anchor:
    """Return the anchor of a path or of ``"command:…"``."""
    if not isinstance(place, str | os.PathLike) or not os.fspath(place):
        raise MisuseError(
            "An anchor is the path of a file, such as '/mnt/other/budget.head', or a command after 'command:'; "
            f"{place!r:.80} was given."
        )
    text = os.fspath(place)
    if not text.isprintable():  # a ledger keeps it, and shows it in a terminal
        raise MisuseError(f"The path or command of an anchor is a text on one line; {text!r:.80} was given.")
    if not isinstance(place, str) or not text.startswith(COMMAND):
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
    """A file with the head in a single line; the file is always replaced whole."""

    path: Path

    @property
    def place(self) -> str:
        """The absolute path, which has one meaning from every folder."""
        return str(self.path.absolute())

    def read_head(self) -> str | None:
        """Return the head in the file; None without a file."""
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise InputError(f"The anchor {self.path} is not a regular file.")
            with self.path.open("rb") as stream:
                return _parse_head(stream.read(_MAX_BYTES), f"The anchor {self.path}")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "a file name has no null character"
            raise InputError(f"The anchor {str(self.path)[:200]!r} cannot be read: {reason}.") from None

    def check(self) -> None:
        """Check that files can be made beside the anchor."""
        check_output_path(self.path)

    def keep(self, head: str) -> None:
        """Replace the file by a new file, and wait until the new file is on the disk."""
        try:
            with open_replacement(self.path, private=True) as stream:
                stream.write(f"{head}\n".encode())
            with suppress(OSError):  # not every system lets a folder be opened
                # A rename is durable only once the folder is on the disk too.
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
    """A command, run without a shell: it stores the head on its standard input, if any, and prints the last head."""

    words: tuple[str, ...]

    @property
    def place(self) -> str:
        """The program without its arguments, which may hold a password."""
        return f"{COMMAND}{self.words[0]}"

    def read_head(self) -> str | None:
        """Run the command with empty standard input, and return the head that it prints."""
        return self._run("")

    def check(self) -> None:
        """Do nothing: running the command with a head would store the head."""

    def keep(self, head: str) -> None:
        """Run the command with the head on its standard input; the command must print that head."""
        if self._run(f"{head}\n") != head:
            raise InputError(f"The anchor {self.place} was given a head, and did not print it back.")

    def _run(self, text: str) -> str | None:
        try:
            process = subprocess.run(  # noqa: S603
                self.words, input=text.encode(), stdout=subprocess.PIPE, timeout=_TIMEOUT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"The anchor {self.place} did not answer within {_TIMEOUT_SECONDS} seconds.") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it holds a null character"
            raise InputError(f"The anchor {self.place} cannot be run: {reason}.") from None
        if process.returncode:
            raise InputError(f"The anchor {self.place} failed with status {process.returncode}.")
        if not process.stdout.strip():
            return None
        return _parse_head(process.stdout, f"What the anchor {self.place} printed")


def _parse_head(text: bytes, subject: str) -> str:
    head = text.decode("ascii", errors="replace").strip()
    if not is_head(head):
        raise InputError(f"{subject} is not a head: one line of 64 hexadecimal digits is expected.")
    return head
