"""Compare forecasts with measured errors, on data sets to which nothing of the forecast was fitted.

    python -m benchmarks.planning                  print the table
    python -m benchmarks.planning --write FILE     put it into FILE, between its two marks

A forecast is given the number of people and items, the supports of the items and twenty typical sizes of baskets (or
only their mean), and nothing else of the data. The measured errors come from the data with seeded noise:
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
# The first three were named before a forecast was written. Later data sets were added after the forecast was final.
DATA = ("BMS-WebView-1", "retail", "OnlineRetail_words", "BMS-WebView-2", "kosarak_100k", "BMS-POS_275k")
PUBLIC_DATA_SETS = 3
RUNS, TYPICAL_SIZES = 3, 20
FORMS = ("{:,.0f}", "{:.2g}", "{:.0f}")
# The questions: the side, the question, and the names of the mechanisms or protocols.
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
    typical_sizes = np.sort(baskets.sizes)[
        (2 * np.arange(TYPICAL_SIZES) + 1) * len(baskets) // (2 * TYPICAL_SIZES)
    ].tolist()
    average = str(round(float(baskets.sizes.mean()), 3))
    for side, question, names in QUESTIONS:
        forecast_names = [
            name_of_entry
            for name_of_entry in names
            if name_of_entry in everything() and not everything()[name_of_entry].unproven
        ]
        if not forecast_names:
            continue
        forecasts = [
            plan(**public, **question, names=forecast_names, sizes=sizes) for sizes in (typical_sizes, average)
        ]
        for name_of_entry in forecast_names:
            measured_numbers = measure_mechanism(baskets, side, name_of_entry, question)
            numbers = [_numbers(forecast[name_of_entry]) for forecast in forecasts]
            cells = [
                form.format(cell)
                for pair in zip(numbers[0], measured_numbers, FORMS, strict=True)
                for cell, form in ((pair[0], pair[2]), (pair[1], pair[2]))
            ]
            factors = [max(map(factor, forecast_numbers, measured_numbers)) for forecast_numbers in numbers]
            yield [
                name,
                name_of_entry,
                _words(question),
                *cells,
                *(f"{name_of_entry:.1f}" for name_of_entry in factors),
            ]


def _numbers(expected: Any) -> tuple[float, float, float]:
    return expected.interval, 100 * expected.visible, 100 * expected.precision


def factor(first_number: float, second_number: float) -> float:
    """Return by which factor two numbers differ; two that are both next to nothing do not."""
    low, high = sorted((abs(first_number), abs(second_number)))
    return 1.0 if high < 1e-9 or first_number == second_number else high / max(low, 1e-9)


def measure_mechanism(baskets: Any, side: str, name: str, question: dict[str, Any]) -> tuple[float, float, float]:
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

    task = ForecastTask(
        top=question.get("top"),
        min_support=Fraction(str(question["min_support"])) if "min_support" in question else None,
        min_length=1,
        longest=None,
        budget=Budget.of(question["epsilon"], question.get("delta", 0)),
        neighbours=Neighbours.ADD_REMOVE,
    )
    truth = mine_truth(ImaginedCrowd(baskets=baskets, people=len(baskets)), task)
    runs = []
    for seed in range(RUNS):
        itemsets, interval = _find_itemsets(baskets, side, name, question, seed)
        precision, recall, found_flags = judge_patterns(itemsets, _counts(baskets, itemsets), truth)
        runs.append(CrowdRun(precision=precision, recall=recall, interval=interval, found_flags=found_flags))
    right = mean(run.precision or 0.0 for run in runs)
    return median(run.interval for run in runs), 100 * estimate_visible_support(runs, truth), 100 * right


def _find_itemsets(
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


def _counts(baskets: Any, itemsets: list[tuple[int, ...]]) -> Any:
    import numpy as np

    from discreet.exact import LocalEngine, Supports

    return LocalEngine(baskets).answer(Supports(Itemsets.of(itemsets))) if itemsets else np.empty(0)


def _words(question: dict[str, Any]) -> str:
    question_text = f"top {question['top']}" if "top" in question else f"over {question['min_support']:.0%}"
    delta = f", δ = {question['delta']}" if "delta" in question else ""
    return f"{question_text}, ε = {question['epsilon']}{delta}"


def tables() -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        "| data | name | question | off by | measured | visible from, % | measured | right, % | measured | factor "
        "| by the mean size |"
    )
    yield "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    summaries = []
    for data_names in (DATA[:PUBLIC_DATA_SETS], DATA[PUBLIC_DATA_SETS:]):
        factors_seen = []
        for name in data_names:
            for row in compared(name):
                factors_seen.append((float(row[-2]), float(row[-1])))
                yield f"| {' | '.join(row)} |"
        typical_rows, average = (sum(factor <= 2 for factor in factors) for factors in zip(*factors_seen, strict=True))
        summaries.append(
            f"{', '.join(data_names)}: within a factor of two in all three numbers in {typical_rows} "
            f"of {len(factors_seen)} rows, and in {average} where only the mean size of a basket was given."
        )
    for line in summaries:
        yield f"\n{line}"


if __name__ == "__main__":
    print_or_write(tables, MARKS)
