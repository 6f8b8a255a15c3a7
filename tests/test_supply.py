"""What `make test` installs: by hash, from a lock that fits pyproject.toml, and nothing from the system unannounced."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import lock

PROJECT = tomllib.loads((lock.ROOT / "pyproject.toml").read_text())["project"]


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def versions(path: Path) -> dict[str, str]:
    return {line.split("==")[0]: line.split()[0].split("==")[1] for line in lines(path)}


def read_requirements() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"]
    every = PROJECT["dependencies"] + extras["dev"]
    for requirement in map(Requirement, extras["dev"]):
        if requirement.name == PROJECT["name"]:
            every += [extra_requirement for extra in sorted(requirement.extras) for extra_requirement in extras[extra]]
    return [
        requirement for requirement in map(Requirement, [*every, *lock.BUILDERS]) if requirement.name != PROJECT["name"]
    ]


@pytest.mark.parametrize("path", [lock.LOCK, lock.COMPILED], ids=lambda path: path.name)
def test_every_file_has_its_hash_and_no_place(path):
    for line in lines(path):
        assert re.fullmatch(r"[a-z0-9-]+==[a-z0-9.+!]+ --hash=sha256:[0-9a-f]{64}", line)
    assert "/" not in path.read_text().replace("x86_64", "")
    assert lock.made_for(path).startswith("cpython 3.")


def test_the_lock_fits_the_ranges():
    """Whoever changes a range, or a version in the lock, runs `make lock`."""
    locked = versions(lock.LOCK)
    for requirement in read_requirements():
        assert locked[canonicalize_name(requirement.name)] in requirement.specifier, f"{requirement}: run `make lock`"
    assert versions(lock.COMPILED)["pyfim"] in Requirement(lock.PYFIM).specifier


def test_what_has_broken_us_before_has_an_upper_end():
    ends = {
        requirement.name: {specifier.operator for specifier in requirement.specifier}
        for requirement in map(Requirement, PROJECT["dependencies"])
    }
    assert all("<" in ends[name] for name in ("duckdb", "numba", "pyarrow", "typer"))


def test_another_python_gets_the_ranges_and_is_told(monkeypatch, capsys, tmp_path):
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(lock, "pip", lambda *argument: ran.append(argument))
    monkeypatch.setattr(lock, "platform_name", lambda: "cpython 3.99, linux, x86_64")
    lock.install()
    lab = ("install", "--quiet", "--no-deps", "--editable", "./lab")
    assert ran == [("install", "--quiet", "--editable", ".[dev]"), lab]
    assert "this is cpython 3.99, linux, x86_64. Newest versions are installed instead" in capsys.readouterr().out
    ran.clear()
    monkeypatch.setattr(lock, "platform_name", lambda: lock.made_for(lock.LOCK))
    lock.install()
    assert ran[0][:4] == ("install", "--quiet", "--require-hashes", "--no-deps")
    assert ran[1][-4:] == ("--editable", ".", "--editable", "./lab")
    assert not any("index" in word for argument in ran for word in argument)


@pytest.mark.skipif(sys.platform != "linux", reason="apt-get is of Linux")
@pytest.mark.parametrize("is_allowed", ["yes", "no"])
def test_nothing_is_installed_from_the_system_unsaid(is_allowed, tmp_path):
    for name in ("sh", "ls"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    scripts = {
        "id": "echo 0",
        "uname": "echo Linux",
        "python3": f'exec {sys.executable} "$@"',
        "apt-get": f'echo "$*" >>{tmp_path}/ran',
    }
    for name, does in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    completed = subprocess.run(
        [tmp_path / "sh", lock.ROOT / "tests" / "system.sh"], capture_output=True, text=True, check=True,
        env={"PATH": str(tmp_path), "DISCREET_SYSTEM": is_allowed, "HOME": os.environ.get("HOME", "/")},
    )  # fmt: skip
    assert "strace: makes system calls fail, for the tests of faults" in completed.stderr
    ran = tmp_path / "ran"
    if is_allowed == "no":
        assert not ran.exists()
        assert completed.stderr.startswith("Not found, so the tests that need it are skipped:")
    else:
        assert "DISCREET_SYSTEM=no forbids it" in completed.stderr
        assert "strace" in ran.read_text().splitlines()[-1]
