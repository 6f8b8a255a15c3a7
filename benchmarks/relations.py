"""Protocols for relations, in the setting of table 3 and of experiments E1, E3, E5 and E6 of Dong et al. 2024.

    python -m benchmarks.relations                  print the tables
    python -m benchmarks.relations --write FILE     put the tables into FILE, between its two marks
    python -m benchmarks.relations --speed          print how long a round takes, a person (or --write it)

Reports are drawn with seeds from 0 on and added up without being made (`speed="aggregated"`), so the tables can be made
again to the digit. Every number is a mean over ten runs, three for the figures, for real data and for HM-RM; ± is the
standard deviation over runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from statistics import mean, stdev
from typing import Any, NamedTuple

from .evidence import table
from .mining import print_or_write

RUNS, FIGURE_RUNS, SLOW_RUNS = 10, 3, 3
MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")
SPEED_MARKS = ("<!-- rounds: begin -->", "<!-- rounds: end -->")
ITEMS, SUPPORT, TOP = 64, 1600, 32
# The kind of relation in each data set.
DATA: Mapping[str, str] = {
    "inferred-Retail": "together",
    "inferred-Retail-star": "together",
    "made-up-applets": "given",
    "made-up-viewings": "after",
    "made-up-cascades": "given",
    "msnbc_seq": "after",
    "OnlineRetail_events": "after",
    "ml-latest-small": "after",
}
TABLE_3 = ("inferred-Retail", "inferred-Retail-star")
FIGURES = {"made-up-applets": "E1, figure 3", "made-up-viewings": "E3, figure 4"}
# Real data in time. The sets of 4,338 and of 610 people are too small for devices: they are drawn with replacement.
REAL_DATA_SETS: Mapping[str, int | None] = {
    "msnbc_seq": None,
    "OnlineRetail_events": 300_000,
    "ml-latest-small": 300_000,
}
REAL_PLANS = ("SVSM", "SVIM", "`relations`", "`pairs`")
FILTERED = (*TABLE_3, *FIGURES)
# Relations of three items too: 32 relations become items. The text does not state the k_s of E6.
CASCADES, CASCADE = "made-up-cascades", 32
SUPPORTS = (800, 1600, 3200)
EPSILONS = ("1", "2", "4")
SLOW = ("HM-RM",)  # asks 4,096 questions at once: in table 3 only
# Separate effects of the matrix and of its items: in table 3 and, without rounds, beside further filters.
WITHOUT_ROUNDS = ("LDP-RM, no rounds", "`relations`, no rounds")
SEPARATE_PLANS = (*WITHOUT_ROUNDS, "LDP-RM, items by `svim-better`", "`relations`, items by `svim`")
MEASURES = ("F1", "NCR", "VAR", "covered")
# The printed numbers of table 3: F1, NCR and VAR on Retail, then on Retail*.
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
    support: int = SUPPORT


class RelationRuns(NamedTuple):
    """The results of several runs: the measures of the paper, coverage of intervals, and recall of the filter.

    `covered` is the share of found pairs with the true confidence inside the interval. `kept_shares` has the share of
    wanted relations among the candidates; with wanted relations of three items, among the found relations.
    """

    f_score: list[float]
    rank: list[float]
    error: list[float]
    covered: list[float]
    kept_shares: list[float]


def plans(data: str, support: int = SUPPORT) -> Mapping[str, Any]:
    """Return the compared protocols of a data set, by name."""
    from discreet_lab.comparators.relation_protocols import list_protocols

    pair_kind: Any = DATA[data]
    protocols = list_protocols(pair_kind, items=ITEMS, support=support, cascade=CASCADE if data == CASCADES else 0)
    return {plan: protocols[plan] for plan in REAL_PLANS} if data in REAL_DATA_SETS else protocols


@lru_cache(maxsize=1)
def _data(name: str) -> Any:
    from discreet_lab.data.datasets import load

    return load(name, people=REAL_DATA_SETS.get(name))


@lru_cache(maxsize=4)
def _truth(name: str, support: int = SUPPORT) -> Any:
    from discreet.exact import relations

    pair_kind: Any = DATA[name]
    longest = 3 if name == CASCADES else 2
    return relations(_data(name), how=pair_kind, items=ITEMS, support=support, top=TOP, longest=longest)


def wanted_pairs(name: str) -> set[tuple[int, int]]:
    """Return the relations wanted, as numbers of items."""
    truth = _truth(name)
    return set(zip(truth.antecedents.codes.tolist(), truth.consequents.codes.tolist(), strict=True))


def lead(baskets: Any, plan: Any, epsilon: str, seed: int) -> tuple[Any, Any]:
    """Run a protocol, and return the relations it found with all rounds that were heard."""
    from fractions import Fraction

    from discreet.local.study import SimulatedPeople, StudyGoal, build_rules, converse

    parameters = StudyGoal(items=baskets.items, top=TOP, epsilon=Fraction(epsilon))
    plan.check(parameters)
    crowd = SimulatedPeople(baskets=baskets, seed=seed, speed="aggregated")
    numbers = crowd.numbers()
    outcome, estimates = converse(
        plan.ask_rounds(parameters), lambda ask: crowd.hear(ask, numbers), reports=plan.reports
    )
    assert outcome.related is not None
    return build_rules(outcome.related, baskets.vocabulary, len(baskets)), estimates


def covered(name: str, relations: Any) -> float:
    """Return the share of found pairs with the true confidence inside the interval."""
    import numpy as np

    from discreet.exact import pair_counts

    pair_kind: Any = DATA[name]
    pairs = relations.where(lengths=2)
    first_codes, second = (side.codes.astype(np.int64) for side in (pairs.antecedents, pairs.consequents))
    items = np.unique(np.concatenate((first_codes, second)))
    codes, counts = pair_counts(_data(name), items, pair_kind)
    holder_counts = np.zeros(len(items) ** 2, np.int64)
    holder_counts[codes] = counts
    both_counts = holder_counts[np.searchsorted(items, first_codes) * len(items) + np.searchsorted(items, second)]
    true_confidences = both_counts / np.maximum(_data(name).item_counts[first_codes], 1)
    return float(((pairs.low <= true_confidences) & (true_confidences <= pairs.high)).mean()) if len(pairs) else 1.0


def candidates(estimates: Any) -> set[tuple[int, int]]:
    """Return the relations that the last round asked about one by one, in both orders if unordered."""
    from discreet.local.study import CandidateQuestion, Relations

    for estimate in reversed(estimates):
        question = estimate.ask.question
        if isinstance(question, CandidateQuestion) and isinstance(question.candidates, Relations):
            pairs = {(pair[0], pair[-1]) for pair in question.candidates.chains}
            return pairs | ({(b, a) for a, b in pairs} if question.candidates.items.how == "together" else set())
    return set()


def measure(cell: Cell) -> RelationRuns:
    """Run one protocol with several seeds."""
    from discreet.exact import score_relations

    baskets, truth, ordered = _data(cell.data), _truth(cell.data, cell.support), DATA[cell.data] != "together"
    plan, runs = plans(cell.data, cell.support)[cell.plan], RelationRuns([], [], [], [], [])
    triples = truth.where(lengths=3)
    for seed in range(SLOW_RUNS if cell.plan in SLOW else RUNS if cell.data in TABLE_3 else FIGURE_RUNS):
        relations, estimates = lead(baskets, plan, cell.epsilon, seed)
        score = score_relations(relations, truth, ordered=ordered)
        runs.f_score.append(score.f_score)
        runs.rank.append(score.cumulative_rank)
        runs.error.append(score.confidence_error)
        runs.covered.append(covered(cell.data, relations))
        if cell.data == CASCADES:
            runs.kept_shares.append(score_relations(relations.where(lengths=3), triples, ordered=ordered).recall)
        else:
            pairs = wanted_pairs(cell.data)
            runs.kept_shares.append(len(pairs & candidates(estimates)) / max(len(pairs), 1))
    return runs


def guessed(name: str) -> float:
    """Return the share of wanted relations among the relations made likeliest by the supports of items alone."""
    import numpy as np

    counts = _data(name).item_counts.astype(float)
    order = np.argsort(-counts, kind="stable")[:ITEMS]
    chance = np.outer(counts[order], counts[order])
    np.fill_diagonal(chance, -1.0)
    best_places = np.argsort(-chance, axis=None, kind="stable")[:SUPPORT]
    likely_pairs = {(int(order[place // ITEMS]), int(order[place % ITEMS])) for place in best_places}
    pairs = wanted_pairs(name)
    return len(pairs & likely_pairs) / max(len(pairs), 1)


def spread(values: list[float]) -> str:
    """Return a mean with its deviation."""
    return f"{mean(values):.2f} ± {stdev(values):.2f}"


def tables() -> Iterator[str]:
    """Yield all tables."""
    cells = [Cell(data, plan, "4") for data in TABLE_3 for plan in plans(data)]
    cells += [
        Cell(data, plan, epsilon)
        for data in (*FIGURES, CASCADES, *REAL_DATA_SETS)
        for plan in plans(data)
        for epsilon in EPSILONS
        if plan not in (*SLOW, *SEPARATE_PLANS)
    ]
    cells += [Cell(data, plan, "4") for data in FIGURES for plan in WITHOUT_ROUNDS]
    cells += [
        Cell(CASCADES, plan, "4", support)
        for support in SUPPORTS
        for plan in plans(CASCADES)
        if support != SUPPORT and plan not in (*SLOW, *SEPARATE_PLANS)
    ]
    os.environ["DISCREET_THREADS"] = "1"  # cores are shared out by cells
    with ProcessPoolExecutor() as pool:
        runs_by_cell = dict(zip(cells, pool.map(measure, cells), strict=True))
    yield "### Table 3: association rules, ε = 4\n"
    heads = [f"{data}: {measure_name}" for data in ("Retail", "Retail*") for measure_name in MEASURES]
    rows = []
    for plan in plans(TABLE_3[0]):
        row = [plan]
        for place, data in enumerate(TABLE_3):
            runs = runs_by_cell[Cell(data, plan, "4")]
            for measure_index, values in enumerate((runs.f_score, runs.rank, runs.error)):
                printed = f" ({PRINTED[plan][3 * place + measure_index]:.2f})" if plan in PRINTED else ""
                row.append(spread(values) + printed)
            row.append(spread(runs.covered))
        rows.append(row)
    yield from table(["measured (printed)", *heads], rows)
    for data, title in FIGURES.items():
        yield f"### {title}: {data}, a stand-in\n"
        plan_names = [plan for plan in plans(data) if plan not in SEPARATE_PLANS]
        yield from varying(
            runs_by_cell, {plan: [Cell(data, plan, epsilon_value) for epsilon_value in EPSILONS] for plan in plan_names}
        )
    yield f"### E5, figure 5: {CASCADES}, a stand-in, with relations of three items\n"
    plan_names = [plan for plan in plans(CASCADES) if plan not in (*SLOW, *SEPARATE_PLANS)]
    yield from varying(
        runs_by_cell, {plan: [Cell(CASCADES, plan, epsilon_value) for epsilon_value in EPSILONS] for plan in plan_names}
    )
    yield f"### E6, figure 5: {CASCADES}, ε = 4\n"
    yield from varying(
        runs_by_cell,
        {plan: [Cell(CASCADES, plan, "4", epsilon_value) for epsilon_value in SUPPORTS] for plan in plan_names},
    )
    yield f"### Relations of three items that were found, of those wanted: {CASCADES}\n"
    rows = [
        [plan, *(spread(runs_by_cell[Cell(CASCADES, plan, epsilon_value)].kept_shares) for epsilon_value in EPSILONS)]
        for plan in plan_names
    ]
    yield from table(["found", *(f"ε = {epsilon}" for epsilon in EPSILONS)], rows)
    for data, people in REAL_DATA_SETS.items():
        yield f"### {data}, one after the other in time{'' if people is None else f', resampled to {people:,}'}\n"
        yield from varying(
            runs_by_cell,
            {plan: [Cell(data, plan, epsilon_value) for epsilon_value in EPSILONS] for plan in plans(data)},
        )
    yield "### Wanted relations among the candidates of the last round, ε = 4\n"
    filters = ("LDP-RM", "LDP-RM, no rounds", "`relations`", "`relations`, no rounds", "SVSM", "`pairs`")
    rows = [
        ["a random filter", *[f"{min(1.0, SUPPORT / (ITEMS * (ITEMS - 1))):.2f}"] * len(FILTERED)],
        ["the independence guess from true supports", *(f"{guessed(data):.2f}" for data in FILTERED)],
        *([plan, *(spread(runs_by_cell[Cell(data, plan, "4")].kept_shares) for data in FILTERED)] for plan in filters),
    ]
    yield from table(["filter", *FILTERED], rows)


def varying(runs_by_cell: Mapping[Cell, RelationRuns], cells: Mapping[str, list[Cell]]) -> Iterator[str]:
    """Yield a table of the measures of the paper over epsilon, or over the number of kept relations."""
    first_cells = next(iter(cells.values()))
    points = [
        f"ε = {point_cell.epsilon}"
        if first_cells[0].support == first_cells[-1].support
        else f"k_s = {point_cell.support:,}"
        for point_cell in first_cells
    ]
    heads = [f"{measure_name}, {point}" for measure_name in MEASURES for point in points]
    rows = []
    for plan, plan_cells in cells.items():
        runs = [runs_by_cell.get(cell) for cell in plan_cells]
        rows.append(
            [
                plan,
                *(
                    "–" if point_cell is None else spread(point_cell[measure_index])
                    for measure_index in range(len(MEASURES))
                    for point_cell in runs
                ),
            ]
        )
    yield from table(["measured", *heads], rows)


def speeds() -> Iterator[str]:
    """Yield a table of how long protocols take, all reports made one by one."""
    from discreet.local.study import simulate
    from discreet_lab.data.datasets import load

    people, rows = 500_000, []
    names = ("svsm", "fp-tree", "adept", "pairs", "relations")
    baskets = load("OnlineRetail_words", people=people)
    for name in names:
        question: dict[str, Any] = {"top": 64 if name in ("svsm", "fp-tree", "adept") else TOP, "epsilon": 4, "seed": 1}
        simulate(baskets, name, **question)  # compiles the remaining kernels
        begun = time.perf_counter()
        outcome = simulate(baskets, name, **question)
        took = time.perf_counter() - begun
        rounds = len(outcome.rounds)
        share = 1e6 * took / sum(line.people for line in outcome.rounds)
        longest = max(line.people for line in outcome.rounds)
        rows.append([name, f"{took:.2f} s", str(rounds), f"{longest:,}", f"{share:.2f} µs"])
    yield from table(["protocol", "500,000 people", "rounds", "people of the largest", "a person"], rows)


def main() -> None:
    """Print or write the tables."""
    print_or_write(tables, MARKS, (speeds, SPEED_MARKS))


if __name__ == "__main__":
    main()
