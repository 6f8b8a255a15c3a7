"""What is measured of one run: functions by name, each from a question, a line and a seed to numbers by name.

A measure knows how to run its lines: releases as trials with seeded noise, protocols by simulation, formulas as they
are. Data and truth are kept for the next run of the same process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Any, TypeAlias

from discreet.baskets import Baskets
from discreet.errors import MisuseError

from ..run.experiment import Cell, Data, Line

Numbers: TypeAlias = dict[str, float]
# The name of the data, to how many people they are resampled, and how a file is read.
DataKey: TypeAlias = tuple[str, int | None, tuple[tuple[str, Any], ...]]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run: a line, what is asked of it, the data it is asked about, and the seed."""

    line: Line
    asked: Mapping[str, Any]
    data: Data | None
    seed: int

    @property
    def baskets(self) -> Baskets:
        """The data; of a formula there are none."""
        return loaded(*data_key(self))


def data_key(run: Run) -> DataKey:
    """Return what tells the data of a run from others."""
    if run.data is None:
        raise MisuseError(f"{run.line.label} needs data, and the experiment names none.")
    return run.data.name, run.data.people, tuple(sorted(run.data.reading.items()))


@lru_cache(maxsize=2)
def loaded(name: str, people: int | None, reading: tuple[tuple[str, Any], ...] = ()) -> Baskets:
    """Return a data set by name, or a file by its path, resampled where that is asked."""
    from discreet.baskets import read, resample

    from ..data.datasets import load, names

    if name in names():
        return load(name, people=people)
    baskets = read(name, **dict(reading))
    return baskets if people is None else resample(baskets, people, 0)


@lru_cache(maxsize=64)
def _mined(data: DataKey, how: str, number: int, lengths: Any) -> dict[frozenset[Any], float]:
    """Return the true patterns with their counts."""
    from discreet.exact import mine

    asked: dict[str, Any] = {how: number}
    return dict(mine(loaded(*data), lengths=lengths, **asked).to_dict())


def truth(run: Run, how: str, number: int, lengths: Any) -> dict[frozenset[Any], float]:
    """Return the true patterns of the data of a run, by ``top`` or ``min_count``."""
    return _mined(data_key(run), how, number, tuple(lengths) if isinstance(lengths, list) else lengths)


def release(run: Run) -> Numbers:
    """Run a mechanism of the curator, and compare the patterns with the true ones.

    Asked with ``top`` or ``fraction`` (a support as a share of all people); ``told=True`` tells the number of frequent
    patterns to a mechanism that wants ``top``, as 002 does for its competitor, which nobody may do outside a lab (C15).
    ``scored`` are the lengths that are compared, where they are fewer than those that are looked for.
    """
    from discreet.exact import score
    from discreet.planning import trial

    asked, baskets = dict(run.asked), run.baskets
    told = asked.pop("told", False)
    lengths = asked.pop("scored", asked.get("lengths"))
    if "fraction" in asked:
        asked["min_count"] = ceil(asked.pop("fraction") * len(baskets))
    if asked.get("neighbours") != "replace":
        asked.setdefault("people", len(baskets))
    how, number = ("top", asked["top"]) if "top" in asked else ("min_count", asked["min_count"])
    wanted = truth(run, how, number, lengths)
    if told:
        del asked["min_count"]
        asked["top"] = len(wanted)
    if run.line.name in comparators():
        return _compared(run, asked, wanted, lengths)
    if run.line.settings:
        asked["settings"] = dict(run.line.settings)
    found = trial(baskets, seed=run.seed, items="public", mechanism=run.line.name, **asked)
    # What is over the top K counts for relative errors, so the truth about what was found is asked for as well.
    all_true = wanted | _counts(baskets, found.patterns)
    about = {how: number, "people": len(baskets), "lengths": _span(lengths)}
    return _scored(score(found.patterns, all_true, **about).to_dict(), found.patterns, all_true)


def _compared(run: Run, asked: Mapping[str, Any], wanted: Mapping[frozenset[Any], float], lengths: Any) -> Numbers:
    """Run what only the lab knows, and compare the patterns with the true ones."""
    from discreet.exact import score
    from discreet.privacy import exact
    from discreet.privacy.sampling import SimulationSource

    from ..comparators.comparator import Comparator, ComparatorTask

    how = comparators()[run.line.name](**run.line.settings)
    if not isinstance(how, Comparator):
        raise MisuseError(f"{run.line.name} is a protocol: measure it by simulation, not by release.")
    if "min_count" not in asked:
        raise MisuseError.format(
            "{name} finds patterns over a threshold: ask with fraction or {min_count}.", name=run.line.name
        )
    least, longest = _span(lengths) or (1, None)
    epsilon = exact(asked["epsilon"], "epsilon") if "epsilon" in asked else None
    question = ComparatorTask(count=asked["min_count"], least=least, longest=longest, epsilon=epsilon)
    answer = how.find(run.baskets, question, SimulationSource(run.seed))
    all_true = dict(wanted) | _counts(run.baskets, answer.counts)
    scores = score(answer.counts, all_true, min_count=asked["min_count"], people=len(run.baskets))
    return {name: float(value) for name, value in scores.to_dict().items()} | dict(answer.facts)


def _span(lengths: Any) -> tuple[int, int] | None:
    """Return lengths as the smallest and the largest."""
    from discreet.checks import parse_lengths

    return None if lengths is None else parse_lengths(lengths)


def simulation(run: Run) -> Numbers:
    """Run a local protocol, and compare the patterns with the true ones; ``least`` is the shortest that counts."""
    from discreet.exact import score
    from discreet.local.study import simulate

    asked, baskets = dict(run.asked), run.baskets
    least, most = asked.get("least", 1), asked.pop("longest", None)
    wanted = truth(run, "top", asked["top"], (least, most))
    asked.setdefault("speed", "aggregated")
    outcome = simulate(baskets, _protocol(run), seed=run.seed, **asked)
    all_true = wanted | _counts(baskets, outcome.patterns)
    scores = score(outcome.patterns, all_true, top=asked["top"], people=len(baskets)).to_dict()
    return _scored(scores, outcome.patterns, all_true)


def _protocol(run: Run) -> Any:
    """Return the protocol of a line with its settings, also one that only the lab runs."""
    from discreet.registry import protocol

    from ..run.questions import SimulationQuestion
    from .regret_devices import true_top

    if run.line.name == "reference":  # it is told the truth
        top, least, epsilon = run.asked["top"], run.asked.get("least", 1), str(run.asked["epsilon"])
        return true_top(data_key(run), SimulationQuestion(top=top, least=least, epsilon=epsilon))
    ours = comparators().get(run.line.name)
    return protocol(run.line.name, dict(run.line.settings)) if ours is None else ours(**run.line.settings)


def relations(run: Run) -> Numbers:
    """Run a protocol for relations, and compare them with the true ones.

    ``longest`` is 3 where relations ((a, b), c) are wanted too, of all lines; ``theta`` is the same in every round.
    """
    from discreet.exact import score_relations
    from discreet.local.study import simulate
    from discreet.registry import protocol

    asked, settings = {"speed": "aggregated"} | dict(run.asked), dict(run.line.settings)
    longest = asked.pop("longest", 2)
    if "theta" in asked:
        settings["theta"] = (asked["theta"], asked.pop("theta"))
    plan: Any = protocol(run.line.name, settings)
    if not hasattr(plan, "how"):
        raise MisuseError(f"{run.line.name} finds patterns and no relations: measure it by simulation.")
    wanted = _related(data_key(run), plan.how, plan.items, plan.support, asked["top"], longest)
    found: Any = simulate(run.baskets, plan, seed=run.seed, **asked).relations
    ordered = plan.how != "together"
    numbers = score_relations(found, wanted, ordered=ordered).to_dict()
    if longest > 2:
        apart = score_relations(found.where(lengths=3), wanted.where(lengths=3), ordered=ordered)
        numbers = dict(numbers) | {"chains_found": apart.recall}
    return {name: float(value) for name, value in numbers.items()}


@lru_cache(maxsize=8)
def _related(data: DataKey, how: Any, items: int, support: int, top: int, longest: int) -> Any:
    """Return the true relations, which take longer to count than most protocols to run."""
    from discreet.exact import relations as true

    return true(loaded(*data), how=how, items=items, support=support, top=top, longest=longest)


def overhead(run: Run) -> Numbers:
    """Measure what a protocol costs devices and the collector (003, Table 2): every report is made."""
    from .overhead import costs

    return costs(run.baskets, run.line, run.asked, run.seed)


def formula(run: Run) -> Numbers:
    """Compute what a formula says: a function of `formulas` by the name of the line."""
    from . import formulas

    return dict(getattr(formulas, run.line.name)(**dict(run.asked) | dict(run.line.settings)))


def from_data(run: Run) -> Numbers:
    """Compute what a formula says of the data themselves: a function of `exact_values` by the name of the line."""
    from . import exact_values as known

    return dict(getattr(known, run.line.name.replace("-", "_"))(run))


def regret(run: Run) -> Numbers:
    """Run a mechanism of the curator, and measure what it misses, how far off its counts are and what intervals hold.

    Asked with ``question``, the text of a :class:`discreet_lab.run.questions.ReleaseQuestion`.
    """
    from .regret import regret as measure

    return measure(run)


def regret_devices(run: Run) -> Numbers:
    """Run a local protocol, and measure what it misses, how far off its counts are and what intervals hold.

    Asked with ``question``, the text of a :class:`discreet_lab.run.questions.SimulationQuestion`.
    """
    from .regret_devices import regret_devices as measure

    return measure(run)


MEASURES: Mapping[str, Callable[[Run], Numbers]] = {
    "release": release,
    "regret": regret,
    "regret-devices": regret_devices,
    "simulation": simulation,
    "relations": relations,
    "overhead": overhead,
    "formula": formula,
    "from-data": from_data,
}
"""The measures by name."""


def measured(cell: Cell, seed: int) -> Numbers:
    """Run one cell with one seed."""
    run = Run(line=cell.line, asked=cell.asked, data=cell.data, seed=seed)
    return MEASURES[cell.experiment.measure](run)


def comparators() -> dict[str, Callable[..., Any]]:
    """Return what only the lab runs, by name."""
    from ..comparators.det_gd import DetGD
    from ..comparators.diffpart import DiffPart
    from ..comparators.published import PublishedLDPMiner
    from ..comparators.ran_gd import RanGD
    from ..comparators.reference import Reference

    return {one.name: one for one in (PublishedLDPMiner, DetGD, RanGD, DiffPart, Reference)}


CURATOR = ("release", "regret")
"""The measures of mechanisms; all others that run something run protocols."""

# What only some measures run: a change there leaves the numbers of others as they are.
_RUN_BY: Mapping[str, tuple[str, ...]] = {
    "discreet.planning._trial": ("release", "regret"),
    "discreet.local.study._simulate": ("simulation", "regret-devices", "relations"),
    "discreet.registry._entries": ("release", "regret", "simulation", "regret-devices", "relations"),
    "discreet.exact._relations": ("relations",),
    "discreet_lab.measure.overhead": ("overhead",),
    "discreet_lab.measure.regret": ("regret", "regret-devices"),
    "discreet_lab.measure.regret_devices": ("simulation", "regret-devices"),
    "discreet_lab.measure.formulas": ("formula",),
    "discreet_lab.measure.exact_values": ("from-data",),
}


def modules(cell: Cell) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the modules that a cell's numbers depend on, and those that stand apart though they are imported.

    What makes data stands with the data: a new made-up set leaves the runs on others alone. What draws pages of a
    release changes no number.
    """
    measure, name = cell.experiment.measure, cell.line.name
    known = {label: kind.__module__ for label, kind in comparators().items()}
    if measure in ("formula", "from-data"):
        own: tuple[str, ...] = ()
    elif name in known:
        own = (known[name],)
    else:
        from discreet.registry import entry

        found = entry(name, "mechanism" if measure in CURATOR else "protocol")
        own = (found.kind.__module__,)
    apart = {module for module, measures in _RUN_BY.items() if measure not in measures} | set(known.values())
    always = {"discreet_lab.data.datasets", "discreet.report"}
    return (__name__, *own), tuple(sorted((apart | always) - set(own)))


def _counts(baskets: Baskets, patterns: Any) -> dict[frozenset[Any], float]:
    """Return the true counts of what was found."""
    from discreet.exact import mine

    if not len(patterns):
        return {}
    counts = patterns if isinstance(patterns, Mapping) else patterns.to_dict()
    return dict(mine(baskets, itemsets=list(counts)).to_dict())


def _scored(scores: Mapping[str, float], patterns: Any, true: Mapping[frozenset[Any], float]) -> Numbers:
    """Return the scores, and how many of the intervals hold the true count."""
    numbers = {name: float(value) for name, value in scores.items()}
    if patterns.low is not None and len(patterns):
        held = [
            low <= true[itemset] <= high
            for itemset, low, high in zip(patterns.to_dict(), patterns.low, patterns.high, strict=True)
        ]
        numbers["covered"] = sum(held) / len(held)
    return numbers
