"""Rows cut down to what may still be added to patterns at the border of a tree, for mining on several machines.

Patterns that are known lie in a tree, each written from its rarest item to its most frequent one. A pattern with one
item more that is not in the tree lies at its *border*. For each of those that a row holds, the kernel writes the row's
items that are more frequent than the last one: whoever has them of all rows finds there everything that begins with the
pattern, and needs nothing else.

Items are ranks, 0 being the most frequent one; rows are ascending. A tree is arrays: the children of node n are at
``heads[n]:heads[n + 1]``, each an item (ascending) and a node; node 0 is the empty pattern.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import helper, kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

# Places in the state: the row, and how many items of the pattern that is looked at are in the tree.
ROW, LEVEL = 0, 1


@helper
def child_of(heads: I64, items: I32, nodes: I32, node: int, item: int) -> int:
    low, high = heads[node], heads[node + 1]
    while low < high:
        middle = (low + high) // 2
        if items[middle] < item:
            low = middle + 1
        else:
            high = middle
    if low < heads[node + 1] and items[low] == item:
        return np.int64(nodes[low])
    return np.int64(-1)


@kernel
def project(
    offsets: I64,
    codes: I32,
    tree: tuple[I64, I32, I32],
    most: int,
    state: I64,
    path: I64,
    border: I64,
    ends: I64,
    kept: I32,
) -> int:
    """Go on where `state` says, until all rows are done or no room is left; return how many borders were written.

    Each is a row of `border` (node, item), and its items end at `ends[i + 1]` in `kept`, which has room for the longest
    row at least. Patterns have up to `most` items: of those that have as many, nothing is kept. `path` has two columns,
    for each item of the pattern the node and the place in the row, with room for the longest row and one more.
    """
    heads, items, nodes = tree
    many = 0
    ends[0] = 0
    level = state[LEVEL]
    for row in range(state[ROW], len(offsets) - 1):
        if level < 0:
            level = 0
            path[0, 0] = 0
            path[0, 1] = offsets[row + 1]
        while level >= 0:
            path[level, 1] -= 1
            place = path[level, 1]
            if place < offsets[row]:
                level -= 1
                continue
            child = child_of(heads, items, nodes, path[level, 0], codes[place])
            if child >= 0:
                if level + 1 < most:
                    level += 1
                    path[level, 0] = child
                    path[level, 1] = place
                continue
            size = place - offsets[row] if level + 1 < most else 0
            if many == len(border) or ends[many] + size > len(kept):
                path[level, 1] = place + 1  # looked at again, with new room
                state[ROW] = row
                state[LEVEL] = level
                return many
            border[many, 0] = path[level, 0]
            border[many, 1] = codes[place]
            kept[ends[many] : ends[many] + size] = codes[offsets[row] : offsets[row] + size]
            ends[many + 1] = ends[many] + size
            many += 1
    state[ROW] = len(offsets) - 1
    state[LEVEL] = -1
    return many
