"""A new version of both packages, ready to hand out: wheels and sdists are made in `dist/`, looked through and tried.

`python tests/shipping.py` makes those of `discreet` and of `discreet-lab`, has `twine check` read what the index would
show, looks whether all that belongs into them is there and nothing else, and installs the wheels into an empty
environment, far from the source, where they have to answer: `discreet` alone first, then the lab beside it. Nothing is
uploaded: that is done by hand, with what was checked here.
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
LAB = ROOT / "lab" / "src" / "discreet_lab"
DIST = ROOT / "dist"
# What the wheel is asked, by itself. Each is a user's first step; the demo mines, releases and writes a report.
QUESTIONS = (
    ["python", "-W", "error", "-c", "import discreet; print(discreet.mine([{'tea', 'milk'}] * 3, min_count=1))"],
    ["discreet", "--version"],
    ["discreet", "mechanisms"],
    ["discreet", "demo"],
    ["python", "-c", "from discreet.plugins import documents; assert (documents() / 'tutorials/oracle.md').is_file()"],
    ["python", "-m", "pip", "check"],
)
# What it is asked with the lab beside it.
OF_THE_LAB = (["discreet", "lab", "list"], ["discreet", "lab", "run", "000-table-2", "--quick"], QUESTIONS[-1])
# What `discreet lab` says where there is no lab.
NO_LAB = "discreet: `discreet lab` is in a package of its own: pip install discreet-lab.\n"


def read_version(path: Path = SOURCE / "__init__.py") -> str:
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


def documents(folder: Path = ROOT / "docs") -> set[str]:
    """Return the pages that a wheel brings along, as paths from `discreet/` on."""
    pages = (page.relative_to(folder) for page in folder.rglob("*.md") if "_build" not in page.parts)
    return {f"discreet/documents/{page.as_posix()}" for page in pages}


def wheel_faults(files: Collection[str], expected_files: Collection[str], package: str = "discreet") -> list[str]:
    """Return what is wrong with the files of a wheel, as sentences."""
    inside = {name for name in files if ".dist-info/" not in name}
    faults = [f"The wheel lacks {name}." for name in sorted(set(expected_files) - inside)]
    faults += [f"The wheel has {name}, which is not of the package." for name in sorted(inside - set(expected_files))]
    if f"{package}/py.typed" not in inside:
        faults.append("The wheel has no py.typed: type checkers would not look into it.")
    if not any(name.endswith(".md") for name in inside):
        faults.append("The wheel has no proof pages: without them no mechanism is run.")
    if package == "discreet":
        if any(name.startswith(("discreet/lab/", "discreet_lab/")) for name in inside):
            faults.append("The wheel has the lab: experiments of papers are the package discreet-lab.")
        if "discreet/collector/static/take-part.js" not in inside:
            faults.append(
                "The wheel has no take-part.js: nobody could take part on the page of a study. Type make clients."
            )
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in files):
        faults.append("The wheel has no licence.")
    return faults


def sdist_faults(files: Collection[str], expected_files: Collection[str]) -> list[str]:
    """Return what is wrong with the files of an sdist, given as paths from its folder on, as sentences."""
    needed_files = {f"src/{name}" for name in expected_files}
    needed_files |= {
        "pyproject.toml",
        "Makefile",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "SECURITY.md",
        "CITATION.cff",
    }
    needed_files |= {"lab/pyproject.toml", "lab/LICENSE", "lab/src/discreet_lab/__init__.py"}
    needed_files |= {"tests/quick.txt", "requirements.lock", "docs/index.md", "changes/README.md"}
    needed_files |= {f"clients/typescript/{name}" for name in ("package.json", "package-lock.json", "src/client.ts")}
    faults = [f"The sdist lacks {name}." for name in sorted(needed_files - set(files))]
    generated_path = re.compile(r"(^|/)(\.venv|\.matrix|node_modules|dist|_build|__pycache__|\.git|demo|lab-results)/")
    return faults + [
        f"The sdist has {name}, which was made on this machine." for name in files if generated_path.search(name)
    ]


def run(*words: str | Path, **options: object) -> None:
    """Run a command and show it; where it fails so does this."""
    print("$", *words, flush=True)
    if subprocess.run([str(word) for word in words], check=False, **options).returncode:  # type: ignore[call-overload]
        sys.exit(f"Failed: {' '.join(map(str, words))}")


def build(folder: Path, root: Path = ROOT) -> tuple[Path, Path]:
    """Make the sdist, and the wheel from nothing but the sdist, as an installer without our wheel would."""
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder, cwd=root)
    (sdist,) = folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        (unpacked,) = Path(place).iterdir()
        run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=unpacked)
    (wheel,) = folder.glob("*.whl")
    return wheel, sdist


def ask(wheel: Path, lab: Path) -> None:
    """Install the wheel into an empty environment and ask it, in an empty folder; then the wheel of the lab too."""
    with tempfile.TemporaryDirectory() as place:
        run(sys.executable, "-m", "venv", f"{place}/venv")
        inside = Path(place, "venv", "bin")
        run(inside / "python", "-m", "pip", "install", "--quiet", wheel)
        Path(place, "empty").mkdir()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for words in QUESTIONS:
            run(inside / words[0], *words[1:], cwd=f"{place}/empty", env=environment)
        completed = subprocess.run(
            [inside / "discreet", "lab", "list"], capture_output=True, text=True, env=environment
        )
        if (completed.returncode, completed.stderr) != (1, NO_LAB):
            sys.exit(
                f"Without the lab, `discreet lab list` ends with {completed.returncode} and says: {completed.stderr}"
            )
        run(inside / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", lab)
        for words in OF_THE_LAB:
            run(inside / words[0], *words[1:], cwd=f"{place}/empty", env=environment)


def main() -> None:
    """Make all of them, look through them, try the wheels."""
    shutil.rmtree(DIST, ignore_errors=True)
    wheel, sdist = build(DIST)
    lab, lab_sdist = build(DIST / "lab", ROOT / "lab")
    with zipfile.ZipFile(wheel) as wheel_file:
        faults = wheel_faults(wheel_file.namelist(), source() | documents())
    with zipfile.ZipFile(lab) as wheel_file:
        faults += wheel_faults(wheel_file.namelist(), source(LAB), "discreet_lab")
    with tarfile.open(sdist) as archive:
        inside = [name.partition("/")[2] for name in archive.getnames()]
        faults += sdist_faults(inside, source())
    every = (wheel, sdist, lab, lab_sdist)
    if any(f"-{read_version()}" not in path.name for path in every):
        faults.append(f"The files are not of version {read_version()}.")
    if faults:
        sys.exit("\n".join(faults))
    run(sys.executable, "-m", "twine", "check", "--strict", *every)
    ask(wheel, lab)
    print(f"Checked, and not uploaded: {', '.join(str(path.relative_to(ROOT)) for path in every)}")


if __name__ == "__main__":
    main()
