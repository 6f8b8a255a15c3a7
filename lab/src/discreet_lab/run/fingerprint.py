"""What a result depends on, as one number: the code that made it, so that a changed mechanism reruns its cells alone.

The fingerprint of a module is a hash over its syntax tree and those of all modules of `discreet` and of the lab that
it imports, at the top or inside functions. Comments, docstrings and layout do not count. What is found by name at run
time, as the registry does, is not followed: the caller names that module.
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


def fingerprint(*modules: str, apart: Iterable[str] = ()) -> str:
    """Return the fingerprint of these modules together.

    Modules and packages that stand `apart` are left out, and so is what only they import.
    """
    seen: dict[str, str] = {}
    left = tuple(f"{one}." for one in apart)
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen or f"{name}.".startswith(left):
            continue
        seen[name], imported = _looked_at(name)
        waiting += [other for other in imported if other not in seen]
    lines = "\n".join(f"{name} {seen[name]}" for name in sorted(seen))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


@cache
def _looked_at(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the hash of one module and the modules of both packages that it imports."""
    spec = find_spec(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return "", ()
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    inside = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
    imported: set[str] = set()
    for node in _run(tree):
        if isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), inside) if node.level else node.module or ""
            imported |= {_home_of(base, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {one.name for one in node.names}
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                first.value.value = ""
    ours = tuple(sorted(one for one in imported if one.partition(".")[0] in _PACKAGES and _is_module(one)))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), ours


@cache
def _home_of(package: str, name: str) -> str:
    """Return the module that an imported name comes from.

    Of a package it is a module of the package, or the home that the stub of the package names: who imports one name of
    a room does not depend on the other names of the room.
    """
    if _is_module(f"{package}.{name}"):
        return f"{package}.{name}"
    spec = find_spec(package)
    stub = Path(spec.origin or "").with_suffix(".pyi") if spec is not None else Path()
    homes = read_stub(stub) if stub.is_file() else {}
    if name not in homes:
        return package
    home, original = homes[name]
    inside = package if spec is not None and spec.submodule_search_locations is not None else package.rpartition(".")[0]
    return _home_of(resolve_name(home, inside), original)


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a syntax tree that are run: what is imported for types alone is not."""
    yield node
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    for child in ast.iter_child_nodes(node):
        yield from _run(child)


@cache
def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
