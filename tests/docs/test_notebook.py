"""The README's Python in a real notebook kernel, as people run it there: without ipywidgets, results as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv as csv
import pytest
from jupyter_client.blocking.client import BlockingKernelClient

import discreet
from discreet.baskets import groceries_rows
from notebooks import notebook_kernel, run_cell

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
    with notebook_kernel(folder, {"PYTHONPATH": SOURCE}) as client:
        run_cell(client, BARE)
        yield client


def test_the_readme_runs_in_a_notebook(kernel: BlockingKernelClient) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
    assert blocks
    for block in blocks:
        assert run_cell(kernel, block)["stream"] == ""  # no bar and no warning beside the result
    for name in ("baskets", "patterns", "rules", "release"):
        assert "<table" in run_cell(kernel, name)["text/html"], name
    assert "people" in run_cell(kernel, "baskets")["text/plain"]


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
    assert run_cell(kernel, code)["text/plain"] == "(True, True, True)"


def test_pictures_show_themselves_in_a_notebook(kernel: BlockingKernelClient) -> None:
    code = """
patterns = discreet.mine([{"tea", "milk", "jam"}] * 30 + [{"tea", "milk"}] * 20 + [{"tea"}] * 9, min_count=1)
release = discreet.release([{"tea", "milk"}] * 300, top=2, epsilon=1, items="public")
forecast = discreet.plan(people=5_000, items=20, epsilon=2, top=3, names=["exponential"])
compared = discreet.compare([{"tea", "milk"}] * 300, top=2, epsilon=1, mechanisms=["bases"], runs=2, seed=7)
"""
    run_cell(kernel, code)
    calls = [*(f'patterns.plot("{kind}")' for kind in ("bars", "graph", "matrix", "sizes"))]
    calls += ["patterns.rules(0).plot()", "release.plot()", "forecast.plot()", "compared.plot()"]
    for call in calls:
        output = run_cell(kernel, call)
        assert output["image/svg+xml"].startswith("<svg"), call
        assert output["text/plain"].startswith("<picture: "), call
        assert output["stream"] == "", call
    output = run_cell(kernel, "compared")
    assert "NOT PRIVATE: for the curator" in output["text/html"]
    assert output["text/plain"].startswith("NOT PRIVATE: for the curator")
