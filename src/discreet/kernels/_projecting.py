"""Rows cut down to the items that may extend patterns at the border of a tree, for mining on several machines.

Known patterns lie in a tree, each written from its rarest item to its most frequent item. An unknown pattern with one
item more lies at the *border* of the tree. For each border pattern that a row holds, the kernel writes the items of the
row that are more frequent than the last item of the pattern. The written items of all rows suffice to count every
pattern that begins with the border pattern.

Items are ranks, 0 being the most frequent; rows are ascending. A tree is arrays: the children of node n are at
``heads[n]:heads[n + 1]``, each an item (ascending) and a node; node 0 is the empty pattern.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

# Places in the state: the row, and the number of items of the current pattern that are in the tree.
ROW, LEVEL = 0, 1


@helper
def child_of(heads: I64, items: I32, nodes: I32, node: int, item: int) -> int:
    """Return the child of a node by an item, or -1."""
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
    max_length: int,
    state: I64,
    path: I64,
    border: I64,
    ends: I64,
    kept_items: I32,
) -> int:
    """Continue at `state`, until all rows are done or no room is left; return the number of borders written.

    Border i is a row of `border` (node, item), and its items end at `ends[i + 1]` in `kept_items`, which has room for
    the longest row at least. Patterns have up to `max_length` items: a pattern of full length keeps no items. `path`
    has two columns, for each item of the pattern the node and the place in the row, with room for the longest row and
    one more.
    """
    heads, items, nodes = tree
    border_count = 0
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
                if level + 1 < max_length:
                    level += 1
                    path[level, 0] = child
                    path[level, 1] = place
                continue
            size = place - offsets[row] if level + 1 < max_length else 0
            if border_count == len(border) or ends[border_count] + size > len(kept_items):
                path[level, 1] = place + 1  # this place is done again, with new room
                state[ROW] = row
                state[LEVEL] = level
                return border_count
            border[border_count, 0] = path[level, 0]
            border[border_count, 1] = codes[place]
            kept_items[ends[border_count] : ends[border_count] + size] = codes[offsets[row] : offsets[row] + size]
            ends[border_count + 1] = ends[border_count] + size
            border_count += 1
    state[ROW] = len(offsets) - 1
    state[LEVEL] = -1
    return border_count
