"""Chen, Wang 2022: frequent itemsets under local privacy through a prefix tree (LDP-FPMiner)."""

from __future__ import annotations

from ..run.experiment import Axis, Data, Experiment, Line, Metric

TITLE = "LDP-FPMiner (Chen, Wang 2022)"

# The weights of table 2, of paths and of itemsets, for each set.
_WEIGHTS = {"fp-tree": {"path_weight": "0.9", "itemset_weight": "0.7"}}
_POS_WEIGHTS = {"fp-tree": {"path_weight": "0.7", "itemset_weight": "0.5"}}
SYNTHETIC = Data(name="quest-fp-tree", label="Synthetic (made up)", settings=_WEIGHTS)
KOSARAK = Data(name="kosarak_100k", label="Kosarak (first 100,000)", people=990_002, settings=_WEIGHTS)
POS = Data(name="BMS-POS_275k", label="BMS-POS (275,000 of 515,597)", people=515_597, settings=_POS_WEIGHTS)
SETS = (SYNTHETIC, KOSARAK, POS)

RANK = Metric(name="cumulative_rank", label="NCR", share=True)
ERROR = Metric(name="squared_error", label="Var, squared error of the counts of hits", logarithmic=True)

PRINTED = {
    "inference": "printed",
    "balance": "printed",
    "corrected": False,
    "oracle": "olh",
    "size_oracle": "olh",
    "robust": False,
}
SETTINGS_WITHOUT = {
    "PWC": {"path_weight": "1"},
    "CCI": {"inference": "none"},
    "NPB": {"balance": "none"},
    "IWC": {"itemset_weight": "1"},
}
FPMINER = Line(label="LDP-FPMiner, as printed", name="fp-tree", settings=PRINTED)
CORRECTED = Line(label="LDP-FPMiner, corrected", name="fp-tree")
COMPARED = (
    Line(label="SVSM", name="svsm"),
    FPMINER,
    CORRECTED,
    Line(label="`svsm-better`", name="svsm-better"),
    Line(label="`adept`", name="adept"),
)
TOP = Axis(of="top", label="k", values=(20, 40, 60, 80, 100))

_AXIS = "The figures are pictures without numbers, so the points of the axis are ours. Five repeats; the paper has 20."
_PART = "BMS-POS and Kosarak are parts, drawn from with replacement until there are as many people as in the paper."
_SYNTHETIC_DATA = (
    "Of the synthetic set people and items are stated: the rest is the default of IBM's generator, but patterns of 5."
)
_FORMS = (
    "*As printed* has the printed inference and balance and OLH, but one scale and true prefixes (B2 to B7), without"
    " which nothing comes out; *corrected* has the forms of B5, B8, B9 and B12. NCR is by true ranks (B14)."
)


def optimised(*uses: str, printed: bool = True) -> Line:
    """Return LDP-FPMiner with some optimisations only."""
    settings: dict[str, object] = dict(PRINTED) if printed else {}
    for optimisation, settings_without in SETTINGS_WITHOUT.items():
        if optimisation not in uses:
            settings |= settings_without
    form = "" if printed else ", corrected"
    return Line(label=f"{' + '.join(uses) or 'none'}{form}", name="fp-tree", settings=settings)


def _optimisations(
    name: str, shows: str, title: str, says: str, uses_of_lines: tuple[tuple[str, ...], ...]
) -> Experiment:
    return Experiment(
        name=name,
        paper="001",
        shows=shows,
        title=f"{title} (ε = 1, BMS-POS)",
        says=says,
        data=(POS,),
        lines=tuple(optimised(*uses, printed=printed) for printed in (True, False) for uses in uses_of_lines),
        axis=TOP,
        asked={"epsilon": "1", "least": 2},
        measure="simulation",
        repeats=5,
        metrics=(RANK, ERROR),
        differs=f"{_FORMS} {_PART} {_AXIS}",
    )


EXPERIMENTS = (
    Experiment(
        name="001-figure-4",
        paper="001",
        shows="Figure 4",
        title="itemsets of two items and more, over ε (k = 50 and 100)",
        says=(
            "LDP-FPMiner is significantly ahead of SVSM, most of all at a small ε; at k = 100 it is even ahead of SVSM"
            " at k = 50. Both do best on the synthetic set."
        ),
        data=SETS,
        lines=COMPARED,
        axis=Axis(of="epsilon", label="ε", values=("0.5", "1", "2", "3", "4")),
        over=Axis(of="top", label="k", values=(50, 100)),
        asked={"least": 2},
        measure="simulation",
        repeats=5,
        metrics=(RANK, ERROR),
        differs=f"{_FORMS} {_PART} {_SYNTHETIC_DATA} {_AXIS}",
    ),
    Experiment(
        name="001-figure-5",
        paper="001",
        shows="Figure 5",
        title="itemsets of two items and more, over k (ε = 1 and 2)",
        says=(
            "At ε = 1 LDP-FPMiner is ahead of SVSM on all sets; at ε = 2 it is on two, and level on BMS-POS. Its Var is"
            " lower almost everywhere."
        ),
        data=SETS,
        lines=COMPARED[:-1],
        axis=TOP,
        over=Axis(of="epsilon", label="ε", values=("1", "2")),
        asked={"least": 2},
        measure="simulation",
        repeats=5,
        metrics=(RANK, ERROR),
        differs=f"{_FORMS} {_PART} {_SYNTHETIC_DATA} {_AXIS}",
    ),
    Experiment(
        name="001-figure-6",
        paper="001",
        shows="Figure 6",
        title="how much a mined count weighs against the guess: ω (k = 100)",
        says="Weighing in the guess helps: ω = 1, which does not, is worse. The best ω balances NCR and Var.",
        data=SETS,
        lines=(FPMINER, CORRECTED),
        axis=Axis(of="settings.itemset_weight", label="ω", values=("0.1", "0.3", "0.5", "0.7", "0.9", "1")),
        over=Axis(of="epsilon", label="ε", values=("1", "2")),
        asked={"top": 100, "least": 2},
        measure="simulation",
        repeats=5,
        metrics=(RANK, ERROR),
        differs=f"{_FORMS} {_PART} {_SYNTHETIC_DATA} {_AXIS}",
    ),
    _optimisations(
        "001-figure-7",
        "Figure 7",
        "one optimisation at a time",
        "PWC and CCI raise NCR and Var, NPB lowers both, IWC raises NCR and lowers Var.",
        ((), ("PWC",), ("CCI",), ("NPB",), ("IWC",)),
    ),
    _optimisations(
        "001-figure-8",
        "Figure 8",
        "optimisations together",
        "PWC and CCI together raise NCR and Var; with NPB NCR rises further and Var falls below that of none; with IWC"
        " both are best.",
        ((), ("PWC", "CCI"), ("PWC", "CCI", "NPB"), ("PWC", "CCI", "NPB", "IWC")),
    ),
)
