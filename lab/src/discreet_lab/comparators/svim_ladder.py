"""The protocols of figures 3 and 4 of Wang, Li, Jha 2018 with settings: from LDPMiner to SVIM and SVSM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from discreet.local import Protocol
from discreet.local.protocols import SVIM, SVSM, LDPMiner, SVIMBetter, SVSMBetter

from ..run.experiment import Line

_LONG_FIRST_ROUND: Mapping[str, Any] = {"shares": ("0.1", "0.4", "0", "0.5"), "first_padding": "percentile"}
_SHORT_FIRST_ROUND: Mapping[str, Any] = {"shares": ("0", "0.5", "0", "0.5"), "first_padding": 1}
_ALL_VALUES: Mapping[str, Any] = {"padding": "all", "corrected": False, "first_oracle": "olh"}

FIGURE_3: Mapping[str, Protocol] = {
    "(BLH, L), (SUE, 2k)": LDPMiner(),
    "(OLH, L), (OLH, 2k)": SVIM(**_LONG_FIRST_ROUND, **_ALL_VALUES, oracle="olh"),
    "(OLH, 1), (OLH, 2k)": SVIM(**_SHORT_FIRST_ROUND, **_ALL_VALUES, oracle="olh"),
    "(OLH, 1), (Adap, 2k)": SVIM(**_SHORT_FIRST_ROUND, **_ALL_VALUES),
    "(OLH, 1), (Adap, L)": SVIM(first_oracle="olh", corrected=False),
    "(OLH, 1), (Adap, L)(c)": SVIM(first_oracle="olh"),
    "`svim-better`": SVIMBetter(),
}
"""The protocols of figure 3, from LDPMiner to SVIM, and the protocol of this package."""

FIGURE_4: Mapping[str, Protocol] = {
    # Its first phase finds the items, its second estimates them, and then the itemsets likewise.
    "SVSM with LDPMiner": SVSM(
        items="ldpminer", shares=("0.5", "0", "0.5"), oracle="sue", padding="all", corrected=False
    ),
    "SVSM": SVSM(),
    "`svsm-better`": SVSMBetter(),
}
"""The itemset miners of figure 4, and the protocol of this package."""


def as_line(label: str, plan: Protocol) -> Line:
    """Return a protocol as a line of an experiment: its name, and the settings that differ from the defaults."""
    values = {field.name: (getattr(plan, field.name), field.default) for field in fields(plan)}  # type: ignore[arg-type]
    return Line(
        label=label,
        name=plan.name,
        settings={name: value for name, (value, default) in values.items() if value != default},
    )
