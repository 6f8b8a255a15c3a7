"""How much may be lost, and how losses add up. Everything is an exact fraction, rounded against whoever spends.

Two ways of accounting, never mixed: *pure* epsilon, where losses add up as they are; and *zCDP* (Bun, Steinke 2016),
where the rho of each charge adds up and the sum is turned into an (epsilon, delta) at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import ceil, log, sqrt
from typing import Any

from ..checks import as_written
from ..errors import MisuseError, named, told
from ..results.promise import RELATIONS
from ..results.promise import Relation as Relation
from ..results.promise import shown as shown
from .sampling import intervals

# Bounds that are not exact fractions are rounded up to a multiple of this.
GRID = Fraction(1, 10**12)

_DIGITS = 40
_LONGEST = 60  # characters of a number that is typed


class Neighbours(StrEnum):
    """Which two data sets the promise is about, as it is typed and kept in files."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @property
    def words(self) -> str:
        """The relation as it is said."""
        return RELATIONS[self.value]

    @classmethod
    def kept(cls, text: Any) -> Neighbours:
        """Return the relation that a file keeps; the first ones kept it in words."""
        return cls({words: name for name, words in RELATIONS.items()}.get(text, text))

    @classmethod
    def typed(cls, value: Any) -> Neighbours:
        """Return the relation as users type it: ``"add-remove"`` or ``"replace"``; or as it is."""
        if value in tuple(cls):
            return cls(value)
        allowed = " or ".join(repr(one.value) for one in cls)
        raise MisuseError(told("{neighbours} is {allowed}; {value!r} was given.", allowed=allowed, value=value))


def exact(value: Any, name: str) -> Fraction:
    """Return the number that was written: 0.1 is one tenth, whether it came as a float or as text."""
    number = as_written(value) if not isinstance(value, str) or len(value) <= _LONGEST else None
    if isinstance(number, Decimal) and number and abs(number.adjusted()) > _LONGEST:
        raise MisuseError(
            told(
                "{option} is a number between 10^-{digits} and 10^{digits}; {value!s:.60} was given.",
                option=named(name),
                digits=_LONGEST,
                value=value,
            )
        )
    if number is None:
        given = value if isinstance(value, str) and len(value) <= _LONGEST else f"{value!r:.60}"
        raise MisuseError(
            told("{option} is a number such as 1, 0.5 or 1/3; {given} was given.", option=named(name), given=given)
        )
    return Fraction(number)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What may be lost: epsilon over 0, and delta from 0 to below 1 (0 for a pure guarantee).

    Examples
    --------
    >>> Budget.of(epsilon="0.3").epsilon
    Fraction(3, 10)
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, epsilon: Any, delta: Any = 0) -> Budget:
        """Return the budget that was typed."""
        return cls(epsilon=exact(epsilon, "epsilon"), delta=exact(delta, "delta"))

    def __str__(self) -> str:
        delta = "" if self.pure else f", delta = {shown(self.delta)}"
        return f"epsilon = {shown(self.epsilon)}{delta}"

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise MisuseError(
                told("{epsilon} must be over 0, such as 0.5 or 1; {given} was given.", given=shown(self.epsilon))
            )
        if not 0 <= self.delta < 1:
            raise MisuseError(
                told(
                    "{delta} must be 0 or more and below 1, such as 1e-6, far below one over the number of people; "
                    "{given} was given.",
                    given=shown(self.delta),
                )
            )

    @property
    def pure(self) -> bool:
        """Whether no delta is allowed."""
        return self.delta == 0

    @property
    def rho(self) -> Fraction:
        """The zCDP loss this budget has room for; a pure budget is not accounted that way."""
        if self.pure:
            raise MisuseError(
                told("A budget without delta is kept in epsilon alone: give {delta=} to account by zCDP.")
            )
        return rho_for(self.epsilon, self.delta)


# Beyond these a promise says next to nothing, and is more likely a slip: it is made only for who says so.
ABSURD_EPSILON = Fraction(20)
ABSURD_DELTA = Fraction(1, 1000)


def serious(budget: Budget, really: bool, people: int | None = None) -> Budget:
    """Return a budget whose promise says something; one that does not is refused unless it is really meant.

    `people` is the number of people where it is public: with a delta over one in so many, publishing one person's
    basket as it is would be allowed.
    """
    if really:
        return budget
    if budget.epsilon > ABSURD_EPSILON:
        raise MisuseError(
            told(
                "{epsilon} is at most {most_seriously}: an epsilon of {given} lets one person's data make a result "
                "e^{given} times likelier, which protects nobody. An epsilon of 1 is usual, less protects more. If it "
                "is really meant, say so with {really=True}.",
                most_seriously=ABSURD_EPSILON,
                given=shown(budget.epsilon),
            )
        )
    if budget.delta > ABSURD_DELTA or (people and budget.delta * people > 1):
        bound = shown(ABSURD_DELTA) if budget.delta > ABSURD_DELTA else f"one over the number of people, {people:,}"
        raise MisuseError(
            told(
                "{delta} is at most {bound}: with a delta of {given}, giving away the whole basket of somebody picked "
                "at random would be allowed. Far below one over the number of people is usual, such as 1e-6. If it is "
                "really meant, say so with {really=True}.",
                bound=bound,
                given=shown(budget.delta),
            )
        )
    return budget


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One use of a budget: what for, and what it costs.

    `epsilon` is the pure loss, None where there is none (Gaussian noise). `rho` is the zCDP loss; a pure loss implies
    epsilon^2 / 2, and less where the mechanism allows (epsilon^2 / 8 for the exponential mechanism). `delta` is a
    probability with which the promise may fail besides.
    """

    what: str
    epsilon: Fraction | None
    rho: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if (self.epsilon is not None and self.epsilon < 0) or self.rho < 0 or not 0 <= self.delta < 1:
            raise MisuseError(f"A charge is not negative; the one for {self.what} is.")

    @classmethod
    def pure(cls, what: str, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Charge:
        """Return a charge of pure epsilon, as Laplace noise has it."""
        return cls(what=what, epsilon=epsilon, rho=epsilon**2 / 2, delta=delta)

    @classmethod
    def bounded_range(cls, what: str, epsilon: Fraction) -> Charge:
        """Return a charge of the exponential mechanism: epsilon, and epsilon^2 / 8 of rho (Cesar, Rogers 2021)."""
        return cls(what=what, epsilon=epsilon, rho=epsilon**2 / 8)

    @classmethod
    def gaussian(cls, what: str, rho: Fraction) -> Charge:
        """Return a charge of Gaussian noise, which has no pure loss."""
        return cls(what=what, epsilon=None, rho=rho)


def compose(charges: Iterable[Charge], delta: Fraction = Fraction(0)) -> tuple[Fraction, Fraction]:
    """Return the (epsilon, delta) of all charges together.

    With `delta` of 0 the losses are added up as they are, which needs every charge to have a pure loss. With a `delta`
    over 0, rho is added up and turned into the epsilon at that delta; the charges' own deltas come on top.
    """
    all_charges = list(charges)
    own = sum((charge.delta for charge in all_charges), Fraction(0))
    if delta == 0:
        without = [charge.what for charge in all_charges if charge.epsilon is None]
        if without:
            raise MisuseError(f"{without[0]} has no pure loss: it can only be accounted with a delta.")
        return sum((charge.epsilon or Fraction(0) for charge in all_charges), Fraction(0)), own
    return epsilon_for(sum((charge.rho for charge in all_charges), Fraction(0)), delta), delta + own


@lru_cache(maxsize=256)
def epsilon_for(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon at which rho-zCDP implies (epsilon, delta), rounded up.

    For every alpha over 1, epsilon = alpha rho + ln(1 / (alpha delta)) / (alpha - 1) + ln(1 - 1 / alpha) will do
    (Canonne, Kamath, Steinke 2020, proposition 12 and corollary 13). The best alpha is looked for in floating point;
    the formula is then evaluated with that alpha, exactly chosen, in arithmetic that rounds up.
    """
    if not 0 < delta < 1:
        raise MisuseError(told("{delta} must lie between 0 and 1; {given} was given.", given=shown(delta)))
    if rho == 0:
        return Fraction(0)
    alpha = _best_order(float(rho), float(delta))
    digits = _DIGITS
    first = intervals.ratio(alpha * rho, digits)
    tail = intervals.negative(intervals.ln(intervals.ratio(alpha * delta, digits), digits))
    second = intervals.over(tail, intervals.ratio(alpha - 1, digits), digits)
    third = intervals.ln(intervals.ratio(1 - 1 / alpha, digits), digits)
    bound = Fraction(intervals.add(intervals.add(first, second, digits), third, digits)[1])
    return max(Fraction(0), rounded_up(bound))


def _best_order(rho: float, delta: float) -> Fraction:
    """Return an order alpha, as a fraction of moderate length, near the one with the smallest epsilon."""

    def value(alpha: float) -> float:
        return alpha * rho - log(alpha * delta) / (alpha - 1) + log(1 - 1 / alpha)

    low, high = 1 + 1e-9, 2 + 4 * sqrt(log(1 / delta) / rho) + 4 / rho
    golden = (sqrt(5) - 1) / 2
    for _ in range(200):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if value(left) < value(right):
            high = right
        else:
            low = left
    return Fraction(max((low + high) / 2, 1 + 1e-6)).limit_denominator(10**9)


@lru_cache(maxsize=256)
def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho on a fine grid for which `epsilon_for` stays within epsilon."""
    low, high = 0, 1
    step = GRID
    while epsilon_for(high * step, delta) <= epsilon:
        low, high = high, 2 * high
    while high - low > max(1, high >> 40):
        middle = (low + high) // 2
        if epsilon_for(middle * step, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low * step


def rounded_up(value: Fraction) -> Fraction:
    """Return the next multiple of the grid."""
    return ceil(value / GRID) * GRID
