"""The options of every command, before its name or after it: verbosity, time limit and replacement of files.

The options are built once and added to all commands. Their values act through the level of the log, a signal, and
a context variable.
"""

from __future__ import annotations

import logging
from typing import Any

import typer
from typer.main import get_command

from ..errors import MisuseError
from . import options
from ._groups import command
from ._replacing import allow_replacing, replacing_allowed

_PANEL = "For every command"
_MAX_TIMEOUT = 10**8  # seconds: three years; the timer of 32-bit systems holds 2^31


def _set_level(is_given: bool, level: int) -> None:
    """Set the level of the log, if an option for it is given; two options for two levels are an error."""
    if not is_given:
        return
    log = logging.getLogger()
    if log.level not in (logging.WARNING, logging.NOTSET, level):
        raise MisuseError("--quiet and --verbose contradict each other: give one of them.")
    log.setLevel(level)


def _set_timeout(ctx: typer.Context, value: float | None) -> None:
    if value is None:
        return
    if not 0 < value <= _MAX_TIMEOUT:
        raise typer.BadParameter(f"it is a number of seconds over 0, such as 600; {value:g} was given.")
    signals: Any = ctx.find_root().obj
    if signals is None or not signals.set_timeout(value):
        raise MisuseError("This system has no timer that could end a command: leave --timeout out.")


def _set_force(ctx: typer.Context, value: bool) -> None:
    # The option may stand before the name of the command and after it; click calls this in that order.
    allow_replacing(value or (ctx.parent is not None and replacing_allowed()))


def _hold_options(
    verbose: bool = options.option(
        "Tell what is done on the way.",
        _PANEL,
        "--verbose",
        "-v",
        default=False,
        callback=lambda value: _set_level(value, logging.INFO),
        expose_value=False,
    ),
    quiet: bool = options.option(
        "Say nothing but the result, and what went wrong.",
        _PANEL,
        "--quiet",
        "-q",
        default=False,
        callback=lambda value: _set_level(value, logging.ERROR),
        expose_value=False,
    ),
    timeout: float | None = options.option(
        "Stop after so long, with status 124. What is being paid for is not stopped.",
        _PANEL,
        metavar="SECONDS",
        parser=options.parse_decimal_number,
        callback=_set_timeout,
        expose_value=False,
    ),
    force: bool = options.option(
        "Replace files that discreet did not write, under the names that were given to write to.",
        _PANEL,
        default=False,
        callback=_set_force,
        expose_value=False,
    ),
) -> None:
    """Do nothing: typer reads the parameters."""


def list_general_options() -> list[Any]:
    """Return the options of every command, as click represents them."""
    app = typer.Typer(add_completion=False)
    command(app)(_hold_options)
    return list(get_command(app).params)


def add_options(target: Any, parameters: list[Any]) -> None:
    """Add options to a command, `target`, and to all commands of a group."""
    # A command of a plugin may have its own --verbose, and a group may have received the options already.
    names = {name for parameter in target.params for name in parameter.opts}
    # A service runs until a signal stops it, and no option names a file that it writes.
    excluded = ("timeout", "force") if target.name == "serve" else ()
    target.params.extend(
        parameter for parameter in parameters if names.isdisjoint(parameter.opts) and parameter.name not in excluded
    )
    for subcommand in getattr(target, "commands", {}).values():
        add_options(subcommand, parameters)
