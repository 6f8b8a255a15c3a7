"""Budgets, guarantees, the meter, the ledger and the samplers: each promise, and the only way to keep it.

A `budget` is an exact fraction of epsilon (or of rho, for zCDP). A mechanism holds a `meter` and names a share of the
budget for each step. The data and all answers are `sealed`: only the meter opens an answer, adds noise scaled to the
sensitivity of the query, and records the charge. At the end the `guarantee` states the budget, and the sum of the
charges is checked against it.

``sampling/`` draws the noise: exactly, in whole numbers, from the system's secure source. ``ledger/`` keeps an account
per data set across releases. No module of this room reads data. Each part has its proof page beside it.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
