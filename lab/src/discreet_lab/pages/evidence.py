"""The evidence in short: one figure and one table of our methods beside the best of the papers, on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from ..measure.order import HIGH
from ..measure.spread import compute_mean, format_number
from ..papers.paper_ours import ASIDE
from ..run.experiment import Data, Metric
from ..run.runner import Results
from .drawing import FigureChart, Group
from .figures import build_panel
from .tables import render_markdown


@dataclass(frozen=True, kw_only=True)
class _Side:
    """The experiments, lines, data sets and metrics of one side, and the epsilon of its table.

    The last experiment and the first metric are drawn. The best of the papers is the line with the best first metric.
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
"""The experiments of the evidence: of the curator first, then of devices."""


def evidence_chart(results: Sequence[Results]) -> FigureChart:
    """Return the figure: one row of panels per side, over epsilon.

    Parameters
    ----------
    results
        The results of `EXPERIMENTS`.
    """
    groups = []
    for side in _SIDES:
        last_result = _select_results(side, results)[-1]
        metric = _select_metrics(last_result, side)[0]
        labels = {line.name: line.label for line in last_result.experiment.lines}
        lines = [labels[name] for name in side.drawn if name in labels]
        sets = {data.name: data for data in last_result.experiment.data}
        panels = (
            build_panel(last_result, sets[name].shown, metric, lines=lines, title=sets[name].shown.replace(ASIDE, ""))
            for name in side.data
        )
        groups.append(Group(heading=side.heading, panels=tuple(panels)))
    return FigureChart(name="evidence", title="Ours beside the papers, over ε", groups=tuple(groups), columns=4)


def evidence_table(results: Sequence[Results]) -> Iterator[str]:
    """Yield a Markdown table for each side: one row per data set, ours beside the best of the papers.

    Parameters
    ----------
    results
        The results of `EXPERIMENTS`.
    """
    for side in _SIDES:
        side_results = _select_results(side, results)
        head = ["data set"]
        for result in side_results:
            heading = f"top {result.experiment.asked['top']}, ε = {side.epsilon}"
            head += [f"{heading}: the papers' best", f"`{side.ours}`"]
        rows = []
        for data in side_results[-1].experiment.data:
            cells = [cell for result in side_results for cell in _render_pair(side, result, data)]
            rows.append([(data.label or data.name).removesuffix(ASIDE), *cells])
        yield from render_markdown(head, [row for row in rows if any(row[1:])])
        numbers = ", then ".join(metric.label for metric in _select_metrics(side_results[-1], side))
        seeds = sorted({len({row.seed for row in result.rows}) for result in side_results})
        yield f"Means of {' and '.join(map(str, seeds))} runs: {numbers}; the better one is in bold."
        people = [data.people for data in side_results[-1].experiment.data if data.people]
        if people:
            yield f"¹ Drawn with replacement from the data set, {min(people):,} to {max(people):,} people."
        yield ""


def _select_results(side: _Side, results: Sequence[Results]) -> list[Results]:
    """Return the results of the experiments of one side, in its order."""
    result_of_name = {result.experiment.name: result for result in results}
    return [result_of_name[name] for name in side.experiments]


def _render_pair(side: _Side, results: Results, data: Data) -> list[str]:
    """Return the cells of the best of the papers and of ours on one data set, better numbers in bold."""
    metrics = _select_metrics(results, side)
    signed_means: dict[str, list[float]] = {}
    for line in results.experiment.lines:
        means = [
            compute_mean(results.numbers(data.shown, line.label, side.epsilon, metric.name))[0] for metric in metrics
        ]
        if isfinite(means[0]):
            # As shown: equal digits are level.
            signed_means[line.name] = [
                (-1 if metric.name in HIGH else 1) * float(format_number(mean, metric))
                for metric, mean in zip(metrics, means, strict=True)
            ]
    theirs = min(
        (name for name in side.theirs if name in signed_means), key=lambda name: signed_means[name], default=""
    )
    cells = []
    for name, rival_name in ((theirs, side.ours), (side.ours, theirs)):
        if name not in signed_means:
            cells.append("")
            continue
        texts = [
            f"**{format_number(abs(number), metric)}**"
            if rival is not None and number < rival
            else format_number(abs(number), metric)
            for number, rival, metric in zip(
                signed_means[name], signed_means.get(rival_name, [None] * len(metrics)), metrics, strict=True
            )
        ]
        cells.append(" · ".join(texts) + ("¹" if data.people else "") + (f" (`{name}`)" if name != side.ours else ""))
    return cells


def _select_metrics(results: Results, side: _Side) -> list[Metric]:
    """Return the metrics of a side."""
    metric_of_name = {metric.name: metric for metric in results.experiment.metrics}
    return [metric_of_name[name] for name in side.metrics]
