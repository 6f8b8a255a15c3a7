"""The display of results: a text table in a terminal, an HTML table in a notebook.

Both show the first rows and the number of the remaining rows, so that the display of millions of patterns costs
nothing. Names come from data: characters that a terminal or a browser would act on are made visible.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from math import ceil, floor, isnan
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ..baskets import Unit
from ..wording import number_of, printable
from ._itemsets import Itemsets
from ._patterns import Patterns
from ._promise import SIMULATED, count_end, end_digits, line, outwards
from ._provenance import Provenance
from ._result import draw_with
from ._rules import Rules

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderResult

# Letters: of the names at most and at least, and between two columns.
_WIDEST, _NARROWEST, _GAP = 60, 12, 3
PIPED = 100_000  # letters of a line in a file or a pipe, which has no edge: names are never cut
_BAR, _ROOMY = 10, 24  # letters of a bar, and of the names beside it at least
# Columns that a narrow terminal omits, the first first.
_GIVE_WAY = [("level",), ("support",), ("from", "to"), ("adj. p",), ("lift",), ("low", "high"), ("count",)]
_EIGHTHS = " ▏▎▍▌▋▊▉"
ROWS = 10
# The line in tables above patterns that may be noise; a pattern below it with an interval above 0 is not noise.
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
_MAX_ITEMS = 24  # of an itemset. More: longer lines that no terminal shows
# The units of counts, in the singular and the plural.
UNITS: dict[Unit, tuple[str, str]] = {"people": ("person", "people"), "baskets": ("basket", "baskets")}
_SMALL_P, _LEAST_P = Decimal("0.001"), 1e-9  # below the first written as 2.2e-5; below the second as a bound


# The note on rules over receipts, with counts of baskets and p-values of people.
OVER_PEOPLE = "p-values are over people: one basket of each, drawn at random"


def headline(result: Patterns | Rules) -> str:
    """Return one line with the numbers of rows and of people."""
    word = "pattern" if isinstance(result, Patterns) else result.kind.removesuffix("s")
    people = number_of(result.people, *UNITS[result.unit])
    if result.people_within is not None:
        people = f"about {people} ({result.people_within[0]:,} to {result.people_within[1]:,})"
    line = f"{number_of(len(result), word)} of {people}"
    if isinstance(result, Patterns):
        line += noise_text(result)
    if isinstance(result, Rules) and result.omitted:
        line += f"; {result.omitted:,} left out, because a side is not among the patterns"
    return line


def noise_text(patterns: Patterns) -> str:
    """Return the number of patterns that may have no holder, and the row of the first; "" without any."""
    noise_count = int(patterns.may_be_noise.sum())
    if patterns.noise_from is None:
        return ""
    # The row is named only if a certain pattern stands above it.
    begins = "" if patterns.noise_from == 0 else f", from number {patterns.noise_from + 1:,} on"
    return f"; {noise_count:,} may be held by nobody{begins}"


def drowned(patterns: Patterns) -> int:
    """Return the number of patterns that may be noise, if they are the majority; otherwise 0."""
    noise_count = int(patterns.may_be_noise.sum())
    return noise_count if 2 * noise_count > len(patterns) else 0


def _noise_row(result: Patterns | Rules, rows: int) -> int | None:
    """Return the row above which the line of noise stands, among the first rows; None for no line."""
    place = result.noise_from if isinstance(result, Patterns) else None
    return place if place is not None and place < min(rows, len(result)) else None


def malicious_share(result: Patterns | Rules) -> str | None:
    """Return the share of malicious reports that the intervals allow, as text; None if the question has none."""
    question = (result.provenance or Provenance()).question or {}
    share = question.get("assume_malicious")
    return None if share is None else str(share)


def promise_lines(result: Patterns | Rules) -> list[str]:
    """Return the lines below the headline: a warning about noise, the guarantee, the mark of a simulation."""
    provenance = result.provenance or Provenance()
    # Intervals that allow for made-up reports are wide on purpose, so the advice against noise would mislead.
    share = malicious_share(result)
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
        The number of rows; a last line states the number of the remaining rows.
    bars
        Whether a small bar shows the count of each pattern, or the confidence of each rule, on a wide terminal.
    """
    from rich.console import Group
    from rich.text import Text

    # Cells are rendered before the width is known: the console asks for the table at each width.
    names, cells = _cells(result, rows)
    remainder = [Text(_remainder_text(result, rows))] if len(result) > rows else []
    head = [Text(headline(result), style="bold"), *map(Text, promise_lines(result))]
    parts = _bar_shares(result[:rows]) if bars else []
    return Group(*head, *([_Fitted(names, cells, parts, _noise_row(result, rows))] if cells else []), *remainder)


class _Fitted:
    """A table for a terminal of any width: a narrow one omits the bars, shortens the names, omits whole columns.

    A cut number is a wrong number, so numbers are never cut: the least important columns are omitted, and listed below.
    """

    def __init__(self, names: list[str], cells: list[list[str]], parts: list[float], line: int | None) -> None:
        self.names, self.cells, self.parts, self.line = names, cells, parts, line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        # Bars, the length of names, then whole columns: numbers are never cut.
        columns_kept = self._fitting_columns(options.max_width)
        names, *cells = ([row[index] for index in columns_kept] for row in (self.names, *self.cells))
        columns = list(zip(names, *cells, strict=True))
        room = options.max_width - sum(max(map(len, column)) + _GAP for column in columns[1:])
        has_bars = bool(self.parts) and room - _BAR - _GAP >= min(_ROOMY, max(map(len, columns[0])))
        width = room - (_BAR + _GAP if has_bars else 0)
        result = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        result.add_column(
            names[0],
            overflow="ellipsis",
            no_wrap=True,
            max_width=max(_NARROWEST, min(_WIDEST, width) if options.max_width < PIPED else width),
        )
        for name in names[1:]:
            result.add_column(name, justify="right", no_wrap=True)
        if has_bars:
            result.add_column("", no_wrap=True, style="cyan")
        for index, row in enumerate(cells):
            bar = [Text(_bar(self.parts[index], options.ascii_only))] if has_bars else []
            if index == self.line:
                result.add_row(Text(NOISE_LINE, style="dim"))
            result.add_row(*map(Text, row), *bar)
        yield result
        if self.line is not None:
            yield Text(NOISE_SAID, style="dim")
        left_out = [name for index, name in enumerate(self.names) if index not in columns_kept]
        if left_out:
            yield Text(f"Not shown for want of room: {', '.join(left_out)}.", style="dim")

    def _fitting_columns(self, width: int) -> list[int]:
        """Return the places of the columns that fit beside a readable name."""
        widths = [max(map(len, column)) + _GAP for column in zip(self.names, *self.cells, strict=True)]
        min_width = min(_ROOMY, widths[0] - _GAP)
        columns_kept = list(range(len(widths)))
        # Both ends of an interval are omitted together.
        for group in _GIVE_WAY:
            if min_width + sum(widths[index] for index in columns_kept[1:]) <= width:
                break
            columns_kept = [index for index in columns_kept if index == 0 or self.names[index] not in group]
        return columns_kept


def _bar_shares(rows: Patterns | Rules) -> list[float]:
    """Return the length of the bar of each row, from 0 to 1; nothing without counts."""
    if isinstance(rows, Rules):
        return [0.0 if isnan(part) else part for part in rows.measure("confidence").tolist()]
    if not rows.counted:
        return []
    # Noisy counts may be negative, and a bar has no negative length.
    largest = max(rows.counts.tolist(), default=0)
    return [max(0.0, count / largest) if largest > 0 else 0.0 for count in rows.counts.tolist()]


def _bar(part: float, ascii_only: bool) -> str:
    """Return a bar of letters, in eighths of a letter if the terminal has them.

    Examples
    --------
    >>> _bar(0.5, True), _bar(0.125, False)
    ('#####', '█▎')
    """
    if ascii_only:
        return "#" * round(_BAR * min(part, 1.0))
    full_cells, eighths = divmod(round(8 * _BAR * min(part, 1.0)), 8)
    return "█" * full_cells + (_EIGHTHS[eighths] if eighths else "")


def html(result: Patterns | Rules, rows: int = ROWS) -> str:
    """Return the table as HTML, as notebooks show it."""
    names, cells = _cells(result, rows)
    remainder = max(0, len(result) - rows)
    notes, noise_row = promise_lines(result), _noise_row(result, rows)
    options = {"notes": notes, "remainder": remainder, "noise_row": noise_row, "noise_line": NOISE_LINE}
    return str(draw_with("notebook_table", names, cells, headline=headline(result), **options))


def _remainder_text(result: Patterns | Rules, rows: int) -> str:
    return f"… and {len(result) - rows:,} more"


def _cells(result: Patterns | Rules, rows: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the texts of the first rows."""
    shown_rows = result[:rows]
    if isinstance(shown_rows, Patterns):
        names = ["items", "count", "support"]
        columns = [
            _item_texts(shown_rows.itemsets, shown_rows),
            _number_texts(shown_rows.counts if shown_rows.counted else None, ",", len(shown_rows)),
            _support_texts(shown_rows),
        ]
        for name, bound, to_whole in (("low", shown_rows.low, floor), ("high", shown_rows.high, ceil)):
            if bound is not None:
                names.append(name)
                columns.append(_end_texts(bound, 0, to_whole))
        if len(set(result.levels)) > 1:
            names.append("level")
            columns.append([printable(level) for level in shown_rows.levels])
    else:
        sides = zip(
            _item_texts(shown_rows.antecedents, shown_rows),
            _item_texts(shown_rows.consequents, shown_rows),
            strict=True,
        )
        names = [shown_rows.kind.removesuffix("s"), "count", "support", "confidence"]
        columns = [
            [f"{antecedent} → {consequent}" for antecedent, consequent in sides],
            _number_texts(shown_rows.counts, ","),
        ]
        columns += [_number_texts(shown_rows.measure(name), ".4f") for name in ("support", "confidence")]
        # The ends bound the confidence, so they stand beside it.
        for name, bound, to_whole in (("low", shown_rows.low, floor), ("high", shown_rows.high, ceil)):
            if bound is not None:
                names.append(name)
                columns.append(_end_texts(bound, 4, to_whole))
        names.append("lift")
        columns.append(_number_texts(shown_rows.measure("lift"), ".2f"))
        lifts = shown_rows.bounds("lift")
        if lifts is not None:
            names += ["from", "to"]
            columns += [_end_texts(lifts[0], 2, floor), _end_texts(lifts[1], 2, ceil)]
        if shown_rows.p_adjusted is not None:
            names.append("adj. p")
            columns.append([p_text(p) for p in shown_rows.p_adjusted.tolist()])
    return names, [list(row) for row in zip(*columns, strict=True)]


def p_text(p: float) -> str:
    """Return a p-value with two digits, rounded up, so that a shown p-value at most a level is truly at most it.

    Examples
    --------
    >>> p_text(0.04801), p_text(0.00002), p_text(2.2e-12), p_text(1.0)
    ('0.049', '2.0e-5', '<1e-9', '1')
    """
    if p < _LEAST_P:
        return "<1e-9"
    # A binary fraction may differ from its decimal number by 1e-16: the error must not cause a step.
    rounded_p = Context(prec=2, rounding=ROUND_CEILING).plus(Context(prec=12).plus(Decimal(p))).normalize()
    return f"{rounded_p:f}" if rounded_p >= _SMALL_P else f"{rounded_p:.1e}"


def _support_texts(rows: Patterns) -> list[str]:
    """Return supports as text; of a support that was cut to 1, its lower bound."""
    texts = _number_texts(rows.supports if rows.counted else None, ".4f", len(rows))
    if rows.support_bounds is not None:
        for place in rows.cut_supports.nonzero()[0].tolist():
            texts[place] = f"≥ {outwards(float(rows.support_bounds[0][place]), 4, floor):.4f}"
    return texts


def _end_texts(column: NDArray[Any], digits: int, to_whole: Callable[[float], int]) -> list[str]:
    """Return the ends of intervals as text, rounded outwards: counts for no digits, otherwise fractions."""
    if not digits:
        return [f"{count_end(end, to_whole):,.0f}" for end in column.tolist()]
    decimals = [(end, end_digits(end, digits, to_whole)) for end in column.tolist()]
    return [f"{outwards(end, places, to_whole):,.{places}f}" for end, places in decimals]


def _number_texts(column: NDArray[Any] | None, form: str, rows: int = 0) -> list[str]:
    """Return a column of numbers as text; dashes for an unknown column."""
    return ["–"] * rows if column is None else [format(value, form) for value in column.tolist()]


def _item_texts(itemsets: Itemsets, result: Patterns | Rules) -> list[str]:
    """Return each itemset as text, with a number of items at most."""
    texts = []
    # Only the shown rows come here, so a Python loop is fast enough.
    for place in range(len(itemsets)):
        codes = itemsets.cut(place, place + 1).codes
        labels = [_item_text(str(label)) for label in result.vocabulary.take(codes[:_MAX_ITEMS]).to_pylist()]
        remainder = [f"… {len(codes) - _MAX_ITEMS} more"] if len(codes) > _MAX_ITEMS else []
        texts.append(", ".join(labels + remainder) or "(no item)")
    return texts


def _item_text(label: str) -> str:
    """Return a name as visible text, in quotes if it has a comma or is blank."""
    # A name with a comma would be read as two items.
    label = printable(label)
    return f'"{label}"' if "," in label or not label.strip() else label
