"""`discreet simulate`: a local protocol on known data, with simulated reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import typer

from ..errors import MisuseError
from . import options
from ._asking import pattern_option
from ._groups import OrderedReading, Reporting, Writing, command
from ._parsing import parse_settings
from ._serve import DEVICE_OPTION
from ._terminal import ProgressBar, say, say_when_compiling

if TYPE_CHECKING:
    from ..baskets import AnyBaskets
    from ..local.study import Outcome, Round


Speed: TypeAlias = Literal["person", "aggregated"]
_NAME_WIDTH = 24  # letters for the name of a round, so that the lines align

app = typer.Typer()


@dataclass(frozen=True)
class SimulatedReading(OrderedReading):
    """The options for reading the data of a simulation; the reports use the seed too."""

    seed: int | None = options.number(
        "The same seed gives the same result.  \\[default: drawn, and shown]", options.HOW
    )

    def choose_seed(self) -> int:
        """Return the seed of the command line, or draw one of 32 bits."""
        from secrets import randbelow

        # 32 bits: distinct in practice, and short enough to type again.
        return randbelow(1 << 32) if self.seed is None else self.seed

    def read_seeded(self, seed: int) -> AnyBaskets:
        """Return the baskets; the seed draws the items that --max-items keeps."""
        # `read` refuses a seed that draws nothing.
        return replace(self, seed=None if self.max_items is None else seed).read_baskets()


class Transcript:
    """A progress bar for each round, and a line after it."""

    def __init__(self, lines: bool, err: bool) -> None:
        self._has_lines, self._err = lines, err
        self._bar = ProgressBar("simulating").__enter__()

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__()

    def progress(self, name: str, share: float) -> None:
        """Show the name of the present round, and its finished share."""
        self._bar.stage(name)
        self._bar(share)

    def finish_round(self, outcome: Round) -> None:
        """Print the line of a round, and start the bar of the next."""
        self._bar.__exit__()
        if self._has_lines:
            say(
                f"{outcome.name:<{_NAME_WIDTH}}  {outcome.people:>9,} people  {outcome.oracle:<7}  "
                f"{outcome.values:>6,} values  padding {outcome.pad:<3}  {outcome.bits:g} bits per report"
                f"{'' if outcome.people else ', but nobody was asked'}"
                f"{f', {outcome.left_out:,} left out' if outcome.left_out else ''}",
                err=self._err,
            )
        self._bar = ProgressBar("simulating").__enter__()


@dataclass(frozen=True)
class SimulationOptions:
    """The protocol and the question of a simulation, by the keywords of `discreet.simulate`."""

    protocol: str = options.option(
        "One of `discreet mechanisms --kind protocol`.", options.HOW, default="adept", metavar="NAME"
    )
    top: int | None = options.TOP
    least: int = options.number("2 leaves single items out.", "What to find", default=1)
    epsilon: str | None = options.option(
        "How much one report may give away: 1, 0.5, 1/3.", options.HOW, metavar="NUMBER"
    )
    speed: Speed = options.option("Make every report, or draw what they add up to.", options.HOW, default="person")
    screen: bool = options.option(
        "Leave out reports that no honest device is likely to have sent.",
        options.HOW,
        "--screen/--no-screen",
        default=True,
    )
    assume_malicious: str | None = options.ASSUME_MALICIOUS
    max_baskets: int | None = options.number(
        "With --basket: up to how many baskets a person counts for more than who has one.  \\[default: 1, "
        "everybody counts the same]",
        options.HOW,
    )
    hierarchy: Path | None = options.HIERARCHY
    level: str | None = pattern_option("level")
    device: Literal["auto", "gpu", "cpu"] | None = DEVICE_OPTION
    settings: list[str] | None = options.SETTINGS
    score: bool = options.option("Compare with the truth.", options.OUT, default=False)


@command(app)
def simulate(
    *, form: SimulationOptions, source_options: SimulatedReading, writing: Writing, reporting: Reporting
) -> None:
    """Try a local protocol on data you know: every person sends one randomised report, and no basket leaves a device.

    Shows each round, then the patterns, or the relations, with intervals. The result is [bold]simulated[/bold]: it
    forecasts a study, and is not for publishing. A score compares it with the truth.

    Examples
    --------
    discreet simulate retail.dat --top 64 --epsilon 2 --seed 7

    discreet simulate sales.csv --person customer --item product --top 32 --epsilon 4 --least 2 --score

    discreet simulate retail.dat --protocol svim --set candidates=3 --top 20 --epsilon 1 -o found.json

    discreet simulate sales.csv --person customer --basket receipt --item product --top 32 --epsilon 4

    discreet simulate sales.csv --person customer --item product --top 32 --epsilon 1 --hierarchy products.csv

    discreet simulate clicks.csv --person user --item page --time at --protocol pairs --set how=after --top 32
    --epsilon 4
    """
    from ..local.study import simulate as simulate_protocol
    from ..registry import protocol as build_protocol

    say_when_compiling()
    # Checked here, and not by typer: the message shows an example.
    if form.top is None:
        raise MisuseError("Say how many patterns are wanted: --top 64.")
    if form.epsilon is None:
        raise MisuseError("Say how much one report may give away: --epsilon 1 is usual, less protects more.")
    # A wrong setting fails before data are read.
    plan = build_protocol(form.protocol, parse_settings(form.settings))
    source_options.check_is_data()
    reporting.check(source_options, writing, form.hierarchy)
    seed = source_options.choose_seed()
    baskets = source_options.read_seeded(seed)
    question = vars(form) | {"assume_malicious": form.assume_malicious or 0}
    # The two parts of the protocol: it is built above.
    del question["protocol"], question["settings"]
    is_table = writing.format == "table"
    with Transcript(lines=is_table or writing.output is not None, err=writing.output is not None) as transcript:
        outcome = simulate_protocol(
            baskets, plan, **question, seed=seed, progress=transcript.progress, transcript=transcript.finish_round
        )
    _write_outcome(outcome, writing, is_seed_drawn=source_options.seed is None)
    reporting.write(outcome, source_options)


def _write_outcome(outcome: Outcome, writing: Writing, is_seed_drawn: bool) -> None:
    """Write the result of a simulation, and print the notes that a table, or a file, has no place for."""
    is_shown = writing.output is None and writing.format == "table"
    if is_shown:
        say()
    writing.write(outcome.found)
    if is_shown or writing.output is not None:
        for line in _list_notes(outcome):
            say(f"\n{line}", err=not is_shown)
    # Without the seed the result could not be repeated.
    if is_seed_drawn:
        note = f"The seed {outcome.question['seed']} was drawn: --seed {outcome.question['seed']} gives the same again."
        say(f"\n{note}" if is_shown or writing.output is not None else note, err=not is_shown)


def _list_notes(outcome: Outcome) -> list[str]:
    """Return the notes, the guarantee and the scores of a simulation as sentences."""
    lines = [*outcome.notes, outcome.guarantee.in_words(simulated=outcome.simulated)]
    if outcome.reports == 1 and len(outcome.rounds) > 1:
        # Rounds ask disjoint people, so their losses combine in parallel.
        lines.append("Each person answers one round, so what the rounds lose does not add up.")
    if outcome.marginal:
        lines.append("Marginal: each count was drawn by itself, so what counts have in common is not simulated.")
    if outcome.scores:
        scores = "; ".join(f"{name} {value:.4g}" for name, value in outcome.scores.items())
        lines.append(f"Against the truth: {scores}.")
    return lines
