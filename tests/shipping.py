"""A new version of the package, ready to hand out: wheel and sdist are made in `dist/`, looked through and tried.

`python tests/shipping.py` makes both, has `twine check` read what the package index would show, looks whether all that
belongs into them is there and nothing else, and installs the wheel into an empty environment, far from the source,
where it has to answer. Nothing is uploaded: that is done by hand, with what was checked here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "discreet"
DIST = ROOT / "dist"
# What the wheel is asked, by itself. Each is a user's first step; the demo mines, releases and writes a report.
QUESTIONS = (
    ["python", "-W", "error", "-c", "import discreet; print(discreet.mine([{'tea', 'milk'}] * 3, min_count=1))"],
    ["discreet", "--version"],
    ["discreet", "mechanisms"],
    ["discreet", "demo"],
    ["python", "-m", "pip", "check"],
)


def said(path: Path = SOURCE / "__init__.py") -> str:
    """Return the version that the package says it has."""
    (version,) = re.findall(r'^__version__ = "(.+)"$', path.read_text(), re.MULTILINE)
    return str(version)


def source(folder: Path = SOURCE) -> set[str]:
    """Return all files of the package, as paths from `discreet/` on."""
    return {
        str(path.relative_to(folder.parent))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def wheel_faults(files: Collection[str], wanted: Collection[str]) -> list[str]:
    """Return what is wrong with the files of a wheel, as sentences."""
    inside = {name for name in files if ".dist-info/" not in name}
    told = [f"The wheel lacks {name}." for name in sorted(set(wanted) - inside)]
    told += [f"The wheel has {name}, which is not of the package." for name in sorted(inside - set(wanted))]
    if "discreet/py.typed" not in inside:
        told.append("The wheel has no py.typed: type checkers would not look into it.")
    if not any(name.endswith(".md") for name in inside):
        told.append("The wheel has no proof pages: without them no mechanism is run.")
    if "discreet/collector/static/take-part.js" not in inside:
        told.append("The wheel has no take-part.js: nobody could take part on the page of a study. Type make clients.")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in files):
        told.append("The wheel has no licence.")
    return told


def sdist_faults(files: Collection[str], wanted: Collection[str]) -> list[str]:
    """Return what is wrong with the files of an sdist, given as paths from its folder on, as sentences."""
    needed = {f"src/{name}" for name in wanted}
    needed |= {"pyproject.toml", "Makefile", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "CITATION.cff"}
    needed |= {"tests/quick.txt", "requirements.lock", "docs/index.md", "changes/README.md"}
    needed |= {f"clients/typescript/{name}" for name in ("package.json", "package-lock.json", "src/client.ts")}
    told = [f"The sdist lacks {name}." for name in sorted(needed - set(files))]
    made = re.compile(r"(^|/)(\.venv|\.matrix|node_modules|dist|_build|__pycache__|\.git|demo|lab-results)/")
    return told + [f"The sdist has {name}, which was made on this machine." for name in files if made.search(name)]


def run(*words: str | Path, **more: object) -> None:
    """Run a command and show it; where it fails so does this."""
    print("$", *words, flush=True)
    if subprocess.run([str(word) for word in words], check=False, **more).returncode:  # type: ignore[call-overload]
        sys.exit(f"Failed: {' '.join(map(str, words))}")


def build(folder: Path) -> tuple[Path, Path]:
    """Make the sdist, and the wheel from nothing but the sdist, as an installer without our wheel would."""
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder, cwd=ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        (unpacked,) = Path(place).iterdir()
        run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=unpacked)
    (wheel,) = folder.glob("*.whl")
    return wheel, sdist


def ask(wheel: Path) -> None:
    """Install the wheel into an empty environment and ask it, in an empty folder."""
    with tempfile.TemporaryDirectory() as place:
        run(sys.executable, "-m", "venv", f"{place}/venv")
        inside = Path(place, "venv", "bin")
        run(inside / "python", "-m", "pip", "install", "--quiet", wheel)
        Path(place, "empty").mkdir()
        alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for words in QUESTIONS:
            run(inside / words[0], *words[1:], cwd=f"{place}/empty", env=alone)


def main() -> None:
    """Make both, look through them, try the wheel."""
    shutil.rmtree(DIST, ignore_errors=True)
    wheel, sdist = build(DIST)
    with zipfile.ZipFile(wheel) as packed:
        told = wheel_faults(packed.namelist(), source())
    with tarfile.open(sdist) as archive:
        inside = [name.partition("/")[2] for name in archive.getnames()]
        told += sdist_faults(inside, source())
    if any(f"-{said()}" not in path.name for path in (wheel, sdist)):
        told.append(f"The files are not of version {said()}.")
    if told:
        sys.exit("\n".join(told))
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    ask(wheel)
    print(f"Checked, and not uploaded: {wheel.relative_to(ROOT)} and {sdist.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
