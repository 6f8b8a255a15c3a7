"""The page and the pictures of a comparison of mechanisms: the recommended mechanism, and the results of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from .. import __version__
from ..errors import MisuseError
from ..results import Advice, Comparison, Picture, RunSpread, Trials, seconds_text, shown
from ._charts import Bar, Drawing, Unit, draw_bars, mount_drawings, reach
from ._frame import Section, document, figure
from ._tables import TableColumn, render_facts, table
from ._text import clean, count_text, percent

_LABEL_COLUMNS = 60
# The pictures by name: a title, the unit of the bars, and the spread that a bar shows.
_KINDS: dict[str, tuple[str, Unit, Callable[[Trials], RunSpread | None]]] = {
    "found": ("Share of the true patterns that each finds", "share", lambda row: row.found),
    "counts": ("How far counts are off, in percent of the true ones", "share", lambda row: row.error),
    "intervals": ("Half of a typical 95 % interval", "count", lambda row: row.margin),
}
_TEST_NOTE = (
    "auto is recommended unless another mechanism is better beyond doubt. Each is tested at each epsilon: whether it "
    "finds over 2 of 100 patterns more than auto, and whether the error of auto's counts is over 1.2 times its own. "
    "The test is a sign-flip test over paired runs, and Holm's method allows for all tests at an epsilon. Where nobody "
    "is better, somebody is called so in 5 of 100 comparisons at most."
)
_DATA_NOTES = [
    "A release keeps its promise for a question that was fixed before the data were looked at. Whoever picks a "
    "mechanism or an epsilon by this page has looked. What is picked then tells a little about the data, and no ledger "
    "has that on its account.",
    "Three ways cost nothing. Leave the choice to auto, which pays for what it measures. Compare on data of other "
    "people, such as published ones. Or compare without data, on a crowd that is made up from public numbers.",
]
_CROWD_NOTES = [
    "In the made-up crowd items have nothing to do with each other. On real data patterns of several items tend to be "
    "easier to find, and a mechanism that chooses by them may choose otherwise."
]


def comparison_picture(comparison: Comparison, kind: str) -> Picture:
    """Return the results of each mechanism as bars, one epsilon below the next."""
    if kind not in _KINDS:
        raise MisuseError(f"A comparison is drawn as {' or '.join(map(repr, _KINDS))}; {kind!r} was given.")
    rows = [
        bar
        for advice in comparison.advice
        for bar in _bars_of(comparison.at(advice.epsilon), advice, kind, with_epsilon=True)
    ]
    notes = [comparison.warning, *(advice.lines()[0] for advice in comparison.advice)]
    return mount_drawings([_draw_kind(rows, kind)], heading=comparison.headline, notes=notes)


def comparison_page(comparison: Comparison, title: str | None = None) -> str:
    """Return the page of a comparison."""
    refused = {name: str(reason) for name, reason in comparison.refused.items()}
    return document(
        [
            Section("take", "What to take", _render_advice(comparison)),
            Section("found", "What each finds", _render_charts(comparison, "found")),
            Section("counts", "How far counts are off", _render_charts(comparison, "counts")),
            Section("numbers", "All numbers", _render_tables(comparison)),
            Section("others", "Who does not answer", render_facts(refused)),
            Section("means", "What this page is", _render_method(comparison)),
        ],
        title=title or f"Which mechanism for {'such' if comparison.private else 'these'} data",
        lead=f"{escape(comparison.headline)}.",
        figures={
            "Mechanisms": count_text(len({row.mechanism for row in comparison})),
            "Runs each": count_text(comparison.runs),
            "Patterns wanted": count_text(comparison.truth["wanted"]),
            "Count of the last": count_text(comparison.truth["last"]),
        },
        status=comparison.standing,
        version=__version__,
    )


def _bars_of(rows: Sequence[Trials], advice: Advice, kind: str, *, with_epsilon: bool = False) -> list[Bar]:
    """Return a bar for each mechanism, with its spread over runs as whiskers."""
    bars = []
    for row in rows:
        spread = _KINDS[kind][2](row)
        label = f"{row.name}, epsilon {shown(row.epsilon)}" if with_epsilon else row.name
        label += " · recommended" if row.mechanism == advice.recommended else ""
        if spread is not None:
            low, high = max(0.0, spread.mean - spread.deviation), spread.mean + spread.deviation
            high = min(1.0, high) if kind == "found" else high
            bars.append(Bar(clean(label, _LABEL_COLUMNS), spread.mean, low, high))
    return bars


def _draw_kind(rows: Sequence[Bar], kind: str) -> Drawing:
    title, unit, _ = _KINDS[kind]
    # Bars over 100 % are cut: one mechanism far off would make all other bars too short to compare.
    scale_end = 1.0 if kind == "found" else min(1.0, reach(rows)) if kind == "counts" else None
    return draw_bars(rows, title=title, unit=unit, scale_end=scale_end)


def _render_advice(comparison: Comparison) -> str:
    """Return the recommendation at each epsilon, and the warning that the comparison is not private."""
    items = ""
    for advice in comparison.advice:
        headline, *details = (escape(clean(line, 400)) for line in advice.lines())
        items += f"<li><strong>{headline}</strong> {' '.join(details)}</li>"
    mark, _, warning = comparison.warning.partition(". ")
    return f'<ul class="findings">{items}</ul>\n<p><strong>{escape(mark)}.</strong> {escape(warning)}</p>\n'


def _render_charts(comparison: Comparison, kind: str) -> str:
    """Return a bar chart for each epsilon."""
    charts = ""
    for number, advice in enumerate(comparison.advice):
        drawing = _draw_kind(_bars_of(comparison.at(advice.epsilon), advice, kind), kind)
        charts += f"<h3>Epsilon {escape(shown(advice.epsilon))}</h3>\n{figure(drawing, f'{kind}-{number}')}"
    text = "The line across the end of a bar is the spread over runs: one standard deviation to either side."
    if kind == "counts" and any(row.error.mean > 1 for row in comparison):
        text += " A bar that ends at 100 % may stand for more; the number beside it is whole."
    return f'<p class="quiet before">{_KINDS[kind][0]}. {text}</p>\n{charts}'


def _render_tables(comparison: Comparison) -> str:
    """Return a table for each epsilon."""
    tables = ""
    for advice in comparison.advice:
        rows = comparison.at(advice.epsilon)
        heads = [escape(clean(row.name, _LABEL_COLUMNS)) for row in rows]
        columns = [
            _spread_column("Found", [row.found for row in rows], percent),
            _spread_column("Off by", [row.error for row in rows], lambda value: percent(value, 2)),
            _spread_column("Hold", [row.held for row in rows], percent),
            _spread_column("Interval ±", [row.margin for row in rows], count_text),
            _spread_column("Seconds", [row.seconds for row in rows], seconds_text),
        ]
        remark = '<span class="broad"> After ±, the deviation from run to run.</span>'
        tables += table("Mechanism", heads, columns, f"At epsilon {escape(shown(advice.epsilon))}.{remark}")
    return tables


def _spread_column(name: str, spreads: Sequence[RunSpread | None], text: Callable[[float], str]) -> TableColumn:
    """Return a column of means, each with its spread where the page is wide enough."""
    values = [math.nan if spread is None else spread.mean for spread in spreads]
    texts = [
        "–" if spread is None else f'{text(spread.mean)}<span class="broad"> ± {text(spread.deviation)}</span>'
        for spread in spreads
    ]
    return TableColumn(name, texts, values)


def _render_method(comparison: Comparison) -> str:
    """Return the question, the method of the comparison, and the privacy cost of a choice by it."""
    notes = [*comparison.notes, _TEST_NOTE, *(_CROWD_NOTES if comparison.private else _DATA_NOTES)]
    question = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in comparison.asked.items()
    }
    return render_facts(question) + "".join(f"<p>{escape(clean(note, 900))}</p>\n" for note in notes)
