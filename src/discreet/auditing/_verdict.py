"""What an audit found: one attempt for each way of trying, and whether the claim stands after all of them.

A claim stands where something was tried and nothing broke it. An attempt that had nothing to try says so: it is no
evidence, neither in the table nor in the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isinf
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args

from ..privacy import Neighbours, shown
from ..results import Provenance, Result, read_fields

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group, RenderableType

Means: TypeAlias = Literal["coupled", "replayed", "whole", "exact", "partial", "statistical"]
Outcome: TypeAlias = Literal["stands", "broken", "not tried"]
Claimant: TypeAlias = Literal["mechanism", "protocol", "oracle"]

_TOLD = {
    "coupled": "largest loss that a pair reaches",
    "replayed": "largest loss that a pair reaches, with made-up answers",
    "whole": "largest loss that a pair reaches, from file to file",
    "exact": "largest loss, enumerated",
    "partial": "loss of at least, enumerated in part",
    "statistical": "loss of at least (99 % confidence)",
}


# The columns of the table of a verdict, and those of them that are numbers.
_COLUMNS = "name relation epsilon delta loss means outcome tried engine paths pairs question neighbours why seconds"
_NUMBERS = ("epsilon", "delta", "loss", "seconds")
_UNTRIED = "nothing was tried, so nothing is known about the claim"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One way of trying to break a claim, and what came of it.

    Parameters
    ----------
    means
        ``"coupled"``, ``"replayed"`` (coupled, with answers of every size, on data of all kinds), ``"whole"`` (coupled,
        from a file that is read to the files that are saved), ``"exact"``, ``"partial"`` (enumerated, but not to the
        end) or ``"statistical"``.
    stands
        Whether the claim was not broken; None where there was nothing to try, so that nothing is known.
    loss
        The epsilon that was found: the largest one reached, or a lower confidence bound. 0 where nothing was found.
    tried
        What was tried, in numbers.
    engine, paths, pairs
        What ran: the engine that counted, or the function of a device; the ways data came in and results went out; and
        how many pairs of neighbours there were.
    pair, question
        The worst neighbours and the question they were asked, in plain words.
    why
        How the claim was broken; empty where it stands.
    seconds
        How long it took.
    """

    means: Means
    stands: bool | None
    loss: float
    tried: str
    engine: str = ""
    paths: tuple[str, ...] = ()
    pairs: int = 0
    pair: str = ""
    question: str = ""
    why: str = ""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        # Here, and not where attempts are made: whoever adds a way of trying cannot forget it.
        if self.stands and not self.pairs:
            object.__setattr__(self, "stands", None)

    @property
    def outcome(self) -> Outcome:
        """What came of it, in words."""
        return "not tried" if self.stands is None else "stands" if self.stands else "broken"

    def to_dict(self) -> dict[str, Any]:
        """Return the attempt as plain values; a loss that has no end is ``"infinite"``."""
        values = {"neighbours" if name == "pair" else name: value for name, value in vars(self).items()}
        loss = "infinite" if isinf(self.loss) else self.loss
        seconds = round(self.seconds, 3)
        return values | {"outcome": self.outcome, "loss": loss, "paths": list(self.paths), "seconds": seconds}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Attempt:
        """Return the attempt that :meth:`to_dict` wrote; any error says what is wrong with the values."""
        loss = inf if values["loss"] == "infinite" else values["loss"]
        return read_fields(cls, {**values, "loss": loss, "pair": values["neighbours"]})


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(Result):
    """What :func:`discreet.audit` returns: whether a claim stands, after trying to break it.

    Parameters
    ----------
    name, settings, what
        The mechanism, protocol or oracle, its settings as text, and which of the three it is.
    neighbours, epsilon, delta
        The claim.
    attempts
        The ways it was tried.
    seed
        Makes the audit repeatable.
    """

    FORM: ClassVar[str] = "verdict/1"
    NOUN: ClassVar[str] = "a verdict"

    name: str
    settings: tuple[tuple[str, str], ...] = ()
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    attempts: tuple[Attempt, ...]
    seed: int
    what: Claimant = "mechanism"

    def __bool__(self) -> bool:
        """Refuse to be true or false: that it has attempts does not mean that the claim stands."""
        raise TypeError("A verdict is neither true nor false by itself: look at its stands.")

    @property
    def provenance(self) -> Provenance:
        """What was audited, and its settings."""
        named: dict[str, Any] = {} if self.what == "oracle" else {self.what: self.name}
        return Provenance(settings=dict(self.settings), **named)

    @property
    def stands(self) -> bool:
        """Whether something was tried and no attempt broke the claim."""
        return self.outcome == "stands"

    @property
    def outcome(self) -> Outcome:
        """What came of all attempts together, in words."""
        outcomes = {attempt.outcome for attempt in self.attempts}
        return "broken" if "broken" in outcomes else "stands" if "stands" in outcomes else "not tried"

    @property
    def worst(self) -> Attempt:
        """The attempt that broke the claim, or else the one with the largest loss."""
        nothing = Attempt(means="coupled", stands=None, loss=0.0, tried="nothing")
        return max(self.attempts, key=lambda one: (one.outcome == "broken", one.loss), default=nothing)

    @property
    def seconds(self) -> float:
        """How long all of it took."""
        return sum(attempt.seconds for attempt in self.attempts)

    @property
    def claim(self) -> str:
        """The claim in words."""
        loss = f"epsilon = {shown(self.epsilon)}" + (f", delta = {float(self.delta):.3g}" if self.delta else "")
        return f"{loss}, {self.neighbours.words}"

    @property
    def ran(self) -> str:
        """What was run, in words: which code counted or answered, by which ways."""
        engines = dict.fromkeys(one.engine for one in self.attempts if one.engine)
        paths = dict.fromkeys(path for one in self.attempts for path in one.paths)
        pairs = sum(one.pairs for one in self.attempts)
        if not pairs:
            return "What ran: nothing."
        return f"What ran: {' and '.join(engines)}, on {pairs:,} pairs of neighbours; {', '.join(paths)}."

    def __str__(self) -> str:
        worst = self.worst
        if self.outcome == "not tried":
            return f"{self.name}: {_UNTRIED} ({self.claim})."
        if self.stands:
            return f"{self.name}: the claim stands ({self.claim}); the largest loss found is {worst.loss:.4g}."
        return f"{self.name}: the claim is broken ({self.claim}). {worst.why} Neighbours: {worst.pair}."

    def _rich(self, rows: int | None) -> Group:
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Table
        from rich.text import Text

        table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in ("means", "tried", "result", "loss", "seconds"):
            table.add_column(column, justify="right" if column in ("loss", "seconds") else "left", overflow="fold")
        for one in self.attempts[:rows]:
            result = "[bold red]broken[/bold red]" if one.outcome == "broken" else one.outcome
            loss = "" if one.outcome == "not tried" else f"{one.loss:.4g}"
            table.add_row(one.means, escape(one.tried), result, loss, f"{one.seconds:.1f}")
        lines: list[RenderableType] = [Text(f"{self.name} claims {self.claim}.", style="bold"), Text(), table, Text()]
        lines += [Text(f"{self.ran}\n")]
        worst = self.worst
        if self.outcome == "broken":
            lines += [Text("The claim is broken.", style="bold red"), Text(worst.why)]
        elif self.outcome == "not tried":
            lines.append(Text(f"{_UNTRIED[:1].upper()}{_UNTRIED[1:]}.", style="bold red"))
        else:
            lines.append(Text("The claim stands: nothing that was tried broke it.", style="green"))
        if worst.pair:
            told = "It was" if self.outcome == "broken" else _TOLD[worst.means].capitalize() + ":"
            lines += [Text(f"{told} {worst.question}. Neighbours: {worst.pair}.")]
        return Group(*lines)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table, a row for each attempt, which begins with the claim that was tried."""
        import pyarrow as pa

        claim = {"name": self.name, "relation": self.neighbours.value}
        budget = {"epsilon": float(self.epsilon), "delta": float(self.delta)}
        rows = [claim | budget | one.to_dict() | {"loss": one.loss} for one in self.attempts]
        kinds = dict.fromkeys(_COLUMNS.split(), pa.large_string()) | dict.fromkeys(_NUMBERS, pa.float64())
        return pa.Table.from_pylist(
            rows, pa.schema(kinds | {"paths": pa.list_(pa.large_string()), "pairs": pa.int64()})
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values, exact numbers as text."""
        return {
            "discreet": self.FORM,
            self.what: self.name,
            "settings": dict(self.settings),
            "stands": self.stands,
            "outcome": self.outcome,
            "claim": {"epsilon": str(self.epsilon), "delta": str(self.delta), "neighbours": self.neighbours.value},
            "seed": self.seed,
            "attempts": [one.to_dict() for one in self.attempts],
        }

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        kind: Claimant = next(kind for kind in get_args(Claimant) if kind in values)
        settings = tuple((str(name), str(value)) for name, value in values["settings"].items())
        made = read_fields(cls, {**values, **values["claim"], "name": values[kind]}, settings=settings, what=kind)
        if (values["stands"], values["outcome"]) != (made.stands, made.outcome):
            raise ValueError("its attempts say something else than its 'stands' and 'outcome'")
        return made
