"""Functions from public values to the HTML of pages. All text from studies and results is escaped here."""

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
_MAX_ITEMS = 200  # names of items on a page; larger: longer pages; smaller: more items are only counted
_MAX_ROWS = 100  # of a table of results; the files have all rows
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
_SHARES = ("0.1%", "1%", "5%")  # of made-up reports, from a few persons with many devices to a campaign
_PARTICIPANTS = {
    "anyone": "Anyone may take part. Nothing keeps a person from answering twice, with another browser or device.",
    "tokens": "Whoever was given a token may take part. Each token counts once.",
}


# A script never changes while a service runs; a service has fewer scripts than the cache has places.
@lru_cache(maxsize=16)
def _integrity(script: str) -> str:
    """Return the HTML attribute that binds a page to the content of a script, so that no cache can change the script.

    W3C, Subresource Integrity, 2016. It does not bind the server of the page: see `docs/threats.md`.
    """
    path = STATIC / script
    if not path.is_file():
        return ""
    digest = b64encode(sha384(path.read_bytes()).digest()).decode()
    return f' integrity="sha384-{digest}"'


def frame(title: str, body: str, *, script: str = "", parent: tuple[str, str] | None = ("/", "All studies")) -> str:
    """Return a whole page, with the head and the links that all pages have.

    Parameters
    ----------
    title
        The title as text.
    body
        The content as HTML.
    script
        The name of a script file, or "".
    parent
        The address and title of the page above this one, or None.
    """
    trail = (
        f'<nav aria-label="Where you are"><a href="{escape(parent[0])}">{escape(parent[1])}</a></nav>\n'
        if parent
        else ""
    )
    script_tag = (
        f'<script type="module" src="/static/{escape(script)}"{_integrity(script)}></script>\n' if script else ""
    )
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
        f"{script_tag}</body>\n</html>\n"
    )


def render_list(studies: Sequence[tuple[StudyPlan, str]]) -> str:
    """Return the page with all studies and their states."""
    rows = "".join(
        f'<li><a href="/studies/{escape(plan.name)}">{_text(plan.title)}</a>'
        f'<p class="quiet">{_text(plan.asks)} {_LISTED_STATES.get(state, "")}</p></li>\n'
        for plan, state in studies
    )
    body = f'<ul class="studies">\n{rows}</ul>\n' if rows else "<p>There are no studies yet.</p>\n"
    return frame("Studies", body, parent=None)


def render_study(plan: StudyPlan, key: str, progress: Mapping[str, Any], result: Patterns | Rules | None) -> str:
    """Return the page of one study: its question and promise, its rounds, its items and its result."""
    # The part with the id `live` is loaded again by watch.js while the study runs.
    link = "" if progress["state"] == "released" else _link(f"/studies/{plan.name}/take-part", "Take part")
    body = (
        f'<p class="lead">{_text(plan.asks)}</p>\n'
        f'<section aria-labelledby="promise"><h2 id="promise">What is promised</h2>\n{_promise(plan, key)}</section>\n'
        f'<div id="live">\n{link}{_rounds(progress)}{_result(plan.name, result)}</div>\n'
        f'<section aria-labelledby="items"><h2 id="items">What is asked about</h2>\n{_items(plan)}</section>\n'
        f'<p class="quiet"><a href="/studies/{escape(plan.name)}/operate">For operators</a></p>\n'
    )
    return frame(plan.title, body, script="" if progress["state"] == "released" else "watch.js")


def render_taking_part(plan: StudyPlan, *, has_script: bool, is_over: bool = False) -> str:
    """Return the page on which a visitor takes part.

    Parameters
    ----------
    plan
        The plan of the study.
    has_script
        Whether the script of the page was built.
    is_over
        Whether the study is over: then the page invites no visitor, and shows participants the reports they sent.
    """
    no_script = "<noscript><p>Your browser makes the report, and needs JavaScript for it.</p></noscript>"
    no_client = (
        "<p>Taking part on this page is not set up: whoever runs the service types <code>make clients</code>.</p>"
    )
    address = f"/studies/{escape(plan.name)}"
    ended = f'<p class="lead">This study is over. <a href="{address}">Its result is on its page.</a></p>\n'
    content = "" if is_over else no_script if has_script else no_client
    body = (
        f"{ended if is_over else ''}"
        f'<section id="take-part" data-study="{escape(plan.name)}" data-who="{escape(plan.who)}" '
        f'data-over="{str(is_over).lower()}" aria-label="Take part">{content}</section>\n'
        f'<section aria-labelledby="promise"><h2 id="promise">What {"was" if is_over else "is"} promised</h2>\n'
        f"{_limits(plan)}</section>\n"
    )
    parent = (f"/studies/{plan.name}", plan.title)
    return frame(f"Take part: {plan.title}", body, script="take-part.js" if has_script else "", parent=parent)


def render_operating(plan: StudyPlan) -> str:
    """Return the page for operators, which asks for their token and shows the actions of its scopes."""
    no_script = (
        "<noscript><p>This page needs JavaScript; <code>discreet study status</code> says the same.</p></noscript>"
    )
    body = f'<section id="operate" data-study="{escape(plan.name)}">{no_script}</section>\n'
    return frame(f"Operators: {plan.title}", body, script="operate.js", parent=(f"/studies/{plan.name}", plan.title))


def render_report(plan: StudyPlan, outcome: Outcome) -> str:
    """Return the result of a study as a report: one HTML file that needs no other file."""
    protocol = type(plan.protocol_instance)
    result = replace(outcome.found, provenance=outcome.provenance)
    contents = contents_of(result, plan.title, summary=protocol.summary, citations=[protocol.citation])
    return page(replace(contents, question={"Asked in words": plan.asks, **contents.question}))


def render_refusal(status: int, sentence: str) -> str:
    """Return the page that a browser shows for a refused request."""
    title = "Not here" if status == 404 else "This cannot be shown"
    return frame(title, f"<p>{_text(sentence)}</p>\n")


def _promise(plan: StudyPlan, key: str) -> str:
    return (
        f"{_limits(plan)}<p>{_PARTICIPANTS[plan.who]}</p>\n"
        f'<p class="quiet">What is asked is signed with the key <code>{escape(key)}</code>. A device that knows the '
        "study refuses one with another key, and one whose words have changed.</p>\n"
    )


def _limits(plan: StudyPlan) -> str:
    epsilon = Fraction(plan.epsilon)
    # Beyond 20 a factor has more digits than a reader can use.
    factor = f"{math.exp(epsilon):,.3g}" if epsilon <= 20 else "e to that power"
    failure = "" if not Fraction(plan.delta) else f" That may fail with a probability of {_text(plan.delta)} at most."
    return (
        "<p>What you hold stays on your device. It sends one report, once, which chance has changed before anybody saw "
        f"it. Whatever a person holds, no report is more than {factor} times as likely from them as from anybody else: "
        f"that is epsilon = {_text(plan.epsilon)}.{failure}</p>\n"
    )


def _rounds(progress: Mapping[str, Any]) -> str:
    rows = "".join(map(_round_row, progress["rounds"]))
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


def _round_row(fields: Mapping[str, Any]) -> str:
    quota, people = fields["quota"], fields["people"]
    share = "–"
    if quota is not None:
        label = f"{people:,} of {quota:,}"
        bar = f'<progress max="{quota}" value="{min(people, quota)}" aria-label="{label}"></progress>'
        share = f"{bar} of&nbsp;{quota:,}"
    state = _ROUND_STATES[fields["state"]]
    return (
        f'<tr><th scope="row">{fields["round"] + 1}: {_text(fields["name"])}</th><td>{state}</td>'
        f'<td class="number">{people:,}</td><td>{share}</td></tr>\n'
    )


def _result(name: str, result: Patterns | Rules | None) -> str:
    if result is None:
        return ""
    tables = _relations(result) if isinstance(result, Rules) else _patterns(result)
    files = {"results.csv": "CSV", "results.json": "JSON", "results.parquet": "Parquet", "report.html": "a report"}
    share = malicious_share(result)
    query = "" if share is None else f"?{urlencode({'assume_malicious': share})}"
    links = ", ".join(
        f'<a href="/studies/{escape(name)}/{file}{query}" download>{word}</a>' for file, word in files.items()
    )
    # The sentences of files and on the command line, so that no page promises more.
    sentences = (sentence[:1].upper() + sentence[1:].removesuffix(".") for sentence in promise_lines(result))
    paragraphs = "".join(f"<p>{_text(sentence, 2000)}.</p>\n" for sentence in sentences)
    return (
        '<section aria-labelledby="found"><h2 id="found">What was found</h2>\n'
        f"{paragraphs}{tables}<p>Take it with you: {links}.</p>\n{_share_links(name, share)}</section>\n"
    )


def _share_links(name: str, share: str | None) -> str:
    """Return links to the result with intervals for other shares of made-up reports, or for none."""
    address = f"/studies/{escape(name)}"
    links = "".join(
        f'<li><a href="{address}?{urlencode({"assume_malicious": option})}">{option} of the reports</a></li>'
        for option in _SHARES
        if option != share
    )
    default = "" if share is None else f'<li><a href="{address}">none</a></li>'
    return (
        '<h3 id="liars">What if some people lied?</h3>\n<p>Reports that are made up can move every number. Show '
        f"intervals that hold whatever was in a part of the reports of each round:</p>\n<ul>{links}{default}</ul>\n"
    )


def _patterns(result: Patterns) -> str:
    if not len(result):
        return "<p>Nothing was found that stands out from the noise.</p>\n"
    picture = GraphPicture.of(result)
    bars = "The line across the end of a bar is an interval for the true number, made to hold in 95 of 100 cases."
    edges_caption = "Items are joined where the pair was found: the thicker the line, the more people hold both."
    figures = figure(chart(result, 30), "patterns", bars)
    if picture.items:
        figures += figure(draw_graph(picture), "graph", edges_caption, narrow=draw_graph(picture, PHONE_WIDTH))
    return figures + pattern_table(result[:_MAX_ROWS])


def _relations(result: Rules) -> str:
    if not len(result):
        return "<p>No relation was found that stands out from the noise.</p>\n"
    caption = (
        "Each square is a relation from the item on the left to the item above. The stronger its colour, the more of "
        "those who have the first have the second too."
    )
    table = rule_table(result[:_MAX_ROWS], "The relations found, the most reliable first.")
    return figure(draw_confidences(result), "matrix", caption) + table


def _items(plan: StudyPlan) -> str:
    if not plan.items:
        return "<p>There is no list: people hold texts, and the study finds out which are frequent.</p>\n"
    if plan.hierarchy is None:
        return f"<p>{_item_list(plan.items)}.</p>\n"
    answers = "what stands above them, too" if plan.level is None else f"what they are on the level {_text(plan.level)}"
    return (
        f"<p>{_item_list(plan.asked_items)}.</p>\n"
        f"<p>People hold {_item_list(plan.items)}. "
        f"Their devices answer for {answers}, which the study says of each.</p>\n"
    )


def _item_list(items: Sequence[str]) -> str:
    remainder = f", and {len(items) - _MAX_ITEMS:,} more" if len(items) > _MAX_ITEMS else ""
    return f"{number_of(len(items), 'item')}: {', '.join(map(_text, items[:_MAX_ITEMS]))}{remainder}"


def _link(address: str, words: str) -> str:
    return f'<p><a class="button" href="{escape(address)}">{escape(words)}</a></p>\n'


# Titles and items come from operators and files: they lose control characters and are cut before they are escaped.
def _text(text: object, max_letters: int = 400) -> str:
    return escape(clean(text, max_letters))
