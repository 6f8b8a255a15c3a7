"""Handing over what was paid for: places checked before paying, and nothing lost if a write fails after it."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from ..errors import DiscreetError, MisuseError, quote_word
from ._groups import ReadingOptions, Writing, check_page
from ._output import emit, has_file_beside
from ._replacing import check_replaceable
from ._run import Interrupted, exited
from ._terminal import say
from .options import Format

if TYPE_CHECKING:
    from ..baskets import Item
    from ..publish import Receipt, Release
    from ..results import Result

_LONGEST = 80  # bytes of a segment in the name of a file
_ALL = ""  # the name of the only release, where there are no segments


class _Undelivered(DiscreetError):  # noqa: N818
    """A result could not be written, and everything was said about it."""


@dataclass
class Delivery:
    """Where the releases of one question go, and what shows that they were paid for.

    Parameters
    ----------
    writing
        How and where the results are written.
    report, title
        Where reports go, if anywhere, and what they are called.
    read, ledger
        What is read or pays: nothing may be written over it. And what pays, alone.
    """

    writing: Writing
    report: Path | None
    title: str
    read: tuple[Path, ...]
    ledger: Path | None = None
    _receipt: str = field(default="", init=False)
    _written: str = field(default="no result was written", init=False)

    def check(self, segments: Iterable[Item]) -> None:
        """Refuse places that cannot be written to, or that hold what is read or what pays, before anything is spent."""
        from ..atomic_write import check_output_path, is_special
        from ..results import beside_table

        if self.report is not None:
            check_page(self.report)
        named = names_of(segments)
        if list(named) != [_ALL] and self.writing.output is None and self._form not in ("table", "json"):
            raise MisuseError(
                f"Tables of several segments cannot follow one another as {self._form}: add -o FILE for a file "
                "each, or take --format json."
            )
        taken = set()
        output = self.writing.output
        every = [(place, name) for name in named.values() for place in (output, self.report)]
        # The page of all segments has the name that was typed.
        every += [(self.report, _ALL)] if _ALL not in named.values() else []
        places = [_beside(place, name) for place, name in every if place is not None]
        if has_file_beside(self._form) and output is not None and not is_special(output):
            # What a table has no columns for is written beside it.
            places += [beside_table(_beside(output, name)) for name in named.values()]
        for place in places:
            if any(_same(place, other) for other in self.read):
                raise MisuseError(f"{place} is read or pays for this release: write the result to another file.")
            if place.resolve() in taken:
                raise MisuseError(f"{place} cannot hold both the result and the report: give two names.")
            taken.add(place.resolve())
            check_replaceable(place)
            check_output_path(place)

    def paid(self, receipt: Receipt) -> None:
        """Keep the receipt: whatever fails from now on, it is told."""
        self._receipt = f" {receipt}".rstrip()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Name the spend if work or writing is broken off after it was paid for."""
        try:
            yield
        except KeyboardInterrupt:
            paid = self._receipt or (
                f" `discreet ledger show {quote_word(self.ledger)}` says what was paid." if self.ledger else ""
            )
            raise Interrupted(f"interrupted; {self._written}.{paid}") from None
        except _Undelivered:
            raise
        except MemoryError:
            raise DiscreetError(f"Out of memory; there is no result.{self._receipt}") from None
        except SystemExit as end:
            raise DiscreetError(f"{exited(end)}{self._receipt}") from end
        except Exception as error:
            if not self._receipt or os.environ.get("DISCREET_DEBUG"):
                raise
            raise DiscreetError(f"{_said(error)} There is no result.{self._receipt}") from None

    def hand_over(self, done: Mapping[Item, Result]) -> None:
        """Write everything; what a failing write leaves in no file goes to standard output."""
        left = dict(done)
        named = names_of(done)
        self._written = "not everything was written"
        try:
            if self.writing.output is None and self._form == "json" and list(done) != [_ALL]:
                _print(done)
                left.clear()
            else:
                for segment, made in done.items():
                    self._write(segment, made, named[segment])
                    if self.writing.output is not None or self._form != "table":
                        del left[segment]
            self._write_reports(cast("Mapping[Item, Release]", done), named)  # there is none of a ranking
            self._written = "the result was written"
        except Exception as error:
            if os.environ.get("DISCREET_DEBUG"):
                raise
            raise _Undelivered(f"{_said(error)} {self._rescued(left)}{self._receipt}") from None

    @property
    def _form(self) -> Format:
        return self.writing.format or "table"

    def _write(self, segment: Item, made: Result, name: str) -> None:
        output = self.writing.output
        if output is None and segment != _ALL:
            say(f"\n{segment}")
        emit(made, self._form, None if output is None else _beside(output, name))
        # Files but those for people hold the notes too, and yet whoever waits for them wants to know.
        if output is not None or self._form == "table":
            for note in (made.provenance.notes if made.provenance else None) or ():
                say(f"\n{note}", err=output is not None)

    def _write_reports(self, done: Mapping[Item, Release], named: Mapping[Item, str]) -> None:
        """Write the report; of several segments one each, and one above them that leads to all."""
        if self.report is None:
            return
        if list(done) == [_ALL]:
            done[_ALL].save(self.report, title=self.title)
        else:
            from ..atomic_write import open_replacement
            from ..report import SegmentPage, overview

            pages = []
            for segment, made in done.items():
                place = _beside(self.report, named[segment])
                with open_replacement(place) as stream:
                    up = (quote(self.report.name), self.title)
                    stream.write(made.report(title=f"{self.title}: {segment}", up=up).encode())
                pages.append(SegmentPage(str(segment), quote(place.name), made.patterns))
            with open_replacement(self.report) as stream:
                stream.write(overview(pages, self.title).encode())
        say(f"report written to {self.report}", err=True)

    def _rescued(self, left: Mapping[Item, Result]) -> str:
        if not left:
            return "The result itself was written."
        if self.writing.output is None and self._form != "table":
            return "The result is lost."  # it is standard output that cannot be written
        try:
            _print(left)
        except Exception:
            return "Nor can standard output: the result is lost."
        return "What was paid for went to standard output instead, as JSON: keep it."


def names_of(segments: Iterable[Item]) -> dict[Item, str]:
    """Return what each segment adds to the name of a file: safe, short, and different for every two of them.

    Examples
    --------
    >>> list(names_of(["north", "south"]).values())
    ['north', 'south']
    >>> len(set(names_of(["a/b", "a_b", "A_B", "x" * 300, "x" * 301]).values()))
    5
    """
    texts = {segment: str(segment) for segment in segments}
    # Some file systems tell neither case nor ways of writing the same letter apart.
    folded = {segment: unicodedata.normalize("NFKC", text).casefold() for segment, text in texts.items()}
    often = Counter(folded.values())
    names = {}
    for segment, text in texts.items():
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in text)
        short = safe.encode()[:_LONGEST].decode(errors="ignore")
        if segment != _ALL and (short != text or often[folded[segment]] > 1):
            short = f"{short}-{sha256(repr(segment).encode()).hexdigest()[:8]}"
        names[segment] = short
    return names


def places_read(reading: ReadingOptions, *others: Path | str | None) -> tuple[Path, ...]:
    """Return the files that are read, as far as they are named."""
    from ..baskets import parts_of

    places = [Path(place) for place in others if place is not None]
    for file in reading.file or []:
        parts = None if file == "-" or "://" in file else parts_of(file, reading.input_format)
        places += [Path(file)] if parts is None else [part.path for part in parts]
    return tuple(places)


def _beside(path: Path, name: str) -> Path:
    return path.with_name(f"{path.stem}-{name}{path.suffix}") if name else path


def _same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve()
    except OSError:
        return False


def _print(done: Mapping[Item, Result]) -> None:
    """Write releases to standard output as JSON: the only one as it is, several as one object by segment."""
    if sys.stdout is None:
        raise OSError
    parts = {str(segment): made.to_json() for segment, made in done.items()}
    joined = ",\n".join(f"{json.dumps(segment)}: {text}" for segment, text in parts.items())
    whole = parts[_ALL] if list(parts) == [_ALL] else f"{{{joined}}}"
    # ASCII, which every output can hold: other letters stand in names only, where JSON has a way of writing them.
    sys.stdout.write(re.sub("[^\x00-\x7f]+", lambda name: json.dumps(name[0])[1:-1], whole) + "\n")
    sys.stdout.flush()


def _said(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "Out of memory."
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}."
    if isinstance(error, DiscreetError):
        return error.message.typed.removesuffix(" Nothing was changed.")
    # What it says may hold a private value.
    return f"An error that should not happen: {type(error).__name__}. Set DISCREET_DEBUG=1 to see where."
