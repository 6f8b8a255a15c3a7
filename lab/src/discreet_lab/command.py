"""`discreet lab`: the experiments of the papers, on their data or on yours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import Interrupted, ProgressBar, console, grouped, options as given, say
from discreet.errors import OPTIONS, MisuseError
from discreet.temporary import make_temporary_directory

if TYPE_CHECKING:
    from .run.experiment import Data, Experiment

app = typer.Typer(no_args_is_help=True, help="Run the experiments of the papers, on their data or on yours.")

Paper = Annotated[
    str | None, typer.Option("--paper", metavar="NUMBER", help="All of one paper: 000 to 004.", show_default=False)
]
Folder = Annotated[Path, typer.Option("--folder", metavar="PATH", help="Where results are kept.")]
Quick = Annotated[bool, typer.Option("--quick", help="Three repeats and three points of an axis.")]
_FOLDER = Path("lab-results")
_MEMORY = "2GB"
_NULLS: given.Nulls = "error"


@dataclass(frozen=True)
class Own:
    """Data of one's own, and how they are read."""

    file: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="Run it on these baskets instead of the paper's.",
            rich_help_panel=given.DATA,
            show_default=False,
        ),
    ] = None
    person: given.Person = None
    item: given.ItemColumn = None
    basket: given.BasketColumn = None
    time: given.Time = None
    pair: given.Pair = None
    ordered: given.Ordered = False
    input_format: given.InputFormat = None
    delimiter: given.Delimiter = None
    encoding: given.Encoding = None
    labels: given.LabelsOption = None
    memory: given.Memory = _MEMORY
    nulls: given.NullsOption = _NULLS

    def data(self) -> Data | None:
        """Return the data, which can be read; nothing where there are none."""
        from .data.own_data import check_data
        from .run.experiment import Data

        options = {
            "person": self.person,
            "item": self.item,
            "basket": self.basket,
            "time": self.time,
            "pair": self.pair,
            "ordered": self.ordered or None,
            "format": self.input_format,
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "labels": self.labels,
            "memory": None if self.memory == _MEMORY else self.memory,
            "nulls": None if self.nulls == _NULLS else self.nulls,
        }
        # Results are kept by what was said: what was not said is left out.
        reading: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        if self.file is None:
            if reading:
                said = ", ".join(OPTIONS[name] for name in reading)
                raise MisuseError(f"Without a file there is nothing to read: add --data FILE, or leave {said} out.")
            return None
        found = Data(name=str(self.file), label=self.file.name, reading=reading)
        check_data(found)
        return found


@app.command("list")
def show(paper: Paper = None) -> None:
    """List the experiments: what each stands for, and how much there is to run."""
    from rich.table import Table

    from .papers import experiments, of_paper

    table = Table(box=None, pad_edge=False)
    for head in ("name", "shows", "what", "cells", "quick"):
        table.add_column(head, justify="right" if head in ("cells", "quick") else "left", no_wrap=head == "name")
    for one in of_paper(paper) if paper else experiments().values():
        many = [sum(len(cell.seeds) for cell in one.cells(quick)) for quick in (False, True)]
        table.add_row(one.name, one.shows, one.title, f"{many[0]:,}", f"{many[1]:,}")
    console().print(table)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet lab run 004-figure-5 --quick\n\n"
    "discreet lab run --paper 000\n\n"
    "discreet lab run --all --quick\n\n"
    "discreet lab run 004-figure-5 --data baskets.dat\n\n"
    "discreet lab run 002-figure-3 --data baskets.dat --values 0.02,0.01\n\n"
    "discreet lab run 004-figure-5 --with mine --quick\n\n"
    "discreet lab run regret --data retail --values 'top=10 epsilon=0.5' --repeats 20"
)
@grouped
def run(
    own: Own,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", show_default=False, help="From `discreet lab list`.")
    ] = None,
    paper: Paper = None,
    every: Annotated[bool, typer.Option("--all", help="All experiments of all papers.")] = False,
    quick: Quick = False,
    values: Annotated[
        str | None,
        typer.Option(
            "--values", metavar="LIST", help="Points of the axis in place of the paper's.", show_default=False
        ),
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME", help="One more mechanism or protocol.", show_default=False),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", metavar="N", help="How many seeds in place of the experiment's.", show_default=False),
    ] = None,
    folder: Folder = _FOLDER,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", help="How many processes.  \\[default: one per core]", show_default=False),
    ] = None,
) -> None:
    """Run experiments, and show what they gave. What is unchanged since the last time is not run again.

    Results go to one Parquet file per experiment; `discreet lab page` makes pages and figures of them.
    """
    from rich.markdown import Markdown

    from .pages.regret import MEASURES, summary, worst
    from .pages.tables import table
    from .run.failures import reasons_once
    from .run.runner import run as carry_out

    if repeats is not None and repeats < 1:
        raise MisuseError(f"The number of repeats is {repeats}; it must be 1 or more.")
    chosen = _changed(_chosen(names, paper, every), not names, own.data(), values, others or ())
    if repeats is not None:
        chosen = [replace(one, repeats=repeats) for one in chosen]
    with _kept_if_interrupted(), ProgressBar("running") as bar:
        results = carry_out(chosen, folder, quick=quick, jobs=jobs, progress=bar)
    out = console()
    for one in results:
        if one.failed and not one.rows:
            continue  # the reason is said below: a table without numbers says nothing more
        out.print(f"\n[bold]{one.experiment.shows}[/bold] {one.experiment.title}  ({one.experiment.name})")
        if one.experiment.measure in MEASURES:
            out.print(Markdown("\n".join((*summary(one), *worst(one)))))
            continue
        for metric in one.experiment.metrics:
            out.print(Markdown("\n".join(table(one, metric))))
    failures = [failure for one in results for failure in one.failed]
    for reason in reasons_once(failures):
        say(f"not run: {reason}", err=True)
    if failures:
        raise typer.Exit(1)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet lab page --quick\n\n"
    "discreet lab page --paper 004 --kept -o pages\n\n"
    "discreet lab page --paper 004 --html"
)
def page(
    paper: Paper = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PATH", help="Where pages go.")] = Path("lab-pages"),
    quick: Quick = False,
    kept: Annotated[
        bool,
        typer.Option("--kept", help="Run nothing: pages of the results that are there, which say what is missing."),
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="One HTML file per paper, with its figures inside.")] = False,
    folder: Folder = _FOLDER,
) -> None:
    """Write a page for each paper, with its figures: claims, what was measured, and whether they agree.

    What has not been run yet is run first, unless --kept is given. Without --paper there is an index page too.
    What is run only by its name, as regret is, is shown as far as it is kept.
    """
    from .pages.claims import claims, judged
    from .pages.page import check_places, write_index, write_page
    from .pages.web import write_html
    from .papers import experiments, of_paper
    from .run.runner import kept as what_is_kept, run as carry_out

    chosen = of_paper(paper) if paper else [one for one in experiments().values() if not one.by_name]
    papers = list(dict.fromkeys(one.paper for one in chosen))
    check_places(papers, output, index=not paper, html=html)
    now = [] if kept else [one for one in chosen if not one.by_name]
    ran = []
    if now:
        with _kept_if_interrupted(), ProgressBar("running") as bar:
            ran = carry_out(now, folder, quick=quick, progress=bar)
    results = [*ran, *what_is_kept([one for one in chosen if kept or one.by_name], folder, quick=quick)]
    whole = [one.experiment.name for one in results if one.rows and not (quick or one.missing or one.failed)]
    every = judged(claims(), whole)
    with make_temporary_directory("lab-") as passing:
        place = passing if html else output
        for number in papers:
            found = [one for one in results if one.experiment.paper == number]
            said = [claim for claim in every if claim.paper == number]
            written = write_page(number, found, said, place, quick=quick)
            say(str(write_html(written, output / f"{number}.html") if html else written))
        if not paper:
            written = write_index(papers, every, place)
            say(str(write_html(written, output / "index.html") if html else written))


def _chosen(names: list[str] | None, paper: str | None, every: bool) -> list[Experiment]:
    """Return the experiments that were asked for, in one of three ways."""
    from .papers import experiment, experiments, of_paper

    if bool(names) + bool(paper) + every != 1:
        raise MisuseError("Say what to run: names from `discreet lab list`, --paper 000, or --all.")
    if names:
        return [experiment(name) for name in dict.fromkeys(names)]
    several = of_paper(paper) if paper else list(experiments().values())
    found = [one for one in several if not one.by_name]
    if not found:
        said = ", ".join(one.name for one in several)
        raise MisuseError(
            f"These take long, or are run once, so they are run by their names: {said}. Type one of them."
        )
    return found


def _changed(
    chosen: list[Experiment], several: bool, data: Data | None, values: str | None, others: Iterable[str]
) -> list[Experiment]:
    """Return experiments on other data, over other points, with more lines; of `several` those that can be run so."""
    from .data.own_data import at_points, on_data, with_line

    changed, refused = [], []
    for one in chosen:
        try:
            if data is not None:
                one = on_data(one, data)
            if values is not None:
                one = at_points(one, values.split(","))
            for other in dict.fromkeys(others):
                one = with_line(one, other)
            changed.append(one)
        except MisuseError as error:
            if not several:
                raise
            refused.append(error)
    if not changed:
        raise refused[0]
    for why in refused:
        say(f"left out: {why.message.typed}", err=True)
    return changed


@contextmanager
def _kept_if_interrupted() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted; what ran is kept, and the same command goes on from there.") from None
