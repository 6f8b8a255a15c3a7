"""`discreet lab`: the experiments of the papers, on their data or on yours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from discreet.cli import Interrupted, ProgressBar, ReadingOptions, console, expand_groups, options as given, say
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


@dataclass(frozen=True)
class OwnData(ReadingOptions):
    """The options for a researcher's own data: the file, and how to read it."""

    left_out: ClassVar[tuple[str, ...]] = (
        "file", "query", "names", "same_names", "max_items", "seed", "engine", "master", "remote"
    )  # fmt: skip
    data: Path | None = given.option("Run it on these baskets instead of the paper's.", given.DATA, metavar="FILE")

    def build_data(self) -> Data | None:
        """Return the data, checked to be readable; None without a file."""
        from .data.own_data import check_data
        from .run.experiment import Data

        # Stored results depend on the options: options with their default are left out.
        defaults = OwnData().arguments()
        read_options = {
            name: value for name, value in self.arguments().items() if name != "data" and value != defaults[name]
        }
        if self.data is None:
            if read_options:
                option_text = ", ".join(OPTIONS[name] for name in read_options)
                raise MisuseError(
                    f"Without a file there is nothing to read: add --data FILE, or leave {option_text} out."
                )
            return None
        data = Data(name=str(self.data), label=self.data.name, reading=read_options)
        check_data(data)
        return data


@app.command("list")
def show(paper: Paper = None) -> None:
    """List the experiments: the figure or table of each, and the number of runs."""
    from rich.table import Table

    from .papers import experiments, of_paper

    table = Table(box=None, pad_edge=False)
    for head in ("name", "shows", "what", "cells", "quick"):
        table.add_column(head, justify="right" if head in ("cells", "quick") else "left", no_wrap=head == "name")
    for experiment in of_paper(paper) if paper else experiments().values():
        run_counts = [sum(len(cell.seeds) for cell in experiment.cells(quick)) for quick in (False, True)]
        table.add_row(experiment.name, experiment.shows, experiment.title, f"{run_counts[0]:,}", f"{run_counts[1]:,}")
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
@expand_groups
def run(
    own: OwnData,
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
    """Run experiments, and show their results. Unchanged experiments are not run again.

    Results go to one Parquet file per experiment; `discreet lab page` makes pages and figures of the results.
    """
    from rich.markdown import Markdown

    from .pages.regret import MEASURES, render_summary, render_worst
    from .pages.tables import render_table
    from .run.failures import list_reasons
    from .run.runner import run as run_experiments

    if repeats is not None and repeats < 1:
        raise MisuseError(f"The number of repeats is {repeats}; it must be 1 or more.")
    selected = _change_experiments(
        _select_experiments(names, paper, every), not names, own.build_data(), values, others or ()
    )
    if repeats is not None:
        selected = [replace(result, repeats=repeats) for result in selected]
    with _explain_interrupt(), ProgressBar("running") as bar:
        results = run_experiments(selected, folder, quick=quick, jobs=jobs, progress=bar)
    terminal = console()
    for result in results:
        if result.failed and not result.rows:
            continue  # the reason follows below; a table without numbers is useless
        terminal.print(
            f"\n[bold]{result.experiment.shows}[/bold] {result.experiment.title}  ({result.experiment.name})"
        )
        if result.experiment.measure in MEASURES:
            terminal.print(Markdown("\n".join((*render_summary(result), *render_worst(result)))))
            continue
        for metric in result.experiment.metrics:
            terminal.print(Markdown("\n".join(render_table(result, metric))))
    failures = [failure for result in results for failure in result.failed]
    for reason in list_reasons(failures):
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
    """Write a page for each paper, with its figures: claims, measurements, and whether both agree.

    Experiments without results are run first, unless --kept is given. Without --paper an index page is added.
    Experiments that run by name alone, such as regret, are shown from kept results.
    """
    from .pages.claims import read_claims, restrict_verdicts
    from .pages.page import check_paths, write_index, write_page
    from .pages.web import write_html
    from .papers import experiments, of_paper
    from .run.runner import kept as read_results, run as run_experiments

    selected = of_paper(paper) if paper else [result for result in experiments().values() if not result.by_name]
    papers = list(dict.fromkeys(result.paper for result in selected))
    check_paths(papers, output, index=not paper, html=html)
    to_run = [] if kept else [result for result in selected if not result.by_name]
    new_results = []
    if to_run:
        with _explain_interrupt(), ProgressBar("running") as bar:
            new_results = run_experiments(to_run, folder, quick=quick, progress=bar)
    results = [
        *new_results,
        *read_results([result for result in selected if kept or result.by_name], folder, quick=quick),
    ]
    complete = [
        result.experiment.name for result in results if result.rows and not (quick or result.missing or result.failed)
    ]
    all_claims = restrict_verdicts(read_claims(), complete)
    with make_temporary_directory("lab-") as temporary_directory:
        directory = temporary_directory if html else output
        for number in papers:
            paper_results = [result for result in results if result.experiment.paper == number]
            paper_claims = [claim for claim in all_claims if claim.paper == number]
            path = write_page(number, paper_results, paper_claims, directory, quick=quick)
            say(str(write_html(path, output / f"{number}.html") if html else path))
        if not paper:
            path = write_index(papers, all_claims, directory)
            say(str(write_html(path, output / "index.html") if html else path))


def _select_experiments(names: list[str] | None, paper: str | None, every: bool) -> list[Experiment]:
    """Return the requested experiments: by name, of one paper, or all."""
    from .papers import experiment, experiments, of_paper

    if bool(names) + bool(paper) + every != 1:
        raise MisuseError("Say what to run: names from `discreet lab list`, --paper 000, or --all.")
    if names:
        return [experiment(name) for name in dict.fromkeys(names)]
    experiments_of_paper = of_paper(paper) if paper else list(experiments().values())
    selected = [experiment for experiment in experiments_of_paper if not experiment.by_name]
    if not selected:
        name_text = ", ".join(experiment.name for experiment in experiments_of_paper)
        raise MisuseError(
            f"These take long, or are run once, so they are run by their names: {name_text}. Type one of them."
        )
    return selected


def _change_experiments(
    experiments: list[Experiment], several: bool, data: Data | None, values: str | None, further_lines: Iterable[str]
) -> list[Experiment]:
    """Return experiments with other data, points and lines; with `several`, drop experiments that cannot change so."""
    from .data.own_data import add_line, replace_data, replace_points

    changed, errors = [], []
    for experiment in experiments:
        try:
            if data is not None:
                experiment = replace_data(experiment, data)
            if values is not None:
                experiment = replace_points(experiment, values.split(","))
            for line_name in dict.fromkeys(further_lines):
                experiment = add_line(experiment, line_name)
            changed.append(experiment)
        except MisuseError as error:
            if not several:
                raise
            errors.append(error)
    if not changed:
        raise errors[0]
    for reason in errors:
        say(f"left out: {reason.message.typed}", err=True)
    return changed


@contextmanager
def _explain_interrupt() -> Iterator[None]:
    """Turn a keyboard interrupt into a message about the stored results."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted; what ran is kept, and the same command goes on from there.") from None
