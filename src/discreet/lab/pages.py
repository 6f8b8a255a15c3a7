"""Pages: for each paper what it claims, what was measured, and whether the two agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from pathlib import Path

from .claims import Claim
from .experiment import Experiment, Metric
from .figures import draw, middle
from .running import Results

TITLES = {
    "000": "Locally differentially private frequent itemset mining (Wang, Li, Jha 2018)",
    "001": "LDP-FPMiner (Chen, Wang 2022)",
    "002": "On differentially private frequent itemset mining (Zeng, Naughton, Cai 2012)",
    "003": "LDP-RM: mining relations under local privacy (Dong et al. 2024)",
    "ours": "The flagships beside the papers",
    "004": "Discovering frequent patterns in sensitive data (Bhaskar, Laxman, Smith, Thakurta 2010)",
}
"""The papers by number."""


def write_page(paper: str, results: Sequence[Results], claims: Iterable[Claim], folder: Path, *, quick: bool) -> Path:
    """Write the page of a paper as Markdown, with its figures beside it, and return where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{paper}.md"
    path.write_text("\n".join(_page(paper, results, list(claims), folder, quick)) + "\n", encoding="utf-8")
    return path


def _page(paper: str, results: Sequence[Results], claims: list[Claim], folder: Path, quick: bool) -> Iterator[str]:
    yield f"# {TITLES[paper]}\n"
    yield f"Everything here is made by one command: `discreet lab run --paper {paper}`, then `discreet lab page`.\n"
    if quick:
        yield "**Quick setting**: three repeats and three points of each axis.\n"
    if claims:
        yield "## What it claims, and what we found\n"
        yield "| where | the claim, in our words | found | why |"
        yield "|---|---|---|---|"
        for claim in claims:
            yield f"| {claim.where} | {claim.says} | **{claim.verdict}** | {claim.why} |"
        yield ""
    yield from goals(results)
    for one in results:
        yield from section(one, folder)


def goals(results: Sequence[Results]) -> Iterator[str]:
    """Yield a table of every goal: reached, or the gap."""
    rows = [(one, goal) for one in results for goal in one.experiment.goals]
    if not rows:
        return
    yield "## Goals\n"
    yield "| experiment | where | what | goal | measured | |"
    yield "|---|---|---|---|---|---|"
    for one, goal in rows:
        metrics = {metric.name: metric.label for metric in one.experiment.metrics}
        mean, spread = middle(one.numbers(goal.panel, goal.line, goal.value, goal.metric))
        axis = f", {_column(one.experiment, goal.value)}"
        what = f"{metrics[goal.metric]} of {goal.line}"
        gap = goal.gap(round(mean, 3))
        said = "not run" if not isfinite(mean) else "**reached**" if not gap else f"{gap:.3f} short"
        measured = f"{mean:.3f} ± {spread:.3f}" if isfinite(mean) else ""
        yield f"| {one.experiment.shows} | {goal.panel}{axis} | {what} | {goal} | {measured} | {said} |"
    yield ""


def section(results: Results, folder: Path) -> Iterator[str]:
    """Yield the part of a page about one experiment: what is claimed, figures, tables."""
    experiment = results.experiment
    yield f"## {experiment.shows}: {experiment.title}\n"
    yield f"{experiment.says}\n"
    if experiment.differs:
        yield f"*What differs here*: {experiment.differs}\n"
    yield f"`discreet lab run {experiment.name}`\n"
    for failed in results.failed:
        yield f"*Not run*: {failed}\n"
    for metric in experiment.metrics:
        if len(results.values) > 1:
            file = draw(results, metric, folder / f"{experiment.name}-{metric.name}.svg")
            yield f"![{experiment.shows}: {metric.label}]({file.name})\n"
        yield from table(results, metric)


def table(results: Results, metric: Metric) -> Iterator[str]:
    """Yield a Markdown table of one number: a row a line and data set, a column a point."""
    experiment = results.experiment
    head = [metric.label, *(_column(experiment, value) for value in results.values)]
    several = len(results.panels) > 1
    yield "| " + " | ".join(["", *head] if several else head) + " |"
    yield "|" + "---|" * (len(head) + several)
    for panel in results.panels:
        for line in experiment.lines:
            cells = [_cell(results, panel, line.label, value, metric) for value in results.values]
            if any(cells):
                yield "| " + " | ".join([*([panel] if several else []), line.label, *cells]) + " |"
    yield ""


def _column(experiment: Experiment, value: str) -> str:
    return f"{experiment.axis.label} = {value}" if experiment.axis is not None else "measured"


def _cell(results: Results, panel: str, line: str, value: str, metric: Metric) -> str:
    mean, spread = middle(results.numbers(panel, line, value, metric.name))
    if not isfinite(mean):
        return ""
    text = _number(mean, metric)
    if spread:
        text += f" ± {_number(spread, metric)}"
    printed = results.experiment.printed.get((panel, line, value, metric.name))
    return text if printed is None else f"{text} (paper: {printed:g})"


def _number(value: float, metric: Metric) -> str:
    return f"{value:.1e}" if metric.logarithmic else f"{value:.{metric.digits}f}"
