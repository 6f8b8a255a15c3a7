"""A protocol: a frozen value with its settings, which asks the questions of a study in rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from ..privacy import exact
from ..registry import settle
from .study import RoundGenerator, StudyGoal


class Protocol(ABC):
    """A plan of questions. Subclasses are frozen dataclasses; their fields are the settings.

    A setting may be a text, as typed on a command line. Fractions keep their text, so that a protocol has the same
    settings in every document.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    # Whether devices answer for its default oracles, so that a study can be live and not only simulated.
    live: ClassVar[bool] = True
    # The number of questions to one person; protocols with more than one are for comparison only (X4).
    reports: ClassVar[int] = 1
    # Whether people hold texts, and the protocol finds the items, without a public list.
    unlisted: ClassVar[bool] = False
    # Whether it uses a hierarchy of items, and asks about no itemset with an item and an item above it.
    across: ClassVar[bool] = False
    # The facts that the guarantee assumes to be public.
    public: ClassVar[tuple[str, ...]] = ("the items",)
    # The setting of protocols that split the people: the fractions of the people in each part.
    shares: tuple[str, ...]

    def __post_init__(self) -> None:
        settle(self)

    @property
    def parts(self) -> list[Fraction]:
        """The shares as exact fractions."""
        return [exact(share, "a share") for share in self.shares]

    @property
    def bias(self) -> str:
        """The reason for a bias beyond the intervals; empty if the intervals are about the true counts."""
        return ""

    @abstractmethod
    def check(self, goal: StudyGoal) -> None:
        """Check that the protocol can answer the curator's question, before it asks any person."""

    @abstractmethod
    def ask_rounds(self, goal: StudyGoal) -> RoundGenerator:
        """Yield the rounds of questions, and return the result of the study."""
