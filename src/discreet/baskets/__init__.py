"""Data comes in here: readers make `Baskets`, generators make them up, resampling makes more of them.

`read` looks at what it was given (`call`) and chooses one reader: text in blocks (`text`), tables through DuckDB
(`tables`, `databases`), data frames (`frames`), spreadsheets (`excel`) or Python objects (`memory`). Every reader hands
its rows to `build`, where labels become codes and the rows of one person become one basket. So all readers give the
same `Baskets` for the same data, and a test holds them to it.

A `Baskets` (`core`) is one row of item codes per person, and a `Vocabulary` that says which label a code stands for.
Everything else in the package starts from it. `recoding` fits baskets to a list of items that is public: what is not on
the list is dropped, and what nobody holds is still there. Nothing in this room is private.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
