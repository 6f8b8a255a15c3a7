"""The command for exact relations: what comes after what, or with what."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from . import options as given
from .groups import OrderedReading, Writing, grouped
from .numbers import whole
from .progress import ProgressBar

app = typer.Typer()


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet relations sales.csv --person customer --item product --time time --top 20\n\n"
    "discreet relations rules.csv --person user --pair trigger action -o relations.json\n\n"
    "discreet relations retail.dat --items 200 --sort lift"
)
@grouped
def relations(
    how: Annotated[
        Literal["given", "after", "together"] | None,
        typer.Option(
            help="What makes a pair.  \\[default: given with --pair, after with --time or --ordered, else together]",
            rich_help_panel=given.WHAT,
            show_default=False,
        ),
    ] = None,
    items: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="Among the N items most people hold.  \\[default: all]",
            rich_help_panel=given.WHAT,
            show_default=False,
        ),
    ] = None,
    support: Annotated[
        int,
        typer.Option(
            parser=whole, metavar="N", help="Of the N relations most people hold.", rich_help_panel=given.WHAT
        ),
    ] = 1600,
    top: Annotated[
        int,
        typer.Option(parser=whole, metavar="N", help="The N with the largest confidence.", rich_help_panel=given.WHAT),
    ] = 32,
    longest: Annotated[
        int,
        typer.Option(parser=whole, metavar="2|3", help="3 for relations ((a, b), c) too.", rich_help_panel=given.WHAT),
    ] = 2,
    antecedent: given.Antecedent = None,
    consequent: given.Consequent = None,
    sort: given.SortBy = "confidence",
    *,
    reading: OrderedReading,
    writing: Writing,
) -> None:
    """Find relations a → b: who holds a mostly has b after it, or with it. The result is [bold]not private[/bold]."""
    from ..errors import MisuseError
    from ..exact.relations import relations as find
    from .parsing import labels

    if file := reading.result():
        raise MisuseError(f"{file} holds patterns or rules that were found already: give the data they came from.")
    baskets = reading.baskets()
    with ProgressBar("counting pairs"):
        found = find(baskets, how=how, items=items, support=support, top=top, longest=longest)
    found = found.where(antecedent=labels(antecedent, baskets), consequent=labels(consequent, baskets))
    writing.write(found.sort(by=sort))
