"""The exact miner as whole-array operations: what runs where `mining` is not compiled.

The same records in the same order: only the inner loop, over all extensions of a node at once, is numpy's. How long a
search takes cannot be told from its arguments, so it is told how many seconds it has, and changes nothing before
it is done.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tiers import OutOfTime

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Node = tuple[list[int], list[int], list[int], U64]
"""Extensions: their ranks, their counts, and the line of each in the bitmaps, or -1 where it is perfect."""

_WORDS = 1 << 17  # of bitmaps, met at a time


@dataclass
class _Search:
    """One call of the miner, on copies of what it may change. `wanted` has the places that `mining` names."""

    wanted: list[int]
    seen: I64
    until: float
    spans: I32
    records: list[int] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.records) // 3

    def apart(self, rank: int, ranks: Sequence[int]) -> list[int]:
        """Return the places of those ranks that neither stand above a rank nor below it."""
        if not len(self.spans):
            return list(range(len(ranks)))
        begins, ends = self.spans.reshape(2, -1)
        others = np.array(ranks, np.int64)
        return np.flatnonzero((begins[others] >= ends[rank]) | (begins[rank] >= ends[others])).tolist()

    def step(self) -> None:
        if perf_counter() > self.until:
            raise OutOfTime


def mine_dense(
    bitmaps: U64, held: I64, first: int, last: int, spans: I32, wanted: I64, seen: I64, seconds: float = math.inf
) -> I32:
    def extensions(root: int, search: _Search) -> Node:
        others = search.apart(root, range(root))
        return _met(bitmaps[root], others, (held[others].tolist(), others, bitmaps), search)

    return _mine(extensions, held, None, first, last, spans, wanted, seen, seconds)


def mine_sparse(
    flat: NDArray[Any],
    positions: I32,
    heads: I64,
    held: I64,
    first: int,
    last: int,
    spans: I32,
    wanted: I64,
    seen: I64,
    seconds: float = math.inf,
) -> I32:
    from .mining import COUNT, MOST

    before = np.maximum.accumulate(np.where(flat < 0, np.arange(len(flat)), 0))  # the sentinel of each position's row

    def extensions(root: int, search: _Search) -> Node:
        ends = positions[heads[root] : heads[root + 1]].astype(np.int64)
        sizes = ends - before[ends] - 1
        rows = np.repeat(np.arange(len(ends)), sizes)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        ranks = flat[np.repeat(before[ends] + 1, sizes) + within].astype(np.int64)
        counts = np.bincount(ranks, minlength=root)
        ranked = np.flatnonzero(counts >= search.wanted[COUNT])
        ranked = ranked[search.apart(root, ranked.tolist())]
        proper = (counts[ranked] < held[root]) | (len(spans) > 0)
        lines = np.where(proper, np.cumsum(proper) - 1, -1)
        bits = np.zeros((int(proper.sum()), (len(ends) + 63) >> 6), np.uint64)
        if len(bits) > 1 and search.wanted[MOST] > 2:
            line = np.full(root, -1, np.int64)
            line[ranked] = lines
            here = line[ranks]
            rows, here = rows[here >= 0], here[here >= 0]
            np.bitwise_or.at(
                bits.reshape(-1), here * bits.shape[1] + (rows >> 6), np.uint64(1) << (rows & 63).astype(np.uint64)
            )
        return ranked.tolist(), counts[ranked].tolist(), lines.tolist(), bits

    return _mine(extensions, held, np.diff(heads), first, last, spans, wanted, seen, seconds)


def _met(bitmap: U64, labels: Sequence[int], others: tuple[Sequence[int], Sequence[int], U64], search: _Search) -> Node:
    """Return which of other extensions reach the threshold together with a bitmap, by their labels.

    The others are given by their counts, their lines, and the bitmaps these are in.
    """
    from .mining import COUNT

    counts, lines, bits = others
    least = search.wanted[COUNT]
    tried = [place for place, count in enumerate(counts) if count >= least]
    kept: list[int] = []
    totals: list[int] = []
    found: list[U64] = []
    each = max(_WORDS // max(len(bitmap), 1), 1)
    for start in range(0, len(tried), each):
        some = tried[start : start + each]
        both = bits[[lines[place] for place in some]] & bitmap
        together = np.bitwise_count(both).sum(axis=1, dtype=np.int64)
        enough = np.flatnonzero(together >= least)
        kept += [labels[some[place]] for place in enough.tolist()]
        totals += together[enough].tolist()
        found.append(both[enough])
    both = np.concatenate(found) if found else np.zeros((0, len(bitmap)), np.uint64)
    return kept, totals, list(range(len(kept))), both


def _mine(
    extensions: Callable[[int, _Search], Node],
    held: I64,
    rows: I64 | None,
    first: int,
    last: int,
    spans: I32,
    wanted: I64,
    seen: I64,
    seconds: float,
) -> I32:
    from .mining import COUNT, LIMIT, MOST, TIED, TOP, WORK, tally, watch

    search = _Search(wanted.tolist(), seen.copy(), perf_counter() + seconds, spans)
    asked: Any = search.wanted
    counts = held.tolist()
    complete = True
    for root in range(first, last):
        search.step()
        if counts[root] < asked[COUNT]:
            continue
        if search.size > asked[LIMIT]:
            break
        if asked[WORK] == 0:
            search.records += (1, root, counts[root])
            if asked[TOP] > 0:
                watch(1, counts[root], asked, search.seen)
        few = rows is not None and rows[root] < asked[COUNT]
        if few or asked[MOST] < 2 or (counts[root] == asked[COUNT] and asked[TIED] < 2):
            if asked[WORK] > 0:
                tally(1, 0, counts[root], asked, search.seen)
            continue
        node = _joined(extensions(root, search), range(root), counts[root], 1, search)
        if asked[WORK] > 0:
            _survey(node, counts[root], search)
        else:
            complete = _explore(node, search)
            if not complete:
                break
    wanted[:] = asked
    seen[:] = search.seen
    if not complete or search.size > asked[LIMIT]:
        return np.array([-1, *(search.records[1:3] or (0, 0))], np.int32)
    return np.array(search.records, np.int32)


def _joined(node: Node, ranked: Sequence[int], count: int, depth: int, search: _Search) -> Node:
    """Mark the perfect extensions; where closed patterns are wanted, they join the node and are none.

    `ranked` has the rank of each label.
    """
    from .mining import CLOSED

    labels, counts, lines, bits = node
    if count not in counts or len(search.spans):  # what may join a node of a forest need not join all below it
        return node
    if search.wanted[CLOSED] == 1:
        for label, own in zip(labels, counts, strict=True):
            if own == count:
                search.records += (depth, ranked[label], -count)
        kept = [place for place, own in enumerate(counts) if own != count]
        return [labels[p] for p in kept], [counts[p] for p in kept], [lines[p] for p in kept], bits
    return labels, counts, [-1 if own == count else line for own, line in zip(counts, lines, strict=True)], bits


def _explore(node: Node, search: _Search) -> bool:
    """Find everything below a root, as `mining.explore` does; say whether it stayed within the limit."""
    from .mining import AGAIN, COUNT, LIMIT, MOST, TIED, TOP, limit_ties, watch

    asked, records = search.wanted, search.records
    told: Any = asked
    flat: Any = records
    levels: list[tuple[Node, Iterator[int], int]] = [(node, iter(range(len(node[0]))), search.size)]
    while levels:
        (ranks, counts, lines, _), rest, segment = levels[-1]
        x = next(rest, None)
        if x is None:
            levels.pop()
            continue
        count = counts[x]
        if count < asked[COUNT]:
            continue
        below = len(levels) + 1
        if asked[TOP] > 0:
            if search.size >= asked[AGAIN]:
                limit_ties(flat, search.size, told)
            if count == asked[COUNT] and below > asked[TIED]:
                continue
        if search.size > asked[LIMIT]:
            return False
        search.step()
        if lines[x] < 0:
            mark = search.size
            if not _repeat(segment, below, ranks[x], count, search):
                return False
            if asked[TOP] > 0:
                for record in range(mark, search.size):
                    watch(records[3 * record], records[3 * record + 2], told, search.seen)
            continue
        records += (below, ranks[x], count)
        if asked[TOP] > 0:
            watch(below, count, told, search.seen)
        deepest = asked[MOST] if count > asked[COUNT] else asked[TIED]
        if below >= deepest or x == 0:
            continue
        child = _below(levels[-1][0], x, below, search)
        if child[0]:
            levels.append((child, iter(range(len(child[0]))), search.size))
    return True


def _repeat(segment: int, below: int, rank: int, count: int, search: _Search) -> bool:
    """Write a perfect extension and everything below its node again, one deeper; say whether that fits the limit."""
    from .mining import AGAIN, COUNT, LIMIT, MOST, TIED, TOP, limit_ties

    asked, records = search.wanted, search.records
    end = search.size
    told: Any = asked
    flat: Any = records
    if asked[TOP] > 0 and 2 * end - segment >= asked[AGAIN]:
        limit_ties(flat, end, told)
    records += (below, rank, count)
    for record in range(segment, end):
        depth, own, many = records[3 * record : 3 * record + 3]
        if depth + 1 <= (asked[MOST] if many > asked[COUNT] else asked[TIED]):
            if search.size > asked[LIMIT]:
                return False
            records += (depth + 1, own, many)
    return True


def _below(node: Node, x: int, below: int, search: _Search) -> Node:
    """Return a child's own extensions: those of the node that come before x, on the rows that hold x too."""
    ranks, counts, lines, bits = node
    count = counts[x]
    proper = [place for place in search.apart(ranks[x], ranks[:x]) if lines[place] >= 0]
    others = [counts[place] for place in proper], [lines[place] for place in proper], bits
    met = _joined(_met(bits[lines[x]], proper, others, search), ranks, count, below, search)
    # What is perfect for the node is so for the child.
    perfect = [(place, count, -1) for place in range(x) if lines[place] < 0]
    merged = sorted(perfect + list(zip(*met[:3], strict=True)))
    return [ranks[place] for place, _, _ in merged], [one for _, one, _ in merged], [at for _, _, at in merged], met[3]


def _survey(node: Node, held: int, search: _Search) -> None:
    """Count everything at and below a root, as `mining.survey` does: perfect extensions are one item more each."""
    from .mining import COUNT, MOST, tally

    asked: Any = search.wanted
    ranks, counts, lines, bits = node
    proper = [place for place, line in enumerate(lines) if line >= 0]
    free = len(lines) - len(proper)
    top = [ranks[p] for p in proper], [counts[p] for p in proper], [lines[p] for p in proper], bits
    tally(1, free, held, asked, search.seen)
    levels: list[tuple[Node, Iterator[int], int]] = [(top, iter(range(len(proper))), free)]
    while levels:
        (ranks, counts, lines, bits), rest, joined = levels[-1]
        x = next(rest, None)
        if x is None:
            levels.pop()
            continue
        count = counts[x]
        if count < asked[COUNT]:
            continue
        search.step()
        depth = len(levels) + 1
        child: Node = [], [], [], bits[:0]
        if depth < asked[MOST]:
            others = search.apart(ranks[x], ranks[:x])
            there = [counts[place] for place in others], [lines[place] for place in others], bits
            places, totals, _, both = _met(bits[lines[x]], others, there, search)
            kept = [place for place, total in enumerate(totals) if total != count or len(search.spans)]
            joined += len(totals) - len(kept)
            child = [ranks[places[p]] for p in kept], [totals[p] for p in kept], kept, both
        tally(depth, joined, count, asked, search.seen)
        if child[0]:
            levels.append((child, iter(range(len(child[0]))), joined))
