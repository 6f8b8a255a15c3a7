"""The tables of the report: patterns, rules, and what the budget was spent on. Text from outside is escaped here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from numpy.typing import NDArray

from ..privacy.budget import Charge
from ..privacy.guarantee import Guarantee
from ..results.patterns import Patterns
from ..results.promise import cut, outwards, rounded
from ..results.rules import Rules
from ..results.show import p_text
from .charts import share
from .text import clean, decimals, digits_for, html_itemset, labels_of, loss, percent, whole

# What is left of a budget by rounding alone is less than one part of so many.
_ROUNDING = 1_000


def described(told: Mapping[str, str]) -> str:
    """Return names and values as a list of descriptions; nothing where there are none."""
    rows = "".join(
        f"<dt>{escape(clean(name))}</dt><dd>{escape(clean(value, 600))}</dd>" for name, value in told.items()
    )
    return f'<dl class="facts">{rows}</dl>\n' if rows else ""


def pattern_table(patterns: Patterns) -> str:
    """Return the patterns with all numbers they have."""
    heads = [html_itemset(labels) for labels in labels_of(patterns.itemsets, patterns)]
    columns: dict[str, list[str]] = {}
    said = ""
    if patterns.counted:
        columns["Count"] = [whole(count) for count in patterns.counts.tolist()]
        bounds = shown_bounds(patterns)
        if bounds:
            said = "From and to are the ends of the 95 % interval of the count."
            columns["from"] = [whole(low) for low, _ in bounds]
            columns["to"] = [whole(high) for _, high in bounds]
        # The number of people is noisy as well: where it came out as 0 there is no fraction to show.
        if patterns.people > 0:
            supports = patterns.supports.tolist()
            digits = digits_for(supports)
            columns["Support"] = [percent(support, digits) for support in supports]
            if patterns.support_bounds is not None:
                low, high = patterns.support_bounds
                columns["from "] = [percent(_cut(end, digits, math.floor), digits) for end in low.tolist()]
                columns["to "] = [percent(_cut(end, digits, math.ceil), digits) for end in high.tolist()]
                both = "" if patterns.people_within is None else ", which carries the noise of the number of people too"
                said += f" After the support they are those of its own interval{both}."
    return _table("Items", heads, columns, said)


def shown_bounds(patterns: Patterns) -> list[tuple[float, float]]:
    """Return the intervals in whole numbers, rounded outwards, without what no count can be; none if there are none."""
    if patterns.low is None or patterns.high is None:
        return []
    return [
        (_whole_end(low, math.floor), _whole_end(high, math.ceil))
        for low, high in zip(patterns.low.tolist(), patterns.high.tolist(), strict=True)
    ]


def _whole_end(end: float, to_whole: Callable[[float], int]) -> float:
    return max(0.0, to_whole(end) if math.isfinite(end) else end) if not math.isnan(end) else end


def _cut(value: float, digits: int, to_whole: Callable[[float], int]) -> float:
    """Return a fraction that has as many decimals in percent as are shown of it, rounded outwards."""
    return min(1.0, outwards(value, decimals(100 * value, digits) + 2, to_whole))


def rule_table(rules: Rules, said: str) -> str:
    """Return rules with their confidence and lift; `said` goes above."""
    sides = zip(labels_of(rules.antecedents, rules), labels_of(rules.consequents, rules), strict=True)
    heads = [f"{html_itemset(left)} → {html_itemset(right)}" for left, right in sides]
    columns = {"People": [whole(count) for count in rules.counts.tolist()]}
    columns["Confidence"] = _percents(rules.measure("confidence"))
    if rules.low is not None and rules.high is not None:
        columns["from"] = [percent(_cut(end, 1, math.floor)) for end in rules.low.tolist()]
        columns["to"] = [percent(_cut(end, 1, math.ceil)) for end in rules.high.tolist()]
    columns["Lift"] = [_lift(lift) for lift in rules.measure("lift").tolist()]
    lifts = rules.bounds("lift")
    if lifts is not None:
        columns["from "] = [_lift(outwards(end, decimals(end, 2), math.floor)) for end in lifts[0].tolist()]
        columns["to "] = [_lift(outwards(end, decimals(end, 2), math.ceil)) for end in lifts[1].tolist()]
    if rules.p_adjusted is not None:
        columns["Adjusted p"] = [p_text(p) for p in rules.p_adjusted.tolist()]
    return _table("Rule", heads, columns, said)


def _lift(value: float) -> str:
    return f"{value:,.{decimals(value, 2)}f}"


def _percents(values: NDArray[Any]) -> list[str]:
    return [percent(value) for value in values.tolist()]


def _table(first: str, heads: Sequence[str], columns: Mapping[str, Sequence[str]], said: str) -> str:
    """Return a table with a column of markup that names the rows, and columns of numbers."""
    top = "".join(f'<th scope="col" class="number">{name}</th>' for name in columns)
    rows = "\n".join(
        f'<tr><th scope="row">{head}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for head, *cells in zip(heads, *columns.values(), strict=True)
    )
    caption = f"<caption>{said}</caption>\n" if said else ""
    return (
        f'<table>\n{caption}<thead><tr><th scope="col">{first}</th>{top}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n"
    )


def spent_table(guarantee: Guarantee) -> str:
    """Return what was spent on what, with a small bar per step; steps of the same name are put together."""
    if not guarantee.charges:
        return "<p>Nothing was spent: the result does not depend on anybody’s data.</p>\n"
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
    columns = {
        "Epsilon" if pure else "Rho": [loss(amount) for amount in losses],
        "Share": [f"{percent(part)} {share(part)}" for part in (float(amount / cap) for amount in losses)],
    }
    said = "What was spent on what. " + (
        "Epsilon is the loss of privacy; the losses of the steps add up."
        if pure
        else "Rho is the loss of privacy as zero-concentrated differential privacy (zCDP) measures it. The losses of "
        "the steps add up, and their sum is turned into the epsilon and delta above."
    )
    return _table("Step", heads, columns, said) + _curve(guarantee)


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
    return _table("Delta", heads, {"Epsilon": [rounded(epsilon, digits=3) for _, epsilon in rows]}, said)


def _loss(charge: Charge, pure: bool) -> Fraction:
    return (charge.epsilon or Fraction(0)) if pure else charge.rho


def _step(what: str, held: Sequence[Charge]) -> str:
    times = f" ({len(held):,} times)" if len(held) > 1 else ""
    delta = sum((charge.delta for charge in held), Fraction(0))
    failing = f", with a delta of {cut(delta)}" if delta else ""
    return escape(clean(what, 300)) + times + failing
