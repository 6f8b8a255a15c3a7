"""Compare Spark with one machine, and our mining in Spark with MLlib's FPGrowth, on equal baskets with equal results.

    python -m benchmarks.spark                        from 10^5 to 10^7 baskets, one core and two
    python -m benchmarks.spark --people 1e8           with 10^8 baskets
    python -m benchmarks.spark --folder DIRECTORY     keep the baskets there, as Parquet, for the next time
    python -m benchmarks.spark --release --people 1e7 --cores 2    the release alone, three times: here and in Spark

Every row is a program of its own with its number of cores: it reads Parquet with one basket per row, releases the
top 100 with `auto`, and mines at a support of 0.5 %. The release is the first question in its process, in every way.
Memory is the total of all its processes, Java included, sampled ten times a second. MLlib gets equal files and ten
minutes. "Shards" is our miner on group-dependent shards (Li et al. 2008), which shuffles baskets by the rank
of their items. "Sampled" mines a sample and counts its patterns (Toivonen 1996). "Parts" is discreet's way, as the
first question and without a release. "Events" reads a table with one row per person and item, joins the rows of a
person in a shuffle, and reports its bytes. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

SUPPORT = "0.005"
_PIECE = 1_000_000
_PATIENCE = 600
_ITEMS = 1_000
WAYS = ("local", "spark", "events", "parts", "shards", "sampled", "fpgrowth")


def make_table(folder: Path, people: int) -> Path:
    """Return a folder with Parquet files of the baskets of `people`; missing files are made."""
    place = folder / f"{people}"
    place.mkdir(parents=True, exist_ok=True)
    for number, piece_start in enumerate(range(0, people, _PIECE)):
        path = place / f"{number:05d}.parquet"
        if not path.exists():
            _write(path, min(_PIECE, people - piece_start), number)
    return place


def _write(path: Path, people: int, seed: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    from discreet.baskets import quest

    baskets = quest(people, items=_ITEMS, mean_size=10, mean_pattern=4, seed=seed)
    items = baskets.vocabulary.take(baskets.codes).cast(pa.int32())
    lists = pa.ListArray.from_arrays(pa.array(baskets.offsets.astype("int32")), items)
    partial = path.with_suffix(".part")
    parquet.write_table(pa.table({"items": lists}), partial, row_group_size=200_000)
    partial.rename(path)


def run_row(way: str, place: str, cores: int, mined: bool = True) -> dict[str, Any]:
    """Run one row in this process, and return its times; of a release alone where nothing is to be `mined`."""
    figures: dict[str, Any] = {}

    def timed(name: str, work: Any) -> Any:
        begun = time.perf_counter()
        result = work()
        figures[name] = time.perf_counter() - begun
        return result

    if way == "local":
        import pyarrow.dataset as dataset

        import discreet

        baskets = timed("read", lambda: discreet.read(dataset.dataset(place).to_table(), memory="64GB"))
        timed("release", lambda: discreet.release(baskets, top=100, epsilon=1, items="public"))
        if mined:
            figures["patterns"] = len(timed("mine", lambda: discreet.mine(baskets, min_support=SUPPORT)))
        return figures
    session = timed("start", lambda: _session(cores))
    frame = session.read.parquet(place)
    if way == "fpgrowth":
        from pyspark.ml.fpm import FPGrowth

        miner = FPGrowth(itemsCol="items", minSupport=float(SUPPORT))
        figures["patterns"] = timed("mine", lambda: miner.fit(frame).freqItemsets.count())
        return figures
    import discreet

    if way == "events":
        from pyspark.sql import functions as sql

        people = frame.withColumn("person", sql.monotonically_increasing_id())
        rows = people.select("person", sql.explode("items").alias("item"))
        baskets = timed("read", lambda: discreet.read(rows, person="person", item="item"))
        executors = session.sparkContext._jsc.sc().statusStore().executorList(False)
        figures["shuffled"] = sum(executors.apply(place).totalShuffleWrite() for place in range(executors.size()))
        return figures | {"people": len(baskets)}
    baskets = timed("read", lambda: discreet.read(frame))
    if way in ("shards", "sampled", "parts"):
        from . import spark_shards

        if way == "sampled":
            figures["patterns"], figures["tries"] = timed("mine", lambda: spark_shards.sampled(baskets, SUPPORT))
        elif way == "shards":
            figures["patterns"] = timed("mine", lambda: spark_shards.frequent(baskets, SUPPORT))
        else:
            figures["patterns"] = len(timed("mine", lambda: discreet.mine(baskets, min_support=SUPPORT)))
        return figures
    timed("release", lambda: discreet.release(replace(baskets), top=100, epsilon=1, items="public"))
    # A copy without cached answers: baskets keep their counts.
    if mined:
        figures["patterns"] = len(timed("mine", lambda: discreet.mine(replace(baskets), min_support=SUPPORT)))
    return figures


def _session(cores: int) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").appName("benchmark")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "6g",
        "spark.driver.maxResultSize": "2g",
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def measure_row(way: str, place: Path, cores: int, mined: bool = True) -> dict[str, Any]:
    """Run one row as a program of its own on `cores` cores, and add its peak memory."""
    import psutil

    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.spark", "--one", way, str(place), str(cores)]
    command += [] if mined else ["--release"]
    environment = os.environ | {"DISCREET_THREADS": str(cores)}
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    peak, begun = 0, time.monotonic()
    while program.poll() is None:
        peak = max(peak, _resident(psutil, program.pid))
        if time.monotonic() - begun > _PATIENCE:
            for process in [*psutil.Process(program.pid).children(recursive=True), program]:
                process.kill()
            return {"gave up": True, "gigabytes": peak / 2**30}
        time.sleep(0.1)
    output_lines = (program.stdout.read() if program.stdout is not None else "").strip().splitlines()
    return (json.loads(output_lines[-1]) if output_lines else {"failed": program.returncode}) | {
        "gigabytes": peak / 2**30
    }


def _resident(psutil: Any, root: int) -> int:
    total = 0
    try:
        for process in [psutil.Process(root), *psutil.Process(root).children(recursive=True)]:
            # Python workers are forked: shared memory is counted once.
            total += process.memory_full_info().pss
    except psutil.Error:
        pass
    return total


def main() -> None:
    """Print a row for each way, number of people and number of cores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--release", action="store_true", help="the release alone, here and in Spark, three times each")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        way, place, cores = args.one
        print(json.dumps(run_row(way, place, int(cores), not args.release)), flush=True)
        os._exit(0)
    with tempfile.TemporaryDirectory() as passing:
        folder = args.folder or Path(passing)
        print("| people | cores | way | start s | read s | mine s | release s | patterns | GiB | shuffled GB |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for people in map(int, args.people):
            place = make_table(folder, people)
            for cores in args.cores:
                for way in 3 * ["local", "spark"] if args.release else args.ways:
                    print(row(people, cores, way, measure_row(way, place, cores, not args.release)), flush=True)


def row(people: int, cores: int, way: str, figures: dict[str, Any]) -> str:
    """Return one line of the table."""
    cells = [f"{people:,}", str(cores), way]
    for name in ("start", "read", "mine", "release"):
        cells.append(f"{figures[name]:.1f}" if name in figures else "")
    if "gave up" in figures:
        cells[5] = f"over {_PATIENCE}"
    elif "failed" in figures:
        cells[5] = "failed"
    cells += [f"{figures['patterns']:,}" if "patterns" in figures else "", f"{figures['gigabytes']:.1f}"]
    cells.append(f"{figures['shuffled'] / 1e9:.2f}" if "shuffled" in figures else "")
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
