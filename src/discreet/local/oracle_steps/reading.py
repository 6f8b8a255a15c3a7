"""Reading what devices sent: each report by itself, so that one bad report costs no other.

Reports come from anybody. How long one is, is looked at before anything else; what is wrong with it is said in a few
words that repeat nothing of it.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from ..device.loss import WORD

ReportColumns: TypeAlias = dict[str, NDArray[Any]]
Report: TypeAlias = dict[str, Any]

SHORT = 256  # bytes: an oracle that does not say how long its reports are makes none that is longer
_WRITTEN = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A report that is left out: its place among those that were sent, and why."""

    place: int
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """What was read: whoever collects acknowledges the kept ones, and tells the others why they are not counted.

    Parameters
    ----------
    columns
        The good reports, in the order in which they were sent.
    kept
        The place of each of them among those that were sent.
    refused
        Those that are left out, in order.
    """

    columns: ReportColumns
    kept: NDArray[np.int64]
    refused: tuple[Refused, ...]

    def __len__(self) -> int:
        """How many reports are kept."""
        return len(self.kept)


class ReportReader(ABC):
    """How an oracle reads reports. Subclasses say what is wrong with one, and make columns of good ones."""

    @property
    @abstractmethod
    def longest_report(self) -> int:
        """The bytes of the longest report that a device sends for this question."""

    @abstractmethod
    def flaw(self, report: Any) -> str:
        """Return why a report is none of this oracle's for this question, in words that repeat nothing of it, or ""."""

    @abstractmethod
    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return good reports as columns."""

    def read(self, sent: Sequence[bytes | Report]) -> Batch:
        """Return what can be read of the bytes that devices sent, and what cannot, each by itself.

        Reports that were taken apart already, as objects, are looked at the same way.
        """
        if isinstance(sent, bytes | bytearray | str | Mapping):
            raise MisuseError(f"Reports are given in a list, also a single one; {type(sent).__name__} was given.")
        longest, good, kept, refused = self.longest_report, [], [], []
        for place, one in enumerate(sent):
            report, reason = _parsed(one, longest) if isinstance(one, bytes) else (one, "")
            reason = reason or self.flaw(report)
            if reason:
                refused.append(Refused(place=place, reason=reason))
            else:
                good.append(report)
                kept.append(place)
        return Batch(columns=self.columns(good), kept=np.array(kept, np.int64), refused=tuple(refused))


def _parsed(text: bytes, longest: int) -> tuple[Any, str]:
    """Return a report, or why its bytes are none."""
    if len(text) > longest:
        return None, f"it has {len(text):,} bytes, and no report to this question has over {longest:,}"
    try:
        written = text.decode("ascii")
        report = json.loads(written)
        right = _WRITTEN(report) == written
    except (ValueError, RecursionError):
        return None, "it is not JSON"
    return report, "" if right else "it is not written as a device writes it"


def fields(report: Any, *names: str) -> str:
    """Return what is wrong with a report that has to have these fields, in this order, and no others."""
    if isinstance(report, dict) and tuple(report) == names:
        return ""
    return f"it is not an object with {' and '.join(names)}, and nothing else"


def number(name: str, value: Any, bound: int) -> str:
    """Return what is wrong with a field that has to be a whole number from 0 to before `bound`."""
    return "" if type(value) is int and 0 <= value < bound else f"its {name} is not a whole number below {bound:,}"


def seed(value: Any) -> str:
    """Return what is wrong with a field that has to be the seed of a hash function: an odd number and any number."""
    if isinstance(value, list) and len(value) == 2 and not (number("", value[0], WORD) or number("", value[1], WORD)):
        return "" if value[0] & 1 else "the first number of its seed is even"
    return "its seed is not two whole numbers of 32 bits"


def seeds(reports: Sequence[Report]) -> ReportColumns:
    """Return the seeds of good reports as columns."""
    both = np.array([report["seed"] for report in reports], np.uint32).reshape(-1, 2)
    return {"first": both[:, 0].copy(), "second": both[:, 1].copy()}


def whole(reports: Sequence[Report], name: str) -> NDArray[np.int64]:
    """Return one whole number of each good report."""
    return np.array([report[name] for report in reports], np.int64)
