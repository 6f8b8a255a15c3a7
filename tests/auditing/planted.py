"""Mechanisms with a bug each, for the audit to find. The right way to do it is named beside every wrong one.

Those that look at the data break the seal by `unsealed`: a mechanism that only asks cannot look (test_peeking).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.baskets import restrict_items
from discreet.curator import Answers, Found, Mechanism, Plan, Problem
from discreet.curator.mechanisms.exponential import Exponential
from discreet.exact import LocalEngine, Query, Sizes, Supports, Truncation
from discreet.privacy import SealedAnswer, SealedEngine, unsealed
from discreet.results import Itemsets

WHOLE_SHARE = Fraction(1)
NO_VALUES = np.empty(0)


def every_item(items: int) -> Itemsets:
    return Itemsets(np.arange(items + 1), np.arange(items, dtype=np.int32))


class Planted(Mechanism):
    """Counts every item with all of its budget; subclasses do it wrongly."""

    name: ClassVar[str] = "planted"
    summary: ClassVar[str] = "Has a bug."
    citation: ClassVar[str] = ""
    answers: ClassVar[tuple[Answers, ...]] = ("threshold",)
    proof: ClassVar[str] = "planted.md"

    def __init_subclass__(cls) -> None:
        cls.proof = "planted.md"  # a page of its own, or the audit would not run it

    def plan(self, problem: Problem) -> Plan:
        return [("counting", WHOLE_SHARE)]

    def query(self, engine: SealedEngine, problem: Problem, meter) -> Query:
        return Supports(every_item(problem.item_count))

    def run(self, engine, problem, meter):
        noisy = meter.count("counting", engine, self.query(engine, problem, meter), WHOLE_SHARE)
        return self.build_result(problem, noisy.values[: problem.item_count].astype(float))

    def build_result(self, problem, values, **fields) -> Found:
        return Found(
            itemsets=every_item(problem.item_count), estimates=values, low=values - 1, high=values + 1, **fields
        )


@dataclass(frozen=True, kw_only=True)
class Right(Planted):
    pass


@dataclass(frozen=True, eq=False)
class Understated(Supports):
    """One basket can hold all of these, not one."""

    @property
    def l1_sensitivity(self) -> int:
        return 1


@dataclass(frozen=True, kw_only=True)
class TooLittleSensitivity(Planted):
    def query(self, engine, problem, meter):
        return Understated(every_item(problem.item_count))


@dataclass(frozen=True, kw_only=True)
class Truncating(Planted):
    """Cuts baskets to one item: right, unless the engine's cutting is not local (C6)."""

    def query(self, engine, problem, meter):
        return Supports(every_item(problem.item_count), Truncation(1, meter.secret()))


@dataclass(frozen=True, kw_only=True)
class OccurringItems(Exponential):
    """X5: chooses among the items that occur. Right: among those of the public list."""

    def run(self, engine, problem, meter):
        baskets = unsealed(engine).baskets
        occurring_codes = np.flatnonzero(baskets.item_counts).astype(np.int32)
        if not len(occurring_codes):
            occurring_codes = np.arange(1, dtype=np.int32)
        inner = SealedEngine(LocalEngine(restrict_items(baskets, occurring_codes)), len(occurring_codes))
        result = super().run(inner, replace(problem, item_count=len(occurring_codes), top=1), meter)
        codes = occurring_codes[result.itemsets.codes]
        return replace(result, itemsets=Itemsets(result.itemsets.offsets, codes))


@dataclass(frozen=True, kw_only=True)
class TellingNote(Planted):
    def run(self, engine, problem, meter):
        result = super().run(engine, problem, meter)
        has_few_people = int(unsealed(engine.answer(Sizes(1))).sum()) < 3
        return replace(result, notes=("There are few people.",) if has_few_people else ())


@dataclass(frozen=True, kw_only=True)
class TellingException(Planted):
    def run(self, engine, problem, meter):
        result = super().run(engine, problem, meter)
        if not unsealed(engine.answer(Supports(every_item(problem.item_count)))).any():
            raise ValueError("nothing to find")
        return result


@dataclass(frozen=True, kw_only=True)
class TellingWarning(Planted):
    def run(self, engine, problem, meter):
        if not unsealed(engine.answer(Supports(every_item(problem.item_count)))).any():
            warnings.warn("nothing to find", stacklevel=1)
        return super().run(engine, problem, meter)


@dataclass(frozen=True, kw_only=True)
class StepsByTheData(Planted):
    """Looks again where there is something to see. Right: the steps follow from released values."""

    def run(self, engine, problem, meter):
        query = Supports(every_item(problem.item_count))
        noisy = meter.count("counting", engine, query, WHOLE_SHARE / 2)
        if unsealed(engine.answer(query)).any():
            noisy = meter.count("counting again", engine, query, WHOLE_SHARE / 2)
        return self.build_result(problem, noisy.values.astype(float))


@dataclass(frozen=True, kw_only=True)
class ShareByTheData(Planted):
    def run(self, engine, problem, meter):
        share = (
            WHOLE_SHARE if unsealed(engine.answer(Supports(every_item(problem.item_count)))).any() else WHOLE_SHARE / 2
        )
        noisy = meter.count("counting", engine, Supports(every_item(problem.item_count)), share)
        return self.build_result(problem, noisy.values.astype(float))


@dataclass(frozen=True, kw_only=True)
class PicksByTheData(Planted):
    """Picks as many items as occur. Right: as many as were asked for."""

    def run(self, engine, problem, meter):
        counts = unsealed(engine.answer(Supports(every_item(problem.item_count))))
        picks = max(1, np.count_nonzero(counts))
        meter.choose("choosing", SealedAnswer(counts, 1, monotone=True), picks, WHOLE_SHARE)
        return self.build_result(problem, np.zeros(problem.item_count))


@dataclass(frozen=True, kw_only=True)
class ScoresTooSteep(Planted):
    """The square of a count moves by more than 1."""

    def run(self, engine, problem, meter):
        counts = unsealed(engine.answer(Supports(every_item(problem.item_count))))
        picks = meter.choose("choosing", SealedAnswer(counts**2, 1, monotone=True), 1, WHOLE_SHARE)
        return self.build_result(problem, np.zeros(problem.item_count), facts={"chosen": picks[0]})


@dataclass(frozen=True, kw_only=True)
class NotMonotone(Planted):
    """Who holds one of two items raises one score and lowers the other."""

    def run(self, engine, problem, meter):
        counts = unsealed(engine.answer(Supports(every_item(problem.item_count))))
        scores = np.array([int(counts[0]), -int(counts[0])])
        picks = meter.choose("choosing", SealedAnswer(scores, 1, monotone=True), 1, WHOLE_SHARE)
        return self.build_result(problem, np.zeros(problem.item_count), facts={"chosen": picks[0]})


@dataclass(frozen=True, kw_only=True)
class UnkeptCounts(Planted):
    """Uses noisy counts of things that were not found. Right: those of what was found."""

    delta: ClassVar[bool | None] = True
    finds: ClassVar[bool] = True
    cap: ClassVar[int] = 40

    def run(self, engine, problem, meter):
        counts = unsealed(engine.answer(Supports(every_item(unsealed(engine).items))))
        occurring_codes = np.flatnonzero(counts)
        kept_flags, noisy, _ = meter._find(
            "finding",
            counts[occurring_codes],
            self.cap,
            WHOLE_SHARE,
            every_item(unsealed(engine).items).take(occurring_codes),
        )
        return self.end(problem, occurring_codes, kept_flags, noisy)

    def end(self, problem, occurring_codes, kept_flags, noisy):
        return Found(
            itemsets=every_item(0),
            estimates=NO_VALUES,
            low=NO_VALUES,
            high=NO_VALUES,
            facts={"sum": int(noisy.values.sum())},
        )


@dataclass(frozen=True, kw_only=True)
class KeptCounts(UnkeptCounts):
    """The right way: only what was kept is looked at."""

    def end(self, problem, occurring_codes, kept_flags, noisy):
        values = noisy.values[kept_flags].astype(float)
        itemsets = Itemsets(np.arange(kept_flags.sum() + 1), occurring_codes[kept_flags].astype(np.int32))
        return Found(itemsets=itemsets, estimates=values, low=values, high=values)


@dataclass(frozen=True, kw_only=True)
class FindingTooMuch(KeptCounts):
    """Says that a basket adds to one count, where it adds to as many as it has items."""

    cap: ClassVar[int] = 1
