"""The comparison of mechanisms on data: trials of all mechanisms that answer a question, for the curator alone.

The numbers depend on the data, so a comparison is **not private**, and every form of it says so first. On a crowd made
up from public numbers it depends on no person, and says that instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from ..errors import Message, MisuseError
from ..wording import number_of
from ._promise import FOR_THE_CURATOR, SIMULATED, shown
from ._provenance import Provenance
from ._result import Result, draw_with
from ._trials import Advice, RunSpread, Trials, percent
from ._untrusted import exact_number, read_fields

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group
    from rich.table import Table

    from ._picture import Picture

TrialSource: TypeAlias = Literal["data", "drawn", "imagined"]

_BAR_WIDTH = 6  # letters of the bar of a share
_COLUMN_NAMES = ("", "found", " ", "off by", "hold", "interval", "seconds")
_DATA_WARNING = (
    "These numbers come from the data themselves. To choose a mechanism or an epsilon by them is a use of the data "
    "that no ledger knows of."
)
_COSTS_NOTHING = "No data were read: the crowd was made up from the numbers given. Choosing by it costs nothing."


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Result):
    """The result of :func:`discreet.compare`: a sequence of :class:`Trials`, and **not private**.

    Parameters
    ----------
    rows
        The trials of each mechanism at each epsilon: by epsilon, then the largest share found first.
    advice
        The recommended mechanism at each epsilon, and the distance of `auto` from the best.
    refused
        The reason of each mechanism that does not answer the question, by its name.
    asked
        The question: plain values by name.
    truth
        True numbers of the data: of `people` and `items`, of the patterns `wanted`, and the count of the `last` of the
        patterns.
    on
        The source of the people: ``"data"``, ``"drawn"`` (a sample of the data) or ``"imagined"`` (public numbers).
    seed
        The seed of the trials; equal seeds give equal trials.
    unit
        The unit of counts: people, or baskets.
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
    on: TrialSource = "data"
    seed: int = 0
    unit: str = "people"
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Trials]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Trials:
        return self.rows[place]

    @property
    def private(self) -> bool:
        """Return whether it may be shown to anyone: only if no data were read."""
        return self.on == "imagined"

    @property
    def standing(self) -> Literal["not private", "simulated"]:
        """Return the status that its page states."""
        return "simulated" if self.private else "not private"

    @property
    def warning(self) -> str:
        """Return the warning that precedes every form of it."""
        return f"{SIMULATED}. {_COSTS_NOTHING}" if self.private else f"{FOR_THE_CURATOR}. {_DATA_WARNING}"

    @property
    def recommended(self) -> dict[Fraction, str]:
        """Return the recommended mechanism by epsilon: `auto`, unless a mechanism is significantly better."""
        return {advice.epsilon: advice.recommended for advice in self.advice}

    @property
    def runs(self) -> int:
        """Return the number of runs of each mechanism."""
        return len(self.rows[0].runs)

    @property
    def headline(self) -> str:
        """Return the numbers of mechanisms, patterns and runs in one line."""
        mechanism_count = len({row.mechanism for row in self.rows})
        pattern_count = self.truth["wanted"]
        patterns = (
            f"the top {pattern_count:,}"
            if "top" in self.asked
            else number_of(pattern_count, "pattern") + " over the threshold"
        )
        return (
            f"{number_of(mechanism_count, 'mechanism')} tried for {patterns} of {self.truth['people']:,} {self.unit}, "
            f"{number_of(self.runs, 'run')} each"
        )

    def at(self, epsilon: Any) -> tuple[Trials, ...]:
        """Return the trials at one epsilon."""
        # Budgets are exact fractions: a float such as 0.1 is compared as the decimal number that the user typed.
        value = exact_number(epsilon) if isinstance(epsilon, int | float | str | Fraction) else None
        rows = tuple(row for row in self.rows if row.epsilon == value)
        if not rows:
            epsilons = ", ".join(shown(advice.epsilon) for advice in self.advice)
            raise MisuseError(f"There is no trial at an epsilon of {epsilon!r}; there are {epsilons}.")
        return rows

    def lines(self) -> list[str]:
        """Return the sentences beside the tables: the recommendations, the refusals, and the notes."""
        lines = [" ".join(advice.lines()) for advice in self.advice]
        lines += [f"{name} was not tried. {reason}" for name, reason in self.refused.items()]
        return [*lines, *self.notes]

    @property
    def caution(self) -> str:
        """Return the warning, as a command adds it."""
        return f": {self.warning}"

    @property
    def provenance(self) -> Provenance:
        """Return the question, and whether the crowd was made up."""
        return Provenance(question=dict(self.asked), simulated=self.private, notes=self.notes)

    def _rich(self, rows: int | None) -> Group:
        from rich.console import Group
        from rich.text import Text

        # The warning comes first: a table without it could be copied as a public result.
        head = [Text(self.warning, style="bold"), Text(f"\n{self.headline}.")]
        tables = [part for advice in self.advice for part in (Text(), self._table(advice, rows))]
        return Group(*head, *tables, *(Text(f"\n{line}") for line in self.lines()))

    def _table(self, advice: Advice, rows: int | None) -> Table:
        from rich.table import Table

        title = f"Epsilon {shown(advice.epsilon)}"
        table = Table(box=None, pad_edge=False, title=title, title_justify="left", title_style="bold")
        # Columns do not wrap: a number broken over two lines is read as two numbers.
        for head in _COLUMN_NAMES:
            table.add_column(head, justify="right" if head.strip() else "left", no_wrap=True)
        for row in self.at(advice.epsilon)[:rows]:
            table.add_row(*_cells(row), style="bold" if row.mechanism == advice.recommended else "")
        return table

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table, a row per mechanism and epsilon; `_spread` is the deviation from run to run."""
        import pyarrow as pa

        # Each number over the runs is computed once per row, and not once per column.
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
        """Return all values as plain values, the warning first."""
        return {
            "discreet": self.FORM,
            # First in the file, so that a person who opens it reads the warning before any number.
            "standing": self.standing,
            "warning": self.warning,
            "on": self.on,
            "asked": dict(self.asked),
            "truth": dict(self.truth),
            "unit": self.unit,
            "seed": self.seed,
            "recommended": {shown(epsilon): name for epsilon, name in self.recommended.items()},
            "advice": [advice.to_dict() for advice in self.advice],
            "trials": [row.to_dict() for row in self.rows],
            "refused": {name: str(reason) for name, reason in self.refused.items()},
            "notes": list(self.notes),
        }

    def plot(self, kind: Literal["found", "counts", "intervals"] = "found") -> Picture:
        """Return a picture, which a notebook shows and ``.save("picture.svg")`` writes.

        Parameters
        ----------
        kind
            ``"found"``: the share that each finds; ``"counts"``: the error of counts; ``"intervals"``: the margin of a
            typical interval. Whiskers are the spread over runs.
        """
        picture: Picture = draw_with("comparison_picture", self, kind)
        return picture

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        # A message of a file has no template, so its text stands for both of its forms.
        refused = {str(name): Message(str(reason), str(reason)) for name, reason in values["refused"].items()}
        return read_fields(cls, {**values, "rows": values["trials"]}, refused=refused)


def _cells(row: Trials) -> list[str]:
    coverage, margin = row.held, row.margin
    full_cells = round(_BAR_WIDTH * min(max(row.found.mean, 0.0), 1.0))
    return [
        row.name,
        with_spread(row.found),
        "█" * full_cells + "·" * (_BAR_WIDTH - full_cells),
        with_spread(row.error),
        "–" if coverage is None else percent(coverage.mean),
        "–" if margin is None else f"± {margin.mean:,.0f}",
        seconds_text(row.seconds.mean),
    ]


def with_spread(spread: RunSpread) -> str:
    """Return a share in percent, with its spread in points."""
    # A spread has the digits of its mean: more would suggest a precision that the runs do not have.
    digits = 0 if spread.mean >= 0.1 else 1 if spread.mean >= 0.01 else 2
    return f"{percent(spread.mean)} ± {100 * spread.deviation:.{digits}f}"


def seconds_text(value: float) -> str:
    """Return a time with two digits at least."""
    return f"{value:.{3 if value < 0.1 else 2 if value < 10 else 0}f}"
