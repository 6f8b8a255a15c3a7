"""What the papers compute without data: a function for each line of a table or figure, from its numbers to others."""

from __future__ import annotations


def amplified(epsilon: str, padding: int) -> dict[str, float]:
    """Return the epsilon at which a value drawn from so many may be reported (000, Figure 1)."""
    from math import expm1, log1p

    return {"epsilon": log1p(padding * expm1(float(epsilon)))}
