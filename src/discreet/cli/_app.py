"""The app with all commands, and the commands of exact mining."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from ..errors import OPTIONS, DiscreetError, LimitError, MisuseError
from ..kernels import background
from ..wording import find_hint, printable
from . import options
from ._asking import pattern_option
from ._audit import app as audit
from ._compare import app as compare
from ._general import add_options, list_general_options
from ._groups import ClusterReading, Reporting, Writing, command, expand_groups
from ._ledger import app as ledger
from ._mechanisms import app as mechanisms
from ._pages import app as pages
from ._parsing import parse_items, parse_length_range, read_itemsets
from ._plan import app as plan
from ._plugin_commands import CommandTable, check_separate, raise_blaming
from ._progress import ProgressBar
from ._rank import app as rank
from ._relations import app as relations
from ._release import app as release
from ._run import describe_exit
from ._serve import app as serve
from ._simulate import app as simulate
from ._study import app as study
from ._terminal import say, say_compiling_begun, say_when_compiling

if TYPE_CHECKING:
    from ..baskets import AnyBaskets
    from ..results import Patterns


# The headings of the help and the commands below each, in the order of the help.
PANELS = {
    "See it exactly": ("mine", "rules", "relations", "diff", "report", "open"),
    "Publish privately": ("release", "count", "release-relations", "rank", "ledger"),
    "Ask devices": ("study", "serve", "simulate"),
    "Choose and check": ("plan", "compare", "mechanisms", "audit"),
    "Get to know it": ("demo", "warmup"),
}


def _parameters(command: Any) -> set[str]:
    """Return the names of the options of a command as keywords of the Python API."""
    typed = {option for parameter in command.params for option in parameter.opts}
    return {name for name, option in OPTIONS.items() if option in typed}


class _Commands(TyperGroup):
    """The group of all commands; the message on an option of a further library names the option of discreet."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        general_options = list_general_options()
        add_options(self, general_options)
        self._own_commands: dict[str, Any] = {}
        for panel, names in PANELS.items():
            for name in names:
                command: Any = self.commands[name]
                command.rich_help_panel = panel
                self._own_commands[name] = command
        self.commands = CommandTable(self._own_commands, lambda command: add_options(command, general_options))

    def list_commands(self, ctx: Any) -> list[str]:
        try:
            return list(self.commands)
        except MisuseError as error:  # two packages with one command: the help must still work
            say(f"discreet: {error.message.typed}", err=True)
            return list(self._own_commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        # A shell that completes words parses resiliently, and must not meet an error.
        if command is None and not ctx.resilient_parsing:
            check_separate(cmd_name)
        return command

    def invoke(self, ctx: Any) -> Any:
        # The background process prepares kernels for the next typed command; a service has none.
        background.note_command(ctx.invoked_subcommand != "serve", say_compiling_begun)
        try:
            return super().invoke(ctx)
        except MemoryError:
            reads_data = "max_items" in _parameters(self.commands[ctx.invoked_subcommand])
            advice = (
                "Ask for fewer or shorter patterns, or cap baskets with --max-items." if reads_data else "Ask for less."
            )
            raise LimitError(f"out of memory. {advice}") from None
        except Exception as error:
            context = getattr(error, "ctx", None) or ctx
            hint = find_hint(getattr(error, "option_name", None) or "", _parameters(context.command))
            if hint is None:
                raise_blaming(error, self.commands.get(ctx.invoked_subcommand))
                raise
            raise typer.BadParameter(hint.typed, ctx=context) from None
        except SystemExit as end:
            if isinstance(end.__context__, BrokenPipeError):  # the reader of the help has left
                raise
            # Commands of discreet raise typer.Exit. SystemExit with status 0 would pass for success.
            raise DiscreetError(describe_exit(end)) from end


app = typer.Typer(
    name="discreet",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # it would print local variables, which hold private data
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find what people buy, click, watch or take together.\n\n"
    "Try [bold]discreet demo[/bold] first. `discreet COMMAND --help` shows examples.",
)
for commands in (release, relations, rank, simulate, mechanisms, plan, compare, audit, pages, serve):
    app.add_typer(commands)
app.add_typer(study, name="study")
app.add_typer(ledger, name="ledger")


class _LogFormatter(logging.Formatter):
    """The format of the log, which escapes control characters in file names."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keep="\n")


def _print_version(value: bool) -> None:
    if value:
        from .. import __version__

        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
@expand_groups
def _set_log(
    version: bool = options.option("Show the version and exit.", default=False, callback=_print_version, is_eager=True),
) -> None:
    # Results go to standard output, so the log must not.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_LogFormatter("discreet: %(message)s"))
    logging.basicConfig(handlers=[handler])


@command(app)
def mine(
    min_support: str | None = pattern_option("min_support"),
    min_count: int | None = pattern_option("min_count"),
    top: int | None = options.TOP,
    itemsets: Path | None = options.ITEMSETS,
    lengths: str | None = pattern_option("lengths"),
    contains: list[str] | None = options.option(
        "An item every pattern must have. Can be given again.", options.WHAT, metavar="ITEM"
    ),
    excludes: list[str] | None = options.option(
        "An item no pattern may have. Can be given again.", options.WHAT, metavar="ITEM"
    ),
    kind: options.PatternKind = options.option(
        "All patterns, or only the closed or the maximal ones.", options.WHAT, default="all"
    ),
    hierarchy: Path | None = options.HIERARCHY,
    level: str | None = pattern_option("level"),
    limit: int = options.LIMIT,
    *,
    source_options: ClusterReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Find the itemsets many people hold, exactly. The result is [bold]not private[/bold].

    Say which by exactly one of --min-support, --min-count, --top or --itemsets.

    Examples
    --------
    discreet mine retail.dat --min-support 0.01

    discreet mine sales.csv --person customer --item product --top 100 -o patterns.csv

    discreet mine sales.parquet --person customer --item product --min-count 500 --lengths 2-3 --contains tea

    discreet mine sales.csv --person customer --item product --top 20 --hierarchy products.csv --level category

    discreet mine sqlite:///shop.db --query 'select customer, product from sales' --person customer --item
    product --top 20

    discreet mine --query "select customer, product from 'sales/*.parquet'" --person customer --item product
    --top 20
    """
    from ..baskets import generalised
    from ..exact import mine as find_patterns

    say_when_compiling()
    length_range = parse_length_range(lengths)
    if path := source_options.result_path():
        raise MisuseError(f"{path} holds patterns or rules that were found already; `discreet rules` reads patterns.")
    reporting.check(source_options, writing, hierarchy)
    baskets = generalised(source_options.read_baskets(), hierarchy, level)
    with ProgressBar("mining") as bar:
        patterns = find_patterns(
            baskets,
            min_support=min_support,
            min_count=min_count,
            top=top,
            itemsets=None if itemsets is None else read_itemsets(itemsets, baskets),
            lengths=length_range,
            contains=parse_items(contains, baskets),
            excludes=parse_items(excludes, baskets),
            kind=kind,
            limit=limit,
            progress=bar,
        )
    writing.write(patterns)
    reporting.write(patterns, source_options)


@command(app)
def rules(
    min_support: str | None = pattern_option("min_support"),
    min_count: int | None = pattern_option("min_count"),
    min_confidence: float = options.option(
        "Rules with at least this confidence: the fraction of those on the left who hold the right side too.",
        options.WHAT,
        default=0.5,
        metavar="FRACTION",
        parser=options.parse_decimal_number,
    ),
    min_lift: float = options.option(
        "Rules with at least this lift, which is 1 by chance.",
        options.WHAT,
        default=0.0,
        metavar="NUMBER",
        parser=options.parse_decimal_number,
    ),
    sort: str = options.option(
        "Order rules by this measure, largest first; by p or p_adjusted, smallest first.",
        options.WHAT,
        default="confidence",
        metavar="MEASURE",
    ),
    top: int | None = options.option("Keep the first N rules, by --sort.", options.WHAT, metavar="N"),
    lengths: str | None = pattern_option("lengths"),
    antecedent: list[str] | None = options.ANTECEDENT,
    consequent: list[str] | None = options.CONSEQUENT,
    significance: float | None = options.option(
        "Rules that are significant at this level, such as 0.05, among all that were tested (p_adjusted).",
        options.WHAT,
        metavar="LEVEL",
        parser=options.parse_decimal_number,
    ),
    redundant: bool = options.option(
        "Keep rules that are no better than a more general one, or leave them out.", options.WHAT, default=True
    ),
    hierarchy: Path | None = options.HIERARCHY,
    level: str | None = pattern_option("level"),
    limit: int = options.LIMIT,
    *,
    source_options: ClusterReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Find association rules between the items of a person. The result is [bold]not private[/bold].

    FILE is data, with --min-support or --min-count, or patterns that `discreet mine` wrote.

    Examples
    --------
    discreet rules retail.dat --min-support 0.01 --min-confidence 0.5

    discreet rules sales.csv --person customer --item product --min-count 50 --sort lift --top 20

    discreet rules retail.dat --min-support 0.01 --consequent 39 --significance 0.05 --no-redundant

    discreet rules patterns.json --min-confidence 0.8 -o rules.csv    (patterns that `discreet mine` wrote)
    """
    from ..baskets import generalised
    from ..checks import parse_support
    from ..exact import rules as find_rules, threshold_of_rules

    say_when_compiling()
    length_range = parse_length_range(lengths)
    reporting.check(source_options, writing, hierarchy)
    if path := source_options.result_path():
        if not source_options.is_plain() or hierarchy is not None or level is not None:
            raise MisuseError(f"{path} holds patterns, which need no options to be read: leave those out.")
        patterns = _load_patterns(path)
        # A saved result holds the patterns above its own threshold; a higher threshold selects among them.
        if min_support is not None:
            patterns = patterns.where(min_support=float(parse_support(min_support)))
        if min_count is not None:
            patterns = patterns.where(min_count=min_count)
        data: Patterns | AnyBaskets = patterns
        with ProgressBar("finding rules"):
            found_rules = patterns.rules(min_confidence=min_confidence, min_lift=min_lift, limit=limit)
    else:
        # Checked before the data are read, which may take minutes.
        threshold_of_rules(min_support, min_count)
        data = generalised(source_options.read_baskets(), hierarchy, level)
        with ProgressBar("mining") as bar:
            found_rules = find_rules(
                data,
                min_support=min_support,
                min_count=min_count,
                min_confidence=min_confidence,
                min_lift=min_lift,
                # A rule of 2 to 3 items comes of patterns of 1 to 3: its sides are patterns too.
                lengths=None if length_range is None else (1, length_range[1]),
                limit=limit,
                progress=bar,
            )
    found_rules = found_rules.where(
        antecedent=parse_items(antecedent, data),
        consequent=parse_items(consequent, data),
        lengths=length_range,
        significance=significance,
        redundant=redundant,
    ).sort(by=sort)
    if top is not None:
        found_rules = found_rules.top(top, by=sort)
    writing.write(found_rules)
    reporting.write(found_rules, source_options)


@command(app)
def demo(
    people: int = options.number("How many people to make up.", default=20_000),
    seed: int = options.number("Another seed makes other people.", default=7),
    keep: str | None = options.option("Keep the made-up data and the results.", metavar="DIRECTORY"),
) -> None:
    """Show the whole idea on made-up baskets: read a table, find patterns and rules, publish some privately."""
    from ._demo import show_demo

    say_when_compiling()
    show_demo(people, seed, keep)


@command(app)
def warmup(
    shared: Path | None = options.option(
        "Keep compiled code there, for all users whose DISCREET_KERNELS names it.", metavar="DIRECTORY"
    ),
) -> None:
    """Compile everything now, so that large data need not wait for it.

    For services and container images: compiled code is kept in the user's cache directory, or in one that is shared.

    Examples
    --------
    discreet warmup

    discreet warmup --shared /opt/discreet/kernels    (as root, for DISCREET_KERNELS=/opt/discreet/kernels)
    """
    from ._warmup import compile_kernels

    compile_kernels(shared)


def _load_patterns(path: str) -> Patterns:
    from ..results import Rules, load_rows

    result = load_rows(path)
    if isinstance(result, Rules):
        raise MisuseError(f"{path} holds rules already; give the patterns or the data they came from.")
    return result
