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
from discreet.faces import read_stub

SOURCE = Path(discreet.__file__).parent
LAB = Path(discreet_lab.__file__).parent
ROOT = Path(__file__).parent.parent
BASE = ("errors", "checks", "temporary", "protected", "atomic_write", "wording", "faces", "heavy")
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
        used_rooms = set(re.findall(r"`(\w+)`", row[1])) | set(BASE if "base" in row[1] else ())
        table |= dict.fromkeys(re.findall(r"`(\w+)/?`", row[0]), used_rooms)
    return table


ROOMS = rooms()


def imported(path: Path) -> set[str]:
    """Return the rooms a module of ours imports from."""
    inside = path.relative_to(SOURCE).with_suffix("").parts
    modules = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom):
            base = list(inside[: len(inside) - node.level]) if node.level else []
            parts = base + (node.module or "").split(".")
            if node.level:
                modules |= {parts[0]} if parts[0] else {alias.name for alias in node.names}
            elif parts[0] == "discreet":
                modules.add(parts[1] if len(parts) > 1 else "")
        elif isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("discreet.")}
    return modules & set(ROOMS)


def test_a_room_uses_what_its_row_names():
    used_rooms: dict[str, set[str]] = {}
    for path in (*SOURCE.rglob("*.py"), SOURCE / "plugins.pyi"):
        room = path.relative_to(SOURCE).with_suffix("").parts[0]
        if room != "__init__":  # the front door names every room
            assert room in ROOMS, f"{room} is not a room of the house: add it to the table of CONTRIBUTING.md"
            assert imported(path) - {room} <= ROOMS[room] | {"faces"}, path
            used_rooms[room] = used_rooms.get(room, set()) | (imported(path) - {room})
    for room, rooms_used in used_rooms.items():
        assert ROOMS[room] - {room, *BASE} <= rooms_used, f"the table names more than {room} uses"


def test_rooms_stand_in_order():
    """A room uses rooms above its row alone, so nothing goes in circles."""
    order = [name for name in ROOMS if name != "__main__"]
    for place, room in enumerate(order):
        assert ROOMS[room] - set(BASE) <= set(order[:place]) - set(BASE), room


def test_kernels_know_nothing_else():
    for path in (SOURCE / "kernels").rglob("*.py"):
        assert imported(path) <= {"kernels", "faces"}, path


def imported_modules(path: Path) -> set[str]:
    """Return the first part of every module that is imported from outside the package, and `.` for one of ours."""
    modules = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom):
            modules.add("." * node.level or (node.module or "").partition(".")[0])
        elif isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
    return modules


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


def resolve_import(path: Path, node: ast.ImportFrom) -> tuple[str, ...]:
    """Return the module that an import statement names, as parts below `discreet`; nothing for other packages."""
    module = tuple((node.module or "").split(".")) if node.module else ()
    if not node.level:
        return module[1:] if module[0] == "discreet" else ()
    inside = path.relative_to(SOURCE).parts if SOURCE in path.parents else ()
    return (*inside[: len(inside) - node.level], *module)


def imports_past_faces(path: Path) -> list[str]:
    """Return the private modules of other rooms that a file imports."""
    own_room = path.relative_to(SOURCE).parts[:-1] if SOURCE in path.parents else None
    past = []
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom):
            home = resolve_import(path, node)
            modules = [home] if SOURCE.joinpath(*home).is_file() or not SOURCE.joinpath(*home).is_dir() else []
            modules += [(*home, alias.name) for alias in node.names if alias.name.startswith("_") and home]
            past += [
                ".".join(module)
                for module in modules
                if module[-1:] and module[-1].startswith("_") and module[:-1] != own_room
            ]
    return past


def test_every_room_is_entered_by_its_face():
    """The private modules of a room are imported by that room alone: other rooms use the names of its stub."""
    for folder in (SOURCE, LAB, ROOT / "benchmarks", ROOT / "docs"):
        for path in folder.rglob("*.py"):
            assert not imports_past_faces(path), path


def test_tests_say_why_they_enter_another_room_by_its_modules():
    """The tests of a room may import its modules. Other tests have a comment that begins with `internals:`."""
    for path in (ROOT / "tests").rglob("*.py"):
        room = path.relative_to(ROOT / "tests").parts[0]
        foreign_modules = [module for module in imports_past_faces(path) if module.split(".")[0] != room]
        assert not foreign_modules or "# internals: " in path.read_text(), f"{path} imports {foreign_modules}"


def stubs() -> dict[str, Path]:
    """Return the stubs of all rooms, by the dotted names of the rooms."""
    places = {path: path.parent if path.stem == "__init__" else path.with_suffix("") for path in SOURCE.rglob("*.pyi")}
    return {".".join(("discreet", *place.relative_to(SOURCE).parts)): path for path, place in places.items()}


@pytest.mark.parametrize("room", sorted(stubs()))
def test_every_name_of_a_face_is_there_and_used(room):
    home = importlib.import_module(room)
    names = read_stub(stubs()[room])
    assert set(names) <= set(home.__all__)
    for name in names:
        assert getattr(home, name) is not None
    if room not in ("discreet", "discreet.plugins"):
        assert set(names) <= used_names().get(tuple(room.split(".")[1:]), set()), "no other room uses these names"


@cache
def used_names() -> dict[tuple[str, ...], set[str]]:
    """Return the names of each room that files outside the room import."""
    uses: dict[tuple[str, ...], set[str]] = {}
    folders = (SOURCE, LAB, ROOT / "benchmarks", ROOT / "docs", ROOT / "tests")
    for path in (path for folder in folders for end in ("py", "pyi") for path in folder.rglob(f"*.{end}")):
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom):
                uses.setdefault(resolve_import(path, node), set()).update(alias.name for alias in node.names)
    documented = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    imported_names = re.findall(r"from discreet\.([a-z_.]+) import (\w+(?:, \w+)*)", documented)
    for room, names in imported_names + re.findall(r"discreet\.([a-z_.]+)\.(\w+)", documented):
        uses.setdefault(tuple(room.split(".")), set()).update(names.split(", "))
    # `results` stands below `report` and looks its functions up by their names.
    sources = "".join(path.read_text() for path in (SOURCE / "results").glob("*.py"))
    uses[("report",)] |= set(re.findall(r'(?:draw_with\(|PAGE: ClassVar\[str\] = )"(\w+)"', sources))
    return uses


def test_a_device_needs_the_standard_library_alone():
    for path in (SOURCE / "local" / "device").glob("*.py"):
        assert imported_modules(path) - {"."} <= sys.stdlib_module_names, path


@pytest.mark.parametrize("folder", ["curator/mechanisms", "local/oracles", "local/protocols"])
def test_what_the_registry_scans_has_a_page_for_every_file(folder):
    from discreet import registry

    entries = {*registry.mechanisms().values(), *registry.oracles().values(), *registry.protocols().values()}
    homes = {entry.kind.__module__ for entry in entries}
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
        if room.parts[0] != "auditing" and room.as_posix() not in ("privacy/_sealed.py", "privacy/_meter.py"):
            assert not SEAL.search(path.read_text()), path


def test_queries_are_defined_where_their_sensitivity_is_read():
    # An engine answers a query and whatever derives from it: so these are all there are.
    homes = {"exact/_query.py", "curator/steps/_truncation.py", "publish/_ranking.py"}
    kinds = {
        "Query",
        "BasketQuery",
        "Supports",
        "LoadHistogram",
        "ClippedCounts",
        "Cells",
        "Kth",
        "KthClipped",
        "Largest",
        "Sizes",
    }
    kinds |= {"BasketCount", "BasketsEach"}
    for path in (*SOURCE.rglob("*.py"), *LAB.rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef) and kinds & {getattr(base, "id", "") for base in node.bases}:
                assert path in {SOURCE / home for home in homes}, path


def test_the_checker_can_see(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    (tmp_path / "baskets").mkdir()
    faulty_module = tmp_path / "baskets" / "bad.py"
    faulty_module.write_text("def late():\n    from ..cli import main\n    import discreet.local.study._simulate\n")
    assert imported(faulty_module) == {"cli", "local"}


def loaded_by(code: str) -> set[str]:
    completed = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('\\n'.join(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {name.partition(".")[0] for name in completed.stdout.split()}


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
