"""Sixty small bugs (`mutants.toml`), and the quick tests that catch each of them.

`make test` checks that each can still be planted. `make soak` plants them one by one and runs the tests that are named,
which have to fail. A bug is planted while its module is imported: no file is changed, and what is compiled and kept of
other modules is used. A kernel is compiled anew from the wrong text.
"""

from __future__ import annotations

import os
import sys
import tomllib
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

SOURCE = Path(__file__).parents[1] / "src" / "discreet"
VARIABLE = "DISCREET_MUTANT"


@dataclass(frozen=True)
class Mutant:
    """A bug: in which file, what stands there, what would stand there, and who catches it."""

    file: str
    right: str
    wrong: str
    tests: str

    @property
    def path(self) -> Path:
        """Where the module is."""
        return SOURCE / self.file


MUTANTS = [
    Mutant(**mutant_fields)
    for mutant_fields in tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["mutant"]
]


class _Planting(SourceFileLoader):
    """Compiles one module from the wrong text."""

    mutant: Mutant
    right = SourceFileLoader.get_code

    def get_code(self, fullname: str) -> CodeType | None:
        mutant = _Planting.mutant
        if Path(self.path) != mutant.path:
            return _Planting.right(self, fullname)
        text = mutant.path.read_text()
        return compile(text.replace(mutant.right, mutant.wrong), self.path, "exec", dont_inherit=True)


if VARIABLE in os.environ:  # named with -p to a pytest that is to fail
    _Planting.mutant = MUTANTS[int(os.environ[VARIABLE])]
    if any(name.startswith("discreet") for name in sys.modules):
        raise RuntimeError("discreet was imported before anything could be planted in it")
    SourceFileLoader.get_code = _Planting.get_code  # type: ignore[method-assign]
