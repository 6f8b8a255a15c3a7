"""What a frequency oracle is: how what a device holds becomes one report, and what many reports say together.

An oracle is a frozen value made for one question: so many candidates, a padding, an epsilon. Its integers are what
travels; its probabilities are exact fractions of them. Every report *supports* some candidates. One that is held by a
device is supported with the probability `p_held` (where no more than `pad` are), another with `p_other`, and that is
all an estimate needs: (supports / people - other) / (held - other).
"""

from __future__ import annotations

from abc import abstractmethod
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil
from pathlib import Path
from secrets import token_bytes
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError
from ..kernels import sample_sets, sample_symbols
from ..privacy.sampling import intervals
from .device import ANSWERS, LOSSES, MOST_REPORT, WEIGHT_SCALE, WORD, Answer, Draws, Loss, compute_delta, compute_ratio
from .oracle_steps import (
    SHORT,
    Answered as Answered,
    Counts as Counts,
    HonestLaw,
    Influence,
    Randomiser,
    Report as Report,
    ReportColumns as ReportColumns,
)
from .study import SeededWords

LEAST, MOST = Fraction(1, 1000), Fraction(20)
LARGEST = 1 << 28  # hashes of numbers further apart than this meet too often or too seldom
# What devices do and what that loses, by the name of the oracle: of the format's, which live devices answer for, and of
# those that are simulated only.
EVERY_ANSWER: ChainMap[str, Answer] = ChainMap(ANSWERS, {})
EVERY_LOSS: ChainMap[str, Loss] = ChainMap(LOSSES, {})
# Nobody else may declare how these answer: each oracle of this package has a page of its name.
_OURS = frozenset(page.stem for page in Path(__file__).with_name("oracles").glob("*.md"))


@lru_cache(maxsize=256)
def grown(epsilon: Fraction) -> Fraction:
    """Return e to the power of epsilon, rounded down: every probability is made of it, so a ratio never exceeds it."""
    below = Fraction(intervals.exp(intervals.ratio(epsilon, 60), 60)[0])
    return Fraction(below * (1 << 96) // 1, 1 << 96)


def weighed(growth: Fraction, inside: int, outside: int) -> int:
    """Return a weight, out of 2^64, of a place inside that is at most `growth` times that of one outside.

    It is within a few units of the largest; with one place inside, those outside share the rest evenly, so that
    sampling hides exactly as much as it is counted on for.
    """
    rest = ceil(WEIGHT_SCALE / (growth * inside + outside))
    return (WEIGHT_SCALE - rest * outside) // inside


def check_epsilon(epsilon: Fraction) -> None:
    """Refuse an epsilon whose probabilities would not fit into the integers, or promise nothing."""
    if not LEAST <= epsilon <= MOST:
        raise MisuseError(f"epsilon of a report is from {float(LEAST)} to {MOST}; {float(epsilon):g} was given.")


def check_ranges(epsilon: Fraction, size: int, pad: int, single: bool) -> None:
    """Refuse what no oracle can be made for."""
    check_epsilon(epsilon)
    if not 1 + single <= size < LARGEST:
        raise MisuseError(f"An oracle needs {1 + single} to {LARGEST - 1:,} candidates; {size:,} were given.")
    if not 1 <= pad < LARGEST or (single and pad != 1):
        raise MisuseError(
            f"The padding is 1 to {LARGEST - 1:,}, and 1 where everyone holds one value; {pad:,} was given."
        )


def chance(probability: Fraction) -> int:
    """Return a probability as a threshold out of 2^32, rounded down."""
    return int(probability * WORD)


@dataclass(frozen=True, kw_only=True)
class Oracle(Randomiser):
    """A frequency oracle for one question.

    Parameters
    ----------
    size
        How many candidates there are.
    pad
        How many of them a device answers for: with fewer it pads, with more it samples.
    single
        Whether every device holds exactly one, so that no padding is needed.
    """

    size: int
    pad: int = 1
    single: bool = False

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    # Whether the aggregated simulation draws from the exact law of all counts together, or of each count alone.
    joint: ClassVar[bool] = False
    # Whether it answers for a whole set, and not for one value sampled from it.
    sets: ClassVar[bool] = False
    # Whether live devices answer for it; one kept for comparison is simulated only.
    live: ClassVar[bool] = True
    # Whether it is used only where it is asked for by name, and never chosen.
    by_name: ClassVar[bool] = False
    # Whether a report names each value by itself, so that how many it names has a law.
    each_alone: ClassVar[bool] = False
    # What a device does, and what that loses: declared by an oracle that `client` and `loss` do not know.
    answer: ClassVar[staticmethod[[Mapping[str, Any], list[int], Draws], Report]]
    loss: ClassVar[Loss]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "answer" not in vars(cls):
            return
        if cls.name in _OURS and not cls.__module__.startswith(f"{__package__}.oracles."):
            raise MisuseError(f"{cls.name} is an oracle that devices know already: call {cls.__name__} otherwise.")
        if "loss" not in vars(cls):
            raise MisuseError(f"{cls.__name__} declares how a device answers and not what that loses: declare loss.")
        place = 0 if cls.live else 1
        EVERY_ANSWER.maps[place][cls.name], EVERY_LOSS.maps[place][cls.name] = cls.answer, cls.loss

    def __post_init__(self) -> None:
        check_ranges(self.epsilon, self.size, self.pad, self.single)
        known = EVERY_LOSS.get(self.name)
        if known is not None and known.largest < self.size + self.dummies:
            raise MisuseError(
                f"{self.name} answers for up to {known.largest - self.dummies:,} candidates, and there are "
                f"{self.size:,}: use wheel or olh."
            )
        if known is not None and known.longest is not None and known.longest(self.form) > MOST_REPORT:
            raise MisuseError(
                f"A report of {self.name} about {self.size:,} candidates may have {known.longest(self.form):,} bytes, "
                f"and devices send up to {MOST_REPORT:,}: use wheel or olh."
            )

    @classmethod
    @abstractmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the best integers for these numbers."""

    @classmethod
    def longest(cls, epsilon: Fraction) -> int:
        """Return the largest padding it takes."""
        return LARGEST - 1

    @property
    @abstractmethod
    def dummies(self) -> int:
        """How many symbols stand for nothing."""

    @property
    def symbols_in_all(self) -> int:
        """Return the number of candidates and dummies."""
        return self.size + self.dummies

    @property
    @abstractmethod
    def p_held(self) -> Fraction:
        """The probability that a report supports a candidate its device holds, with no more than `pad` of them."""

    @property
    @abstractmethod
    def p_other(self) -> Fraction:
        """The probability that a report supports a candidate its device does not hold."""

    def reports(self, answered: Answered, seed: int) -> ReportColumns:
        """Return everyone's report, as columns: from a person's stream of words, what `randomise` returns.

        An oracle without compiled code runs the device's own.
        """
        ends = zip(answered.offsets[:-1].tolist(), answered.offsets[1:].tolist(), strict=True)
        rows = [answered.held[start:stop].tolist() for start, stop in ends]
        streams = [SeededWords(seed, person) for person in answered.people.tolist()]
        return self.codec.make_columns([self.randomise(row, one.take) for row, one in zip(rows, streams, strict=True)])

    @abstractmethod
    def sample_supports(self, answered: Answered, seed: int, generator: np.random.Generator) -> Counts:
        """Draw the supports of everyone's reports without making them."""

    def named(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some values each report supports: a row per report.

        An oracle without a quicker way adds every report up by itself.
        """
        many = len(next(iter(columns.values())))
        ones = ({name: column[row : row + 1] for name, column in columns.items()} for row in range(many))
        rows = [self.supports(one)[values] > 0 for one in ones]
        return np.array(rows, bool).reshape(many, len(values))

    @property
    def at_once(self) -> int:
        """How many values of the sender's choice one report can support."""
        return self.size

    @property
    def influence(self) -> Influence:
        """What one report can add to one value's estimate, and to how many values at once."""
        named = (1 - self.p_other) / (self.p_held - self.p_other)
        return Influence(people=named * self.amplified, values=self.at_once)

    @property
    def amplified(self) -> Fraction:
        """How much more a report can add to an estimate than by what it names."""
        return Fraction(1)

    @property
    def excess(self) -> float:
        """How much more often, at most, two values are named together than each alone explains; 1 where unknown."""
        return 1.0 if self.honest is None else max(float(self.honest.excess), 0.0)

    @property
    def honest(self) -> HonestLaw | None:
        """What honest reports look like, whatever is held; None where that is not known."""
        return None

    def cells(self, columns: ReportColumns) -> Counts | None:
        """Return how many reports lie in each of some cells that are all as likely, whatever is held, if there are."""
        return None

    @property
    def kept(self) -> int:
        """The supports of the candidates: one number each."""
        return self.size

    def add_drawn(
        self, aggregate: Counts, answered: Answered, seed: int, generator: np.random.Generator | None
    ) -> None:
        """Add everyone's reports: made one by one, or drawn where there is something to draw from."""
        if generator is None or self.adder.quick:
            super().add_drawn(aggregate, answered, seed, generator)
        else:
            aggregate += self.sample_supports(answered, seed, generator)

    @property
    def drawn_together(self) -> bool:
        """Whether an aggregated simulation draws from the exact law of all counts together."""
        return self.joint or self.adder.quick

    @property
    def longest_report(self) -> int:
        """The bytes of the longest report."""
        known = EVERY_LOSS.get(self.name)
        return SHORT if known is None or known.longest is None else known.longest(self.form)

    @property
    def form(self) -> dict[str, Any]:
        """The oracle as it travels."""
        return {
            "oracle": self.name,
            "size": self.size,
            "pad": self.pad,
            "dummies": self.dummies,
            **self.numbers,
        }

    @cached_property
    def ratio(self) -> Fraction:
        """How much likelier some report can be for one basket than for another: at most e to the epsilon."""
        return compute_ratio(self.form, EVERY_LOSS)

    @cached_property
    def delta(self) -> Fraction:
        """The probability with which that may fail: 0 for all but hashing that counts on sampling."""
        return compute_delta(self.form)

    def randomise(self, values: Sequence[int], take: Callable[[int], bytes] = token_bytes) -> Report:
        """Return the report of one device that holds these candidates."""
        return EVERY_ANSWER[self.name](self.form, sorted(values), Draws(take))

    def estimate(self, supports: Counts, people: int) -> NDArray[np.float64]:
        """Return which fraction of the people holds each candidate, unbiased where nobody holds more than `pad`."""
        if people == 0:
            return np.zeros(len(supports))
        return (supports / people - float(self.p_other)) / float(self.p_held - self.p_other)

    def variance(self, frequency: Any, people: int = 1) -> Any:
        """Return the variance of an estimate that the reports' noise makes, for a candidate so many hold (A13)."""
        held, other = float(self.p_held), float(self.p_other)
        noise = frequency * held * (1 - held) + (1 - frequency) * other * (1 - other)
        return noise / ((held - other) ** 2 * max(people, 1))

    def spread(self, values: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        """Return the variance of estimates for everybody, of whom these people are a random part."""
        known = np.clip(values, 0.0, 1.0)
        sampled: NDArray[np.float64] = self.variance(known, people) + known * (1 - known) / max(people, 1)
        return sampled


class OneValue(Oracle):
    """An oracle that answers for one symbol, sampled from the padded set: PSFO of Wang, Li, Jha 2018."""

    @property
    @abstractmethod
    def p_own(self) -> Fraction:
        """The probability that a report supports the very symbol it was made for."""

    @property
    def p_held(self) -> Fraction:
        """Sampled and kept, or not sampled and supported all the same."""
        return self.p_own / self.pad + self.p_other * (1 - Fraction(1, self.pad))

    @property
    def dummies(self) -> int:
        """One symbol for nothing at all, unless everyone holds a value."""
        return 0 if self.single else 1

    def symbols(self, answered: Answered, seed: int) -> Counts:
        """Return how many people sampled each symbol, dummies last."""
        sampled = np.empty(len(answered.people), np.int64)
        sample_symbols(*answered.arguments(seed), self.pad, self.size, self.dummies, sampled)
        return np.bincount(sampled, minlength=self.size + self.dummies).astype(np.int64)

    def sample_supports(self, answered: Answered, seed: int, generator: np.random.Generator) -> Counts:
        """Draw each count from its own exact law: those who sampled it, and those who did not."""
        return both_kinds(
            self.symbols(answered, seed)[: self.size], len(answered.people), self.p_own, self.p_other, generator
        )


class SetValued(Oracle):
    """An oracle that answers for the whole set, padded or cut to `pad`."""

    sets: ClassVar[bool] = True

    def sample_supports(self, answered: Answered, seed: int, generator: np.random.Generator) -> Counts:
        """Draw each count from its own exact law: those who hold it after cutting, and those who do not."""
        counts = np.zeros(self.size, np.int64)
        sample_sets(*answered.arguments(seed), self.pad, counts)
        return both_kinds(counts, len(answered.people), self.p_held, self.p_other, generator)


def both_kinds(holders: Counts, people: int, held: Fraction, other: Fraction, generator: np.random.Generator) -> Counts:
    """Draw how many reports support each candidate, each candidate by itself."""
    return generator.binomial(holders, float(held)) + generator.binomial(people - holders, float(other))
