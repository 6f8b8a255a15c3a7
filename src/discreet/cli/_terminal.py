"""Output of the command line, safe for terminals: control characters from data, files or packages are escaped.

Results in JSON, CSV and Parquet do not pass here: they are data, and are written unchanged.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

import typer

from ..wording import build_render_hook, printable
from ._run import discard_output

if TYPE_CHECKING:
    from rich.console import Console


def is_quiet() -> bool:
    """Return whether --quiet is on, which sets the level of the log to errors."""
    return logging.getLogger().level >= logging.ERROR


def say(text: object = "", *, err: bool = False) -> None:
    """Print lines to standard output, or with `err` to standard error, where --quiet suppresses them."""
    if err and is_quiet():
        return
    typer.echo(printable(str(text), keep="\n"), err=err)


def say_row(text: str) -> None:
    """Print one row of a list; line feeds are escaped, so that text from a remote service cannot fake a further row."""
    say(printable(text))


def is_at_terminal() -> bool:
    """Return whether standard error is a terminal; notebooks and builds, which keep the output, do not count."""
    is_kept = any(os.environ.get(name) for name in ("JPY_PARENT_PID", "JPY_SESSION_NAME", "CI"))
    return sys.stderr is not None and sys.stderr.isatty() and not is_kept and not is_quiet()


def say_compiling_begun() -> None:
    """Tell a person at a terminal that a background process compiles for later commands."""
    if is_at_terminal():
        say(
            "discreet: compiling in the background, once, for commands to come; DISCREET_PREPARE=0 forbids it.",
            err=True,
        )


def say_when_compiling() -> None:
    """Tell a person at a terminal, once, that this command compiles.

    Releases do not call this: whether a kernel is compiled depends on the size of the private data.
    """
    from ..kernels import set_compile_listener

    compiled_names: list[str] = []

    def listen(name: str) -> None:
        if not compiled_names and is_at_terminal():
            say("discreet: compiling what so much data need; the next run has it.", err=True)
        compiled_names.append(name)

    set_compile_listener(listen)


def console(*, stderr: bool = False, highlight: bool = False, width: int | None = None) -> Console:
    """Return a rich console that escapes control characters.

    Parameters
    ----------
    stderr
        Whether it prints to standard error.
    highlight
        Whether numbers and texts are coloured.
    width
        The columns of a line; None for the width of the terminal.
    """
    from rich.console import Console

    class PipeConsole(Console):
        """A console that outlives its pipe."""

        def on_broken_pipe(self) -> None:
            """Continue without output: the reader has left, and files may still have to be written."""
            self.quiet = True
            discard_output()

    pipe_console = PipeConsole(highlight=highlight, stderr=stderr, width=width)
    pipe_console.push_render_hook(build_render_hook())
    return pipe_console
