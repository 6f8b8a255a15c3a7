"""Which line is best: where a number says so, at every point and over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import isfinite
from statistics import fmean

from ..run.experiment import Metric
from ..run.runner import Results
from .spread import middle, shown

HIGH = frozenset({"cumulative_rank", "precision", "recall", "f_score", "chains_found"})
LOW = frozenset(
    {"false_negative_rate", "squared_error", "support_squared_error", "median_relative_error", "confidence_error"}
)
"""The numbers of which more, or less, is better; of all others neither is."""


def points(results: Results) -> Iterator[tuple[str, str]]:
    """Yield every panel with every point of its axis, from small to large."""
    for panel in results.panels:
        for value in ordered(results.values):
            yield panel, value


def ordered(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the points of an axis from small to large, or as they are where they are no numbers."""
    try:
        return tuple(sorted(values, key=float))
    except ValueError:
        return values


def best(results: Results, metric: Metric, panel: str, value: str) -> frozenset[str]:
    """Return the lines whose mean is the best at a point; none where all are level or nothing says which is better."""
    means = _means(results, metric, panel, value)
    if metric.name not in HIGH | LOW or len(set(means.values())) < 2:
        return frozenset()
    first = max(means.values()) if metric.name in HIGH else min(means.values())
    return frozenset(line for line, mean in means.items() if mean == first)


def sentence(results: Results, metric: Metric) -> str:
    """Return how often each line is the best, and their order over all points; empty where there is no best.

    Ranks count the points alone at which every line has a number, and lines that are level share theirs.
    """
    if metric.name not in HIGH | LOW:
        return ""
    every = [(place, means) for place in points(results) if len(means := _means(results, metric, *place)) > 1]
    if not every:
        return ""
    wins = [best(results, metric, *place) for place, _ in every]
    lines = list(dict.fromkeys(line for _, means in every for line in means))
    often = sorted(((sum(line in won for won in wins), line) for line in lines), key=lambda one: -one[0])
    told = [f"{line} at {many}" for many, line in often if many]
    level = sum(not won for won in wins)
    if level:
        told.append(f"all level at {level}")
    many = "1 point" if len(every) == 1 else f"{len(every)} points"
    said = f"Best in the mean ({'more' if metric.name in HIGH else 'less'} is better), of {many}: {'; '.join(told)}."
    ranks = [_ranks(means, metric) for _, means in every if len(means) == len(lines)]
    if len(ranks) > 1:
        order = sorted((fmean(rank[line] for rank in ranks), place, line) for place, line in enumerate(lines))
        said += f" Mean rank: {'; '.join(f'{line} {rank:.1f}' for rank, _, line in order)}."
    return said


def printed(results: Results, metric: Metric) -> str:
    """Return how far what was measured is from what the paper prints, and whether lines are in the same order there.

    Every two lines with printed numbers at the same point are compared, unless the paper has them level.
    """
    gaps, pairs = [], []
    for panel, value in points(results):
        means = _means(results, metric, panel, value)
        told = {line: results.experiment.printed.get((panel, line, value, metric.name)) for line in means}
        both = [(number, means[line]) for line, number in told.items() if number is not None]
        gaps += [abs(number - mean) for number, mean in both]
        pairs += [
            (first[0] < second[0]) == (first[1] < second[1]) and first[1] != second[1]
            for first, second in combinations(both, 2)
            if first[0] != second[0]
        ]
    if not gaps:
        return ""
    count = "1 printed number" if len(gaps) == 1 else f"{len(gaps)} printed numbers"
    said = f"Beside {count}: off by {fmean(gaps):.2g} in the mean, {max(gaps):.2g} at most."
    if pairs:
        said += f" In the order of the paper: {sum(pairs)} of {len(pairs)} pairs of lines."
    return said


def _means(results: Results, metric: Metric, panel: str, value: str) -> dict[str, float]:
    found = {
        line.label: middle(results.numbers(panel, line.label, value, metric.name))[0]
        for line in results.experiment.lines
        if not line.cheats
    }
    # What is the same in all digits that are shown is level.
    return {line: float(shown(mean, metric)) for line, mean in found.items() if isfinite(mean)}


def _ranks(means: dict[str, float], metric: Metric) -> dict[str, float]:
    sign = -1 if metric.name in HIGH else 1
    scores = {line: sign * mean for line, mean in means.items()}
    return {
        line: 1 + sum(other < score for other in scores.values()) + (list(scores.values()).count(score) - 1) / 2
        for line, score in scores.items()
    }
