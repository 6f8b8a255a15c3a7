"""Start the command line and turn everything that goes wrong into one clear line and an exit status.

0: done. 1: the data, a value or a file is not usable. 2: the command line cannot be parsed. 130: interrupted.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import sys
from typing import NoReturn

from ..errors import DiscreetError
from ..wording import printable

_LINES = "\n"  # some messages have several
_INTERRUPTED = "interrupted; no result was written."


class Interrupted(Exception):  # noqa: N818
    """The user broke off, and something has to be said about it."""


def exited(end: SystemExit) -> str:
    """Return what is said of code that asks to exit in the middle of a command."""
    return f"Code of another package exited with {end.code!r:.80} in the middle of this command. There is no result."


def main() -> None:
    """Run the command line and exit."""
    from .app import app

    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("discreet", _escaped)
        sys.stdout.reconfigure(errors="discreet")
    try:
        app()
    except DiscreetError as error:
        _fail(error.message.typed)
    except Interrupted as told:
        _fail(str(told), 130)
    except KeyboardInterrupt:
        _fail(_INTERRUPTED, 130)
    except SystemExit as end:
        if end.code == 130:  # typer has caught the interrupt, and says nothing
            _fail(_INTERRUPTED, 130)
        raise
    except MemoryError:
        _fail("out of memory. Ask for fewer or shorter patterns, or cap baskets with --max-items.")
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


def _fail(message: str, status: int = 1) -> NoReturn:
    if sys.stderr is not None:
        sys.stderr.write(f"discreet: {printable(message, keep=_LINES)}\n")
    _let_go()
    sys.exit(status)


def _let_go() -> None:
    """Give up what standard output could not take: Python would try again at its end, and change the exit status."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
