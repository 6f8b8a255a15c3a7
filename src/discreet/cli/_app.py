"""The commands."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import OPTIONS, DiscreetError, LimitError, MisuseError
from ..kernels import background
from ..wording import find_hint, printable
from . import options
from ._audit import app as audit
from ._compare import app as comparing
from ._diff import app as changes
from ._general import add_options, list_general_options
from ._groups import ClusterReading, Reporting, Writing, grouped
from ._ledger import app as ledger
from ._mechanisms import app as mechanisms
from ._pages import app as pages
from ._parsing import labels, lengths_of, read_itemsets
from ._plan import app as planning
from ._plugin_commands import CommandTable, check_separate, raise_blaming
from ._progress import ProgressBar
from ._rank import app as rank
from ._relations import app as relating
from ._release import app as curator
from ._run import exited
from ._serve import app as serving
from ._simulate import app as simulation
from ._study import app as study
from ._terminal import say, say_compiling_begun, say_when_compiling

if TYPE_CHECKING:
    from ..baskets import AnyBaskets
    from ..results import Patterns


# What people come for, and the commands for it, in the order of the help.
PANELS = {
    "See it exactly": ("mine", "rules", "relations", "diff", "report", "open"),
    "Publish privately": ("release", "count", "release-relations", "rank", "ledger"),
    "Ask devices": ("study", "serve", "simulate"),
    "Choose and check": ("plan", "compare", "mechanisms", "audit"),
    "Get to know it": ("demo", "warmup"),
}


def _parameters(command: Any) -> set[str]:
    """Return what Python calls the options that a command has."""
    typed = {option for parameter in command.params for option in parameter.opts}
    return {name for name, option in OPTIONS.items() if option in typed}


class _Commands(TyperGroup):
    """The commands; an option that other libraries have is answered with ours."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for_all = list_general_options()
        add_options(self, for_all)
        self._ours: dict[str, Any] = {name: self.commands[name] for names in PANELS.values() for name in names}
        for panel, names in PANELS.items():
            for name in names:
                self._ours[name].rich_help_panel = panel
        self.commands = CommandTable(self._ours, lambda command: add_options(command, for_all))

    def list_commands(self, ctx: Any) -> list[str]:
        try:
            return list(self.commands)
        except MisuseError as error:  # help is what is read where something is wrong
            say(f"discreet: {error.message.typed}", err=True)
            return list(self._ours)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:
            check_separate(cmd_name)
        return found

    def invoke(self, ctx: Any) -> Any:
        background.note_command(ctx.invoked_subcommand != "serve", say_compiling_begun)
        try:
            return super().invoke(ctx)
        except MemoryError:
            mining = "max_items" in _parameters(self.commands[ctx.invoked_subcommand])
            less = "Ask for fewer or shorter patterns, or cap baskets with --max-items." if mining else "Ask for less."
            raise LimitError(f"out of memory. {less}") from None
        except Exception as error:
            where = getattr(error, "ctx", None) or ctx
            ours = find_hint(getattr(error, "option_name", None) or "", _parameters(where.command))
            if ours is None:
                raise_blaming(error, self.commands.get(ctx.invoked_subcommand))
                raise
            raise typer.BadParameter(ours.typed, ctx=where) from None
        except SystemExit as end:
            if isinstance(end.__context__, BrokenPipeError):  # whoever read the help has seen enough
                raise
            # No command of ours exits like this. With status 0 it would look as if all had been done.
            raise DiscreetError(exited(end)) from end


app = typer.Typer(
    name="discreet",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find what people buy, click, watch or take together.\n\n"
    "Try [bold]discreet demo[/bold] first. `discreet COMMAND --help` shows examples.",
)
app.add_typer(curator)
app.add_typer(relating)
app.add_typer(rank)
app.add_typer(simulation)
app.add_typer(mechanisms)
app.add_typer(planning)
app.add_typer(comparing)
app.add_typer(audit)
app.add_typer(pages)
app.add_typer(changes)
app.add_typer(serving)
app.add_typer(study, name="study")
app.add_typer(ledger, name="ledger")


class _Line(logging.Formatter):
    """A line of the log, in which file names are shown and not obeyed."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keep="\n")


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, options.option("Show the version and exit.", None, "--version", callback=_version, is_eager=True)
    ] = False,
) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line("discreet: %(message)s"))
    logging.basicConfig(handlers=[handler])


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet mine retail.dat --min-support 0.01\n\n"
    "discreet mine sales.csv --person customer --item product --top 100 -o patterns.csv\n\n"
    "discreet mine sales.parquet --person customer --item product --min-count 500 --lengths 2-3 --contains tea\n\n"
    "discreet mine sales.csv --person customer --item product --top 20 --hierarchy products.csv --level category\n\n"
    "discreet mine sqlite:///shop.db --query 'select customer, product from sales' --person customer "
    "--item product --top 20\n\n"
    "discreet mine --query \"select customer, product from 'sales/*.parquet'\" --person customer --item product "
    "--top 20"
)
@grouped
def mine(
    min_support: options.MinSupport = None,
    min_count: options.MinCount = None,
    top: options.Top = None,
    itemsets: options.Itemsets = None,
    lengths: options.Lengths = None,
    contains: options.Contains = None,
    excludes: options.Excludes = None,
    kind: options.KindOption = "all",
    hierarchy: options.HierarchyFile = None,
    level: options.LevelOption = None,
    limit: options.Limit = 10_000_000,
    *,
    reading: ClusterReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Find the itemsets many people hold, exactly. The result is [bold]not private[/bold].

    Say which by exactly one of --min-support, --min-count, --top or --itemsets.
    """
    from ..baskets import generalised
    from ..exact import mine as find

    say_when_compiling()
    spans = lengths_of(lengths)
    if file := reading.result():
        raise MisuseError(f"{file} holds patterns or rules that were found already; `discreet rules` reads patterns.")
    reporting.check(reading, writing, hierarchy)
    baskets = generalised(reading.baskets(), hierarchy, level)
    wanted = read_itemsets(itemsets, baskets) if itemsets is not None else None
    with ProgressBar("mining") as bar:
        patterns = find(
            baskets,
            min_support=min_support,
            min_count=min_count,
            top=top,
            itemsets=wanted,
            lengths=spans,
            contains=labels(contains, baskets),
            excludes=labels(excludes, baskets),
            kind=kind,
            limit=limit,
            progress=bar,
        )
    writing.write(patterns)
    reporting.write(patterns, reading)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet rules retail.dat --min-support 0.01 --min-confidence 0.5\n\n"
    "discreet rules sales.csv --person customer --item product --min-count 50 --sort lift --top 20\n\n"
    "discreet rules retail.dat --min-support 0.01 --consequent 39 --significance 0.05 --no-redundant\n\n"
    "discreet rules patterns.json --min-confidence 0.8 -o rules.csv    (patterns that `discreet mine` wrote)"
)
@grouped
def rules(
    min_support: options.MinSupport = None,
    min_count: options.MinCount = None,
    min_confidence: options.MinConfidence = 0.5,
    min_lift: options.MinLift = 0.0,
    sort: options.SortBy = "confidence",
    top: options.TopRules = None,
    lengths: options.Lengths = None,
    antecedent: options.Antecedent = None,
    consequent: options.Consequent = None,
    significance: options.Significance = None,
    redundant: options.Redundant = True,
    hierarchy: options.HierarchyFile = None,
    level: options.LevelOption = None,
    limit: options.Limit = 10_000_000,
    *,
    reading: ClusterReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Find association rules: who holds these mostly holds those too. The result is [bold]not private[/bold].

    FILE is data, with --min-support or --min-count, or patterns that `discreet mine` wrote.
    """
    from ..baskets import generalised
    from ..checks import parse_support
    from ..exact import rules as find, threshold_of_rules

    say_when_compiling()
    spans = lengths_of(lengths)
    reporting.check(reading, writing, hierarchy)
    if file := reading.result():
        if not reading.is_plain() or hierarchy is not None or level is not None:
            raise MisuseError(f"{file} holds patterns, which need no options to be read: leave those out.")
        patterns = _patterns(file)
        if min_support is not None:
            patterns = patterns.where(min_support=float(parse_support(min_support)))
        if min_count is not None:
            patterns = patterns.where(min_count=min_count)
        known: Patterns | AnyBaskets = patterns
        with ProgressBar("finding rules"):
            found = patterns.rules(min_confidence=min_confidence, min_lift=min_lift, limit=limit)
    else:
        threshold_of_rules(min_support, min_count)
        known = generalised(reading.baskets(), hierarchy, level)
        with ProgressBar("mining") as bar:
            found = find(
                known,
                min_support=min_support,
                min_count=min_count,
                min_confidence=min_confidence,
                min_lift=min_lift,
                lengths=None if spans is None else (1, spans[1]),
                limit=limit,
                progress=bar,
            )
    found = found.where(
        antecedent=labels(antecedent, known),
        consequent=labels(consequent, known),
        lengths=spans,
        significance=significance,
        redundant=redundant,
    )
    found = found.sort(by=sort)
    found = found if top is None else found.top(top, by=sort)
    writing.write(found)
    reporting.write(found, reading)


@app.command()
def demo(
    people: Annotated[int, options.number("How many people to make up.", show_default=True)] = 20_000,
    seed: Annotated[int, options.number("Another seed makes other people.", show_default=True)] = 7,
    keep: Annotated[
        str | None,
        options.option("Keep the made-up data and the results.", None, "--keep", metavar="DIRECTORY"),
    ] = None,
) -> None:
    """Show the whole idea on made-up baskets: read a table, find patterns and rules, publish some privately."""
    from ._demo import demo as show

    say_when_compiling()
    show(people, seed, keep)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet warmup\n\n"
    "discreet warmup --shared /opt/discreet/kernels    (as root, for DISCREET_KERNELS=/opt/discreet/kernels)"
)
def warmup(
    shared: Annotated[
        Path | None,
        options.option("Keep compiled code there, for all users whose DISCREET_KERNELS names it.", metavar="DIRECTORY"),
    ] = None,
) -> None:
    """Compile everything now, so that large data need not wait for it.

    For services and container images: compiled code is kept in the user's cache directory, or in one that is shared.
    """
    from ._warmup import warmup as compile_all

    compile_all(shared)


def _patterns(file: str) -> Patterns:
    from ..results import Rules, load_rows

    found = load_rows(file)
    if isinstance(found, Rules):
        raise MisuseError(f"{file} holds rules already; give the patterns or the data they came from.")
    return found
