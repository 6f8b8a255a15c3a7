"""The recommendation after trials: `auto`, unless a test shows that a rival is better.

Each rival is tested twice at an epsilon, over paired runs: does it find more patterns than `auto`, and are its counts
nearer to the truth? The difference has to exceed a margin, since a change of mechanism for a small gain is not worth
its risk. Holm's method adjusts the sign-flip tests of an epsilon: among mechanisms of equal quality, a rival is
recommended in at most 5 of 100 comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import log
from statistics import fmean
from typing import Literal

from ..results import AUTO, Advice, BetterMechanism, Reason, Trials
from ._regret import adjust_p_values, compute_p_value, count_runs_needed, ratio_of, regret_of

LEVEL = 0.05
"""The family-wise error rate of the tests at an epsilon: the usual level."""
FOUND_MARGIN = 0.02
"""The share of the patterns by which a rival has to find more: two of a hundred patterns."""
ERROR_RATIO = 1.2
"""The ratio by which the error of `auto` has to exceed the error of a rival."""
FOUND_SLACK = 0.04
"""The share of the patterns by which a rival in counts may find fewer than the best: easily found patterns are easily
counted, so that the errors of a shorter list are no comparison."""
MIN_FOUND = 0.5
"""The smallest share found by the best mechanism at which counts are compared: below, most counts are noise."""


def advise(trials: Sequence[Trials], epsilon: Fraction) -> Advice:
    """Return the recommendation at an epsilon.

    Parameters
    ----------
    trials
        The trials of all mechanisms, at all epsilons.
    epsilon
        The epsilon; the trials have rows at it.
    """
    by_name = {row.mechanism: row for row in trials if row.epsilon == epsilon}
    leader = max(by_name.values(), key=lambda row: (row.found.mean, -row.error.mean))
    # Without `auto`, no rival has a margin to exceed: the mechanism that finds most is recommended.
    ours = by_name.get(AUTO)
    run_count = len(leader.runs)
    if ours is None:
        return Advice(
            epsilon=epsilon,
            recommended=leader.mechanism,
            reason="without auto",
            found=leader.found.mean,
            runs=run_count,
        )
    rivals = [row for name, row in by_name.items() if name != AUTO]
    differences = _find_better(ours, rivals)
    comparable = {
        name: row for name, row in by_name.items() if name == AUTO or row.found.mean >= leader.found.mean - FOUND_SLACK
    }
    are_counts_compared = leader.found.mean >= MIN_FOUND
    recommended, reason = _select(differences, comparable if are_counts_compared else {})
    found_regret = regret_of({name: [1 - run.found for run in row.runs] for name, row in by_name.items()}, AUTO)
    error_ratio = nearest = None
    if are_counts_compared and rivals:
        error_ratio = ratio_of({name: _errors(row) for name, row in comparable.items()}, AUTO)
        nearest = min(comparable.values(), key=lambda row: (row.error.mean, row.mechanism != AUTO))
    return Advice(
        epsilon=epsilon,
        recommended=recommended,
        reason=reason if rivals else "alone",
        chosen=ours.chosen,
        best=found_regret.line if rivals else None,
        regret=found_regret.by if rivals else None,
        doubt=found_regret.doubt if rivals and run_count > 1 else None,
        nearest=None if nearest is None else nearest.mechanism,
        ratio=None if error_ratio is None else error_ratio.by,
        ours_found=ours.found.mean,
        ours_off=ours.error.mean,
        nearest_off=None if nearest is None else nearest.error.mean,
        better=differences,
        found=leader.found.mean,
        runs=run_count,
        runs_needed=count_runs_needed(2 * len(rivals), LEVEL),
    )


def _errors(row: Trials) -> list[float]:
    return [run.error for run in row.runs]


def _find_better(ours: Trials, rivals: Sequence[Trials]) -> tuple[BetterMechanism, ...]:
    """Return the significant differences: the mechanisms that are better than `auto`, in patterns or in counts."""
    p_values: dict[tuple[str, Literal["found", "counts"]], float] = {}
    for row in rivals:
        # Paired by run, as the sign-flip test takes one difference for each run.
        pairs = list(zip(row.runs, ours.runs, strict=True))
        # Rounded: a difference equal to the margin does not exceed it by an error of binary fractions.
        p_values[row.mechanism, "found"] = compute_p_value(
            [round(rival.found - run.found - FOUND_MARGIN, 9) for rival, run in pairs]
        )
        p_values[row.mechanism, "counts"] = compute_p_value(
            [round(log(run.error / rival.error / ERROR_RATIO), 9) for rival, run in pairs]
        )
    by_name = {row.mechanism: row for row in rivals}
    differences = []
    for (name, criterion), p in adjust_p_values(p_values).items():
        if p <= LEVEL:
            mine, theirs = ((row.found if criterion == "found" else row.error).mean for row in (ours, by_name[name]))
            differences.append(BetterMechanism(mechanism=name, what=criterion, ours=mine, theirs=theirs, p=p))
    return tuple(differences)


def _select(differences: Sequence[BetterMechanism], comparable: Mapping[str, Trials]) -> tuple[str, Reason]:
    """Return the recommended mechanism and the reason: more patterns before nearer counts, and both before `auto`.

    Parameters
    ----------
    differences
        The significant differences.
    comparable
        The mechanisms with comparable counts.
    """
    finders = [difference for difference in differences if difference.what == "found"]
    # Of several, the largest mean: a smaller p-value may only be a smaller spread.
    if finders:
        return max(finders, key=lambda difference: difference.theirs).mechanism, "found"
    counters = [
        difference.mechanism
        for difference in differences
        if difference.what == "counts" and difference.mechanism in comparable
    ]
    if counters:
        # By geometric means: a single bad run weighs no more than a single good run.
        return min(counters, key=lambda name: fmean(map(log, _errors(comparable[name])))), "counts"
    return AUTO, "level"
