"""Regret: how much worse the default does than the best of all; and who is better than it, beyond doubt.

The best of several noisy numbers looks better than it is. So runs are halved by their seeds: one half says which
mechanism is the best, and the other half says by how much, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import fmean, stdev
from typing import TypeAlias

# By line, the numbers of its runs by seed.
Runs: TypeAlias = Mapping[str, Sequence[float]]


@dataclass(frozen=True, kw_only=True)
class Regret:
    """One number of the default beside that of the best.

    Parameters
    ----------
    ours, best
        The mean of the default and of the best mechanism over all runs.
    line
        Which one is the best: the default itself where nobody is better.
    by
        The regret: how much more the default has, with the best chosen by other runs; a ratio where numbers are ratios.
    doubt
        The standard error of the regret; of a ratio that of its logarithm.
    """

    ours: float
    best: float
    line: str
    by: float
    doubt: float


def regret_of(runs: Runs, ours: str) -> Regret:
    """Return the regret of one line: how much larger its numbers are than those of the line with the least.

    Examples
    --------
    >>> regret_of({"auto": [3.0, 3.0], "other": [1.0, 2.0]}, "auto").by
    1.5
    """
    many = len(runs[ours])
    halves = ([*range(0, many, 2)], [*range(1, many, 2)]) if many > 1 else ([0], [0])
    more = [
        runs[ours][seed] - runs[_least(runs, ours, choosing)][seed]
        for choosing, telling in (halves, halves[::-1])
        for seed in telling
    ]
    best = _least(runs, ours, range(many))
    doubt = stdev(more) / sqrt(len(more)) if many > 1 else inf
    return Regret(ours=fmean(runs[ours]), best=fmean(runs[best]), line=best, by=fmean(more), doubt=doubt)


def ratio_of(runs: Runs, ours: str) -> Regret:
    """Return the same for numbers above 0 that are compared as ratios: means are geometric."""
    found = regret_of({line: [log(number) for number in numbers] for line, numbers in runs.items()}, ours)
    return Regret(ours=exp(found.ours), best=exp(found.best), line=found.line, by=exp(found.by), doubt=found.doubt)


def _least(runs: Runs, ours: str, seeds: Iterable[int]) -> str:
    """Return the line with the least mean over some seeds; where several have it, ours."""
    some = [*seeds]
    means = {line: fmean(numbers[seed] for seed in some) for line, numbers in runs.items()}
    return min(means, key=lambda line: (means[line], line != ours))
