"""The options that commands share, each written once, and the functions that build an option.

An option of one command alone stands in the signature of that command.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ..results import ROW_FORMATS, Relation

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


def option(help_text: str, panel: str | None = None, *names: str, show_default: bool = False, **settings: Any) -> Any:
    """Return the metadata of an option, as typer takes it in `Annotated`.

    Parameters
    ----------
    help_text, panel
        The sentence of the help, and the heading that it stands under; without one, it is among the first.
    names
        The names on the command line, like ``--output`` and ``-o``; without any, the name of the parameter.
    show_default
        Whether the help ends with the default of the parameter. Most defaults are None, which the help explains.
    settings
        Further arguments of `typer.Option`.
    """
    return typer.Option(*names, help=help_text, rich_help_panel=panel, show_default=show_default, **settings)


def number(help_text: str, panel: str | None = None, *names: str, **settings: Any) -> Any:
    """Return the metadata of an option with a whole number; see `option` for the parameters."""
    return option(help_text, panel, *names, metavar="N", parser=parse_whole_number, **settings)


def argument(metavar: str, help_text: str) -> Any:
    """Return the metadata of an argument, which has a place on the command line instead of a name."""
    return typer.Argument(metavar=metavar, help=help_text, show_default=False)


File = Annotated[
    list[str] | None,
    argument(
        "FILE",
        "The data: .dat .txt .csv .tsv .jsonl .parquet .feather (also .gz .bz2 .xz .zst .zip) or .xlsx. Several "
        "files, a folder or 'sales-*.csv' are one table. With --input-format, - is standard input. With --query, a "
        "database: sqlite:///shop.db, postgresql://host/shop, shop.duckdb.",
    ),
]
Person = Annotated[
    str | None,
    option(
        "The column that says whose row it is; a person's rows become one basket, unless --basket parts them.",
        DATA,
        metavar="COLUMN",
    ),
]
BasketColumn = Annotated[
    str | None,
    option(
        "The column that tells a person's baskets apart, such as a receipt: counts are then of baskets. Relations "
        "are of people all the same.",
        DATA,
        "--basket",
        metavar="COLUMN",
    ),
]
ItemColumn = Annotated[
    str | None,
    option("The column with the item.", DATA, "--item", metavar="COLUMN"),
]
Time = Annotated[
    str | None,
    option("The column that orders a person's rows, for relations in time.", DATA, metavar="COLUMN"),
]
Pair = Annotated[
    tuple[str, str] | None,
    option(
        "Two columns, with --item or without: each row gives its person a pair of items.", DATA, metavar="COLUMN COLUMN"
    ),
]
Ordered = Annotated[
    bool,
    option(
        "Items are in order, in text with one basket per line or in lists; for relations in time.",
        DATA,
        "--ordered",
        show_default=True,
    ),
]
Query = Annotated[
    str | None,
    option("A query whose result is the table to read.", DATA, metavar="SQL"),
]
InputFormat = Annotated[
    str | None,
    option("Read FILE as this format, whatever its suffix.", DATA, metavar="NAME"),
]
Delimiter = Annotated[
    str | None,
    option(
        "What stands between the fields of CSV, such as ; or tab.  \\[default: as line 1 has it]",
        DATA,
        metavar="CHARACTER",
    ),
]
Encoding = Annotated[
    str | None,
    option("How text is encoded, such as windows-1252.  \\[default: by its mark, else utf-8]", DATA, metavar="NAME"),
]
LabelsOption = Annotated[
    LabelKind | None,
    option("Whether items are numbers or names.  \\[default: as the first line has them]", DATA, "--labels"),
]
NamesFile = Annotated[
    Path | None,
    option(
        "What the items are called, where they are codes: a table of codes and names. It is public.",
        DATA,
        "--names",
        metavar="FILE",
    ),
]
SameNames = Annotated[
    Literal["apart", "merge"] | None,
    option("Whether codes of one name are different items or one.  \\[default: apart]", DATA, "--same-names"),
]
MaxItems = Annotated[
    int | None,
    number("Keep at most N items of a basket, chosen at random.", DATA),
]
Seed = Annotated[
    int | None,
    number("Makes the choice of --max-items repeatable.", DATA),
]
Memory = Annotated[
    str,
    option(
        "How much memory to use. Beyond it, grouping a table goes to disk, and more baskets than fit are refused.",
        DATA,
        metavar="SIZE",
        show_default=True,
    ),
]
NullsOption = Annotated[Nulls, option("What to do with rows that name no person.", DATA, "--nulls", show_default=True)]

EngineOption = Annotated[
    Literal["spark"] | None,
    option(
        "Let Spark read the data and count, where they outgrow this machine (pip install 'discreet\\[spark]').", DATA
    ),
]
Master = Annotated[
    str | None,
    option(
        "Where Spark runs: spark://host:7077, yarn, local\\[4].  \\[default: as Spark is configured]",
        DATA,
        metavar="URL",
    ),
]
Remote = Annotated[
    str | None,
    option("A server of Spark Connect: sc://host:15002.", DATA, metavar="URL"),
]

MinSupport = Annotated[
    str | None,
    option("Patterns that at least this fraction of people hold, such as 0.01.", WHAT, metavar="FRACTION"),
]
MinCount = Annotated[
    int | None,
    number("Patterns that at least N people hold.", WHAT),
]
Top = Annotated[
    int | None,
    number("The N patterns most people hold.", WHAT),
]
Itemsets = Annotated[
    Path | None,
    option(
        "Count just the itemsets in this file, one per line: items between commas or tabs, or a JSON list.",
        WHAT,
        metavar="FILE",
    ),
]
Lengths = Annotated[
    str | None,
    option("How many items a pattern has: 3, 2-4, or 2- for two and more.", WHAT, metavar="N|N-M"),
]
Contains = Annotated[
    list[str] | None,
    option("An item every pattern must have. Can be given again.", WHAT, metavar="ITEM"),
]
Excludes = Annotated[
    list[str] | None,
    option("An item no pattern may have. Can be given again.", WHAT, metavar="ITEM"),
]
HierarchyFile = Annotated[
    Path | None,
    option(
        "A table of which item stands below which: patterns are then across levels. It is public.",
        WHAT,
        "--hierarchy",
        metavar="FILE",
    ),
]
LevelOption = Annotated[
    str | None,
    option(
        "With --hierarchy: patterns of this level alone, such as category, or 1 for right above items.",
        WHAT,
        "--level",
        metavar="NAME|N",
    ),
]
KindOption = Annotated[
    PatternKind,
    option("All patterns, or only the closed or the maximal ones.", WHAT, "--kind", show_default=True),
]
Limit = Annotated[int, number("Stop when there are more than N.", WHAT, show_default=True)]
MinConfidence = Annotated[
    float,
    option(
        "Rules with at least this confidence: the fraction of those on the left who hold the right side too.",
        WHAT,
        metavar="FRACTION",
        parser=parse_decimal_number,
        show_default=True,
    ),
]
MinLift = Annotated[
    float,
    option(
        "Rules with at least this lift, which is 1 by chance.",
        WHAT,
        metavar="NUMBER",
        parser=parse_decimal_number,
        show_default=True,
    ),
]
Antecedent = Annotated[
    list[str] | None,
    option("An item every rule must have on its left. Can be given again.", WHAT, metavar="ITEM"),
]
Consequent = Annotated[
    list[str] | None,
    option("An item every rule must have on its right. Can be given again.", WHAT, metavar="ITEM"),
]
Significance = Annotated[
    float | None,
    option(
        "Rules that are significant at this level, such as 0.05, among all that were tested (p_adjusted).",
        WHAT,
        metavar="LEVEL",
        parser=parse_decimal_number,
    ),
]
Redundant = Annotated[
    bool,
    option("Keep rules that are no better than a more general one, or leave them out.", WHAT, show_default=True),
]
SortBy = Annotated[
    str,
    option(
        "Order rules by this measure, largest first; by p or p_adjusted, smallest first.",
        WHAT,
        "--sort",
        metavar="MEASURE",
        show_default=True,
    ),
]
SortRelationsBy = Annotated[
    str,
    option("Order relations by this measure, largest first.", WHAT, "--sort", metavar="MEASURE", show_default=True),
]
TopRules = Annotated[
    int | None,
    option("Keep the first N rules, by --sort.", WHAT, "--top", metavar="N"),
]

_FORMAT = option("How to write the result.  \\[default: by the suffix of -o, else table]", OUT, "--format")
FormatOption = Annotated[Format | None, _FORMAT]
ForecastFormatOption = Annotated[ForecastFormat | None, _FORMAT]
Output = Annotated[
    Path | None,
    option("Write to this file instead of the terminal.", OUT, "--output", "-o", metavar="FILE"),
]

AssumeMalicious = Annotated[
    str | None,
    option(
        "Widen intervals to hold whatever this part of each round's reports says: 1%, 0.01.  \\[default: 0%]",
        HOW,
        "--assume-malicious",
        metavar="PART",
    ),
]
Settings = Annotated[
    list[str] | None,
    option("A setting of the mechanism or protocol. Can be given again.", HOW, "--set", metavar="NAME=VALUE"),
]
Report = Annotated[
    Path | None,
    option("Also write a report to send on.", OUT, metavar="FILE.html"),
]
PlainTitle = Annotated[
    str | None,
    option("The title of the report.", OUT, metavar="TEXT"),
]
Title = Annotated[
    str | None,
    option("The title of the report.  \\[default: with FILE's name]", OUT, metavar="TEXT"),
]
Segments = Annotated[
    list[str] | None,
    option("One value of --by, for a public list of them. Can be given again.", HOW, "--segment", metavar="VALUE"),
]
Really = Annotated[
    bool,
    option(
        "Go on although it looks like a slip: an epsilon over 20, a delta over 0.001 or over one in --people, or "
        "a list of items that nobody holds any of.",
        None,
        "--really",
        show_default=True,
    ),
]
OneRow = Annotated[
    bool,
    option(
        "Every row is the whole basket of one person, whatever stands beside the items.",
        DATA,
        "--one-row-a-person",
        show_default=True,
    ),
]
DryRun = Annotated[bool, option("Say what would be spent, and spend nothing.", HOW, "--dry-run", show_default=True)]
RelationOption = Annotated[
    Relation,
    option(
        "Neighbours differ by adding or removing one person, or by replacing one.",
        None,
        "--neighbours",
        show_default=True,
    ),
]
ViewOption = Annotated[PageFormat, option("How to show it.", None, "--format", show_default=True)]
QuestionFile = Annotated[
    Path | None,
    option(
        "A file with the question, as --print-question writes it. Options that are typed go before it.",
        None,
        "--question",
        metavar="FILE.toml",
    ),
]
PrintQuestion = Annotated[
    bool | None,
    option("Print the question as a file has it, and do nothing else.", None, "--print-question"),
]
