"""The page of a comparison of mechanisms, and the pictures of it: what to take, and what each of them gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from .. import __version__
from ..errors import MisuseError
from ..results import Advice, Comparison, Picture, RunSpread, Trials, seconds_text, shown
from ._charts import Bar, Drawing, Unit, bars, reach
from ._frame import Section, document, figure
from ._mount import mounted
from ._tables import TableColumn, described, table
from ._text import clean, percent, whole

_TITLE = "Which mechanism for these data"
_MADE_UP = "Which mechanism for such data"
_LABEL = 60
_KINDS: dict[str, tuple[str, str, Unit, Callable[[Trials], RunSpread | None]]] = {
    "found": ("found", "Share of the true patterns that each finds", "share", lambda row: row.found),
    "counts": ("error", "How far counts are off, in percent of the true ones", "share", lambda row: row.error),
    "intervals": ("margin", "Half of a typical 95 % interval", "count", lambda row: row.margin),
}


def comparison_picture(found: Comparison, kind: str) -> Picture:
    """Return what each mechanism gives as bars, all epsilons below each other."""
    if kind not in _KINDS:
        raise MisuseError(f"A comparison is drawn as {' or '.join(map(repr, _KINDS))}; {kind!r} was given.")
    rows = [bar for one in found.advice for bar in _bars(found.at(one.epsilon), one, kind, told=True)]
    advice = [one.lines()[0] for one in found.advice]
    return mounted([_drawn(rows, kind)], heading=found.headline, notes=[found.warning, *advice])


def comparison_page(found: Comparison, title: str | None = None) -> str:
    """Return the page of a comparison."""
    parts = [
        Section("take", "What to take", _taken(found)),
        Section("found", "What each finds", _charts(found, "found")),
        Section("counts", "How far counts are off", _charts(found, "counts")),
        Section("numbers", "All numbers", _tables(found)),
        Section("others", "Who does not answer", described({name: str(why) for name, why in found.refused.items()})),
        Section("means", "What this page is", _means(found)),
    ]
    return document(
        parts,
        title=title or (_MADE_UP if found.private else _TITLE),
        lead=f"{escape(found.headline)}.",
        figures={
            "Mechanisms": whole(len({row.mechanism for row in found})),
            "Runs each": whole(found.runs),
            "Patterns wanted": whole(found.truth["wanted"]),
            "Count of the last": whole(found.truth["last"]),
        },
        standing=found.standing,
        version=__version__,
    )


def _bars(rows: Sequence[Trials], advice: Advice, kind: str, *, told: bool = False) -> list[Bar]:
    """Return a bar for each mechanism, with its spread over runs as whiskers."""
    found = []
    for row in rows:
        spread = _KINDS[kind][3](row)
        label = f"{row.name}, epsilon {shown(row.epsilon)}" if told else row.name
        label += " · recommended" if row.mechanism == advice.recommended else ""
        if spread is not None:
            low, high = max(0.0, spread.mean - spread.deviation), spread.mean + spread.deviation
            found.append(Bar(clean(label, _LABEL), spread.mean, low, min(1.0, high) if kind == "found" else high))
    return found


def _drawn(rows: Sequence[Bar], kind: str) -> Drawing:
    _, title, unit, _ = _KINDS[kind]
    # Who is off by more than all there is would make all others too small to be told apart: such bars are cut.
    most = 1.0 if kind == "found" else min(1.0, reach(rows)) if kind == "counts" else None
    return bars(rows, title=title, unit=unit, most=most)


def _taken(found: Comparison) -> str:
    """Say what to take at each epsilon, and that this is not private."""
    told = "".join(f"<li>{_advised(one)}</li>" for one in found.advice)
    first, _, rest = found.warning.partition(". ")
    warned = f"<p><strong>{escape(first)}.</strong> {escape(rest)}</p>"
    return f'<ul class="findings">{told}</ul>\n{warned}\n'


def _advised(one: Advice) -> str:
    first, *rest = (escape(clean(line, 400)) for line in one.lines())
    return f"<strong>{first}</strong> {' '.join(rest)}"


def _charts(found: Comparison, kind: str) -> str:
    parts: list[str] = []
    for one in found.advice:
        drawn = _drawn(_bars(found.at(one.epsilon), one, kind), kind)
        parts.append(f"<h3>Epsilon {escape(shown(one.epsilon))}</h3>\n{figure(drawn, f'{kind}-{len(parts)}')}")
    said = "The line across the end of a bar is the spread over runs: one standard deviation to either side."
    if kind == "counts" and any(row.error.mean > 1 for row in found):
        said += " A bar that ends at 100 % may stand for more; the number beside it is whole."
    return f'<p class="quiet before">{_KINDS[kind][1]}. {said}</p>\n{"".join(parts)}'


def _tables(found: Comparison) -> str:
    parts = []
    for one in found.advice:
        rows = found.at(one.epsilon)
        heads = [escape(clean(row.name, _LABEL)) for row in rows]
        columns = [
            _column("Found", [row.found for row in rows], percent),
            _column("Off by", [row.error for row in rows], lambda value: percent(value, 2)),
            _column("Hold", [row.held for row in rows], percent),
            _column("Interval ±", [row.margin for row in rows], whole),
            _column("Seconds", [row.seconds for row in rows], seconds_text),
        ]
        spread = '<span class="broad"> After ±, the deviation from run to run.</span>'
        said = f"At epsilon {escape(shown(one.epsilon))}.{spread}"
        parts.append(table("Mechanism", heads, columns, said))
    return "".join(parts)


def _column(name: str, spreads: Sequence[RunSpread | None], text: Callable[[float], str]) -> TableColumn:
    """Return means, each with its spread where there is room for it."""
    values = [math.nan if spread is None else spread.mean for spread in spreads]
    texts = [
        "–" if spread is None else f'{text(spread.mean)}<span class="broad"> ± {text(spread.deviation)}</span>'
        for spread in spreads
    ]
    return TableColumn(name, texts, values)


def _means(found: Comparison) -> str:
    """Say how it was done, and what choosing by it means."""
    told = [*found.notes, _TESTED]
    told += [_MADE_UP_MEANS] if found.private else _CHOOSING
    asked = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in found.asked.items()
    }
    return described(asked) + "".join(f"<p>{escape(clean(note, 900))}</p>\n" for note in told)


_TESTED = (
    "auto is recommended unless another mechanism is better beyond doubt. Each is tested at each epsilon: whether it "
    "finds over 2 of 100 patterns more than auto, and whether the error of auto's counts is over 1.2 times its own. "
    "The test is a sign-flip test over paired runs, and Holm's method allows for all tests at an epsilon. Where nobody "
    "is better, somebody is called so in 5 of 100 comparisons at most."
)
_CHOOSING = [
    "A release keeps its promise for a question that was fixed before the data were looked at. Whoever picks a "
    "mechanism or an epsilon by this page has looked. What is picked then tells a little about the data, and no ledger "
    "has that on its account.",
    "Three ways cost nothing. Leave the choice to auto, which pays for what it measures. Compare on data of other "
    "people, such as published ones. Or compare without data, on a crowd that is made up from public numbers.",
]
_MADE_UP_MEANS = (
    "In the made-up crowd items have nothing to do with each other. On real data patterns of several items tend to be "
    "easier to find, and a mechanism that chooses by them may choose otherwise."
)
