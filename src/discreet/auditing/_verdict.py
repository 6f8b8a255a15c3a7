"""The verdict of an audit: one attempt per attack, and whether the claim stands after all of them.

A claim stands if an attack ran and none broke it. An attempt without anything to try says so: it is no
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

_LOSS_TEXTS = {
    "coupled": "largest loss that a pair reaches",
    "replayed": "largest loss that a pair reaches, with made-up answers",
    "whole": "largest loss that a pair reaches, from file to file",
    "exact": "largest loss, enumerated",
    "partial": "loss of at least, enumerated in part",
    "statistical": "loss of at least (99 % confidence)",
}


# The columns of the table of a verdict, and the numeric columns.
_COLUMNS = "name relation epsilon delta loss means outcome tried engine paths pairs question neighbours why seconds"
_NUMBERS = ("epsilon", "delta", "loss", "seconds")
_UNTRIED = "nothing was tried, so nothing is known about the claim"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One attack on a claim, and its result.

    Parameters
    ----------
    means
        ``"coupled"``, ``"replayed"`` (coupled, with answers of every size, on data of all kinds), ``"whole"``
        (coupled, from a file that is read to the files that are saved), ``"exact"``, ``"partial"`` (enumerated in
        part) or ``"statistical"``.
    stands
        Whether the claim was not broken; None if the attack had nothing to try.
    loss
        The epsilon that was found: the largest loss, or a lower confidence bound; 0 without a finding.
    tried
        The extent of the attack, in numbers.
    engine, paths, pairs
        The engine that counted, or the function of a device; the ways of data input and result output; and the number
        of pairs of neighbours.
    pair, question
        The worst neighbours and the question about them, in words.
    why
        The breach in words; empty if the claim stands.
    seconds
        The duration.
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
        # In the constructor, so that no new attack can omit it.
        if self.stands and not self.pairs:
            object.__setattr__(self, "stands", None)

    @property
    def outcome(self) -> Outcome:
        """The result of the attempt, in words."""
        return "not tried" if self.stands is None else "stands" if self.stands else "broken"

    def to_dict(self) -> dict[str, Any]:
        """Return the attempt as plain values; an unbounded loss is ``"infinite"``."""
        values = {"neighbours" if name == "pair" else name: value for name, value in vars(self).items()}
        loss = "infinite" if isinf(self.loss) else self.loss
        seconds = round(self.seconds, 3)
        return values | {"outcome": self.outcome, "loss": loss, "paths": list(self.paths), "seconds": seconds}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Attempt:
        """Return the attempt of :meth:`to_dict`; an error states the fault of the values."""
        loss = inf if values["loss"] == "infinite" else values["loss"]
        return read_fields(cls, {**values, "loss": loss, "pair": values["neighbours"]})


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(Result):
    """The result of :func:`discreet.audit`: whether a claim stands after the attacks on it.

    Parameters
    ----------
    name, settings, what
        The mechanism, protocol or oracle, its settings as text, and its kind.
    neighbours, epsilon, delta
        The claim.
    attempts
        The attacks.
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
        """Raise an error: a verdict with attempts would be true even if the claim is broken."""
        raise TypeError("A verdict is neither true nor false by itself: look at its stands.")

    @property
    def provenance(self) -> Provenance:
        """The audited entry of the registry, and its settings."""
        claimant: dict[str, Any] = {} if self.what == "oracle" else {self.what: self.name}
        return Provenance(settings=dict(self.settings), **claimant)

    @property
    def stands(self) -> bool:
        """Whether an attack ran and no attempt broke the claim."""
        return self.outcome == "stands"

    @property
    def outcome(self) -> Outcome:
        """The result of all attempts together, in words."""
        outcomes = {attempt.outcome for attempt in self.attempts}
        return "broken" if "broken" in outcomes else "stands" if "stands" in outcomes else "not tried"

    @property
    def worst(self) -> Attempt:
        """The attempt that broke the claim, or else the attempt with the largest loss."""
        # A verdict without attempts has a worst attempt too, which tried nothing.
        empty_attempt = Attempt(means="coupled", stands=None, loss=0.0, tried="nothing")
        return max(
            self.attempts, key=lambda attempt: (attempt.outcome == "broken", attempt.loss), default=empty_attempt
        )

    @property
    def seconds(self) -> float:
        """The total duration."""
        return sum(attempt.seconds for attempt in self.attempts)

    @property
    def claim(self) -> str:
        """The claim in words."""
        loss = f"epsilon = {shown(self.epsilon)}" + (f", delta = {float(self.delta):.3g}" if self.delta else "")
        return f"{loss}, {self.neighbours.words}"

    @property
    def ran(self) -> str:
        """The code that counted or answered, and its ways of input and output, in words."""
        engines = dict.fromkeys(attempt.engine for attempt in self.attempts if attempt.engine)
        paths = dict.fromkeys(path for attempt in self.attempts for path in attempt.paths)
        pairs = sum(attempt.pairs for attempt in self.attempts)
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
        for attempt in self.attempts[:rows]:
            result = "[bold red]broken[/bold red]" if attempt.outcome == "broken" else attempt.outcome
            loss = "" if attempt.outcome == "not tried" else f"{attempt.loss:.4g}"
            table.add_row(attempt.means, escape(attempt.tried), result, loss, f"{attempt.seconds:.1f}")
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
            prefix = "It was" if self.outcome == "broken" else _LOSS_TEXTS[worst.means].capitalize() + ":"
            lines += [Text(f"{prefix} {worst.question}. Neighbours: {worst.pair}.")]
        return Group(*lines)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table, a row for each attempt, which begins with the claim that was tried."""
        import pyarrow as pa

        claim = {"name": self.name, "relation": self.neighbours.value}
        budget = {"epsilon": float(self.epsilon), "delta": float(self.delta)}
        rows = [claim | budget | attempt.to_dict() | {"loss": attempt.loss} for attempt in self.attempts]
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
            "attempts": [attempt.to_dict() for attempt in self.attempts],
        }

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        kind: Claimant = next(kind for kind in get_args(Claimant) if kind in values)
        settings = tuple((str(name), str(value)) for name, value in values["settings"].items())
        verdict = read_fields(cls, {**values, **values["claim"], "name": values[kind]}, settings=settings, what=kind)
        if (values["stands"], values["outcome"]) != (verdict.stands, verdict.outcome):
            raise ValueError("its attempts say something else than its 'stands' and 'outcome'")
        return verdict
