"""List candidates by the a priori property: itemsets with all subsets of one item less still hopeful.

All inputs are released itemsets. The number of candidates is at most a public number, under any noise; the best by
frequency score stay. The frequency score is the sum of the noisy counts of the subsets (Zeng, Naughton, Cai 2012,
definition 8).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...baskets import Lineage
from ...results import Index, Itemsets

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

# The number of pairs of itemsets joined per step: bounds the memory.
_PAIRS_PER_STEP = 1 << 20


def join_candidates(
    itemsets: Itemsets, counts: I64, max_candidates: int, lineage: Lineage | None = None
) -> tuple[Itemsets, I64]:
    """Return the candidates with one more item than the given itemsets, and their frequency scores.

    Parameters
    ----------
    itemsets
        Distinct itemsets of one size.
    counts
        The noisy counts of the itemsets, 0 or more.
    max_candidates
        The largest number of candidates; the best by score stay.
    lineage
        The ancestors of each item: no candidate has an item and its ancestor. None without a hierarchy.

    Examples
    --------
    >>> items = Itemsets(np.arange(0, 8, 2), np.array([1, 4, 1, 7, 4, 7], np.int32))
    >>> candidates, scores = join_candidates(items, np.array([30, 20, 10]), max_candidates=100)
    >>> candidates.codes.tolist(), scores.tolist()
    ([1, 4, 7], [60])
    """
    if len(itemsets) < 2:
        return rows(np.empty((0, 2), np.int32)), np.empty(0, np.int64)
    size = int(itemsets.sizes[0])
    if size == 1:
        candidates, scores = _list_pairs(itemsets.codes, counts, max_candidates, lineage)
    else:
        candidates, scores = _extend_itemsets(itemsets.codes.reshape(-1, size), counts)
    if len(scores) > max_candidates:
        best_positions = np.argsort(-scores, kind="stable")[:max_candidates]
        candidates, scores = candidates[best_positions], scores[best_positions]
    # Candidates are sorted by their codes, so that the result does not depend on the order of the join.
    order = np.lexsort(candidates.T[::-1])
    return rows(candidates[order]), scores[order]


def rows(matrix: I32) -> Itemsets:
    """Return itemsets of one size, given one per row."""
    row_count, size = matrix.shape
    return Itemsets(np.arange(row_count + 1, dtype=np.int64) * size, np.ascontiguousarray(matrix, np.int32).ravel())


def _list_pairs(codes: I32, counts: I64, max_pairs: int, lineage: Lineage | None) -> tuple[I32, I64]:
    """Return the pairs that can be among the best by score, without a pass over all pairs.

    With the items ranked by count, the pair of ranks a < b has (a + 1) b - a (a + 1) / 2 pairs of no larger ranks,
    itself included, and each scores at least as much. So a pair with more than `max_pairs` better pairs is left out.
    Pairs of an item and its ancestor are at most `depth` per item; the limit grows by their number. Longer candidates
    have all subsets among the hopeful itemsets, so they contain no pair with an ancestor.
    """
    if lineage is not None:
        # Each item has at most `depth` ancestors: at most `depth` of its pairs are excluded.
        max_pairs += len(codes) * int(lineage.depths.max())
    order = np.argsort(-counts, kind="stable")
    first_ranks = np.arange(len(codes) - 1)
    last_partner = np.minimum((max_pairs + first_ranks * (first_ranks + 1) // 2) // (first_ranks + 1), len(codes) - 1)
    partner_counts = np.maximum(last_partner - first_ranks, 0)
    left_ranks = np.repeat(first_ranks, partner_counts)
    right_ranks = left_ranks + 1 + _count_up(partner_counts)
    pairs = np.sort(np.stack((codes[order[left_ranks]], codes[order[right_ranks]]), axis=1), axis=1)
    scores = counts[order[left_ranks]] + counts[order[right_ranks]]
    if lineage is None:
        return pairs, scores
    all_pairs = rows(pairs)
    is_antichain = lineage.antichains(all_pairs.offsets, all_pairs.codes)
    return pairs[is_antichain], scores[is_antichain]


def _extend_itemsets(matrix: I32, counts: I64) -> tuple[I32, I64]:
    """Join the itemsets that differ in their last item only, and keep the candidates with all subsets.

    Items are ranked from the rarest to the most common in the itemsets, so that few itemsets share a prefix. With one
    item in all itemsets, any other order would try all pairs of itemsets.
    """
    size = matrix.shape[1]
    codes, positions, degrees = np.unique(matrix, return_inverse=True, return_counts=True)
    by_degree = np.argsort(degrees, kind="stable")
    rank = np.empty(len(codes), np.int32)
    rank[by_degree] = np.arange(len(codes), dtype=np.int32)
    ranks = np.sort(rank[positions.reshape(matrix.shape)], axis=1)
    order = np.lexsort(ranks.T[::-1])
    ranks, counts = ranks[order], counts[order]
    index = Index(rows(ranks), len(codes))
    group_starts = np.flatnonzero(np.append(True, (ranks[1:, :-1] != ranks[:-1, :-1]).any(axis=1)))
    group_ends = np.repeat(np.append(group_starts[1:], len(ranks)), np.diff(np.append(group_starts, len(ranks))))
    partners = group_ends - np.arange(len(ranks)) - 1
    extended_rows, scores = [np.empty((0, size + 1), np.int32)], [np.empty(0, np.int64)]
    pairs_up_to = np.cumsum(partners)
    step_ends = np.searchsorted(pairs_up_to, np.arange(0, int(pairs_up_to[-1]) + _PAIRS_PER_STEP + 1, _PAIRS_PER_STEP))
    for low, high in zip(step_ends[:-1].tolist(), step_ends[1:].tolist(), strict=True):
        left_rows = low + np.repeat(np.arange(high - low), partners[low:high])
        right_rows = left_rows + 1 + _count_up(partners[low:high])
        extended_itemsets = np.concatenate((ranks[left_rows], ranks[right_rows, -1:]), axis=1)
        score = counts[left_rows] + counts[right_rows]
        # The two joined itemsets are the subsets without the last two items; the remaining subsets are looked up here.
        for dropped_position in range(size - 1):
            subset_positions = index.find(rows(np.delete(extended_itemsets, dropped_position, axis=1)))
            is_candidate = subset_positions >= 0
            extended_itemsets, score = (
                extended_itemsets[is_candidate],
                score[is_candidate] + counts[subset_positions[is_candidate]],
            )
        extended_rows.append(extended_itemsets)
        scores.append(score)
    labels = codes[by_degree]
    return np.sort(labels[np.concatenate(extended_rows)], axis=1), np.concatenate(scores)


def _count_up(lengths: I64) -> I64:
    """Return 0, 1, 2 … up to each length (exclusive), run after run."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
