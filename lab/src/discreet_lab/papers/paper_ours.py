"""The methods of this package beside the mechanisms of the papers at equal epsilon, and the goals for them.

Constants were fitted on some data sets; the further data sets are marked as set aside (`ASIDE`).
"""

from __future__ import annotations

from dataclasses import replace

from ..run.experiment import Axis, Data, Experiment, Goal, Line, Metric

TITLE = "The flagships beside the papers"

ASIDE = " (set aside)"
POS, KOSARAK = "BMS-POS (275,000 of 515,597)", "kosarak (first 100,000)"

CURATOR = (
    Data(name="retail"),
    Data(name="T10I4D100K"),
    Data(name="BMS-WebView-1"),
    Data(name="kosarak_100k", label=KOSARAK),
    Data(name="mushroom"),
    Data(name="chess"),
    Data(name="BMS-WebView-2", label=f"BMS-WebView-2{ASIDE}"),
    Data(name="BMS-POS_275k", label=f"{POS}{ASIDE}"),
    Data(name="OnlineRetail_words", label=f"OnlineRetail words{ASIDE}"),
    Data(name="connect", label=f"connect{ASIDE}"),
    Data(name="groceries", label=f"groceries{ASIDE}"),
    Data(name="accidents_reduced", label=f"accidents (reduced){ASIDE}"),
    Data(name="OnlineRetail_baskets", label=f"OnlineRetail baskets{ASIDE}"),
)
LOCAL = (
    Data(name="OnlineRetail_words", label="OnlineRetail words"),
    Data(name="kosarak_100k", label=KOSARAK, people=990_002),
    Data(name="T10I4D100K", people=500_000),
    Data(name="BMS-POS_275k", label=f"{POS}{ASIDE}"),
    Data(name="retail", label=f"retail{ASIDE}", people=528_972),
    Data(name="msnbc_seq", label=f"MSNBC sets{ASIDE}"),
    Data(name="BMS-WebView-2", label=f"BMS-WebView-2{ASIDE}", people=465_072),
)
_C = {data.name: data for data in CURATOR}
_L = {data.name: data for data in LOCAL}

MISSED_SHARE = Metric(name="false_negative_rate", label="missed", share=True)
RANK = Metric(name="cumulative_rank", label="NCR", share=True)
F_SCORE = Metric(name="f_score", label="F-score", share=True)
MEDIAN_ERROR = Metric(name="median_relative_error", label="median relative error", digits=3)
SQUARED = Metric(name="support_squared_error", label="squared error of supports of hits", logarithmic=True)
COVERED = Metric(name="covered", label="intervals that hold the true count", share=True)

THEIRS = tuple(Line(label=f"`{name}`", name=name) for name in ("exponential", "laplace", "privbasis"))
# `peeling` builds longer patterns of shorter ones, so it is not asked for patterns of one length.
OURS = tuple(Line(label=f"`{name}`", name=name) for name in ("clipped", "bases", "peeling", "auto"))
PROTOCOLS = (
    Line(label="`ldpminer`", name="ldpminer"),
    Line(label="`svsm`", name="svsm"),
    Line(label="`svsm-better`", name="svsm-better"),
    Line(label="`fp-tree`", name="fp-tree"),
    Line(label="`adept`", name="adept"),
)
# An upper mark: the question is about the true top, so that no report is spent on the search.
TRUE_TOP = Line(label="the true top, asked once", name="reference", cheats=True)
REDUCED_PROTOCOLS = (
    Line(label="`adept`", name="adept"),
    Line(label="one item of the basket each", name="adept", settings={"oracle": "grr-or-olh"}),
    Line(label="a first padding of 1", name="adept", settings={"first_padding": 1}),
    Line(label="no prior", name="adept", settings={"prior": False}),
    Line(label="later rounds about the likeliest", name="adept", settings={"later": "likeliest"}),
    Line(label="only the newest round counts", name="adept", settings={"merged": False}),
)
EPSILONS = Axis(of="epsilon", label="ε", values=("0.1", "0.5", "1"))
LOCAL_EPSILONS = Axis(of="epsilon", label="ε", values=("0.5", "1", "2", "4"))
LOCAL_ENDS = replace(LOCAL_EPSILONS, values=("1", "4"))

_ITEMS = {
    "BMS-POS_275k": (0.04, 0.02, 0.01),
    "BMS-WebView-1": (0.02, 0.01, 0.005),
    "BMS-WebView-2": (0.015, 0.01, 0.005),
    "retail": (0.02, 0.01),
    "kosarak_100k": (0.02, 0.01),
}
_ITEMSETS = {
    "BMS-POS_275k": (0.06, 0.03),
    "BMS-WebView-1": (0.02, 0.01),
    "BMS-WebView-2": (0.015, 0.01),
    "retail": (0.03, 0.015),
    "kosarak_100k": (0.04, 0.02),
    "mushroom": (0.6, 0.5),
}
_TOP = {
    "retail": 0.12,
    "T10I4D100K": 0.07,
    "BMS-WebView-1": 0.13,
    "BMS-WebView-2": 0.25,
    "kosarak_100k": 0.05,
    "BMS-POS_275k": 0.02,
    "OnlineRetail_words": 0.02,
    "mushroom": 0.03,
    "connect": 0.02,
}
_RANKS = {
    "OnlineRetail_words": (0.82, 0.93),
    "BMS-POS_275k": (0.85, 0.96),
    "kosarak_100k": (0.86, 0.98),
    "T10I4D100K": (0.79, 0.95),
    "retail": (0.64, 0.89),
}


def _set_values(data: Data, values: tuple[float, ...]) -> Data:
    return replace(data, values=values)


TOP = Experiment(
    name="ours-top-100",
    paper="ours",
    shows="Top 100",
    title="the hundred most frequent patterns of any length, pure epsilon",
    says="The papers' mechanisms, PrivBasis and ours at equal epsilon.",
    data=CURATOR,
    lines=(*THEIRS, *OURS),
    axis=EPSILONS,
    asked={"top": 100},
    measure="release",
    metrics=(MISSED_SHARE, RANK, MEDIAN_ERROR, COVERED),
    goals=tuple(
        Goal(panel=_C[name].shown, line="`auto`", value="0.5", metric=MISSED_SHARE.name, at_most=goal)
        for name, goal in _TOP.items()
    ),
)
SETTINGS = (
    TOP,
    replace(
        TOP,
        name="ours-top-10",
        shows="Top 10",
        title="the ten most frequent patterns of any length, pure epsilon",
        asked={"top": 10},
        goals=(),
    ),
    replace(
        TOP,
        name="ours-top-20",
        shows="Top 20",
        title="the twenty most frequent patterns of any length, pure epsilon",
        asked={"top": 20},
        goals=(),
    ),
    replace(
        TOP,
        name="ours-top-400",
        lines=(*THEIRS[::2], *OURS),
        shows="Top 400",
        title="the 400 most frequent patterns of any length, pure epsilon",
        asked={"top": 400},
        metrics=(MISSED_SHARE, MEDIAN_ERROR),
        repeats=5,
        goals=(),
    ),
    replace(
        TOP,
        name="ours-top-100-delta",
        lines=(*THEIRS[::2], *OURS),
        shows="Top 100 with a delta",
        title="the hundred most frequent patterns of any length, δ = 1e-6",
        asked={"top": 100, "delta": "1e-6"},
        metrics=(MISSED_SHARE, MEDIAN_ERROR, COVERED),
        repeats=5,
        goals=(),
    ),
    replace(
        TOP,
        name="ours-lengths",
        lines=(*THEIRS[::2], *(line for line in OURS if line.name != "peeling")),
        shows="Fixed length",
        title="the fifty most frequent patterns of three items",
        data=tuple(_C[name] for name in ("retail", "BMS-WebView-1", "mushroom", "BMS-POS_275k")),
        asked={"top": 50, "lengths": 3},
        metrics=(MISSED_SHARE,),
        goals=(),
    ),
    replace(
        TOP,
        name="ours-lengths-2",
        lines=(*THEIRS[::2], *(line for line in OURS if line.name != "peeling")),
        shows="Fixed length, pairs",
        title="the fifty most frequent pairs",
        data=tuple(_C[name] for name in ("retail", "BMS-WebView-1", "mushroom", "BMS-POS_275k")),
        asked={"top": 50, "lengths": 2},
        metrics=(MISSED_SHARE,),
        goals=(),
    ),
    Experiment(
        name="ours-items",
        paper="ours",
        shows="Single items over a threshold",
        title="ε = 0.25",
        says="Counting all items at once, each person scaled down, beside truncating and beside picks.",
        data=tuple(_set_values(_C[name], values) for name, values in _ITEMS.items()),
        lines=(
            Line(label="`truncated-items`", name="truncated-items"),
            Line(label="`privbasis`", name="privbasis"),
            Line(label="`clipped`", name="clipped"),
            Line(label="`auto`", name="auto"),
        ),
        axis=Axis(of="fraction", label="threshold", values=()),
        asked={"epsilon": "0.25", "lengths": 1},
        measure="release",
        metrics=(F_SCORE, MEDIAN_ERROR, COVERED),
        goals=(
            *(
                Goal(panel=_C["BMS-POS_275k"].shown, line="`auto`", value=value, metric=F_SCORE.name, at_least=0.97)
                for value in ("0.04", "0.02", "0.01")
            ),
            *(
                Goal(panel="BMS-WebView-1", line="`auto`", value=value, metric=F_SCORE.name, at_least=0.92)
                for value in ("0.02", "0.01", "0.005")
            ),
        ),
    ),
    Experiment(
        name="ours-threshold",
        paper="ours",
        shows="All patterns over a threshold",
        title="ε = 0.25 and ε = 1",
        says="Truncating as published and as by default, PrivBasis, and ours.",
        data=tuple(_set_values(_C[name], values) for name, values in _ITEMSETS.items()),
        lines=(
            Line(label="`truncated-naive`", name="truncated-naive"),
            Line(label="`truncated`", name="truncated"),
            Line(label="`privbasis`", name="privbasis"),
            Line(label="`clipped`", name="clipped"),
            Line(label="`bases`", name="bases"),
            Line(label="`auto`", name="auto"),
        ),
        axis=Axis(of="fraction", label="threshold", values=()),
        over=Axis(of="epsilon", label="ε", values=("0.25", "1")),
        measure="release",
        metrics=(F_SCORE, MEDIAN_ERROR, COVERED),
        goals=(
            *(
                Goal(
                    panel=f"{_C['BMS-POS_275k'].shown}, ε = 1",
                    line="`auto`",
                    value=value,
                    metric=F_SCORE.name,
                    at_least=0.98,
                )
                for value in ("0.06", "0.03")
            ),
            Goal(panel="BMS-WebView-1, ε = 1", line="`auto`", value="0.01", metric=F_SCORE.name, at_least=0.92),
            Goal(panel="mushroom, ε = 1", line="`auto`", value="0.5", metric=F_SCORE.name, at_least=0.99),
        ),
    ),
)

# One setting changed at a time: the line, the mechanism, the settings.
_CHANGED: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("`clipped`", "clipped", {}),
    ("`clipped`, 10 pairs a pattern, not 30", "clipped", {"pairs": 10}),
    ("`clipped`, 60 pairs a pattern", "clipped", {"pairs": 60}),
    ("`bases`", "bases", {}),
    ("`bases`, nothing to spare, not 1/20", "bases", {"spare": "1"}),
    ("`bases`, 1/4 to spare", "bases", {"spare": "1.25"}),
    ("`bases`, bases of 6 items, not 12", "bases", {"largest": 6}),
    ("`privbasis`, none of what `bases` adds", "privbasis", {}),
    ("`peeling`", "peeling", {}),
    ("`peeling`, 2/5 for picking, not 3/5", "peeling", {"selecting": "0.4"}),
    ("`peeling`, 4/5 for picking", "peeling", {"selecting": "0.8"}),
    ("`auto`, which chooses among these", "auto", {}),
)
ABLATIONS = replace(
    TOP,
    name="ours-ablations",
    shows="One ingredient changed",
    title="the hundred most frequent patterns of any length, one setting changed at a time",
    says="Each mechanism as it is, and with one setting changed; at the end what `auto` makes of them.",
    data=CURATOR[:5],
    lines=tuple(Line(label=label, name=name, settings=settings) for label, name, settings in _CHANGED),
    metrics=(MISSED_SHARE, MEDIAN_ERROR, COVERED),
    repeats=5,
    differs=(
        "Only what has a setting can be changed here. Shares of the budget, how often `clipped` counts again, its"
        " histogram and its correction, and the rules of `auto` are constants: their proof pages have tables of them."
    ),
    goals=(),
)

ADEPT = Experiment(
    name="ours-local-64",
    paper="ours",
    shows="Local, top 64",
    title="the 64 most frequent patterns of any length, one report a person",
    says="The papers' protocols and ours at equal epsilon; every report is made.",
    data=LOCAL,
    lines=(*PROTOCOLS, TRUE_TOP),
    axis=LOCAL_EPSILONS,
    asked={"top": 64, "speed": "person"},
    measure="simulation",
    metrics=(RANK, F_SCORE, MEDIAN_ERROR, SQUARED, COVERED),
    goals=tuple(
        Goal(panel=_L[name].shown, line="`adept`", value=value, metric=RANK.name, at_least=goal)
        for name, goals in _RANKS.items()
        for value, goal in zip(("1", "2"), goals, strict=True)
    ),
)
LOCAL_SETTINGS = (
    ADEPT,
    replace(
        ADEPT,
        name="ours-local-64-longer",
        shows="Local, top 64 of two items and more",
        title="the 64 most frequent patterns of two items and more",
        asked={"top": 64, "least": 2},
        lines=(*PROTOCOLS[1:], TRUE_TOP),
        axis=LOCAL_ENDS,
        metrics=(RANK, F_SCORE, MEDIAN_ERROR),
        says="The same, of longer patterns; what reports add up to is drawn.",
        repeats=5,
        goals=(),
    ),
    replace(
        ADEPT,
        name="ours-local-100",
        shows="Local, top 100",
        title="the hundred most frequent patterns of any length",
        asked={"top": 100},
        lines=(*PROTOCOLS, TRUE_TOP),
        axis=LOCAL_ENDS,
        metrics=(RANK, F_SCORE, MEDIAN_ERROR),
        says="The same for 100; what reports add up to is drawn.",
        repeats=5,
        goals=(),
    ),
    replace(
        ADEPT,
        name="ours-local-ablations",
        shows="Local, what each part is for",
        title="`adept` with one of its parts left out",
        asked={"top": 64},
        data=LOCAL[:4],
        lines=REDUCED_PROTOCOLS,
        metrics=(RANK, F_SCORE, MEDIAN_ERROR, COVERED),
        says="Every line leaves out one part; what reports add up to is drawn.",
        repeats=5,
        goals=(),
    ),
)

EXPERIMENTS = (*SETTINGS, ABLATIONS, *LOCAL_SETTINGS)
