"""Start of the command line: every error becomes one line on standard error and an exit status.

0: success. 1: the data, a value or a file is not usable. 2: the command line cannot be parsed. 124: stopped by
--timeout. 130, 143, 129: interrupted by SIGINT, SIGTERM or SIGHUP.
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

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_INTERRUPTED = "interrupted; no result was written."


class Interrupted(Exception):  # noqa: N818
    """The interrupt of a command, with a message on its work."""


def describe_exit(end: SystemExit) -> str:
    """Return the message for code of a plugin package that exits in the middle of a command."""
    return f"Code of another package exited with {end.code!r:.80} in the middle of this command. There is no result."


def run(signals: Signals) -> None:
    """Run the command line and exit."""
    try:
        from ..temporary import sweep_folders
        from ._app import app

        if isinstance(sys.stdout, io.TextIOWrapper):
            codecs.register_error("discreet", _escape_letters)
            sys.stdout.reconfigure(errors="discreet")
        sweep_folders()
        app(obj=signals)
    except DiscreetError as error:
        _fail(error.message.typed)
    except Interrupted as interrupt:
        _stop(str(interrupt), signals)
    except KeyboardInterrupt:
        _stop(_INTERRUPTED, signals)
    except SystemExit as end:
        if end.code == 130:  # typer catches an interrupt and exits without a message
            _stop(_INTERRUPTED, signals)
        raise
    except MemoryError:
        _fail("out of memory. Ask for less.")
    except ImportError as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        _fail(f"a package cannot be loaded: {error}; the disk may be failing, or install it anew.")
    except OSError as error:
        path = f"{error.filename}: " if error.filename else ""
        _fail(f"{path}{error.strerror or error}.")
    except Exception as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        # The text of an unexpected error may hold a private value, so its class alone is named.
        _fail(
            f"an error that should not happen: {type(error).__name__}. "
            "Set DISCREET_DEBUG=1 to see where, and please report it."
        )


def _escape_letters(error: UnicodeError) -> tuple[str, int]:
    r"""Return letters that the encoding of standard output lacks as JSON escapes: \u00e4 keeps a JSON result valid."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _fail(message: str) -> NoReturn:
    """Print an error message and exit with status 1."""
    _print_message(_remove_secrets(message))
    _flush_output()
    sys.exit(1)


def _remove_secrets(message: str) -> str:
    """Return a message without the passwords and keys of addresses on the command line."""
    words = [word[word.index("=") + 1 :] if word.startswith("--") and "=" in word else word for word in sys.argv[1:]]
    for address in words:
        if _ADDRESS.match(address):
            from ..baskets import hide_secrets

            # pathlib removes one of two slashes, so a message may quote the address in either form.
            message = hide_secrets(message.replace(address.replace("://", ":/", 1), address), address)
    return message


def _stop(message: str, signals: Signals) -> NoReturn:
    """Print a message on the work and exit at once, without waiting for threads that still compile or count."""
    signals.set_handlers(signal.SIG_IGN)
    if signals.timeout_seconds is not None and signals.status == TIMED_OUT:
        message = message.replace("interrupted", f"stopped after {signals.timeout_seconds:g} seconds (--timeout)", 1)
    _print_message(message)
    if signals.received is None:  # a caller raised KeyboardInterrupt without a signal, and may continue
        _flush_output()
        sys.exit(signals.status)
    # Flushing blocks where standard output is a pipe without a reader: from here on a second signal ends the process.
    signals.set_handlers(signal.SIG_DFL)
    _flush_output()
    # os._exit skips the shutdown of multiprocessing; its tracker would then complain of shared memory.
    if "multiprocessing.resource_tracker" in sys.modules:
        sys.exit(signals.status)
    os._exit(signals.status)


def _print_message(message: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # after SIGHUP the terminal may be gone
            lines = printable(message, keep="\n")
            sys.stderr.write(f"discreet: {lines}\n")
            sys.stderr.flush()


def _flush_output() -> None:
    """Flush standard output, or discard it: Python would try again at exit, and change the exit status."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        discard_output()


def discard_output() -> None:
    """Send standard output to the null device: Python would complain of a closed pipe once more at exit."""
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
