"""Measure the time of an exact choice among a million listed and 10^13 unlisted candidates.

    python -m benchmarks.selection                 print the table
    python -m benchmarks.selection --write FILE    put the table into FILE, between its two marks

The comparison is the usual code with numpy: the largest of the listed candidates after Gumbel noise in floating point.
That is not exact and knows of no unlisted candidates; it shows the cost of reading a million numbers.
Times are the best of several runs and include tallying the scores; bits come from the system's source.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .mining import time_best, write_between

LISTED_COUNT = 10**6
UNLISTED = 10**13
MARKS = ("<!-- selection: begin -->", "<!-- selection: end -->")


def data() -> Iterator[tuple[str, Any]]:
    """Yield made-up counts: as counts of itemsets are, spread evenly, and all different."""
    rng = np.random.default_rng(1)
    yield "heavy-tailed", np.minimum(rng.zipf(1.3, LISTED_COUNT), 88_000)
    yield "even", rng.integers(1, 88_001, LISTED_COUNT)
    yield "all different", rng.permutation(LISTED_COUNT) + 1


def ways(scores: Any, top: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the ways of choosing."""
    from discreet.privacy.sampling import SystemSource, selection

    rate = Fraction(1, 2 * top)

    def run_routine(routine: Callable[..., list[int]], strength: Fraction) -> Callable[[], Any]:
        def run() -> Any:
            source, tallies = SystemSource(), selection.Tallies.group_scores(scores, (0, UNLISTED))
            return selection.draw_members(
                source, tallies, routine(source, tallies, strength, top), scores, (0, UNLISTED)
            )

        return run

    yield "`exponential`", run_routine(selection.exponential, rate)
    yield "`gumbel`", run_routine(selection.gumbel, rate)
    yield "`permute-and-flip`", run_routine(selection.permute_and_flip, rate)
    yield "`laplace`", run_routine(selection.noisy_top, 1 / rate)


def rows() -> Iterator[list[str]]:
    """Measure every way on every set of scores."""
    rng = np.random.default_rng(2)
    for name, scores in data():
        for top in (100, 1_000):
            rate = 1 / (2 * top)
            plain = time_best(lambda: np.argpartition(-(rate * scores + rng.gumbel(size=LISTED_COUNT)), top)[:top])  # noqa: B023
            for way, run in ways(scores, top):
                best_seconds = time_best(run)
                tracemalloc.start()
                run()
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                distinct_scores = f"{len(np.unique(scores)):,}"
                yield [
                    name,
                    distinct_scores,
                    f"{top:,}",
                    way,
                    f"{best_seconds:.2f}",
                    f"{plain:.2f}",
                    f"{best_seconds / plain:.1f}",
                    f"{peak / 2**20:.0f}",
                ]


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    place = parser.parse_args().write
    lines = [
        "| scores | different | top | way | s | numpy, listed alone, s | ratio | peak, MiB |",
        "|---|--:|--:|---|--:|--:|--:|--:|",
        *("| " + " | ".join(row) + " |" for row in rows()),
    ]
    if place is None:
        print("\n".join(lines))
    else:
        write_between(place, MARKS, "\n".join(lines))


if __name__ == "__main__":
    main()
