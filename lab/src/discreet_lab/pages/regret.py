"""The pages of regret: goals beside results, then tables by data set and by part of a question, then the worst rows.

One page is about mechanisms, one about local protocols. Each page has the definitions with reasons (`regret_words`);
`discreet_lab.measure.regret`, `regret_devices` and `regrets` compute the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, isfinite, log
from statistics import fmean

from discreet.planning import Regret

from ..measure.regrets import DEFAULTS, RegretRow, coverages, rows
from ..run.failures import list_reasons
from ..run.questions import SimulationQuestion
from ..run.runner import Results
from . import regret_words
from .regret_words import COVERED
from .tables import escape_markdown, render_markdown

BELOW, FAR_BELOW = 0.0, 0.1
"""The goals for the distance of the default below the reference on any data set: at epsilon >= 1, and below."""

_WORST_ROWS = 10  # the rows in each table of worst rows
# A row shows intervals that are too short if chance alone explains it once in a thousand rows or less often.
_MAX_CHANCE = 1e-3
# With fewer intervals, one wrong interval moves the share by more than a tenth.
_MIN_INTERVALS = 10


@dataclass(frozen=True)
class _ComparedNumber:
    """A number that rows compare: its name, the function that reads it from a row, and whether it is a ratio."""

    label: str
    read: Callable[[RegretRow], Regret | None]
    ratio: bool
    digits: int
    goals: tuple[float, float] | None = None  # in the mean, and at worst

    def select_rows(self, rows: Iterable[RegretRow]) -> list[tuple[RegretRow, Regret]]:
        """Return the rows with this number, and the number."""
        return [(row, regret) for row in rows if (regret := self.read(row)) is not None]

    def compute_mean(self, regrets: Sequence[Regret]) -> float:
        """Return the mean regret; the geometric mean for ratios."""
        return (
            exp(fmean(log(regret.by) for regret in regrets)) if self.ratio else fmean(regret.by for regret in regrets)
        )

    def compute_upper_mean(self, regrets: Sequence[Regret]) -> float:
        """Return the mean regret if the runs that choose the best also measure it: an upper estimate."""
        if self.ratio:
            return exp(fmean(log(regret.ours / regret.best) for regret in regrets))
        return fmean(regret.ours - regret.best for regret in regrets)

    def is_surely_over(self, regret: Regret, goal: float) -> bool:
        """Return whether a regret is over a goal by more than two standard errors."""
        return (log(regret.by) - log(goal) if self.ratio else regret.by - goal) > 2 * regret.doubt


@dataclass(frozen=True, kw_only=True)
class _PageKind:
    """The numbers, groups and texts of a page."""

    beginning: str
    definitions: str
    numbers: tuple[_ComparedNumber, ...]  # the missed share first; a number without goals has a mean only
    groups: tuple[tuple[str, Callable[[RegretRow], str]], ...]
    introduction: Callable[[int, int, int], str]


def _introduce_curator(rows: int, seeds: int, compared: int) -> str:
    """Return the introduction of the page about mechanisms."""
    return (
        f"{rows:,} rows, each a question about a data set, {seeds} runs per mechanism. Errors of counts are"
        f" compared in {compared:,} rows; in the remaining rows every mechanism misses more than half.\n"
    )


def _introduce_devices(rows: int, seeds: int, compared: int) -> str:
    """Return the introduction of the page about local protocols."""
    return (
        f"{rows:,} rows, each a question about a data set, {seeds} runs per protocol. Errors of counts are"
        f" compared in {compared:,} rows; in the remaining rows no two protocols find enough common patterns.\n"
    )


_BY_QUESTION: tuple[tuple[str, Callable[[RegretRow], str]], ...] = (
    ("data", lambda row: row.data),
    ("question", lambda row: row.question.target),
)
_HIGH = "90th percentile of errors of counts"
_KINDS = {
    "regret": _PageKind(
        beginning=regret_words.CURATOR_BEGINNING,
        definitions=regret_words.CURATOR_DEFINITIONS,
        numbers=(
            _ComparedNumber("misses", lambda row: row.missed, ratio=False, digits=3, goals=(0.01, 0.04)),
            _ComparedNumber("median error of counts", lambda row: row.median, ratio=True, digits=4, goals=(1.2, 2.0)),
            _ComparedNumber(
                "90th percentile of errors of counts", lambda row: row.high, ratio=True, digits=4, goals=(1.2, 2.0)
            ),
            _ComparedNumber("error of confidences", lambda row: row.confidence, ratio=False, digits=3),
        ),
        groups=(
            *_BY_QUESTION,
            ("items", lambda row: str(row.question.lengths or "any")),
            ("ε", lambda row: row.question.epsilon),
            ("δ", lambda row: getattr(row.question, "delta", "0")),
        ),
        introduction=_introduce_curator,
    ),
    "regret-devices": _PageKind(
        beginning=regret_words.DEVICES_BEGINNING,
        definitions=regret_words.DEVICES_DEFINITIONS,
        numbers=(
            _ComparedNumber("NCR", lambda row: row.missed, ratio=False, digits=3, goals=(0.01, 0.04)),
            _ComparedNumber("error on common hits", lambda row: row.common, ratio=True, digits=4, goals=(1.0, 1.0)),
        ),
        groups=(
            *_BY_QUESTION,
            ("items", lambda row: "two and more" if row.question.lengths else "any"),
            ("ε", lambda row: row.question.epsilon),
        ),
        introduction=_introduce_devices,
    ),
}
MEASURES = tuple(_KINDS)
"""The measures with a page of this kind."""


def render_regret_page(title: str, results: Sequence[Results], *, quick: bool) -> Iterator[str]:
    """Yield the lines of the page: each experiment with results, and then the definitions."""
    kind = _find_kind(results[0])
    yield f"# {title}\n"
    yield kind.beginning
    if quick:
        yield "**Quick setting**: three repeats and three questions of each data set.\n"
    shown_questions: set[tuple[str, str]] = set()
    for result in results:
        # Experiments share their runs: a section without a further question is left out.
        questions = {(row.data, str(row.question)) for row in rows(result)}
        if questions - shown_questions:
            shown_questions |= questions
            yield from _render_section(result)
        else:
            yield f"## {result.experiment.shows}\n"
            yield f"*Not run yet*: {result.experiment.title} (`discreet lab run {result.experiment.name}`).\n"
    yield kind.definitions


def render_summary(results: Results) -> Iterator[str]:
    """Yield the table of goals: the result for each, and the number of rows that miss it."""
    all_rows, kind = rows(results), _find_kind(results)
    lines = [line for number in kind.numbers for line in _list_goals(all_rows, number)]
    lines += _list_reference_goals(all_rows)
    if rows_with_intervals := [row for row in all_rows if row.intervals >= _MIN_INTERVALS]:
        least_share = min(row.covered for row in rows_with_intervals)
        rows_under = [row for row in rows_with_intervals if row.covered < COVERED]
        sure_count = sum(_compute_chance(row) < _MAX_CHANCE for row in rows_under)
        lines.append(
            [
                "intervals that hold the true count, in the worst row",
                f"at least {COVERED:g}",
                f"{least_share:.2f}",
                "",
                f"below in {len(rows_under)} of {len(rows_with_intervals)} rows, beyond chance in {sure_count}"
                if rows_under
                else "**reached**",
            ]
        )
    yield from render_markdown([_name_default(results), "goal", "measured", "by the same runs", ""], lines)


def render_worst(results: Results) -> Iterator[str]:
    """Yield the worst rows of each number."""
    all_rows, default = rows(results), _name_default(results)
    for number in _find_kind(results).numbers:
        if number.goals is None:
            continue
        worst_rows = sorted(number.select_rows(all_rows), key=lambda regret: -regret[1].by)[:_WORST_ROWS]
        has_reference = not number.ratio and any(row.reference is not None for row, _ in worst_rows)
        yield f"**The worst in {number.label}:**\n"
        yield from render_markdown(
            [
                "data",
                "question",
                default,
                "best",
                "",
                "ratio" if number.ratio else "regret",
                *["reference"] * has_reference,
            ],
            (
                [
                    row.data,
                    f"`{row.question}`",
                    f"{_restore_rank(regret.ours, row, number):.{number.digits}f}",
                    f"{_restore_rank(regret.best, row, number):.{number.digits}f}",
                    regret.line,
                    _render_regret(regret, number),
                    *[_render_reference(row)] * has_reference,
                ]
                for row, regret in worst_rows
            ),
        )
    yield "**The worst in intervals:**\n"
    yield from render_markdown(
        ["data", "question", "hold the true count", "of", "by chance"],
        (
            [row.data, f"`{row.question}`", f"{row.covered:.3f}", f"{row.intervals:,}", f"{_compute_chance(row):.0e}"]
            for row in sorted((row for row in all_rows if row.intervals), key=_compute_chance)[:_WORST_ROWS]
        ),
    )


def render_missed_goals(results: Results) -> Iterator[str]:
    """Yield each row that misses a goal for the worst row, with its number."""
    all_rows, numbers = rows(results), [number for number in _find_kind(results).numbers if number.goals is not None]
    text_of_row = [
        {
            id(row): _render_regret(regret, number)
            for row, regret in number.select_rows(all_rows)
            if regret.by > (number.goals or (0, 0))[1]
        }
        for number in numbers
    ]
    share_of_row = {
        id(row): f"{row.covered:.3f}" for row in all_rows if row.intervals >= _MIN_INTERVALS and row.covered < COVERED
    }
    rows_over = [row for row in all_rows if any(id(row) in texts for texts in (*text_of_row, share_of_row))]
    yield f"**Every row that does not meet a goal**: {len(rows_over):,} of {len(all_rows):,}.\n"
    yield from render_markdown(
        ["data", "question", *(number.label for number in numbers), "intervals hold"],
        (
            [row.data, f"`{row.question}`", *(texts.get(id(row), "") for texts in (*text_of_row, share_of_row))]
            for row in rows_over
        ),
    )


def _find_kind(results: Results) -> _PageKind:
    """Return the kind of the page of an experiment."""
    return _KINDS[results.experiment.measure]


def _name_default(results: Results) -> str:
    """Return the name of the default of an experiment, as code."""
    return f"`{DEFAULTS[results.experiment.measure]}`"


def _restore_rank(number: float, row: RegretRow, compared: _ComparedNumber) -> float:
    """Return a number in the direction of its table: one minus the loss for the cumulative rank."""
    return 1 - number if isinstance(row.question, SimulationQuestion) and not compared.ratio else number


def _render_reference(row: RegretRow) -> str:
    """Return the cumulative rank of the reference in a row, as text; empty without a reference."""
    return "" if row.reference is None else f"{1 - row.reference:.3f}"


def _render_section(results: Results) -> Iterator[str]:
    """Yield the section of an experiment."""
    all_rows, kind = rows(results), _find_kind(results)
    seeds = len({row.seed for row in results.rows})
    yield f"## {results.experiment.shows}: {results.experiment.title}\n"
    yield f"{results.experiment.says}\n"
    if results.missing:
        command = f"`discreet lab run {results.experiment.name}`"
        yield f"{results.missing:,} runs are missing here: {command} runs them, or says why they cannot be.\n"
    yield from (f"*Not run*: {escape_markdown(reason)}\n" for reason in list_reasons(results.failed))
    yield kind.introduction(len(all_rows), seeds, len(kind.numbers[1].select_rows(all_rows)))
    yield from render_summary(results)
    yield from _render_reference_table(all_rows)
    yield "In groups: the mean regret, for errors of counts the geometric mean of ratios, and the worst row of each.\n"
    for label, key in kind.groups:
        yield from _render_groups(label, all_rows, key, kind)
    yield from render_worst(results)
    yield from render_missed_goals(results)
    yield f"**Intervals of every {'protocol' if kind is _KINDS['regret-devices'] else 'mechanism'}:**\n"
    yield from render_markdown(
        ["", "intervals", "hold the true count", "in the worst row"],
        (
            [line, f"{interval_count:,}", f"{share:.3f}", f"{least_share:.2f}"]
            for line, (interval_count, share, least_share) in coverages(results).items()
        ),
    )


def _list_goals(rows: Sequence[RegretRow], number: _ComparedNumber) -> Iterator[list[str]]:
    """Yield the lines of one number: its mean, and its worst row."""
    regrets = [regret for _, regret in number.select_rows(rows)]
    if not regrets:
        return
    mean, upper, goals = number.compute_mean(regrets), number.compute_upper_mean(regrets), number.goals
    if goals is None:
        yield [f"regret in the {number.label}, mean", "", f"{mean:.3f}", f"{upper:.3f}", ""]
        return
    largest_regret = max(regret.by for regret in regrets)
    over_count = sum(regret.by > goals[1] for regret in regrets)
    sure_count = sum(number.is_surely_over(regret, goals[1]) for regret in regrets)
    name = f"{number.label}, times the best's" if number.ratio else f"regret in {number.label}"
    yield [
        f"{name}, {'geometric ' if number.ratio else ''}mean",
        f"at most {goals[0]:g}",
        f"{mean:.3f}",
        f"{upper:.3f}",
        "**reached**" if mean <= goals[0] else f"{mean - goals[0]:.3f} over",
    ]
    yield [
        f"{name}, worst",
        f"at most {goals[1]:g}",
        f"{largest_regret:.2f}",
        "",
        f"over in {over_count} of {len(regrets)} rows, beyond doubt in {sure_count}" if over_count else "**reached**",
    ]


def _average_by_set(rows: Sequence[RegretRow]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the mean cumulative ranks of the default and of the reference, by data set and epsilon."""
    groups: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        if row.reference is not None:
            place = (row.data, row.question.epsilon)
            groups.setdefault(place, []).append((1 - row.missed.ours, 1 - row.reference))
    return {place: (fmean(a for a, _ in pairs), fmean(b for _, b in pairs)) for place, pairs in groups.items()}


def _list_reference_goals(rows: Sequence[RegretRow]) -> Iterator[list[str]]:
    """Yield the distance of the default below the reference on the worst data set, for high and for low epsilon."""
    ranks_of_set = _average_by_set(rows)
    for is_low, epsilon_text, goal in ((False, "of 1 and more", BELOW), (True, "below 1", FAR_BELOW)):
        distances = [
            reference - default
            for (_, epsilon), (default, reference) in ranks_of_set.items()
            if (Fraction(epsilon) < 1) is is_low
        ]
        if distances:
            over_count = sum(distance > goal for distance in distances)
            yield [
                f"NCR below the reference at an epsilon {epsilon_text}, on the worst data set",
                f"at most {goal:g}",
                f"{max(distances):.2f}",
                "",
                f"over on {over_count} of {len(distances)}; mean {fmean(distances):.3f}"
                if over_count
                else "**reached**",
            ]


def _render_reference_table(rows: Sequence[RegretRow]) -> Iterator[str]:
    """Yield the cumulative ranks of the default and of the reference, for each data set and epsilon."""
    ranks_of_set = _average_by_set(rows)
    if not ranks_of_set:
        return
    epsilons = sorted({epsilon for _, epsilon in ranks_of_set}, key=Fraction)
    yield "NCR of `adept` / of the reference, the mean over the questions of a data set at an epsilon:\n"
    lines = []
    for data in dict.fromkeys(place[0] for place in ranks_of_set):
        cells = [ranks_of_set.get((data, epsilon)) for epsilon in epsilons]
        lines.append([data, *(f"{pair[0]:.2f} / {pair[1]:.2f}" if pair else "" for pair in cells)])
    yield from render_markdown(["data", *(f"ε = {epsilon}" for epsilon in epsilons)], lines)


def _render_groups(
    label: str, rows: Sequence[RegretRow], key: Callable[[RegretRow], str], kind: _PageKind
) -> Iterator[str]:
    """Yield a table with a line for each group of rows."""
    groups: dict[str, list[RegretRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    if len(groups) < 2:
        return
    has_reference = any(row.reference is not None for row in rows)
    head = [label, "rows", *["NCR", "reference"] * has_reference]
    for number in kind.numbers:
        head += [f"regret in {number.label}" if has_reference and not number.ratio else number.label]
        head += ["worst"] if number.goals else []
    head += ["intervals hold", "worst"]
    lines = []
    for name, group in groups.items():
        line = [name, str(len(group)), *_average_ranks(group) * has_reference]
        for number in kind.numbers:
            regrets = [regret for _, regret in number.select_rows(group)]
            digits = 2 if number.ratio else 3
            line.append(f"{number.compute_mean(regrets):.{digits}f}" if regrets else "")
            if number.goals:
                line.append(f"{max(regret.by for regret in regrets):.2f}" if regrets else "")
        rows_with_intervals = [row for row in group if row.intervals >= _MIN_INTERVALS]
        share = (
            sum(row.held for row in rows_with_intervals) / sum(row.intervals for row in rows_with_intervals)
            if rows_with_intervals
            else 0.0
        )
        line += (
            [f"{share:.3f}", f"{min(row.covered for row in rows_with_intervals):.2f}"]
            if rows_with_intervals
            else ["", ""]
        )
        lines.append(line)
    yield from render_markdown(head, lines)


def _average_ranks(rows: Sequence[RegretRow]) -> list[str]:
    """Return the mean cumulative rank of the default and of the reference, as text."""
    references = [1 - row.reference for row in rows if row.reference is not None]
    return [f"{fmean(1 - row.missed.ours for row in rows):.3f}", f"{fmean(references):.3f}" if references else ""]


def _render_regret(regret: Regret, number: _ComparedNumber) -> str:
    """Return a regret with its standard error, as text."""
    if not isfinite(regret.doubt):
        return f"{regret.by:.3g}" if number.ratio else f"{regret.by:.3f}"
    return f"{regret.by:.3g} (×/÷ {exp(regret.doubt):.2f})" if number.ratio else f"{regret.by:.3f} ± {regret.doubt:.3f}"


def _compute_chance(row: RegretRow) -> float:
    """Return the probability of at most this share of right intervals, at the coverage of the goal."""
    interval_count, right_count = row.intervals, round(row.held)
    return sum(
        exp(
            log(comb(interval_count, wrong_count))
            + wrong_count * log(1 - COVERED)
            + (interval_count - wrong_count) * log(COVERED)
        )
        for wrong_count in range(interval_count - right_count, interval_count + 1)
    )
