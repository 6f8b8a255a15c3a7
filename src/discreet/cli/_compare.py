"""`discreet compare`: trials of every mechanism on the data, for the curator alone."""

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
from ._groups import ClusterReading, Reporting, Writing, command, find_file_name
from ._output import write_report
from ._parsing import parse_numbers, read_frequencies
from ._progress import ProgressBar
from ._terminal import is_at_terminal, say, say_when_compiling

if TYPE_CHECKING:
    pass

app = typer.Typer()
CompareOptions = question_options(
    Question,
    "release",
    leave_out=("epsilon", "mechanism", "settings", "counts", "hierarchy", "level", "really"),
)

_CROWD = "Without FILE: a made-up crowd"


@dataclass(frozen=True)
class TrialReading(ClusterReading):
    """The options for reading the data of trials; the trials use the seed too."""

    seed: int | None = options.number(
        "The same seed gives the same trials.  \\[default: drawn, and shown]", options.HOW
    )


class TrialBar:
    """A progress bar that estimates the remaining time after the first round of trials, at a terminal."""

    def __init__(self, runs: int) -> None:
        self._runs, self._has_estimate = runs, False
        self._start = time.monotonic()
        self._bar = ProgressBar("comparing").__enter__()

    def __enter__(self) -> TrialBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__()

    def __call__(self, name: str, share: float) -> None:
        """Show the name of the next trial, and the finished share of all trials."""
        # The first round is a fair sample of the time: each round runs every mechanism once.
        if not self._has_estimate and self._runs > 1 and share >= 1 / self._runs:
            self._has_estimate = True
            seconds = time.monotonic() - self._start
            if is_at_terminal():
                # Two writers on one line would mix, so the bar ends before the sentence and starts anew after it.
                self._bar.__exit__()
                remaining = seconds * (1 / share - 1)
                say(f"The first of {self._runs:,} rounds took {seconds:.1f} s: about {remaining:.0f} s more.", err=True)
                self._bar = ProgressBar("comparing").__enter__()
        self._bar.stage(name)
        self._bar(share)


@command(app)
def compare(
    *,
    question_form: Annotated[QuestionOptions, CompareOptions],
    epsilon: str = options.option(
        "What to try, with commas between them.", options.HOW, default="0.5,1", metavar="NUMBER,…"
    ),
    mechanism: list[str] | None = options.option(
        "Only these, and auto.  \\[default: all of `discreet mechanisms` that answer]", options.HOW, metavar="NAME,…"
    ),
    runs: int = options.number("How often each is run.", options.HOW, default=10),
    crowd: int | None = options.number(
        "Try on N people drawn from the data with replacement: another size, or less to do.", options.HOW
    ),
    one_row_a_person: bool = options.ONE_ROW,
    sizes: str | None = options.option(
        "With --people and --items, two numbers: how many items a basket has.  \\[default: 5]",
        _CROWD,
        metavar="NUMBER|N,N,…",
    ),
    exponent: str | None = options.option(
        "The supports of items fall with this power of their rank.  \\[default: 1]", _CROWD, metavar="NUMBER"
    ),
    frequencies: Path | None = options.option(
        "The supports of the items instead: fractions of the people, one per line.", _CROWD, metavar="FILE"
    ),
    source_options: TrialReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Try every mechanism on your data, and say which to take. The result is [bold]not private[/bold].

    The table has for each mechanism: the patterns it finds, the errors of counts, the coverage of intervals, and the
    time. It is for the holder of the data alone. A choice by it is a use of the data that no ledger records. Without
    FILE no data are read, and a crowd is made up from public numbers.

    Examples
    --------
    discreet compare sales.csv --person customer --item product --top 20 --epsilon 0.5,1

    discreet compare retail.dat --min-support 0.01 --epsilon 1 --delta 1e-6 --report compared.html

    discreet compare retail.dat --top 50 --crowd 5000 --mechanism bases,clipped --runs 20 -o compared.json

    discreet compare --people 20000 --items 188 --sizes 6.5 --exponent 0.7 --top 20    (reads no data)
    """
    from ..planning import compare as compare_mechanisms

    say_when_compiling()
    if path := source_options.result_path():
        raise MisuseError(f"{path} holds results already: give the data they came from.")
    reporting.check(source_options, writing)
    is_made_up = source_options.source is None and source_options.query is None
    # A seed is for the trials too, so it alone does not ask for data.
    if is_made_up and source_options != TrialReading(seed=source_options.seed):
        raise MisuseError("There is no FILE, but options that say how to read one: give it, or leave them out.")
    baskets = None
    if not is_made_up:
        from ..publish import PERSON_COLUMN_HINT

        # `read` refuses a seed that draws nothing, but the trials use it.
        reader = source_options if source_options.max_items is not None else replace(source_options, seed=None)
        baskets = reader.read_baskets(None if one_row_a_person else PERSON_COLUMN_HINT)
    question: dict[str, Any] = {
        **question_form.values(),
        "epsilon": [part.strip() for part in epsilon.split(",") if part.strip()],
        "mechanisms": [name.strip() for names in mechanism for name in names.split(",")] if mechanism else None,
        "crowd": crowd,
        "sizes": parse_numbers(sizes, "sizes"),
        "exponent": exponent,
        "frequencies": read_frequencies(frequencies),
        "runs": runs,
        "seed": source_options.seed,
    }
    with TrialBar(runs) as bar:
        comparison = compare_mechanisms(baskets, **question, progress=bar)
    # The reasons of mechanisms that refuse the question name options of the command line instead of keywords.
    refused = {name: Message(reason.typed, reason.typed) for name, reason in comparison.refused.items()}
    comparison = replace(comparison, refused=refused)
    writing.write(comparison)
    name = find_file_name(source_options.source)
    write_report(comparison, reporting.report, reporting.title or (name and f"Which mechanism for {name}"))
