"""Experiments: plain values that say which lines are compared, on which data, over which parameter, by which measure.

An experiment is a figure or a table of a paper: lines (mechanisms, protocols, comparators with settings) over data sets
and over the values of one parameter. `runner` runs it, and `pages` writes its tables and figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.errors import MisuseError

# The quick setting: the largest number of repeats, and of points of an axis. Three show a trend and a spread; more take
# longer.
QUICK_REPEATS, QUICK_POINTS = 3, 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """A data set of an experiment, and the options of the question for this data set only.

    Parameters
    ----------
    name
        A name of :func:`discreet_lab.data.datasets.names`, or the path of a file.
    label
        The name in figures; for a part of a data set or a resampled one, the label says so.
    people
        The number of people to resample to; None for no resampling.
    asked
        Options of the question for this data set only, such as a threshold.
    settings
        Settings for this data set, by the name of the line, for papers that tune them to each data set.
    values
        The values of the axis for this data set, if they differ.
    reading
        For a file: the options of :func:`discreet.read`.
    """

    name: str
    label: str = ""
    people: int | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    values: tuple[Any, ...] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The label, with the resampling."""
        name = self.label or self.name
        if self.people is None:
            return name
        is_generated = self.name.startswith(("made-up-", "quest-", "latent-"))
        return f"{name}, {self.people:,} people" if is_generated else f"{name}, resampled to {self.people:,}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """A line of a figure, or a row of a table.

    Parameters
    ----------
    label
        The name in figures.
    name
        A mechanism, a protocol or an oracle of the registry, or a name that the measure of the experiment defines.
    settings
        The settings of the mechanism or protocol.
    asked
        Options of the question for this line only, such as the neighbours.
    cheats
        Whether the line uses facts that a private method must not have: it is shown, and never called the best.
    """

    label: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)
    cheats: bool = False


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The parameter of a figure: an option of the question, or ``settings.NAME`` for a setting of all lines."""

    of: str
    label: str
    values: tuple[Any, ...]
    logarithmic: bool = False

    def points(self, quick: bool, values: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """Return the values to run: all values, or in the quick setting the first, the middle and the last."""
        points = self.values if values is None else values
        if not quick or len(points) <= QUICK_POINTS:
            return points
        return points[0], points[len(points) // 2], points[-1]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number that the measure of an experiment returns, and its format; a share is drawn from 0 to 1."""

    name: str
    label: str
    share: bool = False
    logarithmic: bool = False
    digits: int = 2


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A bound, at most or at least, on the mean of a metric of one line at one point."""

    panel: str
    line: str
    value: str
    metric: str
    at_most: float | None = None
    at_least: float | None = None

    def gap(self, mean: float) -> float:
        """Return the distance of a mean from the goal; 0 if the goal is reached."""
        if self.at_most is not None:
            return max(0.0, mean - self.at_most)
        return max(0.0, (self.at_least or 0.0) - mean)

    def __str__(self) -> str:
        return f"at most {self.at_most:g}" if self.at_most is not None else f"at least {self.at_least:g}"


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure or a table.

    Parameters
    ----------
    name
        The name of the experiment, such as ``"000-figure-4"``.
    paper
        The number of the paper; "ours" for experiments of our own.
    shows
        The figure or table of the paper, such as ``"Figure 4"``.
    title
        The title, one line.
    says
        The claim of the paper about the figure, in our words.
    data, lines, axis
        The data sets, the lines and the parameter; without an axis there is one point.
    over
        A second parameter: a figure has one panel for each of its values.
    asked
        The options of the question for all lines and data sets.
    measure
        The name of a measure of `measures`.
    metrics
        The numbers of the measure to show.
    repeats
        The number of seeds, from 0 on. A formula needs one.
    differs
        The differences from the paper: data, numbers, definitions.
    printed
        The numbers in the paper, by panel, line label, value (as text) and metric.
    goals
        The goals of the project.
    by_name
        Whether it runs only by its name: it takes long, or must run only once.
    """

    name: str
    paper: str
    shows: str
    title: str
    says: str
    data: tuple[Data, ...] = ()
    lines: tuple[Line, ...]
    axis: Axis | None = None
    over: Axis | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    measure: str
    metrics: tuple[Metric, ...]
    repeats: int = 10
    differs: str = ""
    printed: Mapping[tuple[str, str, str, str], float] = field(default_factory=dict)
    goals: tuple[Goal, ...] = ()
    by_name: bool = False

    def __post_init__(self) -> None:
        labels = [line.label for line in self.lines]
        if len(set(labels)) < len(labels):
            raise MisuseError(f"Two lines of the experiment {self.name} have the same label.")
        if not self.metrics or not self.lines:
            raise MisuseError(f"The experiment {self.name} has nothing to show: give it lines and metrics.")

    def on(self, data: Data) -> Experiment:
        """Return the experiment on one data set, without printed numbers and goals."""
        return replace(self, data=(data,), printed={}, goals=())

    def with_line(self, line: Line) -> Experiment:
        """Return the experiment with one more line."""
        return replace(self, lines=(*self.lines, line))

    def cells(self, quick: bool) -> Iterator[Cell]:
        """Yield the cells to run, grouped by data set."""
        repeats = min(self.repeats, QUICK_REPEATS) if quick else self.repeats
        for data in self.data or (None,):
            for panel in self.over.points(quick) if self.over else (None,):
                for line in self.lines:
                    for value in self._values(quick, data):
                        options = dict(self.asked) | dict(data.asked if data else {}) | dict(line.asked)
                        settings = dict(data.settings.get(line.name, {}) if data else {}) | dict(line.settings)
                        for axis, axis_value in ((self.over, panel), (self.axis, value)):
                            if axis is not None:
                                target, _, setting_name = axis.of.partition(".")
                                if target == "settings":
                                    settings[setting_name] = axis_value
                                else:
                                    options[target] = axis_value
                        yield Cell(
                            experiment=self,
                            data=data,
                            panel=self._panel(data, panel),
                            line=replace(line, settings=settings, asked={}),
                            value="" if value is None else str(value),
                            asked=options,
                            seeds=range(repeats),
                        )

    def _panel(self, data: Data | None, value: Any) -> str:
        parts = [data.shown if data else "", f"{self.over.label} = {value}" if self.over else ""]
        return ", ".join(part for part in parts if part)

    def _values(self, quick: bool, data: Data | None) -> tuple[Any, ...]:
        if self.axis is None:
            return (None,)
        return self.axis.points(quick, data.values if data else None)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A line at one point of one panel: it runs once for each seed."""

    experiment: Experiment
    data: Data | None
    panel: str
    line: Line
    value: str
    asked: Mapping[str, Any]
    seeds: range

    def __str__(self) -> str:
        panel_text = f" on {self.panel}" if self.panel else ""
        value_text = f" at {self.experiment.axis.of} = {self.value}" if self.experiment.axis else ""
        return f"{self.experiment.name}: {self.line.label}{panel_text}{value_text}"
