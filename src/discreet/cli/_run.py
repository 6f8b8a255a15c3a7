"""Start the command line and turn everything that goes wrong into one clear line and an exit status.

0: done. 1: the data, a value or a file is not usable. 2: the command line cannot be parsed. 124: stopped by --timeout.
130, 143, 129: interrupted by SIGINT, SIGTERM or SIGHUP.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import re
import signal
import sys
from typing import NoReturn

from ..errors import DiscreetError
from ..wording import printable
from ._signals import TIMED_OUT, Signals

_LINES = "\n"  # some messages have several
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_INTERRUPTED = "interrupted; no result was written."


class Interrupted(Exception):  # noqa: N818
    """The user broke off, and something has to be said about it."""


def exited(end: SystemExit) -> str:
    """Return what is said of code that asks to exit in the middle of a command."""
    return f"Code of another package exited with {end.code!r:.80} in the middle of this command. There is no result."


def run(signals: Signals) -> None:
    """Run the command line and exit."""
    try:
        from ..temporary import sweep_folders
        from ._app import app

        if isinstance(sys.stdout, io.TextIOWrapper):
            codecs.register_error("discreet", _escaped)
            sys.stdout.reconfigure(errors="discreet")
        sweep_folders()
        app(obj=signals)
    except DiscreetError as error:
        _fail(error.message.typed)
    except Interrupted as told:
        _stop(str(told), signals)
    except KeyboardInterrupt:
        _stop(_INTERRUPTED, signals)
    except SystemExit as end:
        if end.code == 130:  # typer has caught the interrupt, and says nothing
            _stop(_INTERRUPTED, signals)
        raise
    except MemoryError:
        _fail("out of memory. Ask for less.")
    except ImportError as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        _fail(f"a package cannot be loaded: {error}; the disk may be failing, or install it anew.")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}.")
    except Exception as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        _fail(
            f"an error that should not happen: {type(error).__name__}. "
            "Set DISCREET_DEBUG=1 to see where, and please report it."
        )


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Write letters the output cannot hold as JSON writes them: no result is lost for them, and JSON stays JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _fail(message: str) -> NoReturn:
    _tell(_without_secrets(message))
    _let_go()
    sys.exit(1)


def _without_secrets(message: str) -> str:
    """Return a message that has no secret of an address that was typed, wherever it was typed."""
    typed = [word[word.index("=") + 1 :] if word.startswith("--") and "=" in word else word for word in sys.argv[1:]]
    for address in typed:
        if _ADDRESS.match(address):
            from ..baskets import hidden

            short = address.replace("://", ":/", 1)  # as a path has it
            message = hidden(message.replace(short, address), address)
    return message


def _stop(message: str, signals: Signals) -> NoReturn:
    """Say what became of the work, and end at once: nothing waits for threads that still compile or count."""
    signals.answer(signal.SIG_IGN)
    if signals.seconds is not None and signals.status == TIMED_OUT:
        message = message.replace("interrupted", f"stopped after {signals.seconds:g} seconds (--timeout)", 1)
    _tell(message)
    if signals.heard is None:  # nobody sent a signal: whoever raised the interrupt may go on
        _let_go()
        sys.exit(signals.status)
    signals.answer(signal.SIG_DFL)  # standard output may be a pipe that nobody reads
    _let_go()
    if "multiprocessing.resource_tracker" in sys.modules:  # which complains of what was not put away
        sys.exit(signals.status)
    os._exit(signals.status)


def _tell(message: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # after SIGHUP there may be no terminal
            sys.stderr.write(f"discreet: {printable(message, keep=_LINES)}\n")
            sys.stderr.flush()


def _let_go() -> None:
    """Give up what standard output could not take: Python would try again at its end, and change the exit status."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        unheard()


def unheard() -> None:
    """Write to nobody from now on: Python would complain of a closed standard output once more when it ends."""
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
