"""Protocols for relations, in the setting of table 3 and of experiments E1 and E3 of Dong et al. 2024.

    python -m benchmarks.relations                  print the tables
    python -m benchmarks.relations --write FILE     put the tables into FILE, between its two marks
    python -m benchmarks.relations --speed          print how long a round takes, a person

Reports are drawn with seeds from 0 on and added up without being made (`speed="aggregated"`), so the tables can be made
again to the digit. Every number is a mean over ten runs, three for the figures and for HM-RM; ± is the standard
deviation over runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from .evidence import table
from .mining import write_between

RUNS, FIGURE_RUNS, SLOW_RUNS = 10, 3, 3
MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")
ITEMS, SUPPORT, TOP = 64, 1600, 32
# What makes a relation in each data set.
DATA: Mapping[str, str] = {
    "inferred-Retail": "together",
    "inferred-Retail-star": "together",
    "made-up-applets": "given",
    "made-up-viewings": "after",
}
TABLE_3 = ("inferred-Retail", "inferred-Retail-star")
FIGURES = {"made-up-applets": "E1, figure 3", "made-up-viewings": "E3, figure 4"}
EPSILONS = ("1", "2", "4")
SLOW = ("HM-RM",)  # asks 4,096 questions at once: in table 3 only
# What table 3 prints: F1, NCR and VAR on Retail, then on Retail*.
PRINTED: Mapping[str, tuple[float, ...]] = {
    "LDP-RM": (0.558, 0.640, 0.246, 0.546, 0.654, 0.180),
    "SVSM": (0.554, 0.435, 0.317, 0.463, 0.396, 0.308),
    "CALM": (0.183, 0.195, 0.568, 0.108, 0.159, 0.461),
    "SVIM": (0.0, 0.0, 0.603, 0.0, 0.0, 0.491),
    "PCKV": (0.0, 0.0, 0.603, 0.0, 0.0, 0.491),
    "HM-RM": (0.325, 0.329, 0.414, 0.379, 0.437, 0.285),
}


class Cell(NamedTuple):
    """One protocol on one data set."""

    data: str
    plan: str
    epsilon: str


class Measured(NamedTuple):
    """What several runs gave: the measures of the paper, and the share of wanted relations among the candidates."""

    f_score: list[float]
    rank: list[float]
    error: list[float]
    kept: list[float]


def plans(how: Any) -> Mapping[str, Any]:
    """Return what is compared, by name."""
    from discreet.lab.relations import compared

    return compared(how, items=ITEMS, support=SUPPORT)


@lru_cache(maxsize=1)
def _data(name: str) -> Any:
    from discreet.lab.datasets import load

    return load(name)


@lru_cache(maxsize=4)
def _truth(name: str) -> Any:
    from discreet.exact.relating import relations

    return relations(_data(name), how=DATA[name], items=ITEMS, support=SUPPORT, top=TOP)  # type: ignore[arg-type]


def wanted_pairs(name: str) -> set[tuple[int, int]]:
    """Return the relations wanted, as numbers of items."""
    truth = _truth(name)
    return set(zip(truth.antecedents.codes.tolist(), truth.consequents.codes.tolist(), strict=True))


def lead(baskets: Any, plan: Any, epsilon: str, seed: int) -> tuple[Any, Any]:
    """Run a protocol, and return the relations it found with all rounds that were heard."""
    from fractions import Fraction

    from discreet.local.asking import Wanted, converse
    from discreet.local.outcome import as_rules
    from discreet.local.simulate import Crowd

    wanted = Wanted(items=baskets.items, top=TOP, epsilon=Fraction(epsilon))
    plan.check(wanted)
    crowd = Crowd(baskets=baskets, seed=seed, speed="aggregated")
    numbers = crowd.numbers()
    learnt, heard = converse(plan.talk(wanted), lambda ask: crowd.hear(ask, numbers), reports=plan.reports)
    assert learnt.related is not None
    return as_rules(learnt.related, baskets.vocabulary, len(baskets)), heard


def candidates(heard: Any) -> set[tuple[int, int]]:
    """Return the relations that the last round asked about one by one, both ways where they have no order."""
    from discreet.local.relations import WhichRelations

    for one in reversed(heard):
        question = one.ask.question
        if isinstance(question, WhichRelations):
            pairs = {(pair[0], pair[-1]) for pair in question.of.of}
            return pairs | ({(b, a) for a, b in pairs} if question.of.items.how == "together" else set())
    return set()


def measure(cell: Cell) -> Measured:
    """Run one protocol with several seeds."""
    from discreet.exact.metrics import score_relations

    baskets, truth, pairs = _data(cell.data), _truth(cell.data), wanted_pairs(cell.data)
    plan, runs = plans(DATA[cell.data])[cell.plan], Measured([], [], [], [])
    for seed in range(SLOW_RUNS if cell.plan in SLOW else RUNS if cell.data in TABLE_3 else FIGURE_RUNS):
        found, heard = lead(baskets, plan, cell.epsilon, seed)
        score = score_relations(found, truth)
        runs.f_score.append(score.f_score)
        runs.rank.append(score.cumulative_rank)
        runs.error.append(score.confidence_error)
        runs.kept.append(len(pairs & candidates(heard)) / max(len(pairs), 1))
    return runs


def guessed(name: str) -> float:
    """Return the share of wanted relations among those that the true supports of items make likeliest by chance."""
    import numpy as np

    counts = _data(name).item_counts.astype(float)
    order = np.argsort(-counts, kind="stable")[:ITEMS]
    chance = np.outer(counts[order], counts[order])
    np.fill_diagonal(chance, -1.0)
    best = np.argsort(-chance, axis=None, kind="stable")[:SUPPORT]
    likely = {(int(order[place // ITEMS]), int(order[place % ITEMS])) for place in best}
    pairs = wanted_pairs(name)
    return len(pairs & likely) / max(len(pairs), 1)


def spread(values: list[float]) -> str:
    """Return a mean with its deviation."""
    return f"{mean(values):.2f} ± {stdev(values):.2f}"


def tables() -> Iterator[str]:
    """Yield all tables."""
    asked = [Cell(data, plan, "4") for data in TABLE_3 for plan in plans(DATA[data])]
    asked += [
        Cell(data, plan, epsilon)
        for data in FIGURES
        for plan in plans(DATA[data])
        for epsilon in EPSILONS
        if plan not in SLOW
    ]
    os.environ["DISCREET_THREADS"] = "1"  # cores are shared out by cells
    with ProcessPoolExecutor() as pool:
        measured = dict(zip(asked, pool.map(measure, asked), strict=True))
    yield "### Table 3: association rules, ε = 4\n"
    heads = [f"{data}: {what}" for data in ("Retail", "Retail*") for what in ("F1", "NCR", "VAR")]
    rows = []
    for plan in plans("together"):
        row = [plan]
        for place, data in enumerate(TABLE_3):
            runs = measured[Cell(data, plan, "4")]
            for which, values in enumerate((runs.f_score, runs.rank, runs.error)):
                printed = f" ({PRINTED[plan][3 * place + which]:.2f})" if plan in PRINTED else ""
                row.append(spread(values) + printed)
        rows.append(row)
    yield from table(["measured (printed)", *heads], rows)
    measures: list[tuple[str, Callable[[Measured], list[float]]]] = [
        ("F1", lambda runs: runs.f_score),
        ("NCR", lambda runs: runs.rank),
        ("VAR", lambda runs: runs.error),
    ]
    for data, title in FIGURES.items():
        yield f"### {title}: {data}, a stand-in\n"
        heads = [f"{what}, ε = {epsilon}" for what, _ in measures for epsilon in EPSILONS]
        rows = []
        for plan in plans(DATA[data]):
            points = [(of, measured.get(Cell(data, plan, epsilon))) for _, of in measures for epsilon in EPSILONS]
            rows.append([plan, *("–" if runs is None else spread(of(runs)) for of, runs in points)])
        yield from table(["measured", *heads], rows)
    yield "### Wanted relations among the candidates of the last round, ε = 4\n"
    filters = ("LDP-RM", "`relations`", "SVSM", "`pairs`")
    rows = [
        ["a random filter", *[f"{min(1.0, SUPPORT / (ITEMS * (ITEMS - 1))):.2f}"] * len(DATA)],
        ["the independence guess from true supports", *(f"{guessed(data):.2f}" for data in DATA)],
        *([plan, *(spread(measured[Cell(data, plan, "4")].kept) for data in DATA)] for plan in filters),
    ]
    yield from table(["filter", *DATA], rows)


def speeds() -> Iterator[str]:
    """Yield a table of how long protocols take, all reports made one by one."""
    from discreet.lab.datasets import load
    from discreet.local.simulate import simulate

    people, rows = 500_000, []
    names = ("svsm", "fp-tree", "pairs", "relations")
    baskets = load("OnlineRetail_words", people=people)
    for name in names:
        asked: dict[str, Any] = {"top": 64 if name in ("svsm", "fp-tree") else TOP, "epsilon": 4, "seed": 1}
        simulate(baskets, name, **asked)  # compiles what is not compiled yet
        begun = time.perf_counter()
        outcome = simulate(baskets, name, **asked)
        took = time.perf_counter() - begun
        rounds = len(outcome.rounds)
        share = 1e6 * took / sum(line.people for line in outcome.rounds)
        longest = max(line.people for line in outcome.rounds)
        rows.append([name, f"{took:.2f} s", str(rounds), f"{longest:,}", f"{share:.2f} µs"])
    yield from table(["protocol", "500,000 people", "rounds", "people of the largest", "a person"], rows)


def main() -> None:
    """Print or write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    parser.add_argument("--speed", action="store_true")
    chosen = parser.parse_args()
    begun = time.perf_counter()
    text = "\n".join(speeds() if chosen.speed else tables()).rstrip()
    sys.stderr.write(f"{time.perf_counter() - begun:.0f} s\n")
    if chosen.write is None:
        print(text)
        return
    write_between(chosen.write, MARKS, text)


if __name__ == "__main__":
    main()
