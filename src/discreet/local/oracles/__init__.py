"""Oracles, one per file with its proof page beside it: the randomisation of one answer, and the estimate from all.

The registry scans this folder. The contracts are `local.oracle` (frequencies) and `local.mean_oracle` (means); the
common parts of oracles are in `local.oracle_steps`.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
