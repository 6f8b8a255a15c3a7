"""Cover chosen items and pairs with bases of a few items each, so that the noise of the cells is small.

The noise of the cells of w bases grows with w, and an itemset X within a basis B is a sum over 2^(|B| - |X|) cells. So
both few bases and small bases are good, and `cover` minimises the mean variance of the items and pairs (Li et al.
2012). All inputs are released items and pairs: no data enter.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...kernels import merge_changes

# At most CLIQUES maximal cliques are listed; a pair in no listed clique becomes a basis of its own.
CLIQUES = 400
# Above MAX_PAIRWISE_BASES bases, several disjoint merges are made per step, out of at most MAX_MERGES tried ones: this
# bounds the time.
MAX_PAIRWISE_BASES = 96
MAX_MERGES = 20_000
# The number of consecutive merges that raise the variance before the search ends.
PATIENCE = 16

Basis = tuple[int, ...]
Masks = NDArray[np.bool_]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


def cover(items: int, pairs: list[tuple[int, int]], largest: int, power: int) -> list[Basis]:
    """Return bases of at most `largest` items such that each item and each pair lies within a basis.

    Parameters
    ----------
    items, pairs
        The number of items, which are numbered from 0; pairs of item numbers, the smaller first.
    largest
        The largest number of items of a basis.
    power
        The growth of the noise variance with the number of bases: w^2 for Laplace noise, w^1 for Gaussian noise.

    Examples
    --------
    >>> cover(5, [(0, 1), (0, 2), (1, 2)], largest=4, power=2)
    [(0, 1, 2), (3, 4)]
    """
    bases = [basis for clique in _list_cliques(items, pairs) for basis in _split_clique(clique, largest)]
    covered = {pair for basis in bases for pair in combinations(basis, 2)}
    bases += [pair for pair in pairs if pair not in covered]
    paired = {item for pair in pairs for item in pair}
    single = [item for item in range(items) if item not in paired]
    bases += group_items(single, largest, power)
    best_masks = _merge_bases(_mask_bases(bases, items), pairs, largest, power)
    return sorted(tuple(np.flatnonzero(mask).tolist()) for mask in best_masks)


def cover_all_pairs(items: int, pairs: list[tuple[int, int]], largest: int, power: int) -> list[Basis]:
    """Return bases that hold every pair of items: unions of two of several parts, of the best size.

    Where most pairs are wanted, the resulting bases have less noise than bases grown from the pairs, and cost no
    search.

    Examples
    --------
    >>> cover_all_pairs(5, [(0, 1), (0, 2), (1, 2), (3, 4)], largest=4, power=2)
    [(0, 1, 3, 4), (0, 2, 3), (1, 2, 4)]
    """
    best_bases, least_variance = [tuple(range(items))], np.inf
    # A union of two parts of `size` items fits into a basis of `largest` items.
    for size in range(1, largest // 2 + 1):
        part_count = max(2, -(-items // size))
        parts = [range(start, items, part_count) for start in range(part_count)]
        bases = sorted(tuple(sorted((*first_part, *second_part))) for first_part, second_part in combinations(parts, 2))
        precisions, pair_precisions = _compute_precisions(_mask_bases(bases, items), pairs)
        variance = float((1 / precisions).sum() + (1 / pair_precisions).sum()) * float(len(bases)) ** power
        if variance < least_variance:
            best_bases, least_variance = bases, variance
    return best_bases


def group_items(items: list[int], largest: int, power: int) -> list[Basis]:
    """Split items into bases of the smallest mean variance of their counts: groups of about three or two items.

    Examples
    --------
    >>> group_items([3, 5, 6, 7, 9], largest=12, power=2)
    [(3, 6, 9), (5, 7)]
    """

    def variance(group_count: int) -> int:
        """Return the sum of the variances of all items, for a number of groups."""
        group_size, larger_groups = divmod(len(items), group_count)
        factor = group_count * group_count if power == 2 else group_count
        return factor * (
            (group_count - larger_groups) * (group_size << group_size)
            + larger_groups * (group_size + 1 << group_size + 1)
        )

    if not items:
        return []
    # Two groups of six items have more noise than four groups of three, so larger groups need not be searched.
    group_count = min(range(-(-len(items) // min(largest, 6)), len(items) + 1), key=variance)
    return [tuple(items[start::group_count]) for start in range(group_count)]


def _list_cliques(items: int, pairs: list[tuple[int, int]]) -> list[Basis]:
    """Return at most `CLIQUES` maximal cliques of the graph of the pairs, of two items or more."""
    neighbours = [0] * items
    for first, second in pairs:
        neighbours[first] |= 1 << second
        neighbours[second] |= 1 << first
    cliques: list[Basis] = []
    # Bron and Kerbosch (1973) with a pivot. The pending calls are on a list, as recursion could exceed the stack.
    pending_calls = [(0, sum(1 << item for item in range(items) if neighbours[item]), 0)]
    while pending_calls and len(cliques) < CLIQUES:
        clique, candidates, excluded = pending_calls.pop()
        if not candidates:
            if not excluded and clique:
                cliques.append(tuple(_list_members(clique)))
            continue
        # The pivot with most neighbours leaves the fewest branches.
        pivot = max(_list_members(candidates | excluded), key=lambda item: (neighbours[item] & candidates).bit_count())
        calls = []
        for item in _list_members(candidates & ~neighbours[pivot]):
            bit = 1 << item
            calls.append((clique | bit, candidates & neighbours[item], excluded & neighbours[item]))
            candidates &= ~bit
            excluded |= bit
        pending_calls += calls[::-1]
    return cliques


def _list_members(bits: int) -> Iterator[int]:
    """Yield the positions of the set bits, in rising order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _split_clique(clique: Basis, largest: int) -> list[Basis]:
    """Return bases that hold every pair of a clique: the clique, or all unions of two of its parts."""
    if len(clique) <= largest:
        return [clique]
    half = max(largest // 2, 1)
    parts = [clique[start : start + half] for start in range(0, len(clique), half)]
    return [first_part + second_part for first_part, second_part in combinations(parts, 2)]


def _merge_bases(masks: Masks, pairs: list[tuple[int, int]], largest: int, power: int) -> Masks:
    """Merge two bases repeatedly, at the least cost, and return the bases of the smallest mean variance.

    A single merge may raise the variance where several merges lower it, so the search continues for `PATIENCE` merges.
    """
    best_masks, least_variance, worse_merges = masks, np.inf, 0
    while True:
        variance_sum, first, second, changes = _list_merges(masks, pairs, largest)
        basis_count = len(masks)
        variance = variance_sum * float(basis_count) ** power
        worse_merges = 0 if variance < least_variance else worse_merges + 1
        if worse_merges == 0:
            best_masks, least_variance = masks, variance
        if not len(first) or worse_merges > (PATIENCE if basis_count <= MAX_PAIRWISE_BASES else 0):
            return best_masks
        # A stable order makes the merges a function of the bases and pairs alone.
        order = np.argsort(changes, kind="stable")
        is_paying = (variance_sum + changes[order]) * float(basis_count - 1) ** power < variance
        order = order[: max(1, np.count_nonzero(is_paying) if basis_count > MAX_PAIRWISE_BASES else 1)]
        is_merged = np.zeros(basis_count, np.bool_)
        merged_masks: list[Masks] = []
        for first_basis, second_basis in zip(first[order].tolist(), second[order].tolist(), strict=True):
            if (
                not is_merged[first_basis]
                and not is_merged[second_basis]
                and (not merged_masks or basis_count - len(merged_masks) > MAX_PAIRWISE_BASES)
            ):
                is_merged[[first_basis, second_basis]] = True
                merged_masks.append(masks[first_basis] | masks[second_basis])
        masks = _select_maximal(np.vstack([masks[~is_merged], *merged_masks]))


def _list_merges(masks: Masks, pairs: list[tuple[int, int]], largest: int) -> tuple[float, I64, I64, F64]:
    """Return the sum of the variances, the pairs of bases that fit into one, and the change by each merge.

    The variance of an item or pair is 1 / sum(1 / cells) over its bases, without the factor for the number of bases.
    """
    memberships = masks.astype(np.float64)
    sizes, shared_sizes = memberships.sum(axis=1), memberships @ memberships.T
    merged_sizes = sizes[:, None] + sizes - shared_sizes
    first_bases, second_bases = np.nonzero(np.triu(merged_sizes <= largest, 1))
    # Merges of small bases with many shared items cost least, so the search tries them first where the number of
    # merges is too large.
    cheapest_merges = np.argsort((merged_sizes - shared_sizes)[first_bases, second_bases], kind="stable")[:MAX_MERGES]
    first_bases, second_bases = first_bases[cheapest_merges], second_bases[cheapest_merges]
    precisions, pair_precisions = _compute_precisions(masks, pairs)
    first_items, second_items = np.array(pairs, np.int64).reshape(-1, 2).T
    # The position of a pair by its two items; -1 for pairs outside the list.
    lookup = np.full((masks.shape[1], masks.shape[1]), -1)
    lookup[first_items, second_items] = np.arange(len(pairs))
    changes = np.empty(len(first_bases))
    merge_changes(masks, first_bases, second_bases, largest, precisions, pair_precisions, lookup, changes)
    return float((1 / precisions).sum() + (1 / pair_precisions).sum()), first_bases, second_bases, changes


def _compute_precisions(masks: Masks, pairs: list[tuple[int, int]]) -> tuple[F64, F64]:
    """Return the inverse variance of each item and of each pair; a last one stands for unused pairs.

    The values are sums of powers of two, so the order of summation does not change them.
    """
    memberships = masks.astype(np.float64)
    sizes = memberships.sum(axis=1)
    first_items, second_items = np.array(pairs, np.int64).reshape(-1, 2).T
    precisions = np.exp2(1 - sizes) @ memberships
    pair_precisions = np.exp2(2 - sizes) @ (memberships[:, first_items] * memberships[:, second_items])
    return np.append(precisions, np.inf), np.append(pair_precisions, np.inf)


def _mask_bases(bases: list[Basis], items: int) -> Masks:
    """Return the bases as rows of a boolean matrix over the items."""
    masks = np.zeros((len(bases), items), np.bool_)
    for position, basis in enumerate(bases):
        masks[position, list(basis)] = True
    return masks


def _select_maximal(masks: Masks) -> Masks:
    """Return the bases that lie in no other basis; of equal bases the first."""
    memberships = masks.astype(np.float64)
    is_inside = memberships @ memberships.T == memberships.sum(axis=1)[:, None]
    is_equal = is_inside & is_inside.T
    is_needless = (is_inside & ~is_equal).any(axis=1) | np.tril(is_equal, -1).any(axis=1)
    maximal_masks: Masks = masks[~is_needless]
    return maximal_masks
