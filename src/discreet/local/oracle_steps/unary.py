"""What the unary encodings have in common: one bit per candidate, each kept or told wrong by itself.

They are kept for comparison, and simulated only: their reports are as long as the list of candidates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...kernels.devices import report_bits
from ...kernels.supports import count_bits
from ..device.client import sampled
from ..device.draws import Draws
from ..device.loss import WORD, Loss, both, odds
from ..oracle import Answered, Counts, OneValue, Report, ReportColumns
from .honest import HonestLaw, apart, independent
from .reading import fields

_DIGITS = re.compile("[0-9a-f]*")


def answer(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> Report:
    """Tell every bit wrong at times, and the own one as often as is kept."""
    size, symbol = oracle["size"], sampled(oracle, values, draws)
    bits = draws.bits(size, oracle["lie"])
    if symbol < size:
        bits = bits & ~(1 << symbol) | draws.chance(oracle["keep"]) << symbol
    return {"bits": bits.to_bytes((size + 7) // 8, "little").hex()}


def _loss(oracle: Mapping[str, Any]) -> Fraction:
    # Two bits may differ, each kept or told wrong: that of the one symbol and that of the other.
    return both(odds(oracle["keep"]) / odds(oracle["lie"]))


LOSS = Loss(_loss, "size pad dummies keep lie", longest=lambda oracle: 11 + (oracle["size"] + 7) // 8 * 2)


@dataclass(frozen=True, kw_only=True)
class Unary(OneValue):
    """Report one bit per candidate: that of the sampled symbol is 1 with `keep`, any other with `lie`, out of 2^32."""

    keep: int
    lie: int

    # Bits are drawn independently of each other, so the laws of the single counts are the law of all.
    joint: ClassVar[bool] = True
    each_alone: ClassVar[bool] = True

    @property
    def numbers(self) -> dict[str, int]:
        """The two thresholds."""
        return {"keep": self.keep, "lie": self.lie}

    @property
    def p_own(self) -> Fraction:
        """The own bit is 1."""
        return Fraction(self.keep, WORD)

    @property
    def p_other(self) -> Fraction:
        """Another bit is 1."""
        return Fraction(self.lie, WORD)

    @property
    def bits(self) -> float:
        """One a candidate."""
        return self.size

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return a row of bits a person."""
        bits = np.empty((len(answered.people), (self.size + 31) // 32), np.uint32)
        report_bits(*answered.arguments(seed), self.pad, self.size, self.keep, self.lie, bits)
        return {"bits": bits}

    def supports(self, columns: ReportColumns) -> Counts:
        """Count the bits that are 1."""
        counts = np.zeros(self.size, np.int64)
        count_bits(columns["bits"], self.size, counts)
        return counts

    def named(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the bits of the values."""
        words = columns["bits"][:, values // 32] >> (values % 32).astype(np.uint32)
        return (words & np.uint32(1)).astype(bool)

    @property
    def honest(self) -> HonestLaw:
        """Blank is every bit by itself; one of them is the own."""
        own, other = self.p_own, self.p_other
        ratio = max(own / other, (1 - own) / (1 - other))
        return HonestLaw(p_other=other, together=apart(own, other), ratio=ratio, tail=independent(other))

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return the bits as hexadecimal digits, eight candidates a byte."""
        return {"bits": columns["bits"][row].astype("<u4").tobytes()[: (self.size + 7) // 8].hex()}

    def flaw(self, report: Any) -> str:
        """Return whether it is no row of bits."""
        return fields(report, "bits") or digits("bits", report["bits"], self.size)

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the rows of bits."""
        return {"bits": rows(reports, "bits", self.size)}


def digits(name: str, text: Any, many: int) -> str:
    """Return what is wrong with a field that has to be so many bits as hexadecimal digits, eight a byte."""
    if not isinstance(text, str) or len(text) != (many + 7) // 8 * 2 or _DIGITS.fullmatch(text) is None:
        return f"its {name} are not {(many + 7) // 8 * 2:,} hexadecimal digits"
    if int.from_bytes(bytes.fromhex(text), "little") >> many:
        return f"its {name} are more than {many:,}"
    return ""


def rows(reports: Sequence[Report], name: str, many: int) -> NDArray[np.uint32]:
    """Return the bits of good reports, a row of words each."""
    words = (many + 31) // 32
    held = [bytes.fromhex(report[name]).ljust(4 * words, b"\0") for report in reports]
    return np.frombuffer(b"".join(held), "<u4").astype(np.uint32).reshape(len(held), words)
