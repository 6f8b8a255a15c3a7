"""What oracles share: hashing, unary and subset encodings, reading reports, and which oracle suits a question."""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
