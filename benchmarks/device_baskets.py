"""Compare two weights of devices with several baskets: one per person, or the number of baskets up to a cap.

    python -m benchmarks.device_baskets                  print the table
    python -m benchmarks.device_baskets --write FILE     put it into FILE, between its two marks

People of OnlineRetail (by customer and time) and of a made-up shop are drawn with replacement to the numbers below;
reports are not made one by one (`speed="aggregated"`), seeds are 0 to 4. It takes about half an hour of one core.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from statistics import mean
from typing import Any

from .evidence import table
from .mining import print_or_write

MARKS = ("<!-- devices: begin -->", "<!-- devices: end -->")
TOP, SEEDS, CAPS = 64, 5, (1, 2, 4, 8)
POINTS = [(20_000, 4), (100_000, 2), (100_000, 4), (500_000, 2), (500_000, 4)]


def retail() -> Any:
    """Return the receipts of OnlineRetail."""
    import discreet
    from discreet_lab.data.datasets import path

    return discreet.read(path("OnlineRetail_events"), person="customer", basket="time", item="item")


def made_up() -> Any:
    """Return a made-up shop of 20,000 people: most come once or twice; frequent visitors buy different items."""
    import numpy as np

    from discreet.baskets import Baskets, groceries, starts

    source = np.random.default_rng(7)
    basket_count = 1 + np.minimum(source.pareto(1.2, 20_000).astype(np.int64), 100)
    bought = groceries(int(basket_count.sum()), seed=7)
    codes = bought.codes.copy()
    often = np.repeat(np.repeat(basket_count >= 8, basket_count), bought.sizes)
    # Frequent visitors have a different taste: their items are shifted by 40 places.
    codes[often] = (codes[often] + 40) % bought.items
    rows = [np.sort(row) for row in np.split(codes, bought.offsets[1:-1])]
    return Baskets(bought.offsets, np.concatenate(rows), bought.vocabulary, owners=starts(basket_count))


def rows() -> Iterator[list[str]]:
    """Yield the rows of the table: the score against the estimated weights, and against all baskets."""
    import discreet
    from discreet.baskets import resample
    from discreet.exact import cumulative_rank
    from discreet.local.study import true_patterns

    for name, baskets in (("OnlineRetail", retail()), ("made up", made_up())):
        plain = discreet.mine(baskets, top=TOP)
        truth = {cap: true_patterns(baskets, cap, TOP, 1) for cap in CAPS}
        nearest = [f"{cumulative_rank(truth[cap], plain, top=TOP):.2f}" for cap in CAPS]
        yield [name, "everybody, no noise", "", *(f"1.00 · {released}" for released in nearest)]
        for people, epsilon in POINTS:
            cells = []
            for cap in CAPS:
                releases = [
                    discreet.simulate(
                        resample(baskets, people, seed),
                        top=TOP, epsilon=epsilon, seed=seed, speed="aggregated", max_baskets=cap,
                    ).patterns
                    for seed in range(SEEDS)
                ]  # fmt: skip
                own_releases, other_releases = (
                    mean(cumulative_rank(released, truth_of_cap, top=TOP) for released in releases)
                    for truth_of_cap in (truth[cap], plain)
                )
                cells.append(f"{own_releases:.2f} · {other_releases:.2f}")
            sys.stderr.write(f"{name} {people} {epsilon} {cells}\n")
            yield [name, f"{people:,}", str(epsilon), *cells]


def tables() -> Iterator[str]:
    """Yield the table."""
    yield from table(["data", "people", "ε", *(f"`max_baskets={cap}`" for cap in CAPS)], rows())


if __name__ == "__main__":
    print_or_write(tables, MARKS)
