"""Markdown tables of results: mean and spread, printed numbers of the paper, the best line in bold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from ..measure.order import find_best, sort_values
from ..measure.spread import compute_mean, format_number
from ..run.experiment import Experiment, Metric
from ..run.runner import Results


def render_table(results: Results, metric: Metric) -> Iterator[str]:
    """Yield a table of one metric for a terminal: one row per line and data set, one column per point."""
    experiment = results.experiment
    values = sort_values(results.values)
    has_panels = len(results.panels) > 1
    head = [metric.label, *(name_column(experiment, value) for value in values)]
    rows = []
    for panel in results.panels:
        for line in experiment.lines:
            cells = [render_cell(results, panel, line.label, value, metric) for value in values]
            if any(cells):
                rows.append([*([panel] if has_panels else []), line.label, *cells])
    yield from render_markdown(["", *head] if has_panels else head, rows)


def render_comparison(results: Results, metric: Metric) -> Iterator[str]:
    """Yield a table of one metric with one column per line and one row per point.

    Lines are rows for a single point, or one panel with more lines than points.
    """
    values = sort_values(results.values)
    lines = [line.label for line in results.experiment.lines]
    if len(values) <= 1:
        value = values[0] if values else ""
        head = [metric.label, *(panel or "measured" for panel in results.panels)]
        rows = [
            [line, *(render_cell(results, panel, line, value, metric) for panel in results.panels)] for line in lines
        ]
        yield from render_markdown(head, [row for row in rows if any(row[1:])])
        return
    if len(results.panels) == 1 and len(lines) > len(values):
        yield from render_table(results, metric)
        return
    has_panels = len(results.panels) > 1
    rows = []
    for panel in results.panels:
        panel_label = panel
        for value in values:
            cells = [render_cell(results, panel, line, value, metric) for line in lines]
            if any(cells):
                rows.append([*([panel_label] if has_panels else []), value, *cells])
                panel_label = ""  # only the first row of a panel names it
    label_columns = 1 + has_panels
    used_lines = [place for place in range(len(lines)) if any(row[label_columns + place] for row in rows)]
    axis = results.experiment.axis
    head = [*([""] if has_panels else []), axis.label if axis else "", *(lines[place] for place in used_lines)]
    yield from render_markdown(
        head, [[*row[:label_columns], *(row[label_columns + place] for place in used_lines)] for row in rows]
    )


def render_markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table, and an empty line."""
    yield "| " + " | ".join(map(escape_markdown, head)) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(escape_markdown, row)) + " |"
    yield ""


def escape_markdown(text: str) -> str:
    """Return text with markup characters escaped, except within code."""
    parts = text.split("`")
    marks = str.maketrans({"<": "&lt;", "$": r"\$"})
    return "`".join(part if place % 2 else part.translate(marks) for place, part in enumerate(parts)).replace(
        "|", r"\|"
    )


def name_column(experiment: Experiment, value: str) -> str:
    """Return the heading of a point of the axis."""
    return f"{experiment.axis.label} = {value}" if experiment.axis is not None else "measured"


def render_cell(results: Results, panel: str, line: str, value: str, metric: Metric) -> str:
    """Return the mean and spread of one line at one point, with the printed number; empty without results."""
    mean, spread = compute_mean(results.numbers(panel, line, value, metric.name))
    if not isfinite(mean):
        return ""
    text = format_number(mean, metric)
    if spread:
        text += f" ± {format_number(spread, metric)}"
    if line in find_best(results, metric, panel, value):
        text = f"**{text}**"
    printed = results.experiment.printed.get((panel, line, value, metric.name))
    return text if printed is None else f"{text} (paper: {printed:g})"
