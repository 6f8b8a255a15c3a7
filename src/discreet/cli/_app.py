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
from ._choosing import app as choosing
from ._exact import app as exact
from ._general import add_options, list_general_options
from ._groups import command, expand_groups
from ._ledger import app as ledger
from ._pages import app as pages
from ._plugin_commands import CommandTable, check_separate, raise_blaming
from ._release import app as release
from ._run import describe_exit
from ._serve import app as serve
from ._simulate import app as simulate
from ._study import app as study
from ._terminal import say, say_compiling_begun, say_when_compiling

if TYPE_CHECKING:
    pass


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
    option_names = {option for parameter in command.params for option in parameter.opts}
    return {name for name, option in OPTIONS.items() if option in option_names}


class _Commands(TyperGroup):
    """The group of all commands; the message on an option of a further library names the option of discreet."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Built once for all commands, since typer builds an app for them.
        general_options = list_general_options()
        add_options(self, general_options)
        self._own_commands: dict[str, Any] = {}
        # The order of the panels is the order of the help, so one table has all commands.
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
            # The advice names an option, so the command must have it.
            reads_data = "max_items" in _parameters(self.commands[ctx.invoked_subcommand])
            advice = (
                "Ask for fewer or shorter patterns, or cap baskets with --max-items." if reads_data else "Ask for less."
            )
            raise LimitError(f"out of memory. {advice}") from None
        except Exception as error:
            # An error of a subcommand has the context of the subcommand; the options of the subcommand decide the hint.
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
for commands in (exact, release, simulate, choosing, pages, serve):
    app.add_typer(commands)
# Groups of commands have a name; single commands stand at the top.
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
    # The level is set by --verbose and --quiet, which may stand before or after the command.
    logging.basicConfig(handlers=[handler])


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
