"""Trying every mechanism on data, with seeded noise, and measuring what comes out against the truth.

Trials go through the curator's own door, so whatever is registered is tried with the shares and scales it really has.
The truth is mined once. What comes out depends on the data as they are: it is for the curator's eyes, and nothing of it
is charged to anyone. Where no data are given, a crowd is imagined from public numbers, and nobody is looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from fractions import Fraction
from typing import Any, TypedDict, Unpack

from ..baskets import Baskets, Item
from ..checks import is_whole, parse_positive
from ..errors import DiscreetError, Message, MisuseError, name_options
from ..exact import WantedPatterns
from ..privacy import Relation, exact, shown
from ..publish import Case, Keywords, Question, build_cases, read_data, with_keywords
from ..registry import Entry, blamed, entry, mechanisms as every_mechanism
from ..results import AUTO, Comparison, Trial, Trials
from ..wording import number_of
from ._advising import advise
from ._ground import Ground, ground_of, imagined_ground
from ._measuring import tried, wanted_patterns

RUNS = 10
EPSILONS = ("0.5", "1")

Progress = Callable[[str, float], object]


class CompareOptions(TypedDict, total=False):
    """The fields of a question that :func:`compare` takes, for type checkers."""

    person: str | None
    item: str | None
    basket: str | None
    top: int | None
    min_support: Any
    min_count: int | None
    lengths: Any
    contains: Item | Iterable[Item]
    excludes: Item | Iterable[Item]
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
    """Try every mechanism that answers a question on your data, and say which to take: not private.

    Privacy: **none**. What it returns depends on the data as they are: it is for whoever holds them. Nothing is charged
    to a ledger, and choosing a mechanism or an epsilon by it is a use of the data. Without `baskets` no data are read,
    and there is nothing to protect. See :doc:`/compare`.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. Left out: a crowd is made up from `people`, `items`,
        `sizes`, `exponent` and `frequencies`, as :func:`discreet.plan` does.
    epsilon
        One budget or several: ``1``, ``["0.5", "1"]``; with the same delta each.
    mechanisms
        Only these, by their names; `auto` is always among them, as the others are measured by it.
    crowd
        Try on so many people, drawn from the data with replacement: another size, or less to do.
    sizes, exponent, frequencies
        What the made-up crowd is like, as for :func:`discreet.plan`.
    runs
        How often each is run at each epsilon.
    seed
        The same seed gives the same trials; drawn where none is given.
    progress
        Called before each trial with its name and the share that is done.
    FIELDS

    Without `baskets`, `items` and `people` say how many items and people the made-up crowd has. With them, and without
    a delta, the items of the data are the list where no other is given.

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> found = discreet.compare(baskets, top=2, epsilon=1, mechanisms=["bases"], runs=3, seed=7)
    >>> sorted(row.mechanism for row in found), found.private
    (['auto', 'bases'], False)
    """
    run_count = parse_positive("runs", runs)
    budgets = _epsilons(epsilon)
    entries, refused = _entries(mechanisms)
    drawn = _seed(seed)
    keywords = Keywords.of(options)
    question = keywords.question
    items, people = question.get("items"), question.get("people")
    if baskets is None:
        for name, value in {**keywords.reading, "crowd": crowd}.items():
            if value is not None:
                raise MisuseError.format(
                    "{option} is about data, and none were given: give them, or leave it out.",
                    option=name_options(name),
                )
        ground = imagined_ground(people, items, sizes, 1 if exponent is None else exponent, frequencies, drawn)
    else:
        given = {"sizes": sizes, "exponent": exponent, "frequencies": frequencies}
        held = read_data(baskets, **keywords.reading)
        ground = ground_of(held, items, people, question.get("delta", 0), crowd, drawn, given)
    question |= {"items": ground.items, "people": ground.people}
    cases = _cases(ground, entries, budgets, question, refused)
    first = next(iter(cases.values()))
    wanted = wanted_patterns(first, ground.scale)
    rows = _rounds(ground, cases, wanted, run_count, drawn, entries, refused, progress)
    advice = tuple(advise(rows, one) for one in budgets if any(row.epsilon == one for row in rows))
    order = {one: place for place, one in enumerate(budgets)}
    rows.sort(key=lambda row: (order[row.epsilon], -row.found.mean, row.error.mean, row.mechanism))
    return Comparison(
        rows=tuple(rows),
        advice=advice,
        refused=refused,
        asked={
            **first.record,
            "epsilon": [shown(one) for one in budgets],
            "delta": shown(first.budget.delta),
            "neighbours": first.neighbours.value,
        },
        truth={
            "people": round(len(first.baskets) * ground.scale),
            "items": first.baskets.items,
            "wanted": wanted.many,
            "last": wanted.last,
        },
        on=ground.on,
        seed=drawn,
        unit=first.baskets.unit,
        notes=(*ground.notes, *_notes(first, run_count, drawn)),
    )


def _epsilons(epsilon: Any) -> list[Fraction]:
    """Return the budgets that are tried, each once and the smallest first."""
    several = epsilon if isinstance(epsilon, Iterable) and not isinstance(epsilon, str) else [epsilon]
    budgets = sorted({exact(one, "epsilon") for one in several})
    if not budgets:
        raise MisuseError.format("Say what may be spent: one {epsilon} or several, such as 0.5 and 1.")
    return budgets


def _entries(names: Iterable[str] | None) -> tuple[list[Entry], dict[str, Message]]:
    """Return the mechanisms that are tried, `auto` first, and why some may not be used."""
    if isinstance(names, str):
        raise MisuseError(f"mechanisms is a list of names, such as ['bases', 'clipped']; {names!r} was given.")
    known = every_mechanism()
    listed = list(known) if names is None else [entry(name, "mechanism").name for name in names]
    every = [known[name] for name in dict.fromkeys([AUTO, *listed])]
    return [one for one in every if not one.unproven], {
        one.name: Message(one.unproven, one.unproven) for one in every if one.unproven
    }


def _seed(seed: Any) -> int:
    if seed is None:
        from secrets import randbelow

        return randbelow(1 << 32)
    if not is_whole(seed) or seed < 0:
        raise MisuseError.format("{seed} is a whole number, 0 or more; {given!r} was given.", given=seed)
    return int(seed)


def _cases(
    ground: Ground,
    entries: Sequence[Entry],
    budgets: Sequence[Fraction],
    question: Mapping[str, Any],
    refused: dict[str, Message],
) -> dict[tuple[str, Fraction], Case]:
    """Return the checked questions; who does not answer is listed with the reason. Baskets are recoded once."""
    cases: dict[tuple[str, Fraction], Case] = {}
    over = ground.baskets
    for one in entries:
        reasons: dict[Fraction, Message] = {}
        for budget in budgets:
            try:
                # Nothing is promised by a trial, so nothing can be promised in vain.
                asked = Question(mechanism=one.name, epsilon=budget, really=True, **question)
                case = build_cases(asked, over, trying=True)[""]
            except MisuseError as error:
                reasons[budget] = error.message
                continue
            cases[one.name, budget] = case
            over = case.baskets
        for budget, why in reasons.items():
            everywhere = len(reasons) == len(budgets)
            refused[one.name if everywhere else f"{one.name} at epsilon {shown(budget)}"] = why
    if not cases:
        # What is wrong is wrong for all of them: the first one says it.
        raise MisuseError(next(iter(refused.values())))
    return cases


def _rounds(
    ground: Ground,
    cases: dict[tuple[str, Fraction], Case],
    wanted: WantedPatterns,
    runs: int,
    seed: int,
    entries: Sequence[Entry],
    refused: dict[str, Message],
    progress: Progress | None,
) -> list[Trials]:
    """Run everybody once, then everybody once more, and so on: what is known grows evenly."""
    strange = {one.name: one.package for one in entries if one.package != "discreet"}
    done: dict[tuple[str, Fraction], list[Trial]] = {key: [] for key in cases}
    truth = ground.engine(next(iter(cases.values())).baskets)
    for run in range(runs):
        for place, (name, epsilon) in enumerate(cases):
            if (name, epsilon) not in done:
                continue
            if progress is not None:
                progress(f"{name}, epsilon {shown(epsilon)}, run {run + 1}", (run + place / len(cases)) / runs)
            package = strange.get(name)
            try:
                with nullcontext() if package is None else blamed(f"{name} of the package {package}", "tried"):
                    one = tried(cases[name, epsilon], wanted, _drawn(seed, run, name, epsilon), ground.engine, truth)
            except DiscreetError as error:
                refused[name] = error.message
                for other in [key for key in done if key[0] == name]:
                    del done[other]
                continue
            done[name, epsilon].append(one)
    if progress is not None:
        progress("", 1.0)
    if not done:
        raise MisuseError(next(iter(refused.values())))
    return [Trials(mechanism=name, epsilon=epsilon, runs=tuple(several)) for (name, epsilon), several in done.items()]


def _drawn(seed: int, run: int, name: str, epsilon: Fraction) -> int:
    """Return a seed of this trial's own: equal seeds would give the same noise to every mechanism."""
    return int.from_bytes(hashlib.sha256(f"{seed} {run} {name} {epsilon}".encode()).digest()[:6])


def _notes(case: Case, runs: int, seed: int) -> list[str]:
    told = []
    if case.baskets.several:
        told.append(
            "Counts are of baskets. What is found and how far counts are off is measured against all baskets; whether "
            "intervals hold, against counts in which the baskets of a person weigh as much as may take part."
        )
    told.append(
        "Found is the share of the true patterns that was found, over a threshold the F-score. Off by is the median "
        "relative error of their counts. Hold is the share of the 95 % intervals that hold the true count; interval is "
        "half of a typical one. Numbers are means over runs, ± the deviation from run to run."
    )
    told.append(f"{number_of(runs, 'run')} each with seeded noise; the seed is {seed}. Nothing was spent.")
    return told
