"""The engine of an audit: the local engine of a release, with a cache of its answers.

An audit asks hundreds of small data sets the few questions of a mechanism again and again. The cache stores answers of
the engine's own code by the value of the query; a query without equality by value is always computed.
"""

from __future__ import annotations

from typing import Any

from ..baskets import Baskets, Item
from ..exact import Engine, FrequentSets, LocalEngine, Query
from ..privacy import I64

# The name of the engine in verdicts.
ENGINE_NAME = LocalEngine.__name__


class CachingEngine(LocalEngine):
    """The local engine with a cache."""

    def __init__(self, baskets: Baskets) -> None:
        super().__init__(baskets)
        self._answers: dict[Any, Any] = {}

    def answer(self, query: Query) -> I64:
        """Return the answer of the local engine, from the cache if possible."""
        if type(query).__eq__ is object.__eq__:
            return super().answer(query)
        if query not in self._answers:
            self._answers[query] = super().answer(query)
            self._answers[query].flags.writeable = False
        answer: I64 = self._answers[query]
        return answer

    def above(self, bound: int, least: int, longest: int, limit: int) -> FrequentSets:
        """Return the list of the local engine, from the cache if possible."""
        key = (bound, least, longest, limit)
        if key not in self._answers:
            self._answers[key] = super().above(bound, least, longest, limit)
        answer: FrequentSets = self._answers[key]
        return answer


class Engines:
    """One engine per data set of an audit."""

    def __init__(self) -> None:
        self._answers: dict[tuple[bytes, bytes, bytes, tuple[Item, ...]], Engine] = {}

    def __call__(self, baskets: Baskets) -> Engine:
        """Return the engine of a data set."""
        owners = b"" if baskets.owners is None else baskets.owners.tobytes()
        key = baskets.offsets.tobytes(), baskets.codes.tobytes(), owners, tuple(baskets.vocabulary)
        if key not in self._answers:
            self._answers[key] = CachingEngine(baskets)
        return self._answers[key]
