"""Prefixes: items that no list has, found symbol by symbol: frequent beginnings, and the symbols that follow them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from statistics import NormalDist
from typing import Any, ClassVar, Literal

import numpy as np

from ...errors import MisuseError
from ...privacy import exact
from .. import LARGEST, Protocol
from ..device import END, MOST_QUESTION
from ..study import (
    TYPICAL_FREQUENCY,
    Ask,
    CandidateEstimates,
    CandidateList,
    Partition,
    ProtocolResult,
    RoundGenerator,
    StudyGoal,
    TextNumbers,
    check_candidates,
    check_parts,
    check_texts,
    estimate_candidates,
    truncation_error,
)
from .adept import Adept

# The largest number of candidates of a question, if one symbol more fits: a collector adds them up in seconds.
MOST_VALUES = 1 << 21
# The standard deviations above 0 from which a beginning is continued. Smaller: rarer texts, and more noise.
STANDS_OUT = 2.0
# The probability that a result has an item without a holder.
FALSE_RATE = 0.05
# The factor of the squared truncation error that is added: with the error of the round itself, it is the square of the
# whole truncated part, which is twice the error.
TRUNCATION_FACTOR = 3.0
_ASCII = "".join(map(chr, range(32, 127)))
_BYTES = 4  # the largest size of a symbol in UTF-8


@dataclass(frozen=True, kw_only=True)
class Prefixes(Protocol):
    """Find the most frequent items if they are texts that cannot be listed, such as addresses or queries.

    Parameters
    ----------
    find
        Single items, or itemsets too: `adept` then asks for itemsets of the items that were found.
    alphabet
        The symbols of texts, each written once, or `ascii` for all printable ones. Texts with further symbols are
        ignored.
    length
        The largest number of symbols of a text; longer texts are ignored.
    shares
        The shares of the people: for finding texts, and for the estimates of found texts.
    sizes
        The share of the people of a round for the question about the number of held candidates.
    candidates
        The number of beginnings that are continued, and of texts that are estimated, per item of the top.
    oracle
        The oracle of candidates.

    Each person is asked once: different people are asked for the beginning of a text and for its continuation.
    """

    find: Literal["items", "itemsets"] = "items"
    alphabet: str = "ascii"
    length: int = 24
    shares: tuple[str, str] = ("0.75", "0.25")
    sizes: str = "0.08"
    candidates: int = 2
    oracle: str = "adaptive"

    name: ClassVar[str] = "prefixes"
    summary: ClassVar[str] = "the most frequent items where they are texts that no list has, symbol by symbol"
    citation: ClassVar[str] = "after Wang, Li, Jha 2018 (PEM); Bassily, Nissim, Stemmer, Thakurta 2017 (TreeHist)"
    unlisted: ClassVar[bool] = True
    public: ClassVar[tuple[str, ...]] = ("the alphabet", "the length of the longest text")

    @property
    def symbols(self) -> str:
        """The symbols of the alphabet."""
        return _ASCII if self.alphabet == "ascii" else self.alphabet

    def check(self, goal: StudyGoal) -> None:
        """Check the settings for a goal."""
        check_texts(self.symbols, self.length)
        check_parts(self.name, self.parts)
        if not Fraction(1, 1000) <= exact(self.sizes, "sizes") <= Fraction(1, 2):
            raise MisuseError(f"sizes is from 0.001 to 0.5 of each round; {self.sizes} was given.")
        if goal.least > 1 and self.find == "items":
            raise MisuseError("prefixes finds single items: say find=itemsets for patterns of two items or more.")
        text_count, base = self.candidates * goal.top, len(self.symbols) + 1
        # A beginning takes its bytes, an end, and the quotes and comma of JSON; half a question is left for further
        # fields.
        if text_count * base >= LARGEST or text_count * (_BYTES * (self.length + 1) + 4) > MOST_QUESTION // 2:
            raise MisuseError(
                f"{text_count:,} texts of up to {self.length:,} symbols do not fit into one question: ask for fewer "
                "patterns, or use fewer candidates, a smaller alphabet or a shorter length."
            )
        check_candidates(
            self.candidates,
            "1",
            goal.epsilon,
            size_oracle="grr",
            oracles=(self.oracle, self.oracle),
            counts=(max(max(1, text_count) * base, MOST_VALUES), max(1, text_count)),
        )

    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Lead the conversation."""
        line, (find_share, estimate_share) = Partition(), self.parts
        texts, round_count = yield from self._find_texts(goal, line, find_share)
        facts: dict[str, Any] = {"rounds of finding": round_count, "texts found": len(texts)}
        if not texts:
            empty = np.zeros(0)
            return ProtocolResult(itemsets=(), values=empty, variance=empty, facts=facts, notes=(_NO_TEXT,), texts=())
        # The unused people of finding join the last rounds.
        share = find_share + estimate_share - line.taken
        numbers = TextNumbers.whole(texts, self.symbols, self.length)
        candidates = CandidateList(items=len(texts), texts=numbers)
        if self.find == "itemsets":
            text_goal = replace(goal, items=len(texts))
            pattern_result = yield from Adept(sizes=self.sizes).find_patterns(candidates, text_goal, line, share)
            return drop_noise(replace(pattern_result, facts={**facts, **pattern_result.facts}, texts=texts))
        estimates = yield from self._estimate(candidates, line, share, goal, TYPICAL_FREQUENCY, "texts", corrected=True)
        positions = estimates.select_best(len(texts))
        values = estimates.values[positions]
        # Few people tell sizes, and noise alone makes some sizes seem large: the whole correction may be wrong.
        correction_variance = TRUNCATION_FACTOR * truncation_error(values, estimates.correction) ** 2
        return drop_noise(
            ProtocolResult(
                itemsets=tuple(candidates[position] for position in positions),
                values=values,
                variance=estimates.variance[positions] + correction_variance,
                facts={**facts, "padding": estimates.pad, "correction": estimates.correction},
                texts=texts,
            )
        )

    def _find_texts(
        self, goal: StudyGoal, line: Partition, share: Fraction
    ) -> Generator[Ask, Any, tuple[tuple[str, ...], int]]:
        """Return the most frequent whole texts, in the order of their symbols, and the number of rounds.

        The candidates of a round are a few beginnings, each followed by all symbols that can come next. Frequent
        candidates are the beginnings of the next round; ended candidates are whole texts.
        """
        text_count, frequency, known_length, round_count = self.candidates * goal.top, TYPICAL_FREQUENCY, 0, 0
        beginnings: tuple[str, ...] = ("",)
        whole_texts: dict[str, float] = {}
        while beginnings and known_length < self.length:
            step = min(self._step(len(beginnings)), self.length - known_length)
            numbers = TextNumbers(beginnings, self.symbols, step, self.length)
            candidates = CandidateList(items=len(numbers), texts=numbers)
            known_length, round_count = known_length + step, round_count + 1
            # The remaining share, divided evenly among this round and the most that can follow.
            later_rounds = ceil((self.length - known_length) / self._step(text_count))
            round_share = (share - line.taken) / (1 + later_rounds)
            round_name = f"{known_length} symbols"
            estimates = yield from self._estimate(candidates, line, round_share, goal, frequency, round_name)
            frequency = estimates.frequency_at(goal.top)
            best_texts = self._select_texts(estimates, numbers, text_count)
            is_last = known_length == self.length
            whole_texts |= {text: value for text, value in best_texts.items() if is_last or text.endswith(END)}
            beginnings = tuple(sorted(text for text in best_texts if text not in whole_texts))
        ranked_texts = sorted(whole_texts, key=lambda text: (-whole_texts[text], text))[:text_count]
        return tuple(sorted(text.removesuffix(END) for text in ranked_texts)), round_count

    def _step(self, beginning_count: int) -> int:
        """Return the number of symbols that follow a number of beginnings in one question, at least 1."""
        step, base = 1, len(self.symbols) + 1
        while beginning_count * base ** (step + 1) <= MOST_VALUES:
            step += 1
        return step

    @staticmethod
    def _select_texts(estimates: CandidateEstimates, numbers: TextNumbers, count: int) -> dict[str, float]:
        """Return the `count` most frequent texts that stand out from the noise, with their estimates."""
        values = estimates.values
        outstanding = np.flatnonzero(values > STANDS_OUT * np.sqrt(estimates.variance))
        best_texts: dict[str, float] = {}
        for number in outstanding[np.argsort(-values[outstanding], kind="stable")].tolist():
            if len(best_texts) == count:
                break
            text = numbers.text(number)
            if text is not None:  # symbols after an end are no text
                best_texts[text] = float(values[number])
        return best_texts

    def _estimate(
        self,
        candidates: CandidateList,
        line: Partition,
        share: Fraction,
        goal: StudyGoal,
        frequency: float,
        round_name: str,
        corrected: bool = False,
    ) -> Generator[Ask, Any, CandidateEstimates]:
        """Return the estimates of candidates; to rank them, no correction is needed."""
        size_share = share * exact(self.sizes, "sizes")
        return (
            yield from estimate_candidates(
                candidates,
                line,
                (size_share, share - size_share),
                goal.epsilon,
                oracles=("grr", self.oracle),
                padding="predicted",
                corrected=corrected,
                binning="bins",
                frequency=frequency,
                robust=True,
                about=round_name,
            )
        )


def drop_noise(result: ProtocolResult) -> ProtocolResult:
    """Return a result without items that may be noise: one result in twenty has an item without a holder.

    A public list has existing items only. Found texts may be noise, and a text without a holder must not be published.
    """
    if not len(result.values):
        return result
    deviations = NormalDist().inv_cdf(1 - FALSE_RATE / len(result.values))
    kept_rows = np.flatnonzero(result.values > deviations * np.sqrt(result.variance)).tolist()
    dropped = len(result.values) - len(kept_rows)
    note = f"{dropped:,} of what was asked about in the end do not stand out from the noise, and are left out."
    return replace(
        result,
        itemsets=tuple(result.itemsets[row] for row in kept_rows),
        values=result.values[kept_rows],
        variance=result.variance[kept_rows],
        notes=(*result.notes, *([note] if dropped else [])),
    )


_NO_TEXT = "No text stood out from the noise: there are too few people, or none is frequent."
