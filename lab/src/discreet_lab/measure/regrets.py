"""Regret: the loss of the default against the best mechanism or protocol, by question and over many questions.

`discreet.planning._regret` computes the numbers: some runs choose the best mechanism, and further runs measure it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite, log, nan
from statistics import fmean, median
from typing import TypeAlias

from discreet.planning import Regret, Runs, ratio_of, regret_of

from ..run.questions import ReleaseQuestion, SimulationQuestion
from ..run.runner import Results
from . import regret, regret_devices

SLACK = 0.04
"""A mechanism that misses this much more than the default is no rival in counts: its patterns are only the easy
ones. Larger: worse lists set the standard of counts; smaller: fewer rivals, by chance alone."""
FEW_COMMON = 4
"""The least number of wanted patterns that two protocols both find in each run, for a comparison of their errors: the
median of fewer errors is mostly chance."""
DEFAULTS = {"regret": regret.DEFAULT, "regret-devices": regret_devices.DEFAULT}
"""The default mechanism or protocol, by the measure of an experiment."""
HOPELESS = 0.5
"""If the best mechanism misses more than this share, all lists are mostly noise, and counts are not compared."""


@dataclass(frozen=True, kw_only=True)
class RegretRow:
    """The regret of one question on one data set; None for a number that is not compared.

    Parameters
    ----------
    data, question
        The label of the data set, and the question.
    missed
        The missed share, of the top or of all patterns over a threshold; for devices, one minus the cumulative rank.
    median, high, confidence
        The median and the 90th percentile of relative errors of counts, as ratios; the mean error of the confidences of
        rules.
    common
        For devices: the median relative error on patterns that the default and another protocol both find, as a ratio.
    reference
        For devices: the missed share of the reference, one round of all people about the true top.
    held, intervals
        The number of intervals of the default that contain the true count, and the number of its intervals.
    """

    data: str
    question: ReleaseQuestion | SimulationQuestion
    missed: Regret
    median: Regret | None = None
    high: Regret | None = None
    confidence: Regret | None = None
    common: Regret | None = None
    reference: float | None = None
    held: float
    intervals: int

    @property
    def covered(self) -> float:
        """The share of intervals that contain the true count."""
        return self.held / self.intervals if self.intervals else nan


# The numbers of a row by metric, line and seed.
Metrics: TypeAlias = Mapping[str, Mapping[str, Mapping[int, float]]]


def rows(results: Results) -> list[RegretRow]:
    """Return the regret of each question that all lines answered, in the order of the questions.

    A question with missing runs is left out: its best line is unknown.
    """
    names = {line.label: line.name for line in results.experiment.lines}
    ours = next(label for label, name in names.items() if name == DEFAULTS[results.experiment.measure])
    cheats = {line.label for line in results.experiment.lines if line.cheats}
    numbers: dict[tuple[str, str], dict[str, dict[str, dict[int, float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    for row in results.rows:
        numbers[row.panel, row.value][row.metric][row.line][row.seed] = row.number
    order = [(cell.panel, cell.value) for cell in results.experiment.cells(quick=False) if cell.line.label == ours]
    is_devices = results.experiment.measure == "regret-devices"
    rows_or_none = (
        _build_devices_row(*place, numbers[place], ours, cheats)
        if is_devices
        else _build_row(*place, numbers[place], ours)
        for place in order
        if _is_complete(numbers[place], names, ours)
    )
    return [row for row in rows_or_none if row is not None]


def _is_complete(metrics: Metrics, lines: Iterable[str], ours: str) -> bool:
    """Return whether all lines ran with all seeds of the default."""
    answers = metrics.get("answered", {})
    seeds = set(answers.get(ours, ()))
    return bool(seeds) and all(seeds <= set(answers.get(line, ())) for line in lines)


def _build_row(panel: str, value: str, metrics: Metrics, ours: str) -> RegretRow | None:
    """Return the row of a question to a curator; None if the default or all rivals gave no answer."""
    missed_runs = _select_runs(metrics, "missed", ours)
    if ours not in missed_runs or len(missed_runs) < 2:
        return None
    means = {line: fmean(numbers) for line, numbers in missed_runs.items()}
    rivals = {line for line, mean in means.items() if mean <= means[ours] + SLACK}

    def compare_counts(metric: str, compare: Callable[[Runs, str], Regret]) -> Regret | None:
        runs = {line: numbers for line, numbers in _select_runs(metrics, metric, ours).items() if line in rivals}
        return compare(runs, ours) if ours in runs and min(means.values()) <= HOPELESS else None

    right_intervals, intervals = _count_intervals(metrics, ours)
    return RegretRow(
        data=panel,
        question=ReleaseQuestion.parse(value),
        missed=regret_of(missed_runs, ours),
        median=compare_counts("median_error", ratio_of),
        high=compare_counts("high_error", ratio_of),
        confidence=compare_counts("confidence_error", regret_of),
        held=right_intervals,
        intervals=intervals,
    )


def _build_devices_row(panel: str, value: str, metrics: Metrics, ours: str, cheats: set[str]) -> RegretRow | None:
    """Return the row of a question to devices; a line that uses the truth is shown, and never a rival."""
    missed_runs = _select_runs(metrics, "missed", ours)
    reference_misses = [fmean(missed_runs.pop(line)) for line in sorted(cheats) if line in missed_runs]
    if ours not in missed_runs or len(missed_runs) < 2:
        return None
    right_intervals, intervals = _count_intervals(metrics, ours)
    return RegretRow(
        data=panel,
        question=SimulationQuestion.parse(value),
        missed=regret_of(missed_runs, ours),
        common=_compare_common(metrics, ours, [line for line in missed_runs if line != ours]),
        reference=reference_misses[0] if reference_misses else None,
        held=right_intervals,
        intervals=intervals,
    )


def _compare_common(metrics: Metrics, ours: str, rivals: Sequence[str]) -> Regret | None:
    """Return the regret in the error on common patterns, found by the default and a rival in one run.

    The common patterns differ from rival to rival, so that the ratio of the two errors is compared.
    """
    errors = [by_line for metric, by_line in metrics.items() if metric.startswith(regret_devices.ERROR)]
    seeds = sorted(metrics["missed"][ours])
    medians: dict[str, list[tuple[float, float]]] = {}
    for line in rivals:
        common_errors = [
            [
                (by_line[ours][seed], by_line[line][seed])
                for by_line in errors
                if seed in by_line[ours] and seed in by_line[line]
            ]
            for seed in seeds
        ]
        if all(len(pairs) >= FEW_COMMON for pairs in common_errors):
            medians[line] = [(median(a for a, _ in pairs), median(b for _, b in pairs)) for pairs in common_errors]
    if not medians:
        return None
    ratios = {line: [rival_error / own_error for own_error, rival_error in pairs] for line, pairs in medians.items()}
    ratio_regret = ratio_of({ours: [1.0] * len(seeds), **ratios}, ours)
    # The shown errors are of the nearest protocol.
    nearest = min(ratios, key=lambda line: fmean(log(ratio) for ratio in ratios[line]))
    own_error, rival_error = zip(*medians[nearest], strict=True)
    return replace(ratio_regret, ours=exp(fmean(map(log, own_error))), best=exp(fmean(map(log, rival_error))))


def _count_intervals(metrics: Metrics, ours: str) -> tuple[float, int]:
    """Return the number of intervals that contain the true count, and the number of intervals."""
    shares, found_counts = metrics.get("covered", {}).get(ours, {}), metrics["found"][ours]
    return sum(share * found_counts[seed] for seed, share in shares.items()), round(
        sum(found_counts[seed] for seed in shares)
    )


def _select_runs(metrics: Metrics, metric: str, ours: str) -> dict[str, list[float]]:
    """Return the numbers of the lines that have a number for each seed of the default."""
    by_line = metrics.get(metric, {})
    seeds = sorted(by_line.get(ours, {}))
    return {
        line: [numbers[seed] for seed in seeds]
        for line, numbers in by_line.items()
        if seeds and all(isfinite(numbers.get(seed, nan)) for seed in seeds)
    }


def coverages(results: Results) -> dict[str, tuple[int, float, float]]:
    """Return for each line the number of intervals, the share that is right, and the least share of a question."""
    shares: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    found_counts = {(row.key, row.seed): row.number for row in results.rows if row.metric == "found"}
    for row in results.rows:
        if row.metric == "covered":
            shares[row.line, row.panel, row.value].append((row.number, found_counts[row.key, row.seed]))
    coverage_of_line = {}
    for line in (line.label for line in results.experiment.lines):
        right_and_all = [
            (sum(share * number for share, number in pairs), sum(number for _, number in pairs))
            for place, pairs in shares.items()
            if place[0] == line
        ]
        if right_and_all:
            all_intervals = sum(number for _, number in right_and_all)
            coverage_of_line[line] = (
                round(all_intervals),
                sum(right for right, _ in right_and_all) / all_intervals,
                min(right / number for right, number in right_and_all),
            )
    return coverage_of_line
