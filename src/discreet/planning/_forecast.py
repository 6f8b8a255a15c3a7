"""The result of `discreet.plan`, at one budget or several: a table, a picture, a page and JSON.

The module computes the recommendation alone; the numbers come from `_planner`. A forecast at several epsilons has the
fields of its largest epsilon, and tables with an epsilon per column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from ..errors import MisuseError
from ..privacy import exact, shown
from ..results import Provenance, Result, read_fields
from ..wording import number_of
from ._bounds import Bounds
from ._outlook import HEADINGS, MEAN_BASKETS_FIELD, Outlook, Side, render_cells, render_margin, render_units

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group, RenderableType
    from rich.table import Table

    from ..results import Picture

# Scores within 0.05 of the largest count as ties. Among ties, a mechanism that selects its own method is preferred up
# to this ratio of margins, since it does not rely on the stated curve.
_SCORE_SLACK, _MARGIN_RATIO = 0.05, 2
_SELF_SELECTING = ("auto", "adept")
_NOTHING = "Nothing can be told from noise: more people, more epsilon or fewer patterns are needed."
_SIDES = {"curator": "curator", "local": "devices"}
_SEARCH_NOTES = {"epsilon": "this epsilon was looked for", "people": "so many people were looked for"}
_SHARED_COLUMNS = ("", "right", " ", "found", "off by", "visible")
_COLUMN_TYPES = {
    "epsilon": "float64", "name": "large_string", "side": "large_string", "precision": "float64", "recall": "float64",
    "interval": "float64", "visible": "float64", "complete": "bool_", "chosen": "large_string", "max_baskets": "int64",
    "questions": "int64", "rounds": "int64", "answering": "int64", "report_bytes": "int64", "shuffled": "float64",
    "recommended": "bool_",
}  # fmt: skip
_COLUMNS = {"curator": (*_SHARED_COLUMNS, "questions"), "local": (*_SHARED_COLUMNS, "rounds", "bytes", "shuffled")}


@dataclass(frozen=True, kw_only=True, repr=False)
class Forecast(Result):
    """The result of :func:`discreet.plan`: the outlook of each mechanism and protocol, the best first.

    Parameters
    ----------
    asked
        The question and the assumptions about the data: public values by name.
    outlooks
        The outlooks of the mechanisms and protocols that can answer the question.
    refused
        The reason of each mechanism and protocol that cannot, by name.
    bounds
        The lower bounds on epsilon of every mechanism.
    delta
        The delta of the accounting of shuffling.
    needed
        The result of a search for epsilon or people: the smallest sufficient value by name, or None if the largest
        value is not sufficient.
    notes
        Sentences about the assumptions.
    smaller
        The forecasts at smaller epsilons, the smallest first; all other fields are of the largest epsilon.

    Examples
    --------
    >>> import discreet
    >>> forecast = discreet.plan(people=100_000, items=200, epsilon=1, top=10, side="curator")
    >>> round(forecast["exponential"].precision, 1)
    1.0
    >>> forecast = discreet.plan(people=20_000, items=200, top=10, names=["auto"], epsilon=["0.1", 1])
    >>> forecast.at("0.1")["auto"].interval > forecast.at(1)["auto"].interval
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
        """The epsilons as text, the smallest first; empty for a loaded forecast without an epsilon."""
        return tuple(part.asked["epsilon"] for part in self.by_epsilon if "epsilon" in part.asked)

    def at(self, epsilon: Any) -> Forecast:
        """Return the forecast at one epsilon."""
        exact_epsilon = exact(epsilon, "epsilon")
        # Compared as fractions: 0.5 and 1/2 are one epsilon. A loaded forecast may have no epsilon.
        for part, part_epsilon in zip(self.by_epsilon, self.epsilons, strict=False):
            if Fraction(part_epsilon) == exact_epsilon:
                return part
        raise MisuseError(
            f"There is no forecast at an epsilon of {shown(exact_epsilon)}; there are those at "
            f"{', '.join(self.epsilons)}."
        )

    def __getitem__(self, name: str) -> Outlook:
        if self.smaller:
            raise MisuseError(
                f"This is a forecast at several epsilons ({', '.join(self.epsilons)}): say at which one, as in "
                f"at({self.epsilons[0]})[{name!r}]."
            )
        for outlook in self.outlooks:
            if outlook.name == name:
                return outlook
        # A refused mechanism is no typing error, so the message has its reason.
        reason = self.refused.get(name, "")
        names = ", ".join(outlook.name for outlook in self.outlooks) or "none"
        raise MisuseError(f"There is no forecast for {name!r}{f' ({reason})' if reason else ''}; there are {names}.")

    @property
    def recommended(self) -> dict[str, str]:
        """The name of the recommended mechanism or protocol on each side of the question.

        1. The candidates have a score of at most 0.05 below the largest score.
        2. Candidates that select their own method (`auto`, `adept`) are preferred, if their margin is at most twice the
           smallest margin.
        3. Of the remaining candidates, the smallest margin is recommended.

        A side without a pattern that can be distinguished from noise has no recommendation.
        """
        recommended: dict[str, str] = {}
        for side in HEADINGS:
            rows = [outlook for outlook in self._select_side(side) if outlook.score > 0 and outlook.visible <= 1]
            largest_score = max((outlook.score for outlook in rows), default=0.0)
            candidates = [outlook for outlook in rows if outlook.score >= largest_score - _SCORE_SLACK]
            if candidates:
                max_margin = _MARGIN_RATIO * min(outlook.interval for outlook in candidates)
                preferred = [
                    outlook
                    for outlook in candidates
                    if outlook.name in _SELF_SELECTING and outlook.interval <= max_margin
                ]
                selected = min(preferred or candidates, key=lambda outlook: (outlook.interval, outlook.name))
                recommended[side] = selected.name
        return recommended

    def _select_side(self, side: Side) -> list[Outlook]:
        return [outlook for outlook in self.outlooks if outlook.side == side]

    @property
    def provenance(self) -> Provenance:
        """The question and the assumptions of the forecast."""
        return Provenance(question=dict(self.asked), notes=self.notes)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with a row for each outlook at each epsilon; an infinite number is null."""
        import pyarrow as pa

        rows = [
            {
                "epsilon": float(Fraction(part.asked["epsilon"])) if "epsilon" in part.asked else None,
                **outlook.to_dict(),
                "recommended": part.recommended.get(outlook.side) == outlook.name,
            }
            for part in self.by_epsilon
            for outlook in part.outlooks
        ]
        # A fixed schema: columns of None alone would have no type, and tables could not be put together.
        schema = pa.schema({name: getattr(pa, type_name)() for name, type_name in _COLUMN_TYPES.items()})
        return pa.Table.from_pylist(rows, schema)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values; for several epsilons, a list of the fields at each."""
        if self.smaller:
            return {"discreet": self.FORM, "forecasts": [part._to_values() for part in self.by_epsilon]}
        return {"discreet": self.FORM, **self._to_values()}

    def _to_values(self) -> dict[str, Any]:
        return {
            "asked": dict(self.asked),
            "recommended": self.recommended,
            "needed": dict(self.needed),
            "forecasts": [outlook.to_dict() for outlook in self.outlooks],
            "refused": dict(self.refused),
            "bounds": vars(self.bounds).copy(),
            "shuffling_delta": shown(self.delta),
            "notes": list(self.notes),
        }

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        # A saved forecast at several epsilons is a list of forecasts, without fields of its own.
        if "asked" not in values:
            *smaller, largest = map(cls._from_values, values["forecasts"])
            return replace(largest, smaller=tuple(smaller))
        # Two saved names differ from the names of the fields.
        renamed = {"outlooks": values["forecasts"], "delta": values["shuffling_delta"]}
        return read_fields(cls, {**values, **renamed}, smaller=())

    def plot(self) -> Picture:
        """Return a picture of the precision and the margin of each mechanism and protocol.

        A notebook shows it, and ``.save("picture.svg")`` writes it. For several epsilons, the picture shows the recall
        at each, with the recommendation at the largest epsilon drawn strong; of many lines, the best by score.
        """
        from ..report import draw_forecast

        if self.smaller:
            return _draw_budgets(self)
        bars = self._bars()
        if not bars:
            raise MisuseError(_NOTHING_TO_DRAW)
        return draw_forecast(bars, crowd=self.caption, notes=self._render_recommended())

    def _bars(self) -> list[tuple[str, float]]:
        """Return the label and the precision of each bar of a picture."""
        bars = []
        for outlook in self.outlooks:
            # Counts of named patterns have no precision, and a bar shows the precision.
            if outlook.precision is not None:
                margin = f", counts ± {render_margin(outlook.interval)}" if isfinite(outlook.interval) else ""
                bars.append((f"{outlook.name} ({_SIDES[outlook.side]}{margin})", outlook.precision))
        return bars

    def report(self, *, title: str | None = None) -> str:
        """Return an HTML page with the recommendation, a picture, all numbers and the assumptions."""
        from ..report import ForecastTable, TableColumn, draw_precisions, forecast_page

        if self.smaller:
            return _render_budget_page(self, title)
        tables = []
        for side, heading in HEADINGS.items():
            rows = self._select_side(side)
            cells = list(zip(*map(render_cells, rows), strict=True))
            # The bars of text are for a terminal: a page has a picture.
            columns = [
                TableColumn(name.capitalize(), texts)
                for name, texts in zip(_COLUMNS[side], cells, strict=False)
                if name.strip()
            ]
            if rows:
                tables.append(ForecastTable(heading, "Name", cells[0], columns))
        bars = self._bars()
        lead = self._render_recommended() or [_NOTHING]
        return forecast_page(
            title,
            lead=[*self._render_search(), *lead],
            drawings=[draw_precisions(bars)] if bars else [],
            tables=tables,
            # The lead stands above the picture already.
            notes=[line for line in self.lines() if line not in lead],
            refused=self.refused,
        )

    @property
    def caption(self) -> str:
        """A sentence with the budget, the people, the items and the patterns of the forecast."""
        epsilon = [f"epsilon = {self.asked['epsilon']}"] if self.asked.get("epsilon") is not None else []
        return self._render_caption("This forecast stands", epsilon)

    @property
    def shared_caption(self) -> str:
        """The caption without the epsilon, for forecasts that differ in epsilon alone."""
        return self._render_caption("These forecasts stand", [])

    def _render_caption(self, start: str, parts: list[str]) -> str:
        asked = self.asked
        # The fields depend on the question, and a loaded forecast may lack any field.
        parts += [f"delta = {asked['delta']}"] if "delta" in asked else []
        mean_baskets = (
            f" with about {asked[MEAN_BASKETS_FIELD]:,.3g} baskets each" if MEAN_BASKETS_FIELD in asked else ""
        )
        parts += [f"{asked['people']:,} people{mean_baskets}"] if asked.get("people") is not None else []
        parts += [f"{asked['items']:,} items"] if asked.get("items") is not None else []
        parts += [f"the top {asked['top']:,}"] if "top" in asked else []
        parts += [f"a support of {asked['min_support']:g} or more"] if "min_support" in asked else []
        search_note = f"; {_SEARCH_NOTES[asked['looked for']]}" if "looked for" in asked else ""
        # Without a sufficient value, the forecast is at the largest value of the search.
        if self.needed and all(value is None for value in self.needed.values()):
            search_note = "; that is the most that was tried"
        return f"{start} at {', '.join(parts)}{search_note}."

    def _render_recommended(self) -> list[str]:
        lines = []
        for side, name in self.recommended.items():
            outlook = self[name]
            chosen = f", which would choose {outlook.chosen}" if outlook.chosen else ""
            audience = "a curator" if side == "curator" else "devices"
            lines.append(f"Recommended for {audience}: {name}{chosen}, {outlook.precision:.0%} of the patterns right.")
        return lines

    def _render_search(self) -> list[str]:
        return [self.render_needed(name, value) for name, value in self.needed.items()]

    def lines(self) -> list[str]:
        """Return the lines below the table: the search, the question, the recommendation, the bounds, the notes."""
        if self.smaller:
            return _render_budget_lines(self)
        recommended = self._render_recommended()
        # The result of a search comes first: it is the number that was asked for.
        lines = [*self._render_search(), self.caption, *recommended]
        if self.units:
            lines.append(self.units)
        if not recommended:
            lines.append(_NOTHING)
        if self.asked.get("epsilon") is not None:
            # A delta is the curator's: a question to devices alone is about pure epsilon.
            pure = not (self._select_side("curator") and "delta" in self.asked)
            epsilon = float(Fraction(self.asked["epsilon"]))
            lines.append(self.bounds.in_words(epsilon, pure=pure, local=bool(self._select_side("local"))))
        return [*lines, *self.notes]

    def unit(self, side: Side) -> str:
        """Return the unit of counts on a side: baskets for a curator, if people have several; otherwise people."""
        return "baskets" if side == "curator" and MEAN_BASKETS_FIELD in self.asked else "people"

    @property
    def units(self) -> str:
        """The unit of counts and the unit of privacy, if people have several baskets; otherwise an empty text."""
        return render_units(self.asked, (outlook for part in self.by_epsilon for outlook in part.outlooks))

    def render_needed(self, name: str, value: float | None) -> str:
        """Return a sentence with the smallest sufficient value of a mechanism or protocol.

        Parameters
        ----------
        name
            The name of the mechanism or protocol.
        value
            The epsilon or the number of people; None if the largest value is not sufficient.
        """
        searched = self.asked["looked for"]
        if value is None:
            return f"No {searched} that was tried is enough for {name}."
        if searched == "people":
            return f"{name} needs about {value:,} people."
        return f"{name} needs an epsilon of {value:g}."

    def _rich(self, rows: int | None) -> Group:
        from rich.console import Group
        from rich.text import Text

        if self.smaller:
            tables = _render_budget_tables(self, rows)
        else:
            tables = [self._build_table(side, rows) for side in HEADINGS if self._select_side(side)]
        return Group(*tables, *(Text(f"\n{line}") for line in self.lines()))

    def _build_table(self, side: Side, max_rows: int | None) -> Table:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, title=HEADINGS[side], title_justify="left", title_style="bold")
        for column in _COLUMNS[side]:
            table.add_column(column, justify="right" if column.strip() else "left", no_wrap=True)
        recommended = self.recommended.get(side)
        for outlook in self._select_side(side)[:max_rows]:
            # Bold, not coloured: a terminal without colours shows the recommendation too.
            table.add_row(*render_cells(outlook), style="bold" if outlook.name == recommended else "")
        return table


_MAX_LINES = 6  # of a picture: the number of colours and dashes that can be distinguished
_NOTHING_TO_DRAW = "There is nothing to draw: no mechanism can be forecast for this question."
# The line of a mechanism: its name, whether it is recommended, and at each epsilon its recall and its margin.
_Line: TypeAlias = tuple[str, bool, list[float], list[float]]


def _draw_budgets(forecast: Forecast) -> Picture:
    """Return a picture of the recall and the margin at each epsilon."""
    from ..report import draw_budgets

    sides, left_out_count = _build_sides(forecast)
    if not sides:
        raise MisuseError(_NOTHING_TO_DRAW)
    notes = [forecast.shared_caption]
    if left_out_count:
        notes.append(f"{number_of(left_out_count, 'other that finds', 'others that find')} less left out.")
    return draw_budgets(sides, _epsilons(forecast), notes=[*notes, *([forecast.units] if forecast.units else [])])


def _render_budget_page(forecast: Forecast, title: str | None) -> str:
    """Return an HTML page with the recommendation at each epsilon, pictures and tables."""
    from ..report import ForecastTable, TableColumn, draw_budget_lines, forecast_page

    sides, _ = _build_sides(forecast)
    tables = []
    for side in HEADINGS:
        names = _names(forecast, side)
        columns = [
            TableColumn(f"Epsilon {part.asked['epsilon']}", [_render_cell(part, name) for name in names])
            for part in forecast.by_epsilon
        ]
        # A side without a forecast at any epsilon has no table.
        if names:
            tables.append(ForecastTable(_render_heading(forecast, side), "Name", names, columns))
    recommended = _render_recommended(forecast)
    return forecast_page(
        title,
        lead=recommended,
        drawings=draw_budget_lines(sides, _epsilons(forecast)) if sides else [],
        tables=tables,
        notes=[line for line in _render_budget_lines(forecast) if line not in recommended],
        refused=forecast.refused,
    )


def _render_budget_lines(forecast: Forecast) -> list[str]:
    """Return the lines below the tables: the question, the recommendations and the notes."""
    units = [forecast.units] if forecast.units else []
    return [forecast.shared_caption, *units, *_render_recommended(forecast), *forecast.notes]


def _render_budget_tables(forecast: Forecast, max_rows: int | None) -> list[RenderableType]:
    """Return a heading and a table for each side, with a column for each epsilon."""
    from rich.text import Text

    # The title of a rich table is broken at the width of the table, which is far narrower than the terminal.
    return [
        part
        for side in HEADINGS
        if _names(forecast, side)
        for part in (Text(_render_heading(forecast, side), "bold"), _build_table(forecast, side, max_rows))
    ]


def _render_heading(forecast: Forecast, side: Side) -> str:
    return f"{HEADINGS[side]}: found, and {forecast.unit(side)} off by"


def _epsilons(forecast: Forecast) -> list[float]:
    return [float(Fraction(part.asked["epsilon"])) for part in forecast.by_epsilon]


def _build_sides(forecast: Forecast) -> tuple[list[tuple[str, str, list[_Line]]], int]:
    """Return heading, unit and lines of each side of a picture, and the number of names that are left out."""
    left_out_count = 0
    sides: list[tuple[str, str, list[_Line]]] = []
    for side, heading in HEADINGS.items():
        names = _rank_names(forecast, side)
        left_out_count += len(names[_MAX_LINES:])
        recommended = forecast.recommended.get(side)
        lines = [(name, name == recommended, *_numbers(forecast, name)) for name in names[:_MAX_LINES]]
        if lines:
            sides.append((heading, forecast.unit(side), lines))
    return sides, left_out_count


def _names(forecast: Forecast, side: Side) -> list[str]:
    """Return the names on a side, in the order of the largest epsilon."""
    # A mechanism may be forecast at some epsilons only: names beyond the largest epsilon come last.
    names = [
        outlook.name for part in reversed(forecast.by_epsilon) for outlook in part.outlooks if outlook.side == side
    ]
    return list(dict.fromkeys(names))


def _rank_names(forecast: Forecast, side: Side) -> list[str]:
    """Return the names on a side that have a score, the largest sum of scores first."""
    scores = {
        name: [outlook.score for outlook in _find_outlooks(forecast, name) if outlook is not None]
        for name in _names(forecast, side)
    }
    # By the sum over all epsilons, as a picture compares lines and not points.
    return sorted((name for name in scores if max(scores[name]) >= 0), key=lambda name: -sum(scores[name]))


def _find_outlook(forecast: Forecast, name: str) -> Outlook | None:
    return next((outlook for outlook in forecast.outlooks if outlook.name == name), None)


def _find_outlooks(forecast: Forecast, name: str) -> list[Outlook | None]:
    """Return the outlook of a name at each epsilon: None at an epsilon at which it cannot answer."""
    return [_find_outlook(part, name) for part in forecast.by_epsilon]


def _numbers(forecast: Forecast, name: str) -> tuple[list[float], list[float]]:
    """Return the recall and the margin of a name at each epsilon."""
    outlooks = _find_outlooks(forecast, name)
    recalls = [nan if outlook is None or outlook.recall is None else outlook.recall for outlook in outlooks]
    return recalls, [inf if outlook is None else outlook.interval for outlook in outlooks]


def _render_recommended(forecast: Forecast) -> list[str]:
    lines = []
    for part in forecast.by_epsilon:
        names = " and ".join(part.recommended.values()) or "nothing, as nothing can be told from noise"
        search = "".join(f" {part.render_needed(name, value)}" for name, value in part.needed.items())
        lines.append(f"Recommended at epsilon = {part.asked['epsilon']}: {names}.{search}")
    return lines


def _build_table(forecast: Forecast, side: Side, max_rows: int | None) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("epsilon")
    for part in forecast.by_epsilon:
        table.add_column(part.asked["epsilon"], justify="right", no_wrap=True)
    for name in _names(forecast, side)[:max_rows]:
        table.add_row(name, *(_render_cell(part, name) for part in forecast.by_epsilon))
    return table


def _render_cell(forecast: Forecast, name: str) -> str:
    outlook = _find_outlook(forecast, name)
    if outlook is None:
        return "–"
    recall = "" if outlook.recall is None else f"{outlook.recall:.0%} "
    # Without a found pattern there can be no margin, though the recall of 0 is a number.
    return f"{recall}± {render_margin(outlook.interval)}" if isfinite(outlook.interval) else f"{recall}± –"
