"""The matrix: the quick tests on every Python that we promise, and with the lowest versions that we allow.

`python tests/matrix.py` tries every cell, each in an environment of its own under `.matrix/`: `3.11 lowest`, and the
newest allowed versions on every Python. A Python that is not on this machine is skipped, with a sentence. `python
tests/matrix.py 3.12` tries that Python alone, and fails where it is not there: so the forge asks, a job for each.

The lowest versions are the lower ends of the ranges in pyproject.toml, of what users install and of what tests need;
what those need in turn is as new as they allow. There, tests of the extras run too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
QUICK = "@tests/quick.txt"
# What quick tests leave out and users install all the same: the service and its stores, drivers of databases,
# workbooks, and what of Spark needs no Java. With the lowest versions they are tried too; that takes another minute.
EXTRAS = (
    "tests/baskets/test_inputs.py",
    "tests/baskets/test_queries.py",
    "tests/baskets/test_readers_agree.py",
    "tests/collector/test_service.py",
    "tests/collector/test_storage.py",
    "tests/spark/test_borders.py",
    "tests/spark/test_listing.py",
)
_WHICH = "import sys; print('%d.%d' % sys.version_info[:2])"


def requirements() -> list[str]:
    """Return what pyproject.toml asks for by name: for users, and for tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    (own,) = (one for one in extras["dev"] if one.startswith(f"{project['name']}["))
    every = [*project["dependencies"], *(one for one in extras["dev"] if one != own)]
    return every + [one for name in own.partition("[")[2].rstrip("]").split(",") for one in extras[name]]


def lowest(wanted: str) -> str:
    """Return a requirement held to the lower end of its range, without extras: a constraint has none."""
    name, _, rest = wanted.partition(">=")
    return f"{name.partition('[')[0]}=={rest.partition(',')[0]}"


def interpreters(version: str) -> Iterator[str]:
    """Yield where a Python may be: on the path, in the folder of pyenv, or where uv keeps its own."""
    yield f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from (str(path) for path in sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True))
    if uv := shutil.which("uv"):
        told = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=False)
        yield told.stdout.strip()


def interpreter(version: str) -> str | None:
    """Return a Python of a version that runs: pyenv puts names on the path behind which there is none."""
    for place in interpreters(version):
        if place and shutil.which(place):
            told = subprocess.run([place, "-c", _WHICH], capture_output=True, text=True, check=False)
            if told.returncode == 0 and told.stdout.strip() == version:
                return place
    return None


def tried(python: str, version: str, versions: str) -> bool:
    """Install into an environment of its own and run the quick tests there; return whether they passed."""
    folder = ROOT / ".matrix" / f"{version}-{versions}"
    inside = str(folder / "bin" / "python")
    pip = [inside, "-m", "pip", "install", "--quiet"]
    held, quietly, more = [], [], []
    if versions == "lowest":
        pins = folder.parent / "lowest.txt"
        pins.parent.mkdir(exist_ok=True)
        pins.write_text("".join(f"{lowest(one)}\n" for one in requirements()))
        held = ["--constraint", str(pins)]
        more = list(EXTRAS)
        # An old package is told off by the newer ones it needs, which is neither ours nor to be mended.
        quietly = ["-W", "ignore::DeprecationWarning"]
    steps = (
        [python, "-m", "venv", "--clear", str(folder)],
        [*pip, "--upgrade", "pip"],
        [*pip, *held, "--editable", ".[dev]"],
        [*pip, "--no-deps", "--editable", "./lab"],
        [inside, "-m", "pytest", "-n", "2", "-m", "not slow", *quietly, QUICK, *more],
    )
    return all(subprocess.run(step, cwd=ROOT, check=False).returncode == 0 for step in steps)


def main(wanted: list[str]) -> None:
    """Try the cells of the Pythons that are asked for, or of all."""
    if unknown := set(wanted) - set(PYTHONS):
        sys.exit(f"{', '.join(sorted(unknown))} is no Python of the matrix; it has {', '.join(PYTHONS)}.")
    told, failed = [], False
    for version in wanted or PYTHONS:
        python = interpreter(version)
        if python is None:
            told.append(f"{version}: not on this machine, so skipped; pyenv or `uv python install {version}` gets it.")
            failed |= bool(wanted)
            continue
        for versions in ("lowest", "newest") if version == PYTHONS[0] else ("newest",):
            print(f"Python {version}, {versions} versions: {python}", flush=True)
            passed = tried(python, version, versions)
            told.append(f"{version}, {versions} versions: {'passed' if passed else 'FAILED'}.")
            failed |= not passed
    print("\n".join(told))
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
