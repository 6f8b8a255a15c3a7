"""Candidates by the a priori property: itemsets all of whose subsets with one item less are still in the running.

They are made of released itemsets alone. There are at most so many, the best by frequency score, the sum of the noisy
counts of those subsets (Zeng, Naughton, Cai 2012, definition 8): so the cost is bounded by a public number, whatever
the noise let through.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...baskets.lineage import Lineage
from ...results.itemsets import Index, Itemsets

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

# How many pairs of itemsets are put together at a time.
_AT_ONCE = 1 << 20


def joined(itemsets: Itemsets, counts: I64, most: int, lineage: Lineage | None = None) -> tuple[Itemsets, I64]:
    """Return the candidates with one more item than the given itemsets, and their frequency scores.

    Parameters
    ----------
    itemsets
        Different itemsets of one size.
    counts
        Their noisy counts, 0 or more.
    most
        How many candidates there may be; the best by score stay.
    lineage
        Which items stand above which: no candidate has two of which one does.

    Examples
    --------
    >>> one = Itemsets(np.arange(0, 8, 2), np.array([1, 4, 1, 7, 4, 7], np.int32))
    >>> found, scores = joined(one, np.array([30, 20, 10]), most=100)
    >>> found.codes.tolist(), scores.tolist()
    ([1, 4, 7], [60])
    """
    if len(itemsets) < 2:
        return rows(np.empty((0, 2), np.int32)), np.empty(0, np.int64)
    size = int(itemsets.sizes[0])
    if size == 1:
        found, scores = _pairs(itemsets.codes, counts, most, lineage)
    else:
        found, scores = _wider(itemsets.codes.reshape(-1, size), counts)
    if len(scores) > most:
        best = np.argsort(-scores, kind="stable")[:most]
        found, scores = found[best], scores[best]
    order = np.lexsort(found.T[::-1])
    return rows(found[order]), scores[order]


def rows(matrix: I32) -> Itemsets:
    """Return itemsets of one size, given one per row."""
    many, size = matrix.shape
    return Itemsets(np.arange(many + 1, dtype=np.int64) * size, np.ascontiguousarray(matrix, np.int32).ravel())


def _pairs(codes: I32, counts: I64, most: int, lineage: Lineage | None) -> tuple[I32, I64]:
    """Return the pairs that can be among the best by score, without going through all of them.

    With the items ranked by count, the pair of ranks a < b has (a + 1) b - a (a + 1) / 2 pairs of no larger ranks,
    itself included, and none of those scores less: where they are more than `most`, it may be left out. Pairs that are
    none, as one item stands above the other, are no more than so many for each item: they are looked at beside.
    Longer candidates have all their parts in the running, so no two of their items are such a pair.
    """
    if lineage is not None:
        most += len(codes) * int(lineage.depths.max())
    order = np.argsort(-counts, kind="stable")
    first = np.arange(len(codes) - 1)
    last = np.minimum((most + first * (first + 1) // 2) // (first + 1), len(codes) - 1)
    many = np.maximum(last - first, 0)
    left = np.repeat(first, many)
    right = left + 1 + _places(many)
    pairs = np.sort(np.stack((codes[order[left]], codes[order[right]]), axis=1), axis=1)
    scores = counts[order[left]] + counts[order[right]]
    if lineage is None:
        return pairs, scores
    every = rows(pairs)
    apart = lineage.antichains(every.offsets, every.codes)
    return pairs[apart], scores[apart]


def _wider(matrix: I32, counts: I64) -> tuple[I32, I64]:
    """Join the itemsets that differ in their last item only, and keep what has all its subsets.

    Items are ranked from the rarest in these itemsets to the most common, so that few itemsets share a beginning: with
    one item in all of them, joining in any other order would try every two of them.
    """
    size = matrix.shape[1]
    codes, places, degrees = np.unique(matrix, return_inverse=True, return_counts=True)
    by_degree = np.argsort(degrees, kind="stable")
    rank = np.empty(len(codes), np.int32)
    rank[by_degree] = np.arange(len(codes), dtype=np.int32)
    ranks = np.sort(rank[places.reshape(matrix.shape)], axis=1)
    order = np.lexsort(ranks.T[::-1])
    ranks, counts = ranks[order], counts[order]
    index = Index(rows(ranks), len(codes))
    begins = np.flatnonzero(np.append(True, (ranks[1:, :-1] != ranks[:-1, :-1]).any(axis=1)))
    ends = np.repeat(np.append(begins[1:], len(ranks)), np.diff(np.append(begins, len(ranks))))
    partners = ends - np.arange(len(ranks)) - 1
    found, scores = [np.empty((0, size + 1), np.int32)], [np.empty(0, np.int64)]
    summed = np.cumsum(partners)
    cuts = np.searchsorted(summed, np.arange(0, int(summed[-1]) + _AT_ONCE + 1, _AT_ONCE))
    for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        left = low + np.repeat(np.arange(high - low), partners[low:high])
        right = left + 1 + _places(partners[low:high])
        wider = np.concatenate((ranks[left], ranks[right, -1:]), axis=1)
        score = counts[left] + counts[right]
        for dropped in range(size - 1):
            where = index.find(rows(np.delete(wider, dropped, axis=1)))
            held = where >= 0
            wider, score = wider[held], score[held] + counts[where[held]]
        found.append(wider)
        scores.append(score)
    labels = codes[by_degree]
    return np.sort(labels[np.concatenate(found)], axis=1), np.concatenate(scores)


def _places(many: I64) -> I64:
    """Return 0, 1, 2 … up to before each number, one after the other."""
    ends = np.cumsum(many)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - many, many)
