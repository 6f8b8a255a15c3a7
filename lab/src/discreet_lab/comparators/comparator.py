"""What a comparator is: it is handed known baskets and a source, and says which patterns it found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from discreet.baskets import Baskets, Item
from discreet.privacy.sampling import Source


@dataclass(frozen=True, kw_only=True)
class ComparatorTask:
    """What is looked for: patterns of so many items that so many people hold, at this epsilon."""

    count: int
    least: int = 1
    longest: int | None = None
    epsilon: Fraction | None = None

    def fits(self, size: int) -> bool:
        """Say whether a pattern of so many items is wanted."""
        return self.least <= size and (self.longest is None or size <= self.longest)


@dataclass(frozen=True, kw_only=True)
class ComparatorResult:
    """The patterns with their estimated counts, and numbers that were seen on the way."""

    counts: Mapping[frozenset[Item], float]
    facts: Mapping[str, float] = field(default_factory=dict)


class Comparator(ABC):
    """A published method to compare with. Subclasses are frozen dataclasses; their fields are the settings."""

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    proof: ClassVar[str]

    @abstractmethod
    def find(self, baskets: Baskets, wanted: ComparatorTask, source: Source) -> ComparatorResult:
        """Find patterns, with randomness from the source alone."""
