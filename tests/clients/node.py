"""The TypeScript client as `make clients` built it, for tests: one Node process that answers line by line.

If Node or the build is missing its tests are skipped, and name the command to type; on a forge (`CI` is set) they fail.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "clients" / "typescript"


def missing(folder: Path = FOLDER) -> str | None:
    """Return why the client cannot be tried here, or None."""
    if shutil.which("node") is None:
        return "Node is not on this machine: install Node 20 or newer, then type make clients"
    built = folder / "dist" / "index.js"
    if not built.is_file():
        return "the TypeScript client is not built: type make clients"
    if built.stat().st_mtime < max(path.stat().st_mtime for path in (folder / "src").rglob("*.ts")):
        return "the TypeScript client was built from older files: type make clients"
    return None


def require_client() -> None:
    """Skip a test if the client is missing; on a forge, which must have it, fail."""
    if (reason := missing()) is not None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@contextmanager
def speaking(script: str) -> Iterator[Any]:
    """Start a script of the client's tests, and give a function that sends it a line of JSON and returns its answer."""
    with subprocess.Popen(
        ["node", FOLDER / "test" / script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=FOLDER
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(request: Any) -> Any:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()
