"""Measure the damage of liars to the protocols that find itemsets, with and without defences, and the defences' cost.

    python -m benchmarks.poisoning                  print the tables
    python -m benchmarks.poisoning --write FILE     put the tables into FILE, between its two marks

Every report is made, of honest people from the seed and of liars as `discreet_lab.measure.liars` crafts them; seeds are
0 to 2. The cost of the defences is drawn without reports (`speed="aggregated"`), seeds 0 to 4. All can be made again to
the digit. It takes about half an hour of one core.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from statistics import mean
from typing import Any, NamedTuple

from .evidence import table
from .mining import print_or_write

MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")
DATA = ("BMS-POS_275k", "OnlineRetail_words")
COST_DATA = (*DATA, "retail", "T10I4D100K")
PROTOCOLS = ("adept", "svsm", "svsm-better", "fp-tree")
CHOOSING = ("adept", "svsm-better", "fp-tree")
SHARES = (0.001, 0.01, 0.05)
TOP, EPSILON, SEEDS, COST_SEEDS = 64, 1, 3, 5
COST_POINTS = [(top, epsilon) for top in (16, 64) for epsilon in (1, 2, 4)]
ATTACKS = {
    "crafted": "Crafted reports",
    "one target": "One target a report, told by the rules",
    "sizes": "Lies about sizes",
}


class AttackRuns(NamedTuple):
    """The mean over seeds: targets among the top, and NCR; the most honest reports that a round left out."""

    lifted: float
    rank: float
    lost: int


def measure(baskets: Any, truth: Any, name: str, attack: Any, share: float, *, defended: bool) -> AttackRuns:
    """Run one protocol under one attack."""
    from discreet.exact import cumulative_rank
    from discreet.local.study import StudyGoal
    from discreet.registry import protocol
    from discreet_lab.measure.liars import Liars, select_targets, simulate_attack

    plan = protocol(name, {"robust": defended})
    parameters = StudyGoal(items=baskets.items, top=TOP, epsilon=Fraction(EPSILON))
    runs = []
    for seed in range(SEEDS):
        liars = Liars(share=share, targets=select_targets(baskets), attack=attack, seed=seed)
        runs.append(simulate_attack(baskets, plan, parameters, liars, seed=seed, screen=defended))
    ranks = [cumulative_rank(run.patterns, truth, top=TOP) for run in runs]
    return AttackRuns(mean(run.lifted for run in runs), mean(ranks), max(run.honest_left_out for run in runs))


def attacks(data: str) -> Iterator[str]:
    """Yield the tables of one data set."""
    from discreet import mine
    from discreet_lab.data.datasets import load

    baskets = load(data)
    truth = mine(baskets, top=TOP)
    calm = {
        (name, defended): measure(baskets, truth, name, "crafted", 0.0, defended=defended)
        for name in PROTOCOLS
        for defended in (False, True)
    }
    for attack, title in ATTACKS.items():
        yield f"### {title}: {data}\n"
        rows = []
        for name in PROTOCOLS:
            for defended in (False, True):
                row = [f"`{name}`", "with" if defended else "without", f"{calm[name, defended].rank:.2f}"]
                lost = calm[name, defended].lost
                for share in SHARES:
                    sys.stderr.write(f"{data} {attack} {name} {defended} {share}\n")
                    attack_runs = measure(baskets, truth, name, attack, share, defended=defended)
                    row += [f"{attack_runs.lifted:.1f}", f"{attack_runs.rank:.2f}"]
                    lost = max(lost, attack_runs.lost)
                rows.append([*row, str(lost) if defended else "–"])
        heads = [f"{share:.1%} lie: {measure_name}" for share in SHARES for measure_name in ("targets", "NCR")]
        yield from table(["protocol", "defences", "nobody lies: NCR", *heads, "honest reports left out, at most"], rows)


def influence() -> Iterator[str]:
    """Yield the largest contribution of one report."""
    from discreet.local.oracle_steps import oracles

    yield "### What one report can add\n"
    rows = []
    for name, kind in oracles().items():
        if not kind.live:
            continue
        row = [f"`{name}`"]
        for epsilon, pad in ((1, 1), (1, 7), (4, 7)):
            can = kind.make(Fraction(epsilon), 1515, pad=pad).influence
            row.append(f"{float(can.people):,.1f} people, {can.values:,} value{'s' if can.values > 1 else ''}")
        rows.append(row)
    yield from table(["1,515 candidates", "ε = 1, padding 1", "ε = 1, padding 7", "ε = 4, padding 7"], rows)


def costs() -> Iterator[str]:
    """Yield the cost of `robust` among honest people."""
    from discreet import mine, simulate
    from discreet.exact import cumulative_rank
    from discreet.registry import protocol
    from discreet_lab.data.datasets import load

    yield "### What `robust` costs where nobody lies\n"
    rows, all_off = [], dict[str, list[float]]((name, []) for name in CHOOSING)
    for data in COST_DATA:
        baskets = load(data)
        for top, epsilon in COST_POINTS:
            truth, row = mine(baskets, top=top), [data, f"k = {top}, ε = {epsilon}"]
            for name in CHOOSING:
                sys.stderr.write(f"cost {data} {top} {epsilon} {name}\n")
                ranks = []
                for robust in (False, True):
                    plan = protocol(name, {"robust": robust})
                    question: dict[str, Any] = {"top": top, "epsilon": epsilon, "speed": "aggregated"}
                    pattern_lists = [
                        simulate(baskets, plan, seed=seed, **question).patterns for seed in range(COST_SEEDS)
                    ]
                    ranks.append(mean(cumulative_rank(patterns, truth, top=top) for patterns in pattern_lists))
                all_off[name].append(ranks[1] - ranks[0])
                row += [f"{ranks[0]:.3f}", f"{ranks[1] - ranks[0]:+.3f}"]
            rows.append(row)
    rows.append(["mean", "", *(cell for name in CHOOSING for cell in ("", f"{mean(all_off[name]):+.3f}"))])
    rows.append(["worst", "", *(cell for name in CHOOSING for cell in ("", f"{min(all_off[name]):+.3f}"))])
    heads = [head for name in CHOOSING for head in (f"`{name}`, `robust=off`: NCR", "`robust=on`")]
    yield from table(["data", "question", *heads], rows)


def tables() -> Iterator[str]:
    """Yield all tables."""
    yield from influence()
    for data in DATA:
        yield from attacks(data)
    yield from costs()


if __name__ == "__main__":
    print_or_write(tables, MARKS)
