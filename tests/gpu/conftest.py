"""Cards to test with: the text of the kernels on a processor, their twins, and a real card where there is one."""

from __future__ import annotations

import pytest

from discreet.errors import CardError
from discreet.gpu._driver import CupyDriver, source
from gpu.shim import COMPILER, ShimDriver, TwinDriver, compiled


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """Return the kernels compiled for a processor: less than a second."""
    if COMPILER is None:
        pytest.skip("There is no C++ compiler.")
    return compiled(tmp_path_factory.mktemp("kernels"), source())


@pytest.fixture(
    scope="session", params=["twins", "text", "text, last thread first", pytest.param("card", marks=pytest.mark.gpu)]
)
def driver(request):
    """Return every card in turn."""
    if request.param == "twins":
        return TwinDriver()
    if request.param == "card":
        try:
            return CupyDriver()
        except CardError as error:
            pytest.skip(str(error))
    return ShimDriver(request.getfixturevalue("library"), backwards="last" in request.param)
