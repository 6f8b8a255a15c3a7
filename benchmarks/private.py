"""Measure the time of privacy: a release beside exact mining of its data, in one run.

    python -m benchmarks.private                 print the table
    python -m benchmarks.private --write FILE    put the table into FILE, between its two marks

`exponential` is compared with mining at the threshold down to which it lists itemsets, further mechanisms with mining
at the requested threshold or of the requested top. "From file" includes reading the file, as `discreet release` and
`discreet mine` do. Times are the best of several runs; a release draws from the system's source.
"""

from __future__ import annotations

import argparse
import lzma
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .mining import time_best, write_between

SETS = {"kosarak_100k": 0.02, "retail": 0.02, "BMS-POS_275k": 0.02, "connect": 0.95}
MARKS = ("<!-- private: begin -->", "<!-- private: end -->")


def rows(name: str, fraction: float, folder: Path) -> Iterator[list[str]]:
    """Measure one data set."""
    import discreet
    from discreet_lab.data import datasets

    path = folder / f"{name}.dat"
    with lzma.open(datasets.path(name)) as packed_file:
        path.write_bytes(packed_file.read())
    baskets = discreet.read(path)
    read_seconds = time_best(lambda: discreet.read(path))
    count = round(fraction * len(baskets))
    questions: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    for mechanism in ("exponential", "privbasis", "auto"):
        fields = {"top": 100, "mechanism": mechanism}
        questions.append((f"`{mechanism}`, top 100", fields, {"top": 100}))
    for mechanism in ("truncated", "privbasis", "auto"):
        fields = {"min_count": count, "mechanism": mechanism}
        questions.append((f"`{mechanism}`, support {fraction:g}", fields, {"min_count": count}))
    for cell, fields, exact in questions:
        if fields["mechanism"] == "exponential":
            exact = {"min_count": _floor(baskets), "lengths": (1, 6)}
        fields |= {"people": len(baskets)}
        private = time_best(lambda: discreet.release(baskets, epsilon=1, items="public", **fields))  # noqa: B023
        plain = time_best(lambda: discreet.mine(baskets, **exact))  # noqa: B023
        yield [
            name,
            cell,
            f"{1000 * plain:.0f}",
            f"{1000 * private:.0f}",
            f"{private / plain:.1f}",
            f"{(read_seconds + private) / (read_seconds + plain):.2f}",
        ]


def _floor(baskets: Any) -> int:
    """Return the smallest count that `exponential` lists for the top 100 at epsilon 1, as its page says."""
    import discreet

    gamma = discreet.release(baskets, top=100, epsilon=1, items="public", people=len(baskets), mechanism="exponential")
    last_count = int(discreet.mine(baskets, top=100).counts[-1])
    return max(last_count - gamma.facts["gamma"], -(-gamma.facts["gamma"] // 20)) + 1


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    place = parser.parse_args().write
    lines = ["| data | release | mining, ms | release, ms | ratio | ratio from file |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for name, fraction in SETS.items():
            lines += ["| " + " | ".join(row) + " |" for row in rows(name, fraction, Path(folder))]
    text = "\n".join(lines)
    if place is None:
        print(text)
    else:
        write_between(place, MARKS, text)


if __name__ == "__main__":
    main()
