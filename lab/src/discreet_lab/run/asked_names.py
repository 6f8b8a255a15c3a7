"""Which names may stand in what an experiment asks: checked once, before anything runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from discreet.errors import MisuseError

from ..measure.measures import MEASURES, comparators
from .experiment import Cell

# What `measures` asks of functions by itself, or what no experiment may change.
_OWN = frozenset({"seed", "settings", "mechanism", "really", "trying", "itemsets", "items", "by", "segments"})
_OWN_OF_SIMULATIONS = frozenset({"protocol", "score", "progress", "transcript", "device"})
# What `exact_values` looks at.
_FROM_DATA = frozenset({"top", "lengths", "doubt", "epsilon", "neighbours", "size", "fraction", "upper"})
_WANTED = "top, fraction or min_count"


def check_asked(cell: Cell) -> None:
    """Check that the measure of a cell knows every name that is asked, and that nothing is missing.

    Settings of mechanisms and protocols are checked by the registry; those of methods of the lab alone, here.
    """
    method = comparators().get(cell.line.name)
    if method is not None:
        _check_known(cell, cell.line.settings, frozenset(inspect.signature(method).parameters), cell.line.name)
    measure = cell.experiment.measure
    known, needed = _names(measure, cell.line.name)
    known, needed = known - set(cell.line.settings), needed - set(cell.line.settings)
    _check_known(cell, cell.asked, known, f"the measure {measure!r}")
    absent: list[str] = sorted(needed - set(cell.asked))
    if measure == "release" and not {"top", "fraction", "min_count"} & set(cell.asked):
        absent.append(_WANTED)
    if absent:
        raise MisuseError(
            f"{cell.experiment.name} does not ask for {absent[0]}, which the measure {measure!r} needs: add it to "
            "asked, or make it the axis."
        )


def _check_known(cell: Cell, given: Iterable[str], known: frozenset[str], knower: str) -> None:
    """Raise for the first given name that is not known, with the nearest one that is."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, sorted(known), 1)
            raise MisuseError(
                f"{cell.experiment.name} asks for {name!r}, which {knower} does not know; it knows "
                f"{', '.join(sorted(known)) or 'none'}.{f' Did you mean {near[0]}?' if near else ''}"
            )


@lru_cache(maxsize=256)
def _names(measure: str, line: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a measure of a line knows, and those that it needs."""
    if measure == "release":
        from discreet.publish import Question

        # Methods of the lab alone may have another number in its place, such as the gamma of `det-gd`.
        needed = frozenset() if line in comparators() else frozenset({"epsilon"})
        return _parameters(Question) - _OWN | {"told", "scored", "fraction"}, needed
    if measure in ("simulation", "relations", "overhead"):
        from discreet.local.study import simulate

        own = _OWN | _OWN_OF_SIMULATIONS
        more = {"longest"} if measure == "simulation" else {"longest", "theta"}
        return _parameters(simulate) - own | more, frozenset({"top", "epsilon"})
    if measure in ("regret", "regret-devices"):
        return frozenset({"question"}), frozenset({"question"})
    if measure == "from-data":
        return _FROM_DATA, frozenset()
    if measure == "formula":
        from ..measure import formulas

        function = getattr(formulas, line, None)
        if function is None:
            raise MisuseError(
                f"There is no formula {line!r}: a line of the measure 'formula' is a function of formulas."
            )
        return _parameters(function), _parameters(function, needed=True)
    raise MisuseError(f"There is no measure {measure!r}; there are {_listed(MEASURES)}.")


def _parameters(function: Callable[..., Any], needed: bool = False) -> frozenset[str]:
    """Return the names of a function's parameters that are given by name; only those that it needs, if so wanted."""
    every = inspect.signature(function).parameters.values()
    return frozenset(
        each.name
        for each in every
        if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)
        and each.name != "baskets"
        and (each.default is each.empty or not needed)
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
