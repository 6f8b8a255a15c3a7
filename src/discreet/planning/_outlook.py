"""What is expected of one mechanism or protocol, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from typing import Any, Literal, TypeAlias

from ..results import read_fields

Side: TypeAlias = Literal["curator", "local"]

_WIDE = 6
_DIGITS = 4  # of a number that is shown
# What is said of people with several baskets is kept under this name.
EACH = "mean baskets each"

HEADS: dict[Side, str] = {"curator": "A curator who holds the baskets", "local": "Devices that keep their baskets"}


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What is expected of one mechanism or protocol.

    Parameters
    ----------
    name, side
        Which one, and on which side: ``"curator"`` or ``"local"``.
    precision, recall
        Which share of what it finds is right, and which share of what is right it finds; None where patterns are named
        and only counted.
    interval
        How far a count lies from the truth at most in 95 of 100 cases, in people. Infinite where nothing is found. A
        curator's is in baskets where people have several: of those that take part.
    visible
        The smallest support that can be told from noise. Infinite where none can.
    complete
        Whether all patterns that were asked for are seen: then smaller supports may be visible too.
    chosen
        The mechanism that would do the work, where it chooses one.
    max_baskets
        How many baskets of a person would take part in a curator's release, where people have several: 0 otherwise.
    questions
        How often a curator's engine goes through the data; 0 for a protocol.
    rounds, answering, report_bytes
        How many rounds a protocol has, how many people answer in the smallest of them, and the largest report in bytes;
        0 for a mechanism.
    shuffled
        The central epsilon of the smallest round once its reports are anonymous; None for a mechanism.
    """

    name: str
    side: Side
    precision: float | None
    recall: float | None
    interval: float
    visible: float
    complete: bool
    chosen: str = ""
    max_baskets: int = 0
    questions: int = 0
    rounds: int = 0
    answering: int = 0
    report_bytes: int = 0
    shuffled: Fraction | None = None

    @property
    def score(self) -> float:
        """The harmonic mean of precision and recall, by which forecasts are ordered; below 0 where there is none."""
        if self.precision is None or self.recall is None:
            return -1.0
        return (
            2 * self.precision * self.recall / (self.precision + self.recall) if self.precision + self.recall else 0.0
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; what is infinite is null."""
        values = {name: None if value in (inf, "") else value for name, value in vars(self).items()}
        shuffled = None if self.shuffled is None else float(self.shuffled)
        return values | {"max_baskets": self.max_baskets or None, "shuffled": shuffled}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Outlook:
        """Return the expectation that :meth:`to_dict` wrote; any error says what is wrong with the values."""
        absent = {"precision": None, "recall": None, "interval": inf, "visible": inf}
        return read_fields(cls, absent | {name: value for name, value in values.items() if value is not None})


def cells_of(one: Outlook) -> list[str]:
    """Return the cells of the row that shows an expectation."""
    off = most_off(one.interval) if isfinite(one.interval) else "–"
    name = f"{one.name} ({one.chosen})" if one.chosen else one.name
    cells = [name, _percent(one.precision), _bar(one.precision), _percent(one.recall), off, _visible(one)]
    if one.side == "curator":
        return [*cells, f"{one.questions:,}"]
    mixed = f"{float(one.shuffled):.3g}" if one.shuffled is not None else ""
    return [*cells, f"{one.rounds:,}", f"{one.report_bytes:,}", mixed]


def most_off(margin: float) -> str:
    """Return by how much counts are off at the most, in four digits: a forecast has no more.

    Examples
    --------
    >>> most_off(31_098.4), most_off(12.3)
    ('31,100', '12')
    """
    size = 10 ** max(0, len(f"{margin:.0f}") - _DIGITS)
    return f"{round(margin / size) * size:,}"


def units_of(asked: Mapping[str, Any], outlooks: Iterable[Outlook]) -> str:
    """Say what is counted and what is protected, where people have several baskets; nothing otherwise."""
    if EACH not in asked:
        return ""
    outlooks = tuple(outlooks)
    caps = sorted({one.max_baskets for one in outlooks if one.max_baskets})
    most, said = asked.get("max_baskets"), []
    if caps:
        how = "as was asked" if most is not None else "a number that would be chosen with noise"
        many = f"{caps[0]:,}" if len(caps) == 1 else f"{caps[0]:,} to {caps[-1]:,}"
        said.append(f"A curator counts baskets, {many} of each person at most: {how}.")
    if any(one.side == "local" for one in outlooks):
        drawn = f" Those with fewer than {most:,} may draw an empty one." if most is not None and most > 1 else ""
        said.append(f"Devices are counted as people: each answers for one of its baskets, drawn at random.{drawn}")
    return " ".join([*said, "The unit of privacy is the person, with all their baskets."])


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _bar(value: float | None) -> str:
    full = round(_WIDE * (value or 0.0))
    return "█" * full + "·" * (_WIDE - full) if value is not None else ""


def _visible(one: Outlook) -> str:
    if not isfinite(one.visible) or one.visible > 1:
        return "nothing"
    return f"{'≤ ' if one.complete else ''}{100 * one.visible:.3g} %"
