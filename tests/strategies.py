"""What is drawn, or gone through, by tests of more than one module: small sets of items, and people who hold them."""

from __future__ import annotations

from itertools import combinations

from hypothesis import strategies as st

Subset = frozenset[int]


def subsets(items: int, min_size: int = 0, longest: int | None = None) -> list[Subset]:
    """Return all sets of so many of the items 0, 1, 2, …; the shortest first."""
    sizes = range(min_size, (items if longest is None else longest) + 1)
    return [frozenset(members) for size in sizes for members in combinations(range(items), size)]


def people(items: int, max_count: int, min_count: int = 0) -> st.SearchStrategy[list[Subset]]:
    """Draw what people hold of a few items, every set as likely as any other."""
    return st.lists(st.sampled_from(subsets(items)), min_size=min_count, max_size=max_count)


def baskets(items: int, max_count: int, longest: int | None = None) -> st.SearchStrategy[list[Subset]]:
    """Draw baskets of items, mostly short ones."""
    return st.lists(st.frozensets(st.integers(0, items - 1), max_size=longest), max_size=max_count)


def rows(
    items: int, max_count: int, *, min_count: int = 0, shortest: int = 0, longest: int | None = None
) -> st.SearchStrategy[list[list[int]]]:
    """Draw baskets as kernels take them: codes that rise."""
    row = st.frozensets(st.integers(0, items - 1), min_size=shortest, max_size=longest).map(sorted)
    return st.lists(row, min_size=min_count, max_size=max_count)


def forests(max_count: int, min_count: int = 0) -> st.SearchStrategy[list[int]]:
    """Draw forests of a few items: the code of the item right above each, or -1, in any order of the codes."""

    @st.composite
    def draw_parents(draw: st.DrawFn) -> list[int]:
        count = draw(st.integers(min_count, max_count))
        order = draw(st.permutations(range(count)))
        parents = [-1] * count
        for place, item in enumerate(order):
            position = draw(st.integers(-1, place - 1))
            parents[item] = order[position] if position >= 0 else -1
        return parents

    return draw_parents()
