"""`discreet release`, `count`, `release-relations` and `rank`: paid results for publication."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ..errors import EmptyDataError, InputError, MisuseError
from ..publish import Question, RankQuestion, RelationQuestion
from . import options
from ._asking import PRIVACY, FileQuestionOptions, QuestionOptions, question_options
from ._delivery import Delivery, input_paths
from ._groups import ClusterReading, OrderedReading, ReadingOptions, Writing, build_title, command
from ._ledger import print_head
from ._parsing import read_public_itemsets
from ._terminal import ProgressBar, console, is_at_terminal, say

if TYPE_CHECKING:
    from ..baskets import AnyBaskets, Item, Vocabulary
    from ..publish import Case, Contest, Payer

app = typer.Typer()


ReleaseOptions = question_options(Question, "release release_by", in_file=True)
CountOptions = question_options(Question, "count count_by", in_file=True)


@dataclass(frozen=True)
class PaymentOptions:
    """The options for the ledger of a release, and for a table with a person in each row."""

    left_out: ClassVar[tuple[str, ...]] = ()

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

    def open_payer(self) -> Payer:
        """Return the account that pays, with the ledger opened."""
        from ..publish import Payer

        if self.ledger is None:
            # Without a ledger the anchor would be ignored, and the user would think the head is kept.
            if self.anchor is not None:
                raise MisuseError("--anchor is where the head of a ledger is kept: say which one by --ledger.")
            return Payer()
        from ..privacy.ledger import Ledger

        return Payer(Ledger(self.ledger, self.anchor), self.who or find_user(), self.same_data)

    def read_baskets(self, source_options: ReadingOptions, segment_column: str | None) -> AnyBaskets:
        """Return the baskets of a release, with the segments of a column.

        A table without a person column is refused if two rows may belong to one person: a wrong guess would break the
        guarantee. Data without rows are no error, as an error would reveal that they have none.
        """
        source_options.check_is_data()
        from ..publish import PERSON_COLUMN_HINT

        try:
            return source_options.read_baskets(None if self.one_row_a_person else PERSON_COLUMN_HINT, segment_column)
        except EmptyDataError:
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
        # The ledger and its anchor are inputs too: a result written over them would lose the account.
        paths = input_paths(source_options, self.ledger, self.anchor, *question_paths)
        return Delivery(writing, report, build_title(title, source_options.source), paths, self.ledger)


class ScorePaymentOptions(PaymentOptions):
    """The options for the ledger of a ranking, which reads no baskets."""

    left_out: ClassVar[tuple[str, ...]] = ("same_data", "one_row_a_person")


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
    # The delivery is built first: its errors need no data, and reading may take minutes.
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
        # A list of items is easily taken for the list of itemsets, as both have one entry per line.
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

    # With a hierarchy the items of the list are its items, also items that no basket has.
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
        _print_cost(baskets, cases, paying.open_payer())
        return
    payer = paying.open_payer()
    with delivery.guard():
        with ProgressBar("releasing") as bar:
            observer = Observer(progress=bar, stage=bar.stage, receipt=delivery.keep_receipt)
            releases = answer(baskets, cases, payer=payer, observer=observer)
        delivery.write(releases)
        print_head(payer.ledger)


def _preview(question: Question, baskets: AnyBaskets, cases: Mapping[Item, Case], dry_run: bool) -> None:
    """Show the curator the data and a forecast; raise MisuseError if the release would be noise alone.

    The preview is not private, so it goes to a terminal alone: a log or a pipe may have further readers. The error says
    that the list of items does not meet the data; it keeps a budget from being wasted, and --really suppresses it.
    """
    from ..publish import find_list_flaw, preview_cases

    # Trials with discarded noise take time, which is spent only where a person reads the preview.
    if is_at_terminal():
        say("\n".join(preview_cases(baskets, cases).lines), err=True)
    flaw = "" if dry_run or question.really else find_list_flaw(baskets, cases)
    if flaw:
        raise MisuseError(f"{flaw} Nothing was spent. If it is really meant, say so with --really.")


def _print_cost(baskets: AnyBaskets, cases: Mapping[Item, Case], payer: Payer) -> None:
    """Print the budget that a release would spend, and its shares by step."""
    from rich.table import Table

    # The cases of all segments have one budget and one mechanism.
    case = next(iter(cases.values()))
    # No colours or boxes: the text is for terminals, logs and documentation alike.
    table = Table(box=None, pad_edge=False)
    table.add_column("for")
    table.add_column("share of the budget", justify="right")
    for step, share in case.steps():
        table.add_row(step, f"{float(share):.1%}")
    say(f"{case.mechanism.name} would spend {case.budget}:\n")
    console().print(table)
    if len(cases) > 1:
        say(f"\n{len(cases)} segments, for the price of one.")
    if payer.ledger is not None:
        from ..publish import compute_remaining_epsilon, render_affordability

        say(f"\n{render_affordability(payer.ledger, compute_remaining_epsilon(case, baskets, payer))}")
    say("\nNothing was spent.")


RelationOptions = question_options(RelationQuestion)


@command(app)
def release_relations(
    *,
    question_form: Annotated[QuestionOptions, RelationOptions],
    report: Path | None = options.REPORT,
    title: str | None = options.TITLE,
    paying: PaymentOptions,
    source_options: OrderedReading,
    writing: Writing,
) -> None:
    """Publish relations a → b between items of one person, under differential privacy.

    Give their number by --top, the privacy budget by --epsilon, and which items are public by --items.

    Examples
    --------
    discreet release-relations sales.csv --person customer --item product --time time --top 20 --epsilon 1
    --items products.txt

    discreet release-relations clicks.csv --person user --item page --time at --top 50 --among 100 --epsilon 1
    --delta 1e-6 --items public --ledger budget.db -o relations.json
    """
    question = question_form.question()
    delivery = paying.build_delivery(writing, report, title, source_options, *question_form.paths())
    baskets = paying.read_baskets(source_options, None)
    from ..publish import Observer, answer, build_relation_case

    case = build_relation_case(question, baskets)
    delivery.check([""])
    # Empty data pass, as an error would reveal that they are empty to readers of a log.
    if not question.really and len(case.baskets.codes) and not len(case.listed_baskets.codes):
        raise MisuseError(
            "Nobody holds any of the items on the list. Nothing was spent. If it is really meant, say so with --really."
        )
    payer = paying.open_payer()
    with delivery.guard():
        # Without shares: the two steps of relations take times that depend on private data.
        with ProgressBar("releasing"):
            releases = answer(case.baskets, {"": case}, payer=payer, observer=Observer(receipt=delivery.keep_receipt))
        delivery.write(releases)
        print_head(payer.ledger)


RankOptions = question_options(RankQuestion)


@command(app)
def rank(
    *,
    file: Path = options.argument("FILE.csv", "A table with a label and a score in each row."),
    label: str = options.option("The column with the label.", default=options.REQUIRED, metavar="COLUMN"),
    score: str = options.option("The column with the score.", default=options.REQUIRED, metavar="COLUMN"),
    question_form: Annotated[QuestionOptions, RankOptions],
    paying: ScorePaymentOptions,
    dry_run: bool = options.option("Say what would be spent, and spend nothing. No score is looked at.", default=False),
    writing: Writing,
) -> None:
    """Choose the labels with the largest scores, under differential privacy.

    Examples
    --------
    discreet rank pages.csv --label page --score visitors --top 10 --epsilon 1 --sensitivity 1 --monotone
    --labels pages.txt

    discreet rank teams.csv --label team --score points --top 3 --epsilon 1 --sensitivity 5 --no-scores --labels
    public --dry-run
    """
    from ..publish import build_contest, has_scored_label, rank as rank_labels

    question = question_form.question()
    payer = paying.open_payer()
    paths = tuple(path for path in (file, paying.ledger) if path is not None)
    delivery = Delivery(writing=writing, report=None, title="", input_paths=paths, ledger=paying.ledger)
    delivery.check([""])
    if dry_run:
        # The cost depends on the public labels alone, so a score of 0 for each keeps the private scores out.
        # A dry run may be published, so it must be a function of public values.
        contest = build_contest(question, dict.fromkeys(_read_scores(file, label, score), 0))
        _print_rank_cost(contest, payer, writing)
        return
    scores = _read_scores(file, label, score)
    # A list in a different spelling would spend the whole budget on noise.
    if not question.really and not isinstance(question.labels, str) and not has_scored_label(question.labels, scores):
        raise MisuseError(
            "No label on the list has a score: the ranking would spend the budget on noise. Nothing was spent. If it "
            "is really meant, say so with --really."
        )
    with delivery.guard():
        ranking = rank_labels(scores, question, ledger=payer.ledger, who=payer.who)
        delivery.write({"": ranking})
        print_head(payer.ledger)


def _read_scores(file: Path, label: str, score: str) -> dict[str, str]:
    """Return the texts of the scores by label, from the columns `label` and `score` of a CSV file."""
    import csv

    scores: dict[str, str] = {}
    try:
        # Spreadsheets write a byte order mark, which utf-8-sig drops; csv parses line ends itself.
        with file.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.DictReader(stream, strict=True)
            columns = list(rows.fieldnames or ())
            for column in (label, score):
                if column not in columns:
                    raise InputError(f"{file} has no column {column!r}; there are {', '.join(columns) or 'none'}.")
            for row in rows:
                place = f"{file}, line {rows.line_num}"
                # DictReader keeps surplus values under the key None, and fills missing values with None.
                if None in row:
                    raise InputError(f"{place} has more values than columns: put a value with a comma into quotes.")
                for column in (label, score):
                    if row[column] is None:
                        raise InputError(f"{place} has no value in column {column!r}.")
                if row[label] in scores:
                    raise InputError(f"{place}: the label {row[label]!r} has a score already.")
                # As text: the parser of scores takes fractions and decimal numbers exactly, which
                # floats would round.
                scores[row[label]] = row[score].strip()
    except FileNotFoundError:
        raise InputError(f"There is no file {file}.") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{file} cannot be read as CSV in UTF-8: it holds something else.") from None
    return scores


def _print_rank_cost(contest: Contest, payer: Payer, writing: Writing) -> None:
    """Print the budget that a ranking would spend, and its shares by step."""
    from ..privacy import shown
    from ..publish import compute_remaining_epsilon, render_affordability

    budget = contest.budget
    remaining_epsilon = None if payer.ledger is None else compute_remaining_epsilon(contest, None, payer)
    # For programs that ask for the cost first; exact numbers as texts, as in results.
    if writing.format == "json":
        forecast = {
            "epsilon": shown(budget.epsilon),
            "delta": shown(budget.delta),
            "shares": {step: str(share) for step, share in contest.steps()},
            "left": None if remaining_epsilon is None else shown(remaining_epsilon),
        }
        typer.echo(json.dumps(forecast, indent=2))
        return
    say(f"rank would spend {budget}:\n")
    for step, share in contest.steps():
        say(f"{step}  {float(share):.0%}")
    if remaining_epsilon is not None:
        say(f"\n{render_affordability(payer.ledger, remaining_epsilon)}")
    say("\nNothing was spent.")
