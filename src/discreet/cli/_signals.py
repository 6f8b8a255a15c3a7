"""SIGINT, SIGTERM and SIGHUP as one KeyboardInterrupt, after which a command reports its payment and removes copies.

By default SIGTERM and SIGHUP end a process at once, without either. The command line alone installs handlers, while it
runs: a library leaves signals to its program. An ignored signal, as under nohup, stays ignored.

A time limit is SIGALRM. A payment lifts the limit: the duration of a release depends on the data, so an end by the
limit would reveal something about them.

This module imports the standard library alone: until it is loaded, an interrupt prints a traceback.
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
TIMED_OUT = 124  # the exit status of timeout(1)
# Seconds in which further signals are ignored: systems and shells send several at once, and the cleanup after the first
# must not be interrupted. A second Ctrl-C by hand comes later.
_BURST_SECONDS = 1.0
# Seconds until an interrupt that Python dropped is sent again: long enough for a destructor to end, too short for a
# person to notice.
_RESEND_SECONDS = 0.05


def lift_limit() -> None:
    """Cancel the time limit for the remainder of the command."""
    if _ALARM is not None and threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)
        # The alarm may have arrived before its handler ran; Python then calls the handler that is set now.
        if callable(signal.getsignal(_ALARM)):
            signal.signal(_ALARM, _ignore_signal)


def _ignore_signal(number: int, frame: FrameType | None) -> None:
    """Do nothing."""


class Signals:
    """Handlers of the signals, installed while a `with` block runs.

    `received` is the number of the first signal, None before it; `timeout_seconds` is the time limit, None without one.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self.timeout_seconds: float | None = None
        self._last_time = float("-inf")
        self._previous_handlers: dict[int, Any] = {}
        self._previous_hook = sys.unraisablehook

    @property
    def status(self) -> int:
        """The exit status, as shells define it: 128 plus the number of the signal, or 124 for a time limit."""
        if self.received is not None and self.received == _ALARM:
            return TIMED_OUT
        return 128 + (self.received or signal.SIGINT)

    def set_timeout(self, seconds: float) -> bool:
        """Interrupt the command after a number of seconds; return False if the system has no timer."""
        if _ALARM is None or threading.current_thread() is not threading.main_thread():
            return False
        self._previous_handlers.setdefault(_ALARM, signal.signal(_ALARM, self._receive))
        self.timeout_seconds = seconds
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return True

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for name in _NAMES:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._previous_handlers[number] = signal.signal(number, self._receive)
            self._previous_hook, sys.unraisablehook = sys.unraisablehook, self._resend_dropped
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.unraisablehook = self._previous_hook
        lift_limit()
        self.set_handlers()

    def set_handlers(self, handler: Any = None) -> None:
        """Set one handler for all signals, like `SIG_IGN` or `SIG_DFL`; None restores the previous handlers."""
        for number, previous in self._previous_handlers.items():
            signal.signal(number, previous if handler is None else handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        present_time = time.monotonic()
        if present_time - self._last_time < _BURST_SECONDS:
            return
        self._last_time = present_time
        if self.received is None:
            self.received = number
        raise KeyboardInterrupt

    def _resend_dropped(self, unraisable: Any) -> None:
        """Send a signal again if Python dropped its KeyboardInterrupt, as in a destructor or a callback from C."""
        if self.received is None or not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._previous_hook(unraisable)
            return
        timer = threading.Timer(_RESEND_SECONDS, self._send)
        timer.daemon = True
        timer.start()

    def _send(self) -> None:
        self._last_time = float("-inf")  # not part of a burst
        main = threading.main_thread().ident
        if self.received is not None and main is not None:
            signal.pthread_kill(main, self.received)
