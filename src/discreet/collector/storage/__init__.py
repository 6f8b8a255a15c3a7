"""Where a study is kept: one interface (`store`), in SQLite (`sqlite`) or PostgreSQL (`postgresql`).

The state of a study lives here and nowhere else. A server that is killed at any moment goes on from it, and several
servers side by side agree by it.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
