"""Start the command line and turn everything that goes wrong into one clear line and an exit status.

0: done. 1: the data, a value or a file is not usable. 2: the command line cannot be parsed. 130: interrupted.
"""

from __future__ import annotations

import os
import re
import sys
from typing import NoReturn

from ..errors import DiscreetError

# Parameters that are also ordinary words are taken for an option only where an equals sign follows.
_OPTIONS = re.compile(
    r"\b(min_support|min_count|min_confidence|min_lift|max_items)\b(=(?=\S))?"
    r"|\b(top|lengths|limit|kind|contains|excludes|itemsets|person|item|time|pair|query|labels|nulls|format)=(\S)?"
)
_INTERRUPTED = "interrupted; nothing was written."


def main() -> None:
    """Run the command line and exit."""
    from .app import app

    try:
        app()
    except DiscreetError as error:
        _fail(as_options(str(error)))
    except KeyboardInterrupt:
        _fail(_INTERRUPTED, 130)
    except SystemExit as end:
        if end.code == 130:  # typer has caught the interrupt, and says nothing
            _fail(_INTERRUPTED, 130)
        raise
    except BrokenPipeError:
        # Whoever read our output has seen enough; python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _fail("out of memory. Ask for fewer or shorter patterns, or cap baskets with --max-items.")
    except Exception as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        _fail(
            f"an error that should not happen: {type(error).__name__}. "
            "Set DISCREET_DEBUG=1 to see where, and please report it."
        )


def as_options(message: str) -> str:
    """Return a message of the Python API in the words of the command line: ``min_count=5`` as ``--min-count 5``."""

    def option(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        follows = (" " if match[2] else "") if match[1] else ("" if match[4] in (None, ")", ",") else " ")
        if name == "format":
            name = "input-format"
        return f"--{name.replace('_', '-')}{follows}{match[4] or ''}"

    return _OPTIONS.sub(option, message)


def _fail(message: str, status: int = 1) -> NoReturn:
    sys.stderr.write(f"discreet: {message}\n")
    sys.exit(status)
