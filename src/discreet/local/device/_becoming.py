"""The items of a basket in a study with a hierarchy. Standard library only.

The study signs a table of all items that a device may hold: for each its numbers on the list of the study, which are
the item itself and the items above it, or its item on one level. The table is public, and the recoded basket depends
on it and on the basket alone. A report about it is therefore as private as a report about any basket.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ._answering import whole_numbers


def recode_basket(basket: Iterable[int], item_table: Sequence[Sequence[int]]) -> list[int]:
    """Return the numbers of a basket's items on the list of the study, ascending; items outside the table have none."""
    items = [item for item in whole_numbers(basket) if 0 <= item < len(item_table)]
    return sorted({code for item in items for code in item_table[item]})
