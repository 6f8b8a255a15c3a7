"""Every oracle by name: those of this room, and those other packages bring along."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from ...errors import MisuseError
from .mean import MeanOracle
from .oracle import LARGEST, Oracle, grown

GROUP = "discreet.oracles"
ROOM = 1 << 15  # bits: a report of more than 4 KiB is not for everyone's device


@cache
def oracles() -> dict[str, type[Oracle]]:
    """Return every frequency oracle by name."""
    found = {kind.name: kind for kind in _classes() if issubclass(kind, Oracle)}
    for point in entry_points(group=GROUP):
        found[point.name] = point.load()
    return dict(sorted(found.items()))


@cache
def means() -> dict[str, type[MeanOracle]]:
    """Return every mean oracle by name."""
    return {kind.name: kind for kind in sorted(_classes(), key=lambda kind: kind.name) if issubclass(kind, MeanOracle)}


def _classes() -> list[type[Oracle] | type[MeanOracle]]:
    """Return the oracles that the modules of this room define."""
    found: list[type[Oracle] | type[MeanOracle]] = []
    here = __package__ or ""
    for module in iter_modules(import_module(here).__path__):
        home = import_module(f"{here}.{module.name}")
        for value in vars(home).values():
            ours = isinstance(value, type) and issubclass(value, Oracle | MeanOracle)
            if ours and value.__module__ == home.__name__ and hasattr(value, "name"):
                found.append(value)
    return found


def make(name: str, epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Oracle:
    """Return the oracle of that name, or the one that `adaptive` or `grr-or-olh` chooses."""
    if name == "adaptive":
        return adaptive(epsilon, size, pad=pad, single=single)
    if name == "grr-or-olh":
        return grr_or_olh(epsilon, size, pad=pad, single=single)
    known = oracles()
    if name not in known:
        raise MisuseError(f"There is no oracle {name!r}; there are adaptive, grr-or-olh, {', '.join(known)}.")
    return known[name].make(epsilon, size, pad=pad, single=single)


def largest_padding(name: str, epsilon: Fraction) -> int:
    """Return the largest padding that the oracle of that name takes; one that is chosen takes any."""
    kind = oracles().get(name)
    return kind.longest(epsilon) if kind is not None else LARGEST - 1


def adaptive(
    epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False, frequency: float = 0.0, room: float = ROOM
) -> Oracle:
    """Return the oracle with the least exact variance of those whose reports have room.

    Parameters
    ----------
    frequency
        For a candidate that so many hold; 0 for the rare ones, which are the hardest to tell from noise.
    room
        How many bits a report may have.
    """
    made = []
    for kind in oracles().values():
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
    return min(made, key=lambda one: (one.variance(frequency), one.bits, one.name))


def grr_or_olh(epsilon: Fraction, size: int, *, pad: int = 1, single: bool = False) -> Oracle:
    """Return what rule (8) of Wang, Li, Jha 2018 chooses (A2); for exactly one value each, the rule of their [36]."""
    growth = grown(epsilon)
    few = size < 3 * growth + 2 if single else size < pad * (4 * pad - 1) * growth + 1
    return oracles()["grr" if few else "olh"].make(epsilon, size, pad=pad, single=single)
