"""Measure the cost of decoding a round over large lists: `geometry` beside published seeds, and further oracles.

    python -m benchmarks.decoding                 print the tables
    python -m benchmarks.decoding --write FILE    put them into FILE, between its two marks
    python -m benchmarks.decoding --most 6        with 10^6 items at most

Each person answers for one item of a list, and item frequencies fall as 1 / rank. Adding is timed over 262,144 reports,
on one core. Decoding `geometry` and `hr` is measured as a whole, since the time does not depend on the number of
reports. Decoding a table of published seeds is measured with 4,096 seeds and 100,000 items, and scaled to the number of
seeds and items: the time is linear in both.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .mining import time_best, write_between

MARKS = ("<!-- decoding: begin -->", "<!-- decoding: end -->")
EPSILONS = ("0.5", "1", "2", "4", "5")
NAMES = ("geometry", "olh", "hr", "subset", "grr")
REPORTS, SEEDS, ITEMS = 1 << 18, 1 << 12, 10**5


def make_oracle(name: str, epsilon: str, items: int) -> Any:
    """Return an oracle, or None if the oracle does not support the number of items."""
    from discreet.errors import MisuseError
    from discreet.local.oracle_steps import make

    try:
        return make(name, Fraction(epsilon), items)
    except MisuseError:
        return None


def answered(items: int, report_count: int = REPORTS) -> Any:
    """Return the people and the item that each person holds."""
    from discreet.local import SimulatedAnswers

    law = np.cumsum(1 / np.arange(1, items + 1))
    held_items = np.searchsorted(law, np.random.default_rng(items).random(report_count) * law[-1]).astype(np.int32)
    return SimulatedAnswers(offsets=np.arange(report_count + 1), values=held_items, people=np.arange(report_count))


def variances(largest: int) -> Iterator[list[str]]:
    """Yield the variance of estimates and the length of reports, for every epsilon and list."""
    for epsilon in EPSILONS:
        for power in (3, 5, 6, 7):
            if power > largest:
                continue
            oracles = [make_oracle(name, epsilon, 10**power) for name in NAMES]
            yield [
                epsilon,
                f"{10**power:,}",
                *("" if oracle is None else f"{oracle.variance(0.0):.4g}" for oracle in oracles),
                *("" if oracle is None else f"{oracle.bits:,.0f}" for oracle in oracles[:4]),
            ]


def adding(oracle: Any, items: int) -> float:
    """Return nanoseconds per report."""
    columns, aggregate = oracle.reports(answered(items), 7), oracle.adder.start()
    oracle.adder.add(aggregate, {name: column[:10] for name, column in columns.items()})
    return time_best(lambda: oracle.adder.add(aggregate, columns)) / REPORTS * 1e9


def time_reading(oracle: Any, items: int) -> float:
    """Return seconds for reading an aggregate."""
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, oracle.reports(answered(items), 7))
    begun = time.perf_counter()
    oracle.adder.decode(aggregate)
    return time.perf_counter() - begun


def transformed(oracle: Any) -> float:
    """Return seconds for the transform of `hr`."""
    from discreet.kernels import apply_hadamard

    sums = np.zeros(oracle.rows, np.int64)
    begun = time.perf_counter()
    apply_hadamard(sums)
    return time.perf_counter() - begun


def format_seconds(seconds: float) -> str:
    """Return a time in words: to a millisecond, or to a second where that is three digits."""
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.3f} s" if seconds < 1 else f"{seconds:.1f} s"


def times(largest: int) -> Iterator[list[str]]:
    """Yield the time to add and to decode reports."""
    for name in ("geometry", "olh", "hr"):  # compiled before
        oracle = make_oracle(name, "1", 1000)
        oracle = replace(oracle, seeds=SEEDS) if name == "olh" else oracle
        transformed(oracle) if name == "hr" else time_reading(oracle, 1000)
    for epsilon in EPSILONS:
        hashed = make_oracle("olh", epsilon, ITEMS)
        seconds_per_cell = time_reading(replace(hashed, seeds=SEEDS), ITEMS) / (SEEDS * ITEMS)
        for power in (3, 5, 6, 7):
            items = 10**power
            if power > largest:
                continue
            space, olh, hr = (make_oracle(name, epsilon, items) for name in ("geometry", "olh", "hr"))
            seeds = [olh.expecting(10**people).seeds for people in (6, 9)]
            table = replace(olh, seeds=seeds[1] or SEEDS)
            yield [
                epsilon,
                f"{items:,}",
                f"{space.field:,} × {space.coordinates}",
                f"{space.points * 8 / 2**20:,.1f}",
                f"{table.seeds * table.buckets * 8 / 2**20:,.1f}",
                f"{adding(space, items):.1f}",
                f"{adding(table, items):.1f}",
                format_seconds(time_reading(space, items)),
                *(
                    "fresh seeds" if seed_count is None else format_seconds(seconds_per_cell * seed_count * items)
                    for seed_count in seeds
                ),
                format_seconds(transformed(hr)),
            ]


def table(head: list[str], rows: Iterator[list[str]]) -> list[str]:
    """Print the rows of a table at once and return its lines."""
    lines = []
    for row in [head, ["--:"] * len(head), *rows]:
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Print the tables, or put them into a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="a page with the two marks")
    parser.add_argument("--most", type=int, default=7, help="items, as a power of ten")
    args = parser.parse_args()
    head = ["ε", "items", *(f"`{name}`" for name in NAMES), *(f"bits: `{name}`" for name in NAMES[:4])]
    lines = table(head, variances(args.most))
    head = ["ε", "items", "field × coordinates", "points, MiB", "table of `olh` at 10⁹, MiB"]
    head += ["adding, ns: `geometry`", "`olh`", "reading: `geometry`", "`olh` at 10⁶", "`olh` at 10⁹", "`hr`"]
    lines += ["", *table(head, times(args.most))]
    print(f"largest: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    if args.write:
        write_between(args.write, MARKS, "\n".join(lines))


if __name__ == "__main__":
    main()
