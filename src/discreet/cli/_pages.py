"""`discreet report`, `discreet open` and `discreet diff`: the commands for saved results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import InputError, MisuseError
from . import options
from ._groups import Reporting, Writing, build_title, check_page, command
from ._output import write_report
from ._terminal import say

if TYPE_CHECKING:
    from ..results import Result

app = typer.Typer()

_PAGE_SUFFIXES = (".html", ".htm")


@command(app)
def report(
    file: Path = options.argument(
        "FILE",
        "What -o or save wrote: .json, .csv or .parquet, with patterns, rules or relations; of compare and "
        "diff the .json.",
    ),
    title: str | None = options.TITLE,
    output: Path | None = options.option(
        "The page.  \\[default: FILE with .html]", options.OUT, "--output", "-o", metavar="FILE.html"
    ),
) -> None:
    """Make a report of a saved result, marked private, exact or simulated by the file. It costs nothing.

    The guarantee in the file is repeated without a check.

    Examples
    --------
    discreet report patterns.json

    discreet report patterns.parquet -o report.html --title "What people buy together"
    """
    from ..atomic_write import open_replacement

    # Beside the result, where the user looks for it; an existing page of a different program is not replaced.
    page_path = file.with_suffix(".html") if output is None else output
    check_page(page_path)
    # Rendered before the file is opened: an error leaves the earlier page.
    page = _render_page(file, title)
    with open_replacement(page_path) as stream:
        stream.write(page.encode())
    say(f"report written to {page_path}", err=True)


@command(app, "open")
def open_page(
    file: Path = options.argument("FILE", "A report (.html), or a saved result to make one of."),
) -> None:
    """Show a report in the browser; a saved result is made into one first.

    Examples
    --------
    discreet open report.html

    discreet open patterns.json    (made into a page first)
    """
    from tempfile import mkdtemp
    from webbrowser import open as open_browser

    if file.suffix.lower() in _PAGE_SUFFIXES:
        if not file.is_file():
            raise InputError(f"There is no file {file}.")
        page_path = file.resolve()
    else:
        page = _render_page(file, None)
        # The browser reads the page after this process has ended, so the page stays; its directory is the user's alone.
        page_path = Path(mkdtemp(prefix="discreet-report-")) / f"{file.stem}.html"
        page_path.write_text(page, encoding="utf-8")
        say(f"The page is {page_path}; nothing removes it but you or the system.", err=True)
    # webbrowser returns False where no browser starts, as on a server.
    if not open_browser(page_path.as_uri()):
        raise MisuseError(f"No browser could be started here. Open {page_path} in one, on this machine or another.")


@command(app)
def diff(
    before: Path = options.argument("BEFORE", "A saved result: .json, .csv or .parquet."),
    after: Path = options.argument("AFTER", "Another one."),
    names: str | None = options.option(
        "What to call the two.  \\[default: as the files are called]", options.OUT, metavar="A,B"
    ),
    *,
    reporting: Reporting,
    writing: Writing,
) -> None:
    """Show the changes between two saved results, months or segments, and mark changes within the noise.

    Supports are compared. An interval combines the noise of both. It costs nothing.

    Examples
    --------
    discreet diff march.json april.json

    discreet diff march.json april.json --report changes.html

    discreet diff north.csv south.csv --names North,South --format json
    """
    from ..results import diff as compare_results

    name_pair = None
    if names is not None:
        before_name, _, after_name = (name.strip() for name in names.partition(","))
        if not before_name or not after_name:
            raise MisuseError(
                f"--names takes two names with a comma between them, as March,April; {names!r} was given."
            )
        name_pair = (before_name, after_name)
    reporting.check(None, writing)
    differences = compare_results(before, after, names=name_pair)
    writing.write(differences)
    write_report(differences, reporting.report, reporting.title)


def _render_page(path: Path, title: str | None) -> str:
    from ..registry import described
    from ..results import Patterns, Rules, load

    result: Result = load(path)
    if not isinstance(result, Patterns | Rules):  # comparisons have a title and a summary of their own
        return result.report(title=title)
    summary, citations = described(result.provenance.method if result.provenance else "")
    return result.report(title=build_title(title, str(path)), summary=summary, citations=citations)
