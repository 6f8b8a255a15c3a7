"""The question over item codes: the input of a mechanism. It holds public and released values only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..baskets import Lineage, Unit
from ..exact import Universe
from ..results import F64, Itemsets, lower_doubtful

# A 95 % interval of a normal estimate reaches 1.96 standard deviations to either side.
_DEVIATIONS_IN_MARGIN = 1.96


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A question over item codes, made of public and released values only.

    Parameters
    ----------
    top
        The number of wanted patterns, or None.
    threshold
        The smallest count of a wanted pattern, in `unit`, or None.
    itemsets
        The itemsets to count, where the user lists them, or None.
    min_length, max_length, max_length_given
        The smallest and largest number of items of a pattern, without the required items. `max_length_given` is whether
        the user stated the largest length, or it follows from `top` and `item_count`.
    item_count
        The number of items that a pattern may consist of: their codes are 0 to `item_count - 1`. It is unbounded where
        no list of items is public and the mechanism selects the items itself.
    required_count, required_is_pattern
        The number of required items, which every pattern has besides, and whether the required items alone are a wanted
        pattern.
    people, people_margin, people_known_to_engine
        The number of people (or baskets), public or released with noise; the half-width of its 95 % interval (0 where
        it is public); and whether the number counts exactly the people within the engine. With required
        items, the engine holds only holders of the required items.
    with_counts
        Whether noisy counts are wanted, or the patterns alone.
    epsilon
        The epsilon of the whole release, for mechanisms that plan in absolute numbers.
    scope
        A phrase that names the patterns among which the mechanism selects; empty where the mechanism selects among
        all patterns of the public items. Statements about the result hold within this scope.
    unit
        The unit of counts: people, or baskets where a person may have several.
    lineage
        The ancestors of each item code in a hierarchy, or None. No pattern has an item and its ancestor.
    """

    top: int | None = None
    threshold: int | None = None
    itemsets: Itemsets | None = None
    min_length: int
    max_length: int
    max_length_given: bool = False
    item_count: int
    required_count: int = 0
    required_is_pattern: bool = False
    people: int
    people_margin: int = 0
    people_known_to_engine: bool = True
    with_counts: bool = True
    epsilon: Fraction | None = None
    scope: str = ""
    unit: Unit = "people"
    lineage: Lineage | None = None

    def universe(self, max_length: int | None = None) -> Universe:
        """Return the set of all possible patterns, up to `max_length` items where that is given."""
        return Universe(
            self.item_count, self.min_length, self.max_length if max_length is None else max_length, self.lineage
        )

    def mark_antichains(self, itemsets: Itemsets) -> NDArray[np.bool_]:
        """Return a mask of the itemsets that are possible patterns: without an item and its ancestor."""
        if self.lineage is None:
            return np.ones(len(itemsets), np.bool_)
        return self.lineage.antichains(itemsets.offsets, itemsets.codes)

    def lower_ends(self, noisy_counts: F64, low: F64, candidate_count: int = 0) -> F64:
        """Return the lower ends of intervals: over a threshold, 0 for patterns that noise alone may have lifted there.

        Parameters
        ----------
        noisy_counts, low
            The counts of the patterns shown, as the noise left them, and the lower ends of their intervals.
        candidate_count
            The number of itemsets that were counted with equal noise, and of which the patterns were chosen; 0 where
            the noise had no part in the choice, or where the intervals allow for it.
        """
        return low if self.threshold is None else lower_doubtful(noisy_counts, low, candidate_count)

    @property
    def max_people(self) -> int:
        """The upper end of the 95 % interval of the number of people."""
        return self.people + self.people_margin

    @property
    def engine_people(self) -> tuple[float, float] | None:
        """The number of people within the engine and its variance; None where `people` counts further people."""
        if not self.people_known_to_engine:
            return None
        return float(self.people), (self.people_margin / _DEVIATIONS_IN_MARGIN) ** 2
