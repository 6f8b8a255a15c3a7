"""The expected numbers of a mechanism or a protocol, and their form in tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from typing import Any, Literal, TypeAlias

from ..results import read_fields

Side: TypeAlias = Literal["curator", "local"]

_BAR_WIDTH = 6  # characters: a bar compares rows, and the number stands beside it
_DIGITS = 4  # significant digits of a margin: the random error of a forecast is larger than further digits
# The field of a saved question that only a question about people with several baskets has.
MEAN_BASKETS_FIELD = "mean baskets each"

HEADINGS: dict[Side, str] = {"curator": "A curator who holds the baskets", "local": "Devices that keep their baskets"}


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """The expected numbers of a mechanism or a protocol.

    Parameters
    ----------
    name, side
        The name, and the side: ``"curator"`` or ``"local"``.
    precision, recall
        The share of the found patterns that are right, and the share of the right patterns that are found, from 0 to 1;
        None for counts of named patterns.
    interval
        The margin of a 95 % interval of a count, in people; infinite if no pattern is found. For a curator and people
        with several baskets, in baskets that take part.
    visible
        The smallest support that can be distinguished from noise; infinite without one.
    complete
        Whether all right patterns are found: then smaller supports may be visible too.
    chosen
        The mechanism that `auto` would choose; empty for other mechanisms.
    max_baskets
        The number of baskets of a person that would take part in a curator's release, if people have several: 0
        otherwise.
    questions
        The number of passes of a curator's engine over the data; 0 for a protocol.
    rounds, answering, report_bytes
        The number of rounds of a protocol, the number of people in the smallest round, and the largest size of a report
        in bytes; 0 for a mechanism.
    shuffled
        The central epsilon of the smallest round with anonymous reports; None for a mechanism.
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
        """The harmonic mean of precision and recall, which orders forecasts; -1 if they are None."""
        if self.precision is None or self.recall is None:
            return -1.0
        return (
            2 * self.precision * self.recall / (self.precision + self.recall) if self.precision + self.recall else 0.0
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values; an infinite number becomes None."""
        # JSON has no infinity.
        values = {name: None if value in (inf, "") else value for name, value in vars(self).items()}
        # As a float: the bound is rounded up, and more digits than a float has mean nothing.
        shuffled = None if self.shuffled is None else float(self.shuffled)
        return values | {"max_baskets": self.max_baskets or None, "shuffled": shuffled}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Outlook:
        """Return the outlook that :meth:`to_dict` wrote; an error names the wrong field."""
        # Files leave out values that JSON cannot hold, and each stands for a missing one.
        absent = {"precision": None, "recall": None, "interval": inf, "visible": inf}
        return read_fields(cls, absent | {name: value for name, value in values.items() if value is not None})


def render_cells(outlook: Outlook) -> list[str]:
    """Return the cells of the table row of an outlook."""
    margin = render_margin(outlook.interval) if isfinite(outlook.interval) else "–"
    name = f"{outlook.name} ({outlook.chosen})" if outlook.chosen else outlook.name
    precision, recall = outlook.precision, outlook.recall
    cells = [name, _percent(precision), _bar(precision), _percent(recall), margin, _visible_support(outlook)]
    if outlook.side == "curator":
        return [*cells, f"{outlook.questions:,}"]
    central_epsilon = f"{float(outlook.shuffled):.3g}" if outlook.shuffled is not None else ""
    return [*cells, f"{outlook.rounds:,}", f"{outlook.report_bytes:,}", central_epsilon]


def render_margin(margin: float) -> str:
    """Return a margin of counts as text, rounded to four digits.

    Examples
    --------
    >>> render_margin(31_098.4), render_margin(12.3)
    ('31,100', '12')
    """
    unit = 10 ** max(0, len(f"{margin:.0f}") - _DIGITS)
    return f"{round(margin / unit) * unit:,}"


def render_units(question: Mapping[str, Any], outlooks: Iterable[Outlook]) -> str:
    """Return a text with the unit of counts and the unit of privacy, if people have several baskets; else none.

    Parameters
    ----------
    question
        The fields of the question.
    outlooks
        The outlooks of a forecast, at all its epsilons.
    """
    if MEAN_BASKETS_FIELD not in question:
        return ""
    outlooks = tuple(outlooks)
    caps = sorted({outlook.max_baskets for outlook in outlooks if outlook.max_baskets})
    asked_cap, sentences = question.get("max_baskets"), []
    if caps:
        origin = "as was asked" if asked_cap is not None else "a number that would be chosen with noise"
        cap_range = f"{caps[0]:,}" if len(caps) == 1 else f"{caps[0]:,} to {caps[-1]:,}"
        sentences.append(f"A curator counts baskets, {cap_range} of each person at most: {origin}.")
    if any(outlook.side == "local" for outlook in outlooks):
        empty = (
            f" Those with fewer than {asked_cap:,} may draw an empty one."
            if asked_cap is not None and asked_cap > 1
            else ""
        )
        sentences.append(f"Devices are counted as people: each answers for one of its baskets, drawn at random.{empty}")
    return " ".join([*sentences, "The unit of privacy is the person, with all their baskets."])


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _bar(value: float | None) -> str:
    full = round(_BAR_WIDTH * (value or 0.0))
    return "█" * full + "·" * (_BAR_WIDTH - full) if value is not None else ""


def _visible_support(outlook: Outlook) -> str:
    # Half an interval may be wider than the crowd; no pattern has a support over 1.
    if not isfinite(outlook.visible) or outlook.visible > 1:
        return "nothing"
    return f"{'≤ ' if outlook.complete else ''}{100 * outlook.visible:.3g} %"
