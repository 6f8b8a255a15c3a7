"""How interesting a rule is: the ten measures as formulas on columns of counts.

All are computed from whole counts, so that the cases at the edge (a confidence of exactly 1, a consequent
that everybody holds) are recognised exactly instead of through rounded fractions. With n people, a and c
people who hold the antecedent and the consequent, and b people who hold both:

=============  =======================================  =========================================
support        b / n
confidence     b / a
lift           n b / (a c)                              1 where the sides are independent
leverage       b / n - (a / n) (c / n)                  0 where the sides are independent
conviction     (1 - c / n) / (1 - b / a)                infinite where the confidence is 1
cosine         b / sqrt(a c)
jaccard        b / (a + c - b)
kulczynski     (b / a + b / c) / 2
certainty      (b / a - c / n) / (1 - c / n)            0 where everybody holds the consequent
zhang          leverage / max(b / n (1 - a / n),        0 where the divisor is 0
               a / n (c / n - b / n))
=============  =======================================  =========================================

These are the definitions of mlxtend 0.25, edge cases included (which has no cosine, and calls the last one
`zhangs_metric`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError

Column = NDArray[np.float64]


def _support(n: float, a: Column, c: Column, b: Column) -> Column:
    return b / n


def _confidence(n: float, a: Column, c: Column, b: Column) -> Column:
    return b / a


def _lift(n: float, a: Column, c: Column, b: Column) -> Column:
    return n * b / (a * c)


def _leverage(n: float, a: Column, c: Column, b: Column) -> Column:
    return (n * b - a * c) / (n * n)


def _conviction(n: float, a: Column, c: Column, b: Column) -> Column:
    return np.where(b < a, (n - c) * a / (n * (a - b)), np.inf)


def _cosine(n: float, a: Column, c: Column, b: Column) -> Column:
    return b / np.sqrt(a * c)


def _jaccard(n: float, a: Column, c: Column, b: Column) -> Column:
    return b / (a + c - b)


def _kulczynski(n: float, a: Column, c: Column, b: Column) -> Column:
    return (b / a + b / c) / 2


def _certainty(n: float, a: Column, c: Column, b: Column) -> Column:
    return np.where(c == n, 0.0, (n * b - a * c) / (a * (n - c)))


def _zhang(n: float, a: Column, c: Column, b: Column) -> Column:
    divisor = np.maximum(b * (n - a), a * (c - b))
    return np.where(divisor == 0, 0.0, (n * b - a * c) / divisor)


_FORMULAS: dict[str, Callable[[float, Column, Column, Column], Column]] = {
    "support": _support,
    "confidence": _confidence,
    "lift": _lift,
    "leverage": _leverage,
    "conviction": _conviction,
    "cosine": _cosine,
    "jaccard": _jaccard,
    "kulczynski": _kulczynski,
    "certainty": _certainty,
    "zhang": _zhang,
}

MEASURES = tuple(_FORMULAS)


def measure(name: str, people: int, antecedent: NDArray[Any], consequent: NDArray[Any], both: NDArray[Any]) -> Column:
    """Return one measure of many rules.

    Parameters
    ----------
    name
        One of `MEASURES`.
    people
        How many people there are.
    antecedent, consequent, both
        How many of them hold each side, and both sides.

    Examples
    --------
    >>> measure("lift", 10, np.array([5]), np.array([6]), np.array([4])).round(3)
    array([1.333])
    """
    if name not in _FORMULAS:
        raise MisuseError(f"{name!r} is not a measure of rules; there are {', '.join(MEASURES)}.")
    columns = [np.asarray(counts, np.float64) for counts in (antecedent, consequent, both)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return _FORMULAS[name](float(max(people, 1)), *columns)
