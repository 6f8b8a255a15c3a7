"""Which mechanism for these data: trials of all that answer a question, side by side, for the curator's eyes.

What it says depends on the data as they are, so it is **not private**, and says so first wherever it goes. Over a crowd
that was imagined from public numbers it is about nobody, and says that instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from ..errors import Message, MisuseError
from ..wording import number_of
from ._plain_values import read_fields
from ._promise import FOR_THE_CURATOR, SIMULATED, shown
from ._provenance import Provenance
from ._result import Result, draw_with
from ._trials import Advice, RunSpread, Trials, percent
from ._untrusted import exact_number

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group
    from rich.table import Table

    from ._picture import Picture

On: TypeAlias = Literal["data", "drawn", "imagined"]

_WIDE = 6
_HEADS = ("", "found", " ", "off by", "hold", "interval", "seconds")
_WARNED = (
    "These numbers come from the data themselves. To choose a mechanism or an epsilon by them is a use of the data "
    "that no ledger knows of."
)
_COSTS_NOTHING = "No data were read: the crowd was made up from the numbers given. Choosing by it costs nothing."


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Result):
    """What :func:`discreet.compare` returns: a sequence of :class:`Trials`, and **not private**.

    Parameters
    ----------
    rows
        The trials of each mechanism at each epsilon: by epsilon, then what finds most first.
    advice
        What to take at each epsilon, and how far `auto` is from the best.
    refused
        Why the others do not answer the question, by name.
    asked
        The question: plain values by name.
    truth
        What is true of the data: how many `people` and `items` there are, how many patterns are `wanted`, and the count
        of the last of them.
    on
        What was tried on: ``"data"``, ``"drawn"`` (people drawn from the data) or ``"imagined"`` (public numbers).
    seed
        The same seed gives the same trials.
    unit
        What counts are of: people, or baskets.
    notes
        Sentences for the reader.
    """

    FORM: ClassVar[str] = "comparison/1"
    NOUN: ClassVar[str] = "a comparison"
    PAGE: ClassVar[str] = "comparison_page"

    rows: tuple[Trials, ...]
    advice: tuple[Advice, ...]
    refused: Mapping[str, Message] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)
    truth: Mapping[str, int] = field(default_factory=dict)
    on: On = "data"
    seed: int = 0
    unit: str = "people"
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Trials]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Trials:
        return self.rows[place]

    @property
    def private(self) -> bool:
        """Whether it may be shown to anyone: only where no data were read."""
        return self.on == "imagined"

    @property
    def standing(self) -> Literal["not private", "simulated"]:
        """What a page of it says of itself."""
        return "simulated" if self.private else "not private"

    @property
    def warning(self) -> str:
        """What has to be known before anything else."""
        return f"{SIMULATED}. {_COSTS_NOTHING}" if self.private else f"{FOR_THE_CURATOR}. {_WARNED}"

    @property
    def recommended(self) -> dict[Fraction, str]:
        """The mechanism to take, by epsilon: `auto`, unless another one is better beyond the doubt of the runs."""
        return {one.epsilon: one.recommended for one in self.advice}

    @property
    def runs(self) -> int:
        """How many runs each has."""
        return len(self.rows[0].runs)

    @property
    def headline(self) -> str:
        """What was tried, in one line."""
        many = len({row.mechanism for row in self.rows})
        wanted = self.truth["wanted"]
        what = f"the top {wanted:,}" if "top" in self.asked else number_of(wanted, "pattern") + " over the threshold"
        return (
            f"{number_of(many, 'mechanism')} tried for {what} of {self.truth['people']:,} {self.unit}, "
            f"{number_of(self.runs, 'run')} each"
        )

    def at(self, epsilon: Any) -> tuple[Trials, ...]:
        """Return the rows at one epsilon."""
        wanted = exact_number(epsilon) if isinstance(epsilon, int | float | str | Fraction) else None
        found = tuple(row for row in self.rows if row.epsilon == wanted)
        if not found:
            there = ", ".join(shown(one.epsilon) for one in self.advice)
            raise MisuseError(f"There is no trial at an epsilon of {epsilon!r}; there are {there}.")
        return found

    def lines(self) -> list[str]:
        """Return what there is to say beside the tables: the advice, who does not answer, what it rests on."""
        said = [" ".join(one.lines()) for one in self.advice]
        said += [f"{name} was not tried. {why}" for name, why in self.refused.items()]
        return [*said, *self.notes]

    @property
    def caution(self) -> str:
        """The warning."""
        return f": {self.warning}"

    @property
    def provenance(self) -> Provenance:
        """The question, and whether the crowd was made up."""
        return Provenance(question=dict(self.asked), simulated=self.private, notes=self.notes)

    def _rich(self, rows: int | None) -> Group:
        from rich.console import Group
        from rich.text import Text

        head = [Text(self.warning, style="bold"), Text(f"\n{self.headline}.")]
        tables = [part for one in self.advice for part in (Text(), self._table(one, rows))]
        return Group(*head, *tables, *(Text(f"\n{line}") for line in self.lines()))

    def _table(self, one: Advice, rows: int | None) -> Table:
        from rich.table import Table

        title = f"Epsilon {shown(one.epsilon)}"
        table = Table(box=None, pad_edge=False, title=title, title_justify="left", title_style="bold")
        for head in _HEADS:
            table.add_column(head, justify="right" if head.strip() else "left", no_wrap=True)
        for row in self.at(one.epsilon)[:rows]:
            table.add_row(*_cells(row), style="bold" if row.mechanism == one.recommended else "")
        return table

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table, a row per mechanism and epsilon; `_spread` is the deviation from run to run."""
        import pyarrow as pa

        numbers = [row.numbers() for row in self.rows]
        return pa.table(
            {
                "standing": pa.array([self.standing] * len(self.rows), pa.large_string()),
                "mechanism": pa.array([row.mechanism for row in self.rows], pa.large_string()),
                "epsilon": pa.array([float(row.epsilon) for row in self.rows], pa.float64()),
                "runs": pa.array([len(row.runs) for row in self.rows], pa.int64()),
                **{name: pa.array([row[name] for row in numbers], pa.float64()) for name in (*numbers[0],)},
                "chosen": pa.array([next(iter(row.chosen), None) for row in self.rows], pa.large_string()),
                "recommended": pa.array([self.recommended[row.epsilon] == row.mechanism for row in self.rows]),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, the warning first."""
        return {
            "discreet": self.FORM,
            "standing": self.standing,
            "warning": self.warning,
            "on": self.on,
            "asked": dict(self.asked),
            "truth": dict(self.truth),
            "unit": self.unit,
            "seed": self.seed,
            "recommended": {shown(epsilon): name for epsilon, name in self.recommended.items()},
            "advice": [one.to_dict() for one in self.advice],
            "trials": [row.to_dict() for row in self.rows],
            "refused": {name: str(why) for name, why in self.refused.items()},
            "notes": list(self.notes),
        }

    def plot(self, kind: Literal["found", "counts", "intervals"] = "found") -> Picture:
        """Return a picture, which a notebook shows and ``.save("picture.svg")`` writes.

        Parameters
        ----------
        kind
            ``"found"``: which share each finds; ``"counts"``: how far counts are off; ``"intervals"``: how wide a
            typical interval is. Whiskers are the spread over runs.
        """
        made: Picture = draw_with("comparison_picture", self, kind)
        return made

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        refused = {str(name): Message(str(why), str(why)) for name, why in values["refused"].items()}
        return read_fields(cls, {**values, "rows": values["trials"]}, refused=refused)


def _cells(row: Trials) -> list[str]:
    held, margin = row.held, row.margin
    full = round(_WIDE * min(max(row.found.mean, 0.0), 1.0))
    return [
        row.name,
        with_spread(row.found),
        "█" * full + "·" * (_WIDE - full),
        with_spread(row.error),
        "–" if held is None else percent(held.mean),
        "–" if margin is None else f"± {margin.mean:,.0f}",
        seconds_text(row.seconds.mean),
    ]


def with_spread(spread: RunSpread) -> str:
    """Return a share in percent, with its spread in points."""
    digits = 0 if spread.mean >= 0.1 else 1 if spread.mean >= 0.01 else 2
    return f"{percent(spread.mean)} ± {100 * spread.deviation:.{digits}f}"


def seconds_text(value: float) -> str:
    """Return a time with two digits at least."""
    return f"{value:.{3 if value < 0.1 else 2 if value < 10 else 0}f}"
