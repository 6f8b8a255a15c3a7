"""The examples of docs/spark.md, run as their readers run them: by spark-submit, and in a notebook on Spark Connect."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

import discreet
from discreet.baskets import groceries_rows
from notebooks import notebook_kernel, run_cell

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ENVIRONMENT = {
    "PYTHONPATH": str(Path(discreet.__file__).parents[1]),
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_LOCAL_IP": "127.0.0.1",
}
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java here, which Spark runs on"),
    pytest.mark.timeout(300),
]


def test_a_job_that_is_submitted(tmp_path: Path) -> None:
    parquet.write_table(groceries_rows(500, seed=7), tmp_path / "sales.parquet")
    discreet.Ledger.create(tmp_path / "budget.db", epsilon=4, name="sales")
    submit = Path(sys.executable).with_name("spark-submit")
    command = [submit, "--master", "local[2]", "--conf", "spark.ui.enabled=false", EXAMPLES / "release_on_spark.py"]
    arguments = ["sales.parquet", "--person", "customer", "--item", "product", "--top", "5", "--ledger", "budget.db"]
    completed = subprocess.run(
        [*map(str, command), *arguments, "--output", "report.html", "patterns.json"],
        cwd=tmp_path,
        env=os.environ | ENVIRONMENT | {"PYSPARK_DRIVER_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr[-3000:]
    assert "epsilon = 1" in completed.stdout
    assert len(json.loads((tmp_path / "patterns.json").read_text())["patterns"]) == 5
    assert "<svg" in (tmp_path / "report.html").read_text()
    assert len(discreet.Ledger.open(tmp_path / "budget.db").spends()) == 1


@pytest.mark.slow  # half a minute for a server of its own; `make soak` runs all checks on Spark Connect
def test_a_notebook_on_spark_connect(tmp_path: Path) -> None:
    cells = json.loads((EXAMPLES / "spark_connect.ipynb").read_text())["cells"]
    with notebook_kernel(tmp_path, ENVIRONMENT) as client:
        outputs = [run_cell(client, cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert any(output.get("text/plain", "").startswith("SparkBaskets(") for output in outputs)
    assert sum("<table" in output.get("text/html", "") for output in outputs) == 3  # the baskets, and two results
    assert (tmp_path / "report.html").exists()
