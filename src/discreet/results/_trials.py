"""What trials of mechanisms gave, run by run, and what follows from them for whoever has to choose one.

A trial is a release with seeded noise, measured against the truth. So nothing here is private, unless the data were
made up. The numbers are computed in `planning`; here they are held and put into words.
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
        """Return the spread of the numbers that are there; None where there are none."""
        there = [value for value in values if value is not None]
        return cls(fmean(there), stdev(there) if len(there) > 1 else 0.0) if there else None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one run gave.

    Parameters
    ----------
    found
        Which share of the true top was found; over a threshold, the F-score.
    error
        The median relative error of the counts, over the patterns that are wanted. One that is not listed counts with
        what the list says of it: no more than the last one listed, or than the threshold.
    listed, held
        How many patterns were listed, and how many of their intervals hold the true count.
    margin
        Half of the interval of a pattern in the middle; None where nothing was listed.
    seconds
        How long the release took.
    chosen
        The mechanism that did the work, where another one chose it.
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
        Which one, and what each run might spend.
    runs
        What each gave, in the order of their seeds.
    """

    mechanism: str
    epsilon: Fraction
    runs: tuple[Trial, ...]

    def __post_init__(self) -> None:
        if not self.runs:
            raise ValueError("it has a mechanism without a run")

    @property
    def found(self) -> RunSpread:
        """The share that was found."""
        return self._spread("found")

    @property
    def error(self) -> RunSpread:
        """The median relative error of counts."""
        return self._spread("error")

    @property
    def seconds(self) -> RunSpread:
        """The time of one release."""
        return self._spread("seconds")

    @property
    def margin(self) -> RunSpread | None:
        """Half of a typical interval; None where no run listed anything."""
        return RunSpread.of(run.margin for run in self.runs)

    @property
    def held(self) -> RunSpread | None:
        """The share of the intervals that hold the true count; None where there are none."""
        return RunSpread.of(run.held / run.listed if run.listed else None for run in self.runs)

    @property
    def chosen(self) -> dict[str, int]:
        """What was chosen to do the work and in how many runs, the most frequent first; nothing where nobody chose."""
        return dict(Counter(run.chosen for run in self.runs if run.chosen).most_common())

    @property
    def name(self) -> str:
        """The mechanism, with what it chose most often."""
        return f"{self.mechanism} ({next(iter(self.chosen))})" if self.chosen else self.mechanism

    def _spread(self, what: str) -> RunSpread:
        spread = RunSpread.of(getattr(run, what) for run in self.runs)
        if spread is None:
            raise AssertionError("there is a run at least")
        return spread

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "mechanism": self.mechanism,
            "epsilon": shown(self.epsilon),
            **self.numbers(),
            "chosen": self.chosen,
            "runs": [vars(run).copy() for run in self.runs],
        }

    def numbers(self) -> dict[str, float | None]:
        """Return means and deviations by name; None where there is none."""
        told: dict[str, float | None] = {}
        for name in ("found", "error", "held", "margin", "seconds"):
            spread: RunSpread | None = getattr(self, name)
            told[name], told[f"{name}_spread"] = (None, None) if spread is None else spread
        return told


@dataclass(frozen=True, kw_only=True)
class Better:
    """One that is better than `auto` beyond the doubt of the runs.

    Parameters
    ----------
    mechanism
        Which one.
    what
        ``"found"``: it finds more; ``"counts"``: its counts are nearer.
    ours, theirs
        The number of `auto` and its own: means over the runs, of the shares found or of the errors.
    p
        How likely that is by chance, adjusted for how many were tested.
    """

    mechanism: str
    what: Literal["found", "counts"]
    ours: float
    theirs: float
    p: float


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to take at one epsilon, and how far `auto` is from the best.

    Parameters
    ----------
    epsilon
        At which epsilon.
    recommended, reason
        Which mechanism to take, and why: ``"level"``: `auto`, as nobody is better beyond doubt; ``"found"`` and
        ``"counts"``: another one finds more, or counts nearer; ``"alone"``: nothing else was tried; ``"without auto"``:
        `auto` does not answer, and this one found most.
    chosen
        What `auto` chose, and in how many runs.
    best, regret, doubt
        Who found most, how much more that is than `auto` found, and the standard error of it. The best is chosen by one
        half of the runs and measured by the other, so that luck is not taken for skill. None without `auto`.
    nearest, ratio
        Whose counts are nearest of those that find about as much, on average, and how many times as large the error of
        `auto` is as the least one, by halves and as a geometric mean. None where even the best misses more than half.
    ours_found, ours_off, nearest_off
        Means over the runs, as the table has them: what `auto` finds, its error, and that of the nearest. None without
        `auto`, or without a nearest.
    better
        All that are better than `auto` beyond doubt.
    found
        The largest mean share that any of them found.
    runs, runs_needed
        How many runs there are, and how many it takes before anybody can be called better.
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
    better: tuple[Better, ...] = ()
    found: float
    runs: int
    runs_needed: int = 1

    @property
    def agrees(self) -> bool:
        """Whether `auto` takes what is recommended: it is `auto` itself, or what that chose in most runs."""
        return self.recommended == AUTO or self.recommended == next(iter(self.chosen), None)

    def lines(self) -> list[str]:
        """Return what is advised, in sentences."""
        said = [f"At epsilon {shown(self.epsilon)} take {self.recommended}: {self._why()}"]
        if self.chosen:
            took = ", ".join(f"{name} in {many:,}" for name, many in self.chosen.items())
            said.append(f"auto took {took} of {self.runs:,} runs.")
        if self.reason not in ("level", "alone", "without auto") and self.agrees:
            said.append("So the two agree; naming it saves what auto spends on choosing.")
        said += self._regret()
        if self.found < 0.5:
            said.append(
                f"None finds half of the patterns here: {percent(self.found)} at most. More epsilon or fewer patterns "
                "would help more than another mechanism."
            )
        return said

    def _why(self) -> str:
        if self.reason == "alone":
            return "it alone was tried."
        if self.reason == "without auto":
            return f"it found most, {percent(self.found)}. auto does not answer this question."
        if self.reason == "level":
            if self.runs < self.runs_needed:
                least = f"that takes {self.runs_needed:,} at least"
                return f"with {self.runs:,} runs nobody can be told to be better; {least}."
            return "none of the others is better beyond the doubt of the runs."
        one = next(one for one in self.better if (one.mechanism, one.what) == (self.recommended, self.reason))
        sure = f"beyond doubt (p = {one.p:.2g})" if one.p >= 0.001 else "beyond doubt (p < 0.001)"
        if one.what == "found":
            return f"it finds {percent(one.theirs)}, auto {percent(one.ours)}, {sure}."
        if one.theirs >= one.ours:  # on average, by a few runs that failed
            return f"its counts are nearer in a typical run, {sure}."
        return f"its counts are off by {percent(one.theirs)}, those of auto by {percent(one.ours)}, {sure}."

    def _regret(self) -> list[str]:
        """Say how far `auto` is from the best, by the means that the table has."""
        if self.regret is None or self.doubt is None or self.ours_found is None or self.ours_off is None:
            return []
        lead = f"{100 * (self.found - self.ours_found):.1f}"
        said = ["By these runs none finds more than auto."]
        if self.best != AUTO and lead != "0.0":
            # The best of several means is partly luck: chosen by other runs it leads by less, or not at all.
            again = f"{100 * self.regret:.1f} ± {100 * self.doubt:.1f}" if self.regret > 0 else "not"
            said = [f"What auto finds is behind the best by {lead} points on average ({self.best})."]
            said.append(f"Where other runs choose the best, it is {again}.")
        elif self.best != AUTO:
            said = [f"What auto finds is behind the best by less than 0.1 points on average ({self.best})."]
        if self.nearest == AUTO:
            said.append("Of those that find about as much, none has nearer counts.")
        elif self.nearest_off is not None:
            said.append(
                f"Its counts are off by {percent(self.ours_off)}, the nearest of those that find about as much by "
                f"{percent(self.nearest_off)} ({self.nearest})."
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return vars(self) | {
            "epsilon": shown(self.epsilon),
            "chosen": dict(self.chosen),
            "better": [vars(one).copy() for one in self.better],
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
