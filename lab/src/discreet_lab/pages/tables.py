"""Tables of what was measured, as Markdown: mean and spread, what the paper prints beside it, the best in bold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from ..measure.order import best, ordered
from ..measure.spread import middle, shown
from ..run.experiment import Experiment, Metric
from ..run.runner import Results


def table(results: Results, metric: Metric) -> Iterator[str]:
    """Yield a table of one number for a terminal: one row per line and data set, one column per point."""
    experiment = results.experiment
    values = ordered(results.values)
    several = len(results.panels) > 1
    head = [metric.label, *(column(experiment, value) for value in values)]
    rows = []
    for panel in results.panels:
        for line in experiment.lines:
            cells = [cell(results, panel, line.label, value, metric) for value in values]
            if any(cells):
                rows.append([*([panel] if several else []), line.label, *cells])
    yield from markdown(["", *head] if several else head, rows)


def compared(results: Results, metric: Metric) -> Iterator[str]:
    """Yield a table of one number with one column per line and one row per point, so that lines stand side by side.

    Where there is one point only, or one panel with more lines than points, lines are rows.
    """
    values = ordered(results.values)
    lines = [line.label for line in results.experiment.lines]
    if len(values) <= 1:
        value = values[0] if values else ""
        head = [metric.label, *(panel or "measured" for panel in results.panels)]
        rows = [[line, *(cell(results, panel, line, value, metric) for panel in results.panels)] for line in lines]
        yield from markdown(head, [row for row in rows if any(row[1:])])
        return
    if len(results.panels) == 1 and len(lines) > len(values):
        yield from table(results, metric)
        return
    several = len(results.panels) > 1
    rows = []
    for panel in results.panels:
        named = panel
        for value in values:
            cells = [cell(results, panel, line, value, metric) for line in lines]
            if any(cells):
                rows.append([*([named] if several else []), value, *cells])
                named = ""  # said once for all of its rows
    wide = 1 + several
    there = [place for place in range(len(lines)) if any(row[wide + place] for row in rows)]
    axis = results.experiment.axis
    head = [*([""] if several else []), axis.label if axis else "", *(lines[place] for place in there)]
    yield from markdown(head, [[*row[:wide], *(row[wide + place] for place in there)] for row in rows])


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table, and the empty line after it."""
    yield "| " + " | ".join(map(text, head)) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(text, row)) + " |"
    yield ""


def text(words: str) -> str:
    """Return words with what would be taken for markup written so that it is not, outside of code."""
    parts = words.split("`")
    marks = str.maketrans({"<": "&lt;", "$": r"\$"})
    return "`".join(part if place % 2 else part.translate(marks) for place, part in enumerate(parts)).replace(
        "|", r"\|"
    )


def column(experiment: Experiment, value: str) -> str:
    """Return what a point of the axis is called."""
    return f"{experiment.axis.label} = {value}" if experiment.axis is not None else "measured"


def cell(results: Results, panel: str, line: str, value: str, metric: Metric) -> str:
    """Return mean and spread of one line at one point, with what the paper prints; empty where nothing is there."""
    mean, spread = middle(results.numbers(panel, line, value, metric.name))
    if not isfinite(mean):
        return ""
    words = shown(mean, metric)
    if spread:
        words += f" ± {shown(spread, metric)}"
    if line in best(results, metric, panel, value):
        words = f"**{words}**"
    printed = results.experiment.printed.get((panel, line, value, metric.name))
    return words if printed is None else f"{words} (paper: {printed:g})"
