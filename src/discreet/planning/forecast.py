"""What a forecast says: a table, a picture and JSON, with what it rests on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import MisuseError
from ..privacy.budget import shown
from ..wording import Rendered, text_of
from .bounds import Bounds

if TYPE_CHECKING:
    from os import PathLike

    from rich.console import Group
    from rich.table import Table

    from ..results.picture import Picture
    from .forecasts import Forecasts

Side: TypeAlias = Literal["curator", "local"]

# Of those that find as much as the best, give or take so much, one that chooses for itself is safer: it does not rely
# on the curve that was stated.
_LEVEL, _WIDER = 0.05, 2
_CHOOSERS = ("auto", "adept")
_WIDE = 6
_NOTHING = "Nothing can be told from noise: more people, more epsilon or fewer patterns are needed."
_DIGITS = 4  # of a number that is shown
# What is said of people with several baskets is kept under this name.
EACH = "mean baskets each"

HEADS: dict[Side, str] = {"curator": "A curator who holds the baskets", "local": "Devices that keep their baskets"}
_SIDES = {"curator": "curator", "local": "devices"}
_LOOKED = {"epsilon": "this epsilon was looked for", "people": "so many people were looked for"}
_EACH = ("", "right", " ", "found", "off by", "visible")
_COLUMNS = {"curator": (*_EACH, "questions"), "local": (*_EACH, "rounds", "bytes", "shuffled")}


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
        return {
            "name": self.name,
            "side": self.side,
            "precision": self.precision,
            "recall": self.recall,
            "interval": _finite(self.interval),
            "visible": _finite(self.visible),
            "complete": self.complete,
            "chosen": self.chosen or None,
            "max_baskets": self.max_baskets or None,
            "questions": self.questions,
            "rounds": self.rounds,
            "answering": self.answering,
            "report_bytes": self.report_bytes,
            "shuffled": None if self.shuffled is None else float(self.shuffled),
        }


@dataclass(frozen=True, kw_only=True)
class Forecast(Rendered):
    """What :func:`discreet.plan` returns: what to expect of each mechanism and protocol, the best first.

    Parameters
    ----------
    asked
        The question and what was assumed about the data: public values by name.
    outlooks
        What is expected, one for each that can answer the question.
    refused
        Why the others cannot, by name.
    bounds
        What no mechanism can go below.
    delta
        The delta at which shuffling was accounted for.
    needed
        What was looked for, where epsilon or people was left out: for each name the smallest value that is enough, or
        None where even the largest tried is not.
    notes
        Sentences about what the forecast rests on.

    Examples
    --------
    >>> import discreet
    >>> forecast = discreet.plan(people=100_000, items=200, epsilon=1, top=10, side="curator")
    >>> round(forecast["exponential"].precision, 1)
    1.0
    """

    asked: Mapping[str, Any]
    outlooks: tuple[Outlook, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    bounds: Bounds
    delta: Fraction
    needed: Mapping[str, float | int | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Outlook:
        for one in self.outlooks:
            if one.name == name:
                return one
        why = self.refused.get(name, "")
        there = ", ".join(one.name for one in self.outlooks) or "none"
        raise MisuseError(f"There is no forecast for {name!r}{f' ({why})' if why else ''}; there are {there}.")

    @property
    def recommended(self) -> dict[str, str]:
        """The name to take on each side that was asked about.

        It is the one that finds most. Of several that find about as much, it is one that chooses for itself (`auto`,
        `adept`) if its intervals are at most twice as wide as the narrowest; otherwise the one with the narrowest. A
        side on which nothing can be told from noise has none.
        """
        best: dict[str, str] = {}
        for side in ("curator", "local"):
            rows = [one for one in self.outlooks if one.side == side and one.score > 0 and one.visible <= 1]
            most = max((one.score for one in rows), default=0.0)
            level = [one for one in rows if one.score >= most - _LEVEL]
            if level:
                narrow = min(one.interval for one in level)
                near = [one for one in level if one.name in _CHOOSERS and one.interval <= _WIDER * narrow]
                best[side] = min(near or level, key=lambda one: (one.interval, one.name)).name
        return best

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "asked": dict(self.asked),
            "recommended": self.recommended,
            "needed": dict(self.needed),
            "forecasts": [one.to_dict() for one in self.outlooks],
            "refused": dict(self.refused),
            "bounds": vars(self.bounds).copy(),
            "shuffling_delta": shown(self.delta),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def plot(self) -> Picture:
        """Return a picture of what this budget buys: what each is expected to get right, and how far off counts are.

        A notebook shows it, and ``.save("picture.svg")`` writes it.
        """
        from ..report.plots import forecast

        rows = self._drawn()
        if not rows:
            raise MisuseError("There is nothing to draw: no mechanism can be forecast for this question.")
        return forecast(rows, stands=self.stands, notes=self._recommended())

    def _drawn(self) -> list[tuple[str, float]]:
        """Return what a picture shows of each that finds something: its name and its margin, and what is right."""
        rows = []
        for one in self.outlooks:
            if one.precision is not None:
                off = f", counts ± {most_off(one.interval)}" if isfinite(one.interval) else ""
                rows.append((f"{one.name} ({_SIDES[one.side]}{off})", one.precision))
        return rows

    def report(self, *, title: str | None = None) -> str:
        """Return a page that says what this budget buys: what to take, a picture, all numbers and what they rest on."""
        from ..report.planned import ForecastTable, planned_page
        from ..report.plots import forecast_bars
        from ..report.tables import TableColumn

        tables = []
        for side, heading in HEADS.items():
            there = [one for one in self.outlooks if one.side == side]
            cells = list(zip(*(_row(one) for one in there), strict=True))
            # The small bars of a terminal are left to the picture.
            columns = [
                TableColumn(name.capitalize(), texts)
                for name, texts in zip(_COLUMNS[side], cells, strict=False)
                if name.strip()
            ]
            if there:
                tables.append(ForecastTable(heading, "Name", cells[0], columns))
        drawn = self._drawn()
        recommended = self._recommended()
        return planned_page(
            title,
            lead=[*(self.found(name, value) for name, value in self.needed.items()), *(recommended or [_NOTHING])],
            drawings=[forecast_bars(drawn)] if drawn else [],
            tables=tables,
            notes=[line for line in self.lines() if line not in (*recommended, _NOTHING)],
            refused=self.refused,
        )

    def save(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write to a ``.json`` file, or to an ``.html`` page with a title."""
        save_forecast(self, path, title)

    @property
    def stands(self) -> str:
        """At which budget, with how many people, items and patterns this forecast stands."""
        epsilon = [f"epsilon = {self.asked['epsilon']}"] if self.asked.get("epsilon") is not None else []
        return self._stands("This forecast stands", epsilon)

    @property
    def stands_beside(self) -> str:
        """The same beside others, which differ in epsilon alone."""
        return self._stands("These forecasts stand", [])

    def _stands(self, begins: str, told: list[str]) -> str:
        asked = self.asked
        told += [f"delta = {asked['delta']}"] if "delta" in asked else []
        each = f" with about {asked[EACH]:,.3g} baskets each" if EACH in asked else ""
        told += [f"{asked['people']:,} people{each}"] if asked.get("people") is not None else []
        told += [f"{asked['items']:,} items"] if asked.get("items") is not None else []
        told += [f"the top {asked['top']:,}"] if "top" in asked else []
        told += [f"a support of {asked['min_support']:g} or more"] if "min_support" in asked else []
        looked = f"; {_LOOKED[asked['looked for']]}" if "looked for" in asked else ""
        if self.needed and all(value is None for value in self.needed.values()):
            looked = "; that is the most that was tried"
        return f"{begins} at {', '.join(told)}{looked}."

    def _recommended(self) -> list[str]:
        return [
            f"Recommended for {'a curator' if side == 'curator' else 'devices'}: {name}{self._why(name)}."
            for side, name in self.recommended.items()
        ]

    def lines(self) -> list[str]:
        """Return what there is to say beside the table: the recommendation, the bounds, what it rests on."""
        said = [*(self.found(name, value) for name, value in self.needed.items()), self.stands, *self._recommended()]
        if self.units:
            said.append(self.units)
        if not self.recommended:
            said.append(_NOTHING)
        if self.asked.get("epsilon") is not None:
            local = any(one.side == "local" for one in self.outlooks)
            curator = any(one.side == "curator" for one in self.outlooks)
            # Devices have no delta, whatever a curator may have.
            pure = not (curator and "delta" in self.asked)
            said.append(self.bounds.in_words(float(Fraction(self.asked["epsilon"])), pure=pure, local=local))
        return [*said, *self.notes]

    def unit(self, side: Side) -> str:
        """Return what counts of a side are of: a curator counts baskets where people have several, devices people."""
        return "baskets" if side == "curator" and EACH in self.asked else "people"

    @property
    def units(self) -> str:
        """What is counted and what is protected, where people have several baskets; nothing otherwise."""
        return units_of(self.asked, self.outlooks)

    def _why(self, name: str) -> str:
        one = self[name]
        chosen = f", which would choose {one.chosen}" if one.chosen else ""
        return f"{chosen}, {one.precision:.0%} of the patterns right"

    def found(self, name: str, value: float | None) -> str:
        """Say how much of what was looked for one needs."""
        what = self.asked["looked for"]
        if value is None:
            return f"No {what} that was tried is enough for {name}."
        return f"{name} needs about {value:,} people." if what == "people" else f"{name} needs an epsilon of {value:g}."

    def __str__(self) -> str:
        return text_of(self) + "\n"

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        tables = [self._table(side) for side in HEADS if any(one.side == side for one in self.outlooks)]
        return Group(*tables, *(Text(f"\n{line}") for line in self.lines()))

    def _table(self, side: Side) -> Table:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, title=HEADS[side], title_justify="left", title_style="bold")
        for head in _COLUMNS[side]:
            table.add_column(head, justify="right" if head.strip() else "left", no_wrap=True)
        for one in self.outlooks:
            if one.side == side:
                chosen = one.name == self.recommended.get(side)
                table.add_row(*_row(one), style="bold" if chosen else "")
        return table


def _row(one: Outlook) -> list[str]:
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


def save_forecast(found: Forecast | Forecasts, path: str | PathLike[str], title: str | None) -> None:
    """Write a forecast to a file of JSON or a page, as its suffix says."""
    from ..atomic_write import written
    from ..results.files import is_page

    if not is_page(path) and Path(path).suffix.lower() != ".json":
        raise MisuseError(f"A forecast is saved as .html or .json; {path} was given. Its picture: plot().save().")
    text = found.report(title=title) if is_page(path) else found.to_json() + "\n"
    with written(path) as stream:
        stream.write(text.encode())


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


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _bar(value: float | None) -> str:
    full = round(_WIDE * (value or 0.0))
    return "█" * full + "·" * (_WIDE - full) if value is not None else ""


def _visible(one: Outlook) -> str:
    if not isfinite(one.visible) or one.visible > 1:
        return "nothing"
    return f"{'≤ ' if one.complete else ''}{100 * one.visible:.3g} %"
