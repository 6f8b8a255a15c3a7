"""The lock file of `make test`: which files are installed, by their hashes; and installing from it.

`python tests/lock.py write` asks pip what it would install for the ranges of pyproject.toml on this kind of machine,
and keeps names, versions and hashes. No place is kept: pip looks wherever it is set up to look, and a file with another
hash is refused. `python tests/lock.py install` installs that and nothing else, and then discreet and its lab, built
with the locked builder. A wheel is made for one Python and one kind of machine, and so is the lock: elsewhere the
ranges are installed instead, and that is said.

PyFIM has to be compiled, which may fail, so it has a lock of its own: `python tests/lock.py compile`.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
COMPILED = ROOT / "requirements-compiled.lock"
BUILDERS = ("hatchling>=1.25", "editables>=0.5", "setuptools>=70")  # without these nothing is built offline
PYFIM = "pyfim>=6.28"
_MADE_FOR = "# Made for: "


def platform_name() -> str:
    """Return the kind of machine that this is, as a lock names it."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"{sys.implementation.name} {version}, {sys.platform}, {platform.machine()}"


def made_for(lock: Path) -> str:
    """Return the kind of machine that a lock was made for."""
    kinds = [line.removeprefix(_MADE_FOR) for line in lock.read_text().splitlines() if line.startswith(_MADE_FOR)]
    return kinds[0] if kinds else "nothing"


def pip(*arguments: str) -> None:
    """Run pip; where it fails so does this, with its status."""
    completed = subprocess.run([sys.executable, "-m", "pip", *arguments], cwd=ROOT, check=False)
    if completed.returncode:
        sys.exit(completed.returncode)


def resolved(*ranges: str) -> list[tuple[str, str, str]]:
    """Return name, version and hash of everything that pip would install into an empty environment."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        pip("install", "--quiet", "--dry-run", "--ignore-installed", "--report", str(report), *ranges)
        installed = json.loads(report.read_text())["install"]
    return sorted(
        (
            re.sub("[-_.]+", "-", package["metadata"]["name"]).lower(),
            package["metadata"]["version"],
            archive["hashes"]["sha256"],
        )
        for package in installed
        if (archive := package["download_info"].get("archive_info")) is not None  # all but discreet, which is a folder
    )


def text(files: list[tuple[str, str, str]]) -> str:
    """Return a lock as text."""
    lines = [
        "# Which files `make test` installs, by their hashes; `make lock` renews this.",
        f"{_MADE_FOR}{platform_name()}",
    ]
    lines += [f"{name}=={version} --hash=sha256:{digest}" for name, version, digest in files]
    return "\n".join(lines) + "\n"


def write() -> None:
    """Write both locks anew."""
    LOCK.write_text(text(resolved(".[dev]", *BUILDERS)))
    COMPILED.write_text(text(resolved("--no-deps", "--no-binary", "pyfim", PYFIM)))


def install() -> None:
    """Install what tests need, and discreet and its lab from this folder."""
    if made_for(LOCK) != platform_name():
        print(
            f"{LOCK.name} was made for {made_for(LOCK)}; this is {platform_name()}. Newest versions are installed "
            "instead, by the ranges in pyproject.toml and without hashes; `make lock` makes a lock for this machine."
        )
        pip("install", "--quiet", "--editable", ".[dev]")
        pip("install", "--quiet", "--no-deps", "--editable", "./lab")
        return
    pip("install", "--quiet", "--require-hashes", "--no-deps", "--requirement", str(LOCK))
    pip("install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", ".", "--editable", "./lab")
    pip("--quiet", "check")


def compile_() -> None:
    """Compile PyFIM."""
    if made_for(LOCK) != platform_name():
        pip("install", "--quiet", PYFIM)
        return
    pip("install", "--quiet", "--require-hashes", "--no-deps", "--no-build-isolation", "--requirement", str(COMPILED))


if __name__ == "__main__":
    {"write": write, "install": install, "compile": compile_}[sys.argv[1]]()
