"""Measure the costs of a run besides mining: starting up, compiling, memory. Each in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_LARGE_PROGRAM = """
import sys, time
import discreet
from pathlib import Path
begun = time.perf_counter()
baskets = discreet.read(sys.argv[1])
read = time.perf_counter() - begun
patterns = discreet.mine(baskets, min_support=0.01)
total = time.perf_counter() - begun
csr = baskets.offsets.nbytes + baskets.codes.nbytes
# Not getrusage: its peak includes that of the parent at the time of the fork.
peak = 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
print(len(baskets), len(patterns), read, total - read, csr, peak)
"""

_MAKE = """
import sys
from discreet_lab.data import datasets
baskets = datasets.load("kosarak_100k", people=990_002, seed=1)
labels = baskets.vocabulary.labels.to_numpy()[baskets.codes].astype(str)
with open(sys.argv[1], "w") as file:
    for person in range(len(baskets)):
        file.write(" ".join(labels[baskets.offsets[person]:baskets.offsets[person + 1]]) + "\\n")
"""


_MEMORY = """
import gc, sys
from pathlib import Path
import discreet
from discreet_lab.data import datasets

def status(name):
    return 1024 * int(Path("/proc/self/status").read_text().split(name + ":")[1].split()[0])

from discreet.baskets._generate import quest

# Load the compiled code of both layouts before anything is measured.
discreet.mine([{1, 2, 3}] * 70, min_count=1)
discreet.mine(quest(500, 300, 5, 2, seed=1), min_count=5)
baskets = datasets.load(sys.argv[1])
rows = baskets.offsets.nbytes + baskets.codes.nbytes
gc.collect()
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = status("VmRSS")
found = discreet.mine(baskets, min_support=str(float(sys.argv[2]) / 100))
peak = status("VmHWM") - before
output = found.offsets.nbytes + found.codes.nbytes + found.counts.nbytes
print(rows, peak, output)
"""


def run(*command: str, home: str | None = None) -> tuple[float, str]:
    """Run a command; return its time and its output."""
    environment = dict(os.environ)
    if home is not None:
        environment |= {"HOME": home, "XDG_CACHE_HOME": f"{home}/cache"}
        for name in ("NUMBA_CACHE_DIR", "DISCREET_JIT"):
            environment.pop(name, None)
    begun = time.perf_counter()
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return time.perf_counter() - begun, completed.stdout


def quickest(*command: str, times: int = 5) -> float:
    """Return the shortest of several runs."""
    return min(run(*command)[0] for _ in range(times))


def memory_rows(sets: dict[str, str]) -> list[str]:
    """Return the memory of mining beyond the rows themselves, as a Markdown table (Linux only)."""
    lines = [
        "| data | rows | mining, at its peak, adds | of that the output | all, over (2 × rows + output) |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, percent in sets.items():
        _, program_output = run(sys.executable, "-c", _MEMORY, name, percent)
        rows, peak, output = (int(number) / 2**20 for number in program_output.split())
        share = (rows + peak) / (2 * rows + output)
        lines.append(f"| {name} | {rows:.1f} MiB | {peak:.1f} MiB | {output:.1f} MiB | {share:.2f} |")
    return lines


def rows_of() -> list[str]:
    """Return the figures as a Markdown table."""
    python = sys.executable
    discreet = str(Path(python).with_name("discreet"))
    bare = quickest(python, "-c", "pass")
    with tempfile.TemporaryDirectory() as home:
        first_seconds, _ = run(discreet, "demo", home=home)
        second, _ = run(discreet, "demo", home=home)
        large_file = Path(home) / "kosarak.dat"
        run(python, "-c", _MAKE, str(large_file))
        run(python, "-c", _LARGE_PROGRAM, str(large_file), home=home)
        _, output = run(python, "-c", _LARGE_PROGRAM, str(large_file), home=home)
    people, patterns, read_seconds, mined, csr, peak = output.split()
    mebi = 1 << 20
    return [
        "| what | measured |",
        "|---|--:|",
        f"| `import discreet`, over starting Python | {quickest(python, '-c', 'import discreet') - bare:.3f} s |",
        f"| `discreet --help` | {quickest(discreet, '--help'):.2f} s |",
        f"| `discreet demo`, the first run ever | {first_seconds:.1f} s |",
        f"| `discreet demo` again | {second:.1f} s |",
        f"| kosarak_100k resampled to {int(people):,} people: read from text | {float(read_seconds):.2f} s |",
        f"| … and mined at 1 % ({int(patterns):,} patterns) | {float(mined):.2f} s |",
        f"| … peak memory of the process (the rows alone are {int(csr) // mebi} MiB) | {int(peak) // mebi} MiB |",
    ]


if __name__ == "__main__":
    print("\n".join(rows_of()))
