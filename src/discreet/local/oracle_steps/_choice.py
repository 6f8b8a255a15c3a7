"""The choice of the oracle of a question: by its name, or the best oracle of the registry."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from ... import registry
from ...errors import MisuseError
from .. import LARGEST, MeanOracle, Oracle, exp_rounded_down

# Bits of a report that is chosen automatically, 4 KiB. Chosen for slow networks. No value makes a question
# fail: `olh` and `wheel` have short reports for any number of candidates.
ROOM = 1 << 15
# The share of liars among the people for the choice of an oracle and a padding: their largest influence counts as an
# error. It is small, as both the influence of liars and the information of honest people grow with the padding. Half
# and double: `python -m benchmarks.constants LIARS` (`docs/poisoning.md` has the cost of the defences).
LIARS = 0.00003
# The share of liars about the size of their baskets that may not move a padding, or the height of a tree, above the
# sizes of honest people. Half and double: `python -m benchmarks.constants SIZE_LIARS`.
SIZE_LIARS = 0.05
# The number of target values of liars: a report that can name only one value does a tenth of the harm to each. Chosen:
# it weighs oracles for sets against oracles for one value (`python -m benchmarks.constants TARGETS`).
TARGETS = 10


@cache
def oracles() -> dict[str, type[Oracle]]:
    """Return each frequency oracle with a proof in the registry, by name."""
    return {name: kind for name, kind in _proven().items() if issubclass(kind, Oracle)}


@cache
def means() -> dict[str, type[MeanOracle]]:
    """Return each mean oracle with a proof in the registry, by name."""
    return {name: kind for name, kind in _proven().items() if issubclass(kind, MeanOracle)}


def _proven() -> dict[str, type[Any]]:
    return {name: entry.kind for name, entry in registry.oracles().items() if not entry.unproven}


def make(name: str, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Oracle:
    """Return the oracle of a name, or the choice of `adaptive` or `grr-or-olh`."""
    if name == "adaptive":
        return adaptive(epsilon, size, pad=pad, single=single)
    if name == "grr-or-olh":
        return grr_or_olh(epsilon, size, pad=pad, single=single)
    oracle_classes = oracles()
    if name not in oracle_classes:
        if name in registry.oracles() and name not in means():
            registry.entry(name, "oracle")  # raises an error with the reason that it is not used
        raise MisuseError(f"There is no oracle {name!r}; there are adaptive, grr-or-olh, {', '.join(oracle_classes)}.")
    return oracle_classes[name].make(epsilon, size, pad=pad, single=single)


def largest_padding(name: str, epsilon: Fraction) -> int:
    """Return the largest padding of the oracle of a name; `adaptive` and `grr-or-olh` take any padding."""
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
    """Return the oracle with the least error among the oracles of devices with short enough reports.

    Parameters
    ----------
    frequency
        The frequency of the candidate of interest; 0 for rare candidates, the hardest to tell from noise.
    room
        The largest number of bits of a report.
    people, liars
        The number of people, and the share of liars among them: their largest influence counts as an error too.
    """
    candidates = []
    for kind in oracles().values():
        if not kind.live or kind.by_name:
            continue  # no device answers for it, or it is chosen by its name alone: it is there for comparison
        if single and kind.sets:
            continue  # of one value, an oracle for sets is its twin for single values
        try:
            oracle = kind.make(epsilon, size, pad=pad, single=single)
        except MisuseError:
            continue  # too many candidates or too long a padding for this oracle
        if oracle.bits <= room:
            candidates.append(oracle)
    if not candidates:
        raise MisuseError(f"No oracle answers for {size:,} candidates padded to {pad:,}: use a smaller padding.")
    # Of equal errors, the shorter report; the name makes the choice unique.
    return min(candidates, key=lambda oracle: (error(oracle, frequency, people, liars), oracle.bits, oracle.name))


def error(oracle: Oracle, frequency: float, people: int, liars: float = 0.0) -> float:
    """Return the mean square error of a candidate's estimate: its variance, and the squared influence of liars."""
    return float(oracle.variance(frequency, people)) + (liars * oracle.influence.harm(TARGETS)) ** 2


def honest_share(oracle: Oracle) -> float:
    """Return the share of the people, from the smallest basket up, with sizes that liars cannot move.

    A report about sizes adds `people` to each of the `values` it names, and all named sizes may be large. The share is
    at least one half: with a small epsilon a few liars drown all answers, and a lower share would not help.
    """
    influence = oracle.influence
    return max(0.5, 1 - SIZE_LIARS * float(influence.people) * influence.values)


def grr_or_olh(epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Oracle:
    """Return the choice by rule (8) of Wang, Li, Jha 2018 (A2); for one value each, by the rule of their [36]."""
    growth = exp_rounded_down(epsilon)
    is_small = size < 3 * growth + 2 if single else size < pad * (4 * pad - 1) * growth + 1
    return oracles()["grr" if is_small else "olh"].make(epsilon, size, pad=pad, single=single)
