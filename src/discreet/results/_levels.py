"""On which level of a hierarchy patterns and rules are: the lowest on which all their items are what they are.

An item is what it is from its own level up to the one below its parent's: a product without a category stands for
itself among categories too. So the patterns of a level are just those that mining on that level finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..baskets import MIXED
from ..errors import MisuseError
from ._itemsets import Itemsets, Mask

if TYPE_CHECKING:
    from ..baskets import Hierarchy, Vocabulary
    from ._patterns import Patterns
    from ._rules import Rules


def spans(hierarchy: Hierarchy, vocabulary: Vocabulary, *sides: Itemsets) -> NDArray[np.int64]:
    """Return the lowest and the highest level of each row, all sides together; over each other where it has none."""
    used = np.unique(np.concatenate([side.codes for side in sides]))
    ends = np.array([hierarchy.span(str(label)) for label in vocabulary.take(used).to_pylist()], np.int64)
    low, high = np.zeros(len(sides[0]), np.int64), np.full(len(sides[0]), hierarchy.height, np.int64)
    for side in sides:
        rows, place = np.repeat(np.arange(len(side)), side.sizes), np.searchsorted(used, side.codes)
        if len(rows):
            np.maximum.at(low, rows, ends[place, 0])
            np.minimum.at(high, rows, ends[place, 1])
    return np.stack([low, high])


def on_level(result: Patterns | Rules, level: object) -> Mask:
    """Say which patterns or rules are on a level, given by its name or its number; or on none, for ``"mixed"``."""
    if result.hierarchy is None:
        raise MisuseError.format(
            "{level} is a level of a hierarchy, and these were found without one: give {hierarchy=} there."
        )
    low, high = spans(result.hierarchy, result.vocabulary, *result.sides)
    if level == MIXED and level not in result.hierarchy.names:
        mixed: Mask = low > high
        return mixed
    number = result.hierarchy.level(level)
    there: Mask = (low <= number) & (number <= high)
    return there


def told_hierarchy(result: Patterns | Rules) -> dict[str, Any] | None:
    """Return what files say of a hierarchy: of the items that occur, and of what stands above them."""
    if result.hierarchy is None:
        return None
    used = np.unique(np.concatenate([side.codes for side in result.sides]))
    return result.hierarchy.only(result.vocabulary.take(used).to_pylist()).to_dict()
