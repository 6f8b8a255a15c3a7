"""How good a first filter of relations is, where the truth is known: beside a guess, and beside chance (D10)."""

from __future__ import annotations

import numpy as np

from ...baskets import Baskets
from ...exact import How, pair_counts
from ._conversation import Learnt


def frequent_kept(baskets: Baskets, learnt: Learnt, how: How) -> dict[str, float]:
    """Return which share of the truly most frequent relations of the items found was kept, by name of the filter.

    As many relations are looked for as were kept; those that nobody holds are not. A filter that keeps many of all
    there are has much of that by chance, which is why chance stands beside it. The evidence has another measure, which
    share of the *wanted* relations is kept: those of the truly most frequent items, chosen by confidence too.
    """
    order = np.array([itemset[0] for itemset in learnt.itemsets if len(itemset) == 1], np.int64)
    kept, guessed = ({chain for chain in some if len(chain) == 2} for some in (learnt.kept, learnt.guessed))
    codes, counts = pair_counts(baskets, order, how)
    best = codes[np.argsort(-counts, kind="stable")[: len(kept)]]
    width = len(order)
    true = {(int(order[code // width]), int(order[code % width])) for code in best}
    every = max(1, width * (width - 1))
    return {
        "frequent relations kept by the matrix": len(true & kept) / max(1, len(true)),
        "frequent relations kept by the independence guess": len(true & guessed) / max(1, len(true)),
        "frequent relations kept by chance": min(1.0, len(kept) / every),
    }
