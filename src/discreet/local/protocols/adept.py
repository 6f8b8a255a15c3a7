"""Adept: the most frequent itemsets, by repeated questions about patterns that are uncertain to be in the top.

1. Ask for all items.
2. Learn a prior from the answers, and compute the probability of each pattern to be in the top.
3. Ask for the uncertain patterns; repeat step 2 and 3 with the next shares of the people.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import hypot, sqrt
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from ...errors import MisuseError
from ...privacy import exact
from .. import Oracle, Protocol
from ..estimation import BINS, TYPICAL_SIZE, ErrorShare, Evidence, HeldSizes, Itemset, PatternBeliefs, Values
from ..oracle_steps import LIARS, adaptive, error, grr_or_olh, honest_share
from ..study import (
    PADDINGS,
    TYPICAL_FREQUENCY,
    Ask,
    CandidateList,
    CandidateQuestion,
    Estimate,
    Partition,
    ProtocolResult,
    RoundGenerator,
    SizeQuestion,
    StudyGoal,
    asked_candidates,
    check_padding,
    check_parts,
    size_bins,
)
from .svsm import longest_pattern

# Each constant stands in the table of `adept.md`, with the line of the pseudocode that it belongs to.
# Guesses for the first round, before any answer; they only steer its oracle and padding.
FIRST_FREQUENCY = 0.02  # of an item that has to be ranked against the last item of the top
FIRST_SIZE = (8.0, 1.5)  # items per person: the mean, and the standard deviation of its logarithm
# Guesses for later rounds: patterns per person follow from the estimates of the patterns.
LOG_SIZE_STD = 0.7  # prior standard deviation of log(patterns per person); larger trusts the round about sizes more
MIN_EXPECTED_SIZE = 0.2  # patterns per person; keeps the logarithm finite where nearly no person holds a pattern
MIN_LONGEST_PADDING = 5  # paddings up to this are always compared: their noise is small for any liars
# Errors that remain after a correction. Larger values make intervals wider; smaller ones let them miss the truth.
# The part of a truncated frequency that counts as an error when paddings are compared; 1 and 0.25 measured no better
# (`adept.md`: rank .612 against .614 on all data, .679 against .688 on four data sets).
TRUNCATION_ERROR = 0.5
PATTERN_ERROR = 0.15  # relative error of a corrected estimate, per root of the truncated share; independent per pattern
COMMON_ERROR_PART = 0.5  # the common error of a round's patterns, as a part of the independent error
DENSE_ERROR = 0.15  # relative error at frequency f, per root of f: in dense data, bins hardly tell sizes
# The limits of a later round.
MAX_CANDIDATES = 20_000  # patterns; larger questions cost devices time, and the noise of each pattern grows
MAX_EXPECTED_SIZE = 20  # patterns per person: half of the longest padding, so that twice as many still fit
# For each later round p: it asks for patterns with a probability of p to 1 - p to be in the top. Later rounds have too
# few people for nearly certain patterns.
UNCERTAIN_TOP_PROBABILITY = (0.001, 0.01, 0.03)
LIKELIEST_PER_PATTERN = 4  # candidates per pattern of the top, for later rounds that ask for the likeliest patterns
UNKNOWN_VARIANCE = 0.261  # of an unknown frequency: 1.96 standard deviations are 1, so that the interval is [0, 1]
# The ratio of the noise of an estimate to the noise of a value without holders, from which on noise depends on the true
# frequency: reports are few there, and nearly all are true.
TRUE_NOISE_FACTOR = 2.0
PRIOR_PARAMETERS = 2  # numbers of a prior that are learnt from a level: its centre and its width

OracleChoice: TypeAlias = Literal["adaptive", "grr-or-olh"]


@dataclass(frozen=True, kw_only=True)
class Adept(Protocol):
    """Find the most frequent itemsets.

    Parameters
    ----------
    shares
        The shares of the people for the four rounds: all items, then three times the uncertain patterns.
    sizes
        The share of the people of a round for the question about the number of held candidates.
    oracle
        The oracle of candidates: the best oracle for sets, or one item of the basket per person, as for `svim`.
    first_padding
        The padding of the first round: the padding of the least predicted error, near the typical basket, or a number.
    prior
        Whether estimates are shrunk to a prior that is learnt from all estimates. If not, they are used unchanged, and
        the frequency of a pattern that was not asked for is guessed from its parts.
    later
        The patterns of later rounds: the patterns that are uncertain to be in the top, or four times `top` likeliest
        ones.
    merged
        Whether all rounds that asked for a pattern count, by their precision, or only the latest.
    robust
        Whether liars are considered: oracles and paddings count the influence of one report as an error, sizes have few
        bins, and no padding is longer than liars about sizes can make it.

    The defaults are the best settings; further settings measure the effect of each part.
    """

    shares: tuple[str, str, str, str] = ("0.5", "0.25", "0.15", "0.1")
    sizes: str = "0.08"
    oracle: OracleChoice = "adaptive"
    first_padding: int | Literal["predicted"] = "predicted"
    prior: bool = True
    later: Literal["uncertain", "likeliest"] = "uncertain"
    merged: bool = True
    robust: bool = True

    name: ClassVar[str] = "adept"
    across: ClassVar[bool] = True
    summary: ClassVar[str] = "the most frequent itemsets: asks again where it is uncertain what is among the top"
    citation: ClassVar[str] = "ours; oracles: Wang et al. 2018 (PrivSet), Wang et al. 2020 (wheel), Ye, Barg 2018"

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        size_share = exact(self.sizes, "sizes")
        check_parts(self.name, self.parts)
        if not Fraction(1, 1000) <= size_share <= Fraction(1, 2):
            raise MisuseError(f"sizes is from 0.001 to 0.5 of each round; {self.sizes} was given.")
        check_padding(self.first_padding, size_share, "first_padding")
        # Oracles are made here once, so that no answer leads to an oracle that is refused.
        for candidate_count, pad in ((goal.items, self.first_paddings(goal.items)[0]), (MAX_CANDIDATES, 1)):
            make_oracle(self.oracle, goal.epsilon, candidate_count, pad, 0.0)

    def first_paddings(self, item_count: int) -> tuple[int, ...]:
        """Return the paddings to compare for the first round; no person holds more than all items."""
        return (min(self.first_padding, item_count),) if isinstance(self.first_padding, int) else PADDINGS

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        return (yield from self.find_patterns(CandidateList(items=goal.items), goal, Partition(), Fraction(1)))

    def find_patterns(
        self, candidates: CandidateList, goal: StudyGoal, line: Partition, scale: Fraction
    ) -> RoundGenerator:
        """Ask a share of the people, `scale`, for the most frequent itemsets of all items below a number."""
        texts, (share, *later_shares) = candidates.texts, [part * scale for part in self.parts]
        target_frequencies, paddings = (TYPICAL_FREQUENCY, FIRST_FREQUENCY), self.first_paddings(goal.items)
        result = yield from self.ask_round(candidates, line, share, goal, target_frequencies, "items", paddings)
        beliefs = PatternBeliefs(
            result.evidence,
            result.doubt,
            result.error_share,
            top=goal.top,
            least=goal.least,
            largest=longest_pattern(goal.top, goal.least),
            prior=self.prior,
            merged=self.merged,
            lineage=goal.lineage,
        )
        facts = result.facts("items")
        for number, (share, probability) in enumerate(zip(later_shares, UNCERTAIN_TOP_PROBABILITY, strict=True), 2):
            patterns = self._select_patterns(beliefs, probability)
            target_frequencies, round_name = (beliefs.target_frequency, beliefs.target_frequency), f"patterns {number}"
            candidates, sizes = CandidateList(itemsets=tuple(patterns), texts=texts), beliefs.expected_held(patterns)
            result = yield from self.ask_round(
                candidates, line, share, goal, target_frequencies, round_name, expected_sizes=sizes
            )
            beliefs.add(patterns, result.evidence, result.doubt, result.error_share)
            facts |= result.facts(round_name)
        return build_result(beliefs, facts)

    def _select_patterns(self, beliefs: PatternBeliefs, probability: float) -> list[Itemset]:
        """Return the patterns that a later round asks for."""
        if self.later == "likeliest":
            return beliefs.most_frequent(min(LIKELIEST_PER_PATTERN * beliefs.top, MAX_CANDIDATES))
        # If no pattern is uncertain, the round asks for the top itself, for better counts.
        return beliefs.uncertain_patterns(probability, MAX_CANDIDATES, MAX_EXPECTED_SIZE) or beliefs.most_frequent(
            min(beliefs.top, MAX_CANDIDATES), MAX_EXPECTED_SIZE
        )

    def ask_round(
        self,
        candidates: CandidateList,
        line: Partition,
        share: Fraction,
        goal: StudyGoal,
        near: tuple[float, float],
        about: str,
        paddings: tuple[int, ...] = PADDINGS,
        expected_sizes: Mapping[int, float] | None = None,
    ) -> Generator[Ask, Any, RoundEstimate]:
        """Ask for the number of candidates per person, and then for the candidates.

        Parameters
        ----------
        candidates
            The candidates.
        line
            The people without a question so far.
        share
            The share of the people for both questions.
        goal
            The goal of the study.
        near
            The frequency of the last pattern of the top, and of a candidate that has to be ranked against it.
        about
            The name of the candidates, for the names of the rounds.
        paddings
            The paddings to compare.
        expected_sizes
            The expected number of candidates per person, by their length, if earlier rounds tell it.
        """
        size_share = exact(self.sizes, "sizes")
        bins = tuple(low for low in BINS if low <= len(candidates))
        bins = size_bins(len(candidates), goal.epsilon) if self.robust else bins
        sizes_answer: Estimate = yield Ask.of(
            f"how many {about}",
            line.next(share * size_share),
            SizeQuestion(candidates, bins),
            "grr" if self.robust else "adaptive",
            goal.epsilon,
        )
        typical_size = FIRST_SIZE if candidates.items else TYPICAL_SIZE
        if expected_sizes:
            typical_size = max(sum(expected_sizes.values()), MIN_EXPECTED_SIZE), LOG_SIZE_STD
        sizes = HeldSizes.fit(sizes_answer, bins, len(candidates), typical_size)
        people = max(1, round(sizes_answer.people * float((1 - size_share) / size_share)))
        liars = 0.0
        if self.robust:
            trusted_size = sizes.size_quantile(honest_share(sizes_answer.ask.frequencies))
            liars, longest = LIARS, max(MIN_LONGEST_PADDING, trusted_size)
            paddings = tuple(pad for pad in paddings if pad <= longest) or paddings[:1]
        oracle = best_oracle(
            sizes, goal.epsilon, len(candidates), people, near, paddings=paddings, oracle=self.oracle, liars=liars
        )
        answer: Estimate = yield Ask(
            name=f"which {about}",
            group=line.next(share * (1 - size_share)),
            question=CandidateQuestion(candidates),
            oracle=oracle,
        )
        return RoundEstimate.of(answer, sizes, expected_sizes or {})


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundEstimate:
    """The corrected estimates of a round, with their errors.

    Parameters
    ----------
    evidence
        The estimates.
    doubt, error_share
        The relative standard error that all estimates of the round have in common, and its share by frequency.
    pad, correction
        The padding, and the factor that restores the truncated part.
    """

    evidence: Evidence
    doubt: float
    error_share: ErrorShare
    pad: int
    correction: float

    @classmethod
    def of(cls, answer: Estimate, sizes: HeldSizes, expected_sizes: Mapping[int, float] | None = None) -> RoundEstimate:
        """Return the estimates of an answer with its truncation restored: by length, if expected sizes are known."""
        pad, zeros = answer.ask.frequencies.pad, np.zeros(len(answer.values))
        values, slope = sizes.restore_frequencies(answer.values, pad)
        slope_at_zero = sizes.restore_frequencies(zeros, pad)[1]
        ratio = sizes.ratio(answer.values, pad)
        if expected_sizes:
            candidates = asked_candidates(answer)
            lengths = np.array([len(candidates[position]) for position in range(len(candidates))])
            for length, length_sizes in sizes.by_length(expected_sizes).items():
                rows = lengths == length
                values[rows], slope[rows] = length_sizes.restore_frequencies(answer.values[rows], pad)
                slope_at_zero[rows] = length_sizes.restore_frequencies(zeros[rows], pad)[1]
                ratio[rows] = length_sizes.ratio(answer.values[rows], pad)
        noise, growth = answer.variance * slope**2, zeros
        oracle, people = answer.ask.frequencies, max(answer.people, 1)
        zero_noise = float(oracle.spread(np.zeros(1), people)[0])
        if float(answer.variance.max(initial=0.0)) > TRUE_NOISE_FACTOR * zero_noise:
            # As if each candidate had one report more: no report about a candidate does not mean that it has no holder.
            one_report = 1 / (people * float(oracle.p_held - oracle.p_other))
            noise = oracle.spread(np.maximum(answer.values, 0.0) + one_report, people) * slope**2
            noise_at_zero = oracle.spread(zeros + one_report, people) * slope_at_zero**2
            growth = (noise - noise_at_zero) / np.maximum(values, one_report)
        relative = PATTERN_ERROR**2 * np.maximum(1 - 1 / ratio, 0.0)
        correction = sizes.correction(pad)
        return cls(
            evidence=Evidence(values=values, noise=noise, relative=relative, growth=growth),
            doubt=hypot(sizes.doubt(pad), COMMON_ERROR_PART * PATTERN_ERROR * sqrt(1 - 1 / correction)),
            error_share=partial(sizes.error_share, pad),
            pad=pad,
            correction=correction,
        )

    def facts(self, about: str) -> dict[str, Any]:
        """Return the facts of the round, by name."""
        return {f"{about} padding": self.pad, f"{about} correction": self.correction}


def best_oracle(
    sizes: HeldSizes,
    epsilon: Fraction,
    candidate_count: int,
    people: int,
    near: tuple[float, float],
    *,
    paddings: tuple[int, ...] = PADDINGS,
    oracle: OracleChoice = "adaptive",
    liars: float = 0.0,
) -> Oracle:
    """Return the oracle and padding with the least predicted error of a candidate.

    Parameters
    ----------
    sizes
        The law of the number of candidates per person.
    epsilon
        The epsilon of a report.
    candidate_count, people
        The number of candidates, and the number of people.
    near
        The frequency of the last pattern of the top, and of a candidate that has to be ranked against it.
    paddings, oracle
        The paddings, and the kind of oracle, to choose from.
    liars
        The share of liars: the influence of their reports counts as an error.
    """
    last, frequency = near
    choices: list[tuple[float, int, Oracle]] = []
    for pad in (pad for pad in paddings if pad <= candidate_count):
        ratio = sizes.ratio_at(last, pad)
        try:
            choice = make_oracle(oracle, epsilon, candidate_count, pad, frequency / ratio, people, liars)
        except MisuseError:
            break  # the oracle has no room for this padding, nor for a longer one
        noise = ratio**2 * error(choice, frequency / ratio, people, liars)
        choices.append((noise + (TRUNCATION_ERROR * last * (1 - 1 / ratio)) ** 2, pad, choice))
    return min(choices, key=lambda choice: choice[:2])[2]


def make_oracle(
    oracle: OracleChoice,
    epsilon: Fraction,
    candidate_count: int,
    pad: int,
    frequency: float,
    people: int = 1,
    liars: float = 0.0,
) -> Oracle:
    """Return the best oracle of a kind for a candidate of some frequency, among people with a share of liars."""
    if oracle == "grr-or-olh":
        return grr_or_olh(epsilon, candidate_count, pad=pad)
    return adaptive(epsilon, candidate_count, pad=pad, frequency=frequency, people=people, liars=liars)


def build_result(beliefs: PatternBeliefs, facts: dict[str, Any]) -> ProtocolResult:
    """Return all patterns with a belief as the result of the study."""
    patterns = [pattern for level in beliefs.levels for pattern in level.sets]
    values = np.concatenate([level.means for level in beliefs.levels])
    variance = np.concatenate(_level_variances(beliefs)) + (beliefs.doubt * beliefs.error_share(values) * values) ** 2
    variance += DENSE_ERROR**2 * np.clip(values, 0.0, 1.0) ** 3
    return ProtocolResult.ranked(patterns, values, variance, facts)


def _level_variances(beliefs: PatternBeliefs) -> list[Values]:
    """Return the variances of every level, with the variance of its prior, which is learnt from the level too.

    All evidence about a level tells the centre of its prior, and a pattern is shrunk to it as far as its own reports
    are noisy. With thousands of candidates the variance of the centre is negligible; with two items and ten people it
    dominates. The excess of frequent items has an equal error, relative to the mean frequency of items.
    """
    prior_variance, variances = UNKNOWN_VARIANCE, []
    for length, level in enumerate(beliefs.levels, 1):
        if length == 1:
            items = np.array([item for (item,) in level.sets], np.int64)
            noise, precision = beliefs.items.noise[beliefs.item_positions(items)], beliefs.precision_of_items
        else:
            noise = beliefs.table.evidence_of(level.sets).noise
            precision = float((1 / noise).sum())
        prior_variance = min(UNKNOWN_VARIANCE, PRIOR_PARAMETERS / precision) if precision > 0 else prior_variance
        prior_weight = 1 - np.minimum(1.0, level.belief.variance / noise)
        scale = np.maximum(1.0, level.means / beliefs.law.mean) if length == 1 and beliefs.law is not None else 1.0
        variances.append(
            level.belief.variance + prior_weight**2 * np.minimum(prior_variance * scale**2, UNKNOWN_VARIANCE)
        )
    return variances
