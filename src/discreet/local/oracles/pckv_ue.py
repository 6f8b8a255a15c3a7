"""PCKV-UE: a key with a value of plus or minus one, told by one of three signs a key.

Candidates come in twos: 2k is key k with the value -1, and 2k + 1 the same key with +1. PCKV-GRR needs no oracle of its
own: with the best split of its epsilon it is `grr` over the same candidates. Kept for comparison, and simulated only: a
report is as long as the list of keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from ...kernels.devices import report_signed
from ...kernels.supports import count_bits
from ..device.client import sampled
from ..device.draws import Draws
from ..device.loss import WORD, Loss
from ..oracle import Answered, Counts, OneValue, Report, ReportColumns, check_ranges, grown
from ..oracle_steps.honest import HonestLaw, apart
from ..oracle_steps.reading import fields
from ..oracle_steps.unary import digits, rows


def _answer(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> Report:
    keys, symbol = (oracle["size"] + 1) // 2, sampled(oracle, values, draws)
    key = 1 << symbol // 2
    told = draws.bits(keys, oracle["lie"])
    signs = draws.bits(keys, WORD // 2)
    if draws.chance(oracle["keep"]) and symbol < oracle["size"] and not told & key:
        told, signs = told | key, signs | key if symbol % 2 else signs & ~key
    size = (keys + 7) // 8
    return {"told": told.to_bytes(size, "little").hex(), "signs": (told & signs).to_bytes(size, "little").hex()}


def _loss(oracle: Mapping[str, Any]) -> Fraction:
    # The own key has its sign more often, and the key that would have been the own one is untold more often.
    keep, lie = (Fraction(oracle[name], WORD) for name in ("keep", "lie"))
    if not (0 < keep < 1 and 0 < lie < 1):
        raise ValueError("The question's numbers are not probabilities.")
    return (1 + 2 * (1 - lie) * keep / lie) / (1 - keep)


@dataclass(frozen=True, kw_only=True)
class PCKVUE(OneValue):
    """Report a sign or nothing for every key.

    Any key is told with `lie`, out of 2^32, with either sign alike. The sampled one, where that leaves it untold, is
    told with `keep`, and with its own sign.
    """

    keep: int
    lie: int

    name: ClassVar[str] = "pckv-ue"
    summary: ClassVar[str] = "a sign or nothing for every key: for keys with a value of ±1, simulated only"
    citation: ClassVar[str] = "Gu, Li, Cheng, Xiong, Cao 2020"

    live: ClassVar[bool] = False
    answer = staticmethod(_answer)
    loss = Loss(
        _loss, "size pad dummies keep lie", longest=lambda oracle: 22 + ((oracle["size"] + 1) // 2 + 7) // 8 * 4
    )

    @classmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the least variance for a rare candidate; `keep` is rounded down."""
        check_ranges(epsilon, size, pad, single)
        keep, lie = _best(grown(epsilon))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, keep=keep, lie=lie)

    @property
    def keys(self) -> int:
        """How many keys there are: the last may have one candidate only."""
        return (self.size + 1) // 2

    @property
    def alike(self) -> Self:
        """The same oracle for two keys at most, for an audit that enumerates reports.

        Its numbers do not depend on how many keys there are, and no more than two tell any two people apart: the loss
        is the same.
        """
        return replace(self, size=min(self.size, 4))

    @property
    def numbers(self) -> dict[str, int]:
        """The two thresholds."""
        return {"keep": self.keep, "lie": self.lie}

    @property
    def p_own(self) -> Fraction:
        """The own sign by chance, or kept where nothing is told by chance."""
        return self.p_other + (1 - Fraction(self.lie, WORD)) * Fraction(self.keep, WORD)

    @property
    def p_other(self) -> Fraction:
        """One of the two signs of a key that is told by chance."""
        return Fraction(self.lie, 2 * WORD)

    @property
    def bits(self) -> float:
        """Whether each key is told, and with what sign."""
        return 2 * self.keys

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return two rows of bits a person."""
        told, signs = (np.empty((len(answered.people), (self.keys + 31) // 32), np.uint32) for _ in range(2))
        report_signed(
            answered.offsets,
            answered.held,
            answered.people,
            np.uint64(seed),
            self.pad,
            self.size,
            self.keep,
            self.lie,
            told,
            signs,
        )
        return {"told": told, "signs": signs}

    def supports(self, columns: ReportColumns) -> Counts:
        """Count keys by sign."""
        counts = np.zeros((self.keys, 2), np.int64)
        for sign, bits in enumerate((columns["told"] & ~columns["signs"], columns["signs"])):
            tally = np.zeros(self.keys, np.int64)
            count_bits(bits, self.keys, tally)
            counts[:, sign] = tally
        return counts.ravel()[: self.size]

    @property
    def at_once(self) -> int:
        """One sign of every key."""
        return self.keys

    @property
    def honest(self) -> HonestLaw:
        """Keys come by themselves but for the own one, and never with both signs."""
        law = apart(self.p_own, self.p_other)
        return HonestLaw(p_other=self.p_other, together=law, ratio=self.p_own / self.p_other, tail=None)

    def written(self, columns: ReportColumns, row: int) -> Report:
        """Return both rows of bits as hexadecimal digits, eight keys a byte."""
        return {
            name: columns[name][row].astype("<u4").tobytes()[: (self.keys + 7) // 8].hex() for name in ("told", "signs")
        }

    def flaw(self, report: Any) -> str:
        """Return whether it is no two rows of bits; a sign is that of a key that is told."""
        wrong = fields(report, "told", "signs") or digits("told", report["told"], self.keys)
        wrong = wrong or digits("signs", report["signs"], self.keys)
        if wrong:
            return wrong
        told, plus = (int.from_bytes(bytes.fromhex(report[name]), "little") for name in ("told", "signs"))
        return "it has signs of keys that are not told" if plus & ~told else ""

    def columns(self, reports: Sequence[Report]) -> ReportColumns:
        """Return the rows of bits."""
        return {name: rows(reports, name, self.keys) for name in ("told", "signs")}


@lru_cache(maxsize=64)
def _best(growth: Fraction) -> tuple[int, int]:
    """Return the thresholds with the least variance for a candidate nobody has, whose loss is within bounds.

    Which lie is best is searched in floating point; what may be kept at that lie is an exact fraction, rounded down.
    """
    likely = float(growth)
    other = np.linspace(1e-6, 0.5, 20_001)[:-1] if likely < 1e5 else np.geomspace(1e-10, 0.49, 20_001)
    kept = (likely - 1) * other / (likely * other + 1 - 2 * other)
    lie = max(1, round(2 * WORD * float(other[np.argmin(other * (1 - other) / ((1 - 2 * other) * kept) ** 2)])))
    share = Fraction(lie, 2 * WORD)
    return int((growth - 1) * share / (growth * share + 1 - 2 * share) * WORD), lie
