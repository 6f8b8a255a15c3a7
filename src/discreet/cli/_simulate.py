"""`discreet simulate`: what a collector who never sees the data would learn from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from ..errors import MisuseError
from . import options
from ._adding import DeviceOption
from ._groups import OrderedReading, Reporting, Writing, grouped
from ._parsing import settings_of
from ._progress import ProgressBar
from ._terminal import say, say_when_compiling

if TYPE_CHECKING:
    from ..local.study import Outcome, Round


Speed: TypeAlias = Literal["person", "aggregated"]
_NAMES = 24  # letters that the name of a round takes, so that lines stand below each other

app = typer.Typer()


@dataclass(frozen=True)
class SimulatedReading(OrderedReading):
    """Which data to read, and how, with order and pairs; one seed is for that and for the reports."""

    seed: Annotated[
        int | None,
        options.number("The same seed gives the same result.  \\[default: drawn, and shown]", options.HOW),
    ] = None

    def seeded(self) -> SimulatedReading:
        """Return this with a seed, drawn where none was given."""
        if self.seed is not None:
            return self
        from secrets import randbelow

        return replace(self, seed=randbelow(1 << 32))


class Transcript:
    """Shows a bar while a round goes on, and a line when it has been heard."""

    def __init__(self, lines: bool, err: bool) -> None:
        self._lines, self._err = lines, err
        self._bar = ProgressBar("simulating").__enter__()

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__(None, None, None)

    def progress(self, name: str, share: float) -> None:
        """Note which round is going on, and how far it is."""
        self._bar.stage(name)
        self._bar(share)

    def heard(self, line: Round) -> None:
        """Show a line, and begin a new bar."""
        self._bar.__exit__(None, None, None)
        if self._lines:
            say(
                f"{line.name:<{_NAMES}}  {line.people:>9,} people  {line.oracle:<7}  {line.values:>6,} values  "
                f"padding {line.pad:<3}  {line.bits:g} bits per report"
                f"{'' if line.people else ', but nobody was asked'}"
                f"{f', {line.left_out:,} left out' if line.left_out else ''}",
                err=self._err,
            )
        self._bar = ProgressBar("simulating").__enter__()


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet simulate retail.dat --top 64 --epsilon 2 --seed 7\n\n"
    "discreet simulate sales.csv --person customer --item product --top 32 --epsilon 4 --least 2 --score\n\n"
    "discreet simulate retail.dat --protocol svim --set candidates=3 --top 20 --epsilon 1 -o found.json\n\n"
    "discreet simulate sales.csv --person customer --basket receipt --item product --top 32 --epsilon 4\n\n"
    "discreet simulate sales.csv --person customer --item product --top 32 --epsilon 1 --hierarchy products.csv\n\n"
    "discreet simulate clicks.csv --person user --item page --time at --protocol pairs --set how=after --top 32 "
    "--epsilon 4"
)
@grouped
def simulate(
    protocol: Annotated[
        str,
        options.option("One of `discreet mechanisms --kind protocol`.", options.HOW, metavar="NAME", show_default=True),
    ] = "adept",
    top: options.Top = None,
    least: Annotated[
        int,
        options.number("2 leaves single items out.", "What to find", show_default=True),
    ] = 1,
    epsilon: Annotated[
        str | None,
        options.option("How much one report may give away: 1, 0.5, 1/3.", options.HOW, metavar="NUMBER"),
    ] = None,
    speed: Annotated[
        Speed,
        options.option("Make every report, or draw what they add up to.", options.HOW, show_default=True),
    ] = "person",
    screen: Annotated[
        bool,
        options.option(
            "Leave out reports that no honest device is likely to have sent.",
            options.HOW,
            "--screen/--no-screen",
            show_default=True,
        ),
    ] = True,
    assume_malicious: options.AssumeMalicious = None,
    max_baskets: Annotated[
        int | None,
        options.number(
            "With --basket: up to how many baskets a person counts for more than who has one.  \\[default: 1, "
            "everybody counts the same]",
            options.HOW,
        ),
    ] = None,
    hierarchy: options.HierarchyFile = None,
    level: options.LevelOption = None,
    device: DeviceOption = None,
    settings: options.Settings = None,
    score: Annotated[bool, options.option("Compare with the truth.", options.OUT, "--score")] = False,
    *,
    reading: SimulatedReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Try a local protocol on data you know: every person sends one randomised report, and nobody sees a basket.

    Shows the rounds as they go, then the patterns, or the relations, with intervals. The result is
    [bold]simulated[/bold]: it is for finding out what a study would learn, not for publishing. A score against the
    truth says how near it came.
    """
    from ..local.study import simulate as run
    from ..registry import protocol as protocol_of

    say_when_compiling()
    if top is None:
        raise MisuseError("Say how many patterns are wanted: --top 64.")
    if epsilon is None:
        raise MisuseError("Say how much one report may give away: --epsilon 1 is usual, less protects more.")
    plan = protocol_of(protocol, settings_of(settings))
    if file := reading.result():
        raise MisuseError(f"{file} holds patterns or rules that were found already: give the data they came from.")
    reporting.check(reading, writing, hierarchy)
    seeded = reading.seeded()
    baskets = (seeded if reading.max_items is not None else replace(seeded, seed=None)).baskets()
    table = writing.format == "table"
    with Transcript(lines=table or writing.output is not None, err=writing.output is not None) as lines:
        outcome = run(
            baskets,
            plan,
            top=top,
            least=least,
            epsilon=epsilon,
            seed=seeded.seed or 0,
            speed=speed,
            score=score,
            screen=screen,
            assume_malicious=assume_malicious or 0,
            max_baskets=max_baskets,
            hierarchy=hierarchy,
            level=level,
            device=device,
            progress=lines.progress,
            transcript=lines.heard,
        )
    _deliver(outcome, writing, drawn=reading.seed is None)
    reporting.write(outcome, reading)


def _deliver(outcome: Outcome, writing: Writing, drawn: bool) -> None:
    """Write what was looked for; beside a table, or a file, say all that JSON holds."""
    plain = writing.output is None and writing.format == "table"
    if plain:
        say()
    writing.write(outcome.found)
    if plain or writing.output is not None:
        for line in _said(outcome):
            say(f"\n{line}", err=not plain)
    if drawn:
        seed = f"The seed {outcome.asked['seed']} was drawn: --seed {outcome.asked['seed']} gives the same again."
        say(f"\n{seed}" if plain or writing.output is not None else seed, err=not plain)


def _said(outcome: Outcome) -> list[str]:
    lines = [*outcome.notes, outcome.guarantee.in_words(simulated=outcome.simulated)]
    if outcome.reports == 1 and len(outcome.rounds) > 1:
        lines.append("Each person answers one round, so what the rounds lose does not add up.")
    if outcome.marginal:
        lines.append("Marginal: each count was drawn by itself, so what counts have in common is not simulated.")
    if outcome.scores:
        scores = "; ".join(f"{name} {value:.4g}" for name, value in outcome.scores.items())
        lines.append(f"Against the truth: {scores}.")
    return lines
