"""How results look to a person: a text table in the terminal, an HTML table in a notebook.

Both show the first rows and say how many more there are, so that looking at millions of patterns costs
nothing. Names come from data: what a terminal or a browser would act on is shown, not obeyed.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from html import escape
from math import ceil, floor, isnan
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ..baskets import Unit
from ..wording import number_of, printable
from ._itemsets import Itemsets
from ._patterns import Patterns
from ._promise import SIMULATED, count_end, end_digits, line, outwards
from ._provenance import Provenance
from ._rules import Rules

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderResult

_WIDEST, _NARROWEST, _GAP = 60, 12, 3  # columns of the names, and between two columns
PIPED = 100_000  # columns where no screen has an edge: names are whole there
_BAR, _ROOMY = 10, 24  # columns of a bar, and those that names keep beside it
# Columns that are left out where there is no room, the first ones first.
_GIVE_WAY = [("level",), ("support",), ("from", "to"), ("adj. p",), ("lift",), ("low", "high"), ("count",)]
_EIGHTHS = " ▏▎▍▌▋▊▉"
ROWS = 10
# The line in tables from which patterns may be noise; one below it whose interval stays over 0 is none.
NOISE_LINE = "– may be noise from here on –"
NOISE_SAID = "A pattern whose low is 0 may be held by nobody."
DROWNED = (
    "Most of this cannot be told from noise. More people, a higher epsilon, fewer items or fewer patterns would help."
)
LIARS = "intervals hold whatever is in up to {share} of the reports of each round; about what is listed, and no more"
NOTHING = (
    "Nothing stood out of the noise, which does not say that nothing is there. A lower threshold, more people, a "
    "higher epsilon or fewer items would show more."
)
_ITEMS = 24
# One, and several of what counts are of.
UNITS: dict[Unit, tuple[str, str]] = {"people": ("person", "people"), "baskets": ("basket", "baskets")}
_SMALL_P, _LEAST_P = Decimal("0.001"), 1e-9  # smaller ones are written as 2.2e-5; and not at all


# What stands on rules over receipts: counts are of baskets there, and p-values are not.
OVER_PEOPLE = "p-values are over people: one basket of each, drawn at random"


def headline(result: Patterns | Rules) -> str:
    """Return one line that says what there is."""
    word = "pattern" if isinstance(result, Patterns) else result.kind.removesuffix("s")
    people = number_of(result.people, *UNITS[result.unit])
    if result.people_within is not None:
        people = f"about {people} ({result.people_within[0]:,} to {result.people_within[1]:,})"
    line = f"{number_of(len(result), word)} of {people}"
    if isinstance(result, Patterns):
        line += noise_words(result)
    if isinstance(result, Rules) and result.omitted:
        line += f"; {result.omitted:,} left out, because a side is not among the patterns"
    return line


def noise_words(patterns: Patterns) -> str:
    """Return how many patterns may be held by nobody, and where they begin; nothing where none may."""
    noise_count = int(patterns.may_be_noise.sum())
    if patterns.noise_from is None:
        return ""
    begins = "" if patterns.noise_from == 0 else f", from number {patterns.noise_from + 1:,} on"
    return f"; {noise_count:,} may be held by nobody{begins}"


def drowned(patterns: Patterns) -> int:
    """Return how many patterns the noise may have made up, where these are the most; otherwise 0."""
    noise_count = int(patterns.may_be_noise.sum())
    return noise_count if 2 * noise_count > len(patterns) else 0


def _line_at(result: Patterns | Rules, rows: int) -> int | None:
    """Return before which of the first rows the line stands from which patterns may be noise; None for no line."""
    place = result.noise_from if isinstance(result, Patterns) else None
    return place if place is not None and place < min(rows, len(result)) else None


def liars_of(result: Patterns | Rules) -> str | None:
    """Return which part of the reports the intervals allow to be made up, or None where nobody asked for that."""
    question = (result.provenance or Provenance()).question or {}
    share = question.get("assume_malicious")
    return None if share is None else str(share)


def promises(result: Patterns | Rules) -> list[str]:
    """Return the lines under the headline: whether it is mostly noise, what was promised, and whether it is a trial."""
    provenance = result.provenance or Provenance()
    share = liars_of(result)
    lines = [DROWNED] if share is None and isinstance(result, Patterns) and drowned(result) else []
    if share is not None:
        lines.append(LIARS.format(share=printable(share)))
    if provenance.guarantee is not None:
        lines.append(printable(line(provenance.guarantee)))
    if provenance.simulated:
        lines.append(SIMULATED)
    if isinstance(result, Rules) and result.unit == "baskets" and result.p is not None:
        lines.append(OVER_PEOPLE)
    return lines


def table(result: Patterns | Rules, rows: int = ROWS, *, bars: bool = False) -> Group:
    """Return the headline and the first `rows` rows for any rich console.

    Parameters
    ----------
    result
        Patterns or rules.
    rows
        How many rows to show; a last line says how many more there are.
    bars
        Whether a small bar shows the count of each pattern, or the confidence of each rule, where there is room for it.
    """
    from rich.console import Group
    from rich.text import Text

    names, cells = _cells(result, rows)
    rest = [Text(_rest(result, rows))] if len(result) > rows else []
    head = [Text(headline(result), style="bold"), *map(Text, promises(result))]
    parts = _parts(result[:rows]) if bars else []
    return Group(*head, *([_Fitted(names, cells, parts, _line_at(result, rows))] if cells else []), *rest)


class _Fitted:
    """A table whose bars give way on a narrow terminal, then its names, and then whole columns.

    A number that is cut is a wrong one, so no number is: the columns that matter least are left out, and that is said.
    """

    def __init__(self, names: list[str], cells: list[list[str]], parts: list[float], line: int | None) -> None:
        self.names, self.cells, self.parts, self.line = names, cells, parts, line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        kept = self._kept(options.max_width)
        names, *cells = ([row[at] for at in kept] for row in (self.names, *self.cells))
        columns = list(zip(names, *cells, strict=True))
        room = options.max_width - sum(max(map(len, column)) + _GAP for column in columns[1:])
        drawn = bool(self.parts) and room - _BAR - _GAP >= min(_ROOMY, max(map(len, columns[0])))
        wide = room - (_BAR + _GAP if drawn else 0)
        shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        shown.add_column(
            names[0],
            overflow="ellipsis",
            no_wrap=True,
            max_width=max(_NARROWEST, min(_WIDEST, wide) if options.max_width < PIPED else wide),
        )
        for name in names[1:]:
            shown.add_column(name, justify="right", no_wrap=True)
        if drawn:
            shown.add_column("", no_wrap=True, style="cyan")
        for at, row in enumerate(cells):
            bar = [Text(_bar(self.parts[at], options.ascii_only))] if drawn else []
            if at == self.line:
                shown.add_row(Text(NOISE_LINE, style="dim"))
            shown.add_row(*map(Text, row), *bar)
        yield shown
        if self.line is not None:
            yield Text(NOISE_SAID, style="dim")
        left_out = [name for at, name in enumerate(self.names) if at not in kept]
        if left_out:
            yield Text(f"Not shown for want of room: {', '.join(left_out)}.", style="dim")

    def _kept(self, width: int) -> list[int]:
        """Return the places of the columns that there is room for beside a name that can still be read."""
        wide = [max(map(len, column)) + _GAP for column in zip(self.names, *self.cells, strict=True)]
        least = min(_ROOMY, wide[0] - _GAP)
        kept = list(range(len(wide)))
        # An interval goes as a whole.
        for group in _GIVE_WAY:
            if least + sum(wide[at] for at in kept[1:]) <= width:
                break
            kept = [at for at in kept if at == 0 or self.names[at] not in group]
        return kept


def _parts(first: Patterns | Rules) -> list[float]:
    """Return how long the bar of each row is, from 0 to 1; none where nothing was counted."""
    if isinstance(first, Rules):
        return [0.0 if isnan(part) else part for part in first.measure("confidence").tolist()]
    if not first.counted:
        return []
    most = max(first.counts.tolist(), default=0)
    return [max(0.0, count / most) if most > 0 else 0.0 for count in first.counts.tolist()]


def _bar(part: float, ascii_only: bool) -> str:
    """Return a bar of letters; eighths of one where the terminal has them.

    Examples
    --------
    >>> _bar(0.5, True), _bar(0.125, False)
    ('#####', '█▎')
    """
    if ascii_only:
        return "#" * round(_BAR * min(part, 1.0))
    whole, eighths = divmod(round(8 * _BAR * min(part, 1.0)), 8)
    return "█" * whole + (_EIGHTHS[eighths] if eighths else "")


def html(result: Patterns | Rules, rows: int = ROWS) -> str:
    """Return the table as HTML, as notebooks show it."""
    names, cells = _cells(result, rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    left, right = ' style="text-align: left"', ' style="text-align: right"'
    line = f'<tr><td colspan="{len(names)}"{left}><em>{NOISE_LINE}</em></td></tr>'
    body = "".join(
        (line if at == _line_at(result, rows) else "")
        + "<tr>"
        + "".join(f"<td{right if place else left}>{escape(cell)}</td>" for place, cell in enumerate(row))
        + "</tr>"
        for at, row in enumerate(cells)
    )
    promised = "".join(f"<br>{escape(line)}" for line in promises(result))
    rest = f"<p>{escape(_rest(result, rows))}</p>" if len(result) > rows else ""
    return (
        f"<div><p><strong>{escape(headline(result))}</strong>{promised}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}</div>"
    )


def _rest(result: Patterns | Rules, rows: int) -> str:
    return f"… and {len(result) - rows:,} more"


def _cells(result: Patterns | Rules, rows: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the texts of the first rows."""
    first = result[:rows]
    if isinstance(first, Patterns):
        names = ["items", "count", "support"]
        columns = [
            _item_texts(first.itemsets, first),
            _numbers(first.counts if first.counted else None, ",", len(first)),
            _support_texts(first),
        ]
        for name, bound, to_whole in (("low", first.low, floor), ("high", first.high, ceil)):
            if bound is not None:
                names.append(name)
                columns.append(_ends(bound, 0, to_whole))
        if len(set(result.levels)) > 1:
            names.append("level")
            columns.append([printable(level) for level in first.levels])
    else:
        sides = zip(_item_texts(first.antecedents, first), _item_texts(first.consequents, first), strict=True)
        names = [first.kind.removesuffix("s"), "count", "support", "confidence"]
        columns = [[f"{left} → {right}" for left, right in sides], _numbers(first.counts, ",")]
        columns += [_numbers(first.measure(name), ".4f") for name in ("support", "confidence")]
        # They bound the confidence, so they stand beside it.
        for name, bound, to_whole in (("low", first.low, floor), ("high", first.high, ceil)):
            if bound is not None:
                names.append(name)
                columns.append(_ends(bound, 4, to_whole))
        names.append("lift")
        columns.append(_numbers(first.measure("lift"), ".2f"))
        lifts = first.bounds("lift")
        if lifts is not None:
            names += ["from", "to"]
            columns += [_ends(lifts[0], 2, floor), _ends(lifts[1], 2, ceil)]
        if first.p_adjusted is not None:
            names.append("adj. p")
            columns.append([p_text(p) for p in first.p_adjusted.tolist()])
    return names, [list(row) for row in zip(*columns, strict=True)]


def p_text(p: float) -> str:
    """Return a p-value with two digits, rounded up: what is said to be at most a level, is.

    Examples
    --------
    >>> p_text(0.04801), p_text(0.00002), p_text(2.2e-12), p_text(1.0)
    ('0.049', '2.0e-5', '<1e-9', '1')
    """
    if p < _LEAST_P:
        return "<1e-9"
    # What only binary fractions make of a decimal number is no reason for another step.
    short = Context(prec=2, rounding=ROUND_CEILING).plus(Context(prec=12).plus(Decimal(p))).normalize()
    return f"{short:f}" if short >= _SMALL_P else f"{short:.1e}"


def _support_texts(first: Patterns) -> list[str]:
    """Return supports as text; of one that was cut to 1, the least that it may be."""
    texts = _numbers(first.supports if first.counted else None, ".4f", len(first))
    if first.support_bounds is not None:
        for place in first.cut_supports.nonzero()[0].tolist():
            texts[place] = f"≥ {outwards(float(first.support_bounds[0][place]), 4, floor):.4f}"
    return texts


def _ends(column: NDArray[Any], digits: int, to_whole: Callable[[float], int]) -> list[str]:
    """Return the ends of intervals as text, rounded outwards: counts where there are no decimals, else fractions."""
    if not digits:
        return [f"{count_end(end, to_whole):,.0f}" for end in column.tolist()]
    decimals = [(end, end_digits(end, digits, to_whole)) for end in column.tolist()]
    return [f"{outwards(end, places, to_whole):,.{places}f}" for end, places in decimals]


def _numbers(column: NDArray[Any] | None, form: str, rows: int = 0) -> list[str]:
    """Return a column of numbers as text, dashes where it is not known."""
    return ["–"] * rows if column is None else [format(value, form) for value in column.tolist()]


def _item_texts(itemsets: Itemsets, result: Patterns | Rules) -> list[str]:
    texts = []
    for place in range(len(itemsets)):
        codes = itemsets.cut(place, place + 1).codes
        labels = [_visible(str(label)) for label in result.vocabulary.take(codes[:_ITEMS]).to_pylist()]
        more = [f"… {len(codes) - _ITEMS} more"] if len(codes) > _ITEMS else []
        texts.append(", ".join(labels + more) or "(no item)")
    return texts


def _visible(label: str) -> str:
    """Quote a name that has a comma or is blank."""
    label = printable(label)
    return f'"{label}"' if "," in label or not label.strip() else label
