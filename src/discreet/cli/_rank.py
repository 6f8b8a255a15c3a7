"""`discreet rank`: the best of anything that has a score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError, MisuseError, quote_word
from ..publish import RankQuestion
from . import options
from ._asking import QuestionOptions, question_options
from ._delivery import Delivery
from ._groups import Writing, grouped
from ._ledger import AnchorOption, tell_head
from ._release import paying_ledger, user
from ._run import Interrupted
from ._signals import lift_limit
from ._terminal import say

if TYPE_CHECKING:
    from ..privacy.ledger import Ledger
    from ..publish import Contest


app = typer.Typer()
RankOptions = question_options(RankQuestion)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet rank pages.csv --label page --score visitors --top 10 --epsilon 1 --sensitivity 1 --monotone "
    "--labels pages.txt\n\n"
    "discreet rank teams.csv --label team --score points --top 3 --epsilon 1 --sensitivity 5 --no-scores "
    "--labels public --dry-run"
)
@grouped
def rank(
    *,
    file: Annotated[Path, options.argument("FILE.csv", "A table with a label and a score in each row.")],
    label: Annotated[str, options.option("The column with the label.", metavar="COLUMN")],
    score: Annotated[str, options.option("The column with the score.", metavar="COLUMN")],
    asking: Annotated[QuestionOptions, RankOptions],
    ledger: Annotated[Path | None, options.option("The account that pays.", metavar="LEDGER")] = None,
    anchor: AnchorOption = None,
    who: Annotated[str | None, options.option("Who asks, for the ledger.", metavar="NAME")] = None,
    dry_run: Annotated[
        bool, options.option("Say what would be spent, and spend nothing. No score is looked at.", None, "--dry-run")
    ] = False,
    writing: Writing,
) -> None:
    """Choose the labels with the largest scores, under differential privacy."""
    from ..publish import build_contest, has_scored_label, rank as choose

    question = asking.question()
    account = paying_ledger(ledger, anchor)
    read = tuple(place for place in (file, ledger) if place is not None)
    delivery = Delivery(writing=writing, report=None, title="", read=read, ledger=ledger)
    delivery.check([""])
    if dry_run:
        # The labels are public; that each has a score of 0 is as good as any other score here.
        _forecast(build_contest(question, dict.fromkeys(_column(file, label, score), 0)), account, writing)
        return
    table = _column(file, label, score)
    if not question.really and not isinstance(question.labels, str) and not has_scored_label(question.labels, table):
        raise MisuseError(
            "No label on the list has a score: the ranking would spend the budget on noise. Nothing was spent. If it "
            "is really meant, say so with --really."
        )
    lift_limit()
    try:
        made = choose(table, question, ledger=account, who=(who or user()) if account is not None else "")
        delivery.hand_over({"": made})
        tell_head(account)
    except KeyboardInterrupt:
        if account is None:
            raise
        # Whether it was paid by then, and whether the labels were shown, the ledger and the terminal say.
        raise Interrupted(f"interrupted. `discreet ledger show {quote_word(ledger)}` says what was paid.") from None


def _column(file: Path, label: str, score: str) -> dict[str, str]:
    """Read labels and scores as they are written; a label has one score."""
    import csv

    found: dict[str, str] = {}
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.DictReader(stream, strict=True)
            columns = list(rows.fieldnames or ())
            for column in (label, score):
                if column not in columns:
                    has = ", ".join(columns) or "none"
                    raise InputError(f"{file} has no column {column!r}; there are {has}.")
            for row in rows:
                where = f"{file}, line {rows.line_num}"
                if None in row:
                    raise InputError(f"{where} has more values than columns: put a value with a comma into quotes.")
                for column in (label, score):
                    if row[column] is None:
                        raise InputError(f"{where} has no value in column {column!r}.")
                if row[label] in found:
                    raise InputError(f"{where}: the label {row[label]!r} has a score already.")
                found[row[label]] = row[score].strip()
    except FileNotFoundError:
        raise InputError(f"There is no file {file}.") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{file} cannot be read as CSV in UTF-8: it holds something else.") from None
    return found


def _forecast(contest: Contest, ledger: Ledger | None, writing: Writing) -> None:
    """Say what a ranking would spend."""
    from ..privacy import shown
    from ..publish import Payer, compute_remaining_epsilon, render_affordability

    budget = contest.budget
    left = None if ledger is None else compute_remaining_epsilon(contest, None, Payer(ledger))
    if writing.format == "json":
        told = {
            "epsilon": shown(budget.epsilon),
            "delta": shown(budget.delta),
            "shares": {what: str(share) for what, share in contest.steps()},
            "left": None if left is None else shown(left),
        }
        typer.echo(json.dumps(told, indent=2))
        return
    say(f"rank would spend {budget}:\n")
    for what, share in contest.steps():
        say(f"{what}  {float(share):.0%}")
    if left is not None:
        say(f"\n{render_affordability(ledger, left)}")
    say("\nNothing was spent.")
