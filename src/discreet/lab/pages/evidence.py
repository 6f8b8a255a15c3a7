"""The evidence in short: one figure and one table of ours beside the best of the papers, on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from ..measure.order import HIGH
from ..measure.spread import middle, shown
from ..papers.paper_ours import ASIDE
from ..run.experiment import Data, Metric
from ..run.runner import Results
from .drawing import FigureChart, Group
from .figures import panel_of
from .tables import markdown

EXPERIMENTS = ("ours-top-100", "ours-local-64")
"""What the evidence is made of: the curator's side, and that of devices."""


@dataclass(frozen=True, kw_only=True)
class _Side:
    """What is shown of one side: lines and data by name, the number, and the epsilon of the table."""

    heading: str
    metric: str
    ours: str
    theirs: tuple[str, ...]
    drawn: tuple[str, ...]
    data: tuple[str, ...]
    epsilon: str


_SIDES = (
    _Side(
        heading="A curator publishes the 100 most frequent patterns: the share of them that is missed",
        metric="false_negative_rate",
        ours="auto",
        theirs=("exponential", "laplace", "privbasis"),
        drawn=("auto", "privbasis", "exponential"),
        data=("retail", "kosarak_100k", "mushroom", "BMS-POS_275k"),
        epsilon="0.5",
    ),
    _Side(
        heading="Devices send one report each: how much of the true ranking of 64 patterns is found (NCR)",
        metric="cumulative_rank",
        ours="adept",
        theirs=("ldpminer", "svsm", "fp-tree"),
        drawn=("adept", "svsm", "fp-tree"),
        data=("OnlineRetail_words", "kosarak_100k", "BMS-POS_275k", "retail"),
        epsilon="1",
    ),
)


def evidence_chart(results: Sequence[Results]) -> FigureChart:
    """Return the figure: a row for each side, over epsilon.

    Parameters
    ----------
    results
        What the two experiments of `EXPERIMENTS` gave, in this order.
    """
    groups = []
    for side, one in zip(_SIDES, results, strict=True):
        metric = _metric(one, side)
        labels = {line.name: line.label for line in one.experiment.lines}
        lines = [labels[name] for name in side.drawn if name in labels]
        sets = {data.name: data for data in one.experiment.data}
        panels = (
            panel_of(one, sets[name].shown, metric, lines=lines, title=sets[name].shown.replace(ASIDE, ""))
            for name in side.data
        )
        groups.append(Group(heading=side.heading, panels=tuple(panels)))
    return FigureChart(name="evidence", title="Ours beside the papers, over ε", groups=tuple(groups), columns=4)


def evidence_table(results: Sequence[Results]) -> Iterator[str]:
    """Yield the table as Markdown: a row a data set, ours beside the best of the papers on each side.

    Parameters
    ----------
    results
        What the two experiments of `EXPERIMENTS` gave, in this order.
    """
    head = ["data set"]
    for side, one in zip(_SIDES, results, strict=True):
        label = f"{_metric(one, side).label}, ε = {side.epsilon}"
        head += [f"{label}: the papers' best", f"`{side.ours}`"]
    names = dict.fromkeys(data.name for one in results for data in one.experiment.data)
    rows = []
    for name in names:
        row = [""]
        for side, one in zip(_SIDES, results, strict=True):
            found = [data for data in one.experiment.data if data.name == name]
            row += _pair(side, one, found[0]) if found else ["", ""]
            if found and not row[0]:
                row[0] = (found[0].label or name).removesuffix(ASIDE)
        rows.append(row)
    yield from markdown(head, [row for row in rows if any(row[1:])])
    seeds = sorted({len({row.seed for row in one.rows}) for one in results})
    yield f"Mean ± standard deviation over {' and '.join(map(str, seeds))} runs; the better mean is in bold."
    for side, one in zip(_SIDES, results, strict=True):
        fitted = [data.label or data.name for data in one.experiment.data if not data.label.endswith(ASIDE)]
        yield f"The constants of `{side.ours}` were fitted on {', '.join(fitted)}; the others were set aside."
    many = [data.people for one in results for data in one.experiment.data if data.people]
    if many:
        yield f"¹ Drawn with replacement from the data set, {min(many):,} to {max(many):,} people."


def _pair(side: _Side, results: Results, data: Data) -> list[str]:
    """Return the best of the papers and ours, on one data set, the better one in bold."""
    metric = _metric(results, side)
    sign = -1 if metric.name in HIGH else 1
    found = {}
    for line in results.experiment.lines:
        mean, spread = middle(results.numbers(data.shown, line.label, side.epsilon, metric.name))
        if isfinite(mean):
            found[line.name] = (sign * float(shown(mean, metric)), f"{shown(mean, metric)} ± {shown(spread, metric)}")
    theirs = min((name for name in side.theirs if name in found), key=lambda name: found[name][0], default="")
    cells = []
    for name, other in ((theirs, side.ours), (side.ours, theirs)):
        if name not in found:
            cells.append("")
            continue
        score, words = found[name]
        if other in found and score < found[other][0]:
            words = f"**{words}**"
        cells.append(f"{words}{'¹' if data.people else ''}" + (f" (`{name}`)" if name != side.ours else ""))
    return cells


def _metric(results: Results, side: _Side) -> Metric:
    return next(metric for metric in results.experiment.metrics if metric.name == side.metric)
