"""The measures: functions by name, from a question, a line and a seed to numbers by name.

A measure runs its lines: releases as trials with seeded noise, protocols by simulation, formulas directly. Data and
true patterns are cached for the next run of the process.
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
# The name of the data, the number of people after resampling, and the options of `discreet.read`.
DataKey: TypeAlias = tuple[str, int | None, tuple[tuple[str, Any], ...]]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run: a line, the options of the question, the data and the seed."""

    line: Line
    asked: Mapping[str, Any]
    data: Data | None
    seed: int

    @property
    def baskets(self) -> Baskets:
        """The data; a formula has none."""
        return load_baskets(*data_key(self))


def data_key(run: Run) -> DataKey:
    """Return the identity of the data of a run."""
    if run.data is None:
        raise MisuseError(f"{run.line.label} needs data, and the experiment names none.")
    return run.data.name, run.data.people, tuple(sorted(run.data.reading.items()))


@lru_cache(maxsize=2)
def load_baskets(name: str, people: int | None, read_options: tuple[tuple[str, Any], ...] = ()) -> Baskets:
    """Return a data set by name, or a file by its path, resampled to `people` people if given."""
    from discreet.baskets import read, resample

    from ..data.datasets import load, names

    if name in names():
        return load(name, people=people)
    baskets = read(name, **dict(read_options))
    return baskets if people is None else resample(baskets, people, 0)


@lru_cache(maxsize=64)
def _mine_patterns(data: DataKey, stop_rule: str, number: int, lengths: Any) -> dict[frozenset[Any], float]:
    """Return the true patterns with their counts."""
    from discreet.exact import mine

    threshold: dict[str, Any] = {stop_rule: number}
    return dict(mine(load_baskets(*data), lengths=lengths, **threshold).to_dict())


def mine_truth(run: Run, stop_rule: str, number: int, lengths: Any) -> dict[frozenset[Any], float]:
    """Return the true patterns of the data of a run, by ``top`` or ``min_count``, with their counts."""
    return _mine_patterns(data_key(run), stop_rule, number, tuple(lengths) if isinstance(lengths, list) else lengths)


def release(run: Run) -> Numbers:
    """Run a mechanism of the curator, and compare its patterns with the true patterns.

    The options have ``top`` or ``fraction`` (a support as a share of all people). ``told=True`` gives the number of
    frequent patterns to a mechanism that needs ``top``, as 002 does for its competitor; outside a lab that number is
    private (C15). ``scored`` are the compared lengths, if they are fewer than the mined lengths.
    """
    from discreet.planning import trial

    from .scores import score

    options, baskets = dict(run.asked), run.baskets
    knows_count = options.pop("told", False)
    lengths = options.pop("scored", options.get("lengths"))
    if "fraction" in options:
        options["min_count"] = ceil(options.pop("fraction") * len(baskets))
    if options.get("neighbours") != "replace":
        options.setdefault("people", len(baskets))
    stop_rule, number = ("top", options["top"]) if "top" in options else ("min_count", options["min_count"])
    wanted_patterns = mine_truth(run, stop_rule, number, lengths)
    if knows_count:
        del options["min_count"]
        options["top"] = len(wanted_patterns)
    if run.line.name in comparators():
        return _run_comparator(run, options, wanted_patterns, lengths)
    if run.line.settings:
        options["settings"] = dict(run.line.settings)
    release_trial = trial(baskets, seed=run.seed, items="public", mechanism=run.line.name, **options)
    # Relative errors run over all released patterns, some of which are not in the true top: count all.
    true_counts = wanted_patterns | _count_true(baskets, release_trial.patterns)
    score_options = {stop_rule: number, "people": len(baskets), "lengths": _span(lengths)}
    return _add_coverage(
        score(release_trial.patterns, true_counts, **score_options).to_dict(), release_trial.patterns, true_counts
    )


def _run_comparator(
    run: Run, options: Mapping[str, Any], wanted_patterns: Mapping[frozenset[Any], float], lengths: Any
) -> Numbers:
    """Run a comparator of the lab, and compare its patterns with the true patterns."""
    from discreet.privacy import exact
    from discreet.privacy.sampling import SimulationSource

    from ..comparators.comparator import Comparator, ComparatorTask
    from .scores import score

    comparator = comparators()[run.line.name](**run.line.settings)
    if not isinstance(comparator, Comparator):
        raise MisuseError(f"{run.line.name} is a protocol: measure it by simulation, not by release.")
    if "min_count" not in options:
        raise MisuseError.format(
            "{name} finds patterns over a threshold: ask with fraction or {min_count}.", name=run.line.name
        )
    shortest, longest = _span(lengths) or (1, None)
    epsilon = exact(options["epsilon"], "epsilon") if "epsilon" in options else None
    question = ComparatorTask(count=options["min_count"], least=shortest, longest=longest, epsilon=epsilon)
    answer = comparator.find(run.baskets, question, SimulationSource(run.seed))
    true_counts = dict(wanted_patterns) | _count_true(run.baskets, answer.counts)
    scores = score(answer.counts, true_counts, min_count=options["min_count"], people=len(run.baskets))
    return {name: float(value) for name, value in scores.to_dict().items()} | dict(answer.facts)


def _span(lengths: Any) -> tuple[int, int] | None:
    """Return lengths as the smallest and the largest length."""
    from discreet.checks import parse_lengths

    return None if lengths is None else parse_lengths(lengths)


def simulation(run: Run) -> Numbers:
    """Run a local protocol, and compare its patterns with the true patterns; ``least`` is the shortest length."""
    from discreet.local.study import simulate

    from .scores import score

    options, baskets = dict(run.asked), run.baskets
    shortest, max_length = options.get("least", 1), options.pop("longest", None)
    wanted_patterns = mine_truth(run, "top", options["top"], (shortest, max_length))
    options.setdefault("speed", "aggregated")
    outcome = simulate(baskets, _build_protocol(run), seed=run.seed, **options)
    true_counts = wanted_patterns | _count_true(baskets, outcome.patterns)
    scores = score(outcome.patterns, true_counts, top=options["top"], people=len(baskets)).to_dict()
    return _add_coverage(scores, outcome.patterns, true_counts)


def _build_protocol(run: Run) -> Any:
    """Return the protocol of a line with its settings, from the registry or from the lab."""
    from discreet.registry import protocol

    from ..run.questions import SimulationQuestion
    from .regret_devices import build_reference

    if run.line.name == "reference":  # its questions are about the true top
        top, shortest, epsilon = run.asked["top"], run.asked.get("least", 1), str(run.asked["epsilon"])
        return build_reference(data_key(run), SimulationQuestion(top=top, least=shortest, epsilon=epsilon))
    comparator = comparators().get(run.line.name)
    return protocol(run.line.name, dict(run.line.settings)) if comparator is None else comparator(**run.line.settings)


def relations(run: Run) -> Numbers:
    """Run a protocol for relations, and compare its relations with the true relations.

    With ``longest`` 3, relations ((a, b), c) are wanted too, from all lines; ``theta`` holds for all rounds.
    """
    from discreet.exact import score_relations
    from discreet.local.study import simulate
    from discreet.registry import protocol

    options, settings = {"speed": "aggregated"} | dict(run.asked), dict(run.line.settings)
    longest = options.pop("longest", 2)
    if "theta" in options:
        settings["theta"] = (options["theta"], options.pop("theta"))
    plan: Any = protocol(run.line.name, settings)
    if not hasattr(plan, "how"):
        raise MisuseError(f"{run.line.name} finds patterns and no relations: measure it by simulation.")
    wanted_relations = _mine_relations(data_key(run), plan.how, plan.items, plan.support, options["top"], longest)
    found_relations: Any = simulate(run.baskets, plan, seed=run.seed, **options).relations
    ordered = plan.how != "together"
    numbers = score_relations(found_relations, wanted_relations, ordered=ordered).to_dict()
    if longest > 2:
        chain_score = score_relations(
            found_relations.where(lengths=3), wanted_relations.where(lengths=3), ordered=ordered
        )
        numbers = dict(numbers) | {"chains_found": chain_score.recall}
    return {name: float(value) for name, value in numbers.items()}


@lru_cache(maxsize=8)
def _mine_relations(data: DataKey, pair_kind: Any, items: int, support: int, top: int, longest: int) -> Any:
    """Return the true relations; cached, as counting them takes longer than most protocols."""
    from discreet.exact import relations as mine_relations

    return mine_relations(load_baskets(*data), how=pair_kind, items=items, support=support, top=top, longest=longest)


def overhead(run: Run) -> Numbers:
    """Measure the cost of a protocol for devices and the collector (003, Table 2), with every report made."""
    from .overhead import measure_costs

    return measure_costs(run.baskets, run.line, run.asked, run.seed)


def formula(run: Run) -> Numbers:
    """Compute a formula: the function of `formulas` with the name of the line."""
    from . import formulas

    return dict(getattr(formulas, run.line.name)(**dict(run.asked) | dict(run.line.settings)))


def from_data(run: Run) -> Numbers:
    """Compute a formula about the data: the function of `exact_values` with the name of the line."""
    from . import exact_values

    return dict(getattr(exact_values, run.line.name.replace("-", "_"))(run))


def regret(run: Run) -> Numbers:
    """Run a mechanism of the curator, and measure its misses, the errors of its counts and its intervals.

    The options have ``question``, the text of a :class:`discreet_lab.run.questions.ReleaseQuestion`.
    """
    from .regret import measure_regret

    return measure_regret(run)


def regret_devices(run: Run) -> Numbers:
    """Run a local protocol, and measure its misses, the errors of its counts and its intervals.

    The options have ``question``, the text of a :class:`discreet_lab.run.questions.SimulationQuestion`.
    """
    from .regret_devices import measure_regret

    return measure_regret(run)


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


def measure_cell(cell: Cell, seed: int) -> Numbers:
    """Return the numbers of one cell with one seed."""
    run = Run(line=cell.line, asked=cell.asked, data=cell.data, seed=seed)
    return MEASURES[cell.experiment.measure](run)


def comparators() -> dict[str, Callable[..., Any]]:
    """Return the methods that only the lab runs, by name."""
    from ..comparators.det_gd import DetGD
    from ..comparators.diffpart import DiffPart
    from ..comparators.published import PublishedLDPMiner
    from ..comparators.ran_gd import RanGD
    from ..comparators.reference import Reference

    return {comparator.name: comparator for comparator in (PublishedLDPMiner, DetGD, RanGD, DiffPart, Reference)}


CURATOR = ("release", "regret")
"""The measures of mechanisms; the further measures with a registry entry run protocols."""

# Modules that only some measures run: a change of the module does not rerun the cells of the further measures.
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


def list_modules(cell: Cell) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the modules that the numbers of a cell depend on, and the imported modules that they do not depend on.

    The origin of the data has an identity of its own: a new generated set does not rerun cells on other sets. Modules
    that draw pages change no number.
    """
    measure, name = cell.experiment.measure, cell.line.name
    comparator_modules = {label: kind.__module__ for label, kind in comparators().items()}
    if measure in ("formula", "from-data"):
        own_modules: tuple[str, ...] = ()
    elif name in comparator_modules:
        own_modules = (comparator_modules[name],)
    else:
        from discreet.registry import entry

        registry_entry = entry(name, "mechanism" if measure in CURATOR else "protocol")
        own_modules = (registry_entry.kind.__module__,)
    unused_modules = {module for module, measures in _RUN_BY.items() if measure not in measures} | set(
        comparator_modules.values()
    )
    never_used = {"discreet_lab.data.datasets", "discreet.report"}
    return (__name__, *own_modules), tuple(sorted((unused_modules | never_used) - set(own_modules)))


def _count_true(baskets: Baskets, patterns: Any) -> dict[frozenset[Any], float]:
    """Return the true counts of released patterns."""
    from discreet.exact import mine

    if not len(patterns):
        return {}
    counts = patterns if isinstance(patterns, Mapping) else patterns.to_dict()
    return dict(mine(baskets, itemsets=list(counts)).to_dict())


def _add_coverage(scores: Mapping[str, float], patterns: Any, true_counts: Mapping[frozenset[Any], float]) -> Numbers:
    """Return the scores, and the share of intervals that contain the true count."""
    numbers = {name: float(value) for name, value in scores.items()}
    if patterns.low is not None and len(patterns):
        is_covered = [
            low <= true_counts[itemset] <= high
            for itemset, low, high in zip(patterns.to_dict(), patterns.low, patterns.high, strict=True)
        ]
        numbers["covered"] = sum(is_covered) / len(is_covered)
    return numbers
