"""The page of each paper: its claims, the results, and whether they agree.

A page is Markdown with its figures beside it, for the documentation and for code hosts; `web` joins them to one file.
Equal results give equal bytes.
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

from ..measure.order import describe_best, describe_printed
from ..measure.spread import compute_mean
from ..papers import titles
from ..run.experiment import Goal
from ..run.failures import list_reasons
from ..run.runner import Results
from .claims import Claim, Verdict
from .figures import draw_metric
from .regret import MEASURES as REGRETS, render_regret_page
from .tables import escape_markdown, name_column, render_comparison, render_markdown

_INDEX = "The papers, reproduced"
_HEAD_BYTES = 1000  # the title of a page is within its first bytes
_FAILED = ("does not hold", "cannot be tried")


def write_page(
    paper: str,
    results: Sequence[Results],
    claims: Iterable[Claim],
    folder: Path,
    *,
    quick: bool,
) -> Path:
    """Write the page of a paper as Markdown, with its figures beside it, and return its path.

    Parameters
    ----------
    paper
        The number of the paper.
    results
        The results of its experiments.
    claims
        Its claims.
    folder
        The directory of the page; made if it is missing.
    quick
        Whether the results are of the quick setting; the page says so.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{paper}.md"
    if any(result.experiment.measure in REGRETS for result in results):
        lines = render_regret_page(titles()[paper], results, quick=quick)
    else:
        lines = _render_page(paper, results, list(claims), folder, quick)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def check_paths(papers: Sequence[str], folder: Path, *, index: bool, html: bool) -> None:
    """Check that no page replaces a file other than an earlier version of the page, without ``--force``."""
    pages = [(number, titles()[number]) for number in papers] + ([("index", _INDEX)] if index else [])
    for name, title in pages:
        path = folder / f"{name}{'.html' if html else '.md'}"
        check_unprotected(path)
        mark = f"<title>{escape(title)}</title>" if html else f"# {title}\n"
        if path.is_file() and not replacing_allowed() and mark.encode() not in path.read_bytes()[:_HEAD_BYTES]:
            raise MisuseError(
                f"{path} is no page of the lab: nothing was changed. Give another folder with -o, or add --force to "
                "replace it."
            )


def write_index(papers: Sequence[str], claims: Iterable[Claim], folder: Path) -> Path:
    """Write the index page: the verdicts on the claims of each paper, counted."""
    all_claims = [claim for claim in claims if claim.paper in papers]
    claimed_papers = [paper for paper in papers if any(claim.paper == paper for claim in all_claims)]
    verdicts_found = {claim.verdict for claim in all_claims}
    verdicts = [verdict for verdict in get_args(Verdict) if verdict != "not run here" or verdict in verdicts_found]
    claims_of = {paper: [claim for claim in all_claims if claim.paper == paper] for paper in claimed_papers}
    rows = [
        [f"[{titles()[paper]}]({paper}.md)", *_count_verdicts(claims_of[paper], verdicts)] for paper in claimed_papers
    ]
    lines = [f"# {_INDEX}", ""]
    lines += [
        "What every paper claims, one by one, and what became of it here. How to run it: [the lab](../lab.md).",
        "",
    ]
    lines += render_markdown(["paper", "claims", *verdicts], [*rows, ["all", *_count_verdicts(all_claims, verdicts)]])
    lines += ["Each page lists first what could not be reproduced, and why.", ""]
    lines += [f"Beside them: [{titles()[paper]}]({paper}.md)." for paper in papers if paper not in claimed_papers]
    lines += ["", "```{toctree}", ":maxdepth: 1", "", *papers, "```", ""]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.md"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _count_verdicts(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> list[str]:
    """Return the number of claims, and the number with each verdict."""
    return [str(len(claims)), *(str(sum(claim.verdict == verdict for claim in claims)) for verdict in verdicts)]


def _render_page(
    paper: str, results: Sequence[Results], claims: list[Claim], folder: Path, quick: bool
) -> Iterator[str]:
    """Yield the lines of the page of a paper."""
    yield f"# {titles()[paper]}\n"
    yield from _render_summary(results, claims)
    yield f"Everything here is made by one command: `discreet lab page --paper {paper}{' --quick' if quick else ''}`.\n"
    if quick:
        yield "**Quick setting**: three repeats and three points of each axis.\n"
    yield from _render_missing(results)
    if claims:
        yield from _render_not_reproduced([claim for claim in claims if claim.verdict in _FAILED])
        yield from _render_claims(claims)
    yield from render_goals(results)
    for result in results:
        yield from render_section(result, folder)


def _render_summary(results: Sequence[Results], claims: Sequence[Claim]) -> Iterator[str]:
    """Yield the counts of verdicts and of reached goals."""
    if claims:
        words = {"holds": "hold", "holds in part": "hold in part", "does not hold": "do not hold"}
        verdict_counts = [(verdict, sum(claim.verdict == verdict for claim in claims)) for verdict in get_args(Verdict)]
        parts = [
            f"{count} {verdict if count == 1 else words.get(verdict, verdict)}"
            for verdict, count in verdict_counts
            if count
        ]
        yield f"**{number_of(len(claims), 'claim')}**: {', '.join(parts)}.\n"
    goals = [goal for result in results for goal in result.experiment.goals]
    if goals:
        reached_count = sum(
            _render_goal(result, goal)[1] == "**reached**" for result in results for goal in result.experiment.goals
        )
        yield f"**{number_of(len(goals), 'goal')}**: {reached_count} reached.\n"


def _render_missing(results: Sequence[Results]) -> Iterator[str]:
    """Yield the list of experiments with missing runs."""
    incomplete = [result for result in results if result.missing]
    if incomplete:
        yield "**Not all was run.** Missing are\n"
        for result in incomplete:
            missing_text = "all of it" if not result.rows else number_of(result.missing, "run")
            yield f"- {result.experiment.shows}: {missing_text} (`discreet lab run {result.experiment.name}`)"
        yield ""


def _render_not_reproduced(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield the claims that do not hold or cannot be tried, with reasons."""
    yield "## What could not be reproduced, and why\n"
    if not claims:
        yield "Every claim holds, at least in part.\n"
        return
    for verdict in _FAILED:
        failed_claims = [claim for claim in claims if claim.verdict == verdict]
        if failed_claims:
            yield f"{verdict.capitalize()}:\n"
            yield from (
                "- *{}*: {} **But**: {}".format(*map(escape_markdown, (claim.where, claim.says, claim.why)))
                for claim in failed_claims
            )
            yield ""


def _render_claims(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield the table of all claims, and the commands that show them."""
    yield "## What it claims, and what we found\n"
    if any(claim.verdict == "not run here" for claim in claims):
        yield "There is no verdict where the runs of this page are not all that it takes.\n"
    yield "Claims without an experiment of the lab are seen by a test or a program, and not by the runs of this page.\n"
    yield from render_markdown(
        ["", "where", "the claim, in our words", "found", "why"],
        ([str(place), claim.where, claim.says, *_render_verdict(claim)] for place, claim in enumerate(claims, start=1)),
    )
    # Commands do not wrap: a column of commands would leave no room for the further columns.
    yield "<details><summary>How to see each of them</summary>\n"
    for place, claim in enumerate(claims, start=1):
        yield f"{place}. `{claim.command}`" + ("" if claim.seed == "none" else f" (seeds {claim.seed})")
    yield "\n</details>\n"


def _render_verdict(claim: Claim) -> tuple[str, str]:
    """Return the verdict and the reason of a claim; the command instead of a reason if the runs do not show it."""
    if claim.verdict == "not run here":
        return claim.verdict, f"`{claim.command}` shows it"
    return f"**{claim.verdict}**", claim.why


def render_goals(results: Sequence[Results]) -> Iterator[str]:
    """Yield a table of all goals: reached, or the gap."""
    rows = []
    for result in results:
        labels = {metric.name: metric.label for metric in result.experiment.metrics}
        for goal in result.experiment.goals:
            point = f"{goal.panel}, {name_column(result.experiment, goal.value)}"
            metric_text = f"{labels[goal.metric]} of {goal.line}"
            rows.append([result.experiment.shows, point, metric_text, str(goal), *_render_goal(result, goal)])
    if rows:
        yield "## Goals\n"
        yield from render_markdown(["experiment", "where", "what", "goal", "measured", ""], rows)


def _render_goal(results: Results, goal: Goal) -> tuple[str, str]:
    """Return the mean at the point of a goal, and the gap."""
    mean, spread = compute_mean(results.numbers(goal.panel, goal.line, goal.value, goal.metric))
    if not isfinite(mean):
        return "", "not run"
    gap = goal.gap(round(mean, 3))
    return f"{mean:.3f} ± {spread:.3f}", f"{gap:.3f} short" if gap else "**reached**"


def render_section(results: Results, folder: Path) -> Iterator[str]:
    """Yield the section of an experiment: the claim, figures, the best lines, tables."""
    experiment = results.experiment
    yield f"## {experiment.shows}: {experiment.title}\n"
    if experiment.says:
        yield f"{experiment.says}\n"
    if experiment.differs:
        yield f"*What differs here*: {experiment.differs}\n"
    repeats = len({row.seed for row in results.rows})
    spread_text = f": mean ± standard deviation over {number_of(repeats, 'run')}" if repeats > 1 else ""
    yield f"`discreet lab run {experiment.name}`{spread_text}\n"
    yield from (f"*Not run*: {escape_markdown(reason)}\n" for reason in list_reasons(results.failed))
    if not results.rows:
        yield "*Not run yet.*\n"
        return
    for metric in experiment.metrics:
        has_figure = len(results.values) > 1
        if has_figure:
            file = draw_metric(results, metric, folder / f"{experiment.name}-{metric.name}.svg")
            yield f"![{experiment.shows}: {metric.label}]({file.name})\n"
        if sentences := " ".join(filter(None, (describe_best(results, metric), describe_printed(results, metric)))):
            yield f"**{metric.label}.** {sentences}\n"
        # Below a figure, its numbers are folded.
        if has_figure:
            yield f"<details><summary>{escape_markdown(metric.label)}: the numbers</summary>\n"
        yield from render_comparison(results, metric)
        if has_figure:
            yield "</details>\n"
