"""Items that no list has: how many of the most frequent are found, by `prefixes` and where all of them are listed.

    python -m benchmarks.prefixes                       print the table
    python -m benchmarks.prefixes --people 7            for ten million people at most (a power of ten)
    python -m benchmarks.prefixes --write FILE          put it into FILE, between its two marks

A million made-up addresses, each person holding one, by a law of 1 / rank; the 64 most frequent are wanted. Numbers for
a million people are the mean of three runs with other people, those for ten million of one. `wrong` are texts in
results of `prefixes` that nobody holds, over all runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .mining import write_between

MARKS = ("<!-- prefixes: begin -->", "<!-- prefixes: end -->")
ADDRESSES, TOP, RUNS = 1_000_000, 64, 3
EPSILONS = (1, 2, 4)
SYMBOLS = "abcdefghijklmnopqrstuvwxyz.-"
SYLLABLES = [one + other for one in "bcdfghklmnprstvz" for other in "aeiou"]
ENDS = (".com", ".org", ".net", ".example")
# What is asked, and how: all symbols of ASCII and up to 24 of them, those that addresses have, and a list of all.
WAYS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("`prefixes`", "prefixes", {}),
    ("28 symbols, up to 18 of them", "prefixes", {"alphabet": SYMBOLS, "length": 18}),
    ("`svim-better`, with all listed", "svim-better", {}),
)


def addresses(many: int) -> list[str]:
    """Return made-up addresses of 8 to 18 symbols, in an order that has nothing to do with how they begin."""
    generator, found = np.random.default_rng(5), {}
    while len(found) < many:
        for long in generator.integers(2, 6, many).tolist():
            name = "".join(SYLLABLES[at] for at in generator.integers(0, len(SYLLABLES), long).tolist())
            found[name + ENDS[int(generator.integers(0, len(ENDS)))]] = None
    return list(found)[:many]


def crowd(people: int, texts: list[str], seed: int) -> Any:
    """Return people who hold one address each."""
    from discreet.baskets import Baskets, Vocabulary

    order = np.argsort(np.array(texts), kind="stable")
    place = np.empty(len(texts), np.int64)
    place[order] = np.arange(len(texts))
    law = np.cumsum(1 / np.arange(1, len(texts) + 1))
    drawn = np.searchsorted(law, np.random.default_rng(seed).random(people) * law[-1], side="right")
    labels = [texts[at] for at in order.tolist()]
    return Baskets(np.arange(people + 1), place[drawn].astype(np.int32), Vocabulary(labels))


def rows(most: int) -> Iterator[list[str]]:
    """Yield a row for each number of people and epsilon."""
    from discreet import simulate

    texts = addresses(ADDRESSES)
    for power in range(6, most + 1):
        runs = RUNS if power < 7 else 1
        crowds = [crowd(10**power, texts, 100 + run) for run in range(runs)]
        for epsilon in EPSILONS:
            cells, wrong, begun = [], 0, time.perf_counter()
            for _, name, settings in WAYS:
                found = []
                for run, people in enumerate(crowds):
                    asked = {"top": TOP, "epsilon": epsilon, "seed": run, "speed": "aggregated", "score": False}
                    outcome = simulate(people, name, settings=settings, **asked)
                    held = dict(zip(people.vocabulary, people.item_counts.tolist(), strict=True))
                    told = [label for one in outcome.patterns.to_dict() for label in one]
                    true = set(sorted(held, key=lambda text: -held[text])[:TOP])
                    found.append(len(true & set(told)))
                    if name == "prefixes":  # a list has items that none of these people holds
                        wrong += sum(not held.get(text) for text in told)
                cells.append(f"{np.mean(found):.3g}")
            taken = (time.perf_counter() - begun) / runs
            yield [f"{10**power:,}", str(epsilon), *cells, str(wrong), str(runs), f"{taken:.0f} s"]


def main() -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=6, choices=(6, 7), help="the most people, as a power of ten")
    parser.add_argument("--write", type=Path, help="a page with the two marks")
    asked = parser.parse_args()
    head = ["people", "ε", *(name for name, _, _ in WAYS), "wrong", "runs", "a run of all three"]
    lines = [f"| {' | '.join(head)} |", f"|{'--:|' * len(head)}"]
    print(*lines, sep="\n", flush=True)
    for row in rows(asked.people):
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    if asked.write:
        write_between(asked.write, MARKS, "\n".join(lines))


if __name__ == "__main__":
    main()
