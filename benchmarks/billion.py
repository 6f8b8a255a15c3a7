"""Measure up to 10^9 reports over up to 10^7 items: time, memory and the share of decoding.

    python -m benchmarks.billion                 print the table
    python -m benchmarks.billion --write FILE    put it into FILE, between its two marks
    python -m benchmarks.billion --most 9        with 10^9 reports at most: 8 GB of files, and some minutes
    python -m benchmarks.billion --oracle wheel  of sets of up to five items, through `wheel`
    python -m benchmarks.billion --device gpu    add up and decode on a card (`benchmarks.gpu` measures more steps)
    python -m benchmarks.billion --study 8       simulated studies of up to 10^8 people with `adept` instead
    python -m benchmarks.billion --peer          beside fast local hashing of pure-LDP instead (pip install pure-ldp)

The epsilon is 1, and item frequencies fall as 1 / rank. `olh` uses the published seeds chosen for the number of people;
from a million items on, `geometry` is used. With `wheel` each person draws five items, some more than once. Every
report is made and written to Parquet files, which is not timed. Then the files are added up (*adding*, mostly reading)
and decoded. The time to add up reports with fresh seeds is extrapolated from a part of the reports. Nothing is
asserted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

import numpy as np

from .mining import write_between

MARKS = {
    "olh": ("<!-- billion: begin -->", "<!-- billion: end -->"),
    "wheel": ("<!-- sets: begin -->", "<!-- sets: end -->"),
}
PADS = {"olh": 1, "wheel": 5, "geometry": 1}
STUDY = ("<!-- billion-study: begin -->", "<!-- billion-study: end -->")
BLOCK = 1 << 18
PART = 2 * 10**9  # evaluations with fresh seeds that are timed
ITEMS = (3, 4, 5, 6, 7)  # powers of ten
GEOMETRY_POWER = 6  # from this one on, `geometry`


def blocks(oracle: Any, people: int, items: int) -> Iterator[tuple[Any, Any]]:
    """Yield the reports and the number of holders of each item, block by block."""
    from discreet.kernels import in_threads, threads
    from discreet.local import SimulatedAnswers

    law = np.cumsum(1 / np.arange(1, items + 1))

    def block(start: int) -> tuple[Any, Any]:
        block_people = min(BLOCK, people - start)
        drawn_items = np.searchsorted(law, np.random.default_rng(start).random((block_people, oracle.pad)) * law[-1])
        rows = np.sort(drawn_items.astype(np.int32), axis=1)
        is_first = np.ones(rows.shape, bool)
        is_first[:, 1:] = rows[:, 1:] != rows[:, :-1]
        offsets, held_items = np.concatenate(([0], np.cumsum(is_first.sum(1)))), rows[is_first]
        answered = SimulatedAnswers(offsets=offsets, values=held_items, people=np.arange(start, start + block_people))
        return oracle.reports(answered, 7), np.bincount(held_items, minlength=items)

    starts = range(0, people, BLOCK)
    for position in range(0, len(starts), threads()):
        yield from in_threads(block, starts[position : position + threads()])


def fresh_seeds(items: int, reports: int, name: str = "olh") -> float:
    """Return how long reports with fresh seeds would take to add up."""
    from discreet.local.oracle_steps import make

    plain = make(name, Fraction(1), items, pad=PADS[name])
    columns = next(blocks(plain, max(1000, PART // items), items))[0]
    plain.supports({name: column[:100] for name, column in columns.items()})
    begun = time.perf_counter()
    plain.supports(columns)
    return (time.perf_counter() - begun) * reports / len(columns["first"])


def measure_row(reports: int, items: int, folder: Path, hash_token: str) -> dict[str, str]:
    """Return a row of the table."""
    from discreet.collector import add_up_files, list_report_files, save_reports, sum_blocks, sum_files
    from discreet.local.oracle_steps import make
    from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup

    name = hash_token if items < 10**GEOMETRY_POWER else "geometry"
    plain: Any = make(name, Fraction(1), items, pad=PADS[name])
    oracle = plain.expecting(reports)
    seeds = getattr(oracle, "seeds", None)
    counts = np.zeros(items, np.int64)
    # Kernels are compiled beforehand.
    warm = oracle if name == "geometry" else plain.numbered(seeds or 1024)
    aggregate = warm.empty()
    warm.add(aggregate, next(blocks(warm, 1000, items))[0])
    warm.decoded(aggregate)

    def pack_blocks() -> Iterator[Any]:
        nonlocal counts
        for columns, holder_counts in blocks(oracle, reports, items):
            counts += holder_counts
            yield oracle.codec.pack(columns)

    ask = Ask(name="", group=PeopleGroup(0, 1), question=CandidateQuestion(CandidateList(items)), oracle=oracle)
    save_reports(folder, ask, pack_blocks())
    size = sum(Path(file).stat().st_size for file in list_report_files(folder))
    begun = time.perf_counter()
    (_, aggregate), _ = sum_files(folder, ask, partial(sum_blocks, oracle=oracle))
    adding = time.perf_counter() - begun
    begun = time.perf_counter()
    supports = oracle.adder.decode(aggregate)
    decoding = time.perf_counter() - begun
    begun = time.perf_counter()
    add_up_files(folder, ask)
    whole_seconds = time.perf_counter() - begun
    truth = counts / reports
    error = ((oracle.estimate(supports, reports) - truth) ** 2).mean() / plain.variance(truth, reports).mean()
    return {
        "reports": f"{reports:,}",
        "items": f"{items:,}",
        "oracle": name if seeds is None else f"{name}, {seeds:,} seeds",
        "files, GB": f"{size / 1e9:.2f}",
        "adding": f"{adding:.2f} s",
        "decoding": f"{decoding:.2f} s",
        "with screening": f"{whole_seconds:.2f} s",
        "fresh seeds, about": f"{fresh_seeds(items, reports, hash_token):,.0f} s",
        "GiB so far": f"{getrusage(RUSAGE_SELF).ru_maxrss / 2**20:.2f}",
        "square error": f"{error:.2f}",
    }


def study(people: int) -> dict[str, str]:
    """Return how long a whole simulated study takes: made-up baskets of a shop, over and over, `adept` at epsilon 2."""
    import discreet
    from discreet.baskets import groceries, resample

    begun = time.perf_counter()
    crowd = resample(groceries(100_000, seed=3), people, seed=3)
    making_seconds = time.perf_counter() - begun
    begun = time.perf_counter()
    outcome = discreet.simulate(crowd, "adept", top=64, epsilon=2, seed=7, speed="aggregated")
    study_seconds = time.perf_counter() - begun
    true_itemsets = {pattern.items for pattern in discreet.mine(crowd, top=64)}
    return {
        "people": f"{people:,}",
        "making them": f"{making_seconds:.1f} s",
        "study": f"{study_seconds:.1f} s",
        "rounds": str(len(outcome.rounds)),
        "found of 64": str(len(true_itemsets & {pattern.items for pattern in outcome.patterns})),
        "GiB so far": f"{getrusage(RUSAGE_SELF).ru_maxrss / 2**20:.2f}",
    }


def peer(items: int = 1_000) -> dict[str, str]:
    """Return reports times items per second: ours, fresh and published, beside fast local hashing of pure-LDP."""
    from pure_ldp.frequency_oracles.local_hashing import FastLHServer, LHClient

    from discreet.local.oracle_steps import make

    matrix_seeds, report_count = 1_000, 200_000
    client, server = LHClient(1.0, items, use_olh=True), FastLHServer(1.0, items, matrix_seeds, use_olh=True)
    pure_reports = [client.privatise(number % items + 1) for number in range(2_000)]
    reports = [(value, seed % matrix_seeds) for value, seed in pure_reports] * (report_count // len(pure_reports))
    begun = time.perf_counter()
    server.aggregate_all(reports)
    server.estimate_all(range(1, items + 1))
    theirs = report_count * items / (time.perf_counter() - begun)
    plain = make("olh", Fraction(1), items)
    ours = items * 10**7 / fresh_seeds(items, 10**7)
    table = plain.expecting(10**7)
    blocks_made = [columns for columns, _ in blocks(table, 10**7, items)]
    aggregate = table.adder.start()
    table.adder.add(aggregate, blocks_made[0], 0)
    begun = time.perf_counter()
    for columns in blocks_made:
        table.adder.add(aggregate, columns)
    table.adder.decode(aggregate)
    published = items * 10**7 / (time.perf_counter() - begun)
    return {
        "items": f"{items:,}",
        "pure-LDP, fast local hashing": f"{theirs:.1e}",
        "`olh`, fresh seeds": f"{ours:.1e}",
        "ratio": f"{ours / theirs:,.0f}",
        "`olh`, published seeds": f"{published:.1e}",
        "its ratio": f"{published / theirs:,.0f}",
    }


def rows_of(max_power: int, hash_token: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the table."""
    for power in range(6, max_power + 1):
        for size in ITEMS if hash_token == "olh" else ITEMS[: GEOMETRY_POWER - ITEMS[0]]:
            with tempfile.TemporaryDirectory() as folder:
                yield measure_row(10**power, 10**size, Path(folder, "reports"), hash_token)


def main() -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="a page with the two marks")
    parser.add_argument("--most", type=int, default=8, help="reports, as a power of ten")
    parser.add_argument("--oracle", choices=[*MARKS], default="olh", help="for lists of up to 100,000 items")
    parser.add_argument("--device", choices=("auto", "gpu", "cpu"), help="what adds up and decodes")
    parser.add_argument("--study", type=int, help="simulated studies of so many people, as a power of ten")
    parser.add_argument("--peer", action="store_true", help="beside pure-LDP")
    args = parser.parse_args()
    from discreet.local.oracle_steps import using

    marks, lines = (STUDY if args.study else MARKS[args.oracle]), []
    with using(args.device):
        table_rows = (
            iter([peer()]) if args.peer else map(study, (10**power for power in range(6, (args.study or 0) + 1)))
        )
        for row in table_rows if args.peer or args.study else rows_of(args.most, args.oracle):
            if not lines:
                lines = ["| " + " | ".join(row) + " |", "| " + " | ".join(["--:"] * len(row)) + " |"]
                print(*lines, sep="\n", flush=True)
            lines.append("| " + " | ".join(row.values()) + " |")
            print(lines[-1], flush=True)
    if args.write:
        write_between(args.write, marks, "\n".join(lines))


if __name__ == "__main__":
    main()
