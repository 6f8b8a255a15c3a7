"""`discreet diff`: what changed between two results that lie in files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import MisuseError
from . import options as given
from .groups import check_page
from .terminal import say

app = typer.Typer()


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet diff march.json april.json\n\n"
    "discreet diff march.json april.json --report changes.html\n\n"
    "discreet diff north.csv south.csv --names North,South --format json"
)
def diff(
    before: Annotated[
        Path, typer.Argument(metavar="BEFORE", help="A saved result: .json, .csv or .parquet.", show_default=False)
    ],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another one.", show_default=False)],
    names: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="What to call the two.  \\[default: as the files are called]",
            rich_help_panel=given.OUT,
            show_default=False,
        ),
    ] = None,
    report: given.Report = None,
    title: given.Title = None,
    format: given.FormatOption = None,  # noqa: A002
    output: given.Output = None,
) -> None:
    """Say what changed between two saved results, months or segments, and what noise may explain.

    Supports are compared. An interval combines the noise of both. It costs nothing.
    """
    from ..results.differences import diff as compared

    called = None
    if names is not None:
        first, comma, second = names.partition(",")
        if not comma or not first.strip() or not second.strip():
            raise MisuseError(
                f"--names takes two names with a comma between them, as March,April; {names!r} was given."
            )
        called = (first.strip(), second.strip())
    if report is not None:
        check_page(report)
    found = compared(before, after, names=called)
    form = format or ("table" if output is None else output.suffix.lower().removeprefix("."))
    if form == "table":
        say(repr(found))
    elif form not in ("csv", "json", "parquet"):
        raise MisuseError(f"The suffix of {output} does not tell the format: give --format csv, json or parquet.")
    elif output is not None:
        from ..atomic_write import written

        with written(output) as stream:
            stream.write(found.as_bytes(form))
    else:
        sys.stdout.buffer.write(found.as_bytes(form))
    if report is not None:
        found.save(report, title=title)
        say(f"report written to {report}", err=True)
