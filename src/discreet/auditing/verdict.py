"""What an audit found: one attempt a way of trying, and whether the claim stands after all of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..privacy.budget import Neighbours, shown
from ..wording import Rendered

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

Means: TypeAlias = Literal["coupled", "whole", "exact", "partial", "statistical"]

_TOLD = {
    "coupled": "largest loss that a pair reaches",
    "whole": "largest loss that a pair reaches, from file to file",
    "exact": "largest loss, enumerated",
    "partial": "loss of at least, enumerated in part",
    "statistical": "loss of at least (99 % confidence)",
}


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One way of trying to break a claim, and what came of it.

    Parameters
    ----------
    means
        ``"coupled"``, ``"whole"`` (coupled, from a file that is read to the files that are saved), ``"exact"``,
        ``"partial"`` (enumerated, but not to the end) or ``"statistical"``.
    stands
        Whether the claim was not broken.
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
    stands: bool
    loss: float
    tried: str
    engine: str = ""
    paths: tuple[str, ...] = ()
    pairs: int = 0
    pair: str = ""
    question: str = ""
    why: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Verdict(Rendered):
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

    name: str
    settings: tuple[tuple[str, str], ...] = ()
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    attempts: tuple[Attempt, ...]
    seed: int
    what: Literal["mechanism", "protocol", "oracle"] = "mechanism"

    @property
    def stands(self) -> bool:
        """Whether no attempt broke the claim."""
        return all(attempt.stands for attempt in self.attempts)

    @property
    def worst(self) -> Attempt:
        """The attempt that broke the claim, or else the one with the largest loss."""
        return max(self.attempts, key=lambda attempt: (not attempt.stands, attempt.loss))

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
        return f"What ran: {' and '.join(engines)}, on {pairs:,} pairs of neighbours; {', '.join(paths)}."

    def __str__(self) -> str:
        worst = self.worst
        if self.stands:
            return f"{self.name}: the claim stands ({self.claim}); the largest loss found is {worst.loss:.4g}."
        return f"{self.name}: the claim is broken ({self.claim}). {worst.why} Neighbours: {worst.pair}."

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Table
        from rich.text import Text

        table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in ("means", "tried", "result", "loss", "seconds"):
            table.add_column(column, justify="right" if column in ("loss", "seconds") else "left", overflow="fold")
        for one in self.attempts:
            result = "stands" if one.stands else "[bold red]broken[/bold red]"
            table.add_row(one.means, escape(one.tried), result, f"{one.loss:.4g}", f"{one.seconds:.1f}")
        lines: list[RenderableType] = [Text(f"{self.name} claims {self.claim}.", style="bold"), Text(), table, Text()]
        lines += [Text(f"{self.ran}\n")]
        worst = self.worst
        if not self.stands:
            lines += [Text("The claim is broken.", style="bold red"), Text(worst.why)]
        else:
            lines.append(Text("The claim stands: nothing that was tried broke it.", style="green"))
        if worst.pair:
            told = "It was" if not self.stands else _TOLD[worst.means].capitalize() + ":"
            lines += [Text(f"{told} {worst.question}. Neighbours: {worst.pair}.")]
        return Group(*lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values, exact numbers as text."""
        return {
            self.what: self.name,
            "settings": dict(self.settings),
            "stands": self.stands,
            "claim": {
                "epsilon": str(self.epsilon),
                "delta": str(self.delta),
                "neighbours": self.neighbours.value,
            },
            "seed": self.seed,
            "attempts": [
                {
                    "means": one.means,
                    "stands": one.stands,
                    "loss": "infinite" if isinf(one.loss) else one.loss,
                    "tried": one.tried,
                    "engine": one.engine,
                    "paths": list(one.paths),
                    "pairs": one.pairs,
                    "question": one.question,
                    "neighbours": one.pair,
                    "why": one.why,
                    "seconds": round(one.seconds, 3),
                }
                for one in self.attempts
            ],
        }

    def to_json(self) -> str:
        """Return the verdict as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)
