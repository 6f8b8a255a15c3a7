"""`discreet diff`: what changed between two results that lie in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import MisuseError
from . import options
from ._groups import Reporting, Writing, grouped
from ._output import write_report

app = typer.Typer()


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet diff march.json april.json\n\n"
    "discreet diff march.json april.json --report changes.html\n\n"
    "discreet diff north.csv south.csv --names North,South --format json"
)
@grouped
def diff(
    before: Annotated[Path, options.argument("BEFORE", "A saved result: .json, .csv or .parquet.")],
    after: Annotated[Path, options.argument("AFTER", "Another one.")],
    names: Annotated[
        str | None,
        options.option("What to call the two.  \\[default: as the files are called]", options.OUT, metavar="A,B"),
    ] = None,
    *,
    reporting: Reporting,
    writing: Writing,
) -> None:
    """Say what changed between two saved results, months or segments, and what noise may explain.

    Supports are compared. An interval combines the noise of both. It costs nothing.
    """
    from ..results import diff as compared

    called = None
    if names is not None:
        first, comma, second = names.partition(",")
        if not comma or not first.strip() or not second.strip():
            raise MisuseError(
                f"--names takes two names with a comma between them, as March,April; {names!r} was given."
            )
        called = (first.strip(), second.strip())
    reporting.check(None, writing)
    found = compared(before, after, names=called)
    writing.write(found)
    write_report(found, reporting.report, reporting.title)
