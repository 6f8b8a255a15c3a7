"""`discreet ledger`: creation, display and export of ledgers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import typer

from ..errors import MisuseError
from ..results import Relation
from . import options
from ._groups import command
from ._replacing import check_replaceable
from ._terminal import say

if TYPE_CHECKING:
    from ..privacy.ledger import Spend, State
    from ..publish import LedgerLike


ExportFormat: TypeAlias = Literal["json", "csv"]
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Keep the budget of a data set: make its ledger, look at it, hand it on.",
)

_MAX_PARAMETERS = 60  # characters of the parameters of a spend in the table, which has six columns more


LEDGER_PATH = options.argument("LEDGER", "The file of the ledger.")
ANCHOR_OPTION = options.option(
    "Where the last head is kept too: a ledger older than that is refused.  \\[default: as it remembers]",
    metavar="FILE|command:…",
)


@command(app)
def create(
    path: Path = LEDGER_PATH,
    epsilon: str = options.option("The whole budget.", default=options.REQUIRED, metavar="NUMBER"),
    delta: str = options.option(
        "Allows releases with a delta, and accounts by zCDP; 0 keeps to epsilon.", default="0", metavar="NUMBER"
    ),
    neighbours: Relation = options.option("Which two data sets are told apart.", default="add-remove"),
    most: str | None = options.option("The largest epsilon one release may take.", metavar="NUMBER"),
    name: str = options.option("What you call the data.", default="", metavar="TEXT"),
    anchor: str | None = options.option(
        "Keep its last head there too, so that an older copy is found out.", metavar="FILE|command:…"
    ),
    really: bool = options.option(
        "Go on although it looks like a slip: an epsilon over 20, a delta over 0.001 or over one in --people, or "
        "a list of items that nobody holds any of.",
        default=False,
    ),
) -> None:
    """Make the ledger of a data set. Its terms never change.

    Examples
    --------
    discreet ledger create budget.db --epsilon 1

    discreet ledger create budget.db --epsilon 2 --delta 1e-6 --most 0.5 --name 'admissions 2026'
    """
    from ..privacy.ledger import Ledger

    terms: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours, "most": most}
    ledger = Ledger.create(path, **terms, name=name, anchor=anchor, really=really)
    state = ledger.state()
    # Read back from the file: the message repeats the stored terms, not the typed ones.
    anchor_note = "" if state.anchor is None else f" Its head is kept in {state.anchor} too."
    say(f"Made {path}: {state.promise}. Keep it as you keep the data.{anchor_note}")


@command(app)
def spend(
    path: Path = LEDGER_PATH,
    epsilon: str = options.option("The epsilon spent there.", default=options.REQUIRED, metavar="NUMBER"),
    what: str = options.option(
        "What it was, in your words. Nothing that depends on the data.", default=options.REQUIRED, metavar="TEXT"
    ),
    delta: str = options.option("The delta spent there.", default="0", metavar="NUMBER"),
    neighbours: Relation = options.option("Which two data sets were told apart there.", default="add-remove"),
    who: str | None = options.option("Who asked.  \\[default: the user]", metavar="NAME"),
    anchor: str | None = ANCHOR_OPTION,
) -> None:
    """Enter a budget that foreign software has spent on the data, so that one account holds all spends.

    Examples
    --------
    discreet ledger spend budget.db --epsilon 0.3 --what 'histogram of ages, for the board'

    discreet ledger spend budget.db --epsilon 1/3 --delta 1e-7 --what 'means by ward' --who ana
    """
    from ..privacy.ledger import Ledger, rounded
    from ._release import find_user

    ledger = Ledger(path, anchor)
    entry = ledger.spend_elsewhere(
        epsilon=epsilon, delta=delta, what=what, who=find_user() if who is None else who, neighbours=neighbours
    )
    price = f"epsilon {rounded(entry.epsilon)}" + (f", delta {rounded(entry.delta)}" if entry.delta else "")
    say(f"Entered in {path} as spend {entry.number}: {price}, {entry.what}.")
    for line in ledger.state().lines():
        say(line)


@command(app)
def show(
    path: Path = LEDGER_PATH,
    view: options.PageFormat = options.VIEW,
    anchor: str | None = ANCHOR_OPTION,
) -> None:
    """Check the chain, and show the budget, its spent and remaining parts, the head, and each spend.

    Examples
    --------
    discreet ledger show budget.db
    """
    from ..privacy.ledger import Ledger

    ledger = Ledger.open(path, anchor=anchor)
    state, spends = ledger.state(), ledger.spends()
    if view == "json":
        rows = [spend.to_dict() | {"changed": spend.changed} for spend in spends]
        typer.echo(json.dumps({"ledger": state.to_dict(), "spends": rows}, ensure_ascii=False, indent=1))
        return
    say(f"{path}{': ' if state.name else ''}{state.name}")
    lines = [*state.lines(), *([""] if state.spends else [])]
    for line in (*lines, *_align_columns([_render_cells(spend, state) for spend in spends])):
        say(line)


@command(app)
def export(
    path: Path = LEDGER_PATH,
    form: ExportFormat | None = options.option(
        "How to write it.  \\[default: by the suffix of -o, else json]", None, "--format"
    ),
    output: Path | None = options.option("Write to this file instead.", None, "--output", "-o", metavar="FILE"),
    anchor: str | None = ANCHOR_OPTION,
) -> None:
    """Write the account and its spends for publication: without the key, and without values that depend on the data.

    Examples
    --------
    discreet ledger export budget.db --format csv

    discreet ledger export budget.db -o spends.json
    """
    from ..atomic_write import open_replacement
    from ..privacy.ledger import Ledger

    ledger = Ledger.open(path, anchor=anchor)
    if output is None:
        text = io.BytesIO()
        ledger.export(text, form or "json")
        typer.echo(text.getvalue(), nl=False)
        return
    # A suffix and a --format that disagree are a slip, which a file for publication should not carry.
    export_format = _choose_export_format(form, output)
    # Not by the names alone: a link to the ledger is the ledger.
    if output.exists() and output.samefile(path):
        raise MisuseError(f"{output} is the ledger itself: write to another file.")
    # The anchor has no mark that would protect it from --force.
    if str(output.absolute()) in (anchor, ledger.state().anchor):
        raise MisuseError(f"{output} holds the head of the ledger: write to another file.")
    check_replaceable(output)
    with open_replacement(output) as stream:
        ledger.export(stream, export_format)


@command(app)
def anchor(
    path: Path = LEDGER_PATH,
    place: str = options.argument(
        "FILE|command:…",
        "A file, best on another disk; or a command, which keeps the head on its standard input, if any, and "
        "prints the last one it has kept.",
    ),
    anew: bool = options.option(
        "Begin anew: the anchor so far is lost, or this is an older copy, put back on purpose. Then spend "
        "again what was released since.",
        default=False,
    ),
) -> None:
    """Keep the head of the chain somewhere else too, so that an older copy of the ledger is refused.

    Examples
    --------
    discreet ledger anchor budget.db /mnt/other/budget.head

    discreet ledger anchor budget.db 'command:keep-head budget'
    """
    from ..privacy.ledger import Ledger

    ledger = Ledger(path)
    ledger.anchor(place, anew=anew)
    say(f"The head of {path} is {ledger.head}, and is kept in {ledger.state().anchor} from now on.")


@command(app)
def upgrade(path: Path = LEDGER_PATH) -> None:
    """Bring a ledger that an earlier discreet has made up to date, with all its spends.

    Examples
    --------
    discreet ledger upgrade budget.db
    """
    from ..privacy.ledger import Ledger, upgrade as upgrade_ledger

    upgrade_ledger(path)
    say(f"{path} is up to date. Its head is {Ledger.open(path).head}.")


def print_head(ledger: LedgerLike) -> None:
    """Print the head of the chain of a ledger after a spend, for the user to keep."""
    if ledger is not None:
        from ..publish import open_ledger

        say(f"The head of {ledger} is {open_ledger(ledger).head}", err=True)


def _choose_export_format(form: ExportFormat | None, output: Path) -> ExportFormat:
    suffix = output.suffix.lower().removeprefix(".")
    if suffix not in ("json", "csv"):
        if form is None:
            raise MisuseError(f"{output} ends in neither .json nor .csv: add --format json or --format csv.")
        return form
    if form is not None and suffix != form:
        raise MisuseError(f"{output} would hold {form}, not {suffix}: leave --format out, or use .{form}.")
    return "json" if suffix == "json" else "csv"


def _render_cells(spend: Spend, state: State) -> list[str]:
    from ..privacy.ledger import rounded

    parameters = json.dumps(dict(spend.parameters), ensure_ascii=False)
    cost = f"epsilon {rounded(spend.epsilon)}" + (f", delta {rounded(spend.delta)}" if spend.delta else "")
    return [
        str(spend.number),
        spend.at,
        spend.who or "-",
        spend.what,
        cost if state.accounting == "pure" else f"{cost}, rho {rounded(spend.rho)}",
        _describe_state(spend) + ("; the data had changed" if spend.changed else ""),
        # JSON has the whole text; a line of the table has to fit a terminal.
        parameters if len(parameters) <= _MAX_PARAMETERS else f"{parameters[:_MAX_PARAMETERS]}…",
    ]


def _describe_state(spend: Spend) -> str:
    """Return the state of a spend, in words."""
    if spend.elsewhere:
        return "spent elsewhere"
    return "released" if spend.state == "released" else "spent, no release recorded"


def _align_columns(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
