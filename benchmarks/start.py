"""How long commands take from the first second on: with an empty cache, again, with compiled code, and plain.

Each run is a process of its own. User and system time are the process's and its children's, so that a busy machine
shows less; wall time is beside it. `python -m benchmarks.start` wants OnlineRetail_baskets (see `docs/data.md`).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = {
    "mine --top 20": ("mine", "FILE", "--top", "20"),
    "mine --min-support 0.02": ("mine", "FILE", "--min-support", "0.02"),
    "rules --min-support 0.02": ("rules", "FILE", "--min-support", "0.02"),
    "release --top 20": ("release", "FILE", "--top", "20", "--epsilon", "1", "--items", "public"),
    "simulate --top 20": ("simulate", "FILE", "--top", "20", "--epsilon", "2"),
    "demo": ("demo",),
    "--help": ("--help",),
}


def timed(command: tuple[str, ...], file: Path, cache: Path, **variables: str) -> tuple[float, float]:
    """Run a command; return its wall time, and its user and system time together."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "DISCREET_PREPARE": "0", **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if "DISCREET_JIT" not in variables:
        environment.pop("DISCREET_JIT", None)
    words = [str(file) if word == "FILE" else word for word in command]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    discreet = str(Path(sys.executable).with_name("discreet"))
    subprocess.run([discreet, *words], env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begun, processor_seconds


def format_times(runs: list[tuple[float, float]]) -> str:
    """Return the quickest of several runs, as wall time and time of the processor."""
    return f"{min(wall for wall, _ in runs):.2f} / {min(processor_seconds for _, processor_seconds in runs):.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="how often each but the compiling runs is repeated")
    parser.add_argument("--compiling", action="store_true", help="also time the first run with everything compiled")
    parser.add_argument("--only", help="the commands that begin with this")
    args = parser.parse_args()
    from discreet_lab.data import datasets

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "baskets.dat"
        baskets = datasets.load("OnlineRetail_baskets")
        labels = baskets.vocabulary.labels.to_numpy()[baskets.codes].astype(str)
        rows = zip(baskets.offsets[:-1], baskets.offsets[1:], strict=True)
        file.write_text("".join(" ".join(labels[low:high]) + "\n" for low, high in rows))
        print(f"{len(baskets):,} people; seconds, wall / user and system\n")
        print("| command | first, empty cache | second | plain | compiled first | compiled again |")
        print("|---|--:|--:|--:|--:|--:|")
        for name, command in COMMANDS.items():
            if args.only and not name.startswith(args.only):
                continue
            timed(command, file, Path(folder) / "warm")  # the disk, and Python's own files
            first_rows = []
            for _ in range(args.times):
                shutil.rmtree(Path(folder) / "cache", ignore_errors=True)
                first_rows.append(timed(command, file, Path(folder) / "cache"))
            cells = [first_rows, [timed(command, file, Path(folder) / "cache") for _ in range(args.times)]]
            cells.append([timed(command, file, Path(folder) / "cache", DISCREET_JIT="0") for _ in range(args.times)])
            table_cells = [format_times(runs) for runs in cells]
            if args.compiling:
                place = Path(folder) / "compiled"
                table_cells.append(format_times([timed(command, file, place, DISCREET_JIT="1")]))
                table_cells.append(
                    format_times([timed(command, file, place, DISCREET_JIT="1") for _ in range(args.times)])
                )
            else:
                table_cells += ["", ""]
            print(f"| `{name}` | {' | '.join(table_cells)} |", flush=True)


if __name__ == "__main__":
    main()
