"""What an exact choice costs: some of a million listed candidates and 10^13 unlisted ones.

    python -m benchmarks.selection                 print the table
    python -m benchmarks.selection --write FILE    put the table into FILE, between its two marks

Beside it runs what one would write with numpy: Gumbel noise in floating point on the listed candidates alone, and the
largest of them. That is not exact and knows of no unlisted candidates; it shows what a look at a million numbers costs.
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

from .mining import best, write_between

LISTED = 10**6
UNLISTED = 10**13
MARKS = ("<!-- selection: begin -->", "<!-- selection: end -->")


def data() -> Iterator[tuple[str, Any]]:
    """Yield made-up counts: as counts of itemsets are, spread evenly, and all different."""
    rng = np.random.default_rng(1)
    yield "heavy-tailed", np.minimum(rng.zipf(1.3, LISTED), 88_000)
    yield "even", rng.integers(1, 88_001, LISTED)
    yield "all different", rng.permutation(LISTED) + 1


def ways(scores: Any, top: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the ways of choosing."""
    from discreet.privacy.sampling import SystemSource, selection

    rate = Fraction(1, 2 * top)

    def chosen(routine: Callable[..., list[int]], strength: Fraction) -> Callable[[], Any]:
        def run() -> Any:
            source, tallies = SystemSource(), selection.Tallies.of(scores, (0, UNLISTED))
            return selection.draw_members(
                source, tallies, routine(source, tallies, strength, top), scores, (0, UNLISTED)
            )

        return run

    yield "`exponential`", chosen(selection.exponential, rate)
    yield "`gumbel`", chosen(selection.gumbel, rate)
    yield "`permute-and-flip`", chosen(selection.permute_and_flip, rate)
    yield "`laplace`", chosen(selection.noisy_top, 1 / rate)


def rows() -> Iterator[list[str]]:
    """Measure every way on every set of scores."""
    rng = np.random.default_rng(2)
    for name, scores in data():
        for top in (100, 1_000):
            rate = 1 / (2 * top)
            plain = best(lambda: np.argpartition(-(rate * scores + rng.gumbel(size=LISTED)), top)[:top])  # noqa: B023
            for way, run in ways(scores, top):
                taken = best(run)
                tracemalloc.start()
                run()
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                many = f"{len(np.unique(scores)):,}"
                yield [
                    name,
                    many,
                    f"{top:,}",
                    way,
                    f"{taken:.2f}",
                    f"{plain:.2f}",
                    f"{taken / plain:.1f}",
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
