"""Where the command line speaks: nothing that came from data, files or other packages is obeyed by a terminal.

Results in JSON, CSV and Parquet do not pass here: they are data, and go out as they are.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

import typer

from ..wording import build_render_hook, printable
from ._run import unheard

if TYPE_CHECKING:
    from rich.console import Console


def quiet() -> bool:
    """Say whether --quiet was given: the log then has errors alone, and so has all that is said beside a result."""
    return logging.getLogger().level >= logging.ERROR


def say(text: object = "", *, err: bool = False) -> None:
    """Write lines to standard output, or to standard error unless it was asked to be quiet."""
    if err and quiet():
        return
    typer.echo(printable(str(text), keep="\n"), err=err)


def say_row(text: str) -> None:
    """Write one row of a list: a line feed in it, which a service elsewhere may have put there, begins no other row."""
    say(printable(text))


def at_terminal() -> bool:
    """Say whether a person sits where standard error goes: a notebook and a build keep what a terminal would lose."""
    kept = any(os.environ.get(name) for name in ("JPY_PARENT_PID", "JPY_SESSION_NAME", "CI"))
    return sys.stderr is not None and sys.stderr.isatty() and not kept and not quiet()


def say_compiling_begun() -> None:
    """Say, on a terminal alone, that a process of its own compiles for the next command."""
    if at_terminal():
        say(
            "discreet: compiling in the background, once, for commands to come; DISCREET_PREPARE=0 forbids it.",
            err=True,
        )


def say_when_compiling() -> None:
    """Have it said once, on a terminal, that something is compiled. Not for releases: it depends on the data's size."""
    from ..kernels import set_compile_listener

    told: list[str] = []

    def listen(name: str) -> None:
        if not told and at_terminal():
            say("discreet: compiling what so much data need; the next run has it.", err=True)
        told.append(name)

    set_compile_listener(listen)


def console(*, stderr: bool = False, highlight: bool = False, width: int | None = None) -> Console:
    """Return a console for tables, as wide as the terminal unless a width is given."""
    from rich.console import Console

    class Ours(Console):
        def on_broken_pipe(self) -> None:
            """Go on in silence: whoever read has seen enough, and there may be files to write yet."""
            self.quiet = True
            unheard()

    made = Ours(highlight=highlight, stderr=stderr, width=width)
    made.push_render_hook(build_render_hook())
    return made
