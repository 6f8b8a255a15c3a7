"""LDPMiner in the form of Wang, Li, Jha 2018: sizes, candidates padded to them, estimates padded to all candidates.

The published form takes the padding from the raw data and asks each person twice; this form does neither (A16).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..study import Padding
from .svim import SVIM


@dataclass(frozen=True, kw_only=True)
class LDPMiner(SVIM):
    """Find the most frequent items as LDPMiner does, as a baseline for SVIM."""

    shares: tuple[str, str, str, str] = ("0.1", "0.4", "0", "0.5")
    first_oracle: str = "blh"
    first_padding: Padding = "percentile"
    oracle: str = "sue"
    padding: Padding = "all"
    corrected: bool = False

    name: ClassVar[str] = "ldpminer"
    summary: ClassVar[str] = "the most frequent items, padded to all candidates: for comparison, simulated only"
    live: ClassVar[bool] = False
    citation: ClassVar[str] = "Qin, Yang, Yu, Khalil, Xiao, Ren 2016; this form: Wang, Li, Jha 2018, section VI"
