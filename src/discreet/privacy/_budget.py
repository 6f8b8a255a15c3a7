"""Privacy loss and its composition. Every amount is an exact fraction, rounded against the spender.

Two ways of accounting, never mixed. In *pure* accounting, epsilons add up. In *zCDP* accounting (Bun, Steinke 2016),
the rhos of charges add up, and the sum is converted into an (epsilon, delta) at the end.
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

from ..checks import parse_number
from ..errors import MisuseError, name_options
from ..results import RELATIONS, Relation as Relation, shown as shown
from .sampling import intervals

# Irrational bounds are rounded up to a multiple of the grid: 10^-12 of epsilon is far below any stated digit.
GRID = Fraction(1, 10**12)

_DIGITS = 40  # decimals of interval arithmetic: 28 more than the grid has
# Characters of a typed number. Exact fractions of longer numbers take long, and a budget needs a few digits. The finest
# grid of a ledger follows from it (`DELTA_GRID`).
_MAX_LENGTH = 60


class Neighbours(StrEnum):
    """The neighbour relation of a promise, as users type it and files keep it."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @property
    def words(self) -> str:
        """The relation in words."""
        return RELATIONS[self.value]

    @classmethod
    def parse_stored(cls, text: Any) -> Neighbours:
        """Return the relation that a file keeps, as a name or, in early files, in words."""
        return cls({words: name for name, words in RELATIONS.items()}.get(text, text))

    @classmethod
    def parse_typed(cls, value: Any) -> Neighbours:
        """Return the relation of a user's value: ``"add-remove"``, ``"replace"``, or a `Neighbours`."""
        if value in tuple(cls):
            return cls(value)
        allowed_values = " or ".join(repr(relation.value) for relation in cls)
        raise MisuseError.format("{neighbours} is {allowed}; {value!r} was given.", allowed=allowed_values, value=value)


def exact(value: Any, name: str) -> Fraction:
    """Return the exact value of a written number: 0.1 is one tenth, given as a float or as text."""
    number = parse_number(value) if not isinstance(value, str) or len(value) <= _MAX_LENGTH else None
    # A number such as 1e-999999999 would become a fraction of a thousand million digits.
    if isinstance(number, Decimal) and number and abs(number.adjusted()) > _MAX_LENGTH:
        raise MisuseError.format(
            "{option} is a number between 10^-{digits} and 10^{digits}; {value!s:.60} was given.",
            option=name_options(name),
            digits=_MAX_LENGTH,
            value=value,
        )
    if number is None:
        input_text = value if isinstance(value, str) and len(value) <= _MAX_LENGTH else f"{value!r:.60}"
        raise MisuseError.format(
            "{option} is a number such as 1, 0.5 or 1/3; {given} was given.",
            option=name_options(name),
            given=input_text,
        )
    return Fraction(number)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The largest privacy loss: epsilon over 0, and delta from 0 to below 1 (0 for a pure guarantee).

    Examples
    --------
    >>> Budget.of(epsilon="0.3").epsilon
    Fraction(3, 10)
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, epsilon: Any, delta: Any = 0) -> Budget:
        """Return the budget of two written numbers."""
        return cls(epsilon=exact(epsilon, "epsilon"), delta=exact(delta, "delta"))

    def __str__(self) -> str:
        delta = "" if self.pure else f", delta = {shown(self.delta)}"
        return f"epsilon = {shown(self.epsilon)}{delta}"

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise MisuseError.format(
                "{epsilon} must be over 0, such as 0.5 or 1; {given} was given.", given=shown(self.epsilon)
            )
        if not 0 <= self.delta < 1:
            raise MisuseError.format(
                "{delta} must be 0 or more and below 1, such as 1e-6, far below one over the number of people; "
                "{given} was given.",
                given=shown(self.delta),
            )

    @property
    def pure(self) -> bool:
        """Whether no delta is allowed."""
        return self.delta == 0

    @property
    def rho(self) -> Fraction:
        """The zCDP loss that the budget covers; a pure budget has none and raises."""
        if self.pure:
            raise MisuseError.format(
                "A budget without delta is kept in epsilon alone: give {delta=} to account by zCDP."
            )
        return rho_for(self.epsilon, self.delta)


# Beyond these limits a promise protects little and is more likely a slip: it needs `really=True`. At epsilon 20 one
# person makes an event up to e^20 = 4.9e8 times likelier; delta 0.001 allows publishing one basket in a thousand.
ABSURD_EPSILON = Fraction(20)
ABSURD_DELTA = Fraction(1, 1000)


def serious(budget: Budget, really: bool, people: int | None = None) -> Budget:
    """Return a budget with a meaningful promise; refuse any other budget unless `really` is set.

    `people` is the number of people, if public: a delta over 1 / people allows publishing the whole basket of one
    person.
    """
    if really:
        return budget
    if budget.epsilon > ABSURD_EPSILON:
        raise MisuseError.format(
            "{epsilon} is at most {most_seriously}: an epsilon of {given} lets one person's data make a result "
            "e^{given} times likelier, which protects nobody. An epsilon of 1 is usual, less protects more. If it "
            "is really meant, say so with {really=True}.",
            most_seriously=ABSURD_EPSILON,
            given=shown(budget.epsilon),
        )
    if budget.delta > ABSURD_DELTA or (people and budget.delta * people > 1):
        bound = shown(ABSURD_DELTA) if budget.delta > ABSURD_DELTA else f"one over the number of people, {people:,}"
        raise MisuseError.format(
            "{delta} is at most {bound}: with a delta of {given}, giving away the whole basket of somebody picked "
            "at random would be allowed. Far below one over the number of people is usual, such as 1e-6. If it is "
            "really meant, say so with {really=True}.",
            bound=bound,
            given=shown(budget.delta),
        )
    return budget


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One use of a budget: its purpose and its cost.

    `epsilon` is the pure loss, None without a pure loss (Gaussian noise). `rho` is the zCDP loss; a pure loss
    implies epsilon^2 / 2, and less if the mechanism allows (epsilon^2 / 8 for the exponential mechanism). `delta` is
    the probability that the promise fails in addition.
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
        """Return a charge of pure epsilon, as for Laplace noise: rho = epsilon^2 / 2 (Bun, Steinke 2016, prop. 1.4)."""
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

    With a `delta` of 0, epsilons add up, and every charge must have a pure loss. With a `delta` over 0, the sum of rho
    is converted into the epsilon at that delta; the deltas of the charges are added to `delta`.
    """
    all_charges = list(charges)
    own_deltas = sum((charge.delta for charge in all_charges), Fraction(0))
    if delta == 0:
        impure_charges = [charge.what for charge in all_charges if charge.epsilon is None]
        if impure_charges:
            raise MisuseError(f"{impure_charges[0]} has no pure loss: it can only be accounted with a delta.")
        return sum((charge.epsilon or Fraction(0) for charge in all_charges), Fraction(0)), own_deltas
    return epsilon_for(sum((charge.rho for charge in all_charges), Fraction(0)), delta), delta + own_deltas


@lru_cache(maxsize=256)
def epsilon_for(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon for which rho-zCDP implies (epsilon, delta), rounded up.

    For every alpha > 1, epsilon = alpha rho + ln(1 / (alpha delta)) / (alpha - 1) + ln(1 - 1 / alpha) is valid
    (Canonne, Kamath, Steinke 2020, proposition 12 and corollary 13). Floating point searches for the best alpha; the
    formula is then evaluated at that alpha, an exact fraction, in arithmetic that rounds up.
    """
    if not 0 < delta < 1:
        raise MisuseError.format("{delta} must lie between 0 and 1; {given} was given.", given=shown(delta))
    if rho == 0:
        return Fraction(0)
    # Every alpha over 1 is valid, so that a rounding error of the search costs tightness only.
    alpha = _best_order(float(rho), float(delta))
    digits = _DIGITS
    linear_term = intervals.ratio(alpha * rho, digits)
    log_inverse = intervals.negate(intervals.ln(intervals.ratio(alpha * delta, digits), digits))
    log_term = intervals.divide(log_inverse, intervals.ratio(alpha - 1, digits), digits)
    correction = intervals.ln(intervals.ratio(1 - 1 / alpha, digits), digits)
    bound = Fraction(intervals.add(intervals.add(linear_term, log_term, digits), correction, digits)[1])
    return max(Fraction(0), rounded_up(bound))


def _best_order(rho: float, delta: float) -> Fraction:
    """Return an order alpha, as a fraction of moderate length, close to the minimiser of epsilon."""

    def value(alpha: float) -> float:
        return alpha * rho - log(alpha * delta) / (alpha - 1) + log(1 - 1 / alpha)

    low, high = 1 + 1e-9, 2 + 4 * sqrt(log(1 / delta) / rho) + 4 / rho
    # Golden-section search; 200 steps exhaust the precision of a double.
    golden = (sqrt(5) - 1) / 2
    for _ in range(200):
        lower_order, upper_order = high - golden * (high - low), low + golden * (high - low)
        if value(lower_order) < value(upper_order):
            high = upper_order
        else:
            low = lower_order
    return Fraction(max((low + high) / 2, 1 + 1e-6)).limit_denominator(10**9)


@lru_cache(maxsize=256)
def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho on a fine grid with epsilon_for(rho, delta) <= epsilon."""
    low, high = 0, 1
    step = GRID
    while epsilon_for(high * step, delta) <= epsilon:
        low, high = high, 2 * high
    # Bisection to a relative width of 2^-40; `low` always stays valid, so that rounding favours no spender.
    while high - low > max(1, high >> 40):
        middle = (low + high) // 2
        if epsilon_for(middle * step, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low * step


def rounded_up(value: Fraction) -> Fraction:
    """Return the smallest multiple of the grid that is at least `value`."""
    return ceil(value / GRID) * GRID
