"""The page and the pictures of a comparison of mechanisms: the recommended mechanism, and the results of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup

from ..errors import MisuseError
from ..results import Advice, Comparison, Picture, RunSpread, Trials, seconds_text, shown
from ._charts import Bar, Unit, draw_bars, mount_drawings, reach
from ._frame import render_page
from ._svg import Drawing, join
from ._tables import TableColumn, table
from ._text import clean, count_text, percent

_LABEL_COLUMNS = 60
# The pictures by name: a title, the unit of the bars, and the spread that a bar shows.
_KINDS: dict[str, tuple[str, Unit, Callable[[Trials], RunSpread | None]]] = {
    "found": ("Share of the true patterns that each finds", "share", lambda row: row.found),
    "counts": ("How far counts are off, in percent of the true ones", "share", lambda row: row.error),
    "intervals": ("Half of a typical 95 % interval", "count", lambda row: row.margin),
}


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
    return render_page(
        "report/templates/comparison.html.jinja",
        title=title or f"Which mechanism for {'such' if comparison.private else 'these'} data",
        figures={
            "Mechanisms": count_text(len({row.mechanism for row in comparison})),
            "Runs each": count_text(comparison.runs),
            "Patterns wanted": count_text(comparison.truth["wanted"]),
            "Count of the last": count_text(comparison.truth["last"]),
        },
        status=comparison.standing,
        comparison=comparison,
        kinds=_KINDS,
        draw_advice=_draw_advice,
        # Bars over 100 % are cut.
        exceeds_scale=any(row.error.mean > 1 for row in comparison),
        tables=join(_table(comparison, advice) for advice in comparison.advice),
        refused={name: str(reason) for name, reason in comparison.refused.items()},
        question={
            name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in comparison.asked.items()
        },
    )


def _bars_of(rows: Sequence[Trials], advice: Advice, kind: str, *, with_epsilon: bool = False) -> list[Bar]:
    """Return a bar for each mechanism, with its spread over runs as whiskers."""
    bars = []
    for row in rows:
        spread = _KINDS[kind][2](row)
        label = f"{row.name}, epsilon {shown(row.epsilon)}" if with_epsilon else row.name
        label += " · recommended" if row.mechanism == advice.recommended else ""
        if spread is not None:
            # A share of patterns is from 0 to 1; a standard deviation may reach beyond.
            low, high = max(0.0, spread.mean - spread.deviation), spread.mean + spread.deviation
            high = min(1.0, high) if kind == "found" else high
            bars.append(Bar(clean(label, _LABEL_COLUMNS), spread.mean, low, high))
    return bars


def _draw_kind(rows: Sequence[Bar], kind: str) -> Drawing:
    title, unit, _ = _KINDS[kind]
    # Bars over 100 % are cut: one mechanism far off would make all other bars too short to compare.
    scale_end = 1.0 if kind == "found" else min(1.0, reach(rows)) if kind == "counts" else None
    return draw_bars(rows, title=title, unit=unit, scale_end=scale_end)


def _draw_advice(comparison: Comparison, advice: Advice, kind: str) -> Drawing:
    """Return the bar chart of one epsilon."""
    return _draw_kind(_bars_of(comparison.at(advice.epsilon), advice, kind), kind)


def _table(comparison: Comparison, advice: Advice) -> Markup:
    """Return the table of one epsilon."""
    rows = comparison.at(advice.epsilon)
    columns = [
        _spread_column("Found", [row.found for row in rows], percent),
        _spread_column("Off by", [row.error for row in rows], lambda value: percent(value, 2)),
        _spread_column("Hold", [row.held for row in rows], percent),
        _spread_column("Interval ±", [row.margin for row in rows], count_text),
        _spread_column("Seconds", [row.seconds for row in rows], seconds_text),
    ]
    remark = Markup('<span class="broad"> After ±, the deviation from run to run.</span>')
    heads = [clean(row.name, _LABEL_COLUMNS) for row in rows]
    return table("Mechanism", heads, columns, Markup("At epsilon {}.{}").format(shown(advice.epsilon), remark))


def _spread_column(name: str, spreads: Sequence[RunSpread | None], text: Callable[[float], str]) -> TableColumn:
    """Return a column of means, each with its spread where the page is wide enough."""
    values = [math.nan if spread is None else spread.mean for spread in spreads]
    spread_text = Markup('{}<span class="broad"> ± {}</span>')
    texts = ["–" if spread is None else spread_text.format(*map(text, spread)) for spread in spreads]
    return TableColumn(name, texts, values)
