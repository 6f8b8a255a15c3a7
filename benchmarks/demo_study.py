"""`make demo-study`: simulate a study of items bought together by made-up shoppers, and leave its service running."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.csv as csv

from discreet.baskets import groceries, groceries_rows

PEOPLE, SEED, PORT = 20_000, 7, 8000

STUDY = """\
name = "groceries"
title = "What goes together in a shopping basket"
asks = "Which of these did you buy this week?"
protocol = "adept"
top = 20
epsilon = "4"
items = "items.txt"
who = "anyone"

[rounds]
close = "hand"
"""


def main() -> int:
    """Write the data and the study into a folder that is gone afterwards, and run the command."""
    with tempfile.TemporaryDirectory(prefix="discreet-demo-study-") as name:
        folder = Path(name)
        rows = groceries_rows(PEOPLE, seed=SEED)
        csv.write_csv(rows.rename_columns(["customer", "product", "time"]), folder / "sales.csv")
        (folder / "items.txt").write_text("".join(f"{product}\n" for product in groceries(10, seed=SEED).vocabulary))
        (folder / "study.toml").write_text(STUDY)
        command = ["study", "simulate", "study.toml", "sales.csv", "--person", "customer", "--item", "product"]
        study_options = ["--people", str(PEOPLE), "--directory", "studies", "--port", str(PORT), "--stay"]
        print("discreet", *command, *study_options, flush=True)
        try:
            return subprocess.run(
                [sys.executable, "-m", "discreet", *command, *study_options], cwd=folder, check=False
            ).returncode
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())
