"""What a basket becomes in a study with a hierarchy: the device adds what stands above. Standard library only.

The study says, signed, what each item that a device may hold becomes: itself and what stands above it, or what it is on
one level. That is public, and what a basket becomes depends on it and on that basket alone, so a report about it is as
private as one about any other basket.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ._answering import whole_numbers


def becomes(basket: Iterable[int], table: Sequence[Sequence[int]]) -> list[int]:
    """Return what the items of a basket become, ascending; numbers that the table does not have become nothing."""
    every = [item for item in whole_numbers(basket) if 0 <= item < len(table)]
    return sorted({above for item in every for above in table[item]})
