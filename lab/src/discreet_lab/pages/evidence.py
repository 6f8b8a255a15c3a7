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


@dataclass(frozen=True, kw_only=True)
class _Side:
    """What is shown of one side: experiments, lines and data by name, the numbers, and the epsilon of the table.

    The last experiment and the first number are drawn. The best of the papers is the one whose first number is best.
    """

    heading: str
    experiments: tuple[str, ...]
    metrics: tuple[str, ...]
    ours: str
    theirs: tuple[str, ...]
    drawn: tuple[str, ...]
    data: tuple[str, ...]
    epsilon: str


_SIDES = (
    _Side(
        heading="A curator publishes the 100 most frequent patterns: the share of them that is missed",
        experiments=("ours-top-10", "ours-top-20", "ours-top-100"),
        metrics=("false_negative_rate", "median_relative_error"),
        ours="auto",
        theirs=("exponential", "laplace", "privbasis"),
        drawn=("auto", "privbasis", "exponential"),
        data=("retail", "kosarak_100k", "mushroom", "BMS-POS_275k"),
        epsilon="0.5",
    ),
    _Side(
        heading="Devices send one report each: how much of the true ranking of 64 patterns is found (NCR)",
        experiments=("ours-local-64",),
        metrics=("cumulative_rank",),
        ours="adept",
        theirs=("ldpminer", "svsm", "fp-tree"),
        drawn=("adept", "svsm", "fp-tree"),
        data=("OnlineRetail_words", "kosarak_100k", "BMS-POS_275k", "retail"),
        epsilon="1",
    ),
)
EXPERIMENTS = tuple(name for side in _SIDES for name in side.experiments)
"""What the evidence is made of: the curator's side, and that of devices."""


def evidence_chart(results: Sequence[Results]) -> FigureChart:
    """Return the figure: a row for each side, over epsilon.

    Parameters
    ----------
    results
        What the experiments of `EXPERIMENTS` gave.
    """
    groups = []
    for side in _SIDES:
        one = _of(side, results)[-1]
        metric = _metrics(one, side)[0]
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
    """Yield a table for each side as Markdown: a row a data set, ours beside the best of the papers.

    Parameters
    ----------
    results
        What the experiments of `EXPERIMENTS` gave.
    """
    for side in _SIDES:
        every = _of(side, results)
        head = ["data set"]
        for one in every:
            words = f"top {one.experiment.asked['top']}, ε = {side.epsilon}"
            head += [f"{words}: the papers' best", f"`{side.ours}`"]
        rows = []
        for data in every[-1].experiment.data:
            cells = [cell for one in every for cell in _pair(side, one, data)]
            rows.append([(data.label or data.name).removesuffix(ASIDE), *cells])
        yield from markdown(head, [row for row in rows if any(row[1:])])
        numbers = ", then ".join(metric.label for metric in _metrics(every[-1], side))
        seeds = sorted({len({row.seed for row in one.rows}) for one in every})
        yield f"Means of {' and '.join(map(str, seeds))} runs: {numbers}; the better one is in bold."
        people = [data.people for data in every[-1].experiment.data if data.people]
        if people:
            yield f"¹ Drawn with replacement from the data set, {min(people):,} to {max(people):,} people."
        yield ""


def _of(side: _Side, results: Sequence[Results]) -> list[Results]:
    """Return what the experiments of one side gave, in its order."""
    known = {one.experiment.name: one for one in results}
    return [known[name] for name in side.experiments]


def _pair(side: _Side, results: Results, data: Data) -> list[str]:
    """Return the best of the papers and ours on one data set, the better numbers in bold."""
    metrics = _metrics(results, side)
    found: dict[str, list[float]] = {}
    for line in results.experiment.lines:
        means = [middle(results.numbers(data.shown, line.label, side.epsilon, one.name))[0] for one in metrics]
        if isfinite(means[0]):
            # As they are shown: what looks alike is level.
            found[line.name] = [
                (-1 if one.name in HIGH else 1) * float(shown(mean, one))
                for one, mean in zip(metrics, means, strict=True)
            ]
    theirs = min((name for name in side.theirs if name in found), key=lambda name: found[name], default="")
    cells = []
    for name, other in ((theirs, side.ours), (side.ours, theirs)):
        if name not in found:
            cells.append("")
            continue
        words = [
            f"**{shown(abs(number), metric)}**" if rival is not None and number < rival else shown(abs(number), metric)
            for number, rival, metric in zip(found[name], found.get(other, [None] * len(metrics)), metrics, strict=True)
        ]
        cells.append(" · ".join(words) + ("¹" if data.people else "") + (f" (`{name}`)" if name != side.ours else ""))
    return cells


def _metrics(results: Results, side: _Side) -> list[Metric]:
    known = {metric.name: metric for metric in results.experiment.metrics}
    return [known[name] for name in side.metrics]
