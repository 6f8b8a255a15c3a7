"""The API page has every public name, and everything a public function gives back, with words about each part."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import discreet

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
DIRECTIVE = re.compile(r"^\.\. auto(function|class|module):: ([\w.]+)\n((?:   :[\w-]+:.*\n)*)", re.MULTILINE)


def resolved(name: str) -> Any:
    """Return what a name of the page stands for: a public one, or one with its whole path."""
    if not name.startswith("discreet."):
        return getattr(discreet, name)
    home, _, attribute = name.rpartition(".")
    return importlib.import_module(name) if home == "discreet" else getattr(importlib.import_module(home), attribute)


ON_PAGE = {name: resolved(name) for _, name, _ in DIRECTIVE.findall(PAGE)}
CLASSES = {value for value in ON_PAGE.values() if isinstance(value, type)}


def parts(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties a class of ours has, also those it inherits from ours."""
    for home in kind.__mro__:
        if home.__module__.startswith("discreet"):
            for name, value in vars(home).items():
                if not name.startswith("_"):
                    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
                    function = getattr(function, "func", function)  # a cached property
                    if inspect.isfunction(function):
                        yield name, function


def given_back() -> set[str]:
    """Return the names of our classes that public functions and the methods of what they return give back."""
    functions = [inspect.unwrap(value) for value in ON_PAGE.values() if callable(value) and not isinstance(value, type)]
    functions += [function for kind in CLASSES for _, function in parts(kind)]
    ours = set()
    for function in functions:
        home = importlib.import_module(function.__module__)
        for name in re.findall(r"(?<![\w.])[A-Z]\w+", str(inspect.signature(function).return_annotation)):
            value = getattr(home, name, None)
            if isinstance(value, type) and value.__module__.startswith("discreet."):
                ours.add(value.__name__)
    return ours


@pytest.mark.parametrize("name", [name for name in discreet.__all__ if name != "__version__"])
def test_every_public_name_is_on_the_page_and_explained(name):
    value = getattr(discreet, name)
    assert inspect.getdoc(value)
    if isinstance(value, type) and issubclass(value, Exception):
        assert "discreet.errors" in ON_PAGE
        assert value.__module__ == "discreet.errors"
    else:
        assert name in ON_PAGE, f"{name} is not on the API page"


def test_so_is_what_they_give_back():
    assert {"Release", "Ranking", "Listing", "Guarantee", "Verdict", "Spend"} <= given_back()
    assert given_back() <= {kind.__name__ for kind in CLASSES}


@pytest.mark.parametrize("kind", sorted(CLASSES, key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__)
def test_every_part_of_a_class_is_explained_and_shown(kind):
    (options,) = (options for _, name, options in DIRECTIVE.findall(PAGE) if ON_PAGE[name] is kind)
    assert ":members:" in options
    for name, function in parts(kind):
        assert function.__doc__, f"{kind.__name__}.{name} has no docstring"
    assert kind.__doc__


def test_the_classes_users_meet_are_there():
    met = {"Release", "Ranking", "Entry", "Neighbours", "Guarantee", "Ledger", "Baskets", "Patterns", "Rules", "Charge"}
    assert met <= {kind.__name__ for kind in CLASSES}
