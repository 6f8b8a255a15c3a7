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


def is_copied(path: str) -> bool:
    """Whether `.dockerignore` lets an engine see a file: the last line that fits it or a folder of its says."""
    parts = path.split("/")
    fits = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    is_sent = True
    for line in IGNORED:
        pattern = line.removeprefix("!").removeprefix("**/")
        anywhere = [part.split("/")[-1] for part in fits] if "**/" in line else []
        if (
            line
            and not line.startswith("#")
            and any(fnmatch.fnmatch(path_pattern, pattern) for path_pattern in [*fits, *anywhere])
        ):
            is_sent = line.startswith("!")
    return is_sent


def copied(root: Path) -> None:
    """Copy what the container file copies, as an engine does."""
    for sources, place in copies():
        target = root / place.lstrip("/")
        for source in sources:
            path = ROOT / source
            for file in (
                [path] if path.is_file() else (inner_path for inner_path in path.rglob("*") if inner_path.is_file())
            ):
                name = file.relative_to(ROOT).as_posix()
                assert path.is_dir() or is_copied(name), f"{name} is copied, and .dockerignore hides it"
                if is_copied(name):
                    inside = file.relative_to(path).as_posix() if path.is_dir() else source
                    (target / inside).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, target / inside)


def test_a_wheel_is_made_of_what_is_copied(tmp_path: Path) -> None:
    """Five seconds: a wheel is built. The metadata ask for `hatch_build.py`, the README and the licence."""
    pytest.importorskip("hatchling")
    copied(tmp_path)
    source = tmp_path / "source"
    completed = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=source, capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stderr
    (wheel,) = (source / "dist").iterdir()
    names = set(zipfile.ZipFile(wheel).namelist())
    assert not [name for name in names if "__pycache__" in name]
    package = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.relative_to(ROOT / "src").as_posix() for path in package} <= names


def test_what_the_container_file_names_is_there() -> None:
    extras = re.search(r"/source\[([a-z,]+)\]", DOCKERFILE).group(1).split(",")
    project = (ROOT / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", project, re.M) for extra in extras)
    assert "server" in extras  # `discreet serve` is a command of the image like any other
    shared_folder = re.search(r"discreet warmup --shared (\S+)", DOCKERFILE).group(1)
    assert f"DISCREET_KERNELS={shared_folder}" in DOCKERFILE
    assert "--shared" in run("warmup", "--help").stdout
    assert DOCKERFILE.index("USER discreet") > DOCKERFILE.index("warmup")  # root compiles, somebody else runs


def test_the_line_that_installs_works(tmp_path: Path) -> None:
    """Twenty seconds: what the image types, but for what is fetched; pip says where an extra is none of ours."""
    pytest.importorskip("hatchling")
    copied(tmp_path)
    (line,) = re.findall(r"bin/pip (install .*)$", DOCKERFILE, re.M)
    words = [word.replace("/source", str(tmp_path / "source")) for word in shlex.split(line)]
    target = tmp_path / "here"
    command = [sys.executable, "-m", "pip", *words, "--no-deps", "--no-build-isolation", "--target", str(target)]
    completed = subprocess.run(command, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    assert "does not provide the extra" not in completed.stdout + completed.stderr
    # What is installed serves: the operators' page has its script, though nothing was built with Node.
    static = target / "discreet" / "collector" / "static"
    assert {"operate.js", "watch.js", "pages.css"} <= {file.name for file in static.iterdir()}
    code = "import discreet, sys; from discreet.cli import main; print(discreet.__file__); sys.exit(main())"
    completed = subprocess.run(
        [sys.executable, "-c", code, "serve", "--help"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(target), "COLUMNS": "200"}, cwd=tmp_path,
    )  # fmt: skip
    assert (completed.returncode, "--trusted-proxy" in completed.stdout) == (0, True), completed.stderr
    assert completed.stdout.startswith(str(target))
