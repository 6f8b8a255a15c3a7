"""Where results go: a table for people, or a file or stream for programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from ..errors import MisuseError
from .options import Format as Chosen
from .run import unheard
from .terminal import console, say

if TYPE_CHECKING:
    from ..results.patterns import Patterns
    from ..results.rules import Rules

_ROWS = 50


def check(form: Chosen | None, output: Path | None) -> Chosen:
    """Return the format to write, before any work is done: a wrong name must not cost an hour of mining."""
    if output is None:
        if sys.stdout is None:
            raise MisuseError("There is no standard output to write to: add -o FILE.")
        if form == "parquet" and sys.stdout.isatty():
            raise MisuseError(
                "Parquet is not for the eye: add -o FILE.parquet, or send the output to a file or a pipe."
            )
        return form or "table"
    from ..atomic_write import check_place
    from ..results.files import format_of

    suffix = output.suffix.lower().removeprefix(".")
    if form is None:
        form = "table" if suffix == "txt" else format_of(output)
    elif suffix in get_args(Chosen) and suffix != form:
        raise MisuseError(f"{output} would hold {form}, not {suffix}: leave --format out, or use .{form}.")
    check_place(output)
    return form


def emit(result: Patterns | Rules, form: Chosen, output: Path | None) -> None:
    """Write a result where the user wants it."""
    from ..results.files import write, written

    if output is not None:
        with written(output) as stream:
            if form == "table":
                stream.write(_plain(result).encode())
            else:
                write(result, stream, form)
        if sys.stderr is not None:
            say(f"{len(result):,} {_word(result)} written to {output}", err=True)
        return
    try:
        if form == "table":
            from ..results.show import table

            console(highlight=True).print(table(result, _ROWS, bars=sys.stdout.isatty()))
        else:
            write(result, sys.stdout.buffer, form)
        sys.stdout.flush()
    except BrokenPipeError:
        unheard()  # whoever read our output has seen enough


def _word(result: Patterns | Rules) -> str:
    from ..results.rules import Rules

    return result.kind if isinstance(result, Rules) else "patterns"


def _plain(result: Patterns | Rules) -> str:
    from ..results.show import table
    from ..wording import text_of

    return text_of(table(result, rows=len(result)), width=160) + "\n"
