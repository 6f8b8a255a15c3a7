"""The sections of a report: functions from values to markup, which escape all text from outside."""

from __future__ import annotations

import math
from html import escape
from statistics import median

import numpy as np

from ..baskets import MIXED_LEVELS
from ..errors import LimitError
from ..results import DROWNED, NOTHING, Patterns, Rules, drowned, malicious_share, margins_of, noise_text
from ._charts import PAGE_BARS_WIDTH, PHONE_BARS_WIDTH, PHONE_WIDTH, Bar, Drawing, Unit, draw_bars, reach
from ._contents import ReportContents
from ._frame import both_widths, figure
from ._graph import GraphPicture, draw_graph
from ._matrix import draw_confidences
from ._scatter import POINTS, draw_scatter
from ._tables import charge_table, fold, level_text, levels_in, pattern_table, render_facts, rule_table, shown_bounds
from ._text import (
    clean,
    count_end_text,
    count_text,
    decimals,
    html_first_itemset,
    html_itemset,
    labels_of,
    number_of,
    percent,
    percent_end,
    plain_itemset,
    step_of,
)
from ._widths import explain_widths

_ROWS = 5_000  # of a table. More: a page that telephones open slowly; fewer: more rows in the saved table alone
_BARS_PER_DRAWING = 5  # a sheet of paper may end between two drawings
_LABEL_COLUMNS = 60  # of a bar
_MIN_POINTS = 4  # rules of a scatter plot: fewer are seen at once in the table
SIGNIFICANCE = 0.05  # the largest adjusted p-value of a rule that a page names: the usual level of a test
_TITLES = {
    "people": ("Share of people who hold each pattern", "People who hold each pattern"),
    "baskets": ("Share of baskets that hold each pattern", "Baskets that hold each pattern"),
}
# The predicate of holders of the first item of a relation, by its kind.
_RELATION_TEXTS = {
    "after": "have {} after it, later in time",
    "together": "hold {} too",
    "given": "have {} with it, as a pair that the data name",
    None: "have {} with it",
}
_LEVELS = "By the lowest level on which all items of a pattern are."
_LIFT = "The lift is how many times as often that is as among everybody."


def sentence(text: str) -> str:
    """Return a text as a sentence, with a capital letter and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def render_origin(contents: ReportContents) -> str:
    """Return the date, the version, the mechanism and the guarantee in one line, as markup."""
    text = f"Made on {clean(contents.date)}" if contents.date else "Made"
    text += f" with discreet {clean(contents.version)}"
    if contents.mechanism:
        text += f", mechanism {clean(contents.mechanism)}"
    guarantee = "Exact, and not private" if contents.guarantee is None else str(contents.guarantee)
    return escape(f"{text}. {sentence(guarantee)}")


def pattern_headline(patterns: Patterns) -> str:
    """Return one or two sentences on the patterns of a result, as markup."""
    if not len(patterns):
        return f"No pattern was released. {NOTHING}" if patterns.noisy else "No pattern was found."
    total = f"{number_of(len(patterns), 'pattern was', 'patterns were')} found"
    if not patterns.counted:
        return f"{total}, without counts."
    if drowned(patterns):
        advice = f" {DROWNED}" if malicious_share(patterns) is None else ""
        return f"{total}{noise_text(patterns)}.{advice}"
    row = int(patterns.counts.argmax())
    largest = patterns[row : row + 1]
    return (
        f"{total}{noise_text(patterns)}. The largest count is that of {html_first_itemset(largest)}: "
        f"{_holders(largest)}."
    )


def render_findings(patterns: Patterns, rules: Rules | None) -> str:
    """Return the findings that a reader wants first, as a list; "" where most patterns may be noise."""
    if not patterns.counted or drowned(patterns):
        return ""
    findings = []
    for words, fits in (
        ("Held together most often", patterns.sizes == 2),
        ("The most frequent of three items or more", patterns.sizes >= 3),
    ):
        rows = np.flatnonzero(fits)
        if len(rows):
            row = int(rows[patterns.counts[rows].argmax()])
            pattern = patterns[row : row + 1]
            itemset = html_first_itemset(pattern)
            findings.append(f"{words}: <strong>{itemset}</strong>, by {_holders(pattern)}{_interval_text(pattern)}.")
    significant = None if rules is None else significant_rules(rules)
    if significant is not None and len(significant):
        findings.append(_first_rule_text(significant))
    return _finding_list(findings)


def _finding_list(findings: list[str]) -> str:
    items = "".join(f"<li>{finding}</li>" for finding in findings)
    return f'<ul class="findings">{items}</ul>\n' if findings else ""


def _holders(pattern: Patterns) -> str:
    """Return the number of holders of the first pattern, and the number of all people."""
    about = "" if pattern.low is None else "about "
    about_all = "" if pattern.people_within is None else "about "
    holders = f"{about}{count_text(int(pattern.counts[0]))}"
    return f"{holders} of {about_all}{count_text(pattern.people)} {pattern.unit}" if pattern.people > 0 else holders


def _interval_text(pattern: Patterns) -> str:
    """Return the interval of the first pattern in brackets; "" without an interval."""
    bounds = shown_bounds(pattern)
    if not bounds or not all(map(math.isfinite, bounds[0])):
        return ""
    low, high = _interval_ends(pattern)
    return f" (from {low} to {high})"


def _interval_ends(pattern: Patterns) -> tuple[str, str]:
    """Return the ends of the interval of the first pattern with the digits of its count, rounded outwards."""
    ((low, high),) = shown_bounds(pattern)
    count = int(pattern.counts[0])
    step = step_of(count, min(high - count, count - low))
    return count_end_text(low, math.floor, step), count_end_text(high, math.ceil, step)


def significant_rules(rules: Rules) -> Rules:
    """Return the rules with a small adjusted p-value; all rules where none has a p-value."""
    return rules if rules.p_adjusted is None else rules.where(significance=SIGNIFICANCE)


def _first_rule_text(rules: Rules) -> str:
    """Return a sentence on the first rule or relation, as markup."""
    rule = rules[:1]
    antecedent, consequent = (html_itemset(labels_of(side, rule)[0]) for side in (rule.antecedents, rule.consequents))
    confidence, lift = (float(rule.measure(name)[0]) for name in ("confidence", "lift"))
    about = "" if rule.low is None else "about "
    interval = ""
    if rule.low is not None and rule.high is not None:
        low, high = (float(end[0]) for end in (rule.low, rule.high))
        interval = f" (from {percent_end(low, 1, math.floor)} to {percent_end(high, 1, math.ceil)})"
    share = f"{about}{percent(confidence)}{interval}"
    if rules.kind == "relations" and rules.how is not None:
        predicate = _RELATION_TEXTS[rules.how].format(f"<strong>{consequent}</strong>")
        return f"The surest relation: of those who have <strong>{antecedent}</strong>, {share} {predicate}."
    if rules.kind == "relations":  # of an earlier version, which did not save its kind
        return f"The surest relation: <strong>{antecedent} → {consequent}</strong>, with a confidence of {share}."
    times = "" if not math.isfinite(lift) else f", {lift:,.{decimals(lift, 2)}f} times as often as among everybody"
    return (
        f"The surest rule: of those who hold <strong>{antecedent}</strong>, {share} hold "
        f"<strong>{consequent}</strong> too{times}."
    )


def typical_margin(patterns: Patterns) -> str:
    """Return the median margin of the counts; "" where no interval is finite."""
    margins = [margin for margin in margins_of(patterns) if math.isfinite(margin)]
    return f"± {count_text(math.ceil(median(margins)))}" if margins else ""


def render_question(contents: ReportContents) -> str:
    """Return the question, the mechanism and its settings."""
    name, summary = escape(clean(contents.mechanism)), escape(sentence(clean(contents.summary, 600)))
    mechanism = f"<p>Mechanism: {name}. {summary}</p>\n" if contents.summary else ""
    settings = ", ".join(f"{clean(name)} = {clean(value, 600)}" for name, value in contents.settings.items())
    settings = f'<p class="quiet">Its settings: {escape(settings)}.</p>\n' if settings else ""
    return render_facts(contents.question) + mechanism + settings


def render_promise(contents: ReportContents, *, with_charges: bool = True) -> str:
    """Return the guarantee, or the warning that none is given, and the table of its charges."""
    if contents.guarantee is None:
        return (
            '<div class="promise"><p class="lead">Nothing is promised: these numbers are the truth about the people in '
            "the data. Whoever sees this page may learn about single people, above all from patterns that few of them "
            "hold. It is for those who may see the data themselves.</p>"
            "<p>To send a result on, make a private one: <code>discreet release</code>.</p></div>\n"
        )
    simulated = (
        "<p><strong>SIMULATED.</strong> A release made in the same way would promise what follows. This one promises "
        "nothing: its noise can be repeated by whoever knows the seed.</p>\n"
        if contents.simulated
        else ""
    )
    words = escape(clean(contents.guarantee.in_words(curve=False), 4000))
    charges = charge_table(contents.guarantee, contents.reports, contents.people_by_round) if with_charges else ""
    return (
        f'{simulated}<div class="promise"><p class="lead">{words}</p>'
        f"<p>In one line: {escape(str(contents.guarantee))}.</p></div>\n{charges}"
    )


def render_patterns(patterns: Patterns, max_bars: int, rules: Rules | None = None) -> str:
    """Return the findings, and the first patterns as bars; of a hierarchy, the bars of each level too."""
    if not len(patterns):
        return "<p>No pattern was released.</p>\n" if patterns.noisy else "<p>No pattern was found.</p>\n"
    listed = f'<p>{number_of(len(patterns), "pattern")}, listed <a href="#all">below</a>.'
    if not patterns.counted:
        return (
            f"{listed} This release names patterns only: nothing was spent on counting them, so there are no counts, "
            "no supports and no rules.</p>\n"
        )
    if max_bars < 1:
        return f"{listed}</p>\n"
    by_level = "".join(
        fold(level_text(level), number_of(len(part), "pattern"), _render_bars(part, max_bars, f"bars-{number}"))
        for number, (level, part) in enumerate(_split_by_level(patterns))
    )
    if by_level:
        by_level = f'<p class="quiet before">{_LEVELS} A heading unfolds its bars.</p>\n{by_level}'
    bars = _render_bars(patterns, max_bars, "bars")
    return f"{render_findings(patterns, rules)}{bars}{by_level}{explain_widths(patterns)}"


def _split_by_level(patterns: Patterns) -> list[tuple[str, Patterns]]:
    """Return each level with its patterns; nothing with a single level."""
    pattern_levels = np.array(patterns.levels)
    return [(level, patterns.take(np.flatnonzero(pattern_levels == level))) for level in levels_in(patterns)]


def _render_bars(patterns: Patterns, max_bars: int, name: str) -> str:
    """Return the first patterns as bars, in pieces that fit on paper, with the words on how to read them."""
    rows = bars_of(patterns[:max_bars])
    title, unit = _bar_title(patterns)
    scale_end = reach(rows)
    pieces = []
    for start in range(0, len(rows), _BARS_PER_DRAWING):
        page_drawing, phone_drawing = (
            draw_bars(
                rows[start : start + _BARS_PER_DRAWING],
                title=title,
                unit=unit,
                scale_end=scale_end,
                with_scale=start == 0,
                min_width=width,
            )
            for width in (PAGE_BARS_WIDTH, PHONE_BARS_WIDTH)
        )
        pieces.append(both_widths(page_drawing, phone_drawing, f"{name}-{start}"))
    drawings = '<figure class="pieces">' + "\n".join(pieces) + "</figure>\n"
    extent = f"The first {len(rows):,} of {len(patterns):,} patterns" if len(rows) < len(patterns) else "All patterns"
    holders = "people who hold" if patterns.unit == "people" else "baskets that hold"
    length = (
        f"the share of {holders} all its items" if unit == "share" else f"how many {patterns.unit} hold all its items"
    )
    whiskers = ""
    if patterns.low is not None:
        # Two intervals of 95 %, of the count and of the number of people, hold together in 90 % (union bound).
        coverage = "95" if patterns.people_within is None or unit == "count" else "90"
        whiskers = f" The line across its end is an interval for the true one, made to hold in {coverage} of 100 cases."
    return f'<p class="quiet before">{extent}. The length of a bar is {length}.{whiskers}</p>\n{drawings}'


def _bar_title(patterns: Patterns) -> tuple[str, Unit]:
    """Return the title of a bar chart, and whether its bars are shares or counts."""
    # The number of people is noisy as well: at a noisy number of 0, bars are counts.
    unit: Unit = "share" if patterns.people > 0 else "count"
    return _TITLES[patterns.unit][unit == "count"], unit


def chart(patterns: Patterns, rows: int = 30) -> Drawing:
    """Return the first patterns as one bar chart."""
    title, unit = _bar_title(patterns)
    return draw_bars(bars_of(patterns[:rows]), title=title, unit=unit)


def bars_of(patterns: Patterns) -> list[Bar]:
    """Return a bar for each pattern: its support, or its count where the number of people is 0."""
    share = patterns.people > 0
    ends = patterns.support_bounds or (None, None) if share else (patterns.low, patterns.high)
    low, high = ([None] * len(patterns) if bound is None else bound.tolist() for bound in ends)
    values = (patterns.supports if share else patterns.counts).tolist()
    labels = [plain_itemset(labels, _LABEL_COLUMNS) for labels in labels_of(patterns.itemsets, patterns)]
    cut_rows = patterns.cut_supports.tolist() if share else [False] * len(patterns)
    return [Bar(*row) for row in zip(labels, values, low, high, cut_rows, strict=True)]


def explain_intervals(patterns: Patterns) -> str:
    """Return the paragraphs on reading an interval, on the typical margin, and on a noisy number of people."""
    paragraphs = (_interval_example(patterns), _margin_text(patterns), _people_text(patterns))
    return "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs if paragraph)


def _interval_example(patterns: Patterns) -> str:
    first_pattern = patterns[:1]
    if not _interval_text(first_pattern):
        return ""
    low, high = _interval_ends(first_pattern)
    weights = (
        "Where a person has more baskets than may take part, some were drawn at random; in the true number all of them "
        "together weigh as much as those that may. "
        if patterns.unit == "baskets"
        else ""
    )
    return (
        f"The count of {html_first_itemset(first_pattern)} is given as {count_text(int(first_pattern.counts[0]))}, "
        f"with an interval from {low} to {high}. Noise was added to every count on purpose: it is what protects "
        f"people. {weights}Of intervals made in this way, about 95 of 100 hold the true number. So read the interval, "
        "not the count alone. Where the intervals of two patterns overlap, their order may be due to noise. Where an "
        "interval reaches down to 0, the pattern may not occur at all. No true count is below 0, so what would lie "
        "there is not shown."
    )


def _margin_text(patterns: Patterns) -> str:
    margin = typical_margin(patterns)
    if not margin:
        return ""
    return (
        f"The typical margin is {margin} {patterns.unit}: half of the patterns have this margin or a smaller one. It "
        "means that in 95 of 100 cases the true number lies no further than that from the count that is shown."
    )


def _people_text(patterns: Patterns) -> str:
    if patterns.people_within is None:
        return ""
    low, high = patterns.people_within
    step = step_of(patterns.people, min(high - patterns.people, patterns.people - low))
    return (
        f"The number of {patterns.unit} is private too: it lies between {count_end_text(low, math.floor, step)} and "
        f"{count_end_text(high, math.ceil, step)}, in 95 of 100 cases. Shares carry that as well."
    )


def render_graph(patterns: Patterns) -> str:
    """Return the graph of items that occur together; of a hierarchy, the graph of each level too."""
    picture = GraphPicture.of(patterns)
    if not picture.items:
        return ""
    levels = "".join(
        fold(level_text(level), "alone", _graph_figure(GraphPicture.of(patterns.where(level=level)), f"graph-{number}"))
        for number, level in enumerate(levels_in(patterns))
        if level != MIXED_LEVELS
    )
    return _graph_figure(picture, "graph", _explain_graph(picture)) + levels


def _graph_figure(picture: GraphPicture, name: str, caption: str = "") -> str:
    if not picture.items:
        return ""
    if picture.left_out:
        caption += f"Not drawn for want of room: {number_of(picture.left_out, 'pair or triple', 'pairs and triples')}. "
    return figure(draw_graph(picture), name, caption.strip(), narrow=draw_graph(picture, PHONE_WIDTH))


def _explain_graph(picture: GraphPicture) -> str:
    """Return the meaning of circles, lines and colours of a graph."""
    patterns = picture.patterns
    verb = "released" if patterns.noisy else "found"
    text = f"Two items are joined by a line where the pair was {verb}"
    text += f": the thicker it is, the more {patterns.unit} hold both. " if patterns.counted else ". "
    if picture.triples:
        text += f"Three items share a shaded triangle where all three were {verb} as one pattern. "
    if picture.single:
        text += f"The larger a circle, the more {patterns.unit} hold the item. "
    if any(picture.rings):
        text += "Every ring around a circle is a level that the item stands above. "
    if any(picture.lift(row) is not None for row in picture.pairs):
        text += (
            "Lift is how many times as often two items were found together as if neither had to do with the other. The "
            "stronger the colour of a line, the larger the lift; a line is dashed where it is under 1. "
        )
        if patterns.low is not None:
            text += "All of it is drawn by the noisy counts alone; the rules below have intervals. "
    return text


def select_rules(patterns: Patterns) -> Rules | str | None:
    """Return the rules with one item on the right, the surest first; a sentence if too many, None without counts."""
    if not patterns.counted or not (patterns.sizes > 1).any():
        return None
    try:
        rules = patterns.rules(0, min_lift=1, consequents="one")
    except LimitError:
        return "These patterns give too many rules to choose from."
    return rules.sort("confidence" if rules.low is None else "confidence_low")


def render_best_rules(rules: Rules | str | None, max_rules: int) -> str:
    """Return the rules of `select_rules` as points, and the first rules as a table."""
    if rules is None or max_rules < 1:
        return ""
    if isinstance(rules, str):
        return f"<p>{rules}</p>\n"
    if not len(rules):
        return f"<p>There are no rules with a lift of 1 or more. {_omitted_rules(rules)}</p>\n"
    source = "released patterns and cost no privacy beyond them" if rules.noisy else "patterns"
    order = "the largest confidence first"
    if rules.low is not None:
        order = "ordered by the lower end of the interval, so that noise alone brings no rule to the top"
    caption = (
        f"{min(max_rules, len(rules)):,} of {number_of(len(rules), 'rule')} with one item on the right and a lift of 1 "
        f"or more, {order}. {_omitted_rules(rules)}"
    )
    text = f"{_explain_measures(rules)} Rules are computed from the {source}.{_explain_coverage(rules)}"
    return f"<p>{text}{_explain_p_values(rules)}</p>\n{_scatter_figure(rules)}{rule_table(rules[:max_rules], caption)}"


def _explain_measures(rules: Rules) -> str:
    """Return the meaning of the confidence and of the lift of rules or relations."""
    antecedent, predicate = "hold what is on the left", "hold what is on the right too"
    if rules.kind == "relations":
        antecedent, predicate = "have what is on the left", _RELATION_TEXTS[rules.how].format("what is on the right")
    lift = "The lift is that share over the share of all who have what is on the right in any way."
    if rules.kind == "rules" or rules.how == "together":
        lift = _LIFT
    return f"The confidence says how many in a hundred of those who {antecedent} {predicate}. {lift}"


def _explain_coverage(rules: Rules) -> str:
    """Return the coverage of the intervals of rules; the notes of relations state theirs."""
    if rules.low is None or rules.kind == "relations":
        return ""
    lift_parts = "three counts, and holds in at least 85"
    if rules.people_within is not None:
        lift_parts = f"three counts and the number of {rules.unit}, and holds in at least 80"
    return (
        " From and to are an interval for the number before them. Say that the intervals of counts fail in no more "
        "than 5 of 100 cases each. Then that of a confidence rests on two counts, and holds in at least 90 of 100; "
        f"that of a lift rests on {lift_parts}."
    )


def _explain_p_values(rules: Rules) -> str:
    """Return the meaning of the p-values of rules; "" without p-values."""
    if rules.p_adjusted is None:
        if rules.unit == "baskets" and rules.kind == "rules":
            return " There are no p-values: they would take baskets for independent, and those of one person are not."
        return ""
    sample, unit = ",", rules.unit
    if rules.unit == "baskets":
        sample = ", found in one basket of each person, drawn at random, as baskets of one person are not independent,"
        unit = "people"
    family = "all rules" if rules.tested is None else number_of(rules.tested, "rule")
    text = (
        f" The last column is the p-value of Fisher's exact test{sample} adjusted for {family} that could have been "
        f"found. A small one says that so many {unit} would hardly hold both sides if these had nothing to do with "
        "each other."
    )
    if rules.low is not None:
        text += (
            " It is taken at the ends of the intervals that speak against the rule; where one of them fails, it may be "
            "too small."
        )
    return text


def _scatter_figure(rules: Rules) -> str:
    """Return the rules as points, with the words on how to read them; "" for a few rules."""
    if len(rules) < _MIN_POINTS:
        return ""
    noun, verb = ("rule", "hold both sides") if rules.kind == "rules" else ("relation", "have it")
    text = (
        f"Every point is a {noun}: the further right, the more {rules.unit} {verb}; the higher, the surer. A number is "
        "the place in the table, as it is ordered at first."
    )
    if rules.low is not None:
        text += " The line through a point is the interval of its confidence."
    if len(rules) > POINTS:
        text += f" Drawn are the first {POINTS:,} of {len(rules):,}."
    return figure(draw_scatter(rules), "scatter", text, narrow=draw_scatter(rules, PHONE_WIDTH))


def render_rules(rules: Rules) -> str:
    """Return the table of rules or relations that are the result itself."""
    noun = rules.kind.removesuffix("s")
    if not len(rules):
        return f"<p>No {noun} was found.</p>\n"
    remainder = len(rules) - _ROWS
    caption = f"{number_of(min(len(rules), _ROWS), noun)}. {_omitted_rules(rules)}".strip()
    if remainder > 0:
        caption += f" {number_of(remainder, f'more {noun}')} not listed here; the saved table has them."
    text = f"{_explain_measures(rules)}{_explain_coverage(rules)}{_explain_p_values(rules)}"
    return f"<p>{text}</p>\n{rule_table(rules[:_ROWS], caption)}"


def render_rule_drawings(rules: Rules) -> str:
    """Return the pictures of rules or relations that are the result itself; "" without rows."""
    if not len(rules):
        return ""
    predicate = "hold the second too" if rules.kind == "rules" else _RELATION_TEXTS[rules.how].format("the second")
    text = (
        "Each square goes from what is on the left to what is above. The stronger its colour, the more of those who "
        f"have the first {predicate}."
    )
    return _scatter_figure(rules) + figure(draw_confidences(rules[:200]), "matrix", text, scrolls=True)


def rule_headline(rules: Rules) -> str:
    """Return one or two sentences on the rules or relations of a result, as markup."""
    noun = rules.kind.removesuffix("s")
    if not len(rules):
        return f"No {noun} was found."
    total = f"{number_of(len(rules), f'{noun} was', f'{rules.kind} were')} found."
    rules = significant_rules(rules)
    if not len(rules):
        return f"{total} By their adjusted p-values, chance may explain each of them."
    confidences = rules.low if rules.low is not None else rules.measure("confidence")
    if np.isnan(confidences).all():
        return total
    row = int(np.nanargmax(confidences))
    return f"{total} {_first_rule_text(rules[row : row + 1])}"


def _omitted_rules(rules: Rules) -> str:
    if not rules.omitted:
        return ""
    source = "released patterns" if rules.noisy else "patterns"
    return (
        f"Left out: {number_of(rules.omitted, 'rule')} that cannot be measured, because one side is not among the "
        f"{source}."
    )


def render_all_patterns(patterns: Patterns) -> str:
    """Return the table of all patterns; of a hierarchy, a table for each level."""
    if not len(patterns):
        return ""
    remainder = len(patterns) - _ROWS
    more = number_of(remainder, "more pattern")
    more = f"<p>{more} not listed here; the saved table has them.</p>\n" if remainder > 0 else ""
    patterns = patterns[:_ROWS]
    parts = _split_by_level(patterns)
    if not parts:
        return pattern_table(patterns) + more
    tables = "".join(
        fold(level_text(level), number_of(len(part), "pattern"), pattern_table(part), is_open=True)
        for level, part in parts
    )
    return f'<p class="before">{_LEVELS} A heading folds its table.</p>\n{tables}{more}'


def render_notes(contents: ReportContents) -> str:
    """Return the numbers released beside the patterns, and the notes for the reader."""
    notes = "".join(f"<li>{escape(clean(note, 2000))}</li>" for note in contents.notes)
    facts = render_facts(contents.facts)
    if facts:
        facts = f'<p class="before">Released beside the patterns, and covered by the same promise:</p>\n{facts}'
    return facts + (f"<ul>{notes}</ul>\n" if notes else "")


def render_citations(contents: ReportContents) -> str:
    """Return the publications to cite, and this package."""
    citations = "".join(f"<li>{escape(sentence(clean(citation, 600)))}</li>\n" for citation in contents.citations)
    return (
        f"<ul>\n{citations}<li>discreet, version {escape(clean(contents.version))}: frequent patterns, rules and "
        "relations, exactly or under differential privacy.</li>\n</ul>\n"
    )
