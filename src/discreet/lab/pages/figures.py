"""Figures in the manner of the papers: a panel a data set, a line a mechanism, a band for the spread over runs.

SVG is drawn here (`drawing`) and needs nothing else; PNG needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite
from pathlib import Path
from typing import Any

from ...errors import MisuseError
from ..measure.spread import middle
from ..run.experiment import Metric
from ..run.runner import Results
from .drawing import COLOURS, Curve, FigureChart, Group, Panel, draw_svg

_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def draw(results: Results, metric: Metric, path: Path) -> Path:
    """Draw one number of an experiment over its axis, and write it as SVG or PNG, by the ending of `path`.

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
    """Write a figure as SVG or PNG, by the ending of `path`."""
    if path.suffix not in (".svg", ".png"):
        raise MisuseError(f"Figures are written as .svg or .png, not as {path.name}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".svg":
        path.write_text(draw_svg(chart), encoding="utf-8")
    else:
        _write_png(chart, path)
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


def _write_png(chart: FigureChart, path: Path) -> None:
    pyplot = _pyplot()
    columns = min(chart.columns, max(len(group.panels) for group in chart.groups))
    heights = [2.5 * ceil(len(group.panels) / columns) + 0.8 for group in chart.groups]
    figure = pyplot.figure(figsize=(0.6 + 3.4 * columns, sum(heights)), layout="constrained")
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, group in zip(parts, chart.groups, strict=True):
        axes = part.subplots(ceil(len(group.panels) / columns), columns, squeeze=False)
        for spare in axes.flat[len(group.panels) :]:
            spare.set_visible(False)
        for axis, panel in zip(axes.flat, group.panels, strict=False):
            _draw_panel(axis, panel)
        if group.heading:
            part.suptitle(group.heading)
        shown = [_mark(pyplot, style, label) for style, label in group.legend]
        part.legend(handles=shown, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _look(style: int) -> dict[str, Any]:
    return {
        "color": COLOURS[style % len(COLOURS)],
        "marker": _MARKS[style % len(_MARKS)],
        "linestyle": "-" if style < len(COLOURS) else "--",
        "markersize": 4,
        "linewidth": 1.2,
    }


def _mark(pyplot: Any, style: int, label: str) -> Any:
    return pyplot.Line2D([], [], label=label, **_look(style))


def _draw_panel(axis: Any, panel: Panel) -> None:
    for number, curve in enumerate(panel.curves):
        across, means, spreads = zip(*curve.points, strict=True)
        look = _look(curve.style)
        if panel.joined:
            axis.plot(across, means, **look)
            low = [mean - spread for mean, spread in zip(means, spreads, strict=True)]
            high = [mean + spread for mean, spread in zip(means, spreads, strict=True)]
            axis.fill_between(across, low, high, color=look["color"], alpha=0.12, linewidth=0)
        else:
            aside = 0.08 * (number - (len(panel.curves) - 1) / 2)
            axis.errorbar([place + aside for place in across], means, yerr=spreads, **look | {"linestyle": ""})
    axis.set_title(panel.title, fontsize=9)
    axis.set_xlabel(panel.across)
    axis.set_ylabel(panel.up.partition(",")[0])
    first, last = panel.up_marks[0], panel.up_marks[-1]
    if panel.logarithmic_up:
        axis.set_yscale("log")
        axis.set_ylim(first, last)
    else:
        room = 0.03 * (last - first)  # for the marks of points at the two ends
        axis.set_ylim(first - room, last + room)
    if panel.logarithmic:
        axis.set_xscale("log")
    axis.set_xticks([place for place, _ in panel.marks], [text for _, text in panel.marks], fontsize=8)
    axis.minorticks_off()
    axis.grid(alpha=0.25, linewidth=0.5)


def _pyplot() -> Any:
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise MisuseError("Figures as PNG need matplotlib: pip install 'discreet[lab]'. SVG needs nothing.") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    pyplot.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    return pyplot
