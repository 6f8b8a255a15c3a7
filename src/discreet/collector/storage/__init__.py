"""The storage of studies: one class (`store`) with an SQLite form (`sqlite`) and a PostgreSQL form (`postgresql`).

The state of a study is stored here and nowhere else. A server that is killed at any moment continues from this state,
and several servers side by side agree through it.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
