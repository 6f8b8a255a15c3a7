"""A frequency oracle: the randomisation of a device's values as one report, and the estimates from many reports.

An oracle is a frozen value for one question: a number of candidates, a padding, an epsilon. Its integers travel; its
probabilities are exact fractions of integers. Every report *supports* some candidates: a candidate of its device with
the probability `p_held`, if the device holds at most `pad` candidates, and any other candidate with `p_other`. The
estimate of a frequency is `(supports / people - p_other) / (p_held - p_other)`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
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
    Counts as Counts,
    HonestLaw,
    Influence,
    Randomiser,
    Report as Report,
    ReportColumns as ReportColumns,
    SimulatedAnswers as SimulatedAnswers,
)
from .study import SeededWords

# Below, probabilities do not fit into the integers; above, epsilon promises nothing.
MIN_EPSILON, MAX_EPSILON = Fraction(1, 1000), Fraction(20)
LARGEST = 1 << 28  # candidates: hashes of numbers further apart than this meet too often or too seldom
# The answers of devices and their losses by the name of the oracle: first the oracles of the format, which live devices
# answer for, then the oracles for simulations alone.
EVERY_ANSWER: ChainMap[str, Answer] = ChainMap(ANSWERS, {})
EVERY_LOSS: ChainMap[str, Loss] = ChainMap(LOSSES, {})
# The oracles of this package, each with a page of its name: other packages may not declare an answer for them.
_OWN_NAMES = frozenset(page.stem for page in Path(__file__).with_name("oracles").glob("*.md"))


@lru_cache(maxsize=256)
def exp_rounded_down(epsilon: Fraction) -> Fraction:
    """Return e^epsilon rounded down to 96 bits: no ratio of probabilities made of this number exceeds e^epsilon."""
    lower_bound = Fraction(intervals.exp(intervals.ratio(epsilon, 60), 60)[0])
    return Fraction(lower_bound * (1 << 96) // 1, 1 << 96)


def compute_weight(growth: Fraction, inside: int, outside: int) -> int:
    """Return the probability of a place inside, times 2^64: at most `growth` times the probability of a place outside.

    It is within a few units of the largest possible weight. With one place inside, the places outside share the
    remainder evenly, as the amplification by sampling requires.

    Parameters
    ----------
    growth
        The largest ratio of the probabilities, e^epsilon rounded down.
    inside, outside
        The numbers of places.
    """
    outside_weight = ceil(WEIGHT_SCALE / (growth * inside + outside))
    return (WEIGHT_SCALE - outside_weight * outside) // inside


def check_epsilon(epsilon: Fraction) -> None:
    """Check that epsilon is between 0.001 and 20, so that its probabilities fit into the integers."""
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise MisuseError(
            f"epsilon of a report is from {float(MIN_EPSILON)} to {MAX_EPSILON}; {float(epsilon):g} was given."
        )


def check_ranges(epsilon: Fraction, size: int, pad: int, single: bool) -> None:
    """Check that an oracle can be made for epsilon, a number of candidates and a padding."""
    check_epsilon(epsilon)
    if not 1 + single <= size < LARGEST:
        raise MisuseError(f"An oracle needs {1 + single} to {LARGEST - 1:,} candidates; {size:,} were given.")
    if not 1 <= pad < LARGEST or (single and pad != 1):
        raise MisuseError(
            f"The padding is 1 to {LARGEST - 1:,}, and 1 where everyone holds one value; {pad:,} was given."
        )


def compute_threshold(probability: Fraction) -> int:
    """Return the threshold of a probability: its multiple of 2^32, rounded down."""
    return int(probability * WORD)


@dataclass(frozen=True, kw_only=True)
class Oracle(Randomiser):
    """A frequency oracle for one question.

    Parameters
    ----------
    size
        The number of candidates.
    pad
        The number of candidates that a device answers for: with fewer it pads, with more it samples.
    single
        Whether every device holds exactly one candidate, so that it needs no padding.
    """

    size: int
    pad: int = 1
    single: bool = False

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    # Whether the aggregated simulation draws from the exact joint law of all counts, or from the law of each count.
    joint: ClassVar[bool] = False
    # Whether a report is about a whole set, and not about one value sampled from the set.
    sets: ClassVar[bool] = False
    # Whether live devices answer for it; an oracle kept for comparison is simulated only.
    live: ClassVar[bool] = True
    # Whether it is used by its name alone, and never chosen automatically.
    by_name: ClassVar[bool] = False
    # Whether a report names each value independently, so that the number of named values has a known law.
    each_alone: ClassVar[bool] = False
    # The answer of a device and its loss: declared by an oracle outside the format, which `client` does not know.
    answer: ClassVar[staticmethod[[Mapping[str, Any], list[int], Draws], Report]]
    loss: ClassVar[Loss]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "answer" not in vars(cls):
            return
        if cls.name in _OWN_NAMES and not cls.__module__.startswith(f"{__package__}.oracles."):
            raise MisuseError(f"{cls.name} is an oracle that devices know already: call {cls.__name__} otherwise.")
        if "loss" not in vars(cls):
            raise MisuseError(f"{cls.__name__} declares how a device answers and not what that loses: declare loss.")
        layer = 0 if cls.live else 1
        EVERY_ANSWER.maps[layer][cls.name], EVERY_LOSS.maps[layer][cls.name] = cls.answer, cls.loss

    def __post_init__(self) -> None:
        check_ranges(self.epsilon, self.size, self.pad, self.single)
        loss = EVERY_LOSS.get(self.name)
        if loss is not None and loss.largest < self.size + self.dummies:
            raise MisuseError(
                f"{self.name} answers for up to {loss.largest - self.dummies:,} candidates, and there are "
                f"{self.size:,}: use wheel or olh."
            )
        if loss is not None and loss.longest is not None and loss.longest(self.form) > MOST_REPORT:
            raise MisuseError(
                f"A report of {self.name} about {self.size:,} candidates may have {loss.longest(self.form):,} bytes, "
                f"and devices send up to {MOST_REPORT:,}: use wheel or olh."
            )

    @classmethod
    @abstractmethod
    def make(cls, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Self:
        """Return the oracle with the integers of least variance within epsilon."""

    @classmethod
    def longest(cls, epsilon: Fraction) -> int:
        """Return the largest padding of the oracle."""
        return LARGEST - 1

    @property
    @abstractmethod
    def dummies(self) -> int:
        """The number of dummy symbols, which stand for no candidate."""

    @property
    def symbols_in_all(self) -> int:
        """Return the number of candidates and dummies."""
        return self.size + self.dummies

    @property
    @abstractmethod
    def p_held(self) -> Fraction:
        """The probability that a report supports a candidate of its device, which holds at most `pad` candidates."""

    @property
    @abstractmethod
    def p_other(self) -> Fraction:
        """The probability that a report supports a candidate its device does not hold."""

    def reports(self, answered: SimulatedAnswers, seed: int) -> ReportColumns:
        """Return the report of each person as columns, equal to `randomise` with the person's stream of words.

        This default runs the code of the device; an oracle with compiled code overrides it.
        """
        rows = [answered.values[start:stop].tolist() for start, stop in pairwise(answered.offsets.tolist())]
        streams = [SeededWords(seed, person) for person in answered.people.tolist()]
        reports = [self.randomise(row, stream.take) for row, stream in zip(rows, streams, strict=True)]
        return self.codec.make_columns(reports)

    @abstractmethod
    def sample_supports(self, answered: SimulatedAnswers, seed: int, generator: np.random.Generator) -> Counts:
        """Draw the supports of the reports of all people without making the reports."""

    def match_values(self, columns: ReportColumns, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each report a row with whether it supports each of some values.

        This default adds up every report separately; an oracle with a quicker way overrides it.
        """
        report_count = len(next(iter(columns.values())))
        single_reports = (
            {name: column[row : row + 1] for name, column in columns.items()} for row in range(report_count)
        )
        rows = [self.supports(report)[values] > 0 for report in single_reports]
        return np.array(rows, bool).reshape(report_count, len(values))

    @property
    def at_once(self) -> int:
        """The largest number of values of the sender's choice that one report can support."""
        return self.size

    @property
    def influence(self) -> Influence:
        """The largest influence of one report: in people on the estimate of a value, and the number of values."""
        people_per_name = (1 - self.p_other) / (self.p_held - self.p_other)
        return Influence(people=people_per_name * self.amplified, values=self.at_once)

    @property
    def amplified(self) -> Fraction:
        """The factor of a report's influence beyond the values that it names; 1 without published seeds."""
        return Fraction(1)

    @property
    def excess(self) -> float:
        """The largest excess probability of naming two values together over independence; 1 if unknown."""
        return 1.0 if self.honest is None else max(float(self.honest.excess), 0.0)

    @property
    def honest(self) -> HonestLaw | None:
        """The law of honest reports for any basket; None if unknown."""
        return None

    def cells(self, columns: ReportColumns) -> Counts | None:
        """Return the number of reports in each of some equally likely cells; None for an oracle without cells."""
        return None

    @property
    def aggregate_size(self) -> int:
        """The length of the supports: one number for each candidate."""
        return self.size

    def add_drawn(
        self, aggregate: Counts, answered: SimulatedAnswers, seed: int, generator: np.random.Generator | None
    ) -> None:
        """Add the reports of all people: made one by one without a generator, or else drawn as supports."""
        if generator is None or self.adder.quick:
            super().add_drawn(aggregate, answered, seed, generator)
        else:
            aggregate += self.sample_supports(answered, seed, generator)

    @property
    def drawn_together(self) -> bool:
        """Whether an aggregated simulation draws from the exact joint law of all counts."""
        return self.joint or self.adder.quick

    @property
    def longest_report(self) -> int:
        """The bytes of the longest report."""
        loss = EVERY_LOSS.get(self.name)
        return SHORT if loss is None or loss.longest is None else loss.longest(self.form)

    @property
    def form(self) -> dict[str, Any]:
        """The oracle in its JSON form."""
        return {
            "oracle": self.name,
            "size": self.size,
            "pad": self.pad,
            "dummies": self.dummies,
            **self.numbers,
        }

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of a report for two baskets: at most e^epsilon."""
        return compute_ratio(self.form, EVERY_LOSS)

    @cached_property
    def delta(self) -> Fraction:
        """The probability that the ratio does not hold: 0, except for hashing that counts on sampling."""
        return compute_delta(self.form)

    def randomise(self, values: Sequence[int], take: Callable[[int], bytes] = token_bytes) -> Report:
        """Return the report of one device that holds the candidates `values`; `take` is the source of random bytes."""
        return EVERY_ANSWER[self.name](self.form, sorted(values), Draws(take))

    def estimate(self, supports: Counts, people: int) -> NDArray[np.float64]:
        """Return the estimated frequency of each candidate, unbiased if no person holds more than `pad` candidates."""
        if people == 0:
            return np.zeros(len(supports))
        return (supports / people - float(self.p_other)) / float(self.p_held - self.p_other)

    def variance(self, frequency: Any, people: int = 1) -> Any:
        """Return the variance of an estimate by the noise of the reports, for a candidate of a frequency (A13)."""
        p, q = float(self.p_held), float(self.p_other)
        noise = frequency * p * (1 - p) + (1 - frequency) * q * (1 - q)
        return noise / ((p - q) ** 2 * max(people, 1))

    def spread(self, values: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        """Return the variance of estimates about all people, with the asked people as a random sample."""
        frequencies = np.clip(values, 0.0, 1.0)
        sampling_variance = frequencies * (1 - frequencies) / max(people, 1)
        variance: NDArray[np.float64] = self.variance(frequencies, people) + sampling_variance
        return variance


class OneValue(Oracle):
    """An oracle that answers for one symbol, sampled from the padded set: PSFO of Wang, Li, Jha 2018."""

    @property
    @abstractmethod
    def p_own(self) -> Fraction:
        """The probability that a report supports the symbol of its device."""

    @property
    def p_held(self) -> Fraction:
        """The probability of supporting a held candidate: as the sampled symbol, or as an unsampled one."""
        return self.p_own / self.pad + self.p_other * (1 - Fraction(1, self.pad))

    @property
    def dummies(self) -> int:
        """One dummy symbol, or none if every device holds a value."""
        return 0 if self.single else 1

    def symbols(self, answered: SimulatedAnswers, seed: int) -> Counts:
        """Return the number of people with each symbol sampled, dummies last."""
        sampled_symbols = np.empty(len(answered.people), np.int64)
        sample_symbols(*answered.arguments(seed), self.pad, self.size, self.dummies, sampled_symbols)
        return np.bincount(sampled_symbols, minlength=self.size + self.dummies).astype(np.int64)

    def sample_supports(self, answered: SimulatedAnswers, seed: int, generator: np.random.Generator) -> Counts:
        """Draw each count from its own exact law, from the number of people with its candidate sampled."""
        return _draw_supports(
            self.symbols(answered, seed)[: self.size], len(answered.people), self.p_own, self.p_other, generator
        )


class SetValued(Oracle):
    """An oracle that answers for the whole set, padded or cut to `pad`."""

    sets: ClassVar[bool] = True

    def sample_supports(self, answered: SimulatedAnswers, seed: int, generator: np.random.Generator) -> Counts:
        """Draw each count from its own exact law, from the number of holders of its candidate after cutting."""
        counts = np.zeros(self.size, np.int64)
        sample_sets(*answered.arguments(seed), self.pad, counts)
        return _draw_supports(counts, len(answered.people), self.p_held, self.p_other, generator)


def _draw_supports(
    holders: Counts, people: int, p_held: Fraction, p_other: Fraction, generator: np.random.Generator
) -> Counts:
    """Draw the supports of each candidate independently: of its holders, and of all further people."""
    return generator.binomial(holders, float(p_held)) + generator.binomial(people - holders, float(p_other))
