"""Start the command line and turn everything that goes wrong into one clear line and an exit status.

0: done. 1: the data, a value or a file is not usable. 2: the command line cannot be parsed. 130: interrupted.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import re
import sys
from typing import NoReturn

from ..errors import DiscreetError

# Parameters that are also ordinary words are taken for an option only where an equals sign follows. A value of one
# word loses its quotes: labels="names" is typed --labels names.
_OPTIONS = re.compile(
    r"\b(?:(min_support|min_count|min_confidence|min_lift|max_items)\b=?"
    r"|(top|lengths|limit|kind|contains|excludes|itemsets|person|item|query|labels|nulls|format|memory|seed"
    r"|epsilon|delta|items|people|mechanism|neighbours|by|ledger|time|pair)="
    r")(?:[\"'](\w+)[\"'])?"
)
# A name that opens a message is an option too, and so is one that is to be left out.
_OPENING = re.compile(
    r"^(top|limit|epsilon|delta|items|people|itemsets|contains|excludes|by|mechanism|least|seed|lengths|sizes|exponent"
    r"|frequencies)"
    r"(?= (?:is|are|must|has|asks)\b)"
    r"|(?<=\bleave )(people|delta|lengths|mechanism)(?= out\b)"
    r"|(?<=\bgive )top(?=, not\b)|(?<=\bnot )top(?=\.)|(?<=; )top(?= and\b)|(?<= of )top(?=\.| \()"
)
_PHRASES = {
    "contains and excludes": "--contains and --excludes",
    "contains or excludes": "--contains or --excludes",
    "epsilon or people": "--epsilon or --people",
    "same_data=True": "--same-data",
    "segments=": "--segment",
    "ordered=True": "--ordered",
    'pair=("before", "after")': "--pair before after",
}
_INTERRUPTED = "interrupted; no result was written."


class Interrupted(Exception):  # noqa: N818
    """The user broke off, and something has to be said about it."""


def main() -> None:
    """Run the command line and exit."""
    from .app import app

    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("discreet", _escaped)
        sys.stdout.reconfigure(errors="discreet")
    try:
        app()
    except DiscreetError as error:
        _fail(as_options(str(error)))
    except Interrupted as told:
        _fail(as_options(str(told)), 130)
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


def as_options(message: str) -> str:
    """Return a message of the Python API in the words of the command line: ``min_count=5`` as ``--min-count 5``."""

    def option(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        name = "input-format" if name == "format" else name.replace("_", "-")
        follows = message[match.end() : match.end() + 1]
        value = match[3] or ""
        apart = "=" in match[0] and (value or (follows and follows not in " ),;:."))
        return f"--{name}{' ' if apart else ''}{value}"

    for python, typed in _PHRASES.items():
        message = message.replace(python, typed)
    message = _OPENING.sub(lambda match: f"--{match[0]}", message)
    return _OPTIONS.sub(option, message)


def _fail(message: str, status: int = 1) -> NoReturn:
    if sys.stderr is not None:
        sys.stderr.write(f"discreet: {message}\n")
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
