"""How a report is written: as JSON, as columns of many reports, and as rows of 32-bit words.

A `Codec` is made of fields, in the order in which a device writes them. A field finds the flaw of a value, makes
columns of many values, and packs a value into words (the table in `docs/wire.md`). An oracle lists its fields; nothing
else in the tree knows how its reports look.

Reports come from anybody. The length of a report is checked before anything else, one bad report costs no other, and
a reason for a refusal repeats nothing of the report.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, pairwise
from math import ceil, log2
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...errors import MisuseError
from ..device import ANSWERS, WORD
from ._honest import SEED_BITS

ReportColumns: TypeAlias = dict[str, NDArray[Any]]
Report: TypeAlias = dict[str, Any]
Words: TypeAlias = NDArray[np.uint32]
Mask: TypeAlias = NDArray[np.bool_]

# Bytes of the longest report of an oracle with a loss that states no length: three numbers of 20 digits with their
# names need fewer than 100. Any number from there to `MOST_REPORT` does.
SHORT = 256
# Without spaces, as a device writes a report.
_encode = json.JSONEncoder(separators=(",", ":")).encode
_HEXADECIMAL = re.compile("[0-9a-f]*")


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A report that is left out: its position among the sent reports, and the reason."""

    place: int
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """The parsed reports: a collector acknowledges each good report, and sends the reason of each refusal.

    Parameters
    ----------
    columns
        The good reports, in the order in which they were sent.
    positions
        The position of each good report among the sent reports.
    refused
        The reports that are left out, in order.
    """

    columns: ReportColumns
    positions: NDArray[np.int64]
    refused: tuple[Refused, ...]

    def __len__(self) -> int:
        """Return the number of kept reports."""
        return len(self.positions)


@dataclass(frozen=True)
class Field(ABC):
    """One field of a report; `word_count` is the number of 32-bit words of a packed value."""

    name: str

    @property
    def word_count(self) -> int:
        """Return the number of words of a value: one."""
        return 1

    @property
    @abstractmethod
    def bits(self) -> float:
        """Return the bits that a value takes."""

    @abstractmethod
    def find_flaw(self, value: Any) -> str:
        """Return why a value is none of this field, in words that repeat nothing of the value, or an empty string."""

    @abstractmethod
    def make_columns(self, values: Sequence[Any]) -> ReportColumns:
        """Return the columns of good values."""

    @abstractmethod
    def make_value(self, columns: ReportColumns, row: int) -> Any:
        """Return the JSON value of one row."""

    def pack(self, columns: ReportColumns) -> list[Words]:
        """Return the words of a field that is one column, a row for each report."""
        return [columns[self.name].astype(np.uint32).reshape(-1, self.word_count)]

    def unpack(self, words: Words) -> ReportColumns:
        """Return the columns of good words."""
        raise NotImplementedError(f"{type(self).__name__} is not packed.")

    def find_good_rows(self, words: Words) -> Mask:
        """Return a mask of the rows with words that are a value of this field."""
        raise NotImplementedError(f"{type(self).__name__} is not packed.")


@dataclass(frozen=True)
class WholeField(Field):
    """A whole number from 0 to before `bound`."""

    bound: int
    dtype: DTypeLike = np.int64

    @property
    def bits(self) -> int:
        """Return the bits of a number below the bound."""
        return ceil(log2(self.bound))

    def find_flaw(self, value: Any) -> str:
        """Return the flaw of a value that is no integer below the bound, or an empty string."""
        return "" if is_below(value, self.bound) else f"its {self.name} is not a whole number below {self.bound:,}"

    def make_columns(self, values: Sequence[Any]) -> ReportColumns:
        """Return one column."""
        return {self.name: np.array(values, self.dtype)}

    def make_value(self, columns: ReportColumns, row: int) -> int:
        """Return the number of one row."""
        return int(columns[self.name][row])

    def unpack(self, words: Words) -> ReportColumns:
        """Return one column."""
        return {self.name: words[:, 0].astype(self.dtype)}

    def find_good_rows(self, words: Words) -> Mask:
        """Return which numbers are below the bound."""
        below: Mask = words[:, 0] < self.bound
        return below


@dataclass(frozen=True)
class SeedField(Field):
    """The seed of a hash function that a device draws for itself: an odd number and any number of 32 bits."""

    name: str = "seed"
    word_count: ClassVar[int] = 2
    bits: ClassVar[int] = SEED_BITS

    def find_flaw(self, value: Any) -> str:
        """Return the flaw of a value that is no list of an odd number and any number, or an empty string."""
        if isinstance(value, list) and len(value) == 2 and is_below(value[0], WORD) and is_below(value[1], WORD):
            return "" if value[0] & 1 else "the first number of its seed is even"
        return "its seed is not two whole numbers of 32 bits"

    def make_columns(self, values: Sequence[Any]) -> ReportColumns:
        """Return a column for each of both numbers."""
        return self.unpack(np.array(values, np.uint32).reshape(-1, 2))

    def make_value(self, columns: ReportColumns, row: int) -> list[int]:
        """Return both numbers of one row."""
        return [int(columns["first"][row]), int(columns["second"][row])]

    def pack(self, columns: ReportColumns) -> list[Words]:
        """Return the words of either number."""
        return [columns[name].astype(np.uint32, copy=False).reshape(-1, 1) for name in ("first", "second")]

    def unpack(self, words: Words) -> ReportColumns:
        """Return a column for each of both numbers."""
        return {"first": words[:, 0].copy(), "second": words[:, 1].copy()}

    def find_good_rows(self, words: Words) -> Mask:
        """Return which first numbers are odd."""
        odd: Mask = (words[:, 0] & 1) == 1
        return odd


@dataclass(frozen=True)
class RowField(Field):
    """A list of `count` whole numbers below `bound`."""

    count: int
    bound: int

    @property
    def bits(self) -> int:
        """Return the bits of `count` numbers below the bound."""
        return self.count * ceil(log2(self.bound))

    @property
    def word_count(self) -> int:
        """Return the number of words: one for each number."""
        return self.count

    def find_flaw(self, value: Any) -> str:
        """Return the flaw of a value that is no list of `count` numbers below the bound, or an empty string."""
        if not isinstance(value, list) or len(value) != self.count or not set(map(type, value)) <= {int}:
            return f"its {self.name} are not {self.count:,} whole numbers"
        return self.find_number_flaw(value)

    def find_number_flaw(self, numbers: list[int]) -> str:
        """Return the flaw of a list with a number beyond the bound, or an empty string."""
        in_range = all(0 <= number < self.bound for number in numbers)
        return "" if in_range else f"its {self.name} are not all below {self.bound:,}"

    def make_columns(self, values: Sequence[Any]) -> ReportColumns:
        """Return one column, of a row of numbers per report."""
        return {self.name: np.array(values, np.int32).reshape(-1, self.count)}

    def make_value(self, columns: ReportColumns, row: int) -> list[int]:
        """Return the numbers of one row."""
        numbers: list[int] = columns[self.name][row].tolist()
        return numbers

    def unpack(self, words: Words) -> ReportColumns:
        """Return one column, of a row of numbers per report."""
        return {self.name: words.astype(np.int32)}

    def find_good_rows(self, words: Words) -> Mask:
        """Return which rows have numbers below the bound alone."""
        below: Mask = np.logical_and.reduce(words < self.bound, axis=1)
        return below


@dataclass(frozen=True)
class SubsetField(RowField):
    """A list of `count` whole numbers below `bound` that ascend."""

    def find_number_flaw(self, numbers: list[int]) -> str:
        """Return the flaw of a list that does not ascend below the bound, or an empty string."""
        ascends = numbers[0] >= 0 and numbers[-1] < self.bound and all(a < b for a, b in pairwise(numbers))
        return "" if ascends else f"its {self.name} do not ascend from 0 to below {self.bound:,}"

    def find_good_rows(self, words: Words) -> Mask:
        """Return which rows ascend below the bound."""
        rises: Mask = np.logical_and.reduce(words[:, 1:] > words[:, :-1], axis=1)
        return np.logical_and(rises, words[:, -1] < self.bound)


@dataclass(frozen=True)
class BitsField(Field):
    """A bit for each of `count` candidates, as hexadecimal digits of eight candidates a byte. It is not packed."""

    count: int

    @property
    def bits(self) -> int:
        """Return the number of bits."""
        return self.count

    def find_flaw(self, value: Any) -> str:
        """Return the flaw of a value that is no text of `count` bits, or an empty string."""
        digits = (self.count + 7) // 8 * 2
        if not isinstance(value, str) or len(value) != digits or _HEXADECIMAL.fullmatch(value) is None:
            return f"its {self.name} are not {digits:,} hexadecimal digits"
        # The last byte may have spare bits, which have to be 0.
        excess = int.from_bytes(bytes.fromhex(value), "little") >> self.count
        return f"its {self.name} are more than {self.count:,}" if excess else ""

    def make_columns(self, values: Sequence[Any]) -> ReportColumns:
        """Return one column, of a row of words per report."""
        # Padded to whole words, which kernels count bits in.
        words = (self.count + 31) // 32
        rows = [bytes.fromhex(value).ljust(4 * words, b"\0") for value in values]
        return {self.name: np.frombuffer(b"".join(rows), "<u4").astype(np.uint32).reshape(len(rows), words)}

    def make_value(self, columns: ReportColumns, row: int) -> str:
        """Return the digits of one row."""
        digit_bytes: bytes = columns[self.name][row].astype("<u4").tobytes()
        return digit_bytes[: (self.count + 7) // 8].hex()


@dataclass(frozen=True, kw_only=True)
class Codec:
    """How the reports of one oracle are written.

    Parameters
    ----------
    oracle
        The name of the oracle.
    longest
        The bytes of the longest report that a device sends.
    fields
        The fields of a report, in order. Their words stand in that order.

    Examples
    --------
    >>> codec = Codec(oracle="olh", longest=256, fields=(SeedField(), WholeField("value", 4)))
    >>> codec.pack(codec.read_reports([b'{"seed":[7,9],"value":1}']).columns).tolist()
    [[7, 9, 1]]
    """

    oracle: str
    longest: int
    fields: tuple[Field, ...]

    def find_flaw(self, report: Any) -> str:
        """Return why a report is none of this oracle's, in words that repeat nothing of the report, or ""."""
        # The order of the fields is part of the format: a device writes one order.
        if not isinstance(report, dict) or tuple(report) != self._names:
            return find_names_flaw(report, *self._names)
        for field in self.fields:
            if flaw := field.find_flaw(report[field.name]):
                return flaw
        return ""

    def make_columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return good reports as columns."""
        columns: ReportColumns = {}
        for field in self.fields:
            columns |= field.make_columns([report[field.name] for report in reports])
        return columns

    def make_report(self, columns: ReportColumns, row: int) -> Report:
        """Return one report of the columns in its JSON form."""
        return {field.name: field.make_value(columns, row) for field in self.fields}

    def read_reports(self, sent: Sequence[bytes | Report]) -> Batch:
        """Return the good reports among the bytes of devices as columns, and the reason of each refusal.

        Reports that are objects already pass the same checks.
        """
        if isinstance(sent, bytes | bytearray | str | Mapping):
            raise MisuseError(f"Reports are given in a list, also a single one; {type(sent).__name__} was given.")
        good_reports, good_positions, refused = [], [], []
        for place, sent_report in enumerate(sent):
            report, reason = (
                _parse_report(sent_report, self.longest) if isinstance(sent_report, bytes) else (sent_report, "")
            )
            reason = reason or self.find_flaw(report)
            if reason:
                refused.append(Refused(place=place, reason=reason))
            else:
                good_reports.append(report)
                good_positions.append(place)
        return Batch(
            columns=self.make_columns(good_reports),
            positions=np.array(good_positions, np.int64),
            refused=tuple(refused),
        )

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(field.name for field in self.fields)

    @cached_property
    def width(self) -> int:
        """Return the number of words of a packed report."""
        self.check_packed()
        return sum(field.word_count for field in self.fields)

    def check_packed(self) -> None:
        """Refuse an oracle that no device answers through: its reports are not packed."""
        if self.oracle not in ANSWERS:
            raise MisuseError(f"No device answers through {self.oracle}, so its reports are not packed.")

    def pack(self, columns: ReportColumns) -> Words:
        """Return reports as rows of words, from the columns that are read or made."""
        self.check_packed()
        parts = [part for field in self.fields for part in field.pack(columns)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def find_good_rows(self, words: Words) -> Mask:
        """Return which rows of words, that may come from anybody, are reports of this oracle for its question."""
        self.check_width(words)
        masks = (field.find_good_rows(part) for field, part in zip(self.fields, self._split(words), strict=True))
        return reduce(np.logical_and, masks)

    def check_width(self, words: Words) -> None:
        """Check the number of words of rows."""
        if words.ndim != 2 or words.shape[1] != self.width:
            raise MisuseError(f"A report of {self.oracle} has {self.width:,} words; {words.shape} were given.")

    def unpack(self, words: Words) -> ReportColumns:
        """Return rows of good words as the columns that reports are added up from."""
        columns: ReportColumns = {}
        for field, part in zip(self.fields, self._split(words), strict=True):
            columns |= field.unpack(part)
        return columns

    def _split(self, words: Words) -> list[Words]:
        """Return the words of each field."""
        ends = list(accumulate((field.word_count for field in self.fields), initial=0))
        return [words[:, start:stop] for start, stop in pairwise(ends)]


def flatten_report(report: Report) -> list[int]:
    """Return the words of one report in its JSON form: for code that has the question and no oracle.

    Examples
    --------
    >>> [flatten_report(one) for one in ({"seed": [7, 9], "value": 1}, {"pm": {"point": 5}}, {"duchi": {"sign": 0}})]
    [[7, 9, 1], [1, 5], [0, 0]]
    """
    words: list[int] = []
    for name, value in report.items():
        if isinstance(value, dict):
            words += [int(name == "pm"), *flatten_report(value)]
        else:
            words += value if isinstance(value, list) else [value]
    return words


def is_below(value: Any, bound: int) -> bool:
    """Return whether a value is a whole number from 0 to before a bound, and nothing that passes for one."""
    # Booleans are integers in Python, and 1.0 equals 1: neither is a number of a report.
    return type(value) is int and 0 <= value < bound


def find_names_flaw(report: Any, *names: str) -> str:
    """Return the flaw of a report that is no object with exactly the named fields in order, or an empty string."""
    if isinstance(report, dict) and tuple(report) == names:
        return ""
    return f"it is not an object with {' and '.join(names)}, and nothing else"


def _parse_report(text: bytes, longest: int) -> tuple[Any, str]:
    """Return the report that some bytes are, and why they are none."""
    # The length comes first: a long report would take long to parse.
    if len(text) > longest:
        return None, f"it has {len(text):,} bytes, and no report to this question has over {longest:,}"
    try:
        report_text = text.decode("ascii")
        report = json.loads(report_text)
        # Written again it is the very text: repeated fields, spaces and further forms of numbers are refused.
        canonical = _encode(report) == report_text
    except (ValueError, RecursionError):
        return None, "it is not JSON"
    return report, "" if canonical else "it is not written as a device writes it"
