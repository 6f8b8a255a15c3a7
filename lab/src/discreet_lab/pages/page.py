"""Pages: for each paper what it claims, what was measured, and whether the two agree.

A page is Markdown with its figures beside it, for the documentation and for code hosts; `web` makes one file of it.
The same results give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import isfinite
from pathlib import Path
from typing import get_args

from discreet.cli import replacing_allowed
from discreet.errors import MisuseError
from discreet.protected import check_unprotected
from discreet.wording import number_of

from ..measure.order import printed, sentence
from ..measure.spread import middle
from ..papers import titles
from ..run.experiment import Goal
from ..run.failures import reasons_once
from ..run.runner import Results
from .claims import Claim, Verdict
from .figures import draw
from .regret import MEASURES as REGRETS, regret_page
from .tables import column, compared, markdown, text

_INDEX = "The papers, reproduced"
_HEAD = 1000  # bytes that the title of a page stands in
_FAILED = ("does not hold", "cannot be tried")


def write_page(
    paper: str,
    results: Sequence[Results],
    claims: Iterable[Claim],
    folder: Path,
    *,
    quick: bool,
) -> Path:
    """Write the page of a paper as Markdown, with its figures beside it, and return where it is.

    Parameters
    ----------
    paper
        Its number.
    results
        What its experiments gave.
    claims
        What it claims.
    folder
        Where the page goes; it is made if it is not there.
    quick
        Whether the results are those of the quick setting, which the page then says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{paper}.md"
    if any(one.experiment.measure in REGRETS for one in results):
        lines = regret_page(titles()[paper], results, quick=quick)
    else:
        lines = _page(paper, results, list(claims), folder, quick)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def check_places(papers: Sequence[str], folder: Path, *, index: bool, html: bool) -> None:
    """Refuse a folder where a page would replace a file that is no earlier version of it, without ``--force``."""
    pages = [(number, titles()[number]) for number in papers] + ([("index", _INDEX)] if index else [])
    for name, title in pages:
        path = folder / f"{name}{'.html' if html else '.md'}"
        check_unprotected(path)
        mark = f"<title>{escape(title)}</title>" if html else f"# {title}\n"
        if path.is_file() and not replacing_allowed() and mark.encode() not in path.read_bytes()[:_HEAD]:
            raise MisuseError(
                f"{path} is no page of the lab: nothing was changed. Give another folder with -o, or add --force to "
                "replace it."
            )


def write_index(papers: Sequence[str], claims: Iterable[Claim], folder: Path) -> Path:
    """Write the page before the pages: what became of the claims of each paper."""
    every = [claim for claim in claims if claim.paper in papers]
    said = [paper for paper in papers if any(claim.paper == paper for claim in every)]
    found = {claim.verdict for claim in every}
    verdicts = [verdict for verdict in get_args(Verdict) if verdict != "not run here" or verdict in found]
    apart = {one: [claim for claim in every if claim.paper == one] for one in said}
    rows = [[f"[{titles()[one]}]({one}.md)", *_tally(apart[one], verdicts)] for one in said]
    lines = [f"# {_INDEX}", ""]
    lines += [
        "What every paper claims, one by one, and what became of it here. How to run it: [the lab](../lab.md).",
        "",
    ]
    lines += markdown(["paper", "claims", *verdicts], [*rows, ["all", *_tally(every, verdicts)]])
    lines += ["Each page lists first what could not be reproduced, and why.", ""]
    lines += [f"Beside them: [{titles()[one]}]({one}.md)." for one in papers if one not in said]
    lines += ["", "```{toctree}", ":maxdepth: 1", "", *papers, "```", ""]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.md"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _tally(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> list[str]:
    return [str(len(claims)), *(str(sum(claim.verdict == verdict for claim in claims)) for verdict in verdicts)]


def _page(paper: str, results: Sequence[Results], claims: list[Claim], folder: Path, quick: bool) -> Iterator[str]:
    yield f"# {titles()[paper]}\n"
    yield from _summary(results, claims)
    yield f"Everything here is made by one command: `discreet lab page --paper {paper}{' --quick' if quick else ''}`.\n"
    if quick:
        yield "**Quick setting**: three repeats and three points of each axis.\n"
    yield from _missing(results)
    if claims:
        yield from _not_reproduced([claim for claim in claims if claim.verdict in _FAILED])
        yield from _every_claim(claims)
    yield from goals(results)
    for one in results:
        yield from section(one, folder)


def _summary(results: Sequence[Results], claims: Sequence[Claim]) -> Iterator[str]:
    if claims:
        words = {"holds": "hold", "holds in part": "hold in part", "does not hold": "do not hold"}
        many = [(verdict, sum(claim.verdict == verdict for claim in claims)) for verdict in get_args(Verdict)]
        told = [f"{count} {verdict if count == 1 else words.get(verdict, verdict)}" for verdict, count in many if count]
        yield f"**{number_of(len(claims), 'claim')}**: {', '.join(told)}.\n"
    every = [goal for one in results for goal in one.experiment.goals]
    if every:
        reached = sum(_reached(one, goal)[1] == "**reached**" for one in results for goal in one.experiment.goals)
        yield f"**{number_of(len(every), 'goal')}**: {reached} reached.\n"


def _missing(results: Sequence[Results]) -> Iterator[str]:
    lacking = [one for one in results if one.missing]
    if lacking:
        yield "**Not all was run.** Missing are\n"
        for one in lacking:
            what = "all of it" if not one.rows else number_of(one.missing, "run")
            yield f"- {one.experiment.shows}: {what} (`discreet lab run {one.experiment.name}`)"
        yield ""


def _not_reproduced(claims: Sequence[Claim]) -> Iterator[str]:
    yield "## What could not be reproduced, and why\n"
    if not claims:
        yield "Every claim holds, at least in part.\n"
        return
    for verdict in _FAILED:
        listed = [claim for claim in claims if claim.verdict == verdict]
        if listed:
            yield f"{verdict.capitalize()}:\n"
            yield from (f"- *{text(one.where)}*: {text(one.says)} **But**: {text(one.why)}" for one in listed)
            yield ""


def _every_claim(claims: Sequence[Claim]) -> Iterator[str]:
    yield "## What it claims, and what we found\n"
    if any(one.verdict == "not run here" for one in claims):
        yield "There is no verdict where the runs of this page are not all that it takes.\n"
    yield "Claims without an experiment of the lab are seen by a test or a program, and not by the runs of this page.\n"
    yield from markdown(
        ["", "where", "the claim, in our words", "found", "why"],
        ([str(place), one.where, one.says, *_found(one)] for place, one in enumerate(claims, start=1)),
    )
    # Commands cannot be broken over lines, so a column of them would leave no room for the others.
    yield "<details><summary>How to see each of them</summary>\n"
    for place, one in enumerate(claims, start=1):
        yield f"{place}. `{one.command}`" + ("" if one.seed == "none" else f" (seeds {one.seed})")
    yield "\n</details>\n"


def _found(claim: Claim) -> tuple[str, str]:
    """Return the verdict and the reason of a claim; neither where the runs do not show it."""
    if claim.verdict == "not run here":
        return claim.verdict, f"`{claim.command}` shows it"
    return f"**{claim.verdict}**", claim.why


def goals(results: Sequence[Results]) -> Iterator[str]:
    """Yield a table of every goal: reached, or the gap."""
    rows = []
    for one in results:
        labels = {metric.name: metric.label for metric in one.experiment.metrics}
        for goal in one.experiment.goals:
            where = f"{goal.panel}, {column(one.experiment, goal.value)}"
            what = f"{labels[goal.metric]} of {goal.line}"
            rows.append([one.experiment.shows, where, what, str(goal), *_reached(one, goal)])
    if rows:
        yield "## Goals\n"
        yield from markdown(["experiment", "where", "what", "goal", "measured", ""], rows)


def _reached(results: Results, goal: Goal) -> tuple[str, str]:
    """Return what was measured where a goal was set, and how far it is from it."""
    mean, spread = middle(results.numbers(goal.panel, goal.line, goal.value, goal.metric))
    if not isfinite(mean):
        return "", "not run"
    gap = goal.gap(round(mean, 3))
    return f"{mean:.3f} ± {spread:.3f}", f"{gap:.3f} short" if gap else "**reached**"


def section(results: Results, folder: Path) -> Iterator[str]:
    """Yield the part of a page about one experiment: what is claimed, figures, which line is best, tables."""
    experiment = results.experiment
    yield f"## {experiment.shows}: {experiment.title}\n"
    if experiment.says:
        yield f"{experiment.says}\n"
    if experiment.differs:
        yield f"*What differs here*: {experiment.differs}\n"
    repeats = len({row.seed for row in results.rows})
    over = f": mean ± standard deviation over {number_of(repeats, 'run')}" if repeats > 1 else ""
    yield f"`discreet lab run {experiment.name}`{over}\n"
    yield from (f"*Not run*: {text(reason)}\n" for reason in reasons_once(results.failed))
    if not results.rows:
        yield "*Not run yet.*\n"
        return
    for metric in experiment.metrics:
        drawn = len(results.values) > 1
        if drawn:
            file = draw(results, metric, folder / f"{experiment.name}-{metric.name}.svg")
            yield f"![{experiment.shows}: {metric.label}]({file.name})\n"
        if told := " ".join(filter(None, (sentence(results, metric), printed(results, metric)))):
            yield f"**{metric.label}.** {told}\n"
        # A figure is what most want to see; its numbers are there for those who ask.
        if drawn:
            yield f"<details><summary>{text(metric.label)}: the numbers</summary>\n"
        yield from compared(results, metric)
        if drawn:
            yield "</details>\n"
