"""Trials of mechanisms, run by run, and the recommendation that follows from them.

A trial is a release with seeded noise, measured against the truth. So nothing here is private, unless the data were
made up. The numbers are computed in `planning`; here they are stored and put into words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import fmean, stdev
from typing import Any, Literal, NamedTuple, TypeAlias

from ._promise import shown

Reason: TypeAlias = Literal["level", "found", "counts", "alone", "without auto"]

AUTO = "auto"


class RunSpread(NamedTuple):
    """A number over several runs: its mean, and the standard deviation from run to run."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> RunSpread | None:
        """Return the spread of the numbers that are not None; None without any."""
        # A run without patterns has no margin, and is left out of its mean.
        numbers = [value for value in values if value is not None]
        return cls(fmean(numbers), stdev(numbers) if len(numbers) > 1 else 0.0) if numbers else None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The numbers of one run.

    Parameters
    ----------
    found
        The share of the true top among the listed patterns; over a threshold, the F-score.
    error
        The median relative error of the counts of the true patterns. A pattern that is not listed counts with its upper
        bound: the smallest listed count, or the threshold.
    listed, held
        The number of listed patterns, and of their intervals that hold the true count.
    margin
        The margin of the middle pattern of the list; None for an empty list.
    seconds
        The duration of the release.
    chosen
        The mechanism that `auto` chose; "" for other mechanisms.
    """

    found: float
    error: float
    listed: int
    held: int
    margin: float | None
    seconds: float
    chosen: str = ""


@dataclass(frozen=True, kw_only=True)
class Trials:
    """The runs of one mechanism at one epsilon.

    Parameters
    ----------
    mechanism, epsilon
        The mechanism, and the budget of each run.
    runs
        The numbers of each run, in the order of their seeds.
    """

    mechanism: str
    epsilon: Fraction
    runs: tuple[Trial, ...]

    def __post_init__(self) -> None:
        if not self.runs:
            raise ValueError("it has a mechanism without a run")

    @property
    def found(self) -> RunSpread:
        """Return the share of the true patterns that were found."""
        return self._spread("found")

    @property
    def error(self) -> RunSpread:
        """Return the median relative error of counts."""
        return self._spread("error")

    @property
    def seconds(self) -> RunSpread:
        """Return the duration of one release."""
        return self._spread("seconds")

    @property
    def margin(self) -> RunSpread | None:
        """Return the typical margin; None if no run listed a pattern."""
        return RunSpread.of(run.margin for run in self.runs)

    @property
    def held(self) -> RunSpread | None:
        """Return the share of the intervals that hold the true count; None without intervals."""
        return RunSpread.of(run.held / run.listed if run.listed else None for run in self.runs)

    @property
    def chosen(self) -> dict[str, int]:
        """Return the number of runs by mechanism that `auto` chose, the most frequent first."""
        return dict(Counter(run.chosen for run in self.runs if run.chosen).most_common())

    @property
    def name(self) -> str:
        """Return the name of the mechanism, with its most frequent choice."""
        return f"{self.mechanism} ({next(iter(self.chosen))})" if self.chosen else self.mechanism

    def _spread(self, name: str) -> RunSpread:
        spread = RunSpread.of(getattr(run, name) for run in self.runs)
        if spread is None:
            raise AssertionError("there is a run at least")
        return spread

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain values."""
        return {
            "mechanism": self.mechanism,
            "epsilon": shown(self.epsilon),
            **self.numbers(),
            "chosen": self.chosen,
            "runs": [vars(run).copy() for run in self.runs],
        }

    def numbers(self) -> dict[str, float | None]:
        """Return means and deviations by name; None for numbers without a run."""
        numbers: dict[str, float | None] = {}
        for name in ("found", "error", "held", "margin", "seconds"):
            spread: RunSpread | None = getattr(self, name)
            numbers[name], numbers[f"{name}_spread"] = (None, None) if spread is None else spread
        return numbers


@dataclass(frozen=True, kw_only=True)
class BetterMechanism:
    """A mechanism that is significantly better than `auto`.

    Parameters
    ----------
    mechanism
        Its name.
    what
        ``"found"``: it finds more; ``"counts"``: its counts are nearer.
    ours, theirs
        The number of `auto` and its own number: means over the runs, of the shares found or of the errors.
    p
        The p-value of the difference, adjusted for the number of tests.
    """

    mechanism: str
    what: Literal["found", "counts"]
    ours: float
    theirs: float
    p: float


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The recommendation at one epsilon, and the distance of `auto` from the best mechanism.

    Parameters
    ----------
    epsilon
        The epsilon.
    recommended, reason
        The recommended mechanism, and the reason: ``"level"``: `auto`, as no mechanism is significantly better;
        ``"found"`` and ``"counts"``: a mechanism that finds more, or counts nearer; ``"alone"``: the only mechanism
        tried; ``"without auto"``: `auto` does not answer, and this mechanism found most.
    chosen
        The number of runs by the mechanism that `auto` chose.
    best, regret, doubt
        The mechanism that found most, its lead over `auto`, and the standard error of the lead. The best is selected by
        one half of the runs and measured by the second half, so that luck is not taken for skill. None without `auto`.
    nearest, ratio
        The mechanism with the nearest counts among mechanisms that find about as much as `auto`, and the ratio of the
        error of `auto` to its error, by halves and as a geometric mean. None if the best misses more than half.
    ours_found, ours_off, nearest_off
        Means over the runs, as in the table: the share that `auto` finds, its error, and the error of the nearest. None
        without `auto`, or without a nearest.
    better
        The mechanisms that are significantly better than `auto`.
    found
        The largest mean share of all mechanisms.
    runs, runs_needed
        The number of runs, and the least number with which a difference can be significant.
    """

    epsilon: Fraction
    recommended: str
    reason: Reason
    chosen: Mapping[str, int] = field(default_factory=dict)
    best: str | None = None
    regret: float | None = None
    doubt: float | None = None
    nearest: str | None = None
    ratio: float | None = None
    ours_found: float | None = None
    ours_off: float | None = None
    nearest_off: float | None = None
    better: tuple[BetterMechanism, ...] = ()
    found: float
    runs: int
    runs_needed: int = 1

    @property
    def agrees(self) -> bool:
        """Return whether `auto` takes the recommended mechanism: it is `auto` itself, or its choice in most runs."""
        return self.recommended == AUTO or self.recommended == next(iter(self.chosen), None)

    def lines(self) -> list[str]:
        """Return the recommendation in sentences."""
        lines = [f"At epsilon {shown(self.epsilon)} take {self.recommended}: {self._reason_text()}"]
        if self.chosen:
            took = ", ".join(f"{name} in {run_count:,}" for name, run_count in self.chosen.items())
            lines.append(f"auto took {took} of {self.runs:,} runs.")
        if self.reason not in ("level", "alone", "without auto") and self.agrees:
            lines.append("So the two agree; naming it saves what auto spends on choosing.")
        lines += self._regret_lines()
        if self.found < 0.5:
            lines.append(
                f"None finds half of the patterns here: {percent(self.found)} at most. More epsilon or fewer patterns "
                "would help more than another mechanism."
            )
        return lines

    def _reason_text(self) -> str:
        """Return the reason of the recommendation."""
        if self.reason == "alone":
            return "it alone was tried."
        if self.reason == "without auto":
            return f"it found most, {percent(self.found)}. auto does not answer this question."
        if self.reason == "level":
            if self.runs < self.runs_needed:
                minimum = f"that takes {self.runs_needed:,} at least"
                return f"with {self.runs:,} runs nobody can be told to be better; {minimum}."
            return "none of the others is better beyond the doubt of the runs."
        # The recommendation comes from a test, so its evidence is among the better mechanisms.
        entry = next(entry for entry in self.better if (entry.mechanism, entry.what) == (self.recommended, self.reason))
        evidence = f"beyond doubt (p = {entry.p:.2g})" if entry.p >= 0.001 else "beyond doubt (p < 0.001)"
        if entry.what == "found":
            return f"it finds {percent(entry.theirs)}, auto {percent(entry.ours)}, {evidence}."
        if entry.theirs >= entry.ours:  # the mean is worse by a few failed runs
            return f"its counts are nearer in a typical run, {evidence}."
        return f"its counts are off by {percent(entry.theirs)}, those of auto by {percent(entry.ours)}, {evidence}."

    def _regret_lines(self) -> list[str]:
        """Return sentences on the distance of `auto` from the best mechanism, by the means of the table."""
        if self.regret is None or self.doubt is None or self.ours_found is None or self.ours_off is None:
            return []
        # Rounded as shown: a lead of 0.0 points would be no lead to a reader.
        lead = f"{100 * (self.found - self.ours_found):.1f}"
        lines = ["By these runs none finds more than auto."]
        if self.best != AUTO and lead != "0.0":
            # The best of several means is partly luck: selected by separate runs, its lead is smaller or none.
            cross_validated = f"{100 * self.regret:.1f} ± {100 * self.doubt:.1f}" if self.regret > 0 else "not"
            lines = [f"What auto finds is behind the best by {lead} points on average ({self.best})."]
            lines.append(f"Where other runs choose the best, it is {cross_validated}.")
        elif self.best != AUTO:
            lines = [f"What auto finds is behind the best by less than 0.1 points on average ({self.best})."]
        if self.nearest == AUTO:
            lines.append("Of those that find about as much, none has nearer counts.")
        elif self.nearest_off is not None:
            lines.append(
                f"Its counts are off by {percent(self.ours_off)}, the nearest of those that find about as much by "
                f"{percent(self.nearest_off)} ({self.nearest})."
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain values."""
        # The sentences are part of the file: a reader in a different language need not compute them.
        return vars(self) | {
            "epsilon": shown(self.epsilon),
            "chosen": dict(self.chosen),
            "better": [vars(entry).copy() for entry in self.better],
            "agrees": self.agrees,
            "words": self.lines(),
        }


def percent(value: float) -> str:
    """Return a share in percent, with two digits at least.

    Examples
    --------
    >>> percent(0.94), percent(0.0123), percent(3.2)
    ('94 %', '1.2 %', '320 %')
    """
    return f"{100 * value:.{0 if value >= 0.1 or not value else 1 if value >= 0.01 else 2}f} %"
