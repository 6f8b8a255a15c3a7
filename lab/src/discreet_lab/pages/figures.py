"""Figures in the manner of the papers: a panel a data set, a line a mechanism, a band for the spread over runs.

They are SVG, drawn by `drawing` without any other package; browsers and editors make pictures of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from discreet.errors import MisuseError

from ..measure.spread import middle
from ..run.experiment import Metric
from ..run.runner import Results
from .drawing import Curve, FigureChart, Group, Panel, draw_svg


def draw(results: Results, metric: Metric, path: Path) -> Path:
    """Draw one number of an experiment over its axis, and write it as SVG.

    Parameters
    ----------
    results
        What an experiment gave.
    metric
        Which number.
    path
        Where the figure goes.
    """
    experiment = results.experiment
    panels = tuple(panel_of(results, panel, metric) for panel in results.panels or ("",))
    chart = FigureChart(
        name=path.stem,
        title=f"{experiment.shows}, {experiment.title}: {metric.label}",
        groups=(Group(panels=tuple(panel for panel in panels if panel.curves) or panels[:1]),),
    )
    return write_chart(chart, path)


def write_chart(chart: FigureChart, path: Path) -> Path:
    """Write a figure as SVG."""
    if path.suffix != ".svg":
        raise MisuseError(f"Figures are written as .svg, not as {path.name}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw_svg(chart), encoding="utf-8")
    return path


def panel_of(
    results: Results, panel: str, metric: Metric, *, lines: Sequence[str] | None = None, title: str | None = None
) -> Panel:
    """Return a panel of one number of an experiment.

    Parameters
    ----------
    results, panel, metric
        What an experiment gave, where, and which number of it.
    lines
        The labels of the lines that are drawn, each in the style of its place here; all by default.
    title
        What stands above it; the name of the panel by default.
    """
    axis = results.experiment.axis
    labels = [line.label for line in results.experiment.lines] if lines is None else lines
    places, numbers = _places(results.values)
    curves, seen = [], set()
    for style, label in enumerate(labels):
        points = []
        for value, place in places.items():
            mean, spread = middle(results.numbers(panel, label, value, metric.name))
            if isfinite(mean):
                points.append((place, mean, spread))
                seen.add(value)
        if points:
            curves.append(Curve(label=label.replace("`", ""), style=style, points=tuple(points)))
    return Panel(
        title=panel if title is None else title,
        across=axis.label if axis is not None else "",
        up=metric.label,
        curves=tuple(curves),
        marks=tuple((place, value) for value, place in places.items() if value in seen),
        share=metric.share,
        logarithmic=axis is not None and axis.logarithmic and numbers,
        logarithmic_up=metric.logarithmic,
        joined=numbers,
    )


def _places(values: Sequence[str]) -> tuple[dict[str, float], bool]:
    """Return where each value stands, and whether that is at its number or one after the other."""
    try:
        return {value: float(value) for value in sorted(values, key=float)}, True
    except ValueError:
        return {value: float(place) for place, value in enumerate(values)}, False
