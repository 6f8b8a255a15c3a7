"""The tables of pages: patterns, rules, and what the budget was spent on. Text from outside is escaped here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from ..privacy import Charge, Guarantee
from ..results import Patterns, Rules, count_end, cut, outwards, p_text, rounded
from ._charts import share
from ._folding import level_words, levels_in
from ._text import (
    clean,
    counts_end,
    decimals,
    digits_for,
    html_itemset,
    labels_of,
    loss,
    percent,
    percent_end,
    step_of,
    whole,
)

# With more columns than so many a table is moved sideways by itself where it has no room; on a telephone also with some
# whose names are long.
_MANY, _SOME, _LONG = 6, 4, 8
# The row from which patterns may be noise has a line above it, in the order of the release.
NOISE_SAID = (
    "From number {number:,} on, marked by a line, a pattern whose interval reaches down to 0 may be held by nobody."
)
# What is left of a budget by rounding alone is less than one part of so many.
_ROUNDING = 1_000


def described(told: Mapping[str, str]) -> str:
    """Return names and values as a list of descriptions; nothing where there are none."""
    rows = "".join(
        f"<dt>{escape(clean(name))}</dt><dd>{escape(clean(value, 600))}</dd>" for name, value in told.items()
    )
    return f'<dl class="facts">{rows}</dl>\n' if rows else ""


@dataclass(frozen=True)
class TableColumn:
    """A column of numbers: its name, the texts that are shown, the numbers they stand for, and what hovering adds."""

    name: str
    texts: Sequence[str]
    values: Sequence[float] | None = None
    whole: Sequence[str] | None = None
    words: bool = False
    rising: bool = False  # a click sorts by the smallest first

    def cells(self) -> list[str]:
        """Return the cells as markup; the number is in them too, for sorting."""
        cells = []
        for at, text in enumerate(self.texts):
            value = None if self.values is None else self.values[at]
            sorts = "" if value is None else ' data-v=""' if math.isnan(value) else f' data-v="{value:.12g}"'
            full = "" if self.whole is None or self.whole[at] == text else f' title="{escape(self.whole[at])}"'
            kind = ' class="words"' if self.words else ""
            cells.append(f"<td{kind}{sorts}{full}>{text}</td>")
        return cells


def table(
    first: str,
    heads: Sequence[str],
    columns: Sequence[TableColumn],
    said: str = "",
    *,
    sorts: bool = True,
    levels: Sequence[str] = (),
    line: int | None = None,
) -> str:
    """Return a table with a column of markup that names the rows, and columns of numbers; a script may sort it.

    Where rows have levels, the script may show those of one. From the row at `line` on, patterns may be noise.
    """
    kinds = [
        ("" if column.words else ' class="number"') + (' data-first="ascending"' if column.rising else "")
        for column in columns
    ]
    top = "".join(f'<th scope="col"{kind}>{column.name}</th>' for kind, column in zip(kinds, columns, strict=True))
    on = [f' data-level="{escape(level)}"' for level in levels] or [""] * len(heads)
    rows = "\n".join(
        f'<tr{level}><th scope="row">{head}</th>{"".join(cells)}</tr>'
        for level, head, *cells in zip(on, heads, *(column.cells() for column in columns), strict=True)
    )
    if line is not None:
        said = f"{said} {NOISE_SAID.format(number=line + 1)}".strip()
        rows = "\n".join(
            row.replace("<tr", '<tr class="noise"', 1) if at == line else row for at, row in enumerate(rows.split("\n"))
        )
    caption = f"<caption>{said}</caption>\n" if said else ""
    classes = ["rows", *(["sorts"] if sorts and len(heads) > 1 else [])]
    many = len(columns) > _MANY or (len(columns) >= _SOME and any(len(column.name) > _LONG for column in columns))
    classes += [f"many of-{len(columns)}"] if many else []
    made = (
        f'<table class="{" ".join(classes)}">\n{caption}<thead><tr><th scope="col">{first}</th>{top}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n"
    )
    if not many:
        return made
    where = "wide" if len(columns) > _MANY else "swiped"
    return f'<div class="{where}" tabindex="0" role="region" aria-label="Table">{made}</div>\n'


def pattern_table(patterns: Patterns) -> str:
    """Return the patterns with all numbers they have."""
    heads = [html_itemset(labels) for labels in labels_of(patterns.itemsets, patterns)]
    columns: list[TableColumn] = []
    said = ""
    if patterns.counted:
        counts = patterns.counts.tolist()
        bounds = shown_bounds(patterns)
        ends = bounds or [(-math.inf, math.inf)] * len(counts)
        steps = [
            step_of(count, _known(min(high - count, count - low)))
            for count, (low, high) in zip(counts, ends, strict=True)
        ]
        full = [whole(count, 1) for count in counts]
        columns.append(TableColumn("Count", _stepped(counts, steps), counts, full))
        if any(step > 1 for step in steps):
            said = "Counts are shown in four digits, or in as many as noise has left; the saved table has all. "
        if bounds:
            said += "From and to are the ends of the 95 % interval of the count."
            lows, highs = ([bound[end] for bound in bounds] for end in (0, 1))
            columns.append(TableColumn("from", _stepped(lows, steps, math.floor), lows))
            columns.append(TableColumn("to", _stepped(highs, steps, math.ceil), highs))
        # The number of people is noisy as well: where it came out as 0 there is no fraction to show.
        if patterns.people > 0:
            supports = patterns.supports.tolist()
            digits = digits_for(supports)
            shown = [percent(support, digits) for support in supports]
            if patterns.support_bounds is not None:
                for place in patterns.cut_supports.nonzero()[0].tolist():
                    least = float(patterns.support_bounds[0][place])
                    shown[place] = f"≥ {percent_end(least, digits, math.floor)}"
            columns.append(TableColumn("Support", shown, supports))
            if patterns.support_bounds is not None:
                low, high = (end.tolist() for end in patterns.support_bounds)
                columns.append(TableColumn("from", [percent_end(end, digits, math.floor) for end in low], low))
                columns.append(TableColumn("to", [percent_end(end, digits, math.ceil) for end in high], high))
                both = (
                    ""
                    if patterns.people_within is None
                    else f", which carries the noise of the number of {patterns.unit} too"
                )
                said += f" After the support they are those of its own interval{both}."
    return table("Items", heads, columns, said.strip(), line=patterns.noise_from)


def _known(margin: float) -> float:
    return math.inf if math.isnan(margin) else margin


def _stepped(
    values: Sequence[float], steps: Sequence[int], to_whole: Callable[[float], int] | None = None
) -> list[str]:
    """Return numbers of people in whole steps, rounded outwards where that is asked for."""
    return [
        whole(value, step) if to_whole is None else counts_end(value, to_whole, step)
        for value, step in zip(values, steps, strict=True)
    ]


def shown_bounds(patterns: Patterns) -> list[tuple[float, float]]:
    """Return the intervals in whole numbers, rounded outwards, without what no count can be; none if there are none."""
    if patterns.low is None or patterns.high is None:
        return []
    return [
        (_whole_end(low, math.floor), _whole_end(high, math.ceil))
        for low, high in zip(patterns.low.tolist(), patterns.high.tolist(), strict=True)
    ]


def _whole_end(end: float, to_whole: Callable[[float], int]) -> float:
    return end if math.isnan(end) else max(0.0, count_end(end, to_whole))


def rule_table(rules: Rules, said: str) -> str:
    """Return rules with their confidence and lift; `said` goes above."""
    sides = zip(labels_of(rules.antecedents, rules), labels_of(rules.consequents, rules), strict=True)
    heads = [f"{html_itemset(left)} → {html_itemset(right)}" for left, right in sides]
    counts = rules.counts.tolist()
    shown, whole_counts = [whole(count) for count in counts], [whole(count, 1) for count in counts]
    columns = [TableColumn(rules.unit.capitalize(), shown, counts, whole_counts)]
    confidences = rules.measure("confidence").tolist()
    columns.append(TableColumn("Confidence", [percent(value) for value in confidences], confidences))
    if rules.low is not None and rules.high is not None:
        low, high = rules.low.tolist(), rules.high.tolist()
        columns.append(TableColumn("from", [percent_end(end, 1, math.floor) for end in low], low))
        columns.append(TableColumn("to", [percent_end(end, 1, math.ceil) for end in high], high))
    lifts = rules.measure("lift").tolist()
    columns.append(TableColumn("Lift", [_lift(lift) for lift in lifts], lifts))
    bounds = rules.bounds("lift")
    if bounds is not None:
        low, high = (end.tolist() for end in bounds)
        columns.append(TableColumn("from", [_lift(outwards(end, decimals(end, 2), math.floor)) for end in low], low))
        columns.append(TableColumn("to", [_lift(outwards(end, decimals(end, 2), math.ceil)) for end in high], high))
    if rules.p_adjusted is not None:
        adjusted = rules.p_adjusted.tolist()
        columns.append(TableColumn("Adjusted p", [p_text(p) for p in adjusted], adjusted, rising=True))
    levels = [level_words(level) for level in rules.levels] if levels_in(rules) else []
    if levels:
        columns.append(TableColumn("Level", [escape(level) for level in levels], words=True))
    return table("Rule" if rules.kind == "rules" else "Relation", heads, columns, said, levels=levels)


def _lift(value: float) -> str:
    return f"{value:,.{decimals(value, 2)}f}" if math.isfinite(value) else whole(value)


def spent_table(guarantee: Guarantee, reports: int = 0, people: Mapping[str, int] | None = None) -> str:
    """Return what was spent on what, with a small bar per step; steps of the same name are put together.

    Devices answer rounds, and no person all of them, so that nothing is added up there. How many rounds a person
    answers at most is `reports`, 0 where that is not known; how many people were asked in each, as far as that is
    known, is in `people`.
    """
    if not guarantee.charges:
        return "<p>Nothing was spent: the result does not depend on anybody’s data.</p>\n"
    if guarantee.model == "local":
        return _rounds_table(guarantee, reports, people or {})
    pure = guarantee.rho is None
    steps: dict[str, list[Charge]] = {}
    for charge in guarantee.charges:
        steps.setdefault(charge.what, []).append(charge)
    heads = [_step(what, held) for what, held in steps.items()]
    losses = [sum((_loss(charge, pure) for charge in held), Fraction(0)) for held in steps.values()]
    cap = guarantee.epsilon if guarantee.rho is None else guarantee.rho
    rest = cap - sum(losses)
    if rest > cap / _ROUNDING:
        heads.append("nothing: it was not needed")
        losses.append(rest)
    parts = [float(amount / cap) for amount in losses]
    columns = [
        TableColumn(
            "Epsilon" if pure else "Rho", [loss(amount) for amount in losses], [float(amount) for amount in losses]
        ),
        TableColumn("Share", [f"{percent(part)} {share(part)}" for part in parts], parts),
    ]
    said = "What was spent on what. " + (
        "Epsilon is the loss of privacy; the losses of the steps add up."
        if pure
        else "Rho is the loss of privacy as zero-concentrated differential privacy (zCDP) measures it. The losses of "
        "the steps add up, and their sum is turned into the epsilon and delta above."
    )
    return table("Step", heads, columns, said) + _curve(guarantee)


def _rounds_table(guarantee: Guarantee, reports: int, people: Mapping[str, int]) -> str:
    """Return the rounds that devices answered, and what one answer loses."""
    charges = guarantee.charges
    columns = []
    if all(charge.what in people for charge in charges):
        asked = [people[charge.what] for charge in charges]
        columns.append(TableColumn("People asked", [whole(many) for many in asked], asked))
    losses = [_loss(charge, True) for charge in charges]
    columns.append(TableColumn("Epsilon", [loss(one) for one in losses], [float(one) for one in losses]))
    most = f"the loss of a person is at most {loss(guarantee.epsilon)} in all"
    if reports == 1:
        why = f"Each person answers one round at most, so what the rounds lose does not add up: {most}."
    elif reports > 1:
        why = f"A person answers up to {reports:,} rounds, and loses what these lose together: {most}."
    else:
        why = f"However many rounds a person answers, {most}."
    said = f"What devices were asked, round by round. Epsilon is the loss of privacy by one answer. {why}"
    return table("Round", [_step(charge.what, [charge]) for charge in charges], columns, said)


def _curve(guarantee: Guarantee) -> str:
    """Return the epsilons at other deltas: a promise by zCDP is all of them at once."""
    rows = guarantee.curve()
    if not rows:
        return ""
    said = (
        "The same promise at other deltas: each row holds, for every event, with a factor of e to its epsilon and its "
        "delta added."
    )
    heads = [rounded(delta, digits=3) for delta, _ in rows]
    epsilons = TableColumn("Epsilon", [rounded(epsilon, digits=3) for _, epsilon in rows])
    return table("Delta", heads, [epsilons], said, sorts=False)


def _loss(charge: Charge, pure: bool) -> Fraction:
    return (charge.epsilon or Fraction(0)) if pure else charge.rho


def _step(what: str, held: Sequence[Charge]) -> str:
    times = f" ({len(held):,} times)" if len(held) > 1 else ""
    delta = sum((charge.delta for charge in held), Fraction(0))
    failing = f", with a delta of {cut(delta)}" if delta else ""
    return escape(clean(what, 300)) + times + failing
