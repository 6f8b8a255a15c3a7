"""A progress bar for work that takes longer than a second, on a terminal only."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ._terminal import is_quiet

if TYPE_CHECKING:
    from types import TracebackType

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
