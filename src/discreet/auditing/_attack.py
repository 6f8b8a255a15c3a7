"""The account of one attack on a claim: its pairs of neighbours, the largest loss, and the breach that ended it.

Every attack compares two runs at a time and stops at the first breach. This module has the loop and builds the
attempt; each attack has its questions, its pairs and its comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter

from ..errors import MisuseError
from ._engines import ENGINE_NAME
from ._steps import Differs
from ._tape import Unlikely
from ._verdict import Attempt, Means

IN_MEMORY = ("made-up baskets in memory",)


@dataclass(frozen=True, kw_only=True)
class PairTrial:
    """One comparison: the neighbours and the question, shown as text, and the comparison.

    `compare` returns the loss of the pair, in epsilon. It raises `Differs` for a breach, `Unlikely` where no comparison
    is possible, and `MisuseError` if the question is refused.
    """

    pair: object
    question: object
    compare: Callable[[], float]
    paths: tuple[str, ...] = ()


class Attack:
    """The account of one attack."""

    def __init__(self, means: Means, *, engine: str = ENGINE_NAME, paths: tuple[str, ...] = IN_MEMORY) -> None:
        self.means, self.engine, self.paths = means, engine, dict.fromkeys(paths)
        self.start_time = perf_counter()
        self.pairs, self.loss, self.breach = 0, 0.0, ""
        self.worst: tuple[object, object] | None = None
        self.refusals: list[MisuseError] = []

    def try_pairs(self, trials: Iterable[PairTrial]) -> None:
        """Make the comparisons in turn, up to the first breach."""
        # The first breach is the finding: later pairs can only repeat it.
        for trial in trials:
            try:
                loss = trial.compare()
            except MisuseError as refusal:
                # Refusals count only if nothing else was tried.
                self.refusals.append(refusal)
            except Unlikely:
                continue  # an event that is charged as delta
            except Differs as difference:
                self.add(trial.pair, trial.question, self.loss, paths=trial.paths, breach=str(difference))
                return
            else:
                self.add(trial.pair, trial.question, loss, paths=trial.paths)

    def add(
        self, pair: object, question: object, loss: float, *, paths: tuple[str, ...] = (), breach: str = ""
    ) -> None:
        """Add a comparison; a breach takes the place of the largest loss."""
        self.pairs += 1
        self.paths |= dict.fromkeys(paths)
        if breach or self.worst is None or loss > self.loss:
            self.loss, self.worst, self.breach = loss, (pair, question), breach

    def attempt(self, extent: str, *, nothing: str = "nothing: every question was refused") -> Attempt:
        """Return the attempt; without a pair it claims neither an engine nor a way of input."""
        # An attempt without a pair must not look as if an engine had run.
        pair, question = self.worst or ("", "")
        return Attempt(
            means=self.means,
            stands=not self.breach,
            loss=max(self.loss, 0.0),
            tried=extent if self.pairs else nothing,
            engine=self.engine if self.pairs else "",
            pairs=self.pairs,
            paths=tuple(self.paths) if self.pairs else (),
            pair=str(pair),
            question=str(question),
            why=self.breach,
            seconds=perf_counter() - self.start_time,
        )
