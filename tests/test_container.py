"""The container file names what there is, and a wheel is made of what it copies: no engine is needed to see that."""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from running import run

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
IGNORED = (ROOT / ".dockerignore").read_text().splitlines()


def copies() -> list[tuple[list[str], str]]:
    """What the first stage copies, and where to."""
    lines = [line.split() for line in re.findall(r"^COPY (?!--)(.+)$", DOCKERFILE, re.M)]
    return [(sources, place) for *sources, place in lines]


def seen(path: str) -> bool:
    """Whether `.dockerignore` lets an engine see a file: the last line that fits it or a folder of its says."""
    parts = path.split("/")
    fits = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    said = True
    for line in IGNORED:
        pattern = line.removeprefix("!").removeprefix("**/")
        anywhere = [part.split("/")[-1] for part in fits] if "**/" in line else []
        if line and not line.startswith("#") and any(fnmatch.fnmatch(one, pattern) for one in [*fits, *anywhere]):
            said = line.startswith("!")
    return said


def copied(root: Path) -> None:
    """Copy what the container file copies, as an engine does."""
    for sources, place in copies():
        target = root / place.lstrip("/")
        for source in sources:
            found = ROOT / source
            for file in [found] if found.is_file() else (one for one in found.rglob("*") if one.is_file()):
                name = file.relative_to(ROOT).as_posix()
                assert found.is_dir() or seen(name), f"{name} is copied, and .dockerignore hides it"
                if seen(name):
                    inside = file.relative_to(found).as_posix() if found.is_dir() else source
                    (target / inside).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, target / inside)


def test_a_wheel_is_made_of_what_is_copied(tmp_path: Path) -> None:
    """Five seconds: a wheel is built. The metadata ask for `hatch_build.py`, the README and the licence."""
    pytest.importorskip("hatchling")
    copied(tmp_path)
    source = tmp_path / "source"
    made = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=source, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    (wheel,) = (source / "dist").iterdir()
    names = set(zipfile.ZipFile(wheel).namelist())
    assert not [name for name in names if "__pycache__" in name]
    package = [one for one in (ROOT / "src").rglob("*") if one.is_file() and "__pycache__" not in one.parts]
    assert {one.relative_to(ROOT / "src").as_posix() for one in package} <= names


def test_what_the_container_file_names_is_there() -> None:
    extras = re.search(r"/source\[([a-z,]+)\]", DOCKERFILE).group(1).split(",")
    project = (ROOT / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", project, re.M) for extra in extras)
    assert "server" in extras  # `discreet serve` is a command of the image like any other
    shared = re.search(r"discreet warmup --shared (\S+)", DOCKERFILE).group(1)
    assert f"DISCREET_KERNELS={shared}" in DOCKERFILE
    assert "--shared" in run("warmup", "--help").stdout
    assert DOCKERFILE.index("USER discreet") > DOCKERFILE.index("warmup")  # root compiles, somebody else runs


def test_the_line_that_installs_works(tmp_path: Path) -> None:
    """Twenty seconds: what the image types, but for what is fetched; pip says where an extra is none of ours."""
    pytest.importorskip("hatchling")
    copied(tmp_path)
    (line,) = re.findall(r"bin/pip (install .*)$", DOCKERFILE, re.M)
    words = [word.replace("/source", str(tmp_path / "source")) for word in shlex.split(line)]
    here = tmp_path / "here"
    typed = [sys.executable, "-m", "pip", *words, "--no-deps", "--no-build-isolation", "--target", str(here)]
    done = subprocess.run(typed, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "does not provide the extra" not in done.stdout + done.stderr
    # What is installed serves: the operators' page has its script, though nothing was built with Node.
    static = here / "discreet" / "collector" / "static"
    assert {"operate.js", "watch.js", "pages.css"} <= {file.name for file in static.iterdir()}
    code = "import discreet, sys; from discreet.cli import main; print(discreet.__file__); sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "serve", "--help"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(here), "COLUMNS": "200"}, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, "--trusted-proxy" in done.stdout) == (0, True), done.stderr
    assert done.stdout.startswith(str(here))
