"""What holds for all tests, and a real PostgreSQL server, started for those that need one."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Kernels are compiled on their first call, or plain where the run says so (see the Makefile): what is small would never
# be compiled otherwise. Nothing is compiled behind the back of tests.
os.environ.setdefault("DISCREET_JIT", "1")
os.environ.setdefault("DISCREET_PREPARE", "0")

# The same examples each time, whatever else the machine does; a test that wants more of them, or fewer, says so.
settings.register_profile("discreet", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("discreet")


# Minutes of one worker: begun last, the other worker would wait for it.
_LONGEST = "test_spark_answers_as_this_machine_does"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest test begin first."""
    items.sort(key=lambda item: item.name != _LONGEST)


def _programs() -> Path | None:
    program = shutil.which("initdb")
    places = [Path(program).resolve().parent] if program else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    usable = [place for place in places if (place / "pg_ctl").exists() and (place / "initdb").exists()]
    return usable[-1] if usable else None


def _unprivileged() -> list[str]:
    """The server refuses to run as root: return the command that runs it as another user."""
    if os.geteuid() != 0:
        return []
    names = {entry.pw_name for entry in pwd.getpwall()}
    return ["setpriv", f"--reuid={'postgres' if 'postgres' in names else 'nobody'}", "--clear-groups"]


def _run(command: list[str]) -> None:
    completed = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Return the address of a fresh PostgreSQL server."""
    programs = _programs()
    if programs is None:
        if os.environ.get("CI"):
            pytest.fail("No PostgreSQL server is installed: apt-get install postgresql.")
        pytest.skip("No PostgreSQL server is installed.")
    # Not pytest's own folder, which other users may not enter.
    with tempfile.TemporaryDirectory(prefix="discreet-postgresql-") as folder, socket.socket() as probe:
        user = _unprivileged()
        if user:
            shutil.chown(folder, user[1].split("=")[1])
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        data = f"{folder}/data"
        _run([*user, str(programs / "initdb"), "-D", data, "-U", "tester", "--auth=trust", "--no-sync"])
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        log = f"{folder}/log"
        control = [*user, str(programs / "pg_ctl"), "-D", data]
        # The server would hold a pipe open for ever; its own output goes to the log.
        started = subprocess.run(
            [*control, "-w", "-t", "60", "-l", log, "-o", options, "start"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        assert started.returncode == 0, Path(log).read_text()
        try:
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"
        finally:
            _run([*control, "-m", "immediate", "stop"])
