"""Measure the curator's mechanisms on real data, next to the claims of their papers.

    python -m benchmarks.evidence                  print the tables
    python -m benchmarks.evidence patterns items   only the named tables
    python -m benchmarks.evidence --write FILE     put the tables into FILE, between its two marks

Noise is seeded (seeds 0 to 9), so the tables can be made again to the digit. Every number is a mean over ten runs; the
standard deviation over runs follows in the wide tables. The number of people and the list of items are taken for
public, as the papers do.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from math import ceil
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from .mining import write_between

RUNS = 10
MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")

Cell = tuple[str, dict[str, Any]]


@lru_cache(maxsize=1)
def _data(name: str) -> Any:
    from discreet_lab.data.datasets import load

    return load(name)


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@lru_cache(maxsize=64)
def _truth(name: str, rule_name: str, number: int, lengths: Any) -> frozenset[frozenset[Any]]:
    from discreet import mine

    return frozenset(mine(_data(name), **{rule_name: number}, lengths=lengths).to_dict())


def measure(cell: Cell) -> tuple[float, float]:
    """Return the mean and the deviation of a cell: false negatives for top-K, F-score for a threshold."""
    from discreet.exact import f_score, false_negative_rate
    from discreet.planning import trial

    name, cell_question = cell
    question = dict(cell_question)
    baskets = _data(name)
    if "fraction" in question:
        question["min_count"] = ceil(question.pop("fraction") * len(baskets))
    lengths = question.get("lengths")
    if question.get("neighbours") != "replace":
        question["people"] = len(baskets)
    if "top" in question:
        true_itemsets = _truth(name, "top", question["top"], lengths)
        score: Callable[..., float] = false_negative_rate
    else:
        true_itemsets = _truth(name, "min_count", question["min_count"], lengths)
        score = f_score
    if question.pop("as_many", False):
        # The comparison of paper 002: the competitor gets the true number of patterns, a private value (C15).
        question["top"] = len(true_itemsets)
        del question["min_count"]
    if "top" in question and not question["top"]:
        return float("nan"), 0.0
    values = [
        score(trial(baskets, seed=seed, items="public", **question).patterns, true_itemsets) for seed in range(RUNS)
    ]
    return mean(values), stdev(values)


def measure_cells(cells: list[Cell]) -> list[tuple[float, float]]:
    """Measure cells on all cores, one data set after the next."""
    with ProcessPoolExecutor() as pool:
        return list(pool.map(measure, cells, chunksize=max(1, len(cells) // 16)))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    names = list(head)
    yield "| " + " | ".join(names) + " |"
    yield "|" + "---|" * len(names)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def grid(title: str, rows: dict[str, str], columns: dict[str, dict[str, Any]], spread: bool = True) -> Iterator[str]:
    """Yield a table: a row for each data set, a column for each question."""
    cells = [(name, question) for name in rows for question in columns.values()]
    cell_values = iter(measure_cells(cells))

    def text(value: tuple[float, float]) -> str:
        middle, deviation = value
        return f"{middle:.2f} ± {deviation:.2f}" if spread else f"{middle:.2f}"

    body = [[label or name, *(text(next(cell_values)) for _ in columns)] for name, label in rows.items()]
    yield from table([title, *columns], body)


FIMI = {
    "retail": "",
    "kosarak_100k": "kosarak (first 100,000)",
    "mushroom": "",
    "chess": "",
    "connect": "",
    "T10I4D100K": "",
    "accidents_reduced": "accidents (reduced)",
}


def patterns() -> Iterator[str]:
    """004: false negatives of `exponential` and `laplace` over epsilon, K and the length."""
    # The paper's epsilon pays for choosing and counting alike; its figures have half the epsilon on the axis.
    base: dict[str, Any] = {"top": 10, "lengths": 3, "epsilon": "1.4", "mechanism": "exponential"}
    published = base | {"neighbours": "replace"}
    yield "### False negatives over epsilon (K = 10, three items), `exponential`\n"
    halves = ["0.04", "0.1", "0.3", "0.7", "2"]
    columns = {f"ε/2 = {half}": published | {"epsilon": str(2 * float(half))} for half in halves}
    yield from grid("as published: replace one person", FIMI, columns, spread=False)
    columns = {f"ε/2 = {half}": base | {"epsilon": str(2 * float(half))} for half in halves}
    yield from grid("add or remove one person (E8)", FIMI, columns, spread=False)
    yield "### `laplace` beside `exponential`, at ε/2 = 0.7, K = 10, three items\n"
    columns = {
        "exponential, replace": published,
        "laplace, replace": published | {"mechanism": "laplace"},
        "exponential, add/remove": base,
        "laplace, add/remove": base | {"mechanism": "laplace"},
    }
    yield from grid("data", FIMI, columns)
    yield "### Over K (ε/2 = 0.7, three items) and over the length (ε/2 = 0.7, K = 10), as published\n"
    columns = {f"K = {k}": published | {"top": k} for k in (10, 25, 50, 100)}
    columns |= {f"l = {length}": published | {"lengths": length} for length in (2, 4, 5)}
    yield from grid("data", FIMI, columns, spread=False)


def items() -> Iterator[str]:
    """002: F-score of single items at epsilon 0.25."""
    yield "### F-score of single items at epsilon 0.25\n"
    base: dict[str, Any] = {"epsilon": "0.25", "lengths": 1, "mechanism": "truncated-items"}
    columns = {
        "`truncated-items`": base,
        "keep ratio: none": base | {"settings": {"keep": "none"}},
        "keep ratio: the paper's": base | {"settings": {"keep": "uniform"}},
        "not truncated": base | {"settings": {"truncate": False}},
        "top-K, told K": base | {"mechanism": "exponential", "as_many": True},
    }
    thresholds = {
        "BMS-POS_275k": (0.04, 0.02, 0.01),
        "BMS-WebView-1": (0.02, 0.01, 0.005),
        "BMS-WebView-2": (0.015, 0.01, 0.005),
        "retail": (0.02, 0.01),
        "kosarak_100k": (0.02, 0.01),
    }
    yield from by_threshold(thresholds, columns)


def heuristics() -> Iterator[str]:
    """002: F-score of all itemsets at epsilon 1, each heuristic on and off."""
    yield "### F-score of all itemsets at epsilon 1, each heuristic on and off\n"
    base: dict[str, Any] = {"epsilon": 1, "mechanism": "truncated"}

    def paper(smart: bool, double: bool) -> dict[str, Any]:
        uniform = {"keep": "uniform", "keep_items": "uniform"}
        return base | {"settings": uniform | {"smart": smart, "double_standards": double}}

    columns = {
        "naive": base | {"mechanism": "truncated-naive"},
        "neither": paper(False, False),
        "smart truncating": paper(True, False),
        "double standards": paper(False, True),
        "both": paper(True, True),
        "`truncated` by default": base,
        "`privbasis`": base | {"mechanism": "privbasis"},
    }
    thresholds = {
        "BMS-POS_275k": (0.06, 0.03),
        "BMS-WebView-1": (0.02, 0.01),
        "BMS-WebView-2": (0.015, 0.01),
        "retail": (0.03, 0.015),
        "kosarak_100k": (0.04, 0.02),
        "mushroom": (0.6, 0.5),
    }
    yield from by_threshold(thresholds, columns)


def by_threshold(thresholds: dict[str, tuple[float, ...]], columns: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield a table: a row for each data set and threshold."""
    rows = [(name, fraction) for name, fractions in thresholds.items() for fraction in fractions]
    cells = [(name, question | {"fraction": fraction}) for name, fraction in rows for question in columns.values()]
    cell_values = iter(measure_cells(cells))
    body = [
        [
            name,
            f"{fraction:g}",
            *(f"{middle:.2f} ± {spread:.2f}" for middle, spread in (next(cell_values) for _ in columns)),
        ]
        for name, fraction in rows
    ]
    yield from table(["data", "threshold", *columns], body)


TABLES = {"patterns": patterns, "items": items, "heuristics": heuristics}


def main() -> None:
    """Print or write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []])
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    lines = []
    for name, make in TABLES.items():
        if args.tables and name not in args.tables:
            continue
        begun = time.perf_counter()
        lines += list(make())
        sys.stderr.write(f"{name}: {time.perf_counter() - begun:.0f} s\n")
    text = "\n".join(lines)
    if args.write is None:
        print(text)
        return
    write_between(args.write, MARKS, text)


if __name__ == "__main__":
    main()
