"""Cutting rows to the codes of the most promising candidates, each row by itself.

The promise of `truncate` about locality holds for this cut too. Candidates and scores were computed from released
values: they are public.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, in_threads, kernel, threads
from ._pieces import split_rows
from ._rows import close_gaps
from ._truncate import I32, I64, PIECES_A_THREAD, U64, mark_row, mix, offsets_of_sizes, zero_copy_numbers


@kernel
def choose_rows(
    offsets: I64,
    codes: I32,
    copy_numbers: I32,
    rows: I64,
    first_listed: int,
    last_listed: int,
    max_codes: int,
    key: np.uint64,
    width: int,
    ranks: I32,
    node_ranks: I32,
    children: I64,
    scores: I64,
    kept_offsets: I64,
    kept_codes: I32,
    sizes: I32,
) -> None:
    """Cut listed rows, from `first_listed` to before `last_listed`, as `keep_smart` says; `sizes` gets kept sizes.

    The candidates, of `width` codes each, are the leaves of a tree (see `_prefix_tree`), in the order of `scores`.
    """
    leaves = node_ranks.shape[0] - scores.shape[0]
    place_of_rank = np.full(
        int(node_ranks.max()) + 1, -1, np.int32
    )  # the place of each rank among the ranks of the current row
    row_capacity = np.int64(64)
    own_ranks = np.empty(row_capacity, np.int32)  # the ranks of the row: codes in no candidate have none
    # Scratch arrays grow to the longest row; 64 codes cover most rows.
    origin = np.empty(row_capacity, np.int32)  # the position of each ranked code in the row
    marks = np.empty(row_capacity, np.uint64)
    taken_marks = np.empty(row_capacity, np.int64)
    path_nodes = np.empty(
        (width + 1) * row_capacity, np.int64
    )  # per level of the tree: the nodes to visit, and their places
    path_places = np.empty((width + 1) * row_capacity, np.int32)
    node_counts = np.zeros(width, np.int64)  # per level: the number of nodes, and the number of visited nodes
    done_counts = np.zeros(width, np.int64)
    # Room for 256 held candidates, doubled when full.
    gains = np.empty(256, np.int64)  # scores of the held candidates, and places of their codes
    member_places = np.empty(256 * width, np.int32)
    for listed_place in range(first_listed, last_listed):
        start = offsets[rows[listed_place]]
        size = offsets[rows[listed_place] + 1] - start
        write_position = kept_offsets[listed_place]
        if size <= max_codes:
            for j in range(size):
                kept_codes[write_position + j] = codes[start + j]
            sizes[listed_place] = size
            continue
        if row_capacity < size:
            row_capacity = 2 * size
            own_ranks = np.empty(row_capacity, np.int32)
            origin = np.empty(row_capacity, np.int32)
            marks = np.empty(row_capacity, np.uint64)
            taken_marks = np.empty(row_capacity, np.int64)
            path_nodes = np.empty((width + 1) * row_capacity, np.int64)
            path_places = np.empty((width + 1) * row_capacity, np.int32)
        own_count = 0
        for j in range(size):
            rank = ranks[codes[start + j]]
            if rank >= 0:
                own_ranks[own_count] = rank
                origin[own_count] = j
                taken_marks[own_count] = 0
                place_of_rank[rank] = own_count
                own_count += 1
        # Descend the tree along the ranks of the row: the leaves reached are the held candidates, in order.
        held_count = 0
        useful_count = 0
        level = 0
        path_nodes[0] = 0
        path_places[0] = -1
        node_counts[0] = 1
        done_counts[0] = 0
        while level >= 0:
            if done_counts[level] == node_counts[level]:
                level -= 1
                continue
            entry = level * row_capacity + done_counts[level]
            done_counts[level] += 1
            level += 1
            begin = level * row_capacity
            match_count = list_matching_children(
                node_ranks,
                children,
                path_nodes[entry],
                own_ranks,
                path_places[entry] + 1,
                own_count,
                place_of_rank,
                path_nodes,
                path_places,
                begin,
            )
            if level < width:
                node_counts[level] = match_count
                done_counts[level] = 0
                continue
            while held_count + match_count > gains.shape[0]:
                gains = np.append(gains, np.empty(gains.shape[0], np.int64))
                member_places = np.append(member_places, np.empty(member_places.shape[0], np.int32))
            for leaf in range(begin, begin + match_count):
                gains[held_count] = scores[path_nodes[leaf] - leaves]
                for k in range(width):
                    member_place = (
                        path_places[(k + 1) * row_capacity + done_counts[k + 1] - 1]
                        if k < width - 1
                        else path_places[leaf]
                    )
                    member_places[held_count * width + k] = member_place
                    useful_count += 1 - taken_marks[member_place]
                    taken_marks[member_place] = 1
                held_count += 1
            level -= 1
        for j in range(own_count):
            place_of_rank[own_ranks[j]] = -1
        # Where all useful codes fit, the order of adding does not matter.
        if useful_count > max_codes:
            for j in range(own_count):
                taken_marks[j] = 0
            room = max_codes
            while room > 0:
                # Fewer codes are taken than the candidates have, so some candidate adds a code.
                best_candidate, new_codes = find_heaviest(gains, member_places, held_count, width, taken_marks)
                if new_codes > room:
                    mark_row(codes, start, size, key ^ mix(np.uint64(copy_numbers[rows[listed_place]])), marks)
                    take_marked(member_places, best_candidate * width, width, room, origin, marks, taken_marks)
                    break
                for k in range(best_candidate * width, (best_candidate + 1) * width):
                    taken_marks[member_places[k]] = 1
                room -= new_codes
        kept_count = 0
        for j in range(own_count):
            if taken_marks[j]:
                kept_codes[write_position + kept_count] = codes[start + origin[j]]
                kept_count += 1
        sizes[listed_place] = kept_count


@kernel
def mark_long_rows(
    offsets: I64, codes: I32, first_row: int, last_row: int, ranks: I32, max_codes: int, is_long: NDArray[np.bool_]
) -> None:
    """Mark each row from `first_row` to before `last_row` with more than `max_codes` codes that have a rank."""
    for row in range(first_row, last_row):
        if offsets[row + 1] - offsets[row] > max_codes:
            ranked_count = 0
            for j in range(offsets[row], offsets[row + 1]):
                ranked_count += ranks[codes[j]] >= 0
            is_long[row] = ranked_count > max_codes


@kernel
def clear_bits(
    offsets: I64, codes: I32, rows: I64, ranks: I32, kept_offsets: I64, kept_codes: I32, sizes: I32, bitmaps: U64
) -> None:
    """Clear the bits of the ranked codes that the listed rows do not keep."""
    for listed_place in range(rows.shape[0]):
        row = rows[listed_place]
        other_bits = ~(np.uint64(1) << np.uint64(row & 63))
        write_position = kept_offsets[listed_place]
        end = write_position + sizes[listed_place]
        for j in range(offsets[row], offsets[row + 1]):
            if write_position < end and kept_codes[write_position] == codes[j]:
                write_position += 1
            elif ranks[codes[j]] >= 0:
                bitmaps[ranks[codes[j]], row >> 6] &= other_bits


@helper
def list_matching_children(
    node_ranks: I32,
    children: I64,
    node: int,
    own_ranks: I32,
    begin: int,
    end: int,
    place_of_rank: I32,
    path_nodes: I64,
    path_places: I32,
    write_position: int,
) -> int:
    """Write the children of a node that have a rank in own_ranks[begin:end], both in rising order; return their number.

    The children go to `path_nodes`, from `write_position` on, and the places of their ranks in `own_ranks` to
    `path_places`.
    """
    next_child = children[node]
    child_end = children[node + 1]
    match_count = 0
    if child_end - next_child <= 4 * (end - begin):  # a binary search costs about four lookups
        for child in range(next_child, child_end):
            place = place_of_rank[node_ranks[child]]
            if place >= 0:
                path_nodes[write_position + match_count] = child
                path_places[write_position + match_count] = place
                match_count += 1
        return match_count
    for j in range(begin, end):
        search_end = child_end
        while next_child < search_end:
            middle = (next_child + search_end) // 2
            if node_ranks[middle] < own_ranks[j]:
                next_child = middle + 1
            else:
                search_end = middle
        if next_child == child_end:
            break
        if node_ranks[next_child] == own_ranks[j]:
            path_nodes[write_position + match_count] = next_child
            path_places[write_position + match_count] = j
            match_count += 1
    return match_count


@helper
def find_heaviest(gains: I64, member_places: I32, held_count: int, width: int, taken_marks: I64) -> tuple[int, int]:
    """Return the heaviest candidate that still adds a code, the first among equals, and its number of new codes.

    weight = score * (width + taken_count), for candidates of `width` codes of which `taken_count` are taken: the
    paper's weights times `width`, so that all are whole numbers. Weights are computed anew in each row: nothing passes
    from one row to the next (erratum C6), and a code counts once, when it is new (erratum C7).
    """
    best_candidate = -1
    new_codes = 0
    max_weight = np.int64(-1)
    for c in range(held_count):
        if gains[c] * (2 * width - 1) <= max_weight:
            continue  # too light even if it lacked a single code
        taken_count = 0
        for k in range(c * width, (c + 1) * width):
            taken_count += taken_marks[member_places[k]]
        if taken_count < width and gains[c] * (width + taken_count) > max_weight:
            max_weight = gains[c] * (width + taken_count)
            best_candidate = c
            new_codes = width - taken_count
    return best_candidate, new_codes


@helper
def take_marked(
    member_places: I32, begin: int, width: int, room: int, origin: I32, marks: U64, taken_marks: I64
) -> None:
    """Take of one candidate's codes that are not taken yet the `room` codes of the smallest marks."""
    for _ in range(room):
        best_place = -1
        for k in range(begin, begin + width):
            place = member_places[k]
            if not taken_marks[place] and (best_place < 0 or marks[origin[place]] < marks[origin[best_place]]):
                best_place = place
        taken_marks[best_place] = 1


def keep_smart(
    offsets: I64,
    codes: I32,
    items: int,
    max_codes: int,
    key: int,
    set_offsets: I64,
    set_codes: I32,
    scores: I64,
    copies: I32 | None = None,
) -> tuple[I64, I32]:
    """Keep of each row at most `max_codes` codes, preferring the codes of candidates with high scores.

    SMARTTRUNCATING of Zeng, Naughton, Cai (2012, section 5.3.2 and algorithm 8) in the form of errata C6 and C7. Of the
    candidates a row holds, the heaviest that still adds a code is added, again and again, until `max_codes` codes are
    kept or no candidate adds a code; of the last candidate only the codes of the smallest marks, where not all fit.
    Among equally heavy candidates, the first in the order of codes is added. A long row without candidates keeps
    nothing.

    Parameters
    ----------
    offsets, codes
        The rows.
    items
        The number of codes; all codes are below it.
    max_codes, key
        As for `truncate.keep_some`.
    set_offsets, set_codes
        The candidates: different sets of one size, each sorted.
    scores
        The score of each candidate, 0 or more, computed from released values; 2 * width * max(scores) < 2^63.
    copies
        As for `truncate.keep_some`.

    Returns
    -------
    offsets, codes
        The rows, cut, in unchanged order.

    Examples
    --------
    The paper's example 1: {1, 2} comes first; then {2, 3}, which lacks a single code, is heavier than {4, 5}.

    >>> rows = np.array([0, 5]), np.array([1, 2, 3, 4, 5], np.int32)
    >>> sets = np.array([0, 2, 4, 6]), np.array([1, 2, 2, 3, 4, 5], np.int32)
    >>> keep_smart(*rows, 6, 3, 7, *sets, np.array([10, 8, 9]))[1].tolist()
    [1, 2, 3]
    """
    candidates = CandidateTable.of(items, set_offsets, set_codes, scores)
    all_rows = np.arange(len(offsets) - 1)
    kept_offsets, kept_codes, sizes = candidates.choose(offsets, codes, all_rows, max_codes, key, copies)
    close_gaps(kept_offsets, kept_codes, sizes)
    return kept_offsets, kept_codes[: kept_offsets[-1]]


def trim_columns(
    offsets: I64,
    codes: I32,
    items: int,
    max_codes: int,
    key: int,
    set_offsets: I64,
    set_codes: I32,
    scores: I64,
    bitmaps: U64,
    copies: I32 | None = None,
) -> None:
    """Clear the bits that `keep_smart` would not keep, so that bitmaps count candidates as the cut rows would.

    A row that holds no more than `max_codes` codes of candidates keeps every candidate it holds, so its bits are left
    alone.

    Parameters
    ----------
    offsets, codes, items, max_codes, key, set_offsets, set_codes, scores
        As for `keep_smart`.
    bitmaps
        A bitmap over all rows for each code that is in a candidate, in rising order of code. Changed in place.
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
    is_long = np.zeros(len(offsets) - 1, np.bool_)
    in_threads(
        lambda piece: mark_long_rows(offsets, codes, *piece, candidates.ranks, max_codes, is_long),
        split_rows(offsets, threads()),
    )
    rows = np.flatnonzero(is_long)
    kept_offsets, kept_codes, sizes = candidates.choose(offsets, codes, rows, max_codes, key, copies)
    clear_bits(offsets, codes, rows, candidates.ranks, kept_offsets, kept_codes, sizes, bitmaps)


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """Candidates in the form of `choose_rows`: the rank of each code or -1, and a tree with scores at its leaves."""

    width: int
    ranks: I32
    node_ranks: I32
    children: I64
    scores: I64

    @classmethod
    def of(cls, items: int, set_offsets: I64, set_codes: I32, scores: I64) -> CandidateTable:
        """Return the table of candidates: ranks for the codes in a candidate, and the candidates in order."""
        ranks = np.full(items, -1, np.int32)
        ranks[set_codes] = 0
        used_codes = np.flatnonzero(ranks == 0)
        ranks[used_codes] = np.arange(len(used_codes), dtype=np.int32)
        sets = ranks[set_codes].reshape(-1, int(set_offsets[1]) if len(set_offsets) > 1 else 1)
        order = np.lexsort(sets.T[::-1])
        return cls(sets.shape[1], ranks, *_prefix_tree(sets[order]), scores[order])

    def choose(
        self, offsets: I64, codes: I32, rows: I64, max_codes: int, key: int, copies: I32 | None
    ) -> tuple[I64, I32, I32]:
        """Return for the listed rows the begins of the kept codes, the kept codes, and the kept sizes."""
        room = np.minimum(offsets[rows + 1] - offsets[rows], max_codes)
        kept_offsets = offsets_of_sizes(room)
        kept_codes = np.empty(kept_offsets[-1], np.int32)
        sizes = np.empty(len(rows), np.int32)
        numbers = zero_copy_numbers(offsets) if copies is None else copies
        tree = self.width, self.ranks, self.node_ranks, self.children, self.scores
        in_threads(
            lambda piece: choose_rows(
                offsets, codes, numbers, rows, *piece, max_codes, np.uint64(key), *tree, kept_offsets, kept_codes, sizes
            ),
            split_rows(offsets_of_sizes(offsets[rows + 1] - offsets[rows]), PIECES_A_THREAD * threads()),
        )
        return kept_offsets, kept_codes, sizes


def _prefix_tree(sets: I32) -> tuple[I32, I64]:
    """Return the tree of all beginnings of ordered sets: the last rank and the children of each node.

    Nodes are numbered level by level: the root, of rank -1, first; the leaves, the sets themselves, last. The children
    of node i are the nodes from ``children[i]`` to before ``children[i + 1]``, in rising order of rank.
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
    for parent_lines, child_lines in pairwise(lines):
        children.append(base + np.searchsorted(child_lines, parent_lines))
        base += len(child_lines)
    return np.concatenate(node_ranks), np.append(np.concatenate(children), base).astype(np.int64)
