"""Regret: how much worse the default does than the best of all; and who is better than it, beyond doubt.

The best of several noisy numbers looks better than it is. So runs are halved by their seeds: one half says which
mechanism is the best, and the other half says by how much, and the other way round. Who is called better has passed a
test over paired runs, and how many were tested is allowed for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, log, log2, sqrt
from statistics import fmean, stdev
from typing import TypeAlias, TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)

# By line, the numbers of its runs by seed.
Runs: TypeAlias = Mapping[str, Sequence[float]]

# With so many runs or fewer all ways of giving signs are looked at; with more, so many of them are drawn.
_ALL_WAYS, _DRAWN = 12, 65_535


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


def p_value(more: Sequence[float]) -> float:
    """Return how likely differences of paired runs add up to so much by chance: a sign-flip test, one-sided.

    If nobody is better, each difference is as likely to have the other sign. So it is the share of all ways of giving
    them signs whose sum is as large as the one that was seen, or larger. With more than a few runs ways are drawn, and
    the one that was seen is counted among them, so that the test keeps its level.

    Examples
    --------
    >>> p_value([0.1, 0.2, 0.1, 0.3])  # 1 of 16
    0.0625
    """
    values = np.asarray(more, np.float64)
    seen = values.sum() - 1e-9 * np.abs(values).sum()  # what rounding makes of equal sums is no difference
    if len(values) <= _ALL_WAYS:
        ways = np.arange(1 << len(values))[:, None] >> np.arange(len(values)) & 1
        return float(((1 - 2 * ways) @ values >= seen).mean())
    ways = np.random.default_rng(len(values)).integers(0, 2, (_DRAWN, len(values)), np.int8)
    return float((1 + ((1.0 - 2 * ways) @ values >= seen).sum()) / (1 + _DRAWN))


def adjusted(values: Mapping[Key, float]) -> dict[Key, float]:
    """Return p-values adjusted for how many there are, so that any is below a level by chance no oftener (Holm 1979).

    Examples
    --------
    >>> adjusted({"one": 0.01, "two": 0.2, "three": 0.02})
    {'one': 0.03, 'three': 0.04, 'two': 0.2}
    """
    found: dict[Key, float] = {}
    largest = 0.0
    for place, key in enumerate(sorted(values, key=lambda one: values[one])):
        largest = max(largest, min(1.0, (len(values) - place) * values[key]))
        found[key] = largest
    return found


def runs_needed(tests: int, level: float) -> int:
    """Return how many runs it takes at least before one of so many tests can come out clear at a level."""
    return max(1, ceil(log2(max(tests, 1) / level)))
