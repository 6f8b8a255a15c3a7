"""The fingerprint of the code behind a result, so that a changed mechanism reruns its own cells only.

The fingerprint of a module is a hash over its syntax tree and the trees of all modules of `discreet` and of the lab
that it imports, at the top or inside functions. Comments, docstrings and layout do not count. Modules that are found by
name at run time, as by the registry, are not followed: the caller names them.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path

from discreet.faces import read_stub

_PACKAGES = frozenset({"discreet", __name__.partition(".")[0]})


def fingerprint(*modules: str, excluded: Iterable[str] = ()) -> str:
    """Return the fingerprint of some modules together.

    Excluded modules and packages are left out, with all modules that only they import.
    """
    hash_of_module: dict[str, str] = {}
    excluded_prefixes = tuple(f"{module}." for module in excluded)
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in hash_of_module or f"{name}.".startswith(excluded_prefixes):
            continue
        hash_of_module[name], imported = _hash_module(name)
        waiting += [module for module in imported if module not in hash_of_module]
    lines = "\n".join(f"{name} {hash_of_module[name]}" for name in sorted(hash_of_module))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


@cache
def _hash_module(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the hash of one module, and the modules of both packages that it imports."""
    spec = find_spec(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return "", ()
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
    imported: set[str] = set()
    for node in _walk_runtime(tree):
        if isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            imported |= {_find_home(base, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            docstring = body[0]
            if (
                isinstance(docstring, ast.Expr)
                and isinstance(docstring.value, ast.Constant)
                and isinstance(docstring.value.value, str)
            ):
                docstring.value.value = ""
    own_modules = tuple(
        sorted(module for module in imported if module.partition(".")[0] in _PACKAGES and _is_module(module))
    )
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), own_modules


@cache
def _find_home(package: str, name: str) -> str:
    """Return the module that defines an imported name.

    For a package, that is a module of the package, or the module that the stub of the package names: a module that
    imports one name of a room does not depend on the further names of the room.
    """
    if _is_module(f"{package}.{name}"):
        return f"{package}.{name}"
    spec = find_spec(package)
    stub = Path(spec.origin or "").with_suffix(".pyi") if spec is not None else Path()
    homes = read_stub(stub) if stub.is_file() else {}
    if name not in homes:
        return package
    home, original = homes[name]
    base_package = (
        package if spec is not None and spec.submodule_search_locations is not None else package.rpartition(".")[0]
    )
    return _find_home(resolve_name(home, base_package), original)


def _walk_runtime(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree that run: imports for types alone are left out."""
    yield node
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    for child in ast.iter_child_nodes(node):
        yield from _walk_runtime(child)


@cache
def _is_module(name: str) -> bool:
    """Return whether a name is an importable module."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
