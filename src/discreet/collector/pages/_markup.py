"""Pages as functions from public values to HTML. All text from outside is escaped here."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from hashlib import sha384
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ...local.study import Outcome
from ...report import (
    PHONE_WIDTH,
    GraphPicture,
    chart,
    clean,
    contents_of,
    draw_confidences,
    draw_graph,
    figure,
    page,
    pattern_table,
    rule_table,
)
from ...results import Patterns, Rules, malicious_share, promise_lines
from ...wording import number_of
from .. import StudyPlan

STATIC = Path(__file__).parents[1] / "static"
_ITEMS = 200  # that are listed, before the rest is counted
_ROWS = 100  # of a table of results
STATES = {
    "open": "Open: devices are asked now.",
    "waiting": "Between two rounds: the next question is worked out.",
    "released": "Over: the result is below.",
}
_LISTED_STATES = {**STATES, "released": "Over: there is a result."}
_ROUND_STATES = {
    "drafted": "not begun",
    "open": "open",
    "closed": "closed, being added up",
    "released": "added up",
    "scrubbed": "added up, its reports deleted",
}
_LIARS = ("0.1%", "1%", "5%")  # of the reports
_WHO = {
    "anyone": "Anyone may take part. Nothing keeps a person from answering twice, with another browser or device.",
    "tokens": "Whoever was given a token may take part. Each token counts once.",
}


@lru_cache(maxsize=16)
def _integrity(script: str) -> str:
    """Return the attribute that binds the page to this very script, so that no cache in between can change it.

    W3C, Subresource Integrity, 2016. It does not bind whoever serves the page: `docs/threats.md` says so.
    """
    place = STATIC / script
    if not place.is_file():
        return ""
    digest = b64encode(sha384(place.read_bytes()).digest()).decode()
    return f' integrity="sha384-{digest}"'


def frame(title: str, body: str, *, script: str = "", up: tuple[str, str] | None = ("/", "All studies")) -> str:
    """Return a whole page: the same head and the same few links on each."""
    trail = f'<nav aria-label="Where you are"><a href="{escape(up[0])}">{escape(up[1])}</a></nav>\n' if up else ""
    loaded = f'<script type="module" src="/static/{escape(script)}"{_integrity(script)}></script>\n' if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(title)}</title>\n"
        '<link rel="icon" href="/static/icon.svg">\n<link rel="stylesheet" href="/static/pages.css">\n'
        '<link rel="stylesheet" href="/static/take-part.css">\n'
        f'</head>\n<body>\n<a class="skip" href="#main">To the contents</a>\n<header>\n{trail}'
        f'<h1>{_text(title)}</h1>\n</header>\n<main id="main">\n{body}</main>\n'
        "<footer><p>Made with discreet. This page loads nothing from anywhere else.</p></footer>\n"
        f"{loaded}</body>\n</html>\n"
    )


def listed(studies: Sequence[tuple[StudyPlan, str]]) -> str:
    """Return the page with all studies, each with its state."""
    rows = "".join(
        f'<li><a href="/studies/{escape(plan.name)}">{_text(plan.title)}</a>'
        f'<p class="quiet">{_text(plan.asks)} {_LISTED_STATES.get(state, "")}</p></li>\n'
        for plan, state in studies
    )
    told = f'<ul class="studies">\n{rows}</ul>\n' if rows else "<p>There are no studies yet.</p>\n"
    return frame("Studies", told, up=None)


def told_of(plan: StudyPlan, key: str, progress: Mapping[str, Any], result: Patterns | Rules | None) -> str:
    """Return the page of one study: what is asked and promised, its rounds, and what it found."""
    begun = "" if progress["state"] == "released" else _link(f"/studies/{plan.name}/take-part", "Take part")
    body = (
        f'<p class="lead">{_text(plan.asks)}</p>\n'
        f'<section aria-labelledby="promise"><h2 id="promise">What is promised</h2>\n{_promise(plan, key)}</section>\n'
        f'<div id="live">\n{begun}{_rounds(progress)}{_result(plan.name, result)}</div>\n'
        f'<section aria-labelledby="items"><h2 id="items">What is asked about</h2>\n{_items(plan)}</section>\n'
        f'<p class="quiet"><a href="/studies/{escape(plan.name)}/operate">For operators</a></p>\n'
    )
    return frame(plan.title, body, script="" if progress["state"] == "released" else "watch.js")


def taking_part(plan: StudyPlan, *, ready: bool, over: bool = False) -> str:
    """Return the page on which a visitor takes part.

    Parameters
    ----------
    plan
        The study.
    ready
        Whether the script of the page was made.
    over
        Whether the study is over: then nobody is asked to take part, and who did sees what their browser sent.
    """
    without = "<noscript><p>Your browser makes the report, and needs JavaScript for it.</p></noscript>"
    unmade = "<p>Taking part on this page is not set up: whoever runs the service types <code>make clients</code>.</p>"
    place = f"/studies/{escape(plan.name)}"
    ended = f'<p class="lead">This study is over. <a href="{place}">Its result is on its page.</a></p>\n'
    inside = "" if over else without if ready else unmade
    body = (
        f"{ended if over else ''}"
        f'<section id="take-part" data-study="{escape(plan.name)}" data-who="{escape(plan.who)}" '
        f'data-over="{str(over).lower()}" aria-label="Take part">{inside}</section>\n'
        f'<section aria-labelledby="promise"><h2 id="promise">What {"was" if over else "is"} promised</h2>\n'
        f"{_limits(plan)}</section>\n"
    )
    up = (f"/studies/{plan.name}", plan.title)
    return frame(f"Take part: {plan.title}", body, script="take-part.js" if ready else "", up=up)


def operating(plan: StudyPlan) -> str:
    """Return the page for operators, which asks for their token and shows what that is for."""
    without = (
        "<noscript><p>This page needs JavaScript; <code>discreet study status</code> says the same.</p></noscript>"
    )
    body = f'<section id="operate" data-study="{escape(plan.name)}">{without}</section>\n'
    return frame(f"Operators: {plan.title}", body, script="operate.js", up=(f"/studies/{plan.name}", plan.title))


def report(plan: StudyPlan, outcome: Outcome) -> str:
    """Return what was found as a report to send on: one file, complete in itself."""
    led = type(plan.protocol_instance)
    found = replace(outcome.found, provenance=outcome.provenance)
    told = contents_of(found, plan.title, summary=led.summary, citations=[led.citation])
    words = {"Asked in words": plan.asks, **told.question}
    return page(replace(told, question=words))


def refusal(status: int, sentence: str) -> str:
    """Return the page that a browser is shown where there is nothing to show, or not now."""
    title = "Not here" if status == 404 else "This cannot be shown"
    return frame(title, f"<p>{_text(sentence)}</p>\n")


def _promise(plan: StudyPlan, key: str) -> str:
    return (
        f"{_limits(plan)}<p>{_WHO[plan.who]}</p>\n"
        f'<p class="quiet">What is asked is signed with the key <code>{escape(key)}</code>. A device that knows the '
        "study refuses one with another key, and one whose words have changed.</p>\n"
    )


def _limits(plan: StudyPlan) -> str:
    epsilon = Fraction(plan.epsilon)
    times = f"{math.exp(epsilon):,.3g}" if epsilon <= 20 else "e to that power"
    fails = "" if not Fraction(plan.delta) else f" That may fail with a probability of {_text(plan.delta)} at most."
    return (
        "<p>What you hold stays on your device. It sends one report, once, which chance has changed before anybody saw "
        f"it. Whatever a person holds, no report is more than {times} times as likely from them as from anybody else: "
        f"that is epsilon = {_text(plan.epsilon)}.{fails}</p>\n"
    )


def _rounds(progress: Mapping[str, Any]) -> str:
    rows = "".join(map(_round, progress["rounds"]))
    people = number_of(progress["people"], "person has", "people have")
    table = (
        '<table class="words">\n<caption>Rounds: each person is asked in one of them, or in none.</caption>\n'
        '<thead><tr><th scope="col">Round</th><th scope="col">State</th><th scope="col" class="number">People</th>'
        f'<th scope="col">Of those wanted</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n'
    )
    state = STATES.get(progress["state"], "")
    return (
        '<section aria-labelledby="rounds"><h2 id="rounds">How far it is</h2>\n'
        f'<p role="status">{state} {people} answered.</p>\n{table if rows else ""}</section>\n'
    )


def _round(one: Mapping[str, Any]) -> str:
    quota, people = one["quota"], one["people"]
    share = "–"
    if quota is not None:
        label = f"{people:,} of {quota:,}"
        bar = f'<progress max="{quota}" value="{min(people, quota)}" aria-label="{label}"></progress>'
        share = f"{bar} of&nbsp;{quota:,}"
    return (
        f'<tr><th scope="row">{one["round"] + 1}: {_text(one["name"])}</th><td>{_ROUND_STATES[one["state"]]}</td>'
        f'<td class="number">{people:,}</td><td>{share}</td></tr>\n'
    )


def _result(name: str, result: Patterns | Rules | None) -> str:
    if result is None:
        return ""
    shown = _relations(result) if isinstance(result, Rules) else _patterns(result)
    forms = {"results.csv": "CSV", "results.json": "JSON", "results.parquet": "Parquet", "report.html": "a report"}
    share = malicious_share(result)
    asked = "" if share is None else f"?{urlencode({'assume_malicious': share})}"
    files = ", ".join(
        f'<a href="/studies/{escape(name)}/{form}{asked}" download>{word}</a>' for form, word in forms.items()
    )
    sentences = (sentence[:1].upper() + sentence[1:].removesuffix(".") for sentence in promise_lines(result))
    said = "".join(f"<p>{_text(sentence, 2000)}.</p>\n" for sentence in sentences)
    return (
        '<section aria-labelledby="found"><h2 id="found">What was found</h2>\n'
        f"{said}{shown}<p>Take it with you: {files}.</p>\n{_liars(name, share)}</section>\n"
    )


def _liars(name: str, share: str | None) -> str:
    """Return links to the same result with intervals that allow for more liars, or for none."""
    place = f"/studies/{escape(name)}"
    links = "".join(
        f'<li><a href="{place}?{urlencode({"assume_malicious": one})}">{one} of the reports</a></li>'
        for one in _LIARS
        if one != share
    )
    none = "" if share is None else f'<li><a href="{place}">none</a></li>'
    return (
        '<h3 id="liars">What if some people lied?</h3>\n<p>Reports that are made up can move every number. Show '
        f"intervals that hold whatever was in a part of the reports of each round:</p>\n<ul>{links}{none}</ul>\n"
    )


def _patterns(result: Patterns) -> str:
    if not len(result):
        return "<p>Nothing was found that stands out from the noise.</p>\n"
    picture = GraphPicture.of(result)
    bars = "The line across the end of a bar is an interval for the true number, made to hold in 95 of 100 cases."
    joined = "Items are joined where the pair was found: the thicker the line, the more people hold both."
    told = figure(chart(result, 30), "patterns", bars)
    if picture.items:
        told += figure(draw_graph(picture), "graph", joined, narrow=draw_graph(picture, PHONE_WIDTH))
    return told + pattern_table(result[:_ROWS])


def _relations(result: Rules) -> str:
    if not len(result):
        return "<p>No relation was found that stands out from the noise.</p>\n"
    told = (
        "Each square is a relation from the item on the left to the item above. The stronger its colour, the more of "
        "those who have the first have the second too."
    )
    table = rule_table(result[:_ROWS], "The relations found, the most reliable first.")
    return figure(draw_confidences(result), "matrix", told) + table


def _items(plan: StudyPlan) -> str:
    if not plan.items:
        return "<p>There is no list: people hold texts, and the study finds out which are frequent.</p>\n"
    if plan.hierarchy is None:
        return f"<p>{_named(plan.items)}.</p>\n"
    where = "what stands above them, too" if plan.level is None else f"what they are on the level {_text(plan.level)}"
    return (
        f"<p>{_named(plan.asked_items)}.</p>\n"
        f"<p>People hold {_named(plan.items)}. Their devices answer for {where}, which the study says of each.</p>\n"
    )


def _named(items: Sequence[str]) -> str:
    more = f", and {len(items) - _ITEMS:,} more" if len(items) > _ITEMS else ""
    return f"{number_of(len(items), 'item')}: {', '.join(map(_text, items[:_ITEMS]))}{more}"


def _link(place: str, words: str) -> str:
    return f'<p><a class="button" href="{escape(place)}">{escape(words)}</a></p>\n'


def _text(text: object, most: int = 400) -> str:
    return escape(clean(text, most))
