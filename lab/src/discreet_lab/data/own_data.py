"""What a researcher brings along: data in place of a paper's, other points of an axis, one more mechanism or protocol.

What cannot be run that way is refused here, once and before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, MisuseError

from ..measure.measures import CURATOR, comparators, loaded
from ..run.experiment import Cell, Data, Experiment, Line
from ..run.questions import ReleaseQuestion, SimulationQuestion
from .set_aside import DIGESTS, FOR_DEVICES

if TYPE_CHECKING:
    from discreet.baskets import Baskets
    from discreet.registry import Entry, What

# The settings that say which relations are wanted: equal for all lines, or they could not be compared.
_WANTED = ("how", "items", "support")


def check_data(data: Data) -> None:
    """Refuse data that cannot be read or have nothing in them."""
    loaded.cache_clear()  # what was read from this path before may have changed since
    if not _baskets(data).items:
        raise InputError(f"{data.name} has baskets and no item in any of them: give a file with items.")


def _baskets(data: Data) -> Baskets:
    return loaded(data.name, data.people, tuple(sorted(data.reading.items())))


def on_data(experiment: Experiment, data: Data) -> Experiment:
    """Return the same experiment on other data alone.

    Where every set of the paper has points of its own, all of them are taken; and what is asked about each set alone
    is asked as about the first of them, which the label says. One of its own sets, by its name, is left as it is.

    Parameters
    ----------
    experiment
        One that has data.
    data
        What takes their place.
    """
    if not experiment.data:
        raise MisuseError(f"{experiment.name} computes a formula and reads no data: run it without data of your own.")
    own = [one for one in experiment.data if one.name == data.name]
    if own:
        return replace(experiment, data=tuple(own), goals=())
    if data.name in DIGESTS:
        who = "regret-devices-aside" if data.name in FOR_DEVICES else "regret-aside"
        raise MisuseError(f"{data.name} is set aside until constants are frozen: only {who} runs it, once.")
    _check_order(experiment, data)
    asked = dict(experiment.data[0].asked)
    told = ", ".join(f"{word} = {value}" for word, value in asked.items())
    label = f"{data.label or data.name} ({told})" if told else data.label
    values = None
    if experiment.axis is not None and not experiment.axis.values:
        values = tuple(sorted({value for one in experiment.data for value in one.values or ()}))
    return experiment.on(replace(data, label=label, asked=asked, values=values))


def _check_order(experiment: Experiment, data: Data) -> None:
    """Refuse data without the pairs or the order that the experiment is about, and several baskets for devices."""
    if _baskets(data).several and experiment.measure not in CURATOR:
        raise MisuseError.format(
            "{name} compares what devices find with the truth, and these people have several baskets each, of "
            "which a device answers for one: read them without {basket=}.",
            name=experiment.name,
        )
    hows = {line.settings["how"] for line in experiment.lines if "how" in line.settings}
    baskets = _baskets(data)
    if "given" in hows and baskets.pairs is None:
        raise MisuseError.format(
            "{name} is about pairs, and these data have none: give {pair=}, two columns of items.", name=experiment.name
        )
    if "after" in hows and baskets.sequences is None:
        raise MisuseError.format(
            "{name} is about the order of items, and these data have none: give {time=}, a column of times, or "
            "{ordered=True}.",
            name=experiment.name,
        )


def at_points(experiment: Experiment, points: Sequence[str]) -> Experiment:
    """Return the same experiment over other points of its axis.

    Parameters
    ----------
    experiment
        One that has an axis.
    points
        As they are typed.
    """
    if experiment.axis is None:
        raise MisuseError(f"{experiment.name} has no axis: run it without values of your own.")
    usual = (*experiment.axis.values, *(value for one in experiment.data for value in one.values or ()))
    kind = type(usual[0])
    if experiment.axis.of == "question":
        read = SimulationQuestion.parse if experiment.measure == "regret-devices" else ReleaseQuestion.parse
        return _over(experiment, tuple(dict.fromkeys(str(read(point)) for point in points)))
    try:
        for point in points:
            Fraction(point)
        values = tuple(dict.fromkeys(kind(point) for point in points))
    except (ValueError, ZeroDivisionError):
        example = ",".join(map(str, usual[:2]))
        raise MisuseError(
            f"The values of {experiment.name} are those of {experiment.axis.label}, such as {example}; "
            f"{','.join(points)} was given."
        ) from None
    return _over(experiment, values)


def _over(experiment: Experiment, values: tuple[Any, ...]) -> Experiment:
    axis = None if experiment.axis is None else replace(experiment.axis, values=values)
    data = tuple(replace(one, values=None) for one in experiment.data)
    return replace(experiment, axis=axis, data=data, goals=())


def with_line(experiment: Experiment, name: str) -> Experiment:
    """Return the same experiment with one more line: a mechanism or protocol of the registry, as it is by default.

    It is asked what all lines of the registry are asked. Where lines are compared under different relations of
    neighbours, its label says which is its own.

    Parameters
    ----------
    experiment
        One whose lines are mechanisms or protocols.
    name
        What is added.
    """
    if experiment.measure in ("formula", "from-data"):
        raise MisuseError(f"{experiment.name} computes formulas: neither mechanisms nor protocols can be added to it.")
    beside = [line for line in experiment.lines if line.name not in comparators()]
    asked = _shared([dict(line.asked) for line in beside])
    settings: dict[str, Any] = {}
    entry = _entry(experiment, name)
    if experiment.measure in ("relations", "overhead"):
        shared = _shared([dict(line.settings) for line in beside])
        settings = {word: shared[word] for word in _WANTED if word in shared and word in entry.settings}
    line = Line(label=_label(experiment, name, asked), name=name, settings=settings, asked=asked)
    added = experiment.with_line(line)
    first = next(cell for cell in added.cells(quick=False) if cell.line.label == line.label)
    try:
        _check(entry, first)
    except MisuseError as error:
        raise MisuseError.format(
            "{name} cannot be added to {experiment}: {why}", name=name, experiment=experiment.name, why=error
        ) from error
    return added


def _entry(experiment: Experiment, name: str) -> Entry:
    """Return what the registry has of that name, of the side that the experiment is about."""
    from discreet.registry import entry, mechanisms, protocols

    rooms = {"mechanism": mechanisms(), "protocol": protocols()}
    wanted: What = "mechanism" if experiment.measure in CURATOR else "protocol"
    for what, known in rooms.items():
        if what != wanted and name in known and name not in rooms[wanted]:
            raise MisuseError(f"{name} is a {what}, and {experiment.name} compares {wanted}s: add one of those to it.")
    return entry(name, wanted)


def _shared(several: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what all of them say alike."""
    if not several:
        return {}
    return {word: value for word, value in several[0].items() if all(one.get(word) == value for one in several)}


def _label(experiment: Experiment, name: str, asked: dict[str, Any]) -> str:
    label = name
    if any("neighbours" in line.asked for line in experiment.lines):
        label += ", " + str(asked.get("neighbours", "add-remove")).replace("-", "/")
    taken = {line.label for line in experiment.lines}
    return f"{label}, added" if label in taken else label


def _check(entry: Entry, cell: Cell) -> None:
    """Refuse what could be run at no point: a setting that there is not, a question that is not answered."""
    settings = dict(cell.line.settings)
    if "theta" in cell.asked:
        settings["theta"] = (cell.asked["theta"], cell.asked["theta"])
    made = entry.make(settings)
    if cell.experiment.measure == "release":
        wanted = "top" if "top" in cell.asked else "threshold"
        if wanted not in entry.answers:
            raise MisuseError(f"it answers {' and '.join(entry.answers)}, and {wanted} is asked.")
        if entry.kind.delta and "delta" not in cell.asked:
            raise MisuseError("it needs a delta, and none is given.")
    elif cell.experiment.measure == "regret":
        if not {"top", "threshold"} & set(entry.answers):
            raise MisuseError(f"it answers {' and '.join(entry.answers)}, and top or threshold is asked.")
    elif (cell.experiment.measure not in ("simulation", "regret-devices")) != hasattr(made, "how"):
        found = "relations" if hasattr(made, "how") else "patterns"
        raise MisuseError(f"it finds {found}, and others are wanted.")
