"""Count the most frequent items found without a list, by `prefixes`, and with a complete list.

    python -m benchmarks.prefixes                       print the table
    python -m benchmarks.prefixes --people 7            for ten million people at most (a power of ten)
    python -m benchmarks.prefixes --write FILE          put it into FILE, between its two marks

A million made-up addresses, each person holding one, by a law of 1 / rank; the 64 most frequent are wanted. Numbers for
a million people are the mean of three runs with new people, numbers for ten million of one. `wrong` are texts in
results of `prefixes` without a holder, over all runs.
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
SYLLABLES = [consonant + vowel for consonant in "bcdfghklmnprstvz" for vowel in "aeiou"]
ENDS = (".com", ".org", ".net", ".example")
# The questions: texts of up to 24 symbols of ASCII, of the symbols of addresses alone, and a complete list.
WAYS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("`prefixes`", "prefixes", {}),
    ("28 symbols, up to 18 of them", "prefixes", {"alphabet": SYMBOLS, "length": 18}),
    ("`svim-better`, with all listed", "svim-better", {}),
)


def addresses(name_count: int) -> list[str]:
    """Return made-up addresses of 8 to 18 symbols, in an order that has nothing to do with how they begin."""
    generator, names_found = np.random.default_rng(5), {}
    while len(names_found) < name_count:
        for syllable_count in generator.integers(2, 6, name_count).tolist():
            name = "".join(
                SYLLABLES[syllable] for syllable in generator.integers(0, len(SYLLABLES), syllable_count).tolist()
            )
            names_found[name + ENDS[int(generator.integers(0, len(ENDS)))]] = None
    return list(names_found)[:name_count]


def crowd(people: int, texts: list[str], seed: int) -> Any:
    """Return people with one address each."""
    from discreet.baskets import Baskets, Vocabulary

    order = np.argsort(np.array(texts), kind="stable")
    place = np.empty(len(texts), np.int64)
    place[order] = np.arange(len(texts))
    law = np.cumsum(1 / np.arange(1, len(texts) + 1))
    drawn_places = np.searchsorted(law, np.random.default_rng(seed).random(people) * law[-1], side="right")
    labels = [texts[label_place] for label_place in order.tolist()]
    return Baskets(np.arange(people + 1), place[drawn_places].astype(np.int32), Vocabulary(labels))


def rows(max_power: int) -> Iterator[list[str]]:
    """Yield a row for each number of people and epsilon."""
    from discreet import simulate

    texts = addresses(ADDRESSES)
    for power in range(6, max_power + 1):
        runs = RUNS if power < 7 else 1
        crowds = [crowd(10**power, texts, 100 + run) for run in range(runs)]
        for epsilon in EPSILONS:
            cells, wrong, begun = [], 0, time.perf_counter()
            for _, name, settings in WAYS:
                runs_found = []
                for run, people in enumerate(crowds):
                    question = {"top": TOP, "epsilon": epsilon, "seed": run, "speed": "aggregated", "score": False}
                    outcome = simulate(people, name, settings=settings, **question)
                    holder_counts = dict(zip(people.vocabulary, people.item_counts.tolist(), strict=True))
                    labels_found = [label for itemset in outcome.patterns.to_dict() for label in itemset]
                    true_labels = set(sorted(holder_counts, key=lambda text: -holder_counts[text])[:TOP])
                    runs_found.append(len(true_labels & set(labels_found)))
                    if name == "prefixes":  # a list has items without a holder among the people
                        wrong += sum(not holder_counts.get(text) for text in labels_found)
                cells.append(f"{np.mean(runs_found):.3g}")
            seconds = (time.perf_counter() - begun) / runs
            yield [f"{10**power:,}", str(epsilon), *cells, str(wrong), str(runs), f"{seconds:.0f} s"]


def main() -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=6, choices=(6, 7), help="the most people, as a power of ten")
    parser.add_argument("--write", type=Path, help="a page with the two marks")
    args = parser.parse_args()
    head = ["people", "ε", *(name for name, _, _ in WAYS), "wrong", "runs", "a run of all three"]
    lines = [f"| {' | '.join(head)} |", f"|{'--:|' * len(head)}"]
    print(*lines, sep="\n", flush=True)
    for row in rows(args.people):
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    if args.write:
        write_between(args.write, MARKS, "\n".join(lines))


if __name__ == "__main__":
    main()
