"""The page of regret: goals beside what was measured, then by data set and by every part of a question, then the worst.

Definitions stand on the page with their reasons; `discreet.lab.measure.regret` and `regrets` compute them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, exp, isfinite, log
from statistics import fmean

from ..measure.regrets import HOPELESS, SLACK, Regret, RegretRow, coverages, rows
from ..run.runner import Results
from .tables import markdown, text

MISSED_MEAN, MISSED_WORST = 0.01, 0.04
RATIO_MEAN, RATIO_WORST = 1.2, 2.0
COVERED = 0.93
"""The goals that were set: regret in the mean and at worst, and the share of 95 % intervals that hold in every row."""

_WORST = 10
# What chance alone does once in so many rows is no sign that intervals are too short.
_CHANCE = 1e-3
# Of fewer intervals, a share says nothing.
_FEW = 10

_BEGINNING = """\
Whoever names no mechanism gets `auto`. Here it is asked many questions about many data sets, beside every other
mechanism that answers them. *Regret* is how much worse it does than the best of them, each number by itself.
The definitions, with their reasons, are [at the end](#what-is-measured-and-why-so).

`discreet lab run regret` runs it, and `discreet lab page --paper regret` makes this page of what is kept.
"""
_DEFINITIONS = f"""\
## What is measured, and why so

- **Questions**: the top 5 to 400, and all patterns over a threshold, which is the count of the pattern of rank 20, 100
  or 400 (`over=100`). Patterns have 1, 2, 3 or any number of items. Epsilon is 0.1, 0.5, 1 or 2, pure or with a delta
  of 1e-6. `regret` asks each data set 40 of these 320 questions, in which every two levels of different parameters
  meet; eight data sets cover all.
- **Mechanisms**: all of the registry that answer such a question, with their default settings and a public list of
  items. How many people there are is not public.
- **Misses**: the share of the true top that is not in the release. Whatever as many people hold as the last one of the
  top is right, so ties are held against nobody. Over a threshold it is one minus the F-score, since whoever lists
  everything misses nothing.
- **Error of counts**: the relative error over the patterns that are wanted, found or not. Whoever finds only the easy
  ones would look precise otherwise. Of a pattern that it does not list, a release says that no more people hold it
  than the last one listed, or than the threshold: that number is taken for its count. An error of less than one person
  counts as one person.
- **Rivals in counts** are the mechanisms that miss at most {SLACK:g} more than `auto` does. Where even the best misses
  more than {HOPELESS:g}, everybody counts noise, and errors of counts are not compared.
- **Confidences**: the mean error over rules with one item on the right, made of the wanted patterns. A rule that cannot
  be read off the release counts as 0. There are rules only where patterns of any length are asked for.
- **Intervals**: the share of the 95 % intervals of all listed patterns, also wrong ones, that hold the true count.
  *By chance* is the probability that so few hold if each held with {COVERED:g}, independently of the others.
- **Regret**: the best of several noisy numbers looks better than it is. So half of the runs say which mechanism is the
  best, and the other half by how much, and the other way round. A small regret may then come out below none: whoever
  chooses by a few runs may choose wrongly too. *By the same runs* is the other end: the mean if all runs choose and all
  runs tell, which is too much. Which mechanism is named as the best goes by all runs. *Beyond doubt* means by more than
  two standard errors of these runs.
"""


@dataclass(frozen=True)
class _Number:
    """A number of a row that is compared: what it is called, how it is taken, and whether it is a ratio."""

    label: str
    of: Callable[[RegretRow], Regret | None]
    ratio: bool
    digits: int

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


_MISSED = _Number("misses", lambda row: row.missed, ratio=False, digits=3)
_MEDIAN = _Number("median error of counts", lambda row: row.median, ratio=True, digits=4)
_HIGH = _Number("90th percentile of errors of counts", lambda row: row.high, ratio=True, digits=4)
_CONFIDENCE = _Number("error of confidences", lambda row: row.confidence, ratio=False, digits=3)


def regret_page(title: str, results: Sequence[Results], *, quick: bool) -> Iterator[str]:
    """Yield the lines of the page: every experiment that was run, and then what is measured and why so."""
    yield f"# {title}\n"
    yield _BEGINNING
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
    yield _DEFINITIONS


def summary(results: Results) -> Iterator[str]:
    """Yield the table of goals: what was measured of each, and in how many rows it is not met."""
    every = rows(results)
    lines = [
        *_goals(every, _MISSED, (MISSED_MEAN, MISSED_WORST)),
        *_goals(every, _MEDIAN, (RATIO_MEAN, RATIO_WORST)),
        *_goals(every, _HIGH, (RATIO_MEAN, RATIO_WORST)),
    ]
    if several := [found for _, found in _CONFIDENCE.there(every)]:
        upper = _CONFIDENCE.by_the_same_runs(several)
        lines.append(
            ["regret in the error of confidences, mean", "", f"{_CONFIDENCE.mean(several):.3f}", f"{upper:.3f}", ""]
        )
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
    yield from markdown(["`auto`", "goal", "measured", "by the same runs", ""], lines)


def worst(results: Results) -> Iterator[str]:
    """Yield the worst rows of each number."""
    every = rows(results)
    for number in (_MISSED, _MEDIAN, _HIGH):
        several = sorted(number.there(every), key=lambda one: -one[1].by)[:_WORST]
        yield f"**The worst in {number.label}:**\n"
        yield from markdown(
            ["data", "question", "`auto`", "best", "", "ratio" if number.ratio else "regret"],
            (
                [
                    row.data,
                    f"`{row.question}`",
                    f"{one.ours:.{number.digits}f}",
                    f"{one.best:.{number.digits}f}",
                    one.line,
                    _shown(one, number),
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


def _section(results: Results) -> Iterator[str]:
    every = rows(results)
    seeds = len({row.seed for row in results.rows})
    yield f"## {results.experiment.shows}: {results.experiment.title}\n"
    yield f"{results.experiment.says}\n"
    if results.missing:
        command = f"`discreet lab run {results.experiment.name}`"
        yield f"**Not all was run**: {results.missing:,} runs are missing ({command}).\n"
    yield from (f"*Not run*: {text(failed)}\n" for failed in results.failed)
    told = len(_MEDIAN.there(every))
    yield (
        f"{len(every):,} rows, a question about a data set each, {seeds} runs per mechanism. Errors of counts are"
        f" compared in {told:,} of them; in the others everybody misses more than half.\n"
    )
    yield from summary(results)
    yield "In groups: the mean regret, for errors of counts the geometric mean of ratios, and the worst row of each.\n"
    yield from _grouped("data", every, lambda row: row.data)
    yield from _grouped("question", every, lambda row: row.question.wanted)
    yield from _grouped("items", every, lambda row: str(row.question.lengths or "any"))
    yield from _grouped("ε", every, lambda row: row.question.epsilon)
    yield from _grouped("δ", every, lambda row: row.question.delta)
    yield from worst(results)
    yield "**Intervals of every mechanism:**\n"
    yield from markdown(
        ["", "intervals", "hold the true count", "in the worst row"],
        (
            [line, f"{many:,}", f"{share:.3f}", f"{least:.2f}"]
            for line, (many, share, least) in coverages(results).items()
        ),
    )


def _goals(every: Sequence[RegretRow], number: _Number, goals: tuple[float, float]) -> Iterator[list[str]]:
    """Yield the lines of one number: its mean, and its worst row."""
    several = [found for _, found in number.there(every)]
    if not several:
        return
    mean, most = number.mean(several), max(one.by for one in several)
    over = sum(one.by > goals[1] for one in several)
    sure = sum(number.surely_over(one, goals[1]) for one in several)
    what = f"{number.label}, times the best's" if number.ratio else f"regret in {number.label}"
    yield [
        f"{what}, {'geometric ' if number.ratio else ''}mean",
        f"at most {goals[0]:g}",
        f"{mean:.3f}",
        f"{number.by_the_same_runs(several):.3f}",
        "**reached**" if mean <= goals[0] else f"{mean - goals[0]:.3f} over",
    ]
    yield [
        f"{what}, worst",
        f"at most {goals[1]:g}",
        f"{most:.2f}",
        "",
        f"over in {over} of {len(several)} rows, beyond doubt in {sure}" if over else "**reached**",
    ]


def _grouped(label: str, every: Sequence[RegretRow], by: Callable[[RegretRow], str]) -> Iterator[str]:
    """Yield a table with a line for each group of rows."""
    groups: dict[str, list[RegretRow]] = {}
    for row in every:
        groups.setdefault(by(row), []).append(row)
    if len(groups) < 2:
        return
    head = [label, "rows"]
    for number in (_MISSED, _MEDIAN, _HIGH):
        head += [number.label, "worst"]
    head += [_CONFIDENCE.label, "intervals hold", "worst"]
    lines = []
    for name, some in groups.items():
        line = [name, str(len(some))]
        for number in (_MISSED, _MEDIAN, _HIGH):
            several = [found for _, found in number.there(some)]
            digits = 2 if number.ratio else 3
            line += (
                [f"{number.mean(several):.{digits}f}", f"{max(one.by for one in several):.2f}"] if several else ["", ""]
            )
        several = [found for _, found in _CONFIDENCE.there(some)]
        line.append(f"{_CONFIDENCE.mean(several):.3f}" if several else "")
        shares = [row for row in some if row.intervals >= _FEW]
        held = sum(row.held for row in shares) / sum(row.intervals for row in shares) if shares else 0.0
        line += [f"{held:.3f}", f"{min(row.covered for row in shares):.2f}"] if shares else ["", ""]
        lines.append(line)
    yield from markdown(head, lines)


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
