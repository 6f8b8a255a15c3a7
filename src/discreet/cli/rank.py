"""`discreet rank`: the best of anything that has a score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ..errors import InputError, MisuseError, word
from . import options as given
from .ledger import AnchorOption, tell_head
from .numbers import whole
from .parsing import public_list
from .release import paying_ledger, user
from .run import Interrupted
from .signals import lift_limit
from .terminal import console, say

if TYPE_CHECKING:
    from ..privacy.ledger.ledger import Ledger
    from ..publish.ranking import Contest


RankWay: TypeAlias = Literal["exponential", "laplace"]
app = typer.Typer()


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet rank pages.csv --label page --score visitors --top 10 --epsilon 1 --sensitivity 1 --monotone "
    "--labels pages.txt\n\n"
    "discreet rank teams.csv --label team --score points --top 3 --epsilon 1 --sensitivity 5 --no-scores "
    "--labels public --dry-run"
)
def rank(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A table with a label and a score in each row.")],
    label: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the label.")],
    score: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the score.")],
    top: Annotated[int, typer.Option(parser=whole, metavar="N", help="How many labels.")],
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="The privacy budget: how much may be lost.")],
    sensitivity: Annotated[
        str, typer.Option(metavar="NUMBER", help="By how much one person can change any one score, at most.")
    ],
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|public",
            help="The public list of labels: a file with one per line, or 'public' for those of the table.",
            show_default=False,
        ),
    ] = None,
    delta: Annotated[
        str, typer.Option(metavar="NUMBER", help="The delta of (epsilon, delta), such as 1e-6: losses add up by zCDP.")
    ] = "0",
    monotone: Annotated[
        bool, typer.Option("--monotone", help="One person more never lowers a score, as with counts: half the noise.")
    ] = False,
    mechanism: Annotated[RankWay, typer.Option(help="How labels are chosen.")] = "exponential",
    scores: Annotated[bool, typer.Option(help="Publish noisy scores too, or spend all on choosing.")] = True,
    neighbours: given.RelationOption = "add-remove",
    really: given.Really = False,
    ledger: Annotated[
        Path | None, typer.Option(metavar="LEDGER", help="The account that pays.", show_default=False)
    ] = None,
    anchor: AnchorOption = None,
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who asks, for the ledger.", show_default=False)
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be spent, and spend nothing. No score is looked at.")
    ] = False,
    form: given.ViewOption = "table",
) -> None:
    """Choose the labels with the largest scores, under differential privacy."""
    from ..publish.ranking import met, prepare
    from ..publish.ranking import rank as choose

    question: dict[str, Any] = {
        "top": top,
        "epsilon": epsilon,
        "delta": delta,
        "sensitivity": sensitivity,
        "labels": _label_list(labels),
        "really": really,
        "monotone": monotone,
        "mechanism": mechanism,
        "counts": scores,
        "neighbours": neighbours,
    }
    account = paying_ledger(ledger, anchor)
    if dry_run:
        # The labels are public; that each has a score of 0 is as good as any other score here.
        _forecast(prepare(dict.fromkeys(_column(file, label, score), 0), **question), account, form)
        return
    table = _column(file, label, score)
    if not really and isinstance(question["labels"], list) and not met(question["labels"], table):
        raise MisuseError(
            "No label on the list has a score: the ranking would spend the budget on noise. Nothing was spent. If it "
            "is really meant, say so with --really."
        )
    lift_limit()
    try:
        made = choose(
            table,
            **question,
            ledger=account,
            who=(who or user()) if account is not None else "",
        )
        if form == "json":
            typer.echo(json.dumps(made.to_dict(), indent=2))
        else:
            console().print(made)
        tell_head(account)
    except KeyboardInterrupt:
        if account is None:
            raise
        # Whether it was paid by then, and whether the labels were shown, the ledger and the terminal say.
        raise Interrupted(f"interrupted. `discreet ledger show {word(ledger)}` says what was paid.") from None


def _label_list(source: str | None) -> list[str] | str | None:
    """Return the public list of labels, as the table has them: as text."""
    listed = None if source is None else public_list(source, "labels")
    return list(map(str, listed)) if isinstance(listed, list) else listed


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


def _forecast(contest: Contest, ledger: Ledger | None, form: given.PageFormat) -> None:
    """Say what a ranking would spend."""
    from ..privacy.budget import shown
    from ..publish.payment import allowed

    budget = contest.budget
    left = None if ledger is None else contest.left(ledger)
    if form == "json":
        told = {
            "epsilon": shown(budget.epsilon),
            "delta": shown(budget.delta),
            "shares": {what: str(share) for what, share in contest.plan()},
            "left": None if left is None else shown(left),
        }
        typer.echo(json.dumps(told, indent=2))
        return
    say(f"rank would spend {budget}:\n")
    for what, share in contest.plan():
        say(f"{what}  {float(share):.0%}")
    if left is not None:
        say(f"\n{allowed(ledger, left)}")
    say("\nNothing was spent.")
