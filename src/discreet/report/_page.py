"""The page of a result: its values, computed here, in the sentences of ``report.html.jinja``.

A report is one HTML file that a person would send to their manager.
"""

from __future__ import annotations

import math
from statistics import median
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from ..baskets import MIXED_LEVELS
from ..errors import LimitError
from ..results import Patterns, Rules, drowned, margins_of
from ._charts import PHONE_WIDTH
from ._contents import ReportContents
from ._frame import render_page
from ._graph import GraphPicture, draw_graph
from ._matrix import draw_confidences
from ._plots import draw_pieces
from ._scatter import POINTS, draw_scatter
from ._tables import charge_table, level_text, levels_in, pattern_table, rule_table, shown_bounds
from ._text import count_end_text, count_text, itemset, labels_of, lift_text, loss_text, percent, percent_end, step_of
from ._widths import explain_widths

_ROWS = 5_000  # of a table. More: a page that telephones open slowly; fewer: more rows in the saved table alone
SIGNIFICANCE = 0.05  # the largest adjusted p-value of a rule that a page names: the usual level of a test


def page(contents: ReportContents, *, max_rules: int = 20, max_bars: int = 30) -> str:
    """Return the report as one HTML page, complete in itself.

    Parameters
    ----------
    contents
        The contents of the report.
    max_rules
        The largest number of rules in the table; 0 for no rules.
    max_bars
        The largest number of patterns drawn as bars; 0 for no bars.
    """
    patterns, guarantee = contents.patterns, contents.guarantee
    best_rules = None if patterns is None or max_rules < 1 else select_rules(patterns)
    measured_rules = best_rules if isinstance(best_rules, Rules) else contents.rules
    significant = None if measured_rules is None else _significant_rules(measured_rules)
    # Of patterns that are mostly noise, no sentence picks out some as findings.
    is_clear = patterns is not None and patterns.counted and not drowned(patterns)
    return render_page(
        "report/templates/report.html.jinja",
        title=contents.title,
        status=contents.status,
        figures=_figures(contents),
        parent=contents.parent,
        version=contents.version,
        contents=contents,
        patterns=patterns,
        rules=contents.rules,
        guarantee=guarantee,
        charges="" if guarantee is None else charge_table(guarantee, contents.reports, contents.people_by_round),
        significant=significant,
        surest=_surest_rule(significant) if significant is not None and (patterns is None or is_clear) else None,
        best_rules=best_rules,
        largest=_first_by_count(patterns, 0),
        frequent=_frequent_itemsets(patterns) if is_clear else [],
        levels=[] if patterns is None else split_by_level(patterns),
        graphs=[] if patterns is None else _graphs(patterns),
        margin="" if patterns is None else typical_margin(patterns),
        max_rows=_ROWS,
        max_rules=max_rules,
        max_bars=max_bars,
        POINTS=POINTS,
        PHONE_WIDTH=PHONE_WIDTH,
        **{function.__name__: function for function in _FUNCTIONS},
    )


def _figures(contents: ReportContents) -> dict[str, str]:
    """Return the few numbers to be seen first, by name."""
    result = contents.result
    about = "" if result.people_within is None else "about "
    name = "Patterns" if isinstance(result, Patterns) else result.kind.capitalize()
    figures = {name: count_text(len(result)), result.unit.capitalize(): f"{about}{count_text(result.people)}"}
    margin = typical_margin(result) if isinstance(result, Patterns) else ""
    if margin:
        figures["Typical margin"] = margin
    if contents.guarantee is not None:
        figures["Epsilon"] = loss_text(contents.guarantee.epsilon)
    return figures


def _first_by_count(patterns: Patterns | None, min_size: int, max_size: float = math.inf) -> Patterns | None:
    """Return the pattern with the largest count among patterns of some sizes, as a table of one row."""
    if patterns is None:
        return None
    rows = np.flatnonzero((patterns.sizes >= min_size) & (patterns.sizes <= max_size))
    return patterns.take(rows[patterns.counts[rows].argmax()][None]) if len(rows) else None


def _frequent_itemsets(patterns: Patterns | None) -> list[tuple[str, Patterns]]:
    """Return the most frequent pair and the most frequent larger pattern, with the words before them."""
    chosen = {
        "Held together most often": _first_by_count(patterns, 2, 2),
        "The most frequent of three items or more": _first_by_count(patterns, 3),
    }
    return [(words, pattern) for words, pattern in chosen.items() if pattern is not None]


def interval_ends(pattern: Patterns) -> tuple[str, str] | None:
    """Return the interval of the first pattern with the digits of its count, rounded outwards; None if unknown."""
    bounds = shown_bounds(pattern)
    if not bounds or not all(map(math.isfinite, bounds[0])):
        return None
    return _ends_text(int(pattern.counts[0]), *bounds[0])


def people_ends(patterns: Patterns) -> tuple[str, str] | None:
    """Return the interval of a noisy number of people, with the digits of the number; None for a known number."""
    return None if patterns.people_within is None else _ends_text(patterns.people, *patterns.people_within)


def _ends_text(count: int, low: float, high: float) -> tuple[str, str]:
    # The digits of the count: an end with more digits would suggest more precision than the count has.
    step = step_of(count, min(high - count, count - low))
    return count_end_text(low, math.floor, step), count_end_text(high, math.ceil, step)


def typical_margin(patterns: Patterns) -> str:
    """Return the median margin of the counts; "" where no interval is finite."""
    margins = [margin for margin in margins_of(patterns) if math.isfinite(margin)]
    return f"± {count_text(math.ceil(median(margins)))}" if margins else ""


def split_by_level(patterns: Patterns) -> list[tuple[str, Patterns]]:
    """Return the name of each level with its patterns; nothing with a single level."""
    pattern_levels = np.array(patterns.levels)
    return [
        (level_text(level), patterns.take(np.flatnonzero(pattern_levels == level))) for level in levels_in(patterns)
    ]


def _graphs(patterns: Patterns) -> list[tuple[str, GraphPicture]]:
    """Return the graph of all items that occur together, and the graph of each level; nothing without items."""
    # Patterns on no level have items of several levels, and a graph of them alone would mislead.
    levels = [level for level in levels_in(patterns) if level != MIXED_LEVELS]
    graphs = [("", GraphPicture.of(patterns))]
    graphs += [(level_text(level), GraphPicture.of(patterns.where(level=level))) for level in levels]
    return [(level, picture) for level, picture in graphs if picture.items]


def select_rules(patterns: Patterns) -> Rules | str | None:
    """Return the rules with one item on the right, the surest first; a sentence if too many, None without counts."""
    if not patterns.counted or not (patterns.sizes > 1).any():
        return None
    try:
        rules = patterns.rules(0, min_lift=1, consequents="one")
    except LimitError:
        return "These patterns give too many rules to choose from."
    return rules.sort("confidence" if rules.low is None else "confidence_low")


def _significant_rules(rules: Rules) -> Rules:
    """Return the rules with a small adjusted p-value; all rules where none has a p-value."""
    return rules if rules.p_adjusted is None else rules.where(significance=SIGNIFICANCE)


class SurestRule(NamedTuple):
    """The parts of the sentence on a rule: its sides, its confidence with the interval, and its lift, if finite."""

    antecedent: Markup
    consequent: Markup
    share: str
    lift: str


def _surest_rule(rules: Rules) -> SurestRule | None:
    """Return the rule with the largest confidence, or with the largest lower end; None where no end is a number."""
    # By the lower end, so that noise alone makes no rule the surest.
    confidences = rules.low if rules.low is not None else rules.measure("confidence")
    if not len(rules) or np.isnan(confidences).all():
        return None
    row = int(np.nanargmax(confidences))
    rule = rules[row : row + 1]
    confidence, lift = (float(rule.measure(name)[0]) for name in ("confidence", "lift"))
    share = percent(confidence)
    if rule.low is not None and rule.high is not None:
        low, high = (float(end[0]) for end in (rule.low, rule.high))
        share = f"about {share} (from {percent_end(low, 1, math.floor)} to {percent_end(high, 1, math.ceil)})"
    antecedent, consequent = (itemset(labels_of(side, rule)[0]) for side in rule.sides)
    return SurestRule(antecedent, consequent, share, lift_text(lift) if math.isfinite(lift) else "")


# The functions that the template calls with parts of the result.
_FUNCTIONS = (
    draw_confidences, draw_graph, draw_pieces, draw_scatter, explain_widths, interval_ends, pattern_table, people_ends,
    rule_table, split_by_level,
)  # fmt: skip
