"""What every command takes, before its name and after it: how much is said, how long it may run, what it may replace.

These options are made once and added to all commands. What they decide is kept where it acts: in the level of the log,
and in the signal that ends the command.
"""

from __future__ import annotations

import logging
from typing import Annotated, Any

import typer
from typer.main import get_command

from ..errors import MisuseError
from . import options
from ._replacing import allow_replacing, replacing_allowed

_PANEL = "For every command"
_LONGEST = 10**8  # seconds: some three years, which a timer can hold


def _verbose(value: bool) -> None:
    if value:
        _set_level(logging.INFO)


def _quiet(value: bool) -> None:
    if value:
        _set_level(logging.ERROR)


def _set_level(level: int) -> None:
    log = logging.getLogger()
    if log.level not in (logging.WARNING, logging.NOTSET, level):
        raise MisuseError("--quiet and --verbose contradict each other: give one of them.")
    log.setLevel(level)


def _timeout(ctx: typer.Context, value: float | None) -> None:
    if value is None:
        return
    if not 0 < value <= _LONGEST:
        raise typer.BadParameter(f"it is a number of seconds over 0, such as 600; {value:g} was given.")
    signals: Any = ctx.find_root().obj
    if signals is None or not signals.limit(value):
        raise MisuseError("This system has no timer that could end a command: leave --timeout out.")


def _force(ctx: typer.Context, value: bool) -> None:
    # It stands before the name of the command or after it, and is looked at in this order.
    allow_replacing(value or (ctx.parent is not None and replacing_allowed()))


def _general(
    verbose: Annotated[
        bool,
        options.option(
            "Tell what is done on the way.", _PANEL, "--verbose", "-v", callback=_verbose, expose_value=False
        ),
    ] = False,
    quiet: Annotated[
        bool,
        options.option(
            "Say nothing but the result, and what went wrong.",
            _PANEL,
            "--quiet",
            "-q",
            callback=_quiet,
            expose_value=False,
        ),
    ] = False,
    timeout: Annotated[
        float | None,
        options.option(
            "Stop after so long, with status 124. What is being paid for is not stopped.",
            _PANEL,
            "--timeout",
            metavar="SECONDS",
            parser=options.parse_decimal_number,
            callback=_timeout,
            expose_value=False,
        ),
    ] = None,
    force: Annotated[
        bool,
        options.option(
            "Replace files that discreet did not write, under the names that were given to write to.",
            _PANEL,
            "--force",
            callback=_force,
            expose_value=False,
        ),
    ] = False,
) -> None:
    """Nothing: its parameters are what is wanted."""


def list_general_options() -> list[Any]:
    """Return the options that every command takes."""
    only = typer.Typer(add_completion=False)
    only.command()(_general)
    return list(get_command(only).params)


def add_options(command: Any, added: list[Any]) -> None:
    """Add options to a command, or to all commands of a group and below."""
    # A command of another package may have such an option of its own, and a group may have been given them.
    known = {option for one in command.params for option in one.opts}
    # A service runs until it is told to stop, and answers to devices meanwhile; it writes no file that is named.
    left_out = ("timeout", "force") if command.name == "serve" else ()
    command.params.extend(one for one in added if known.isdisjoint(one.opts) and one.name not in left_out)
    for one in getattr(command, "commands", {}).values():  # a group takes them before the name of its command too
        add_options(one, added)
