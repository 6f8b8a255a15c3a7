"""A shuffled CSV of a hundred million rows is read within a few gigabytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

ROWS = 100_000_000
PEOPLE = 10_000_000
LIMIT = 6 * 2**30

PROGRAM = """
import json, sys, time
import discreet
start = time.perf_counter()
baskets = discreet.read(sys.argv[1], person="person", item="item")
seconds = time.perf_counter() - start
# The peak that getrusage tells includes that of the parent at the fork.
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
print(json.dumps({
    "people": baskets.people, "items": baskets.items, "held": len(baskets.codes), "merged": baskets.merged,
    "first": int(baskets.item_counts[0]), "seconds": seconds, "peak": peak,
}))
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_hundred_million_rows(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    # The hash spreads each person's rows over the whole file.
    events = (
        f"SELECT CAST(hash(i) % {PEOPLE} AS BIGINT) AS person, "
        f"CAST(floor(1000000 * pow((hash(i * 7 + 1) % 1000003) / 1000003.0, 3)) AS BIGINT) AS item "
        f"FROM range({ROWS}) t(i)"
    )
    duckdb.execute(f"COPY ({events}) TO '{path}' (HEADER)")
    people, items, first_basket = duckdb.execute(
        f"SELECT count(DISTINCT person), count(DISTINCT item), count(DISTINCT person) FILTER (item = 0) FROM ({events})"
    ).fetchall()[0]
    completed = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True)
    document = json.loads(completed.stdout)
    print(f"{ROWS:,} rows in {document['seconds']:.0f} s, at most {document['peak'] / 2**30:.2f} GiB")
    assert document["people"] == people
    assert document["items"] == items
    assert document["first"] == first_basket
    assert document["held"] + document["merged"] == ROWS
    assert document["peak"] < LIMIT
