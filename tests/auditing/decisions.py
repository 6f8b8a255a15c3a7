"""A module of the product with one of its decisions taken by the exact number of people, for the audit to find."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from discreet.privacy import unsealed

_engines_seen: list[Any] = []


def odd_people() -> bool:
    """Return whether the data that are asked are of an odd number of people: what no decision may depend on."""
    return bool(_engines_seen) and len(_engines_seen[0].baskets) % 2 == 1


def decisions(module: ModuleType, left_out: tuple[str, ...] = ()) -> Iterator[tuple[str, ast.Module]]:
    """Yield the module's code once for each condition in it, with that one turned round where people are odd."""
    source = inspect.getsource(module)
    for place in range(len(_conditions(ast.parse(source)))):
        tree = ast.parse(source)
        function, node = _conditions(tree)[place]
        if function in left_out:
            continue
        name = f"{function}:{ast.unparse(node.test)}"
        parity_call = ast.Call(func=ast.Name(id="odd_people", ctx=ast.Load()), args=[], keywords=[])
        boolean = ast.Call(func=ast.Name(id="bool", ctx=ast.Load()), args=[node.test], keywords=[])
        node.test = ast.BinOp(left=boolean, op=ast.BitXor(), right=parity_call)
        yield name, ast.fix_missing_locations(tree)


def _conditions(tree: ast.Module) -> list[tuple[str, Any]]:
    """Return each `if`, in a statement or an expression, with the name of its function."""
    return [
        (function.name, node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.If | ast.IfExp)
    ]


def planted_in(module: ModuleType, tree: ast.Module, kind: str) -> Any:
    """Return the mechanism of this name as the changed code makes it; it looks at the data that it is given to ask."""
    names = {**vars(module), "odd_people": odd_people}
    exec(compile(tree, inspect.getfile(module), "exec"), names)
    mechanism = names[kind]
    mechanism.proof = mechanism.name + ".md"
    run = mechanism.run

    def run_watched(self: Any, engine: Any, problem: Any, meter: Any) -> Any:
        _engines_seen[:] = [unsealed(engine)]
        return run(self, engine, problem, meter)

    mechanism.run = run_watched
    return mechanism()
