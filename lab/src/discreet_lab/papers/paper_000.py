"""Wang, Li, Jha 2018: frequent items and itemsets under local privacy, by padding and sampling (SVIM, SVSM)."""

from __future__ import annotations

from collections.abc import Mapping

from ..comparators.svim_ladder import FIGURE_3, FIGURE_4, as_line
from ..run.experiment import Axis, Data, Experiment, Line, Metric

TITLE = "Locally differentially private frequent itemset mining (Wang, Li, Jha 2018)"

POS = Data(name="BMS-POS_275k", label="POS (275,000 of 515,597)", people=515_597)
KOSARAK = Data(name="kosarak_100k", label="Kosarak (first 100,000)", people=990_002)
ONLINE = Data(name="OnlineRetail_words", label="Online (rebuilt)")
SYNTHETIC = Data(name="quest-svsm", label="Synthetic (made up)")

RANK = Metric(name="cumulative_rank", label="NCR", share=True)
ERROR = Metric(name="squared_error", label="Var, squared error of the counts of hits", logarithmic=True)
HITS = Metric(name="precision", label="found among the top k", share=True)

EPSILON = Axis(of="epsilon", label="ε", values=("0.5", "1", "2", "3", "4"))
TOP = Axis(of="top", label="k", values=(16, 32, 64, 96, 128))

LADDER = tuple(as_line(label, plan) for label, plan in FIGURE_3.items())
ITEMSETS = (
    *(as_line(label, plan) for label, plan in FIGURE_4.items()),
    Line(label="`adept`", name="adept"),
)

_AXIS = "The figures are pictures without numbers, so the points of the axis are ours."
_PART = "POS and Kosarak are parts, drawn from with replacement until there are as many people as in the paper."
_REBUILT = "Online is rebuilt from the words of invoice lines; the synthetic set is made by a generator of our own."
_OURS = "Padding symbols differ, everybody reports, and sizes are corrected as they should be (A3 to A11)."


def _figure(
    name: str, shows: str, title: str, says: str, data: tuple[Data, ...], lines: tuple[Line, ...], longest: int | None
) -> tuple[Experiment, Experiment]:
    """Return a figure as two experiments: over epsilon at k = 64, and over k at epsilon 2."""
    options = {} if longest is None else {"longest": longest}
    experiments = []
    for axis, fixed_option, fixed_text in ((EPSILON, {"top": 64}, "k = 64"), (TOP, {"epsilon": "2"}, "ε = 2")):
        experiments.append(
            Experiment(
                name=f"{name}-{axis.of}",
                paper="000",
                shows=f"{shows}, over {axis.label}",
                title=f"{title} ({fixed_text})",
                says=says,
                data=data,
                lines=lines,
                axis=axis,
                asked=options | fixed_option,
                measure="simulation",
                metrics=(RANK, ERROR, HITS),
                differs=f"{_OURS} {_PART} {_REBUILT} {_AXIS}",
            )
        )
    return experiments[0], experiments[1]


# Rows of Tables II and III: epsilon, then epsilon' at each padding.
PADS = (2, 5, 10, 20, 50, 100)
TABLE_2 = {
    "0.1": (0.19, 0.42, 0.72, 1.13, 1.83, 2.44),
    "0.5": (0.83, 1.45, 2.01, 2.64, 3.51, 4.19),
    "1": (1.49, 2.26, 2.90, 3.57, 4.46, 5.15),
    "2": (2.62, 3.49, 4.17, 4.86, 5.77, 6.46),
    "4": (4.68, 5.59, 6.29, 6.98, 7.89, 8.59),
}
TABLE_3 = {
    "0.001": {
        "0.1": (0.10, 0.10, 0.11, 0.13, 0.15, 0.15),
        "0.5": (0.50, 0.50, 0.54, 0.62, 0.68, 0.80),
        "1": (1.00, 1.00, 1.24, 1.35, 1.59, 1.73),
        "2": (2.00, 2.20, 2.62, 3.10, 3.71, 4.28),
        "4": (4.00, 4.50, 5.19, 5.88, 6.80, 7.20),
    },
    "1e-9": {
        "0.1": (0.10, 0.10, 0.10, 0.10, 0.12, 0.14),
        "0.5": (0.50, 0.50, 0.50, 0.52, 0.59, 0.65),
        "1": (1.00, 1.00, 1.00, 1.07, 1.30, 1.51),
        "2": (2.00, 2.00, 2.00, 2.38, 2.93, 3.49),
        "4": (4.00, 4.00, 4.50, 5.04, 5.82, 6.51),
    },
}
SPENT_EPSILON = Metric(name="epsilon", label="ε'")
PADDING = Axis(of="padding", label="ℓ", values=PADS)
DELTA = Axis(of="delta", label="δ", values=tuple(TABLE_3))
BUDGETS = Axis(of="epsilon", label="ε", values=("0.1", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4"))


def _rows(name: str) -> tuple[Line, ...]:
    return tuple(Line(label=f"ε = {epsilon}", name=name, settings={"epsilon": epsilon}) for epsilon in TABLE_2)


def _curves(name: str) -> tuple[Line, ...]:
    return tuple(Line(label=f"ℓ = {pad}", name=name, settings={"padding": pad}) for pad in (1, *PADS))


def _printed(panel: str, table: Mapping[str, tuple[float, ...]]) -> dict[tuple[str, str, str, str], float]:
    return {
        (panel, f"ε = {epsilon}", str(pad), SPENT_EPSILON.name): number
        for epsilon, row in table.items()
        for pad, number in zip(PADS, row, strict=True)
    }


AMPLIFICATION = (
    Experiment(
        name="000-table-2",
        paper="000",
        shows="Table II",
        title="the ε' that randomised response may use after sampling one of ℓ",
        says="ε' = ln(ℓ(e^ε − 1) + 1): it grows by about ln ℓ.",
        lines=_rows("amplified"),
        axis=PADDING,
        measure="formula",
        metrics=(SPENT_EPSILON,),
        repeats=1,
        printed=_printed("", TABLE_2),
    ),
    Experiment(
        name="000-figure-1",
        paper="000",
        shows="Figure 1",
        title="the same, over ε",
        says="ε' lies above ε for every ℓ over 1, the more the larger ℓ is.",
        lines=_curves("amplified"),
        axis=BUDGETS,
        measure="formula",
        metrics=(SPENT_EPSILON,),
        repeats=1,
        differs=_AXIS,
    ),
    Experiment(
        name="000-table-3",
        paper="000",
        shows="Table III",
        title="the ε' that local hashing may use after sampling one of ℓ, but for δ",
        says="ε' is at least ε, and less than that of randomised response.",
        lines=_rows("hashed"),
        axis=PADDING,
        over=DELTA,
        measure="formula",
        metrics=(SPENT_EPSILON,),
        repeats=1,
        differs="Theorem 5 taken at its word allows more than is printed in 13 of the 60 places.",
        printed={
            key: number for delta, table in TABLE_3.items() for key, number in _printed(f"δ = {delta}", table).items()
        },
    ),
    Experiment(
        name="000-figure-5",
        paper="000",
        shows="Figure 5",
        title="the same, over ε",
        says="ε' lies above ε where ε or ℓ is large, the less the smaller δ is.",
        lines=_curves("hashed"),
        axis=BUDGETS,
        over=DELTA,
        measure="formula",
        metrics=(SPENT_EPSILON,),
        repeats=1,
        differs=_AXIS,
    ),
)

EXPERIMENTS = (
    *AMPLIFICATION,
    *_figure(
        "000-figure-3",
        "Figure 3",
        "single items, from LDPMiner up to SVIM, on POS",
        "NCR rises with ε and falls with k. Changing to Adap makes the largest step: NCR nearly doubles, and Var falls"
        " by two orders of magnitude.",
        (POS,),
        LADDER,
        1,
    ),
    *_figure(
        "000-figure-4",
        "Figure 4",
        "itemsets, SVSM with SVIM and with LDPMiner, on POS",
        "SVSM has an NCR of 0.7 at ε = 1 and 0.9 at ε = 2; with LDPMiner it stays at about 0.2, and Var is two orders"
        " of magnitude larger.",
        (POS,),
        ITEMSETS,
        None,
    ),
    *_figure(
        "000-figures-6-7",
        "Figures 6 (NCR) and 7 (Var)",
        "single items on the other sets",
        "As on POS; Kosarak is the hardest of the sets, because it has the most items. SVIM is ahead everywhere.",
        (KOSARAK, ONLINE, SYNTHETIC),
        LADDER,
        1,
    ),
    *_figure(
        "000-figure-8",
        "Figure 8",
        "itemsets on the other sets",
        "As on POS. The synthetic set is left out: its items are independent, and no itemset is frequent.",
        (KOSARAK, ONLINE),
        ITEMSETS,
        None,
    ),
)
