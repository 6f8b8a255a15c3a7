"""The central guarantee of anonymous local reports: amplification by shuffling.

A batch of reports in random order and without names has a central (epsilon, delta) smaller than the epsilon of a
report. This accountant is for planning and is no default claim: it holds only if the shuffler does not collude with the
collector. The proof is in `shuffle.md`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..checks import parse_positive
from ..errors import MisuseError
from ..privacy import Budget, rounded_up, shown
from ..privacy.sampling import intervals

_DIGITS = 50  # of intermediate values: all rounding together is far below the digits of a shown epsilon


def shuffled(epsilon: Any, *, people: int, delta: Any) -> Fraction:
    """Return the central epsilon of an anonymous batch of reports, rounded up.

    The bound is theorem 3.1 of Feldman, McMillan and Talwar (FOCS 2021), for any randomiser. It is never larger than
    the epsilon of a report. For an epsilon over ln(n / (16 ln(2 / delta))), the theorem does not apply, and the epsilon
    of a report is returned.

    Privacy: nothing is spent; the unit is the person, with the neighbouring relation replace.

    Parameters
    ----------
    epsilon
        The epsilon of the local guarantee of a report.
    people
        The number of reports in the batch: the reports of a round, with one question and one oracle.
    delta
        The delta of the central guarantee, over 0.

    Examples
    --------
    >>> round(float(shuffled(1, people=50_000, delta="1e-8")), 3)
    0.115
    >>> shuffled(1, people=100, delta="1e-8")
    Fraction(1, 1)
    """
    people_count = parse_positive("people", people)
    budget = Budget.of(epsilon, delta)
    if budget.pure:
        raise MisuseError.format(
            "Shuffling gives an epsilon at a delta over 0, such as {delta=1e-8}; {given} was given.",
            given=shown(budget.delta),
        )
    local = budget.epsilon
    if local > people_count.bit_length():  # then exp(epsilon) > n, and would take long to compute
        return local
    growth = intervals.exp(intervals.ratio(local, _DIGITS), _DIGITS)
    if Fraction(growth[1]) * 16 * _logarithm(2 / budget.delta) > people_count:
        return local
    high = Fraction(growth[1])
    # Every term rises with E = exp(epsilon), (E - 1) / (E + 1) too: the upper end of E gives an upper bound.
    leakage = 8 * _root(high * _logarithm(4 / budget.delta) / people_count) + 8 * high / people_count
    bound = rounded_up(_logarithm(1 + (high - 1) / (high + 1) * leakage))
    return min(bound, local)


def _logarithm(value: Fraction) -> Fraction:
    """Return the natural logarithm of a number, rounded up."""
    return Fraction(intervals.ln(intervals.ratio(value, _DIGITS), _DIGITS)[1])


def _root(value: Fraction) -> Fraction:
    """Return the square root of a number, rounded up."""
    upward = intervals.contexts(_DIGITS)[1]
    # A decimal square root is right to half a unit in the last place, in every rounding mode: one step is enough.
    return Fraction(upward.next_plus(upward.sqrt(intervals.ratio(value, _DIGITS)[1])))
