"""Very many reports over very many items: time, memory and how much of it is decoding.

    python -m benchmarks.billion                 print the table
    python -m benchmarks.billion --write FILE    put it into FILE, between its two marks
    python -m benchmarks.billion --most 7        with 10^7 reports at most
    python -m benchmarks.billion --oracle wheel  of sets of up to five items

Reports of `olh` at an epsilon of 1, with the published seeds that are chosen for so many people, over items that fall
off as 1 / rank. Through `wheel` everybody draws five of them, some more than once. Every report is made, block by
block; what is timed is adding and decoding, not making. What adding up reports with fresh seeds would take is worked
out from a part of them, added up just before.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .mining import write_between

MARKS = {
    "olh": ("<!-- billion: begin -->", "<!-- billion: end -->"),
    "wheel": ("<!-- sets: begin -->", "<!-- sets: end -->"),
}
PADS = {"olh": 1, "wheel": 5}
BLOCK = 1 << 18
PART = 2 * 10**9  # evaluations with fresh seeds that are timed


def blocks(oracle: Any, people: int, items: int) -> Iterator[tuple[Any, Any]]:
    """Yield everybody's reports, and how many hold each item, a block at a time."""
    from discreet.kernels.jit import in_threads, threads
    from discreet.local.oracle import Answered

    law = np.cumsum(1 / np.arange(1, items + 1))

    def block(start: int) -> tuple[Any, Any]:
        many = min(BLOCK, people - start)
        drawn = np.searchsorted(law, np.random.default_rng(start).random((many, oracle.pad)) * law[-1])
        rows = np.sort(drawn.astype(np.int32), axis=1)
        new = np.ones(rows.shape, bool)
        new[:, 1:] = rows[:, 1:] != rows[:, :-1]
        offsets, held = np.concatenate(([0], np.cumsum(new.sum(1)))), rows[new]
        answered = Answered(offsets=offsets, held=held, people=np.arange(start, start + many))
        return oracle.reports(answered, 7), np.bincount(held, minlength=items)

    starts = range(0, people, BLOCK)
    for at in range(0, len(starts), threads()):
        yield from in_threads(block, starts[at : at + threads()])


def measured(reports: int, items: int, name: str) -> dict[str, Any]:
    """Return a row of the table."""
    from discreet.local.oracle_steps.choice import make

    plain: Any = make(name, Fraction(1), items, pad=PADS[name])
    oracle = plain.expecting(reports)
    for warm in (plain, plain.numbered(1024)):
        columns = next(blocks(warm, 1000, items))[0]
        aggregate = warm.empty()
        warm.add(aggregate, columns)
        warm.decoded(aggregate)
    columns = next(blocks(plain, max(1000, PART // items), items))[0]
    begun, some = time.perf_counter(), len(columns["first"])
    plain.supports(columns)
    fresh = (time.perf_counter() - begun) * reports / some
    aggregate, adding, counts = oracle.empty(), 0.0, np.zeros(items, np.int64)
    for columns, held in blocks(oracle, reports, items):
        begun = time.perf_counter()
        oracle.add(aggregate, columns)
        adding += time.perf_counter() - begun
        counts += held
    begun = time.perf_counter()
    supports = oracle.decoded(aggregate)
    decoding = time.perf_counter() - begun
    row = {
        "reports": f"{reports:,}",
        "items": f"{items:,}",
        "seeds": "fresh" if oracle.seeds is None else f"{oracle.seeds:,}",
        "adding": f"{adding:.2f} s",
        "decoding": f"{decoding:.2f} s",
        "of it decoding": f"{decoding / (adding + decoding):.2f}",
        "fresh seeds, about": f"{fresh:,.1f} s",
        "table, MiB": "" if oracle.seeds is None else f"{aggregate.nbytes / 2**20:.1f}",
        "largest so far, GiB": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}",
    }
    truth = counts / reports
    error = ((oracle.estimate(supports, reports) - truth) ** 2).mean() / plain.variance(truth, reports).mean()
    return {**row, "square error, of fresh seeds": f"{error:.2f}"}


def main() -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="a page with the two marks")
    parser.add_argument("--most", type=int, default=8, help="reports, as a power of ten")
    parser.add_argument("--oracle", choices=[*PADS], default="olh")
    asked = parser.parse_args()
    rows = [measured(10**power, 10**size, asked.oracle) for power in range(6, asked.most + 1) for size in (3, 4, 5)]
    heads = list(rows[0])
    lines = [heads, ["--:"] * len(heads), *([row[head] for head in heads] for row in rows)]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    print(text)
    if asked.write:
        write_between(asked.write, MARKS[asked.oracle], text)


if __name__ == "__main__":
    main()
