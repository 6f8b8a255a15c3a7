"""`discreet study simulate`: a whole study on this machine, over baskets that are known."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from . import options
from ._groups import Writing, grouped
from ._serve import StoreOption
from ._simulate import SimulatedReading
from ._terminal import say

app = typer.Typer()


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet study simulate study.toml sales.csv --person customer --item product --people 20000\n\n"
    "discreet study simulate study.toml retail.dat --people 100000 --directory studies --stay"
)
@grouped
def simulate(
    study: Annotated[
        Path,
        options.argument("STUDY.toml", "The study, as `discreet study new` writes one."),
    ],
    people: Annotated[
        int | None,
        options.number("How many people, drawn from those in the data.  \\[default: those in the data]", options.HOW),
    ] = None,
    directory: Annotated[
        Path | None,
        options.option("Keep the service's studies here.  \\[default: nowhere]", options.HOW, metavar="DIRECTORY"),
    ] = None,
    stay: Annotated[
        bool,
        options.option("Leave the service up with the result, until Ctrl-C.", options.HOW, "--stay"),
    ] = False,
    port: Annotated[
        int,
        options.number("The service's port; 0 for any that is free.", options.HOW, show_default=True),
    ] = 0,
    store: StoreOption = None,
    *,
    reading: SimulatedReading,
    writing: Writing,
) -> None:
    """Try a whole study out: the real service on this machine, and real client processes that answer with known data.

    Rounds close when everyone has answered whom they ask. Reports come from the secure source, so no two runs are the
    same; `discreet simulate` is quicker, and repeats itself.
    """
    from ..baskets import on_this_machine
    from ..collector import read_study, simulate_study
    from ..local.study import render_drawing_note
    from ..results import parse_rows

    plan = read_study(study)
    seeded = reading.seeded()
    baskets = (seeded if reading.max_items is not None else replace(seeded, seed=None)).baskets()
    beside = writing.output is not None or writing.format != "table"
    told: set[int] = set()

    def progress(status: dict[str, Any]) -> None:
        for one in status["rounds"]:
            if one["state"] in ("released", "scrubbed") and one["round"] not in told:
                told.add(one["round"])
                say(f"{one['name']:<28}  {one['people']:>9,} reports  {one['oracle']}", err=beside)

    options: dict[str, Any] = {"directory": directory, "store": store, "port": port, "progress": progress}
    answering = on_this_machine(baskets, "A simulated study")
    with simulate_study(plan, answering, people=people, seed=seeded.seed or 0, **options) as done:
        writing.write(parse_rows(done.result))
        if baskets.several:
            say(f"\n{render_drawing_note(1)}", err=beside)
        if stay:
            _stay(f"The study {plan.name} is at {done.address}. Stop it with Ctrl-C.")


def _stay(told: str) -> None:
    """Say where the service is, and wait to be told to stop, which is how this ends: the result is written."""
    from signal import pause

    with contextlib.suppress(KeyboardInterrupt):
        say(told, err=True)
        while True:
            pause()
