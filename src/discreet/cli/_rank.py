"""`discreet rank`: the labels with the largest scores, under differential privacy."""

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
from ._groups import Writing, command
from ._ledger import ANCHOR_OPTION, print_head
from ._release import find_user, open_ledger
from ._run import Interrupted
from ._signals import lift_limit
from ._terminal import say

if TYPE_CHECKING:
    from ..privacy.ledger import Ledger
    from ..publish import Contest


app = typer.Typer()
RankOptions = question_options(RankQuestion)


@command(app)
def rank(
    *,
    file: Path = options.argument("FILE.csv", "A table with a label and a score in each row."),
    label: str = options.option("The column with the label.", default=options.REQUIRED, metavar="COLUMN"),
    score: str = options.option("The column with the score.", default=options.REQUIRED, metavar="COLUMN"),
    question_form: Annotated[QuestionOptions, RankOptions],
    ledger: Path | None = options.option("The account that pays.", metavar="LEDGER"),
    anchor: str | None = ANCHOR_OPTION,
    who: str | None = options.option("Who asks, for the ledger.", metavar="NAME"),
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
    account = open_ledger(ledger, anchor)
    paths = tuple(path for path in (file, ledger) if path is not None)
    delivery = Delivery(writing=writing, report=None, title="", input_paths=paths, ledger=ledger)
    delivery.check([""])
    if dry_run:
        # The cost depends on the public labels alone, so a score of 0 for each keeps the private scores out.
        _forecast(build_contest(question, dict.fromkeys(_read_scores(file, label, score), 0)), account, writing)
        return
    scores = _read_scores(file, label, score)
    if not question.really and not isinstance(question.labels, str) and not has_scored_label(question.labels, scores):
        raise MisuseError(
            "No label on the list has a score: the ranking would spend the budget on noise. Nothing was spent. If it "
            "is really meant, say so with --really."
        )
    # An end by the time limit after the payment would lose the ranking.
    lift_limit()
    try:
        ranking = rank_labels(scores, question, ledger=account, who=(who or find_user()) if account is not None else "")
        delivery.write({"": ranking})
        print_head(account)
    except KeyboardInterrupt:
        if account is None:
            raise
        # The interrupt may come before the payment or after it: the ledger knows.
        raise Interrupted(f"interrupted. `discreet ledger show {quote_word(ledger)}` says what was paid.") from None


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
                scores[row[label]] = row[score].strip()
    except FileNotFoundError:
        raise InputError(f"There is no file {file}.") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{file} cannot be read as CSV in UTF-8: it holds something else.") from None
    return scores


def _forecast(contest: Contest, ledger: Ledger | None, writing: Writing) -> None:
    """Print the budget that a ranking would spend, and its shares by step."""
    from ..privacy import shown
    from ..publish import Payer, compute_remaining_epsilon, render_affordability

    budget = contest.budget
    remaining_epsilon = None if ledger is None else compute_remaining_epsilon(contest, None, Payer(ledger))
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
        say(f"\n{render_affordability(ledger, remaining_epsilon)}")
    say("\nNothing was spent.")
