"""What honest reports look like, whatever people hold, and what one report can add: public numbers of an oracle.

Every report has a *blank* law, which depends on the oracle's numbers alone. No basket makes any report more than
`ratio` times as likely as the blank law does, since the report is private. So what is improbable under the blank law is
improbable for everybody, whatever the data are. `local/study/screening.md` has the proofs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lgamma, log, log1p
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# The probability that a report names all of some values, at least so many of them: one number for 0, 1, 2 ... of them.
Tail: TypeAlias = Callable[[int], NDArray[np.float64]]

SEED_BITS = 63  # of a seed: an odd number of 32 bits and any number of 32 bits


@dataclass(frozen=True, kw_only=True)
class Influence:
    """What one report can add, whoever sent it.

    Parameters
    ----------
    people
        By how many people the estimate of one value grows with one report that names it, beside a report that says
        nothing. An honest holder's report adds one person on average.
    values
        To how many values of the sender's choice one report can add as much at once.
    """

    people: Fraction
    values: int

    def harm(self, targets: int) -> float:
        """Return how many people one report adds to each of so many values, when reports share them out evenly."""
        return float(self.people) * min(1.0, self.values / targets)


@dataclass(frozen=True, kw_only=True)
class Together:
    """Two given values in one report, for one way to hold them: the chances that it names both, the one, the other."""

    both: Fraction
    one: Fraction
    other: Fraction


@dataclass(frozen=True, kw_only=True, eq=False)
class HonestLaw:
    """How honest reports come about, whatever is held.

    Parameters
    ----------
    p_other
        The probability that a report names a value that is not held.
    together
        Two given values, for every way to hold neither, one or both of them.
    ratio
        How much likelier any report is for some basket than under the blank law, at most.
    tail
        For a number of given values: the probability under the blank law that a report names at least 0, 1, 2 … of
        them. None where it is not known.
    """

    p_other: Fraction
    together: tuple[Together, ...]
    ratio: Fraction
    tail: Tail | None

    @property
    def excess(self) -> Fraction:
        """How much more often, at most, two values are named together than how often each is named explains.

        That is the mean of (1 - q) (1 - q) over reports that name both, -q (1 - q) for one and q q for none, where q is
        the chance of a value that is not held: it is next to nothing, or less, whatever is held.
        """
        q = self.p_other
        return max(way.both - q * (way.one + way.other) + q * q for way in self.together)

    @property
    def square(self) -> Fraction:
        """The largest mean square of the same."""
        q = self.p_other
        return max(
            way.both * (1 - q) ** 4
            + (way.one + way.other - 2 * way.both) * (1 - q) ** 2 * q**2
            + (1 - way.one - way.other + way.both) * q**4
            for way in self.together
        )


def apart(own: Fraction, other: Fraction) -> tuple[Together, ...]:
    """Return the ways of an oracle for one value whose other values are named independently of each other."""
    return (Together(both=other * other, one=other, other=other), Together(both=own * other, one=own, other=other))


def independent(chance: Fraction) -> Tail:
    """Return the tails where each value is named by itself with this chance."""

    def tail(many: int) -> NDArray[np.float64]:
        at = np.arange(many + 1)
        likely, unlikely = log(chance), log1p(-float(chance))
        logs = [_choose(many, named) + named * likely + (many - named) * unlikely for named in at.tolist()]
        return _from(logs)

    return tail


def without_putting_back(symbols: int, drawn: int) -> Tail:
    """Return the tails where so many of all symbols are drawn, each set as likely."""

    def tail(many: int) -> NDArray[np.float64]:
        whole = _choose(symbols, drawn)
        logs = [_choose(many, named) + _choose(symbols - many, drawn - named) - whole for named in range(many + 1)]
        return _from(logs)

    return tail


def found_together(chance: Fraction, bits: int = SEED_BITS) -> int:
    """Return how many values of one's choice some seed of so many bits puts together.

    Each further value lies where the first does with this chance, so that one of 2^bits seeds does it for all of them.
    """
    return 1 + int(bits * log(2) / -log(chance))


def _choose(many: int, chosen: int) -> float:
    """Return the logarithm of a binomial coefficient; that of 0 is -infinity."""
    if not 0 <= chosen <= many:
        return -np.inf
    return lgamma(many + 1) - lgamma(chosen + 1) - lgamma(many - chosen + 1)


def _from(logs: list[float]) -> NDArray[np.float64]:
    """Return the sums from each place on."""
    tails: NDArray[np.float64] = np.cumsum(np.exp(np.array(logs))[::-1])[::-1]
    return np.minimum(tails, 1.0)
