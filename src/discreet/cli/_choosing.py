"""`discreet plan`, `compare`, `mechanisms` and `audit`: forecasts, trials and attacks that help to choose."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from ..errors import Message, MisuseError
from ..publish import Question
from ..results import Relation
from . import options
from ._asking import QuestionOptions, pattern_option, question_options
from ._groups import ClusterReading, ForecastWriting, PlainReporting, Reporting, Writing, command, find_file_name
from ._output import write_report
from ._parsing import parse_length_range, parse_numbers, parse_settings, read_frequencies
from ._terminal import ProgressBar, console, is_at_terminal, say, say_when_compiling

app = typer.Typer()


Side: TypeAlias = Literal["curator", "local", "both"]


_DATA_PANEL = "What is known about the data"


@dataclass(frozen=True)
class PlanOptions:
    """The question of a forecast, by the keywords of `discreet.plan`."""

    people: int | None = options.number("About how many people there are. Left out: how many are needed.", _DATA_PANEL)
    items: int | None = options.number("How many items the public list has.", _DATA_PANEL)
    sizes: str | None = options.option(
        "How many items a basket has: the mean, or typical sizes with commas between them.  \\[default: 5]",
        _DATA_PANEL,
        metavar="NUMBER|N,N,…",
    )
    exponent: str = options.option(
        "The supports of items fall with this power of their rank (Zipf's law).",
        _DATA_PANEL,
        default="1",
        metavar="NUMBER",
    )
    frequencies: Path | None = options.option(
        "The supports of the items instead: fractions of the people, or of the baskets where people have "
        "several, one per line.",
        _DATA_PANEL,
        metavar="FILE",
    )
    baskets_each: str | None = options.option(
        "How many baskets a person has, where people have several: the mean, or typical numbers with commas "
        "between them. The person is protected.",
        _DATA_PANEL,
        metavar="NUMBER|N,N,…",
    )
    top: int | None = options.TOP
    min_support: str | None = pattern_option("min_support")
    lengths: str | None = pattern_option("lengths")
    epsilon: str | None = options.option(
        "What may be spent: 1, 0.5, 1/3. Several with commas between them: what each buys. Left out: what is needed.",
        options.HOW,
        metavar="NUMBER|N,N,…",
    )
    delta: str = options.option("The delta of a curator's release.", options.HOW, default="0", metavar="NUMBER")
    max_baskets: int | None = options.number(
        "How many baskets of each person take part.  \\[default: chosen with noise; 1 on devices]", options.HOW
    )
    neighbours: Relation = options.NEIGHBOURS
    side: Side = options.option("A curator holds the baskets, or devices keep them.", options.HOW, default="both")
    names: list[str] | None = options.option(
        "Only this mechanism or protocol. Can be given again.", options.HOW, "--name", metavar="NAME"
    )


@command(app)
def plan(*, question: PlanOptions, writing: ForecastWriting, reporting: PlainReporting) -> None:
    """Forecast the results of every mechanism and protocol, before anything is spent. No data are read.

    The table has precision and recall, the error of counts, the smallest support above the noise, and the cost. Leave
    out --epsilon or --people to learn the needed epsilon or number of people.

    Examples
    --------
    discreet plan --people 500000 --items 2603 --sizes 8 --top 64 --epsilon 1

    discreet plan --people 500000 --items 2603 --min-support 0.01 --side curator    (the needed epsilon)

    discreet plan --items 2603 --min-support 0.01 --epsilon 1 --side local    (the needed people)

    discreet plan --people 90000 --items 16000 --frequencies supports.txt --top 32 --epsilon 1 --delta 1e-6

    discreet plan --people 5000 --items 3000 --baskets-each 4 --top 50 --epsilon 0.5,1,2    (receipts; three budgets)

    discreet plan --people 90000 --items 500 --top 32 --epsilon 2 --name svsm --name adept --format svg -o
    plan.svg

    discreet plan --people 90000 --items 500 --top 32 --epsilon 0.5,1,2 --report plan.html
    """
    from ..planning import plan as forecast_results

    # Not required by typer: its message would not show an example.
    if question.items is None:
        raise MisuseError("Say how many items there are: --items 1000.")
    reporting.check(None, writing)
    values = vars(question) | {
        "epsilon": None if question.epsilon is None else [part.strip() for part in question.epsilon.split(",")],
        "lengths": parse_length_range(question.lengths),
        "sizes": parse_numbers(question.sizes, "sizes"),
        "frequencies": read_frequencies(question.frequencies),
        "baskets_each": parse_numbers(question.baskets_each, "baskets each"),
        "names": question.names or None,
    }
    with ProgressBar("planning") as bar:
        forecast = forecast_results(**values, progress=bar.stage)
    writing.write(forecast)
    write_report(forecast, reporting.report, reporting.title)


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
    # Without data a crowd is imagined, so a forgotten FILE must not pass in silence.
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
    # A comparison may take an hour: the first round tells how long.
    with TrialBar(runs) as bar:
        comparison = compare_mechanisms(baskets, **question, progress=bar)
    # The reasons of mechanisms that refuse the question name options of the command line instead of keywords.
    refused = {name: Message(reason.typed, reason.typed) for name, reason in comparison.refused.items()}
    comparison = replace(comparison, refused=refused)
    writing.write(comparison)
    name = find_file_name(source_options.source)
    write_report(comparison, reporting.report, reporting.title or (name and f"Which mechanism for {name}"))


EntryKind: TypeAlias = Literal["mechanism", "protocol", "oracle"]


@command(app)
def mechanisms(
    name: str | None = options.argument("NAME", "Tell everything about one.", default=None),
    kind: EntryKind | None = options.option("List only mechanisms, protocols or oracles."),
    form: options.PageFormat = options.VIEW,
) -> None:
    """List the mechanisms, protocols and oracles, with their questions, guarantees and sources."""
    from ..registry import Listing, entry as find_entry, everything

    entries = [find_entry(name)] if name is not None else list(everything().values())
    entries = [entry for entry in entries if kind is None or name is not None or entry.category == kind]
    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "kind": entry.category,
            "model": entry.model,
            "answers": list(entry.answers),
            "guarantee": entry.guarantee,
            "summary": entry.description,
            "settings": {setting: _encode_setting(value) for setting, value in entry.settings.items()},
            "citation": entry.citation,
            "proof": entry.proof.name if entry.proof is not None and not entry.unproven else None,
            "package": entry.package,
        }
        for entry in entries
    ]
    if form == "json":
        typer.echo(json.dumps(rows, indent=2))
        return
    rich_console = console()
    if name is not None:
        for key, value in rows[0].items():
            rich_console.print(f"[bold]{key}[/bold]  ", end="")
            # Values of plugins may have brackets, which are no markup here.
            rich_console.print(_render_value(value), markup=False)
        return
    rich_console.print(Listing((entry.name, entry) for entry in entries))
    rich_console.print("`discreet mechanisms NAME` shows the settings.")


def _render_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_render_setting(setting)}" for name, setting in value.items()) or "none"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _render_setting(setting: Any) -> str:
    """Return a setting as the command line takes it: several numbers with spaces between them."""
    return " ".join(map(str, setting)) if isinstance(setting, list | tuple) else str(setting)


def _encode_setting(value: Any) -> Any:
    from fractions import Fraction

    return str(value) if isinstance(value, Fraction) else value


@command(app)
def audit(
    name: str | None = options.argument("NAME", "One of `discreet mechanisms`.", default=None),
    study: Path | None = options.option(
        "A live study instead: its protocol, and all that it would serve. It says its own epsilon.",
        metavar="STUDY.toml",
    ),
    epsilon: str = options.option("The claim to break.", default="1", metavar="NUMBER"),
    delta: str | None = options.option(
        "The delta of the claim.  \\[default: 0, or 0.001 where the mechanism needs one]", metavar="NUMBER"
    ),
    neighbours: Relation = options.NEIGHBOURS,
    settings: list[str] | None = options.SETTINGS,
    runs: int = options.number("Runs on each of two neighbours.", default=1000),
    seed: int = options.number("The same seed tries the same.", default=1),
    *,
    writing: Writing,
) -> None:
    """Try to break the claim of a mechanism, a protocol or an oracle, on made-up neighbours.

    Ends with status 0 if the claim stands, and with 1 if the claim was broken or no attempt was possible. No data are
    read, nothing is spent.

    Examples
    --------
    discreet audit exponential --epsilon 0.5

    discreet audit truncated --neighbours replace --set bound=binomial

    discreet audit count --delta 1e-6 --format json

    discreet audit svsm --epsilon 2

    discreet audit olh

    discreet audit --study study.toml
    """
    from ..auditing import audit as audit_claim

    # typer cannot state that exactly one of an argument and an option is required.
    if (name is None) == (study is None):
        raise typer.BadParameter("say what to audit: a NAME of `discreet mechanisms`, or --study with a file.")
    with ProgressBar("auditing"):
        if study is not None:
            from ..collector import audit_study, read_study

            verdict = audit_study(read_study(study), runs=runs, seed=seed)
        else:
            claim: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours}
            verdict = audit_claim(str(name), **claim, runs=runs, seed=seed, settings=parse_settings(settings))
    writing.write(verdict)
    if not verdict.stands:
        # A status for scripts; the table has said the reason.
        raise typer.Exit(1)
