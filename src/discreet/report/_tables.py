"""The tables of pages: patterns, rules, and the charges of a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat
from typing import Any

from markupsafe import Markup, escape

from ..baskets import MIXED_LEVELS
from ..privacy import Charge, Guarantee
from ..results import Patterns, Rules, count_end, cut, outwards, p_text, rounded
from ._charts import share
from ._templates import render
from ._text import (
    clean,
    count_end_text,
    count_text,
    decimals,
    itemset,
    labels_of,
    lift_text,
    loss_text,
    percent,
    percent_digits,
    percent_end,
    step_of,
)

# A table scrolls sideways with more than _SCREEN_COLUMNS columns; on a telephone also from _PHONE_COLUMNS columns on
# where a name has more than _SHORT_NAME letters. tests/report/test_browser.py tries widths of 390 and 1,100 pixels.
_SCREEN_COLUMNS, _PHONE_COLUMNS, _SHORT_NAME = 6, 4, 8
NOISE_NOTE = (
    "From number {number:,} on, marked by a line, a pattern whose interval reaches down to 0 may be held by nobody."
)
# Shares of a budget are rounded: a remainder below one part in this number is not shown as unspent.
_ROUNDING = 1_000

ToWhole = Callable[[float], int]


def levels_in(result: Patterns | Rules) -> list[str]:
    """Return the levels of the rows, the highest first, "mixed" last; none where all rows are on one level.

    Examples
    --------
    >>> import discreet
    >>> levels_in(discreet.mine([{"milk", "bread"}], min_count=1, hierarchy={"milk": "dairy"}))
    ['level 1', 'level 0']
    """
    if result.hierarchy is None:
        return []
    levels = set(result.levels)
    return (
        [name for name in (*reversed(result.hierarchy.names), MIXED_LEVELS) if name in levels]
        if len(levels) > 1
        else []
    )


def level_text(level: str) -> str:
    """Return the name of a level for a reader, as text."""
    return "Across levels" if level == MIXED_LEVELS else clean(level[:1].upper() + level[1:])


@dataclass(frozen=True)
class TableColumn:
    """A column of a table.

    Parameters
    ----------
    name
        Its heading.
    texts, values
        Its cells, and the number of each cell, by which a script sorts; None to sort by the texts.
    whole
        The text of each cell with all digits, shown as a tip if different.
    words
        Whether the cells are words, set to the left, and not numbers.
    rising
        Whether the first click sorts the smallest to the top.
    """

    name: str
    texts: Sequence[str]
    values: Sequence[float] | None = None
    whole: Sequence[str] | None = None
    words: bool = False
    rising: bool = False

    @classmethod
    def of(cls, name: str, values: Sequence[float], text: Callable[[Any], str], *, rising: bool = False) -> TableColumn:
        """Return a column of numbers, each rendered by a function."""
        return cls(name, [text(value) for value in values], values, rising=rising)

    def cells(self) -> list[tuple[bool, str | None, str | None, str]]:
        """Return each cell: whether it is words, its sort key, its tip, and its text; a sort key of "" sorts last."""
        keys = ("" if math.isnan(value) else f"{value:.12g}" for value in self.values or ())
        tips = (whole if whole != text else None for whole, text in zip(self.whole or (), self.texts, strict=False))
        missing = repeat(None)
        columns = (keys if self.values is not None else missing, tips if self.whole is not None else missing)
        return list(zip(repeat(self.words), *columns, self.texts, strict=False))


def interval_columns(
    low: Sequence[float], high: Sequence[float], text: Callable[[float, ToWhole], str]
) -> list[TableColumn]:
    """Return the two columns of the ends of intervals; `text` renders an end, rounded by floor or by ceil."""
    return [
        TableColumn.of("from", low, lambda end: text(end, math.floor)),
        TableColumn.of("to", high, lambda end: text(end, math.ceil)),
    ]


def table(
    row_head: str,
    heads: Sequence[str],
    columns: Sequence[TableColumn],
    caption: str = "",
    *,
    sorts: bool = True,
    levels: Sequence[str] = (),
    noise_row: int | None = None,
) -> Markup:
    """Return a table.

    Parameters
    ----------
    row_head, heads
        The heading of the column that names the rows, and the name of each row.
    columns
        The columns of cells.
    caption
        The text above.
    sorts
        Whether the script of the page may sort the table.
    levels
        The level of each row, by which the script filters; empty without a hierarchy.
    noise_row
        The row above which a line stands, as patterns from there on may be noise; None for no line.
    """
    if noise_row is not None:
        caption = escape(caption) + f" {NOISE_NOTE.format(number=noise_row + 1)}"
    # A release of patterns only has no column, and so no cells.
    cells = zip(*(column.cells() for column in columns), strict=True) if columns else repeat(())
    is_wide = len(columns) > _SCREEN_COLUMNS
    scrolls = is_wide or (len(columns) >= _PHONE_COLUMNS and any(len(column.name) > _SHORT_NAME for column in columns))
    classes = "rows" + (" sorts" if sorts and len(heads) > 1 else "") + (f" many of-{len(columns)}" if scrolls else "")
    return render(
        "report/templates/table.html.jinja",
        row_head=row_head,
        columns=columns,
        rows=zip(levels or repeat(None), heads, cells, strict=False),
        caption=caption.strip(),
        noise_row=noise_row,
        classes=classes,
        scrolls=("wide" if is_wide else "swiped") if scrolls else "",
    )


def pattern_table(patterns: Patterns) -> Markup:
    """Return the table of patterns with their counts, supports and intervals."""
    heads = [itemset(labels) for labels in labels_of(patterns.itemsets, patterns)]
    columns: list[TableColumn] = []
    caption = ""
    if patterns.counted:
        counts = patterns.counts.tolist()
        bounds = shown_bounds(patterns)
        ends = bounds or [(-math.inf, math.inf)] * len(counts)
        # The smaller reach decides: every digit above the noise of either side is shown.
        margins = [min(high - count, count - low) for count, (low, high) in zip(counts, ends, strict=True)]
        steps = [
            step_of(count, math.inf if math.isnan(margin) else margin)
            for count, margin in zip(counts, margins, strict=True)
        ]
        columns.append(
            TableColumn("Count", _step_texts(counts, steps), counts, [count_text(count, 1) for count in counts])
        )
        if any(step > 1 for step in steps):
            caption = "Counts are shown in four digits, or in as many as noise has left; the saved table has all. "
        if bounds:
            caption += "From and to are the ends of the 95 % interval of the count."
            for name, to_whole, bound in zip(
                ("from", "to"), (math.floor, math.ceil), zip(*bounds, strict=True), strict=True
            ):
                columns.append(TableColumn(name, _step_texts(bound, steps, to_whole), bound))
        # A noisy number of people may come out as 0: then a fraction is not defined.
        if patterns.people > 0:
            caption += _add_supports(columns, patterns)
    return table("Items", heads, columns, caption.strip(), noise_row=patterns.noise_from)


def _add_supports(columns: list[TableColumn], patterns: Patterns) -> str:
    """Append the columns of supports and their intervals, and return the text of the caption about them."""
    supports = patterns.supports.tolist()
    digits = percent_digits(supports)
    texts = [percent(support, digits) for support in supports]
    columns.append(TableColumn("Support", texts, supports))
    if patterns.support_bounds is None:
        return ""
    low, high = (end.tolist() for end in patterns.support_bounds)
    for row in patterns.cut_supports.nonzero()[0].tolist():
        texts[row] = f"≥ {percent_end(low[row], digits, math.floor)}"
    columns += interval_columns(low, high, lambda end, to_whole: percent_end(end, digits, to_whole))
    noise = "" if patterns.people_within is None else f", which carries the noise of the number of {patterns.unit} too"
    return f" After the support they are those of its own interval{noise}."


def _step_texts(values: Sequence[float], steps: Sequence[int], to_whole: ToWhole | None = None) -> list[str]:
    """Return each number of people as a multiple of its step; an end of an interval rounded by floor or ceil."""
    return [
        count_text(value, step) if to_whole is None else count_end_text(value, to_whole, step)
        for value, step in zip(values, steps, strict=True)
    ]


def shown_bounds(patterns: Patterns) -> list[tuple[float, float]]:
    """Return the interval of each count in whole numbers from 0 on, rounded outwards; nothing without intervals."""
    if patterns.low is None or patterns.high is None:
        return []
    return [
        (_whole_end(low, math.floor), _whole_end(high, math.ceil))
        for low, high in zip(patterns.low.tolist(), patterns.high.tolist(), strict=True)
    ]


def _whole_end(end: float, to_whole: ToWhole) -> float:
    return end if math.isnan(end) else max(0.0, count_end(end, to_whole))


def rule_table(rules: Rules, caption: str) -> Markup:
    """Return the table of rules with their confidence, lift and p-value."""
    sides = zip(labels_of(rules.antecedents, rules), labels_of(rules.consequents, rules), strict=True)
    heads = [itemset(antecedent) + " → " + itemset(consequent) for antecedent, consequent in sides]
    counts, confidences, lifts = (
        rules.counts.tolist(),
        *(rules.measure(name).tolist() for name in ("confidence", "lift")),
    )
    columns = [
        TableColumn(
            rules.unit.capitalize(),
            [count_text(count) for count in counts],
            counts,
            [count_text(count, 1) for count in counts],
        ),
        TableColumn.of("Confidence", confidences, percent),
    ]
    if rules.low is not None and rules.high is not None:
        low, high = rules.low.tolist(), rules.high.tolist()
        columns += interval_columns(low, high, lambda end, to_whole: percent_end(end, 1, to_whole))
    columns.append(TableColumn.of("Lift", lifts, lift_text))
    bounds = rules.bounds("lift")
    if bounds is not None:
        low, high = (end.tolist() for end in bounds)
        columns += interval_columns(
            low, high, lambda end, to_whole: lift_text(outwards(end, decimals(end, 2), to_whole))
        )
    if rules.p_adjusted is not None:
        adjusted = rules.p_adjusted.tolist()
        columns.append(TableColumn.of("Adjusted p", adjusted, p_text, rising=True))
    levels = [level_text(level) for level in rules.levels] if levels_in(rules) else []
    if levels:
        columns.append(TableColumn("Level", levels, words=True))
    return table("Rule" if rules.kind == "rules" else "Relation", heads, columns, caption, levels=levels)


def charge_table(guarantee: Guarantee, reports: int = 0, people: Mapping[str, int] | None = None) -> Markup:
    """Return the table of the charges of a guarantee, with a small bar per step; steps of one name are added up.

    Parameters
    ----------
    guarantee
        The guarantee. Charges of a local one are not added up, as no person answers all rounds.
    reports
        The largest number of rounds that a person answers; 0 for unknown.
    people
        The number of people asked in each round, by its name, for the known rounds.
    """
    # A mechanism that ignores the data spends nothing, and an empty table would look like a mistake.
    if not guarantee.charges:
        return Markup("<p>Nothing was spent: the result does not depend on anybody’s data.</p>\n")
    if guarantee.model == "local":
        return _round_table(guarantee, reports, people or {})
    pure = guarantee.rho is None
    steps: dict[str, list[Charge]] = {}
    for charge in guarantee.charges:
        steps.setdefault(charge.what, []).append(charge)
    heads = [_step_text(name, charges) for name, charges in steps.items()]
    # Exact fractions add up without rounding, so that the shares of the steps sum to the whole.
    losses = [sum((_loss_of(charge, pure) for charge in charges), Fraction(0)) for charges in steps.values()]
    cap = guarantee.epsilon if guarantee.rho is None else guarantee.rho
    remainder = cap - sum(losses)
    if remainder > cap / _ROUNDING:
        heads.append("nothing: it was not needed")
        losses.append(remainder)
    parts = [float(loss / cap) for loss in losses]
    columns = [
        TableColumn(
            "Epsilon" if pure else "Rho", [loss_text(loss) for loss in losses], [float(loss) for loss in losses]
        ),
        TableColumn("Share", [Markup("{} {}").format(percent(part), share(part)) for part in parts], parts),
    ]
    caption = "The privacy loss of each step. " + (
        "Epsilon is the loss of privacy; the losses of the steps add up."
        if pure
        else "Rho is the loss of privacy as zero-concentrated differential privacy (zCDP) measures it. The losses of "
        "the steps add up, and their sum is turned into the epsilon and delta above."
    )
    return table("Step", heads, columns, caption) + _curve_table(guarantee)


def _round_table(guarantee: Guarantee, reports: int, people: Mapping[str, int]) -> Markup:
    """Return the table of the rounds that devices answered, with the loss of one answer."""
    charges = guarantee.charges
    columns = []
    if all(charge.what in people for charge in charges):
        people_counts = [people[charge.what] for charge in charges]
        columns.append(TableColumn.of("People asked", people_counts, count_text))
    losses = [_loss_of(charge, True) for charge in charges]
    columns.append(TableColumn("Epsilon", [loss_text(loss) for loss in losses], [float(loss) for loss in losses]))
    bound = f"the loss of a person is at most {loss_text(guarantee.epsilon)} in all"
    if reports == 1:
        sentence = f"Each person answers one round at most, so what the rounds lose does not add up: {bound}."
    elif reports > 1:
        sentence = f"A person answers up to {reports:,} rounds, and loses what these lose together: {bound}."
    else:
        sentence = f"However many rounds a person answers, {bound}."
    caption = f"What devices were asked, round by round. Epsilon is the loss of privacy by one answer. {sentence}"
    return table("Round", [_step_text(charge.what, [charge]) for charge in charges], columns, caption)


def _curve_table(guarantee: Guarantee) -> Markup:
    """Return the epsilons of a zCDP guarantee at other deltas, all of which hold at once; "" for a pure one."""
    rows = guarantee.curve()
    if not rows:
        return Markup()
    caption = (
        "The same promise at other deltas: each row holds, for every event, with a factor of e to its epsilon and its "
        "delta added."
    )
    # Rounded up: a smaller epsilon than the true one would promise too much.
    heads = [rounded(delta, digits=3) for delta, _ in rows]
    epsilons = TableColumn("Epsilon", [rounded(epsilon, digits=3) for _, epsilon in rows])
    return table("Delta", heads, [epsilons], caption, sorts=False)


def _loss_of(charge: Charge, pure: bool) -> Fraction:
    return (charge.epsilon or Fraction(0)) if pure else charge.rho


def _step_text(name: str, charges: Sequence[Charge]) -> str:
    """Return the name of a step, with the number of its charges and their delta."""
    times = f" ({len(charges):,} times)" if len(charges) > 1 else ""
    delta = sum((charge.delta for charge in charges), Fraction(0))
    failing = f", with a delta of {cut(delta)}" if delta else ""
    return clean(name, 300) + times + failing
