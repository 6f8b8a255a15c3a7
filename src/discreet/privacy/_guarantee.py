"""The promise of a release: the paid cap, against which the charges of the noise layer are checked.

The stated epsilon and delta are those of the budget. They are known before any computation, so that they reveal nothing
of its course. A sum of charges over the cap is an error, and prevents the release. The charges are listed in addition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from typing import Any, Literal, TypeAlias

from ..errors import InputError, MisuseError
from ..results import StatedGuarantee, cut, line, read_fields, rounded
from ._budget import Budget, Charge, Neighbours, compose, epsilon_for, rho_for
from .sampling import intervals

Model: TypeAlias = Literal["central", "local"]

# Deltas at which the curve of a zCDP promise is listed, from one in a thousand to one in a million million.
CURVE = tuple(Fraction(1, 10**power) for power in (3, 5, 7, 9, 12))

_UNNAMED = "steps that the file does not name"
# Decimals of interval arithmetic: 18 more than the grid of epsilon has, so that rounding decides no stated digit. More
# only takes longer.
_DIGITS = 30
_MAX_WRITTEN_EPSILON = Fraction(700)  # e^epsilon is written in digits up to here: e^700 is near the end of doubles


@dataclass(frozen=True, kw_only=True, repr=False)
class Guarantee:
    """The promise of one release.

    Parameters
    ----------
    model
        ``"central"``: a curator held the data. ``"local"``: each person's device randomised its report.
    neighbours
        The neighbour relation: pairs of data sets that differ in one person. The unit is the person.
    epsilon, delta
        For neighbours D and D', Pr[event | D] <= e^epsilon * Pr[event | D'] + delta.
    charges
        The purpose and cost of each step, as the noise layer recorded them. Their sum is at most the stated cost.
    public
        Facts taken for public knowledge, in plain words; the promise does not cover them.
    assumed
        Declared assumptions of the promise that cannot be checked here, in plain words.
    rho, discovery_delta
        The cap of rho, if losses were added up by zCDP: it holds for every delta at once, see :meth:`epsilon_at`.
        `discovery_delta` is the part of delta that finding unlisted items has taken.
    """

    model: Model
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    charges: tuple[Charge, ...]
    public: tuple[str, ...] = ()
    unit: Literal["person"] = "person"
    assumed: tuple[str, ...] = ()
    rho: Fraction | None = None
    discovery_delta: Fraction = Fraction(0)

    @classmethod
    def of(
        cls,
        budget: Budget,
        charges: Iterable[Charge],
        *,
        discovery_delta: Fraction = Fraction(0),
        model: Model = "central",
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
        public: Iterable[str] = (),
        assumed: Iterable[str] = (),
    ) -> Guarantee:
        """Return the promise of a budget, after checking that the sum of the charges is within the budget.

        `discovery_delta` is the part of the budget's delta for finding unlisted items; the remainder converts rho into
        epsilon. If the remainder is 0, epsilons are added up.
        """
        all_charges = tuple(charges)
        conversion = budget.delta - discovery_delta
        epsilon, delta = compose(all_charges, conversion)
        rho = None if conversion == 0 else rho_for(budget.epsilon, conversion)
        # zCDP compares rhos: an epsilon is a function of rho, with a rounding of its own.
        exceeds_budget = (
            epsilon > budget.epsilon if rho is None else sum((charge.rho for charge in all_charges), Fraction(0)) > rho
        )
        if exceeds_budget or delta > budget.delta:
            raise AssertionError("a release has cost more than its budget")
        return cls(
            model=model,
            neighbours=neighbours,
            epsilon=budget.epsilon,
            delta=budget.delta,
            charges=all_charges,
            public=tuple(public),
            assumed=tuple(assumed),
            rho=rho,
            discovery_delta=discovery_delta,
        )

    def __str__(self) -> str:
        return line(self.stated())

    def __repr__(self) -> str:
        return f"<Guarantee: {self}>"

    def _repr_html_(self) -> str:
        return f"<div><p><strong>{escape(str(self))}</strong></p><p>{escape(self.in_words(curve=False))}</p></div>"

    def epsilon_at(self, delta: Fraction) -> Fraction:
        """Return the promised epsilon at a given delta, rounded up.

        A zCDP promise holds at every delta at once, with a different epsilon at each delta. Any other promise has a
        constant epsilon, at every delta from its stated delta on.

        Examples
        --------
        >>> promise = Guarantee.of(Budget.of(1, "1e-6"), [])
        >>> float(promise.epsilon_at(Fraction(1, 1000))) < 1 < float(promise.epsilon_at(Fraction(1, 10**9)))
        True
        """
        if self.rho is not None and self.discovery_delta < delta < 1:
            return epsilon_for(self.rho, delta - self.discovery_delta)
        if self.rho is None and self.delta <= delta < 1:
            return self.epsilon
        bound = "over" if self.rho is not None else "at least"
        min_delta = self.discovery_delta if self.rho is not None else self.delta
        raise MisuseError(f"The promise holds for a delta {bound} {rounded(min_delta)} and below 1; {delta} was given.")

    def curve(self) -> list[tuple[Fraction, Fraction]]:
        """Return pairs (delta, epsilon) of a zCDP promise, the largest delta first; an empty list for other promises.

        The deltas are those of `CURVE` and the stated delta; each row is a promise by itself.
        """
        if self.rho is None:
            return []
        # The delta of finding unlisted items is added to the delta of the conversion.
        deltas = {self.delta, *(self.discovery_delta + delta for delta in CURVE if self.discovery_delta + delta < 1)}
        return [(delta, self.epsilon_at(delta)) for delta in sorted(deltas, reverse=True)]

    def in_words(self, *, simulated: bool = False, curve: bool = True) -> str:
        """Return the promise in words, for a reader who has never heard of epsilon.

        Parameters
        ----------
        simulated
            Whether to describe the promise of the simulated study, as the simulation itself protects no person.
        curve
            Whether to list the epsilons at further deltas, if losses were added up by zCDP.
        """
        factor = f"e^{rounded(self.epsilon)}"
        if self.epsilon <= _MAX_WRITTEN_EPSILON:
            # The upper interval end, so that the written factor is never below e^epsilon.
            factor = cut(Fraction(intervals.exp(intervals.ratio(self.epsilon, _DIGITS), _DIGITS)[1]))
        alternative = "not been there" if self.neighbours is Neighbours.ADD_REMOVE else "been anything else"
        if self.delta:
            sentence = (
                f"take any conclusion about one person that anyone may draw from {{}}. The probability that they draw "
                f"it is at most {factor} times the probability had that person's data {alternative}, plus "
                f"{rounded(self.delta, digits=3)}; and the same the other way round."
            )
        else:
            sentence = (
                f"whatever anyone concludes from {{}} about one person, they would have concluded with a probability "
                f"at most {factor} times larger or smaller had that person's data {alternative}."
            )
        if simulated:
            sentence = f"This result protects nobody. A study that went like it promises: {sentence.format('it')}"
        else:
            sentence = sentence.format("this result")
            sentence = sentence[0].upper() + sentence[1:]
        if self.rho is not None:
            sentence += f" Losses were added up by zero-concentrated differential privacy, rho = {rounded(self.rho)}"
            other_rows = [pair for pair in self.curve() if pair[0] != self.delta] if curve else []
            points = ", ".join(f"{rounded(loss, digits=3)} at {rounded(delta, digits=3)}" for delta, loss in other_rows)
            sentence += f"; at other deltas epsilon is {points}." if points else "."
        if self.assumed:
            sentence += " It rests on what was declared: " + "; ".join(self.assumed) + "."
        if self.public:
            sentence += " Taken for public knowledge, and not protected: " + "; ".join(self.public) + "."
        return sentence

    def stated(self) -> StatedGuarantee:
        """Return the guarantee in the form that results state."""
        return StatedGuarantee.from_dict(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain values, with numbers as exact text."""
        return {
            "model": self.model,
            "unit": self.unit,
            "neighbours": self.neighbours.value,
            # Text and not numbers: a float would round the promise.
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "rho": None if self.rho is None else str(self.rho),
            "discovery_delta": str(self.discovery_delta),
            "public": list(self.public),
            "assumed": list(self.assumed),
            "charges": [
                {name: value if isinstance(value, str | None) else str(value) for name, value in vars(charge).items()}
                for charge in self.charges
            ],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Guarantee:
        """Return the guarantee that :meth:`to_dict` wrote; raise `InputError` for values that are no guarantee.

        A file without charges gets one charge for the whole loss.
        """
        try:
            charge_values = values.get("charges", ())
            charges = tuple(
                read_fields(Charge, {"epsilon": None, "delta": 0, **charge_fields}) for charge_fields in charge_values
            )
            neighbours = Neighbours.parse_stored(values["neighbours"])
            guarantee = read_fields(cls, {"delta": 0, **values}, charges=charges, neighbours=neighbours)
            if (
                guarantee.epsilon < 0
                or not 0 <= guarantee.delta < 1
                or (guarantee.rho is not None and guarantee.rho < 0)
            ):
                raise ValueError(guarantee.epsilon)
            if "charges" in values:
                return guarantee
            charge = (
                Charge.pure(_UNNAMED, guarantee.epsilon)
                if guarantee.rho is None
                else Charge.gaussian(_UNNAMED, guarantee.rho)
            )
            return replace(guarantee, charges=(charge,))
        except (ArithmeticError, AttributeError, LookupError, MisuseError, TypeError, ValueError):
            raise InputError("The guarantee of this result cannot be read: it was changed or damaged.") from None
