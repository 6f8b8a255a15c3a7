"""The pages of regret: goals beside what was measured, then by data set and every part of a question, then the worst.

There is one of mechanisms and one of local protocols. Definitions stand on each with their reasons (`regret_words`);
`discreet_lab.measure.regret`, `regret_devices` and `regrets` compute them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, isfinite, log
from statistics import fmean

from discreet.planning import Regret

from ..measure.regrets import DEFAULTS, RegretRow, coverages, rows
from ..run.failures import reasons_once
from ..run.questions import SimulationQuestion
from ..run.runner import Results
from . import regret_words
from .regret_words import COVERED
from .tables import markdown, text

BELOW, FAR_BELOW = 0.0, 0.1
"""How far the default may be below what could be known on any data set: at an epsilon of 1 and more, and below it."""

_WORST = 10
# What chance alone does once in so many rows is no sign that intervals are too short.
_CHANCE = 1e-3
# Of fewer intervals, a share says nothing.
_FEW = 10


@dataclass(frozen=True)
class _Number:
    """A number of a row that is compared: what it is called, how it is taken, and whether it is a ratio."""

    label: str
    of: Callable[[RegretRow], Regret | None]
    ratio: bool
    digits: int
    goals: tuple[float, float] | None = None  # in the mean, and at worst

    def there(self, every: Iterable[RegretRow]) -> list[tuple[RegretRow, Regret]]:
        """Return the rows that have this number, with it."""
        return [(row, found) for row in every if (found := self.of(row)) is not None]

    def mean(self, several: Sequence[Regret]) -> float:
        """Return the mean regret; of ratios the geometric one."""
        return exp(fmean(log(one.by) for one in several)) if self.ratio else fmean(one.by for one in several)

    def by_the_same_runs(self, several: Sequence[Regret]) -> float:
        """Return the mean regret if the runs that tell it also choose the best."""
        if self.ratio:
            return exp(fmean(log(one.ours / one.best) for one in several))
        return fmean(one.ours - one.best for one in several)

    def surely_over(self, one: Regret, goal: float) -> bool:
        """Return whether a regret is over a goal by more than two standard errors."""
        return (log(one.by) - log(goal) if self.ratio else one.by - goal) > 2 * one.doubt


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """What is compared on a page, and what it says around that."""

    beginning: str
    definitions: str
    numbers: tuple[_Number, ...]  # the first is what is missed; those without a goal are means alone
    groups: tuple[tuple[str, Callable[[RegretRow], str]], ...]
    told: Callable[[int, int, int], str]


def _told(rows: int, seeds: int, compared: int) -> str:
    return (
        f"{rows:,} rows, a question about a data set each, {seeds} runs per mechanism. Errors of counts are"
        f" compared in {compared:,} of them; in the others everybody misses more than half.\n"
    )


def _told_of_devices(rows: int, seeds: int, compared: int) -> str:
    return (
        f"{rows:,} rows, a question about a data set each, {seeds} runs per protocol. Errors of counts are"
        f" compared in {compared:,} of them; in the others no two protocols find enough of the same.\n"
    )


_BY_QUESTION: tuple[tuple[str, Callable[[RegretRow], str]], ...] = (
    ("data", lambda row: row.data),
    ("question", lambda row: row.question.wanted),
)
_HIGH = "90th percentile of errors of counts"
_KINDS = {
    "regret": _Kind(
        beginning=regret_words.CURATOR_BEGINNING,
        definitions=regret_words.CURATOR_DEFINITIONS,
        numbers=(
            _Number("misses", lambda row: row.missed, ratio=False, digits=3, goals=(0.01, 0.04)),
            _Number("median error of counts", lambda row: row.median, ratio=True, digits=4, goals=(1.2, 2.0)),
            _Number(
                "90th percentile of errors of counts", lambda row: row.high, ratio=True, digits=4, goals=(1.2, 2.0)
            ),
            _Number("error of confidences", lambda row: row.confidence, ratio=False, digits=3),
        ),
        groups=(
            *_BY_QUESTION,
            ("items", lambda row: str(row.question.lengths or "any")),
            ("ε", lambda row: row.question.epsilon),
            ("δ", lambda row: getattr(row.question, "delta", "0")),
        ),
        told=_told,
    ),
    "regret-devices": _Kind(
        beginning=regret_words.DEVICES_BEGINNING,
        definitions=regret_words.DEVICES_DEFINITIONS,
        numbers=(
            _Number("NCR", lambda row: row.missed, ratio=False, digits=3, goals=(0.01, 0.04)),
            _Number("error on common hits", lambda row: row.common, ratio=True, digits=4, goals=(1.0, 1.0)),
        ),
        groups=(
            *_BY_QUESTION,
            ("items", lambda row: "two and more" if row.question.lengths else "any"),
            ("ε", lambda row: row.question.epsilon),
        ),
        told=_told_of_devices,
    ),
}
MEASURES = tuple(_KINDS)
"""The measures whose experiments have a page of this kind."""


def regret_page(title: str, results: Sequence[Results], *, quick: bool) -> Iterator[str]:
    """Yield the lines of the page: every experiment that was run, and then what is measured and why so."""
    kind = _kind(results[0])
    yield f"# {title}\n"
    yield kind.beginning
    if quick:
        yield "**Quick setting**: three repeats and three questions of each data set.\n"
    told: set[tuple[str, str]] = set()
    for one in results:
        # Experiments share their runs: what is part of one that was shown is not shown again.
        places = {(row.data, str(row.question)) for row in rows(one)}
        if places - told:
            told |= places
            yield from _section(one)
        else:
            yield f"## {one.experiment.shows}\n"
            yield f"*Not run yet*: {one.experiment.title} (`discreet lab run {one.experiment.name}`).\n"
    yield kind.definitions


def summary(results: Results) -> Iterator[str]:
    """Yield the table of goals: what was measured of each, and in how many rows it is not met."""
    every, kind = rows(results), _kind(results)
    lines = [line for number in kind.numbers for line in _goals(every, number)]
    lines += _reference_goals(every)
    if shares := [row for row in every if row.intervals >= _FEW]:
        least = min(row.covered for row in shares)
        under = [row for row in shares if row.covered < COVERED]
        sure = sum(_by_chance(row) < _CHANCE for row in under)
        lines.append(
            [
                "intervals that hold the true count, in the worst row",
                f"at least {COVERED:g}",
                f"{least:.2f}",
                "",
                f"below in {len(under)} of {len(shares)} rows, beyond chance in {sure}" if under else "**reached**",
            ]
        )
    yield from markdown([_ours(results), "goal", "measured", "by the same runs", ""], lines)


def worst(results: Results) -> Iterator[str]:
    """Yield the worst rows of each number."""
    every, ours = rows(results), _ours(results)
    for number in _kind(results).numbers:
        if number.goals is None:
            continue
        several = sorted(number.there(every), key=lambda one: -one[1].by)[:_WORST]
        beside = not number.ratio and any(row.reference is not None for row, _ in several)
        yield f"**The worst in {number.label}:**\n"
        yield from markdown(
            ["data", "question", ours, "best", "", "ratio" if number.ratio else "regret", *["reference"] * beside],
            (
                [
                    row.data,
                    f"`{row.question}`",
                    f"{_as_told(one.ours, row, number):.{number.digits}f}",
                    f"{_as_told(one.best, row, number):.{number.digits}f}",
                    one.line,
                    _shown(one, number),
                    *[_share(row)] * beside,
                ]
                for row, one in several
            ),
        )
    yield "**The worst in intervals:**\n"
    yield from markdown(
        ["data", "question", "hold the true count", "of", "by chance"],
        (
            [row.data, f"`{row.question}`", f"{row.covered:.3f}", f"{row.intervals:,}", f"{_by_chance(row):.0e}"]
            for row in sorted((row for row in every if row.intervals), key=_by_chance)[:_WORST]
        ),
    )


def beyond(results: Results) -> Iterator[str]:
    """Yield every row that does not meet a goal for the worst row, with what it is instead; nothing where it does."""
    every, numbers = rows(results), [number for number in _kind(results).numbers if number.goals is not None]
    beside = [
        {id(row): _shown(one, number) for row, one in number.there(every) if one.by > (number.goals or (0, 0))[1]}
        for number in numbers
    ]
    few = {id(row): f"{row.covered:.3f}" for row in every if row.intervals >= _FEW and row.covered < COVERED}
    over = [row for row in every if any(id(row) in found for found in (*beside, few))]
    yield f"**Every row that does not meet a goal**: {len(over):,} of {len(every):,}.\n"
    yield from markdown(
        ["data", "question", *(number.label for number in numbers), "intervals hold"],
        ([row.data, f"`{row.question}`", *(found.get(id(row), "") for found in (*beside, few))] for row in over),
    )


def _kind(results: Results) -> _Kind:
    return _KINDS[results.experiment.measure]


def _ours(results: Results) -> str:
    return f"`{DEFAULTS[results.experiment.measure]}`"


def _as_told(number: float, row: RegretRow, of: _Number) -> float:
    """Return a number as its table tells it: what is lost of the cumulative rank as what is reached of it."""
    return 1 - number if isinstance(row.question, SimulationQuestion) and not of.ratio else number


def _share(row: RegretRow) -> str:
    return "" if row.reference is None else f"{1 - row.reference:.3f}"


def _section(results: Results) -> Iterator[str]:
    every, kind = rows(results), _kind(results)
    seeds = len({row.seed for row in results.rows})
    yield f"## {results.experiment.shows}: {results.experiment.title}\n"
    yield f"{results.experiment.says}\n"
    if results.missing:
        command = f"`discreet lab run {results.experiment.name}`"
        yield f"{results.missing:,} runs are missing here: {command} runs them, or says why they cannot be.\n"
    yield from (f"*Not run*: {text(reason)}\n" for reason in reasons_once(results.failed))
    yield kind.told(len(every), seeds, len(kind.numbers[1].there(every)))
    yield from summary(results)
    yield from _beside_the_reference(every)
    yield "In groups: the mean regret, for errors of counts the geometric mean of ratios, and the worst row of each.\n"
    for label, by in kind.groups:
        yield from _grouped(label, every, by, kind)
    yield from worst(results)
    yield from beyond(results)
    yield f"**Intervals of every {'protocol' if kind is _KINDS['regret-devices'] else 'mechanism'}:**\n"
    yield from markdown(
        ["", "intervals", "hold the true count", "in the worst row"],
        (
            [line, f"{many:,}", f"{share:.3f}", f"{least:.2f}"]
            for line, (many, share, least) in coverages(results).items()
        ),
    )


def _goals(every: Sequence[RegretRow], number: _Number) -> Iterator[list[str]]:
    """Yield the lines of one number: its mean, and its worst row."""
    several = [found for _, found in number.there(every)]
    if not several:
        return
    mean, upper, goals = number.mean(several), number.by_the_same_runs(several), number.goals
    if goals is None:
        yield [f"regret in the {number.label}, mean", "", f"{mean:.3f}", f"{upper:.3f}", ""]
        return
    most = max(one.by for one in several)
    over = sum(one.by > goals[1] for one in several)
    sure = sum(number.surely_over(one, goals[1]) for one in several)
    what = f"{number.label}, times the best's" if number.ratio else f"regret in {number.label}"
    yield [
        f"{what}, {'geometric ' if number.ratio else ''}mean",
        f"at most {goals[0]:g}",
        f"{mean:.3f}",
        f"{upper:.3f}",
        "**reached**" if mean <= goals[0] else f"{mean - goals[0]:.3f} over",
    ]
    yield [
        f"{what}, worst",
        f"at most {goals[1]:g}",
        f"{most:.2f}",
        "",
        f"over in {over} of {len(several)} rows, beyond doubt in {sure}" if over else "**reached**",
    ]


def _by_set(every: Sequence[RegretRow]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return by data set and epsilon what the default and the reference have of the cumulative rank, in the mean."""
    groups: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in every:
        if row.reference is not None:
            place = (row.data, row.question.epsilon)
            groups.setdefault(place, []).append((1 - row.missed.ours, 1 - row.reference))
    return {place: (fmean(a for a, _ in some), fmean(b for _, b in some)) for place, some in groups.items()}


def _reference_goals(every: Sequence[RegretRow]) -> Iterator[list[str]]:
    """Yield how far the default is below the reference on the worst data set, at high epsilons and at low ones."""
    found = _by_set(every)
    for low, told, goal in ((False, "of 1 and more", BELOW), (True, "below 1", FAR_BELOW)):
        below = [known - ours for (_, epsilon), (ours, known) in found.items() if (Fraction(epsilon) < 1) is low]
        if below:
            over = sum(one > goal for one in below)
            yield [
                f"NCR below the reference at an epsilon {told}, on the worst data set",
                f"at most {goal:g}",
                f"{max(below):.2f}",
                "",
                f"over on {over} of {len(below)}; mean {fmean(below):.3f}" if over else "**reached**",
            ]


def _beside_the_reference(every: Sequence[RegretRow]) -> Iterator[str]:
    """Yield the cumulative rank of the default beside that of the reference, for every data set and epsilon."""
    found = _by_set(every)
    if not found:
        return
    epsilons = sorted({epsilon for _, epsilon in found}, key=Fraction)
    yield "NCR of `adept` / of the reference, the mean over the questions of a data set at an epsilon:\n"
    lines = []
    for data in dict.fromkeys(place[0] for place in found):
        cells = [found.get((data, epsilon)) for epsilon in epsilons]
        lines.append([data, *(f"{one[0]:.2f} / {one[1]:.2f}" if one else "" for one in cells)])
    yield from markdown(["data", *(f"ε = {epsilon}" for epsilon in epsilons)], lines)


def _grouped(label: str, every: Sequence[RegretRow], by: Callable[[RegretRow], str], kind: _Kind) -> Iterator[str]:
    """Yield a table with a line for each group of rows."""
    groups: dict[str, list[RegretRow]] = {}
    for row in every:
        groups.setdefault(by(row), []).append(row)
    if len(groups) < 2:
        return
    beside = any(row.reference is not None for row in every)
    head = [label, "rows", *["NCR", "reference"] * beside]
    for number in kind.numbers:
        head += [f"regret in {number.label}" if beside and not number.ratio else number.label]
        head += ["worst"] if number.goals else []
    head += ["intervals hold", "worst"]
    lines = []
    for name, some in groups.items():
        line = [name, str(len(some)), *_ranks(some) * beside]
        for number in kind.numbers:
            several = [found for _, found in number.there(some)]
            digits = 2 if number.ratio else 3
            line.append(f"{number.mean(several):.{digits}f}" if several else "")
            if number.goals:
                line.append(f"{max(one.by for one in several):.2f}" if several else "")
        shares = [row for row in some if row.intervals >= _FEW]
        held = sum(row.held for row in shares) / sum(row.intervals for row in shares) if shares else 0.0
        line += [f"{held:.3f}", f"{min(row.covered for row in shares):.2f}"] if shares else ["", ""]
        lines.append(line)
    yield from markdown(head, lines)


def _ranks(some: Sequence[RegretRow]) -> list[str]:
    """Return the mean cumulative rank of the default and of the reference."""
    known = [1 - row.reference for row in some if row.reference is not None]
    return [f"{fmean(1 - row.missed.ours for row in some):.3f}", f"{fmean(known):.3f}" if known else ""]


def _shown(one: Regret, number: _Number) -> str:
    if not isfinite(one.doubt):
        return f"{one.by:.3g}" if number.ratio else f"{one.by:.3f}"
    return f"{one.by:.3g} (×/÷ {exp(one.doubt):.2f})" if number.ratio else f"{one.by:.3f} ± {one.doubt:.3f}"


def _by_chance(row: RegretRow) -> float:
    """Return how likely so few intervals hold by chance, if each held with the probability of the goal."""
    many, held = row.intervals, round(row.held)
    return sum(
        exp(log(comb(many, missed)) + missed * log(1 - COVERED) + (many - missed) * log(COVERED))
        for missed in range(many - held, many + 1)
    )
