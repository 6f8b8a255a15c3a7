"""The common part of the unary encodings: one bit per candidate, each flipped independently.

They are kept for comparison, and simulated only: their reports are as long as the list of candidates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...kernels import count_bits, report_bits
from .. import Counts, OneValue, Report, ReportColumns, SimulatedAnswers
from ..device import WORD, Draws, Loss, odds, sample_symbol, symmetric_ratio
from ._codec import BitsField, Field
from ._honest import HonestLaw, independent_pair_laws, independent_tail

_DIGITS = re.compile("[0-9a-f]*")


def answer(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> Report:
    """Return one bit per candidate: 1 with the probability `keep` for the own symbol, and `lie` for any other."""
    size, symbol = oracle["size"], sample_symbol(oracle, values, draws)
    bits = draws.bits(size, oracle["lie"])
    # A dummy has no bit: its report has lies alone.
    if symbol < size:
        bits = bits & ~(1 << symbol) | draws.chance(oracle["keep"]) << symbol
    return {"bits": bits.to_bytes((size + 7) // 8, "little").hex()}


def _loss(oracle: Mapping[str, Any]) -> Fraction:
    # Two symbols change two bits, one each, and each bit changes the probability by at most this ratio.
    return symmetric_ratio(odds(oracle["keep"]) / odds(oracle["lie"]))


LOSS = Loss(_loss, "size pad dummies keep lie", longest=lambda oracle: 11 + (oracle["size"] + 7) // 8 * 2)


@dataclass(frozen=True, kw_only=True)
class Unary(OneValue):
    """Report one bit per candidate: the sampled bit is 1 with the chance `keep` / 2^32, any other with `lie` / 2^32."""

    keep: int
    lie: int

    # Bits are independent, so that the laws of single counts determine the law of all counts.
    joint: ClassVar[bool] = True
    each_alone: ClassVar[bool] = True

    @property
    def p_own(self) -> Fraction:
        """The probability of a 1 at the own bit."""
        return Fraction(self.keep, WORD)

    @property
    def p_other(self) -> Fraction:
        """The probability of a 1 at any other bit."""
        return Fraction(self.lie, WORD)

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return a row of bits a person."""
        bits = np.empty((len(answered.people), (self.size + 31) // 32), np.uint32)
        report_bits(*answered.arguments(seed), self.pad, self.size, self.keep, self.lie, bits)
        return {"bits": bits}

    def supports(self, columns: ReportColumns) -> Counts:
        """Count the bits that are 1."""
        counts = np.zeros(self.size, np.int64)
        count_bits(columns["bits"], self.size, counts)
        return counts

    def match_values(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the bits of the values."""
        words = columns["bits"][:, values // 32] >> (values % 32).astype(np.uint32)
        return (words & np.uint32(1)).astype(bool)

    @property
    def honest(self) -> HonestLaw:
        """The law of honest reports; the blank law draws each bit with `p_other`."""
        p_own, p_other = self.p_own, self.p_other
        ratio = max(p_own / p_other, (1 - p_own) / (1 - p_other))
        return HonestLaw(
            p_other=p_other,
            pair_laws=independent_pair_laws(p_own, p_other),
            ratio=ratio,
            tail=independent_tail(p_other),
        )

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report: a bit for each candidate."""
        return (BitsField("bits", self.size),)
