"""Output of the command line, safe for terminals, and its progress bar.

Control characters from data, files or packages are escaped. Results in JSON, CSV and Parquet do not pass here: they are
data, and are written unchanged. The bar is for work that takes longer than a second, on a terminal only.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

from ..wording import build_render_hook, printable
from ._run import discard_output

if TYPE_CHECKING:
    from types import TracebackType

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
    # Notebooks emulate a terminal, and keep the output: a preview of private data would stay in them.
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

    # Once per command: a mining run may compile twenty kernels.
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
    # Tables of rich do not pass `say`, so the console escapes by itself.
    pipe_console.push_render_hook(build_render_hook())
    return pipe_console


_DELAY_SECONDS = 1.0  # before the bar appears: shorter work needs none
_SPEED_SECONDS = 600.0  # over which the speed is averaged: shares of a large release come minutes apart


class ProgressBar:
    """A bar that is called with the finished share, from 0 to 1, and disappears with its `with` block.

    A thread of its own draws the bar, so the bar appears even where the first share comes late.
    """

    def __init__(self, title: str) -> None:
        self._title = self._description = title
        self._share: float | None = None
        self._progress: Any = None
        self._task: Any = None
        self._lock = threading.Lock()
        # The bar of a short command would flash up for a moment.
        self._timer = threading.Timer(_DELAY_SECONDS, self._show)
        self._timer.daemon = True

    def __call__(self, share: float) -> None:
        """Set the finished share."""
        self._share = share
        with self._lock:
            if self._progress is not None:
                self._progress.update(self._task, completed=share, total=1.0)

    def stage(self, name: str) -> None:
        """Show the name of the present stage after the title."""
        with self._lock:
            self._description = f"{self._title}: {name}"
            if self._progress is not None:
                self._progress.update(self._task, description=self._description)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        with self._lock:
            if self._timer.finished.is_set():  # the block ended while this thread waited for the lock
                return
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                speed_estimate_period=_SPEED_SECONDS,
            )
            total = None if self._share is None else 1.0
            self._task = self._progress.add_task(self._description, completed=self._share or 0.0, total=total)
            self._progress.start()

    def __enter__(self) -> ProgressBar:
        if sys.stderr is not None and sys.stderr.isatty() and not is_quiet():
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._progress is not None:
                with suppress(OSError):  # the terminal may have hung up
                    self._progress.stop()
