"""A researcher's own data, points of an axis, and mechanisms or protocols in an experiment of a paper.

An experiment that cannot run that way is refused here, before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, MisuseError

from ..measure.measures import CURATOR, comparators, load_baskets
from ..run.experiment import Cell, Data, Experiment, Line
from ..run.questions import ReleaseQuestion, SimulationQuestion
from .set_aside import DIGESTS, FOR_DEVICES

if TYPE_CHECKING:
    from discreet.baskets import Baskets
    from discreet.registry import Category, Entry

# Settings that define the wanted relations: equal for all lines, or the lines could not be compared.
_RELATION_SETTINGS = ("how", "items", "support")


def check_data(data: Data) -> None:
    """Check that data can be read and have an item."""
    load_baskets.cache_clear()  # the file may have changed since it was read
    if not _load_baskets(data).items:
        raise InputError(f"{data.name} has baskets and no item in any of them: give a file with items.")


def _load_baskets(data: Data) -> Baskets:
    """Return the baskets of a data set of an experiment."""
    return load_baskets(data.name, data.people, tuple(sorted(data.reading.items())))


def replace_data(experiment: Experiment, data: Data) -> Experiment:
    """Return an experiment on other data only.

    The points of the axis are the points of all data sets of the paper, if each has its own. Options for one data set
    are taken from the first set, as the label says. A data set of the experiment, by its name, keeps its own points and
    options.

    Parameters
    ----------
    experiment
        An experiment with data.
    data
        The new data.
    """
    if not experiment.data:
        raise MisuseError(f"{experiment.name} computes a formula and reads no data: run it without data of your own.")
    own_sets = [own_set for own_set in experiment.data if own_set.name == data.name]
    if own_sets:
        return replace(experiment, data=tuple(own_sets), goals=())
    if data.name in DIGESTS:
        experiment_name = "regret-devices-aside" if data.name in FOR_DEVICES else "regret-aside"
        raise MisuseError(f"{data.name} is set aside until constants are frozen: only {experiment_name} runs it, once.")
    _check_order(experiment, data)
    options = dict(experiment.data[0].asked)
    option_text = ", ".join(f"{word} = {value}" for word, value in options.items())
    label = f"{data.label or data.name} ({option_text})" if option_text else data.label
    values = None
    if experiment.axis is not None and not experiment.axis.values:
        values = tuple(sorted({value for own_set in experiment.data for value in own_set.values or ()}))
    return experiment.on(replace(data, label=label, asked=options, values=values))


def _check_order(experiment: Experiment, data: Data) -> None:
    """Check that the data have the pairs or the order of the experiment, and for devices one basket per person."""
    if _load_baskets(data).has_receipts and experiment.measure not in CURATOR:
        raise MisuseError.format(
            "{name} compares what devices find with the truth, and these people have several baskets each, of "
            "which a device answers for one: read them without {basket=}.",
            name=experiment.name,
        )
    relation_kinds = {line.settings["how"] for line in experiment.lines if "how" in line.settings}
    baskets = _load_baskets(data)
    if "given" in relation_kinds and baskets.pairs is None:
        raise MisuseError.format(
            "{name} is about pairs, and these data have none: give {pair=}, two columns of items.",
            name=experiment.name,
        )
    if "after" in relation_kinds and baskets.sequences is None:
        raise MisuseError.format(
            "{name} is about the order of items, and these data have none: give {time=}, a column of times, or "
            "{ordered=True}.",
            name=experiment.name,
        )


def replace_points(experiment: Experiment, points: Sequence[str]) -> Experiment:
    """Return an experiment over other points of its axis.

    Parameters
    ----------
    experiment
        An experiment with an axis.
    points
        The points as text.
    """
    if experiment.axis is None:
        raise MisuseError(f"{experiment.name} has no axis: run it without values of your own.")
    paper_values = (*experiment.axis.values, *(value for data in experiment.data for value in data.values or ()))
    value_type = type(paper_values[0])
    if experiment.axis.of == "question":
        parse = SimulationQuestion.parse if experiment.measure == "regret-devices" else ReleaseQuestion.parse
        return _replace_values(experiment, tuple(dict.fromkeys(str(parse(point)) for point in points)))
    try:
        for point in points:
            Fraction(point)
        values = tuple(dict.fromkeys(value_type(point) for point in points))
    except (ValueError, ZeroDivisionError):
        example = ",".join(map(str, paper_values[:2]))
        raise MisuseError(
            f"The values of {experiment.name} are those of {experiment.axis.label}, such as {example}; "
            f"{','.join(points)} was given."
        ) from None
    return _replace_values(experiment, values)


def _replace_values(experiment: Experiment, values: tuple[Any, ...]) -> Experiment:
    """Return an experiment with new values of its axis, for all data sets, without goals."""
    axis = None if experiment.axis is None else replace(experiment.axis, values=values)
    data = tuple(replace(data_set, values=None) for data_set in experiment.data)
    return replace(experiment, axis=axis, data=data, goals=())


def add_line(experiment: Experiment, name: str) -> Experiment:
    """Return an experiment with one more line: a mechanism or protocol of the registry with default settings.

    The options of its question are the options that all lines of the registry share. If lines differ in their
    neighbours, its label names its own.

    Parameters
    ----------
    experiment
        An experiment that compares mechanisms or protocols.
    name
        The name of the mechanism or protocol.
    """
    if experiment.measure in ("formula", "from-data"):
        raise MisuseError(f"{experiment.name} computes formulas: neither mechanisms nor protocols can be added to it.")
    registry_lines = [line for line in experiment.lines if line.name not in comparators()]
    options = _find_shared([dict(line.asked) for line in registry_lines])
    settings: dict[str, Any] = {}
    entry = _find_entry(experiment, name)
    if experiment.measure in ("relations", "overhead"):
        shared_settings = _find_shared([dict(line.settings) for line in registry_lines])
        settings = {
            word: shared_settings[word]
            for word in _RELATION_SETTINGS
            if word in shared_settings and word in entry.settings
        }
    line = Line(label=_choose_label(experiment, name, options), name=name, settings=settings, asked=options)
    extended = experiment.with_line(line)
    first_cell = next(cell for cell in extended.cells(quick=False) if cell.line.label == line.label)
    try:
        _check_line(entry, first_cell)
    except MisuseError as error:
        raise MisuseError.format(
            "{name} cannot be added to {experiment}: {why}", name=name, experiment=experiment.name, why=error
        ) from error
    return extended


def _find_entry(experiment: Experiment, name: str) -> Entry:
    """Return the registry entry of a name, of the kind that the experiment compares."""
    from discreet.registry import entry, mechanisms, protocols

    names_of_kind = {"mechanism": mechanisms(), "protocol": protocols()}
    compared_kind: Category = "mechanism" if experiment.measure in CURATOR else "protocol"
    for kind, known_names in names_of_kind.items():
        if kind != compared_kind and name in known_names and name not in names_of_kind[compared_kind]:
            raise MisuseError(
                f"{name} is a {kind}, and {experiment.name} compares {compared_kind}s: add one of those to it."
            )
    return entry(name, compared_kind)


def _find_shared(mappings: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the entries that all mappings have in common."""
    if not mappings:
        return {}
    return {key: value for key, value in mappings[0].items() if all(mapping.get(key) == value for mapping in mappings)}


def _choose_label(experiment: Experiment, name: str, options: dict[str, Any]) -> str:
    """Return a label for a new line, different from all labels of the experiment."""
    label = name
    if any("neighbours" in line.asked for line in experiment.lines):
        label += ", " + str(options.get("neighbours", "add-remove")).replace("-", "/")
    used_labels = {line.label for line in experiment.lines}
    return f"{label}, added" if label in used_labels else label


def _check_line(entry: Entry, cell: Cell) -> None:
    """Check that a line can run: its settings exist, and it answers the question."""
    settings = dict(cell.line.settings)
    if "theta" in cell.asked:
        settings["theta"] = (cell.asked["theta"], cell.asked["theta"])
    built = entry.make(settings)
    if cell.experiment.measure == "release":
        target = "top" if "top" in cell.asked else "threshold"
        if target not in entry.answers:
            raise MisuseError(f"it answers {' and '.join(entry.answers)}, and {target} is asked.")
        if entry.kind.delta and "delta" not in cell.asked:
            raise MisuseError("it needs a delta, and none is given.")
    elif cell.experiment.measure == "regret":
        if not {"top", "threshold"} & set(entry.answers):
            raise MisuseError(f"it answers {' and '.join(entry.answers)}, and top or threshold is asked.")
    elif (cell.experiment.measure not in ("simulation", "regret-devices")) != hasattr(built, "how"):
        result_kind = "relations" if hasattr(built, "how") else "patterns"
        raise MisuseError(f"it finds {result_kind}, and others are wanted.")
