"""Results, exact or noisy: itemsets, patterns and rules, in memory, in files and as tables.

`Itemsets` is the column type: itemsets end to end in two arrays. `Patterns` are itemsets with counts, and `Rules` are
made of patterns, with the measures of `measures`. A noisy result carries intervals and its guarantee, an exact one has
neither.

Files are written by `files` and read by `loading`. A file may come from anybody, so every value passes `untrusted`,
which bounds numbers, lists and nesting before use. `promise` states a guarantee in one line, `show` makes tables for
terminals and notebooks. Nothing is decided by displayed texts.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
