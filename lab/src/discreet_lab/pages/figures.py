"""Figures in the style of the papers: one panel per data set, one line per mechanism, a band for the spread.

`drawing` draws them as SVG without any other package.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from discreet.errors import MisuseError

from ..measure.spread import compute_mean
from ..run.experiment import Metric
from ..run.runner import Results
from .drawing import Curve, FigureChart, Group, Panel, draw_svg


def draw_metric(results: Results, metric: Metric, path: Path) -> Path:
    """Draw one metric of an experiment over its axis, write it as SVG, and return the path.

    Parameters
    ----------
    results
        The results of an experiment.
    metric
        The metric.
    path
        The path of the figure.
    """
    experiment = results.experiment
    panels = tuple(build_panel(results, panel, metric) for panel in results.panels or ("",))
    chart = FigureChart(
        name=path.stem,
        title=f"{experiment.shows}, {experiment.title}: {metric.label}",
        groups=(Group(panels=tuple(panel for panel in panels if panel.curves) or panels[:1]),),
    )
    return write_chart(chart, path)


def write_chart(chart: FigureChart, path: Path) -> Path:
    """Write a figure as SVG, and return its path."""
    if path.suffix != ".svg":
        raise MisuseError(f"Figures are written as .svg, not as {path.name}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw_svg(chart), encoding="utf-8")
    return path


def build_panel(
    results: Results, panel: str, metric: Metric, *, lines: Sequence[str] | None = None, title: str | None = None
) -> Panel:
    """Return a panel of one metric of an experiment.

    Parameters
    ----------
    results, panel, metric
        The results of an experiment, the label of the panel, and the metric.
    lines
        The labels of the lines to draw, each in the style of its place here; by default all lines.
    title
        The text above the panel; by default its label.
    """
    axis = results.experiment.axis
    labels = [line.label for line in results.experiment.lines] if lines is None else lines
    positions, is_numeric = _find_positions(results.values)
    curves, used_values = [], set()
    for style, label in enumerate(labels):
        points = []
        for value, position in positions.items():
            mean, spread = compute_mean(results.numbers(panel, label, value, metric.name))
            if isfinite(mean):
                points.append((position, mean, spread))
                used_values.add(value)
        if points:
            curves.append(Curve(label=label.replace("`", ""), style=style, points=tuple(points)))
    return Panel(
        title=panel if title is None else title,
        across=axis.label if axis is not None else "",
        up=metric.label,
        curves=tuple(curves),
        marks=tuple((position, value) for value, position in positions.items() if value in used_values),
        share=metric.share,
        logarithmic=axis is not None and axis.logarithmic and is_numeric,
        logarithmic_up=metric.logarithmic,
        joined=is_numeric,
    )


def _find_positions(values: Sequence[str]) -> tuple[dict[str, float], bool]:
    """Return the position of each value, and whether positions are numbers, and not places in order."""
    try:
        return {value: float(value) for value in sorted(values, key=float)}, True
    except ValueError:
        return {value: float(position) for position, value in enumerate(values)}, False
