"""Measure the rate of false claims: `discreet diff` between two releases of unchanged data.

Each pair is two releases of one data set with independent noise, so every claim is false: `python
benchmarks/differences.py [PAIRS]`, with that number of pairs of each setting. The noise is seeded. Two data sets are in
`discreet lab`. The third is a small crowd of a public size: nearly all or almost no people hold many of its items, so
the noise takes counts beyond their range. The promise is a false claim in 50 of 1,000 pairs at most. The last column is
the median width of the intervals of the differences: the size that a true change needs to be claimed.

Of receipts, each release draws other baskets of a person, under a cap that is given or chosen with noise; releases with
different caps are not compared. The receipts are from OnlineRetail, and from a crowd of equal people.
"""

from __future__ import annotations

import itertools
import statistics
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import discreet
from discreet.baskets import Baskets, starts
from discreet.exact import engine_of
from discreet.planning import trial
from discreet_lab.data.datasets import load, path

DATASETS = ("groceries", "mushroom")
RECEIPTS = ("OnlineRetail", "equal people")
CAPS = (1, 4, None)
EPSILONS = ("0.1", "1", "5")
TOPS = (10, 30, 100)
# Two mechanisms each: the pairs of the last three are releases by different ones.
MECHANISMS = (
    *((name, name) for name in ("auto", "clipped", "peeling", "bases", "exponential")),
    ("auto", "exponential"),
    ("clipped", "bases"),
    ("peeling", "clipped"),
)
RECEIPT_MECHANISMS = (("auto", "auto"), ("clipped", "clipped"), ("peeling", "clipped"))
CROWD = 300  # people
CROWD_ITEMS = [f"{kind} {item_number:02}" for kind in ("all", "few", "none") for item_number in range(20)]
CROWD_MECHANISMS = ("count", "laplace", "clipped", "peeling", "bases", "privbasis", "exponential", "truncated-items")
# Noisy releases beside releases with next to no noise: a cut count with a short interval is a false claim.
CROWD_EPSILONS = (("0.1", "0.1"), ("1", "1"), ("5", "5"), ("0.1", "5"), ("0.3", "5"), ("0.1", "20"), ("1", "20"))
CROWD_PUBLIC = ({"people": CROWD}, {"neighbours": "replace"})
PAIRS = 10  # of each setting

# The data, their name, the questions of both releases, and the labels of the questions.
Setting = tuple[Any, str, tuple[dict[str, Any], dict[str, Any]], tuple[str, ...]]


def crowd() -> discreet.Baskets:
    """Return baskets of which 20 items are in nearly all, 20 in one of twenty, and 20 in none."""
    everybody, popular_items = CROWD_ITEMS[:20], CROWD_ITEMS[20:40]
    return discreet.read(
        [
            [
                *everybody[: 19 - person % 200 // 180],
                *(popular_items[number] for number in range(20) if (person + 7 * number) % 20 == 0),
            ]
            for person in range(CROWD)
        ]
    )


def settings() -> Iterator[Setting]:
    """Yield every pair of questions about one data set."""
    for name in DATASETS:
        baskets = load(name)
        for mechanisms, epsilon, top in itertools.product(MECHANISMS, EPSILONS, TOPS):
            # Picking one by one among all itemsets takes minutes.
            lengths = 1 if "exponential" in mechanisms else None
            question = {"top": top, "lengths": lengths, "epsilon": epsilon, "items": "public"}
            question_pair = tuple(question | {"mechanism": mechanism} for mechanism in mechanisms)
            yield baskets, name, question_pair, ("/".join(mechanisms), epsilon, str(top))
    baskets = crowd()
    for mechanism, epsilons, public in itertools.product(CROWD_MECHANISMS, CROWD_EPSILONS, CROWD_PUBLIC):
        top = {"top": len(CROWD_ITEMS), "lengths": 1}
        question = {"itemsets": [[item] for item in CROWD_ITEMS]} if mechanism == "count" else top
        question = question | public | {"items": CROWD_ITEMS, "mechanism": mechanism}
        question_pair = tuple(question | {"epsilon": epsilon} for epsilon in epsilons)
        name = f"crowd ({', '.join(map(str, public.keys()))})"
        yield baskets, name, question_pair, (mechanism, "/".join(epsilons), str(len(CROWD_ITEMS)))
    for name in RECEIPTS:
        baskets = read_receipts(name)
        for mechanisms, epsilon, cap in itertools.product(RECEIPT_MECHANISMS, EPSILONS, CAPS):
            question = {"epsilon": epsilon, "top": 10, "lengths": 1, "max_baskets": cap, "items": "public"}
            question_pair = tuple(question | {"mechanism": mechanism} for mechanism in mechanisms)
            described = f"{name}, " + (f"at most {cap}" if cap else "cap chosen")
            yield baskets, described, question_pair, ("/".join(mechanisms), epsilon, "10")


def read_receipts(name: str) -> Baskets:
    """Return people with several baskets: of a shop, or 5,000 people with 12 equal baskets each."""
    if name == "OnlineRetail":
        return discreet.read(path("OnlineRetail_events"), person="customer", basket="time", item="item")
    codes = np.tile(np.arange(12, dtype=np.int32), 5_000)
    vocabulary = discreet.Vocabulary([f"item {code:02}" for code in range(12)])
    return Baskets(np.arange(len(codes) + 1), codes, vocabulary, owners=starts([12] * 5_000))


def count_false_claims(pair_count: int = PAIRS) -> None:
    """Print, for each setting, the number of pairs with a false claim of a change."""
    print("| data | mechanisms | epsilon | top | pairs | with a false claim | false claims | compared | width |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    pairs_of: dict[str, list[bool]] = {}
    for baskets, name, questions, columns in settings():
        # Baskets that are recoded by a list or capped need an engine of each release's own.
        has_own_crowd = questions[0]["items"] == CROWD_ITEMS or baskets.has_receipts
        engine = None if has_own_crowd else engine_of(baskets)
        claims, widths = [], []
        for pair in range(pair_count):
            before, after = (
                trial(
                    baskets,
                    seed=2 * pair + side,
                    engine=lambda asked, kept=engine: kept or engine_of(asked),
                    **question,
                )
                for side, question in enumerate(questions)
            )
            changes = discreet.diff(before, after)
            claims.append(len(changes.clear))
            widths += [row.high - row.low for row in changes if row.low is not None and row.high is not None]
        false_claims = sum(map(bool, claims))
        pairs_of.setdefault(name, []).extend(map(bool, claims))
        width = f"{statistics.median(widths):.4f}" if widths else "–"
        row = (name, *columns, pair_count, false_claims, sum(claims), len(widths), width)
        print(f"| {' | '.join(map(str, row))} |", flush=True)
    print()
    for name, pairs in pairs_of.items():
        print(f"{name}: {1000 * sum(pairs) / len(pairs):.1f} of 1,000 pairs have a false claim ({sum(pairs)}).")


if __name__ == "__main__":
    count_false_claims(*map(int, sys.argv[1:2]))
