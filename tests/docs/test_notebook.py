"""The README's Python in a real notebook kernel, as people run it there: without ipywidgets, results as HTML."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.csv as csv
import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

import discreet
from discreet.baskets.generate import groceries_rows

README = (Path(__file__).parents[2] / "README.md").read_text()
SOURCE = str(Path(discreet.__file__).parents[1])
BARE = """
import sys
class Missing:
    def find_spec(self, name, *others):
        if name.partition(".")[0] == "ipywidgets":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingKernelClient]:
    """Start a kernel in a folder with the README's table; it has no ipywidgets, whatever is installed here."""
    folder = tmp_path_factory.mktemp("notebook")
    rows = groceries_rows(500, seed=7)
    csv.write_csv(rows.rename_columns(["customer", "product", "time"]), folder / "sales.csv")
    manager = KernelManager()
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager._kernel_spec = KernelSpec(argv=command, display_name="tests", language="python")
    places = {"IPYTHONDIR": str(folder / "ipython"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    manager.connection_file = str(folder / "kernel.json")
    manager.start_kernel(cwd=str(folder), env=os.environ | places | {"PYTHONPATH": SOURCE}, stderr=subprocess.DEVNULL)
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        run(client, BARE)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def run(client: BlockingKernelClient, code: str) -> dict[str, Any]:
    """Run a cell; return what it shows last, by type, and its text."""
    shown: dict[str, Any] = {"stream": ""}

    def hear(message: dict[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] in ("execute_result", "display_data"):
            shown.update(content["data"])
        elif message["msg_type"] == "stream":
            shown["stream"] += content["text"]
        elif message["msg_type"] == "error":
            pytest.fail("\n".join(content["traceback"]))

    client.execute_interactive(code, output_hook=hear, timeout=120, allow_stdin=False)
    return shown


def test_the_readme_runs_in_a_notebook(kernel: BlockingKernelClient) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
    assert blocks
    for block in blocks:
        assert run(kernel, block)["stream"] == ""  # no bar and no warning beside the result
    for name in ("patterns", "rules", "release"):
        assert "<table" in run(kernel, name)["text/html"], name
    assert "people" in run(kernel, "baskets")["text/plain"]


def test_every_way_through_the_database_works_in_a_notebook(kernel: BlockingKernelClient) -> None:
    """Arrow, SQL over files, events in time, and pandas."""
    code = """
import pyarrow.csv
columns = {"person": "customer", "item": "product"}
table = pyarrow.csv.read_csv("sales.csv")
one = discreet.read(table, **columns)
two = discreet.read(query="SELECT customer, product FROM 'sales.csv'", **columns)
three = discreet.read("sales.csv", **columns, time="time")
one == two, one.codes.tolist() == three.codes.tolist(), one == discreet.read(table.to_pandas(), **columns)
"""
    assert run(kernel, code)["text/plain"] == "(True, True, True)"
