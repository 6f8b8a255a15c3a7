"""The best line, for metrics with a better direction: at each point, and over all points."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import isfinite
from statistics import fmean

from ..run.experiment import Metric
from ..run.runner import Results
from .spread import compute_mean, format_number

HIGH = frozenset({"cumulative_rank", "precision", "recall", "f_score", "chains_found"})
LOW = frozenset(
    {"false_negative_rate", "squared_error", "support_squared_error", "median_relative_error", "confidence_error"}
)
"""The metrics of which a larger value is better (HIGH), or a smaller one (LOW); further metrics have no best line."""


def list_points(results: Results) -> Iterator[tuple[str, str]]:
    """Yield each panel with each point of its axis, in rising order."""
    for panel in results.panels:
        for value in sort_values(results.values):
            yield panel, value


def sort_values(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the points of an axis in rising order, or unchanged if they are no numbers."""
    try:
        return tuple(sorted(values, key=float))
    except ValueError:
        return values


def find_best(results: Results, metric: Metric, panel: str, value: str) -> frozenset[str]:
    """Return the lines with the best mean at a point; none if all means are equal or the metric has no best."""
    means = _compute_means(results, metric, panel, value)
    if metric.name not in HIGH | LOW or len(set(means.values())) < 2:
        return frozenset()
    best_mean = max(means.values()) if metric.name in HIGH else min(means.values())
    return frozenset(line for line, mean in means.items() if mean == best_mean)


def describe_best(results: Results, metric: Metric) -> str:
    """Return a sentence: how often each line is the best, and the mean ranks; empty for a metric without a best.

    Ranks use the points with a number of each line; lines of equal mean share their ranks.
    """
    if metric.name not in HIGH | LOW:
        return ""
    compared_points = [
        (place, means) for place in list_points(results) if len(means := _compute_means(results, metric, *place)) > 1
    ]
    if not compared_points:
        return ""
    wins = [find_best(results, metric, *place) for place, _ in compared_points]
    lines = list(dict.fromkeys(line for _, means in compared_points for line in means))
    win_counts = sorted(((sum(line in won for won in wins), line) for line in lines), key=lambda win: -win[0])
    parts = [f"{line} at {count_text}" for count_text, line in win_counts if count_text]
    level = sum(not won for won in wins)
    if level:
        parts.append(f"all level at {level}")
    count_text = "1 point" if len(compared_points) == 1 else f"{len(compared_points)} points"
    direction = "more" if metric.name in HIGH else "less"
    sentence = f"Best in the mean ({direction} is better), of {count_text}: {'; '.join(parts)}."
    ranks = [_compute_ranks(means, metric) for _, means in compared_points if len(means) == len(lines)]
    if len(ranks) > 1:
        order = sorted((fmean(rank[line] for rank in ranks), place, line) for place, line in enumerate(lines))
        sentence += f" Mean rank: {'; '.join(f'{line} {rank:.1f}' for rank, _, line in order)}."
    return sentence


def describe_printed(results: Results, metric: Metric) -> str:
    """Return a sentence: the distance from the numbers printed in the paper, and the agreement in the order of lines.

    Each two lines with different printed numbers at one point are compared.
    """
    gaps, agreements = [], []
    for panel, value in list_points(results):
        means = _compute_means(results, metric, panel, value)
        printed_numbers = {line: results.experiment.printed.get((panel, line, value, metric.name)) for line in means}
        pairs_of_numbers = [(number, means[line]) for line, number in printed_numbers.items() if number is not None]
        gaps += [abs(number - mean) for number, mean in pairs_of_numbers]
        agreements += [
            (first_pair[0] < second[0]) == (first_pair[1] < second[1]) and first_pair[1] != second[1]
            for first_pair, second in combinations(pairs_of_numbers, 2)
            if first_pair[0] != second[0]
        ]
    if not gaps:
        return ""
    count = "1 printed number" if len(gaps) == 1 else f"{len(gaps)} printed numbers"
    sentence = f"Beside {count}: off by {fmean(gaps):.2g} in the mean, {max(gaps):.2g} at most."
    if agreements:
        sentence += f" In the order of the paper: {sum(agreements)} of {len(agreements)} pairs of lines."
    return sentence


def _compute_means(results: Results, metric: Metric, panel: str, value: str) -> dict[str, float]:
    """Return the mean of each line that does not use the truth, as shown."""
    means = {
        line.label: compute_mean(results.numbers(panel, line.label, value, metric.name))[0]
        for line in results.experiment.lines
        if not line.cheats
    }
    # Lines are level if their shown digits are equal.
    return {line: float(format_number(mean, metric)) for line, mean in means.items() if isfinite(mean)}


def _compute_ranks(means: dict[str, float], metric: Metric) -> dict[str, float]:
    """Return the rank of each line, from 1; lines of equal mean share the mean of their ranks."""
    sign = -1 if metric.name in HIGH else 1
    scores = {line: sign * mean for line, mean in means.items()}
    return {
        line: 1
        + sum(other_score < score for other_score in scores.values())
        + (list(scores.values()).count(score) - 1) / 2
        for line, score in scores.items()
    }
