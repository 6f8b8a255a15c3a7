"""`discreet release` and `discreet count`: private patterns, and private counts of itemsets."""

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
from ._delivery import Delivery, input_paths
from ._groups import ClusterReading, ReadingOptions, Writing, build_title, command
from ._ledger import print_head
from ._parsing import read_public_itemsets
from ._progress import ProgressBar
from ._signals import lift_limit
from ._terminal import console, is_at_terminal, say

if TYPE_CHECKING:
    from ..baskets import AnyBaskets, Item, Vocabulary
    from ..privacy.ledger import Ledger
    from ..publish import Case, Payer


app = typer.Typer()


ReleaseOptions = question_options(Question, "release release_by", in_file=True)
CountOptions = question_options(Question, "count count_by", in_file=True)


@dataclass(frozen=True)
class PaymentOptions:
    """The options for the ledger of a release, and for a table with a person in each row."""

    ledger: Path | None = options.option(
        "The account that pays: see `discreet ledger create`.", PRIVACY, metavar="LEDGER"
    )
    anchor: str | None = options.option(
        "Where the last head of the ledger is kept too: an older ledger is refused.  \\[default: as the "
        "ledger remembers]",
        PRIVACY,
        metavar="FILE|command:…",
    )
    who: str | None = options.option("Who asks, for the ledger.  \\[default: the user]", PRIVACY, metavar="NAME")
    same_data: bool = options.option(
        "The data are those of the ledger although they look different.", PRIVACY, default=False
    )
    one_row_a_person: bool = options.ONE_ROW

    def read_baskets(self, source_options: ReadingOptions, by: str | None) -> AnyBaskets:
        """Return the baskets of a release, with the segments of a column `by`.

        A table without a person column is refused if two rows may belong to one person: a wrong guess would break the
        guarantee. Data without rows are no error, as an error would reveal that they have none.
        """
        source_options.check_is_data()
        from ..publish import PERSON_COLUMN_HINT

        try:
            return source_options.read_baskets(None if self.one_row_a_person else PERSON_COLUMN_HINT, by)
        except NobodyError:
            from ..baskets import build_empty_baskets

            return build_empty_baskets(**source_options.arguments())

    def build_delivery(
        self,
        writing: Writing,
        report: Path | None,
        title: str | None,
        source_options: ReadingOptions,
        *question_paths: Path | str | None,
    ) -> Delivery:
        """Return the delivery of a release, which writes over none of its inputs."""
        paths = input_paths(source_options, self.ledger, self.anchor, *question_paths)
        return Delivery(writing, report, build_title(title, source_options.source), paths, self.ledger)

    def open_payer(self) -> Payer:
        """Return the account that pays, with the ledger opened."""
        from ..publish import Payer

        ledger = open_ledger(self.ledger, self.anchor)
        return Payer() if ledger is None else Payer(ledger, self.who or find_user(), self.same_data)


def open_ledger(path: Path | None, anchor: str | None) -> Ledger | None:
    """Return the ledger at a path; None without a path."""
    if path is None:
        if anchor is not None:
            raise MisuseError("--anchor is where the head of a ledger is kept: say which one by --ledger.")
        return None
    from ..privacy.ledger import Ledger

    return Ledger(path, anchor)


def find_user() -> str:
    """Return the login name of the user, for the ledger; "" where the system knows none."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):  # a container may run under a number without a name
        return ""


@command(app)
def release(
    *,
    question_form: Annotated[FileQuestionOptions, ReleaseOptions],
    report: Path | None = options.REPORT,
    title: str | None = options.TITLE,
    dry_run: bool = options.DRY_RUN,
    paying: PaymentOptions,
    source_options: ClusterReading,
    writing: Writing,
) -> None:
    """Publish patterns of items, under differential privacy.

    Say which patterns by exactly one of --top, --min-support or --min-count, and the privacy budget by --epsilon.

    Examples
    --------
    discreet release sales.csv --person customer --item product --top 100 --epsilon 1 --items products.txt

    discreet release retail.dat --min-support 0.01 --epsilon 0.5 --items public --report report.html

    discreet release retail.dat --top 20 --epsilon 1 --delta 1e-6 --ledger budget.db -o patterns.json

    discreet release sales.csv --person customer --item product --by region --segments regions.txt --top 10
    --epsilon 1 --items public
    """
    question = question_form.question()
    if question_form.print_question:
        text = question.to_toml()
        typer.echo(text)
        return
    delivery = paying.build_delivery(writing, report, title, source_options, *question_form.paths())
    _release(question, paying.read_baskets(source_options, question.by), paying, delivery, dry_run)


@command(app)
def count(
    *,
    itemsets: Path | None = options.ITEMSETS,
    question_form: Annotated[FileQuestionOptions, CountOptions],
    report: Path | None = options.REPORT,
    title: str | None = options.TITLE,
    dry_run: bool = options.DRY_RUN,
    paying: PaymentOptions,
    source_options: ClusterReading,
    writing: Writing,
) -> None:
    """Count given itemsets under differential privacy: --itemsets names a file with one per line.

    The items of the itemsets are public, as you write them down; --items need not be given.

    Examples
    --------
    discreet count sales.csv --person customer --item product --itemsets wanted.txt --epsilon 0.2

    discreet count sales.csv --person customer --item product --itemsets wanted.txt --epsilon 0.2 --by region
    --segment north --segment south
    """
    values = question_form.values()
    if itemsets is None and question_form.question_file is None:
        hint = f" {question_form.paths()[0]} was given as --items, the list of all items." if "items" in values else ""
        raise MisuseError(f"Say what to count: --itemsets FILE, with one itemset per line.{hint}")
    if itemsets is None:
        question = question_form.question()
        baskets = paying.read_baskets(source_options, question.by)
    else:
        # Names of items come of the data, so the baskets are read before the itemsets.
        baskets = paying.read_baskets(source_options, values.get("by"))
        question = question_form.question(itemsets=read_public_itemsets(itemsets, _find_public_items(values, baskets)))
    if question_form.print_question:
        text = question.to_toml()
        typer.echo(text)
        return
    delivery = paying.build_delivery(writing, report, title, source_options, itemsets, *question_form.paths())
    _release(question, baskets, paying, delivery, dry_run)


def _find_public_items(values: dict[str, Any], baskets: AnyBaskets) -> Vocabulary | None:
    """Return the public list of items of a question; None if the items of the itemsets are the list."""
    from ..baskets import Hierarchy, resolve_items, resolve_public_items

    if values.get("hierarchy") is not None:
        hierarchy = Hierarchy.read(values["hierarchy"]).renamed(baskets.vocabulary.names)
        return resolve_public_items(hierarchy, values.get("items"), baskets)[0]
    return resolve_items(values.get("items"), baskets)[0]


def _release(
    question: Question, baskets: AnyBaskets, paying: PaymentOptions, delivery: Delivery, dry_run: bool
) -> None:
    """Check the paths, pay, answer the question and write the releases; with `dry_run`, print the cost alone."""
    from ..publish import Observer, answer, build_cases

    cases = build_cases(question, baskets)
    # The segments name the files, so the paths are checked after the question and before the payment.
    delivery.check(cases)
    _preview(question, baskets, cases, dry_run)
    if dry_run:
        _forecast(baskets, cases, paying)
        return
    payer = paying.open_payer()
    # From here on the duration depends on private data: no time limit may end the release.
    lift_limit()
    with delivery.guard():
        with ProgressBar("releasing") as bar:
            observer = Observer(progress=bar, stage=bar.stage, paid=delivery.keep_receipt)
            releases = answer(baskets, cases, payer=payer, observer=observer)
        delivery.write(releases)
        print_head(payer.ledger)


def _preview(question: Question, baskets: AnyBaskets, cases: Mapping[Item, Case], dry_run: bool) -> None:
    """Show the curator the data and a forecast; raise MisuseError if the release would be noise alone.

    The preview is not private, so it goes to a terminal alone: a log or a pipe may have further readers. The error says
    that the list of items does not meet the data; it keeps a budget from being wasted, and --really suppresses it.
    """
    from ..publish import find_list_flaw, preview_cases

    if is_at_terminal():
        say("\n".join(preview_cases(baskets, cases).lines), err=True)
    flaw = "" if dry_run or question.really else find_list_flaw(baskets, cases)
    if flaw:
        raise MisuseError(f"{flaw} Nothing was spent. If it is really meant, say so with --really.")


def _forecast(baskets: AnyBaskets, cases: Mapping[Item, Case], paying: PaymentOptions) -> None:
    """Print the budget that a release would spend, and its shares by step."""
    from rich.table import Table

    # The cases of all segments have one budget and one mechanism.
    case = next(iter(cases.values()))
    table = Table(box=None, pad_edge=False)
    table.add_column("for")
    table.add_column("share of the budget", justify="right")
    for step, share in case.steps():
        table.add_row(step, f"{float(share):.1%}")
    say(f"{case.mechanism.name} would spend {case.budget}:\n")
    console().print(table)
    if len(cases) > 1:
        say(f"\n{len(cases)} segments, for the price of one.")
    ledger = open_ledger(paying.ledger, paying.anchor)
    if ledger is not None:
        from ..publish import Payer, compute_remaining_epsilon, render_affordability

        remaining_epsilon = compute_remaining_epsilon(case, baskets, Payer(ledger, same_data=paying.same_data))
        say(f"\n{render_affordability(ledger, remaining_epsilon)}")
    say("\nNothing was spent.")
