"""The curator's commands: publish patterns, and count given itemsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import MisuseError, NobodyError
from ..publish import Question
from . import options
from ._asking import PRIVACY, FileQuestionOptions, question_options
from ._delivery import Delivery, places_read
from ._groups import ClusterReading, ReadingOptions, Writing, grouped, title_of
from ._ledger import tell_head
from ._parsing import public_itemsets
from ._progress import ProgressBar
from ._signals import lift_limit
from ._terminal import at_terminal, console, say

if TYPE_CHECKING:
    from ..baskets import AnyBaskets, Item, Vocabulary
    from ..privacy.ledger import Ledger
    from ..publish import Case, Payer


app = typer.Typer()


ReleaseOptions = question_options(Question, "release release_by", in_file=True)
CountOptions = question_options(Question, "count count_by", in_file=True)


@dataclass(frozen=True)
class Paying:
    """Who pays, and whether every row is a person."""

    ledger: Annotated[
        Path | None,
        options.option("The account that pays: see `discreet ledger create`.", PRIVACY, metavar="LEDGER"),
    ] = None
    anchor: Annotated[
        str | None,
        options.option(
            "Where the last head of the ledger is kept too: an older ledger is refused.  \\[default: as the "
            "ledger remembers]",
            PRIVACY,
            metavar="FILE|command:…",
        ),
    ] = None
    who: Annotated[
        str | None,
        options.option("Who asks, for the ledger.  \\[default: the user]", PRIVACY, metavar="NAME"),
    ] = None
    same_data: Annotated[
        bool,
        options.option("The data are those of the ledger although they look different.", PRIVACY, "--same-data"),
    ] = False
    one_row_a_person: options.OneRow = False

    def baskets(self, reading: ReadingOptions, by: str | None) -> AnyBaskets:
        """Read the data; where rows might repeat a person, ask instead of guessing who is who."""
        if file := reading.result():
            raise MisuseError(f"{file} holds patterns or rules that were found already: give the data they came from.")
        from ..publish import PERSON_COLUMN_HINT

        try:
            return reading.baskets(None if self.one_row_a_person else PERSON_COLUMN_HINT, by)
        except NobodyError:
            from ..baskets import nobody

            return nobody(basket=reading.basket, names=reading.names, same_names=reading.same_names, **reading.beside())

    def payer(self) -> Payer:
        """Return the account that pays."""
        from ..publish import Payer

        ledger = paying_ledger(self.ledger, self.anchor)
        return Payer() if ledger is None else Payer(ledger, self.who or user(), self.same_data)


def paying_ledger(path: Path | None, anchor: str | None) -> Ledger | None:
    """Return the ledger that pays, if one does."""
    if path is None:
        if anchor is not None:
            raise MisuseError("--anchor is where the head of a ledger is kept: say which one by --ledger.")
        return None
    from ..privacy.ledger import Ledger

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
    *,
    asking: Annotated[FileQuestionOptions, ReleaseOptions],
    report: options.Report = None,
    title: options.Title = None,
    dry_run: options.DryRun = False,
    paying: Paying,
    reading: ClusterReading,
    writing: Writing,
) -> None:
    """Publish what people hold together, under differential privacy.

    Say which patterns by exactly one of --top, --min-support or --min-count, and the privacy budget by --epsilon.
    """
    question = asking.question()
    if asking.print_question:
        text = question.to_toml()
        typer.echo(text)
        return
    read = places_read(reading, paying.ledger, paying.anchor, *asking.files())
    delivery = Delivery(writing, report, title_of(title, reading.source), read, paying.ledger)
    _answer(question, paying.baskets(reading, question.by), paying, delivery, dry_run)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet count sales.csv --person customer --item product --itemsets wanted.txt --epsilon 0.2\n\n"
    "discreet count sales.csv --person customer --item product --itemsets wanted.txt --epsilon 0.2 --by region "
    "--segment north --segment south"
)
@grouped
def count(
    *,
    itemsets: options.Itemsets = None,
    asking: Annotated[FileQuestionOptions, CountOptions],
    report: options.Report = None,
    title: options.Title = None,
    dry_run: options.DryRun = False,
    paying: Paying,
    reading: ClusterReading,
    writing: Writing,
) -> None:
    """Count given itemsets under differential privacy: --itemsets names a file with one per line.

    The items of the itemsets are public, as you write them down; --items need not be given.
    """
    values = asking.values()
    if itemsets is None and asking.question_file is None:
        other = f" {asking.files()[0]} was given as --items, the list of all items." if "items" in values else ""
        raise MisuseError(f"Say what to count: --itemsets FILE, with one itemset per line.{other}")
    if itemsets is None:
        question = asking.question()
        baskets = paying.baskets(reading, question.by)
    else:
        baskets = paying.baskets(reading, values.get("by"))
        question = asking.question(itemsets=public_itemsets(itemsets, _public_items(values, baskets)))
    if asking.print_question:
        text = question.to_toml()
        typer.echo(text)
        return
    read = places_read(reading, paying.ledger, paying.anchor, itemsets, *asking.files())
    delivery = Delivery(writing, report, title_of(title, reading.source), read, paying.ledger)
    _answer(question, baskets, paying, delivery, dry_run)


def _public_items(values: dict[str, Any], baskets: AnyBaskets) -> Vocabulary | None:
    """Return the public list of items of a question; None where it is the items of the itemsets."""
    from ..baskets import Hierarchy, item_list, public_items

    if values.get("hierarchy") is not None:
        hierarchy = Hierarchy.read(values["hierarchy"]).renamed(baskets.vocabulary.names)
        return public_items(hierarchy, values.get("items"), baskets)[0]
    return item_list(values.get("items"), baskets)[0]


def _answer(question: Question, baskets: AnyBaskets, paying: Paying, delivery: Delivery, dry_run: bool) -> None:
    """Check where results go, pay, carry out and hand over; or say what that would cost."""
    from ..publish import Observer, answer, build_cases

    cases = build_cases(question, baskets)
    delivery.check(cases)
    _look(question, baskets, cases, dry_run)
    if dry_run:
        _forecast(baskets, cases, paying)
        return
    payer = paying.payer()
    lift_limit()
    with delivery.guarded():
        with ProgressBar("releasing") as bar:
            observer = Observer(progress=bar, stage=bar.stage, paid=delivery.paid)
            done = answer(baskets, cases, payer=payer, observer=observer)
        delivery.hand_over(done)
        tell_head(payer.ledger)


def _look(question: Question, baskets: AnyBaskets, cases: Mapping[Item, Case], dry_run: bool) -> None:
    """Show the curator what was read and what to expect, on a terminal alone; stop where it would all be noise.

    What is shown is not private. A log or a pipe may be read by others, so nothing goes there but that the list of
    items does not meet the data: that has to stop a budget from being spent, and --really keeps it from being said.
    """
    from ..publish import find_list_flaw, preview_cases

    if at_terminal():
        say("\n".join(preview_cases(baskets, cases).lines), err=True)
    wrong = "" if dry_run or question.really else find_list_flaw(baskets, cases)
    if wrong:
        raise MisuseError(f"{wrong} Nothing was spent. If it is really meant, say so with --really.")


def _forecast(baskets: AnyBaskets, cases: Mapping[Item, Case], paying: Paying) -> None:
    """Say what a release would spend."""
    from rich.table import Table

    case = next(iter(cases.values()))
    table = Table(box=None, pad_edge=False)
    table.add_column("for")
    table.add_column("share of the budget", justify="right")
    for what, share in case.steps():
        table.add_row(what, f"{float(share):.1%}")
    say(f"{case.mechanism.name} would spend {case.budget}:\n")
    console().print(table)
    if len(cases) > 1:
        say(f"\n{len(cases)} segments, for the price of one.")
    ledger = paying_ledger(paying.ledger, paying.anchor)
    if ledger is not None:
        from ..publish import Payer, compute_remaining_epsilon, render_affordability

        left = compute_remaining_epsilon(case, baskets, Payer(ledger, same_data=paying.same_data))
        say(f"\n{render_affordability(ledger, left)}")
    say("\nNothing was spent.")
