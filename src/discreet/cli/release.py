"""The curator's commands: publish patterns, count given itemsets, list the mechanisms."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError, MisuseError, NobodyError
from . import options as given
from .groups import Reading, Writing, grouped
from .progress import Bar
from .words import labels, lengths_of, read_itemsets

if TYPE_CHECKING:
    from ..baskets.core import Baskets, Item
    from ..curator.release import Release
    from ..publish import Job

_PRIVACY = "What may be lost, and who pays"

app = typer.Typer()


@dataclass(frozen=True)
class Paying:
    """What may be lost, what is public, and who pays."""

    epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER", help="How much may be lost: 1, 0.5, 1/3.", rich_help_panel=_PRIVACY, show_default=False
        ),
    ] = None
    delta: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="The chance with which more may be lost, such as 1e-6: buys less noise.",
            rich_help_panel=_PRIVACY,
        ),
    ] = "0"
    items: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|N|public",
            help="The public list of items: a file with one a line, a number N for 0 to N - 1, or 'public' for those "
            "found in the data. Without it they are found privately, which needs --delta.",
            rich_help_panel=_PRIVACY,
            show_default=False,
        ),
    ] = None
    people: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The number of people, where it is public.", rich_help_panel=_PRIVACY, show_default=False
        ),
    ] = None
    neighbours: Annotated[
        given.Relation,
        typer.Option(help="Adding or removing one person, or replacing one.", rich_help_panel=_PRIVACY),
    ] = given.Relation.added
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="LEDGER",
            help="The account that pays: see `discreet ledger create`.",
            rich_help_panel=_PRIVACY,
            show_default=False,
        ),
    ] = None
    who: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who asks, for the ledger.  \\[default: the user]",
            rich_help_panel=_PRIVACY,
            show_default=False,
        ),
    ] = None
    same_data: Annotated[
        bool,
        typer.Option(
            "--same-data",
            help="The data are those of the ledger although they look different.",
            rich_help_panel=_PRIVACY,
        ),
    ] = False

    one_row_a_person: Annotated[
        bool,
        typer.Option(
            "--one-row-a-person",
            help="Every line of a .csv or .tsv file is the whole basket of one person.",
            rich_help_panel=_PRIVACY,
        ),
    ] = False

    def baskets(self, reading: Reading) -> Baskets:
        """Read the data; where rows might repeat a person, ask instead of guessing who is who."""
        if file := reading.result():
            raise MisuseError(f"{file} holds patterns or rules that were found already: give the data they came from.")
        suffixes = Path(reading.file or "").suffixes
        if reading.person is None and {".csv", ".tsv"} & set(suffixes) and not self.one_row_a_person:
            raise MisuseError(
                f"A release protects people: say which column of {reading.file} holds the person (--person) and which "
                "the item (--item); or say --one-row-a-person, if every line is one person's whole basket."
            )
        try:
            return reading.baskets()
        except NobodyError:
            from ..baskets.core import nobody

            return nobody()

    def budget(self) -> dict[str, Any]:
        """Return what a question says about its price and about what is public."""
        if self.epsilon is None:
            raise MisuseError("Say how much may be lost: --epsilon 1 is usual, less protects more.")
        items: Any = self.items
        if items is not None and items != "public" and items.isdigit() and len(items) < 19 and not Path(items).exists():
            items = int(items)
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "items": items,
            "people": self.people,
            "neighbours": self.neighbours.value,
        }

    def account(self) -> dict[str, Any]:
        """Return who pays."""
        if self.ledger is None:
            return {}
        return {"ledger": self.ledger, "who": self.who or user(), "same_data": self.same_data}


def user() -> str:
    """Return the name of whoever runs this, for the ledger."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):
        return ""


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet release sales.csv --person customer --item product --top 100 --epsilon 1 --items products.txt\n\n"
    "discreet release retail.dat --min-support 0.01 --epsilon 0.5 --items public --report report.html\n\n"
    "discreet release retail.dat --top 20 --epsilon 1 --delta 1e-6 --ledger budget.db -o patterns.json\n\n"
    "discreet release sales.csv --person customer --item product --by region --top 10 --epsilon 1 --items public"
)
@grouped
def release(
    top: given.Top = None,
    min_support: given.MinSupport = None,
    min_count: given.MinCount = None,
    lengths: given.Lengths = None,
    contains: given.Contains = None,
    excludes: given.Excludes = None,
    mechanism: Annotated[
        str, typer.Option(metavar="NAME", help="One of `discreet mechanisms`.", rich_help_panel=given.HOW)
    ] = "auto",
    settings: given.Settings = None,
    counts: Annotated[
        bool,
        typer.Option(
            help="Publish counts too, or spend all that is left on finding the patterns.", rich_help_panel=given.HOW
        ),
    ] = True,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="One release for each value of this column, for the price of one; everyone has one value.",
            rich_help_panel=given.HOW,
            show_default=False,
        ),
    ] = None,
    segments: Annotated[
        list[str] | None,
        typer.Option(
            "--segment",
            metavar="VALUE",
            help="A value of --by, where the list of them is not what the data hold. Can be given again.",
            rich_help_panel=given.HOW,
            show_default=False,
        ),
    ] = None,
    report: given.Report = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be spent, and spend nothing.", rich_help_panel=given.HOW)
    ] = False,
    *,
    paying: Paying,
    reading: Reading,
    writing: Writing,
) -> None:
    """Publish what people hold together, under differential privacy.

    Say which patterns by exactly one of --top, --min-support or --min-count, and how much may be lost by --epsilon.
    """
    question = {
        **paying.budget(),
        "top": top,
        "min_support": min_support,
        "min_count": min_count,
        "lengths": lengths_of(lengths),
        "mechanism": mechanism,
        "settings": settings_of(settings),
        "counts": counts,
    }
    _check_places(report, writing, paying, reading)
    baskets = paying.baskets(reading)
    question |= {"contains": labels(contains, baskets), "excludes": labels(excludes, baskets)}
    if by is not None:
        question |= _segments(reading, by, segments, len(baskets))
    elif segments:
        raise MisuseError("--segment lists the values of a column: say which one by --by.")
    if dry_run:
        _forecast(baskets, question, paying)
        return
    from ..publish import release as publish

    with Bar("releasing") as bar:
        done = publish(baskets, **question, **paying.account(), progress=bar)
    for segment, made in done.items() if isinstance(done, dict) else [(None, done)]:
        _show(made, segment, writing, report)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet count sales.csv --person customer --item product --itemsets wanted.txt --epsilon 0.2"
)
@grouped
def count(
    itemsets: given.Itemsets = None,
    report: given.Report = None,
    *,
    paying: Paying,
    reading: Reading,
    writing: Writing,
) -> None:
    """Count given itemsets under differential privacy: --itemsets names a file with one a line."""
    if itemsets is None:
        raise MisuseError("Say what to count: --itemsets FILE, with one itemset a line.")
    budget = paying.budget()
    _check_places(report, writing, paying, reading)
    baskets = paying.baskets(reading)
    wanted = read_itemsets(itemsets, baskets)
    from ..publish import count as publish

    _show(publish(baskets, wanted, **budget, **paying.account()), None, writing, report)


@app.command()
def mechanisms(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Tell everything about one.", show_default=False)
    ] = None,
    form: given.ViewOption = given.View.table,
) -> None:
    """List the mechanisms: what they answer, what they promise, where they come from."""
    from ..catalogue import mechanism, mechanisms

    entries = [mechanism(name)] if name is not None else list(mechanisms().values())
    told = [
        {
            "name": entry.name,
            "model": entry.model,
            "answers": list(entry.answers),
            "guarantee": entry.guarantee,
            "summary": entry.summary,
            "settings": {setting: _plain(value) for setting, value in entry.settings.items()},
            "citation": entry.citation,
            "package": entry.package,
        }
        for entry in entries
    ]
    if form is given.View.json:
        typer.echo(json.dumps(told, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if name is not None:
        for word, value in told[0].items():
            console.print(f"[bold]{word}[/bold]  ", end="")
            console.print(_listed(value), markup=False, highlight=False)
        return
    table = Table(box=None, pad_edge=False)
    for column in ("name", "answers", "guarantee", "what it does"):
        table.add_column(column, overflow="fold", no_wrap=column == "name")
    for row in told:
        table.add_row(str(row["name"]), ", ".join(row["answers"]), str(row["guarantee"]), str(row["summary"]))
    console.print(table)
    console.print("\n`discreet mechanisms NAME` shows settings and citation.")


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={setting}" for name, setting in value.items()) or "none"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _plain(value: Any) -> Any:
    from fractions import Fraction

    return str(value) if isinstance(value, Fraction) else value


def settings_of(texts: list[str] | None) -> dict[str, str]:
    """Return settings typed as NAME=VALUE, by name."""
    settings = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"a setting is written NAME=VALUE; {text!r} was given.")
        settings[name.strip()] = value.strip()
    return settings


def _check_places(report: Path | None, writing: Writing, paying: Paying, reading: Reading) -> None:
    """Refuse places that cannot be written to, or that hold what is read or what pays, before anything is spent."""
    read = [Path(place) for place in (reading.file, paying.ledger, paying.items) if place is not None]
    for place in (writing.output, report):
        if place is not None and any(_same(place, other) for other in read):
            raise MisuseError(f"{place} is read or pays for this release: write the result to another file.")
    if report is not None and writing.output is not None and _same(report, writing.output):
        raise MisuseError(f"{report} cannot hold both the result and the report: give two names.")
    if report is None:
        return
    from ..exact.writing import check_place

    if report.suffix.lower() not in (".html", ".htm"):
        raise MisuseError(f"A report is a page: give a name that ends in .html instead of {report}.")
    check_place(report)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve()
    except OSError:
        return False


def _segments(reading: Reading, by: str, segments: list[str] | None, people: int) -> dict[str, Any]:
    """Return the one value each person has in a column, and the values that were typed, as the column has them."""
    from dataclasses import replace

    if reading.person is None:
        raise MisuseError("--by needs a table with a person in each row: say which column by --person.")
    try:
        values = replace(reading, item=by).baskets()
    except NobodyError:
        return {"by": [], "segments": segments}
    if len(values) != people or (values.sizes != 1).any():
        raise InputError(f"Everyone must have one value in the column {by!r}: some people have none, or several.")
    found: list[Item] = values.vocabulary.take(values.codes).to_pylist()
    return {"by": found, "segments": labels(segments, values) if segments else None}


def _forecast(baskets: Baskets, question: dict[str, Any], paying: Paying) -> None:
    """Say what a release would spend."""
    from rich.console import Console
    from rich.table import Table

    from ..privacy.budget import shown
    from ..publish import prepare, quote

    jobs = prepare(baskets, **question)
    job: Job = next(iter(jobs.values()))
    table = Table(box=None, pad_edge=False)
    table.add_column("for")
    table.add_column("share of the budget", justify="right")
    for what, share in quote(jobs):
        table.add_row(what, f"{float(share):.1%}")
    console = Console(highlight=False)
    delta = f", delta = {shown(job.budget.delta)}" if not job.budget.pure else ""
    console.print(f"{job.mechanism.name} would spend epsilon = {shown(job.budget.epsilon)}{delta}:\n")
    console.print(table)
    if len(jobs) > 1:
        console.print(f"\n{len(jobs)} segments, for the price of one.")
    if paying.ledger is not None:
        from ..publish import affordable

        console.print(f"\n{affordable(job, baskets, paying.ledger, paying.same_data)}")
    console.print("\nNothing was spent.")


def _show(made: Release, segment: Item | None, writing: Writing, report: Path | None) -> None:
    """Write one release where it is wanted; of several, each into a file of its own."""
    if segment is not None and writing.output is None:
        typer.echo(f"\n{segment}")
    writing.beside(segment).write(made.patterns)
    if writing.output is None and writing.format is given.Format.table:
        for note in made.notes:
            typer.echo(f"\n{note}")
    if report is not None:
        place = report if segment is None else given.beside(report, segment)
        made.save(place)
        if sys.stderr is not None:
            sys.stderr.write(f"report written to {place}\n")
