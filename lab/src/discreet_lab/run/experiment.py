"""What an experiment is: plain values that say what is compared, where, over what, and by which measure.

An experiment is a figure or a table of a paper: lines (mechanisms, protocols, comparators with settings) over data
sets and over the values of one parameter. Nothing is run here; `runner` does, and `pages` shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.errors import MisuseError

# How much the quick setting does: repeats, and points of an axis.
QUICK_REPEATS, QUICK_POINTS = 3, 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """A data set of an experiment, and what is asked about it alone.

    Parameters
    ----------
    name
        One of :func:`discreet_lab.data.datasets.names`, or the path of a file.
    label
        What figures call it; a part of a set or a resampled one says so.
    people
        To how many people it is resampled; None leaves it as it is.
    asked
        What is asked about this set and not about others, such as a threshold.
    settings
        Settings for this set by the name of what they are of, where a paper tunes them for each.
    values
        Values of the axis for this set, where they differ.
    reading
        For a file: what :func:`discreet.read` needs to know beside the path.
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
        """The label, with what was done to the data."""
        name = self.label or self.name
        if self.people is None:
            return name
        made = self.name.startswith(("made-up-", "quest-", "latent-"))
        return f"{name}, {self.people:,} people" if made else f"{name}, resampled to {self.people:,}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """One line of a figure or one row of a table.

    Parameters
    ----------
    label
        What figures call it.
    name
        A mechanism, a protocol or an oracle of the registry, or what the measure of the experiment knows by this name.
    settings
        Its settings.
    asked
        What is asked of this line and not of others, such as the neighbours.
    cheats
        Whether it is told what nobody may know: it is shown beside the others, and never called the best.
    """

    label: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)
    cheats: bool = False


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What a figure is drawn over: a keyword of the question, or ``settings.NAME`` for a setting of every line."""

    of: str
    label: str
    values: tuple[Any, ...]
    logarithmic: bool = False

    def points(self, quick: bool, values: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """Return the values that are run: all of them, or the first, the middle and the last."""
        every = self.values if values is None else values
        if not quick or len(every) <= QUICK_POINTS:
            return every
        return every[0], every[len(every) // 2], every[-1]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number that the measure of an experiment gives, and how it is shown; a share is drawn from 0 to 1."""

    name: str
    label: str
    share: bool = False
    logarithmic: bool = False
    digits: int = 2


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What a line should reach at one point, in the mean over repeats: at most this, or at least that."""

    panel: str
    line: str
    value: str
    metric: str
    at_most: float | None = None
    at_least: float | None = None

    def gap(self, reached: float) -> float:
        """Return how far what was reached is from the goal; nothing is left where it is 0."""
        if self.at_most is not None:
            return max(0.0, reached - self.at_most)
        return max(0.0, (self.at_least or 0.0) - reached)

    def __str__(self) -> str:
        return f"at most {self.at_most:g}" if self.at_most is not None else f"at least {self.at_least:g}"


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure or a table, complete.

    Parameters
    ----------
    name
        What it is called: ``"000-figure-4"``.
    paper
        The number of the paper; empty for our own.
    shows
        Which figure or table it stands for.
    title
        One line.
    says
        What the paper says it shows, in our words.
    data, lines, axis
        What is compared; without an axis there is one point.
    over
        A second parameter: a figure has a panel for each of its values.
    asked
        What is asked everywhere.
    measure
        The name of a measure of `measures`.
    metrics
        What is shown of what it gives.
    repeats
        How many seeds, from 0 on, the full setting runs. A formula needs one.
    differs
        What is not as in the paper: data, numbers, definitions.
    printed
        What the paper prints, by panel, line label, value (as text) and metric, where it prints numbers.
    goals
        What was set out to be reached.
    by_name
        Whether it is run only where it is named: it takes long, or may be run only once.
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
        """Return the same experiment on other data alone."""
        return replace(self, data=(data,), printed={}, goals=())

    def with_line(self, line: Line) -> Experiment:
        """Return the same experiment with one more line."""
        return replace(self, lines=(*self.lines, line))

    def cells(self, quick: bool) -> Iterator[Cell]:
        """Yield everything that is to be run, the cells of one data set one after the other."""
        repeats = min(self.repeats, QUICK_REPEATS) if quick else self.repeats
        for data in self.data or (None,):
            for panel in self.over.points(quick) if self.over else (None,):
                for line in self.lines:
                    for value in self._values(quick, data):
                        asked = dict(self.asked) | dict(data.asked if data else {}) | dict(line.asked)
                        settings = dict(data.settings.get(line.name, {}) if data else {}) | dict(line.settings)
                        for axis, point in ((self.over, panel), (self.axis, value)):
                            if axis is not None:
                                where, _, setting = axis.of.partition(".")
                                if where == "settings":
                                    settings[setting] = point
                                else:
                                    asked[where] = point
                        yield Cell(
                            experiment=self,
                            data=data,
                            panel=self._panel(data, panel),
                            line=replace(line, settings=settings, asked={}),
                            value="" if value is None else str(value),
                            asked=asked,
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
    """One line at one point of one panel: what is run once for every seed."""

    experiment: Experiment
    data: Data | None
    panel: str
    line: Line
    value: str
    asked: Mapping[str, Any]
    seeds: range

    def __str__(self) -> str:
        where = f" on {self.panel}" if self.panel else ""
        at = f" at {self.experiment.axis.of} = {self.value}" if self.experiment.axis else ""
        return f"{self.experiment.name}: {self.line.label}{where}{at}"
