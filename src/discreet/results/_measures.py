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
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError

MeasureColumn = NDArray[np.float64]
# The lowest and the highest value that something may have.
Ends: TypeAlias = tuple[MeasureColumn, MeasureColumn]


def _support(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    return b / n


def _confidence(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    return b / a


def _lift(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    return n * b / (a * c)


def _leverage(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    return (n * b - a * c) / (n * n)


def _conviction(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    return np.where(b < a, (n - c) * a / (n * (a - b)), np.inf)


def _cosine(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    return b / np.sqrt(a * c)


def _jaccard(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    return b / (a + c - b)


def _kulczynski(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    return (b / a + b / c) / 2


def _certainty(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    return np.where(c == n, 0.0, (n * b - a * c) / (a * (n - c)))


def _zhang(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    divisor = np.maximum(b * (n - a), a * (c - b))
    return np.where(divisor == 0, 0.0, (n * b - a * c) / divisor)


_FORMULAS: dict[str, Callable[[float, MeasureColumn, MeasureColumn, MeasureColumn], MeasureColumn]] = {
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


def measure(
    name: str, people: int, antecedent: NDArray[Any], consequent: NDArray[Any], both: NDArray[Any]
) -> MeasureColumn:
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


def shares(people: tuple[float, float], counts: Ends) -> Ends:
    """Return which fractions of the people counts may be, given intervals for both; an end not known is 0 or 1."""
    few, many = _people(people)
    low, high = _known(counts[0], 0.0), _known(counts[1], np.inf)
    return np.minimum(_over(low, many, 0.0), 1), np.minimum(_over(high, few, 1.0), 1)


def within(
    name: str, people: tuple[float, float], antecedent: Ends, consequent: Ends, both: Ends
) -> tuple[MeasureColumn, MeasureColumn]:
    """Return the smallest and the largest value of a measure that intervals of its counts allow.

    Every measure grows with the count of both sides and falls with that of either (where they grow at all), so its ends
    lie at the ends of the intervals; the number of people enters through the shares, or as it is in the lift. An end
    that is not known is the end of the measure's range. Where each of the intervals holds the truth with 95 %, this one
    fails at most as often as all of them together: 90 % for two counts, 85 % for three, 80 % with the number of people.

    Parameters
    ----------
    name
        One of `MEASURES`.
    people, antecedent, consequent, both
        The lowest and the highest number of people there may be, and who may hold each side, and both sides.
    """
    if name not in _FORMULAS:
        raise MisuseError(f"{name!r} is not a measure of rules; there are {', '.join(MEASURES)}.")
    few, many = _people(people)
    # No end is made tighter by another interval: each that is used is one more that may fail.
    (a_low, a_high), (c_low, c_high), (b_low, b_high) = (
        (_known(low, 0.0), _known(high, np.inf)) for low, high in (antecedent, consequent, both)
    )

    confidence = np.minimum(_over(b_low, a_high, 0.0), 1), np.minimum(_over(b_high, a_low, 1.0), 1)
    (pa_low, pa_high), (pc_low, pc_high), (pb_low, pb_high) = (
        shares(people, counts) for counts in (antecedent, consequent, both)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        match name:
            case "support":
                return pb_low, pb_high
            case "confidence":
                return confidence
            case "lift":
                return _over(few * b_low, a_high * c_high, 0.0), _over(many * b_high, a_low * c_low, np.inf)
            case "leverage":
                return np.maximum(pb_low - pa_high * pc_high, -0.25), np.minimum(pb_high - pa_low * pc_low, 0.25)
            case "conviction":
                return _over(1 - pc_high, 1 - confidence[0], np.inf), _over(1 - pc_low, 1 - confidence[1], np.inf)
            case "certainty":
                ends = (confidence[0], pc_high), (confidence[1], pc_low)
                low, high = (np.where(rest < 1, (sure - rest) / (1 - rest), -np.inf) for sure, rest in ends)
                return low, np.minimum(np.where(pc_low < 1, high, 0.0), 1)
            case "cosine":
                roots = np.sqrt(a_high * c_high), np.sqrt(a_low * c_low)
                return np.minimum(_over(b_low, roots[0], 0.0), 1), np.minimum(_over(b_high, roots[1], 1.0), 1)
            case "jaccard":
                either = np.maximum(a_low, b_high) + np.maximum(c_low, b_high) - b_high
                high = np.where(np.isfinite(b_high), _over(b_high, either, 1.0), 1.0)
                return np.minimum(_over(b_low, a_high + c_high - b_low, 0.0), 1), np.minimum(high, 1)
            case "kulczynski":
                other = np.minimum(_over(b_low, c_high, 0.0), 1), np.minimum(_over(b_high, c_low, 1.0), 1)
                return (confidence[0] + other[0]) / 2, (confidence[1] + other[1]) / 2
            case _:
                low = _zhang(1.0, pa_high, pc_high, pb_low)
                high = np.where(pb_high > np.minimum(pa_low, pc_low), 1.0, _zhang(1.0, pa_low, pc_low, pb_high))
                return np.clip(low, -1, 1), np.clip(high, -1, 1)


def _people(ends: tuple[float, float]) -> tuple[float, float]:
    """Return the least and the most people there may be; what is divided by the most is divided by 1 at least."""
    return max(0.0, float(ends[0])), max(1.0, float(ends[1]))


def _known(end: MeasureColumn, otherwise: float) -> MeasureColumn:
    """Return the end of an interval of counts, none of which is negative; where it is not known, what it may be."""
    return np.maximum(np.where(np.isnan(end), otherwise, end), 0.0)


def _over(value: MeasureColumn, divisor: MeasureColumn | float, otherwise: float) -> MeasureColumn:
    """Divide; what cannot be divided is as it may be."""
    ends = np.broadcast_to(np.asarray(divisor, np.float64), value.shape)
    quotient = np.full(value.shape, otherwise)
    with np.errstate(over="ignore", invalid="ignore"):
        np.divide(value, ends, out=quotient, where=ends > 0)
    return quotient
