"""`discreet rank`: the best of anything that has a score."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError, MisuseError
from . import options as given
from .release import user

if TYPE_CHECKING:
    from ..curator.rank import Ranking

app = typer.Typer()


class Way(StrEnum):
    """How labels are chosen."""

    exponential = "exponential"
    laplace = "laplace"


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet rank pages.csv --label page --score visitors --top 10 --epsilon 1 --monotone\n\n"
    "discreet rank teams.csv --label team --score points --top 3 --epsilon 1 --sensitivity 5 --no-scores"
)
def rank(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A table with a label and a score in each row.")],
    label: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the label. All labels are public.")],
    score: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the score.")],
    top: Annotated[int, typer.Option(metavar="N", help="How many labels.")],
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="How much may be lost.")],
    delta: Annotated[str, typer.Option(metavar="NUMBER", help="The chance with which more may be lost.")] = "0",
    sensitivity: Annotated[
        str, typer.Option(metavar="NUMBER", help="By how much one person can change any one score.")
    ] = "1",
    monotone: Annotated[
        bool, typer.Option("--monotone", help="One person more never lowers a score, as with counts: half the noise.")
    ] = False,
    mechanism: Annotated[Way, typer.Option(help="How labels are chosen.")] = Way.exponential,
    scores: Annotated[bool, typer.Option(help="Publish noisy scores too, or spend all on choosing.")] = True,
    neighbours: given.RelationOption = given.Relation.added,
    ledger: Annotated[
        Path | None, typer.Option(metavar="LEDGER", help="The account that pays.", show_default=False)
    ] = None,
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who asks, for the ledger.", show_default=False)
    ] = None,
    form: given.ViewOption = given.View.table,
) -> None:
    """Choose the labels with the largest scores, under differential privacy."""
    from ..curator.rank import rank as choose

    made = choose(
        _scores(file, label, score),
        top=top,
        epsilon=epsilon,
        delta=delta,
        sensitivity=sensitivity,
        monotone=monotone,
        mechanism=mechanism.value,
        counts=scores,
        neighbours=neighbours.value,
        ledger=ledger,
        who=(who or user()) if ledger is not None else "",
    )
    if form is given.View.json:
        typer.echo(json.dumps(made.to_dict(), indent=2))
    else:
        _show(made)


def _scores(file: Path, label: str, score: str) -> dict[str, str]:
    """Read labels and scores as they are written; a label has one score."""
    import csv

    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.DictReader(stream))
    except FileNotFoundError:
        raise InputError(f"There is no file {file}.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file} cannot be read as CSV: {error}.") from None
    found: dict[str, str] = {}
    for line, row in enumerate(rows, 2):
        for column in (label, score):
            if row.get(column) is None:
                has = ", ".join(name for name in row if name) or "none"
                raise InputError(f"{file}, line {line} has no column {column!r}; there are {has}.")
        if row[label] in found:
            raise MisuseError(f"{file}, line {line}: the label {row[label]!r} has a score already.")
        found[row[label]] = row[score].strip()
    return found


def _show(made: Ranking) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    columns = [made.scores, made.low, made.high] if made.scores is not None else []
    table.add_column("label", overflow="fold")
    for name in ("score", "low", "high")[: len(columns)]:
        table.add_column(name, justify="right")
    for place, label in enumerate(made.labels):
        table.add_row(Text(str(label)), *(f"{column[place]:,.6g}" for column in columns if column is not None))
    console = Console(highlight=False)
    console.print(str(made.guarantee))
    console.print(table)
