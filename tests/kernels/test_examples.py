"""The examples in docstrings of kernels, as plain Python: compiled, they would take as long as all other examples."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from discreet import kernels
from discreet.kernels import enabled


@pytest.mark.skipif(enabled(), reason="what is compiled for an example is used nowhere else; plain ones are run")
@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(kernels.__path__)])
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"discreet.kernels.{name}")
    assert doctest.testmod(module).failed == 0
