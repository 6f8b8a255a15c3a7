"""Functions from public values to the pages of a service, whose sentences are in `templates`."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from hashlib import sha384
from pathlib import Path
from typing import Any

from ...local.study import Outcome
from ...report import (
    PHONE_WIDTH,
    GraphPicture,
    chart,
    contents_of,
    draw_confidences,
    draw_graph,
    page,
    pattern_table,
    render,
    rule_table,
)
from ...results import Patterns, Rules, promise_lines
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
_FILES = {"results.csv": "CSV", "results.json": "JSON", "results.parquet": "Parquet", "report.html": "a report"}


# A script never changes while a service runs; a service has fewer scripts than the cache has places.
@lru_cache(maxsize=16)
def _integrity(script: str) -> str:
    """Return the digest that binds a page to the content of a script, so that no cache can change the script.

    W3C, Subresource Integrity, 2016. It does not bind the server of the page: see `docs/threats.md`.
    """
    path = STATIC / script
    if not path.is_file():
        return ""
    return f"sha384-{b64encode(sha384(path.read_bytes()).digest()).decode()}"


def _render(
    name: str,
    title: str,
    values: Mapping[str, object],
    *,
    script: str = "",
    parent: tuple[str, str] | None = ("/", "All studies"),
) -> str:
    """Return a whole page.

    Parameters
    ----------
    name, title, values
        The name of its template, its title, and the values of the template by name.
    script
        The name of a script file, or "".
    parent
        The address and title of the page above this one, or None.
    """
    integrity = _integrity(script) if script else ""
    template = f"collector/pages/templates/{name}.html.jinja"
    return str(render(template, title=title, script=script, integrity=integrity, parent=parent, **values))


def render_list(studies: Sequence[tuple[StudyPlan, str]]) -> str:
    """Return the page with all studies and their states."""
    return _render("list", "Studies", {"studies": studies, "states": _LISTED_STATES}, parent=None)


def render_study(plan: StudyPlan, key: str, progress: Mapping[str, Any], result: Patterns | Rules | None) -> str:
    """Return the page of one study: its question and promise, its rounds, its items and its result."""
    functions = (chart, draw_confidences, draw_graph, pattern_table, promise_lines, rule_table)
    values = {
        "plan": plan,
        "key": key,
        "progress": progress,
        "result": result,
        "is_relations": isinstance(result, Rules),
        "states": STATES,
        "round_states": _ROUND_STATES,
        "participants": _PARTICIPANTS,
        "shares": _SHARES,
        "files": _FILES,
        "max_items": _MAX_ITEMS,
        "max_rows": _MAX_ROWS,
        "graph_of": GraphPicture.of,
        "PHONE_WIDTH": PHONE_WIDTH,
    }
    values |= {function.__name__: function for function in functions} | _loss(plan)
    return _render("study", plan.title, values, script="" if progress["state"] == "released" else "watch.js")


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
    values = {"plan": plan, "is_over": is_over, **_loss(plan)}
    parent = (f"/studies/{plan.name}", plan.title)
    script = "take-part.js" if has_script else ""
    return _render("take-part", f"Take part: {plan.title}", values, script=script, parent=parent)


def render_operating(plan: StudyPlan) -> str:
    """Return the page for operators, which asks for their token and shows the actions of its scopes."""
    parent = (f"/studies/{plan.name}", plan.title)
    return _render("operate", f"Operators: {plan.title}", {"plan": plan}, script="operate.js", parent=parent)


def render_report(plan: StudyPlan, outcome: Outcome) -> str:
    """Return the result of a study as a report: one HTML file that needs no other file."""
    protocol = type(plan.protocol_instance)
    result = replace(outcome.found, provenance=outcome.provenance)
    contents = contents_of(result, plan.title, summary=protocol.summary, citations=[protocol.citation])
    return page(replace(contents, question={"Asked in words": plan.asks, **contents.question}))


def render_refusal(status: int, sentence: str) -> str:
    """Return the page that a browser shows for a refused request."""
    return _render("refusal", "Not here" if status == 404 else "This cannot be shown", {"sentence": sentence})


def _loss(plan: StudyPlan) -> dict[str, object]:
    """Return the factor that bounds probabilities of reports, e to the power of epsilon, and whether it can fail."""
    epsilon = Fraction(plan.epsilon)
    # Beyond 20 a factor has more digits than a reader can use.
    factor = f"{math.exp(epsilon):,.3g}" if epsilon <= 20 else "e to that power"
    return {"factor": factor, "can_fail": bool(Fraction(plan.delta))}
