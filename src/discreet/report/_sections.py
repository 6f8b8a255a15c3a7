"""The sections of a report: small functions from values to markup. All text from outside is escaped in them."""

from __future__ import annotations

import math
from html import escape
from statistics import median

import numpy as np

from ..baskets import MIXED
from ..errors import LimitError
from ..results import DROWNED, NOTHING, Patterns, Rules, drowned, liars_of, margins_of, noise_words
from ._charts import BROAD, NARROW_LEAST, Bar, Drawing, Unit, bars, reach
from ._contents import ReportContents
from ._folding import folded, level_words, levels_in
from ._frame import both_widths, figure
from ._graph import NARROW, GraphPicture, graph
from ._matrix import confidences
from ._scatter import POINTS, scatter
from ._tables import described, pattern_table, rule_table, shown_bounds, spent_table
from ._text import (
    clean,
    counts_end,
    decimals,
    html_itemset,
    labels_of,
    named,
    number_of,
    percent,
    percent_end,
    plain_itemset,
    step_of,
    whole,
)
from ._widths import widths

_ROWS = 5_000  # of the table
_EACH = 5  # bars in one picture; between two of them a sheet of paper may end
_LABEL = 60  # columns of a bar's label
_SCATTERED = 4  # rules that are worth a picture
SIGNIFICANT = 0.05  # the largest adjusted p-value of a rule that a page singles out: the usual level of a test
_TITLES = {
    "people": ("Share of people who hold each pattern", "People who hold each pattern"),
    "baskets": ("Share of baskets that hold each pattern", "Baskets that hold each pattern"),
}
# What is said of those who have the first item of a relation, by what makes one.
_THEN = {
    "after": "have {} after it, later in time",
    "together": "hold {} too",
    "given": "have {} with it, as a pair that the data name",
    None: "have {} with it",
}
_LEVELS = "By the lowest level on which all items of a pattern are."
_LIFT = "The lift is how many times as often that is as among everybody."


def sentence(text: str) -> str:
    """Return a text as a sentence."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def made(told: ReportContents) -> str:
    """Say when and how it was made, and what is promised in one line."""
    made = f"Made on {clean(told.when)}" if told.when else "Made"
    made += f" with discreet {clean(told.version)}"
    if told.mechanism:
        made += f", mechanism {clean(told.mechanism)}"
    promised = "Exact, and not private" if told.guarantee is None else str(told.guarantee)
    return escape(f"{made}. {sentence(promised)}")


def headline(patterns: Patterns) -> str:
    """Say in a sentence or two what was found."""
    if not len(patterns):
        return f"No pattern was released. {NOTHING}" if patterns.noisy else "No pattern was found."
    many = f"{number_of(len(patterns), 'pattern was', 'patterns were')} found"
    if not patterns.counted:
        return f"{many}, without counts."
    if drowned(patterns):
        why = f" {DROWNED}" if liars_of(patterns) is None else ""
        return f"{many}{noise_words(patterns)}.{why}"
    place = int(patterns.counts.argmax())
    first = patterns[place : place + 1]
    return f"{many}{noise_words(patterns)}. The largest count is that of {named(first)}: {_held(first)}."


def findings(patterns: Patterns, rules: Rules | None) -> str:
    """Return what a reader wants to know first, in a few sentences; nothing where it is mostly noise."""
    if not patterns.counted or drowned(patterns):
        return ""
    told = []
    for least, words in ((2, "Held together most often"), (3, "The most frequent of three items or more")):
        places = np.flatnonzero((patterns.sizes == 2) if least == 2 else (patterns.sizes >= 3))
        if len(places):
            place = int(places[patterns.counts[places].argmax()])
            one = patterns[place : place + 1]
            told.append(f"{words}: <strong>{named(one)}</strong>, by {_held(one)}{_from_to(one)}.")
    standing = None if rules is None else standing_out(rules)
    if standing is not None and len(standing):
        told.append(_strongest(standing))
    return f'<ul class="findings">{"".join(f"<li>{one}</li>" for one in told)}</ul>\n' if told else ""


def _held(first: Patterns) -> str:
    """Say how many people hold a pattern, of how many."""
    about = "" if first.low is None else "about "
    among = "" if first.people_within is None else "about "
    held = f"{about}{whole(int(first.counts[0]))}"
    return f"{held} of {among}{whole(first.people)} {first.unit}" if first.people > 0 else held


def _from_to(first: Patterns) -> str:
    bounds = shown_bounds(first)
    if not bounds or not all(map(math.isfinite, bounds[0])):
        return ""
    low, high = _outwards(first)
    return f" (from {low} to {high})"


def _outwards(first: Patterns) -> tuple[str, str]:
    """Return the ends of the first interval in as many digits as its count has, rounded outwards."""
    ((low, high),) = shown_bounds(first)
    count = int(first.counts[0])
    step = step_of(count, min(high - count, count - low))
    return counts_end(low, math.floor, step), counts_end(high, math.ceil, step)


def standing_out(rules: Rules) -> Rules:
    """Return the rules that chance does not explain, by their adjusted p-values; all of them where none has one."""
    return rules if rules.p_adjusted is None else rules.where(significance=SIGNIFICANT)


def _strongest(rules: Rules) -> str:
    first = rules[:1]
    left, right = (html_itemset(labels_of(side, first)[0]) for side in (first.antecedents, first.consequents))
    confidence, lift = (float(first.measure(name)[0]) for name in ("confidence", "lift"))
    about = "" if first.low is None else "about "
    within = ""
    if first.low is not None and first.high is not None:
        low, high = (float(end[0]) for end in (first.low, first.high))
        within = f" (from {percent_end(low, 1, math.floor)} to {percent_end(high, 1, math.ceil)})"
    if rules.kind == "relations" and rules.how is not None:
        then = _THEN[rules.how].format(f"<strong>{right}</strong>")
        sure = f"{about}{percent(confidence)}{within}"
        return f"The surest relation: of those who have <strong>{left}</strong>, {sure} {then}."
    if rules.kind == "relations":  # an earlier version did not keep what they are about
        about = "a confidence of " if first.low is None else "a confidence of about "
        return f"The surest relation: <strong>{left} → {right}</strong>, with {about}{percent(confidence)}{within}."
    often = "" if not math.isfinite(lift) else f", {lift:,.{decimals(lift, 2)}f} times as often as among everybody"
    return (
        f"The surest rule: of those who hold <strong>{left}</strong>, {about}{percent(confidence)}{within} hold "
        f"<strong>{right}</strong> too{often}."
    )


def typical_margin(patterns: Patterns) -> str:
    """Return the margin that half of the patterns keep within; nothing where there are no intervals."""
    if patterns.high is None:
        return ""
    margins = [margin for margin in margins_of(patterns) if math.isfinite(margin)]
    return f"± {whole(math.ceil(median(margins)))}" if margins else ""


def asked(told: ReportContents) -> str:
    """Say what was asked, and of whom."""
    name, summary = escape(clean(told.mechanism)), escape(sentence(clean(told.summary, 600)))
    how = f"<p>Mechanism: {name}. {summary}</p>\n" if told.summary else ""
    listed = ", ".join(f"{clean(name)} = {clean(value, 600)}" for name, value in told.settings.items())
    return described(told.asked) + how + (f'<p class="quiet">Its settings: {escape(listed)}.</p>\n' if listed else "")


def promise(told: ReportContents, *, spent: bool = True) -> str:
    """Say what is promised, or that nothing is, and what the budget was spent on."""
    if told.guarantee is None:
        return (
            '<div class="promise"><p class="lead">Nothing is promised: these numbers are the truth about the people in '
            "the data. Whoever sees this page may learn about single people, above all from patterns that few of them "
            "hold. It is for those who may see the data themselves.</p>"
            "<p>To send a result on, make a private one: <code>discreet release</code>.</p></div>\n"
        )
    simulated = (
        "<p><strong>SIMULATED.</strong> A release made in the same way would promise what follows. This one promises "
        "nothing: its noise can be repeated by whoever knows the seed.</p>\n"
        if told.simulated
        else ""
    )
    promised = escape(clean(told.guarantee.in_words(curve=False), 4000))
    spends = spent_table(told.guarantee, told.reports, told.asked_in) if spent else ""
    return (
        f'{simulated}<div class="promise"><p class="lead">{promised}</p>'
        f"<p>In one line: {escape(str(told.guarantee))}.</p></div>\n{spends}"
    )


def found(patterns: Patterns, charted: int, rules: Rules | None = None) -> str:
    """Return what was found: a few sentences, then bars."""
    if not len(patterns):
        return "<p>No pattern was released.</p>\n" if patterns.noisy else "<p>No pattern was found.</p>\n"
    if not patterns.counted:
        return (
            f'<p>{number_of(len(patterns), "pattern")}, listed <a href="#all">below</a>. This release names patterns '
            "only: nothing was spent on counting them, so there are no counts, no supports and no rules.</p>\n"
        )
    if charted < 1:
        return f'<p>{number_of(len(patterns), "pattern")}, listed <a href="#all">below</a>.</p>\n'
    by_level = "".join(
        folded(level_words(level), number_of(len(there), "pattern"), _drawn_bars(there, charted, f"bars-{number}"))
        for number, (level, there) in enumerate(_by_level(patterns))
    )
    if by_level:
        by_level = f'<p class="quiet before">{_LEVELS} A heading unfolds its bars.</p>\n{by_level}'
    return f"{findings(patterns, rules)}{_drawn_bars(patterns, charted, 'bars')}{by_level}{widths(patterns)}"


def _by_level(patterns: Patterns) -> list[tuple[str, Patterns]]:
    """Return the patterns of each level, where there are several: each pattern by the lowest on which all of it is."""
    on = np.array(patterns.levels)
    return [(level, patterns.take(np.flatnonzero(on == level))) for level in levels_in(patterns)]


def _drawn_bars(patterns: Patterns, charted: int, name: str) -> str:
    rows = bars_of(patterns[:charted])
    share = patterns.people > 0
    unit: Unit = "share" if share else "count"
    title, most = _TITLES[patterns.unit][not share], reach(rows)
    pieces = []
    for at in range(0, len(rows), _EACH):
        broad, narrow = (
            bars(rows[at : at + _EACH], title=title, unit=unit, most=most, marked=at == 0, least=least)
            for least in (BROAD, NARROW_LEAST)
        )
        pieces.append(both_widths(broad, narrow, f"{name}-{at}"))
    drawn = '<figure class="pieces">' + "\n".join(pieces) + "</figure>\n"
    which = f"The first {len(rows):,} of {len(patterns):,} patterns" if len(rows) < len(patterns) else "All patterns"
    whose = "people who hold" if patterns.unit == "people" else "baskets that hold"
    long = f"the share of {whose} all its items" if share else f"how many {patterns.unit} hold all its items"
    whiskers = ""
    if patterns.low is not None:
        sure = "95" if patterns.people_within is None or not share else "90"
        whiskers = f" The line across its end is an interval for the true one, made to hold in {sure} of 100 cases."
    said = f'<p class="quiet before">{which}. The length of a bar is {long}.{whiskers}</p>\n'
    return f"{said}{drawn}"


def chart(patterns: Patterns, rows: int = 30) -> Drawing:
    """Return the first patterns as one chart."""
    share = patterns.people > 0
    return bars(bars_of(patterns[:rows]), title=_TITLES[patterns.unit][not share], unit="share" if share else "count")


def bars_of(patterns: Patterns) -> list[Bar]:
    """Return a bar for each pattern."""
    # The number of people is noisy as well: where it came out as 0, bars are counts.
    share = patterns.people > 0
    ends = patterns.support_bounds or (None, None) if share else (patterns.low, patterns.high)
    nothing = [None] * len(patterns)
    low, high = (nothing if bound is None else bound.tolist() for bound in ends)
    values = (patterns.supports if share else patterns.counts).tolist()
    labels = [plain_itemset(labels, _LABEL) for labels in labels_of(patterns.itemsets, patterns)]
    cut = patterns.cut_supports.tolist() if share else [False] * len(patterns)
    return [Bar(*row) for row in zip(labels, values, low, high, cut, strict=True)]


def means(patterns: Patterns) -> str:
    """Say how to read an interval, with the first pattern as the example, and how far off numbers are."""
    return "".join(
        f"<p>{said}</p>\n" for said in (_reading(patterns), _margin(patterns), _noisy_people(patterns)) if said
    )


def _reading(patterns: Patterns) -> str:
    first = patterns[:1]
    if not _from_to(first):
        return ""
    low, high = _outwards(first)
    weighed = (
        "Where a person has more baskets than may take part, some were drawn at random; in the true number all of them "
        "together weigh as much as those that may. "
        if patterns.unit == "baskets"
        else ""
    )
    return (
        f"The count of {named(first)} is given as {whole(int(first.counts[0]))}, with an interval from {low} to "
        f"{high}. Noise was added to every count on purpose: it is what protects people. {weighed}Of intervals made in "
        "this way, about 95 of 100 hold the true number. So read the interval, not the count alone. Where the "
        "intervals of two patterns overlap, their order may be due "
        "to noise. Where an interval reaches down to 0, the pattern may not occur at all. No true count is below 0, so "
        "what would lie there is not shown."
    )


def _margin(patterns: Patterns) -> str:
    typical = typical_margin(patterns)
    if not typical:
        return ""
    return (
        f"The typical margin is {typical} {patterns.unit}: half of the patterns have this margin or a smaller one. It "
        "means that in 95 of 100 cases the true number lies no further than that from the count that is shown."
    )


def _noisy_people(patterns: Patterns) -> str:
    if patterns.people_within is None:
        return ""
    few, many = patterns.people_within
    step = step_of(patterns.people, min(many - patterns.people, patterns.people - few))
    low, high = counts_end(few, math.floor, step), counts_end(many, math.ceil, step)
    return (
        f"The number of {patterns.unit} is private too: it lies between {low} and {high}, in 95 of 100 cases. Shares "
        "carry that as well."
    )


def together(patterns: Patterns) -> str:
    """Return the graph of what goes together; of a hierarchy, that of each level too."""
    picture = GraphPicture.of(patterns)
    if not picture.items:
        return ""
    levels = "".join(
        folded(
            level_words(level), "alone", _drawn_graph(GraphPicture.of(patterns.where(level=level)), f"graph-{number}")
        )
        for number, level in enumerate(levels_in(patterns))
        if level != MIXED
    )
    return _drawn_graph(picture, "graph", _explained(picture)) + levels


def _drawn_graph(picture: GraphPicture, name: str, told: str = "") -> str:
    if not picture.items:
        return ""
    if picture.left_out:
        told += f"Not drawn for want of room: {number_of(picture.left_out, 'pair or triple', 'pairs and triples')}. "
    return figure(graph(picture), name, told.strip(), narrow=graph(picture, NARROW))


def _explained(picture: GraphPicture) -> str:
    """Say what circles, lines and colours of a graph mean."""
    patterns = picture.patterns
    was = "released" if patterns.noisy else "found"
    told = f"Two items are joined by a line where the pair was {was}"
    told += f": the thicker it is, the more {patterns.unit} hold both. " if patterns.counted else ". "
    if picture.triples:
        told += f"Three items share a shaded triangle where all three were {was} as one pattern. "
    if picture.single:
        told += f"The larger a circle, the more {patterns.unit} hold the item. "
    if any(picture.rings):
        told += "Every ring around a circle is a level that the item stands above. "
    if any(picture.lift(place) is not None for place in picture.pairs):
        told += (
            "Lift is how many times as often two items were found together as if neither had to do with the other. The "
            "stronger the colour of a line, the larger the lift; a line is dashed where it is under 1. "
        )
        if patterns.low is not None:
            told += "All of it is drawn by the noisy counts alone; the rules below have intervals. "
    return told


def best_rules(patterns: Patterns) -> Rules | str | None:
    """Return rules with one item on the right, the surest first; a sentence where there are too many, None for none."""
    if not patterns.counted or not (patterns.sizes > 1).any():
        return None
    try:
        made = patterns.rules(0, min_lift=1, consequents="one")
    except LimitError:
        return "These patterns give too many rules to choose from."
    return made.sort("confidence" if made.low is None else "confidence_low")


def rules_of(made: Rules | str | None, most: int) -> str:
    """Return the first of the best rules, as points and as a table."""
    if made is None or most < 1:
        return ""
    if isinstance(made, str):
        return f"<p>{made}</p>\n"
    if not len(made):
        return f"<p>There are no rules with a lift of 1 or more. {_omitted(made)}</p>\n"
    released = "released patterns and cost no privacy beyond them" if made.noisy else "patterns"
    order = "the largest confidence first"
    if made.low is not None:
        order = "ordered by the lower end of the interval, so that noise alone brings no rule to the top"
    said = (
        f"{min(most, len(made)):,} of {number_of(len(made), 'rule')} with one item on the right and a lift of 1 or "
        f"more, {order}. {_omitted(made)}"
    )
    told = f"{_confidence(made)} {_lift_said(made)} Rules are computed from the {released}.{_sure(made)}{_tested(made)}"
    return f"<p>{told}</p>\n{_scattered(made)}{rule_table(made[:most], said)}"


def _confidence(rules: Rules) -> str:
    if rules.kind == "rules":
        first, then = "hold what is on the left", "hold what is on the right too"
    else:
        first, then = "have what is on the left", _THEN[rules.how].format("what is on the right")
    return f"The confidence says how many in a hundred of those who {first} {then}."


def _lift_said(rules: Rules) -> str:
    """Say what the lift is: whoever has something after something else has it, too."""
    if rules.kind == "rules" or rules.how == "together":
        return _LIFT
    return "The lift is that share over the share of all who have what is on the right in any way."


def _sure(rules: Rules) -> str:
    """Say how often the intervals of rules hold; those of relations are made otherwise, and their notes say how."""
    if rules.low is None or rules.kind == "relations":
        return ""
    lifted = "three counts, and holds in at least 85"
    if rules.people_within is not None:
        lifted = f"three counts and the number of {rules.unit}, and holds in at least 80"
    return (
        " From and to are an interval for the number before them. Say that the intervals of counts fail in no more "
        "than 5 of 100 cases each. Then that of a confidence rests on two counts, and holds in at least 90 of 100; "
        f"that of a lift rests on {lifted}."
    )


def _tested(rules: Rules) -> str:
    """Say what the p-values of rules mean, where they have some."""
    if rules.p_adjusted is None:
        if rules.unit == "baskets" and rules.kind == "rules":
            return " There are no p-values: they would take baskets for independent, and those of one person are not."
        return ""
    over, who = "", rules.unit
    if rules.unit == "baskets":
        over = ", found in one basket of each person, drawn at random, as baskets of one person are not independent,"
        who = "people"
    many = "all rules" if rules.tested is None else number_of(rules.tested, "rule")
    told = (
        f" The last column is the p-value of Fisher's exact test{over or ','} adjusted for "
        f"{many} that could have been found. A small one says that so many {who} "
        "would hardly hold both sides if these had nothing to do with each other."
    )
    if rules.low is not None:
        told += (
            " It is taken at the ends of the intervals that speak against the rule; where one of them fails, it may be "
            "too small."
        )
    return told


def _scattered(rules: Rules) -> str:
    if len(rules) < _SCATTERED:
        return ""
    what, have = ("rule", "hold both sides") if rules.kind == "rules" else ("relation", "have it")
    told = (
        f"Every point is a {what}: the further right, the more {rules.unit} {have}; the higher, the surer. A number is "
        "the place in the table, as it is ordered at first."
    )
    if rules.low is not None:
        told += " The line through a point is the interval of its confidence."
    if len(rules) > POINTS:
        told += f" Drawn are the first {POINTS:,} of {len(rules):,}."
    return figure(scatter(rules), "scatter", told, narrow=scatter(rules, NARROW))


def given_rules(rules: Rules) -> str:
    """Return rules or relations that are themselves what was found."""
    word = rules.kind.removesuffix("s")
    if not len(rules):
        return f"<p>No {word} was found.</p>\n"
    rest = len(rules) - _ROWS
    said = f"{number_of(min(len(rules), _ROWS), word)}. {_omitted(rules)}".strip()
    if rest > 0:
        said += f" {number_of(rest, f'more {word}')} not listed here; the saved table has them."
    told = f"{_confidence(rules)} {_lift_said(rules)}{_sure(rules)}{_tested(rules)}"
    return f"<p>{told}</p>\n{rule_table(rules[:_ROWS], said)}"


def drawn_rules(rules: Rules) -> str:
    """Return pictures of rules or relations that are themselves what was found."""
    if not len(rules):
        return ""
    then = "hold the second too" if rules.kind == "rules" else _THEN[rules.how].format("the second")
    told = (
        "Each square goes from what is on the left to what is above. The stronger its colour, the more of those who "
        f"have the first {then}."
    )
    return _scattered(rules) + figure(confidences(rules[:200]), "matrix", told, scrolls=True)


def rules_headline(rules: Rules) -> str:
    """Say in a sentence or two which rules or relations were found."""
    word = rules.kind.removesuffix("s")
    if not len(rules):
        return f"No {word} was found."
    many = f"{number_of(len(rules), f'{word} was', f'{rules.kind} were')} found."
    rules = standing_out(rules)
    if not len(rules):
        return f"{many} By their adjusted p-values, chance may explain each of them."
    sure = rules.low if rules.low is not None else rules.measure("confidence")
    if np.isnan(sure).all():
        return many
    place = int(np.nanargmax(sure))
    return f"{many} {_strongest(rules[place : place + 1])}"


def _omitted(made: Rules) -> str:
    if not made.omitted:
        return ""
    which = "released patterns" if made.noisy else "patterns"
    return (
        f"Left out: {number_of(made.omitted, 'rule')} that cannot be measured, because one side is not among the "
        f"{which}."
    )


def everything(patterns: Patterns) -> str:
    """Return the table of all patterns."""
    if not len(patterns):
        return ""
    rest = len(patterns) - _ROWS
    more = f"<p>{number_of(rest, 'more pattern')} not listed here; the saved table has them.</p>\n" if rest > 0 else ""
    listed = patterns[:_ROWS]
    parts = _by_level(listed)
    if not parts:
        return pattern_table(listed) + more
    tables = "".join(
        folded(level_words(level), number_of(len(there), "pattern"), pattern_table(there), opened=True)
        for level, there in parts
    )
    return f'<p class="before">{_LEVELS} A heading folds its table.</p>\n{tables}{more}'


def notes(told: ReportContents) -> str:
    """Return what was released beside the patterns, and sentences for the reader."""
    listed = "".join(f"<li>{escape(clean(note, 2000))}</li>" for note in told.notes)
    facts = described(told.facts)
    if facts:
        facts = f'<p class="before">Released beside the patterns, and covered by the same promise:</p>\n{facts}'
    return facts + (f"<ul>{listed}</ul>\n" if listed else "")


def cite(told: ReportContents) -> str:
    """Say what to cite."""
    citations = "".join(f"<li>{escape(sentence(clean(citation, 600)))}</li>\n" for citation in told.citations)
    return (
        f"<ul>\n{citations}<li>discreet, version {escape(clean(told.version))}: frequent patterns, rules and "
        "relations, exactly or under differential privacy.</li>\n</ul>\n"
    )
