"""The rules of the house: imports point one way, and starting up is light."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import discreet
import discreet_lab

SOURCE = Path(discreet.__file__).parent
LAB = Path(discreet_lab.__file__).parent
ROOT = Path(__file__).parent.parent
BASE = ("errors", "checks", "temporary", "protected", "atomic_write", "wording")
SEAL = re.compile(r"\bunsealed\b|_Closed__value")
HEAVY = ["numpy", "numba", "cupy", "duckdb", "pyarrow", "pandas", "polars", "scipy", "rich", "typer"]


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return all nodes of a module."""
    return list(ast.walk(ast.parse(path.read_text())))


def rooms() -> dict[str, set[str]]:
    """Return what each room may use, as the table of CONTRIBUTING.md says; `__main__` starts the command line."""
    table: dict[str, set[str]] = {"__main__": {"cli"}}
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("| `lab/` |")[0]
    for row in re.findall(r"^\| (?:base: )?(`.+`) \| .+ \| (.+) \|$", text, re.MULTILINE):
        used = set(re.findall(r"`(\w+)`", row[1])) | set(BASE if "base" in row[1] else ())
        table |= dict.fromkeys(re.findall(r"`(\w+)/?`", row[0]), used)
    return table


ROOMS = rooms()


def imported(path: Path) -> set[str]:
    """Return the rooms a module of ours imports from."""
    inside = path.relative_to(SOURCE).with_suffix("").parts
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom):
            base = list(inside[: len(inside) - node.level]) if node.level else []
            whole = base + (node.module or "").split(".")
            if node.level:
                found |= {whole[0]} if whole[0] else {alias.name for alias in node.names}
            elif whole[0] == "discreet":
                found.add(whole[1] if len(whole) > 1 else "")
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("discreet.")}
    return found & set(ROOMS)


def test_a_room_uses_what_its_row_names():
    used: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).with_suffix("").parts[0]
        if room != "__init__":  # the front door names every room
            assert room in ROOMS, f"{room} is not a room of the house: add it to the table of CONTRIBUTING.md"
            assert imported(path) - {room} <= ROOMS[room], path
            used[room] = used.get(room, set()) | (imported(path) - {room})
    for room, others in used.items():
        assert ROOMS[room] - {room, *BASE} <= others, f"the table names more than {room} uses"


def test_rooms_stand_in_order():
    """A room uses rooms above its row alone, so nothing goes in circles."""
    order = [name for name in ROOMS if name != "__main__"]
    for place, room in enumerate(order):
        assert ROOMS[room] - set(BASE) <= set(order[:place]) - set(BASE), room


def test_kernels_know_nothing_else():
    for path in (SOURCE / "kernels").rglob("*.py"):
        assert imported(path) <= {"kernels"}, path


def imported_modules(path: Path) -> set[str]:
    """Return the first part of every module that is imported from outside the package, and `.` for one of ours."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom):
            found.add("." * node.level or (node.module or "").partition(".")[0])
        elif isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
    return found


def test_nothing_of_the_package_knows_the_lab():
    """It is another distribution, and plugs in by entry points as those of strangers do."""
    for path in SOURCE.rglob("*.py"):
        assert "discreet_lab" not in path.read_text(), path
    assert not (SOURCE / "lab").exists()
    assert discreet_lab.__name__ not in loaded_by(
        "import io, contextlib\n"
        "sys.argv = ['discreet', '--help']\n"
        "from discreet.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n    main()"
    )


def test_a_device_needs_the_standard_library_alone():
    for path in (SOURCE / "local" / "device").glob("*.py"):
        assert imported_modules(path) - {"."} <= sys.stdlib_module_names, path


@pytest.mark.parametrize("folder", ["curator/mechanisms", "local/oracles", "local/protocols"])
def test_what_the_registry_scans_has_a_page_for_every_file(folder):
    from discreet import registry

    listed = {*registry.mechanisms().values(), *registry.oracles().values(), *registry.protocols().values()}
    homes = {one.kind.__module__ for one in listed}
    for path in (SOURCE / folder).glob("*.py"):
        if path.stem != "__init__":
            assert f"discreet.{folder.replace('/', '.')}.{path.stem}" in homes, f"{path} lists nothing: it is a step"
            assert list(path.parent.glob(f"{path.stem.replace('_', '-')}*.md")), path


def test_steps_know_no_mechanism():
    for path in (SOURCE / "curator" / "steps").glob("*.py"):
        assert not re.search(r"import.*mechanisms|mechanisms.*import", path.read_text()), path


def test_nobody_but_the_meter_and_the_audit_opens_a_seal():
    # What a mechanism is given stays closed: whoever reads it need not look for leaks there.
    assert not any(SEAL.search(path.read_text()) for path in LAB.rglob("*.py"))
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE)
        if room.parts[0] != "auditing" and room.as_posix() not in ("privacy/sealed.py", "privacy/meter.py"):
            assert not SEAL.search(path.read_text()), path


def test_queries_are_defined_where_their_sensitivity_is_read():
    # An engine answers a query and whatever derives from it: so these are all there are.
    homes = {"exact/query.py", "curator/steps/truncation.py", "publish/ranking.py"}
    kinds = {"Query", "BasketQuery", "Supports", "Held", "Clipped", "Cells", "Kth", "KthClipped", "Largest", "Sizes"}
    kinds |= {"BasketCount", "BasketsEach"}
    for path in (*SOURCE.rglob("*.py"), *LAB.rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef) and kinds & {getattr(base, "id", "") for base in node.bases}:
                assert path in {SOURCE / home for home in homes}, path


def test_the_checker_can_see(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    (tmp_path / "baskets").mkdir()
    bad = tmp_path / "baskets" / "bad.py"
    bad.write_text("def late():\n    from ..cli import main\n    import discreet.local.study.simulate\n")
    assert imported(bad) == {"cli", "local"}


def loaded_by(code: str) -> set[str]:
    told = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('\\n'.join(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {name.partition(".")[0] for name in told.stdout.split()}


def test_importing_loads_nothing_heavy():
    assert not loaded_by("import discreet") & set(HEAVY)


def test_importing_what_authors_use_loads_nothing_heavy():
    assert not loaded_by("import discreet.plugins") & set(HEAVY)


def test_the_command_line_starts_without_numpy():
    loaded = loaded_by(
        "import io, contextlib\n"
        "sys.argv = ['discreet', '--help']\n"
        "from discreet.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n    main()"
    )
    assert not loaded & {"numpy", "numba", "duckdb", "pyarrow", "pandas", "polars", "scipy"}


def test_every_public_name_is_there():
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    assert set(dir(discreet)) == set(discreet.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'mien'"):
        discreet.mien  # noqa: B018


def test_no_class_name_stands_for_two_things():
    homes: dict[str, list[str]] = {}
    for path in (*SOURCE.rglob("*.py"), *LAB.rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")))
def test_every_benchmark_can_be_started(name):
    # None runs in the tests: what moves in the source would break them unseen.
    importlib.import_module(f"benchmarks.{name}")
