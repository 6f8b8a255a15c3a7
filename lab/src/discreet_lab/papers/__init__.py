"""The experiments of the papers: one module a paper, with its `TITLE` and its `EXPERIMENTS`, which are found here.

A module of another package is found by an entry point of the group `discreet.experiments`.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from discreet.errors import MisuseError
from discreet.registry import Unfit, blamed, load, package_of, points

from ..run.experiment import Experiment

GROUP = "discreet.experiments"


@cache
def experiments() -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the papers."""
    found: dict[str, Experiment] = {}
    for module in _modules():
        for one in module.EXPERIMENTS:
            if one.name in found:
                raise MisuseError(f"Two experiments are called {one.name}.")
            found[one.name] = one
    return found


@cache
def titles() -> dict[str, str]:
    """Return what each paper is called, by its number."""
    return {one.paper: module.TITLE for module in _modules() for one in module.EXPERIMENTS}


def experiment(name: str) -> Experiment:
    """Return an experiment by name; an error says which are called nearly so."""
    known = experiments()
    if name not in known:
        near = get_close_matches(name, known, 3)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise MisuseError(f"There is no experiment {name!r}. {hint}`discreet lab list` has all of them.")
    return known[name]


def of_paper(paper: str) -> list[Experiment]:
    """Return the experiments of a paper."""
    found = [one for one in experiments().values() if one.paper == paper]
    if not found:
        papers = ", ".join(dict.fromkeys(one.paper for one in experiments().values()))
        raise MisuseError(f"There are no experiments of a paper {paper!r}: it is one of {papers}.")
    return found


def _modules() -> Iterator[Any]:
    """Yield the modules of papers, ours first; one that cannot be used is told with its name."""
    for module in sorted(iter_modules(__path__), key=lambda one: one.name):
        yield _complete(import_module(f"{__name__}.{module.name}"), module.name)
    for point in points(GROUP):
        called = f"The experiments {point.name} of the package {package_of(point)}"
        module = load(point, called)
        with blamed(called):
            complete = _complete(module, point.value)
        yield complete


def _complete(module: Any, name: str) -> Any:
    for needed in ("TITLE", "EXPERIMENTS"):
        if not hasattr(module, needed):
            raise Unfit(f"{name} has no {needed}: experiments of a paper need both TITLE and EXPERIMENTS.")
    several = isinstance(module.EXPERIMENTS, tuple | list)
    if not (
        isinstance(module.TITLE, str) and several and all(isinstance(one, Experiment) for one in module.EXPERIMENTS)
    ):
        raise Unfit(f"{name} is not experiments of a paper: TITLE is a text, and EXPERIMENTS a tuple of Experiment.")
    return module
