"""What was promised, computed from what was done: a guarantee is made of charges, never typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any, Literal, TypeAlias

from ..errors import InputError
from .budget import Charge, Neighbours, compose, shown

Model: TypeAlias = Literal["central", "local"]


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
        How hardly. Computed from the charges by :meth:`from_charges`.
    charges
        What the loss was spent on, as the noise layer wrote it down.
    public
        What was taken for public knowledge, in plain words; the promise does not cover it.
    """

    model: Model
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    charges: tuple[Charge, ...]
    public: tuple[str, ...] = ()
    unit: Literal["person"] = "person"

    @classmethod
    def from_charges(
        cls,
        charges: Iterable[Charge],
        *,
        model: Model = "central",
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
        delta: Fraction = Fraction(0),
        public: Iterable[str] = (),
    ) -> Guarantee:
        """Return the guarantee of all charges together, accounted in pure epsilon or, with a delta, by zCDP."""
        kept = tuple(charges)
        total, failing = compose(kept, delta)
        return cls(model=model, neighbours=neighbours, epsilon=total, delta=failing, charges=kept, public=tuple(public))

    def __str__(self) -> str:
        loss = f"epsilon = {_short(self.epsilon)}"
        if self.delta:
            loss += f", delta = {float(self.delta):.3g}"
        return f"{self.model} differential privacy, {self.neighbours.value}, {loss}"

    def in_words(self, *, simulated: bool = False) -> str:
        """Say what is promised to a reader who has never heard of epsilon; or would be, by what was simulated."""
        factor = exp(min(float(self.epsilon), 700.0))  # beyond, it says nothing in any case
        begun = "Whatever anyone concludes from this result"
        if simulated:
            begun = "This result protects nobody. A study that went like it promises: whatever anyone concludes from it"
        told = (
            f"{begun} about one person, they would have concluded with a "
            f"probability at most {factor:.3g} times larger or smaller had that person's data "
            f"{'not been there' if self.neighbours is Neighbours.ADD_REMOVE else 'been anything else'}"
        )
        if self.delta:
            told += f", except with a probability of {float(self.delta):.3g}"
        told += "."
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
            "public": list(self.public),
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
    def from_dict(cls, told: Mapping[str, Any]) -> Guarantee:
        """Return the guarantee that :meth:`to_dict` wrote."""
        try:
            charges = tuple(
                Charge(
                    what=str(charge["what"]),
                    epsilon=None if charge["epsilon"] is None else Fraction(charge["epsilon"]),
                    rho=Fraction(charge["rho"]),
                    delta=Fraction(charge["delta"]),
                )
                for charge in told["charges"]
            )
            return cls(
                model=told["model"],
                neighbours=Neighbours(told["neighbours"]),
                epsilon=Fraction(told["epsilon"]),
                delta=Fraction(told["delta"]),
                charges=charges,
                public=tuple(told["public"]),
            )
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise InputError(f"This is not a guarantee that was written by discreet: {error}.") from None


def _short(value: Fraction) -> str:
    text = shown(value)
    return text if len(text) <= 12 else f"{float(value):.6g}"
