"""The experiments of the papers: one module a paper, whose `EXPERIMENTS` are found here."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from ...errors import MisuseError
from ..experiment import Experiment


@cache
def experiments() -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the papers."""
    found: dict[str, Experiment] = {}
    for module in sorted(iter_modules(__path__), key=lambda one: one.name):
        for one in import_module(f"{__name__}.{module.name}").EXPERIMENTS:
            if one.name in found:
                raise MisuseError(f"Two experiments are called {one.name}.")
            found[one.name] = one
    return found


def experiment(name: str) -> Experiment:
    """Return an experiment by name; an error lists those that begin alike."""
    known = experiments()
    if name not in known:
        alike = [one for one in known if one.startswith(name[:3])] or list(known)
        raise MisuseError(f"There is no experiment {name!r}: try one of {', '.join(alike)}.")
    return known[name]


def of_paper(paper: str) -> list[Experiment]:
    """Return the experiments of a paper."""
    found = [one for one in experiments().values() if one.paper == paper]
    if not found:
        papers = ", ".join(dict.fromkeys(one.paper for one in experiments().values()))
        raise MisuseError(f"There are no experiments of a paper {paper!r}: it is one of {papers}.")
    return found
