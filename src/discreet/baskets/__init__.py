"""Input of data: readers, generators of synthetic data, and resampling, all with `Baskets` as the result.

`read` checks its options and the source (`_call`) and calls one reader: text in blocks (`_text`), tables by DuckDB
(`_tables`, `_databases`), data frames (`_frames`), spreadsheets (`_excel`) or Python objects (`_memory`). Every reader
passes rows of labels to `_build`, where labels become codes and the rows of a person become one basket. So all readers
return equal `Baskets` for equal data, and a test checks it.

`Baskets` (`_core`) are one row of item codes per person, with a `Vocabulary` of the label of each code. All other rooms
start from them. `_recoding` fits baskets to a public list of items: unlisted items are dropped, and listed items
without holders are kept. Nothing in this room is private.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
