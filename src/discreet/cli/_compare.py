"""`discreet compare`: trials of every mechanism on the data, for the curator's eyes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Message, MisuseError
from ..publish import Question
from . import options
from ._asking import QuestionOptions, question_options
from ._groups import ClusterReading, Reporting, Writing, grouped, name_of
from ._output import write_report
from ._plan import frequencies_in, several_of
from ._progress import ProgressBar
from ._terminal import at_terminal, say, say_when_compiling

if TYPE_CHECKING:
    from ..baskets import AnyBaskets

app = typer.Typer()
AskedOptions = question_options(
    Question,
    "release",
    leave_out=("epsilon", "mechanism", "settings", "counts", "hierarchy", "level", "really"),
)

_CROWD = "Without FILE: a made-up crowd"


@dataclass(frozen=True)
class TriedReading(ClusterReading):
    """Which data to try on, and how to read them; one seed is for that and for the trials."""

    seed: Annotated[
        int | None,
        options.number("The same seed gives the same trials.  \\[default: drawn, and shown]", options.HOW),
    ] = None


class Rounds:
    """Shows a bar, and after the first round what all of them will take: on a terminal alone."""

    def __init__(self, runs: int) -> None:
        self._runs, self._told = runs, False
        self._began = time.monotonic()
        self._bar = ProgressBar("comparing").__enter__()

    def __enter__(self) -> Rounds:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__(None, None, None)

    def __call__(self, name: str, share: float) -> None:
        """Note which trial is next, and how far it all is."""
        if not self._told and self._runs > 1 and share >= 1 / self._runs:
            self._told = True
            took = time.monotonic() - self._began
            if at_terminal():
                self._bar.__exit__(None, None, None)
                rest = took * (1 / share - 1)
                say(f"The first of {self._runs:,} rounds took {took:.1f} s: about {rest:.0f} s more.", err=True)
                self._bar = ProgressBar("comparing").__enter__()
        self._bar.stage(name)
        self._bar(share)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet compare sales.csv --person customer --item product --top 20 --epsilon 0.5,1\n\n"
    "discreet compare retail.dat --min-support 0.01 --epsilon 1 --delta 1e-6 --report compared.html\n\n"
    "discreet compare retail.dat --top 50 --crowd 5000 --mechanism bases,clipped --runs 20 -o compared.json\n\n"
    "discreet compare --people 20000 --items 188 --sizes 6.5 --exponent 0.7 --top 20    (reads no data)"
)
@grouped
def compare(
    *,
    asking: Annotated[QuestionOptions, AskedOptions],
    epsilon: Annotated[
        str,
        options.option("What to try, with commas between them.", options.HOW, metavar="NUMBER,…", show_default=True),
    ] = "0.5,1",
    mechanism: Annotated[
        list[str] | None,
        options.option(
            "Only these, and auto.  \\[default: all of `discreet mechanisms` that answer]",
            options.HOW,
            metavar="NAME,…",
        ),
    ] = None,
    runs: Annotated[int, options.number("How often each is run.", options.HOW, show_default=True)] = 10,
    crowd: Annotated[
        int | None,
        options.number(
            "Try on N people drawn from the data with replacement: another size, or less to do.", options.HOW
        ),
    ] = None,
    one_row_a_person: options.OneRow = False,
    sizes: Annotated[
        str | None,
        options.option(
            "With --people and --items, two numbers: how many items a basket has.  \\[default: 5]",
            _CROWD,
            metavar="NUMBER|N,N,…",
        ),
    ] = None,
    exponent: Annotated[
        str | None,
        options.option(
            "The supports of items fall with this power of their rank.  \\[default: 1]", _CROWD, metavar="NUMBER"
        ),
    ] = None,
    frequencies: Annotated[
        Path | None,
        options.option(
            "The supports of the items instead: fractions of the people, one per line.", _CROWD, metavar="FILE"
        ),
    ] = None,
    reading: TriedReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Try every mechanism on your data, and say which to take. The result is [bold]not private[/bold].

    For each: what it finds, how far counts are off, whether intervals hold, and the time. It is for the eyes of whoever
    holds the data. To choose by it is a use of the data that no ledger knows of. Without FILE no data are read, and a
    crowd is made up from public numbers.
    """
    from ..planning import compare as tried

    say_when_compiling()
    if file := reading.result():
        raise MisuseError(f"{file} holds results already: give the data they came from.")
    reporting.check(reading, writing)
    made_up = reading.source is None and reading.query is None
    if made_up and reading != TriedReading(seed=reading.seed):
        raise MisuseError("There is no FILE, but options that say how to read one: give it, or leave them out.")
    baskets = None if made_up else _baskets(reading, one_row_a_person)
    asked: dict[str, Any] = {
        **asking.values(),
        "epsilon": [part.strip() for part in epsilon.split(",") if part.strip()],
        "mechanisms": [name.strip() for one in mechanism for name in one.split(",")] if mechanism else None,
        "crowd": crowd,
        "sizes": several_of(sizes, "sizes"),
        "exponent": exponent,
        "frequencies": None if frequencies is None else frequencies_in(frequencies),
        "runs": runs,
        "seed": reading.seed,
    }
    with Rounds(runs) as rounds:
        found = tried(baskets, **asked, progress=rounds)
    # What those who do not answer say names what to type here, and not what to write in Python.
    found = replace(found, refused={name: Message(why.typed, why.typed) for name, why in found.refused.items()})
    writing.write(found)
    name = name_of(reading.source)
    write_report(found, reporting.report, reporting.title or (name and f"Which mechanism for {name}"))


def _baskets(reading: TriedReading, one_row_a_person: bool) -> AnyBaskets:
    from ..publish import PERSON_COLUMN_HINT

    reader = reading if reading.max_items is not None else replace(reading, seed=None)
    return reader.baskets(None if one_row_a_person else PERSON_COLUMN_HINT)
