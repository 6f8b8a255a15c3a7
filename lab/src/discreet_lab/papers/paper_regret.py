"""The regret of the default: the loss of `auto` against the best mechanism, over questions of every kind.

`regret` has an eighth of all questions for each data set, in which every two levels of different parameters occur
together; eight data sets have all questions. `regret-full` has all questions for each set. `regret-aside` is about the
sets aside, and runs once, after the constants are frozen. `measure.regret` defines the numbers.
"""

from __future__ import annotations

from dataclasses import replace

from ..data.set_aside import FOR_THE_CURATOR
from ..run.experiment import Axis, Data, Experiment, Line, Metric
from ..run.questions import list_questions, select_questions
from .paper_ours import ASIDE, CURATOR

TITLE = "Regret: the default beside the best choice"

# Every mechanism of the registry that finds patterns, with its default settings; a test holds this list to it.
MECHANISMS = (
    "auto",
    "bases",
    "clipped",
    "exponential",
    "laplace",
    "peeling",
    "privbasis",
    "threshold",
    "truncated",
    "truncated-items",
    "truncated-naive",
)
FITTED = (
    *(replace(data, label=data.label.removesuffix(ASIDE)) for data in CURATOR),
    Data(name="OnlineRetail_events", label="OnlineRetail events"),
    Data(name="bulk-buyers"),
)
"""The data sets on which constants may be fitted: results on them are known."""

REGRET = Experiment(
    name="regret",
    paper="regret",
    shows="Regret",
    title="the default beside the best mechanism, on the data that constants may be fitted on",
    says="An eighth of all questions of each data set; every two levels of different parameters meet.",
    data=tuple(replace(data, values=select_questions(turn)) for turn, data in enumerate(FITTED)),
    lines=tuple(Line(label=f"`{name}`", name=name) for name in MECHANISMS),
    axis=Axis(of="question", label="question", values=select_questions(0)),
    measure="regret",
    metrics=(
        Metric(name="missed", label="missed", share=True, digits=3),
        Metric(name="median_error", label="median relative error", digits=4),
        Metric(name="high_error", label="90th percentile of relative errors", digits=4),
        Metric(name="confidence_error", label="error of the confidences of rules", digits=3),
        Metric(name="covered", label="intervals that hold the true count", share=True, digits=3),
    ),
    repeats=3,
    by_name=True,
)
EXPERIMENTS = (
    REGRET,
    replace(
        REGRET,
        name="regret-full",
        shows="Regret, all questions",
        title="all questions about the same data: takes hours",
        says="Every top and threshold with every length, epsilon and delta.",
        data=FITTED,
        axis=Axis(of="question", label="question", values=list_questions()),
    ),
    replace(
        REGRET,
        name="regret-aside",
        shows="Regret on the sets aside",
        title="data that are set aside: run once, after constants are frozen",
        says=(
            "No method was fitted or tried on the sets of this section."
            " After a run before the freeze they are no longer set aside."
        ),
        data=tuple(Data(name=name, values=select_questions(turn)) for turn, name in enumerate(FOR_THE_CURATOR)),
    ),
)
