"""Real notebook kernels, for tests of what people see there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager


@contextmanager
def notebook_kernel(folder: Path, variables: Mapping[str, str]) -> Iterator[BlockingKernelClient]:
    """Start a kernel in a folder, with these variables beside those that are set; stop it afterwards."""
    manager = KernelManager()
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager._kernel_spec = KernelSpec(argv=command, display_name="tests", language="python")
    places = {"IPYTHONDIR": str(folder / "ipython"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    manager.connection_file = str(folder / "kernel.json")
    manager.start_kernel(cwd=str(folder), env=os.environ | places | dict(variables), stderr=subprocess.DEVNULL)
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def run_cell(client: BlockingKernelClient, code: str) -> dict[str, Any]:
    """Run a cell; return what it shows last, by type, and its text."""
    output: dict[str, Any] = {"stream": ""}

    def hear(message: dict[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] in ("execute_result", "display_data"):
            output.update(content["data"])
        elif message["msg_type"] == "stream":
            output["stream"] += content["text"]
        elif message["msg_type"] == "error":
            pytest.fail("\n".join(content["traceback"]))

    client.execute_interactive(code, output_hook=hear, timeout=120, allow_stdin=False)
    return output
