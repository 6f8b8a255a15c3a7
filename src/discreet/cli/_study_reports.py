"""`discreet study reports` and `add-up`: the reports of a round as files, and what they add up to."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import MisuseError
from ..wording import number_of
from . import options
from ._adding import AddingUp
from ._groups import grouped
from ._output import write_text
from ._progress import ProgressBar
from ._replacing import check_replaceable
from ._serve import Place, StoreOption, StudyName
from ._terminal import say

app = typer.Typer()


@app.command(epilog="[bold]Examples[/bold]\n\ndiscreet study reports breakfast --round 1 --at studies -o reports")
def reports(
    name: StudyName,
    output: Annotated[
        Path,
        options.option("Write the files into this folder.", None, "--output", "-o", metavar="FOLDER"),
    ],
    number: Annotated[
        int, options.number("Which round, counted from 1 as in `status`.", None, "--round", show_default=True)
    ] = 1,
    place: Place = "studies",
    store: StoreOption = None,
) -> None:
    """Write the reports of a round that is closed as Parquet files, with the round beside them.

    They are read by `discreet study add-up`, here or in a cluster. The files are for their owner alone.
    """
    from ..collector import open_operator

    if number < 1:
        raise MisuseError(f"--round counts from 1, as `discreet study status` shows rounds; {number} was given.")
    with open_operator(place, store=store) as operator, ProgressBar("writing"):
        many = operator.save_reports(name, number - 1, output)
    say(f"Wrote {number_of(many, 'report')} of round {number} of {name} into {output}.")


@app.command(
    "add-up",
    epilog="[bold]Examples[/bold]\n\n"
    "discreet study add-up reports\n\n"
    "discreet study add-up reports --device gpu\n\n"
    "discreet study add-up 's3a://studies/reports/*.parquet' --question round.json --engine spark --remote sc://host",
)
@grouped
def add_up(
    source: Annotated[
        str,
        options.argument("REPORTS", "A folder of `discreet study reports`, a Parquet file, or a pattern."),
    ],
    question: Annotated[
        Path | None,
        options.option(
            "The round that they answer, as JSON.  \\[default: round.json in the folder]",
            None,
            "--question",
            metavar="FILE",
        ),
    ] = None,
    screen: Annotated[
        bool, options.option("Leave out reports that no honest device is likely to have sent.", show_default=True)
    ] = True,
    output: Annotated[
        Path | None,
        options.option("Write to this file instead.", None, "--output", "-o", metavar="FILE"),
    ] = None,
    *,
    adding: AddingUp,
) -> None:
    """Say what the reports of a round add up to, as JSON: how many there are, and how many support each value."""
    from ..collector import add_up_files, read_round

    if output is not None:
        check_replaceable(output)
    ask = read_round(source, question)
    added: Any
    if adding.engine is None:
        with ProgressBar("adding up"), adding.used():
            added = add_up_files(source, ask, screen=screen)
    else:
        with ProgressBar("starting Spark"):
            session = import_module("discreet.spark._session").session_for(adding.master, adding.remote, quiet=True)
        with ProgressBar("adding up") as bar:
            added = import_module("discreet.spark._reports").add_up_reports(
                source, ask, screen=screen, session=session, progress=bar
            )
    told = {"round": ask.name, **json.loads(added.text()), "refused": added.refused}
    text = json.dumps({**told, "values": added.estimate.values.tolist()}, ensure_ascii=False)
    write_text(text, output)
