"""The figure and the table of evidence of the README, from results of the lab that are kept: nothing is run.

    discreet lab run ours-top-10 ours-top-20 ours-top-100 ours-local-64     run their experiments
    python -m benchmarks.readme                     print the table
    python -m benchmarks.readme --write README.md   put figure and table between its two marks
    python -m benchmarks.readme --folder PATH       where results are kept

The figure goes to docs/papers/readme.svg.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from discreet_lab.pages.evidence import EXPERIMENTS, evidence_chart, evidence_table
from discreet_lab.pages.figures import write_chart
from discreet_lab.papers import experiment
from discreet_lab.run.runner import kept

from .mining import write_between

MARKS = ("<!-- evidence: begin -->", "<!-- evidence: end -->")
FIGURE = Path("docs/papers/readme.svg")


def main() -> None:
    """Print the table, or write it with the figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path("lab-results"))
    parser.add_argument("--write", type=Path, metavar="FILE")
    args = parser.parse_args()
    results = kept([experiment(name) for name in EXPERIMENTS], args.folder)
    for result in results:
        if result.missing:
            sys.stderr.write(f"{result.missing:,} runs of {result.experiment.name} are missing\n")
    table = "\n".join(evidence_table(results)).rstrip()
    if args.write is None:
        print(table)
        return
    write_chart(evidence_chart(results), args.write.parent / FIGURE)
    write_between(args.write, MARKS, f"![Ours beside the papers, over epsilon]({FIGURE})\n\n{table}")


if __name__ == "__main__":
    main()
