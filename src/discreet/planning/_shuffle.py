"""What local reports give centrally once they are anonymous: amplification by shuffling.

Where a batch of reports reaches the collector in random order and without names, each person hides among the others,
and the batch as a whole keeps a smaller central (epsilon, delta). This is an accountant to plan with and no default
claim: it holds only where someone who does not collude with the collector does the shuffling. The reasons are in
`shuffle.md`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..checks import parse_positive
from ..errors import MisuseError
from ..privacy import Budget, rounded_up, shown
from ..privacy.sampling import intervals

_DIGITS = 50


def shuffled(epsilon: Any, *, people: int, delta: Any) -> Fraction:
    """Return the central epsilon, at this delta, of an anonymous batch of reports of which each is epsilon-private.

    The bound of Feldman, McMillan and Talwar (FOCS 2021, theorem 3.1, for any randomiser), computed in arithmetic that
    rounds up. It never exceeds the epsilon of one report, and it is that epsilon where the bound says nothing: for an
    epsilon over ln(n / (16 ln(2 / delta))).

    Privacy: nothing is spent; the unit is the person, of whom one is replaced.

    Parameters
    ----------
    epsilon
        What one report gives away at most.
    people
        How many reports are shuffled together: those of one round, which share a question and an oracle.
    delta
        The delta of the central promise, over 0.

    Examples
    --------
    >>> round(float(shuffled(1, people=50_000, delta="1e-8")), 3)
    0.115
    >>> shuffled(1, people=100, delta="1e-8")
    Fraction(1, 1)
    """
    many = parse_positive("people", people)
    budget = Budget.of(epsilon, delta)
    if budget.pure:
        raise MisuseError.format(
            "Shuffling gives an epsilon at a delta over 0, such as {delta=1e-8}; {given} was given.",
            given=shown(budget.delta),
        )
    local = budget.epsilon
    if local > many.bit_length():  # e to the epsilon is far over n: no need to work it out
        return local
    growth = intervals.exp(intervals.ratio(local, _DIGITS), _DIGITS)
    if Fraction(growth[1]) * 16 * _logarithm(2 / budget.delta) > many:
        return local
    high = Fraction(growth[1])
    # (E - 1) / (E + 1) rises with E, and so does all the rest: the upper end of E bounds the whole.
    hidden = 8 * _root(high * _logarithm(4 / budget.delta) / many) + 8 * high / many
    bound = rounded_up(_logarithm(1 + (high - 1) / (high + 1) * hidden))
    return min(bound, local)


def _logarithm(value: Fraction) -> Fraction:
    """Return a natural logarithm, rounded up."""
    return Fraction(intervals.ln(intervals.ratio(value, _DIGITS), _DIGITS)[1])


def _root(value: Fraction) -> Fraction:
    """Return a square root, rounded up: the decimal one is right to half a unit, and one step more is above it."""
    up = intervals.contexts(_DIGITS)[1]
    return Fraction(up.next_plus(up.sqrt(intervals.ratio(value, _DIGITS)[1])))
