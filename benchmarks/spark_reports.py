"""Measure the speed of adding up reports in Spark: evaluations a second through `mapInArrow`, beside one machine.

`python -m benchmarks.spark_reports` takes about a minute and writes two lines: through `olh`, where a report costs an
evaluation for each candidate, and through `olh` with published seeds, with one step per report.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import numpy as np

from discreet.collector import add_up_files, save_reports
from discreet.local import SimulatedAnswers
from discreet.local.oracle_steps import Words, oracles
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup

_DISTINCT_REPORTS = 1 << 16  # distinct reports; later reports repeat them


def session_of(cores: int) -> Any:
    """Start Spark on some cores of this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def pack_reports(ask: Ask) -> Words:
    """Return some reports of a round."""
    held_values = np.arange(_DISTINCT_REPORTS, dtype=np.int32) % ask.oracle.size
    answered = SimulatedAnswers(
        offsets=np.arange(_DISTINCT_REPORTS + 1), values=held_values, people=np.arange(_DISTINCT_REPORTS)
    )
    return ask.oracle.codec.pack(ask.oracle.reports(answered, 5))


def main() -> None:
    """Measure, and print the results."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--candidates", type=int, default=100_000)
    parser.add_argument("--reports", type=int, default=1 << 18, help="with fresh seeds; of published, 64 times as many")
    args = parser.parse_args()
    os.environ["DISCREET_THREADS"] = str(args.cores)
    from discreet.spark import add_up_reports

    session = session_of(args.cores)
    plain = oracles()["olh"].make(Fraction(1), args.candidates)
    for name, oracle, report_count in (
        ("olh", plain, args.reports),
        ("olh, published", replace(plain, seeds=1 << 12), 64 * args.reports),
    ):
        ask = Ask(
            name=name,
            group=PeopleGroup(0, 2**32),
            question=CandidateQuestion(CandidateList(args.candidates)),
            oracle=oracle,
        )
        words = pack_reports(ask)
        with TemporaryDirectory() as folder:
            place = Path(folder)
            took = []
            for number, batch_size in enumerate((report_count // 4, report_count // 4, report_count)):
                save_reports(place / str(number), ask, (words for _ in range(batch_size // _DISTINCT_REPORTS)))
                began = monotonic()
                spark_totals = add_up_reports(place / str(number), ask, screen=False, session=session)
                took.append(monotonic() - began)
            began = monotonic()
            local_totals = add_up_files(place / "2", ask, screen=False)
            seconds = monotonic() - began
        assert spark_totals.text() == local_totals.text()
        # The first time kernels are loaded. A few jobs take a constant time for any number of reports.
        rate = 0.75 * report_count * (args.candidates if oracle is plain else 1) / (took[2] - took[1])
        print(
            f"{name}: {report_count:,} reports, {args.candidates:,} candidates, {args.cores} cores: "
            f"Spark {took[2]:.1f} s ({rate:.3g} a second once it runs), this process {seconds:.1f} s",
            flush=True,
        )
    session.stop()


if __name__ == "__main__":
    main()
