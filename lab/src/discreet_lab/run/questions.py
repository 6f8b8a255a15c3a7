"""Questions as points of an axis: one line of text that can be typed and parsed.

`top=10 lengths=2 epsilon=0.5 delta=1e-6` is a top ten of pairs. `over=100 epsilon=1` asks for all patterns over a
threshold: the count of the hundredth most frequent one, so that a threshold has one meaning on every data set.
Both are for a curator. `top=64 least=2 epsilon=1` is for devices: the top 64 of two items and more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from discreet.errors import MisuseError

TOPS = (5, 10, 20, 50, 100, 200, 400)
OVERS = (20, 100, 400)
LENGTHS = (None, 1, 2, 3)
EPSILONS = ("0.1", "0.5", "1", "2")
DELTAS = ("0", "1e-6")
SIMULATED_TOPS = (8, 16, 32, 64, 128)
LEASTS = (1, 2)
SIMULATED_EPSILONS = ("0.5", "1", "2", "4")


@dataclass(frozen=True, kw_only=True)
class ReleaseQuestion:
    """A question to a mechanism of the curator.

    Parameters
    ----------
    top, over
        The number of patterns; or all patterns with at least the count of the pattern of this rank. One of the two.
    lengths
        The number of items of a pattern; None for any number.
    epsilon, delta
        The budget, as text.
    """

    top: int | None = None
    over: int | None = None
    lengths: int | None = None
    epsilon: str
    delta: str = "0"

    @classmethod
    def parse(cls, text: str) -> ReleaseQuestion:
        """Return the question of a text."""
        try:
            words = dict(word.split("=") for word in text.split())
            numbers = {name: int(words.pop(name)) for name in ("top", "over", "lengths") if name in words}
            question = cls(**numbers, **words)  # type: ignore[arg-type]
            is_valid = min(numbers.values(), default=1) > 0 and (question.top is None) != (question.over is None)
            if is_valid and Fraction(question.epsilon) > 0 and Fraction(question.delta) >= 0:
                return question
        except (ValueError, TypeError, ZeroDivisionError):
            pass
        raise MisuseError(
            "A question is written like top=10 lengths=2 epsilon=0.5 delta=1e-6, or with over=100 in the place of top: "
            f"all patterns as frequent as that of rank 100. lengths and delta may be left out; {text!r} was given."
        )

    @property
    def target(self) -> str:
        """The requested patterns without their lengths: a top, or all over a threshold."""
        return f"top={self.top}" if self.top is not None else f"over={self.over}"

    def __str__(self) -> str:
        lengths = "" if self.lengths is None else f" lengths={self.lengths}"
        delta = "" if self.delta == "0" else f" delta={self.delta}"
        return f"{self.target}{lengths} epsilon={self.epsilon}{delta}"


@dataclass(frozen=True, kw_only=True)
class SimulationQuestion:
    """A question to a local protocol.

    Parameters
    ----------
    top, least
        The number of patterns, and their least number of items.
    epsilon
        The epsilon of one report, as text.
    """

    top: int
    least: int = 1
    epsilon: str

    @classmethod
    def parse(cls, text: str) -> SimulationQuestion:
        """Return the question of a text."""
        try:
            words = dict(word.split("=") for word in text.split())
            numbers = {name: int(words.pop(name)) for name in ("top", "least") if name in words}
            question = cls(**numbers, **words)  # type: ignore[arg-type]
            if question.top > 0 and question.least in LEASTS and Fraction(question.epsilon) > 0:
                return question
        except (ValueError, TypeError, ZeroDivisionError):
            pass
        raise MisuseError(
            "A question to devices is written like top=64 least=2 epsilon=1, where least is 1 or 2 and may be left "
            f"out; {text!r} was given."
        )

    @property
    def over(self) -> None:
        """None: devices answer for a top, and not for all patterns over a threshold."""
        return

    @property
    def lengths(self) -> tuple[int, None] | None:
        """The least and the largest length; None for any length."""
        return (self.least, None) if self.least > 1 else None

    @property
    def target(self) -> str:
        """The requested patterns: a top."""
        return f"top={self.top}"

    def __str__(self) -> str:
        least_text = "" if self.least == 1 else f" least={self.least}"
        return f"{self.target}{least_text} epsilon={self.epsilon}"


def list_simulations() -> tuple[str, ...]:
    """Return the whole grid of questions to devices.

    Examples
    --------
    >>> len(list_simulations())
    40
    """
    return tuple(
        str(SimulationQuestion(top=top, least=min_length, epsilon=epsilon))
        for top, min_length, epsilon in product(SIMULATED_TOPS, LEASTS, SIMULATED_EPSILONS)
    )


def select_simulations(turn: int) -> tuple[str, ...]:
    """Return a quarter of the grid, in which every top and every epsilon occur with both lengths.

    Two adjacent turns have every top with every epsilon; four turns are the whole grid.

    Examples
    --------
    >>> select_simulations(0)[:3]
    ('top=8 epsilon=0.5', 'top=8 least=2 epsilon=2', 'top=16 epsilon=1')
    """
    return tuple(
        str(
            SimulationQuestion(
                top=top, least=min_length, epsilon=SIMULATED_EPSILONS[(top_place + 2 * length_place + turn) % 4]
            )
        )
        for top_place, top in enumerate(SIMULATED_TOPS)
        for length_place, min_length in enumerate(LEASTS)
    )


def list_questions() -> tuple[str, ...]:
    """Return the whole grid: all combinations of tops or thresholds, lengths, epsilons and deltas.

    Examples
    --------
    >>> len(list_questions())
    320
    """
    return tuple(
        str(ReleaseQuestion(**target, lengths=lengths, epsilon=epsilon, delta=delta))
        for target, lengths, epsilon, delta in product(_list_targets(), LENGTHS, EPSILONS, DELTAS)
    )


def select_questions(turn: int) -> tuple[str, ...]:
    """Return an eighth of the grid, in which every two levels of different parameters occur together.

    Eight turns, from 0 on, are the whole grid.

    Examples
    --------
    >>> select_questions(0)[:2]
    ('top=5 epsilon=0.1', 'top=5 lengths=1 epsilon=0.5')
    """
    questions = []
    for target_place, target in enumerate(_list_targets()):
        for length_place, lengths in enumerate(LENGTHS):
            epsilon = EPSILONS[(target_place + length_place + turn) % len(EPSILONS)]
            delta = DELTAS[(target_place + length_place // 2 + turn // len(EPSILONS)) % len(DELTAS)]
            questions.append(str(ReleaseQuestion(**target, lengths=lengths, epsilon=epsilon, delta=delta)))
    return tuple(questions)


def _list_targets() -> Iterator[dict[str, int]]:
    yield from ({"top": top} for top in TOPS)
    yield from ({"over": threshold_rank} for threshold_rank in OVERS)
