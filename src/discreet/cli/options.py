"""The options that commands share, each written once, and the functions that build an option.

An option of one command alone stands in the signature of that command.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import typer

from ..results import ROW_FORMATS

# The headings of the help. Commands share them, so that an option stands below one heading everywhere.
DATA = "How to read the data"
WHAT = "What to find"
OUT = "Where the result goes"
HOW = "How it is done"

# The values of options; the parser refuses any further value.
if TYPE_CHECKING:
    Format: TypeAlias = str
    ForecastFormat: TypeAlias = str
else:
    Format = Literal[("table", *ROW_FORMATS)]
    ForecastFormat = Literal[("table", *ROW_FORMATS, "svg")]
PatternKind: TypeAlias = Literal["all", "closed", "maximal"]
LabelKind: TypeAlias = Literal["numbers", "names"]
Nulls: TypeAlias = Literal["error", "drop"]
PageFormat: TypeAlias = Literal["table", "json"]

# Two groups take this option with different types, and a dataclass field belongs to one class.
FORMAT_HELP = "How to write the result.  \\[default: by the suffix of -o, else table]"

METADATA_KEY = "typer"  # of the option in the metadata of its field
REQUIRED: Any = ...  # the default of a parameter that must be given, as typer writes it

# Python, and so the parser of typer, would take 1_0 for ten. Python refuses to convert more than 4,300 digits; 400 are
# more than any number that a command takes.
_WHOLE_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,400}\s*", re.ASCII)
_DECIMAL_NUMBER = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*|\s*[+-]?inf\s*", re.ASCII)


def parse_whole_number(text: str | int) -> int:
    """Return the integer of a text in decimal digits; typer passes a default, which is an integer already."""
    if isinstance(text, str) and not _WHOLE_NUMBER.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is not a whole number.")
    return int(text)


def parse_decimal_number(text: str | float) -> float:
    """Return the number of a text in decimal digits; typer passes a default, which is a number already."""
    if isinstance(text, str) and not _DECIMAL_NUMBER.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is not a number.")
    return float(text)


def option(help_text: str, panel: str | None = None, *names: str, default: Any = None, **settings: Any) -> Any:
    """Return an option as the default of a parameter, or as a field of a group of options.

    Parameters
    ----------
    help_text, panel
        The sentence of the help, and the heading that it stands under; without one, it is among the first.
    names
        The names on the command line, like ``--output`` and ``-o``; without any, the name of the parameter.
    default
        The value of an absent option; `REQUIRED` for an option that must be given. The help shows a default that is a
        number or a word.
    settings
        Further arguments of `typer.Option`.
    """
    shows_default = default not in (None, "", REQUIRED) and default is not False
    # A field rather than typer's own default: the groups are dataclasses, and tests and commands make them
    # without typer.
    info = typer.Option(*names, help=help_text, rich_help_panel=panel, show_default=shows_default, **settings)
    return field(default=default, metadata={METADATA_KEY: info})


def number(help_text: str, panel: str | None = None, *names: str, default: int | None = None, **settings: Any) -> Any:
    """Return an option with a whole number; see `option` for the parameters."""
    return option(help_text, panel, *names, default=default, metavar="N", parser=parse_whole_number, **settings)


def argument(metavar: str, help_text: str, *, default: Any = REQUIRED) -> Any:
    """Return an argument, which has a place on the command line instead of a name."""
    info = typer.Argument(metavar=metavar, help=help_text, show_default=False)
    return field(default=default, metadata={METADATA_KEY: info})


# Below are the options that commands of different modules share.
TOP = number("The N patterns most people hold.", WHAT)
ITEMSETS = option(
    "Count just the itemsets in this file, one per line: items between commas or tabs, or a JSON list.",
    WHAT,
    metavar="FILE",
)
HIERARCHY = option(
    "A table of which item stands below which: patterns are then across levels. It is public.", WHAT, metavar="FILE"
)
LIMIT = number("Stop when there are more than N.", WHAT, default=10_000_000)
ANTECEDENT = option("An item every rule must have on its left. Can be given again.", WHAT, metavar="ITEM")
CONSEQUENT = option("An item every rule must have on its right. Can be given again.", WHAT, metavar="ITEM")
ASSUME_MALICIOUS = option(
    "Widen intervals to hold whatever this part of each round's reports says: 1%, 0.01.  \\[default: 0%]",
    HOW,
    metavar="PART",
)
SETTINGS = option("A setting of the mechanism or protocol. Can be given again.", HOW, "--set", metavar="NAME=VALUE")
REPORT = option("Also write a report to send on.", OUT, metavar="FILE.html")
TITLE = option("The title of the report.  \\[default: with FILE's name]", OUT, metavar="TEXT")
ONE_ROW = option(
    "Every row is the whole basket of one person, whatever stands beside the items.",
    DATA,
    default=False,
)
DRY_RUN = option("Say what would be spent, and spend nothing.", HOW, default=False)
NEIGHBOURS = option(
    "Neighbours differ by adding or removing one person, or by replacing one.",
    default="add-remove",
)
VIEW = option("How to show it.", None, "--format", default="table")
