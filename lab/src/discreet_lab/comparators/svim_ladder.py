"""What Wang, Li, Jha 2018 compare in figures 3 and 4, as protocols with settings: from LDPMiner up to SVIM and SVSM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from discreet.local import Protocol
from discreet.local.protocols import SVIM, SVSM, LDPMiner, SVIMBetter, SVSMBetter

from ..run.experiment import Line

_LONG: Mapping[str, Any] = {"shares": ("0.1", "0.4", "0", "0.5"), "first_padding": "percentile"}
_SHORT: Mapping[str, Any] = {"shares": ("0", "0.5", "0", "0.5"), "first_padding": 1}
_ALL: Mapping[str, Any] = {"padding": "all", "corrected": False, "first_oracle": "olh"}

FIGURE_3: Mapping[str, Protocol] = {
    "(BLH, L), (SUE, 2k)": LDPMiner(),
    "(OLH, L), (OLH, 2k)": SVIM(**_LONG, **_ALL, oracle="olh"),
    "(OLH, 1), (OLH, 2k)": SVIM(**_SHORT, **_ALL, oracle="olh"),
    "(OLH, 1), (Adap, 2k)": SVIM(**_SHORT, **_ALL),
    "(OLH, 1), (Adap, L)": SVIM(first_oracle="olh", corrected=False),
    "(OLH, 1), (Adap, L)(c)": SVIM(first_oracle="olh"),
    "`svim-better`": SVIMBetter(),
}
"""The ladder of figure 3, from its foot, and what this package adds at its head."""

FIGURE_4: Mapping[str, Protocol] = {
    # Its first phase finds the items, its second estimates them, and then the itemsets in the same way.
    "SVSM with LDPMiner": SVSM(
        items="ldpminer", shares=("0.5", "0", "0.5"), oracle="sue", padding="all", corrected=False
    ),
    "SVSM": SVSM(),
    "`svsm-better`": SVSMBetter(),
}
"""The itemset miners of figure 4, and what this package adds."""


def as_line(label: str, plan: Protocol) -> Line:
    """Return a protocol as a line of an experiment: its name, and the settings that are not the usual ones."""
    every = {one.name: (getattr(plan, one.name), one.default) for one in fields(plan)}  # type: ignore[arg-type]
    return Line(
        label=label, name=plan.name, settings={name: one for name, (one, usual) in every.items() if one != usual}
    )
