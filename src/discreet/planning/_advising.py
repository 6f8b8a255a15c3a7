"""What to take after trials: `auto`, unless another mechanism is better beyond the doubt of the runs.

Each rival is tested twice at an epsilon: does it find more than `auto`, and are its counts nearer? Both have to be by
more than a margin, as a default is not left for a trifle. The runs are paired, each test is a sign-flip test, and
Holm's method allows for all tests at that epsilon together: where nobody is better, somebody is called so in at most 5
of 100 comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import exp, log
from statistics import fmean
from typing import Literal

from ..results import AUTO, Advice, BetterMechanism, Reason, Trials
from ._regret import adjusted, p_value, ratio_of, regret_of, runs_needed

LEVEL = 0.05
"""In how many comparisons anybody is wrongly called better, at most, at one epsilon."""
MORE = 0.02
"""Who finds more has to find over so much more: two of a hundred patterns."""
NEARER = 1.2
"""Whose counts are nearer: the error of `auto` has to be over so many times as large."""
SLACK = 0.04
"""Who finds less than the best by over so much is no rival in counts: what is easy to find is easy to count."""
HOPELESS = 0.5
"""Where even the best finds a smaller share than this, everybody counts noise, and counts are not compared."""


def advise(rows: Sequence[Trials], epsilon: Fraction) -> Advice:
    """Return what to take at one epsilon.

    Parameters
    ----------
    rows
        All trials.
    epsilon
        Which of them count.
    """
    here = {row.mechanism: row for row in rows if row.epsilon == epsilon}
    most = max(here.values(), key=lambda row: (row.found.mean, -row.error.mean))
    ours = here.get(AUTO)
    many = len(most.runs)
    if ours is None:
        return Advice(
            epsilon=epsilon, recommended=most.mechanism, reason="without auto", found=most.found.mean, runs=many
        )
    rivals = [row for name, row in here.items() if name != AUTO]
    better = _better(ours, rivals)
    recommended, reason = _taken(here, better, most)
    missed = regret_of({name: [1 - run.found for run in row.runs] for name, row in here.items()}, AUTO)
    level = {name: row for name, row in here.items() if name == AUTO or row.found.mean >= most.found.mean - SLACK}
    near = nearest = None
    if most.found.mean >= HOPELESS and rivals:
        near = ratio_of({name: _errors(row) for name, row in level.items()}, AUTO)
        nearest = min(level.values(), key=lambda row: (row.error.mean, row.mechanism != AUTO))
    return Advice(
        epsilon=epsilon,
        recommended=recommended,
        reason=reason if rivals else "alone",
        chosen=ours.chosen,
        best=missed.line if rivals else None,
        regret=missed.by if rivals else None,
        doubt=missed.doubt if rivals and many > 1 else None,
        nearest=None if nearest is None else nearest.mechanism,
        ratio=None if near is None else near.by,
        ours_found=ours.found.mean,
        ours_off=ours.error.mean,
        nearest_off=None if nearest is None else nearest.error.mean,
        better=better,
        found=most.found.mean,
        runs=many,
        runs_needed=runs_needed(2 * len(rivals), LEVEL),
    )


def _errors(row: Trials) -> list[float]:
    return [run.error for run in row.runs]


def _typical(row: Trials) -> float:
    """Return the geometric mean of the errors: one bad run weighs no more than one good run."""
    return exp(fmean(map(log, _errors(row))))


def _better(ours: Trials, rivals: Sequence[Trials]) -> tuple[BetterMechanism, ...]:
    """Return who is better than `auto` beyond doubt, and in what."""
    tests: dict[tuple[str, Literal["found", "counts"]], float] = {}
    for row in rivals:
        pairs = list(zip(row.runs, ours.runs, strict=True))
        # Rounded: just the margin is not more than it, whatever binary fractions make of it.
        tests[row.mechanism, "found"] = p_value([round(one.found - other.found - MORE, 9) for one, other in pairs])
        tests[row.mechanism, "counts"] = p_value(
            [round(log(other.error / one.error / NEARER), 9) for one, other in pairs]
        )
    clear = {test: p for test, p in adjusted(tests).items() if p <= LEVEL}
    by_name = {row.mechanism: row for row in rivals}
    found = []
    for (name, what), p in clear.items():
        mine, theirs = ((row.found if what == "found" else row.error).mean for row in (ours, by_name[name]))
        found.append(BetterMechanism(mechanism=name, what=what, ours=mine, theirs=theirs, p=p))
    return tuple(found)


def _taken(here: Mapping[str, Trials], better: Sequence[BetterMechanism], most: Trials) -> tuple[str, Reason]:
    """Return what to take: who finds more, else who counts nearer and finds as much, else `auto`."""
    more = [one for one in better if one.what == "found"]
    if more:
        return max(more, key=lambda one: one.theirs).mechanism, "found"
    level = [
        one for one in better if one.what == "counts" and here[one.mechanism].found.mean >= most.found.mean - SLACK
    ]
    if level and most.found.mean >= HOPELESS:
        return min((one.mechanism for one in level), key=lambda name: _typical(here[name])), "counts"
    return AUTO, "level"
