"""The regret of the default against the best mechanism, and tests of whether a mechanism is better than the default.

The smallest of several noisy means is biased downwards. So runs are halved by their seeds: one half selects the best
mechanism, the other half measures the regret, and vice versa. A mechanism is called better after a
test over paired runs, with an adjustment for the number of tests.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, log, log2, sqrt
from statistics import fmean, stdev
from typing import TypeAlias, TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)

# For each line, one number per run, in the order of the seeds; a smaller number is better.
Runs: TypeAlias = Mapping[str, Sequence[float]]

# Up to 12 runs, all 2**12 = 4,096 sign vectors are enumerated. Beyond, 2**16 - 1 are drawn, which with the observed one
# make 2**16: the smallest p-value is 1.5e-5, and a p-value of 0.05 has a standard error below 0.001.
_MAX_ENUMERATED_RUNS, _SIGN_DRAWS = 12, 65_535


@dataclass(frozen=True, kw_only=True)
class Regret:
    """The regret of the default, and the means behind it.

    Parameters
    ----------
    ours, best
        The mean of the default and of the best mechanism over all runs.
    line
        The name of the best mechanism: the default itself, if no mechanism has a smaller mean.
    by
        The regret: the excess of the default over the best mechanism of the further runs; a ratio for ratios.
    doubt
        The standard error of the regret; for a ratio, of its logarithm. Infinite for a single run.
    """

    ours: float
    best: float
    line: str
    by: float
    doubt: float


def regret_of(runs: Runs, ours: str) -> Regret:
    """Return the regret of a line: the excess of its mean over the smallest mean.

    Parameters
    ----------
    runs
        The numbers of each line, a smaller number being better.
    ours
        The name of the line to measure.

    Examples
    --------
    >>> regret_of({"auto": [3.0, 3.0], "other": [1.0, 2.0]}, "auto").by
    1.5
    """
    run_count = len(runs[ours])
    # By parity: a drift over seeds meets both halves.
    halves = ([*range(0, run_count, 2)], [*range(1, run_count, 2)]) if run_count > 1 else ([0], [0])
    excesses = [
        runs[ours][seed] - runs[_select_best(runs, ours, selecting_seeds)][seed]
        for selecting_seeds, measuring_seeds in (halves, halves[::-1])
        for seed in measuring_seeds
    ]
    best_line = _select_best(runs, ours, range(run_count))
    # A single run selects and measures at once: its regret is biased, and has no standard error.
    doubt = stdev(excesses) / sqrt(len(excesses)) if run_count > 1 else inf
    return Regret(ours=fmean(runs[ours]), best=fmean(runs[best_line]), line=best_line, by=fmean(excesses), doubt=doubt)


def ratio_of(runs: Runs, ours: str) -> Regret:
    """Return the regret of a line as a ratio of geometric means, for numbers above 0."""
    regret = regret_of({line: [log(number) for number in numbers] for line, numbers in runs.items()}, ours)
    return Regret(ours=exp(regret.ours), best=exp(regret.best), line=regret.line, by=exp(regret.by), doubt=regret.doubt)


def _select_best(runs: Runs, ours: str, seeds: Iterable[int]) -> str:
    """Return the line with the smallest mean over some seeds; of several with this mean, `ours`."""
    selected_seeds = [*seeds]
    means = {line: fmean(numbers[seed] for seed in selected_seeds) for line, numbers in runs.items()}
    return min(means, key=lambda line: (means[line], line != ours))


def compute_p_value(differences: Sequence[float]) -> float:
    """Return the one-sided p-value of the sum of paired differences, by a sign-flip test.

    Under the null hypothesis, each difference is as likely to have the opposite sign. The p-value is the share of all
    sign vectors with a sum of at least the observed sum. The observed vector is counted among drawn vectors, so that
    the test keeps its level.

    Parameters
    ----------
    differences
        The difference of each pair of runs.

    Examples
    --------
    >>> compute_p_value([0.1, 0.2, 0.1, 0.3])  # 1 of 16
    0.0625
    """
    values = np.asarray(differences, np.float64)
    observed_sum = values.sum() - 1e-9 * np.abs(values).sum()  # equal sums may differ by rounding
    if len(values) <= _MAX_ENUMERATED_RUNS:
        signs = np.arange(1 << len(values))[:, None] >> np.arange(len(values)) & 1
        return float(((1 - 2 * signs) @ values >= observed_sum).mean())
    signs = np.random.default_rng(len(values)).integers(0, 2, (_SIGN_DRAWS, len(values)), np.int8)
    return float((1 + ((1.0 - 2 * signs) @ values >= observed_sum).sum()) / (1 + _SIGN_DRAWS))


def adjust_p_values(values: Mapping[Key, float]) -> dict[Key, float]:
    """Return p-values adjusted for the number of tests, for a family-wise error rate (Holm 1979).

    Examples
    --------
    >>> adjust_p_values({"one": 0.01, "two": 0.2, "three": 0.02})
    {'one': 0.03, 'three': 0.04, 'two': 0.2}
    """
    adjusted_values: dict[Key, float] = {}
    largest = 0.0
    for rank, key in enumerate(sorted(values, key=lambda key: values[key])):
        # An adjusted value never falls with a larger p-value: Holm's method stops at the first large one.
        largest = max(largest, min(1.0, (len(values) - rank) * values[key]))
        adjusted_values[key] = largest
    return adjusted_values


def count_runs_needed(test_count: int, level: float) -> int:
    """Return the smallest number of runs at which one of some tests can be significant at a level."""
    return max(1, ceil(log2(max(test_count, 1) / level)))  # the smallest p-value is 1 / 2**runs
