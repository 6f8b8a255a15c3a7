"""Compare exact mining with PyFIM and mlxtend, side by side in one run.

    python -m benchmarks.mining                 print the tables
    python -m benchmarks.mining retail chess    only the named data sets
    python -m benchmarks.mining --write FILE    put the tables into FILE, between its two marks

Times are the best of several runs of equal work in one process: PyFIM gets its input as Python lists
already made, and the better of its `fpgrowth` and `eclat` counts; ours gets `Baskets`. "From file" adds reading the
uncompressed text: for PyFIM by the usual line of Python, for us by `discreet.read`. mlxtend gets a sparse boolean
frame already made, and two minutes. Nothing here is asserted: a ratio is for people to look at.
"""

from __future__ import annotations

import argparse
import gc
import lzma
import math
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

SETS = {
    "retail": "0.1",
    "T10I4D100K": "0.1",
    "mushroom": "5",
    "chess": "50",
    "connect": "85",
    "kosarak_100k": "0.3",
    "BMS-POS_275k": "0.2",
    "OnlineRetail_words": "0.2",
}
MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")
_PATIENCE = 120


def time_best(run: Callable[[], Any], seconds: float = 3.0, min_runs: int = 3) -> float:
    """Return the shortest time of several runs."""
    times: list[float] = []
    while len(times) < min_runs or (sum(times) < seconds and len(times) < 25):
        gc.collect()
        begun = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - begun)
        del result
    return min(times)


def write_between(path: Path, marks: tuple[str, str], text: str) -> None:
    """Put a text between the two marks of a page."""
    begin, end = marks
    page = path.read_text()
    head, _, after_text = page.partition(begin)
    path.write_text(f"{head}{begin}\n\n{text}\n\n{end}{after_text.partition(end)[2]}")


def print_or_write(
    tables: Callable[[], Iterable[str]],
    marks: tuple[str, str],
    speeds: tuple[Callable[[], Iterable[str]], tuple[str, str]] | None = None,
) -> None:
    """Print tables, or put them between the marks of the page that --write names; say how long they took.

    With `speeds`, --speed makes the tables of speeds instead, between their own marks.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    if speeds is not None:
        parser.add_argument("--speed", action="store_true")
    args = parser.parse_args()
    begun = time.perf_counter()
    if speeds is not None and args.speed:
        tables, marks = speeds
    text = "\n".join(tables()).rstrip()
    sys.stderr.write(f"{time.perf_counter() - begun:.0f} s\n")
    if args.write is None:
        print(text)
    else:
        write_between(args.write, marks, text)


def lists(path: Path) -> list[list[int]]:
    """Read FIMI text as a user of PyFIM would."""
    with path.open() as file:
        return [list(map(int, line.split())) for line in file]


def compare(name: str, percent: str, folder: Path) -> dict[str, Any]:
    """Measure one data set."""
    import fim

    import discreet
    from discreet_lab.data import datasets

    path = folder / f"{name}.dat"
    with lzma.open(datasets.path(name)) as packed_file:
        path.write_bytes(packed_file.read())
    baskets = discreet.read(path)
    count = math.ceil(Fraction(percent) * len(baskets) / 100)

    patterns = len(discreet.mine(baskets, min_count=count))
    ours = time_best(lambda: discreet.mine(baskets, min_count=count))
    ours_file = time_best(lambda: discreet.mine(discreet.read(path), min_count=count))

    def theirs(peer: str, rows: list[list[int]]) -> Any:
        return getattr(fim, peer)(rows, target="s", supp=-count, zmin=1, report="a")

    rows = lists(path)
    peers = {peer: time_best(partial(theirs, peer, rows)) for peer in ("fpgrowth", "eclat")}
    peer = min(peers, key=lambda key: peers[key])
    del rows
    peer_file = time_best(lambda: theirs(peer, lists(path)), min_runs=2)
    frame = limited(mlxtend_time, str(path), count)
    return {
        "data": name,
        "threshold": f"{percent} %",
        "patterns": patterns,
        "ours": ours,
        "peer": peers[peer],
        "peer name": peer,
        "ours_file": ours_file,
        "peer_file": peer_file,
        "mlxtend": frame,
    }


def mlxtend_time(path: str, count: int) -> float:
    """Return mlxtend's mining time, on a sparse frame with only the frequent items."""
    import numpy as np
    import pandas as pd
    import scipy.sparse
    from mlxtend.frequent_patterns import fpgrowth

    import discreet

    baskets = discreet.read(path)
    shape = (len(baskets), baskets.items)
    matrix = scipy.sparse.csr_matrix((np.ones(len(baskets.codes), bool), baskets.codes, baskets.offsets), shape)
    matrix = matrix[:, baskets.item_counts >= count]
    frame = pd.DataFrame.sparse.from_spmatrix(matrix).astype(pd.SparseDtype(bool, False))
    return time_best(lambda: fpgrowth(frame, min_support=(count - 0.5) / len(baskets)), seconds=1, min_runs=1)


def limited(function: Callable[..., float], *arguments: Any) -> float | None:
    """Run a function in a process of its own; None if it does not finish in time."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(send, function, arguments))
    process.start()
    send.close()
    result = None
    if receive.poll(_PATIENCE):
        try:
            result = receive.recv()
        except EOFError:
            result = None
    process.kill()
    process.join()
    return result


def _send(send: Any, function: Callable[..., float], arguments: tuple[Any, ...]) -> None:
    send.send(function(*arguments))


def mean(values: list[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def rows_of(results: list[dict[str, Any]]) -> list[str]:
    """Return the comparison as a Markdown table."""
    lines = [
        "| data | at | patterns | discreet | PyFIM | ratio | discreet, from file | PyFIM, from file | ratio | mlxtend "
        "| ratio |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for r in results:
        frame = r["mlxtend"]
        frame_text = f"{frame:.2f} s | {frame / r['ours']:.0f}" if frame is not None else f"over {_PATIENCE} s | –"
        lines.append(
            f"| {r['data']} | {r['threshold']} | {r['patterns']:,} | {r['ours'] * 1e3:.1f} ms "
            f"| {r['peer'] * 1e3:.1f} ms ({r['peer name']}) | **{r['peer'] / r['ours']:.1f}** "
            f"| {r['ours_file'] * 1e3:.1f} ms | {r['peer_file'] * 1e3:.1f} ms "
            f"| **{r['peer_file'] / r['ours_file']:.1f}** | {frame_text} |"
        )
    mining = mean([r["peer"] / r["ours"] for r in results])
    file = mean([r["peer_file"] / r["ours_file"] for r in results])
    frames = [r["mlxtend"] / r["ours"] for r in results if r["mlxtend"] is not None]
    frame_text = f"**{mean(frames):.0f}**" if frames else "–"
    lines.append(f"| geometric mean | | | | | **{mining:.1f}** | | | **{file:.1f}** | | {frame_text} |")
    return lines


def heading() -> list[str]:
    """Return the date and the shape of the machine."""
    from importlib.metadata import version

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pyfim", "mlxtend"))
    return [
        f"Measured {date.today():%Y-%m-%d} on {cores} cores ({platform.machine()}), Python "
        f"{platform.python_version()}, {packages}.",
        "",
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", help=f"any of {', '.join(SETS)}; all of them by default")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables between the marks of FILE")
    args = parser.parse_args()
    unknown = [name for name in args.data if name not in SETS]
    if unknown:
        parser.error(f"no such data set here: {unknown[0]}; there are {', '.join(SETS)}")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.data or SETS:
            results.append(compare(name, SETS[name], Path(folder)))
            sys.stderr.write(f"{rows_of(results[-1:])[2]}\n")
    from benchmarks import footprint

    footprint_lines = [] if args.data else [*footprint.rows_of(), "", *footprint.memory_rows(SETS)]
    lines = [*heading(), *rows_of(results), "", *footprint_lines]
    text = "\n".join(lines)
    print(text)
    if args.write is not None:
        write_between(args.write, MARKS, text)


if __name__ == "__main__":
    main()
