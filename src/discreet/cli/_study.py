"""`discreet study`: what an operator does, from a study file to its result."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import MisuseError
from ..wording import number_of
from . import options
from ._adding import HandingOver
from ._groups import Writing, grouped
from ._output import write_text
from ._progress import ProgressBar
from ._replacing import check_replaceable
from ._serve import Place, StoreOption, StudyName
from ._study_reports import app as report_files
from ._study_simulate import app as simulation
from ._terminal import console, say, say_row

if TYPE_CHECKING:
    from ..collector import Adder, Operator

app = typer.Typer(
    no_args_is_help=True,
    help="Run live studies: write one, check it, open it in a service, watch it and read its result.",
)

app.add_typer(simulation)
app.add_typer(report_files)

StudyFile = Annotated[
    Path,
    options.argument("STUDY.toml", "The study, as `discreet study new` writes one."),
]
Token = Annotated[
    str | None,
    options.option(
        "An operator's token, for a service elsewhere.", None, "--token", metavar="TOKEN", envvar="DISCREET_TOKEN"
    ),
]


def _operator(
    place: str, token: str | None, store: str | None, *, make: bool = False, adder: Adder | None = None
) -> Operator:
    from ..collector import open_operator

    more = {} if adder is None else {"adder": adder}
    return open_operator(place, token=token, store=store, make=make, **more)


@app.command(epilog="[bold]Examples[/bold]\n\ndiscreet study new study.toml")
def new(path: StudyFile) -> None:
    """Write a study file to begin with; every field is explained in it."""
    from ..collector import TEMPLATE

    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(TEMPLATE.format(path=path))
    except FileExistsError:
        raise MisuseError(f"{path} is there already: give another name.") from None
    say(f"Wrote {path}. Change it to your study, then: discreet study check {path}")


@app.command(epilog="[bold]Examples[/bold]\n\ndiscreet study check study.toml")
def check(path: StudyFile) -> None:
    """Say whether a study can be opened, and what its first question would be; nothing is opened."""
    from ..collector import StudyCore, read_study

    plan = read_study(path)
    core = StudyCore(plan)
    first = core.asks[0]
    closing = {
        "quota": f"at its share of {plan.people or 0:,} people",
        "deadline": f"{plan.hours or 0:g} hours after it opened",
        "hand": "when you say so",
    }[plan.close]
    say(f"{path} can be opened: {plan.title}")
    say(f"  {plan.protocol} finds the top {plan.top:,} over {len(plan.asked_items):,} items, epsilon {plan.epsilon}")
    if plan.hierarchy is not None:
        where = "across levels" if plan.level is None else f"on the level {plan.level}"
        say(f"  devices hold {len(plan.items):,} items, and answer for what these are {where}")
    say(f"  first round: {first.name}, {first.oracle.name}, {first.oracle.bits:g} bits per report")
    say(f"  a round closes {closing}; reports are deleted {'at its release' if plan.scrub == 'release' else 'by hand'}")
    if plan.people is not None and plan.close != "quota":
        say(f"  people = {plan.people} closes no round: it is what `discreet study plan` forecasts with")
    say(f"  with fewer reports than {core.minimum(0):,} the first round closes only if you insist")
    say(f"  who may take part: {'whoever holds a token' if plan.who == 'tokens' else 'anyone'}")


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet study plan study.toml\n\n"
    "discreet study plan study.toml --people 50000 --sizes 4"
)
def plan(
    path: StudyFile,
    people: Annotated[
        int | None,
        options.number("How many take part.  \\[default: as in the file]"),
    ] = None,
    sizes: Annotated[
        float, options.option("About how many items a participant holds.", metavar="NUMBER", show_default=True)
    ] = 5.0,
    form: options.ViewOption = "table",
) -> None:
    """Forecast a study before it is opened: what it would find, and how many people it needs."""
    from ..collector import read_study
    from ..planning import plan as forecast

    study = read_study(path)
    asked: dict[str, Any] = {
        "items": len(study.asked_items),
        "epsilon": study.epsilon,
        "top": study.top,
        "sizes": min(sizes, len(study.asked_items)),
        "side": "local",
        "names": [study.protocol],
        **({"lengths": (2, None)} if study.least == 2 else {}),
    }
    with ProgressBar("forecasting") as bar:
        needed = forecast(**asked, progress=bar.stage)
        expected = forecast(people=people or study.people, **asked) if people or study.people else None
    made = needed if expected is None else expected
    enough = needed.needed.get(study.protocol)
    if form == "json":
        told = {"needed": enough, "forecast": made.to_dict()}
        typer.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    console().print(made)
    if enough is None:
        say("More people than can be forecast are needed for four of five patterns: allow more epsilon, or ask less.")
    else:
        say(f"About {int(enough):,} people are needed to find four of five patterns.")


@app.command(
    "open",
    epilog="[bold]Examples[/bold]\n\n"
    "discreet study open study.toml --at studies\n\n"
    "discreet study open study.toml --at https://studies.example.org --token TOKEN",
)
def open_study(path: StudyFile, place: Place = "studies", token: Token = None, store: StoreOption = None) -> None:
    """Publish a study in a service, signed, and ask its first question. What is open does not change any more."""
    from ..collector import read_study

    study = read_study(path)
    with _operator(place, token, store, make=True) as operator:
        told = operator.open(study)
    say(f"The study {told['name']} is open. Its id is {told['id']}.")
    say(f"Give its key to those who take part, for their devices to check: {told['key']}")
    if study.who == "tokens":
        # The address of a database may have a password in it.
        where = f"{place} --store {'postgresql://…' if re.search('[@?]', store) else store}" if store else place
        say(f"Make tokens for them: discreet study token --at {where} --study {study.name} --many 100")


@app.command(
    epilog="[bold]Examples[/bold]\n\ndiscreet study status --at studies\n\ndiscreet study status breakfast --at studies"
)
def status(
    name: Annotated[str | None, options.argument("NAME", "The study; left out, all are listed.")] = None,
    place: Place = "studies",
    token: Token = None,
    store: StoreOption = None,
    form: options.ViewOption = "table",
) -> None:
    """Show how far a study has come: its rounds, tokens, and reports that were refused."""
    with _operator(place, token, store) as operator:
        told: Any = operator.studies() if name is None else operator.status(name)
    if form == "json":
        typer.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    if name is None:
        for one in told:
            say_row(f"{one['name']:<24}  {one['state']:<8}  {one['title']}")
        if not told:
            say("There are no studies yet: discreet study open STUDY.toml")
        return
    say_row(f"{told['name']}: {told['title']}")
    say_row(f"  {told['state']}; {told['people']:,} reports; {told['protocol']}, epsilon {told['epsilon']}")
    for one in told["rounds"]:
        quota = "" if one["quota"] is None else f" of {one['quota']:,}"
        say_row(f"  {one['round'] + 1:>3}  {one['name']:<28}  {one['state']:<8}  {one['people']:>9,}{quota} reports")
    say_row(f"  tokens: {told['tokens']['made']:,} made, {told['tokens']['spent']:,} spent")
    for reason, many in told["refused"].items():
        say_row(f"  refused: {many:,} {reason}")
    if told.get("not_added_up"):
        say_row(f"  a round is closed and not added up yet: {told['not_added_up']}")
    for number in told.get("overdue", ()):
        one = told["rounds"][number]
        say_row(
            f"  the deadline of round {number + 1} has passed with {one['people']:,} reports, and its minimum is "
            f"{one['minimum']:,}: discreet study close {told['name']} --yes"
        )
    for one in told["alarms"]:
        for alarm in one["alarms"]:
            say_row(f"  alarm in round {one['round'] + 1}: {alarm}")


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet study close breakfast --at studies\n\n"
    "discreet study close breakfast --at studies --engine spark --master spark://host:7077"
)
@grouped
def close(
    name: StudyName,
    place: Place = "studies",
    token: Token = None,
    store: StoreOption = None,
    few: Annotated[
        bool,
        options.option("Close rounds with fewer reports than their minimum too. It cannot be undone.", None, "--yes"),
    ] = False,
    *,
    handing: HandingOver,
) -> None:
    """Close the rounds of a study that are open: no report is taken any more, and the study goes on.

    A round with fewer reports than its minimum is closed with --yes only. A round that is closed already and could not
    be added up is tried again. A service elsewhere adds up as it was told.
    """
    operating = _operator(place, token, store, adder=handing.adder(place))
    with handing.used(), operating as operator, ProgressBar("adding up"):
        closed = operator.close(name, below_minimum=few)
    say(f"Closed {number_of(closed.rounds, 'round')} of {name}." if closed.rounds else f"No round of {name} is open.")
    for number in closed.without_reports:
        say(f"Round {number + 1} had no reports: nothing is known from it.")
    if closed.ended_empty:
        say(
            f"The study {name} has ended without a single report: its result is empty. Open it again under another "
            "name to ask once more."
        )


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet study results breakfast --at studies\n\n"
    "discreet study results breakfast --at studies --assume-malicious 1%\n\n"
    "discreet study results breakfast --at https://studies.example.org -o patterns.csv"
)
@grouped
def results(
    name: StudyName,
    place: Place = "studies",
    token: Token = None,
    store: StoreOption = None,
    assume_malicious: options.AssumeMalicious = None,
    *,
    writing: Writing,
) -> None:
    """Write the result of a study that has ended: patterns or relations, with intervals and the guarantee."""
    from ..checks import parse_share
    from ..results import parse_rows

    parse_share("assume_malicious", assume_malicious or "0")  # before anybody is asked
    with _operator(place, token, store) as operator:
        text = operator.result(name, assume_malicious or "0")
    writing.write(parse_rows(text))


@app.command(epilog="[bold]Examples[/bold]\n\ndiscreet study export breakfast --at studies -o breakfast.json")
def export(
    name: StudyName,
    place: Place = "studies",
    token: Token = None,
    store: StoreOption = None,
    output: Annotated[
        Path | None,
        options.option("Write to this file instead.", None, "--output", "-o", metavar="FILE"),
    ] = None,
    assume_malicious: options.AssumeMalicious = None,
) -> None:
    """Write everything public of a study, for others to check: signed texts, what rounds add up to, the result."""
    from ..checks import parse_share

    parse_share("assume_malicious", assume_malicious or "0")  # before anybody is asked
    if output is not None:
        check_replaceable(output)
    with _operator(place, token, store) as operator:
        text = json.dumps(operator.export(name, assume_malicious or "0"), ensure_ascii=False, indent=1)
    write_text(text, output)


@app.command(epilog="[bold]Examples[/bold]\n\ndiscreet study scrub breakfast --at studies")
def scrub(name: StudyName, place: Place = "studies", token: Token = None, store: StoreOption = None) -> None:
    """Delete the reports of all rounds that are released; hashes of spent tokens stay, so that nobody counts twice."""
    with _operator(place, token, store) as operator:
        done = operator.scrub(name)
    say(f"Deleted the reports of {done.rounds:,} {'round' if done.rounds == 1 else 'rounds'} of {name}.")
    if not done.tidy:
        say(
            "The store's own files still have some of them, since somebody else is reading it or it cannot be written "
            "to. A service that runs tries again by itself; without one, do this again."
        )


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet study token --at studies --study breakfast --many 1000 -o tokens.txt\n\n"
    "discreet study token --at studies --scope watch --scope enrol --label 'the shop'\n\n"
    "discreet study token --at studies --list"
)
def token(
    place: Place = "studies",
    study: Annotated[
        str | None,
        options.option("Make tokens for participants of this study.", None, "--study", metavar="NAME"),
    ] = None,
    many: Annotated[int, options.number("How many of them.", show_default=True)] = 1,
    scopes: Annotated[
        list[str] | None,
        options.option(
            "Make a token for an operator: operate, enrol or watch. Can be given again.",
            None,
            "--scope",
            metavar="SCOPE",
        ),
    ] = None,
    label: Annotated[str, options.option("Whose operator's token it is.", metavar="TEXT")] = "",
    listed: Annotated[
        bool, options.option("List the tokens of operators: an id, what each is for, and whose it is.", None, "--list")
    ] = False,
    revoked: Annotated[
        str | None,
        options.option("Revoke an operator's token, by its id.", None, "--revoke", metavar="ID"),
    ] = None,
    output: Annotated[
        Path | None,
        options.option("Write to this file, one per line.", None, "--output", "-o", metavar="FILE"),
    ] = None,
    own: Token = None,
    store: StoreOption = None,
) -> None:
    """Make tokens: single-use ones for participants, or one for an operator. Only their hashes are kept.

    They are shown once. Whoever has a participant's token can send one report; give each to one person.
    """
    from ..atomic_write import open_replacement

    if (study is not None) + bool(scopes) + listed + (revoked is not None) != 1:
        raise MisuseError(
            "Say whom it is for: --study NAME for participants, or --scope for an operator. Or --list those of "
            "operators, or --revoke one."
        )
    if listed or revoked is not None:
        with _operator(place, own, store) as operator:
            if revoked is not None:
                operator.revoke_operator(revoked)
                say(f"Revoked the operator's token {revoked}.")
                return
            for known in operator.operators():
                say_row(f"{known['id']}  {' '.join(known['scopes']):<20}  {known['label']}".rstrip())
        return
    if output is not None:
        check_replaceable(output)
    with _operator(place, own, store) as operator:
        made = operator.tokens(study, many) if study is not None else [operator.add_operator(scopes or [], label)]
    if output is None:
        for one in made:
            say(one)
        return
    with open_replacement(output, private=True) as stream:
        stream.write("".join(f"{one}\n" for one in made).encode())
