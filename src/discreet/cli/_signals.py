"""SIGINT, SIGTERM and SIGHUP, heard as one: an interrupt that says what was paid and clears away private copies.

By default SIGTERM and SIGHUP end a process on the spot, with neither. Only the command line listens, while it runs: a
library leaves signals to the program that uses it. What is ignored, as under nohup, stays ignored.

A time limit is one signal more, SIGALRM. From the moment that something is paid for it is lifted: how long a release
takes depends on the data, and whether there is one must not.

Nothing heavy is imported here: until it is there, an interrupt is a traceback.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_ALARM: int | None = getattr(signal, "SIGALRM", None)
TIMED_OUT = 124  # as `timeout` has it
_BURST = 1.0  # seconds: systems and shells send several at once, and clearing away must not be interrupted by them
_AGAIN = 0.05  # seconds until an interrupt that was lost is sent once more


def lift_limit() -> None:
    """Let what follows take as long as it takes, whatever limit was set."""
    if _ALARM is not None and threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)
        # One that has come already, and is not heard yet, must not be either: then Python asks this.
        if callable(signal.getsignal(_ALARM)):
            signal.signal(_ALARM, _unheard)


def _unheard(number: int, frame: FrameType | None) -> None:
    """Hear nothing."""


class Signals:
    """Listens while a `with` block runs; `heard` is the first signal that came."""

    def __init__(self) -> None:
        self.heard: int | None = None
        self._last = float("-inf")
        self._before: dict[int, Any] = {}
        self._hook = sys.unraisablehook
        self.seconds: float | None = None

    @property
    def status(self) -> int:
        """The exit status, as shells have it: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP, 124 for a time limit."""
        if self.heard is not None and self.heard == _ALARM:
            return TIMED_OUT
        return 128 + (self.heard or signal.SIGINT)

    def limit(self, seconds: float) -> bool:
        """Interrupt after so long; return whether this system can."""
        if _ALARM is None or threading.current_thread() is not threading.main_thread():
            return False
        before = signal.signal(_ALARM, self._hear)
        self._before.setdefault(_ALARM, before)
        self.seconds = seconds
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return True

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for name in _NAMES:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._hear)
            self._hook, sys.unraisablehook = sys.unraisablehook, self._lost
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.unraisablehook = self._hook
        lift_limit()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def answer(self, handler: Any) -> None:
        """Let the system answer from now on: `SIG_IGN` while the last words are said, `SIG_DFL` after them."""
        for number in self._before:
            signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last < _BURST:
            return
        self._last = now
        if self.heard is None:
            self.heard = number
        raise KeyboardInterrupt

    def _lost(self, given: Any) -> None:
        """Send a signal again whose interrupt came where Python drops it: in a destructor, in a callback of C."""
        if self.heard is None or not issubclass(given.exc_type, KeyboardInterrupt):
            self._hook(given)
            return
        timer = threading.Timer(_AGAIN, self._send)
        timer.daemon = True
        timer.start()

    def _send(self) -> None:
        self._last = float("-inf")
        main = threading.main_thread().ident
        if self.heard is not None and main is not None:
            signal.pthread_kill(main, self.heard)
