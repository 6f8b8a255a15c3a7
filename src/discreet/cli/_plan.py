"""`discreet plan`: forecasts of mechanisms and protocols, before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import typer

from ..errors import MisuseError
from ..results import Relation
from . import options
from ._asking import pattern_option
from ._groups import ForecastWriting, PlainReporting, command
from ._output import write_report
from ._parsing import parse_length_range, parse_numbers, read_frequencies
from ._progress import ProgressBar

Side: TypeAlias = Literal["curator", "local", "both"]

app = typer.Typer()

_DATA_PANEL = "What is known about the data"


@command(app)
def plan(
    people: int | None = options.number("About how many people there are. Left out: how many are needed.", _DATA_PANEL),
    items: int | None = options.number("How many items the public list has.", _DATA_PANEL),
    sizes: str | None = options.option(
        "How many items a basket has: the mean, or typical sizes with commas between them.  \\[default: 5]",
        _DATA_PANEL,
        metavar="NUMBER|N,N,…",
    ),
    exponent: str = options.option(
        "The supports of items fall with this power of their rank (Zipf's law).",
        _DATA_PANEL,
        default="1",
        metavar="NUMBER",
    ),
    frequencies: Path | None = options.option(
        "The supports of the items instead: fractions of the people, or of the baskets where people have "
        "several, one per line.",
        _DATA_PANEL,
        metavar="FILE",
    ),
    baskets_each: str | None = options.option(
        "How many baskets a person has, where people have several: the mean, or typical numbers with commas "
        "between them. The person is protected.",
        _DATA_PANEL,
        metavar="NUMBER|N,N,…",
    ),
    top: int | None = options.TOP,
    min_support: str | None = pattern_option("min_support"),
    lengths: str | None = pattern_option("lengths"),
    epsilon: str | None = options.option(
        "What may be spent: 1, 0.5, 1/3. Several with commas between them: what each buys. Left out: what is needed.",
        options.HOW,
        metavar="NUMBER|N,N,…",
    ),
    delta: str = options.option("The delta of a curator's release.", options.HOW, default="0", metavar="NUMBER"),
    max_baskets: int | None = options.number(
        "How many baskets of each person take part.  \\[default: chosen with noise; 1 on devices]", options.HOW
    ),
    neighbours: Relation = options.NEIGHBOURS,
    side: Side = options.option("A curator holds the baskets, or devices keep them.", options.HOW, default="both"),
    names: list[str] | None = options.option(
        "Only this mechanism or protocol. Can be given again.", options.HOW, "--name", metavar="NAME"
    ),
    *,
    writing: ForecastWriting,
    reporting: PlainReporting,
) -> None:
    """Forecast the results of every mechanism and protocol, before anything is spent. No data are read.

    The table has precision and recall, the error of counts, the smallest support above the noise, and the cost. Leave
    out --epsilon or --people to learn the needed epsilon or number of people.

    Examples
    --------
    discreet plan --people 500000 --items 2603 --sizes 8 --top 64 --epsilon 1

    discreet plan --people 500000 --items 2603 --min-support 0.01 --side curator    (what epsilon do I need?)

    discreet plan --items 2603 --min-support 0.01 --epsilon 1 --side local    (how many people do I need?)

    discreet plan --people 90000 --items 16000 --frequencies supports.txt --top 32 --epsilon 1 --delta 1e-6

    discreet plan --people 5000 --items 3000 --baskets-each 4 --top 50 --epsilon 0.5,1,2    (receipts; what does a
    budget buy?)

    discreet plan --people 90000 --items 500 --top 32 --epsilon 2 --name svsm --name adept --format svg -o
    plan.svg

    discreet plan --people 90000 --items 500 --top 32 --epsilon 0.5,1,2 --report plan.html
    """
    from ..planning import plan as forecast_results

    if items is None:
        raise MisuseError("Say how many items there are: --items 1000.")
    reporting.check(None, writing)
    with ProgressBar("planning") as bar:
        forecast = forecast_results(
            items=items,
            people=people,
            epsilon=None if epsilon is None else [part.strip() for part in epsilon.split(",")],
            delta=delta,
            top=top,
            min_support=min_support,
            lengths=parse_length_range(lengths),
            sizes=parse_numbers(sizes, "sizes"),
            exponent=exponent,
            frequencies=read_frequencies(frequencies),
            baskets_each=parse_numbers(baskets_each, "baskets each"),
            max_baskets=max_baskets,
            side=side,
            names=names or None,
            neighbours=neighbours,
            progress=bar.stage,
        )
    writing.write(forecast)
    write_report(forecast, reporting.report, reporting.title)
