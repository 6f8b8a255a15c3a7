"""The common parts of oracles: hashing, unary and subset encodings, reading of reports, choice of an oracle."""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
