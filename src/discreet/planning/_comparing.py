"""`discreet.compare`: trials of every mechanism on data, with seeded noise, measured against the true patterns.

Trials go through `publish`, so that each mechanism has its real shares and scales. The true patterns are mined once.
The results are functions of the data: they are for the curator, and no ledger is charged. Without data, trials run
over a crowd that is imagined from public numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from fractions import Fraction
from typing import Any, Unpack

from ..baskets import Baskets
from ..checks import is_whole, parse_positive
from ..errors import DiscreetError, Message, MisuseError, name_options
from ..exact import WantedPatterns
from ..privacy import Relation, exact, shown
from ..publish import Case, Keywords, PatternOptions, Question, build_cases, read_data, with_keywords
from ..registry import Entry, blamed, entry, mechanisms as every_mechanism
from ..results import AUTO, Comparison, Trial, Trials
from ..wording import number_of
from ._advising import advise
from ._measuring import TrialData, build_trial_data, imagine_trial_data, mine_wanted_patterns, run_trial

RUNS = 10  # the smallest p-value is 1/1,024: significant among two tests for each of 25 rivals
EPSILONS = ("0.5", "1")

Progress = Callable[[str, float], object]


class CompareOptions(PatternOptions, total=False):
    """The fields of a question that :func:`compare` takes, for type checkers."""

    person: str | None
    item: str | None
    basket: str | None
    delta: Any
    neighbours: Relation
    items: Any
    people: int | None
    max_baskets: int | None


@with_keywords(Question, CompareOptions)
def compare(
    baskets: Baskets | Any = None,
    *,
    epsilon: Any = EPSILONS,
    mechanisms: Iterable[str] | None = None,
    crowd: int | None = None,
    sizes: Any = None,
    exponent: Any = None,
    frequencies: Iterable[float] | None = None,
    runs: int = RUNS,
    seed: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Return trials of every mechanism on data, and a recommendation for each epsilon: not private.

    Privacy: **none**. The result is a function of the data: it is for their holder. No ledger is charged, and the
    selection of a mechanism or an epsilon by this result is a use of the data. Without `baskets` no data are read, and
    no privacy is at stake. See :doc:`/compare`.

    Parameters
    ----------
    baskets
        The result of :func:`discreet.read`, or a source that it accepts. Left out: a crowd is drawn from `people`,
        `items`, `sizes`, `exponent` and `frequencies`, as in :func:`discreet.plan`.
    epsilon
        One budget or several, with an equal delta: ``1``, ``["0.5", "1"]``.
    mechanisms
        The names of the mechanisms, by default all; `auto` is always added, since rivals are compared with it.
    crowd
        The number of people to draw from the data with replacement, for a forecast of a different size or for less
        time.
    sizes, exponent, frequencies
        The description of the imagined crowd, as in :func:`discreet.plan`.
    runs
        The number of runs of each mechanism at each epsilon.
    seed
        The seed of the trials: equal seeds give equal trials. Left out: a random seed.
    progress
        Called before each trial with its name and the finished share of the work, from 0 to 1.
    FIELDS

    Without `baskets`, `items` and `people` are the numbers of items and people of the imagined crowd. With `baskets`
    and without a delta, the items of the data are the public list if none is given.

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> comparison = discreet.compare(baskets, top=2, epsilon=1, mechanisms=["bases"], runs=3, seed=7)
    >>> sorted(row.mechanism for row in comparison), comparison.private
    (['auto', 'bases'], False)
    """
    # Everything that can be wrong is checked before data are read, which may take minutes.
    run_count = parse_positive("runs", runs)
    budgets = _parse_epsilons(epsilon)
    entries, unproven = _select_entries(mechanisms)
    # Without the unproven ones: the first reason below is then about the question.
    refused: dict[str, Message] = {}
    trial_seed = _parse_seed(seed)
    keywords = Keywords.parse(options)
    question = keywords.question
    items, people = question.get("items"), question.get("people")
    if baskets is None:
        for name, value in {**keywords.reading_options, "crowd": crowd}.items():
            if value is not None:
                raise MisuseError.format(
                    "{option} is about data, and none were given: give them, or leave it out.",
                    option=name_options(name),
                )
        data = imagine_trial_data(people, items, sizes, 1 if exponent is None else exponent, frequencies, trial_seed)
    else:
        crowd_options = {"sizes": sizes, "exponent": exponent, "frequencies": frequencies}
        data = build_trial_data(
            read_data(baskets, **keywords.reading_options),
            items,
            people,
            question.get("delta", 0),
            crowd,
            trial_seed,
            crowd_options,
        )
    # An imagined crowd has its own list, and the number of people that its baskets stand for.
    question |= {"items": data.items, "people": data.people}
    cases = _build_cases(data, entries, budgets, question, refused)
    case = next(iter(cases.values()))  # cases differ in mechanism and epsilon alone
    wanted_patterns = mine_wanted_patterns(case, data.scale)
    rows = _run_trials(data, cases, wanted_patterns, run_count, trial_seed, entries, refused, progress)
    advice = tuple(advise(rows, budget) for budget in budgets if any(row.epsilon == budget for row in rows))
    # The best first at each epsilon; the name makes the order of ties repeatable.
    order = {budget: place for place, budget in enumerate(budgets)}
    rows.sort(key=lambda row: (order[row.epsilon], -row.found.mean, row.error.mean, row.mechanism))
    return Comparison(
        rows=tuple(rows),
        advice=advice,
        refused=unproven | refused,
        asked={
            **case.record,
            "epsilon": [shown(budget) for budget in budgets],
            "delta": shown(case.budget.delta),
            "neighbours": case.neighbours.value,
        },
        truth={
            "people": round(len(case.baskets) * data.scale),
            "items": case.baskets.items,
            "wanted": wanted_patterns.many,
            "last": wanted_patterns.last,
        },
        on=data.source,
        seed=trial_seed,
        unit=case.baskets.unit,
        notes=(*data.notes, *_render_notes(case, run_count, trial_seed)),
    )


def _parse_epsilons(epsilon: Any) -> list[Fraction]:
    """Return the different epsilons, the smallest first."""
    values = epsilon if isinstance(epsilon, Iterable) and not isinstance(epsilon, str) else [epsilon]
    budgets = sorted({exact(value, "epsilon") for value in values})
    if not budgets:
        raise MisuseError.format("Say what may be spent: one {epsilon} or several, such as 0.5 and 1.")
    return budgets


def _select_entries(names: Iterable[str] | None) -> tuple[list[Entry], dict[str, Message]]:
    """Return the mechanisms to try, `auto` first, and the reasons of the unproven ones, which are not tried."""
    if isinstance(names, str):
        raise MisuseError(f"mechanisms is a list of names, such as ['bases', 'clipped']; {names!r} was given.")
    registered = every_mechanism()
    selected = list(registered) if names is None else [entry(name, "mechanism").name for name in names]
    # `auto` comes first, and once, whether or not a user named it.
    entries = [registered[name] for name in dict.fromkeys([AUTO, *selected])]
    return [entrant for entrant in entries if not entrant.unproven], {
        entrant.name: Message(entrant.unproven, entrant.unproven) for entrant in entries if entrant.unproven
    }


def _parse_seed(seed: Any) -> int:
    if seed is None:
        from secrets import randbelow

        # A note prints the seed, so that the trials can be repeated with it.
        return randbelow(1 << 32)
    if not is_whole(seed) or seed < 0:
        raise MisuseError.format("{seed} is a whole number, 0 or more; {given!r} was given.", given=seed)
    return int(seed)


def _build_cases(
    data: TrialData,
    entries: Sequence[Entry],
    budgets: Sequence[Fraction],
    question: Mapping[str, Any],
    refused: dict[str, Message],
) -> dict[tuple[str, Fraction], Case]:
    """Return the checked case of each mechanism and epsilon; further reasons are added to `refused`."""
    cases: dict[tuple[str, Fraction], Case] = {}
    baskets = data.baskets
    for entrant in entries:
        reasons: dict[Fraction, Message] = {}
        for budget in budgets:
            try:
                # A trial has no guarantee, so that an epsilon too large for a release does no harm.
                release_question = Question(mechanism=entrant.name, epsilon=budget, really=True, **question)
                case = build_cases(release_question, baskets, trying=True)[""]
            except MisuseError as error:
                reasons[budget] = error.message
                continue
            cases[entrant.name, budget] = case
            baskets = case.baskets  # recoded to the public list once for all cases
        for budget, reason in reasons.items():
            is_refused_everywhere = len(reasons) == len(budgets)
            refused[entrant.name if is_refused_everywhere else f"{entrant.name} at epsilon {shown(budget)}"] = reason
    if not cases:
        # An error of the question is an error of every mechanism: the first message is enough.
        raise MisuseError(next(iter(refused.values())))
    return cases


def _run_trials(
    data: TrialData,
    cases: dict[tuple[str, Fraction], Case],
    wanted_patterns: WantedPatterns,
    run_count: int,
    seed: int,
    entries: Sequence[Entry],
    refused: dict[str, Message],
    progress: Progress | None,
) -> list[Trials]:
    """Return the trials of each case; a mechanism that fails is moved to `refused`.

    Every case runs once before any case runs a second time, so that an interruption leaves comparable numbers.
    """
    # Errors of our own mechanisms need no package in their message.
    packages = {entrant.name: entrant.package for entrant in entries if entrant.package != "discreet"}
    trials: dict[tuple[str, Fraction], list[Trial]] = {key: [] for key in cases}
    # One engine looks up the true counts of all trials; each release builds its own.
    truth = data.engine(next(iter(cases.values())).baskets)
    for run in range(run_count):
        for place, (name, epsilon) in enumerate(cases):
            if (name, epsilon) not in trials:
                continue
            if progress is not None:
                progress(f"{name}, epsilon {shown(epsilon)}, run {run + 1}", (run + place / len(cases)) / run_count)
            package = packages.get(name)
            trial_seed = _derive_seed(seed, run, name, epsilon)
            try:
                # An error inside a mechanism of a foreign package names the package.
                with nullcontext() if package is None else blamed(f"{name} of the package {package}", "tried"):
                    trial = run_trial(cases[name, epsilon], wanted_patterns, trial_seed, data.engine, truth)
            except DiscreetError as error:
                refused[name] = error.message
                trials = {key: runs for key, runs in trials.items() if key[0] != name}
                continue
            trials[name, epsilon].append(trial)
    if progress is not None:
        progress("", 1.0)
    if not trials:
        raise MisuseError(next(iter(refused.values())))
    return [Trials(mechanism=name, epsilon=epsilon, runs=tuple(runs)) for (name, epsilon), runs in trials.items()]


def _derive_seed(seed: int, run: int, name: str, epsilon: Fraction) -> int:
    """Return the seed of a trial: with an equal seed, all mechanisms would have equal noise."""
    return int.from_bytes(hashlib.sha256(f"{seed} {run} {name} {epsilon}".encode()).digest()[:6])


def _render_notes(case: Case, run_count: int, seed: int) -> list[str]:
    notes = []
    if case.baskets.has_receipts:
        notes.append(
            "Counts are of baskets. What is found and how far counts are off is measured against all baskets; whether "
            "intervals hold, against counts in which the baskets of a person weigh as much as may take part."
        )
    notes.append(
        "Found is the share of the true patterns that was found, over a threshold the F-score. Off by is the median "
        "relative error of their counts. Hold is the share of the 95 % intervals that hold the true count; interval is "
        "half of a typical one. Numbers are means over runs, ± the deviation from run to run."
    )
    notes.append(f"{number_of(run_count, 'run')} each with seeded noise; the seed is {seed}. Nothing was spent.")
    return notes
