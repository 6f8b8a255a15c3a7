"""`discreet.plan`: public numbers in, a forecast out. Nothing is read and nothing is spent."""

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
from ._known import MOST_PEOPLE, Known, at_most, cap_of
from ._outlook import Outlook
from ._shuffle import shuffled
from ._trying import RUNS, CrowdTruth, ForecastTask, Tried, truth, try_mechanism, try_protocol, visible

# The most patterns that a forecast is made for.
_TOP = 10_000
# Where shuffling is accounted for, unless a delta was given.
_DELTA = Fraction(1, 10**8)
# So large a share of the patterns has to be found for them to count as seen.
_SEEN = 0.8
# Between what epsilon and people are looked for, and how closely.
_EPSILONS, _CROWDS, _CLOSE = (0.01, 20.0), (100.0, 1e9), 1.05
# Who stands for a side where something is looked for.
_FIRST = {"curator": ("auto",), "local": ("adept", "svsm-better", "svsm")}


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
    """Say what to expect before anything is spent, for every mechanism and protocol that can answer a question.

    No data are read. A crowd is imagined from the numbers given here, and over it runs what would run over the real
    one, with seeded noise. Leave out `epsilon` or `people` to learn how much of it is needed.

    Privacy: nothing is spent, as long as the numbers given here are public or guesses.

    Parameters
    ----------
    items
        How many items there are on the public list; for a protocol without one, how many different texts people hold.
    people
        How many people there are, about. Left out: how many are needed for four of five patterns to be found.
    epsilon, delta
        What may be spent: by a curator once, by a device on its one report (which has no delta). Left out: what is
        needed. A list of epsilons is forecast at each of them: ``forecast.at(0.5)`` is one of these.
    top, min_support
        Which patterns are wanted: how many, or held by which fraction of the people. One of the two.
    lengths
        How many items a pattern has: a number, or the least and the most, such as ``(2, None)``.
    sizes
        How many items a basket has: the mean, or a list of sizes that are typical, each as likely as the others.
    exponent
        How supports of items fall with their rank: with this power of it (Zipf). 0 makes all equally frequent.
    frequencies
        The supports of the items instead, as fractions of the people; items without one are held by nobody. With
        `baskets_each`, fractions of the baskets.
    baskets_each
        How many baskets a person has, where they have several (see :doc:`receipts`): the mean, or a list of numbers
        that are typical, each as likely as the others. A curator then counts baskets, each device answers for one of
        its own, and the unit of privacy is the person.
    max_baskets
        How many baskets of each person take part, as in :func:`discreet.release` and :func:`discreet.simulate`. Left
        out, a curator has it chosen with noise, and on devices it is 1.
    side
        ``"curator"``, ``"local"`` or ``"both"``.
    names
        Only these mechanisms and protocols. Those about relations, means and texts that no list has take seconds each,
        and are forecast only where they are named.
    neighbours
        What the curator's promise is about: ``"add-remove"`` or ``"replace"``.
    progress
        Told the name of what is tried next.

    Examples
    --------
    >>> import discreet
    >>> forecast = discreet.plan(people=50_000, items=100, epsilon=2, top=8, sizes=3, names=["svim", "count"])
    >>> [one.name for one in forecast.outlooks]
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
    known = Known.of(items, sizes, exponent, frequencies, baskets_each)
    least, longest = (1, MAX_LENGTH) if lengths is None else parse_lengths(lengths)
    several = isinstance(epsilon, list | tuple)
    budgets = [Budget.of(1 if one is None else one, delta) for one in (epsilon if several else [epsilon])]
    if not budgets:
        raise MisuseError.format("{epsilon} is an empty list: give one epsilon, or several.")
    asked = ForecastTask(
        top=None if top is None else at_most("top", top, _TOP),
        min_support=None if min_support is None else _fraction(min_support),
        least=least,
        longest=None if longest == MAX_LENGTH else longest,
        budget=budgets[0],
        neighbours=Neighbours.typed(neighbours),
        max_baskets=cap_of(max_baskets, known),
    )
    _check_enough(asked, items)
    planner = _Planner(
        known=known,
        entries=_entries(names, side),
        crowd=imagine(
            known.supports,
            known.sizes,
            known.chances,
            at_most("people", 10**6 if people is None else people, MOST_PEOPLE),
            each=known.each,
        ),
        looked_for="epsilon" if epsilon is None else "people" if people is None else "",
        named=names is not None,
        words={**({} if lengths is None else {"lengths": [asked.least, asked.longest]}), "side": side},
        progress=progress,
    )
    made = [
        planner.forecast(replace(asked, budget=budget), f" at epsilon {shown(budget.epsilon)}" if several else "")
        for budget in sorted(set(budgets), key=lambda one: one.epsilon)
    ]
    return replace(made[-1], smaller=tuple(made[:-1]))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Planner:
    """Everything about a question but the budget: a crowd is imagined once, however many budgets are tried."""

    known: Known
    entries: list[Entry]
    crowd: ImaginedCrowd
    looked_for: str
    named: bool
    words: dict[str, Any]
    progress: Callable[[str], object] | None

    def forecast(self, asked: ForecastTask, where: str) -> Forecast:
        """Return the forecast of one budget; where something is looked for, of what was found."""
        stage = _Stage.of(self.crowd, asked)
        if not stage.whole.itemsets:
            raise MisuseError.format(
                "Under this curve no pattern is as frequent as that: the most frequent item is held by "
                "{largest:.3g} of the {unit}. Ask for a smaller {min_support}, or state another curve.",
                largest=float(self.known.supports.max()),
                unit=self.crowd.baskets.unit,
            )
        needed: dict[str, float | int | None] = {}
        what = self.looked_for
        if what:
            for one in self.entries if self.named else _first(self.entries):
                self._tell(f"{one.name}: {what}{where}")
                needed[one.name] = _needed(one, stage, what)
            enough = min((value for value in needed.values() if value is not None), default=None)
            stage = (
                stage.with_people(int(enough or _CROWDS[1]))
                if what == "people"
                else stage.with_epsilon(f"{enough or _EPSILONS[1]:.4g}")
            )
        outlooks, refused = self._all(stage, where)
        asked, crowd = stage.asked, stage.crowd
        words = {
            "people": crowd.people,
            "items": crowd.baskets.items,
            "epsilon": shown(asked.budget.epsilon),
            **({} if asked.budget.pure else {"delta": shown(asked.budget.delta)}),
            **({"top": asked.top} if asked.top is not None else {"min_support": float(asked.min_support or 0)}),
            **self.known.words,
            **({} if asked.max_baskets is None else {"max_baskets": asked.max_baskets}),
            **self.words,
            "neighbours": asked.neighbours.value,
            **({"looked for": what} if what else {}),
        }
        long = int(np.quantile(crowd.baskets.sizes, 0.85))
        return Forecast(
            asked=words,
            outlooks=outlooks,
            refused=refused,
            bounds=bounds(crowd.baskets.items, max(1, ceil(stage.whole.last)), max(1, long), crowd.baskets.unit),
            delta=asked.budget.delta or _DELTA,
            needed=needed,
            notes=(*self.known.notes, *(_texts(one) for one in self.entries if _unlisted(one))),
        )

    def _all(self, stage: _Stage, where: str) -> tuple[tuple[Outlook, ...], dict[str, str]]:
        """Return what is expected of each, the best first, and why some cannot answer."""
        outlooks = []
        refused: dict[str, Message] = {}
        for one in self.entries:
            self._tell(f"{one.name}{where}")
            try:
                outlooks.append(_outlook(one, _runs(one, stage), stage))
            except DiscreetError as error:
                refused[one.name] = error.message
        if not outlooks:
            why = refused.values()
            reasons = Message(" ".join(one.python for one in why), " ".join(one.typed for one in why))
            raise MisuseError.format("None of them can answer this question. {reasons}", reasons=reasons)
        found = tuple(sorted(outlooks, key=lambda one: (-one.score, one.interval, one.name)))
        return found, {name: str(why) for name, why in refused.items()}

    def _tell(self, name: str) -> None:
        if self.progress is not None:
            self.progress(name)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Stage:
    """A question and a crowd: what a curator is asked about it, and what devices are, with what is true of both.

    Where people have several baskets, a curator counts these, while each device answers for one of its own.
    """

    asked: ForecastTask
    crowd: ImaginedCrowd
    answering: ImaginedCrowd
    whole: CrowdTruth
    drawn: CrowdTruth

    @classmethod
    def of(cls, crowd: ImaginedCrowd, asked: ForecastTask) -> _Stage:
        answering, whole = crowd.answering(asked.max_baskets or 1), truth(crowd, asked)
        drawn = whole if answering is crowd else truth(answering, asked)
        return cls(asked=asked, crowd=crowd, answering=answering, whole=whole, drawn=drawn)

    def with_people(self, people: int) -> _Stage:
        """Return the same with another number of people."""
        return _Stage.of(self.crowd.of(people), self.asked)

    def with_epsilon(self, epsilon: str) -> _Stage:
        """Return the same with another epsilon."""
        return replace(self, asked=replace(self.asked, budget=Budget.of(epsilon, self.asked.budget.delta)))

    def true(self, one: Entry) -> CrowdTruth:
        """Return what is true of what a mechanism or a protocol is about."""
        return self.whole if one.what == "mechanism" else self.drawn


def _runs(one: Entry, stage: _Stage, many: int = RUNS) -> list[Tried]:
    true = stage.true(one)
    if not true.itemsets:
        raise MisuseError.format(
            "No pattern is expected in so large a part of the baskets that devices draw: ask for a smaller "
            "{min_support} or {max_baskets}."
        )
    seeds = range(1 if _long(one) or _unlisted(one) else many)
    if one.what == "mechanism":
        return [try_mechanism(one, stage.crowd, stage.asked, true, seed) for seed in seeds]
    return [try_protocol(one, stage.answering, stage.asked, true, seed) for seed in seeds]


def _outlook(one: Entry, runs: list[Tried], stage: _Stage) -> Outlook:
    first = runs[0]
    local = one.what == "protocol"
    budget = stage.asked.budget
    return Outlook(
        name=one.name,
        side="local" if local else "curator",
        precision=_mean([run.precision for run in runs]),
        recall=_mean([run.recall for run in runs]),
        interval=float(np.median([run.interval for run in runs])),
        visible=visible(runs, stage.true(one)),
        complete=bool(first.found) and all(all(run.found) for run in runs),
        chosen=first.chosen,
        max_baskets=first.max_baskets,
        questions=first.questions,
        rounds=first.rounds,
        answering=first.reports,
        report_bytes=first.size,
        shuffled=shuffled(budget.epsilon, people=max(1, first.reports), delta=budget.delta or _DELTA)
        if local
        else None,
    )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _needed(one: Entry, stage: _Stage, what: str) -> float | int | None:
    """Return the smallest epsilon, or number of people, at which four of five patterns are found and stand out.

    By bisection on a scale of factors; the same crowd and the same noise throughout, so that more is hardly ever worse.
    """

    def enough(value: float) -> bool:
        there = stage.with_people(round(value)) if what == "people" else stage.with_epsilon(f"{value:.6g}")
        outlook = _outlook(one, _runs(one, there, 1), there)
        seen = outlook.recall is None or outlook.recall >= _SEEN
        return seen and isfinite(outlook.interval) and outlook.interval <= there.true(one).last

    low, high = _EPSILONS if what == "epsilon" else _CROWDS
    if not enough(high):
        return None
    if enough(low):
        return low if what == "epsilon" else round(low)
    while high > _CLOSE * low:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(f"{high:.3g}") if what == "epsilon" else round(float(f"{high:.3g}"))


def _entries(names: Iterable[str] | None, side: str) -> list[Entry]:
    """Return what is forecast: those that are named, or all that find patterns on this side."""
    if names is not None:
        if isinstance(names, str):
            raise MisuseError.format(
                "{option} is a list of names, such as ['auto', 'svsm']; {given!r} was given.",
                option=Message("names", "--name"),
                given=names,
            )
        found = [entry(name) for name in dict.fromkeys(names)]
        for one in found:
            if one.what == "oracle":
                raise MisuseError(f"{one.name} is an oracle: name a mechanism or a protocol that uses it.")
        return found
    every = [*(mechanisms().values() if side != "local" else ()), *(protocols().values() if side != "curator" else ())]
    return [one for one in every if not one.unproven and not _long(one) and not _unlisted(one)]


def _unlisted(one: Entry) -> bool:
    """Say whether it finds out what the items are: it takes seconds, and whoever has a list does without."""
    return bool(getattr(one.kind, "unlisted", False))


def _texts(one: Entry) -> str:
    return (
        f"For {one.name} the items are texts that no list has, imagined to have {one.make().length} symbols each and "
        "to begin differently: shorter ones, and those that begin alike, are easier to find."
    )


def _long(one: Entry) -> bool:
    """Say whether it is about relations or means: such conversations have hundreds of rounds, and one says enough."""
    return one.what == "protocol" and bool({"how", "means"} & set(one.settings))


def _first(entries: list[Entry]) -> list[Entry]:
    """Return who stands for each side where something is looked for: the first of a few that are there."""
    known = {one.name: one for one in entries}
    chosen = [next((known[name] for name in names if name in known), None) for names in _FIRST.values()]
    return [one for one in chosen if one is not None]


def _fraction(value: Any) -> Fraction:
    """Return a fraction of people. What is said of other numbers names only what a forecast takes."""
    try:
        return parse_support(value)
    except MisuseError:
        number = parse_number(value)
        percent = f" For {value} % write {float(number / 100):g}." if number is not None and 1 < number <= 100 else ""
        given = value if number is not None else f"{value!r:.60}"
        raise MisuseError.format(
            "{min_support} is a fraction of people, over 0 and at most 1, such as 0.01; {given} was given.{percent}",
            given=given,
            percent=percent,
        ) from None


def _check_enough(asked: ForecastTask, items: int) -> None:
    """Refuse to look for more patterns than there are."""
    longest = min(asked.longest or items, items)
    if asked.least > items:
        raise MisuseError.format(
            "{lengths} asks for patterns of {asked:,} items or more, but there are only {there:,}.",
            asked=asked.least,
            there=items,
        )
    top = asked.top or 1
    there = Universe(items, asked.least, longest).up_to(top)
    if there < top:
        raise MisuseError.format(
            "{top} is {given:,}, but there are only {there:,} patterns of these items: ask for fewer.",
            given=top,
            there=there,
        )
