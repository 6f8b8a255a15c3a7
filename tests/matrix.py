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
_VERSION_CODE = "import sys; print('%d.%d' % sys.version_info[:2])"


def requirements() -> list[str]:
    """Return what pyproject.toml asks for by name: for users, and for tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    (own_requirement,) = (requirement for requirement in extras["dev"] if requirement.startswith(f"{project['name']}["))
    every = [
        *project["dependencies"],
        *(requirement for requirement in extras["dev"] if requirement != own_requirement),
    ]
    return every + [
        requirement for name in own_requirement.partition("[")[2].rstrip("]").split(",") for requirement in extras[name]
    ]


def lowest(requirement: str) -> str:
    """Return a requirement held to the lower end of its range, without extras: a constraint has none."""
    name, _, bounds = requirement.partition(">=")
    return f"{name.partition('[')[0]}=={bounds.partition(',')[0]}"


def interpreters(version: str) -> Iterator[str]:
    """Yield where a Python may be: on the path, in the folder of pyenv, or where uv keeps its own."""
    yield f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from (str(path) for path in sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True))
    if uv := shutil.which("uv"):
        completed = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=False)
        yield completed.stdout.strip()


def interpreter(version: str) -> str | None:
    """Return a Python of a version that runs: pyenv puts names on the path behind which there is none."""
    for place in interpreters(version):
        if place and shutil.which(place):
            completed = subprocess.run([place, "-c", _VERSION_CODE], capture_output=True, text=True, check=False)
            if completed.returncode == 0 and completed.stdout.strip() == version:
                return place
    return None


def run_quick_tests(python: str, version: str, versions: str) -> bool:
    """Install into an environment of its own and run the quick tests there; return whether they passed."""
    folder = ROOT / ".matrix" / f"{version}-{versions}"
    inside = str(folder / "bin" / "python")
    pip = [inside, "-m", "pip", "install", "--quiet"]
    constraint_options, quietly, further_tests = [], [], []
    if versions == "lowest":
        pins = folder.parent / "lowest.txt"
        pins.parent.mkdir(exist_ok=True)
        pins.write_text("".join(f"{lowest(requirement)}\n" for requirement in requirements()))
        constraint_options = ["--constraint", str(pins)]
        further_tests = list(EXTRAS)
        # An old package is told off by the newer ones it needs, which is neither ours nor to be mended.
        quietly = ["-W", "ignore::DeprecationWarning"]
    steps = (
        [python, "-m", "venv", "--clear", str(folder)],
        [*pip, "--upgrade", "pip"],
        [*pip, *constraint_options, "--editable", ".[dev]"],
        [*pip, "--no-deps", "--editable", "./lab"],
        [inside, "-m", "pytest", "-n", "2", "-m", "not slow", *quietly, QUICK, *further_tests],
    )
    return all(subprocess.run(step, cwd=ROOT, check=False).returncode == 0 for step in steps)


def main(chosen_versions: list[str]) -> None:
    """Try the cells of the Pythons that are asked for, or of all."""
    if unknown := set(chosen_versions) - set(PYTHONS):
        sys.exit(f"{', '.join(sorted(unknown))} is no Python of the matrix; it has {', '.join(PYTHONS)}.")
    outcomes, failed = [], False
    for version in chosen_versions or PYTHONS:
        python = interpreter(version)
        if python is None:
            outcomes.append(
                f"{version}: not on this machine, so skipped; pyenv or `uv python install {version}` gets it."
            )
            failed |= bool(chosen_versions)
            continue
        for versions in ("lowest", "newest") if version == PYTHONS[0] else ("newest",):
            print(f"Python {version}, {versions} versions: {python}", flush=True)
            passed = run_quick_tests(python, version, versions)
            outcomes.append(f"{version}, {versions} versions: {'passed' if passed else 'FAILED'}.")
            failed |= not passed
    print("\n".join(outcomes))
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
