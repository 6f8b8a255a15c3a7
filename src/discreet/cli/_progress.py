"""A progress bar for what takes longer than a second, on a terminal only."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ._terminal import quiet

if TYPE_CHECKING:
    from types import TracebackType

_PATIENCE = 1.0
_LOOKED_BACK = 600.0


class ProgressBar:
    """Called with the share that is done; shows itself once a second has passed, and leaves nothing behind.

    The bar is drawn by a thread of its own, so it appears even where the first share comes late.
    """

    def __init__(self, what: str) -> None:
        self._for = self._what = what
        self._share: float | None = None
        self._progress: Any = None
        self._task: Any = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __call__(self, share: float) -> None:
        """Note the share that is done."""
        self._share = share
        with self._lock:
            if self._progress is not None:
                self._progress.update(self._task, completed=share, total=1.0)

    def stage(self, name: str) -> None:
        """Say what is being done now, beside what it is done for."""
        with self._lock:
            self._what = f"{self._for}: {name}"
            if self._progress is not None:
                self._progress.update(self._task, description=self._what)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        with self._lock:
            if self._timer.finished.is_set():
                return
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                # Shares come minutes apart where there is much to do: a speed by the last half minute would be none.
                speed_estimate_period=_LOOKED_BACK,
            )
            total = None if self._share is None else 1.0
            self._task = self._progress.add_task(self._what, completed=self._share or 0.0, total=total)
            self._progress.start()

    def __enter__(self) -> ProgressBar:
        if sys.stderr is not None and sys.stderr.isatty() and not quiet():
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._progress is not None:
                with suppress(OSError):  # the terminal may have hung up
                    self._progress.stop()
