"""Output of results: a table for people, a picture, or a file or stream for programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import MisuseError
from ..results import ROW_FORMATS, find_format, format_of, suffix_of
from ._replacing import SVG_MARK, check_replaceable
from ._run import discard_output
from ._terminal import console, say
from .options import Format

if TYPE_CHECKING:
    from ..results import Result

_TERMINAL_ROWS = 50  # of a table without -o: about the lines of one screen; a file has all rows


def check_output(form: Format | None, output: Path | None, *, pictures: bool = False) -> Format:
    """Return the format of a result, chosen before any work: a wrong name must not cost an hour of mining.

    Parameters
    ----------
    form
        The format on the command line; None for the format of the suffix, or a table.
    output
        The path of the result; None for standard output.
    pictures
        Whether the suffix .svg is allowed.
    """
    if output is None:
        _check_standard_output(form)
        return form or "table"
    from ..atomic_write import check_output_path, is_special
    from ..results import beside_table

    suffix = suffix_of(output)
    # A suffix that says one format around the bytes of a second one misleads the next reader.
    suffix_format = find_format(output, "rows")
    if form is None:
        is_picture = pictures and suffix == ".svg"
        form = "table" if suffix == ".txt" else "svg" if is_picture else format_of(output).name
    elif suffix_format is not None and suffix_format.name != form:
        usual_suffix = f".{form}" if form not in ROW_FORMATS else ROW_FORMATS[form].suffixes[0]
        raise MisuseError(
            f"{output} would hold {form}, not {suffix_format.name}: leave --format out, or use {usual_suffix}."
        )
    # Feather and Excel need packages that may be absent.
    if form in ROW_FORMATS:
        ROW_FORMATS[form].check_installed()
    # The second file of a table is replaced with the first, so it is checked with the first.
    paths = [output]
    if has_side_file(form) and not is_special(output):
        paths.append(beside_table(output))
    for path in paths:
        check_replaceable(path)
        check_output_path(path)
    return form


def _check_standard_output(form: Format | None) -> None:
    """Raise MisuseError if standard output is closed, or is a terminal and the format is binary."""
    if sys.stdout is None:
        raise MisuseError("There is no standard output to write to: add -o FILE.")
    row_format = ROW_FORMATS.get(form or "table")
    if row_format is None:
        return
    row_format.check_installed()
    if not row_format.is_text and sys.stdout.isatty():
        raise MisuseError(
            f"{row_format.title} is not for the eye: add -o FILE{row_format.suffixes[0]}, or send the output to a file "
            "or a pipe."
        )


def has_side_file(form: Format) -> bool:
    """Return whether a format writes the provenance, which tables have no columns for, into a second file."""
    return form in ROW_FORMATS and ROW_FORMATS[form].has_file_beside


def emit(result: Result, form: Format, output: Path | None) -> None:
    """Write a result in a format to a path, or to standard output."""
    from ..results import save_rows, write

    # A release is saved as its table of patterns, with the provenance of the release.
    rows = result.row_source
    if output is not None:
        if form in ROW_FORMATS:
            save_rows(rows, output, ROW_FORMATS[form])
        else:
            write_text(_render_picture(rows) if form == "svg" else _render_text(rows), output)
        if sys.stderr is not None:
            # On standard error: standard output may be a pipe, and has the result alone.
            say(f"{rows.written_name} written to {output}{rows.caution}", err=True)
        return
    try:
        if form in ROW_FORMATS:
            # As bytes, so that the encoding of the terminal changes no result.
            write(rows, sys.stdout.buffer, form)
        elif form == "svg":
            write_text(_render_picture(rows), None)
        else:
            _print_table(rows)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()  # the reader, like head(1), has enough


def write_text(text: str, output: Path | None) -> None:
    """Write a text and a line feed to a path, or to standard output."""
    from ..atomic_write import open_replacement

    if output is None:
        typer.echo(text)
        return
    with open_replacement(output) as stream:
        stream.write(f"{text}\n".encode())


def write_report(result: Result, path: Path | None, title: str | None) -> None:
    """Write the report of a result, if a path is given."""
    if path is not None:
        result.save(path, title=title)
        say(f"report written to {path}", err=True)


def _print_table(result: Result) -> None:
    from ..results import PIPED, Patterns, Rules, table

    if not isinstance(result, Patterns | Rules):
        console().print(result, crop=False)
        return
    is_terminal = sys.stdout.isatty()
    # A pipe has no edge to cut names at, unless the user sets one by COLUMNS.
    width = None if is_terminal or "COLUMNS" in os.environ else PIPED
    console(highlight=True, width=width).print(table(result, _TERMINAL_ROWS, bars=is_terminal))


def _render_picture(result: Result) -> str:
    return f"{SVG_MARK}\n{result.plot().svg}"


def _render_text(result: Result) -> str:
    """Return a table with all rows of a result, and names of items uncut."""
    from ..results import PIPED, Patterns, Rules, table
    from ..wording import render_text

    if not isinstance(result, Patterns | Rules):
        return repr(result)
    return render_text(table(result, rows=len(result)), width=PIPED)
