"""The report: one HTML file that a person would send to their manager.

It needs no network, no script and no font, and it lets none in. What it says is in the values it was given: this room
knows nothing of mechanisms, files or ledgers. Sections are small functions from values to markup, and all text from
outside is escaped in them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median

from ..errors import LimitError
from ..privacy.guarantee import Guarantee
from ..results.patterns import Patterns, margins_of
from ..results.promise import SIMULATED
from ..results.rules import Rules
from ..results.show import DROWNED, NOTHING, drowned, liars_of, promises
from .charts import Bar, Chart, Unit, bars, reach
from .graph import GraphPicture, graph
from .matrix import matrix
from .style import policy, style
from .tables import described, pattern_table, rule_table, shown_bounds, spent_table
from .text import clean, html_itemset, labels_of, loss, number_of, plain_itemset, whole

_ROWS = 5_000  # of the table
_EACH = 5  # bars in one picture; between two of them a sheet of paper may end
_LABEL = 60  # columns of a bar's label


@dataclass(frozen=True, kw_only=True)
class ReportContents:
    """What a report tells.

    Parameters
    ----------
    title
        What it is about, in one line.
    patterns
        The released patterns, with intervals or without counts.
    relations
        The released relations, where these were asked for; `patterns` are then the items they are among.
    guarantee
        What is promised about them.
    asked
        The question in plain words, by name.
    mechanism, summary, settings, citations
        The name of the mechanism, what it does, the settings it ran with, and the publications it comes from.
    facts, notes
        What was released beside the patterns, and sentences for the reader.
    simulated
        Whether the noise came from a seed, so that nothing was promised to anyone.
    when, version
        The day, and the version of this package.
    """

    title: str
    patterns: Patterns
    relations: Rules | None = None
    guarantee: Guarantee
    asked: Mapping[str, str]
    mechanism: str
    summary: str
    settings: Mapping[str, str]
    citations: Sequence[str]
    facts: Mapping[str, str]
    notes: Sequence[str]
    simulated: bool
    when: str
    version: str


def page(told: ReportContents, *, rules: int = 20, charted: int = 30) -> str:
    """Return the report as one HTML page, complete in itself.

    Parameters
    ----------
    told
        What to tell.
    rules
        How many rules to show at most; 0 for none.
    charted
        How many patterns to draw as bars at most; 0 for none.
    """
    sections = [
        ("relations", "Relations", _relations(told.relations)),
        ("found", "What was found" if told.relations is None else "The items", _found(told.patterns, charted)),
        ("means", "What it means", _means(told.patterns)),
        ("together", "What goes together", _together(told.patterns)),
        ("rules", "Rules", _rules(told.patterns, rules)),
        ("promise", "What is promised", _promise(told)),
        ("asked", "What was asked", _asked(told)),
        ("notes", "Facts and notes", _notes(told)),
        ("cite", "How to cite", _cite(told)),
        ("all", "All patterns", _all(told.patterns)),
    ]
    sections = [section for section in sections if section[2]]
    links = "".join(f'<li><a href="#{name}">{heading}</a></li>' for name, heading, _ in sections)
    body = "".join(
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">{heading}</h2>\n{content}</section>\n'
        for name, heading, content in sections
    )
    title, version = escape(clean(told.title, 300)), escape(clean(told.version))
    sheet = style(told.simulated)
    made = f"Made on {clean(told.when)}" if told.when else "Made"
    warning = f'<p class="simulated" role="note">{SIMULATED}</p>\n' if told.simulated else ""
    return (
        '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(sheet))}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<meta name="generator" content="discreet {version}">\n'
        f"<title>{'SIMULATED: ' if told.simulated else ''}{title}</title>\n<style>{sheet}</style>\n</head>\n"
        f'<body>\n{warning}<header>\n<h1>{title}</h1>\n<p class="lead">{_headline(told.patterns)}</p>\n'
        f'<p class="quiet">{escape(made)} with discreet {version}, mechanism {escape(clean(told.mechanism))}. '
        f"{escape(_sentence(str(told.guarantee)))}</p>\n"
        f'{_figures(told)}<nav aria-label="Contents"><ul>{links}</ul></nav>\n</header>\n<main>\n{body}</main>\n'
        "<footer><p>This page is complete in itself: it loads nothing and runs nothing.</p></footer>\n"
        "</body>\n</html>\n"
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _headline(patterns: Patterns) -> str:
    """Say in a sentence or two what was found."""
    if not len(patterns):
        return f"No pattern was released. {NOTHING}"
    many = f"{number_of(len(patterns), 'pattern was', 'patterns were')} found"
    if not patterns.counted:
        return f"{many}, without counts."
    place = int(patterns.counts.argmax())
    first = patterns[place : place + 1]
    about = "" if patterns.low is None else "about "
    among = "" if patterns.people_within is None else "about "
    held = f"{about}{whole(int(first.counts[0]))}"
    if patterns.people > 0:
        held += f" of {among}{whole(patterns.people)} people"
    if drowned(patterns):
        why = f" {DROWNED}" if liars_of(patterns) is None else ""
        return f"{many}; {whole(drowned(patterns))} may be held by nobody.{why}"
    return f"{many}. The largest count is that of {html_itemset(labels_of(first.itemsets, first)[0])}: {held}."


def _figures(told: ReportContents) -> str:
    """Return the few numbers to be seen first."""
    patterns = told.patterns
    among = "" if patterns.people_within is None else "about "
    figures = {"Patterns": whole(len(patterns)), "People": f"{among}{whole(patterns.people)}"}
    typical = _typical_margin(patterns)
    if typical:
        figures["Typical margin"] = typical
    figures["Epsilon"] = loss(told.guarantee.epsilon)
    boxes = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in figures.items())
    return f'<dl class="figures">{boxes}</dl>\n'


def _typical_margin(patterns: Patterns) -> str:
    """Return the margin that half of the patterns keep within; nothing where there are no intervals."""
    if patterns.high is None:
        return ""
    margins = [margin for margin in margins_of(patterns) if math.isfinite(margin)]
    return f"± {whole(math.ceil(median(margins)))}" if margins else ""


def _asked(told: ReportContents) -> str:
    name, summary = escape(clean(told.mechanism)), escape(_sentence(clean(told.summary, 600)))
    how = f"<p>Mechanism: {name}. {summary}</p>\n" if told.summary else ""
    listed = ", ".join(f"{clean(name)} = {clean(value, 600)}" for name, value in told.settings.items())
    return described(told.asked) + how + (f'<p class="quiet">Its settings: {escape(listed)}.</p>\n' if listed else "")


def _promise(told: ReportContents) -> str:
    simulated = (
        "<p><strong>SIMULATED.</strong> A release made in the same way would promise what follows. This one promises "
        "nothing: its noise can be repeated by whoever knows the seed.</p>\n"
        if told.simulated
        else ""
    )
    promised = escape(clean(told.guarantee.in_words(curve=False), 4000))
    return (
        f'{simulated}<div class="promise"><p class="lead">{promised}</p>'
        f"<p>In one line: {escape(str(told.guarantee))}.</p></div>\n{spent_table(told.guarantee)}"
    )


def _found(patterns: Patterns, charted: int) -> str:
    if not len(patterns):
        return "<p>No pattern was released.</p>\n"
    if not patterns.counted:
        return (
            f'<p>{number_of(len(patterns), "pattern")}, listed <a href="#all">below</a>. This release names patterns '
            "only: nothing was spent on counting them, so there are no counts, no supports and no rules.</p>\n"
        )
    rows = _bars(patterns[: max(0, charted)])
    if not rows:
        return f'<p>{number_of(len(patterns), "pattern")}, listed <a href="#all">below</a>.</p>\n'
    share = patterns.people > 0
    title = "Share of people who hold each pattern" if share else "People who hold each pattern"
    unit: Unit = "share" if share else "count"
    pieces = [
        bars(rows[at : at + _EACH], name=f"bars-{at}", title=title, unit=unit, most=reach(rows), marked=at == 0)
        for at in range(0, len(rows), _EACH)
    ]
    figure = '<figure class="pieces">' + "\n".join(pieces) + "</figure>\n"
    which = f"The first {len(rows):,} of {len(patterns):,} patterns" if len(rows) < len(patterns) else "All patterns"
    long = "the share of people who hold all its items" if share else "how many people hold all its items"
    whiskers = ""
    if patterns.low is not None:
        sure = "95" if patterns.people_within is None or not share else "90"
        whiskers = f" The line across its end is an interval for the true one, made to hold in {sure} of 100 cases."
    return f'<p class="quiet before">{which}. The length of a bar is {long}.{whiskers}</p>\n{figure}'


def chart(patterns: Patterns, rows: int = 30) -> Chart:
    """Return the first patterns as one chart."""
    drawn = _bars(patterns[:rows])
    share = patterns.people > 0
    title = "Share of people who hold each pattern" if share else "People who hold each pattern"
    # A picture goes its own way: it takes along what was promised, and that it was only tried out.
    title = ". ".join([*promises(patterns), title])
    return Chart(bars(drawn, name="patterns", title=title, unit="share" if share else "count"))


def _bars(patterns: Patterns) -> list[Bar]:
    # The number of people is noisy as well: where it came out as 0, bars are counts.
    share = patterns.people > 0
    ends = patterns.support_bounds or (None, None) if share else (patterns.low, patterns.high)
    nothing = [None] * len(patterns)
    low, high = (nothing if bound is None else bound.tolist() for bound in ends)
    values = (patterns.supports if share else patterns.counts).tolist()
    labels = [plain_itemset(labels, _LABEL) for labels in labels_of(patterns.itemsets, patterns)]
    return [Bar(*row) for row in zip(labels, values, low, high, strict=True)]


def _means(patterns: Patterns) -> str:
    """Say how to read an interval, with the first pattern as the example, and how far off numbers are."""
    return "".join(
        f"<p>{said}</p>\n" for said in (_reading(patterns), _margin(patterns), _noisy_people(patterns)) if said
    )


def _reading(patterns: Patterns) -> str:
    first = patterns[:1]
    bounds = shown_bounds(first)
    if not bounds or not all(map(math.isfinite, bounds[0])):
        return ""
    low, high = map(whole, bounds[0])
    return (
        f"The count of {html_itemset(labels_of(first.itemsets, first)[0])} is given as "
        f"{whole(int(first.counts[0]))}, with an interval from {low} to {high}. Noise was added to every count on "
        "purpose: it is what protects people. Of intervals made in this way, about 95 of 100 hold the true number. So "
        "read the interval, not the count alone. Where the intervals of two patterns overlap, their order may be due "
        "to noise. Where an interval reaches down to 0, the pattern may not occur at all. No true count is below 0, so "
        "what would lie there is not shown."
    )


def _margin(patterns: Patterns) -> str:
    typical = _typical_margin(patterns)
    if not typical:
        return ""
    return (
        f"The typical margin is {typical} people: half of the patterns have this margin or a smaller one. It means "
        "that in 95 of 100 cases the true number lies no further than that from the count that is shown."
    )


def _noisy_people(patterns: Patterns) -> str:
    if patterns.people_within is None:
        return ""
    few, many = map(whole, patterns.people_within)
    return (
        f"The number of people is private too: it lies between {few} and {many}, in 95 of 100 cases. Shares carry that "
        "as well."
    )


def _together(patterns: Patterns) -> str:
    picture = GraphPicture.of(patterns)
    if not picture.items:
        return ""
    told = "Two items are joined by a line where the pair was released"
    told += ": the thicker it is, the more people hold both. " if patterns.counted else ". "
    if picture.triples:
        told += "Three items share a shaded triangle where all three were released as one pattern. "
    if picture.single:
        told += "The larger a circle, the more people hold the item. "
    if any(picture.lift(place) is not None for place in picture.pairs):
        told += (
            "Lift is how many times as often two items were found together as if neither had to do with the other. The "
            "darker a line, the larger the lift; a line is dashed where it is under 1. "
        )
        if patterns.low is not None:
            told += "All of it is drawn by the noisy counts alone; the rules below have intervals. "
    if picture.left_out:
        told += f"Not drawn for want of room: {number_of(picture.left_out, 'pair or triple', 'pairs and triples')}. "
    return f'<figure><div class="wide">{graph(picture)}</div>\n<figcaption>{told.strip()}</figcaption></figure>\n'


def _rules(patterns: Patterns, most: int) -> str:
    if not patterns.counted or most < 1 or not (patterns.sizes > 1).any():
        return ""
    try:
        found = patterns.rules(0, min_lift=1, consequents="one")
    except LimitError:
        return "<p>These patterns give too many rules to choose from.</p>\n"
    if not len(found):
        return f"<p>There are no rules with a lift of 1 or more. {_omitted(found)}</p>\n"
    told = (
        "The confidence says how many in a hundred of those who hold what is on the left hold what is on the right "
        "too. The lift is how many times as often that is as among everybody. Rules are computed from the released "
        "patterns and cost no privacy beyond them."
    )
    known = patterns.people_within is None
    lifted = "three counts, and holds in at least 85"
    if not known:
        lifted = "three counts and the number of people, and holds in at least 80"
    order = "the largest confidence first"
    if found.low is not None:
        told += (
            " From and to are an interval for the number before them. Say that the intervals of counts fail in no more "
            "than 5 of 100 cases each. Then that of a confidence rests on two counts, and holds in at least 90 of 100; "
            f"that of a lift rests on {lifted}."
        )
        order = "ordered by the lower end of the interval, so that noise alone brings no rule to the top"
    if found.p_adjusted is not None:
        told += (
            " The last column is the p-value of Fisher's exact test, adjusted for "
            f"{number_of(found.tested, 'rule')} that could have been found. A small one says that so many people would "
            "hardly hold both sides if these had nothing to do with each other."
        )
        if found.low is not None:
            told += (
                " It is taken at the ends of the intervals that speak against the rule; where one of them fails, it "
                "may be too small."
            )
    first = found.sort("confidence" if found.low is None else "confidence_low")[:most]
    said = (
        f"{len(first):,} of {number_of(len(found), 'rule')} with one item on the right and a lift of 1 or more, "
        f"{order}. {_omitted(found)}"
    )
    return f"<p>{told}</p>\n{rule_table(first, said)}"


def _relations(found: Rules | None) -> str:
    if found is None:
        return ""
    told = (
        "A relation leads from the item on the left to the item on the right. The confidence says how many in a "
        "hundred of those who hold the first have the relation to the second too. From and to are an interval for the "
        "number before them. That of a confidence rests on two counts and holds in at least 90 of 100 cases; that of a "
        "lift rests on three counts and on the number of people, and holds in at least 80."
    )
    figure = (
        f'<figure><div class="wide">{matrix(found)}</div>\n<figcaption>Each square is a relation from the item on the '
        "left to the item above. The darker it is, the larger the confidence.</figcaption></figure>\n"
        if len(found)
        else ""
    )
    said = f"{number_of(len(found), 'relation')}, those that most people have first."
    return f"<p>{told}</p>\n{figure}{rule_table(found, said)}"


def _omitted(found: Rules) -> str:
    if not found.omitted:
        return ""
    return (
        f"Left out: {number_of(found.omitted, 'rule')} that cannot be measured, because one side is not among the "
        "released patterns."
    )


def _all(patterns: Patterns) -> str:
    if not len(patterns):
        return ""
    rest = len(patterns) - _ROWS
    more = f"<p>{number_of(rest, 'more pattern')} not listed here; the saved table has them.</p>\n" if rest > 0 else ""
    return pattern_table(patterns[:_ROWS]) + more


def _notes(told: ReportContents) -> str:
    notes = "".join(f"<li>{escape(clean(note, 2000))}</li>" for note in told.notes)
    facts = described(told.facts)
    if facts:
        facts = f'<p class="before">Released beside the patterns, and covered by the same promise:</p>\n{facts}'
    return facts + (f"<ul>{notes}</ul>\n" if notes else "")


def _cite(told: ReportContents) -> str:
    citations = "".join(f"<li>{escape(_sentence(clean(citation, 600)))}</li>\n" for citation in told.citations)
    return (
        f"<ul>\n{citations}<li>discreet, version {escape(clean(told.version))}: frequent patterns, rules and "
        "relations, exactly or under differential privacy.</li>\n</ul>\n"
    )
