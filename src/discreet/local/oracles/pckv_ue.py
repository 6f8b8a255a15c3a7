"""PCKV-UE: a key with a value of plus or minus one, reported by one of three signs for each key.

Candidates come in pairs: 2k is key k with the value -1, and 2k + 1 is key k with the value +1. PCKV-GRR has no oracle:
with the best split of its epsilon it is `grr` over these candidates. Kept for comparison, and simulated only: a
report is as long as the list of keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from ...kernels import count_bits, report_signed
from .. import Counts, OneValue, Report, ReportColumns, SimulatedAnswers, check_ranges, exp_rounded_down
from ..device import WORD, Draws, Loss, sample_symbol
from ..oracle_steps import BitsField, Codec, Field, HonestLaw, independent_pair_laws


def _answer(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> Report:
    keys, symbol = (oracle["size"] + 1) // 2, sample_symbol(oracle, values, draws)
    key = 1 << symbol // 2
    named_keys = draws.bits(keys, oracle["lie"])
    signs = draws.bits(keys, WORD // 2)
    # All random bits are drawn first, so that the number of bytes does not depend on the basket.
    if draws.chance(oracle["keep"]) and symbol < oracle["size"] and not named_keys & key:
        named_keys, signs = named_keys | key, signs | key if symbol % 2 else signs & ~key
    size = (keys + 7) // 8
    return {
        "told": named_keys.to_bytes(size, "little").hex(),
        "signs": (named_keys & signs).to_bytes(size, "little").hex(),
    }


def _loss(oracle: Mapping[str, Any]) -> Fraction:
    # Two people differ in two keys: the first has its own sign more often, and the second is left without a sign more
    # often.
    keep, lie = (Fraction(oracle[name], WORD) for name in ("keep", "lie"))
    if not (0 < keep < 1 and 0 < lie < 1):
        raise ValueError("The question's numbers are not probabilities.")
    return (1 + 2 * (1 - lie) * keep / lie) / (1 - keep)


@dataclass(frozen=True, kw_only=True)
class PCKVUE(OneValue):
    """Report a sign or nothing for each key.

    Each key gets a random sign with the probability `lie`, out of 2^32. If the sampled key gets none, it gets its own
    sign with the probability `keep`.
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
        keep, lie = _select_thresholds(exp_rounded_down(epsilon))
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, keep=keep, lie=lie)

    @property
    def keys(self) -> int:
        """The number of keys; the last key may have one candidate only."""
        return (self.size + 1) // 2

    @property
    def alike(self) -> Self:
        """The oracle with at most two keys, for an audit that enumerates reports.

        Its numbers do not depend on the number of keys, and any two people differ in at most two keys: the loss is
        unchanged.
        """
        return replace(self, size=min(self.size, 4))

    @property
    def p_own(self) -> Fraction:
        """The probability of the own sign: at random, or kept where the key has no random sign."""
        return self.p_other + (1 - Fraction(self.lie, WORD)) * Fraction(self.keep, WORD)

    @property
    def p_other(self) -> Fraction:
        """The probability of one of both random signs of a key."""
        return Fraction(self.lie, 2 * WORD)

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return two rows of bits for each person."""
        named_keys, signs = (np.empty((len(answered.people), (self.keys + 31) // 32), np.uint32) for _ in range(2))
        report_signed(*answered.arguments(seed), self.pad, self.size, self.keep, self.lie, named_keys, signs)
        return {"told": named_keys, "signs": signs}

    def supports(self, columns: ReportColumns) -> Counts:
        """Return the count of each key with each sign."""
        counts = np.zeros((self.keys, 2), np.int64)
        for sign, bits in enumerate((columns["told"] & ~columns["signs"], columns["signs"])):
            tally = np.zeros(self.keys, np.int64)
            count_bits(bits, self.keys, tally)
            counts[:, sign] = tally
        return counts.ravel()[: self.size]

    @property
    def at_once(self) -> int:
        """The number of candidates that one report names: one sign of each key."""
        return self.keys

    @property
    def honest(self) -> HonestLaw:
        """The law of honest reports: keys are independent but for the own key, and no key has both signs."""
        law = independent_pair_laws(self.p_own, self.p_other)
        return HonestLaw(p_other=self.p_other, pair_laws=law, ratio=self.p_own / self.p_other, tail=None)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of a report: the keys that have a sign, and their signs."""
        return (BitsField("told", self.keys), BitsField("signs", self.keys))

    @cached_property
    def codec(self) -> Codec:
        """Return the codec that checks both fields together."""
        return SignCodec(oracle=self.name, longest=self.longest_report, fields=self.fields)


@dataclass(frozen=True, kw_only=True)
class SignCodec(Codec):
    """The codec of keys and their signs: a sign belongs to a named key."""

    def find_flaw(self, report: Any) -> str:
        """Return the flaw of a report that is not two rows of bits, or has the sign of a key without one."""
        flaw = super().find_flaw(report)
        if flaw:
            return flaw
        keys, signs = (int.from_bytes(bytes.fromhex(report[name]), "little") for name in ("told", "signs"))
        return "it has signs of keys that are not told" if signs & ~keys else ""


@lru_cache(maxsize=64)
def _select_thresholds(growth: Fraction) -> tuple[int, int]:
    """Return the thresholds with the least variance for a candidate outside all baskets, within the loss of epsilon.

    The best `lie` is searched in floating point; the largest `keep` for it is an exact fraction, rounded down.
    """
    ratio = float(growth)
    # For large e^epsilon the best `lie` is near 0: a grid of equal ratios reaches it.
    p_other = np.linspace(1e-6, 0.5, 20_001)[:-1] if ratio < 1e5 else np.geomspace(1e-10, 0.49, 20_001)
    keep = (ratio - 1) * p_other / (ratio * p_other + 1 - 2 * p_other)
    variances = p_other * (1 - p_other) / ((1 - 2 * p_other) * keep) ** 2
    lie = max(1, round(2 * WORD * float(p_other[np.argmin(variances)])))
    share = Fraction(lie, 2 * WORD)
    return int((growth - 1) * share / (growth * share + 1 - 2 * share) * WORD), lie
