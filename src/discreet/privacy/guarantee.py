"""What was promised: the cap that was paid for, which the charges of the noise layer are held to.

The epsilon and delta stated are those of the budget. They are known before anything is computed, so they cannot tell
how it went; a sum of charges that is over them is an error, and no release. What was spent on what stands beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from ..errors import InputError, MisuseError
from ..results.promise import cut, line, rounded
from ..results.untrusted import exact_number
from .budget import Budget, Charge, Neighbours, compose, epsilon_for, rho_for
from .sampling import intervals

Model: TypeAlias = Literal["central", "local"]

# Deltas at which the curve of a zCDP promise is told.
CURVE = tuple(Fraction(1, 10**power) for power in (3, 5, 7, 9, 12))

_UNNAMED = "steps that the file does not name"
_DIGITS = 30
_BEYOND = Fraction(700)  # the power of e to a larger epsilon is not worth writing out


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The promise of one release.

    Parameters
    ----------
    model
        ``"central"``: a curator held the data. ``"local"``: each person's device randomised its report.
    neighbours
        Which two data sets can hardly be told apart. The unit is the person.
    epsilon, delta
        How hardly: every event has a probability of at most e^epsilon times that under the other data set, plus delta.
    charges
        What the loss was spent on, as the noise layer wrote it down. Together they cost no more than what is stated.
    public
        What was taken for public knowledge, in plain words; the promise does not cover it.
    assumed
        What the promise rests on and nobody can check from here, in plain words.
    rho, discovery_delta
        Where losses were added up by zCDP, the cap of rho: it holds for every delta at once, see :meth:`epsilon_at`.
        `discovery_delta` is the part of delta that finding what nobody listed has taken.
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
        """Return the promise of a budget, once all charges together are found to be within it.

        `discovery_delta` is the part of the budget's delta that finding may take; the rest turns rho into epsilon.
        Where no rest is left, losses are added up as they are.
        """
        kept = tuple(charges)
        conversion = budget.delta - discovery_delta
        epsilon, delta = compose(kept, conversion)
        rho = None if conversion == 0 else rho_for(budget.epsilon, conversion)
        # By zCDP it is rho that is compared: epsilon is a function of it, computed with a rounding of its own.
        over = epsilon > budget.epsilon if rho is None else sum((charge.rho for charge in kept), Fraction(0)) > rho
        if over or delta > budget.delta:
            raise AssertionError("a release has cost more than its budget")
        return cls(
            model=model,
            neighbours=neighbours,
            epsilon=budget.epsilon,
            delta=budget.delta,
            charges=kept,
            public=tuple(public),
            assumed=tuple(assumed),
            rho=rho,
            discovery_delta=discovery_delta,
        )

    def __str__(self) -> str:
        return line(self.to_dict())

    def epsilon_at(self, delta: Fraction) -> Fraction:
        """Return the epsilon that is promised at another delta, rounded up.

        A promise by zCDP holds at every delta at once, each with an epsilon of its own; any other has the same epsilon
        at every delta from its own on.

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
        least = "over" if self.rho is not None else "at least"
        start = self.discovery_delta if self.rho is not None else self.delta
        raise MisuseError(f"The promise holds for a delta {least} {rounded(start)} and below 1; {delta} was given.")

    def curve(self) -> list[tuple[Fraction, Fraction]]:
        """Return the epsilon at some deltas, where the promise is by zCDP: (delta, epsilon), the largest delta first.

        The deltas are a thousandth and below, and that of the promise; each row is a promise of its own.
        """
        if self.rho is None:
            return []
        # What finding may take of delta comes on top of what rho is turned into epsilon with.
        deltas = {self.delta, *(self.discovery_delta + delta for delta in CURVE if self.discovery_delta + delta < 1)}
        return [(delta, self.epsilon_at(delta)) for delta in sorted(deltas, reverse=True)]

    def in_words(self, *, simulated: bool = False, curve: bool = True) -> str:
        """Say what is promised to a reader who has never heard of epsilon.

        Parameters
        ----------
        simulated
            Say what would be promised, by what was simulated.
        curve
            Whether to tell the epsilons at other deltas, where losses were added up by zCDP.
        """
        factor = f"e^{rounded(self.epsilon)}"
        if self.epsilon <= _BEYOND:
            factor = cut(Fraction(intervals.exp(intervals.ratio(self.epsilon, _DIGITS), _DIGITS)[1]))
        other = "not been there" if self.neighbours is Neighbours.ADD_REMOVE else "been anything else"
        if self.delta:
            told = (
                f"take any conclusion about one person that anyone may draw from {{}}. The probability that they draw "
                f"it is at most {factor} times the probability had that person's data {other}, plus "
                f"{rounded(self.delta, digits=3)}; and the same the other way round."
            )
        else:
            told = (
                f"whatever anyone concludes from {{}} about one person, they would have concluded with a probability "
                f"at most {factor} times larger or smaller had that person's data {other}."
            )
        if simulated:
            told = f"This result protects nobody. A study that went like it promises: {told.format('it')}"
        else:
            told = told.format("this result")
            told = told[0].upper() + told[1:]
        if self.rho is not None:
            told += f" Losses were added up by zero-concentrated differential privacy, rho = {rounded(self.rho)}"
            others = [pair for pair in self.curve() if pair[0] != self.delta] if curve else []
            listed = ", ".join(f"{rounded(loss, digits=3)} at {rounded(delta, digits=3)}" for delta, loss in others)
            told += f"; at other deltas epsilon is {listed}." if listed else "."
        if self.assumed:
            told += " It rests on what was declared: " + "; ".join(self.assumed) + "."
        if self.public:
            told += " Taken for public knowledge, and not protected: " + "; ".join(self.public) + "."
        return told

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain values, numbers as exact text."""
        return {
            "model": self.model,
            "unit": self.unit,
            "neighbours": self.neighbours.value,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "rho": None if self.rho is None else str(self.rho),
            "discovery_delta": str(self.discovery_delta),
            "public": list(self.public),
            "assumed": list(self.assumed),
            "charges": [
                {
                    "what": charge.what,
                    "epsilon": None if charge.epsilon is None else str(charge.epsilon),
                    "rho": str(charge.rho),
                    "delta": str(charge.delta),
                }
                for charge in self.charges
            ],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Guarantee:
        """Return the guarantee that :meth:`to_dict` wrote, as files keep it; whatever it cannot be is an `InputError`.

        A file that does not say what the loss was spent on has one charge for all of it.
        """
        try:
            epsilon, delta = exact_number(values["epsilon"]), exact_number(values.get("delta", 0))
            rho = None if values.get("rho") is None else exact_number(values["rho"])
            charges = tuple(
                Charge(
                    what=str(one["what"]),
                    epsilon=None if one.get("epsilon") is None else exact_number(one["epsilon"]),
                    rho=exact_number(one["rho"]),
                    delta=exact_number(one.get("delta", 0)),
                )
                for one in values.get("charges", ())
            )
            if "charges" not in values:
                charges = (Charge.pure(_UNNAMED, epsilon) if rho is None else Charge.gaussian(_UNNAMED, rho),)
            model = values["model"]
            if model not in get_args(Model) or epsilon < 0 or not 0 <= delta < 1 or (rho is not None and rho < 0):
                raise ValueError(model)
            return cls(
                model=model,
                neighbours=Neighbours.kept(values["neighbours"]),
                epsilon=epsilon,
                delta=delta,
                charges=charges,
                public=tuple(map(str, values.get("public", ()))),
                assumed=tuple(map(str, values.get("assumed", ()))),
                rho=rho,
                discovery_delta=exact_number(values.get("discovery_delta", 0)),
            )
        except (ArithmeticError, AttributeError, LookupError, MisuseError, TypeError, ValueError):
            raise InputError("The guarantee of this result cannot be read: it was changed or damaged.") from None
