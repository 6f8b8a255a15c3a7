"""Figures in the manner of the papers: a panel a data set, a line a mechanism, a band for the spread over runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil, isfinite
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from ..errors import MisuseError
from .experiment import Metric
from .running import Results

# Colours that are told apart by people who see colours differently (Okabe and Ito), and by their marks in print.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_COLUMNS = 3


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
    pyplot = _pyplot()
    panels = results.panels or ("",)
    columns = min(len(panels), _COLUMNS)
    height = ceil(len(panels) / columns)
    figure, axes = pyplot.subplots(height, columns, figsize=(0.6 + 3.4 * columns, 2.5 * height + 0.9), squeeze=False)
    for spare in axes.flat[len(panels) :]:
        spare.set_visible(False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        _panel(axis, results, panel, metric)
    for axis in axes[:, 0]:
        axis.set_ylabel(metric.label)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=min(4, len(labels)), frameon=False, fontsize=8)
    lines = ceil(len(labels) / 4)
    figure.tight_layout(rect=(0, 0.16 * lines / (2.5 * height + 0.9) + 0.02, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else {}, dpi=150)
    pyplot.close(figure)
    if path.suffix == ".svg":
        path.write_text(_squeezed(path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def _squeezed(text: str) -> str:
    """Return a drawing without what nobody sees: digits beyond a tenth of a point, names of groups, blanks."""
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"-?\d+\.\d{2,}(?=[ ,)\"LMCz\n])", lambda found: f"{float(found[0]):.1f}", text)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r' ?\n(?=[LMCQz"])', "", text)
    return re.sub(r"\n\s+", "\n", text)


def _panel(axis: Any, results: Results, panel: str, metric: Metric) -> None:
    experiment = results.experiment
    values = results.values
    places = _places(values)
    for number, line in enumerate(experiment.lines):
        points = [(place, results.numbers(panel, line.label, value, metric.name)) for value, place in places.items()]
        drawn = [(place, *middle(found)) for place, found in points if any(map(isfinite, found))]
        if not drawn:
            continue
        across, means, spreads = zip(*drawn, strict=True)
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        style = "-" if number < len(COLOURS) else "--"
        axis.plot(
            across,
            means,
            style,
            color=colour,
            marker=mark,
            markersize=4,
            linewidth=1.2,
            label=line.label.replace("`", ""),
        )
        low = [mean - spread for mean, spread in zip(means, spreads, strict=True)]
        high = [mean + spread for mean, spread in zip(means, spreads, strict=True)]
        if not metric.logarithmic:
            axis.fill_between(across, low, high, color=colour, alpha=0.12, linewidth=0)
    axis.set_title(panel, fontsize=9)
    if metric.logarithmic:
        axis.set_yscale("log")
    if metric.share:
        axis.set_ylim(-0.03, 1.03)
    if experiment.axis is not None:
        axis.set_xlabel(experiment.axis.label)
        if experiment.axis.logarithmic:
            axis.set_xscale("log")
        axis.set_xticks(list(places.values()), list(places), fontsize=8)
        axis.minorticks_off()
    axis.grid(alpha=0.25, linewidth=0.5)


def _places(values: Sequence[str]) -> dict[str, float]:
    """Return where each value stands: at its number, or one after the other where it is none."""
    try:
        return {value: float(value) for value in values}
    except ValueError:
        return {value: float(place) for place, value in enumerate(values)}


def middle(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation of the numbers that are there."""
    there = [number for number in numbers if isfinite(number)]
    if not there:
        return float("nan"), 0.0
    return fmean(there), stdev(there) if len(there) > 1 else 0.0


def _pyplot() -> Any:
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise MisuseError("Figures need matplotlib: pip install 'discreet[lab]'.") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    pyplot.rcParams.update(
        {
            "svg.hashsalt": "discreet",
            "svg.fonttype": "none",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    return pyplot
