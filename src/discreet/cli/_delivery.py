"""Delivery of releases that are paid for: paths are checked before the payment, and no release is lost after it.

1. `Delivery.check` tries every path before anything is spent.
2. `Delivery.guard` lifts the time limit, and adds the receipt to every message from the payment on.
3. `Delivery.write` writes the releases; a release that reaches no file is printed to standard output as JSON.
"""

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
from ._output import emit, has_side_file
from ._replacing import check_replaceable
from ._run import Interrupted, describe_exit
from ._signals import lift_limit
from ._terminal import say
from .options import Format

if TYPE_CHECKING:
    from ..baskets import Item
    from ..publish import Receipt, Release
    from ..results import Result

# Bytes of a segment in a file name. File systems take 255 bytes; the name of the output, the digest and the suffix of a
# temporary file need the remainder.
_MAX_SEGMENT_BYTES = 80
_ONLY_RELEASE = ""  # the key of the only release of a question without segments


class _DeliveryError(DiscreetError):
    """The releases could not be written; the message is complete, receipt included."""


@dataclass
class Delivery:
    """The paths for the releases of one question, and the receipt of their payment.

    Parameters
    ----------
    writing
        The format and the path of the results.
    report, title
        The path of the report, None for no report, and its title.
    input_paths
        The files that are read, and the ledger: nothing may be written over them.
    ledger
        The ledger that pays; None for a release without one.
    """

    writing: Writing
    report: Path | None
    title: str
    input_paths: tuple[Path, ...]
    ledger: Path | None = None
    _receipt: str = field(default="", init=False)
    _progress: str = field(default="no result was written", init=False)

    def check(self, segments: Iterable[Item]) -> None:
        """Raise MisuseError if a path cannot be written, or is an input, before anything is spent."""
        from ..atomic_write import check_output_path, is_special
        from ..results import beside_table

        if self.report is not None:
            check_page(self.report)
        # The names of the files are known before payment, as the list of segments is public.
        output, names = self.writing.output, name_segments(segments)
        # Two CSV tables in one stream could not be told apart by any reader.
        if list(names) != [_ONLY_RELEASE] and output is None and self._format not in ("table", "json"):
            raise MisuseError(
                f"Tables of several segments cannot follow one another as {self._format}: add -o FILE for a file "
                "each, or take --format json."
            )
        bases = [(path, name) for name in names.values() for path in (output, self.report)]
        if _ONLY_RELEASE not in names.values():
            bases.append((self.report, _ONLY_RELEASE))  # the page that links the pages of the segments
        paths = [_insert_name(path, name) for path, name in bases if path is not None]
        if has_side_file(self._format) and output is not None and not is_special(output):
            paths += [beside_table(_insert_name(output, name)) for name in names.values()]
        # Two outputs under one name: the second would replace the first, which was paid for.
        checked: set[Path] = set()
        for path in paths:
            if any(_is_same_path(path, input_path) for input_path in self.input_paths):
                raise MisuseError(f"{path} is read or pays for this release: write the result to another file.")
            if path.resolve() in checked:
                raise MisuseError(f"{path} cannot hold both the result and the report: give two names.")
            checked.add(path.resolve())
            check_replaceable(path)
            check_output_path(path)

    def keep_receipt(self, receipt: Receipt) -> None:
        """Keep the receipt of a payment for every message that follows."""
        self._receipt = f" {receipt}".rstrip()

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Lift the time limit, and add the receipt to the message of any interrupt or error in the block.

        Every payment takes place in this block. The duration of a release depends on private data, so a time limit
        that ended the command after the payment would reveal information about the data.
        """
        lift_limit()
        try:
            yield
        except KeyboardInterrupt:
            # An interrupt may come between the payment and its receipt, and then only the ledger knows.
            receipt = self._receipt or (
                f" `discreet ledger show {quote_word(self.ledger)}` says what was paid." if self.ledger else ""
            )
            raise Interrupted(f"interrupted; {self._progress}.{receipt}") from None
        except _DeliveryError:
            raise
        except MemoryError:
            raise DiscreetError(f"Out of memory; there is no result.{self._receipt}") from None
        except SystemExit as end:
            raise DiscreetError(f"{describe_exit(end)}{self._receipt}") from end
        except Exception as error:
            if not self._receipt or os.environ.get("DISCREET_DEBUG"):
                raise
            raise DiscreetError(f"{_describe_error(error)} There is no result.{self._receipt}") from None

    def write(self, releases: Mapping[Item, Result]) -> None:
        """Write releases by segment; print a release that reaches no file to standard output."""
        # The releases that remain after an error are printed, so that no paid release is lost.
        unwritten = dict(releases)
        names = name_segments(releases)
        # For the message of an interrupt between two files.
        self._progress = "not everything was written"
        try:
            if self.writing.output is None and self._format == "json" and list(releases) != [_ONLY_RELEASE]:
                _print_json(releases)
                unwritten.clear()
            else:
                for segment, release in releases.items():
                    self._write_release(segment, release, names[segment])
                    # A terminal may lose a table, so a release that was shown as a table alone is not yet safe.
                    if self.writing.output is not None or self._format != "table":
                        del unwritten[segment]
            self._write_reports(cast("Mapping[Item, Release]", releases), names)  # a ranking has no report path
            self._progress = "the result was written"
        except Exception as error:
            if os.environ.get("DISCREET_DEBUG"):
                raise
            message = f"{_describe_error(error)} {self._rescue(unwritten)}{self._receipt}"
            raise _DeliveryError(message) from None

    @property
    def _format(self) -> Format:
        return self.writing.format or "table"

    def _write_release(self, segment: Item, release: Result, name: str) -> None:
        output = self.writing.output
        if output is None and segment != _ONLY_RELEASE:
            say(f"\n{segment}")
        emit(release, self._format, None if output is None else _insert_name(output, name))
        # Other formats hold the notes; with a file, they are printed to standard error as well.
        if output is not None or self._format == "table":
            for note in (release.provenance.notes if release.provenance else None) or ():
                say(f"\n{note}", err=output is not None)

    def _write_reports(self, releases: Mapping[Item, Release], names: Mapping[Item, str]) -> None:
        """Write the report; for several segments one report each, and a page that links them."""
        if self.report is None:
            return
        if list(releases) == [_ONLY_RELEASE]:
            releases[_ONLY_RELEASE].save(self.report, title=self.title)
        else:
            from ..atomic_write import open_replacement
            from ..report import SegmentPage, overview

            pages = []
            for segment, release in releases.items():
                path = _insert_name(self.report, names[segment])
                with open_replacement(path) as stream:
                    overview_link = (quote(self.report.name), self.title)
                    stream.write(release.report(title=f"{self.title}: {segment}", up=overview_link).encode())
                pages.append(SegmentPage(str(segment), quote(path.name), release.patterns))
            with open_replacement(self.report) as stream:
                stream.write(overview(pages, self.title).encode())
        say(f"report written to {self.report}", err=True)

    def _rescue(self, unwritten: Mapping[Item, Result]) -> str:
        """Print releases that reached no file to standard output; return a sentence on their fate."""
        if not unwritten:
            return "The result itself was written."
        if self.writing.output is None and self._format != "table":
            return "The result is lost."  # standard output is the path that failed
        try:
            _print_json(unwritten)
        except Exception:
            return "Nor can standard output: the result is lost."
        return "What was paid for went to standard output instead, as JSON: keep it."


def name_segments(segments: Iterable[Item]) -> dict[Item, str]:
    """Return the part of a file name for each segment: safe in any file system, short, and distinct.

    Examples
    --------
    >>> list(name_segments(["north", "south"]).values())
    ['north', 'south']
    >>> len(set(name_segments(["a/b", "a_b", "A_B", "x" * 300, "x" * 301]).values()))
    5
    """
    texts = {segment: str(segment) for segment in segments}
    # Some file systems distinguish neither case nor the Unicode forms of a letter.
    folded = {segment: unicodedata.normalize("NFKC", text).casefold() for segment, text in texts.items()}
    counts = Counter(folded.values())
    names = {}
    for segment, text in texts.items():
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in text)
        name = safe.encode()[:_MAX_SEGMENT_BYTES].decode(errors="ignore")
        if segment != _ONLY_RELEASE and (name != text or counts[folded[segment]] > 1):
            # 8 hexadecimal digits: two of 1,000 segments share a digest with probability 10^-4.
            name = f"{name}-{sha256(repr(segment).encode()).hexdigest()[:8]}"
        names[segment] = name
    return names


def input_paths(source_options: ReadingOptions, *extra_paths: Path | str | None) -> tuple[Path, ...]:
    """Return the paths of the input files; standard input and addresses have none."""
    from ..baskets import list_parts

    paths = [Path(path) for path in extra_paths if path is not None]
    for file in source_options.file or []:
        # A folder or a pattern stands for several files, each of which is protected.
        parts = None if file == "-" or "://" in file else list_parts(file, source_options.input_format)
        paths += [Path(file)] if parts is None else [part.path for part in parts]
    return tuple(paths)


def _insert_name(path: Path, name: str) -> Path:
    """Return a path with a name before its suffix: a.csv with north is a-north.csv."""
    return path.with_name(f"{path.stem}-{name}{path.suffix}") if name else path


def _is_same_path(path: Path, second_path: Path) -> bool:
    try:
        # Not by the text: a link, or ./a.csv for a.csv, is one file.
        return path.resolve() == second_path.resolve()
    except OSError:
        return False


def _print_json(releases: Mapping[Item, Result]) -> None:
    """Print releases to standard output as JSON: a single release alone, several as an object by segment."""
    if sys.stdout is None:
        raise OSError
    parts = {str(segment): release.to_json() for segment, release in releases.items()}
    members_text = ",\n".join(f"{json.dumps(segment)}: {text}" for segment, text in parts.items())
    document = parts[_ONLY_RELEASE] if list(parts) == [_ONLY_RELEASE] else f"{{{members_text}}}"
    # ASCII alone, which every encoding of standard output can hold. Other letters stand in strings only, where JSON
    # escapes them.
    sys.stdout.write(re.sub("[^\x00-\x7f]+", lambda letters: json.dumps(letters[0])[1:-1], document) + "\n")
    sys.stdout.flush()


def _describe_error(error: Exception) -> str:
    """Return a sentence on an error that holds no private value."""
    if isinstance(error, MemoryError):
        return "Out of memory."
    if isinstance(error, OSError):
        path = f"{error.filename}: " if error.filename else ""
        return f"{path}{error.strerror or error}."
    if isinstance(error, DiscreetError):
        return error.message.typed.removesuffix(" Nothing was changed.")
    # The text of an unexpected error may hold a private value, so its class alone is named.
    return f"An error that should not happen: {type(error).__name__}. Set DISCREET_DEBUG=1 to see where."
