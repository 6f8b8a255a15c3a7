"""Measure the local protocols on real data, next to figures 3 and 4 of Wang, Li, Jha 2018.

    python -m benchmarks.local                  print the tables
    python -m benchmarks.local --write FILE     put the tables into FILE, between its two marks

Reports are drawn with seeds 0 to 9 and added up without being made (`speed="aggregated"`), so the tables can be made
again to the digit. Every number is a mean over the ten runs; ± is the standard deviation over runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from statistics import mean, stdev
from typing import Any, NamedTuple

from .evidence import table
from .mining import print_or_write

RUNS = 10
MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")
DATA: Mapping[str, tuple[str, int | None]] = {
    "BMS-POS_275k": ("BMS-POS_275k", None),
    "BMS-POS_275k, resampled to 515,597": ("BMS-POS_275k", 515_597),
    "OnlineRetail_words": ("OnlineRetail_words", None),
}
# k = 64 over epsilon, and epsilon = 2 over k.
POINTS = [(64, "0.5"), (64, "1"), (64, "2"), (64, "4"), (16, "2"), (32, "2"), (128, "2")]


class Cell(NamedTuple):
    """One point of one figure: data, which protocols, and where."""

    data: str
    figure: int
    top: int
    epsilon: str


class ProtocolRuns(NamedTuple):
    """The results of ten runs of one protocol: normalised cumulative rank, squared error, and coverage of intervals."""

    rank: list[float]
    error: list[float]
    covered: list[float]


@lru_cache(maxsize=1)
def _data(label: str) -> Any:
    from discreet_lab.data.datasets import load

    name, people = DATA[label]
    return load(name, people=people)


@lru_cache(maxsize=16)
def _truth(label: str, top: int, longest: int | None) -> Any:
    from discreet import mine

    return mine(_data(label), top=top, lengths=(1, longest))


def protocols(figure: int) -> Mapping[str, Any]:
    """Return the protocols that a figure compares."""
    from discreet_lab.comparators.svim_ladder import FIGURE_3, FIGURE_4

    return FIGURE_3 if figure == 3 else FIGURE_4


def covered(baskets: Any, patterns: Any) -> float:
    """Return the share of patterns with the true count inside the interval."""
    import numpy as np

    from discreet.local.study import CandidateList

    edges = zip(patterns.offsets, patterns.offsets[1:], strict=False)
    candidate_list = CandidateList(itemsets=tuple(tuple(sorted(map(int, patterns.codes[a:b]))) for a, b in edges))
    held_counts = candidate_list.answers(baskets, np.arange(len(baskets)))[1]
    counts = np.bincount(held_counts, minlength=len(candidate_list))
    return float(np.mean((patterns.low - 0.5 <= counts) & (counts <= patterns.high + 0.5)))


def measure(cell: Cell) -> dict[str, ProtocolRuns]:
    """Run everything a figure compares at one point."""
    from discreet.exact import cumulative_rank, squared_error
    from discreet.local.study import simulate

    baskets = _data(cell.data)
    truth = _truth(cell.data, cell.top, 1 if cell.figure == 3 else None)
    runs_by_name = {}
    for name, plan in protocols(cell.figure).items():
        runs = ProtocolRuns([], [], [])
        for seed in range(RUNS):
            question: dict[str, Any] = {"top": cell.top, "epsilon": cell.epsilon, "seed": seed}
            patterns = simulate(baskets, plan, speed="aggregated", **question).patterns
            runs.rank.append(cumulative_rank(patterns, truth, top=cell.top))
            runs.error.append(squared_error(patterns, truth))
            if cell.top == 64:
                runs.covered.append(covered(baskets, patterns))
        runs_by_name[name] = runs
    return runs_by_name


def _rank(runs: ProtocolRuns) -> str:
    return f"{mean(runs.rank):.2f} ± {stdev(runs.rank):.2f}"


def _error(runs: ProtocolRuns) -> str:
    hit = [error for error in runs.error if error == error]
    return f"{mean(hit):.1e}" if hit else "–"


def _covered(runs: ProtocolRuns) -> str:
    return f"{mean(runs.covered):.2f}"


def tables() -> Iterator[str]:
    """Yield all tables."""
    cells = [Cell(data, figure, top, epsilon) for data in DATA for figure in (3, 4) for top, epsilon in POINTS]
    os.environ["DISCREET_THREADS"] = "1"  # cores are shared out by cells
    with ProcessPoolExecutor() as pool:
        # Cells of one data set follow directly: each process reads a data set once.
        runs_by_cell = dict(zip(cells, pool.map(measure, cells), strict=True))
    over_epsilon = [(f"ε = {epsilon}", (top, epsilon)) for top, epsilon in POINTS if top == 64]
    over_top = [(f"k = {top}", (top, epsilon)) for top, epsilon in sorted(POINTS) if epsilon == "2"]
    all_points = [*over_epsilon, *(top_point for top_point in over_top if top_point[0] != "k = 64")]
    titles = {3: "Single items: the ladder of figure 3", 4: "Itemsets: figure 4"}
    measures: list[tuple[str, Callable[[ProtocolRuns], str], Any]] = [
        ("NCR: k = 64 over ε, then ε = 2 over k", _rank, all_points),
        ("Var, squared error of the counts of hits", _error, all_points),
        ("share of intervals that hold the true count, k = 64", _covered, over_epsilon),
    ]
    for figure, title in titles.items():
        for data in DATA:
            yield f"### {title}, {data}\n"
            for measure_name, text, columns in measures:
                rows = [
                    [name, *(text(runs_by_cell[Cell(data, figure, *point)][name]) for _, point in columns)]
                    for name in protocols(figure)
                ]
                yield from table([measure_name, *(head for head, _ in columns)], rows)


if __name__ == "__main__":
    print_or_write(tables, MARKS)
