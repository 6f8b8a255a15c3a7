"""One mechanism per file, with its proof page beside it. The registry finds the mechanisms by scanning this folder.

A new mechanism is a new file and a new page; CONTRIBUTING has an example. Code that two mechanisms share belongs to
`curator.steps`.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
