"""The ten measures of rules as formulas on columns of counts.

All are computed from whole counts, so that special cases (a confidence of exactly 1, a consequent with all people) are
recognised exactly, not by rounded fractions. With n people, a and c holders of the antecedent and the consequent, and b
holders of both:

=============  =======================================  =========================================
support        b / n
confidence     b / a
lift           n b / (a c)                              1 where the sides are independent
leverage       b / n - (a / n) (c / n)                  0 where the sides are independent
conviction     (1 - c / n) / (1 - b / a)                infinite where the confidence is 1
cosine         b / sqrt(a c)
jaccard        b / (a + c - b)
kulczynski     (b / a + b / c) / 2
certainty      (b / a - c / n) / (1 - c / n)            0 if c = n
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
# The lowest and the highest possible values of a column.
Ends: TypeAlias = tuple[MeasureColumn, MeasureColumn]


def _zhang(n: float, a: MeasureColumn, c: MeasureColumn, b: MeasureColumn) -> MeasureColumn:
    # Both cases of the definition in one quotient: the larger divisor belongs to the sign of the leverage.
    divisor = np.maximum(b * (n - a), a * (c - b))
    return np.where(divisor == 0, 0.0, (n * b - a * c) / divisor)


_FORMULAS: dict[str, Callable[[float, MeasureColumn, MeasureColumn, MeasureColumn], MeasureColumn]] = {
    "support": lambda n, a, c, b: b / n,
    "confidence": lambda n, a, c, b: b / a,
    "lift": lambda n, a, c, b: n * b / (a * c),
    "leverage": lambda n, a, c, b: (n * b - a * c) / (n * n),
    "conviction": lambda n, a, c, b: np.where(b < a, (n - c) * a / (n * (a - b)), np.inf),
    "cosine": lambda n, a, c, b: b / np.sqrt(a * c),
    "jaccard": lambda n, a, c, b: b / (a + c - b),
    "kulczynski": lambda n, a, c, b: (b / a + b / c) / 2,
    "certainty": lambda n, a, c, b: np.where(c == n, 0.0, (n * b - a * c) / (a * (n - c))),
    "zhang": _zhang,
}

MEASURES = tuple(_FORMULAS)


def measure(
    name: str, people: int, antecedent: NDArray[Any], consequent: NDArray[Any], joint: NDArray[Any]
) -> MeasureColumn:
    """Return one measure of many rules.

    Parameters
    ----------
    name
        One of `MEASURES`.
    people
        The number of people.
    antecedent, consequent, joint
        The number of holders of each side, and of both sides.

    Examples
    --------
    >>> measure("lift", 10, np.array([5]), np.array([6]), np.array([4])).round(3)
    array([1.333])
    """
    if name not in _FORMULAS:
        raise MisuseError(f"{name!r} is not a measure of rules; there are {', '.join(MEASURES)}.")
    # As floats: products of two counts of 10^10 people exceed 64-bit integers.
    columns = [np.asarray(counts, np.float64) for counts in (antecedent, consequent, joint)]
    # A side without holders has no confidence: nan is the right value, and no warning.
    with np.errstate(divide="ignore", invalid="ignore"):
        return _FORMULAS[name](float(max(people, 1)), *columns)


def shares(people: tuple[float, float], counts: Ends) -> Ends:
    """Return the shares of the people that counts may be, given intervals for both; an unknown end becomes 0 or 1."""
    # The smallest share has the fewest holders among the most people, the largest share the reverse.
    min_people, max_people = _people_range(people)
    low, high = _fill_nan(counts[0], 0.0), _fill_nan(counts[1], np.inf)
    return np.minimum(_divide(low, max_people, 0.0), 1), np.minimum(_divide(high, min_people, 1.0), 1)


def measure_bounds(
    name: str, people: tuple[float, float], antecedent: Ends, consequent: Ends, joint: Ends
) -> tuple[MeasureColumn, MeasureColumn]:
    """Return the smallest and the largest value of a measure that intervals of its counts allow.

    Every measure grows with the count of both sides and falls with the count of either side, so its ends lie at the
    ends of the intervals. The number of people enters through the supports, and directly into the lift. An unknown end
    becomes the end of the range of the measure. If each interval holds the truth with 95 %, the result holds it with at
    least 90 % for two counts, 85 % for three, 80 % with the number of people too (union bound).

    Parameters
    ----------
    name
        One of `MEASURES`.
    people, antecedent, consequent, joint
        The lowest and the highest possible number of people, of holders of each side, and of holders of both.
    """
    if name not in _FORMULAS:
        raise MisuseError(f"{name!r} is not a measure of rules; there are {', '.join(MEASURES)}.")
    min_people, max_people = _people_range(people)
    # No end is tightened by a further interval: each used interval adds its failures.
    (a_low, a_high), (c_low, c_high), (b_low, b_high) = (
        (_fill_nan(low, 0.0), _fill_nan(high, np.inf)) for low, high in (antecedent, consequent, joint)
    )

    confidence = np.minimum(_divide(b_low, a_high, 0.0), 1), np.minimum(_divide(b_high, a_low, 1.0), 1)
    (pa_low, pa_high), (pc_low, pc_high), (pb_low, pb_high) = (
        shares(people, counts) for counts in (antecedent, consequent, joint)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        match name:
            case "support":
                return pb_low, pb_high
            case "confidence":
                return confidence
            case "lift":
                return _divide(min_people * b_low, a_high * c_high, 0.0), _divide(
                    max_people * b_high, a_low * c_low, np.inf
                )
            case "leverage":
                return np.maximum(pb_low - pa_high * pc_high, -0.25), np.minimum(pb_high - pa_low * pc_low, 0.25)
            case "conviction":
                return _divide(1 - pc_high, 1 - confidence[0], np.inf), _divide(1 - pc_low, 1 - confidence[1], np.inf)
            case "certainty":
                ends = (confidence[0], pc_high), (confidence[1], pc_low)
                low, high = (
                    np.where(share_end < 1, (confidence_end - share_end) / (1 - share_end), -np.inf)
                    for confidence_end, share_end in ends
                )
                return low, np.minimum(np.where(pc_low < 1, high, 0.0), 1)
            case "cosine":
                roots = np.sqrt(a_high * c_high), np.sqrt(a_low * c_low)
                return np.minimum(_divide(b_low, roots[0], 0.0), 1), np.minimum(_divide(b_high, roots[1], 1.0), 1)
            case "jaccard":
                union = np.maximum(a_low, b_high) + np.maximum(c_low, b_high) - b_high
                high = np.where(np.isfinite(b_high), _divide(b_high, union, 1.0), 1.0)
                return np.minimum(_divide(b_low, a_high + c_high - b_low, 0.0), 1), np.minimum(high, 1)
            case "kulczynski":
                reverse = np.minimum(_divide(b_low, c_high, 0.0), 1), np.minimum(_divide(b_high, c_low, 1.0), 1)
                return (confidence[0] + reverse[0]) / 2, (confidence[1] + reverse[1]) / 2
            case _:
                low = _zhang(1.0, pa_high, pc_high, pb_low)
                high = np.where(pb_high > np.minimum(pa_low, pc_low), 1.0, _zhang(1.0, pa_low, pc_low, pb_high))
                return np.clip(low, -1, 1), np.clip(high, -1, 1)


def _people_range(ends: tuple[float, float]) -> tuple[float, float]:
    """Return the lowest and the highest number of people; the highest, a divisor, is at least 1."""
    return max(0.0, float(ends[0])), max(1.0, float(ends[1]))


def _fill_nan(end: MeasureColumn, otherwise: float) -> MeasureColumn:
    """Return the end of an interval of counts, at least 0, with a number for an unknown end."""
    return np.maximum(np.where(np.isnan(end), otherwise, end), 0.0)


def _divide(value: MeasureColumn, divisor: MeasureColumn | float, otherwise: float) -> MeasureColumn:
    """Return a quotient, with a number in place of quotients by 0."""
    ends = np.broadcast_to(np.asarray(divisor, np.float64), value.shape)
    quotient = np.full(value.shape, otherwise)
    with np.errstate(over="ignore", invalid="ignore"):
        np.divide(value, ends, out=quotient, where=ends > 0)
    return quotient
