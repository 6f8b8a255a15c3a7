"""Covering chosen items and pairs with bases: a few items each, so that the noise on what they tell is small.

Counting the cells of w bases costs noise in proportion to w, and an itemset X within a basis B is a sum over
2^(|B| - |X|) cells. So few bases are good and small ones are good, and `basis_cover` trades the two off by the mean
variance of the items and pairs, as Li et al. (2012) do. Everything here is made of items and pairs that were
released: no data come in.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...kernels.covering import merge_changes

# So many maximal cliques are listed at most; pairs that are in none of them are bases of their own.
CLIQUES = 400
# More bases than this are merged several at a time, and no more than so many merges are tried each time.
FEW = 96
TRIED = 20_000
# So many merges that do not pay are made in the hope of one that does.
PATIENCE = 16

Basis = tuple[int, ...]
Masks = NDArray[np.bool_]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


def cover(items: int, pairs: list[tuple[int, int]], largest: int, power: int) -> list[Basis]:
    """Return bases of at most `largest` items such that every item and every pair lies within one.

    Parameters
    ----------
    items, pairs
        Items are numbered from 0 to before `items`; pairs are of such numbers, the smaller first.
    largest
        How many items a basis may have.
    power
        How the variance of the noise grows with the number of bases: 2 for Laplace noise, 1 for Gaussian.

    Examples
    --------
    >>> cover(5, [(0, 1), (0, 2), (1, 2)], largest=4, power=2)
    [(0, 1, 2), (3, 4)]
    """
    bases = [basis for clique in _cliques(items, pairs) for basis in _split(clique, largest)]
    covered = {pair for basis in bases for pair in combinations(basis, 2)}
    bases += [pair for pair in pairs if pair not in covered]
    paired = {item for pair in pairs for item in pair}
    single = [item for item in range(items) if item not in paired]
    bases += groups(single, largest, power)
    kept = _merged(_masks(bases, items), pairs, largest, power)
    return sorted(tuple(np.flatnonzero(mask).tolist()) for mask in kept)


def blocks(items: int, pairs: list[tuple[int, int]], largest: int, power: int) -> list[Basis]:
    """Return bases that hold every two items there are: unions of two of several parts, as large as is best.

    Where most pairs are wanted this leaves less noise than bases grown from the pairs, and takes no time.

    Examples
    --------
    >>> blocks(5, [(0, 1), (0, 2), (1, 2), (3, 4)], largest=4, power=2)
    [(0, 1, 3, 4), (0, 2, 3), (1, 2, 4)]
    """
    best, least = [tuple(range(items))], np.inf
    for size in range(1, largest // 2 + 1):
        many = max(2, -(-items // size))
        parts = [range(start, items, many) for start in range(many)]
        bases = sorted(tuple(sorted((*one, *other))) for one, other in combinations(parts, 2))
        known, known_pairs = _known(_masks(bases, items), pairs)
        variance = float((1 / known).sum() + (1 / known_pairs).sum()) * float(len(bases)) ** power
        if variance < least:
            best, least = bases, variance
    return best


def groups(items: list[int], largest: int, power: int) -> list[Basis]:
    """Split items into bases so that the mean variance of their counts is smallest: groups of about three or two.

    Examples
    --------
    >>> groups([3, 5, 6, 7, 9], largest=12, power=2)
    [(3, 6, 9), (5, 7)]
    """

    def variance(many: int) -> int:
        short, longer = divmod(len(items), many)
        factor = many * many if power == 2 else many
        return factor * ((many - longer) * (short << short) + longer * (short + 1 << short + 1))

    if not items:
        return []
    # Two groups of six have more noise than four of three: larger ones need not be looked at.
    many = min(range(-(-len(items) // min(largest, 6)), len(items) + 1), key=variance)
    return [tuple(items[start::many]) for start in range(many)]


def _cliques(items: int, pairs: list[tuple[int, int]]) -> list[Basis]:
    """Return the maximal cliques of the graph of the pairs, of two items or more, as many as `CLIQUES` at most."""
    beside = [0] * items
    for one, other in pairs:
        beside[one] |= 1 << other
        beside[other] |= 1 << one
    found: list[Basis] = []
    # Bron and Kerbosch (1973) with a pivot. The pending calls are on a list: recursion could go too deep.
    pending = [(0, sum(1 << item for item in range(items) if beside[item]), 0)]
    while pending and len(found) < CLIQUES:
        clique, open_, closed = pending.pop()
        if not open_:
            if not closed and clique:
                found.append(tuple(_members(clique)))
            continue
        pivot = max(_members(open_ | closed), key=lambda item: (beside[item] & open_).bit_count())
        calls = []
        for item in _members(open_ & ~beside[pivot]):
            bit = 1 << item
            calls.append((clique | bit, open_ & beside[item], closed & beside[item]))
            open_ &= ~bit
            closed |= bit
        pending += calls[::-1]
    return found


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _split(clique: Basis, largest: int) -> list[Basis]:
    """Return bases that hold every pair of a clique: itself, or all unions of two of its parts."""
    if len(clique) <= largest:
        return [clique]
    half = max(largest // 2, 1)
    parts = [clique[at : at + half] for at in range(0, len(clique), half)]
    return [one + other for one, other in combinations(parts, 2)]


def _merged(masks: Masks, pairs: list[tuple[int, int]], largest: int, power: int) -> Masks:
    """Merge two bases again and again, at the least cost, and return those that leave the smallest mean variance.

    One merge may cost more than it gains where several of them pay, so it goes on for a while.
    """
    best, least, worse = masks, np.inf, 0
    while True:
        now, first, second, changes = _merges(masks, pairs, largest)
        many = len(masks)
        variance = now * float(many) ** power
        worse = 0 if variance < least else worse + 1
        if worse == 0:
            best, least = masks, variance
        if not len(first) or worse > (PATIENCE if many <= FEW else 0):
            return best
        order = np.argsort(changes, kind="stable")
        paying = (now + changes[order]) * float(many - 1) ** power < variance
        order = order[: max(1, np.count_nonzero(paying) if many > FEW else 1)]
        taken = np.zeros(many, np.bool_)
        merged: list[Masks] = []
        for one, other in zip(first[order].tolist(), second[order].tolist(), strict=True):
            if not taken[one] and not taken[other] and (not merged or many - len(merged) > FEW):
                taken[[one, other]] = True
                merged.append(masks[one] | masks[other])
        masks = _maximal(np.vstack([masks[~taken], *merged]))


def _merges(masks: Masks, pairs: list[tuple[int, int]], largest: int) -> tuple[float, I64, I64, F64]:
    """Return the sum of the variances of items and pairs; which two bases fit into one; and how that would change it.

    The variance of an item or pair is 1 over the sum of 1 / cells over the bases that hold it. The factor for the
    number of bases is left out.
    """
    held = masks.astype(np.float64)
    sizes, shared = held.sum(axis=1), held @ held.T
    together = sizes[:, None] + sizes - shared
    one, other = np.nonzero(np.triu(together <= largest, 1))
    # Small bases that share much are merged at the least cost: where there are too many to try, those are tried.
    likely = np.argsort((together - shared)[one, other], kind="stable")[:TRIED]
    one, other = one[likely], other[likely]
    known, known_pairs = _known(masks, pairs)
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T
    lookup = np.full((masks.shape[1], masks.shape[1]), -1)
    lookup[left, right] = np.arange(len(pairs))
    changes = np.empty(len(one))
    merge_changes(masks, one, other, largest, known, known_pairs, lookup, changes)
    return float((1 / known).sum() + (1 / known_pairs).sum()), one, other, changes


def _known(masks: Masks, pairs: list[tuple[int, int]]) -> tuple[F64, F64]:
    """Return one over the variance of each item and each pair; a last one is of what nobody looks at.

    Sums of powers of two, so exact whatever the order.
    """
    held = masks.astype(np.float64)
    sizes = held.sum(axis=1)
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T
    known = np.exp2(1 - sizes) @ held
    known_pairs = np.exp2(2 - sizes) @ (held[:, left] * held[:, right])
    return np.append(known, np.inf), np.append(known_pairs, np.inf)


def _masks(bases: list[Basis], items: int) -> Masks:
    masks = np.zeros((len(bases), items), np.bool_)
    for place, basis in enumerate(bases):
        masks[place, list(basis)] = True
    return masks


def _maximal(masks: Masks) -> Masks:
    """Return the bases that lie in no other one; of equal ones the first."""
    held = masks.astype(np.float64)
    inside = held @ held.T == held.sum(axis=1)[:, None]
    equal = inside & inside.T
    needless = (inside & ~equal).any(axis=1) | np.tril(equal, -1).any(axis=1)
    kept: Masks = masks[~needless]
    return kept
