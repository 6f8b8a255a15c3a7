"""Which oracle a question is asked with: the one that is named, or the best of those that the registry knows."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from ... import registry
from ...errors import MisuseError
from ..mean_oracle import MeanOracle
from ..oracle import LARGEST, Oracle, grown

ROOM = 1 << 15  # bits: a report of more than 4 KiB is not for everyone's device
LIARS = 0.00003
"""Which share of the people may lie when an oracle and a padding are chosen: what their reports can add is weighed as
an error. It is small, as what liars can add and what honest people can tell both grow with the padding."""
SIZE_LIARS = 0.05
"""Which share of the people may lie about how many they hold, and move no padding and no height of a tree over what
honest people hold."""
TARGETS = 10
"""How many values liars are taken to be after: a report that can name one of them only does a tenth of the harm."""


@cache
def oracles() -> dict[str, type[Oracle]]:
    """Return every frequency oracle that the registry has a proof for, by name."""
    return {name: kind for name, kind in _proven().items() if issubclass(kind, Oracle)}


@cache
def means() -> dict[str, type[MeanOracle]]:
    """Return every mean oracle that the registry has a proof for, by name."""
    return {name: kind for name, kind in _proven().items() if issubclass(kind, MeanOracle)}


def _proven() -> dict[str, type[Any]]:
    return {name: one.kind for name, one in registry.oracles().items() if not one.unproven}


def make(name: str, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Oracle:
    """Return the oracle of that name, or the one that `adaptive` or `grr-or-olh` chooses."""
    if name == "adaptive":
        return adaptive(epsilon, size, pad=pad, single=single)
    if name == "grr-or-olh":
        return grr_or_olh(epsilon, size, pad=pad, single=single)
    known = oracles()
    if name not in known:
        if name in registry.oracles() and name not in means():
            registry.entry(name, "oracle")  # says why it is not used
        raise MisuseError(f"There is no oracle {name!r}; there are adaptive, grr-or-olh, {', '.join(known)}.")
    return known[name].make(epsilon, size, pad=pad, single=single)


def largest_padding(name: str, epsilon: Fraction) -> int:
    """Return the largest padding that the oracle of that name takes; one that is chosen takes any."""
    kind = oracles().get(name)
    return kind.longest(epsilon) if kind is not None else LARGEST - 1


def adaptive(
    epsilon: Fraction,
    size: int,
    *,
    pad: int = 1,
    single: bool = False,
    frequency: float = 0.0,
    room: float = ROOM,
    people: int = 1,
    liars: float = 0.0,
) -> Oracle:
    """Return the oracle with the least exact variance of those that devices answer for and whose reports have room.

    Parameters
    ----------
    frequency
        For a candidate that so many hold; 0 for the rare ones, which are the hardest to tell from noise.
    room
        How many bits a report may have.
    people, liars
        How many people answer, and which share of them may lie: what that could add counts as an error too.
    """
    made = []
    for kind in oracles().values():
        if not kind.live or kind.by_name:
            continue  # kept for comparison, as no device answers for it, or for whoever asks for it
        if single and kind.sets:
            continue  # a set of one value: its one-value twin says the same
        try:
            one = kind.make(epsilon, size, pad=pad, single=single)
        except MisuseError:
            continue  # too many candidates or too long a padding for this one
        if one.bits <= room:
            made.append(one)
    if not made:
        raise MisuseError(f"No oracle answers for {size:,} candidates padded to {pad:,}: use a smaller padding.")
    return min(made, key=lambda one: (error(one, frequency, people, liars), one.bits, one.name))


def error(oracle: Oracle, frequency: float, people: int, liars: float = 0.0) -> float:
    """Return the mean square error of a candidate's estimate: noise, and what a share of liars could add to it."""
    return float(oracle.variance(frequency, people)) + (liars * oracle.influence.harm(TARGETS)) ** 2


def honest_share(oracle: Oracle) -> float:
    """Return up to which share of the people, from the least up, liars about sizes cannot move what is held.

    A report about sizes adds `people` to each of the `values` it names, and all of them may be large. It is half at
    least: with a small epsilon a few liars drown everything, and then there is nothing to be had by going lower.
    """
    influence = oracle.influence
    return max(0.5, 1 - SIZE_LIARS * float(influence.people) * influence.values)


def grr_or_olh(epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Oracle:
    """Return what rule (8) of Wang, Li, Jha 2018 chooses (A2); for exactly one value each, the rule of their [36]."""
    growth = grown(epsilon)
    few = size < 3 * growth + 2 if single else size < pad * (4 * pad - 1) * growth + 1
    return oracles()["grr" if few else "olh"].make(epsilon, size, pad=pad, single=single)
