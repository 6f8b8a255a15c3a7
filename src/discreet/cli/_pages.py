"""`discreet report` and `discreet open`: pages of results that lie in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError, MisuseError
from . import options
from ._groups import check_page, title_of
from ._terminal import say

if TYPE_CHECKING:
    from ..results import Result

app = typer.Typer()

_PAGES = (".html", ".htm")


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet report patterns.json\n\n"
    'discreet report patterns.parquet -o report.html --title "What people buy together"'
)
def report(
    file: Annotated[
        Path,
        options.argument(
            "FILE",
            "What -o or save wrote: .json, .csv or .parquet, with patterns, rules or relations; of compare and "
            "diff the .json.",
        ),
    ],
    title: options.Title = None,
    output: Annotated[
        Path | None,
        options.option("The page.  \\[default: FILE with .html]", options.OUT, "--output", "-o", metavar="FILE.html"),
    ] = None,
) -> None:
    """Make a report of a saved result, as it was made at first: private, exact or simulated. It costs nothing.

    What the file says about its promise is taken at its word.
    """
    place = file.with_suffix(".html") if output is None else output
    check_page(place)
    made = _page(file, title)
    from ..atomic_write import open_replacement

    with open_replacement(place) as stream:
        stream.write(made.encode())
    say(f"report written to {place}", err=True)


@app.command(
    "open",
    epilog="[bold]Examples[/bold]\n\n"
    "discreet open report.html\n\n"
    "discreet open patterns.json    (made into a page first)",
)
def show(
    file: Annotated[
        Path,
        options.argument("FILE", "A report (.html), or a saved result to make one of."),
    ],
) -> None:
    """Show a report in the browser; a saved result is made into one first."""
    from tempfile import mkdtemp
    from webbrowser import open as start

    if file.suffix.lower() in _PAGES:
        if not file.is_file():
            raise InputError(f"There is no file {file}.")
        place = file.resolve()
    else:
        made = _page(file, None)
        # The browser reads it after we have ended, so it stays; nobody else can.
        place = Path(mkdtemp(prefix="discreet-report-")) / f"{file.stem}.html"
        place.write_text(made, encoding="utf-8")
        say(f"The page is {place}; nothing removes it but you or the system.", err=True)
    if not start(place.as_uri()):
        raise MisuseError(f"No browser could be started here. Open {place} in one, on this machine or another.")


def _page(file: Path, title: str | None) -> str:
    from ..registry import described
    from ..results import Patterns, Rules, load

    found: Result = load(file)
    if not isinstance(found, Patterns | Rules):  # what compares says by itself what it is about
        return found.report(title=title)
    summary, citations = described(found.provenance.method if found.provenance else "")
    return found.report(title=title_of(title, str(file)), summary=summary, citations=citations)
