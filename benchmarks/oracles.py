"""Measure the cost of adding up reports, hashed or with listed symbols, and a simulated study beside reading its data.

    python -m benchmarks.oracles                 print the tables
    python -m benchmarks.oracles --write FILE    put them into FILE, between its two marks

The peers are pure-LDP and multi-freq-ldpy, if installed (`pip install pure-ldp scikit-learn
statsmodels multi-freq-ldpy "xxhash<4"`), and a bare compiled loop: the arithmetic of one hash and one comparison, on
one core times the number of cores. An evaluation is one report looked at for one candidate.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from .mining import time_best, write_between

MARKS = ("<!-- oracles: begin -->", "<!-- oracles: end -->")
REPORTS, CANDIDATES = 200_000, 4_096
# Oracles with reports that list symbols or have a bit for each candidate: candidates and padding.
LIST_CASES = (("privset", 128, 5), ("privset", 2_000, 5), ("subset", 128, 1), ("subset", 2_000, 1))
BITMAPS = (("oue", 128, 1), ("oue", 4_096, 1))
SYMBOLS = 5_000_000  # that a part of the reports has


def ours(name: str) -> float:
    """Return evaluations per second of one of our oracles, on all cores."""
    from discreet.local import SimulatedAnswers
    from discreet.local.oracle_steps import oracles

    oracle = oracles()[name].make(Fraction(1), CANDIDATES, pad=1)
    people = np.arange(REPORTS)
    held_items = (people % CANDIDATES).astype(np.int32)
    columns = oracle.reports(SimulatedAnswers(offsets=np.arange(REPORTS + 1), values=held_items, people=people), 1)
    oracle.supports({key: value[:10] for key, value in columns.items()})
    return REPORTS * CANDIDATES / time_best(lambda: oracle.supports(columns))


def bare() -> float:
    """Return evaluations per second of a loop that does only the arithmetic, on one core times the cores."""
    from discreet.kernels import hash_item, kernel, threads

    @kernel
    def loop(items: Any, reports: int) -> int:
        total = np.uint32(0)
        for row in range(reports):
            first_seed, second, low = np.uint32(2 * row + 1), np.uint32(row), np.uint32(row * 7)
            for position in range(len(items)):
                total += np.uint32(np.uint32(hash_item(items[position], first_seed, second) - low) < np.uint32(1 << 30))
        return int(total)

    items = np.arange(CANDIDATES, dtype=np.uint32)
    loop(items, 10)
    return threads() * REPORTS / 10 * CANDIDATES / time_best(lambda: loop(items, REPORTS // 10))


def by_bincount(oracle: Any, columns: dict[str, Any]) -> Any:
    """Count symbols as NumPy does."""
    return np.bincount(columns["values"].ravel(), minlength=oracle.symbols_in_all)


@cache
def _marking() -> Callable[[Any, Any], None]:
    from discreet.kernels import kernel

    @kernel
    def marked(values: Any, bits: Any) -> None:
        for row in range(values.shape[0]):
            for position in range(values.shape[1]):
                symbol = np.uint32(values[row, position])
                bits[row, symbol >> np.uint32(5)] |= np.uint32(1) << (symbol & np.uint32(31))

    return marked


def by_slices(oracle: Any, columns: dict[str, Any]) -> Any:
    """Count symbols: make a bitmap of each report, and add up bit slices of the bitmaps."""
    from discreet.kernels import count_bits

    counts, values = np.zeros(oracle.symbols_in_all, np.int64), columns["values"]
    bits = np.empty((252, (oracle.symbols_in_all + 31) // 32), np.uint32)
    for start in range(0, len(values), len(bits)):
        part = values[start : start + len(bits)]
        bits[:] = 0
        _marking()(part, bits)
        count_bits(bits[: len(part)], oracle.symbols_in_all, counts)
    return counts


def as_it_is(oracle: Any, columns: dict[str, Any]) -> Any:
    """Count as the oracle does."""
    return oracle.supports(columns)


def lists() -> Iterator[list[str]]:
    """Measure how reports that list symbols, or have a bit for each candidate, are counted."""
    from discreet.local import SimulatedAnswers
    from discreet.local.oracle_steps import oracles

    for name, size, pad in (*LIST_CASES, *BITMAPS):
        oracle: Any = oracles()[name].make(Fraction(1), size, pad=pad)
        candidate_count = getattr(oracle, "many", size)
        people = np.arange(min(REPORTS, SYMBOLS // candidate_count))
        held_items = (people % size).astype(np.int32)
        columns = oracle.reports(
            SimulatedAnswers(offsets=np.arange(len(people) + 1), values=held_items, people=people), 1
        )
        cells = []
        for way in (by_bincount, by_slices, as_it_is):
            if way is not as_it_is and "values" not in columns:
                cells.append("")
                continue
            way(oracle, columns)
            cells.append(f"{len(people) * candidate_count / time_best(partial(way, oracle, columns)):.2e}")
        yield [f"`{name}`", f"{size:,}", f"{candidate_count:,}", *cells]


def pure_ldp() -> float:
    """Return evaluations per second of pure-LDP."""
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer

    client, server = LHClient(epsilon=1.0, d=512, use_olh=True), LHServer(epsilon=1.0, d=512, use_olh=True)
    reports = [client.privatise(number % 512 + 1) for number in range(400)]
    return _timed(lambda: [server.aggregate(report) for report in reports], 400 * 512)


def multi_freq() -> float:
    """Return evaluations per second of multi-freq-ldpy."""
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client

    reports = [LH_Client(number % 512, 512, 1.0) for number in range(400)]
    return _timed(lambda: LH_Aggregator_MI(reports, 512, 1.0), 400 * 512)


def _timed(work: Callable[[], Any], operations: int) -> float:
    return operations / time_best(work)


def evaluations() -> Iterator[list[str]]:
    """Measure all oracles."""
    speeds: list[tuple[str, float]] = []
    for name, work in (("pure-LDP", pure_ldp), ("multi-freq-ldpy", multi_freq)):
        try:
            speeds.append((name, work()))
        except ImportError:
            continue
    loop = bare()
    peers = max((speed for _, speed in speeds), default=float("nan"))
    everyone = [*speeds, ("bare loop", loop), ("`olh`", ours("olh")), ("`wheel`", ours("wheel"))]
    for name, speed in everyone:
        yield [name, f"{speed:.2e}", f"{speed / peers:,.0f}", f"{speed / loop:.2f}"]


STUDY = """
import sys, time
from discreet_lab.data.datasets import load
from discreet.local.study._simulate import simulate
name, people, speed, protocol = sys.argv[1], int(sys.argv[2]) or None, sys.argv[3], sys.argv[4]
begun = time.perf_counter(); baskets = load(name, people=people); reading = time.perf_counter() - begun
simulate(baskets, protocol, top=64, epsilon=2, seed=0, speed=speed)
begun = time.perf_counter(); simulate(baskets, protocol, top=64, epsilon=2, seed=1, speed=speed)
print(reading, time.perf_counter() - begun)
"""


def studies() -> Iterator[list[str]]:
    """Measure whole studies, each in a process of its own, so that its memory is its own too."""
    for name, people in (("OnlineRetail_words", 0), ("kosarak_100k", 990_002)):
        for protocol in ("svsm", "svsm-better"):
            for speed in ("person", "aggregated"):
                command = [sys.executable, "-c", STUDY, name, str(people), speed, protocol]
                output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
                reading_seconds, study_seconds = map(float, output)
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
                label = name if not people else f"{name}, resampled to {people:,}"
                yield [
                    label,
                    protocol,
                    speed,
                    f"{reading_seconds:.2f} s",
                    f"{study_seconds:.2f} s",
                    f"{study_seconds / reading_seconds:.2f}",
                    f"{peak:.2f}",
                ]


def table(head: list[str], rows: Iterator[list[str]]) -> list[str]:
    """Print the rows of a table at once and return its lines."""
    lines = []
    for row in [head, ["---"] * len(head), *rows]:
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE")
    args = parser.parse_args()
    begun = time.perf_counter()
    lines = table(["adding up", "evaluations per second", "times the best peer", "of a bare loop"], evaluations())
    head = ["reports", "candidates", "symbols or bits each", "a second by NumPy", "by bit slices, one core", "as it is"]
    lines += ["", *table(head, lists())]
    head = ["data", "protocol", "speed", "reading", "study", "times reading", "largest so far, GiB"]
    lines += ["", *table(head, studies())]
    if args.write:
        write_between(args.write, MARKS, "\n".join(lines))
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
