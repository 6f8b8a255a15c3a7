"""Noise and private selection, drawn exactly. No floating-point number decides anything that is released.

`sources` provides the random bits: the system's secure source for a release, a seeded source for a simulation. The two
sources have different types, so that neither can be taken for the other by mistake. `samplers` draws discrete Laplace
and Gaussian noise; `selection` chooses among candidates by noisy scores, with `race` for selections of several
candidates.

Two techniques make the draws both exact and fast. `float_filter` computes bounds in floating point, which only discard
candidates that certainly lost. `intervals` decides between the remaining candidates: interval arithmetic on decimals,
with as many random bits as the comparison needs. The proofs are in `samplers.md` and `selection.md`.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
