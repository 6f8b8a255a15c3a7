"""Before anything is spent: what each mechanism and protocol would give, and what no one can give.

A forecast reads no data. What is known in public (how many people and items there are, about how long baskets are, how
frequent items are by rank) is enough to imagine a crowd, and over that crowd runs what would run over the real one. A
comparison may be made on the data themselves: it is for the curator's eyes, and says so.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
