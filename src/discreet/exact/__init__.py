"""The truth about baskets: exact patterns, relations and metrics. No result here is private.

`mine` is the public function; `search` finds all itemsets above a count. A private mechanism asks a query instead: a
value of `query` (counts of itemsets, sizes of baskets, cells of a basis), answered by an `engine`. Each query states
its sensitivity, the largest change of its answer by one person. The meter scales noise by that number alone, so that
proofs about a query belong beside its definition.

An engine keeps arrays derived from the rows for later queries (`rows`). `relations` are ordered pairs of items;
`metrics` compares a result with the truth; `bounds` gives upper bounds of numbers of itemsets.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
