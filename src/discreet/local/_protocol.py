"""What a protocol is: a frozen value with its settings, which leads a conversation about what is wanted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from ..privacy import exact
from ..registry import settle
from .study import Talk, Wanted


class Protocol(ABC):
    """A plan of questions. Subclasses are frozen dataclasses; their fields are the settings.

    A setting may be given as text, as it is typed on a command line. Fractions are kept as the text they were
    written as, so that a protocol says the same about itself wherever it is written down.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    # Whether a study can ask as it does by default; one that is simulated only uses oracles no device answers for.
    live: ClassVar[bool] = True
    # How many questions one person is asked; more than one is for comparison only (X4).
    reports: ClassVar[int] = 1
    # Whether it finds out what the items are: people hold texts, and there is no list of them.
    unlisted: ClassVar[bool] = False
    # Whether it knows of items that stand above others, and asks about no itemset with an item and one above it.
    across: ClassVar[bool] = False
    # What the promise takes for public knowledge.
    public: ClassVar[tuple[str, ...]] = ("the items",)
    # The setting of protocols that split the people: how many of them go to each part, as fractions.
    shares: tuple[str, ...]

    def __post_init__(self) -> None:
        settle(self)

    @property
    def parts(self) -> list[Fraction]:
        """The shares as numbers."""
        return [exact(share, "a share") for share in self.shares]

    @property
    def bias(self) -> str:
        """Why estimates are off by more than their intervals hold; empty where intervals are about the true counts."""
        return ""

    @abstractmethod
    def check(self, wanted: Wanted) -> None:
        """Refuse what cannot be asked, before anyone is."""

    @abstractmethod
    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
