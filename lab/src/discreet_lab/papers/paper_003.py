"""Dong et al. 2024: relations under local privacy through a matrix of low rank (LDP-RM)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.exact import How

from ..comparators.relation_protocols import CHAINS, list_protocols
from ..comparators.svim_ladder import as_line
from ..run.experiment import Axis, Data, Experiment, Line, Metric

TITLE = "LDP-RM: mining relations under local privacy (Dong et al. 2024)"

APPLETS = Data(name="made-up-applets", label="IFTTT (stand-in, made up)")
VIEWINGS = Data(name="made-up-viewings", label="Movie (stand-in, made up)")
CASCADES = Data(name="made-up-cascades", label="Modified IFTTT (stand-in, made up)")
RETAIL = Data(name="inferred-Retail", label="Retail (inferred)")
RETAIL_STAR = Data(name="inferred-Retail-star", label="Retail* (inferred)")
KOSARAK = Data(name="kosarak_100k", label="Kosarak (first 100,000)", people=50_000)

F_SCORE = Metric(name="f_score", label="F1", share=True)
RANK = Metric(name="cumulative_rank", label="NCR", share=True)
ERROR = Metric(name="confidence_error", label="VAR, squared error of confidences")
METRICS = (F_SCORE, RANK, ERROR)

EPSILON = Axis(of="epsilon", label="ε", values=("0.5", "1", "2", "3", "4"))
SUPPORT = Axis(of="settings.support", label="k_s", values=(800, 1200, 1600, 2400, 3200))
TOP, BUDGET = {"top": 32}, {"epsilon": "4"}
_COMPARED = ("LDP-RM", "SVSM", "CALM", "SVIM", "PCKV", "HM-RM", "`relations`", CHAINS, "`pairs`")
_CASCADE = 32  # the number of relations that become items; the article leaves it out

_AXIS = "The figures are pictures without numbers, so the points of the axis are ours."
_STANDS_IN = (
    "The data are not published: a stand-in is made after what the article says of them, so that only the order of the"
    " lines can be compared."
)
_FORMS = (
    "*LDP-RM* is as printed, with D3, D4, D5 and D8 put right; `relations` is the corrected form. SVIM and SVSM ask"
    " about pairs of the 64 items, as PCKV does; what they ask about in the article is not said."
)
_NO_TABLES = "CALM is left out: a table of items says nothing about which of two comes first."


def _lines(pair_kind: How, **options: Any) -> tuple[Line, ...]:
    protocol_of_label = list_protocols(pair_kind, **options)
    return tuple(as_line(label, protocol_of_label[label]) for label in _COMPARED if label in protocol_of_label)


def _figure(
    number: int, shows: str, title: str, says: str, next_claim: str, data: Data, pair_kind: How, **more: Any
) -> Any:
    """Return the two experiments of a figure: over epsilon, and over k_s."""
    chains = bool(more)
    options: dict[str, Any] = TOP | ({"longest": 3} if chains else {})
    metrics = (*METRICS, Metric(name="chains_found", label="of three items, found", share=True)) if chains else METRICS
    over_epsilon = Experiment(
        name=f"003-e{number}",
        paper="003",
        shows=f"Experiment E{number}, {shows} (a) to (c)",
        title=f"{title}, over ε (k = 64, k_s = 1,600, k_c = 32)",
        says=says,
        data=(data,),
        lines=_lines(pair_kind, **more),
        axis=EPSILON,
        asked=options,
        measure="relations",
        metrics=metrics,
        differs=f"{_FORMS} {_NO_TABLES} {_STANDS_IN} {_AXIS}",
    )
    over_support = replace(
        over_epsilon,
        name=f"003-e{number + 1}",
        shows=f"Experiment E{number + 1}, {shows} (d) to (f)",
        title=f"{title}, over k_s (ε = 4, k = 64, k_c = 32)",
        says=next_claim,
        axis=SUPPORT,
        asked=options | BUDGET,
    )
    return over_epsilon, over_support


# The numbers of table 3: F1, NCR and VAR on Retail, then on Retail*.
TABLE_3 = {
    "LDP-RM": (0.558, 0.640, 0.246, 0.546, 0.654, 0.180),
    "SVSM": (0.554, 0.435, 0.317, 0.463, 0.396, 0.308),
    "CALM": (0.183, 0.195, 0.568, 0.108, 0.159, 0.461),
    "SVIM": (0.0, 0.0, 0.603, 0.0, 0.0, 0.491),
    "PCKV": (0.0, 0.0, 0.603, 0.0, 0.0, 0.491),
    "HM-RM": (0.325, 0.329, 0.414, 0.379, 0.437, 0.285),
}

ASSOCIATION = Experiment(
    name="003-table-3",
    paper="003",
    shows="Experiments E7 and E8, Table 3",
    title="association rules (ε = 4, k = 64, k_s = 1,600, k_c = 32)",
    says=(
        "On Retail LDP-RM has SVSM's F1 and better NCR and VAR; without the eight most frequent items (Retail*) SVSM"
        " falls behind. CALM, SVIM, PCKV and HM-RM do poorly."
    ),
    data=(RETAIL, RETAIL_STAR),
    lines=_lines("together"),
    asked=TOP | BUDGET,
    measure="relations",
    repeats=5,
    metrics=METRICS,
    differs=(
        f"{_FORMS} Retail is told by its numbers of items and people, and what Retail* leaves out is not said:"
        " here it is the items."
    ),
    printed={
        (data.shown, label, "", metric.name): numbers[3 * place + metric_index]
        for label, numbers in TABLE_3.items()
        for place, data in enumerate((RETAIL, RETAIL_STAR))
        for metric_index, metric in enumerate(METRICS)
    },
)

ITEMS = Experiment(
    name="003-e9",
    paper="003",
    shows="Experiment E9, Figure 6 (a) to (c)",
    title="single items of a long list, with few people, over ε (k = 32)",
    says="SVD-FO is better than SVIM and PCKV where there are about as many items as people.",
    data=(KOSARAK,),
    lines=(
        Line(label="SVD-FO", name="svd-fo"),
        Line(label="SVIM", name="svim"),
        Line(label="`svim-better`", name="svim-better"),
    ),
    axis=EPSILON,
    asked=TOP | {"longest": 1},
    measure="simulation",
    repeats=5,
    metrics=(F_SCORE, RANK, Metric(name="support_squared_error", label="squared error of hits", logarithmic=True)),
    differs=(
        "Kosarak is a part: 50,000 people drawn from 100,000, with 23,496 items. SVD-FO has the corrected rounds. PCKV"
        f" is left out: for items without values it is SVIM's padding and sampling. {_AXIS}"
    ),
)

_GIVEN_PAIRS = {"how": "given"}
PRIVATE = Line(label="LDP-RM", name="relations", settings=_GIVEN_PAIRS | {"form": "printed"})
CORRECTED = Line(label="`relations`", name="relations", settings=_GIVEN_PAIRS)
ABLATION = Experiment(
    name="003-e11",
    paper="003",
    shows="Experiment E11, Figure 7 (a) to (c)",
    title="with and without noise, over the number of rounds T (ε = 4, θ = 0.5)",
    says="T = 5 is recommended (Table 4); the text about the experiment is not in our copy.",
    data=(APPLETS,),
    lines=(
        PRIVATE,
        replace(PRIVATE, label="LDP-RM, next to no noise (ε = 20)", asked={"epsilon": "20"}),
        CORRECTED,
        replace(CORRECTED, label="`relations`, next to no noise (ε = 20)", asked={"epsilon": "20"}),
    ),
    axis=Axis(of="settings.rounds", label="T", values=(1, 2, 3, 5, 8)),
    asked=TOP | BUDGET,
    measure="relations",
    repeats=5,
    metrics=METRICS,
    differs=(
        "What *non-private* leaves out is not said: here everything is as before at ε = 20, where each person still"
        f" answers one question. {_STANDS_IN} {_AXIS}"
    ),
)

SINGLE = replace(
    ABLATION,
    name="003-e13",
    shows="Experiment E13, Figure 8 (a) to (c)",
    title="with and without rounds, over ε",
    says="LDP-RM is significantly better than LDP-RM*, which does not iterate.",
    lines=tuple(
        Line(label=label, name="relations", settings=_GIVEN_PAIRS | settings)
        for label, settings in (
            ("LDP-RM", {"form": "printed"}),
            ("LDP-RM*, one round", {"form": "printed", "rounds": 1}),
            ("LDP-RM*, the guess alone", {"form": "printed", "rounds": 0}),
            ("`relations`", {}),
            ("`relations`, one round", {"rounds": 1}),
        )
    ),
    axis=EPSILON,
    asked=TOP,
    differs=f"Whether LDP-RM* has one round or none is not said: both are here. {_STANDS_IN} {_AXIS}",
)

OVERHEAD = Experiment(
    name="003-table-2",
    paper="003",
    shows="Table 2",
    title="what a run costs (ε = 4, k = 64, k_s = 1,600)",
    says=(
        "On devices of the second group LDP-RM costs k² + log r, the others log k_s, and CALM 2^l; LDP-RM is slightly"
        " slower than SVSM and PCKV, and superior to CALM."
    ),
    data=(replace(RETAIL, people=100_000),),
    lines=_lines("together"),
    asked=TOP | BUDGET,
    measure="overhead",
    metrics=(
        Metric(name="device_items", label="µs a person, items"),
        Metric(name="device_matrix", label="µs a person, the matrix"),
        Metric(name="device_relations", label="µs a person, relations"),
        Metric(name="collector", label="µs a person, collector"),
        Metric(name="report", label="bytes of the largest report", digits=0),
        Metric(name="question", label="bytes of the largest question", digits=0),
    ),
    repeats=5,
    differs=(
        "The article has orders of growth; here seconds are measured, of compiled code on one core, the least of five"
        " times, as are the bytes that travel."
    ),
)

EXPERIMENTS = (
    *_figure(
        1,
        "Figure 3",
        "relations of IFTTT",
        "LDP-RM is always the best; SVSM is better than PCKV below ε = 2; SVIM and CALM find next to nothing; HM-RM is"
        " worse than LDP-RM.",
        "F1 and NCR rise with k_s and VAR falls. LDP-RM is always the best.",
        APPLETS,
        "given",
    ),
    *_figure(
        3,
        "Figure 4",
        "relations in time of Movie",
        "The text about it is not in our copy; the introduction has LDP-RM effective, and all others not.",
        "The same over k_s.",
        VIEWINGS,
        "after",
    ),
    *_figure(
        5,
        "Figure 5",
        "relations of three items too, of modified IFTTT",
        "The text about it is not in our copy; section 6.1 says that LDP-RM finds such relations too.",
        "The same over k_s.",
        CASCADES,
        "given",
        cascade=_CASCADE,
    ),
    ASSOCIATION,
    ITEMS,
    replace(
        ITEMS,
        name="003-e10",
        shows="Experiment E10, Figure 6 (d) to (f)",
        title="single items of a long list, with few people, over k (ε = 4)",
        axis=Axis(of="top", label="k", values=(16, 32, 64, 96, 128)),
        asked=BUDGET | {"longest": 1},
    ),
    ABLATION,
    replace(
        ABLATION,
        name="003-e12",
        shows="Experiment E12, Figure 7 (d) to (f)",
        title="with and without noise, over the share θ of the singular values (ε = 4, T = 5)",
        says=(
            "Without noise F1 and NCR are nearly perfect at θ = 1, where the rank is 64; with noise they begin to fall"
            " above θ = 0.5, since more numbers are to be estimated."
        ),
        axis=Axis(of="theta", label="θ", values=("0.3", "0.5", "0.7", "0.9", "1")),
    ),
    SINGLE,
    replace(
        SINGLE,
        name="003-e14",
        shows="Experiment E14, Figure 8 (d) to (f)",
        title="with and without rounds, over k_s (ε = 4)",
        axis=SUPPORT,
        asked=TOP | BUDGET,
    ),
    OVERHEAD,
)
