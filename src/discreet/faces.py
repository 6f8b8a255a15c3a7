"""The public names of a room, imported on first use.

The stub (`.pyi`) beside a room's `__init__` imports each public name from its home. Type checkers read the stub, and so
does `attach`: no second list can differ from it. Heavy modules are loaded by the first use of one of their names.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(room: str, path: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a room.

    Parameters
    ----------
    room
        The dotted name of the room, or of a single module with a stub.
    path
        The path of its file, like `__init__.py`. The stub has the suffix `.pyi`.
    """
    homes = read_stub(Path(path).with_suffix(".pyi"))
    public_names = sorted(homes)
    # A single module with a stub imports relative to its package.
    package = room if Path(path).stem == "__init__" else room.rpartition(".")[0]

    def load_name(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, original = homes[name]
        value = getattr(import_module(module, package), original)
        # The next use finds the name in the module, without __getattr__.
        setattr(sys.modules[room], name, value)
        return value

    # A room may extend the list, which is its __all__, and so __dir__ reads it anew.
    return load_name, lambda: sorted(public_names), public_names


def read_stub(path: Path) -> dict[str, tuple[str, str]]:
    """Return the home and the original name of each name that a stub imports."""
    return {
        alias.asname or alias.name: ("." * statement.level + (statement.module or ""), alias.name)
        for statement in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(statement, ast.ImportFrom) and statement.level
        for alias in statement.names
    }
