"""The curator's commands: publish patterns, and count given itemsets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ..errors import MisuseError, NobodyError
from ..results.promise import Relation
from . import options as given
from .delivery import Delivery, places_read
from .groups import ClusterReading, ReadingOptions, Writing, grouped, title_of
from .ledger import tell_head
from .numbers import whole
from .parsing import labels, lengths_of, public_itemsets, public_list, typed
from .progress import ProgressBar
from .signals import lift_limit
from .terminal import at_terminal, console, say

if TYPE_CHECKING:
    from ..baskets.core import AnyBaskets, Item
    from ..privacy.ledger.ledger import Ledger
    from ..publish import Job

_WHOLE = re.compile("[0-9]{1,18}")
_PRIVACY = "What may be lost, and who pays"

app = typer.Typer()


MaxBaskets: TypeAlias = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="N",
        help="With --basket: so many baskets of each person take part, drawn at random.  \\[default: chosen with a "
        "small share of the budget]",
        rich_help_panel=_PRIVACY,
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Paying:
    """What may be lost, what is public, and who pays."""

    epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER", help="The privacy budget: 1, 0.5, 1/3.", rich_help_panel=_PRIVACY, show_default=False
        ),
    ] = None
    delta: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="The delta of (epsilon, delta), such as 1e-6. Losses then add up by zCDP, which buys less noise.",
            rich_help_panel=_PRIVACY,
        ),
    ] = "0"
    items: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|N|public",
            help="The public list of items: a file with one per line, a number N for 0 to N - 1, or 'public' for those "
            "found in the data. Without it they are found privately, which needs --delta.",
            rich_help_panel=_PRIVACY,
            show_default=False,
        ),
    ] = None
    people: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="The number of people, where it is public.",
            rich_help_panel=_PRIVACY,
            show_default=False,
        ),
    ] = None
    neighbours: Annotated[
        Relation,
        typer.Option(help="Adding or removing one person, or replacing one.", rich_help_panel=_PRIVACY),
    ] = "add-remove"
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="LEDGER",
            help="The account that pays: see `discreet ledger create`.",
            rich_help_panel=_PRIVACY,
            show_default=False,
        ),
    ] = None
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|command:…",
            help="Where the last head of the ledger is kept too: an older ledger is refused.  \\[default: as the "
            "ledger remembers]",
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

    really: given.Really = False
    one_row_a_person: given.OneRow = False

    def baskets(self, reading: ReadingOptions, by: str | None) -> AnyBaskets:
        """Read the data; where rows might repeat a person, ask instead of guessing who is who."""
        if file := reading.result():
            raise MisuseError(f"{file} holds patterns or rules that were found already: give the data they came from.")
        from ..publish.question import WHOSE

        try:
            return reading.baskets(None if self.one_row_a_person else WHOSE, by)
        except NobodyError:
            from ..baskets.core import nobody

            return nobody(basket=reading.basket, **reading.beside())

    def budget(self) -> dict[str, Any]:
        """Return what a question says about its price and about what is public."""
        if self.epsilon is None:
            raise MisuseError("Say how much may be lost: --epsilon 1 is usual, less protects more.")
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "items": items_of(self.items),
            "people": self.people,
            "neighbours": self.neighbours,
            "really": self.really,
        }

    def read_items(self, texts: list[str] | None, baskets: AnyBaskets) -> list[Item]:
        """Return what was typed as items: as the data have them only where that is public, as text without a list."""
        if self.items is None:
            return list(texts or [])
        return labels(texts, baskets) if self.items == "public" else typed(texts)

    def account(self) -> dict[str, Any]:
        """Return who pays."""
        ledger = paying_ledger(self.ledger, self.anchor)
        return {} if ledger is None else {"ledger": ledger, "who": self.who or user(), "same_data": self.same_data}


def paying_ledger(path: Path | None, anchor: str | None) -> Ledger | None:
    """Return the ledger that pays, if one does."""
    if path is None:
        if anchor is not None:
            raise MisuseError("--anchor is where the head of a ledger is kept: say which one by --ledger.")
        return None
    from ..privacy.ledger.ledger import Ledger

    return Ledger(path, anchor)


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
    "discreet release sales.csv --person customer --item product --by region --segments regions.txt "
    "--top 10 --epsilon 1 --items public"
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
    max_baskets: MaxBaskets = None,
    hierarchy: given.HierarchyFile = None,
    level: given.LevelOption = None,
    by: given.By = None,
    segment: given.Segments = None,
    segments: given.SegmentList = None,
    report: given.Report = None,
    title: given.Title = None,
    dry_run: given.DryRun = False,
    *,
    paying: Paying,
    reading: ClusterReading,
    writing: Writing,
) -> None:
    """Publish what people hold together, under differential privacy.

    Say which patterns by exactly one of --top, --min-support or --min-count, and the privacy budget by --epsilon.
    """
    question = {
        **paying.budget(),
        **_levels(hierarchy, level),
        "max_baskets": max_baskets,
        "top": top,
        "min_support": min_support,
        "min_count": min_count,
        "lengths": lengths_of(lengths),
        "mechanism": mechanism,
        "settings": settings_of(settings),
        "counts": counts,
    }
    read = places_read(reading, paying.ledger, paying.anchor, paying.items, hierarchy)
    delivery = Delivery(writing, report, title_of(title, reading.source), read, paying.ledger)
    baskets = paying.baskets(reading, by)
    for name, texts in (("contains", contains), ("excludes", excludes)):
        question[name] = paying.read_items(texts, baskets) if hierarchy is None else typed(texts)
    question |= _segmented(by, _segment_list(segment, segments))
    from ..publish import prepare

    _answer(baskets, prepare(baskets, **question), paying, delivery, dry_run)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet count sales.csv --person customer --item product --itemsets wanted.txt --epsilon 0.2\n\n"
    "discreet count sales.csv --person customer --item product --itemsets wanted.txt --epsilon 0.2 --by region "
    "--segment north --segment south"
)
@grouped
def count(
    itemsets: given.Itemsets = None,
    max_baskets: MaxBaskets = None,
    hierarchy: given.HierarchyFile = None,
    level: given.LevelOption = None,
    by: given.By = None,
    segment: given.Segments = None,
    segments: given.SegmentList = None,
    report: given.Report = None,
    title: given.Title = None,
    dry_run: given.DryRun = False,
    *,
    paying: Paying,
    reading: ClusterReading,
    writing: Writing,
) -> None:
    """Count given itemsets under differential privacy: --itemsets names a file with one per line.

    The items of the itemsets are public, as you write them down; --items need not be given.
    """
    if itemsets is None:
        other = f" {paying.items} was given as --items, the list of all items." if paying.items is not None else ""
        raise MisuseError(f"Say what to count: --itemsets FILE, with one itemset per line.{other}")
    question = paying.budget() | _levels(hierarchy, level) | {"max_baskets": max_baskets}
    read = places_read(reading, paying.ledger, paying.anchor, paying.items, itemsets, hierarchy)
    delivery = Delivery(writing, report, title_of(title, reading.source), read, paying.ledger)
    baskets = paying.baskets(reading, by)
    wanted = public_itemsets(itemsets)
    question |= _segmented(by, _segment_list(segment, segments))
    from ..publish import prepare_count

    _answer(baskets, prepare_count(baskets, wanted, **question), paying, delivery, dry_run)


def _levels(hierarchy: Path | None, level: str | None) -> dict[str, Any]:
    """Return what a question says about which items stand above others."""
    from ..baskets.hierarchy import Hierarchy

    return {"hierarchy": None if hierarchy is None else Hierarchy.read(hierarchy), "level": level}


def _answer(baskets: AnyBaskets, jobs: Mapping[Item, Job], paying: Paying, delivery: Delivery, dry_run: bool) -> None:
    """Check where results go, pay, carry out and hand over; or say what that would cost."""
    delivery.check(jobs)
    _look(baskets, jobs, paying, dry_run)
    if dry_run:
        _forecast(baskets, jobs, paying)
        return
    from ..publish import answer

    account = paying.account()
    lift_limit()
    with delivery.guarded():
        with ProgressBar("releasing") as bar:
            done = answer(baskets, jobs, **account, progress=bar, stage=bar.stage, paid=delivery.paid)
        delivery.hand_over(done)
        tell_head(account.get("ledger"))


def items_of(text: str | None) -> str | int | None:
    """Return the list of items as it was typed: a number where it is one, and no file has that name."""
    return int(text) if text is not None and _WHOLE.fullmatch(text) and not Path(text).exists() else text


def settings_of(texts: list[str] | None) -> dict[str, str]:
    """Return settings typed as NAME=VALUE, by name."""
    settings = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"a setting is written NAME=VALUE; {text!r} was given.")
        settings[name.strip()] = value.strip()
    return settings


def _segment_list(typed_ones: list[str] | None, source: str | None) -> Any:
    """Return the public list of segments: typed one by one, from a file, or by declaration."""
    if source is None:
        return typed(typed_ones) or None
    if typed_ones:
        raise MisuseError("Give the segments by --segment, one by one, or by --segments, in a file: not by both.")
    return public_list(source, "segments")


def _segmented(by: str | None, segments: Any) -> dict[str, Any]:
    """Return the column of the segments, and the public list of them."""
    if by is None and segments:
        raise MisuseError("--segment lists the values of a column: say which one by --by.")
    return {"by": by, "segments": segments}


def _look(baskets: AnyBaskets, jobs: Mapping[Item, Job], paying: Paying, dry_run: bool) -> None:
    """Show the curator what was read and what to expect, on a terminal alone; stop where it would all be noise.

    What is shown is not private. A log or a pipe may be read by others, so nothing goes there but that the list of
    items does not meet the data: that has to stop a budget from being spent, and --really keeps it from being said.
    """
    from ..publish import look, missed

    if at_terminal():
        say("\n".join(look(baskets, jobs).lines), err=True)
    wrong = "" if dry_run or paying.really else missed(baskets, jobs)
    if wrong:
        raise MisuseError(f"{wrong} Nothing was spent. If it is really meant, say so with --really.")


def _forecast(baskets: AnyBaskets, jobs: Mapping[Item, Job], paying: Paying) -> None:
    """Say what a release would spend."""
    from rich.table import Table

    from ..publish import quote

    job = next(iter(jobs.values()))
    table = Table(box=None, pad_edge=False)
    table.add_column("for")
    table.add_column("share of the budget", justify="right")
    for what, share in quote(jobs):
        table.add_row(what, f"{float(share):.1%}")
    say(f"{job.mechanism.name} would spend {job.budget}:\n")
    console().print(table)
    if len(jobs) > 1:
        say(f"\n{len(jobs)} segments, for the price of one.")
    ledger = paying_ledger(paying.ledger, paying.anchor)
    if ledger is not None:
        from ..publish import affordable

        say(f"\n{affordable(job, baskets, ledger, paying.same_data)}")
    say("\nNothing was spent.")
