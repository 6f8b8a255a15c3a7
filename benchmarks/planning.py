"""Forecasts beside what really comes out, on data sets that nothing of the forecast was fitted to.

    python -m benchmarks.planning                  print the table
    python -m benchmarks.planning --write FILE     put it into FILE, between its two marks

A forecast is given the number of people and items, the supports of the items and twenty typical sizes of baskets (or
only their mean), and nothing else of the data. What comes out is measured on the data with seeded noise:
`planning.trial` for a curator, `simulate` for devices, three runs each.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import mean, median
from typing import Any

from discreet.results import Itemsets

from .mining import print_or_write

MARKS = ("<!-- planning: begin -->", "<!-- planning: end -->")
# The first three were named before a forecast was written. The others came in afterwards, when it stood as it is.
DATA = ("BMS-WebView-1", "retail", "OnlineRetail_words", "BMS-WebView-2", "kosarak_100k", "BMS-POS_275k")
FIRST = 3
RUNS, TYPICAL = 3, 20
FORMS = ("{:,.0f}", "{:.2g}", "{:.0f}")
# What is asked of each: the side, the question, and who answers it.
QUESTIONS: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    ("curator", {"top": 50, "epsilon": "0.5"}, ("auto", "bases", "clipped", "exponential", "laplace", "privbasis")),
    ("curator", {"min_support": 0.01, "epsilon": "0.5"}, ("truncated", "truncated-items")),
    ("curator", {"top": 50, "epsilon": "0.5", "delta": "1e-6"}, ("peeling", "threshold")),
    ("local", {"top": 20, "epsilon": 4}, ("adept", "fp-tree", "svim", "svim-better", "svsm", "svsm-better")),
)


def compared(name: str) -> Iterator[list[str]]:
    """Yield a row for each that was forecast and measured on a data set."""
    import numpy as np

    from discreet import plan
    from discreet.registry import everything
    from discreet_lab.data.datasets import load

    baskets = load(name)
    public: dict[str, Any] = {
        "people": len(baskets),
        "items": baskets.items,
        "frequencies": baskets.item_counts / len(baskets),
    }
    typical = np.sort(baskets.sizes)[(2 * np.arange(TYPICAL) + 1) * len(baskets) // (2 * TYPICAL)].tolist()
    average = str(round(float(baskets.sizes.mean()), 3))
    for side, question, names in QUESTIONS:
        there = [one for one in names if one in everything() and not everything()[one].unproven]
        if not there:
            continue
        forecasts = [plan(**public, **question, names=there, sizes=sizes) for sizes in (typical, average)]
        for one in there:
            found = measured(baskets, side, one, question)
            numbers = [_numbers(forecast[one]) for forecast in forecasts]
            cells = [
                form.format(cell)
                for pair in zip(numbers[0], found, FORMS, strict=True)
                for cell, form in ((pair[0], pair[2]), (pair[1], pair[2]))
            ]
            worst = [max(map(factor, some, found)) for some in numbers]
            yield [name, one, _words(question), *cells, *(f"{one:.1f}" for one in worst)]


def _numbers(expected: Any) -> tuple[float, float, float]:
    return expected.interval, 100 * expected.visible, 100 * expected.precision


def factor(one: float, other: float) -> float:
    """Return by which factor two numbers differ; two that are both next to nothing do not."""
    low, high = sorted((abs(one), abs(other)))
    return 1.0 if high < 1e-9 or one == other else high / max(low, 1e-9)


def measured(baskets: Any, side: str, name: str, question: dict[str, Any]) -> tuple[float, float, float]:
    """Return the half interval, and in percent the smallest visible support and the precision, on real data."""
    from fractions import Fraction

    from discreet.planning import (
        CrowdRun,
        ForecastTask,
        ImaginedCrowd,
        estimate_visible_support,
        judge_patterns,
        mine_truth,
    )
    from discreet.privacy import Budget, Neighbours

    asked = ForecastTask(
        top=question.get("top"),
        min_support=Fraction(str(question["min_support"])) if "min_support" in question else None,
        min_length=1,
        longest=None,
        budget=Budget.of(question["epsilon"], question.get("delta", 0)),
        neighbours=Neighbours.ADD_REMOVE,
    )
    true = mine_truth(ImaginedCrowd(baskets=baskets, people=len(baskets)), asked)
    runs = []
    for seed in range(RUNS):
        found, interval = _found(baskets, side, name, question, seed)
        precision, recall, held = judge_patterns(found, _counts(baskets, found), true)
        runs.append(CrowdRun(precision=precision, recall=recall, interval=interval, found_flags=held))
    right = mean(run.precision or 0.0 for run in runs)
    return median(run.interval for run in runs), 100 * estimate_visible_support(runs, true), 100 * right


def _found(
    baskets: Any, side: str, name: str, question: dict[str, Any], seed: int
) -> tuple[list[tuple[int, ...]], float]:
    from discreet import simulate
    from discreet.planning import compute_margin, trial

    if side == "curator":
        release = trial(baskets, seed=seed, items="public", people=len(baskets), mechanism=name, **question)
        patterns = release.patterns
    else:
        patterns = simulate(baskets, name, seed=seed, speed="aggregated", **question).patterns
    codes, ends = baskets.vocabulary.codes(patterns.vocabulary.take(patterns.codes).to_pylist()), patterns.offsets
    itemsets = [tuple(sorted(codes[a:b].tolist())) for a, b in pairwise(ends)]
    return itemsets, compute_margin(patterns)


def _counts(baskets: Any, found: list[tuple[int, ...]]) -> Any:
    import numpy as np

    from discreet.exact import LocalEngine, Supports

    return LocalEngine(baskets).answer(Supports(Itemsets.of(found))) if found else np.empty(0)


def _words(question: dict[str, Any]) -> str:
    what = f"top {question['top']}" if "top" in question else f"over {question['min_support']:.0%}"
    delta = f", δ = {question['delta']}" if "delta" in question else ""
    return f"{what}, ε = {question['epsilon']}{delta}"


def tables() -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        "| data | name | question | off by | measured | visible from, % | measured | right, % | measured | factor "
        "| by the mean size |"
    )
    yield "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    said = []
    for some in (DATA[:FIRST], DATA[FIRST:]):
        worst = []
        for name in some:
            for row in compared(name):
                worst.append((float(row[-2]), float(row[-1])))
                yield f"| {' | '.join(row)} |"
        typical, average = (sum(one <= 2 for one in factors) for factors in zip(*worst, strict=True))
        said.append(
            f"{', '.join(some)}: within a factor of two in all three numbers in {typical} of {len(worst)} rows, and in "
            f"{average} where only the mean size of a basket was given."
        )
    for line in said:
        yield f"\n{line}"


if __name__ == "__main__":
    print_or_write(tables, MARKS)
