"""`discreet.plan`: a forecast from public numbers. No data are read, and no budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, isfinite
from typing import Any, Literal

import numpy as np

from ..checks import MAX_LENGTH, parse_lengths, parse_number, parse_support
from ..errors import DiscreetError, Message, MisuseError
from ..exact import Universe
from ..privacy import Budget, Neighbours, Relation, shown
from ..registry import Entry, entry, mechanisms, protocols
from ..wording import hint_keywords
from ._bounds import bounds
from ._crowd import ImaginedCrowd, imagine
from ._forecast import Forecast
from ._outlook import Outlook
from ._public_facts import MAX_PEOPLE, PublicFacts, parse_count, parse_max_baskets
from ._shuffle import shuffled
from ._trying import (
    RUNS,
    CrowdRun,
    CrowdTruth,
    ForecastTask,
    estimate_visible_support,
    mine_truth,
    try_mechanism,
    try_protocol,
)

_MAX_TOP = 10_000  # patterns of a forecast: its time grows with them
_SHUFFLING_DELTA = Fraction(1, 10**8)  # if the question has no delta: far below one over the number of people
_ENOUGH_RECALL = 0.8  # the share of the patterns that an epsilon, or a number of people, has to find to be enough
# The ranges in which an epsilon or a number of people is searched, and the ratio at which the search ends.
_EPSILONS, _CROWDS, _PRECISION = (0.01, 20.0), (100.0, 1e9), 1.05
# The mechanisms and protocols, by preference, of which the first stands for its side in a search.
_REPRESENTATIVES = {"curator": ("auto",), "local": ("adept", "svsm-better", "svsm")}


@hint_keywords
def plan(
    *,
    items: int,
    people: int | None = None,
    epsilon: Any = None,
    delta: Any = 0,
    top: int | None = None,
    min_support: Any = None,
    lengths: Any = None,
    sizes: Any = None,
    exponent: Any = 1,
    frequencies: Iterable[float] | None = None,
    baskets_each: Any = None,
    max_baskets: int | None = None,
    side: Literal["curator", "local", "both"] = "both",
    names: Iterable[str] | None = None,
    neighbours: Relation = "add-remove",
    progress: Callable[[str], object] | None = None,
) -> Forecast:
    """Return a forecast of every mechanism and protocol that can answer a question, before any budget is spent.

    No data are read. Baskets are drawn from the given numbers, and each mechanism and protocol runs over them with
    seeded noise. Leave out `epsilon` or `people` to learn the smallest value that is enough.

    Privacy: nothing is spent, as long as the given numbers are public or guesses.

    Parameters
    ----------
    items
        The number of items of the public list; for a protocol without a list, the number of different texts.
    people
        The number of people, about. Left out: the forecast finds the number at which four of five patterns are found.
    epsilon, delta
        The budget: of a curator once, of a device for its one report (which has no delta). Left out: the forecast finds
        the epsilon that is needed. For a list of epsilons, ``forecast.at(0.5)`` is the forecast at one epsilon.
    top, min_support
        The patterns to find: their number, or the smallest fraction of the people who hold them. One of the two.
    lengths
        The number of items of a pattern: a number, or the smallest and the largest, such as ``(2, None)``.
    sizes
        The number of items of a basket: the mean, or a list of typical sizes of equal probability.
    exponent
        The power of the rank with which supports of items fall (Zipf). With 0, all items are equally frequent.
    frequencies
        The supports of the items instead, as fractions of the people; items without a frequency have no holders. With
        `baskets_each`, fractions of the baskets.
    baskets_each
        The number of baskets of a person, if people have several (see :doc:`receipts`): the mean, or a list of typical
        numbers of equal probability. A curator then counts baskets, each device answers for one of its own, and the
        unit of privacy is the person.
    max_baskets
        The largest number of baskets of a person that take part, as in :func:`discreet.release` and
        :func:`discreet.simulate`. Left out, a curator selects it with noise, and on devices it is 1.
    side
        ``"curator"``, ``"local"`` or ``"both"``.
    names
        The mechanisms and protocols of the forecast; by default all. Protocols about relations, means and unlisted
        texts take seconds each, and are forecast only by name.
    neighbours
        The neighbouring relation of the curator's guarantee: ``"add-remove"`` or ``"replace"``.
    progress
        Called with the name of each mechanism and protocol before it runs.

    Examples
    --------
    >>> import discreet
    >>> forecast = discreet.plan(people=50_000, items=100, epsilon=2, top=8, sizes=3, names=["svim", "count"])
    >>> [outlook.name for outlook in forecast.outlooks]
    ['svim', 'count']
    >>> receipts = discreet.plan(people=50_000, items=100, epsilon=1, top=8, baskets_each=4, names=["auto"])
    >>> receipts["auto"].max_baskets > 1
    True
    """
    if (epsilon is None) and (people is None):
        raise MisuseError.format("Leave out {epsilon} or {people}, the one that is looked for, but not both.")
    if (top is None) == (min_support is None):
        raise MisuseError.format(
            "Say which patterns are wanted by exactly one of {top} (how many patterns) or {min_support} (a "
            "fraction "
            "of people); {those} given.",
            those="both were" if top is not None else "none of them was",
        )
    if side not in ("curator", "local", "both"):
        raise MisuseError.format("{side} is 'curator', 'local' or 'both'; {given!r} was given.", given=side)
    facts = PublicFacts.of(items, sizes, exponent, frequencies, baskets_each)
    min_length, max_length = (1, MAX_LENGTH) if lengths is None else parse_lengths(lengths)
    # For a search of epsilon, any budget does: its epsilon is replaced at each step.
    is_list = isinstance(epsilon, list | tuple)
    budgets = [Budget.of(1 if value is None else value, delta) for value in (epsilon if is_list else [epsilon])]
    if not budgets:
        raise MisuseError.format("{epsilon} is an empty list: give one epsilon, or several.")
    task = ForecastTask(
        top=None if top is None else parse_count("top", top, _MAX_TOP),
        min_support=None if min_support is None else _fraction(min_support),
        min_length=min_length,
        max_length=None if max_length == MAX_LENGTH else max_length,
        budget=budgets[0],
        neighbours=Neighbours.parse_typed(neighbours),
        max_baskets=parse_max_baskets(max_baskets, facts),
    )
    _check_enough(task, items)
    planner = _Planner(
        facts=facts,
        entries=_entries(names, side),
        crowd=imagine(
            facts.supports,
            facts.sizes,
            facts.size_chances,
            parse_count("people", 10**6 if people is None else people, MAX_PEOPLE),
            each=facts.baskets_each,
        ),
        looked_for="epsilon" if epsilon is None else "people" if people is None else "",
        is_named=names is not None,
        words={**({} if lengths is None else {"lengths": [task.min_length, task.max_length]}), "side": side},
        progress=progress,
    )
    forecasts = [
        planner.forecast(replace(task, budget=budget), f" at epsilon {shown(budget.epsilon)}" if is_list else "")
        for budget in sorted(set(budgets), key=lambda budget: budget.epsilon)
    ]
    return replace(forecasts[-1], smaller=tuple(forecasts[:-1]))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Planner:
    """The planner of one question, for any budget: the crowd is drawn once for all budgets.

    Parameters
    ----------
    facts
        The public numbers about the data.
    entries
        The mechanisms and protocols to forecast.
    crowd
        The crowd that they run over.
    looked_for
        The value to search for: `epsilon`, `people`, or empty for no search.
    is_named
        Whether the entries were given by name.
    words
        Further fields of the question, in their shown form.
    progress
        Called with the name of each entry before it runs.
    """

    facts: PublicFacts
    entries: list[Entry]
    crowd: ImaginedCrowd
    looked_for: str
    is_named: bool
    words: dict[str, Any]
    progress: Callable[[str], object] | None

    def forecast(self, task: ForecastTask, suffix: str) -> Forecast:
        """Return the forecast of one budget; after a search, the forecast at the result.

        Parameters
        ----------
        task
            The question with its budget.
        suffix
            The end of the names that are passed to `progress`.
        """
        # The truth is mined once for all entries.
        stage = _Stage.of(self.crowd, task)
        if not stage.truth.itemsets:
            raise MisuseError.format(
                "Under this curve no pattern is as frequent as that: the most frequent item is held by "
                "{largest:.3g} of the {unit}. Ask for a smaller {min_support}, or state another curve.",
                largest=float(self.facts.supports.max()),
                unit=self.crowd.baskets.unit,
            )
        # Empty without a search, as saved forecasts have the field in any case.
        needed_values: dict[str, float | int | None] = {}
        searched = self.looked_for
        if searched:
            for entrant in self.entries if self.is_named else _select_representatives(self.entries):
                self._report_progress(f"{entrant.name}: {searched}{suffix}")
                needed_values[entrant.name] = _find_needed(entrant, stage, searched)
            smallest_value = min((value for value in needed_values.values() if value is not None), default=None)
            # One forecast serves all entries: at the smallest sufficient value, or else at the end of the range.
            if searched == "people":
                stage = stage.with_people(int(smallest_value or _CROWDS[1]))
            else:
                stage = stage.with_epsilon(f"{smallest_value or _EPSILONS[1]:.4g}")
        outlooks, refused = self._compute_outlooks(stage, suffix)
        task, crowd = stage.task, stage.crowd
        question = {
            "people": crowd.people,
            "items": crowd.baskets.items,
            "epsilon": shown(task.budget.epsilon),
            **({} if task.budget.pure else {"delta": shown(task.budget.delta)}),
            **({"top": task.top} if task.top is not None else {"min_support": float(task.min_support or 0)}),
            **self.facts.words,
            **({} if task.max_baskets is None else {"max_baskets": task.max_baskets}),
            **self.words,
            "neighbours": task.neighbours.value,
            **({"looked for": searched} if searched else {}),
        }
        # The bound is about the longest basket; a few long ones would make it say nothing about the data.
        longest = max(1, int(np.quantile(crowd.baskets.sizes, 0.85)))
        return Forecast(
            asked=question,
            outlooks=outlooks,
            refused=refused,
            bounds=bounds(crowd.baskets.items, max(1, ceil(stage.truth.min_count)), longest, crowd.baskets.unit),
            delta=task.budget.delta or _SHUFFLING_DELTA,
            needed=needed_values,
            notes=(
                *self.facts.notes,
                *(_render_text_note(entrant) for entrant in self.entries if _is_unlisted(entrant)),
            ),
        )

    def _compute_outlooks(self, stage: _Stage, suffix: str) -> tuple[tuple[Outlook, ...], dict[str, str]]:
        """Return the outlook of each entry, the best first, and the reasons of the entries that cannot answer."""
        outlooks = []
        refused: dict[str, Message] = {}
        for entrant in self.entries:
            self._report_progress(f"{entrant.name}{suffix}")
            try:
                outlooks.append(_build_outlook(entrant, _run(entrant, stage), stage))
            except DiscreetError as error:
                refused[entrant.name] = error.message
        if not outlooks:
            messages = refused.values()
            reasons = Message(
                " ".join(message.python for message in messages), " ".join(message.typed for message in messages)
            )
            raise MisuseError.format("None of them can answer this question. {reasons}", reasons=reasons)
        # By score first; the name makes ties repeatable.
        outlooks.sort(key=lambda outlook: (-outlook.score, outlook.interval, outlook.name))
        return tuple(outlooks), {name: str(message) for name, message in refused.items()}

    def _report_progress(self, name: str) -> None:
        if self.progress is not None:
            self.progress(name)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Stage:
    """A question and a crowd, with the true patterns of both sides.

    A curator counts all baskets of a person; a device answers for one of its own.

    Parameters
    ----------
    task
        The question.
    crowd, truth
        The baskets that a curator counts, and their true patterns.
    device_crowd, device_truth
        The baskets that devices answer for, and their true patterns.
    """

    task: ForecastTask
    crowd: ImaginedCrowd
    truth: CrowdTruth
    device_crowd: ImaginedCrowd
    device_truth: CrowdTruth

    @classmethod
    def of(cls, crowd: ImaginedCrowd, task: ForecastTask) -> _Stage:
        """Return the stage of a question and a crowd."""
        device_crowd, crowd_truth = crowd.answering(task.max_baskets or 1), mine_truth(crowd, task)
        device_truth = crowd_truth if device_crowd is crowd else mine_truth(device_crowd, task)
        return cls(task=task, crowd=crowd, truth=crowd_truth, device_crowd=device_crowd, device_truth=device_truth)

    def with_people(self, people: int) -> _Stage:
        """Return the stage with a different number of people."""
        return _Stage.of(self.crowd.of(people), self.task)

    def with_epsilon(self, epsilon: str) -> _Stage:
        """Return the stage with a different epsilon."""
        return replace(self, task=replace(self.task, budget=Budget.of(epsilon, self.task.budget.delta)))

    def truth_for(self, entrant: Entry) -> CrowdTruth:
        """Return the true patterns for a mechanism, or for a protocol."""
        return self.truth if entrant.category == "mechanism" else self.device_truth


def _run(entrant: Entry, stage: _Stage, run_count: int = RUNS) -> list[CrowdRun]:
    """Return the runs of a mechanism or a protocol over the crowd, with different seeds."""
    entrant_truth = stage.truth_for(entrant)
    if not entrant_truth.itemsets:
        raise MisuseError.format(
            "No pattern is expected in so large a part of the baskets that devices draw: ask for a smaller "
            "{min_support} or {max_baskets}."
        )
    # Protocols with hundreds of rounds, or with texts, take seconds per run.
    seeds = range(1 if _is_long(entrant) or _is_unlisted(entrant) else run_count)
    if entrant.category == "mechanism":
        return [try_mechanism(entrant, stage.crowd, stage.task, entrant_truth, seed) for seed in seeds]
    return [try_protocol(entrant, stage.device_crowd, stage.task, entrant_truth, seed) for seed in seeds]


def _build_outlook(entrant: Entry, runs: list[CrowdRun], stage: _Stage) -> Outlook:
    """Return the outlook of a mechanism or a protocol, from its runs."""
    sample, budget, shuffled_epsilon = runs[0], stage.task.budget, None
    is_local = entrant.category == "protocol"
    if is_local:
        delta = budget.delta or _SHUFFLING_DELTA
        shuffled_epsilon = shuffled(budget.epsilon, people=max(1, sample.reports), delta=delta)
    return Outlook(
        name=entrant.name,
        side="local" if is_local else "curator",
        # Shares are averaged, and margins have a median: one run that finds nothing has an infinite margin.
        precision=_mean([run.precision for run in runs]),
        recall=_mean([run.recall for run in runs]),
        interval=float(np.median([run.interval for run in runs])),
        visible=estimate_visible_support(runs, stage.truth_for(entrant)),
        complete=bool(sample.found_flags) and all(all(run.found_flags) for run in runs),
        chosen=sample.chosen,
        max_baskets=sample.max_baskets,
        questions=sample.questions,
        rounds=sample.rounds,
        answering=sample.reports,
        report_bytes=sample.size,
        shuffled=shuffled_epsilon,
    )


def _mean(values: list[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _find_needed(entrant: Entry, stage: _Stage, searched: str) -> float | int | None:
    """Return the smallest epsilon, or number of people, at which four of five patterns are found and stand out.

    The search halves the ratio of its ends. All steps have one crowd and one seed, so that a larger value is hardly
    ever worse. None is returned if the largest value is not enough.
    """

    def is_enough(value: float) -> bool:
        moved = stage.with_people(round(value)) if searched == "people" else stage.with_epsilon(f"{value:.6g}")
        outlook = _build_outlook(entrant, _run(entrant, moved, 1), moved)
        finds_most = outlook.recall is None or outlook.recall >= _ENOUGH_RECALL
        return finds_most and isfinite(outlook.interval) and outlook.interval <= moved.truth_for(entrant).min_count

    # The ends come first: a search without a result, or with a trivial one, needs no further step.
    low, high = _EPSILONS if searched == "epsilon" else _CROWDS
    if not is_enough(high):
        return None
    if is_enough(low):
        return low if searched == "epsilon" else round(low)
    while high > _PRECISION * low:
        middle = (low * high) ** 0.5  # in ratios, as both ranges span powers of ten
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return float(f"{high:.3g}") if searched == "epsilon" else round(float(f"{high:.3g}"))


def _entries(names: Iterable[str] | None, side: str) -> list[Entry]:
    """Return the entries to forecast: the named ones, or all that find patterns on a side."""
    if names is not None:
        if isinstance(names, str):
            raise MisuseError.format(
                "{option} is a list of names, such as ['auto', 'svsm']; {given!r} was given.",
                option=Message("names", "--name"),
                given=names,
            )
        entries = [entry(name) for name in dict.fromkeys(names)]
        for entrant in entries:
            if entrant.category == "oracle":
                raise MisuseError(f"{entrant.name} is an oracle: name a mechanism or a protocol that uses it.")
        return entries
    entries = [
        *(mechanisms().values() if side != "local" else ()),
        *(protocols().values() if side != "curator" else ()),
    ]
    return [
        entrant for entrant in entries if not entrant.unproven and not _is_long(entrant) and not _is_unlisted(entrant)
    ]


def _is_unlisted(entrant: Entry) -> bool:
    """Return whether a protocol finds items that no list has: it takes seconds, and a list makes it needless."""
    return bool(getattr(entrant.kind, "unlisted", False))


def _render_text_note(entrant: Entry) -> str:
    """Return the note on the imagined texts of a protocol without a list."""
    return (
        f"For {entrant.name} the items are texts that no list has, imagined to have {entrant.make().length} symbols "
        "each and to begin differently: shorter ones, and those that begin alike, are easier to find."
    )


def _is_long(entrant: Entry) -> bool:
    """Return whether a protocol is about relations or means: it has hundreds of rounds, and one run suffices."""
    return entrant.category == "protocol" and bool({"how", "means"} & set(entrant.settings))


def _select_representatives(entries: list[Entry]) -> list[Entry]:
    """Return the entry that represents each side in a search."""
    by_name = {entrant.name: entrant for entrant in entries}
    selected = [next((by_name[name] for name in names if name in by_name), None) for names in _REPRESENTATIVES.values()]
    return [entrant for entrant in selected if entrant is not None]


def _fraction(value: Any) -> Fraction:
    """Return a fraction of people; the error for a different number names only values that a forecast takes."""
    try:
        return parse_support(value)
    except MisuseError:
        number = parse_number(value)
        percent = f" For {value} % write {float(number / 100):g}." if number is not None and 1 < number <= 100 else ""
        typed_value = value if number is not None else f"{value!r:.60}"
        raise MisuseError.format(
            "{min_support} is a fraction of people, over 0 and at most 1, such as 0.01; {given} was given.{percent}",
            given=typed_value,
            percent=percent,
        ) from None


def _check_enough(task: ForecastTask, items: int) -> None:
    """Check that the items have as many patterns as the question asks for."""
    max_length = min(task.max_length or items, items)
    if task.min_length > items:
        raise MisuseError.format(
            "{lengths} asks for patterns of {asked:,} items or more, but there are only {there:,}.",
            asked=task.min_length,
            there=items,
        )
    top = task.top or 1
    pattern_count = Universe(items, task.min_length, max_length).up_to(top)
    if pattern_count < top:
        raise MisuseError.format(
            "{top} is {given:,}, but there are only {there:,} patterns of these items: ask for fewer.",
            given=top,
            there=pattern_count,
        )
