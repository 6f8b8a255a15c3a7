"""Cutting rows to the codes of the candidates that promise most, each row by itself.

What `truncate` says of its cut holds of this one. Candidates and scores are made of what was released: they are public.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .jit import helper, in_threads, kernel, threads
from .pieces import pieces
from .rows import close_gaps
from .truncate import I32, I64, PIECES_A_THREAD, U64, alike, mark_row, mix, summed


@kernel
def choose_rows(
    offsets: I64,
    codes: I32,
    copies: I32,
    rows: I64,
    first: int,
    last: int,
    most: int,
    key: np.uint64,
    width: int,
    ranks: I32,
    node_ranks: I32,
    children: I64,
    scores: I64,
    kept_offsets: I64,
    kept: I32,
    sizes: I32,
) -> None:
    """Do the work of `keep_smart` for some rows, listed from `first` to before `last`; `sizes` gets what each keeps.

    The candidates, of `width` codes each, are the leaves of a tree (see `_tree`), in the order of `scores`.
    """
    leaves = node_ranks.shape[0] - scores.shape[0]
    place = np.full(int(node_ranks.max()) + 1, -1, np.int32)  # of each rank among those the row at hand has
    span = np.int64(64)
    own = np.empty(span, np.int32)  # the ranks the row has: only its codes that are in a candidate at all
    origin = np.empty(span, np.int32)  # and where in the row they are
    marks = np.empty(span, np.uint64)
    taken = np.empty(span, np.int64)
    nodes = np.empty((width + 1) * span, np.int64)  # for each level of the tree the nodes to go through, their places
    places = np.empty((width + 1) * span, np.int32)
    many = np.zeros(width, np.int64)  # how many those are, and how many of them are done
    done = np.zeros(width, np.int64)
    gains = np.empty(256, np.int64)  # the scores of the candidates the row holds, and the places of their codes
    members = np.empty(256 * width, np.int32)
    for listed in range(first, last):
        start = offsets[rows[listed]]
        size = offsets[rows[listed] + 1] - start
        at = kept_offsets[listed]
        if size <= most:
            for j in range(size):
                kept[at + j] = codes[start + j]
            sizes[listed] = size
            continue
        if span < size:
            span = 2 * size
            own = np.empty(span, np.int32)
            origin = np.empty(span, np.int32)
            marks = np.empty(span, np.uint64)
            taken = np.empty(span, np.int64)
            nodes = np.empty((width + 1) * span, np.int64)
            places = np.empty((width + 1) * span, np.int32)
        some = 0
        for j in range(size):
            rank = ranks[codes[start + j]]
            if rank >= 0:
                own[some] = rank
                origin[some] = j
                taken[some] = 0
                place[rank] = some
                some += 1
        # Down the tree along what the row has: the leaves that are reached are the candidates it holds, in order.
        held = 0
        useful = 0
        level = 0
        nodes[0] = 0
        places[0] = -1
        many[0] = 1
        done[0] = 0
        while level >= 0:
            if done[level] == many[level]:
                level -= 1
                continue
            entry = level * span + done[level]
            done[level] += 1
            level += 1
            begin = level * span
            found = matches(
                node_ranks, children, nodes[entry], own, places[entry] + 1, some, place, nodes, places, begin
            )
            if level < width:
                many[level] = found
                done[level] = 0
                continue
            while held + found > gains.shape[0]:
                gains = np.append(gains, np.empty(gains.shape[0], np.int64))
                members = np.append(members, np.empty(members.shape[0], np.int32))
            for leaf in range(begin, begin + found):
                gains[held] = scores[nodes[leaf] - leaves]
                for k in range(width):
                    here = places[(k + 1) * span + done[k + 1] - 1] if k < width - 1 else places[leaf]
                    members[held * width + k] = here
                    useful += 1 - taken[here]
                    taken[here] = 1
                held += 1
            level -= 1
        for j in range(some):
            place[own[j]] = -1
        # Where all that the candidates could add fits, the order of adding does not matter.
        if useful > most:
            for j in range(some):
                taken[j] = 0
            room = most
            while room > 0:
                # Fewer codes are taken than the candidates have, so there is one that adds a code.
                best, fresh = heaviest(gains, members, held, width, taken)
                if fresh > room:
                    mark_row(codes, start, size, key ^ mix(np.uint64(copies[rows[listed]])), marks)
                    take_marked(members, best * width, width, room, origin, marks, taken)
                    break
                for k in range(best * width, (best + 1) * width):
                    taken[members[k]] = 1
                room -= fresh
        total = 0
        for j in range(some):
            if taken[j]:
                kept[at + total] = codes[start + origin[j]]
                total += 1
        sizes[listed] = total


@kernel
def find_over(offsets: I64, codes: I32, first: int, last: int, ranks: I32, most: int, over: NDArray[np.bool_]) -> None:
    """Say of each row from `first` to before `last` whether more than `most` of its codes have a rank."""
    for row in range(first, last):
        if offsets[row + 1] - offsets[row] > most:
            ranked = 0
            for j in range(offsets[row], offsets[row + 1]):
                ranked += ranks[codes[j]] >= 0
            over[row] = ranked > most


@kernel
def clear_bits(
    offsets: I64, codes: I32, rows: I64, ranks: I32, kept_offsets: I64, kept: I32, sizes: I32, bitmaps: U64
) -> None:
    """Clear the bits of what some rows do not keep of their codes that have a rank."""
    for listed in range(rows.shape[0]):
        row = rows[listed]
        others = ~(np.uint64(1) << np.uint64(row & 63))
        at = kept_offsets[listed]
        end = at + sizes[listed]
        for j in range(offsets[row], offsets[row + 1]):
            if at < end and kept[at] == codes[j]:
                at += 1
            elif ranks[codes[j]] >= 0:
                bitmaps[ranks[codes[j]], row >> 6] &= others


@helper
def matches(
    node_ranks: I32,
    children: I64,
    node: int,
    own: I32,
    begin: int,
    end: int,
    place: I32,
    nodes: I64,
    places: I32,
    at: int,
) -> int:
    """List the children of a node whose rank is among own[begin:end], which rise as the children's do.

    They go to `nodes`, from `at` on, and where in `own` they are to `places`. Returns how many.
    """
    low = children[node]
    high = children[node + 1]
    found = 0
    if high - low <= 4 * (end - begin):  # a search takes longer than a look
        for child in range(low, high):
            here = place[node_ranks[child]]
            if here >= 0:
                nodes[at + found] = child
                places[at + found] = here
                found += 1
        return found
    for j in range(begin, end):
        upper = high
        while low < upper:
            middle = (low + upper) // 2
            if node_ranks[middle] < own[j]:
                low = middle + 1
            else:
                upper = middle
        if low == high:
            break
        if node_ranks[low] == own[j]:
            nodes[at + found] = low
            places[at + found] = j
            found += 1
    return found


@helper
def heaviest(gains: I64, members: I32, held: int, width: int, taken: I64) -> tuple[int, int]:
    """Return the candidate of the largest weight that still adds a code, the first of several, and how many it adds.

    The weight starts at `width` times the score and grows by the score with each code of the candidate that is newly
    taken: the paper's weights times `width`, so all are whole numbers. It is made anew of what is taken in this row:
    nothing passes from one row to the next (erratum C6), and a code counts once, when it is new (erratum C7).
    """
    best = -1
    fresh = 0
    most = np.int64(-1)
    for c in range(held):
        if gains[c] * (2 * width - 1) <= most:
            continue  # too light even if it lacked one code only
        inside = 0
        for k in range(c * width, (c + 1) * width):
            inside += taken[members[k]]
        if inside < width and gains[c] * (width + inside) > most:
            most = gains[c] * (width + inside)
            best = c
            fresh = width - inside
    return best, fresh


@helper
def take_marked(members: I32, begin: int, width: int, room: int, origin: I32, marks: U64, taken: I64) -> None:
    """Take of one candidate's codes that are not taken yet the `room` ones of the smallest marks."""
    for _ in range(room):
        best = -1
        for k in range(begin, begin + width):
            here = members[k]
            if not taken[here] and (best < 0 or marks[origin[here]] < marks[origin[best]]):
                best = here
        taken[best] = 1


def keep_smart(
    offsets: I64,
    codes: I32,
    items: int,
    most: int,
    key: int,
    set_offsets: I64,
    set_codes: I32,
    scores: I64,
    copies: I32 | None = None,
) -> tuple[I64, I32]:
    """Keep of every row at most `most` codes, those that candidates of high scores are made of.

    SMARTTRUNCATING of Zeng, Naughton, Cai (2012, section 5.3.2 and algorithm 8) in the form of errata C6 and C7. Of the
    candidates a row holds, the heaviest that still adds a code is added, again and again, until `most` codes are
    kept or none adds any; of the last one only the codes of the smallest marks, where not all fit. Of several equally
    heavy, the first in the order of their codes is added. A long row that holds no candidate keeps nothing.

    Parameters
    ----------
    offsets, codes
        The rows.
    items
        How many codes there are; all codes are below.
    most, key
        As for `truncate.keep_some`.
    set_offsets, set_codes
        The candidates: different sets of one size, each sorted.
    scores
        The score of each candidate, 0 or more, made of what was released already; twice the size times the largest
        score fits 63 bits.
    copies
        As for `truncate.keep_some`.

    Returns
    -------
    offsets, codes
        The rows, cut, in the same order.

    Examples
    --------
    The paper's example 1: {1, 2} comes first; then {2, 3}, which lacks one code only, is heavier than {4, 5}.

    >>> rows = np.array([0, 5]), np.array([1, 2, 3, 4, 5], np.int32)
    >>> sets = np.array([0, 2, 4, 6]), np.array([1, 2, 2, 3, 4, 5], np.int32)
    >>> keep_smart(*rows, 6, 3, 7, *sets, np.array([10, 8, 9]))[1].tolist()
    [1, 2, 3]
    """
    candidates = CandidateTable.of(items, set_offsets, set_codes, scores)
    every = np.arange(len(offsets) - 1)
    kept_offsets, kept, sizes = candidates.choose(offsets, codes, every, most, key, copies)
    close_gaps(kept_offsets, kept, sizes)
    return kept_offsets, kept[: kept_offsets[-1]]


def trim_columns(
    offsets: I64,
    codes: I32,
    items: int,
    most: int,
    key: int,
    set_offsets: I64,
    set_codes: I32,
    scores: I64,
    bitmaps: U64,
    copies: I32 | None = None,
) -> None:
    """Clear in bitmaps what `keep_smart` would not keep: then they count the candidates as the cut rows would.

    A row that holds no more than `most` codes of candidates keeps every candidate it holds, so it is left as it is.

    Parameters
    ----------
    offsets, codes, items, most, key, set_offsets, set_codes, scores
        As for `keep_smart`.
    bitmaps
        One over all rows for each code that is in a candidate, the codes ascending. Changed in place.
    copies
        As for `keep_smart`.

    Examples
    --------
    >>> rows = np.array([0, 5]), np.array([1, 2, 3, 4, 5], np.int32)
    >>> sets = np.array([0, 2, 4, 6]), np.array([1, 2, 2, 3, 4, 5], np.int32)
    >>> bitmaps = np.ones((5, 1), np.uint64)
    >>> trim_columns(*rows, 6, 3, 7, *sets, np.array([10, 8, 9]), bitmaps)
    >>> bitmaps.ravel().tolist()
    [1, 1, 1, 0, 0]
    """
    candidates = CandidateTable.of(items, set_offsets, set_codes, scores)
    over = np.zeros(len(offsets) - 1, np.bool_)
    in_threads(
        lambda piece: find_over(offsets, codes, *piece, candidates.ranks, most, over), pieces(offsets, threads())
    )
    rows = np.flatnonzero(over)
    kept_offsets, kept, sizes = candidates.choose(offsets, codes, rows, most, key, copies)
    clear_bits(offsets, codes, rows, candidates.ranks, kept_offsets, kept, sizes, bitmaps)


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """Candidates as `choose_rows` takes them: the ranks of codes, -1 for most, and a tree with scores at its leaves."""

    width: int
    ranks: I32
    node_ranks: I32
    children: I64
    scores: I64

    @classmethod
    def of(cls, items: int, set_offsets: I64, set_codes: I32, scores: I64) -> CandidateTable:
        """Rank the codes that are in a candidate, and put the candidates in order."""
        ranks = np.full(items, -1, np.int32)
        ranks[set_codes] = 0
        used = np.flatnonzero(ranks == 0)
        ranks[used] = np.arange(len(used), dtype=np.int32)
        sets = ranks[set_codes].reshape(-1, int(set_offsets[1]) if len(set_offsets) > 1 else 1)
        order = np.lexsort(sets.T[::-1])
        return cls(sets.shape[1], ranks, *_tree(sets[order]), scores[order])

    def choose(
        self, offsets: I64, codes: I32, rows: I64, most: int, key: int, copies: I32 | None
    ) -> tuple[I64, I32, I32]:
        """Return where what each of these rows keeps begins, what they keep, and how much each of them does."""
        room = np.minimum(offsets[rows + 1] - offsets[rows], most)
        kept_offsets = summed(room)
        kept = np.empty(kept_offsets[-1], np.int32)
        sizes = np.empty(len(rows), np.int32)
        equal = alike(offsets) if copies is None else copies
        tree = self.width, self.ranks, self.node_ranks, self.children, self.scores
        in_threads(
            lambda piece: choose_rows(
                offsets, codes, equal, rows, *piece, most, np.uint64(key), *tree, kept_offsets, kept, sizes
            ),
            pieces(summed(offsets[rows + 1] - offsets[rows]), PIECES_A_THREAD * threads()),
        )
        return kept_offsets, kept, sizes


def _tree(sets: I32) -> tuple[I32, I64]:
    """Return the tree of all beginnings of sets, given one per line in order: the last rank of each node, its children.

    Nodes are numbered level by level: the root, whose rank is -1, first; the leaves, the sets themselves, last. The
    children of node i are the nodes from ``children[i]`` to before ``children[i + 1]``, their ranks rising.
    """
    lines = [np.zeros(1, np.int64)]  # for each level, the first line of each node
    node_ranks = [np.full(1, -1, np.int32)]
    differs = np.zeros(max(len(sets) - 1, 0), np.bool_)
    for column in sets.T:
        differs |= column[1:] != column[:-1]
        lines.append(np.append(0, np.flatnonzero(differs) + 1)[: len(sets)])
        node_ranks.append(column[lines[-1]])
    children = []
    base = 1
    for above, below in pairwise(lines):
        children.append(base + np.searchsorted(below, above))
        base += len(below)
    return np.concatenate(node_ranks), np.append(np.concatenate(children), base).astype(np.int64)
