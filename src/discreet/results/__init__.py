"""Results as they are handed out, exact or noisy alike: itemsets, patterns and rules, in memory, files and tables.

`Itemsets` is the column type: many itemsets end to end in two arrays. `Patterns` are itemsets with counts, and `Rules`
are made of patterns, with the measures of `measures`. A noisy result carries intervals and its promise along; an exact
one has neither.

Files are written by `files` and read back by `loading`. A file may come from anybody, so every value passes
`untrusted`, which bounds numbers, lists and nesting before anything is made of them. `promise` writes what was promised
in one line, `show` makes tables for terminals and notebooks. What is shown never decides anything.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
