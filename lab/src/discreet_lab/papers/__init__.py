"""The experiments of the papers: each module here is one paper, with its `TITLE` and its `EXPERIMENTS`.

Modules of other packages are loaded from the entry points of the group `discreet.experiments`.
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
    experiment_of_name: dict[str, Experiment] = {}
    for module in _modules():
        for experiment in module.EXPERIMENTS:
            if experiment.name in experiment_of_name:
                raise MisuseError(f"Two experiments are called {experiment.name}.")
            experiment_of_name[experiment.name] = experiment
    return experiment_of_name


@cache
def titles() -> dict[str, str]:
    """Return the title of each paper, by its number."""
    return {experiment.paper: module.TITLE for module in _modules() for experiment in module.EXPERIMENTS}


def experiment(name: str) -> Experiment:
    """Return an experiment by name; the error for an unknown name suggests similar names."""
    known_experiments = experiments()
    if name not in known_experiments:
        similar_names = get_close_matches(name, known_experiments, 3)
        hint = f"Did you mean {' or '.join(similar_names)}? " if similar_names else ""
        raise MisuseError(f"There is no experiment {name!r}. {hint}`discreet lab list` has all of them.")
    return known_experiments[name]


def of_paper(paper: str) -> list[Experiment]:
    """Return the experiments of a paper."""
    selected = [experiment for experiment in experiments().values() if experiment.paper == paper]
    if not selected:
        papers = ", ".join(dict.fromkeys(experiment.paper for experiment in experiments().values()))
        raise MisuseError(f"There are no experiments of a paper {paper!r}: it is one of {papers}.")
    return selected


def _modules() -> Iterator[Any]:
    """Yield the modules of papers, ours first; raise for a module that is no paper, with its name."""
    for module in sorted(iter_modules(__path__), key=lambda info: info.name):
        yield _complete(import_module(f"{__name__}.{module.name}"), module.name)
    for point in points(GROUP):
        called = f"The experiments {point.name} of the package {package_of(point)}"
        module = load(point, called)
        with blamed(called):
            complete = _complete(module, point.value)
        yield complete


def _complete(module: Any, name: str) -> Any:
    """Return a module, checked to have a title and experiments."""
    for attribute in ("TITLE", "EXPERIMENTS"):
        if not hasattr(module, attribute):
            raise Unfit(f"{name} has no {attribute}: experiments of a paper need both TITLE and EXPERIMENTS.")
    is_sequence = isinstance(module.EXPERIMENTS, tuple | list)
    if not (
        isinstance(module.TITLE, str)
        and is_sequence
        and all(isinstance(experiment, Experiment) for experiment in module.EXPERIMENTS)
    ):
        raise Unfit(f"{name} is not experiments of a paper: TITLE is a text, and EXPERIMENTS a tuple of Experiment.")
    return module
