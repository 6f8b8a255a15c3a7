"""The interface of a comparator: known baskets and a source of randomness in, patterns out."""

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
    """The requested patterns: at least `count` people, `least` to `longest` items, at an epsilon."""

    count: int
    least: int = 1
    longest: int | None = None
    epsilon: Fraction | None = None

    def fits(self, size: int) -> bool:
        """Return whether a pattern of `size` items is requested."""
        return self.least <= size and (self.longest is None or size <= self.longest)


@dataclass(frozen=True, kw_only=True)
class ComparatorResult:
    """The patterns with estimated counts, and further numbers of the run."""

    counts: Mapping[frozenset[Item], float]
    facts: Mapping[str, float] = field(default_factory=dict)


class Comparator(ABC):
    """A published method to compare with. Subclasses are frozen dataclasses; their fields are the settings."""

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    proof: ClassVar[str]

    @abstractmethod
    def find(self, baskets: Baskets, task: ComparatorTask, source: Source) -> ComparatorResult:
        """Return the patterns that the method finds, with randomness from the source only."""
