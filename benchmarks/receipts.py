"""Compare the cost of privacy for people with privacy for each receipt, in counts of receipts.

    python -m benchmarks.receipts                 print the table
    python -m benchmarks.receipts --write FILE    put the table into FILE, between its two marks

The true top pairs are over all receipts. "Each receipt a person" treats every receipt as a person of its own: less
noise, and a promise that does not hold for a person with two receipts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .mining import print_or_write

MARKS = ("<!-- receipts: begin -->", "<!-- receipts: end -->")
BUDGETS = (("1", "0"), ("1", "1e-6"), ("3", "0"), ("3", "1e-6"))
TOP, RUNS = 50, 10
CAPS = (1, 4, 16, None)


def measure_missed(
    baskets: Any, true_itemsets: set[Any], cap: int | None, epsilon: str, delta: str
) -> tuple[float, float]:
    """Return the share of the true pairs that releases miss, and its standard error."""
    from discreet.privacy.sampling import SimulationSource
    from discreet.publish import Question, build_cases, carry_out

    question = {"top": TOP, "lengths": 2, "items": "public", "epsilon": epsilon, "delta": delta, "max_baskets": cap}
    case = build_cases(Question(**question), baskets)[""]
    pattern_lists = [carry_out(case, SimulationSource(seed)).patterns for seed in range(RUNS)]
    shares = [1 - len(true_itemsets & {pattern.items for pattern in patterns}) / TOP for patterns in pattern_lists]
    return float(np.mean(shares)), float(np.std(shares) / np.sqrt(RUNS))


def table() -> Iterator[str]:
    """Yield the rows, as Markdown."""
    import discreet
    from discreet_lab.data.datasets import path

    baskets = discreet.read(path("OnlineRetail_events"), person="customer", basket="time", item="item")
    separate_baskets = discreet.Baskets(baskets.offsets, baskets.codes, baskets.vocabulary)
    true_itemsets = {pattern.items for pattern in discreet.mine(baskets, top=TOP, lengths=2)}
    caps = [f"people, at most {cap}" if cap else "people, cap chosen" for cap in CAPS]
    yield "| budget | each receipt a person | " + " | ".join(caps) + " |"
    yield "|---|--:|" + "--:|" * len(CAPS)
    for epsilon, delta in BUDGETS:
        cells = [measure_missed(separate_baskets, true_itemsets, None, epsilon, delta)]
        cells += [measure_missed(baskets, true_itemsets, cap, epsilon, delta) for cap in CAPS]
        budget = f"ε = {epsilon}" + (f", δ = {delta}" if delta != "0" else "")
        yield f"| {budget} | " + " | ".join(f"{mean:.2f} ± {error:.2f}" for mean, error in cells) + " |"


if __name__ == "__main__":
    print_or_write(table, MARKS)
