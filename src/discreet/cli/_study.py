"""`discreet study`: the commands of an operator, from a study file to its result."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from ..errors import MisuseError
from ..wording import number_of
from . import options
from ._groups import Writing, command, start_spark
from ._output import write_text
from ._replacing import check_replaceable
from ._serve import STORE_OPTION, AddingOptions, HandoverOptions
from ._simulate import SimulatedReading
from ._terminal import ProgressBar, console, say, say_row

if TYPE_CHECKING:
    from ..collector import Operator

app = typer.Typer(
    no_args_is_help=True,
    help="Run live studies: write one, check it, open it in a service, watch it and read its result.",
)

STUDY_FILE = options.argument("STUDY.toml", "The study, as `discreet study new` writes one.")
STUDY_NAME = options.argument("NAME", "The name of the study.")
OUTPUT_OPTION = options.option("Write to this file instead.", None, "--output", "-o", metavar="FILE")


@dataclass(frozen=True)
class ServiceOptions:
    """The options for the service of a study: a directory with its store, or an address with a token."""

    place: str = options.option(
        "Where the service is: its directory here, or its address.",
        None,
        "--at",
        default="studies",
        metavar="DIRECTORY|URL",
        envvar="DISCREET_AT",
    )
    token: str | None = options.option(
        "An operator's token, for a service elsewhere.", metavar="TOKEN", envvar="DISCREET_TOKEN"
    )
    store: str | None = STORE_OPTION

    def open(self, **settings: Any) -> Operator:
        """Return the operator of the service."""
        from ..collector import open_operator

        return open_operator(self.place, token=self.token, store=self.store, **settings)


class LocalServiceOptions(ServiceOptions):
    """The options of a command that reads the files of a service on this machine."""

    left_out: ClassVar[tuple[str, ...]] = ("token",)


@command(app)
def new(path: Path = STUDY_FILE) -> None:
    """Write a study file to begin with; every field is explained in it.

    Examples
    --------
    discreet study new study.toml
    """
    from ..collector import TEMPLATE

    # Mode x fails if the file exists: a study that was edited must not be lost.
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(TEMPLATE.format(path=path))
    except FileExistsError:
        raise MisuseError(f"{path} is there already: give another name.") from None
    say(f"Wrote {path}. Change it to your study, then: discreet study check {path}")


@command(app)
def check(path: Path = STUDY_FILE) -> None:
    """Check whether a study can be opened, and show its first question; nothing is opened.

    Examples
    --------
    discreet study check study.toml
    """
    from ..collector import StudyCore, read_study

    plan = read_study(path)
    core = StudyCore(plan)
    question = core.asks[0]
    # The three ways of closing a round, in words for the operator before the opening.
    closing = {
        "quota": f"at its share of {plan.people or 0:,} people",
        "deadline": f"{plan.hours or 0:g} hours after it opened",
        "hand": "when you say so",
    }[plan.close]
    say(f"{path} can be opened: {plan.title}")
    say(f"  {plan.protocol} finds the top {plan.top:,} over {len(plan.asked_items):,} items, epsilon {plan.epsilon}")
    if plan.hierarchy is not None:
        levels = "across levels" if plan.level is None else f"on the level {plan.level}"
        say(f"  devices hold {len(plan.items):,} items, and answer for what these are {levels}")
    say(f"  first round: {question.name}, {question.oracle.name}, {question.oracle.bits:g} bits per report")
    say(f"  a round closes {closing}; reports are deleted {'at its release' if plan.scrub == 'release' else 'by hand'}")
    # Operators take `people` for a limit, which it is with a quota alone.
    if plan.people is not None and plan.close != "quota":
        say(f"  people = {plan.people} closes no round: it is what `discreet study plan` forecasts with")
    say(f"  with fewer reports than {core.minimum(0):,} the first round closes only if you insist")
    say(f"  who may take part: {'whoever holds a token' if plan.who == 'tokens' else 'anyone'}")


@command(app)
def plan(
    path: Path = STUDY_FILE,
    people: int | None = options.number("How many take part.  \\[default: as in the file]"),
    sizes: float = options.option("About how many items a participant holds.", default=5.0, metavar="NUMBER"),
    form: options.PageFormat = options.VIEW,
) -> None:
    """Forecast a study before it is opened: its precision, and the number of people it needs.

    Examples
    --------
    discreet study plan study.toml

    discreet study plan study.toml --people 50000 --sizes 4
    """
    from ..collector import read_study
    from ..planning import plan as forecast_results

    study = read_study(path)
    question: dict[str, Any] = {
        "items": len(study.asked_items),
        "epsilon": study.epsilon,
        "top": study.top,
        # A basket has no more items than the list.
        "sizes": min(sizes, len(study.asked_items)),
        "side": "local",
        "names": [study.protocol],
        **({"lengths": (2, None)} if study.least == 2 else {}),
    }
    with ProgressBar("forecasting") as bar:
        # Without a number of people, the forecast is of the number that the study needs.
        forecast = forecast_needs = forecast_results(**question, progress=bar.stage)
        if people or study.people:
            forecast = forecast_results(people=people or study.people, **question)
    needed_people = forecast_needs.needed.get(study.protocol)
    if form == "json":
        document = {"needed": needed_people, "forecast": forecast.to_dict()}
        typer.echo(json.dumps(document, ensure_ascii=False, indent=1))
        return
    console().print(forecast)
    if needed_people is None:
        say("More people than can be forecast are needed for four of five patterns: allow more epsilon, or ask less.")
    else:
        say(f"About {int(needed_people):,} people are needed to find four of five patterns.")


@command(app, "open")
def open_study(
    *,
    path: Path = STUDY_FILE,
    service: ServiceOptions,
) -> None:
    """Publish a study in a service, signed, and ask its first question. An open study never changes.

    Examples
    --------
    discreet study open study.toml --at studies

    discreet study open study.toml --at https://studies.example.org --token TOKEN
    """
    from ..collector import read_study

    study = read_study(path)
    # The directory of the service is made by the first study: no further command has to prepare it.
    with service.open(make=True) as operator:
        record = operator.open(study)
    say(f"The study {record['name']} is open. Its id is {record['id']}.")
    say(f"Give its key to those who take part, for their devices to check: {record['key']}")
    if study.who == "tokens":
        # The address of a database may have a password in it.
        store = service.store and f" --store {'postgresql://…' if re.search('[@?]', service.store) else service.store}"
        place = f"{service.place}{store or ''}"
        say(f"Make tokens for them: discreet study token --at {place} --study {study.name} --many 100")


@command(app)
def status(
    *,
    name: str | None = options.argument("NAME", "The study; left out, all are listed.", default=None),
    service: ServiceOptions,
    form: options.PageFormat = options.VIEW,
) -> None:
    """Show the status of a study: its rounds, tokens, and refused reports.

    Examples
    --------
    discreet study status --at studies

    discreet study status breakfast --at studies
    """
    with service.open() as operator:
        # Any: the state is a document of the service, which may be a newer version elsewhere.
        state: Any = operator.studies() if name is None else operator.status(name)
    if form == "json":
        typer.echo(json.dumps(state, ensure_ascii=False, indent=1))
    elif name is not None:
        _print_status(state)
    elif not state:
        say("There are no studies yet: discreet study open STUDY.toml")
    else:
        for study in state:
            say_row(f"{study['name']:<24}  {study['state']:<8}  {study['title']}")


def _print_status(study: dict[str, Any]) -> None:
    """Print the status of a study, a line for each round, refusal and alarm."""
    say_row(f"{study['name']}: {study['title']}")
    say_row(f"  {study['state']}; {study['people']:,} reports; {study['protocol']}, epsilon {study['epsilon']}")
    for row in study["rounds"]:
        quota = "" if row["quota"] is None else f" of {row['quota']:,}"
        say_row(f"  {row['round'] + 1:>3}  {row['name']:<28}  {row['state']:<8}  {row['people']:>9,}{quota} reports")
    say_row(f"  tokens: {study['tokens']['made']:,} made, {study['tokens']['spent']:,} spent")
    for reason, refusal_count in study["refused"].items():
        say_row(f"  refused: {refusal_count:,} {reason}")
    if study.get("not_added_up"):
        say_row(f"  a round is closed and not added up yet: {study['not_added_up']}")
    for number in study.get("overdue", ()):
        row = study["rounds"][number]
        say_row(
            f"  the deadline of round {number + 1} has passed with {row['people']:,} reports, and its minimum is "
            f"{row['minimum']:,}: discreet study close {study['name']} --yes"
        )
    for entry in study["alarms"]:
        for alarm in entry["alarms"]:
            say_row(f"  alarm in round {entry['round'] + 1}: {alarm}")


@command(app)
def close(
    *,
    name: str = STUDY_NAME,
    service: ServiceOptions,
    close_small: bool = options.option(
        "Close rounds with fewer reports than their minimum too. It cannot be undone.", None, "--yes", default=False
    ),
    handing: HandoverOptions,
) -> None:
    """Close the rounds of a study that are open: no report is taken any more, and the study goes on.

    A round with fewer reports than its minimum is closed with --yes only. A closed round that could not be added
    up is tried again. A remote service adds up by its own options.

    Examples
    --------
    discreet study close breakfast --at studies

    discreet study close breakfast --at studies --engine spark --master spark://host:7077
    """
    # The context of the device encloses the operator, which adds up when it closes rounds.
    opening = service.open(adder=handing.build_adder(service.place))
    with handing.use_device(), opening as operator, ProgressBar("adding up"):
        closing = operator.close(name, below_minimum=close_small)
    say(f"Closed {number_of(closing.rounds, 'round')} of {name}." if closing.rounds else f"No round of {name} is open.")
    for number in closing.without_reports:
        say(f"Round {number + 1} had no reports: nothing is known from it.")
    if closing.ended_empty:
        say(
            f"The study {name} has ended without a single report: its result is empty. Open it again under another "
            "name to ask once more."
        )


@command(app)
def results(
    *,
    name: str = STUDY_NAME,
    service: ServiceOptions,
    assume_malicious: str | None = options.ASSUME_MALICIOUS,
    writing: Writing,
) -> None:
    """Write the result of a study that has ended: patterns or relations, with intervals and the guarantee.

    Examples
    --------
    discreet study results breakfast --at studies

    discreet study results breakfast --at studies --assume-malicious 1%

    discreet study results breakfast --at https://studies.example.org -o patterns.csv
    """
    from ..checks import parse_share
    from ..results import parse_rows

    parse_share("assume_malicious", assume_malicious or "0")  # before the service is asked
    with service.open() as operator:
        text = operator.result(name, assume_malicious or "0")
    writing.write(parse_rows(text))


@command(app)
def export(
    *,
    name: str = STUDY_NAME,
    service: ServiceOptions,
    output: Path | None = OUTPUT_OPTION,
    assume_malicious: str | None = options.ASSUME_MALICIOUS,
) -> None:
    """Write all public parts of a study, for a check: signed texts, the sums of rounds, the result.

    Examples
    --------
    discreet study export breakfast --at studies -o breakfast.json
    """
    from ..checks import parse_share

    parse_share("assume_malicious", assume_malicious or "0")  # before the service is asked
    if output is not None:
        check_replaceable(output)
    with service.open() as operator:
        text = json.dumps(operator.export(name, assume_malicious or "0"), ensure_ascii=False, indent=1)
    write_text(text, output)


@command(app)
def scrub(
    *,
    name: str = STUDY_NAME,
    service: ServiceOptions,
) -> None:
    """Delete the reports of all released rounds; hashes of spent tokens stay, so that no token counts twice.

    Examples
    --------
    discreet study scrub breakfast --at studies
    """
    with service.open() as operator:
        deletion = operator.scrub(name)
    say(f"Deleted the reports of {number_of(deletion.rounds, 'round')} of {name}.")
    if not deletion.tidy:
        say(
            "The store's own files still have some of them, since somebody else is reading it or it cannot be written "
            "to. A service that runs tries again by itself; without one, do this again."
        )


@command(app)
def token(
    *,
    service: ServiceOptions,
    study: str | None = options.option("Make tokens for participants of this study.", metavar="NAME"),
    token_count: int = options.number("How many of them.", None, "--many", default=1),
    scopes: list[str] | None = options.option(
        "Make a token for an operator: operate, enrol or watch. Can be given again.", None, "--scope", metavar="SCOPE"
    ),
    label: str = options.option("Whose operator's token it is.", default="", metavar="TEXT"),
    is_list: bool = options.option(
        "List the tokens of operators: an id, what each is for, and whose it is.", None, "--list", default=False
    ),
    revoked_id: str | None = options.option("Revoke an operator's token, by its id.", None, "--revoke", metavar="ID"),
    output: Path | None = options.option("Write to this file, one per line.", None, "--output", "-o", metavar="FILE"),
) -> None:
    """Make tokens: single-use ones for participants, or one for an operator. Only their hashes are kept.

    They are shown once. Whoever has a participant's token can send one report; give each to one person.

    Examples
    --------
    discreet study token --at studies --study breakfast --many 1000 -o tokens.txt

    discreet study token --at studies --scope watch --scope enrol --label 'the shop'

    discreet study token --at studies --list
    """
    from ..atomic_write import open_replacement

    # Four commands in one, of which exactly one may be meant: a token made by mistake is a key.
    if (study is not None) + bool(scopes) + is_list + (revoked_id is not None) != 1:
        raise MisuseError(
            "Say whom it is for: --study NAME for participants, or --scope for an operator. Or --list those of "
            "operators, or --revoke one."
        )
    if is_list or revoked_id is not None:
        with service.open() as operator:
            if revoked_id is not None:
                operator.revoke_operator(revoked_id)
                say(f"Revoked the operator's token {revoked_id}.")
                return
            for entry in operator.operators():
                say_row(f"{entry['id']}  {' '.join(entry['scopes']):<20}  {entry['label']}".rstrip())
        return
    if output is not None:
        check_replaceable(output)
    with service.open() as operator:
        tokens = (
            operator.tokens(study, token_count) if study is not None else [operator.add_operator(scopes or [], label)]
        )
    if output is None:
        for new_token in tokens:
            say(new_token)
        return
    # A token is a secret: its file is readable by its owner alone.
    with open_replacement(output, private=True) as stream:
        stream.write("".join(f"{new_token}\n" for new_token in tokens).encode())


@command(app)
def simulate(
    study: Path = STUDY_FILE,
    people: int | None = options.number(
        "How many people, drawn from those in the data.  \\[default: those in the data]", options.HOW
    ),
    directory: Path | None = options.option(
        "Keep the service's studies here.  \\[default: nowhere]", options.HOW, metavar="DIRECTORY"
    ),
    stay: bool = options.option("Leave the service up with the result, until Ctrl-C.", options.HOW, default=False),
    port: int = options.number("The service's port; 0 for any that is free.", options.HOW, default=0),
    store: str | None = STORE_OPTION,
    *,
    source_options: SimulatedReading,
    writing: Writing,
) -> None:
    """Try a whole study out: the real service on this machine, and real client processes that answer with known data.

    A round closes when all its people have answered. Reports come from the secure source, so two runs differ;
    `discreet simulate` is quicker, and repeatable.

    Examples
    --------
    discreet study simulate study.toml sales.csv --person customer --item product --people 20000

    discreet study simulate study.toml retail.dat --people 100000 --directory studies --stay
    """
    from ..baskets import require_local_baskets
    from ..collector import read_study, simulate_study
    from ..local.study import render_drawing_note
    from ..results import parse_rows

    plan = read_study(study)
    seed = source_options.choose_seed()
    baskets = source_options.read_seeded(seed)
    # A result for programs has standard output alone.
    err = writing.output is not None or writing.format != "table"
    # The status is polled, and has the finished rounds each time.
    printed_rounds: set[int] = set()

    def print_rounds(status: dict[str, Any]) -> None:
        for row in status["rounds"]:
            if row["state"] in ("released", "scrubbed") and row["round"] not in printed_rounds:
                printed_rounds.add(row["round"])
                say(f"{row['name']:<28}  {row['people']:>9,} reports  {row['oracle']}", err=err)

    service: dict[str, Any] = {"directory": directory, "store": store, "port": port, "progress": print_rounds}
    participants = require_local_baskets(baskets, "A simulated study")
    with simulate_study(plan, participants, people=people, seed=seed, **service) as trial:
        writing.write(parse_rows(trial.result))
        if baskets.has_receipts:
            say(f"\n{render_drawing_note(1)}", err=err)
        if stay:
            _wait_for_interrupt(f"The study {plan.name} is at {trial.address}. Stop it with Ctrl-C.")


def _wait_for_interrupt(message: str) -> None:
    """Print a message and wait for Ctrl-C: the result is written, so an interrupt is no failure."""
    from signal import pause

    with contextlib.suppress(KeyboardInterrupt):
        say(message, err=True)
        while True:
            pause()


@command(app)
def reports(
    *,
    name: str = STUDY_NAME,
    output: Path = options.option(
        "Write the files into this folder.", None, "--output", "-o", default=options.REQUIRED, metavar="FOLDER"
    ),
    number: int = options.number("Which round, counted from 1 as in `status`.", None, "--round", default=1),
    service: LocalServiceOptions,
) -> None:
    """Write the reports of a round that is closed as Parquet files, with the round beside them.

    They are read by `discreet study add-up`, here or in a cluster. The files are for their owner alone.

    Examples
    --------
    discreet study reports breakfast --round 1 --at studies -o reports
    """
    # People count rounds from 1, as the status shows them; the service counts from 0.
    if number < 1:
        raise MisuseError(f"--round counts from 1, as `discreet study status` shows rounds; {number} was given.")
    with service.open() as operator, ProgressBar("writing"):
        report_count = operator.save_reports(name, number - 1, output)
    say(f"Wrote {number_of(report_count, 'report')} of round {number} of {name} into {output}.")


@command(app, "add-up")
def add_up(
    source: str = options.argument("REPORTS", "A folder of `discreet study reports`, a Parquet file, or a pattern."),
    question: Path | None = options.option(
        "The round that they answer, as JSON.  \\[default: round.json in the folder]",
        metavar="FILE",
    ),
    screen: bool = options.option("Leave out reports that no honest device is likely to have sent.", default=True),
    output: Path | None = OUTPUT_OPTION,
    *,
    adding: AddingOptions,
) -> None:
    """Add up the reports of a round, as JSON: their number, and the number that supports each value.

    Examples
    --------
    discreet study add-up reports

    discreet study add-up reports --device gpu

    discreet study add-up 's3a://studies/reports/*.parquet' --question round.json --engine spark --remote
    sc://host
    """
    from ..collector import add_up_files, read_round

    if output is not None:
        check_replaceable(output)
    # The round is read before any report: a wrong file fails within a second.
    ask = read_round(source, question)
    sums: Any
    if adding.engine is None:
        with ProgressBar("adding up"), adding.use_device():
            sums = add_up_files(source, ask, screen=screen)
    else:
        session = start_spark(adding.master, adding.remote)
        with ProgressBar("adding up") as bar:
            sums = import_module("discreet.spark._reports").add_up_reports(
                source, ask, screen=screen, session=session, progress=bar
            )
    document = {"round": ask.name, **json.loads(sums.text()), "refused": sums.refused}
    document["values"] = sums.estimate.values.tolist()
    write_text(json.dumps(document, ensure_ascii=False), output)
