"""Regret: how much worse the default does than the best of all, question by question, and over many of them.

`discreet.planning._regret` has the numbers: the best is chosen by other runs than those that say by how much.
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
"""Who misses so much more than the default is not its rival in counts: what is easy to find is easy to count."""
FEW_COMMON = 4
"""On fewer wanted patterns that two protocols both find in a run, their errors are not compared."""
DEFAULTS = {"regret": regret.DEFAULT, "regret-devices": regret_devices.DEFAULT}
"""By the measure of an experiment: whose regret it is."""
HOPELESS = 0.5
"""Where even the best misses more than this share, everybody counts noise, and counts are not compared."""


@dataclass(frozen=True, kw_only=True)
class RegretRow:
    """The regret of one question on one data set; None where a number is not compared.

    Parameters
    ----------
    data, question
        Where it is.
    missed
        What is missed: of the top or of all over a threshold; of devices what is lost of the cumulative rank.
    median, high, confidence
        The median and the 90th percentile of relative errors of counts, as ratios; the mean error of the confidences
        of rules.
    common
        Of devices: the median relative error on what the default and another protocol both find, as a ratio.
    reference
        Of devices: what is missed by one round of everybody about the true top.
    held, intervals
        How many intervals of the default hold the true count, of how many.
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
        """The share of the intervals that hold."""
        return self.held / self.intervals if self.intervals else nan


# The numbers of a row by metric, line and seed.
Metrics: TypeAlias = Mapping[str, Mapping[str, Mapping[int, float]]]


def rows(results: Results) -> list[RegretRow]:
    """Return the regret of every question that all lines were asked, in the order asked.

    Where some are still to be run, the best is not known.
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
    devices = results.experiment.measure == "regret-devices"
    found = (
        _devices_row(*place, numbers[place], ours, cheats) if devices else _row(*place, numbers[place], ours)
        for place in order
        if _complete(numbers[place], names, ours)
    )
    return [row for row in found if row is not None]


def _complete(metrics: Metrics, lines: Iterable[str], ours: str) -> bool:
    """Return whether every line was run with every seed that ours was run with."""
    asked = metrics.get("answered", {})
    seeds = set(asked.get(ours, ()))
    return bool(seeds) and all(seeds <= set(asked.get(line, ())) for line in lines)


def _row(panel: str, value: str, metrics: Metrics, ours: str) -> RegretRow | None:
    missed = _runs(metrics, "missed", ours)
    if ours not in missed or len(missed) < 2:
        return None
    means = {line: fmean(numbers) for line, numbers in missed.items()}
    rivals = {line for line, mean in means.items() if mean <= means[ours] + SLACK}

    def counted(metric: str, compare: Callable[[Runs, str], Regret]) -> Regret | None:
        runs = {line: several for line, several in _runs(metrics, metric, ours).items() if line in rivals}
        return compare(runs, ours) if ours in runs and min(means.values()) <= HOPELESS else None

    held, intervals = _intervals(metrics, ours)
    return RegretRow(
        data=panel,
        question=ReleaseQuestion.parse(value),
        missed=regret_of(missed, ours),
        median=counted("median_error", ratio_of),
        high=counted("high_error", ratio_of),
        confidence=counted("confidence_error", regret_of),
        held=held,
        intervals=intervals,
    )


def _devices_row(panel: str, value: str, metrics: Metrics, ours: str, cheats: set[str]) -> RegretRow | None:
    """Return the row of a question to devices: who cheats is shown beside it, and is nobody's rival."""
    missed = _runs(metrics, "missed", ours)
    told = [fmean(missed.pop(line)) for line in sorted(cheats) if line in missed]
    if ours not in missed or len(missed) < 2:
        return None
    held, intervals = _intervals(metrics, ours)
    return RegretRow(
        data=panel,
        question=SimulationQuestion.parse(value),
        missed=regret_of(missed, ours),
        common=_common(metrics, ours, [line for line in missed if line != ours]),
        reference=told[0] if told else None,
        held=held,
        intervals=intervals,
    )


def _common(metrics: Metrics, ours: str, others: Sequence[str]) -> Regret | None:
    """Return the error of the default beside that of others, each on the wanted patterns that both find in a run.

    These differ from protocol to protocol, so it is the ratio of either two that is compared.
    """
    errors = [by_line for metric, by_line in metrics.items() if metric.startswith(regret_devices.ERROR)]
    seeds = sorted(metrics["missed"][ours])
    medians: dict[str, list[tuple[float, float]]] = {}
    for line in others:
        both = [
            [(one[ours][seed], one[line][seed]) for one in errors if seed in one[ours] and seed in one[line]]
            for seed in seeds
        ]
        if all(len(several) >= FEW_COMMON for several in both):
            medians[line] = [(median(a for a, _ in several), median(b for _, b in several)) for several in both]
    if not medians:
        return None
    ratios = {line: [theirs / mine for mine, theirs in several] for line, several in medians.items()}
    found = ratio_of({ours: [1.0] * len(seeds), **ratios}, ours)
    # Where nobody is nearer, the nearest stands for all.
    nearest = min(ratios, key=lambda line: fmean(log(one) for one in ratios[line]))
    mine, theirs = zip(*medians[nearest], strict=True)
    return replace(found, ours=exp(fmean(map(log, mine))), best=exp(fmean(map(log, theirs))))


def _intervals(metrics: Metrics, ours: str) -> tuple[float, int]:
    """Return how many intervals hold the true count, and how many there are."""
    shares, many = metrics.get("covered", {}).get(ours, {}), metrics["found"][ours]
    return sum(share * many[seed] for seed, share in shares.items()), round(sum(many[seed] for seed in shares))


def _runs(metrics: Metrics, metric: str, ours: str) -> dict[str, list[float]]:
    """Return the numbers of the lines that have one of every seed that ours has."""
    by_line = metrics.get(metric, {})
    seeds = sorted(by_line.get(ours, {}))
    return {
        line: [numbers[seed] for seed in seeds]
        for line, numbers in by_line.items()
        if seeds and all(isfinite(numbers.get(seed, nan)) for seed in seeds)
    }


def coverages(results: Results) -> dict[str, tuple[int, float, float]]:
    """Return by line: how many intervals there are, the share that holds, and the least share in a question."""
    shares: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    many = {(row.key, row.seed): row.number for row in results.rows if row.metric == "found"}
    for row in results.rows:
        if row.metric == "covered":
            shares[row.line, row.panel, row.value].append((row.number, many[row.key, row.seed]))
    found = {}
    for line in (one.label for one in results.experiment.lines):
        held = [
            (sum(share * number for share, number in several), sum(number for _, number in several))
            for place, several in shares.items()
            if place[0] == line
        ]
        if held:
            every = sum(number for _, number in held)
            found[line] = (round(every), sum(one for one, _ in held) / every, min(one / number for one, number in held))
    return found
