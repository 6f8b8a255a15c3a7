"""What a forecast says, at one budget or several: a table, a picture, a page and JSON, with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..errors import MisuseError
from ..privacy import exact, shown
from ..results import Provenance, Result, read_fields
from . import _budgets as budgets
from ._bounds import Bounds
from ._outlook import EACH, HEADS, Outlook, Side, cells_of, most_off, units_of

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group
    from rich.table import Table

    from ..results import Picture

# Of those that find as much as the best, give or take so much, one that chooses for itself is safer: it does not rely
# on the curve that was stated.
_LEVEL, _WIDER = 0.05, 2
_CHOOSERS = ("auto", "adept")
_NOTHING = "Nothing can be told from noise: more people, more epsilon or fewer patterns are needed."
_SIDES = {"curator": "curator", "local": "devices"}
_LOOKED = {"epsilon": "this epsilon was looked for", "people": "so many people were looked for"}
_EACH = ("", "right", " ", "found", "off by", "visible")
# The types of the columns of its table.
_TABLE = {
    "epsilon": "float64", "name": "large_string", "side": "large_string", "precision": "float64", "recall": "float64",
    "interval": "float64", "visible": "float64", "complete": "bool_", "chosen": "large_string", "max_baskets": "int64",
    "questions": "int64", "rounds": "int64", "answering": "int64", "report_bytes": "int64", "shuffled": "float64",
    "recommended": "bool_",
}  # fmt: skip
_COLUMNS = {"curator": (*_EACH, "questions"), "local": (*_EACH, "rounds", "bytes", "shuffled")}


@dataclass(frozen=True, kw_only=True, repr=False)
class Forecast(Result):
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
    smaller
        The forecasts at smaller epsilons, the smallest first, where there are several: all else is of the largest one.

    Examples
    --------
    >>> import discreet
    >>> forecast = discreet.plan(people=100_000, items=200, epsilon=1, top=10, side="curator")
    >>> round(forecast["exponential"].precision, 1)
    1.0
    >>> bought = discreet.plan(people=20_000, items=200, top=10, names=["auto"], epsilon=["0.1", 1])
    >>> bought.at("0.1")["auto"].interval > bought.at(1)["auto"].interval
    True
    """

    FORM: ClassVar[str] = "forecast/1"
    NOUN: ClassVar[str] = "a forecast"

    asked: Mapping[str, Any]
    outlooks: tuple[Outlook, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    bounds: Bounds
    delta: Fraction
    needed: Mapping[str, float | int | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    smaller: tuple[Forecast, ...] = ()

    @property
    def by_epsilon(self) -> tuple[Forecast, ...]:
        """The forecast at each epsilon, the smallest epsilon first."""
        return (*self.smaller, replace(self, smaller=())) if self.smaller else (self,)

    @property
    def epsilons(self) -> tuple[str, ...]:
        """The epsilons, the smallest first, as they are written; empty of a forecast that states none."""
        return tuple(one.asked["epsilon"] for one in self.by_epsilon if "epsilon" in one.asked)

    def at(self, epsilon: Any) -> Forecast:
        """Return the forecast at one epsilon."""
        wanted = exact(epsilon, "epsilon")
        for one, there in zip(self.by_epsilon, self.epsilons, strict=False):
            if Fraction(there) == wanted:
                return one
        raise MisuseError(
            f"There is no forecast at an epsilon of {shown(wanted)}; there are those at {', '.join(self.epsilons)}."
        )

    def __getitem__(self, name: str) -> Outlook:
        if self.smaller:
            raise MisuseError(
                f"This is a forecast at several epsilons ({', '.join(self.epsilons)}): say at which one, as in "
                f"at({self.epsilons[0]})[{name!r}]."
            )
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

    @property
    def provenance(self) -> Provenance:
        """The question, and what the forecast rests on."""
        return Provenance(question=dict(self.asked), notes=self.notes)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table, a row for each mechanism and protocol at each epsilon; what is infinite is null."""
        import pyarrow as pa

        rows = [
            {
                "epsilon": float(Fraction(made.asked["epsilon"])) if "epsilon" in made.asked else None,
                **one.to_dict(),
                "recommended": made.recommended.get(one.side) == one.name,
            }
            for made in self.by_epsilon
            for one in made.outlooks
        ]
        return pa.Table.from_pylist(rows, pa.schema({name: getattr(pa, kind)() for name, kind in _TABLE.items()}))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; of several epsilons, those of each in a list."""
        if self.smaller:
            return {"discreet": self.FORM, "forecasts": [one._to_values() for one in self.by_epsilon]}
        return {"discreet": self.FORM, **self._to_values()}

    def _to_values(self) -> dict[str, Any]:
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

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        if "asked" not in values:
            *smaller, largest = map(cls._from_values, values["forecasts"])
            return replace(largest, smaller=tuple(smaller))
        renamed = {"outlooks": values["forecasts"], "delta": values["shuffling_delta"]}
        return read_fields(cls, {**values, **renamed}, smaller=())

    def plot(self) -> Picture:
        """Return a picture of what this budget buys: what each is expected to get right, and how far off counts are.

        A notebook shows it, and ``.save("picture.svg")`` writes it. Of several epsilons it shows what is found at each,
        with the one to take at the largest drawn strong; of very many, those that find the most.
        """
        from ..report import draw_forecast

        if self.smaller:
            return budgets.picture_of(self)
        rows = self._drawn()
        if not rows:
            raise MisuseError(budgets.NOTHING_TO_DRAW)
        return draw_forecast(rows, crowd=self.stands, notes=self._recommended())

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
        from ..report import ForecastTable, TableColumn, draw_precisions, forecast_page

        if self.smaller:
            return budgets.page_of(self, title)
        tables = []
        for side, heading in HEADS.items():
            there = [one for one in self.outlooks if one.side == side]
            cells = list(zip(*map(cells_of, there), strict=True))
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
        return forecast_page(
            title,
            lead=[*(self.found(name, value) for name, value in self.needed.items()), *(recommended or [_NOTHING])],
            drawings=[draw_precisions(drawn)] if drawn else [],
            tables=tables,
            notes=[line for line in self.lines() if line not in (*recommended, _NOTHING)],
            refused=self.refused,
        )

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
        if self.smaller:
            return budgets.lines_of(self)
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
        return units_of(self.asked, (one for made in self.by_epsilon for one in made.outlooks))

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

    def _rich(self, rows: int | None) -> Group:
        from rich.console import Group
        from rich.text import Text

        if self.smaller:
            tables = budgets.tables_of(self, rows)
        else:
            sides = [side for side in HEADS if any(one.side == side for one in self.outlooks)]
            tables = [self._table(side, rows) for side in sides]
        return Group(*tables, *(Text(f"\n{line}") for line in self.lines()))

    def _table(self, side: Side, rows: int | None) -> Table:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, title=HEADS[side], title_justify="left", title_style="bold")
        for head in _COLUMNS[side]:
            table.add_column(head, justify="right" if head.strip() else "left", no_wrap=True)
        for one in [one for one in self.outlooks if one.side == side][:rows]:
            chosen = one.name == self.recommended.get(side)
            table.add_row(*cells_of(one), style="bold" if chosen else "")
        return table
