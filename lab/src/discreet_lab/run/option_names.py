"""The names that the options of an experiment may have: checked once, before a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from discreet.errors import MisuseError

from ..measure.measures import MEASURES, comparators
from .experiment import Cell

# Parameters that `measures` sets itself, or that no experiment may change.
_RESERVED = frozenset({"seed", "settings", "mechanism", "really", "trying", "itemsets", "items", "by", "segments"})
_RESERVED_IN_SIMULATIONS = frozenset({"protocol", "score", "progress", "transcript", "device"})
# The options that `exact_values` reads.
_FROM_DATA = frozenset({"top", "lengths", "doubt", "epsilon", "neighbours", "size", "fraction", "upper"})
_SELECTION = "top, fraction or min_count"


def check_options(cell: Cell) -> None:
    """Check that the measure of a cell has a parameter for each option, and that no required option is missing.

    The registry checks settings of mechanisms and protocols; settings of methods of the lab are checked here.
    """
    method = comparators().get(cell.line.name)
    if method is not None:
        _check_names(cell, cell.line.settings, frozenset(inspect.signature(method).parameters), cell.line.name)
    measure = cell.experiment.measure
    known_names, required_names = _list_names(measure, cell.line.name)
    known_names, required_names = known_names - set(cell.line.settings), required_names - set(cell.line.settings)
    _check_names(cell, cell.asked, known_names, f"the measure {measure!r}")
    missing_names: list[str] = sorted(required_names - set(cell.asked))
    if measure == "release" and not {"top", "fraction", "min_count"} & set(cell.asked):
        missing_names.append(_SELECTION)
    if missing_names:
        raise MisuseError(
            f"{cell.experiment.name} does not ask for {missing_names[0]}, which the measure {measure!r} needs: add it "
            "to asked, or make it the axis."
        )


def _check_names(cell: Cell, names: Iterable[str], known_names: frozenset[str], subject: str) -> None:
    """Raise for the first unknown name, with the nearest known name."""
    for name in names:
        if name not in known_names:
            similar = get_close_matches(name, sorted(known_names), 1)
            raise MisuseError(
                f"{cell.experiment.name} asks for {name!r}, which {subject} does not know; it knows "
                f"{', '.join(sorted(known_names)) or 'none'}.{f' Did you mean {similar[0]}?' if similar else ''}"
            )


@lru_cache(maxsize=256)
def _list_names(measure: str, line: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a measure of a line accepts, and the names that it requires."""
    if measure == "release":
        from discreet.publish import Question

        # Methods of the lab alone may have another number in its place, such as the gamma of `det-gd`.
        required_names = frozenset() if line in comparators() else frozenset({"epsilon"})
        return _list_parameters(Question) - _RESERVED | {"told", "scored", "fraction"}, required_names
    if measure in ("simulation", "relations", "overhead"):
        from discreet.local.study import simulate

        reserved_names = _RESERVED | _RESERVED_IN_SIMULATIONS
        further_names = {"longest"} if measure == "simulation" else {"longest", "theta"}
        return _list_parameters(simulate) - reserved_names | further_names, frozenset({"top", "epsilon"})
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
        return _list_parameters(function), _list_parameters(function, only_required=True)
    raise MisuseError(f"There is no measure {measure!r}; there are {_join_names(MEASURES)}.")


def _list_parameters(function: Callable[..., Any], only_required: bool = False) -> frozenset[str]:
    """Return the names of the parameters of a function, all or only the required ones."""
    parameters = inspect.signature(function).parameters.values()
    return frozenset(
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.name != "baskets"
        and (parameter.default is parameter.empty or not only_required)
    )


def _join_names(names: Iterable[str]) -> str:
    """Return names in alphabetical order, separated by commas."""
    return ", ".join(sorted(names))
