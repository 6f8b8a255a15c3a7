"""Measure fp-tree on real data beside svsm, and next to figures 4, 7 and 8 of Chen and Wang.

    python -m benchmarks.trees                  print the tables
    python -m benchmarks.trees --write FILE     put the tables into FILE, between its two marks

Reports are drawn with seeds 0 to 9 and added up without being made (`speed="aggregated"`), so the tables can be made
again to the digit. Patterns are of two items and more, as in the paper. Every number is a mean over the ten runs; ± is
the standard deviation over runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from statistics import mean, stdev
from typing import Any, NamedTuple

from .evidence import table
from .local import covered
from .mining import print_or_write

RUNS = 10
MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")
EPSILONS = ("0.5", "1", "2", "4")
TOPS = (50, 100)
# The weights of table 2, of paths and of itemsets; OnlineRetail_words, which table 2 lacks, uses the usual weights.
WEIGHTS: Mapping[str, tuple[str, str]] = {"BMS-POS_275k": ("0.7", "0.5"), "OnlineRetail_words": ("0.9", "0.7")}
FIGURES = "BMS-POS_275k"
OPTIMISATIONS: Mapping[str, frozenset[str]] = {
    "none": frozenset(),
    "PWC": frozenset({"PWC"}),
    "CCI": frozenset({"CCI"}),
    "NPB": frozenset({"NPB"}),
    "IWC": frozenset({"IWC"}),
    "PWC, CCI": frozenset({"PWC", "CCI"}),
    "PWC, CCI, NPB": frozenset({"PWC", "CCI", "NPB"}),
    "PWC, CCI, NPB, IWC": frozenset({"PWC", "CCI", "NPB", "IWC"}),
}


DEFAULTS = "`fp-tree`, the defaults"


class Cell(NamedTuple):
    """One protocol at one point; `plan` is one of `plans` of the data set."""

    data: str
    plan: str
    top: int
    epsilon: str


class TreeRuns(NamedTuple):
    """The results of ten runs: normalised cumulative rank, squared error, coverage of intervals, the tree's height."""

    rank: list[float]
    error: list[float]
    covered: list[float]
    height: list[int]


def tree(data: str, uses: frozenset[str], *, printed: bool) -> Any:
    """Return fp-tree with the optimisations `uses`, as printed in the paper or in the form of the errata."""
    from discreet.local.protocols import FPTree

    path_weight, itemset_weight = WEIGHTS[data]
    forms: dict[str, Any] = {"inference": "printed", "balance": "printed"} if printed else {}
    if "CCI" not in uses:
        forms["inference"] = "none"
    if "NPB" not in uses:
        forms["balance"] = "none"
    return FPTree(
        path_weight=path_weight if "PWC" in uses else "1",
        itemset_weight=itemset_weight if "IWC" in uses else "1",
        corrected=not printed,
        oracle="olh" if printed else "adaptive",
        size_oracle="olh" if printed else "adaptive",
        robust=False,
        **forms,
    )


def plans(data: str) -> Mapping[str, Any]:
    """Return everything that is run on a data set, by name."""
    from dataclasses import replace

    from discreet.local.protocols import SVSM, SVSMBetter

    best_plan = tree(data, OPTIMISATIONS["PWC, CCI, NPB, IWC"], printed=False)
    plans_by_name = {
        DEFAULTS: type(best_plan)(),
        "`svsm`": SVSM(),
        "`fp-tree`, as printed": tree(data, OPTIMISATIONS["PWC, CCI, NPB, IWC"], printed=True),
        "`fp-tree`, corrected": best_plan,
        "`fp-tree`, corrected, nothing tuned": replace(best_plan, path_weight="1", itemset_weight="shrunk"),
        "`fp-tree`, corrected, items by `svim-better`": replace(best_plan, items="svim-better"),
        "`svsm-better`": SVSMBetter(),
    }
    for name, uses in OPTIMISATIONS.items():
        plans_by_name[f"printed: {name}"] = tree(data, uses, printed=True)
        plans_by_name[f"corrected: {name}"] = tree(data, uses, printed=False)
    return plans_by_name


COMPARED = (
    "`svsm`",
    "`fp-tree`, as printed",
    "`fp-tree`, corrected",
    "`fp-tree`, corrected, nothing tuned",
    "`fp-tree`, corrected, items by `svim-better`",
    "`svsm-better`",
)


@lru_cache(maxsize=1)
def _data(name: str) -> Any:
    from discreet_lab.data.datasets import load

    return load(name)


@lru_cache(maxsize=8)
def _truth(name: str, top: int) -> Any:
    from discreet import mine

    return mine(_data(name), top=top, lengths=(2, None))


def measure(cell: Cell) -> TreeRuns:
    """Run one protocol ten times."""
    from discreet.exact import cumulative_rank, squared_error
    from discreet.local.study import simulate

    baskets, truth = _data(cell.data), _truth(cell.data, cell.top)
    plan, runs = plans(cell.data)[cell.plan], TreeRuns([], [], [], [])
    for seed in range(RUNS):
        question: dict[str, Any] = {"top": cell.top, "epsilon": cell.epsilon, "seed": seed, "least": 2}
        outcome = simulate(baskets, plan, speed="aggregated", **question)
        runs.rank.append(cumulative_rank(outcome.patterns, truth, top=cell.top))
        runs.error.append(squared_error(outcome.patterns, truth))
        if len(outcome.patterns):
            runs.covered.append(covered(baskets, outcome.patterns))
        runs.height.append(outcome.facts.get("tree height", 0))
    return runs


def rank(runs: TreeRuns) -> str:
    """Return the mean rank with its deviation."""
    return f"{mean(runs.rank):.2f} ± {stdev(runs.rank):.2f}"


def error(runs: TreeRuns) -> str:
    """Return the mean squared error of the runs that found anything."""
    hit = [error_value for error_value in runs.error if error_value == error_value]
    return f"{mean(hit):.1e}" if hit else "–"


def format_held_share(runs: TreeRuns) -> str:
    """Return the mean share of intervals that hold the true count, of the runs that found anything."""
    return f"{mean(runs.covered):.2f}" if runs.covered else "–"


def cells() -> list[Cell]:
    """Return all cells to measure, grouped by data set, so that each process reads a data set once."""
    all_cells = []
    for data in WEIGHTS:
        all_cells += [Cell(data, plan, top, epsilon) for plan in COMPARED for top in TOPS for epsilon in EPSILONS]
        all_cells.append(Cell(data, "`fp-tree`, corrected", 64, "1"))
        all_cells += [Cell(data, DEFAULTS, 64, epsilon) for epsilon in EPSILONS]
        if data == FIGURES:
            forms = ("printed", "corrected")
            all_cells += [
                Cell(data, f"{form}: {name}", top, "1") for form in forms for name in OPTIMISATIONS for top in TOPS
            ]
    return all_cells


def tables() -> Iterator[str]:
    """Yield all tables."""
    measured_cells = cells()
    os.environ["DISCREET_THREADS"] = "1"  # cores are shared out by cells
    with ProcessPoolExecutor() as pool:
        runs_by_cell = dict(zip(measured_cells, pool.map(measure, measured_cells), strict=True))
    for data in WEIGHTS:
        yield f"### fp-tree beside svsm, {data}\n"
        points = [(top, epsilon) for top in TOPS for epsilon in EPSILONS]
        heads = [f"k = {top}, ε = {epsilon}" for top, epsilon in points]
        for measure_name, text in (
            ("NCR", rank),
            ("Var, squared error of the counts of hits", error),
            ("share of intervals that hold the true count", format_held_share),
        ):
            rows = [[plan, *(text(runs_by_cell[Cell(data, plan, *point)]) for point in points)] for plan in COMPARED]
            yield from table([measure_name, *heads], rows)
        heights = [f"{mean(runs_by_cell[Cell(data, '`fp-tree`, corrected', *point)].height):.1f}" for point in points]
        yield from table(["height of the corrected tree, mean", *heads], [["", *heights]])
    yield f"### Figures 7 and 8: optimisations, {FIGURES}, ε = 1\n"
    heads = [
        f"{form}, k = {top}: {measure_name}"
        for form in ("printed", "corrected")
        for top in TOPS
        for measure_name in ("NCR", "Var")
    ]
    rows = []
    for name in OPTIMISATIONS:
        row = [name]
        for form in ("printed", "corrected"):
            for top in TOPS:
                runs = runs_by_cell[Cell(FIGURES, f"{form}: {name}", top, "1")]
                row += [rank(runs), error(runs)]
        rows.append(row)
    yield from table(["optimisations", *heads], rows)
    yield "### The corrected form at k = 64, ε = 1\n"
    rows = [[data, rank(runs_by_cell[Cell(data, "`fp-tree`, corrected", 64, "1")])] for data in WEIGHTS]
    yield from table(["data", "NCR"], rows)
    yield "### The default settings at k = 64\n"
    for measure_name, text in (("NCR", rank), ("share of intervals that hold the true count", format_held_share)):
        rows = [
            [data, *(text(runs_by_cell[Cell(data, DEFAULTS, 64, epsilon)]) for epsilon in EPSILONS)] for data in WEIGHTS
        ]
        yield from table([measure_name, *(f"ε = {epsilon}" for epsilon in EPSILONS)], rows)


if __name__ == "__main__":
    print_or_write(tables, MARKS)
