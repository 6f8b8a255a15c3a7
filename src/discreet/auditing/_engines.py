"""The engine that an audit runs on: the local one, as a release runs it, which remembers what it was asked.

An audit asks hundreds of small data sets the same few questions again and again. What is remembered is the answer that
the engine's own code gave to the same value; queries that cannot be told apart by their values are always asked anew.
"""

from __future__ import annotations

from typing import Any

from ..baskets import Baskets, Item
from ..exact import Engine, Listed, LocalEngine, Query
from ..privacy import I64

# What verdicts call it.
NAME = LocalEngine.__name__


class Remembering(LocalEngine):
    """The local engine with a memory."""

    def __init__(self, baskets: Baskets) -> None:
        super().__init__(baskets)
        self._known: dict[Any, Any] = {}

    def answer(self, query: Query) -> I64:
        """Answer, or repeat the answer."""
        if type(query).__eq__ is object.__eq__:
            return super().answer(query)
        if query not in self._known:
            self._known[query] = super().answer(query)
            self._known[query].flags.writeable = False
        known: I64 = self._known[query]
        return known

    def above(self, bound: int, least: int, longest: int, limit: int) -> Listed:
        """List, or repeat the list."""
        key = (bound, least, longest, limit)
        if key not in self._known:
            self._known[key] = super().above(bound, least, longest, limit)
        known: Listed = self._known[key]
        return known


class Engines:
    """One engine for each data set that comes up."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, bytes, bytes, tuple[Item, ...]], Engine] = {}

    def __call__(self, baskets: Baskets) -> Engine:
        """Return the engine of these baskets."""
        owners = b"" if baskets.owners is None else baskets.owners.tobytes()
        key = baskets.offsets.tobytes(), baskets.codes.tobytes(), owners, tuple(baskets.vocabulary)
        if key not in self._known:
            self._known[key] = Remembering(baskets)
        return self._known[key]
