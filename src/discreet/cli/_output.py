"""Where results go: a table for people, or a file or stream for programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import MisuseError
from ..results import ROW_FORMATS, find_format, format_of, suffix_of
from ._replacing import SVG_MARK, check_replaceable
from ._run import unheard
from ._terminal import console, say
from .options import Format as Chosen

if TYPE_CHECKING:
    from ..results import Result

_ROWS = 50


def check(form: Chosen | None, output: Path | None, *, pictures: bool = False) -> Chosen:
    """Return the format to write, before any work is done: a wrong name must not cost an hour of mining.

    With `pictures`, it may be that of a picture, which the suffix .svg tells.
    """
    if output is None:
        if sys.stdout is None:
            raise MisuseError("There is no standard output to write to: add -o FILE.")
        wanted = ROW_FORMATS.get(form or "table")
        if wanted is not None:
            wanted.check_installed()
            if not wanted.is_text and sys.stdout.isatty():
                raise MisuseError(
                    f"{wanted.title} is not for the eye: add -o FILE{wanted.suffixes[0]}, or send the output to a file "
                    "or a pipe."
                )
        return form or "table"
    from ..atomic_write import check_output_path, is_special
    from ..results import beside_table

    suffix = suffix_of(output)
    told = find_format(output, "rows")
    if form is None:
        drawn = pictures and suffix == ".svg"
        form = "table" if suffix == ".txt" else "svg" if drawn else format_of(output).name
    elif told is not None and told.name != form:
        usual = f".{form}" if form not in ROW_FORMATS else ROW_FORMATS[form].suffixes[0]
        raise MisuseError(f"{output} would hold {form}, not {told.name}: leave --format out, or use {usual}.")
    if form in ROW_FORMATS:
        ROW_FORMATS[form].check_installed()
    check_replaceable(output)
    check_output_path(output)
    if has_file_beside(form) and not is_special(output):
        check_replaceable(beside_table(output))
        check_output_path(beside_table(output))
    return form


def has_file_beside(form: Chosen) -> bool:
    """Return whether what a table of this format has no columns for goes into a file beside it."""
    return form in ROW_FORMATS and ROW_FORMATS[form].has_file_beside


def emit(result: Result, form: Chosen, output: Path | None) -> None:
    """Write a result where the user wants it: a table for people, a picture, or rows for programs."""
    from ..results import save_rows, write

    rows = result.row_source
    if output is not None:
        if form in ROW_FORMATS:
            save_rows(rows, output, ROW_FORMATS[form])
        else:
            write_text(_picture(rows) if form == "svg" else _plain(rows), output)
        if sys.stderr is not None:
            say(f"{rows.written_name} written to {output}{rows.caution}", err=True)
        return
    try:
        if form in ROW_FORMATS:
            write(rows, sys.stdout.buffer, form)
        elif form == "svg":
            write_text(_picture(rows), None)
        else:
            _print(rows)
        sys.stdout.flush()
    except BrokenPipeError:
        unheard()  # whoever read our output has seen enough


def write_text(text: str, output: Path | None) -> None:
    """Write a text for programs to a file, or to standard output."""
    from ..atomic_write import open_replacement

    if output is None:
        typer.echo(text)
        return
    with open_replacement(output) as stream:
        stream.write(f"{text}\n".encode())


def write_report(result: Result, place: Path | None, title: str | None) -> None:
    """Write the report of a result, if one is wanted."""
    if place is not None:
        result.save(place, title=title)
        say(f"report written to {place}", err=True)


def _print(result: Result) -> None:
    """Print a result for people."""
    from ..results import PIPED, Patterns, Rules, table

    if not isinstance(result, Patterns | Rules):
        console().print(result, crop=False)
        return
    seen = sys.stdout.isatty()
    # A pipe has no edge to cut names at, unless the user says that there is one.
    width = None if seen or "COLUMNS" in os.environ else PIPED
    console(highlight=True, width=width).print(table(result, _ROWS, bars=seen))


def _picture(result: Result) -> str:
    return f"{SVG_MARK}\n{result.plot().svg}"


def _plain(result: Result) -> str:
    """Return all rows of a result as text for people: names of items are whole."""
    from ..results import PIPED, Patterns, Rules, table
    from ..wording import render_text

    if not isinstance(result, Patterns | Rules):
        return repr(result)
    return render_text(table(result, rows=len(result)), width=PIPED)
