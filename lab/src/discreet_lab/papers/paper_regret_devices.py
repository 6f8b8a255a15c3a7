"""The regret of the default among devices: the loss of `adept` against the best local protocol.

`regret-devices` has a quarter of all questions for each data set; two adjacent sets have every top with every epsilon,
and four sets have all questions. `regret-devices-full` has all questions for each set. `regret-devices-aside` is about
the sets aside, and runs once, after the constants are frozen. `reference` uses the truth: it is shown, and never a
rival. `measure.regret_devices` defines the numbers.
"""

from __future__ import annotations

from dataclasses import replace

from ..data.set_aside import FOR_DEVICES
from ..run.experiment import Axis, Data, Experiment, Line, Metric
from ..run.questions import list_simulations, select_simulations
from .paper_ours import ASIDE, LOCAL, TRUE_TOP

TITLE = "Regret among devices: the default beside the best protocol"

PROTOCOLS = ("adept", "svsm", "svsm-better", "fp-tree")
FITTED = (
    *(replace(data, label=data.label.removesuffix(ASIDE)) for data in LOCAL),
    Data(name="mushroom"),
    Data(name="chess"),
    Data(name="connect"),
    Data(name="OnlineRetail_baskets", label="OnlineRetail baskets", people=399_200),
    Data(name="bulk-buyers"),
)
"""The data sets on which constants may be fitted: results on them are known."""

REGRET_DEVICES = Experiment(
    name="regret-devices",
    paper="regret-devices",
    shows="Regret among devices",
    title="the default beside the best protocol, on the data that constants may be fitted on",
    says="A quarter of all questions of each data set; two sets side by side have every top with every epsilon.",
    data=tuple(replace(data, values=select_simulations(turn)) for turn, data in enumerate(FITTED)),
    lines=(
        *(Line(label=f"`{name}`", name=name) for name in PROTOCOLS),
        TRUE_TOP,
    ),
    axis=Axis(of="question", label="question", values=select_simulations(0)),
    measure="regret-devices",
    metrics=(
        Metric(name="missed", label="lost of the NCR", share=True, digits=3),
        Metric(name="covered", label="intervals that hold the true count", share=True, digits=3),
    ),
    repeats=2,
    by_name=True,
)
EXPERIMENTS = (
    REGRET_DEVICES,
    replace(
        REGRET_DEVICES,
        name="regret-devices-full",
        shows="Regret among devices, all questions",
        title="all questions about the same data: takes hours",
        says="Every top with both lengths and every epsilon.",
        data=FITTED,
        axis=Axis(of="question", label="question", values=list_simulations()),
    ),
    replace(
        REGRET_DEVICES,
        name="regret-devices-aside",
        shows="Regret among devices on the sets aside",
        title="data that are set aside: run once, after constants are frozen",
        says=(
            "No method was fitted or tried on the sets of this section."
            " After a run before the freeze they are no longer set aside."
        ),
        data=tuple(Data(name=name, values=select_simulations(turn)) for turn, name in enumerate(FOR_DEVICES)),
    ),
)
