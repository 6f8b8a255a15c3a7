"""Forecasts of mechanisms and protocols before any budget is spent, lower bounds on epsilon, and comparisons on data.

A forecast reads no data: mechanisms and protocols run over a crowd that is drawn from public numbers. A comparison may
run on data: its result is not private, and is marked so. Releases belong to `publish`.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
